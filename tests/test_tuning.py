"""The tables of the papers, the areas in high precision, and the promises of the choosers."""

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nearly.errors import SettingsError
from nearly.tuning import banding as tuning
from nearly.tuning.banding import Banding, areas, curve
from nearly.tuning.family import MinHash, Sketch
from nearly.tuning.hashing import MINHASH

EXAMPLES = json.loads((Path(__file__).parent / "data" / "examples.json").read_text("utf-8"))
BANDS = st.integers(1, 500)
ROWS = st.integers(1, 30)
THRESHOLDS = st.floats(0.01, 1)


def alternating_sum(s, bands, rows):
    """F of azgomi's equation 2 as printed; only many digits keep it from cancelling."""
    terms = (
        (-1) ** p * math.comb(bands, p) * s ** (rows * p + 1) / (rows * p + 1)
        for p in range(bands + 1)
    )
    return s - sum(terms)


def exact_areas(bands, rows, threshold):
    """Equations 3 and 4 in 700 digits."""
    with localcontext() as context:
        context.prec = 700
        t = Decimal(threshold)
        below, whole = (alternating_sum(s, bands, rows) for s in (t, Decimal(1)))
        return float(below), float(1 - t - whole + below)


def found_by(banding, similarity):
    """The exact probability that a band agrees and the filter passes, by counting.

    A polynomial in z: the power is the number of agreeing positions. A band that agrees in
    full has z^rows; taking it out of each band leaves the pairs that no band finds.
    """
    s = Fraction(str(similarity))
    agree = s + (1 - s) / 4
    band = {
        i: math.comb(banding.rows, i) * agree**i * (1 - agree) ** (banding.rows - i)
        for i in range(banding.rows + 1)
    }
    unfound = {**band, banding.rows: band[banding.rows] - s**banding.rows}
    every, missed = (power(polynomial, banding.bands) for polynomial in (band, unfound))
    return sum(every[i] - missed[i] for i in range(banding.agreement, banding.permutations + 1))


def power(polynomial, times):
    """A polynomial multiplied with itself, in floats: all terms are positive."""
    factor = [float(polynomial[i]) for i in sorted(polynomial)]
    product = [1.0]
    for _ in range(times):
        longer = [0.0] * (len(product) + len(factor) - 1)
        for i, a in enumerate(product):
            for j, b in enumerate(factor):
                longer[i + j] += a * b
        product = longer
    return product


# The curve


@pytest.mark.parametrize("example", EXAMPLES["s_curve"], ids=lambda e: f"{e['bands']}x{e['rows']}")
def test_curves_of_the_papers(example):
    bands, rows = example["bands"], example["rows"]
    for similarity, expect in example.get("expect", {}).items():
        digits = len(str(expect).split(".")[1])
        assert curve(float(similarity), bands, rows) == pytest.approx(expect, abs=0.6 * 10**-digits)
    assert tuning.approximate_threshold(Banding(bands, rows)) == pytest.approx(
        example["threshold"], abs=5e-4
    )
    if "missed_at_0.8" in example:
        missed = Banding(bands, rows).family.chance(0.8).missed
        assert missed == pytest.approx(example["missed_at_0.8"], abs=1e-5)
        assert curve(0.3, bands, rows) == pytest.approx(example["extra_at_0.3"], abs=1e-4)


@given(bands=BANDS, rows=ROWS)
def test_half_of_the_pairs_at_the_half_point_are_found(bands, rows):
    assert curve(tuning.half_point(Banding(bands, rows)), bands, rows) == pytest.approx(
        0.5, rel=1e-12
    )


@given(bands=st.integers(2, 500), rows=st.integers(2, 30), aside=st.floats(0, 1))
def test_nowhere_is_the_curve_steeper_than_at_its_steepest_point(bands, rows, aside):
    def log_slope(s):
        return (rows - 1) * math.log(s) + (bands - 1) * math.log1p(-(s**rows))

    assume(0.001 < aside < 0.999)
    steepest = tuning.steepest_point(Banding(bands, rows))
    assert log_slope(steepest) >= log_slope(aside) - 1e-9


