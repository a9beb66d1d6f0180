from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine
from delta_adapters.spark.java import BRIEF


@pytest.fixture(scope="session")
def delta_spark_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The host's work folder."""
    return tmp_path_factory.mktemp("delta-spark")


@pytest.fixture(scope="session")
def delta_spark_host(delta_spark_folder: Path) -> Iterator[HostClient]:
    """One host with one JVM for all tests. No JVM is left when the host has ended."""
    with HostClient.start(parse_engine("delta-spark"), delta_spark_folder, environment={BRIEF: "0"}) as host:
        yield host
    assert javas_under(delta_spark_folder) == []


@pytest.fixture
def delta_spark(delta_spark_host: HostClient, tmp_path: Path) -> HostClient:
    """delta-spark at a folder that is not there yet."""
    if not delta_spark_host.alive:
        delta_spark_host.restart()
    delta_spark_host.open(str(tmp_path / "table"))
    return delta_spark_host


def javas_under(folder: Path) -> list[int]:
    """Return the ids of the JVMs whose command line names the folder."""
    pids = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                words = (path / "cmdline").read_bytes()
            except OSError:
                continue  # it ended while we looked
            if str(folder).encode() in words and b"java" in words.split(b"\0")[0]:
                pids.append(int(path.name))
    return pids
