"""Rules for the form of data pages, which the property delta.parquet.format.version asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from delta_models.log.actions import Metadata
from delta_models.log.errors import LogError
from delta_models.log.parquet.layout import page_forms

PROPERTY = "delta.parquet.format.version"
_FIRST = "1.0.0"
_SECOND = re.compile(r"2\.\d+\.\d+")


def is_legal(metadata: Metadata) -> bool:
    """Whether the property means a form; it need not be there."""
    said = metadata.configuration.get(PROPERTY, _FIRST)
    return said == _FIRST or _SECOND.fullmatch(said) is not None


def judge_pages(metadata: Metadata, path: Path) -> Iterator[str | None]:
    """What is wrong with the pages of a new file, or None; nothing where no form is asked for, or none is seen."""
    if not is_legal(metadata):
        return  # reported with the commit that set it
    said = metadata.configuration.get(PROPERTY, _FIRST)
    wanted = 1 if said == _FIRST else 2
    try:
        forms = page_forms(path)
    except (LogError, ValueError):
        return  # reported as a file that is not there or cannot be read
    if forms:
        wrong = None
        if forms != {wanted}:
            wrong = f"data pages of form {max(forms) if wanted == 1 else 1}, {PROPERTY} is {said}"
        yield wrong
