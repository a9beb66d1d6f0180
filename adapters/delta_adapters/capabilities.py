"""The capability document: what an engine claims, validated against its published JSON Schema.

Capabilities decide which engines execute an operation, never which operations are drawn. If an engine claims a
capability and answers `Unsupported`, that is a finding.
"""

from __future__ import annotations

import difflib
import functools
import importlib.resources
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from delta_models.expressions import And, Between, Call, Compare, Expression, In, IsNotNull, IsNull, Not, Or
from delta_models.operations import (
    AddColumn,
    Append,
    AtState,
    AtVersion,
    CloneTo,
    Create,
    CreateAs,
    Delete,
    Detail,
    DropFeature,
    EnableFeature,
    Latest,
    Merge,
    Operation,
    Optimize,
    Overwrite,
    Read,
    ReadChanges,
    ReadStream,
    Replace,
    Restore,
    SetNullable,
    SetProperties,
    Update,
    Vacuum,
    When,
    WriteStream,
    ZOrder,
)
from delta_models.schema import Array, DataType, DecimalType, Map, Primitive, Struct, width_of
from delta_models.wire_names import ALPHABET, name_of

ANY = "*"
_WRITES = ("files", "schema-merge", "schema-overwrite", "by-position", "transaction")
_WHEN = ("version", "time")
# What an operation may need beyond its plain form. Operations that are not here have a plain form only.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "Create": ("name", "managed", "if-not-exists", "cluster-by"),
    "Replace": ("cluster-by",),
    "CreateAs": ("replace", "source-dropped"),
    "CloneTo": ("shallow", "deep", *_WHEN),
    "Restore": _WHEN,
    "Append": _WRITES,
    "Overwrite": (*_WRITES, "where", "dynamic"),
    "Merge": (
        "matched.update", "matched.delete", "not-matched.insert", "not-matched-by-source.update",
        "not-matched-by-source.delete", "conditions", "several-clauses", "schema-evolution",
    ),
    "AddColumn": ("parent", "after", "first"),
    "SetNullable": ("not-null",),
    "DropFeature": ("truncate-history",),
    "Optimize": ("where",),
    "ZOrder": ("where",),
    "Vacuum": ("dry-run", "lite", "retention"),
    "Read": (*_WHEN, "where", "columns"),
    "ReadChanges": _WHEN,
    "Detail": _WHEN,
    "Tail": ("rows", "inserts", "changes"),
}  # fmt: skip
REFUSED_BY_ALL = frozenset({"delta.columnMapping.maxColumnId"})  # so no engine has to claim it
IDENTITY, IDENTITIES = "delta.identity.", "identityColumns"


class BadCapabilities(ValueError):
    """The document does not follow `capabilities.schema.json`."""


