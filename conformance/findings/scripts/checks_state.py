"""Ends of scripts about one commit and the state before it: an expression that says what is wrong, for each rule.

An expression sees the actions of a commit (`of("add")`), the metadata and the protocol from then on (`meta`, `fields`,
`settings`, `protocol`, `features`), what was before (`before`, `live`), and the commit's `version`. It has what
is wrong, or nothing. A script holds only the lines that its expression needs.
"""

from __future__ import annotations

import re

from conformance.checks.protocol import IMPLIED
from conformance.findings.scripts.case import Moment
from conformance.findings.scripts.checks_checkpoints import assigned
from conformance.findings.scripts.checks_log import COMMITS
from conformance.findings.scripts.ending import Ending
from delta_models.log.validity.protocol import READER_WRITER_FEATURES, WRITER_FEATURES
from delta_models.schema import Array, Map, Struct

READ_BY_READERS = sorted(READER_WRITER_FEATURES)
OF_WRITERS = sorted(WRITER_FEATURES)
REQUIRED = {
    "add": ("path", "partitionValues", "size", "modificationTime", "dataChange"),
    "remove": ("path", "dataChange"),
    "cdc": ("path", "partitionValues", "size", "dataChange"),
    "metaData": ("id", "format", "schemaString", "partitionColumns", "configuration"),
    "protocol": ("minReaderVersion", "minWriterVersion"),
    "txn": ("appId", "version"),
    "domainMetadata": ("domain", "configuration", "removed"),
}
TYPES = (
    '{"size": int, "modificationTime": int, "deletionTimestamp": int, "dataChange": bool, "partitionValues": dict, '
    '"stats": str, "schemaString": str, "partitionColumns": list, "configuration": (dict, str)}'
)
TWICE = "[name for name, count in Counter(form[{0!r}] for form in of({1!r})).items() if count > 1]"
MAPPED = 'settings.get("delta.columnMapping.mode", "none") != "none" and '
ID, NAME = '"delta.columnMapping.id"', '"delta.columnMapping.physicalName"'
SAME = (
    '[field["name"] for field in fields for was in json.loads(before["schemaString"])["fields"]\n'
    '       if field["metadata"].get({0}) is not None and field["metadata"][{0}] == was["metadata"].get({0})\n'
    '       and field["metadata"].get({1}) != was["metadata"].get({1})]'
)
COMPATIBLE = '{}(settings.get(f"delta.enableIcebergCompatV{{number}}") == "true" for number in (1, 2)) and '
DEPENDS = {"catalogManaged": ("inCommitTimestamp",), **IMPLIED}
STAMPED = 'settings.get("delta.enableInCommitTimestamps") == "true" and '
NOT_THERE = (
    '[form["path"] for form in of({!r}) if not os.path.exists(os.path.join(path, unquote(form["path"])))]'
)
PARTITIONED = (
    '[form["path"] for form in of({!r}) if set(form["partitionValues"]) != {{field["metadata"].get('
    + NAME
    + ', field["name"])\n     for field in fields if field["name"] in meta["partitionColumns"]}}]'
)


def _needs(feature: str, mark: str, since: int) -> str:
    """A column has a mark in its metadata only with a feature, or with an old writer version that knows it."""
    return (
        f'not ({feature!r} in features or {since} <= protocol.get("minWriterVersion", 7) < 7) and '
        f'[field["name"] for field in fields if {mark!r} in field["metadata"]]'
    )


