"""Force laws. One file per family."""

from condyle.arguments import missing, spoken
from condyle.forces.actuators import (
    ActivationCoordinateActuator,
    CoordinateActuator,
    PathActuator,
    PointActuator,
    PointToPointActuator,
    TorqueActuator,
)
from condyle.forces.base import Force
from condyle.forces.bushing import FunctionBushing, LinearBushing
from condyle.forces.coordinate_limit import CoordinateLimitForce
from condyle.forces.external import ConstantForce, ConstantTorque, ExternalWrench, TimeSeries
from condyle.forces.functions import MobilityFunction, PathFunction, TwoPointFunction
from condyle.forces.gravity import Gravity
from condyle.forces.ligament import Blankevoort1991Ligament, Ligament
from condyle.forces.mobility import GlobalDamper, MobilityDamper, MobilityForce, MobilitySpring, MobilityStop
from condyle.forces.path import PathSpring
from condyle.forces.thermostat import NoseHooverThermostat
from condyle.forces.two_point import TwoPointDamper, TwoPointForce, TwoPointSpring
from condyle.forces.user import Custom, Potential, Wrench

__all__ = [
    "ActivationCoordinateActuator",
    "Blankevoort1991Ligament",
    "ConstantForce",
    "ConstantTorque",
    "CoordinateActuator",
    "CoordinateLimitForce",
    "Custom",
    "ExternalWrench",
    "Force",
    "FunctionBushing",
    "GlobalDamper",
    "Gravity",
    "Ligament",
    "LinearBushing",
    "MobilityDamper",
    "MobilityForce",
    "MobilityFunction",
    "MobilitySpring",
    "MobilityStop",
    "NoseHooverThermostat",
    "PathActuator",
    "PathFunction",
    "PathSpring",
    "PointActuator",
    "PointToPointActuator",
    "Potential",
    "TimeSeries",
    "TorqueActuator",
    "TwoPointDamper",
    "TwoPointForce",
    "TwoPointFunction",
    "TwoPointSpring",
    "Wrench",
]

spoken(
    ActivationCoordinateActuator,
    Blankevoort1991Ligament,
    ConstantForce,
    ConstantTorque,
    CoordinateActuator,
    CoordinateLimitForce,
    Custom,
    ExternalWrench,
    FunctionBushing,
    GlobalDamper,
    Gravity,
    Ligament,
    LinearBushing,
    MobilityDamper,
    MobilityForce,
    MobilityFunction,
    MobilitySpring,
    MobilityStop,
    NoseHooverThermostat,
    PathActuator,
    PathFunction,
    PathSpring,
    PointActuator,
    PointToPointActuator,
    Potential,
    TimeSeries,
    TorqueActuator,
    TwoPointDamper,
    TwoPointForce,
    TwoPointFunction,
    TwoPointSpring,
    Wrench,
)

_ELSEWHERE = {
    "Spring": "TwoPointSpring, MobilitySpring on a coordinate, or PathSpring along a path",
    "Damper": "TwoPointDamper, or MobilityDamper on a coordinate",
    "External": "ExternalWrench",
    "Function": "Custom",
    "Bushing": "LinearBushing or FunctionBushing",
    "PrescribedForce": "ExternalWrench",
    "ExpressionBasedCoordinateForce": "MobilityFunction",
    "ExpressionBasedPointToPointForce": "TwoPointFunction",
    "ExpressionBasedPathForce": "PathFunction",
    "ExpressionBasedBushingForce": "FunctionBushing",
    "SpringGeneralizedForce": "MobilitySpring",
    "PointToPointSpring": "TwoPointSpring",
    **dict.fromkeys(
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
    ),
    "Actuator": "CoordinateActuator, PathActuator, PointToPointActuator or TorqueActuator",
}
"""What other libraries call it."""


def __getattr__(name: str) -> object:
    raise missing("cd.forces", name, __all__, _ELSEWHERE)
