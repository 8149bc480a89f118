"""The normalising kernel against the textbook, against Unicode, and by hand."""
# ruff: noqa: RUF001 (letters that look like others are the point)

import random
import sys
import time
import unicodedata
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearly import _kernels, textbook
from nearly.measures.normalisation import PIECE, normalise
from nearly.settings import TextSettings
from nearly.text.composition import MOST_MARKS, composed
from nearly.textbook.normalisation import SCRIPTS_WITHOUT_SPACES

OFF = {"form": "none", "case": "keep", "space": "keep"}

SAME_UNICODE = unicodedata.unidata_version == _kernels.unicode_version


def is_known_alike(c: str) -> bool:
    """Whether this Python's Unicode, if it is a later one, can be asked about `c`."""
    return SAME_UNICODE or _kernels.is_assigned(ord(c)) or unicodedata.category(c) == "Cn"


ALL = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
BLANK = [c for c in ALL if unicodedata.category(c) in ("Cn", "Co")]
KNOWN = [c for c in ALL if unicodedata.category(c) not in ("Cn", "Co") and is_known_alike(c)]

#: Where the rules meet: folds to several, marks of all kinds, signs, scripts, spaces.
NASTY = (
    "aA zZ09_@#＠＃＿-'!.,$+~ \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003"
    "\u2028\u202f\u3000\u200b\ufeff"
    "ßẞİıŉǰΐΣσςﬁﬃﬀѕҐÅÅéÉüǗḗ\u0301\u0308\u0345\u0327\u0344\u20dd\ufe0f\u200d"
    "가각한\u1100\u1161\u11a8ガがｶﾞー々〇〆ぱ\u3099\u309a漢字豈𠀀𪚥丽"
    "ไทยที่ำ๒฿ั\u0e38\u0e48कि़क़\u094d\u0958אָיִ\u05b8عَ\u064b٣۴²½Ⅷ①"
    "😀👩🏽❤€©『』・。、\x00\x7f\U000e0001\U0010ffff\U0001d15e\U00016fe3\U00011099\U000110ba"
)
STOP_WORDS = (
    "the",
    "A",
    "Don't",
    "é",
    "ß",
    "の",
    "ที่",
    "@",
    "",
    " of ",
    "of the",
    "ＳＴＯＰ",
    "12",
    "_",
)

characters = (
    st.sampled_from(NASTY)
    | st.sampled_from("ab \tTHE")
    | st.characters(exclude_categories=["Cs"]).filter(is_known_alike)
)
snippets = characters | st.sampled_from(
    [
        "the",
        "The ",
        "don't",
        "a ",
        " of\u00a0",
        "É",
        "@the",
        "#a_b",
        "12 ",
        "(the)",
        "plain ascii text, ",
    ]
)
texts = st.lists(snippets, max_size=30).map("".join)

CHOICES: dict[str, list[Any]] = {
    "unit": ["char", "word"],
    "case": ["fold", "keep"],
    "accents": ["keep", "drop"],
    "digits": ["keep", "drop"],
    "punctuation": ["keep", "drop"],
    "mentions": ["keep", "drop"],
    "space": ["keep", "collapse", "drop"],
    "stop_words": [(), STOP_WORDS],
}
FORMS = ["NFC", "NFD", "NFKC", "NFKD", "none"]
choices = {name: st.sampled_from(values) for name, values in CHOICES.items()}
text_settings = st.builds(TextSettings, form=st.sampled_from(FORMS), **choices)

# Settings under which a second time changes nothing. Kept signs with words are not among
# them: a sign before a letter that stands alone becomes a word by itself, and then goes.
repeatable = choices | {"form": st.just("none"), "stop_words": st.just(())}
repeatable_settings = st.builds(TextSettings, **repeatable | {"unit": st.just("char")}) | st.builds(
    TextSettings, **repeatable | {"mentions": st.just("drop")}
)

# A shared machine may stall any one example; its time says nothing.
any_time = settings(deadline=None)


def large(documents: list[str]) -> pa.LargeStringArray:
    return pa.array(documents, pa.large_string())


def normalised(documents: list[str], **options: Any) -> list[str]:
    return normalise(large(documents), TextSettings(**options)).to_pylist()


def one(document: str, **options: Any) -> str:
    return normalised([document], **options)[0]


