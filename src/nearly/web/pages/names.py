"""Names, hidden or shown: a cookie of the browser, not of the result."""

from __future__ import annotations

import re

from nearly.web.answer import Moved
from nearly.web.asked import Asked
from nearly.web.desk import Desk

__all__ = ["names"]


def names(desk: Desk, asked: Asked) -> Moved:  # noqa: ARG001
    """Back to the page that asked; the cookie is set on the way."""
    to = str(asked.form.get("to", "/"))
    return Moved(to if re.fullmatch(r"/(?![/\\])[^\x00-\x20\\]*", to) or to == "/" else "/")
