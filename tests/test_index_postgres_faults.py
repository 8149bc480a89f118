"""What an index in PostgreSQL survives: damaged rows and pages, a killed server, killed clients."""

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from patience import PATIENCE
from postgres import Server, needs_postgres
from test_index import named_in, near_copies

import nearly
from nearly.errors import NearlyError, SinkError, UnreadableError

pytestmark = needs_postgres

MADE: dict[str, Any] = {"threshold": 0.6, "k": 5, "seed": 11}
MEASURES = ["jaccard", "containment"]


# Damage


@pytest.fixture(scope="module")
def damageable(postgres: str) -> dict[str, tuple[str, dict[str, str]]]:
    """For each measure an index and its texts; whoever damages it does so in a transaction."""
    texts = near_copies(40)
    made = {}
    for measure in MEASURES:
        place = named_in(postgres)("index")
        nearly.Index.create(place, texts, measure=measure, **MADE).close()
        made[measure] = (place, texts)
    return made


#: What a statement does to an index, and whether a question can meet it.
DAMAGE = [
    ("UPDATE contents SET content = content || 'x'", True),
    ("UPDATE contents SET content = '' WHERE size = (SELECT max(size) FROM contents)", False),
    ("UPDATE contents SET sketch = sketch || '\\x00'", True),
    ("UPDATE contents SET size = size + 1", True),
    ("UPDATE contents SET sum = sum + 1", True),
    ("UPDATE documents SET id = id || '0'", True),
    ("UPDATE documents SET number = number + 1000", True),
    ("UPDATE documents SET digest = (SELECT digest FROM contents LIMIT 1)", False),
    ("DELETE FROM documents WHERE number = 3", False),
    ("INSERT INTO documents SELECT 99, 'n99', '\\x01', digest, sum FROM documents LIMIT 1", False),
    ("UPDATE state SET value = replace(value, '\"next_number\": 40', '\"next_number\": 4')", True),
    ("DELETE FROM state", True),
    ("UPDATE facts SET value = replace(value, '0.6', '0.5')", False),
]
DAMAGE_OF = {
    "jaccard": [
        ("UPDATE bands SET key = key + 1 WHERE band = 2", False),
        ("UPDATE bands SET digest = (SELECT digest FROM contents LIMIT 1) WHERE band = 1", False),
        ("DELETE FROM bands WHERE band = 0", False),
        ("INSERT INTO bands SELECT * FROM bands LIMIT 1", False),
    ],
    "containment": [
        ("UPDATE members SET key = key + 1 WHERE key % 5 = 0", False),
        ("DELETE FROM members WHERE key % 7 = 0", False),
        ("INSERT INTO members SELECT * FROM members LIMIT 1", False),
    ],
}


@pytest.mark.parametrize(
    ("measure", "statement", "is_met"),
    [(m, *each) for m in MEASURES for each in (*(DAMAGE if m == "jaccard" else []), *DAMAGE_OF[m])],
)
def test_a_damaged_row_is_found(
    damageable: dict[str, tuple[str, dict[str, str]]], measure: str, statement: str, is_met: bool
) -> None:
    """By `check`, and by the read that meets it: a statement stands for a disk."""
    place, texts = damageable[measure]
    with nearly.Index.open(place) as index:
        tables = index._store.tables
        tables.run("BEGIN")
        tables.run("SET LOCAL session_replication_role = replica")  # keeps no reference
        tables.run(f"SET LOCAL search_path = {tables.place.schema}")
        tables.run(statement)
        try:
            try:
                problems = index.check().problems
                tables.facts()
            except UnreadableError as error:
                problems = [str(error)]
            assert problems
            if is_met:
                with pytest.raises(UnreadableError, match="is damaged"):
                    [index.query(text) for text in texts.values()]
        finally:
            tables.run("ROLLBACK")


@pytest.mark.parametrize("measure", MEASURES)
def test_what_nobody_damaged_is_sound(
    damageable: dict[str, tuple[str, dict[str, str]]], measure: str
) -> None:
    assert nearly.Index.check_at(damageable[measure][0]).problems == []


def test_a_content_that_is_gone_is_missed(
    damageable: dict[str, tuple[str, dict[str, str]]],
) -> None:
    place, texts = damageable["jaccard"]
    with nearly.Index.open(place) as index:
        tables = index._store.tables
        tables.run("BEGIN")
        tables.run("SET LOCAL session_replication_role = replica")
        tables.run("DELETE FROM {0}.contents")
        tables.run("DELETE FROM {0}.documents")
        try:
            with pytest.raises(UnreadableError, match="not there"):
                index.query(texts["n0"])
        finally:
            tables.run("ROLLBACK")


