"""Scaled bodies: frames, mobilizers, masses and inertias by factors along a body's axes.

    p' = s o p   (by elements, in the axes of the body that the point is fixed to)                        (1)
    lengths of a joint by its method `scaled`, s of the body that its F is on                             (2)
    m' = m |s_x s_y s_z|, or m where the distribution of mass is preserved                                (3)
    equal factors:   I' = I s^2 m'/m                                                                      (4)
    else a cylinder along axis c, that of the least moment, o another axis:
        r^2 = 2 I_cc / m,   l^2 = 12 (I_oo - m r^2 / 4) / m,   r'^2 = r^2 s_a s_b,   l' = l s_c           (5)
        I'_cc = m' r'^2 / 2,   I'_aa = I'_bb = m' (r'^2 / 4 + l'^2 / 12),   I'_ij = I_ij s_i s_j          (6)

These are OpenSim's rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.laws.factors import equal, grows, is_symbolic, times
from condyle.mobilizers import Mobilizer
from condyle.mobilizers.base import Reversed
from condyle.spatial import Transform
from condyle.system.system import System
from condyle.trace import Symbol
from condyle.trace.parameter import Expression
from condyle.tree.body import Body


def changes(
    system: System, s: Mapping[str, Array], keep_distribution: bool, total: float | None
) -> dict[str, dict[str, Any]]:
    """The changes of the bodies, as arguments of `System.copy`.

    Args:
        s: factors by body.
        keep_distribution: (3): masses keep their proportions.
        total: total mass of all bodies [kg]; None: as it results from the factors.
    """
    out = {b.name: _changed(b, s, keep_distribution) for b in system.bodies}
    if total is None:
        return out
    now = sum(_mass(out[b.name].get("mass", b.mass)) for b in system.bodies)
    if not _number(now) > 0:
        raise DescriptionError(f"scale: the bodies have no mass; a mass of {total:g} kg cannot be shared out")
    for b in system.bodies:
        own, m = out[b.name], b.mass_properties
        own["mass"] = own.get("mass", _kept(b, "mass", m.mass)) * (total / now)
        own["inertia"] = own.get("inertia", _kept(b, "inertia", m.inertia)) * (total / now)
    return out


def _mass(value: Any) -> Any:
    """A mass as a number; those scaled by Parameters remain symbols."""
    return value if isinstance(value, Symbol) else _number(value)


def _number(value: Any) -> float:
    value = value.sx if isinstance(value, Symbol) else value
    return float(Expression(value).at().item()) if isinstance(value, ca.SX) else float(value)


def _kept(b: Body, quantity: str, number: Any) -> Any:
    return b.symbolic[quantity].sx if quantity in b.symbolic else number


def _changed(b: Body, s: Mapping[str, Array], keep_distribution: bool) -> dict[str, Any]:
    assert b.parent is not None
    own, parent, m = s[b.name], s[b.parent.name], b.mass_properties
    out: dict[str, Any] = {}
    for X, frame, factors in (("PF", b.X_PF, parent), ("BM", b.X_BM, own)):
        if grows(factors):
            R, p = _kept(b, f"R_{X}", frame.R), times(b.symbolic.get(f"p_{X}", frame.p), factors)  # (1)
            out[f"X_{X}"] = Transform(R, p, what=f"body {b.name!r}: X_{X}")
    mobilizer = _mobilizer(b, parent, own)  # (2)
    if mobilizer is not b.mobilizer:
        out["mobilizer"] = mobilizer
    if grows(own):
        out["com"] = times(b.symbolic.get("com", m.com), own)
        volume: Any = 1.0 if keep_distribution else np.prod(own)
        if not is_symbolic(own):
            volume = float(abs(volume))
        elif b.symbolic:
            raise DescriptionError(
                f"scale: body {b.name!r} has Parameters already ({', '.join(sorted(b.symbolic))}): factors "
                "that are Parameters need a body of numbers"
            )
        out["mass"] = _kept(b, "mass", m.mass) * volume  # (3)
        if equal(own):
            out["inertia"] = _kept(b, "inertia", m.inertia) * (own[0] ** 2 * volume)  # (4)
        elif {"mass", "inertia"} & set(b.symbolic):
            raise DescriptionError(
                f"scale: body {b.name!r}: its mass or inertia depends on Parameters, and the "
                f"factors {own} differ: the rule for cylinders needs numbers"
            )
        else:
            out["inertia"] = cylinder(float(m.mass), np.array(m.inertia), own, volume)
    return out


def cylinder(mass: float, I: Array, s: Array, volume: Any) -> Array:
    """(5), (6): inertia (3, 3) of a body that is scaled by s > 0, and its mass by `volume`."""
    if not mass > 0:
        return I
    c = int(np.argmin(np.diag(I)))
    a, b = (i for i in range(3) if i != c)
    r2 = 2 * I[c, c] / mass
    l2 = 12 * (I[a, a] - mass * r2 / 4) / mass  # (5)
    new, r2, l2 = mass * volume, r2 * (s[a] * s[b]), l2 * s[c] ** 2
    out = I * np.outer(s, s)  # (6)
    out[c, c] = new * r2 / 2
    out[a, a] = out[b, b] = new * (r2 / 4 + l2 / 12)
    return out


def _mobilizer(b: Body, parent: Array, own: Array) -> Mobilizer:
    """The mobilizer scaled by the factors of the body with its frame F, which is this body if it is
    reversed."""
    m = b.mobilizer
    turned = isinstance(m, Reversed)
    s, X = (own, "BM") if turned else (parent, "PF")
    if not equal(s) and m.has_lengths and not m.scales_with_body:
        if is_symbolic(s):
            raise DescriptionError(
                f"scale: body {b.name!r}: {type(m).__name__} has no rule for three Parameters; give "
                f"{(b.name if turned else b.parent.name) if b.parent else b.name!r} one factor"
            )
        if f"R_{X}" in b.symbolic:
            raise DescriptionError(
                f"scale: body {b.name!r}: the orientation of X_{X} depends on Parameters: "
                "which factors its axes have is not known; give three equal factors"
            )
        s = np.linalg.norm(s[:, None] * (b.X_BM if turned else b.X_PF).R, axis=0)
    try:
        return m.scaled(s)
    except DescriptionError as error:
        raise DescriptionError(f"scale: body {b.name!r}: {error}") from None
