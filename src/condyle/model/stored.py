"""A model whose masses, lengths and strengths are data of its machine code: another subject with the same
model uses the code of the first.

Such numbers are not part of the description (model.py), which is the key of machine code, unless they are
zero, one or minus one, for which expressions simplify. Code reads them from outside
(native/machine/data.py), each from its own place, so that two numbers that happen to be equal remain two.

Data are: masses, mass centers and inertias; places of joints; factors of functions for translations of
joints (a subject's size); points and surfaces of paths; and numbers in meters or newtons of muscles and
other laws along paths. All else is part of the code: orientations, curves, and numbers in classes of users.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

import condyle.settings as settings
from condyle.arrays import SX, Array
from condyle.forces.base import Force
from condyle.functions.base import Function, exact
from condyle.laws.described import Described, StoredNumber, _tuples, entries, text
from condyle.loading import if_loaded
from condyle.mobilizers import Mobilizer
from condyle.mobilizers.base import Reversed
from condyle.model.model import Model
from condyle.native.machine.data import DataPlace
from condyle.records import assign, dataclass
from condyle.spatial import Transform
from condyle.trace import Symbol
from condyle.tree.body import Body
from condyle.tree.body_constants import BodyConstants, ConstantsTable, layout
from condyle.tree.tree import Tree

UNITS = frozenset({"m", "N"})
"""Units of the numbers of laws along paths that are data."""
MOST = 300
"""Largest number of bodies of a stored model: chains of thousands of bodies do not have further subjects."""
PLAIN = frozenset({0.0, 1.0, -1.0})


class NumberStore:
    """Numbers that become data, one after the other."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self._known: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Numbers that muscles share become data once: points of one body at one place, and surfaces with
        all their numbers. If all numbers of such an object are equal, this is no coincidence, and
        expressions compute it once."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def put(self, value: Any, every: bool = False) -> StoredNumber:
        """Turn a number or an array into data. Zeros, ones and nonfinite numbers remain part of the code
        unless `every` number is data."""
        array = np.asarray(value, dtype=float)
        return StoredNumber([self._place(x, every) for x in np.ravel(array, order="F").tolist()], array)

    def _place(self, x: float, every: bool) -> DataPlace | float:
        if not every and (x in PLAIN or not np.isfinite(x)):
            return x
        self.values.append(x)
        return DataPlace(len(self.values) - 1)


@dataclass(frozen=True, eq=False)
class StoredBody:
    """Constants of a body (tree/body_constants.py) as data: R_PF and R_MB are numbers, all others
    StoredNumbers.

    Attributes:
        inertia: in the form of dynamics/inertia.py, with zeros that do not depend on the order of the
            moments.
        principal: (l, a, b), all of them data, since rows of tables have no structural zeros.
    """

    plain: BodyConstants
    p_PF: StoredNumber
    p_MB: StoredNumber
    mass: StoredNumber
    com: StoredNumber
    inertia: tuple[StoredNumber, ...]
    principal: StoredNumber

    @cached_property
    def symbolic(self) -> BodyConstants:
        p = self.plain
        return BodyConstants(
            p.R_PF,
            self.p_PF.sx,
            p.R_MB,
            self.p_MB.sx,
            self.mass.sx,
            self.com.sx,
            tuple(x.sx for x in self.inertia),
        )

    @property
    def text(self) -> str:
        p = self.plain
        turned = [np.asarray(R).tolist() for R in (p.R_PF, p.R_MB)]
        stored = self.p_PF, self.p_MB, self.mass, self.com, *self.inertia, self.principal
        return f"{turned} {[x.text for x in stored]}"

    def row(self, name: str) -> list[DataPlace | float]:
        """The entries of a field in a table."""
        if name.startswith("R"):
            return entries(getattr(self.plain, name))
        return entries(self.principal if name == "I" else getattr(self, name))


