"""Compiles the host: `python build.py FOLDER`. What it leaves in the folder is `kernel-host`, the program to run.

The libraries are those that delta-spark and pyspark bring: Delta Kernel, and what it needs for Parquet and JSON. A
project of its own would name `io.delta:delta-kernel-defaults` in its build file instead.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from delta_adapters.delta_spark.jars import resolve

HERE = Path(__file__).absolute().parent
DELTA = ("delta-kernel-api", "delta-kernel-defaults", "delta-storage")
SPARK = (
    "commons-lang3-", "hadoop-client-", "jackson-annotations-", "jackson-core-", "jackson-databind-", "jts-core-",
    "parquet-", "slf4j-api-", "snappy-java-", "zstd-jni-",
)  # fmt: skip


def class_path() -> list[Path]:
    """The JARs of Delta Kernel and of what it needs. The first time they are fetched."""
    pyspark = importlib.util.find_spec("pyspark")
    if pyspark is None or pyspark.origin is None:
        sys.exit("pyspark is not installed: pip install 'delta-conformance[delta-spark]'")
    shipped = sorted(Path(pyspark.origin).parent.joinpath("jars").glob("*.jar"))
    return [
        *(jar for jar in resolve() if any(name in jar.name for name in DELTA)),
        *(jar for jar in shipped if jar.name.startswith(SPARK)),
    ]


def build(folder: Path) -> Path:
    """Compile the host into a folder, and return the program."""
    compiler = shutil.which("javac")
    if compiler is None:
        sys.exit(
            "there is no javac on PATH: a JDK 17 or newer is needed (apt install openjdk-17-jdk-headless)"
        )
    folder.mkdir(parents=True, exist_ok=True)
    jars = os.pathsep.join(map(str, class_path()))
    subprocess.run([compiler, "-cp", jars, "-d", str(folder), str(HERE / "KernelHost.java")], check=True)
    words = [
        str(Path(compiler).with_name("java")),
        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",  # it starts often and lives shortly
        "-cp", os.pathsep.join((jars, str(folder.absolute()))),
        "KernelHost", str(HERE / "claims.json"),
    ]  # fmt: skip
    program = folder / "kernel-host"
    program.write_text(f"#!/bin/sh\nexec {shlex.join(words)}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(build(Path(sys.argv[1])).absolute())  # noqa: T201 - a command's answer
