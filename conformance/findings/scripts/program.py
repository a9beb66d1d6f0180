"""Put a script together: its head, a block for each step, and the end that decides."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping

from conformance.findings.scripts import faults
from conformance.findings.scripts.calls import Calls
from conformance.findings.scripts.case import Case, following, package_of
from conformance.findings.scripts.deltalake_calls import DeltalakeCalls
from conformance.findings.scripts.literals import NotPrintable
from conformance.findings.scripts.pyspark_delta_calls import PysparkDeltaCalls
from conformance.findings.scripts.spark_calls import SparkCalls
from conformance.findings.scripts.story import Story, in_another_process, tail
from delta_adapters.engine_id import EngineId
from delta_models import operations as ops
from delta_models.requirements import BY_ID
from delta_models.schema import Struct
from delta_models.table import ModelHistory

APIS: dict[str, type[Calls]] = {api.engine: api for api in (DeltalakeCalls, SparkCalls, PysparkDeltaCalls)}
STANDARD = ("json", "os", "re", "shutil", "subprocess", "sys", "tempfile", "time")
FROM_STANDARD = (
    ("collections", ("Counter",)),
    ("datetime", ("date", "datetime", "timezone")),
    ("decimal", ("Decimal",)),
    ("pathlib", ("Path",)),
    ("urllib.parse", ("unquote",)),
)
HEAD = """
def end(code, text):
    print(text, flush=True)
    os._exit(code)  # at once: the engine may crash while Python ends
""".strip()
# Python would end with 1 after an error, and 1 means here that the deviation shows.
HOOK = """
sys.excepthook = lambda kind, error, tb: end(2, f"can't tell, line {tb.tb_lineno}: {kind.__name__} {error}\\n{__doc__}")
""".strip()


def program(case: Case, file_name: str) -> str:
    """The text of a case's script. Raises NotPrintable if it has no words for a step or for the requirement."""
    classes = {engine.name: _api_of(engine) for engine in _engines(case)}
    shares = len(classes) > 1
    calls = {name: api(has_vectors=_has_vectors(case), shares=shares) for name, api in classes.items()}
    return _assembled(case, calls, _body(case, calls), file_name)


def unprintable(case: Case, why: str) -> str:
    """A script that says why there is none, and ends with 2."""
    said = f"No script can show this alone: {why}."
    again = f"With the harness: conformance replay {case.fingerprint}"
    return "\n".join(
        [
            f'"""{_title(case)}"""',
            "",
            "import sys",
            "",
            f"print({said!r})",
            f"print({again!r})",
            "sys.exit(2)",
            "",
        ]
    )


def _engines(case: Case) -> list[EngineId]:
    """The engines that perform a step, and the one that is charged."""
    return [
        *(case.engine_of(step) for step in case.steps if not isinstance(step.operation, ops.SwitchActor)),
        case.engine,
    ]


def _api_of(engine: EngineId) -> type[Calls]:
    if engine.name not in APIS:
        message = f"the calls of {engine.name} are not known to the harness"
        raise NotPrintable(message)
    return APIS[engine.name]


def _has_vectors(case: Case) -> bool:
    return any(
        "deletionVectors" in str(getattr(step.operation, "properties", ""))
        or "DeletionVectors" in str(getattr(step.operation, "properties", ""))
        or getattr(step.operation, "feature", "") == "deletionVectors"
        for step in case.steps
    )


def _body(case: Case, apis: Mapping[str, Calls]) -> list[str]:
    """The lines of the steps and of the end."""
    if case.requirement == "host.lives":
        return in_another_process(case, apis[case.engine.name])
    story = Story(case, apis)
    for number, step in enumerate(case.steps):
        story.tell(number, step, is_last=number == len(case.steps) - 1)
    ending = story.ending()
    definitions = [line for calls in apis.values() for line in calls.new_definitions()]
    lines = [*definitions, *story.in_a_child, *([""] if definitions or story.in_a_child else [])]
    for number, block in story.blocks:
        lines += block
        for calls in apis.values():
            if number in calls.versions_needed:
                lines.append(f"version_{number} = {calls.version()}")
            if number in calls.times_needed:
                lines += [f"time_{number} = datetime.now(timezone.utc)", "time.sleep(0.02)"]
    return [*lines, *tail(ending)]


