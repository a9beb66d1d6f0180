"""Operations, histories and timelines as lines of text, for people who read a finding."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.checks.formatting import rows_text, sql_text
from conformance.generation import SLOTS
from conformance.histories import History
from delta_models.expressions import (
    And,
    Between,
    Call,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
)
from delta_models.operations import (
    Append,
    AtState,
    AtTime,
    AtVersion,
    Create,
    Delete,
    Interleave,
    Latest,
    Merge,
    MergeClause,
    Operation,
    Overwrite,
    Read,
    Restore,
    Update,
    When,
)
from delta_models.schema import Struct
from delta_models.values import Rows
from delta_models.wire_names import name_of, text_of


def history_lines(history: History) -> list[str]:
    """One line for each step, numbered from 0 as states are."""
    lines = []
    for number, step in enumerate(history.steps):
        handed = f" -> {step.by}" if step.by else ""
        slot = f"[{step.slot}{handed}] " if step.slot else ""
        lines.append(f"{number:3}. {slot}{operation_text(step.operation)}")
    return lines


def operation_text(operation: Operation) -> str:
    """One operation in one line."""
    match operation:
        case Create(schema=schema, partition_by=partition_by, properties=properties):
            parts = [f"Create ({columns_text(schema)})"]
            if partition_by:
                parts.append(f"partitioned by {', '.join(partition_by)}")
            if properties:
                parts.append("with " + ", ".join(f"{key}={value}" for key, value in properties))
            return " ".join(parts)
        case Append(rows=rows, files=files):
            return f"Append {_rows(rows)}{_files(files)}{_options(operation)}"
        case Overwrite(rows=rows, where=where, dynamic=dynamic, files=files):
            what = (
                f" where {expression_text(where)}"
                if where is not None
                else " its partitions"
                if dynamic
                else ""
            )
            return f"Overwrite{what} with {_rows(rows)}{_files(files)}{_options(operation)}"
        case Delete(where=where):
            return f"Delete where {expression_text(where)}" if where is not None else "Delete everything"
        case Update(assignments=assignments, where=where):
            sets = ", ".join(f"{name} = {expression_text(value)}" for name, value in assignments)
            return f"Update set {sets}" + (f" where {expression_text(where)}" if where is not None else "")
        case Merge(source=source, on=on, clauses=clauses):
            shown = "; ".join(map(_clause, clauses))
            return f"Merge {_rows(source)} on {expression_text(on)}: {shown}"
        case Restore(at=at):
            return f"Restore {when_text(at)}"
        case Read(at=at, where=where, columns=columns):
            parts = ["Read", when_text(at)]
            if columns is not None:
                parts.append(f"columns {', '.join(columns)}")
            if where is not None:
                parts.append(f"where {expression_text(where)}")
            return " ".join(parts)
    return _race(operation) if isinstance(operation, Interleave) else _generic(operation)


def timeline_lines(race: Interleave, timeline: Sequence[tuple[int, str]]) -> list[str]:
    """One line for each gate that a writer passed: the writer, its operation and the gate."""
    return [
        f"{_writer(race.owners[index])}  {name_of(race.operations[index]):14} {gate}"
        for index, gate in timeline
    ]


def when_text(at: When) -> str:
    """The state that a read or a restore names."""
    match at:
        case Latest():
            return "the newest version"
        case AtState(step=step):
            return f"the state after step {step}"
        case AtVersion(version=version):
            return f"version {version}"
        case AtTime(step=step):
            return f"the time right after step {step}"
    return str(at)


def expression_text(expression: Expression) -> str:
    """An expression as SQL for people. The adapters write the SQL that engines read."""
    match expression:
        case Column(name=name):
            return name
        case Literal(type=data_type, value=value):
            return sql_text(data_type, value)
        case Compare(op=op, left=left, right=right):
            return f"{expression_text(left)} {op} {expression_text(right)}"
        case IsNull(operand=operand):
            return f"{expression_text(operand)} IS NULL"
        case IsNotNull(operand=operand):
            return f"{expression_text(operand)} IS NOT NULL"
        case In(operand=operand, options=options):
            return f"{expression_text(operand)} IN ({', '.join(map(expression_text, options))})"
        case Between(operand=operand, low=low, high=high):
            return f"{expression_text(operand)} BETWEEN {expression_text(low)} AND {expression_text(high)}"
        case And(operands=operands):
            return "(" + " AND ".join(map(expression_text, operands)) + ")"
        case Or(operands=operands):
            return "(" + " OR ".join(map(expression_text, operands)) + ")"
        case Not(operand=operand):
            return f"NOT ({expression_text(operand)})"
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(map(expression_text, arguments))})"


def columns_text(schema: Struct) -> str:
    """A schema as a list of column definitions."""
    return ", ".join(
        f"{field.name} {field.type}" + ("" if field.nullable else " NOT NULL") for field in schema
    )


def _race(race: Interleave) -> str:
    operations = [
        f"{_writer(owner)}: {operation_text(one)}"
        for one, owner in zip(race.operations, race.owners, strict=True)
    ]
    turns = " ".join(map(_writer, race.schedule)) or "one after another"
    return f"At once ({'; '.join(operations)}), turns {turns}"


def _writer(owner: int) -> str:
    return SLOTS[owner]


def _clause(clause: MergeClause) -> str:
    condition = f" and {expression_text(clause.condition)}" if clause.condition is not None else ""
    sets = (
        "*"
        if clause.everything
        else ", ".join(f"{name} = {expression_text(value)}" for name, value in clause.assignments)
    )
    return f"when {clause.when}{condition} {clause.action} {sets}".rstrip()


def _rows(rows: Rows) -> str:
    if not rows.rows:
        return "no rows"
    return f"{len(rows)} row{'s' if len(rows) != 1 else ''} {rows_text(rows.schema, rows.rows)}"


def _files(files: int) -> str:
    return f" in {files} files" if files != 1 else ""


def _options(operation: Append | Overwrite) -> str:
    options = []
    if operation.schema_mode != "none":
        options.append(f"schema mode {operation.schema_mode}")
    if not operation.by_name:
        options.append("by position")
    if operation.transaction is not None:
        options.append(f"transaction {operation.transaction}")
    return f" ({', '.join(options)})" if options else ""


def _generic(operation: Operation) -> str:
    shown = []
    for name in getattr(type(operation), "__match_args__", ()):
        value = getattr(operation, name)
        default = type(operation).__dataclass_fields__[name].default
        if value == default:
            continue
        if isinstance(value, When):
            value = when_text(value) if name == "at" else text_of(value)
        shown.append(f"{name}={value}")
    return f"{name_of(operation)} {', '.join(shown)}".rstrip()
