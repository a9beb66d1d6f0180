"""A second fault beside a known cause is new at the end of a run too, however alike their sightings are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from conformance.events.types import FindingFound, FindingTriaged
from conformance.findings import Finding, load_finding
from conformance.findings.candidates import triggers_of
from conformance.findings.fingerprint import sighting_id
from conformance.findings.recorder import keep_finding
from conformance.runner.triage_queue import TriageQueue
from conformance.triage.replayer import Replayer, Setup
from conformance.triage.steps import Triage
from delta_adapters.deviations import Cause, Prediction
from delta_adapters.reference import Reference
from delta_models.operations import Append, Create, Overwrite
from delta_models.schema import DOUBLE, LONG, struct
from delta_models.table import Table
from delta_models.values import Rows
from tests.triage.in_process import NAME, find, finding_of, history_of, replayer_of

SCHEMA = struct(("id", LONG), ("v", DOUBLE))
NAN = float("nan")
WITH_NAN = Rows(SCHEMA, ((1, 1.0), (2, NAN), (3, 2.0)))
KNOWN = history_of(Create(SCHEMA), Append(WITH_NAN))
SECOND = history_of(Create(SCHEMA), Append(Rows(SCHEMA, ((1, 1.0),))), Append(WITH_NAN, files=2))
CAUSE = Cause(
    "a-cause", "reference", "An append with NaN loses a row.", "It skips a value.", "not reported", "contents.append",
    (Prediction(("contents.append",)),), KNOWN.to_json(), trigger="nan",
)  # fmt: skip


class LosesRowsByTwoFaults(Reference):
    """An append loses its last row: by one fault if it holds NaN, by another if the table has rows already."""

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, Append) and self.is_wrong(operation, before):
            after = after.with_rows(after.rows[:-1])
        return super().draft(operation, snapshot, before, after)

    def is_wrong(self, operation: Append, before: Table) -> bool:
        return bool(before.rows) or any(v != v for _, v in operation.rows.rows)


class LosesARowOnceRead(LosesRowsByTwoFaults):
    """An append loses its last row if it holds NaN, or if the table was read before."""

    was_read = False

    def open(self, location: str) -> None:
        super().open(location)
        self.was_read = False

    def read(self, query):
        self.was_read = True
        return super().read(query)

    def is_wrong(self, operation: Append, before: Table) -> bool:
        return self.was_read


class CountsReads(LosesRowsByTwoFaults):
    """Counts what it is asked to read."""

    reads: ClassVar[int] = 0

    def read(self, query):
        CountsReads.reads += 1
        return super().read(query)


class SpellsPathsRaw(Reference):
    """Paths of files with NaN hold a raw character, and so do those of the second file of an append."""

    def draft(self, operation, snapshot, before, after):
        draft = super().draft(operation, snapshot, before, after)
        if isinstance(operation, Append | Overwrite):
            nan = any(v != v for _, v in operation.rows.rows)
            for number, form in enumerate(draft.adds):
                if nan or number:
                    self.respell(form["add"])
        return draft

    def respell(self, add) -> None:
        raw = f"{add['path']}-\u00e9.parquet"
        (self.folder / add["path"]).rename(self.folder / raw)
        add["path"] = raw


class Live:
    def is_live(self, cause: Cause, _spec: str) -> bool:
        return cause.id == CAUSE.id


def sighting_of(folder: Path, finding: Finding) -> FindingFound:
    """Keep a finding as the recorder of a run on a JVM does, and return its event."""
    name = sighting_id(finding.key, finding.engine, (CAUSE.id,))
    kept = replace(
        finding, fingerprint=name, sighting=name, state="unexplained", candidates=(CAUSE.id,),
        requirements=(finding.key.requirement,),
    )  # fmt: skip
    keep_finding(folder / "sightings", kept)
    return FindingFound(
        name, finding.key.requirement, "must", NAME, "writer", "lockstep", finding.detail,
        len(finding.history.steps), finding.step, f"sightings/{name}", state="unexplained",
        candidates=(CAUSE.id,), dear=True,
    )  # fmt: skip


def triaged_in_turn(
    folder: Path, replayer: Replayer, found: Sequence[FindingFound]
) -> dict[str, FindingTriaged]:
    """Triage sightings in the order in which the queue of a run hands them out; return what was said of each last."""
    queue = TriageQueue(1, budget=None, allowance=60)
    triage = Triage(folder, replayer, (CAUSE,), Live())  # type: ignore[arg-type]
    for sighting in found:
        queue.take(sighting)
    said: dict[str, FindingTriaged] = {}
    while (job := queue.next_job(0, heavy=True, has_chunk=False, plays_on=True)) is not None:
        if job.doing == "explain":
            event = triage.explain(job.sighting)
        else:
            event = triage.shrink(job.sighting, time.monotonic() + 60, lambda _: None)
        queue.take(event)
        queue.ended(0)
        said[job.sighting] = event
    return said


def test_a_second_fault_alike_in_engine_requirement_and_candidates_is_new(tmp_path: Path):
    with replayer_of(LosesRowsByTwoFaults) as replayer:
        known = sighting_of(tmp_path, find(replayer, KNOWN, "contents.append"))
        alike = sighting_of(tmp_path, find(replayer, SECOND, "contents.append"))
        said = triaged_in_turn(tmp_path, replayer, [known, alike])
    assert (said[known.fingerprint].state, said[known.fingerprint].cause) == ("known", CAUSE.id)
    new = said[alike.fingerprint]
    assert (new.state, new.cause) == ("new", None), new.why
    minimal = load_finding(tmp_path / new.folder).minimal
    assert minimal is not None
    assert [type(step.operation) for step in minimal.steps] == [Create, Append, Append]
    assert "nan" not in triggers_of(minimal)


def test_a_fault_that_shows_only_after_reads_is_not_explained_by_a_play_without_them(tmp_path: Path):
    with replayer_of(LosesARowOnceRead) as replayer:
        found = sighting_of(tmp_path, find(replayer, KNOWN, "contents.append"))
        said = triaged_in_turn(tmp_path, replayer, [found])
    assert (said[found.fingerprint].state, said[found.fingerprint].cause) == ("new", None)


def test_what_needs_no_reads_is_explained_without_any(tmp_path: Path):
    with replayer_of(CountsReads) as replayer:
        found = sighting_of(tmp_path, find(replayer, KNOWN, "contents.append"))
        CountsReads.reads = 0
        event = Triage(tmp_path, replayer, (CAUSE,), Live()).explain(found.fingerprint)  # type: ignore[arg-type]
    assert (event.cause, CountsReads.reads) == (CAUSE.id, 0)


def test_one_play_answers_for_all_sightings_of_a_history_and_hides_none_of_them(tmp_path: Path):
    requirement = "log.path-is-uri"
    cause = replace(CAUSE, requirement=requirement, predictions=(Prediction((requirement,)),))
    steps = (Create(SCHEMA), Append(WITH_NAN), Overwrite(WITH_NAN), Append(WITH_NAN, files=2))
    with replayer_of(SpellsPathsRaw) as replayer:
        played = replayer.play(history_of(*steps), Setup("lockstep", (NAME,)))
        found: dict[int, str] = {}
        for result, violation in played.violations("reference"):
            step = result.observation.step
            if violation.requirement == requirement:
                finding = finding_of(history_of(*steps[: step + 1]), result, violation, (NAME,))
                found[step] = sighting_of(tmp_path, finding).fingerprint
        triage = Triage(tmp_path, replayer, (cause,), Live())  # type: ignore[arg-type]
        plays = replayer.plays
        second = triage.explain(found[3])
        assert replayer.plays - plays == 2
        known = [triage.explain(found[step]) for step in (1, 2)]
        assert replayer.plays - plays == 2
    assert (second.state, second.reproduced, second.cause) == ("unexplained", True, None)
    assert [(event.state, event.cause) for event in known] == [("known", CAUSE.id)] * 2
