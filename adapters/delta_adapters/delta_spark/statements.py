"""Write the SQL statement of each operation for which delta-spark's public call is SQL."""

from __future__ import annotations

from delta_adapters.dialects import render_sql
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_models import operations as ops
from delta_models.schema import STRING, Field

SQL = SparkSqlDialect()


def statement(operation: ops.Operation, table: str) -> str | None:
    """Return the statement that performs the operation on a table; None if SQL is not the call for it."""
    if isinstance(operation, ops.Purge):
        return f"REORG TABLE {table} APPLY (PURGE)"
    clause = _column_clause(operation) or _rule_clause(operation)
    return None if clause is None else f"ALTER TABLE {table} {clause}"


def _column_clause(operation: ops.Operation) -> str | None:
    match operation:
        case ops.AddColumn(field=field, parent=parent):
            return f"ADD COLUMNS ({_new_column(field, parent, operation)})"
        case ops.DropColumn(path=path):
            return f"DROP COLUMN {SQL.column(path)}"
        case ops.RenameColumn(path=path, name=name):
            return f"RENAME COLUMN {SQL.column(path)} TO {SQL.quote(name)}"
        case ops.ReorderColumn(path=path, after=after):
            place = "FIRST" if after is None else f"AFTER {SQL.quote(after)}"
            return f"ALTER COLUMN {SQL.column(path)} {place}"
        case ops.WidenColumn(path=path, type=wider):
            return f"ALTER COLUMN {SQL.column(path)} TYPE {SQL.type_name(wider)}"
        case ops.SetNullable(path=path, nullable=nullable):
            return f"ALTER COLUMN {SQL.column(path)} {'DROP' if nullable else 'SET'} NOT NULL"
        case ops.SetDefault(column=column, value=None):
            return f"ALTER COLUMN {SQL.quote(column)} DROP DEFAULT"
        case ops.SetDefault(column=column, value=value) if value is not None:
            return f"ALTER COLUMN {SQL.quote(column)} SET DEFAULT {render_sql(value, None, SQL)}"
    return None


def _rule_clause(operation: ops.Operation) -> str | None:
    match operation:
        case ops.SetProperties(properties=pairs):
            listed = ", ".join(f"{text(key)} = {text(value)}" for key, value in pairs)
            return f"SET TBLPROPERTIES ({listed})"
        case ops.UnsetProperties(keys=keys):
            return f"UNSET TBLPROPERTIES IF EXISTS ({', '.join(map(text, keys))})"
        case ops.AddConstraint(name=name, check=check):
            return f"ADD CONSTRAINT {SQL.quote(name)} CHECK ({render_sql(check, None, SQL)})"
        case ops.DropConstraint(name=name, if_exists=if_exists):
            return f"DROP CONSTRAINT {'IF EXISTS ' if if_exists else ''}{SQL.quote(name)}"
        case ops.Cluster(columns=columns):
            listed = ", ".join(map(SQL.quote, columns))
            return f"CLUSTER BY ({listed})" if columns else "CLUSTER BY NONE"
    return None


def text(value: str) -> str:
    """Return a string as a SQL literal."""
    return SQL.literal(STRING, value)


def _new_column(field: Field, parent: tuple[str, ...], operation: ops.AddColumn) -> str:
    words = [SQL.column((*parent, field.name)), SQL.type_name(field.type)]
    if not field.nullable:
        words.append("NOT NULL")
    if operation.first:
        words.append("FIRST")
    elif operation.after is not None:
        words.append(f"AFTER {SQL.quote(operation.after)}")
    return " ".join(words)
