"""Choose the interpreter of a host: this one for an installed engine, a cached environment for any other version.

An environment is made once, under a file lock, in the user's cache folder. Its marker file is written last: an
environment without one is made again. Another interpreter gets the host's program, the adapter and the vocabulary as
one zip file on its path, never the checkout.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import delta_adapters
import delta_models
from delta_adapters.registry import KNOWN, EngineSpec

INSTALL_TIMEOUT = 900
READY = "READY.json"
_ROOTS = {package.__name__: Path(str(package.__file__)).parent for package in (delta_adapters, delta_models)}


class EnvironmentProblem(RuntimeError):
    """The environment for an engine's version can't be made. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start an engine's host: the interpreter with its flags, the whole environment, the adapter's spec."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    adapter: str


def launch_of(spec: EngineSpec) -> Launch:
    """Return how to start this engine's host. Makes the environment of another version if it does not exist yet.

    Raises EnvironmentProblem if it can't be made.
    """
    common = {**os.environ, "TZ": "UTC", "PYTHONFAULTHANDLER": "1", "PYTHONUNBUFFERED": "1"}
    if spec.version is None:
        path = _own_path(spec)
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


def ensure_environment(spec: EngineSpec) -> Path:
    """Return the interpreter of the environment for this engine's version. Makes the environment if need be."""
    requirements = [requirement.format(version=spec.version) for requirement in KNOWN[spec.name].elsewhere]
    interpreter = f"{sys.implementation.cache_tag}-{sys.platform}"
    folder = cache_folder() / "environments" / f"{spec.name}-{spec.version}-{interpreter}"
    python = folder / "bin" / "python"
    if _ready(folder, requirements):
        return python
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_name(f"{folder.name}.lock")):
            if not _ready(folder, requirements):
                shutil.rmtree(folder, ignore_errors=True)  # half-made by a run that was stopped
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
    uv = shutil.which("uv")
    if uv:
        _run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], spec)
        _run(
            [uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), *requirements], spec
        )
    else:
        _run([sys.executable, "-m", "venv", str(folder)], spec)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--no-input"]
        _run([*pip, "install", "--quiet", "--only-binary", ":all:", *requirements], spec)
    (folder / READY).write_text(json.dumps({"requirements": requirements}), "utf-8")


def _run(command: list[str], spec: EngineSpec) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "PYTHONHOME"}}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=INSTALL_TIMEOUT
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentProblem(
            f"can't make the environment of {spec}: {' '.join(command[:4])} took more than {INSTALL_TIMEOUT} s"
        ) from error
    if done.returncode:
        output = (done.stderr or done.stdout).strip()
        raise EnvironmentProblem(f"can't make the environment of {spec}: {_reason(output, spec)}")


def _reason(output: str, spec: EngineSpec) -> str:
    package = KNOWN[spec.name].package
    offline = (
        "Temporary failure in name resolution",
        "NewConnectionError",
        "Network is unreachable",
        "dns error",
    )
    if any(message in output for message in offline):
        return "the package index can't be reached. It is needed once for each version; check the network or the proxy"
    if "No matching distribution" in output or "no version of" in output:
        return (
            f"there is no {package} {spec.version} for this Python and machine. `pip index versions {package}` lists"
            " the versions that exist"
        )
    return output[-1500:]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
