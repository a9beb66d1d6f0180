"""Writes `docs/requirements.md` from the catalogue: each rule, its source, the check that judges it, its liar.

python tools/requirements_doc.py           write it
python tools/requirements_doc.py --check   say whether it is up to date: exit 1 if not
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the liars, which live in the tests

from delta_models.requirements import CATALOGUE, Requirement  # noqa: E402
from tests.mutants.registry import describe_mutants  # noqa: E402

TARGET = ROOT / "docs" / "requirements.md"
HEAD = """# The requirements

Every rule that the harness holds an engine to, generated from `delta_models.requirements` by
`python tools/requirements_doc.py`; a test fails if this file is not up to date. `conformance explain ID` prints one.

The class says what a breach is worth. *must* and *should* stand in the protocol (the section is named); *reference* is
what delta-spark 4.4.0 does where the protocol is silent; *lenient* is free, and never broken. A broken *must* is
`violated`; a broken *should* or *reference* is `differs`, and fails a run only for engines that declare
`compatible_with: delta-spark`. The side is the one that a breach is charged to.

The last column says with which lie each rule is proved to be heard: an engine that is honest but for this, a log that
is damaged in this one place, or the traces of a step that breaks the rule. Beside each stands the honest twin that is
not heard (`tests/mutants`, `tests/models/log`).
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
    """The text of the whole file."""
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
    """Write the file, or check it."""
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
