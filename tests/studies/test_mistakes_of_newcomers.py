"""Mistakes of newcomers from OpenSim: files, names, units. None is wrong in silence."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.studies.scaling import Measurement

T = np.linspace(0, 1, 11)
ANGLES = ("hip", "knee", "ankle")
MARKERS = {
    "HIP": ("thigh", (0.05, 0, 0.05)),
    "THI": ("thigh", (0.08, -0.2, 0.05)),
    "KNE": ("shank", (0, 0, 0.05)),
    "SHA": ("shank", (0.05, -0.2, 0.03)),
    "HEE": ("foot", (-0.05, -0.05, 0)),
    "TOE": ("foot", (0.15, -0.05, 0.02)),
}


def leg() -> cd.System:
    system, parent, at = cd.System(), "ground", (0, 1, 0)
    for body, name in zip(("thigh", "shank", "foot"), ANGLES, strict=True):
        system.add_body(
            body,
            parent,
            cd.Pin(),
            X_PF=at,
            mass=3,
            inertia=(0.1, 0.1, 0.1),
            coordinates=[cd.Coordinate(name, range=(-2.1, 2.1))],
        )
        parent, at = body, (0, -0.4, 0)
    for name, (body, place) in MARKERS.items():
        system.add_marker(name, body, place)
    return system


def seen(system: cd.System) -> np.ndarray:
    """Where the markers are, frames by markers by 3."""
    q = np.stack([0.4 * T, -0.8 * T, 0.1 * T], axis=1)
    return np.stack([system.station_position(q, *MARKERS[name]) for name in system.markers], axis=1)


FLOOR = cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, cd.contact.Material(1e6))


def still(start: float = 0.0) -> cd.Table:
    """A leg that hangs, as a recorded motion."""
    return cd.Table(start + T, ANGLES, np.zeros((11, 3)), degrees=False)


def load() -> cd.ExternalLoad:
    """A push of 1 N on the foot, from 0 to 1 s."""
    table = cd.Table(T, ("fx", "fy", "fz", "px", "py", "pz"), np.ones((11, 6)), ["N"] * 3 + ["m"] * 3)
    return cd.ExternalLoad("foot", table, force=("fx", "fy", "fz"), point=("px", "py", "pz"))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda s: cd.read_osim("walk.trc"), r"a \.trc is read by cd\.read_markers"),
        (lambda s: cd.read_osim("walk.mot"), r"a \.mot is read by cd\.read_table"),
        (lambda s: cd.inverse_kinematics("leg.osim", None), r"read it with cd\.read_osim"),
        (lambda s: cd.scale("leg.osim"), r"read it with cd\.read_osim"),
        (lambda s: cd.show("leg.osim"), r"cd\.show\(cd\.read_osim\(path\)\)"),
        (
            lambda s: cd.show(s, cd.Table(T, ANGLES, np.zeros((11, 3)), degrees=True)),
            "got Table; a motion is motion=",
        ),
        (
            lambda s: cd.show(s, motion=cd.Table(T, ("fx", "fy"), np.zeros((11, 2))), open=False),
            "no column of the Table is a coordinate of the system; columns: fx, fy; coordinates: hip, knee, ankle",
        ),
        (
            lambda s: cd.inverse_dynamics(s, cd.Table(T, ANGLES, np.zeros((11, 3)), degrees=True), "grf.xml"),
            r"cd\.read_external_loads",
        ),
        (
            lambda s: cd.read_osim("leg.osim", "markers.xml"),
            r"strict: expected True or False.*'markers\.xml'",
        ),
        (
            lambda s: cd.inverse_dynamics(cd.scale(s, mass=9.5), None),
            r"cd\.System first.*it has one: \.system",
        ),
        (lambda s: cd.muscle_analysis(s, cd.Markers(T, s.markers, seen(s))), r"cd\.inverse_kinematics"),
        (lambda s: cd.inverse_dynamics(s, np.zeros((11, 3))), r"cd\.Table\(t, system\.coordinates, values"),
        (
            lambda s: cd.inverse_dynamics(s, dict.fromkeys(ANGLES, T)),
            r"got dict; name its columns: cd\.Table",
        ),
        (
            lambda s: cd.System("leg.osim"),
            r"got 'leg\.osim'; a model file of OpenSim is read by cd\.read_osim",
        ),
        (lambda s: cd.joint_reactions(s, still(), [load()]), "external_loads="),
        (lambda s: cd.low_pass(cd.Markers(T, s.markers, seen(s)), 6), r"markers\.table\(\)"),
        (lambda s: cd.show(cd.Markers(T, s.markers, seen(s))), "markers=markers"),
        (lambda s: cd.show(s, "no_such_folder/leg.html"), "no folder 'no_such_folder'; make it first"),
        (
            lambda s: cd.show(
                s, motion=cd.Table(T[::-1], ANGLES, np.zeros((11, 3)), degrees=True), open=False
            ),
            "times must increase",
        ),
        (lambda s: cd.show(s, motion=still(), loads=[load()]), r"loads=; they are arrows="),
        (
            lambda s: cd.read_table("walk.mot", degrees="yes"),
            "degrees: expected True, False or None, got 'yes'",
        ),
        (lambda s: cd.Table(T, ANGLES, np.zeros((11, 3)), degrees="no"), "degrees: expected True, False"),
        (lambda s: cd.show(s, "leg.html", view="left"), "expected one of any, front, side, top, got 'left'"),
        (lambda s: s.add_contact("sole", "ground", "foot"), "expected surfaces.*got 'ground'"),
        (lambda s: s.add_contact("sole", FLOOR), "one surface alone touches nothing"),
        (lambda s: s.add_contact("sole", FLOOR, []), "b: it contains no surface"),
    ],
)
def test_refused_with_the_right_call(call, says):
    with pytest.raises(cd.errors.CondyleError, match=says):
        call(leg())


def test_setup_file_as_model(tmp_path):
    path = tmp_path / "Setup_IK.xml"
    path.write_text('<OpenSimDocument Version="40000"><InverseKinematicsTool name="a"/></OpenSimDocument>')
    with pytest.raises(cd.errors.DescriptionError, match="condyle run"):
        cd.read_osim(path)


def test_degrees_in_a_state():
    system = leg()
    with pytest.warns(UserWarning, match=r"'knee' = -60 rad, its range is -2\.1 to 2\.1 rad"):
        system.state(q={"knee": -60})
    system.state(q={"knee": -2.5, "hip": 7.0})  # beyond the range, and no degrees


def test_radians_that_are_called_degrees():
    q = np.stack([0.4 * T, -0.8 * T, 0.1 * T], axis=1)
    with pytest.warns(UserWarning, match=r"all 3 angles stay within 0\.8 degrees; if they are radians"):
        cd.inverse_dynamics(leg(), cd.Table(T, ANGLES, q, degrees=True))
    cd.inverse_dynamics(leg(), cd.Table(T, ANGLES, np.degrees(q), degrees=True))
    cd.inverse_dynamics(leg(), cd.Table(T, ANGLES, 0.1 * q, degrees=True))  # who stands still


def test_markers_whose_z_is_up():
    system = leg()
    p = seen(system)
    with pytest.warns(RuntimeWarning, match=r"87 cm from the model .*guideline is 2 cm.*HIP 142.*vertical="):
        cd.inverse_kinematics(system, cd.Markers(T, system.markers, p[..., [0, 2, 1]] * [1, -1, 1]))
    assert cd.inverse_kinematics(system, cd.Markers(T, system.markers, p)).rms.max() < 1e-6


def test_sizes_that_no_subject_has():
    with pytest.warns(UserWarning, match=r"thigh: the factors 110 110 110 are far from 1; a factor is 1\.1"):
        cd.scale(leg(), factors={"thigh": 110})
    with pytest.warns(UserWarning, match=r"mass: 72600 kg, but the model has 9 kg"):
        cd.scale(leg(), mass=72600)


def test_one_measurement_is_a_list_of_one():
    system = leg()
    thigh = Measurement("thigh", [("HIP", "THI")], ["thigh"])
    markers = cd.Markers(T, system.markers, seen(system))
    one, several = (cd.scale(system, markers, x, place_markers=False).factors for x in (thigh, [thigh]))
    assert one == several


def test_files_of_another_kind(tmp_path):
    path = tmp_path / "markers.xml"
    path.write_text('<OpenSimDocument Version="40000"><MarkerSet name="a"/></OpenSimDocument>')
    with pytest.raises(cd.errors.DescriptionError, match=r"got a MarkerSet; .*add=path"):
        cd.read_osim(path)
    for near in ("markers.xlm", "markers"):
        with pytest.raises(FileNotFoundError, match=r"is it 'markers\.xml'\?"):
            cd.read_osim(tmp_path / near)


def test_markers_and_loads_of_another_trial():
    system = leg()
    markers = cd.Markers(T, system.markers, seen(system))
    with pytest.warns(UserWarning, match="from 0 to 1 s, the motion from 10 to 11 s: none is shown") as told:
        cd.show(system, motion=still(10.0), markers=markers, arrows=load(), open=False)
    assert {str(w.message).split(":")[1] for w in told} == {" markers", " arrows"}
    assert {w.filename for w in told} == {__file__}


def test_a_pile_that_starts_below_its_floor():
    stone, ball = cd.contact.Rigid(friction=0.5), cd.System()
    ball.add_body("ball", mobilizer=cd.Translation(), mass=1.0)
    method = cd.integrators.TimeStepping(
        [
            cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, stone),
            cd.contact.Sphere("ball", (0, 0, 0), 0.1, stone),
        ]
    )
    with pytest.warns(RuntimeWarning, match=r"overlap, or stops are passed, by up to 0\.4"):
        cd.simulate(ball, ball.state(q={"ball_ty": -0.3}), 0.01, step=1e-3, integrator=method)
    fall = cd.simulate(ball, ball.state(q={"ball_ty": 0.2}), 0.5, step=1e-2, integrator=method)
    assert abs(fall["ball_ty"][-1] - 0.1) < 1e-4  # bodies that do not turn come to rest too


def test_places_in_millimeters():
    with pytest.warns(UserWarning, match=r"marker 'MAL' is 400 m away from 'shank'"):
        leg().add_marker("MAL", "shank", (20, -400, 60))


def test_models_that_are_files():
    with pytest.raises(AttributeError, match=r"cd\.read_osim\('gait2354\.osim'\)"):
        cd.models.gait2354  # noqa: B018


def test_a_layer_in_millimeters():
    square = np.array([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)])
    with pytest.warns(UserWarning, match=r"a layer of 3 m on a mesh that is 0\.1 m large"):
        cd.contact.Mesh(
            "foot", None, (square, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]), 3, cd.contact.Material(1e6)
        )


def test_points_of_loads_in_millimeters_are_asked_about():
    table = load().table
    scaled = cd.Table(table.time, table.names, table.values * ([1.0] * 3 + [400.0] * 3), table.units)
    push = cd.ExternalLoad("foot", scaled, force=("fx", "fy", "fz"), point=("px", "py", "pz"))
    with pytest.warns(UserWarning, match="'foot': its point 'px' .* is 400 m away.*in meters"):
        cd.inverse_dynamics(leg(), still(), [push])


def test_times_that_are_not_in_seconds_are_asked_about():
    t = 10.0 * np.arange(30)  # milliseconds of 100 frames per second
    with pytest.warns(UserWarning, match="its rows are 10 s apart: are times in seconds"):
        cd.inverse_dynamics(leg(), cd.Table(t, ANGLES, np.zeros((30, 3)), degrees=False))


def test_markers_that_are_missing_as_zeros_are_asked_about():
    system = leg()
    places = seen(system)
    places[3:5, 1] = 0.0
    with pytest.warns(UserWarning, match=r"'THI' is at exactly \(0, 0, 0\) in 2 of 11 frames.*must be NaN"):
        cd.inverse_kinematics(system, cd.Markers(T, system.markers, places))