def _assembled(case: Case, apis: Mapping[str, Calls], body: list[str], file_name: str) -> str:
    versions = {engine.name: engine.version for engine in (*case.engines.values(), case.engine)}
    packages = tuple(
        dict.fromkeys(
            name for calls in apis.values() for name in calls.requirements(versions.get(calls.engine))
        )
    )
    setup = max(
        (calls.setup() for calls in apis.values()), key=len
    )  # delta-spark's session serves both on Spark
    rows = apis[case.engine.name].rows_of(_schema_of(case)) if re.search(r"\brows\(", "\n".join(body)) else ""
    helpers = rows.strip().splitlines()
    if any(line.startswith("age(") for line in body):
        helpers += [*(("", "") if helpers else ()), *faults.AGE[:-2]]
    text = "\n".join([*helpers, *body, *setup])
    if "pq." in text and "pyarrow" not in packages:
        packages = (*packages, "pyarrow")
    lines = [
        "# /// script",
        f"# dependencies = {json.dumps(packages)}",
        "# ///",
        f'"""{_title(case)}',
        "",
        f"To run it: uv run {file_name}, or: pip install {' '.join(packages)}; python {file_name}",
        "It ends with 1 if the deviation shows, with 0 if not, with 2 if it can't tell.",
        '"""',
        "",
        *_standard_imports(text + " tempfile. os. sys."),
        "",
        *HEAD.splitlines(),
        *(("", *helpers) if helpers else ()),
        "",
        *HOOK.splitlines(),
        "",
        *_imports("\n".join([*helpers, *body, *setup]), apis),
        "",
        *setup,
        'path = os.path.join(tempfile.mkdtemp(), "table")',
        *body,
    ]
    return "\n".join(lines) + "\n"


def _schema_of(case: Case) -> Struct:
    model = ModelHistory()
    for step in case.steps:
        model = following(model, step.operation)
    return model.table.schema


def _standard_imports(text: str) -> list[str]:
    lines = [f"import {name}" for name in STANDARD if re.search(rf"\b{name}\.", text)]
    return lines + _from(FROM_STANDARD, text)


def _imports(text: str, apis: Mapping[str, Calls]) -> list[str]:
    """The imports of packages that a text needs."""
    lines = ["import pyarrow as pa"] if re.search(r"\bpa\.", text) else []
    if re.search(r"\bpq\.", text):
        lines.append("import pyarrow.parquet as pq")
    for calls in apis.values():
        aliased = isinstance(calls, SparkCalls) and calls.shares
        modules = [
            (module, tuple(name for name in names if not (aliased and name == "DeltaTable")))
            for module, names in calls.imports
        ]
        lines += _from(modules, text)
    return sorted(dict.fromkeys(lines), key=_by_module)


def _by_module(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line


def _from(modules: Iterable[tuple[str, tuple[str, ...]]], text: str) -> list[str]:
    lines = []
    for module, names in modules:
        used = [name for name in names if re.search(rf"(?<![\w.]){name.split()[-1]}\b", text)]
        if used:
            lines.append(f"from {module} import {', '.join(used)}")
    return lines


def _title(case: Case) -> str:
    requirement = BY_ID.get(case.requirement)
    sentence = requirement.sentence if requirement is not None else case.requirement
    seen = " ".join((case.summary or case.detail).split())
    detail = "".join(c if c.isascii() and c.isprintable() else ascii(c)[1:-1] for c in seen)
    text = textwrap.fill(f"{package_of(case.engine)} breaks this rule: {sentence}", 110)
    if detail:
        text += "\n" + textwrap.fill(f"Seen: {detail if len(detail) <= 300 else detail[:297] + '...'}", 110)
    return text.replace("\\", "\\\\").replace('"""', "'''").rstrip('"')
