"""The shim reports each call of a plain C program, however its path is written, and none elsewhere."""

import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from conformance.fault_injection.file_roles import ROLES, role_of

NEW = "_delta_log/00000000000000000007.json"
OLD = "old"


def calls_of(record):
    return [(event.event.call.kind, event.event.role, event.event.call.path) for event in record.happened]


@pytest.mark.parametrize(
    "call", ("open", "open_excl", "open64", "creat", "openat", "fopen", "fopen_a", "freopen", "sys_openat")
)
def test_each_way_to_create_a_file_is_reported(instrumented_process, table, run, call):
    instrumented_process.begin(listings=False)
    run(instrumented_process, call, table / NEW)
    record = instrumented_process.end()
    assert calls_of(record) == [("open", "commit", NEW)]
    assert record.happened[0].errno == 0
    assert (table / NEW).exists()


@pytest.mark.parametrize(
    "call", ("rename", "renameat", "renameat2", "link", "linkat", "symlink", "sys_renameat2", "sys_linkat")
)
def test_each_way_to_publish_a_file_is_reported(instrumented_process, table, run, call):
    (table / OLD).touch()
    instrumented_process.begin(listings=False)
    run(instrumented_process, call, table / OLD, table / NEW)
    record = instrumented_process.end()
    assert calls_of(record) == [("rename" if "rename" in call else "link", "commit", NEW)]
    if call != "symlink":
        assert record.happened[0].event.call.source == OLD
    assert (table / NEW).exists()


@pytest.mark.parametrize("call", ("unlink", "unlinkat", "remove", "sys_unlinkat", "rmdir"))
def test_each_way_to_remove_is_reported(instrumented_process, table, run, call):
    (table / OLD).mkdir() if call == "rmdir" else (table / OLD).touch()
    instrumented_process.begin(listings=False)
    run(instrumented_process, call, table / OLD)
    assert calls_of(instrumented_process.end()) == [("remove", "clean-up", OLD)]
    assert not (table / OLD).exists()


@pytest.mark.parametrize("call", ("mkdir", "mkdirat", "sys_mkdirat"))
def test_a_new_folder_is_an_event_and_one_that_exists_is_none(instrumented_process, table, run, call):
    instrumented_process.begin(listings=False)
    assert run(instrumented_process, call, table / "x=1", call, table / "x=1") == [
        f"{call} 0 0",
        f"{call} -1 17",
    ]
    assert calls_of(instrumented_process.end()) == [("mkdir", "folder", "x=1")]


def test_listing_the_log_and_cutting_a_file_are_seen_and_reading_only_if_asked_for(
    instrumented_process, table, run
):
    (table / NEW).write_text("{}")
    words = ("opendir", table / "_delta_log", "opendir", table, "read", table / NEW, "truncate", table / NEW)
    instrumented_process.begin()
    run(instrumented_process, *words)
    assert [call[:2] for call in calls_of(instrumented_process.end())] == [
        ("list", "look"),
        ("truncate", "commit"),
    ]
    instrumented_process.begin(listings=False)
    run(instrumented_process, *words)
    assert [call[0] for call in calls_of(instrumented_process.end())] == ["truncate"]
    instrumented_process.begin(reads=True)
    run(instrumented_process, *words)
    assert [call[0] for call in calls_of(instrumented_process.end())] == ["list", "look", "truncate"]


def test_a_file_that_leaves_the_table_goes_and_one_that_enters_appears(
    instrumented_process, table, tmp_path, run
):
    (table / OLD).touch()
    instrumented_process.begin()
    run(
        instrumented_process, "rename", table / OLD, tmp_path / "out", "rename", tmp_path / "out", table / NEW
    )
    assert calls_of(instrumented_process.end()) == [("remove", "clean-up", OLD), ("rename", "commit", NEW)]


@pytest.mark.parametrize(
    "written", ("{table}/../table/{new}", "{link}/{new}", "{table}//{new}", "{table}/./{new}")
)
def test_a_path_is_resolved_however_it_is_written(instrumented_process, table, tmp_path, run, written):
    link = tmp_path / "link"
    link.symlink_to(table)
    instrumented_process.begin()
    run(instrumented_process, "open", written.format(table=table, link=link, new=NEW))
    assert calls_of(instrumented_process.end()) == [("open", "commit", NEW)]


def test_relative_paths_links_to_files_and_tables_addressed_through_a_link_are_resolved(
    instrumented_process, table, tmp_path, run
):
    (tmp_path / "alias").symlink_to(table / NEW)
    (tmp_path / "link").symlink_to(table)
    instrumented_process.watch(tmp_path / "link")
    instrumented_process.begin()
    run(
        instrumented_process,
        "chdir",
        table / "_delta_log",
        "open",
        Path(NEW).name,
        "open",
        tmp_path / "alias",
        "unlink",
        tmp_path / "alias",
    )
    assert calls_of(instrumented_process.end()) == [("open", "commit", NEW)] * 2


