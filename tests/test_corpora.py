"""`tests/corpora.py`: an archive is unpacked once, completely or not at all."""

from __future__ import annotations

import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import corpora


def an_archive(folder: Path, text: str = "rows") -> Path:
    member = folder / "table%20one.json"
    member.write_text(text)
    archive = folder / "tables.tar.gz"
    with tarfile.open(archive, "w:gz") as opened:
        opened.add(member, arcname=f"tables/{member.name}")
    return archive


def test_an_archive_is_unpacked_once(tmp_path: Path) -> None:
    archive = an_archive(tmp_path)
    first = corpora.unpacked(archive, tmp_path / "cache")
    inode = first.stat().st_ino
    assert (first / "tables" / "table%20one.json").read_text() == "rows"
    assert corpora.unpacked(archive, tmp_path / "cache").stat().st_ino == inode


def test_another_content_is_unpacked_beside_the_old_one(tmp_path: Path) -> None:
    first = corpora.unpacked(an_archive(tmp_path), tmp_path / "cache")
    second = corpora.unpacked(an_archive(tmp_path, "other rows"), tmp_path / "cache")
    assert first != second
    assert (second / "tables" / "table%20one.json").read_text() == "other rows"


def test_several_at_once_get_the_same_whole_folder_and_leave_no_scratch(tmp_path: Path) -> None:
    archive = an_archive(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        folders = set(pool.map(lambda _: corpora.unpacked(archive, tmp_path / "cache"), range(8)))
    assert list((tmp_path / "cache").iterdir()) == list(folders)


def test_a_damaged_archive_leaves_nothing_behind(tmp_path: Path) -> None:
    archive = an_archive(tmp_path)
    archive.write_bytes(archive.read_bytes()[:40])
    with pytest.raises((EOFError, tarfile.ReadError)):
        corpora.unpacked(archive, tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


def test_an_absent_corpus_skips_the_test_and_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELTA_CONFORMANCE_CORPORA", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match=rf"corpora: no {tmp_path}/dat-v0\.0\.3\.tar\.gz"):
        corpora.corpus("dat")


@pytest.mark.parametrize("name", corpora.ARCHIVES)
def test_each_corpus_has_cases_in_its_folder(name: str) -> None:
    assert any(case.is_dir() for case in corpora.corpus(name).iterdir())
