"""The textbook's way from a few documents to similar pairs, with every table on the way.

What `nearly explain` shows. All of it is made by `nearly.textbook`, so that a lesson shows what is
said there; nothing here is fast. Tables are made as `nearly.arrays` says: pandas takes longer to
import than a lesson.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

import numpy as np
import pyarrow as pa

from nearly import textbook
from nearly.arrays import (
    column_of,
    list_column,
    optional_numbers,
    string_array,
    truths_of,
    whole_numbers,
)
from nearly.errors import SettingsError
from nearly.measures.shingle import auto_k
from nearly.settings import ExplainSettings, TextSettings
from nearly.textbook.rearrangement import (
    Rearranged,
    drawn_functions,
    drawn_permutations,
    function_of,
    permutation_of,
)
from nearly.tuning.banding import Banding, curve, nearest_threshold
from nearly.wording import count

__all__ = ["Explanation", "explain_documents", "steps_of"]

MOST_DOCUMENTS: Final = 12
MOST_SHINGLES: Final = 2_000
MOST_FUNCTIONS: Final = 200

Signatures = Mapping[str, Sequence[float]]


@dataclass(frozen=True, kw_only=True, repr=False)
class Explanation:
    """Every step as a table.

    `shingles`: document, shingle; `matrix`: row, shingle, and a 1 or 0 for each document;
    `functions`: row, shingle, and what each function makes of the row; `steps`: the signature
    matrix after each row, with null for infinity; `signatures`: as the last row left them;
    `buckets`: band, values, documents; `candidates`: a, b, bands; `similarities`: a, b, shared,
    together, similarity, estimate, chance, is_candidate.
    """

    unit: str
    k: int | None  # none where sets were given
    names: tuple[str, ...]  # of the functions
    bands: int
    rows: int
    shingles: pa.Table
    matrix: pa.Table
    functions: pa.Table
    steps: pa.Table
    signatures: pa.Table
    buckets: pa.Table
    candidates: pa.Table
    similarities: pa.Table

    @property
    def tables(self) -> dict[str, pa.Table]:
        """All tables by name, in the order of the lesson."""
        return {name: getattr(self, name) for name in _TABLES}

    @property
    def documents(self) -> tuple[str, ...]:
        """The names of the documents."""
        return tuple(self.matrix.column_names[2:])

    def __repr__(self) -> str:
        return (
            f"Explanation: {count(len(self.documents), 'document')}, "
            f"{count(self.matrix.num_rows, 'shingle')}, "
            f"{count(len(self.names), 'function')}, "
            f"{count(self.candidates.num_rows, 'candidate')}"
        )


_TABLES: Final = (
    "shingles",
    "matrix",
    "functions",
    "steps",
    "signatures",
    "buckets",
    "candidates",
    "similarities",
)


def explain_documents(documents: Any, settings: ExplainSettings, text: TextSettings) -> Explanation:
    """Texts by name, a list of texts, or sets by name."""
    given = _named(documents)
    k = None if _are_sets(given) else _k_of(given, text)
    lists = {name: _elements(content, text, k) for name, content in given.items()}
    universe = _universe(lists.values(), settings)
    number = {shingle: row for row, shingle in enumerate(universe)}
    columns = {name: {number[shingle] for shingle in each} for name, each in lists.items()}
    functions = _functions(universe, settings)
    states = list(textbook.signature_steps(columns, [each.value for each in functions]))
    signatures = states[-1][1]
    banding = _banding(settings, len(functions))
    buckets = textbook.buckets(signatures, banding.bands, banding.rows)
    return Explanation(
        unit=text.unit,
        k=k,
        names=tuple(each.name for each in functions),
        bands=banding.bands,
        rows=banding.rows,
        shingles=_shingle_table(lists),
        matrix=_matrix_table(universe, columns),
        functions=_function_table(universe, functions),
        steps=_step_table(universe, states),
        signatures=_signature_table(signatures),
        buckets=_bucket_table(buckets),
        candidates=_candidate_table(buckets),
        similarities=_similarity_table(columns, signatures, buckets, banding),
    )


# From documents to numbered rows


def _named(documents: Any) -> dict[str, Any]:
    if isinstance(documents, Mapping):
        given = {str(name): content for name, content in documents.items()}
    elif isinstance(documents, Sequence) and not isinstance(documents, str | bytes):
        given = {f"D{i}": content for i, content in enumerate(documents, start=1)}
    else:
        raise SettingsError(
            f"{type(documents).__name__} was given; give texts, as a list or by name in a dict"
        )
    if not 1 <= len(given) <= MOST_DOCUMENTS:
        raise SettingsError(
            f"{count(len(given), 'document')} were given, and a lesson has 1 to {MOST_DOCUMENTS}; "
            "nearly find takes any number"
        )
    return given


def _are_sets(given: Mapping[str, Any]) -> bool:
    texts = [isinstance(content, str) for content in given.values()]
    if all(texts):
        return False
    if any(texts) or not all(isinstance(c, Set | list | tuple) for c in given.values()):
        raise SettingsError("a document is a text, or all of them are sets; give one kind")
    return True


def _k_of(given: Mapping[str, str], text: TextSettings) -> int:
    if text.k != "auto":
        return text.whole_k
    return auto_k(text.unit, sum(map(len, given.values())) / len(given))


def _elements(content: Any, text: TextSettings, k: int | None) -> list[Any]:
    """Each shingle once, as they appear; the elements of a set in their order."""
    if k is None:
        return sorted(content) if isinstance(content, Set) else list(dict.fromkeys(content))
    ignored = {run for template in text.templates for run in _runs(template, text, k)}
    return [run for run in _runs(content, text, k) if run not in ignored]


def _runs(content: str, text: TextSettings, k: int) -> list[str]:
    normalised = textbook.normalise(content, replace(text, k=k))
    runs = textbook.bag(normalised, text.unit, k)
    return [run if isinstance(run, str) else " ".join(run) for run in runs]


def _universe(lists: Iterable[list[Any]], settings: ExplainSettings) -> list[Any]:
    universe = list(dict.fromkeys(shingle for each in lists for shingle in each))
    if not universe:
        raise SettingsError("the documents have no shingle; give some with a text in them")
    if len(universe) > MOST_SHINGLES:
        raise SettingsError(
            f"the documents have {len(universe):,} shingles, and a lesson has at most "
            f"{MOST_SHINGLES:,}; give shorter ones, or take nearly find"
        )
    return sorted(universe) if settings.order == "sorted" else universe


def _functions(universe: Sequence[Any], settings: ExplainSettings) -> list[Rearranged]:
    if settings.function:
        return [function_of(formula) for formula in settings.function]
    if settings.permutation:
        return [permutation_of(_listed(each), universe) for each in settings.permutation]
    if settings.permutations > MOST_FUNCTIONS:
        raise SettingsError(
            f"permutations is {settings.permutations}; a lesson draws at most {MOST_FUNCTIONS}"
        )
    if settings.by == "permutations":
        return drawn_permutations(settings.permutations, universe, settings.seed)
    return drawn_functions(settings.permutations, len(universe), settings.seed)


def _listed(permutation: Any) -> list[Any]:
    """'b e a d c' or 'b,e,a,d,c' as a list."""
    if not isinstance(permutation, str):
        return list(permutation)
    return permutation.split("," if "," in permutation else None)


def _banding(settings: ExplainSettings, length: int) -> Banding:
    if settings.bands is not None and settings.rows is not None:
        return Banding(settings.bands, settings.rows)
    return nearest_threshold(length, settings.threshold)


# Tables


def _table(columns: Iterable[tuple[str, pa.Array]]) -> pa.Table:
    """Names may repeat: a document can be called like a column."""
    listed = list(columns)
    return pa.Table.from_arrays([array for _, array in listed], [name for name, _ in listed])


def _words(values: Iterable[str | None]) -> pa.Array:
    return string_array(list(values), pa.string())


def _whole(values: Iterable[int | None]) -> pa.Array:
    return optional_numbers(list(values))


def _shares(values: Sequence[float]) -> pa.Array:
    return column_of(np.array(values, np.float64))


def _lists(lists: Sequence[Sequence[Any]], kind: Callable[[Iterable[Any]], pa.Array]) -> pa.Array:
    return list_column(lists, kind(value for each in lists for value in each))


def _shingle_table(lists: Mapping[str, Sequence[Any]]) -> pa.Table:
    rows = [(name, str(shingle)) for name, each in lists.items() for shingle in each]
    return _table(
        [
            ("document", _words(name for name, _ in rows)),
            ("shingle", _words(shingle for _, shingle in rows)),
        ]
    )


def _numbered(universe: Sequence[Any]) -> list[tuple[str, pa.Array]]:
    return [
        ("row", whole_numbers(0, len(universe))),
        ("shingle", _words(str(shingle) for shingle in universe)),
    ]


def _matrix_table(universe: Sequence[Any], columns: Mapping[str, Set[int]]) -> pa.Table:
    cells = [
        (name, _whole(int(row in rows) for row in range(len(universe))))
        for name, rows in columns.items()
    ]
    return _table([*_numbered(universe), *cells])


def _function_table(universe: Sequence[Any], functions: Sequence[Rearranged]) -> pa.Table:
    values = [
        (f"h{i}", _whole(function.value(row) for row in range(len(universe))))
        for i, function in enumerate(functions, start=1)
    ]
    return _table([*_numbered(universe), *values])


def _step_table(
    universe: Sequence[Any], states: Sequence[tuple[int | None, Signatures]]
) -> pa.Table:
    documents = states[0][1]
    functions = [f"h{i + 1}" for i in range(len(next(iter(documents.values()))))]
    names = [None if row is None else str(universe[row]) for row, _ in states]
    return _table(
        [
            ("row", _whole(row for row, _ in states for _ in functions)),
            ("shingle", _words(name for name in names for _ in functions)),
            ("function", _words(functions * len(states))),
            *((name, _whole(_cells(name, states))) for name in documents),
        ]
    )


def _cells(name: str, states: Sequence[tuple[int | None, Signatures]]) -> Iterator[int | None]:
    """A document's values state by state; most states leave its list as it is."""
    before: Sequence[float] | None = None
    shown: list[int | None] = []
    for _, signatures in states:
        if signatures[name] is not before:
            before = signatures[name]
            shown = list(map(_finite, before))
        yield from shown


