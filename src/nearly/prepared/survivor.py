"""Who of a cluster stays, by the rules that need nothing but the documents."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly.prepared.result import Prepared

__all__ = ["Survivor", "survivors_of"]

#: Members of one cluster whose texts are looked at.
MOST_READ: Final = 200


class Survivor(NamedTuple):
    """Who stays by a rule of `dedup --keep`."""

    rule: str
    member: int
    name: str
    why: str


def survivors_of(prepared: Prepared, cluster: int, *, hidden: bool = False) -> list[Survivor]:
    """One by each rule; none where the cluster is too large to look at here."""
    members = prepared.members_of(cluster)
    if prepared.texts is None or len(members) > MOST_READ:
        return []
    places = prepared.texts.in_source(np.arange(members.start, members.stop))
    lengths = np.array([len(prepared.texts.of(each) or "") for each in members])
    chosen = (
        ("first", int(np.argmin(places)), "stands first in the source"),
        ("last", int(np.argmax(places)), "stands last in the source"),
        ("longest", _first_of(-lengths, places), "has the most characters: {:,}"),
        ("shortest", _first_of(lengths, places), "has the fewest characters: {:,}"),
    )
    names = prepared.names([members.start + member for _, member, _ in chosen], hidden=hidden)
    return [
        Survivor(rule, members.start + member, name, why.format(int(lengths[member])))
        for (rule, member, why), name in zip(chosen, names, strict=True)
    ]


def _first_of(preference: npt.NDArray[np.int64], places: npt.NDArray[np.int32]) -> int:
    """The least; of equals the one that stands first in the source."""
    return int(np.lexsort((places, preference))[0])
