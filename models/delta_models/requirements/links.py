"""Where the source of a requirement can be read: a link to the section of the published protocol."""

from __future__ import annotations

import re

from delta_models.requirements.base import Requirement

PROTOCOL = "https://github.com/delta-io/delta/blob/master/PROTOCOL.md"
# Sources that are no section of the protocol, by how they begin.
_ELSEWHERE = ("docs/", "delta-spark ", "conformance/", "SQL:")


def is_of_the_protocol(requirement: Requirement) -> bool:
    """Whether the rule stands in the published protocol."""
    return not requirement.section.startswith(_ELSEWHERE)


def link_of(requirement: Requirement) -> str | None:
    """The address of the protocol's section; None for a rule that stands elsewhere.

    GitHub makes a heading's anchor of its small letters, digits, underscores and hyphens, with a hyphen for each blank.
    """
    if not is_of_the_protocol(requirement):
        return None
    kept = re.sub(r"[^\w\- ]", "", requirement.section.casefold())
    return f"{PROTOCOL}#{kept.replace(' ', '-')}"
