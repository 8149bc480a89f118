"""A Bloom filter as a file: a line of JSON, then the bits. No part of it is ever executed.

The line names the format and its version, how the filter was made, and the SHA-256 of the bits
and of itself. The file appears whole or not at all, and is read only when it is unharmed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, Final

from nearly.bloom.word import Words, empty_words
from nearly.errors import MissingError, SourceError, UnreadableError
from nearly.sinks import Outputs
from nearly.tuning.bloom import BloomSize

__all__ = ["Header", "read_filter", "write_filter"]

FORMAT: Final = "nearly bloom filter"
VERSION: Final = 1
_LONGEST_HEADER: Final = 10_000


@dataclass(frozen=True, kw_only=True)
class Header:
    """What is known of a filter besides its bits."""

    size: BloomSize
    seed: int
    added: int

    @property
    def fingerprint(self) -> str:
        """Equal for filters that set the same bits for the same value."""
        made = [FORMAT, VERSION, self.size.blocks, self.size.hashes, self.seed]
        return _digest(json.dumps(made).encode())[:16]


def write_filter(header: Header, words: Words, path: Path, *, force: bool) -> None:
    """Write a filter to a new file; with `force`, in the place of an older one."""
    members = {
        "format": FORMAT,
        "version": VERSION,
        "nearly": version("nearly"),
        "fingerprint": header.fingerprint,
        **asdict(header.size),
        "seed": header.seed,
        "added": header.added,
        "sha256": _digest(words.data),
    }
    line = json.dumps(members | {"header_sha256": _digest_of(members)}).encode()
    with Outputs(force=force) as outputs, outputs.open(path) as file:
        file.write(line + b"\n")
        file.write(words.data)


def read_filter(path: Path) -> tuple[Header, Words]:
    """What `write_filter` was given; a file that was changed is refused."""
    try:
        with path.open("rb") as file:
            header, digest = _read_header(file, path)
            words = empty_words(header.size.blocks)
            is_whole = file.readinto(words.data.cast("B")) == words.nbytes and not file.read(1)
    except FileNotFoundError:
        raise MissingError(f"there is no file {str(path)!r}. Check the path.") from None
    except OSError as error:
        raise UnreadableError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    if not is_whole or _digest(words.data) != digest:
        raise _damaged(path)
    return header, words


def _read_header(file: BinaryIO, path: Path) -> tuple[Header, str]:
    try:
        members = json.loads(file.readline(_LONGEST_HEADER))
    except ValueError:
        members = None
    if not isinstance(members, dict) or members.get("format") != FORMAT:
        raise SourceError(f"{str(path)!r} is not a Bloom filter. Give a file that save() wrote.")
    if members.get("version") != VERSION:
        raise SourceError(
            f"{str(path)!r} has version {members.get('version')!r} of the format, and this is "
            f"nearly {version('nearly')}, which reads version {VERSION}. Use the nearly that "
            f"saved it ({members.get('nearly')!r})."
        )
    if members.pop("header_sha256", None) != _digest_of(members):
        raise _damaged(path)
    size = BloomSize(**{name: members[name] for name in ("items", "error", "blocks", "hashes")})
    header = Header(size=size, seed=members["seed"], added=members["added"])
    return header, members["sha256"]


def _digest_of(members: dict[str, Any]) -> str:
    return _digest(json.dumps(members, sort_keys=True).encode())


def _digest(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()


def _damaged(path: Path) -> UnreadableError:
    return UnreadableError(
        f"{path} is not as it was saved: its checksum is another one. Save the filter again."
    )
