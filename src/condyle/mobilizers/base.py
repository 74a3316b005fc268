"""The contract of every mobilizer.

A mobilizer places frame M, fixed on the body B, in frame F, fixed on its parent P (seth2010 (1)-(4), with
time):

    X_FM(t, q)                                                                  (1)
    V_FM = H_FM u + Vt                                                          (2)
    A_FM = H_FM udot + bias,      bias = Hdot_FM u + At                         (3)
    qdot = N(q) u                                                               (4)

All of these are measured and expressed in F, angular rows first. Vt and At are the motion due to time alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX, Array, vector
from condyle.errors import DescriptionError, ShapeError
from condyle.loading import Deferred
from condyle.mobilizers.constants import coordinate_units, depends, speed_units, text, valued
from condyle.mobilizers.traced import JointMotion, motion, motion_at
from condyle.native.tables.lookup import Closure, RowSource, lookup_context
from condyle.records import dataclass
from condyle.spatial import Transform
from condyle.trace import to_sx
from condyle.trace.parameter import is_number_like

if TYPE_CHECKING:
    from condyle.mobilizers import fitted
    from condyle.shapes import Drawing
else:  # loaded where a pose is fitted
    fitted = Deferred("condyle.mobilizers.fitted")

STARTS = 24
"""Number of random starts if a pose is not reached."""


def zeros(rows: int = 3, columns: int = 1) -> SX:
    """Structural zeros: they vanish from every expression they enter."""
    return ca.SX(rows, columns)


@dataclass(frozen=True)
class RelativeMotion:
    """X_FM, H_FM, Vt and bias of (1)-(3) as expressions. Shapes: R (3, 3), p (3,), H_w and H_v (3, nu), the
    rest (3,)."""

    R: ca.SX
    p: ca.SX
    H_w: ca.SX
    H_v: ca.SX
    w_t: ca.SX = field(default_factory=zeros)
    v_t: ca.SX = field(default_factory=zeros)
    bias_w: ca.SX = field(default_factory=zeros)
    bias_v: ca.SX = field(default_factory=zeros)

    def parts(self) -> list[SX]:
        return [self.R, self.p, self.H_w, self.H_v, self.w_t, self.v_t, self.bias_w, self.bias_v]


class Mobilizer(ExplainsCalls):
    """Motion of a body relative to its parent. Immutable data plus equations.

    Attributes:
        coordinate_names: one short name for each coordinate, appended to the body's name if there are
            several.
        speed_names: one short name for each speed.
        units: unit of each coordinate; derived from the equations unless a class defines them.
        speed_units: unit of each speed; likewise.
        quaternions: slices of unit quaternions among the coordinates, such as (slice(0, 4),).
        named_by_user: the user gave the coordinates' names with the mobilizer; they are used unchanged.
        singular: text on where H or N loses rank; empty if nowhere.
        has_lengths: X_FM has lengths that are not coordinates, such as radii; `scaled` multiplies them.
        scales_with_body: `cd.scale` uses the factors along the body's axes, as OpenSim does, not those along
            F's axes.

    Two are equal if they have the same class, description, names and units.
    """

    coordinate_names: tuple[str, ...] = ()
    speed_names: tuple[str, ...] = ()
    quaternions: tuple[slice, ...] = ()
    named_by_user: bool = False
    uses_time: bool = False
    singular: str = ""
    has_lengths: bool = True
    scales_with_body: bool = False

    @property
    def parametric(self) -> bool:
        """Whether Parameters may be in its equations: where it is known that there are none, these are not asked."""
        return True

    @property
    def nq(self) -> int:
        return len(self.coordinate_names)

    @property
    def nu(self) -> int:
        return len(self.speed_names)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """From the equations: "m" for pure translation, "1" for quaternions, else "rad"."""
        return coordinate_units(*self._hinge(), self.quaternions)

    @cached_property
    def speed_units(self) -> tuple[str, ...]:
        """From the equations: that of the coordinate per second if u = qdot, else "m/s" for pure translation,
        or "rad/s".
        """
        if type(self).N is Mobilizer.N:  # u = qdot
            return tuple(f"{unit}/s" for unit in self.units)
        return speed_units(*self._hinge(), self.units)

    @lookup_context()
    def _hinge(self) -> tuple[SX, SX, SX]:
        """H_w, H_v and N as expressions."""
        t, q, u = ca.SX.sym("t"), ca.SX.sym("q", self.nq), ca.SX.sym("u", self.nu)
        terms = motion(self, t, q, u)
        return terms.H_w, terms.H_v, self.N(q)

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        """The expressions (1)-(3) at time t [s], coordinates q (nq,) and speeds u (nu,)."""
        raise TypeError(f"{type(self).__name__} does not say how it moves: it needs a method motion(t, q, u)")

    def N(self, q: SX) -> SX:
        """qdot = N(q) u (4), shape (nq, nu). The identity by default."""
        return ca.SX.eye(self.nq)

    def N_inverse(self, q: SX) -> SX:
        """u = N_inverse(q) qdot, shape (nu, nq): the inverse of N, or the pseudoinverse if q is longer than
        u.
        """
        N = ca.sparsify(self.N(q))
        return N.T if N.is_eye() else ca.solve(N.T @ N, N.T)

    @property
    def domains(self) -> tuple[tuple[float, float], ...]:
        """(low, high) of each coordinate's domain, in its unit; (-inf, inf) by default.

        Outside, a mobilizer extrapolates; `cd.simulate` warns if a domain is left.
        """
        return ((-math.inf, math.inf),) * self.nq

    def sizes(self, length: float) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """Displacement per unit of each coordinate, and of each speed: 1 rad and one `length` [m] count as 1.
        They weight errors; None: from the unit.
        """
        return (None,) * self.nq, (None,) * self.nu

    def default_q(self) -> Array:
        """Coordinates of the reference configuration, shape (nq,): zero, or the end of the domain nearest to
        it."""
        low, high = np.array(self.domains).reshape(-1, 2).T
        return np.clip(np.zeros(self.nq), low, high)

    def random_q(self, rng: np.random.Generator) -> Array:
        """Random valid coordinates, for checks and tests: within the domains, and within 1 of zero where
        these are infinite.
        """
        low, high = np.array(self.domains).reshape(-1, 2).T
        low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0, -1.0))
        return rng.uniform(low, np.where(np.isfinite(high), high, low + 2.0))

    def fit_q(
        self, X_FM: Transform | ArrayLike, q: ArrayLike | None = None, t: float = 0.0
    ) -> tuple[Array, Array]:
        """Coordinates that bring M closest to a pose in F.

        They minimize the sum of squares, with 1 rad equal to 1 m, within the domains. Parameters have their
        defaults; in a State use `state.fit_q`.

        Args:
            X_FM: a Transform, or a 3-vector (translation).
            q: initial guess, shape (nq,): of several solutions one near it is found; by default
                `default_q()`.
            t: time [s], for mobilizers that depend on it.

        Returns:
            q, shape (nq,), and the residual: angle [rad] and distance [m], shape (2,).
        """
        X = Transform.of(X_FM, "X_FM")
        if X.p.ndim != 1:
            raise ShapeError(
                f"fit_q: X_FM: expected one pose, got {len(X.p)}; call it for each, starting at "
                "the q of the one before"
            )
        start = self.default_q() if q is None else vector("fit_q: q", q, self.nq, None, one=True)
        return fitted.fit_pose(
            lambda x: self._pose_and_hinge(t, x), self._moved, self.starts(start, X), X.R, X.p, self.bounds
        )

    def fit_u(self, q: ArrayLike, V_FM: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
        """Speeds that bring M's velocity closest to a given one.

        Args:
            q: coordinates, shape (nq,).
            V_FM: velocity of M in F, angular part first [rad/s, m/s], shape (6,).
            t: time [s], for mobilizers that depend on it.

        Returns:
            u, shape (nu,), and the residual [rad/s, m/s], shape (2,).
        """
        V = vector("fit_u: V_FM", V_FM, 6, None, one=True)
        at = motion_at(self, t, vector("fit_u: q", q, self.nq, None, one=True), np.zeros(self.nu))
        return fitted.fit_velocity(
            self._hinge_of(at), V - np.concatenate([np.ravel(at.w_t), np.ravel(at.v_t)])
        )

    def guess(self, R_FM: Array) -> Array | None:
        """Coordinates (nq,) that rotate M by R_FM, if known without a search; else None."""
        return None

    def starts(self, q: Array, X_FM: Transform) -> Iterator[Array]:
        """Initial guesses for coordinates that bring M to X_FM: q, then others."""
        yield q
        if (known := self.guess(X_FM.R)) is not None:
            yield known
        yield self.default_q()
        rng = np.random.default_rng(0)
        for _ in range(STARTS if self.nq else 0):
            yield self.random_q(rng)

    @cached_property
    def bounds(self) -> tuple[fitted.CoordinateBounds, ...]:
        """Finite domains of coordinates whose rate is a speed: qdot_i = u_j."""
        if not np.isfinite(np.array(self.domains)).any():
            return ()
        return tuple(
            fitted.CoordinateBounds(speed, i, *self.domains[i])
            for i, speed in self.rates_of_coordinates().items()
            if np.isfinite(self.domains[i]).any()
        )

    def rates_of_coordinates(self) -> dict[int, int]:
        """The coordinates whose rate is one speed for all q, and that speed."""
        N = ca.sparsify(self.N(ca.SX.sym("q", self.nq)))
        rows = [ca.sparsify(N[i, :]) for i in range(self.nq)]
        return {
            i: row.sparsity().get_triplet()[1][0]
            for i, row in enumerate(rows)
            if row.nnz() == 1 and row.is_constant() and float(row.nz[0]) == 1.0
        }

    def _pose_and_hinge(self, t: float, q: Array) -> tuple[Array, Array, Array]:
        at = motion_at(self, t, q, np.zeros(self.nu))
        return at.R, np.ravel(at.p), self._hinge_of(at)

    def _hinge_of(self, at: JointMotion[Array]) -> Array:
        return np.concatenate([np.reshape(at.H_w, (3, self.nu)), np.reshape(at.H_v, (3, self.nu))])

    def _moved(self, q: Array, du: Array) -> Array:
        """q + N du with unit quaternions."""
        q = q + np.ravel(motion_at(self, 0.0, q, du).qdot)
        for part in self.quaternions:
            q[part] /= np.linalg.norm(q[part])
        return q

    def description(self) -> str:
        """Text that determines the equations: equal text, equal machine code.

        For built-in classes: name and fields. For user classes, whose code may change: the equations.
        """
        if not type(self).__module__.startswith("condyle."):
            return f"{type(self).__qualname__} {self._equations}"
        return f"{type(self).__name__}({', '.join(text(value) for _, value in self._fields())})"

    def _fields(self) -> list[tuple[Any, Any]]:
        """The fields of a dataclass, with their values."""
        return [(f, getattr(self, f.name)) for f in fields(self)] if is_dataclass(self) else []

    @cached_property
    def _equations(self) -> str:
        t, q, u = ca.SX.sym("t"), ca.SX.sym("q", self.nq), ca.SX.sym("u", self.nu)
        closure = Closure("motion", [t, q, u], [*self.motion(t, q, u).parts(), self.N(q) @ u])
        tables = [table.text for table in closure.tables]
        return f"{closure.function.serialize()} {[s.name() for s in ca.vertsplit(closure.outside)]} {tables}"

    def form(self) -> tuple[str, tuple[RowSource, ...]] | None:
        """Text that determines the equations apart from the contents of look-up tables, and these tables:
        mobilizers of one form are traced once. None if unknown before tracing.
        """
        return None

    def check_parameters(self, values: Mapping[str, float]) -> None:
        """Raise an error for invalid values of Parameters, such as a negative radius."""
        if changed := {f.name: valued(x, values) for f, x in self._fields() if f.init and depends(x)}:
            replace(self, **changed)  # type: ignore[type-var]

    def conditions(self) -> SX | None:
        """The same as a column of expressions, all nonzero for valid values. None: call `check_parameters`."""
        return None if any(f.init and depends(x) for f, x in self._fields()) else zeros(0)

    def reversed(self) -> Mobilizer:
        """The same motion and coordinates with the roles of F and M exchanged (seth2010 section 2.4)."""
        return Reversed(self)

    def scaled(self, factors: ArrayLike) -> Mobilizer:
        """The same joint between bodies of another size: lengths of X_FM times factors along F's axes.

        With equal factors k, where all coordinates and speeds in m, cm or mm are k times as large and all
        others the same, M has the same orientation and is k times as far from F's origin. Only some joints
        can be scaled by unequal factors.

        Args:
            factors: one, or three along F's x, y and z, above 0; numbers or Parameters.

        Raises:
            DescriptionError: factors that are not positive, or unequal factors for a joint that needs equal
                ones.
        """
        if is_number_like(factors):
            given: Any = factors
            s = np.array(given if isinstance(given, (list, tuple, np.ndarray)) else [given] * 3, dtype=object)
            return self._scaled(s) if self.has_lengths else self
        s = vector(
            "scaled: factors",
            np.broadcast_to(factors, 3) if np.ndim(factors) == 0 else factors,
            3,
            None,
            one=True,
        )
        if not (np.isfinite(s).all() and (s > 0).all()):
            raise DescriptionError(f"scaled: factors: expected one or three numbers above 0, got {factors!r}")
        return self if (s == 1).all() or not self.has_lengths else self._scaled(s)

    def _scaled(self, s: Array) -> Mobilizer:
        """`scaled` for a joint with lengths, by factors s (3,)."""
        from condyle.mobilizers.combined import ScaledMobilizer

        return ScaledMobilizer(self, self._one_factor(s, "its lengths"))

    def _one_factor(self, s: Array, what: str) -> Any:
        """The factor if all three are equal.

        Raises:
            DescriptionError: they are not; it names what needs one.
        """
        if s.dtype == object and all(bool(ca.is_equal(to_sx(s[0]), to_sx(x))) for x in s[1:]):
            return s[0]
        if s.dtype == object or (s != s[0]).any():
            raise DescriptionError(
                f"{self!r}: the factors {s} differ, and there is no rule by which of them {what} grow; give "
                "three equal factors, or scale the joint yourself: system.copy(bodies={...: {'mobilizer': "
                "...}})"
            )
        return float(s[0])

    def drawn(self, size: float) -> Sequence[Drawing]:
        """Shapes to draw in F; none by default.

        Args:
            size: of the scene [m], for shapes without a natural size.
        """
        return ()

    def save(self, path: str | Path) -> None:
        """Write a readable text file, which `cd.read_mobilizer` reads back as an equal mobilizer.

        The file has all digits, units and the class, and is written atomically.

        Args:
            path: of the file; it must end in .json.

        Raises:
            DescriptionError: another extension, a missing folder, or a Python function in the mobilizer,
                which cannot be written.
        """
        from condyle.mobilizers.text_file import save

        save(self, path)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Mobilizer)
            and type(self) is type(other)
            and self.description() == other.description()
            and self.coordinate_names == other.coordinate_names
            and self.units == other.units
            and self.speed_units == other.speed_units
        )

    def __hash__(self) -> int:
        return hash(self.description())

    def __repr__(self) -> str:
        """Class and fields that differ from their defaults."""
        mine = [(f, value) for f, value in self._fields() if f.repr]
        shown = [f"{f.name}={value!r}" for f, value in mine if text(value) != text(f.default)]
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True)
class Wrapper(Mobilizer):
    """A mobilizer that wraps another one, with its coordinates, speeds and domains."""

    forward: Mobilizer

    def __post_init__(self) -> None:
        for name in (
            "coordinate_names",
            "speed_names",
            "quaternions",
            "named_by_user",
            "uses_time",
            "singular",
            "has_lengths",
            "scales_with_body",
        ):
            object.__setattr__(self, name, getattr(self.forward, name))

    @cached_property
    def units(self) -> tuple[str, ...]:
        return self.forward.units

    @cached_property
    def speed_units(self) -> tuple[str, ...]:
        return self.forward.speed_units

    def check_parameters(self, values: Mapping[str, float]) -> None:
        self.forward.check_parameters(values)

    def conditions(self) -> SX | None:
        return self.forward.conditions()


@dataclass(frozen=True)
class Reversed(Wrapper):
    """A reversed mobilizer: q and u keep their meaning, parent and child exchange roles.

    With R, p, w, v, bias those of the forward mobilizer and ' the reversed one:

        R' = R^T,   p' = -R^T p                                                      seth2010 (15)
        H' = -R^T [H_w; H_v + p x H_w]                                               (16), see errata
        bias' = -R^T [bias_w; bias_v + p x bias_w + v x w - w x (v + p x w)]         (17), time included

    Scale factors are along the axes of the forward mobilizer's F, on the child.
    """

    @property
    def parametric(self) -> bool:
        return self.forward.parametric

    @property
    def domains(self) -> tuple[tuple[float, float], ...]:
        return self.forward.domains

    def sizes(self, length: float) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        return self.forward.sizes(length)

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        X = self.forward.motion(t, q, u)
        R_T, p_x = X.R.T, ca.skew(X.p)
        w, v = X.H_w @ u + X.w_t, X.H_v @ u + X.v_t
        turned = X.bias_v + p_x @ X.bias_w + ca.cross(v, w) - ca.cross(w, v + ca.cross(X.p, w))
        return RelativeMotion(
            R=R_T,
            p=-R_T @ X.p,
            H_w=-R_T @ X.H_w,
            H_v=-R_T @ (X.H_v + p_x @ X.H_w),
            w_t=-R_T @ X.w_t,
            v_t=-R_T @ (X.v_t + p_x @ X.w_t),
            bias_w=-R_T @ X.bias_w,
            bias_v=-R_T @ turned,
        )

    def N(self, q: SX) -> SX:
        return self.forward.N(q)

    def N_inverse(self, q: SX) -> SX:
        return self.forward.N_inverse(q)

    def guess(self, R_FM: Array) -> Array | None:
        return self.forward.guess(R_FM.T)

    def starts(self, q: Array, X_FM: Transform) -> Iterator[Array]:
        return self.forward.starts(q, X_FM.inverse())

    def default_q(self) -> Array:
        return self.forward.default_q()

    def random_q(self, rng: np.random.Generator) -> Array:
        return self.forward.random_q(rng)

    def description(self) -> str:
        return f"Reversed({self.forward.description()})"

    def form(self) -> tuple[str, tuple[RowSource, ...]] | None:
        return None if (form := self.forward.form()) is None else (f"Reversed({form[0]})", form[1])

    def reversed(self) -> Mobilizer:
        return self.forward

    def _scaled(self, s: Array) -> Mobilizer:
        return Reversed(self.forward.scaled(s))

    def __repr__(self) -> str:
        return f"{self.forward!r}.reversed()"
