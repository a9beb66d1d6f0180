"""Who sits at the table of a cause's minimal history."""

from __future__ import annotations

import pytest

from conformance.histories import History
from conformance.triage.liveness import setup_of
from delta_adapters.deviations import cause_named

BUILD = "delta-rs@/somewhere/deltalake.whl"


@pytest.mark.parametrize(
    ("name", "engines"),
    (
        ("delta-rs-no-checksums", (BUILD,)),
        ("delta-rs-far-timestamps", ("delta-spark", BUILD)),  # the one in slot B only reads
        ("delta-rs-overflows-int96", ("delta-spark", BUILD)),
        ("delta-rs-respelt-paths", (BUILD, "reference")),
        ("delta-rs-commit-found-taken", (BUILD,)),
        ("delta-rs-optimizes-double-rows", (BUILD, BUILD)),
    ),
)
def test_the_build_under_test_has_the_slots_of_its_engine(name: str, engines: tuple[str, ...]):
    cause = cause_named(name)
    assert cause is not None
    assert setup_of(cause, History.from_json(cause.history), BUILD).engines == engines


def test_a_build_of_delta_spark_sits_beside_the_writer_that_it_reads_wrongly():
    cause = cause_named("delta-spark-reads-empty-partition-text")
    assert cause is not None
    build = "delta-spark@/somewhere/delta-spark.jar"
    assert setup_of(cause, History.from_json(cause.history), build).engines == (build, "delta-rs")
