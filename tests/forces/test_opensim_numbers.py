"""Forces and muscles that OpenSim has, at states where live OpenSim 4.6 printed their values
(../shared/reference/opensim/formats.md, section 6)."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle import forces, muscles

DEGREE = np.pi / 180
LINE = cd.paths.Path([("ground", (0, 0, 0)), ("block", (0, 0, 0))])


def pulled(law) -> cd.System:
    """udot of 1 kg along a slider is minus the tension of the law."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=1.0)
    system.add_force("m", law)
    return system


def test_coordinate_limit():
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("b", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1), coordinates=("q",))
    law = forces.CoordinateLimitForce(
        "q", -10 * DEGREE, 30 * DEGREE, 5 / DEGREE, 20 / DEGREE, 2 / DEGREE, 4 * DEGREE
    )
    system.add_force("limit", law)
    q = np.array([30 * DEGREE + 0.02, 30 * DEGREE + 0.1, -1.0])[:, None]
    f = -system.inverse_dynamics(q, np.array([1.0, 1.0, 0.0])[:, None], np.zeros((3, 1)))[:, 0]
    # printed with 12 digits
    np.testing.assert_allclose(f, [-20.0294831954, -229.183118052, 236.478897565], rtol=1e-11)


@pytest.mark.parametrize("written", ["linear", "formulas", "functions"])
def test_bushings(written):
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("b", mobilizer=cd.Free(coordinates="euler"), mass=1.0, inertia=(1, 1, 1))
    X_a, X_b = (
        cd.Transform(xyz(angles), p)
        for p, angles in (((0.1, 0.2, 0.3), (0.2, -0.1, 0.3)), ((-0.1, 0.05, 0.02), (0.1, 0.4, -0.3)))
    )
    K, C = (10.0, 20.0, 30.0, 100.0, 200.0, 300.0), (0.1, 0.2, 0.3, 1.0, 2.0, 3.0)
    names = forces.bushing.DEFLECTIONS
    law = {
        "linear": lambda: forces.LinearBushing("ground", X_a, "b", X_b, K, C),
        "formulas": lambda: forces.FunctionBushing(
            "ground",
            X_a,
            "b",
            X_b,
            [cd.functions.Formula(f"{k}*{x}", names) for k, x in zip(K, names, strict=True)],
            C,
        ),
        "functions": lambda: forces.FunctionBushing(
            "ground", X_a, "b", X_b, [cd.functions.Linear(k) for k in K], C
        ),
    }[written]()
    system.add_force("bushing", law)
    q, u = np.array([0.3, -0.4, 0.5, 0.6, -0.7, 0.8]), np.array([0.1, 0.2, -0.3, 0.4, 0.5, -0.6])
    bare = cd.System(gravity=(0, 0, 0))
    bare.add_body("b", mobilizer=cd.Free(coordinates="euler"), mass=1.0, inertia=(1, 1, 1))
    f = -(system.inverse_dynamics(q, u, np.zeros(6)) - bare.inverse_dynamics(q, u, np.zeros(6)))
    # speeds of a Free body are those of its frame in ground: f is torque about its origin, force
    np.testing.assert_allclose(
        f,
        [4.43758567273, -17.7020692262, -18.7316080693, -53.3281480668, 195.491877608, -148.661230247],
        rtol=1e-11,
    )


def xyz(angles) -> np.ndarray:
    """Body-fixed x-y-z."""
    (c1, s1), (c2, s2), (c3, s3) = ((np.cos(a), np.sin(a)) for a in angles)
    return (
        np.array([[1, 0, 0], [0, c1, -s1], [0, s1, c1]])
        @ [[c2, 0, s2], [0, 1, 0], [-s2, 0, c2]]
        @ np.array([[c3, -s3, 0], [s3, c3, 0], [0, 0, 1]])
    )


def test_laws_on_angles_of_a_ball_act_on_a_speed():
    """As OpenSim's do: the angle decides, the angular velocity of the same place is acted on."""
    laws = {
        "limit": forces.CoordinateLimitForce("b_rx", -0.1, 0.1, 5.0, 6.0, 0.3, 0.05, speed="b_wx"),
        "spring": forces.MobilitySpring("b_ry", 7.0, 0.1, 0.4, speed="b_wy"),
        "law": forces.MobilityFunction("b_rz", lambda q, qdot: -3 * q - qdot, speed="b_wz"),
    }
    written = {
        "limit": lambda s: {"b_wx": -6.0 * (s.q("b_rx") - 0.1) - 0.3 * s.u("b_wx")},
        "spring": lambda s: {"b_wy": -7.0 * (s.q("b_ry") - 0.1) - 0.4 * s.u("b_wy")},
        "law": lambda s: {"b_wz": -3 * s.q("b_rz") - s.u("b_wz")},
    }
    udot = []
    for each in (laws, {name: forces.Custom(f) for name, f in written.items()}):
        system = cd.System(gravity=(0, 0, 0))
        system.add_body("b", mobilizer=cd.Ball(coordinates="euler"), mass=1.0, inertia=(1, 2, 2.5))
        for name, law in each.items():
            system.add_force(name, law)
        udot.append(system.forward_dynamics([0.3, 0.4, 0.5], [0.1, -0.2, 0.3]))
        assert system.energy([0.3, 0.4, 0.5], [0.0, 0.0, 0.0])[1] == 0.0
    np.testing.assert_allclose(*udot, rtol=1e-13)
    with pytest.raises(cd.errors.UnknownNameError, match="b_wq"):
        system.copy().add_force("odd", forces.MobilitySpring("b_ry", 7.0, speed="b_wq"))


