"""A desk with results for the tests of the web app, and a client that is let in."""

import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

import nearly
from nearly.prepared.maker import prepare
from nearly.web.app import make_app
from nearly.web.desk import Desk
from nearly.web.guard import Access
from nearly.web.runs import Runs

#: Of desks: removed with all that runs put there when the tests end.
ROOMS = tempfile.TemporaryDirectory(prefix="nearly-desks-", ignore_cleanup_errors=True)
TOKEN = "a-token-of-the-tests"  # noqa: S105
ACCESS = Access(port=8017, token=TOKEN)
BASE = "http://127.0.0.1:8017"


def saved(folder: Path, texts: dict[str, str], name: str = "found", **settings: Any) -> Path:
    """A result that was found in a table of the folder, saved and prepared."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = folder / f"{name}.parquet"
    pq.write_table(pa.table({"id": list(texts), "text": list(texts.values())}), table)
    found = nearly.find(table, **{"threshold": 0.5} | settings)
    found.save(folder / name)
    prepare(folder / name)
    return folder / name


def desk_of(**results: Path) -> Desk:
    """Results by name."""
    root = Path(tempfile.mkdtemp(dir=ROOMS.name))
    return Desk(places=results, root=root, runs=Runs(root / "runs"))


def client_of(desk: Desk, *, let_in: bool = True) -> TestClient:
    """A browser, with the cookie or without."""
    client = TestClient(make_app(desk, ACCESS), BASE, raise_server_exceptions=False)
    if let_in:
        client.cookies.set(ACCESS.cookie, ACCESS.secret)
    return client


class Parsed(HTMLParser):
    """A page as a browser reads it: elements with their attributes, words, and what is open."""

    VOID = ("meta", "link", "input", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data
