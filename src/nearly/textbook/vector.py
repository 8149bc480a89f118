"""Signatures of vectors, as plainly as Python can say them (kth; Charikar 2002)."""

import math
from collections.abc import Sequence

__all__ = ["cosine", "hyperplane_chance"]


def cosine(x: Sequence[float], y: Sequence[float]) -> float:
    """The cosine of the angle between two vectors: their product by both their lengths."""
    product = math.fsum(a * b for a, b in zip(x, y, strict=True))
    lengths = math.hypot(*x) * math.hypot(*y)
    if lengths == 0:
        raise ValueError("a vector of length 0 has no direction, and so makes no angle")
    return product / lengths


def hyperplane_chance(x: Sequence[float], y: Sequence[float]) -> float:
    """How likely both lie on one side of a random hyperplane: 1 - angle / 180°."""
    return 1 - math.acos(max(-1.0, min(1.0, cosine(x, y)))) / math.pi
