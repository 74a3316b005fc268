"""Initial guess of the solver: from bounds, a motion, a state, or an earlier answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.control.goals.follow import Follow, motion_table, variable_name
from condyle.control.transcription import ControlProgram
from condyle.errors import DescriptionError
from condyle.studies.motion.spline_rates import spline
from condyle.system.state import State
from condyle.table import Table


def middle(program: ControlProgram) -> Array:
    """The middle of the bounds if there are two; else the default value within them."""
    low, high = program.point_box
    default = np.array([v.guess for v in program.dynamics.variables])
    with np.errstate(invalid="ignore"):
        both = np.isfinite(low) & np.isfinite(high)
        both[:, [v.kind == "tendon" for v in program.dynamics.variables]] = False
        for part in program.dynamics.quaternions:  # a quaternion of zeros, the middle, is not a rotation
            names = program.problem.system.coordinates[part.start : part.stop]
            both[:, [program.dynamics.index[name] for name in names]] = False
        inner = np.where(both, (low + high) / 2, np.clip(default, low, high))
    # bounds at the start or the end do not change the neighboring point
    for k, v in enumerate(program.dynamics.variables):
        if v.kind in ("coordinate", "state") and not both[1:-1, k].any():
            fixed = [r for r in (0, -1) if low[r, k] == high[r, k]]
            if fixed:
                inner[:, k] = np.linspace(inner[fixed[0], k], inner[fixed[-1], k], program.P)
    return inner


def line(program: ControlProgram) -> Array:
    """Straight lines from the fixed values at the start to those at the end."""
    V = middle(program)
    low, high = program.point_box
    ends = [np.where(low[r] == high[r], low[r], V[program.P // 2]) for r in (0, -1)]
    s = program.mesh.points[:, None]
    known = np.array([v.kind in ("coordinate", "state") for v in program.dynamics.variables])
    return np.where(known, (1 - s) * ends[0] + s * ends[1], V)


def start(program: ControlProgram, guess: Any) -> Array:
    """Initial unknowns, shape (n,)."""
    from condyle.control.answer import Answer

    problem, dynamics = program.problem, program.dynamics
    T = sum(problem.duration) / 2
    parameters = [sum(x) / 2 for x in problem.parameters.values()]
    if isinstance(guess, str) or guess is None:
        if guess not in (None, "bounds", "line"):
            raise DescriptionError(
                f"solve: guess: expected 'bounds', 'line', a Table, a State or an Answer, got {guess!r}"
            )
        V = line(program) if guess == "line" else middle(program)
        if guess is None:
            for goal, _ in problem.minimized:
                if isinstance(goal, Follow) and isinstance(goal.measured, Table):
                    _fill(program, goal.measured, V)
    elif isinstance(guess, Answer):
        theirs = guess.program.dynamics
        shared = [v.name for v in dynamics.variables if v.name in theirs.index]
        if not {v.name for v in dynamics.states} <= set(shared):
            lost = next(v.name for v in dynamics.states if v.name not in theirs.index)
            raise DescriptionError(
                f"solve: guess: the answer is of another system: it has no {lost!r}; give its motion instead: "
                "guess=answer.motion"
            )
        V = middle(program)
        V[:, [dynamics.index[x] for x in shared]] = guess.at(program.mesh.points)[
            :, [theirs.index[x] for x in shared]
        ]
        T = float(np.clip(guess.duration, *problem.duration))
        known = guess.parameters
        parameters = [known.get(name, x) for name, x in zip(problem.parameters, parameters, strict=True)]
    elif isinstance(guess, State):
        if guess.system.coordinates != problem.system.coordinates:
            raise DescriptionError(
                "solve: guess: the state belongs to another system, with coordinates "
                f"{', '.join(guess.system.coordinates[:5])}"
            )
        V = middle(program)
        for names, values in (
            (problem.system.coordinates, guess.q),
            (problem.system.state_variables, guess.z),
        ):
            for name, x in zip(names, np.asarray(values), strict=False):
                if name in dynamics.index:
                    V[:, dynamics.index[name]] = x
        V[:, [i for i, v in enumerate(dynamics.variables) if v.kind == "speed"]] = 0.0
    elif tables := _tables(guess):
        V = middle(program)
        filled = [_fill(program, table, V) for table in tables]
        if not any(filled):
            raise DescriptionError(
                "solve: guess: none of the table's columns is a variable of this system: "
                f"{list(tables[0].names)[:5]}"
            )
    else:
        raise DescriptionError(f"solve: guess: expected a Table, a State or an Answer, got {guess!r}")
    z = np.zeros(program.n)
    m = program.P * program.nv
    z[:m] = V.ravel()
    z[m : m + program.shared] = [*[T] * problem.free, *parameters]
    z = np.clip(z, *program.box)
    if program.own:  # values of goals at these unknowns
        F = program.program.values(z / program.program.S)
        residual = program.program.B @ F
        A = program.program.A.tocsc()
        for unknowns in program.own.values():
            for j in unknowns.tolist():
                row = A.indices[A.indptr[j]]
                z[j] = residual[row]
    return z


def _tables(guess: Any) -> list[Table]:
    """Tables of a guess: Tables, a motion, activations of static optimization, or several of these."""
    many = guess if isinstance(guess, (list, tuple)) else [guess]
    found = [motion_table(x) for x in many]
    found += [x.activations for x in many if isinstance(getattr(x, "activations", None), Table)]
    tables = [x for x in found if isinstance(x, Table)]
    return [x.to_si() for x in tables]


def _fill(program: ControlProgram, table: Table, V: Array) -> bool:
    """Fill in columns by the names of variables; missing speeds and accelerations come from splines. A
    column with the name of a muscle is also its activation."""
    dynamics = program.dynamics
    names = {variable_name(name, dynamics.index): name for name in table.names}
    for muscle in dynamics.muscles:
        state = f"{muscle}.activation"
        for a, b in ((muscle, state), (state, muscle)):
            if a in names and b not in names:
                names[b] = names[a]
    found = [v for v in dynamics.variables if v.name in names]
    t = np.asarray(table.time, float)
    if not found or len(t) < 1:
        return False
    clock = program.times if not program.problem.free else t[0] + program.mesh.points * (t[-1] - t[0])
    inside = np.clip(clock, t[0], t[-1])
    speeds = dict(zip(dynamics.system.coordinates, program.problem.speeds, strict=False))
    for v in found:
        x = np.asarray(table[names[v.name]], float)
        if not np.isfinite(x).all():
            raise DescriptionError(f"solve: guess: column {names[v.name]!r} is not finite everywhere")
        place, speed = dynamics.index[v.name], speeds.get(v.name, "")
        if len(t) < 4:
            V[:, place] = np.interp(inside, t, x)
            continue
        curve = spline(t, x[:, None], 5 if len(t) >= 6 else 3)
        V[:, place] = curve(inside)[:, 0]
        if v.kind != "coordinate":
            continue
        if speed in dynamics.index and speed not in names:
            V[:, dynamics.index[speed]] = curve(inside, 1)[:, 0]
        if (rate := f"{speed} rate") in dynamics.index:
            V[:, dynamics.index[rate]] = curve(inside, 2)[:, 0]
    return True
