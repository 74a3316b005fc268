"""Frames of bones from clusters of markers that are fixed to them.

With markers at r_i in the bone's frame and measured at x_i in the laboratory, the R and p with
the least sum |x_i - R r_i - p|^2 over the visible markers are

    A = sum (x_i - mean x) (r_i - mean r)' = U S V',   R = U diag(1, 1, det(U V')) V',   p = mean x - R mean r

(Kabsch 1976; Söderkvist and Wedin 1993): never a reflection. All frames at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arguments import with_call_hints
from condyle.arrays import Array, gaps, real
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, warn
from condyle.io.markers import Markers
from condyle.spatial import Transform
from condyle.studies.joints.measured_frames import MeasuredFrames, listed, nearest_rotations
from condyle.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

FLAT = 0.02
"""Markers lie on a line if their spread across it is less than this part of the spread along it: a rotation
about the line would amplify noise by 50."""
LARGE = 5.0
"""[m] Clusters are smaller than this; larger ones are in millimeters."""
STANDS_OUT, LEAST = 6.0, 3e-3
"""A warning names frames whose markers fit this many times worse than the median, and worse than this [m]:
two markers were exchanged, or one slid."""


@with_call_hints()
def marker_positions(table: Table | Markers | DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Positions of markers from Markers, or from a Table with columns NAME_x, NAME_y, NAME_z.

    Args:
        table: from `cd.read_markers("walk.trc")` or `cd.read_table("walk.csv")`, or a DataFrame; titles have
            units, `thigh1_x [mm]`; without units, meters.
        names: of the markers, such as ("thigh1", "thigh2", "thigh3").

    Returns:
        [m], shape (frames, markers, 3); NaN where a marker was not seen.

    Raises:
        UnknownNameError: a marker that the table does not have.
    """
    if not isinstance(table, (Table, Markers)):
        if not hasattr(table, "columns"):
            raise DescriptionError(
                f"marker_positions: expected Markers or a Table, got {table!r}"
                + (
                    "; write cd.read_table(path) or cd.read_markers(path)"
                    if isinstance(table, (str, Path))
                    else ""
                )
            )
        table = Table.from_pandas(table)
    if isinstance(names, str) or not len(names):
        raise DescriptionError(
            f"marker_positions: names: expected names of markers, such as ('T1', 'T2', 'T3'), got {names!r}"
        )
    if isinstance(table, Markers):
        return table[list(names)].positions
    scale = {"": 1.0, "m": 1.0, "cm": 1e-2, "mm": 1e-3}
    out = np.empty((len(table), len(names), 3))
    for i, name in enumerate(names):
        for k, axis in enumerate("xyz"):
            column = next(
                (
                    c
                    for c in (f"{name}_{axis}", f"{name}{axis}", f"{name}_{axis.upper()}", f"{name}.{axis}")
                    if c in table
                ),
                None,
            )
            if column is None:
                raise UnknownNameError(
                    "column", f"{name}_{axis}", table.names, "a marker has three: NAME_x, NAME_y, NAME_z"
                )
            unit = table.units[table.names.index(column)]
            if unit not in scale:
                raise DescriptionError(
                    f"marker_positions: column {column!r} is in [{unit}]; it must be in m, cm or mm"
                )
            out[:, i, k] = scale[unit] * table[column]
    return out


