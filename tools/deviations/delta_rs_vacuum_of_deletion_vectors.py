"""A full vacuum by deltalake deletes the file of a deletion vector that a live file needs. Needs deltalake, pyarrow and
pyroaring."""

import base64
import json
import os
import struct
import sys
import tempfile
import uuid
import zlib
from pathlib import Path

import deltalake
import pyarrow as pa
from pyroaring import BitMap64

Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

folder = Path(tempfile.mkdtemp())
deltalake.write_deltalake(
    str(folder), pa.table({"id": [1, 2]}), configuration={"delta.enableDeletionVectors": "true"}
)
commit = folder / "_delta_log" / f"{0:020d}.json"
add = next(json.loads(line)["add"] for line in commit.read_text("utf-8").splitlines() if '"add"' in line)

# Version 1, as another writer leaves it: the first row of the file is hidden by a vector in a file of its own.
data = struct.pack("<i", 1681511377) + BitMap64([0]).serialize()
name = uuid.uuid4()
file = folder / f"deletion_vector_{name}.bin"
file.write_bytes(b"\x01" + struct.pack(">i", len(data)) + data + struct.pack(">I", zlib.crc32(data)))
vector = {
    "storageType": "u",
    "pathOrInlineDv": base64.b85encode(name.bytes).decode().translate(str.maketrans(B85, Z85)),
    "offset": 1,
    "sizeInBytes": len(data),
    "cardinality": 1,
}
removed = {"remove": {"path": add["path"], "dataChange": True, "deletionTimestamp": add["modificationTime"]}}
actions = [removed, {"add": add | {"deletionVector": vector}}]
(folder / "_delta_log" / f"{1:020d}.json").write_text("\n".join(map(json.dumps, actions)), "utf-8")

read = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(folder))).execute("SELECT id FROM t")
seen = pa.table(read.read_all())["id"].to_pylist()
if seen != [2]:
    print(f"the table is not as it should be: {seen}")
    sys.exit(3)
gone = deltalake.DeltaTable(str(folder)).vacuum(
    retention_hours=0, dry_run=False, enforce_retention_duration=False, full=True
)
if not file.exists():
    print(f"DEVIATION: the vacuum has deleted {file.name}, which {add['path']} needs; it names {gone}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
