"""A refusal of an engine on Spark, after which there is a new version: another writer's, or perhaps its own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from delta_adapters.contract import Identity
from delta_adapters.spark.adapter import SparkAdapter
from delta_models.operations import Append, Delete, Overwrite, ReadChanges, When
from delta_models.outcomes import Outcome, Rejected, Unknown
from delta_models.schema import LONG, struct
from delta_models.values import Rows

NEW = "_delta_log/00000000000000000000.json"


class Refusing(SparkAdapter):
    """An engine that refuses a delete with a kind, while a version appears."""

    def __init__(self, kind: str, table: Path) -> None:
        super().__init__()
        self.kind = kind
        self._spark = SimpleNamespace(conf=SimpleNamespace(set=lambda *_: None, unset=lambda *_: None))
        self._location = str(table)

    @property
    def identity(self) -> Identity:
        return Identity("refusing", "1", "", "")

    def _delete(self, _: Delete) -> Outcome | None:
        (Path(self._location) / NEW).touch()
        raise ValueError(self.kind)

    def _refusal(self, error: Exception) -> Outcome:
        return Rejected(str(error), "refused")

    def _session(self, work: Path) -> Any:
        raise NotImplementedError

    def _api(self) -> Any:
        raise NotImplementedError

    def _frame(self, at: When) -> Any:
        raise NotImplementedError

    def _changes(self, read: ReadChanges) -> Any:
        raise NotImplementedError

    def _write(self, write: Append | Overwrite, mode: str) -> Outcome | None:
        raise NotImplementedError

    PERFORM = {Delete: _delete}  # noqa: RUF012 - a mapping of the class, as its siblings have


@pytest.mark.parametrize(("kind", "end"), (("conflict.append", Rejected), ("io", Unknown)))
def test_only_a_conflict_says_that_the_new_version_is_not_its_own(
    kind: str, end: type[Outcome], tmp_path: Path
):
    (tmp_path / "_delta_log").mkdir()
    outcome = Refusing(kind, tmp_path).execute(Delete(None), "tag")
    assert isinstance(outcome, end)


def test_what_it_does_not_know_it_does_not_claim(tmp_path: Path):
    rows = Rows(struct(("id", LONG)), ((1,),))
    assert not isinstance(Refusing("io", tmp_path).execute(Append(rows), "tag"), Rejected | Unknown)
