"""Used tables are restored and used again, unless their files changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.execution.table_pool import TablePool
from tests.execution.test_table_copies import a_table


def listing(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return all files of a table, with contents and times."""
    return {
        str(path.relative_to(folder)): (
            path.read_bytes() if path.is_file() else b"",
            path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
    }


def write_race_files(table: Path) -> None:
    """Write what a race leaves: commits, data files in old and new folders."""
    (table / "_delta_log" / "1.json").write_text("{}\n")
    (table / "part=1").mkdir()
    (table / "part=1" / "new.parquet").write_bytes(b"new")
    (table / "empty" / "more.parquet").write_bytes(b"more")


def test_new_files_are_removed_and_the_table_is_restored_elsewhere(tmp_path: Path):
    table, table_pool = a_table(tmp_path / "table"), TablePool()
    table_pool.acquire(table, tmp_path / "1" / "table")
    kept = (tmp_path / "1" / "table" / "large.parquet").stat().st_ino
    write_race_files(tmp_path / "1" / "table")
    table_pool.release(table, tmp_path / "1" / "table")
    table_pool.acquire(table, tmp_path / "2" / "table")
    assert not (tmp_path / "1" / "table").exists()
    assert listing(tmp_path / "2" / "table") == listing(table)
    assert (tmp_path / "2" / "table" / "large.parquet").stat().st_ino == kept
    assert (tmp_path / "2" / "table").stat().st_mtime_ns == table.stat().st_mtime_ns


def rewritten(table: Path) -> None:
    """Rewrite a file in place, with the same length and time."""
    file = table / "large.parquet"
    times = file.stat()
    with file.open("r+b") as stream:
        stream.write(b"another")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def replaced(table: Path) -> None:
    """Replace a file by one with equal contents, length, time and rights."""
    shutil.copy2(table / "large.parquet", table / "same")
    (table / "same").rename(table / "large.parquet")


def removed(table: Path) -> None:
    (table / "_delta_log" / "0.json").unlink()


def folder_removed(table: Path) -> None:
    (table / "empty").rmdir()


def gone(table: Path) -> None:
    shutil.rmtree(table)


@pytest.mark.parametrize("spoil", (rewritten, replaced, removed, folder_removed, gone))
def test_a_table_with_changed_files_is_not_used_again(tmp_path: Path, spoil: Callable[[Path], None]):
    table, table_pool = a_table(tmp_path / "table"), TablePool()
    table_pool.acquire(table, tmp_path / "1" / "table")
    spoil(tmp_path / "1" / "table")
    table_pool.release(table, tmp_path / "1" / "table")
    table_pool.acquire(table, tmp_path / "2" / "table")
    assert listing(tmp_path / "2" / "table") == listing(table)
    assert not (tmp_path / "1" / "table").exists()


def test_each_table_has_its_own_pool(tmp_path: Path):
    one, other, table_pool = a_table(tmp_path / "one"), a_table(tmp_path / "other"), TablePool()
    (other / "more").touch()
    table_pool.acquire(one, tmp_path / "1" / "table")
    table_pool.release(one, tmp_path / "1" / "table")
    table_pool.acquire(other, tmp_path / "2" / "table")
    assert (tmp_path / "1" / "table").exists()
    assert listing(tmp_path / "2" / "table") == listing(other)
