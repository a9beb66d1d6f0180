import os
import subprocess
import sys

import pytest

from delta_adapters import registry
from delta_adapters.delta_spark import jars


@pytest.fixture
def no_network(tmp_path, monkeypatch):
    """An empty cache, and a Spark whose resolver reaches no repository."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "spark-submit"
    script.write_text("#!/bin/sh\necho 'java.net.UnknownHostException: repository' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(jars, "_spark_home", lambda: tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_an_engine_whose_jars_can_not_be_fetched_is_not_available_and_the_cure_is_named(no_network):
    if not registry.java_availability():
        pytest.skip("there is no Java")
    result = registry.prepare("delta-spark")
    assert not result
    assert "no repository that Spark asks for it could be reached" in result.why
    assert "proxy" in result.cure


def test_other_engines_need_nothing_fetched(no_network):
    assert registry.prepare("delta-rs") == registry.availability("delta-rs")


def test_to_import_the_adapter_starts_no_pyspark():
    script = "import delta_adapters.delta_spark, sys; print('pyspark' in sys.modules, 'py4j' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stdout.split() == ["False", "False"]