def test_ligaments():
    system = pulled(forces.Ligament(LINE, 0.2, 1000.0))
    T = -system.forward_dynamics(np.array([0.19, 0.205, 0.25, 0.35])[:, None], np.zeros((4, 1)))[:, 0]
    np.testing.assert_allclose(T, [0.0, 2.48718105827, 177.74055968, 2001.74980746], rtol=1e-11)
    other = pulled(forces.Blankevoort1991Ligament(LINE, 1000.0, 0.2))
    T = -other.forward_dynamics(np.array([0.2002, 0.205, 0.22])[:, None], np.full((3, 1), 0.1))[:, 0]
    np.testing.assert_allclose(T, [0.00834617333333, 5.20983333333, 70.0015], rtol=1e-11)


STATES = ((0.3, 0.0, 0.1, 0.5, 0.8), (0.302, 0.05, 0.105, 0.5, 0.2))
"""Length of the path and its rate, fiber, activation, excitation."""


@pytest.mark.parametrize(
    ("state", "F", "adot", "ldot", "vdot", "rigid"),
    [
        (STATES[0], 616.090255079, 22.780362, 0.0279545969586, 154.363775753, 769.391192542),
        (STATES[1], 71.952315216, -4.379562, -0.383302573534, -1689.02763922, 294.423182535),
    ],
)
def test_older_muscles(state, F, adot, ldot, vdot, rigid):
    L, V, l_M, a, e = state
    numbers, given = (1000.0, 0.1, 0.2, 0.3), {"inputs": {"m": e}}
    schutte, delp, stiff = (
        pulled(kind(LINE, *numbers)) for kind in (muscles.Schutte1993, muscles.Delp1990, muscles.RigidTendon)
    )
    # the tendon is stiff: of its strain 9 digits are left
    assert -schutte.forward_dynamics([L], [V], z=[a, l_M])[0] == pytest.approx(F, rel=1e-10)
    assert -delp.forward_dynamics([L], [V], z=[a, 0.02, l_M])[0] == pytest.approx(F, rel=1e-10)
    assert -stiff.forward_dynamics([L], [V], **given)[0] == pytest.approx(rigid, rel=1e-11)
    np.testing.assert_allclose(schutte.zdot([L], [V], z=[a, l_M], **given), [adot, ldot], rtol=1e-9)
    np.testing.assert_allclose(delp.zdot([L], [V], z=[a, 0.02, l_M], **given), [adot, vdot, 0.02], rtol=1e-9)


def test_older_muscles_in_equilibrium():
    for kind, expected in (
        (muscles.Schutte1993, 0.10028552260456833),
        (muscles.Delp1990, 0.10051529932007552),
    ):
        system = pulled(kind(LINE, 1000.0, 0.1, 0.2, 0.3))
        state = system.equilibrate_muscles(system.state(q=[0.297], z={"m.activation": 0.05}))
        found = dict(zip(system.state_variables, state.z, strict=True))
        # OpenSim stops at 0.01 N, about 1e-8 m of its stiff tendon
        assert found["m.fiber_length"] == pytest.approx(expected, abs=3e-8)
        assert np.abs(system.zdot([0.297], [0.0], z=state.z)[1:]).max() < 1e-6


def test_an_activation_follows_its_control():
    system = pulled(forces.ActivationCoordinateActuator("block", 7.0, activation_time_constant=0.02))
    assert system.state_variables == ("m.activation",)
    assert system.zdot([0.0], [0.0], z=[0.3], inputs={"m": 0.8})[0] == pytest.approx(25.0)
    assert system.forward_dynamics([0.0], [0.0], z=[0.3])[0] == pytest.approx(2.1)


def test_point_actuators():
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("b", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1), coordinates=("q",))
    system.add_force("p", forces.PointActuator("b", (0.5, 0, 0), (0, 2.0, 0), 3.0))
    system.add_force(
        "g", forces.PointActuator("b", (0.5, 0, 0), (0, 1, 0), 3.0, frame="ground", point_frame="ground")
    )
    q = 0.7
    f = -system.inverse_dynamics([q], [0.0], [0.0], inputs={"p": 2.0})[0]
    assert f == pytest.approx(3.0)  # turns with the body: 0.5 m times 6 N
    f = -system.inverse_dynamics([q], [0.0], [0.0], inputs={"g": 2.0})[0]
    assert f == pytest.approx(3.0)  # stays in ground, its point too
    with pytest.raises(cd.errors.DescriptionError, match="must not be zero"):
        forces.PointActuator("b", (0, 0, 0), (0, 0, 0), 1.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: forces.CoordinateLimitForce("q", 1.0, 0.0, 1, 1, 1, 1), "low must not be above high"),
        (lambda: forces.FunctionBushing("a", None, "b", None, [1.0] * 5), "expected six"),
        (lambda: forces.MobilityFunction("q", cd.functions.Formula("q + v", ("v", "q"))), "in this order"),
        (lambda: forces.MobilityFunction("q", cd.functions.Sine()), "of 1 variable"),
        (lambda: muscles.Schutte1993(LINE, 1.0, 0.1, 0.2, activation_time_constant=0.1), "no time constants"),
        (lambda: muscles.Thelen2003(LINE, 1.0, 0.1, 0.2, min_control=0.5, max_control=0.2), "min_control"),
        (
            lambda: forces.ExternalWrench("b", force=(cd.functions.Sine(), 1.0)),
            "expected 3 functions of time",
        ),
    ],
)
def test_refusals(make, words):
    with pytest.raises(cd.errors.CondyleError, match=words):
        make()
