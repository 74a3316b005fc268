"""Laws that ask for reactions of joints: friction by closed forms, by hand, by a fixed point outside, and what is
refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.optimize import brentq

import condyle as cd
from condyle import forces
from condyle.errors import ArgumentError, ConvergenceError, DescriptionError, TraceError, UnknownNameError
from tests.integrate.adjoint.differences import slope as along

G = 9.81
MU, R, SLOW = 0.3, 0.02, 1e-6


def pendulum(mu=MU, radius=R, length=0.5, inertia=0.01, slow=1e-3):
    """A body of 1 kg on a pin about z, its mass center below; friction "f"."""
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("b", mobilizer=cd.Pin(), mass=1.0, com=(0, -length, 0), inertia=(inertia,) * 3)
    system.add_force("f", forces.JointFriction("b", mu, radius, transition_speed=slow))
    return system


def tree(mu=0.25, law=True):
    """Joints that turn, slide and do both, in a chain that branches, all of which rub."""
    system, parent = cd.System(gravity=(0.3, -G, 0.2)), "ground"
    rng = np.random.default_rng(3)
    joints = {
        "pin": cd.Pin(),
        "slider": cd.Slider(),
        "ball": cd.Ball(),
        "cylinder": cd.Cylinder(),
        "planar": cd.Planar(),
    }
    for name, joint in joints.items():
        system.add_body(
            name,
            parent,
            joint,
            X_PF=rng.uniform(-0.3, 0.3, 3),
            X_BM=rng.uniform(-0.2, 0.2, 3),
            mass=rng.uniform(0.5, 2.0),
            com=rng.uniform(-0.2, 0.2, 3),
            inertia=rng.uniform(0.04, 0.06, 3),
        )
        if law:
            system.add_force(f"f {name}", forces.JointFriction(name, mu, radius=0.03))
        parent = "ball" if name == "cylinder" else name
    return system


@pytest.fixture(scope="module")
def rubbing():
    return tree()


def posed(system, seed=0):
    rng = np.random.default_rng(seed)
    q, u = rng.uniform(-0.8, 0.8, system.nq), rng.uniform(-2.0, 2.0, system.nu)
    for b in system.bodies:
        if b.mobilizer.quaternions:
            at = slice(b.q.start, b.q.start + 4)
            q[at] /= np.linalg.norm(q[at])
    return q, u, rng.uniform(-1.0, 1.0, system.nu)


def friction(system, q, u, F, mu=0.25, r=0.03, slow=1e-3):
    """(47)-(49) of docs/theory/forces.md by NumPy, from reactions F (bodies, 6), shape (nu,)."""
    out = np.zeros(system.nu)
    for b, (_, force) in zip(system.bodies, F.reshape(-1, 2, 3), strict=True):
        body, parent = (system.body_pose(q, x) for x in (b, b.parent))
        X = body @ b.X_BM
        columns = []
        for k in range(b.u.start, b.u.stop):
            e = np.eye(system.nu)[k]
            V, V_P = system.body_velocity(q, e, b), system.body_velocity(q, e, b.parent)
            w = V[:3] - V_P[:3]
            v = V[3:] + np.cross(V[:3], X.p - body.p) - V_P[3:] - np.cross(V_P[:3], X.p - parent.p)
            columns.append((w, v))
        slides = np.array([v for _, v in columns]).T
        basis, sizes, _ = np.linalg.svd(slides)
        basis = basis[:, : np.sum(sizes > 1e-9)]
        N = np.linalg.norm(force - basis @ (basis.T @ force))
        own = u[b.u]
        w, v = (sum(x * c[i] for x, c in zip(own, columns, strict=True)) for i in (0, 1))
        s = np.sqrt(r**2 * w @ w + v @ v + slow**2)
        out[b.u] = [-mu * N * (r**2 * h_w @ w + h_v @ v) / s for h_w, h_v in columns]
    return out


def central(f, x, h):
    """df/dx by differences of order 8, a column a direction."""
    return np.stack([along(lambda d, e=e: f(x + d * e), h) for e in np.eye(len(x))], axis=-1)


# ---- closed forms


def test_a_wheel_stops_at_a_constant_rate():
    """Its mass center is on its axis: the pin carries m g, and u falls by mu r m g / I."""
    system = pendulum(length=0.0, inertia=0.02, slow=SLOW)
    stop = 3.0 / (MU * R * G / 0.02)
    traj = cd.simulate(system, system.state(u=[3.0]), stop, accuracy=1e-9, integrator="rodas")
    early = traj.t < 0.9 * stop
    # off by v_t^2 / (2 (r u)^2) = 1e-7 where u is a tenth of its start
    np.testing.assert_allclose(traj.u[early, 0], 3.0 * (1 - traj.t[early] / stop), atol=1e-6)
    assert abs(traj.u[-1, 0]) < 10 * SLOW / R


@pytest.mark.parametrize("u", [1.5, -2.5, 0.0])
def test_a_pendulum_by_hand(u):
    """Newton and Euler in the plane: F = m (a - g), and one equation for the acceleration."""
    system, l, q = pendulum(), 0.5, 0.4

    def rest(a):
        acc = l * np.array([np.cos(q) * a - np.sin(q) * u * u, np.sin(q) * a + np.cos(q) * u * u])
        N = np.hypot(*(acc + [0, G]))
        return (0.01 + l * l) * a + G * l * np.sin(q) + MU * R * N * R * u / np.hypot(R * u, 1e-3)

    a = system.forward_dynamics([q], [u])[0]
    assert a == pytest.approx(brentq(rest, -50, 50, xtol=1e-13), abs=1e-11)  # brentq's own tolerance


def test_swings_shrink_by_the_same_angle():
    """Coulomb's decay: small swings lose 4 mu r / l of their amplitude in each period, where the pin carries
    m g; that grows with the swing by its square."""
    system = pendulum(mu=0.1, radius=0.005, inertia=1e-6, slow=1e-6)
    traj = cd.simulate(system, system.state(q=[0.2]), 4.0, accuracy=1e-8)
    period = 2 * np.pi * np.sqrt(0.5 / G)
    heights = [traj(k * period * (1 + 0.2**2 / 16)).q[0] for k in (1, 2)]
    lost = 4 * 0.1 * 0.005 / 0.5
    # the load differs from m g by the square of the swing, 4 % at 0.2 rad
    np.testing.assert_allclose([0.2 - heights[0], heights[0] - heights[1]], lost, rtol=0.05)


@pytest.mark.parametrize("slope", [0.1, 0.5, 1.2])
def test_a_block_slides_down_its_rail(slope):
    """a = g (sin - mu cos) on a rail that falls by this angle, and N = m g cos."""
    system = cd.System(gravity=(0, -G, 0))
    rail = (np.cos(slope), -np.sin(slope), 0.0)
    system.add_body("b", mobilizer=cd.Slider(axis=rail), mass=2.0, com=(0, 0.1, 0), inertia=(0.1, 0.1, 0.1))
    system.add_force("f", forces.JointFriction("b", MU, transition_speed=SLOW))
    a = system.forward_dynamics([0.0], [1.0])[0]
    assert a == pytest.approx(G * (np.sin(slope) - MU * np.cos(slope)), rel=1e-11)  # v_t^2 / 2 off
    assert system.applied_forces([0.0], [1.0])[0] == pytest.approx(-MU * 2 * G * np.cos(slope), rel=1e-11)


def test_a_shaft_rubs_along_its_helix():
    """A horizontal cylinder that turns and slides: friction mu N against the slip (r w, v) of its surface."""
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("b", mobilizer=cd.Cylinder(), mass=2.0, com=(0, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.add_force("f", forces.JointFriction("b", MU, R, transition_speed=SLOW))
    w, v = 4.0, 0.06
    slip = np.hypot(R * w, v)
    expected = -MU * 2 * G * np.array([R * R * w, v]) / slip
    # v_t^2 / (2 slip^2) off, 5e-11
    np.testing.assert_allclose(system.applied_forces([0, 0], [w, v]), expected, rtol=1e-9)


def test_a_load_that_friction_can_hold_creeps():
    """Below the limit the slip is v_t x / sqrt(1 - x^2), x the share of the limit."""
    system = cd.System(gravity=(0, -G, 0))
    slope = 0.2
    rail = (np.cos(slope), -np.sin(slope), 0.0)
    system.add_body("b", mobilizer=cd.Slider(axis=rail), mass=2.0, inertia=(0.1, 0.1, 0.1))
    system.add_force("f", forces.JointFriction("b", MU))
    traj = cd.simulate(system, system.state(), 1.0, integrator="rodas", accuracy=1e-8)
    x = np.tan(slope) / MU
    assert traj.u[-1, 0] == pytest.approx(1e-3 * x / np.sqrt(1 - x * x), rel=1e-6)  # of the run


# ---- many joints


@pytest.mark.parametrize("seed", [0, 1])
def test_the_fixed_point_is_that_of_an_iteration_outside(seed, rubbing):
    """Friction by NumPy from reactions of a system without friction, again and again."""
    bare = tree(law=False)
    q, u, tau = posed(bare, seed)
    f = np.zeros(bare.nu)
    for _ in range(60):
        udot = bare.forward_dynamics(q, u, tau + f)
        F = bare.reactions(q, u, udot)
        f = friction(bare, q, u, F)
    ours = rubbing.forward_dynamics(q, u, tau)
    # both solve to rounding; conditions of these mass matrices are up to 1e3
    np.testing.assert_allclose(ours, udot, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(rubbing.reactions(q, u, ours), F, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rubbing.inverse_dynamics(q, u, ours), tau, atol=1e-9)
    assert np.linalg.norm(f) > 0.1


def test_lanes_states_and_disabled_joints(rubbing):
    q, u, _ = posed(rubbing, 4)
    one = rubbing.forward_dynamics(q, u)
    np.testing.assert_allclose(
        rubbing.forward_dynamics(np.stack([q] * 9), np.stack([u] * 9)), [one] * 9, 1e-12
    )
    state = rubbing.state(q=q, u=u)
    np.testing.assert_allclose(state.udot, one, rtol=1e-12)
    power = state.power()
    assert np.all(power[1:] < 0) and rubbing.forces[0] == "gravity"
    off = tuple(name for name in rubbing.forces if name != "gravity")
    np.testing.assert_allclose(
        rubbing.forward_dynamics(q, u, disabled=off),
        tree(law=False).forward_dynamics(q, u),
        rtol=1e-11,
        atol=1e-11,
    )
    np.testing.assert_allclose(
        tree(mu=0.0).forward_dynamics(q, u), tree(law=False).forward_dynamics(q, u), rtol=1e-11, atol=1e-11
    )
    again = pickle.loads(pickle.dumps(rubbing))
    np.testing.assert_array_equal(again.forward_dynamics(q, u), one)
    locked = rubbing.forward_dynamics(q, u, locked=("pin",))
    assert locked[0] == 0 and np.isfinite(locked).all()


@pytest.mark.parametrize("operator", ["forward_dynamics", "inverse_dynamics"])
def test_derivatives(operator, rubbing):
    """Jacobians against differences, gradients against Jacobians."""
    q, u, tau = posed(rubbing, 5)
    J = rubbing.jacobian(operator, q, u, tau, wrt=("q", "u"))
    last = "tau" if operator == "forward_dynamics" else "udot"
    J |= {last: rubbing.jacobian(operator, q, u, tau, wrt=last)}
    call = getattr(rubbing, operator)

    def moved(dq):
        rate = rubbing.qdot(q, dq)
        x = q + rate
        ball = rubbing.body("ball").q
        x[ball] = cd_quaternion(q[ball], dq[rubbing.body("ball").u])
        return x

    def cd_quaternion(e, w):
        """e turned by w, in F."""
        a = np.linalg.norm(w)
        d = np.concatenate([[np.cos(a / 2)], w / 2 * np.sinc(a / 2 / np.pi)])
        v = d[0] * e[1:] + e[0] * d[1:] + np.cross(d[1:], e[1:])
        return np.concatenate([[d[0] * e[0] - d[1:] @ e[1:]], v])

    zero = np.zeros(rubbing.nu)
    by = {
        "q": central(lambda d: call(moved(d), u, tau), zero, 1e-3),
        "u": central(lambda d: call(q, u + d, tau), zero, 1e-3),
        last: central(lambda d: call(q, u, tau + d), zero, 1e-2),
    }
    for name, expected in by.items():
        # differences of order 8; friction changes over 1e-3 m/s of slip
        np.testing.assert_allclose(J[name], expected, atol=1e-7 * abs(expected).max(), err_msg=name)
    w = np.linspace(-1, 1, rubbing.nu)
    back = rubbing.vjp(operator, q, u, tau, cotangent=w, wrt=("q", "u"))
    forth = rubbing.jvp(operator, q, u, tau, tangents={"q": w, "u": w})
    np.testing.assert_allclose(back["q"], w @ J["q"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(forth, (J["q"] + J["u"]) @ w, rtol=1e-9, atol=1e-9)


def test_a_run_and_its_derivatives():
    """Energy falls by the power of friction; derivatives of the end against differences."""
    system = cd.System(gravity=(0, -G, 0))
    for i, parent in enumerate(("ground", "b0")):
        X_PF = (0, -0.5, 0) if i else (0, 0, 0)
        system.add_body(f"b{i}", parent, cd.Pin(), X_PF=X_PF, mass=1.0, com=(0, -0.5, 0), inertia=(0.01,) * 3)
        system.add_force(f"f{i}", forces.JointFriction(f"b{i}", cd.Parameter("mu", MU), R))
    traj = cd.simulate(system, system.state(q=[1.0, 0.5]), 1.0, accuracy=1e-9)
    E = np.array([sum(s.energy()) for s in traj])
    P = np.array([s.power()[1:].sum() for s in traj])
    assert (np.diff(E) < 1e-8).all()  # of the run
    # trapezoids over the steps of the run
    assert E[-1] - E[0] == pytest.approx(np.trapezoid(P, traj.t), rel=1e-3)
    J = traj.jacobian(wrt=("q", "parameters"))

    def end(d):
        start = system.state(q=[1.0 + d[0], 0.5], parameters={"mu": MU + d[1]})
        return cd.simulate(system, start, 1.0, accuracy=1e-10).q[-1]

    expected = central(end, np.zeros(2), 1e-2)
    np.testing.assert_allclose(J["q"][:2, 0], expected[:, 0], rtol=1e-4)  # of the run, over the step
    np.testing.assert_allclose(J["parameters"][:2, 0], expected[:, 1], rtol=1e-4)
    assert 0.1 < traj.growth().overall < 100  # it is found at all
    for method in ("rodas", "bdf", "verlet", "rkc"):
        other = cd.simulate(system, system.state(q=[1.0, 0.5]), 1.0, accuracy=1e-6, integrator=method)
        np.testing.assert_allclose(other.q[-1], traj.q[-1], atol=1e-4)  # ten times the accuracy, and growth


def four_bar(mu, law=True):
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("a", mobilizer=cd.Pin(), mass=1.0, com=(0.25, 0, 0), inertia=(0.03,) * 3)
    system.add_body("b", "a", cd.Pin(), X_PF=(0.5, 0, 0), mass=2.0, com=(0.5, 0, 0), inertia=(0.2,) * 3)
    system.add_body("c", mobilizer=cd.Pin(), X_PF=(1, 0, 0), mass=1.5, com=(0.35, 0, 0), inertia=(0.06,) * 3)
    system.add_constraint("loop", cd.constraints.Ball("b", (1, 0, 0), "c", (0.7, 0, 0)))
    for name in "abc" if law else "":
        system.add_force(f"f{name}", forces.JointFriction(name, mu, R))
    return system


def test_a_closed_loop_with_redundant_equations():
    """The same iteration outside, with multipliers; energy falls in a run."""
    system, bare, mu = four_bar(0.8), four_bar(0.8, law=False), 0.8
    state = cd.assemble(bare, bare.state(q=[1.0, -0.6, 1.8]))
    q, u = bare.project(state.q, [2.0, -1.0, 1.0])[:2]
    f = np.zeros(3)
    for _ in range(60):
        udot, lambda_ = bare.forward_dynamics(q, u, f), bare.multipliers(q, u, f)
        F = bare.reactions(q, u, udot, lambda_=lambda_)
        f = -mu * R * np.linalg.norm(F[:, 3:], axis=1) * R * u / np.hypot(R * u, 1e-3)
    # both solve to rounding
    np.testing.assert_allclose(system.forward_dynamics(q, u), udot, rtol=1e-11)
    np.testing.assert_allclose(system.multipliers(q, u), lambda_, atol=1e-10)
    traj = cd.simulate(system, system.state(q=q, u=u), 1.0, accuracy=1e-7)
    E = np.array([sum(s.energy()) for s in traj])
    assert traj.finished and (np.diff(E) < 1e-6).all() and E[-1] < E[0] - 0.4  # of the run
    with pytest.raises(DescriptionError, match="constraints act on these too"):
        system.inverse_dynamics(q, u, udot)


# ---- laws that users write


def test_a_law_in_python_is_the_same():
    """On the speed, and as torques on both bodies: the joint's force is the same either way."""

    def on_speed(s):
        F, u = s.reaction("b"), s.u("b")
        N = np.sqrt(F[3] ** 2 + F[4] ** 2 + F[5] ** 2)
        return {"b": -MU * R * N * R * u / np.sqrt((R * u) ** 2 + 1e-6)}

    def as_torque(s):
        return {"b": cd.Wrench(torque=(0, 0, on_speed(s)["b"]))}

    expected = pendulum().forward_dynamics([0.4], [1.5])
    for law in (on_speed, as_torque):
        system = pendulum(mu=0.0)
        system.add_force("mine", forces.Custom(law))
        np.testing.assert_allclose(system.forward_dynamics([0.4], [1.5]), expected, rtol=1e-13)
        tau = system.inverse_dynamics([0.4], [1.5], expected)
        np.testing.assert_allclose(tau, 0.0, atol=1e-13)


