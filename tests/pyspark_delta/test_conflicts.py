"""Which concurrent commits conflict, by what the first committed and what the second depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from pyspark_delta import schema as schemas
from pyspark_delta.exceptions import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentTransactionException,
    DeltaConcurrentModificationException,
    MetadataChangedException,
    ProtocolChangedException,
)
from pyspark_delta.log.actions import Action, Add, DomainMetadata, Metadata, Protocol, Txn
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.predicates import And, Comparison, Unknown
from pyspark_delta.transaction import Transaction

SCHEMA = StructType([StructField("id", LongType()), StructField("p", StringType())])
HERE, THERE = Comparison("=", ("p",), "here"), Comparison("=", ("p",), "there")

CA, DR, DD, MD, PC, TX = (
    ConcurrentAppendException,
    ConcurrentDeleteReadException,
    ConcurrentDeleteDeleteException,
    MetadataChangedException,
    ProtocolChangedException,
    ConcurrentTransactionException,
)


def new_file(name: str, where: str = "here", **more: object) -> Add:
    return Add(name, {"p": where}, 1, 1, **more)  # type: ignore[arg-type]


def table_at(path: Path, partitions: tuple[str, ...] = ("p",), **properties: str) -> DeltaLog:
    log = DeltaLog.for_path(path)
    transaction = log.begin()
    configuration = {name.replace("__", "."): value for name, value in properties.items()}
    transaction.new_table(Metadata("x", schemas.to_json(SCHEMA), partitions, configuration))
    transaction.commit([], "CREATE TABLE")
    values = [{"p": where} if partitions else {} for where in ("here", "here", "there")]
    files = [Add(f"old{n}", values[n], 1, 1) for n in range(3)]
    log.begin().commit(files, "WRITE")
    return log


def old(transaction: Transaction, where: str) -> list[Add]:
    files = transaction.snapshot.files().adds()
    return [file for file in files if file.partition_values.get("p", "here") == where]


Writer = Callable[[Transaction, str], None]


def insert(transaction: Transaction, tag: str) -> None:
    transaction.commit([new_file(f"insert{tag}")], "WRITE", blind_append=True)


def update(transaction: Transaction, tag: str) -> None:
    transaction.read_partitions(HERE)
    file = old(transaction, "here")[0]
    transaction.read_files([file])
    transaction.commit([file.remove(1), new_file(f"update{tag}")], "UPDATE")


def update_other(transaction: Transaction, tag: str) -> None:
    """Replace another file of the same partition."""
    transaction.read_partitions(HERE)
    file = old(transaction, "here")[1]
    transaction.read_files([file])
    transaction.commit([file.remove(1), new_file(f"update{tag}")], "UPDATE")


def update_there(transaction: Transaction, tag: str) -> None:
    transaction.read_partitions(THERE)
    files = old(transaction, "there")
    transaction.read_files(files)
    transaction.commit([files[0].remove(1), new_file(f"update{tag}", "there")], "UPDATE")


def overwrite(transaction: Transaction, tag: str) -> None:
    transaction.read_whole_table()
    files = transaction.snapshot.files().adds()
    transaction.commit([*(file.remove(1) for file in files), new_file(f"over{tag}")], "WRITE")


def optimize(transaction: Transaction, tag: str) -> None:
    files = old(transaction, "here")
    transaction.read_files(files)
    actions: list[Action] = [file.remove(1, data_change=False) for file in files]
    actions.append(new_file(f"opt{tag}", data_change=False))
    transaction.commit(actions, "OPTIMIZE", data_change=False)


def drop_files(transaction: Transaction, tag: str) -> None:
    transaction.read_partitions(HERE)
    files = old(transaction, "here")
    transaction.read_files(files)
    transaction.commit([file.remove(1) for file in files], "DELETE")


def remove_unread(transaction: Transaction, tag: str) -> None:
    transaction.commit([old(transaction, "here")[0].remove(1)], "REMOVE")


def set_property(transaction: Transaction, tag: str) -> None:
    configuration = {**transaction.snapshot.properties, "mine": tag}
    transaction.update_metadata(replace(transaction.snapshot.metadata, configuration=configuration))
    transaction.commit([], "SET TBLPROPERTIES")


def enable_vectors(transaction: Transaction, tag: str) -> None:
    configuration = {**transaction.snapshot.properties, "delta.enableDeletionVectors": "true"}
    transaction.update_metadata(replace(transaction.snapshot.metadata, configuration=configuration))
    transaction.commit([], "SET TBLPROPERTIES")


def raise_protocol(transaction: Transaction, tag: str) -> None:
    transaction.update_protocol(Protocol(1, 3))
    transaction.commit([], "UPGRADE PROTOCOL")


def leave_a_note(transaction: Transaction, tag: str) -> None:
    transaction.commit([], "VACUUM START", {"tag": tag}, data_change=False)


def find_nothing(transaction: Transaction, tag: str) -> None:
    """A delete that finds no row commits nothing, but has read that there is none."""
    transaction.read_whole_table()
    transaction.commit([], "DELETE", {"tag": tag})


def race(log: DeltaLog, winner: Writer, loser: Writer) -> type[Exception] | None:
    """Begin both, commit the winner, then let the loser try."""
    first, second = log.begin(), log.begin()
    winner(first, "W")
    before = log.update().version
    conflict: DeltaConcurrentModificationException | None = None
    try:
        loser(second, "L")
    except DeltaConcurrentModificationException as caught:
        conflict = caught
    assert log.update().version == (before + 1 if conflict is None else before)
    assert conflict is None or (str(before) in conflict.cause and "Do it again" in conflict.cure)
    return None if conflict is None else type(conflict)


MATRIX: dict[Writer, dict[Writer, type[Exception] | None]] = {
    insert: {insert: None, update: CA, update_there: None, overwrite: CA, optimize: None, set_property: None},
    update: {insert: None, update: CA, update_other: CA, update_there: None, overwrite: CA, optimize: DR},
    update_there: {
        insert: None,
        update: None,
        update_there: CA,
        overwrite: CA,
        optimize: None,
        set_property: None,
    },
    overwrite: {insert: None, update: CA, update_there: DR, overwrite: CA, optimize: DR, set_property: None},
    optimize: {insert: None, update: CA, update_there: None, overwrite: CA, optimize: DR, set_property: None},
    drop_files: {insert: None, update: DR, update_there: None, overwrite: DR, drop_files: DR, optimize: DR},
    remove_unread: {remove_unread: DD, insert: None, optimize: DR},
    set_property: {
        leave_a_note: None,
        find_nothing: MD,
        insert: MD,
        update: MD,
        update_there: MD,
        overwrite: MD,
        optimize: MD,
        set_property: MD,
    },
    enable_vectors: {insert: None, update: None, set_property: MD, raise_protocol: PC},
    raise_protocol: {leave_a_note: None, insert: None, update: None, raise_protocol: PC, set_property: None},
}


@pytest.mark.parametrize(
    ("winner", "loser", "expected"),
    tuple((winner, loser, expected) for winner, row in MATRIX.items() for loser, expected in row.items()),
    ids=lambda value: getattr(value, "__name__", "commits"),
)
def test_serializable(tmp_path, winner, loser, expected):
    assert race(table_at(tmp_path), winner, loser) is expected


@pytest.mark.parametrize(
    ("winner", "loser", "expected"),
    (
        (insert, update, None),
        (insert, overwrite, None),
        (update, update_other, CA),
        (update, optimize, DR),
        (optimize, update, CA),
        (drop_files, update, DR),
    ),
    ids=lambda value: getattr(value, "__name__", "commits"),
)
def test_write_serializable_lets_blind_appends_pass(tmp_path, winner, loser, expected):
    log = table_at(tmp_path, delta__isolationLevel="WriteSerializable")
    assert race(log, winner, loser) is expected


def test_without_partitions_every_file_that_is_added_was_read(tmp_path):
    log = table_at(tmp_path, ())
    first, second = log.begin(), log.begin()
    first.commit([Add("new", {}, 1, 1)], "WRITE")
    second.read_partitions(Comparison("=", ("id",), 5))
    second.read_files(second.snapshot.files().adds()[:1])
    with pytest.raises(ConcurrentAppendException, match="added files to the table"):
        second.commit([second.snapshot.files().adds()[0].remove(1)], "DELETE")


def test_conditions_on_data_do_not_narrow_what_was_read(tmp_path):
    log = table_at(tmp_path)
    first, second = log.begin(), log.begin()
    first.commit([new_file("new")], "WRITE")
    second.read_partitions(And((HERE, Comparison("=", ("id",), 5), Unknown())))
    with pytest.raises(ConcurrentAppendException, match="partition p=here"):
        second.commit([old(second, "here")[0].remove(1)], "DELETE")


def test_only_reading_an_application_s_progress_makes_it_a_conflict(tmp_path):
    log = table_at(tmp_path)
    first, reading, writing = log.begin(), log.begin(), log.begin()
    first.commit([Txn("app", 1), new_file("a")], "STREAMING UPDATE")
    assert reading.read_txn("app") is None
    with pytest.raises(ConcurrentTransactionException, match="app"):
        reading.commit([Txn("app", 1), new_file("b")], "STREAMING UPDATE")
    assert writing.commit([Txn("app", 2), new_file("c")], "WRITE") == 3


def test_the_same_domain_can_not_be_changed_twice_at_once(tmp_path):
    log = table_at(tmp_path, delta__feature__domainMetadata="supported")
    first, same, other = log.begin(), log.begin(), log.begin()
    first.commit([DomainMetadata("mine", "1")], "A")
    with pytest.raises(ConcurrentTransactionException, match="mine"):
        same.commit([DomainMetadata("mine", "2")], "B")
    assert other.commit([DomainMetadata("other", "2")], "B") == 3


def test_who_drops_a_feature_must_have_seen_all_that_may_use_it(tmp_path):
    log = table_at(tmp_path, delta__feature__domainMetadata="supported")
    dropping, late = log.begin(), log.begin()
    log.begin().commit([DomainMetadata("mine", "1")], "A")
    dropping.update_protocol(Protocol(1, 2))
    with pytest.raises(ProtocolChangedException, match="may make use of domainMetadata"):
        dropping.commit([], "DROP FEATURE")
    again = log.begin()
    again.update_protocol(Protocol(1, 2))
    assert again.commit([], "DROP FEATURE") == 3
    with pytest.raises(ProtocolChangedException, match="dropped the table feature domainMetadata"):
        late.commit([new_file("late")], "WRITE", blind_append=True)


def test_of_two_transactions_that_create_a_table_one_fails(tmp_path):
    first, second = (DeltaLog.for_path(tmp_path).begin() for _ in range(2))
    for transaction in (first, second):
        transaction.new_table(Metadata("x", schemas.to_json(SCHEMA)))
    assert first.commit([], "CREATE TABLE") == 0
    with pytest.raises(ProtocolChangedException):
        second.commit([], "CREATE TABLE")


def test_several_winners_are_checked_one_after_another(tmp_path):
    log = table_at(tmp_path)
    loser = log.begin()
    for tag in ("1", "2"):
        insert(log.begin(), tag)
    update_there(log.begin(), "3")
    loser.read_partitions(THERE)
    with pytest.raises(ConcurrentAppendException, match="UPDATE of version 4"):
        loser.commit([old(loser, "there")[0].remove(1)], "DELETE")


def test_a_loser_that_may_commit_does_so_on_top_of_all_winners(tmp_path):
    log = table_at(tmp_path)
    loser = log.begin()
    for tag in ("1", "2", "3"):
        insert(log.begin(), tag)
    insert(loser, "L")
    assert log.update().version == 5
    assert log.update().num_files == 7
    assert log.history(1)[0].commit_info.raw["readVersion"] == 4