class TestAgainstTheTextbook:
    @settings(any_time, max_examples=250)
    @given(st.lists(texts, max_size=5), text_settings)
    def test_same_texts(self, documents: list[str], text: TextSettings) -> None:
        result = normalise(large(documents), text)
        result.validate(full=True)
        assert result.to_pylist() == [textbook.normalise(d, text) for d in documents]

    @any_time
    @given(st.lists(texts, min_size=1, max_size=6), text_settings, st.data())
    def test_slices(self, documents: list[str], text: TextSettings, data: st.DataObject) -> None:
        first = data.draw(st.integers(0, len(documents)))
        last = data.draw(st.integers(first, len(documents)))
        expected = [textbook.normalise(d, text) for d in documents[first:last]]
        assert normalise(large(documents)[first:last], text).to_pylist() == expected

    @pytest.mark.parametrize("form", ["none", "NFC", "NFKD"])
    def test_every_combination(self, form: str) -> None:
        documents = [
            NASTY,
            " ".join(NASTY),
            "The  cat, the (don't) @the_cat #1_a! a_b @é # 12 the",
            "  of THE ทีี่ of the\u3000漢 の字 the",
        ]
        for values in product(*CHOICES.values()):
            text = TextSettings(form=form, **dict(zip(CHOICES, values, strict=True)))
            expected = [textbook.normalise(d, text) for d in documents]
            assert normalise(large(documents), text).to_pylist() == expected, text

    @pytest.mark.parametrize("unit", ["char", "word"])
    def test_long_documents_that_grow_and_shrink(self, unit: str) -> None:
        pieces = ["ΐ", "漢", "The cat ", " \t ", "ŉ漢ŉ", "x", "ﬃ!"]
        documents = [piece * 9_000 for piece in pieces] + ["".join(pieces) * 1_000]
        text = TextSettings(unit=unit, stop_words=("the",))
        assert normalise(large(documents), text).to_pylist() == [
            textbook.normalise(d, text) for d in documents
        ]


class TestTables:
    """Every code point by itself."""

    def test_case_folding(self) -> None:
        assert normalised(KNOWN, **OFF | {"case": "fold"}) == [c.casefold() for c in KNOWN]

    def test_accents(self) -> None:
        def is_accent(c: str) -> bool:
            return unicodedata.category(c) == "Mn" and unicodedata.combining(c) not in (0, 7, 8, 9)

        for c, bare in zip(KNOWN, normalised(KNOWN, **OFF, accents="drop"), strict=True):
            parts = unicodedata.normalize("NFD", c)
            if any(map(is_accent, parts)):
                assert bare == "".join(part for part in parts if not is_accent(part)), ascii(c)
            else:
                assert bare == c, ascii(c)

    def test_digits(self) -> None:
        expected = ["" if unicodedata.category(c) == "Nd" else c for c in KNOWN]
        assert normalised(KNOWN, **OFF, digits="drop") == expected

    def test_punctuation(self) -> None:
        expected = ["" if unicodedata.category(c)[0] in "PS" else c for c in KNOWN]
        assert normalised(KNOWN, **OFF, punctuation="drop", mentions="drop") == expected

    def test_white_space(self) -> None:
        left = normalised(KNOWN, **OFF | {"space": "drop"})
        dropped = {c for c, rest in zip(KNOWN, left, strict=True) if not rest}
        assert dropped == textbook.WHITE_SPACE
        assert len(dropped) == 25

    @pytest.mark.parametrize("form", FORMS)
    def test_unassigned_and_private_code_points_are_left_alone(self, form: str) -> None:
        text = "".join(BLANK)
        drops = dict.fromkeys(("accents", "digits", "punctuation", "space"), "drop")
        assert one(text, form=form, **drops) == text

    def test_marks_and_scripts_without_spaces(self) -> None:
        words = normalised(["漢" + c + "a" for c in KNOWN], **OFF, unit="word")
        for c, got in zip(KNOWN, words, strict=True):
            if c in textbook.WHITE_SPACE:
                expected = "漢 a"
            elif unicodedata.category(c)[0] == "M":
                expected = f"漢{c} a"
            elif any(first <= ord(c) <= last for first, last in SCRIPTS_WITHOUT_SPACES):
                expected = f"漢 {c} a"
            else:
                expected = f"漢 {c}a"
            assert got == expected, ascii(c)

    @pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
    def test_normal_forms(self, form: str) -> None:
        expected = [unicodedata.normalize(form, c) for c in KNOWN]
        assert normalised(KNOWN, **OFF | {"form": form}) == expected

    @pytest.mark.parametrize("form", ["NFC", "NFKC"])
    def test_decomposed_code_points_are_composed(self, form: str) -> None:
        apart = [unicodedata.normalize("NFD", c) for c in KNOWN]
        apart = [text for text in apart if len(text) > 1]
        expected = [unicodedata.normalize(form, text) for text in apart]
        assert normalised(apart, **OFF | {"form": form}) == expected

    def test_code_points_of_later_versions_stay_as_they_are(self) -> None:
        later = "\U00011f42"  # a virama since Unicode 15
        assert not _kernels.is_assigned(ord(later))
        text = f"e\u0301{later}\u0327\u0301{later}\u0327"
        assert one(text, form="NFC") == f"é{later}\u0327\u0301{later}\u0327"
        assert one(text, form="NFC", accents="drop") == f"e{later}{later}"


