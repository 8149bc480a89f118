"""Long objects of JSON in pieces: each of its lists is spread over several lines.

DuckDB takes 13 times an object that is long by many short values. So it is given a copy in which
such an object is several lines, each with some members or some elements of a list, and these are
joined again once they were read.
"""

import itertools
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import IO, NamedTuple

import pyarrow as pa

from nearly.mapping import let_go, mapped
from nearly.sources.formats.joined_list import JoinedValue
from nearly.sources.formats.json_element import element_spans

__all__ = ["CutRecords"]

#: Bytes of a line that stands for a piece, about: DuckDB takes thousands of lines at once.
PIECE = 2**12
#: Bytes that are looked at together.
STRETCH = 2**18
#: What no reader takes for JSON: it stands for an object that is none.
_UNSOUND = b'"\\ud800"'

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_FLAT = rb'[{\[](?:[^"\[\]{}]++|%b)*+[}\]]' % _STRING
_TOKEN = re.compile(rb'(?:[^"{}\[\]]{1,9999}+|%b){1,999}+|[{}\[\]]' % _STRING, re.DOTALL)
#: Elements of a list up to a comma, in which no more than one level is nested.
_ELEMENTS = re.compile(rb'(?:(?:[^"\[\]{},]++|%b|%b)*+,){1,50}+' % (_STRING, _FLAT), re.DOTALL)
_REST = re.compile(rb'(?:[^"\[\]{},]++|%b|%b)*+' % (_STRING, _FLAT), re.DOTALL)
_BEGIN = re.compile(rb"[ \t\r\n]*\{[ \t\r\n]*")
_NAME = re.compile(rb"(%b)[ \t\r\n]*:[ \t\r\n]*" % _STRING, re.DOTALL)
_PLAIN = re.compile(rb'%b|[^ \t\r\n,\[\]{}"]++' % _STRING, re.DOTALL)
_AFTER = re.compile(rb"[ \t\r\n]*(?:,[ \t\r\n]*)?")
_END = re.compile(rb"\}[ \t\r\n]*")
_BLANK = b" \t\n\v\f\r"
#: What stands before the first element and after the last one: in an array, and without.
_AROUND = {
    True: (re.compile(rb"[ \t\r\n]*\["), re.compile(rb"\][ \t\r\n]*")),
    False: (re.compile(rb""), re.compile(rb"[ \t\r\n]*")),
}


class _Member(NamedTuple):
    """The name of a value as it is written, and where its pieces begin and end."""

    name: bytes
    bounds: Sequence[int]


