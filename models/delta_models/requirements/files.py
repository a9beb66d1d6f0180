"""Rules about the files beside the log and what the log says of them.

These are deletion vectors, statistics, change data and row ids.
"""

from __future__ import annotations

from delta_models.requirements.base import Requirement, rules_of

STATS = "Per-file Statistics"
VARIANTS = "Statistics for Variant Columns"
VECTORS = "Deletion Vectors"
_log = rules_of("log")
_stats = rules_of("statistics")

REQUIREMENTS: tuple[Requirement, ...] = (
    _log(
        "dv.descriptor-well-formed",
        "A deletion vector's descriptor makes sense.",
        "Deletion Vector Descriptor Schema",
    ),
    _log("dv.needs-feature", "A deletion vector is written only with the feature deletionVectors.", VECTORS),
    _log(
        "dv.needs-property",
        "A new deletion vector is written only if delta.enableDeletionVectors is true.",
        VECTORS,
    ),
    _log("dv.num-records-present", "The statistics of a file with a deletion vector have numRecords.", STATS),
    _log("dv.file-exists", "The file of a deletion vector is there.", VECTORS),
    _log(
        "dv.well-formed",
        "The bytes of a deletion vector are as specified: framing, checksum, bitmap.",
        "Deletion Vector Format",
    ),
    _log(
        "dv.cardinality",
        "A deletion vector holds as many rows as its descriptor says.",
        "Deletion Vector Descriptor Schema",
    ),
    _log("dv.rows-in-file", "A deletion vector names rows that its file has.", VECTORS),
    _stats(
        "stats.well-formed",
        "Statistics are a JSON object whose values have the types of their columns.",
        STATS,
    ),
    _stats("stats.num-records", "numRecords is the number of rows in the file.", STATS),
    _stats(
        "stats.null-count", "nullCount is the number of nulls, or with wide bounds not misleading.", STATS
    ),
    _stats("stats.min-values", "No value is smaller than the minimum in the statistics.", STATS),
    _stats(
        "stats.max-values",
        "No value is larger than the maximum in the statistics (strings and timestamps may be cut).",
        STATS,
    ),
    _stats("stats.tight-bounds", "Tight bounds are values of the file.", STATS),
    _stats(
        "stats.max-string-not-below",
        "A maximum that was cut is not below the longer strings.",
        STATS,
        "reference",
    ),
    _stats(
        "stats.max-covers-nan",
        "The maximum of a column that holds NaN is NaN, or there is none.",
        STATS,
        "reference",
    ),
    _stats(
        "stats.clustering-columns",
        "Files of a clustered table have statistics of the clustering columns.",
        "Clustered Table",
    ),
    _log("cdc.file-exists", "A change data file is there when its commit is.", "Add CDC File"),
    _log("cdc.file-size", "A change data file has the size that its action says.", "Add CDC File"),
    _log(
        "cdc.readable",
        "A change data file is a Parquet file that fits the table's schema.",
        "Change Data Files",
    ),
    _log(
        "cdc.change-types",
        "Each changed row is an insert, a delete, or an image before or after an update.",
        "Change Data Files",
    ),
    _log(
        "cdc.equals-difference",
        "The recorded changes are the difference of the two states.",
        "Change Data Files",
    ),
    _log("rows.ids-unique", "No two rows of a version have one row id.", "Row Tracking"),
    _log(
        "rows.ids-unlike-fresh",
        "No row has the row id that another one's place in its file gives that.",
        "Row Tracking",
    ),
    _log(
        "rows.copied-ids-stay",
        "A row that a delete copies into another file keeps its row id.",
        "Row Tracking",
        "should",
    ),
    _log(
        "rows.ids-stay",
        "A row that a commit without a change of data moves keeps its row id.",
        "Row Tracking",
        "should",
    ),
    _log(
        "rows.updated-ids-stay",
        "The rows of a table have after an update the row ids that they had before.",
        "Row Tracking",
        "should",
    ),
    _log(
        "rows.commit-versions-stay",
        "A row that a commit without a change of data moves keeps its row commit version.",
        "Row Tracking",
        "should",
    ),
    _stats(
        "stats.physical-names",
        "Under column mapping statistics call columns by their physical names.",
        "Column Mapping",
    ),
    _stats(
        "stats.variant-bounds-need-shredding",
        "Variants have bounds only with the feature variantShredding.",
        "Variant Data Type",
    ),
    _stats(
        "stats.variant-null-count",
        "The nullCount of a variant is one number for the column, none for each of its paths.",
        VARIANTS,
    ),
    _stats(
        "stats.variant-bounds-encoded",
        "In JSON a bound of a variant is a text: the two parts of a variant, one after the other, in Z85.",
        VARIANTS,
    ),
    _stats(
        "stats.variant-bounds-by-path",
        "A bound of a variant is an object whose keys are normalized paths.",
        VARIANTS,
    ),
    _stats("stats.variant-bounds-primitive", "The bound of a path in a variant is a primitive.", VARIANTS),
    _stats(
        "stats.variant-bounds-one-type",
        "A path in a variant has bounds only if its values in the file are of one type, which is that of the bounds.",
        VARIANTS,
    ),
    _stats(
        "stats.variant-bounds-types-agree",
        "Where a path in a variant has a minimum and a maximum both are of one type.",
        VARIANTS,
    ),
    _stats(
        "stats.variant-min-values", "No value at a path in a variant is smaller than its minimum.", VARIANTS
    ),
    _stats(
        "stats.variant-max-values",
        "No value at a path in a variant is larger than its maximum (strings and timestamps may be cut).",
        VARIANTS,
    ),
    _stats(
        "stats.variant-tight-bounds",
        "Tight bounds of a path in a variant are values at that path, of whichever rows.",
        VARIANTS,
    ),
    _log("cdc.path-is-uri", "The path of a change data file is a URI as RFC 2396 has it.", "Add CDC File"),
    _log(
        "cdc.partition-values-complete",
        "A cdc action has a value for every partition column and for no other.",
        "Add CDC File",
    ),
    _log(
        "rows.changed-rows-have-new-version",
        "A row that an update or a merge changes has the version of its commit as row commit version.",
        "Row Tracking",
    ),
    _stats(
        "stats.new-clustering-columns",
        "All files have statistics of a column by which a table becomes clustered.",
        "Clustered Table",
    ),
)
