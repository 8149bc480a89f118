"""What a run is told: frozen, keyword-only, validated once.

`TextSettings` says how a text becomes a set of shingles; `Settings` says what is
looked for in those sets. Both go to and from plain dicts, and have a fingerprint
that changes when, and only when, the answer could.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, Literal, Self, TypedDict, get_args

from nearly.errors import SettingsError

__all__ = [
    "Case",
    "Clustering",
    "Form",
    "Keeping",
    "Method",
    "Options",
    "Scheme",
    "Settings",
    "Spacing",
    "TextSettings",
    "Unit",
]

Unit = Literal["char", "word"]
Case = Literal["fold", "keep"]
Spacing = Literal["collapse", "drop", "keep"]
Keeping = Literal["keep", "drop"]
Form = Literal["NFC", "NFD", "NFKC", "NFKD", "none"]
Scheme = Literal["one-permutation", "independent"]
Clustering = Literal["components", "leader"]
Method = Literal["auto", "exact", "lsh"]

AUTO: Final = "auto"
LONGEST_SHINGLE = 1_000
MOST_PERMUTATIONS = 4_096


@dataclass(frozen=True, kw_only=True)
class TextSettings:
    """How a text becomes a set of shingles.

    The order of work: normal form, case, accents, digits, punctuation, stop words,
    white space; then shingles of `k` code points or `k` words.
    """

    unit: Unit = "char"
    k: int | Literal["auto"] = AUTO
    form: Form = "NFC"
    case: Case = "fold"
    accents: Keeping = "keep"
    digits: Keeping = "keep"
    punctuation: Keeping = "keep"
    mentions: Keeping = "keep"
    space: Spacing = "collapse"
    stop_words: tuple[str, ...] = ()
    raw: bool = False

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if hasattr(self, name):
                _check_choice(name, getattr(self, name), get_args(allowed))
        if self.k != AUTO and not (_is_whole(self.k) and 1 <= int(self.k) <= LONGEST_SHINGLE):
            raise SettingsError(
                f"k is {self.k!r}; a shingle has 1 to {LONGEST_SHINGLE} {self.unit}s. "
                f"Give a whole number, or 'auto' (5 for short documents, 9 for long ones)."
            )
        if self.raw:
            _check_raw(self)

    @property
    def whole_k(self) -> int:
        """`k` as a number: 'auto' must have been resolved by now."""
        if isinstance(self.k, str):
            raise SettingsError("k is 'auto'; it has to be resolved on documents before it is used")
        return self.k


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is looked for, and how."""

    text: TextSettings = field(default_factory=TextSettings)
    threshold: float = 0.8
    within: float | None = None
    recall: float = 0.99
    permutations: int = 256
    bands: int | None = None
    rows: int | None = None
    scheme: Scheme = "one-permutation"
    seed: int = 1
    all_pairs: bool = False
    cluster: Clustering = "components"
    method: Method = "auto"

    def __post_init__(self) -> None:
        for name in ("scheme", "cluster", "method"):
            _check_choice(name, getattr(self, name), get_args(_CHOICES[name]))
        _check_fraction("threshold", self.threshold, "similarity runs from 0 to 1")
        _check_within(self.within)
        _check_open_fraction("recall", self.recall)
        if not (_is_whole(self.permutations) and 1 <= self.permutations <= MOST_PERMUTATIONS):
            raise SettingsError(
                f"permutations is {self.permutations!r}; give a whole number from 1 to "
                f"{MOST_PERMUTATIONS}"
            )
        if not (_is_whole(self.seed) and 0 <= self.seed < 2**64):
            raise SettingsError(f"seed is {self.seed!r}; give a whole number from 0 to 2**64 - 1")
        _check_bands(self.bands, self.rows)

    @classmethod
    def of(cls, **options: Any) -> Self:
        """From one flat list of options, as a command line or a call gives them."""
        names = {f.name for f in fields(TextSettings)}
        text = {name: options.pop(name) for name in list(options) if name in names}
        _check_names(cls, options)
        return cls(text=TextSettings(**text), **options)

    def with_k(self, k: int) -> Self:
        """The same settings with `k` decided."""
        return replace(self, text=replace(self.text, k=k))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = asdict(self)
        plain["text"]["stop_words"] = list(self.text.stop_words)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; unknown names are refused."""
        rest = dict(plain)
        text = dict(rest.pop("text", {}))
        text["stop_words"] = tuple(text.get("stop_words", ()))
        _check_names(cls, rest)
        _check_names(TextSettings, text)
        return cls(text=TextSettings(**text), **rest)

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that differ wherever the answer could."""
        plain = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(plain.encode()).hexdigest()[:16]


