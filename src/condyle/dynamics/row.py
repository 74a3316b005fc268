"""One body as the passes of a recursion see it, whichever layout runs them.

A pass visits all bodies, base to tip (outward) or tip to base (inward). It reads and writes fields of its own
body, `me`, of the body's parent and of the root, row 0: ground. `BodyFields` lists them by the names of the
notation. `StraightTree` runs a pass as one straight line: its fields are expressions, one set per body. The
looped layout (condyle.model.looped.tables) traces a pass once per type of body: its fields are symbols for
columns of a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar, cast

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.inertia import Inertia
from condyle.dynamics.kinematics import BodyKinematics, Kinematics, Pair
from condyle.tree.body_constants import BodyConstants
from condyle.tree.tree import Tree

T = TypeVar("T")

ZERO: Pair = (ca.SX(3, 1), ca.SX(3, 1))
NUMBER, VECTOR = ca.SX.ones(1, 1), ca.SX.ones(3, 1)
PAIR = (VECTOR, VECTOR)
_LOWER = ca.SX.ones(ca.Sparsity.lower(3))


class RowField(Generic[T]):
    """A field of a row: reading and setting the attribute reads and writes the row.

    Args:
        like: an SX, or nested tuples and lists of them, with the structure of the field, or a function that
            gives it for a kernel. Such a field may be read by rows of other types. Without it the structure
            is what was last written, and only rows of the same type may read it.
        lower: whether it is an inertia, of which the lower halves of the symmetric parts are kept.
        name: of a field that is not an attribute of a class.
    """

    name: str

    def __init__(self, like: Any = None, lower: bool = False, name: str = "") -> None:
        self.like, self.lower, self.name = like, lower, name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def key(self, kernel: Any) -> str:
        """What a kernel calls it."""
        return self.name

    def __get__(self, row: RowFields | None, owner: type) -> T:
        return cast(T, self if row is None else row.store.load(row.where, self))

    def __set__(self, row: RowFields, value: T) -> None:
        row.store.save(row.where, self, value)


class FieldStore(Protocol):
    """What holds the fields of rows."""

    def load(self, where: Any, field: Any) -> Any: ...
    def save(self, where: Any, field: Any, value: Any) -> None: ...


class RowFields:
    """Fields of one row; `row[field]` is a field that a variable names."""

    def __init__(self, store: FieldStore, where: Any) -> None:
        self.store, self.where = store, where

    def __getitem__(self, field: Any) -> Any:
        return self.store.load(self.where, field)

    def __setitem__(self, field: Any, value: Any) -> None:
        self.store.save(self.where, field, value)


class BodyFields(RowFields):
    """Fields of a body, in ground axes about M's origin."""

    # kinematics.py: pose of M, its velocity (w alone where v is not needed), r, H, c, V_FM, R_GF, X_GF from M
    R = RowField[ca.SX](ca.SX.ones(3, 3))
    p = RowField[ca.SX](VECTOR)
    w = RowField[ca.SX](VECTOR)
    V = RowField[Pair](PAIR)
    r = RowField[ca.SX]()
    H = RowField[list[Pair]]()
    c = RowField[Pair]()
    V_FM = RowField[Pair]()
    R_GF = RowField[ca.SX]()
    X_MF = RowField[Pair]()
    sines = RowField[ca.SX]()
    p_O = RowField[ca.SX](VECTOR)
    # acceleration; articulated or composite inertia, bias force, force of the mobilizer
    A = RowField[Pair](PAIR)
    P = RowField[Inertia]((_LOWER, ca.SX.ones(3, 3), _LOWER), lower=True)
    z = RowField[Pair](PAIR)
    F = RowField[Pair](PAIR)
    # aba.py: motions under speeds, z of a second right-hand side, eliminations
    X = RowField[Pair](PAIR)
    Y = RowField[Pair](PAIR)
    z_f = RowField[Pair](PAIR)
    U_D = RowField[list[Pair]]()
    D = RowField[list[ca.SX]]()
    eps = RowField[Any]()
    eps_f = RowField[list[ca.SX]]()
    udot = RowField[Any]()
    x = RowField[Any]()
    share = RowField[list[ca.SX]]()
    # of the speeds: generalized forces of laws, what motions make of lock and held
    f = RowField[list[ca.SX]]()
    lock = RowField[list[ca.SX]]()
    held = RowField[list[ca.SX]]()
    # gradient.py and derivatives.py
    own = RowField[Pair]()
    a = RowField[Pair]()
    A_bar = RowField[Pair](PAIR)
    w_bar = RowField[ca.SX](VECTOR)
    v_bar = RowField[ca.SX](VECTOR)
    T = RowField[Pair](PAIR)
    r_bar = RowField[ca.SX]()
    H_bar = RowField[list[Pair]]()
    q_bar = RowField[ca.SX]()
    u_bar = RowField[ca.SX]()
    f_q = RowField[ca.SX]()
    f_u = RowField[ca.SX]()
    # of the root alone: the status, and sums over all bodies
    status = RowField[ca.SX](NUMBER)
    terms = RowField[ca.SX](NUMBER)