def _finite(value: float) -> int | None:
    return None if value == math.inf else int(value)


def _signature_table(signatures: Signatures) -> pa.Table:
    length = len(next(iter(signatures.values())))
    cells = [(name, _whole(map(_finite, each))) for name, each in signatures.items()]
    return _table([("function", _words(f"h{i + 1}" for i in range(length))), *cells])


Buckets = Mapping[tuple[int, tuple[float, ...]], list[str]]


def _bucket_table(buckets: Buckets) -> pa.Table:
    ordered = sorted(buckets.items(), key=lambda bucket: bucket[0][0])
    return _table(
        [
            ("band", _whole(band + 1 for (band, _), _ in ordered)),
            ("values", _lists([list(map(int, values)) for (_, values), _ in ordered], _whole)),
            ("documents", _lists([members for _, members in ordered], _words)),
        ]
    )


def _meetings(buckets: Buckets) -> dict[tuple[str, str], list[int]]:
    """The bands in which each pair of candidates meets."""
    met: dict[tuple[str, str], list[int]] = {}
    for (band, _), members in sorted(buckets.items(), key=lambda bucket: bucket[0][0]):
        for pair in combinations(members, 2):
            met.setdefault(pair, []).append(band + 1)
    return met


def _candidate_table(buckets: Buckets) -> pa.Table:
    met = sorted(_meetings(buckets).items())
    return _table(
        [
            ("a", _words(a for (a, _), _ in met)),
            ("b", _words(b for (_, b), _ in met)),
            ("bands", _lists([bands for _, bands in met], _whole)),
        ]
    )


