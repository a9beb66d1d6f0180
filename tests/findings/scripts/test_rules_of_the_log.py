"""Scripts decide by the rules of the log: each end shows a damaged log, and leaves honest ones alone."""

from __future__ import annotations

import ast
import json
import os
import re
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.findings.scripts.case import Case, Moment
from conformance.findings.scripts.checks_checkpoints import (
    OF_CHECKPOINTS,
    OF_CHECKSUMS,
    OF_FOLDERS,
    OF_HINTS,
    about_checkpoints,
)
from conformance.findings.scripts.checks_files import about_files
from conformance.findings.scripts.checks_state import NARROWER, OF_COMMITS, about_state, about_what_stays
from conformance.findings.scripts.ending import Ending
from conformance.findings.scripts.story import tail
from conformance.findings.scripts.undecided import UNDECIDED
from delta_adapters.engine_id import EngineId
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.requirements import OF_THE_LOG
from delta_models.schema import LONG, STRING, struct
from delta_models.table import ModelHistory
from delta_models.values import Rows
from tests.damaged_logs.damages import DAMAGES
from tests.findings.samples import finding, history
from tests.findings.scripts.runs import endings, script
from tests.models.log import honest, test_validity
from tests.models.log.conftest import LogTable
from tests.mutants import stories

assert test_validity.DAMAGED  # importing them registers the damages
IDS = struct(("id", LONG))
RULES = (*OF_COMMITS, *OF_CHECKPOINTS, *OF_CHECKSUMS, *OF_HINTS, *OF_FOLDERS)


class Ended(Exception):
    """The script has ended."""


def ended(ending: Ending, folder: Path, last_step: Callable[[], object] = lambda: None) -> tuple[int, str]:
    """The code and the words with which the end of a script ends at a table."""

    def end(code: int, text: str) -> NoReturn:
        raise Ended(code, text)

    names: dict[str, Any] = {
        "json": json, "os": os, "re": re, "Path": Path, "unquote": unquote, "pa": pa, "pq": pq, "Counter": Counter,
        "Decimal": Decimal, "date": date, "datetime": datetime, "path": str(folder), "end": end,
    }  # fmt: skip
    try:
        exec("\n".join(ending.before), names)
        last_step()
        exec("\n".join(tail(ending)), names)
    except Ended as told:
        code, text = told.args
        return code, text
    except Exception as error:  # noqa: BLE001 - whatever it is
        return 2, repr(error)  # as the hook of a script does
    raise AssertionError("it did not end")


