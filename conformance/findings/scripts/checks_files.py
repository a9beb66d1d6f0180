"""Ends of scripts about files: statistics, partition values, data files, checkpoints, what a vacuum left."""

from __future__ import annotations

from conformance.findings.scripts.case import Case, Moment
from conformance.findings.scripts.checks_log import COMMITS, LIVE
from conformance.findings.scripts.ending import Ending
from conformance.findings.scripts.literals import NotPrintable
from delta_models import operations as ops
from delta_models.expressions import compile_expression
from delta_models.schema import DataType, DecimalType, Primitive, Struct

PLAIN = frozenset({"string", "byte", "short", "integer", "long", "boolean"})
BOUNDS = {"stats.min-values": ("minValues", "min", ">"), "stats.max-values": ("maxValues", "max", "<")}
PARSERS = {
    "date": "date.fromisoformat",
    "timestamp": "datetime.fromisoformat",
    "timestamp_ntz": "datetime.fromisoformat",
}
EACH_FILE = (
    "wrong = []",
    "for version, actions in commits.items():",
    '    for add in (action["add"] for action in actions if "add" in action):',
    '        stats = json.loads(add.get("stats") or "{}", parse_float=Decimal)',
    '        data = pq.read_table(os.path.join(path, unquote(add["path"])), partitioning=None)',
)
EACH_COLUMN = (
    *EACH_FILE,
    "        for name in data.column_names:",
    "            values = [value for value in data[name].to_pylist() if value is not None and value == value]",
)
RECORDS = (
    *EACH_FILE,
    '        if stats.get("numRecords", data.num_rows) != data.num_rows:',
    "            wrong.append(f\"numRecords is {stats['numRecords']}, the file has {data.num_rows} rows\")",
)
NULLS = (
    *EACH_FILE,
    "        for name in data.column_names:",
    '            told = (stats.get("nullCount") or {}).get(name)',
    "            if isinstance(told, int) and told != data[name].null_count:",
    '                wrong.append(f"nullCount of {name} is {told}, the file has {data[name].null_count}")',
)
NAN = (
    *EACH_COLUMN,
    '            told = (stats.get("maxValues") or {}).get(name)',
    "            if told is not None and any(value != value for value in data[name].to_pylist()):",
    '                wrong.append(f"maxValues of {name} is {told}, and NaN is in the file")',
)
PHYSICAL = {
    "byte": r"-?\d+", "short": r"-?\d+", "integer": r"-?\d+", "long": r"-?\d+", "boolean": "true|false",
    "date": r"-?\d{4,}-\d\d-\d\d", "float": "", "double": "",
}  # fmt: skip
COMPACTIONS = (
    "wrong = []",
    'for file in Path(path, "_delta_log").glob("*.compacted.json"):',
    '    first, last = map(int, file.name.split(".")[:2])',
    "    wanted = {}",
    "    for version, actions in commits.items():",
    "        if first <= version <= last:",
    '            for kind in ("remove", "add"):',
    '                wanted |= {action[kind]["path"]: (kind, action[kind].get("partitionValues"))',
    "                           for action in actions if kind in action}",
    "    found = {}",
    "    for action in map(json.loads, file.open()):",
    '        found |= {form["path"]: (kind, form.get("partitionValues"))',
    '                  for kind, form in action.items() if kind in ("add", "remove")}',
    "    if found != wanted:",
    '        wrong.append(f"{file.name} has {found}, the commits have {wanted}")',
)
CHECKPOINTS = (
    'checkpoints = sorted(Path(path, "_delta_log").glob("*.checkpoint*.parquet"))',
    "if not checkpoints:",
    '    end(0, "there is no checkpoint")',
)
READABLE = (
    *CHECKPOINTS,
    'wrong = ""',
    "try:",
    "    pq.read_table(checkpoints[-1])",
    "except Exception as error:",
    '    wrong = f"{checkpoints[-1].name} cannot be read: {error}"',
)
OF_REMOVES = (
    *CHECKPOINTS,
    'removes = [remove for remove in pq.read_table(checkpoints[-1])["remove"].to_pylist() if remove]',
    'wrong = [remove for remove in removes if remove.get("stats") or remove.get("tags")]',
)
OF_PARSED_STATS = (
    *CHECKPOINTS,
    'columns = [field.name for field in pq.read_schema(checkpoints[-1]).field("add").type]',
    'wrong = "stats_parsed" in columns and f"{checkpoints[-1].name} has add.stats_parsed"',
)
LIVE_IN_CHECKPOINT = (
    *CHECKPOINTS,
    "live = {}",
    "for version, actions in commits.items():",
    "    if version <= int(checkpoints[-1].name[:20]):",
    '        for remove in (action["remove"] for action in actions if "remove" in action):',
    '            live.pop(remove["path"], None)',
    '        live |= {action["add"]["path"]: action["add"] for action in actions if "add" in action}',
    'rows = pq.read_table(checkpoints[-1], columns=["add"])["add"].to_pylist(maps_as_pydicts="lossy")',
    'found = {add["path"]: add for add in rows if add and add.get("path")}',
    'wrong = [f"{name} is in only one of commits and checkpoint" for name in set(live) ^ set(found)]',
    "for name in set(live) & set(found):",
    '    for key in ("size", "modificationTime", "partitionValues"):',
    "        left, right = live[name].get(key), found[name].get(key)",
    "        if left != right:",
    '            wrong.append(f"{key} of {name}: the commit has {left}, the checkpoint {right}")',
    '    left, right = (json.loads(form.get("stats") or "{}", parse_float=str) for form in (live[name], found[name]))',
    "    if left != right:",
    '        wrong.append(f"stats of {name}: the commit has {left}, the checkpoint {right}")',
)
ALL_THERE = (
    *LIVE,
    "wrong = [name for name in live if not os.path.exists(os.path.join(path, unquote(name)))]",
    "for add in live.values():",
    '    vector = add.get("deletionVector") or {}',
    '    if vector.get("storageType") == "u" and not list(Path(path).rglob("deletion_vector*.bin")):',
    "        wrong.append(f\"the deletion vector of {add['path']}\")",
    'wrong = wrong and f"not there, and needed by the newest version: {wrong}"',
)
UTF8 = (
    *EACH_FILE[:3],
    '        data = pq.read_table(os.path.join(path, unquote(add["path"])), partitioning=None)',
    "        for name in data.column_names:",
    "            if pa.types.is_string(data[name].type):",
    "                for value in data[name].cast(pa.binary()).to_pylist():",
    '                    if value is not None and value.decode(errors="ignore").encode() != value:',
    '                        wrong.append(f"version {version}: {name} has the bytes {value}")',
)
ORPHANS = (
    *COMMITS,
    'added = {unquote(form["add"]["path"]) for actions in commits.values() for form in actions if "add" in form}',
    'files = [file for file in Path(path).rglob("*.parquet") if "_delta_log" not in file.parts]',
    "orphans = [file for file in files if str(file.relative_to(path)) not in added]",
)
TEMPLATES: dict[str, tuple[str, ...]] = {
    "stats.num-records": RECORDS,
    "stats.null-count": NULLS,
    "stats.max-covers-nan": NAN,
    "log.compaction-equals-replay": COMPACTIONS,
    "checkpoint.readable": READABLE,
    "checkpoint.removes-without-stats": OF_REMOVES,
    "checkpoint.omits-parsed-stats": OF_PARSED_STATS,
    "checkpoint.equals-replay": LIVE_IN_CHECKPOINT,
    "write.data-files-readable": ALL_THERE,
    "vacuum.keeps-data-files": ALL_THERE,
    "vacuum.keeps-vectors": ALL_THERE,
    "log.texts-are-utf8": UTF8,
}


