"""Paths that find no way over their surfaces, and contacts without closest points: which, and at which pose,
in words.

Where none is found, all that depends on it is NaN (forces/path.py, contact/law.py). Whoever meets a NaN asks
here why.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import ContactError, PathError, warn
from condyle.model.symbols import Symbols
from condyle.native.sweeps.lookup import Staged
from condyle.status import Status

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
    depths = np.atleast_1d(compiled.function("contact_depths")(q, tail))
    for (name, law), x in zip(compiled.model.all_contacts.items(), depths, strict=True):
        if np.isnan(x):
            a, b = (f"{type(s).__name__} on {s.body!r}" for s in law.surfaces())
            return f"contact {name!r} finds no closest points of {a} and {b} at {pose}", name, (a, b)
    return None


def refuse_unsolved(compiled: Compiled, name: str, q: Any, tail: Array, result: Any) -> None:
    """PathError if a NaN in a result comes from a path, ContactError if from a contact.

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
        bad |= lost.reshape(*batch, -1).any(axis=-1) if lost.shape[:len(batch)] == batch else lost.any()
    for where in zip(*np.nonzero(bad), strict=True) if batch else [()] * bool(bad):
        at = np.broadcast_to(q, batch + q.shape[-1:])[where]
        if words := unsolved(compiled, at, np.broadcast_to(tail, batch + tail.shape[-1:])[where]):
            error, status = (ContactError, Status.CONTACT) if words[1] in compiled.model.all_contacts else (
                PathError, Status.PATH)
            which = f" (state {tuple(map(int, where))} of the batch; `error.result` has the others)"
            raise error(f"{name}: {words[0]}{which if where else ''}. {status.advice.capitalize()}",
                        words[1], words[2], at, result)
        return


def warn_of_unsolved(compiled: Compiled, name: str, t: Array, q: Array, tail: Array, result: Array) -> None:
    """Warn if a NaN in what a study found, shape (m, ...), comes from a path: other frames still come out."""
    total = result.sum()
    if total == total:                                      # nothing is NaN
        return
    bad = np.flatnonzero(np.isnan(result).reshape(len(t), -1).any(axis=1))
    tails = np.broadcast_to(tail, (len(t), tail.shape[-1]))
    if len(bad) and (words := unsolved(compiled, q[bad[0]], tails[bad[0]])):
        warn(f"{name}: {len(bad)} of {len(t)} frames are NaN: at t = {t[bad[0]]:.6g} s {words[0]}; "
             f"{Status.PATH.advice}")
