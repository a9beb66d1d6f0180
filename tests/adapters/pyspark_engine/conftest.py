from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from delta_adapters.registry import parse_engine
from delta_adapters.supervisor import Host


@pytest.fixture(scope="session")
def pyspark_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """One JVM for all tests."""
    with Host.start(parse_engine("pyspark"), tmp_path_factory.mktemp("pyspark")) as host:
        yield host


@pytest.fixture
def engine(pyspark_host: Host, tmp_path: Path) -> Host:
    """The engine at a folder that is not there yet."""
    if not pyspark_host.alive:
        pyspark_host.restart()
    pyspark_host.open(str(tmp_path / "table"))
    return pyspark_host
