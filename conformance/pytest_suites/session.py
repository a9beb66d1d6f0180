"""What the plugin and the tests of a campaign share in one process. It imports nothing of the harness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.pytest_suites.planned import Campaign
    from conformance.pytest_suites.played import Played
    from conformance.pytest_suites.replays import Replays

EXIT = "conformance_exit"  # the property of a report that carries the exit code of the run
MARK = "conformance"  # the property of a report that says what the campaign says, and the marker


@dataclass(slots=True)
class CampaignSession:
    """The campaign as planned, and what its tests read: the played one, or replays of what the last one found."""

    campaign: Campaign
    played: Played | None = None
    replays: Replays | None = None


CAMPAIGN = pytest.StashKey[CampaignSession]()
