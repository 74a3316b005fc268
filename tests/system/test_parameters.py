"""Parameters and Inputs: wherever a number may be, equal to constants, checked when set, never compiled
again; locks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.spatial import rotation_about, rotation_z

pytestmark = pytest.mark.filterwarnings("ignore::condyle.errors.PlausibilityWarning")  # numbers at the edge

EPS = np.finfo(float).eps
# The table of derived numbers is computed in another order than the constants are: some roundings, times
# cond(M) of about 1e3.
SAME = 1e-10


@pytest.fixture
def casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


VALUES = {
    "g": 9.81,
    "tilt": 0.3,
    "mass": 1.3,
    "x": 0.04,
    "ixx": 0.02,
    "iyy": 0.03,
    "izz": 0.025,
    "ixy": 0.002,
    "length": 0.4,
    "pitch": 0.12,
    "radius": 0.3,
    "beam": 0.5,
    "azimuth": 0.2,
    "slope": 0.7,
    "wave": 0.15,
    "lead": 0.05,
    "stiffness": 30.0,
    "rest": 0.2,
    "damping": 1.5,
    "limit": 0.1,
    "push": 2.0,
    "px": 0.1,
    "viscosity": 0.4,
    "well": 3.0,
}


def everywhere(P) -> cd.System:
    """Every place that takes a number; P(name) is what is there."""
    system = cd.System(gravity=(0.1, -P("g"), 0.2))
    frame = cd.Transform(
        rotation_about(np.array([0.6, 0.0, 0.8]), P("tilt")), (P("length"), 0.1, 2 * P("length"))
    )
    system.add_body(
        "screw",
        mobilizer=cd.Screw(P("pitch")),
        X_PF=frame,
        X_BM=(0, P("x"), 0),
        mass=P("mass"),
        com=(P("x"), 0, 0.01),
        inertia=(P("ixx"), P("iyy"), P("izz")),
    )
    six = (P("ixx"), P("iyy"), P("izz"), P("ixy"), 0.001, 0.0)
    system.add_body(
        "shell",
        "screw",
        cd.Ellipsoid((0.2, P("radius"), 0.25)),
        X_PF=(0, P("length"), 0),
        mass=1.0,
        inertia=six,
    )
    whole = [[P("ixx"), P("ixy"), 0.0], [P("ixy"), P("iyy"), 0.0], [0.0, 0.0, P("izz")]]
    system.add_body(
        "beam",
        "shell",
        cd.CantileverFreeBeam(P("beam")),
        X_BM=cd.Transform(rotation_z(P("tilt")), (0.0, 0.0, 0.1)),
        mass=0.5 * P("mass"),
        com=(0, 0, -P("x")),
        inertia=whole,
    )
    system.add_body(
        "ball", "screw", cd.SphericalCoords(azimuth_offset=P("azimuth")), mass=0.8, inertia=(0.02, 0.02, 0.02)
    )
    slope, wave = P("slope"), P("wave")
    system.add_body(
        "knee",
        "ball",
        cd.FunctionBased(
            ("knee",), (lambda q: slope * q, None, None), (None, lambda q: wave * np.sin(slope * q), 0.1)
        ),
        mass=1.0,
        inertia=(0.02, 0.03, 0.02),
    )
    system.add_body(
        "hook",
        "knee",
        cd.Custom(("hook",), lambda q: (rotation_z(q), (wave * q, slope, 0.0))).reversed(),
        mass=0.4,
        com=(0.1, 0, 0),
        inertia=(0.02, 0.03, 0.02),
    )
    system.add_body(
        "nut", "hook", cd.compose(cd.Slider(), cd.Screw(P("lead"), "x")), mass=0.4, inertia=(0.02, 0.03, 0.02)
    )
    F = cd.forces
    system.add_force(
        "spring",
        F.TwoPointSpring("ground", (P("px"), 1, 0), "knee", (0, 0.1, P("px")), P("stiffness"), P("rest")),
    )
    system.add_force("damper", F.TwoPointDamper("ground", (0, 1, 0), "nut", (0, 0.1, 0), P("damping")))
    system.add_force("stop", F.MobilityStop("knee", -2.0, P("limit"), 50.0))
    system.add_force("push", F.MobilityForce("hook", P("push")))
    system.add_force("ether", F.GlobalDamper(0.1 * P("damping")))
    # A user's law asks its state for Parameters, and may close over them as well.
    numbers = isinstance(P("well"), float)
    viscosity = (
        (lambda s: P("viscosity")) if numbers else (lambda s: s.parameter("viscosity", VALUES["viscosity"]))
    )
    system.add_force("law", F.Custom(lambda s: {"knee": -viscosity(s) * s.u("knee")}))
    system.add_force("energy", F.Potential(lambda s: P("well") * np.cos(s.q("hook"))))
    return system


def parameters(name):
    return cd.Parameter(name, VALUES[name])


def constants(values):
    return lambda name: float(values[name])


def states(system, n, seed=0):
    rng = np.random.default_rng(seed)
    q = np.stack([np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies]) for _ in range(n)])
    return q, rng.uniform(-1, 1, (n, system.nu)), rng.uniform(-1, 1, (n, system.nu))


def answers(system, q, u, tau, **options):
    """Some of every kind of operator, by name."""
    kinetic, potential = system.energy(q, u, **options)
    X = system.body_pose(q, "nut", **options)
    return {
        "udot": system.forward_dynamics(q, u, tau, **options),
        "tau": system.inverse_dynamics(q, u, tau, **options),
        "M": system.mass_matrix(q, **options),
        "kinetic": kinetic,
        "potential": potential,
        "R": X.R,
        "p": X.p,
        "V": system.body_velocity(q, u, "nut", **options),
        "F": system.reactions(q, u, tau, "shell", **options),
        "power": system.power(q, u, **options),
        "center": system.mass_center(q, **options),
    }


def assert_same(found, expected, same=SAME):
    for name, x in expected.items():
        np.testing.assert_allclose(found[name], x, rtol=0, atol=same * max(1, np.abs(x).max()), err_msg=name)


def other_values(seed):
    rng = np.random.default_rng(seed)
    return {name: value * float(rng.uniform(0.85, 1.15)) for name, value in VALUES.items()}


# ---- Parameters equal constants ----------------------------------------------------------------------------


def test_all_places_are_covered():
    assert set(everywhere(parameters).parameters) == set(VALUES)


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_parameters_equal_constants(seed, casadi, evidence):
    """At their defaults, and at other values."""
    values = VALUES if seed is None else other_values(seed)
    system, fixed = everywhere(parameters), everywhere(constants(values))
    assert fixed.parameters == ()
    q, u, tau = states(system, 3)
    expected = answers(fixed, q, u, tau)
    found = answers(system, q, u, tau, **({} if seed is None else {"parameters": values}))
    assert_same(found, expected)
    evidence(
        "every number of a system as a Parameter against constants, accelerations, relative",
        np.abs(found["udot"] - expected["udot"]).max() / np.abs(expected["udot"]).max(),
        SAME,
    )


def test_a_batch_of_parameters(casadi):
    """One set a state, as a mapping and as an array; sets broadcast against states."""
    system = everywhere(parameters)
    q, u, tau = states(system, 3)
    sets = [other_values(seed) for seed in range(3)]
    each = {name: np.array([s[name] for s in sets]) for name in VALUES}
    expected = [everywhere(constants(s)).forward_dynamics(q[i], u[i], tau[i]) for i, s in enumerate(sets)]
    found = system.forward_dynamics(q, u, tau, parameters=each)
    np.testing.assert_allclose(found, expected, rtol=0, atol=SAME * np.abs(expected).max())
    array = np.stack([each[name] for name in system.parameters], axis=-1)
    np.testing.assert_array_equal(system.forward_dynamics(q, u, tau, parameters=array), found)
    crossed = system.forward_dynamics(q, u, tau, parameters=array[:, None])
    assert crossed.shape == (3, 3, system.nu)
    np.testing.assert_array_equal(crossed[[0, 1, 2], [0, 1, 2]], found)
    one = system.forward_dynamics(q[0], u[0], tau[0], parameters=array)
    np.testing.assert_array_equal(one, crossed[:, 0])
    # others keep their defaults
    some = system.forward_dynamics(q, u, tau, parameters={"mass": [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(
        some[1], system.forward_dynamics(q[1], u[1], tau[1], parameters={"mass": 2.0})
    )


def pendulum(P=parameters) -> cd.System:
    """mass, length and g; udot = -(g / l) sin q / (1 + I / (m l^2))."""
    system = cd.System(gravity=(0, -P("g"), 0))
    system.add_body(
        "bob", mobilizer=cd.Pin(), mass=P("mass"), com=(0, -P("length"), 0), inertia=(0.01, 0.01, 0.01)
    )
    return system


def closed_form(q, g, mass, length):
    return -g / length * np.sin(q) / (1 + 0.01 / (mass * length**2))


def test_nothing_is_compiled_again():
    """One kernel for one state and one for lanes, whatever the parameters are."""
    system = pendulum()
    q, u = np.array([0.7]), np.array([0.2])
    system.forward_dynamics(q, u)
    system.forward_dynamics(np.tile(q, (20, 1)), u)
    function, instance = system.compiled.function("forward_dynamics"), system.compiled.function("instance")
    system.forward_dynamics(q, u, parameters={"mass": 2.0})
    system.forward_dynamics(q, u, parameters={"mass": np.full(20, 2.0)})
    kernels, tables = function.report.kernels, instance.report.kernels
    assert len(kernels) == 2
    rng = np.random.default_rng(0)
    for g, mass, length in rng.uniform(0.5, 3, (25, 3)):
        values = {"g": g, "mass": mass, "length": length}
        expected = closed_form(0.7, **values)
        # Some ten roundings.
        assert system.forward_dynamics(q, u, parameters=values)[0] == pytest.approx(expected, rel=50 * EPS)
        state = system.state(q=q, u=u, parameters=values)
        assert state.udot[0] == pytest.approx(expected, rel=50 * EPS)
    many = rng.uniform(0.5, 3, (40, 3))
    found = system.forward_dynamics(q, u, parameters=dict(zip(("g", "mass", "length"), many.T, strict=True)))
    np.testing.assert_allclose(found[:, 0], closed_form(0.7, *many.T), rtol=50 * EPS)
    assert system.compiled.function("forward_dynamics") is function
    assert (function.report.kernels, instance.report.kernels) == (kernels, tables)


def test_machine_code_equals_constants():
    """As in test_parameters_equal_constants, compiled, with some of the mobilizers."""

    def made(P):
        system = cd.System(gravity=(0, -P("g"), 0))
        slope = P("slope")
        system.add_body(
            "a",
            mobilizer=cd.Screw(P("pitch")),
            X_PF=(P("length"), 0, 0),
            mass=P("mass"),
            com=(P("x"), 0, 0),
            inertia=(0.02, 0.03, P("izz")),
        )
        system.add_body(
            "b",
            "a",
            cd.FunctionBased(("b",), (lambda q: slope * q, None, None), (None, lambda q: q * slope, 0.1)),
            X_PF=(0, P("length"), 0),
            mass=1.0,
            inertia=(0.02, 0.03, 0.02),
        )
        system.add_force("spring", cd.forces.MobilitySpring("b", P("stiffness"), P("rest")))
        return system

    system, values = made(parameters), other_values(3)
    mine = {name: values[name] for name in system.parameters}
    q, u, tau = states(system, 9)
    expected = made(constants(values)).forward_dynamics(q, u, tau)
    rounding = {"rtol": 0, "atol": 1000 * EPS * np.abs(expected).max()}  # cond(M) is some tens
    np.testing.assert_allclose(system.forward_dynamics(q, u, tau, parameters=mine), expected, **rounding)
    np.testing.assert_allclose(
        system.forward_dynamics(q[0], u[0], tau[0], parameters=mine), expected[0], **rounding
    )


# ---- Names and defaults ------------------------------------------------------------------------------------


def test_equal_names_are_one_parameter(casadi):
    system = cd.System()
    for name, parent in (("a", "ground"), ("b", "a")):
        system.add_body(
            name, parent, cd.Pin(), mass=cd.Parameter("m", 2.0), com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1)
        )
    assert system.parameters == ("m",)
    M = [system.mass_matrix(np.zeros(2), parameters={"m": m})[1, 1] for m in (2.0, 4.0)]
    assert M[1] - M[0] == pytest.approx(2 * 0.01, rel=100 * EPS)


def test_conflicting_defaults_are_refused_and_leave_nothing():
    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), mass=cd.Parameter("m", 2.0), inertia=(0.1, 0.1, 0.1))
    with pytest.raises(DescriptionError, match=r"parameter 'm' has the defaults 2 and 3.*give one default"):
        system.add_body(
            "b", mobilizer=cd.Pin(), mass=cd.Parameter("m", 3.0), com=(cd.Parameter("new", 0.1), 0, 0)
        )
    with pytest.raises(DescriptionError, match="'m' has the defaults 2 and 5"):
        system.add_force("spring", cd.forces.MobilitySpring("a", cd.Parameter("m", 5.0), 0.0))
    assert system.parameters == ("m",)
    assert len(system.bodies) == 1 and system.forces == ("gravity",)


def test_default_and_names_do_not_freeze():
    system = pendulum()
    np.testing.assert_array_equal(system.default("parameters"), [9.81, 1.3, 0.4])
    assert system.parameters == ("g", "mass", "length")
    assert system.default("inputs").shape == system.default("z").shape == (0,)
    system.add_body("more", mobilizer=cd.Pin(), mass=1.0, inertia=(0.1, 0.1, 0.1))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cd.Parameter("", 1.0), "name is a non-empty string"),
        (lambda: cd.Parameter(3, 1.0), "name is a non-empty string"),
        (lambda: cd.Parameter("m", np.nan), "'m': its default is one finite number, got nan"),
        (lambda: cd.Parameter("m", [1, 2]), "its default is one finite number"),
        (lambda: cd.Input("f", "x"), "input 'f': its default is one finite number"),
        (lambda: pendulum(lambda n: cd.Parameter(n, -VALUES[n])), "mass must be >= 0|mass.*-1.3"),
    ],
)
def test_bad_defaults(make, words):
    with pytest.raises(DescriptionError, match=words):
        make()


# ---- Checked when set --------------------------------------------------------------------------------------


def body_with(**numbers) -> cd.System:
    system = cd.System()
    system.add_body("b", mobilizer=cd.Free(), **({"mass": 1.0, "inertia": (0.1, 0.1, 0.1)} | numbers))
    return system


P = cd.Parameter
BAD = {
    "negative mass": (lambda: body_with(mass=P("p", 1.0)), -0.5, "'b'.*mass.*-0.5"),
    "triangle inequality": (
        lambda: body_with(inertia=(P("p", 0.1), 0.1, 0.1)),
        0.5,
        "'b'.*triangle inequality",
    ),
    "negative moment": (
        lambda: body_with(inertia=(0.1, 0.1, 0.1, P("p", 0.0), 0, 0)),
        0.3,
        "'b'.*(semidefinite|triangle)",
    ),
    "computed mass": (lambda: body_with(mass=2 - P("p", 1.0)), 3.0, "'b'.*mass.*-1"),
    "not finite": (lambda: body_with(mass=P("p", 1.0)), np.inf, "'p' is not finite"),
}


def with_force(force) -> cd.System:
    system = cd.System()
    system.add_body("b", mobilizer=cd.Pin(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_force("law", force)
    return system


BAD |= {
    "stiffness": (lambda: with_force(cd.forces.MobilitySpring("b", P("p", 1.0), 0.0)), -1.0, "stiffness.*-1"),
    "damping": (lambda: with_force(cd.forces.MobilityDamper("b", P("p", 1.0))), -2.0, "damping.*-2"),
}


@pytest.mark.parametrize("way", ["operator", "state", "replace", "batch", "jacobian"])
@pytest.mark.parametrize("name", BAD)
def test_values_are_checked_when_set(name, way, casadi):
    make, value, words = BAD[name]
    system = make()
    q, u = system.defaults()
    state = system.state()
    use = {
        "operator": lambda: system.forward_dynamics(q, u, parameters={"p": value}),
        "state": lambda: system.state(parameters={"p": value}),
        "replace": lambda: state.replace(parameters=[value]),
        "batch": lambda: system.mass_matrix(q, parameters={"p": [system.default("parameters")[0], value]}),
        "jacobian": lambda: system.jacobian("energy", q, u, wrt="q", parameters={"p": value}),
    }
    with pytest.raises(
        (DescriptionError, ShapeError), match=words if np.isfinite(value) else "'p'.*(finite|inf)"
    ):
        use[way]()


MOBILIZERS = {"radii": lambda p: cd.Ellipsoid((0.1, p, 0.1)), "length": lambda p: cd.CantileverFreeBeam(p)}


@pytest.mark.parametrize("what", MOBILIZERS)
def test_numbers_of_mobilizers_are_checked_by_their_defaults(what):
    with pytest.raises(DescriptionError, match=what):
        MOBILIZERS[what](cd.Parameter("p", -0.1))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"mas": 1.0}, UnknownNameError, "unknown parameter 'mas'; did you mean 'mass'"),
        ([1.0, 2.0], ShapeError, r"parameters: expected \(\.\.\., 3\).*got \(2,\)"),
        ("heavy", ShapeError, "parameters: expected real numbers"),
    ],
)
def test_refused_values(given, error, words, casadi):
    system = pendulum()
    with pytest.raises(error, match=words):
        system.forward_dynamics([0.1], [0.0], parameters=given)


def test_options_that_do_not_broadcast(casadi):
    system = pendulum()
    with pytest.raises(ShapeError, match=r"leading dimensions do not broadcast.*parameters \(2,\)"):
        system.forward_dynamics([0.1], [0.0], t=np.zeros(3), parameters={"mass": [1.0, 2.0]})


# ---- Inputs ------------------------------------------------------------------------------------------------


def driven() -> cd.System:
    system = pendulum(constants(VALUES))
    system.add_force("motor", cd.forces.MobilityForce("bob", 2 * cd.Input("torque", 0.5)))
    return system


def test_inputs():
    system = driven()
    assert system.inputs == ("torque",) and system.parameters == ()
    inertia = 0.01 + VALUES["mass"] * VALUES["length"] ** 2
    q, u = np.zeros(1), np.zeros(1)
    assert system.forward_dynamics(q, u)[0] == pytest.approx(1.0 / inertia, rel=50 * EPS)
    found = system.forward_dynamics(q, u, inputs={"torque": [0.0, 1.0, -3.0]})
    np.testing.assert_allclose(found[:, 0], np.array([0.0, 2.0, -6.0]) / inertia, rtol=50 * EPS)
    state = system.state(inputs=[4.0])
    assert state.udot[0] == pytest.approx(8 / inertia, rel=50 * EPS)
    np.testing.assert_array_equal(state.replace(inputs={"torque": 0.0}).applied_forces(), [0.0])


def test_an_input_cannot_describe_a_joint():
    with pytest.raises(DescriptionError, match=r"Input.*use a cd\.Parameter"):
        cd.Screw(cd.Input("pitch", 0.1))
    with pytest.raises(DescriptionError, match="Input"):
        cd.FunctionBased(("q",), (lambda q: q * cd.Input("gain", 1.0), None, None))


# ---- States and pickles ------------------------------------------------------------------------------------


def test_replaced_parameters_undo_what_depends_on_them(casadi):
    system = driven_and_parametric()
    state = system.state(q=[0.4], u=[0.3])
    before = state.udot, state.body_pose("bob")
    counts = dict(system.compiled.evaluations)
    heavier = state.replace(parameters={"mass": 2.6})
    assert heavier.udot[0] != before[0][0]
    np.testing.assert_array_equal(heavier.parameters, [9.81, 2.6, 0.4])
    np.testing.assert_array_equal(state.udot, before[0])  # the old one is what it was
    pushed = state.replace(inputs={"torque": 9.0})
    after = dict(system.compiled.evaluations)
    pushed.body_pose("bob")
    # an Input leaves poses valid
    assert dict(system.compiled.evaluations) == after
    assert after["forward_dynamics"] == counts["forward_dynamics"] + 1
    same = heavier.replace(parameters=state.parameters)
    np.testing.assert_array_equal(same.udot, before[0])
    with pytest.raises(ValueError, match="read-only"):
        state.parameters[0] = 1.0


def driven_and_parametric() -> cd.System:
    system = pendulum()
    system.add_force("motor", cd.forces.MobilityForce("bob", cd.Input("torque", 0.5)))
    return system


def test_pickles(casadi):
    """A system with Parameters everywhere, and a state of it."""
    system = everywhere(parameters)
    values = other_values(5)
    q, u, tau = states(system, 2)
    state = system.state(q=q[0], u=u[0], parameters=values)
    expected = answers(system, q, u, tau, parameters=values)
    other, its_state = pickle.loads(pickle.dumps((system, state)))
    assert other.parameters == system.parameters
    np.testing.assert_array_equal(other.default("parameters"), system.default("parameters"))
    assert_same(answers(other, q, u, tau, parameters=values), expected, 0)
    assert its_state.system is other
    np.testing.assert_array_equal(its_state.udot, state.udot)


def test_a_copy_shares_nothing_that_changes(casadi):
    system = pendulum()
    system.state()
    copy = system.copy()
    copy.add_body("more", "bob", cd.Pin(), mass=cd.Parameter("extra", 1.0), inertia=(0.1, 0.1, 0.1))
    assert copy.parameters == (*system.parameters, "extra")
    assert system.parameters == ("g", "mass", "length")


# ---- Locks -------------------------------------------------------------------------------------------------


def test_locks_with_parameters_and_their_holding_forces(casadi):
    """Holding forces, added to tau, do what the lock does; locks and parameters for each state."""
    system = everywhere(parameters)
    q, u, tau = states(system, 3)
    sets = {"mass": np.array([1.0, 1.4, 1.8]), "pitch": np.array([0.1, 0.2, 0.3])}
    mask = np.zeros((3, system.nu))
    mask[0, 0], mask[1, [2, 5]], mask[2] = 1, 1, 1
    options = {"parameters": sets, "locked": mask}
    udot = system.forward_dynamics(q, u, tau, **options)
    held = system.motion_forces(q, u, tau, **options)
    np.testing.assert_array_equal(udot[mask == 1], 0)
    np.testing.assert_array_equal(held[mask == 0], 0)
    free = system.forward_dynamics(q, u, tau + held, parameters=sets)
    np.testing.assert_allclose(free, udot, rtol=0, atol=SAME * max(np.abs(udot).max(), np.abs(held).max()))


def test_a_locked_pendulum_is_held_by_its_weight():
    system = pendulum()
    values = {"g": 9.0, "mass": 2.0, "length": 0.5}
    torque = 9.0 * 2.0 * 0.5 * np.sin(0.7)
    held = system.motion_forces([0.7], [0.0], parameters=values, locked=["bob"])
    np.testing.assert_allclose(held, [torque], rtol=50 * EPS)
    state = system.state(q=[0.7], parameters=values, locked=["bob"])
    np.testing.assert_array_equal(state.motion_forces(), held)
    np.testing.assert_array_equal(state.udot, [0.0])
    np.testing.assert_allclose(state.motion_forces([1.0]), [torque - 1.0], rtol=50 * EPS)
    np.testing.assert_array_equal(state.replace(locked=()).motion_forces(), [0.0])


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("com", (P("c", 0.1), "x", 0)),
        ("inertia", (P("c", 0.1), 0.1, {})),
        ("X_PF", (P("c", 0.1), None, 0)),
        ("com", (P("c", 0.1), 10**400, 0)),
    ],
)
def test_what_stands_beside_a_parameter_is_a_number(argument, value):
    system = cd.System()
    with pytest.raises(DescriptionError, match=f"body 'b': {argument}: "):
        system.add_body(
            "b", mobilizer=cd.Pin(), **({"mass": 1.0, "inertia": (0.1, 0.1, 0.1)} | {argument: value})
        )
    assert system.parameters == ()


@pytest.mark.parametrize(
    "mobilizer",
    [
        cd.Ellipsoid((0.5 * cd.Parameter("size", 0.2), 0.1, 0.3)),
        cd.CantileverFreeBeam(cd.Parameter("size", 0.2)).reversed(),
    ],
)
def test_a_mobilizer_refuses_parameters_that_cannot_be_when_they_are_set(mobilizer):
    system = cd.System()
    system.add_body("body", mobilizer=mobilizer, mass=1.0, inertia=(1, 1, 1))
    q, u = system.defaults()
    assert np.isfinite(system.forward_dynamics(q, u, parameters={"size": 0.4})).all()
    with pytest.raises(cd.errors.DescriptionError, match="above 0"):
        system.forward_dynamics(q, u, parameters={"size": -0.1})
    with pytest.raises(cd.errors.DescriptionError, match="above 0"):
        system.state(parameters={"size": 0.0})


def test_inputs_do_not_describe_bodies():
    """They would move a body without a speed, and poses do not wait for inputs in a State."""
    for given in (
        {"mass": cd.Input("m", 1.0)},
        {"X_PF": (cd.Input("x", 0.1), 0, 0)},
        {"X_BM": (0, cd.Parameter("L", 1.0) * cd.Input("y", 0.1), 0)},
    ):
        with pytest.raises(cd.errors.DescriptionError, match=r"Input.*cd\.Parameter"):
            cd.System().add_body("a", "ground", cd.Pin(), **{"mass": 1.0, "inertia": (1, 1, 1), **given})


def test_parameter_as_a_constant_of_function_based():
    system = cd.System()
    joint = cd.FunctionBased(("k",), (None, None, lambda q: q), (cd.Parameter("offset", 0.2), None, None))
    system.add_body("a", "ground", joint, mass=1.0, inertia=(1, 1, 1))
    assert system.body_pose([0.3], "a", parameters={"offset": 0.7}).p.tolist() == [0.7, 0.0, 0.0]
