"""Ends of scripts about the JSON of the log: each tests the very field that its requirement is about."""

from __future__ import annotations

from conformance.checks.metrics import ADDED, REMOVED, WRITTEN
from conformance.checks.protocol import IMPLIED, used_features
from conformance.findings.scripts.case import Case, Moment
from conformance.findings.scripts.checks_answers import net_changes
from conformance.findings.scripts.ending import Ending
from conformance.findings.scripts.literals import NotPrintable
from delta_models import operations as ops
from delta_models.expressions import Call, compile_expression
from delta_models.schema import to_json
from delta_models.table.generated_columns import CONSTRAINT
from delta_models.table.merge import count_merged_rows

COMMITS = (
    'log = sorted(Path(path, "_delta_log").glob("?" * 20 + ".json"))',
    "commits = {int(file.stem): [json.loads(line) for line in file.read_bytes().splitlines() if line] for file in log}",
)
LIVE = (
    "live = {}",
    "for version, actions in commits.items():",
    '    for remove in (action["remove"] for action in actions if "remove" in action):',
    '        live.pop(remove["path"], None)',
    '    live |= {action["add"]["path"]: action["add"] for action in actions if "add" in action}',
)
NEWEST = (
    'meta = [form["metaData"] for actions in commits.values() for form in actions if "metaData" in form][-1]'
)
LAST = "version, actions = list(commits.items())[-1]"
# What is tested of each action of a kind: a requirement -> the kind, a condition on it that is wrong, what is said.
OF_ACTIONS: dict[str, tuple[str, str, str]] = {
    "log.path-is-uri": (
        "add",
        'not re.fullmatch(r"([A-Za-z0-9\\-_.!~*\'();/?:@&=+$,]|%[0-9A-Fa-f]{2})*", {a}["path"])',
        "the path {a['path']!r} is no URI",
    ),
    "log.added-file-exists": (
        "add",
        'not os.path.exists(os.path.join(path, unquote({a}["path"])))',
        "{a['path']} is not there",
    ),
    "log.added-file-size": (
        "add",
        'os.path.getsize(os.path.join(path, unquote({a}["path"]))) != {a}["size"]',
        "{a['path']} is said to have {a['size']} bytes",
    ),
    "cdc.file-exists": (
        "cdc",
        'not os.path.exists(os.path.join(path, unquote({a}["path"])))',
        "{a['path']} is not there",
    ),
    "cdc.path-is-uri": (
        "cdc",
        'not re.fullmatch(r"([A-Za-z0-9\\-_.!~*\'();/?:@&=+$,]|%[0-9A-Fa-f]{2})*", {a}["path"])',
        "the path {a['path']!r} is no URI",
    ),
    "log.cdc-no-data-change": ("cdc", '{a}["dataChange"]', "{a['path']} has dataChange"),
    "log.remove-has-timestamp": ("remove", '"deletionTimestamp" not in {a}', "{a['path']} has no deletionTimestamp"),
    "log.remove-extended-metadata": (
        "remove",
        '{a}.get("extendedFileMetadata") and "partitionValues" not in {a}',
        "{a['path']} has extendedFileMetadata and no partitionValues",
    ),
}  # fmt: skip
TAGS = {
    "tracking.preserved-told": (
        LAST,
        'info = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})',
        'told = (info.get("tags") or {}).get("delta.rowTracking.preserved")',
        'wrong = "" if told == "true" else f"version {version}: the tag delta.rowTracking.preserved is {told}"',
    ),
    "checksum.each-commit": (
        'wrong = [file.name for file in Path(path).glob("_delta_log/*.json") if not file.with_suffix(".crc").exists()]',
        'wrong = wrong and f"no checksum beside {sorted(wrong)}"',
    ),
    "log.data-files-not-overwritten": (
        'names = [action["add"]["path"] for actions in commits.values() for action in actions if "add" in action]',
        'wrong = ", ".join(name for name, count in Counter(names).items() if count > 1)',
    ),
}
REMOVES = (
    "live, wrong = {}, []",
    "for version, actions in commits.items():",
    '    for remove in (action["remove"] for action in actions if "remove" in action):',
    '        if live.pop(remove["path"], None) is None:',
    "            wrong.append(f\"version {version} removes {remove['path']}, live are {list(live)}\")",
    '    live |= {action["add"]["path"]: action["add"] for action in actions if "add" in action}',
)
FEATURES_STAY = (
    "named, wrong = set(), []",
    "for version, actions in commits.items():",
    '    for protocol in (action["protocol"] for action in actions if "protocol" in action):',
    '        now = set(protocol.get("writerFeatures", [])) | set(protocol.get("readerFeatures", []))',
    "        if named - now:",
    '            wrong.append(f"version {version} supports {sorted(named - now)} no longer: {protocol}")',
    "        named = now",
)
ROW_IDS = (
    "ids, wrong = {}, []",
    "for version, actions in commits.items():",
    '    for add in (action["add"] for action in actions if "add" in action):',
    '        known = ids.setdefault(add["path"], add.get("baseRowId"))',
    '        if known is not None and add.get("baseRowId") != known:',
    "            wrong.append(f\"version {version}: baseRowId {add.get('baseRowId')} of {add['path']} was {known}\")",
    '        ids[add["path"]] = add.get("baseRowId")',
)
COUNTS = (
    LAST,
    'info = next(action["commitInfo"] for action in actions if "commitInfo" in action)',
    'told = {name.replace("_", "").lower(): count for name, count in info.get("operationMetrics", {}).items()}',
)
FILES = (
    'added = {action["add"]["path"] for action in actions if "add" in action}',
    'removed = {action["remove"]["path"] for action in actions if "remove" in action}',
    "right = dict.fromkeys(%r, len(added - removed)) if added - removed else {}" % (list(ADDED),),  # noqa: UP031 - braces
    "right |= dict.fromkeys(%r, len(removed - added))" % (list(REMOVED),),  # noqa: UP031 - braces
)
COMPARED = (
    'wrong = ", ".join(f"{name} is said to be {told[name]}, it is {right[name]}"',
    "                  for name in right if name in told and int(told[name]) != right[name])",
)


