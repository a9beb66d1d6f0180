"""The names of operations, outcomes and expressions on disk and on the wire.

Histories, fingerprints, capability documents and recordings hold these names and are kept for years. So a name here
never changes, even if its Python class is renamed.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from delta_models import expressions, operations, outcomes

NAMES: dict[type[Any], str] = {
    expressions.Column: "Column",
    expressions.Literal: "Literal",
    expressions.Compare: "Compare",
    expressions.IsNull: "IsNull",
    expressions.IsNotNull: "IsNotNull",
    expressions.In: "In",
    expressions.Between: "Between",
    expressions.And: "And",
    expressions.Or: "Or",
    expressions.Not: "Not",
    expressions.Call: "Call",
    operations.Create: "Create",
    operations.Replace: "Replace",
    operations.CreateAs: "CreateAs",
    operations.Drop: "Drop",
    operations.CloneTo: "CloneTo",
    operations.ConvertFromParquet: "ConvertFromParquet",
    operations.Restore: "Restore",
    operations.Append: "Append",
    operations.Overwrite: "Overwrite",
    operations.WriteStream: "Pour",
    operations.Delete: "Delete",
    operations.Update: "Update",
    operations.Merge: "Merge",
    operations.MergeClause: "MergeClause",
    operations.AddColumn: "AddColumn",
    operations.DropColumn: "DropColumn",
    operations.RenameColumn: "RenameColumn",
    operations.ReorderColumn: "ReorderColumn",
    operations.WidenColumn: "WidenColumn",
    operations.SetNullable: "SetNullable",
    operations.SetDefault: "SetDefault",
    operations.SetProperties: "SetProperties",
    operations.UnsetProperties: "UnsetProperties",
    operations.AddConstraint: "AddConstraint",
    operations.DropConstraint: "DropConstraint",
    operations.EnableFeature: "EnableFeature",
    operations.DropFeature: "DropFeature",
    operations.Optimize: "Optimize",
    operations.ZOrder: "ZOrder",
    operations.Cluster: "Cluster",
    operations.Purge: "Purge",
    operations.Vacuum: "Vacuum",
    operations.Checkpoint: "Checkpoint",
    operations.CompactLog: "CompactLog",
    operations.CleanLog: "CleanLog",
    operations.AdvanceClock: "AdvanceClock",
    operations.Read: "Read",
    operations.ReadChanges: "ReadChanges",
    operations.History: "History",
    operations.Detail: "Detail",
    operations.ReadStream: "Tail",
    operations.Reopen: "Reopen",
    operations.SwitchActor: "SwitchActor",
    operations.SetZone: "SetZone",
    operations.Interleave: "Interleave",
    operations.KillAt: "KillAt",
    operations.FailAt: "FailAt",
    operations.LoseReplyAt: "LoseReplyAt",
    operations.TearAt: "TearAt",
    operations.DeadTableAt: "DeadTableAt",
    operations.DamageFile: "DamageFile",
    operations.Latest: "Latest",
    operations.AtState: "AtState",
    operations.AtVersion: "AtVersion",
    operations.AtTime: "AtTime",
    operations.AtTimestamp: "AtTimestamp",
    outcomes.Committed: "Committed",
    outcomes.NoChange: "NoChange",
    outcomes.Rejected: "Rejected",
    outcomes.Unsupported: "Unsupported",
    outcomes.Unknown: "Unknown",
}

CLASSES: dict[str, type[Any]] = {name: kind for kind, name in NAMES.items()}
ALPHABET: dict[str, type[operations.Operation]] = {
    NAMES[kind]: kind for kind in operations.Operation.__args__
}


def name_of(part: object) -> str:
    """Return the name of a class of the vocabulary, or of a value's class. Raises TypeError for any other."""
    kind = part if isinstance(part, type) else type(part)
    try:
        return NAMES[kind]
    except KeyError:
        message = f"{kind.__name__} is not part of the vocabulary"
        raise TypeError(message) from None


def text_of(part: Any) -> str:
    """Return a value of the vocabulary as text, such as `AtState(step=3)`; any other value by its `repr`."""
    if type(part) is tuple:
        return f"({', '.join(map(text_of, part))}{',' if len(part) == 1 else ''})"
    if type(part) not in NAMES:
        return repr(part)
    fields = (f"{field.name}={text_of(getattr(part, field.name))}" for field in dataclasses.fields(part))
    return f"{name_of(part)}({', '.join(fields)})"
