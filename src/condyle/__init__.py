"""Condyle: dynamics of living things. Describe a System, ask for accelerations: your joints run as machine code.

    import condyle as cd
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin(), X_BM=(0, .2, 0), mass=7, inertia=(.1, .02, .1))
    udot = system.forward_dynamics(*system.defaults())
"""
from condyle import forces
from condyle.errors import (
    CondyleError,
    DescriptionError,
    FrozenError,
    NativeError,
    ShapeError,
    SingularError,
    TraceError,
    UnknownNameError,
)
from condyle.functions import Spline
from condyle.mobilizers import Free, FunctionBased, Mobilizer, Pin, Slider, Weld
from condyle.operations import Stage
from condyle.spatial import Transform
from condyle.state import State
from condyle.system import System
from condyle.trace import where
from condyle.tree.body import Body, Coordinate
from condyle.tree.parameter import Input, Parameter

__version__ = "0.1.0"
__all__ = [
    "Body", "CondyleError", "Coordinate", "DescriptionError", "Free", "FrozenError", "FunctionBased", "Input", "Mobilizer",
    "NativeError", "Parameter", "Pin", "ShapeError", "SingularError", "Slider", "Spline", "Stage", "State", "System",
    "TraceError", "Transform", "UnknownNameError", "Weld", "forces", "where",
]
