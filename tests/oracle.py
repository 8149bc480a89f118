"""What a run has to answer, in plain Python: the textbook's functions and plain loops.

Nothing here knows of engines, blocks or numbers packed in words. It is slow and meant to be read.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import pyarrow as pa

from nearly import textbook
from nearly.settings import TextSettings
from nearly.textbook import signature as signatures

TOP, SNIPPET = 20, 200  # rows of `top`, and characters of a text in it
#: A cleaning run compares the documents of a bucket with this many of them.
HUBS = 32


@dataclass(frozen=True)
class Document:
    """A row that has an id and a text. It is known by its row: others may have its id."""

    row: int
    id: Any
    text: str
    normal: str
    shingles: frozenset[Any]
    is_ignored: bool  # there were shingles, and all of them count for nothing


@dataclass(frozen=True)
class Buckets:
    """How candidates are found: by bands of rows, and by enough agreement of two sketches."""

    bands: int
    rows: int
    agreement: int
    scheme: str = "one-permutation"
    seed: int = 1


def read(table: pa.Table, text: TextSettings, common: Fraction | None) -> list[Document]:
    """The documents of a table. This is where it is said what is none: a row without an id or a
    text."""
    documents = []
    dropped = dropped_of(
        table, text, common, lambda normal: textbook.shingles(normal, text.unit, text.whole_k)
    )
    for number, row in enumerate(table.to_pylist()):
        name, given = row["id"], row["text"]
        if name is None or given is None:
            continue
        normal = textbook.normalise(given, text)
        every = frozenset(textbook.shingles(normal, text.unit, text.whole_k))
        left = every - dropped
        documents.append(Document(number, name, given, normal, left, bool(every) and not left))
    return documents


def dropped_of(
    table: pa.Table, text: TextSettings, common: Fraction | None, elements: Any
) -> set[Any]:
    """What counts for nothing: what templates have, and then what too many documents have."""
    ignored = {e for each in text.templates for e in elements(textbook.normalise(each, text))}
    if common is None:
        return ignored
    rows = [row for row in table.to_pylist() if None not in (row["id"], row["text"])]
    sets = [set(elements(textbook.normalise(row["text"], text))) - ignored for row in rows]
    return ignored | textbook.too_common(sets, common)


class Oracle:
    """Answers for one corpus with one choice of settings. Documents are known by their places.

    With `buckets`, only documents that meet in one are compared; without, all are.
    """

    def __init__(
        self,
        table: pa.Table,
        *,
        threshold: float,
        cluster: str = "components",
        all_pairs: bool = False,
        keep: str | None = None,
        buckets: Buckets | None = None,
        common: float | None = None,
        **text: Any,
    ) -> None:
        self.table = table
        self.threshold = Fraction(str(threshold))
        self.cluster = cluster
        self.all_pairs = all_pairs
        self.keep = keep
        self.buckets = buckets
        self.text = TextSettings(**text)
        self.common = None if common is None else Fraction(str(common))
        self.documents = read(table, self.text, self.common)

    # Ids

    @cached_property
    def repeated(self) -> dict[Any, int]:
        """Ids that several documents have, and how many."""
        counts = Counter(document.id for document in self.documents)
        return {name: count for name, count in counts.items() if count > 1}

    def ids(self, places: Any) -> list[Any]:
        return [self.documents[place].id for place in places]

    def places(self, *places: int) -> list[Any]:
        """File and row of each, where ids repeat; what is no file has none."""
        rows = [self.documents[place].row for place in places] if self.repeated else []
        return [value for row in rows for value in (None, row)]

    # Copies

    @cached_property
    def original(self) -> dict[int, int]:
        """The first document of the same text, for each that has a text."""
        first: dict[str, int] = {}
        filled = [place for place, each in enumerate(self.documents) if each.shingles]
        return {place: first.setdefault(self.documents[place].normal, place) for place in filled}

    @cached_property
    def representatives(self) -> list[int]:
        return [place for place, first in self.original.items() if place == first]

    @cached_property
    def copies(self) -> list[int]:
        return [place for place, first in self.original.items() if place != first]

    # Pairs

    def similarity(self, a: int, b: int) -> Fraction:
        return textbook.jaccard(self.documents[a].shingles, self.documents[b].shingles)

    @cached_property
    def true(self) -> dict[tuple[int, int], Fraction]:
        """Every pair of representatives that reaches the threshold."""
        every = {pair: self.similarity(*pair) for pair in combinations(self.representatives, 2)}
        return {pair: value for pair, value in every.items() if value >= self.threshold}

    @cached_property
    def near(self) -> dict[tuple[int, int], Fraction]:
        """Those that are found."""
        if self.buckets is None:
            return self.true
        return {pair: value for pair, value in self.true.items() if pair in self.candidates}

    @cached_property
    def signatures(self) -> dict[int, list[int]]:
        assert self.buckets is not None
        made = {
            "one-permutation": signatures.one_permutation_signature,
            "independent": signatures.independent_signature,
        }[self.buckets.scheme]
        positions, seed = self.buckets.bands * self.buckets.rows, self.buckets.seed
        unit, k = self.text.unit, self.text.whole_k

        def hashes(normal: str) -> list[int]:
            return signatures.shingle_hashes(normal, unit, k, seed)

        dropped = dropped_of(self.table, self.text, self.common, hashes)
        return {
            place: made(
                [h for h in hashes(self.documents[place].normal) if h not in dropped],
                positions,
                seed,
            )
            for place in self.representatives
        }

    @cached_property
    def meetings(self) -> list[tuple[int, int]]:
        """Pairs of documents that share a bucket, once for every bucket that they share."""
        assert self.buckets is not None
        found = []
        for band in range(self.buckets.bands):
            rows = slice(band * self.buckets.rows, (band + 1) * self.buckets.rows)
            members: dict[int, list[int]] = {}
            for place, signature in self.signatures.items():
                members.setdefault(signatures.band_key(signature[rows]), []).append(place)
            for bucket in members.values():
                found += self.met_in(bucket)
        return found

    def met_in(self, bucket: list[int]) -> list[tuple[int, int]]:
        """Pairs of a bucket that are compared."""
        hubs = bucket if self.keep is None else bucket[:HUBS]
        return [(a, b) for a, b in combinations(bucket, 2) if a in hubs]

    @cached_property
    def candidates(self) -> set[tuple[int, int]]:
        """Those whose sketches, two bits of each position, agree often enough."""
        assert self.buckets is not None
        least = self.buckets.agreement
        return {pair for pair in self.meetings if self.agreement(*pair) >= least}

    def agreement(self, a: int, b: int) -> int:
        both = zip(self.signatures[a], self.signatures[b], strict=True)
        return sum(x & 3 == y & 3 for x, y in both)

    @cached_property
    def linked(self) -> dict[tuple[int, int], Fraction]:
        """The pairs to report."""
        found = dict(self.near) | {(self.original[c], c): Fraction(1) for c in self.copies}
        if self.all_pairs:
            near = self.near
            found = {}
            for a, b in combinations(self.original, 2):
                one, other = sorted((self.original[a], self.original[b]))
                if one == other:
                    found[a, b] = Fraction(1)
                elif (one, other) in near:
                    found[a, b] = near[one, other]
        return found

    @cached_property
    def pairs(self) -> list[tuple[Any, Any, float]]:
        """Rows of `pairs`."""
        found = self.linked
        return [
            (*self.ids(pair), float(found[pair]), *self.places(*pair)) for pair in sorted(found)
        ]

    @cached_property
    def top(self) -> list[tuple[Any, Any, float, str, str]]:
        """Rows of `top`: pairs of different texts, or of copies where there are no others."""
        found = self.best or {(self.original[c], c): Fraction(1) for c in self.copies}
        best = sorted(found, key=lambda pair: (-found[pair], pair))[:TOP]
        texts = [[self.documents[place].text[:SNIPPET] for place in pair] for pair in best]
        return [
            (*self.ids(pair), float(found[pair]), *shown, *self.places(*pair))
            for pair, shown in zip(best, texts, strict=True)
        ]

    @property
    def best(self) -> dict[tuple[int, int], Fraction]:
        """What is shown first."""
        return self.near

    # Clusters

    @cached_property
    def groups(self) -> list[list[int]]:
        """Clusters of two and more, by their first members."""
        return self.gathered(self.leaders() if self.cluster == "leader" else self.firsts())

    def gathered(self, head: dict[int, int]) -> list[list[int]]:
        """Copies go where their original goes."""
        groups: dict[int, list[int]] = {}
        for place, first in self.original.items():
            groups.setdefault(head[first], []).append(place)
        return sorted(group for group in groups.values() if len(group) > 1)

    def firsts(self) -> dict[int, int]:
        """The first document of each representative's component, by merging sets."""
        first = {place: place for place in self.representatives}
        for a, b in self.near:
            low, high = sorted((first[a], first[b]))
            first = {place: low if head == high else head for place, head in first.items()}
        return first

    def leaders(self, *, by_best_copy: bool = True) -> dict[int, int]:
        """A representative leads as early as the best of its copies would."""
        rank = {place: number for number, place in enumerate(self.order)}
        best = {place: rank[place] for place in self.representatives}
        for place in self.copies if by_best_copy else ():
            best[self.original[place]] = min(best[self.original[place]], rank[place])
        return textbook.leaders(sorted(self.representatives, key=best.__getitem__), self.near)

    @property
    def connecting(self) -> dict[tuple[int, int], Fraction]:
        """Of what clusters are made, besides copies."""
        return self.near

    @cached_property
    def clusters(self) -> list[tuple[Any, int, float]]:
        """Rows of `clusters`."""
        rows = []
        for number, group in enumerate(self.groups):
            inside = [value for pair, value in self.connecting.items() if set(pair) <= set(group)]
            weakest = float(min(inside, default=Fraction(1)))
            rows += [
                (self.documents[place].id, number, weakest, *self.places(place)) for place in group
            ]
        return rows

    # Survivors

    @cached_property
    def order(self) -> list[int]:
        """All documents, those that should rather survive first."""
        return sorted(range(len(self.documents)), key=self.preference)

    def preference(self, place: int) -> tuple[Any, ...]:
        """Lower is better; without a value comes last, and of equals the earlier is better."""
        rule, _, column = (self.keep or "first").partition(":")
        if not column:
            length = len(self.documents[place].text)
            return {
                "first": (place,),
                "last": (-place,),
                "longest": (-length, place),
                "shortest": (length, place),
            }[rule]
        value = self.table[column][self.documents[place].row].as_py()
        if value is None:
            return (1, 0, place)
        number = int(value.replace("-", "")) if isinstance(value, str) else value
        return (0, -number if rule in ("newest", "max") else number, place)

    @cached_property
    def survivors(self) -> dict[int, int]:
        """Who stands for each removed document."""
        best = {place: min(group, key=self.preference) for group in self.groups for place in group}
        return {place: stays for place, stays in sorted(best.items()) if place != stays}

    @cached_property
    def removed(self) -> list[tuple[Any, Any, float, int]]:
        """Rows of `removed`."""
        number = {place: n for n, group in enumerate(self.groups) for place in group}
        return [
            (
                *self.ids((place, stays)),
                float(self.similarity(place, stays)),
                number[place],
                *self.places(place, stays),
            )
            for place, stays in self.survivors.items()
        ]

    @cached_property
    def below(self) -> int:
        """Removed documents that no threshold lets be like their survivor."""
        apart = (self.similarity(*pair) for pair in self.survivors.items())
        return sum(value < self.threshold for value in apart)

    @cached_property
    def kept(self) -> pa.Table:
        """All rows but those of removed documents; rows that are no documents stay."""
        gone = {self.documents[place].row for place in self.survivors}
        rows = [row for row in range(self.table.num_rows) if row not in gone]
        return self.table.take(rows).combine_chunks()

    # Numbers

    @property
    def counts(self) -> dict[str, int]:
        """Statistics that are the same on every engine, for `find` or for `dedup`."""
        found = {"pairs": len(self.pairs)}
        if self.keep is not None:
            found = {"removed": len(self.removed), "below": self.below}
        if self.repeated:
            found |= {
                "repeated_ids": len(self.repeated),
                "sharing_ids": sum(self.repeated.values()),
            }
        met = {}
        if self.buckets is not None:
            met = {"meetings": len(self.meetings), "verified": len(self.candidates)}
        ignored = sum(each.is_ignored for each in self.documents)
        if self.text.ignore or self.common is not None:
            met["ignored"] = ignored
        return {
            "documents": len(self.documents),
            "skipped": self.table.num_rows - len(self.documents),
            "empty": len(self.documents) - len(self.original) - ignored,
            "copies": len(self.copies),
            "k": self.text.whole_k,
            "clusters": len(self.groups),
            **met,
            **found,
        }

    def around(self, sought: list[int], count: int) -> tuple[list[Any], list[Any]]:
        """Ids and similarities next to the threshold: found, and near misses of the sought."""
        every = {pair: self.similarity(*pair) for pair in combinations(self.representatives, 2)}
        missed = {
            pair: value
            for pair, value in every.items()
            if self.threshold / 2 <= value < self.threshold and set(pair) & set(sought)
        }
        above = sorted(self.near, key=lambda pair: (self.near[pair], pair))[:count]
        below = sorted(missed, key=lambda pair: (-missed[pair], pair))[:count]
        return tuple(
            [(*self.ids(pair), float(every[pair])) for pair in side] for side in (above, below)
        )

    @property
    def common_count(self) -> int | None:
        """How many shingles too many documents have."""
        if self.common is None:
            return None

        def shingles(normal: str) -> Any:
            return textbook.shingles(normal, self.text.unit, self.text.whole_k)

        ignored = dropped_of(self.table, self.text, None, shingles)
        return len(dropped_of(self.table, self.text, self.common, shingles) - ignored)

    @property
    def audit(self) -> dict[str, float]:
        """What an exact search of all representatives says; each pair is seen from both sides."""
        recall = len(self.near) / len(self.true)
        return {
            "documents": len(self.representatives),
            "pairs": 2 * len(self.true),
            "found": 2 * len(self.near),
            "recall": recall,
            "low": recall,
            "high": recall,
            "precision": 1.0,
        }


