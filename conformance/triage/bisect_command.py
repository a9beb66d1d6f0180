"""Bisect a finding over the released versions of its engine: which versions there are, and what is played on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conformance.findings.storage import Finding
from conformance.triage.bisect import Bisection, bisect
from conformance.triage.on_build import Verdict, play_on
from conformance.triage.replayer import Replayer
from delta_adapters.deviations import Cause
from delta_adapters.engine_id import EngineId
from delta_adapters.registry import KNOWN, installed_version
from delta_adapters.releases import number_of, released_versions


class BadRange(ValueError):
    """There is nothing to bisect in what was asked for. The message says what there is."""


def bisect_finding(
    finding: Finding,
    name: str,
    first: str | None,
    last: str | None,
    *,
    causes: Sequence[Cause],
    show: Callable[[str, Verdict], None],
) -> Bisection:
    """Bisect a finding over the releases of an engine, from one version to another, or over all.

    Violations that one of `causes` predicts are left out, if it is not the finding's own.

    Raises BadRange, and EnvironmentProblem if the package index can't be asked.
    """
    if name not in KNOWN or not KNOWN[name].elsewhere:
        have = ", ".join(known for known, engine in KNOWN.items() if engine.elsewhere)
        raise BadRange(f"released versions of {name} can't be played here side by side; those of {have} can")
    if name != finding.key.engine:
        raise BadRange(f"finding {finding.fingerprint} is about {finding.engine}, not about {name}")
    versions = versions_between(released_versions(name), name, first, last)

    def plays(version: str) -> Verdict:
        with Replayer() as replayer:  # hosts of its own: a run over many versions shall not keep them all
            verdict = play_on(finding, f"{name}@{version}", replayer, causes)
        show(version, verdict)
        return verdict

    found_in = EngineId.parse(finding.engine).version or installed_version(name)
    return bisect(versions, plays, (found_in or "").partition("+")[0])


def versions_between(
    released: Sequence[str], name: str, first: str | None, last: str | None
) -> tuple[str, ...]:
    """The released versions from one to another, both included. Raises BadRange."""
    for version in (first, last):
        if version is not None and version not in released:
            near = sorted(released, key=lambda other: abs(_rank(released, version) - released.index(other)))[
                :5
            ]
            raise BadRange(
                f"{name} {version} was not released; near it are {', '.join(sorted(near, key=number_of))}"
            )
    low = 0 if first is None else released.index(first)
    high = len(released) if last is None else released.index(last) + 1
    if low >= high:
        raise BadRange(f"--from {first} is newer than --to {last}")
    return tuple(released[low:high])


def _rank(released: Sequence[str], version: str) -> int:
    """Where a version would stand among the released ones."""
    return sum(number_of(other) < number_of(version) for other in released)
