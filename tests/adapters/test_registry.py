from pathlib import Path

import pytest

from delta_adapters import registry
from delta_adapters.host_client import HostClient
from delta_adapters.registry import (
    EngineSpec,
    UnknownEngine,
    availability,
    engine_names,
    installed_version,
    java_availability,
    parse_engine,
)

BAD_ADAPTERS = Path(__file__).with_name("bad_adapters.py")


@pytest.fixture(autouse=True)
def _forget_java():
    """Forget which Java the last test had."""
    yield
    java_availability.cache_clear()


@pytest.fixture
def third_party(tmp_path, monkeypatch):
    """Another project's adapter, as pip would have installed it."""
    (tmp_path / "their_adapter.py").write_text(BAD_ADAPTERS.read_text())
    info = tmp_path / "their_adapter-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-adapter\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[delta_conformance.adapters]\ntheirs = their_adapter:Honest\n")
    monkeypatch.syspath_prepend(str(tmp_path))


def test_the_projects_engines_are_there_by_name():
    assert {"delta-rs", "delta-spark"} <= set(engine_names())
    assert parse_engine("delta-rs") == EngineSpec("delta-rs", "delta_adapters.delta_rs:DeltaRs")


def test_the_installed_version_needs_no_environment_of_its_own():
    assert parse_engine(f"delta-rs@{installed_version('delta-rs')}") == parse_engine("delta-rs")
    assert parse_engine("delta-rs@1.5.0").version == "1.5.0"


@pytest.mark.parametrize(
    ("text", "complaint"),
    (
        ("delta-rust", "no engine is called 'delta-rust'; there are .*delta-rs, .*delta-spark"),
        ("", "no engine is called ''"),
        ("delta-rs@", "asks for version '', which is none; for example: delta-rs@1.5.0"),
        ("delta-rs@newest", "asks for version 'newest'"),
        ("delta-rs@1.5.0; rm -rf", "asks for version"),
        ("delta-spark@3.0.0", r"delta-spark can only run in its installed version here \(.*\), not in 3.0.0"),
        ("module:", "module:Class or file.py:Class was expected"),
        ("no/such/file.py:Adapter", "there is no file no/such/file.py"),
    ),
)
def test_what_names_no_engine_is_refused_with_what_there_is(text, complaint):
    with pytest.raises(UnknownEngine, match=complaint):
        parse_engine(text)


def test_an_adapter_of_another_project_is_found_by_its_entry_point(third_party, tmp_path):
    assert "theirs" in engine_names()
    with pytest.raises(UnknownEngine, match="can only run in its installed version"):
        parse_engine("theirs@3.0")
    with HostClient.start(parse_engine("theirs"), tmp_path / "work") as host:
        assert str(host.identity) == "tiny@1.0"


def test_an_adapter_is_found_by_its_module_too(third_party, tmp_path):
    with HostClient.start(parse_engine("their_adapter:Honest"), tmp_path / "work") as host:
        assert host.identity.name == "tiny"


def test_an_engine_that_is_not_installed_says_what_to_install(monkeypatch):
    monkeypatch.setattr(registry, "_installed", lambda package: package != "deltalake")
    result = availability("delta-rs")
    assert not result
    assert (result.why, result.cure) == (
        "deltalake is not installed",
        "pip install 'delta-conformance[delta-rs]'",
    )


def test_a_missing_java_is_reported_with_the_line_to_type(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    java_availability.cache_clear()
    result = availability("delta-spark")
    assert "there is no java on PATH" in result.why
    for system in ("apt install", "dnf install", "brew install"):
        assert system in result.cure


@pytest.mark.parametrize(
    ("says", "why"),
    (
        ('openjdk version "11.0.2"', "is Java 11"),
        ('java version "1.8.0_1"', "is Java 8"),
        ("Segmentation fault", "does not say its version"),
    ),
)
def test_a_java_that_is_too_old_is_reported(tmp_path, monkeypatch, says, why):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    java_availability.cache_clear()
    assert why in java_availability().why
