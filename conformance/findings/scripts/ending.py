"""The end of a script: how the last step is called, and what decides whether the deviation shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ending:
    """`before` comes before the last step. `lines` come after it and leave in `wrong` what is wrong, if anything.

    Where the last step is `tried`, `refused` holds its error as text, empty if it succeeded; with `needs_success` an
    error without a deviation leaves the script undecided. If `unjudged` is not
    empty, it says why a script cannot decide: then `lines` print what a person looks at, and the script ends with 2.
    `unsure` says what the script does not look at: if it finds nothing wrong elsewhere, it ends with 2.
    """

    lines: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    tried: bool = False
    needs_success: bool = False
    right: str = "as it should be"
    unjudged: str = ""
    unsure: str = ""
