"""What a merge means: join source rows to the table, and apply the first clause that fits each row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from delta_models.casts.assignment import Overflow, fields_by_name, fields_by_name_or_null
from delta_models.expressions import And, Column, Compare, Expression, compile_expression
from delta_models.functions import EvaluationError
from delta_models.operations import Assignments, Merge, MergeClause
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import Field, Struct
from delta_models.table.expectation import (
    AllowedOutcome,
    Expectation,
    allow_refusal,
    expect_no_change,
    expect_refusal,
    expect_rewrite,
    is_append_only,
    refuse_for_append_only,
)
from delta_models.table.generated_columns import generated_columns, generation_filler
from delta_models.table.identity import identities_named as identities_given
from delta_models.table.row_conversion import (
    IDENTITY_REFUSALS,
    BrokenRule,
    IdentityValueGiven,
    RowMismatch,
    check_rules,
    default_of,
    merge_schemas,
    rows_in_schema,
)
from delta_models.table.state import Table
from delta_models.table.struct_merge import MergedStruct, find_merged_structs, merge_structs
from delta_models.table.update_delete import assigner
from delta_models.values import Key, Row, sql_keyer

MATCHED, NOT_MATCHED, BY_SOURCE = "matched", "not-matched", "not-matched-by-source"
ACTIONS = {MATCHED: ("update", "delete"), NOT_MATCHED: ("insert",), BY_SOURCE: ("update", "delete")}

Pair = tuple[Row | None, Row | None]  # (source, target), as the scope of a merge has them
Results = Callable[[Row, Pair], tuple[Row, ...]]


class Ambiguous(ValueError):
    """Several source rows match one target row and would change it."""


@dataclass(frozen=True, slots=True)
class _Clause:
    applies: Callable[[Pair], bool]
    results: Results
    casts: bool = False
    deletes: bool = False


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """How many target rows a merge inserts, updates and deletes."""

    inserted: int
    updated: int
    deleted: int


def count_merged_rows(table: Table, operation: Merge) -> MergeCounts | None:
    """Return how many rows a merge inserts, updates and deletes; None if it must be refused."""
    try:
        target = _evolve_table(table, operation) if operation.schema_evolution else table
        scope = _scope(target.schema, operation.source.schema)
        clauses = {when: _prepare_clauses(operation, when, target, scope) for when in ACTIONS}
        decisions, _ = _decide(target, operation, clauses, _matches(operation, target, scope))
    except (KeyError, RowMismatch, Ambiguous, EvaluationError):
        return None
    acting = [(clause, pair[1] is None) for clause, pair in decisions if clause is not None]
    inserted = sum(new for _, new in acting)
    deleted = sum(clause.deletes for clause, new in acting if not new)
    return MergeCounts(inserted, len(acting) - inserted - deleted, deleted)


def merge(table: Table, operation: Merge) -> Expectation:
    """Expect the table after a merge, or its refusal.

    An append-only table may refuse it by its clauses alone, before anything else is looked at.
    """
    expectation = _merge(table, operation)
    refused = Rejected("append-only") in {allowed.outcome for allowed in expectation.allowed_outcomes}
    if (
        refused
        or not is_append_only(table)
        or all(clause.when == NOT_MATCHED for clause in operation.clauses)
    ):
        return expectation
    return allow_refusal(
        expectation, table, ("append-only",), "outcome.merge-into-append-only-may-be-refused"
    )


def _merge(table: Table, operation: Merge) -> Expectation:
    try:
        target = _evolve_table(table, operation) if operation.schema_evolution else table
        scope = _scope(target.schema, operation.source.schema)
        clauses = {when: _prepare_clauses(operation, when, target, scope) for when in ACTIONS}
        matches = _matches(operation, target, scope)
    except (KeyError, RowMismatch) as error:
        return _misfit(table, error)
    expectation = _merge_rows(table, operation, target, clauses, matches)
    if not is_append_only(table) or not _acts_on_rows(target, operation, clauses, matches):
        return expectation
    return refuse_for_append_only(table, expectation)


def _merge_rows(
    table: Table,
    operation: Merge,
    target: Table,
    clauses: dict[str, list[_Clause]],
    matches: list[list[int]],
) -> Expectation:
    try:
        kept, new, deleted_twice = _act(target, operation, clauses, matches)
        stored = target.stored(new)
        check_rules(target, stored)
    except Ambiguous:
        return expect_refusal(table, "ambiguous-match", "outcome.ambiguous-match-refused")
    except (Overflow, EvaluationError):
        return expect_refusal(table, ("overflow", "schema", "bad-argument"), "outcome.overflow-refused")
    except BrokenRule:
        return expect_refusal(table, "constraint", "outcome.broken-rule-refused")
    if len(kept) == len(target.rows) and not new:
        expectation = _expect_nothing(table, target)
    else:
        expectation = expect_rewrite(table, target.with_rows((*kept, *stored)), "contents.merge")
    if any(clause.casts for clause in clauses[MATCHED] + clauses[NOT_MATCHED] + clauses[BY_SOURCE]):
        expectation = allow_refusal(expectation, table, ("schema",), "outcome.casts-may-be-refused")
    if generated_columns(target.schema):
        expectation = allow_refusal(
            expectation, table, ("constraint", "schema"), "outcome.generated-may-be-refused"
        )
    if not deleted_twice:
        return expectation
    if _one_unconditional_delete(operation):
        return _allow_ambiguous(table, expectation)
    softer = (
        replace(allowed, breaks="outcome.merge-deletes-twice-refused")
        for allowed in expectation.allowed_outcomes
    )
    return expect_refusal(table, "ambiguous-match", "outcome.ambiguous-match-refused").or_else(*softer)


def _acts_on_rows(
    table: Table, operation: Merge, clauses: dict[str, list[_Clause]], matches: list[list[int]]
) -> bool:
    """Whether a clause acts on a row of the table, or can't be decided."""
    try:
        decisions, _ = _decide(table, operation, clauses, matches)
    except (Ambiguous, Overflow, EvaluationError):
        return True
    return any(clause is not None and pair[1] is not None for clause, pair in decisions)


