"""Groups of texts that differ only in their mentions."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from nearly.evaluation.mention import differing_in_mentions

WORDS = st.sampled_from(["@ann", "@bob_1", "rain", "Rain", "12", "…", "#rain"])
TEXTS = st.lists(st.lists(WORDS, max_size=3).map(" ".join), max_size=12)


def groups_of(texts):
    rows = differing_in_mentions(enumerate(texts)).to_pylist()
    groups = {}
    for row in rows:
        groups.setdefault(row["cluster"], []).append(row["id"])
    return sorted(groups.values())


def test_texts_that_mention_different_people():
    texts = ["RT @ann: rain again", "RT @bob: rain  again", "rain again", "RT @ann: snow again"]
    assert groups_of(texts) == [[0, 1]]


def test_a_text_without_mentions_may_be_one_of_them():
    assert groups_of(["@ann rain", "rain", "rain @bob @ann"]) == [[0, 1, 2]]


def test_of_copies_only_the_first_counts():
    assert groups_of(["@ann rain", "@ann rain", "@ann  rain "]) == []
    assert groups_of(["@ann rain", "@ann rain", "@bob rain"]) == [[0, 2]]


def test_what_has_no_letter_left_is_no_text():
    assert groups_of(["@ann", "@bob", "@ann 12!", "@bob 12!"]) == []


def test_a_mail_address_is_cut_alike_on_both_sides():
    assert groups_of(["write to a@b.org", "write to a@c.org"]) == [[0, 1]]


@given(TEXTS)
def test_pairs_are_those_that_the_definition_names(texts):
    def rest(text):
        return [word for word in text.split() if not word.startswith("@")]

    def counts(i):
        return texts[i] not in texts[:i] and any(map(str.isalpha, "".join(rest(texts[i]))))

    expected = {
        (i, j)
        for i, j in combinations(range(len(texts)), 2)
        if counts(i) and counts(j) and rest(texts[i]) == rest(texts[j])
    }
    assert {pair for group in groups_of(texts) for pair in combinations(group, 2)} == expected
