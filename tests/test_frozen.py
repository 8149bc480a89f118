"""Frozen dataclasses that cost nothing to declare, beside those of Python."""

import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly import frozen


def declared(dataclass: Any) -> Any:
    """The same classes, declared by one way or the other: a base, and one that derives from it."""

    @dataclass(frozen=True)
    class Base:
        """A base."""

        first: Any
        second: Any = 2
        kind: ClassVar[str] = "no field"

    @dataclass(frozen=True, kw_only=True)
    class Derived(Base):
        """One that derives."""

        third: Any
        unseen: Any = field(default=0, compare=False, repr=False, metadata={"meaning": "none"})
        made: list[int] = field(default_factory=list, hash=False, compare=False)

        def __post_init__(self) -> None:
            if self.third == "bad":
                raise ValueError("bad")

    return Base, Derived


PLAIN, LEAN = declared(dataclasses.dataclass), declared(frozen.dataclass)
VALUES = st.integers(0, 2) | st.sampled_from(["bad", "good"])
NAMES = st.dictionaries(st.sampled_from(["first", "second", "third", "unseen", "other"]), VALUES)
ARGUMENTS = st.tuples(st.lists(VALUES, max_size=3), NAMES, st.integers(0, 1))


def made(kinds: Any, arguments: Any) -> Any:
    """An instance, or the kind of error."""
    given, named, which = arguments
    try:
        return kinds[which](*given, **named)
    except (TypeError, ValueError) as error:
        return type(error)


@given(ARGUMENTS, ARGUMENTS)
def test_instances_are_those_of_dataclasses(one: Any, other: Any) -> None:
    a, b = made(PLAIN, one), made(PLAIN, other)
    x, y = made(LEAN, one), made(LEAN, other)
    assert (a == b) == (x == y)
    if isinstance(a, type) or isinstance(x, type):
        assert a == x
        return
    assert repr(a) == repr(x)
    assert dataclasses.asdict(a) == dataclasses.asdict(x)
    assert vars(a) == vars(x)
    assert hash(a) == hash(x)
    assert repr(dataclasses.replace(a, second=9)) == repr(dataclasses.replace(x, second=9))


def test_fields_are_those_of_dataclasses() -> None:
    for plain, lean in zip(PLAIN, LEAN, strict=True):
        assert list(map(repr, dataclasses.fields(plain))) == list(
            map(repr, dataclasses.fields(lean))
        )
        assert plain.__match_args__ == lean.__match_args__


@pytest.mark.parametrize("kinds", [PLAIN, LEAN])
@pytest.mark.parametrize("name", ["first", "third", "other"])
def test_nothing_can_be_changed(kinds: Any, name: str) -> None:
    one = kinds[1](1, third=3)
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(one, name, 2)
    with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(one, name)


@pytest.mark.parametrize("kinds", [PLAIN, LEAN])
def test_what_derives_and_is_no_dataclass_has_attributes_of_its_own(kinds: Any) -> None:
    class Plain(kinds[1]):  # type: ignore[misc]
        """No dataclass."""

    one = Plain(1, third=3)
    one.other = 4
    assert one.other == 4
    del one.other
    assert not hasattr(one, "other")
    with pytest.raises(FrozenInstanceError):
        one.first = 2


@pytest.mark.parametrize("kinds", [PLAIN, LEAN])
def test_what_derives_is_frozen_too(kinds: Any) -> None:
    for kind in kinds:
        with pytest.raises(TypeError, match="cannot inherit non-frozen"):
            dataclasses.dataclass(type("Derived", (kind,), {}))


def test_own_methods_stay_and_dataclasses_may_derive() -> None:
    @frozen.dataclass(frozen=True)
    class Own:
        """Has its own ways."""

        value: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __repr__(self) -> str:
            return "own"

    @dataclasses.dataclass(frozen=True)
    class Python(Own):
        """Of Python, from one of ours."""

        more: int = 1

    assert Own(1) == Own(2)
    assert hash(Own(1)) == hash((1,))
    assert repr(Own(1)) == "own"
    assert Python(1) == Python(1, 1)
    assert Python(1) != Python(1, 2)


def test_what_can_be_changed_is_refused() -> None:
    with pytest.raises(TypeError):
        frozen.dataclass(frozen=False)  # type: ignore[call-overload]


def test_instances_travel() -> None:
    from nearly.settings import Settings

    settings = Settings(threshold=0.7)
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 - our own bytes