def _misfit(table: Table, error: KeyError | RowMismatch) -> Expectation:
    if isinstance(error, IdentityValueGiven):
        return expect_refusal(table, IDENTITY_REFUSALS, "outcome.identity-given-refused")
    unknown = isinstance(error, KeyError)
    rule = "outcome.unknown-column-refused" if unknown else "outcome.misfit-refused"
    return expect_refusal(table, ("schema", "bad-argument"), rule)


def _act(
    table: Table, operation: Merge, clauses: dict[str, list[_Clause]], matches: list[list[int]]
) -> tuple[list[Row], list[Row], bool]:
    """The target rows that no clause touches, the new rows, and whether several source rows delete one row."""
    kept: list[Row] = []
    new: list[Row] = []
    decisions, deleted_twice = _decide(table, operation, clauses, matches)
    blank = tuple(default_of(table, name)(()) for name in table.schema.names) if clauses[NOT_MATCHED] else ()
    for clause, pair in decisions:
        row = pair[1]
        if clause is not None:
            new.extend(clause.results(blank if row is None else row, pair))
        elif row is not None:
            kept.append(row)
    return kept, new, deleted_twice


def _decide(
    table: Table, operation: Merge, clauses: dict[str, list[_Clause]], matches: list[list[int]]
) -> tuple[list[tuple[_Clause | None, Pair]], bool]:
    """The clause for each target row and each unmatched source row, and whether several source rows delete one row."""
    source = operation.source.rows
    decisions: list[tuple[_Clause | None, Pair]] = []
    deleted_twice = False
    for row, partners in zip(table.rows, matches, strict=True):
        pairs: list[Pair] = [(source[index], row) for index in partners]
        pairs = (
            [pair for pair in pairs if _first_applying(clauses[MATCHED], pair)] if partners else [(None, row)]
        )
        if len(pairs) > 1:
            acting = [_first_applying(clauses[MATCHED], pair) for pair in pairs]
            if not all(chosen is not None and chosen.deletes for chosen in acting):
                raise Ambiguous
            deleted_twice = True
        clause = _first_applying(clauses[MATCHED if partners else BY_SOURCE], pairs[0]) if pairs else None
        decisions.append((clause, pairs[0] if pairs else (None, row)))
    if clauses[NOT_MATCHED]:
        partnered = {index for partners in matches for index in partners}
        alone: list[Pair] = [(row, None) for index, row in enumerate(source) if index not in partnered]
        decisions += [(_first_applying(clauses[NOT_MATCHED], pair), pair) for pair in alone]
    return decisions, deleted_twice


