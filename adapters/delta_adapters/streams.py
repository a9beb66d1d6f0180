"""Where streams keep what is theirs, and what a reader that follows a table has got so far.

`_checkpoints` below a table's folder is for the progress of streams: its name begins with an underscore, so no vacuum
looks into it, and it goes where the table goes. The checkpoints of the table's log are another matter.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

PROGRESS = "_checkpoints"
ENDING = ".arrow"


def progress_of(table: str | Path, stream: str) -> Path:
    """How far a stream has come that reads or writes the table."""
    return Path(table, PROGRESS, stream)


def arrivals_of(table: str | Path, stream: str) -> Path:
    """Where files arrive for a stream that writes into the table: beside it, so that they stay where they are."""
    return Path(table).resolve().parent / f"{stream}-arrivals"


class ReceivedBatches:
    """The batches that a reader has got, a file each. One that comes again takes its own place."""

    def __init__(self, progress: Path) -> None:
        self._folder = progress / "received"

    def keep(self, number: int, batch: pa.Table) -> None:
        """A batch, whole or not at all."""
        import pyarrow as pa  # noqa: PLC0415 - whoever has a table has imported it

        self._folder.mkdir(parents=True, exist_ok=True)
        partial = self._folder / f".{number:020}.tmp"
        with pa.OSFile(str(partial), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
            writer.write_table(batch)
        partial.replace(self._folder / f"{number:020}{ENDING}")

    @property
    def newest(self) -> int | None:
        """The highest number so far."""
        return max((int(path.stem) for path in self._folder.glob(f"*{ENDING}")), default=None)

    def all(self) -> pa.Table:
        """All batches as one table. Raises FileNotFoundError if there is none."""
        import pyarrow as pa  # noqa: PLC0415 - as above

        batches = []
        for path in sorted(self._folder.glob(f"*{ENDING}")):
            with pa.OSFile(str(path)) as file:
                batches.append(pa.ipc.open_file(file).read_all())
        if not batches:
            raise FileNotFoundError(f"nothing was received in {self._folder}")
        return pa.concat_tables(batches)
