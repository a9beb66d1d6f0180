"""Find engines by the names that the command line uses, and check whether they can run here.

An engine is one that the project knows, an entry point in the group `delta_conformance.adapters`, or a plain
`module:Class` or `file.py:Class`. `NAME@VERSION` names another version than the installed one, and `NAME@PATH` a build
that no index has (see `local_builds`). `NAME=COMMAND ...` is a program in any language that speaks the host protocol
on its standard input and output (`docs/host-protocol.md`).
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from delta_adapters import local_builds
from delta_adapters.engine_id import EngineId
from delta_adapters.local_builds import BadBuild

ENTRY_POINTS = "delta_conformance.adapters"


class UnknownEngine(ValueError):
    """The text names no engine; the message lists the names that exist."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """An engine to run: its adapter and, if it is not the installed one, its version, or the path of its build.

    `build` is a digest of what the path holds. `heavy` is set once the engine has said that its steps take long.
    `command` are the words of a program that is a host itself; then there is no `adapter`.
    """

    name: str
    adapter: str
    version: str | None = None
    path: str | None = None
    build: str = ""
    heavy: bool = False
    command: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.command:
            return f"{self.name}={shlex.join(self.command)}"
        return f"{self.name}@{self.path or self.version}" if self.path or self.version else self.name


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether an engine can run here. If not: the reason, and the command that changes that.

    `broken` says that what was asked for does not exist or does not work, on this machine or on any.
    """

    available: bool
    why: str = ""
    cure: str = ""
    broken: bool = False

    def __bool__(self) -> bool:
        return self.available


@dataclass(frozen=True, slots=True)
class KnownEngine:
    """An engine for which the project itself has an adapter.

    `package` is the distribution whose version counts, and `module` what it is imported as; `others` are needed beside
    it. `elsewhere` are the requirements of an environment for another version (with `{version}`); without them the
    engine can only run as installed. `takes` is the kind of its builds that a path may name (`local_builds`).
    `counts` is False if agreement with the model is no evidence. Such an engine, and one that is not `by_default`,
    runs only if the user names it.
    """

    adapter: str
    package: str
    extra: str
    module: str
    others: tuple[str, ...] = ()
    java: bool = False
    elsewhere: tuple[str, ...] = ()
    counts: bool = True
    by_default: bool = True
    takes: str = ""


KNOWN: Mapping[str, KnownEngine] = {
    "reference": KnownEngine(
        "delta_adapters.reference:Reference", "delta-conformance", "", "delta_models", counts=False
    ),
    "delta-rs": KnownEngine(
        "delta_adapters.delta_rs:DeltaRs",
        "deltalake",
        "delta-rs",
        "deltalake",
        elsewhere=("deltalake=={version}", "pyarrow>=16"),
        takes=local_builds.DISTRIBUTION,
    ),
    "delta-spark": KnownEngine(
        "delta_adapters.delta_spark:DeltaSpark",
        "delta-spark",
        "delta-spark",
        "delta",
        others=("pyspark",),
        java=True,
        takes=local_builds.JAR,
    ),
    "pyspark": KnownEngine(
        "delta_adapters.pyspark_engine:PysparkEngine",
        "delta-conformance",
        "pyspark",
        "pyspark_delta",
        others=("pyspark", "orjson", "pyroaring"),
        java=True,
        by_default=False,  # a second JVM does not fit into the four minutes of a default run on two cores
        takes=local_builds.SOURCES,
    ),
}
AVAILABLE = Availability(available=True)


def engine_names() -> tuple[str, ...]:
    """Return every name that a user can give here: the known engines, then those of installed adapters."""
    known = [name for name, engine in KNOWN.items() if _exists(engine.adapter.partition(":")[0])]
    return (*known, *sorted(set(_entry_points()) - set(KNOWN)))


def parse_engine(text: str) -> EngineSpec:
    """Return the engine that a text names.

    It is a name (`delta-rs`), with a version or the path of a build (`delta-rs@1.5.0`), an adapter
    (`my.module:Adapter`, `file.py:Adapter`), or a program (`my-engine=./my-host --fast`). Raises UnknownEngine if the
    text names none.
    """
    text = text.strip()
    if program := re.fullmatch(r"(?P<name>[A-Za-z][\w.-]*)=(?P<command>.*)", text, re.DOTALL):
        return _program(text, program["name"], program["command"])
    name, _, place = text.partition("@")
    if name in KNOWN and local_builds.is_path(place):
        return _local_engine(name, Path(place).expanduser().absolute())
    if ":" in text:
        module, _, name = text.rpartition(":")
        if not module or not name.isidentifier():
            raise UnknownEngine(f"{text!r} names no adapter: module:Class or file.py:Class was expected")
        if module.endswith(".py"):
            if not Path(module).is_file():
                raise UnknownEngine(f"{text!r} names no adapter: there is no file {module}")
            text = f"{Path(module).absolute()}:{name}"
        return EngineSpec(text, text)
    engine = EngineId.parse(text)
    name, version = engine.name, engine.version
    if name not in engine_names():
        known = ", ".join(engine_names())
        raise UnknownEngine(
            f"no engine is called {name!r}; there are {known}. An adapter of your own: module:Class, an entry point"
            f" in the group {ENTRY_POINTS!r}, or NAME=COMMAND for a program that speaks the host protocol"
        )
    if text != name and not re.fullmatch(r"\d+(\.\w+)*", version or ""):
        raise UnknownEngine(
            f"{text!r} asks for version {version or ''!r}, which is none; for example: {name}@1.5.0"
        )
    if name not in KNOWN:
        if version:
            raise UnknownEngine(
                f"{name!r} is an installed adapter, and can only run in its installed version"
            )
        return EngineSpec(name, _entry_points()[name])
    known_engine = KNOWN[name]
    if version and version == installed_version(name):
        version = None
    if version and not known_engine.elsewhere:
        have = installed_version(name) or "not installed"
        raise UnknownEngine(f"{name} can only run in its installed version here ({have}), not in {version}")
    return EngineSpec(name, known_engine.adapter, version)


