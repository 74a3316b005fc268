"""Redundant and disabled constraints, locks, Parameters, users' functions, States, pickles, derivatives."""

from __future__ import annotations

import pickle
from operator import attrgetter

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.constraints.solve.straight_blocks import _doubts, _scales
from tests.constraints.rig import EVERY, rig, state

C = cd.constraints
# Rounding over 1e-12 of the trace, once more divided by that in step (4) of multipliers.py.
LEAST_NORM = 1e-7


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_delicate_in_any_unit_of_length(unit):
    """multipliers.py (7) for two rows alike: D / Y = 0.1 is not below 3e-3, 1e-3 is, whatever |G|^2 is."""
    lengths, own = ca.DM([unit, unit]), ca.DM([2.0, 2.0])
    e = _scales(own, lengths)
    found = [float(_doubts(own, lengths, e, share * own)) for share in (0.1, 1e-3)]
    assert found == [0, 1]


@pytest.mark.parametrize("name", ["Rod", "Ball", "Weld", "PointOnLine", "ConstantCoordinate", "SpeedCoupler"])
def test_doubled_constraints_share_the_load(name):
    once, twice = rig(name), rig(name, again=EVERY[name])
    q, u = state(once)
    lambda_, both = once.multipliers(q, u), twice.multipliers(q, u)
    m = len(once.constraints.equations())
    np.testing.assert_allclose(both[:m], lambda_ / 2, rtol=0, atol=LEAST_NORM * np.abs(lambda_).max())
    np.testing.assert_allclose(both[m:], both[:m], rtol=0, atol=LEAST_NORM * np.abs(lambda_).max())
    udot = once.forward_dynamics(q, u)
    np.testing.assert_allclose(twice.forward_dynamics(q, u), udot, rtol=0, atol=1e-9 * np.abs(udot).max())
    assert twice.constraints.rank(q, u)[0] == once.constraints.rank(q, u)[0] == m


@pytest.mark.parametrize("seed", range(4))
def test_multipliers_have_the_least_norm(seed):
    """Ball inside Weld, a rod between the same bodies that the weld makes redundant: rank 6 of 10 equations.
    Multipliers count by the root of Y_ii, which no choice of units changes."""
    print(f"seed {seed}")
    system = rig("Weld", "Rod", at=C.Ball("tip", (0.1, 0.2, -0.1), "float", (0.1, 0.0, 0.2)))
    q, u = state(system, seed)
    q, u = rig("Weld").project(q, u)
    # On the weld every equation is consistent but the rod's length, whose rate is.
    lambda_ = system.multipliers(q, u)
    G, M = system.constraints.jacobian(q, u), system.mass_matrix(q)
    Y = G @ np.linalg.solve(M, G.T)
    free = system.forward_dynamics(q, u, disabled=system.constraints)
    scale = np.sqrt(np.diag(Y))  # the norm is that of the multipliers times these
    Y = Y / scale / scale[:, None]
    expected = np.linalg.lstsq(Y, (G @ free + system.constraints.bias(q, u)) / scale, rcond=1e-10)[0] / scale
    np.testing.assert_allclose(lambda_, expected, rtol=0, atol=LEAST_NORM * np.abs(expected).max())
    rank, condition = system.constraints.rank(q, u)
    assert rank == 6
    sizes = np.linalg.svd(Y, compute_uv=False)
    np.testing.assert_allclose(condition, sizes[0] / sizes[5], rtol=1e-6)


