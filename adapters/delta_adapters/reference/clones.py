"""Make the first commit of a table from existing files: of another table, or of a folder of Parquet files."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote

import pyarrow.parquet as pq

from delta_adapters.reference import actions
from delta_adapters.reference.log_writer import checkpoint_actions
from delta_adapters.reference.value_serialization import NULL_FOLDER, path_in_log
from delta_models.log import Snapshot, paths

CLONED = ("protocol", "metaData", "add", "txn", "domainMetadata")


def clone_forms(source: Path, target: Path, snapshot: Snapshot, *, shallow: bool) -> list[actions.Form]:
    """Return the first commit of a clone. It has absolute paths to the source's files, or paths to copies of them."""
    forms = []
    for form in checkpoint_actions(snapshot, 0):
        kind, fields = next(iter(form.items()))
        if kind not in CLONED:
            continue
        if kind == "add":
            file = paths.resolve(source, fields["path"]).resolve()
            if shallow:
                fields["path"] = file.as_uri()
            else:
                copy = target / file.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
            fields["dataChange"] = True
        forms.append(form)
    return forms


def adds_of_folder(folder: Path) -> list[actions.Form]:
    """Return an add for each Parquet file under a folder, with the partition values that its folders spell."""
    return [
        _add(folder, path) for path in sorted(folder.rglob("*.parquet")) if "_delta_log" not in path.parts
    ]


def _add(folder: Path, path: Path) -> actions.Form:
    relative = path.relative_to(folder)
    values = dict(_partition_value(part) for part in relative.parts[:-1] if "=" in part)
    form = actions.add(path_in_log(str(relative)), values, path.stat().st_size, None, data_change=True)
    form["add"]["stats"] = actions.stats_text({"numRecords": pq.read_metadata(path).num_rows})
    return form


def _partition_value(part: str) -> tuple[str, str | None]:
    name, _, text = part.partition("=")
    value = unquote(text)
    return unquote(name), None if value in {NULL_FOLDER, ""} else value
