"""Ends of scripts about checkpoints, the hint, checksums and compactions: what is wrong, for each rule.

An expression about a checkpoint sees its file (`checkpoint`), its version and its actions (`of("add")`), one about the
hint what it says (`told`) and the files of its checkpoint (`files`).
"""

from __future__ import annotations

import re

from conformance.findings.scripts.checks_log import COMMITS
from conformance.findings.scripts.ending import Ending

V2 = 'len(checkpoint.name.split(".")[-2]) == 36'
OF_V2 = '"v2Checkpoint" in (of("protocol")[0].get("writerFeatures") or ())'
CONFIGURED = 'dict(of("metaData")[0]["configuration"]).get({!r}, "").lower()'
AS_STRUCT = CONFIGURED.format("delta.checkpoint.writeStatsAsStruct")
AS_JSON = CONFIGURED.format("delta.checkpoint.writeStatsAsJson")
ENFORCED = 'of("add") and of("protocol")[0]["minWriterVersion"] >= 3 and '
OF_CHECKPOINTS: dict[str, str] = {
    "checkpoint.no-provenance": 'of("commitInfo") + of("cdc")',
    "checkpoint.one-protocol": 'len(of("protocol")) != 1 and of("protocol")',
    "checkpoint.one-metadata": 'len(of("metaData")) != 1 and of("metaData")',
    "checkpoint.no-removed-domains": '[form for form in of("domainMetadata") if form["removed"]]',
    "checkpoint.one-checkpoint-metadata": (
        f'({V2} or of("sidecar")) and len(of("checkpointMetadata")) != 1 and "not one"'
    ),
    "checkpoint.adds-once": (
        '[form for form, count in Counter(\n'
        '           (form["path"], str((form.get("deletionVector") or {}).get("pathOrInlineDv")))\n'
        '           for form in of("add")).items() if count > 1]'
    ),
    "checkpoint.metadata-version": '[form for form in of("checkpointMetadata") if form["version"] != version]',
    "checkpoint.file-actions-in-one-place": 'of("sidecar") and of("add") + of("remove")',
    "checkpoint.v2-needs-feature": f'({V2} or of("checkpointMetadata")) and not {OF_V2} and of("protocol")',
    "checkpoint.sidecar-size": (
        '[form for form in of("sidecar")\n'
        '           if (checkpoint.parent / "_sidecars" / unquote(form["path"])).stat().st_size != form["sizeInBytes"]]'
    ),
    "checkpoint.feature-lists": (
        '[form for form in of("protocol") if (form["minReaderVersion"] == 3) == (form.get("readerFeatures") is None)\n'
        '           or (form["minWriterVersion"] == 7) == (form.get("writerFeatures") is None)]'
    ),
    "checkpoint.keeps-parsed-stats": (
        ENFORCED + f'{AS_STRUCT} == "true"\n'
        '           and [form["path"] for form in of("add") if form.get("stats") and not form.get("stats_parsed")]'
    ),
    "checkpoint.keeps-parsed-partition-values": (
        ENFORCED + f'{AS_STRUCT} == "true"\n           and of("metaData")[0]["partitionColumns"]\n'
        '           and [form["path"] for form in of("add") if not form.get("partitionValues_parsed")]'
    ),
    "checkpoint.omits-json-stats": (
        ENFORCED + f'{AS_JSON} not in ("", "true")\n'
        '           and [form["path"] for form in of("add") if form.get("stats")]'
    ),
}  # fmt: skip
# They take whole checkpoints in Parquet alone: a part of one has no metadata.
EACH_CHECKPOINT = (
    "wrong = []",
    'if any(Path(path, "_delta_log").glob("*.checkpoint.*.json")): end(2, "can\'t tell: a checkpoint is in JSON")',
    'for checkpoint in sorted(Path(path, "_delta_log").glob("*.checkpoint*.parquet")):',
    '    if checkpoint.name.count(".") == 4: end(2, f"can\'t tell: {checkpoint.name} is a part of a checkpoint")',
    '    version, rows = int(checkpoint.name[:20]), pq.read_table(checkpoint).to_pylist(maps_as_pydicts="lossy")',
    "    of = lambda kind: [row[kind] for row in rows if row.get(kind) is not None]",
)
SIDECARS = ('    if of("sidecar"): end(2, "can\'t tell: the files are in sidecars")',)
FOUND = '    wrong += [f"{checkpoint.name}: {bad}"] if bad else []'
OF_HINTS: dict[str, str] = {
    "checkpoint.hint-well-formed": 'not (isinstance(told, dict) and {"version", "size"} <= set(told))',
    "checkpoint.hint-names-checkpoint": (
        'not files or (".checkpoint.0" in files[0].name and len(files) != int(files[0].name.split(".")[3]))'
    ),
    "checkpoint.hint-parts": 'told.get("parts") not in (None, len(files)) and len(files) > 0',
    "checkpoint.hint-bytes": (
        'told.get("sizeInBytes") not in (None, sum(file.stat().st_size for file in files)) and len(files) > 0'
    ),
}  # fmt: skip
HINT = (
    'hint = Path(path, "_delta_log", "_last_checkpoint")',
    "if not hint.exists():",
    '    end(0, "there is no hint")',
    "told = json.loads(hint.read_text())",
)
HINTED = (
    "files = sorted(hint.parent.glob(f\"{told['version']:020}.checkpoint*.parquet\"))",
    'if len({"parts" if len(file.name) > 60 and "-" not in file.name else file.name for file in files}) > 1 or any(',
    "    hint.parent.glob(f\"{told['version']:020}.checkpoint*.json\")",
    "):",
    '    end(2, "can\'t tell: there are several checkpoints of that version, or one in JSON")',
)
OF_CHECKSUMS: dict[str, str] = {
    "checksum.well-formed": (
        '{"tableSizeBytes", "numFiles", "numMetadata", "numProtocol", "metadata", "protocol"}\n'
        "           - {name for name in told if told[name] is not None}"
    ),
    "checksum.agrees-with-state": (
        '[name for name, right in (("tableSizeBytes", sum(form["size"] for form in live.values())),\n'
        '           ("numFiles", len(live)), ("numMetadata", 1), ("numProtocol", 1)) if told.get(name) != right]'
    ),
    "checksum.protocol": '[name for name in protocol if told["protocol"].get(name) != protocol[name]]',
    "checksum.metadata": '[name for name in meta if told["metadata"].get(name) != meta[name]]',
    "checksum.transactions": (
        '"setTransactions" in told and {form["appId"]: form["version"] for form in told["setTransactions"]} != txns'
    ),
    "checksum.in-commit-timestamp": (
        'told.get("inCommitTimestampOpt") != (of("commitInfo")[0].get("inCommitTimestamp")\n'
        '           if meta["configuration"].get("delta.enableInCommitTimestamps") == "true" else None)'
    ),
    "checksum.all-files": (
        'told.get("allFiles") is not None and {form["path"] for form in told["allFiles"]} ^ set(live)'
    ),
    "checksum.deletion-vectors": (
        'told.get("numDeletionVectorsOpt") not in (None, len(vectors)) or (\n'
        '           told.get("numDeletedRecordsOpt") not in (None, sum(form["cardinality"] for form in vectors)))'
    ),
}
CHECKSUMS = (
    ("", 'if 0 not in commits: end(2, "can\'t tell: the oldest commits are gone")'),
    ("", "live, txns, meta, protocol, wrong = {}, {}, {}, {}, []"),
    ("", "of = lambda kind: [action[kind] for action in actions if kind in action]"),
    ("", "for version, actions in commits.items():"),
    ("meta", '    meta = (of("metaData") or [meta])[-1]'),
    ("protocol", '    protocol = (of("protocol") or [protocol])[-1]'),
    (
        "live|vectors",
        '    live = {name: form for name, form in live.items() if name not in [gone["path"] for gone in of("remove")]}',
    ),
    ("live|vectors", '    live |= {form["path"]: form for form in of("add")}'),
    ("txns", '    txns |= {form["appId"]: form["version"] for form in of("txn")}'),
    (
        "vectors",
        '    vectors = [form["deletionVector"] for form in live.values() if form.get("deletionVector")]',
    ),
    ("", '    crc = Path(path, "_delta_log", f"{version:020}.crc")'),
    ("", "    told = json.loads(crc.read_text()) if crc.exists() else None"),
)  # what an expression needs, and the line that gives it
OF_FOLDERS: dict[str, tuple[str, ...]] = {
    "log.commit-is-json-lines": (
        "wrong = []",
        'for file in Path(path, "_delta_log").glob("?" * 20 + ".json"):',
        "    for line in filter(bytes.strip, file.read_bytes().splitlines()):",
        "        try:",
        "            is_action = isinstance(json.loads(line), dict)",
        "        except ValueError:",
        "            is_action = False",
        "        if not is_action:",
        '            wrong.append(f"{file.name}: {line[:200]}")',
    ),
    "checkpoint.keeps-stats": (
        *COMMITS,
        *EACH_CHECKPOINT,
        *SIDECARS,
        "    acts = [action for number in commits if number <= version for action in commits[number]]",
        '    adds = {action["add"]["path"]: action["add"] for action in acts if "add" in action}',
        '    bad = [form["path"] for form in of("add") if not form.get("stats") and adds[form["path"]].get("stats")]',
        f'    bad = bad if {AS_JSON} in ("", "true") else []',
        FOUND,
    ),
    "log.versions-contiguous": (
        *COMMITS,
        "wrong = sorted(set(range(min(commits), max(commits))) - set(commits))",
        'wrong = wrong and f"there are no versions {wrong}"',
    ),
    "log.file-names-padded": (
        'names = [file.name for file in Path(path, "_delta_log").iterdir()]',
        'kinds = r"\\d+\\.(json|crc|checkpoint\\..*|\\d+\\.compacted\\.json)"',
        'padded = r"\\d{20}\\.(\\D|\\d{20}\\.).*"',
        "wrong = [name for name in names if re.fullmatch(kinds, name) and not re.fullmatch(padded, name)]",
    ),
    "log.oldest-version-has-checkpoint": (
        *COMMITS,
        'covered = [int(file.name[:20]) for file in Path(path, "_delta_log").glob("*.checkpoint*")]',
        "wrong = min(commits) > 0 and not any(version >= min(commits) - 1 for version in covered)",
        'wrong = wrong and f"the oldest commit is {min(commits)}, and there are checkpoints of {covered}"',
    ),
    "log.in-commit-timestamp-increases": (
        *COMMITS,
        'infos = [(version, action["commitInfo"]) for version in sorted(commits) for action in commits[version]',
        '         if "commitInfo" in action]',
        'told = [(version, info["inCommitTimestamp"]) for version, info in infos if info.get("inCommitTimestamp")]',
        "wrong = [pair for pair in zip(told, told[1:]) if pair[0][1] >= pair[1][1] and pair[0][0] + 1 == pair[1][0]]",
    ),
    "checkpoint.after-commit": (
        *COMMITS,
        'names = [file.name for file in Path(path, "_delta_log").glob("?" * 20 + ".checkpoint*")]',
        "wrong = [name for name in names if int(name[:20]) > max(commits)]",
    ),
    "checksum.after-commit": (
        *COMMITS,
        'names = [file.name for file in Path(path, "_delta_log").glob("?" * 20 + ".crc")]',
        "wrong = [name for name in names if int(name[:20]) > max(commits)]",
    ),
    "log.compaction-range": (
        'names = [file.name for file in Path(path, "_delta_log").glob("*.compacted.json")]',
        'wrong = [name for name in names if int(name.split(".")[0]) >= int(name.split(".")[1])]',
    ),
    "log.compaction-no-provenance": (
        "wrong = []",
        'for file in Path(path, "_delta_log").glob("*.compacted.json"):',
        "    for line in file.read_text().splitlines():",
        '        wrong += [f"{file.name}: {kind}" for kind in ("commitInfo", "cdc") if kind in json.loads(line)]',
    ),
}  # fmt: skip


