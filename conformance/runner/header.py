"""The header of a run: the first event of its record."""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Sequence

from conformance._version import harness_version
from conformance.engine_pool import runs_on_jvm
from conformance.events.serialization import FORMAT
from conformance.events.types import RunStarted
from conformance.options import RunOptions
from conformance.planning.plan import Plan
from delta_adapters.registry import EngineSpec


def run_header(options: RunOptions, specs: Sequence[EngineSpec], plan: Plan) -> RunStarted:
    """The event that says what a run plays, on which engines and on which machine."""
    heavy = [runs_on_jvm(spec) for spec in specs]
    return RunStarted(
        format=FORMAT,
        harness=harness_version(),
        command=options.command,
        seed=options.seed,
        profile=options.profile,
        storage=options.storage,
        machine=_machine(),
        python=platform.python_version(),
        started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        engines=tuple(str(spec) for spec in specs),
        suites=plan.suites,
        core=plan.core,
        plan=plan.planned(light=not all(heavy), heavy=any(heavy)),
        budget=options.budget,
        asked=tuple(str(spec) for spec in specs if str(spec) in options.engines),
        not_asked=plan.not_asked if options.engines else (),
    )


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GB"
