"""The names that checks have on disk: in the catalogue of requirements and in `docs/requirements.md`."""

from __future__ import annotations

from enum import StrEnum


class CheckName(StrEnum):
    """One check's name on disk. It stays as it is when the module or the function of the check is renamed."""

    CHANGE_DATA_WRITTEN = "recorded"
    CHECKPOINTS = "checkpoint"
    CHECKSUMS = "checksums"
    CRASHES = "crashes"
    EXAMPLES = "worked"  # the suite of examples compares with results that are written down
    FILE_PRESERVATION = "untouched"
    HOSTS = "player"  # the table session judges whether a host lives and answers
    IDENTITY_COLUMNS = "identity"
    INTROSPECTION = "told"
    LOG_VALIDITY = "log"
    METAMORPHIC = "metamorphic"
    METRICS = "metrics"
    OUTCOMES = "outcomes"
    PROTOCOL = "protocol"
    RACES = "races"
    READS = "reads"
    ROW_CONSTRAINTS = "rules"
    STATISTICS = "statistics"
    STREAMS = "streams"
    TABLE_CONTENTS = "contents"
    VACUUM = "vacuum"


# Names of requirements that no module of this package judges.
JUDGED_ELSEWHERE = frozenset({CheckName.EXAMPLES, CheckName.HOSTS})
