"""Writes the lists of `docs/writing-an-adapter.md` from the code: operations, claims, and what each claim brings.

python tools/adapter_doc.py           write them
python tools/adapter_doc.py --check   exit 1 if they are not up to date
"""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path

from conformance.planning.claims import known_engines
from conformance.planning.needs import WRITES, needs_of
from conformance.planning.profile import load_profile, profile_names
from delta_adapters.capabilities import OPTIONS, schema
from delta_adapters.registry import KNOWN
from delta_models.functions import FUNCTIONS
from delta_models.outcomes import REJECTIONS
from delta_models.requirements import CATALOGUE
from delta_models.wire_names import ALPHABET

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "writing-an-adapter.md"
BEGIN, END = "<!-- {}: written by tools/adapter_doc.py -->\n", "<!-- end of {} -->\n"
# Steps that the harness takes itself: an adapter never gets them as an operation.
OF_THE_HARNESS = frozenset({
    "AdvanceClock", "Interleave", "SwitchActor", "DamageFile", "FailAt", "KillAt", "HoldBack", "PauseAt", "LimitDisk",
})  # fmt: skip


def lists() -> dict[str, str]:
    """The text of each list, by its name."""
    return {
        "operations": _operations(),
        "properties": _wrapped(sorted(properties())),
        "functions": _wrapped(sorted(FUNCTIONS)),
        "types": _wrapped(schema()["$defs"]["types"]["items"]["enum"]),
        "brings": _brings(),
        "rejections": "".join(f"- `{kind}`: {words}\n" for kind, words in REJECTIONS.items()),
    }


def asked_operations() -> dict[str, type]:
    """The operations that an adapter may be asked for, by the names that claims use."""
    return {
        name: kind
        for name, kind in ALPHABET.items()
        if name not in OF_THE_HARNESS and not kind.__module__.endswith(".faults")
    }


def properties() -> set[str]:
    """The table properties that histories set, or that an engine of the project claims."""
    drawn: set[str] = set()
    for folder in ("generation", "suites"):
        for path in (ROOT / "conformance" / folder).rglob("*.py"):
            drawn |= set(re.findall(r'"(delta\.[A-Za-z][A-Za-z.]*[A-Za-z])"', path.read_text("utf-8")))
    claimed = {name for engine in known_engines(KNOWN) for name in engine.capabilities.properties}
    return {name for name in drawn | claimed if name.startswith("delta.")} - {
        "delta.columnMapping.maxColumnId"
    }


def document(text: str) -> str:
    """The page with its lists written anew. Raises ValueError if it has no place for one."""
    for name, written in lists().items():
        begin, end = BEGIN.format(name), END.format(name)
        before, found, rest = text.partition(begin)
        _, found_end, after = rest.partition(end)
        if not found or not found_end:
            raise ValueError(
                f"{TARGET} has no place for the list of {name}: {begin.strip()} ... {end.strip()}"
            )
        text = f"{before}{begin}\n{written}\n{end}{after}"
    return text


def _operations() -> str:
    lines = ["| operation | what it asks | fields | options |", "|---|---|---|---|"]
    for name, kind in sorted(asked_operations().items()):
        sentence = " ".join((kind.__doc__ or "").split("\n\n")[0].split()).replace("|", "\\|")
        fields = ", ".join(
            f"`{field.name}`" + ("" if field.default is dataclasses.MISSING else "?")
            for field in dataclasses.fields(kind)
        )
        options = ", ".join(f"`{option}`" for option in OPTIONS.get(name, ()))
        lines.append(f"| `{name}` | {sentence} | {fields} | {options} |")
    return "\n".join(lines) + "\n"


def _brings() -> str:
    lines = ["| claim | requirements that it brings |", "|---|---|"]
    brought: dict[str, list[str]] = {}
    cores = {rule.requirement for name in profile_names() for rule in load_profile(name).core}
    for requirement in (rule.id for rule in CATALOGUE if rule.id in cores):
        extra = [need for need in needs_of(requirement) if need not in WRITES.split()]
        for need in extra or ([WRITES] if needs_of(requirement) else ["nothing"]):
            for word in [need] if need == WRITES else need.split("|"):
                brought.setdefault(word, []).append(requirement)
    order = ["nothing", WRITES, *sorted(set(brought) - {"nothing", WRITES})]
    for word in (word for word in order if word in brought):
        claim = {"nothing": "nothing", WRITES: "`Create` and `Append`"}.get(word, f"`{word}`")
        lines.append(f"| {claim} | {', '.join(f'`{requirement}`' for requirement in brought[word])} |")
    return "\n".join(lines) + "\n"


def _wrapped(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) + "\n"


def main() -> int:
    """Write the lists, or check them; the exit code."""
    text = TARGET.read_text("utf-8")
    wanted = document(text)
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(wanted, "utf-8")
        return 0
    if text != wanted:
        print(f"{TARGET} is not up to date: python tools/adapter_doc.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
