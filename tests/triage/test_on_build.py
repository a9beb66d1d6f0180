"""`replay FINDING --engine` answers whether a finding is fixed in another version or build."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from conformance.cli import main
from delta_adapters.deviations.causes import FOLDER
from delta_adapters.registry import installed_version
from tests.triage.cause_findings import keep_finding_of

CAUSE = "delta-rs-nan-left-out-of-bounds"
INSTALLED = f"delta-rs@{installed_version('delta-rs')}"

ADDS_A_COLUMN = """
import pyarrow as pa
from dataclasses import replace
from delta_adapters.reference import Reference

class AddsAColumn(Reference):
    def read(self, read):
        answer = super().read(read)
        more = answer.table.append_column("more", pa.nulls(answer.table.num_rows))
        return answer if read.where is None else replace(answer, table=more)
"""

ONE_MORE_COLUMN = """
engine = "reference"
summary = "An answer to a filter has one more column."
requirement = "read.columns"
trigger = "nan"
issue = "not reported"
cause = "It is added."

[[predictions]]
requirements = ["read.columns"]
"""


@pytest.fixture
def finding(tmp_path: Path) -> Path:
    return keep_finding_of(CAUSE, tmp_path / "findings", "9.9.9")


def test_a_finding_that_fails_in_the_build_too_ends_with_1(finding, capsys):
    assert main(["replay", str(finding), "--engine", INSTALLED]) == 1
    assert f"still fails in {INSTALLED}: read.filter at step 2" in capsys.readouterr().out


def test_a_finding_that_is_gone_in_the_build_ends_with_0(finding, capsys):
    assert main(["replay", str(finding), "--engine", "delta_adapters.reference:Reference"]) == 0
    assert "is fixed in delta_adapters.reference:Reference" in capsys.readouterr().out


def test_a_build_that_breaks_another_rule_is_told_apart(finding, tmp_path, capsys):
    build = tmp_path / "build.py"
    build.write_text(ADDS_A_COLUMN)
    assert main(["replay", str(finding), "--engine", f"{build}:AddsAColumn"]) == 1
    assert "fails in another way" in capsys.readouterr().out


def test_what_a_cause_of_ones_own_predicts_does_not_count(finding, tmp_path, capsys):
    build, own = tmp_path / "build.py", tmp_path / "own"
    build.write_text(ADDS_A_COLUMN)
    own.mkdir()
    shutil.copyfile(FOLDER / f"{CAUSE}.history.json", own / "one-more-column.history.json")
    (own / "one-more-column.toml").write_text(ONE_MORE_COLUMN)
    asked = ["replay", str(finding), "--engine", f"{build}:AddsAColumn"]
    assert main([*asked, "--deviations", str(own)]) == 0, capsys.readouterr().out
    (own / "one-more-column.toml").write_text(ONE_MORE_COLUMN.replace("nan", "nann"))
    assert main([*asked, "--deviations", str(own)]) == 2
    assert "unknown trigger 'nann'; did you mean 'nan'?" in capsys.readouterr().err


def test_a_build_that_does_not_start_ends_with_3(finding, capsys):
    assert main(["replay", str(finding), "--engine", "no_such_module:Engine"]) == 3
    assert "could not run in no_such_module:Engine" in capsys.readouterr().out


def test_an_engine_that_takes_no_part_ends_with_3(finding, capsys):
    assert main(["replay", str(finding), "--engine", "reference"]) == 3
    assert "reference takes no part in it; its engines are delta-rs@9.9.9" in capsys.readouterr().out


@pytest.mark.parametrize("text", ("delta-rs@/no/such.whl", "delta-rust", "delta-rs@newest"))
def test_a_text_that_names_no_build_ends_with_2(finding, capsys, text):
    assert main(["replay", str(finding), "--engine", text]) == 2
    assert text.partition("@")[0] in capsys.readouterr().err


@pytest.mark.slow  # the package index is asked
@pytest.mark.engines
def test_a_finding_of_a_version_that_can_not_be_had_ends_with_3(finding, capsys):
    assert main(["replay", str(finding)]) == 3
    assert "there is no deltalake 9.9.9 for this Python and machine" in capsys.readouterr().out


@pytest.mark.slow  # pip makes an environment
@pytest.mark.engines
def test_a_wheel_for_another_platform_ends_with_3(finding, tmp_path, capsys):
    wheel = tmp_path / "deltalake-1.6.6-cp310-abi3-macosx_11_0_arm64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("deltalake/__init__.py", "")
    assert main(["replay", str(finding), "--engine", f"delta-rs@{wheel}"]) == 3
    message = capsys.readouterr().out
    assert "the wheel is for cp310-abi3-macosx_11_0_arm64, and this machine is Linux" in message


@pytest.mark.slow  # pip builds and installs a checkout
@pytest.mark.engines
def test_a_checkout_is_installed_and_played(finding, tmp_path, capsys):
    import deltalake  # noqa: PLC0415 - the installed one, taken for a checkout

    checkout = tmp_path / "checkout"
    shutil.copytree(Path(deltalake.__file__).parent, checkout / "deltalake")
    (checkout / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "deltalake"\nversion = "1.6.6"\ndependencies = ["arro3-core>=0.5", "deprecated"]\n'
    )
    assert main(["replay", str(finding), "--engine", f"delta-rs@{checkout}"]) == 1
    assert f"still fails in delta-rs@{checkout}: read.filter" in capsys.readouterr().out