def test_what_is_elsewhere_has_no_effect_or_happens_while_idle_is_no_event(
    instrumented_process, table, tmp_path, run
):
    beside = tmp_path / "table-beside"
    beside.mkdir()
    run(instrumented_process, "open", table / OLD)
    instrumented_process.begin()
    run(
        instrumented_process,
        "open",
        beside / "x",
        "unlink",
        table / "nothing",
        "open",
        table / "nowhere" / "x",
        "rename",
        table / "no",
        table / "y",
    )
    assert calls_of(instrumented_process.end()) == []
    run(instrumented_process, "unlink", table / OLD)
    assert not (table / OLD).exists()
    assert calls_of(instrumented_process.end()) == [], "nothing is remembered of what was not asked about"


def test_a_table_may_be_watched_before_it_exists(instrumented_process, tmp_path, run):
    instrumented_process.watch(tmp_path / "later")
    instrumented_process.begin()
    run(
        instrumented_process,
        "mkdir",
        tmp_path / "later",
        "mkdir",
        tmp_path / "later/_delta_log",
        "open",
        tmp_path / "later" / NEW,
    )
    assert [call[1] for call in calls_of(instrumented_process.end())] == ["folder", "folder", "commit"]


def test_children_and_programs_that_replace_a_process_are_the_same_actor(
    instrumented_process, table, probe, run
):
    instrumented_process.begin()
    run(instrumented_process, "fork", "open", table / "a", "exec", probe, "open", table / "b")
    assert [call[2] for call in calls_of(instrumented_process.end())] == ["a", "b"]
    assert instrumented_process.processes == 3


def test_a_python_child_and_its_shell_are_reported(instrumented_process, table, start):
    program = (
        f"import os, subprocess; open('{table}/a', 'w').write('x'); os.replace('{table}/a', '{table}/b');"
    )
    program += f"subprocess.run('cp {table}/b {table}/c; rm {table}/b', shell=True)"
    instrumented_process.begin()
    start(instrumented_process, "-c", program, program=Path(sys.executable)).communicate(timeout=60)
    assert [call[0] for call in calls_of(instrumented_process.end())] == ["open", "rename", "open", "remove"]


def test_threads_are_asked_side_by_side_and_every_one_of_their_files_is_counted(
    instrumented_process, table, run
):
    instrumented_process.begin()
    run(instrumented_process, "threads", table)
    record = instrumented_process.end()
    assert sorted(event.event.ordinal for event in record.happened) == list(range(160))
    assert {event.errno for event in record.happened} == {0}
    assert len(list(table.glob("*.parquet"))) == 160


def test_the_clock_moves_and_the_monotonic_one_does_not(instrumented_process, run):
    still = time.monotonic()
    for days in (400, -3):
        instrumented_process.advance(timedelta(days=days))
    *real, monotonic = map(int, run(instrumented_process, "date", "")[0].split())
    wanted = time.time() + 397 * 86_400
    assert all(abs(seconds - wanted) < 30 for seconds in real)
    assert abs(monotonic - still) < 30
    program = "import time, datetime; print(int(time.time())); print(datetime.datetime.now().year)"
    dated = subprocess.run(
        [sys.executable, "-c", program],
        env=instrumented_process.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert abs(int(dated.stdout.split()[0]) - wanted) < 30


@pytest.mark.parametrize(
    ("path", "role"),
    (
        ("_delta_log/00000000000000000001.json", "commit"),
        ("_delta_log/00000000000000000001.json#1", "staging"),
        ("_delta_log/.00000000000000000001.json.5f0b.tmp", "staging"),
        ("_delta_log/.tmp-77", "staging"),
        ("_delta_log/_staged_commits/00000000000000000001.5f0b.json", "staging"),
        ("_delta_log/..00000000000000000001.json.5f0b.tmp.crc", "side"),
        ("_delta_log/00000000000000000001.crc", "checksum"),
        ("_delta_log/.00000000000000000001.crc.5f0b.tmp", "checksum-staging"),
        ("_delta_log/00000000000000000001.checkpoint.parquet", "checkpoint"),
        ("_delta_log/00000000000000000001.checkpoint.0000000001.0000000002.parquet", "checkpoint"),
        ("_delta_log/00000000000000000001.checkpoint.80a083e8-7026.json", "checkpoint"),
        ("_delta_log/00000000000000000001.checkpoint.parquet#1", "checkpoint-staging"),
        ("_delta_log/.00000000000000000001.checkpoint.parquet.5f0b.tmp", "checkpoint-staging"),
        ("_delta_log/_sidecars/3a0d65cd.parquet", "checkpoint"),
        ("_delta_log/00000000000000000001.00000000000000000003.compacted.json", "compaction"),
        ("_delta_log/_last_checkpoint", "hint"),
        ("_delta_log/_last_checkpoint#2", "hint-staging"),
        ("_delta_log/_last_vacuum_info", "other"),
        ("x=1/part-00000-5f0b-c000.snappy.parquet", "data"),
        ("part-00000-5f0b-c000.snappy.parquet#1", "data-staging"),
        (".part-00000-5f0b-c000.snappy.parquet.crc", "side"),
        ("ab/deletion_vector_6a53.bin", "deletion-vector"),
        ("_change_data/cdc-00000-5f0b.parquet", "change"),
        ("_change_data/x=1/cdc-00000-5f0b.parquet#1", "change-staging"),
        ("notes.txt", "other"),
    ),
)  # fmt: skip
def test_a_file_has_a_role_by_its_name(path, role):
    assert role_of(path) == role
    assert role in ROLES
