"""`./dev` and `tools/environment.py`: the environment is made once, mended when stale; trouble comes with its cure.

A checkout in miniature stands in for this one, and a `uv` that installs nothing for the real one.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import environment
from tools.environment import Checkout, State

ROOT = Path(__file__).parents[2]
HASHED = " \\\n    --hash=sha256:00\n"

# Notes each call, and makes an environment that consists of one link.
FAKE_UV = f"""#!/bin/sh
echo "$*" >> "$UV_CALLS"
case "$*" in
    venv*) for last; do :; done; mkdir -p "$last/bin"; ln -s {sys.executable} "$last/bin/python" ;;
    *list*) echo numpy==2.4; echo packaging==26; echo stranger==1 ;;
    *requirements.lock*) sleep "${{UV_SLEEP:-0}}"; echo "$UV_SAYS"; exit "${{UV_EXIT:-0}}" ;;
esac
"""


@pytest.fixture(name="checkout")
def a_checkout(tmp_path: Path) -> Checkout:
    root = tmp_path / "checkout"
    root.mkdir()
    shutil.copy(ROOT / "dev", root / "dev")
    for file in (Path("tools", "environment.py"), environment.JAVA_FINDER.relative_to(ROOT)):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, root / file)
    (root / "pyproject.toml").write_text("[project]\n")
    (root / "requirements.lock").write_text(
        "".join(f"{name}==1{HASHED}" for name in (*environment.BUILDERS, "numpy"))
    )
    return Checkout(root)


@pytest.fixture(name="programs")
def the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH on which there is what `./dev` itself calls, Python, and the fake uv; no Java."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("bash", "cat", "dirname", "env", "ln", "mkdir", "readlink", "sh", "sleep"):
        (folder / name).symlink_to(str(shutil.which(name)))
    (folder / "python3").symlink_to(sys.executable)
    a_program(folder / "uv", FAKE_UV)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("UV_CALLS", str(tmp_path / "calls"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return folder


def a_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def dev(checkout: Checkout, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Call ./dev of this checkout from another folder."""
    return subprocess.run(
        [str(checkout.root / "dev"), *arguments],
        cwd="/",
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def calls(programs: Path) -> list[str]:
    return (programs.parent / "calls").read_text().splitlines()


class TestSetUp:
    def test_a_missing_environment_is_made_and_then_used_at_once(
        self, checkout: Checkout, programs: Path
    ) -> None:
        assert checkout.state() is State.MISSING
        first = dev(checkout, "python", "-c", "import os; print(os.environ['VIRTUAL_ENV'])")
        assert first.stdout == f"{checkout.venv}\n"
        assert "which is missing" in first.stderr
        assert "about 650 MB to download" in first.stderr
        assert checkout.state() is State.FRESH
        made = calls(programs)
        second = dev(checkout, "python", "-c", "print('here')")
        assert (second.stdout, second.stderr, second.returncode) == ("here\n", "", 0)
        assert calls(programs) == made

    def test_builders_come_first_and_everything_has_a_hash(self, checkout: Checkout, programs: Path) -> None:
        checkout.make()
        installed = [call for call in calls(programs) if " install " in call]
        assert [call.split("/")[-1] for call in installed] == [
            "builders.txt",
            "requirements.lock",
            "checkout",
        ]
        assert all("--no-build-isolation" in call for call in installed)
        assert all("--require-hashes -r" in call for call in installed[:2])
        assert "--no-deps" in installed[2]

    def test_what_the_lock_file_does_not_name_is_removed(self, checkout: Checkout, programs: Path) -> None:
        checkout.make()
        assert next(call for call in calls(programs) if " uninstall " in call).endswith("-y stranger")

    def test_an_interrupted_set_up_is_noticed_and_made_anew(self, checkout: Checkout, programs: Path) -> None:
        assert dev(checkout, "python", UV_EXIT="1").returncode == 2
        assert checkout.state() is State.HALF_MADE
        done = dev(checkout, "python", "-c", "")
        assert "half-made" in done.stderr
        assert done.returncode == 0

    def test_an_environment_whose_python_is_gone_is_made_anew(
        self, checkout: Checkout, programs: Path
    ) -> None:
        checkout.make()
        checkout.python.unlink()
        checkout.python.symlink_to("/gone/python")
        assert checkout.state() is State.HALF_MADE
        assert dev(checkout, "python", "-c", "").returncode == 0
        assert checkout.state() is State.FRESH

    def test_an_environment_that_uv_made_is_made_anew_where_uv_is_gone(
        self, checkout: Checkout, programs: Path
    ) -> None:
        checkout.make()
        checkout.lock.write_text(checkout.lock.read_text() + f"attrs==1{HASHED}")
        assert environment.Installer(checkout).can_mend()
        (programs / "uv").unlink()
        assert not environment.Installer(checkout).can_mend()
        (checkout.venv / "lib" / "python3.11" / "site-packages" / "pip").mkdir(parents=True)
        assert environment.Installer(checkout).can_mend()

    def test_a_new_lock_file_changes_packages_in_place(self, checkout: Checkout, programs: Path) -> None:
        checkout.make()
        checkout.lock.write_text(checkout.lock.read_text() + f"attrs==1{HASHED}")
        assert checkout.state() is State.OTHER_PACKAGES
        before = checkout.venv.stat().st_ino
        checkout.make()
        assert checkout.state() is State.FRESH
        assert checkout.venv.stat().st_ino == before

    def test_a_new_pyproject_installs_the_project_and_nothing_else(
        self, checkout: Checkout, programs: Path
    ) -> None:
        checkout.make()
        before = len(calls(programs))
        checkout.project.write_text("[project]\nname = 'other'\n")
        assert checkout.state() is State.OTHER_PROJECT
        checkout.make()
        assert [" --no-deps " in call for call in calls(programs)[before:]] == [True]

    def test_settings_of_tools_in_pyproject_install_nothing(self, checkout: Checkout, programs: Path) -> None:
        checkout.make()
        checkout.project.write_text(checkout.project.read_text() + "[tool.ruff]\nline-length = 80\n")
        assert checkout.state() is State.FRESH

    def test_a_checkout_that_was_moved_gets_scripts_that_point_to_it(
        self, checkout: Checkout, programs: Path
    ) -> None:
        checkout.make()
        moved = Checkout(checkout.root.rename(checkout.root.with_name("elsewhere")))
        assert moved.state() is State.MOVED
        moved.make()
        assert moved.state() is State.FRESH

    def test_two_at_once_make_it_once(self, checkout: Checkout, programs: Path) -> None:
        command = [str(checkout.root / "dev"), "python", "-c", ""]
        environ = {**os.environ, "UV_SLEEP": "1"}
        both = [subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        messages = [process.communicate(timeout=60)[1] for process in both]
        assert [process.returncode for process in both] == [0, 0]
        assert sorted("waiting for it" in text for text in messages) == [False, True]
        assert sum(call.startswith("venv") for call in calls(programs)) == 1


class TestTrouble:
    def test_without_java_the_line_to_type_comes_before_any_download_and_set_up_goes_on(
        self, checkout: Checkout, programs: Path
    ) -> None:
        done = dev(checkout, "python", "-c", "")
        assert done.returncode == 0
        messages = done.stderr.splitlines()
        assert (
            messages[0] == "Java 17 or newer is needed: there is no java on PATH, and JAVA_HOME is not set."
        )
        assert messages.index("Ready after 0 s.") > 0
        for system, line in (("Debian", "apt install"), ("Fedora", "dnf install"), ("macOS", "brew install")):
            assert any(system in message and line in message for message in messages[1:5])

    def test_check_says_what_is_missing_and_downloads_nothing(
        self, checkout: Checkout, programs: Path
    ) -> None:
        done = dev(checkout, "check")
        assert done.returncode == 1
        assert "Java 17 or newer is needed" in done.stderr
        assert not checkout.venv.exists()
        a_program(programs / "java", "#!/bin/sh\necho 'openjdk version \"21.0.2\"' >&2\n")
        assert dev(checkout, "check").returncode == 0

    @pytest.mark.parametrize(
        ("says", "trouble"),
        (
            ('openjdk version "17.0.15" 2025-04-15', None),
            ('openjdk version "25" 2025-09-16', None),
            ('java version "1.8.0_202"', "Java 17 or newer is needed"),
            ('openjdk version "11.0.2"', "Java 17 or newer is needed"),
            ("Unable to locate a Java Runtime.", "Java 17 or newer is needed"),
        ),
    )
    def test_java_is_judged_by_what_it_says_of_itself(
        self, tmp_path: Path, says: str, trouble: str | None
    ) -> None:
        (tmp_path / "bin").mkdir()
        a_program(tmp_path / "bin" / "java", f"#!/bin/sh\necho '{says}' >&2\n")
        for variables in ({"JAVA_HOME": str(tmp_path), "PATH": ""}, {"PATH": str(tmp_path / "bin")}):
            reported = environment.java_trouble(variables)
            assert reported == trouble if trouble is None else trouble in str(reported)

    def test_java_home_counts_before_path_and_is_named_when_it_is_wrong(self, tmp_path: Path) -> None:
        reported = environment.java_trouble({"JAVA_HOME": str(tmp_path), "PATH": os.environ["PATH"]})
        assert str(reported).startswith(
            f"Java 17 or newer is needed: JAVA_HOME is {tmp_path}, and there is no bin/java in it."
        )

    def test_without_a_new_enough_python_it_says_what_to_install(
        self, checkout: Checkout, programs: Path
    ) -> None:
        (programs / "python3").unlink()
        a_program(programs / "python3.13", "#!/bin/sh\nexit 127\n")  # a shim of pyenv that leads nowhere
        done = dev(checkout, "run")
        assert done.returncode == 2
        assert "no Python 3.11 or newer" in done.stderr
        assert "sudo apt install python3 python3-venv" in done.stderr

    def test_a_python_that_can_make_no_environment_is_reported_with_its_cure(
        self, checkout: Checkout, programs: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (programs / "uv").unlink()
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: name != "ensurepip")
        with pytest.raises(environment.Unable, match="sudo apt install python3-venv"):
            checkout.make()

    @pytest.mark.parametrize(
        ("says", "cause"),
        (
            (
                "NewConnectionError: Temporary failure in name resolution",
                "the package index could not be reached",
            ),
            ("[Errno 28] No space left on device", "the disk is full"),
            ("THESE PACKAGES DO NOT MATCH THE HASHES", "a package could not be installed"),
        ),
    )
    def test_a_failed_installation_is_one_message_with_its_cause(
        self, checkout: Checkout, programs: Path, says: str, cause: str
    ) -> None:
        done = dev(checkout, "python", UV_EXIT="1", UV_SAYS=says)
        assert done.returncode == 2
        assert f"./dev: {cause}" in done.stderr
        assert f"  | {says}" in done.stderr
        assert "Traceback" not in done.stderr


class TestCommands:
    @pytest.mark.parametrize("arguments", ((), ("--help",), ("-h",), ("help",)))
    def test_dev_alone_teaches(self, checkout: Checkout, programs: Path, arguments: tuple[str, ...]) -> None:
        done = dev(checkout, *arguments)
        assert done.returncode == 0
        assert "./dev run [ARGS]" in done.stdout
        assert not checkout.venv.exists()

    def test_what_a_command_compiles_is_kept_though_the_image_says_otherwise(
        self, checkout: Checkout, programs: Path
    ) -> None:
        done = dev(
            checkout,
            "python",
            "-c",
            "import sys; print(sys.dont_write_bytecode)",
            PYTHONDONTWRITEBYTECODE="1",
        )
        assert done.stdout == "False\n"

    def test_a_command_that_is_not_there_is_named(self, checkout: Checkout, programs: Path) -> None:
        done = dev(checkout, "no-such-thing")
        assert done.returncode == 127
        assert "no command `no-such-thing`" in done.stderr

    def test_an_unknown_option_is_refused_before_anything_is_made(
        self, checkout: Checkout, programs: Path
    ) -> None:
        assert dev(checkout, "--fast").returncode == 2
        assert not checkout.venv.exists()

    @pytest.mark.parametrize(
        ("arguments", "called"),
        (
            (("run", "--seed", "1"), "conformance run --seed 1 in /"),
            (("test",), "tox in {root}"),
            (("test", "-k", "some thing"), "python -m pytest -k some thing in {root}"),
            (("bench",), "python -m benchmarks in {root}"),
            (("bench", "speed"), "python -m benchmarks speed in {root}"),
            (("conformance", "doctor"), "conformance doctor in /"),
        ),
    )
    def test_each_command_calls_what_it_says(
        self, checkout: Checkout, programs: Path, arguments: tuple[str, ...], called: str
    ) -> None:
        checkout.make()
        for name in ("conformance", "tox"):
            a_program(checkout.venv / "bin" / name, f'#!/bin/sh\necho "{name}${{*:+ $*}} in $PWD"\n')
        real = checkout.python.resolve()
        checkout.python.unlink()
        a_program(
            checkout.python,
            f'#!/bin/sh\n[ "$1" = -m ] || exec {real} "$@"\necho "python $* in $PWD"\n',
        )
        assert dev(checkout, *arguments).stdout.strip() == called.format(root=checkout.root)

    def test_paths_of_tests_are_relative_to_a_folder_of_the_checkout(
        self, checkout: Checkout, programs: Path
    ) -> None:
        checkout.make()
        real = checkout.python.resolve()
        checkout.python.unlink()
        a_program(checkout.python, f'#!/bin/sh\n[ "$1" = -m ] || exec {real} "$@"\necho "$PWD"\n')
        tools = checkout.root / "tools"
        done = subprocess.run(
            ["../dev", "test", "x.py"], cwd=tools, capture_output=True, text=True, check=False
        )
        assert done.stdout == f"{tools}\n"
