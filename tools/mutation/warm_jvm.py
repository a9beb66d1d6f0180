"""A JVM that outlives the hosts of the engine: each host gets a fresh Python process and a fresh Spark context in it.

A mutant is Python code, so nothing of it is left in the JVM but classes that Spark has loaded. pyspark connects to a
JVM that runs if the environment names its gateway. After a host that did not stop its context, start a new one. What
plays behind the turnstile needs a JVM of its own there, so that `hidden` hides this one from it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from delta_adapters.spark.java import find_java
from delta_adapters.spark.session import LOGGING, settings

PORT, SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"


class WarmJvm:
    """One JVM at a time, which hosts find through the environment of this process."""

    def __init__(self, work: Path) -> None:
        self._work = work
        self._gateway: Any = None

    def start(self) -> None:
        """Start a JVM unless one runs."""
        if self._gateway is not None:
            return
        from pyspark import SparkConf  # noqa: PLC0415 - takes a second
        from pyspark.java_gateway import launch_gateway  # noqa: PLC0415 - the same

        for folder in ("tmp", "local", "warehouse"):
            (self._work / folder).mkdir(parents=True, exist_ok=True)
        (self._work / "log4j2.properties").write_text(LOGGING, "utf-8")
        os.environ["JAVA_HOME"] = str(find_java().home)
        os.environ.pop(PORT, None)
        conf = SparkConf(loadDefaults=False)
        for key, value in settings(self._work).items():
            conf.set(key, value)
        with (self._work / "jvm.log").open("ab") as log:
            self._gateway = launch_gateway(conf, {"stdout": log, "stderr": log})
        parameters = self._gateway.gateway_parameters
        os.environ |= {PORT: str(parameters.port), SECRET: parameters.auth_token}

    def import_from(self, path: str) -> None:
        """Have Python processes that Spark starts for its tasks import from these folders first, as the host does."""
        system = self._gateway.jvm.java.lang.System
        system.setProperty("spark.executorEnv.PYTHONPATH", path)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hosts that start in this block start a JVM of their own."""
        kept = {name: os.environ.pop(name) for name in (PORT, SECRET) if name in os.environ}
        try:
            yield
        finally:
            os.environ |= kept

    def stop(self) -> None:
        """End the JVM."""
        if self._gateway is None:
            return
        gateway, self._gateway = self._gateway, None
        os.environ.pop(PORT, None)
        os.environ.pop(SECRET, None)
        process = gateway.proc
        gateway.shutdown()
        process.stdin.close()  # the JVM ends when this pipe does
        process.wait()


@contextmanager
def warm_jvm(work: Path) -> Iterator[WarmJvm]:
    """A JVM that is started when it is needed, and ended when the block ends."""
    jvm = WarmJvm(work)
    try:
        yield jvm
    finally:
        jvm.stop()
