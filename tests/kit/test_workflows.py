"""actionlint accepts the workflows and action.yml, each action is pinned, and the documents show what works."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.cli.new_adapter import make_package
from conformance.planning.profile import load_profile
from tests.kit.runner import EXPRESSION, ROOT, load

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGE = ROOT / "docs" / "the-gate-in-ten-lines.md"
KIT = "delta-conformance/delta-conformance"
TEMPLATE = "adapter_template/conformance.yml.txt"
PIN = re.compile(
    r"uses: (?P<action>[\w.-]+/[\w./-]+)@(?P<commit>\S+)(?: # (?P<version>v\d+\.\d+\.\d+))?$", re.MULTILINE
)


def examples() -> list[str]:
    """The workflows that the page shows; a part of one begins with the steps of it."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return [block for block in blocks if block.startswith("on:")]


def actionlint(*arguments: str, text: str | None = None) -> str:
    """What actionlint finds wrong; nothing if all is well."""
    done = subprocess.run(
        [str(ROOT / "tools" / "actionlint"), *arguments],
        cwd=ROOT, input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 127:
        pytest.skip(f"actionlint: {done.stderr.strip()}")
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


def by_version(text: str) -> str:
    """Workflows with versions in the place of commits, since actionlint knows the inputs of actions by version."""
    return PIN.sub(lambda found: f"uses: {found['action']}@{(found['version'] or 'v0').split('.')[0]}", text)


def as_workflow(action: dict[str, Any]) -> str:
    """A workflow with the steps of a composite action, which actionlint alone does not look at."""
    inputs = {
        name: {"type": "string", "default": form.get("default", "")}
        for name, form in action["inputs"].items()
    }
    outputs = {name: {"value": f"${{{{ jobs.all.outputs.{name} }}}}"} for name in action["outputs"]}
    used = {name: form["value"] for name, form in action["outputs"].items()}
    job = {"runs-on": "ubuntu-latest", "outputs": used, "steps": action["runs"]["steps"]}
    return yaml.safe_dump(
        {"on": {"workflow_call": {"inputs": inputs, "outputs": outputs}}, "jobs": {"all": job}}
    )


class TestActionlint:
    def test_it_accepts_every_workflow(self):
        assert actionlint() == ""

    @pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
    def test_it_accepts_what_the_workflows_give_to_actions(self, path):
        config = str(ROOT / ".github" / "actionlint.yaml")
        name = str(path.relative_to(ROOT))
        assert (
            actionlint(
                "-config-file", config, "-stdin-filename", name, "-", text=by_version(path.read_text())
            )
            == ""
        )

    def test_it_accepts_the_steps_of_the_action(self):
        action = yaml.safe_load(by_version((ROOT / "action.yml").read_text()))
        assert actionlint("-", text=as_workflow(action)) == ""

    def test_it_would_find_a_wrong_input_and_a_wrong_step_in_the_action(self):
        text = by_version((ROOT / "action.yml").read_text())
        for right, wrong in (
            ("java-version: ${{ inputs.java-version }}", "jawa-version: ${{ inputs.java-version }}"),
            ("${{ inputs.engine }}", "${{ inputs.motor }}"),
            ("steps.needs.outputs.extras != ''", "steps.need.outputs.extras != ''"),
        ):
            assert right in text
            assert actionlint("-", text=as_workflow(yaml.safe_load(text.replace(right, wrong)))) != ""

    def test_it_accepts_every_example_of_the_page(self):
        for example in examples():
            assert actionlint("-", text=example) == ""

    def test_it_accepts_what_new_adapter_writes(self, tmp_path):
        made = make_package("my-engine", tmp_path)
        assert actionlint("-", text=(made / ".github/workflows/conformance.yml").read_text()) == ""


def pinned_files() -> list[Path]:
    return [*WORKFLOWS, ROOT / "action.yml", PAGE, ROOT / "conformance" / "cli" / TEMPLATE]


@pytest.mark.parametrize("path", pinned_files(), ids=lambda path: path.name)
def test_each_action_is_pinned_to_a_commit_and_says_its_version(path):
    uses = [line for line in path.read_text("utf-8").splitlines() if re.search(r"^\s*(- )?uses:", line)]
    others = [line for line in uses if not re.search(rf"uses: (\./\S*|{KIT}(/\S+)?@main)$", line)]
    assert others, "a file without any pin proves nothing here"
    for line in others:
        found = PIN.search(line)
        assert found, line
        assert re.fullmatch("[0-9a-f]{40}", found["commit"]), line
        assert found["version"], line


def test_one_action_has_one_commit_everywhere():
    commits: dict[str, set[str]] = {}
    for path in pinned_files():
        for found in PIN.finditer(path.read_text("utf-8")):
            if not KIT.startswith(found["action"].partition("/")[0]):
                commits.setdefault(found["action"], set()).add(f"{found['commit']} {found['version']}")
    assert {action: len(pins) for action, pins in commits.items()} == dict.fromkeys(commits, 1)
    assert "actions/checkout" in commits


@pytest.mark.parametrize("path", (*WORKFLOWS, ROOT / "action.yml"), ids=lambda path: path.name)
def test_no_expression_stands_inside_a_command(path):
    text = path.read_text("utf-8")
    form = load(str(path.relative_to(ROOT)))
    jobs = form["jobs"].values() if "jobs" in form else [form["runs"]]
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert commands, text
    assert [command for command in commands if EXPRESSION.search(command)] == []


class TestOwnCi:
    def test_it_runs_on_every_python_that_the_package_supports(self):
        matrix = load(".github/workflows/ci.yml")["jobs"]["all"]["strategy"]
        assert matrix["matrix"]["python"] == ["3.11", "3.12", "3.13"]
        assert matrix["fail-fast"] is False

    def test_each_job_takes_the_python_of_its_name(self):
        job = load(".github/workflows/ci.yml")["jobs"]["all"]
        assert job["env"]["CONFORMANCE_PYTHON"] == "${{ matrix.python }}"
        versions = [
            step["with"]["python-version"] for step in job["steps"] if "setup-python" in step.get("uses", "")
        ]
        assert versions == ["${{ matrix.python }}"]


class TestGate:
    def test_its_parts_are_those_of_the_profile(self):
        inputs = load(".github/workflows/gate.yml")[True]["workflow_call"]["inputs"]
        assert json.loads(inputs["parts"]["default"]) == [part.name for part in load_profile("gate").parts]

    def test_it_gives_the_action_inputs_that_exist(self):
        workflow = load(".github/workflows/gate.yml")
        (step,) = [
            step for step in workflow["jobs"]["part"]["steps"] if step.get("uses", "").startswith("./")
        ]
        assert set(step["with"]) <= set(load("action.yml")["inputs"])
        inputs = workflow[True]["workflow_call"]["inputs"]
        named = set(re.findall(r"inputs\.([\w-]+)", (ROOT / ".github/workflows/gate.yml").read_text()))
        assert named == set(inputs)

    def test_its_verdict_fails_if_a_part_did(self):
        last = load(".github/workflows/gate.yml")["jobs"]["verdict"]["steps"][-1]
        for result, code in (("success", 0), ("failure", 1), ("cancelled", 1), ("skipped", 1)):
            done = subprocess.run(["bash", "-ec", last["run"]], env={"PARTS": result}, check=False)
            assert done.returncode == code

    def test_its_build_runs_what_the_caller_wrote_and_fails_where_that_fails(self, tmp_path):
        steps = load(".github/workflows/gate.yml")["jobs"]["part"]["steps"]
        (step,) = [step for step in steps if step.get("name") == "Build the engine"]
        for build, code in (("echo a > made\ntest -f made", 0), ("false\ntrue", 1), ("false | true", 1)):
            done = subprocess.run(
                ["bash", "-ec", step["run"]],
                env={"BUILD": build, "PATH": "/usr/bin:/bin"},
                cwd=tmp_path,
                check=False,
            )
            assert done.returncode == code, build


class TestPage:
    def test_the_gate_has_ten_lines(self):
        assert len(examples()[0].strip().splitlines()) == 10

    def test_its_examples_use_inputs_that_exist(self):
        action, gate = (
            load("action.yml")["inputs"],
            load(".github/workflows/gate.yml")[True]["workflow_call"]["inputs"],
        )
        for example in examples():
            for job in yaml.safe_load(example)["jobs"].values():
                for step in (job, *job.get("steps", ())):
                    if str(step.get("uses", "")).startswith(KIT):
                        known = gate if "/.github/" in step["uses"] else action
                        assert set(step["with"]) <= set(known)

    def test_it_names_every_input_and_output(self):
        text = PAGE.read_text("utf-8")
        form = load("action.yml")
        missing = [name for name in (*form["inputs"], *form["outputs"]) if f"`{name}`" not in text]
        assert missing == []

    def test_its_matrix_has_every_part(self):
        parts = [part.name for part in load_profile("gate").parts]
        assert f"part: [{', '.join(parts)}]" in PAGE.read_text("utf-8")
