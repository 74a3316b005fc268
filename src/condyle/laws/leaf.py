"""Leaf: a quantity that laws ask of a state. One class per quantity; it is all that anybody knows of it.

A leaf x says

    value    x                                                                               (1)
    rate     xdot; of a velocity, its value at udot = 0                                      (2)
    bias     xddot at udot = 0; of a velocity, nothing                                       (3)
    load     where a force g on the leaf goes, with the power g . xdot                       (4)

Forces and potentials need (1) and (4), constraints, goals and events what of these they ask for. All values
are CasADi SX and differentiable. A new quantity is one subclass, which any law may ask for by `s.ask(leaf)`;
one that is a function of other leaves is a `Composed` leaf and has (2) to (4) for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from condyle.laws.names import known_body
from condyle.laws.view import Loads, MovingView, View
from condyle.native.tables.lookup import Closure, lookup_context
from condyle.records import dataclass
from condyle.trace.parameter import Parameter
from condyle.tree.tree import Tree

ROWS = "rows of "
"""Begins the names by which views know rows."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A quantity of the state.

    Attributes:
        size: how many scalars it has.
        level: "position", "velocity" or "acceleration", which it is of; "state" of z; "time" and "given" move
            nothing.
        bodies: names of the bodies that a force on it acts on as a wrench.
    """

    size: ClassVar[int] = 1
    level: ClassVar[str] = "position"

    @property
    def bodies(self) -> tuple[str, ...]:
        return ()

    @property
    def label(self) -> str:
        """How errors call it."""
        raise TypeError(f"{type(self).__name__} needs a label")

    @property
    def text(self) -> str:
        """Equal leaves have equal texts."""
        return self.label

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def labels(self) -> list[str]:
        """How errors call its scalars."""
        return [self.label] if self.size == 1 else [f"{self.label}[{i}]" for i in range(self.size)]

    def ranges(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        """Where a user's function of it is compared with plain floats."""
        return [(-1.0, 1.0)] * self.size

    def parameters(self) -> list[Parameter]:
        """Parameters and Inputs that it brings along."""
        return []

    def check(self, tree: Tree, where: str) -> None:
        """Raise a clear error if what it names does not exist."""
        for body in self.bodies:
            known_body(tree, body, where)

    def shaped(self, x: ca.SX) -> ca.SX:
        """Its scalars, a column, as laws take them."""
        return x

    def value(self, s: View) -> ca.SX:
        """(1), a column; of an acceleration its value at udot = 0."""
        raise TypeError(f"{type(self).__name__} needs a value")

    def at(self, s: View) -> ca.SX:
        """The value, made once per view: all laws that ask share it."""
        if self.text not in s.known:
            s.known[self.text] = self.value(s)
        return s.known[self.text]

    def rate(self, s: View) -> ca.SX:
        """(2), a column; of a velocity it needs a MovingView. Zero by default."""
        return ca.SX(self.size, 1)

    def bias(self, s: MovingView) -> ca.SX:
        """(3), a column. Zero by default."""
        return ca.SX(self.size, 1)

    def load(self, s: View, g: ca.SX, loads: Loads) -> None:
        """(4): add the force g, one column per case, shape (size, k). Nothing by default."""


class Composed(Leaf):
    """A leaf that is a function of other leaves of position level: x = f(y). Write `parts` and `of`.

        xdot = f_y ydot,    xddot = f_y yddot + (f_y ydot)_y ydot,    a force g on x is f_y' g on y        (5)

    Where f holds look-ups or solvers, their rows come from `rows` and are an argument of `of`: they are found
    once for (1) to
    (4), and derivatives take them as constants.
    """

    @property
    def parts(self) -> Sequence[Leaf]:
        """The leaves y."""
        raise TypeError(f"{type(self).__name__} needs parts")

    def rows(self, *y: ca.SX) -> ca.SX:
        """Rows of look-ups and solvers at the shaped values of the parts, a column. None by default."""
        return ca.SX(0, 1)

    def of(self, *y: ca.SX) -> ca.SX:
        """f, a column, of the shaped values of the parts, after the rows where there are some."""
        raise TypeError(f"{type(self).__name__} needs a function `of` its parts")

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(b for part in self.parts for b in part.bodies))

    @property
    def text(self) -> str:
        return f"{self.label} {[part.text for part in self.parts]}"

    def parameters(self) -> list[Parameter]:
        return [p for part in self.parts for p in part.parameters()]

    def check(self, tree: Tree, where: str) -> None:
        for part in self.parts:
            part.check(tree, where)

    @cached_property
    @lookup_context()
    def _functions(self) -> dict[str, Closure]:
        """y -> rows; rows, y -> x; rows, y, ydot -> xdot; rows, y, ydot, yddot -> xddot; rows, y -> f_y by
        part."""
        parts = self.parts
        y, ydot, yddot = (
            [ca.SX.sym(f"{n}{i}", p.size) for i, p in enumerate(parts)] for n in ("y", "dy", "ddy")
        )
        shaped = [p.shaped(v) for p, v in zip(parts, y, strict=True)]
        found = ca.densify(self.rows(*shaped))
        rows = ca.SX.sym("rows", found.numel())
        x = ca.densify(self.of(*([rows] if rows.numel() else []), *shaped))
        at, rate, bias = (ca.vertcat(*v) for v in (y, ydot, yddot))
        xdot = ca.jtimes(x, at, rate)
        given = [rows, *y]
        return {
            "rows": Closure("composed_rows", y, [found]),
            "value": Closure("composed", given, [x]),
            "rate": Closure("composed_rate", [*given, *ydot], [xdot]),
            "bias": Closure(
                "composed_bias", [*given, *ydot, *yddot], [ca.jtimes(x, at, bias) + ca.jtimes(xdot, at, rate)]
            ),
            "gradient": Closure("composed_gradient", given, [ca.densify(ca.jacobian(x, v)) for v in y]),
        }

    @cached_property
    def row_size(self) -> int:
        """How many numbers the rows have."""
        return int(self._functions["value"].function.numel_in(0))

    def take(self, s: View, rows: ca.SX) -> None:
        """Let a view know the rows, which were found before."""
        s.known[ROWS + self.text] = rows

    def found(self, s: View) -> ca.SX:
        """The rows, found once per view, shape (row_size,)."""
        name = ROWS + self.text
        if name not in s.known:
            s.known[name] = self._functions["rows"](*(part.at(s) for part in self.parts))[0]
        return s.known[name]

    def _given(self, s: View) -> list[ca.SX]:
        """The rows and the parts."""
        return [self.found(s), *(part.at(s) for part in self.parts)]

    def gradient(self, s: View) -> list[tuple[Leaf, ca.SX]]:
        """Its parts, each with f_y, shape (size, size of the part)."""
        return list(zip(self.parts, self._functions["gradient"](*self._given(s)), strict=True))

    def value(self, s: View) -> ca.SX:
        return self._functions["value"](*self._given(s))[0]

    def rate(self, s: View) -> ca.SX:
        return self._functions["rate"](*self._given(s), *(part.rate(s) for part in self.parts))[0]

    def bias(self, s: MovingView) -> ca.SX:
        rates, biases = [part.rate(s) for part in self.parts], [part.bias(s) for part in self.parts]
        return self._functions["bias"](*self._given(s), *rates, *biases)[0]

    def load(self, s: View, g: ca.SX, loads: Loads) -> None:
        for part, J in self.gradient(s):
            part.load(s, J.T @ g, loads)
