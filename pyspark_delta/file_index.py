"""Give Spark's planner exactly the files that the log names, with the log's partition values, as a data frame.

Spark finds the files of a Parquet source by listing folders, and takes partition values from folder names. A Delta
table needs neither. Spark lets a relation bring its own `FileIndex`, but that must be a JVM class. So this package
ships small Java sources: DeltaFiles.java for the index, DeletedRows.java to leave deleted rows out. The compiler that
Spark carries for generated code compiles them, and they exist on the driver only. If no JVM is reachable (Spark
Connect), `physical_layout` uses `fallback_scan` instead.
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
from pyroaring import BitMap
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.classic.column import Column as ClassicColumn
from pyspark.sql.types import StructType

__all__ = ["DeletedRows", "FileList", "bits", "frame", "is_available"]

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileList:
    """Files for Spark: absolute decoded paths, sizes, times and groups, and the partition values of each group."""

    paths: Sequence[str]
    sizes: Sequence[int]
    times: Sequence[int]
    groups: Sequence[int]
    values: Sequence[Sequence[str | None]]

    def to_bytes(self) -> bytes:
        """All files as one byte string for the JVM. A call for each file would cost more than reading a small table."""
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
    """Whether this session has a JVM in which the classes can be made."""
    return _jvm_instance(spark, "DeltaFiles") is not None and _jvm_instance(spark, "DeletedRows") is not None


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
    """The files as a data frame of this schema; columns of `partition_schema` have the values of the file's group.

    When Spark plans a query over the frame, it calls `choose` with the query's filters as JSON (see `filter_pushdown`).
    `choose` returns one byte for each file, 0 if the file has no row for them, or None for all files.
    """
    factory = _jvm_instance(spark, "DeltaFiles")
    assert factory is not None  # noqa: S101 - the caller checked is_available
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


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """The rows that a frame leaves out.

    A row's position is that of its file's first row plus its index in the file. If a query reads whole files and gives
    Spark's reader no filter, the plan counts rows instead of having them numbered. That saves a third of a scan's time.
    """

    firsts: Sequence[int]
    counts: Sequence[int]
    bits: Any

    def constants(self) -> dict[str, list[int]]:
        """The constants of each file that the plan needs."""
        return {"__pyspark_delta_first": list(self.firsts), "__pyspark_delta_count": list(self.counts)}

    def kept(self, spark: SparkSession, row: str) -> Column:
        """The condition that a row is not deleted; `row` is the column that Spark's reader numbers."""
        session = spark._jsparkSession  # noqa: SLF001 - as above
        return ClassicColumn(_jvm_instance(spark, "DeletedRows").kept(session, self.bits, row))


def bits(spark: SparkSession, places: BitMap, count: int) -> Any:
    """A bit set in the JVM with `count` bits; the bits at these positions are set."""
    return _jvm_instance(spark, "DeletedRows").bits(bytes(places.serialize()), count)


class _Callback:
    """A Python function as Java's `Function`."""

    def __init__(self, function: Callable[[str], bytes | None]) -> None:
        self._function = function

    def apply(self, text: str) -> bytes | None:
        """Called by the JVM while it plans a query. It never raises, because reading every file is right too."""
        try:
            return self._function(text)
        except Exception:  # skipping files is only an optimisation
            LOG.warning("files could not be chosen by %s; reading all", text, exc_info=True)
            return None

    class Java:
        """The interfaces that py4j needs."""

        implements: ClassVar = ["java.util.function.Function"]


def _callback(spark: SparkSession, function: Callable[[str], bytes | None]) -> _Callback:
    ensure_callback_server_started(spark.sparkContext._gateway)  # noqa: SLF001 - the same
    return _Callback(function)


def _text(text: str | None) -> bytes:
    if text is None:
        return b"\xff\xff\xff\xff"
    encoded = text.encode("utf-8", "surrogateescape")
    return struct.pack("<i", len(encoded)) + encoded


_instances: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()


def _jvm_instance(spark: SparkSession, name: str) -> Any:
    """An instance of this class in the session's JVM, made once for each JVM; None if there is no JVM."""
    gateway = getattr(spark, "_jvm", None)
    if gateway is None:
        return None
    known = _instances.setdefault(gateway, {})
    if name not in known:
        known[name] = _compile(gateway, name)
    return known[name]


def _compile(jvm: Any, name: str) -> Any:
    try:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
        # py4j caches methods by class name, so another compilation needs another name.
        fresh = f"{name}_{uuid.uuid4().hex}"
        source = resources.files(__package__).joinpath(f"{name}.java").read_text("utf-8")
        compiler.cook(source.replace(name, fresh))
        return compiler.getClassLoader().loadClass(f"pyspark_delta.{fresh}").newInstance()
    except Exception:
        LOG.warning("%s can't be made in the JVM; tables are read a slower way", name, exc_info=True)
        return None
