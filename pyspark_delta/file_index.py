"""The seam to Spark's planner: a data frame over exactly the files that the log names, with the log's partition values.

Spark finds the files of a Parquet source by listing folders, and takes partition values from their names. A Delta
table wants neither. Spark lets a relation bring its own list (`FileIndex`); that takes a class of the JVM, so a small
one lies beside as source (DeltaFiles.java), as does what leaves deleted rows out (DeletedRows.java). The compiler that
Spark itself carries for its generated code compiles them; they live on the driver only. Where there is no JVM to reach
(Spark Connect), `scan` goes another way through the public API.
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
    """Whether this session has a JVM at hand in which the classes can be made."""
    return _made(spark, "DeltaFiles") is not None and _made(spark, "DeletedRows") is not None


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
    factory = _made(spark, "DeltaFiles")
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


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """Rows that a frame leaves out.

    A row's place is that of its file's first row and its index in the file. Where a query reads whole files with no
    filter for Spark's reader, the plan counts rows instead of having them numbered, a third of a scan's time.
    """

    firsts: Sequence[int]
    counts: Sequence[int]
    bits: Any

    def constants(self) -> dict[str, list[int]]:
        """What the plan must know of each file."""
        return {"__pyspark_delta_first": list(self.firsts), "__pyspark_delta_count": list(self.counts)}

    def kept(self, spark: SparkSession, row: str) -> Column:
        """Whether a row is there; `row` is the column that Spark's reader numbers."""
        session = spark._jsparkSession  # noqa: SLF001 - as above
        return ClassicColumn(_made(spark, "DeletedRows").kept(session, self.bits, row))


def bits(spark: SparkSession, places: BitMap, count: int) -> Any:
    """A bit for each of so many rows in the JVM, set where the row's place is one of these."""
    return _made(spark, "DeletedRows").bits(bytes(places.serialize()), count)


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


_instances: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()


def _made(spark: SparkSession, name: str) -> Any:
    """One of the class of that name for each JVM, if it has one."""
    gateway = getattr(spark, "_jvm", None)
    if gateway is None:
        return None
    known = _instances.setdefault(gateway, {})
    if name not in known:
        known[name] = _compiled(gateway, name)
    return known[name]


def _compiled(jvm: Any, name: str) -> Any:
    try:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
        # py4j remembers methods by the names of classes: another compilation needs another name.
        fresh = f"{name}_{uuid.uuid4().hex}"
        source = resources.files(__package__).joinpath(f"{name}.java").read_text("utf-8")
        compiler.cook(source.replace(name, fresh))
        return compiler.getClassLoader().loadClass(f"pyspark_delta.{fresh}").newInstance()
    except Exception:
        LOG.warning("%s can't be made in the JVM; tables are read a slower way", name, exc_info=True)
        return None
