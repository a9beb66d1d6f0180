from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine
from delta_adapters.spark.java import BRIEF


@pytest.fixture(scope="session")
def pyspark_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostClient]:
    """One JVM for all tests."""
    with HostClient.start(
        parse_engine("pyspark"), tmp_path_factory.mktemp("pyspark"), environment={BRIEF: "0"}
    ) as host:
        yield host


@pytest.fixture
def engine(pyspark_host: HostClient, tmp_path: Path) -> HostClient:
    """The engine at a folder that is not there yet."""
    if not pyspark_host.alive:
        pyspark_host.restart()
    pyspark_host.open(str(tmp_path / "table"))
    return pyspark_host
