"""Mutants with wrong outcomes: they do what they must refuse, or refuse what they must do."""

from __future__ import annotations

from delta_adapters.reference import actions
from delta_adapters.reference.files import Layout
from delta_models import operations as ops
from delta_models.outcomes import NoChange, Rejected, Unknown, Unsupported
from delta_models.schema import LONG, VOID, Array, Field, Struct, struct
from delta_models.table.char_varchar import varchar_field
from delta_models.values import Rows
from tests.mutants import stories
from tests.mutants.registry import trips
from tests.mutants.wrappers import WrongOperation

EMPTY = struct(("id", LONG), ("nothing", Array(VOID)))
SHORT = Struct((*struct(("id", LONG)).fields, varchar_field("text", 3)))
TOO_LONG = (ops.Create(SHORT), ops.Append(Rows(SHORT, ((1, "日本語"), (2, "日本語日")))))
NOTHING = (ops.Create(EMPTY), ops.Append(Rows(EMPTY, ((1, ()),))))

INTERNAL = (*stories.PLAIN, ops.SetProperties((("delta.columnMapping.maxColumnId", "77"),)))


@trips("outcome.existing-table-refused", stories.CREATE_AGAIN)
class CreatesAgain(WrongOperation):
    """Creating a table where there is one succeeds."""

    kind = ops.Create

    def perform_wrongly(self, operation, snapshot, tag):
        if snapshot is None:
            return self.perform_honestly(operation, snapshot, tag)
        form = actions.metadata(snapshot.schema, snapshot.partition_by, snapshot.properties, snapshot)
        return self.commit_forms(snapshot, form)


@trips("outcome.missing-table-refused", stories.NO_TABLE)
class MakesTables(WrongOperation):
    """An append to a table that does not exist makes one."""

    def perform_wrongly(self, operation, snapshot, tag):
        if snapshot is None:
            self.perform_honestly(ops.Create(operation.rows.schema), None, tag)
        return self.perform_honestly(operation, self.current(), tag)


@trips("outcome.misfit-refused", stories.MISFIT)
class TakesMisfits(WrongOperation):
    """An append of other columns than the table's succeeds, and does nothing."""

    def perform_wrongly(self, operation, snapshot, tag):
        if operation.rows.schema == snapshot.schema:
            return self.perform_honestly(operation, snapshot, tag)
        return self.commit_forms(snapshot)


@trips("outcome.internal-property-refused", INTERNAL)
class SetsWhateverIsAsked(WrongOperation):
    """A property that users cannot configure is set."""

    kind = ops.SetProperties

    def perform_wrongly(self, operation, snapshot, tag):
        properties = {**snapshot.properties, **dict(operation.properties)}
        form = actions.metadata(snapshot.schema, snapshot.partition_by, properties, snapshot)
        return self.commit_forms(snapshot, form)


@trips("outcome.unknown-column-refused", stories.DELETE_UNKNOWN_COLUMN)
class KnowsEveryColumn(WrongOperation):
    """A delete by a column that does not exist succeeds, and does nothing."""

    kind = ops.Delete

    def perform_wrongly(self, operation, snapshot, tag):
        return NoChange()


@trips("outcome.void-refused", NOTHING)
class TakesNothing(WrongOperation):
    """A row is written to a table in which an array holds void, as one without it."""

    def perform_wrongly(self, operation, snapshot, tag):
        layout = Layout(Struct(snapshot.schema.fields[:1]), ())
        held = [row[:1] for row in operation.rows.rows]
        return self.commit_forms(snapshot, *self.write(layout, held, 1, data_change=True))


@trips("outcome.too-long-refused", TOO_LONG)
class TakesLongTexts(WrongOperation):
    """A text that is longer than its column's length is written."""

    def perform_wrongly(self, operation, snapshot, tag):
        return self.write_rows(snapshot, *operation.rows.rows)


@trips("outcome.broken-rule-refused", stories.NOT_NULL)
class TakesNulls(WrongOperation):
    """Nulls in a column that is NOT NULL are written."""

    def perform_wrongly(self, operation, snapshot, tag):
        loose = Struct(tuple(Field(field.name, field.type) for field in snapshot.schema))
        layout = Layout(loose, snapshot.partition_by)
        return self.commit_forms(snapshot, *self.write(layout, operation.rows.rows, 1, data_change=True))


