"""Backward differences of variable order 1 to 5, for stiff systems: sherman2011 section 3.2.

Shampine, Reichelt: The MATLAB ODE suite, SIAM J. Sci. Comput. 18 (1997), section 2. With the backward
differences D_j of y at spacing h, gamma_k = sum_i=1..k 1/i, kappa_k of the method and order k

    y_p = sum_j=0..k D_j,   alpha_k = (1 - kappa_k) gamma_k,   psi = sum_j=1..k gamma_j D_j / alpha_k      (1)
    d = h / alpha_k f(t+, y_p + d) - psi,   y+ = y_p + d                                                   (2)
    error = (kappa_k gamma_k + 1 / (k + 1)) d                                                              (3)

Newton's iteration solves (2) by (alpha_k / h - J) dy = f - alpha_k / h (psi + d), from d = 0; the Jacobian J is
kept for as long as that converges. The end of a step is projected onto the constraints before differences are
formed: coordinate projection, as CPODES does. After k + 1 steps of one length the next order is that of k -
1, k, k + 1 which allows the longest step. Differences at another spacing r h are those of the same
polynomial:

    D' = (R(r) R(1))' D,   R_ij(r) = prod_m=1..i (m - 1 - r j) / m                                         (4)

Between steps it is the polynomial of the differences, s = (t - t+) / h:

    y(s) = D_0 + sum_j=1..k D_j prod_m=0..j-1 (s + m) / (m + 1)                                            (5)

The implementation is our own, not SUNDIALS' (CVODES comes with CasADi): steps run inside the native step
loop, with its projection, events, ensembles and cache. CVODES would call back for every f and cannot project.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.integrate.integrators.base import Method, MethodStep, Weights
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.integrate.equations import EquationsOfMotion, RightHandSide
    from condyle.integrate.projection import Rate
    from condyle.native.programs.nodes import Node

HIGHEST = 5
ITERATIONS = 4
"""Largest number of iterations of Newton's method."""
CONVERGED = 0.03
"""Fraction of a step's error that Newton's method may leave."""
AGE = 40
"""Number of steps after which J is always evaluated again."""
SAME = 1e-8
"""Steps whose lengths differ relatively by less count as equal: t + h rounds."""
WORTH = 1.2
"""A step grows at least by this factor, because another length costs a factorization."""
_GAMMA = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, HIGHEST + 2))])