class TestByHand:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ("", ""),
            (" \t\n", ""),
            ("  Two\u00a0\n words ", "two words"),
            ("Straße STRASSE", "strasse strasse"),
            ("ΟΔΥΣΣΕΥΣ ς", "οδυσσευσ σ"),
            ("İ", "i̇"),
            ("ﬁne", "fine"),
            ("e\u0301", "é"),
            ("\u1112\u1161\u11ab", "한"),
            ("x\u200by", "x\u200by"),
            (
                "MiXeD 0123456789 CASE, [KEPT] `AND` {@Z}\x7f",
                "mixed 0123456789 case, [kept] `and` {@z}\x7f",
            ),
        ],
    )
    def test_defaults(self, given: str, expected: str) -> None:
        assert one(given) == expected

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ("Élan vital, façade", "elan vital, facade"),
            ("Ǘ ḗ", "u e"),
            ("e\u0301\u0327", "e"),
            ("한글 がガ क़ि", "한글 がガ क़ि"),
            ("ø ł", "ø ł"),
        ],
    )
    def test_accents_dropped(self, given: str, expected: str) -> None:
        expected = unicodedata.normalize("NFC", expected)
        assert one(given, accents="drop") == expected

    @pytest.mark.parametrize(
        ("given", "kept", "dropped"),
        [
            ("Hello, world! 😀", "hello world", "hello world"),
            ("@Ann_B: see #topic_1!", "@ann_b see #topic_1", "annb see topic1"),
            ("a_b # @ c", "ab c", "ab c"),
            ("##x @_ @-y", "#x @_ y", "x y"),
            ("ann@home.org", "ann@homeorg", "annhomeorg"),
            ("＠Ann ＃東京_1", "＠ann ＃東京_1", "ann 東京1"),
            ("#กิ_x", "#กิ_x", "กิx"),
            ("@a-_b", "@ab", "ab"),
        ],
    )
    def test_punctuation_dropped(self, given: str, kept: str, dropped: str) -> None:
        assert one(given, punctuation="drop") == kept
        assert one(given, punctuation="drop", mentions="drop") == dropped

    def test_digits_go_before_mentions_are_looked_at(self) -> None:
        assert one("#2020 @1a x٣y", digits="drop", punctuation="drop") == "@a xy"

    @pytest.mark.parametrize(
        ("given", "options", "expected"),
        [
            ("The cat and the dog", {}, "cat dog"),
            ("(the) cat, «And» the.", {}, "cat,"),
            ("the  cat\tand  dog the", {"space": "keep"}, "cat\tdog "),
            (" the cat", {"space": "keep"}, " cat"),
            ("the cat and dog", {"space": "drop"}, "catdog"),
            ("The Cat AND Dog", {"case": "keep"}, "Cat Dog"),
            ("I don't; I do", {"punctuation": "drop"}, "i i do"),
            ("I don't; I do", {}, "i i do"),
            ("theme brand", {}, "theme brand"),
            ("私の本 の", {}, "私の本"),
            ("私の本 の", {"unit": "word"}, "私 本"),
            ("#東京", {"unit": "word", "punctuation": "drop"}, "# 東 京"),
        ],
    )
    def test_stop_words(self, given: str, options: dict[str, str], expected: str) -> None:
        assert one(given, stop_words=("and", "don't", "The", "の"), **options) == expected

    @pytest.mark.parametrize("space", ["keep", "collapse", "drop"])
    def test_words(self, space: str) -> None:
        text = " 東京は Big\n city。 ラーメン ｶﾞ ที่นี่ ๒๕๖๓ 々〇 한국어 "
        expected = "東 京 は big city。 ラ ー メ ン ｶ ﾞ ที่ นี่ ๒๕๖๓ 々 〇 한국어"
        assert one(text, unit="word", space=space) == expected

    @pytest.mark.parametrize(
        ("space", "expected"),
        [("keep", " a \u2003b\n"), ("collapse", "a b"), ("drop", "ab")],
    )
    def test_space(self, space: str, expected: str) -> None:
        assert one(" A \u2003B\n", space=space) == expected

    def test_raw_is_the_same_object(self) -> None:
        texts = large([" A\u0301 "])
        assert normalise(texts, TextSettings(raw=True)) is texts
        assert textbook.normalise(" A\u0301 ", TextSettings(raw=True)) == " A\u0301 "

    @pytest.mark.parametrize("empty", [large([]), large(["a"])[1:], large(["", ""])])
    def test_nothing_in_nothing_out(self, empty: pa.LargeStringArray) -> None:
        result = normalise(empty, TextSettings())
        result.validate(full=True)
        assert result.to_pylist() == [""] * len(empty)


