"""Fetch delta-spark's JARs once, by Spark's own resolver, into the user's cache.

A cache folder is complete or absent: the resolver works in a folder of its own, which is renamed when it is complete.
Of two processes one resolves and the other waits for a file lock. The system releases the lock if its holder dies.
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
    """delta-spark's JARs are not available. The message is the cause, `cure` what to do."""

    cure = "run again"


class NoNetwork(JarsError):
    """The JARs are not in the cache yet, and Spark's repository does not answer."""

    cure = (
        "run once with a network that reaches Maven's central repository (behind a proxy: JAVA_TOOL_OPTIONS with "
        "-Dhttps.proxyHost and -Dhttps.proxyPort; a mirror: spark.jars.ivySettings in spark-defaults.conf of "
        "SPARK_CONF_DIR); later runs need none"
    )


class NotResolved(JarsError):
    """Spark's resolver failed for another reason. The message is its own."""

    cure = "see the resolver's words; a folder that can't be written, or a full disk, is the usual reason"


def cache_root() -> Path:
    """Return the user's cache folder, which holds everything that is made once and kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "delta-conformance"


def cached(coordinates: str = COORDINATES) -> tuple[Path, ...]:
    """Return the JARs of a complete cache folder; none if there is no such folder."""
    folder = _folder(coordinates)
    return tuple(sorted(folder.glob("*.jar"))) if folder.is_dir() else ()


def resolve(coordinates: str = COORDINATES, *, java: Java | None = None) -> tuple[Path, ...]:
    """Return the JARs from the cache. The first time, Spark's resolver fetches them; a line on stderr says so.

    Raises JarsError if they are not available.
    """
    jars = cached(coordinates)
    if jars:
        return jars
    folder = _folder(coordinates)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.with_name(folder.name + ".lock")):
            jars = cached(coordinates)  # another process may have resolved while this one waited
            return jars or _fill(folder, coordinates, java or find_java())
    except OSError as error:
        raise NotResolved(f"the cache {folder} can't be filled: {error}") from error


def with_build(folder: Path | None, *, java: Java | None = None) -> tuple[Path, ...]:
    """Return the JARs, each replaced by the one of a build in `folder` if that has one of the same artifact."""
    jars = resolve(java=java)
    if folder is None:
        return jars
    built = tuple(sorted(folder.glob("*.jar")))
    replaced = [re.compile(rf"(^|_){re.escape(artifact_of(jar))}(_\d+\.\d+)*-\d") for jar in built]
    return (*built, *(jar for jar in jars if not any(pattern.search(jar.name) for pattern in replaced)))


def artifact_of(jar: Path) -> str:
    """Return the name of the artifact without the versions of Spark, of Scala and of itself: `delta-spark`."""
    return re.split(r"(?:_\d+\.\d+)*-\d", jar.name, maxsplit=1)[0].removesuffix(".jar")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file. If another process holds it, wait, and say so on stderr."""
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that holds {path}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(message: str) -> None:
    """Print one line on stderr."""
    print(f"delta-spark: {message}", file=sys.stderr, flush=True)  # noqa: T201 - all that a user sees of a long wait


def _folder(coordinates: str) -> Path:
    return (
        cache_root() / "jars" / f"{coordinates.replace(':', '_')}-for-pyspark-{metadata.version('pyspark')}"
    )


def _fill(folder: Path, coordinates: str, java: Java) -> tuple[Path, ...]:
    say(f"fetching {coordinates} by Spark's resolver, once, into {folder} (about 90 MB)")
    for abandoned in folder.parent.glob(
        f".{folder.name}.*"
    ):  # by a resolver that was killed: this process holds the lock
        shutil.rmtree(abandoned, ignore_errors=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        _run_resolver(staging, coordinates, java)
        jars = staging / "ivy" / "jars"
        _remove_shipped_jars(jars)
        artifact = coordinates.split(":")[1]
        if not any(artifact in path.name for path in jars.glob("*.jar")):
            raise NotResolved(f"Spark's resolver ended well and left no {artifact} in {jars}")
        jars.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    complete = cached(coordinates)
    say(f"fetched {len(complete)} JARs")
    return complete


def _remove_shipped_jars(jars: Path) -> None:
    """Delete the JARs with classes that Spark ships itself.

    With `--packages` they are never used, because Spark's class loader searches its own JARs first. This project puts
    the JARs on the class path, for class data sharing. There they would come first and shadow Spark's newer ones.
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
    output = answer.stdout + answer.stderr
    if NETWORK.search(output):
        raise NoNetwork(
            f"{coordinates} is not in the cache, and no repository that Spark asks for it could be reached"
        )
    raise NotResolved(f"Spark's resolver ended with {answer.returncode}: {output.strip()[-600:]}")


def _spark_home() -> Path:
    pyspark = importlib.util.find_spec("pyspark")  # not imported: that takes a second
    if pyspark is None or pyspark.origin is None:
        raise NotResolved("pyspark is not installed")
    return Path(pyspark.origin).parent


def _classes(jar: Path) -> set[str]:
    with zipfile.ZipFile(jar) as archive:
        return {
            name
            for name in archive.namelist()
            if name.endswith(".class") and not name.endswith("module-info.class")
        }
