"""Metric: how a rotation counts against a translation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array, real
from condyle.errors import DescriptionError, ShapeError
from condyle.spatial.mass_properties import MassProperties

DEFAULT_LENGTH = 0.1
"""[m]: 1 rad counts as 0.1 m, about half a degree as a millimeter, which is how markers on bones scatter."""

EXPECTED = "a length [m], cd.spatial.MassProperties.of(mass, com, inertia) or a 6 x 6 matrix"


class Metric:
    """The length |z| of a twist z = (w, v) of a frame M, in M, at M's origin: |z|^2 = z' W z [m^2].
    Immutable.

    `Metric.of(0.1)` lets 1 rad count as 0.1 m: W = diag(l^2, l^2, l^2, 1, 1, 1). `Metric.of(inertia)` is
    that of the kinetic energy, W = J/m, with which |z|^2 m / 2 is the energy of the body that moves with z.
    Both depend on where M is on its body.

    Attributes:
        matrix: W, symmetric and positive definite, shape (6, 6), angular part first.
        root: upper triangle U with U' U = W, so that |z| = |U z|, shape (6, 6).
    """

    __slots__ = ("matrix", "root")
    matrix: Array
    root: Array

    def __init__(self, matrix: ArrayLike, *, what: str = "Metric") -> None:
        try:
            W = np.array(real(what, matrix), dtype=float)
        except ShapeError as error:
            raise DescriptionError(str(error)) from None
        if W.shape != (6, 6):
            raise DescriptionError(f"{what}: expected {EXPECTED}, got shape {W.shape}")
        if not np.isfinite(W).all() or np.abs(W - W.T).max() > 1e-9 * np.abs(W).max():
            raise DescriptionError(f"{what}: the matrix must be finite and symmetric, got\n{W}")
        W = 0.5 * (W + W.T)
        try:
            root = np.linalg.cholesky(W).T.copy()
        except np.linalg.LinAlgError:
            smallest = np.linalg.eigvalsh(W)[0]
            raise DescriptionError(
                f"{what}: the matrix must be positive definite, but its smallest "
                f"eigenvalue is {smallest:.3g}; a length must be positive, and a body "
                "must resist every twist"
            ) from None
        for name, value in (("matrix", W), ("root", root)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, value: ArrayLike | MassProperties | Metric | None = None, what: str = "metric") -> Metric:
        """A Metric from what users give.

        Args:
            value: a length l > 0 [m] that 1 rad counts as; the mass properties of the moving body in M's
                axes, `cd.spatial.MassProperties.of(mass, com, inertia)`; a matrix W (6, 6); a Metric; or
                None: a length of 0.1 m.
            what: how errors name it.
        """
        if isinstance(value, Metric):
            return value
        if value is None:
            value = DEFAULT_LENGTH
        if isinstance(value, MassProperties):
            value = MassProperties.of(value.mass, value.com, value.inertia, what)
            if not value.mass > 0:
                raise DescriptionError(f"{what}: a body without mass has no metric, got {value!r}")
            return cls(value.matrix() / value.mass, what=what)
        if np.ndim(value) == 0:
            try:
                length = float(real(what, value))
            except ShapeError:
                raise DescriptionError(f"{what}: expected {EXPECTED}, got {value!r}") from None
            if not (np.isfinite(length) and length > 0):
                raise DescriptionError(
                    f"{what}: expected a length > 0 [m] that 1 rad counts as, got {length:g}"
                )
            return cls(np.diag([length**2] * 3 + [1.0] * 3), what=what)
        return cls(value, what=what)

    def norm(self, z: ArrayLike) -> Array:
        """|z| [m] of twists z in M, angular part first [rad, m], shape (..., 6); result (...)."""
        return np.linalg.norm(np.asarray(z, dtype=float) @ self.root.T, axis=-1)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot set {name}: a Metric never changes; make another, Metric.of(value)")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash(self.matrix.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return Metric, (self.matrix,)

    def __repr__(self) -> str:
        W = self.matrix
        if np.array_equal(W, np.diag([W[0, 0]] * 3 + [1.0] * 3)):
            return f"Metric({np.sqrt(W[0, 0]):g} m per rad)"
        return f"Metric({W.tolist()})"
