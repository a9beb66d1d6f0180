"""An overwrite that began before an optimize keeps the rows that it should replace. Needs deltalake and pyarrow."""

import os
import sys
import tempfile

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
for number in (1, 2):
    deltalake.write_deltalake(folder, pa.table({"id": [number]}), mode="append")
first, second = deltalake.DeltaTable(folder), deltalake.DeltaTable(folder)
first.optimize.compact()
try:
    deltalake.write_deltalake(second, pa.table({"id": [3]}), mode="overwrite")
except deltalake.exceptions.DeltaError as error:
    print(f"no deviation, the overwrite is refused: {error}")
    sys.exit(0)
rows = sorted(deltalake.DeltaTable(folder).to_pyarrow_table()["id"].to_pylist())
if rows != [3]:
    print(f"DEVIATION: overwritten with [3], the rows are {rows}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
