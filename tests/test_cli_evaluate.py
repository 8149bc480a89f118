"""`nearly evaluate` from files to lines, JSON, pictures and exit codes."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from nearly.cli import exit_code
from nearly.cli.evaluate import evaluate, thresholds_of
from nearly.errors import MissingError, NearlyError, SettingsError, SinkError, SourceError
from nearly.sinks import write_table

FOUND = pa.table(
    {
        "id_a": ["a", "a", "d", "e"],
        "id_b": ["b", "c", "e", "f"],
        "similarity": [1.0, 0.9, 0.7, 0.31],
    }
)
#: b is a copy of a, so that b and c were found too.
GOLD = "id_a,id_b\nb,c\nc,a\nd,e\nx,y\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(FOUND, "pairs.parquet")
    (tmp_path / "gold.csv").write_text(GOLD)
    return tmp_path


def run(*arguments):
    """Exit code, stdout and stderr; what the library raises is raised."""
    ran = CliRunner().invoke(evaluate, arguments, standalone_mode=False)
    if ran.exception:
        raise ran.exception
    return ran.return_value, ran.stdout, ran.stderr


def run_json(*arguments):
    code, out, _ = run(*arguments, "--json")
    assert code == exit_code.CLEAN
    return json.loads(out)


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "jsonl", "json", "arrow", "csv.gz"])
def test_every_table_that_find_writes_can_be_evaluated(folder, ending):
    path = folder / f"found.{ending}"
    write_table(FOUND, FOUND.schema, path)
    pairs = run_json(str(path), "--gold", "gold.csv")["pairs"]
    assert (pairs["found"], pairs["gold"], pairs["true"]) == (5, 4, 3)
    assert pairs["precision"] == pytest.approx(3 / 5)
    assert pairs["recall"] == pytest.approx(3 / 4)
    assert pairs["f1"] == pytest.approx(6 / 9)


def test_clusters_can_be_evaluated(folder):
    (folder / "clusters.csv").write_text("id,cluster\na,0\nb,0\nc,0\nd,1\ne,1\nf,1\n")
    (folder / "true.csv").write_text("id,cluster\na,0\nb,0\nc,0\nd,1\ne,1\nf,2\n")
    scores = run_json("clusters.csv", "--gold", "true.csv")["clusters"]
    assert (scores["found"], scores["gold"]) == (2, 2)
    assert scores["precision"] == pytest.approx((3 + 5 / 3) / 6)
    assert scores["recall"] == 1


def test_a_query_renames_columns(folder):
    (folder / "odd.csv").write_text("one,two\na,c\n")
    gold = "SELECT one AS id_a, two AS id_b FROM 'odd.csv'"
    assert run_json("pairs.parquet", "--gold", gold)["pairs"]["true"] == 1


@pytest.mark.usefixtures("folder")
def test_a_sweep_cuts_the_same_pairs_again():
    sweep = run_json("pairs.parquet", "--gold", "gold.csv", "--sweep", "0.3:1:0.1")["sweep"]
    assert [point["threshold"] for point in sweep] == [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert [point["found"] for point in sweep] == [5, 4, 4, 4, 4, 3, 3, 1]
    assert [point["true"] for point in sweep] == [3, 3, 3, 3, 3, 2, 2, 0]


@pytest.mark.usefixtures("folder")
def test_bars_count_true_and_false_pairs():
    members = run_json("pairs.parquet", "--gold", "gold.csv")
    bars = {bar["low"]: (bar["true"], bar["false"]) for bar in members["bars"]}
    assert (bars[0.3], bars[0.7], bars[0.9], bars[0.95]) == ((0, 1), (1, 0), (2, 0), (0, 1))
    assert members["recall_bars"] == []


def test_recall_by_similarity_where_the_truth_has_similarities(folder):
    (folder / "exact.csv").write_text("id_a,id_b,similarity\na,c,0.9\nd,e,0.7\nd,f,0.71\n")
    bars = run_json("pairs.parquet", "--gold", "exact.csv")["recall_bars"]
    shares = {bar["low"]: bar["recall"] for bar in bars if bar["gold"]}
    assert shares == {0.7: 0.5, 0.9: 1.0}


@pytest.mark.usefixtures("folder")
def test_people_get_a_table_and_charts():
    code, out, err = run("pairs.parquet", "--gold", "gold.csv", "--sweep", "0.3:0.9:0.3")
    assert (code, err) == (exit_code.CLEAN, "")
    assert "by pair              0.6000       0.7500       0.6667" in out
    assert "0.90 to 0.95           2           0  ██" in out
    assert "0.6                       4       0.7500       0.7500       0.7500  best" in out


def test_ids_that_do_not_exist_are_listed_and_end_with_3(folder):
    (folder / "docs.csv").write_text("id,text\n" + "".join(f"{c},text\n" for c in "abcdef"))
    code, out, err = run("pairs.parquet", "--gold", "gold.csv", "--documents", "docs.csv")
    assert code == exit_code.INCOMPLETE
    assert "2 ids that no document has; their rows were left out: x, y" in err
    assert "6 documents" in out
    _, out, _ = run("pairs.parquet", "--gold", "gold.csv", "--documents", "docs.csv", "--json")
    assert json.loads(out)["unknown_ids"] == ["x", "y"]


def test_only_the_first_of_many_unknown_ids_are_named(folder):
    ghosts = [f"ghost{i}" for i in range(12)]
    (folder / "gold.csv").write_text("id_a,id_b\na,b\n" + "".join(f"a,{g}\n" for g in ghosts))
    (folder / "docs.csv").write_text("id,text\n" + "".join(f"{c},text\n" for c in "abcdef"))
    _, _, err = run("pairs.parquet", "--gold", "gold.csv", "--documents", "docs.csv")
    assert "12 ids" in err
    assert "ghost9, …" in err
    assert "ghost10" not in err


@pytest.mark.usefixtures("folder")
def test_a_sweep_that_begins_too_low_is_said():
    _, _, err = run("pairs.parquet", "--gold", "gold.csv", "--sweep", "0.1:0.9:0.1")
    assert "has 0.3100, and the sweep begins at 0.1" in err
    _, _, err = run("pairs.parquet", "--gold", "gold.csv", "--sweep", "0.3:0.9:0.1")
    assert err == ""


@pytest.mark.usefixtures("folder")
def test_a_sweep_needs_similarities():
    with pytest.raises(MissingError, match="has no column 'similarity'"):
        run("gold.csv", "--gold", "gold.csv", "--sweep", "0.3:0.9:0.1")


@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_plots(folder, ending):
    plot = f"plot.{ending}"
    run("pairs.parquet", "--gold", "gold.csv", "--sweep", "0.3:0.9:0.1", "--plot", plot)
    assert (folder / plot).stat().st_size > 1_000
    with pytest.raises(SinkError, match="exists"):
        run("pairs.parquet", "--gold", "gold.csv", "--plot", plot)


def test_nothing_to_draw(folder):
    with pytest.raises(MissingError, match="nothing to draw"):
        run("gold.csv", "--gold", "gold.csv", "--plot", "plot.svg")
    assert not (folder / "plot.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (["nowhere.csv", "--gold", "gold.csv"], MissingError, "there is no file or folder"),
        (["pairs.parquet", "--gold", "text.txt"], SourceError, "not one table"),
        (["pairs.parquet", "--gold", "ragged.csv"], NearlyError, "line 3"),
        (["pairs.parquet", "--gold", "gold.csv", "--id", "x"], SettingsError, "about documents"),
        (["pairs.parquet", "--gold", "gold.csv", "--plot", "a.gif"], SettingsError, "a.gif"),
    ],
)
def test_bad_input(folder, arguments, kind, message):
    (folder / "text.txt").write_text("a b")
    (folder / "ragged.csv").write_text("id_a,id_b\na,b\na,b,c\n")
    with pytest.raises(kind, match=message):
        run(*arguments)


def test_thresholds_are_the_numbers_that_are_meant():
    assert thresholds_of("0.3:0.95:0.05")[8] == 0.7
    assert thresholds_of("0.3:0.95:0.05")[-1] == 0.95
    assert thresholds_of("0.5:0.5:0.1") == [0.5]


IMPOSSIBLE = "0.3 a:b:c 0:1:0.1 0.5:1.1:0.1 0.9:0.5:0.1 0.1:1:0 0.1:1:0.0001 nan:1:0.1 0.1:1:1:2"


@pytest.mark.parametrize("given", IMPOSSIBLE.split())
def test_impossible_sweeps(given):
    with pytest.raises(SettingsError, match=r"like 0\.3:0\.95:0\.05"):
        thresholds_of(given)


def test_the_command_is_there():
    command = [sys.executable, "-m", "nearly", "evaluate", "--help"]
    assert "--sweep" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
