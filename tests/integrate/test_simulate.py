"""Simulation: orders as declared, one accuracy knob, dense output, and ends that say why."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import condyle as cd
from condyle.integrate.integrators import METHODS
from condyle.native.machine import cache
from tests.ctrl_c import pressed_from

G = 9.81


@pytest.fixture(scope="module")
def pendulum() -> cd.System:
    """A point mass, nearly, on a massless rod of 1 m."""
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(1e-12,) * 3)
    return system


def pendulum_angle(amplitude: float, t: np.ndarray) -> np.ndarray:
    """Exact swing from rest: sin(theta/2) = k sn(K + omega t | k^2)."""
    k = np.sin(amplitude / 2)
    sn, *_ = ellipj(ellipk(k * k) + np.sqrt(G) * t, k * k)
    return 2 * np.arcsin(k * sn)


@pytest.mark.parametrize(
    "name", [name for name, m in METHODS.items() if name != "dormand-prince-8" and not m.varies]
)
def test_order_is_the_declared_one(pendulum, name):
    """Halving a fixed step divides the largest error of a swing by 2^order."""
    errors = []
    for n in (20, 40):
        traj = cd.simulate(pendulum, pendulum.state(q=[1.2]), 0.85, integrator=name, step=0.85 / n)
        errors.append(np.abs(traj.q[:, 0] - pendulum_angle(1.2, traj.t)).max())
    # The next term of the error is h smaller than the first: some per cent of the slope at these steps.
    assert np.log2(errors[0] / errors[1]) == pytest.approx(METHODS[name].order, abs=0.3)


@pytest.mark.parametrize("between", [False, True])
def test_order_eight_at_and_between_steps(pendulum, between):
    """The slope over several steps, as one pair wavers: of shorter steps only rounding is left."""
    steps, errors = np.array([16, 20, 25, 32, 40, 50]), []
    for n in steps:
        traj = cd.simulate(
            pendulum, pendulum.state(q=[1.2]), 4.0, integrator="dormand-prince-8", step=4.0 / n
        )
        t = traj.t[:-1] + np.diff(traj.t) / 3 if between else traj.t
        errors.append(np.sqrt(np.mean((traj.at(t)[:, 0] - pendulum_angle(1.2, t)) ** 2)))
    slope = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 7.5 <= slope <= 9.5  # of 8, and at least 7 between steps: single pairs give 7.6 to 9.3


@pytest.mark.parametrize("accuracy", [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
def test_merson_stays_within_ten_times_its_accuracy(pendulum, accuracy):
    """The global error is at most 10 times the accuracy: one swing of large amplitude, four periods."""
    traj = cd.simulate(pendulum, pendulum.state(q=[np.pi / 2]), 9.0, accuracy=accuracy)
    assert traj.finished
    assert np.abs(traj.q[:, 0] - pendulum_angle(np.pi / 2, traj.t)).max() <= 10 * accuracy


@pytest.mark.parametrize(
    ("name", "order"), [("merson", 3), ("dormand-prince", 4), ("rodas", 3), ("rodas5p", 4)]
)
def test_dense_output_has_order_p_minus_one(pendulum, name, order):
    """Between steps the error shrinks at least as h^(p - 1), measured globally at thirds of steps."""
    start, errors = pendulum.state(q=[1.2]), []
    for n in (20, 40):
        traj = cd.simulate(pendulum, start, 1.0, integrator=name, step=1.0 / n)
        t = traj.t[:-1] + np.diff(traj.t) / 3
        errors.append(np.abs(traj.at(t)[:, 0] - pendulum_angle(1.2, t)).max())
    # the slope is not yet at its limit at these steps
    assert np.log2(errors[0] / errors[1]) >= order - 0.3


def test_states_of_a_trajectory(pendulum):
    traj = cd.simulate(pendulum, pendulum.state(q=[0.5], t=1.0), 3.0)
    assert traj.t[0] == 1.0
    assert traj.t[-1] == 3.0
    assert traj[-1].t == 3.0
    np.testing.assert_array_equal(traj[-1].q, traj.q[-1])
    # ten times the default accuracy
    assert traj(2.0).q[0] == pytest.approx(pendulum_angle(0.5, 1.0), abs=1e-2)
    with pytest.raises(cd.errors.ShapeError, match="from 1 to 3"):
        traj(4.0)
    assert traj.statistics.steps == len(traj) - 1
    assert traj.statistics.evaluations >= 5 * traj.statistics.steps


def test_free_top_keeps_energy_momentum_and_unit_quaternions():
    """Torque-free asymmetric top with a quaternion: momentum in ground and energy stay."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("top", mobilizer=cd.Free(), mass=2.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.25))
    start = system.state(u=[0.1, 3.0, 0.2, 0.5, 0, 0])
    traj = cd.simulate(system, start, 10.0, accuracy=1e-9)
    np.testing.assert_allclose(np.linalg.norm(traj.q[:, :4], axis=1), 1.0, atol=1e-15, rtol=0)
    h = system.momentum(traj.q, traj.u)
    # 100 steps' worth of the accuracy
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-7)
    assert np.ptp(system.energy(traj.q, traj.u)[0]) < 1e-7
    assert np.linalg.norm(traj(3.3333).q[:4]) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("reverse", [False, True])