def about_checkpoints(requirement: str) -> Ending | None:
    """The end for a rule about checkpoints, the hint, checksums or the log's folder; None for any other."""
    if requirement in OF_FOLDERS:
        return Ending(lines=OF_FOLDERS[requirement], right="the log is as it should be")
    if requirement in OF_HINTS:
        expression = OF_HINTS[requirement]
        wrong = (f"wrong = {expression}", 'wrong = wrong and f"the hint says {told}"')
        return Ending(lines=(*HINT, *(HINTED if "files" in expression else ()), *wrong), right="{told}")
    if requirement in OF_CHECKPOINTS:
        bad = assigned(OF_CHECKPOINTS[requirement])
        in_top_level = (
            'of("add")' in OF_CHECKPOINTS[requirement] and 'of("sidecar")' not in OF_CHECKPOINTS[requirement]
        )
        beside = SIDECARS if in_top_level else ()
        return Ending(
            lines=(*EACH_CHECKPOINT, *beside, *bad, FOUND), right="each checkpoint is as it should be"
        )
    if requirement in OF_CHECKSUMS:
        bad = assigned(f"told is not None and ({OF_CHECKSUMS[requirement]})")
        state = [line for names, line in CHECKSUMS if re.search(rf"\b({names})\b", OF_CHECKSUMS[requirement])]
        found = '    wrong += [f"{crc.name}: {bad}"] if bad else []'
        return Ending(lines=(*COMMITS, *state, *bad, found), right="each checksum is as it should be")
    return None


def assigned(expression: str) -> list[str]:
    """The lines that evaluate an expression within a loop."""
    first, *more = expression.split("\n")
    if not more:
        return [f"    bad = {first}"]
    return [
        f"    bad = ({first}",
        *(f"        {line.strip()}" for line in more[:-1]),
        f"        {more[-1].strip()})",
    ]
