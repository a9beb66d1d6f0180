"""The table features that a table's properties switch on, as claims and evidence name them."""

from __future__ import annotations

from delta_models.operations import Properties

FEATURES = {
    "delta.enableDeletionVectors": "deletionVectors",
    "delta.enableChangeDataFeed": "changeDataFeed",
    "delta.appendOnly": "appendOnly",
    "delta.columnMapping.mode": "columnMapping",
    "delta.enableRowTracking": "rowTracking",
    "delta.enableInCommitTimestamps": "inCommitTimestamp",
    "delta.enableTypeWidening": "typeWidening",
    "delta.isolationLevel": "writeSerializable, unconfirmed",  # judged from the rules alone
}
OFF = ("false", "none", "serializable")


def features_of(properties: Properties) -> tuple[str, ...]:
    """The table features that properties switch on."""
    return tuple(
        sorted(FEATURES[key] for key, value in properties if key in FEATURES and value.lower() not in OFF)
    )
