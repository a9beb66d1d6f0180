"""`conformance new-adapter`: make a package with an adapter for an engine of one's own, outside of this repository."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from conformance.cli.errors import UsageError
from delta_adapters.registry import KNOWN

HELP = """\
Usage: conformance new-adapter NAME [--in DIR]

Makes the folder NAME with a package that tests an engine of your own: its adapter, a smoke
test, a file for CI, an empty baseline, and two causes. It works at once, on four operations
(create, append, overwrite, read), with deltalake in the place of your engine. Then put your
engine's calls where deltalake's are, and delete the causes, which are deltalake's faults.
docs/writing-an-adapter.md says what to claim, and what a claim brings.

  NAME       what the engine is called: lower-case letters, digits and dashes
  --in DIR   where the folder is made. Default: here

Exit: 0 the package is made, 2 it is not, and nothing was written.
"""

# Where each file of the template goes; `@MODULE@` is the package of the adapter.
PLACES = {
    "pyproject.toml.txt": "pyproject.toml",
    "README.md.txt": "README.md",
    "gitignore.txt": ".gitignore",
    "baseline.json.txt": "conformance-baseline.json",
    "conformance.yml.txt": ".github/workflows/conformance.yml",
    "adapter.py.txt": "src/@MODULE@/adapter.py",
    "capabilities.json.txt": "src/@MODULE@/capabilities.json",
    "test_adapter.py.txt": "tests/test_adapter.py",
}
# What is known of deltalake, with which the package starts, and shows on the operations of its claims.
STANDS_IN = "delta-rs"
CAUSES = ("commit-found-taken", "no-checksums")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `new-adapter`."""
    parser.add_argument("name")
    parser.add_argument("--in", type=Path, default=Path(), dest="folder")


def execute(arguments: argparse.Namespace) -> int:
    """Make the package and say what to do next."""
    made = make_package(arguments.name, arguments.folder)
    sys.stdout.write(
        f"Made {made} with an adapter, a smoke test, a file for CI and an empty baseline. Next:\n"
        f"  cd {made}\n"
        "  pip install -e '.[test]'\n"
        "  pytest\n"
        "  conformance run\n"
    )
    return 0


def make_package(name: str, folder: Path) -> Path:
    """Write the package of an adapter to `folder / name` and return that. Raises UsageError, and then wrote nothing."""
    words = {"NAME": name, "MODULE": _module(name), "CLASS": _class(name)}
    target = folder / name
    if target.exists():
        raise UsageError(
            f"there is {target} already",
            "Give another name, or another folder with --in; nothing was changed.",
        )
    template = resources.files("conformance.cli.adapter_template")
    files = {
        _filled(place, words): _filled(template.joinpath(source).read_text("utf-8"), words)
        for source, place in PLACES.items()
    }
    files |= dict(_causes(name))
    files[f"src/{words['MODULE']}/__init__.py"] = f'"""The adapter of {name} for delta-conformance."""\n'
    try:
        for place, text in files.items():
            path = target / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"can't write {target}: {error.strerror}") from error
    return target


def _causes(name: str) -> Iterator[tuple[str, str]]:
    """The causes of the engine that stands in for the user's, as causes of the user's."""
    known = resources.files("delta_adapters.deviations").joinpath("known")
    for cause in CAUSES:
        text = known.joinpath(f"{STANDS_IN}-{cause}.toml").read_text("utf-8")
        yield f"causes/{name}-{cause}.toml", text.replace(f'engine = "{STANDS_IN}"', f'engine = "{name}"')
        history = known.joinpath(f"{STANDS_IN}-{cause}.history.json").read_text("utf-8")
        yield f"causes/{name}-{cause}.history.json", history


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(r"@(NAME|MODULE|CLASS)@", lambda found: words[found[1]], text)


def _module(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(
            f"{name!r} is no name for an engine",
            "Give lower-case letters, digits and dashes, for example my-engine.",
        )
    if name in KNOWN:
        raise UsageError(f"{name} is an engine that the project knows", "Give another name.")
    return f"{name.replace('-', '_')}_conformance"


def _class(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-")) + "Adapter"
