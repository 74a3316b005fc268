"""Condyle: dynamics of living things. Describe a System, ask for accelerations: your joints run as machine
code.

    import condyle as cd
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin(), X_BM=(0, .2, 0), mass=7, inertia=(.1, .02, .1))
    udot = system.forward_dynamics(*system.defaults())
"""
import importlib
from typing import TYPE_CHECKING

from condyle import loading as _loading  # noqa: F401  # isort: skip  # before any CasADi
from condyle import constraints, contact, forces, functions, measures, muscles, paths, shapes
from condyle.arguments import missing as _missing
from condyle.arguments import spoken as _spoken
from condyle.errors import (
    ArgumentError,
    CondyleError,
    ConstraintError,
    ContactError,
    ConvergenceError,
    DescriptionError,
    FrozenError,
    NativeError,
    PathError,
    ShapeError,
    SingularError,
    TraceError,
    UnknownNameError,
)
from condyle.fit import goals
from condyle.fit.frames import Frames
from condyle.forces import Wrench
from condyle.functions import SimmSpline, Spline
from condyle.integrate import methods as integrators
from condyle.integrate.ensemble import Ensemble
from condyle.integrate.events import Event
from condyle.integrate.trajectory import Trajectory
from condyle.io import Markers, Recording, read_c3d, read_markers, read_table
from condyle.mobilizers import (
    Ball,
    BendStretch,
    Bushing,
    CantileverFreeBeam,
    Coupled,
    Custom,
    Cylinder,
    Ellipsoid,
    EllipticSlider,
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
    SplineCurve,
    SplineSurface,
    Translation,
    Universal,
    Weld,
    compose,
    read_mobilizer,
)
from condyle.model.operators.record import Stage
from condyle.spatial import Transform
from condyle.status import Status
from condyle.studies.assemble import assemble, assemble_frames
from condyle.studies.cycles.limit_cycle import LimitCycle, limit_cycle
from condyle.studies.cycles.reset import Reset
from condyle.studies.external_load import ExternalLoad
from condyle.studies.induced_accelerations import InducedAccelerations, induced_accelerations
from condyle.studies.inverse_dynamics import inverse_dynamics
from condyle.studies.joint_reactions import joint_reactions
from condyle.studies.joints.frames import MeasuredFrames
from condyle.studies.joints.frames_file import read_frames
from condyle.studies.joints.function_based import FunctionBasedFit, fit_function_based
from condyle.studies.joints.markers import marker_positions, relative_frames
from condyle.studies.joints.result import JointFit
from condyle.studies.joints.spline_curve import fit_spline_curve
from condyle.studies.joints.spline_surface import fit_spline_surface
from condyle.studies.kinematics.imus import IMUs, calibrate_imus
from condyle.studies.kinematics.result import InverseKinematics
from condyle.studies.kinematics.solve import inverse_kinematics
from condyle.studies.low_pass import low_pass
from condyle.studies.motion import Motion
from condyle.studies.muscle_analysis import MuscleAnalysis, muscle_analysis
from condyle.studies.relax import relax
from condyle.studies.scaling.measurements import Measurement
from condyle.studies.scaling.result import Scaling
from condyle.studies.scaling.scale import scale
from condyle.studies.simulate import simulate
from condyle.studies.static_optimization import StaticOptimization, static_optimization
from condyle.system.state import State
from condyle.system.system import System
from condyle.table import Table
from condyle.trace import where
from condyle.trace.parameter import Discrete, Input, Parameter
from condyle.tree.body import Body, Coordinate
from condyle.tree.prescribed import Prescribed

if TYPE_CHECKING:
    from condyle import maximal, models
    from condyle.opensim import read_external_loads, read_osim, write_osim
    from condyle.viewer import Arrows, Page, View, movie, picture, show, view

