"""Write checkpoints of the policy `v2`, in both forms that the protocol allows.

Odd versions get one Parquet file with all actions. Even versions get a JSON file, with adds and removes in a sidecar.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from delta_adapters.reference import actions
from delta_adapters.reference.log_writer import CHECKPOINT_SCHEMA, publish_hint, stage_file, to_arrow_rows

POLICY, SECOND = "delta.checkpointPolicy", "v2"
FEATURE = "v2Checkpoint"
FOLDER = "_sidecars"
FILES = ("add", "remove")
METADATA = pa.field("checkpointMetadata", pa.struct([("version", pa.int64())]))


def publish_v2(log: Path, forms: Sequence[actions.Form], version: int) -> None:
    """Write a checkpoint with a unique name, and then the hint that leads to it."""
    marker: actions.Form = {"checkpointMetadata": {"version": version}}
    if version % 2:
        size = _parquet(log, [marker, *forms], f"{version:020}.checkpoint.{uuid.uuid4()}.parquet")
    else:
        files = [form for form in forms if set(form) & set(FILES)]
        rest = [form for form in forms if not set(form) & set(FILES)]
        sidecars = [_sidecar(log, files)] if files else []
        text = "".join(f"{json.dumps(form, separators=(',', ':'))}\n" for form in (marker, *sidecars, *rest))
        made = stage_file(log, text.encode())
        size = made.stat().st_size
        made.rename(log / f"{version:020}.checkpoint.{uuid.uuid4()}.json")
    publish_hint(log, version, len(forms) + 1, size, sum("add" in form for form in forms))


def _parquet(log: Path, forms: Sequence[actions.Form], name: str) -> int:
    made = stage_file(log, b"")
    schema = CHECKPOINT_SCHEMA.append(METADATA)
    pq.write_table(pa.Table.from_pylist(to_arrow_rows(forms), schema=schema), made)
    size = made.stat().st_size
    made.rename(log / name)
    return size


def _sidecar(log: Path, files: Sequence[actions.Form]) -> actions.Form:
    (log / FOLDER).mkdir(exist_ok=True)
    name = f"{uuid.uuid4()}.parquet"
    made = stage_file(log / FOLDER, b"")
    schema = pa.schema([field for field in CHECKPOINT_SCHEMA if field.name in FILES])
    pq.write_table(pa.Table.from_pylist(to_arrow_rows(files), schema=schema), made)
    size = made.stat().st_size
    made.rename(log / FOLDER / name)
    return {"sidecar": {"path": name, "sizeInBytes": size, "modificationTime": actions.now()}}
