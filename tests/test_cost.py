"""What a run costs grows with what it does."""

from dataclasses import replace

import pytest

from nearly.tuning import cost
from nearly.tuning.banding import Banding

CORPUS = cost.Corpus(documents=10_000, text=3_000_000, reading=0.5, threads=2)
WORK = cost.Work(banding=Banding(26, 8), signing=0.2, meetings=1e6, verified=1e5, verified_text=6e7)


@pytest.mark.parametrize("more", ["signing", "meetings", "verified_text"])
def test_more_work_takes_more_time(more: str) -> None:
    harder = replace(WORK, **{more: 10 * getattr(WORK, more)})
    assert cost.seconds(CORPUS, harder) > cost.seconds(CORPUS, WORK) > 0.7


def test_more_threads_take_less() -> None:
    assert cost.seconds(replace(CORPUS, threads=8), WORK) < cost.seconds(CORPUS, WORK)


def test_memory_is_the_text_and_what_is_kept_of_each_document() -> None:
    twice = replace(CORPUS, documents=20_000, text=6_000_000)
    a_document = (cost.memory(twice, WORK) - cost.memory(CORPUS, WORK)) / 10_000
    assert a_document == 300 + cost.BYTES_A_DOCUMENT + 4 * 26 + 8 * 7
    fewer = replace(WORK, verified=0)
    assert cost.memory(CORPUS, WORK) - cost.memory(CORPUS, fewer) == 1e5 * cost.BYTES_A_PAIR
