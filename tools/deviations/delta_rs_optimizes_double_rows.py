"""Two optimizes of one version both commit, and the rows are there twice. Needs deltalake and pyarrow."""

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
    second.optimize.compact()
except deltalake.exceptions.DeltaError as error:
    print(f"no deviation, the second is refused: {error}")
    sys.exit(0)
rows = sorted(deltalake.DeltaTable(folder).to_pyarrow_table()["id"].to_pylist())
if rows != [1, 2]:
    print(f"DEVIATION: the rows are {rows}, they were [1, 2]")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
