"""`nearly mentions` from a table of texts to a truth that `nearly evaluate` takes."""

from pathlib import Path

import pyarrow.csv
import pytest
from click.testing import CliRunner

import nearly
from nearly.cli import exit_code
from nearly.cli.mentions import mentions
from nearly.errors import SinkError


def run(*arguments):
    ran = CliRunner().invoke(mentions, arguments, standalone_mode=False)
    if ran.exception:
        raise ran.exception
    return ran.return_value, ran.stderr


def test_groups_are_written(tmp_path):
    source, gold = tmp_path / "tweets.csv", tmp_path / "gold.csv"
    source.write_text("id,text\n7,@ann rain\n8,@bob rain\n9,snow\n")
    code, said = run(str(source), "-o", str(gold))
    assert code == exit_code.CLEAN
    assert "2 documents in 1 group" in said
    assert pyarrow.csv.read_csv(gold).to_pydict() == {"id": [7, 8], "cluster": [0, 0]}
    with pytest.raises(SinkError, match="exists"):
        run(str(source), "-o", str(gold))


def test_where_ids_repeat_documents_have_their_places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("id,text\n7,@ann rain in the hills\n7,snow\n")
    Path("b.csv").write_text("id,text\n8,\n7,@bob rain in the hills\n")
    run("a.csv", "b.csv", "-o", "gold.csv")
    places = {"id": [7, 7], "cluster": [0, 0], "file": ["a.csv", "b.csv"], "row": [0, 1]}
    assert pyarrow.csv.read_csv("gold.csv").to_pydict() == places
    found = nearly.find([Path("a.csv"), Path("b.csv")], threshold=0.5)
    found.write("pairs.csv")
    judged = nearly.evaluate("pairs.csv", gold="gold.csv")
    assert (judged.pairs.true, judged.pairs.recall) == (1, 1.0)


def test_no_groups_are_an_empty_table(tmp_path):
    source, gold = tmp_path / "tweets.csv", tmp_path / "gold.csv"
    source.write_text("id,text\n7,@ann rain\n")
    assert run(str(source), "-o", str(gold))[0] == exit_code.CLEAN
    assert gold.read_text().splitlines() == ["id,cluster"]


def test_bad_records_are_listed(tmp_path):
    source = tmp_path / "tweets.csv"
    source.write_text("id,text\n7,@ann rain\n8,\n")
    code, said = run(str(source), "-o", str(tmp_path / "gold.csv"))
    assert code == exit_code.INCOMPLETE
    assert "null text" in said