def about_files(case: Case, moment: Moment) -> Ending | None:
    """The end for a requirement of files; None for any other."""
    schema = moment.table.schema
    if any("columnMapping" in key for key, _ in moment.table.properties):
        return None  # the names in files are others
    if case.requirement in BOUNDS:
        return _bounds(schema, *BOUNDS[case.requirement])
    if case.requirement in TEMPLATES:
        return Ending(lines=(*COMMITS, *TEMPLATES[case.requirement]))
    match case.requirement:
        case "crash.left-overs-removed":
            told = 'wrong = orphans and f"no commit names them, and they are still there: {orphans}"'
            return Ending(lines=(*ORPHANS, told), right="no file is left over")
        case "crash.left-overs-kept":
            gone = "wrong = [file.name for file in orphans if not file.exists()]"
            return Ending(before=ORPHANS, lines=(gone,), right="{len(orphans)} files of a cut write stay")
        case "stats.tight-bounds":
            return _tight_bounds(schema)
        case "stats.well-formed":
            return _well_formed(schema)
        case "log.partition-value-readable":
            return _partition_values(moment)
        case "log.added-file-columns-known":
            return _columns_known(moment)
        case "schema.not-null-holds":
            return _not_null()
        case "write.untouched-files-stay":
            return _untouched(moment)
        case "log.partition-value-agrees-with-file":
            return _values_agree(moment)
    return None


