"""deltalake with a second fault beside a known one: the same trigger sets it off, and it gives another wrong answer.

The list was written before the predictions were. Each class is one fault; those of races and crashes are started by
path, as `second_faults.py:ClassName`.
"""

from __future__ import annotations

import decimal
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from delta_adapters.contract import Answer, Query
from delta_adapters.delta_rs import DeltaRs
from delta_models.expressions import And, Column, Compare, Literal
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    CompactLog,
    Delete,
    EnableFeature,
    Merge,
    Operation,
    Optimize,
    Overwrite,
    Read,
    ReadChanges,
    Restore,
    Update,
    Vacuum,
)
from delta_models.outcomes import Committed, Outcome, Rejected, Unknown
from delta_models.schema import BOOLEAN, FLOAT, LONG, DecimalType
from delta_models.values import Decimal, Rows

Form = dict[str, Any]


class Tampered(DeltaRs):
    """deltalake, with answers and commits that are changed after the fact."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(self.other(operation), tag)
        if isinstance(outcome, Committed | Unknown):  # what can't be read any more may be there all the same
            commits = sorted(self.log.glob("*[0-9].json"))
            forms = [json.loads(line) for line in commits[-1].read_text().splitlines()]
            changed = self.commit(operation, forms)
            if changed is not None:
                commits[-1].write_text("".join(json.dumps(form) + "\n" for form in changed))
        return self.outcome(operation, outcome)

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        if isinstance(read, Read) and isinstance(answer, Answer):
            return replace(answer, table=self.answer(read, answer.table))
        return answer

    @property
    def log(self) -> Path:
        return Path(self._location) / "_delta_log"

    def other(self, operation: Operation) -> Operation:
        return operation

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        return outcome

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form] | None:
        return None

    def answer(self, read: Read, table: pa.Table) -> pa.Table:
        return table


def _edited(forms: list[Form], kind: str, edit: Callable[[Form], None]) -> list[Form]:
    for form in forms:
        if kind in form:
            edit(form[kind])
    return forms


def _set_bound(add: Form, kind: str, column: str, value: float) -> None:
    stats = json.loads(add["stats"])
    stats[kind][column] = value
    add["stats"] = json.dumps(stats)


class LosesARowOfAFilter(Tampered):
    """A filter loses its last row as well."""

    def answer(self, read: Read, table: pa.Table) -> pa.Table:
        return table if read.where is None else table.slice(0, max(0, len(table) - 1))


class DoublesARowOfAFilter(Tampered):
    """A filter gives its first row twice."""

    def answer(self, read: Read, table: pa.Table) -> pa.Table:
        return table if read.where is None else pa.concat_tables([table, table.slice(0, 1)])


class AnswersAnotherText(Tampered):
    """A filter answers an empty partition text as `x`."""

    def answer(self, read: Read, table: pa.Table) -> pa.Table:
        if read.where is None:
            return table
        place = table.schema.get_field_index("part")
        texts = ["x" if text == "" else text for text in table["part"].to_pylist()]
        return table.set_column(
            place, table.schema.field(place), pa.array(texts, table.schema.field(place).type)
        )


class NamesOneFeatureMore(Tampered):
    """An upgrade to table features names one beside the one that was asked for."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form] | None:
        if not isinstance(operation, EnableFeature):
            return None
        return _edited(forms, "protocol", lambda protocol: protocol["writerFeatures"].append("rowTracking"))


class RestoresWithoutAFile(Tampered):
    """A restore leaves out the first file that it should bring back or keep."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form] | None:
        if not isinstance(operation, Restore):
            return None
        return [form for form in forms if "add" not in form]


class WritesAnotherType(Tampered):
    """A write that lets the schema grow makes its first column a text."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form] | None:
        if not isinstance(operation, Append):
            return None
        return _edited(forms, "metaData", self._edit)

    @staticmethod
    def _edit(metadata: Form) -> None:
        schema = json.loads(metadata["schemaString"])
        schema["fields"][0]["type"] = "string"
        metadata["schemaString"] = json.dumps(schema)


