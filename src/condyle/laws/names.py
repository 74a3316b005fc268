"""Names of bodies, coordinates and speeds, looked up; errors say which law asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError, UnknownNameError
from condyle.tree.body import Body
from condyle.tree.tree import Tree


def state_named(states: Mapping[str, ca.SX], law: str, which: str, where: str) -> ca.SX:
    """An auxiliary state from all of them: one of the law's own, or one by its full name."""
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
    """A body by its name; the error says which law asks."""
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
