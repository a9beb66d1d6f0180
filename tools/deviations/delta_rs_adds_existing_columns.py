"""deltalake adds a column that the table has already, and says nothing. Needs deltalake and pyarrow."""

import os
import sys
import tempfile

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
deltalake.write_deltalake(folder, pa.table({"id": [1]}))
again = deltalake.Field("id", deltalake.schema.PrimitiveType("long"))
try:
    deltalake.DeltaTable(folder).alter.add_columns([again])
except deltalake.exceptions.DeltaError as error:
    print(f"no deviation, it is refused: {error}")
    sys.exit(0)
table = deltalake.DeltaTable(folder)
names = [field.name for field in table.schema().fields]
if table.version() == 1 and names == ["id"]:
    print(f"DEVIATION: id was added to a table with the columns {names}, as version {table.version()}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