@dataclass(frozen=True, kw_only=True)
class BDF(Method):
    """Backward differentiation of variable order, for stiff systems over long times; one Jacobian serves many
    steps: `cd.simulate(..., integrator="bdf")`, or cd.integrators.BDF(order=2), which is stable for all
    oscillations.

    Args:
        name: for messages.
        order: the highest, 1 to 5.
        kappa: of (1) for orders 1 to 5; zeros give Gear's backward differentiation; these values give longer
            steps at the same error.

    Raises:
        DescriptionError: an order that is not 1 to 5, or not 5 kappas.
    """

    stiff: ClassVar[bool] = True
    needs_jacobian: ClassVar[bool] = True
    hermite: ClassVar[bool] = False
    varies: ClassVar[bool] = True

    name: str = "bdf"
    order: int = HIGHEST
    estimate: int = HIGHEST
    kappa: Weights = (-0.185, -1 / 9, -0.0823, -0.0415, 0.0)

    def __post_init__(self) -> None:
        if not isinstance(self.order, int) or not 1 <= self.order <= HIGHEST:
            raise DescriptionError(
                f"BDF: order = {self.order!r}; the highest order is a whole number from 1 to 5"
            )
        if len(self.kappa) != HIGHEST:
            raise DescriptionError(f"BDF: kappa: expected 5 numbers, for orders 1 to 5, got {self.kappa!r}")

    def step(
        self, eq: EquationsOfMotion, rate: Rate, rhs: RightHandSide, sizes: dict[str, int]
    ) -> MethodStep:
        from condyle.integrate import newton as equations
        from condyle.native.programs.nodes import Call, If, Ints, While, elementwise, kernel, summed

        n, leading, k = eq.n, max(eq.n, 1), np.arange(HIGHEST + 1)
        kappa = np.array([0.0, *self.kappa])
        alpha, error = (1 - kappa) * _GAMMA[:-1], kappa * _GAMMA[:-1] + 1 / (k + 1)  # (1), (3)
        alpha[0] = 1.0
        sizes |= dict.fromkeys(
            [
                "order",
                "spacing",
                "equal",
                "c",
                "c_factored",
                "stale",
                "current",
                "age",
                "trying",
                "iterating",
                "round",
                "rate",
                "size_dy",
                "loose",
                "info",
                "jacobians",
                "infinite",
                "rescaled",
                "less",
                "more",
                "choosing",
            ],
            1,
        )
        sizes |= dict.fromkeys(("y_p", "psi", "d", "dy", "k_stage", "f_t", "one_by_c"), n)
        sizes |= {"D": 8 * n, "mix": 36, "weights_psi": 6}
        tree = equations.newton(eq, rhs, sizes)
        if tree is None:
            sizes |= {"J": n * n, "W": n * n, "pivots": leading}

        def scalar(fn: object, ins: str, outs: str, name: str) -> Node:
            return kernel(fn, ins, outs, sizes, name)  # type: ignore[arg-type]

        start: list[Node] = [
            scalar(
                lambda h, way: (ca.SX(1), way * h, ca.SX(0), ca.SX(0), ca.SX(1), ca.SX(np.inf), ca.SX(0)),
                "h way",
                "order spacing equal c_factored stale infinite age",
                "begin",
            ),
            elementwise(
                lambda y, f, h: ca.vertcat(y, h * f, ca.SX.zeros(6)), "y k0 spacing", "D", sizes, n, "begin_D"
            ),
        ]
        rescale: list[Node] = [
            scalar(
                lambda h, spacing: ca.logic_not(ca.fabs(h / spacing - 1) <= SAME),
                "h_try spacing",
                "rescaled",
                "other",
            ),
            If(
                "rescaled",
                [
                    scalar(
                        lambda h, spacing, order: (_mix(h / spacing, order), h, ca.SX(0)),
                        "h_try spacing order",
                        "mix spacing equal",
                        "mixed",
                    ),
                    elementwise(
                        lambda mix, D: ca.vertcat(ca.reshape(mix, 6, 6).T @ D[:6], D[6:]),
                        "mix D",
                        "D",
                        sizes,
                        n,
                        "rescale",
                        whole=["mix"],
                    ),
                ],
            ),
        ]
        predict: list[Node] = [
            scalar(
                lambda t, h, order: (
                    t + h,
                    h / _pick(alpha, order),
                    ca.vertcat(*(ca.if_else(j <= order, _GAMMA[j], 0) / _pick(alpha, order) for j in k)),
                    ca.SX(1),
                    ca.SX(0),
                ),
                "t h_try order",
                "t_stage c weights_psi trying current",
                "predict",
            ),
            elementwise(
                lambda order, w, D: (
                    sum((ca.if_else(j <= order, D[j], 0) for j in range(1, 6)), D[0]),
                    sum((w[j] * D[j] for j in range(1, 6)), ca.SX(0)),
                ),
                "order weights_psi D",
                "y_p psi",
                sizes,
                n,
                "predicted",
                whole=["weights_psi"],
            ),
        ]
        jacobian: list[Node] = [
            rhs("t_stage", "y_p", "k_stage"),
            *(
                [*rhs.keep(), *rhs.matrix("t_stage", "y_p", "infinite", 1.0, "J", "f_t")]
                if tree is None
                else tree.linearize("t_stage", "y_p", "k_stage")
            ),
            scalar(
                lambda jacobians, evaluations: (
                    jacobians + 1,
                    evaluations + 1,
                    ca.SX(0),
                    ca.SX(1),
                    ca.SX(0),
                    ca.SX(0),
                ),
                "jacobians evaluations",
                "jacobians evaluations stale current age c_factored",
                "counted",
            ),
        ]
        factored = scalar(lambda c: (c, ca.SX(1)), "c", "c_factored rate", "factored")
        if tree is None:
            factor: list[Node] = [
                elementwise(lambda x: x, "J", "W", sizes, n * n, "copy_J"),
                elementwise(lambda c, y: 1 / c + 0 * y, "c y_p", "one_by_c", sizes, n, "by_c"),
                Call("daxpy", (n, 1.0, "one_by_c", 1, "W", leading + 1)),
                Call("dgetrf", (n, n, "W", leading, Ints("pivots"), Ints("info"))),
                factored,
            ]
            whole = "W", leading, Ints("pivots")
            solution: list[Node] = [Call("dgetrs", (b"N", n, 1, *whole, "dy", leading, Ints("info")))]
        else:
            sizes["sigma"] = 1
            sigma = scalar(lambda c: 1 / c, "c", "sigma", "sigma")
            factor, solution = [sigma, *tree.factor("sigma"), factored], tree.solve("dy")

        def iterated(size: SX, accuracy: SX, rate: SX, old: SX, round: SX, evaluations: SX) -> tuple[SX, ...]:
            """Whether to continue, the rate and size, and whether it has converged."""
            new = ca.sqrt(size / leading) / (accuracy / 250)
            rate = ca.if_else(round > 0, ca.fmax(0.3 * rate, new / old), rate)
            good = new * ca.fmin(1, rate) <= CONVERGED
            bad = ca.logic_not(ca.logic_or(good, ca.logic_or(round < 1, new <= 2 * old)))
            bad = ca.logic_or(bad, ca.logic_not(new < np.inf))
            on = ca.logic_and(ca.logic_not(ca.logic_or(good, bad)), round + 1 < ITERATIONS)
            return on, ca.if_else(new < np.inf, rate, 1), new, round + 1, evaluations + 1, good

        newton: list[Node] = [
            scalar(lambda c, c_f: ca.logic_not(c == c_f), "c c_factored", "iterating", "factors"),
            If("iterating", factor),
            elementwise(lambda y: (0 * y, y), "y_p", "d y_next", sizes, n, "from_predicted"),
            scalar(
                lambda: (ca.SX(1), ca.SX(0), ca.SX(1), ca.SX(0)),
                "",
                "iterating round size_dy loose",
                "begin_newton",
            ),
            While(
                "iterating",
                [
                    rhs("t_stage", "y_next", "k_stage"),
                    elementwise(
                        lambda f, psi, d, c: f - (psi + d) / c, "k_stage psi d c", "dy", sizes, n, "residual"
                    ),
                    *solution,
                    elementwise(
                        lambda d, dy, y: (d + dy, y + d + dy), "d dy y_p", "d y_next", sizes, n, "corrected"
                    ),
                    summed(lambda w, e: (w * e) ** 2, "weights dy", "size", sizes, n, "size_dy"),
                    scalar(
                        iterated,
                        "size accuracy rate size_dy round evaluations",
                        "iterating rate size_dy round evaluations trying",
                        "iterated",
                    ),
                ],
                ITERATIONS + 1,
                "loose",
            ),
            # if it did not converge, it is tried with another J, unless J is new; `trying` came back as
            # "good"
            scalar(
                lambda good, current: (
                    ca.logic_and(ca.logic_not(good), ca.logic_not(current)),
                    ca.logic_not(good),
                ),
                "trying current",
                "trying stale",
                "judged",
            ),
        ]
        solve: list[Node] = [
            scalar(lambda stale, age: ca.logic_or(stale, age >= AGE), "stale age", "stale", "old"),
            While("trying", [If("stale", jacobian), newton], 3, "loose"),
            elementwise(
                lambda d, order, y, stale: (_pick(error, order) * d, ca.if_else(stale, np.nan, y)),
                "d order y_next stale",
                "error y_next",
                sizes,
                n,
                "estimated",
            ),
        ]

        def chosen(
            h: SX, h_try: SX, order: SX, equal: SX, less: SX, err: SX, more: SX, accuracy: SX, fixed: SX
        ) -> tuple[SX, ...]:
            """h, order, equal: after order + 1 equal steps."""
            norm = lambda x: ca.fmax(ca.sqrt(x / leading) / (accuracy / 250), 1e-10)
            now = ca.fmax(err, 1e-10) ** (-1 / (order + 1))
            lower = ca.if_else(order > 1, norm(less) ** (-1 / order), 0)
            higher = ca.if_else(order < self.order, norm(more) ** (-1 / (order + 2)), 0)
            best = ca.fmax(now, ca.fmax(lower, higher))
            step = ca.if_else(best > now, ca.if_else(best == lower, -1, 1), 0)
            grow = ca.fmin(10, 0.9 * best)
            due = equal + 1 > order
            change = ca.logic_and(due, ca.logic_or(grow >= WORTH, grow < 1))
            reach = ca.fabs(h_try)
            same = ca.fmin(h, 10 * reach)
            h_next = ca.if_else(
                fixed, h, ca.if_else(change, ca.fmax(reach * grow, same * (h > reach * (1 + SAME))), same)
            )
            rises = ca.logic_and(due, ca.logic_or(change, fixed))
            return h_next, order + ca.if_else(rises, step, 0), ca.if_else(due, 0, equal + 1)

        def renewed(order: SX, y: SX, y_p: SX, D: SX) -> tuple[SX, SX]:
            """Differences after the step, and F1 .. F4 of base.py (1) from (5)."""
            d, new, follows = y - y_p, list[ca.SX](), y - y_p
            for j in reversed(range(8)):
                above = D[j + 1] if j + 1 < 8 else ca.SX(0)
                if j <= HIGHEST:
                    follows = ca.if_else(j <= order, D[j] + follows, d)
                here = ca.if_else(
                    j <= order,
                    follows,
                    ca.if_else(
                        j == order + 1, d, ca.if_else(j == order + 2, d - D[j - 1] if j else above, D[j])
                    ),
                )
                new.insert(0, here)
            _, _, D2, D3, D4, D5 = (ca.if_else(j <= order, new[j], 0) for j in range(6))
            a = (
                -(D2 / 2 + D3 / 6 + D4 / 12 + D5 / 20),
                -(D3 / 6 + D4 / 8 + 11 * D5 / 120),
                -(D4 / 24 + D5 / 20),
                -D5 / 120,
            )
            return ca.vertcat(*new), ca.vertcat(a[0], a[1] + a[2] + a[3], -a[2] - a[3], -a[3])

        other = lambda which, out: summed(
            lambda w, order, D: (w * _pick(error, order + which) * _row(D, order + 1 + which)) ** 2,
            "weights order D",
            out,
            sizes,
            n,
            out,
        )
        accepted: list[Node] = [
            elementwise(renewed, "order y_next y_p D", "D dense", sizes | {"dense": 4 * n}, n, "renewed"),
            other(-1, "less"),
            other(1, "more"),
            scalar(lambda age: age + 1, "age", "age", "older"),
            scalar(chosen, "h h_try order equal less err more accuracy fixed", "h order equal", "chosen"),
        ]
        return MethodStep([*rescale, *predict, *solve], 0, accepted, dense=4, start=start)


def _pick(numbers: Sequence[float] | np.ndarray, k: SX) -> SX:
    """The number of order k; 0 beyond the last."""
    return sum((ca.if_else(k == j, float(x), 0) for j, x in enumerate(numbers)), ca.SX(0))


def _row(D: SX, j: SX) -> SX:
    return sum((ca.if_else(j == i, D[i], 0) for i in range(D.numel())), ca.SX(0))


def _mix(r: SX, order: SX) -> SX:
    """(4), by columns, for the differences up to the order; the others are unchanged."""

    def R(r: SX) -> SX:
        M = ca.SX.ones(6, 6)
        for i in range(1, 6):
            for j in range(6):
                M[i, j] = M[i - 1, j] * ((i - 1 - r * j) / i)
        return M

    whole = R(r) @ R(ca.SX(1))
    return ca.vec(
        ca.vertcat(
            *(
                ca.horzcat(
                    *(
                        ca.if_else(ca.logic_and(i <= order, j <= order), whole[i, j], float(i == j))
                        for j in range(6)
                    )
                )
                for i in range(6)
            )
        )
    )
