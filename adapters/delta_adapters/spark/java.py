"""Find the Java for Spark, and the command that installs one if there is none.

This module imports only the standard library: `tools/environment.py` loads this file before anything is installed.
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
BRIEF = "DELTA_CONFORMANCE_BRIEF_JVM"  # set to 1: few calls are to come, so a session starts its JVM for a short life
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
    """Spark can't run on this machine's Java. The message is the cause, `cure` the command that helps."""

    cure = CURE


class NoJava(JavaError):
    """There is no Java on PATH, nor in JAVA_HOME."""


class BadJava(JavaError):
    """The machine's Java is too old, or does not start."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark accepts. `version` is its whole version text: class archives fit only the same build."""

    program: Path
    major: int
    version: str

    @property
    def home(self) -> Path:
        """The folder that JAVA_HOME names."""
        return self.program.resolve().parent.parent


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """Return the Java that Spark's own launcher would take: that of JAVA_HOME, else the one on PATH.

    Raises NoJava or BadJava if Spark can't use it.
    """
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
    output = answer.stderr + answer.stdout
    version = re.search(r'version "(\d+)(?:\.(\d+))?', output)
    if answer.returncode != 0 or version is None:
        raise BadJava(
            f"{program} does not say its version (exit {answer.returncode}): {output.strip()[:200]}"
        )
    first, second = int(version[1]), int(version[2] or 0)
    major = second if first == 1 else first  # Java 8 calls itself 1.8
    if major < OLDEST:
        raise BadJava(f"{program} is Java {major}; Spark 4 needs {OLDEST} or newer")
    return Java(program, major, output.strip())


def _program(environment: Mapping[str, str]) -> Path:
    home = environment.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        if not program.is_file():
            raise NoJava(f"JAVA_HOME is {home}, and there is no bin/java in it")
        return program
    java = shutil.which("java", path=environment.get("PATH"))
    if java is None:
        raise NoJava("there is no java on PATH, and JAVA_HOME is not set")
    return Path(java)
