"""Stand-alone scripts need nothing but their engine, and say whether the deviation shows."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.findings import Finding
from conformance.findings.scripts import PRINTERS, script, scripts_for
from delta_adapters.delta_spark import jars
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.schema import DOUBLE, LONG, DecimalType, struct
from delta_models.values import Decimal, Rows
from tests.findings.samples import OPERATIONS, finding, history
from tests.mutants import stories
from tests.mutants.outcomes import TOO_LONG

MONEY = struct(
    ("id", DecimalType(38, 10)),
)
LONG_DECIMAL = (ops.Create(MONEY), ops.Append(Rows(MONEY, ((Decimal(-(10**38 - 1), 10),),))))
DELTA_RS, DELTA_SPARK = PRINTERS
# Spark settings for a machine of two cores; the script itself stays as a user would run it (docs/decisions/0013).
SPARK_DEFAULTS = """
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.sql.adaptive.enabled false
spark.driver.extraJavaOptions -XX:+UseSerialGC -Xms1g -Xmn500m -XX:MetaspaceSize=300m
"""
BRIEF = (*OPERATIONS[:2], OPERATIONS[5])  # each step of a cold JVM takes seconds, on a busy machine many


def run(text: str, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script where nothing of the project can be imported."""
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    blocked = folder / "blocked"
    for name in ("conformance", "delta_models", "delta_adapters"):
        (blocked / name).mkdir(parents=True, exist_ok=True)
        (blocked / name / "__init__.py").write_text("raise ImportError('stand-alone means alone')")
    variables = {**os.environ, "PYTHONPATH": str(blocked), "TMPDIR": str(folder), **environment}
    return subprocess.run(
        [sys.executable, str(path), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=variables,
        timeout=280,
    )


def test_a_history_on_delta_rs_reproduces_the_rows_that_the_model_expects(tmp_path):
    done = run(script(finding("contents.vacuum"), DELTA_RS), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "as it should be: 4 rows read, 4 expected" in done.stdout
    assert "5. Merge 2 rows" in done.stdout


def test_a_deviation_that_shows_ends_with_one(tmp_path):
    done = run(script(finding("stats.min-values", history=history(*LONG_DECIMAL)), DELTA_RS), tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "DEVIATION: 1 statistics break stats.min-values" in done.stdout


def test_wrong_rows_are_distinguished(tmp_path):
    text = script(finding("contents.append", history=history(*stories.PLAIN)), DELTA_RS)
    assert "[1, 2, None]" in text
    twisted = text.rsplit("expected = ", 1)
    done = run(
        "expected = ".join([twisted[0], twisted[1].replace("[1, 2, None]", "[1, 3, None]", 1)]), tmp_path
    )
    assert done.returncode == 1
    assert "missing: ('3'," in done.stdout
    assert "not expected: ('2'," in done.stdout


def test_a_step_that_must_be_refused_is_executed(tmp_path):
    done = run(
        script(finding("outcome.misfit-refused", history=history(*stories.MISFIT)), DELTA_RS), tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the last step was refused, allowed: refused" in done.stdout


def test_an_allowed_outcome_that_still_breaks_the_rule_shows_the_deviation(tmp_path):
    done = run(script(finding("outcome.too-long-refused", history=history(*TOO_LONG)), DELTA_RS), tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the last step was committed, allowed: refused" in done.stdout


def test_a_read_with_a_wrong_answer_is_repeated(tmp_path):
    wrong_read = finding(
        "read.filter", history=history(*stories.TWICE), look=ops.Read(where=stories.SMALL, columns=("id",))
    )
    done = run(script(wrong_read, DELTA_RS), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 rows read, 2 expected" in done.stdout


def test_a_checkpoint_is_compared_with_the_commits(tmp_path):
    steps = (*stories.TWICE, ops.Delete(stories.SMALL), ops.Checkpoint())
    done = run(script(finding("checkpoint.equals-replay", history=history(*steps)), DELTA_RS), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 files are not the same in checkpoint 3" in done.stdout


def test_counts_of_files_are_compared_with_the_commit(tmp_path):
    text = script(finding("metrics.files", history=history(*stories.TWICE)), DELTA_RS)
    done = run(text, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "as it should be: the counts of files are right" in done.stdout


def test_an_earlier_step_that_fails_decides_nothing(tmp_path):
    text = script(finding("contents.append", history=history(*stories.TWICE)), DELTA_RS)
    done = run(text.replace('mode="append"', 'mode="nonsense"', 1), tmp_path)
    assert done.returncode == 3
    assert "step 1 should have been done" in done.stdout


def test_a_session_that_moves_is_moved_where_there_is_one():
    moves = finding(
        "contents.append", history=history(*stories.PLAIN, ops.SetZone("Asia/Kathmandu"), stories.FILL)
    )
    rust, spark = (script(moves, printer) for printer in PRINTERS)
    assert "spark.conf.set(\"spark.sql.session.timeZone\", 'Asia/Kathmandu')" in spark
    assert "pass  # its sessions have no zone" in rust


def test_a_rule_that_only_a_person_can_judge_shows_the_commit(tmp_path):
    done = run(
        script(finding("log.remove-names-live-file", history=history(*stories.OVERWRITE)), DELTA_RS), tmp_path
    )
    assert done.returncode == 2
    assert '{"add":' in done.stdout.replace('"add": ', '"add":')


@pytest.mark.parametrize("printer", PRINTERS, ids=lambda printer: printer.NAME)
def test_every_operation_of_the_sample_has_code_in_every_engine(printer):
    ast.parse(script(finding(), printer))


def test_an_engine_without_code_for_a_step_has_no_script():
    by_position = ops.Append(Rows(stories.SCHEMA, stories.THREE), by_name=False)
    dynamic = ops.Overwrite(stories.rows((1, "a", 1.0)), dynamic=True)
    assert scripts_for(finding(history=history(stories.CREATE, by_position))) == {}
    assert set(scripts_for(finding(history=history(stories.PARTITIONED, dynamic)))) == {
        "script_delta_spark.py"
    }


def test_details_cannot_break_out_of_the_text_of_a_script():
    nasty: Finding = finding(detail='"""\nimport os; os.abort()\n"""\\')
    parsed = ast.parse(script(nasty, DELTA_RS))
    assert not [node for node in ast.walk(parsed) if isinstance(node, ast.Attribute) and node.attr == "abort"]


# Runs several scripts in one Python, and so in one JVM; a reader of a finding runs only one.
IN_TURN = """
import os, runpy, sys
os._exit = sys.exit
for path in sys.argv[1:]:
    try:
        runpy.run_path(path, run_name="__main__")
        ended = 0
    except SystemExit as end:
        ended = end.code
    print(path, "ended with", ended or 0, flush=True)
"""


@pytest.mark.slow
def test_scripts_for_delta_spark_show_no_deviation_for_rows_statistics_and_refusals(
    tmp_path,
):
    histories: dict[str, Any] = {
        "contents.merge": BRIEF, "stats.min-values": LONG_DECIMAL, "outcome.misfit-refused": stories.MISFIT,
    }  # fmt: skip
    (tmp_path / "spark-defaults.conf").write_text(SPARK_DEFAULTS)
    paths = [tmp_path / f"{requirement}.py" for requirement in histories]
    for path, (requirement, steps) in zip(paths, histories.items(), strict=True):
        path.write_text(script(finding(requirement, history=history(*steps)), DELTA_SPARK), encoding="utf-8")
    variables = {"DELTA_JARS": ",".join(map(str, jars.resolve())), "SPARK_CONF_DIR": str(tmp_path)}
    done = run(IN_TURN, tmp_path, *map(str, paths), **variables)
    endings = [line for line in done.stdout.splitlines() if " ended with " in line]
    assert endings == [f"{path} ended with 0" for path in paths], done.stdout + done.stderr[-3000:]


def test_values_at_their_limits_are_written_as_they_are():
    schema = struct(("x", DOUBLE), ("n", LONG))
    rows = Rows(schema, ((float("inf"), 2**63 - 1), (float("-inf"), -(2**63)), (float("nan"), None)))
    text = script(finding(history=history(ops.Create(schema), ops.Append(rows))), DELTA_RS)
    assert 'float("inf"), float("-inf"), float("nan")' in text
    assert "9223372036854775807, -9223372036854775808, None" in text


def test_predicates_are_written_in_the_engines_own_dialect():
    where = Compare("=", Column(("id",)), Literal(LONG, 1))
    steps = (*stories.PLAIN, ops.Delete(where))
    scripts = scripts_for(finding(history=history(*steps)))
    assert """.delete('("id" = 1)')""" in scripts["script_delta_rs.py"]
    assert '.delete("(`id` = ' in scripts["script_delta_spark.py"]
