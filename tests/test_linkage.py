"""Tables by ids as linkages: what is numbered, what is refused, and in which words."""

import pyarrow as pa
import pytest

from nearly.errors import MissingError, SourceError
from nearly.evaluation.agreement import evaluate
from nearly.evaluation.linkage import link


def pairs(*rows, similarity=None):
    columns = {"id_a": [a for a, _ in rows], "id_b": [b for _, b in rows]}
    return pa.table(columns | ({"similarity": similarity} if similarity else {}))


def counts(linked):
    measured = evaluate(linked.found, linked.gold)
    return measured.documents, measured.pairs.found, measured.pairs.gold, measured.pairs.true


def test_ids_are_the_same_whatever_their_type_and_order():
    numbers = pa.table({"id_a": pa.array([1, 3]), "id_b": pa.array([2, 4])})
    strings = pairs(("2", "1"), ("1", "4"))
    assert counts(link(numbers, strings)) == (4, 2, 2, 1)


def test_clusters_on_either_side():
    clusters = pa.table({"id": ["a", "b", "c", "d"], "cluster": ["x", "x", "x", "y"]})
    assert counts(link(pairs(("a", "c")), clusters)) == (4, 1, 3, 1)
    assert counts(link(clusters, pairs(("a", "c"), ("a", "d")))) == (4, 3, 2, 1)


def test_documents_are_all_that_exist():
    linked = link(pairs(("a", "b")), pairs(("a", "b")), pa.chunked_array([["a", "b", "c"]]))
    assert counts(linked) == (3, 1, 1, 1)
    assert linked.unknown == []


def test_ids_of_the_truth_that_do_not_exist_are_listed_and_their_rows_left_out():
    gold = pairs(("a", "b"), ("a", "ghost"), ("phantom", "ghost"))
    linked = link(pairs(("a", "b")), gold, pa.chunked_array([["a", "b"]]))
    assert sorted(linked.unknown) == ["ghost", "phantom"]
    assert counts(linked) == (2, 1, 1, 1)


def test_found_ids_that_do_not_exist_are_an_error():
    with pytest.raises(SourceError, match=r"1 ids that are not among the 2 documents.*'ghost'"):
        link(pairs(("a", "ghost")), pairs(("a", "b")), pa.chunked_array([["a", "b"]]))


def test_other_columns_are_refused_with_those_that_exist():
    with pytest.raises(MissingError, match=r"left, right; pairs have id_a and id_b"):
        link(pa.table({"left": ["a"], "right": ["b"]}), pairs(("a", "b")))


def test_a_document_has_one_cluster():
    twice = pa.table({"id": ["a", "b", "a"], "cluster": [0, 0, 1]})
    with pytest.raises(SourceError, match=r"the truth, 'a' stands in more than one cluster"):
        link(pairs(("a", "b")), twice)


def test_documents_that_share_an_id_may_share_a_cluster():
    twice = pa.table({"id": ["a", "b", "a"], "cluster": [0, 0, 0]})
    assert counts(link(pairs(("a", "b")), twice)) == (2, 1, 1, 1)


def test_places_tell_documents_apart_where_both_tables_have_them():
    rows = {"file_a": ["x"] * 2, "row_a": [0, 1], "file_b": ["x", "y"], "row_b": [1, 1]}
    found = pa.table({"id_a": ["a", "a"], "id_b": ["a", "a"], **rows})
    gold = pa.table({"id": ["a", "a"], "cluster": [0, 0], "file": ["x", "y"], "row": [1, 1]})
    assert counts(link(found, gold)) == (3, 2, 1, 1)
    # By id alone they are one document, and there is no pair.
    assert counts(link(found, gold.select(["id", "cluster"]))) == (1, 0, 0, 0)
    keys = pa.chunked_array([["x:0", "x:1", "y:0", "y:1"]])
    assert counts(link(found, gold, keys)) == (4, 2, 1, 1)


def test_missing_ids_are_refused():
    with pytest.raises(SourceError, match=r"1 rows of what was found have no 'id_b'"):
        link(pairs(("a", None)), pairs(("a", "b")))


@pytest.mark.parametrize("similarity", [["1.2"], ["-0.1"], ["nan"], ["high"]])
def test_similarities_are_numbers_from_0_to_1(similarity):
    with pytest.raises(SourceError, match="'similarity' of what was found"):
        link(pairs(("a", "b"), similarity=similarity), pairs(("a", "b")))


def test_nothing_found_is_not_an_error():
    nothing = pa.table({"id_a": pa.array([], pa.string()), "id_b": pa.array([], pa.string())})
    assert counts(link(nothing, pairs(("a", "b")))) == (2, 0, 1, 0)
    assert counts(link(nothing, nothing)) == (0, 0, 0, 0)