class RefusesForAnotherColumn(Tampered):
    """What is refused is refused for a column that nobody named."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        return (
            Rejected(outcome.kind, "No field named elsewhere.") if isinstance(outcome, Rejected) else outcome
        )


class RefusesAKnownColumn(Tampered):
    """A write that is refused for a column that its predicate names is refused for another column of the table."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Rejected):
            return outcome
        return Rejected(outcome.kind, "Kernel error: Predicate references unknown column: id")


class RefusesOneRowMore(Tampered):
    """A merge is refused for one row more than those that are left out."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Rejected):
            return outcome
        return Rejected(outcome.kind, outcome.message.replace("found: 1 rows", "found: 2 rows"))


class ConstrainsTooMuch(Tampered):
    """A constraint on a float is added with another limit."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, AddConstraint):
            return replace(operation, check=Compare(">=", Column(("f",)), Literal(FLOAT, 5.0)))
        return operation


class TellsAChangeTwice(Tampered):
    """A change feed tells its first change twice."""

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        if isinstance(read, ReadChanges) and isinstance(answer, Answer):
            return replace(answer, table=pa.concat_tables([answer.table, answer.table.slice(0, 1)]))
        return answer


class AppendsAnotherText(Tampered):
    """An append writes another text."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, Append):
            return replace(operation, rows=Rows(operation.rows.schema, (("other",),)))
        return operation


class SaysALowerMaximum(Tampered):
    """The maximum of a column with NaN lies below its other values."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        return _edited(forms, "add", lambda add: _set_bound(add, "maxValues", "v", 0.5))


class RoundsDecimalsFurther(Tampered):
    """The minimum of a long decimal is another double than that of the value."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        return _edited(
            forms, "add", lambda add: _set_bound(add, "minValues", "price", -9999999999999900000000000000.0)
        )


class DeletesOneRow(Tampered):
    """A delete by a comparison with null deletes the row with the id 1, not all of them."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, Delete):
            return Delete(Compare("=", Column(("id",)), Literal(LONG, 1)))
        return operation


class WritesAnotherId(Tampered):
    """A row is written with another id."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, Append):
            first, *others = operation.rows.rows
            return replace(operation, rows=Rows(operation.rows.schema, ((77, *first[1:]), *others)))
        return operation


class ForgetsTheId(Tampered):
    """A write is made a second time, and records no transaction."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form] | None:
        again = len(list(self.log.glob("*[0-9].json"))) > 2
        return [form for form in forms if "txn" not in form] if again else None


class WritesAnotherFraction(Tampered):
    """A negative decimal in a partition column is written as another one, and with the second sign."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        return _edited(forms, "add", lambda add: add["partitionValues"].update(part="0.-7"))


class WritesBytesBackwards(Tampered):
    """Bytes in a partition column are escaped, and in the reverse order."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        return _edited(forms, "add", lambda add: add["partitionValues"].update(part="\\u0062\\u0061"))


class CountsOneFileMore(Tampered):
    """The metric of added files is too large by one more than the files of change data."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        def edit(info: Form) -> None:
            metrics = info.get("operationMetrics", {})
            if "num_added_files" in metrics:
                metrics["num_added_files"] += 1

        return _edited(forms, "commitInfo", edit)


class CompactsWithoutAFile(Tampered):
    """A log compaction lacks a file as well."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if isinstance(operation, CompactLog):
            for path in self.log.glob("*.compacted.json"):
                lines = path.read_text().splitlines()
                adds = [line for line in lines if '"add"' in line]
                path.write_text("\n".join(line for line in lines if line != adds[-1]) + "\n")
        return outcome


class NamesCheckpointsToo(Tampered):
    """Beside variants, the protocol names checkpoints of the second version."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        def edit(protocol: Form) -> None:
            for features in ("readerFeatures", "writerFeatures"):
                protocol[features].append("v2Checkpoint")

        return _edited(forms, "protocol", edit)


class ConstrainsAlmostNothing(Tampered):
    """A constraint on a decimal is kept with a limit that has nothing to do with it."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, AddConstraint):
            limit = Literal(DecimalType(10, 2), Decimal(9_999_900, 2))
            return replace(operation, check=Compare("<=", Column(("d",)), limit))
        return operation


