"""`tools/profile_append.py`: the walk of an append passes between few modules, and the tool fails where it does not."""

from __future__ import annotations

from tools.profile_append import TOO_MANY, main

SWITCHES, OUTSIDE = 60, 15  # the limits of issue 14; OUTSIDE is without the modules of checks and events


def test_the_walk_of_an_append_keeps_within_its_switches(capsys):
    code = main(["--at-most", str(SWITCHES), str(OUTSIDE), "--sequence"])
    assert code == 0, capsys.readouterr().out


def test_more_switches_than_allowed_are_an_error(capsys):
    assert main(["--at-most", "10", str(OUTSIDE)]) == TOO_MANY
    assert main(["--at-most", str(SWITCHES), "3"]) == TOO_MANY
    assert "switches between modules" in capsys.readouterr().out
