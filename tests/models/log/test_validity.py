"""Each rule of the log has a table that breaks it and nothing else, beside honest tables that break nothing."""

from __future__ import annotations

import pytest

from delta_models.requirements import OF_THE_LOG
from tests.damaged_logs import (
    damaged_checkpoints,
    damaged_columns,
    damaged_commits,
    damaged_features,
    damaged_files,
    damaged_layout,
    damaged_places,
    damaged_rows,
    damaged_tracking,
    damaged_variants,
)
from tests.damaged_logs.damages import DAMAGES, PROTOCOL, TRACKING, row_id_mark
from tests.models.log import honest

DAMAGED = (
    damaged_checkpoints,
    damaged_columns,
    damaged_commits,
    damaged_features,
    damaged_files,
    damaged_layout,
    damaged_places,
    damaged_rows,
    damaged_tracking,
    damaged_variants,
)  # each registers its damages


@pytest.mark.parametrize("operation", ("OPTIMIZE", "UPDATE", "DELETE"))
def test_rows_that_keep_their_ids_in_another_file_break_nothing(table, operation):
    damaged_rows.write_rearranged_rows(
        table, [0, 1, 2, 3], [1, 1, 1, 1], operation=operation, change=operation != "OPTIMIZE"
    )
    assert table.violations() == []


@pytest.mark.parametrize(("again", "broken"), ((0, []), (4, ["log.row-ids-stay"])))
def test_a_file_from_before_row_tracking_gets_ids_when_it_comes_back_and_keeps_them(table, again, broken):
    table.create(protocol=PROTOCOL | {"writerFeatures": ["deletionVectors", "domainMetadata"]})
    bare = table.add()
    del bare["add"]["baseRowId"], bare["add"]["defaultRowCommitVersion"]
    table.write(bare)
    table.write({"protocol": TRACKING})
    table.write(table.remove(bare))
    first = table.add(baseRowId=0, defaultRowCommitVersion=4)
    table.write(first, row_id_mark(3))
    table.write(table.remove(first))
    version = 4 if again == 0 else 6
    table.write(table.add(baseRowId=again, defaultRowCommitVersion=version), row_id_mark(again + 3))
    assert table.violations() == broken


@pytest.mark.parametrize("write", honest.TABLES, ids=lambda write: write.__name__)
def test_an_honest_table_breaks_nothing(table, write):
    write(table)
    assert table.violations() == []


@pytest.mark.parametrize("requirement", [each.id for each in OF_THE_LOG if each.unobservable is None])
def test_a_damaged_table_breaks_the_rule_and_no_other(table, requirement):
    DAMAGES[requirement](table)
    assert table.violations() == [requirement]


def test_every_damage_belongs_to_a_requirement():
    assert sorted(DAMAGES) == sorted(each.id for each in OF_THE_LOG if each.unobservable is None)
