"""nearly finds what is nearly the same.

    import nearly

    found = nearly.find("tweets.csv", text="text", threshold=0.7)
    found.pairs      # id_a, id_b, similarity: exact, ordered, the same every time
    found.clusters   # id, cluster, weakest

Nothing heavy is imported until it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nearly.limits import spare_address_space

if TYPE_CHECKING:
    from nearly.advice.advice import Advice
    from nearly.api import dedup, find, tune
    from nearly.comparison import compare
    from nearly.errors import (
        EngineError,
        MissingError,
        NearlyError,
        SettingsError,
        SinkError,
        SourceError,
        UnreadableError,
    )
    from nearly.results import Comparison, Deduplicated, Found
    from nearly.settings import Settings, TextSettings
    from nearly.sources.formats.frame import texts

__all__ = [
    "Advice",
    "Comparison",
    "Deduplicated",
    "EngineError",
    "Found",
    "MissingError",
    "NearlyError",
    "Settings",
    "SettingsError",
    "SinkError",
    "SourceError",
    "TextSettings",
    "UnreadableError",
    "compare",
    "dedup",
    "find",
    "texts",
    "tune",
]

_HOMES = {
    "Advice": "nearly.advice.advice",
    "Comparison": "nearly.results",
    "Deduplicated": "nearly.results",
    "EngineError": "nearly.errors",
    "Found": "nearly.results",
    "MissingError": "nearly.errors",
    "NearlyError": "nearly.errors",
    "Settings": "nearly.settings",
    "SettingsError": "nearly.errors",
    "SinkError": "nearly.errors",
    "SourceError": "nearly.errors",
    "TextSettings": "nearly.settings",
    "UnreadableError": "nearly.errors",
    "compare": "nearly.comparison",
    "dedup": "nearly.api",
    "find": "nearly.api",
    "texts": "nearly.sources.formats.frame",
    "tune": "nearly.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nearly' has no attribute {name!r}")
    spare_address_space()
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
