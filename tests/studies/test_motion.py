"""Motion: from a Table of coordinates to speeds and accelerations."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.studies.smoothing import low_pass, rates, spline

T = np.linspace(0, 2, 81)
GAIT = Path(__file__).parents[3] / "shared/reference/gait10dof18musc_pipeline"


def chain() -> cd.System:
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1), coordinates="hip")
    system.add_body("shank", "thigh", cd.Slider(), mass=1, inertia=(1, 1, 1), coordinates="knee")
    return system


def smooth(t: np.ndarray = T) -> np.ndarray:
    return np.column_stack([np.sin(2 * t), 0.3 * np.cos(3 * t)])


@pytest.fixture(scope="module")
def system() -> cd.System:
    return chain()


def test_speeds_and_accelerations_of_a_spline(system):
    """The error of the second derivative falls with the fourth power of the step inside; 5 frames from the
    ends that of the ends has died away."""
    m = cd.Motion.of(system, cd.Table(T, ["knee", "other", "hip"], np.column_stack(
        [smooth()[:, 1], T, smooth()[:, 0]]), ["m", "", "rad"]))
    np.testing.assert_array_equal(m.q, smooth())
    inside = slice(15, -15)
    u = np.column_stack([2 * np.cos(2 * T), -0.9 * np.sin(3 * T)])
    udot = np.column_stack([-4 * np.sin(2 * T), -2.7 * np.cos(3 * T)])
    np.testing.assert_allclose(m.u[inside], u[inside], atol=1e-7)
    np.testing.assert_allclose(m.udot[inside], udot[inside], atol=1e-5)
    assert m.ignored == ("other",)
    assert "1 other columns left out" in repr(m)
    np.testing.assert_array_equal(m["hip_speed"], m.u[:, 0])
    assert m[3].t == T[3]
    assert len(m[2:5]) == 3
    assert m.energy().names == ("kinetic", "potential")


def test_units(system):
    degrees = np.column_stack([np.degrees(smooth()[:, 0]), smooth()[:, 1]])
    for t in (cd.Table(T, ["hip", "knee"], degrees, degrees=True),
              cd.Table(T, ["hip", "knee"], degrees * [1, 1000], ["deg", "mm"]),
              cd.Table(T, ["/jointset/a/hip/value", "/jointset/b/knee/value", "/jointset/b/knee/speed"],
                       np.column_stack([smooth(), T]), degrees=False)):
        np.testing.assert_allclose(cd.Motion.of(system, t).q, smooth(), rtol=0, atol=1e-15)
    with pytest.warns(UserWarning, match="nothing says whether hip is in degrees; taken as radians"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], smooth()))
    with pytest.raises(cd.DescriptionError, match="which is right"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], smooth(), ["rad", "m"], degrees=True))
    with pytest.raises(cd.DescriptionError, match="'knee' is in 'rad'; this coordinate has the unit m"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], smooth(), ["rad", "rad"]))


def test_a_coordinate_that_turns_and_slides_is_never_converted():
    """OpenSim's patella: its column is in radians or metres, as the file's author thinks of it."""
    system = cd.System()
    joint = cd.FunctionBased(("beta",), angles=(None, None, lambda q: q),
                             translations=(lambda q: 0.1 * q, None, None), units=("1",))
    system.add_body("patella", mobilizer=joint, mass=1.0, inertia=(1, 1, 1))
    for unit in ("1", "rad", "m"):
        q = cd.Motion.of(system, cd.Table(T, ["beta"], smooth()[:, :1], [unit])).q
        np.testing.assert_array_equal(q, smooth()[:, :1])
    with pytest.raises(cd.DescriptionError, match="'beta' is in 'deg'; this coordinate has the unit 1"):
        cd.Motion.of(system, cd.Table(T, ["beta"], smooth()[:, :1], ["deg"]))


def test_tables_that_contradict_constraints_are_told_of():
    """A column of zeros for a coordinate that follows another: least squares meet in the middle."""
    system = chain()
    system.add_constraint("follows", cd.constraints.CoordinateCoupler(lambda a, b: a - b, ("hip", "knee")))
    both = np.column_stack([smooth()[:, 0], smooth()[:, 0]])
    q = cd.Motion.of(system, cd.Table(T, ["hip", "knee"], both, ["rad", "m"])).q      # no warning
    np.testing.assert_allclose(q, both, rtol=0, atol=1e-12)  # they hold but for rounding
    with pytest.warns(RuntimeWarning, match=r"contradicts the constraints \(follows\).* move 'hip' by"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], both * [1, 0], ["rad", "m"]))


def test_what_cannot_be_is_named(system):
    with pytest.raises(cd.UnknownNameError, match=r"no column 'knee', a coordinate.* Is it 'kne'\?"):
        cd.Motion.of(system, cd.Table(T, ["hip", "kne"], smooth(), degrees=False))
    hole = smooth()
    hole[7, 1] = np.nan
    with pytest.raises(cd.ShapeError, match=r"'knee' is nan at t = 0.175 s \(row 7\)"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], hole, degrees=False))
    for time, words in ((T[::-1], "comes before it: sort"), (np.repeat(T[:41], 2)[:81], "occurs twice")):
        with pytest.raises(cd.ShapeError, match=words):
            cd.Motion.of(system, cd.Table(time, ["hip", "knee"], smooth(), degrees=False))
    with pytest.raises(cd.ShapeError, match="3 frames are too few"):
        cd.Motion.of(system, cd.Table(T[:3], ["hip", "knee"], smooth()[:3], degrees=False))
    whole = cd.Motion(system, T, smooth())
    for none in (whole[:0], whole[5:2], whole.table()[:0]):
        for study in (cd.inverse_dynamics, cd.joint_reactions, cd.induced_accelerations):
            with pytest.raises(cd.ShapeError, match="there are no frames"):
                study(system, none)
    with pytest.raises(cd.DescriptionError, match="read it by"):
        cd.Motion.of(system, "walk.mot")
    with pytest.raises(cd.DescriptionError, match="belongs to another system"):
        cd.Motion.of(chain(), cd.Motion(system, T, smooth()))


def test_low_pass(system):
    """A slow sine stays, a fast one goes; the ends hold; the change is reported. Uneven times do the same."""
    slow, fast = np.sin(2 * np.pi * 0.5 * T), 0.1 * np.sin(2 * np.pi * 12 * T)
    q = np.column_stack([slow + fast, 0 * T])
    made = cd.Motion.of(system, cd.Table(T, ["hip", "knee"], q, degrees=False), lowpass=4)
    assert abs(made.q[:, 0] - slow)[8:-8].max() < 3e-3       # (12 / 4)^-6 of 0.1, and (0.5 / 4)^6 of 1
    change = made.changes["hip"]
    np.testing.assert_allclose(change.rms, 0.1 / np.sqrt(2), rtol=0.05)
    assert change.unit == "rad"
    assert "low-pass filter of 4 Hz changed hip by up to" in made.status
    assert made.changes["knee"].largest == 0
    t = T + 0.004 * np.sin(40 * T)
    q = np.column_stack([np.sin(np.pi * t) + 0.1 * np.sin(24 * np.pi * t), 0 * T])
    made = cd.Motion.of(system, cd.Table(t, ["hip", "knee"], q, degrees=False), lowpass=4)
    assert abs(made.q[:, 0] - np.sin(np.pi * t))[8:-8].max() < 5e-3
    with pytest.raises(cd.DescriptionError, match="below half of the 40 frames per second"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], q, degrees=False), lowpass=20)


def test_low_pass_is_opensims():
    """What OpenSim 4.6 gives for these numbers, Storage.pad(n / 2), then lowpassIIR(6)."""
    t = np.arange(41) / 64
    x = np.sin(3 * t) + 0.1 * np.sin(60 * t) + t
    expected = [-2.22299716e-04, 3.06034067e-01, 6.08219474e-01, 8.85379199e-01, 1.11815931e+00,
                1.30776022e+00, 1.45530940e+00, 1.55223517e+00, 1.55951288e+00]
    np.testing.assert_allclose(low_pass(t, x[:, None], 6.0, reflected=True)[::5, 0], expected, rtol=0,
                               atol=5e-9)                  # digits


def test_quaternions():
    """A free body that turns about a fixed axis: u and udot are the rate and its derivative about it."""
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1, inertia=(1, 2, 3))
    axis, angle = np.array([2, -1, 2]) / 3, 3 * np.sin(T)
    q = np.column_stack([np.cos(angle / 2), np.sin(angle / 2)[:, None] * axis, T[:, None] ** [2, 3, 1]])
    q[30:, :4] *= -1                                        # the same rotations
    m = cd.Motion.of(system, cd.Table(T, system.coordinates, q, ["1"] * 4 + ["m"] * 3))
    inside = slice(15, -15)
    np.testing.assert_allclose(m.u[inside, :3], (3 * np.cos(T)[:, None] * axis)[inside], atol=1e-6)
    np.testing.assert_allclose(m.udot[inside, :3], (-3 * np.sin(T)[:, None] * axis)[inside], atol=1e-4)
    np.testing.assert_allclose(m.udot[inside, 4], 6 * T[inside], atol=1e-7)


def coupled() -> cd.System:
    system = chain()
    system.add_body("patella", "shank", cd.Pin(), mass=0.1, inertia=(1, 1, 1))
    rides = cd.constraints.CoordinateCoupler(lambda p, h: p - h * h - 0.2, ["patella", "hip"])
    system.add_constraint("rides", rides)
    return system


def test_constraints_give_what_the_table_does_not_have():
    system = coupled()
    m = cd.Motion.of(system, cd.Table(T, ["hip", "knee"], smooth(), degrees=False))
    h, hd, hdd = np.sin(2 * T), 2 * np.cos(2 * T), -4 * np.sin(2 * T)
    assert m.filled == ("patella",)
    np.testing.assert_allclose(m.q[:, 2], h ** 2 + 0.2, atol=1e-9)
    np.testing.assert_allclose(m.u[:, 2], 2 * h * m.u[:, 0], atol=1e-9)
    np.testing.assert_allclose(m.udot[:, 2], 2 * m.u[:, 0] ** 2 + 2 * h * m.udot[:, 0], atol=1e-9)
    np.testing.assert_allclose(m.udot[15:-15, 2], (2 * hd ** 2 + 2 * h * hdd)[15:-15], atol=1e-4)
    with pytest.raises(cd.UnknownNameError, match="no column 'knee'"):
        cd.Motion.of(system, cd.Table(T, ["hip", "patella"], smooth(), degrees=False))


def test_locks_and_motions_give_what_the_table_does_not_have():
    system = chain()
    system.add_body("wheel", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1),
                    motion=cd.Prescribed(position=lambda t: t * t))
    state = system.state(q={"knee": 0.7}, locked={"knee": "position"})
    m = cd.Motion.of(system, cd.Table(T, ["hip"], smooth()[:, :1], degrees=False), state=state)
    np.testing.assert_array_equal(m.q[:, 1], 0.7)
    np.testing.assert_allclose(m.q[:, 2], T * T)
    np.testing.assert_allclose(m.udot[:, 2], 2, atol=1e-8)


def test_a_run_is_a_motion(system):
    run = cd.simulate(system, system.state(q={"hip": 1.0}), 0.5, accuracy=1e-6)
    tau = cd.inverse_dynamics(system, run)
    np.testing.assert_allclose(tau.values, 0, atol=1e-12)    # nothing else acts
    assert len(tau) == len(run)


@pytest.mark.parametrize("n", [4, 7, 8, 30, 60, 61, 62, 63, 64, 150])
def test_even_times_have_the_same_spline(n):
    """Equations for equal steps against SciPy's for any; rounding."""
    t, x = np.linspace(0.3, 1.7, n), np.random.default_rng(n).normal(size=(n, 3))
    made = spline(t, x)
    for nu, found in enumerate(rates(t, x), 1):
        np.testing.assert_allclose(found, made(t, nu), rtol=0, atol=1e-12 * abs(made(t, nu)).max())


