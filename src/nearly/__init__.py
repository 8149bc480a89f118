"""nearly finds what is nearly the same.

    import nearly

    found = nearly.find("tweets.csv", text="text", threshold=0.7)
    found.pairs      # id_a, id_b, similarity: exact, ordered, the same every time
    found.clusters   # id, cluster, weakest

Nothing heavy is imported until it is used.
"""

TYPE_CHECKING = False  # what `typing` has under this name, without its import
if TYPE_CHECKING:
    from typing import Any

    from nearly.advice.advice import Advice
    from nearly.api import (
        compare,
        cut_repeats,
        dedup,
        explain,
        find,
        mentions,
        passages,
        plan,
        tune,
        unique,
    )
    from nearly.bloom.filter import BloomFilter
    from nearly.errors import (
        EngineError,
        MissingError,
        NearlyError,
        NoMemoryError,
        SettingsError,
        SinkError,
        SourceError,
        UnreadableError,
    )
    from nearly.evaluation.agreement import Evaluation
    from nearly.evaluation.mention import Mentions
    from nearly.evaluation.truth import evaluate
    from nearly.explanation import Explanation
    from nearly.index.answer import Added, Answer
    from nearly.index.index import Index
    from nearly.passage.cut_result import Cut, CutStatistics
    from nearly.passage.result import Passages
    from nearly.plans.plan import Plan
    from nearly.results import Comparison, Deduplicated, Found, Statistics
    from nearly.saved import open  # noqa: A004 - the name that users know
    from nearly.service.client import Client, Sent, ServiceError
    from nearly.settings import CutSettings, PassageSettings, Settings, TextSettings
    from nearly.sources.formats.frame import texts
    from nearly.streams.stream import Unique, UniqueStatistics
    from nearly.text.difference import Difference, difference

    __version__: str

__all__ = [
    "Added",
    "Advice",
    "Answer",
    "BloomFilter",
    "Client",
    "Comparison",
    "Cut",
    "CutSettings",
    "CutStatistics",
    "Deduplicated",
    "Difference",
    "EngineError",
    "Evaluation",
    "Explanation",
    "Found",
    "Index",
    "Mentions",
    "MissingError",
    "NearlyError",
    "NoMemoryError",
    "PassageSettings",
    "Passages",
    "Plan",
    "Sent",
    "ServiceError",
    "Settings",
    "SettingsError",
    "SinkError",
    "SourceError",
    "Statistics",
    "TextSettings",
    "Unique",
    "UniqueStatistics",
    "UnreadableError",
    "compare",
    "cut_repeats",
    "dedup",
    "difference",
    "evaluate",
    "explain",
    "find",
    "mentions",
    "open",
    "passages",
    "plan",
    "texts",
    "tune",
    "unique",
]

_HOMES = {
    "Added": "nearly.index.answer",
    "Advice": "nearly.advice.advice",
    "Answer": "nearly.index.answer",
    "BloomFilter": "nearly.bloom.filter",
    "Client": "nearly.service.client",
    "Comparison": "nearly.results",
    "Cut": "nearly.passage.cut_result",
    "CutSettings": "nearly.settings",
    "CutStatistics": "nearly.passage.cut_result",
    "Deduplicated": "nearly.results",
    "Difference": "nearly.text.difference",
    "EngineError": "nearly.errors",
    "Evaluation": "nearly.evaluation.agreement",
    "Explanation": "nearly.explanation",
    "Found": "nearly.results",
    "Index": "nearly.index.index",
    "Mentions": "nearly.evaluation.mention",
    "MissingError": "nearly.errors",
    "NearlyError": "nearly.errors",
    "NoMemoryError": "nearly.errors",
    "PassageSettings": "nearly.settings",
    "Passages": "nearly.passage.result",
    "Plan": "nearly.plans.plan",
    "Sent": "nearly.service.client",
    "ServiceError": "nearly.service.client",
    "Settings": "nearly.settings",
    "SettingsError": "nearly.errors",
    "SinkError": "nearly.errors",
    "SourceError": "nearly.errors",
    "Statistics": "nearly.results",
    "TextSettings": "nearly.settings",
    "Unique": "nearly.streams.stream",
    "UniqueStatistics": "nearly.streams.stream",
    "UnreadableError": "nearly.errors",
    "compare": "nearly.api",
    "cut_repeats": "nearly.api",
    "dedup": "nearly.api",
    "difference": "nearly.text.difference",
    "evaluate": "nearly.evaluation.truth",
    "explain": "nearly.api",
    "find": "nearly.api",
    "mentions": "nearly.api",
    "open": "nearly.saved",
    "passages": "nearly.api",
    "plan": "nearly.api",
    "texts": "nearly.sources.formats.frame",
    "tune": "nearly.api",
    "unique": "nearly.api",
}


def __getattr__(name: str) -> "Any":
    if name == "__version__":
        from importlib.metadata import version

        return version("nearly")
    if name not in _HOMES:
        raise AttributeError(f"module 'nearly' has no attribute {name!r}")
    from importlib import import_module

    from nearly.limits import spare_address_space

    spare_address_space()
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
