"""Mutants that are honest until their storage fails."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from delta_adapters.reference import Reference, actions
from delta_adapters.reference.log_writer import publish_commit
from delta_models.log import Snapshot, paths
from delta_models.log.file_names import commit_name
from delta_models.operations import Append, Operation, Overwrite, ReadStream
from delta_models.outcomes import Committed, Outcome, Rejected
from delta_models.values import Row, Rows
from tests.mutants.by_path import MutantByPath


class Honest(Reference):
    """The honest twin."""


class CommitsBeforeTheData(Reference):
    """Writes the commit before the data that it names."""

    def __init__(self) -> None:
        super().__init__()
        self.later: list[tuple[Path, Path]] = []

    def write(self, *arguments: Any, **options: Any) -> list[actions.Form]:
        forms = super().write(*arguments, **options)
        for form in forms:
            path = paths.resolve(self.folder, form["add"]["path"])
            aside = self.folder / "_delta_log" / f"_aside-{path.name}"
            path.rename(aside)
            self.later.append((aside, path))
        return forms

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        super().publish(version, forms)
        for aside, path in self.later:
            aside.rename(path)
        self.later = []


class CommitsInTwoHalves(Reference):
    """Overwrites in two commits: first the old rows go, then the new ones come."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        if isinstance(operation, Overwrite):
            super().execute(Overwrite(type(operation.rows)(operation.rows.schema, ())), tag)
        return super().execute(operation, tag)


class RetriesWithoutLooking(Reference):
    """Takes a commit whose reply was lost for not made, and commits again."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        try:
            super().publish(version, forms)
        except OSError:
            super().publish(version + 1, forms)


class RecordsChangesAgain(Reference):
    """Writes the change files of a commit into it once more where its reply was lost."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        try:
            super().publish(version, forms)
        except OSError:
            again = "".join(json.dumps(form) + "\n" for form in forms if "cdc" in form)
            with (self.folder / "_delta_log" / commit_name(version)).open("a", encoding="utf-8") as commit:
                commit.write(again)
            raise


class SaysItWasRefused(Reference):
    """Reports every failure of the storage as a refusal, even where the commit is there."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(operation, tag)
        return outcome if isinstance(outcome, Committed) else Rejected("io", str(outcome))


class RollsBackTheNewest(Reference):
    """Undoes a failed operation by deleting the newest commit, whoever made it."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(operation, tag)
        newest = self.reader.latest_version()
        if not isinstance(outcome, Committed) and newest:
            (self.folder / "_delta_log" / commit_name(newest)).unlink()
        return outcome


class StandsInItsOwnWay(Reference):
    """Stages every commit under one name, and finds it taken by what a crash left."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        log = self.folder / "_delta_log"
        log.mkdir(parents=True, exist_ok=True)
        os.close(os.open(log / ".commit.tmp", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        publish_commit(log, version, forms)
        (log / ".commit.tmp").unlink()


class DeletesLeftOversAtOnce(Reference):
    """Vacuums without regard to the retention."""

    def unreferenced(self, snapshot: Snapshot, hours: float) -> list[Path]:
        return super().unreferenced(snapshot, 0.0)


class VacuumsByTheLogAlone(Reference):
    """Vacuums only files that the log once named, in full too."""

    def unreferenced(self, snapshot: Snapshot, hours: float) -> list[Path]:
        named = {
            paths.resolve(self.folder, tombstone.path).absolute()
            for tombstone in snapshot.tombstones.values()
        }
        return [path for path in super().unreferenced(snapshot, hours) if path.absolute() in named]


class PoursWithoutANumber(Reference):
    """A stream appends its batches as if they were anybody's."""

    def write_batch(self, stream: str, number: int, rows: Rows, tag: str) -> Outcome:
        self.reader.forget()
        return self.perform(Append(rows), self.current(), tag)


class NotesABatchDoneFirst(Reference):
    """A stream notes that a batch is done before it is in the table."""

    @staticmethod
    def write_note(folder: Path, number: int, names: Sequence[str]) -> None:
        Reference.write_note(folder, number, names)
        if folder.name == "offsets":
            Reference.write_note(folder.with_name("commits"), number, ())


class FollowsTheFolder(Reference):
    """A reader that follows the table gets the files that come to lie in it."""

    def rows_since(self, tail: ReadStream, snapshot: Snapshot, position: int) -> Iterator[Row]:
        import pyarrow.parquet as pq  # noqa: PLC0415 - for this mutant only

        yield from super().rows_since(tail, snapshot, position)
        named = "".join(path.read_text("utf-8") for path in (self.folder / "_delta_log").glob("*.json"))
        for path in self.folder.rglob("*.parquet"):
            if path.name not in named:
                for number in pq.read_table(path).column("id").to_pylist():
                    yield number, number % 4, "insert"


MUTANTS: dict[str, type[Reference]] = {
    mutant.__name__: mutant
    for mutant in (
        Honest, CommitsBeforeTheData, CommitsInTwoHalves, RetriesWithoutLooking, SaysItWasRefused, RollsBackTheNewest,
        StandsInItsOwnWay, DeletesLeftOversAtOnce, VacuumsByTheLogAlone, PoursWithoutANumber, NotesABatchDoneFirst,
        FollowsTheFolder, RecordsChangesAgain,
    )
}  # fmt: skip
# The requirement at which the checks catch each mutant.
CAUGHT_AT = {
    "CommitsBeforeTheData": "crash.data-before-commit",
    "CommitsInTwoHalves": "crash.all-or-nothing",
    "RetriesWithoutLooking": "crash.once",
    "SaysItWasRefused": "crash.told-truly",
    "RollsBackTheNewest": "crash.keeps-committed",
    "StandsInItsOwnWay": "crash.next-writer",
    "DeletesLeftOversAtOnce": "crash.left-overs-kept",
    "VacuumsByTheLogAlone": "crash.left-overs-removed",
    "PoursWithoutANumber": "stream.written-once",
    "NotesABatchDoneFirst": "stream.all-written",
    "FollowsTheFolder": "stream.only-committed",
}


class AnyCrashMutant(MutantByPath):
    """The adapter of all mutants of this module, chosen by the table's path."""

    mutants = MUTANTS
