"""The seam to Spark's planner: a data frame over exactly the files that the log names, with the log's partition values.

Spark finds the files of a Parquet source by listing folders, and takes partition values from their names. A Delta
table wants neither. Spark lets a relation bring its own list (`FileIndex`); that takes a class of the JVM, so a small
one lies beside as source (DeltaFiles.java) and is compiled by the compiler that Spark itself carries for its generated
code. It lives on the driver only. Where there is no JVM to reach (Spark Connect), `scan` goes another way through the
public API.
"""

from __future__ import annotations

import logging
import struct
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, ClassVar

import pyarrow as pa
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.classic.column import Column as ClassicColumn
from pyspark.sql.types import StructType

__all__ = ["FileList", "frame", "is_available", "numbers"]

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileList:
    """Files for Spark: absolute decoded paths, sizes, times, their groups; and the partition values of each group."""

    paths: Sequence[str]
    sizes: Sequence[int]
    times: Sequence[int]
    groups: Sequence[int]
    values: Sequence[Sequence[str | None]]

    def to_bytes(self) -> bytes:
        """One piece for the JVM: a call for each file would cost more than reading a small table."""
        flat = [text for group in self.values for text in group]
        counts = struct.pack(
            "<iii", len(self.paths), len(self.values), len(self.values[0]) if self.values else 0
        )
        return b"".join(
            (
                counts,
                pa.array(self.sizes, pa.int64()).buffers()[1],
                pa.array(self.times, pa.int64()).buffers()[1],
                pa.array(self.groups, pa.int32()).buffers()[1],
                *(_text(path) for path in self.paths),
                *(_text(text) for text in flat),
            )
        )


def is_available(spark: SparkSession) -> bool:
    """Whether this session has a JVM at hand in which the class can be made."""
    return _factory(spark) is not None


def frame(
    spark: SparkSession,
    files: FileList,
    *,
    root: str,
    partition_schema: StructType,
    schema: StructType,
    options: Mapping[str, str],
    choose: Callable[[str], bytes | None] | None = None,
) -> DataFrame:
    """The files as a data frame of this schema; columns of `partition_schema` have the values of the files' groups.

    `choose` is asked when a query over the frame is planned: given the query's filters as JSON (see `conditions`), it
    gives a byte for each file, 0 where the file has no row for them; None for all files.
    """
    factory = _factory(spark)
    assert factory is not None  # noqa: S101 - whoever calls has asked is_available
    jvm_frame = factory.frame(
        spark._jsparkSession,  # noqa: SLF001 - the classic session's own way to the JVM
        root,
        files.to_bytes(),
        partition_schema.json(),
        schema.json(),
        "\n".join(f"{key}={value}" for key, value in options.items()),
        None if choose is None else _callback(spark, choose),
    )
    return DataFrame(jvm_frame, spark)


def numbers(spark: SparkSession, packed: bytes) -> Column:
    """An array of longs as a constant of a query; 8 bytes each, little-endian."""
    return ClassicColumn(_factory(spark).numbers(packed))


class _Callback:
    """A function of Python as Java's `Function`."""

    def __init__(self, function: Callable[[str], bytes | None]) -> None:
        self._function = function

    def apply(self, text: str) -> bytes | None:
        """Called by the JVM while a query is planned; never raises into it, as every file may be read instead."""
        try:
            return self._function(text)
        except Exception:  # skipping files is an optimisation
            LOG.warning("files could not be chosen by %s; reading all", text, exc_info=True)
            return None

    class Java:
        """What py4j asks for."""

        implements: ClassVar = ["java.util.function.Function"]


def _callback(spark: SparkSession, function: Callable[[str], bytes | None]) -> _Callback:
    ensure_callback_server_started(spark.sparkContext._gateway)  # noqa: SLF001 - the same
    return _Callback(function)


def _text(text: str | None) -> bytes:
    if text is None:
        return b"\xff\xff\xff\xff"
    encoded = text.encode("utf-8", "surrogateescape")
    return struct.pack("<i", len(encoded)) + encoded


_factories: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _factory(spark: SparkSession) -> Any:
    gateway = getattr(spark, "_jvm", None)
    if gateway is None:
        return None
    if gateway not in _factories:
        _factories[gateway] = _compiled(gateway)
    return _factories[gateway]


def _compiled(jvm: Any) -> Any:
    try:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
        # py4j remembers methods by the names of classes: another compilation needs another name.
        name = f"DeltaFiles_{uuid.uuid4().hex}"
        source = resources.files(__package__).joinpath("DeltaFiles.java").read_text("utf-8")
        compiler.cook(source.replace("DeltaFiles", name))
        return compiler.getClassLoader().loadClass(f"pyspark_delta.{name}").newInstance()
    except Exception:
        LOG.warning(
            "Spark's planner can't be given a list of files; tables are read a slower way", exc_info=True
        )
        return None
