"""What an index is made with: fixed when it is created, kept in its catalogue, checked later."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Final, Self

import pyarrow as pa

from nearly.declaration import check_names, declarations
from nearly.documents.folder import fingerprint
from nearly.errors import SettingsError, UnreadableError
from nearly.index.content import Keeping, keeping_of
from nearly.index.posting import Poster
from nearly.index.search import Asking
from nearly.measures.base import Measure
from nearly.measures.choice import check_settings, choose_measure
from nearly.measures.shingle import SIGNATURE_VERSION
from nearly.pipeline import choose_banding
from nearly.settings import Settings, TextSettings
from nearly.tuning.banding import Banding, explicit

__all__ = ["SETTINGS", "Making", "Shape"]

#: Names of the settings that `create` takes.
SETTINGS: Final = (
    *declarations(Settings),
    *declarations(TextSettings),
)
#: What an index has no use for, and why.
_NOT_HERE: Final = {
    "common": "which shingles are common is decided by a whole corpus, and an index grows",
    "all_pairs": "an index lists every copy in its answers",
    "cluster": "an index makes no clusters",
    "method": "an index is asked by hashing",
    "weights": "an index keeps no weights",
}


#: What a run that compares others with an index may choose.
_FREE: Final = ("all_pairs", "cluster")


@dataclass(frozen=True)
class Shape:
    """That of vectors, as a measure asks for it."""

    number: str
    length: int | None


@dataclass(frozen=True)
class Kind:
    """What documents are, as a source says it."""

    name: str
    holds_items: bool
    shape: Shape | None


@dataclass(frozen=True, kw_only=True)
class Making:
    """Measure, settings, and what is kept."""

    measure_name: str
    settings: Settings
    texts: bool
    holds_items: bool = False
    shape: Shape | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any], source: Any, *, texts: bool) -> "Making":
        """From the options of `create`, and what the first source holds."""
        given = dict(options)
        name = given.pop("measure", None)
        if name is not None and not isinstance(name, str):
            raise SettingsError(
                f"measure is {name!r}; an index can be made again from a name only, such as "
                "jaccard or cosine"
            )
        check_names(given, [*SETTINGS, "measure"])
        for refused, why in _NOT_HERE.items():
            if given.pop(refused, None) not in (None, declarations(Settings)[refused].default):
                raise SettingsError(f"{refused} was given, and {why}; leave it out")
        if given.get("seed") is None:
            given["seed"] = secrets.randbits(63)
        settings = Settings.of(**given)
        settings.check_length()
        check_settings(name, settings)
        shape = None if source is None else source.shape
        made = cls(
            measure_name=name or ("cosine" if shape is not None else "jaccard"),
            settings=settings,
            texts=texts,
            holds_items=source is not None and source.holds_items,
            shape=None if shape is None else Shape(shape.number, shape.length),
        )
        made.check()
        return made

    def check(self) -> None:
        """Refuse what cannot be an index."""
        self.measure.hash_functions()
        _ = self.keeping, self.banding

    def settled(self, mean_extent: float) -> Self:
        """With what the first documents decide."""
        measure = self.measure.settled(mean_extent)
        return replace(self, settings=measure.decided(self.settings))

    @cached_property
    def measure(self) -> Measure:
        """How documents are compared."""
        return choose_measure(self.measure_name, self.settings, self.kind)

    @property
    def kind(self) -> Kind:
        """What documents are."""
        return Kind("the index", self.holds_items, self.shape)

    @cached_property
    def keeping(self) -> Keeping:
        """What is kept of documents."""
        is_text = not self.holds_items and self.shape is None
        return keeping_of(self.measure, texts=self.texts, is_text=is_text)

    @property
    def kept_type(self) -> pa.DataType:
        """The type of what is kept."""
        return pa.large_string() if self.keeping.is_text else pa.large_binary()

    @cached_property
    def banding(self) -> Banding:
        """Bands and rows, as the recall at the threshold asks for them."""
        return choose_banding(self.measure, self.settings)

    @cached_property
    def poster(self) -> Poster | None:
        """Where documents do not meet in buckets: how their members are listed."""
        if not self.measure.hash_functions().least_drawn:
            return None
        return Poster(self.measure, self.keeping, self.settings.seed)

    @cached_property
    def asking(self) -> Asking:
        """At the threshold of the index."""
        threshold = self.measure.threshold(self.settings)
        return Asking(self.measure, self.keeping, self.banding, threshold, self.poster)

    def asking_at(self, *, threshold: float | None, within: float | None) -> Asking:
        """At another one, or within another distance; neither: the nearest, however near."""
        if threshold is None and within is None:
            return Asking(self.measure, self.keeping, self.banding, None, self.poster)
        least = self.settings.threshold if threshold is None else threshold
        return _asking_at(self, replace(self.settings, threshold=least, within=within))

    # What a run has that compares others with it

    def check_same(self, given: Mapping[str, Any]) -> None:
        """Refuse settings of a run that are not those of the index."""
        declared = {**declarations(Settings), **declarations(TextSettings)}
        for name, value in given.items():
            if name in _FREE or (name == "method" and value in ("auto", "lsh")):
                continue
            if name == "method":
                raise SettingsError(f"method is {value!r}, and an index is asked by hashing")
            own = self.measure_name if name == "measure" else self._own(name)
            if name in (*declared, "measure", "embed") and value != own:
                raise SettingsError(
                    f"{name} is {value!r}, and the index was made with {own!r}, which holds for "
                    f"all that is compared with it; leave {name} out"
                )

    def _own(self, name: str) -> Any:
        text = self.settings.text
        return getattr(text if hasattr(text, name) else self.settings, name, None)

    def settings_of_run(self, given: Settings) -> Settings:
        """Those of the index, with what is free."""
        free = {name: getattr(given, name) for name in _FREE}
        return replace(self.settings, method="lsh", **free)

    # As the catalogue keeps it

    def facts(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        shape = self.shape
        return {
            "measure": self.measure_name,
            "settings": self.settings.to_dict(),
            "texts": self.texts,
            "items": self.holds_items,
            "shape": None if shape is None else [shape.number, shape.length],
            "bands": self.banding.bands,
            "rows": self.banding.rows,
            "agreement": self.banding.agreement,
            "signature": SIGNATURE_VERSION,
            "fingerprint": self.fingerprint,
        }

    @cached_property
    def fingerprint(self) -> str:
        """Differs wherever the keys of a document may."""
        banding = [self.banding.bands, self.banding.rows]
        return fingerprint(
            measure=self.measure.facts(),
            banding=banding,
            signature=SIGNATURE_VERSION,
            texts=self.texts,
        )

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "Making":
        """The inverse of `facts`; what this version would do otherwise is refused."""
        made = cls(
            measure_name=facts["measure"],
            settings=Settings.from_dict(facts["settings"]),
            texts=facts["texts"],
            holds_items=facts["items"],
            shape=None if facts["shape"] is None else Shape(*facts["shape"]),
        )
        if made.fingerprint != facts["fingerprint"]:
            raise UnreadableError(
                "the index was made by a version of nearly that signs documents otherwise; create "
                "it anew from its documents, or use the version that made it"
            )
        return made


@cache
def _asking_at(making: Making, settings: Settings) -> Asking:
    """The same bands, with an agreement that suits another threshold."""
    banding, measure = making.banding, making.measure
    threshold = measure.threshold(settings)
    closeness = float(measure.closeness(threshold))
    other = explicit(banding.bands, banding.rows, closeness, settings.recall, banding.hashing)
    return Asking(measure, making.keeping, other, threshold, making.poster)
