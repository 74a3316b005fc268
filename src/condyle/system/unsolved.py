"""Paths that find no way over their surfaces, and contacts without closest points: which, and at which pose,
in words.

Where none is found, all that depends on it is NaN (forces/path.py, contact/hunt_crossley.py). Whoever meets a NaN asks
here why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import ContactError, PathError, warn
from condyle.model.symbols import Symbols
from condyle.native.tables.staged import Staged
from condyle.presentation import cut
from condyle.status import Outcome, Status

if TYPE_CHECKING:
    from condyle.system.compiled import Compiled


def unsolved(compiled: Compiled, q: Array, tail: Array) -> tuple[str, str, tuple[str, ...]] | None:
    """Words, the name of a path or contact and of its surfaces, at one state q (nq,); None if all are
    found."""
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
    """The same of contacts."""
    depths = np.atleast_1d(compiled.function("contacts.depths")(q, tail))
    for (name, law), x in zip(compiled.model.all_contacts.items(), depths, strict=True):
        if np.isnan(x):
            a, b = (f"{type(s).__name__} on {s.body!r}" for s in law.surfaces())
            return f"contact {name!r} finds no closest points of {a} and {b} at {pose}", name, (a, b)
    return None


def report_unsolved(compiled: Compiled, name: str, q: Any, tail: Array, result: Any) -> None:
    """Where a NaN in a result comes from a path or a contact: PathError or ContactError for one state; for
    many a RuntimeWarning that lists them, and the other states have their results.

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


def unsolved_frames(
    compiled: Compiled, name: str, t: Array, q: Array, tail: Array, result: Array
) -> dict[int, Outcome]:
    """Frames of a study in which a NaN of the result, shape (m, ...), comes from a path or a contact, and
    why. A warning says so; other frames still have their results.

    Args:
        name: of the study.
        t: [s], shape (m,).
        q: shape (m, nq).
        tail: shape (n,) or (m, n).
    """
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
