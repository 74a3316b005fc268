"""A system in its default pose as numbers: places of bodies and points, and lengths of paths, without
machine code. A scaling needs one pose of the model and one of the subject, whose sizes are new each time.

Spans of paths with equal equations (paths/span.py) are evaluated side by side. These equations depend
neither on the model nor on its numbers, so that they are traced once and cached for all models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.forces.path import PathLaw
from condyle.laws.leaves import CoordinateValue, Leaf, Rotation, StationPosition
from condyle.native.machine.cache import Notes
from condyle.native.straight.kernel_function import KernelFunction, evaluate
from condyle.native.tables.expression_cache import cached
from condyle.native.tables.staged import build_function
from condyle.paths.path import PathLength
from condyle.paths.points import MovingStation
from condyle.paths.span import Span
from condyle.studies.assemble import assemble
from condyle.system.system import System
from condyle.trace.parameter import numbers_at


class Posture:
    """Bodies, points and paths in the default pose, which satisfies the constraints.

    Args:
        system: the system; forces other than gravity are left out when the pose is computed.
        q: coordinates, if they are known.

    Attributes:
        q: coordinates, shape (nq,).
    """

    def __init__(self, system: System, q: Array | None = None) -> None:
        self.system, bare = system, without_forces(system) if len(system.forces) > 1 else system
        compiled, state = bare.compiled, bare.state() if q is None else bare.state().replace(q=q)
        given = f"{state.q.tolist()} {state.tail.tolist()}"  # models with equal keys may have other defaults
        self._key = f"{compiled.key}\n{given}"

        def find() -> list[list[float]]:
            pose = assemble(bare, state) if q is None and bare.constraints else state
            return [pose.q.tolist(), compiled.seldom("body_pose")(pose.q, pose.tail).tolist()]

        found = find() if q is not None else compiled.model.notes.get(f"default pose {given}", find)
        self.q, X = np.array(found[0]), np.reshape(found[1], (-1, 12))
        self._poses = {b.name: (x[:9].reshape(3, 3), x[9:]) for b, x in zip(bare.bodies, X, strict=True)} | {
            "ground": (np.eye(3), np.zeros(3))
        }

    def point(self, body: str, station: Any) -> Array:
        """A body's point in ground [m], shape (3,)."""
        R, p = self._poses[body]
        return R @ np.ravel(numbers_at(station)) + p

    def station(self, body: str, place: Array) -> Array:
        """A point in ground expressed in the frame of a body [m], shape (3,)."""
        R, p = self._poses[body]
        return R.T @ (place - p)

    def markers(self) -> dict[str, Array]:
        """Positions of the markers in ground [m]."""
        return {
            n: self.point(m.body, m.station) for n in self.system.markers for m in (self.system.marker(n),)
        }

    def lengths(self, laws: Mapping[str, PathLaw]) -> dict[str, float]:
        """Lengths [m] of the paths of some forces of this system by their names."""
        paths = {name: law.path.length for name, law in laws.items()}
        text = "\n".join([self._key, str(self.q.tolist()), *(path.text for path in paths.values())])
        found: list[float] = Notes(f"lengths {text}").get("lengths", lambda: self._found(paths))
        return dict(zip(paths, found, strict=True))

    def _found(self, paths: Mapping[str, PathLength]) -> list[float]:
        if all(isinstance(x, PathLength) and has_numbers(x) for x in paths.values()):
            each = self._lengths([span for x in paths.values() for span in x.spans])
            if np.isfinite(each).all():
                parts = iter(each.tolist())
                return [sum(islice(parts, len(x.spans)), float(x.constant)) for x in paths.values()]
        # the operator, which evaluates all paths, reports errors of a path
        state = self.system.copy().state().replace(q=self.q)
        known = dict(zip(self.system.paths, state.path_lengths().tolist(), strict=True))
        return [known[name] for name in paths]

    def _lengths(self, spans: Sequence[Span]) -> Array:
        """Lengths of spans [m]; NaN for spans that are not found correctly."""
        out, kinds = np.zeros(len(spans)), dict[Any, list[int]]()
        for i, span in enumerate(spans):
            if span.wraps or len(span.points) > 2:
                kinds.setdefault(_kind(span), []).append(i)
            else:
                a, b = (self._part(part) for part in span.parts)
                out[i] = math.dist(a, b)
        kept_kinds = sorted(kinds, key=repr)
        samples = [spans[kinds[kind][0]] for kind in kept_kinds]
        functions = (
            cached(f"lengths of spans {kept_kinds}", lambda: list(map(_length, samples))) if kinds else []
        )
        for f, kind in zip(functions, kept_kinds, strict=True):
            some = [spans[i] for i in kinds[kind]]
            numbers = np.array([span.numbers for span in some]).T
            parts = np.array([np.concatenate([self._part(p) for p in span.parts]) for span in some]).T
            L, left_out = evaluate(f, numbers, parts)
            out[kinds[kind]] = np.where(left_out[0] == 0, L[0], np.nan)
        return out

    def _part(self, leaf: Leaf) -> Array:
        """Values of the quantities of a span, shape (size,)."""
        match leaf:
            case StationPosition():
                return self.point(leaf.body, leaf.station)
            case Rotation():
                return self._poses[leaf.body][0].ravel()
            case CoordinateValue():
                return self.q[[self.system.coordinates.index(leaf.name)]]
        assert isinstance(leaf, MovingStation)
        return self.point(
            leaf.body, leaf.place([self.q[self.system.coordinates.index(n)] for n in leaf.names])
        )


def without_forces(system: System) -> System:
    """A copy without forces other than gravity."""
    return system.copy(forces={name: None for name in system.forces if name != "gravity"})


def has_numbers(length: PathLength) -> bool:
    """Whether a path has plain numbers and depends only on poses and coordinates."""
    known = StationPosition, Rotation, CoordinateValue, MovingStation
    return not ca.symvar(length.constant) and all(
        span.numbers is not None and all(isinstance(part, known) for part in span.parts)
        for span in length.spans
    )


def _kind(span: Span) -> Any:
    """A key: spans with equal keys have the same equations of numbers and parts. It is their signature
    without the motion of points."""
    return span.signature_of(lambda p: p.signature if p.stays else type(p).__qualname__)


def _length(span: Span) -> KernelFunction:
    """numbers, parts -> length, whether surfaces are left out; for all spans with these equations."""
    numbers = ca.SX.sym("numbers", len(span.numbers or ()))
    twin = span.twin(numbers, span.bodies, span.coordinates)
    y = [ca.SX.sym("y", part.size) for part in span.parts]
    shaped = [part.shaped(x) for part, x in zip(span.parts, y, strict=True)]
    rows = ca.densify(twin.rows(*shaped))
    L = twin.expression(*([rows] if rows.numel() else []), *shaped)
    return build_function("length", [numbers, ca.vertcat(*y)], [L, twin.left_out_of(rows)])