def test_disabled_constraints_are_not_there():
    system, without = rig("Rod", "ConstantCoordinate", "NoSlip1D"), rig("ConstantCoordinate")
    q, u = state(system)
    off = ["Rod", "NoSlip1D"]
    udot = without.forward_dynamics(q, u)
    np.testing.assert_allclose(
        system.forward_dynamics(q, u, disabled=off), udot, rtol=0, atol=1e-10 * np.abs(udot).max()
    )
    lambda_ = system.multipliers(q, u, disabled=off)
    assert lambda_[0] == lambda_[2] == 0
    np.testing.assert_allclose(lambda_[1], without.multipliers(q, u)[0], rtol=1e-10)
    assert not system.constraints.jacobian(q, u, disabled=off)[[0, 2]].any()
    p, v = system.constraints.errors(q, u, disabled=off)
    assert p[0] == v[0] == v[2] == 0
    assert p[1] == without.constraints.errors(q, u)[0][0] != 0
    none = rig()
    free = none.forward_dynamics(q, u)
    np.testing.assert_allclose(
        system.forward_dynamics(q, u, disabled=system.constraints),
        free,
        rtol=0,
        atol=1e-13 * np.abs(free).max(),
    )
    assert not system.multipliers(q, u, disabled=system.constraints).any()
    np.testing.assert_allclose(system.project(q, u, disabled=system.constraints)[0], q, rtol=0, atol=1e-15)


def test_what_a_disabled_constraint_computes_does_not_matter():
    system = rig(bad=C.Holonomic(lambda s: np.sqrt(s.q("elbow") + 0.05) + s.q("elbow")))
    q, u = state(system)
    q[1] = -0.3
    with pytest.raises(
        cd.errors.ConstraintError, match=r"forward_dynamics: constraint 'bad': G is not a number"
    ):
        system.forward_dynamics(q, u)
    assert np.isfinite(system.forward_dynamics(q, u, disabled=["bad"])).all()


def test_locked_speeds():
    system = rig("Ball")
    q, u = state(system)
    udot = system.forward_dynamics(q, u, locked=["shoulder", "elbow"])
    assert udot[0] == udot[1] == 0
    G, bias = system.constraints.jacobian(q, u), system.constraints.bias(q, u)
    np.testing.assert_allclose(G @ udot + bias, 0, atol=1e-9 * np.abs(bias).max())
    held = system.motion_forces(q, u, locked=["shoulder", "elbow"])
    force = system.constraints.forces(q, u, locked=["shoulder", "elbow"])
    # The locks and the constraint together are all that must be added for this udot.
    np.testing.assert_allclose(
        system.inverse_dynamics(q, u, udot), held + force, rtol=0, atol=1e-8 * np.abs(held).max()
    )
    assert np.abs(held[:2]).min() > 0.1
    assert not held[2:].any()


def test_numbers_may_be_parameters():
    length, x = cd.Parameter("length", 0.8), cd.Parameter("x", 0.1)
    system = rig(
        rod=C.Rod("tip", (x, 0.2, 0.0), "float", (0.0, 0.1, 0.3), length),
        plane=C.PointInPlane("tip", (0.3, 1.0, -2 * x), 0.2, "float", (0.0, 0.3, 0.1)),
    )
    q, u = state(system)
    for values in ({}, {"length": 1.1, "x": 0.25}):
        at = {"length": 0.8, "x": 0.1} | values
        fixed = rig(
            rod=C.Rod("tip", (at["x"], 0.2, 0.0), "float", (0.0, 0.1, 0.3), at["length"]),
            plane=C.PointInPlane("tip", (0.3, 1.0, -2 * at["x"]), 0.2, "float", (0.0, 0.3, 0.1)),
        )
        expected = fixed.forward_dynamics(q, u)
        np.testing.assert_allclose(
            system.forward_dynamics(q, u, parameters=values),
            expected,
            rtol=0,
            atol=1e-12 * np.abs(expected).max(),
        )
        np.testing.assert_allclose(
            system.constraints.errors(q, u, parameters=values)[0],
            fixed.constraints.errors(q, u)[0],
            rtol=0,
            atol=1e-15,
        )
    with pytest.raises(cd.errors.DescriptionError, match=r"Rod: length: expected .* above 0"):
        system.forward_dynamics(q, u, parameters={"length": -1.0})


