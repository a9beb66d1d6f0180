"""What a step will be evidence of, as the model foresees it: the checks that are surely made.

The counts are lower bounds for an engine that answers as the model allows. What depends on how an engine arranges its
files, on values that engines treat differently, or on which of several allowed outcomes it takes, counts as nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from conformance.execution.read_schedule import ReadSchedule
from conformance.generation import TableShape
from delta_models.operations import (
    Append,
    Checkpoint,
    Create,
    Delete,
    Latest,
    Operation,
    Optimize,
    Overwrite,
    Read,
    Reopen,
    Update,
    Vacuum,
)  # fmt: skip
from delta_models.outcomes import Rejected
from delta_models.schema import DATE, INTEGER, LONG, Struct
from delta_models.table import Expectation, ModelHistory, Table
from delta_models.values import Rows, same_key

HOSTS = ("host.lives", "host.answers", "host.speaks")
PERFORMED = (
    "outcome.supported", "outcome.told", "outcome.allowed", "outcome.commits", "log.versions-contiguous",
    "log.commit-never-changes",
)  # fmt: skip
ON_A_TABLE = ("write.data-files-readable", "write.schema", "write.partitioning")
COMMITTED = ("log.commit-is-json-lines", "log.one-action-a-line", "log.required-field", "log.field-type")
ADDED = (
    "log.path-is-uri", "log.path-added-once", "log.added-file-exists", "log.added-file-size",
    "log.added-file-readable", "log.partition-values-complete", "stats.well-formed", "stats.num-records",
    "stats.null-count",
)  # fmt: skip
REMOVED = ("log.path-is-uri", "log.remove-names-live-file")
REPLACED = (*REMOVED, "log.no-add-and-remove-of-one-file")
BOUNDS = ("stats.min-values", "stats.max-values")
PARTITIONED = ("log.partition-value-readable", "log.partition-value-agrees-with-file")
REFUSED = ("outcome.classified", "outcome.refused-changes-nothing")
CHECKPOINTED = (
    "checkpoint.after-commit", "checkpoint.readable", "checkpoint.actions-well-formed",
    "checkpoint.equals-replay",
)  # fmt: skip
ANSWERED = ("read.columns", "read.succeeds", "read.version")
FILTERED = ("read.filter", "metamorphic.filter-picks")
EARLIER = ("read.state", "write.states-stay")
UPKEEP = "metamorphic.upkeep-keeps-answer"
AS_WRITTEN = "example.as-written"
BOUNDED = (LONG, INTEGER, DATE)  # types whose bounds every engine writes

# The requirements for which evidence is foreseen, besides those of the contents of a table and of refusals.
FORESEEN = frozenset((
    *HOSTS, *PERFORMED, *ON_A_TABLE, *COMMITTED, *ADDED, *REPLACED, *BOUNDS, *PARTITIONED, *REFUSED,
    *CHECKPOINTED, *ANSWERED, *FILTERED, *EARLIER, UPKEEP, AS_WRITTEN, "read.latest", "read.cold",
    "write.properties", "log.schema-readable", "write.data-change-false-keeps-rows",
    "metamorphic.delete-takes-what-filter-picks",
))  # fmt: skip


@dataclass(slots=True)
class StepEvidence:
    """Checks of one step: those of the engine that performs it, and those of every engine that reads."""

    writer: Counter[str] = field(default_factory=Counter)
    reader: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Foresight:
    """Foresees the evidence of the steps of one history at one table."""

    shape: TableShape
    read_schedule: ReadSchedule
    model_history: ModelHistory = field(default_factory=ModelHistory)
    _certain: bool = True  # every engine has the rows that the model has
    _commits: int = 0  # that there surely were since the last checkpoint that there surely is
    _appended: list[frozenset[object]] = field(
        default_factory=list
    )  # by write: the partitions with a new file

    def after(self, operation: Operation, *, performed: bool = True) -> StepEvidence:
        """Foresee the evidence of the next step, and take it. `performed` is False if no engine performs it."""
        evidence = StepEvidence()
        before = self.model_history
        if isinstance(operation, Read):
            self._add_read(evidence, operation)
            performed = False
        elif isinstance(operation, Reopen):
            evidence.reader.update((*HOSTS, "read.cold", *ANSWERED, UPKEEP))
        elif performed:
            self._add_read_before(evidence, operation)
            self._add_operation(evidence, operation, before.expect(operation))
        taken = operation if performed or isinstance(operation, Read) else Reopen()
        self.model_history = before.after(taken)
        if performed or isinstance(operation, Reopen):
            self._add_reads_after(evidence, before.step)
        return evidence

    def _add_operation(self, evidence: StepEvidence, operation: Operation, expectation: Expectation) -> None:
        table = self.model_history.table
        allowed = expectation.allowed_outcomes
        writer = evidence.writer
        writer.update((*HOSTS, *PERFORMED))
        if any(outcome.table.exists for outcome in allowed):
            writer.update(ON_A_TABLE)
            writer.update(["write.properties"] if allowed[0].table.properties else [])
            evidence.reader.update((*HOSTS, "read.latest", *ANSWERED))
        rules = {outcome.requirement for outcome in allowed}
        refused = all(isinstance(outcome.outcome, Rejected) for outcome in allowed)
        if len(rules) == 1 and (refused or self._is_plain()):
            writer.update(rules)
        if refused:
            writer.update(REFUSED)
            return
        commits = min(outcome.commits[0] for outcome in allowed) > 0
        if commits:
            writer.update(COMMITTED)
            self._add_checkpoint(writer, table)
        if isinstance(operation, Optimize | Vacuum | Checkpoint):
            evidence.reader.update([UPKEEP])
        if isinstance(operation, Checkpoint):
            writer.update(CHECKPOINTED)
        if isinstance(operation, Create) and commits:
            writer.update(["log.schema-readable"])
        self._add_files(writer, operation, table, commits=commits)
        self._follow_rows(operation, expectation)

    def _add_checkpoint(self, writer: Counter[str], table: Table) -> None:
        """Count the checkpoint that an engine writes by itself: one at least in as many versions as its interval."""
        self._commits += 1
        interval = table.property("delta.checkpointInterval") if table.exists else ""
        if interval and self._commits >= int(interval):
            self._commits = 0
            writer.update(CHECKPOINTED)

    def _add_files(self, writer: Counter[str], operation: Operation, table: Table, *, commits: bool) -> None:
        """Count what is judged of files that are surely added or removed."""
        rewrites = commits and self._certain and self._is_plain()
        match operation:
            case Append(rows=rows) if commits:
                writer.update(evidence_of_rows(rows, table.partition_by))
            case Overwrite(rows=rows, where=None, dynamic=False) if commits and rows.rows:
                writer.update(evidence_of_rows(rows, table.partition_by))
                writer.update(REMOVED if self._certain and table.rows else ())
            case Delete():
                writer.update((*REMOVED, "metamorphic.delete-takes-what-filter-picks") if rewrites else ())
            case Update():
                writer.update((*ADDED, *REPLACED) if rewrites else ())
            case Optimize(where=None) if self._can_be_compacted():
                writer.update((*COMMITTED, *ADDED, *REPLACED, "write.data-change-false-keeps-rows"))

    def _can_be_compacted(self) -> bool:
        """Whether two appends have surely added files to one partition since files may have been merged."""
        seen: set[object] = set()
        for partitions in self._appended:
            if seen & partitions:
                return True
            seen |= partitions
        return False

    def _follow_rows(self, operation: Operation, expectation: Expectation) -> None:
        """Remember which files there surely are, and whether engines may have other rows than the model."""
        table, allowed = self.model_history.table, expectation.allowed_outcomes
        if isinstance(operation, Append):
            if allowed[0].commits[0] > 0 and operation.rows.rows:
                self._appended.append(_partitions_of(operation.rows, table.partition_by))
        elif not isinstance(operation, Checkpoint):
            self._appended.clear()
        if isinstance(operation, Overwrite) and len(allowed) == 1 and operation.where is None:
            self._certain = not operation.dynamic
        elif any(outcome.table != allowed[0].table for outcome in allowed):
            self._certain = False

    def _add_read(self, evidence: StepEvidence, read: Read) -> None:
        """Count a read that is a step of its own. A plain one is not asked again of who has just answered it."""
        if read.where is None and read.columns is None and isinstance(read.at, Latest):
            return
        evidence.reader.update((*HOSTS, *ANSWERED))
        if read.where is not None:
            evidence.reader.update(FILTERED if self._is_plain() else ())
        elif not isinstance(read.at, Latest):
            evidence.reader.update(["read.state"])

    def _add_read_before(self, evidence: StepEvidence, operation: Operation) -> None:
        if self.model_history.table.exists and getattr(operation, "where", None) is not None:
            read = self.read_schedule.before(operation, self.model_history.table.schema)
            if read is not None and self._is_plain():
                evidence.reader.update((*HOSTS, *ANSWERED, *FILTERED))

    def _add_reads_after(self, evidence: StepEvidence, step: int) -> None:
        table = self.model_history.table
        if not table.exists:
            return
        for kind, _ in self.read_schedule.after(step, table.schema, self.model_history.readable_steps()):
            if kind == "state":
                evidence.reader.update((*ANSWERED, "read.state"))
                evidence.writer.update(["write.states-stay"])
            elif self._is_plain():
                evidence.reader.update((*ANSWERED, *FILTERED))

    def _is_plain(self) -> bool:
        """Whether no value or predicate is one that engines may judge differently."""
        return self.shape.portable and not self.shape.strange


def evidence_of_rows(rows: Rows, partition_by: tuple[str, ...]) -> Counter[str]:
    """What is judged of the files that a write of these rows adds; nothing without rows."""
    evidence: Counter[str] = Counter()
    if not rows.rows:
        return evidence
    evidence.update(ADDED)
    data = [
        index
        for index, column in enumerate(rows.schema)
        if column.type in BOUNDED and column.name not in partition_by
    ]
    if any(row[index] is not None for row in rows.rows for index in data):
        evidence.update(BOUNDS)
    positions = [index for index, column in enumerate(rows.schema) if column.name in partition_by]
    if any(row[index] not in {None, ""} for row in rows.rows for index in positions):
        evidence.update(PARTITIONED)
    return evidence


def _partitions_of(rows: Rows, partition_by: tuple[str, ...]) -> frozenset[object]:
    positions = [index for index, column in enumerate(rows.schema) if column.name in partition_by]
    schema = Struct(tuple(rows.schema.fields[index] for index in positions))
    return frozenset(same_key(schema, tuple(row[index] for index in positions)) for row in rows.rows)
