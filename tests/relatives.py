"""Corpora whose documents are related in every way that a run has to tell apart.

Made from a seed: chains whose ends are strangers, crowds around one text, exact copies, copies in
other letters, empty and short documents, strangers. Relatives are scattered over the whole corpus,
so that they lie in several blocks however it is cut. Columns to keep by have ties and gaps.
"""

import random
from collections.abc import Iterator

import pyarrow as pa

SYLLABLES = ("ba", "do", "ki", "ru", "me", "sol", "tan", "vir", "é", "ß", "日本", "ñu")
LENGTH = 14  # words of a text


def corpus(seed: int, *, chains: int = 3, crowds: int = 2, strangers: int = 12) -> pa.Table:
    """Some seventy documents: id, text, date, score."""
    chance = random.Random(seed)
    texts = [
        *(text for _ in range(chains) for text in chain(chance, chance.randint(5, 7))),
        *(text for _ in range(crowds) for text in crowd(chance, chance.randint(4, 6))),
        *(text_of(chance) for _ in range(strangers)),
        *("", "", " \t "),
        *("ab", "ab", "AB", "xyz", "q"),
    ]
    texts += list(copied(chance, [text for text in texts if len(text) > 3]))
    chance.shuffle(texts)
    return table_of(chance, texts)


def crowded(seed: int, members: int = 50) -> pa.Table:
    """Documents that fill buckets: more of them than a cleaning run compares all with all."""
    chance = random.Random(seed)
    chains = [text for links in (3, 4, 6) for text in chain(chance, links)]
    texts = [*crowd(chance, members), *chains, *(text_of(chance) for _ in range(5))]
    chance.shuffle(texts)
    return table_of(chance, texts)


def long_chain(seed: int, links: int = 60) -> pa.Table:
    """One chain that takes several rounds to be seen whole, and a few strangers."""
    chance = random.Random(seed)
    texts = [*chain(chance, links), *(text_of(chance) for _ in range(5))]
    chance.shuffle(texts)
    return table_of(chance, texts)


def headed(table: pa.Table, header: str) -> pa.Table:
    """The same, most of them under a header, which is all that some of them have."""
    texts = table["text"].to_pylist()
    texts = [header + text if place % 4 else text for place, text in enumerate(texts)]
    texts[5:12:2] = [header.strip(), header.upper(), header[5:], header]
    return table.set_column(table.column_names.index("text"), "text", pa.array(texts))


def spoilt(table: pa.Table, seed: int) -> pa.Table:
    """The same with rows that are no documents: no id, or no text either."""
    chance = random.Random(seed)
    rows = table.to_pylist()
    for _ in range(4):
        rows.insert(chance.randrange(len(rows)), {**chance.choice(rows), "id": None})
        rows.insert(chance.randrange(len(rows)), {**chance.choice(rows), "id": None, "text": None})
    return pa.Table.from_pylist(rows, schema=table.schema)


def varied(table: pa.Table, seed: int) -> pa.Table:
    """The same, and copies of some texts that differ in space, marks, digits and order only."""
    chance = random.Random(seed)
    rows = table.to_pylist()
    for row in chance.sample([row for row in rows if len(row["text"]) > 20], 6):
        text = row["text"]
        variants = (
            text.replace(" ", "\n", 2),
            text + "!",
            f"7, {text}",
            f"8 {text}",
            " ".join(reversed(text.split())),
        )
        for number, variant in enumerate(variants):
            made = {**row, "id": f"{row['id']}/{number}", "text": variant}
            rows.insert(chance.randrange(len(rows)), made)
    return pa.Table.from_pylist(rows, schema=table.schema)


def relabelled(table: pa.Table, seed: int) -> pa.Table:
    """The same with ids that repeat: of strangers, of relatives, of whole rows, of empty texts.

    Most documents share their id with one other, and some ids stand for many.
    """
    chance = random.Random(seed)
    rows = table.to_pylist()
    for row in chance.sample(rows, 5):
        rows.insert(chance.randrange(len(rows)), dict(row))
    for row in chance.sample(rows, len(rows) // 2):
        row["id"] = chance.choice(rows)["id"]
    for row in rows:
        if not row["text"].strip() or chance.random() < 0.1:
            row["id"] = "none"
    return pa.Table.from_pylist(rows, schema=table.schema)


def chain(chance: random.Random, links: int) -> Iterator[str]:
    """Each a little other than the one before, and the last one much other than the first."""
    words = words_of(chance)
    for link in range(links):
        yield " ".join(words)
        words[(2 * link) % LENGTH] = word(chance)
        words[(2 * link + 1) % LENGTH] = word(chance)


def crowd(chance: random.Random, members: int) -> Iterator[str]:
    """One text, and others that each differ from it in a word."""
    words = words_of(chance)
    yield " ".join(words)
    for _ in range(members - 1):
        place = chance.randrange(LENGTH)
        yield " ".join([*words[:place], word(chance), *words[place + 1 :]])


def copied(chance: random.Random, texts: list[str]) -> Iterator[str]:
    """Copies of some, one or more of each, and some in capitals or with more white space."""
    for text in chance.sample(texts, 7):
        for _ in range(chance.choice((1, 1, 2, 3))):
            yield chance.choice((text, text, text.upper(), text.replace(" ", "  ")))


def text_of(chance: random.Random) -> str:
    return " ".join(words_of(chance))


def words_of(chance: random.Random) -> list[str]:
    return [word(chance) for _ in range(LENGTH)]


def word(chance: random.Random) -> str:
    return "".join(chance.choice(SYLLABLES) for _ in range(chance.randint(1, 4)))


def table_of(chance: random.Random, texts: list[str]) -> pa.Table:
    """Ids that are not in the order of rows; few different dates and scores, some missing."""
    count = len(texts)
    names = [f"d{place:04}" for place in chance.sample(range(count), count)]
    dates = [chance.choice((None, *(f"2024-0{month}-01" for month in range(1, 5)))) for _ in texts]
    scores = [chance.choice((None, 0, 1, 2)) for _ in texts]
    return pa.table(
        {
            "id": pa.array(names, pa.string()),
            "text": pa.array(texts, pa.string()),
            "date": pa.array(dates, pa.string()),
            "score": pa.array(scores, pa.int64()),
        }
    )