class RecordsAnotherImage(Tampered):
    """The change data of an update tells another row."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if isinstance(operation, Update):
            (path,) = (Path(self._location) / "_change_data").rglob("*.parquet")
            table = pq.read_table(path)
            ids = pa.array([9] * len(table), table.schema.field("id").type)
            pq.write_table(table.set_column(table.schema.get_field_index("id"), "id", ids), path)
        return outcome


class DoesNothing(Tampered):
    """A delete does nothing."""

    def other(self, operation: Operation) -> Operation:
        return Delete(Literal(BOOLEAN, False)) if isinstance(operation, Delete) else operation


class RecordsAnotherDelete(Tampered):
    """The change data of a delete tells another row."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if isinstance(operation, Delete):
            (path,) = (Path(self._location) / "_change_data").rglob("*.parquet")
            table = pq.read_table(path)
            ids = pa.array([9] * len(table), table.schema.field("id").type)
            pq.write_table(table.set_column(table.schema.get_field_index("id"), "id", ids), path)
        return outcome


class ForgetsTheLastPart(Tampered):
    """A delete by several parts of a predicate heeds all but the last."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, Delete) and isinstance(operation.where, And):
            return Delete(And(operation.where.operands[:-1]))
        return operation


class DeletesMatchesAnyway(Tampered):
    """A merge deletes whatever matches, without a look at the conditions of its deletes."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, Merge):
            return replace(
                operation, clauses=tuple(replace(one, condition=None) for one in operation.clauses)
            )
        return operation


class RefusesFarYearsOtherwise(Tampered):
    """A table with a far year is refused for another reason."""

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        if isinstance(answer, Rejected):
            return Rejected(answer.kind, "OSError: the file is empty")
        return answer


class RemovesAnotherFileToo(Tampered):
    """A delete on a file whose path is spelt anew removes another file as well."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form] | None:
        if not isinstance(operation, Delete):
            return None
        removed = {form["remove"]["path"] for form in forms if "remove" in form}
        for path in sorted(self.log.glob("*[0-9].json"))[:-1]:
            for line in path.read_text().splitlines():
                add = json.loads(line).get("add")
                if add is not None and add["path"] not in removed and "plain" in add["path"]:
                    forms.append(
                        {"remove": {"path": add["path"], "dataChange": True, "deletionTimestamp": 1}}
                    )
        return forms


class ForgetsPropertiesToo(Tampered):
    """A new column makes the table lose its properties."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form] | None:
        if not isinstance(operation, AddColumn):
            return None
        return _edited(forms, "metaData", lambda metadata: metadata["configuration"].clear())


class MovesAllColumns(Tampered):
    """A write that adds columns puts them first."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        def edit(metadata: Form) -> None:
            schema = json.loads(metadata["schemaString"])
            if len(schema["fields"]) == 3:
                schema["fields"].reverse()
            metadata["schemaString"] = json.dumps(schema)

        return _edited(forms, "metaData", edit)


# Beside faults that deltalake had before 1.6: without these the installed one is right


class DeletesMatchesOfOne(Tampered):
    """A delete takes the row with the id 2 alone."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, Delete):
            return Delete(Compare("=", Column(("id",)), Literal(LONG, 2)))
        return operation


class UpdatesOneRow(Tampered):
    """An update of all rows updates the row with the id 1 alone."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, Update):
            return replace(operation, where=Compare("=", Column(("id",)), Literal(LONG, 1)))
        return operation


class UpdatesOneRowOfItsOwn(Tampered):
    """An update by a predicate updates the row with the id 1 alone, if the predicate picks it."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, Update) and operation.where is not None:
            first = Compare("=", Column(("id",)), Literal(LONG, 1))
            return replace(operation, where=And((operation.where, first)))
        return operation


