"""The room that an index takes per document: in a folder and in PostgreSQL, by buckets and members.

The arithmetic of docs/scale.md multiplies these. Sizes do not depend on the machine or its load.

    python bench/index_room.py --postgres postgresql://user@host/base     # results/index_room.json

In the database two schemas called nearly_room_… are made and dropped again.
"""

import tempfile
from pathlib import Path
from typing import Any

import harness

import nearly

MADE: dict[str, Any] = {"threshold": 0.8, "k": 5, "seed": 1}
MEASURES = ("jaccard", "containment")
#: Columns of a segment, by what they are for.
GROUPS = {"buckets": "keys of bands", "sketches": "sketch", "blocks": "compressed text"}
GROUPS |= dict.fromkeys(("member_keys", "member_of"), "members")


def in_folder(path: Path, measure: str) -> dict[str, float]:
    """Bytes per document, by what they are for."""
    with (
        tempfile.TemporaryDirectory() as folder,
        nearly.Index.create(Path(folder) / "index", path, measure=measure, **MADE) as index,
    ):
        index.compact()
        (live,) = index._store.lives()
        found: dict[str, float] = {"together": live.segment.written.size}
        for name, view in live.segment._views.items():
            group = GROUPS.get(name, "digests, ids, places")
            found[group] = found.get(group, 0) + view.nbytes
        return {name: size / len(index) for name, size in found.items()}


def in_postgres(path: Path, measure: str, address: str) -> dict[str, float]:
    """The same by table, each with its indexes."""
    place = f"{address}{'&' if '?' in address else '?'}index=room_{measure}"
    with nearly.Index.create(place, path, measure=measure, **MADE) as index:
        tables = index._store.tables
        sized = (
            "SELECT regexp_replace(c.relname, '_[0-9]+$', ''), sum(pg_total_relation_size(c.oid)) "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s "
            "AND c.relkind = 'r' GROUP BY 1"
        )
        found = {name: float(size) for name, size in tables.run(sized, tables.place.schema)}
        found["together"] = sum(found.values())
        documents = len(index)
        tables.run("DROP SCHEMA {0} CASCADE")
    return {name: size / documents for name, size in found.items()}


def main() -> None:
    parser = harness.parser(__doc__)
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--postgres", required=True)
    given = parser.parse_args()
    path, size = harness.generated(given.documents)
    measured: dict[str, Any] = {"documents": given.documents, "text": size / given.documents}
    for measure in MEASURES:
        measured[f"folder, {measure}"] = in_folder(path, measure)
        measured[f"postgres, {measure}"] = in_postgres(path, measure, given.postgres)
    for name, found in measured.items():
        print(name, found)
    harness.save("index_room", measured)


if __name__ == "__main__":
    main()