def about_log(case: Case, moment: Moment) -> Ending | None:
    """The end for a requirement of the log's JSON; None for any other."""
    requirement = case.requirement
    if requirement in OF_ACTIONS:
        return _of_actions(*OF_ACTIONS[requirement])
    if requirement in TAGS:
        return Ending(lines=(*COMMITS, *TAGS[requirement]))
    match requirement:
        case "log.remove-names-live-file" | "log.path-removed-once":
            return Ending(lines=(*COMMITS, *REMOVES), right="each remove names a live file")
        case "protocol.features-stay":
            return Ending(lines=(*COMMITS, *FEATURES_STAY), right="{sorted(named)}")
        case "protocol.features-needed":
            return _features_needed(moment)
        case "log.row-ids-stay":
            return Ending(lines=(*COMMITS, *ROW_IDS))
        case "cdc.equals-difference":
            return _change_data(moment)
        case "cdc.recorded":
            test = 'wrong = "" if any("cdc" in action for action in actions) else f"version {version} has no cdc"'
            return Ending(lines=(*COMMITS, LAST, test))
        case "write.constraint-understood":
            return _constraint_text(moment)
        case "write.column-order" | "write.schema" | "write.partitioning" | "write.properties":
            return _definition(requirement, moment)
    return _metrics(requirement, moment) if case.kind == "metrics" else None


def _of_actions(kind: str, condition: str, said: str) -> Ending:
    lines = (
        "wrong = []",
        "for version, actions in commits.items():",
        f'    for {kind} in (action["{kind}"] for action in actions if "{kind}" in action):',
        f"        if {condition.replace('{a}', kind)}:",
        f'            wrong.append(f"version {{version}}: {said.replace("{a[", "{" + kind + "[")}")',
    )
    return Ending(lines=(*COMMITS, *lines))


def _features_needed(moment: Moment) -> Ending:
    """All features of the newest protocol that neither the model's table nor an operation asked for."""
    table = moment.table
    needed = {"appendOnly", "invariants", *table.features, *used_features(table.schema, table.properties)}
    needed |= {
        key.removeprefix("delta.feature.") for key, _ in table.properties if key.startswith("delta.feature.")
    }
    if isinstance(moment.operation, ops.EnableFeature):
        needed.add(moment.operation.feature)
    if table.cluster_by:
        needed.add("clustering")
    for feature in sorted(needed):
        needed |= set(IMPLIED.get(feature, ()))
    lines = (
        'protocol = [form["protocol"] for actions in commits.values() for form in actions if "protocol" in form][-1]',
        'named = set(protocol.get("writerFeatures", [])) | set(protocol.get("readerFeatures", []))',
        f"needed = {sorted(needed)!r}",
        'wrong = sorted(named - set(needed)) and f"nothing needs {sorted(named - set(needed))}: {protocol}"',
    )
    return Ending(lines=(*COMMITS, *lines), right="{sorted(named)}")