@functools.cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of the document, as published with this package."""
    text = importlib.resources.files("delta_adapters").joinpath("capabilities.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@dataclass(frozen=True)
class Capabilities:
    """What one engine claims. `document` is the whole document, as given."""

    document: Mapping[str, Any]
    operations: Mapping[str, frozenset[str]]
    data_types: frozenset[str]
    partition_types: frozenset[str]
    nested: bool
    read_features: frozenset[str]
    write_features: frozenset[str]
    properties: frozenset[str]
    functions: frozenset[str]
    storages: frozenset[str]
    guarantees: Mapping[str, bool]
    heavy: bool = False

    @classmethod
    def validated(cls, document: Mapping[str, Any], engine: str = "the engine") -> Self:
        """Return the typed view of a document. Raises BadCapabilities with the place and the reason."""
        import jsonschema  # noqa: PLC0415 - takes as long as the rest of this module, and few processes validate

        errors = sorted(jsonschema.Draft202012Validator(schema()).iter_errors(dict(document)), key=str)
        if errors:
            where = "/".join(map(str, errors[0].absolute_path)) or "the document"
            raise BadCapabilities(
                f"the capability document of {engine} is invalid at {where}: {errors[0].message}"
            )
        if unknown := list(_unknown_words(document["operations"])):
            raise BadCapabilities(
                f"the capability document of {engine} claims what does not exist: {'; '.join(unknown)}"
            )
        return cls.of(document)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Return the typed view of a document that is known to be valid."""
        types, features = document["types"], document["features"]
        return cls(
            document,
            {name: frozenset(claim.get("options", ())) for name, claim in document["operations"].items()},
            frozenset(types["data"]),
            frozenset(types["partition"]),
            bool(types.get("nested", False)),
            frozenset(features["read"]),
            frozenset(features["write"]),
            frozenset(document.get("properties", ())),
            frozenset(document.get("functions", ())),
            frozenset(document["storages"]),
            dict(document["guarantees"]),
            bool(document.get("heavy", False)),
        )

    def covers(self, operation: Operation) -> str | None:
        """Return the reason why the engine does not claim the operation with its options; None if it claims it."""
        name = name_of(operation)
        if name not in self.operations:
            return f"does not claim {name}"
        claimed = self.operations[name]
        missing = () if ANY in claimed else sorted(options_of(operation) - claimed)
        if missing:
            return f"does not claim {name} with {', '.join(missing)}"
        functions = sorted(functions_of(operation) - self.functions)
        if functions:
            return f"does not claim the function {', '.join(functions)} in expressions"
        match operation:
            case Create() | Replace():
                return self.covers_table(operation.schema, operation.partition_by, dict(operation.properties))
            case CreateAs():
                return self.covers_table(
                    operation.rows.schema, operation.partition_by, dict(operation.properties)
                )
            case Append() | Overwrite() | WriteStream():
                return self.covers_types(operation.rows.schema)
            case Merge(source=source):
                return self.covers_types(source.schema)
            case AddColumn(field=field):
                return self.covers_types(Struct((field,)))
            case SetProperties(properties=properties):
                claimable = {key: value for key, value in properties if key not in REFUSED_BY_ALL}
                return self.covers_table(Struct(), properties=claimable)
            case EnableFeature(feature=feature):
                return self.covers_features({feature}, writing=True)
        return None

    def covers_types(self, schema: Struct, partition_by: tuple[str, ...] = ()) -> str | None:
        """Return the reason why the engine does not claim columns of these types; None if it claims them."""
        for field in schema:
            partition = field.name in partition_by
            claimed = self.partition_types if partition else self.data_types
            names = {*type_names(field.type), *(("char",) if width_of(field) is not None else ())}
            missing = sorted(names - claimed)
            if missing:
                return (
                    f"does not claim {'partition ' if partition else ''}columns of type {', '.join(missing)}"
                )
            if not self.nested and _nested(field.type):
                return f"does not claim nested types such as {field.type}"
        return None

    def covers_table(
        self, schema: Struct, partition_by: tuple[str, ...] = (), properties: Mapping[str, str] | None = None
    ) -> str | None:
        """Return the reason why the engine does not claim a table of this shape; None if it claims it."""
        for key in sorted(properties or {}):
            if key.startswith("delta.") and key not in self.properties and ANY not in self.properties:
                return f"does not claim the table property {key}"
        if any(IDENTITY in field.metadata_json for field in schema) and IDENTITIES not in self.write_features:
            return "does not claim to write identityColumns"
        return self.covers_types(schema, partition_by)

    def covers_features(self, features: frozenset[str] | set[str], *, writing: bool) -> str | None:
        """Return the reason why the engine does not claim to read, or write, these features; None if it does."""
        claimed = self.write_features if writing else self.read_features
        missing = sorted(features - claimed)
        return f"does not claim to {'write' if writing else 'read'} {', '.join(missing)}" if missing else None


def _unknown_words(operations: Mapping[str, Any]) -> Iterator[str]:
    """Name the operations and options that nobody could ask for: a slip of the pen would silently test less."""
    for name, claim in operations.items():
        if name not in ALPHABET:
            near = difflib.get_close_matches(name, ALPHABET, n=1)
            yield f"an operation {name}{f' (is {near[0]} meant?)' if near else ''}"
        elif unknown := sorted(set(claim.get("options", ())) - {ANY, *OPTIONS.get(name, ())}):
            known = ", ".join(OPTIONS.get(name, ())) or "none"
            yield f"{name} with {', '.join(unknown)} (its options: {known})"


def options_of(operation: Operation) -> frozenset[str]:
    """Return what an operation needs beyond its plain form, by the names that capability documents use."""
    return frozenset(_options(operation))


def functions_of(operation: Operation) -> frozenset[str]:
    """Return the functions in an operation's expressions."""
    return frozenset(name for expression in _expressions(operation) for name in _calls(expression))


