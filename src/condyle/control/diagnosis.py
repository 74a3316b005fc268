"""Checks of a problem before it is solved: requirements that no movement within the bounds can meet."""

from __future__ import annotations

import numpy as np

from condyle.arrays import Array
from condyle.control.transcription import ConstraintRows, ControlProgram
from condyle.errors import DescriptionError

SLACK = 1e-7
"""Tolerance relative to the size of the compared numbers."""


def diagnose(program: ControlProgram, z: Array) -> None:
    """Raise an error for contradictory requirements, and for goals that are not finite at the guess.

    Raises:
        DescriptionError: contradicting requirements, with numbers and units.
    """
    _linear(program)
    _same_function(program)
    _constraints_at_ends(program)
    _finite(program, z)


def _interval(low: float, high: float) -> str:
    return f"{low:.6g}" if low == high else f"from {low:.6g} to {high:.6g}"


def _linear(program: ControlProgram) -> None:
    """Check linear conditions against the bounds and against each other."""
    nlp, (lower, upper) = program.program, program.box
    A, B = nlp.A, nlp.B
    rows = np.flatnonzero((np.diff(B.indptr) == 0) & (np.diff(A.indptr) > 0))
    if not len(rows):
        return
    # the least and greatest value of each row within the bounds
    part = A[rows]
    row = np.repeat(np.arange(len(rows)), np.diff(part.indptr))
    with np.errstate(invalid="ignore"):
        ends = np.stack([part.data * lower[part.indices], part.data * upper[part.indices]])
    least, most = (np.bincount(row, x, len(rows)) for x in (ends.min(axis=0), ends.max(axis=0)))
    low, high = program.low[rows], program.high[rows]
    slack = SLACK * (1 + np.abs(np.where(np.isfinite(low), low, 0)))
    bad = np.flatnonzero((least > high + slack) | (most < low - slack))
    for k in bad[:1]:
        name, unit = _name(program.rows, int(rows[k]))
        raise DescriptionError(
            f"{name} cannot be met: it asks for {_interval(low[k], high[k])}"
            f"{' ' + unit if unit else ''}, and the bounds allow {_interval(least[k], most[k])}; loosen bounds "
            "of its variables, or leave the requirement out"
        )
    seen: dict[tuple[object, ...], int] = {}
    for k in range(len(rows)):
        own = slice(part.indptr[k], part.indptr[k + 1])
        unit_row = np.round(part.data[own] / part.data[own][0], 12)
        key = (*part.indices[own].tolist(), *unit_row.tolist())
        factor = part.data[own][0]
        other = seen.setdefault(key, k)
        f = part.data[part.indptr[other]]
        a, b = sorted((low[k] / factor, high[k] / factor)), sorted((low[other] / f, high[other] / f))
        if a[0] > b[1] + slack[k] or b[0] > a[1] + slack[k]:
            one, two = (_name(program.rows, int(rows[i]))[0] for i in (other, k))
            raise DescriptionError(
                f"{one} and {two} contradict each other: the same is {_interval(*b)} by the one and "
                f"{_interval(*a)} by the other"
            )


def _same_function(program: ControlProgram) -> None:
    """Raise an error for requirements of the same function whose limits do not overlap."""
    seen: dict[str, tuple[Array, Array]] = {}
    for goal in program.problem.required:
        low, high = (np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in goal.limits)
        if not hasattr(goal, "function"):
            continue
        a, b = seen.setdefault(goal.code(program.dynamics), (low, high))
        if (low > b).any() or (high < a).any():
            raise DescriptionError(
                f"require: {goal.name} must be {_interval(low.max(), high.min())} and "
                f"{_interval(a.max(), b.min())}: these contradict each other"
            )


def _constraints_at_ends(program: ControlProgram) -> None:
    """If all coordinates are fixed at an end, check the system's constraints there."""
    dynamics, (low, high) = program.dynamics, program.point_box
    if not dynamics.constrained:
        return
    held = program.numbers()[:, : dynamics.held]
    for where, row in (("starts", 0), ("ends", program.P - 1)):
        V = low[row], high[row]
        own = [i for i, v in enumerate(dynamics.variables) if v.kind == "coordinate"]
        free = [i for i in own if V[0][i] != V[1][i]]
        if free or not own:
            continue
        q, _, _ = dynamics.unpack(np.nan_to_num(V[0])[None], held[row : row + 1])
        error = np.abs(np.asarray(dynamics.system.constraints.errors(q[0], np.zeros(dynamics.tree.nu))[0]))
        if error.max(initial=0.0) > 1e-6:
            name = [name for name, _ in dynamics.model.equation_names()][int(error.argmax())]
            raise DescriptionError(
                f"the movement {where} where constraint {name} is off by {error.max():.3g}: leave a coordinate "
                "free there, or take the coordinates from cd.assemble"
            )


def _finite(program: ControlProgram, z: Array) -> None:
    nlp = program.program
    F = nlp.values(z / nlp.S)
    if np.isfinite(F).all():
        return
    k, size = int(np.argmin(np.isfinite(F))), program.function.size
    if any(at <= k < at + program.P * each for at, each in program.pulling):
        raise DescriptionError("solve: the force of a muscle is not finite at the guess; give another guess")
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


def _name(rows: list[ConstraintRows], i: int) -> tuple[str, str]:
    found = next(r for r in rows if r.start <= i < r.stop)
    return found.names[(i - found.start) % len(found.names)]
