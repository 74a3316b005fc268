"""What a review of the dynamics found: each of these was wrong once."""
from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers import motion_at
from condyle.model.layouts import build_looped
from condyle.model.operators import OPERATORS
from condyle.native.calls.function import NativeFunction
from condyle.spatial import rotation_x, rotation_z

ROUNDING = 1e-12                                             # a few operations on numbers of order one


def pendulum(**options) -> cd.System:
    system = cd.System(**options)
    system.add_body("a", "ground", cd.Pin("y"), mass=1.0, com=(0.1, 0.0, 0.2), inertia=(1.0, 1.1, 1.2))
    return system


@pytest.mark.parametrize("switch", [
    lambda x: np.tanh(0.5 * x), lambda x: 1 / (1 + np.exp(-x)), lambda x: (1 + x / 60) ** 12])
def test_smooth_switch_far_from_zero_stays_in_the_hinge_matrix(switch):
    """Coordinates in degrees, and a rotation that sets in at 60 of them: H_w must not be folded by values near zero."""
    degree = np.pi / 180
    joint = cd.Custom(("knee",), lambda q: (rotation_z(q * degree) @ rotation_x(0.1 * switch(q - 60)), np.zeros(3)))
    h = 1e-4
    slope = 0.1 * (switch(h) - switch(-h)) / (2 * h)
    expected = [slope * np.cos(60 * degree), slope * np.sin(60 * degree), degree]
    H_w = motion_at(joint, 0.0, [60.0], [1.0])[2].ravel()
    np.testing.assert_allclose(H_w, expected, atol=1e-9)     # central differences with h = 1e-4


def test_disabled_force_in_the_looped_layout():
    """A disabled law neither moves its states nor stores energy, be that NaN."""
    system = pendulum()
    system.add_force("heat", cd.forces.NoseHooverThermostat(300.0, 1.0, boltzmann=1e-2))
    system.add_force("root", cd.forces.Potential(lambda s: np.sqrt(s.q("a"))))
    q, u = np.array([-0.3]), np.array([0.7])
    tail = system.compiled.tail(disabled=("heat", "root"), z=np.arange(1.0, 7.0))
    for name, expected in (("zdot", system.zdot(q, u, disabled="heat")), ("energy", system.energy(q, u, disabled="root"))):
        operator = OPERATORS[name]
        looped = NativeFunction(name, lambda name=name: build_looped(system.compiled.model, name), key=f"review looped {name}",
                                inputs=operator.inputs(system.compiled.model), outputs=operator.outputs(system.compiled.model))
        np.testing.assert_allclose(np.ravel(looped(q, u, tail)), np.ravel(expected), atol=ROUNDING)
    assert not system.zdot(q, u, disabled="heat", z=np.arange(1.0, 7.0)).any()


def test_inputs_do_not_describe_bodies():
    """They would move a body without a speed, and poses do not wait for inputs in a State."""
    for given in ({"mass": cd.Input("m", 1.0)}, {"X_PF": (cd.Input("x", 0.1), 0, 0)},
                  {"X_BM": (0, cd.Parameter("L", 1.0) * cd.Input("y", 0.1), 0)}):
        with pytest.raises(cd.errors.DescriptionError, match=r"Input.*cd\.Parameter"):
            cd.System().add_body("a", "ground", cd.Pin(), **{"mass": 1.0, "inertia": (1, 1, 1), **given})


@pytest.mark.parametrize("by_name", [True, False])
def test_weight_comes_back_once(by_name):
    """Gravity that leaves a body alone: named twice, or given as the body itself."""
    first = pendulum()
    system = pendulum(gravity=cd.forces.Gravity((0.0, 0.0, -9.81), excluded=("a", "a") if by_name else first.body("a")))
    q, u = np.array([0.4]), np.zeros(1)
    assert abs(system.forward_dynamics(q, u)[0]) < ROUNDING
    assert system.gravity_forces(q)[0] == 0.0
    assert system.energy(q, u) == (0.0, 0.0)


def test_mass_centre_without_mass_is_nan():
    system = cd.System()
    system.add_body("frame", "ground", cd.Weld(), X_PF=(1.0, 2.0, 3.0))
    q, u = system.defaults()
    assert np.isnan(system.mass_centre(q)).all()
    assert np.isnan(system.mass_centre_velocity(q, u)).all()
    assert not system.momentum(q, u).any()


def test_joint_that_moves_only_later():
    """Its tangent vanishes at t = 0 for every q; that is no reason to refuse it."""
    system = cd.System(gravity=(0, 0, 0))
    joint = cd.FunctionBased(("k",), (None, None, lambda t, q: q * t), time=True)
    system.add_body("a", "ground", joint, mass=1.0, inertia=(1, 1, 2))
    # angle = q t: acceleration t udot + 2 u = 0
    assert system.forward_dynamics([0.3], [0.5], t=2.0)[0] == pytest.approx(-0.5, abs=ROUNDING)


