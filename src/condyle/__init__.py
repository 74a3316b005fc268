"""Condyle: dynamics of living things. Describe a System, compute accelerations; custom joints run as machine
code.

    import condyle as cd
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin(), X_BM=(0, .2, 0), mass=7, inertia=(.1, .02, .1))
    udot = system.forward_dynamics(*system.defaults())
"""

from importlib import import_module as _import
from threading import RLock as _RLock

from condyle import loading as _loading  # before any CasADi

__version__ = "0.1.0"

_HOMES = _loading.import_lines(__name__, "__init__.pyi")
"""Module and name of each public name. __init__.pyi is the only list."""

__all__ = sorted(_HOMES)

_LOCK = _RLock()
"""One thread loads at a time: of two that load a package and a module in it, Python lets one see a half. No
module of the package asks for its names while it is loaded, so that none waits here for a lock of an import
and for this one."""


def __dir__() -> list[str]:
    """Public names: internal packages can be imported, but are not listed."""
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    """Load modules on first use (PEP 562)."""
    if name not in _HOMES:
        return _other(name)
    module, attribute = _HOMES[name]
    with _LOCK, _loading.collector_paused():
        found = (
            _import(f"condyle.{attribute}")
            if module == "condyle"
            else getattr(__import__(module, fromlist=[attribute]), attribute)
        )
    globals()[name] = found
    return found


def _other(name: str) -> object:
    """A module that is not public, or an error with similar names."""
    if name.startswith("_") or not name.isidentifier():
        raise AttributeError(f"module 'condyle' has no attribute {name!r}")
    from importlib.util import find_spec

    if find_spec(f"condyle.{name}"):
        return _import(f"condyle.{name}")
    from condyle.arguments import missing

    rooms = [
        f"cd.{room}.{name}"
        for room in ("errors", "contact", "shapes", "functions", "constraints", "forces", "paths", "muscles")
        if name in _import(f"condyle.{room}").__all__
    ]
    raise missing("condyle", name, __all__, ({name: " or ".join(rooms)} if rooms else {}) | _ELSEWHERE)


_MOVED = {
    "Arrows": "viewer",
    "IMUs": "studies.kinematics",
    "Measurement": "studies.scaling",
    "Mobilizer": "mobilizers",
    "Phases": "control",
    "Recording": "io",
    "calibrate_imus": "studies.kinematics",
    "marker_positions": "studies.joints",
}
"""Less common names, and their modules."""

_ELSEWHERE = {
    **{name: f"condyle.{home}.{name}: from condyle.{home} import {name}" for name, home in _MOVED.items()},
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
    "view": "cd.live(system), a page with sliders, or cd.show(what), a file",
    "View": "what cd.live(system) returns: condyle.viewer.LiveView",
    **{
        path.rpartition(".")[2]: f"what {source} returns: condyle.{path}"
        for path, source in {
            "fit.frames.Frames": "cd.assemble_frames(...)",
            "integrate.ensemble.Ensemble": "cd.simulate(...) of many states",
            "integrate.trajectory.Trajectory": "cd.simulate(...)",
            "quality.Quality": ".quality of a result",
            "studies.cycles.limit_cycle.LimitCycle": "cd.limit_cycle(...)",
            "studies.induced_accelerations.InducedAccelerations": "cd.induced_accelerations(...)",
            "studies.joints.measured_frames.MeasuredFrames": "cd.read_frames(...)",
            "studies.joints.fit_function_based.FunctionBasedFit": "cd.fit_function_based(...)",
            "studies.joints.result.JointFit": "cd.fit_spline_curve(...)",
            "studies.kinematics.result.InverseKinematics": "cd.inverse_kinematics(...)",
            "studies.muscle_analysis.MuscleAnalysis": "cd.muscle_analysis(...)",
            "studies.scaling.result.Scaling": "cd.scale(...)",
            "studies.static_optimization.StaticOptimization": "cd.static_optimization(...)",
            "tree.body.Body": "system.add_body(...)",
            "viewer.Page": "cd.show(...)",
            "viewer.LiveView": "cd.live(...)",
        }.items()
    },
    "plot": "cd.show, or .plot() of a Trajectory",
}
"""Names in other libraries, and result classes, which programs need not import."""