def _similarity_table(
    columns: Mapping[str, Set[int]], signatures: Signatures, buckets: Buckets, banding: Banding
) -> pa.Table:
    pairs = list(combinations(columns, 2))
    met = _meetings(buckets)
    exact = [float(textbook.jaccard(columns[a], columns[b])) for a, b in pairs]
    estimates = [float(textbook.agreement(signatures[a], signatures[b])) for a, b in pairs]
    chances = [curve(similarity, banding.bands, banding.rows) for similarity in exact]
    return _table(
        [
            ("a", _words(a for a, _ in pairs)),
            ("b", _words(b for _, b in pairs)),
            ("shared", _whole(len(columns[a] & columns[b]) for a, b in pairs)),
            ("together", _whole(len(columns[a] | columns[b]) for a, b in pairs)),
            ("similarity", _shares(exact)),
            ("estimate", _shares(estimates)),
            ("chance", _shares(chances)),
            ("is_candidate", truths_of(np.array([pair in met for pair in pairs], bool))),
        ]
    )


def steps_of(explanation: Explanation) -> Iterator[tuple[int | None, str, list[list[int | None]]]]:
    """The signature matrix after each row: row, shingle, and the values of each document."""
    length = len(explanation.names)
    columns = [column.to_pylist() for column in explanation.steps.columns]
    for start in range(0, explanation.steps.num_rows, length):
        values = [column[start : start + length] for column in columns[3:]]
        yield columns[0][start], columns[1][start] or "", values
