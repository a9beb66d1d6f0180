"""Mutants with wrong answers about a table: its changes, history and details; and with wrong rules and protocols."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from delta_adapters.contract import Answer, Query
from delta_adapters.reference import CommitBuilder, Reference, actions
from delta_adapters.reference.files import Layout
from delta_models import operations as ops
from delta_models.log import Snapshot
from delta_models.outcomes import Outcome, Rejected
from delta_models.schema import LONG, Field, Json, Struct
from delta_models.table import Table
from delta_models.values import Rows
from tests.mutants import stories
from tests.mutants.registry import trips

RECORDED = ops.Create(stories.SCHEMA, (), (("delta.enableChangeDataFeed", "true"),))
CHANGED = (
    RECORDED, stories.FILL, stories.FILL_MORE,
    ops.Update((("name", stories.text("new")),), stories.SMALL),
    ops.Delete(stories.compare(stories.ID, "=", stories.number(4))),
)  # fmt: skip
FEED = (*CHANGED, ops.ReadChanges(ops.AtState(1)))
NOT_RECORDED = (*stories.TWICE, ops.ReadChanges(ops.AtState(1)))
FEED_THAT_GROWS = (
    *CHANGED[:3], ops.AddColumn(Field("more", LONG)), ops.Append(stories.rows((9, "i", 9.0))),
    ops.ReadChanges(ops.AtState(1)),
)  # fmt: skip
MAPPED = (("delta.columnMapping.mode", "name"), ("delta.enableChangeDataFeed", "true"))
FEED_THAT_IS_RENAMED = (
    ops.Create(stories.SCHEMA, (), MAPPED), stories.FILL, ops.RenameColumn(("name",), "title"),
    ops.Delete(stories.SMALL), ops.ReadChanges(ops.AtState(1)),
)  # fmt: skip
PAST = (*stories.OVERWRITE, ops.History())
TIMED_PAST = (
    ops.Create(stories.SCHEMA, (), (("delta.enableInCommitTimestamps", "true"),)), stories.FILL, ops.History(),
)  # fmt: skip
DETAIL = (*stories.IN_PARTITIONS, ops.Detail())
WIDER = Struct((*stories.SCHEMA.fields, Field("more", LONG)))
GROWS = (*stories.PLAIN, ops.Append(Rows(WIDER, ((6, "f", 6.0, 6),)), schema_mode="merge"))


class BendsQueries(Reference):
    """Changes the answers to queries of one `kind` by `bend`, which a mutant defines."""

    kind: type[Query] = ops.ReadChanges

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        return self.bend(answer) if isinstance(read, self.kind) else answer

    def bend(self, answer: Answer | Outcome) -> Answer | Outcome:
        raise NotImplementedError


@trips("changes.told", FEED)
class HidesItsChanges(BendsQueries):
    """The change feed is refused although it was recorded."""

    def bend(self, answer):
        return Rejected("bad-argument", "no changes here")


@trips("changes.across-new-columns", FEED_THAT_GROWS)
class TellsOldRowsTwice(BendsQueries):
    """The change feed tells its first row twice, where a column is new."""

    def bend(self, answer):
        return Answer(pa.concat_tables([answer.table, answer.table.slice(0, 1)]))


@trips("changes.across-other-columns", FEED_THAT_IS_RENAMED)
class ForgetsRenamedColumns(BendsQueries):
    """In the change feed a renamed column is null in the rows from before."""

    def bend(self, answer):
        table = answer.table
        position = table.column_names.index("title")
        nulls = pa.nulls(table.num_rows, table.column(position).type)
        return Answer(table.set_column(position, "title", nulls))


@trips("changes.columns", FEED)
class HidesTheKindOfChange(BendsQueries):
    """The change feed does not say which kind of change a row is."""

    def bend(self, answer):
        return Answer(answer.table.drop_columns(["_change_type"]))


@trips("changes.rows", FEED)
class TellsAChangeTwice(BendsQueries):
    """The change feed tells its first row twice."""

    def bend(self, answer):
        return Answer(pa.concat_tables([answer.table, answer.table.slice(0, 1)]))


@trips("cdc.equals-difference", FEED)
class ForgetsAChange(Reference):
    """The change data of an update lacks a row."""

    def write_change_data(self, layout: Layout, before: Table, after: Table) -> list[actions.Form]:
        kept = {id(row): row for row in after.rows if row not in before.rows}
        lost = next(iter(kept.values()), None)
        return super().write_change_data(
            layout, before, after.with_rows(tuple(row for row in after.rows if row is not lost))
        )


@trips("cdc.recorded", CHANGED)
class RecordsNoChanges(Reference):
    """An update records no change, although the change feed is on."""

    def write_change_data(self, layout: Layout, before: Table, after: Table) -> list[actions.Form]:
        return []


@trips("changes.refused-where-not-recorded", NOT_RECORDED)
class TellsChangesThatItDidNotRecord(BendsQueries):
    """The change feed of a table that records none is empty."""

    def bend(self, answer):
        return Answer(pa.table({"id": pa.array([], pa.int64())}))


@trips("history.told", PAST)
class HidesItsPast(BendsQueries):
    """The history is refused."""

    kind = ops.History

    def bend(self, answer):
        return Rejected("bad-argument", "no past")


@trips("history.versions", PAST)
class ForgetsAVersion(BendsQueries):
    """The history lacks the oldest version."""

    kind = ops.History

    def bend(self, answer):
        return Answer(answer.table.slice(0, answer.table.num_rows - 1))


@trips("history.timestamps", TIMED_PAST)
class TellsTimesOfDay(BendsQueries):
    """The history gives each version a time that is a second late."""

    kind = ops.History

    def bend(self, answer):
        position = answer.table.column_names.index("timestamp")
        late = [str(int(time.as_py()) + 1_000) for time in answer.table.column(position)]
        return Answer(answer.table.set_column(position, "timestamp", pa.array(late)))


@trips("changes.commit-timestamps", FEED)
class TellsChangesLate(BendsQueries):
    """The change feed gives each row a time that is a millisecond after its commit."""

    def bend(self, answer):
        position = answer.table.column_names.index("_commit_timestamp")
        times = answer.table.column(position)
        late = pa.array([time.value + 1_000 for time in times], pa.int64()).cast(times.type)
        return Answer(answer.table.set_column(position, "_commit_timestamp", late))


@trips("detail.told", DETAIL)
class HidesItsDetails(BendsQueries):
    """Nothing is said of the table."""

    kind = ops.Detail

    def bend(self, answer):
        return Rejected("bad-argument", "no details")


@trips("detail.true", DETAIL)
class MiscountsItsFiles(BendsQueries):
    """There is said to be one file more than there is."""

    kind = ops.Detail

    def bend(self, answer):
        position = answer.table.column_names.index("numFiles")
        more = pa.array([answer.table.column(position)[0].as_py() + 1], pa.int64())
        return Answer(answer.table.set_column(position, "numFiles", more))


@trips("write.column-order", GROWS)
class PutsNewColumnsFirst(Reference):
    """A schema that grows gets its new columns in front."""

    def draft(
        self, operation: ops.Operation, snapshot: Snapshot | None, before: Table, after: Table
    ) -> CommitBuilder:
        if len(before.schema) and len(after.schema) > len(before.schema):
            moved = Struct((*after.schema.fields[len(before.schema) :], *before.schema.fields))
            positions = [after.schema.index(field.name) for field in moved]
            rows = tuple(tuple(row[position] for position in positions) for row in after.rows)
            after = replace(after, schema=moved, rows=rows)
        return super().draft(operation, snapshot, before, after)


SMALL_ONES = ops.AddConstraint("small", stories.compare(stories.ID, "<", stories.number(9)))
STRICTER = (
    stories.CREATE,
    stories.FILL_MORE,
    SMALL_ONES,
    stories.FILL_MORE,
    ops.Append(stories.rows((77, "large", 1.0))),
)
MADE = Struct(
    (*stories.SCHEMA.fields, Field("made", LONG).with_metadata({"delta.generationExpression": "id"}))
)
SMALL_ID: dict[str, Json] = {"delta.invariants": '{"expression": {"expression": "id < 50"}}'}
BOUNDED = Struct((stories.SCHEMA.fields[0].with_metadata(SMALL_ID), *stories.SCHEMA.fields[1:]))
INVARIANT = (
    ops.Create(BOUNDED),
    ops.Append(Rows(BOUNDED, stories.MORE)),
    ops.Append(Rows(BOUNDED, ((77, "large", 1.0),))),
)
RIGHT, WRONG = Rows(MADE, ((1, "a", 1.0, 1),)), Rows(MADE, ((1, "a", 1.0, 2),))
COMPUTED = (ops.Create(MADE), ops.Append(RIGHT), ops.Append(WRONG))
LOOKS_LEGACY = (
    ops.Create(stories.SCHEMA, (), (("delta.appendOnly", "true"),)), ops.EnableFeature("domainMetadata"),
)  # fmt: skip
UPGRADED = (*stories.PLAIN, ops.EnableFeature("domainMetadata"))
UPGRADED_TWICE = (*UPGRADED, ops.EnableFeature("checkConstraints"))


@trips("rules.constraints-hold", STRICTER)
@trips("rules.invariants-hold", INVARIANT)
@trips("rules.generated-columns-hold", COMPUTED)
class LetsAnythingIn(Reference):
    """An append is not held to the rules of the table."""

    def apply_model(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        if not isinstance(operation, ops.Append) or snapshot is None:
            return super().apply_model(operation, snapshot, tag)
        layout = Layout(snapshot.schema, snapshot.partition_by)
        draft = CommitBuilder(self.write(layout, operation.rows.rows, 1, data_change=True))
        return self.commit(draft, snapshot, "Append", tag)


class BendsTheProtocol(Reference):
    """Changes the features that the protocol names by `named`, which a mutant defines."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        for form in forms:
            if "writerFeatures" in form.get("protocol", {}):
                form["protocol"]["writerFeatures"] = self.named(version, form["protocol"]["writerFeatures"])
        super().publish(version, forms)

    def named(self, version: int, features: list[str]) -> list[str]:
        raise NotImplementedError