def test_wear_is_an_auxiliary_state():
    """Archard: the work of friction, as a state of a law that exerts nothing else."""

    def worn(s):
        F, u = s.reaction("b"), s.u("b")
        N = np.sqrt(F[3] ** 2 + F[4] ** 2 + F[5] ** 2)
        return {"work": MU * N * R * np.sqrt(u * u + 1e-20)}

    system = pendulum(slow=1e-7)
    system.add_force("wear", forces.Custom(lambda s: {"b": 0.0 * s.u("b")}, states={"work": 0.0}, zdot=worn))
    traj = cd.simulate(system, system.state(q=[1.0]), 0.4, accuracy=1e-8)
    E = [sum(s.energy()) for s in (traj[0], traj[-1])]
    assert traj.z[-1, 0] == pytest.approx(E[0] - E[1], rel=1e-5)  # of the run


# ---- what is refused


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (cd.Weld(), "does not move"),
        (cd.Free(), "moves freely"),
        (cd.Translation(), "moves freely"),
        (cd.Pin(), "radius"),
    ],
)
def test_joints_without_a_bearing(joint, words):
    system = cd.System()
    system.add_body("b", mobilizer=joint, mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(DescriptionError, match=words):
        system.add_force("f", forces.JointFriction("b", 0.3))


def test_names_and_numbers():
    system = pendulum()
    for body, error in (("ground", DescriptionError), ("c", UnknownNameError)):
        with pytest.raises(error):
            system.copy().add_force("g", forces.JointFriction(body, 0.3, 0.1))
    for numbers in ((-0.1, 0.1), (0.1, -0.1), (np.nan, 0.1)):
        with pytest.raises(DescriptionError):
            forces.JointFriction("b", *numbers)
    with pytest.raises(DescriptionError, match="transition_speed"):
        forces.JointFriction("b", 0.1, 0.1, transition_speed=0.0)
    with pytest.raises(ArgumentError, match="no argument mu=; it is coefficient="):
        forces.JointFriction("b", mu=0.1)


def test_friction_that_holds_itself_is_said():
    """mu r is more than the arm of what it brakes: many answers or none."""
    system = pendulum(mu=200.0)
    with pytest.raises(ConvergenceError, match="'f'"):
        system.forward_dynamics([0.4], [1.5])
    with pytest.raises(ConvergenceError, match="'f'"):
        system.power([0.4], [1.5])
    traj = cd.simulate(system, system.state(q=[0.4], u=[1.5]), 0.1)
    assert traj.status == cd.Status.NOT_FINITE and "'f'" in traj.status


def test_who_may_not_ask():
    load = lambda s: s.reaction("b")[3]
    for make in (forces.Potential, cd.Event, cd.measures.Integral):
        with pytest.raises(TraceError, match=r"only cd\.forces\.Custom"):
            make(load)
    moving = pendulum(mu=0.0)
    at = lambda s: {"b": cd.Wrench(force=(1, 0, 0), at=(s.reaction("b")[3], 0, 0))}
    moving.add_force("g", forces.Custom(at))
    with pytest.raises(DescriptionError, match="at="):
        moving.forward_dynamics([0.4], [1.5])


def test_studies_that_do_not_solve_for_it():
    system = pendulum()
    motion = cd.simulate(system, system.state(q=[0.4]), 0.2)
    np.testing.assert_allclose(cd.inverse_dynamics(system, motion)["b"], 0.0, atol=1e-12)
    with pytest.raises(DescriptionError, match="reactions"):
        cd.induced_accelerations(system, motion)
    problem = cd.Problem(system, duration=1.0)
    problem.minimize(cd.goals.Effort())
    with pytest.raises(DescriptionError, match="reactions"):
        cd.solve(problem)
    with pytest.raises(DescriptionError, match="maximal"):
        cd.maximal.forward_dynamics(system, [0.4], [0.0])
    pulled = pendulum()
    path = cd.paths.Path([("ground", (0.1, 0, 0)), ("b", (0, -0.2, 0))])
    pulled.add_force("m", cd.muscles.Thelen2003(path, 100.0, 0.1, 0.1))
    with pytest.raises(DescriptionError, match="'m', which this study leaves out"):
        cd.static_optimization(pulled, motion.table())
    stopped = pendulum()
    stopped.add_constraint("stop", cd.constraints.Stop("b", upper=1.0))
    with pytest.raises(DescriptionError, match="acts one way"):
        stopped.state()
