"""Run lines of Python on delta-spark, in a process of its own.

`delta_spark.run("...", table=path)` runs Python there. The lines can use `spark`, `DeltaTable` and the given names, and
return what they leave in `result` (as JSON; rows as lists). A separate process is needed because a JVM has one
classpath, and the engine's has no Delta JAR.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self

from delta_adapters.delta_spark.jars import resolve

# The tables have few rows and each is queried once, so compiling costs more than it saves (docs/decisions/0013).
SPARED = {
    "spark.driver.memory": "1g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:+UseSerialGC -XX:MetaspaceSize=300m",
}


class DeltaSparkError(Exception):
    """The lines raised an error there; the message is its traceback."""


class DeltaSpark:
    """A handle on the process, which starts with the first call of `run`.

    Benchmarks pass other settings than `SPARED`.
    """

    def __init__(self, work: Path, settings: Mapping[str, str] = SPARED) -> None:
        self._work = work
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            assert self._process.stdin
            assert self._process.stdout
            self._process.stdin.close()
            self._process.wait(60)
            self._process.stdout.close()

    def run(self, lines: str, **names: Any) -> Any:
        """Run these lines and return what they leave in `result`."""
        process = self._process or self._start()
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"lines": textwrap.dedent(lines), "names": names}) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise DeltaSparkError(f"delta-spark's process ended with {process.wait(10)}; see {self._work}")
        reply = json.loads(answer)
        if "error" in reply:
            raise DeltaSparkError(reply["error"])
        return reply["result"]

    def _start(self) -> subprocess.Popen[str]:
        jars = ",".join(str(jar) for jar in resolve())
        with (self._work / "stderr").open("w") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).resolve()), jars, json.dumps(dict(self._settings))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                cwd=self._work,
                env={**os.environ, "PYSPARK_PYTHON": sys.executable},
            )
        return self._process


def _session(jars: str, more: Mapping[str, str]) -> Any:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - the tests' own process needs neither

    settings = {
        "spark.jars": jars,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
        "spark.sql.warehouse.dir": str(Path.cwd() / "warehouse"),
        **more,
    }
    builder = SparkSession.builder.master("local[2]").appName("delta-spark beside the engine")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _serve(answers: IO[str]) -> None:
    spark: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if spark is None:
                spark = _session(sys.argv[1], json.loads(sys.argv[2]))
            from delta.tables import DeltaTable  # noqa: PLC0415 - needs the session's JARs

            known = {"spark": spark, "DeltaTable": DeltaTable, "result": None, **request["names"]}
            exec(compile(request["lines"], "<test>", "exec"), known)
            answer = json.dumps({"result": known["result"]}, default=str)
        except Exception:  # noqa: BLE001 - the test gets any error
            answer = json.dumps({"error": traceback.format_exc()})
        answers.write(answer + "\n")
        answers.flush()
    if spark is not None:
        spark.stop()


if __name__ == "__main__":
    # Answers have their own descriptor, because Spark and the lines may print. Their output goes to stderr.
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _serve(own)
