"""Condyle: dynamics of living things. Describe a System, ask for accelerations: your joints run as machine
code.

    import condyle as cd
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin(), X_BM=(0, .2, 0), mass=7, inertia=(.1, .02, .1))
    udot = system.forward_dynamics(*system.defaults())
"""

from importlib import import_module as _import
from threading import RLock as _RLock
from typing import TYPE_CHECKING

from condyle import loading as _loading  # before any CasADi

if TYPE_CHECKING:
    from condyle import (
        constraints,
        contact,
        forces,
        functions,
        maximal,
        measures,
        models,
        muscles,
        paths,
        shapes,
    )
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
        PlausibilityWarning,
        QualityError,
        QualityWarning,
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
        read_mobilizer,
    )
    from condyle.mobilizers.compose import compose
    from condyle.model.operators.record import Stage
    from condyle.opensim import read_external_loads, read_osim, write_osim
    from condyle.quality import Quality
    from condyle.spatial import Transform
    from condyle.status import Status
    from condyle.studies.assemble import assemble, assemble_frames
    from condyle.studies.cycles.limit_cycle import LimitCycle, limit_cycle
    from condyle.studies.cycles.reset import Reset
    from condyle.studies.external_load import ExternalLoad
    from condyle.studies.induced_accelerations import InducedAccelerations, induced_accelerations
    from condyle.studies.inverse_dynamics import inverse_dynamics
    from condyle.studies.joint_reactions import joint_reactions
    from condyle.studies.joints.fit_function_based import FunctionBasedFit, fit_function_based
    from condyle.studies.joints.fit_spline_curve import fit_spline_curve
    from condyle.studies.joints.fit_spline_surface import fit_spline_surface
    from condyle.studies.joints.frames import MeasuredFrames
    from condyle.studies.joints.frames_file import read_frames
    from condyle.studies.joints.marker_clusters import marker_positions, relative_frames
    from condyle.studies.joints.result import JointFit
    from condyle.studies.kinematics.imus import IMUs, calibrate_imus
    from condyle.studies.kinematics.inverse_kinematics import inverse_kinematics
    from condyle.studies.kinematics.result import InverseKinematics
    from condyle.studies.motion.low_pass import low_pass
    from condyle.studies.motion.motion import Motion
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
    from condyle.viewer import Arrows, LiveView, Page, live, movie, picture, show

__version__ = "0.1.0"
__all__ = [
    "ArgumentError",
    "Arrows",
    "Ball",
    "BendStretch",
    "Body",
    "Bushing",
    "CantileverFreeBeam",
    "CondyleError",
    "ConstraintError",
    "ContactError",
    "ConvergenceError",
    "Coordinate",
    "Coupled",
    "Custom",
    "Cylinder",
    "DescriptionError",
    "Discrete",
    "Ellipsoid",
    "EllipticSlider",
    "Ensemble",
    "Event",
    "ExternalLoad",
    "Frames",
    "Free",
    "FreeLine",
    "FrozenError",
    "FunctionBased",
    "FunctionBasedFit",
    "Gimbal",
    "IMUs",
    "InducedAccelerations",
    "Input",
    "InverseKinematics",
    "JointFit",
    "LimitCycle",
    "LineOrientation",
    "LiveView",
    "Markers",
    "MeasuredFrames",
    "Measurement",
    "Mobilizer",
    "Motion",
    "MuscleAnalysis",
    "NativeError",
    "Page",
    "Parameter",
    "PathError",
    "Pin",
    "Planar",
    "PlausibilityWarning",
    "Prescribed",
    "Quality",
    "QualityError",
    "QualityWarning",
    "Recording",
    "Reset",
    "Scaling",
    "Screw",
    "ShapeError",
    "SimmSpline",
    "SingularError",
    "Slider",
    "SphericalCoords",
    "Spline",
    "SplineCurve",
    "SplineSurface",
    "Stage",
    "State",
    "StaticOptimization",
    "Status",
    "System",
    "Table",
    "TraceError",
    "Trajectory",
    "Transform",
    "Translation",
    "Universal",
    "UnknownNameError",
    "Weld",
    "Wrench",
    "assemble",
    "assemble_frames",
    "calibrate_imus",
    "compose",
    "constraints",
    "contact",
    "fit_function_based",
    "fit_spline_curve",
    "fit_spline_surface",
    "forces",
    "functions",
    "goals",
    "induced_accelerations",
    "integrators",
    "inverse_dynamics",
    "inverse_kinematics",
    "joint_reactions",
    "limit_cycle",
    "live",
    "low_pass",
    "marker_positions",
    "maximal",
    "measures",
    "models",
    "movie",
    "muscle_analysis",
    "muscles",
    "paths",
    "picture",
    "read_c3d",
    "read_external_loads",
    "read_frames",
    "read_markers",
    "read_mobilizer",
    "read_osim",
    "read_table",
    "relative_frames",
    "relax",
    "scale",
    "shapes",
    "show",
    "simulate",
    "static_optimization",
    "where",
    "write_osim",
]

