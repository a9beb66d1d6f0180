import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from delta_adapters.environments import (
    READY,
    EnvironmentProblem,
    _problem,
    cache_folder,
    ensure_environment,
    host_archive,
    launch_of,
)
from delta_adapters.host_client import HostClient
from delta_adapters.registry import installed_version, parse_engine
from delta_adapters.smoke import main, smoke

OLD = parse_engine("delta-rs@1.5.0")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "delta-conformance"


def test_the_cache_stands_where_the_system_wants_it(cache):
    assert cache_folder() == cache


def test_the_installed_version_runs_in_this_interpreter():
    launch = launch_of(parse_engine("delta-rs"))
    assert launch.command == (sys.executable, "-P")
    assert launch.environment["TZ"] == "UTC"


def test_the_archive_for_a_foreign_interpreter_holds_host_adapter_and_vocabulary_only(cache):
    with zipfile.ZipFile(host_archive(OLD)) as archive:
        names = set(archive.namelist())
    assert {
        "delta_adapters/host_server.py",
        "delta_adapters/delta_rs/capabilities.json",
        "delta_models/codec.py",
    } <= names
    assert not any(
        name.startswith(("conformance", "delta_adapters/delta_spark", "delta_models/log")) for name in names
    )
    assert "delta_adapters/host_client.py" not in names


def test_the_archive_is_made_once_for_the_same_files(cache):
    first = host_archive(OLD)
    made = first.stat().st_mtime_ns
    assert (host_archive(OLD), first.stat().st_mtime_ns) == (first, made)


def test_the_archive_alone_is_enough_to_load_the_adapter(cache, tmp_path):
    program = (
        "import sys; sys.path[:] = [path for path in sys.path if not path.startswith(sys.argv[2])];"
        "sys.path.insert(0, sys.argv[1]); import delta_adapters.host_server as host;"
        "adapter = host.load('delta_adapters.delta_rs:DeltaRs')();"
        "print(adapter.capabilities['format'], host.__file__)"
    )
    checkout = str(Path(__file__).parents[2] / "adapters")
    result = subprocess.run(
        [sys.executable, "-P", "-c", program, host_archive(OLD), checkout],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout.startswith("1 ")
    assert ".zip" in result.stdout


def test_a_cache_that_can_not_be_written_is_reported_with_the_way_out(cache):
    cache.parent.joinpath("delta-conformance").write_text("a file where a folder should be")
    with pytest.raises(EnvironmentProblem, match="XDG_CACHE_HOME moves it elsewhere"):
        ensure_environment(OLD)


@pytest.mark.parametrize(
    ("output", "reason"),
    (
        (
            "ERROR: No matching distribution found for deltalake==9.9.9",
            "there is no deltalake 1.5.0 for this Python",
        ),
        (
            "[Errno -3] Temporary failure in name resolution\nERROR: No matching distribution",
            "can't be reached",
        ),
        ("error: externally-managed-environment", "externally-managed-environment"),
    ),
)
def test_why_an_environment_could_not_be_made_is_reported_in_plain_words(output, reason):
    assert reason in str(_problem(output, OLD))


@pytest.mark.slow
@pytest.mark.engines
def test_two_versions_of_an_engine_stand_side_by_side(tmp_path):
    specs = (OLD, parse_engine("delta-rs"))
    hosts = [HostClient.start(spec, tmp_path / str(spec)) for spec in specs]
    try:
        for number, host in enumerate(hosts):
            smoke(host, tmp_path / f"table{number}")
        assert [str(host.identity) for host in hosts] == [
            "delta-rs@1.5.0",
            f"delta-rs@{installed_version('delta-rs')}",
        ]
    finally:
        for host in hosts:
            host.kill()


@pytest.mark.slow
@pytest.mark.engines
def test_a_half_made_environment_is_made_again(cache):
    folder = ensure_environment(OLD).parents[1]
    (folder / READY).unlink()
    (folder / "bin" / "python").unlink()
    (folder / "left-over").touch()
    assert ensure_environment(OLD).exists()
    assert not (folder / "left-over").exists()


@pytest.mark.slow
@pytest.mark.engines
def test_a_version_that_does_not_exist_is_reported(cache, capsys):
    assert main(["delta-rs@9.9.9"]) == 3
    assert "there is no deltalake 9.9.9 for this Python and machine" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.engines
def test_an_index_that_can_not_be_reached_is_reported(cache, monkeypatch, tmp_path):
    for variable in ("PIP_FIND_LINKS", "UV_FIND_LINKS"):
        monkeypatch.delenv(variable, raising=False)
    configuration = tmp_path / "pip.conf"
    configuration.write_text("[global]\nindex-url = http://127.0.0.1:9/simple\nretries = 1\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    with pytest.raises(EnvironmentProblem, match="the package index can't be reached"):
        ensure_environment(OLD)