class OneSided(Oracle):
    """New documents after old ones: pairs cross the border, and what was old stays."""

    def __init__(self, old: pa.Table, new: pa.Table, **options: Any) -> None:
        super().__init__(pa.concat_tables([old, new]).combine_chunks(), **options)
        self.old_rows = old.num_rows

    def is_old(self, place: int) -> bool:
        return self.documents[place].row < self.old_rows

    def crosses(self, pair: tuple[int, int]) -> bool:
        return self.is_old(pair[0]) and not self.is_old(pair[1])

    def places(self, *places: int) -> list[Any]:
        rows = [self.documents[place].row for place in places] if self.repeated else []
        sides = [("against", r) if r < self.old_rows else (None, r - self.old_rows) for r in rows]
        return [value for side in sides for value in side]

    def may_meet(self, a: int, b: int) -> bool:
        """Whether two representatives are compared: for themselves, or for copies of theirs."""
        if self.keep is not None:
            return not (self.is_old(a) and self.is_old(b))
        if not self.all_pairs:
            return self.is_old(a) != self.is_old(b)
        one, other = (
            {self.is_old(p) for p, first in self.original.items() if first == text}
            for text in (a, b)
        )
        return len(one | other) == 2

    @cached_property
    def true(self) -> dict[tuple[int, int], Fraction]:
        return {pair: value for pair, value in super().true.items() if self.may_meet(*pair)}

    def met_in(self, bucket: list[int]) -> list[tuple[int, int]]:
        hubs = bucket
        if self.keep is not None:
            old = [place for place in bucket if self.is_old(place)]
            hubs = old[:HUBS] + [place for place in bucket if not self.is_old(place)][:HUBS]
        return [
            pair
            for pair in combinations(bucket, 2)
            if self.may_meet(*pair) and set(pair) & set(hubs)
        ]

    @cached_property
    def linked(self) -> dict[tuple[int, int], Fraction]:
        return {pair: value for pair, value in super().linked.items() if self.crosses(pair)}

    @property
    def best(self) -> dict[tuple[int, int], Fraction]:
        return self.linked if self.all_pairs or not self.near else self.near

    @property
    def connecting(self) -> dict[tuple[int, int], Fraction]:
        return self.linked if self.keep is None else self.near

    @cached_property
    def groups(self) -> list[list[int]]:
        if self.keep is not None:  # old copies are no news
            return [group for group in map(self.told, super().groups) if len(group) > 1]
        everyone = sorted({place for pair in self.linked for place in pair})
        if self.cluster == "leader":
            head = textbook.leaders(everyone, self.linked)
        else:
            head = {place: place for place in everyone}
            for a, b in self.linked:
                low, high = sorted((head[a], head[b]))
                head = {place: low if first == high else first for place, first in head.items()}
        groups: dict[int, list[int]] = {}
        for place, first in head.items():
            groups.setdefault(first, []).append(place)
        return sorted(group for group in groups.values() if len(group) > 1)

    def told(self, group: list[int]) -> list[int]:
        return [p for p in group if not self.is_old(p) or p == self.original[p]]

    def preference(self, place: int) -> tuple[Any, ...]:
        if self.is_old(place):
            return (0, place)
        return (1, super().preference(place))

    @cached_property
    def survivors(self) -> dict[int, int]:
        """The nearest old one that a document has a pair with, or the best of its cluster."""
        found = {}
        for group in self.groups:
            for place in (p for p in group if not self.is_old(p)):
                text = self.original[place]
                olds = [p for p in group if self.is_old(p) and (p, text) in self.near]
                best = min(group, key=self.preference)
                if olds:
                    best = min(olds, key=lambda p: (-self.near[p, text], p))
                if self.is_old(text):
                    best = text
                if place != best:
                    found[place] = best
        return dict(sorted(found.items()))

    @cached_property
    def kept(self) -> pa.Table:
        kept = super().kept
        return kept.slice(self.old_rows).combine_chunks()

    @property
    def counts(self) -> dict[str, int]:
        new = [place for place in range(len(self.documents)) if not self.is_old(place)]
        return super().counts | {
            "documents": len(new),
            "against": len(self.documents) - len(new),
            "empty": sum(not self.documents[place].shingles for place in new),
            "copies": sum(self.original.get(place, place) != place for place in new),
        }

    @property
    def audit(self) -> dict[str, float]:
        found = super().audit
        asked = [
            place
            for place in self.representatives
            if any(not self.is_old(p) for p, first in self.original.items() if first == place)
            and (self.all_pairs or not self.is_old(place))
        ]

        def seen(pairs: dict[tuple[int, int], Fraction]) -> int:
            return sum((a in asked) + (b in asked) for a, b in pairs)

        return found | {
            "documents": len(asked),
            "pairs": seen(self.true),
            "found": seen(self.near),
            **dict.fromkeys(("recall", "low", "high"), seen(self.near) / seen(self.true)),
        }


