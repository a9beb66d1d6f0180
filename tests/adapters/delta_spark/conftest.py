from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from delta_adapters.registry import parse_engine
from delta_adapters.supervisor import Host


@pytest.fixture(scope="session")
def delta_spark_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """One JVM for all tests."""
    with Host.start(parse_engine("delta-spark"), tmp_path_factory.mktemp("delta-spark")) as host:
        yield host


@pytest.fixture
def delta_spark(delta_spark_host: Host, tmp_path: Path) -> Host:
    """delta-spark at a folder that is not there yet."""
    if not delta_spark_host.alive:
        delta_spark_host.restart()
    delta_spark_host.open(str(tmp_path / "table"))
    return delta_spark_host
