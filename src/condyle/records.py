"""Dataclasses whose methods are generated on first use: `from condyle.records import dataclass`.

`dataclasses.dataclass` generates and compiles a class's methods at its definition, 0.6 ms each; for the 400
classes of this package that was half of `import condyle`, and a program uses about 60 of them. Here this
happens when a class is first called, compared, printed or its fields are read. Otherwise it is like
`dataclasses`, whose `field`, `fields`, `replace` and `is_dataclass` work with these classes, as base classes
too. Editors and type checkers treat it as that decorator.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, init=True, repr=True, eq=True, frozen=False, kw_only=False):
        """As `dataclasses.dataclass`, without its rarer options and InitVar."""

        def decorate(cls):
            return _Methods(cls, init, repr, eq, frozen, kw_only).cls

        return decorate if cls is None else decorate(cls)


__all__ = ["assign", "dataclass"]


def assign(thing: object, /, **values: object) -> None:
    """Set fields of a frozen object in `__post_init__`."""
    for name, value in values.items():
        object.__setattr__(thing, name, value)


class _Methods:
    """The methods of a class, before they are generated."""

    lock = threading.RLock()
    """One for all classes: to make one is to make its bases."""

    def __init__(self, cls: type, init: bool, repr: bool, eq: bool, frozen: bool, kw_only: bool) -> None:
        self.cls, self.frozen, self.kw_only = cls, frozen, kw_only
        self.made = False
        names = ["__dataclass_fields__", "__dataclass_params__", "__match_args__"]
        names += ["__init__"] * init + ["__repr__"] * repr + ["__eq__"] * eq
        names += ["__hash__"] * (eq and frozen) + ["__setattr__", "__delattr__"] * frozen
        self.names = [name for name in names if name not in vars(cls)]
        if eq and not frozen and "__hash__" not in vars(cls):
            cls.__hash__ = None  # type: ignore[assignment]
        self.fields = {name: f for name, f in vars(cls).items() if isinstance(f, dataclasses.Field)}
        for name, f in self.fields.items():  # objects from pickles read defaults of the class
            if f.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, f.default)
        for name in self.names:
            setattr(cls, name, _Later(self, name))

    def make(self) -> None:
        """Generate them, unless another thread did. `dataclasses` finds the fields and freezes; methods that
        it would not replace are generated here.
        """
        with self.lock:
            if self.made:
                return
            cls = self.cls
            undescribed = cls.__doc__ is None
            cls.__doc__ = cls.__doc__ or cls.__name__  # else it would ask for the signature now
            for name in {"__setattr__", "__delattr__"} & {*self.names}:
                delattr(cls, name)
            for name, f in self.fields.items():
                setattr(cls, name, f)
            dataclasses.dataclass(
                init=False, repr=False, eq=False, match_args=False, frozen=self.frozen, kw_only=self.kw_only
            )(cls)
            fields = dataclasses.fields(cls)
            makers: dict[str, Callable[[], Any]] = {
                "__match_args__": lambda: tuple(f.name for f in fields if f.init and not f.kw_only),
                "__repr__": lambda: _repr([f.name for f in fields if f.repr]),
                "__eq__": lambda: _eq(_values([f.name for f in fields if f.compare])),
                "__hash__": lambda: _hash(
                    _values([f.name for f in fields if (f.compare if f.hash is None else f.hash)])
                ),
                "__init__": lambda: self._init(fields),
            }
            for name, maker in makers.items():
                if name in self.names:
                    method = maker()
                    if callable(method):
                        method.__qualname__ = f"{cls.__qualname__}.{name}"
                        method.__module__ = cls.__module__
                    setattr(cls, name, method)
            if undescribed:
                cls.__doc__ = f"{cls.__name__}({', '.join(f.name for f in fields if f.init)})"
            self.made = True

    def _init(self, fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
        """The only method whose text is compiled: its arguments are those of the class."""
        arguments: list[str] = []
        by_keyword: list[str] = []
        body: list[str] = []
        known: dict[str, Any] = {"_set": object.__setattr__, "_later": FACTORY}
        for f in fields:
            name = value = f.name
            if f.default_factory is not dataclasses.MISSING:
                known[f"_make_{name}"] = f.default_factory
                value = f"_make_{name}()" + (f" if {name} is _later else {name}" if f.init else "")
                argument = f"{name}=_later"
            elif f.default is not dataclasses.MISSING:
                known[f"_default_{name}"] = f.default
                argument = f"{name}=_default_{name}"
            else:
                argument = name
            if f.init:
                (by_keyword if f.kw_only else arguments).append(argument)
            if f.init or f.default_factory is not dataclasses.MISSING:
                body.append(f"_set(self, {name!r}, {value})" if self.frozen else f"self.{name} = {value}")
        if hasattr(self.cls, "__post_init__"):
            body.append("self.__post_init__()")
        given = ", ".join(["self", *arguments, *["*"] * bool(by_keyword), *by_keyword])
        text = (
            f"def make({', '.join(known)}):\n def __init__({given}):\n  "
            + "\n  ".join(body or ["pass"])
            + "\n return __init__"
        )
        made: dict[str, Any] = {}
        exec(text, vars(sys.modules[self.cls.__module__]), made)
        init: Callable[..., None] = made["make"](**known)
        init.__annotations__ = {f.name: f.type for f in fields if f.init} | {"return": None}
        return init


class _Later:
    """Placeholder of a method until its first use."""

    def __init__(self, methods: _Methods, name: str) -> None:
        self.methods, self.name = methods, name

    def __get__(self, instance: object, owner: type) -> Any:
        self.methods.make()
        made = vars(self.methods.cls)[self.name]
        return made.__get__(instance, owner) if hasattr(made, "__get__") else made


class _Factory:
    def __repr__(self) -> str:
        return "<factory>"


FACTORY = _Factory()
"""What signatures show of a default that is made anew for each object."""


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """The function that answers these attributes of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _repr(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        values = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{self.__class__.__qualname__}({values})"

    return __repr__


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], Any]:
    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__
