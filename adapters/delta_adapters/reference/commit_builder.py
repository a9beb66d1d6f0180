"""The actions of a commit in the making."""

from __future__ import annotations

from dataclasses import dataclass, field

from delta_adapters.reference import actions


@dataclass(slots=True)
class CommitBuilder:
    """The actions of a commit in the making; nothing of it is in the table yet."""

    adds: list[actions.Form] = field(default_factory=list)
    removes: list[actions.Form] = field(default_factory=list)
    others: list[actions.Form] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.adds or self.removes or self.others)

    @property
    def forms(self) -> list[actions.Form]:
        """All actions in the order in which they are written."""
        return [*self.others, *self.removes, *self.adds]
