"""cd.static_optimization: OpenSim's numbers, forward dynamics with what was found, closed forms, edges."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.models import arm26
from condyle.studies.least_effort import least_effort
from tests.studies.arm import COORDINATES, INNER, arm, motion, reference

MUSCLES = "TRIlong", "TRIlat", "TRImed", "BIClong", "BICshort", "BRA"
VARIANTS = [(on, reserves) for on in (True, False) for reserves in (True, False)]


def opensim(physiology: bool, reserves: bool, what: str = "activation") -> np.ndarray:
    """Activations of the muscles, then of the reserves."""
    name = f"so_phys_{'on' if physiology else 'off'}_{'' if reserves else 'no'}reserves_{what}"
    return np.column_stack([x for key, x in reference(name).items() if key != "time"])


# ---- arm26 against OpenSim ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("physiology", "reserves"), VARIANTS)
def test_opensim(physiology, reserves, evidence):
    """Moment arms differ by up to 2.6e-4 m, OpenSim's being no derivatives of its lengths where paths wrap;
    it stops at a convergence of 1e-6."""
    found = cd.static_optimization(
        arm(), motion(), a_min=0.01, physiology=physiology, reserves=1.0 if reserves else None
    )
    expected = opensim(physiology, reserves)
    off = np.abs(found.activations.values - expected[:, :6])[INNER].max()
    evidence(
        "static optimization of arm26 against OpenSim's tool, activations", off, 4e-3, headline="activations"
    )
    assert off < 4e-3
    if reserves:
        assert np.abs(found.reserves.values - expected[:, 6:])[INNER].max() < 4e-3
    evidence("static optimization of arm26: KKT residual, relative", found.kkt.max(), 1e-9)
    assert found.kkt.max() < 1e-9
    # moments of some N m
    assert found.balance.max() < 1e-12
    assert found.status == cd.Status.FINISHED


@pytest.mark.parametrize(("physiology", "reserves"), VARIANTS)
def test_opensim_with_its_moment_arms(physiology, reserves, evidence):
    """The same program on the same numbers: what is left is OpenSim's convergence of 1e-6."""
    data, tau = reference("moment_arm"), reference("inverse_dynamics_solver")
    arms = np.stack([[data[f"{m}__{c}"] for m in MUSCLES] for c in COORDINATES], axis=0).transpose(2, 0, 1)
    strength = (
        opensim(True, True, "force")[:, :6] / opensim(True, True)[:, :6]
        if physiology
        else [arm().force(m).max_isometric_force for m in MUSCLES]
    )
    A = arms * np.reshape(strength, (-1, 1, 6))
    low, high = np.full(6, 0.01), np.ones(6)
    if reserves:
        A = np.concatenate([A, np.broadcast_to(np.eye(2), (len(A), 2, 2))], axis=2)
        low, high = np.r_[low, -np.inf, -np.inf], np.r_[high, np.inf, np.inf]
    b = np.column_stack([tau[f"{c}_moment"] for c in COORDINATES])
    found = least_effort(A, b, low, high, np.ones(len(low)), 2.0)
    off = np.abs(found.x - opensim(physiology, reserves))[INNER].max()
    evidence("static optimization of arm26 with OpenSim's moment arms, activations", off, 5e-4)
    assert off < 5e-4


def test_tension_at_full_activation():
    """Against OpenSim's force over activation. Its lengths and speeds of wrapped paths differ, BRA's most;
    BICshort is not wrapped."""
    found = cd.static_optimization(arm(), motion(), a_min=0.01)
    ours = found.forces.values / found.activations.values
    theirs = opensim(True, True, "force")[:, :6] / opensim(True, True)[:, :6]
    np.testing.assert_allclose(ours[INNER], theirs[INNER], rtol=2e-3)
    np.testing.assert_allclose(ours[INNER, 4], theirs[INNER, 4], rtol=1e-8)


# ---- forward dynamics with what was found ------------------------------------------------------------------


@pytest.fixture(scope="module")
def linear():
    return two_joints()


