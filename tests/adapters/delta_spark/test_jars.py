"""The cache of JARs, tested with a resolver of a few shell lines in place of spark-submit."""

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from delta_adapters.delta_spark import jars
from delta_adapters.spark.java import Java

JAVA = Java(Path("/usr/bin/java"), 17, "a version")
NAME = "io.delta:delta-spark_4.2_2.13:4.4.0"
RESOLVED = "io.delta_delta-spark_4.2_2.13-4.4.0.jar"


@pytest.fixture
def spark(tmp_path, monkeypatch):
    """A Spark whose resolver runs the given lines; `$JARS` is where resolved JARs belong."""
    home = tmp_path / "spark"
    (home / "jars").mkdir(parents=True)
    (home / "bin").mkdir()
    _jar(home / "jars" / "spark-core-9.jar", "org/apache/Core.class", "org/apache/Shared.class")
    monkeypatch.setattr(jars, "_spark_home", lambda: home)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def resolver(*lines: str) -> Path:
        script = home / "bin" / "spark-submit"
        calls: Path = tmp_path / "calls"
        body = "\n".join(lines)
        script.write_text(
            "#!/bin/sh\n"
            f'echo "$@" >> {calls}\n'
            'for each in "$@"; do case "$each" in spark.jars.ivy=*) JARS="${each#*=}/jars";; esac; done\n'
            f"mkdir -p $JARS\n{body}\n"
        )
        script.chmod(0o755)
        return calls

    return resolver


@pytest.fixture
def resolves(spark, tmp_path):
    """A resolver that works: delta-spark, one JAR that it needs, and one that Spark has in another version."""
    source = tmp_path / "repository"
    source.mkdir()
    _jar(source / RESOLVED, "io/delta/Delta.class", "module-info.class")
    _jar(source / "io.delta_delta-storage-4.4.0.jar", "io/delta/Storage.class")
    _jar(source / "org.apache_shared-1.jar", "org/apache/Shared.class", "org/apache/Old.class")
    return spark(f"cp {source}/*.jar $JARS")


def test_the_jars_are_resolved_once_and_what_spark_ships_is_left_out(resolves, capsys):
    first = jars.resolve(java=JAVA)
    assert [path.name for path in first] == [RESOLVED, "io.delta_delta-storage-4.4.0.jar"]
    assert "fetching io.delta:delta-spark_4.2_2.13:4.4.0" in capsys.readouterr().err
    assert jars.resolve(java=JAVA) == first == jars.cached()
    assert len(resolves.read_text().splitlines()) == 1
    assert f"--packages {NAME}" in resolves.read_text()
    assert capsys.readouterr().err == ""


def test_a_resolver_without_a_network_is_reported_with_a_cure(spark):
    spark("echo 'Host somewhere not found. url=...' >&2", "exit 1")
    with pytest.raises(jars.NoNetwork, match="not in the cache") as raised:
        jars.resolve(java=JAVA)
    assert "proxy" in raised.value.cure
    assert jars.cached() == ()


def test_a_resolver_that_fails_otherwise_is_quoted(spark):
    spark("echo 'Could not find the ivy settings file' >&2", "exit 3")
    with pytest.raises(jars.NotResolved, match=r"ended with 3: .*Could not find the ivy settings"):
        jars.resolve(java=JAVA)


def test_a_resolver_that_ends_well_with_nothing_is_not_believed(spark):
    spark("exit 0")
    with pytest.raises(jars.NotResolved, match="left no delta-spark"):
        jars.resolve(java=JAVA)
    assert jars.cached() == ()


def test_a_cache_that_can_not_be_written_is_said(resolves, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(jars.NotResolved, match="can't be filled"):
        jars.resolve(java=JAVA)


def test_a_killed_resolve_leaves_no_half_cache_and_the_next_one_clears_up(spark, resolves, tmp_path):
    calls = spark("touch $JARS/half.jar", f"mkfifo {tmp_path}/never", f"cat {tmp_path}/never")
    script = (
        "from pathlib import Path\n"
        "from delta_adapters.delta_spark import jars\nfrom delta_adapters.spark import java\n"
        f"jars._spark_home = lambda: Path({str(tmp_path / 'spark')!r})\n"
        "jars.resolve(java=java.Java(Path('/usr/bin/java'), 17, ''))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], start_new_session=True, stderr=subprocess.DEVNULL
    )
    while not (tmp_path / "never").exists():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert jars.cached() == ()
    folder = tmp_path / "cache" / "delta-conformance" / "jars"
    assert any(path.name.startswith(".") for path in folder.iterdir())

    (tmp_path / "spark" / "bin" / "spark-submit").write_text(
        f'#!/bin/sh\nexec /bin/sh {tmp_path}/works "$@"\n'
    )
    (tmp_path / "works").write_text(
        'for each in "$@"; do case "$each" in spark.jars.ivy=*) JARS="${each#*=}/jars";; esac; done\n'
        f"mkdir -p $JARS; cp {tmp_path}/repository/*.jar $JARS\n"
    )
    assert len(jars.resolve(java=JAVA)) == 2
    assert not any(path.name.startswith(".") for path in folder.iterdir())
    assert len(calls.read_text().splitlines()) == 1


def test_of_two_processes_one_resolves_and_the_other_waits_for_it(spark, resolves, tmp_path):
    source = tmp_path / "repository"
    calls = spark(f"mkfifo {tmp_path}/gate", f"cat {tmp_path}/gate", f"cp {source}/*.jar $JARS")
    script = (
        "from pathlib import Path\n"
        "from delta_adapters.delta_spark import jars\nfrom delta_adapters.spark import java\n"
        f"jars._spark_home = lambda: Path({str(tmp_path / 'spark')!r})\n"
        "print(len(jars.resolve(java=java.Java(Path('/usr/bin/java'), 17, ''))))\n"
    )
    command = [sys.executable, "-c", script]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert first.stderr is not None
    assert "fetching" in first.stderr.readline()
    second = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert second.stderr is not None
    assert "waiting for another process" in second.stderr.readline()
    _open(tmp_path / "gate", first)
    assert [process.communicate(timeout=60)[0].strip() for process in (first, second)] == ["2", "2"]
    assert len(calls.read_text().splitlines()) == 1


def _open(gate: Path, process: subprocess.Popen[str]) -> None:
    while not gate.exists():
        assert process.poll() is None
    gate.write_text("")


def _jar(path: Path, *names: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
