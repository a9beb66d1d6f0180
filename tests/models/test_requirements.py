"""The catalogue: each rule names a source that a reader can find."""

from __future__ import annotations

from pathlib import Path

import pytest

from delta_models.requirements import CATALOGUE

ROOT = Path(__file__).resolve().parents[2]
OF_THIS_REPOSITORY = sorted({rule.section for rule in CATALOGUE if rule.section.startswith("docs/")})


@pytest.mark.parametrize("source", OF_THIS_REPOSITORY)
def test_a_document_that_a_rule_cites_exists_and_has_the_section(source: str) -> None:
    path, _, section = source.partition(": ")
    text = (ROOT / path).read_text()
    assert not section or f"## {section}" in text.splitlines()