def check_border(oracle: OneSided) -> None:
    """Refuse a case in which the border does not matter."""
    whole = Oracle(
        oracle.table, threshold=float(oracle.threshold), k=oracle.text.k, unit=oracle.text.unit
    )
    sides = [(oracle.is_old(a), oracle.is_old(b)) for a, b in whole.true]
    assert sides.count((True, False)) >= 5, "too few pairs cross the border"
    assert sides.count((True, True)) >= 5, "too few old pairs"
    assert sides.count((False, False)) >= 5, "too few new pairs"
    crossing = [c for c in oracle.copies if oracle.crosses((oracle.original[c], c))]
    assert len(crossing) >= 3, "too few copies across the border"
    assert any(oracle.is_old(c) for c in oracle.copies), "no copies among old documents"
    both = {oracle.original[c] for c in crossing}
    assert any(both & set(pair) for pair in whole.true), "no text of both sides is near another"


def check_telling(oracle: Oracle) -> None:
    """Refuse a case that could not tell a right run from a wrong one."""
    sizes = [len(group) for group in oracle.groups]
    assert len(oracle.near) >= 8, "too few pairs"
    assert sum(value < 1 for value in oracle.near.values()) >= 8, "too few that are not equal"
    assert len(oracle.groups) >= 3, "too few clusters"
    assert max(sizes) >= 3, "no cluster of three"
    assert len(oracle.original) > sum(sizes), "no strangers"
    thirds = [{3 * place // len(oracle.documents) for place in group} for group in oracle.groups]
    assert sum(len(parts) > 1 for parts in thirds) >= 2, "no cluster lies in several parts"


def check_many_kinds(oracle: Oracle) -> None:
    """The same, of a corpus that has copies, chains, and empty and short documents."""
    check_telling(oracle)
    same = Counter(oracle.original.values())
    assert len(oracle.copies) >= 5, "too few copies"
    assert max(same.values()) >= 3, "no text occurs three times"
    assert len(oracle.documents) - len(oracle.original) >= 2, "no empty documents"
    short = [d for d in oracle.documents if 0 < len(d.normal) < oracle.text.whole_k]
    assert len(short) >= 2 or oracle.text.unit == "word", "no short documents"
    strangers = [
        group
        for group in oracle.groups
        if any(oracle.similarity(a, b) < oracle.threshold for a, b in combinations(group, 2))
    ]
    if oracle.cluster == "components":
        assert strangers, "no chain has strangers at its ends"


def check_repeats(oracle: Oracle) -> None:
    """Ids have to repeat in every way that a run could take one document for another."""
    assert len(oracle.repeated) >= 5, "too few ids repeat"
    assert max(oracle.repeated.values()) >= 4, "no id stands for four documents"
    names = [document.id for document in oracle.documents]
    same = [(a, b) for a, b in combinations(range(len(names)), 2) if names[a] == names[b]]
    assert any(pair in oracle.near for pair in same), "no relatives share an id"
    assert any(oracle.original.get(a, a) != oracle.original.get(b, b) for a, b in same)
    rows = {(document.id, document.text) for document in oracle.documents if document.shingles}
    assert len(rows) < len(oracle.original), "no whole row occurs twice"
    if oracle.keep is not None:
        gone = set(oracle.survivors)
        assert any(a in gone and b not in gone for a, b in same), "a later one never stays"
        assert any(a not in gone and b in gone for a, b in same), "a later one never goes"


def check_survivors(oracle: Oracle) -> None:
    """The rule has to matter: not the first one of each cluster stays, and ties are broken."""
    assert len(oracle.removed) >= 8, "too few are removed"
    firsts = {min(group) for group in oracle.groups}
    stay = {min(group, key=oracle.preference) for group in oracle.groups}
    assert (stay == firsts) == (oracle.keep == "first"), "the rule does not matter"
    if oracle.keep not in ("first", "last"):
        best = [sorted(oracle.preference(place)[:-1] for place in g) for g in oracle.groups]
        assert any(first == second for first, second, *_ in best), "no ties"
    apart = [oracle.similarity(*pair) for pair in oracle.survivors.items()]
    below = [value for value in apart if value < oracle.threshold]
    if oracle.cluster == "components":
        assert below, "no survivor is far from what it stands for"
    elif oracle.keep != "first":
        others = oracle.gathered(oracle.leaders(by_best_copy=False))
        assert others != oracle.groups, "it does not matter how good copies are"
