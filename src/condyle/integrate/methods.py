"""Explicit Runge-Kutta methods as data. The loop that runs them exists once, in loop.py.

Each has an error estimate of its own order: `estimate` is the power of h with which the estimate of a step shrinks, so that
a step grows as error^(-1/estimate). Where that is the order of the method, the global error follows the accuracy asked for
in proportion: halving one halves the other (sherman2011 section 3.3).
"""
from __future__ import annotations

from dataclasses import dataclass

from condyle.native.solve import DORMAND_PRINCE, MERSON, RK4, Tableau


@dataclass(frozen=True)
class Method:
    """A Runge-Kutta method.

    Args:
        tableau: its coefficients.
        estimate: order of the error estimate in one step; 0 if it has none, and then steps are fixed.
        middle: weights of the state half-way through a step, for dense output of order 4; cubic Hermite without.
    """

    tableau: Tableau
    estimate: int = 0
    middle: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        return self.tableau.name

    @property
    def order(self) -> int:
        return self.tableau.order


EULER = Method(Tableau("euler", 1, ((),), (1.0,)))
RK2 = Method(Tableau("rk2", 2, ((), (1.0,)), (1/2, 1/2), (1/2, -1/2)), estimate=2)
RK3 = Method(Tableau("rk3", 3, ((), (1/2,), (0.0, 3/4)), (2/9, 1/3, 4/9), (5/72, -1/12, -1/9, 1/8)), estimate=3)
FEHLBERG = Method(Tableau(
    "fehlberg", 4,
    ((), (1/4,), (3/32, 9/32), (1932/2197, -7200/2197, 7296/2197), (439/216, -8.0, 3680/513, -845/4104),
     (-8/27, 2.0, -3544/2565, 1859/4104, -11/40)),
    (25/216, 0.0, 1408/2565, 2197/4104, -1/5, 0.0), (1/360, 0.0, -128/4275, -2197/75240, 1/50, 2/55)), estimate=5)
METHODS = {m.name: m for m in (
    EULER, RK2, RK3, Method(RK4), Method(MERSON, estimate=4), FEHLBERG,
    Method(DORMAND_PRINCE, estimate=5, middle=(
        6025192743/60171106304, 0.0, 51252292925/130801643196, -2691868925/90256659456, 187940372067/3189068634112,
        -1776094331/39487288512, 11237099/470086768)))}