class Options(TypedDict, total=False):
    """All settings by name, for the signatures of public functions."""

    unit: Unit
    k: int | Literal["auto"]
    form: Form
    case: Case
    accents: Keeping
    digits: Keeping
    punctuation: Keeping
    mentions: Keeping
    space: Spacing
    stop_words: tuple[str, ...]
    raw: bool
    threshold: float
    within: float | None
    recall: float
    permutations: int
    bands: int | None
    rows: int | None
    scheme: Scheme
    seed: int
    all_pairs: bool
    cluster: Clustering
    method: Method


_CHOICES: dict[str, Any] = {
    "unit": Unit,
    "form": Form,
    "case": Case,
    "accents": Keeping,
    "digits": Keeping,
    "punctuation": Keeping,
    "mentions": Keeping,
    "space": Spacing,
    "scheme": Scheme,
    "cluster": Clustering,
    "method": Method,
}

#: What `raw` switches off, and the value that is "off".
_OFF: dict[str, Any] = {
    "form": "none",
    "case": "keep",
    "accents": "keep",
    "digits": "keep",
    "punctuation": "keep",
    "space": "keep",
    "stop_words": (),
}


def _check_raw(text: TextSettings) -> None:
    """`raw` overrules the defaults, and contradicts anything else that was asked for."""
    default = {f.name: f.default for f in fields(TextSettings)}
    for name, off in _OFF.items():
        given = getattr(text, name)
        if given not in (off, default[name]):
            raise SettingsError(
                f"raw takes the text as it stands, and {name} is {given!r}: leave one of them out"
            )
        object.__setattr__(text, name, off)


def _check_choice(name: str, given: object, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise SettingsError(f"{name} is {given!r}; choose one of {', '.join(allowed)}")


def _check_fraction(name: str, given: object, why: str) -> None:
    if not _is_number(given) or not 0 < given <= 1:  # type: ignore[operator]
        raise SettingsError(
            f"{name} is {given!r}; {why}: give a number above 0 and at most 1, for example 0.8"
        )


def _check_within(given: object) -> None:
    if given is not None and (not _is_number(given) or not 0 <= given < math.inf):  # type: ignore[operator]
        raise SettingsError(
            f"within is {given!r}; a distance is 0 or more: give a number, for example 3"
        )


def _check_open_fraction(name: str, given: object) -> None:
    if not _is_number(given) or not 0 < given < 1:  # type: ignore[operator]
        raise SettingsError(
            f"{name} is {given!r}; hashing finds a pair with a probability below 1: "
            "give a number above 0 and below 1, for example 0.99, or find every pair with "
            "--method exact"
        )


def _check_bands(bands: object, rows: object) -> None:
    if (bands is None) != (rows is None):
        raise SettingsError(
            f"bands is {bands!r} and rows is {rows!r}; give both, or neither and a recall instead"
        )
    if bands is None:
        return
    for name, given in (("bands", bands), ("rows", rows)):
        if not (_is_whole(given) and given >= 1):  # type: ignore[operator]
            raise SettingsError(f"{name} is {given!r}; give a whole number of at least 1")
    if bands * rows > MOST_PERMUTATIONS:  # type: ignore[operator]
        raise SettingsError(
            f"{bands} bands of {rows} rows need {bands * rows} permutations; "  # type: ignore[operator]
            f"at most {MOST_PERMUTATIONS} are possible"
        )


def _check_names(kind: type, given: Mapping[str, Any]) -> None:
    known = [f.name for f in fields(kind)]
    for name in given:
        if name not in known:
            raise SettingsError(f"there is no setting {name!r}; there are {', '.join(known)}")


def _is_whole(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)