def two_joints() -> cd.System:
    """Two joints and five muscles whose force is linear in the activation, with rigid tendons, as those of
    the optimization are."""
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body(
        "upper",
        mobilizer=cd.Pin(),
        X_BM=(0, 0.3, 0),
        mass=2.0,
        com=(0, 0.15, 0),
        inertia=(0.015, 0.004, 0.015),
    )
    system.add_body(
        "fore", "upper", cd.Pin(), X_BM=(0, 0.25, 0), mass=1.5, com=(0, 0.1, 0), inertia=(0.01, 0.002, 0.01)
    )
    lines = {
        "front": (0.104, ("ground", (0.06, 0, 0)), ("upper", (0.03, 0.2, 0))),
        "back": (0.104, ("ground", (-0.06, 0, 0)), ("upper", (-0.03, 0.2, 0))),
        "long": (0.351, ("ground", (0.05, 0, 0)), ("upper", (0.04, 0.05, 0)), ("fore", (0.03, 0.2, 0))),
        "short": (0.150, ("upper", (0.03, 0.1, 0)), ("fore", (0.04, 0.2, 0))),
        "extensor": (0.08, ("upper", (-0.03, 0.1, 0)), ("fore", (-0.03, 0.27, 0))),
    }
    for name, (L, *points) in lines.items():
        system.add_force(
            name,
            cd.muscles.DeGroote2016(
                cd.paths.Path(points),
                900.0,
                0.45 * L,
                0.5 * L,
                0.1,
                tendon="rigid",
                activation_dynamics=False,
            ),
        )
    return system


@pytest.mark.parametrize("exponent", [1, 1.5, 2, 3])
def test_activations_give_the_motion(linear, exponent, evidence):
    """Forward dynamics with the activations as excitations returns the accelerations."""
    t = np.linspace(0.0, 1.0, 21)
    table = cd.Table(t, ["upper", "fore"], np.column_stack([0.3 * np.sin(2 * t), 0.3 * t**2]), ["rad", "rad"])
    moving = cd.Motion.of(linear, table)
    found = cd.static_optimization(linear, moving, passive=True, exponent=exponent).check()
    assert found.kkt.max() < 1e-9
    udot = linear.forward_dynamics(
        moving.q, moving.u, inputs={n: found.activations[n] for n in linear.muscles}
    )
    off = np.abs(udot - moving.udot).max()
    # Moments of some N m over inertias of 0.05 kg m^2.
    evidence("accelerations that optimized activations give against the motion's [rad/s^2]", off, 1e-9)
    assert off < 1e-9
    assert (found.forces.values > 0).all()


def test_loops(linear, monkeypatch):
    """Lengths and moment arms from loops over paths, as those of many muscles are."""
    t = np.linspace(0.0, 1.0, 5)
    table = cd.Table(t, ["upper", "fore"], np.column_stack([0.3 * t, 0.3 * t**2]), ["rad", "rad"])
    expected = cd.static_optimization(linear, table)
    monkeypatch.setenv("CONDYLE_LAYOUT", "looped")
    looped = two_joints()
    found = cd.static_optimization(looped, table)
    np.testing.assert_allclose(found.activations.values, expected.activations.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.forces.values, expected.forces.values, rtol=0, atol=1e-9)


def test_moments_of_inverse_dynamics_give_the_motion(evidence):
    """Inverse dynamics, then a simulation with those moments, splines through 101 frames."""
    tau = cd.inverse_dynamics(arm(), motion())
    driven = arm26(None)
    for name in COORDINATES:
        driven.add_force(name, cd.forces.MobilityForce(name, (tau.time, tau[name])))
    run = cd.simulate(driven, driven.state(q=motion().q[0], u=motion().u[0]), 1.0, accuracy=1e-9)
    off = np.abs(run.at(motion().t)[:, :2] - motion().q).max()
    # natural splines bend the moments near their ends, by h^2 times the second derivative
    evidence("inverse dynamics, then a simulation with its moments: the motion again [rad]", off, 2e-5)
    assert off < 2e-5


# ---- small systems -----------------------------------------------------------------------------------------


def elbow(*muscles: float, **more) -> cd.System:
    """A forearm and muscles along straight lines with given places, as actuators of 100 N."""
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body(
        "ulna",
        mobilizer=cd.Pin(),
        mass=1.5,
        com=(0.2, 0, 0),
        inertia=(0.01, 0.02, 0.02),
        coordinates=("elbow",),
    )
    for i, x in enumerate(muscles):
        path = cd.paths.Path([("ground", (0.0, 0.3, 0)), ("ulna", (x, 0, 0))])
        system.add_force(f"m{i}", cd.forces.PathActuator(path, 100.0, min_control=0.0, max_control=1.0))
    for name, law in more.items():
        system.add_force(name, law)
    return system


def still(system: cd.System, q=0.2, **given) -> cd.Motion:
    """At rest, two frames."""
    return cd.Motion(
        system,
        [0.0, 1.0],
        np.full((2, system.nq), q),
        np.zeros((2, system.nu)),
        np.zeros((2, system.nu)),
        state=system.state(**given),
    )


