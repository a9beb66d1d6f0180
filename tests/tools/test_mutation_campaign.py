"""What a mutant plays follows from the recorded lines, and a campaign goes on where it was ended."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.events.types import EngineLost, EngineReady, EngineUnavailable, FindingFound, HarnessFault
from conformance.histories import Chunk, History, Step
from delta_models.operations import Create, Read
from delta_models.schema import LONG, Field, Struct
from tools.mutation import campaign, lines
from tools.mutation.play import FAULT, GIVEN_UP, KILLED, SURVIVED, UNUSABLE, Played, needs_own_jvm
from tools.mutation.rows import append, read_rows
from tools.mutation.traced_engine import LineCounts

ENGINE = "pyspark@0.1.0+abc"
SOURCES = {"write.py": "aa", "read.py": "bb"}
STEPS = (Step(Create(Struct((Field("id", LONG),)))), Step(Read()))

SOURCE = '''\
"""Only code inside functions is counted."""

LIMIT = 3
def f(a):
    if a:
        return [b for b in a]
    a: int
    a = g(
        a)
    return a
'''


def chunk(number: int, part: str = "core", suite: str = "lockstep", seed: int | None = None) -> Chunk:
    history = History(suite, "gate", number, seed or number, STEPS)
    return Chunk(suite, "gate", number, seed or number, table=part, given=(history,), engines=("pyspark",))


def record_of(
    of: Chunk, held: dict[int, int], *, fit: bool = True, file: str = "write.py"
) -> lines.LineRecord:
    digest = lines.digest_of(of)
    return lines.LineRecord(digest, of.name, of.table, fit, SURVIVED, 1.0, 9, SOURCES, {file: held})


def by_digest(*records: lines.LineRecord) -> dict[str, lines.LineRecord]:
    return {record.chunk: record for record in records}


def reach(chunks, records, changed=None, sources=SOURCES, **more):
    found = lines.chunks_that_reach(changed or {"write.py": {4}}, chunks, records, sources, **more)
    return [each.number for each in found]


class TestLines:
    CHUNKS = tuple(chunk(number) for number in range(3))

    def test_a_mutant_plays_the_chunks_that_reach_its_line_most_often_first(self):
        records = by_digest(*map(record_of, self.CHUNKS, ({4: 1, 5: 9}, {5: 2}, {4: 6})))
        assert reach(self.CHUNKS, records) == [2, 0]

    def test_parts_take_turns_since_chunks_of_one_part_resemble_each_other(self):
        chunks = (chunk(0), chunk(1), chunk(2), chunk(3, "sql"))
        records = by_digest(*map(record_of, chunks, ({4: 9}, {4: 8}, {4: 7}, {4: 1})))
        assert reach(chunks, records) == [0, 3, 1, 2]

    def test_a_line_that_runs_at_import_is_reached_by_every_chunk(self):
        records = by_digest(*(record_of(each, {4: 1}) for each in self.CHUNKS))
        assert reach(self.CHUNKS, records, {"write.py": {1}}, at_import=True) == [0, 1, 2]

    def test_a_line_that_no_chunk_reaches_is_played_by_none(self):
        assert reach(self.CHUNKS, by_digest(record_of(self.CHUNKS[0], {4: 1})), {"write.py": {9}}) == []

    def test_a_file_that_changed_since_the_record_is_taken_for_reached(self):
        records = by_digest(record_of(self.CHUNKS[0], {5: 1}))
        assert reach(self.CHUNKS, records) == []
        assert reach(self.CHUNKS, records, sources=SOURCES | {"write.py": "cc"}) == [0]

    def test_no_mutant_plays_a_chunk_that_has_no_record_or_that_the_unchanged_engine_fails(self):
        records = by_digest(record_of(self.CHUNKS[0], {4: 1}), record_of(self.CHUNKS[1], {4: 9}, fit=False))
        assert reach(self.CHUNKS, records) == [0]

    def test_a_chunk_is_known_by_what_is_played_whatever_its_number_is(self):
        renumbered = replace(self.CHUNKS[1], number=7)
        assert lines.digest_of(renumbered) == lines.digest_of(self.CHUNKS[1])
        longer = replace(self.CHUNKS[1], given=(replace(self.CHUNKS[1].given[0], steps=STEPS[:1]),))
        assert lines.digest_of(longer) != lines.digest_of(self.CHUNKS[1])
        assert lines.digest_of(chunk(1, seed=5)) != lines.digest_of(self.CHUNKS[1])

    def test_a_record_is_read_as_it_was_written_and_the_newest_counts(self, tmp_path):
        path = tmp_path / "lines.jsonl"
        lines.write_record(path, record_of(self.CHUNKS[0], {4: 1}, fit=False))
        lines.write_record(path, record_of(self.CHUNKS[0], {4: 2, 5: 1}))
        assert lines.read_records(path) == by_digest(record_of(self.CHUNKS[0], {4: 2, 5: 1}))

    def test_what_is_recorded_again_is_what_an_engine_failed_that_has_changed_since(self):
        records = by_digest(record_of(self.CHUNKS[0], {4: 1}), record_of(self.CHUNKS[1], {4: 1}, fit=False))
        assert lines.without_record(self.CHUNKS, records, SOURCES) == [self.CHUNKS[2]]
        mended = SOURCES | {"read.py": "cc"}
        assert lines.without_record(self.CHUNKS, records, mended) == [self.CHUNKS[1], self.CHUNKS[2]]

    def test_what_is_missed_is_what_no_record_of_this_source_executes(self, tmp_path):
        for file in ("write.py", "read.py"):
            (tmp_path / file).write_text(SOURCE, "utf-8")
        sources = lines.digests_of(tmp_path) | {"read.py": "another"}
        records = [
            replace(record_of(self.CHUNKS[0], {5: 3}), sources=sources),
            replace(record_of(self.CHUNKS[1], {6: 1}), sources=sources),
            replace(record_of(self.CHUNKS[2], {6: 1}, file="read.py"), sources=sources),
        ]
        assert lines.lines_executed(tmp_path, records) == {
            "read.py": {"lines": 5, "missed": [5, 6, 8, 9, 10]}, "write.py": {"lines": 5, "missed": [8, 9, 10]},
        }  # fmt: skip

    def test_lines_are_told_in_ranges(self):
        assert lines.ranges([3, 7, 8, 9, 12]) == "3, 7-9, 12"
        assert lines.ranges([]) == ""


def test_the_lines_that_a_package_executes_are_counted_in_a_file_that_another_process_reads(tmp_path):
    package = tmp_path / "pyspark_delta"
    package.mkdir()
    (package / "twice.py").write_text("def f(a):\n    if a:\n        return 1\n    return 2\n", "utf-8")
    reader = LineCounts.make(tmp_path / "counts", package)
    names: dict[str, Any] = {}
    exec(compile((package / "twice.py").read_text(), str(package / "twice.py"), "exec"), names)
    traced = LineCounts(tmp_path / "counts")
    before = sys.gettrace()
    sys.settrace(traced.follow_calls)
    try:
        names["f"](0)
        names["f"](0)
    finally:
        sys.settrace(before)
    assert reader.take() == {"twice.py": {2: 2, 4: 2}}
    assert reader.take() == {}


class TestRows:
    def test_a_row_that_was_cut_is_passed_over_and_spoils_no_later_one(self, tmp_path):
        path = tmp_path / "rows.jsonl"
        append(path, {"mutant": "a"})
        with path.open("a") as rows:
            rows.write('{"mutant": "b", "sta')
        append(path, {"mutant": "c"})
        assert read_rows(path) == [{"mutant": "a"}, {"mutant": "c"}]

    def test_the_last_row_of_a_mutant_counts(self):
        rows = [
            {"mutant": "a", "state": "open"},
            {"mutant": "b", "state": "killed"},
            {"mutant": "a", "state": "killed"},
        ]
        assert {name: row["state"] for name, row in campaign.newest(rows).items()} == {
            "a": "killed",
            "b": "killed",
        }


class TestSettled:
    CHUNKS = tuple(chunk(number) for number in range(3))
    DIGESTS = tuple(lines.digest_of(chunk(number)) for number in range(3))

    def test_a_survivor_is_settled_once_it_has_played_all_that_reach_it(self):
        row = {"state": "survived", "played": self.DIGESTS[:2], "decided_in": ""}
        assert campaign.is_settled(row, self.CHUNKS, self.CHUNKS[:2])
        assert not campaign.is_settled(row, self.CHUNKS, self.CHUNKS)
        assert not campaign.is_settled(row, self.CHUNKS, self.CHUNKS[:2], lacking=1)

    def test_what_is_open_is_never_settled(self):
        row = {"state": "open", "played": self.DIGESTS, "decided_in": ""}
        assert not campaign.is_settled(row, self.CHUNKS, self.CHUNKS)

    @pytest.mark.parametrize("state", ("killed", "given-up", "fault"))
    def test_what_a_chunk_decided_is_settled_as_long_as_the_gate_has_that_chunk(self, state):
        row = {"state": state, "played": (), "decided_in": self.DIGESTS[2]}
        assert campaign.is_settled(row, self.CHUNKS, self.CHUNKS)
        assert not campaign.is_settled(row, self.CHUNKS[:2], self.CHUNKS[:2])

    def test_an_engine_that_does_not_start_is_played_once(self):
        assert campaign.is_settled(
            {"state": "unusable", "played": (), "decided_in": ""}, self.CHUNKS, self.CHUNKS
        )

    def test_a_gate_is_known_by_its_chunks(self):
        assert campaign.gate_digest(self.CHUNKS) == campaign.gate_digest(self.CHUNKS[::-1])
        assert campaign.gate_digest(self.CHUNKS) != campaign.gate_digest(self.CHUNKS[:2])


def test_a_check_says_of_which_mutants_another_thing_became():
    before = [
        {"mutant": name, "state": state}
        for name, state in (("a", "killed"), ("b", "survived"), ("c", "killed"))
    ]
    after = [*before, {"mutant": "a", "state": "open"}, {"mutant": "b", "state": "open"}]
    assert campaign.contradicted(before, after) == ["a was killed, and is open"]
    assert campaign.contradicted(before, [*before[:2]]) == ["c was killed, and is not played"]
    assert campaign.contradicted(before, before) == []


class TestVerdict:
    READY = EngineReady(ENGINE, "", "", ("delta-spark",), 1.0, "pyspark@/x")

    def found(self, **more):
        values: dict[str, Any] = {
            "fingerprint": "f", "requirement": "contents.x", "strength": "must", "engine": ENGINE, "role": "writer",
            "suite": "lockstep", "detail": "rows", "steps": 2, "state": "unexplained",
        }  # fmt: skip
        return FindingFound(**(values | more))

    def after(self, *events):
        played = Played()
        for event in events:
            played.take(event)
        return played

    def test_a_build_that_nothing_blames_has_survived(self):
        assert self.after(self.READY).state == SURVIVED

    def test_the_first_rule_that_blames_it_kills_it(self):
        played = self.after(self.READY, self.found(), self.found(requirement="contents.y"))
        assert (played.state, played.requirement, played.detail) == (KILLED, "contents.x", "rows")

    def test_a_difference_kills_only_an_engine_that_promises_to_have_none(self):
        reference = self.found(strength="reference")
        assert self.after(self.READY, reference).state == KILLED
        assert self.after(replace(self.READY, compatible_with=()), reference).state == SURVIVED

    @pytest.mark.parametrize(
        "more", ({"engine": "reference@1"}, {"promised": False}, {"candidates": ("a-cause",)})
    )
    def test_nothing_that_a_run_would_not_end_with_1_for_kills_it(self, more):
        assert self.after(self.READY, self.found(**more)).state == SURVIVED

    def test_a_build_that_never_starts_is_unusable_and_one_that_dies_later_is_given_up(self):
        assert self.after(EngineUnavailable("pyspark@/x", "no", "")).state == UNUSABLE
        assert self.after(self.READY, EngineUnavailable(ENGINE, "dead", "")).state == GIVEN_UP
        assert self.after(self.READY, EngineUnavailable("reference", "dead", "")).state == FAULT

    def test_a_failure_of_the_harness_kills_nothing(self):
        played = self.after(self.READY, HarnessFault("it failed"), self.found())
        assert (played.state, played.detail) == (FAULT, "it failed")

    def test_a_host_that_was_lost_leaves_a_context_behind(self):
        assert self.after(self.READY, EngineLost(ENGINE, "died")).lost
        assert not self.after(self.READY, self.found()).lost


def test_what_is_behind_the_turnstile_needs_a_jvm_there():
    suites = {
        suite: needs_own_jvm(chunk(1, suite, suite)) for suite in ("lockstep", "shared", "crashes", "races")
    }
    assert suites == {"lockstep": False, "shared": False, "crashes": True, "races": True}


def test_rows_are_lines_of_json(tmp_path):
    append(tmp_path / "deep" / "rows.jsonl", {"mutant": "a"})
    assert json.loads(Path(tmp_path / "deep" / "rows.jsonl").read_text()) == {"mutant": "a"}
