"""Finds the Java that Spark is to run on, and says what to type where there is none.

The standard library is all that it needs: `tools/environment.py` loads this file before anything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

OLDEST = 17
CURES = (
    (
        "Debian, Ubuntu",
        "sudo apt install openjdk-17-jre-headless (where there is none: openjdk-21-jre-headless)",
    ),
    ("Fedora", "sudo dnf install java-latest-openjdk-headless"),
    ("macOS", 'brew install openjdk@21 && export JAVA_HOME="$(brew --prefix openjdk@21)"'),
)
CURE = f"{'; '.join(f'{system}: {line}' for system, line in CURES)}; or point JAVA_HOME at one"


class JavaError(RuntimeError):
    """Spark can't run on this machine's Java. The message is the cause, `cure` what to type."""

    cure = CURE


class NoJava(JavaError):
    """There is no Java on PATH, nor in JAVA_HOME."""


class BadJava(JavaError):
    """The Java that was found is too old, or does not start."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that will do. `version` is its whole version text: archives of classes fit only the very same build."""

    program: Path
    major: int
    version: str

    @property
    def home(self) -> Path:
        """The folder that JAVA_HOME names."""
        return self.program.resolve().parent.parent


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """The Java that Spark's own launcher would take: JAVA_HOME's, else the one on PATH."""
    program = _program(environment)
    try:
        answer = subprocess.run(
            [str(program), "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadJava(f"{program} does not start: {error}") from error
    said = answer.stderr + answer.stdout
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said)
    if answer.returncode != 0 or found is None:
        raise BadJava(f"{program} does not say its version (exit {answer.returncode}): {said.strip()[:200]}")
    first, second = int(found[1]), int(found[2] or 0)
    major = second if first == 1 else first  # Java 8 calls itself 1.8
    if major < OLDEST:
        raise BadJava(f"{program} is Java {major}; Spark 4 needs {OLDEST} or newer")
    return Java(program, major, said.strip())


def _program(environment: Mapping[str, str]) -> Path:
    home = environment.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        if not program.is_file():
            raise NoJava(f"JAVA_HOME is {home}, and there is no bin/java in it")
        return program
    found = shutil.which("java", path=environment.get("PATH"))
    if found is None:
        raise NoJava("there is no java on PATH, and JAVA_HOME is not set")
    return Path(found)
