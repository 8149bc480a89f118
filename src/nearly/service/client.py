"""A client of the service, of the standard library alone."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote, urlsplit

from nearly.errors import EngineError, SettingsError
from nearly.index.answer import Answer, Id, Stats

__all__ = ["Client", "Sent", "ServiceError"]

Content = str | Sequence[str] | Sequence[float]


class ServiceError(EngineError):
    """The service refused a request, or cannot be reached; `code` is its word for it."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What came of documents that were sent: they are on the disk."""

    added: int
    replaced: int
    seen: list[tuple[Id, Id, float]] = field(default_factory=list)  # new, seen before, similarity
    skipped: list[tuple[str, str]] = field(default_factory=list)  # id, reason


class Client:
    """Asks a service, and sends it documents. Threads may share one: each has its connection.

    While the service is busy, a request is sent again until `timeout` seconds have passed.
    """

    def __init__(self, address: str, *, token: str | None = None, timeout: float = 30) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError(
                f"address is {address!r}; give that of a service, such as http://127.0.0.1:8017"
            )
        is_safe = parts.scheme == "https"
        self._kind = http.client.HTTPSConnection if is_safe else http.client.HTTPConnection
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
        self._timeout = timeout
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._local = threading.local()

    # Documents

    def put(self, id: Id, content: Content) -> Sent:  # noqa: A002
        """Store a document under an id, in the place of what was there."""
        return _sent(self._ask("PUT", _at(id), _body(content)))

    def add(self, documents: Mapping[Id, Content], *, replace: bool = False) -> Sent:
        """Store documents, all in one commit; those whose id is there are skipped."""
        rows = [{"id": name, **_body(content)} for name, content in documents.items()]
        return _sent(self._ask("POST", "/v1/documents", {"documents": rows, "replace": replace}))

    def text(self, id: Id) -> str | None:  # noqa: A002
        """The text of a document; KeyError where there is none of this id."""
        with _missing(id):
            text: str | None = self._ask("GET", _at(id))["text"]
        return text

    def remove(self, id: Id) -> None:  # noqa: A002
        """Remove a document; KeyError where there is none of this id."""
        with _missing(id):
            self._ask("DELETE", _at(id))

    # Questions

    def query(
        self, content: Content, *, k: int | None = None, threshold: float | None = None
    ) -> Answer:
        """Ids and exact similarities of what is near, nearest first: as `Index.query`."""
        asked = _body(content) | _given(k=k, threshold=threshold)
        return _answer(self._ask("POST", "/v1/query", asked))

    def query_batch(
        self,
        contents: Iterable[Content],
        *,
        k: int | None = None,
        threshold: float | None = None,
    ) -> list[Answer]:
        """The same for several, all asked of the same commit."""
        asked = {"questions": [_body(each) for each in contents]}
        answers = self._ask("POST", "/v1/query:batch", asked | _given(k=k, threshold=threshold))
        return [_answer(each) for each in answers["answers"]]

    # The index

    def stats(self) -> Stats:
        """How large the index is, and what it was made with."""
        return Stats(**self._ask("GET", "/v1/stats"))

    def check(self) -> list[str]:
        """What is wrong with the index: nothing, mostly."""
        problems: list[str] = self._ask("POST", "/v1/check")["problems"]
        return problems

    def close(self) -> None:
        """Let go of this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # How it is asked

    def _ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        end = time.monotonic() + self._timeout
        while True:
            status, headers, told = self._exchange(method, self._path + path, data)
            if status < 300:
                return told
            pause = float(headers.get("retry-after", 1))
            if status != 429 or time.monotonic() + pause > end:
                error = told.get("error", {})
                message = error.get("message", f"the service answered {status}")
                raise ServiceError(status, error.get("code", "unknown"), message)
            time.sleep(pause)

    def _exchange(
        self, method: str, path: str, data: bytes | None
    ) -> tuple[int, Mapping[str, str], dict[str, Any]]:
        try:
            return self._sent(method, path, data)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as error:
            # A connection that was kept may be gone. Whether a batch was stored is not known then.
            self.close()
            if method == "POST" and path.endswith("/v1/documents"):
                raise self._unreachable(error) from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from error
        try:
            return self._sent(method, path, data)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from error

    def _sent(
        self, method: str, path: str, data: bytes | None
    ) -> tuple[int, Mapping[str, str], dict[str, Any]]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._kind(self._host, self._port, timeout=self._timeout)
            self._local.connection = connection
        connection.request(method, path, data, self._headers)
        response = connection.getresponse()
        raw = response.read()
        is_json = (response.headers.get("Content-Type") or "").startswith("application/json")
        told: dict[str, Any] = json.loads(raw) if is_json else {}
        return (
            response.status,
            {name.lower(): value for name, value in response.headers.items()},
            told,
        )

    def _unreachable(self, error: Exception) -> ServiceError:
        where = f"{self._host}:{self._port}"
        return ServiceError(0, "unreachable", f"the service at {where} does not answer: {error!r}")


class _missing:  # noqa: N801 - reads as a word in `with`
    """No such document is a KeyError, as in a dict."""

    def __init__(self, id: Id) -> None:  # noqa: A002
        self._id = id

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, ServiceError) and error.status == 404:
            raise KeyError(self._id) from error


def _at(id: Id) -> str:  # noqa: A002
    return f"/v1/documents/{quote(str(id), safe='')}"


def _body(content: Content) -> dict[str, Any]:
    if isinstance(content, str):
        return {"text": content}
    values = [each if isinstance(each, str) else float(each) for each in content]
    return {"items" if all(isinstance(each, str) for each in values) else "vector": values}


def _given(**values: float | None) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


def _sent(told: Mapping[str, Any]) -> Sent:
    return Sent(
        added=told["added"],
        replaced=told["replaced"],
        seen=[(row["id"], row["seen"], row["similarity"]) for row in told["seen"]],
        skipped=[(row["id"], row["reason"]) for row in told["skipped"]],
    )


def _answer(told: Mapping[str, Any]) -> Answer:
    found = [(row["id"], row["similarity"]) for row in told["found"]]
    return Answer(found, compared=told["compared"], left_out=told["left_out"])
