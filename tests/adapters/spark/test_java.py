import pytest

from delta_adapters.spark.java import BadJava, JavaError, NoJava, find_java


@pytest.fixture
def fake_java(tmp_path, monkeypatch):
    """A JAVA_HOME whose java does what the text of a shell script says."""

    def make(script: str):
        program = tmp_path / "bin" / "java"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        return program

    return make


@pytest.mark.parametrize(
    ("output", "major"),
    (
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "25.0.1" 2025-10-21 LTS', 25),
    ),
)
def test_the_java_of_java_home_is_found_with_its_version(fake_java, output, major):
    program = fake_java(f"echo '{output}' >&2; echo 'OpenJDK 64-Bit Server VM' >&2")
    java = find_java()
    assert (java.program, java.major, java.home) == (program, major, program.parent.parent)
    assert java.version.startswith(output)


@pytest.mark.parametrize(
    ("output", "major"), (('java version "1.8.0_402"', 8), ('openjdk version "11.0.2"', 11))
)
def test_a_java_that_is_too_old_is_refused_with_the_lines_to_type(fake_java, output, major):
    fake_java(f"echo '{output}' >&2")
    with pytest.raises(BadJava, match=f"is Java {major}; Spark 4 needs 17 or newer") as raised:
        find_java()
    for command in ("apt install", "dnf install", "brew install"):
        assert command in raised.value.cure


def test_a_java_that_fails_is_refused_with_its_own_words(fake_java):
    fake_java("echo 'Could not reserve enough space for object heap' >&2; exit 1")
    with pytest.raises(BadJava, match=r"exit 1.*Could not reserve enough space"):
        find_java()


def test_a_java_home_without_java_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(NoJava, match="no bin/java in it"):
        find_java()


def test_no_java_at_all_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaError, match="no java on PATH"):
        find_java()
