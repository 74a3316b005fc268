"""Motion: from a Table of coordinates to speeds and accelerations."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.studies.motion.spline_rates import rates, spline
from condyle.studies.prescribed_forces import at_times
from condyle.table.filters import _two_passes
from condyle.table.filters import filtered as low_pass

T = np.linspace(0, 2, 81)
GAIT = Path(__file__).parents[4] / "shared/reference/gait10dof18musc_pipeline"


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
    m = cd.Motion.of(
        system,
        cd.Table(
            T,
            ["knee", "other", "hip"],
            np.column_stack([smooth()[:, 1], T, smooth()[:, 0]]),
            ["m", "", "rad"],
        ),
    )
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
    for t in (
        cd.Table(T, ["hip", "knee"], degrees, degrees=True),
        cd.Table(T, ["hip", "knee"], degrees * [1, 1000], ["deg", "mm"]),
        cd.Table(
            T,
            ["/jointset/a/hip/value", "/jointset/b/knee/value", "/jointset/b/knee/speed"],
            np.column_stack([smooth(), T]),
            degrees=False,
        ),
    ):
        np.testing.assert_allclose(cd.Motion.of(system, t).q, smooth(), rtol=0, atol=1e-15)
    with pytest.warns(UserWarning, match="nothing says whether hip is in degrees; taken as radians"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], smooth()))
    with pytest.raises(cd.errors.DescriptionError, match="which is right"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], smooth(), ["rad", "m"], degrees=True))
    with pytest.raises(
        cd.errors.DescriptionError, match="'knee' is in 'rad'; this coordinate has the unit m"
    ):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], smooth(), ["rad", "rad"]))


def test_a_coordinate_that_turns_and_slides_is_never_converted():
    """OpenSim's patella: its column is in radians or meters, as the file's author thinks of it."""
    system = cd.System()
    joint = cd.FunctionBased(
        ("beta",),
        angles=(None, None, lambda q: q),
        translations=(lambda q: 0.1 * q, None, None),
        units=("1",),
    )
    system.add_body("patella", mobilizer=joint, mass=1.0, inertia=(1, 1, 1))
    for unit in ("1", "rad", "m"):
        q = cd.Motion.of(system, cd.Table(T, ["beta"], smooth()[:, :1], [unit])).q
        np.testing.assert_array_equal(q, smooth()[:, :1])
    with pytest.raises(
        cd.errors.DescriptionError, match="'beta' is in 'deg'; this coordinate has the unit 1"
    ):
        cd.Motion.of(system, cd.Table(T, ["beta"], smooth()[:, :1], ["deg"]))


def test_tables_that_contradict_constraints_are_told_of():
    """A column of zeros for a coordinate that follows another: least squares meet in the middle."""
    system = chain()
    system.add_constraint("follows", cd.constraints.CoordinateCoupler(lambda a, b: a - b, ("hip", "knee")))
    both = np.column_stack([smooth()[:, 0], smooth()[:, 0]])
    q = cd.Motion.of(system, cd.Table(T, ["hip", "knee"], both, ["rad", "m"])).q  # no warning
    np.testing.assert_allclose(q, both, rtol=0, atol=1e-12)  # they hold but for rounding
    with pytest.warns(RuntimeWarning, match=r"contradicts the constraints \(follows\).* move 'hip' by"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], both * [1, 0], ["rad", "m"]))


def test_what_cannot_be_is_named(system):
    with pytest.raises(cd.errors.UnknownNameError, match=r"no column 'knee', a coordinate.* Is it 'kne'\?"):
        cd.Motion.of(system, cd.Table(T, ["hip", "kne"], smooth(), degrees=False))
    hole = smooth()
    hole[7, 1] = np.nan
    with pytest.raises(cd.errors.ShapeError, match=r"'knee' is nan at t = 0.175 s \(row 7\)"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], hole, degrees=False))
    for time, words in ((T[::-1], "comes before it: sort"), (np.repeat(T[:41], 2)[:81], "occurs twice")):
        with pytest.raises(cd.errors.ShapeError, match=words):
            cd.Motion.of(system, cd.Table(time, ["hip", "knee"], smooth(), degrees=False))
    with pytest.raises(cd.errors.ShapeError, match="3 frames are too few"):
        cd.Motion.of(system, cd.Table(T[:3], ["hip", "knee"], smooth()[:3], degrees=False))
    whole = cd.Motion(system, T, smooth())
    for none in (whole[:0], whole[5:2], whole.table()[:0]):
        for study in (cd.inverse_dynamics, cd.joint_reactions, cd.induced_accelerations):
            with pytest.raises(cd.errors.ShapeError, match="there are no frames"):
                study(system, none)
    with pytest.raises(cd.errors.DescriptionError, match="read it with"):
        cd.Motion.of(system, "walk.mot")
    with pytest.raises(cd.errors.DescriptionError, match="belongs to another system"):
        cd.Motion.of(chain(), cd.Motion(system, T, smooth()))


def test_low_pass(system):
    """A slow sine stays, a fast one goes; the ends hold; the change is reported. Uneven times do the same."""
    slow, fast = np.sin(2 * np.pi * 0.5 * T), 0.1 * np.sin(2 * np.pi * 12 * T)
    q = np.column_stack([slow + fast, 0 * T])
    made = cd.Motion.of(system, cd.Table(T, ["hip", "knee"], q, degrees=False), lowpass=4)
    assert abs(made.q[:, 0] - slow)[8:-8].max() < 3e-3  # (12 / 4)^-6 of 0.1, and (0.5 / 4)^6 of 1
    change = made.changes["hip"]
    np.testing.assert_allclose(change.rms, 0.1 / np.sqrt(2), rtol=0.05)
    assert change.unit == "rad"
    assert "low-pass filter of 4 Hz changed hip by up to" in made.status
    assert made.changes["knee"].largest == 0
    t = T + 0.004 * np.sin(40 * T)
    q = np.column_stack([np.sin(np.pi * t) + 0.1 * np.sin(24 * np.pi * t), 0 * T])
    made = cd.Motion.of(system, cd.Table(t, ["hip", "knee"], q, degrees=False), lowpass=4)
    assert abs(made.q[:, 0] - np.sin(np.pi * t))[8:-8].max() < 5e-3
    with pytest.raises(cd.errors.DescriptionError, match="below half of the 40 frames per second"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], q, degrees=False), lowpass=20)


def test_low_pass_is_opensims():
    """What OpenSim 4.6 gives for these numbers, Storage.pad(n / 2), then lowpassIIR(6)."""
    t = np.arange(41) / 64
    x = np.sin(3 * t) + 0.1 * np.sin(60 * t) + t
    expected = [
        -2.22299716e-04,
        3.06034067e-01,
        6.08219474e-01,
        8.85379199e-01,
        1.11815931e00,
        1.30776022e00,
        1.45530940e00,
        1.55223517e00,
        1.55951288e00,
    ]
    np.testing.assert_allclose(
        low_pass(t, x[:, None], 6.0, reflected=True)[::5, 0], expected, rtol=0, atol=5e-9
    )  # digits


def test_quaternions():
    """A free body that turns about a fixed axis: u and udot are the rate and its derivative about it."""
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), mass=1, inertia=(1, 2, 3))
    axis, angle = np.array([2, -1, 2]) / 3, 3 * np.sin(T)
    q = np.column_stack([np.cos(angle / 2), np.sin(angle / 2)[:, None] * axis, T[:, None] ** [2, 3, 1]])
    q[30:, :4] *= -1  # the same rotations
    m = cd.Motion.of(system, cd.Table(T, system.coordinates, q, ["1"] * 4 + ["m"] * 3))
    inside = slice(15, -15)
    np.testing.assert_allclose(m.u[inside, :3], (3 * np.cos(T)[:, None] * axis)[inside], atol=1e-6)
    np.testing.assert_allclose(m.udot[inside, :3], (-3 * np.sin(T)[:, None] * axis)[inside], atol=1e-4)
    np.testing.assert_allclose(m.udot[:, 4], 6 * T, atol=1e-7)
    names, units = system.coordinates, ["1"] * 4 + ["m"] * 3
    same = np.where(np.arange(81)[:, None] < 30, q, np.column_stack([-q[:, :4], q[:, 4:]]))
    once, filtered = (cd.Motion.of(system, cd.Table(T, names, x, units), lowpass=4) for x in (same, q))
    np.testing.assert_allclose(filtered.udot, once.udot, rtol=0, atol=1e-9)  # the filter sees no signs
    with pytest.warns(UserWarning, match="have the length 2 at t = 0 s, and are divided by it"):
        twice = cd.Motion.of(system, cd.Table(T, names, q * [2, 2, 2, 2, 1, 1, 1], units))
    np.testing.assert_allclose(twice.udot, m.udot, rtol=0, atol=1e-9)
    with pytest.raises(cd.errors.ShapeError, match="are zero at t = 0 s: a quaternion has length one"):
        cd.Motion.of(system, cd.Table(T, names, q * [0, 0, 0, 0, 1, 1, 1], units))


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
    np.testing.assert_allclose(m.q[:, 2], h**2 + 0.2, atol=1e-9)
    np.testing.assert_allclose(m.u[:, 2], 2 * h * m.u[:, 0], atol=1e-9)
    np.testing.assert_allclose(m.udot[:, 2], 2 * m.u[:, 0] ** 2 + 2 * h * m.udot[:, 0], atol=1e-9)
    np.testing.assert_allclose(m.udot[15:-15, 2], (2 * hd**2 + 2 * h * hdd)[15:-15], atol=1e-4)
    with pytest.raises(cd.errors.UnknownNameError, match="no column 'knee'"):
        cd.Motion.of(system, cd.Table(T, ["hip", "patella"], smooth(), degrees=False))


def test_locks_and_motions_give_what_the_table_does_not_have():
    system = chain()
    system.add_body(
        "wheel", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1), motion=cd.Prescribed(position=lambda t: t * t)
    )
    state = system.state(q={"knee": 0.7}, locked={"knee": "position"})
    m = cd.Motion.of(system, cd.Table(T, ["hip"], smooth()[:, :1], degrees=False), state=state)
    np.testing.assert_array_equal(m.q[:, 1], 0.7)
    np.testing.assert_allclose(m.q[:, 2], T * T)
    np.testing.assert_allclose(m.udot[:, 2], 2, atol=1e-8)


def test_a_run_is_a_motion(system):
    run = cd.simulate(system, system.state(q={"hip": 1.0}), 0.5, accuracy=1e-6)
    tau = cd.inverse_dynamics(system, run)
    np.testing.assert_allclose(tau.values, 0, atol=1e-12)  # nothing else acts
    assert len(tau) == len(run)


def uneven(n: int, ratio: float) -> np.ndarray:
    return np.cumsum(np.exp(np.random.default_rng(n).uniform(0, np.log(ratio), n))) / 100


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9, 30, 150])
@pytest.mark.parametrize("ratio", [1, 3, 60])  # 60: beyond what machine code takes
def test_ends_follow_polynomials(n, ratio):
    """Of degree 5, or as many as points determine: exact rates in all rows, but for rounding over step^2."""
    t = uneven(n, ratio)
    P = np.polynomial.Polynomial(np.random.default_rng(n).normal(size=min(n, 6)), domain=[0, t[-1]])
    for nu, found in enumerate(rates(t, P(t)[:, None]), 1):
        exact = P.deriv(nu)(t)
        np.testing.assert_allclose(found[:, 0], exact, rtol=0, atol=1e-9 * abs(exact).max())


@pytest.mark.parametrize("ratio", [1, 3])
def test_ends_are_those_of_scipys_spline(ratio):
    """Given the derivatives at both ends of polynomials that NumPy fits to the eight outermost rows."""
    from scipy.interpolate import make_interp_spline

    t, x = uneven(40, ratio), np.random.default_rng(0).normal(size=(40, 3))

    def end(rows: slice, origin: float) -> list:
        fits = [np.polynomial.Polynomial.fit(t[rows] - origin, y, 5) for y in x[rows].T]
        return [(j, np.array([P.deriv(j)(0.0) for P in fits])) for j in (3, 4)]

    made = make_interp_spline(t, x, 5, bc_type=(end(slice(8), t[0]), end(slice(-8, None), t[-1])))
    for nu, found in enumerate(rates(t, x), 1):
        np.testing.assert_allclose(found, made(t, nu), rtol=0, atol=1e-10 * abs(found).max())  # conditioning
    for nu, found in enumerate(rates(t, x, natural=True), 1):
        np.testing.assert_allclose(found, spline(t, x)(t, nu), rtol=0, atol=1e-12 * abs(found).max())


def test_ends_of_sines_and_of_noise():
    """A sine of 30 rows a period: accelerations of the first row are within 1 % (14 % by natural splines);
    noise there is at most 2.1 times as large as elsewhere."""
    t, phases = np.arange(60) / 30, np.linspace(0, 6, 20)
    x = np.sin(2 * np.pi * t[:, None] + phases)
    wrong = [abs(rates(t, x, natural=natural)[1] / (2 * np.pi) ** 2 + x).max() for natural in (False, True)]
    assert wrong[0] < 0.01 and wrong[1] > 0.1
    gain = np.linalg.norm(rates(t, np.eye(60))[1], axis=1)
    assert gain.max() < 2.1 * gain[30]


def test_frames_near_the_ends_are_named(system):
    table = cd.Table(T, ["hip", "knee"], smooth(), degrees=False)
    whole = cd.Motion.of(system, table)
    np.testing.assert_array_equal(np.flatnonzero(whole.end_rows), [0, 1, 2, 3, 77, 78, 79, 80])
    assert whole[2:10].end_rows.sum() == 2
    row = cd.inverse_dynamics(system, table).quality["frames whose accelerations depend on the ends"]
    assert (row.value, row.where, row.verdict) == (8, "before 0.1 s and after 1.9 s", "note")
    assert cd.Motion.of(system, table, lowpass=2).end_rows.sum() == 2 * 20  # a period of the filter, 40 / 2
    assert not cd.Motion.of(system, cd.simulate(system, system.state(), 0.1)).end_rows.any()


def test_as_opensim(system):
    table = cd.Table(T, ["hip", "knee"], smooth(), degrees=False)
    theirs = cd.Motion.of(system, table, as_opensim=True)
    np.testing.assert_allclose(theirs.udot, spline(T, smooth())(T, 2), rtol=0, atol=1e-9)  # rounding
    exact = np.column_stack([-4 * np.sin(2 * T), -2.7 * np.cos(3 * T)])
    assert abs(theirs.udot - exact).max() > 0.1
    assert abs(cd.Motion.of(system, table).udot - exact).max() < 2e-3  # 1e-3 of 2.7: 84 rows a period
    with pytest.raises(cd.errors.DescriptionError, match="how a Table is differentiated"):
        cd.Motion.of(system, theirs, as_opensim=True)


@pytest.mark.parametrize(
    ("rate", "digits"),
    [(120, 3), (119.88, 3), (60, 2), (59.94, 3), (240, 3), (512, 3), (90, 2), (60, 4), (128, 4)],
)
def test_rounded_times_are_even(system, rate, digits):
    """Accelerations of rounded times are those of exact ones: they were off by as much as themselves, or
    more. 2e-3: the step is known to some 1e-4 from 150 rounded times, and its square counts."""
    t = 0.37 + np.arange(150) / rate
    x = smooth(4 * t)
    exact, rounded = (
        cd.Motion.of(system, cd.Table(time, ["hip", "knee"], x, degrees=False))
        for time in (t, np.round(t, digits))
    )
    assert abs(rounded.udot - exact.udot).max() < 2e-3 * abs(exact.udot).max()
    as_they_stand = rates(rounded.t, x)[1]
    assert abs(as_they_stand - exact.udot).max() > 0.02 * abs(exact.udot).max()
    np.testing.assert_array_equal(rounded.t, np.round(t, digits))  # labels stay
    assert f"rounded to {10.0**-digits:g} s taken as even" in rounded.status
    assert not exact.notes
    straight = cd.Motion(system, np.round(t, digits), x)
    np.testing.assert_array_equal(straight.udot, rounded.udot)


@pytest.mark.parametrize("rows", [7, 67, 300])
def test_passes_of_the_filter_against_scipy(rows: int) -> None:
    """A recursion and products of blocks; numbers of the filter are those of a design by poles."""
    from scipy.signal import butter, lfilter, lfiltic

    expected = given = np.cumsum(np.random.default_rng(rows).normal(size=(rows, 3)), axis=0)
    b, a = butter(3, 6.0, fs=50.0)
    for _ in range(2):
        memory = np.stack([lfiltic(b, a, c, c) for c in expected[2::-1].T], axis=1)
        after = lfilter(b, a, expected[3:], axis=0, zi=memory)[0]
        expected = np.concatenate([expected[:3], after])[::-1]
    assert abs(_two_passes(given, 6.0, 50.0) - expected).max() < 1e-13 * abs(given).max()  # rounding


def test_rounded_times_are_filtered_as_even_ones(system):
    t = np.arange(120) / 120
    x = smooth(4 * t)
    exact, rounded = (
        cd.Motion.of(system, cd.Table(time, ["hip", "knee"], x, degrees=False), lowpass=6)
        for time in (t, np.round(t, 3))
    )
    np.testing.assert_allclose(rounded.q, exact.q, rtol=0, atol=1e-4)  # the rate is known to 1e-5
    alike = [cd.low_pass(cd.Table(time, ["hip", "knee"], x), 6.0).values for time in (t, np.round(t, 3))]
    np.testing.assert_allclose(*alike, rtol=0, atol=1e-4)


@pytest.mark.parametrize("lost", [[70], [20, 21, 99], range(40, 43)])
def test_rounded_times_with_lost_rows(system, lost):
    """Accelerations were off by as much as themselves. 5e-3: as above, and frames beside the gap."""
    t = np.delete(0.37 + np.arange(150) / 120, lost)
    exact, rounded = (
        cd.Motion.of(system, cd.Table(time, ["hip", "knee"], smooth(4 * t), degrees=False))
        for time in (t, np.round(t, 3))
    )
    assert abs(rounded.udot - exact.udot).max() < 5e-3 * abs(exact.udot).max()
    assert abs(rates(rounded.t, smooth(4 * t))[1] - exact.udot).max() > 0.2 * abs(exact.udot).max()


@pytest.mark.parametrize(
    "t",
    [
        np.delete(np.arange(100) / 100, 40),  # a row was lost
        np.delete(np.arange(1000) / 1000, 400),  # the same, whose steps are the last digit
        np.arange(50) / 50 + 0.004 * np.sin(np.arange(50)),  # measured, not rounded
        np.cumsum(np.tile([0.008, 0.012, 0.009], 20)),  # no rounding of an even grid
    ],
)
def test_uneven_times_stay(system, t):
    table = cd.Table(t, ["hip", "knee"], smooth(t), degrees=False)
    m = cd.Motion.of(system, table)
    assert not m.notes
    np.testing.assert_array_equal(m.udot, rates(t, smooth(t))[1])


def test_times_of_single_precision(system):
    t = (7.0 + np.arange(300) / 1000).astype(np.float32).astype(float)
    x = smooth(np.arange(300) / 250)
    exact = rates(np.arange(300) / 1000, x)[1]
    m = cd.Motion.of(system, cd.Table(t, ["hip", "knee"], x, degrees=False))
    assert abs(m.udot - exact).max() < 1e-3 * abs(exact).max()  # the rate is known to 1e-5


def test_times_that_cannot_be(system):
    t = np.round(np.arange(60) / 120, 2)
    with pytest.raises(cd.errors.ShapeError, match=r"these times are rounded to 0.01 s; write more digits"):
        cd.Motion.of(system, cd.Table(t, ["hip", "knee"], smooth(t), degrees=False))
    t = np.delete(np.arange(100) / 100, slice(40, 60))
    with pytest.warns(UserWarning, match=r"motion: no rows from t = 0.39 to 0.6 s, others are 0.01 s apart"):
        cd.Motion.of(system, cd.Table(t, ["hip", "knee"], smooth(t), degrees=False))
    with pytest.warns(UserWarning, match=r"low_pass: no rows from t = 0.39 to 0.6 s"):
        cd.low_pass(cd.Table(t, ["hip", "knee"], smooth(t)), 6.0)


@pytest.mark.parametrize("degrees", [True, False])
@pytest.mark.parametrize("least", [-180, 0])
@pytest.mark.parametrize("lowpass", [None, 6.0])
def test_angles_that_wrap(system, degrees, least, lowpass):
    """At 180 or 360 degrees: the same motion but for whole turns. What slides is left alone."""
    hip, knee = 4.5 * T + np.sin(2 * T), 8 * (T > 1) * (T - 1) ** 3
    wrapped = (hip - np.radians(least)) % (2 * np.pi) + np.radians(least)
    assert abs(np.diff(wrapped)).max() > 6
    unit = 180 / np.pi if degrees else 1.0
    made, exact = (
        cd.Motion.of(
            system,
            cd.Table(T, ["hip", "knee"], np.column_stack([unit * x, knee]), degrees=degrees),
            lowpass=lowpass,
        )
        for x in (wrapped, hip)
    )
    np.testing.assert_allclose(made.udot, exact.udot, rtol=0, atol=1e-7)  # rounding over step^2
    np.testing.assert_allclose(made.q, exact.q, rtol=0, atol=1e-9)
    assert "1 jump of a whole turn taken out of hip" in made.status
    assert not exact.notes  # more than a turn, but nothing jumps
    alone = cd.Motion(system, T, np.column_stack([wrapped, knee]))
    np.testing.assert_allclose(alone.udot, rates(T, np.column_stack([hip, knee]))[1], rtol=0, atol=1e-7)


def test_what_turns_fast_or_slides_is_not_unwrapped(system):
    fast, far = 200 * T, np.where(T > 1, 6.5, 0.0)  # 5 rad a row; a jump of 6.5 m
    with pytest.warns(UserWarning, match="'knee' jumps by 6.5 m"):
        m = cd.Motion.of(system, cd.Table(T, ["hip", "knee"], np.column_stack([fast, far]), degrees=False))
    np.testing.assert_array_equal(m.q, np.column_stack([fast, far]))
    flips = np.where(T > 1, 3.0, 0.0) + 0.1 * np.sin(T)
    with pytest.warns(UserWarning, match=r"'hip' jumps by 3 rad between t = 1 and 1.025 s \(row 41\)"):
        cd.Motion.of(system, cd.Table(T, ["hip", "knee"], np.column_stack([flips, 0 * T]), degrees=False))


def test_wraps_end_in_the_coordinates_range():
    system = cd.System()
    system.add_body(
        "wheel",
        mobilizer=cd.Pin(),
        mass=1,
        inertia=(1, 1, 1),
        coordinates=cd.Coordinate("wheel", range=(-1.0, 1.0)),
    )
    x = 0.5 * np.sin(3 * T)
    m = cd.Motion.of(system, cd.Table(T, ["wheel"], (x[:, None] - 0.1) % (2 * np.pi), degrees=False))
    np.testing.assert_allclose(m.q[:, 0], x - 0.1, rtol=0, atol=1e-14)


def test_filters_of_tables_do_not_see_jumps():
    """Wraps in degrees, radians and unknown units, and signs of quaternions; forces keep their jumps."""
    hip = 3 * T + np.sin(2 * T)
    wrapped = (hip + np.pi) % (2 * np.pi) - np.pi
    for unit, degrees, factor in (
        ("deg", None, 180 / np.pi),
        ("rad", None, 1),
        ("", True, 180 / np.pi),
        ("", False, 1),
    ):
        found = cd.low_pass(cd.Table(T, ["hip"], factor * wrapped[:, None], [unit], degrees=degrees), 4.0)
        exact = cd.low_pass(cd.Table(T, ["hip"], factor * hip[:, None], [unit], degrees=degrees), 4.0)
        np.testing.assert_allclose(found.values, exact.values, rtol=0, atol=1e-10)
        assert "1 jump of a whole turn taken out of hip" in str(found.status)
    force = cd.Table(T, ["fy"], np.where(T > 1, 300.0, 0.0)[:, None], ["N"])
    assert "jump" not in str(cd.low_pass(force, 4.0).status)
    q = np.column_stack([T, np.cos(hip / 2), np.sin(hip / 2), 0 * T, 0 * T])
    flipped = q.copy()
    flipped[30:, 1:] *= -1
    flipped[50:, 1:] *= -1
    exact, found = (cd.low_pass(cd.Table(T, list("tabcd"), x), 4.0) for x in (q, flipped))
    np.testing.assert_allclose(found.values, exact.values, rtol=0, atol=1e-12)
    assert "quaternion a ..: 2 changes of sign taken out" in str(found.status)


@pytest.mark.parametrize(
    ("low", "high", "degrees"), [(0, 5, None), (0, 5, True), (0, 350, True), (-1, 1, None)]
)
def test_filters_leave_switches_and_forces(low, high, degrees):
    """Of unknown unit: 5 V are no turn of 6.28 rad, 350 N none of 360 degrees, and -1 no other sign of 1."""
    x = np.column_stack([0 * T, 0 * T, 0 * T, np.where(T > 1, high, low)])
    found = cd.low_pass(cd.Table(T, list("abcd"), x, degrees=degrees), 4.0)
    np.testing.assert_allclose(found["d"][[5, -5]], [low, high], rtol=0, atol=1e-3 * high)


@pytest.mark.parametrize("n", [41, 81])
def test_the_filter_follows_cubics_to_the_ends(n):
    """Butterworth twice leaves them as they are; 1e-6 of what six periods of the filter leave."""
    t = T[:n]
    x = np.column_stack([1 + t, t**2 - t**3])
    np.testing.assert_allclose(low_pass(t, x, 4.0), x, rtol=0, atol=1e-6)
    assert abs(low_pass(t, x, 4.0, reflected=True) - x).max() > 1e-3


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
    high, highest = (
        cd.low_pass(cd.Table(t, ["knee"], x[:, None]), f, as_opensim=True) for f in (40.0, 0.49 / 0.016)
    )
    np.testing.assert_allclose(high.values, highest.values, atol=1e-9)  # 0.49 of the frames per second
    assert "0.49 of them is taken" in str(high.status)
    with pytest.raises(cd.errors.ShapeError, match="'knee' is nan at t = 0 s"):
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
    agreed = cd.Motion.of(system, table(0.5 * knee))  # warnings are errors here
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
    rows = np.searchsorted(made.time, expected.time - 1e-6)[: len(expected)]
    np.testing.assert_allclose(made.time[rows], expected.time, rtol=0, atol=1e-12)
    found = [made.values, *rates(made.time, made.values, natural=True)]
    worst = max(
        abs(x[rows] - expected[[name + end for name in table.names]].values).max()
        for x, end in zip(found, ("", "_u", "_udot"))
    )
    evidence(
        "coordinates, speeds, accelerations of a walk, filtered as OpenSim's tools do [rad, m, s]",
        worst,
        1e-10,
    )
    assert worst < 1e-10


def test_frames_of_pandas_are_not_converted_twice(system):
    """np.radians of a frame in degrees was taken as degrees again: its attrs said so."""
    pytest.importorskip("pandas")
    frame = cd.Table(T, ["hip", "knee"], smooth() * [180 / np.pi, 1000], ["deg", "mm"]).to_pandas()
    np.testing.assert_allclose(cd.Motion.of(system, frame).q, smooth(), atol=1e-15)  # one rounding
    with pytest.raises(cd.errors.DescriptionError, match="numbers of hip, knee are not those"):
        cd.Motion.of(system, np.radians(frame))
    given = cd.Table.from_pandas(np.radians(frame[["hip"]]).join(frame[["knee"]]), units=["rad", "mm"])
    np.testing.assert_allclose(cd.Motion.of(system, given).q, smooth(), atol=1e-15)


def test_degrees_that_a_table_calls_radians_are_named():
    """By the ranges of coordinates, or because most angles go beyond a turn."""
    many = cd.System()
    for k in range(4):
        many.add_body(
            f"b{k}",
            f"b{k - 1}" if k else "ground",
            mobilizer=cd.Pin(),
            mass=1,
            inertia=(1, 1, 1),
            coordinates=f"a{k}",
        )
    table = cd.Table(T, many.coordinates, 30 * np.sin(T)[:, None] * [1, 2, -1, 0.1], degrees=False)
    with pytest.warns(
        UserWarning,
        match=r"3 of 4 angles go beyond a turn, to 60 rad: the table is likely in "
        r"degrees, but it says radians \(inDegrees=no\)\. If so, say it: "
        r"table\.with_units\(degrees=True\), or cd\.read_table",
    ):
        cd.Motion.of(many, table)
    with pytest.warns(UserWarning, match="but it does not say it, and was taken as radians") as said:
        cd.Motion.of(many, cd.Table(T, many.coordinates, table.values))
    assert len(said) == 1
    assert np.ptp(cd.Motion.of(many, table.with_units(degrees=True)).q) < 2
    wheels = table.with_units(["rad"] * 4)  # whoever says rad may mean many turns
    cd.Motion.of(many, wheels)
    cd.Motion.of(many, cd.Table(T, many.coordinates, table.values * [1, 1, 0.01, 1], degrees=False))


DOUBLED = np.insert(T, [40, 60], T[[40, 60]])
"""Times with two events."""


def test_rows_before_and_after_events(system, tmp_path):
    """A run with events goes through files and into studies; the row after the event counts."""
    q = smooth(DOUBLED)
    table = cd.Table(
        DOUBLED, ["hip", "knee", "hip_speed"], np.column_stack([q, DOUBLED**2]), ["rad", "m", "rad/s"]
    )
    for ending in ("csv", "sto", "mot", "npz"):
        table.save(tmp_path / f"a.{ending}")
        again = cd.read_table(tmp_path / f"a.{ending}")
        np.testing.assert_array_equal(again.values, table.values)
        np.testing.assert_array_equal(again.time, DOUBLED)
    with pytest.warns(UserWarning, match="motion: 2 rows have the time of the next one, the first at 1 s"):
        motion = cd.Motion.of(system, again)
    plain = cd.Motion.of(system, cd.Table(T, ["hip", "knee"], smooth(), ["rad", "m"]))
    for name in ("t", "q", "u", "udot"):
        np.testing.assert_array_equal(getattr(motion, name), getattr(plain, name))
    with pytest.warns(UserWarning, match="low_pass: 2 rows"):
        assert len(cd.low_pass(table, 6)) == len(T)
    jumping = cd.Table(DOUBLED, ["hip", "knee"], q + np.arange(len(q))[:, None] * 1e-3, ["rad", "m"])
    with pytest.raises(
        cd.errors.ShapeError,
        match=r"time\[40\] = 1 s occurs twice, and 'hip' is .* cut the table "
        r"there: table\[:41\] and table\[41:\]",
    ):
        cd.Motion.of(system, jumping)


def test_forces_jump_at_events():
    """Linear between rows; at the instant the row after the event, or both for a motion that has both."""
    table = cd.Table([0, 1, 1, 2], ["f"], [[0], [1], [5], [6]], ["N"])
    np.testing.assert_array_equal(
        at_times("forces", table, np.array([0, 0.5, 1, 1.5]))[:, 0], [0, 0.5, 5, 5.5]
    )
    np.testing.assert_array_equal(
        at_times("forces", table, np.array([0.5, 1, 1, 2, 2]))[:, 0], [0.5, 1, 5, 6, 6]
    )
    with pytest.warns(UserWarning, match="ExternalLoad on 'foot': 1 row has the time of the next"):
        load = cd.ExternalLoad("foot", cd.Table([0, 1, 1, 2], ["fx", "fy", "fz"], np.ones((4, 3))), force="f")
    assert list(load.table.time) == [0, 1, 2]


def test_a_run_with_events_is_a_table_and_a_motion(system, tmp_path):
    def kick(state):
        return state.replace(u=state.u + [0.5, 0.1])

    run = cd.simulate(system, system.state(q=[0.1, 0.2]), 0.2, events=cd.Event(at=[0.1], action=kick))
    run.table().save(tmp_path / "run.sto")
    again = cd.read_table(tmp_path / "run.sto")
    np.testing.assert_array_equal(again.time, run.t)
    assert (np.diff(run.t) == 0).sum() == 1
    np.testing.assert_array_equal(again.values, run.table().values)
    with pytest.warns(UserWarning, match="as events leave them; the row after the event counts"):
        motion = cd.Motion.of(system, again)
    assert len(motion) == len(run) - 1


def test_rows_that_repeat_the_one_before(system):
    """Every second row of an upsampled recording repeats one; a few repeats in a recording at rest do not count."""
    x = smooth(np.linspace(0, 2, 201))
    twice = np.repeat(x[::2], 2, axis=0)[:201]
    few = x.copy()
    few[[20, 60, 100]] = few[[19, 59, 99]]
    tables = [cd.Table(np.linspace(0, 2, 201), ["hip", "knee"], y, ["rad", "m"]) for y in (twice, few)]
    with pytest.warns(UserWarning, match="motion: 99 times a row begins to repeat"):
        cd.Motion.of(system, tables[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cd.Motion.of(system, tables[1])