def _options(operation: Operation) -> Iterator[str]:  # noqa: PLR0912 - one branch a kind of operation
    match operation:
        case Append() | Overwrite():
            yield from _write_options(operation)
        case Merge():
            yield from (f"{clause.when}.{clause.action}" for clause in operation.clauses)
            yield from ("conditions" for clause in operation.clauses if clause.condition is not None)
            yield from ("several-clauses" for when in {clause.when for clause in operation.clauses}
                        if sum(clause.when == when for clause in operation.clauses) > 1)  # fmt: skip
            if operation.schema_evolution:
                yield "schema-evolution"
        case Create():
            yield from _flags(operation, "name", "managed", "if_not_exists", "cluster_by")
        case Replace():
            yield from _flags(operation, "cluster_by")
        case CreateAs():
            yield from _flags(operation, "replace", "source_dropped")
        case Restore():
            yield from _when(operation.at)
        case CloneTo():
            yield "shallow" if operation.shallow else "deep"
            yield from _when(operation.at)
        case Read():
            yield from _when(operation.at)
            yield from _flags(operation, "where", "columns")
        case ReadChanges():
            yield from _when(operation.first)
        case Detail():
            yield from _when(operation.at)
        case ReadStream(follows=follows):
            yield follows
        case Optimize() | ZOrder():
            yield from _flags(operation, "where")
        case AddColumn():
            yield from _flags(operation, "parent", "after", "first")
        case SetNullable(nullable=False):
            yield "not-null"
        case DropFeature():
            yield from _flags(operation, "truncate_history")
        case Vacuum():
            yield from _flags(operation, "dry_run", "lite")
            if operation.retention_hours is not None:
                yield "retention"


def _write_options(operation: Append | Overwrite) -> Iterator[str]:
    if operation.files > 1:
        yield "files"
    if operation.schema_mode != "none":
        yield f"schema-{operation.schema_mode}"
    if not operation.by_name:
        yield "by-position"
    if operation.transaction is not None:
        yield "transaction"
    if isinstance(operation, Overwrite):
        yield from _flags(operation, "where", "dynamic")


def _when(at: When) -> Iterator[str]:
    if not isinstance(at, Latest):
        yield "version" if isinstance(at, AtState | AtVersion) else "time"


def _flags(operation: Operation, *names: str) -> Iterator[str]:
    for name in names:
        if getattr(operation, name) not in (None, False, ()):
            yield name.replace("_", "-")


def _expressions(operation: Operation) -> Iterator[Expression]:
    match operation:
        case Delete(where=where) | Overwrite(where=where) | Read(where=where) | Optimize(where=where):
            expressions: tuple[Expression | None, ...] = (where,)
        case Update(assignments=assignments, where=where):
            expressions = (where, *(value for _, value in assignments))
        case Merge(on=on, clauses=clauses):
            expressions = (
                on,
                *(clause.condition for clause in clauses),
                *(value for clause in clauses for _, value in clause.assignments),
            )
        case _:
            expressions = ()
    return (expression for expression in expressions if expression is not None)


def _calls(expression: Expression) -> Iterator[str]:
    match expression:
        case Call(function=function, arguments=arguments):
            yield function
            parts = arguments
        case And(operands=operands) | Or(operands=operands):
            parts = operands
        case Not(operand=operand) | IsNull(operand=operand) | IsNotNull(operand=operand):
            parts = (operand,)
        case Compare(left=left, right=right):
            parts = (left, right)
        case In(operand=operand, options=options):
            parts = (operand, *options)
        case Between(operand=operand, low=low, high=high):
            parts = (operand, low, high)
        case _:
            parts = ()
    for part in parts:
        yield from _calls(part)


def type_names(data_type: DataType) -> Iterator[str]:
    """Yield the names of a type and of the types in it, as capability documents have them."""
    match data_type:
        case Primitive(name=name):
            yield name
        case DecimalType():
            yield "decimal"
        case Array(element=element):
            yield "array"
            yield from type_names(element)
        case Map(key=key, value=value):
            yield "map"
            yield from type_names(key)
            yield from type_names(value)
        case Struct(fields=fields):
            yield "struct"
            for field in fields:
                yield from type_names(field.type)


def _nested(data_type: DataType) -> bool:
    """Whether a container holds a container."""
    return sum(name in {"struct", "array", "map"} for name in type_names(data_type)) > 1
