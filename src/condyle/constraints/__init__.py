"""Constraints. One file per family; condyle.constraints.solve solves them."""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.constraints.base import Constraint as Constraint
    from condyle.constraints.contacts import LineOnLineContact as LineOnLineContact
    from condyle.constraints.contacts import NoSlip1D as NoSlip1D
    from condyle.constraints.contacts import PointOnPlaneContact as PointOnPlaneContact
    from condyle.constraints.contacts import SphereOnPlaneContact as SphereOnPlaneContact
    from condyle.constraints.contacts import SphereOnSphereContact as SphereOnSphereContact
    from condyle.constraints.coordinates import ConstantAcceleration as ConstantAcceleration
    from condyle.constraints.coordinates import ConstantCoordinate as ConstantCoordinate
    from condyle.constraints.coordinates import ConstantSpeed as ConstantSpeed
    from condyle.constraints.coordinates import CoordinateCoupler as CoordinateCoupler
    from condyle.constraints.coordinates import PrescribedMotion as PrescribedMotion
    from condyle.constraints.coordinates import SpeedCoupler as SpeedCoupler
    from condyle.constraints.orientations import ConstantAngle as ConstantAngle
    from condyle.constraints.orientations import ConstantOrientation as ConstantOrientation
    from condyle.constraints.orientations import Weld as Weld
    from condyle.constraints.points import Ball as Ball
    from condyle.constraints.points import PointInPlane as PointInPlane
    from condyle.constraints.points import PointOnLine as PointOnLine
    from condyle.constraints.points import Rod as Rod
    from condyle.constraints.unilateral import RigidContact as RigidContact
    from condyle.constraints.unilateral import Rope as Rope
    from condyle.constraints.unilateral import Stop as Stop
    from condyle.constraints.user import AccelerationOnly as AccelerationOnly
    from condyle.constraints.user import Holonomic as Holonomic
    from condyle.constraints.user import Nonholonomic as Nonholonomic

_ELSEWHERE = {
    **dict.fromkeys(("CoordinateLimit", "JointLimit", "Limit"), "Stop; of springs cd.forces.MobilityStop"),
    "Contact": "system.add_contact(name, a, b) with surfaces of cd.contact.Rigid",
}
"""Hints for names of other libraries that have no class here."""

__all__, __getattr__ = family(__name__, _ELSEWHERE)
