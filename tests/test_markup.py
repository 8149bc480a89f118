"""Markup is escaped by construction."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly.markup import Markup, joined, tag


class Seen(HTMLParser):
    """What a browser would see: elements with their attributes, and text."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def seen(markup: str) -> Seen:
    parser = Seen()
    parser.feed(markup)
    parser.close()
    return parser


TURNS = ["\u202d", "\u202e"]


@given(st.text(st.characters(exclude_characters=TURNS)), st.text())
def test_whatever_is_given_stays_text(words: str, title: str) -> None:
    page = seen(tag("p", words, tag("b", 1), title=title))
    assert [name for name, _ in page.elements] == ["p", "b"]
    assert set(page.elements[0][1]) == {"title"}
    unseen = str.maketrans({c: chr(0x2400 + c) for c in range(32) if c not in (9, 10)})
    plain = words.encode(errors="replace").decode().translate(unseen)
    lost = {i for i, c in enumerate(plain) if 0x7F <= ord(c) <= 0x9F or ord(c) in (0xFFFE, 0xFFFF)}
    assert len(page.words) == len(plain) + 1
    for i, (shown, given_) in enumerate(zip(page.words, plain, strict=False)):
        assert shown == given_ or i in lost or not words[i].isprintable()


@pytest.mark.parametrize(
    "nasty",
    ["</p><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;b&gt;", "<!--", "]]>"],
)
def test_nothing_becomes_an_element_or_an_attribute(nasty: str) -> None:
    page = seen(tag("a", nasty, href="#x", title=nasty))
    assert page.elements == [("a", {"href": "#x", "title": nasty})]
    assert page.words == nasty


def test_markup_is_kept_and_none_is_left_out() -> None:
    assert joined("a<", None, Markup("<br>"), ["b", [tag("i", "c")]]) == "a&lt;<br>b<i>c</i>"
    assert tag("td", class_="x", hidden=True, id=None) == '<td class="x" hidden></td>'
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert joined("a\u202egnp.exe") == "a[U+202E]gnp.exe"
    assert joined("\x00\x1b\x7f\ud800") == "␀␛\ufffd\ufffd"