def test_one_joint():
    """a_i = tau g_i / sum g^2, with tau from gravity and g the moment arms by hand."""
    system = elbow(0.03, 0.06, 0.1)
    found = cd.static_optimization(system, still(system))
    tau = 1.5 * 9.81 * 0.2 * np.cos(0.2)
    x = np.array([0.03, 0.06, 0.1])
    L = np.sqrt(x**2 + 0.3**2 - 2 * x * 0.3 * np.sin(0.2))
    g = 100.0 * 0.3 * x * np.cos(0.2) / L  # height of the triangle over L
    # a few roundings
    np.testing.assert_allclose(found.controls.values[0], tau * g / (g @ g), rtol=1e-13)
    np.testing.assert_allclose(found.forces.values[0], 100.0 * tau * g / (g @ g), rtol=1e-13)
    assert found.activations.names == ()
    assert found.forces.units == ("N", "N", "N")


def test_an_infeasible_frame_is_named_and_the_others_come_out():
    udot = motion().udot.copy()
    udot[50, 1] += 3000.0  # some 190 N m more at the elbow
    jerked = cd.Motion(arm(), motion().t, motion().q, motion().u, udot)
    with pytest.warns(UserWarning, match=r"1 of 101 frames failed; frame 50 \(t = 0.5 s\)"):
        found = cd.static_optimization(arm(), jerked)
    assert list(found.failures) == [50]
    text = found.failures[50]
    assert text == cd.Status.TOO_WEAK
    assert "N m at 'r_elbow_flex'" in text
    assert "saturated: BIClong, BICshort, BRA" in text
    assert np.isnan(found.activations.values[50]).all()
    assert np.isfinite(np.delete(found.activations.values, 50, axis=0)).all()
    assert found.missing["r_elbow_flex"][50] > 50
    assert not np.delete(found.missing.values, 50, axis=0).any()
    assert found.status == cd.Status.SOME_FAILED
    with pytest.raises(cd.errors.ConvergenceError, match="frame 50"):
        found.check()


def test_a_coordinate_that_nothing_moves():
    system = elbow()
    with pytest.raises(cd.errors.DescriptionError, match="no muscle or actuator"):
        cd.static_optimization(system, still(system))
    found = cd.static_optimization(system, still(system), reserves={"elbow": 2.0})
    tau = 1.5 * 9.81 * 0.2 * np.cos(0.2)
    assert found.reserves["elbow"][0] == pytest.approx(tau, rel=1e-13)
    assert found.reserves.units == ("N m",)
    idle = elbow(0.0)  # its line goes through the axis
    with pytest.warns(UserWarning, match="2.88 N m at 'elbow' missing; no muscle is saturated"):
        found = cd.static_optimization(idle, still(idle))
    assert found.missing["elbow"][0] == pytest.approx(tau, rel=1e-6)


def test_actuators_of_every_kind():
    """Each is a column; their forces have their units; forward dynamics with the controls stays at rest."""
    F = cd.forces
    system = elbow(
        0.05,
        motor=F.CoordinateActuator("elbow", 3.0),
        strut=F.PointToPointActuator("ground", (0.1, -0.3, 0), "ulna", (0.1, 0, 0), 20.0),
        wheel=F.TorqueActuator("ulna", "ground", (0, 0, 1), cd.Parameter("torque", 4.0)),
        given=F.MobilityForce("elbow", 0.4),
        spring=F.MobilitySpring("elbow", 1.0),
    )
    found = cd.static_optimization(system, still(system))
    assert found.forces.names == ("m0", "motor", "strut", "wheel")
    assert found.forces.units == ("N", "N m", "N", "N m")
    np.testing.assert_allclose(found.forces.values, found.controls.values * [100.0, 3.0, 20.0, 4.0])
    controls = {name: found.controls[name] for name in found.controls.names}
    udot = system.forward_dynamics(still(system).q, still(system).u, inputs=controls)
    np.testing.assert_allclose(udot, 0.0, atol=1e-12)
    half = cd.static_optimization(system, still(system, disabled=["motor", "m0"]))
    assert half.forces.names == ("strut", "wheel")
    strong = cd.static_optimization(system, still(system, parameters={"torque": 8.0}))
    assert strong.forces["wheel"][0] > found.forces["wheel"][0]