__version__ = "0.1.0"
__all__ = [
    "ArgumentError", "Arrows", "Ball", "BendStretch", "Body", "Bushing", "CantileverFreeBeam",
    "CondyleError", "ConstraintError", "ContactError", "ConvergenceError", "Coordinate", "Coupled", "Custom",
    "Cylinder", "DescriptionError", "Discrete", "Ellipsoid", "EllipticSlider", "Ensemble", "Event",
    "ExternalLoad", "Frames", "Free", "FreeLine", "FrozenError", "FunctionBased", "FunctionBasedFit",
    "Gimbal", "IMUs", "InducedAccelerations", "Input", "InverseKinematics", "JointFit", "LimitCycle",
    "LineOrientation",
    "Markers", "MeasuredFrames", "Measurement", "Mobilizer", "Motion", "MuscleAnalysis", "NativeError",
    "Page", "Parameter", "PathError", "Pin", "Planar", "Prescribed", "Recording", "Reset", "Scaling", "Screw",
    "ShapeError", "SimmSpline", "SingularError", "Slider", "SphericalCoords", "Spline", "SplineCurve",
    "SplineSurface", "Stage", "State", "StaticOptimization", "Status", "System", "Table", "TraceError",
    "Trajectory", "Transform", "Translation", "Universal", "UnknownNameError", "View", "Weld", "Wrench",
    "assemble", "assemble_frames", "calibrate_imus", "compose", "constraints", "contact",
    "fit_function_based", "fit_spline_curve", "fit_spline_surface", "forces", "functions", "goals",
    "induced_accelerations", "integrators", "inverse_dynamics", "inverse_kinematics", "joint_reactions",
    "limit_cycle", "low_pass", "marker_positions", "maximal", "measures", "models", "movie",
    "muscle_analysis", "muscles", "paths", "picture", "read_c3d", "read_external_loads", "read_frames",
    "read_markers",
    "read_mobilizer", "read_osim", "read_table", "relative_frames", "relax", "scale", "shapes", "show",
    "simulate", "static_optimization", "view", "where", "write_osim",
]


def __dir__() -> list[str]:
    """What users may use: rooms that hold the machinery are importable, but are not shown."""
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    """What is loaded when it is asked for: an import should be quick."""
    if name in ("maximal", "models"):
        return importlib.import_module(f"condyle.{name}")
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    if name.startswith("_"):
        raise AttributeError(f"module 'condyle' has no attribute {name!r}")
    rooms = [f"cd.{room.__name__.rpartition('.')[2]}.{name}"
             for room in (contact, shapes, functions, constraints, forces, paths, muscles)
             if name in room.__all__]
    raise _missing("condyle", name, __all__, ({name: " or ".join(rooms)} if rooms else {}) | _ELSEWHERE)


_LATER = {**dict.fromkeys(("read_external_loads", "read_osim", "write_osim"), "condyle.opensim"),
          **dict.fromkeys(("Arrows", "Page", "View", "movie", "picture", "show", "view"), "condyle.viewer")}
"""Where names are that are loaded when they are asked for."""

_ELSEWHERE = {
    "Hinge": "cd.Pin", "Revolute": "cd.Pin", "Prismatic": "cd.Slider", "Spherical": "cd.Ball",
    "Fixed": "cd.Weld",
    "Floating": "cd.Free", "FreeJoint": "cd.Free",
    "Joint": "a mobilizer such as cd.Pin, an argument of system.add_body",
    "Spring": "cd.forces.TwoPointSpring, or MobilitySpring on a coordinate",
    "Damper": "cd.forces.TwoPointDamper, or MobilityDamper on a coordinate",
    "Model": "cd.System; a file of OpenSim is read by cd.read_osim(path)",
    "solve_ivp": "cd.simulate(system, state, t_final)",
    **{f"{name}Joint": f"cd.{name}" for name in ("Ball", "Ellipsoid", "Gimbal", "Pin", "Planar", "Slider",
                                                 "Universal", "Weld")},
    "CustomJoint": "cd.FunctionBased",
    **dict.fromkeys(("read_mot", "read_sto", "read_csv"), "cd.read_table(path)"),
    "read_trc": "cd.read_markers(path)",
    **dict.fromkeys(("load", "load_model", "read_model"), "cd.read_osim(path)"),
    "write_table": "table.save('run.sto')", "write_markers": "markers.save('walk.trc')",
    "IK": "cd.inverse_kinematics", "ID": "cd.inverse_dynamics", "SO": "cd.static_optimization",
    "JR": "cd.joint_reactions", "Contact": "system.add_contact(name, a, b), with surfaces of cd.contact",
    "plot": "cd.show, or .plot() of a Trajectory"}
"""What other libraries call it."""

_spoken(Coordinate, Discrete, Event, Input, Markers, Motion, Parameter, Prescribed, SimmSpline, Spline,
        System, Table, Transform)
_spoken(ExternalLoad, answers={
    "force_frame": "it is frame=", "applied_to_body": "it is body=",
    "force_identifier": "it is force=", "point_identifier": "it is point=",
    "torque_identifier": "it is torque=",
    "force_expressed_in_body": "it is frame=", "point_expressed_in_body": "it is point_frame="})