def _change_data(moment: Moment) -> Ending:
    """The change data files of the last commit make the rows after of the rows before."""
    before, after = moment.before.table, moment.after.table
    if after.partition_by or before.schema != after.schema:
        message = "change data of partitioned tables, or across a change of the schema"
        raise NotPrintable(message)
    lines = (
        LAST,
        "answer = []",
        'for cdc in (action["cdc"] for action in actions if "cdc" in action):',
        '    answer += pq.read_table(os.path.join(path, unquote(cdc["path"])), partitioning=None).to_pylist()',
        *net_changes(before, after),
        'wrong = any("cdc" in action for action in actions) and wrong',
    )
    return Ending(lines=(*COMMITS, *lines), right="the changes add up")


def _definition(requirement: str, moment: Moment) -> Ending:
    table = moment.table
    match requirement:
        case "write.partitioning":
            found, expected = 'meta["partitionColumns"]', repr(list(table.partition_by))
        case "write.column-order":
            found = '[field["name"] for field in json.loads(meta["schemaString"])["fields"]]'
            expected = repr([field.name for field in table.schema])
        case "write.schema" if all(field.metadata_json == "{}" for field in table.schema):
            found = (
                '{f["name"]: (f["type"], f["nullable"]) for f in json.loads(meta["schemaString"])["fields"]}'
            )
            expected = repr({field.name: (to_json(field.type), field.nullable) for field in table.schema})
        case "write.properties":
            wanted = dict(table.properties)
            found, expected = (
                f"{{key: meta['configuration'].get(key) for key in {sorted(wanted)!r}}}",
                repr(wanted),
            )
        case _:
            message = "the metadata of columns"
            raise NotPrintable(message)
    lines = (
        NEWEST,
        f"found, expected = {found}, {expected}",
        'wrong = "" if found == expected else f"the log has {found}, it should have {expected}"',
    )
    return Ending(lines=(*COMMITS, *lines), right="the log has {found}")


def _constraint_text(moment: Moment) -> Ending:
    """The text of the new constraint calls nothing that was not asked for, and has nothing in double quotes."""
    operation = moment.operation
    if not isinstance(operation, ops.AddConstraint):
        raise NotPrintable(type(operation).__name__)
    asked = sorted(_functions_in(operation.check) | {"decimal"})
    lines = (
        NEWEST,
        f"text = meta['configuration'][{CONSTRAINT + operation.name!r}]",
        """plain = re.sub(r"'([^']|'')*'|`[^`]*`", "", text)""",
        f"""private = set(re.findall(r'\\b([a-z]\\w*)\\(|("[^"]*")', plain)) - {{(name, "") for name in {asked!r}}}""",
        'wrong = f"the log has the constraint {text}" if private else ""',
    )
    return Ending(lines=(*COMMITS, *lines), right="the log has {text}")


def _functions_in(expression: object) -> set[str]:
    own = {expression.function} if isinstance(expression, Call) else set()
    parts = expression if isinstance(expression, tuple) else _fields_of(expression)
    return own.union(*map(_functions_in, parts))


def _fields_of(value: object) -> list[object]:
    return [getattr(value, name) for name in getattr(value, "__dataclass_fields__", ())]


def _metrics(requirement: str, moment: Moment) -> Ending:
    """The counts of the last commit against its files, or against the rows that the model has."""
    operation, before, after = moment.operation, moment.before.table, moment.after.table
    if requirement == "metrics.files":
        return Ending(lines=(*COMMITS, *COUNTS, *FILES, *COMPARED), right="the counts of files are right")
    right: dict[str, int] = {}
    match requirement, operation:
        case "metrics.rows-deleted", ops.Delete():
            right = {"numdeletedrows": len(before.rows) - len(after.rows)}
        case "metrics.rows-updated", ops.Update(where=where):
            selects = compile_expression(where, before.schema) if where is not None else None
            picked = sum(selects is None or selects(row) is True for row in before.rows)
            right = {"numupdatedrows": picked}
        case "metrics.rows-merged", ops.Merge():
            merged = count_merged_rows(before, operation)
            if merged is not None:
                right = {
                    "numtargetrowsinserted": merged.inserted,
                    "numtargetrowsupdated": merged.updated,
                    "numtargetrowsdeleted": merged.deleted,
                }
        case "metrics.rows-written", ops.Append() | ops.CreateAs() | ops.Overwrite(where=None):
            right = dict.fromkeys(WRITTEN, len(operation.rows.rows))
    if not right:
        message = f"{requirement} of {type(operation).__name__}"
        raise NotPrintable(message)
    return Ending(lines=(*COMMITS, *COUNTS, f"right = {right!r}", *COMPARED), right="the counts are right")
