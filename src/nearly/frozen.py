"""Frozen dataclasses that cost next to nothing to declare.

For every class, `dataclasses` writes the source of six methods and compiles it: a millisecond each,
and a run declares ninety classes. Here they are loops over the fields, the same for all
classes. Instances behave as those of `dataclasses.dataclass(frozen=True)`, and its functions
(`fields`, `replace`, `asdict`) take them; creating one takes a microsecond more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        *, kw_only: bool = False, eq: bool = True, **others: bool
    ) -> Callable[[type], type]:
        """What `dataclasses.dataclass` does with the same arguments; `frozen` has to be true."""
        with_repr = others.pop("repr", True)
        if others != {"frozen": True}:
            raise TypeError("what can be changed is declared by dataclasses.dataclass")

        def declared(kind: type) -> type:
            own = set(vars(kind))
            _take_fields(kind, kw_only=kw_only)
            methods = {"__init__": _initialise, "__setattr__": _set, "__delattr__": _delete}
            if with_repr:
                methods["__repr__"] = _represent
            if eq:
                methods |= {"__eq__": _equal, "__hash__": _hash}
            for name, method in methods.items():
                if name not in own or (name == "__hash__" and kind.__hash__ is None):
                    setattr(kind, name, method)
            return kind

        return declared


def _take_fields(kind: Any, *, kw_only: bool) -> None:
    """Have `dataclasses` collect the fields, and compile nothing.

    It compiles two methods of a class that is declared frozen, and of frozen bases allows no other.
    """
    frozen = [b.__dataclass_params__ for b in kind.__mro__[1:] if "__dataclass_params__" in vars(b)]
    for params in frozen:
        params.frozen = False
    try:
        dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(kind)
    finally:
        for params in (*frozen, kind.__dataclass_params__):
            params.frozen = True


_fields: Any = cache(fields)  # without those of the class


@cache
def _positional(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.init and not f.kw_only)


@cache
def _compared(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.compare)


def _initialise(self: Any, /, *given: Any, **named: Any) -> None:
    kind = type(self)
    if given:
        _name(kind, given, named)
    state = self.__dict__
    for field in _fields(kind):
        name = field.name
        if name in named and field.init:
            state[name] = named.pop(name)
        elif field.default is not MISSING:
            state[name] = field.default
        elif field.default_factory is not MISSING:
            state[name] = field.default_factory()
        elif field.init:
            raise TypeError(f"{kind.__name__}() needs {name!r}")
    if named:
        raise TypeError(f"{kind.__name__}() has no {', '.join(map(repr, named))}")
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _name(kind: type, given: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Put what was given by position among what was given by name."""
    names = _positional(kind)
    if len(given) > len(names):
        raise TypeError(f"{kind.__name__}() takes {len(names)} by position, got {len(given)}")
    for name, value in zip(names, given, strict=False):
        if name in named:
            raise TypeError(f"{kind.__name__}() got {name!r} twice")
        named[name] = value


def _set(self: Any, name: str, value: object) -> None:
    _refuse(self, name, "assign to")
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    _refuse(self, name, "delete")
    object.__delattr__(self, name)


def _refuse(self: Any, name: str, change: str) -> None:
    """What derives from a dataclass, and is none, may have more than its fields."""
    if "__dataclass_fields__" in vars(type(self)) or name in type(self).__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot {change} field {name!r}")


def _represent(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _values(self: Any) -> tuple[Any, ...]:
    kind: Any = type(self)
    return tuple([getattr(self, name) for name in _compared(kind)])


def _equal(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))
