"""The bounds of a variant: a minimum and a maximum for single paths in it, each held to the values at that path.

Section "Statistics for Variant Columns" of the protocol. A bound is itself a variant: an object whose keys are
normalized paths (RFC 9535) and whose values are primitives. In JSON its two parts follow each other, as Z85. The words
of the protocol have the metadata first, its examples the value, and these end in a shortened block, n bytes as n + 1
characters: all of that is read, and a last block that is filled with zeros.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from delta_models import variants
from delta_models.log.deletion_vectors import z85_decode
from delta_models.log.errors import CorruptFile
from delta_models.log.validity.stats_bounds import judge_bound
from delta_models.requirements.base import Verdict
from delta_models.schema import DataType, Primitive
from delta_models.values import Decimal, Value
from delta_models.variants import Scalar

Path = tuple[str | int, ...]
_MISSING = object()
_BLOCK = 5
_CONTAINERS = {"object", "array"}
_KINDS = {
    7: "double", 11: "date", 12: "timestamp", 13: "timestamp_ntz", 14: "float", 15: "binary", 17: "time",
    18: "timestamp", 19: "timestamp_ntz", 20: "uuid",
}  # fmt: skip
_NANOS = {18, 19}
_FORMATS = {"double": "<d", "float": "<f", "date": "<i"}
_UNORDERED = {"null", "binary", "uuid"}
_OF_VARIANTS = {
    "stats.min-values": "stats.variant-min-values",
    "stats.max-values": "stats.variant-max-values",
    "stats.tight-bounds": "stats.variant-tight-bounds",
}
_STEP = re.compile(
    r"\[(?:(0|[1-9][0-9]*)|'((?:[^'\\\x00-\x1f]|\\(?:[btnfr'\\]|u00(?:0[0-7bef]|1[0-9a-f])))*)')\]"
)
_ESCAPED = re.compile(r"\\(u[0-9a-f]{4}|.)")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}


def judge_bounds(low: Any, high: Any, present: Sequence[Value], *, tight: bool) -> Iterator[Verdict]:
    """The rules on both bounds of a column; `present` are its variants that are not null."""
    bounds: list[Mapping[str, Any]] = []
    for kind, form in (("minimum", low), ("maximum", high)):
        tree: variants.Tree = {}
        if form is not None:
            try:
                tree = decode_bound(form)
            except ValueError as error:
                yield "stats.variant-bounds-encoded", f"the {kind} is no variant in Z85: {error}"
            else:
                yield "stats.variant-bounds-encoded", None
                yield from _shape(kind, tree)
        paths = tree if isinstance(tree, dict) else {}
        bounds.append({key: tree for key, tree in paths.items() if kind_of(tree) not in _CONTAINERS})
    try:
        trees = [variants.decode(value) for value in present]
    except variants.MalformedVariant:
        return  # no value to hold a bound to
    for key in sorted({*bounds[0], *bounds[1]}):
        path = parse_path(key)
        if path is not None:
            there = [value for tree in trees for value in (_at(tree, path),) if value is not _MISSING]
            for requirement, wrong in _path(bounds, key, there, tight=tight):
                yield requirement, None if wrong is None else f"{key}: {wrong}"


def decode_bound(form: Any) -> variants.Tree:
    """The tree that a bound in JSON means. Raises ValueError."""
    if not isinstance(form, str):
        message = f"it is {repr(form)[:60]}"
        raise ValueError(message)  # noqa: TRY004 - one kind for all that is no bound
    return variants.decode(variants.split(_bytes(form)))


def parse_path(text: str) -> Path | None:
    """The steps of a normalized path; None if it is none."""
    if not text.startswith("$"):
        return None
    steps: list[str | int] = []
    at = 1
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            return None
        index, at = step[1], step.end()
        steps.append(int(index) if index is not None else _ESCAPED.sub(_character, step[0][2:-2]))
    return tuple(steps)


def kind_of(tree: variants.Tree) -> str:
    """The type of a value: those that the encoding calls equivalent, as numbers of other widths, are one."""
    match tree:
        case None:
            return "null"
        case bool():
            return "boolean"
        case Scalar(kind, _):
            return _KINDS[kind]
        case Decimal() | int():
            return "exact number"
        case str():
            return "string"
        case dict():
            return "object"
    return "array"


def _bytes(text: str) -> bytes:
    rest = len(text) % _BLOCK
    try:
        data = z85_decode(text + "#" * (-len(text) % _BLOCK))
    except CorruptFile as error:
        raise ValueError(str(error)) from error
    return data[: len(data) - (_BLOCK - rest)] if rest else data


def _character(escape: re.Match[str]) -> str:
    said = escape[1]
    return chr(int(said[1:], 16)) if len(said) > 1 else _ESCAPES.get(said, said)


def _shape(kind: str, tree: variants.Tree) -> Iterator[Verdict]:
    if not isinstance(tree, dict):
        yield "stats.variant-bounds-by-path", f"the {kind} is no object, it is of type {kind_of(tree)}"
        return
    for key, value in tree.items():
        if parse_path(key) is None:
            wrong = f"the {kind} has the key {key!r}, which is no normalized path"
            yield "stats.variant-bounds-by-path", wrong
            continue
        yield "stats.variant-bounds-by-path", None
        container = kind_of(value) in _CONTAINERS
        detail = f"{key}: the {kind} is of type {kind_of(value)}" if container else None
        yield "stats.variant-bounds-primitive", detail


def _at(tree: variants.Tree, path: Path) -> variants.Tree:
    """The value at a path; _MISSING where there is none."""
    for step in path:
        if isinstance(tree, dict) and isinstance(step, str):
            tree = tree.get(step, _MISSING)
        elif isinstance(tree, list) and isinstance(step, int) and step < len(tree):
            tree = tree[step]
        else:
            return _MISSING
    return tree


def _path(
    bounds: Sequence[Mapping[str, Any]], key: str, there: Sequence[variants.Tree], *, tight: bool
) -> Iterator[Verdict]:
    said = {kind_of(bound[key]) for bound in bounds if key in bound}
    if len(said) > 1:
        yield "stats.variant-bounds-types-agree", f"the bounds are of the types {' and '.join(sorted(said))}"
        return
    if all(key in bound for bound in bounds):
        yield "stats.variant-bounds-types-agree", None
    values = [value for value in there if value is not None]
    types = {kind_of(value) for value in values}
    if not values or said == {"null"}:
        return  # nothing to bound, or no information
    if types != said:
        detail = f"bounds of type {said.pop()}, the values are of {' and '.join(sorted(types))}"
        yield "stats.variant-bounds-one-type", detail
        return
    yield "stats.variant-bounds-one-type", None
    name = said.pop()
    if name in _UNORDERED:
        return
    ends = [bound[key] for bound in bounds if key in bound]
    data_type, plain = _plain(name, [*ends, *values])
    for at, low in enumerate(low for low, bound in zip((True, False), bounds, strict=True) if key in bound):
        for requirement, wrong in judge_bound(data_type, plain[len(ends) :], plain[at], low=low, tight=tight):
            if requirement in _OF_VARIANTS:
                yield _OF_VARIANTS[requirement], wrong


def _plain(name: str, trees: Sequence[variants.Tree]) -> tuple[DataType, list[Value]]:
    """Values of one type as a column would hold them, and the type of such a column."""
    if name == "exact number":
        numbers = [number if isinstance(number, Decimal) else Decimal(number, 0) for number in trees]
        scale = max(number.scale for number in numbers)
        return Primitive("long"), [number.at_scale(scale) for number in numbers]
    if name in {"string", "boolean"}:
        return Primitive(name), list(trees)
    found: list[Value] = []
    for kind, payload in trees:
        number = struct.unpack(_FORMATS.get(name, "<q"), payload)[0]
        found.append(number // 1_000 if kind in _NANOS else number)
    return Primitive("long" if name == "time" else name), found