def test_quaternions_inside_composed_joints_keep_their_length(reverse):
    system = cd.System(gravity=(0, 0, 0))
    joint = cd.compose(cd.Slider(axis="x"), cd.Ball())
    system.add_body(
        "top",
        mobilizer=joint.reversed() if reverse else joint,
        mass=1,
        com=(0.1, 0, 0),
        inertia=(0.1, 0.2, 0.3),
    )
    traj = cd.simulate(system, system.state(u=[0.1, 3.0, 0.5, 2.0]), 3.0, accuracy=1e-2)
    quaternion = slice(1, 5)
    # Normalized after each step: some roundings of 1.
    np.testing.assert_allclose(
        np.linalg.norm(traj.q[:, quaternion], axis=1), 1, rtol=0, atol=4 * np.finfo(float).eps
    )
    with pytest.raises(cd.errors.ShapeError, match="quaternion of body 'top' is zero"):
        system.state(q=np.zeros(5))


def test_joints_with_looked_up_splines():
    """The step loop looks rows up as the operators do: energy of a spline knee stays."""
    x = np.linspace(-3, 3, 25)
    spline = cd.Spline(x, 0.05 * np.sin(x))
    system = cd.System()
    knee = cd.FunctionBased("knee", angles=(None, None, lambda q: q), translations=(spline, None, None))
    system.add_body("shank", mobilizer=knee, X_BM=(0, 0.4, 0), mass=3.0, inertia=(0.05, 0.01, 0.05))
    traj = cd.simulate(system, system.state(q=[1.0]), 5.0, accuracy=1e-8)
    # J of 10: the third derivative jumps at knots
    assert np.ptp(np.sum(system.energy(traj.q, traj.u), axis=0)) < 1e-5


def test_forces_inputs_and_parameters_reach_the_loop():
    """An oscillator with stiffness as a Parameter and a constant force as an Input, against its closed
    form."""
    k, f = cd.Parameter("k", 100.0), cd.Input("f", 0.0)
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1), coordinates="x")
    system.add_force("spring", cd.forces.MobilitySpring("x", k, 0.0))
    system.add_force("push", cd.forces.MobilityForce("x", f))
    start = system.state(q=[0.1], parameters={"k": 400.0}, inputs={"f": 8.0})
    traj = cd.simulate(system, start, 2.0, accuracy=1e-8)
    # Errors in speed count by 0.1 s, twice the 1/omega here, and add up over six periods.
    np.testing.assert_allclose(traj.q[:, 0], 0.02 + 0.08 * np.cos(20 * traj.t), atol=5e-7, rtol=0)


