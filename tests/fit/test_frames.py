"""Sequences: every frame as if assembled by itself, missing targets, failures that stay where they are,
speeds, interrupts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import condyle as cd
from condyle.fit.frames import Frames
from condyle.studies.assemble import follow
from tests.fit.test_assemble import arm
from tests.verification import mechanisms

G = cd.goals
T = 60
TIMES = np.linspace(0.0, 1.2, T)


def walker() -> tuple[cd.System, np.ndarray, list[tuple[str, np.ndarray]]]:
    """A free trunk with a ball and a pin below it, a smooth motion q (T, nq), and stations on all of it."""
    system = cd.System()
    for name, parent, joint, at in (
        ("trunk", "ground", cd.Free(), (0, 0, 0)),
        ("thigh", "trunk", cd.Ball(), (0, -0.3, 0.1)),
        ("shank", "thigh", cd.Pin(), (0, -0.4, 0)),
    ):
        system.add_body(name, parent, joint, X_PF=at, mass=1.0, inertia=(1, 1, 1))
    phase = np.arange(system.nu)
    q = np.empty((T, system.nq))
    q[0] = system.defaults()[0]
    dt = TIMES[1] - TIMES[0]
    for k in range(1, T):
        middle = q[k - 1] + dt / 2 * system.qdot(q[k - 1], np.cos(4 * TIMES[k - 1] + phase))
        q[k] = system.compiled.normalized(
            q[k - 1] + dt * system.qdot(middle, np.cos(4 * TIMES[k - 1] + 2 * dt + phase))
        )
    stations = [
        (b, np.array(p))
        for b in ("trunk", "thigh", "shank")
        for p in ((0.2, 0, 0), (0, -0.2, 0.1), (0.1, 0, -0.2))
    ]
    return system, q, stations


@pytest.fixture(scope="module")
def walk() -> tuple[cd.System, np.ndarray, list[tuple[str, np.ndarray]]]:
    return walker()


def markers(system, q, stations, noise=0.0, seed=0, **more) -> list[G.Station]:
    rng = np.random.default_rng(seed)
    return [
        G.Station(
            b,
            p,
            system.station_position(q, b, p) + noise * rng.normal(size=(len(q), 3)),
            name=f"m{i}",
            **more,
        )
        for i, (b, p) in enumerate(stations)
    ]


def test_a_motion_is_found_again(walk):
    system, q, stations = walk
    frames = cd.assemble_frames(system, system.state(q=q[0]), markers(system, q, stations), t=TIMES)
    assert frames.status == "finished"
    summary = frames.summary(-1)
    assert summary.status == cd.Status.FINISHED and "within the accuracy" in summary.status
    assert summary.missed["m0"] == frames.residuals[-1, 0] and summary.cost < 1e-14 and summary.violation == 0
    # zero residual: the last step squares the error before it, 1e-6
    assert frames.rms.max() < 1e-8
    np.testing.assert_allclose(frames.q, q, rtol=0, atol=1e-7)


def test_every_frame_as_by_itself(walk):
    """With noise: one warm-started run against `assemble` of single frames from their true q."""
    system, q, stations = walk
    goals = markers(system, q, stations, noise=0.01)
    frames = cd.assemble_frames(system, system.state(q=q[0]), goals, t=TIMES, accuracy=1e-9)
    for i in (0, 17, T - 1):
        here = [G.Station(g.body, g.station, g.position[i]) for g in goals]
        alone = cd.assemble(system, system.state(q=q[i]), here, accuracy=1e-9)
        # Gauss-Newton's last digit at 1 cm of noise
        np.testing.assert_allclose(frames.q[i], alone.q, rtol=0, atol=1e-7)
        assert frames[i].t == TIMES[i] and (frames[i].q == frames.q[i]).all()


def test_residuals_are_distances(walk):
    system, q, stations = walk
    goals = [
        *markers(system, q, stations, noise=0.01, weight=2.0),
        G.Orientation("trunk", np.eye(3), name="upright"),
        G.Distance("trunk", (0, 0, 0), "shank", (0, 0, 0), 0.45),
        G.Coordinate("shank", 0.1),
    ]
    frames = cd.assemble_frames(system, system.state(q=q[0]), goals, t=TIMES)
    table = frames.residual_table()
    assert table.names == (*(f"m{i}" for i in range(9)), "upright", "trunk to shank", "shank")
    assert table.units == (*["m"] * 9, "rad", "m", "rad")
    b, p = stations[4]
    apart = system.station_position(frames.q, b, p) - goals[4].position
    np.testing.assert_allclose(table["m4"], np.linalg.norm(apart, axis=1), rtol=0, atol=1e-15)
    turned = system.body_pose(frames.q, "trunk").R
    angle = np.arccos((np.trace(turned, axis1=1, axis2=2) - 1) / 2)
    # arccos near 1 has half the digits
    np.testing.assert_allclose(table["upright"], angle, rtol=0, atol=1e-7)
    np.testing.assert_allclose(table["shank"], np.abs(frames.q[:, -1] - 0.1), rtol=0, atol=1e-15)
    np.testing.assert_allclose(frames.rms, np.sqrt((frames.residuals[:, :9] ** 2).mean(axis=1)), rtol=1e-14)


def test_missing_targets_have_no_weight(walk):
    system, q, stations = walk
    goals = markers(system, q, stations)
    lost = goals[5].position.copy()
    lost[10:20, 1] = np.nan
    holed = [*goals[:5], G.Station(goals[5].body, goals[5].station, lost, name="m5"), *goals[6:]]
    frames = cd.assemble_frames(system, system.state(q=q[0]), holed, t=TIMES)
    assert (
        np.isnan(frames.residuals[10:20, 5]).all()
        and np.isfinite(np.delete(frames.residuals, 5, axis=1)).all()
    )
    np.testing.assert_allclose(frames.q, q, rtol=0, atol=1e-7)
    # the same by weights
    wrong = G.Station(
        goals[5].body,
        goals[5].station,
        np.where(np.isnan(lost), 9.0, lost),
        weight=np.where(np.isnan(lost).any(axis=1), 0.0, 1.0),
    )
    same = cd.assemble_frames(system, system.state(q=q[0]), [*goals[:5], wrong, *goals[6:]], t=TIMES)
    np.testing.assert_array_equal(frames.q, same.q)


def test_a_limb_that_nobody_sees_keeps_its_pose(walk):
    system, q, stations = walk
    goals = []
    for g in markers(system, q, stations):
        x = g.position.copy()
        if g.body == "shank":
            x[30:40] = np.nan
        goals.append(G.Station(g.body, g.station, x))
    frames = cd.assemble_frames(system, system.state(q=q[0]), goals, t=TIMES)
    assert np.ptp(frames.q[29:40, -1]) < 1e-12  # the knee stands still
    np.testing.assert_allclose(frames.q[40:], q[40:], rtol=0, atol=1e-7)
    assert np.isnan(frames.rms).sum() == 0


def test_new_targets_weights_and_stations_compile_nothing(walk):
    system, q, stations = walk
    cd.assemble_frames(system, system.state(q=q[0]), markers(system, q, stations))
    programs = dict(system.compiled.programs)
    moved = [(b, p + 0.01) for b, p in [*stations, *stations[:4]]]
    cd.assemble_frames(system, system.state(q=q[0]), markers(system, q[:7], moved, noise=0.02, weight=3.0))
    assert {k: id(v) for k, v in system.compiled.programs.items()} == {k: id(v) for k, v in programs.items()}


def crank_frames(reach: np.ndarray) -> Frames:
    """A slider-crank whose slider a constraint in time moves to reach(t)."""
    system = mechanisms.slider_crank()
    system.add_constraint(
        "drive", cd.constraints.PrescribedMotion(cd.Spline(np.arange(float(len(reach))), reach), "slider")
    )
    start = system.state(q=mechanisms.slider_crank_state(1.2, 0.0)[0])
    return cd.assemble_frames(
        system, start, G.Coordinate("crank", np.full(len(reach), 1.0)), t=np.arange(float(len(reach)))
    )


def test_frames_that_cannot_be_met_are_named_and_leave_the_others_alone():
    """The slider reaches 0.7 m. Two frames in the middle ask for more."""
    reach = np.array([0.55, 0.58, 0.6, 0.75, 0.8, 0.6, 0.58, 0.55])
    frames = crank_frames(reach)
    assert set(frames.failures) == {3, 4}
    assert "frame 3 (t = 3 s)" in frames.failures[3] and "drive by" in frames.failures[3]
    assert frames.status == cd.Status.SOME_FAILED and "2 of 8 frames failed" in frames.status
    summary = frames.summary(3)
    assert (
        summary.status == cd.Status.CONSTRAINTS == frames.failures[3]
        and summary.iterations == frames.iterations[3]
    )
    assert summary.violation == pytest.approx(max(map(abs, frames.violated(3).values())))
    worst = max(map(abs, frames.violated(4).values()))
    assert 0.02 < worst < 0.1  # 0.1 m too far, shared among the equations
    good = [0, 1, 2, 5, 6, 7]
    np.testing.assert_allclose(frames.q[good, 2], reach[good], rtol=0, atol=1e-8)
    np.testing.assert_allclose(frames.q[[5, 6, 7]], frames.q[[2, 1, 0]], rtol=0, atol=1e-5)  # there and back
    with pytest.raises(cd.errors.ConstraintError, match="frame 3") as caught:
        frames.check()
    assert caught.value.violated == frames.violated(3)


def test_speeds_are_those_of_the_motion(walk):
    system, q, stations = walk
    frames = cd.assemble_frames(system, system.state(q=q[0]), markers(system, q, stations), t=TIMES)
    u = frames.speeds()
    expected = np.cos(4 * TIMES[:, None] + np.arange(system.nu))
    # q was made by steps of order 2 and is differentiated by a spline of degree 5: h^2, more at the ends
    np.testing.assert_allclose(u[3:-3], expected[3:-3], rtol=0, atol=5e-3)


def test_speeds_keep_velocity_constraints():
    system = mechanisms.slider_crank()
    theta = np.linspace(0.3, 1.5, 40)
    goal = G.Coordinate("crank", theta)
    start = system.state(q=mechanisms.slider_crank_state(0.3, 0.0)[0])
    frames = cd.assemble_frames(system, start, goal, t=np.linspace(0, 2, 40))
    expected = np.stack([mechanisms.slider_crank_state(x, 0.6)[1] for x in theta])
    u = frames.speeds()
    assert np.abs(system.constraints.errors(frames.q, u)[1]).max() < 1e-12
    # a spline of degree 5, h = 0.05 s
    np.testing.assert_allclose(u, expected, rtol=0, atol=1e-5)


def test_a_run_can_be_interrupted(walk):
    system, q, stations = walk
    many = np.tile(np.concatenate([q, q[::-1]]), (400, 1))
    goals = markers(system, many, stations)
    shares = []

    def stop(share: float) -> None:
        shares.append(share)
        raise KeyboardInterrupt

    frames = cd.assemble_frames(system, system.state(q=q[0]), goals, progress=stop)
    assert 0 < len(frames) < len(many) and len(frames.q) == len(frames.residuals) == len(frames.rms) == len(
        frames
    )
    assert f"interrupted after {len(frames)} of {len(many)} frames" in frames.status
    np.testing.assert_allclose(frames.q, many[: len(frames)], rtol=0, atol=1e-6)
    assert 0 <= shares[0] < 1


def test_tables_plots_and_pandas(walk):
    system, q, stations = walk
    frames = cd.assemble_frames(system, system.state(q=q[0]), markers(system, q, stations), t=TIMES)
    table = frames.table()
    assert table.names == system.coordinates and (table.time == TIMES).all()
    np.testing.assert_array_equal(table["shank"], frames.q[:, -1])
    plt = pytest.importorskip("matplotlib.pyplot")
    assert len(frames.plot("m0", "m3").lines) == 2 and len(frames.plot("shank").lines) == 1
    plt.close("all")
    assert repr(frames).startswith("Frames(60 from 0 to 1.2 s, 9 goals, finished; trunk_qw, ")


def test_limits_hold_in_every_frame():
    system = arm(ranges=((-3.0, 3.0), (0.2, 2.5)))
    s = np.linspace(0, 1, 50)
    path = np.stack([0.95 - 0.6 * np.abs(2 * s - 1), 0.3 * s, 0 * s], axis=1)  # in and out of reach
    frames = cd.assemble_frames(
        system, system.state(q=[-0.5, 0.8]), G.Station("lower", (0.4, 0, 0), path), limits=True
    )
    elbow = frames.q[:, 1]
    # straight is not allowed; it comes off its limit again
    assert elbow.min() == 0.2 and elbow.max() > 0.5
    assert elbow[0] > 0.2 and elbow[-1] > 0.2


def test_frames_without_times_of_what_depends_on_time():
    system = arm()
    system.add_body(
        "table", mobilizer=cd.Slider(), mass=1.0, motion=cd.Prescribed(position=lambda t: 0.1 * t)
    )
    with pytest.raises(
        cd.errors.DescriptionError, match="motion of body 'table' depends on time, and there are many states"
    ):
        cd.assemble_frames(system, system.state(), G.Coordinate("elbow", np.zeros(4)))
    still = arm()
    frames = cd.assemble_frames(still, still.state(), G.Coordinate("elbow", np.zeros(4)))
    with pytest.raises(cd.errors.CondyleError, match="these have none: give assemble_frames t=times"):
        frames.inverse_dynamics()


def turned_walker():
    system, q, stations = walker()
    goals = markers(system, q[1:2], stations)
    return system, [*goals, G.Orientation("shank", system.body_pose(q[1:2], "shank").R, weight=0.1)]


def pulled_linkage():
    """Constraints, and a target off the way."""
    system = mechanisms.four_bars(1)
    body, place = system.bodies[1].name, (0.1, 0.0, 0.0)
    at = system.station_position(system.defaults()[0], body, place)
    return system, [G.Station(body, place, at[None] + (0.05, 0.1, 0))]


def bead_on_a_curve():
    """Rows of tables are looked up."""
    s = np.linspace(0.0, 1.0, 8)
    frames = np.tile(np.eye(3), (8, 1, 1)), np.stack([s, s**2, 0 * s], axis=1)
    system = cd.System()
    system.add_body("bead", mobilizer=cd.SplineCurve(frames, 4), mass=1.0, inertia=(1, 1, 1))
    return system, [G.Station("bead", (0, 0, 0), np.array([[0.4, 0.3, 0.0]]))]


@pytest.mark.parametrize("make", [turned_walker, pulled_linkage, bead_on_a_curve])
def test_a_single_frame_needs_no_machine_code(make, monkeypatch):
    """Python runs the loop of one frame, and finds what the machine code of two finds."""
    system, goals = make()
    twice = [replace(g, **{g.about: np.repeat(getattr(g, g.about), 2, axis=0)}) for g in goals]
    options = {"t": [0.0, 1.0], "accuracy": 1e-10}
    compiled = cd.assemble_frames(system, system.state(), twice, **options)
    other = system.copy()
    state = other.state()
    monkeypatch.setenv("CONDYLE_CACHE", "off")
    monkeypatch.setattr("condyle.native.machine.jit.compile_ir", None)
    frames = follow("test", state, tuple(goals), np.zeros(1), {}, False, 1e-10, False)
    assert str(frames.status) == "finished" == str(compiled.status)
    np.testing.assert_allclose(frames.q[0], compiled.q[0], atol=1e-9)  # ten times the accuracy
    np.testing.assert_allclose(frames.info[0, :4], compiled.info[0, :4], atol=1e-9)  # steps and costs too
