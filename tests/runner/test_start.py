"""A process of a run loads what it uses and no more, so that a run starts soon."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conformance.planning.claims import known_engines
from delta_adapters.capabilities import Capabilities
from delta_adapters.registry import KNOWN


def loaded_after(code: str) -> set[str]:
    """The modules that a new process has loaded after these lines."""
    program = f"import sys\n{code}\nprint(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(told.stdout.split())


def test_a_coordinator_loads_nothing_that_draws_or_reads_tables_or_judges():
    modules = loaded_after(
        "import conformance.runner.coordinator, conformance.reporting.recorder\n"
        "from conformance.planning.claims import known_engines\n"
        "from delta_adapters.registry import KNOWN\n"
        "assert [*known_engines(KNOWN)]"
    )
    assert "conformance.reporting.html" in modules
    assert not modules & {
        "hypothesis", "pyarrow", "jsonschema", "delta_models.log", "conformance.checks.runner", "conformance.execution",
        "delta_adapters.delta_spark.adapter", "delta_adapters.reference.engine",
    }  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_the_claims_of_the_projects_engines_follow_the_schema_that_no_run_tests_them_by(name):
    (engine,) = known_engines([name])
    assert Capabilities.validated(engine.capabilities.document, name) == engine.capabilities
