"""Mutants that are honest when they write alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from delta_adapters.contract import Answer, Query
from delta_adapters.reference import Reference, actions
from delta_adapters.reference.log_writer import VersionTaken
from delta_models.log import Snapshot
from delta_models.log.file_names import commit_name
from delta_models.operations import AtVersion, Operation, Read, Update
from delta_models.outcomes import Committed, Outcome, Rejected
from tests.mutants.by_path import MutantByPath


class Honest(Reference):
    """Does an operation whose version was taken again, on the table as it is then."""

    attempts = 5


class ChecksThenRenames(Honest):
    """Looks whether the version is free, and then renames onto it."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        log = self.folder / "_delta_log"
        log.mkdir(parents=True, exist_ok=True)
        staged = log / f".{id(self)}-{version}.tmp"
        staged.write_text("".join(json.dumps(form) + "\n" for form in forms), "utf-8")
        if (log / commit_name(version)).exists():
            staged.unlink()
            raise VersionTaken(str(version))
        staged.rename(log / commit_name(version))


class ChecksNoConflict(Honest):
    """Commits what it has prepared as the next version, whatever came between."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        for attempt in range(version, version + self.attempts):
            try:
                return super().publish(attempt, forms)
            except VersionTaken:
                continue
        return None


class ConflictsOnEverything(Honest):
    """Refuses whatever meets another commit."""

    attempts = 1


class OverwritesWhatCameBetween(Honest):
    """Puts the table that it has computed in place of the one that it finds."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        try:
            super().publish(version, forms)
        except VersionTaken:
            self.reader.forget()
            newest = self.reader.snapshot()
            was = self.reader.snapshot(version - 1)
            taken = [form["remove"]["path"] for form in forms if "remove" in form]
            new = [add for key, add in newest.live.items() if key not in was.live]
            undone = [actions.remove(add, data_change=True) for add in new]
            back = [
                actions.add_again(add, data_change=True)
                for key, add in was.live.items()
                if key not in newest.live and add.path not in taken
            ]
            live = {add.path for add in newest.live.values()}
            mine = [form for form in forms if "remove" not in form or form["remove"]["path"] in live]
            super().publish(newest.version + 1, [*mine, *undone, *back])


class RefusesAndCommits(Honest):
    """Commits after a conflict, and reports the conflict."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        self.attempts = 1
        first = super().execute(operation, tag)
        if isinstance(first, Rejected) and first.kind == "conflict.other":
            self.attempts = Honest.attempts
            super().execute(operation, tag)
        return first


class VacuumsWhatItDoesNotKnow(Honest):
    """Deletes every file of the folder that its snapshot does not name, however young."""

    def unreferenced(self, snapshot: Snapshot, hours: float) -> list[Path]:
        return super().unreferenced(snapshot, 0.0)


class ReadsTheFolder(Honest):
    """Answers with all data files that lie in the folder, committed or not."""

    def read(self, read: Query) -> Answer | Outcome:
        answer = super().read(read)
        if not isinstance(read, Read) or not isinstance(answer, Answer):
            return answer
        import pyarrow.parquet as pq  # noqa: PLC0415 - for this mutant only

        named = "".join(path.read_text("utf-8") for path in (self.folder / "_delta_log").glob("*.json"))
        more = [path for path in self.folder.rglob("*.parquet") if path.name not in named]
        ids = [value for path in more for value in pq.read_table(path).column("id").to_pylist()]
        extra = pa.table({"id": ids, "part": [identity % 4 for identity in ids]}, schema=answer.table.schema)
        return Answer(pa.concat_tables([answer.table, extra]), answer.version)


class KnowsItsOwnCommit(Honest):
    """Honest too: reads what it has committed itself without another look at the log."""

    def __init__(self) -> None:
        super().__init__()
        self.known: Answer | Outcome | None = None

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(operation, tag)
        self.known = super().read(Read()) if isinstance(outcome, Committed) else None
        return outcome

    def read(self, read: Query) -> Answer | Outcome:
        known, self.known = self.known, None
        return known if known is not None and read == Read() else super().read(read)


class KnowsMoreThanItsOwnCommit(KnowsItsOwnCommit):
    """Reads its own rows twice as long as it has not looked at the log again."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(operation, tag)
        if isinstance(self.known, Answer):
            twice = pa.concat_tables([self.known.table, self.known.table])
            self.known = Answer(twice, self.known.version)
        return outcome


class ReadsAnOldVersion(ChecksNoConflict):
    """Checks no conflict, and answers a read in a race from the version before the newest."""

    def execute(self, operation: Operation, tag: str) -> Outcome:
        outcome = super().execute(operation, tag)
        self.late = isinstance(operation, Update)
        return outcome

    def read(self, read: Query) -> Answer | Outcome:
        if read == Read() and getattr(self, "late", False):
            self.late = False
            newest = self.reader.latest_version() or 0
            return super().read(Read(AtVersion(newest - 1)))
        return super().read(read)


class MisstatesSizes(Honest):
    """Adds a byte to the size of each new file: no fault of races, but it shows which engine the checks blame."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        for add in (form["add"] for form in forms if "add" in form):
            add["size"] += 1
        super().publish(version, forms)


MUTANTS: dict[str, type[Reference]] = {
    mutant.__name__: mutant
    for mutant in (
        Honest, ChecksThenRenames, ChecksNoConflict, ConflictsOnEverything, OverwritesWhatCameBetween,
        RefusesAndCommits, VacuumsWhatItDoesNotKnow, ReadsTheFolder, KnowsItsOwnCommit, KnowsMoreThanItsOwnCommit,
        ReadsAnOldVersion,
    )
}  # fmt: skip
# The requirement at which the checks catch each mutant, and in which of the committed pairs.
CAUGHT_AT: tuple[tuple[str, str, int], ...] = (
    ("ChecksThenRenames", "race.all-acknowledged", 0),
    ("ChecksNoConflict", "race.no-doubled-rows", 7),
    ("ChecksNoConflict", "race.no-write-skew", 2),
    ("ChecksNoConflict", "race.no-resurrected-rows", 5),
    ("ChecksNoConflict", "race.serializable", 8),
    ("OverwritesWhatCameBetween", "race.no-lost-update", 0),
    ("RefusesAndCommits", "race.told-truly", 0),
    ("VacuumsWhatItDoesNotKnow", "race.vacuum-spares-new-files", 4),
    ("ReadsTheFolder", "race.no-dirty-read", 3),
    ("ConflictsOnEverything", "race.conflicts-as-documented", 0),
    ("ConflictsOnEverything", "race.appends-read-nothing", 8),
)


class AnyRaceMutant(MutantByPath):
    """The adapter of all mutants of this module, chosen by the table's path."""

    mutants = MUTANTS


class PromisesNothing(AnyRaceMutant):
    """The same, but it guarantees nothing about several processes on local files."""

    @property
    def capabilities(self) -> Mapping[str, Any]:
        promised = {"commits-of-several-processes-on-local-files": False}
        return {**super().capabilities, "guarantees": promised}


class Careless(AnyRaceMutant):
    """The mutant that misstates sizes, whatever the path of its table."""

    def open(self, location: str) -> None:
        self.engine = MisstatesSizes()
        self.engine.open(location)