def _expect_nothing(table: Table, target: Table) -> Expectation:
    """Expect no change because no clause acts. With schema evolution, an engine may still add the columns."""
    expectation = expect_no_change(table, "contents.merge-nothing")
    if target.schema == table.schema:
        return expectation
    grown = AllowedOutcome(Committed(), (1, 1), target, "contents.merge-nothing")
    return Expectation((grown, *expectation.allowed_outcomes))


def _evolve_table(table: Table, operation: Merge) -> Table:
    """The table with those missing source columns that a clause writes to."""
    source = operation.source.schema
    if any(clause.everything for clause in operation.clauses):
        wanted = source
    else:
        assigned = {name.casefold() for clause in operation.clauses for name, _ in clause.assignments}
        wanted = Struct(tuple(field for field in source if field.name.casefold() in assigned))
    schema = merge_schemas(table.schema, wanted)
    return (
        table if schema == table.schema else replace(table, schema=schema, rows=rows_in_schema(schema, table))
    )


def _allow_ambiguous(table: Table, expectation: Expectation) -> Expectation:
    stricter = AllowedOutcome(
        Rejected("ambiguous-match"), (0, 0), table, "contents.merge", breaks="outcome.merge-deletes-once"
    )
    return expectation.or_else(stricter)


def _scope(target: Struct, source: Struct) -> Struct:
    return Struct((Field("source", source), Field("target", target)))


def _prepare_clauses(operation: Merge, when: str, table: Table, scope: Struct) -> list[_Clause]:
    prepared = []
    for clause in operation.clauses:
        if clause.action not in ACTIONS.get(clause.when, ()):
            message = f"{clause.action} when {clause.when}"
            raise RowMismatch(message)
        if clause.when == when:
            prepared.append(_clause(clause, operation, table, scope))
    return prepared


def _condition(clause: MergeClause, scope: Struct, zone: tzinfo) -> Callable[[Pair], bool]:
    if clause.condition is None:
        return lambda _: True
    condition = compile_expression(clause.condition, scope, zone)
    return lambda pair: condition(pair) is True


def _clause(clause: MergeClause, operation: Merge, table: Table, scope: Struct) -> _Clause:
    applies = _condition(clause, scope, table.zone)
    if clause.action == "delete":
        return _Clause(applies, lambda _row, _pair: (), deletes=True)
    assignments: Assignments = clause.assignments
    mixed: tuple[MergedStruct, ...] = ()
    if clause.everything:
        assignments = _assign_everything(clause, operation, table)
        if operation.schema_evolution:
            mixed = find_merged_structs(table.schema, operation.source.schema, table.zone)
            names = {table.schema.names[struct.place] for struct in mixed}
            assignments = tuple(assignment for assignment in assignments if assignment[0] not in names)
    identities = identities_given(table.schema, [name for name, _ in assignments])
    if any(clause.action == "update" or not identity.explicit for identity in identities):
        message = "an identity column takes no value"
        raise IdentityValueGiven(message)
    pairing = fields_by_name_or_null if operation.schema_evolution else fields_by_name
    given = assigner(assignments, table, scope, pairing)

    def assign(row: Row, pair: Pair) -> Row:
        changed = given.assign(row, pair)
        return merge_structs(changed, pair[1], pair[0], mixed) if mixed and pair[0] is not None else changed

    fill = generation_filler(table.schema, [name for name, _ in assignments], table.zone)
    if fill is not None:
        return _Clause(applies, lambda row, pair: fill((assign(row, pair),)), given.casts or bool(mixed))
    return _Clause(applies, lambda row, pair: (assign(row, pair),), given.casts or bool(mixed))


