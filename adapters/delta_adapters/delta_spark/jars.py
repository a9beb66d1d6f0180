"""delta-spark's JARs: resolved once by Spark's own resolver into the user's cache, from then on plain files.

A cache folder is complete or absent: the resolver works in a folder of its own, which is renamed when it is whole. Of
two processes one resolves and the other waits, by a lock on a file that the system lets go of when its holder dies.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from delta_adapters.spark.java import Java, find_java

COORDINATES = "io.delta:delta-spark_4.2_2.13:4.4.0"
WITHIN_SECONDS = 600
NETWORK = re.compile(
    r"UnknownHost|Host \S+ not found|ConnectException|SocketTimeout|Connection refused|Network is unreach"
)


class JarsError(RuntimeError):
    """delta-spark's JARs can't be had. The message is the cause, `cure` what to do."""

    cure = "run again"


class NoNetwork(JarsError):
    """They are not in the cache yet, and the repository that Spark asks does not answer."""

    cure = (
        "run once with a network that reaches Maven's central repository (behind a proxy: JAVA_TOOL_OPTIONS with "
        "-Dhttps.proxyHost and -Dhttps.proxyPort; a mirror: spark.jars.ivySettings in spark-defaults.conf of "
        "SPARK_CONF_DIR); later runs need none"
    )


class NotResolved(JarsError):
    """Spark's resolver failed for another reason, told in its own words."""

    cure = "see the resolver's words; a folder that can't be written, or a full disk, is the usual reason"


def cache_root() -> Path:
    """The user's cache folder, where everything that is made once and kept is put."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "delta-conformance"


def cached(coordinates: str = COORDINATES) -> tuple[Path, ...]:
    """The JARs of a complete cache folder, or nothing."""
    folder = _folder(coordinates)
    return tuple(sorted(folder.glob("*.jar"))) if folder.is_dir() else ()


def resolve(coordinates: str = COORDINATES, *, java: Java | None = None) -> tuple[Path, ...]:
    """The JARs, from the cache or, the first time, by Spark's resolver, which is told on stderr."""
    found = cached(coordinates)
    if found:
        return found
    folder = _folder(coordinates)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.with_name(folder.name + ".lock")):
            found = cached(coordinates)  # somebody else may have resolved while we waited
            return found or _fill(folder, coordinates, java or find_java())
    except OSError as error:
        raise NotResolved(f"the cache {folder} can't be filled: {error}") from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of a file; waits for it, and says so when somebody else has it."""
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that holds {path}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(words: str) -> None:
    """One line on stderr."""
    print(f"delta-spark: {words}", file=sys.stderr, flush=True)  # noqa: T201 - the one line a user sees of a long wait


def _folder(coordinates: str) -> Path:
    return (
        cache_root() / "jars" / f"{coordinates.replace(':', '_')}-for-pyspark-{metadata.version('pyspark')}"
    )


def _fill(folder: Path, coordinates: str, java: Java) -> tuple[Path, ...]:
    say(f"fetching {coordinates} by Spark's resolver, once, into {folder} (about 90 MB)")
    for abandoned in folder.parent.glob(
        f".{folder.name}.*"
    ):  # by a resolver that was killed: we hold the lock
        shutil.rmtree(abandoned, ignore_errors=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        _run_resolver(staging, coordinates, java)
        jars = staging / "ivy" / "jars"
        _leave_what_spark_lacks(jars)
        artifact = coordinates.split(":")[1]
        if not any(artifact in path.name for path in jars.glob("*.jar")):
            raise NotResolved(f"Spark's resolver ended well and left no {artifact} in {jars}")
        jars.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    found = cached(coordinates)
    say(f"fetched {len(found)} JARs")
    return found


def _leave_what_spark_lacks(jars: Path) -> None:
    """Takes away the JARs with classes that Spark ships itself.

    Spark's class loader asks its own JARs first, so with `--packages` those are never used; on the class path, where
    this project puts them for the sake of class data sharing, they would come first and shadow Spark's newer ones.
    """
    shipped: set[str] = set()
    for path in (_spark_home() / "jars").glob("*.jar"):
        shipped |= _classes(path)
    for path in jars.glob("*.jar"):
        if not shipped.isdisjoint(_classes(path)):
            path.unlink()


def _run_resolver(staging: Path, coordinates: str, java: Java) -> None:
    application = staging / "nothing.py"
    application.write_text("", encoding="utf-8")
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK_", "SPARK_LOCAL"))
    }
    environment |= {
        "JAVA_HOME": str(java.home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [
        str(_spark_home() / "bin" / "spark-submit"),
        "--packages", coordinates,
        "--conf", f"spark.jars.ivy={staging / 'ivy'}",
        str(application),
    ]  # fmt: skip
    try:
        answer = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=WITHIN_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NoNetwork(f"Spark's resolver did not end within {WITHIN_SECONDS} s") from error
    if answer.returncode == 0:
        return
    said = answer.stdout + answer.stderr
    if NETWORK.search(said):
        raise NoNetwork(
            f"{coordinates} is not in the cache, and no repository that Spark asks for it could be reached"
        )
    raise NotResolved(f"Spark's resolver ended with {answer.returncode}: {said.strip()[-600:]}")


def _spark_home() -> Path:
    found = importlib.util.find_spec(
        "pyspark"
    )  # not imported: it is dear, and the harness itself has no use for it
    if found is None or found.origin is None:
        raise NotResolved("pyspark is not installed")
    return Path(found.origin).parent


def _classes(jar: Path) -> set[str]:
    with zipfile.ZipFile(jar) as archive:
        return {
            each
            for each in archive.namelist()
            if each.endswith(".class") and not each.endswith("module-info.class")
        }