def test_user_python_equals_rod_and_rolling():
    p_a, p_b = (0.1, 0.2, 0.0), (0.0, 0.1, 0.3)

    def distance(s):
        d = s.station_position("float", p_b) - s.station_position("tip", p_a)
        return np.sqrt(d @ d) - s.parameter("length", 0.8)

    def slip(s):
        X, P = s.body_pose("float"), s.station_position("float", (0.1, 0.2, 0.0))
        velocity = lambda b: (
            s.station_velocity(b) + np.cross(s.angular_velocity(b), P - s.station_position(b))
        )
        n = X.R @ (np.array([0.0, 1.0, 0.4]) / np.sqrt(1.16))
        return n @ (velocity("tip") - velocity("upper"))

    for ours, own in (
        (rig("Rod"), rig(own=C.Holonomic(distance))),
        (rig("NoSlip1D"), rig(own=C.Nonholonomic(slip))),
    ):
        q, u = state(ours)
        np.testing.assert_allclose(own.multipliers(q, u), ours.multipliers(q, u), rtol=1e-11)
        udot = ours.forward_dynamics(q, u)
        np.testing.assert_allclose(own.forward_dynamics(q, u), udot, rtol=0, atol=1e-12 * np.abs(udot).max())


def test_a_coupler_takes_splines():
    knee = cd.Spline([-2.0, -1.0, 0.0, 1.0, 2.0], [0.3, 0.1, 0.0, 0.2, 0.3])
    system = rig(groove=C.CoordinateCoupler(lambda a, b: b - knee(a), ("shoulder", "elbow")))
    q, u = state(system)
    q, u = system.project(q, u)
    assert q[1] == pytest.approx(float(knee(q[0])), abs=1e-10)
    slope = float(knee.derivative(q[0]))
    assert u[1] == pytest.approx(slope * u[0], abs=1e-10)
    udot = system.forward_dynamics(q, u)
    assert udot[1] == pytest.approx(slope * udot[0] + float(knee.derivative(q[0], 2)) * u[0] ** 2, abs=1e-9)


def test_reactions_balance():
    """What a constraint does to one body it does to the other the other way round, moments about one point
    included."""
    system = rig("Weld")
    q, u = rig("Weld").project(*state(system))
    wrench = system.constraints.reactions(q, u, "Weld")
    total = np.zeros(6)
    for body, F in wrench.items():
        p = system.body_pose(q, body).p
        total += np.concatenate([F[:3] + np.cross(p, F[3:]), F[3:]])
    assert set(wrench) == {"tip", "float"}
    np.testing.assert_allclose(total, 0, atol=1e-9 * np.abs(wrench["tip"]).max())
    assert system.constraints.reactions(q, u, "Weld", disabled=["Weld"])["tip"].any() == False  # noqa: E712
    # With multipliers the mobilizers' reactions obey H' F = tau: nothing along the free directions.
    udot, lambda_ = system.forward_dynamics(q, u), system.multipliers(q, u)
    F = system.reactions(q, u, udot, "float", lambda_)
    np.testing.assert_allclose(F, 0, atol=1e-8 * np.abs(lambda_).max())
    assert np.abs(system.reactions(q, u, udot, "float")).max() > 1


def test_states_copies_and_pickles():
    system = rig("Rod", "CoordinateCoupler")
    q, u = state(system)
    udot = system.forward_dynamics(q, u)
    at = system.state(q=q, u=u)
    np.testing.assert_array_equal(at.udot, udot)
    np.testing.assert_array_equal(at.multipliers(), system.multipliers(q, u))
    np.testing.assert_array_equal(at.constraints.errors()[0], system.constraints.errors(q, u)[0])
    off = at.replace(disabled=["Rod"])
    assert at.constraints.errors()[0][0] != 0 == off.constraints.errors()[0][0]
    assert at.constraints.jacobian()[0].any()
    assert not off.constraints.jacobian()[0].any()
    np.testing.assert_array_equal(off.udot, system.forward_dynamics(q, u, disabled=["Rod"]))
    again = pickle.loads(pickle.dumps(system))
    assert again.constraints == ("Rod", "CoordinateCoupler")
    np.testing.assert_array_equal(again.forward_dynamics(q, u), udot)
    more = system.copy()
    more.add_constraint("hold", C.ConstantCoordinate("twist", 0.0))
    assert len(more.constraints.equations()) == len(system.constraints.equations()) + 1
    assert abs(more.forward_dynamics(q, u)[2]) < 1e-9
    assert system.constraints.rows("CoordinateCoupler") == slice(1, 2)


