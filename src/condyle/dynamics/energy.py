"""Kinetic and potential energy.

  KE = 1/2 sum V' M_B V,    PE = -sum m g . p_GBcm         (zero height at ground's origin)
"""
from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

from condyle.dynamics.inertia import apply, inner, rigid
from condyle.dynamics.kinematics import Kinematics
from condyle.tree.tree import Tree


def energy(tree: Tree, kin: Kinematics, gravity: ca.SX, weightless: Iterable[str] = ()) -> tuple[ca.SX, ca.SX]:
    """KE and PE [J]; bodies named in `weightless` have no PE."""
    kinetic, potential = ca.SX(0), ca.SX(0)
    for B in tree.base_to_tip:
        body = kin.placed[B]
        M_B, p_c = rigid(kin.R_GM[B], body.mass, body.com, body.I)
        V = kin.V_GM[B]
        kinetic += inner(V, apply(M_B, V)) / 2
        if tree.bodies[B].name not in weightless:
            potential -= body.mass * ca.dot(gravity, kin.p_GM[B] + p_c)
    return kinetic, potential