@trips("outcome.append-only", stories.APPEND_ONLY)
@trips("log.append-only", stories.APPEND_ONLY)
class DeletesAnyway(WrongOperation):
    """A delete in an append-only table succeeds."""

    kind = ops.Delete

    def perform_wrongly(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot)


@trips("outcome.bad-argument-refused", stories.CONTRADICTION)
@trips("outcome.replace-where-mismatch", stories.REPLACE_WRONGLY)
class OverwritesAnyway(WrongOperation):
    """An overwrite that contradicts itself overwrites the whole table."""

    kind = ops.Overwrite

    def perform_wrongly(self, operation, snapshot, tag):
        return self.perform_honestly(ops.Overwrite(operation.rows), snapshot, tag)


@trips("outcome.ambiguous-match-refused", stories.MERGE_AMBIGUOUS)
class MergesTheFirst(WrongOperation):
    """A merge in which several source rows match a row takes the first."""

    kind = ops.Merge

    def perform_wrongly(self, operation, snapshot, tag):
        source = Rows(operation.source.schema, operation.source.rows[:1])
        return self.perform_honestly(ops.Merge(source, operation.on, operation.clauses), snapshot, tag)


@trips("outcome.merge-deletes-once", stories.MERGE_DELETES_ONCE)
class RefusesToDeleteOnce(WrongOperation):
    """A merge that only deletes is refused where several source rows match a row."""

    kind = ops.Merge

    def perform_wrongly(self, operation, snapshot, tag):
        return Rejected("ambiguous-match")


@trips("outcome.optimize-by-partition-only", stories.OPTIMIZE_BY_DATA)
class CompactsByData(WrongOperation):
    """Compacting by a predicate over data succeeds."""

    kind = ops.Optimize

    def perform_wrongly(self, operation, snapshot, tag):
        return self.perform_honestly(ops.Optimize(), snapshot, tag)


@trips("outcome.supported", stories.DELETE)
class ClaimsTooMuch(WrongOperation):
    """What is claimed is answered with Unsupported."""

    kind = ops.Delete

    def perform_wrongly(self, operation, snapshot, tag):
        return Unsupported("not today")


@trips("outcome.classified", stories.MISFIT)
class CannotSayWhy(WrongOperation):
    """A refusal is of no kind."""

    def perform_wrongly(self, operation, snapshot, tag):
        outcome = self.perform_honestly(operation, snapshot, tag)
        return Rejected("unclassified", outcome.message) if isinstance(outcome, Rejected) else outcome


@trips("outcome.told", stories.APPEND)
class DoesNotKnow(WrongOperation):
    """An append ends in "unknown" although nothing disturbed it."""

    def perform_wrongly(self, operation, snapshot, tag):
        self.perform_honestly(operation, snapshot, tag)
        return Unknown("who knows")


@trips("outcome.allowed", stories.DELETE)
class RefusesToDelete(WrongOperation):
    """A delete without fault is refused."""

    kind = ops.Delete

    def perform_wrongly(self, operation, snapshot, tag):
        return Rejected("bad-argument", "no")


@trips("outcome.allowed", stories.DELETE)
class ReportsSuccess(WrongOperation):
    """Nothing is done, and success reported: no version is added."""

    kind = ops.Delete

    def perform_wrongly(self, operation, snapshot, tag):
        return NoChange()


@trips("outcome.commits", stories.APPEND)
class CommitsTwice(WrongOperation):
    """An append adds a second, empty version."""

    def perform_wrongly(self, operation, snapshot, tag):
        self.perform_honestly(operation, snapshot, tag)
        return self.commit_forms(self.reader.snapshot())


@trips("outcome.refused-changes-nothing", stories.MISFIT)
class RefusesButWrites(WrongOperation):
    """A refused append leaves a row."""

    def perform_wrongly(self, operation, snapshot, tag):
        outcome = self.perform_honestly(operation, snapshot, tag)
        if isinstance(outcome, Rejected):
            self.write_rows(snapshot, (99, "left", 0.0))
        return outcome
