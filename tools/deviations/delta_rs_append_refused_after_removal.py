"""An append of one version is refused after a delete from that version. Needs deltalake and pyarrow."""

import os
import sys
import tempfile

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
deltalake.write_deltalake(folder, pa.table({"id": [1, 2]}))
first, second = deltalake.DeltaTable(folder), deltalake.DeltaTable(folder)
first.delete("id = 1")
try:
    deltalake.write_deltalake(second, pa.table({"id": [3]}), mode="append")
except deltalake.exceptions.DeltaError as error:
    print(f"DEVIATION: an append, which reads nothing, is refused: {str(error).splitlines()[0]}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
rows = sorted(deltalake.DeltaTable(folder).to_pyarrow_table()["id"].to_pylist())
print(f"no deviation: the rows are {rows}")
os._exit(0)
