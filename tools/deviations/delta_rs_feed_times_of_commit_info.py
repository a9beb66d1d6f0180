"""deltalake tells changes at the time in commitInfo, not at that of the commit's file. Needs deltalake and pyarrow."""

import os
import sys
import tempfile
from pathlib import Path

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
feed = {"delta.enableChangeDataFeed": "true"}
deltalake.write_deltalake(folder, pa.table({"id": [1]}), configuration=feed)
commit = Path(folder) / "_delta_log" / f"{0:020d}.json"
os.utime(
    commit, (1_000_000_000, 1_000_000_000)
)  # as if the commit had taken long: what it was begun at stands in it

told = pa.table(deltalake.DeltaTable(folder).load_cdf(starting_version=0).read_all())
millis = told["_commit_timestamp"].cast(pa.timestamp("ms")).cast(pa.int64())[0].as_py()
if millis != 1_000_000_000_000:
    print(
        f"DEVIATION: the commit's file is of 1000000000000, deltalake {deltalake.__version__} says {millis}"
    )
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
