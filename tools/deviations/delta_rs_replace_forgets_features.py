"""Replacing a table takes a feature out of its protocol that it supported before. Needs deltalake and pyarrow."""

import os
import sys
import tempfile

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
schema = deltalake.Schema.from_arrow(pa.schema([("id", pa.int64())]))
table = deltalake.DeltaTable.create(folder, schema)
table.alter.add_feature(deltalake.TableFeatures.DeletionVectors, allow_protocol_versions_increase=True)
before = deltalake.DeltaTable(folder).protocol()
deltalake.DeltaTable.create(folder, schema, mode="overwrite")
after = deltalake.DeltaTable(folder).protocol()
gone = set(before.writer_features or ()) - set(after.writer_features or ())
if gone:
    print(f"DEVIATION: the table supported {sorted(gone)}, and is of {after} now")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
