"""The Arrow schema of every table that crosses a stage.

Inside the pipeline a document is its number: its place in the order of the source,
from zero. Ids come back at the end.
"""

import pyarrow as pa

__all__ = [
    "CLUSTERS",
    "DOCUMENTS",
    "PAIRS",
    "PLACES_OF",
    "REMOVED",
    "SKIPPED",
    "shaped",
    "with_sides",
]

#: What a source gives: `row` counts every row of the source, skipped ones too.
DOCUMENTS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
    ]
)

#: Records that could not become documents, and why.
SKIPPED = pa.schema(
    [
        pa.field("record", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)

#: Verified pairs: id_a stands before id_b in the source; ordered by both.
PAIRS = pa.schema(
    [
        pa.field("id_a", pa.string(), nullable=False),
        pa.field("id_b", pa.string(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
    ]
)

#: Members of clusters of two and more, cluster by cluster.
CLUSTERS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("cluster", pa.int64(), nullable=False),
        pa.field("weakest", pa.float64(), nullable=False),
    ]
)

#: What de-duplication took out, and what stands for it.
REMOVED = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("survivor", pa.string(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
        pa.field("cluster", pa.int64(), nullable=False),
    ]
)


#: The columns of ids, and where the file and the row of each stand, in tables of ids that repeat.
PLACES_OF = {
    "id": ("file", "row"),
    "id_a": ("file_a", "row_a"),
    "id_b": ("file_b", "row_b"),
    "survivor": ("survivor_file", "survivor_row"),
    "most_in": ("most_in_file", "most_in_row"),
}


def with_sides(schema: pa.Schema, sides: tuple[str, ...]) -> pa.Schema:
    """Pairs with a column for what a measure says of each document."""
    return pa.schema([*schema, *(pa.field(side, pa.float64(), nullable=False) for side in sides)])


def shaped(
    schema: pa.Schema,
    id_type: pa.DataType,
    value: str = "similarity",
    *,
    content: pa.DataType | None = None,
    with_places: bool = False,
) -> pa.Schema:
    """The same schema with ids of the source's type, and the column that a measure's values have.

    `value` is similarity or distance, `content` the type of what is compared where it is no text.
    `with_places`, each id has its file and row.
    """
    names = {"similarity": value}
    types = dict.fromkeys(PLACES_OF, id_type) | ({} if content is None else {"text": content})
    fields = [
        f.with_type(types.get(f.name, f.type)).with_name(names.get(f.name, f.name)) for f in schema
    ]
    ids = [f.name for f in schema if f.name in PLACES_OF] if with_places else []
    for file, row in map(PLACES_OF.__getitem__, ids):
        fields += [pa.field(file, pa.string()), pa.field(row, pa.int64(), nullable=False)]
    return pa.schema(fields)