class TestIdempotence:
    @any_time
    @given(texts, repeatable_settings)
    def test_without_a_normal_form(self, document: str, text: TextSettings) -> None:
        once = normalise(large([document]), text)
        assert normalise(once, text).equals(once)

    @any_time
    @given(texts)
    def test_with_case_kept(self, document: str) -> None:
        text = TextSettings(case="keep")
        once = normalise(large([document]), text)
        assert normalise(once, text).equals(once)


#: Marks of several classes, and what only becomes one in a normal form.
MARKS = "\u0301\u0327\u0323\u0345\u05b0\u3099\u0f73\u0f75\uff9e\u093c\u0344"


class TestMarks:
    """Long runs of marks are put in order here, and in the square of their length by Python."""

    @any_time
    @given(
        st.lists(st.text(MARKS, min_size=60, max_size=90) | texts, max_size=4).map("".join),
        st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
    )
    def test_long_runs_have_the_same_form(self, document: str, form: str) -> None:
        expected = textbook.normalise(document, TextSettings(form=form))
        assert one(document, form=form) == expected

    @pytest.mark.parametrize("form", ["NFC", "NFKD"])
    def test_the_runs_are_long_enough_to_be_taken_out(self, form: str) -> None:
        marks = "\u0301\u0327\uff9e\u0f73" * 40
        encoded = np.frombuffer(("a" + marks + "b").encode(), np.uint8)
        assert _kernels.mark_runs(encoded, MOST_MARKS).tolist() == [[1, len(encoded) - 1]]
        assert one("a" + marks + "b", **OFF | {"form": form}) == unicodedata.normalize(
            form, "a" + marks + "b"
        )

    @any_time
    @given(st.lists(st.text(MARKS, min_size=60, max_size=90) | st.text(), max_size=4).map("".join))
    def test_texts_that_are_compared_are_composed_as_python_does(self, text: str) -> None:
        assert composed(text) == unicodedata.normalize("NFC", text)
        assert composed(text + "\ud800") == unicodedata.normalize("NFC", text + "\ud800")

    @pytest.mark.parametrize("form", [one, composed])
    def test_many_marks_take_linear_time(self, form: Callable[[str], str]) -> None:
        def seconds(count: int) -> float:
            text = "a" + "\u0301\u0327" * (count // 2)
            start = time.process_time()
            form(text)
            return time.process_time() - start

        seconds(1_000)
        assert seconds(160_000) < 50 * max(seconds(16_000), 0.002)

    @pytest.mark.parametrize("form", FORMS)
    def test_long_texts_are_formed_in_pieces(self, form: str) -> None:
        text = "".join(random.Random(1).choices(NASTY + MARKS + "ab", k=60_000))
        assert len(text.encode()) > PIECE // 2
        text += text[::-1] + text
        assert one(text, form=form) == textbook.normalise(text, TextSettings(form=form))


class TestArbitraryBytes:
    @any_time
    @given(st.lists(st.binary(max_size=40) | texts.map(str.encode), max_size=4), text_settings)
    def test_what_is_no_utf_8_is_replaced(self, given: list[bytes], text: TextSettings) -> None:
        array = pa.array(given, pa.large_binary()).view(pa.large_string())
        result = normalise(array, text)
        result.validate(full=True)
        documents = [document.decode("utf-8", "replace") for document in given]
        assert result.to_pylist() == [textbook.normalise(d, text) for d in documents]

    @pytest.mark.parametrize("offsets", [[], [0, 9], [0, 2, 1], [-1, 2]])
    def test_offsets_past_the_text_are_refused(self, offsets: list[int]) -> None:
        with pytest.raises(ValueError, match="offsets"):
            _kernels.settled(np.array(offsets, np.int64), np.zeros(3, np.uint8), "NFC")
