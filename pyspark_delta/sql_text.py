"""Spark SQL as text: names and types quoted right at every depth, literals that mean themselves."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

__all__ = ["literal", "name", "path", "type_text"]


def name(text: str) -> str:
    """A name, quoted."""
    return "`" + text.replace("`", "``") + "`"


def path(parts: tuple[str, ...]) -> str:
    """The name of a nested column, quoted."""
    return ".".join(name(part) for part in parts)


def literal(text: str) -> str:
    """A text as a literal that no escaping rule reads differently."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def type_text(data_type: DataType) -> str:
    """A type as CAST takes it; PySpark's own text of a struct does not quote the names of its fields."""
    if isinstance(data_type, StructType):
        fields = (f"{name(field.name)}: {type_text(field.dataType)}" for field in data_type.fields)
        return f"struct<{', '.join(fields)}>"
    if isinstance(data_type, ArrayType):
        return f"array<{type_text(data_type.elementType)}>"
    if isinstance(data_type, MapType):
        return f"map<{type_text(data_type.keyType)}, {type_text(data_type.valueType)}>"
    return str(data_type.simpleString())
