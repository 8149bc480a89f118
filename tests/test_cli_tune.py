"""`nearly tune` from inside: what it prints, draws, warns of and refuses."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from corpora import clustered

from nearly.cli.curve import curve_lines
from nearly.cli.program import run
from nearly.tuning.banding import Banding, areas

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(name="call")
def _call(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run(["tune", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call


@pytest.fixture(name="corpus")
def _corpus(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    lines = (json.dumps({"id": i, "text": text}) for i, text in enumerate(clustered()))
    path.write_text("\n".join(lines))
    return path


def test_goals_are_answered_by_the_mathematics_alone(call: Run) -> None:
    code, out, err = call("--threshold", 0.8, "--recall", 0.99)
    assert (code, err) == (0, "")
    assert "for 1,000,000 documents about which nothing is known" in out
    assert "26 x 8               99.08%" in out
    assert "recall at the threshold   0.9908" in out


def test_columns_stay_apart_however_many_candidates_there_are(call: Run) -> None:
    code, out, _ = call("--measure", "cosine", "-t", "0.95")
    first = out.splitlines()[3].split()
    assert code == 0
    assert int(first[5].replace(",", "")) > 10**10
    assert first[6].endswith("%")


def test_a_corpus_is_surveyed(call: Run, corpus: Path) -> None:
    code, out, err = call(corpus, "-t", 0.7, "--sample", 60)
    assert code == 0
    assert f"in {len(clustered())} distinct documents" in out
    assert "MiB" in out
    assert f"{len(clustered())} documents" in err
    assert "it joins exactly, for the corpus is small" in err


def test_a_threshold_is_proposed_where_there_is_a_valley(call: Run, corpus: Path) -> None:
    _, out, _ = call(corpus, "--sample", 1_000)
    plain = json.loads(call(corpus, "--sample", 1_000, "--json")[1])
    valley = plain["valley"]
    assert min(valley["below"], valley["above"]) >= 2 * valley["pairs"]
    assert f"proposed threshold {valley['threshold']:g}: fewest pairs lie from" in out
    marked = [line for line in out.splitlines() if line.endswith("< valley")]
    assert len(marked) == round((valley["high"] - valley["low"]) * 20)
    assert marked[0].startswith(f"{valley['low']:.2f} to")


def test_no_threshold_is_proposed_where_there_is_no_valley(call: Run, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n".join(f"stranger {i**5} {i**7}" for i in range(30)))
    assert "no threshold is proposed" in call("t.txt", "--lines")[1]


def test_it_is_said_why_find_takes_other_bands(call: Run, corpus: Path) -> None:
    _, out, _ = call(corpus, "--sample", 1_000)
    best = next(line for line in out.splitlines() if line[:1].isdigit()).split()[:3]
    bands = " ".join(best)
    assert bands != "26 x 8"
    assert "where nearly find hashes, it takes 26 x 8: the cheapest for a recall of 0.99 on" in out
    assert f"it chooses before it reads; {bands} is the cheapest for this corpus." in out
    assert "where nearly find hashes" not in call("-t", 0.8)[1], "these are the same"
    _, out, _ = call("--chooser", "nearest", "--permutations", 100)
    assert "follows the rule of the papers" in out


def test_one_setting_is_explained_as_json(call: Run) -> None:
    code, out, _ = call("--bands", 20, "--rows", 5, "--at", 0.6, "--json")
    plain = json.loads(out)
    own = (1 / 20) ** (1 / 5)
    beside = areas(Banding(20, 5).family, own)
    assert code == 0
    assert (plain["bands"], plain["rows"], plain["threshold"]) == (20, 5, own)
    assert plain["false_positive_area"] == beside.false_positive
    assert plain["false_negative_area"] == beside.false_negative
    assert [0.5, pytest.approx(0.4701, abs=1e-4)] in plain["curve"]
    assert [point["similarity"] for point in plain["points"]] == [0.6]


def test_areas_at_another_threshold(call: Run) -> None:
    plain = json.loads(call("--bands", 20, "--rows", 5, "-t", 0.3, "--json")[1])
    assert plain["false_negative_area"] == areas(Banding(20, 5).family, 0.3).false_negative


def test_a_corpus_as_json(call: Run, corpus: Path) -> None:
    plain = json.loads(call(corpus, "-t", 0.7, "--sample", 60, "--json")[1])
    assert plain["pairs"]["low"] <= plain["pairs"]["value"] <= plain["pairs"]["high"]
    assert plain["sampled"] <= 60
    assert all(choice["memory"] > 0 for choice in plain["choices"])


def test_the_papers_rule_says_aloud_what_it_misses(call: Run) -> None:
    code, out, err = call("-t", 0.7, "--permutations", 100, "--chooser", "nearest")
    assert code == 0
    assert "10 bands of 10 rows" in out
    assert "find only 24.8% of the pairs at 0.7" in err


def test_pictures(call: Run, corpus: Path, tmp_path: Path) -> None:
    assert call(corpus, "-t", 0.7, "--plot", "curve.svg")[0] == 0
    assert ET.parse(tmp_path / "curve.svg").getroot().tag.endswith("svg")  # noqa: S314
    assert call("-t", 0.7, "--plot", "curve.html")[0] == 0
    assert "<svg" in (tmp_path / "curve.html").read_text()
    assert call("-t", 0.7, "--plot", "curve.png")[0] == 0
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_skipped_records_are_listed(call: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"id": 1, "text": "a"}\n{"id": 2, "text": null}\n{"id": 3, "text": "c"}'
    )
    code, _, err = call("a.jsonl", "--skipped", "skipped.csv")
    assert code == 3
    assert "null text" in err
    assert "null text" in (tmp_path / "skipped.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--recall", "1.0"], "--method exact"),
        (
            ["-t", "0.5", "--permutations", "4"],
            "4 permutations reach 0.9305 at most. Give at least",
        ),
        (["-t", "0"], "threshold is 0.0"),
        (["-t", "1.01"], "threshold is 1.01"),
        (["--bands", "4"], "bands is 4 and rows is None"),
        (["--bands", "0", "--rows", "3"], "bands is 0"),
        (["--at", "1.5"], "--at is 1.5; similarity runs from 0 to 1"),
        (["--plot", "curve.pdf"], "curve.pdf is no picture"),
        (["--plot", "nowhere/curve.svg"], "there is no folder"),
        (["--documents", "1"], "documents is 1"),
        (["nowhere.csv"], "nowhere.csv"),
        (["docs.jsonl", "--sample", "0"], "sample is 0; draw at least 1"),
        (["one.txt"], "1 distinct document"),
    ],
)
def test_bad_input(
    call: Run, corpus: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    assert corpus.exists()
    (tmp_path / "one.txt").write_text("a single document")
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_picture_that_exists_is_kept(call: Run, tmp_path: Path) -> None:
    (tmp_path / "curve.svg").write_text("mine")
    assert call("--plot", "curve.svg")[0] == 2
    assert (tmp_path / "curve.svg").read_text() == "mine"
    assert call("--plot", "curve.svg", "--force")[0] == 0


def test_the_terminal_shows_what_is_found_in_vain_and_missed() -> None:
    lines = list(curve_lines(Banding(10, 10), 0.7, [(0.0, 0.9), (0.9, 0.1)], is_assumed=False))
    top, lowest = lines[0].partition("┤")[2], lines[9].partition("┤")[2]
    assert len(top) == len(lowest) == 60
    assert top.count("░") > 0
    assert set(top[:42]) == {" "}
    assert "▒" in lowest[:42]
    assert set(lowest[42:]) == {"█"}
    assert lines[10].index("┴") == lines[0].index("┤") + 1 + 42
    bars = lines[11][10:70]
    assert [i for i, bar in enumerate(bars) if bar != " "] == [0, 54]
    assert bars[0] == "█" > bars[54]
