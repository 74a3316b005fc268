"""Condyle: dynamics of living things. Describe a System, ask for accelerations: your joints run as machine code.

    import condyle as cd
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin(), X_BM=(0, .2, 0), mass=7, inertia=(.1, .02, .1))
    udot = system.forward_dynamics(*system.defaults())
"""
from condyle import constraints, forces, functions
from condyle.errors import (
    CondyleError,
    ConstraintError,
    DescriptionError,
    FrozenError,
    NativeError,
    ShapeError,
    SingularError,
    TraceError,
    UnknownNameError,
)
from condyle.forces import Wrench
from condyle.functions import SimmSpline, Spline
from condyle.mobilizers import (
    Ball,
    BendStretch,
    Bushing,
    CantileverFreeBeam,
    Custom,
    Cylinder,
    Ellipsoid,
    Free,
    FreeLine,
    FunctionBased,
    Gimbal,
    LineOrientation,
    Mobilizer,
    Pin,
    Planar,
    Screw,
    Slider,
    SphericalCoords,
    Translation,
    Universal,
    Weld,
    compose,
)
from condyle.operations import Stage
from condyle.simulate import simulate
from condyle.spatial import Transform
from condyle.state import State
from condyle.system import System
from condyle.trace import where
from condyle.tree.body import Body, Coordinate
from condyle.tree.parameter import Input, Parameter

__version__ = "0.1.0"
__all__ = [
    "Ball", "BendStretch", "Body", "Bushing", "CantileverFreeBeam", "CondyleError", "ConstraintError", "Coordinate", "Custom",
    "Cylinder", "DescriptionError", "Ellipsoid", "Free", "FreeLine", "FrozenError", "FunctionBased", "Gimbal", "Input",
    "LineOrientation", "Mobilizer", "NativeError", "Parameter", "Pin", "Planar", "Screw", "ShapeError", "SimmSpline",
    "SingularError", "Slider", "SphericalCoords", "Spline", "Stage", "State", "System", "TraceError", "Transform",
    "Translation", "Universal", "UnknownNameError", "Weld", "Wrench", "compose", "constraints", "forces", "functions",
    "simulate", "where",
]
