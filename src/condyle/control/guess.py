"""Where the solver starts: from nothing, a motion, a state, or an earlier answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from condyle.arrays import Array
from condyle.control.program import ControlProgram
from condyle.errors import DescriptionError
from condyle.system.state import State
from condyle.table import Table

if TYPE_CHECKING:
    from condyle.control.answer import Answer


def middle(program: ControlProgram) -> Array:
    """The middle of the bounds, where there are two; else the default value within them."""
    low, high = (x[: program.P * program.nv].reshape(program.P, program.nv) for x in program.box)
    default = np.array([v.guess for v in program.dynamics.variables])
    with np.errstate(invalid="ignore"):
        both = np.isfinite(low) & np.isfinite(high)
        inner = np.where(both, (low + high) / 2, np.clip(default, low, high))
    # a start or an end by itself does not move the point before or after it
    for k, v in enumerate(program.dynamics.variables):
        if v.kind in ("coordinate", "state") and not both[1:-1, k].any():
            fixed = [r for r in (0, -1) if low[r, k] == high[r, k]]
            if fixed:
                inner[:, k] = np.linspace(inner[fixed[0], k], inner[fixed[-1], k], program.P)
    return inner


def line(program: ControlProgram) -> Array:
    """Straight lines from what is fixed at the start to what is fixed at the end."""
    V = middle(program)
    low, high = (x[: program.P * program.nv].reshape(program.P, program.nv) for x in program.box)
    ends = [np.where(low[r] == high[r], low[r], V[program.P // 2]) for r in (0, -1)]
    s = program.mesh.points[:, None]
    known = np.array([v.kind in ("coordinate", "state") for v in program.dynamics.variables])
    return np.where(known, (1 - s) * ends[0] + s * ends[1], V)


def start(program: ControlProgram, guess: Table | State | Answer | str | None) -> Array:
    """Unknowns to start from, shape (n,)."""
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
    elif isinstance(guess, Answer):
        if guess.program.dynamics.variables and [v.name for v in guess.program.dynamics.variables] != [
            v.name for v in dynamics.variables
        ]:
            raise DescriptionError("solve: guess: the answer has other variables: it is of another system")
        V = guess.at(program.mesh.points)
        T = float(np.clip(guess.duration, *problem.duration))
        known = guess.parameters
        parameters = [known.get(name, x) for name, x in zip(problem.parameters, parameters, strict=True)]
    elif isinstance(guess, State):
        if guess.system is not problem.system and guess.system.coordinates != problem.system.coordinates:
            raise DescriptionError("solve: guess: the state belongs to another system")
        V = middle(program)
        for names, values in (
            (problem.system.coordinates, guess.q),
            (problem.system.state_variables, guess.z),
        ):
            for name, x in zip(names, np.asarray(values), strict=False):
                if name in dynamics.index:
                    V[:, dynamics.index[name]] = x
        V[:, [i for i, v in enumerate(dynamics.variables) if v.kind == "speed"]] = 0.0
    elif isinstance(guess, Table):
        V = _from_table(program, guess)
    else:
        raise DescriptionError(f"solve: guess: expected a Table, a State or an Answer, got {guess!r}")
    z = np.zeros(program.n)
    m = program.P * program.nv
    z[:m] = V.ravel()
    z[m : m + program.shared] = [*[T] * problem.free, *parameters]
    z = np.clip(z, *program.box)
    if program.own:  # values of goals as they are there
        F = program.program.values(z / program.program.S)
        residual = program.program.B @ F
        A = program.program.A.tocsc()
        for unknowns in program.own.values():
            for j in unknowns.tolist():
                row = A.indices[A.indptr[j]]
                z[j] = residual[row]
    return z


def _from_table(program: ControlProgram, table: Table) -> Array:
    """Columns by the names of variables; speeds and accelerations by splines where they are missing."""
    dynamics, V = program.dynamics, middle(program)
    names = {name: name for name in table.names}
    names |= {
        name.removesuffix("/value").rpartition("/")[2]: name
        for name in table.names
        if name.endswith("/value")
    }
    found = [v for v in dynamics.variables if v.name in names]
    if not found:
        raise DescriptionError(
            f"solve: guess: none of the table's columns is a variable of this system: {list(table.names)[:5]}"
        )
    if table.degrees or any(unit in ("deg", "mm") for unit in table.units):
        table = table.to_si()
    t = np.asarray(table.time, float)
    clock = program.times if not program.problem.free else t[0] + program.mesh.points * (t[-1] - t[0])
    from scipy.interpolate import make_interp_spline

    speeds = dict(zip(dynamics.system.coordinates, program.problem.speeds, strict=False))
    for v in found:
        curve = make_interp_spline(t, table[names[v.name]], min(3, len(t) - 1))
        inside = np.clip(clock, t[0], t[-1])
        V[:, dynamics.index[v.name]] = curve(inside)
        speed = speeds.get(v.name, "")
        if v.kind == "coordinate" and speed in dynamics.index and speed not in names:
            V[:, dynamics.index[speed]] = curve.derivative()(inside)
        if v.kind == "coordinate" and (rate := f"{speed} rate") in dynamics.index:
            V[:, dynamics.index[rate]] = curve.derivative(2)(inside) if len(t) > 3 else 0.0
    return V
