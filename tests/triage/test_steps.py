"""The four steps turn a sighting into a finding: known, new, unstable or unexplained."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.events.types import FindingTriaged
from conformance.findings import Finding, load_finding
from conformance.findings.fingerprint import sighting_id
from conformance.findings.recorder import keep_finding
from conformance.histories import History
from conformance.triage.canonical import cause_fingerprint
from conformance.triage.head_start import head_start, places
from conformance.triage.replayer import Playthrough, Replayer
from conformance.triage.steps import Triage
from delta_adapters.deviations import Cause, Prediction
from delta_adapters.reference import Reference
from delta_models.operations import Append, Create, Operation, Optimize, Overwrite, Reopen
from delta_models.schema import LONG, struct
from delta_models.values import Rows
from tests.mutants.contents import DropsARow
from tests.triage.in_process import find, history_of, replayer_of

SCHEMA = struct(("id", LONG), ("price", LONG))
ROWS = Rows(SCHEMA, ((1, 10), (2, 20), (3, 30)))
LONG_HISTORY = history_of(
    Create(SCHEMA), Append(ROWS, files=2), Reopen(), Optimize(), Overwrite(ROWS), Reopen(), Append(ROWS)
)
OTHER_HISTORY = history_of(
    Create(SCHEMA, properties=(("delta.appendOnly", "false"),)), Overwrite(ROWS), Optimize(), Append(ROWS)
)


class Live:
    """Says that these causes are live."""

    def __init__(self, *causes: str) -> None:
        self.causes = causes

    def is_live(self, cause: Cause, _spec: str) -> bool:
        return cause.id in self.causes


def cause(name: str, requirement: str = "contents.append", **changes: object) -> Cause:
    made = Cause(
        name, "reference", "An append loses a row.", "It counts from one.", "not reported", requirement,
        (Prediction((requirement,)),), history_of(Create(SCHEMA), Append(ROWS)).to_json(),
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def replayer() -> Iterator[Replayer]:
    with replayer_of(DropsARow) as replayer:
        yield replayer


def kept(folder: Path, finding: Finding, *candidates: str) -> Finding:
    """Keep a sighting as a run does."""
    sighting = sighting_id(finding.key, finding.engine, candidates)
    made = replace(
        finding, fingerprint=sighting, sighting=sighting, state="unexplained", candidates=candidates,
        requirements=(finding.key.requirement,),
    )  # fmt: skip
    keep_finding(folder / "sightings", made)
    return made


def seen(folder: Path, replayer: Replayer, *candidates: str, history: History = LONG_HISTORY) -> Finding:
    return kept(folder, find(replayer, history, "contents.append"), *candidates)


def triage(
    folder: Path, replayer: Replayer, *causes: Cause, live: tuple[str, ...] = (), known: str = ""
) -> Triage:
    return Triage(folder, replayer, causes, Live(*live), frozenset({known}))  # type: ignore[arg-type]


def shrunk(made: Triage, sighting: Finding, seconds: float = 60) -> FindingTriaged:
    return made.shrink(sighting.sighting, time.monotonic() + seconds, lambda _: None)


def test_a_live_cause_that_predicts_a_sighting_explains_it(tmp_path, replayer):
    sighting = seen(tmp_path, replayer, "a-cause")
    event = triage(tmp_path, replayer, cause("a-cause"), live=("a-cause",)).explain(sighting.sighting)
    assert (event.state, event.cause, event.summary) == ("known", "a-cause", "An append loses a row.")
    assert event.fingerprint == cause_fingerprint("reference", "a-cause")
    finding = load_finding(tmp_path / event.folder)
    assert (finding.known, finding.cause, finding.sighting) == (True, "a-cause", sighting.sighting)


def test_the_script_and_the_issue_of_a_cause_of_the_users_own_are_those_of_any_other(tmp_path, replayer):
    sighting = seen(tmp_path, replayer, "a-cause")
    own = cause("a-cause", engine="delta-rs")
    sighting = kept(
        tmp_path, replace(sighting, engine="delta-rs@1.6.6", sighting="", fingerprint=""), "a-cause"
    )
    event = triage(tmp_path, replayer, own, live=("a-cause",))._by_cause(sighting, own, "")
    folder = tmp_path / event.folder
    script, issue = (folder / "script_delta_rs.py").read_text(), (folder / "issue.md").read_text()
    assert "Seen: An append loses a row." in script
    assert script.count("write_deltalake(path") == 1, "the minimal history of the cause has one append"
    assert issue.startswith("# deltalake 1.6.6: An append loses a row.")


def test_a_cause_that_is_not_live_explains_nothing(tmp_path, replayer):
    sighting = seen(tmp_path, replayer, "a-cause")
    event = triage(tmp_path, replayer, cause("a-cause")).explain(sighting.sighting)
    assert (event.state, event.reproduced, event.cause) == ("unexplained", True, None)
    assert "a-cause is not live" in event.why
    assert event.folder == f"sightings/{sighting.sighting}"


def test_what_shows_no_more_is_unstable(tmp_path, replayer):
    sighting = seen(tmp_path, replayer)
    with replayer_of(Reference) as honest:
        event = triage(tmp_path, honest).explain(sighting.sighting)
    assert (event.state, event.reproduced) == ("unstable", False)
    assert load_finding(tmp_path / event.folder).state == "unstable"


class NeverFollows:
    """A replayer whose engines do not keep to the schedule of a race."""

    def __init__(self) -> None:
        self.plays = 0

    def play(self, history: History, *_: object, **__: object) -> Playthrough:
        self.plays += 1
        return Playthrough((), len(history.steps), ("writer B waits at no gate",))


def test_a_race_whose_schedule_cannot_be_followed_any_more_is_unstable(tmp_path, replayer):
    racing = replace(
        find(replayer, LONG_HISTORY, "contents.append"), history=replace(LONG_HISTORY, suite="races")
    )
    sighting = kept(tmp_path, racing)
    never = NeverFollows()
    event = triage(tmp_path, never).explain(sighting.sighting)  # type: ignore[arg-type]
    assert (event.state, event.reproduced, never.plays) == ("unstable", False, 3)
    assert "3 of the schedules could not be followed: writer B waits at no gate" in event.why


def test_a_sighting_becomes_a_minimal_finding_with_both_histories(tmp_path, replayer):
    sighting = seen(tmp_path, replayer)
    made = triage(tmp_path, replayer)
    assert made.explain(sighting.sighting).why == "no cause predicts it"
    event = shrunk(made, sighting)
    assert (event.state, event.minimal_steps, event.shrunk) == ("new", 2, True)
    finding = load_finding(tmp_path / event.folder)
    assert finding.minimal is not None
    assert len(finding.minimal.steps) == 2
    assert finding.history == sighting.history


def test_two_sightings_of_one_fault_get_one_fingerprint(tmp_path, replayer):
    made = triage(tmp_path, replayer)
    events = [
        shrunk(made, seen(tmp_path, replayer, history=history)) for history in (LONG_HISTORY, OTHER_HISTORY)
    ]
    assert events[0].sighting != events[1].sighting
    assert events[0].fingerprint == events[1].fingerprint
    assert len(list((tmp_path / "findings").iterdir())) == 1


def test_a_finding_of_the_baseline_is_known(tmp_path, replayer):
    sighting = seen(tmp_path, replayer)
    first = shrunk(triage(tmp_path / "first", replayer), seen(tmp_path / "first", replayer))
    event = shrunk(triage(tmp_path, replayer, known=first.fingerprint), sighting)
    assert (event.state, event.cause, event.why) == ("known", None, "in the baseline")


def test_without_time_it_stays_unexplained_and_goes_on_later(tmp_path, replayer):
    sighting = seen(tmp_path, replayer)
    made = triage(tmp_path, replayer)
    event = shrunk(made, sighting, seconds=0)
    assert (event.state, event.shrunk, event.folder) == (
        "unexplained",
        False,
        f"sightings/{sighting.sighting}",
    )
    assert load_finding(tmp_path / event.folder).minimal is not None
    assert shrunk(made, sighting).state == "new"


def test_a_cause_explains_the_minimal_history_that_the_longer_one_hid(tmp_path, replayer):
    sighting = seen(tmp_path, replayer)
    event = shrunk(triage(tmp_path, replayer, cause("a-cause"), live=("a-cause",)), sighting)
    assert (event.state, event.cause) == ("known", "a-cause")


def test_a_run_without_that_engine_leaves_it_unexplained_and_says_why(tmp_path, replayer):
    finding = find(replayer, LONG_HISTORY, "contents.append")
    sighting = kept(tmp_path, replace(finding, engine="gone@1.0", versions={"gone@1.0": "gone"}))
    event = triage(tmp_path, replayer).explain(sighting.sighting)
    assert (event.state, event.reproduced) == ("unexplained", None)
    assert "there is no gone" in event.why


class TestHeadStart:
    def test_the_latest_steps_of_a_shape_end_with_the_failing_one(self):
        assert places(("Create", "Append"), LONG_HISTORY.steps) == {0, 6}
        assert places(("Create", "Append", "Append"), LONG_HISTORY.steps) == {0, 1, 6}
        assert places(("Create", "Optimize"), LONG_HISTORY.steps) is None
        assert places(("Delete", "Append"), LONG_HISTORY.steps) is None

    def test_a_sighting_like_a_finding_starts_with_few_steps(self, tmp_path, replayer):
        shrunk(triage(tmp_path, replayer), seen(tmp_path, replayer))
        other = seen(tmp_path, replayer, history=history_of(*operations(OTHER_HISTORY)))
        start = head_start(other, tmp_path / "findings", replayer)
        assert [type(step.operation) for step in start.history.steps] == [Create, Append]
        assert start.fingerprint == other.fingerprint

    def test_steps_that_do_not_fail_are_no_start(self, tmp_path, replayer):
        shrunk(triage(tmp_path, replayer), seen(tmp_path, replayer))
        with replayer_of(DropsARowAfterAnOverwrite) as needs_more:
            other = seen(tmp_path, needs_more, history=OTHER_HISTORY)
            assert head_start(other, tmp_path / "findings", needs_more) == other


def operations(history: History) -> tuple[Operation, ...]:
    return tuple(step.operation for step in history.steps)


class DropsARowAfterAnOverwrite(DropsARow):
    """An append loses its last row, once the table was overwritten."""

    overwritten = False

    def open(self, location: str) -> None:
        super().open(location)
        self.overwritten = False

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, Append) and not self.overwritten:
            return Reference.draft(self, operation, snapshot, before, after)
        self.overwritten = self.overwritten or isinstance(operation, Overwrite)
        return super().draft(operation, snapshot, before, after)
