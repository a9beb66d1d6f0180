"""Commits applied one by one or all at once give the same state, and states share what did not change."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from delta_models.log import Commit, CorruptLog, DeletionVector, apply, replay, start
from delta_models.log.actions import Add, Domain, Metadata, Protocol, Remove, Transaction
from delta_models.log.state import Layered

METADATA = Metadata("id", '{"type":"struct","fields":[]}', (), {})
FIRST = Commit(0, "0", metadatas=(METADATA,), protocols=(Protocol(1, 2),))
VECTORS = (None, DeletionVector("u", "x", 1, 1, 1), DeletionVector("u", "x", 1, 2, 9))


def add(path: str, vector: DeletionVector | None = None, size: int = 1) -> Add:
    return Add(path, {}, size, 0, data_change=True, deletion_vector=vector)


def remove(path: str, vector: DeletionVector | None = None) -> Remove:
    return Remove(path, data_change=True, deletion_vector=vector)


def drawn_history(draw: Random) -> list[Commit]:
    """A few dozen commits that add and remove a handful of files again and again."""
    commits = [FIRST]
    for version in range(1, draw.randrange(2, 60)):
        keys = {draw.choice("abcdefgh"): draw.choice(VECTORS) for _ in range(draw.randrange(8))}
        files = list(keys.items())
        split = draw.randrange(len(files) + 1)
        commits.append(
            Commit(
                version,
                str(version),
                adds=tuple(add(*key, size=version) for key in files[:split]),
                removes=tuple(remove(*key) for key in files[split:]),
                transactions=tuple(
                    Transaction(name, version) for name in draw.sample("pq", draw.randrange(2))
                ),
                domains=tuple(
                    Domain(name, str(version), removed=draw.random() < 0.5)
                    for name in draw.sample("xyz", draw.randrange(3))
                ),
            )
        )
    return commits


@pytest.mark.parametrize("seed", range(40))
def test_states_one_by_one_and_all_at_once_are_the_same(seed):
    history = drawn_history(Random(seed))
    stepped = start(history[0])
    for commit in history[1:]:
        stepped = apply(stepped, commit)
    at_once = replay(None, history)
    assert at_once is not None
    for name in ("version", "protocol", "metadata"):
        assert getattr(stepped, name) == getattr(at_once, name)
    for name in ("live", "tombstones", "transactions", "domains"):
        assert dict(getattr(stepped, name)) == dict(getattr(at_once, name))
        assert len(getattr(stepped, name)) == len(dict(getattr(stepped, name)))
    assert not set(stepped.live) & set(stepped.tombstones)


@pytest.mark.parametrize("seed", range(20))
def test_a_layered_mapping_is_a_dictionary(seed):
    draw = Random(seed)
    layered: Layered[int, str] = Layered.of({})
    plain: dict[int, str] = {}
    for _ in range(60):
        gone = draw.sample(range(60), draw.randrange(5))
        put = {draw.randrange(60): str(draw.random()) for _ in range(draw.randrange(6))}
        layered = layered.changed(gone, put.items())
        plain = {key: value for key, value in plain.items() if key not in gone} | put
        assert dict(layered.items()) == plain
        assert sorted(layered) == sorted(plain)
        assert sorted(layered.values()) == sorted(plain.values())
        assert len(layered) == len(plain)
        assert all((key in layered) == (key in plain) for key in range(61))


def test_a_commit_on_many_files_copies_none_of_them():
    class Counted(dict[tuple[str, str | None], Add]):
        passes = 0

        def __iter__(self) -> Iterator[tuple[str, str | None]]:
            Counted.passes += 1
            return super().__iter__()

        def items(self):
            Counted.passes += 1
            return super().items()

    files = Counted({(f"f{number}", None): add(f"f{number}") for number in range(10_000)})
    before = start(FIRST)
    state = type(before)(
        0,
        before.protocol,
        before.metadata,
        Layered.of(files),
        before.tombstones,
        before.transactions,
        before.domains,
    )
    for version in range(1, 100):
        commit = Commit(version, "", adds=(add(f"n{version}"),), removes=(remove(f"f{version}"),))
        state = apply(state, commit)
    assert len(state.live) == 10_000
    assert ("f1", None) not in state.live
    assert ("n1", None) in state.live
    assert Counted.passes == 0


def test_an_absent_protocol_leaves_the_state_unknown():
    with pytest.raises(CorruptLog, match="no protocol"):
        start(Commit(0, "0", metadatas=(METADATA,)))


def test_the_newest_transaction_counts_also_if_its_number_is_lower():
    state = start(FIRST)
    for version, number in ((1, 9), (2, 4)):
        state = apply(state, Commit(version, "", transactions=(Transaction("a", number),)))
    assert state.transactions["a"].version == 4


def test_a_removed_domain_is_gone_and_may_come_back():
    state = apply(start(FIRST), Commit(1, "", domains=(Domain("d", "1"),)))
    assert state.domains["d"].configuration == "1"
    state = apply(state, Commit(2, "", domains=(Domain("d", "", removed=True),)))
    assert "d" not in state.domains
    state = apply(state, Commit(3, "", domains=(Domain("d", "2"),)))
    assert state.domains["d"].configuration == "2"


def test_two_vectors_of_one_path_are_two_files():
    state = apply(start(FIRST), Commit(1, "", adds=(add("a"),)))
    state = apply(state, Commit(2, "", adds=(add("a", VECTORS[1]),), removes=(remove("a"),)))
    assert list(state.live) == [("a", "ux@1")]
    assert list(state.tombstones) == [("a", None)]
