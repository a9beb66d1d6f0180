"""The help texts of the command line."""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys

import pytest

from conformance._version import harness_version
from conformance.cli.dispatch import COMMANDS, HELP
from conformance.cli.report import FORMS
from conformance.reporting.formats import FORMATS
from tests.cli.conversation import run_command


def test_the_help_of_every_command_is_the_text_that_was_agreed(talk):
    talk.ask("--help")
    for command in COMMANDS:
        talk.ask(command, "--help")
    talk.matches("help")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_help_names_exactly_the_options_that_exist(command):
    module = importlib.import_module(f"conformance.cli.{command.replace('-', '_')}")
    parser = argparse.ArgumentParser(add_help=False)
    module.add_arguments(parser)
    options = {option for action in parser._actions for option in action.option_strings}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", module.HELP)) - {"--engine"} == options - {"--engine"}
    assert all(len(line) <= 95 for line in module.HELP.splitlines())


def test_only_commands_that_exist_are_listed():
    listed = re.findall(r"^  ([\w-]+)  +", HELP, re.MULTILINE)
    assert tuple(listed) == COMMANDS


def test_help_about_a_command_is_the_commands_own(talk):
    assert talk.ask("help", "run").out == talk.ask("run", "--help").out


def test_without_a_command_the_help_is_shown_on_stderr_with_exit_code_2(talk):
    answer = talk.ask()
    assert (answer.err, answer.exit) == (HELP, 2)


def test_the_module_is_the_command(tmp_path):
    answer = run_command(["--version"], tmp_path)
    assert (answer.stdout, answer.returncode) == (f"conformance {harness_version()}\n", 0)


LOADED = """
import sys
from conformance.cli import main
main(sys.argv[1:])
print(*sorted({"hypothesis", "jsonschema", "pyarrow", "rich", "sqlglot"} & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_waits_for_nothing_large(tmp_path, command):
    words = [sys.executable, "-c", LOADED, command, "--help"]
    answer = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.stdout.startswith(f"Usage: conformance {command}")
    assert answer.stderr.split() == []


def test_the_reports_that_can_be_requested_are_those_that_exist():
    assert tuple(FORMATS) == FORMS