OF_COMMITS: dict[str, str] = {
    # one commit
    "log.one-action-a-line": "[sorted(action) for action in actions if len(action) != 1]",
    "log.required-field": (
        f"[(kind, name) for kind, names in {REQUIRED}.items()\n"
        "       for form in of(kind) for name in names if form.get(name) is None]"
    ),
    "log.field-type": (
        f"[(name, value) for action in actions for form in action.values() for name, value in form.items()\n"
        f"       if value is not None and not isinstance(value, {TYPES}.get(name, object))]"
    ),
    "log.first-commit-has-protocol": 'version == 0 and not of("protocol") and "no protocol"',
    "log.first-commit-has-metadata": 'version == 0 and not of("metaData") and "no metaData"',
    "log.one-metadata-a-commit": 'of("metaData")[1:]',
    "log.one-protocol-a-commit": 'of("protocol")[1:]',
    "log.one-transaction-an-application": TWICE.format("appId", "txn"),
    "log.one-action-a-domain": TWICE.format("domain", "domainMetadata"),
    "log.path-added-once": TWICE.format("path", "add"),
    "log.no-checkpoint-actions": 'of("checkpointMetadata") + of("sidecar")',
    "log.no-add-and-remove-of-one-file": 'set(map(key, of("add"))) & set(map(key, of("remove")))',
    "log.data-file-not-hidden": (
        '[form["path"] for form in of("add")\n'
        '       if any(part[0] == "_" and "=" not in part for part in Path(form["path"]).parent.parts)]'
    ),
    # against the state before
    "log.remove-carries-vector": (
        '[form["path"] for form in of("remove")\n'
        '       if form["path"] in live and key(live[form["path"]]) != key(form)]'
    ),
    "log.add-replaces-live-file": (
        '[form["path"] for form in of("add") if key(live.get(form["path"], form)) != key(form)\n'
        '       and key(live[form["path"]]) not in map(key, of("remove"))]'
    ),
    "log.remove-size": (
        '[form["path"] for form in of("remove")\n'
        '       if form.get("size") not in (None, live.get(form["path"], form).get("size"))]'
    ),
    "log.remove-partition-values": (
        '[form["path"] for form in of("remove") if form.get("partitionValues")\n'
        '       not in (None, live.get(form["path"], form).get("partitionValues"))]'
    ),
    "tracking.removes-keep-ids": (
        '"rowTracking" in features\n'
        '       and [form["path"] for form in of("remove") for name in ("baseRowId", "defaultRowCommitVersion")\n'
        '       if form.get(name) != live.get(form["path"], form).get(name)]'
    ),
    "tracking.enabled-whole": (
        'settings.get("delta.enableRowTracking") == "true" != before["configuration"].get("delta.enableRowTracking")\n'
        '       and [name for name, form in live.items() if form.get("baseRowId") is None\n'
        '            and name not in [form["path"] for form in of("add") + of("remove")]]'
    ),
    "log.append-only": (
        'settings.get("delta.appendOnly") == "true" and [form["path"] for form in of("remove") if form["dataChange"]]'
    ),
    # the protocol
    "log.reader-features-iff-version-3": (
        '(protocol.get("readerFeatures") is not None) != (protocol["minReaderVersion"] == 3) and protocol'
    ),
    "log.writer-features-iff-version-7": (
        '(protocol.get("writerFeatures") is not None) != (protocol["minWriterVersion"] == 7) and protocol'
    ),
    "log.reader-3-needs-writer-7": (
        'protocol["minReaderVersion"] == 3 and protocol["minWriterVersion"] != 7 and protocol'
    ),
    "log.reader-features-are-writer-features": (
        'protocol["minWriterVersion"] == 7\n'
        '       and set(protocol.get("readerFeatures") or ()) - set(protocol.get("writerFeatures") or ())'
    ),
    "log.reader-writer-feature-in-both-lists": (
        f'protocol["minReaderVersion"] == 3 and set({READ_BY_READERS}) & set(protocol.get("writerFeatures") or ())\n'
        '       - set(protocol.get("readerFeatures") or ())'
    ),
    "log.writer-feature-in-writer-list-only": (
        f'set({OF_WRITERS})\n       & set(protocol.get("readerFeatures") or ())'
    ),
    "log.feature-dependencies": (
        f"[(feature, needed) for feature, several in {DEPENDS}.items() if feature in features\n"
        "       for needed in several if needed not in features]"
    ),
    "iceberg.one-version": COMPATIBLE.format("all") + "settings",
    "iceberg.column-mapping": (
        COMPATIBLE.format("any")
        + '\nsettings.get("delta.columnMapping.mode") not in ("name", "id") and settings'
    ),
    "iceberg.num-records": (
        COMPATIBLE.format("any")
        + '\n[form["path"] for form in of("add") if "numRecords" not in json.loads(form.get("stats") or "{}")]'
    ),
    "log.domain-needs-feature": '"domainMetadata" not in features and of("domainMetadata")',
    "log.constraint-needs-feature": (
        'not ("checkConstraints" in features or 3 <= protocol["minWriterVersion"] < 7) and '
        '[name for name in settings if name.startswith("delta.constraints.")]'
    ),
    "log.in-commit-timestamp-needs-feature": STAMPED + '"inCommitTimestamp" not in features and protocol',
    "log.in-commit-timestamp-first": STAMPED + '"commitInfo" not in actions[0] and sorted(actions[0])',
    "log.in-commit-timestamp-present": (
        STAMPED + 'not any(form.get("inCommitTimestamp") for form in of("commitInfo")) and "none"'
    ),
    "log.in-commit-timestamp-enablement": (
        STAMPED + 'before["configuration"].get("delta.enableInCommitTimestamps") != "true" and version > 0\n'
        '       and settings.get("delta.inCommitTimestampEnablementVersion") != str(version) and settings'
    ),
    "log.in-commit-timestamp-enablement-stays": (
        STAMPED + 'before["configuration"].get("delta.enableInCommitTimestamps") == "true"\n'
        '       and any(before["configuration"].get(name, settings.get(name)) != settings.get(name) for name in (\n'
        '           "delta.inCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp"))'
    ),
    "catalog.transaction-id": (
        '"catalogManaged" in features and not any(form.get("txnId") for form in of("commitInfo")) and "no txnId"'
    ),
    "tracking.needs-feature": (
        'settings.get("delta.enableRowTracking") == "true" and "rowTracking" not in features and protocol'
    ),
    "tracking.enabled-or-suspended": (
        '{settings.get(name) for name in ("delta.enableRowTracking", "delta.rowTrackingSuspended")} == {"true"} '
        "and settings"
    ),
    "tracking.suspended": (
        'settings.get("delta.rowTrackingSuspended") == "true"\n'
        '       and [form["path"] for form in of("add")\n'
        '            if form["path"] not in live and form.get("baseRowId") is not None]'
    ),
    "log.row-tracking-fields": (
        '"rowTracking" in features and settings.get("delta.rowTrackingSuspended") != "true"\n'
        '       and [form["path"] for form in of("add")\n'
        '            if None in (form.get("baseRowId"), form.get("defaultRowCommitVersion"))]'
    ),
    # the schema
    "log.column-names-unique": (
        '[name for name, count in Counter(field["name"].lower() for field in fields).items() if count > 1]'
    ),
    "log.partition-columns-in-schema": (
        'set(meta["partitionColumns"]) - {field["name"] for field in fields}'
    ),
    "log.partition-columns-atomic": (
        '[field["name"] for field in fields\n'
        '       if field["name"] in meta["partitionColumns"] and isinstance(field["type"], dict)]'
    ),
    "log.format-is-parquet": 'meta["format"]["provider"] != "parquet" and meta["format"]',
    "log.partition-values-complete": PARTITIONED.format("add"),
    "cdc.partition-values-complete": PARTITIONED.format("cdc"),
    "schema.column-mapping-complete": (
        MAPPED + f'[field["name"] for field in fields if not {{{ID}, {NAME}}} <= set(field["metadata"])]'
    ),
    "schema.column-ids-unique": (
        f'[number for number, count in Counter(field["metadata"].get({ID}) for field in fields).items()\n'
        "       if number is not None and count > 1]"
    ),
    "schema.physical-names-unique": (
        f'[name for name, count in Counter(field["metadata"].get({NAME}) for field in fields).items()\n'
        "       if name is not None and count > 1]"
    ),
    "schema.max-column-id": (
        MAPPED
        + '[field["name"] for field in fields\n'
        + f'       if field["metadata"].get({ID}, 0) > int(settings.get("delta.columnMapping.maxColumnId", 0))]'
    ),
    "schema.max-column-id-never-falls": (
        MAPPED + 'int(settings.get("delta.columnMapping.maxColumnId", 0))\n'
        '       < int(before["configuration"].get("delta.columnMapping.maxColumnId", 0)) and settings'
    ),
    "schema.mapping-mode-stays": (
        'live and settings.get("delta.columnMapping.mode", "none") not in (\n'
        '       (was := before["configuration"].get("delta.columnMapping.mode", "none")), was.replace("none", "name"))'
    ),
    "schema.physical-names-stay": SAME.format(ID, NAME),
    "schema.column-ids-stay": SAME.format(NAME, ID),
    "schema.identity-definition-stays": (
        '[field["name"] for field in fields for was in json.loads(before["schemaString"])["fields"]\n'
        '       if "delta.identity.start" in field["metadata"] and field["name"] == was["name"]\n'
        '       and any(field["metadata"].get(name) != was["metadata"].get(name) for name in (\n'
        '               "delta.identity.start", "delta.identity.step", "delta.identity.allowExplicitInsert"))]'
    ),
    "schema.type-changes-need-feature": (
        '"typeWidening" not in " ".join(features)\n'
        '       and [field["name"] for field in fields if "delta.typeChanges" in field["metadata"]]'
    ),
    "log.type-needs-feature": (
        '[field["name"] for field in fields\n'
        '       for kind, feature in (("timestamp_ntz", "timestampNtz"), ("variant", "variantType"))\n'
        '       if field["type"] == kind and feature not in " ".join(features)]'
    ),
    "log.clustered-not-partitioned": (
        'meta["partitionColumns"] and [form for form in of("domainMetadata")\n'
        '       if form["domain"] == "delta.clustering" and not form["removed"]]'
    ),
    "schema.default-needs-feature": _needs("allowColumnDefaults", "CURRENT_DEFAULT", 7),
    "schema.generated-needs-feature": _needs("generatedColumns", "delta.generationExpression", 4),
    "schema.identity-needs-feature": _needs("identityColumns", "delta.identity.start", 6),
    "schema.invariant-needs-feature": _needs("invariants", "delta.invariants", 2),
    "schema.identity-step": (
        '[field["name"] for field in fields if field["metadata"].get("delta.identity.step") == 0]'
    ),
    "schema.variant-partitions-nothing": (
        '[field["name"] for field in fields\n'
        '       if field["name"] in meta["partitionColumns"] and field["type"] == "variant"]'
    ),
    # the files that a commit names
    "cdc.file-size": (
        '[form["path"] for form in of("cdc")\n'
        '       if os.path.getsize(os.path.join(path, unquote(form["path"]))) != form["size"]]'
    ),
    "cdc.change-types": (
        '[kind for form in of("cdc")\n'
        '       for kind in pq.read_table(os.path.join(path, unquote(form["path"])))["_change_type"].to_pylist()\n'
        '       if kind not in ("insert", "delete", "update_preimage", "update_postimage")]'
    ),
}
KEPT = (  # a rule, the files that stay as they are
    ("log.commit-never-changes", '"?" * 20 + ".json"'),
    ("checksum.never-changes", '"?" * 20 + ".crc"'),
)
DEFINITION = (
    *COMMITS,
    "new = {version: actions for version, actions in commits.items() if version not in known}",
    'paths = [action[kind]["path"] for actions in new.values() for action in actions for kind in ("add", "remove")',
    '         if kind in action and (kind == "remove" or action[kind]["path"] not in names)]',
    'wrong = paths and f"it takes files away or adds some: {paths}"',
)
BEFORE_DEFINITION = (
    *COMMITS,
    "known = set(commits)",
    'names = {action["add"]["path"] for actions in commits.values() for action in actions if "add" in action}',
)
NARROWER = {"log.required-field", "log.field-type"}
INNER = "It does not look into objects within an action; a person must."
PRELUDE = (
    (
        "key",
        'key = lambda form: (form["path"], *map((form.get("deletionVector") or {}).get, ("pathOrInlineDv", "offset")))',
    ),
    ("of", "of = lambda kind: [action[kind] for action in actions if kind in action]"),
)
NOTHING = (
    '{"configuration": {}, "partitionColumns": [], "schemaString": \'{"fields": []}\', '
    '"format": {"provider": "parquet"}}'
)
STATE = (
    ("old", '    protocol = (of("protocol") or [protocol])[-1]'),
    ("meta", '    before, meta = meta, (of("metaData") or [meta])[-1]'),
    ("fields", '    fields = json.loads(meta["schemaString"])["fields"]'),
    ("settings", '    settings = meta["configuration"]'),
    (
        "features",
        '    features = {*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())}',
    ),
)  # fmt: skip
AFTER = (
    '    live = {name: form for name, form in live.items() if name not in [gone["path"] for gone in of("remove")]}',
    '    live |= {form["path"]: form for form in of("add")}',
)
WHOLE = 'if 0 not in commits: end(2, "can\'t tell: the oldest commits are gone")'
STATEFUL = ("live", "before", "meta", "fields", "settings", "protocol", "features")


