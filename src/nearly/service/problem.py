"""What went wrong, in the one shape that every error of the service has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from starlette.responses import Response

from nearly.errors import EngineError, NearlyError, SinkError, UnreadableError
from nearly.service.message import Failed, Failure

__all__ = ["CODES", "ProblemError", "problem_of", "refusal"]

#: The word for programs, by status.
CODES: Final = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    421: "misdirected",
    429: "busy",
    500: "internal",
    503: "unavailable",
    504: "timeout",
}


class ProblemError(Exception):
    """A request that is not answered as it was meant."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def problem_of(error: NearlyError) -> ProblemError:
    """An error of the library: the client's where the request caused it, else the server's."""
    is_ours = isinstance(error, SinkError | UnreadableError | EngineError)
    return ProblemError(503 if is_ours else 400, str(error))


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that says so."""
    told = Failed(error=Failure(code=CODES.get(status, f"status_{status}"), message=message))
    body = msgspec.json.encode(told)
    return Response(body, status, dict(headers or {}), media_type="application/json")