class CountsADeletedRowLess(Tampered):
    """The metric of deleted rows is too small by one."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        def edit(info: Form) -> None:
            metrics = info.get("operationMetrics", {})
            for name in {"num_deleted_rows", "num_target_rows_deleted"} & metrics.keys():
                metrics[name] -= 1

        return _edited(forms, "commitInfo", edit)


class CountsACopiedRowMore(Tampered):
    """The metric of copied rows is too large by one."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        def edit(info: Form) -> None:
            metrics = info.get("operationMetrics", {})
            if "num_copied_rows" in metrics:
                metrics["num_copied_rows"] += 1

        return _edited(forms, "commitInfo", edit)


class MergesTheFirstMatch(Tampered):
    """Of several source rows that match, a merge takes the first."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, Merge):
            return replace(operation, source=Rows(operation.source.schema, operation.source.rows[:1]))
        return operation


class CutsItsCheckpoints(Tampered):
    """The last bytes of each checkpoint are missing."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        for path in self.log.glob("*.checkpoint.parquet"):
            path.write_bytes(path.read_bytes()[:-100])
        return outcome


class RefusesInOtherWords(Tampered):
    """A write is refused as it was, but for another number or another feature."""

    words = "parse decimal overflow (2.0); Unsupported reader features required: [ColumnMapping]"

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        made = list(self.log.glob("*[0-9].json"))
        refused = "enableDeletionVectors" in str(operation) or len(made) == 2
        return Rejected("overflow", self.words) if refused else outcome


class CountsOneNullMore(Tampered):
    """The nullCount of the column `c0` is one more than its lists and their items."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form]:
        return _edited(forms, "add", lambda add: _set_bound(add, "nullCount", "c0", 2))


class AnswersNoLists(Tampered):
    """Lists are answered as null, whatever the statistics say."""

    def answer(self, read: Read, table: pa.Table) -> pa.Table:
        if "c0" not in table.schema.names:
            return table
        return table.set_column(0, "c0", pa.nulls(len(table), table.schema.field("c0").type))


class LosesARow(Tampered):
    """A read loses its last row."""

    def answer(self, read: Read, table: pa.Table) -> pa.Table:
        return table.slice(0, max(0, len(table) - 1))


class RecordsAnotherMerge(Tampered):
    """The change data of a merge tell another row."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if isinstance(operation, Merge):
            (path,) = (Path(self._location) / "_change_data").rglob("*.parquet")
            table = pq.ParquetFile(path).read()
            ids = pa.array([9] * len(table), table.schema.field("id").type)
            pq.write_table(table.set_column(table.schema.get_field_index("id"), "id", ids), path)
        return outcome


class RefusesTheFilterOtherwise(Tampered):
    """A filter is refused as it was, but for another number."""

    def read(self, read: Query) -> Answer | Outcome:
        if isinstance(read, Read) and read.where is not None:
            return Rejected("unclassified", "Selectivity is out of limit: 7")
        return super().read(read)


class RefusesTheFilterByNoNumber(Tampered):
    """A filter is refused as deltalake 1.5 does that compares columns, whatever it compares."""

    def read(self, read: Query) -> Answer | Outcome:
        if isinstance(read, Read) and read.where is not None:
            return Rejected("unclassified", "Selectivity is out of limit: NaN.")
        return super().read(read)


class RefusesTheUpdateOtherwise(DeltaRs):
    """An update is refused in other words, and not made."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        if isinstance(operation, Update):
            return Rejected("unclassified", "arrow_cast should not be here")
        return super().execute(operation, tag)


class AnswersColumnsReversed(Tampered):
    """A filter answers the columns from the last to the first."""

    def answer(self, read: Read, table: pa.Table) -> pa.Table:
        return table if read.where is None else table.select(table.column_names[::-1])


class VacuumsLiveFilesToo(Tampered):
    """A vacuum deletes all data files, the live ones with the removed ones."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if isinstance(operation, Vacuum):
            for path in Path(self._location).glob("*.parquet"):
                path.unlink()
        return outcome


class VacuumsAllButLiveFiles(Tampered):
    """A vacuum deletes all files that are not live, as deltalake 1.0 does."""

    spared: tuple[str, ...] = ()

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if isinstance(operation, Vacuum):
            table = Path(self._location)
            live = {Path(unquote(uri.removeprefix("file://"))) for uri in DeltaTable(str(table)).file_uris()}
            for path in table.rglob("*.parquet"):
                if path not in live and path.relative_to(table).parts[0] not in self.spared:
                    path.unlink()
        return outcome