def test_a_force_that_is_not_finite_stops_the_run_and_is_named(pendulum):
    system = pendulum.copy()
    system.add_force("gone", cd.forces.Custom(lambda s: {"bob": 0.1 * np.sqrt(1.0 - s.t)}))
    traj = cd.simulate(system, system.state(q=[0.3]), 3.0)
    assert not traj.finished
    assert traj.t[-1] <= 1.0
    assert traj.t[-1] > 0.9
    assert traj.status == cd.Status.NOT_FINITE and "'gone'" in traj.status


def test_an_interrupt_gives_back_what_was_computed(pendulum):
    with pressed_from() as press:
        traj = cd.simulate(pendulum, pendulum.state(q=[1.0]), 1e7, accuracy=1e-9, progress=press)
    assert traj.status == "interrupted" and traj.status == cd.Status.INTERRUPTED
    assert len(traj) > 10
    n = min(len(traj), 2000)
    # a hundred swings at accuracy 1e-9
    assert np.abs(traj.q[:n, 0] - pendulum_angle(1.0, traj.t[:n])).max() < 1e-6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"integrator": "mersen"}, "merson"),
        ({"accuracy": 0}, "accuracy"),
        ({"integrator": "euler"}, "step"),
        ({"step": -1.0}, "step"),
        ({"weights": [1.0]}, "weights"),
        ({"weights": "mine"}, "weights must be 2 numbers"),
        ({"accuracy": "high"}, "accuracy: expected one number such as"),
        ({"step": "short"}, "step: expected a positive number"),
        ({"step": np.inf}, "positive"),
        ({"integrator": ["merson"]}, "integrator"),
        ({"events": 5}, r"cd\.Event"),
    ],
)
def test_options_that_cannot_be(pendulum, options, words):
    with pytest.raises(cd.errors.CondyleError, match=words):
        cd.simulate(pendulum, pendulum.state(), 1.0, **options)
    with pytest.raises(cd.errors.CondyleError, match="another system"):
        cd.simulate(pendulum.copy(), pendulum.state(), 1.0)
    with pytest.raises(cd.errors.CondyleError, match="t_final"):
        cd.simulate(pendulum, pendulum.state(t=2.0), np.inf)
    for t_final in ("2 s", np.linspace(0, 1, 5), None):
        with pytest.raises(cd.errors.DescriptionError, match=r"t_final: expected one time .*traj\.at"):
            cd.simulate(pendulum, pendulum.state(), t_final)
    with pytest.raises(cd.errors.DescriptionError, match=r"a cd\.System first, got State"):
        cd.simulate(pendulum.state(), pendulum, 1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"step": 1e-9}, "resolve"),
        ({"max_step": 1e-9}, "resolve"),
        ({"max_step": 1e-9, "integrator": "rodas"}, "resolve"),
        ({"events": cd.Event(every=1e-8)}, "resolve"),
        ({"step": 4e-6, "t_final": 2e9}, "GB"),
    ],
)
def test_steps_that_time_cannot_resolve_or_memory_cannot_hold_are_refused(pendulum, options, words):
    options = {"t_final": 1e9 + 1} | options
    with pytest.raises(cd.errors.CondyleError, match=words):
        cd.simulate(pendulum, pendulum.state(t=1e9, q=[1.0]), **options)
    if "step" in options and words == "resolve":
        with pytest.raises(cd.errors.CondyleError, match=words):
            cd.simulate(pendulum, {"t": [1e9, 1e9 + 0.5]}, **options)


def test_a_late_start_changes_nothing(pendulum):
    """Near 1e9 s doubles are 1.2e-7 s apart: a step is what t really moves by, else 8 s of it are 0.4 ms
    off."""
    early, late = (
        cd.simulate(pendulum, pendulum.state(t=t, q=[1.2]), t + 8, integrator="rk4", step=1e-3)
        for t in (0.0, 1e9)
    )
    # Steps of 1e-3 +- 6e-8 s: errors of order 4 near 1e-12 differ by some per cent.
    np.testing.assert_allclose(late.y[-1], early.y[-1], atol=1e-11)


