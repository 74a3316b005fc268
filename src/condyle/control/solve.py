"""`cd.solve`: a problem from a guess to an Answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.collocation.mesh import Mesh
from condyle.collocation.schemes import scheme as scheme_named
from condyle.control.answer import Answer, explanation
from condyle.control.guess import start
from condyle.control.problem import Problem
from condyle.control.program import ControlProgram
from condyle.errors import DescriptionError
from condyle.nlp import Iteration, Solution, ipopt
from condyle.system.given import number
from condyle.system.state import State
from condyle.table import Table

SMALL = 0.1
"""An objective below this is scaled to 1 and solved again: the solver's tolerance is absolute."""
FINEST = 2000
"""Intervals that a refined mesh may have."""


@with_call_hints({"tol": "it is accuracy=", "max_iter": "it is iterations="})
def solve(
    problem: Problem,
    *,
    mesh: int = 50,
    scheme: str = "radau-2",
    accuracy: float = 1e-6,
    guess: Table | State | Answer | str | None = None,
    hessian: str = "exact",
    midpoint_controls: str = "interpolated",
    mesh_error: float | None = None,
    iterations: int = 1000,
    progress: bool | Callable[[Iteration], object] = False,
    options: Mapping[str, ipopt.Option] | None = None,
) -> Answer:
    """The movement that minimizes a problem's objective and meets its requirements.

    Ctrl-C stops it and gives the best iterate. A problem that has no solution does not raise: `answer.status`
    and `answer.message` say why, with the largest violations in words.

    Args:
        problem: what is wanted.
        mesh: number of intervals.
        scheme: "radau-2" (default), "radau-3", "hermite-simpson" or "trapezoidal".
        accuracy: of the conditions of optimality, relative to the size of the objective, and of all
            requirements in units of their variables.
        guess: where to start: a Table of coordinates (and more) over time, a State, an earlier Answer, also of
            another mesh; "line" for straight lines between start and end. By default the middle of the
            bounds, as in Moco. From an answer on the same mesh it starts warm, with its multipliers.
        hessian: "exact", or "limited-memory".
        midpoint_controls: of "hermite-simpson": "interpolated", as in Moco, or "free".
        mesh_error: intervals are divided until `answer.mesh_error` is at most this.
        iterations: at most so many.
        progress: True for a line with objective and violation, or a function of each iteration.
        options: of IPOPT, by its names.

    Raises:
        DescriptionError: a problem that cannot be: bounds that cross, goals that are not finite at the guess.
    """
    if not isinstance(problem, Problem):
        raise DescriptionError(f"solve: expected a cd.Problem, got {problem!r}")
    if isinstance(mesh, bool) or not isinstance(mesh, (int, np.integer)) or mesh < 1:
        raise DescriptionError(f"solve: mesh must be the number of intervals, 1 or more, got {mesh!r}")
    if hessian not in ("exact", "limited-memory"):
        raise DescriptionError(f"solve: hessian must be 'exact' or 'limited-memory', got {hessian!r}")
    if midpoint_controls not in ("interpolated", "free"):
        raise DescriptionError(
            f"solve: midpoint_controls must be 'interpolated' or 'free', got {midpoint_controls!r}"
        )
    if not 1e-12 <= number("solve: accuracy", accuracy, "a number from 1e-12 to 0.1") <= 0.1:
        raise DescriptionError(f"solve: accuracy must be between 1e-12 and 0.1, got {accuracy!r}")
    if not problem.minimized and not problem.required and not problem.bounds:
        raise DescriptionError("solve: the problem has no goals and no bounds: use problem.minimize(...)")
    current = Mesh.even(scheme_named(scheme), int(mesh))
    settings: dict[str, Any] = {
        "accuracy": accuracy,
        "exact": hessian == "exact",
        "interpolated": midpoint_controls == "interpolated",
        "iterations": iterations,
        "watch": _watch(progress),
        "options": dict(options or {}),
    }
    if (
        isinstance(guess, Answer)
        and mesh == guess.program.mesh.intervals
        and scheme == guess.program.mesh.scheme.name
    ):
        current = guess.program.mesh
    answer = _on_mesh(problem, current, guess, **settings)
    while mesh_error is not None and answer.ok and answer.mesh_error > mesh_error:
        p = current.scheme.order if current.scheme.steps > 1 else 2
        parts = np.clip(np.ceil((answer.errors / mesh_error) ** (1 / p)), 1, 4).astype(int)
        if parts.sum() > FINEST or parts.max() == 1:
            break
        current = current.refined(parts)
        answer = _on_mesh(problem, current, answer, **settings)
    return answer


