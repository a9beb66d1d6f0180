"""Choose the interpreter of a host: this one for an installed engine, a cached environment for any other version.

An environment is made once, under a file lock, in the user's cache folder. Its marker file is written last: an
environment without one is made again. Another interpreter gets the host's program, the adapter and the vocabulary as
one zip file on its path, never the checkout.

The environment of a wheel or of a checkout is named after the digest of its content. Sources and JARs run in this
interpreter, from a copy that is named after their digest, so a build may be made anew while it is tested.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import delta_adapters
import delta_models
from delta_adapters import local_builds
from delta_adapters.registry import KNOWN, EngineSpec

INSTALL_TIMEOUT = 900
BUILD_TIMEOUT = 3600  # a checkout may be a large project in a compiled language
READY = "READY.json"
_ROOTS = {package.__name__: Path(str(package.__file__)).parent for package in (delta_adapters, delta_models)}


class EnvironmentProblem(RuntimeError):
    """The environment for an engine's version can't be made. The message says why and what to do."""


class NoSuchBuild(EnvironmentProblem):
    """What was asked for does not exist, or can't be installed on such a machine: only asking for another helps."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start an engine's host: the interpreter with its flags, the whole environment, the adapter's spec.

    Without an adapter, the command is a host itself. It runs in `folder`, and answers on its standard output.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    adapter: str
    folder: Path | None = None


def launch_of(spec: EngineSpec) -> Launch:
    """Return how to start this engine's host. Makes the environment of another version if it does not exist yet.

    Raises EnvironmentProblem if it can't be made.
    """
    common = {**os.environ, "TZ": "UTC", "PYTHONFAULTHANDLER": "1", "PYTHONUNBUFFERED": "1"}
    if spec.command:
        program = shutil.which(spec.command[0])
        if program is None:
            raise NoSuchBuild(f"{spec}: there is no program {spec.command[0]}")
        return Launch((str(Path(program).absolute()), *spec.command[1:]), common, "", Path.cwd())
    if not needs_environment(spec):
        path = _own_path(spec)
        if spec.path:
            copy = build_copy(spec)
            if KNOWN[spec.name].takes == local_builds.SOURCES:
                path = os.pathsep.join((str(copy), path))
            else:
                common[local_builds.JARS_VARIABLE] = str(copy)
        return Launch(
            (sys.executable, "-P"), {**common, **({"PYTHONPATH": path} if path else {})}, spec.adapter
        )
    python = ensure_environment(spec)
    common = {
        key: value for key, value in common.items() if key not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    }
    return Launch((str(python), "-P"), {**common, "PYTHONPATH": str(host_archive(spec))}, spec.adapter)


def cache_folder() -> Path:
    """Return the folder of environments and archives: `$XDG_CACHE_HOME/delta-conformance`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "delta-conformance"


def needs_environment(spec: EngineSpec) -> bool:
    """Whether the engine runs in an environment of its own: another version, a wheel, or a checkout."""
    known = KNOWN.get(spec.name)
    return spec.version is not None or bool(spec.path and known and known.takes == local_builds.DISTRIBUTION)


def build_copy(spec: EngineSpec) -> Path:
    """Return the folder with a copy of the sources or JARs of a build, named after their content.

    Raises EnvironmentProblem if they have changed or can't be copied.
    """
    known, original = KNOWN[spec.name], Path(spec.path or "")
    target = cache_folder() / "builds" / f"{spec.name}-{spec.build}"
    if target.is_dir():
        return target
    _refuse_changed(spec)
    if known.takes == local_builds.SOURCES:
        folder = local_builds.sources_of(spec.name, original, known.module)
        files = {str(file.relative_to(folder.parent)): file for file in local_builds.walk(folder)}
    else:
        files = {jar.name: jar for jar in local_builds.jars_of(spec.name, original)}
    try:
        return local_builds.keep_copy(files.items(), target)
    except OSError as error:
        raise EnvironmentProblem(
            f"can't copy {spec} to {target}: {error}. XDG_CACHE_HOME moves it elsewhere"
        ) from error


def ensure_environment(spec: EngineSpec) -> Path:
    """Return the interpreter of the environment for this engine's version. Makes the environment if need be."""
    known = KNOWN[spec.name]
    if spec.path:
        requirements, label = [f"build {spec.build}", *known.elsewhere[1:]], f"build-{spec.build}"
    else:
        requirements = [requirement.format(version=spec.version) for requirement in known.elsewhere]
        label = str(spec.version)
    interpreter = f"{sys.implementation.cache_tag}-{sys.platform}"
    folder = cache_folder() / "environments" / f"{spec.name}-{label}-{interpreter}"
    python = folder / "bin" / "python"
    if _ready(folder, requirements):
        return python
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_name(f"{folder.name}.lock")):
            if not _ready(folder, requirements):
                shutil.rmtree(folder, ignore_errors=True)  # half-made by a run that was stopped
                _say(f"{spec}: making an environment for it, once, in {folder}")
                _make(folder, requirements, spec)
    except OSError as error:
        raise EnvironmentProblem(
            f"can't make the environment of {spec} in {folder}: {error}. XDG_CACHE_HOME moves it elsewhere"
        ) from error
    return python


