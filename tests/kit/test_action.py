"""The steps of action.yml, run by bash with the files and variables of a runner of GitHub."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.kit.runner import ROOT, Job, load, run_action, run_steps
from tests.reporting.samples import FINDING, record, small_run

# Honest where it is only smoke-tested, and then forgets what it says it appended.
FORGETS = """
from pathlib import Path
from delta_adapters.contract import Identity
from delta_adapters.reference import Reference
from delta_adapters.smoke import TABLE
from delta_models.operations import Append
from delta_models.outcomes import Committed

class Forgets(Reference):
    smoke = False

    @property
    def identity(self):
        return Identity("forgets", "1.0", "https://example.org", "https://example.org/issues")

    def open(self, location):
        self.smoke = Path(location).name == TABLE
        super().open(location)

    def execute(self, operation, tag):
        if isinstance(operation, Append) and not self.smoke:
            return Committed()
        return super().execute(operation, tag)
"""
BRIEF = "--suite=lockstep\n--examples=1\n--steps=4\n--seed=7\n--jobs=1"

# Notes what pip is asked for, and is a real Python for anything else.
PYTHON = """#!/bin/sh
case "$*" in "-m pip"*) for word; do printf '%s\\n' "$word"; done >> "$PIP_CALLS"; echo >> "$PIP_CALLS"; exit;; esac
exec {python} "$@"
"""


@pytest.fixture(name="machine")
def a_machine(tmp_path: Path) -> dict[str, str]:
    """The variables of a machine on which `python` installs nothing, and `conformance` is installed."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python").write_text(PYTHON.format(python=sys.executable))
    (programs / "python").chmod(0o755)
    (programs / "conformance").symlink_to(Path(sys.executable).parent / "conformance")
    return {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PIP_CALLS": str(tmp_path / "pip")}


@pytest.fixture(name="folder")
def a_checkout_of_the_caller(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def pip_calls(machine: dict[str, str]) -> list[list[str]]:
    return [call.splitlines() for call in Path(machine["PIP_CALLS"]).read_text().split("\n\n") if call]


def brief(folder: Path, machine: dict[str, str], **inputs: str) -> Job:
    return run_action(
        folder, machine, **{"engine": "reference", "profile": "dev", "arguments": BRIEF} | inputs
    )


class TestVerdict:
    def test_a_violation_fails_the_job_and_keeps_the_reports(self, folder, machine):
        (folder / "engine.py").write_text(FORGETS)
        job = brief(
            folder, machine, engine="engine.py:Forgets", arguments=f"{BRIEF}\n--steps=6\n--max-findings=1"
        )
        assert (job.failed, job.code) == ("run", 1), job.logs["run"]
        outputs = job.outputs["run"]
        assert (outputs["verdict"], outputs["exit"]) == ("violated", "1")
        assert int(outputs["new"]) >= 1
        assert (folder / outputs["report"]).is_file()
        assert "::error title=forgets@1.0 violates " in job.logs["run"]
        assert "## ❌ VIOLATED" in job.summary
        upload = job.called["actions/upload-artifact"]
        assert upload["name"] == "delta-conformance"
        assert upload["path"].split() == [
            "conformance-results", "!conformance-results/latest", "!conformance-results/latest/**",
        ]  # fmt: skip

    def test_an_inconclusive_run_fails_the_job(self, folder, machine):
        job = brief(folder, machine)
        assert (job.failed, job.code) == ("run", 3), job.logs["run"]
        assert job.outputs["run"]["verdict"] == "inconclusive"
        assert job.outputs["run"]["exit"] == "3"
        assert "## ❔ INCONCLUSIVE" in job.summary

    def test_a_run_that_cannot_begin_fails_the_job_with_2_and_says_why(self, folder, machine):
        job = brief(folder, machine, baseline="no-such.json")
        assert (job.failed, job.code) == ("run", 2)
        assert (
            "::error title=nothing was tested::conformance: can't read the baseline no-such.json"
            in job.logs["run"]
        )
        assert job.outputs["run"]["verdict"] == "harness-fault"
        assert "Nothing was tested" in job.summary

    def test_an_engine_that_does_not_exist_fails_before_anything_is_played(self, folder, machine):
        job = brief(folder, machine, engine="detla-rs")
        assert (job.failed, job.code) == ("needs", 2)
        assert "no engine is called 'detla-rs'" in job.logs["needs"]
        assert "actions/upload-artifact" not in job.called

    def test_a_wrong_word_for_inconclusive_is_refused(self, folder, machine):
        job = brief(folder, machine, inconclusive="ignore")
        assert (job.failed, job.code) == ("run", 2)
        assert "neither fail nor pass" in job.logs["run"]


# In the place of `conformance`: notes its arguments, and ends as it is told.
CONFORMANCE = """#!/bin/sh
for word; do printf '%s\\n' "$word"; done >> "$CALLS"
echo >> "$CALLS"
[ "$1" = needs ] && printf 'extras=%s\\njava=%s\\n' "$EXTRAS_NEEDED" "$JAVA_NEEDED" >> "$GITHUB_OUTPUT"
[ "$1" = needs ] || exit "${EXIT:-0}"
"""


@pytest.fixture(name="fake")
def a_fake_harness(machine: dict[str, str], tmp_path: Path) -> dict[str, str]:
    program = Path(machine["PATH"].split(os.pathsep)[0]) / "conformance"
    program.unlink()
    program.write_text(CONFORMANCE)
    program.chmod(0o755)
    return {**machine, "CALLS": str(tmp_path / "calls"), "EXTRAS_NEEDED": "", "JAVA_NEEDED": "false"}


def calls(fake: dict[str, str]) -> list[list[str]]:
    return [call.splitlines() for call in Path(fake["CALLS"]).read_text().split("\n\n") if call]


class TestInputs:
    def test_without_any_the_gate_is_played_on_the_engines_of_the_project(self, folder, fake):
        assert run_action(folder, fake).failed == ""
        assert calls(fake) == [
            ["needs", "--format", "github", "--profile", "gate"],
            ["run", "--format", "github", "--profile", "gate", "--out", "conformance-results"],
        ]

    def test_each_reaches_the_run_as_it_is(self, folder, fake):
        run_action(
            folder, fake, engine="mine=./my host --fast\n\n  delta-rs@dist/a b.whl  \n", profile="gate",
            part="core\nraces", budget="10m", baseline="a b.json", deviations="causes", regressions="kept",
            arguments="--seed\n7\n", out="my results",
        )  # fmt: skip
        assert calls(fake)[1] == [
            "run", "--format", "github", "--engine", "mine=./my host --fast", "--engine", "delta-rs@dist/a b.whl",
            "--profile", "gate", "--part", "core", "--part", "races", "--budget", "10m", "--baseline", "a b.json",
            "--deviations", "causes", "--regressions", "kept", "--out", "my results", "--seed", "7",
        ]  # fmt: skip

    def test_no_input_is_run_as_a_command(self, folder, fake):
        evil = "$(touch planted) `touch planted`; touch planted; * \" '"
        run_action(
            folder, fake, engine=evil, part=evil, baseline=evil, arguments=evil, artifact=evil, install=evil
        )
        assert not (folder / "planted").exists()
        assert calls(fake)[1].count(evil) == 4

    @pytest.mark.parametrize("code", (0, 1, 2, 3, 130))
    def test_the_job_ends_as_the_run_does(self, folder, fake, code):
        job = run_action(folder, {**fake, "EXIT": str(code)})
        assert job.code == code
        assert "actions/upload-artifact" in job.called

    @pytest.mark.parametrize(("code", "end"), ((0, 0), (1, 1), (2, 2), (3, 0), (130, 130)))
    def test_a_user_may_let_an_inconclusive_run_pass_and_no_other(self, folder, fake, code, end):
        assert run_action(folder, {**fake, "EXIT": str(code)}, inconclusive="pass").code == end

    def test_the_parts_name_the_artifact_so_that_jobs_of_a_matrix_do_not_collide(self, folder, fake):
        job = run_action(folder, fake, part="core\nraces")
        assert job.called["actions/upload-artifact"]["name"] == "delta-conformance-core-races"
        assert "actions/upload-artifact" not in run_action(folder, fake, artifact="").called

    def test_an_artifact_gets_a_name_that_github_takes(self, folder, fake):
        name = run_action(folder, fake, artifact='a/b:c"d').called["actions/upload-artifact"]["name"]
        assert name == "a-b-c-d"


class TestSetUp:
    def test_java_and_extras_are_set_up_if_an_engine_needs_them(self, folder, fake):
        job = run_action(folder, {**fake, "EXTRAS_NEEDED": "delta-spark,pyspark", "JAVA_NEEDED": "true"})
        assert job.called["actions/setup-java"] == {"distribution": "temurin", "java-version": "17"}
        assert pip_calls(fake)[-1][-1] == f"{ROOT}[delta-spark,pyspark]"

    def test_and_not_otherwise(self, folder, fake):
        job = run_action(folder, fake)
        assert "actions/setup-java" not in job.called
        assert [call[-1] for call in pip_calls(fake)] == [str(ROOT)]

    def test_what_the_real_command_says_of_an_engine_on_a_jvm_sets_java_up(self, folder, machine):
        job = brief(folder, machine, engine="pyspark", baseline="stop-here.json")
        assert "actions/setup-java" in job.called
        assert pip_calls(machine)[-1][-1] == f"{ROOT}[pyspark]"

    def test_the_package_of_an_adapter_is_installed_after_the_harness(self, folder, fake):
        run_action(folder, fake, install="-e\n.[test]")
        assert [call[3:] for call in pip_calls(fake)][1] == ["--disable-pip-version-check", "-e", ".[test]"]

    def test_the_harness_gets_the_versions_that_it_was_tested_with(self, folder, fake):
        run_action(folder, fake)
        command = pip_calls(fake)[0]
        constraints = Path(command[command.index("--constraint") + 1]).read_text().splitlines()
        lock = (ROOT / "requirements.lock").read_text()
        named = re.findall(r"^([a-z0-9][\w.-]*==\S+)", lock, re.MULTILINE)
        assert [line.split(" ")[0] for line in constraints] == named
        assert all(Requirement(line).specifier for line in constraints)
        assert any(Requirement(line).marker for line in constraints)

    def test_a_python_of_the_job_that_will_do_is_used(self, folder, fake):
        assert "actions/setup-python" not in run_action(folder, fake).called
        chosen = run_action(folder, fake, python_version="3.13")
        assert chosen.called["actions/setup-python"] == {"python-version": "3.13"}

    @pytest.mark.parametrize("trouble", ("old", "absent", "the system's"))
    def test_where_there_is_none_the_action_sets_one_up(self, folder, fake, trouble):
        python = Path(fake["PATH"].split(os.pathsep)[0]) / "python"
        text = {"old": "exit 1", "absent": "exit 127"}.get(trouble)
        if text is None:
            (folder / "lib").mkdir()
            (folder / "lib" / "EXTERNALLY-MANAGED").touch()
            # A Python outside of any environment, whose library says that the system manages it.
            text = (
                f'program=$2; exec {sys.executable} -c "import sys, sysconfig; sys.prefix = sys.base_prefix; '
                f'sysconfig.get_path = lambda name: \'{folder}/lib\'; exec(sys.argv[1])" "$program"'
            )
        pip = PYTHON.split("exec {python}", maxsplit=1)[0]
        python.write_text(f"{pip}{text}\n")
        assert run_action(folder, fake).called["actions/setup-python"] == {"python-version": "3.12"}

    def test_the_cache_can_be_left_out(self, folder, fake):
        kept = run_action(folder, fake).called["actions/cache"]
        assert kept["path"].split() == ["~/.cache/delta-conformance", "~/.cache/pip"]
        assert re.fullmatch(r"delta-conformance-a-os-a-arch-[0-9a-f]{16}-[0-9a-f]{16}", kept["key"])
        assert "actions/cache" not in run_action(folder, fake, cache="false").called

    def test_another_engine_has_a_cache_of_its_own_that_begins_with_what_all_need(self, folder, fake):
        one, other = (
            run_action(folder, fake, engine=engine).called["actions/cache"] for engine in ("a", "b")
        )
        assert one["key"] != other["key"]
        assert one["restore-keys"] == other["restore-keys"]
        assert one["key"].startswith(one["restore-keys"])


class TestReport:
    def test_the_parts_of_a_run_become_one_report(self, folder, machine):
        steps = load(".github/workflows/gate.yml")["jobs"]["verdict"]["steps"]
        (step,) = [step for step in steps if step.get("id") == "report"]
        assert step["run"] == ".delta-conformance/tools/kit report parts reports"
        whole = folder / "whole"
        (whole / "parts").mkdir(parents=True)
        (whole / ".delta-conformance").symlink_to(ROOT)
        record(whole / "parts" / "delta-conformance-core" / "2026-11-20T01-00-00Z", *small_run())
        record(
            whole / "parts" / "delta-conformance-races" / "2026-11-20T01-00-00Z", *small_run(FINDING, seed=2)
        )
        job = run_steps([step], whole, machine, {})
        assert job.failed == "", job.logs
        assert job.outputs["report"]["verdict"] == "violated"
        assert {path.name for path in (whole / "reports").iterdir()} == {
            "report.html", "report.md", "junit.xml", "summary.json",
        }  # fmt: skip
        assert "## ❌ VIOLATED" in job.summary

    def test_without_any_recording_it_fails_and_says_so(self, folder, machine):
        (folder / "parts").mkdir()
        (folder / ".delta-conformance").symlink_to(ROOT)
        job = run_steps(
            [{"run": ".delta-conformance/tools/kit report parts reports", "id": "report"}],
            folder,
            machine,
            {},
        )
        assert job.code == 2
        assert "No part left a recording" in job.logs["report"]
