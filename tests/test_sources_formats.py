"""Spreadsheets, databases, and documents whose text lies inside of a format."""

import io
import re
import sqlite3
import sys
import zipfile
from xml.sax.saxutils import escape

import docx
import pyarrow as pa
import pytest
from sources_reading import assert_rows_match, documents, ids_and_texts, rows

from nearly.cli.program import run
from nearly.errors import MissingError, SourceError, UnreadableError
from nearly.sources import Skipped, open_source
from nearly.sources.formats import word as word_format


@pytest.fixture
def opened(tmp_path_factory):
    """`open_source` with a folder for temporary files."""
    temporary = tmp_path_factory.mktemp("temporary")
    return lambda given, **options: open_source(given, temporary=temporary, **options)


def archive(members: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return data.getvalue()


OFFICE = "http://schemas.openxmlformats.org"
Sheets = dict[str, list[list[object]]]


def xlsx(sheets: Sheets) -> bytes:
    """The least that is a spreadsheet of Excel."""
    members = {}
    listed, related = "", ""
    for i, (name, table) in enumerate(sheets.items(), 1):
        listed += f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>'
        kind = f"{OFFICE}/officeDocument/2006/relationships/worksheet"
        related += f'<Relationship Id="r{i}" Type="{kind}" Target="worksheets/s{i}.xml"/>'
        lines = "".join(
            f'<row r="{r}">' + "".join(xlsx_cell(value, r, c) for c, value in enumerate(row))
            + "</row>"
            for r, row in enumerate(table, 1)
        )  # fmt: skip
        members[f"xl/worksheets/s{i}.xml"] = (
            f'<worksheet xmlns="{OFFICE}/spreadsheetml/2006/main"><sheetData>{lines}</sheetData>'
            "</worksheet>"
        )
    relations = f'<Relationships xmlns="{OFFICE}/package/2006/relationships">'
    return archive(
        {
            "[Content_Types].xml": f'<Types xmlns="{OFFICE}/package/2006/content-types"/>',
            "_rels/.rels": f'{relations}<Relationship Id="r" Target="xl/workbook.xml" '
            f'Type="{OFFICE}/officeDocument/2006/relationships/officeDocument"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{OFFICE}/spreadsheetml/2006/main" '
            f'xmlns:r="{OFFICE}/officeDocument/2006/relationships"><sheets>{listed}</sheets>'
            "</workbook>",
            "xl/_rels/workbook.xml.rels": f"{relations}{related}</Relationships>",
            **members,
        }
    )


def xlsx_cell(value: object, row: int, column: int) -> str:
    place = f"{'ABCDEFG'[column]}{row}"
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


ODF = "urn:oasis:names:tc:opendocument:xmlns"
SPACES = (
    f'xmlns:office="{ODF}:office:1.0" xmlns:table="{ODF}:table:1.0" xmlns:text="{ODF}:text:1.0"'
)
MANIFEST = f'<m:manifest xmlns:m="{ODF}:manifest:1.0"/>'


def ods(sheets: Sheets) -> bytes:
    tables = ""
    for name, table in sheets.items():
        lines = "".join(
            "<table:table-row>" + "".join(map(ods_cell, row)) + "</table:table-row>"
            for row in table
        )
        tables += f'<table:table table:name="{name}">{lines}</table:table>'
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    content = f"<office:document-content {SPACES}>{body}</office:document-content>"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return archive({"mimetype": kind, "META-INF/manifest.xml": MANIFEST, "content.xml": content})


def ods_cell(value: object) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, str):
        return (
            '<table:table-cell office:value-type="string">'
            f"<text:p>{escape(value)}</text:p></table:table-cell>"
        )
    return f'<table:table-cell office:value-type="float" office:value="{value}"/>'


ROWS = [["id", "text", "score"], [3, "a b", 1.5], [1, "c & é", None], [None, None, None]]