def _on_mesh(
    problem: Problem,
    mesh: Mesh,
    guess: Any,
    *,
    accuracy: float,
    exact: bool,
    interpolated: bool,
    iterations: int,
    watch: Any,
    options: dict[str, Any],
) -> Answer:
    begin = time.process_time()
    program = ControlProgram(problem, mesh, exact, interpolated)
    nlp = program.program
    z = start(program, guess)
    _check(program, z)
    prepared = time.process_time() - begin
    own: dict[str, Any] = {
        "tol": accuracy,
        "constr_viol_tol": accuracy,
        "acceptable_tol": max(accuracy, 1e-6) if accuracy > 1e-6 else 1e2 * accuracy,
        "max_iter": int(iterations),
        **({} if exact else {"hessian_approximation": "limited-memory"}),
        **options,
    }
    solutions: list[Solution] = []
    warm: dict[str, Array] = {}
    if (
        isinstance(guess, Answer)
        and guess.ok
        and len(guess.solution.x) == program.n
        and guess.program.m == program.m
    ):
        r = guess.program.program.r
        nlp.scale_objective(r)
        warm = {name: getattr(guess.solution, name) for name in ("lambda_", "lower", "upper")}
    solution = ipopt.solve(
        nlp, program.bounds, z / nlp.S, own | (ipopt.WARM if warm else {}), watch=watch, **warm
    )
    if warm and solution.status not in ("solved", "stopped"):
        solution = ipopt.solve(nlp, program.bounds, z / nlp.S, own, watch=watch)
    solutions.append(solution)
    size = abs(solution.objective) / nlp.r
    if solution.status in ("solved", "acceptable") and 0 < size * nlp.r < SMALL and size > 1e-12:
        factor = 1 / size
        again = _rescaled(program, solution, factor / nlp.r)
        nlp.scale_objective(factor)
        second = ipopt.solve(nlp, program.bounds, solution.x, own | ipopt.WARM, watch=watch, **again)
        if second.status in ("solved", "acceptable"):
            solution = second
            solutions.append(second)
        else:
            nlp.scale_objective(1.0)
    last = solution.history[-1] if solution.history else Iteration(0, np.nan, np.nan, np.nan, 0.0)
    statistics = {
        "iterations": sum(s.iterations for s in solutions),
        "seconds": sum(s.seconds for s in solutions),
        "seconds_in_functions": sum(sum(s.in_callbacks.values()) for s in solutions),
        "seconds_to_prepare": prepared,
        "optimality": last.optimality,
        "violation": last.violation,
        "solves": len(solutions),
        "unknowns": program.n,
        "constraints": program.m,
        "solver": f"IPOPT: {solution.said}",
    }
    T = program.split(nlp.unknowns(solution.x))[1]
    times = problem.start_time + T * mesh.points
    return Answer(program, solution, statistics, explanation(program, solution, times))


def _rescaled(program: ControlProgram, solution: Solution, factor: float) -> dict[str, Array]:
    return {name: factor * getattr(solution, name) for name in ("lambda_", "lower", "upper")}


def _check(program: ControlProgram, z: Array) -> None:
    """Refuse what is not finite at the guess, naming it."""
    nlp = program.program
    F = nlp.values(z / nlp.S)
    if np.isfinite(F).all():
        return
    k = int(np.argmin(np.isfinite(F)))
    size = program.function.size
    if any(at <= k < at + program.P * size for at, size in program.pulling):
        raise DescriptionError("solve: the force of a muscle is not finite at the guess; give another one")
    if k >= program.P * size:
        raise DescriptionError("solve: a goal is not finite at the start or the end of the guess")
    point, row = divmod(k, size)
    dynamics = program.dynamics
    names = [f"the rate of {v.name}" for v in dynamics.states] + [name for name, _, _ in dynamics.residuals]
    for kind in ("path", "integrand"):
        names += [
            f"goal {g.name!r}"
            for g, s in zip(program.goals, program.sizes, strict=True)
            for _ in range(getattr(s, kind))
        ]
    raise DescriptionError(
        f"solve: {names[row]} is not finite at the guess, t = {program.times[point]:.4g} s; give another guess, "
        "or bounds that keep away from there"
    )


def _watch(progress: Any) -> Any:
    if not progress:
        return None

    def seen(step: Iteration, x: Any) -> bool:
        if callable(progress):
            progress(step)
        else:
            sys.stderr.write(
                f"\r{step.number:4d}  objective {step.objective:.6g}  violation {step.violation:.1e}  "
                f"optimality {step.optimality:.1e}  {step.seconds:.1f} s   "
            )
            sys.stderr.flush()
        return True

    return seen
