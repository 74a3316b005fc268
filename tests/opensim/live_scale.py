"""OpenSim's ScaleTool, run in memory: every number of the scaled model, with all digits."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.opensim.files import copied

_PLACE = tempfile.TemporaryDirectory()
Q = (-1.1, -0.4, 0.0, 0.3, 0.9)


def about_scaling() -> dict[str, Any]:
    return {"scaled": scaled, "seconds": seconds, "factors": by_factors, "placed": placed}


def _tool(setup: str) -> Any:
    import opensim as osim

    osim.Logger.setLevelString("Off")
    folder = copied(Path(setup).parent, Path(_PLACE.name, str(len(os.listdir(_PLACE.name)))))
    os.chdir(folder)  # it writes beside the setup
    return osim.ScaleTool(str(folder / Path(setup).name))


def scaled(_: None, setup: str, model_file: str, markers: str) -> dict[str, Any]:
    """Numbers of the model after scaling, before markers are placed.

    Args:
        setup: the file of the tool, whose folder has the markers.
        model_file: the model that is scaled.
        markers: file of its markers.
    """
    import opensim as osim

    tool = _tool(setup)
    model = osim.Model(model_file)
    model.initSystem()
    model.updateMarkerSet(osim.MarkerSet(markers))
    model.initSystem()
    assert tool.getModelScaler().processModel(model, "", tool.getSubjectMass())
    return numbers(model)


def by_factors(_: None, model_file: str, factors: dict[str, Any], keep: bool, mass: float) -> dict[str, Any]:
    """Numbers of a model after scaling by given factors."""
    import opensim as osim

    osim.Logger.setLevelString("Off")
    model = osim.Model(model_file)
    state = model.initSystem()
    all_ = osim.ScaleSet()
    for name, s in factors.items():
        one = osim.Scale()
        one.setSegmentName(name)
        one.setScaleFactors(osim.Vec3(*map(float, s)))
        one.setApply(True)
        all_.cloneAndAppend(one)
    assert model.scale(state, all_, keep, mass)
    return numbers(model)


def numbers(model: Any) -> dict[str, Any]:
    """All numbers that scaling may change, by place and name."""
    import opensim as osim

    state = model.initSystem()
    out: dict[str, Any] = {}
    for b in model.getBodyList():
        I = b.getInertia()
        M, P = I.getMoments(), I.getProducts()
        out[f"{b.getName()} mass"] = b.getMass()
        out[f"{b.getName()} com"] = b.getMassCenter().to_numpy()
        out[f"{b.getName()} inertia"] = np.concatenate([M.to_numpy(), P.to_numpy()])
        wraps = b.getWrapObjectSet()
        for i in range(wraps.getSize()):
            w = wraps.get(i)
            out[f"wrap {w.getName()} place"] = w.get_translation().to_numpy()
            out[f"wrap {w.getName()} size"] = _size(w)
    for joint in model.getJointList():
        for kind, frame in (("parent", joint.getParentFrame()), ("child", joint.getChildFrame())):
            X = frame.findTransformInBaseFrame()
            out[f"{joint.getChildFrame().findBaseFrame().getName()} {kind}"] = X.p().to_numpy()
        custom = osim.CustomJoint.safeDownCast(joint)
        if custom is not None:
            name = joint.getChildFrame().findBaseFrame().getName()
            out[f"{name} functions"] = _functions(custom.getSpatialTransform())
    muscles = model.getMuscles()
    for i in range(muscles.getSize()):
        m = muscles.get(i)
        out[f"{m.getName()} lengths"] = np.array([m.get_optimal_fiber_length(), m.get_tendon_slack_length()])
        begins = osim.ActivationFiberLengthMuscle.safeDownCast(m)
        if begins is not None:
            out[f"{m.getName()} begins"] = begins.getDefaultFiberLength()
        points = osim.GeometryPath.safeDownCast(m.getComponent("path")).getPathPointSet()
        places = [np.array(points.get(k).getLocation(state).to_numpy()) for k in range(points.getSize())]
        out[f"{m.getName()} points"] = np.array(places)
    found = model.getMarkerSet()
    for i in range(found.getSize()):
        out[f"marker {found.get(i).getName()}"] = found.get(i).get_location().to_numpy()
    return out


def _size(w: Any) -> np.ndarray:
    import opensim as osim

    for kind, keys in (
        (osim.WrapCylinder, ("radius", "length")),
        (osim.WrapSphere, ("radius",)),
        (osim.WrapTorus, ("inner_radius", "outer_radius")),
    ):
        own = kind.safeDownCast(w)
        if own is not None:
            return np.array([getattr(own, f"get_{key}")() for key in keys])
    return osim.WrapEllipsoid.safeDownCast(w).get_dimensions().to_numpy()


def _functions(transform: Any) -> np.ndarray:
    """Translations along their axes at a few values of the coordinates, each of its own."""
    import opensim as osim

    rows = []
    for k in range(3, 6):
        axis = transform.getTransformAxis(k)
        n = axis.getCoordinateNames().size()
        for q in Q:
            value = axis.getFunction().calcValue(osim.Vector(max(n, 1), q))
            rows.append(np.array(axis.getAxis().to_numpy()) * value)
    return np.array(rows).reshape(3, len(Q), 3).sum(axis=0)


def seconds(_: None, setup: str, model_file: str, markers: str) -> float:
    """Time of the whole tool: reading, scaling and placing markers."""
    import time

    import opensim as osim

    tool = _tool(setup)
    start = time.process_time()
    model = osim.Model(model_file)
    model.initSystem()
    model.updateMarkerSet(osim.MarkerSet(markers))
    model.initSystem()
    tool.getModelScaler().processModel(model, "", tool.getSubjectMass())
    tool.getMarkerPlacer().setPrintResultFiles(False)
    tool.getMarkerPlacer().processModel(model, "")
    return time.process_time() - start


def placed(
    _: None,
    setup: str,
    model_file: str,
    markers: str,
    mean: dict[str, Any],
    weights: dict[str, float],
    tasks: dict[str, tuple[float, float]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Coordinates of the static pose by OpenSim's solver at an accuracy of 1e-10, and markers by its placer.

    Args:
        mean: mean places of the markers in ground [m].
        weights: of markers.
        tasks: value and weight of coordinates.
    """
    import opensim as osim

    tool = _tool(setup)
    model = osim.Model(model_file)
    model.initSystem()
    model.updateMarkerSet(osim.MarkerSet(markers))
    model.initSystem()
    tool.getModelScaler().processModel(model, "", tool.getSubjectMass())
    state = model.initSystem()
    table = osim.TimeSeriesTableVec3()
    table.setColumnLabels(list(mean))
    for t in (0.0, 1.0):
        table.appendRow(t, osim.RowVectorVec3([osim.Vec3(*map(float, p)) for p in mean.values()]))
    own = osim.SetMarkerWeights()
    for name, w in weights.items():
        own.cloneAndAppend(osim.MarkerWeight(name, w))
    wanted = osim.SimTKArrayCoordinateReference()
    for name, (value, w) in tasks.items():
        one = osim.CoordinateReference(name, osim.Constant(value))
        one.setWeight(w)
        wanted.push_back(one)
    solver = osim.InverseKinematicsSolver(model, osim.MarkersReference(table, own), wanted, float("inf"))
    solver.setAccuracy(1e-10)
    state.setTime(0.0)
    solver.assemble(state)
    for _again in range(3):
        solver.track(state)
    cs = model.getCoordinateSet()
    q = {cs.get(i).getName(): cs.get(i).getValue(state) for i in range(cs.getSize())}
    placer = tool.getMarkerPlacer()
    placer.setPrintResultFiles(False)
    placer.processModel(model, "")
    found = model.getMarkerSet()
    return q, {found.get(i).getName(): found.get(i).get_location().to_numpy() for i in range(found.getSize())}