def test_other_operators_may_be_looped(monkeypatch):
    """Flags of constraints in the tail do not disturb what is made of loops; accelerations then stay a
    straight line."""
    names = ("forward_dynamics", "qdot", "energy", "power", "applied_forces", "mass_matrix")
    plain = rig("Rod", "ConstantCoordinate")
    q, u = state(plain)
    monkeypatch.delenv("CONDYLE_EVALUATOR")
    monkeypatch.setenv("CONDYLE_LAYOUT", "looped")
    looped = rig("Rod", "ConstantCoordinate")
    off = {"disabled": ["spring", "Rod"], "locked": ["twist"]}
    for name in names:
        arguments = (q,) if name == "mass_matrix" else (q, u)
        x, y = (np.asarray(attrgetter(name)(system)(*arguments, **off)) for system in (looped, plain))
        # Loops add up in another order; 1e3 sums.
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-11 * max(1, np.abs(y).max()))


def test_a_lock_that_leaves_a_constraint_nothing_to_move():
    """Its row of Y is zero: it has no multiplier, and the rest moves as if it were not there."""
    system, without = rig("ConstantSpeed", "Rod"), rig("Rod")
    q, u = state(system)
    locked = ["shoulder"]
    assert system.multipliers(q, u, locked=locked)[0] == 0
    udot = without.forward_dynamics(q, u, locked=locked)
    np.testing.assert_allclose(
        system.forward_dynamics(q, u, locked=locked), udot, rtol=0, atol=1e-10 * np.abs(udot).max()
    )


def test_explain_names_the_constraint():
    system = rig("Rod", bad=C.Holonomic(lambda s: np.sqrt(s.q("elbow") + 0.05) + s.q("elbow")))
    q, u = state(system)
    q[1] = -0.3
    at = system.state(q=q, u=u)
    assert system.explain(at).first == "constraint 'bad': G"
    good = system.explain(at.replace(disabled=["bad"]))
    assert good.first is None
    np.testing.assert_allclose(
        good.values["multipliers of 'Rod'"], at.replace(disabled=["bad"]).multipliers()[:1], rtol=1e-12
    )


def test_a_system_without_constraints_answers_with_none():
    system = rig()
    q, u = state(system)
    assert len(system.constraints.equations()) == 0
    assert system.constraints.errors(q, u)[0].shape == (0,)
    np.testing.assert_array_equal(system.project(q, u)[1], u)


