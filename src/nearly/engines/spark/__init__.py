"""The engine for more than one machine: Apache Spark. Only files in here import pyspark.

PySpark is an extra: without it, whatever is imported from here is an error that says so.
"""

import warnings

from nearly.errors import EngineError

# PySpark warns of pandas when it is imported, and at every call that passes Arrow batches;
# no batch of nearly's goes through pandas.
warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)

try:
    import pyspark
except ModuleNotFoundError as error:
    if error.name not in ("pyspark", "py4j"):
        raise
    raise EngineError(
        "PySpark is not installed, and the engine spark needs it: pip install 'nearly[spark]'"
    ) from error

if int(pyspark.__version__.partition(".")[0]) < 4:
    raise EngineError(
        f"PySpark {pyspark.__version__} is installed, and the engine spark needs version 4: "
        "pip install 'nearly[spark]'"
    )
