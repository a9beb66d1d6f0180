"""What an older deltalake does wrong in other ways than in the minimal history is recognised as the same cause.

Histories of this kind were findings of nights on these versions, and had no cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from conformance.findings import candidate_causes
from conformance.histories import History, Step
from conformance.triage.replayer import Replayer, Setup
from delta_adapters.deviations import all_causes
from delta_models.expressions import Column, Compare, In, Literal, Not
from delta_models.operations import Append, Create, Merge, MergeClause, Operation, Read
from delta_models.schema import BOOLEAN, LONG, STRING, Array, Struct, struct
from delta_models.values import Row, Rows

pytestmark = pytest.mark.slow  # environments of older versions are made first

RECORDED = (("delta.enableChangeDataFeed", "true"),)
IDS, TEXTS = struct(("id", LONG)), struct(("id", LONG), ("part", STRING))
MORE, FLAGS = struct(("id", LONG), ("more", LONG)), struct(("id", LONG), ("flag", BOOLEAN))
LISTS = struct(("v", Array(LONG, True)))
SAME_ID = Compare("=", Column(("source", "id")), Column(("target", "id")))
DELETE = MergeClause("matched", "delete")
UPDATE = MergeClause("matched", "update", everything=True)
UPDATE_ID = MergeClause("matched", "update", (("id", Column(("source", "id"))),))
INSERT = MergeClause("not-matched", "insert", everything=True)
DELETE_REST = MergeClause("not-matched-by-source", "delete")
FLAG = Column(("flag",))


def merged(
    schema: Struct, rows: Sequence[Row], merge: Merge, partition_by: tuple[str, ...] = ()
) -> list[Operation]:
    return [Create(schema, partition_by, RECORDED), Append(Rows(schema, tuple(rows))), merge]


def read(schema: Struct, rows: Sequence[Row], wanted: Read, *partition_by: str) -> list[Operation]:
    return [Create(schema, partition_by), Append(Rows(schema, tuple(rows))), wanted]


TWICE, FLAG_ROWS = Rows(IDS, ((1,), (1,), (7,))), ((1, None), (2, True), (3, False))
SHOWN = (
    ("delta-rs-merges-every-match", "1.5.0", "cdc.equals-difference",
     merged(IDS, [(1,), (2,)], Merge(TWICE, SAME_ID, (DELETE,)))),
    ("delta-rs-merges-every-match", "1.5.0", "cdc.equals-difference",
     merged(IDS, [(1,), (2,)], Merge(TWICE, SAME_ID, (UPDATE, INSERT)))),
    ("delta-rs-merges-every-match", "1.5.0", "outcome.ambiguous-match-refused",
     merged(IDS, [(1,), (2,)],
            Merge(Rows(MORE, ((1, 5), (1, 6), (7, 8))), SAME_ID, (UPDATE, INSERT), schema_evolution=True))),
    ("delta-rs-merges-every-match", "1.5.0", "outcome.ambiguous-match-refused",
     merged(IDS, [(1,), (2,)],
            Merge(Rows(MORE, ((1, 5), (1, 6))), SAME_ID, (UPDATE_ID,), schema_evolution=True))),
    ("delta-rs-merged-files-stay", "1.5.0", "cdc.equals-difference",
     merged(TEXTS, [(1, " "), (2, "b")], Merge(Rows(TEXTS, ((1, "a"),)), SAME_ID, (DELETE,)), ("part",))),
    ("delta-rs-merged-files-stay", "1.5.0", "cdc.equals-difference",
     merged(TEXTS, [(1, "%"), (2, "b")], Merge(Rows(TEXTS, ()), SAME_ID, (DELETE_REST,)), ("part",))),
    ("delta-rs-passes-over-files", "1.5.0", "read.latest",
     [Create(TEXTS, ("part",), (("delta.enableDeletionVectors", "true"),)),
      Append(Rows(TEXTS, ((1, "a"), (2, "b")))), Read(columns=("part",))]),
    ("delta-rs-counts-nulls-of-items", "1.5.0", "stats.null-count",
     read(LISTS, [((),), (None,), ((1, None),)], Read())),
    ("delta-rs-counts-nulls-of-items", "1.5.0", "read.latest", read(LISTS, [((None,),), ((None,),)], Read())),
    ("delta-rs-null-flags-kept", "1.0.2", "read.filter",
     read(FLAGS, FLAG_ROWS, Read(where=In(FLAG, (Literal(BOOLEAN, False),))), "flag")),
    ("delta-rs-null-flags-kept", "1.0.2", "read.filter",
     read(FLAGS, FLAG_ROWS, Read(where=Not(Compare("=", FLAG, Literal(BOOLEAN, True)))), "flag")),
)  # fmt: skip


@pytest.fixture(scope="module")
def replayer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replayer]:
    with Replayer(tmp_path_factory.mktemp("replayer")) as replayer:
        yield replayer


@pytest.mark.parametrize(
    ("cause", "version", "requirement", "steps"),
    SHOWN,
    ids=[f"{number}-{cause}-{requirement}" for number, (cause, _, requirement, _) in enumerate(SHOWN)],
)
def test_another_form_of_an_older_cause_is_recognised(
    cause: str, version: str, requirement: str, steps: list[Operation], replayer: Replayer
):
    history = History("lockstep", "dev", 0, 1, tuple(map(Step, steps)))
    engine = f"delta-rs@{version}"
    played = replayer.play(history, Setup("lockstep", (engine,), {engine: engine}))
    found = [
        candidate_causes(result.observation, violation, history, all_causes())
        for result, violation in played.violations("delta-rs")
        if violation.requirement == requirement
    ]
    assert found, [violation for _, violation in played.violations("delta-rs")]
    assert set(found) == {(cause,)}