class TestSheets:
    @pytest.mark.parametrize(("ending", "write"), [("xlsx", xlsx), ("ods", ods)])
    def test_are_tables(self, tmp_path, opened, ending, write):
        path = tmp_path / f"a.{ending}"
        path.write_bytes(write({"First": ROWS}))
        source = opened(path)
        assert ids_and_texts(source) == [(3, "a b"), (1, "c & é")]
        assert source.id_type == pa.int64()
        assert rows(source)[0] == {"id": 3, "text": "a b", "score": 1.5}
        assert source.facts().get("notes") is None
        assert_rows_match(source)

    def test_are_named_where_there_are_several(self, tmp_path, opened):
        path = tmp_path / "a.xlsx"
        path.write_bytes(xlsx({"First": ROWS, "Old letters": [["text"], ["x"]]}))
        assert len(ids_and_texts(opened(path))) == 2
        [note] = opened(path).facts()["notes"]
        assert "sheet First was read; others are Old letters" in note
        assert ids_and_texts(opened(f"{path}::Old letters")) == [(0, "x")]
        with pytest.raises(MissingError, match=r"no sheet 'New'\. It has: First, Old letters"):
            opened(f"{path}::New")

    def test_spell_what_is_mixed(self, tmp_path, opened):
        table = [["id", "text"], [1, "a"], ["x", "b"], [2.5, 7]]
        (tmp_path / "a.xlsx").write_bytes(xlsx({"S": table}))
        found = ids_and_texts(opened(tmp_path / "a.xlsx"))
        assert found == [("1", "a"), ("x", "b"), ("2.5", "7")]

    @pytest.mark.parametrize("table", [[], [["text"]]])
    def test_may_be_empty(self, tmp_path, opened, table):
        (tmp_path / "a.xlsx").write_bytes(xlsx({"S": table}))
        assert documents(opened(tmp_path / "a.xlsx")) == ([], [])

    @pytest.mark.parametrize("data", [b"", b"PK\x03\x04 broken", b"no spreadsheet"])
    def test_that_are_broken_are_an_error(self, tmp_path, opened, data):
        (tmp_path / "a.xlsx").write_bytes(data)
        with pytest.raises(UnreadableError, match=r"a\.xlsx cannot be read as a spreadsheet"):
            opened(tmp_path / "a.xlsx")

    def test_that_are_protected_are_an_error(self, tmp_path, opened):
        (tmp_path / "a.xlsx").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))
        with pytest.raises(UnreadableError, match="password"):
            opened(tmp_path / "a.xlsx")


class TestSqlite:
    @pytest.fixture
    def database(self, tmp_path):
        """A database with two tables, and an index that would order the rows otherwise."""
        path = tmp_path / "people.db"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE letters (id INTEGER, text, weight REAL)")
            connection.execute("CREATE INDEX by_text ON letters (text, id)")
            connection.execute('CREATE TABLE "odd ""name" (text)')
            data = [(3, "z", 1.5), (1, "b", None), (2, None, 0.5)]
            connection.executemany("INSERT INTO letters VALUES (?, ?, ?)", data)
            connection.execute('INSERT INTO "odd ""name" VALUES (?)', ["x"])
        connection.close()
        return path

    def test_tables_are_named(self, database, opened):
        source = opened(f"{database}::letters")
        found, skipped = documents(source)
        assert [(d["row"], d["id"], d["text"]) for d in found] == [(0, 3, "z"), (1, 1, "b")]
        assert skipped == [("row 2", "null text")]
        assert source.id_type == pa.int64()
        assert rows(source)[0] == {"id": 3, "text": "z", "weight": 1.5}
        assert ids_and_texts(opened(f'{database}::odd "name')) == [(0, "x")]

    def test_blocks_read_it_where_they_are(self, database, opened):
        [block] = opened(f"{database}::letters").blocks(2**20)
        texts = [t for b in block.documents(Skipped()) for t in b["text"].to_pylist()]
        assert texts == ["z", "b"]

    def test_a_table_has_to_be_named_where_there_are_several(self, database, opened):
        with pytest.raises(SourceError, match=r"2 tables: letters, .*Name one, as in .*::letters"):
            opened(database)
        with pytest.raises(MissingError, match="no table 'notes'"):
            opened(f"{database}::notes")

    def test_the_only_table_need_not_be_named(self, tmp_path, opened):
        with sqlite3.connect(tmp_path / "a.sqlite") as connection:
            connection.execute("CREATE TABLE t AS SELECT 'x' AS text")
        connection.close()
        assert ids_and_texts(opened(tmp_path / "a.sqlite")) == [(0, "x")]

    @pytest.mark.parametrize("mode", ["DELETE", "WAL"])
    def test_is_never_written_and_leaves_no_trace(self, database, opened, mode):
        with sqlite3.connect(database) as connection:
            connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.close()
        before = {path.name: path.read_bytes() for path in database.parent.iterdir()}
        database.chmod(0o444)
        assert len(ids_and_texts(opened(f"{database}::letters"))) == 2
        assert {p.name: p.read_bytes() for p in database.parent.iterdir()} == before

    def test_changes_that_wait_in_the_log_are_read(self, database, opened):
        with sqlite3.connect(database) as writer:
            writer.execute("PRAGMA journal_mode = WAL")
            writer.execute("INSERT INTO letters VALUES (9, 'new', 1)")
            writer.commit()
            assert (9, "new") in ids_and_texts(opened(f"{database}::letters"))
        writer.close()

    def test_values_of_any_type_are_spelled(self, tmp_path, opened):
        with sqlite3.connect(tmp_path / "a.db") as connection:
            connection.execute("CREATE TABLE t (id, text)")
            data = [(2**60 + 1, "a"), (0.5, "b"), ("x", 7), (2**60, b"\xff")]
            connection.executemany("INSERT INTO t VALUES (?, ?)", data)
            connection.execute("INSERT INTO t VALUES ('y', CAST(x'61ff' AS TEXT))")
        connection.close()
        found, skipped = documents(opened(tmp_path / "a.db"))
        ids = [d["id"] for d in found]
        assert ids == [str(2**60 + 1), "0.5", "x"]
        assert [d["text"] for d in found] == ["a", "b", "7"]
        assert skipped == [("row 3", "null text"), ("row 4", "not valid UTF-8")]

    @pytest.mark.parametrize("name", ["a.db", "a.db::t", "a.txt::t"])
    def test_other_files_are_refused(self, tmp_path, opened, name):
        (tmp_path / name.partition("::")[0]).write_bytes(b"no database")
        with pytest.raises(UnreadableError, match="no SQLite database"):
            opened(tmp_path / name)

    def test_a_broken_one_is_an_error(self, database, opened):
        data = database.read_bytes()
        database.write_bytes(data[:100] + b"\xff" * (len(data) - 100))
        with pytest.raises(UnreadableError, match="cannot be read as an SQLite database"):
            opened(f"{database}::letters")


