"""Near-duplicates by Spark MLlib's MinHashLSH, as a user of MLlib would write it.

Shingles are cut by Spark SQL, so that no text passes through Python, and numbered by
`HashingTF`. `approxSimilarityJoin` joins the documents with themselves: they meet when they
agree in any one of the hash tables (MLlib has no rows within a band), and every meeting is
checked by the Jaccard distance of the two vectors.
"""

import pyarrow as pa
from pyspark.ml.feature import HashingTF, MinHashLSH
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

#: A sparse vector costs the same however many features there are: take enough that no two
#: shingles are likely to share one.
FEATURES = 1 << 30
SEED = 42
#: What a shingle is made of, and what stands between two of these.
PARTS = {"char": ("split(text, '')", ""), "word": ("split(trim(text), '\\\\s+')", " ")}


def near_pairs(
    documents: DataFrame, *, unit: str, k: int, threshold: float, tables: int
) -> pa.Table:
    """Pairs of ids by the hash tables asked for, with their similarity."""
    vectors = vectorise(documents, unit, k).select("id", "vector").cache()
    lsh = MinHashLSH(inputCol="vector", outputCol="hashes", numHashTables=tables, seed=SEED)
    # The join keeps what is strictly nearer than its limit: a hair more takes in the limit.
    limit = 1 - threshold + 1e-9
    met = lsh.fit(vectors).approxSimilarityJoin(vectors, vectors, limit, "distance")
    pairs = met.where("datasetA.id < datasetB.id").selectExpr(
        "datasetA.id AS id_a", "datasetB.id AS id_b", "1 - distance AS similarity"
    )
    try:
        return pairs.toArrow()
    finally:
        vectors.unpersist()


def vectorise(documents: DataFrame, unit: str, k: int) -> DataFrame:
    """One binary vector a document; MLlib refuses empty ones, so empty texts are left out."""
    parts, between = PARTS[unit]
    cut = f"transform(sequence(1, greatest(size(parts) - {k - 1}, 1)), i -> slice(parts, i, {k}))"
    shingles = sql.expr(f"transform({cut}, shingle -> array_join(shingle, '{between}'))")
    hashing = HashingTF(inputCol="shingles", outputCol="vector", numFeatures=FEATURES, binary=True)
    filled = documents.where("text <> ''").withColumn("parts", sql.expr(parts))
    return hashing.transform(filled.withColumn("shingles", shingles))
