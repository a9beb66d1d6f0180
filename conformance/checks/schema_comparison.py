"""When two schemas say the same: as Delta JSON, what writers may add of their own apart."""

from __future__ import annotations

from typing import Any

from delta_models.schema import Struct, to_json

FREE_METADATA = (
    "delta.columnMapping.",
    "CURRENT_DEFAULT",
    "EXISTS_DEFAULT",
    "parquet.field.",
    "delta.typeChanges",
    "delta.identity.highWaterMark",
)


def meaning(schema: Struct) -> Any:
    """What a schema says, comparable with what another does."""
    return _plain(to_json(schema))


def _plain(form: Any) -> Any:
    match form:
        case {"metadata": dict(metadata), **rest}:
            kept = {key: value for key, value in metadata.items() if not key.startswith(FREE_METADATA)}
            return {"metadata": kept, **{key: _plain(value) for key, value in rest.items()}}
        case dict():
            return {key: _plain(value) for key, value in form.items()}
        case list():
            return [_plain(each) for each in form]
    return form
