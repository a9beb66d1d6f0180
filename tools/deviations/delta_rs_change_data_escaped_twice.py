"""deltalake cannot read the change feed that it wrote itself, where a folder's name is escaped. Needs deltalake and
pyarrow."""

import os
import sys
import tempfile

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
feed = {"delta.enableChangeDataFeed": "true"}
rows = pa.table({"id": [1], "name": ["a b"]})
deltalake.write_deltalake(folder, rows, partition_by=["name"], configuration=feed)
table = deltalake.DeltaTable(folder)
table.update(updates={"id": "2"})
try:
    told = pa.table(deltalake.DeltaTable(folder).load_cdf(starting_version=1).read_all()).num_rows
except Exception as error:  # noqa: BLE001 - whatever it raises, the feed cannot be read
    print(f"DEVIATION: the change feed cannot be read: {str(error).splitlines()[0]}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print(f"no deviation, {told} changes")
