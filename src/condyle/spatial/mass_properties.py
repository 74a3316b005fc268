"""Mass properties of a rigid body: checked once, then numbers."""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.errors import DescriptionError, ShapeError
from condyle.records import dataclass
from condyle.spatial.algebra import Value, all_of, any_of, numbers, too_large
from condyle.spatial.rotations import skew
from condyle.spatial.transform import Transform

SYMMETRY_TOLERANCE = 1e-9
"""Difference of I and I' that passes, relative to the largest entry: rounding of a computed I, nothing
more."""

NEGATIVE_TOLERANCE = 1e-12
"""How far below zero a principal moment may be, relative to the largest: rounding of a thin rod in turned
axes. More would let a mass matrix be indefinite."""

TRIANGLE_TOLERANCE = 1e-6
"""How far one principal moment may exceed the sum of the others, relative to itself. Flat plates lie on the
limit and their inertia is often typed with seven digits; such an excess harms no dynamics."""


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass, mass center and inertia of a body in its frame B. Make one with `MassProperties.of`, which
    checks.

    Attributes:
        mass: [kg].
        com: p_BoBcm, the mass center in B [m], shape (3,), read-only.
        inertia: rotational inertia about the mass center, in B's axes [kg m^2], shape (3, 3), read-only.
    """

    mass: float
    com: Array
    inertia: Array

    @classmethod
    def of(
        cls,
        mass: float = 0.0,
        com: Value = (0.0, 0.0, 0.0),
        inertia: Value = (0.0, 0.0, 0.0),
        what: str = "body",
        possible: bool = True,
    ) -> MassProperties:
        """Checked mass properties.

        Args:
            mass: [kg], zero or more. Zero needs zero inertia.
            com: mass center in B [m], shape (3,).
            inertia: about the mass center, in B's axes [kg m^2]: 3 (xx yy zz), 6 (xx yy zz xy xz yz) or 3 x
                3. The products xy, xz, yz are entries of the matrix: minus the integral of x y dm.
            what: how errors name the body.
            possible: refuse an inertia that no real body has.
        """
        m = _numbers(mass, f"{what}: mass")
        if m.shape != ():
            raise DescriptionError(f"{what}: mass is one number [kg], got shape {m.shape}")
        if m < 0:
            raise DescriptionError(f"{what}: mass is {m:g} kg; it must be zero or more")
        c = _numbers(com, f"{what}: com")
        if c.shape != (3,):
            raise DescriptionError(f"{what}: com is a point of 3 numbers [m], got shape {c.shape}")
        I = _inertia_matrix(_numbers(inertia, f"{what}: inertia"), what, possible)
        if m == 0 and I.any():
            raise DescriptionError(
                f"{what}: mass is 0 but inertia is not; give a mass, or zero inertia as well"
            )
        return cls._frozen(float(m), c, I)

    @classmethod
    def _frozen(cls, mass: float, com: Array, inertia: Array) -> MassProperties:
        com, inertia = np.array(com), np.array(inertia)
        com.flags.writeable = inertia.flags.writeable = False
        return cls(mass, com, inertia)

    def inertia_about_origin(self) -> Array:
        """Rotational inertia about B's origin, in B's axes [kg m^2], shape (3, 3): I - m [c]x [c]x."""
        c = self.com
        return self.inertia + self.mass * ((c @ c) * np.eye(3) - np.outer(c, c))

    def matrix(self) -> Array:
        """Spatial inertia about B's origin, in B: [[I_o, m [c]x], [-m [c]x, m 1]], angular first, shape (6,
        6)."""
        mcx = self.mass * skew(self.com)
        return np.block([[self.inertia_about_origin(), mcx], [-mcx, self.mass * np.eye(3)]])

    def transformed(self, X_AB: Value) -> MassProperties:
        """The same body described in frame A, where X_AB is the pose of its frame B."""
        R, _ = X_AB = Transform.of(X_AB, "MassProperties.transformed")
        I_A = R @ self.inertia @ R.T
        return self._frozen(self.mass, X_AB @ self.com, (I_A + I_A.T) / 2)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MassProperties):
            return NotImplemented
        same = np.array_equal(self.com, other.com) and np.array_equal(self.inertia, other.inertia)
        return same and self.mass == other.mass

    def __hash__(self) -> int:
        # + 0.0: -0.0 equals 0.0
        return hash((self.mass, (self.com + 0.0).tobytes(), (self.inertia + 0.0).tobytes()))

    def __reduce__(self) -> tuple[object, ...]:
        return MassProperties._frozen, (self.mass, self.com, self.inertia)

    def __repr__(self) -> str:
        moments = ", ".join(f"{a:.4g}" for a in np.linalg.eigvalsh(self.inertia))
        com = ", ".join(f"{a:.4g}" for a in self.com)
        return f"MassProperties({self.mass:.6g} kg, com=[{com}], moments=[{moments}])"


def possible_masses(mass: SX, I: SX, any_inertia: bool = False) -> SX:
    """Not zero where mass [kg] and inertia (3, 3) about the mass center are clearly those of a real body:
    `MassProperties.of` would take them. Without eigenvalues: with second moments S = tr(I)/2 1 - I, whose
    least eigenvalue is half of what the two smaller principal moments exceed the largest by, both S and I are
    positive definite, within the tolerances. any_inertia: S and I are not asked."""
    # at most three times the largest moment, and at least that
    trace = ca.trace(I)
    A = I / trace
    asymmetry = [
        ca.fabs(A[i, j] - A[j, i]) <= SYMMETRY_TOLERANCE / 3
        for i, j in ((1, 0), (2, 0), (2, 1))
        if not ca.is_equal(A[i, j], A[j, i], 1)
    ]
    # false where an entry is not finite: A is not a number then
    if any_inertia:
        conditions = [ca.sumsqr(I) < ca.inf]
    else:
        conditions = [
            trace > 0,
            _definite(A + NEGATIVE_TOLERANCE / 4 * ca.SX.eye(3)),
            _definite((0.5 + TRIANGLE_TOLERANCE / 8) * ca.SX.eye(3) - A),
        ]
    real = mass > 0
    for condition in (*asymmetry, *conditions):
        real = all_of(real, condition)
    none = all_of(mass >= 0, ca.sumsqr(I) == 0)  # a point, or nothing
    return all_of(mass < ca.inf, any_of(real, none))


def _definite(A: SX) -> SX:
    """Whether a symmetric A, shape (3, 3), is positive definite: its leading minors are positive."""
    (a, b, d), (c, e), f = (A[0, 0], A[1, 0], A[2, 0]), (A[1, 1], A[2, 1]), A[2, 2]
    two = a * c - b * b
    three = f * two - a * e * e + d * (2 * b * e - c * d)
    return all_of(a > 0, two > 0, three > 0)


def _numbers(value: Value, what: str) -> Array:
    try:
        array = numbers(value, what)
    except ShapeError as error:
        raise DescriptionError(str(error)) from None
    if not np.isfinite(array).all():
        raise DescriptionError(f"{what} has a number that is not finite: {array}")
    if words := too_large(array):
        raise DescriptionError(f"{what} has a number of size {words}")
    return array


def _inertia_matrix(I: Array, what: str, possible: bool = True) -> Array:
    """The symmetric 3 x 3 inertia of 3, 6 or 3 x 3 numbers; raises, unless told otherwise, if no real body
    has it."""
    if I.shape == (3,):
        I = np.diag(I)
    elif I.shape == (6,):
        xx, yy, zz, xy, xz, yz = I
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    elif I.shape != (3, 3):
        raise DescriptionError(
            f"{what}: inertia is 3 numbers (xx yy zz), 6 (xx yy zz xy xz yz) or 3 x 3 [kg m^2], got shape "
            f"{I.shape}"
        )
    asymmetry = np.abs(I - I.T).max()
    if asymmetry > SYMMETRY_TOLERANCE * np.abs(I).max():
        raise DescriptionError(
            f"{what}: inertia is not symmetric: I and I' differ by {asymmetry:.3g} kg m^2 in\n{I}"
        )
    I = (I + I.T) / 2
    if not possible:
        return I
    small, middle, large = np.linalg.eigvalsh(I)
    shown = f"its principal moments are {small:.6g}, {middle:.6g}, {large:.6g} kg m^2"
    if small < -NEGATIVE_TOLERANCE * abs(large):
        raise DescriptionError(
            f"{what}: inertia is not positive semidefinite: {shown}; no moment may be negative"
        )
    if large - (small + middle) > TRIANGLE_TOLERANCE * large:
        raise DescriptionError(
            f"{what}: inertia violates the triangle inequality: {shown}; no real body has one above the sum "
            "of the other two. Inertia is about the mass center, in the body's axes"
        )
    return I
