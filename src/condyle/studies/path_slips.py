"""Paths that slip over their surfaces between two frames of a recorded motion.

Either a rule makes the length jump, or the path moves to the other side of the surface when both sides are
equally long, and its moment arm jumps. If a length between two frames does not follow from its rates, or a
moment arm changes its sign, the straight line between the frames is searched
(integrate/interrupts/path_jumps.py).
"""

from __future__ import annotations

import numpy as np

from condyle.arrays import Array
from condyle.errors import warn
from condyle.integrate.interrupts.path_jumps import Branches
from condyle.studies.motion.motion import Motion

LEAP = 0.25
"""Part of the largest moment arm: a moment arm jumps if it changes its sign and is larger than this before
and after."""
SMALL = 1e-6
"""Moment arms below this [m], such as rounding errors, do not jump."""
OFF = 1e-4
"""A length may have jumped if its change differs from that by its rate by more than this [m]."""

RULE = (
    "where a rule of its surface changes its answer. Move the surface or the points, or choose another "
    "quadrant=."
)
POINT = "where a point of it comes or goes: at the end of its range it is not on the way of the others."
"""Why a path jumps."""
NEAR = 1e-7
"""The time of a slip is located to this [s]."""


def path_slips(motion: Motion, L: Array, Ldot: Array, arms: Array) -> list[str]:
    """A sentence on the first slip of each path.

    Args:
        motion: the motion.
        L: lengths of all paths [m], shape (m, paths).
        Ldot: their rates [m/s], shape (m, paths).
        arms: moment arms [m], shape (m, paths, nu).
    """
    system, t = motion.system, motion.t
    branches = Branches.of_system(system)
    if branches is None or len(t) < 2:
        return []
    with np.errstate(invalid="ignore"):
        size = np.abs(arms)
        wide = np.fmax(LEAP * np.fmax.reduce(size, axis=0, initial=0.0), SMALL)
        leapt = (arms[:-1] * arms[1:] < 0) & (np.minimum(size[:-1], size[1:]) > wide)
        off = np.abs(np.diff(L, axis=0) - (Ldot[:-1] + Ldot[1:]) / 2 * np.diff(t)[:, None]) > OFF
    owners = {name for names in branches.owners for name in names}
    mine = np.array([name in owners for name in system.paths])
    steps = np.flatnonzero(((leapt.any(axis=2) | off) & mine).any(axis=1))
    if not len(steps):
        return []
    y = np.concatenate([motion.q, motion.u, np.zeros((len(t), system.compiled.model.nz))], axis=1)
    tails_at, ends = (lambda k: motion.tail[steps[k]]), np.stack([steps, steps + 1], axis=1).ravel()

    def y_at(k: Array, times: Array) -> Array:
        i = steps[k]
        share = ((times - t[i]) / (t[i + 1] - t[i]))[:, None]
        return system.compiled.normalized(y[i] * (1 - share) + y[i + 1] * share)

    seen = branches.look(motion.tail[ends], t[ends], y[ends])
    pairs = branches.suspects(t[ends], seen.signatures, 2 * np.arange(len(steps)))
    pairs.step[:] //= 2
    out: dict[str, tuple[float, str]] = {}
    for found in branches.located(pairs, tails_at, y_at, near=NEAR).values():
        for span, by in found.sizes.items():
            where = " and ".join(branches.where[s] for s in found.switches if branches.of_span[s] == span)
            for name in branches.owners[span]:
                if name not in out or found.after < out[name][0]:
                    why = POINT if where.startswith("point ") else RULE
                    text = f"The path of {name} jumps by {1e3 * by:+.3g} mm at {where} at t = {found.after:.6g} s, "
                    out[name] = found.after, text + why
    turned = (seen.n[::2] * seen.n[1::2]).sum(axis=2) < 0  # the other side of a surface
    for k, s in np.argwhere(turned).tolist():
        for name in branches.owners[branches.of_span[s]]:
            i, j = int(steps[k]), system.paths.index(name)
            for speed in np.flatnonzero(leapt[i, j])[:1]:
                before, after = (f"{1e3 * x:.3g}" for x in arms[i : i + 2, j, speed])
                text = (
                    f"The moment arm of {name} about {system.speeds[speed]} leaps from {before} to {after} mm at "
                    f"t = {t[i + 1]:g} s: its path slips to the other side of {branches.where[s]}. The surface's "
                    "quadrant= keeps it on one."
                )
                out.setdefault(name, (float(t[i + 1]), text))
    return [words for _, words in sorted(out.values())]


def warn_of_path_slips(what: str, motion: Motion, L: Array, Ldot: Array, arms: Array) -> None:
    """Warn about the first slip of each path: results at a slip come from a rule, not from the motion."""
    if found := path_slips(motion, L, Ldot, arms):
        more = f" {len(found) - 1} more paths slip." if len(found) > 1 else ""
        warn(f"{what}: {found[0]}{more}")
