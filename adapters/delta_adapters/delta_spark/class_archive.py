"""An archive of Spark's loaded classes (AppCDS), made once: with it a JVM starts with less than half the work.

A JVM that runs a few operations dumps its loaded classes as it ends. The archive fits exactly one Java and one class
path. The JVM itself checks that, and ignores an archive that does not fit.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from delta_adapters.delta_spark.jars import cache_root, locked, say
from delta_adapters.spark.java import Java

WITHIN_SECONDS = 600
DUMP = (
    "DELTA_CONFORMANCE_DUMP_CLASSES"  # names the file to a session that is to dump its classes when it ends
)


def archive_path(java: Java, jars: Iterable[Path]) -> Path:
    """Return the path of the archive for this Java, these JARs and the installed Spark, made or not."""
    pyspark = importlib.util.find_spec("pyspark")
    parts = (java.version, *map(str, jars), str(pyspark and pyspark.origin))
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    return cache_root() / "classes" / f"{digest}.jsa"


def java_options(java: Java, jars: Iterable[Path]) -> tuple[str, ...]:
    """Return the options with which a JVM uses the archive, or dumps one; none without an archive."""
    dump = os.environ.get(DUMP)
    if dump:
        return (f"-XX:ArchiveClassesAtExit={dump}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")
    path = archive_path(java, jars)
    return (f"-XX:SharedArchiveFile={path}", "-Xlog:cds=off") if path.is_file() else ()


def make_archive(java: Java, jars: tuple[Path, ...]) -> bool:
    """Make the archive unless it exists, and return whether it exists now. Without it a JVM only starts slower."""
    path = archive_path(java, jars)
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.with_suffix(".lock")):
        if path.is_file():
            return True
        say("archiving Spark's classes, once, so that it starts faster from now on (about a minute)")
        work = Path(tempfile.mkdtemp(prefix=".training-", dir=path.parent))
        try:
            return _dump(work, path)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _dump(work: Path, path: Path) -> bool:
    partial = work / "classes.jsa"
    command = [sys.executable, "-P", "-m", "delta_adapters.delta_spark.class_archive_warmup", str(work)]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, DUMP: str(partial)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=WITHIN_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        say(f"no archive: its JVM took more than {WITHIN_SECONDS} s")
        return False
    if done.returncode or not partial.is_file():
        say(f"no archive: {(done.stderr or done.stdout).strip()[-300:]}")
        return False
    partial.rename(path)
    return True
