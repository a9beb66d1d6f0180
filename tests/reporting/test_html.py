"""`report.html` is well-formed and self-contained, and no text in it can break it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from conformance.events.types import RunEnded
from conformance.reporting import view_models
from conformance.reporting.claims import VERDICTS
from conformance.reporting.html import page, write
from conformance.reporting.html.markup import Markup, element, escape, join
from conformance.reporting.html.matrix import SYMBOLS, WORDS, data_block
from conformance.reporting.results import Results
from delta_adapters.deviations import Cause, Prediction
from tests.reporting.samples import FINDING, NASTY, big_run, results_of, small_run

VOID = {"meta", "input", "br"}


class Reader(HTMLParser):
    """Collects a page's elements, and fails where they are not nested."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), f"an attribute of <{tag}> stands there twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def big(tmp_path_factory) -> tuple[Results, str]:
    home = tmp_path_factory.mktemp("run")
    results = results_of(*big_run(home), RunEnded("violated", 1, 171.2), home=home)
    return results, page(results, home)


def test_every_element_is_closed_and_every_id_unique(big):
    reader = read(big[1])
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_links_within_the_page_lead_somewhere(big):
    reader = read(big[1])
    ids = {attributes.get("id") for _, attributes in reader.elements}
    for tag, attributes in reader.elements:
        target = attributes.get("href") or ""
        if tag == "a" and target.startswith("#"):
            assert target[1:] in ids


def test_links_to_files_lead_to_files(big, tmp_path):
    results, text = big
    links = [attributes["href"] for tag, attributes in read(text).elements if tag == "a"]
    files = [link for link in links if link and not link.startswith(("#", "https://"))]
    assert any(file.endswith("script_delta_rs.py") for file in files)
    for file in files:
        assert (results.homes[0] / file).is_file()


def test_strange_text_is_shown_and_never_acts(big):
    text = big[1]
    assert "<img" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\u202emirrored" in text
    assert "שלום" in text
    text.encode("utf-8")
    scripts = [attributes for tag, attributes in read(text).elements if tag == "script"]
    assert [script.get("type") for script in scripts] == ["application/json", None]


def test_the_page_loads_nothing(big):
    for tag, attributes in read(big[1]).elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "video", "audio"}
        assert "src" not in attributes
        assert "style" not in attributes, "the policy allows no style of an element's own"
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in big[1]
    assert "url(" not in big[1]


def test_the_policy_allows_exactly_the_script_and_the_style_of_the_page(big):
    policy = next(
        attributes["content"] for tag, attributes in read(big[1]).elements if attributes.get("http-equiv")
    )
    style = re.search(r"<style>(.*?)</style>", big[1], re.DOTALL)
    script = re.search(r"<script>(.*?)</script>", big[1], re.DOTALL)
    assert style
    assert script
    hashes = [
        base64.b64encode(hashlib.sha256(block[1].encode()).digest()).decode() for block in (style, script)
    ]
    assert policy == f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'"


def test_the_matrix_has_a_row_for_each_rule_and_a_cell_for_each_engine(big):
    reader = read(big[1])
    rows = [attributes for tag, attributes in reader.elements if tag == "tr" and "data-id" in attributes]
    requirements = {claim.setting.requirement for claim in big[0].claims}
    assert requirements <= {row["data-id"] for row in rows}
    squares = [attributes for tag, attributes in reader.elements if "data-cell" in attributes]
    pairs = {(claim.setting.requirement, claim.setting.engine) for claim in big[0].claims}
    assert len(squares) == len(pairs)


def test_each_verdict_has_a_symbol_and_a_word_besides_its_colour():
    assert len({SYMBOLS[verdict] for verdict in VERDICTS}) == len(VERDICTS)
    assert len({WORDS[verdict] for verdict in VERDICTS}) == len(VERDICTS)


def test_the_data_for_the_script_says_what_the_claims_say(big):
    match = re.search(r'<script type="application/json" id="data-cells">(.*?)</script>', big[1], re.DOTALL)
    assert match
    cells = json.loads(match[1])["cells"]
    assert sum(map(len, cells.values())) == len(big[0].claims)
    first = cells["contents.create 0"][0]
    assert first["v"] == "violated"
    assert first["findings"]


def test_a_finding_shows_its_history_the_failing_step_and_the_replay_command(big):
    text = big[1]
    assert text.count('<tr class="failing">') == 9
    assert text.count("fails here") == 9
    assert "conformance replay " in text
    assert "Its history can&#x27;t be shown: " in text, "the finding without a folder says so"


def test_a_known_deviation_shows_its_cause_and_where_it_was_reported(tmp_path, monkeypatch):
    cause = Cause(
        "tight-bounds", "delta-rs", "Bounds are rounded.", "Decimals <pass> through floats.",
        "https://example.org/issues/1", "stats.tight-bounds", (Prediction(("stats.tight-bounds",)),), {},
    )  # fmt: skip
    monkeypatch.setattr(view_models, "cause_named", lambda name: cause if name == cause.id else None)
    known = replace(FINDING, known=True, cause=cause.id)
    text = page(results_of(*small_run(known), home=tmp_path), tmp_path)
    assert "<h4>Cause</h4><p>Bounds are rounded.</p><p>Decimals &lt;pass&gt; through floats.</p>" in text
    assert '<a href="https://example.org/issues/1" rel="noreferrer">' in text


def test_a_finding_of_the_baseline_says_so(tmp_path):
    known = replace(FINDING, known=True)
    assert "In the baseline" in page(results_of(*small_run(known), home=tmp_path), tmp_path)


def test_a_run_without_findings_says_that_there_are_none(tmp_path):
    text = page(results_of(*small_run(), home=tmp_path), tmp_path)
    assert "None. Every check of this run came out as it should." in text
    assert "All of the core holds" in text


def test_the_page_is_written_whole_or_not_at_all(tmp_path):
    write(results_of(*small_run(FINDING), home=tmp_path), tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8").endswith("</html>\n")


def test_two_hundred_rules_on_four_engines_stay_a_page_that_can_be_mailed(big):
    assert len(big[1]) < 2_000_000


def test_text_is_escaped_unless_it_is_markup():
    made = element(
        "p",
        "<b>",
        element("b", "x & y"),
        None,
        ["1", ("2",)],
        class_="a",
        hidden=True,
        title=None,
        data_x='"',
    )
    assert made == '<p class="a" hidden data-x="&quot;">&lt;b&gt;<b>x &amp; y</b>12</p>'
    assert isinstance(join([made, "<"]), Markup)
    assert escape(NASTY).count("<") == 0


def test_no_text_can_end_a_block_of_data():
    block = data_block("x", {"a": "</script><!-- & \u2028"})
    inside = block.removeprefix('<script type="application/json" id="data-x">').removesuffix("</script>")
    assert "<" not in inside
    assert json.loads(inside) == {"a": "</script><!-- & \u2028"}
