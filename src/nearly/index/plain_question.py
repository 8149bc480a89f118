"""A plain question about a text, answered by one call of a kernel.

Most questions are plain: a text of no great length that is in its normal form. Others are answered
in more steps, by `search`, and so is what meets a damaged page: there it is known which segment has
it.
"""

from collections.abc import Sequence

from nearly import _kernels
from nearly.index.answer import Answer, Id
from nearly.index.live import Live
from nearly.index.search import Asking
from nearly.index.view import SegmentView, View, shown_to_kernel, text_reader

__all__ = ["ask_plainly", "first_near_plainly"]


def ask_plainly(asking: Asking, view: View, text: object, k: int | None) -> Answer | None:
    """All that is near enough, or the `k` nearest of it; None where that takes more steps."""
    asker = asking.asker
    if asker is None or not isinstance(view, SegmentView) or not isinstance(text, str):
        return None
    try:
        answered = asker.ask(view.shown, text, text_reader(view.lives))
    except _kernels.DamagedError:
        return None
    if answered is None:
        return None
    found, compared, left_out = answered
    return Answer(found[:k], compared=compared, left_out=left_out)


def first_near_plainly(
    asking: Asking, lives: Sequence[Live], text: object
) -> tuple[list[tuple[int, Id, float]], bool, int] | None:
    """What a new document is reported with (numbers, ids, nearness), whether it is a copy, and how
    many members of crowded buckets were not looked at.

    Of each content the first document; of a copy nothing else. None where that takes more steps.
    """
    asker = asking.asker
    if asker is None or not isinstance(text, str):
        return None
    try:
        return asker.first_near(shown_to_kernel(lives), text, text_reader(lives))
    except _kernels.DamagedError:
        return None
