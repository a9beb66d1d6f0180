"""HTML elements whose text can't break the page: all text is escaped, unless this module made it."""

from __future__ import annotations

import html
from collections.abc import Iterable

from conformance.reporting.text import harmless

VOID = {"meta", "br", "input", "link", "col"}


class Markup(str):
    """Text that is HTML already. Only `element` and `join` make it, and `trusted` for files of this package."""

    __slots__ = ()


Child = str | Markup | None | Iterable["Child"]


def element(name: str, /, *children: Child, **attributes: str | bool | int | None) -> Markup:
    """An element. Children that are no markup are escaped; `class_` is `class`, `data_x` is `data-x`.

    An attribute that is True stands alone; one that is None or False is left out.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        parts.append(attribute if value is True else f'{attribute}="{escape(str(value))}"')
    opening = " ".join(parts)
    if name in VOID:
        return Markup(f"<{opening}>")
    return Markup(f"<{opening}>{join(children)}</{name}>")


def join(children: Child) -> Markup:
    """Children one after the other; text that is no markup is escaped."""
    if children is None:
        return Markup()
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(escape(children))
    return Markup("".join(join(child) for child in children))


def escape(text: str) -> str:
    """Escape text, so that neither HTML nor a reader takes it for something else."""
    return html.escape(harmless(text), quote=True)


def trusted(text: str) -> Markup:
    """Text of a file of this package, unescaped."""
    return Markup(text)