def test_parameter_as_a_constant_of_function_based():
    system = cd.System()
    joint = cd.FunctionBased(("k",), (None, None, lambda q: q), (cd.Parameter("offset", 0.2), None, None))
    system.add_body("a", "ground", joint, mass=1.0, inertia=(1, 1, 1))
    assert system.body_pose([0.3], "a", parameters={"offset": 0.7}).p.tolist() == [0.7, 0.0, 0.0]


def test_jacobian_of_ground_broadcasts():
    system = pendulum()
    for options, station in (({"t": np.zeros(4)}, (0, 0, 0)), ({}, np.zeros((4, 3)))):
        for body in ("a", "ground"):
            assert system.station_jacobian([0.1], body, station, **options).shape == (4, 3, 1)


@pytest.mark.parametrize("seed", range(8))
def test_four_sliders_without_mass_between_are_refused(seed):
    """Four speeds for three directions: elimination leaves rounding, which is nothing beside what the first slider carries."""
    rng, system = np.random.default_rng(seed), cd.System()
    for name, parent in zip("abcd", ("ground", *"abc"), strict=True):
        last = {"mass": 1.0, "inertia": (1, 1, 1)} if name == "d" else {}
        system.add_body(name, parent, cd.Slider(rng.normal(size=3)), **last)
    with pytest.raises(cd.errors.DescriptionError, match="moves no inertia"):
        system.state()


def test_particle_welded_to_a_massless_rod():
    """All inertia comes from the distance of what is carried: a simple pendulum, not a mobilizer without inertia."""
    system = cd.System()
    system.add_body("rod", "ground", cd.Pin())
    system.add_body("bob", "rod", cd.Weld(), X_PF=(0, -2, 0), mass=1.5)
    assert system.forward_dynamics([0.3], [0.0])[0] == pytest.approx(-9.81 / 2 * np.sin(0.3), abs=ROUNDING)


def test_jacobians_far_from_the_origin():
    """A free tree 10 km away: digits are lost in proportion to the distance, not to its square."""
    system = cd.System()
    system.add_body("base", "ground", cd.Free(), X_BM=(0.1, 0.2, 0.0), mass=1.0, com=(0.1, 0.0, 0.2), inertia=(1.0, 1.1, 1.2))
    system.add_body("leg", "base", cd.Pin(), X_PF=(0.1, -0.2, 0.3), mass=1.0, com=(0.0, -0.2, 0.1), inertia=(1.0, 1.1, 1.2))
    rng = np.random.default_rng(0)
    near = np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies])
    far = near + 1e4 * np.array([0, 0, 0, 0, 1, 1, 1, 0])
    u, udot = rng.normal(size=(2, system.nu))
    J = [system.jacobian("inverse_dynamics", q, u, udot, wrt=("q", "u")) for q in (near, far)]
    for name in ("q", "u"):
        np.testing.assert_allclose(J[1][name], J[0][name], atol=1e-10)   # 1e4 m times rounding times sums of some ten terms


@pytest.mark.parametrize("evaluator", ["native", "casadi"])
def test_derivatives_report_lost_rank(evaluator, monkeypatch):
    """Gimbal lock: not NaN from a Jacobian, nor 1e16 from a jvp."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", evaluator)
    system = cd.System()
    system.add_body("a", "ground", cd.Gimbal(), mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1.0, 1.1, 1.2))
    good, lock, u = np.array([0.3, 0.5, 0.2]), np.array([0.3, np.pi / 2, 0.2]), np.array([0.1, 0.2, 0.3])
    both = np.stack([good, lock])
    ask = {
        "jacobian": lambda q: system.jacobian("forward_dynamics", q, u, wrt=("q", "u", "tau")),
        "jacobian by t": lambda q: system.jacobian("forward_dynamics", q, u, wrt="t"),
        "jvp": lambda q: system.jvp("forward_dynamics", q, u, tangents={"q": u}),
        "vjp": lambda q: system.vjp("forward_dynamics", q, u, cotangent=u, wrt=("q", "u")),
        "solve": lambda q: system.jvp("solve_mass_matrix", q, u, tangents={"q": u})}
    for kind, call in ask.items():
        whole = call(good)
        for q in (lock, both):
            with pytest.raises(cd.errors.SingularError, match=r"'a'.*a_rz") as error:
                call(q)
        first = next(iter(whole.values())) if isinstance(whole, dict) else whole
        np.testing.assert_allclose(error.value.result[0], first.ravel(), rtol=ROUNDING, err_msg=kind)
        assert np.isnan(error.value.result[1]).all()
