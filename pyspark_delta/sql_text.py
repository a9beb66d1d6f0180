"""Write Spark SQL as text: quote names and types at every depth, and escape literals."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

__all__ = ["literal", "name", "path", "type_text"]


def name(text: str) -> str:
    """A quoted name."""
    return "`" + text.replace("`", "``") + "`"


def path(parts: tuple[str, ...]) -> str:
    """The quoted name of a nested column."""
    return ".".join(name(part) for part in parts)


def literal(text: str) -> str:
    """A text as a SQL literal that no escaping rule reads differently."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def type_text(data_type: DataType) -> str:
    """A type as CAST accepts it. PySpark's own text of a struct does not quote field names."""
    if isinstance(data_type, StructType):
        fields = (f"{name(field.name)}: {type_text(field.dataType)}" for field in data_type.fields)
        return f"struct<{', '.join(fields)}>"
    if isinstance(data_type, ArrayType):
        return f"array<{type_text(data_type.elementType)}>"
    if isinstance(data_type, MapType):
        return f"map<{type_text(data_type.keyType)}, {type_text(data_type.valueType)}>"
    return str(data_type.simpleString())
