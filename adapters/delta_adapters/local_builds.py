"""Builds of an engine that no index has: `NAME@PATH` names a wheel, a checkout, a folder of sources or a JAR.

A build is known by a digest of its content, never by its version: two builds of one version are two engines.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

DISTRIBUTION, SOURCES, JAR = "distribution", "sources", "jar"
TAKES = {
    DISTRIBUTION: "a wheel, or a checkout with a pyproject.toml",
    SOURCES: "a folder that holds the package {module}, for instance a checkout",
    JAR: "the JAR of delta-spark, or a folder that holds it and the JARs that it needs beside it",
}
JARS_VARIABLE = "DELTA_CONFORMANCE_JARS"  # tells a host of delta-spark which JARs replace the resolved ones
SHORT = 8  # characters of a digest in an identity
_SPARK_JAR = re.compile(r"delta-spark(?:_(?P<spark>\d+\.\d+))?_(?P<scala>\d+\.\d+)-(?P<version>.+)\.jar")
_EXTENSION = "io/delta/sql/DeltaSparkSessionExtension.class"
_MADE = frozenset(
    {".git", "target", "build", "dist", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".ruff_cache",
     ".pytest_cache", ".hypothesis", "node_modules"}
)  # fmt: skip


class BadBuild(ValueError):
    """The path holds no build of this engine. The message says what is there and what was expected."""


def is_path(text: str) -> bool:
    """Whether the part after `NAME@` is a path and no version."""
    if not text or re.fullmatch(r"\d+(\.\w+)*", text):
        return False
    return (
        text.startswith(("~", "."))
        or os.sep in text
        or text.endswith((".whl", ".jar"))
        or Path(text).exists()
    )


def digest_of_build(name: str, path: Path, kind: str, module: str) -> str:
    """Return the digest of the build's content. Raises BadBuild if the path holds no build of this kind."""
    if kind not in TAKES:
        raise BadBuild(f"{name} can only run as it is installed; it takes no path")
    if not path.exists():
        raise BadBuild(
            f"{name}@{path}: there is no such file or folder; {TAKES[kind].format(module=module)} is needed"
        )
    match kind:
        case "distribution":
            files = (
                {path.name: wheel_of(name, path, module)} if path.is_file() else _checkout_files(name, path)
            )
        case "sources":
            folder = sources_of(name, path, module)
            files = {str(file.relative_to(folder)): file for file in walk(folder)}
        case _:
            files = {jar.name: jar for jar in jars_of(name, path)}
    return digest_of(files.items())


def digest_of(files: Iterable[tuple[str, Path]]) -> str:
    """Return a digest of files: of their names, and of what they hold."""
    total = hashlib.sha256()
    for name, file in sorted(files):
        with file.open("rb") as opened:
            total.update(f"{name}\0{hashlib.file_digest(opened, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, without what tools have made of them."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _MADE and not name.endswith(".egg-info"))
        yield from (Path(parent, name) for name in sorted(names) if not name.endswith(".pyc"))


def wheel_of(name: str, path: Path, module: str) -> Path:
    """Return the wheel, checked. Raises BadBuild."""
    if path.suffix != ".whl":
        raise BadBuild(f"{name}@{path}: {path.name} is no wheel; {TAKES[DISTRIBUTION]} is needed")
    distribution = path.name.partition("-")[0].replace("_", "-").lower()
    try:
        with zipfile.ZipFile(path) as archive:
            inside = any(entry.startswith(f"{module}/") for entry in archive.namelist())
    except (OSError, zipfile.BadZipFile) as error:
        raise BadBuild(f"{name}@{path}: the wheel can't be read: {error}") from error
    if not inside:
        raise BadBuild(f"{name}@{path}: this is a wheel of {distribution}, and holds no package {module}")
    return path


