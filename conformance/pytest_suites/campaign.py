"""The tests of a campaign: one for each requirement of each engine, one for each kept history, one for the verdict.

This file is what pytest collects. A test plays nothing: it reads what the campaign says, which the plugin has played by
then, or it replays what the last campaign found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.pytest_suites.failures import finding_lines
from conformance.pytest_suites.planned import KEPT, OBSERVABLE, VERDICT, CampaignEngine
from conformance.pytest_suites.played import Played
from conformance.pytest_suites.session import CAMPAIGN, EXIT, MARK, CampaignSession
from conformance.reporting.exit_status import HOLDS
from conformance.reporting.requirement_verdicts import fails_run, requirement_verdict
from conformance.reporting.terminal.final_summary import HEADLINES
from conformance.reporting.text import here
from delta_models.requirements import Requirement

REASONS = 5  # of the run, that the verdict shows; the end of the session shows more


class CampaignFile(pytest.File):
    """This file, as pytest collects it."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """The tests, kept histories first, as a run plays them; the verdict is last."""
        if CAMPAIGN not in self.config.stash:
            message = "the plugin has planned no campaign for this path; give --pyargs conformance.suites"
            raise self.CollectError(message)
        campaign = self.config.stash[CAMPAIGN].campaign
        if campaign.kept:
            yield KeptHistories.from_parent(self, name=KEPT)
        for engine in campaign.engines:
            yield EngineTests.from_parent(self, name=engine.name, engine=engine)
        yield VerdictTest.from_parent(self, name=VERDICT)


class EngineTests(pytest.Collector):
    """The requirements of one engine."""

    def __init__(self, *, engine: CampaignEngine, **rest: Any) -> None:
        super().__init__(**rest)
        self.engine = engine

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each requirement that a history can show."""
        for requirement in OBSERVABLE:
            yield RequirementTest.from_parent(self, name=requirement.id, requirement=requirement)


class KeptHistories(pytest.Collector):
    """The histories that a team keeps."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each, in the order of their chunks."""
        for number, name in enumerate(self.config.stash[CAMPAIGN].campaign.kept):
            yield KeptTest.from_parent(self, name=name, number=number)


