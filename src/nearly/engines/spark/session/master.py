"""Where Spark is asked to run: on this machine, or at a master that has to answer."""

import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

from nearly.errors import EngineError

__all__ = ["check_reachable", "is_here"]

SCHEME: Final = "spark://"
#: Seconds to wait for an answer.
PATIENCE: Final = 5


def is_here(master: str) -> bool:
    """Whether all of it runs on this machine, so that the loopback address will do."""
    if master.startswith(SCHEME):
        return all(_is_loopback(host) for host, _ in _addresses(master))
    return master.startswith("local")


def check_reachable(master: str) -> None:
    """Refuse a standalone master that does not answer: Spark would try for a minute.

    Of several masters, of which all but one stand by, one is enough.
    """
    if not master.startswith(SCHEME):
        return
    reasons = []
    for host, port in _addresses(master):
        try:
            socket.create_connection((host, port), PATIENCE).close()
            return
        except OSError as error:
            reasons.append(f"{host}:{port}: {error.strerror or 'no answer'}")
    raise EngineError(
        f"the master {master!r} cannot be reached ({'; '.join(reasons)}). Check the address, "
        "which stands at the top of the master's web page and in its log, and that it runs; "
        "local[*] needs no master."
    )


def _addresses(master: str) -> Iterator[tuple[str, int]]:
    for address in master.removeprefix(SCHEME).split(","):
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or int(port) > 65535:
            raise EngineError(
                f"the master is {master!r}, and {address!r} is no address: "
                "write it like spark://host:7077"
            )
        yield host.strip("[]"), int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