def about_state(requirement: str, moment: Moment | None = None) -> Ending | None:
    """The end for a rule about a commit and the state before it; None for any other.

    The expressions about columns look at those of the first level, so they decide nothing where a table has others.
    """
    expression = OF_COMMITS.get(requirement)
    if expression is None or ("fields" in expression and moment is not None and _is_nested(moment)):
        return None
    named = {name for name in (*STATEFUL, "key", "of") if re.search(rf"(?<![\w\"'.]){name}\b", expression)}
    named |= {"meta"} if named & {"before", "fields", "settings"} else set()
    named |= {"old"} if named & {"protocol", "features"} else set()
    named |= {"of"} if named & {"meta", "old", "live"} else set()
    starts = {"wrong": "[]"} | ({"live": "{}"} if "live" in named else {})
    starts |= {"protocol": '{"minReaderVersion": 1, "minWriterVersion": 2}'} if "old" in named else {}
    lines = [
        *COMMITS,
        *([WHOLE] if named & set(STATEFUL) else []),
        *(line for name, line in PRELUDE if name in named),
        f"{', '.join(starts)} = {', '.join(starts.values())}",
        *([f"meta = {NOTHING}"] if "meta" in named else []),
        "for version, actions in commits.items():",
        *(line for name, line in STATE if name in named),
        *assigned(expression),
        '    wrong += [f"version {version}: {bad}"] if bad else []',
        *(AFTER if "live" in named else ()),
    ]
    unsure = INNER if requirement in NARROWER else ""
    return Ending(lines=tuple(lines), right="each commit is as it should be", unsure=unsure)


def about_what_stays(requirement: str) -> Ending | None:
    """The end for a rule about what the last step must leave alone; None for any other."""
    if requirement == "write.definition-keeps-files":
        return Ending(before=BEFORE_DEFINITION, lines=DEFINITION, right="it names no file")
    for rule, pattern in KEPT:
        if rule == requirement:
            kept = f'texts = {{file: file.read_bytes() for file in Path(path, "_delta_log").glob({pattern})}}'
            changed = (
                "wrong = [file.name for file in texts if file.exists() and file.read_bytes() != texts[file]]"
            )
            return Ending(before=(kept,), lines=(changed,), right="no such file has changed")
    return None


def _is_nested(moment: Moment) -> bool:
    tables = (moment.before.table, moment.after.table)
    return any(isinstance(field.type, Struct | Array | Map) for table in tables for field in table.schema)