def cluster_frames(
    markers: ArrayLike, reference: ArrayLike | None = None, *, name: str = "markers"
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The pose of a bone from its markers, frame by frame.

    Args:
        markers: positions in the laboratory [m], shape (T, m, 3), m >= 3; NaN if a marker was not seen.
        reference: positions in the bone's frame [m], shape (m, 3). By default the mean shape of the cluster,
            with its origin at the mean of the markers and axes parallel to the laboratory's in the first
            frame that has them all.
        name: name of the cluster, for messages.

    Returns:
        R_GB (T, 3, 3), p_GB (T, 3) [m] and the root mean square of the distances between markers and their
        fitted places (T,) [m]. NaN in frames with fewer than three markers, or with all on one line.

    Raises:
        DescriptionError: markers in millimeters, on one line, or mirrored.
    """
    x = np.asarray(real(f"relative_frames: {name}", gaps(markers)))
    if x.ndim != 3 or x.shape[2] != 3 or x.shape[1] < 3:
        raise ShapeError(
            f"relative_frames: {name}: expected positions [m] of shape (T, m, 3) of m >= 3 "
            f"markers, got shape {x.shape}"
        )
    seen = np.isfinite(x).all(axis=2)
    spread = (
        np.nanmedian(np.ptp(np.where(seen[:, :, None], x, np.nan)[seen.all(axis=1)], axis=1))
        if (seen.all(axis=1).any())
        else 0.0
    )
    if spread > LARGE:
        raise DescriptionError(
            f"relative_frames: {name} are {spread:.4g} m apart: are positions in "
            "millimeters? Divide them by 1000"
        )
    r = _mean_shape(x, seen, name) if reference is None else np.asarray(real(f"{name}: reference", reference))
    if r.shape != x.shape[1:] or not np.isfinite(r).all():
        raise ShapeError(
            f"relative_frames: {name}: its reference must be {x.shape[1]} finite places [m], "
            f"shape {x.shape[1:]}, got {r.shape}"
        )
    _check_reference(r, name)
    large = float(np.ptp(r, axis=0).max())
    if large > LARGE:
        raise DescriptionError(
            f"relative_frames: the reference of {name} has markers {large:.4g} m "
            "apart: is it in millimeters? Divide it by 1000"
        )
    R, p, left, S, sign = _superposed(x, seen, r)
    solid = S[:, 2] > FLAT * S[:, 0]  # the cluster is not flat, so that mirroring can be detected
    if solid.any() and np.mean(sign[solid] < 0) > 0.5:
        raise DescriptionError(
            f"relative_frames: {name} are a mirror image of their reference: two markers "
            "are exchanged, or one of the two has left-handed axes"
        )
    return R, p, left


@with_call_hints(
    {
        "parent": "it is markers_parent=",
        "child": "it is markers_child=",
        "fixed": "it is markers_parent=",
        "moving": "it is markers_child=",
        "reference": "they are reference_parent= and reference_child=",
    }
)
def relative_frames(
    markers_parent: ArrayLike | Markers,
    markers_child: ArrayLike | Markers,
    *,
    reference_parent: ArrayLike | None = None,
    reference_child: ArrayLike | None = None,
    time: ArrayLike | None = None,
    q: ArrayLike | None = None,
) -> MeasuredFrames:
    """Frames of one bone in another from markers on both.

    Args:
        markers_parent: places of the markers on the fixed bone, in the laboratory [m], shape (T, m, 3),
            m >= 3. NaN: not seen. Three that are not on a line are enough in a frame; frames with fewer are
            left out, with a warning that names them. Or Markers, `markers[["T1", "T2", "T3"]]`.
        markers_child: the same for the moving bone, shape (T, n, 3), or Markers.
        reference_parent: places of the markers in the fixed bone's frame [m], shape (m, 3), from a scan or a
            trial in which its landmarks were pointed at. By default the frame has its origin at the mean of
            the markers and, in the first frame that has them all, the axes of the laboratory.
        reference_child: the same for the moving bone.
        time: times [s], shape (T,); those of Markers by default.
        q: coordinates, if they were measured, shape (T,) or (T, d).

    Returns:
        The frames X_FM. Their `residuals` are the root mean square errors of the markers [mm], a column per
        bone.

    Raises:
        DescriptionError: markers in millimeters, on one line, or mirrored.
        ShapeError: arrays of other shapes.
    """
    given = [m for m in (markers_parent, markers_child) if isinstance(m, Markers)]
    if len(given) == 2 and not np.array_equal(given[0].time, given[1].time):
        raise ShapeError(
            "relative_frames: markers_parent and markers_child are not of the same times; cut "
            "one: markers.between(a, b)"
        )
    time = given[0].time if given and time is None else time
    markers_parent, markers_child = (
        m.positions if isinstance(m, Markers) else m for m in (markers_parent, markers_child)
    )
    R_F, p_F, left_F = cluster_frames(markers_parent, reference_parent, name="markers_parent")
    R_M, p_M, left_M = cluster_frames(markers_child, reference_child, name="markers_child")
    if len(p_F) != len(p_M):
        raise ShapeError(f"relative_frames: markers_parent has {len(p_F)} frames, markers_child {len(p_M)}")
    n = len(p_F)
    others: dict[str, Any] = {}
    for name, value in (("time", time), ("q", q)):
        others[name] = None if value is None else np.asarray(real(f"relative_frames: {name}", value))
        if value is not None and len(others[name]) != n:
            raise ShapeError(f"relative_frames: {name} has {len(others[name])} entries; there are {n} frames")
    good = np.isfinite(left_F) & np.isfinite(left_M)
    if not good.any():
        raise DescriptionError(
            "relative_frames: no frame has three markers of each bone that are not on a line"
        )
    if not good.all():
        warn(
            f"relative_frames: {int((~good).sum())} of {n} frames have fewer than three markers on "
            "a bone, or "
            f"all on one line, and are left out: {listed(np.flatnonzero(~good))}"
        )
    for name, left in (("markers_parent", left_F), ("markers_child", left_M)):
        _name_worst(name, left, good)
    i = np.flatnonzero(good)
    X = Transform.unchecked(R_F[i], p_F[i]).inverse() @ Transform.unchecked(R_M[i], p_M[i])
    clock, over = (i, "frame") if others["time"] is None else (others["time"][i], "time [s]")
    residuals = Table(
        clock, ["parent", "child"], 1e3 * np.stack([left_F, left_M], axis=1)[i], ["mm", "mm"], over=over
    )
    pick = lambda array: None if array is None else array[i]
    return MeasuredFrames(X, pick(others["q"]), pick(others["time"]), residuals=residuals, source=i)


def _superposed(x: Array, seen: NDArray[np.bool_], r: Array) -> tuple[Array, Array, Array, Array, Array]:
    """R, p, root mean square error [m], singular values of A (T, 3), and det(U V'); NaN where not
    determined."""
    w = seen.astype(float)[:, :, None]
    count = w.sum(axis=1)
    x = np.where(seen[:, :, None], x, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_x, mean_r = (w * x).sum(axis=1) / count, (w * r).sum(axis=1) / count
    a, b = w * (x - np.nan_to_num(mean_x)[:, None]), w * (r - np.nan_to_num(mean_r)[:, None])
    A = np.swapaxes(a, 1, 2) @ b
    U, S, Vt = np.linalg.svd(A)
    sign = np.sign(np.linalg.det(U @ Vt))
    R = nearest_rotations(A)
    p = mean_x - (R @ mean_r[:, :, None])[:, :, 0]
    shape = np.linalg.svd(b, compute_uv=False)  # spread of the markers that were seen
    good = (count[:, 0] >= 3) & (shape[:, 1] > FLAT * shape[:, 0])
    square = (w * (x - np.nan_to_num(R @ r.T[None]).swapaxes(1, 2) - np.nan_to_num(p)[:, None]) ** 2).sum(
        axis=(1, 2)
    )
    left = np.where(good, np.sqrt(square / np.maximum(count[:, 0], 1)), np.nan)
    R, p = np.where(good[:, None, None], R, np.nan), np.where(good[:, None], p, np.nan)
    return R, p, left, S, sign


def _mean_shape(x: Array, seen: NDArray[np.bool_], name: str) -> Array:
    """The mean shape over all frames that have every marker, each rotated onto the first, about the mean
    marker."""
    whole = np.flatnonzero(seen.all(axis=1))
    if not len(whole):
        raise DescriptionError(
            f"relative_frames: {name}: no frame has all {x.shape[1]} markers, so their "
            "arrangement is not known; give reference_parent=, reference_child=, or leave "
            "out a marker that is rarely seen"
        )
    first = x[whole[0]] - x[whole[0]].mean(axis=0)
    _check_reference(first, name)
    centered = x[whole] - x[whole].mean(axis=1, keepdims=True)
    R = nearest_rotations(np.swapaxes(centered, 1, 2) @ first)
    return np.asarray((centered @ R).mean(axis=0))


def _check_reference(r: Array, name: str) -> None:
    spread = np.linalg.svd(r - r.mean(axis=0), compute_uv=False)
    if spread[1] <= FLAT * spread[0]:
        raise DescriptionError(
            f"relative_frames: {name} are on one line (spread {spread[0]:.3g} m along it, "
            f"{spread[1]:.3g} m across): rotation about it cannot be seen. Add a marker "
            "beside it"
        )


def _name_worst(name: str, left: Array, good: NDArray[np.bool_]) -> None:
    usual = float(np.median(left[good]))
    if usual > LEAST:
        warn(
            f"relative_frames: {name} do not fit their arrangement: {1e3 * usual:.3g} mm as a "
            "rule, where 1 mm is usual. Is it the right bone's reference, with its markers in the "
            "same order, and are all on one bone?"
        )
    worst = good & (np.nan_to_num(left) > np.maximum(STANDS_OUT * np.median(left[good]), LEAST))
    if worst.any():
        k = int(np.nan_to_num(left * good).argmax())
        warn(
            f"relative_frames: {name} fit badly in {listed(np.flatnonzero(worst))}: "
            f"{1e3 * left[k]:.3g} mm in frame {k}, {1e3 * np.median(left[good]):.3g} mm as a rule. "
            "Were two exchanged, or did one slide?"
        )
