"""Scripts of catalogued causes show them: exit 1 with the released engine, exit 0 without what sets a cause off."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.findings.candidates import needs_counterfactual
from conformance.findings.scripts import scripts_for
from conformance.histories import History
from conformance.triage.counterfactuals import counterfactual_of
from delta_adapters.delta_spark import jars
from delta_adapters.deviations import all_causes
from delta_adapters.environments import ensure_environment
from delta_adapters.registry import parse_engine
from delta_adapters.spark.java import find_java
from tests.findings.scripts.runs import endings, finding_of, run, script

CAUSES = {cause.id: cause for cause in all_causes()}
ONE_ENGINE = {name: cause for name, cause in CAUSES.items() if set(cause.slots.values()) <= {cause.engine}}
# Their tables are written by the harness' own engine, which no script can ask for.
BESIDE_THE_REFERENCE = {name for name, cause in CAUSES.items() if "reference" in cause.slots.values()}
# A stream has no words in scripts yet.
NOT_SAID = BESIDE_THE_REFERENCE | {"delta-spark-stream-without-its-first-plan"}
BY_HAND = {path.stem for path in (Path(__file__).parents[3] / "tools" / "deviations").glob("*.py")}
SOME_OF_SPARK = (
    "delta-spark-binary-partition", "delta-spark-no-delete-beside-char", "delta-spark-create-or-replace-by-path",
    "delta-spark-cut-creation-blocks-the-next", "delta-spark-raw-characters-in-paths",
)  # fmt: skip
SPARK_DEFAULTS = """
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.sql.adaptive.enabled false
spark.driver.extraJavaOptions -XX:+UseSerialGC -Xms1g -Xmn500m -XX:MetaspaceSize=300m
"""


def of_delta_rs() -> dict[str, str]:
    return {
        name: script(finding_of(cause))
        for name, cause in ONE_ENGINE.items()
        if cause.engine == "delta-rs" and not cause.unsteady and not cause.shown_in
    }


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mapping[str, str], str]:
    return endings(of_delta_rs(), tmp_path_factory.mktemp("catalogued"))


@pytest.mark.parametrize("name", sorted(of_delta_rs()))
def test_the_script_of_a_cause_of_delta_rs_ends_with_one(name, ended):
    codes, printed = ended
    assert codes[name] == "1", printed


def of_older_versions() -> dict[str, str]:
    """Scripts of causes that an older version shows."""
    return {
        name: script(finding_of(cause))
        for name, cause in ONE_ENGINE.items()
        if cause.shown_in and name.replace("-", "_") not in BY_HAND
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(of_older_versions()))
def test_the_script_of_a_cause_that_is_mended_ends_with_one_in_the_version_that_shows_it(name, tmp_path):
    python = ensure_environment(parse_engine(CAUSES[name].spec))
    done = run(of_older_versions()[name], tmp_path, python=str(python))
    assert done.returncode == 1, done.stdout + done.stderr


def test_the_script_of_a_cause_that_is_mended_ends_with_zero_in_the_installed_version(tmp_path):
    texts = of_older_versions()
    codes, printed = endings(texts, tmp_path)
    assert codes == dict.fromkeys(texts, "0"), printed


def twins() -> dict[str, str]:
    """Scripts with the rule of a cause, and its history without what sets it off."""
    texts = {}
    for name, cause in ONE_ENGINE.items():
        if cause.engine != "delta-rs" or not needs_counterfactual(cause):
            continue
        without = counterfactual_of(cause, History.from_json(cause.history))
        if without is not None:
            texts[name] = script(finding_of(cause, without))
    return texts


def test_without_its_trigger_the_same_script_ends_with_zero(tmp_path):
    texts = twins()
    assert len(texts) >= 12
    codes, printed = endings(texts, tmp_path)
    assert codes == dict.fromkeys(texts, "0"), printed


@pytest.mark.parametrize("name", sorted(CAUSES))
def test_every_cause_has_a_script_that_says_so_if_it_can_show_nothing(name):
    (text,) = scripts_for(finding_of(CAUSES[name])).values()
    assert ("No script can show this alone" in text) == (name in NOT_SAID)


@pytest.mark.parametrize("name", sorted(set(ONE_ENGINE) - NOT_SAID))
def test_the_script_of_three_steps_has_at_most_sixty_lines(name):
    cause = CAUSES[name]
    if len(cause.history["steps"]) <= 3:
        assert len(script(finding_of(cause, version="1.6.6")).splitlines()) <= 60


def spark_variables(folder: Path) -> dict[str, str]:
    """The environment of a small JVM, with the JARs from the cache."""
    (folder / "spark-defaults.conf").write_text(SPARK_DEFAULTS)
    found = ",".join(map(str, jars.resolve()))
    return {"DELTA_JARS": found, "SPARK_CONF_DIR": str(folder), "JAVA_HOME": str(find_java().home)}


@pytest.mark.slow
def test_scripts_of_causes_of_delta_spark_end_with_one(tmp_path):
    texts = {name: script(finding_of(CAUSES[name])) for name in SOME_OF_SPARK}
    codes, printed = endings(texts, tmp_path, spark_variables(tmp_path))
    assert codes == dict.fromkeys(texts, "1"), printed


@pytest.mark.slow
def test_a_table_of_two_engines_is_written_by_both(tmp_path):
    names = ("delta-rs-far-timestamps", "delta-spark-reads-empty-partition-text")
    texts = {name: script(finding_of(CAUSES[name])) for name in names}
    codes, printed = endings(texts, tmp_path, spark_variables(tmp_path))
    assert codes == dict.fromkeys(names, "1"), printed
