"""Each semantic mutant is real: a user, or another reader of the log, sees the difference that its sentence names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.mutation.edits import SEMANTIC, load_all

ROOT = Path(__file__).parents[2]

# What the engine shows as it is, and with the mutant.
OUTCOMES = {
    "checkpoint_without_transactions": ("[[1]]", "[[1], [1]]"),
    "clean_up_from_the_newest_checkpoint": ("'done'", "'VersionNotFound'"),
    "commit_by_check_and_rename": ("[[0], [1], [2]]", "[[0], [2]]"),
    "hint_before_checkpoint": ("[]", "['_last_checkpoint']"),
    "insert_only_merge_is_blind": (
        "('ConcurrentAppendException', [[1], [5]])",
        "('done', [[1], [5], [5]])",
    ),
    "merge_inserts_matched_rows": ("[[1], [2], [3]]", "[[1], [1], [2], [3]]"),
    "null_passes_a_check": ("('ConstraintViolated', [[1]])", "('done', [[1], [None]])"),
    "only_the_first_winner_is_checked": (
        "('ConcurrentAppendException', [[1, 1], [20, 1], [3, 2], [4, 2]])",
        "('done', [[1, 1], [2, 1], [20, 1], [3, 2], [4, 2]])",
    ),
    "optimize_is_no_conflict": (
        "('ConcurrentAppendException', [[1], [2], [3]])",
        "('done', [[1], [2], [2], [3]])",
    ),
    "optimized_rows_look_new": ("[False]", "[True]"),
    "partition_value_stays_escaped": ("[[1, '12:30'], [2, 'a/b']]", "[[1, '12%3A30'], [2, 'a%2Fb']]"),
    "remarking_forgets_the_old_vector": ("[[0], [3]]", "[[0], [1], [3]]"),
    "replace_where_loses_null_rows": ("[[1], [8], [None]]", "[[1], [8]]"),
    "restore_compares_paths_only": ("[[0], [1]]", "[[0]]"),
    "restored_file_is_live_twice": ("[[1], [2]]", "[[1], [1], [2], [2]]"),
    "uncounted_nulls_are_no_nulls": ("[[None]]", "[]"),
    "update_assigns_in_turn": ("[[2, 1]]", "[[2, 2]]"),
    "upgrade_loses_implied_features": (
        "['appendOnly', 'checkConstraints', 'deletionVectors', 'invariants']",
        "['deletionVectors']",
    ),
    "vacuum_goes_by_the_age_of_files": ("'done'", "'MissingDataFile'"),
    "vectors_unread_without_the_property": ("[[0], [2]]", "[[0], [1], [2]]"),
}


def test_every_semantic_mutant_has_a_demonstration():
    assert sorted(OUTCOMES) == [mutant.name for mutant in load_all(SEMANTIC)]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The outcomes of all demonstrations, in a process and a Spark session of their own."""
    result = tmp_path_factory.mktemp("demonstrations") / "outcomes.json"
    command = [sys.executable, "-m", "tests.tools.mutation_demos", str(result)]
    run = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=1500)
    assert run.returncode == 0, run.stderr[-3000:]
    shown: dict[str, list[str]] = json.loads(result.read_text())
    return shown


@pytest.mark.slow
@pytest.mark.timeout(1600)
@pytest.mark.parametrize("name", sorted(OUTCOMES))
def test_a_user_sees_what_the_mutant_breaks(outcomes, name):
    assert tuple(outcomes[name]) == OUTCOMES[name]
