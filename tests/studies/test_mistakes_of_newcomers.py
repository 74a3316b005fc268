"""Mistakes of newcomers from OpenSim: files, names, units. None is wrong in silence."""
from __future__ import annotations

import numpy as np
import pytest

import condyle as cd

T = np.linspace(0, 1, 11)
ANGLES = ("hip", "knee", "ankle")
MARKERS = {"HIP": ("thigh", (0.05, 0, 0.05)), "THI": ("thigh", (0.08, -0.2, 0.05)),
           "KNE": ("shank", (0, 0, 0.05)), "SHA": ("shank", (0.05, -0.2, 0.03)),
           "HEE": ("foot", (-0.05, -0.05, 0)), "TOE": ("foot", (0.15, -0.05, 0.02))}


def leg() -> cd.System:
    system, parent, at = cd.System(), "ground", (0, 1, 0)
    for body, name in zip(("thigh", "shank", "foot"), ANGLES, strict=True):
        system.add_body(body, parent, cd.Pin(), X_PF=at, mass=3, inertia=(0.1, 0.1, 0.1),
                        coordinates=[cd.Coordinate(name, range=(-2.1, 2.1))])
        parent, at = body, (0, -0.4, 0)
    for name, (body, place) in MARKERS.items():
        system.add_marker(name, body, place)
    return system


def seen(system: cd.System) -> np.ndarray:
    """Where the markers are, frames by markers by 3."""
    q = np.stack([0.4 * T, -0.8 * T, 0.1 * T], axis=1)
    return np.stack([system.station_position(q, *MARKERS[name]) for name in system.markers], axis=1)


@pytest.mark.parametrize(("call", "says"), [
    (lambda s: cd.read_osim("walk.trc"), r"a \.trc is read by cd\.read_markers"),
    (lambda s: cd.read_osim("walk.mot"), r"a \.mot is read by cd\.read_table"),
    (lambda s: cd.inverse_kinematics("leg.osim", None), r"read it by cd\.read_osim"),
    (lambda s: cd.scale("leg.osim"), r"read it by cd\.read_osim"),
    (lambda s: cd.show("leg.osim"), r"cd\.show\(cd\.read_osim\(path\)\)"),
    (lambda s: cd.show(s, cd.Table(T, ANGLES, np.zeros((11, 3)), degrees=True)),
     "got Table; a motion is motion="),
    (lambda s: cd.show(s, motion=cd.Table(T, ("fx", "fy"), np.zeros((11, 2))), open=False),
     "no column of the Table is a coordinate of the system; columns: fx, fy; coordinates: hip, knee, ankle"),
    (lambda s: cd.inverse_dynamics(s, cd.Table(T, ANGLES, np.zeros((11, 3)), degrees=True), "grf.xml"),
     r"cd\.read_external_loads"),
])
def test_refused_with_the_right_call(call, says):
    with pytest.raises(cd.CondyleError, match=says):
        call(leg())


def test_setup_file_as_model(tmp_path):
    path = tmp_path / "Setup_IK.xml"
    path.write_text('<OpenSimDocument Version="40000"><InverseKinematicsTool name="a"/></OpenSimDocument>')
    with pytest.raises(cd.DescriptionError, match="condyle run"):
        cd.read_osim(path)


def test_degrees_in_a_state():
    system = leg()
    with pytest.warns(UserWarning, match=r"'knee' = -60 rad, its range is -2\.1 to 2\.1 rad"):
        system.state(q={"knee": -60})
    system.state(q={"knee": -2.5, "hip": 7.0})              # beyond the range, and no degrees


def test_radians_that_are_called_degrees():
    q = np.stack([0.4 * T, -0.8 * T, 0.1 * T], axis=1)
    with pytest.warns(UserWarning, match=r"all 3 angles stay within 0\.8 degrees; if they are radians"):
        cd.inverse_dynamics(leg(), cd.Table(T, ANGLES, q, degrees=True))
    cd.inverse_dynamics(leg(), cd.Table(T, ANGLES, np.degrees(q), degrees=True))
    cd.inverse_dynamics(leg(), cd.Table(T, ANGLES, 0.1 * q, degrees=True))       # who stands still


def test_markers_whose_z_is_up():
    system = leg()
    p = seen(system)
    with pytest.warns(RuntimeWarning, match=r"cm off .RMS. in half of the frames.*vertical='z'"):
        cd.inverse_kinematics(system, cd.Markers(T, system.markers, p[..., [0, 2, 1]] * [1, -1, 1]))
    assert cd.inverse_kinematics(system, cd.Markers(T, system.markers, p)).rms.max() < 1e-6


def test_sizes_that_no_subject_has():
    with pytest.warns(UserWarning, match=r"thigh: the factors 110 110 110 are far from 1; a factor is 1\.1"):
        cd.scale(leg(), factors={"thigh": 110})
    with pytest.warns(UserWarning, match=r"mass: 72600 kg, but the model has 9 kg"):
        cd.scale(leg(), mass=72600)
