"""Curves of muscles: forces and lengths without units, one small class per curve, named by its paper.

x is a length over the optimal fiber length or the tendon's slack length, or a velocity over the greatest
speed of shortening; y is a force over the greatest isometric force. `value`, `derivative`, `inverse` and
`integral` map numbers of any shape to numbers, and SX to SX.

A curve that rises and has no inverse in closed form is parameterized as (x(c), y(c)). The balance of
a fiber with its tendon

    g y + beta x = f,    g, beta >= 0                                                     docs/theory (8)

is solved for c by Halley's method in a bracket: this is the inverse at g = 1, beta = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, Unpack

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.laws.described import Described, quantity
from condyle.laws.function import picklable
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import Closure, look_up, lookup_context, stop_gradient
from condyle.records import dataclass
from condyle.trace import Number, Symbol, Traced, trace
from condyle.trace.parameter import Parameter
from condyle.trace.symbol import Operand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from condyle.table.plots import PlotOptions

Kind = TypeVar("Kind", bound=Operand)
"""Numbers, arrays, Symbols or expressions; the result is of the same kind."""
Positive = Annotated[Number, quantity("-", lowest=0.0, positive=True)]
Seconds = Annotated[Number, quantity("s", lowest=0.0, positive=True)]
TOL, LAST, LIMIT = 1e-10, 1e-5, 80
"""Tolerance of a step of c; of one of Halley's, which leaves an error of its cube; and most steps: bisection
alone takes 35.
"""
SHORTER = 1 / 30
"""Ratio to the previous step, below which Halley's steps end at LAST. At a double root each is half as long
as the one before.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Described):
    """A function of one number. Subclasses define `formula`, and `inverse_formula` and `integral_formula`
    where they have closed forms.
    """

    @property
    def between(self) -> tuple[float, float] | None:
        """Bounds of c where the curve rises; it is straight beyond."""
        return None

    def formula(self, x: SX) -> SX:
        """The curve at x."""
        raise TypeError(f"{type(self).__name__} needs a formula")

    def inverse_formula(self, y: SX) -> SX:
        """x at which the curve is y; by Halley's method where there is no closed form."""
        return self.balance(ca.SX(1), ca.SX(0), y)[0]

    def integral_formula(self, x: SX) -> SX:
        """The area below the curve up to x, with any constant."""
        raise DescriptionError(f"{type(self).__name__} has no integral")

    def value(self, x: Kind) -> Kind:
        """The curve at x."""
        return self._at("value", x)

    def derivative(self, x: Kind) -> Kind:
        """Its slope at x."""
        return self._at("derivative", x)

    def inverse(self, y: Kind) -> Kind:
        """x at which the curve is y."""
        return self._at("inverse", y)

    def integral(self, x: Kind) -> Kind:
        """The area below the curve up to x, with any constant."""
        return self._at("integral", x)

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Values of the curve, of the same shape."""
        return self._at("value", np.asarray(x, dtype=float))

    def plot(self, between: tuple[float, float], **options: Unpack[PlotOptions]) -> Axes:
        """Draw the curve.

        Args:
            between: the first and the last x.
            options: axes, width and path, as for `Table.plot`.
        """
        from condyle.table.plots import on

        x = np.linspace(*between, 400)
        with on(**options) as axes:
            axes.plot(x, self(x))
            axes.set(ylabel=type(self).__name__)
        return axes

    def _at(self, what: str, x: Any) -> Any:
        formula = {
            "value": self.formula,
            "derivative": self._slope,
            "inverse": self.inverse_formula,
            "integral": self.integral_formula,
        }[what]
        if isinstance(x, ca.SX):
            return formula(x)
        if what not in self._closures:
            y = ca.SX.sym("x")
            with lookup_context():
                self._closures[what] = Closure(what, [y], [ca.SX(formula(y))])
        closure, x = self._closures[what], np.asarray(x, dtype=float)
        return np.array([closure.at(v)[0].item() for v in x.ravel()]).reshape(x.shape)

    def _slope(self, x: SX) -> SX:
        y = ca.SX.sym("x")
        return Closure("slope", [y], [ca.jacobian(ca.SX(self.formula(y)), y)])(x)[0]

    @cached_property
    def _closures(self) -> dict[str, Closure]:
        return {}

    # ---- balance -------------------------------------------------------------------------------------------

    def along(self, c: SX, own: SX) -> tuple[SX, SX]:
        """x and y at c, with the numbers from `near`. Without look-ups."""
        return c, self.formula(c)

    def left(self, p: SX, c: SX, own: SX) -> SX:
        """The residual of (8) at c, with the numbers from `near`, for p = (g, beta, f)."""
        (g, beta, f), (x, y) = ca.vertsplit(p), self.along(c, own)
        return g * y + beta * x - f

    def ends(self) -> Sequence[tuple[float, float]]:
        """x and y at the bounds of c."""
        return [(x, float(self.value(x))) for x in self.between or ()]

    def near(self, g: SX, beta: SX, f: SX) -> tuple[SX, SX]:
        """A first guess and bounds for the c of (8), (3,); and numbers for `along`."""
        first, last = self.between or (0.0, 0.0)
        return ca.SX([(first + last) / 2, first, last]), ca.SX(0, 1)

    def balance(self, g: SX, beta: SX, f: SX) -> tuple[SX, SX]:
        """x and y of (8), with first and second derivatives."""
        x, y, slope, bend, _ = ca.vertsplit(look_up(self._balance, ca.vertcat(g, beta, f)))
        J, d = g * slope + beta, ca.SX(0)
        for _ in range(2):  # native/solvers/implicit_function.py (1): values are unchanged
            r = g * (y + slope * d + bend * d * d / 2) + beta * (x + d) - f
            d = d - (r - stop_gradient(r)) / J
        d = ca.if_else(J > 0, d, 0)
        return x + d, y + slope * d + bend * d * d / 2

    @cached_property
    def _balance(self) -> Solver:
        """(g, beta, f) -> x, y, dy/dx, d2y/dx2 of (8)."""
        if self.between is None:
            raise DescriptionError(f"{type(self).__name__} has no inverse: it does not rise everywhere")
        first, last = self.between
        c, numbers = ca.SX.sym("c"), self.near(*ca.vertsplit(ca.SX.sym("p", 3)))[1].numel()
        own = ca.SX.sym("own", numbers)
        x, y = self.along(c, own)
        dx, dy = ca.jacobian(x, c), ca.jacobian(y, c)
        at = ca.Function("along", [c, own], [x, y, dx, dy, ca.jacobian(dx, c), ca.jacobian(dy, c)])
        ends = self.ends()

        p = ca.SX.sym("p", 3)
        r = self.left(p, c, own)
        dr = ca.jacobian(r, c)
        residual = ca.Function("left", [p, c, own], [r, dr, ca.jacobian(dr, c)])

        def beyond(p: SX) -> tuple[SX, SX]:
            """Whether the root is before the first or after the last point."""
            g, beta, f = ca.vertsplit(p)
            low, high = (g * y + beta * x - f for x, y in ends)
            return low >= 0, high <= 0

        def start(p: SX) -> tuple[SX, SX]:
            below, above = beyond(p)
            (guess, a, b), own = (ca.vertsplit(x) for x in self.near(*ca.vertsplit(p)))
            c = ca.if_else(below, first, ca.if_else(above, last, guess))
            finite = ca.fabs(ca.sum1(p)) < np.inf
            busy = ca.if_else(finite, ca.logic_not(ca.logic_or(below, above)), np.nan)
            return ca.vertcat(c, a, b, b - a, *own), busy

        def step(p: SX, state: SX) -> tuple[SX, SX]:
            c, a, b, before, *own = ca.vertsplit(state)
            r, J, bend = residual.call([p, c, ca.vertcat(ca.SX(0, 1), *own)], True, False)
            a, b = ca.if_else(r <= 0, c, a), ca.if_else(r <= 0, b, c)
            halley = c - r * J / (J * J - r * bend / 2)
            # where two sections meet, its steps may alternate
            quick = ca.logic_and(ca.logic_and(halley >= a, halley <= b), ca.fabs(halley - c) <= before / 2)
            after = ca.if_else(r == 0, c, ca.if_else(quick, halley, (a + b) / 2))
            size = ca.fabs(after - c)
            found = ca.logic_and(quick, size <= SHORTER * before)
            return ca.vertcat(after, a, b, size, *own), size > ca.if_else(found, LAST, TOL)

        def finish(p: SX, state: SX) -> SX:
            g, beta, f = ca.vertsplit(p)
            below, above = beyond(p)
            x, y, dx, dy, ddx, ddy = at.call([state[0], state[4:]], True, False)
            slope, bend = dy / dx, (ddy * dx - dy * ddx) / dx**3
            # beyond the ends: g (y_e + d (x - x_e)) + beta x = f
            J = g * slope + beta
            x_e = ca.if_else(J > 0, (f - g * (y - slope * x)) / J, x)
            out = ca.logic_or(below, above)
            return ca.vertcat(
                ca.if_else(out, x_e, x),
                ca.if_else(out, y + slope * (x_e - x), y),
                slope,
                ca.if_else(out, 0, bend),
            )

        return Solver.trace("fiber_balance", 3, start, step, finish, LIMIT)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k not in ("_closures", "_balance")}


@dataclass(frozen=True, eq=False, repr=False)
class PythonCurve(Curve):
    """A user's curve: a Python function of one number, or one of `cd.functions`.

    Args:
        function: f(x) -> number.
        between: bounds of x between which it rises; beyond them it is straight. Required for an inverse,
            which a force-velocity curve needs with an elastic tendon.
    """

    function: Callable[[Symbol], object] | None
    between: tuple[float, float] | None = None  # type: ignore[misc]
    law: Traced = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        name = getattr(self.function, "__name__", type(self.function).__name__)
        if not callable(self.function):
            raise DescriptionError(
                f"a muscle's curve is a function of one number or a Curve, got {self.function!r}"
            )
        low, high = self.between or (0.5, 1.5)
        law = trace(self.function, ["x"], what=f"curve {name}", ranges=[(low, high)])
        if law.shape != ():
            raise DescriptionError(
                f"curve {name}: returned an array of shape {law.shape}; expected one number"
            )
        object.__setattr__(self, "law", law)
        if self.between is not None:
            object.__setattr__(self, "between", (float(low), float(high)))
            y = np.diff(self(np.linspace(low, high, 101)))
            if not low < high or not (y > 0).all():
                raise DescriptionError(
                    f"curve {name}: must rise between {low:g} and {high:g}: with an "
                    "elastic tendon its inverse is needed"
                )

    def formula(self, x: SX) -> SX:
        if self.between is None:
            return self.law.apply(x)
        low, high = self.between
        inside = ca.fmin(ca.fmax(x, low), high)
        return (
            self.law.apply(inside)
            + self._ends[0] * ca.fmin(x - low, 0)
            + self._ends[1] * ca.fmax(x - high, 0)
        )

    @cached_property
    def _ends(self) -> tuple[SX, SX]:
        """Slopes at the bounds."""
        x = ca.SX.sym("x")
        slope = Closure("slope", [x], [ca.jacobian(self.law.apply(x), x)])
        low, high = self.between or (0.0, 0.0)
        return slope(ca.SX(low))[0], slope(ca.SX(high))[0]

    def parameters(self) -> list[Parameter]:
        return list(self.law.outside)  # type: ignore[arg-type]

    def description(self) -> str:
        return f"PythonCurve({self.law.text}, {self.between})"

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"function": picklable(self.function)}


CurveLike: TypeAlias = Curve | Callable[..., object]
"""A curve of a muscle: a Curve, one of cd.functions, or a Python function of one number."""


def curve(given: CurveLike | None, between: tuple[float, float] | None = None) -> Curve:
    """A Curve unchanged, a function as a PythonCurve."""
    if isinstance(given, Symbol):
        raise DescriptionError(f"a muscle's curve is a function of one number or a Curve, got {given!r}")
    return given if isinstance(given, Curve) else PythonCurve(given, between)
