"""Copies of a table: the same files with the same times, independent, one made while the previous is in use."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from conformance.execution.table_copies import copies, copy_folder

WHEN = 1_600_000_000_123_456_789


def a_table(folder: Path) -> Path:
    (folder / "_delta_log").mkdir(parents=True)
    (folder / "_delta_log" / "0.json").write_text("{}\n")
    (folder / "empty").mkdir()
    (folder / "large.parquet").write_bytes(bytes(range(256)) * 20_000)
    (folder / "link").symlink_to("large.parquet")
    os.utime(folder / "large.parquet", ns=(WHEN, WHEN))
    (folder / "large.parquet").chmod(0o640)
    return folder


def test_a_copy_has_all_files_with_their_times_and_rights(tmp_path: Path):
    table = a_table(tmp_path / "table")
    copy_folder(table, tmp_path / "some" / "where")
    copy = tmp_path / "some" / "where"
    assert sorted(path.relative_to(copy) for path in copy.rglob("*")) == sorted(
        path.relative_to(table) for path in table.rglob("*")
    )
    assert (copy / "large.parquet").read_bytes() == (table / "large.parquet").read_bytes()
    assert (copy / "large.parquet").stat().st_mtime_ns == WHEN
    assert (copy / "large.parquet").stat().st_mode == (table / "large.parquet").stat().st_mode
    assert (copy / "link").readlink() == Path("large.parquet")


def test_writing_in_place_changes_one_copy_only(tmp_path: Path):
    table = a_table(tmp_path / "table")
    copy_folder(table, tmp_path / "copy")
    with (tmp_path / "copy" / "large.parquet").open("r+b") as file:
        file.write(b"another")
    assert (table / "large.parquet").read_bytes()[:4] == bytes(range(4))


@dataclass
class Standing:
    folder: Path

    def copy(self, folder: Path) -> Self:
        copy_folder(self.folder, folder)
        return type(self)(folder)


def test_every_copy_exists_when_needed_and_all_are_removed_at_the_end(tmp_path: Path):
    folders = []
    for copy in copies(Standing(a_table(tmp_path / "table")), tmp_path / "points", 4):
        assert (copy.folder / "large.parquet").exists()
        folders.append(copy.folder)
    assert len(set(folders)) == 4
    assert not any(folder.exists() for folder in folders)
