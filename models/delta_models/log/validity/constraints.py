"""Rules for the CHECK constraints among a table's properties: what they name is there."""

from __future__ import annotations

from collections.abc import Iterator

from delta_models.log.actions import Metadata
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog
from delta_models.log.state import Snapshot
from delta_models.requirements.base import Violation
from delta_models.sql import NoSuchColumn, SqlError, parse_predicate

PREFIX = "delta.constraints."
_QUOTE = '"'  # a name to some engines, a string to others: such a text says nothing for sure


def violations(before: Snapshot | None, commit: Commit) -> Iterator[Violation]:
    """Breaches by a commit that sets metadata; one that was there before it is not told again."""
    if commit.metadata is None:
        return
    known = set(_orphans(before.metadata)) if before is not None else set()
    for name, detail in _orphans(commit.metadata):
        if (name, detail) not in known:
            yield Violation("log.constraint-columns-known", f"{name}: {detail}", commit.name)


def _orphans(metadata: Metadata) -> Iterator[tuple[str, str]]:
    for name, text in metadata.configuration.items():
        if not name.startswith(PREFIX) or _QUOTE in text:
            continue
        try:
            parse_predicate(text, metadata.schema)
        except NoSuchColumn as error:
            yield name, str(error)
        except (SqlError, CorruptLog):
            continue  # a text that is not ours to understand, or a schema that is reported as none
