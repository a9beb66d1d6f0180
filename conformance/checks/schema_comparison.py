"""Compare schemas by their Delta JSON, without metadata that writers may add on their own."""

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


def comparable_schema(schema: Struct) -> Any:
    """Return a form of a schema that equals the form of every schema with the same meaning."""
    return _plain(to_json(schema))


def _plain(form: Any) -> Any:
    match form:
        case {"metadata": dict(metadata), **rest}:
            kept = {key: value for key, value in metadata.items() if not key.startswith(FREE_METADATA)}
            return {"metadata": kept, **{key: _plain(value) for key, value in rest.items()}}
        case dict():
            return {key: _plain(value) for key, value in form.items()}
        case list():
            return [_plain(item) for item in form]
    return form