_ROOMS = {
    **{
        name: name
        for name in (
            "constraints",
            "contact",
            "forces",
            "functions",
            "maximal",
            "measures",
            "models",
            "muscles",
            "paths",
            "shapes",
        )
    },
    "goals": "fit.goals",
    "integrators": "integrate.methods",
}
"""Modules of the package by their public name."""

_NAMES = {
    name: module
    for module, names in {
        "errors": (
            "ArgumentError CondyleError ConstraintError ContactError ConvergenceError DescriptionError "
            "FrozenError NativeError PathError PlausibilityWarning QualityError QualityWarning ShapeError "
            "SingularError TraceError UnknownNameError"
        ),
        "fit.frames": "Frames",
        "forces": "Wrench",
        "functions": "SimmSpline Spline",
        "integrate.ensemble": "Ensemble",
        "integrate.events": "Event",
        "integrate.trajectory": "Trajectory",
        "io": "Markers Recording read_c3d read_markers read_table",
        "mobilizers": (
            "Ball BendStretch Bushing CantileverFreeBeam Coupled Custom Cylinder Ellipsoid EllipticSlider "
            "Free FreeLine FunctionBased Gimbal LineOrientation Mobilizer Pin Planar Screw Slider "
            "SphericalCoords SplineCurve SplineSurface Translation Universal Weld read_mobilizer"
        ),
        "mobilizers.compose": "compose",
        "model.operators.record": "Stage",
        "opensim": "read_external_loads read_osim write_osim",
        "quality": "Quality",
        "spatial": "Transform",
        "status": "Status",
        "studies.assemble": "assemble assemble_frames",
        "studies.cycles.limit_cycle": "LimitCycle limit_cycle",
        "studies.cycles.reset": "Reset",
        "studies.external_load": "ExternalLoad",
        "studies.induced_accelerations": "InducedAccelerations induced_accelerations",
        "studies.inverse_dynamics": "inverse_dynamics",
        "studies.joint_reactions": "joint_reactions",
        "studies.joints.frames": "MeasuredFrames",
        "studies.joints.frames_file": "read_frames",
        "studies.joints.fit_function_based": "FunctionBasedFit fit_function_based",
        "studies.joints.marker_clusters": "marker_positions relative_frames",
        "studies.joints.result": "JointFit",
        "studies.joints.fit_spline_curve": "fit_spline_curve",
        "studies.joints.fit_spline_surface": "fit_spline_surface",
        "studies.kinematics.imus": "IMUs calibrate_imus",
        "studies.kinematics.result": "InverseKinematics",
        "studies.kinematics.inverse_kinematics": "inverse_kinematics",
        "studies.motion.low_pass": "low_pass",
        "studies.motion.motion": "Motion",
        "studies.muscle_analysis": "MuscleAnalysis muscle_analysis",
        "studies.relax": "relax",
        "studies.scaling.measurements": "Measurement",
        "studies.scaling.result": "Scaling",
        "studies.scaling.scale": "scale",
        "studies.simulate": "simulate",
        "studies.static_optimization": "StaticOptimization static_optimization",
        "system.state": "State",
        "system.system": "System",
        "table": "Table",
        "trace": "where",
        "trace.parameter": "Discrete Input Parameter",
        "tree.body": "Body Coordinate",
        "tree.prescribed": "Prescribed",
        "viewer": "Arrows LiveView Page live movie picture show",
    }.items()
    for name in names.split()
}
"""The modules of all other public names."""

