"""A mobilizer as a sequence of hinges and slides, for URDF and MJCF."""

from __future__ import annotations

import casadi as ca
import numpy as np

import condyle.mobilizers as joints
from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.mobilizers import FunctionBased, Mobilizer
from condyle.mobilizers.combined import Composition
from condyle.records import dataclass
from condyle.spatial import Transform, rotation_about

X, Y, Z = np.eye(3)


@dataclass(frozen=True, eq=False)
class Simple:
    """One hinge or slide: it turns, or shifts, by scale times its coordinate.

    Attributes:
        coordinate: place among the coordinates of the mobilizer.
        axis: of length 1, in the frame that the joints before it have moved.
        turns: a hinge, not a slide.
        offset: angle [rad] or shift [m] where the coordinate is zero.
    """

    coordinate: int
    axis: Array
    turns: bool
    offset: float = 0.0

    def by(self, value: float) -> Transform:
        """The motion by an angle [rad] or a shift [m]."""
        return Transform(rotation_about(self.axis, value)) if self.turns else Transform(p=value * self.axis)


def sequence(mobilizer: Mobilizer, what: str) -> list[Simple]:
    """Hinges and slides that move M as the mobilizer does: compared with it at random coordinates.

    Raises:
        DescriptionError: it is not equivalent to hinges and slides.
    """
    found = _candidates(mobilizer)
    if found is None or not _same(mobilizer, found):
        raise DescriptionError(
            f"{what}: {mobilizer!r} is not hinges and slides one after the other, which is all that the file "
            "can have; replace it, or write an .osim file with cd.write_osim"
        )
    return found


def _candidates(mobilizer: Mobilizer) -> list[Simple] | None:
    match mobilizer:
        case joints.Weld():
            return []
        case joints.Pin():
            return [Simple(0, np.asarray(mobilizer.axis), True)]
        case joints.Slider():
            return [Simple(0, np.asarray(mobilizer.axis), False)]
        case joints.Universal():
            return [Simple(0, X, True), Simple(1, Y, True)]
        case joints.Gimbal():
            return [Simple(0, X, True), Simple(1, Y, True), Simple(2, Z, True)]
        case joints.Translation():
            return [Simple(k, axis, False) for k, axis in enumerate((X, Y, Z))]
        case joints.Bushing():
            shifts = [Simple(3 + k, axis, False) for k, axis in enumerate((X, Y, Z))]
            return [*shifts, Simple(0, X, True), Simple(1, Y, True), Simple(2, Z, True)]
        case joints.Planar():
            return [Simple(1, X, False), Simple(2, Y, False), Simple(0, Z, True)]
        case joints.Cylinder():
            return [Simple(1, Z, False), Simple(0, Z, True)]
        case Composition():
            first, second = _candidates(mobilizer.a), _candidates(mobilizer.b)
            if first is None or second is None:
                return None
            return first + [Simple(s.coordinate + mobilizer.a.nq, s.axis, s.turns, s.offset) for s in second]
        case FunctionBased():
            return _linear(mobilizer)
    return None


def _linear(mobilizer: FunctionBased) -> list[Simple] | None:
    """Translations, then rotations, each one coordinate, or minus it, plus a constant."""
    if mobilizer.time:
        return None
    q = ca.SX.sym("q", mobilizer.nq)
    found: list[Simple] = []
    for k in (3, 4, 5, 0, 1, 2):
        law, axis = mobilizer.laws[k], np.asarray(mobilizer.axes[k], dtype=float)  # type: ignore[index]
        if law is None:
            continue
        value = law.apply(*ca.vertsplit(q))
        if any(ca.which_depends(value, q, 2, True)):
            return None
        at_zero = ca.Function("law", [q], [ca.jacobian(value, q), value])
        slopes, offset = (np.asarray(x, dtype=float).ravel() for x in at_zero(np.zeros(mobilizer.nq)))
        moving = np.flatnonzero(slopes)
        if not len(moving) and offset[0] == 0.0:
            continue
        if len(moving) != 1 or abs(slopes[moving[0]]) != 1.0:
            return None
        sign = slopes[moving[0]]
        found.append(Simple(int(moving[0]), sign * axis, k < 3, float(sign * offset[0])))
    return found if sorted(s.coordinate for s in found) == list(range(mobilizer.nq)) else None


def moved(found: list[Simple], q: Array) -> Transform:
    """X_FM of a sequence at the coordinates q."""
    pose = Transform()
    for s in found:
        pose = pose @ s.by(float(q[s.coordinate]) + s.offset)
    return pose


def _same(mobilizer: Mobilizer, found: list[Simple]) -> bool:
    values = ca.SX.sym("q", mobilizer.nq)
    motion = mobilizer.motion(ca.SX(0), values, ca.SX(mobilizer.nu, 1))
    pose = ca.Function("pose", [values], [ca.SX(motion.R), ca.SX(motion.p)])
    rng = np.random.default_rng(1)
    for _ in range(3):
        q = rng.uniform(-1.0, 1.0, mobilizer.nq)
        R, p = (np.asarray(x, dtype=float) for x in pose(q))
        other = moved(found, q)
        if np.abs(R - other.R).max() > 1e-12 or np.abs(p.ravel() - other.p).max() > 1e-12:
            return False
    return True
