"""What a user or another reader sees of each semantic mutant: `python -m tests.tools.mutation_demos RESULT [NAME...]`.

Each demonstration runs twice in one Spark session, with the engine as it is and with a copy that has the mutant. It
writes the two outcomes, as texts, to a JSON file. This script loads the engine many times over, so it runs in a process
of its own, and it imports nothing of the engine itself.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pyspark.sql import SparkSession

from tools.mutation.edits import SEMANTIC, Mutant, apply, load

ROOT = Path(__file__).parents[2]
PACKAGE = "pyspark_delta"
VECTORS = {"delta.enableDeletionVectors": "true"}
DAY = 24 * 3600
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -Dlog4j2.level=OFF -XX:+UseSerialGC",
}


class Stage:
    """One table in a new folder, and the engine under test."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self.spark = spark
        self.path = f"{folder}/table"
        self.engine = SimpleNamespace(
            delta=importlib.import_module(PACKAGE),
            log=importlib.import_module(f"{PACKAGE}.log.delta_log"),
            store=importlib.import_module(f"{PACKAGE}.log.store"),
        )

    @property
    def table(self) -> Any:
        return self.engine.delta.DeltaTable.forPath(self.spark, self.path)

    def frame(self, columns: str, *rows: tuple[object, ...]) -> Any:
        return self.spark.createDataFrame(list(rows), columns).coalesce(1)

    def ids(self, *values: int | None) -> Any:
        return self.frame("id long", *((value,) for value in values))

    def write(self, frame: Any, mode: str = "append", **options: Any) -> None:
        self.engine.delta.write(frame, self.path, mode=mode, **options)

    def rows(self, version: int | None = None, where: str = "true") -> list[list[object]]:
        frame = self.engine.delta.read(self.spark, self.path, version=version)
        return sorted((list(row) for row in frame.where(where).collect()), key=repr)

    def open_anew(self) -> None:
        """Forget what this process knows of the log, as a new process would not know it."""
        self.engine.log.DeltaLog.forget()

    def newest_actions(self, kind: str) -> list[dict[str, Any]]:
        newest = max(Path(self.path, "_delta_log").glob("*.json"))
        return [line[kind] for line in map(json.loads, newest.read_text().splitlines()) if kind in line]

    def merge(self, source: Any) -> Any:
        return self.table.alias("t").merge(source.alias("s"), "t.id = s.id")

    @contextmanager
    def just_before_the_next_commit(
        self, others: Callable[[], object], method: str = "put_if_absent"
    ) -> Iterator[None]:
        """Let other writers commit after the next change of the table has read, and before it commits."""
        store = self.engine.store.LocalStore
        plain = vars(store)[method]

        def later(*arguments: Any) -> Any:
            setattr(store, method, plain)
            others()
            return getattr(store, method)(*arguments)

        setattr(store, method, staticmethod(later) if isinstance(plain, staticmethod) else later)
        try:
            yield
        finally:
            setattr(store, method, plain)

    def attempt(self, action: Callable[[], object]) -> str:
        try:
            action()
        except Exception as refusal:  # noqa: BLE001 - the outcome is the name of the refusal
            return type(refusal).__name__
        return "done"


def age(*paths: Path, days: int) -> None:
    for path in paths:
        moment = time.time() - days * DAY
        os.utime(path, (moment, moment))


def remarking_forgets_the_old_vector(stage: Stage) -> object:
    stage.write(stage.ids(0, 1, 2, 3), properties=VECTORS)
    stage.table.delete("id = 1")
    stage.table.delete("id = 2")
    return stage.rows()


def vectors_unread_without_the_property(stage: Stage) -> object:
    stage.write(stage.ids(0, 1, 2), properties=VECTORS)
    stage.table.delete("id = 1")
    stage.table.unsetProperties("delta.enableDeletionVectors")
    return stage.rows()


def uncounted_nulls_are_no_nulls(stage: Stage) -> object:
    stage.write(stage.ids(1, None), properties={"delta.dataSkippingNumIndexedCols": "0"})
    stage.write(stage.ids(2))
    return stage.rows(where="id is null")


def restored_file_is_live_twice(stage: Stage) -> object:
    stage.write(stage.ids(1, 2))
    stage.table.checkpoint()
    stage.table.delete()
    stage.table.restoreToVersion(0)
    stage.open_anew()
    return stage.rows()


def replace_where_loses_null_rows(stage: Stage) -> object:
    stage.write(stage.ids(1, 7, None))
    stage.write(stage.ids(8), "overwrite", replace_where="id > 5")
    return stage.rows()


def partition_value_stays_escaped(stage: Stage) -> object:
    stage.write(stage.frame("id long, p string", (1, "12:30"), (2, "a/b")), partition_by="p")
    return stage.rows()


def null_passes_a_check(stage: Stage) -> object:
    stage.write(stage.ids(1))
    stage.table.addConstraint("positive", "id > 0")
    return stage.attempt(lambda: stage.write(stage.ids(None))), stage.rows()


def update_assigns_in_turn(stage: Stage) -> object:
    stage.write(stage.frame("a int, b int", (1, 2)))
    stage.table.update(set={"a": "b", "b": "a"})
    return stage.rows()


def merge_inserts_matched_rows(stage: Stage) -> object:
    stage.write(stage.ids(1, 2), properties=VECTORS)
    clauses = stage.merge(stage.ids(1, 3)).whenMatchedDelete("t.id > 100").whenNotMatchedInsertAll()
    clauses.execute()
    return stage.rows()


def restore_compares_paths_only(stage: Stage) -> object:
    stage.write(stage.ids(0, 1), properties=VECTORS)
    stage.table.delete("id = 1")
    stage.table.restoreToVersion(0)
    return stage.rows()


