"""Derivatives across events: closed forms, differences of order 8 of runs that find their events again, refusals."""

import numpy as np
import pytest

import condyle as cd
from condyle.errors import ConstraintError, DescriptionError
from condyle.integrate.trajectory import Trajectory
from tests.integrate.adjoint.differences import relative, slope

G, E, ACCURACY = 9.81, 0.8, 1e-12
TOLERANCE = 1e-9  # instants are found to 1e-13 s, and differences are taken over 1e-3


def ball() -> cd.System:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("ball", mobilizer=cd.Translation(), mass=cd.Parameter("m", 1.0))
    system.add_force("wind", cd.forces.MobilityForce("ball_tx", cd.Parameter("wind", 0.3)))
    return system


def run(system: cd.System, events: object, t: float = 1.5, **start: object) -> Trajectory:
    state = system.state(**{"q": [0, 1.0, 0], "u": [0.4, 0, 0]} | start)
    return cd.simulate(system, state, t, accuracy=ACCURACY, events=events, integrator="dormand-prince-8")


BOUNCE = cd.Event(
    lambda s: s.q("ball_ty"), action=lambda s: s.replace(u=np.array([1, -E, 1]) * s.u), name="bounce"
)


def both_ways_agree(traj: Trajectory, J: dict, t: object = None) -> None:
    w = np.random.default_rng(0).normal(size=np.shape(J["q"])[:-1])
    g = traj.vjp(w, t=t)
    for name, gradient in ((name, x) for name, x in g.items() if x.size):
        expected = np.einsum("ti,tij->j", np.atleast_2d(w), J[name].reshape(-1, *J[name].shape[-2:]))
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-12)  # rounding


def test_a_bouncing_ball_is_its_closed_form() -> None:
    traj = run(ball(), BOUNCE, t=1.0)
    J = traj.jacobian(wrt=("q", "u", "parameters", "z", "t"))
    # after one bounce at t1 = sqrt(2 h / g): y = v (t - t1) - g (t - t1)^2 / 2, v = E g t1
    h, t = 1.0, 1.0
    t1 = np.sqrt(2 * h / G)
    dt1 = 1 / (G * t1)
    dy = (E * G * (t - t1) - E * G * t1 + G * (t - t1)) * dt1
    dv = (E * G + G) * dt1
    np.testing.assert_allclose(J["q"][[1, 4], 1], [dy, dv], rtol=TOLERANCE)
    np.testing.assert_allclose(J["t"][:, 0], [0.4 + 0.3, E * G * t1 - G * (t - t1), 0, 0.3, -G, 0], rtol=1e-9)
    np.testing.assert_allclose(J["parameters"][0], [-0.3 / 2, 1 / 2], rtol=1e-12)
    both_ways_agree(traj, J)


def test_several_bounces_and_times_between() -> None:
    system, times = ball(), np.array([0.1, 0.45, 0.6, 1.2, 1.5])
    traj = run(system, BOUNCE)
    assert len(traj.events) == 2
    J = traj.jacobian(t=times)
    for name, base in (("q", [0, 1.0, 0]), ("u", [0.4, 0, 0])):
        for k, d in enumerate(np.eye(3)):
            oracle = slope(
                lambda e, d=d, name=name, base=base: run(system, BOUNCE, **{name: base + e * d}).at(times),
                1e-3,
            )
            assert relative(J[name][..., k], oracle) < TOLERANCE
    both_ways_agree(traj, J, times)


def test_events_at_one_instant() -> None:
    system = cd.System(gravity=(0, -G, 0))
    for name in "ab":
        system.add_body(name, mobilizer=cd.Slider(axis="y"), mass=1.0)
    events = [
        cd.Event(
            lambda s, n=n: s.q(n), action=lambda st, n=n: st.replace(u={n: -E * st[f"{n}_speed"]}), name=n
        )
        for n in "ab"
    ]
    traj = run(system, events, t=0.8, q=[1.0, 1.0], u=[0, 0])
    assert [e.name for e in traj.events] == ["a", "b"] and len(traj.changes) == 1
    J = traj.jacobian()["q"]
    alone = run(system, events, t=0.8, q=[1.0, 1.7], u=[0, 0]).jacobian()["q"]
    np.testing.assert_allclose(J[[0, 2], 0], alone[[0, 2], 0], rtol=1e-9)
    np.testing.assert_allclose(J[[1, 3], 1], alone[[0, 2], 0], rtol=1e-9)  # they do not touch each other
    np.testing.assert_allclose(J[[0, 2], 1], 0, atol=1e-12)


def test_the_end_moves_with_a_terminal_event() -> None:
    stop = cd.Event(lambda s: s.q("ball_ty") - 0.5, terminal=True)
    traj = run(ball(), stop)
    J = traj.jacobian()
    t = np.sqrt(2 * 0.5 / G)
    np.testing.assert_allclose(J["q"][1], 0, atol=1e-10)  # it always ends at this height
    np.testing.assert_allclose(J["q"][0, 1], (0.4 + 0.3 * t) / (G * t), rtol=TOLERANCE)
    both_ways_agree(traj, J)