def test_curves_without_a_bend_are_steepest_at_an_end():
    assert tuning.steepest_point(Banding(1, 5)) == 1
    assert tuning.steepest_point(Banding(5, 1)) == 0


# The areas

TABLE = EXAMPLES["false_positive_and_negative_areas"]["rows"]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[2]}x{row[1]}")
def test_table_1_of_azgomi(row):
    _, rows, bands, threshold, false_positive, false_negative = row
    own = tuning.approximate_threshold(Banding(bands, rows))
    found = areas(Banding(bands, rows).family, own)
    assert own == pytest.approx(threshold, abs=5.1e-5)
    assert found.false_positive == pytest.approx(false_positive, abs=5.1e-5)
    assert found.false_negative == pytest.approx(false_negative, abs=5.1e-5)


@pytest.mark.parametrize(
    ("bands", "rows", "threshold"),
    [
        (500, 30, tuning.approximate_threshold(Banding(500, 30))),
        (500, 30, 0.3),
        (500, 30, 0.95),
        (500, 1, 0.1),
        (1, 300, 0.999),
        (26, 8, 0.8),
        (1, 1, 1 - 1e-9),
    ],
)
def test_areas_to_nine_digits_where_the_alternating_sum_cancels(bands, rows, threshold):
    found = areas(Banding(bands, rows).family, threshold)
    below, above = exact_areas(bands, rows, threshold)
    assert found.false_positive == pytest.approx(below, rel=1e-9, abs=0)
    assert found.false_negative == pytest.approx(above, rel=1e-9, abs=0)


@given(bands=BANDS, rows=ROWS, a=THRESHOLDS, b=THRESHOLDS)
def test_moving_the_threshold_moves_area_from_one_side_to_the_other(bands, rows, a, b):
    """Found and missed between two thresholds make up the strip between them."""
    family = Banding(bands, rows).family
    low, high = sorted((a, b))
    left, right = areas(family, low), areas(family, high)
    found = right.false_positive - left.false_positive
    missed = left.false_negative - right.false_negative
    assert found >= -1e-12
    assert missed >= -1e-12
    assert found + missed == pytest.approx(high - low, abs=1e-12)


@pytest.mark.parametrize("family", [Banding(20, 5).family, Sketch(2).at_least(70, 100)])
def test_a_fine_even_histogram_gives_the_areas(family):
    even = [((i + 0.5) / 5000, 1 / 5000) for i in range(5000)]
    by_histogram, by_area = areas(family, 0.7, even), areas(family, 0.7)
    assert by_histogram.false_positive == pytest.approx(by_area.false_positive, rel=1e-5)
    assert by_histogram.false_negative == pytest.approx(by_area.false_negative, rel=1e-5)


def test_counts_of_pairs_give_counts_of_errors():
    found = areas(MinHash(), 0.8, [(0.5, 100), (0.8, 10), (0.9, 20)])
    assert found.false_positive == pytest.approx(50)
    assert found.false_negative == pytest.approx(2 + 2)
    assert found.weighted(0.1, 2) == pytest.approx(13)


# What a setting costs


def test_the_background_is_a_distribution_of_mostly_unrelated_pairs():
    shares = MINHASH.pairs
    assert math.fsum(share for _, share in shares) == pytest.approx(1)
    assert math.fsum(share for s, share in shares if s < 0.3) > 0.98
    assert 1e-5 < math.fsum(share for s, share in shares if s >= 0.8) < 1e-4


def test_expected_candidates_of_a_known_corpus():
    """63,620 package descriptions gave 0.94 and 5.1 million: the background is no further off."""
    assert 0.5 < tuning.expected_candidates(Banding(26, 8), 63_620) / 0.94e6 < 2
    assert 0.4 < tuning.expected_candidates(Banding(16, 6), 63_620) / 5.1e6 < 2.5


