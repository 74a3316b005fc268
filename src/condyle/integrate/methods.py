"""Methods as data. The loop that runs them exists once, in loop.py; what differs in one step is in steps.py.

`estimate` is the power of h with which the error estimate of a step shrinks, so that a step grows as error^(-1/estimate). Where
that is the order of the method, the global error follows the accuracy asked for in proportion (sherman2011 section 3.3).

Between steps, with x from 0 to 1 and Delta = y+ - y, every method gives

    y(x) = y + x (F0 + (1 - x) (F1 + x (F2 + (1 - x) (F3 + ...)))),    F0 = Delta                                        (1)

F1 = h f - Delta and F2 = 2 Delta - h (f + f+) make Hermite's cubic, of order 3; `dense` has the weights of what follows.

Where f = max(0, x - k) has a kink at k, error and estimate of a step are

    |(1 - k)^2 / 2 - sum_i b_i max(0, c_i - k)|,   |sum_i e_i max(0, c_i - k)|                                           (2)

in units of h^2 and of the jump of f's slope. The largest error over the largest estimate is `blind`: 1.9 for Merson's method, 12
for Dormand and Prince's of order 5, whose two solutions see much the same of a kink, 3.3 for that of order 8.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from condyle.integrate import dormand_prince_8 as dp8
from condyle.native.programs.solve import DORMAND_PRINCE, MERSON, RK4, Tableau

Weights = tuple[float, ...]


@dataclass(frozen=True)
class Method:
    """One method.

    Args:
        name, order: the order is measured in the tests.
        estimate: order of the error estimate in one step; 0 if it has none, and then steps are fixed.
        dense: weights of F3, F4, ... of (1), each a row over the stages (times h).
    """

    name: str
    order: int
    estimate: int = 0
    dense: tuple[Weights, ...] = ()

    @property
    def blind(self) -> float:
        """How many times larger than the estimate an error is where f has a kink, at least 1: by (2)."""
        return 1.0


@dataclass(frozen=True)
class Explicit(Method):
    """An explicit Runge-Kutta method.

    Args:
        tableau: its coefficients.
        second: weights of a second estimate E3 beside E; then |E|^2 / sqrt(|E|^2 + 0.01 |E3|^2) is the error.
        more: rows of stages that only the dense output needs; the stage before them is f at the new point.
    """

    tableau: Tableau = RK4
    second: Weights = ()
    more: tuple[Weights, ...] = ()

    @property
    def blind(self) -> float:
        b, e = np.array(self.tableau.b), np.array(self.tableau.e)
        if not e.size:
            return 1.0
        c = np.append([sum(row) for row in self.tableau.A], 1.0)
        kinks = np.arange(1, 200) / 200
        ramps = np.maximum(c - kinks[:, None], 0.0)
        estimate = np.abs(ramps[:, :e.size] @ e)
        if self.second:
            other = ramps[:, :len(self.second)] @ np.array(self.second)
            estimate = estimate ** 2 / np.sqrt(estimate ** 2 + 0.01 * other ** 2)
        error = np.abs((1 - kinks) ** 2 / 2 - ramps[:, :b.size] @ b)
        return max(1.0, float(error.max() / estimate.max()))

    @staticmethod
    def of(tableau: Tableau, estimate: int = 0, **more: Any) -> Explicit:
        return Explicit(tableau.name, tableau.order, estimate, tableau=tableau, **more)


@dataclass(frozen=True)
class Rosenbrock(Method):
    """A linearly implicit method: s linear systems with one matrix a step, and no iteration.

        (I / (gamma h) - J) U_i = f(t + c_i h, y + sum_j A_ij U_j) + sum_j C_ij U_j / h + d_i h df/dt
        y+ = y + sum_i b_i U_i,   error = sum_i e_i U_i

    Args:
        gamma, c, d, A, C, b, e: as above.
        own: F1, F2 of (1) as weights of U_i, instead of Hermite's: f is no use where it is stiff.
    """

    gamma: float = 1.0
    c: Weights = ()
    d: Weights = ()
    A: tuple[Weights, ...] = ()
    C: tuple[Weights, ...] = ()
    b: Weights = ()
    e: Weights = ()
    own: tuple[Weights, ...] = ()


def _row(entries: Mapping[int, float], n: int) -> Weights:
    return tuple(entries.get(j, 0.0) for j in range(n))


EULER = Explicit.of(Tableau("euler", 1, ((),), (1.0,)))
RK2 = Explicit.of(Tableau("rk2", 2, ((), (1.0,)), (1/2, 1/2), (1/2, -1/2)), 2)
RK3 = Explicit.of(Tableau("rk3", 3, ((), (1/2,), (0.0, 3/4)), (2/9, 1/3, 4/9), (5/72, -1/12, -1/9, 1/8)), 3)
FEHLBERG = Explicit.of(Tableau(
    "fehlberg", 4,
    ((), (1/4,), (3/32, 9/32), (1932/2197, -7200/2197, 7296/2197), (439/216, -8.0, 3680/513, -845/4104),
     (-8/27, 2.0, -3544/2565, 1859/4104, -11/40)),
    (25/216, 0.0, 1408/2565, 2197/4104, -1/5, 0.0), (1/360, 0.0, -128/4275, -2197/75240, 1/50, 2/55)), 5)

_MIDDLE = (6025192743/60171106304, 0.0, 51252292925/130801643196, -2691868925/90256659456, 187940372067/3189068634112,
           -1776094331/39487288512, 11237099/470086768)         # y half-way = y + h sum m_i k_i, of order 4
_B5 = (*DORMAND_PRINCE.b, 0.0)
DP5 = Explicit.of(DORMAND_PRINCE, 5, dense=(                    # F3 = 16 (half-way - Hermite's)
    tuple(16 * m - 8 * b + (-2 if i == 0 else 2 if i == 6 else 0) for i, (m, b) in enumerate(zip(_MIDDLE, _B5, strict=True))),))
DP8 = Explicit.of(
    Tableau("dormand-prince-8", 8, tuple(_row(a, i) for i, a in enumerate(dp8.A)), _row(dp8.B, 12), _row(dp8.E5, 12)), 8,
    second=_row(dp8.E3, 12), more=tuple(_row(a, 13 + i) for i, a in enumerate(dp8.MORE)),
    dense=tuple(_row(d, 16) for d in dp8.DENSE))

SEMI_EXPLICIT_EULER = Method("semi-explicit-euler", 1)
VERLET = Method("verlet", 2, 2)

RODAS = Rosenbrock(             # Hairer, Wanner: Solving Ordinary Differential Equations II, section IV.7; as in their RODAS
    "rodas", 4, 4, gamma=0.25, c=(0.0, 0.386, 0.21, 0.63, 1.0, 1.0), d=(0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0),
    A=((), (1.544,), (0.9466785280815826, 0.2557011698983284), (3.314825187068521, 2.896124015972201, 0.9986419139977817),
       (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
       (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0)),
    C=((), (-5.6688,), (-2.430093356833875, -0.2063599157091915),
       (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
       (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
       (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054)),
    b=(1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0, 1.0), e=(0, 0, 0, 0, 0, 1.0),
    own=((10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662),
         (-0.6762803392806898, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872)))

METHODS: dict[str, Method] = {m.name: m for m in (
    EULER, SEMI_EXPLICIT_EULER, VERLET, RK2, RK3, Explicit.of(RK4), Explicit.of(MERSON, 4), FEHLBERG, DP5, DP8, RODAS)}
