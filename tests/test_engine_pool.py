"""The engine pool gives up engines that can't run, and those that die again and again."""

from __future__ import annotations

import pytest

from conformance import engine_pool
from conformance.engine_pool import EnginePool
from conformance.events.types import EngineReady, EngineUnavailable
from delta_adapters.host_errors import HostDied
from delta_adapters.registry import parse_engine
from delta_models.operations import Append, Create
from delta_models.schema import LONG, struct
from delta_models.values import Rows
from tests.command_runs import engine

SCHEMA = struct(("id", LONG))


@pytest.fixture
def events():
    return []


def pool_of(name, folder, events, **options):
    return EnginePool([parse_engine(engine(name))], folder / "hosts", events.append, **options)


def test_an_engine_that_performs_something_before_each_death_is_given_up_at_last(
    tmp_path, events, monkeypatch
):
    monkeypatch.setattr(engine_pool, "MOST_DEATHS", 5)
    name = engine("DiesAtEveryAppend")
    with pool_of("DiesAtEveryAppend", tmp_path, events) as pool:
        for number in range(5):
            host = pool.get(name).host
            host.open(str(tmp_path / f"table{number}"))
            host.execute(Create(SCHEMA))
            with pytest.raises(HostDied):
                host.execute(Append(Rows(SCHEMA, ((1,),))))
        assert pool.get(name) is None
        assert pool.get(name) is None
    ready, given_up = events
    assert isinstance(ready, EngineReady)
    assert isinstance(given_up, EngineUnavailable)
    assert given_up.why == "its host ended 5 times; the last time it died (exit code 9) in execute Append"


def test_an_engine_that_fails_the_smoke_test_can_not_run(tmp_path, events):
    with pool_of("FailsSmoke", tmp_path, events, smoke_test=True) as pool:
        assert pool.get(engine("FailsSmoke")) is None
    assert [type(event) for event in events] == [EngineUnavailable]
    assert events[0].broken


def test_without_the_smoke_test_any_engine_that_starts_can_run(tmp_path, events):
    with pool_of("FailsSmoke", tmp_path, events) as pool:
        assert pool.get(engine("FailsSmoke")) is not None