def test_weights():
    """a_i is as g_i / w_i."""
    system = elbow(0.05, 0.05)
    found = cd.static_optimization(system, still(system), weights={"m1": 3.0}, reserves=1e-3)
    np.testing.assert_allclose(found.controls["m0"], 3 * found.controls["m1"], rtol=1e-12)
    free = cd.static_optimization(system, still(system), weights={"elbow": 1e-6}, reserves=1.0)
    assert free.reserves["elbow"][0] > found.reserves["elbow"][0]


def test_equal_actuators_share():
    system = elbow(0.05, 0.05, 0.05)
    x = cd.static_optimization(system, still(system)).controls.values
    np.testing.assert_allclose(x, x[:, :1] * np.ones(3), rtol=1e-12)


def coupled(function) -> cd.System:
    """Two links whose angles are coupled, and a motor on each."""
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body("a", mobilizer=cd.Pin(), mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.01, 0.02))
    system.add_body(
        "b", "a", cd.Pin(), X_PF=(0.4, 0, 0), mass=0.7, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01)
    )
    system.add_constraint("link", cd.constraints.CoordinateCoupler(function, ("a", "b")))
    system.add_force("motor", cd.forces.CoordinateActuator("b", 5.0))
    path = cd.paths.Path([("ground", (0.1, 0.3, 0)), ("b", (0.1, 0.02, 0))])
    system.add_force("pull", cd.forces.PathActuator(path, 60.0, min_control=0.0))
    return system


@pytest.mark.parametrize(
    "function", [lambda a, b: b - 2 * a, lambda a, b: np.cos(a) - 1 + b], ids=["gear", "turning point"]
)
def test_coupled_coordinates(function):
    """Equations of motion hold along the constraint: forward dynamics with the controls returns the motion,
    also where the coupled coordinate turns back (b = 1 - cos a, at a = 0)."""
    system = coupled(function)
    t = np.linspace(0.0, 1.0, 21)
    a = 0.5 * np.sin(3 * t) - 0.2
    moving = cd.Motion.of(system, cd.Table(t, ["a"], a[:, None], ["rad"]))
    found = cd.static_optimization(system, moving).check()
    controls = {name: found.controls[name] for name in found.controls.names}
    udot = system.forward_dynamics(moving.q, moving.u, inputs=controls)
    # Splines leave accelerations that satisfy the constraint to rounding.
    np.testing.assert_allclose(udot, moving.udot, atol=1e-8)


def test_a_locked_coordinate_takes_no_muscles():
    """What a lock holds needs no force."""
    system = coupled(lambda a, b: b - 2 * a)
    locked = cd.System(gravity=(0, -9.81, 0))
    locked.add_body("a", mobilizer=cd.Pin(), mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.01, 0.02))
    locked.add_body(
        "b", "a", cd.Pin(), X_PF=(0.4, 0, 0), mass=0.7, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01)
    )
    locked.add_force("motor", cd.forces.CoordinateActuator("b", 5.0))
    state = locked.state(locked=["a"])
    found = cd.static_optimization(
        locked, cd.Motion(locked, [0.0], [[0.1, 0.2]], [[0, 0]], [[0, 0]], state=state)
    )
    assert found.forces["motor"][0] == pytest.approx(0.7 * 9.81 * 0.1 * np.cos(0.3), rel=1e-12)
    with pytest.raises(cd.errors.DescriptionError, match="above 0"):
        cd.static_optimization(system, still(system, 0.0), reserves=-1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"exponent": 0.5}, "exponent = 0.5 must be a number from 1 on"),
        ({"exponent": "two"}, "exponent: expected a number"),
        ({"a_min": 0.5, "a_max": 0.2}, "'TRIlong': expected 0 <= a_min <= a_max, got a_min = 0.5"),
        ({"a_min": {"BIC": 0.1}}, "unknown muscle 'BIC'"),
        ({"weights": {"BRA": 0.0}}, r"weights\['BRA'\] must be above 0"),
        ({"weights": {"BRAX": 1.0}}, "did you mean 'BRA'"),
        ({"reserves": {"r_elbow": 1.0}}, "did you mean 'r_elbow_flex'"),
        ({"reserves": 0.0}, "must be above 0"),
        ({"use_muscle_physiology": True}, "it is physiology="),
    ],
)
def test_refusals(options, words):
    with pytest.raises(cd.errors.CondyleError, match=words):
        cd.static_optimization(arm(), motion(), **options)


def test_gaps_in_the_motion_are_named():
    values = motion().q.copy()
    values[7, 1] = np.nan
    with pytest.raises(cd.errors.ShapeError, match=r"'r_elbow_flex' is nan at t = 0\.07 s"):
        cd.static_optimization(arm(), cd.Table(motion().t, COORDINATES, values, ["rad", "rad"]))