def _program(text: str, name: str, command: str) -> EngineSpec:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UnknownEngine(f"{text!r} names no program: {error}") from error
    if not words:
        raise UnknownEngine(f"{text!r} names no program: {name}=COMMAND was expected")
    if name in KNOWN:
        raise UnknownEngine(
            f"{text!r} gives a program the name of an engine that the project knows; give it another name than {name}"
        )
    return EngineSpec(name, "", command=words)


def _local_engine(name: str, path: Path) -> EngineSpec:
    known = KNOWN[name]
    try:
        digest = local_builds.digest_of_build(name, path, known.takes, known.module)
        spark = importlib.util.find_spec("pyspark")
        if known.takes == local_builds.JAR and spark and spark.origin:
            jar, *_ = local_builds.jars_of(name, path)
            local_builds.refuse_other_spark(
                jar, Path(spark.origin).parent, importlib.metadata.version("pyspark")
            )
    except BadBuild as error:
        raise UnknownEngine(str(error)) from error
    return EngineSpec(name, known.adapter, path=str(path), build=digest[: local_builds.SHORT])


def installed_version(name: str) -> str | None:
    """Return the version of a known engine in this environment, None if it is not installed."""
    try:
        return importlib.metadata.version(KNOWN[name].package)
    except (KeyError, importlib.metadata.PackageNotFoundError):
        return None


def availability(engine: str | EngineSpec) -> Availability:
    """Check whether an engine can run here: packages, Java. Starts nothing and downloads nothing."""
    spec = parse_engine(engine) if isinstance(engine, str) else engine
    if spec.command and shutil.which(spec.command[0]) is None:
        return Availability(
            available=False,
            why=f"there is no program {spec.command[0]} on PATH, nor at that path below {Path.cwd()}",
            cure="give its path, from the folder that you are in",
            broken=True,
        )
    known = KNOWN.get(spec.name)
    if known is None:
        return AVAILABLE
    if spec.version is None and not (spec.path and known.elsewhere):
        missing = [other for other in (known.package, *known.others) if not _installed(other)]
        if missing:
            verb = "are" if len(missing) > 1 else "is"
            return Availability(
                available=False,
                why=f"{' and '.join(missing)} {verb} not installed",
                cure=f"pip install 'delta-conformance[{known.extra}]'",
            )
    return java_availability() if known.java else AVAILABLE


def prepare(engine: str | EngineSpec) -> Availability:
    """Fetch and make what an engine needs once, report that on stderr, and return whether the engine can run."""
    spec = parse_engine(engine) if isinstance(engine, str) else engine
    result = availability(spec)
    if not result:
        return result
    from delta_adapters import environments  # noqa: PLC0415 - it imports this module

    try:
        environments.launch_of(spec)
    except environments.EnvironmentProblem as error:
        broken = isinstance(error, environments.NoSuchBuild)
        return Availability(available=False, why=str(error), broken=broken)
    if spec.name != "delta-spark":
        return result
    from delta_adapters.delta_spark.jars import JarsError, resolve  # noqa: PLC0415 - only delta-spark needs it

    try:
        resolve()
    except JarsError as error:
        return Availability(available=False, why=str(error), cure=error.cure)
    return result


@functools.cache
def java_availability() -> Availability:
    """Check whether there is a Java that Spark accepts. If not, `cure` is the command that installs one."""
    from delta_adapters.spark.java import OLDEST, JavaError, find_java  # noqa: PLC0415 - only engines on a JVM need it

    try:
        find_java()
    except JavaError as error:
        why = f"Java {OLDEST} or newer is needed: {error}"
        return Availability(available=False, why=why, cure=error.cure)
    return AVAILABLE


def with_adapter(spec: EngineSpec, adapter: str) -> EngineSpec:
    """Return the same engine behind another adapter. So a wrapper, for instance a mutant, keeps the engine's name."""
    return replace(spec, adapter=adapter)


def _entry_points() -> dict[str, str]:
    return {
        entry_point.name: entry_point.value
        for entry_point in importlib.metadata.entry_points(group=ENTRY_POINTS)
    }


def _installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _exists(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