def stored_body(body: Body, placed: BodyConstants, store: NumberStore) -> StoredBody:
    I = body.mass_properties.transformed(body.X_BM.inverse()).inertia_about_origin()
    principal = store.put(np.hstack(placed.I), every=True)
    return StoredBody(
        placed,
        store.put(placed.p_PF),
        store.put(placed.p_MB),
        store.put(placed.mass),
        store.put(placed.com),
        _inertia(I, principal, store),
        principal,
    )


def _inertia(I: Array, principal: StoredNumber, store: NumberStore) -> tuple[StoredNumber, ...]:
    """l, x, a, y, b, or l, a, b if no entry is zero. Axes given by the zeros of I are kept, so that the
    order of the moments, which differs between subjects, does not change the zeros."""
    crossed = [(i, j) for i, j in ((0, 1), (0, 2), (1, 2)) if I[i, j] != 0.0]
    within: Sequence[int]
    if len(crossed) > 1:
        cuts = slice(0, 1), slice(1, 4), slice(4, 7)
        return tuple(StoredNumber(principal.entries[s], principal.values[s]) for s in cuts)
    if crossed:
        ((i, j),) = crossed
        (x, y), two = np.linalg.eigh(I[np.ix_((i, j), (i, j))])
        l, axes, within = I[3 - i - j, 3 - i - j], np.zeros((3, 2)), (i, j)
        axes[[i, j]] = two
    else:
        (x, y, l), axes, within = np.diag(I), np.eye(3)[:, :2], ()
    every = bool(I.any())
    a, b = (
        StoredNumber([store.put(v, k in within).entries[0] for k, v in enumerate(axis)], axis)
        for axis in axes.T
    )
    return store.put(l, every), store.put(x - l, every), a, store.put(y - l, every), b


# ---- functions of joints and of points ---------------------------------------------------------------------


class StoredFunction:
    """factor f(q) of some of the arguments, where the factor is data; it replaces a traced translation of a
    joint.

    Args:
        function: the function without its factor; None if it is only the factor.
        factor: a number.
        places: indices of its arguments.
    """

    outside: tuple[Symbol, ...] = ()
    tables: tuple[Any, ...] = ()

    def __init__(self, function: Function | None, factor: StoredNumber, places: Sequence[int] = (0,)) -> None:
        self.function, self.factor, self.places = function, factor, tuple(places)

    def apply(self, *q: SX) -> SX:
        factor = ca.densify(self.factor.sx)
        if self.function is None:
            return factor
        value = self.function(*(Symbol(ca.SX(q[k])) for k in self.places))
        return factor * (value.sx if isinstance(value, Symbol) else ca.SX(value))

    def __call__(self, q: SX) -> SX:
        """The function of one SX, as an expression without look-ups."""
        return ca.densify(self.factor.sx) * (1 if self.function is None else self.function(q))

    @property
    def text(self) -> str:
        function = "" if self.function is None else exact(self.function)
        return f"StoredFunction({function} of {self.places}, {self.factor.text})"

    def __repr__(self) -> str:
        return self.text


def _stored_function(given: Any, names: Sequence[str], store: NumberStore) -> StoredFunction | None:
    """The function with its factor as data; None if it must remain unchanged: functions of a user or of
    Parameters, and a coordinate itself, which does not scale with a body."""
    places: Sequence[int] = range(len(names))
    if isinstance(given, (tuple, list)):
        given, own = given
        places = [list(names).index(name) for name in ((own,) if isinstance(own, str) else own)]
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return StoredFunction(None, store.put(float(given)), ())
    if not isinstance(given, Function) or given.uses_parameters:
        return None
    from condyle.functions import Constant, Linear, Scaled  # not for a model without them

    factor: Any = 1.0
    while isinstance(given, Scaled):
        factor, given = factor * given.factor, given.function
    if isinstance(given, Constant):
        return StoredFunction(None, store.put(factor * given.value), ())
    if (isinstance(given, Linear) and factor == 1.0) or exact(given) is None:
        return None
    return StoredFunction(given, store.put(factor, every=factor != 0.0), places)


