from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine


@pytest.fixture(scope="session")
def delta_rs_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostClient]:
    """One delta-rs for all tests, in a host, because a process that read with it may abort when it exits."""
    with HostClient.start(parse_engine("delta-rs"), tmp_path_factory.mktemp("delta-rs")) as host:
        yield host


@pytest.fixture
def delta_rs(delta_rs_host: HostClient, tmp_path: Path) -> HostClient:
    """delta-rs at a folder that is not there yet."""
    delta_rs_host.open(str(tmp_path / "table"))
    return delta_rs_host


@pytest.fixture
def reopened(tmp_path: Path) -> Callable[[HostClient], HostClient]:
    """Address the same table through a new symlink, cold."""

    def reopen(host: HostClient) -> HostClient:
        link = tmp_path / f"link{len(list(tmp_path.iterdir()))}"
        link.symlink_to(tmp_path / "table")
        host.open(str(link))
        return host

    return reopen
