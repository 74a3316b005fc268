"""The code of a user's class as text, for cache keys: a changed class must not use its old machine code."""

from __future__ import annotations

import functools
import hashlib
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, fields, replace
from types import CodeType, ModuleType
from typing import Annotated, Any, ClassVar, Self, get_type_hints

import casadi as ca
import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX, Array, in_order
from condyle.errors import DescriptionError, UnknownNameError
from condyle.laws.factors import BodyFactors, times
from condyle.laws.function import law_function
from condyle.loading import if_loaded
from condyle.native.machine.data import DataPlace
from condyle.native.straight.data import datum
from condyle.native.tables.lookup_table import LookupTable
from condyle.records import dataclass
from condyle.spatial import Transform
from condyle.trace import Numbers
from condyle.trace.parameter import Expression, Parameter, Quantity, as_sx
from condyle.tree.body import Body
from condyle.tree.tree import Tree

LEFT_OUT = frozenset(
    {
        "__init__",
        "__post_init__",
        "__new__",
        "__repr__",
        "__eq__",
        "__hash__",
        "__setattr__",
        "__delattr__",
        "__getstate__",
        "__setstate__",
        "__reduce__",
        "__replace__",
    }
)
"""Methods that create and display objects, which are described by their fields."""
KNOWN = frozenset({"condyle", "numpy", "casadi", "math", "scipy", "dataclasses", "typing"})
"""Packages whose functions change only with their version."""


