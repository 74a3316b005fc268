"""Dry friction in a joint, from the load that it carries: docs/theory/forces.md (47)-(49)."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.forces.base import Law
from condyle.laws.described import BodyName, quantity, sx
from condyle.laws.leaves import Reaction
from condyle.laws.view import Loads, View
from condyle.mobilizers.traced import motion_at
from condyle.records import dataclass
from condyle.trace import Number
from condyle.tree.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class JointFriction(Law):
    """Coulomb friction in the joint of a body: mu times the joint load, against its slip.

        N = |F - sum_i (F . e_i) e_i|                                                        (47)
        s = sqrt(r^2 |w|^2 + |v|^2 + v_t^2)                                                  (48)
        f_k = -mu N (r^2 h_w,k . w + h_v,k . v) / s                                          (49)

    F is the reaction at M, e_i the directions in which the joint slides freely, w and v the velocity of M in
    F, and h_k its derivative by speed k. A pin of radius r resists with the moment mu r |F|, a slider with mu
    times the force across its rail; a cylinder does both along its helix; a ball resists as a pin about the
    axis of its motion. Reactions and accelerations are solved together, also for several joints with
    friction: see condyle.model.reactions. Above a slip of a few v_t it is Coulomb friction; below, it acts as
    a damper, and sticking joints creep at less than v_t.

        system.add_force("hinge", cd.forces.JointFriction("door", 0.3, radius=0.008))

    Args:
        body: the body of the joint, or its name; not Weld or a joint with six degrees of freedom.
        coefficient: mu, at least 0.
        radius: r, friction radius of rotation [m]; not needed for a joint that only slides.
        transition_speed: v_t, slip over which friction rises [m/s], above 0.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("CoulombFriction", "BearingFriction")
    call_hints: ClassVar = {
        **dict.fromkeys(("mu", "friction", "friction_coefficient"), "it is coefficient="),
        **dict.fromkeys(("joint", "coordinate"), "it is body=, the body whose joint it is"),
        "r": "it is radius= [m]",
    }

    body: BodyName
    coefficient: Annotated[Number, quantity("1", lowest=0.0)]
    radius: Annotated[Number, quantity("m", lowest=0.0)] = 0.0
    transition_speed: Annotated[Number, quantity("m/s", lowest=0.0, positive=True)] = field(
        default=1e-3, kw_only=True
    )

    @property
    def reactions(self) -> tuple[str, ...]:
        return (self.body,)

    def check(self, tree: Tree) -> None:
        Reaction(self.body).check(tree, repr(self))
        mobilizer = tree.body(self.body).mobilizer
        rng = np.random.default_rng(0)
        q, nu = rng.uniform(0.1, 0.9, mobilizer.nq), mobilizer.nu
        parts = motion_at(mobilizer, 0.0, q, np.zeros(nu))
        turns, slides = (np.linalg.matrix_rank(np.reshape(parts[i], (3, nu))) if nu else 0 for i in (2, 3))
        if not (turns or slides) or slides == 3:
            why = "does not move" if not nu else "moves freely in all directions: nothing in it presses"
            raise DescriptionError(
                f"{self!r}: the joint of {self.body!r} ({mobilizer!r}) {why}, so that it has no friction"
            )
        if turns and not slides and isinstance(self.radius, float) and self.radius == 0:
            raise DescriptionError(
                f"{self!r}: the joint of {self.body!r} turns: give the radius [m] at which it rubs, as radius=0.01"
            )

    def apply(self, s: View, loads: Loads) -> None:
        w, v, speeds = s.joint_motion(self.body)
        N, r = _across(Reaction(self.body).at(s)[3:], [h_v for _, _, h_v in speeds]), sx(self.radius)
        slip = ca.sqrt(r**2 * ca.sumsqr(w) + ca.sumsqr(v) + sx(self.transition_speed) ** 2)  # (48)
        for speed, h_w, h_v in speeds:
            f = sx(self.coefficient) * N * (r**2 * ca.dot(h_w, w) + ca.dot(h_v, v)) / slip
            loads.add_mobility(speed, -f)  # (49)


def _across(F: SX, directions: list[SX]) -> SX:
    """(47)"""
    known: list[ca.SX] = []
    for h in directions:
        n = h - sum((ca.dot(e, h) * e for e in known), ca.SX(3, 1))
        new = ca.sumsqr(n) > 1e-20 * ca.sumsqr(h)
        if ca.sparsify(h).nnz():
            known.append(ca.if_else(new, n, 0) / ca.sqrt(ca.if_else(new, ca.sumsqr(n), 1)))
    F = F - sum((ca.dot(e, F) * e for e in known), ca.SX(3, 1))
    return ca.sqrt(ca.sumsqr(F) + 1e-60)  # smooth at zero load