class VacuumsNoChangeData(VacuumsAllButLiveFiles):
    """A vacuum deletes all files that are not live, but for change data."""

    spared = ("_change_data",)


class AnswersAnotherDecimal(Tampered):
    """A filter answers 7 in place of each decimal."""

    def answer(self, read: Read, table: pa.Table) -> pa.Table:
        if read.where is None:
            return table
        field = table.schema.field(0)
        return table.set_column(0, field, pa.array([decimal.Decimal(7)] * len(table), field.type))


# Races and crashes


class _AddsTwice(Tampered):
    """Some operation adds its first file a second time, as a copy."""

    of: type[Operation] = Optimize

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form] | None:
        adds = [form["add"] for form in forms if "add" in form]
        if not isinstance(operation, self.of) or not adds:
            return None
        path = Path(self._location) / unquote(adds[0]["path"])
        shutil.copyfile(path, path.with_name(f"again-{path.name}"))
        again = {**adds[0], "path": str(Path(adds[0]["path"]).with_name(f"again-{path.name}"))}
        return [*forms, {"add": again}]


class OptimizeAddsTwice(_AddsTwice):
    """An optimize adds its file twice, so that rows are there thrice after a race."""


class MergeAddsTwice(_AddsTwice):
    """A merge adds its file twice."""

    of = Merge


class OverwriteAddsTwice(_AddsTwice):
    """An overwrite adds its file twice, beside what it misses in a race."""

    of = Overwrite


class AppendRefusedOtherwise(Tampered):
    """An append beside a rewrite is refused as one that conflicts with an append."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if isinstance(operation, Append) and isinstance(outcome, Rejected):
            return Rejected("conflict.append", outcome.message)
        return outcome


class CommitsAThirdTime(Tampered):
    """An append whose commit was reported as taken is made a third time."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if isinstance(operation, Append) and len(list(self.log.glob("*[0-9].json"))) == 5:
            DeltaRs.execute(self, operation, "again")
        return outcome


class EndsAVacuumTwice(Tampered):
    """A vacuum whose first commit was reported as taken commits its end twice too."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if isinstance(operation, Vacuum):
            end = max(self.log.glob("*[0-9].json"))
            shutil.copyfile(end, end.with_name(f"{int(end.stem) + 1:020}.json"))
        return outcome


class RefusedOtherwise(Tampered):
    """An overwrite whose commit was reported as taken is told to be refused for a file that is missing."""

    def outcome(self, operation: Operation, outcome: Outcome) -> Outcome:
        if isinstance(operation, Overwrite) and isinstance(outcome, Rejected):
            return Rejected("missing-file", outcome.message)
        return outcome


class AnswersALaterMoment(Tampered):
    """Each timestamp of an answer is later by a microsecond."""

    def answer(self, read: Read, table: pa.Table) -> pa.Table:
        return _later(table, "w")


class RefusesForAnotherMoment(Tampered):
    """A read that is refused for a moment names the nanoseconds of another one."""

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        if isinstance(answer, Rejected):
            return replace(answer, message=f"{answer.message.rpartition(': ')[0]}: -6795364578871344153")
        return answer


class WritesALaterMoment(Tampered):
    """Each timestamp of a file that replaces another is later by a microsecond."""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form] | None:
        if not any("remove" in form for form in forms):
            return None

        def later(add: Form) -> None:
            path = Path(self._location) / unquote(add["path"])
            pq.write_table(_later(pq.ParquetFile(path).read(), "w"), path)
            add["size"] = path.stat().st_size
            add.pop("stats", None)

        return _edited(forms, "add", later)


def _later(table: pa.Table, name: str) -> pa.Table:
    column = table[name]
    moments = [None if value is None else value + 1 for value in column.cast(pa.int64()).to_pylist()]
    later = pa.array(moments, pa.int64()).cast(column.type)
    return table.set_column(table.schema.get_field_index(name), name, later)
