"""`docs/requirements.md` says what the catalogue says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from delta_models.requirements import CATALOGUE

ROOT = Path(__file__).parents[2]


def test_the_table_of_requirements_is_up_to_date():
    tool = [sys.executable, str(ROOT / "tools" / "requirements_doc.py"), "--check"]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_only_delta_spark_does_is_no_must_and_no_should():
    theirs = [requirement for requirement in CATALOGUE if requirement.section.startswith("delta-spark")]
    assert theirs
    assert {their.strength for their in theirs} <= {"reference", "lenient"}


def test_it_has_a_line_for_every_requirement():
    lines = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("| `") for line in lines) == len(CATALOGUE)
