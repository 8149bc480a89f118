"""What a run is told: frozen, keyword-only, validated once.

`TextSettings` says how a text becomes a set of shingles; `Settings` says what is looked for in
those sets. Each setting is declared here once. Both classes go to and from plain dicts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal, Self

from nearly.declaration import check_choices, check_names, setting
from nearly.errors import SettingsError
from nearly.frozen import dataclass

__all__ = [
    "Case",
    "Clustering",
    "CutSettings",
    "ExplainSettings",
    "Form",
    "Keeping",
    "Method",
    "Order",
    "PassageSettings",
    "Piece",
    "Rearrangement",
    "Scheme",
    "Settings",
    "SignatureSettings",
    "Spacing",
    "Stems",
    "TextSettings",
    "UniqueSettings",
    "Unit",
    "Whole",
]

Unit = Literal["char", "word"]
Case = Literal["fold", "keep"]
Spacing = Literal["collapse", "drop", "keep"]
Keeping = Literal["keep", "drop"]
Form = Literal["NFC", "NFD", "NFKC", "NFKD", "none"]
Scheme = Literal["one-permutation", "independent"]
Clustering = Literal["components", "leader"]
Method = Literal["auto", "exact", "lsh"]
Whole = Literal["line", "paragraph"]
Rearrangement = Literal["functions", "permutations"]
Order = Literal["appearance", "sorted"]
Stems = Literal["english", "none"]
Piece = Literal["sentence", "paragraph", "line"]

AUTO: Final = "auto"
LONGEST_SHINGLE = 1_000
MOST_PERMUTATIONS = 4_096
MOST_POWER = 16


@dataclass(frozen=True, kw_only=True)
class TextSettings:
    """How a text becomes a set of shingles.

    The order of work: normal form, case, accents, digits, punctuation, stop words,
    white space; then shingles of `k` code points or `k` words.
    """

    unit: Unit = setting("char", "Make shingles of characters or of words.")
    k: int | Literal["auto"] = setting(
        AUTO, "Length of a shingle; auto is 5 characters for short documents, 9 for long ones."
    )
    form: Form = setting("NFC", "Unicode normal form of the texts.")
    case: Case = setting("fold", "Fold upper and lower case, or keep them apart.")
    accents: Keeping = setting("keep", "Keep or drop accents and other marks on letters.")
    digits: Keeping = setting("keep", "Keep or drop digits.")
    punctuation: Keeping = setting("keep", "Keep or drop punctuation.")
    mentions: Keeping = setting(
        "keep", "Keep or drop @names and #tags when punctuation is dropped."
    )
    space: Spacing = setting(
        "collapse", "Collapse runs of white space to one space, drop them, or keep them."
    )
    stop_words: tuple[str, ...] = setting((), "Words to leave out.")
    ignore: str | Path | Sequence[str | Path] = setting(
        (),
        "Files whose shingles count for nothing, such as a template; strings of a list are texts.",
    )
    raw: bool = setting(False, "Compare texts exactly as they are, without normalising them.")

    def __post_init__(self) -> None:
        check_choices(self)
        if isinstance(self.ignore, list):
            object.__setattr__(self, "ignore", tuple(self.ignore))
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

    @property
    def templates(self) -> tuple[str, ...]:
        """The texts to ignore: files must have been read by now."""
        if not isinstance(self.ignore, tuple) or not all(isinstance(t, str) for t in self.ignore):
            raise SettingsError(
                f"ignore is {self.ignore!r}; files have to be read before they are used"
            )
        return self.ignore


@dataclass(frozen=True, kw_only=True)
class SignatureSettings:
    """How a set of shingles becomes a signature."""

    permutations: int = setting(256, "Highest number of positions in a signature.")
    scheme: Scheme = setting(
        "one-permutation", "Hash each shingle once, or once per position of the signature."
    )
    seed: int = setting(1, "Seed of the hash functions.")

    def __post_init__(self) -> None:
        check_choices(self)
        if not (_is_whole(self.permutations) and 1 <= self.permutations <= MOST_PERMUTATIONS):
            raise SettingsError(
                f"permutations is {self.permutations!r}; give a whole number from 1 to "
                f"{MOST_PERMUTATIONS}"
            )
        if not (_is_whole(self.seed) and 0 <= self.seed < 2**64):
            raise SettingsError(f"seed is {self.seed!r}; give a whole number from 0 to 2**64 - 1")


@dataclass(frozen=True, kw_only=True)
class Settings(SignatureSettings):
    """What is looked for, and how."""

    text: TextSettings = field(default_factory=TextSettings)
    threshold: float = setting(0.8, "Lowest similarity of a pair, above 0 and at most 1.")
    within: float | None = setting(
        None, "Greatest distance of a pair, for a measure that is a distance."
    )
    power: float | None = setting(
        None, "Power r of the distance L_r, for minkowski: from 1 to 16 in steps of 0.25."
    )
    recall: float = setting(0.99, "Find at least this share of the pairs at the threshold.")
    bands: int | None = setting(None, "Number of bands, instead of a recall; goes with rows.")
    rows: int | None = setting(None, "Number of rows per band; goes with bands.")
    all_pairs: bool = setting(False, "List every pair of exact copies, not one link per copy.")
    cluster: Clustering = setting(
        "components", "Cluster all that is linked, or only what is similar to one leader."
    )
    bag: bool = setting(
        False, "Count how often a shingle or an item occurs, not only whether it does."
    )
    weights: str | Path | Mapping[Any, Any] | None = setting(
        None,
        "Weigh shingles or items: idf, by how rare they are among the documents; or a table of "
        "them and their weight.",
    )
    method: Method = setting(
        "auto", "Join exactly (misses nothing), hash (lsh), or decide by what either would cost."
    )
    common: float | str | None = setting(
        None, "Drop shingles that occur in more than this share of the documents: 0.1 or '10%'."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_fraction("threshold", self.threshold, "similarity runs from 0 to 1")
        _check_within(self.within)
        _check_power(self.power)
        _check_open_fraction("recall", self.recall)
        _check_bands(self.bands, self.rows)
        if self.common is not None:
            object.__setattr__(self, "common", _share(self.common))
        object.__setattr__(self, "weights", _plain_weights(self.weights))
        if self.weights is not None:
            _check_weighted(self)
        if self.bag and (self.common or self.text.ignore):
            raise SettingsError(
                f"{'common' if self.common else 'ignore'} drops shingles from sets, and bag counts "
                "every one that occurs; leave one of them out"
            )

    @classmethod
    def of(cls, **options: Any) -> Self:
        """From one flat list of options, as a command line or a call gives them."""
        names = _names(TextSettings)
        check_names(options, [*_names(cls), *names])
        text = {name: options.pop(name) for name in list(options) if name in names}
        return cls(text=TextSettings(**text), **options)

    @property
    def share(self) -> float | None:
        """`common` as a number."""
        return None if self.common is None else float(self.common)

    def check_length(self) -> None:
        """Refuse bands and rows that no signature is long enough for; tuning may explain them."""
        if self.bands is not None and self.rows is not None:
            positions = self.bands * self.rows
            if positions > MOST_PERMUTATIONS:
                raise SettingsError(
                    f"{self.bands} bands of {self.rows} rows need {positions} permutations; "
                    f"at most {MOST_PERMUTATIONS} are possible"
                )

    def with_k(self, k: int) -> Self:
        """The same settings with `k` decided."""
        return replace(self, text=replace(self.text, k=k))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = asdict(self)
        if isinstance(self.weights, tuple):
            plain["weights"] = {str(member): str(weight) for member, weight in self.weights}
        plain["text"]["stop_words"] = list(self.text.stop_words)
        plain["text"]["ignore"] = list(self.text.templates)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; unknown names are refused."""
        rest = dict(plain)
        text = dict(rest.pop("text", {}))
        for name in ("stop_words", "ignore"):
            text[name] = tuple(text.get(name, ()))
        check_names(rest, _names(cls))
        check_names(text, _names(TextSettings))
        return cls(text=TextSettings(**text), **rest)


