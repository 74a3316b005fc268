"""Constraints. One file per family; condyle.constraints.solve makes them act."""

from condyle.arguments import missing, spoken
from condyle.constraints.base import Constraint
from condyle.constraints.contacts import (
    LineOnLineContact,
    PointOnPlaneContact,
    SphereOnPlaneContact,
    SphereOnSphereContact,
)
from condyle.constraints.coordinates import (
    ConstantAcceleration,
    ConstantCoordinate,
    ConstantSpeed,
    CoordinateCoupler,
    PrescribedMotion,
    SpeedCoupler,
)
from condyle.constraints.orientations import ConstantAngle, ConstantOrientation, Weld
from condyle.constraints.points import Ball, PointInPlane, PointOnLine, Rod
from condyle.constraints.rolling import NoSlip1D
from condyle.constraints.unilateral import RigidContact, Rope, Stop
from condyle.constraints.user import AccelerationOnly, Holonomic, Nonholonomic

__all__ = [
    "AccelerationOnly",
    "Ball",
    "ConstantAcceleration",
    "ConstantAngle",
    "ConstantCoordinate",
    "ConstantOrientation",
    "ConstantSpeed",
    "Constraint",
    "CoordinateCoupler",
    "Holonomic",
    "LineOnLineContact",
    "NoSlip1D",
    "Nonholonomic",
    "PointInPlane",
    "PointOnLine",
    "PointOnPlaneContact",
    "PrescribedMotion",
    "RigidContact",
    "Rod",
    "Rope",
    "SpeedCoupler",
    "SphereOnPlaneContact",
    "SphereOnSphereContact",
    "Stop",
    "Weld",
]

spoken(
    AccelerationOnly,
    Ball,
    ConstantAcceleration,
    ConstantAngle,
    ConstantCoordinate,
    ConstantOrientation,
    ConstantSpeed,
    CoordinateCoupler,
    Holonomic,
    LineOnLineContact,
    NoSlip1D,
    Nonholonomic,
    PointInPlane,
    PointOnLine,
    PointOnPlaneContact,
    PrescribedMotion,
    RigidContact,
    Rod,
    Rope,
    SpeedCoupler,
    SphereOnPlaneContact,
    SphereOnSphereContact,
    Stop,
    Weld,
)

_ELSEWHERE = {
    "Coupler": "CoordinateCoupler, or SpeedCoupler",
    "Distance": "Rod",
    "Custom": "Holonomic, or Nonholonomic on velocities",
    **dict.fromkeys(("CoordinateLimit", "JointLimit", "Limit"), "Stop; of springs cd.forces.MobilityStop"),
    **dict.fromkeys(("Cable", "String", "Tether"), "Rope"),
    "Contact": "system.add_contact(name, a, b) with surfaces of cd.contact.Rigid",
}
"""What other libraries call it."""


def __getattr__(name: str) -> object:
    raise missing("cd.constraints", name, __all__, _ELSEWHERE)
