"""Files in legacy encodings: forced by name, or found out."""

import gzip
import sys
from pathlib import Path

import pytest
from sources_reading import documents, ids_and_texts

from nearly.cli.program import run
from nearly.errors import NearlyError, SettingsError, SourceError, UnreadableError
from nearly.sources import open_source

FRENCH = (
    "Le garçon a été reçu à l'hôtel près de la forêt où les élèves français préfèrent dîner. "
    "Après le déjeuner, l'été fut très chaud et la fenêtre était fermée."
)
GERMAN = "Grüße aus München, die Straße ist schön und größer."
POLISH = (
    "Zażółć gęślą jaźń, powiedział mężczyzna i poszedł dalej wąską ścieżką przez las. "
    "Później wrócił, żeby zabrać swoją książkę."
)
JAPANESE = "日本語の文章はここにあります。図書館は月曜日に休みです。"
RUSSIAN = (
    "Библиотека остаётся закрытой до первого понедельника марта, потому что крыша течёт. "
    "Просим всех читателей вернуть книги вовремя."
)


@pytest.fixture
def opened(tmp_path_factory):
    """`open_source` with a folder for temporary files."""
    temporary = tmp_path_factory.mktemp("temporary")
    return lambda given, **options: open_source(given, temporary=temporary, **options)


@pytest.fixture
def folder(tmp_path):
    """Texts in several encodings, one of them as UTF-8 and one with a mark."""
    (tmp_path / "french.txt").write_bytes(FRENCH.encode("cp1252"))
    (tmp_path / "russian.txt").write_bytes(RUSSIAN.encode("koi8-r"))
    (tmp_path / "utf-8.txt").write_text(FRENCH)
    (tmp_path / "utf-16.txt").write_bytes(FRENCH.encode("utf-16"))
    return tmp_path


def test_auto_finds_out_the_encoding_of_each_file(folder, opened, capsys):
    source = opened(folder, encoding="auto")
    found, skipped = documents(source)
    texts = {d["id"]: d["text"] for d in found}
    assert texts["russian.txt"] == RUSSIAN
    assert texts["french.txt"] == texts["utf-8.txt"] == texts["utf-16.txt"] == FRENCH
    assert skipped == []
    assert set(source.facts()["encodings"]) == {"french.txt", "russian.txt"}
    assert run(["find", str(folder), "--encoding", "auto"]) == 0
    said = capsys.readouterr().err
    for name, encoding in source.facts()["encodings"].items():
        assert f"read {name} as {encoding}" in said


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "latin-1"),
        (GERMAN, "cp1252"),
        (POLISH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (JAPANESE, "shift_jis"),
    ],
)
def test_auto_reads_texts_of_many_languages(tmp_path, opened, text, encoding):
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    assert [found for _, found in ids_and_texts(opened(tmp_path, encoding="auto"))] == [text]


def test_without_it_they_are_skipped(folder, opened):
    found, skipped = documents(opened(folder))
    assert [d["id"] for d in found] == ["utf-16.txt", "utf-8.txt"]
    assert [record for record, _ in skipped] == ["french.txt", "russian.txt"]


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.csv", {"id": "id", "text": "text"}),
        ("a.tsv", {"id": "id", "text": "text"}),
        ("a.jsonl", {}),
        ("a.json", {}),
        ("a.log", {"lines": True}),
    ],
)
@pytest.mark.parametrize("encoding", ["auto", "cp1252"])
def test_tables_and_lines_are_decoded_too(tmp_path, opened, name, options, encoding, compressed):
    rows = "\n".join(f'{{"id": {i}, "text": "{FRENCH}"}}' for i in (1, 2))
    text = {
        "a.csv": f'id,text\n1,"{FRENCH}"\n2,"{FRENCH}"\n',
        "a.tsv": f"id\ttext\n1\t{FRENCH}\n2\t{FRENCH}\n",
        "a.jsonl": rows,
        "a.json": f"[{rows.replace(chr(10), ',')}]",
        "a.log": f"{FRENCH}\n{FRENCH}\n",
    }[name]
    path = tmp_path / (f"{name}.gz" if compressed else name)
    data = text.encode("cp1252")
    path.write_bytes(gzip.compress(data) if compressed else data)
    source = opened(path, encoding=encoding, **options)
    assert ids_and_texts(source) == [(1, FRENCH), (2, FRENCH)]
    assert list(source.facts()["encodings"]) == [str(path)]


def test_a_name_forces_it(tmp_path, opened):
    (tmp_path / "a.txt").write_bytes("é".encode())
    assert ids_and_texts(opened(tmp_path, encoding="latin-1"))[0][1] == "Ã©"
    (tmp_path / "a.csv").write_bytes("text\nжил\n".encode("cp1251"))
    assert ids_and_texts(opened(tmp_path / "a.csv", encoding="cp1251")) == [(0, "жил")]


def test_bytes_that_the_encoding_does_not_have_are_skipped(tmp_path, opened):
    (tmp_path / "a.csv").write_bytes(b"id,text\n1,caf\xe9\n2,\x81\n")
    found, skipped = documents(opened(tmp_path / "a.csv", encoding="cp1252"))
    assert [d["text"] for d in found] == ["café"]
    assert skipped == [("row 1, line 3", "not valid UTF-8")]
    (tmp_path / "b.txt").write_bytes(b"\x81")
    with pytest.raises(UnreadableError, match="not valid CP1252: byte 0x81"):
        documents(opened(tmp_path / "b.txt", encoding="cp1252"))


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13", ""])
def test_what_is_no_encoding_is_refused(tmp_path, opened, name):
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(SettingsError, match="no text encoding"):
        opened(tmp_path, encoding=name)


def test_it_is_about_files(opened):
    with pytest.raises(SourceError, match="encoding is about files"):
        opened(["a"], encoding="auto")


def test_without_the_library_the_message_names_the_command(folder, opened, monkeypatch):
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    with pytest.raises(UnreadableError, match=r"french\.txt.*pip install 'nearly\[files\]'"):
        opened(folder, encoding="auto")
    assert len(ids_and_texts(opened(folder / "utf-8.txt", encoding="auto"))) == 1


@pytest.mark.parametrize("data", [b"\0\1\2\xff" * 100, b"\xff", b"\x80" * 3000])
def test_what_is_no_text_is_not_made_one(tmp_path: Path, opened, data):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_bytes(data)
    try:
        found, skipped = documents(opened(tmp_path, encoding="auto"))
    except NearlyError:
        pytest.fail("one bad file costs the others nothing")
    assert found[0]["text"] == "a"
    assert len(found) + len(skipped) == 2