@dataclass(frozen=True, kw_only=True)
class UniqueSettings:
    """What is a copy in a stream, and what may be used to know it."""

    text: str | None = setting(
        None, "Column of JSON lines that holds the text; without it, lines are taken whole."
    )
    each: Whole = setting("line", "Look at each line, or at each paragraph.")
    near: bool = setting(False, "Drop near-copies too, not only exact copies.")
    expect: int | None = setting(
        None, "Number of different lines that are expected; 10 million unless memory says more."
    )
    error: float | None = setting(
        None, "Highest chance that a line which is no copy is dropped; 0.0001 by default."
    )
    memory: int | None = setting(
        None, "Bytes of memory to use; by default as many as the expected lines need."
    )
    threshold: float = setting(
        0.8, "Similarity from which on a line counts as a near-copy, in the middle."
    )
    permutations: int = setting(128, "Highest number of positions in a signature.")
    bands: int | None = setting(None, "Number of bands, each with a filter; goes with rows.")
    rows: int | None = setting(None, "Number of rows per band; goes with bands.")
    seed: int = setting(1, "Seed of the hash functions.")

    def __post_init__(self) -> None:
        check_choices(self)
        signature = SignatureSettings(permutations=self.permutations, seed=self.seed)
        Settings(
            threshold=self.threshold, bands=self.bands, rows=self.rows, seed=signature.seed
        ).check_length()
        for name in ("expect", "memory"):
            given = getattr(self, name)
            if given is not None and not (_is_whole(given) and given >= 1):
                raise SettingsError(f"{name} is {given!r}; give a whole number of at least 1")
        if self.error is not None and not (_is_number(self.error) and 0 < self.error < 1):
            raise SettingsError(
                f"error is {self.error!r}; give a chance above 0 and below 1, for example 0.0001"
            )
        if self.text is not None and self.each == "paragraph":
            raise SettingsError(
                f"text is {self.text!r}, a column of lines of JSON, and each is 'paragraph'; "
                "leave one of them out"
            )
        if self.bands is not None and not self.near:
            raise SettingsError("bands and rows are for near-copies; add near, or leave them out")


