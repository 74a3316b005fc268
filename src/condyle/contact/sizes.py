"""How large surfaces are, and what `smooth=` is large beside."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.contact.implicit import Implicit
from condyle.contact.mesh import Mesh
from condyle.contact.solids import Box, Cylinder, Ellipsoid, Torus
from condyle.contact.surfaces import Sphere, Surface
from condyle.errors import warn
from condyle.trace.parameter import Expression

RADII: dict[type, dict[str, float]] = {
    Sphere: {"radius": 1.0},
    Ellipsoid: {"radii": 1.0},
    Torus: {"tube_radius": 1.0},
    Cylinder: {"radius": 1.0, "length": 0.5},
    Box: {"half_lengths": 1.0},
    Implicit: {"size": 1.0},
}
"""Numbers that say how large a kind is, with what makes a radius of each."""
SHARE = 0.1
"""Of the smallest radius of two surfaces that `smooth` is small beside."""


def smallest(surface: Surface) -> float:
    """The smallest radius, or half-length [m], with the defaults of Parameters; infinite of half-spaces and
    height fields. Of the corner of a box it is that of the box."""
    whole = surface.whole
    if isinstance(whole, Mesh):
        return float(np.ptp(whole.triangles.vertices, axis=0).min()) / 2
    found = RADII.get(type(whole), {})
    return min(
        (share * float(np.min(_plain(getattr(whole, name)))) for name, share in found.items()), default=np.inf
    )


def _plain(kept: Any) -> Any:
    return kept.at() if isinstance(kept, Expression) else kept


def warn_of_smooth(a: Surface, b: Surface, smooth: float, what: str, reach: float = 0.0) -> None:
    """Warn of a `smooth` that is large beside the surfaces. reach: how far springs act, in parts of it."""
    least = min((a, b), key=smallest)
    size = smallest(least)
    if not smooth > SHARE * size:
        return
    if reach:
        early = f"springs would act from {reach * smooth:.2g} m before they touch"
    else:
        early = (
            f"at a gap of {size:.3g} m it would push as if {(np.hypot(size, smooth) - size) / 2:.2g} m deep"
        )
    warn(
        f"{what}: smooth = {smooth:g} m is large beside {type(least.whole).__name__} on {least.body!r}, "
        f"whose smallest radius is {size:.3g} m: {early}. Take at most {SHARE * size:.2g} m; 1e-4 is usual"
    )