def class_code(cls: type) -> str:
    """A digest of the methods and attributes of a class, and of what the methods use.

    Returns:
        Text; empty for classes of this package, whose sources are part of every key.
    """
    parts: list[str] = []
    for base in cls.__mro__:
        if base is object or base.__module__.split(".")[0] in ("condyle", "abc", "typing"):
            continue
        for name, member in sorted(vars(base).items()):
            function = _function(member)
            if function is not None and name not in LEFT_OUT:
                parts += _lines(name, function)
            elif function is None and not name.startswith(("__", "_abc_")):
                parts.append(f"{name} = {_value(member)}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest() if parts else ""


def _function(member: Any) -> Any:
    """The function of a method, a property or a class method; None for other attributes."""
    for attribute in ("fget", "func", "__func__"):
        member = getattr(member, attribute, None) or member
    return member if isinstance(getattr(member, "__code__", None), CodeType) else None


def _lines(name: str, function: Any) -> list[str]:
    """A function's code, and the values of the names that it uses."""
    code = function.__code__
    used = {n: function.__globals__[n] for n in code.co_names if n in function.__globals__}
    used |= {
        n: cell.cell_contents for n, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
    }
    for module in [
        m for m in used.values() if isinstance(m, ModuleType) and m.__name__.split(".")[0] not in KNOWN
    ]:
        used |= {f"{module.__name__}.{n}": getattr(module, n) for n in code.co_names if hasattr(module, n)}
    return [
        f"{name} {code.co_code!r} {code.co_consts!r} {code.co_names!r}",
        *(f"{n} = {_value(v)}" for n, v in used.items()),
    ]


# ---- names -----------------------------------------------------------------------------------------------
#
# Names of bodies, coordinates and speeds, looked up; errors say which law asks.


def state_named(states: Mapping[str, SX], law: str, which: str, where: str) -> SX:
    """An auxiliary state: one of the law's own, or any by its full name."""
    found = states.get(f"{law}.{which}", states.get(which))
    if found is None:
        own = [n.removeprefix(f"{law}.") for n in states if n.startswith(f"{law}.")]
        raise UnknownNameError("auxiliary state", which, [*own, *states], where)
    return found


def name(value: Any, what: str) -> str:
    """A non-empty string."""
    if not isinstance(value, str) or not value:
        raise DescriptionError(f"{what}: expected a name, got {value!r}")
    return value


def body_name(value: Any, what: str) -> str:
    """The name of a body from itself or its name."""
    if isinstance(value, Body):
        return value.name
    if not isinstance(value, str) or not value:
        raise DescriptionError(f"{what}: expected a body or its name, got {value!r}")
    return value


def known_body(tree: Tree, which: str, where: str) -> Body:
    """A body by its name; the error names the law."""
    try:
        return tree.body(which)
    except UnknownNameError:
        raise UnknownNameError("body", which, ["ground", *(b.name for b in tree.bodies)], where) from None


def owner(tree: Tree, which: str, where: str) -> tuple[Body, int]:
    """The body that a coordinate belongs to, and its place among that body's coordinates."""
    for b in tree.bodies:
        for j, c in enumerate(b.coordinates):
            if c.name == which:
                return b, j
    raise UnknownNameError("coordinate", which, tree.coordinates, where)


def speed_of(tree: Tree, which: str, where: str) -> str:
    """The speed that is the rate of a coordinate."""
    b, j = owner(tree, which, where)
    row = ca.sparsify(b.mobilizer.N(ca.SX.sym("q", b.mobilizer.nq))[j, :])
    if row.is_constant():
        rate = np.array(ca.evalf(row).full()).ravel()
        if np.count_nonzero(rate) == 1 and rate.max() == 1.0:
            return b.speeds[int(rate.argmax())]
    raise DescriptionError(
        f"{where}: the rate of coordinate {which!r} is no speed of {b.mobilizer!r} on body {b.name!r} (qdot "
        f"= N(q) u), so that a force on it alone has no meaning; act on a speed ({', '.join(b.speeds)}), or "
        "write the energy: cd.forces.Potential(lambda s: ...)"
    )


def speed_named(tree: Tree, which: str, where: str) -> str:
    """A speed, given by its own name or that of the coordinate whose rate it is."""
    if which in tree.coordinates:
        return speed_of(tree, which, where)
    if which in tree.speeds:
        return which
    raise UnknownNameError(
        "coordinate or speed", which, dict.fromkeys((*tree.coordinates, *tree.speeds)), where
    )


# ---- described -------------------------------------------------------------------------------------------
#
# What all laws of this package share: fields that say which values they allow, checked when a law is made
# and when it is added.
#
# A field carries its role, `stiffness: Annotated[Number, quantity("N/m", lowest=0.0)]`, and `Law` does the rest:
# it keeps names of bodies, plain floats or expressions of Parameters, refuses what cannot be, and describes the
# law exactly for the cache.


@dataclass(frozen=True)
class Role(Quantity):
    """The values that a field of a law allows: a Quantity, or a name or frame, or a part with fields of its
    own.

    Attributes:
        kind: "body", "coordinate", "frame", "quantity", "part" or "folded": a part whose numbers the law
            keeps in fields of its own.
    """

    kind: str = "quantity"

    def take(self, value: Any, what: str) -> Any:
        """What the law keeps of a value, checked; a part was checked when it was made."""
        if self.kind in PARTS:
            return value
        if self.kind == "quantity" and type(value) is float and not self.shape:
            self.check(value, what, value)
            return value
        if self.kind in ("body", "coordinate"):
            return body_name(value, what) if self.kind == "body" else name(value, what)
        if self.kind == "frame":
            X = Transform.of(as_sx(value), what)
            if isinstance(X.R, ca.SX):
                R, p = number(X.R, what), number(X.p, what)
                if R.parameters or p.parameters:
                    return tuple(v if v.parameters else _tuples(v.at()) for v in (R, p))
                X = Transform(R.at(), p.at()[:, 0], what=what)
            if X.p.ndim > 1:
                raise DescriptionError(f"{what}: expected one Transform, got {X!r}")
            return X
        kept = number(value, what)
        if isinstance(kept, Expression) and not isinstance(kept, Datum) and not kept.parameters:
            kept = self.shaped(kept.at())
        if isinstance(kept, Expression):
            if self.plain:
                raise DescriptionError(
                    f"{what}: expected {self.allowed}, got {value!r}: it cannot change from state to state"
                )
            self.check(self.shaped(kept.at()), what, value)
            return kept
        self.check(kept, what, value)
        return _tuples(np.asarray(kept, dtype=float))

    @property
    def is_station(self) -> bool:
        """Whether it is a point in the frame of a body: three lengths of either sign."""
        return self.unit == "m" and tuple(self.shape) == (3,) and self.lowest == -math.inf

    def shaped(self, column: Array) -> Array:
        """An expression's values in the shape of the quantity, if they fit."""
        return column.reshape(self.shape) if column.size == math.prod(self.shape) else column


def quantity(
    unit: str,
    *shape: int,
    lowest: float = -math.inf,
    positive: bool = False,
    infinite: bool = False,
    plain: bool = False,
) -> Role:
    """Numbers that may be Parameters or Inputs, unless they are plain."""
    return Role(unit, shape, lowest, positive, infinite, plain)


@dataclass(frozen=True)
class FunctionRole(Role):
    """A function of some numbers (condyle.laws.function).

    Attributes:
        names: of its arguments.
    """

    names: tuple[str, ...] = ()
    kind: str = "function"

    def take(self, value: Any, what: str) -> Any:
        return law_function(value, self.names, what)


def function_of(*names: str) -> FunctionRole:
    """A function of numbers of these names."""
    return FunctionRole(names=names)


PARTS = ("part", "folded")
BodyName = Annotated[Any, Role(kind="body")]
"""A body or its name; the name is kept. To type checkers it is Any: a field has one type for both."""
CoordinateName = Annotated[str, Role(kind="coordinate")]
Frame = Annotated[Transform | Numbers | None, Role(kind="frame")]
"""A Transform, a translation, a 4 x 4 matrix, or None."""
Station = Annotated[Numbers, quantity("m", 3)]


@functools.lru_cache(maxsize=1024)  # classes of users come and go in a notebook
def _roles_of(law: Any) -> dict[str, Role]:
    """The roles of a law's fields."""
    hints: dict[str, Any] = {}
    try:
        for cls in reversed(law.__mro__):
            own = vars(cls).get("__annotations__", {})
            hints |= {name: _meant(text, cls.__module__) for name, text in own.items()}
    except (NameError, KeyError, TypeError, SyntaxError, AttributeError):  # names that only a class knows
        hints = get_type_hints(law, include_extras=True)
    return {
        f.name: role
        for f in fields(law)
        for role in getattr(hints[f.name], "__metadata__", ())
        if isinstance(role, Role)
    }


@functools.lru_cache(maxsize=1024)
def _meant(annotation: Any, module: str) -> Any:
    """What an annotation of a module says, each text read once: as typing.get_type_hints, which reads those
    of base classes again for every class."""
    return eval(annotation, vars(sys.modules[module])) if isinstance(annotation, str) else annotation


@dataclass(frozen=True, eq=False, repr=False)
class Described(ExplainsCalls):
    """Frozen data whose fields declare their roles. Equal if of one class and their descriptions agree.

    Attributes:
        proportional: fields that are lengths, which `cd.scale` keeps in proportion to the length of the
            element's path, or to the distance of its points p_a and p_b, in the default pose.
        room: what stands before the name of a class in texts, where other rooms have classes of this name.
    """

    proportional: ClassVar[tuple[str, ...]] = ()
    room: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for f, role in self.roles():
            object.__setattr__(self, f, role.take(getattr(self, f), f"{type(self).__name__}: {f}"))
        self.check_values({})

    def roles(self) -> Iterable[tuple[str, Role]]:
        """The fields that have roles, by name."""
        law: Any = type(self)
        return _roles_of(law).items()

    @property
    def nested(self) -> list[Described]:
        """Its parts."""
        return [getattr(self, f) for f, role in self.roles() if role.kind in PARTS]

    def check(self, tree: Tree) -> None:
        for f, role in self.roles():
            if role.kind == "body":
                known_body(tree, getattr(self, f), f"{f} of {self!r}")
        for part in self.nested:
            part.check(tree)

    def _fields(self) -> tuple[str, ...]:
        kind: Any = type(self)
        return _names(kind)

    def parameters(self) -> list[Parameter]:
        known = self.__dict__.get("_parameters")  # found once: it is frozen
        if known is None:
            own = [p for f in self._fields() for e in _expressions(getattr(self, f)) for p in e.parameters]
            known = self.__dict__["_parameters"] = own + [
                p for part in self.nested for p in part.parameters()
            ]
        return [*known]

    def check_parameters(self, values: Mapping[str, float]) -> None:
        """Raise DescriptionError if these values of parameters are not allowed in some field."""
        for f, role in self.roles():
            kept = getattr(self, f)
            if role.kind == "quantity" and isinstance(kept, Expression):
                at = kept.at(values)
                role.check(role.shaped(at), f"{type(self).__name__}: {f}", at.ravel().tolist())
        for part in self.nested:
            part.check_parameters(values)
        self.check_values(values)

    def check_values(self, values: Mapping[str, float]) -> None:
        """Raise DescriptionError if fields do not fit together at these values of parameters, or at their
        defaults: a class whose fields depend on each other writes it."""

    def conditions(self) -> SX:
        """Force.conditions for the fields' roles."""
        kept = [(role, getattr(self, f)) for f, role in self.roles() if role.kind == "quantity"]
        return ca.vertcat(
            ca.SX(0, 1),
            *(c for role, x in kept if isinstance(x, Expression) for c in role.conditions(x.sx)),
            *(part.conditions() for part in self.nested),
        )

    def description(self) -> str:
        known: str | None = self.__dict__.get("_description")
        if known is None:
            values = ", ".join([f"{f}={text(getattr(self, f))}" for f in self._fields()])
            known = self.__dict__["_description"] = f"{type(self).__name__}({values})"
        return known

    def scaled(self, factors: BodyFactors) -> Self:
        """Itself on bodies of other sizes: stations and frames move with the points of their bodies.

        A station or frame is on the body that the field before it names. Other lengths stay, and those named
        in `proportional` follow later. A class with other rules writes its own.

        Raises:
            DescriptionError: a station that is no plain numbers, on a body that changes its size.
        """
        body, new = "ground", {}
        for f, role in self.roles():
            kept = getattr(self, f)
            if role.kind == "body":
                body = kept
            elif kept is None or not factors.change(body):
                continue
            elif role.kind == "frame":
                new[f] = factors.place(body, kept)
            elif role.is_station:
                if not isinstance(kept, tuple):
                    raise DescriptionError(
                        f"its {f} is {kept!r}, and {body!r} has the factors {factors[body]}; give numbers, "
                        "or that body the factors 1"
                    )
                new[f] = times(kept, factors[body])
        return self._resized(new) if new else self

    def in_proportion(self, ratio: float) -> Self:
        """Itself with its `proportional` lengths times a ratio."""
        new = {f: times(getattr(self, f), ratio) for f in self.proportional}
        return self._resized(new) if new else self

    def _resized(self, new: Mapping[str, Any]) -> Self:
        """Itself with fields that were scaled. Plain finite numbers that were allowed still are: a factor is
        positive; to check all fields again would take most of a scaling."""
        kept = {f: _plain(value) for f, value in new.items()}
        if None in kept.values():
            return replace(self, **new)  # type: ignore[type-var]
        other = copy(self)
        vars(other).update(kept)
        other.check_values({})
        return other

    def __copy__(self) -> Self:
        """Its fields alone: whoever copies one changes it, and what was found of it holds no longer."""
        other = object.__new__(type(self))
        other.__dict__.update({f: getattr(self, f) for f in self._fields()})
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {f: getattr(self, f) for f in self._fields()}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.description() == other.description()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.description())

    def __repr__(self) -> str:
        shown = []
        for f in fields(self):
            value = getattr(self, f.name)
            if f.repr and not (f.default is not MISSING and text(value) == text(f.default)):
                shown.append(f"{f.name}={_short(value)}")
        return f"{self.room}{type(self).__name__}({', '.join(shown)})"


