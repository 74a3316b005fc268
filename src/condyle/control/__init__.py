"""Optimal control: predict, track and optimize movements by direct collocation.

problem        Problem: a system, duration, bounds, goals and requirements
dynamics       the system at one point: its variables, and its equations of motion as residuals
point          what goals see of a point
goals          objectives and requirements
transcription  the problem on a mesh as a nonlinear program (condyle.collocation)
solve          from a guess to an Answer
answer         the movement found, and its accuracy
diagnosis      errors in a problem before solving, unmet requirements after it

At each point the unknowns are v = (x, c, w): states x, controls c, and algebraic variables w. With duration
T and parameters p, the functions of a point are

    F = (T xdot, r, path constraints, T integrands)          xdot = (N u, udot, zdot)                      (1)
    r = (ID(q, u, udot) + G' lambda, constraints on q, u and udot, |quaternion|^2 - 1)  = 0                (2)

Accelerations are variables and inverse dynamics is a residual: fewer operations and sparser than forward
dynamics. Where constraints act, as many coordinates and speeds as there are equations are algebraic variables
instead of states; where each equation has its own dependent coordinate, as couplers do, its multiplier is
eliminated.

The interface of goals: a goal is a subclass of `MovementGoal` (goals/base.py), one file each, with some of

    integrand(p)       an expression at a Point that is integrated over time
    at_start(p)        an expression at the first point
    at_end(p)          an expression at the last point
    path(p)            an expression that must be between `low` and `high` at every point
    conditions(...)    linear conditions between variables at the first and the last point, and the duration
    value(...)         the value of the goal from the integral and both ends; by default their sum
    data(frames)       numbers per point, such as measured values: `p.data` in the expressions

`minimize` adds `value` times its weight to the objective. `require` keeps path, conditions and value between
`low` and `high`. Machine code does not depend on data, weights and durations.
"""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.control.phases import Phases as Phases

__all__, __getattr__ = family(__name__)
