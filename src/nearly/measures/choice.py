"""Which measure a run has: one that was given, or the one that a name stands for.

A measure is imported when it is asked for: to import all would take a tenth of the time in which a
small run is done.
"""

from importlib import import_module
from typing import Any, Final, NamedTuple

from nearly.arrays import BITS
from nearly.declaration import check_names, declarations
from nearly.errors import SettingsError
from nearly.measures.base import Measure
from nearly.measures.weight import Weights
from nearly.settings import Settings, TextSettings

__all__ = ["check_settings", "choose_measure", "measure_at"]

#: What a name stands for, of shingles and of items: a module, and a class there.
OF_SETS: Final = {
    "jaccard": (("jaccard", "Jaccard"), ("item_jaccard", "ItemJaccard")),
    "containment": (("containment", "Containment"), ("containment", "ItemContainment")),
}
WEIGHTED: Final = (
    ("weighted_jaccard", "WeightedJaccard"),
    ("weighted_jaccard", "WeightedItemJaccard"),
)
OF_VECTORS: Final = {
    "cosine": ("cosine", "Cosine"),
    "angle": ("cosine", "Angle"),
    "euclidean": ("norm", "Euclidean"),
    "manhattan": ("norm", "Manhattan"),
    "minkowski": ("norm", "Minkowski"),
    "hamming": ("hamming", "Hamming"),
}
OF_TEXTS_AND_VECTORS: Final = {"mean": ("mean", "Mean")}
OF_CHARACTERS: Final = {"edit": ("edit", "Edit")}
ALL: Final = [*OF_SETS, *OF_VECTORS, *OF_TEXTS_AND_VECTORS, *OF_CHARACTERS]


def measure_at(place: tuple[str, str], *given: Any) -> Measure:
    """The measure of the class in that place, of what it is given."""
    module, name = place
    found: Measure = getattr(import_module(f"nearly.measures.{module}"), name).of(*given)
    return found


class _Assumed(NamedTuple):
    """The shape of vectors that nobody gave."""

    length: int
    number: str


ASSUMED: Final = {"hamming": _Assumed(64, BITS)}
ASSUMED_ELSE: Final = _Assumed(256, "<f4")


def check_settings(given: Measure | str | None, settings: Settings) -> None:
    """Refuse settings that make no sense for a measure; said before anything is read."""
    if settings.weights is not None and given not in (None, "jaccard"):
        name = given if isinstance(given, str) else given.name
        raise SettingsError(
            f"weights are those of jaccard, and the measure is {name}; leave one of them out"
        )
    if settings.power is not None and given != "minkowski":
        raise SettingsError(
            f"power is {settings.power!r}, which is that of minkowski; leave it out, or give "
            "measure='minkowski'"
        )
    if isinstance(given, str):
        check_names([given], ALL, "measure")
        if given in OF_CHARACTERS:
            _refuse_shingles(given, settings)
    elif given is not None:
        _refuse_to_drop(settings, f"{given.name} was given as the measure")


def choose_measure(
    given: Measure | str | None, settings: Settings, source: Any, weights: Weights | None = None
) -> Measure:
    """The one that was given or named, for what the documents are: texts, items or vectors.

    `weights` are those that were read, where settings name any.
    """
    if given is not None and not isinstance(given, str):
        return given
    has_vectors = source is not None and source.shape is not None
    name = given or _usual(source)
    if name in OF_TEXTS_AND_VECTORS:
        return _of_both(name, settings, source)
    if name in OF_VECTORS:
        return _of_vectors(name, settings, source)
    if has_vectors:
        raise SettingsError(
            f"measure is {name!r}, and {source.name} holds vectors; "
            f"choose one of {', '.join(OF_VECTORS)}"
        )
    if name in OF_CHARACTERS:
        return _of_characters(name, settings, source)
    of_shingles, of_items = OF_SETS[name]
    holds_items = source is not None and source.holds_items
    if holds_items:
        _refuse_texts(settings, f"{source.name} holds items")
    if settings.weights is not None:
        return measure_at(WEIGHTED[holds_items], settings, weights)
    return measure_at(of_items if holds_items else of_shingles, settings)


def _usual(source: Any) -> str:
    """What is meant where nothing was said."""
    if source is None or source.shape is None:
        return "jaccard"
    return "hamming" if source.shape.number == BITS else "cosine"


def _of_vectors(name: str, settings: Settings, source: Any) -> Measure:
    """One that compares vectors; without a source, of vectors that are not known yet."""
    if source is None:
        return measure_at(OF_VECTORS[name], settings, ASSUMED.get(name, ASSUMED_ELSE))
    if source.shape is None:
        raise SettingsError(
            f"measure is {name!r}, which compares vectors, and {source.name} has none; "
            "name the column that holds them with vector, or make them of texts with embed"
        )
    _refuse_texts(settings, f"{source.name} holds vectors")
    for setting, given in (("bag", settings.bag), ("weights", settings.weights)):
        if given:
            raise SettingsError(
                f"{setting} is about shingles or items, and vectors have none; leave it out"
            )
    if source.shape.number == BITS and name != "hamming":
        raise SettingsError(
            f"measure is {name!r}, and {source.name} holds bits; compare them by hamming, or name "
            "a column of lists of numbers"
        )
    return measure_at(OF_VECTORS[name], settings, source.shape)


def _of_both(name: str, settings: Settings, source: Any) -> Measure:
    """One that compares texts and their vectors; whoever embedded the texts kept them."""
    _refuse_to_drop(settings, f"{name} compares vectors too")
    shape = ASSUMED_ELSE if source is None else source.shape
    if shape is None:
        raise SettingsError(
            f"measure is {name!r}, which compares texts by their meaning too; say what makes "
            "vectors of them with embed, as in embed='wordllama'"
        )
    return measure_at(OF_TEXTS_AND_VECTORS[name], settings, shape)


def _of_characters(name: str, settings: Settings, source: Any) -> Measure:
    if source is not None and source.holds_items:
        raise SettingsError(
            f"{name} compares texts, and {source.name} holds items; name a column of texts with "
            "text, or leave measure out"
        )
    return measure_at(OF_CHARACTERS[name], settings)


def _refuse_shingles(name: str, settings: Settings) -> None:
    """Refuse what is about shingles where characters are compared."""
    _refuse_to_drop(settings, f"{name} compares characters")
    declared = {**declarations(Settings), **declarations(TextSettings)}
    about_shingles = {"bag": settings.bag, "unit": settings.text.unit, "k": settings.text.k}
    for setting, given in about_shingles.items():
        if given != declared[setting].default:
            raise SettingsError(
                f"{setting} is {given!r}, which is about shingles, and {name} compares characters; "
                f"leave {setting} out"
            )


def _refuse_texts(settings: Settings, why: str) -> None:
    """Refuse what is about texts where there are none."""
    _refuse_to_drop(settings, f"{why}, which are compared as they are")
    for name, declared in declarations(TextSettings).items():
        given = getattr(settings.text, name)
        if given != declared.default:
            raise SettingsError(
                f"{name} is {given!r}, which is about texts, and {why}, which are compared as they "
                f"are; leave {name} out"
            )


def _refuse_to_drop(settings: Settings, why: str) -> None:
    for name, given in (("ignore", settings.text.ignore), ("common", settings.common)):
        if given:
            raise SettingsError(f"{name} drops shingles, and {why}; leave one of them out")
