"""`cd.solve`: solves a problem from a guess and returns an Answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import is_whole
from condyle.collocation.intervals import CollocationMesh
from condyle.collocation.schemes import scheme as scheme_named
from condyle.control.answer import Answer, PhasesAnswer, explanation
from condyle.control.diagnosis import diagnose
from condyle.control.guess import start
from condyle.control.optimize import SolveSettings, kkt, optimize, said
from condyle.control.phases import JoinedProgram, Phases
from condyle.control.problem import Problem
from condyle.control.transcription import ControlProgram
from condyle.errors import DescriptionError
from condyle.fit.frames import Frames
from condyle.integrate.trajectory import Trajectory
from condyle.native.machine import notice
from condyle.nlp import Iterate, Iteration, ipopt
from condyle.studies.motion.motion import Motion
from condyle.studies.static_optimization import StaticOptimization
from condyle.system.checked_arguments import number
from condyle.system.state import State
from condyle.table import Table

FINEST = 2000
"""Maximum number of intervals of a refined mesh."""
Guess = Table | State | Answer | Motion | Trajectory | Frames | StaticOptimization | str | None
"""Initial guess: see `cd.solve`."""
Progress = bool | Callable[[Iteration], object]


@overload
def solve(
    problem: Problem,
    *,
    mesh: int = ...,
    scheme: str = ...,
    accuracy: float = ...,
    guess: Guess | Sequence[Guess] = ...,
    hessian: str = ...,
    midpoint_controls: str = ...,
    mesh_error: float | None = ...,
    iterations: int = ...,
    progress: Progress = ...,
    checkpoint: str | Path | None = ...,
    options: Mapping[str, ipopt.Option] | None = ...,
) -> Answer: ...
@overload
def solve(
    problem: Phases,
    *,
    mesh: int | Sequence[int] = ...,
    scheme: str = ...,
    accuracy: float = ...,
    guess: PhasesAnswer | Guess | Sequence[Guess] = ...,
    hessian: str = ...,
    midpoint_controls: str = ...,
    mesh_error: float | None = ...,
    iterations: int = ...,
    progress: Progress = ...,
    checkpoint: str | Path | None = ...,
    options: Mapping[str, ipopt.Option] | None = ...,
) -> PhasesAnswer: ...
@with_call_hints({"tol": "it is accuracy=", "max_iter": "it is iterations=", "refine": "it is mesh_error="})
def solve(
    problem: Problem | Phases,
    *,
    mesh: int | Sequence[int] = 50,
    scheme: str = "radau-2",
    accuracy: float = 1e-6,
    guess: PhasesAnswer | Guess | Sequence[Guess] = None,
    hessian: str = "exact",
    midpoint_controls: str = "interpolated",
    mesh_error: float | None = None,
    iterations: int = 1000,
    progress: Progress = False,
    checkpoint: str | Path | None = None,
    options: Mapping[str, ipopt.Option] | None = None,
) -> Answer | PhasesAnswer:
    """Find the movement that minimizes a problem's objective and meets its requirements.

    Ctrl-C stops it and returns the best iterate. A problem without a solution does not raise an error:
    `answer.status` and `answer.message` explain why, and list the largest violations.

    Args:
        problem: the problem, or `condyle.control.Phases` of several.
        mesh: number of intervals; for phases one number, or one each.
        scheme: "radau-2" (default), "radau-3", "hermite-simpson" or "trapezoidal".
        accuracy: accuracy of the conditions of optimality, relative to the size of the objective, and of
            all requirements in units of their variables. The objective exceeds its minimum by at most about
            a tenth of it for each bound and point: 1e-6 gives three to five digits if hundreds are active.
        guess: initial guess: a Table of coordinates (and more) over time, a motion, a result of
            `cd.static_optimization`, a list of these, a State (such as from `cd.relax`), or an earlier
            Answer, also on another mesh; "line" for straight lines between start and end, "bounds" for the
            middle of the bounds, as in Moco. By default the data of goals.Follow, and else the middle of
            the bounds. An answer on the same mesh gives a warm start with its multipliers. For phases, a
            list with one each.
        hessian: "exact", or "limited-memory".
        midpoint_controls: for "hermite-simpson": "interpolated", as in Moco, or "free".
        mesh_error: subdivide intervals until `answer.mesh_error` is at most this.
        iterations: largest number of iterations.
        progress: True prints objective, violation and time; a function is called at each iteration.
        checkpoint: a file (.npz) to which the iterate is written every 20 s and at the end. If it exists, the
            run resumes from it.
        options: options of IPOPT, by their names.

    Raises:
        DescriptionError: an invalid problem: bounds that cross, contradictory requirements, goals that are
            not finite at the guess, data that do not cover the movement.
    """
    if not isinstance(problem, Problem | Phases):
        raise DescriptionError(f"solve: expected a cd.Problem or condyle.control.Phases, got {problem!r}")
    problems = problem.problems if isinstance(problem, Phases) else [problem]
    counts = list(mesh) if isinstance(mesh, Iterable) else [mesh] * len(problems)
    for count in counts:
        if not is_whole(count, 1):
            raise DescriptionError(f"solve: mesh must be the number of intervals, 1 or more, got {mesh!r}")
    if len(counts) != len(problems):
        raise DescriptionError(f"solve: mesh has {len(counts)} numbers, and there are {len(problems)} phases")
    if hessian not in ("exact", "limited-memory"):
        raise DescriptionError(f"solve: hessian must be 'exact' or 'limited-memory', got {hessian!r}")
    if midpoint_controls not in ("interpolated", "free"):
        raise DescriptionError(
            f"solve: midpoint_controls must be 'interpolated' or 'free', got {midpoint_controls!r}"
        )
    if not 1e-12 <= number("solve: accuracy", accuracy, "a number from 1e-12 to 0.1") <= 0.1:
        raise DescriptionError(f"solve: accuracy must be between 1e-12 and 0.1, got {accuracy!r}")
    if mesh_error is not None and not number("solve: mesh_error", mesh_error, "a number above 0") > 0:
        raise DescriptionError(f"solve: mesh_error must be above 0, got {mesh_error!r}")
    if number("solve: iterations", iterations, "a whole number") < 0:
        raise DescriptionError(f"solve: iterations must be 0 or more, got {iterations!r}")
    for one in problems:
        if not one.minimized and not one.required and not one.bounds:
            raise DescriptionError("solve: the problem has no goals and no bounds: use problem.minimize(...)")
    guesses: Any = guess
    if isinstance(problem, Phases):
        guesses = guess.phases if isinstance(guess, PhasesAnswer) else guess
        guesses = list(guesses) if isinstance(guesses, (list, tuple)) else [guesses] * len(problems)
        if len(guesses) != len(problems):
            raise DescriptionError(f"solve: {len(guesses)} guesses, and there are {len(problems)} phases")
    else:
        guesses = [guess]
    kind = scheme_named(scheme)
    meshes = [CollocationMesh.even(kind, int(count)) for count in counts]
    for k, g in enumerate(guesses):  # keep a refined mesh
        if isinstance(g, Answer) and (counts[k], scheme) == (
            g.program.mesh.intervals,
            g.program.mesh.scheme.name,
        ):
            meshes[k] = g.program.mesh
    settings = SolveSettings(
        accuracy,
        hessian == "exact",
        int(iterations),
        progress,
        dict(options or {}),
        None if checkpoint is None else Path(checkpoint),
    )
    interpolated = midpoint_controls == "interpolated"
    with said(progress is True):
        answer = _on_meshes(problem, meshes, guesses, interpolated, settings)
    while mesh_error is not None and answer.ok and answer.mesh_error > mesh_error:
        parts = answer.phases if isinstance(answer, PhasesAnswer) else [answer]
        order = kind.order if kind.steps > 1 else 2
        divided = [np.clip(np.ceil((a.errors / mesh_error) ** (1 / order)), 1, 4).astype(int) for a in parts]
        if sum(d.sum() for d in divided) > FINEST or max(d.max() for d in divided) == 1:
            answer.message += f"; the mesh error is {answer.mesh_error:.2g}, above {mesh_error:g}"
            break
        meshes = [m.refined(d) for m, d in zip(meshes, divided, strict=True)]
        answer = _on_meshes(problem, meshes, parts, interpolated, replace(settings, checkpoint=None))
    return answer


def _on_meshes(
    problem: Problem | Phases,
    meshes: list[CollocationMesh],
    guesses: Sequence[Any],
    interpolated: bool,
    settings: SolveSettings,
) -> Answer | PhasesAnswer:
    begin = time.process_time()
    problems = problem.problems if isinstance(problem, Phases) else [problem]
    with notice.working("describing the control problem"):
        parts = [
            ControlProgram(one, mesh, settings.exact, interpolated)
            for one, mesh in zip(problems, meshes, strict=True)
        ]
        starts = [start(program, guess) for program, guess in zip(parts, guesses, strict=True)]
        for program, z in zip(parts, starts, strict=True):
            diagnose(program, z)
    whole = JoinedProgram(problem, parts) if isinstance(problem, Phases) else parts[0]
    nlp = whole.program
    warm = _warm(whole, parts, guesses)
    prepared = time.process_time() - begin
    text = "\n".join(f"{p.key} {p.mesh.scheme.name} {p.mesh.ends.tolist()}" for p in parts)
    x = np.concatenate(starts) / nlp.S
    free = any(one.free for one in problems)
    found = optimize(nlp, whole.bounds, x, warm, text, settings, free)
    solution = found.solution
    optimality, violation = kkt(nlp, whole.bounds, solution)
    statistics = {
        "iterations": found.iterations,
        "seconds": found.seconds,
        "seconds_in_functions": found.in_functions,
        "seconds_to_prepare": prepared,
        "optimality": optimality,
        "violation": violation,
        "stages": found.stages,
        "unknowns": whole.n,
        "constraints": whole.m,
        "solver": f"IPOPT: {solution.said}",
    }
    if isinstance(whole, ControlProgram):
        return _answer(whole, solution, statistics)
    answers = []
    for k, p in enumerate(parts):
        p.program.scale_objective(nlp.r)
        own = slice(whole.first[k], whole.first[k + 1])
        rows = slice(whole.row[k], whole.row[k + 1])
        mine = replace(
            solution,
            x=solution.x[own],
            constraints=solution.constraints[rows],
            lambda_=solution.lambda_[rows],
            lower=solution.lower[own],
            upper=solution.upper[own],
        )
        answers.append(_answer(p, mine, dict(statistics)))
    return PhasesAnswer(whole, solution, answers, statistics)


def _answer(program: ControlProgram, solution: Any, statistics: dict[str, Any]) -> Answer:
    T = program.split(program.program.unknowns(solution.x))[1]
    times = program.problem.start_time + T * program.mesh.points
    return Answer(program, solution, statistics, explanation(program, solution, times))


def _warm(whole: Any, parts: Sequence[ControlProgram], guesses: Sequence[Any]) -> Iterate | None:
    """Unknowns and multipliers of answers on the same meshes."""
    if len(parts) > 1 or not isinstance(guesses[0], Answer):
        return None
    answer, program = guesses[0], parts[0]
    if not answer.ok or len(answer.solution.x) != program.n or answer.program.m != program.m:
        return None
    if program.mesh is not answer.program.mesh and not np.array_equal(
        program.mesh.ends, answer.program.mesh.ends
    ):
        return None
    program.program.scale_objective(answer.program.program.r)
    s = answer.solution
    return Iterate(s.x, s.lambda_, s.lower, s.upper)
