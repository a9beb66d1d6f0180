"""Each rule names a source that exists, and the model names only rules of the catalogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import delta_models.table as package
from delta_models.requirements import BY_ID, CATALOGUE
from delta_models.requirements.links import PROTOCOL, is_of_the_protocol, link_of

ROOT = Path(__file__).resolve().parents[2]
OF_THIS_REPOSITORY = sorted({rule.section for rule in CATALOGUE if rule.section.startswith("docs/")})


@pytest.mark.parametrize("source", OF_THIS_REPOSITORY)
def test_a_document_that_a_rule_cites_exists_and_has_the_section(source: str) -> None:
    path, _, section = source.partition(": ")
    text = (ROOT / path).read_text()
    assert not section or f"## {section}" in text.splitlines()


def test_every_rule_that_an_allowed_outcome_names_stands_in_the_catalogue() -> None:
    text = "".join(path.read_text() for path in Path(package.__file__).parent.glob("*.py"))
    named = set(re.findall(r'"((?:contents|outcome)\.[a-z-]+)"', text))
    assert named
    assert named <= set(BY_ID)


def test_a_rule_of_the_protocol_links_to_the_heading_of_its_section() -> None:
    assert link_of(BY_ID["stats.min-values"]) == f"{PROTOCOL}#per-file-statistics"
    assert link_of(BY_ID["log.codec"]) == f"{PROTOCOL}#table-properties"
    named = BY_ID["checkpoint.classic-now-and-then"]
    anchor = "handling-backward-compatibility-while-moving-to-uuid-named-v2-checkpoints"
    assert link_of(named) == f"{PROTOCOL}#{anchor}"


def test_a_rule_that_stands_elsewhere_has_no_link() -> None:
    for rule in CATALOGUE:
        assert (link_of(rule) is None) == (not is_of_the_protocol(rule))
    assert link_of(BY_ID["contents.append"]) is None
    assert link_of(BY_ID["metrics.files"]) is None
    assert link_of(BY_ID["outcome.ambiguous-match-refused"]) is None
    assert link_of(BY_ID["example.as-written"]) is None


def test_every_section_of_the_protocol_that_a_rule_cites_gives_an_anchor_without_marks() -> None:
    links = {link_of(rule) for rule in CATALOGUE if is_of_the_protocol(rule)}
    assert links
    for link in links:
        assert link is not None
        assert re.fullmatch(r"[a-z0-9_-]+", link.removeprefix(f"{PROTOCOL}#"))