def test_a_step_that_does_not_move_time_ends_the_run(pendulum):
    """Near 1e14 s doubles are 0.016 s apart, more than the first step."""
    for integrator in ("merson", "rodas"):
        traj = cd.simulate(
            pendulum, pendulum.state(t=1e14, q=[1.2]), 1e14 + 8, accuracy=1e-9, integrator=integrator
        )
        assert traj.status == cd.Status.TIME and "resolve" in traj.status
    assert "resolve" in cd.simulate(pendulum, {"t": [1e14], "q": [[1.2]]}, 1e14 + 8, accuracy=1e-9).status[0]


def test_steps_that_are_not_there(pendulum):
    traj = cd.simulate(pendulum, pendulum.state(), 0.1)
    assert traj[-1].t == traj[len(traj) - 1].t == 0.1
    with pytest.raises(IndexError, match=f"step 999: there are {len(traj)}, from 0 to {len(traj) - 1}"):
        traj[999]


def test_a_system_that_cannot_move_is_refused():
    system = cd.System()
    system.add_body("rock", mobilizer=cd.Weld(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.CondyleError, match="nothing moves"):
        cd.simulate(system, system.state(), 1.0)


def test_a_table_with_names_and_units(tmp_path):
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(1, 1, 1))
    system.add_body("arm", parent="ball", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(1, 1, 1))
    traj = cd.simulate(system, system.state(q={"arm": 0.3}), 0.5)
    table = traj.table(np.linspace(0, 0.5, 6))
    np.testing.assert_array_equal(table["arm"], traj.at(table.time)[:, system.coordinates.index("arm")])
    units = dict(zip(table.names, table.units))
    assert units["arm"] == "rad"
    assert units["arm_speed"] == "rad/s"
    assert units[system.coordinates[4]] == "m"
    assert units[system.speeds[3]] == "m/s"
    table.save(tmp_path / "run.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]
    read = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(read[:, 1:], table.values)  # every digit is kept
    assert "arm [rad]" in (tmp_path / "run.csv").read_text().splitlines()[0]
    with pytest.raises(cd.errors.CondyleError, match="arm"):
        table["am"]


def test_a_picture_is_drawn_between_steps_too(pendulum):
    import matplotlib

    matplotlib.use("Agg")
    traj = cd.simulate(pendulum, pendulum.state(q=[1.0]), 2.0, accuracy=1e-6)
    (line,) = traj.plot("bob").lines
    t, q = line.get_data()
    assert set(traj.t) <= set(t)
    assert len(t) > len(traj)
    assert np.abs(np.radians(q) - pendulum_angle(1.0, np.asarray(t))).max() < 1e-5  # ten times the accuracy
    with pytest.raises(cd.errors.UnknownNameError, match="bob"):
        traj.plot("bub")


def test_a_second_process_finds_the_program(tmp_path, monkeypatch):
    """A system described again (as in another process) takes its step loop, look-up tables and all, from the
    cache."""
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CONDYLE_CACHE", raising=False)
    if cache.info().note:
        pytest.skip(cache.info().note)
    x = np.linspace(-3, 3, 25)
    knee = cd.FunctionBased(
        "knee", angles=(None, None, lambda q: q), translations=(cd.Spline(x, 0.05 * np.sin(x)), None, None)
    )
    runs = []
    for _ in range(2):
        system = cd.System()
        system.add_body("shank", mobilizer=knee, X_BM=(0, 0.4, 0), mass=3.0, inertia=(0.05, 0.01, 0.05))
        runs.append(cd.simulate(system, system.state(q=[1.0]), 1.0))
        program, _ = system.compiled.programs["simulate", METHODS["merson"].text]
    assert not program.text  # it was not built, only loaded
    np.testing.assert_array_equal(runs[0].y, runs[1].y)


def test_progress_by_function_and_bar(pendulum, capsys):
    seen = []
    cd.simulate(pendulum, pendulum.state(q=[1.0]), 3e4, accuracy=1e-8, progress=seen.append)
    assert seen == sorted(seen)
    assert all(0 <= share <= 1 for share in seen)
    assert cd.simulate(pendulum, pendulum.state(q=[1.0]), 1.0, progress=True).finished
