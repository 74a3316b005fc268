"""Setup files of OpenSim's ScaleTool as arguments of cd.scale, for tests and benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import condyle as cd
from condyle.studies.scaling import Measurement


def words(element: Any, tag: str) -> list[str]:
    return (element.findtext(tag) or "").split()


def pair(element: Any, tag: str) -> tuple[float, float]:
    start, end = map(float, words(element, tag))
    return start, end


def arguments(setup: Path, system: cd.System) -> dict[str, Any]:
    """What a setup file asks of cd.scale."""
    root = ElementTree.parse(setup).getroot()
    scaler, placer = root.find(".//ModelScaler"), root.find(".//MarkerPlacer")
    measurements = []
    for m in scaler.iter("Measurement"):
        pairs = [tuple(words(p, "markers")) for p in m.iter("MarkerPair")]
        bodies = {b.get("name"): "".join(words(b, "axes")) for b in m.iter("BodyScale")}
        if words(m, "apply") != ["false"]:
            measurements.append(Measurement(m.get("name"), pairs, bodies))
    tasks = [t for t in placer.iter("IKMarkerTask") if words(t, "apply") != ["false"]]
    held = [t for t in placer.iter("IKCoordinateTask") if words(t, "apply") != ["false"]]
    q = dict(zip(system.coordinates, system.defaults()[0], strict=True))
    values = {}
    for t in held:
        from_file = words(t, "value_type") == ["manual_value"]
        values[t.get("name")] = float(words(t, "value")[0]) if from_file else float(q[t.get("name")])
    factors = {
        s.findtext("segment").strip(): [float(x) for x in words(s, "scales")]
        for s in scaler.iter("Scale")
        if words(s, "apply") != ["false"]
    }
    return {
        "markers": cd.read_markers(setup.parent / words(scaler, "marker_file")[0]),
        "measurements": measurements,
        "factors": factors,
        "order": ["manual" if w == "manualScale" else w for w in words(scaler, "scaling_order")],
        "mass": float(words(root.find("ScaleTool"), "mass")[0]),
        "time": pair(scaler, "time_range"),
        "preserve_mass_distribution": words(scaler, "preserve_mass_distribution") == ["true"],
        "weights": {t.get("name"): float(words(t, "weight")[0]) for t in tasks},
        "coordinates": values,
        "coordinate_weights": {t.get("name"): float(words(t, "weight")[0]) for t in held},
        "pose_time": pair(placer, "time_range"),
    }
