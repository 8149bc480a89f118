"""The route table: one line a page, and what it may be told."""

from __future__ import annotations

from typing import Final

from nearly.web.answer import Shown
from nearly.web.asked import FILTER, Asked
from nearly.web.desk import Desk
from nearly.web.guard import UPLOAD
from nearly.web.pages import (
    clean,
    cluster,
    compare,
    interface,
    label,
    learn,
    mark,
    names,
    overview,
    pair,
    pairs,
    run,
    start,
    tuner,
)
from nearly.web.spot import Spot
from nearly.web.upload import Limits

__all__ = ["ROUTES"]

LESSON: Final = ("texts", *learn.USUAL)
DRAW: Final = ("size", "seed", "low")


def api(desk: Desk, asked: Asked) -> Shown:  # noqa: ARG001
    """This description: OpenAPI as its JSON."""
    return interface.interface(ROUTES)


ROUTES: Final = (
    Spot("GET", "/", start.start),
    Spot("GET", "/api", api),
    Spot("POST", "/names", names.names, form=("to", "hidden")),
    Spot("POST", UPLOAD, start.upload, files=Limits().files),
    Spot("POST", "/choose", start.choose, form=("path",)),
    Spot("POST", "/sample", start.sample),
    Spot("GET", "/run/{run}", run.run),
    Spot("GET", "/run/{run}/settings", run.settings),
    Spot("POST", "/run/{run}/begin", run.begin, form=tuple(field.name for field in run.FIELDS)),
    Spot("POST", "/run/{run}/cancel", run.cancel),
    Spot("GET", "/r/{result}/overview", overview.overview),
    Spot("GET", "/r/{result}/pairs", pairs.pairs, (*FILTER, "page")),
    Spot("GET", "/r/{result}/pairs.csv", pairs.export, FILTER),
    Spot("GET", "/r/{result}/pair/{pair}", pair.pair, FILTER),
    Spot("POST", "/r/{result}/pair/{pair}/mark", mark.mark, FILTER, ("mark", "note")),
    Spot("GET", "/r/{result}/clusters", cluster.clusters, ("page",)),
    Spot("GET", "/r/{result}/cluster/{cluster}", cluster.cluster),
    Spot("GET", "/r/{result}/tuner", tuner.tuner, ("bands", "rows", "threshold")),
    Spot("GET", "/r/{result}/clean", clean.clean, ("keep", "page")),
    Spot("POST", "/r/{result}/clean/begin", clean.begin, form=("keep",)),
    Spot("GET", "/run/{run}/file/{file}", clean.take),
    Spot("GET", "/r/{result}/label", label.label, DRAW),
    Spot("POST", "/r/{result}/label/{pair}", label.judge, DRAW, ("mark",)),
    Spot("GET", "/r/{result}/compare", compare.compare, ("with",)),
    Spot("GET", "/learn", learn.learn, (*LESSON, "step")),
    Spot("GET", "/learn/{table}.csv", learn.export, LESSON),
)
