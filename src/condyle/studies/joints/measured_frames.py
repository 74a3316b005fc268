"""Measured frames of one bone in another, and the checks of every fit.

X_FM(k) is the pose of the moving bone's frame M in the fixed bone's frame F at sample k. Small defects
(rotations with few digits, missing samples) are repaired with a warning; invalid samples raise an error
that names them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arrays import Array, gaps, matrices, real
from condyle.errors import DescriptionError, ShapeError, warn
from condyle.presentation import Display, cut, span
from condyle.records import assign, dataclass
from condyle.spatial import Transform, log_so3, rotation_from_quaternion
from condyle.table import Table

REPAIRED = 0.05
"""Largest entry of R'R - 1 that is repaired: files with two digits have 0.01, averaged or filtered matrices
a little more. Matrices beyond are not rotations."""
EXACT = 1e-9
"""Below this R is used unchanged; it is the tolerance of Transform."""
FAR = 10.0
"""[m] Positions beyond this distance are probably in millimeters."""
LARGEST_STEP = np.deg2rad(170.0)
"""Above this the direction of the rotation from one frame to the next is ambiguous: 181 degrees are -179."""
WEIGHT = 0.1
"""[m] Length equivalent to 1 rad for comparing two poses in this module."""
SCALAR_LAST = 0.5
"""Quaternions whose first component stays far below this, and the last above, probably have w last."""
SPREAD = 2.0
"""[m] Bones are closer to their neighbors than this; otherwise a warning suggests to check the unit."""
SHUFFLED, MANY = 0.6, 12
"""Steps of unordered frames are at least this part of the mean distance between two frames; for ordered
ones it is about 3 / n, which can be told apart from this number of frames on."""
APART = 0.2
"""If poses at the same q differ by more than this fraction of the extent of the motion, they are not a
function of q."""

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredFrames(Display):
    """Frames of one bone in another. `len(frames)` samples; `frames[10:20]` are some of them.

    Args:
        X: poses X_FM [m], a Transform with leading dimension n.
        q: coordinates, if they were measured too, shape (n,), or (n, d) for d coordinates; else None.
        time: times [s], shape (n,); None if they were not measured.
        coordinates: names of the coordinates.
        units: their units.
        residuals: errors of the markers, a Table with one row per frame; None without markers.
        source: the sample of the measurement for each frame, shape (n,); dropped samples are missing.
    """

    X: Transform
    q: Array | None = None
    time: Array | None = None
    coordinates: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    residuals: Table | None = None
    source: Any = None

    def __post_init__(self) -> None:
        n = len(self.X.p) if isinstance(self.X, Transform) and self.X.p.ndim == 2 else -1
        if n < 0:
            raise ShapeError(
                f"MeasuredFrames: X must be a Transform with one leading dimension, got {self.X!r}"
            )
        for name in ("q", "time"):
            value = getattr(self, name)
            if value is not None:
                array = np.array(real(f"MeasuredFrames: {name}", value))
                if array.ndim not in ((1, 2) if name == "q" else (1,)) or len(array) != n:
                    raise ShapeError(
                        f"MeasuredFrames: {name} has shape {array.shape}; expected ({n},), one "
                        "per frame" + (f", or ({n}, d)" if name == "q" else "")
                    )
                array.flags.writeable = False
                object.__setattr__(self, name, array)
        d = 0 if self.q is None else 1 if self.q.ndim == 1 else self.q.shape[1]
        names = tuple(self.coordinates) or (("q",) if d == 1 else tuple(f"q{k + 1}" for k in range(d)))
        units = tuple(self.units) or ("",) * d
        if len(names) != d or len(units) != d:
            raise ShapeError(
                f"MeasuredFrames: q has {d} coordinate(s), but {len(names)} names {names} and "
                f"{len(units)} units {units}"
            )
        source = np.arange(n) if self.source is None else np.asarray(self.source, dtype=int)
        assign(self, coordinates=names, units=units, source=source)

    @property
    def R(self) -> Array:
        """Rotations R_FM, shape (n, 3, 3)."""
        return self.X.R

    @property
    def p(self) -> Array:
        """Positions p_FM [m], shape (n, 3)."""
        return self.X.p

    def __len__(self) -> int:
        return len(self.X.p)

    def __getitem__(self, which: Any) -> MeasuredFrames:
        if isinstance(which, str):
            raise ShapeError(
                f"MeasuredFrames: [{which!r}]: expected numbers of frames, such as "
                "frames[10:20]; q, time, R and p are attributes, frames.R"
            )
        i = np.arange(len(self))[which]
        if np.ndim(i) == 0:
            raise ShapeError(
                f"MeasuredFrames: [{which!r}] is one frame; frames[10:20] or frames[[3, 5]] are "
                f"some, frames.R[{which!r}] and frames.p[{which!r}] one pose"
            )
        return replace(
            self,
            X=Transform.unchecked(self.R[i], self.p[i]),
            q=None if self.q is None else self.q[i],
            time=None if self.time is None else self.time[i],
            residuals=self.residuals and self.residuals._with(rows=i),
            source=self.source[i],
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MeasuredFrames)
            and self.X == other.X
            and (self.coordinates, self.units) == (other.coordinates, other.units)
            and all(
                a is b if a is None or b is None else np.array_equal(a, b)
                for a, b in ((self.q, other.q), (self.time, other.time))
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [f"{len(self)} frames{'' if self.time is None else span(self.time)}"]
        if self.q is not None:
            q = self.q.reshape(len(self), -1)
            parts += [
                f"{name} from {x.min():.4g} to {x.max():.4g}{f' {unit}' if unit else ''}"
                for name, unit, x in zip(self.coordinates, self.units, q.T, strict=True)
                if len(x)
            ]
        if self.residuals is not None and len(self):
            parts.append(f"markers within {np.nanmax(self.residuals.values):.3g} mm")
        return f"MeasuredFrames({'; '.join(parts)})"

    def relative_to(
        self, X_F: Transform | ArrayLike | None = None, X_M: Transform | ArrayLike | None = None
    ) -> MeasuredFrames:
        """The same motion between other frames: F moved to X_F on its bone, M to X_M on the other.

        Args:
            X_F: pose of the new F in the old one; None for no change.
            X_M: pose of the new M in the old one; None for no change.
        """
        left, right = Transform.of(X_F, "relative_to: X_F"), Transform.of(X_M, "relative_to: X_M")
        return replace(self, X=left.inverse() @ self.X @ right)

    def save(self, path: str | Path) -> None:
        """Write a .csv file that `cd.read_frames` reads back to the same frames, to the last digit.

        Args:
            path: file to write; it must end in .csv. It is written completely or not at all.

        Raises:
            DescriptionError: another ending, or a folder that does not exist.
        """
        from condyle.studies.joints.frames_file import write_frames

        write_frames(self, path)


FrameData = MeasuredFrames | Transform | ArrayLike | Sequence[Transform] | tuple[ArrayLike, ArrayLike]
"""Frames in the forms that fits accept: see `check_frames`."""


def check_frames(
    who: str,
    frames: FrameData,
    q: ArrayLike | None = None,
    *,
    fewest: int = 2,
    coordinates: int = 1,
    degrees: bool = False,
) -> MeasuredFrames:
    """Frames for a fit, in their order, from any of the accepted types.

    Args:
        who: the calling function, for messages.
        frames: MeasuredFrames, a Transform with leading dimension n, a pair (R, p) of shapes (n, 3, 3) and
            (n, 3) [m], where R may be unit quaternions (w, x, y, z) of shape (n, 4), an array (n, 4, 4), or a
            sequence of Transforms. Frames with a NaN are left out, with a warning.
        q: coordinates, shape (n,), or (n, d); by default those of MeasuredFrames.
        fewest: smallest number of frames.
        coordinates: d.
        degrees: whether q is in degrees.

    Returns:
        The frames. `q` is None if none was given; `source` has the indices of the given frames.

    Raises:
        DescriptionError: reflections, matrices that are no rotations, too few frames.
        ShapeError: arrays of other shapes.
    """
    given = frames if isinstance(frames, MeasuredFrames) else None
    R, p = _arrays(who, frames)
    q = given.q if q is None and given is not None else q
    n = len(p)
    values = None if q is None else _coordinates(who, q, n, coordinates)
    good = np.isfinite(R).all(axis=(1, 2)) & np.isfinite(p).all(axis=1)
    if values is not None:
        good &= np.isfinite(values).all(axis=1)
    if not good.all():
        left = np.flatnonzero(~good)
        warn(
            f"{who}: {len(left)} of {n} frames have a number that is missing or not finite and are "
            f"left out: {listed(left)}"
        )
        R, p, values = R[good], p[good], None if values is None else values[good]
    source = np.flatnonzero(good)
    R = proper_rotations(who, R, source)
    check_sizes(who, p, source)
    if len(p) < fewest:
        raise DescriptionError(
            f"{who}: got {len(p)} frame(s), needs at least {fewest}: measure more, or "
            "take a lower order (4 is the lowest)"
        )
    if coordinates > 1:  # frames on a surface have no order
        pass
    elif values is None:
        _check_order(who, R, p, source)
    else:
        _check_coordinate(who, R, p, values[:, 0], source, degrees)
    X = Transform.unchecked(np.ascontiguousarray(R), np.ascontiguousarray(p))
    out_q = None if values is None else values[:, 0] if coordinates == 1 else values
    if given is None:
        return MeasuredFrames(X, out_q, source=source)
    kept = given[source]
    named = (kept.coordinates, kept.units) if q is given.q and q is not None else ((), ())
    return MeasuredFrames(X, out_q, kept.time, *named, kept.residuals, kept.source)


def nearest_rotations(A: Array) -> Array:
    """The rotations nearest to matrices (..., 3, 3): U diag(1, 1, det(U V')) V' of A = U S V'."""
    U, _, Vt = np.linalg.svd(A)
    U[..., :, 2] *= np.linalg.det(U @ Vt)[..., None]
    return U @ Vt


def separation(R: Array, p: Array, R2: Array, p2: Array) -> Array:
    """Distances between poses and others [m], with 1 rad equivalent to WEIGHT, shape (n,)."""
    return np.hypot(WEIGHT * turns(R, R2), np.linalg.norm(p2 - p, axis=1))


def turns(R: Array, R2: Array) -> Array:
    """The angles from rotations to others [rad], shape (n,)."""
    return np.asarray(np.linalg.norm(np.reshape(log_so3(np.swapaxes(R, 1, 2) @ R2), (-1, 3)), axis=1))


# ---- What came in ------------------------------------------------------------------------------------------


def _arrays(who: str, frames: Any) -> tuple[Array, Array]:
    """R (n, 3, 3) and p (n, 3), NaN where they are missing."""
    expected = (
        "a Transform with one leading dimension, (R, p) of shapes (n, 3, 3) and (n, 3), an array (n, "
        "4, 4), or cd.read_frames(path)"
    )
    frames = matrices(frames)
    if isinstance(frames, (MeasuredFrames, Transform)):
        R, p = frames.R, frames.p
    elif isinstance(frames, (str, Path)):
        raise DescriptionError(
            f"{who}: frames: expected {expected}, got the text {str(frames)!r}; for a "
            "file write cd.read_frames(path)"
        )
    elif hasattr(frames, "columns"):
        raise DescriptionError(
            f"{who}: frames: expected {expected}, got a table with columns "
            f"{', '.join(map(str, frames.columns[:8]))}; write cd.read_frames(table)"
        )
    elif isinstance(frames, Sequence) and len(frames) and all(isinstance(X, Transform) for X in frames):
        R, p = np.stack([X.R for X in frames]), np.stack([X.p for X in frames])
    elif isinstance(frames, (tuple, list)) and len(frames) == 2:
        R, p = (
            np.asarray(real(f"{who}: {name}", gaps(x)))
            for name, x in zip("Rp", (matrices(frames[0]), frames[1]), strict=True)
        )
        if R.ndim == 2 and R.shape[1] == 4:
            R = rotations_of(R, lambda k: f"{who}: frame {k}")
    else:
        A = np.asarray(real(f"{who}: frames", gaps(frames), expected))
        if A.ndim != 3 or A.shape[1:] != (4, 4):
            raise ShapeError(f"{who}: frames: expected {expected}, got shape {A.shape}")
        bad = np.isfinite(A[:, 3]).all(axis=1) & (A[:, 3] != (0, 0, 0, 1)).any(axis=1)
        if bad.any():
            raise DescriptionError(
                f"{who}: frame {int(bad.argmax())}: the last row of a 4 x 4 matrix is 0 0 "
                f"0 1, got {A[bad][0, 3]}; are the matrices transposed?"
            )
        R, p = A[:, :3, :3], A[:, :3, 3]
    if R.ndim != 3 or R.shape[1:] != (3, 3) or p.shape != (len(R), 3):
        raise ShapeError(
            f"{who}: frames: expected {expected}, got R of shape {R.shape} and p of shape {p.shape}"
        )
    return R, p


def rotations_of(quaternions: Array, where: Callable[[int], str]) -> Array:
    """Rotations (n, 3, 3) of quaternions (w, x, y, z), shape (n, 4), whose lengths are only approximately
    one.

    Args:
        where: where(k) is the name of frame k in errors.
    """
    length = np.linalg.norm(quaternions, axis=1)
    wrong = np.abs(length - 1) > REPAIRED
    if wrong.any():
        k = int(wrong.argmax())
        raise DescriptionError(
            f"{where(k)}: the quaternion {quaternions[k].tolist()} has length {length[k]:.4g}; a rotation "
            "has 1. Was it filtered or averaged across a change of sign (q and -q are one rotation)? Make "
            "the signs continuous before, and give all four components, w first"
        )
    size = np.abs(quaternions[length > 0])
    if (
        len(size)
        and np.median(size[:, 0]) < SCALAR_LAST < np.median(size[:, 3])
        and (np.median(size[:, 3]) > 3 * size[:, 0].max())
    ):
        warn(
            f"{where(0)}: the quaternion {quaternions[0].round(4).tolist()} begins with w: all "
            "rotations are near half a turn. Is it in the order x, y, z, w, as SciPy has it? Put "
            "the last number first"
        )
    return np.asarray(rotation_from_quaternion(quaternions / length[:, None]))


def _coordinates(who: str, q: ArrayLike, n: int, d: int) -> Array:
    """q of shape (n, d)."""
    columns = q.to_numpy() if hasattr(q, "columns") and hasattr(q, "to_numpy") else q
    values = np.asarray(real(f"{who}: q", gaps(columns)))
    wanted = (n,) if d == 1 else (n, d)
    if d == 1 and values.shape == (n, 1):
        values = values[:, 0]
    if values.shape != wanted:
        raise ShapeError(f"{who}: q has shape {values.shape}; {n} frames need {wanted}")
    return values.reshape(n, d)


# ---- Checks ------------------------------------------------------------------------------------------------


def proper_rotations(who: str, R: Array, numbers: Indices, noun: str = "frame") -> Array:
    """The rotations, repaired if they are nearly orthogonal.

    Args:
        numbers: number of each in errors, after the noun.
    """
    if not len(R):
        return R
    off = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max(axis=(1, 2))
    mirrored = np.linalg.det(R) < 0
    if mirrored.any() and (off[mirrored] <= REPAIRED).any():
        bad = np.flatnonzero(mirrored & (off <= REPAIRED))
        which = (
            "all frames are reflections"
            if len(bad) == len(R)
            else f"{listed(numbers[bad], noun)}: reflections"
        )
        raise DescriptionError(
            f"{who}: {which} (determinant -1): their axes are left-handed. Reverse one "
            "axis, or see whether two columns were exchanged"
        )
    if off.max() > REPAIRED:
        k = int(off.argmax())
        scale = float(np.cbrt(abs(np.linalg.det(R[k]))))
        hint = (
            f"; its axes have length {scale:.4g}: divide by it"
            if abs(scale - 1) > REPAIRED
            and np.abs(R[k].T @ R[k] - scale**2 * np.eye(3)).max() < REPAIRED * scale**2
            else "; are these angles or quaternions, or is the order of the nine numbers another?"
        )
        raise DescriptionError(
            f"{who}: {noun} {numbers[k]}: R is not a rotation: the largest entry of R'R - "
            f"1 is {off[k]:.3g}, up to {REPAIRED} is repaired{hint}"
        )
    if off.max() > EXACT:
        k = int(off.argmax())
        if off.max() > 1e-4:
            warn(
                f"{who}: {int((off > EXACT).sum())} rotations were not quite orthogonal and were "
                f"replaced by the nearest ones; the worst is {noun} {numbers[k]}, R'R - 1 up to "
                f"{off[k]:.2g}: give more digits"
            )
        R = np.where((off > EXACT)[:, None, None], nearest_rotations(R), R)
    return R


def check_sizes(who: str, p: Array, numbers: Indices, noun: str = "frame") -> None:
    far = np.linalg.norm(p, axis=1)
    if len(far) and np.median(far) > FAR:
        k = int(far.argmax())
        raise DescriptionError(
            f"{who}: the positions are in meters, but {noun} {numbers[k]} is {far[k]:.4g} "
            "m from F: are they in millimeters? Divide them by 1000. If they are poses in "
            "the laboratory, give those of one bone in the other, X_GF.inverse() @ X_GM"
        )
    if len(far) and np.median(far) > SPREAD:
        warn(
            f"{who}: M is {np.median(far):.3g} m from F as a rule. Are the positions in meters, "
            "and those of one bone in the other?"
        )


def _check_order(who: str, R: Array, p: Array, source: Indices) -> None:
    """Check that frames without q are in order along the path."""
    steps = separation(R[:-1], p[:-1], R[1:], p[1:])
    if len(steps) and not steps.any():
        raise DescriptionError(f"{who}: all {len(p)} frames are the same pose: nothing moves")
    same = np.flatnonzero(steps == 0)
    if len(same):
        warn(f"{who}: {len(same)} frames are exact copies of the one before: {listed(source[1:][same])}")
    turn = turns(R[:-1], R[1:])
    if len(turn) and turn.max() > LARGEST_STEP:
        k = int(turn.argmax())
        raise DescriptionError(
            f"{who}: from frame {source[k]} to frame {source[k + 1]} the rotation is "
            f"{np.degrees(turn[k]):.0f} deg; its direction is not known above "
            f"{np.degrees(LARGEST_STEP):.0f}. Give frames between, remove the wrong one, "
            "or give q"
        )
    if (share := _step_share(R, p)) > SHUFFLED:
        warn(
            f"{who}: the frames seem to be in no order along their path: from one to the next it is "
            f"{share:.2g} of the way between any two. Sort them by time, or give q; or noise is as large as "
            "the motion"
        )


def _step_share(R: Array, p: Array, order: Any = slice(None)) -> float:
    """The median distance between neighbors in an order, divided by that between any two frames; 0 for few
    frames."""
    if len(p) < MANY:
        return 0.0
    mixed = np.random.default_rng(0).permutation(len(p))
    any_two = np.median(separation(R, p, R[mixed], p[mixed]))
    R, p = R[order], p[order]
    return float(np.median(separation(R[:-1], p[:-1], R[1:], p[1:])) / max(any_two, 1e-300))


def _check_coordinate(who: str, R: Array, p: Array, q: Array, source: Indices, degrees: bool) -> None:
    """Check given q: one pose per q, not all equal, not in degrees by mistake."""
    if len(q) > 1 and not np.ptp(q):
        raise DescriptionError(f"{who}: q is {q[0]:g} in all {len(q)} frames; a coordinate must change")
    order = np.argsort(q, kind="stable")
    equal = np.r_[False, np.diff(q[order]) == 0]
    if equal.any():
        first = order[np.maximum.accumulate(np.where(equal, 0, np.arange(len(q))))]  # first of equal q
        apart = separation(R[first], p[first], R[order], p[order])[equal]
        extent = separation(R[:1], p[:1], R, p).max()
        k = int(apart.argmax())
        a, b = first[equal][k], order[equal][k]
        if np.median(apart) > APART * extent:
            raise DescriptionError(
                f"{who}: {int(equal.sum())} frames have the q of another but poses far from it: frames "
                f"{source[a]} and {source[b]} both have q = {q[a]:g} and are "
                f"{1e3 * np.linalg.norm(p[b] - p[a]):.3g} mm apart. A joint has one pose per q: is q the "
                "right column?"
            )
        if not apart.all():
            b = order[equal][int((apart == 0).argmax())]
            warn(
                f"{who}: {int((apart == 0).sum())} frames occur twice, with equal q: the first is "
                f"frame {source[b]}, q = {q[b]:g}"
            )
    turned = float(turns(R[order[:1]], R).max()) if len(q) else 0.0
    if (share := _step_share(R, p, order)) > SHUFFLED:
        warn(
            f"{who}: q does not determine the pose: frames that are neighbors in q are {share:.2g} times as far "
            "from each other as any two. Is it the right column, and in the order of the frames? Or noise is "
            "as large as the motion"
        )
    if degrees and turned > 0.2 and abs(np.ptp(q) / turned - 1) < 0.1:
        warn(
            f"{who}: q goes over {np.ptp(q):.4g} while the bone turns by {turned:.4g} rad: q seems "
            "to be in radians, but unit says degrees"
        )
    if not degrees and turned > 0.2 and abs(np.ptp(q) / np.degrees(turned) - 1) < 0.1:
        warn(
            f"{who}: q goes over {np.ptp(q):.4g} while the bone turns by {np.degrees(turned):.4g} "
            "deg: q seems to be in degrees. Speeds would be per degree; use np.deg2rad(q), or say "
            "unit='deg'"
        )


def listed(indices: Indices, noun: str = "frame") -> str:
    """The numbers of the first few frames, as text."""
    return f"{noun}{'s' if len(indices) > 1 else ''} {cut([str(int(k)) for k in indices])}"