@pytest.fixture(scope="module")
def honest_tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tables that break no rule."""
    root, tables = tmp_path_factory.mktemp("honest"), {}
    for write in honest.TABLES:
        table = LogTable(root / write.__name__)
        write(table)
        tables[write.__name__] = table.folder
    return tables


@pytest.mark.parametrize("requirement", RULES)
def test_the_end_of_a_script_shows_a_damaged_log_and_leaves_honest_ones_alone(
    tmp_path, honest_tables, requirement
):
    ending = about_state(requirement) or about_checkpoints(requirement)
    assert ending is not None
    damaged = LogTable(tmp_path)
    DAMAGES[requirement](damaged)
    assert ended(ending, damaged.folder)[0] == 1
    codes = {name: ended(ending, folder) for name, folder in honest_tables.items()}
    assert {name: told for name, told in codes.items() if told[0] == 1} == {}
    decided = 2 if requirement in NARROWER else 0
    assert any(code == decided for code, _ in codes.values()), codes


def rewrite_a_commit(table: LogTable) -> None:
    first = table.log / f"{0:020d}.json"
    first.write_bytes(first.read_bytes() + b"\n")


def rewrite_a_checksum(table: LogTable) -> None:
    table.checksum(0, numFiles=7)


def take_a_file_away(table: LogTable) -> None:
    table.write(table.metadata(name="other"), {"remove": {"path": "a.parquet", "dataChange": False}})


def define_anew(table: LogTable) -> None:
    table.write(table.metadata(name="other"))


@pytest.mark.parametrize(
    ("requirement", "step", "code"),
    (
        ("log.commit-never-changes", rewrite_a_commit, 1),
        ("log.commit-never-changes", define_anew, 0),
        ("checksum.never-changes", rewrite_a_checksum, 1),
        ("checksum.never-changes", define_anew, 0),
        ("write.definition-keeps-files", take_a_file_away, 1),
        ("write.definition-keeps-files", define_anew, 0),
    ),
)
def test_what_the_last_step_must_leave_alone_is_compared(tmp_path, requirement, step, code):
    table = LogTable(tmp_path)
    table.create()
    table.write(table.add())
    table.checksum(0, numFiles=0)
    ending = about_what_stays(requirement)
    assert ending is not None
    assert ended(ending, table.folder, lambda: step(table))[0] == code


def file_of(path: str, part: str | None = None) -> dict[str, Any]:
    return {"add": {"path": path, "partitionValues": {} if part is None else {"part": part}, "size": 1,
                    "modificationTime": 1, "dataChange": True}}  # fmt: skip


@pytest.mark.parametrize(("gone", "code"), (("one.parquet", 1), ("two.parquet", 0)))
def test_a_file_without_a_row_that_a_delete_picks_must_stay(tmp_path, gone, code):
    table = LogTable(tmp_path)
    for number, name in enumerate(("one", "two"), 1):
        pq.write_table(pa.table({"id": [number]}), table.folder / f"{name}.parquet")
    table.write({"metaData": {}}, file_of("one.parquet"), file_of("two.parquet"))
    model = ModelHistory()
    for operation in (ops.Create(IDS), ops.Append(Rows(IDS, ((1,), (2,))))):
        model = model.after(operation)
    delete = ops.Delete(Compare("=", Column(("id",)), Literal(LONG, 2)))
    moment = Moment(delete, model, model.after(delete), None)
    ending = about_files(case("write.untouched-files-stay"), moment)
    assert ending is not None
    told = ended(ending, table.folder, lambda: table.write({"remove": {"path": gone, "dataChange": True}}))
    assert told[0] == code


@pytest.mark.parametrize(("told", "code"), (("2", 1), ("1", 0)))
def test_a_partition_column_in_a_file_must_agree_with_the_log(tmp_path, told, code):
    table = LogTable(tmp_path)
    pq.write_table(pa.table({"id": [5], "part": [1]}), table.folder / "one.parquet")
    table.write(file_of("one.parquet", part=told))
    schema = struct(("id", LONG), ("part", LONG))
    model = ModelHistory().after(ops.Create(schema, partition_by=("part",)))
    ending = about_files(
        case("log.partition-value-agrees-with-file"), Moment(ops.Reopen(), model, model, None)
    )
    assert ending is not None
    assert ended(ending, table.folder)[0] == code


OBSERVABLE = [each.id for each in OF_THE_LOG if each.unobservable is None]
BY_COLUMNS = {"log.partition-value-agrees-with-file"}  # decided where the values are texts and whole numbers


def test_the_table_names_the_rules_that_a_script_leaves_to_a_person_and_no_others():
    steps = history(*stories.OVERWRITE)
    left = {
        requirement
        for requirement in OBSERVABLE
        if "a person must judge it" in script(finding(requirement, history=steps))
    }
    assert left - BY_COLUMNS == set(UNDECIDED)


def case(requirement: str) -> Case:
    return Case("", requirement, EngineId.parse("delta-rs@1.6.6"), "", (), "lockstep", {})


@pytest.mark.parametrize("requirement", RULES)
def test_the_script_of_three_steps_for_such_a_rule_has_at_most_sixty_lines(requirement):
    steps = history(ops.Create(IDS), ops.Append(Rows(IDS, ((1,),))), ops.Append(Rows(IDS, ((2,),))))
    for engine in ("delta-rs@1.6.6", "delta-spark@4.4.0", "pyspark@0.1.0"):
        text = script(finding(requirement, engine=engine, history=steps, detail="short"))
        ast.parse(text)
        assert "a person must judge it" not in text
        assert len(text.splitlines()) <= 60, text


TABLE = struct(("id", LONG), ("name", STRING), ("part", STRING))
STEPS = (
    ops.Create(TABLE, partition_by=("part",), properties=(("delta.enableChangeDataFeed", "true"),)),
    ops.Append(Rows(TABLE, ((1, "a", "x"), (2, "b", "y z")))),
    ops.Append(Rows(TABLE, ((3, None, "x"),))),
    ops.Delete(Compare("=", Column(("id",)), Literal(LONG, 1))),
    ops.Optimize(),
    ops.Checkpoint(),
    ops.Append(Rows(TABLE, ((4, "d", "x"),))),
)


@pytest.mark.slow
def test_what_deltalake_writes_breaks_none_of_these_rules(tmp_path):
    steps = history(*STEPS)
    texts = {rule: script(finding(rule, engine="delta-rs@1.6.6", history=steps)) for rule in RULES}
    codes, printed = endings(texts, tmp_path)
    assert codes == {rule: "2" if rule in NARROWER else "0" for rule in RULES}, printed
