"""Mutants whose process dies, hangs or answers with garbage."""

from __future__ import annotations

from delta_adapters.host_errors import HostDied, HostGarbage, HostHung
from tests.mutants import stories
from tests.mutants.registry import trips
from tests.mutants.wrappers import WrongOperation


@trips("host.lives", stories.APPEND)
class Dies(WrongOperation):
    """The process dies of an append."""

    def perform_wrongly(self, operation, snapshot, tag):
        raise HostDied("reference", -11, "append", "Segmentation fault")


@trips("host.answers", stories.APPEND)
class Hangs(WrongOperation):
    """An append is never answered."""

    def perform_wrongly(self, operation, snapshot, tag):
        raise HostHung("reference", 60.0, "append", "")


@trips("host.speaks", stories.APPEND)
class Babbles(WrongOperation):
    """An append is answered with garbage."""

    def perform_wrongly(self, operation, snapshot, tag):
        raise HostGarbage("reference", "not a frame", "append", "")
