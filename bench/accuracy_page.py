"""The page docs/accuracy.md, from the results of `accuracy.py`."""

from collections.abc import Iterable, Sequence
from typing import Any

from tweets import MANFREDI_FOUND

TEXT = """\
# Accuracy

Written by `python bench/accuracy.py`; all numbers, with the machine and the versions, are in
`bench/results/accuracy.json`.

Two questions are kept apart here:

1. **Does nearly find the pairs that are similar?** That is a promise, and it can be checked
   exactly: see the first two tables.
2. **Are similar pairs the ones that people mean?** That is a matter of the data. Where duplicates
   are copies, changed a little, Jaccard similarity finds them. Where "the same" means the same
   thing in other words, it does not, and no threshold will help.

## The promise: recall by threshold

`nearly find` with nothing but a threshold promises to find at least 99% of the pairs from that
threshold upwards. It takes the exact join where that is cheaper, which misses nothing, and hashing
elsewhere; *recall* is that of the method it took, and hashing is measured everywhere. Measured were
the thresholds 0.7, 0.8 and 0.9, none below; here is each corpus and threshold with {fewest} such
pairs or more (baskets are taken as texts). The truth is exact and independent: texts normalised by
the plain Python of `nearly.textbook`, shingles numbered by a dict, and joined without hashing.
Exact copies do not count, on either side: they are always found, and would flatter the recall.
Everything that is reported is verified, so "false" is 0 by construction; it is counted anyway.

{promises}

The least recall by hashing is {least}. It is promised for each pair that lies exactly at the
threshold; most pairs lie above it, so most corpora do better.

## Manfredi's test set: tweets that differ only in their mentions

Pairs of tweets that are equal once every @name is taken out. Manfredi's system (k = 5, threshold
0.7, 10 bands of 10 rows; lower case, only letters, mentions and hashtags kept) found {manfredi} of
the pairs of his own day of tweets. The corpora here are others, so the rows can be compared with
one another, but only loosely with his number. All by hashing, also where nearly by itself would
take the exact join.

{mentions}

- *pairs* are all pairs of the test set, and *found* is the share of them that was found.
- *reach t* are those whose exact similarity reaches the threshold; the others must not be reported
  by anyone who verifies. In a short tweet a mention is much of the text, so there are many such.
- *expected* is what the curve 1 - (1 - s^r)^b gives for the similarities s of the pairs that reach
  the threshold. 10 bands of 10 rows find a pair of similarity 0.7 with probability 0.25: that is
  what the rule "(1/b)^(1/r) near the threshold" means. The disaster tweets are few, and pairs of
  one group tend to be found or missed together, so they may lie far from what is expected.

To make such a test set from any table of short texts:

```
nearly mentions tweets.parquet -o gold.csv
nearly find tweets.parquet --threshold 0.7 -o pairs.parquet
nearly evaluate pairs.parquet --gold gold.csv
```

## Labelled sets

Each set was searched once, at its lowest threshold, and cut again at all others (a sweep). *Stated*
is a round threshold set by hand: 0.5 for most, lower or higher where the kind of data asks for it.
It is no blind choice: the kind of shingles and the stated thresholds were settled with the data at
hand and first results seen, and those of the records were then made one number, 0.5 (they had been
0.4 for cora and 0.3 for the products). *Best* is the one with the best F1, chosen by looking at the
truth: take it as the most that a threshold can do. There is no held-out part, so neither says what
to expect of other data. P, R and F1 are precision, recall and F1 by pair; B³ is the B-cubed F1 and
ARI the adjusted Rand index of the clusters, at the stated threshold, where the truth speaks of
every pair.

{labelled}

What the truth speaks of:

- *every pair*: what is not labelled the same is not the same.
- *across the sides*: the labels match two tables; pairs within one table are left out.
- *labelled pairs*: only pairs with a label, yes or no, are judged.
- *recall only*: the truth comes from metadata and knows only some of the true pairs. Pairs that it
  does not know are often true too, so there is no precision to speak of.

Settings, and notes written by hand on what the numbers mean:

{notes}

### By level of copying

Recall at the stated threshold:

{levels}

### The sweeps

F1 by threshold (recall, where the truth is good for recall only):

{sweeps}

To repeat one of them by hand:

```
nearly find docs.parquet --threshold 0.2 --unit word --k 1 --punctuation drop -o pairs.parquet
nearly evaluate pairs.parquet --gold gold.csv --documents docs.parquet --sweep 0.2:0.95:0.05
```
"""

# The sign of multiplication is meant: the tables are for people.
# ruff: noqa: RUF001

