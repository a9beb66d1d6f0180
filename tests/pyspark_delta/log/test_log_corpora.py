"""Example logs of other projects are read as deltalake reads them, or refused with a named reason."""

from __future__ import annotations

from pathlib import Path

import deltalake
import pytest

from pyspark_delta import deletion_vectors
from pyspark_delta.exceptions import CorruptDeletionVector, DeltaError, UnsupportedTableFeature
from pyspark_delta.log.delta_log import load
from pyspark_delta.log.store import open_store
from tests.corpora import corpus

# Tables that deltalake reads and this engine must not, with a word of the reason.
REFUSED = {
    "ct_missing_metadata": "metadata",
    "ct_missing_protocol": "protocol",
    "log_err_missing_protocol": "protocol",
}
# One commit adds and removes the same file, which no log may do.
NO_LOG = {"err_add_and_remove_same_path_dv"}
# deltalake counts `/x` and `file:/x` as two files.
ONE_FILE = {f"canonicalized-paths-{kind}-{number}" for kind in ("normal", "special") for number in "ab"}
# Defects of the corpora: deletion vectors that are missing or in an unknown form.
BROKEN_VECTORS = {"DV-017", "dv_err_002_missing_file", "dv_err_003_malformed_path", "dv_storage_type_i"}


def name_of(table: Path) -> str:
    return table.parent.name if table.name == "delta" else table.name


def theirs(table: Path) -> tuple[int, int] | None:
    """Version and number of files by deltalake; None if it refuses."""
    try:
        opened = deltalake.DeltaTable(table)
        return opened.version(), len(opened.file_uris())
    except Exception:  # noqa: BLE001 - whatever it has against the table
        return None
    except BaseException as panic:
        if type(panic).__name__ == "PanicException":
            return None
        raise


def ours(table: Path) -> tuple[int, int] | DeltaError:
    """Version and number of files by this engine, or its error."""
    try:
        snapshot = load(open_store(table))
        return snapshot.version, len(snapshot.files().paths())
    except DeltaError as refusal:
        return refusal


@pytest.mark.slow
@pytest.mark.parametrize("archive", ("dat", "kernel-golden", "connectors-golden", "acceptance"))
def test_example_logs_are_read_as_deltalake_reads_them(archive):
    compared = 0
    for folder in sorted(corpus(archive).glob("**/_delta_log")):
        table = folder.parent
        name, expected = name_of(table), theirs(table)
        if expected is None or name in NO_LOG:
            continue
        result = ours(table)
        if isinstance(result, UnsupportedTableFeature):
            assert result.features
            assert all("typeWidening" in feature or "variant" in feature for feature in result.features), (
                result
            )
        elif isinstance(result, DeltaError):
            assert REFUSED.get(name, "nothing") in result.cause, result
        else:
            compared += 1
            assert result == ((expected[0], 0) if name in ONE_FILE else expected), table
    assert compared > 15


@pytest.mark.parametrize("archive", ("dat", "kernel-golden"))
def test_every_deletion_vector_of_the_examples_is_read(archive):
    read = 0
    for folder in sorted(corpus(archive).glob("**/_delta_log")):
        table = str(folder.parent)
        try:
            files = load(open_store(table)).files()
        except DeltaError:
            continue
        for add in files.with_deletion_vectors().adds():
            assert add.deletion_vector is not None
            rows = deletion_vectors.read(add.deletion_vector, table)
            assert len(rows) == add.deletion_vector.cardinality
            read += 1
    assert read >= 1


@pytest.mark.slow
def test_only_vectors_that_the_examples_broke_are_not_read():
    broken = set()
    for folder in sorted(corpus("acceptance").glob("**/_delta_log")):
        try:
            files = load(open_store(folder.parent)).files()
        except DeltaError:
            continue
        for add in files.with_deletion_vectors().adds():
            assert add.deletion_vector is not None
            try:
                deletion_vectors.read(add.deletion_vector, str(folder.parent))
            except CorruptDeletionVector:
                broken.add(name_of(folder.parent))
    assert broken == BROKEN_VECTORS
