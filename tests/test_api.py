"""The public signatures: one declaration per setting serves them, the command line and the page."""

import importlib.util
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import nearly
from nearly import arguments
from nearly.cli.program import nearly as program
from nearly.declaration import Declaration, declarations
from nearly.errors import SettingsError
from nearly.settings import ExplainSettings, Settings, TextSettings, UniqueSettings

ROOT = Path(__file__).parents[1]
FUNCTIONS = [
    nearly.compare,
    nearly.dedup,
    nearly.explain,
    nearly.find,
    nearly.mentions,
    nearly.plan,
    nearly.tune,
    nearly.unique,
]
KINDS = [
    Settings,
    TextSettings,
    arguments.Running,
    arguments.Finding,
    arguments.Deduplicating,
    arguments.Tuning,
    arguments.Comparing,
]
DECLARED: dict[str, Declaration] = {
    name: each for kind in KINDS for name, each in declarations(kind).items()
}
#: What a function declares otherwise: the memory of a stream, for example, is that of its filters.
OWN: dict[str, dict[str, Declaration]] = {
    "explain": dict(declarations(ExplainSettings)),
    "unique": dict(declarations(UniqueSettings)),
}


def test_the_generated_file_is_up_to_date() -> None:
    place = importlib.util.spec_from_file_location("make_api", ROOT / "tools" / "make_api.py")
    assert place is not None
    assert place.loader is not None
    maker = importlib.util.module_from_spec(place)
    place.loader.exec_module(maker)
    assert maker.PATH.read_text() == maker.text(), "run python tools/make_api.py"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_argument_has_its_declared_default_and_meaning(function: Callable[..., Any]) -> None:
    signature = inspect.signature(function)
    named = [p for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert len(named) >= 5
    assert {p.kind for p in signature.parameters.values()} <= {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    }
    page = " ".join(inspect.getdoc(function).split())  # type: ignore[union-attr]
    for parameter in named:
        declared = (DECLARED | OWN.get(function.__name__, {}))[parameter.name]
        assert parameter.default == declared.default
        assert f"{parameter.name}: {declared.meaning}" in page


def test_find_takes_every_setting() -> None:
    taken = set(inspect.signature(nearly.find).parameters) - {"source"}
    kinds = (Settings, TextSettings, arguments.Running, arguments.Finding)
    assert taken == {name for kind in kinds for name in declarations(kind)}


def test_a_meaning_is_one_sentence() -> None:
    for declared in [*DECLARED.values(), *(each for own in OWN.values() for each in own.values())]:
        assert re.fullmatch(r"[A-Z][^\n]*[^.]\.", declared.meaning), declared.name
        assert ". " not in declared.meaning, declared.name


@pytest.mark.parametrize("command", ["find", "dedup", "tune", "compare"])
def test_options_have_the_declared_defaults_and_choices(command: str) -> None:
    found = program.get_command(click.Context(program), command)
    assert found is not None
    options = [o for o in found.params if isinstance(o, click.Option) and o.name in DECLARED]
    assert len(options) > 10
    others = {"stop_words", "spark_conf", "threshold" if command == "tune" else ""}
    for option in (o for o in options if o.name not in others):
        declared = DECLARED[option.name or ""]
        default = option.get_default(click.Context(found))
        default = None if "UNSET" in str(default) else default
        assert (default or None) == (declared.default or None), option.name
        if declared.choices:
            assert isinstance(option.type, click.Choice)
            assert tuple(option.type.choices) == declared.choices


def test_the_page_has_the_declared_defaults() -> None:
    page = (ROOT / "docs" / "cli.md").read_text()
    rows = re.findall(r"^\| `--([a-z-]+)[^|]*(?:\\\|[^|]*)*\| `([^`]+)` \|", page, re.MULTILINE)
    assert len(rows) > 15
    for name, default in rows:
        declared = DECLARED.get(name.replace("-", "_"))
        if declared is not None and declared.default not in (None, ()):
            assert default == str(declared.default), name


def test_an_unknown_argument_names_the_one_that_was_meant() -> None:
    with pytest.raises(SettingsError, match="'treshold'; did you mean 'threshold'"):
        nearly.find(["a"], treshold=0.5)  # type: ignore[call-arg]
    with pytest.raises(SettingsError, match=r"no argument of nearly\.tune 'nonsense'"):
        nearly.tune(nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(SettingsError, match="did you mean 'recall'"):
        Settings.of(recal=0.5)


def test_settings_go_to_plain_values_and_back() -> None:
    settings = Settings.of(threshold=0.7, k=3, stop_words=("a", "the"), bands=3, rows=4)
    assert Settings.from_dict(settings.to_dict()) == settings


def test_impossible_choices_are_refused() -> None:
    with pytest.raises(SettingsError, match="engine is 'cloud'; choose one of local, spark"):
        nearly.find(["a"], engine="cloud")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="chooser is 'best'"):
        nearly.tune(chooser="best")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="unit is 'byte'; choose one of char, word"):
        nearly.compare("a", "b", unit="byte")  # type: ignore[arg-type]


def test_any_bands_and_rows_are_explained_but_not_run() -> None:
    advice = nearly.tune(bands=500, rows=30)
    assert advice.best.banding.permutations == 15_000
    for function in (nearly.find, nearly.tune):
        with pytest.raises(SettingsError, match="15000 permutations"):
            function(["a"], bands=500, rows=30)


def test_the_version_is_that_of_the_package() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", nearly.__version__)
