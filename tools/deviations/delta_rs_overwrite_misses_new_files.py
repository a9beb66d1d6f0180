"""An overwrite that began before an overwrite of a part keeps that one's rows. Needs deltalake and pyarrow."""

import os
import sys
import tempfile

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
deltalake.write_deltalake(folder, pa.table({"id": [0], "part": [2]}))
deltalake.DeltaTable(folder).delete()
first, second = deltalake.DeltaTable(folder), deltalake.DeltaTable(folder)
deltalake.write_deltalake(first, pa.table({"id": [1], "part": [2]}), mode="overwrite", predicate="part = 2")
try:
    deltalake.write_deltalake(second, pa.table({"id": [2], "part": [2]}), mode="overwrite")
except deltalake.exceptions.DeltaError as error:
    print(f"no deviation, the second is refused: {error}")
    sys.exit(0)
rows = sorted(deltalake.DeltaTable(folder).to_pyarrow_table()["id"].to_pylist())
if rows not in ([1], [2]):
    print(f"DEVIATION: either overwrite replaces the other's row, whichever comes first; the rows are {rows}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