@pytest.mark.slow
def test_a_turned_bit_is_an_error_or_does_not_matter() -> None:
    """PostgreSQL has checksums of pages where it is told so; what they find is told."""
    texts = near_copies(60)
    chance = random.Random(5)
    with Server("--data-checksums") as server:
        place = f"{server.address}&index=seen"
        with nearly.Index.create(place, texts, **MADE) as index:
            right = {text: list(index.query(text)) for text in texts.values()}
            schema = index._store.tables.place.schema
            found = index._store.tables.run(
                "SELECT pg_relation_filepath(c.oid) FROM pg_class c JOIN pg_namespace n ON "
                "n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind IN ('r', 'i', 't') "
                "AND pg_relation_size(c.oid) > 0 ORDER BY 1",
                schema,
            )
        files = [server.data / name for (name,) in found]
        errors = 0
        for _ in range(12):
            server.stop()
            file = chance.choice(files)
            data = bytearray(file.read_bytes())
            place_of_bit = chance.randrange(8 * len(data))
            data[place_of_bit // 8] ^= 1 << place_of_bit % 8
            sound = file.read_bytes()
            file.write_bytes(data)
            server.start()
            try:
                with nearly.Index.open(place) as index:
                    answers = {text: list(index.query(text)) for text in texts.values()}
                    assert answers == right
                    errors += not index.check().is_sound
            except NearlyError:
                errors += 1
            server.stop()
            file.write_bytes(sound)
            server.start()
        assert errors >= 6
        with nearly.Index.open(place) as index:
            assert index.check().is_sound


# A killed server


class Expected:
    """What is acknowledged, and the change that was under way when something broke."""

    def __init__(self) -> None:
        self.there: set[str] = set()
        self.batches = 0

    def change(self, index: nearly.Index, chance: random.Random) -> None:
        """Add some documents, or remove some."""
        if self.there and chance.random() < 0.3:
            names = set(chance.sample(sorted(self.there), min(3, len(self.there))))
            after = self.there - names
            self.doubtful = (self.there, after)
            assert index.remove(sorted(names)) == len(names)
        else:
            self.batches += 1
            batch = {f"b{self.batches}-{i}": f"text {i} of {self.batches}" for i in range(5)}
            self.doubtful = (self.there, self.there | set(batch))
            assert index.add(batch).added == 5
        self.there = self.doubtful[1]

    def settle(self, index: nearly.Index) -> None:
        """After a failure: the change is there as a whole, or not at all."""
        names = {*self.doubtful[0], *self.doubtful[1]}
        found = {name for name in names if name in index}
        assert found in self.doubtful
        assert len(index) == len(found)
        self.there = found


@pytest.mark.slow
@pytest.mark.parametrize("struck", ["backend", "postmaster"])
def test_a_killed_server_loses_nothing_that_was_acknowledged(struck: str) -> None:
    chance, expected = random.Random(7), Expected()
    with Server() as server:
        place = f"{server.address}&index=seen"
        nearly.Index.create(place, **MADE).close()
        reader = nearly.Index.open(place, read_only=True)
        changes, failures = 0, 0
        for _ in range(6):
            writer = nearly.Index.open(place)
            pid = writer._store.tables._connection.info.backend_pid

            def strike(pid: int = pid) -> None:
                os.kill(pid, signal.SIGKILL) if struck == "backend" else server.kill()

            timer = threading.Timer(chance.uniform(0.0, 0.4), strike)
            timer.start()
            try:
                while True:
                    expected.change(writer, chance)
                    changes += 1
            except SinkError:
                failures += 1
            finally:
                timer.join()
                writer.close()
            server.start()
            expected.settle(reader)  # which found the server again
        assert failures == 6
        assert changes > 0
        assert reader.check().is_sound
        assert len(reader) == len(expected.there)
        reader.close()


@pytest.mark.slow
def test_killed_clients_leave_whole_changes(postgres: str) -> None:
    """Several writers, killed at random moments; a reader sees whole changes all the time."""
    place = named_in(postgres)("index")
    nearly.Index.create(place, **MADE).close()
    chance = random.Random(3)
    acknowledged: set[str] = set()
    with nearly.Index.open(place, read_only=True) as reader:
        for round_ in range(5):
            writers = [_forked(place, f"r{round_}w{writer}") for writer in range(3)]
            end = time.monotonic() + chance.uniform(0.3, 1.2)
            while time.monotonic() < end:
                assert len(reader) % 4 == 0
            for child, _ in writers:
                os.kill(child, signal.SIGKILL)
            for child, told in writers:
                os.waitpid(child, 0)
                acknowledged |= set(_lines(told))
            found = {name for name in acknowledged if name in reader}
            assert found == acknowledged
        assert reader.check().is_sound
        assert len(reader) >= len(acknowledged) > 0
        assert len(reader) - len(acknowledged) <= 5 * 3 * 4


def _forked(place: str, name: str) -> tuple[int, int]:
    """A process that adds four documents at a time, and tells their names when they are there."""
    told, tell = os.pipe()
    child = os.fork()
    if child:
        os.close(tell)
        return child, told
    with suppress(BaseException), nearly.Index.open(place) as index:
        end = time.monotonic() + PATIENCE
        for batch in range(10**6):
            texts = {f"{name}b{batch}d{i}": f"{name} says {i} in {batch}" for i in range(4)}
            index.add(texts)
            os.write(tell, ("\n".join(texts) + "\n").encode())
            if time.monotonic() > end:
                break
    os._exit(1)


def _lines(told: int) -> Iterator[str]:
    with open(told) as lines:
        for line in lines:
            assert line.endswith("\n")
            yield line.strip()


def test_a_lost_connection_is_found_again(postgres: str) -> None:
    """A reader, and a writer between two changes; what is under way is told to have failed."""
    place = named_in(postgres)("index")
    with nearly.Index.create(place, {"a": "some text"}, **MADE) as index:
        other = nearly.Index.open(place, read_only=True)

        def lose() -> None:
            pid = index._store.tables._connection.info.backend_pid
            other._store.tables.run("SELECT pg_terminate_backend(%s, 10000)", pid)

        lose()
        assert index.query("some text") == [("a", 1.0)]
        lose()
        assert index.add({"b": "some text"}).added == 1

        def lost_before_adding() -> None:
            with index.adding() as adding:
                lose()
                adding.add({"c": "some text"})

        def lost_after_adding() -> None:
            with index.adding() as adding:
                adding.add({"d": "some text"})
                lose()

        with pytest.raises(SinkError, match="Nothing was changed"):
            lost_before_adding()
        with pytest.raises(SinkError, match="as a whole, or not at all"):
            lost_after_adding()
        assert [name in index for name in "abcd"] == [True, True, False, False]
        other.close()
