"""The web app in a real browser: journeys, keys, light and dark, small screens, and no error."""

import contextlib
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Visit, launched, served
from nasty import NASTY
from playwright.sync_api import Browser, Error, Page, expect
from test_web_upload import zipped
from web_desk import saved

import nearly
from nearly.web.sample import ESSAYS

SCREENS = [
    "/",
    "/api",
    "/learn",
    "/r/found/overview",
    "/r/found/pairs",
    "/r/found/pair/0",
    "/r/found/clusters",
    "/r/found/cluster/0",
    "/r/found/tuner",
    "/r/found/clean",
    "/r/found/label?size=3",
    "/r/found/compare?with=other",
    "/run/sample-1/settings",
    "/run/sample-1",
]


@pytest.fixture(scope="module", name="browser")
def _browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module", name="address")
def _address(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("browser")
    saved(folder, NASTY)
    saved(folder, NASTY, "other", threshold=0.2, unit="word", k=1)
    with served(folder, "found", "other") as address:
        visit = Visit(browser, address)
        visit.page.get_by_role("button", name="Try it with a sample").click()
        expect(visit.page).to_have_url(visit.base + "/run/sample-1/settings")
        visit.end()
        yield address


def set_slider(page: Page, share: float) -> None:
    page.evaluate(
        """(share) => {
            const slider = document.querySelector("#cut");
            slider.value = Math.round(share * slider.max);
            slider.dispatchEvent(new Event("input"));
        }""",
        share,
    )


def test_a_threshold_is_dragged_without_an_error(browser: Browser, address: str) -> None:
    visit = Visit(browser, address)
    page = visit.go("/r/found/overview")
    pairs = int(page.locator("#cut-1").inner_text())
    assert pairs > 3
    set_slider(page, 1)
    assert int(page.locator("#cut-1").inner_text()) < pairs
    assert page.locator("#at").inner_text() == "1"
    assert page.locator("#see").get_attribute("href") == "/r/found/pairs?low=1"
    visit.end()


def test_bands_and_rows_are_moved(browser: Browser, address: str) -> None:
    """By slider, by number, and by the form alone: the same numbers."""
    visit = Visit(browser, address)
    page = visit.go("/r/found/tuner?bands=4&rows=4")
    before = page.locator("#says-recall").inner_text()
    curve = page.locator("polyline.curve").get_attribute("points")
    page.get_by_label("bands, to drag").focus()
    page.keyboard.press("End")
    expect(page.locator("#says-recall")).not_to_have_text(before)
    assert page.locator("polyline.curve").get_attribute("points") != curve
    page.get_by_role("spinbutton", name="rows in a band").fill("2")
    expect(page.locator("#says-command")).to_have_text("--bands 200 --rows 2 -t 0.5")
    drawn = page.locator("dl.facts").inner_text()
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url("**/tuner?bands=200&rows=2&threshold=0.5")
    assert page.locator("dl.facts").inner_text() == drawn
    visit.end()


def test_signatures_fill_row_by_row(browser: Browser, address: str) -> None:
    """By slider, played, and by links alone: the same matrix."""
    visit = Visit(browser, address)
    page = visit.go("/learn?step=0")
    matrix = page.locator("#matrix tbody")
    assert set(matrix.inner_text().split()) - {f"h{place}" for place in range(1, 13)} == {"∞", "…"}
    page.get_by_label("rows that were looked at").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#step-says")).to_contain_text("After row 1")
    by_script = matrix.inner_text(), page.locator("#step-says").inner_text()
    visit.go("/learn?step=1")
    page.get_by_role("link", name="next row").click()
    page.wait_for_url("**step=2*")
    assert (matrix.inner_text(), page.locator("#step-says").inner_text()) == by_script
    page.get_by_role("button", name="Play").click()
    expect(page.locator("#step-says")).to_contain_text("After row 3")
    page.get_by_role("button", name="Pause").click()
    visit.end()


@pytest.mark.slow
def test_the_teacher(browser: Browser, tmp_path: Path) -> None:
    """A zip of essays, one folder per student: run, look, mark, hide names, hand on."""
    essays = tmp_path / "essays.zip"
    essays.write_bytes(zipped(*((name, text.encode()) for name, text in ESSAYS.items())))
    (tmp_path / "desk").mkdir()
    with served(tmp_path / "desk") as address:
        visit = Visit(browser, address)
        page = visit.page
        page.get_by_label("files").set_input_files(essays)
        page.get_by_role("button", name="Send").click()
        page.get_by_label("least similarity").fill("0.5")
        page.get_by_label("group").fill("folder")
        expect(page.locator("main")).to_contain_text("10 files")
        page.get_by_role("button", name="Find", exact=True).click()
        page.wait_for_url("**/overview")
        expect(page.locator("main")).to_contain_text("empty, or too short")
        page.get_by_role("link", name="Pairs", exact=True).click()
        rows = page.locator("#pairs tbody tr")
        assert rows.count() > 3
        page.get_by_role("combobox", name="difference").select_option("words")
        page.get_by_role("button", name="Show", exact=True).click()
        page.wait_for_url("**difference=words*")
        expect(rows.first).to_contain_text("equal but for")
        page.get_by_role("link", name="Show all").click()
        rows.nth(1).get_by_role("link").click()
        expect(page.get_by_role("heading", name="Side by side")).to_be_visible()
        page.wait_for_load_state("networkidle")
        page.keyboard.press("s")
        expect(page.get_by_label("same", exact=True)).to_be_checked()
        page.wait_for_load_state("networkidle")
        page.keyboard.press("ArrowRight")
        expect(page.locator("main")).to_contain_text("pair 3 of")
        number = page.locator("a.n").first
        number.click()
        assert "#p-b" in page.url
        page.get_by_label("differences").check()
        page.get_by_role("button", name="Hide names").click()
        expect(page.get_by_role("button", name="Show names")).to_be_visible()
        assert "anna/" not in page.content()
        page.get_by_role("link", name="Pairs", exact=True).click()
        with page.expect_download() as waiting:
            page.get_by_role("link", name="Save them as CSV").click()
        text = Path(waiting.value.path()).read_text(encoding="utf-8")
        table = list(csv.DictReader(text.splitlines()))
        assert "same" in [row["mark"] for row in table]
        assert all(row["a"].startswith("Document ") for row in table)
        visit.end()


def rows_of(count: int) -> dict[str, str]:
    rng = np.random.default_rng(3)
    words = [f"word{number}" for number in range(5_000)]
    texts = {}
    for number in range(0, count, 2):
        drawn = rng.integers(0, 5_000, 12)
        text = " ".join(words[place] for place in drawn)
        texts[f"row-{number}"] = text
        texts[f"row-{number + 1}"] = text + (" more" if number % 3 == 0 else " ")
    return texts


@pytest.mark.slow
def test_the_engineer(browser: Browser, tmp_path: Path) -> None:
    """A saved result of 100,000 rows: the threshold, filters, a cluster, marks that stay."""
    texts = rows_of(100_000)
    table = pa.table({"id": list(texts), "text": list(texts.values())})
    pq.write_table(table, tmp_path / "rows.parquet")
    found = nearly.find(tmp_path / "rows.parquet", threshold=0.7)
    found.save(tmp_path / "found")
    with served(tmp_path, "found") as address:
        visit = Visit(browser, address)
        page = visit.go("/r/found/overview")
        expect(page.locator("main")).to_contain_text("100,000")
        set_slider(page, 0.9)
        at = float(page.locator("#at").inner_text())
        pairs = int(page.locator("#cut-1").inner_text().replace(",", ""))
        assert pairs == len(found.at(at).pairs)
        assert (
            int(page.locator("#cut-2").inner_text().replace(",", ""))
            == found.at(at).statistics.clusters
        )
        page.locator("#see").click()
        expect(page.locator("main")).to_contain_text(f"{pairs:,} pairs")
        page.get_by_label("name has").fill("row-4242")
        page.get_by_role("button", name="Show", exact=True).click()
        page.locator("#pairs tbody tr").first.get_by_role("link").click()
        page.get_by_role("link", name="its cluster").click()
        page.wait_for_url("**/cluster/*")
        page.locator("#heat").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#heat-says")).to_contain_text("row-")
        page.keyboard.press("Enter")
        page.wait_for_url("**/pair/*")
        page.get_by_label("note").fill("<b>seen</b>")
        page.get_by_label("unsure").check()
        page.get_by_role("button", name="Keep").click()
        visit.go("/r/found/pairs?mark=unsure")
        expect(page.locator("#pairs tbody")).to_contain_text("<b>seen</b>")
        visit.end()


@pytest.mark.slow
def test_the_learner(browser: Browser, tmp_path: Path) -> None:
    """The sample, run with words instead of characters, and again with other settings."""
    with served(tmp_path) as address:
        visit = Visit(browser, address)
        page = visit.page
        page.get_by_role("button", name="Try it with a sample").click()
        page.get_by_label("shingles of").select_option("word")
        page.get_by_role("textbox", name="length of a shingle").fill("3")
        page.get_by_label("least similarity").fill("0.5")
        page.get_by_role("button", name="Find", exact=True).click()
        page.wait_for_url("**/overview")
        first = page.locator("dl.facts").first.inner_text()
        visit.go("/run/sample-1/settings")
        assert page.get_by_label("shingles of").input_value() == "word"
        page.get_by_label("least similarity").fill("0.9")
        page.get_by_role("button", name="Find", exact=True).click()
        page.wait_for_url("**/overview")
        expect(page.locator("dl.facts").first).not_to_have_text(first)
        page.get_by_role("link", name="Tuner").click()
        page.wait_for_url("**/tuner")
        page.get_by_label("bands, to drag").fill("3")
        expect(page.locator("#says-command")).to_contain_text("--bands 3 ")
        visit.go("/r/sample-1/pair/0")
        page.get_by_role("link", name="How these two are compared").click()
        page.wait_for_url("**/learn?texts=*")
        expect(page.get_by_role("heading", name="5. Bands and buckets")).to_be_visible()
        with page.expect_download() as waiting:
            page.get_by_role("link", name="matrix as CSV").click()
        assert Path(waiting.value.path()).read_text(encoding="utf-8").startswith("row,shingle,D1")
        visit.end()


@pytest.mark.slow
def test_keys_are_enough(browser: Browser, address: str) -> None:
    visit = Visit(browser, address)
    page = visit.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"

    def tab_to(words: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent").strip() == words:
                return
        raise AssertionError(words)

    tab_to("found")
    page.keyboard.press("Enter")
    page.wait_for_url("**/overview")
    page.locator("#cut").focus()
    before = page.locator("#at").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("#at").inner_text() != before
    tab_to("See these pairs")
    page.keyboard.press("Enter")
    page.wait_for_url("**/pairs?low=*")
    visit.go("/r/found/pair/0")

    def press(key: str) -> None:
        url = page.url
        page.keyboard.press(key)
        page.wait_for_function("url => location.href !== url", arg=url)
        page.wait_for_load_state()

    seen = []
    while page.locator("main a[rel=prev]").count():
        press("ArrowLeft")
    while page.locator("main a[rel=next]").count():
        seen.append(page.url)
        press("ArrowRight")
    assert len(set(seen)) > 3
    visit.end()


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken",
    [
        "const s = document.createElement('script'); s.textContent = '1'; document.body.append(s)",
        "document.body.setAttribute('style', 'color: red')",
        "document.body.append(Object.assign(new Image(), { src: 'data:image/gif;base64,R0lGOD' }))",
        "fetch('http://127.0.0.2/').catch(() => 0)",
    ],
)
def test_what_the_policy_forbids_fails_a_visit(browser: Browser, address: str, broken: str) -> None:
    visit = Visit(browser, address)
    with contextlib.suppress(Error):
        visit.page.evaluate(broken)
    visit.page.wait_for_function("window.broken.length")
    with pytest.raises(AssertionError):
        visit.end()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_screen_is_accessible_and_fits_a_phone(
    browser: Browser, address: str, scheme: str
) -> None:
    visit = Visit(browser, address, scheme=scheme)
    for path in SCREENS:
        visit.page.set_viewport_size({"width": 1000, "height": 800})
        page = visit.go(path)
        told = Axe().run(page).response["violations"]
        grave = [each for each in told if each["impact"] in ("serious", "critical")]
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in grave] == [], path
        page.set_viewport_size({"width": 400, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, path
    visit.end()


@pytest.mark.slow
def test_nothing_of_a_document_runs(browser: Browser, address: str) -> None:
    visit = Visit(browser, address)
    visit.page.on("dialog", lambda dialog: visit.errors.append(dialog.message))
    for path in [*SCREENS, "/r/found/pair/1", "/r/found/pair/2", "/r/found/cluster/1"]:
        page = visit.go(path)
        assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0
    visit.end()