@dataclass(frozen=True, kw_only=True)
class ExplainSettings:
    """How the textbook's way is shown."""

    by: Rearrangement = setting(
        "functions", "Rearrange the rows by drawn hash functions, or by drawn permutations."
    )
    permutations: int = setting(12, "Number of hash functions or permutations to draw.")
    function: tuple[str, ...] = setting((), "Hash functions to use, such as '(3x+1) mod 5'.")
    permutation: tuple[Any, ...] = setting(
        (), "Permutations to use: the shingles in a new order, or the new place of each row."
    )
    order: Order = setting("appearance", "Number the shingles as they appear, or sorted.")
    threshold: float = setting(0.8, "Similarity that bands are chosen for.")
    bands: int | None = setting(None, "Number of bands, instead of a threshold; goes with rows.")
    rows: int | None = setting(None, "Number of rows per band; goes with bands.")
    seed: int = setting(1, "Seed of the hash functions.")

    def __post_init__(self) -> None:
        check_choices(self)
        SignatureSettings(permutations=self.permutations, seed=self.seed)
        Settings(threshold=self.threshold, bands=self.bands, rows=self.rows)
        for name in ("function", "permutation"):
            if isinstance(given := getattr(self, name), str):
                raise SettingsError(f"{name} is {given!r}; give a list of them")
        if self.function and self.permutation:
            raise SettingsError(
                "functions and permutations were given; rearrange the rows by one of them"
            )


#: The shortest passage that says anything, and the usual one, by unit.
SHORTEST_PASSAGE: Final = {"word": 4, "char": 20}
USUAL_PASSAGE: Final = {"word": 12, "char": 60}
#: No text has so many units, and kernels count no further.
MOST_UNITS: Final = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class PassageSettings:
    """What counts as a shared passage."""

    least: int | None = setting(
        None, "Find every verbatim run of at least this many units; 12 words or 60 characters."
    )
    unit: Unit = setting("word", "Count words or characters.")
    case: Case = setting("fold", "Fold upper and lower case, or keep them apart.")
    accents: Keeping = setting("keep", "Keep or drop accents and other marks on letters.")
    form: Form = setting("NFC", "Unicode normal form of the texts.")
    verbatim: bool = setting(False, "Find verbatim runs only, no edited passages.")
    stems: Stems = setting("english", "Compare edited passages by English stems, or by words.")
    group: str | None = setting(
        None, "Column, or folder, whose documents are not compared with each other."
    )
    common: float | None = setting(
        None, "Leave out text that stands in at least this percentage of the documents."
    )
    crowd: int = setting(
        10, "Report a run that stands in more places than this once, with all its places."
    )

    def __post_init__(self) -> None:
        check_choices(self)
        shortest = SHORTEST_PASSAGE[self.unit]
        if self.least is not None and not (
            _is_whole(self.least) and shortest <= self.least <= MOST_UNITS
        ):
            raise SettingsError(
                f"least is {self.least!r}; runs of fewer than {shortest} {self.unit}s stand "
                f"everywhere: give a whole number from {shortest} to {MOST_UNITS:,}, for example "
                f"{USUAL_PASSAGE[self.unit]}"
            )
        if self.common is not None and not (_is_number(self.common) and 0 < self.common <= 100):
            raise SettingsError(
                f"common is {self.common!r}; give a percentage above 0 and at most 100, such as 20"
            )
        if not (_is_whole(self.crowd) and 2 <= self.crowd <= MOST_UNITS):
            raise SettingsError(
                f"crowd is {self.crowd!r}; give a whole number from 2 to {MOST_UNITS:,}"
            )

    @property
    def shortest(self) -> int:
        """The shortest run of units that is found."""
        return self.least or USUAL_PASSAGE[self.unit]

    @property
    def text(self) -> TextSettings:
        """How one unit is normalised."""
        return TextSettings(unit="char", k=1, case=self.case, accents=self.accents, form=self.form)