def test_scheduled_actions_and_discrete_variables() -> None:
    system = cd.System(gravity=(0, 0, 0))
    pull = cd.Discrete("pull", 0.0)
    system.add_body("cart", mobilizer=cd.Slider(), mass=2.0)
    system.add_force("pull", cd.forces.MobilityForce("cart", pull))
    hold = cd.Event(at=[0.3, 0.6], action=lambda s: s.replace(discrete={"pull": -3.0 * s["cart"] + s.t}))
    start = {"q": [0.2], "u": [0.1]}
    traj = run(system, hold, t=1.0, **start)
    J = traj.jacobian(wrt=("q", "u", "z", "parameters"))
    for name, x in start.items():
        oracle = slope(
            lambda e, name=name, x=x: run(system, hold, t=1.0, **start | {name: [x[0] + e]}).y[-1], 1e-2
        )
        assert relative(J[name][:, 0], oracle) < 1e-11  # linear
    both_ways_agree(traj, J)


def test_rigid_impacts_and_stick_slip() -> None:
    system = cd.System()
    rigid = cd.contact.Rigid(friction=cd.Parameter("mu", 0.4), restitution=cd.Parameter("e", 0.7))
    system.add_body("box", mobilizer=cd.Translation(), mass=1.0)
    floor, point = (
        cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, rigid),
        cd.contact.Point("box", (0, 0, 0), rigid),
    )
    system.add_contact("floor", floor, point)
    p = system.state().parameters
    go = lambda t, **start: run(system, (), t, **start)
    # it bounces with friction
    start = {"q": np.array([0, 1.0, 0]), "u": np.array([4.0, 0, 0.3]), "parameters": p}
    traj = go(0.9, **start)
    J = traj.jacobian()
    for name in start:
        columns = [
            slope(lambda e, d=d, name=name: go(0.9, **start | {name: start[name] + e * d}).y[-1], 1e-3)
            for d in np.eye(len(start[name]))
        ]
        assert relative(J[name], np.transpose(columns)) < TOLERANCE
    both_ways_agree(traj, J)
    # it slides until it sticks: v^2 / (2 mu g)
    traj = go(1.0, q=[0, 0, 0], u=[2.0, 0, 0])
    mu = list(system.parameters).index("mu")
    J = traj.jacobian()
    np.testing.assert_allclose(J["parameters"][0, mu], -(2.0**2) / (2 * 0.4**2 * G), rtol=1e-8)
    np.testing.assert_allclose(J["u"][0, 0], 2.0 / (0.4 * G), rtol=1e-8)
    both_ways_agree(traj, J)


def test_refusals() -> None:
    system = ball()
    graze = cd.Event(
        lambda s: s.q("ball_ty") - 1.0 + 1e-13, action=lambda s: s.replace(u=s.u), direction="both"
    )
    up = run(system, graze, t=0.5, q=[0, 0.5, 0], u=[0, np.sqrt(G), 0])
    assert up.changes
    with pytest.raises(DescriptionError, match="grazes"):
        up.jacobian()
    python = cd.Event(lambda s: s.q[1], action=lambda s: s.replace(u=-s.u), traced=False, name="python")
    with pytest.raises(DescriptionError, match=r"'python'.*only Python can compute"):
        run(system, python, t=1.0).jacobian()
    untraced = cd.Event(
        lambda s: s.q("ball_ty"), action=lambda s: s.replace(u=[float(x) * -E for x in s.u]), name="floaty"
    )
    with pytest.raises(DescriptionError, match=r"'floaty'.*cannot be traced"):
        run(system, untraced, t=1.0).vjp(np.ones(6))
    rigid = cd.contact.Rigid(friction=0.4)
    box = cd.System()
    box.add_body("box", mobilizer=cd.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    for i, x in enumerate([(0.1, 0, 0.1), (-0.1, 0, 0.1), (0.1, 0, -0.1), (-0.1, 0, -0.1)]):
        floor = cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, rigid)
        box.add_contact(f"c{i}", floor, cd.contact.Point("box", x, rigid))
    with pytest.raises(ConstraintError, match="redundant"):
        cd.simulate(box, box.state(u={"box_vx": 1.0}), 0.05).jacobian()
    with pytest.raises(DescriptionError, match="at one instant"):
        cd.simulate(box, box.state(q={"box_ty": 0.01}), 0.1).jacobian()


def test_resets() -> None:
    """A stick is caught by its foot, its mass and inertia Parameters, and then a value changes."""
    system = cd.System()
    stick = {"mass": cd.Parameter("m", 1.0), "inertia": (0.1, 0.1, cd.Parameter("I", 0.1))}
    system.add_body("stick", mobilizer=cd.Planar(), **stick)
    system.add_body("ball", mobilizer=cd.Slider(), mass=1.0)
    system.add_constraint(
        "foot", cd.constraints.PointInPlane("ground", (0, 1, 0), 0.0, "stick", (0.3, -0.5, 0))
    )
    turn, _, _, ball = system.coordinates
    kick = lambda s: {"u": {ball: s.u(ball) + s.parameter("m") * s.u(turn)}}
    height = lambda s: s.station_position("stick", (0.3, -0.5, 0))[1]
    land = cd.Event(height, action=cd.Reset(caught="foot", values=kick), name="land")
    start = {"q": np.array([0.3, 0, 0.8, 0]), "u": np.array([0.5, 0.1, -0.3, 0.2])}
    start["parameters"] = system.state().parameters

    def go(**changes: np.ndarray) -> Trajectory:
        return run(system, land, 0.6, **start | changes, disabled=["foot"])

    traj = go()
    assert [e.name for e in traj.events] == ["land"]
    J = traj.jacobian()
    for name, base in start.items():
        columns = [
            slope(lambda e, d=d, name=name, base=base: go(**{name: base + e * d}).y[-1], 1e-3)
            for d in np.eye(len(base))
        ]
        assert relative(J[name], np.transpose(columns)) < TOLERANCE
    both_ways_agree(traj, J)
