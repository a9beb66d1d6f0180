"""deltalake's history has the times in commitInfo, in-commit timestamps or not. Needs deltalake and pyarrow.

deltalake makes no table with in-commit timestamps: they are written into the log of one by hand.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import deltalake
import pyarrow as pa

IN_COMMIT = 1_000_000_000_000
folder = tempfile.mkdtemp()
deltalake.write_deltalake(folder, pa.table({"id": [1]}))
commit = Path(folder) / "_delta_log" / f"{0:020d}.json"
actions = [json.loads(line) for line in commit.read_text("utf-8").splitlines()]
for each in actions:
    if "protocol" in each:
        each["protocol"] = {
            "minReaderVersion": 1,
            "minWriterVersion": 7,
            "writerFeatures": ["inCommitTimestamp"],
        }
    elif "metaData" in each:
        each["metaData"]["configuration"] = {"delta.enableInCommitTimestamps": "true"}
    elif "commitInfo" in each:
        each["commitInfo"]["inCommitTimestamp"] = IN_COMMIT
actions.sort(key=lambda each: "commitInfo" not in each)  # it comes first
commit.write_text("\n".join(map(json.dumps, actions)), "utf-8")

told = deltalake.DeltaTable(folder).history()[0]["timestamp"]
if told != IN_COMMIT:
    print(
        f"DEVIATION: the commit is of {IN_COMMIT}, the history of deltalake {deltalake.__version__} says {told}"
    )
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
