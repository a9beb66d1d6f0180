"""A struct in a struct, in a batch that is a slice of a table: deltalake aborts the process.

    pip install deltalake==1.6.6 pyarrow

Exit 1: the deviation shows; 0: it does not.
"""

import subprocess
import sys
import tempfile

WRITER = """
import sys
import pyarrow as pa
from deltalake import write_deltalake

point = pa.struct([("p", pa.struct([("x", pa.int64())]))])
rows = pa.table({"c": pa.array([{"p": {"x": 1}}, {"p": {"x": 2}}, {"p": {"x": 3}}], point)})
rows.validate(full=True)
batches = [*rows.slice(0, 2).to_batches(), *rows.slice(2).to_batches()]
write_deltalake(sys.argv[1], pa.RecordBatchReader.from_batches(rows.schema, batches))
"""

with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run(
        [sys.executable, "-c", WRITER, f"{folder}/table"], capture_output=True, text=True, check=False
    )
said = next((line for line in done.stderr.splitlines() if "assertion" in line), "nothing")
if done.returncode < 0:
    print(f"DEVIATION: the writer ended by signal {-done.returncode}, and said: {said}")
    sys.exit(1)
print(f"as it should be: the writer ended with {done.returncode}")
sys.exit(3 if done.returncode else 0)
