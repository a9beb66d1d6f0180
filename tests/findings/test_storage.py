"""A finding's folder is written whole or not at all, and read back; each defect has its own exception."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.findings import (
    BrokenPart,
    Collision,
    Finding,
    MissingPart,
    NotAFinding,
    NotWritten,
    OtherFormat,
    WrongFingerprint,
    keep_finding,
    load_finding,
    storage,
    write_finding,
)
from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.log import LogReader
from tests.findings.samples import finding, history
from tests.mutants import stories


@pytest.fixture
def kept(tmp_path):
    return keep_finding(tmp_path / "findings", finding())


def as_json(saved: Finding) -> tuple[Any, Any]:
    """Return a finding as JSON, because a NaN in its history is not equal to itself."""
    return saved.to_json(), saved.history.to_json()


class TestKeeping:
    def test_what_is_kept_is_loaded_again(self, kept):
        assert as_json(load_finding(kept)) == as_json(finding())

    def test_the_read_with_the_wrong_answer_is_kept(self, tmp_path):
        wrong_read = finding(look=ops.Read(where=stories.SMALL, columns=("id",)))
        assert load_finding(keep_finding(tmp_path, wrong_read)).look == wrong_read.look

    def test_the_folder_has_all_that_a_person_needs(self, kept):
        names = {path.name for path in kept.iterdir()}
        assert names == {
            "README.md",
            "finding.json",
            "history.json",
            "script_delta_rs.py",
            "issue.md",
        }
        text = (kept / "README.md").read_text()
        assert "conformance replay" in text
        assert "An append adds exactly its rows" in text
        assert "  1. Append 3 rows" in text

    def test_nothing_else_is_left_behind(self, tmp_path):
        root = tmp_path / "findings"
        keep_finding(root, finding())
        keep_finding(root, finding())
        assert [path.name for path in root.iterdir()] == [finding().fingerprint]

    def test_a_shorter_history_takes_the_place_of_a_longer_one(self, kept):
        shorter = finding(history=history(*stories.PLAIN))
        keep_finding(kept.parent, shorter)
        assert load_finding(kept) == shorter
        keep_finding(kept.parent, finding())
        assert load_finding(kept) == shorter

    def test_two_findings_of_one_fingerprint_are_a_collision(self, kept):
        form = json.loads((kept / "finding.json").read_text())
        other = finding("contents.delete")
        other_folder = kept.with_name(other.fingerprint)
        kept.rename(other_folder)
        form["fingerprint"] = finding().fingerprint
        (other_folder / "finding.json").write_text(json.dumps(form))
        with pytest.raises(Collision, match="share a fingerprint"):
            write_finding(kept.parent, other, {})

    def test_the_table_is_kept_as_it_stood_before_the_step(self, tmp_path):
        engine = Reference()
        engine.open(str(tmp_path / "table"))
        for operation in (*stories.TWICE, ops.Checkpoint()):
            engine.execute(operation, "")
        made = keep_finding(tmp_path / "findings", finding(), tmp_path / "table", 1)
        before = LogReader(made / "table-before")
        assert before.snapshot().version == 1
        assert len(before.rows(before.snapshot())) == 3
        assert not (made / "table-before" / "_delta_log" / "_last_checkpoint").exists()
        assert load_finding(made).table_before == "version 1"

    def test_a_large_table_is_not_kept_and_the_finding_says_so(self, tmp_path, monkeypatch):
        monkeypatch.setattr(storage, "MOST_FILES", 1)
        (tmp_path / "table" / "_delta_log").mkdir(parents=True)
        for name in ("a.parquet", "b.parquet"):
            (tmp_path / "table" / name).write_text("x")
        made = keep_finding(tmp_path / "findings", finding(), tmp_path / "table", 1)
        assert load_finding(made).table_before == "not kept: 2 files, 2 bytes"

    def test_a_file_in_the_way_is_said_so(self, tmp_path):
        (tmp_path / "findings").write_text("in the way")
        with pytest.raises(NotWritten, match="could not be kept"):
            keep_finding(tmp_path / "findings", finding())

    def test_a_full_disk_leaves_no_half_of_a_finding(self, tmp_path, monkeypatch):
        def full(*_args, **_kwargs):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "write_text", full)
        with pytest.raises(NotWritten, match="No space left on device"):
            keep_finding(tmp_path / "findings", finding())
        assert list((tmp_path / "findings").iterdir()) == []


class TestLoading:
    def test_a_path_that_is_no_folder(self, tmp_path):
        with pytest.raises(NotAFinding, match="no such folder"):
            load_finding(tmp_path / "nothing")

    def test_a_folder_that_is_no_finding(self, tmp_path):
        with pytest.raises(NotAFinding, match="neither"):
            load_finding(tmp_path)

    def test_the_path_of_a_file_in_the_folder_will_do(self, kept):
        assert as_json(load_finding(kept / "history.json")) == as_json(finding())

    @pytest.mark.parametrize("name", ("finding.json", "history.json"))
    def test_a_part_that_is_gone(self, kept, name):
        (kept / name).unlink()
        with pytest.raises(MissingPart, match=name):
            load_finding(kept)

    @pytest.mark.parametrize("name", ("finding.json", "history.json"))
    def test_a_part_that_is_cut(self, kept, name):
        path = kept / name
        path.write_text(path.read_text()[:-20])
        with pytest.raises(BrokenPart, match="no JSON"):
            load_finding(kept)

    @pytest.mark.parametrize("text", ("[]", '{"format": 1}', '{"format": 1, "key": {"requirement": 3}}'))
    def test_a_finding_that_lacks_what_it_must_have(self, kept, text):
        (kept / "finding.json").write_text(text)
        with pytest.raises(BrokenPart):
            load_finding(kept)

    def test_a_history_of_an_operation_that_does_not_exist(self, kept):
        path = kept / "history.json"
        path.write_text(path.read_text().replace('"Append"', '"Explode"'))
        with pytest.raises(BrokenPart, match="Explode"):
            load_finding(kept)

    def test_a_format_of_the_future(self, kept):
        path = kept / "finding.json"
        path.write_text(path.read_text().replace('"format": 1', '"format": 9'))
        with pytest.raises(OtherFormat, match="format 9"):
            load_finding(kept)

    def test_a_state_that_does_not_exist(self, kept):
        path = kept / "finding.json"
        path.write_text(path.read_text().replace('"format": 1', '"format": 2, "state": "odd"'))
        with pytest.raises(BrokenPart, match="state 'odd'; one of new, known"):
            load_finding(kept)

    def test_a_key_that_was_changed_by_hand(self, kept):
        path = kept / "finding.json"
        path.write_text(path.read_text().replace('"operation": "Append"', '"operation": "Delete"'))
        with pytest.raises(WrongFingerprint, match="its key gives"):
            load_finding(kept)


def test_a_known_finding_stays_known(tmp_path):
    known = replace(finding(), known=True)
    assert load_finding(keep_finding(tmp_path, known)).known


class TestTriaged:
    """What triage adds is kept beside the original history."""

    @pytest.fixture
    def triaged(self) -> Finding:
        return finding(
            fingerprint="0a1b2c3d", state="new", requirements=("contents.append", "read.latest"),
            minimal=history(*stories.PLAIN), minimal_step=1, minimal_detail="2 rows", reproduced=True,
            sighting="9f3c21aa", candidates=("a-cause",),
        )  # fmt: skip

    def test_a_triaged_finding_is_read_with_both_histories(self, triaged, tmp_path):
        folder = keep_finding(tmp_path, triaged)
        assert folder.name == "0a1b2c3d"
        assert (folder / "minimal.json").exists()
        loaded = load_finding(folder)
        assert as_json(loaded) == as_json(triaged)
        assert loaded.minimal == triaged.minimal

    def test_the_smaller_minimal_history_stays(self, triaged, tmp_path):
        keep_finding(tmp_path, triaged)
        keep_finding(tmp_path, replace(triaged, minimal=history(*stories.PLAIN[:1])))
        folder = keep_finding(tmp_path, triaged)
        assert len(load_finding(folder).minimal.steps) == 1

    def test_sightings_with_other_keys_may_have_one_cause(self, triaged, tmp_path):
        known = replace(triaged, state="known", known=True, cause="a-cause")
        keep_finding(tmp_path, known)
        keep_finding(tmp_path, replace(known, key=finding("contents.delete").key))
        with pytest.raises(Collision, match="another-cause"):
            keep_finding(tmp_path, replace(known, cause="another-cause"))
