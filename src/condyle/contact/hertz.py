"""The part of Hertz's force that is geometry: sigma sqrt(R) of docs/theory/contact.md (12)."""
from __future__ import annotations

import casadi as ca

from condyle.contact.touch import Touch


def hertz_factor(where: Touch) -> ca.SX:
    """sigma sqrt(R) [m^(1/2)]."""
    return ca.sqrt(where.R)


def patch(where: Touch) -> ca.SX:
    """Semi-axes of the contact ellipse [m], the larger one first."""
    a = ca.sqrt(where.R * ca.fmax(where.x, 0))
    return ca.vertcat(a, a)
