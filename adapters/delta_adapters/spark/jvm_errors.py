"""Read the chain of causes of an exception from the JVM, and notice when the JVM has ended."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LONGEST_CHAIN = 20
DEATH_TAKES = 5.0  # seconds within which a killed JVM has ended


@dataclass(frozen=True, slots=True)
class Cause:
    """One exception of a chain of causes, as the JVM or PySpark describes it."""

    name: str
    condition: str | None
    state: str | None
    message: str


class EngineGone(RuntimeError):
    """The JVM no longer answers."""


def causes_of(error: Exception) -> Iterator[Cause]:
    """Yield the causes, from the exception that Python caught to the first one. Raises EngineGone without a JVM."""
    from py4j.protocol import Py4JError, Py4JJavaError  # noqa: PLC0415 - comes with pyspark
    from pyspark.errors import PySparkException  # noqa: PLC0415

    throwable: Any = None
    try:
        if isinstance(error, PySparkException):
            yield Cause(type(error).__name__, error.getCondition(), error.getSqlState(), str(error))
            throwable = getattr(error, "_origin", None) or getattr(error, "_cause", None)
        elif isinstance(error, Py4JJavaError):
            throwable = error.java_exception
        elif _is_death(error):
            raise EngineGone(str(error)) from error
        else:
            yield Cause(type(error).__name__, None, None, str(error))
        for _ in range(LONGEST_CHAIN):
            if not hasattr(throwable, "getCause"):
                break
            yield _java_cause(throwable)
            throwable = throwable.getCause()
    except (Py4JError, ConnectionError) as lost:
        if _is_death(lost):
            raise EngineGone(str(lost)) from error
        raise


def describe(causes: tuple[Cause, ...]) -> str:
    """Return the engine's own message: the first line of each cause that adds something."""
    lines: list[str] = []
    for cause in causes:
        first = next(iter(cause.message.strip().splitlines()), "")
        if first and not any(first in line for line in lines):
            lines.append(f"{re.split(r'[.$]', cause.name)[-1]}: {first[:500]}")
    return " <- ".join(lines[:4])


def _is_death(error: Exception) -> bool:
    """Whether an error means that the JVM has ended. The first call after its death raises another error."""
    from py4j.protocol import Py4JError, Py4JNetworkError  # noqa: PLC0415 - comes with pyspark

    if isinstance(error, Py4JNetworkError | ConnectionError | EOFError):
        return True
    return isinstance(error, Py4JError) and _jvm_ended()


def _jvm_ended() -> bool:
    from pyspark import SparkContext  # noqa: PLC0415 - comes with pyspark

    gateway = SparkContext._gateway  # noqa: SLF001 - pyspark's own handle of the process
    if gateway is None:
        return True
    try:
        gateway.proc.wait(timeout=DEATH_TAKES)
    except subprocess.TimeoutExpired:
        return False
    return True


def _java_cause(throwable: Any) -> Cause:
    from py4j.java_gateway import is_instance_of  # noqa: PLC0415 - comes with pyspark
    from pyspark import SparkContext  # noqa: PLC0415

    condition = state = None
    if is_instance_of(SparkContext._gateway, throwable, "org.apache.spark.SparkThrowable"):  # noqa: SLF001
        condition, state = throwable.getCondition(), throwable.getSqlState()
    return Cause(throwable.getClass().getName(), condition, state, throwable.getMessage() or "")