def vacuum_goes_by_the_age_of_files(stage: Stage) -> object:
    stage.write(stage.ids(1, 2))
    age(*Path(stage.path).glob("*.parquet"), days=9)
    stage.write(stage.ids(3), "overwrite")
    stage.table.vacuum()
    return stage.attempt(lambda: stage.rows(version=0))


def optimized_rows_look_new(stage: Stage) -> object:
    stage.write(stage.ids(1))
    stage.write(stage.ids(2))
    stage.table.optimize().executeCompaction()
    return [add["dataChange"] for add in stage.newest_actions("add")]


def upgrade_loses_implied_features(stage: Stage) -> object:
    stage.write(stage.ids(1))
    stage.table.addConstraint("positive", "id > 0")
    stage.table.setProperties(VECTORS)
    return stage.newest_actions("protocol")[0]["writerFeatures"]


def checkpoint_without_transactions(stage: Stage) -> object:
    for _ in range(2):  # the same batch, again after a restart
        stage.write(stage.ids(1), txn_app_id="stream", txn_version=7)
        stage.table.checkpoint()
        stage.open_anew()
    return stage.rows()


def hint_before_checkpoint(stage: Stage) -> object:
    stage.write(stage.ids(1))
    store = stage.engine.store.LocalStore
    plain = store.put_with

    def killed(*_: object) -> int:
        raise KeyboardInterrupt

    store.put_with = killed
    try:
        stage.table.checkpoint()
    except KeyboardInterrupt:
        pass
    finally:
        store.put_with = plain
    log = Path(stage.path, "_delta_log")
    return sorted(file.name for file in log.iterdir() if "checkpoint" in file.name)


def clean_up_from_the_newest_checkpoint(stage: Stage) -> object:
    for value in range(6):
        stage.write(stage.ids(value))
        if value in {2, 5}:
            stage.table.checkpoint()
    log = Path(stage.path, "_delta_log")
    age(*(log / f"{version:020d}.json" for version in range(3)), days=40)
    stage.open_anew()
    stage.engine.log.DeltaLog.for_path(stage.path, stage.spark).clean_up()
    stage.open_anew()
    return stage.attempt(lambda: stage.rows(version=4))


def commit_by_check_and_rename(stage: Stage) -> object:
    stage.write(stage.ids(0))
    with stage.just_before_the_next_commit(lambda: stage.write(stage.ids(1)), "_stage"):
        stage.write(stage.ids(2))
    stage.open_anew()
    return stage.rows()


def only_the_first_winner_is_checked(stage: Stage) -> object:
    stage.write(stage.frame("id long, p long", (1, 1), (2, 1), (3, 2)), partition_by="p")

    def others() -> None:
        stage.write(stage.frame("id long, p long", (4, 2)))
        stage.table.update("id = 2", {"id": "20"})

    with stage.just_before_the_next_commit(others):
        outcome = stage.attempt(lambda: stage.table.delete("p = 1 and id = 1"))
    return outcome, stage.rows()


def optimize_is_no_conflict(stage: Stage) -> object:
    stage.write(stage.ids(1, 2))
    stage.write(stage.ids(3))
    with stage.just_before_the_next_commit(lambda: stage.table.optimize().executeCompaction()):
        outcome = stage.attempt(lambda: stage.table.delete("id = 1"))
    return outcome, stage.rows()


def insert_only_merge_is_blind(stage: Stage) -> object:
    stage.write(stage.ids(1))

    def merge() -> None:
        stage.merge(stage.ids(5)).whenNotMatchedInsertAll().execute()

    with stage.just_before_the_next_commit(merge):
        outcome = stage.attempt(merge)
    return outcome, stage.rows()


DEMONSTRATIONS: dict[str, Callable[[Stage], object]] = {
    demonstration.__name__: demonstration
    for demonstration in (
        remarking_forgets_the_old_vector,
        vectors_unread_without_the_property,
        uncounted_nulls_are_no_nulls,
        restored_file_is_live_twice,
        replace_where_loses_null_rows,
        partition_value_stays_escaped,
        null_passes_a_check,
        update_assigns_in_turn,
        merge_inserts_matched_rows,
        restore_compares_paths_only,
        vacuum_goes_by_the_age_of_files,
        optimized_rows_look_new,
        upgrade_loses_implied_features,
        checkpoint_without_transactions,
        hint_before_checkpoint,
        clean_up_from_the_newest_checkpoint,
        commit_by_check_and_rename,
        only_the_first_winner_is_checked,
        optimize_is_no_conflict,
        insert_only_merge_is_blind,
    )
}


def outcome_of(spark: SparkSession, name: str, mutant: Mutant | None) -> str:
    """What the demonstration shows with the engine as it is, or with a copy that has the mutant."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / PACKAGE, Path(folder, PACKAGE), ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            apply(Path(folder), mutant)
        for module in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
            del sys.modules[module]
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        try:
            stage = Stage(spark, folder)
            source = str(stage.engine.delta.__file__)
            if not source.startswith(folder):
                raise RuntimeError(f"the engine was loaded from {source}, not from the copy in {folder}")
            return repr(DEMONSTRATIONS[name](stage))
        finally:
            sys.path.remove(folder)


def main(result: str, *names: str) -> None:
    """Run these demonstrations, by default all, and write their outcomes."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("demonstrations")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    outcomes = {}
    try:
        for name in names or DEMONSTRATIONS:
            mutant = load(SEMANTIC / f"{name}.toml")
            outcomes[name] = [outcome_of(spark, name, None), outcome_of(spark, name, mutant)]
            Path(result).write_text(json.dumps(outcomes))
    finally:
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