def pdf(text: str = "", more: str = "", trailer: str = "") -> bytes:
    """A PDF of one page."""
    stream = f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET" if text else ""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *([more] if more else []),
    ]
    data, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n"
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    data += "".join(f"{place:010} 00000 n \n" for place in places)
    data += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer}>>\n"
    return f"{data}startxref\n{start}\n%%EOF\n".encode()


def odt(body: str, doctype: str = "", manifest: str = MANIFEST) -> bytes:
    content = (
        f"<?xml version='1.0'?>{doctype}<office:document-content {SPACES}><office:body>"
        f"<office:text>{body}</office:text></office:body></office:document-content>"
    )
    return archive({"META-INF/manifest.xml": manifest, "content.xml": content})


def word() -> bytes:
    document = docx.Document()
    document.add_heading("Heading")
    document.add_paragraph("First é").add_run(" and more")
    document.add_table(1, 2).rows[0].cells[1].text = "in a cell"
    document.add_paragraph("Last")
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


PAGE = """<!DOCTYPE html><html><head><title>Title</title><style>p { color: red }</style>
<script>if (a < b) alert("x")</script></head><body><p>One <b>bo</b>ld&nbsp;word &amp; more</p>
<div>Two<br/>three</div><ul><li>four<li>five</ul></body></html>"""
MAIL = (
    b"From: a@b.example\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/alternative; boundary="x"\r\n\r\n--x\r\n'
    b"Content-Type: text/plain; charset=latin-1\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    b"Dear all,\r\ncaf\xe9\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>no</p>\r\n--x--\r\n"
)
HTML_MAIL = b"Subject: s\r\nContent-Type: text/html\r\n\r\n<p>Dear <b>all</b></p>\r\n"

TEXTS = {
    "a.docx": (word(), "Heading\nFirst é and more\nin a cell\nLast"),
    "a.odt": (
        odt(
            '<text:h>Heading</text:h><text:p>One<text:s text:c="3"/>two<text:tab/>three</text:p>'
            "<text:p>é<office:annotation><text:p>a comment</text:p></office:annotation></text:p>"
        ),
        "Heading\nOne   two\tthree\né",
    ),
    "a.pdf": (pdf("Hello there"), "Hello there"),
    "a.html": (PAGE.encode(), "Title\nOne bold word & more\nTwo\nthree\nfour\nfive"),
    "b.htm": ("<meta charset='iso-8859-1'><p>café</p>".encode("latin-1"), "café"),
    "a.eml": (MAIL, "Café\nDear all,\ncafé"),
    "b.eml": (HTML_MAIL, "s\nDear all"),
}

