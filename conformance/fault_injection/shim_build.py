"""Builds the shim: compiled with the machine's C compiler on first use, kept in the user's cache by its hash."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
from pathlib import Path

from delta_adapters.environments import cache_folder

SOURCE = Path(__file__).with_name("shim.c")
# Without fortification: its inline wrappers of `open` would be defined twice.
FLAGS = ("-O2", "-shared", "-fPIC", "-pthread", "-U_FORTIFY_SOURCE", "-w")
COMPILERS = ("cc", "gcc", "clang")
TIMEOUT = 120


class TurnstileProblem(RuntimeError):
    """The turnstile can't be used on this machine. The message says why and what to do."""


def shim(*more_flags: str) -> Path:
    """Return the library; compile it if this source with these flags never was. Raises TurnstileProblem."""
    if platform.system() != "Linux":
        raise TurnstileProblem(f"the turnstile needs LD_PRELOAD on Linux; this is {platform.system()}")
    source = SOURCE.read_bytes()
    flags = (*FLAGS, *more_flags)
    identity = repr((source, flags, platform.machine(), platform.libc_ver()))
    folder = cache_folder() / "turnstile"
    library = folder / f"shim-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.so"
    if library.exists():
        return library
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "shim.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not library.exists():
                _compile(library, flags)
    except OSError as error:
        raise TurnstileProblem(
            f"can't keep the turnstile's library in {folder}: {error}. XDG_CACHE_HOME moves it elsewhere"
        ) from error
    return library


def _compile(library: Path, flags: tuple[str, ...]) -> None:
    compiler = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    if compiler is None:
        raise TurnstileProblem(
            f"the turnstile is a small C library, compiled once, and there is no C compiler: none of"
            f" {', '.join(COMPILERS)} is on PATH. Install one (`apt install gcc libc6-dev`, `dnf install gcc"
            " glibc-devel`), or copy the folder of a machine that has one:"
            f" {library.parent}"
        )
    partial = library.with_suffix(f".{os.getpid()}.partial")
    try:
        done = subprocess.run(
            [compiler, *flags, "-o", str(partial), str(SOURCE), "-ldl"],
            capture_output=True, text=True, check=False, timeout=TIMEOUT,
        )  # fmt: skip
        if done.returncode:
            raise TurnstileProblem(
                f"{compiler} can't compile the turnstile's library (exit code {done.returncode}). Are the C library's"
                f" headers installed (`apt install libc6-dev`)? It says:\n{done.stderr.strip()[-1500:]}"
            )
        partial.replace(library)
    except subprocess.TimeoutExpired as error:
        raise TurnstileProblem(
            f"{compiler} took more than {TIMEOUT} s over {SOURCE.name}; try again on a quieter machine"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
