"""Rules for the CHECK constraints among a table's properties: what they name is there."""

from __future__ import annotations

from collections.abc import Iterator

from delta_models.log.actions import Metadata
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog
from delta_models.log.state import Snapshot
from delta_models.requirements.base import Verdict
from delta_models.sql import NoSuchColumn, SqlError, parse_predicate

PREFIX = "delta.constraints."
_QUOTE = '"'  # a name to some engines, a string to others: such a text says nothing for sure


def judge(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    """A commit that sets metadata; a breach that was there before it is not told again."""
    if commit.metadata is None:
        return
    known = {text for text in _texts(before.metadata) if text[1]} if before is not None else set()
    for name, wrong in _texts(commit.metadata):
        if (name, wrong) not in known:
            yield "log.constraint-columns-known", None if wrong is None else f"{name}: {wrong}"


def _texts(metadata: Metadata) -> Iterator[tuple[str, str | None]]:
    """The constraints that we understand, each with what is wrong with the columns that it names."""
    for name, text in metadata.configuration.items():
        if not name.startswith(PREFIX) or _QUOTE in text:
            continue
        try:
            parse_predicate(text, metadata.schema)
        except NoSuchColumn as error:
            yield name, str(error)
        except (SqlError, CorruptLog):
            continue  # a text that is not ours to understand, or a schema that is reported as none
        else:
            yield name, None
