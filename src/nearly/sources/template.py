"""Texts to ignore: from files, or as they are given."""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nearly.errors import MissingError, SettingsError, UnreadableError
from nearly.settings import TextSettings
from nearly.sources.formats.document import read_document
from nearly.sources.formats.encoding import NotTextError, without_surrogates
from nearly.sources.formats.frame import Texts
from nearly.sources.path import check_no_device

__all__ = ["read_text_file", "with_templates"]


def with_templates(text: TextSettings) -> TextSettings:
    """The same settings, with the files to ignore read."""
    if not text.ignore:
        return text
    return replace(text, ignore=tuple(_templates(text.ignore)))


def _templates(given: Any) -> Iterator[str]:
    """As sources are told apart: one string is a path, strings of a list are texts."""
    if isinstance(given, str | os.PathLike):
        yield _read(os.fsdecode(given))
    elif isinstance(given, Texts):
        yield from (_checked(text) for text in given.given)
    elif isinstance(given, tuple | list):
        for each in given:
            yield _read(os.fsdecode(each)) if isinstance(each, os.PathLike) else _text(each)
    else:
        raise SettingsError(
            f"ignore is of the type {type(given).__name__}; "
            "give a path, or a list of paths and texts"
        )


def _read(path: str) -> str:
    text = read_text_file(path, "--ignore needs a file with the text to ignore.")
    if not text.strip():
        raise SettingsError(
            f"{path!r} has no text, so there is nothing to ignore; "
            "give another file, or leave it out"
        )
    return text


def _text(given: Any) -> str:
    if isinstance(given, str) and os.path.isfile(given):
        raise SettingsError(
            f"ignore has the string {given!r}, which is also the name of a file. To ignore what is "
            f"in the file, give pathlib.Path({given!r}). To ignore the string itself, give "
            "nearly.texts([…])."
        )
    return _checked(given)


def _checked(text: Any) -> str:
    if not (isinstance(text, str) and text.strip() and without_surrogates(text)):
        raise SettingsError(
            f"ignore has {text!r}, which is no text; "
            "give paths as pathlib.Path, or texts as strings"
        )
    return text


def read_text_file(path: str, needed: str) -> str:
    """The text of a whole file; `needed` says what to do where it has none."""
    try:
        check_no_device(path)
        return read_document(path)
    except FileNotFoundError:
        raise MissingError(f"there is no file {path!r}. Check the path.") from None
    except NotTextError as error:
        raise UnreadableError(f"{path}: {error}. {needed}") from None
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror or error}.") from error
