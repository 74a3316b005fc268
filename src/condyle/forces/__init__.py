"""Force laws. One file per family."""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.forces.actuators import ActivationCoordinateActuator as ActivationCoordinateActuator
    from condyle.forces.actuators import CoordinateActuator as CoordinateActuator
    from condyle.forces.actuators import PathActuator as PathActuator
    from condyle.forces.actuators import PointActuator as PointActuator
    from condyle.forces.actuators import PointToPointActuator as PointToPointActuator
    from condyle.forces.actuators import TorqueActuator as TorqueActuator
    from condyle.forces.base import Force as Force
    from condyle.forces.bushing import FunctionBushing as FunctionBushing
    from condyle.forces.bushing import LinearBushing as LinearBushing
    from condyle.forces.external import ConstantForce as ConstantForce
    from condyle.forces.external import ConstantTorque as ConstantTorque
    from condyle.forces.external import ExternalWrench as ExternalWrench
    from condyle.forces.external import TimeSeries as TimeSeries
    from condyle.forces.gravity import Gravity as Gravity
    from condyle.forces.joint_friction import JointFriction as JointFriction
    from condyle.forces.mobility import CoordinateLimitForce as CoordinateLimitForce
    from condyle.forces.mobility import GlobalDamper as GlobalDamper
    from condyle.forces.mobility import MobilityDamper as MobilityDamper
    from condyle.forces.mobility import MobilityForce as MobilityForce
    from condyle.forces.mobility import MobilityFunction as MobilityFunction
    from condyle.forces.mobility import MobilitySpring as MobilitySpring
    from condyle.forces.mobility import MobilityStop as MobilityStop
    from condyle.forces.path import Blankevoort1991Ligament as Blankevoort1991Ligament
    from condyle.forces.path import Ligament as Ligament
    from condyle.forces.path import PathFunction as PathFunction
    from condyle.forces.path import PathSpring as PathSpring
    from condyle.forces.thermostat import NoseHooverThermostat as NoseHooverThermostat
    from condyle.forces.two_point import TwoPointDamper as TwoPointDamper
    from condyle.forces.two_point import TwoPointForce as TwoPointForce
    from condyle.forces.two_point import TwoPointFunction as TwoPointFunction
    from condyle.forces.two_point import TwoPointSpring as TwoPointSpring
    from condyle.forces.user import Custom as Custom
    from condyle.forces.user import Potential as Potential
    from condyle.forces.user import Wrench as Wrench

_ELSEWHERE = dict.fromkeys(
    (
        "Contact",
        "ContactForce",
        "ElasticFoundation",
        "ElasticFoundationForce",
        "HuntCrossley",
        "HuntCrossleyForce",
        "SmoothSphereHalfSpaceForce",
    ),
    "system.add_contact(name, a, b), with surfaces and laws of cd.contact",
)
"""Hints for names of other libraries that have no class here."""

__all__, __getattr__ = family(__name__, _ELSEWHERE)
