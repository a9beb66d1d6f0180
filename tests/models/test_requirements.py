"""Each rule names a source that exists, and the model names only rules of the catalogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import delta_models.table as package
from delta_models.requirements import BY_ID, CATALOGUE

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
