"""The mathematics of bands and rows: what is found, what is missed, and what to choose.

No data is touched. Three parts, to be read in order: the curve of the band scheme and the
areas beside it; what a setting costs; and the choosers, each named after what it promises.
The sources (azgomi, kth, manfredi, upc) are those of `nearly.textbook`; docs/tuning.md says
the same in formulae.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import field

from nearly.errors import SettingsError
from nearly.frozen import dataclass
from nearly.tuning.family import Family, Linear
from nearly.tuning.hashing import MINHASH, Closenesses, Hashing
from nearly.tuning.quadrature import integral

__all__ = [
    "Areas",
    "Banding",
    "approximate_threshold",
    "areas",
    "curve",
    "expected_candidates",
    "expected_meetings",
    "expected_recall",
    "expected_seconds",
    "explicit",
    "for_recall",
    "half_point",
    "least_weighted_area",
    "meeting_recall",
    "nearest_threshold",
    "steepest_point",
]

#: The part of the pairs that may be lost which is left to the agreement filter.
FILTER_PART = 0.1

# What a run costs on one core, in seconds; rough, and good for comparing settings only.
SECONDS_A_POSITION = 5e-9
SECONDS_A_BAND = 15e-9
SECONDS_A_CANDIDATE = 15e-9


# The band scheme: its curve, its thresholds and its areas


@dataclass(frozen=True)
class Banding:
    """Bands of rows, and how many positions of a candidate's two signatures must agree.

    `agreement` counts positions in which the sketches agree, of those that are in a sketch; with 0
    every candidate passes.
    """

    bands: int
    rows: int
    agreement: int = 0
    hashing: Hashing = field(default=MINHASH, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("bands", "rows"):
            _check_count(name, getattr(self, name))

    @property
    def permutations(self) -> int:
        """The length of a signature: no position is computed that no band uses."""
        return self.bands * self.rows

    @property
    def sketched(self) -> int:
        """How many positions are in a sketch."""
        return self.hashing.sketched(self.permutations)

    @property
    def band(self) -> Family:
        """One band: all of its rows agree."""
        return self.hashing.row.and_(self.rows)

    @property
    def family(self) -> Family:
        """What makes a candidate: at least one band of which all rows agree."""
        return self.band.or_(self.bands)

    @property
    def filter(self) -> Family:
        """What lets a candidate go on to be verified."""
        return self.hashing.sketch.at_least(self.agreement, self.sketched)

    def recall(self, closeness: float) -> float:
        """The least share of pairs of this closeness that is found, whatever the dependence.

        Bands and filter read the same positions, so their chances do not multiply; their
        losses at worst add up.
        """
        lost = self.family.chance(closeness).missed + self.filter.chance(closeness).missed
        return max(0.0, 1 - lost)


def curve(similarity: float, bands: int, rows: int) -> float:
    """1 - (1 - s^r)^b, the probability of becoming a candidate (azgomi 3.3.1, kth)."""
    return Banding(bands, rows).family.probability(similarity)


def approximate_threshold(banding: Banding) -> float:
    """Where a row agrees with chance (1/b)^(1/r), which the sources call the threshold.

    (azgomi 3.3.1, upc 5.2.)
    """
    return banding.hashing.row.closeness(float((1 / banding.bands) ** (1 / banding.rows)))


def half_point(banding: Banding) -> float:
    """The closeness at which one pair in two becomes a candidate."""
    chance = (-math.expm1(-math.log(2) / banding.bands)) ** (1 / banding.rows)
    return banding.hashing.row.closeness(float(chance))


def steepest_point(banding: Banding) -> float:
    """Where the curve rises fastest as the chance of a row rises: its second derivative is 0.

    One band is steepest at 1; bands of one row are steepest at 0.
    """
    bands, rows = banding.bands, banding.rows
    if bands == 1:
        return 1.0
    return banding.hashing.row.closeness(float(((rows - 1) / (bands * rows - 1)) ** (1 / rows)))


@dataclass(frozen=True)
class Areas:
    """What is found below a threshold, and what is missed from it upwards."""

    false_positive: float
    false_negative: float

    def weighted(self, false_positive_weight: float, false_negative_weight: float) -> float:
        """Both as one number."""
        return (
            false_positive_weight * self.false_positive
            + false_negative_weight * self.false_negative
        )


def areas(family: Family, threshold: float, similarities: Closenesses | None = None) -> Areas:
    """False positives and false negatives of any family at any threshold (azgomi, section 4).

    With all similarities equally frequent these are the areas of equations 3 and 4, where
    azgomi takes the curve's own threshold. Given a distribution they are its weights: shares
    of all pairs, or expected numbers of pairs.
    """
    if similarities is None:
        return Areas(
            integral(lambda s: family.chance(s).found, 0, threshold),
            integral(lambda s: family.chance(s).missed, threshold, 1),
        )
    return Areas(
        math.fsum(w * family.chance(s).found for s, w in similarities if s < threshold),
        math.fsum(w * family.chance(s).missed for s, w in similarities if s >= threshold),
    )


# What a setting costs


def expected_candidates(
    banding: Banding, documents: int, similarities: Closenesses | None = None
) -> float:
    """How many pairs of a corpus share a band, given the shares of its pairs by similarity."""
    shares = banding.hashing.pairs if similarities is None else similarities
    pairs = documents * (documents - 1) / 2
    family = banding.family
    return pairs * math.fsum(w * family.probability(s) for s, w in shares)


def expected_meetings(
    banding: Banding, documents: int, similarities: Closenesses | None = None
) -> float:
    """How often two documents meet in a bucket: a pair that shares three bands meets three times.

    This is the work of looking; `expected_candidates` counts each pair once.
    """
    shares = banding.hashing.pairs if similarities is None else similarities
    pairs = documents * (documents - 1) / 2
    band = banding.band
    return pairs * banding.bands * math.fsum(w * band.probability(s) for s, w in shares)


def expected_recall(banding: Banding, threshold: float, similarities: Closenesses) -> float:
    """The share of the pairs from the threshold upwards that is found; 1 where there are none."""
    above = [(s, w) for s, w in similarities if s >= threshold]
    pairs = math.fsum(w for _, w in above)
    if pairs == 0:
        return 1.0
    return math.fsum(w * banding.recall(s) for s, w in above) / pairs


def expected_seconds(
    banding: Banding, documents: int, similarities: Closenesses | None = None
) -> float:
    """Signing every position, sorting every band, and looking at every candidate."""
    candidates = expected_candidates(banding, documents, similarities)
    return _signing_seconds(banding, documents) + candidates * SECONDS_A_CANDIDATE


def _signing_seconds(banding: Banding, documents: int) -> float:
    return documents * (banding.permutations * SECONDS_A_POSITION + banding.bands * SECONDS_A_BAND)


# Choosers


def nearest_threshold(permutations: int, threshold: float, hashing: Hashing = MINHASH) -> Banding:
    """All permutations, in the bands that bring (1/b)^(1/r) nearest to the threshold.

    The rule of upc 6.2 and manfredi 4.3. It promises nothing about recall: for 100
    permutations and 0.7 it gives 10 bands of 10 rows, which find 25% of the pairs at 0.7.
    """
    _check_count("permutations", permutations)
    _check_threshold(threshold)
    possible = (rows for rows in _possible_rows(permutations, hashing) if permutations % rows == 0)
    choices = [Banding(permutations // rows, rows, hashing=hashing) for rows in possible]
    return min(choices, key=lambda c: abs(approximate_threshold(c) - threshold))


def least_weighted_area(
    permutations: int,
    threshold: float,
    false_positive_weight: float = 0.5,
    false_negative_weight: float = 0.5,
    *,
    hashing: Hashing = MINHASH,
) -> Banding:
    """The bands and rows with the least weighted sum of both areas at the threshold."""
    _check_count("permutations", permutations)
    _check_threshold(threshold)
    weights = (false_positive_weight, false_negative_weight)
    if min(weights) < 0 or max(weights) == 0:
        raise SettingsError(
            f"the weights are {weights}; give two that are not negative, nor both 0"
        )
    choices = (
        (found.weighted(*weights), bands, rows)
        for rows in _possible_rows(permutations, hashing)
        for bands, found in _areas_by_bands(rows, threshold, permutations // rows, hashing)
    )
    _, bands, rows = min(choices)
    return Banding(bands, rows, hashing=hashing)


def _areas_by_bands(
    rows: int, threshold: float, most: int, hashing: Hashing
) -> Iterator[tuple[int, Areas]]:
    """The areas of equations 3 and 4 for 1, 2, ... bands, each from the one before.

    F of equation 2, integrated by parts, is F_b(s) = (s curve_b(s) + b r F_{b-1}(s)) / (b r + 1).
    That holds where a row agrees with a chance that is the closeness; others are integrated.
    """
    if not isinstance(hashing.row, Linear):
        for bands in range(1, most + 1):
            yield bands, areas(Banding(bands, rows, hashing=hashing).family, threshold)
        return
    below = whole = 0.0
    for bands in range(1, most + 1):
        parts = bands * rows
        below = (threshold * curve(threshold, bands, rows) + parts * below) / (parts + 1)
        whole = (1 + parts * whole) / (parts + 1)
        yield bands, Areas(below, 1 - threshold - whole + below)


def for_recall(
    threshold: float,
    recall: float,
    permutations: int,
    *,
    documents: int = 1_000_000,
    hashing: Hashing = MINHASH,
) -> Banding:
    """The cheapest bands and rows that find at least this share of pairs at the threshold.

    The worst case, at exactly the threshold and with the loss of the agreement filter; more
    similar pairs are found more often. Any b * r <= permutations may be chosen, at the least
    expected cost for this number of documents.
    """
    choices = meeting_recall(threshold, recall, permutations, hashing)
    cheapest = _cheapest(choices, documents)
    return explicit(cheapest.bands, cheapest.rows, threshold, recall, hashing)


def meeting_recall(
    threshold: float, recall: float, permutations: int, hashing: Hashing = MINHASH
) -> list[Banding]:
    """For each number of rows the fewest bands that reach this recall at the threshold.

    Without an agreement yet: `explicit` adds it. There is always one; a goal that no b * r <=
    permutations reaches is an error.
    """
    _check_goal(threshold, recall, permutations)
    missed = (1 - recall) * (1 - FILTER_PART)
    agree = hashing.row.probability(threshold)
    needed = (
        (max(_bands_needed(agree, rows, missed), hashing.least_drawn), rows)
        for rows in _possible_rows(permutations, hashing)
    )
    choices = [
        Banding(int(b), rows, hashing=hashing) for b, rows in needed if b * rows <= permutations
    ]
    if not choices:
        raise SettingsError(_impossible(threshold, recall, permutations, hashing))
    return choices


def explicit(
    bands: int, rows: int, threshold: float, recall: float, hashing: Hashing = MINHASH
) -> Banding:
    """Bands and rows as given, with the strictest agreement that this recall allows.

    The filter may lose a tenth of the pairs that may be lost; whether the bands keep to the
    rest is for `Banding.recall` to say. Where keys are drawn, they lose what the bands do not.
    """
    bare = Banding(bands, rows, hashing=hashing)
    _check_rows(rows, hashing)
    _check_goal(threshold, recall, permutations := bare.permutations)
    allowed = (1 - recall) * FILTER_PART
    if hashing.least_drawn:
        allowed = max(allowed, 1 - recall - bare.family.chance(threshold).missed)
    low, high = 0, (sketched := hashing.sketched(permutations))
    while low < high:
        cutoff = (low + high + 1) // 2
        loses = hashing.sketch.at_least(cutoff, sketched).chance(threshold).missed
        low, high = (cutoff, high) if loses <= allowed else (low, cutoff - 1)
    return Banding(bands, rows, agreement=low, hashing=hashing)


def _possible_rows(permutations: int, hashing: Hashing) -> range:
    return range(1, min(permutations, hashing.most_rows or permutations) + 1)


def _check_rows(rows: int, hashing: Hashing) -> None:
    if hashing.most_rows is not None and rows > hashing.most_rows:
        raise SettingsError(
            f"rows is {rows!r}; this measure draws its keys one by one, so a band has 1 row: give "
            "rows=1 and as many bands as keys are to be drawn, or a recall instead"
        )


def _bands_needed(agree_in_a_row: float, rows: int, missed: float) -> float:
    """The least b with (1 - p^r)^b <= missed; infinite where no float can tell."""
    agree = agree_in_a_row**rows
    if agree == 1:
        return 1
    exact = math.log(missed) / math.log1p(-agree) if agree > 0 else math.inf
    # A hair more, so that a goal met exactly is not lost to another machine's rounding.
    return math.ceil(exact * (1 + 1e-12)) if exact < 2**53 else math.inf


def _cheapest(choices: Sequence[Banding], documents: int) -> Banding:
    best, least = choices[0], math.inf
    for choice in sorted(choices, key=lambda c: _signing_seconds(c, documents)):
        if _signing_seconds(choice, documents) >= least:
            break  # signing alone costs more than the best, here and from here on
        seconds = expected_seconds(choice, documents)
        if seconds < least:
            best, least = choice, seconds
    return best


def _impossible(threshold: float, recall: float, permutations: int, hashing: Hashing) -> str:
    """Bands of one row find the most with any number of permutations: what they can do."""
    missed = hashing.row.or_(permutations).chance(threshold).missed
    possible = math.floor(1e4 * max(0.0, 1 - missed / (1 - FILTER_PART))) / 1e4
    agree = hashing.row.probability(threshold)
    needed = _bands_needed(agree, 1, (1 - recall) * (1 - FILTER_PART))
    return (
        f"recall is {recall!r} at threshold {threshold!r}; {permutations} permutations reach "
        f"{min(possible, 0.9999)} at most. Give at least {needed} permutations, a lower recall "
        "or a higher threshold, or find every pair with --method exact."
    )


def _check_goal(threshold: float, recall: float, permutations: int) -> None:
    _check_threshold(threshold)
    _check_count("permutations", permutations)
    if not 0 < recall < 1:
        raise SettingsError(
            f"recall is {recall!r}; hashing finds a pair with a probability below 1, however many "
            "permutations it has: give a number above 0 and below 1, for example 0.99, or find "
            "every pair with --method exact"
        )


def _check_threshold(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise SettingsError(
            f"threshold is {threshold!r}; similarity runs from 0 to 1: "
            "give a number above 0 and at most 1, for example 0.8"
        )


def _check_count(name: str, given: int) -> None:
    if not isinstance(given, int) or given < 1:
        raise SettingsError(f"{name} is {given!r}; give a whole number of at least 1")
