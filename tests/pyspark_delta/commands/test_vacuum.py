"""Vacuum lists unneeded files in many folders, level by level, and files of killed writers. Needs no JVM."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark_delta import parallel
from pyspark_delta.commands.vacuum import DAY_MS, find_unneeded_files
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta import logs

NOW = 100 * DAY_MS
WEEK = NOW - 7 * DAY_MS


def put(path: Path, days_old: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    moment = (NOW - days_old * DAY_MS) / 1000
    for place in (path, path.parent):
        os.utime(place, (moment, moment))
    return path


def unneeded_files(table: Path, cutoff: int = WEEK) -> tuple[set[str], list[str]]:
    DeltaLog.forget(table)
    log = DeltaLog.for_path(table)
    unneeded = find_unneeded_files(None, log, log.update(), cutoff, NOW)
    assert unneeded.size == len(unneeded.files)
    return (
        {os.path.relpath(file, table) for file in unneeded.files},
        [os.path.relpath(folder, table) for folder in unneeded.folders],
    )


def test_unneeded_files_are_listed_in_hundreds_of_folders_and_what_is_needed_stays(tmp_path):
    names = [f"p={outer}/q={inner}" for outer in range(30) for inner in range(10)]
    assert len(names) > parallel.THREADS_FROM
    live = [logs.add(f"{name}/live") for name in names[::2]]
    logs.commit(tmp_path, 0, logs.PROTOCOL, logs.metadata(), *live)
    for name in names[::2]:
        put(tmp_path / name / "live", 50)
    for name in names:
        put(tmp_path / name / "dead", 50)
        put(tmp_path / name / ".dead.crc", 50)
    put(tmp_path / names[1] / "young", 1)
    files, folders = unneeded_files(tmp_path)
    assert files == {f"{name}/dead" for name in names}
    assert set(folders) == set(names[3::2])


def test_inner_folders_go_before_those_around_them(tmp_path):
    logs.plain_table(tmp_path)
    put(tmp_path / "a" / "b" / "c" / "dead", 50)
    for folder in (tmp_path / "a" / "b", tmp_path / "a"):
        os.utime(folder, (0, 0))
    assert unneeded_files(tmp_path) == ({"a/b/c/dead"}, ["a/b/c", "a/b", "a"])


def test_hidden_folders_are_left_alone_but_those_of_partitions_and_change_data(tmp_path):
    logs.plain_table(tmp_path)
    for name in ("_hidden/x", ".hidden/x", "_delta_log/x", "_delta_index/x", "p/_hidden/x", "_temporary_/x"):
        put(tmp_path / name, 50)
    put(tmp_path / "_p=1" / "x", 50)
    put(tmp_path / "_change_data" / "x", 50)
    assert unneeded_files(tmp_path)[0] == {"_p=1/x", "_change_data/x"}


def test_links_stay(tmp_path):
    logs.plain_table(tmp_path / "table")
    put(tmp_path / "elsewhere" / "x", 50)
    (tmp_path / "table" / "linked").symlink_to(tmp_path / "elsewhere")
    os.utime(tmp_path / "table" / "linked", (0, 0), follow_symlinks=False)
    assert unneeded_files(tmp_path / "table") == (set(), [])


def test_an_unfinished_write_goes_whole_when_nothing_of_it_is_young(tmp_path):
    logs.plain_table(tmp_path)
    killed, at_work = f"_temporary_{'a' * 32}", f"_temporary_{'b' * 32}"
    for name in ("_temporary/0/task/p=1/x.parquet", "_temporary/0/task/p=1/.x.parquet.crc", "_SUCCESS"):
        put(tmp_path / killed / name, 8)
        put(tmp_path / at_work / name, 8)
    for folder, _, _ in os.walk(tmp_path / killed):
        os.utime(folder, (0, 0))
    for folder, _, _ in os.walk(tmp_path / at_work):
        os.utime(folder, (0, 0))
    put(tmp_path / at_work / "_temporary" / "0" / "task" / "p=2" / "y.parquet", 0.1)
    files, folders = unneeded_files(tmp_path)
    assert len(files) == 3
    assert all(file.startswith(killed) for file in files)
    assert folders[-1] == killed
    assert len(folders) == 5


def test_an_unfinished_write_stays_for_a_day_whatever_the_retention(tmp_path):
    logs.plain_table(tmp_path)
    young = put(tmp_path / f"_temporary_{'a' * 32}" / "x.parquet", 0.5)
    staged = put(tmp_path / "_delta_log" / f".{9:020d}.json.{'c' * 32}.tmp", 0.5)
    assert unneeded_files(tmp_path, NOW) == (set(), [])
    put(young, 1.5)
    put(staged, 1.5)
    assert unneeded_files(tmp_path, NOW)[0] == {str(path.relative_to(tmp_path)) for path in (young, staged)}
