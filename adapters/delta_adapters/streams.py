"""The folders of streams, and the batches that a stream reader has received so far.

`_checkpoints` below a table's folder holds the progress of streams. Its name begins with an underscore, so no vacuum
touches it, and it moves with the table. The checkpoints of the table's log are something else.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

PROGRESS = "_checkpoints"
ENDING = ".arrow"


def progress_of(table: str | Path, stream: str) -> Path:
    """Return the folder with the progress of a stream that reads or writes the table."""
    return Path(table, PROGRESS, stream)


def arrivals_of(table: str | Path, stream: str) -> Path:
    """Return the folder where files arrive for a stream that writes into the table.

    It lies beside the table, so that the files stay where they are when the table is moved.
    """
    return Path(table).resolve().parent / f"{stream}-arrivals"


class ReceivedBatches:
    """The batches that a stream reader has received, one file each. A batch that comes again replaces itself."""

    def __init__(self, progress: Path) -> None:
        self._folder = progress / "received"

    def keep(self, number: int, batch: pa.Table) -> None:
        """Write a batch, whole or not at all."""
        import pyarrow as pa  # noqa: PLC0415 - a caller with a table has imported it

        self._folder.mkdir(parents=True, exist_ok=True)
        partial = self._folder / f".{number:020}.tmp"
        with pa.OSFile(str(partial), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
            writer.write_table(batch)
        partial.replace(self._folder / f"{number:020}{ENDING}")

    @property
    def newest(self) -> int | None:
        """The highest number of a batch so far, None without batches."""
        return max((int(path.stem) for path in self._folder.glob(f"*{ENDING}")), default=None)

    def all(self) -> pa.Table:
        """Return all batches as one table. Raises FileNotFoundError if there is none."""
        import pyarrow as pa  # noqa: PLC0415 - as above

        batches = []
        for path in sorted(self._folder.glob(f"*{ENDING}")):
            with pa.OSFile(str(path)) as file:
                batches.append(pa.ipc.open_file(file).read_all())
        if not batches:
            raise FileNotFoundError(f"nothing was received in {self._folder}")
        return pa.concat_tables(batches)
