"""Where an index in PostgreSQL is: an address whose password is never shown."""

import re
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from nearly.errors import SettingsError

__all__ = ["PostgresPlace", "is_postgres"]

_SCHEMES = ("postgresql", "postgres")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")


def is_postgres(given: Any) -> bool:
    """Whether this is the address of a database."""
    return isinstance(given, str) and given.partition("://")[0] in _SCHEMES and "://" in given


class PostgresPlace(NamedTuple):
    """A database, and the schema in it that is the index."""

    address: str  # as libpq takes it
    schema: str
    shown: str  # without what is secret

    @classmethod
    def of(cls, given: str) -> Self:
        """From an address like postgresql://user@host/base?index=seen; `index` may be left out."""
        parts = urlsplit(given)
        options = parse_qsl(parts.query, keep_blank_values=True)
        name = dict(options).get("index", "seen")
        if not _NAME.fullmatch(name):
            raise SettingsError(
                f"index is {name!r}; give the index a name of small letters, digits and _, such as "
                "index=seen"
            )
        rest = [(key, value) for key, value in options if key != "index"]
        secret = [(key, value) for key, value in rest if "pass" not in key.lower()]
        host = parts.netloc.rpartition("@")
        user = host[0].partition(":")[0]
        netloc = f"{user}@{host[2]}" if host[1] else host[2]
        address = urlunsplit(parts._replace(query=urlencode(rest)))
        told = parts._replace(netloc=netloc, query=urlencode([*secret, ("index", name)]))
        return cls(address, f"nearly_{name}", urlunsplit(told))
