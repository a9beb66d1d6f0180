"""Tables made of files that are there already: clones of another table, and folders of Parquet files."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote

import pyarrow.parquet as pq

from delta_adapters.reference import actions
from delta_adapters.reference.log_writer import checkpoint_actions
from delta_adapters.reference.value_serialization import NULL_FOLDER, path_in_log
from delta_models.log import Snapshot, paths

KEPT = ("protocol", "metaData", "add", "txn", "domainMetadata")


def clone_forms(source: Path, target: Path, snapshot: Snapshot, *, shallow: bool) -> list[actions.Form]:
    """The first commit of a clone: absolute paths to the source's files, or copies of them."""
    forms = []
    for form in checkpoint_actions(snapshot, 0):
        kind, said = next(iter(form.items()))
        if kind not in KEPT:
            continue
        if kind == "add":
            file = paths.resolve(source, said["path"]).resolve()
            if shallow:
                said["path"] = file.as_uri()
            else:
                place = target / file.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)
            said["dataChange"] = True
        forms.append(form)
    return forms


def adds_of_folder(folder: Path) -> list[actions.Form]:
    """The Parquet files under a folder, with the partition values that their folders spell."""
    return [
        _found(folder, path) for path in sorted(folder.rglob("*.parquet")) if "_delta_log" not in path.parts
    ]


def _found(folder: Path, path: Path) -> actions.Form:
    relative = path.relative_to(folder)
    values = dict(_value(part) for part in relative.parts[:-1] if "=" in part)
    place = path_in_log(str(relative))
    form = actions.add(place, values, path.stat().st_size, None, data_change=True)
    form["add"]["stats"] = actions.stats_text({"numRecords": pq.read_metadata(path).num_rows})
    return form


def _value(part: str) -> tuple[str, str | None]:
    name, _, text = part.partition("=")
    value = unquote(text)
    return unquote(name), None if value in {NULL_FOLDER, ""} else value
