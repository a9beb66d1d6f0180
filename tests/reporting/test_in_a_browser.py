"""`report.html` as a person uses it: opened in chromium, filtered, walked through by keyboard, printed."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.reporting.html import write
from tests.reporting.browser import PROGRAM, Browser
from tests.reporting.samples import big_run, results_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="chromium: not on the PATH; apt install chromium"),
]

SHOWN = "document.querySelector('#shown').textContent"
LINES = "[...document.querySelectorAll('#matrix .line')].filter(line => !line.hidden).map(line => line.dataset.id)"
FOCUS = "document.activeElement.dataset.cell"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    folder = tmp_path / "run"
    write(results_of(*big_run(folder), home=folder), folder / "report.html")
    with Browser(tmp_path / "profile") as browser:
        browser.open(folder / "report.html")
        yield browser
        assert browser.messages == [], "errors, dialogs or breaches of the policy"
        assert [address for address in browser.requests if not address.endswith("/report.html")] == [], (
            "nothing is loaded"
        )


def test_the_page_is_searched_filtered_and_walked_through(browser):
    everything = browser.run(LINES)
    assert browser.run(SHOWN) == f"{len(everything)} of {len(everything)} rules shown"

    browser.press("/", 191)
    assert browser.run("document.activeElement.id") == "search"
    browser.call("Input.insertText", {"text": "merge"})
    matching = browser.run(LINES)
    assert 0 < len(matching) < len(everything)
    browser.press("Escape", 27)
    assert browser.run(LINES) == everything

    browser.run("document.querySelector('[name=verdict][value=violated]').click()")
    violated = browser.run(LINES)
    assert set(violated) == {"contents.create", "contents.drop-external", "contents.overwrite"}
    browser.run("document.querySelector('[name=verdict][value=violated]').click()")
    browser.run("document.querySelector('#core-only').click()")
    assert len(browser.run(LINES)) == 40
    browser.run("document.querySelector('#core-only').click()")

    browser.run("document.querySelector('.area button').click()")
    assert not any(line.startswith("contents.") for line in browser.run(LINES))
    browser.run("document.querySelector('.area button').click()")

    browser.run("document.querySelector('.square').focus()")
    assert browser.run(FOCUS) == "contents.create 0"
    browser.press("ArrowDown", 40)
    browser.press("ArrowRight", 39)
    assert browser.run(FOCUS) == "contents.create-if-not-exists 1"


def test_a_cell_opens_its_claims_and_leads_to_the_finding(browser):
    browser.run("document.querySelector('.square.violated').click()")
    assert (
        browser.run("document.querySelector('.details h3').textContent")
        == "contents.create on delta-rs@1.6.6"
    )
    link = browser.run("document.querySelector('.details a').hash")
    browser.run(
        f"document.querySelector('{link}').open = false; document.querySelector('.details a').click()"
    )
    assert browser.run(f"document.querySelector('{link}').open") is True
    browser.press("Escape", 27)
    assert browser.run("document.querySelector('.details')") is None


def test_the_theme_is_that_of_the_reader_until_it_is_chosen(browser):
    colour = "getComputedStyle(document.body).backgroundColor"
    browser.prefer("light")
    light = browser.run(colour)
    browser.prefer("dark")
    dark = browser.run(colour)
    assert light != dark
    browser.run("document.querySelector('#theme').click()")
    assert browser.run(colour) == light


def test_no_width_makes_the_page_itself_scroll_sideways(browser):
    for width in (380, 800, 1400):
        browser.call(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), width


def test_text_has_enough_contrast_in_both_themes(browser):
    """A contrast of 4.5, as the accessibility guidelines ask of text, for everything in the matrix and the legend."""
    ratio = """(() => {
      const part = (c) => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
      const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map((channel) => part(Number(channel)));
        return .2126 * r + .7152 * g + .0722 * b; };
      const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
        if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255,255,255)'; };
      const tooPale = {};
      for (const e of document.querySelectorAll('.square b, .badge, .kind, .banner h1, .rule p, .hint, #legend dd')) {
        const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
        const value = (a + .05) / (b + .05);
        if (value < 4.5) tooPale[e.className || e.parentElement.className] = value;
      }
      return tooPale;
    })()"""
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        assert browser.run(ratio) == {}, scheme


def test_on_paper_everything_is_there(browser):
    printed = base64.b64decode(browser.call("Page.printToPDF", {"printBackground": True})["data"])
    assert printed.startswith(b"%PDF")
    assert browser.run("[...document.querySelectorAll('details')].every(element => element.open)") is True
