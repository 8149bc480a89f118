"""Journeys of a teacher in a real browser: groups and terms, submissions, texts of every script."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Visit, launched, served
from playwright.sync_api import Browser, expect
from test_web_upload import zipped
from web_desk import saved

from nearly.web.sample import ESSAYS

pytestmark = pytest.mark.slow

RIVER, DRAFT = ESSAYS["anna/river.txt"], ESSAYS["anna/river-draft.txt"]
BEES = ESSAYS["carla/bees.txt"]
#: Terms hold students; Anna hands in two drafts, and Ben has what Anna had the year before.
COURSE = {
    "2023/anna/river.txt": RIVER,
    "2023/anna/draft.txt": DRAFT,
    "2023/carla/bees.txt": BEES,
    "2024/ben/mine.txt": RIVER + " That is all.",
    "2024/dora/bees.txt": ESSAYS["hugo/moon.txt"],
    "2024/emil/moon.txt": ESSAYS["hugo/moon.txt"] + " The end.",
}
SUBMISSIONS = {
    "anna/week1/river.txt": RIVER,
    "anna/week2/bees.txt": BEES,
    "ben/all/mine.txt": BEES,
    "ben/copied.txt": RIVER,
    "carla/moon.txt": ESSAYS["hugo/moon.txt"],
}
ARABIC = (
    "يعمل المتجر من الساعة الثامنة صباحا حتى السادسة مساء كل يوم من أيام الأسبوع عدا يوم الجمعة. "
    "يرجى إحضار البطاقة معكم عند الزيارة الأولى، ويمكن الاتصال على الرقم 555-1234."
)
HEBREW = (
    "החנות פתוחה בכל יום משעה שמונה בבוקר ועד שש בערב, חוץ מיום שישי. נא להביא את הכרטיס בביקור "
    "הראשון. See https://example.org/hours for English."
)
JAPANESE = (
    "このパッケージには、単一値ポイントデータを科学的に解析するためのグラフィカルインターフェースが"
    "含まれます。基本的には原子プローブ断層撮影法向けですが、その他の用途にも応用できるかもしれません。"
)
LONG = (
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" + "x" * 400
)
SCRIPTS = {
    "ar/الأول.txt": ARABIC,
    "ar/الثاني.txt": ARABIC.replace("الثامنة", "التاسعة"),
    "עברית/ראשון": HEBREW,
    "עברית/שני": HEBREW.replace("שמונה", "תשע"),
    "日本語/一": JAPANESE,
    "日本語/二": JAPANESE.replace("科学的に", ""),
    "long-" + "n" * 150: LONG,
    "more-" + "n" * 150: LONG + " and some more words at its end",
    "Main.java": "class A {\r\n\tint i;\r\n\tvoid go() {\r\n\t\ti++;\r\n\t}\r\n}\r\n",
    "Other.java": "class B {\r\n\tint i;\r\n\tvoid go() {\r\n\t\ti++;\r\n\t}\r\n}\r\n",
}


@pytest.fixture(scope="module", name="browser")
def _browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


def packed(folder: Path, files: dict[str, str]) -> Path:
    path = folder / "course.zip"
    path.write_bytes(zipped(*((name, text.encode()) for name, text in files.items())))
    return path


def test_groups_and_terms(browser: Browser, tmp_path: Path) -> None:
    """Drafts of one student are left out, and what crosses terms is seen and can be filtered."""
    (tmp_path / "desk").mkdir()
    with served(tmp_path / "desk") as address:
        visit = Visit(browser, address)
        page = visit.page
        page.get_by_label("files").set_input_files(packed(tmp_path, COURSE))
        page.get_by_role("button", name="Send").click()
        page.get_by_label("least similarity").fill("0.5")
        page.get_by_label("group").fill("folder:2")
        page.get_by_label("term", exact=True).fill("folder")
        page.get_by_role("button", name="Find", exact=True).click()
        page.wait_for_url("**/overview")
        page.get_by_role("link", name="Pairs", exact=True).click()
        rows = page.locator("#pairs tbody tr")
        texts = rows.all_inner_texts()
        assert len(texts) == 3
        assert not any("draft" in text and "2023/anna/river" in text for text in texts)
        assert page.locator("#pairs .across").all_inner_texts() == ["2023 and 2024"] * 2
        page.get_by_label("terms").select_option("within")
        page.get_by_role("button", name="Show", exact=True).click()
        page.wait_for_url("**terms=within*")
        assert rows.count() == 1
        expect(rows).to_contain_text("2024/emil/moon.txt")
        page.get_by_role("link", name="Show all").click()
        page.get_by_role("combobox", name="group").select_option(label="2024/ben")
        page.get_by_role("button", name="Show", exact=True).click()
        page.wait_for_url("**group=*")
        assert rows.count() == 2
        rows.first.get_by_role("link").click()
        expect(page.locator("main")).to_contain_text("2023 and 2024")
        expect(page.locator("main")).to_contain_text("2024/ben")
        page.get_by_role("button", name="Hide names").click()
        expect(page.locator("main")).to_contain_text("Group ")
        assert "2024/ben" not in page.content()
        visit.end()


def test_submissions_of_many_files(browser: Browser, tmp_path: Path) -> None:
    """A folder of each student is one document, and every passage names its file."""
    (tmp_path / "desk").mkdir()
    with served(tmp_path / "desk") as address:
        visit = Visit(browser, address)
        page = visit.page
        page.get_by_label("files").set_input_files(packed(tmp_path, SUBMISSIONS))
        page.get_by_role("button", name="Send").click()
        page.get_by_label("least similarity").fill("0.5")
        page.get_by_label("a document is a").select_option("folder")
        page.get_by_role("button", name="Find", exact=True).click()
        page.wait_for_url("**/overview")
        page.get_by_role("link", name="Pairs", exact=True).click()
        rows = page.locator("#pairs tbody tr")
        assert rows.count() == 1
        rows.get_by_role("link").click()
        passages = page.get_by_role("region", name="passages by file").locator("tbody tr")
        named = [tuple(text.split("\t")[1:]) for text in passages.all_inner_texts()]
        assert ("week1/river.txt", "copied.txt") in named
        assert ("week2/bees.txt", "all/mine.txt") in named
        passages.first.get_by_role("link").click()
        number = page.evaluate("document.querySelector(':target').textContent")
        assert number == passages.first.locator("td").first.inner_text()
        visit.end()


@pytest.fixture(scope="module", name="scripts")
def _scripts(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:  # noqa: ARG001
    folder = tmp_path_factory.mktemp("scripts")
    saved(folder, SCRIPTS, threshold=0.4)
    with served(folder, "found") as address:
        yield address


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1000, 1920])
def test_texts_of_every_script_are_laid_out(
    browser: Browser, scripts: str, width: int, scheme: str
) -> None:
    visit = Visit(browser, scripts, scheme=scheme)
    page = visit.page
    page.set_viewport_size({"width": width, "height": 900})
    seen, named = set(), []
    for number in range(5):
        page = visit.go(f"/r/found/pair/{number}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        told = page.evaluate(SHAPES)
        seen.add((told["direction"], told["font"] == "one width"))
        named.append(told["heading"])
        assert told["overflowing"] == []
        assert told["sign"] is False
        assert told["marked"] > 0
        assert told["numbers"] == {"rtl": "right", "ltr": "left"}[told["direction"]]
        beside = told["tops"][0] == told["tops"][1]
        assert beside == (width > 700)
    assert sorted(named) == ["ltr"] * 4 + ["rtl"]  # Hebrew; an Arabic name begins with "ar/"
    assert seen == {("rtl", False), ("ltr", False), ("ltr", True)}
    visit.go("/r/found/pairs")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    excerpts = page.locator(".excerpt").evaluate_all(
        "each => each.map(e => getComputedStyle(e).direction)"
    )
    assert sorted(excerpts) == ["ltr"] * 6 + ["rtl"] * 4
    visit.end()


#: Of both texts: which way they run, their letters, what sticks out, and where numbers stand.
SHAPES = """() => {
    const texts = [...document.querySelectorAll(".text")];
    const style = getComputedStyle(texts[0]);
    const outside = (text) => [...text.querySelectorAll("*")].filter((each) => {
        const box = each.getBoundingClientRect(), room = text.parentElement.getBoundingClientRect();
        return box.width && (box.left < room.left - 1 || box.right > room.right + 1);
    }).map((each) => each.outerHTML.slice(0, 80));
    const number = document.querySelector("a.n").getBoundingClientRect();
    const room = texts[0].getBoundingClientRect();
    const nearer = number.left - room.left < room.right - number.right ? "left" : "right";
    return {
        direction: style.direction,
        heading: getComputedStyle(texts[0].previousElementSibling).direction,
        font: style.fontFamily.includes("monospace") ? "one width" : "any",
        overflowing: texts.flatMap(outside),
        sign: texts.some((text) => text.textContent.includes("\\u240d")),
        marked: document.querySelectorAll(".text mark").length,
        numbers: nearer,
        tops: texts.map((text) => text.getBoundingClientRect().top),
    };
}"""


def test_a_lesson_is_made_of_files(browser: Browser, scripts: str, tmp_path: Path) -> None:
    """As in the thesis: choose files, see both matrices and what stop words make of it."""
    for name, text in (("one", "the cat sat\non the mat"), ("two", "a cat sat\non a mat")):
        (tmp_path / f"{name}.txt").write_text(text)
    visit = Visit(browser, scripts)
    page = visit.go("/learn")
    page.get_by_label("or from files").set_input_files([tmp_path / "one.txt", tmp_path / "two.txt"])
    expect(page.locator("#files-say")).to_have_text("D1: one.txt, D2: two.txt")
    page.get_by_label("shingles of").select_option("word")
    page.get_by_label("length").fill("1")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url("**texts=the+cat*")
    row = page.get_by_role("region", name="similarities").locator("tbody tr")
    assert row.locator("td").all_inner_texts()[1:4] == ["4 of 6", "0.6667", "1.0000"]
    (tmp_path / "long.txt").write_text("x" * 5_000)
    page.get_by_label("or from files").set_input_files(tmp_path / "long.txt")
    expect(page.locator("#files-say")).to_contain_text("5000 characters")
    visit.end()
