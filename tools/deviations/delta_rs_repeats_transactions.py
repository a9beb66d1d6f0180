"""An append under a transaction id that the table has already is made once more. Needs deltalake and pyarrow."""

import os
import sys
import tempfile

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
loaded = deltalake.CommitProperties(app_transactions=[deltalake.Transaction("loader", 1)])
for _ in range(2):
    deltalake.write_deltalake(folder, pa.table({"id": [1]}), mode="append", commit_properties=loaded)
ids = deltalake.DeltaTable(folder).to_pyarrow_table()["id"].to_pylist()
if ids != [1]:
    print(f"DEVIATION: the transaction 1 of loader wrote the id 1, the table has {ids}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
