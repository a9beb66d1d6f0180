"""Find the form of a Parquet file's data pages, from the header of each column's first page."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from delta_models.log.errors import CorruptFile
from delta_models.log.parquet.layout import footer

# A page header begins with its type: the field 1, a number of 32 bits, in Thrift's compact protocol.
_FIELD = 0x15
_FORMS = {0: 1, 6: 2}  # DATA_PAGE and DATA_PAGE_V2, zigzag


def page_forms(path: Path) -> set[int]:
    """Return the versions of the data pages in a file, 1 or 2; none for a file without rows. Raises CorruptFile.

    Columns that begin with another kind of page do not count.
    """
    starts = footer(path).pages
    try:
        with path.open("rb") as data:
            return {form for start in starts if (form := _form(data, start)) is not None}
    except OSError as error:
        raise CorruptFile(f"the file {path} cannot be read: {error}") from error


def _form(file: BinaryIO, start: int) -> int | None:
    file.seek(start)
    head = file.read(2)
    return _FORMS.get(head[1]) if len(head) == 2 and head[0] == _FIELD else None