BAD = {
    "scan.pdf": (pdf(), "a PDF without text"),
    "locked.pdf": (
        pdf(
            "Hello",
            f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >>",
            f"/Encrypt 6 0 R /ID [<{'43' * 16}> <{'43' * 16}>] ",
        ),
        "protected by a password",
    ),
    "cut.pdf": (b"%PDF-1.4\nnothing", r"a broken \.pdf file"),
    "cut.docx": (word()[:900], r"a broken \.docx file"),
    "other.docx": (archive({"x": "y"}), r"a broken \.docx file"),
    "locked.docx": (bytes.fromhex("d0cf11e0a1b11ae1"), "protected by a password"),
    "cut.odt": (b"PK", r"a broken \.odt file"),
    "cut_xml.odt": (archive({"content.xml": "<a><b>"}), r"a broken \.odt file"),
    "locked.odt": (odt("", manifest="<m><encryption-data/></m>"), "protected by a password"),
    "bomb.odt": (
        odt("<text:p>&b;</text:p>", "<!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]>"),
        "document type",
    ),
    "empty.eml": (b"", "no headers"),
}


class TestTextOf:
    @pytest.mark.parametrize("name", TEXTS)
    def test_a_format_is_taken_out_of_it(self, tmp_path, opened, name):
        data, text = TEXTS[name]
        (tmp_path / name).write_bytes(data)
        assert ids_and_texts(opened(tmp_path / name)) == [(str(tmp_path / name), text)]

    def test_a_folder_of_them_all(self, tmp_path, opened):
        for name, (data, _) in (TEXTS | BAD).items():
            (tmp_path / name).write_bytes(data)
        (tmp_path / "plain.txt").write_text("plain")
        found, skipped = documents(opened(tmp_path))
        expected = {name: text for name, (_, text) in TEXTS.items()} | {"plain.txt": "plain"}
        assert {d["id"]: d["text"] for d in found} == expected
        assert {record for record, _ in skipped} == set(BAD)

    @pytest.mark.parametrize("name", BAD)
    def test_what_cannot_be_read_is_skipped_with_the_reason(self, tmp_path, opened, name):
        data, reason = BAD[name]
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UnreadableError, match=reason):
            documents(opened(tmp_path / name))
        (tmp_path / "a.txt").write_text("a")
        found, [(record, told)] = documents(opened(tmp_path))
        assert [d["id"] for d in found] == ["a.txt"]
        assert record == name
        assert re.search(reason, told)

    def test_an_archive_that_claims_to_be_huge_is_refused(self, tmp_path, opened, monkeypatch):
        monkeypatch.setattr(word_format, "MOST_UNPACKED", 100)
        for name in ("a.docx", "a.odt"):
            (tmp_path / name).write_bytes(TEXTS[name][0])
        (tmp_path / "a.txt").write_text("a")
        _, skipped = documents(opened(tmp_path))
        assert [record for record, _ in skipped] == ["a.docx", "a.odt"]
        assert all("unpacks to" in reason for _, reason in skipped)


@pytest.mark.parametrize(
    ("name", "data", "module", "what"),
    [
        ("a.pdf", pdf("x"), "pypdfium2", "a PDF"),
        ("a.docx", word(), "docx", "a Word document"),
        ("a.xlsx", xlsx({"S": ROWS}), "python_calamine", "a spreadsheet"),
        ("a.ods", ods({"S": ROWS}), "python_calamine", "a spreadsheet"),
    ],
)
def test_without_its_library_the_message_names_format_and_command(
    tmp_path, opened, monkeypatch, capsys, name, data, module, what
):
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UnreadableError, match=rf"{what}.*pip install 'nearly\[files\]'"):
        documents(opened(tmp_path / name))
    assert run(["find", str(tmp_path / name)]) == 3
    assert "pip install 'nearly[files]'" in capsys.readouterr().err


def test_formats_of_the_standard_library_need_no_extra(tmp_path, opened, monkeypatch):
    for module in ("pypdfium2", "docx", "python_calamine", "charset_normalizer"):
        monkeypatch.setitem(sys.modules, module, None)
    for name in ("a.odt", "a.html", "a.eml"):
        (tmp_path / name).write_bytes(TEXTS[name][0])
    assert len(ids_and_texts(opened(tmp_path))) == 3


def test_compare_reads_the_same_text_as_find(tmp_path, capsys):
    for name in ("a.pdf", "a.html"):
        (tmp_path / name).write_bytes(TEXTS[name][0])
    assert run(["compare", str(tmp_path / "a.pdf"), str(tmp_path / "a.pdf"), "--k", "5"]) == 0
    assert "(7 char 5-shingles)" in capsys.readouterr().out
