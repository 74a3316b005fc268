"""Force laws. One file a family."""
from condyle.arguments import spoken
from condyle.forces.base import Force
from condyle.forces.bushing import LinearBushing
from condyle.forces.external import ConstantForce, ConstantTorque, ExternalWrench, TimeSeries
from condyle.forces.gravity import Gravity
from condyle.forces.mobility import GlobalDamper, MobilityDamper, MobilityForce, MobilitySpring, MobilityStop
from condyle.forces.thermostat import NoseHooverThermostat
from condyle.forces.two_point import TwoPointDamper, TwoPointForce, TwoPointSpring
from condyle.forces.user import Custom, Potential, Wrench

__all__ = ["ConstantForce", "ConstantTorque", "Custom", "ExternalWrench", "Force", "GlobalDamper", "Gravity", "LinearBushing",
           "MobilityDamper", "MobilityForce", "MobilitySpring", "MobilityStop", "NoseHooverThermostat", "Potential", "TimeSeries",
           "TwoPointDamper", "TwoPointForce", "TwoPointSpring", "Wrench"]

spoken(ConstantForce, ConstantTorque, Custom, ExternalWrench, GlobalDamper, Gravity, LinearBushing, MobilityDamper, MobilityForce,
       MobilitySpring, MobilityStop, NoseHooverThermostat, Potential, TimeSeries, TwoPointDamper, TwoPointForce, TwoPointSpring,
       Wrench)
