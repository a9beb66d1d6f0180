"""A full vacuum deletes a file that was removed a moment ago, although the retention is a week.

    pip install deltalake==1.0.2 pyarrow

Exit 1: the deviation shows; 0: it does not.
"""

import sys
import tempfile

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

rows = pa.table({"id": [1]})
with tempfile.TemporaryDirectory() as folder:
    path = f"{folder}/table"
    write_deltalake(path, rows)
    write_deltalake(path, rows, mode="overwrite")
    DeltaTable(path).vacuum(dry_run=False, full=True)
    try:
        read = DeltaTable(path, version=0).to_pyarrow_table()
    except (OSError, ValueError) as error:
        print(f"DEVIATION: version 0 can't be read any more: {str(error).splitlines()[0][:150]}")
        sys.exit(1)
print(f"as it should be: version 0 has {len(read)} row")
