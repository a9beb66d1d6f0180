"""An engine's name and version are read from one text and written as one."""

from __future__ import annotations

import pytest

from delta_adapters.engine_id import EngineId


@pytest.mark.parametrize(
    ("text", "engine"),
    (
        ("delta-rs@1.6.6", EngineId("delta-rs", "1.6.6")),
        ("delta-rs", EngineId("delta-rs")),
        ("mine.adapter:Engine", EngineId("mine.adapter:Engine")),
        ("local@1@2", EngineId("local", "1@2")),
    ),
)
def test_an_engine_is_written_as_it_is_read(text, engine):
    assert EngineId.parse(text) == engine
    assert str(engine) == text


def test_an_empty_version_is_none():
    assert EngineId.parse("delta-rs@") == EngineId("delta-rs")