def test_cost_is_signing_and_sorting_and_candidates():
    none, all_alike = [(0.0, 1.0)], [(1.0, 1.0)]
    signed = tuning.expected_seconds(Banding(2, 3), 1000, none)
    assert signed == pytest.approx(1000 * (6 * 5e-9 + 2 * 15e-9))
    alike = tuning.expected_seconds(Banding(2, 3), 1000, all_alike)
    assert alike - signed == pytest.approx(1000 * 999 / 2 * 15e-9)


# Choosers


@pytest.mark.parametrize("example", EXAMPLES["bands_for_threshold"])
def test_nearest_threshold_is_the_papers_rule(example):
    found = tuning.nearest_threshold(example["permutations"], example["threshold"])
    assert {"bands": found.bands, "rows": found.rows} == example["expect"]
    assert found.recall(example["threshold"]) == pytest.approx(0.249, abs=5e-4)


@given(permutations=st.integers(1, 300), threshold=THRESHOLDS)
def test_no_divisor_comes_nearer_to_the_threshold(permutations, threshold):
    found = tuning.nearest_threshold(permutations, threshold)
    assert found.permutations == permutations
    nearest = abs(tuning.approximate_threshold(Banding(found.bands, found.rows)) - threshold)
    for bands in range(1, permutations + 1):
        if permutations % bands == 0:
            other = tuning.approximate_threshold(Banding(bands, permutations // bands))
            assert nearest <= abs(other - threshold)


@pytest.mark.parametrize("weights", [(0.5, 0.5), (0.9, 0.1), (0.1, 0.9)])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
def test_no_other_bands_have_less_weighted_area(threshold, weights):
    found = tuning.least_weighted_area(24, threshold, *weights)
    least = areas(found.family, threshold).weighted(*weights)
    for bands in range(1, 25):
        for rows in range(1, 24 // bands + 1):
            other = areas(Banding(bands, rows).family, threshold).weighted(*weights)
            assert least <= other + 1e-12


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0])
@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99, 0.999])
def test_the_recall_that_was_asked_for_is_reached(threshold, recall):
    banding = tuning.for_recall(threshold, recall, 128)
    assert banding.permutations <= 128
    assert banding.recall(threshold) >= recall
    assert found_by(banding, threshold) >= banding.recall(threshold) - 1e-12


@given(similarity=st.floats(0.8, 1))
def test_more_similar_pairs_are_found_more_often(similarity):
    banding = tuning.for_recall(0.8, 0.99, 256)
    assert banding.recall(similarity) >= banding.recall(0.8) - 1e-12


@given(threshold=st.floats(0.3, 1), recall=st.floats(0.1, 0.999))
def test_the_agreement_is_the_strictest_that_the_loss_allows(threshold, recall):
    banding = tuning.explicit(26, 8, threshold, recall)
    assert banding.filter.chance(threshold).missed <= (1 - recall) / 10
    if banding.agreement < banding.permutations:
        stricter = Banding(26, 8, banding.agreement + 1)
        assert stricter.filter.chance(threshold).missed > (1 - recall) / 10


