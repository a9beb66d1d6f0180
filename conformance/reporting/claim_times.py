"""How long each claim took: its share of the time that its engine worked in the histories where it was checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from conformance.events.types import HistoryEnded
from conformance.reporting.claims import ClaimSetting, SettingEvidence


def claim_seconds(
    settings: Mapping[ClaimSetting, SettingEvidence], histories: Mapping[tuple[object, ...], HistoryEnded]
) -> dict[ClaimSetting, float]:
    """The seconds of each claim. Those of an engine add up to its time in histories that checked anything.

    One call of an engine is judged by many requirements. So a history's time is divided among them by their checks.
    """
    checks: Counter[tuple[tuple[object, ...], str]] = Counter()
    for setting, gathered in settings.items():
        for history, totals in gathered.histories.items():
            checks[history, setting.engine] += totals.checks
    return {
        setting: sum(
            histories[history].engine_seconds.get(setting.engine, 0.0)
            * totals.checks
            / checks[history, setting.engine]
            for history, totals in gathered.histories.items()
            if history in histories and totals.checks
        )
        for setting, gathered in settings.items()
    }
