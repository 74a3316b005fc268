"""Rosenbrock methods: linearly implicit, for stiff systems.

A step solves s linear systems with one matrix, without iteration:

    (I / (gamma h) - J) U_i = f(t + c_i h, y + sum_j A_ij U_j) + sum_j C_ij U_j / h + d_i h df/dt          (1)
    y+ = y + sum_i b_i U_i,   error = sum_i e_i U_i                                                        (2)

Stages are not projected onto the constraints, even near a loss of rank: J is that of plain f.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from condyle.arrays import SX
from condyle.integrate.integrators.base import Method, MethodStep, Weights, combined, table
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.integrate.equations import EquationsOfMotion, RightHandSide
    from condyle.integrate.projection import Rate
    from condyle.native.programs.nodes import Node


@dataclass(frozen=True, kw_only=True)
class Rosenbrock(Method):
    """A linearly implicit method: s linear systems with one matrix per step, without iteration.

    Args:
        gamma: of the matrix (1).
        c: of the stages' times, shape (s,).
        d: of df/dt, shape (s,).
        A: rows of the stages' positions, of 0, 1, 2, ... numbers.
        C: rows of the terms of earlier stages, of 0, 1, 2, ... numbers.
        b: weights of the stages, shape (s,).
        e: weights of the error estimate, shape (s,).
        between: F1, F2 of the output between steps as weights of U_i, instead of Hermite's, which needs f and
            fails for stiff systems.
    """

    stiff: ClassVar[bool] = True
    needs_jacobian: ClassVar[bool] = True
    needs_time_derivative: ClassVar[bool] = True
    hermite: ClassVar[bool] = False

    gamma: float
    c: Weights
    d: Weights
    A: tuple[Weights, ...]
    C: tuple[Weights, ...]
    b: Weights
    e: Weights
    between: tuple[Weights, ...]

    def step(
        self, eq: EquationsOfMotion, rate: Rate, rhs: RightHandSide, sizes: dict[str, int]
    ) -> MethodStep:
        from condyle.integrate.newton import newton
        from condyle.native.programs.nodes import Call, Ints, elementwise, kernel

        n, s, leading = eq.n, len(self.A), max(eq.n, 1)
        u = [f"U{i}" for i in range(s)]
        sizes |= dict.fromkeys([*u, "f_t", "k_stage"], n) | {"jacobians": 1}
        count = kernel(lambda count: count + 1, ["jacobians"], ["jacobians"], sizes, "counted")
        equations = newton(eq, rhs, sizes)
        if equations is not None:
            sizes["sigma"] = 1
            sigma = kernel(lambda h: 1 / (self.gamma * h), ["h_try"], ["sigma"], sizes, "sigma")
            factor: list[Node] = [
                sigma,
                *equations.linearize("t", "y", "k0"),
                count,
                *equations.factor("sigma"),
            ]
            solve = equations.solve
        else:
            sizes |= {"W": n * n, "pivots": leading, "info": 1}
            factor = [
                *rhs.matrix("t", "y", "h_try", self.gamma, "W", "f_t"),
                count,
                Call("dgetrf", (n, n, "W", leading, Ints("pivots"), Ints("info"))),
            ]
            whole = "W", leading, Ints("pivots")
            solve = lambda x: [Call("dgetrs", (b"N", n, 1, *whole, x, leading, Ints("info")))]

        def stage(i: int) -> list[Node]:
            at: list[Node] = []
            if i:
                at = [
                    kernel(lambda t, h: t + self.c[i] * h, "t h_try", "t_stage", sizes, f"time{i}"),
                    elementwise(
                        lambda y, *us: y + combined(self.A[i], us),
                        ["y", *u[:i]],
                        "y_stage",
                        sizes,
                        n,
                        f"stage{i}",
                    ),
                    rhs("t_stage", "y_stage", "k_stage"),
                ]
            right = elementwise(
                lambda h, f, f_t, *us: f + combined(self.C[i], us) / h + self.d[i] * h * f_t,  # (1)
                ["h_try", "k_stage" if i else "k0", "f_t", *u[:i]],
                u[i],
                sizes,
                n,
                f"right{i}",
            )
            return [*at, right, *solve(u[i])]

        def advance(y: SX, *us: SX) -> tuple[SX, ...]:
            return y + combined(self.b, us), combined(self.e, us)  # (2)

        between = elementwise(
            lambda *us: ca.vertcat(*(combined(row, us) for row in self.between)),
            u,
            "dense",
            sizes | {"dense": n * len(self.between)},
            n,
            "between",
        )
        return MethodStep(
            [
                *factor,
                *(node for i in range(s) for node in stage(i)),
                elementwise(advance, ["y", *u], ["y_next", "error"], sizes, n),
            ],
            s - 1,
            [between],
            dense=len(self.between),
        )


# Hairer, Wanner: Solving Ordinary Differential Equations II, section IV.7; as in their RODAS
RODAS = Rosenbrock(
    "rodas",
    4,
    4,
    gamma=0.25,
    c=table(
        """
        0 0.386 0.21 0.63 1.0 1.0
        """
    )[0],
    d=table(
        """
        0.25 -0.1043 0.1035 -0.0362 0 0
        """
    )[0],
    A=(
        (),
        *table(
            """
        1.544
        0.9466785280815826 0.2557011698983284
        3.314825187068521 2.896124015972201 0.9986419139977817
        1.221224509226641 6.019134481288629 12.53708332932087 -0.687886036105895
        1.221224509226641 6.019134481288629 12.53708332932087 -0.687886036105895 1.0
        """
        ),
    ),
    C=(
        (),
        *table(
            """
        -5.6688
        -2.430093356833875 -0.2063599157091915
        -0.1073529058151375 -9.594562251023355 -20.47028614809616
        7.496443313967647 -10.24680431464352 -33.99990352819905 11.7089089320616
        8.083246795921522 -7.981132988064893 -31.52159432874371 16.31930543123136 -6.058818238834054
        """
        ),
    ),
    b=table(
        """
        1.221224509226641 6.019134481288629 12.53708332932087 -0.687886036105895 1.0 1.0
        """
    )[0],
    e=table(
        """
        0 0 0 0 0 1.0
        """
    )[0],
    between=table(
        """
        10.12623508344586 -7.487995877610167 -34.80091861555747 -7.992771707568823 1.025137723295662
        -0.6762803392806898 6.087714651680015 16.43084320892478 24.76722511418386 -6.594389125716872
        """
    ),
)

# Steinebach: Construction of Rosenbrock-Wanner method Rodas5P, BIT Numerical Mathematics 63:27 (2023).
# Between steps it has (1 - x) (k_1 + x (k_2 + x k_3)): in integrators/base.py (1) k_1, k_2 + k_3, -k_3.
RODAS5P = Rosenbrock(
    "rodas5p",
    5,
    5,
    gamma=0.21193756319429014,
    c=table(
        """
        0 0.6358126895828704 0.4095798393397535 0.9769306725060716 0.4288403609558664 1.0 1.0 1.0
        """
    )[0],
    d=table(
        """
        0.21193756319429014 -0.42387512638858027 -0.3384627126235924 1.8046452872882734 2.325825639765069 0 0 0
        """
    )[0],
    A=(
        (),
        *table(
            """
        3.0
        2.849394379747939 0.45842242204463923
        -6.954028509809101 2.489845061869568 -10.358996098473584
        2.8029986275628964 0.5072464736228206 -0.3988312541770524 -0.04721187230404641
        -7.502846399306121 2.561846144803919 -11.627539656261098 -0.18268767659942256 0.030198172008377946
        -7.502846399306121 2.561846144803919 -11.627539656261098 -0.18268767659942256 0.030198172008377946 1.0
        -7.502846399306121 2.561846144803919 -11.627539656261098 -0.18268767659942256 0.030198172008377946 1.0 \
          1.0
        """
        ),
    ),
    C=(
        (),
        *table(
            """
        -14.155112264123755
        -17.97296035885952 -2.859693295451294
        147.12150275711716 -1.41221402718213 71.68940251302358
        165.43517024871676 -0.4592823456491126 42.90938336958603 -5.961986721573306
        24.854864614690072 -3.0009227002832186 47.4931110020768 5.5814197821558125 -0.6610691825249471
        30.91273214028599 -3.1208243349937974 77.79954646070892 34.28646028294783 -19.097331116725623 \
          -28.087943162872662
        37.80277123390563 -3.2571969029072276 112.26918849496327 66.9347231244047 -40.06618937091002 \
          -54.66780262877968 -9.48861652309627
        """
        ),
    ),
    b=table(
        """
        -7.502846399306121 2.561846144803919 -11.627539656261098 -0.18268767659942256 0.030198172008377946 1.0 \
          1.0 1.0
        """
    )[0],
    e=table(
        """
        0 0 0 0 0 0 0 1.0
        """
    )[0],
    between=table(
        """
        25.948786856663858 -2.5579724845846235 10.433815404888879 -2.3679251022685204 0.524948541321073 \
          1.1241088310450404 0.4272876194431874 -0.17202221070155493
        1.5042150689705522 1.918970055202184 75.96518368425814 55.62989378001063 -31.89673303144361 \
          -43.80927263842078 -6.944867146247393 -1.8271488842096497
        -11.419903575922262 -2.8879645146136994 -72.92137995996029 -80.12511834622643 52.072871366152654 \
          59.78993625266729 0.15582684282751913 -4.883087185713722
        """
    ),
)
