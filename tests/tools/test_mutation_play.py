"""With a JVM: the gate kills a mutant and no harmless change, its lines are recorded, and a campaign goes on."""

from __future__ import annotations

import pytest

from conformance.histories import Chunk, History, Step
from delta_adapters.spark.java import find_java
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, Create, Read, Update
from delta_models.schema import LONG, Field, Struct
from delta_models.values import Rows
from tools.mutation import campaign, lines
from tools.mutation.edits import Edit, Mutant
from tools.mutation.rows import read_rows
from tools.mutation.whole_gate import run_gate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SCHEMA = Struct((Field("id", LONG), Field("amount", LONG)))
CREATED = (Step(Create(SCHEMA)), Step(Append(Rows(SCHEMA, ((1, 1), (2, 2), (3, 3))))))
FIRST = Compare("=", Column(("id",)), Literal(LONG, 1))
UPDATED = (*CREATED, Step(Update((("amount", Literal(LONG, 9)),), FIRST)), Step(Read()))
UPDATE = "pyspark_delta/commands/update.py"
# The smoke test of an engine updates no row, so that both start.
KEEPS_ALL = Mutant(
    "keeps_all", "No row is updated.", "none",
    (Edit(UPDATE, "            if candidates.adds:\n", "            if not candidates.adds:\n"),),
)  # fmt: skip
RENAMED = Mutant(
    "renamed", "A variable has another name.", "none",
    (
        Edit(
            UPDATE, "            if candidates.adds:\n                return this.run(candidates)\n",
            "            found = candidates\n            if found.adds:\n                return this.run(found)\n",
        ),
    ),
)  # fmt: skip
BROKEN = Mutant(
    "broken", "It does not start.", "none",
    (Edit("pyspark_delta/version.py", "__version__ =", "raise RuntimeError('half of a change')\n__version__ ="),),
)  # fmt: skip


def chunk(number: int, *steps: Step) -> Chunk:
    history = History("lockstep", "gate", number, 7, steps)
    return Chunk(
        "lockstep", "gate", number, 7, histories=1, steps=len(steps), heavy=(0,), table="core", given=(history,),
        engines=("pyspark",),
    )  # fmt: skip


@pytest.fixture(scope="module")
def work(tmp_path_factory, monkeypatch_module):
    """A folder with the recorded lines of two chunks: one updates rows, one does not."""
    folder = tmp_path_factory.mktemp("campaign")
    campaign.record(folder, CHUNKS, float("inf"), print)
    return folder


CHUNKS = (chunk(0, *UPDATED), chunk(1, *CREATED))


@pytest.fixture(scope="module")
def monkeypatch_module():
    """The environment is as before when the module ends, and a busy machine blames no engine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONFORMANCE_CALL_TIMEOUT", "900")
        patch.setenv("MUTATION_LINES", "")
        patch.setenv("JAVA_HOME", str(find_java().home))
        yield patch


def states(results):
    return {name: row["state"] for name, row in campaign.newest(read_rows(results)).items()}


def play(work, results, mutants, chunks=CHUNKS, **more):
    said: list[str] = []
    campaign.play_mutants(mutants, chunks, results, work, said.append, **more)
    return said


def test_the_lines_of_each_chunk_are_recorded_and_recorded_once(work):
    records = lines.read_records(work / "lines.jsonl")
    updates, creates = (records[lines.digest_of(each)] for each in CHUNKS)
    assert updates.fit
    assert creates.fit
    assert updates.lines["commands/update.py"]
    assert "commands/update.py" not in creates.lines
    assert "commands/delete.py" not in updates.lines  # the smoke test deletes rows, and belongs to no chunk
    assert creates.lines["write.py"]
    size = (work / "lines.jsonl").stat().st_size
    campaign.record(work, CHUNKS, float("inf"), print)
    assert (work / "lines.jsonl").stat().st_size == size


def test_a_mutant_is_killed_by_a_rule_a_harmless_change_is_not_and_a_campaign_goes_on(work, tmp_path):
    results = tmp_path / "rows.jsonl"
    play(work, results, [KEEPS_ALL], budget=-1.0)
    assert states(results) == {}
    said = play(work, results, [KEEPS_ALL, RENAMED])
    assert states(results) == {"keeps_all": "killed", "renamed": "survived"}, said
    killed, survived = read_rows(results)
    assert killed["requirement"] == "outcome.allowed"
    assert killed["chunk"] == "lockstep-0"
    assert "+            if not candidates.adds:" in killed["diff"]
    assert survived["played"] == [lines.digest_of(CHUNKS[0])]  # the other one does not reach its line
    play(work, results, [KEEPS_ALL, RENAMED])
    assert len(read_rows(results)) == 2
    grown = (*CHUNKS, chunk(2, *CREATED, *CREATED[1:]))
    play(work, results, [KEEPS_ALL, RENAMED], grown)  # nobody knows what the new chunk executes
    assert states(results) == {"keeps_all": "killed", "renamed": "open"}
    play(work, results, [RENAMED], unrecorded=True)
    assert states(results) == {"keeps_all": "killed", "renamed": "survived"}
    assert sorted(read_rows(results)[-1]["played"]) == sorted(map(lines.digest_of, CHUNKS))
    play(work, results, [KEEPS_ALL], CHUNKS[::-1], unrecorded=True, again=("killed",))
    last = read_rows(results)[-1]
    assert last["state"] == "killed"
    assert last["played"] == [lines.digest_of(CHUNKS[0])]  # what killed it before comes first


def test_an_engine_that_does_not_start_is_no_kill(work, tmp_path):
    results = tmp_path / "rows.jsonl"
    play(work, results, [BROKEN])
    row = read_rows(results)[0]
    assert row["state"] == "unusable"
    assert "half of a change" in row["detail"]


def test_the_whole_gate_on_an_engine_that_does_not_start_ends_with_2_which_is_no_kill(work, tmp_path):
    row = run_gate(BROKEN, campaign.PACKAGE, tmp_path, ("shared",))
    assert (row["exit"], row["killed"]) == (2, False)
    assert "half of a change" in row["reasons"][0]
