"""The report: true numbers, all data escaped, nothing from elsewhere, the same bytes every time."""

import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import nasty
import pyarrow as pa
import pytest
from nasty import LONG, OTHER

import nearly
from nearly.cli.program import run
from nearly.textbook.paper import containment, shingles
from nearly.view.cluster import largest_clusters
from nearly.view.label import Labels
from nearly.view.overview import bars_of, overview
from nearly.view.pair import most_similar, pair_views

NASTY = nasty.NASTY | {"\x00\x1b[31m": nasty.NASTY["图书馆二"] + "\x00"}
VOID = {"meta", "br"}
ALLOWED = re.compile(
    "html|head|meta|title|style|body|header|main|section|footer|article|nav|div|span|p|a|bdi|h[1-4]"
    "|ul|li|table|thead|tbody|tr|th|td|figure|figcaption|svg|g|rect|text|line|mark|ins"
)


class Page(HTMLParser):
    """A page as a browser reads it; what is not closed, or not allowed, fails."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words = ""
        self.is_number = False
        self.policy = ""
        self.style = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert ALLOWED.fullmatch(tag)
        given = dict(attrs)
        assert not [name for name in given if name.startswith("on") or name in ("style", "src")]
        if "id" in given:
            self.ids.append(given["id"] or "")
        if "href" in given:
            self.links.append(given["href"] or "")
        if given.get("http-equiv"):
            self.policy = given["content"] or ""
        self.is_number = (given.get("class") or "").startswith("n ")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["style"]:
            self.style += data
        elif not (self.open[-1:] == ["a"] and self.is_number):  # of a passage, amid a text
            self.words += data


def page_of(found: nearly.Found, path: Path, **options: object) -> Page:
    found.report(path, force=True, **options)  # type: ignore[arg-type]
    return Page(path.read_text("utf-8"))


@pytest.fixture(name="found", scope="module")
def _found() -> nearly.Found:
    found = nearly.find(NASTY, threshold=0.3)
    assert len(found) >= 5
    assert any(pair["similarity"] < 1 for pair in found.pairs.to_pylist())
    return found


def test_names_and_texts_are_data_whatever_they_hold(found: nearly.Found, tmp_path: Path) -> None:
    page = page_of(found, tmp_path / "r.html")
    signs = {c: chr(0x2400 + c) for c in range(32)} | {0x202E: "[U+202E]"}
    for name in set(found.clusters["id"].to_pylist()):
        assert name.translate(signs) in page.words
    for words in (
        "<script>alert('text')</script> ",
        "{{ 7*7 }}",
        "]]> <!--",
        "javascript:alert(3)",
    ):
        assert words in page.words
    assert "[2,000 characters not shown]" in page.words  # of 3,000 w, in one piece


def test_links_lead_inside_and_nothing_can_load(found: nearly.Found, tmp_path: Path) -> None:
    page = page_of(found, tmp_path / "r.html")
    assert len(page.ids) == len(set(page.ids))
    assert any(re.fullmatch(r"#pair-1-b1", link) for link in page.links)
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert all(link.startswith("#") for link in page.links)
    digest = b64encode(sha256(page.style.encode()).digest()).decode()
    assert page.policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in page.style
    assert "@import" not in page.style


def test_the_same_bytes_every_time(found: nearly.Found, tmp_path: Path) -> None:
    page_of(found, tmp_path / "a.html")
    page_of(nearly.find(NASTY, threshold=0.3), tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_names_are_hidden_on_demand(tmp_path: Path) -> None:
    texts = {"Ann Archer": LONG + " one", "Bob Baker": LONG + " two", "Cy Cook": LONG + " two"}
    page = page_of(nearly.find(texts, threshold=0.5), tmp_path / "r.html", anonymous=True)
    assert "Document 1" in page.words
    assert not re.search("Ann|Archer|Bob|Baker|Cy|Cook", (tmp_path / "r.html").read_text())
    shown = page_of(nearly.find(texts, threshold=0.5), tmp_path / "r.html")
    assert "Ann Archer" in shown.words


def corpus() -> dict[str, str]:
    """Chains, copies, an empty document, and one that is alone."""
    words = LONG.split()
    chain = {f"c{i}": " ".join([*words[i:], *OTHER.split()[:i]]) for i in range(6)}
    return chain | {
        "copy": chain["c0"],
        "empty": "",
        "alone": "nothing like it anywhere",
        "c9": LONG,
    }


def test_an_overview_counts_what_is_there() -> None:
    found = nearly.find(corpus(), threshold=0.5, method="exact")
    rows = found.pairs.to_pylist()
    glance = overview(found, Labels())
    assert glance.pairs == len(rows) == sum(bar.total for bar in glance.values) > 5
    for bar in glance.values:
        last = bar.high == 1.0
        held = [r for r in rows if bar.low <= r["similarity"] < bar.high + last]
        assert bar.total == len(held)
    sizes = Counter(Counter(found.clusters["cluster"].to_pylist()).values())
    assert {(int(b.low), int(b.high)): b.total for b in glance.sizes if b.total} == {
        (
            max(k for k in (2, 3, 4, 5, 10) if k <= size),
            min(k for k in (3, 4, 5, 10, 20) if k > size),
        ): n
        for size, n in sizes.items()
    }
    assert glance.clustered == found.clusters.num_rows
    assert (glance.copies, glance.empty) == (2, 1)
    assert glance.same == sum(r["similarity"] == 1 for r in rows) == 2
    counts = Counter(r[end] for end in ("id_a", "id_b") for r in rows)
    assert glance.sharers[0].pairs == max(counts.values()) > 1
    assert all(counts[each.name] == each.pairs for each in glance.sharers)


def test_bars_hold_thresholds_that_are_no_fiftieths() -> None:
    values = pa.array([0.31, 0.33, 0.9999, 1.0]).to_numpy()
    bars = bars_of(values, 0.31)
    assert (bars[0].low, bars[0].total, bars[-1].high, bars[-1].total) == (0.3, 1, 1.0, 2)
    assert sum(bar.total for bar in bars) == 4
    (only,) = bars_of(values[-1:], 1.0)
    assert only.total == 1
    assert sum(bar.total for bar in bars_of(values * 9, 0.0, is_distance=True)) == 4


def test_a_clusters_weakest_link_is_its_least_similar_pair() -> None:
    found = nearly.find(corpus(), threshold=0.5)
    (chain,) = largest_clusters(found, Labels(), 10, 3)
    least = min(found.pairs.to_pylist(), key=lambda r: r["similarity"])
    assert chain.weakest == least["similarity"] < 1
    assert chain.weakest_pair == (least["id_a"], least["id_b"])
    assert (chain.size, len(chain.members)) == (8, 3)


@pytest.mark.parametrize("cluster", ["components", "leader"])
def test_every_cluster_names_a_pair_of_its_own(cluster: str) -> None:
    texts = corpus() | {f"o{i}": OTHER + " and" * i for i in range(3)}
    found = nearly.find(texts, threshold=0.7, cluster=cluster)
    of = dict(zip(*found.clusters.select(["id", "cluster"]).to_pydict().values(), strict=True))
    views = list(largest_clusters(found, Labels(), 10, 100))
    assert len(views) == found.statistics.clusters > 1
    for view in views:
        assert view.weakest_pair is not None
        assert {of[name] for name in view.weakest_pair} == {view.number}
        assert set(view.weakest_pair) <= set(view.members)


def test_containments_are_exact() -> None:
    found = nearly.find(corpus(), threshold=0.5, k=4)
    some = most_similar(found, 100, same=False)
    views = list(pair_views(found, some, Labels()))
    assert len(views) > 5
    assert [v.value for v in views] == sorted((v.value for v in views), reverse=True)
    for view in views:
        a, b = (shingles(corpus()[name], "char", 4) for name in (view.name_a, view.name_b))
        assert view.overlap is not None
        assert Fraction(view.overlap.shared, view.overlap.first) == containment(a, b)
        assert Fraction(view.overlap.shared, view.overlap.second) == containment(b, a)
        assert view.overlap.of_first == float(containment(a, b))


def test_containments_are_left_out_where_they_would_not_agree() -> None:
    found = nearly.find(corpus(), threshold=0.3, common=0.4)
    assert found.statistics.common
    some = most_similar(found, 100, same=False)
    assert all(view.overlap is None for view in pair_views(found, some, Labels()))


def test_a_program_is_shown_line_by_line(tmp_path: Path) -> None:
    """In letters of one width, whatever its line ends are."""
    code = "int main() {\r\n\tint i = 0;\r\n\tprint(i);\r\n}\r\n"
    prose = "One line of prose,\rand another one;\rthe third ends it."
    for text, style in ((code, "text code"), (prose, "text")):
        found = nearly.find({"a": text, "b": text + " // end"}, threshold=0.3)
        page = page_of(found, tmp_path / "r.html")
        assert f'class="{style}"' in (tmp_path / "r.html").read_text("utf-8")
        assert "\u240d" not in page.words
        assert "\n".join(text.strip().splitlines()) in page.words


def test_what_is_cut_is_said(tmp_path: Path) -> None:
    found = nearly.find(corpus(), threshold=0.5)
    near = sum(r["similarity"] < 1 for r in found.pairs.to_pylist())
    page = page_of(found, tmp_path / "r.html", pairs=1)
    assert (
        f"1 of {near:,}, the most similar first. The others are in the saved result." in page.words
    )
    assert "pair-1" in page.ids
    assert "pair-2" not in page.ids
    none = page_of(found, tmp_path / "r.html", pairs=0)
    assert f"0 of {near:,}" in none.words


def test_a_report_of_nothing(tmp_path: Path) -> None:
    for texts in ({}, {"a": LONG, "b": OTHER}):
        page = page_of(nearly.find(texts, threshold=0.9), tmp_path / "r.html")
        assert "0 pairs in 0 clusters" in page.words
        assert "Similarity is no proof." in page.words


def test_alarms_say_what_stands_out() -> None:
    template = [f"{LONG} {OTHER} {i}" for i in range(12)]
    alarms = overview(nearly.find([*template, "", ""]), Labels()).alarms
    assert alarms[0].startswith("One cluster holds 12 of 14 documents (86%).")
    assert alarms[1] == "2 documents are empty, or too short to compare: they are in no pair."
    words = [f"w{i}" for i in range(60)]
    chain = [" ".join(words[i : i + 20]) for i in range(0, 40, 3)]
    (_, long) = overview(nearly.find(chain, threshold=0.6, unit="word", k=1), Labels()).alarms
    assert "a chain: of 91 pairs of its 14 documents only 13 are similar" in long
    assert overview(nearly.find([LONG, LONG]), Labels()).alarms == ()


def test_documents_that_share_an_id_are_told_apart(tmp_path: Path) -> None:
    table = pa.table({"id": ["x", "x", "y"], "text": [LONG + " one", LONG + " two", OTHER]})
    page = page_of(nearly.find(table, id="id", threshold=0.5), tmp_path / "r.html")
    assert "x (row 0)" in page.words
    assert "x (row 1)" in page.words
    hidden = page_of(
        nearly.find(table, id="id", threshold=0.5), tmp_path / "r.html", anonymous=True
    )
    assert "Document 1 and Document 2" in hidden.words


def test_a_distance_has_the_nearest_first(tmp_path: Path) -> None:
    found = nearly.find(corpus(), threshold=0.5)
    pairs = found.pairs.set_column(
        2, "distance", pa.array(range(found.pairs.num_rows), pa.float64())
    )
    far = replace(found, pairs=pairs, settings=replace(found.settings, within=99.0))
    page = page_of(far, tmp_path / "r.html")
    assert "Pairs by distance" in page.words
    assert "A distance is how far two documents are apart" in page.words
    values = [v.value for v in pair_views(far, most_similar(far, 3, same=False), Labels())]
    assert values == [1.0, 2.0, 3.0]


def test_what_is_contained_is_not_called_the_same(tmp_path: Path) -> None:
    texts = {"part": LONG, "whole": f"{LONG} {OTHER}"}
    found = nearly.find(texts, measure="containment", threshold=0.9)
    assert found.pairs["similarity"].to_pylist() == [1.0]
    page = page_of(found, tmp_path / "r.html")
    assert "same" not in page.ids
    assert "pair-1" in page.ids
    assert "the share of the smaller document that is in the larger" in page.words
    assert "share of what two documents have together" not in page.words


def test_vectors_have_no_word_about_shingles(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", "b"], "v": [[1.0, 2.0, 3.0], [1.0, 2.0, 3.1]]})
    page = page_of(nearly.find(table, id="id", vector="v", threshold=0.9), tmp_path / "r.html")
    assert "the cosine of the angle between their vectors" in page.words


def test_sets_of_items_are_shown_as_lines(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", "b"], "items": [["milk", "bread", "<b>"], ["milk", "bread"]]})
    page = page_of(nearly.find(table, items="items", threshold=0.5), tmp_path / "r.html")
    assert "milk" in page.words
    assert "<b>" in page.words


class TestGroups:
    """Pairs inside a group are left out."""

    @pytest.fixture(name="table")
    def _table(self, tmp_path: Path) -> Path:
        rows = [
            ("a1", "ann", LONG + " one"),
            ("a2", "ann", LONG + " two"),
            ("b1", "bob", LONG + " six"),
        ]
        rows += [("n1", "", OTHER + " one"), ("n2", "", OTHER + " two")]
        path = tmp_path / "essays.csv"
        path.write_text("id,student,text\n" + "".join(f"{','.join(row)}\n" for row in rows))
        return path

    def test_of_a_column(self, table: Path, tmp_path: Path) -> None:
        found = nearly.find(table, id="id", text="text", threshold=0.5)
        between = found.across("student")
        names = [(r["id_a"], r["id_b"]) for r in between.pairs.to_pylist()]
        assert ("a1", "a2") in [(r["id_a"], r["id_b"]) for r in found.pairs.to_pylist()]
        assert ("a1", "a2") not in names
        # Whoever has no group is in one alone.
        assert names == [("a1", "b1"), ("a2", "b1"), ("n1", "n2")]
        assert between.statistics.pairs == len(between) == len(names)
        assert between.top.num_rows == len(names)
        page = page_of(found, tmp_path / "r.html", group="student")
        assert "Pairs inside one student are left out." in page.words

    def test_pairs_across_terms_are_labelled(self, tmp_path: Path) -> None:
        terms = {"a": "2024", "b": "2025", "c": "2025", "d": None}
        texts = [LONG + f" {name * 3}" for name in terms]
        table = pa.table({"id": list(terms), "term": list(terms.values()), "text": texts})
        page = page_of(nearly.find(table, threshold=0.5), tmp_path / "r.html", term="term")
        assert page.words.count("across 2024 and 2025") == 4  # two pairs, each in both places
        assert page.words.count("within 2025") == 6
        assert page.words.count("within 2024") == 2

    def test_of_a_folder_and_from_a_saved_result(self, tmp_path: Path) -> None:
        for name, text in {"ann/1": LONG, "ann/2": LONG + " or so", "bob/1": LONG + " too"}.items():
            file = tmp_path / "essays" / f"{name}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        nearly.find(tmp_path / "essays", threshold=0.5).save(tmp_path / "found")
        found = nearly.open(tmp_path / "found")
        assert isinstance(found, nearly.Found)
        assert len(found) == 3
        names = [(r["id_a"], r["id_b"]) for r in found.across("folder").pairs.to_pylist()]
        assert names == [("ann/1.txt", "bob/1.txt"), ("ann/2.txt", "bob/1.txt")]

    def test_where_ids_repeat(self) -> None:
        table = pa.table(
            {"id": ["x"] * 3, "who": ["ann", "ann", "bob"], "text": [f"{LONG} {i}" for i in "012"]}
        )
        found = nearly.find(table, id="id", text="text", threshold=0.5)
        rows = [(r["row_a"], r["row_b"]) for r in found.across("who").pairs.to_pylist()]
        assert (len(found), rows) == (3, [(0, 2), (1, 2)])

    def test_of_no_column(self, table: Path) -> None:
        found = nearly.find(table, id="id", text="text", threshold=0.5)
        with pytest.raises(nearly.SettingsError, match=r"'studnt'.*student"):
            found.across("studnt")
        leaders = nearly.find(table, id="id", text="text", threshold=0.5, cluster="leader")
        with pytest.raises(nearly.SettingsError, match="leader"):
            leaders.across("student")


class TestCommand:
    """`nearly report`."""

    @pytest.fixture(name="saved")
    def _saved(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        lines = "".join(f"{text}\n" for text in corpus().values() if text)
        (tmp_path / "t.txt").write_text(lines)
        assert run(["find", "t.txt", "--lines", "-t", "0.5", "--save", "found", "--quiet"]) == 0
        return tmp_path / "found"

    def test_writes_what_the_library_writes(
        self, saved: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["report", "found", "-o", "r.html", "--pairs", "3", "-t", "0.6"]) == 0
        assert capsys.readouterr().err == "report written to r.html\n"
        opened = nearly.open(saved)
        assert isinstance(opened, nearly.Found)
        opened.at(0.6).report("other.html", pairs=3)
        assert Path("r.html").read_bytes() == Path("other.html").read_bytes()
        assert run(["report", "found", "-o", "r.html"]) == 2
        assert "exists" in capsys.readouterr().err

    def test_says_what_it_needs(self, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["report", "nowhere"]) == 2
        assert "not a saved result" in capsys.readouterr().err
        nearly.dedup("t.txt", lines=True).save("d")
        assert run(["report", "d"]) == 2
        assert "a report is about pairs" in capsys.readouterr().err
        assert not Path("report.html").exists()
        Path("t.txt").write_text("changed\n")
        assert run(["report", str(saved)]) == 2
        assert "changed after the result was saved" in capsys.readouterr().err
        assert not Path("report.html").exists()

    def test_takes_documents_that_moved(self, saved: Path) -> None:
        Path("t.txt").rename("u.txt")
        assert run(["report", str(saved)]) == 2
        assert run(["report", str(saved), "--source", "u.txt"]) == 0
        assert "quick brown fox jumps over" in Page(Path("report.html").read_text()).words

    def test_of_objects_has_no_texts(self, tmp_path: Path) -> None:
        nearly.find(corpus(), threshold=0.5).save(tmp_path / "f")
        opened = nearly.open(tmp_path / "f")
        assert isinstance(opened, nearly.Found)
        page = page_of(opened, tmp_path / "r.html")
        assert "The texts could not be read again." in page.words
