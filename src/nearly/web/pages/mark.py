"""A mark and a note on a pair, kept in a file beside the result."""

from __future__ import annotations

from nearly.prepared.pair import check_pair
from nearly.web.answer import Moved
from nearly.web.asked import Asked
from nearly.web.desk import Desk
from nearly.web.frame import at

__all__ = ["mark"]


def mark(desk: Desk, asked: Asked) -> Moved:
    """Write it down, and back to the pair."""
    laid = desk.result(asked.path["result"])
    pair = asked.whole("pair")
    check_pair(laid.prepared, pair)
    laid.marks.put(pair, str(asked.form.get("mark", "")), str(asked.form.get("note", "")).strip())
    return Moved(at(laid.name, "pair", pair, **asked.filter().to_dict()))
