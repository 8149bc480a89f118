"""A few small essays to try the app with: copies, drafts, and some that only look alike."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["write_sample"]

_RIVER: Final = (
    "The river that runs through our town was once its main street. Barges brought coal and grain, "
    "and took away bricks and beer. When the railway came in 1871 the barges lost their trade "
    "within ten years, and the quays were left to anglers and to children. Today the council "
    "wants to open them again, this time for walkers. I think that this is right, because a town "
    "that turns its back to the water forgets where it came from."
)
_BEES: Final = (
    "Bees find their way home by the sun. A worker that has found flowers dances on the comb, and "
    "the angle of her dance tells the others where to fly. Even on a cloudy day she knows where "
    "the sun stands, for she can see how light is polarised. Karl von Frisch showed this with "
    "dishes of sugar water and a great deal of patience."
)
_BREAD: Final = (
    "To bake a good loaf you need flour, water, salt and time. Most people save on the time. A "
    "dough that rises slowly in a cold room tastes of more than yeast, and its crust stays crisp "
    "until evening. My grandmother put hers under the bed."
)

ESSAYS: Final = {
    "anna/river.txt": _RIVER,
    "anna/river-draft.txt": _RIVER.replace("I think that this is right, because", "I agree, for"),
    "ben/river.txt": _RIVER.replace("was once its main street", "used to be its high street")
    .replace("1871", "1872")
    .replace("anglers and to children", "fishermen and children"),
    "carla/bees.txt": _BEES,
    "david/bees.txt": _BEES + " " + _BREAD,
    "emma/bread.txt": _BREAD,
    "farid/bread.txt": _BREAD,
    "gita/bread.txt": "My aunt bakes on Saturdays. " + _BREAD.replace("My grandmother", "My aunt"),
    "hugo/moon.txt": "The moon moves away from the earth by four centimetres a year, about as "
    "fast as nails grow. Mirrors that astronauts left there let us measure it with a laser.",
    "ines/empty.txt": "",
}


def write_sample(folder: Path) -> None:
    """Write the essays into a folder, one folder per student."""
    for name, text in ESSAYS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n" if text else "", encoding="utf-8")
