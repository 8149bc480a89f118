"""A plain question about a text, answered by one call of a kernel.

Most questions are plain: a text of no great length that is in its normal form, asked of segments in
which no bucket of it is crowded. Others are answered in more steps, by `search`, and so is what
meets a damaged page: there it is known which segment has it.
"""

from nearly import _kernels
from nearly.index.answer import Answer
from nearly.index.search import Asking
from nearly.index.view import SegmentView, View

__all__ = ["ask_plainly"]


def ask_plainly(asking: Asking, view: View, text: object, k: int | None) -> Answer | None:
    """All that is near enough, or the `k` nearest of it; None where that takes more steps."""
    asker = asking.asker
    if asker is None or not isinstance(view, SegmentView) or not isinstance(text, str):
        return None
    try:
        answered = asker.ask(view.shown, text, view.text_at)
    except _kernels.DamagedError:
        return None
    return None if answered is None else Answer(answered[0][:k], compared=answered[1])
