"""A body on an ellipsoid: seth2010 section 2.3."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

import condyle.shapes as shapes
from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.mobilizers.constants import conditions_on, constants, sx, valued
from condyle.mobilizers.orientation import OrientationMobilizer
from condyle.records import dataclass
from condyle.shapes import Drawing
from condyle.trace import Numbers


@dataclass(frozen=True, eq=False, repr=False)
class Ellipsoid(OrientationMobilizer):
    """A body whose frame M rides on an ellipsoid fixed in F while it turns: three rotations, translation
    coupled to them.

    q: unit quaternion of M in F (w, x, y, z).
    u: w_FM in F [rad/s].
    a: the radii; n = R z; products by elements.

        p = a n                                                                 seth2010 (12)
        H = [1; -diag(a) [n]x],   Hdot u = [0; a (w x (w x n))]                  (13), (14)

    p lies on the ellipsoid, but n is the surface's normal there only on its axes and where radii agree.
    `normal=True` keeps n normal:

        p = a^2 n / d,   d = |a n|,   v = (a^2 ndot - p (p . ndot)) / d,   ndot = w x n             (35), (36)
        Hdot u = [0; (a^2 m - 2 (p . ndot) v - p (v . ndot + p . m)) / d],   m = w x (w x n)            (37)

    At q = 0, M is at (0, 0, radii[2]), with its axes along F's.

    Args:
        radii: semi-axes along F's axes [m], shape (3,), positive, numbers or Parameters.
        normal: keep M's z axis normal to the surface.
        coordinates: "quaternion", or "euler": body-fixed x-y-z angles [rad] with the same speeds; N is
            singular where the second angle is ±pi/2.
        mirrored: radii may be negative, as in joints of models that were mirrored: moving along that axis is
            turned round. Not with `normal`.
    """

    coordinates: str = "quaternion"
    radii: Numbers = None  # type: ignore[assignment]
    normal: bool = False
    mirrored: bool = False

    scales_with_body = True

    def __init__(
        self, radii: Numbers, normal: bool = False, coordinates: str = "quaternion", mirrored: bool = False
    ) -> None:
        for what, said in (("normal", normal), ("mirrored", mirrored)):
            if not isinstance(said, (bool, np.bool_)):
                raise DescriptionError(f"Ellipsoid: {what} is True or False, got {said!r}")
        if normal and mirrored:
            raise DescriptionError(
                "Ellipsoid: a mirrored one has no surface for a normal; give normal or mirrored, not both"
            )
        kept = constants(radii, 3, "Ellipsoid: radii", positive=not mirrored)
        for name, value in (
            ("radii", kept),
            ("normal", bool(normal)),
            ("coordinates", coordinates),
            ("mirrored", bool(mirrored)),
        ):
            object.__setattr__(self, name, value)
        self.__post_init__()

    def conditions(self) -> ca.SX | None:
        return None if self.mirrored else conditions_on(self.radii, positive=True)

    def _scaled(self, s: Array) -> Mobilizer:
        radii: Any = self.radii
        return Ellipsoid(
            [r * float(x) for r, x in zip(radii, s, strict=True)],
            self.normal,
            self.coordinates,
            self.mirrored,
        )

    def drawn(self, size: float) -> list[Drawing]:
        return [Drawing(shapes.Ellipsoid(np.abs(valued(self.radii, {}))), opacity=0.35)]  # type: ignore[arg-type]

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        R, a = self.orientation.rotation(q), sx(self.radii)
        n = R[:, 2]
        n_dot = ca.cross(u, n)
        m = ca.cross(u, n_dot)
        if not self.normal:
            # seth2010 (12)-(14)
            p, H_v, bias_v = a * n, -ca.diag(a) @ ca.skew(n), a * m
        else:
            d = ca.norm_2(a * n)
            p = a * a * n / d  # (35)
            H_v = -(ca.diag(a * a) - p @ p.T) @ ca.skew(n) / d  # (36)
            v, p_n = H_v @ u, ca.dot(p, n_dot)
            bias_v = (a * a * m - 2 * p_n * v - p * (ca.dot(v, n_dot) + ca.dot(p, m))) / d  # (37)
        return RelativeMotion(R=R, p=p, H_w=ca.SX.eye(3), H_v=H_v, bias_v=bias_v)
