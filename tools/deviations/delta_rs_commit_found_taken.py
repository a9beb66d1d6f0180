"""deltalake commits twice where the link of its commit is made and reported as EEXIST, as NFS does. Needs deltalake,
pyarrow, a C compiler and Linux: the reply is lost by a library that is loaded before."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
static int lost;
static int reply(int done, const char *name) {
    size_t length = strlen(name);
    if (done == 0 && !lost && length > 10 && strcmp(name + length - 10, "00001.json") == 0) {
        lost = 1;
        errno = EEXIST;
        return -1;
    }
    return done;
}
int link(const char *from, const char *to) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "link");
    return reply(real(from, to), to);
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
    int (*real)(int, const char *, int, const char *, int) = dlsym(RTLD_NEXT, "linkat");
    return reply(real(a, from, b, to, flags), to);
}
"""

if len(sys.argv) > 1:
    import deltalake
    import pyarrow as pa

    deltalake.write_deltalake(sys.argv[1], pa.table({"id": [1]}), mode="append")
    sys.exit(0)

import deltalake  # noqa: E402
import pyarrow as pa  # noqa: E402

work = Path(tempfile.mkdtemp())
(work / "shim.c").write_text(SHIM)
made = ["cc", "-shared", "-fPIC", "-o", str(work / "shim.so"), str(work / "shim.c"), "-ldl"]
subprocess.run(made, check=True)
folder = str(work / "table")
deltalake.DeltaTable.create(folder, pa.schema([("id", pa.int64())]))
loaded = os.environ | {"LD_PRELOAD": str(work / "shim.so")}
subprocess.run([sys.executable, __file__, folder], env=loaded, check=True)
version = deltalake.DeltaTable(folder).version()
if version != 1:
    print(f"DEVIATION: one append to version 0 has made the versions 1 to {version}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