class Row(Protocol):
    """A body in a pass."""

    me: BodyFields
    parent: BodyFields
    root: BodyFields

    @property
    def body(self) -> BodyConstants: ...
    @property
    def number(self) -> SX:
        """1 + its first speed."""


class StraightTree:
    """A tree whose passes are one straight line of expressions.

    Args:
        tree: the bodies.
        kin: their kinematics.
        ground: fields of ground, by name.
    """

    def __init__(self, tree: Tree, kin: Kinematics, **ground: Any) -> None:
        self.tree, self.kin = tree, kin
        self.fields: dict[tuple[int | None, str], Any] = {(None, name): x for name, x in ground.items()}

    def outward(self, visit: Callable[[StraightRow], Any]) -> None:
        for B in self.tree.base_to_tip:
            visit(StraightRow(self, B))

    def inward(self, visit: Callable[[StraightRow], Any]) -> None:
        for B in self.tree.tip_to_base:
            visit(StraightRow(self, B))

    def load(self, B: int | None, field: RowField[Any]) -> Any:
        """A field of a body, None is ground; zero if not written."""
        if (B, field.name) in self.fields:
            return self.fields[B, field.name]
        if B is not None and field.name in _KINEMATICS:
            return getattr(self.kin, _KINEMATICS[field.name])[B]
        return _zero(field)

    def save(self, B: int | None, field: RowField[Any], value: Any) -> None:
        self.fields[B, field.name] = value

    def each(self, field: Any, ground: bool = True) -> dict[Any, Any]:
        """A field by body; None is ground."""
        bodies = [None, *self.tree.base_to_tip] if ground else self.tree.base_to_tip
        return {B: self.load(B, field) for B in bodies}

    @property
    def status(self) -> SX:
        return BodyFields(self, None).status


_KINEMATICS = {"R": "R_GM", "p": "p_GM", "V": "V_GM", "r": "p_PM", "H": "H"}
"""Fields that Kinematics holds."""


def _zero(field: RowField[Any]) -> Any:
    if isinstance(field.like, tuple):
        return tuple(ca.SX(*part.shape) for part in field.like)
    return ca.SX(0) if field.like is NUMBER else ca.SX(*field.like.shape)


class StraightRow:
    """A body of a straight line."""

    def __init__(self, line: StraightTree, B: int) -> None:
        self.line, self.B = line, B
        self.me, self.parent, self.root = (BodyFields(line, x) for x in (B, line.tree.parent(B), None))

    @property
    def body(self) -> BodyConstants:
        return self.line.kin.placed[self.B]

    @property
    def u(self) -> slice:
        """Its speeds."""
        return self.line.tree.bodies[self.B].u

    @property
    def number(self) -> SX:
        return ca.SX(self.u.start + 1)

    def kinematics(self) -> BodyKinematics:
        kin, B = self.line.kin, self.B
        return BodyKinematics(
            kin.R_GM[B],
            kin.p_GM[B],
            kin.p_PM[B],
            kin.X_GF[B],
            kin.H[B],
            kin.V_FM.get(B),
            kin.V_GM.get(B),
            kin.c.get(B),
        )
