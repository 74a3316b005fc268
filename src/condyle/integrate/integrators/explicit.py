"""Explicit Runge-Kutta methods by their tableaux.

    k_i = f(t + c_i h, y + h sum_j A_ij k_j),   y+ = y + h sum_i b_i k_i,   error = h sum_i e_i k_i        (1)

Where f = max(0, x - k) has a kink at k, error and estimate of a step are

    |(1 - k)^2 / 2 - sum_i b_i max(0, c_i - k)|,   |sum_i e_i max(0, c_i - k)|                             (2)

in units of h^2 and of the jump of f's slope. The largest error over the largest estimate is `blind`: 1.9 for
Merson's method, 12 for Dormand and Prince's of order 5, whose two solutions respond alike to a kink, 3.3 for
that of order 8.

Runge-Kutta-Chebyshev methods are explicit too, of order 2 and stable along the negative real axis. Sommeijer,
Shampine, Verwer: RKC: an explicit solver for parabolic PDEs, J. Comput. Appl. Math. 88 (1997), section 2:

    Y_1 = y + m'_1 h f_0,  Y_j = (1 - m_j - n_j) y + m_j Y_j-1 + n_j Y_j-2 + m'_j h f_j-1 + g_j h f_0      (3)
    w_0 = 1 + 2/13 / s^2,  w_1 = T'_s(w_0) / T''_s(w_0),  b_j = T''_j(w_0) / T'_j(w_0)^2,
        b_0 = b_2,  b_1 = 1 / w_0,  a_j = 1 - b_j T_j(w_0)                                                 (4)
    m_j = 2 b_j w_0 / b_j-1,  n_j = -b_j / b_j-2,  m'_1 = b_1 w_1,  m'_j = 2 b_j w_1 / b_j-1,
        g_j = -a_j-1 m'_j                                                                                  (5)
    error = 4/5 (y - y+) + 2/5 h (f + f+)                                                                  (6)

With s stages it is stable for h lambda from -0.65 (s^2 - 1) on, where s Runge-Kutta stages of order s reach
about -s. Written as a tableau, it is one more Explicit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.integrate.integrators.base import Method, MethodStep, Weights, combined, table
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.integrate.equations import EquationsOfMotion, RightHandSide
    from condyle.integrate.projection import Rate
    from condyle.native.programs.nodes import Node

ROUNDING = 1e-12
"""Accuracy of sums of published coefficients."""


@dataclass(frozen=True, kw_only=True)
class Explicit(Method):
    """An explicit Runge-Kutta method, for `cd.simulate(..., integrator=method)`:

        midpoint = cd.integrators.Explicit("midpoint", 2, 2, A=((), (1/2,)), b=(0, 1), e=(-1, 1))

    Args:
        name: for messages.
        order: of a step's end.
        estimate: order of the error estimate of one step; 0 without one: then steps are fixed.
        A: rows of the strictly lower triangle, the first empty, the next with one number, and so on.
        b: weights of the stages, shape (s,).
        e: weights of the error estimate, shape (s,), or (s + 1,) where it also needs f at the new point;
            empty without one.
        second: weights of a second estimate E3 beside E; then |E|^2 / sqrt(|E|^2 + 0.01 |E3|^2) is the error.
        more: rows of stages that only the output between steps needs; the stage before them is f at the new
            point.
        dense: weights of F3, F4, ... between steps, each a row over the stages (times h).

    Raises:
        DescriptionError: inconsistent numbers.
    """

    A: tuple[Weights, ...]
    b: Weights
    e: Weights = ()
    second: Weights = ()
    more: tuple[Weights, ...] = ()
    dense: tuple[Weights, ...] = ()

    def __post_init__(self) -> None:
        what = f"Explicit({self.name!r})"
        for f in ("b", "e", "second"):
            object.__setattr__(self, f, _numbers(getattr(self, f), f"{what}: {f}"))
        for f in ("A", "more", "dense"):
            rows = getattr(self, f)
            if not isinstance(rows, Iterable):
                raise DescriptionError(f"{what}: {f}: expected rows of numbers, got {rows!r}")
            object.__setattr__(self, f, tuple(_numbers(row, f"{what}: {f}") for row in rows))
        for f, least in (("order", 1), ("estimate", 0)):
            if not isinstance(n := getattr(self, f), int) or n < least:
                raise DescriptionError(f"{what}: {f}: expected a whole number from {least} on, got {n!r}")
        s = len(self.b)
        if [len(row) for row in self.A] != list(range(s)):
            raise DescriptionError(
                f"{what}: A must have {s} rows of 0, 1, 2, ... numbers, one per weight of "
                f"b, got rows of {[len(row) for row in self.A]}: only the part below the "
                "diagonal, A=((), (1/2,), (0, 1))"
            )
        if not abs(sum(self.b) - 1) <= ROUNDING:
            raise DescriptionError(f"{what}: the weights b must add up to 1, got {sum(self.b)!r}")
        if self.e and (len(self.e) not in (s, s + 1) or not abs(sum(self.e)) <= ROUNDING):
            raise DescriptionError(
                f"{what}: the weights e of the error must be {s} or {s + 1} numbers that "
                f"add up to 0, got {len(self.e)} that add up to {sum(self.e)!r}"
            )
        if bool(self.e) != bool(self.estimate):
            raise DescriptionError(
                f"{what}: e and estimate, the order of the error estimate, belong "
                f"together; got e = {self.e!r} and estimate = {self.estimate!r}"
            )

    @property
    def first_same_as_last(self) -> bool:
        """Whether an attempt evaluates f at the new point: the next step starts with it."""
        return len(self.e) > len(self.b)

    @property
    def errors(self) -> tuple[str, ...]:
        return ("error", "other")[: bool(self.e) + bool(self.second)]

    @property
    def blind(self) -> float:
        """By (2)."""
        b, e = np.array(self.b), np.array(self.e)
        if not e.size:
            return 1.0
        c = np.append([sum(row) for row in self.A], 1.0)
        kinks = np.arange(1, 200) / 200
        ramps = np.maximum(c - kinks[:, None], 0.0)
        estimate = np.abs(ramps[:, : e.size] @ e)
        if self.second:
            other = ramps[:, : len(self.second)] @ np.array(self.second)
            estimate = estimate**2 / np.sqrt(estimate**2 + 0.01 * other**2)
        error = np.abs((1 - kinks) ** 2 / 2 - ramps[:, : b.size] @ b)
        return max(1.0, float(error.max() / estimate.max()))

    def step(
        self, eq: EquationsOfMotion, rate: Rate, rhs: RightHandSide, sizes: dict[str, int]
    ) -> MethodStep:
        from condyle.native.programs.nodes import elementwise, kernel

        n, s, end, more = eq.n, len(self.A), self.first_same_as_last, len(self.more)
        k = [f"k{i}" for i in range(s + (end or bool(more)) + more)]
        sizes |= dict.fromkeys(k, n)

        def stage(i: int, row: Sequence[float]) -> Node:
            used, weights = [k[j] for j, a in enumerate(row) if a != 0], [a for a in row if a != 0]
            return [
                kernel(lambda t, h: t + sum(row) * h, "t h_try", "t_stage", sizes, f"time{i}"),
                elementwise(
                    lambda h, y, *ks: y + h * combined(weights, ks),
                    ["h_try", "y", *used],
                    "y_stage",
                    sizes,
                    n,
                    f"stage{i}",
                ),
                rate("t_stage", "y_stage", k[i]),
            ]

        def estimated(h: SX, *ks: SX) -> list[SX]:
            return [h * combined(e, ks) for e in (self.e, self.second) if e]

        def advance(y: SX, h: SX, *ks: SX) -> list[SX]:
            return [y + h * combined(self.b, ks), *([] if end else estimated(h, *ks))]  # (1)

        at_end: list[Node] = []
        if end or more:
            at_end = [
                kernel(lambda t, h: t + h, "t h_try", "t_stage", sizes, "end"),
                rate("t_stage", "y_next", k[s]),
            ]
        attempt: list[Node] = [
            *(stage(i, self.A[i]) for i in range(1, s)),
            elementwise(advance, ["y", "h_try", *k[:s]], ["y_next", *(() if end else self.errors)], sizes, n),
        ]
        if end:
            attempt += [*at_end, elementwise(estimated, ["h_try", *k[: s + 1]], self.errors, sizes, n)]
        step = MethodStep(attempt, s - 1 + end, dense=len(self.dense), new_rate=k[s] if end or more else "")
        if more:
            step.accepted = [*at_end, *(stage(s + 1 + i, row) for i, row in enumerate(self.more))]
            step.accepted_evaluations = 1 + more
        if self.dense:
            step.accepted.append(
                elementwise(
                    lambda h, *ks: ca.vertcat(*(h * combined(row, ks) for row in self.dense)),
                    ["h_try", *k],
                    "dense",
                    sizes | {"dense": n * step.dense},
                    n,
                    "between",
                )
            )
        return step


def _numbers(given: Any, what: str) -> Weights:
    """Finite numbers, as a tuple."""
    try:
        numbers = np.array(given, dtype=float) if not isinstance(given, str) else np.empty((0, 0))
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise DescriptionError(f"{what}: expected finite numbers, got {given!r}")
    return tuple(numbers.tolist())


EULER = Explicit("euler", 1, A=((),), b=(1.0,))
RK2 = Explicit("rk2", 2, 2, A=((), (1.0,)), b=(1 / 2, 1 / 2), e=(1 / 2, -1 / 2))
RK3 = Explicit(
    "rk3", 3, 3, A=((), (1 / 2,), (0.0, 3 / 4)), b=(2 / 9, 1 / 3, 4 / 9), e=(5 / 72, -1 / 12, -1 / 9, 1 / 8)
)
RK4 = Explicit("rk4", 4, A=((), (1 / 2,), (0, 1 / 2), (0, 0, 1)), b=(1 / 6, 1 / 3, 1 / 3, 1 / 6))
MERSON = Explicit(
    "merson",
    4,
    4,
    A=((), (1 / 3,), (1 / 6, 1 / 6), (1 / 8, 0, 3 / 8), (1 / 2, 0, -3 / 2, 2)),
    b=(1 / 6, 0, 0, 2 / 3, 1 / 6),
    e=(1 / 15, 0, -3 / 10, 4 / 15, -1 / 30),
)
FEHLBERG = Explicit(
    "fehlberg",
    4,
    5,
    A=(
        (),
        (1 / 4,),
        (3 / 32, 9 / 32),
        (1932 / 2197, -7200 / 2197, 7296 / 2197),
        (439 / 216, -8.0, 3680 / 513, -845 / 4104),
        (-8 / 27, 2.0, -3544 / 2565, 1859 / 4104, -11 / 40),
    ),
    b=(25 / 216, 0.0, 1408 / 2565, 2197 / 4104, -1 / 5, 0.0),
    e=(1 / 360, 0.0, -128 / 4275, -2197 / 75240, 1 / 50, 2 / 55),
)

_HALF_WAY = (
    6025192743 / 60171106304,
    0.0,
    51252292925 / 130801643196,
    -2691868925 / 90256659456,
    187940372067 / 3189068634112,
    -1776094331 / 39487288512,
    11237099 / 470086768,
)  # y half-way = y + h sum m_i k_i, of order 4
_B5 = (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
DORMAND_PRINCE = Explicit(
    "dormand-prince",
    5,
    5,
    A=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    b=_B5,
    e=(-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40),
    # F3 = 16 (half-way - Hermite's)
    dense=(
        tuple(
            16 * m - 8 * b + (-2 if i == 0 else 2 if i == 6 else 0)
            for i, (m, b) in enumerate(zip(_HALF_WAY, (*_B5, 0.0), strict=True))
        ),
    ),
)
# Dormand and Prince's method of order 8 with estimates of order 5 and 3, as published with DOP853 (Hairer,
# Norsett, Wanner: Solving Ordinary Differential Equations I, 1993, section II.10). Three more stages give order
# 7 between the steps.
DORMAND_PRINCE_8 = Explicit(
    "dormand-prince-8",
    8,
    8,
    A=(
        (),
        *table(
            """
        0.05260015195876773
        0.0197250569845379 0.0591751709536137
        0.02958758547680685 0 0.08876275643042054
        0.2413651341592667 0 -0.8845494793282861 0.924834003261792
        0.037037037037037035 0 0 0.17082860872947386 0.12546768756682242
        0.037109375 0 0 0.17025221101954405 0.06021653898045596 -0.017578125
        0.03709200011850479 0 0 0.17038392571223998 0.10726203044637328 -0.015319437748624402 \
          0.008273789163814023
        0.6241109587160757 0 0 -3.3608926294469414 -0.868219346841726 27.59209969944671 20.154067550477894 \
          -43.48988418106996
        0.47766253643826434 0 0 -2.4881146199716677 -0.590290826836843 21.230051448181193 15.279233632882423 \
          -33.28821096898486 -0.020331201708508627
        -0.9371424300859873 0 0 5.186372428844064 1.0914373489967295 -8.149787010746927 -18.52006565999696 \
          22.739487099350505 2.4936055526796523 -3.0467644718982196
        2.273310147516538 0 0 -10.53449546673725 -2.0008720582248625 -17.9589318631188 27.94888452941996 \
          -2.8589982771350235 -8.87285693353063 12.360567175794303 0.6433927460157636
        """
        ),
    ),
    b=table(
        """
        0.054293734116568765 0 0 0 0 4.450312892752409 1.8915178993145003 -5.801203960010585 \
          0.3111643669578199 -0.1521609496625161 0.20136540080403034 0.04471061572777259
        """
    )[0],
    e=table(
        """
        0.01312004499419488 0 0 0 0 -1.2251564463762044 -0.4957589496572502 1.6643771824549864 \
          -0.35032884874997366 0.3341791187130175 0.08192320648511571 -0.022355307863886294
        """
    )[0],
    second=table(
        """
        -0.18980075407240762 0 0 0 0 4.450312892752409 1.8915178993145003 -5.801203960010585 \
          -0.4226823213237919 -0.1521609496625161 0.20136540080403034 0.02265179219836082
        """
    )[0],
    more=table(
        """
        0.056167502283047954 0 0 0 0 0 0.25350021021662483 -0.2462390374708025 -0.12419142326381637 \
          0.15329179827876568 0.00820105229563469 0.007567897660545699 -0.008298
        0.03183464816350214 0 0 0 0 0.028300909672366776 0.053541988307438566 -0.05492374857139099 0 0 \
          -0.00010834732869724932 0.0003825710908356584 -0.00034046500868740456 0.1413124436746325
        -0.42889630158379194 0 0 0 0 -4.697621415361164 7.683421196062599 4.06898981839711 0.3567271874552811 \
          0 0 0 -0.0013990241651590145 2.9475147891527724 -9.15095847217987
        """
    ),
    dense=table(
        """
        -8.428938276109013 0 0 0 0 0.5667149535193777 -3.0689499459498917 2.38466765651207 2.117034582445028 \
          -0.871391583777973 2.2404374302607883 0.6315787787694688 -0.08899033645133331 18.148505520854727 \
          -9.194632392478356 -4.436036387594894
        10.427508642579134 0 0 0 0 242.28349177525817 165.20045171727028 -374.5467547226902 \
          -22.113666853125306 7.733432668472264 -30.674084731089398 -9.332130526430229 15.697238121770845 \
          -31.139403219565178 -9.35292435884448 35.81684148639408
        19.985053242002433 0 0 0 0 -387.0373087493518 -189.17813819516758 527.8081592054236 -11.57390253995963 \
          6.8812326946963 -1.0006050966910838 0.7777137798053443 -2.778205752353508 -60.19669523126412 \
          84.32040550667716 11.99229113618279
        -25.69393346270375 0 0 0 0 -154.18974869023643 -231.5293791760455 357.6391179106141 93.40532418362432 \
          -37.45832313645163 104.0996495089623 29.8402934266605 -43.53345659001114 96.32455395918828 \
          -39.17726167561544 -149.72683625798564
        """
    ),
)


DAMPING = 2 / 13
"""Numbers of stages of Runge-Kutta-Chebyshev methods."""


def chebyshev(name: str, stages: int) -> Explicit:
    """The Runge-Kutta-Chebyshev method with 2 or more stages."""
    s, w_0 = stages, 1 + DAMPING / stages**2
    T, T1, T2 = [1.0, w_0], [0.0, 1.0], [0.0, 0.0]  # of Chebyshev's polynomials, their slopes and curvatures
    for j in range(1, s):
        T.append(2 * w_0 * T[j] - T[j - 1])
        T1.append(2 * T[j] + 2 * w_0 * T1[j] - T1[j - 1])
        T2.append(4 * T1[j] + 2 * w_0 * T2[j] - T2[j - 1])
    w_1 = T1[s] / T2[s]  # (4)
    b = [1.0, 1 / w_0, *(T2[j] / T1[j] ** 2 for j in range(2, s + 1))]
    b[0] = b[2]
    Y = np.zeros((s + 1, s))  # Y_j = y + h sum_i Y[j, i] f_i
    Y[1, 0] = b[1] * w_1
    for j in range(2, s + 1):
        m, n, m_ = 2 * b[j] * w_0 / b[j - 1], -b[j] / b[j - 2], 2 * b[j] * w_1 / b[j - 1]  # (5)
        Y[j] = m * Y[j - 1] + n * Y[j - 2]  # (3)
        Y[j, j - 1] += m_
        Y[j, 0] -= (1 - b[j - 1] * T[j - 1]) * m_
    e = 2 / 5 * np.eye(s + 1)[[0, s]].sum(axis=0) - 4 / 5 * np.append(Y[s], 0.0)  # (6)
    return Explicit(name, 2, 3, A=tuple(tuple(Y[j, :j]) for j in range(s)), b=tuple(Y[s]), e=tuple(e))


RKC = chebyshev("rkc", 5)