_ONE = _RLock()
"""One thread loads at a time: of two that load a package and a module in it, Python lets one see a half. No
module of the package asks for its names while it is loaded, so that none waits here for a lock of an import
and for this one."""


def __dir__() -> list[str]:
    """What users may use: rooms that hold the machinery are importable, but are not shown."""
    return [*__all__, "__version__"]


if not TYPE_CHECKING:  # they would take any name to be there

    def __getattr__(name: str) -> object:
        """Load what is asked for: a program waits for what it uses only (PEP 562)."""
        if name not in _ROOMS and name not in _NAMES:
            return _other(name)
        with _ONE, _loading.collector_paused():
            found = (
                _import(f"condyle.{_ROOMS[name]}")
                if name in _ROOMS
                else getattr(_import(f"condyle.{_NAMES[name]}"), name)
            )
        globals()[name] = found
        return found


def _other(name: str) -> object:
    """A module that is not public, or an error that says what is near."""
    if name.startswith("_") or not name.isidentifier():
        raise AttributeError(f"module 'condyle' has no attribute {name!r}")
    from importlib.util import find_spec

    if find_spec(f"condyle.{name}"):
        return _import(f"condyle.{name}")
    from condyle.arguments import missing

    rooms = [
        f"cd.{room}.{name}"
        for room in ("contact", "shapes", "functions", "constraints", "forces", "paths", "muscles")
        if name in _import(f"condyle.{room}").__all__
    ]
    raise missing("condyle", name, __all__, ({name: " or ".join(rooms)} if rooms else {}) | _ELSEWHERE)


_ELSEWHERE = {
    "Hinge": "cd.Pin",
    "Revolute": "cd.Pin",
    "Prismatic": "cd.Slider",
    "Spherical": "cd.Ball",
    "Fixed": "cd.Weld",
    "Floating": "cd.Free",
    "FreeJoint": "cd.Free",
    "Joint": "a mobilizer such as cd.Pin, an argument of system.add_body",
    "Spring": "cd.forces.TwoPointSpring, or MobilitySpring on a coordinate",
    "Damper": "cd.forces.TwoPointDamper, or MobilityDamper on a coordinate",
    "Model": "cd.System; a file of OpenSim is read by cd.read_osim(path)",
    "solve_ivp": "cd.simulate(system, state, t_final)",
    **{
        f"{name}Joint": f"cd.{name}"
        for name in ("Ball", "Ellipsoid", "Gimbal", "Pin", "Planar", "Slider", "Universal", "Weld")
    },
    "CustomJoint": "cd.FunctionBased",
    **dict.fromkeys(("read_mot", "read_sto", "read_csv"), "cd.read_table(path)"),
    "read_trc": "cd.read_markers(path)",
    **dict.fromkeys(("load", "load_model", "read_model"), "cd.read_osim(path)"),
    "write_table": "table.save('run.sto')",
    "write_markers": "markers.save('walk.trc')",
    "IK": "cd.inverse_kinematics",
    "ID": "cd.inverse_dynamics",
    "SO": "cd.static_optimization",
    "JR": "cd.joint_reactions",
    "Contact": "system.add_contact(name, a, b), with surfaces of cd.contact",
    "TimeStepping": "cd.integrators.TimeStepping(...)",
    "plot": "cd.show, or .plot() of a Trajectory",
}
"""What other libraries call it."""
