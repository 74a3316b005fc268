"""ScaleTool: a model of a subject, with its markers placed by a static trial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from condyle.io.markers import Markers, read_markers
from condyle.opensim.element import Element
from condyle.opensim.geometry import write_markers
from condyle.opensim.model import write_osim
from condyle.opensim.setup.file_columns import default_state, state_columns
from condyle.opensim.setup.inverse_kinematics_tool import coordinate_tasks, marker_weights
from condyle.opensim.setup.setup_file import Setup
from condyle.opensim.writing import Writing, Xml, object_set, write_document, xml
from condyle.quality import Quality
from condyle.studies.scaling.measurements import Measurement, frames
from condyle.studies.scaling.result import Scaling
from condyle.studies.scaling.scale import scale
from condyle.system.system import System

RMS, LARGEST = 1.0, 2.0
"""[cm] Errors of markers in the static pose that OpenSim's guidelines allow."""


def run(setup: Setup) -> None:
    """Write the scaled model, the model with placed markers, the factors and the static pose, as named."""
    maker, scaler, placer = (
        setup.tool.child(tag) for tag in ("GenericModelMaker", "ModelScaler", "MarkerPlacer")
    )
    if maker is None:
        raise setup.error("there is no <GenericModelMaker> that names a model")
    system = setup.system(maker, _marker_sets(setup, maker))
    mass = setup.number("mass", -1.0)
    system.about = {**system.about, "name": setup.report.name}
    wanted: dict[str, Any] = {"order": ()}
    markers: Markers | None = None
    scaled = scaler is not None and setup.flag("apply", True, scaler)
    if scaler is not None and scaled:
        file = setup.file("marker_file", scaler)
        if file is not None:
            markers = setup.markers(file)
        wanted = {"mass": mass if mass > 0 else None, **_scaling(setup, scaler, system, markers)}
    else:
        setup.note("<ModelScaler> is not applied: the model keeps its sizes and masses")
    placing = _in_one_call(setup, scaler, placer, system, markers) if setup.only_read else {}
    plain: Scaling = setup.study(
        "scaling", scale, system, markers, **{"place_markers": False, **wanted, **placing}
    )
    setup.report.notes += [note for note in plain.notes if note not in setup.report.notes]
    setup.report.judge(plain.quality)
    if scaler is not None and scaled:
        _write(setup, scaler, "output_model_file", plain.system)
        _write_factors(setup, scaler, plain)
    if placer is None or not setup.flag("apply", True, placer):
        return
    path = setup.file("marker_file", placer)
    if path is None:
        raise setup.error("<MarkerPlacer>: <marker_file> names no file; it needs a static trial", placer)
    static = setup.markers(path)
    placed = _placed(setup, placer, plain.system, static)
    moved = placed.system if setup.flag("move_model_markers", True, placer) else plain.system
    _write(setup, placer, "output_model_file", moved)
    _write_markers(setup, placer, moved)
    _write_pose(setup, placer, placed)
    setup.report.judge(
        Quality([c for c in placed.quality if not c.what.startswith("factor")])
    )  # all 1: it is scaled


def scale_subject(path: Path, static: Path, mass: float | None) -> Scaling:
    """A subject's model from a setup file for all subjects: its model, measurements and weights of
    markers, with a subject's own static trial and mass [kg]."""
    setup = Setup(path)
    maker, scaler, placer = (
        setup.tool.child(tag) for tag in ("GenericModelMaker", "ModelScaler", "MarkerPlacer")
    )
    if setup.tool.tag != "ScaleTool" or maker is None or scaler is None or placer is None:
        raise setup.error("expected a ScaleTool with GenericModelMaker, ModelScaler and MarkerPlacer")
    system, markers = setup.system(maker, _marker_sets(setup, maker)), read_markers(static)
    plain = scale(system, markers, place_markers=False, mass=mass, **_scaling(setup, scaler, system, markers))
    return _placed(setup, placer, plain.system, markers)


def _in_one_call(
    setup: Setup, scaler: Element | None, placer: Element | None, system: System, markers: Markers | None
) -> dict[str, Any]:
    """Arguments that add the placement of markers to a scaling, for `cd.read_setup`."""
    if placer is None or not all(setup.flag(name, True, placer) for name in ("apply", "move_model_markers")):
        return {}
    if markers is None or setup.file("marker_file", placer) != setup.file("marker_file", scaler):
        setup.note(
            "<MarkerPlacer> reads another marker file than <ModelScaler>: this call places no markers; cd.run does"
        )
        return {}
    options = _placing(setup, placer, system, markers)
    return {"place_markers": True, "pose_time": options.pop("time"), **options}


def _marker_sets(setup: Setup, maker: Element) -> list[Path]:
    path = setup.file("marker_set_file", maker)
    return [path] if path is not None else []


def _scaling(setup: Setup, scaler: Element, system: System, markers: Markers | None) -> dict[str, Any]:
    """Arguments of cd.scale from a <ModelScaler>."""
    names = {"measurements": "measurements", "manualScale": "manual"}
    words = setup.words("scaling_order", scaler)
    if odd := [w for w in words if w not in names]:
        raise setup.error(
            f"<scaling_order>: expected some of {', '.join(names)}, got {' '.join(odd)}", scaler
        )
    order = [names[w] for w in words]
    if not order:
        setup.check(
            "<scaling_order> names neither measurements nor manualScale: no size changes, as in OpenSim"
        )
    known = {body.name for body in system.bodies}
    start, end = setup.numbers("time_range", (-np.inf, np.inf), scaler)
    time = (start, end) if np.isfinite([start, end]).all() and markers is not None else None
    measurements = _measurements(setup, scaler, system, markers, time) if "measurements" in order else []
    factors = {}
    for element in setup.objects("ScaleSet", scaler):
        name = setup.text("segment", element.name, element)
        if not setup.flag("apply", True, element):
            continue
        if name in known:
            factors[name] = setup.numbers("scales", (1.0, 1.0, 1.0), element)
        elif "manual" in order:
            setup.check(f"<ScaleSet>: there is no body {name!r} in the model")
    return {
        "measurements": measurements,
        "factors": factors,
        "order": order,
        "preserve_mass_distribution": setup.flag("preserve_mass_distribution", False, scaler),
        "time": time,
    }


