"""deltalake restores an append-only table to a state with fewer rows. Needs deltalake and pyarrow."""

import os
import sys
import tempfile

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
deltalake.write_deltalake(folder, pa.table({"id": [1]}), configuration={"delta.appendOnly": "true"})
deltalake.write_deltalake(folder, pa.table({"id": [2]}), mode="append")
try:
    deltalake.DeltaTable(folder).restore(0)
except deltalake.exceptions.DeltaError as error:
    print(f"no deviation, it is refused: {error}")
    sys.exit(0)
table = deltalake.DeltaTable(folder)
rows = sorted(table.to_pyarrow_table()["id"].to_pylist())
if table.version() == 2 and rows == [1]:
    print(f"DEVIATION: version 2 of an append-only table has the rows {rows}, version 1 had [1, 2]")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