def _stored_mobilizer(m: Any, store: NumberStore) -> Any:
    if type(m) is Reversed:
        forward = _stored_mobilizer(m.forward, store)
        return m if forward is m.forward else Reversed(forward)
    if type(m) is not if_loaded("condyle.mobilizers.function_based", "FunctionBased"):
        return m
    names = ("t", *m.coordinates) if m.time else tuple(m.coordinates)
    laws = list(m.laws)
    for k, (law, given) in enumerate(zip(m.laws[3:], m.translations, strict=True), start=3):
        if law is not None and (made := _stored_function(given, names, store)) is not None:
            laws[k] = made  # type: ignore[call-overload]
    if all(a is b for a, b in zip(laws, m.laws, strict=True)):
        return m
    other = copy(m)
    for name in [name for name in vars(other) if name not in m.__dataclass_fields__]:  # cached results
        if isinstance(getattr(type(m), name, None), cached_property):
            del vars(other)[name]
    assign(other, laws=tuple(laws))
    return other


# ---- laws --------------------------------------------------------------------------------------------------

Moved = Callable[[str, Any], Array]
"""A function that gives a station of a body in the body's frame M."""


def _stored_fields(law: Any, store: NumberStore, moved: Moved | None = None) -> dict[str, StoredNumber]:
    """Fields that become data. moved: for points given in their body's frame."""
    out: dict[str, StoredNumber] = {}
    for f, role in law.roles():
        value = getattr(law, f)
        if role.kind != "quantity" or role.plain or role.unit not in UNITS:
            continue
        if type(value) is float or (type(value) is tuple and all(type(x) is float for x in value)):
            out[f] = _station(store, law.body, value, moved) if moved is not None else store.put(value)
    return out


def _station(store: NumberStore, body: str, p: Any, moved: Moved) -> StoredNumber:
    def make() -> StoredNumber:
        made, there = store.put(p), moved(body, p)
        if not np.array_equal(there, made.values):
            made.in_M = store.put(there)
        return made

    return store.once((body, p), make)  # type: ignore[no-any-return]


def _changed(thing: Any, new: Mapping[str, Any]) -> Any:
    if not new:
        return thing
    other = copy(thing)
    assign(other, **new)
    return other


def _stored_point(p: Any, store: NumberStore, moved: Moved) -> Any:
    if p.stays:
        return _changed(p, _stored_fields(p, store, moved))
    places = store.once(
        text(p), lambda: [_stored_function(f, p.coordinate[k : k + 1], store) for k, f in enumerate(p.p)]
    )
    return _changed(p, {"p": tuple(f if x is None else x for x, f in zip(places, p.p, strict=True))})


def _stored_wrap(w: Any, store: NumberStore, moved: Moved) -> Any:
    new: dict[str, Any] = {}
    if not w.surface.parameters():
        key = w.body, text(w.surface), text(w.X_BS)
        new["surface"] = store.once(key, lambda: _changed(w.surface, _stored_fields(w.surface, store)))
    if isinstance(w.X_BS, Transform):
        R, p = w.X_BS
        new["X_BS"] = _tuples(np.asarray(R)), _station(store, w.body, tuple(np.ravel(p).tolist()), moved)
    return _changed(w, new)


def _stored_path(path: Any, store: NumberStore, moved: Moved) -> Any:
    from condyle.paths.path import Path, PathLength
    from condyle.paths.span import Span

    points = tuple(_stored_point(p, store, moved) for p in path.points)
    wraps = tuple(_stored_wrap(w, store, moved) for w in path.wraps)
    other = object.__new__(Path)
    assign(other, points=points, wraps=wraps)
    constant, spans = path.length._parts
    whole = store.put(float(constant))
    twin = dict(zip(map(id, (*path.points, *path.wraps)), (*points, *wraps), strict=True))
    length = PathLength(other)

    def own(span: Span) -> Span:
        return Span(
            tuple(twin[id(p)] for p in span.points),
            tuple(twin[id(w)] for w in span.wraps),
            span.pieces,
            span.offset,
            span.never,
        )

    vars(length)["stored"] = whole
    vars(length)["_parts"] = None, [own(span) for span in spans]
    vars(other)["length"] = length
    found = [(len(s.points), s.offset, s.pieces, s.never) for s in spans]
    vars(other)["_description"] = f"{Described.description(other)} {whole.text} {found}"
    return other


