"""`events.jsonl` is written line by line, and each defect has its own exception."""

from __future__ import annotations

import json
import resource
import signal

import pytest

from conformance.events.types import Note, RunEnded, is_transient
from conformance.reporting.event_log import (
    CannotRecord,
    DamagedLine,
    EventLog,
    ForeignFile,
    NewerFormat,
    NoFooter,
    NoHeader,
    NoRecording,
    RecordingError,
    TornLastLine,
    read,
)
from tests.reporting.samples import HEADER, ONE_OF_EACH, record

END = RunEnded("holds", 0, 1.0)


def test_a_recording_comes_back_whole_from_its_folder_and_from_its_file(tmp_path):
    kept = tuple(event for event in ONE_OF_EACH if not is_transient(event))
    folder = record(tmp_path / "run", *ONE_OF_EACH)
    for place in (folder, folder / "events.jsonl"):
        recording = read(place)
        assert recording.events == kept
        assert recording.header == HEADER
        assert recording.complete


def test_every_line_stands_in_the_file_before_the_next_event(tmp_path):
    log = EventLog(tmp_path / "events.jsonl")
    for number in range(3):
        log(Note(str(number)))
        assert len((tmp_path / "events.jsonl").read_text().splitlines()) == number + 1
    log.close()


def test_each_line_says_when_it_happened(tmp_path):
    folder = record(tmp_path / "run", HEADER, END)
    times = [json.loads(line)["at"] for line in (folder / "events.jsonl").read_text().splitlines()]
    assert times == sorted(times)
    assert all(moment >= 0 for moment in times)


def test_a_run_that_was_killed_is_incomplete_and_usable(tmp_path):
    recording = read(record(tmp_path / "run", HEADER, Note("x")))
    assert [type(problem) for problem in recording.problems] == [NoFooter]
    assert recording.events[-1] == Note("x")


def test_a_torn_last_line_is_named_and_the_rest_is_usable(tmp_path):
    folder = record(tmp_path / "run", HEADER, Note("x"), END)
    file = folder / "events.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    recording = read(folder)
    assert [type(problem) for problem in recording.problems] == [TornLastLine, NoFooter]
    assert "line 3, the last, is torn" in str(recording.problems[0])
    assert recording.events == (HEADER, Note("x"))


def test_a_last_line_that_lacks_only_its_newline_is_whole(tmp_path):
    folder = record(tmp_path / "run", HEADER, END)
    file = folder / "events.jsonl"
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    assert read(folder).complete


@pytest.mark.parametrize(
    ("content", "error", "message"),
    (
        (None, NoRecording, "no recording of a run there"),
        (b"", NoHeader, "the header is missing"),
        (b'{"event":"RunStarted","form', NoHeader, "the header is missing"),
        (b'{"event":"Note","message":"x"}\n', NoHeader, "the header is missing"),
        (b"\x89PNG\x00\xff\xfe", ForeignFile, "not even text"),
        (b"a,b,c\n1,2,3\n", ForeignFile, "its first line is no JSON"),
        (b"[1, 2]\n", ForeignFile, "its first line is no event"),
        (b'{"rows": 3}\n', ForeignFile, "its first line is no event"),
        (b'{"event":"Deployed"}\n', ForeignFile, "begins with 'Deployed'"),
        (b'{"event":"RunStarted","format":2,"harness":"9.0"}\n', NewerFormat, "format 2 by delta-conformance 9.0"),
        (b'{"event":"RunStarted","format":1}\n', DamagedLine, "line 1: RunStarted without 'harness'"),
    ),
    ids=("absent", "empty", "cut", "headless", "binary", "table", "list", "object", "other", "newer", "damaged"),
)  # fmt: skip
def test_each_defect_has_its_own_exception(tmp_path, content, error, message):
    if content is not None:
        (tmp_path / "events.jsonl").write_bytes(content)
    with pytest.raises(error, match=message) as caught:
        read(tmp_path)
    assert isinstance(caught.value, RecordingError)
    assert str(tmp_path) in str(caught.value)


def test_a_damaged_line_in_the_middle_is_named_by_its_number(tmp_path):
    folder = record(tmp_path / "run", HEADER, Note("x"), END)
    file = folder / "events.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], "{not json", *lines[1:]]) + "\n")
    with pytest.raises(DamagedLine, match="line 2: not a line of JSON"):
        read(folder)


def test_events_of_a_newer_harness_are_counted_and_passed_over(tmp_path):
    folder = record(tmp_path / "run", HEADER, END)
    file = folder / "events.jsonl"
    first, last = file.read_text().splitlines()
    file.write_text(f'{first}\n{{"event":"Sunset","colour":"red"}}\n{last}' + "\n")
    recording = read(folder)
    assert recording.passed_over == 1
    assert recording.complete


def test_a_second_run_never_writes_into_the_file_of_the_first(tmp_path):
    record(tmp_path / "run", HEADER, END)
    with pytest.raises(CannotRecord, match=r"can't write .*events\.jsonl: File exists"):
        EventLog(tmp_path / "run" / "events.jsonl")


def test_a_full_disk_is_reported_once_and_what_was_written_stays(tmp_path):
    """A limit on the size of files stands in for the disk: the kernel refuses the write in the same way."""
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log(HEADER)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, before[1]))
        with pytest.raises(CannotRecord, match=r"can't write .*events\.jsonl: File too large.*--out"):
            log(Note("x" * 10_000))
        log(Note("not written, and not told again"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    recording = read(path)
    assert recording.events == (HEADER,)
    assert not recording.complete
