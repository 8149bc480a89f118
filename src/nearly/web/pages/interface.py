"""The interface for programs: every address, made from the route table; its twin is OpenAPI."""

from __future__ import annotations

from collections.abc import Sequence

from nearly.markup import Child, Markup, joined, tag
from nearly.web.answer import Shown
from nearly.web.frame import link
from nearly.web.openapi import PARAMETERS, described, summary
from nearly.web.spot import Spot

__all__ = ["interface"]


def interface(spots: Sequence[Spot]) -> Shown:
    """Every address with what it may be told."""
    return Shown(
        title="For programs",
        data=lambda: described(spots),
        body=lambda: _page(spots),
        here="api",
    )


def _page(spots: Sequence[Spot]) -> Markup:
    return joined(
        tag("p", "Every page has a JSON twin at the same address, with ",
            tag("code", "Accept: application/json"), " or ", tag("code", "?format=json"),
            ". A program sends the token of the printed address as ",
            tag("code", "Authorization: Bearer …"), ". The twin of this page is the description "
            "as OpenAPI 3.1: ", link("openapi", "/api?format=json"), "."),
        [_section(spot) for spot in spots],
    )  # fmt: skip


def _section(spot: Spot) -> Markup:
    told = [(name, PARAMETERS[name][1]) for name in spot.query]
    fields = [*spot.form, *(["file"] if spot.files else [])]
    return tag(
        "section",
        tag("h2", tag("code", spot.name)),
        tag("p", summary(spot)),
        tag("dl", [_row(*each) for each in told], class_="told") if told else None,
        tag("p", "Form: ", ", ".join(fields), ".") if fields else None,
        class_="spot",
    )


def _row(name: str, meaning: str) -> Child:
    return tag("div", tag("dt", tag("code", name)), tag("dd", meaning))