def _is_ours(thing: Any) -> bool:
    """Whether its class belongs to this package: classes of users may require numbers that are floats."""
    return type(thing).__module__.startswith("condyle.")


def _stored_force(force: Any, store: NumberStore, moved: Moved) -> Any:
    PathLaw = if_loaded("condyle.forces.path", "PathLaw")
    Path = if_loaded("condyle.paths.path", "Path")
    if PathLaw is None or not isinstance(force, PathLaw) or type(force.path) is not Path:
        return force  # lengths that a function gives keep their numbers
    if force.path.parameters() or not all(map(_is_ours, (force, *(w.surface for w in force.path.wraps)))):
        return force
    new: dict[str, Any] = dict(_stored_fields(force, store))
    return _changed(force, new | {"path": _stored_path(force.path, store, moved)})


# ---- the model ---------------------------------------------------------------------------------------------


class StoredModel(Model):
    """A model from which machine code is made.

    Attributes:
        data: numbers of this subject, shape (n,).
        stored: constants of each body.
    """

    data: Array
    stored: list[StoredBody]

    def __init__(self, model: Model) -> None:
        store, placed = NumberStore(), layout(model.tree)
        stored = [stored_body(b, x, store) for b, x in zip(model.tree.bodies, placed, strict=True)]
        tree = _with_mobilizers(
            model.tree, [_stored_mobilizer(b.mobilizer, store) for b in model.tree.bodies]
        )
        frame = {
            b.name: (np.asarray(x.R_MB), np.ravel(x.p_MB)) for b, x in zip(tree.bodies, placed, strict=True)
        }

        def moved(body: str, p: Any) -> Array:
            if body not in frame:
                return np.asarray(p)
            R, o = frame[body]
            return o + R @ np.asarray(p)

        forces: dict[str, Force] = {
            name: _stored_force(force, store, moved) for name, force in model.forces.items()
        }
        super().__init__(tree, forces, model.constraints)
        self._unit_length = store.put(model.unit_length, every=True)
        self.stored, self.data = stored, np.array(store.values)
        self.data.flags.writeable = False

    @property
    def unit_length(self) -> SX:
        return self._unit_length.sx

    @cached_property
    def tabulated(self) -> ConstantsTable:
        none = ca.SX(0, 1)
        return ConstantsTable([x.symbolic for x in self.stored], none, none, [0] * len(self.stored))


def _with_mobilizers(tree: Tree, mobilizers: Sequence[Mobilizer]) -> Tree:
    other = tree.copy()
    other.bodies, other.driven = [], []
    for old, mobilizer in zip(tree.bodies, mobilizers, strict=True):
        assert old.parent is not None
        parent = old.parent if old.parent.is_ground else other.bodies[old.parent.index]
        leader = None if old.follows is None else other.bodies[old.follows.index]
        other.bodies.append(replace(old, parent=parent, follows=leader, mobilizer=mobilizer))
        other.driven += other.bodies[-1:] if old.motion else []
    return other


def is_storable(model: Model) -> bool:
    """Whether the model's numbers can be data: they contain no Parameters, machine code is used, and the
    model can be that of a person."""
    if model.stored is not None or settings.evaluator() == "casadi" or len(model.tree.bodies) > MOST:
        return False
    return not len(model.tree.parameters) and not any(b.symbolic for b in model.tree.bodies)