@trips("protocol.features-stay", UPGRADED_TWICE)
class ForgetsAFeature(BendsTheProtocol):
    """An upgrade names the new feature, and no longer an old one."""

    def named(self, version, features):
        return [feature for feature in features if version < 3 or feature != "domainMetadata"]


@trips("protocol.upgrade-keeps-what-is-used", LOOKS_LEGACY)
class ForgetsWhatIsUsed(BendsTheProtocol):
    """An upgrade to table features does not name append-only tables, which the table is."""

    def named(self, version, features):
        return [feature for feature in features if feature != "appendOnly"]


@trips("protocol.features-needed", UPGRADED)
class NamesWhatNobodyAskedFor(BendsTheProtocol):
    """An upgrade names identity columns as well, of which there are none."""

    def named(self, version, features):
        return [*features, "identityColumns"]


VECTORS = ops.Create(stories.SCHEMA, (), (("delta.enableDeletionVectors", "true"),))
MARKED = (
    VECTORS,
    stories.FILL,
    ops.Delete(stories.compare(stories.ID, "=", stories.number(1))),
    ops.Checkpoint(),
)


@trips("read.latest", (*MARKED, ops.Reopen()))
class ForgetsVectorsAfterACheckpoint(Reference):
    """Once there is a checkpoint, the rows that deletion vectors hide are read again."""

    def scan(self, snapshot: Snapshot, read: ops.Read) -> Rows:
        if not self.reader.listing().checkpoints:
            return super().scan(snapshot, read)
        live = {key: replace(add, deletion_vector=None) for key, add in snapshot.live.items()}
        return super().scan(replace(snapshot, live=live), read)


MIXED = ops.Read(where=stories.compare(stories.ID, "<", stories.PRICE))


@trips("read.beyond-core", (*stories.TWICE, MIXED))
class FiltersAnythingElse(Reference):
    """A filter over columns of two types picks nothing."""

    def scan(self, snapshot: Snapshot, read: ops.Read) -> Rows:
        selected = super().scan(snapshot, read)
        return Rows(selected.schema, ()) if read.where is not None else selected


@trips("write.beyond-core", (*stories.TWICE, ops.Delete(MIXED.where)))
class DeletesAnythingElse(Reference):
    """A delete by columns of two types takes everything."""

    def draft(
        self, operation: ops.Operation, snapshot: Snapshot | None, before: Table, after: Table
    ) -> CommitBuilder:
        kept = after.with_rows(()) if isinstance(operation, ops.Delete) else after
        return super().draft(operation, snapshot, before, kept)