def project_of(name: str, path: Path) -> Path:
    """Return the folder with the pyproject.toml of a checkout: the path, or `python` in it. Raises BadBuild."""
    for folder in (path, path / "python"):
        if (folder / "pyproject.toml").is_file():
            return folder
    raise BadBuild(f"{name}@{path}: neither {path} nor {path / 'python'} holds a pyproject.toml")


def sources_of(name: str, path: Path, module: str) -> Path:
    """Return the folder of the package. Raises BadBuild."""
    for folder in (path / module, path):
        if folder.name == module and (folder / "__init__.py").is_file():
            return folder
    raise BadBuild(
        f"{name}@{path}: there is no package {module} in it; {TAKES[SOURCES].format(module=module)} is needed"
    )


def jars_of(name: str, path: Path) -> tuple[Path, ...]:
    """Return the JARs of a build of delta-spark, its own first. Raises BadBuild."""
    jars = sorted(path.glob("*.jar")) if path.is_dir() else [path]
    own = [jar for jar in jars if _SPARK_JAR.fullmatch(jar.name)]
    if len(own) != 1:
        listed = ", ".join(jar.name for jar in jars) or "no JAR"
        raise BadBuild(
            f"{name}@{path}: one JAR named like delta-spark_4.2_2.13-4.4.0.jar was expected, and there is {listed}"
        )
    try:
        with zipfile.ZipFile(own[0]) as archive:
            if _EXTENSION not in archive.namelist():
                raise BadBuild(f"{name}@{path}: {own[0].name} holds no {_EXTENSION}, so it is no delta-spark")
    except (OSError, zipfile.BadZipFile) as error:
        raise BadBuild(f"{name}@{path}: {own[0].name} can't be read: {error}") from error
    return (*own, *(jar for jar in jars if jar not in own))


def jar_version(jar: Path) -> tuple[str | None, str, str]:
    """Return the versions of Spark (None if the name has none), of Scala and of delta-spark in a JAR's name."""
    named = _SPARK_JAR.fullmatch(jar.name)
    if named is None:
        raise BadBuild(f"{jar.name} is no name of delta-spark's JAR")
    return named["spark"], named["scala"], named["version"]


def refuse_other_spark(jar: Path, spark_home: Path, spark: str) -> None:
    """Raise BadBuild if a JAR was built for another Scala or another Spark than the one in `spark_home`."""
    for_spark, for_scala, _ = jar_version(jar)
    library = next((spark_home / "jars").glob("scala-library-*.jar"), None)
    scala = library.name.removeprefix("scala-library-").rpartition(".jar")[0] if library else ""
    if scala and not scala.startswith(f"{for_scala}."):
        raise BadBuild(
            f"{jar} was built for Scala {for_scala}, and the installed Spark {spark} has Scala {scala}"
        )
    if for_spark and not spark.startswith(f"{for_spark}."):
        raise BadBuild(f"{jar} was built for Spark {for_spark}, and Spark {spark} is installed")


def keep_copy(files: Iterable[tuple[str, Path]], target: Path) -> Path:
    """Copy files to a folder, whole or not at all, and return the folder: the originals may change during a run."""
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        for name, file in files:
            (making / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, making / name)
        try:
            making.rename(target)
        except OSError:
            shutil.rmtree(making, ignore_errors=True)
            if not target.is_dir():
                raise
    return target


def _checkout_files(name: str, path: Path) -> dict[str, Path]:
    """The files of a checkout: those that git does not ignore, of the whole repository if the path is a part of it."""
    project = project_of(name, path)
    listed = _git(
        project, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", ":/"
    )
    top = _git(project, "rev-parse", "--show-toplevel")
    if listed is None or top is None:
        return {str(file.relative_to(path)): file for file in walk(path)}
    root = Path(top.strip())
    return {line: root / line for line in listed.split("\0") if line and (root / line).is_file()}


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    except OSError:
        return None
    return None if done.returncode else done.stdout.decode("utf-8", "surrogateescape")
