"""A history: commands drawn for one shape of table, the unit that is executed, kept, shrunk and replayed.

It holds nothing that an engine makes up. States are named by steps: "after step k" is the state after
`steps[k]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from delta_models.codec import CodecError, decode, encode
from delta_models.operations import Operation

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Step:
    """One command; `slot` says who performs it on a shared table, None that all engines do, each on its copy.

    `by` is the slot that did, where the engine of `slot` could not and handed it on; a replay asks that one.
    """

    operation: Operation
    slot: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class History:
    """Commands with where they came from: the suite, the run's profile, the chunk and its seed."""

    suite: str
    profile: str
    chunk: int
    seed: int
    steps: tuple[Step, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The versioned form of a file."""
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
        }

    @classmethod
    def from_json(cls, form: Any) -> History:
        """The inverse of `to_json`; raises CodecError with what is wrong."""
        if not isinstance(form, dict) or form.get("format") != FORMAT:
            found = form.get("format") if isinstance(form, dict) else type(form).__name__
            message = f"not a history of format {FORMAT} (found {found!r})"
            raise CodecError(message)
        try:
            steps = tuple(
                Step(decode(each["operation"]), each.get("slot"), each.get("by")) for each in form["steps"]
            )
            return cls(form["suite"], form["profile"], form["chunk"], form["seed"], steps)
        except (KeyError, TypeError) as error:
            message = f"malformed history: {error!r}"
            raise CodecError(message) from error
