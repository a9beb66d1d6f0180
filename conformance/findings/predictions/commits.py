"""Wrong actions in the log, metrics and files beside the log: each compared with what a mechanism writes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from conformance.checks.protocol import supported
from conformance.findings.predictions.tables import files_with_rows
from conformance.observations.observation import Observation
from delta_models.expressions import columns_of
from delta_models.log import Commit, LogError, Snapshot, paths, transitions
from delta_models.log.actions import Add, Remove
from delta_models.log.changes import commit_changes
from delta_models.operations import (
    Append,
    CloneTo,
    ConvertFromParquet,
    CreateAs,
    Delete,
    Overwrite,
    Replace,
    Restore,
    Update,
    WriteStream,
)
from delta_models.outcomes import Committed
from delta_models.requirements import Violation
from delta_models.schema import DecimalType
from delta_models.values import Decimal, Key, bag, row_key

METRIC = re.compile(r"(?P<name>\w+) is said to be (?P<said>\d+), it is (?P<fact>\d+)")
ADDED = ("numfiles", "numaddedfiles", "numfilesadded", "numtargetfilesadded")
OLD_IMAGES = ("update_preimage", "delete")


def changes_counted_as_files(observation: Observation, violation: Violation) -> bool:
    """The metric of added files is too large by the files of change data, and by one for new metadata."""
    told = METRIC.fullmatch(violation.detail)
    if told is None or told["name"] not in ADDED:
        return False
    counted = {
        len(commit.cdcs) + len(commit.metadatas)
        for commit in observation.commits
        if commit.name == violation.where
    }
    return int(told["said"]) - int(told["fact"]) in counted - {0}


def deleted_rows_not_counted(observation: Observation, violation: Violation) -> bool:
    """The metric of deleted rows is 0, where whole files were removed by the log alone."""
    told, before, operation = METRIC.fullmatch(violation.detail), observation.before, observation.operation
    if told is None or before is None or not isinstance(operation, Delete):
        return False
    columns = set() if operation.where is None else {column.path[0] for column in columns_of(operation.where)}
    return (
        (told["name"], told["said"]) == ("numdeletedrows", "0")
        and columns <= set(before.partition_by)
        and any(commit.removes for commit in observation.commits)
        and not any(commit.adds for commit in observation.commits)
    )


def change_rows_counted_as_copied(observation: Observation, violation: Violation) -> bool:
    """Of a delete with change data all rows of the removed files are counted as copied, and none as deleted."""
    told, before = METRIC.fullmatch(violation.detail), observation.before
    if told is None or before is None or not isinstance(observation.operation, Delete):
        return False
    if len(observation.commits) != 1 or not observation.commits[0].cdcs:
        return False
    removed = {remove.key for remove in observation.commits[0].removes}
    rows = sum(len(rows) for add, rows in files_with_rows(observation, before) if add.key in removed)
    return (told["name"], told["said"]) in {("numdeletedrows", "0"), ("numcopiedrows", str(rows))}


def compaction_without_nulls(observation: Observation, violation: Violation) -> bool:
    """The compaction gives the state by replay but for the null partition values, which it lacks."""
    reader = observation.reader
    for compaction in reader.listing().compactions:
        if compaction.name != violation.where:
            continue
        for start, used in reader.load_paths(compaction.last):
            if used != (compaction,):
                continue
            try:
                replayed = reader.replay_from(compaction.last, None)
                compacted = reader.replay_from(compaction.last, start, used)
            except LogError:
                return False
            if replayed != compacted and _without_nulls(replayed) == _without_nulls(compacted):
                return True
    return False


def no_checksum_at_all(observation: Observation, violation: Violation) -> bool:
    """The commit is one of deltalake's own, and has no checksum."""
    return any(commit.name == violation.where for commit in observation.commits)


def no_checksum_of_a_large_commit(observation: Observation, violation: Violation) -> bool:
    """The commit is that of a restore, of a conversion, or the first of a clone."""
    return isinstance(observation.operation, Restore | ConvertFromParquet | CloneTo) and any(
        commit.name == violation.where for commit in observation.commits
    )


def protocol_of_the_definition_alone(observation: Observation, _: Violation) -> bool:
    """A replaced table lost features that its new definition does not use, and gained none."""
    before, after = observation.before, observation.after
    if not isinstance(observation.operation, Replace) or before is None or after is None:
        return False
    properties = dict(observation.operation.properties)
    gone = supported(before.protocol) - supported(after.protocol)
    used = {key.removeprefix("delta.feature.") for key in properties}
    enabled = {
        key.removeprefix("delta.enable").lower() for key, value in properties.items() if value == "true"
    }
    return (
        gone != set()
        and not gone & used
        and not {name.lower() for name in gone} & enabled
        and isinstance(observation.outcome, Committed)
    )


def variants_named_too(_: Observation, violation: Violation) -> bool:
    """Of all features, variants alone are named without need."""
    return violation.detail == "nothing of the table needs variantType"


