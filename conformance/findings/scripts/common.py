"""What every stand-alone script is made of: rows as pyarrow literals, the frame of the steps, the final question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import dedent

from delta_models.schema import Array, DataType, DecimalType, Map, Primitive, Struct
from delta_models.values import Decimal, Rows, Value

ARROW = {
    "byte": "pa.int8()", "short": "pa.int16()", "integer": "pa.int32()", "long": "pa.int64()", "float": "pa.float32()",
    "double": "pa.float64()", "string": "pa.string()", "binary": "pa.binary()", "boolean": "pa.bool_()",
    "date": "pa.date32()", "timestamp": 'pa.timestamp("us", "UTC")', "timestamp_ntz": 'pa.timestamp("us")',
}  # fmt: skip
BY_NUMBER = {"date": "pa.int32()", "timestamp": "pa.int64()", "timestamp_ntz": "pa.int64()"}


class NotPrintable(ValueError):
    """A script has no words for it."""


def table_literal(rows: Rows) -> str:
    """A `pa.table(...)` with these rows, nullability included."""
    arrays = []
    fields = []
    for position, field in enumerate(rows.schema):
        column = [row[position] for row in rows.rows]
        arrays.append(f"        {_array(field.type, column)},")
        nullable = "" if field.nullable else ", nullable=False"
        fields.append(f"        pa.field({field.name!r}, {arrow_type(field.type)}{nullable}),")
    return "\n".join(["pa.table([", *arrays, "    ], schema=pa.schema([", *fields, "    ]))"])


def arrow_type(data_type: DataType) -> str:
    """The Arrow type of a Delta type as code."""
    match data_type:
        case Primitive(name=name) if name in ARROW:
            return ARROW[name]
        case DecimalType(precision=precision, scale=scale):
            return f"pa.decimal128({precision}, {scale})"
        case Array(element=element):
            return f"pa.list_({arrow_type(element)})"
        case Map(key=key, value=value):
            return f"pa.map_({arrow_type(key)}, {arrow_type(value)})"
        case Struct(fields=fields):
            parts = ", ".join(
                f"pa.field({field.name!r}, {arrow_type(field.type)}, {field.nullable})" for field in fields
            )
            return f"pa.struct([{parts}])"
    message = f"no Arrow type for {data_type}"
    raise NotPrintable(message)


def _array(data_type: DataType, column: Sequence[Value]) -> str:
    values = ", ".join(_value(data_type, value) for value in column)
    if isinstance(data_type, Primitive) and data_type.name in BY_NUMBER:
        return f"pa.array([{values}], {BY_NUMBER[data_type.name]}).cast({arrow_type(data_type)})"
    return f"pa.array([{values}], {arrow_type(data_type)})"


def _value(data_type: DataType, value: Value) -> str:
    if value is None:
        return "None"
    match data_type:
        case Primitive(name="float" | "double"):
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        case DecimalType():
            return f'Decimal("{Decimal(*value)}")'
        case Struct(fields=fields):
            parts = (
                f"{field.name!r}: {_value(field.type, part)}"
                for field, part in zip(fields, value, strict=True)
            )
            return "{" + ", ".join(parts) + "}"
        case Array(element=element):
            return f"[{', '.join(_value(element, part) for part in value)}]"
        case Map(key=key, value=of):
            return f"[{', '.join(f'({_value(key, left)}, {_value(of, right)})' for left, right in value)}]"
        case Primitive(name="variant"):
            message = "variants have no literal"
            raise NotPrintable(message)
    return repr(value)


FRAME = dedent('''
    path = os.path.join(tempfile.mkdtemp(prefix="delta-"), "table")
    versions = {}  # the table's version after each step
    print("table:", path)


    def log_versions():
        """The versions in the table's log."""
        try:
            names = os.listdir(os.path.join(path, "_delta_log"))
        except FileNotFoundError:
            return []
        return sorted(int(name[:20]) for name in names if name[:20].isdigit() and name[20:] == ".json")


    def bag(table):
        """The rows of an Arrow table with their counts, exact to the last bit."""
        columns = []
        for column in table.columns:
            if pa.types.is_timestamp(column.type):
                column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
            elif pa.types.is_date(column.type):
                column = column.cast(pa.int32())
            columns.append([repr(value) for value in column.to_pylist()])
        return Counter(zip(*columns))


    def step(number, what, act):
        """Do one step; the last one's outcome is returned, a failure before it ends the script."""
        print(f"{number}. {what}")
        before = log_versions()
        try:
            act()
        except Exception as error:
            print(f"   refused: {type(error).__name__}: {str(error)[:300]}")
            outcome = "refused"
        else:
            added = len(log_versions()) - len(before)
            outcome = "committed" if added else "nothing to do"
            print(f"   {outcome}, {added} version(s) added")
        versions[number] = max(log_versions(), default=None)
        return outcome


    def ended(shows, why):
        """The answer as text and exit code: 1 the deviation shows, 0 it does not."""
        print(("DEVIATION: " if shows else "as it should be: ") + why)
        sys.stdout.flush()
        os._exit(1 if shows else 0)
''').strip()  # fmt: skip

REOPEN = dedent('''
    def reopened():
        """The same table under a new name, so that nothing remembered of it can be used."""
        new = f"{os.path.realpath(path)}-{len(versions)}"
        os.symlink(os.path.realpath(path), new)
        return new
''').strip()

COMPARE = dedent("""
    if sorted(expected.column_names) != sorted(answer.column_names):
        ended(True, f"the answer has the columns {answer.column_names}")
    found = bag(answer.select(expected.column_names))
    missing, extra = bag(expected) - found, found - bag(expected)
    for row in missing.elements():
        print("   missing:", row)
    for row in extra.elements():
        print("   not expected:", row)
    ended(bool(missing or extra), f"{answer.num_rows} rows read, {expected.num_rows} expected")
""").strip()