def _measurements(
    setup: Setup, scaler: Element, system: System, markers: Markers | None, time: tuple[float, float] | None
) -> list[Measurement]:
    """The usable measurements of a <ModelScaler>; the report gives the reason for others."""
    known = {body.name for body in system.bodies}
    out = []
    for element in setup.objects("MeasurementSet", scaler):
        if not setup.flag("apply", True, element):
            continue
        pairs = [tuple(setup.words("markers", pair)) for pair in setup.objects("MarkerPairSet", element)]
        bodies = {b.name: "".join(setup.words("axes", b)) for b in setup.objects("BodyScaleSet", element)}
        found = {name: axes for name, axes in bodies.items() if name in known and axes}
        lacking = [
            m
            for pair in pairs
            for m in pair
            if markers is not None and (m not in markers.names or m not in system.markers)
        ]
        why = (
            "<marker_file> of the <ModelScaler> names no file"
            if markers is None
            else "it has no pairs of markers"
            if not pairs
            else f"no marker {', '.join(dict.fromkeys(lacking))} in model and recording"
            if lacking
            else f"{' and '.join(unseen)} are never in one frame"
            if (unseen := _unseen(pairs, markers, time))
            else f"the model has no body {', '.join(map(repr, bodies))} to scale along an axis"
            if not found
            else ""
        )
        if why:
            setup.check(f"measurement {element.name} is left out: {why}")
            continue
        if others := [name for name in bodies if name not in known]:
            setup.note(f"measurement {element.name}: the model has no body {', '.join(others)}")
        out.append(Measurement(element.name, pairs, found))  # type: ignore[arg-type]
    return out


def _unseen(
    pairs: list[tuple[str, ...]], markers: Markers, time: tuple[float, float] | None
) -> tuple[str, ...]:
    """The first pair of markers that no frame contains together."""
    rows = frames(markers, time)
    for pair in pairs:
        if np.isnan([markers[name][rows] for name in pair]).any(axis=(0, 2)).all():
            return pair
    return ()


def _placing(setup: Setup, placer: Element, system: System, static: Markers) -> dict[str, Any]:
    """Arguments of cd.scale from a <MarkerPlacer>."""
    tasks = setup.objects("IKTaskSet", placer)
    targets, target_weights = coordinate_tasks(setup, tasks, system, static.time[:1])
    start, end = setup.numbers("time_range", (-np.inf, np.inf), placer)
    return {
        "time": (start, end) if np.isfinite([start, end]).all() else None,
        "weights": marker_weights(setup, tasks, system, static),
        "coordinates": {n: float(np.ravel(v)[0]) for n, v in targets.items()} or None,
        "coordinate_weights": target_weights or None,
    }


def _placed(setup: Setup, placer: Element, system: System, static: Markers) -> Scaling:
    options = _placing(setup, placer, system, static)
    found: Scaling = setup.study(
        "placing markers", scale, system, static, order=(), place_markers=True, **options
    )
    setup.report.notes += [note for note in found.notes if note not in setup.report.notes]
    return found


def _write(setup: Setup, element: Element, name: str, system: System) -> None:
    file = setup.text(name, "", element)
    if file:
        path = setup.beside(file)
        path.parent.mkdir(parents=True, exist_ok=True)
        setup.step(f"writing {path.name}", lambda: write_osim(system, path))
        setup.report.files.append(path)


def _write_factors(setup: Setup, scaler: Element, result: Scaling) -> None:
    """The ScaleSet that was applied."""
    file = setup.text("output_scale_file", "", scaler)
    if file:
        _write_set(
            setup,
            file,
            xml(
                "ScaleSet",
                "",
                objects=[
                    xml("Scale", scales=s, segment=body, apply=True) for body, s in result.factors.items()
                ],
            ),
        )


def _write_pose(setup: Setup, placer: Element, result: Scaling) -> None:
    """The static pose as a row of all states, in radians, with zero speeds."""
    file = setup.text("output_motion_file", "", placer)
    if not file or result.pose is None:
        return
    system, motion = result.system, result.pose.motion
    q = np.stack([motion[n] for n in system.coordinates], axis=1)
    z = default_state(setup, system).z
    labels, values, _ = state_columns(
        setup, system, q, np.zeros((len(q), system.nu)), np.tile(z, (len(q), 1))
    )
    setup.save(str(setup.beside(file)), "static pose", motion.time, labels, values)


def _write_markers(setup: Setup, placer: Element, system: System) -> None:
    """The placed markers, as a set."""
    file = setup.text("output_marker_file", "", placer)
    if not file:
        return
    _write_set(setup, file, object_set("MarkerSet", write_markers(Writing(system))))


def _write_set(setup: Setup, file: str, objects: Xml) -> None:
    """A set of objects as a document."""
    path = setup.beside(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_document(objects, path)
    setup.report.files.append(path)
