"""Force laws. One file per family."""
from condyle.arguments import missing, spoken
from condyle.forces.base import Force
from condyle.forces.bushing import LinearBushing
from condyle.forces.external import ConstantForce, ConstantTorque, ExternalWrench, TimeSeries
from condyle.forces.gravity import Gravity
from condyle.forces.mobility import GlobalDamper, MobilityDamper, MobilityForce, MobilitySpring, MobilityStop
from condyle.forces.thermostat import NoseHooverThermostat
from condyle.forces.two_point import TwoPointDamper, TwoPointForce, TwoPointSpring
from condyle.forces.user import Custom, Potential, Wrench

__all__ = ["ConstantForce", "ConstantTorque", "Custom", "ExternalWrench", "Force", "GlobalDamper", "Gravity",
           "LinearBushing",
           "MobilityDamper", "MobilityForce", "MobilitySpring", "MobilityStop", "NoseHooverThermostat",
           "Potential", "TimeSeries",
           "TwoPointDamper", "TwoPointForce", "TwoPointSpring", "Wrench"]

spoken(ConstantForce, ConstantTorque, Custom, ExternalWrench, GlobalDamper, Gravity, LinearBushing,
       MobilityDamper, MobilityForce,
       MobilitySpring, MobilityStop, NoseHooverThermostat, Potential, TimeSeries, TwoPointDamper,
       TwoPointForce, TwoPointSpring,
       Wrench)

_ELSEWHERE = {
    "Spring": "TwoPointSpring, or MobilitySpring on a coordinate",
    "Damper": "TwoPointDamper, or MobilityDamper on a coordinate",
    "External": "ExternalWrench", "Function": "Custom", "Actuator": "MobilityForce with a cd.Input"}
"""What other libraries call it."""


def __getattr__(name: str) -> object:
    raise missing("cd.forces", name, __all__, _ELSEWHERE)
