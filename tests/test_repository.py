"""The repository is as its files say: dependencies and their reasons, lock file, imports, documents and wheel."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = {
    Path(path).name: ROOT / path
    for path in PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
}
VOCABULARY = ("codec", "expressions", "operations", "outcomes", "schema", "values", "wire_names")


# Documents name modules by their path from here, or from where their package stands.
PACKAGE_ROOTS = (ROOT / "models", ROOT / "adapters", ROOT / "conformance")
TRACKED = subprocess.run(
    ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
).stdout.split("\n")
TOP_FOLDERS = "|".join(
    [
        *sorted({re.escape(name.split("/")[0]) for name in TRACKED if "/" in name}),
        "delta_models",
        "delta_adapters",
    ]
)


def documents() -> list[Path]:
    """Return the documents of the repository, which are the Markdown files that git knows."""
    return [ROOT / name for name in TRACKED if name.endswith(".md")]


def paths_in(text: str) -> list[str]:
    """Return the paths that a document names, if they begin with a top folder."""
    return sorted(set(re.findall(rf"(?<![\w/.-])((?:{TOP_FOLDERS})/[\w./-]*\w)", text)))


def requirements() -> list[Requirement]:
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"].values()
    return [Requirement(text) for group in (project["dependencies"], *extras) for text in group]


def locked() -> dict[str, set[str]]:
    """Return the versions that the lock file pins, by package: one for each range of Pythons."""
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(
        r"^([\w.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE
    ):
        versions.setdefault(canonicalize_name(name), set()).add(version)
    return versions


def imports_of(path: Path) -> Iterator[str]:
    """Yield every module that this file imports, anywhere in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            yield from (f"{base}.{alias.name}" for alias in node.names)


class TestDependencies:
    def test_each_dependency_has_its_reason_and_each_reason_its_dependency(self) -> None:
        text = (ROOT / "docs" / "decisions" / "0001-dependencies.md").read_text()
        reasons = re.findall(r"^- `([\w-]+)`: \S+", text, re.MULTILINE)
        assert sorted(reasons) == sorted({requirement.name for requirement in requirements()})

    def test_the_lock_file_pins_what_pyproject_allows(self) -> None:
        pinned = locked()
        for requirement in requirements():
            versions = pinned[canonicalize_name(requirement.name)]
            assert all(version in requirement.specifier for version in versions), requirement

    def test_each_locked_package_has_hashes(self) -> None:
        lock = re.sub(r"^\s*#.*\n", "", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)
        unhashed = re.findall(r"^\S+==[^\\\n]*$", lock, re.MULTILINE)
        assert unhashed == []

    def test_the_lock_file_names_its_command_and_no_index(self) -> None:
        text = (ROOT / "requirements.lock").read_text()
        assert "uv pip compile" in text.splitlines()[1]
        assert "://" not in text
        assert not re.search(r"^--", text, re.MULTILINE)


class TestIndependence:
    """Rules that import-linter cannot express by a list of forbidden names."""

    def test_the_model_imports_only_the_standard_library_and_itself(self) -> None:
        exceptions = {"delta_models/log/parquet": "pyarrow", "delta_models/sql": "sqlglot"}
        for path in PACKAGES["delta_models"].rglob("*.py"):
            inside = path.relative_to(PACKAGES["delta_models"].parent).with_suffix("").as_posix()
            extra = {name for prefix, name in exceptions.items() if f"{inside}/".startswith(f"{prefix}/")}
            outside = (
                {name.split(".")[0] for name in imports_of(path)} - sys.stdlib_module_names - {"delta_models"}
            )
            assert outside <= extra, path

    @pytest.mark.parametrize("name", VOCABULARY)
    def test_the_vocabulary_imports_nothing_of_the_model_but_itself(self, name: str) -> None:
        models = PACKAGES["delta_models"]
        files = (models / name).glob("*.py") if (models / name).is_dir() else [models / f"{name}.py"]
        ours = [name for file in files for name in imports_of(file) if "delta_models" in name]
        assert {name.split(".")[1] for name in ours} <= set(VOCABULARY)


class TestHouse:
    def test_each_folder_of_code_says_what_lives_there(self) -> None:
        for root in PACKAGES.values():
            for folder in {path.parent for path in root.rglob("*.py")}:
                init = folder / "__init__.py"
                assert init.is_file(), f"{folder} has no __init__.py"
                assert ast.get_docstring(ast.parse(init.read_text())), f"{init} says nothing"

    def test_each_path_that_a_document_names_is_in_the_repository(self) -> None:
        missing = [
            f"{document.relative_to(ROOT)} names {name}"
            for document in documents()
            for name in paths_in(document.read_text())
            if not any(list(root.glob(f"{name}*")) for root in (ROOT, *PACKAGE_ROOTS))
        ]
        assert missing == []

    def test_each_link_between_documents_leads_to_a_file(self) -> None:
        missing = [
            f"{document.relative_to(ROOT)} links to {target}"
            for document in documents()
            for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text())
            if not (document.parent / target).exists()
        ]
        assert missing == []

    def test_each_rule_that_is_switched_off_has_its_reason(self) -> None:
        section = (ROOT / "pyproject.toml").read_text().split("[tool.ruff.lint]")[1].split("\n[")[0]
        rules = [line for line in section.splitlines() if re.match(r'\s+"[A-Z]+\d*",', line)]
        assert rules
        assert [line for line in rules if not re.search(r"# \w+", line)] == []

    @pytest.mark.parametrize("script", ("dev", "tools/actionlint", "tools/kit", "tools/lock", ".ci/run"))
    def test_each_shell_script_parses_and_can_be_run(self, script: str) -> None:
        assert (ROOT / script).stat().st_mode & 0o111
        subprocess.run(["bash", "-n", ROOT / script], check=True)

    def test_github_runs_what_ci_runs(self) -> None:
        assert "run: .ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text()


@pytest.fixture(scope="module", name="wheel")
def the_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
class TestWheel:
    def test_it_holds_the_four_packages_and_nothing_beside_them(self, wheel: Path) -> None:
        tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
        assert tops == {*PACKAGES, "delta_conformance-0.1.0.dist-info"}

    def test_it_holds_every_file_of_the_packages_that_git_knows(self, wheel: Path) -> None:
        names = set(zipfile.ZipFile(wheel).namelist())
        for package, root in PACKAGES.items():
            listed = subprocess.run(
                ["git", "ls-files", "."], cwd=root, check=True, capture_output=True, text=True
            )
            assert {f"{package}/{name}" for name in listed.stdout.splitlines()} <= names
            assert f"{package}/py.typed" in names

    def test_what_it_installs_can_be_imported_without_the_checkout(self, wheel: Path, tmp_path: Path) -> None:
        zipfile.ZipFile(wheel).extractall(tmp_path)
        program = "import sys; sys.path.insert(0, sys.argv[1]);" + "".join(
            f"import {name}; assert {name}.__file__.startswith(sys.argv[1]);" for name in PACKAGES
        )
        subprocess.run([sys.executable, "-P", "-c", program, str(tmp_path)], cwd="/", check=True)
