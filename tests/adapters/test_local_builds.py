"""`NAME@PATH`: which paths name a build, and what tells two builds apart."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from delta_adapters.builds import build_hash
from delta_adapters.contract import Identity
from delta_adapters.delta_spark.jars import artifact_of
from delta_adapters.environments import build_copy, launch_of
from delta_adapters.host_client import _of_build
from delta_adapters.registry import UnknownEngine, parse_engine, with_adapter

ENGINE = Path(__file__).parents[2] / "pyspark_delta"
EXTENSION = "io/delta/sql/DeltaSparkSessionExtension.class"


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def checkout(tmp_path):
    """A folder that holds a copy of the in-house engine."""
    shutil.copytree(ENGINE, tmp_path / "mine" / "pyspark_delta", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "mine"


def jar(path: Path, *entries: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for entry in entries:
            archive.writestr(entry, b"")
    return path


def test_a_build_is_written_by_its_whole_path_and_read_back_the_same(checkout, monkeypatch):
    monkeypatch.chdir(checkout.parent)
    spec = parse_engine("pyspark@mine")
    assert str(spec) == f"pyspark@{checkout}"
    assert parse_engine(str(spec)) == spec


def test_a_version_stays_a_version_even_beside_a_folder_of_that_name(tmp_path, monkeypatch):
    (tmp_path / "1.5.0").mkdir()
    monkeypatch.chdir(tmp_path)
    assert parse_engine("delta-rs@1.5.0").version == "1.5.0"


def test_two_builds_of_one_version_have_two_identities(checkout):
    before = parse_engine(f"pyspark@{checkout}")
    with (checkout / "pyspark_delta" / "write.py").open("a") as file:
        file.write("# changed\n")
    after = parse_engine(f"pyspark@{checkout}")
    identity = Identity("pyspark", "0.1.0", "", "")
    names = {str(_of_build(identity, spec.build)) for spec in (before, after)}
    assert names == {f"pyspark@0.1.0+{before.build}", f"pyspark@0.1.0+{after.build}"}
    assert len(names) == 2


def test_what_tools_leave_in_a_checkout_makes_no_other_build(checkout):
    before = parse_engine(f"pyspark@{checkout}")
    (checkout / "pyspark_delta" / "__pycache__").mkdir()
    (checkout / "pyspark_delta" / "__pycache__" / "write.cpython-311.pyc").write_bytes(b"x")
    assert parse_engine(f"pyspark@{checkout}") == before


def test_the_sources_of_a_build_run_from_a_copy_that_later_changes_do_not_reach(checkout):
    spec = parse_engine(f"pyspark@{checkout}")
    copy = build_copy(spec)
    (checkout / "pyspark_delta" / "write.py").write_text("raise SystemExit")
    assert (copy / "pyspark_delta" / "write.py").read_text() == (ENGINE / "write.py").read_text()
    assert launch_of(spec).environment["PYTHONPATH"].startswith(f"{copy}:")


def test_a_hash_follows_the_content_and_neither_the_version_nor_the_place(checkout):
    same = build_hash(parse_engine(f"pyspark@{checkout}"))
    assert same == build_hash(parse_engine("pyspark"))
    with (checkout / "pyspark_delta" / "write.py").open("a") as file:
        file.write("# changed\n")
    assert build_hash(parse_engine(f"pyspark@{checkout}")) != same


def test_a_mutant_of_an_engine_has_another_hash_than_the_engine(tmp_path):
    mutant = tmp_path / "mutant.py"
    mutant.write_text("class Mutant: ...\n")
    honest = parse_engine("reference")
    changed = with_adapter(honest, f"{mutant}:Mutant")
    first = build_hash(changed)
    assert first != build_hash(honest)
    mutant.write_text("class Mutant: fault = 2\n")
    assert build_hash(changed) != first


def test_a_jar_replaces_the_resolved_one_of_its_artifact():
    names = ("delta-spark_4.2_2.13-4.4.0.jar", "delta-spark_2.13-4.0.0.jar", "delta-storage-4.4.0.jar")
    assert [artifact_of(Path(name)) for name in names] == ["delta-spark", "delta-spark", "delta-storage"]


class TestBadInput:
    @pytest.mark.parametrize(
        ("text", "complaint"),
        (
            ("delta-rs@/no/such.whl", "there is no such file or folder; a wheel, or a checkout"),
            ("delta-rs@{here}/text.txt", "text.txt is no wheel"),
            ("delta-rs@{here}/torn-1.0-py3-none-any.whl", "the wheel can't be read"),
            (
                "delta-rs@{here}/other_thing-1.0-py3-none-any.whl",
                "a wheel of other-thing, and holds no package deltalake",
            ),
            ("delta-rs@{here}", "holds a pyproject.toml"),
            ("pyspark@{here}", "there is no package pyspark_delta in it"),
            ("reference@{here}", "it takes no path"),
            ("reference@{here}/nothing", "it takes no path"),
            ("delta-spark@{here}", "one JAR named like"),
            ("delta-spark@{here}/delta-spark_4.2_2.13-9.jar", "can't be read"),
            ("delta-spark@{here}/delta-spark_2.13-8.jar", "so it is no delta-spark"),
            (
                "delta-spark@{here}/delta-spark_4.2_2.12-7.jar",
                "for Scala 2.12, and the installed Spark .* has Scala 2.13",
            ),
            ("delta-spark@{here}/delta-spark_4.0_2.13-6.jar", "for Spark 4.0, and Spark 4.2.* is installed"),
        ),
    )
    def test_a_path_that_is_no_build_is_refused_with_what_is_there(self, tmp_path, text, complaint):
        (tmp_path / "text.txt").write_text("x")
        (tmp_path / "torn-1.0-py3-none-any.whl").write_bytes(b"PK torn")
        (tmp_path / "delta-spark_4.2_2.13-9.jar").write_bytes(b"torn")
        jar(tmp_path / "other_thing-1.0-py3-none-any.whl", "other_thing/__init__.py")
        jar(tmp_path / "delta-spark_2.13-8.jar", "io/other.class")
        jar(tmp_path / "delta-spark_4.2_2.12-7.jar", EXTENSION)
        jar(tmp_path / "delta-spark_4.0_2.13-6.jar", EXTENSION)
        with pytest.raises(UnknownEngine, match=complaint):
            parse_engine(text.format(here=tmp_path))