class CampaignTest(pytest.Item):
    """A test that reads what the campaign says. `key` is its name among all tests of the campaign."""

    @property
    def key(self) -> str:
        """The name in `Campaign.names`."""
        return f"{self.parent.name}::{self.name}" if self.parent is not None else self.name

    @property
    def session_campaign(self) -> CampaignSession:
        """The campaign of this process."""
        return self.config.stash[CAMPAIGN]

    @property
    def played(self) -> Played:
        """What was played."""
        played = self.session_campaign.played
        assert played is not None
        return played

    def runtest(self) -> None:
        """Replay what the last campaign found here, or read what the one of this session says."""
        __tracebackhide__ = True
        replays = self.session_campaign.replays
        if replays is None:
            self.read()
        else:
            self.user_properties.append((MARK, "replayed"))
            still = replays.play(self.key)
            if still:
                pytest.fail(still, pytrace=False)

    def read(self) -> None:
        """Fail, skip or pass by what the campaign says."""
        raise NotImplementedError

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test is: this file, whatever it is about."""
        return self.path, None, self.key

    def fail(self, verdict: str, lines: Iterable[str], folders: Sequence[Path] = ()) -> None:
        """Fail, and note what a rerun of this test replays."""
        __tracebackhide__ = True
        self.user_properties.append((MARK, verdict))
        self.user_properties.extend(("conformance_finding", str(folder)) for folder in folders)
        pytest.fail("\n".join(lines), pytrace=False)

    def skip(self, verdict: str, reason: str) -> None:
        """Skip with the reason. The summary of skips names this line, so it is not hidden."""
        self.user_properties.append((MARK, verdict))
        pytest.skip(reason)


class RequirementTest(CampaignTest):
    """One requirement of one engine."""

    def __init__(self, *, requirement: Requirement, **rest: Any) -> None:
        super().__init__(**rest)
        self.requirement = requirement
        assert isinstance(self.parent, EngineTests)
        self.engine = self.parent.engine
        campaign = self.session_campaign.campaign
        core = campaign.is_core(self.engine.name, requirement.id)
        area = requirement.id.partition(".")[0]
        self.add_marker(
            pytest.mark.conformance(
                engine=self.engine.name, strength=requirement.strength, area=area, core=core
            )
        )
        for suite in campaign.suites_of(self.engine.name, requirement.id):
            self.add_marker(pytest.mark.conformance(suite=suite))

    def read(self) -> None:
        """Fail if the run fails by it, pass if it holds, and skip with the reason otherwise."""
        __tracebackhide__ = True
        results, label = self.played.results, self.played.label_of(self.engine.spec)
        if results is None or label is None:
            self.skip("not-tested", f"{self.engine.name} was not tested: {'; '.join(self.played.reasons)}")
            return
        verdict = requirement_verdict(results, self.requirement.id, label)
        if verdict.outcome == "fails":
            rule = self.requirement
            lines = [
                f"{label} breaks {rule.id} ({rule.strength}): {verdict.reason}",
                f"  {rule.sentence} [{rule.section}]",
                *finding_lines(verdict.findings),
                "",
                "No known cause explains it. What is wrong for now can become known: --conformance-baseline SUMMARY",
            ]
            self.fail(verdict.verdict, lines, [finding.folder for finding in verdict.findings])
        elif verdict.outcome == "undecided":
            self.skip(verdict.verdict, verdict.reason)
        else:
            self.user_properties.append((MARK, verdict.verdict))


class KeptTest(CampaignTest):
    """One kept history, on all engines that claim its steps."""

    def __init__(self, *, number: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.number = number
        self.add_marker(pytest.mark.conformance(suite="regressions"))

    def read(self) -> None:
        """Fail if a violation in it is one that the run fails by."""
        __tracebackhide__ = True
        results = self.played.results
        judged, violations = self.played.kept(self.number)
        if results is None:
            self.skip("not-tested", f"nothing was tested: {'; '.join(self.played.reasons)}")
            return
        broken = {(violation.requirement, violation.engine) for violation in violations}
        failing = [
            finding
            for finding in results.findings
            if fails_run(finding, results)
            and any((rule, finding.event.engine) in broken for rule in finding.requirements)
        ]
        if failing:
            lines = [f"the kept history {self.name} does not hold", *finding_lines(failing)]
            self.fail("violated", lines, [finding.folder for finding in failing])
        elif not judged:
            self.skip("not-enough-evidence", "no engine that claims its steps played it to its end")
        elif violations:
            self.skip("known-deviation", "it is broken only in ways that do not fail a run")
        else:
            self.user_properties.append((MARK, "holds"))


class VerdictTest(CampaignTest):
    """The verdict of the run: it fails wherever `conformance run` does not end with 0."""

    @property
    def key(self) -> str:
        """The name, which has no engine."""
        return self.name

    def runtest(self) -> None:
        """Fail if the run does not hold. A session that replays has no run: then the verdict is skipped."""
        __tracebackhide__ = True
        if self.session_campaign.replays is not None:
            self.skip("not-played", "this session replays findings; without --lf or -k it plays the campaign")
        self.read()

    def read(self) -> None:
        """Fail with the reasons of the run."""
        __tracebackhide__ = True
        played = self.played
        self.user_properties.append((EXIT, played.exit))
        if played.exit != HOLDS:
            reasons = [f"  - {reason}" for reason in played.reasons[:REASONS]]
            if len(played.reasons) > REASONS:
                reasons.append(f"  - and {len(played.reasons) - REASONS} more, in the report")
            report = [f"  report: {here(played.folder / 'report.html')}"] if played.folder else []
            self.fail("fails", [f"{HEADLINES[played.exit]} (exit {played.exit})", *reasons, *report])
        self.user_properties.append((MARK, "holds"))
