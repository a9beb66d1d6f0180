"""An append that lets the schema grow moves partition columns behind the others. Needs deltalake and pyarrow."""

import os
import sys
import tempfile
from pathlib import Path

import deltalake
import pyarrow as pa

folder = str(Path(tempfile.mkdtemp()))
deltalake.write_deltalake(folder, pa.table({"part": ["a"], "id": [1]}), partition_by=["part"])
before = [field.name for field in deltalake.DeltaTable(folder).schema().fields]
deltalake.write_deltalake(
    folder, pa.table({"part": ["a"], "id": [2], "more": [3]}), mode="append", schema_mode="merge"
)
after = [field.name for field in deltalake.DeltaTable(folder).schema().fields]
if after != [*before, "more"]:
    print(f"DEVIATION: the columns were {before}, a column more was appended, and they are {after}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