def host_archive(spec: EngineSpec) -> Path:
    """Return a zip of the host's program, the adapter and the vocabulary, named after its contents."""
    contents = {name: path.read_bytes() for name, path in _needed(spec.adapter.partition(":")[0]).items()}
    digest = hashlib.sha256(repr(sorted(contents.items())).encode()).hexdigest()[:16]
    archive = cache_folder() / "hosts" / f"{spec.name}-{digest}.zip"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        partial = archive.with_suffix(f".{os.getpid()}.partial")
        with zipfile.ZipFile(partial, "w") as written:
            for name, data in contents.items():
                written.writestr(name, data)
        partial.replace(archive)
    return archive


def _needed(adapter: str) -> dict[str, Path]:
    """Return every project file that the host and this adapter import, directly or not, and the data beside them."""
    files: dict[str, Path] = {}
    waiting = ["delta_adapters.host_server", adapter]
    while waiting:
        module = waiting.pop()
        path = _ROOTS[module.partition(".")[0]].joinpath(*module.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        name = path.relative_to(_ROOTS[module.partition(".")[0]].parent).as_posix()
        if name in files or not path.exists():
            continue
        files[name] = path
        waiting += [module.rpartition(".")[0]] if "." in module else []
        waiting += _imports(path)
        if path.name == "__init__.py" and "." in module:
            files |= {
                f"{name.removesuffix('__init__.py')}{data.name}": data for data in path.parent.glob("*.json")
            }
    return dict(sorted(files.items()))


def _imports(path: Path) -> Iterator[str]:
    """Yield the project's modules that a file imports. Some names are no modules; that does no harm."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        else:
            continue
        yield from (name for name in names if name.partition(".")[0] in _ROOTS)


def _own_path(spec: EngineSpec) -> str:
    """Return what a host of this interpreter needs on its path beyond what is installed.

    That is this package, which may only be on `sys.path`. For another project's adapter it is also everything that
    the harness itself can import.
    """
    roots = [str(root.parent) for root in _ROOTS.values()]
    paths = [os.environ.get("PYTHONPATH", ""), *roots]
    if spec.name not in KNOWN or spec.adapter != KNOWN[spec.name].adapter:
        paths += [path for path in sys.path if path and not path.endswith((".zip", "lib-dynload"))]
        paths.append(str(Path.cwd()))
    return os.pathsep.join(dict.fromkeys(path for path in paths if path))


def _ready(folder: Path, requirements: list[str]) -> bool:
    try:
        made: object = json.loads((folder / READY).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return made == {"requirements": requirements} and (folder / "bin" / "python").exists()


def _make(folder: Path, requirements: list[str], spec: EngineSpec) -> None:
    wanted = requirements
    if spec.path:
        original = Path(spec.path)
        project = original if original.is_file() else local_builds.project_of(spec.name, original)
        wanted = [str(project), *requirements[1:]]
    uv = shutil.which("uv")
    if uv:
        _run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], spec)
        fresh = ["--no-cache"] if spec.path else []  # uv knows a file by its name and date
        python = str(folder / "bin" / "python")
        _run([uv, "pip", "install", "--quiet", *fresh, "--python", python, *wanted], spec)
    else:
        _run([sys.executable, "-m", "venv", str(folder)], spec)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--no-input"]
        binary = [] if spec.path else ["--only-binary", ":all:"]
        _run([*pip, "install", "--quiet", *binary, *wanted], spec)
    if spec.path:
        _refuse_changed(spec)
        _require_module(folder, spec)
    (folder / READY).write_text(json.dumps({"requirements": requirements}), "utf-8")


def _refuse_changed(spec: EngineSpec) -> None:
    known = KNOWN[spec.name]
    try:
        now = local_builds.digest_of_build(spec.name, Path(spec.path or ""), known.takes, known.module)
    except local_builds.BadBuild as error:
        raise NoSuchBuild(str(error)) from error
    if now[: local_builds.SHORT] != spec.build:
        raise EnvironmentProblem(f"{spec} has changed since this run began. Run again when the build is done")


def _require_module(folder: Path, spec: EngineSpec) -> None:
    module = KNOWN[spec.name].module
    if site_packages(folder / "bin" / "python", module) is None:
        raise NoSuchBuild(
            f"{spec} was installed, and there is no package {module}: it is no build of {spec.name}"
        )


def site_packages(python: Path, module: str) -> Path | None:
    """Return the folder of an environment that holds a package; None if there is none."""
    return next(
        (found.parent for found in python.parents[1].glob(f"lib*/python*/site-packages/{module}")), None
    )


def _run(command: list[str], spec: EngineSpec) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "PYTHONHOME"}}
    timeout = BUILD_TIMEOUT if spec.path else INSTALL_TIMEOUT
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=timeout
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentProblem(
            f"can't make the environment of {spec}: {' '.join(command[:4])} took more than {timeout} s"
        ) from error
    if done.returncode:
        output = (done.stderr or done.stdout).strip()
        raise _problem(output, spec)


def _problem(output: str, spec: EngineSpec) -> EnvironmentProblem:
    """The exception for an installer's last words."""
    package = KNOWN[spec.name].package
    head = "its environment can't be made"
    offline = (
        "Temporary failure in name resolution",
        "NewConnectionError",
        "Network is unreachable",
        "dns error",
    )
    if any(message in output for message in offline):
        return EnvironmentProblem(
            f"{head}: the package index can't be reached. It is needed once for each version; check the network or the"
            " proxy"
        )
    if any(
        message in output
        for message in ("is not a supported wheel", "incompatible with the current platform")
    ):
        here = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        tags = "-".join(Path(spec.path or "").stem.split("-")[-3:])
        return NoSuchBuild(
            f"{head}: the wheel is for {tags}, and this machine is {here}. Give a wheel for this machine"
        )
    if "No matching distribution" in output or "no version of" in output:
        if spec.path:
            return EnvironmentProblem(f"{head}: what it depends on can't be had: {_last_lines(output)}")
        return NoSuchBuild(
            f"{head}: there is no {package} {spec.version} for this Python and machine. `pip index versions {package}`"
            " lists the versions that exist"
        )
    if re.search(r"\b(cargo|rustc|maturin)\b.*(not found|not installed|No such file)", output, re.IGNORECASE):
        return EnvironmentProblem(f"{head}: its build needs Rust (https://rustup.rs): {_last_lines(output)}")
    return (
        NoSuchBuild(f"{head}: {output[-1500:]}")
        if spec.path
        else EnvironmentProblem(f"{head}: {output[-1500:]}")
    )


def _last_lines(output: str) -> str:
    return " ".join(output.splitlines()[-2:])[-400:]


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)  # noqa: T201 - all that a user sees of a long wait


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