def partition_columns_behind(observation: Observation, _: Violation) -> bool:
    """The columns are those that were there without the partition columns, then these, then the new ones."""
    before, after = observation.before, observation.after
    if before is None or after is None:
        return False
    partitions = [name for name in before.schema.names if name in before.partition_by]
    others = [name for name in before.schema.names if name not in partitions]
    new = [name for name in observation.model.schema.names if name not in before.schema.names]
    return list(after.schema.names) in (
        [*others, *partitions, *new],
        [*others, *before.partition_by, *new],
    )


def remove_in_another_spelling(observation: Observation, violation: Violation) -> bool:
    """Each remove that names no live file names one in another spelling of its path."""
    strange = _removes_without_file(observation, violation)
    if not strange:
        return False
    return all(
        any(
            paths.decode(add.path) == paths.decode(remove.path) and add.path != remove.path
            for add in before.live.values()
        )
        for before, remove in strange
    )


def only_raw_characters(observation: Observation, violation: Violation) -> bool:
    """A path has characters beyond ASCII as they are; all others in it are allowed in a URI."""
    told = re.search(r" has a raw '(?P<character>.)'$", violation.detail, re.DOTALL)
    shown = re.search(r" has a raw (?P<shown>.*)$", violation.detail, re.DOTALL)
    if told is not None and told["character"].isascii():
        return False
    if shown is None or any(ord(one) < 0x80 for one in _literal(shown["shown"])):
        return False
    commits = [commit for commit in observation.commits if commit.name == violation.where]
    written = {add.path for commit in commits for add in commit.adds}
    written |= {remove.path for commit in commits for remove in commit.removes}
    raw = [path for path in written if not path.isascii()]
    # Beyond ASCII nothing else is wrong: decoded, the path is the file's own.
    return any(repr(path) in violation.detail for path in raw) and all(
        re.fullmatch(r"[A-Za-z0-9\-_.!~*'();/?:@&=+$,%]*", "".join(filter(str.isascii, path))) for path in raw
    )


def raw_replacement_characters(observation: Observation, violation: Violation) -> bool:
    """The only characters beyond ASCII in the paths are those that replace bytes which are no UTF-8."""
    written = {
        add.path
        for commit in observation.commits
        if commit.name == violation.where
        for add in commit.adds
        if not add.path.isascii()
    }
    foreign = {character for path in written for character in path if not character.isascii()}
    return foreign == {"\N{REPLACEMENT CHARACTER}"} and only_raw_characters(observation, violation)


def parsed_stats_beside_json(observation: Observation, _: Violation) -> bool:
    """Nobody has set whether statistics are to be parsed; the table is of a writer version that heeds it."""
    state = observation.after
    return state is not None and "delta.checkpoint.writeStatsAsStruct" not in state.metadata.configuration


def stats_copied_from_removes(observation: Observation, violation: Violation) -> bool:
    """The removes of the checkpoint have the statistics and tags that their files have in the commits."""
    reader = observation.reader
    for checkpoint in reader.listing().checkpoints:
        if violation.where not in {*checkpoint.files}:
            continue
        stats: dict[Key, set[str | None]] = {}
        tags: dict[Key, list[object]] = {}
        for commit in _commits_up_to(observation, checkpoint.version):
            files: list[Add | Remove] = [*commit.adds, *commit.removes]
            for file in files:
                stats.setdefault(file.key, {None}).add(file.stats)
                tags.setdefault(file.key, [None, {}]).append(file.tags)
        removes = reader.checkpoint(checkpoint).removes
        return all(
            remove.stats in stats.get(remove.key, {None}) and remove.tags in tags.get(remove.key, [None])
            for remove in removes
        )
    return False


def equal_images_left_out(observation: Observation, _: Violation) -> bool:
    """The change data lacks exactly those rows of the rewritten files that are there before and after the update."""
    before, after = observation.before, observation.after
    if not isinstance(observation.operation, Update) or before is None or after is None:
        return False
    old: Counter[Key] = Counter()
    new: Counter[Key] = Counter()
    told_old: Counter[Key] = Counter()
    told_new: Counter[Key] = Counter()
    for commit in observation.commits:
        for remove in commit.removes:
            add = before.live.get(remove.key)
            old += (
                bag(before.schema, observation.reader.file_rows(before, add))
                if add is not None
                else Counter()
            )
        for add in commit.adds:
            new += bag(after.schema, observation.reader.file_rows(after, add))
        for row, kind in commit_changes(observation.reader, after, commit):
            told = told_old if kind in OLD_IMAGES else told_new
            told[row_key(after.schema, row)] += 1
    kept_old = Counter({key: count for key, count in old.items() if key not in new})
    kept_new = Counter({key: count for key, count in new.items() if key not in old})
    # Rows that are equal are told once each, or once altogether.
    return (told_old, told_new) in (
        (kept_old, kept_new),
        (Counter(set(kept_old)), Counter(set(kept_new))),
    )


def append_without_the_tag(observation: Observation, _: Violation) -> bool:
    """The commits only add rows, by a data frame, and lack the tag as a whole."""
    appends = isinstance(observation.operation, Append | CreateAs | Overwrite | WriteStream)
    return appends and all(
        not commit.info or not dict(commit.info.values.get("tags") or {}).get("delta.rowTracking.preserved")
        for commit in observation.commits
    )


