"""Builds of engines on a JVM, and what such engines play if the user names them."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from delta_adapters.delta_spark.jars import resolve
from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine
from delta_adapters.smoke import TABLE, smoke

pytestmark = pytest.mark.slow  # JVMs start
CHECKOUT = Path(__file__).parents[2]


def test_a_checkout_of_the_in_house_engine_is_what_runs(tmp_path):
    shutil.copytree(CHECKOUT / "pyspark_delta", tmp_path / "pyspark_delta")
    spec = parse_engine(f"pyspark@{tmp_path}")
    with HostClient.start(spec, tmp_path / "host") as host:
        smoke(host, tmp_path / TABLE, within=170)
        assert str(host.identity) == f"pyspark@0.1.0+{spec.build}"


def test_a_broken_checkout_of_the_in_house_engine_ends_the_run_with_2(run, tmp_path):
    shutil.copytree(CHECKOUT / "pyspark_delta", tmp_path / "mine" / "pyspark_delta")
    with (tmp_path / "mine" / "pyspark_delta" / "__init__.py").open("a") as file:
        file.write("\nraise RuntimeError('half of a change')\n")
    began = time.monotonic()
    done = run("--engine", f"pyspark@{tmp_path / 'mine'}")
    assert done.exit == 2
    assert "its adapter raises RuntimeError: half of a change" in done.output
    assert time.monotonic() - began < 60  # 30 on an idle machine


def test_a_jar_replaces_that_of_the_release(tmp_path):
    released = next(jar for jar in resolve() if "delta-spark_" in jar.name)
    jar = (
        tmp_path
        / f"delta-spark_{released.name.split('delta-spark_')[1].rpartition('-')[0]}-4.9.0-SNAPSHOT.jar"
    )
    shutil.copyfile(released, jar)
    spec = parse_engine(f"delta-spark@{jar}")
    with HostClient.start(spec, tmp_path / "host") as host:
        smoke(host, tmp_path / TABLE, within=170)
        assert str(host.identity) == f"delta-spark@4.9.0-SNAPSHOT+{spec.build}"


@pytest.mark.timeout(900)
def test_an_engine_on_a_jvm_that_was_asked_for_plays_in_crashes_and_races(run):
    done = run(
        "--engine",
        "pyspark",
        "--engine",
        "delta-rs",
        "--profile",
        "ci",
        "--suite",
        "crashes",
        "--suite",
        "races",
    )
    played = {
        event["suite"]
        for event in done.events
        if event["event"] == "HistoryEnded" and event["operations"].get("pyspark@0.1.0")
    }
    assert played == {"crashes", "races"}
    assert "was asked for and did not play" not in done.output