@dataclass(frozen=True, kw_only=True)
class CutSettings:
    """Which repeated text is cut."""

    each: Piece = setting("sentence", "Cut whole sentences, paragraphs or lines.")
    least: int = setting(
        USUAL_PASSAGE["word"], "Cut what repeats at least this many words, one piece or more."
    )
    case: Case = setting("fold", "Fold upper and lower case, or keep them apart.")
    accents: Keeping = setting("keep", "Keep or drop accents and other marks on letters.")
    digits: Keeping = setting("keep", "Keep or drop digits.")
    punctuation: Keeping = setting("keep", "Keep or drop punctuation.")
    form: Form = setting("NFC", "Unicode normal form of the texts.")

    def __post_init__(self) -> None:
        check_choices(self)
        if not (_is_whole(self.least) and 1 <= self.least <= MOST_UNITS):
            raise SettingsError(
                f"least is {self.least!r}; give a whole number of words, from 1 to "
                f"{MOST_UNITS:,}, for example {USUAL_PASSAGE['word']}"
            )

    @property
    def text(self) -> TextSettings:
        """How a piece is normalised before it is compared."""
        return TextSettings(
            case=self.case,
            accents=self.accents,
            digits=self.digits,
            punctuation=self.punctuation,
            form=self.form,
        )


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


def _check_power(given: object) -> None:
    if given is None:
        return
    if not _is_number(given) or not 1 <= given <= MOST_POWER or given * 4 % 1:  # type: ignore[operator]
        raise SettingsError(
            f"power is {given!r}; a distance L_r has one from 1 to {MOST_POWER}, in steps of 0.25: "
            "give for example 1.5"
        )


def _check_open_fraction(name: str, given: object) -> None:
    if not _is_number(given) or not 0 < given < 1:  # type: ignore[operator]
        raise SettingsError(
            f"{name} is {given!r}; hashing finds a pair with a probability below 1: "
            "give a number above 0 and below 1, for example 0.99, or find every pair with "
            "--method exact"
        )


def _plain_weights(given: Any) -> Any:
    """A path as a string, and a mapping as pairs: settings can be compared and hashed."""
    if isinstance(given, Mapping):
        return tuple(given.items())
    if given is None or isinstance(given, str | Path | tuple):
        return str(given) if isinstance(given, Path) else given
    raise SettingsError(
        f"weights is of the type {type(given).__name__}; give 'idf', a table's path, or a mapping "
        "from items or shingles to their weights"
    )


def _check_weighted(settings: Settings) -> None:
    """Refuse what says otherwise how much a member counts, or how it is hashed."""
    if settings.common is not None:
        raise SettingsError(
            "common drops what many documents have, and weights say how much it counts; "
            "leave one of them out"
        )
    if settings.scheme == "independent":
        raise SettingsError(
            "scheme is 'independent', and weighted sets are signed in one way only; "
            "leave scheme out"
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


def _share(given: float | str) -> float:
    """A share of all documents, from 0.1 or from '10%'."""
    share: object = given
    if isinstance(given, str):
        number = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", given)
        # By way of a decimal number, so that 10% is the 0.1 that a user writes.
        share = float(Decimal(number[1]) / (100 if number[2] else 1)) if number else given
    if not _is_number(share) or not 0 < share <= 1:  # type: ignore[operator]
        raise SettingsError(
            f"common is {given!r}; it is a share of the documents, above 0% and at most 100%: "
            "give for example 10% or 0.1"
        )
    return float(share)  # type: ignore[arg-type]


def _names(kind: type) -> list[str]:
    return [f.name for f in fields(kind)]


def _is_whole(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)
