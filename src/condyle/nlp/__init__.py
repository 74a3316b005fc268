"""Nonlinear programs: minimize f(x) with low <= c(x) <= high and bounds on x, and solvers for them.

A program is any object with the methods of `NonlinearProgram`; a solver is a function like
`condyle.nlp.ipopt.solve`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, NamedTuple, Protocol

from condyle.arrays import Array
from condyle.records import dataclass


class NonlinearProgram(Protocol):
    """Interface of a program for solvers: sizes, sparsity of the derivatives, and values at x."""

    n: int
    m: int
    jacobian_rows: Any
    jacobian_columns: Any
    hessian_rows: Any
    hessian_columns: Any

    def objective(self, x: Array) -> float: ...
    def gradient(self, x: Array) -> Array: ...
    def constraints(self, x: Array) -> Array: ...
    def jacobian(self, x: Array) -> Array: ...
    def hessian(self, x: Array, sigma: float, lambda_: Array) -> Array:
        """Entries of the lower half of the Hessian of sigma f + lambda.c."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """low <= c <= high and x_low <= x <= x_high; infinite without a bound."""

    x_low: Array
    x_high: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Iteration:
    """One step of a solver.

    Attributes:
        number: 0 for the start.
        objective: f.
        violation: largest violation of a constraint, scaled as the program is.
        optimality: largest residual of the conditions of optimality (KKT).
        seconds: of processor time since the start.
        mu: the barrier's parameter.
    """

    number: int
    objective: float
    violation: float
    optimality: float
    seconds: float
    mu: float


@dataclass(frozen=True, eq=False)
class NonlinearSolution:
    """Result of a solver.

    Attributes:
        x: unknowns, shape (n,).
        objective: f there.
        constraints: c there, shape (m,).
        lambda_: multipliers of the constraints, shape (m,).
        lower: multipliers of the lower bounds, shape (n,).
        upper: multipliers of the upper bounds, shape (n,).
        status: "solved", "acceptable", "infeasible", "iterations", "stopped", "not finite", "failed" or
            "overdetermined".
        said: the solver's own status text.
        iterations: number of iterations. history: all of them.
        seconds: of processor time, and of it in callbacks, by their names.
    """

    x: Array
    objective: float
    constraints: Array
    lambda_: Array
    lower: Array
    upper: Array
    status: str
    said: str
    iterations: int
    history: list[Iteration] = field(repr=False)
    seconds: float
    in_callbacks: dict[str, float]


class Iterate(NamedTuple):
    """Unknowns and multipliers at an iteration; see `NonlinearSolution`."""

    x: Array
    lambda_: Array
    lower: Array
    upper: Array


Watch = Callable[[Iteration, Callable[[], Iterate]], bool]
"""Called at each iteration with a function that gives the iterate; False stops the solver."""
