"""What is special to an index in PostgreSQL; all else is held by the tests of any index."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from postgres import needs_postgres
from test_index import named_in, near_copies, pairs_of

import nearly
from nearly.errors import MissingError, SettingsError, SinkError
from nearly.index.postgres_place import PostgresPlace, is_postgres

MADE: dict[str, Any] = {"threshold": 0.6, "k": 5, "seed": 11}


@pytest.mark.parametrize(
    ("given", "schema", "shown"),
    [
        ("postgresql://h/b", "nearly_seen", "postgresql://h/b?index=seen"),
        ("postgres://me:top@h:1/b?index=x", "nearly_x", "postgres://me@h:1/b?index=x"),
        ("postgresql://h/b?password=top&a=1", "nearly_seen", "postgresql://h/b?a=1&index=seen"),
    ],
)
def test_a_password_is_never_shown(given: str, schema: str, shown: str) -> None:
    place = PostgresPlace.of(given)
    assert is_postgres(given)
    assert place[1:] == (schema, shown)
    assert "index=" not in place.address
    assert ("top" in place.address) == ("top" in given)


def test_a_name_is_plain() -> None:
    with pytest.raises(SettingsError, match="small letters"):
        PostgresPlace.of("postgresql://h/b?index=x;drop")
    assert not is_postgres("postgresql.txt")


@needs_postgres
def test_a_server_that_is_not_there_is_told_without_the_password() -> None:
    with pytest.raises(SinkError) as raised:
        nearly.Index.open("postgresql://me:topsecret@127.0.0.1:1/base")
    assert "me@127.0.0.1:1" in str(raised.value)
    assert "topsecret" not in str(raised.value) + repr(raised.value.__cause__)


@needs_postgres
@pytest.mark.slow
class TestMany:
    """Of many processes."""

    def test_many_writers_lose_nothing_and_see_each_other(self, postgres: str) -> None:
        """Every pair is reported once, by whoever came later."""
        texts = {name: text for text, name in {t: n for n, t in near_copies(160).items()}.items()}
        found = nearly.find(texts, method="lsh", **MADE)
        assert len(found) > 30
        place, names = named_in(postgres)("index"), list(texts)
        nearly.Index.create(place, **MADE).close()

        def write(writer: int) -> set[Any]:
            seen: set[Any] = set()
            with nearly.Index.open(place) as index:
                for first in range(writer, len(names), 40):
                    batch = {name: texts[name] for name in names[first : first + 40 : 4]}
                    seen |= pairs_of(index.add(batch).seen)
            return seen

        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(write, range(4)))
        assert sum(map(len, parts)) == len(set().union(*parts))
        assert set().union(*parts) == pairs_of(found.pairs)
        with nearly.Index.open(place, read_only=True) as index:
            assert len(index) == len(texts)
            assert index.check().is_sound

    def test_one_id_is_added_by_one_of_many(self, postgres: str) -> None:
        place = named_in(postgres)("index")
        nearly.Index.create(place, **MADE).close()

        def write(writer: int) -> int:
            with nearly.Index.open(place) as index:
                return index.add({f"d{i}": f"words of writer {writer}" for i in range(9)}).added

        with ThreadPoolExecutor(4) as pool:
            assert sorted(pool.map(write, range(4))) == [0, 0, 0, 9]

    def test_new_documents_against_it(self, postgres: str) -> None:
        texts = near_copies(120)
        names = list(texts)
        old, new = ({n: texts[n] for n in part} for part in (names[:70], names[70:]))
        with nearly.Index.create(named_in(postgres)("index"), old, **MADE) as index:
            for all_pairs in (False, True):
                found = nearly.find(new, against=index, all_pairs=all_pairs)
                expected = nearly.find(new, against=old, all_pairs=all_pairs, method="lsh", **MADE)
                assert found.pairs == expected.pairs
                assert len(found) > 5
            clean = nearly.dedup(new, against=index)
            assert index.add(clean.survivors).added == clean.kept.num_rows > 5

    def test_what_is_for_folders_is_refused(self, postgres: str, tmp_path: Any) -> None:
        place = named_in(postgres)("index")
        with pytest.raises(MissingError, match="no index in postgresql://postgres@/postgres"):
            nearly.Index.open(place)
        with nearly.Index.create(place, {"a": "text"}, **MADE) as index:
            with pytest.raises(SinkError, match="there is an index in"):
                nearly.Index.create(place)
            with pytest.raises(SettingsError, match="pg_dump"):
                index.snapshot(tmp_path / "copy")
            with pytest.raises(SettingsError, match="pg_dump"):
                nearly.Index.check_at(place, repair=True)
            assert nearly.Index.check_at(place).is_sound