@pytest.mark.parametrize(
    "names", [("Rod",), ("Ball", "CoordinateCoupler"), ("SpeedCoupler", "Holonomic")], ids=" ".join
)
def test_derivatives_of_accelerations(names):
    """jvp, vjp and Jacobian agree, and equal differences along the manifold."""
    system = rig(*names)
    q, u = state(system)
    tau, rng = np.zeros(system.nu), np.random.default_rng(4)
    dq, du, w = rng.normal(size=(3, system.nu))
    h = 0.01 * np.array([-4, -3, -2, -1, 1, 2, 3, 4])
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / 0.01
    step = system.qdot(q, dq)
    for operator, f in (("forward_dynamics", system.forward_dynamics), ("multipliers", system.multipliers)):
        d = system.jvp(operator, q, u, tau, tangents={"q": dq, "u": du})
        expected = np.tensordot(weights, np.stack([f(q + x * step, u + x * du) for x in h]), axes=1)
        # Differences of order 8 with 0.01: rounding 1e-13, and the ninth derivative of a stiff fraction.
        np.testing.assert_allclose(d, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    J = system.jacobian("forward_dynamics", q, u, tau, wrt=("q", "u"))
    d = system.jvp("forward_dynamics", q, u, tau, tangents={"q": dq, "u": du})
    scale = max(np.abs(J["q"]).max(), np.abs(J["u"]).max())
    np.testing.assert_allclose(J["q"] @ dq + J["u"] @ du, d, rtol=0, atol=1e-9 * scale)
    back = system.vjp("forward_dynamics", q, u, tau, cotangent=w, wrt=("q", "u", "tau"))
    np.testing.assert_allclose(back["q"] @ dq + back["u"] @ du, w @ d, rtol=0, atol=1e-8 * scale)


def test_derivatives_of_redundant_constraints():
    """Accelerations have them, multipliers do not."""
    once, twice = rig("Ball"), rig("Ball", again=EVERY["Ball"])
    q, u = state(once)
    tau = np.zeros(once.nu)
    expected = once.jacobian("forward_dynamics", q, u, tau, wrt="q")
    found = twice.jacobian("forward_dynamics", q, u, tau, wrt="q")
    # The rule needs multipliers, whose least norm is good to 1e-8, only through the sum of their forces.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    dq = np.ones(once.nu)
    np.testing.assert_allclose(
        twice.jvp("forward_dynamics", q, u, tau, tangents={"q": dq}),
        expected @ dq,
        rtol=0,
        atol=1e-8 * np.abs(expected).max(),
    )
    for _ in range(2):  # the second call finds the function made
        with pytest.raises(cd.errors.ConstraintError, match=r"multipliers .* rank 3 of 6"):
            twice.jacobian("multipliers", q, u, tau, wrt="q")
        with pytest.raises(cd.errors.ConstraintError, match=r"multipliers .* rank 3 of 6"):
            twice.vjp("multipliers", q, u, tau, cotangent=np.ones(6), wrt=("q",))
    assert twice.jacobian("multipliers", q, u, tau, wrt="q", disabled=["again"]).shape == (6, once.nu)


@pytest.mark.parametrize("inertia", [1e-3, 1e-6, 1e-9, 1e-12])
def test_light_bodies_do_not_hide_heavy_ones(inertia):
    """A trunk that is driven, and a bone geared to it: accelerations and multipliers are known beforehand,
    whatever it weighs."""
    system = cd.System()
    system.add_body("trunk", mobilizer=cd.Pin(), mass=70, com=(0, -0.5, 0), inertia=(10, 10, 10))
    system.add_body("bone", "trunk", cd.Pin(), X_PF=(0, -1, 0), mass=1e-3, inertia=(inertia,) * 3)
    system.add_constraint("gear", C.CoordinateCoupler(lambda a, b: b - 0.5 * a, ("trunk", "bone")))
    system.add_constraint("drive", C.PrescribedMotion(lambda t: 0.5 * np.sin(3 * t), "trunk"))
    q, u = system.project(*system.defaults(), t=0.3)
    udot = -4.5 * np.sin(0.9) * np.array([1.0, 0.5])
    # Two equations with pivots of their own scale: some roundings of numbers near 4, and of a moment near 300
    # N m.
    np.testing.assert_allclose(system.forward_dynamics(q, u, t=0.3), udot, rtol=0, atol=1e-12)
    G, h = system.constraints.jacobian(q, u, t=0.3), system.inverse_dynamics(q, u, udot, t=0.3)
    np.testing.assert_allclose(
        system.multipliers(q, u, t=0.3), np.linalg.solve(G.T, -h), rtol=1e-12, atol=1e-12
    )
    assert system.constraints.rank(q, u, t=0.3)[0] == 2


@pytest.mark.parametrize("inertia", [1e-4, 1e-6])
def test_two_constraints_through_one_light_body(inertia):
    """The bone is driven, the trunk only by the gear between them: what the trunk weighs is a small part of
    Y."""
    system = cd.System()
    system.add_body("trunk", mobilizer=cd.Pin(), mass=70, com=(0, -0.5, 0), inertia=(10, 10, 10))
    system.add_body("bone", "trunk", cd.Pin(), X_PF=(0, -1, 0), mass=1e-3, inertia=(inertia,) * 3)
    system.add_constraint("gear", C.CoordinateCoupler(lambda a, b: b - 0.5 * a, ("trunk", "bone")))
    system.add_constraint("drive", C.PrescribedMotion(lambda t: 0.5 * np.sin(3 * t), "bone"))
    q, u = system.project(*system.defaults(), t=0.3)
    condition = system.constraints.rank(q, u, t=0.3)[1]
    # Rounding times the condition of Y, up to 5e8; (4) of multipliers.py takes (1e-12 times it)^4.
    np.testing.assert_allclose(
        system.forward_dynamics(q, u, t=0.3),
        -4.5 * np.sin(0.9) * np.array([2.0, 1.0]),
        rtol=0,
        atol=1e-15 * condition,
    )


def test_a_constraint_on_held_speeds_alone():
    """A motion and a constraint that say the same: the motion does the work, the multiplier is zero, and the
    run goes on."""
    system, curve = cd.System(), lambda t: 0.5 * np.sin(3 * t)
    fields = {"mass": 1.0, "com": (0, -0.5, 0), "inertia": (0.02, 0.015, 0.01)}
    system.add_body("a", mobilizer=cd.Pin(), motion=cd.Prescribed(position=curve), **fields)
    system.add_body("b", "a", cd.Pin(), X_PF=(0, -1, 0), **fields)
    system.add_constraint("same", C.PrescribedMotion(curve, "a"))
    at = system.state(t=0.3, u={"b": 0.3})
    off = at.replace(disabled=["same"])
    assert at.multipliers()[0] == 0
    np.testing.assert_array_equal(at.udot, off.udot)
    np.testing.assert_array_equal(at.motion_forces(), off.motion_forces())
    assert cd.simulate(system, at, 0.5).finished
    # One that contradicts the motion changes nothing either: there is nothing that it could move.
    assert at.replace(t=0.4).replace(q={"b": 0.1}).multipliers()[0] == 0
    np.testing.assert_array_equal(
        system.forward_dynamics(at.q, at.u + 1, t=0.3),
        system.forward_dynamics(at.q, at.u + 1, t=0.3, disabled=["same"]),
    )


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
@pytest.mark.parametrize("rods", [1, 13])
def test_rods_that_move_nothing(rods, layout, monkeypatch):
    """From the center of a ball to points that turn about it: all of G is rounding, whatever a row of it says."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    monkeypatch.delenv("CONDYLE_EVALUATOR")
    free = cd.System()
    free.add_body("arm", mobilizer=cd.Gimbal(), mass=1, inertia=(0.1, 0.1, 0.2), com=(0.1, 0, 0))
    free.add_body("hand", "arm", cd.Pin(), mass=1, inertia=(0.01, 0.01, 0.01))
    held = free.copy()
    points = np.random.default_rng(5).standard_normal((rods, 3)) * (
        0,
        0,
        0.3,
    )  # on the pin, and about the ball
    for k, p in enumerate(points):
        held.add_constraint(f"rod{k}", cd.constraints.Rod("ground", (0, 0, 0), "hand", tuple(p), abs(p[2])))
    rng = np.random.default_rng(6)
    q, u = rng.standard_normal((2, 40, 4))
    want = free.forward_dynamics(q, u)
    np.testing.assert_allclose(held.forward_dynamics(q, u), want, rtol=0, atol=1e-12 * np.abs(want).max())
    for k in range(10):
        one = held.forward_dynamics(q[k], u[k])
        np.testing.assert_allclose(one, want[k], rtol=0, atol=1e-12 * np.abs(want).max())
