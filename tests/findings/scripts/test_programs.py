"""A script does what its history says, decides by its requirement alone, and says 2 where it can't tell."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest

from conformance.findings.scripts import scripts_for
from conformance.findings.scripts.deltalake_calls import DeltalakeCalls
from conformance.findings.scripts.faults import about_crash
from conformance.findings.scripts.literals import NotPrintable
from conformance.histories import History, Step
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.schema import DOUBLE, LONG, DecimalType, struct
from delta_models.table import ModelHistory
from delta_models.values import Decimal, Rows
from tests.findings.samples import finding, history
from tests.findings.scripts.runs import BLOCKED, endings, run, script
from tests.findings.scripts.test_catalogued import spark_variables
from tests.mutants import stories
from tests.mutants.outcomes import TOO_LONG

MONEY = struct(("id", DecimalType(38, 10)))
LONG_DECIMAL = (ops.Create(MONEY), ops.Append(Rows(MONEY, ((Decimal(-(10**38 - 1), 10),),))))
TOLD = (("delta.enableChangeDataFeed", "true"),)
IDS = struct(("id", LONG))
ONE = Compare("=", Column(("id",)), Literal(LONG, 1))


def ids(*values: int) -> Rows:
    return Rows(IDS, tuple((value,) for value in values))


# What deltalake does right, and the code of its script.
RIGHT: dict[str, Any] = {
    "contents.vacuum": (),  # all steps of the sample
    "outcome.misfit-refused": stories.MISFIT,
    "outcome.commits": stories.TWICE,
    "checkpoint.equals-replay": (*stories.TWICE, ops.Delete(stories.SMALL), ops.Checkpoint()),
    "checkpoint.readable": (*stories.TWICE, ops.Checkpoint()),
    "metrics.files": stories.TWICE,
    "metrics.rows-deleted": (*stories.TWICE, ops.Delete(stories.SMALL)),
    "stats.null-count": stories.TWICE,
    "stats.num-records": stories.TWICE,
    "stats.max-values": stories.TWICE,
    "log.remove-names-live-file": stories.OVERWRITE,
    "log.added-file-size": stories.TWICE,
    "write.schema": stories.PLAIN,
    "write.data-files-readable": (*stories.OVERWRITE, ops.Vacuum(0.0)),
    "protocol.features-needed": stories.PLAIN,
    "outcome.refused-changes-nothing": stories.MISFIT,
    "contents.restore": (
        *stories.TWICE, ops.Read(), ops.Append(stories.rows((9, "z", 1.0))), ops.Restore(ops.AtState(3)),
    ),
    "crash.next-writer": (ops.Create(IDS), ops.DeadTableAt("commit"), ops.Append(ids(1)), ops.Append(ids(2))),
    "crash.all-or-nothing": (ops.Create(IDS), ops.FailAt("commit"), ops.Append(ids(1))),
    "read.columns": (*stories.PLAIN, ops.Read(columns=("price", "id"))),
    "crash.left-overs-removed": (
        ops.Create(IDS), ops.DeadTableAt("commit"), ops.Append(ids(1)), ops.AdvanceClock(24 * 8), ops.Vacuum(),
    ),
    "crash.left-overs-kept": (
        ops.Create(IDS), ops.DeadTableAt("commit"), ops.Append(ids(1)), ops.Vacuum(),
    ),
    "contents.append": (ops.Create(IDS), ops.Append(ids(1)), ops.AdvanceClock(24 * 8), ops.Append(ids(2))),
    "cdc.equals-difference": (ops.Create(IDS, (), TOLD), ops.Append(ids(1, 2)), ops.Delete(ONE)),
    "changes.rows": (
        ops.Create(IDS, (), TOLD), ops.Append(ids(1, 2)), ops.Delete(ONE),
        ops.ReadChanges(ops.AtState(1), ops.AtState(2)),
    ),
    "history.versions": (ops.Create(IDS), ops.Append(ids(1)), ops.History()),
    "race.no-lost-update": (
        ops.Create(IDS), ops.Append(ids(1)),
        ops.Interleave((ops.Append(ids(2)), ops.Append(ids(3))), (0, 1, 1, 1, 0, 0)),
    ),
}  # fmt: skip
WRONG: dict[str, Any] = {
    "stats.min-values": LONG_DECIMAL,
    "stats.tight-bounds": LONG_DECIMAL,
    "outcome.too-long-refused": TOO_LONG,
}


def test_what_deltalake_does_right_ends_with_zero_and_what_it_does_wrong_with_one(tmp_path):
    texts = {name: script(finding(name, history=history(*steps))) for name, steps in (RIGHT | WRONG).items()}
    codes, printed = endings(texts, tmp_path)
    assert codes == dict.fromkeys(RIGHT, "0") | dict.fromkeys(WRONG, "1"), printed


def test_wrong_rows_are_told_from_right_ones(tmp_path):
    text = script(finding("contents.append", history=history(*stories.PLAIN)))
    before, expected = text.rsplit("[1, 2, None]", 1)
    done = run(f"{before}[1, 3, None]{expected}", tmp_path)
    assert done.returncode == 1
    assert "DEVIATION: the rows are" in done.stdout


@pytest.mark.parametrize("package", ("pyarrow", "deltalake"))
def test_a_missing_package_ends_with_two_and_the_line_that_installs_it(tmp_path, package):
    text = script(finding("contents.append", engine="delta-rs@1.6.6", history=history(*stories.PLAIN)))
    done = run(text, tmp_path, blocked=(*BLOCKED, package))
    assert done.returncode == 2
    assert f"No module named '{package}'" in done.stdout
    assert "pip install deltalake==1.6.6 pyarrow" in done.stdout


@pytest.mark.parametrize("engine", ("delta-spark", "pyspark"))
def test_without_java_spark_ends_with_two(tmp_path, engine):
    named = finding("contents.append", engine=f"{engine}@1", history=history(*stories.PLAIN))
    done = run(script(named), tmp_path, environment={"JAVA_HOME": "/nope", "PATH": "/nope"})
    assert done.returncode == 2, done.stdout + done.stderr
    assert "can't tell, line" in done.stdout


def test_without_a_compiler_a_lost_reply_ends_with_two(tmp_path):
    steps = history(ops.Create(IDS), ops.LoseReplyAt("commit", errno="EEXIST"), ops.Append(ids(1)))
    done = run(script(finding("crash.once", history=steps)), tmp_path, environment={"PATH": "/nope"})
    assert done.returncode == 2, done.stdout + done.stderr
    assert "'cc'" in done.stdout


def test_an_earlier_step_that_fails_decides_nothing(tmp_path):
    text = script(finding("contents.append", history=history(*stories.TWICE)))
    done = run(text.replace('mode="append"', 'mode="nonsense"', 1), tmp_path)
    assert done.returncode == 2
    assert "nonsense" in done.stdout


def test_an_earlier_step_that_is_done_although_it_must_be_refused_decides_nothing(tmp_path):
    steps = (*TOO_LONG, ops.Append(TOO_LONG[1].rows))
    done = run(script(finding("outcome.allowed", history=history(*steps))), tmp_path)
    assert done.returncode in {1, 2}
    strict = script(finding("contents.append", history=history(*stories.MISFIT, stories.FILL)))
    assert "this step should have been refused" in strict


def test_a_requirement_that_only_a_person_can_judge_shows_the_commit_and_ends_with_two(tmp_path):
    done = run(script(finding("rows.ids-stay", history=history(*stories.OVERWRITE))), tmp_path)
    assert done.returncode == 2
    assert '{"add":' in done.stdout
    assert "can't tell: the newest commit is above; a person must judge it" in done.stdout
    assert "it is about the ids and versions of rows" in done.stdout


def test_a_read_with_a_wrong_answer_is_repeated(tmp_path):
    look = ops.Read(where=stories.SMALL, columns=("id",))
    done = run(script(finding("read.filter", history=history(*stories.TWICE), look=look)), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no deviation: the rows are" in done.stdout


def test_an_engine_that_ends_its_process_is_watched_from_another(tmp_path):
    text = script(finding("host.lives", history=history(*stories.PLAIN)))
    assert run(text, tmp_path).returncode == 0
    dies = text.replace("# 1. ", "import signal; os.kill(os.getpid(), signal.SIGABRT)  # ", 1)
    done = run(dies.replace("    import signal", "    import signal", 1), tmp_path)
    assert done.returncode == 1
    assert "ended by signal 6" in done.stdout


def test_an_engine_without_known_calls_has_a_script_that_says_so(tmp_path):
    (item,) = scripts_for(finding(engine="polars@2.1.0")).items()
    assert item[0] == "script_polars.py"
    done = run(item[1], tmp_path)
    assert done.returncode == 2
    assert "the calls of polars are not known to the harness" in done.stdout
    assert "conformance replay" in done.stdout


def test_a_call_that_the_engine_does_not_have_is_named(tmp_path):
    by_position = ops.Append(Rows(stories.SCHEMA, stories.THREE), by_name=False)
    done = run(script(finding(history=history(stories.CREATE, by_position))), tmp_path)
    assert done.returncode == 2
    assert "deltalake writes by name only" in done.stdout


def test_the_minimal_history_is_told_if_there_is_one():
    small = history(ops.Create(IDS), ops.Append(ids(7)))
    text = script(finding(minimal=small, minimal_step=1, minimal_detail="small", state="new"))
    assert '{"id": [7]}' in text
    assert "Seen: small" in text
    assert "# 2." not in text


def test_a_race_in_which_a_vacuum_looks_on_says_why_there_is_no_script():
    race = ops.Interleave((ops.Vacuum(), ops.Append(ids(2))), (0, 1, 1, 1, 0))
    steps = History("races", "dev", 0, 0, (Step(ops.Create(IDS)), Step(race)))
    assert "a vacuum or a reader beside a writer" in script(
        finding("race.vacuum-spares-new-files", history=steps)
    )


def test_the_order_of_a_race_is_that_of_its_timeline():
    race = ops.Interleave((ops.Append(ids(2)), ops.Append(ids(3))), (0, 0, 0, 0))
    timeline = ("A  append snapshot", "B  append snapshot", "B  append publish", "A  append publish")
    steps = history(ops.Create(IDS), race)
    text = script(finding("race.no-lost-update", history=steps, timeline=timeline))
    assert text.index('write_deltalake(first, pa.table({"id": [3]}') < text.index("write_deltalake(second,")


@pytest.mark.parametrize("engine", ("delta-rs", "delta-spark", "pyspark"))
def test_every_operation_of_the_sample_has_code_in_every_engine(engine):
    text = script(finding("contents.vacuum", engine=f"{engine}@1"))
    ast.parse(text)
    assert "No script can show this alone" not in text


@pytest.mark.parametrize("requirement", sorted(RIGHT | WRONG))
@pytest.mark.parametrize("look", (ops.Read(), ops.Reopen()))
@pytest.mark.parametrize("outcome", ("", "Committed", "Unknown"))
def test_no_script_asks_for_an_error_that_it_did_not_catch(requirement, look, outcome):
    found = finding(requirement, history=history(*((RIGHT | WRONG)[requirement] or stories.PLAIN), look))
    tree = ast.parse(script(replace(found, key=replace(found.key, outcome=outcome))))
    names = {(node.id, type(node.ctx)) for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for name in ("refused", "answer", "found", "wrong", "commits"):
        assert (name, ast.Load) not in names or (name, ast.Store) in names, name


def test_a_legal_refusal_of_the_last_step_is_no_deviation(tmp_path):
    steps = history(*stories.TWICE, ops.Optimize(), ops.Restore(ops.AtState(len(stories.TWICE))))
    text = script(finding("contents.restore", history=steps))
    assert "may be refused, and is" in text
    assert run(text, tmp_path).returncode == 0


def test_details_cannot_break_out_of_the_text_of_a_script():
    parsed = ast.parse(script(finding(detail='"""\nimport os; os.abort()\n"""\\')))
    assert not [node for node in ast.walk(parsed) if isinstance(node, ast.Attribute) and node.attr == "abort"]


def test_values_at_their_limits_are_written_as_they_are():
    schema = struct(("x", DOUBLE), ("n", LONG))
    rows = Rows(schema, ((float("inf"), 2**63 - 1), (float("-inf"), -(2**63)), (float("nan"), None)))
    text = script(finding(history=history(ops.Create(schema), ops.Append(rows))))
    assert 'float("inf"), float("-inf"), float("nan")' in text
    assert "9223372036854775807, -9223372036854775808, None" in text


def test_predicates_are_written_in_the_engines_own_dialect():
    steps = history(*stories.PLAIN, ops.Delete(ONE))
    assert """.delete('("id" = 1)')""" in script(finding(history=steps))
    assert ".delete(\"(`id` = CAST('1' AS BIGINT))\")" in script(
        finding(history=steps, engine="delta-spark@4.4.0")
    )


def test_a_session_that_moves_is_moved_where_there_is_one():
    steps = history(*stories.PLAIN, ops.SetZone("Asia/Kathmandu"), stories.FILL)
    moved = "spark.conf.set(\"spark.sql.session.timeZone\", 'Asia/Kathmandu')"
    assert moved in script(finding(history=steps, engine="delta-spark@4.4.0"))
    assert "Kathmandu" not in script(finding(history=steps)).replace("# ", "")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ("delta-spark@4.4.0", "pyspark@0.1.0"))
def test_scripts_for_spark_show_no_deviation_for_rows_statistics_and_refusals(tmp_path, engine):
    histories: dict[str, Any] = {
        "contents.merge": (*finding().history.steps[:2], finding().history.steps[5]), "stats.min-values": LONG_DECIMAL,
        "outcome.misfit-refused": stories.MISFIT, "read.filter": (*stories.TWICE, ops.Read(where=stories.SMALL)),
        "crash.next-writer": RIGHT["crash.next-writer"],
    }  # fmt: skip
    texts = {}
    for requirement, steps in histories.items():
        operations = [step.operation if isinstance(step, Step) else step for step in steps]
        texts[requirement] = script(finding(requirement, history=history(*operations), engine=engine))
    codes, printed = endings(texts, tmp_path, spark_variables(tmp_path))
    assert codes == dict.fromkeys(texts, "0"), printed


def test_a_cut_change_of_the_schema_has_no_program_that_compares_rows():
    narrow, wide = struct(("id", LONG)), struct(("id", LONG), ("more", LONG))
    before = ModelHistory().after(ops.Create(narrow)).after(ops.Append(Rows(narrow, ((1,),))))
    after = before.after(ops.Append(Rows(wide, ((2, 3),)), schema_mode="merge"))
    with pytest.raises(NotPrintable, match="rows of two schemas"):
        about_crash("crash.all-or-nothing", before, after, DeltalakeCalls())


def test_a_fault_before_the_last_operation_has_no_program_that_compares_rows():
    steps = (
        ops.Create(IDS), ops.DeadTableAt("commit", "after"), ops.Append(ids(1)), ops.Append(ids(2)),
        ops.Restore(ops.AtState(3)), ops.Reopen(),
    )  # fmt: skip
    text = script(finding("crash.all-or-nothing", history=history(*steps)))
    assert "crash.all-or-nothing of an operation before the last" in text
