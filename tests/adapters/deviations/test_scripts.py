"""The hand-written scripts of causes: each belongs to a cause, needs only its engine, and shows the bug."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from delta_adapters.deviations import all_causes
from tools.confirm_deviations import python_for, run_in_turn

SCRIPTS = sorted((Path(__file__).parents[3] / "tools" / "deviations").glob("*.py"))
ON_SPARK = [script for script in SCRIPTS if script.stem.startswith("delta_spark")]
# A JVM takes long. Here are those that show more than their history does, played in `delta_spark/test_deviations.py`;
# `python tools/confirm_deviations.py delta-spark` runs all.
ALONE = [
    script for script in ON_SPARK if script.stem.removeprefix("delta_spark_") in {
        "cut_creation_blocks_the_next", "is_cdc_in_data_files", "stream_without_its_first_plan",
    }
]  # fmt: skip
OURS = ("conformance", "delta_models", "delta_adapters", "pyspark_delta", "tests")


def test_every_script_is_named_after_a_cause():
    causes = {cause.id.replace("-", "_") for cause in all_causes()}
    assert SCRIPTS
    assert {script.stem for script in SCRIPTS} <= causes


def test_no_script_needs_the_harness():
    for script in SCRIPTS:
        lines = script.read_text("utf-8").splitlines()
        imports = [line.split()[1] for line in lines if line.lstrip().startswith(("import ", "from "))]
        assert not [module for module in imports if module.partition(".")[0] in OURS], script.name


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", [script for script in SCRIPTS if script not in ON_SPARK], ids=lambda script: script.stem
)
def test_a_script_shows_its_deviation(script: Path, tmp_path):
    cause = next(cause for cause in all_causes() if cause.id.replace("-", "_") == script.stem)
    done = subprocess.run(
        [python_for(cause), "-P", str(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.strip().splitlines()[-1].startswith("DEVIATION: ")


@pytest.mark.slow
def test_scripts_on_delta_spark_show_theirs_one_after_another_on_one_jvm():
    results = run_in_turn([script.read_text("utf-8") for script in ALONE])
    assert [code for code, _ in results] == [1, 1, 1], results
    assert all(last.startswith("DEVIATION: ") for _, last in results)
