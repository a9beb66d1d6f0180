"""Do added rows keep the rules that the table declares: CHECK constraints, invariants, generated columns?

And can others read a CHECK constraint that was added?

Their expressions mean what they mean in the session that wrote the rows, so its time zone counts. A step may rewrite
rows of earlier sessions as they are: such a row keeps a rule if it does so in one of their zones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.checks.constraint_texts import find_private_sql
from conformance.checks.log_validity import chain
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.expressions import NotEvaluable, compile_expression
from delta_models.functions import EvaluationError
from delta_models.log import Commit, LogError, LogReader, Snapshot
from delta_models.operations import AddConstraint
from delta_models.outcomes import Committed
from delta_models.requirements import Checked, checked
from delta_models.sql import SqlError
from delta_models.table.generated_columns import (
    CONSTRAINT,
    generated_columns,
    generation_test,
    metadata_rules,
)
from delta_models.values import Row

JUDGES = judged_by(CheckName.ROW_CONSTRAINTS)
SHOWN = 3
QUOTE = '"'  # some engines quote names with it, others strings, so a text with it is ambiguous


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the rows of files that the step added, and the text of a constraint that it added."""
    if not observation.wrote:
        return
    yield from _check_text(observation)
    for _, commit, after in chain(observation):
        if after is None or not commit.adds:
            continue
        try:
            yield from _check_constraints(observation, after, commit)
            yield from _check_generated(observation, after, commit)
        except (LogError, SqlError, NotEvaluable, EvaluationError, KeyError):
            continue  # other checks report files that cannot be read; the model does not know every expression


def _check_text(observation: Observation) -> Iterator[Checked]:
    operation, after = observation.operation, observation.after
    if (
        not isinstance(operation, AddConstraint)
        or not isinstance(observation.outcome, Committed)
        or after is None
    ):
        return
    key = f"{CONSTRAINT}{operation.name}".casefold()
    text = next((text for known, text in after.properties.items() if known.casefold() == key), None)
    if text is None or not observation.commits:
        return  # the rows of later writes show a constraint that is not there
    private = find_private_sql(text, operation.check, after.schema, observation.zones[0])
    yield checked(
        "write.constraint-understood", private and f"{key} = {text}: {private}", observation.commits[-1].name
    )


def _check_constraints(observation: Observation, after: Snapshot, commit: Commit) -> Iterator[Checked]:
    properties = tuple(
        (key, text)
        for key, text in after.properties.items()
        if key.startswith(CONSTRAINT) and QUOTE not in text
    )
    rules_by_zone = [metadata_rules(after.schema, properties, zone) for zone in observation.zones]
    if not any(rules_by_zone):
        return
    rows = _added_rows(observation.reader, after, commit)
    for index, rules in enumerate(zip(*rules_by_zone, strict=True)):
        name = rules[0][0]
        tests = [
            compile_expression(condition, after.schema, zone)
            for (_, condition), zone in zip(rules, observation.zones, strict=True)
        ]
        broken = [row for row in rows if all(holds(row) is not True for holds in tests)]
        rule = "rules.constraints-hold" if index < len(properties) else "rules.invariants-hold"
        yield checked(rule, f"{name}: {broken[:SHOWN]}" if broken else None, commit.name)


def _check_generated(observation: Observation, after: Snapshot, commit: Commit) -> Iterator[Checked]:
    if not generated_columns(after.schema):
        return
    rows = _added_rows(observation.reader, after, commit)
    tests = [generation_test(after.schema, zone) for zone in observation.zones]
    broken = ([broken_column(row) for broken_column in tests] for row in rows)
    name = next((names[0] for names in broken if all(names)), None)
    problem = f"{name} holds something else than what it is generated from" if name else None
    yield checked("rules.generated-columns-hold", problem, commit.name)


def _added_rows(reader: LogReader, after: Snapshot, commit: Commit) -> Sequence[Row]:
    return [row for add in commit.adds if add.data_change for row in reader.file_rows(after, add)]


CHECK = Check(CheckName.ROW_CONSTRAINTS, JUDGES, check)
