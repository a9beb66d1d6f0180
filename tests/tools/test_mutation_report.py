"""The report says what was killed of what counts, names every survivor, and believes two judges only."""

from __future__ import annotations

import pytest

from tools.mutation.judgements import BadJudgement, Judgement, need_not_count, read_judgements
from tools.mutation.report import PlayedSet, markdown, summary_of

JUDGED = """
[[judgement]]
mutant = "b"
by = "one"
verdict = "equivalent"
reason = "No table has such a file."
[[judgement]]
mutant = "b"
by = "two"
verdict = "performance-only"
reason = "The file is read twice."
"""


def mutant(name, group="log"):
    return {
        "mutant": name, "group": group, "file": "log/state.py", "operator": "call", "line": 4, "before": "a | b",
        "after": "a", "diff": f"+drawn {name}",
    }  # fmt: skip


def row(name, state, **more):
    values = {
        "state": state, "requirement": "", "detail": "", "chunk": "lockstep-1", "played": ["c1"], "reached": 2,
        "seconds": 3.0, "gate": "abcd", "at": "2026-11-20T06:00:00+00:00", "load": 8.0, "unrecorded": 0,
        "diff": f"--- log/state.py\n-old {name}\n+new {name}",
    }  # fmt: skip
    return mutant(name) | values | more


def played(*rows, judgements=None, more=()):
    mutants = [mutant(each["mutant"], each["group"]) for each in rows] + list(more)
    return PlayedSet("Tuning set", mutants, {each["mutant"]: each for each in rows}, judgements or {})


def judges(*verdicts, of="b"):
    return {
        of: tuple(
            Judgement(of, f"judge {number}", verdict, "Why.") for number, verdict in enumerate(verdicts)
        )
    }


FOUR = (
    row("a", "killed", requirement="contents.rows"),
    row("b", "survived"),
    row("c", "unusable", detail="it does not start"),
    row("d", "killed", requirement="read.latest"),
)


def test_the_share_is_of_all_that_count_whatever_became_of_them():
    assert summary_of(played(*FOUR)) == (
        "4 mutants, 4 that count: 2 killed (50%), 3 end a run with other than 0 (75%); 1 survived, 1 unusable."
    )
    unplayed = played(*FOUR, more=[mutant("e")])
    assert summary_of(unplayed) == (
        "5 mutants, 5 that count: 2 killed (40%), 3 end a run with other than 0 (60%); "
        "1 survived, 1 unusable, 1 not-played."
    )


def test_a_survivor_does_not_count_if_two_judges_say_so():
    told = played(*FOUR, judgements=judges("equivalent", "performance-only"))
    assert summary_of(told) == (
        "4 mutants, 3 that count: 2 killed (67%), 3 end a run with other than 0 (100%); 1 survived, 1 unusable."
    )
    text = markdown([told])
    assert text.index("### Not killed") < text.index("### Judged not to count") < text.index("+new b")
    assert "- judge 0: *equivalent*. Why." in text


@pytest.mark.parametrize("verdicts", (("equivalent",), ("equivalent", "counts"), ("counts", "counts")))
def test_one_judge_is_not_enough_and_a_contradiction_is_none(verdicts):
    assert not need_not_count("b", judges(*verdicts))
    assert "4 that count" in summary_of(played(*FOUR, judgements=judges(*verdicts)))


def test_a_killed_mutant_counts_whatever_anybody_says():
    told = summary_of(played(*FOUR, judgements=judges("equivalent", "equivalent", of="a")))
    assert "4 that count: 2 killed" in told


def test_more_than_a_quarter_that_does_not_count_is_too_many():
    both = judges("equivalent", "equivalent") | judges("equivalent", "equivalent", of="c")
    assert "2 do not count, which is more than a quarter" in summary_of(played(*FOUR, judgements=both))


def test_every_survivor_is_named_with_its_diff_before_the_killed():
    text = markdown([played(*FOUR)])
    assert text.index("**b**") < text.index("### Killed") < text.index("contents.rows")
    assert "-old b\n+new b" in text
    assert "(survived, line 4, call, 1 of 2 chunks played)" in text
    assert "it does not start" in text
    assert "a \\| b" in text
    assert "Gate abcd; played 2026-11-20 at a load of 8.0 to\n8.0 (median 8.0)." in text


def test_a_mutant_that_was_not_played_is_named_too():
    assert "**e**\n(not-played, line 4, call)\n\n```diff\n+drawn e\n" in markdown(
        [played(*FOUR, more=[mutant("e")])]
    )


def test_the_report_says_how_many_chunks_nobody_could_play():
    told = markdown([played(row("a", "survived", unrecorded=7), row("b", "killed", requirement="x"))])
    assert "Up to 7 chunks of the gate had no record of lines yet" in told


def test_the_report_says_which_lines_the_gate_does_not_execute():
    files = {"write.py": {"lines": 4, "missed": []}, "scan.py": {"lines": 8, "missed": [3, 4, 9]}}
    text = markdown([], {"gate": "abcd", "chunks": 199, "recorded": 190, "files": files})
    assert "190 of 199 chunks of the gate abcd were recorded." in text
    assert "| writes | write.py | 4 | 100.0% |  |\n| writes | *all* | 4 | 100.0% |  |" in text
    assert "| other | scan.py | 8 | 62.5% | 3-4, 9 |" in text


def test_judgements_are_read_by_mutant(tmp_path):
    (tmp_path / "judgements.toml").write_text(JUDGED, "utf-8")
    judgements = read_judgements(tmp_path / "judgements.toml")
    assert [judgement.by for judgement in judgements["b"]] == ["one", "two"]
    assert need_not_count("b", judgements)
    assert read_judgements(tmp_path / "none.toml") == {}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    (
        ('"two"', '"one"', "judgement 2 of .* is the second one of one on b; two judges are needed"),
        (
            '"equivalent"',
            '"harmless"',
            "has the verdict 'harmless'; it must be equivalent, performance-only, counts",
        ),
        (
            'by = "one"',
            'who = "one"',
            "judgement 1 of .* has mutant, who, verdict, reason; it must have mutant, by",
        ),
        ('"No table has such a file."', '" "', "has no text for reason"),
        ("[[judgement]]", "[judgement", "can't be read"),
    ),
)
def test_a_wrong_judgement_says_what_is_wrong(tmp_path, old, new, said):
    (tmp_path / "judgements.toml").write_text(JUDGED.replace(old, new), "utf-8")
    with pytest.raises(BadJudgement, match=said):
        read_judgements(tmp_path / "judgements.toml")
