"""The change feed of a delete that deletes no row tells that all rows were deleted. Needs deltalake and pyarrow."""

import os
import sys
import tempfile

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
rows = pa.table({"id": [7, -1]})
deltalake.write_deltalake(folder, rows, configuration={"delta.enableChangeDataFeed": "true"})
table = deltalake.DeltaTable(folder)
table.delete("id = 7 AND id IN (-1, -1)")
ids = sorted(deltalake.DeltaTable(folder).to_pyarrow_table()["id"].to_pylist())
told = (
    pa.table(deltalake.DeltaTable(folder).load_cdf(starting_version=1).read_all())
    if table.version()
    else None
)
deleted = [] if told is None else sorted(told["id"].to_pylist())
if ids == [-1, 7] and deleted:
    print(f"DEVIATION: the ids are {ids} before and after, the feed tells that {deleted} were deleted")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