def _parsed(schema: Struct) -> tuple[tuple[str, ...], str]:
    """The lines that define parsers where JSON is not the value, and the expression of a bound."""
    parsers = {
        field.name: PARSERS[field.type.name]
        for field in schema
        if isinstance(field.type, Primitive) and field.type.name in PARSERS
    }
    if not parsers:
        return (), "told"
    pairs = ", ".join(f"{name!r}: {parser}" for name, parser in parsers.items())
    return (f"parsers = {{{pairs}}}",), "parsers.get(name, lambda same: same)(told)"


def _bounds(schema: Struct, part: str, extreme: str, beyond: str) -> Ending:
    parsers, value = _parsed(schema)
    lines = (
        *COMMITS,
        *parsers,
        *EACH_COLUMN,
        f'            told = (stats.get("{part}") or {{}}).get(name)',
        "            if told is None or isinstance(told, dict) or not values:",
        "                continue",
        f"            if {value} {beyond} {extreme}(values):",
        f'                wrong.append(f"{part} of {{name}} is {{told}}, the file has {{{extreme}(values)}}")',
    )
    return Ending(lines=lines, right="each bound holds")


def _tight_bounds(schema: Struct) -> Ending:
    parsers, value = _parsed(schema)
    lines = (
        *COMMITS,
        *parsers,
        *EACH_COLUMN,
        '            for part, extreme in (("minValues", min), ("maxValues", max)):',
        "                told = (stats.get(part) or {}).get(name)",
        '                if told is None or isinstance(told, (str, dict)) or not values or add.get("deletionVector"):',
        "                    continue  # texts and timestamps may be cut",
        f"                if {value} != extreme(values):",
        '                    wrong.append(f"{part} of {name} is {told}, the file has {extreme(values)}")',
    )
    return Ending(lines=lines, right="each bound is a value of the file")


def _well_formed(schema: Struct) -> Ending:
    """A bound of a decimal column has no more digits after the point than its type."""
    scales = {field.name: field.type.scale for field in schema if isinstance(field.type, DecimalType)}
    if not scales:
        message = "statistics of another form than the protocol's"
        raise NotPrintable(message)
    lines = (
        *COMMITS,
        f"scales = {scales!r}",
        *EACH_FILE[:4],
        '        for part in ("minValues", "maxValues"):',
        "            for name, told in (stats.get(part) or {}).items():",
        "                digits = -Decimal(str(told)).normalize().as_tuple().exponent",
        "                if name in scales and digits > scales[name]:",
        '                    wrong.append(f"{part} of {name} is {told}: {digits} digits after the point")',
    )
    return Ending(lines=lines, right="each bound is a value of its type")


def _partition_values(moment: Moment) -> Ending:
    """Each partition value is a text that the protocol has for its type."""
    table = moment.table
    patterns = {}
    for name in table.partition_by:
        data_type = table.schema[name].type
        if isinstance(data_type, DecimalType):
            patterns[name] = r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?"
        elif isinstance(data_type, Primitive) and PHYSICAL.get(data_type.name):
            patterns[name] = PHYSICAL[data_type.name]
    if not patterns:
        message = "partition values of these types"
        raise NotPrintable(message)
    lines = (
        *COMMITS,
        f"patterns = {patterns!r}",
        *EACH_FILE[:3],
        "        for name, pattern in patterns.items():",
        '            told = add["partitionValues"][name]',
        "            if told and not re.fullmatch(pattern, told):",
        '                wrong.append(f"version {version}: the partition value of {name} is {told!r}")',
    )
    return Ending(lines=lines, right="each partition value is one of its type")


