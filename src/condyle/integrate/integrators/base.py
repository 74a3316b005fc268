"""Base class of integration methods: properties that the loop needs, and the nodes of one step.

A family of methods is one class in one file: `step` emits the nodes of a step, from t, y, k0 = f(t, y) and
h_try to y_next and its error. The loop that runs them exists once, in step_loop.py, and needs only what is
here.

`estimate` is the power of h with which the error estimate of a step shrinks, so that a step grows as
error^(-1/estimate). Where that is the order of the method, the global error follows the requested accuracy in
proportion (sherman2011 section 3.3).

Between steps, with x from 0 to 1 and Delta = y+ - y, every method gives

    y(x) = y + x (F0 + (1 - x) (F1 + x (F2 + (1 - x) (F3 + ...)))),    F0 = Delta                          (1)

F1 = h f - Delta and F2 = 2 Delta - h (f + f+) give Hermite's cubic, of order 3; a method may provide further
terms, or its own F1, F2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX
from condyle.laws.described import class_code
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.integrate.equations import EquationsOfMotion, RightHandSide
    from condyle.integrate.projection import Rate
    from condyle.native.programs.nodes import Node

Weights = tuple[float, ...]


@dataclass
class MethodStep:
    """The nodes of one step. They read and write slices of step_loop.py.

    Args:
        attempt: writes y_next and the slices `Method.errors`, in the units of y.
        evaluations: of f in an attempt; iterations count themselves.
        accepted: runs after the attempt, if the step is accepted.
        accepted_evaluations: of f in `accepted`.
        new_rate: the slice with f at the new point, if the step leaves it there.
        dense: how many vectors beside y and f `accepted` writes to the slice "dense", for the output between
            steps.
        start: runs after the first f where a run begins or continues from another state.
        project: nodes that take the slice y at a time t to the constraints; the loop sets it.
    """

    attempt: list[Node]
    evaluations: int
    accepted: list[Node] = field(default_factory=list)
    accepted_evaluations: int = 0
    new_rate: str = ""
    dense: int = 0
    start: list[Node] = field(default_factory=list)
    project: Callable[[str, str], list[Node]] = lambda t, y: []


@dataclass(frozen=True)
class Method(ExplainsCalls, ABC):
    """A method of integration: `cd.simulate(..., integrator=method)`, or its name if it is one of METHODS.

    Args:
        name: for messages.
        order: of a step's end; measured in the tests.
        estimate: order of the error estimate of one step; 0 without one: then steps are fixed.

    Attributes:
        stiff: whether it takes long steps for stiff systems.
        needs_jacobian: whether its steps need df/dy.
        needs_time_derivative: whether they also need df/dt.
        varies: whether it chooses its order, the slice `order`, and the length of steps, by nodes that follow
            an accepted step.
        hermite: whether output between steps starts from Hermite's cubic (1); if not, the step gives all
            vectors from F1 on.
        unknown: why runs have no accelerations, if they have none.
    """

    unknown: ClassVar[str] = ""
    stiff: ClassVar[bool] = False
    needs_jacobian: ClassVar[bool] = False
    needs_time_derivative: ClassVar[bool] = False
    hermite: ClassVar[bool] = True
    varies: ClassVar[bool] = False

    name: str
    order: int
    estimate: int = 0

    @property
    def adaptive(self) -> bool:
        """Whether it can choose its steps."""
        return self.estimate > 0

    @property
    def errors(self) -> tuple[str, ...]:
        """Slices that an attempt writes its error estimates to: none, "error", or also "other", a second
        estimate."""
        return ("error",) if self.estimate else ()

    @property
    def blind(self) -> float:
        """Largest ratio of the error to its estimate where f has a kink, at least 1."""
        return 1.0

    @abstractmethod
    def step(
        self, eq: EquationsOfMotion, rate: Rate, rhs: RightHandSide, sizes: dict[str, int]
    ) -> MethodStep:
        """The nodes of a step; `sizes` gains the slices that they need.

        Args:
            eq: the equations of motion; eq.n is the size of y.
            rate: rate(t, y, k) sets the slice k to f(t, y), for stages: near a loss of rank on the
                constraints.
            rhs: rhs(t, y, k) is plain f; rhs.matrix its Jacobian.
            sizes: of the slices.
        """

    @cached_property
    def text(self) -> str:
        """Text that determines its steps, for the cache of machine code."""
        return f"{self!r}{class_code(type(self))}"


def combined(weights: Sequence[float], k: Sequence[SX]) -> SX:
    """sum_i w_i k_i, where w_i is not zero."""
    return sum((w * x for w, x in zip(weights, k, strict=False) if w != 0), ca.SX(0))


def table(text: str) -> tuple[Weights, ...]:
    """Rows of published coefficients, one on a line."""
    return tuple(tuple(float(x) for x in row.split()) for row in text.strip().splitlines())
