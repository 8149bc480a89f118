"""The route table as OpenAPI 3.1, for programs and for people."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, Final

from nearly.web.spot import Spot

__all__ = ["PARAMETERS", "described"]

_WHOLE: Final = {"type": "integer", "minimum": 0}
_NUMBER: Final = {"type": "number"}
_TEXT: Final = {"type": "string"}

#: Whatever an address may say, with its type and its meaning.
PARAMETERS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "result": (_TEXT, "the name of a result"),
    "run": (_TEXT, "the name of a run"),
    "pair": (_WHOLE, "the number of a pair"),
    "cluster": (_WHOLE, "the number of a cluster"),
    "file": (_TEXT, "the name of a file that a run wrote"),
    "table": (_TEXT, "the name of a table of the lesson"),
    "page": (_WHOLE, "the page of a list, from 1"),
    "low": (_NUMBER, "the least similarity or distance"),
    "high": (_NUMBER, "the greatest similarity or distance"),
    "name": (_TEXT, "words in the name of either document"),
    "text": (_TEXT, "words in the text of either document"),
    "difference": (_TEXT, "the kind of difference"),
    "mark": (_TEXT, "same, different, unsure or unmarked"),
    "document": (_WHOLE, "the number of a document that is in the pair"),
    "near": ({"type": "string", "enum": ["1"]}, "leave out what is the same"),
    "group": (_WHOLE, "the number of a group that either document is in"),
    "terms": ({"type": "string", "enum": ["across", "within"]}, "pairs of two terms, or of one"),
    "keep": (_TEXT, "the rule by which one of a cluster survives"),
    "size": (_WHOLE, "pairs to judge"),
    "seed": (_WHOLE, "the seed of what is drawn"),
    "with": (_TEXT, "the name of another result"),
    "stop_words": (_TEXT, "keep or drop the commonest English words"),
    "bands": (_WHOLE, "the number of bands"),
    "rows": (_WHOLE, "the rows of a band"),
    "threshold": (_NUMBER, "the least similarity"),
    "texts": (_TEXT, "documents, one a line"),
    "unit": ({"type": "string", "enum": ["char", "word"]}, "what shingles are made of"),
    "k": (_WHOLE, "the length of a shingle"),
    "step": (_WHOLE, "rows of the matrix that were looked at"),
}


def described(spots: Iterable[Spot]) -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, Any] = {}
    for spot in spots:
        paths.setdefault(spot.path, {})[spot.method.lower()] = _operation(spot)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "nearly serve",
            "version": version("nearly"),
            "description": "Every page is JSON with Accept: application/json, or ?format=json. "
            "Programs send the token as Authorization: Bearer.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Error": {
                    "type": "object",
                    "properties": {"error": _TEXT, "message": _TEXT},
                    "required": ["error", "message"],
                }
            },
        },
    }


def _operation(spot: Spot) -> dict[str, Any]:
    told: dict[str, Any] = {
        "summary": summary(spot),
        "operationId": re.sub(r"\W+", "_", f"{spot.method.lower()}{spot.path}").strip("_"),
        "responses": _responses(spot),
    }
    parameters = [_parameter(name, "path") for name in re.findall(r"\{(\w+)\}", spot.path)]
    parameters += [_parameter(name, "query") for name in spot.query]
    if parameters:
        told["parameters"] = parameters
    if spot.method == "POST":
        told["requestBody"] = {"content": {_form_kind(spot): {"schema": _form(spot)}}}
    return told


def summary(spot: Spot) -> str:
    """The first line of what the handler says of itself."""
    return (spot.handler.__doc__ or "").strip().partition("\n")[0]


def _parameter(name: str, where: str) -> dict[str, Any]:
    kind, meaning = PARAMETERS[name]
    return {
        "name": name,
        "in": where,
        "required": where == "path",
        "schema": kind,
        "description": meaning,
    }


def _form_kind(spot: Spot) -> str:
    return "multipart/form-data" if spot.files else "application/x-www-form-urlencoded"


def _form(spot: Spot) -> dict[str, Any]:
    fields: dict[str, Any] = dict.fromkeys(spot.form, _TEXT)
    if spot.files:
        file = {"type": "string", "format": "binary"}
        fields["file"] = {"type": "array", "items": file, "maxItems": spot.files}
    return {"type": "object", "properties": fields}


def _responses(spot: Spot) -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    trouble = {
        "400": {"description": "What was asked for cannot be done; it says why", "content": error},
        "401": {"description": "There is no token, or it is not the right one"},
        "404": {"description": "There is no such thing", "content": error},
    }
    return {_usual(spot): {"description": _outcome(spot)}} | trouble


def _usual(spot: Spot) -> str:
    return "303" if spot.method == "POST" else "200"


def _outcome(spot: Spot) -> str:
    if spot.method == "POST":
        return "It was done; the address says where to look at it"
    is_file = spot.path.endswith((".csv", "{file}"))
    return "The file" if is_file else "The page, or its JSON"