class CutRecords:
    """JSON lines, or the elements of an array, as lines of which some stand for one together.

    Objects of at most `longest` bytes are one line, as they are; so are those in which one
    element of a list is long by itself, or a name stands twice.
    """

    def __init__(
        self, source: str, copy: str, longest: int, is_json: Callable[[str], bool], *, lines: bool
    ) -> None:
        self.copy = copy
        self._longest = longest
        self._is_json = is_json
        #: The first line of each object that is cut, and how many it has.
        self._firsts: list[int] = []
        self._counts: list[int] = []
        with open(source, "rb") as file, open(copy, "wb") as target:
            text = mapped(file.fileno(), file.seek(0, 2))
            row = 0
            for first, last in _lines(source) if lines else _elements(source, text):
                row += self._write(text, first, last, row, target, lines=lines)
                let_go()

    def _write(
        self, text: memoryview, first: int, last: int, row: int, target: IO[bytes], *, lines: bool
    ) -> int:
        """One object; returns how many lines it takes."""
        if last - first <= self._longest:
            return _write_whole(text, first, last, target, lines=lines)
        start = target.tell()
        try:
            members = _members(text, first, last)
            if len({json.loads(member.name) for member in members}) < len(members):
                return _write_whole(text, first, last, target, lines=lines)
            count = 0
            for some in _together(_cut(text, members)):
                if not self._is_json(f"[{b','.join(some).decode()}]"):
                    raise ValueError
                target.writelines(line + b"\n" for line in some)
                count += len(some)
                let_go()
        except ValueError:
            target.seek(start)
            target.truncate()
            target.write(_UNSOUND + b"\n")
            return 1
        if count > 1:
            self._firsts.append(row)
            self._counts.append(count)
        return count

    def joined(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that the lines say; an object that was cut comes by itself."""
        pending: list[JoinedValue] = []
        missing = row = 0
        for batch in batches:
            start = 0
            while start < batch.num_rows:
                if missing:
                    taken = min(missing, batch.num_rows - start)
                    for value, column in zip(pending, batch.columns, strict=True):
                        value.add(column.slice(start, taken))
                    missing -= taken
                    if not missing:
                        values = [pending.pop(0).whole() for _ in batch.schema]
                        yield pa.RecordBatch.from_arrays(values, schema=batch.schema)
                else:
                    place = bisect_left(self._firsts, row + start)
                    following = [self._firsts[place] - row] if place < len(self._firsts) else []
                    taken = min([batch.num_rows, *following]) - start
                    if taken:
                        yield batch.slice(start, taken)
                    else:
                        missing = self._counts[place]
                        pending = [JoinedValue(kind) for kind in batch.schema.types]
                start += taken
            row += batch.num_rows


def _lines(path: str) -> Iterator[tuple[int, int]]:
    """Where each line that is not blank begins and ends."""
    place = 0
    with open(path, "rb") as file:
        while line := file.readline(STRETCH):
            first, is_blank = place, not line.strip(_BLANK)
            place += len(line)
            while not line.endswith(b"\n") and (line := file.readline(STRETCH)):
                is_blank = is_blank and not line.strip(_BLANK)
                place += len(line)
            if not is_blank:
                yield first, place - line.endswith(b"\n")


def _elements(path: str, text: memoryview) -> Iterator[tuple[int, int]]:
    """The same for elements; where something else stands around them, that comes last."""
    spans = element_spans(path)
    if spans is None:
        yield 0, len(text)
        return
    starts, ends = spans.starts.tolist(), spans.ends.tolist()
    yield from zip(starts, ends, strict=True)
    around = _AROUND[spans.in_array]
    if not (around[0].fullmatch(text, 0, starts[0]) and around[1].fullmatch(text, ends[-1])):
        yield 0, 0


def _write_whole(text: memoryview, first: int, last: int, target: IO[bytes], *, lines: bool) -> int:
    if lines:
        target.write(text[first:last])
    else:
        target.write(_on_one_line(text, first, last).strip(_BLANK) or _UNSOUND)
    target.write(b"\n")
    return 1


def _on_one_line(text: memoryview, first: int, last: int) -> bytes:
    """A tab is as much white space as an end of line, and as wrong in a string."""
    return bytes(text[first:last]).replace(b"\n", b"\t")


def _members(text: memoryview, first: int, last: int) -> list[_Member]:
    """The members of an object, with places where lists may be cut; ValueError if it is none."""
    place = _past(_BEGIN, text, first, last)
    found = []
    while name := _NAME.match(text, place, last):
        start = name.end()
        if text[start] == ord("["):
            bounds = _pieces_of(text, start, last)
        elif text[start] == ord("{"):
            bounds = [start, _past_nested(text, start, last)]
        else:
            bounds = [start, _past(_PLAIN, text, start, last)]
        found.append(_Member(name[1], bounds))
        after = _AFTER.match(text, bounds[-1], last)
        place = bounds[-1] if after is None else after.end()
        if after is None or b"," not in after[0]:
            break
    if _past(_END, text, place, last) != last:
        raise ValueError
    return found


def _past(pattern: re.Pattern[bytes], text: memoryview, first: int, last: int) -> int:
    found = pattern.match(text, first, last)
    if found is None:
        raise ValueError
    return found.end()


def _past_nested(text: memoryview, first: int, last: int) -> int:
    """The end of the list or object that begins here."""
    depth = 0
    for token in _TOKEN.finditer(text, first, last):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    raise ValueError


def _pieces_of(text: memoryview, first: int, last: int) -> list[int]:
    """Where pieces of a list begin, and its end: each ends with a comma between elements."""
    bounds = [first]
    place = first + 1
    while True:
        if elements := _ELEMENTS.match(text, place, last):
            place = elements.end()
            if place - bounds[-1] >= PIECE:
                bounds.append(place)
            continue
        place = _past(_REST, text, place, last)
        if place == last or text[place] in b'}"':
            raise ValueError
        if text[place] == ord("]"):
            break
        place = _past_nested(text, place, last)
    if len(bounds) > 1 and not bytes(text[bounds[-1] : place]).strip(_BLANK):
        bounds.pop()  # a comma that nothing follows
    return [*bounds, place + 1]


def _cut(text: memoryview, members: Sequence[_Member]) -> Iterator[bytes]:
    """Lines with every name, all but some of them null: so each has the names of all."""
    here: dict[bytes, bytes] = {}
    size = 0
    enough = max(PIECE, 8 * sum(len(member.name) for member in members))
    for name, bounds in members:
        for first, last in itertools.pairwise(bounds):
            if size >= enough or name in here:
                yield _line(members, here)
                here, size = {}, 0
            piece = _on_one_line(text, first, last)
            before = b"[" if first > bounds[0] else b""
            here[name] = before + (piece if last == bounds[-1] else _closed(piece))
            size += last - first
    yield _line(members, here)


def _closed(piece: bytes) -> bytes:
    """A piece of a list that ends with a comma; one too many stays, for it is an error."""
    elements = piece[:-1]
    return (piece if elements.rstrip(_BLANK).endswith((b",", b"[")) else elements) + b"]"


def _together(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    """A few hundred kilobytes of lines at a time."""
    found, size = [], 0
    for line in lines:
        found.append(line)
        size += len(line)
        if size >= STRETCH:
            yield found
            found, size = [], 0
    if found:
        yield found


def _line(members: Sequence[_Member], here: dict[bytes, bytes]) -> bytes:
    said = (member.name + b":" + here.get(member.name, b"null") for member in members)
    return b"{" + b",".join(said) + b"}"
