"""An engine may enable row tracking in one commit or in several: the protocol, ids for old files, the property."""

from __future__ import annotations

import pytest

from delta_adapters.reference import CommitBuilder, Reference
from tests.mutants import stories
from tests.mutants.stage import play


class OneAfterAnother(Reference):
    """Names the feature first, then gives files their ids, then sets the property, as delta-spark does."""

    def commit(self, draft, snapshot, operation, tag):
        protocol = [other for other in draft.others if "protocol" in other]
        if operation != "SetProperties" or not protocol:
            return super().commit(draft, snapshot, operation, tag)
        rest = [other for other in draft.others if other not in protocol]
        for part in (CommitBuilder(others=protocol), CommitBuilder(adds=draft.adds)):
            super().commit(part, self.current(), operation, tag)
        return super().commit(CommitBuilder(others=rest), self.current(), operation, tag)


@pytest.mark.parametrize("engine", (Reference, OneAfterAnother))
def test_enabling_row_tracking_violates_nothing(engine, tmp_path):
    played = play(engine(), tmp_path / "table", stories.TRACK_LATER)
    assert played.broken == set(), played.describe()
    assert played.faults == []
    assert played.evidence["tracking.enabled-whole"] > 0
    assert played.evidence["write.definition-keeps-files"] > 0
