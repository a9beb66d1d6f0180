"""A hash of the content of the build under test: two builds with one hash are the same engine.

What was learned about a build is kept under this hash, never under a version: an unreleased build has the version of
the released one.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from delta_adapters import local_builds
from delta_adapters.delta_spark.jars import JarsError, with_build
from delta_adapters.environments import (
    EnvironmentProblem,
    build_copy,
    ensure_environment,
    needs_environment,
    site_packages,
)
from delta_adapters.registry import KNOWN, EngineSpec
from delta_adapters.spark.java import JavaError, find_java

LENGTH = 16
_BESIDE = {"delta-rs": ("pyarrow",)}  # packages that take part in what the engine answers


def build_hash(spec: EngineSpec) -> str:
    """Return a hash of everything that is under test: the engine's files, its adapter and, on a JVM, Spark and Java.

    Makes the environment of another version or build if need be. Raises EnvironmentProblem if the engine can't be had.
    """
    try:
        parts = [f"{name}={value}" for name, value in _parts(spec)]
    except (JarsError, JavaError) as error:
        raise EnvironmentProblem(f"{spec} can't be had: {error}. {error.cure}") from error
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:LENGTH]


def _parts(spec: EngineSpec) -> Iterator[tuple[str, str]]:
    if spec.command:
        yield "command", shlex.join(spec.command)
        files = {word: Path(word) for word in spec.command if Path(word).is_file()}
        yield "files", local_builds.digest_of(files.items())
        return
    yield "adapter", _adapter_digest(spec.adapter)
    known = KNOWN.get(spec.name)
    if known is None:
        return
    if needs_environment(spec):
        python = ensure_environment(spec)
        folder = site_packages(python, known.module)
        assert folder is not None  # noqa: S101 - an environment without the package is never ready
        yield known.module, _digest_below(folder / known.module)
        for package in _BESIDE.get(spec.name, ()):
            found = sorted(path.name for path in folder.glob(f"{package}-*.dist-info"))
            yield package, ",".join(found).removeprefix(f"{package}-").removesuffix(".dist-info")
    elif spec.path and known.takes == local_builds.SOURCES:
        yield known.module, _digest_below(build_copy(spec) / known.module)
    else:
        yield known.module, _digest_below(*_locations(known.module))
        for package in _BESIDE.get(spec.name, ()):
            yield package, importlib.metadata.version(package)
    if known.java:
        yield "pyspark", importlib.metadata.version("pyspark")
        yield "java", find_java().version
    if spec.name == "delta-spark":
        jars = with_build(build_copy(spec) if spec.path else None)
        yield "jars", local_builds.digest_of((jar.name, jar) for jar in jars)


def _adapter_digest(adapter: str) -> str:
    """The name of the adapter, and a digest of the folder of its module: beside it lie its capabilities."""
    module = adapter.rpartition(":")[0]
    if module.endswith(".py"):
        return f"{adapter} {local_builds.digest_of([(adapter, Path(module))])}"
    return f"{adapter} {_digest_below(*_locations(module))}"


def _locations(module: str) -> list[Path]:
    """The folders of a package, or the file of a module; the module itself is not imported."""
    found = importlib.util.find_spec(module)
    if found is None:
        return []
    if found.submodule_search_locations:
        return [Path(place) for place in found.submodule_search_locations]
    return [Path(found.origin)] if found.origin else []


def _digest_below(*places: Path) -> str:
    files: dict[str, Path] = {}
    for place in places:
        below = [place] if place.is_file() else local_builds.walk(place)
        files |= {os.path.relpath(file, place.parent): file for file in below}
    return local_builds.digest_of(files.items())
