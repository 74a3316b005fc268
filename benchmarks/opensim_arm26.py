"""arm26 in OpenSim, made of the numbers of condyle.models.arm26, and its static optimization, in a process
of its own (opensim_process.py)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opensim_process import Answers
from benchmarks.timing import Clock
from benchmarks.trees import Array

REST = 0.5
"""Seconds of rest before and after the motion, so that OpenSim's splines do no harm at its ends."""


def numbers() -> dict[str, Any]:
    """The model as plain numbers: OpenSim's process cannot import condyle."""
    import importlib

    data = importlib.import_module("condyle.models.arm26")
    surfaces = {
        name: (
            body,
            place,
            angles,
            type(surface).__name__,
            tuple(np.atleast_1d(surface.radii if type(surface).__name__ == "Ellipsoid" else surface.radius)),
            getattr(surface, "length", None),
            surface.quadrant,
        )
        for name, (body, place, angles, surface) in data.SURFACES.items()
    }
    return {
        "gravity": data.GRAVITY,
        "base": tuple(data.BASE),
        "bodies": data.BODIES,
        "joints": data.JOINTS,
        "surfaces": surfaces,
        "muscles": data.MUSCLES,
        "curves": data.CURVES,
    }


def model_of(data: dict[str, Any]) -> Any:
    """An osim.Model with Thelen2003Muscles and reserves of optimal force 1."""
    import opensim as osim

    osim.Logger.setLevelString("error")
    vec, zero = lambda v: osim.Vec3(*(float(x) for x in v)), osim.Vec3(0)
    model = osim.Model()
    model.setName("arm26")
    model.setGravity(vec(data["gravity"]))
    frames: dict[str, Any] = {"base": osim.Body("base", 1.0, zero, osim.Inertia(1, 1, 1))}
    model.addBody(frames["base"])
    model.addJoint(
        osim.WeldJoint("offset", model.getGround(), vec(data["base"]), zero, frames["base"], zero, zero)
    )
    for name, (mass, com, inertia) in data["bodies"].items():
        frames[name] = osim.Body(name, mass, vec(com), osim.Inertia(*inertia))
        model.addBody(frames[name])
    for name, (parent, place, axis, coordinate, _) in data["joints"].items():
        moved = osim.SpatialTransform()
        for i, direction in enumerate((axis, (0, 1, 0), (1, 0, 0))):
            moved.updTransformAxis(i).setAxis(vec(direction))
        moved.updTransformAxis(0).setCoordinateNames(osim.ArrayStr(coordinate, 1))
        moved.updTransformAxis(0).set_function(osim.LinearFunction(1, 0))
        joint = osim.CustomJoint(
            f"joint_{name}", frames[parent], vec(place), zero, frames[name], zero, zero, moved
        )
        model.addJoint(joint)
        reserve = osim.CoordinateActuator(coordinate)
        reserve.setName(f"{coordinate}_reserve")
        reserve.setOptimalForce(1.0)
        model.addForce(reserve)
    surfaces = {}
    for name, (body, place, angles, kind, radii, length, quadrant) in data["surfaces"].items():
        w = osim.WrapEllipsoid() if kind == "Ellipsoid" else osim.WrapCylinder()
        w.setName(name)
        w.set_translation(vec(place))
        w.set_xyz_body_rotation(vec(angles))
        w.set_quadrant(quadrant)
        if kind == "Ellipsoid":
            w.set_dimensions(vec(radii))
        else:
            w.set_radius(float(radii[0]))
            w.set_length(float(length))
        frames[body].addWrapObject(w)
        surfaces[name] = w
    c = data["curves"]
    for name, (own, wraps, points) in data["muscles"].items():
        m = osim.Thelen2003Muscle(name, *own)
        m.setMaxContractionVelocity(c["max_contraction_velocity"])
        for key in (
            "activation_time_constant",
            "deactivation_time_constant",
            "FmaxTendonStrain",
            "FmaxMuscleStrain",
            "KshapeActive",
            "KshapePassive",
            "Af",
            "Flen",
            "fv_linear_extrap_threshold",
            "minimum_activation",
        ):
            getattr(m, f"set_{key}")(c[key])
        for i, (body, p) in enumerate(points):
            m.addNewPathPoint(f"{name}-P{i + 1}", frames[body], vec(p))
        model.addForce(m)
        path = osim.GeometryPath.safeDownCast(m.updPath())
        for i, (surface, between) in enumerate(wraps):
            path.addPathWrap(surfaces[surface])
            if between:
                for k in range(2):
                    path.updWrapSet().get(i).set_range(k, between[k] + 1)
    model.finalizeConnections()
    return model


class Tool:
    """AnalyzeTool with StaticOptimization, as users run it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.made = False

    def _prepare(self, data: dict[str, Any], t: Array, q: Array, names: tuple[str, ...]) -> None:
        model_of(data).printToXML(str(self.folder / "arm26.osim"))
        h = t[1] - t[0]
        n = round(REST / h)
        padded = np.vstack([np.repeat(q[:1], n, axis=0), q, np.repeat(q[-1:], n, axis=0)])
        time = t[0] + h * (np.arange(len(padded)) - n)
        rows = "\n".join("\t".join(f"{x:.17g}" for x in (s, *row)) for s, row in zip(time, padded))
        (self.folder / "motion.mot").write_text(
            f"motion\nversion=1\nnRows={len(time)}\nnColumns="
            f"{q.shape[1] + 1}\ninDegrees=no\nendheader\n" + "\t".join(("time", *names)) + f"\n{rows}\n"
        )
        self.made = True

    def run(
        self, data: dict[str, Any], t: Array, q: Array, names: tuple[str, ...], until: float, physiology: bool
    ) -> float:
        """Seconds of processor time from the first frame to `until`."""
        import opensim as osim

        if not self.made:
            self._prepare(data, t, q, names)
        tool = osim.AnalyzeTool()
        tool.setName("so")
        tool.setModelFilename(str(self.folder / "arm26.osim"))
        tool.setCoordinatesFileName(str(self.folder / "motion.mot"))
        tool.setResultsDir(str(self.folder))
        tool.setInitialTime(float(t[0]))
        tool.setFinalTime(float(until))
        tool.setLoadModelAndInput(True)
        so = osim.StaticOptimization()
        so.setStartTime(float(t[0]))
        so.setEndTime(float(until))
        so.setUseMusclePhysiology(physiology)
        so.setActivationExponent(2.0)
        so.setConvergenceCriterion(1e-6)
        tool.getAnalysisSet().cloneAndAppend(so)
        tool.printToXML(str(self.folder / "setup.xml"))
        ready = osim.AnalyzeTool(str(self.folder / "setup.xml"), True)
        with Clock() as clock:
            ready.run()
        return clock.cpu

    def activations(self, data: dict[str, Any], *_: Any) -> tuple[list[str], Array]:
        """Those of the last run: names and values, the first column the time."""
        lines = (self.folder / "so_StaticOptimization_activation.sto").read_text().splitlines()
        head = lines.index("endheader")
        values = [[float(x) for x in line.split()] for line in lines[head + 2 :]]
        return lines[head + 1].split(), np.array(values)


def about_arm() -> Answers:
    tool = Tool()
    return {"seconds": tool.run, "activations": tool.activations}
