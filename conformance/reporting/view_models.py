"""The results as a reader meets them: requirements by area, a cell an engine, the findings with their histories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.findings import Finding, FindingError, load_finding
from conformance.findings.text import operation_text
from conformance.reporting.claims import Claim, EvidenceTotals, Verdict, total
from conformance.reporting.results import FindingResult, Results
from delta_adapters.deviations import Deviation, deviation_named
from delta_models.requirements import BY_ID, CATALOGUE

AREAS = {
    "contents": "What the rows are after an operation",
    "outcome": "How an operation ends",
    "read": "What a reader sees",
    "metamorphic": "Answers that must agree with each other",
    "write": "What a writer leaves behind",
    "log": "The files of the log and the actions in them",
    "stats": "Statistics",
    "checkpoint": "Checkpoints",
    "dv": "Deletion vectors",
    "host": "Behaviour as a process",
    "protocol": "Protocol and table features",
    "metadata": "Schema and properties",
}

# What a cell shows when its claims differ: the first of these that one of them has.
_WEIGHTIEST: tuple[Verdict, ...] = (
    "violated", "differs", "known-deviation", "holds", "not-enough-evidence", "not-guaranteed", "unsupported",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One requirement for one engine: the claims of all roles, partners and features together."""

    verdict: Verdict
    weight: EvidenceTotals
    claims: tuple[Claim, ...]

    @property
    def core(self) -> bool:
        """Whether the run's exit rests on it."""
        return any(claim.core for claim in self.claims)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One requirement for all engines, in their order; None where it was never asked."""

    id: str
    sentence: str
    section: str
    strength: str
    role: str
    unobservable: str | None
    squares: tuple[MatrixCell | None, ...]

    @property
    def asked(self) -> bool:
        """Whether any engine was held to it."""
        return any(self.squares)


@dataclass(frozen=True, slots=True)
class RequirementArea:
    """The requirements that begin alike."""

    name: str
    title: str
    lines: tuple[MatrixRow, ...]


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of a finding's history in words; `slot` is bound to `engine` in a shared history."""

    number: int
    text: str
    failing: bool
    slot: str = ""
    engine: str = ""


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding with all that its folder and the known deviations say of it."""

    result: FindingResult
    sentence: str
    section: str
    steps: tuple[StepView, ...] = ()
    files: tuple[str, ...] = ()
    deviation: Deviation | None = None
    problem: str = ""


def tested_engines(results: Results) -> tuple[str, ...]:
    """The columns of the matrix."""
    return tuple(engine.label for engine in results.engines if engine.status == "tested")


def areas(results: Results) -> tuple[RequirementArea, ...]:
    """Every requirement of the catalogue, and those that only the recording knows, by area."""
    engines = tested_engines(results)
    claims: dict[tuple[str, str], list[Claim]] = {}
    for claim in results.claims:
        claims.setdefault((claim.cell.requirement, claim.cell.engine), []).append(claim)
    ids = dict.fromkeys(
        [rule.id for rule in CATALOGUE] + [claim.cell.requirement for claim in results.claims]
    )
    by_area: dict[str, list[MatrixRow]] = {}
    for requirement in ids:
        squares = tuple(square(claims.get((requirement, engine), ())) for engine in engines)
        by_area.setdefault(requirement.partition(".")[0], []).append(_line(requirement, squares))
    return tuple(RequirementArea(name, AREAS.get(name, ""), tuple(lines)) for name, lines in by_area.items())


def square(claims: Iterable[Claim]) -> MatrixCell | None:
    """The claims of one requirement and engine as one."""
    parts = tuple(claims)
    if not parts:
        return None
    verdicts = {part.verdict for part in parts}
    verdict = next(each for each in _WEIGHTIEST if each in verdicts)
    return MatrixCell(verdict, total(part.weight for part in parts), parts)


def finding_views(results: Results) -> tuple[FindingView, ...]:
    """The findings, those that nobody knew of first."""
    ordered = sorted(results.findings, key=lambda each: not each.event.fresh)
    return tuple(finding_view(each) for each in ordered)


def finding_view(result: FindingResult) -> FindingView:
    """A finding with its history, as far as its folder can be read."""
    event = result.event
    known_rule = BY_ID.get(event.requirement)
    deviation = deviation_named(event.deviation) if event.deviation is not None else None
    sentence = known_rule.sentence if known_rule else ""
    section = known_rule.section if known_rule else ""
    try:
        finding = load_finding(result.folder)
    except FindingError as error:
        return FindingView(result, sentence, section, deviation=deviation, problem=str(error))
    files = tuple(sorted(path.name for path in result.folder.iterdir() if path.is_file()))
    return FindingView(result, sentence, section, tuple(_steps(finding)), files, deviation)


def _steps(finding: Finding) -> Iterator[StepView]:
    for number, step in enumerate(finding.history.steps):
        slot = step.by or step.slot or ""
        yield StepView(
            number, operation_text(step.operation), number == finding.step, slot, finding.slots.get(slot, "")
        )


def _line(requirement: str, squares: tuple[MatrixCell | None, ...]) -> MatrixRow:
    rule = BY_ID.get(requirement)
    if rule is None:
        strength = next((claim.strength for each in squares if each for claim in each.claims), "unlisted")
        return MatrixRow(requirement, "Not in this version's catalogue.", "", strength, "", None, squares)
    return MatrixRow(
        rule.id, rule.sentence, rule.section, rule.strength, rule.role, rule.unobservable, squares
    )
