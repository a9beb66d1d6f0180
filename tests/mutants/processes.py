"""Liars that are no proper process: they die, hang or babble."""

from __future__ import annotations

from delta_adapters.host_errors import HostDied, HostGarbage, HostHung
from tests.mutants import stories
from tests.mutants.registry import trips
from tests.mutants.wrappers import OnOne


@trips("host.lives", stories.APPEND)
class Dies(OnOne):
    """The process dies of an append."""

    def crook(self, operation, snapshot, tag):
        raise HostDied("reference", -11, "append", "Segmentation fault")


@trips("host.answers", stories.APPEND)
class Hangs(OnOne):
    """An append is never answered."""

    def crook(self, operation, snapshot, tag):
        raise HostHung("reference", 60.0, "append", "")


@trips("host.speaks", stories.APPEND)
class Babbles(OnOne):
    """An append is answered with garbage."""

    def crook(self, operation, snapshot, tag):
        raise HostGarbage("reference", "not a frame", "append", "")