def test_rows_of_opensims_tools():
    """Rounded times at 60 Hz: OpenSim brings them to its smallest step, and pads. What Storage.pad(75 // 2),
    then lowpassIIR(6) of OpenSim 4.6 give is reproduced in the reference data; here its definition."""
    t = np.round(np.arange(75) / 60, 3)
    x = np.sin(5 * t) + 0.01 * np.sin(200 * t)
    made = cd.low_pass(cd.Table(t, ["knee"], x[:, None], ["rad"]), 6.0, as_opensim=True)
    np.testing.assert_allclose(np.diff(made.time), 0.016, rtol=0, atol=1e-14)
    assert made.time[0] == 2 * t[0] - t[37] and made.time[-1] <= 2 * t[-1] - t[-38] + 1e-12
    inner = (made.time > 0.2) & (made.time < 1.0)
    np.testing.assert_allclose(made["knee"][inner], np.sin(5 * made.time[inner]), rtol=0, atol=2e-3)
    plain = cd.low_pass(cd.Table(t, ["knee"], x[:, None], ["rad"]), 6.0)
    np.testing.assert_array_equal(plain.time, t)
    assert "changed knee by up to" in str(plain.status)
    high, highest = (cd.low_pass(cd.Table(t, ["knee"], x[:, None]), f, as_opensim=True)
                     for f in (40.0, 0.49 / 0.016))
    np.testing.assert_allclose(high.values, highest.values, atol=1e-9)  # 0.49 of the frames per second
    assert "0.49 of them is taken" in str(high.status)
    with pytest.raises(cd.ShapeError, match="'knee' is nan at t = 0 s"):
        cd.low_pass(cd.Table(t[:10], ["knee"], np.full((10, 1), np.nan)), 6.0)


