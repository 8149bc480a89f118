"""Start: what there is to look at, and four ways to begin: files, a path, the sample, a run."""

from __future__ import annotations

import shutil
from typing import Any

from nearly.errors import NearlyError, SettingsError
from nearly.markup import Markup, joined, tag
from nearly.web.answer import Moved, Shown
from nearly.web.asked import Asked
from nearly.web.chosen_path import chosen_path, listed
from nearly.web.desk import Desk
from nearly.web.frame import at, link
from nearly.web.runs import Run
from nearly.web.sample import write_sample
from nearly.web.upload import receive
from nearly.wording import count

__all__ = ["choose", "sample", "start", "upload"]


def start(desk: Desk, asked: Asked) -> Shown:  # noqa: ARG001
    """Results and runs by name, and what can be chosen."""
    known = sorted(desk.results())
    runs = [desk.runs.run(name) for name in desk.runs.names()]
    unfinished = [run for run in runs if run.state != "done"]
    offered = listed(desk.root)
    return Shown(
        title="What is nearly the same?",
        data=lambda: {
            "results": known,
            "runs": [run.to_dict() for run in unfinished],
            "paths": offered,
        },
        body=lambda: _page(known, unfinished, offered),
        scripts=("start.js",),
    )


def upload(desk: Desk, asked: Asked) -> Moved:
    """Files of the browser, into the folder of a new run."""
    names = [name for name, _ in asked.files]
    if not names:
        raise SettingsError("no file came; choose some, or drop them on the page")
    about = names[0].replace("\\", "/").strip("/").split("/")[0].partition(".")[0]
    words = names[0] if len(names) == 1 else count(len(names), "file")
    name, folder = desk.runs.draft(about, None, words)
    try:
        receive(asked.files, folder)
        desk.runs.settle(name)
    except NearlyError:
        shutil.rmtree(desk.runs.place(name))  # nothing but what just came
        raise
    return Moved(_settings(name))


def choose(desk: Desk, asked: Asked) -> Moved:
    """A path below the folder of the server."""
    given = str(asked.form.get("path", "")).strip()
    path = chosen_path(desk.root, given)
    name, _ = desk.runs.draft(path.name.partition(".")[0], path, given)
    return Moved(_settings(name))


def sample(desk: Desk, asked: Asked) -> Moved:  # noqa: ARG001
    """The essays that come with nearly."""
    name, folder = desk.runs.draft("sample", None, "the sample: ten short essays")
    write_sample(folder)
    return Moved(_settings(name))


def _settings(name: str) -> str:
    return at(name, "settings", room="run")


def _page(known: list[str], runs: list[Run], offered: list[str]) -> Markup:
    return joined(
        tag("section", tag("h2", "Look at"), _results(known)) if known else None,
        tag("section", tag("h2", "Runs"), _runs(runs)) if runs else None,
        tag("section", tag("h2", "Find"), _drop(), _others(offered)),
        tag("p", link("How documents are compared", "/learn"), ", step by step, with a few small "
            "ones. ", link("For programs", "/api"), ": every page as JSON.", class_="note"),
    )  # fmt: skip


def _results(known: list[str]) -> Markup:
    each = [tag("li", link(tag("bdi", name), at(name, "overview"))) for name in known]
    return tag("ul", each)


def _runs(runs: list[Run]) -> Markup:
    each = [
        tag("li", link(tag("bdi", run.name), _way(run)), f": {run.state}, ", tag("bdi", run.given))
        for run in runs
    ]
    return tag("ul", each)


def _way(run: Run) -> str:
    return _settings(run.name) if run.state == "draft" else at(run.name, room="run")


def _drop() -> Markup:
    return tag(
        "form",
        tag("p", "Drop files, a folder or a zip here, or choose them:"),
        tag("p", tag("label", "files ", tag("input", type="file", name="file", multiple=True)),
            class_="inline"),
        tag("p", tag("label", "a folder ", tag("input", type="file", name="file", multiple=True,
                                               webkitdirectory=True)), class_="inline script"),
        tag("button", "Send", type="submit"),
        tag("p", id="sending", role="status"),
        method="post",
        action="/upload",
        enctype="multipart/form-data",
        class_="drop",
        id="drop",
    )  # fmt: skip


def _others(offered: list[str]) -> Markup:
    options: Any = [tag("option", value=name) for name in offered]
    path = tag(
        "form",
        tag("label", "a path below this folder ",
            tag("input", type="text", name="path", list="paths", required=True)),
        tag("datalist", options, id="paths"),
        tag("button", "Choose", type="submit"),
        method="post",
        action="/choose",
        class_="mark",
    )  # fmt: skip
    sample = tag("form", tag("button", "Try it with a sample", type="submit", class_="quiet"),
                 method="post", action="/sample")  # fmt: skip
    return tag("div", path, sample, class_="choices")
