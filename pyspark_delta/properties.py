"""The table properties that have a meaning: their spelling in the log and their allowed values.

Names ignore case, as in delta-spark. A bad value is refused when it is set, so that no later commit fails on it. An
unknown name with a reserved prefix is refused too, and so is a property that only engines maintain. All other names are
the user's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark_delta import features
from pyspark_delta.exceptions import InvalidArgument

__all__ = ["checked_properties", "refuse_engines_own", "spelled_name"]

_FLAGS = (
    "delta.appendOnly",
    "delta.checkpoint.writeStatsAsJson",
    "delta.checkpoint.writeStatsAsStruct",
    "delta.compatibility.symlinkFormatManifest.enabled",
    "delta.enableChangeDataFeed",
    "delta.enableDeletionVectors",
    "delta.enableExpiredLogCleanup",
    "delta.enableIcebergCompatV1",
    "delta.enableIcebergCompatV2",
    "delta.enableIcebergCompatV3",
    "delta.enableInCommitTimestamps",
    "delta.enableRowTracking",
    "delta.enableTypeWidening",
    "delta.enableVariantShredding",
    "delta.randomizeFilePrefixes",
)
_LEAST = {
    "delta.checkpointInterval": 1,
    "delta.dataSkippingNumIndexedCols": -1,
    "delta.minReaderVersion": 1,
    "delta.minWriterVersion": 1,
    "delta.randomPrefixLength": 1,
}
_INTERVALS = (
    "delta.deletedFileRetentionDuration",
    "delta.logRetentionDuration",
    "delta.setTransactionRetentionDuration",
)
_CHOICES = {
    "delta.checkpointPolicy": ("classic", "v2"),
    "delta.columnMapping.mode": ("none", "name", "id"),
    "delta.isolationLevel": ("Serializable", "WriteSerializable"),
    "delta.parquet.compression.codec": (
        "none",
        "uncompressed",
        "snappy",
        "gzip",
        "lzo",
        "brotli",
        "lz4",
        "lz4_raw",
        "zstd",
    ),
}
_OTHERS = ("delta.dataSkippingStatsColumns", "delta.parquet.format.version", "delta.targetFileSize")
# delta-spark knows these too; a writer may ignore them.
_ASK_NOTHING = (
    "delta.autoOptimize",
    "delta.autoOptimize.autoCompact",
    "delta.autoOptimize.optimizeWrite",
    "delta.checkpointRetentionDuration",
    "delta.dataSkippingStringPrefixLength",
    "delta.dropFeatureTruncateHistory.retentionDuration",
    "delta.enableFullRetentionRollback",
    "delta.ignoreProtocolDefaults",
    "delta.sampleRetentionDuration",
)
# Engines keep these by themselves, from the table's columns and rows. A value of the user's would break the table.
_ENGINES_OWN = (
    "delta.columnMapping.maxColumnId",
    "delta.rowTracking.materializedRowCommitVersionColumnName",
    "delta.rowTracking.materializedRowIdColumnName",
)
_FEATURE = "delta.feature."
# Prefixes of the format itself. A misspelled name would silently have no effect, so it is refused.
_RESERVED = "delta."
_FAMILIES = ("delta.constraints.", _FEATURE)
_SPELLINGS = {
    name.lower(): name
    for name in (
        *_FLAGS,
        *_LEAST,
        *_INTERVALS,
        *_CHOICES,
        *_OTHERS,
        *_ASK_NOTHING,
        *_ENGINES_OWN,
        *(f"{_FEATURE}{name}" for name in features.known()),
    )
}


def checked_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties as the log spells them; refuses bad values and names given twice."""
    spelled_properties: dict[str, str] = {}
    for name, value in properties.items():
        spelling = spelled_name(name)
        refuse_engines_own(spelling)
        if _is_unknown_reserved(spelling):
            raise InvalidArgument(
                f"there is no property {name}, or it asks for something that this engine can't do",
                "Check the spelling; names that begin with `delta.` belong to the format, others are free.",
            )
        if spelling in spelled_properties:
            raise InvalidArgument(f"the property {spelling} is given twice", "Give it once, in one spelling.")
        if not isinstance(value, str):
            raise TypeError(f"the property {name} must be a text, not {type(value).__name__}")
        spelled_properties[spelling] = value
    for name in spelled_properties:
        _check(name, spelled_properties)
    return spelled_properties


def refuse_engines_own(name: str) -> None:
    """Raise if users may neither set nor unset this property."""
    if spelled_name(name) in _ENGINES_OWN:
        raise InvalidArgument(
            f"the property {spelled_name(name)} can't be set or unset, because only engines maintain it",
            "Leave it out; the engine that needs it sets it by itself.",
        )


def spelled_name(name: str) -> str:
    """A property's name as the log spells it."""
    return _SPELLINGS.get(name.lower(), name)


def _is_unknown_reserved(spelling: str) -> bool:
    folded = spelling.lower()
    return folded.startswith(_RESERVED) and folded not in _SPELLINGS and not folded.startswith(_FAMILIES)


def _check(name: str, properties: Mapping[str, str]) -> None:
    value = properties[name]
    if name in _FLAGS:
        features.flag(properties, name)
    elif name in _LEAST:
        if features.whole_number(properties, name, 0) < _LEAST[name]:
            raise InvalidArgument(f"the property {name} is {value!r}, and {_LEAST[name]} is the least")
    elif name in _INTERVALS:
        if features.interval_ms(properties, name, "") < 0:
            raise InvalidArgument(f"the property {name} is {value!r}, which is less than no time")
    elif name in _CHOICES:
        _refuse_other(name, value, _CHOICES[name])


def _refuse_other(name: str, value: str, choices: Iterable[str]) -> None:
    if value.strip().lower() not in {choice.lower() for choice in choices}:
        raise InvalidArgument(f"the property {name} is {value!r}", f"It can be {', '.join(choices)}.")
