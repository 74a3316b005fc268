"""Groups of operators that belong together: `system.contacts.forces(q, u)`, `state.constraints.errors()`,
`traj.kinematics.N()`.

A group of a System is an object of a class in this package, with methods. States and runs have the same
groups, made from the operators' records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MethodType
from typing import TYPE_CHECKING, Any, Self

from condyle.arguments import missing
from condyle.model.operators import OPERATORS
from condyle.model.operators.record import OperatorRecord
from condyle.presentation import Display

if TYPE_CHECKING:
    from condyle.system.system import System


class Group(Display):
    """Operators of a System."""

    _system: System

    def __init__(self, system: System, names: Iterable[str] = ()) -> None:
        self._system = system


class NamedGroup(Group, tuple[str, ...]):
    """Names of parts of a System, a tuple, and the operators of these parts."""

    def __new__(cls, system: System, names: Iterable[str] = ()) -> Self:
        return super().__new__(cls, names)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)


class BoundGroup:
    """The operators of one group, of a State or of a run."""

    def __init__(self, owner: object, name: str, methods: dict[str, Callable[..., Any]]) -> None:
        self._owner, self._name, self._methods = owner, name, methods

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name not in self._methods:
            raise missing(f"{type(self._owner).__name__}.{self._name}", name, self._methods, {})
        return MethodType(self._methods[name], self._owner)

    def __dir__(self) -> list[str]:
        return sorted(self._methods)

    def __repr__(self) -> str:
        return f"{type(self._owner).__name__}.{self._name}: {', '.join(self._methods)}"


class _GroupOf:
    """Descriptor that gives a State or a run its groups."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.methods: dict[str, Callable[..., Any]] = {}

    def __get__(self, owner: object, kind: type) -> Any:
        return self if owner is None else BoundGroup(owner, self.name, self.methods)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """`cd.State.contacts.forces`, for help."""
        if name.startswith("_") or name not in self.methods:
            raise AttributeError(f"{self.name} has no {name!r}")
        return self.methods[name]


def attach(kind: type, record: OperatorRecord, method: Callable[..., Any]) -> None:
    """Make an operator a method of State or States, in its group if it has one."""
    group, _, name = record.name.rpartition(".")
    if not group:
        setattr(kind, name, method)
        return
    if group not in vars(kind):
        setattr(kind, group, _GroupOf(group))
    vars(kind)[group].methods[name] = method


def in_group(name: str) -> str:
    """Hint at the group of an operator that was looked up outside of it; empty if there is none."""
    for path in OPERATORS:
        group, _, short = path.rpartition(".")
        if group and name in (short, f"{group.removesuffix('s')}_{short}"):
            return path
    return ""
