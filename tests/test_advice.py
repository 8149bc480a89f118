"""What is predicted of a corpus comes true, and what is impossible is said."""

import math

import pytest
from corpora import clustered, loaded

import nearly
from nearly.advice import advice as advising
from nearly.advice.advice import Choice, explain, points
from nearly.engines.local.near_pair import met_candidates
from nearly.errors import SettingsError, SourceError
from nearly.tuning.banding import Banding, areas, explicit, for_recall

DOCUMENTS = clustered(clusters=12, size=20, lonely=300)


@pytest.fixture(scope="module", name="advice")
def _advice() -> nearly.Advice:
    return nearly.tune(DOCUMENTS, threshold=0.7, sample=150)


def test_meetings_come_true(advice: nearly.Advice) -> None:
    for choice in advice.choices:
        bands, rows = choice.banding.bands, choice.banding.rows
        found = nearly.find(DOCUMENTS, threshold=0.7, bands=bands, rows=rows)
        assert choice.meetings == found.statistics.meetings


def distinct_candidates(choice: Choice) -> int:
    everything = Banding(choice.banding.bands, choice.banding.rows, agreement=0)
    with loaded(DOCUMENTS, everything) as (corpus, engine):
        met, _ = met_candidates(engine.shop, corpus, everything, hubs=0)
        return len(met)


def test_candidates_and_recall_come_true(advice: nearly.Advice) -> None:
    truth = len(nearly.find(DOCUMENTS, threshold=0.7, bands=200, rows=2))
    assert advice.pairs is not None
    assert advice.pairs.low <= truth <= advice.pairs.high
    for choice in advice.choices:
        assert choice.candidates.value == pytest.approx(distinct_candidates(choice), rel=0.25)
        bands, rows = choice.banding.bands, choice.banding.rows
        found = len(nearly.find(DOCUMENTS, threshold=0.7, bands=bands, rows=rows))
        assert choice.recall.low <= found / truth <= choice.recall.high
        assert 0 <= choice.wasted <= choice.candidates.value


def test_a_part_of_a_large_corpus_stands_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advising, "MOST_SIGNED", len(DOCUMENTS) // 2)
    choice = nearly.tune(DOCUMENTS, threshold=0.7, sample=150, bands=20, rows=4).best
    found = nearly.find(DOCUMENTS, threshold=0.7, bands=20, rows=4)
    assert choice.meetings == pytest.approx(found.statistics.meetings, rel=0.25)


def test_every_choice_reaches_the_goal(advice: nearly.Advice) -> None:
    assert 1 < len(advice.choices) <= advising.FEW
    for choice in advice.choices:
        assert choice.banding.recall(0.7) >= 0.99


def test_without_a_corpus_the_best_is_what_a_run_would_take() -> None:
    advice = nearly.tune(threshold=0.8, recall=0.99)
    assert advice.best.banding == for_recall(0.8, 0.99, 256)
    assert advice.sampled is advice.pairs is None


def test_the_choosers() -> None:
    nearest = nearly.tune(threshold=0.7, permutations=100, chooser="nearest").best
    assert (nearest.banding.bands, nearest.banding.rows) == (10, 10)
    assert nearest.banding.family.probability(0.7) == pytest.approx(0.249, abs=5e-4)
    area = nearly.tune(threshold=0.7, permutations=100, chooser="area").best.banding
    weighted = areas(area.family, 0.7).weighted(1, 1)
    assert weighted < areas(nearest.banding.family, 0.7).weighted(1, 1)
    given = nearly.tune(threshold=0.7, bands=7, rows=3, chooser="nearest").best.banding
    assert given == explicit(7, 3, 0.7, 0.99)


def test_an_explanation_has_the_points_areas_and_curve_of_the_mathematics() -> None:
    facts = explain(Banding(20, 5), 0.549280271653)
    assert facts["half_point"] == pytest.approx(0.509, abs=5e-4)
    assert facts["false_positive_area"] == pytest.approx(0.0720, abs=5e-5)
    assert facts["curve"][0] == [0.0, 0.0]
    assert facts["curve"][50] == [0.5, pytest.approx(1 - (1 - 0.5**5) ** 20)]
    assert facts["curve"][-1] == [1.0, 1.0]


def test_points_say_what_a_pair_costs() -> None:
    (point,) = points(Banding(20, 5), [0.6])
    assert point["meetings"] == pytest.approx(20 * 0.6**5)
    assert point["candidate"] == point["recall"] == pytest.approx(1 - (1 - 0.6**5) ** 20)


def test_a_corpus_of_strangers_has_nothing_to_miss() -> None:
    advice = nearly.tune([chr(97 + i) * 9 for i in range(9)], threshold=0.9)
    assert advice.pairs == (0, 0, 0)
    assert advice.best.recall == (1.0, advice.best.banding.recall(0.9), 1.0)
    assert advice.best.candidates.value == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"recall": 1.0}, "--method exact"),
        ({"recall": 0.99, "permutations": 2}, "permutations reach 0.9555 at most. Give at least 3"),
        ({"threshold": 0.0}, "threshold is 0.0"),
        ({"threshold": 1.2}, "threshold is 1.2"),
        ({"documents": 1}, "documents is 1"),
    ],
)
def test_impossible_goals_say_what_is_possible(arguments: dict, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        nearly.tune(**arguments)


def test_an_impossible_goal_is_said_before_anything_is_read() -> None:
    with pytest.raises(SettingsError, match="Give at least 3 permutations"):
        nearly.tune(["only one"], permutations=2)
    with pytest.raises(SourceError, match="1 distinct document"):
        nearly.tune(["only one"])


def test_advice_is_plain(advice: nearly.Advice) -> None:
    plain = advice.to_dict()
    assert plain["bands"] == advice.best.banding.bands
    assert len(plain["choices"]) == len(advice.choices)
    assert math.isclose(sum(share for _, share in plain["similarities"]), 1)