def test_columns_of_coordinates_that_follow():
    """They are not read; if they say something else than what follows, a warning says so."""
    system = cd.System()
    own = {"mass": 1.0, "inertia": (1, 1, 1)}
    system.add_body("tibia", mobilizer=cd.Pin(), coordinates="knee", **own)
    half = cd.Coupled(cd.Pin(), "knee", lambda q: 0.5 * q, own=("patella_angle",))
    system.add_body("patella", mobilizer=half, follows="tibia", **own)
    t = np.linspace(0, 1, 30)
    knee = 40 * np.sin(3 * t)
    names = ["/jointset/patella/patella_angle/value", "knee"]
    table = lambda patella: cd.Table(t, names, np.column_stack([patella, knee]), degrees=True)
    agreed = cd.Motion.of(system, table(0.5 * knee))         # warnings are errors here
    with pytest.warns(UserWarning, match="patella_angle' of body 'patella' follows knee"):
        other = cd.Motion.of(system, table(0.5 * knee + 1.0))
    assert agreed.ignored == other.ignored == (names[0],)
    np.testing.assert_array_equal(agreed.q, other.q)


@pytest.mark.skipif(not GAIT.exists(), reason="needs ../shared/reference")
def test_inputs_of_opensims_inverse_dynamics(evidence):
    """q, u and udot of a walking trial as OpenSim's tool takes them, filtered at 6 Hz. 1e-10: udot of up to
    109 rad/s^2 from second differences of steps of 0.016 s, eps 1 / 0.016^2 100."""
    table = cd.read_table(GAIT / "IK/subject01_walk_IK.mot")
    scale = [1.0 if name in ("pelvis_tx", "pelvis_ty") else np.pi / 180 for name in table.names]
    made = cd.low_pass(cd.Table(table.time, table.names, table.values * scale), 6.0, as_opensim=True)
    expected = cd.read_table(GAIT / "ID/id_inputs_q_u_udot_filter6Hz.csv")
    rows = np.searchsorted(made.time, expected.time - 1e-6)[:len(expected)]
    np.testing.assert_allclose(made.time[rows], expected.time, rtol=0, atol=1e-12)
    found = [made.values, *rates(made.time, made.values)]
    worst = max(abs(x[rows] - expected[[name + end for name in table.names]].values).max()
                for x, end in zip(found, ("", "_u", "_udot")))
    evidence("coordinates, speeds, accelerations of a walk, filtered as OpenSim's tools do [rad, m, s]",
             worst, 1e-10)
    assert worst < 1e-10
