"""The Arrow schema of every table that crosses a stage.

Inside the pipeline a document is its number: its place in the order of the source,
from zero. Ids come back at the end.
"""

import pyarrow as pa

__all__ = ["CLUSTERS", "DOCUMENTS", "PAIRS", "REMOVED", "SKIPPED", "shaped"]

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


def shaped(schema: pa.Schema, id_type: pa.DataType, value: str = "similarity") -> pa.Schema:
    """The same schema with ids of the source's type, and the column that a measure's values have.

    `value` is similarity or distance.
    """
    ids = ("id", "id_a", "id_b", "survivor")
    names = {"similarity": value}
    return pa.schema(
        [
            f.with_type(id_type) if f.name in ids else f.with_name(names.get(f.name, f.name))
            for f in schema
        ]
    )
