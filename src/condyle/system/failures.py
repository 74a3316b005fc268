"""Errors and warnings for states without a result: singular mobilizers, violated constraints, paths and
contacts that are not found.

If a path over surfaces, or the closest points of a contact, are not found, dependent results are NaN
(forces/path.py, contact/hunt_crossley.py); this module finds the cause of a NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from condyle.arrays import Array
from condyle.errors import ConstraintError, ContactError, ConvergenceError, PathError, SingularError, warn
from condyle.mobilizers import motion_at
from condyle.model.model import Model
from condyle.model.operators import OPERATORS
from condyle.native.machine import notes
from condyle.native.tables.lookup import lookup_context
from condyle.native.tables.staged import Staged
from condyle.presentation import cut
from condyle.status import Outcome, Status
from condyle.tree.body import Body
from condyle.tree.tree import Tree

if TYPE_CHECKING:
    from condyle.system.compiled import Compiled

LIGHT = 1e3
"""Ratio of carried to own mass above which a body may be too light."""
INDEPENDENT = 1e-5
"""Least singular value of H above which a mobilizer has not lost rank: pivots are squares of it."""


def refuse_singular(
    tree: Tree, name: str, arguments: tuple[Any, ...], results: list[np.ndarray], status: np.ndarray
) -> NoReturn:
    """Raise SingularError if a mobilizer has lost rank, from arguments, results and statuses (..., 1) of an
    operator."""
    k, body, q, which = _place(tree, name, arguments, results, status)
    broken = next((b for b in tree.bodies if not _is_finite(b, q[b.q])), None)
    if broken is not None:
        raise SingularError(
            f"{name}: the mobilizer of body {broken.name!r} ({broken.mobilizer!r}) is not a number or "
            f"infinite at {_at(broken, q)}{which}. Check its functions for a root of a negative number or "
            "a division by zero; system.explain(state) shows all",
            broken.name,
            tree.speeds[broken.u.start],
            q[broken.q],
            results[0],
        )
    carried = sum(b.mass for b in tree.bodies if b is not body and body.index in tree.path(b.index))
    if 0 < LIGHT * body.mass < carried and _independence(body, q[body.q]) > INDEPENDENT:
        raise SingularError(
            f"{name}: what speed {tree.speeds[k]!r} of body {body.name!r} ({body.mobilizer!r}) moves is lost "
            f"in rounding at {_at(body, q)}{which}: the body has {body.mass:.3g} kg and carries "
            f"{carried:.3g} kg, and in a direction in which only its own inertia counts no digits of it are "
            "left. Give it more mass or inertia, weld it to what it carries, or lock that "
            "speed",
            body.name,
            tree.speeds[k],
            q[body.q],
            results[0],
        )
    raise SingularError(
        f"{name}: the mobilizer of body {body.name!r} ({body.mobilizer!r}) has lost a direction of motion: "
        f"speed {tree.speeds[k]!r} moves nothing new at {_at(body, q)}{which}. Use other coordinates there "
        "(a quaternion instead of angles), lock that speed, or stay away from "
        "it",
        body.name,
        tree.speeds[k],
        q[body.q],
        results[0],
    )


def _independence(body: Body, q: np.ndarray) -> float:
    """Least singular value of a mobilizer's H at its coordinates, columns of length one, Parameters at their
    defaults; 0 if a column is zero."""
    nu = body.mobilizer.nu
    parts = motion_at(body.mobilizer, 0.0, q, np.zeros(nu))
    H = np.concatenate([np.reshape(parts[2], (3, nu)), np.reshape(parts[3], (3, nu))])
    return float(np.linalg.svd(H / np.maximum(np.linalg.norm(H, axis=0), 1e-300), compute_uv=False)[-1])


def refuse_rates(
    tree: Tree, name: str, arguments: tuple[Any, ...], results: list[np.ndarray], status: np.ndarray
) -> NoReturn:
    """Raise SingularError if the coordinates are singular: N(q) is not finite, or too large."""
    k, body, q, which = _place(tree, name, arguments, results, status)
    words = f" ({body.mobilizer.singular})" if body.mobilizer.singular else ""
    raise SingularError(
        f"{name}: the coordinates of body {body.name!r} ({body.mobilizer!r}) cannot follow its speeds at "
        f"{_at(body, q)}{which}: qdot = N(q) u is without bound there{words}. Use coordinates='quaternion' "
        "where the mobilizer has them, or stay away from "
        "it",
        body.name,
        tree.speeds[k],
        q[body.q],
        results[0],
    )


def _place(
    tree: Tree, name: str, arguments: tuple[Any, ...], results: list[np.ndarray], status: np.ndarray
) -> tuple[int, Body, np.ndarray, str]:
    """Speed and body of the first status, q (nq,) there and text for the state; results there become NaN."""
    where = tuple(int(i[0]) for i in np.nonzero(status[..., 0])) if status.ndim > 1 else ()
    k = int(status[(*where, 0)]) - 1
    body = next(b for b in tree.bodies if b.u.start <= k < b.u.stop)
    q = np.broadcast_to(arguments[0], status.shape[:-1] + (tree.nq,))[where]
    which = f" (state {where} of the batch; `error.result` has the others)" if where else ""
    for result in results:
        result[status[..., 0] != 0] = np.nan
    return k, body, q, which


def _at(body: Body, q: np.ndarray) -> str:
    return ", ".join(
        f"{c.name} = {x:.6g}" for c, x in zip((body.follows or body).coordinates, q[body.q], strict=True)
    )


def _is_finite(body: Body, q: np.ndarray) -> bool:
    """Whether a mobilizer's equations give numbers at its coordinates, at rest, Parameters and time at their
    defaults."""
    return all(np.isfinite(x).all() for x in motion_at(body.mobilizer, 0.0, q, np.zeros(body.mobilizer.nu)))


def refuse_accelerations(
    model: Model,
    name: str,
    tail: int,
    arguments: tuple[Any, ...],
    results: list[np.ndarray],
    status: np.ndarray,
) -> None:
    """Raise SingularError if a mobilizer has lost rank, ConstraintError if constraints are violated or not
    finite.

    Args:
        tail: which of the arguments q, u, tau, ... is the tail.
        arguments: of an operator.
        results: of the operator.
        status: of each state, (..., 1).
    """
    tree, codes = model.tree, status[..., 0]
    if (unfound := codes >= 2 * (tree.nu + 1)).any():
        for result in results:
            result[codes != 0] = np.nan
        where = tuple(int(i[0]) for i in np.nonzero(unfound)) if unfound.ndim else ()
        laws = ", ".join(map(repr, model.reaction_laws))
        raise ConvergenceError(
            f"{name}: no accelerations and reactions of joints agree with the laws that depend on these, {laws}"
            f"{f' (state {where} of the batch)' if where else ''}: what they exert grows as fast as the reaction "
            "that it causes, as friction does that holds itself. Check their numbers, such as coefficient and "
            "radius of cd.forces.JointFriction",
            None,
            Status.NOT_FINITE,
        )
    bad = codes == tree.nu + 1
    # a lost speed takes precedence
    lost = np.where(bad, 0, np.where(codes > tree.nu + 1, codes - tree.nu - 1, codes))
    if lost.any():
        for result in results:
            result[codes != 0] = np.nan
        refuse_singular(tree, name, arguments, results, lost[..., None])
    finite = np.all([np.isfinite(x).all(axis=-1) for x in results], axis=0)
    for part in (bad & finite, bad & ~finite):
        if not part.any():
            continue
        where = tuple(int(i[0]) for i in np.nonzero(part)) if part.ndim else ()
        here = [
            np.broadcast_to(arguments[k], (*codes.shape, np.shape(arguments[k])[-1]))[where]
            for k in (0, 1, 2, tail)
        ]
        which = f" (state {where} of the batch; `error.result` has the others)" if where else ""
        q, u, tau, more = here
        if words := unmet(model, q, u, tau, more):
            for result in results:
                result[codes != 0] = np.nan
            raise ConstraintError(f"{name}: {words[0]}{which}. {words[1]}", words[2], None, results[0])


def report_unfound_reactions(compiled: Compiled, name: str, arguments: tuple[Any, ...], tail: Any) -> None:
    """Raise ConvergenceError if a NaN comes from joint reactions in laws."""
    if compiled.model.reaction_laws and OPERATORS[name].arguments == ("q", "u", "tail"):
        compiled.function("forward_dynamics")(*arguments, compiled.no_tau, tail)


def refuse_undefined(model: Model, name: str, values: np.ndarray, levels: Sequence[str] = ()) -> NoReturn:
    """Raise ConstraintError if values (..., m) of the equations of some levels, all by default, are not
    finite."""
    owners = [
        c
        for c, constraint in model.constraints.items()
        for part in constraint.parts
        if not levels or part.level in levels
        for _ in range(part.size)
    ]
    *where, row = (int(i[0]) for i in np.nonzero(~np.isfinite(values)))
    which = f" (state {tuple(where)} of the batch; `error.result` has all)" if where else ""
    raise ConstraintError(
        f"{name}: constraint {owners[row]!r} is not a number or infinite{which}. "
        f"{model.constraints[owners[row]].undefined or _LOOK}; system.explain(state) shows "
        "all",
        {owners[row]: float("nan")},
        None,
        values,
    )


def refuse_unmet(name: str, equations: Sequence[str], left: np.ndarray, allowed: np.ndarray) -> None:
    """Raise ConstraintError if the remaining velocity errors (..., m) are too large."""
    bad = ~(np.abs(left) <= allowed)
    if not bad.any():
        return
    where = tuple(int(i[0]) for i in np.nonzero(bad.any(axis=-1))) if bad.ndim > 1 else ()
    amounts = {name: float(x) for name, x, b in zip(equations, left[where], bad[where], strict=True) if b}
    listed = ", ".join(f"{label} by {x:.3g}" for label, x in list(amounts.items())[:5])
    which = f" (state {where} of the batch)" if where else ""
    raise ConstraintError(
        f"{name}: no speeds satisfy the constraints; violated: {listed}{which}. Do they "
        "contradict each other, a lock or a motion? Disable one or free a "
        "speed",
        amounts,
        None,
    )


def unmet(
    model: Model, q: np.ndarray, u: np.ndarray, tau: np.ndarray, tail: np.ndarray
) -> tuple[str, str, dict[str, float]] | None:
    """The constraints that are violated or not finite at one state, what to do, and amounts by equation;
    None if all are satisfied, or if something else is not finite."""

    from condyle.constraints.solve.equations import row_slices
    from condyle.constraints.solve.multipliers import ROUNDING, UNMET
    from condyle.model.explain import explain

    found = explain(model, q, u, tau, tail)
    if found.first is not None:
        broken = next((c for c in model.constraints if found.first.startswith(f"constraint {c!r}: ")), None)
        if broken is None:
            return None
        return (
            f"{found.first} is not a number or infinite",
            f"{model.constraints[broken].undefined or _LOOK}; system.explain(state) shows all",
            {broken: float("nan")},
        )
    udot = np.concatenate([found.values[f"udot of {speed!r}"] for speed in model.tree.speeds])
    amounts, size = {}, {}
    for name, at in row_slices(model.constraints).items():
        G = np.reshape(found.values[f"constraint {name!r}: G"], (-1, udot.size), order="F")
        bias = found.values[f"constraint {name!r}: bias"]
        r, s = G @ udot + bias, np.abs(G) @ np.abs(udot) + np.abs(bias)
        for k in range(at.stop - at.start):
            label = name if len(r) == 1 else f"{name}[{k}]"
            amounts[label], size[label] = float(r[k]), float(s[k])
    large = [label for label, r in amounts.items() if abs(r) > UNMET * size[label]]
    most = max((abs(amounts[label]) for label in large), default=0.0)
    worst = sorted(
        (label for label in large if abs(amounts[label]) > ROUNDING * most),
        key=lambda label: -abs(amounts[label]),
    )
    worst = worst[:5]
    if not worst:
        return None
    listed = ", ".join(
        f"{label} by {amounts[label]:.3g} (a sum of terms of {size[label]:.3g})" for label in worst
    )
    return (
        f"no accelerations satisfy the constraints; violated: {listed}; allowed {UNMET:g} of the terms",
        "Do they contradict each other, a lock or a motion? Disable one or free a speed; where "
        "constraints are redundant, take the state to them first "
        "(system.project)",
        {label: amounts[label] for label in worst},
    )


_LOOK = "Check its equations for a root of a negative number or a division by zero"


@lookup_context()
def unsolved(compiled: Compiled, q: Array, tail: Array) -> tuple[str, str, tuple[str, ...]] | None:
    """Text, and the names of the path or contact that was not found and of its surfaces, at one state q
    (nq,); None if all are found.
    """

    from condyle.model.symbols import Symbols

    model = compiled.model
    if not model.over_surfaces or not np.isfinite(q).all():
        return None
    pose = ", ".join(f"{name} = {x:.6g}" for name, x in zip(model.tree.coordinates, q, strict=True))
    lengths = compiled.function("path_lengths")(q, tail) if model.paths else np.zeros(0)
    lost = [name for name, L in zip(model.paths, lengths, strict=True) if np.isnan(L)]
    if not lost:
        return _apart(compiled, q, tail, pose) if model.all_contacts else None
    s = Symbols(model)
    view, spans = s.view(s.kinematics(moving=False)), model.paths[lost[0]].length.spans
    made = Staged("spans", [s["q"], s["tail"]], [span.at(view) for span in spans])
    values = made.evaluate([q[:, None], tail[:, None]])
    wraps = [w for span, L in zip(spans, values, strict=True) if np.isnan(L[0, 0]) for w in span.wraps]
    names = tuple(w.name or f"{type(w.surface).__name__} on {w.body!r}" for w in wraps)
    over = " and ".join(map(repr, names)) or "no surface"
    return f"the path of {lost[0]!r} finds no way over {over} at {pose}", lost[0], names


def _apart(compiled: Compiled, q: Array, tail: Array, pose: str) -> tuple[str, str, tuple[str, ...]] | None:
    """The same for contacts."""
    depths = np.atleast_1d(compiled.function("contacts.depths")(q, tail))
    for (name, law), x in zip(compiled.model.all_contacts.items(), depths, strict=True):
        if np.isnan(x):
            a, b = (f"{type(s).__name__} on {s.body!r}" for s in law.surfaces())
            return f"contact {name!r} finds no closest points of {a} and {b} at {pose}", name, (a, b)
    return None


def report_unsolved(compiled: Compiled, name: str, q: Any, tail: Array, result: Any) -> None:
    """If a NaN in a result comes from a path or a contact, raise PathError or ContactError for one state;
    for many states issue a RuntimeWarning that lists them, and leave the other results unchanged.

    Args:
        name: of the operator.
        q: (..., nq).
        tail: (..., n).
        result: an array (..., m), or a tuple of such.
    """
    parts = result if isinstance(result, tuple) else (result,)
    q = compiled.vector("q", q, name)
    batch = np.broadcast_shapes(q.shape[:-1], tail.shape[:-1])
    bad = np.zeros(batch, dtype=bool)
    for part in parts:
        lost = np.isnan(part)
        bad |= lost.reshape(*batch, -1).any(axis=-1) if lost.shape[: len(batch)] == batch else lost.any()
    q, tail = (np.broadcast_to(x, batch + x.shape[-1:]).reshape(-1, x.shape[-1]) for x in (q, tail))
    flat = np.flatnonzero(bad.ravel() & np.isfinite(q).all(axis=1))
    if not flat.size or not (words := unsolved(compiled, q[flat[0]], tail[flat[0]])):
        return
    error, status = (
        (ContactError, Status.CONTACT)
        if words[1] in compiled.model.all_contacts
        else (PathError, Status.PATH)
    )
    advice = status.advice[0].upper() + status.advice[1:]
    if not batch:
        raise error(f"{name}: {words[0]}. {advice}", words[1], words[2], q[0], result)
    first = np.unravel_index(flat[0], batch)
    which = int(flat[0]) if len(batch) == 1 else tuple(map(int, first))
    where = f" ({ranges(flat)})" if len(batch) == 1 else ""
    warn(
        f"{name}: {len(flat)} of {bad.size} states{where} are NaN: in state {which} {words[0]}. {advice}",
        RuntimeWarning,
    )


def report_left_out(compiled: Compiled, name: str, q: Any, tail: Array) -> None:
    """Issue a RuntimeWarning, once per system, if some path skips surfaces; it names the first state and
    path, and the surfaces. The results are finite, but the path passes through a surface.

    Args:
        name: of the operator.
        q: (..., nq).
        tail: (..., n).
    """
    notes.clear()
    if compiled.left_out_was_told or not compiled.model.leaves_out:
        return
    q = compiled.vector("q", q, name)
    batch = np.broadcast_shapes(q.shape[:-1], tail.shape[:-1])
    q, tail = (np.broadcast_to(x, batch + x.shape[-1:]).reshape(-1, x.shape[-1]) for x in (q, tail))
    if (i := _first_left_out(compiled, q, tail)) is None:
        return
    compiled.left_out_was_told = True
    where = f"in state {i if len(batch) == 1 else np.unravel_index(i, batch)} of the batch " if batch else ""
    warn(f"{name}: {where}{_left_out(compiled, q[i], tail[i])}. {_LEFT_OUT}", RuntimeWarning)


_LEFT_OUT = (
    "There the path passes through it, and its length jumps where that begins. Do the surfaces reach into each "
    "other? Move or shrink one, give it a quadrant, or stay away from this pose"
)


def report_left_out_frames(compiled: Compiled, name: str, t: Array, q: Array, tail: Array) -> bool:
    """The same for the frames of a study, each time; returns whether it warned.

    Args:
        name: of the study.
        t: [s], shape (m,).
        q: shape (m, nq).
        tail: shape (n,) or (m, n).
    """
    if not notes.is_set():
        return False
    notes.clear()
    if not compiled.model.leaves_out or not len(t):
        return False
    tails = np.broadcast_to(tail, (len(t), tail.shape[-1]))
    if (i := _first_left_out(compiled, q, tails)) is not None:
        warn(
            f"{name}: at t = {t[i]:.6g} s, frame {i}, {_left_out(compiled, q[i], tails[i])}. {_LEFT_OUT}",
            RuntimeWarning,
        )
    return i is not None


def _first_left_out(compiled: Compiled, q: Array, tail: Array) -> int | None:
    """The first of the states, shape (m, nq) and (m, n), in which a path skips a surface, or None. The
    kernel of lengths reports all states of a call together, hence the bisection."""
    lengths = compiled.function("path_lengths")

    def some(first: int, end: int) -> bool:
        notes.clear()
        lengths(q[first:end], tail[first:end])
        return notes.is_set()

    first, end = 0, len(q)
    try:
        if not some(first, end):
            return None
        while end - first > 1:
            middle = (first + end) // 2
            first, end = (first, middle) if some(first, middle) else (middle, end)
        return first
    finally:
        notes.clear()


@lookup_context()
def _left_out(compiled: Compiled, q: Array, tail: Array) -> str:
    """Text for a state in which a path skips a surface."""

    from condyle.model.symbols import Symbols

    model = compiled.model
    s = Symbols(model)
    view = s.view(s.kinematics(moving=False))
    each = [
        (name, span)
        for name, path in model.paths.items()
        for span in getattr(path.length, "spans", ())
        if span.meet
    ]
    made = Staged("left_out", [s["q"], s["tail"]], [span.left_out(view) for _, span in each])
    pose = ", ".join(f"{name} = {x:.6g}" for name, x in zip(model.tree.coordinates, q, strict=True))
    for (name, span), found in zip(each, made.evaluate([q[:, None], tail[:, None]]), strict=True):
        less, *on = found[:, 0]
        if less > 0:
            names = [repr(w.name or f"{type(w.surface).__name__} on {w.body!r}") for w in span.wraps]
            off = " or ".join(w for w, x in zip(names, on, strict=True) if not x)
            notes.clear()
            return (
                f"the path of {name!r} finds no taut way over all of {', '.join(names)} at {pose}, and does not go "
                f"over {off}"
            )
    return f"a path goes over fewer surfaces than it should at {pose}"


def unsolved_frames(
    compiled: Compiled, name: str, t: Array, q: Array, tail: Array, result: Array
) -> dict[int, Outcome]:
    """Frames of a study in which a NaN of the result, shape (m, ...), comes from a path or a contact, and
    why. A warning is raised; other frames keep their results.

    Args:
        name: of the study.
        t: [s], shape (m,).
        q: shape (m, nq).
        tail: shape (n,) or (m, n).
    """
    report_left_out_frames(compiled, name, t, q, tail)
    total = result.sum()
    if total == total or not compiled.model.over_surfaces:  # nothing is NaN
        return {}
    bad = np.flatnonzero(np.isnan(result).reshape(len(t), -1).any(axis=1) & np.isfinite(q).all(axis=1))
    tails = np.broadcast_to(tail, (len(t), tail.shape[-1]))[bad]
    model, out = compiled.model, {}
    for kind, operator, names, what in (
        (Status.PATH, "path_lengths", tuple(model.paths), "the path of"),
        (Status.CONTACT, "contacts.depths", tuple(model.all_contacts), "contact"),
    ):
        found = compiled.function(operator).fast(q[bad], tails) if names and len(bad) else np.zeros((0, 0))
        for i, lost in zip(bad.tolist(), np.isnan(found), strict=False):
            if lost.any() and i not in out:
                which = ", ".join(repr(n) for n, x in zip(names, lost, strict=True) if x)
                out[i] = Outcome(kind, f"frame {i} (t = {t[i]:.6g} s): {what} {which}: {kind}")
    if out:
        first, kind = next((i, text.kind) for i, text in sorted(out.items()))
        words = unsolved(compiled, q[first], tails[int(np.searchsorted(bad, first))])
        said = words[0] if words else str(out[first])
        warn(
            f"{name}: {len(out)} of {len(t)} frames ({ranges(sorted(out))}) are NaN: at t = {t[first]:.6g} "
            f"s {said}; {kind.advice}",
            RuntimeWarning,
        )
    return dict(sorted(out.items()))


def with_failures(status: Outcome, failures: dict[int, Outcome], count: int) -> Outcome:
    """The status of a study of `count` frames, some of which failed."""
    if not failures:
        return status
    text = f"{len(failures)} of {count} frames failed ({ranges(list(failures))}); the first: "
    return Outcome(
        Status.SOME_FAILED,
        f"{text}{next(iter(failures.values()))}{status.removeprefix(Status.FINISHED.value)}",
    )


def ranges(numbers: Any, most: int = 4) -> str:
    """Numbers that increase, as ranges: 5 to 7, 12."""
    x = np.asarray(numbers)
    ends = np.flatnonzero(np.diff(x) != 1)
    pairs = zip(
        x[np.concatenate([[0], ends + 1])].tolist(),
        x[np.concatenate([ends, [len(x) - 1]])].tolist(),
        strict=True,
    )
    return cut((str(a) if a == b else f"{a} to {b}" for a, b in pairs), most)
