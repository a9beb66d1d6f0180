"""Histories and the chunks that they are drawn in, as values.

A history is a list of steps for one table: the unit that the harness executes, keeps, shrinks and replays. A chunk is
a number of histories of one suite: the unit that a worker process plays.

A history holds nothing that an engine makes up. It names the state of a table by a step: "after step k" is the state
after `steps[k]`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from delta_models.codec import CodecError, decode, encode
from delta_models.operations import Operation

FORMAT = 1
HISTORIES = 12  # in a chunk, unless the profile says otherwise
STEPS = 25  # in a history, likewise
REGRESSIONS = "regressions"  # the suite of kept histories
DRAWN_FOR = {"crashes": "faults"}  # the table profile of a suite, if it is not the run's profile


@dataclass(frozen=True, slots=True)
class Step:
    """One operation and the slot of the engine that performs it.

    If `slot` is None, every engine performs it on its own table. `by` is set if the engine of `slot` could not perform
    it on a shared table: the slot of the engine that did, and that a replay takes.
    """

    operation: Operation
    slot: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The steps of one table, with their origin: the suite, the run's profile, the chunk and its seed.

    A run adds reads of earlier states and of filtered rows to the steps, which follow from the seed. With
    `explicit_reads` there are none but the steps, and the newest rows after each operation.
    """

    suite: str
    profile: str
    chunk: int
    seed: int
    steps: tuple[Step, ...] = ()
    explicit_reads: bool = False

    def to_json(self) -> dict[str, Any]:
        """The versioned JSON form, as `history.json` holds it."""
        return {
            "format": FORMAT,
            "suite": self.suite,
            "profile": self.profile,
            "chunk": self.chunk,
            "seed": self.seed,
            "steps": [
                {"operation": encode(step.operation)}
                | {name: slot for name, slot in (("slot", step.slot), ("by", step.by)) if slot}
                for step in self.steps
            ],
        } | ({"explicit_reads": True} if self.explicit_reads else {})

    @classmethod
    def from_json(cls, form: Any) -> History:
        """Read a history from its JSON form. Raises CodecError with the fault."""
        if not isinstance(form, dict) or form.get("format") != FORMAT:
            version = form.get("format") if isinstance(form, dict) else type(form).__name__
            message = f"not a history of format {FORMAT} (found {version!r})"
            raise CodecError(message)
        try:
            steps = tuple(
                Step(decode(step["operation"]), step.get("slot"), step.get("by")) for step in form["steps"]
            )
            explicit_reads = bool(form.get("explicit_reads", False))
            return cls(form["suite"], form["profile"], form["chunk"], form["seed"], steps, explicit_reads)
        except (KeyError, TypeError) as error:
            message = f"malformed history: {error!r}"
            raise CodecError(message) from error


@dataclass(frozen=True, slots=True)
class Chunk:
    """A number of histories of one suite, drawn from one seed: the unit of jobs, shards and diffs.

    `heavy` lists the histories, counted from 0, in which engines on a JVM take part. `table` names the table profile
    that the histories are drawn for; if it is empty, the run's profile decides. For a kept history it names the suite
    that the history comes from. `part` lists the histories that are played, if another worker plays the others. All
    are drawn, because each is drawn after those before it. `given` are histories that the planner has written out, in
    place of drawn ones. `engines` names those that take part, as the command line does; if it is empty, all do.
    `within` are the claims within which the histories are drawn (`conformance.generation.narrowing`); without any,
    everything that the table profile has may be drawn. `draws` stands in for a profile that is a user's own.
    """

    suite: str
    profile: str
    number: int
    seed: int
    histories: int = HISTORIES
    steps: int = STEPS
    heavy: tuple[int, ...] = ()
    table: str = ""
    part: tuple[int, ...] | None = None
    given: tuple[History, ...] = ()
    engines: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    draws: str = ""

    @property
    def name(self) -> str:
        """The chunk's name, for people and for files."""
        return f"{self.suite}-{self.number}"

    @property
    def kind(self) -> str:
        """The suite by whose rules its histories are played."""
        return self.table if self.suite == REGRESSIONS else self.suite

    @property
    def drawn_for(self) -> str:
        """The table profile of its histories."""
        return self.table or DRAWN_FOR.get(self.suite, self.draws or self.profile)

    def to_json(self) -> dict[str, Any]:
        """The JSON form, as the coordinator sends it to a worker."""
        form = {
            "suite": self.suite, "profile": self.profile, "number": self.number, "seed": self.seed,
            "histories": self.histories, "steps": self.steps, "heavy": list(self.heavy), "table": self.table,
            "part": None if self.part is None else list(self.part),
            "given": [history.to_json() for history in self.given], "engines": list(self.engines),
        }  # fmt: skip
        return (
            form
            | ({"within": list(self.within)} if self.within else {})
            | ({"draws": self.draws} if self.draws else {})
        )

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Chunk:
        """Read a chunk from its JSON form."""
        lists = {name: tuple(form.get(name, ())) for name in ("heavy", "within", "engines")}
        given = tuple(map(History.from_json, form.get("given", ())))
        part = form.get("part")
        return cls(**{**form, **lists, "given": given, "part": None if part is None else tuple(part)})


def chunk_seed(run_seed: int, suite: str, profile: str, number: int) -> int:
    """The seed of a chunk: a hash that is the same in every process."""
    digest = hashlib.sha256(f"{run_seed}/{suite}/{profile}/{number}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