def _columns_known(moment: Moment) -> Ending:
    names = sorted(field.name for field in moment.table.schema)
    lines = (
        *COMMITS,
        *EACH_FILE[:3],
        '        columns = pq.read_schema(os.path.join(path, unquote(add["path"]))).names',
        f"        if not set(columns) <= set({names!r}):",
        "            wrong.append(f\"version {version}: {add['path']} has the columns {columns}\")",
    )
    return Ending(lines=lines, right="the files have the table's columns alone")


def _untouched(moment: Moment) -> Ending | None:
    """Each file that the last step takes away has a row that it picks. None where files show rows in another form."""
    operation, table = moment.operation, moment.before.table
    if not isinstance(operation, ops.Append | ops.Delete | ops.Update) or table.partition_by:
        return None
    if (
        not all(_is_told_alike(field.type, PLAIN) for field in table.schema)
        or "deletionVectors" in table.features
    ):
        return None
    where = None if isinstance(operation, ops.Append) else operation.where
    picks = None if where is None else compile_expression(where, table.schema)
    if where is None and not isinstance(operation, ops.Append):
        return None  # it picks all rows
    names = [field.name for field in table.schema]
    picked = [
        dict(zip(names, row, strict=True)) for row in table.rows if picks is not None and picks(row) is True
    ]
    lines = (
        *COMMITS,
        "acts = [action for version in commits if version not in known for action in commits[version]]",
        'gone = [action["remove"]["path"] for action in acts if "remove" in action]',
        f"picked = {picked!r}",
        "read = lambda name: pq.read_table(os.path.join(path, unquote(name)), partitioning=None).to_pylist()",
        "wrong = [name for name in gone if not any(row in picked for row in read(name))]",
        'wrong = wrong and f"taken away without a row that it picks: {wrong}"',
    )
    before = (*COMMITS, "known = set(commits)")
    return Ending(before=before, lines=lines, right="each file that it takes away has such a row")


def _values_agree(moment: Moment) -> Ending | None:
    """A partition column in a file has the value that the log gives it. None for values that both tell differently."""
    table = moment.table
    types = [table.schema[name].type for name in table.partition_by]
    if not types or not all(_is_told_alike(data_type, PLAIN - {"boolean"}) for data_type in types):
        return None
    lines = (
        *COMMITS,
        'adds = [action["add"] for actions in commits.values() for action in actions if "add" in action]',
        'files = [(add, pq.read_table(os.path.join(path, unquote(add["path"])), partitioning=None)) for add in adds]',
        'said = [(name, text or None, data) for add, data in files for name, text in add["partitionValues"].items()]',
        'both = [(name, text, data[name]) for name, text, data in said if name in data.column_names]  # "" means null',
        'held = [(name, text, set(column.cast("string").to_pylist())) for name, text, column in both]',
        'wrong = [f"{name} is {text!r}, the file has {texts}" for name, text, texts in held if texts - {text}]',
    )
    return Ending(lines=lines, right="the files and the log agree")


def _is_told_alike(data_type: DataType, names: frozenset[str]) -> bool:
    return isinstance(data_type, Primitive) and data_type.name in names


def _not_null() -> Ending:
    """The newest schema's NOT NULL columns have a value in every row of every live file."""
    lines = (
        *COMMITS,
        *LIVE,
        "wrong = []",
        'meta = [action["metaData"] for actions in commits.values() for action in actions if "metaData" in action][-1]',
        'strict = {field["name"] for field in json.loads(meta["schemaString"])["fields"] if not field["nullable"]}',
        "for add in live.values():",
        '    data = pq.read_table(os.path.join(path, unquote(add["path"])), partitioning=None)',
        '    full = {name for name in data.column_names if not data[name].null_count} - set(add["partitionValues"])',
        '    full |= {name for name, text in add["partitionValues"].items() if text}  # an empty text means null',
        "    wrong += [f\"{name} is NOT NULL, and null in {add['path']}\" for name in sorted(strict - full)]",
    )
    return Ending(lines=lines, right="no column that is NOT NULL is null")
