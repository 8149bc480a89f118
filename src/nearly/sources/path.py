"""From what was given to files: folders walked, wildcards expanded, odd things left out."""

import errno
import glob as wildcards
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nearly.errors import MissingError, SourceError, UnreadableError
from nearly.sources.file_name import id_of_name

__all__ = ["Files", "check_no_device", "check_regular", "find_files", "inside"]

#: Between a file and the table or sheet inside of it.
INSIDE = "::"


@dataclass
class Files:
    """Files in order, each with its id, and what was met and is none."""

    paths: dict[str, str] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    #: The one folder that was given, where ids are relative to it.
    folder: str | None = None


def find_files(given: Sequence[str], glob: str | None) -> Files:
    """The files that paths, folders and patterns stand for; a file met twice counts once."""
    expanded = [path for pattern in given for path in _expand(pattern)]
    found = Files()
    if len(expanded) == 1 and os.path.isdir(expanded[0]):
        found.folder = expanded[0]
    for path in expanded:
        if os.path.isdir(path):
            prefix = "" if found.folder else path
            _add_folder(found, path, prefix, glob)
        else:
            check_regular(inside(path)[0])
            found.paths.setdefault(id_of_name(path), path)
    if glob is not None and not any(map(os.path.isdir, expanded)):
        raise SourceError(
            f"a glob ({glob!r}) chooses among the files of a folder, and {given[0]!r} is none. "
            "Leave the glob out, or point at the folder."
        )
    return found


def inside(path: str) -> tuple[str, str | None]:
    """A file, and what is named inside of it: `people.db::letters`."""
    if INSIDE not in path or os.path.lexists(path):
        return path, None
    file, _, name = path.rpartition(INSIDE)
    return file, name


def _expand(pattern: str) -> list[str]:
    if os.path.lexists(pattern):
        return [pattern]
    file, name = inside(pattern)
    if name is not None:
        return [f"{path}{INSIDE}{name}" for path in _expand(file)]
    if not wildcards.has_magic(pattern):
        raise MissingError(f"there is no file or folder {pattern!r}. Check the path.")
    found = wildcards.glob(pattern, recursive=True)
    if not found:
        raise MissingError(f"no file matches {pattern!r}. Check the pattern.")
    return sorted(found, key=os.fsencode)


def _add_folder(found: Files, folder: str, prefix: str, glob: str | None) -> None:
    chosen = _pattern(glob) if glob is not None else None
    entries = sorted(_walk(folder), key=lambda entry: os.fsencode(entry[0]))
    files = 0
    for relative, reason, always in entries:
        if chosen and not always and not chosen.fullmatch(relative):
            continue
        shown = id_of_name(os.path.join(prefix, relative))
        if reason is not None:
            found.left_out.append((shown, reason))
        else:
            files += 1
            found.paths.setdefault(shown, os.path.join(folder, relative))
    if not files and (glob is not None or found.left_out):
        matching = f" that matches {glob!r}" if glob is not None else ""
        odd = "".join(f" {shown}: {reason}." for shown, reason in found.left_out[:3])
        raise SourceError(
            f"there is no file{matching} in the folder {folder!r}; hidden ones do not count.{odd}"
        )


def _walk(folder: str) -> Iterator[tuple[str, str | None, bool]]:
    """Relative paths of all that is not hidden, why it is no file, and whether to say so always.

    Links to folders are not followed, so no loop is possible.
    """
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            with os.scandir(os.path.join(folder, inside)) as entries:
                shown = [e for e in entries if not e.name.startswith(".")]
        except OSError as error:
            if not inside:
                raise UnreadableError(
                    f"the folder {folder!r} cannot be read: {error.strerror}. "
                    "Check its permissions."
                ) from error
            yield inside, f"folder cannot be read: {error.strerror}", True
            continue
        for entry in shown:
            relative = os.path.join(inside, entry.name)
            if entry.is_dir(follow_symlinks=False):
                waiting.append(relative)
            elif entry.is_symlink() and os.path.isdir(entry.path):
                yield relative, "symbolic link to a folder: not followed", True
            else:
                yield relative, _why_no_file(entry.path), False


def _why_no_file(path: str) -> str | None:
    """None for a regular file, or a link to one."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "symbolic link that leads round in a loop"
        return f"symbolic link to nothing: {error.strerror}"
    return None if stat.S_ISREG(mode) else f"{_kind(mode)}, not a file"


def check_regular(path: str) -> None:
    """Refuse what is no file: a pipe that nobody writes to would be waited for."""
    reason = _why_no_file(path)
    if reason is not None:
        raise UnreadableError(
            f"{path!r} is a {reason}. Give a file or a folder; "
            "what comes from another program can be piped in, as in: program | nearly find -"
        )


def check_no_device(path: str) -> None:
    """Refuse a device, from which there may be no end to read; a pipe ends, and so does nothing."""
    mode = os.stat(path).st_mode
    is_device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
    if is_device and os.path.realpath(path) != os.devnull:
        raise UnreadableError(f"{path!r} is a device, not a file. Give a file.")


def _kind(mode: int) -> str:
    kinds = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFDIR: "folder"}
    return kinds.get(stat.S_IFMT(mode), "device")


def _pattern(glob: str) -> re.Pattern[str]:
    """A glob over relative paths; one without a slash is about the name, at any depth."""
    anywhere = glob if "/" in glob else f"**/{glob}"
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\])", anywhere)
    try:
        return re.compile("".join(map(_translated, pieces)), re.DOTALL)
    except re.error as error:
        raise SourceError(
            f"the glob {glob!r} is no pattern: {error.msg}. Write it like '*.txt' or '[a-z]*'."
        ) from error


def _translated(piece: str) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if piece in known:
        return known[piece]
    if piece.startswith("[") and piece.endswith("]") and len(piece) > 2:
        inside = piece[1:-1].replace("\\", "\\\\")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return re.escape(piece)
