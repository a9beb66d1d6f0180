"""Do added rows keep the rules that the log itself carries: CHECK constraints, invariants, generated columns?"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.checks.log_validity import chain
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.expressions import NotEvaluable, compiled
from delta_models.functions import EvaluationError
from delta_models.log import Commit, LogError, LogReader, Snapshot
from delta_models.sql import SqlError
from delta_models.table.generated_columns import (
    CONSTRAINT,
    find_broken_generation,
    generated_columns,
    metadata_rules,
)
from delta_models.values import Row

JUDGES = judged_by("rules")
SHOWN = 3
QUOTE = '"'  # a name to some engines, a string to others: such a text says nothing for sure


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the rows of files that the step added."""
    if not observation.wrote:
        return
    for _, commit, after in chain(observation):
        if after is None or not commit.adds:
            continue
        try:
            _constraints(observation.reader, after, commit, recorder)
            _generated(observation.reader, after, commit, recorder)
        except (LogError, SqlError, NotEvaluable, EvaluationError, KeyError):
            continue  # a file that can't be read, and a text that is not ours to understand, are told by others


def _constraints(reader: LogReader, after: Snapshot, commit: Commit, recorder: CheckRecorder) -> None:
    properties = tuple(
        (key, text)
        for key, text in after.properties.items()
        if key.startswith(CONSTRAINT) and QUOTE not in text
    )
    rules = metadata_rules(after.schema, properties)
    if not rules:
        return
    rows = _added(reader, after, commit)
    for at, (name, check) in enumerate(rules):
        holds = compiled(check, after.schema)
        broken = [row for row in rows if holds(row) is not True]
        rule = "rules.constraints-hold" if at < len(properties) else "rules.invariants-hold"
        recorder.judge(rule, f"{name}: {broken[:SHOWN]}" if broken else None, commit.name)


def _generated(reader: LogReader, after: Snapshot, commit: Commit, recorder: CheckRecorder) -> None:
    if not generated_columns(after.schema):
        return
    name = find_broken_generation(after.schema, _added(reader, after, commit))
    wrong = f"{name} holds something else than what it is generated from" if name else None
    recorder.judge("rules.generated-columns-hold", wrong, commit.name)


def _added(reader: LogReader, after: Snapshot, commit: Commit) -> Sequence[Row]:
    return [row for add in commit.adds if add.data_change for row in reader.file_rows(after, add)]


CHECK = Check("rules", JUDGES, check)
