"""The sets of mutants that are measured: drawn by a seed, or written by a person. `sets.toml` names them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from tools.mutation.drawing import DrawnMutant, draw
from tools.mutation.edits import HERE, BadMutant, Mutant, load_all

SETS = HERE / "sets.toml"
AnyMutant = TypeVar("AnyMutant", bound=DrawnMutant | Mutant)


class BadSets(ValueError):
    """The file of sets, or what was asked of it, is wrong. The message says what is there and what was expected."""


@dataclass(frozen=True, slots=True)
class MutantSet:
    """Mutants that are counted together.

    They are `count` that `seed` draws, none of a set of `without`; or those of a `folder`, `only` these if it says so.
    """

    name: str
    title: str
    seed: int = 0
    count: int = 0
    without: tuple[str, ...] = ()
    folder: str = ""
    only: tuple[str, ...] = ()


def read_sets(path: Path) -> dict[str, MutantSet]:
    """Read the sets by their names. Raises BadSets."""
    try:
        form = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise BadSets(f"the sets of mutants {path} can't be read: {problem}") from problem
    sets = {name: _set(name, body, path) for name, body in form.items()}
    for each in sets.values():
        unknown = [name for name in each.without if name not in sets or not sets[name].count]
        if unknown:
            raise BadSets(
                f"{path}: the set {each.name} is without {', '.join(unknown)}, which is no drawn set of this file"
            )
    return sets


def chosen_set(sets: Mapping[str, MutantSet], name: str) -> MutantSet:
    """Return the set of this name. Raises BadSets."""
    if name not in sets:
        raise BadSets(f"there is no set of mutants {name!r}; there are {', '.join(sets)}")
    return sets[name]


def mutants_of(
    chosen: MutantSet, sets: Mapping[str, MutantSet], package: Path
) -> list[DrawnMutant] | list[Mutant]:
    """Return the mutants of a set. Raises BadSets."""
    if chosen.folder:
        try:
            return only(load_all(HERE / chosen.folder), chosen.only)
        except BadMutant as problem:
            raise BadSets(str(problem)) from problem
    before = {
        mutant.name for name in chosen.without for mutant in mutants_of(sets[name], sets, package)
    }  # fmt: skip
    return draw(package, chosen.seed, chosen.count, before)


def only(mutants: Sequence[AnyMutant], names: Sequence[str]) -> list[AnyMutant]:
    """Return the mutants of these names, or all if there are none. Raises BadSets."""
    known = {mutant.name: mutant for mutant in mutants}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadSets(f"the set has no mutant {', '.join(unknown)}; `draw` lists those that it has")
    return [known[name] for name in names] if names else list(mutants)


def _set(name: str, body: Any, path: Path) -> MutantSet:
    known = {field.name for field in fields(MutantSet)} - {"name"}
    unknown = sorted(set(body) - known) if isinstance(body, dict) else ["no table"]
    if unknown:
        raise BadSets(
            f"{path}: the set {name} has {', '.join(unknown)}; it may have {', '.join(sorted(known))}"
        )
    made = MutantSet(name, **{**body, **{key: tuple(body.get(key, ())) for key in ("without", "only")}})
    if made.only and not made.folder:
        raise BadSets(f"{path}: the set {name} has names of mutants, and no folder that they are in")
    if bool(made.count) == bool(made.folder):
        raise BadSets(f"{path}: the set {name} needs either a count and a seed, or a folder")
    return made