def _plain(value: Any) -> float | tuple[float, ...] | None:
    """A finite number, or several in a row, as a field keeps it; None for anything else."""
    if isinstance(value, np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.float64:
        return tuple(value.tolist()) if math.isfinite(value.sum()) else None
    return None


class Datum(Expression):
    """A symbol in place of a kept number, in a law that is traced once for many (condyle.model.looped)."""

    def __init__(self, symbol: SX) -> None:
        self.symbol, self.parameters = symbol, ()
        self.text = f"{symbol.shape} {[x.element_hash() for x in ca.vertsplit(ca.vec(symbol))]}"

    @property
    def sx(self) -> SX:
        return self.symbol


class StoredNumber(Datum):
    """Numbers that machine code reads from outside (native/machine/data.py), in place of those of a law or a body.

    Attributes:
        entries: in column-major order; of each its DataPlace among the data, or its value if it is part of the code.
        values: the numbers.
        in_M: of a station, the same in the frame M of its body.
    """

    def __init__(
        self, entries: Sequence[DataPlace | float], values: Array, in_M: StoredNumber | None = None
    ) -> None:
        self.entries, self.values, self.parameters = tuple(entries), values, ()
        self.in_M = self if in_M is None else in_M
        self.text = f"data {values.shape} {self.entries}"

    @functools.cached_property
    def symbol(self) -> SX:  # type: ignore[override]
        column = ca.vertcat(*self.symbols)
        return ca.sparsify(ca.reshape(column, *self.values.shape) if self.values.ndim == 2 else column)

    @property
    def symbols(self) -> list[SX]:
        """The entries as expressions."""
        return [datum(x.at) if isinstance(x, DataPlace) else ca.SX(x) for x in self.entries]

    def at(self, values: Mapping[str, float] | None = None) -> Array:
        return self.values.reshape(-1, 1) if self.values.ndim < 2 else self.values


@functools.lru_cache(maxsize=1024)
def _names(kind: Any) -> tuple[str, ...]:
    """Names of its fields."""
    return tuple(f.name for f in fields(kind))


def placed(X: Any) -> tuple[SX, SX]:
    """R and p of a kept frame as expressions."""
    R, p = X
    return sx(R), sx(p)


def text(value: Any) -> str:
    """Text that determines a kept value exactly."""
    kind = type(value)
    if kind is float:
        return repr(value)
    if kind is tuple:
        return f"({', '.join([repr(v) if type(v) is float else text(v) for v in value])})"
    if isinstance(value, Expression):
        return f"<{value.parameters!r} {value.text}>"
    if isinstance(value, Transform) and isinstance(value.R, np.ndarray):
        return f"Transform({value.R.tolist()}, {value.p.tolist()})"
    if isinstance(value, tuple):
        return f"({', '.join(map(text, value))})"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(float(value))
    return value.description() if hasattr(value, "description") else repr(value)


def entries(value: Any) -> list[Any]:
    """Numbers of a kept value column by column, DataPlaces where they are data: rows of tables."""
    if isinstance(value, StoredNumber):
        return list(value.entries)
    return np.ravel(np.asarray(value, dtype=float), order="F").tolist()  # type: ignore[no-any-return]


def _expressions(value: Any) -> Sequence[Any]:
    """Expressions and functions in a kept value: what has `parameters`."""
    kind = type(value)
    if kind is float or kind is str:
        return ()
    if isinstance(getattr(value, "parameters", None), tuple):
        return (value,)
    many = value if isinstance(value, tuple) else ()
    return [e for v in many if type(v) is not float for e in _expressions(v)]


def _short(value: Any) -> str:
    if isinstance(value, Expression):
        return f"<of {', '.join(p.name for p in value.parameters)}>"
    if isinstance(value, tuple) and len(value) <= 6:
        return f"({', '.join(map(_short, value))})"
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _tuples(array: Array) -> Any:
    return float(array) if array.ndim == 0 else tuple(_tuples(a) for a in array)


def _value(value: Any) -> str:
    """Text of a value that a user's method uses; of what has no exact text, one that nothing else has."""
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return repr([_value(v) for v in value])
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype} {value.shape} {value.tobytes()!r}"
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, (LookupTable, if_loaded("condyle.native.solvers.solver", "Solver"))):
        return value.text
    if (
        getattr(value, "__module__", None)
        and value.__module__.startswith("condyle.")
        and hasattr(value, "__qualname__")
    ):
        # of this package, whose sources are part of every key
        return f"{value.__module__}.{value.__qualname__}"
    return os.urandom(16).hex()


def number(value: Any, what: str) -> Any:
    """A float, an array, or an Expression where Parameters are inside: what a law keeps of its numbers."""
    value = as_sx(in_order(what, value))
    return Expression(value, what) if isinstance(value, ca.SX) else value


def sx(value: Any) -> SX:
    """A kept number as an expression."""
    if isinstance(value, Expression):
        return value.sx
    if type(value) is tuple and all(type(x) is float for x in value):
        return ca.sparsify(ca.SX(list(value)))  # half the time of an array
    return ca.sparsify(ca.SX(ca.DM(np.asarray(value, dtype=float))))
