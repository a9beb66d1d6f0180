"""deltalake writes no version checksum beside its commits. Needs deltalake and pyarrow."""

import os
import sys
import tempfile
from pathlib import Path

import deltalake
import pyarrow as pa

folder = Path(tempfile.mkdtemp())
deltalake.write_deltalake(str(folder), pa.table({"id": [1, 2]}))
deltalake.write_deltalake(str(folder), pa.table({"id": [3]}), mode="append")
names = sorted(path.name for path in (folder / "_delta_log").iterdir())
commits = [name for name in names if name.endswith(".json")]
if not any(name.endswith(".crc") for name in names):
    print(f"DEVIATION: {len(commits)} commits, and no version checksum beside them: {', '.join(names)}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
