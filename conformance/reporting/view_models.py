"""The results as the reports show them: requirements by area, with a cell for each engine, and findings with steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.findings import Finding, FindingError, load_finding
from conformance.findings.text import operation_text
from conformance.histories import History
from conformance.reporting.claims import Claim, EvidenceTotals, Verdict, total
from conformance.reporting.finding_groups import in_order
from conformance.reporting.results import FindingResult, Results
from delta_adapters.deviations import Cause, cause_named
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

# If the claims of a cell differ, the cell shows the first of these verdicts that one of them has.
_WEIGHTIEST: tuple[Verdict, ...] = (
    "violated", "differs", "known-deviation", "holds", "not-enough-evidence", "not-guaranteed", "unsupported",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One requirement for one engine: the claims of all roles, partners and features together."""

    verdict: Verdict
    evidence: EvidenceTotals
    claims: tuple[Claim, ...]

    @property
    def core(self) -> bool:
        """Whether one of its claims decides the run's exit code."""
        return any(claim.core for claim in self.claims)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One requirement for all engines, in their order; a cell is None if the requirement was never checked there."""

    id: str
    sentence: str
    section: str
    strength: str
    role: str
    unobservable: str | None
    cells: tuple[MatrixCell | None, ...]

    @property
    def checked(self) -> bool:
        """Whether the run checked the requirement on any engine."""
        return any(self.cells)


@dataclass(frozen=True, slots=True)
class RequirementArea:
    """The requirements whose names share the first part."""

    name: str
    title: str
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of a finding's history as text. In a shared history `engine` performs the steps of `slot`."""

    number: int
    text: str
    failing: bool
    slot: str = ""
    engine: str = ""


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding with the content of its folder and its cause. `minimal` says that its steps are the minimal history."""

    result: FindingResult
    sentence: str
    section: str
    steps: tuple[StepView, ...] = ()
    files: tuple[str, ...] = ()
    cause: Cause | None = None
    problem: str = ""
    minimal: bool = False


def tested_engines(results: Results) -> tuple[str, ...]:
    """The engines that ran, which are the columns of the matrix."""
    return tuple(engine.label for engine in results.engines if engine.status == "tested")


def areas(results: Results) -> tuple[RequirementArea, ...]:
    """Every requirement of the catalogue, and those that only the recording has, by area."""
    engines = tested_engines(results)
    claims: dict[tuple[str, str], list[Claim]] = {}
    for claim in results.claims:
        claims.setdefault((claim.setting.requirement, claim.setting.engine), []).append(claim)
    ids = dict.fromkeys(
        [rule.id for rule in CATALOGUE] + [claim.setting.requirement for claim in results.claims]
    )
    by_area: dict[str, list[MatrixRow]] = {}
    for requirement in ids:
        cells = tuple(matrix_cell(claims.get((requirement, engine), ())) for engine in engines)
        by_area.setdefault(requirement.partition(".")[0], []).append(_row(requirement, cells))
    return tuple(RequirementArea(name, AREAS.get(name, ""), tuple(rows)) for name, rows in by_area.items())


def matrix_cell(claims: Iterable[Claim]) -> MatrixCell | None:
    """One cell for all claims of a requirement and an engine; None if there are none."""
    parts = tuple(claims)
    if not parts:
        return None
    verdicts = {part.verdict for part in parts}
    verdict = next(verdict for verdict in _WEIGHTIEST if verdict in verdicts)
    return MatrixCell(verdict, total(part.evidence for part in parts), parts)


def finding_views(results: Results) -> tuple[FindingView, ...]:
    """The findings, the most severe first."""
    return tuple(finding_view(finding) for finding in in_order(results.findings))


def finding_view(result: FindingResult) -> FindingView:
    """A finding with its history, if its folder can be read."""
    event = result.event
    known_rule = BY_ID.get(event.requirement)
    cause = cause_named(event.cause) if event.cause is not None else None
    sentence = known_rule.sentence if known_rule else ""
    section = known_rule.section if known_rule else ""
    try:
        finding = load_finding(result.folder)
    except FindingError as error:
        return FindingView(result, sentence, section, cause=cause, problem=str(error))
    minimal = finding.minimal is not None and finding.cause is None
    files = tuple(sorted(path.name for path in result.folder.iterdir() if path.is_file()))
    return FindingView(result, sentence, section, tuple(_steps(finding)), files, cause, minimal=minimal)


def _steps(finding: Finding) -> Iterator[StepView]:
    history: History = finding.history
    failing: int | None = finding.step
    if finding.minimal is not None and finding.cause is None:
        history, failing = finding.minimal, finding.minimal_step
    for number, step in enumerate(history.steps):
        slot = step.by or step.slot or ""
        yield StepView(
            number, operation_text(step.operation), number == failing, slot, finding.slots.get(slot, "")
        )


def _row(requirement: str, cells: tuple[MatrixCell | None, ...]) -> MatrixRow:
    rule = BY_ID.get(requirement)
    if rule is None:
        strength = next((claim.strength for cell in cells if cell for claim in cell.claims), "unlisted")
        return MatrixRow(requirement, "Not in this version's catalogue.", "", strength, "", None, cells)
    return MatrixRow(rule.id, rule.sentence, rule.section, rule.strength, rule.role, rule.unobservable, cells)
