"""The command line from inside: options, outputs, exit codes, and the page that documents them."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest

from nearly.cli.option import size
from nearly.cli.program import COMMANDS, nearly, run
from nearly.saved import open as opened

ROOT = Path(__file__).parent.parent
LONG = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(name="call")
def _call(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call


@pytest.fixture(name="table")
def _table(tmp_path: Path) -> Path:
    rows = [("a", LONG), ("b", LONG + "!"), ("c", LONG), ("d", "something else entirely")]
    path = tmp_path / "docs.csv"
    path.write_text("id,text\n" + "".join(f"{name},{text}\n" for name, text in rows))
    return path


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "one.txt").write_text(LONG)
    (folder / "deep" / "two.txt").write_text(LONG)
    (folder / "three.txt").write_text("something else entirely")
    return folder


def test_pairs_are_shown_and_summed_up(call: Run, table: Path) -> None:
    code, out, err = call("find", table)
    assert code == 0
    first, second, third = out.splitlines()
    assert first.split()[:2] == ["0.9876", "a"]
    assert second.endswith("for a while[!]")
    assert third.strip() == "equal but for punctuation"
    assert "4 documents, 1 exact copy\n2 pairs in 1 cluster" in err
    assert "joined exactly (the corpus is small): all pairs from 0.8 upwards" in err


def test_columns_that_were_guessed_are_said(call: Run, table: Path) -> None:
    _, _, err = call("find", table)
    assert "guessed columns: text (text), id (id); --text and --id would name others" in err
    _, _, err = call("find", table, "--text", "text")
    assert "guessed columns: id (id); --id would name others" in err
    _, _, err = call("find", table, "--text", "text", "--id", "id")
    assert "guessed" not in err


def test_a_column_that_may_be_the_id_is_hinted_at(call: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"ticket,text\nT-1,{LONG}\nT-2,{LONG}\n")
    _, out, err = call("find", "a.csv", "--json")
    assert "ids are row numbers; ticket looks like an id: --id 'ticket' takes it" in err
    assert json.loads(out)["statistics"]["source"]["likely_id"] == "ticket"


def test_several_text_columns_are_joined(call: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"title,abstract\nx,{LONG}\ny,{LONG}\n")
    found = [
        json.loads(call("find", "a.csv", *texts, "--json", "--quiet")[1])["pairs"]
        for texts in (["--text", "title", "--text", "abstract"], ["--text", "title,abstract"])
    ]
    assert found[0] == found[1]
    assert 0.8 < found[0][0]["similarity"] < 1


def test_json_is_whole_and_exact(call: Run, table: Path) -> None:
    code, out, _ = call("find", table, "--json", "--k", 5)
    found = json.loads(out)
    assert code == 0
    assert list(found) == ["pairs", "clusters", "skipped", "statistics", "settings"]
    assert found["pairs"][0] == {"id_a": "a", "id_b": "b", "similarity": 80 / 81}
    assert found["settings"]["text"]["k"] == 5
    assert found["skipped"] == []


def test_json_of_nothing_found(call: Run, table: Path) -> None:
    _, out, _ = call("find", table, "--json", "-t", 1, "--id", "id", "--raw", "--quiet")
    assert [p["similarity"] for p in json.loads(out)["pairs"]] == [1.0]


def test_files_instead_of_a_table(call: Run, table: Path, tmp_path: Path) -> None:
    code, out, err = call("find", table, "-o", "p.parquet", "--clusters", "c.jsonl")
    assert (code, out) == (0, "")
    assert "written to p.parquet" in err
    assert pq.read_table(tmp_path / "p.parquet").column_names == ["id_a", "id_b", "similarity"]
    assert len((tmp_path / "c.jsonl").read_text().splitlines()) == 3


def test_pairs_say_what_differs_on_request(call: Run, table: Path) -> None:
    code, _, _ = call("find", table, "-o", "p.csv", "--difference")
    assert code == 0
    assert Path("p.csv").read_text().splitlines()[0].endswith("difference")
    kinds = {line.rpartition(",")[2] for line in Path("p.csv").read_text().splitlines()[1:]}
    assert {kind.strip('"') for kind in kinds} == {"punctuation", "same text"}


@pytest.mark.parametrize(
    ("texts", "options", "shown", "words"),
    [
        ("abbb", "", 1, "3 pairs in 1 cluster; the only one that is no exact copy is shown, -o"),
        ("abcc", "--top 2", 2, "4 pairs in 1 cluster; 2 of the most similar near ones are shown,"),
        ("abcc", "--all-pairs", 3, "6 pairs in 1 cluster; the 3 near ones are shown, -o FILE"),
        ("abc", "--top 2", 2, "3 pairs in 1 cluster; 2 of the most similar are shown, -o FILE"),
        ("aaa", "--top 1", 1, "2 pairs in 1 cluster; all are exact copies, 1 is shown, -o FILE"),
        ("abcc", "--top 0", 0, "4 pairs in 1 cluster; none are shown, -o FILE writes them all"),
        ("abc", "", 3, "3 pairs in 1 cluster\n"),
    ],
)
def test_the_summary_says_truly_which_pairs_are_shown(
    call: Run, tmp_path: Path, texts: str, options: str, shown: int, words: str
) -> None:
    (tmp_path / "t.txt").write_text("".join(f"{LONG} {letter}\n" for letter in texts))
    code, out, err = call("find", "t.txt", "--lines", *options.split())
    assert code == 0
    assert words in err
    assert len(out.splitlines()) == 3 * shown


def test_pairs_next_to_the_threshold_are_shown(call: Run, tmp_path: Path) -> None:
    lines = [f"{LONG} {end}" for end in ("one", "two", "and more", LONG.upper()[:30][::-1])]
    (tmp_path / "t.txt").write_text("\n".join(lines))
    code, out, _ = call("find", "t.txt", "--lines", "--around", "--top", 2, "-t", 0.8)
    assert code == 0
    line = "--- threshold 0.8: 2 of the least similar pairs above, 2 near misses below ---"
    above, below = out.split(line)
    assert out.endswith("near misses of all 4 distinct documents, down to half the threshold ---\n")
    numbers = [[float(n) for n in re.findall(r"^0\.\d+", side, re.M)] for side in (above, below)]
    assert numbers == [sorted(side, reverse=True) for side in numbers]
    assert [len(side) for side in numbers] == [2, 2]
    assert min(numbers[0]) >= 0.8 > max(numbers[1])
    found = json.loads(call("find", "t.txt", "--lines", "--around", "--top", 2, "--json")[1])
    shown = [[row["similarity"] for row in found["around"][side]] for side in ("above", "below")]
    assert shown[0] == sorted(row["similarity"] for row in found["pairs"])[:2]
    assert (found["around"]["searched"], found["around"]["documents"]) == (4, 4)


def test_a_whole_result_is_saved(call: Run, table: Path) -> None:
    assert call("find", table, "--save", "kept", "--quiet")[0] == 0
    assert repr(opened("kept")) == "Found: 2 pairs in 1 cluster of 4 documents"
    assert call("find", table, "--save", "kept", "--quiet")[0] == 2
    assert call("find", table, "--save", "kept", "--quiet", "--force")[0] == 0


def test_compare_says_how_k_was_chosen(call: Run, folder: Path) -> None:
    files = (folder / "one.txt", folder / "three.txt")
    assert "by the length of these two texts" in call("compare", *files)[1]
    assert "by the length of these two texts" not in call("compare", *files, "--k", 5)[1]


def test_quiet_says_nothing(call: Run, table: Path) -> None:
    assert call("find", table, "-o", "p.csv", "--quiet") == (0, "", "")


def test_an_output_that_exists_is_refused_before_the_work(call: Run, table: Path) -> None:
    Path("p.csv").write_text("mine")
    code, _, err = call("find", table, "-o", "p.csv")
    assert code == 2
    assert err == "nearly: 'p.csv' exists; give another name, or --force to overwrite\n"
    assert Path("p.csv").read_text() == "mine"
    assert call("find", table, "-o", "p.csv", "--force")[0] == 0
    assert Path("p.csv").read_text() != "mine"


def test_found_pairs_can_fail_a_run(call: Run, table: Path) -> None:
    assert call("find", table, "--fail-on-found", "--quiet")[0] == 1
    assert call("find", table, "--fail-on-found", "--quiet", "--text", "id")[0] == 0


def test_skipped_records_are_listed_and_win_over_found_pairs(call: Run, folder: Path) -> None:
    for number in range(12):
        (folder / f"{number:02}.bin").write_bytes(b"\0")
    code, _, err = call("find", folder, "--quiet", "--fail-on-found", "--skipped", "s.csv")
    assert code == 3
    assert err.splitlines()[0] == "skipped 00.bin: binary: a NUL byte at offset 0"
    assert err.splitlines()[10:] == ["skipped 2 more; all are in s.csv"]
    assert len(Path("s.csv").read_text().splitlines()) == 13


def test_strict_makes_them_fatal(call: Run, folder: Path) -> None:
    (folder / "x.bin").write_bytes(b"\0")
    code, out, err = call("find", folder, "--strict")
    assert (code, out) == (3, "")
    assert err.startswith("nearly: x.bin: binary")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["find", "nowhere.csv"], 2, "there is no file or folder 'nowhere.csv'"),
        (["find", "docs.csv", "--text", "body"], 2, "no column 'body'"),
        (["find", "docs.csv", "-t", "0"], 2, "threshold is 0.0"),
        (["find", "docs.csv", "-t", "1.5"], 2, "threshold is 1.5"),
        (["find", "docs.csv", "--k", "0"], 2, "k is 0"),
        (["find", "docs.csv", "--k", "many"], 2, "k is 'many'"),
        (["find", "docs.csv", "--bands", "3"], 2, "bands is 3 and rows is None"),
        (["find", "docs.csv", "--raw", "--stop-words", "english"], 2, "leave one of them out"),
        (["find", "docs.csv", "--stop-words", "nowhere"], 2, "no stop words file nowhere"),
        (["find", "docs.csv", "--memory", "much"], 2, "'much' is no size"),
        (["find", "docs.csv", "--temporary", "nowhere"], 2, "'nowhere' does not exist"),
        (["find", "docs.csv", "--threads", "0"], 2, "--threads"),
        (["find", "docs.csv", "--unit", "byte"], 2, "'byte' is not one of"),
        (["find", "docs.csv", "-o", "p.doc"], 2, "'p.doc'"),
        (["find", "docs.csv", "-o", "nowhere/p.csv"], 2, "no folder"),
        (["find", "SELECT nonsense FROM nowhere"], 2, "the query failed"),
        (["find", "cut.parquet"], 3, "cut.parquet"),
        (["find", "empty", "--glob", "*.txt"], 2, "no file"),
        (["find", "docs.csv", "--top", "2kB"], 2, "'2kB' is not a valid whole number"),
        (["find"], 2, "Missing argument 'SOURCE...'"),
        (["find", "docs.csv", "--nonsense"], 2, "there is no option '--nonsense'"),
        (["fnd"], 2, "No such command 'fnd'; did you mean 'find'?"),
        (["find", "docs.csv", "--treshold", "1"], 2, "'--treshold'; did you mean '--threshold'?"),
        (["find", "docs.csv", "--memory", "2"], 2, "'2' is 2 bytes, and the least is 1MB"),
        (["find", "SELEC * FROM 'docs.csv'"], 2, "looks like a SQL query"),
        (["find", "docs.csv", "--save", "folder"], 2, "not a saved result"),
        (["dedup", "docs.csv"], 2, "there is no output"),
        (["dedup", "docs.csv", "-o", "c.csv", "--keep", "best"], 2, "keep is 'best'"),
        (["dedup", "docs.csv", "-o", "c.csv", "--keep", "max:n"], 2, "no column 'n'"),
        (["dedup", "folder", "-o", "c.csv"], 2, "ends in .json"),
        (["dedup", "folder", "--keep", "newest:date"], 2, "no column 'date'"),
        (["apply", "nowhere.json"], 2, "there is no plan 'nowhere.json'"),
        (["apply", "docs.csv"], 2, "'docs.csv' is not a plan"),
        (["compare", "docs.csv", "nowhere"], 2, "there is no file 'nowhere'"),
        (["compare", "docs.csv", "cut.parquet"], 3, "cut.parquet: binary"),
        (["compare", "docs.csv", "folder"], 3, "folder cannot be read"),
        (["completion", "csh"], 2, "'csh' is not one of"),
    ],
)
@pytest.mark.usefixtures("table", "folder")
def test_a_mistake_is_one_line_and_an_exit_code(
    call: Run, arguments: list[str], code: int, message: str
) -> None:
    Path("empty").mkdir()
    Path("cut.parquet").write_bytes(b"PAR1\0\0")
    before = set(Path().rglob("*"))
    found, out, err = call(*arguments)
    assert (found, out) == (code, "")
    assert re.fullmatch(r"nearly: [^\n]+\n", err)
    assert message in err
    assert set(Path().rglob("*")) == before


def test_a_clean_copy(call: Run, table: Path) -> None:
    code, out, err = call(
        "dedup", table, "-o", "clean.csv", "--removed", "r.csv", "--keep", "longest"
    )
    assert (code, out) == (0, "")
    assert "2 documents removed from 1 cluster; 2 rows written to clean.csv" in err
    assert [line[0] for line in Path("clean.csv").read_text().splitlines()] == ["i", "b", "d"]
    assert Path("r.csv").read_text().splitlines()[1].startswith("a,b,0.98")


def test_dedup_as_json(call: Run, table: Path) -> None:
    _, out, _ = call("dedup", table, "-o", "clean.csv", "--json")
    assert [removed["survivor"] for removed in json.loads(out)["removed"]] == ["a", "a"]


def test_all_outputs_or_none(call: Run, table: Path) -> None:
    code, _, err = call("dedup", table, "-o", "same.csv", "--removed", "same.csv")
    assert code == 2
    assert "two outputs" in err
    assert not Path("same.csv").exists()


def test_a_folder_is_planned_shown_and_cleaned(call: Run, folder: Path) -> None:
    (folder / "link.txt").symlink_to("one.txt")
    code, _, err = call("dedup", folder)
    assert code == 0
    assert "1 file to remove" in err
    assert "1 symbolic link left alone" in err
    code, out, err = call("apply", "nearly-plan.json")
    assert (code, out) == (0, "delete  one.txt  (1.0000 like deep/two.txt)\n")
    assert "1 file (85 bytes) would be deleted; --yes does it" in err
    assert (folder / "one.txt").exists()
    code, _, err = call("apply", "nearly-plan.json", "--yes", "--trash", "bin")
    assert (code, err) == (0, "1 file (85 bytes) moved to bin\n")
    assert not (folder / "one.txt").exists()
    assert Path("bin/one.txt").read_text() == LONG


def test_what_changed_is_left_alone(call: Run, folder: Path) -> None:
    call("dedup", folder, "-o", "plan.json")
    (folder / "one.txt").write_text("new")
    code, out, err = call("apply", "plan.json", "--yes")
    assert code == 3
    assert out == "keep    one.txt  (the file changed since the plan was made)\n"
    assert "0 files (0 bytes) deleted, 1 left alone" in err
    assert (folder / "one.txt").read_text() == "new"


def test_names_with_newlines_survive_a_plan(call: Run, folder: Path) -> None:
    (folder / "one.txt").rename(folder / "o\nn\x1be.txt")
    call("dedup", folder)
    code, out, _ = call("apply", "nearly-plan.json", "--yes")
    assert code == 0
    assert out.startswith(r"delete  o\nn\x1be.txt")
    assert not (folder / "o\nn\x1be.txt").exists()


def test_two_texts_side_by_side(call: Run, folder: Path) -> None:
    code, out, _ = call("compare", folder / "one.txt", folder / "deep" / "two.txt", "--k", 5)
    assert code == 0
    assert re.search(r"^Jaccard similarity +1\.0000$", out, re.MULTILINE)
    assert "(80 char 5-shingles)" in out


def test_comparisons_are_collected(call: Run, folder: Path) -> None:
    odd = folder / "o\td\nd"
    odd.write_text(LONG)
    for _ in range(2):
        code, out, _ = call("compare", odd, folder / "one.txt", "--append", "r.tsv", "--json")
    assert code == 0
    header, first, second = Path("r.tsv").read_text().split("\n")[:-1]
    row = dict(zip(header.split("\t"), first.split("\t"), strict=True))
    assert first == second
    assert row["name_a"].endswith(r"o\td\nd")
    comparison = json.loads(out)
    assert float(row["estimate"]) == comparison["estimate"] == 1.0
    assert set(row) == set(comparison) - {"difference"}
    assert comparison["difference"]["kind"] == "same text"


@pytest.mark.parametrize("text", ["mine\n", "x"])
def test_another_table_is_not_added_to(call: Run, folder: Path, text: str) -> None:
    Path("r.tsv").write_text(text)
    code, _, err = call("compare", folder / "one.txt", folder / "one.txt", "--append", "r.tsv")
    assert code == 2
    assert "is not a table of comparisons" in err
    assert Path("r.tsv").read_text() == text


def test_a_line_that_was_cut_is_not_continued(call: Run, folder: Path) -> None:
    arguments = ("compare", folder / "one.txt", folder / "one.txt", "--append", "r.tsv")
    call(*arguments)
    Path("r.tsv").write_text(Path("r.tsv").read_text().rstrip("\n"))
    call(*arguments)
    assert len(set(Path("r.tsv").read_text().splitlines()[1:])) == 1


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [("5", 5), ("2KB", 2000), ("2 kb", 2000), ("1.5G", 1_500_000_000), ("2MiB", 2**21)],
)
def test_sizes(given: str, bytes_: int) -> None:
    assert size(given) == bytes_


@pytest.mark.parametrize("given", ["", "GB", "-1MB", "2XB", "5iB", "1e9"])
def test_no_sizes(given: str) -> None:
    with pytest.raises(click.BadParameter, match="is no size"):
        size(given)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_scripts(call: Run, shell: str) -> None:
    code, out, _ = call("completion", shell)
    assert code == 0
    assert "_NEARLY_COMPLETE" in out


def test_completion(call: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_NEARLY_COMPLETE", "zsh_complete")
    monkeypatch.setenv("COMP_WORDS", "nearly find --unit ")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert "word" in call()[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_page_have_the_same_options(command: str) -> None:
    page = (ROOT / "docs" / "cli.md").read_text()
    sections = re.split(r"^## ", page, flags=re.MULTILINE)
    section = next(s for s in sections if s.startswith(f"nearly {command}\n"))
    exceptions = {"--all-pairs", "--audit", "--difference", "--save", "--fail-on-found"}
    exceptions |= {"--top", "--around"}
    left_out = exceptions if command == "dedup" else set()
    documented = set(re.findall(r"`(--[a-z-]+)", section)) - left_out
    context = click.Context(nearly)
    found = nearly.get_command(context, command)
    assert found is not None
    commands = found.commands.values() if isinstance(found, click.Group) else [found]
    parameters = [parameter for each in commands for parameter in each.params]
    declared = {name for p in parameters for name in p.opts if name.startswith("--")}
    assert documented == declared


def test_help_is_listed_under_headings(call: Run) -> None:
    code, out, _ = call("find", "--help")
    headings = re.findall(r"^(\w+):$", out, re.MULTILINE)
    assert code == 0
    assert headings == ["Source", "Text", "Search", "Signature", "Output", "Engine", "Run"]


def test_every_command_is_listed(call: Run) -> None:
    assert re.findall(r"^  ([a-z]+)  ", call("--help")[1].split("Commands:")[1], re.M) == list(
        COMMANDS
    )


def test_version(call: Run) -> None:
    assert re.fullmatch(r"nearly \d+\.\d+\.\d+\n", call("--version")[1])


def test_no_command_shows_help(call: Run) -> None:
    code, out, err = call()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: nearly")


def test_a_bug_is_not_hidden(call: Run, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nearly.pipeline.find", lambda *_, **__: 1 / 0)
    code, out, err = call("find", table)
    assert (code, out, err.count("\n")) == (70, "", 1)
    trace = Path(err.split()[-1])
    assert "ZeroDivisionError: division by zero" in trace.read_text()
    trace.unlink()


def test_a_full_disk_is_said(call: Run, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nearly.pipeline.find", fill)
    code, _, err = call("find", table)
    assert code == 2
    assert err.startswith("nearly: the disk is full")


def test_the_method_and_its_promise_are_said(call: Run, table: Path) -> None:
    _, _, err = call("find", table, "--method", "lsh", "--audit", "3")
    assert "find at least 99% of pairs from 0.8 upwards" in err
    assert "audit: 3 documents searched exactly, " in err
    assert "precision 100.0%" in err


def test_a_clean_copy_does_not_promise_what_hubs_may_miss(call: Run, table: Path) -> None:
    _, _, err = call("dedup", table, "-o", "clean.csv", "--method", "lsh")
    assert "of pairs (in a large bucket, of those with its first 32 documents) from 0.8" in err