#: By the beginning of a set's name: what a reader has to know to read its numbers well.
NOTES = {
    "articles": "News articles with planted near-copies. All of them are found and nothing else "
    "is, at 0.5 and at any threshold from 0.25 to 0.95: the copies are far from all other pairs.",
    "plagiarism-answers": "Short answers against the text that they were, or were not, copied "
    "from. No answer that was written freely reaches the threshold. The copies that are missed "
    "were rewritten heavily, or are much shorter than the original: for those, containment would "
    "be the better measure.",
    "records/cora": "Citations of the same papers in many spellings. The order of fields does not "
    "matter to single words; abbreviated names and missing fields do.",
    "records/dblp-acm": "The same papers in two clean bibliographies: title, authors, venue, "
    "year. Nearly the same text, and Jaccard does well. What is false is often a column that "
    "appears every year under one title, or the conference version of a journal paper.",
    "records/restaurants-dirty": "Names and addresses. Two restaurants in one street share many "
    "words, which costs precision.",
    "records/abt-buy": "Products of two shops, in the shops' own words. The same product shares "
    "little text, and two models of one series share more. Jaccard is the wrong tool: use "
    "model numbers, or a trained matcher.",
    "records/amazon-google": "Software products of two shops: as above. Jaccard is the wrong tool.",
    "java": "Student programs against the original, plagiarised at six levels, or written "
    "independently for the same task. All solve one task, so independent programs are similar "
    "too, and low thresholds cost precision. The higher levels rename and restructure: compare "
    "tokens or syntax trees instead.",
    "chinese": "Pairs of questions, labelled as having the same meaning or another one. Those of "
    "another meaning look alike too: similarity of text says little about meaning here.",
    "newsgroups": "Posts that went to several groups, known by their message ids. The other pairs "
    "that were found are posts sent again under another id, and answers that quote a whole post.",
    "licences": "Rules and the licence texts that they were made from. Many rules name a licence "
    "and share nothing with its text, so only those count here whose similarity by word "
    "3-shingles, as the set gives it, is at least 0.8. What is missed is below 0.8 as nearly cuts "
    "words.",
}


def page(results: dict[str, Any]) -> str:
    """The whole page."""
    promises, sets = results["promises"], results["labelled"]
    return TEXT.format(
        fewest=100,
        promises=_promises(promises),
        least=f"{min(row['hashing']['recall'] for row in promises):.4f}",
        manfredi=f"{MANFREDI_FOUND:.2%}",
        mentions=_mentions(results["mentions"]),
        labelled=_labelled(sets),
        notes=_notes(sets),
        levels=_levels(sets),
        sweeps=_sweeps(sets),
    )


def _promises(rows: list[dict[str, Any]]) -> str:
    headings = ["corpus", "documents", "k", "threshold", "pairs", "method", "recall", "false"]
    return _table(
        [*headings, "bands × rows", "recall by hashing"],
        (
            [
                row["corpus"],
                f"{row['documents']:,}",
                row["k"],
                row["threshold"],
                f"{row['pairs']:,}",
                row["method"],
                f"{row['recall']:.4f}",
                row["false"] + row["hashing"]["false"],
                f"{row['bands']} × {row['rows']}",
                f"{row['hashing']['recall']:.4f}",
            ]
            for row in rows
        ),
    )


def _mentions(rows: list[dict[str, Any]]) -> str:
    return _table(
        ["corpus", "settings", "bands × rows", "pairs", "found", "reach t", "found", "expected"],
        (
            [
                row["corpus"],
                row["settings"],
                f"{row['bands']} × {row['rows']}",
                f"{row['pairs']:,}",
                f"{row['recall']:.2%}",
                f"{row['reaching']:,}",
                f"{row['recall_of_reaching']:.2%}",
                f"{row['expected_of_reaching']:.2%}",
            ]
            for row in rows
        ),
    )


def _labelled(sets: list[dict[str, Any]]) -> str:
    headings = ["set", "documents", "true pairs", "truth", "stated", "P", "R", "F1"]
    headings += ["best", "P", "R", "F1", "B³", "ARI"]
    return _table(headings, map(_labelled_row, sets))


def _labelled_row(row: dict[str, Any]) -> list[object]:
    only_recall = row["scope"] == "recall only"
    cells = [row["set"], f"{row['documents']:,}", f"{row['gold']:,}", row["scope"]]
    for point in (row["stated"], row["best"]):
        if point is None:
            cells += ["", "", "", ""]
            continue
        shares = [point["precision"], point["recall"], point["f1"]]
        shown = [None, shares[1], None] if only_recall else shares
        cells += [point["threshold"], *map(_share, shown)]
    clusters = [row["b_cubed_f1"], row["adjusted_rand"]]
    return cells + [_share(c if row["scope"] == "every pair" else None) for c in clusters]


def _notes(sets: list[dict[str, Any]]) -> str:
    return "\n".join(
        f"- **{name}** ({_settings(row)}): {note}"
        for name, note in NOTES.items()
        for row in [next(row for row in sets if row["set"].startswith(name))]
    )


def _settings(row: dict[str, Any]) -> str:
    settings = row["settings"]
    dropped = ", punctuation dropped" if settings.get("punctuation") == "drop" else ""
    return f"{settings['unit']} {settings['k']}-shingles{dropped}; searched from {row['lowest']}"


def _levels(sets: list[dict[str, Any]]) -> str:
    return _table(
        ["set", "level", "pairs", "found", "recall"],
        (
            [row["set"], level, each["gold"], each["found"], _share(each["found"] / each["gold"])]
            for row in sets
            for level, each in row["levels"].items()
        ),
    )


def _sweeps(sets: list[dict[str, Any]]) -> str:
    thresholds = [n / 10 for n in range(1, 10)]
    return _table(
        ["set", *thresholds],
        (
            [
                row["set"] + (" (recall)" if row["scope"] == "recall only" else ""),
                *(_at(row, threshold) for threshold in thresholds),
            ]
            for row in sets
        ),
    )


def _at(row: dict[str, Any], threshold: float) -> str:
    measure = "recall" if row["scope"] == "recall only" else "f1"
    points = {point["threshold"]: point[measure] for point in row["sweep"]}
    return _share(points.get(threshold))


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.3f}"


def _table(headings: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [headings, ["---", *("---:" for _ in headings[1:])], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
