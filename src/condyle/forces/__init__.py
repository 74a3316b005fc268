"""Force laws. One file per family."""
from condyle.arguments import missing, spoken
from condyle.forces.actuators import CoordinateActuator, PathActuator, PointToPointActuator, TorqueActuator
from condyle.forces.base import Force
from condyle.forces.bushing import LinearBushing
from condyle.forces.external import ConstantForce, ConstantTorque, ExternalWrench, TimeSeries
from condyle.forces.gravity import Gravity
from condyle.forces.ligament import Blankevoort1991Ligament
from condyle.forces.mobility import GlobalDamper, MobilityDamper, MobilityForce, MobilitySpring, MobilityStop
from condyle.forces.path import PathSpring
from condyle.forces.thermostat import NoseHooverThermostat
from condyle.forces.two_point import TwoPointDamper, TwoPointForce, TwoPointSpring
from condyle.forces.user import Custom, Potential, Wrench

__all__ = ["Blankevoort1991Ligament", "ConstantForce", "ConstantTorque", "CoordinateActuator", "Custom",
           "ExternalWrench", "Force", "GlobalDamper", "Gravity", "LinearBushing", "MobilityDamper",
           "MobilityForce", "MobilitySpring", "MobilityStop", "NoseHooverThermostat", "PathActuator",
           "PathSpring", "PointToPointActuator", "Potential", "TimeSeries", "TorqueActuator",
           "TwoPointDamper", "TwoPointForce", "TwoPointSpring", "Wrench"]

spoken(Blankevoort1991Ligament, ConstantForce, ConstantTorque, CoordinateActuator, Custom, ExternalWrench,
       GlobalDamper, Gravity, LinearBushing, MobilityDamper, MobilityForce, MobilitySpring, MobilityStop,
       NoseHooverThermostat, PathActuator, PathSpring, PointToPointActuator, Potential, TimeSeries,
       TorqueActuator, TwoPointDamper, TwoPointForce, TwoPointSpring, Wrench)

_ELSEWHERE = {
    "Spring": "TwoPointSpring, MobilitySpring on a coordinate, or PathSpring along a path",
    "Damper": "TwoPointDamper, or MobilityDamper on a coordinate",
    "External": "ExternalWrench", "Function": "Custom", "Ligament": "Blankevoort1991Ligament",
    "Actuator": "CoordinateActuator, PathActuator, PointToPointActuator or TorqueActuator"}
"""What other libraries call it."""


def __getattr__(name: str) -> object:
    raise missing("cd.forces", name, __all__, _ELSEWHERE)
