"""deltalake adds a column that may not be null to a table that has rows. Needs deltalake and pyarrow."""

import os
import sys
import tempfile

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq

folder = tempfile.mkdtemp()
deltalake.write_deltalake(folder, pa.table({"id": [1]}))
more = deltalake.Field("more", deltalake.schema.PrimitiveType("long"), nullable=False)
try:
    deltalake.DeltaTable(folder).alter.add_columns([more])
except deltalake.exceptions.DeltaError as error:
    print(f"no deviation, it is refused: {error}")
    sys.exit(0)
table = deltalake.DeltaTable(folder)
field = next(column for column in table.schema().fields if column.name == "more")
file = table.file_uris()[0]
columns = pq.read_schema(file).names
if not field.nullable and "more" not in columns:
    print(f"DEVIATION: {field.name} may not be null, and the file that stays has the columns {columns} alone")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