def column_is_cdc(_: Observation, violation: Violation) -> bool:
    """The one column too many is delta-spark's own __is_cdc."""
    return violation.detail.endswith("columns that are not in the schema: __is_cdc")


def restored_with_fresh_ids(observation: Observation, violation: Violation) -> bool:
    """A restored file has ids above all that were taken, although it was added with others before."""
    path = violation.detail.partition(" had ")[0]
    before = observation.before
    if not isinstance(observation.operation, Restore) or before is None:
        return False
    earlier = [
        add.base_row_id
        for commit in _commits_up_to(observation, before.version)
        for add in commit.adds
        if add.path == path
    ]
    taken = [
        add.base_row_id
        for commit in _commits_up_to(observation, before.version)
        for add in commit.adds
        if add.base_row_id is not None
    ]
    fresh = [add.base_row_id for commit in observation.commits for add in commit.adds if add.path == path]
    # the first add, from before the table had row tracking, has no ids
    return (
        None in earlier
        and all(one is not None and one > max(taken, default=-1) for one in fresh)
        and fresh != []
    )


def sign_before_the_fraction(observation: Observation, violation: Violation) -> bool:
    """The text of a partition value is its whole part, a point, and its fraction, padded with its sign."""
    schema = observation.model.schema if observation.model.exists else None
    after = observation.after or observation.before
    schema = after.schema if after is not None else schema
    if schema is None or not violation.columns:
        return False
    name = violation.columns[0]
    data_type = schema[name].type
    if not isinstance(data_type, DecimalType):
        return False
    texts = {
        text
        for commit in _commits_of(observation)
        if commit.name == violation.where
        for add in commit.adds
        if violation.detail.startswith(f"{add.path}: ")
        for column, text in add.partition_values.items()
        if column == name
    }
    return texts != set() and all(
        text is not None and text in _written_wrongly(observation, name, data_type) for text in texts
    )


def unreadable_for_the_sign(observation: Observation, violation: Violation) -> bool:
    """The table can't be read after a fault, for one file with such a text, which the violation names."""
    after = observation.after
    if after is None:
        return False
    for add in after.live.values():
        for name, text in add.partition_values.items():
            data_type = after.schema[name].type if name in after.schema.names else None
            if (
                isinstance(data_type, DecimalType)
                and violation.detail.startswith(
                    f"version {after.version} can't be read: {add.path}: partition column {name!r}: "
                )
                and text in _written_wrongly(observation, name, data_type)
            ):
                return True
    return False


def _written_wrongly(observation: Observation, name: str, data_type: DecimalType) -> set[str]:
    """The texts that deltalake writes for the values below 0 that may be in a column."""
    values: set[Decimal] = set()
    allowed = [outcome.table for outcome in observation.expectation.allowed_outcomes]
    for table in (*allowed, observation.model):
        if table.exists and name in table.schema.names:
            place = table.schema.index(name)
            values |= {row[place] for row in table.rows if row[place] is not None}
    texts = set()
    for value in values:
        unscaled = value.at_scale(data_type.scale).unscaled
        if unscaled < 0:
            whole, fraction = divmod(-unscaled, 10**data_type.scale)
            texts.add(f"{-whole}.{str(-fraction).rjust(data_type.scale, '0')}")
    return texts


def _removes_without_file(observation: Observation, violation: Violation) -> list[tuple[Snapshot, Remove]]:
    """The removes of the violation's commit that name no live file, each with the state before."""
    found = []
    for before, commit, _ in transitions(observation.before, observation.commits):
        if before is not None and commit.name == violation.where:
            found += [(before, remove) for remove in commit.removes if remove.key not in before.live]
    return found


def _commits_of(observation: Observation) -> Iterator[Commit]:
    """The commits of the step, also of a log that has no state."""
    if observation.commits:
        yield from observation.commits
        return
    first = observation.before.version + 1 if observation.before is not None else 0
    for version in observation.reader.listing().commits:
        if version >= first:
            yield observation.reader.commit(version)


def _commits_up_to(observation: Observation, last: int) -> Iterator[Commit]:
    for version in sorted(observation.reader.listing().commits):
        if version <= last:
            yield observation.reader.commit(version)


def _without_nulls(snapshot: Snapshot) -> Snapshot:
    live = {
        key: replace(add, partition_values=_present(add.partition_values))
        for key, add in snapshot.live.items()
    }
    tombstones = {
        key: replace(remove, partition_values=_present(remove.partition_values or {}))
        for key, remove in snapshot.tombstones.items()
    }
    return replace(snapshot, live=live, tombstones=tombstones)


def _present(values: Mapping[str, str | None]) -> Mapping[str, str | None]:
    return {name: value for name, value in values.items() if value is not None}


def _literal(shown: str) -> str:
    """The character of a message, which quotes it."""
    return shown.strip("'\"").encode("ascii", "backslashreplace").decode("unicode_escape")
