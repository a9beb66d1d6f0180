"""Two findings with one minimal history are one finding, whatever names and seeds they come with."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

from conformance.histories import History, Step
from conformance.triage.canonical import canonical, cause_fingerprint, fingerprint_of, principal
from conformance.triage.model_play import play_on_model
from conformance.triage.reductions.columns import columns_in, renamed
from delta_models.expressions import Column, IsNull
from delta_models.operations import Append, Create, Delete, Optimize, Read
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows
from tests.triage.drawn import drawn_history
from tests.triage.in_process import history_of


def made_of(first: str, second: str, seed: int = 1, chunk: int = 0) -> History:
    schema = struct((first, LONG), (second, STRING))
    history = history_of(
        Create(schema, partition_by=(second,)),
        Append(Rows(schema, ((1, "a"), (None, "b")))),
        Delete(IsNull(Column((first,)))),
    )
    return replace(history, seed=seed, chunk=chunk)


def test_names_of_columns_seeds_and_chunks_do_not_count():
    one = fingerprint_of("delta-rs", "read.latest", made_of("id", "name", seed=4, chunk=2))
    other = fingerprint_of("delta-rs", "read.latest", made_of("Amount", "part_2", seed=5, chunk=7))
    assert one == other
    assert len(one) == 8
    assert int(one, 16) >= 0


def test_the_engine_the_requirement_what_is_done_and_names_that_are_not_plain_count():
    history = made_of("id", "name")
    longer = replace(history, steps=(*history.steps, Step(Optimize())))
    several = {
        fingerprint_of("delta-rs", "read.latest", history),
        fingerprint_of("pyspark", "read.latest", history),
        fingerprint_of("delta-rs", "read.filter", history),
        fingerprint_of("delta-rs", "read.latest", longer),
        fingerprint_of("delta-rs", "read.latest", made_of("id", "a~b")),
        fingerprint_of("delta-rs", "read.latest", made_of("id", "a`b")),
        cause_fingerprint("delta-rs", "read.latest"),
    }
    assert len(several) == 7


def test_a_fingerprint_is_the_same_in_another_process_with_another_hash_seed():
    program = (
        "from tests.triage.test_canonical import *;"
        "print(fingerprint_of('delta-rs', 'read.latest', made_of('id', 'name')), cause_fingerprint('a', 'b'))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    here = (
        f"{fingerprint_of('delta-rs', 'read.latest', made_of('id', 'name'))} {cause_fingerprint('a', 'b')}\n"
    )
    assert outputs == {here.encode()}


def test_the_canonical_form_means_the_same_and_is_its_own():
    for seed in range(4):
        history = drawn_history(seed, 14)
        form = canonical(history)
        assert (form.profile, form.chunk, form.seed) == ("", 0, 0)
        assert str(canonical(form)) == str(form)
        played, again = play_on_model(history.steps), play_on_model(form.steps)
        if played is not None and again is not None:
            assert [table.rows for table in played.tables] == [table.rows for table in again.tables]


def test_names_that_were_exchanged_make_no_difference():
    for seed in range(4):
        history = drawn_history(seed, 14)
        names = [name for name in columns_in(history) if name.isascii() and name.isalnum()]
        swapped = renamed(
            history, dict(zip(map(str.casefold, names), (f"x{name}" for name in names), strict=True))
        )
        assert fingerprint_of("a", "read.latest", swapped) == fingerprint_of("a", "read.latest", history)


def test_slots_are_named_by_their_order():
    def played_by(first: str, second: str) -> History:
        return history_of(Step(Create(struct(("id", LONG))), first), Step(Read(), second), suite="shared")

    assert str(canonical(played_by("C", "B"))) == str(canonical(played_by("A", "C")))
    assert str(canonical(played_by("A", "A"))) != str(canonical(played_by("A", "B")))


def test_the_principal_requirement_is_the_strongest_and_then_the_first_of_the_catalogue():
    several = ["metamorphic.filter-picks", "checksum.each-commit", "read.filter"]
    assert principal(several) == principal(reversed(several))
    assert principal(several)[0] == "read.filter", "a must"
    assert principal(several)[-1] in {"checksum.each-commit", "metamorphic.filter-picks"}
