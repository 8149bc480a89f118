"""What the numbers of a report mean and do not prove, and how they were made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Final

from nearly.markup import Markup, joined, tag
from nearly.tuning.banding import Banding
from nearly.view.result import Result
from nearly.wording import count

__all__ = ["facts", "meaning"]

#: What a similarity is, by the measure that found it.
SIMILARITY: Final = {
    "jaccard": "A similarity is the share of what two documents have together that both have: 1 is "
    "the same, 0 is nothing in common.",
    "containment": "A similarity is the share of the smaller document that is in the larger one: 1 "
    "is all of it, 0 is nothing. The larger one may have much more.",
    "edit": "A similarity is the share of the characters of both documents that stay when one is "
    "made into the other by insertions and deletions: 1 is the same, 0 is nothing in common.",
    "cosine": "A similarity is the cosine of the angle between their vectors: 1 is the same "
    "direction, 0 is nothing in common.",
}
OTHERWISE: Final = "A similarity rises as two documents get nearer: 1 is the same."


def meaning(result: Result) -> Markup:
    """In plain words, for whoever was not there."""
    return joined(*(tag("p", line) for line in _lines(result)))


def _lines(result: Result) -> Iterator[str]:
    settings = result.settings
    if settings.weights is not None:
        yield "What two documents have counts by its weight: what is rare, or was said to matter."
    if settings.within is None:
        yield (
            f"{SIMILARITY.get(result.statistics.measure, OTHERWISE)} Every similarity here is "
            "exact: it was computed from both whole documents. Pairs below "
            f"{settings.threshold:g} are not listed."
        )
    else:
        yield (
            "A distance is how far two documents are apart: 0 is the same. Every distance here is "
            f"exact. Pairs farther apart than {settings.within:g} are not listed."
        )
    yield _promise(result)
    yield (
        "A cluster is whatever is linked by such pairs, so two of its documents may be less "
        "similar than the threshold. Its weakest link is the least similar pair in it."
    )
    yield (
        "Similarity is no proof. It does not say who copied from whom, whether both took from a "
        "third, whether it was allowed, or whether it is chance: quotations, templates, task "
        "sheets and set phrases are similar too. Read the texts before you decide. And what is "
        "not listed is not proved to be original: it was compared with these documents only."
    )


def _promise(result: Result) -> str:
    settings, statistics = result.settings, result.statistics
    if statistics.method == "exact":
        return f"All pairs were compared exactly ({statistics.why}): none is missing."
    if statistics.bands is None or statistics.rows is None or statistics.measure != "jaccard":
        return "Candidates were found by hashing, which may miss some pairs."
    banding = Banding(statistics.bands, statistics.rows, statistics.agreement or 0)
    recall = int(banding.recall(settings.threshold) * 1000) / 10  # rounded down: it is a promise
    return (
        f"Candidates were found by hashing ({statistics.bands} bands of {statistics.rows} rows), "
        f"which finds at least {recall:g}% of the pairs at the threshold, and more of those above."
    )


def facts(result: Result, group: str | None, anonymous: bool) -> Iterator[tuple[str, str]]:
    """Names and values: enough to make the result again."""
    yield "nearly", version("nearly")
    if group is not None:
        yield "group", group
    settings = result.settings.to_dict()
    text = settings.pop("text")
    if isinstance(settings["weights"], dict):
        settings["weights"] = count(len(settings["weights"]), "weight")
    if anonymous and text["ignore"]:
        text["ignore"] = f"{len(text['ignore'])} texts"
    for name, value in (settings | text).items():
        yield name.replace("_", " "), _plain(value)
    source = result.statistics.source or {}
    if not anonymous:
        for name in ("id", "text", "items"):
            if source.get(name):
                yield f"column of {name}", _joined(source[name])


def _plain(value: Any) -> str:
    """As people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == []:
        return "none"
    return value if isinstance(value, str) else json.dumps(value)


def _joined(names: str | list[str]) -> str:
    return names if isinstance(names, str) else ", ".join(names)
