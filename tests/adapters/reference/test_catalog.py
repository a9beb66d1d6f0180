"""The reference engine's catalogue: the names of tables, and what a drop deletes."""

from __future__ import annotations

import pytest

from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.outcomes import Committed, Rejected
from tests.mutants import stories
from tests.mutants.stories import SCHEMA


@pytest.fixture
def engine(tmp_path) -> Reference:
    made = Reference()
    made.open(str(tmp_path / "table"))
    return made


@pytest.mark.parametrize("by_another_path", (True, False))
def test_a_managed_table_takes_its_files_and_can_be_made_again(engine, tmp_path, by_another_path):
    create = ops.Create(SCHEMA, name="t", managed=True)
    engine.execute(create, "")
    engine.execute(stories.FILL, "")
    if by_another_path:
        (tmp_path / "link").symlink_to(tmp_path / "table")
        engine.open(str(tmp_path / "link"))
    assert engine.execute(ops.Drop(), "") == Committed()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert engine.execute(create, "") == Committed()


def test_an_external_table_stands_and_has_no_name_any_more(engine):
    engine.execute(ops.Create(SCHEMA, name="t"), "")
    engine.execute(stories.FILL, "")
    assert engine.execute(ops.Drop(), "") == Committed()
    assert len(engine.table(engine.current()).rows) == len(stories.THREE)
    assert isinstance(engine.execute(ops.Drop(), ""), Rejected)


def test_a_table_without_a_name_is_not_dropped(engine):
    engine.execute(ops.Create(SCHEMA), "")
    assert isinstance(engine.execute(ops.Drop(), ""), Rejected)
