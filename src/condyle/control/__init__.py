"""Optimal control: movements that are predicted, tracked and optimized, by direct collocation.

problem        Problem: a system, how long it moves, bounds, goals and requirements
dynamics       the system at one point: its variables, and its equations of motion as residuals
point          what goals see of a point
goals          what should be small, and what must hold
transcription  the problem on a mesh as a nonlinear program (condyle.collocation)
solve          from a guess to an Answer
answer         the movement found, and how good it is
diagnosis      what is wrong before solving, and what could not be met after it

At each point the unknowns are v = (x, c, w): states x, controls c, and algebraic variables w. With duration
T and parameters p, what is computed there is

    F = (T xdot, r, path constraints, T integrands)          xdot = (N u, udot, zdot)                      (1)
    r = (ID(q, u, udot) + G' lambda, constraints on q, u and udot, |quaternion|^2 - 1)  = 0                (2)

Accelerations are variables and inverse dynamics is a residual: fewer operations and sparser than forward
dynamics. Where constraints act, as many coordinates and speeds as there are equations are algebraic variables
of their own, and no states; where each equation has a dependent coordinate to itself, as couplers do, its
multiplier is eliminated.

The interface of goals: a goal is a subclass of `MovementGoal` (goals/base.py), one file each, and says some of

    integrand(p)       what is integrated over time, an expression at a Point
    at_start(p)        what counts at the first point
    at_end(p)          what counts at the last point
    path(p)            what must stay between `low` and `high` at every point
    conditions(...)    linear conditions between variables at the first and the last point, and the duration
    value(...)         what counts in the end, of the integral and of both ends; by default their sum
    data(frames)       numbers per point, such as measured values: `p.data` in the expressions

`minimize` adds `value` times its weight to the objective. `require` keeps path, conditions and value between
`low` and `high`. Numbers of data, weights and durations are no part of machine code.
"""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.control.phases import Phases as Phases

__all__, __getattr__ = family(__name__)
