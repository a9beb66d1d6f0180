"""A small runner of composite actions: it evaluates conditions and inputs, and runs the steps that are commands."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
CONTEXT = re.compile(r"\b(?:inputs\.([\w-]+)|steps\.([\w-]+)\.outputs\.([\w-]+)|(?:runner|matrix)\.(\w+))")


def load(path: str) -> Any:
    """A file of the repository as YAML. The key `on` is read as a truth value, as YAML 1.1 wants it."""
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


@dataclass(slots=True)
class Job:
    """What happened: the outputs of each step, its log, the actions that were called, and whether a step failed."""

    folder: Path
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    called: dict[str, dict[str, str]] = field(default_factory=dict)
    failed: str = ""
    code: int = 0

    @property
    def summary(self) -> str:
        """The summary of the job."""
        path = self.folder / "summary"
        return path.read_text("utf-8") if path.exists() else ""


def run_action(folder: Path, environment: Mapping[str, str], **inputs: str) -> Job:
    """Run action.yml in a folder, with these inputs. Names of inputs may have `_` for `-`."""
    action = load("action.yml")
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    unknown = set(given) - set(action["inputs"])
    assert not unknown, f"action.yml has no input {unknown}"
    values = {name: str(form.get("default", "")) for name, form in action["inputs"].items()} | given
    return run_steps(action["runs"]["steps"], folder, environment, values)


def run_steps(
    steps: list[dict[str, Any]], folder: Path, environment: Mapping[str, str], inputs: Mapping[str, str]
) -> Job:
    """Run the steps of a job as GitHub does: one after the other, after a failure only those that want it."""
    job = Job(folder)
    (folder / "temp").mkdir(exist_ok=True)
    for number, step in enumerate(steps):
        name = step.get("id") or step.get("name") or f"step {number}"
        condition = str(step.get("if", "success()"))
        if job.failed and "always()" not in condition and "!cancelled()" not in condition:
            continue
        if not _truth(EXPRESSION.sub(r"\1", condition), job, inputs):
            continue
        if "uses" in step:
            job.called[step["uses"].split("@")[0]] = {
                key: _text(str(value), job, inputs) for key, value in step.get("with", {}).items()
            }
            continue
        _run(name, step, job, environment, inputs)
    return job


def _run(
    name: str, step: dict[str, Any], job: Job, environment: Mapping[str, str], inputs: Mapping[str, str]
) -> None:
    outputs = job.folder / "outputs"
    outputs.write_text("")
    variables = {key: _text(str(value), job, inputs) for key, value in step.get("env", {}).items()}
    assert "${{" not in step["run"], f"{name}: an expression inside a command is run as a command"
    script = job.folder / "temp" / "script.sh"
    script.write_text(step["run"])
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=job.folder,
        env={
            **os.environ, **environment, **variables, "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_ACTIONS": "true",
            "RUNNER_TEMP": str(job.folder / "temp"), "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(job.folder / "summary"),
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    job.logs[name] = done.stdout + done.stderr
    job.outputs[name] = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    if done.returncode and not job.failed:
        job.failed, job.code = name, done.returncode


def _text(value: str, job: Job, inputs: Mapping[str, str]) -> str:
    return EXPRESSION.sub(lambda found: _value(found[1], job, inputs), value)


def _value(expression: str, job: Job, inputs: Mapping[str, str]) -> str:
    found = CONTEXT.fullmatch(expression)
    assert found is not None, f"the runner of the tests knows no expression {expression!r}"
    name, step, output, other = found.groups()
    if name:
        return inputs[name]
    return job.outputs.get(step, {}).get(output, "") if step else f"a-{other}"


def _truth(condition: str, job: Job, inputs: Mapping[str, str]) -> bool:
    """The value of a condition: comparisons of contexts with texts, joined by `&&`."""
    for part in condition.split("&&"):
        word = part.strip()
        if word in {"always()", "success()", "!cancelled()"}:
            continue
        left, sign, right = re.findall(r"^(\S+) (==|!=) '([^']*)'$", word)[0]
        if (_value(left, job, inputs) == right) != (sign == "=="):
            return False
    return True
