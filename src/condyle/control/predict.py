"""`cd.predict`: a movement from its start, its end and an objective, without a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from condyle.arguments import with_call_hints
from condyle.control.answer import Answer
from condyle.control.goals.base import MovementGoal
from condyle.control.goals.effort import Effort
from condyle.control.goals.one_line import MeanSpeed, Periodic
from condyle.control.problem import Pair, Problem
from condyle.control.solve import Guess, solve
from condyle.errors import DescriptionError
from condyle.native.machine.notice import announced
from condyle.nlp import Iteration
from condyle.system.checked_arguments import check_system
from condyle.system.system import System


@with_call_hints({"goals": "it is minimize=", "goal": "it is minimize="})
@announced
def predict(
    system: System,
    duration: Pair,
    *,
    start: Mapping[str, Pair] | None = None,
    end: Mapping[str, Pair] | None = None,
    bounds: Mapping[str, Pair] | None = None,
    at_rest: str = "",
    speed: float | None = None,
    mirror: tuple[str, str] | None = None,
    minimize: MovementGoal | Mapping[MovementGoal, float] | None = None,
    require: MovementGoal | Sequence[MovementGoal] = (),
    torques: float | Mapping[str, float] = 0.0,
    guess: Guess = None,
    mesh: int = 50,
    scheme: str = "radau-2",
    accuracy: float = 1e-6,
    iterations: int = 1000,
    progress: bool | Callable[[Iteration], object] = False,
) -> Answer:
    """Predict a movement from its start, end, speed and objective.

    Args:
        system: the system; its inputs are the controls.
        duration: [s], a number, or a pair of bounds.
        start: {variable: value or (low, high)} at the start; see `Problem.bound` for names.
        end: the same at the end.
        bounds: the same at all times.
        at_rest: "start", "end" or "both": where all speeds are zero.
        speed: mean speed of the root along x [m/s], such as that of walking; the movement is then periodic.
        mirror: ("_r", "_l"): the movement is half a stride, its end the mirror image of its start.
        minimize: a goal, or {goal: weight}. By default `Effort()`; with a speed `Effort(3)` per distance.
        require: required goals.
        torques: optimal force of torques added to all coordinates, or {coordinate: optimal force} [N m, N].
        guess: see `cd.solve`.
        mesh: see `cd.solve`.
        scheme: see `cd.solve`.
        accuracy: see `cd.solve`.
        iterations: largest number of iterations.
        progress: see `cd.solve`.

    Raises:
        DescriptionError: invalid values. UnknownNameError: a variable that the system does not have.
    """
    check_system("predict", system, "duration")
    if at_rest not in ("", "start", "end", "both"):
        raise DescriptionError(f"predict: at_rest must be 'start', 'end' or 'both', got {at_rest!r}")
    problem = Problem(system, duration=duration)
    if torques:
        given: Any = {"coordinates": torques} if isinstance(torques, Mapping) else {"optimal_force": torques}
        problem.add_torques(**given)
    for names, key in ((bounds, "between"), (start, "start"), (end, "end")):
        for name, value in (names or {}).items():
            problem.bound(name, **{key: value})
    if at_rest:
        ends = {key: 0.0 for key in ("start", "end") if at_rest in (key, "both")}
        problem.bound(problem.speeds, **ends)
    per = ""
    if speed is not None:
        moves = MeanSpeed(speed)
        problem.require(Periodic(mirror=mirror), moves)
        per = moves.moving(problem.dynamics)
    elif mirror is not None:
        problem.require(Periodic(mirror=mirror))
    if minimize is None:
        minimize = Effort(3, per=per) if per else Effort()
    goals = minimize if isinstance(minimize, Mapping) else {minimize: 1.0}
    for goal, weight in goals.items():
        problem.minimize(goal, weight)
    problem.require(*((require,) if isinstance(require, MovementGoal) else require))
    return solve(
        problem, mesh=mesh, scheme=scheme, accuracy=accuracy, guess=guess, iterations=iterations,
        progress=progress,
    )  # fmt: skip
