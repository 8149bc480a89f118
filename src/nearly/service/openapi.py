"""The service described for programs: OpenAPI 3.1, made from the route table."""

from __future__ import annotations

from typing import Any

import msgspec

from nearly.service.message import Failed
from nearly.service.meter import MEDIA_TYPE
from nearly.service.problem import CODES
from nearly.service.route import ROUTES, WITHOUT_WAITING, Spot

__all__ = ["described"]

_AT = "#/components/schemas/{name}"
_DURABLE = {
    "name": "durable",
    "in": "query",
    "description": "Answer when the change is on the disk. Otherwise: when it is known.",
    "schema": {"type": "boolean", "default": True},
}
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


def described(version: str) -> dict[str, Any]:
    """The whole document."""
    types = {spot.gives for spot in ROUTES} | {spot.takes for spot in ROUTES if spot.takes}
    known = [*sorted(types - {str}, key=lambda each: str(each.__name__)), Failed, WITHOUT_WAITING]
    _, schemas = msgspec.json.schema_components(known, ref_template=_AT)
    paths: dict[str, dict[str, Any]] = {}
    for spot in ROUTES:
        paths.setdefault(spot.path, {})[spot.method.lower()] = _operation(spot)
    bearer = {"type": "http", "scheme": "bearer"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "nearly", "version": version},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"token": bearer}},
    }


def _operation(spot: Spot) -> dict[str, Any]:
    answers = {"200": _content("Done.", spot.gives), "default": _content("An error.", Failed)}
    answers["default"]["description"] += " Codes: " + ", ".join(CODES.values()) + "."
    if spot.can_wait:
        answers["202"] = _content("Will be done.", WITHOUT_WAITING)
    told: dict[str, Any] = {"operationId": spot.name, "summary": spot.summary, "responses": answers}
    parameters: list[Any] = [_ID] if "{id}" in spot.path else []
    if spot.can_wait:
        parameters.append(_DURABLE)
    if parameters:
        told["parameters"] = parameters
    if spot.takes is not None:
        told["requestBody"] = {"required": True, **_content("", spot.takes)}
        del told["requestBody"]["description"]
    told["security"] = [{"token": [spot.scope]}] if spot.scope else []
    return told


def _content(description: str, kind: Any) -> dict[str, Any]:
    if kind is str:
        return {"description": description, "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}
    schema = {"$ref": _AT.format(name=kind.__name__)}
    return {"description": description, "content": {"application/json": {"schema": schema}}}