@pytest.mark.parametrize(("threshold", "documents"), [(0.8, 10**6), (0.8, 1000), (0.6, 10**5)])
def test_no_setting_that_reaches_the_recall_is_cheaper(threshold, documents):
    chosen = tuning.for_recall(threshold, 0.95, 64, documents=documents)
    least = tuning.expected_seconds(chosen, documents)
    for bands in range(1, 65):
        for rows in range(1, 64 // bands + 1):
            other = Banding(bands, rows)
            if other.family.chance(threshold).missed <= 0.05 * 0.9:
                assert least <= tuning.expected_seconds(other, documents)


def test_the_default_goal_gives_a_sensible_setting():
    assert tuning.for_recall(0.8, 0.99, 256) == Banding(26, 8, agreement=160)


def test_one_band_is_enough_for_equal_sets():
    banding = tuning.for_recall(1.0, 0.99, 256)
    assert banding.bands == 1
    assert banding.agreement == banding.rows


def test_more_documents_or_more_alike_ones_ask_for_longer_rows():
    few = tuning.for_recall(0.8, 0.95, 256, documents=1_000)
    many = tuning.for_recall(0.8, 0.95, 256, documents=10_000_000)
    assert few.rows < many.rows
    strangers = tuning.for_recall(0.8, 0.95, 256, hashing=replace(MINHASH, pairs=((0.0, 1.0),)))
    assert strangers.rows < many.rows


# Bad goals


@pytest.mark.parametrize(("threshold", "recall", "n"), [(0.2, 0.99, 12), (0.05, 0.9, 30)])
def test_an_impossible_goal_says_what_is_possible(threshold, recall, n):
    with pytest.raises(SettingsError) as error:
        tuning.for_recall(threshold, recall, n)
    possible, needed = re.search(r"reach (\S+) at most.* (\d+) perm", str(error.value)).groups()
    assert tuning.for_recall(threshold, float(possible), n).permutations <= n
    with pytest.raises(SettingsError):
        tuning.for_recall(threshold, float(possible) + 1e-3, n)
    assert tuning.for_recall(threshold, recall, int(needed)).permutations <= int(needed)
    with pytest.raises(SettingsError):
        tuning.for_recall(threshold, recall, int(needed) - 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tuning.for_recall(0.0, 0.9, 64), "threshold is 0.0; .*for example 0.8"),
        (lambda: tuning.for_recall(1.5, 0.9, 64), "threshold is 1.5"),
        (lambda: tuning.for_recall(0.8, 1.0, 64), "recall is 1.0; .*for example 0.99"),
        (lambda: tuning.for_recall(0.8, 0.9, 0), "permutations is 0; give a whole number"),
        (lambda: tuning.explicit(0, 5, 0.8, 0.9), "bands is 0; give a whole number"),
        (lambda: tuning.explicit(5, 2.5, 0.8, 0.9), "rows is 2.5; give a whole number"),
        (lambda: tuning.nearest_threshold(10, -1), "threshold is -1"),
        (lambda: tuning.least_weighted_area(10, 0.5, -1, 1), r"weights are \(-1, 1\)"),
        (lambda: tuning.least_weighted_area(10, 0.5, 0, 0), r"weights are \(0, 0\)"),
    ],
)
def test_bad_goals_are_refused(call, message):
    with pytest.raises(SettingsError, match=message):
        call()


def test_nothing_heavy_is_imported():
    heavy = {"numpy", "scipy", "pyarrow", "duckdb"}
    code = "import sys, nearly.tuning.banding; print(*sys.modules)"
    listed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "nearly.tuning.banding" in listed
    assert not heavy & set(listed)


# What is expected of a known corpus


def test_meetings_count_a_pair_once_for_each_band():
    expected = tuning.expected_meetings(Banding(10, 3), 1_000, [(0.5, 1.0)])
    assert expected == pytest.approx(1_000 * 999 / 2 * 10 * 0.5**3)
    assert expected > tuning.expected_candidates(Banding(10, 3), 1_000, [(0.5, 1.0)])


def test_recall_is_over_the_pairs_that_exist():
    setting = Banding(20, 5)
    similarities = [(0.1, 0.9), (0.6, 0.06), (0.9, 0.04)]
    expected = 0.6 * setting.recall(0.6) + 0.4 * setting.recall(0.9)
    assert tuning.expected_recall(setting, 0.5, similarities) == pytest.approx(expected)
    assert tuning.expected_recall(setting, 0.95, similarities) == 1


@given(st.floats(0.3, 0.95), st.sampled_from([0.9, 0.99]))
def test_of_all_settings_that_meet_a_recall_none_has_a_band_too_many(threshold, recall):
    choices = tuning.meeting_recall(threshold, recall, 256)
    assert len({choice.rows for choice in choices}) == len(choices)
    for choice in choices:
        assert choice.permutations <= 256
        assert (
            tuning.explicit(choice.bands, choice.rows, threshold, recall).recall(threshold)
            >= recall
        )
        missed = (1 - recall) * (1 - tuning.FILTER_PART)
        fewer = choice.bands - 1
        assert fewer == 0 or 1 - curve(threshold, fewer, choice.rows) > missed * (1 - 1e-9)
