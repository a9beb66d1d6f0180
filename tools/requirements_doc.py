"""Writes `docs/requirements.md` from the catalogue: each rule with its source, its check and its mutant.

python tools/requirements_doc.py           write it
python tools/requirements_doc.py --check   exit 1 if it is not up to date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the mutants are part of the tests

from delta_models.requirements import CATALOGUE, Requirement  # noqa: E402
from tests.mutants.registry import describe_mutants  # noqa: E402

TARGET = ROOT / "docs" / "requirements.md"
HEAD = """# The requirements

Every rule that the harness holds an engine to, generated from `delta_models.requirements` by
`python tools/requirements_doc.py`; a test fails if this file is not up to date. `conformance explain ID` prints one.

The class says how much a violation counts. *must* and *should* come from the protocol, in the section that is named.
*reference* is what delta-spark 4.4.0 does where the protocol is silent. *lenient* leaves engines free, so it is never
violated. A violated *must* has the verdict `violated`. A violated *should* or *reference* has the verdict `differs`. It
fails a run only for engines that declare `compatible_with: delta-spark`. The side is the one that gets the blame.

The last column names the proof that the check of a rule can fail: a mutant, which is an engine with this one fault, a
log with this one damage, or the traces of a step that breaks the rule. Each has an honest twin, on which the check
passes (`tests/mutants`, `tests/damaged_logs`).
"""
TITLES = {
    "outcome": "What an operation reports",
    "contents": "What an operation means",
    "write": "What the log holds afterwards",
    "read": "What an engine reads",
    "metamorphic": "Answers that must agree with each other",
    "log": "Commits and their actions",
    "schema": "Schemas and column mapping",
    "dv": "Deletion vectors",
    "stats": "Statistics",
    "cdc": "Change data",
    "checkpoint": "Checkpoints",
    "checksum": "Version checksums",
    "race": "What several writers leave",
    "crash": "What is left when storage fails",
    "host": "The process of an engine",
    "example": "Worked examples",
    "catalog": "Tables that a catalog manages",
}


def document() -> str:
    """Return the text of the whole file."""
    kinds = sorted({_kind(requirement) for requirement in CATALOGUE}, key=_place)
    observable = sum(requirement.unobservable is None for requirement in CATALOGUE)
    counted = f"\n{len(CATALOGUE)} rules, {observable} of them observable.\n"
    return HEAD + counted + "".join("\n" + "\n".join(_section(kind)) + "\n" for kind in kinds)


def _section(kind: str) -> Iterator[str]:
    yield f"## {TITLES.get(kind, kind)}"
    yield ""
    yield "| id | rule | source | class | side | check | tripped by |"
    yield "|---|---|---|---|---|---|---|"
    for requirement in CATALOGUE:
        if _kind(requirement) == kind:
            cells = (
                f"`{requirement.id}`", requirement.sentence, requirement.section,
                requirement.strength, requirement.role, ", ".join(requirement.checks),
                _proof(requirement),
            )  # fmt: skip
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _proof(requirement: Requirement) -> str:
    if requirement.unobservable is not None:
        return f"observable: no, because {requirement.unobservable}"
    if requirement.strength == "lenient":
        return "nothing: it is free"
    if requirement.checks == ("worked",):
        return "Another state than the one written down (`tests/suites`)."
    return "<br>".join(describe_mutants(requirement.id))


def _kind(requirement: Requirement) -> str:
    return requirement.id.partition(".")[0]


def _place(kind: str) -> tuple[int, str]:
    known = list(TITLES)
    return (known.index(kind) if kind in known else len(known), kind)


def main() -> int:
    """Write the file, or check it. Return the exit code."""
    text = document()
    if "--check" in sys.argv[1:]:
        current = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
        if current != text:
            print(f"{TARGET} is not up to date: python tools/requirements_doc.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(text, encoding="utf-8")
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