def _assign_everything(clause: MergeClause, operation: Merge, table: Table) -> Assignments:
    """The assignments of `*`: each target column from the source column of its name.

    With schema evolution, target columns without a source column keep their values.
    """
    if clause.when == BY_SOURCE:
        message = "there is no source row to take everything from"
        raise RowMismatch(message)
    source = {candidate.casefold() for candidate in operation.source.schema.names}
    names = [name for name in table.schema.names if name.casefold() in source]
    if len(names) < len(table.schema) and not operation.schema_evolution:
        message = "the source lacks a column of the table"
        raise KeyError(message)
    return tuple((name, Column(("source", name))) for name in names)


def _first_applying(clauses: Sequence[_Clause], pair: Pair) -> _Clause | None:
    return next((clause for clause in clauses if clause.applies(pair)), None)


def _one_unconditional_delete(operation: Merge) -> bool:
    matched = [clause for clause in operation.clauses if clause.when == MATCHED]
    return len(matched) == 1 and matched[0].action == "delete" and matched[0].condition is None


def _matches(operation: Merge, table: Table, scope: Struct) -> list[list[int]]:
    """For each target row the positions of the source rows that match. Equalities use an index."""
    equalities, rest = _split(operation.on, scope)
    residual = compile_expression(And(rest), scope, table.zone) if rest else None
    source = operation.source.rows
    if not equalities:
        candidates: Callable[[Row], Iterable[int]] = lambda _: range(len(source))  # noqa: E731 - one of two ways to find candidates
    else:
        source_key = _key([pair[0] for pair in equalities], scope.fields[0].type)
        target_key = _key([pair[1] for pair in equalities], scope.fields[1].type)
        positions_by_key: dict[Key, list[int]] = defaultdict(list)
        for position, row in enumerate(source):
            key = source_key(row)
            if key is not None:
                positions_by_key[key].append(position)
        candidates = lambda row: positions_by_key.get(target_key(row), ())  # noqa: E731 - the other way
    if residual is None:
        return [list(candidates(row)) for row in table.rows]
    return [
        [position for position in candidates(row) if residual((source[position], row)) is True]
        for row in table.rows
    ]


def _split(condition: Expression, scope: Struct) -> tuple[list[tuple[str, str]], tuple[Expression, ...]]:
    """The condition as equalities of a source column with a target column, and the rest of its operands."""
    parts = condition.operands if isinstance(condition, And) else (condition,)
    equalities: list[tuple[str, str]] = []
    rest: list[Expression] = []
    for part in parts:
        match part:
            case Compare("=", Column(("source", mine)), Column(("target", theirs))):
                equalities.append((mine, theirs))
            case Compare("=", Column(("target", theirs)), Column(("source", mine))):
                equalities.append((mine, theirs))
            case _:
                compile_expression(part, scope)  # raises for an unknown column
                rest.append(part)
    return equalities, tuple(rest)


def _key(names: list[str], schema: object) -> Callable[[Row], Key]:
    assert isinstance(schema, Struct)  # noqa: S101 - narrows the type: both sides of a merge's scope are structs
    parts = [(schema.index(name), sql_keyer(schema[name].type)) for name in names]

    def key(row: Row) -> Key:
        """None where a part is null: such a row equals nothing."""
        if any(row[position] is None for position, _ in parts):
            return None
        return tuple(keyed(row[position]) for position, keyed in parts)

    return key
