from pathlib import Path

import pytest

from delta_adapters.delta_spark import class_archive
from delta_adapters.spark.java import BRIEF, Java
from delta_adapters.spark.session import java_options

JAVA, JARS = Java(Path("/usr/bin/java"), 17, "17.0.1 build 1"), (Path("/cache/delta.jar"),)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(class_archive.DUMP, raising=False)


def test_an_archive_fits_one_build_of_java_and_one_class_path():
    here = class_archive.archive_path(JAVA, JARS)
    assert here == class_archive.archive_path(Java(Path("/elsewhere/java"), 17, "17.0.1 build 1"), JARS)
    assert here != class_archive.archive_path(Java(Path("/usr/bin/java"), 17, "17.0.1 build 2"), JARS)
    assert here != class_archive.archive_path(JAVA, (*JARS, Path("/cache/more.jar")))


def test_a_session_without_an_archive_starts_all_the_same():
    assert class_archive.java_options(JAVA, JARS) == ()


def test_a_session_uses_the_archive_that_is_there():
    path = class_archive.archive_path(JAVA, JARS)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    assert f"-XX:SharedArchiveFile={path}" in class_archive.java_options(JAVA, JARS)


def test_an_archive_is_made_once_by_a_process_of_its_own(tmp_path, monkeypatch):
    calls = tmp_path / "calls"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >> {calls}\necho classes > "${class_archive.DUMP}"\n')
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    assert class_archive.make_archive(JAVA, JARS)
    assert class_archive.make_archive(JAVA, JARS)
    assert len(calls.read_text().splitlines()) == 1
    assert class_archive.archive_path(JAVA, JARS).read_text() == "classes\n"
    assert not list(tmp_path.glob("delta-conformance/classes/.training-*"))


def test_a_failed_training_leaves_nothing_and_says_why(tmp_path, monkeypatch, capsys):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'Append came to Rejected' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    assert not class_archive.make_archive(JAVA, JARS)
    assert "no archive: Append came to Rejected" in capsys.readouterr().err
    assert not class_archive.archive_path(JAVA, JARS).exists()


def test_options_with_blanks_reach_the_jvm_in_one_piece():
    text = java_options(Path("/a folder"), ("-XX:SharedArchiveFile=/my cache/x.jsa",))
    assert '"-Djava.io.tmpdir=/a folder/tmp"' in text
    assert '"-XX:SharedArchiveFile=/my cache/x.jsa"' in text
    assert "-XX:+UseSerialGC " in text


@pytest.mark.parametrize(("value", "compiler"), (("1", True), ("0", False), (None, False)))
def test_a_jvm_for_a_few_calls_has_the_quick_compiler_alone(monkeypatch, value, compiler):
    monkeypatch.delenv(BRIEF, raising=False)
    if value is not None:
        monkeypatch.setenv(BRIEF, value)
    assert ("-XX:TieredStopAtLevel=1" in java_options(Path("/a")).split()) is compiler
