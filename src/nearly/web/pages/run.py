"""A run: its settings with their defaults and a forecast; then how far it is, and cancel."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from nearly.advice.forecast import Forecast, forecast
from nearly.declaration import declarations
from nearly.errors import SettingsError
from nearly.markup import Child, Markup, joined, tag
from nearly.settings import Settings, TextSettings
from nearly.web.answer import Moved, Shown
from nearly.web.asked import Asked
from nearly.web.desk import Desk
from nearly.web.frame import at, facts, link, table
from nearly.web.runs import Run
from nearly.wording import count

__all__ = ["begin", "cancel", "run", "settings"]


class Field(NamedTuple):
    """A setting of the form: its name, what it is called, and its choices if there are any."""

    name: str
    words: str
    meaning: str
    choices: tuple[str, ...] = ()
    usual: str = ""


_TEXT: Final = declarations(TextSettings)
_USUAL: Final = Settings()
FIELDS: Final = (
    Field("threshold", "least similarity", "Pairs that are less similar are not shown.", (),
          str(_USUAL.threshold)),
    Field("measure", "compared by", "jaccard: what both have, out of all they have together. "
          "containment: how much of the smaller one is in the larger.",
          ("jaccard", "containment"), "jaccard"),
    Field("unit", "shingles of", _TEXT["unit"].meaning, ("char", "word"), "char"),
    Field("k", "length of a shingle", _TEXT["k"].meaning, (), "auto"),
    Field("case", "case", _TEXT["case"].meaning, ("fold", "keep"), "fold"),
    Field("punctuation", "punctuation", _TEXT["punctuation"].meaning, ("keep", "drop"), "keep"),
    Field("stop_words", "stop words", "english: leave out the commonest English words, such as the "
          "and of.", ("keep", "english"), "keep"),
    Field("difference", "kinds of difference", "yes: say of every pair whether only case, digits, "
          "punctuation or so differ, and pairs can be filtered by it.", ("yes", "no"), "yes"),
    Field("id", "id column", "Of a table: the column that names a document; guessed if empty."),
    Field("text", "text column", "Of a table: the column that holds the text; guessed if empty."),
    Field("whole", "a document is a", "folder: all files of a student's folder are one document, "
          "and passages name their file.", ("file", "folder"), "file"),
    Field("group", "group", "Leave out pairs inside a group: a column of the table, or folder for "
          "one folder per student, whatever lies in it."),
    Field("term", "term", "Label pairs of two terms: a column, or folder if each term has one; "
          "folder:2 is then the group of a student."),
)  # fmt: skip


#: What is no argument of `find`: who belongs together.
PARTS: Final = ("group", "term", "whole")


def settings(desk: Desk, asked: Asked) -> Shown:
    """What will be done, before it is."""
    found = desk.runs.run(asked.path["run"])
    told = forecast(desk.runs.documents(found.name), _USUAL)
    return Shown(
        title="Find what is nearly the same",
        data=lambda: {
            "run": found.to_dict(),
            "forecast": told._asdict(),
            "settings": {field.name: field.usual for field in FIELDS},
        },
        body=lambda: _form(found, told),
    )


def begin(desk: Desk, asked: Asked) -> Moved:
    """Start the run with these settings; what is impossible is said at once."""
    given = {field.name: str(asked.form.get(field.name, "")).strip() for field in FIELDS}
    parts = {name: given.pop(name) or None for name in PARTS}
    options = {name: value for name, value in given.items() if value}
    typed = _typed(options)
    _check_choices(given)
    text = {name: typed[name] for name in ("unit", "k", "case", "punctuation") if name in typed}
    Settings(threshold=typed.get("threshold", _USUAL.threshold), text=TextSettings(**text))
    desk.runs.start(asked.path["run"], {"options": typed, **parts})
    return Moved(at(asked.path["run"], room="run"))


def _check_choices(given: dict[str, str]) -> None:
    """What the worker understands; settings of the library refuse by themselves."""
    for field in FIELDS:
        if field.name in ("measure", "stop_words", "difference"):
            value = given[field.name]
            if value and value not in field.choices:
                raise SettingsError(
                    f"{field.words} is {value[:50]!r}; choose {' or '.join(field.choices)}"
                )


def _typed(options: dict[str, str]) -> dict[str, Any]:
    typed: dict[str, Any] = dict(options)
    if "threshold" in options:
        try:
            typed["threshold"] = float(options["threshold"])
        except ValueError:
            raise SettingsError(
                f"the least similarity is {options['threshold'][:50]!r}; give a number like 0.5"
            ) from None
    if options.get("k", "").isdecimal():
        typed["k"] = int(options["k"][:9])
    return typed


def run(desk: Desk, asked: Asked) -> Shown:
    """How far it is."""
    found = desk.runs.run(asked.path["run"])
    return Shown(
        title={"done": "Done", "failed": "It failed", "stopped": "It was stopped"}.get(
            found.state, "Finding"
        ),
        data=lambda: found.to_dict() | {"stages": list(_stages(found))},
        body=lambda: _progress(found),
        scripts=("run.js",),
    )


def cancel(desk: Desk, asked: Asked) -> Moved:
    """End it, and say so."""
    desk.runs.cancel(asked.path["run"])
    return Moved(at(asked.path["run"], room="run"))


def _form(found: Run, told: Forecast) -> Markup:
    said = (
        f"{count(told.files, 'file')}, {told.bytes:,} bytes. It will take about "
        f"{_time(told.seconds)} and {told.memory / 1e6:,.0f} MB of memory; more where much is "
        "similar."
    )
    request = found.request or {}
    kept = {name: request[name] for name in PARTS if request.get(name)}
    chosen = request.get("options", {}) | kept
    return joined(
        tag("p", tag("bdi", found.given), class_="lead"),
        tag("p", said),
        tag(
            "form",
            tag("div", [_field(field, chosen) for field in FIELDS], class_="fields"),
            tag("button", "Find", type="submit"),
            method="post",
            action=at(found.name, "begin", room="run"),
        ),
    )


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 2 else "a second or two"


def _field(field: Field, chosen: dict[str, Any]) -> Markup:
    value = str(chosen.get(field.name, field.usual))
    if field.choices:
        options = [
            tag("option", each, value=each, selected=each == value) for each in field.choices
        ]
        box = tag("select", options, name=field.name, id=field.name)
    else:
        box = tag("input", type="text", name=field.name, id=field.name, value=value, maxlength=200)
    return joined(
        tag("label", field.words, for_=field.name),
        tag("div", box),
        tag("p", field.meaning, class_="note"),
    )


def _stages(found: Run) -> Iterator[dict[str, Any]]:
    """Each with what is left of it, by the pace that it has had."""
    now = time.time()
    for stage in found.progress.get("stages", ()):
        spent = stage.get("seconds", now - stage["began"])
        done, total = stage["done"], stage["total"]
        left = None
        if found.state == "running" and "seconds" not in stage and total and done:
            left = round(spent * max(total - done, 0) / done, 1)
        yield {"name": stage["name"], "done": done, "total": total, "seconds": round(spent, 1),
               "left": left}  # fmt: skip


def _progress(found: Run) -> Markup:
    again = found.state in ("failed", "stopped", "done")
    return joined(
        tag("p", tag("bdi", found.given), class_="lead"),
        tag("p", found.failure, role="alert") if found.state == "failed" else None,
        tag("ol", [_stage(stage) for stage in _stages(found)], class_="stages", id="stages"),
        _outcome(found) if found.state == "done" else None,
        _cancel(found) if found.state == "running" else None,
        tag("p", link("Run again with other settings", at(found.name, "settings", room="run")))
        if again and "clean" not in (found.request or {})
        else None,
        _skipped(found.progress.get("skipped", [])),
        tag("div", id="run", data_state=found.state, hidden=True),
    )


def _outcome(found: Run) -> Markup:
    if not found.outcome:
        return tag("p", link("See what was found", at(found.name, "overview"), id="see"))
    numbers = facts(
        {
            "documents": f"{found.outcome['documents']:,}",
            "removed": f"{found.outcome['removed']:,}",
        }
    )
    files = [
        tag("li", link(name, at(found.name, "file", name, room="run")))
        for name in found.outcome["files"]
    ]
    path = str(found.outcome["path"])
    is_plan = path.endswith("plan.json")
    said = tag("p", "To see what the plan does, and to carry it out: ",
               tag("code", f"nearly apply {shlex.quote(path)}"))  # fmt: skip
    return joined(numbers, tag("ul", files), said if is_plan else None)


def _stage(stage: dict[str, Any]) -> Markup:
    left = f", about {stage['left']} s left" if stage["left"] is not None else ""
    total = stage["total"]
    of = f" {stage['done']:,} of {total:,}," if total else ""
    bar = tag("progress", max=total, value=stage["done"], aria_label=stage["name"])
    return tag("li", f"{stage['name']}:{of} {stage['seconds']} s{left} ", bar if total else None)


def _cancel(found: Run) -> Markup:
    return tag(
        "form",
        tag("button", "Cancel", type="submit", class_="danger"),
        method="post",
        action=at(found.name, "cancel", room="run"),
    )


def _skipped(skipped: list[dict[str, str]]) -> Markup | None:
    if not skipped:
        return None
    rows: list[list[Child]] = [[tag("bdi", row["record"]), row["reason"]] for row in skipped[:100]]
    named = facts({"skipped": f"{len(skipped):,}"})
    return tag("section", tag("h2", "Skipped"), named, table(rows, ["record", "why"], "skipped"))
