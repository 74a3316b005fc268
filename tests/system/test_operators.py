"""Every operator of condyle.system.operators: one state, a batch and a State agree; each against differences
or an identity.

tests/dynamics/test_identities.py compares them with the oracle where no force but gravity acts; here forces
of all kinds do.
"""

from __future__ import annotations

import inspect
from operator import attrgetter

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.model.operators import OPERATORS as RECORDS
from condyle.model.operators.record import OperatorRecord
from condyle.system.operators import METHODS
from condyle.system.states import States, publish
from tests.differences import DIFFERENCES, STEPS, WEIGHTS
from tests.forces.rig import CONSERVATIVE, arm, one_of_each
from tests.forces.rig import state as arm_state
from tests.zoo import model

EPS = np.finfo(float).eps
# Sums of some hundred products.
ROUNDING = 2000 * EPS
STATION = np.array([0.1, -0.2, 0.3])


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


# What each operator takes beside the arrays that a State has.
EXTRA = {
    "forward_dynamics": ("tau",),
    "ydot": ("tau",),
    "inverse_dynamics": ("udot",),
    "motion_forces": ("tau",),
    "motion_power": ("tau",),
    "kinematics.u_from_qdot": ("qdot",),
    "kinematics.udot_from_qddot": ("qddot",),
    "multiply_mass_matrix": ("f",),
    "solve_mass_matrix": ("f",),
    "reactions": ("hand",),
    "body_pose": ("hand",),
    "body_velocity": ("hand",),
    "body_acceleration": ("hand",),
    "composite_inertia": ("base",),
    "articulated_inertia": ("base",),
    "kinematics.frame_pose": ("hand", cd.Transform(p=STATION)),
    "station_position": ("hand", STATION),
    "kinematics.frame_velocity": ("hand", STATION),
    "station_velocity": ("hand", STATION),
    "kinematics.frame_acceleration": ("hand", STATION),
    "station_acceleration": ("hand", STATION),
    "station_jacobian": ("hand", STATION),
    "kinematics.frame_jacobian": ("hand", STATION),
    "kinematics.frame_bias": ("hand", STATION),
    "kinematics.station_bias": ("hand", STATION),
    "momentum": ((0.3, -0.2, 0.5),),
    **dict.fromkeys(
        (
            "qdot",
            "kinematics.qddot",
            "kinematics.N",
            "kinematics.Ndot",
            "zdot",
            "mass_matrix",
            "inverse_mass_matrix",
            "gravity_forces",
            "coriolis_forces",
            "applied_forces",
            "power",
            "energy",
            "kinematics.system_jacobian",
            "body_poses",
            "mass_center",
            "mass_center_velocity",
            "mass_center_acceleration",
        ),
        (),
    ),
}
OPERATORS = {name: record for name, record in RECORDS.items() if record.public}
# Those of constraints: tests/constraints.
CONSTRAINED = {
    "multipliers",
    "constraints.errors",
    "constraints.jacobian",
    "constraints.bias",
    "constraints.rank",
    "constraints.forces",
    "constraints.reactions",
    "constraints.power",
    "constraints.impulses",
}
# Those of paths: tests/paths.
ALONG_PATHS = {"path_lengths", "path_speeds", "moment_arms", "path_points"}
# Those of contacts: tests/contact.
OF_CONTACTS = {
    f"contacts.{what}"
    for what in (
        "depths",
        "points",
        "normals",
        "patches",
        "slips",
        "forces",
        "losses",
        "pressures",
        "wrenches",
    )
} | {"contacts.center_of_pressure"}
TAIL = ("t", "z", "inputs", "parameters")


def test_every_operator_is_listed():
    assert set(EXTRA) == set(OPERATORS) - CONSTRAINED - ALONG_PATHS - OF_CONTACTS


def test_an_operator_is_one_record_and_its_public_line(monkeypatch):
    """A record added here is an operator of System, State and Trajectory, with names, units, derivatives and
    a Function."""

    def spin(s):
        return [ca.sumsqr(s["u"]) / 2, s["u"] * s["q"]]

    record = OperatorRecord(
        "spin",
        cd.Stage.VELOCITY,
        "q u",
        spin,
        results={"total": "", "each": "nu"},
        columns=lambda model, given: [("total", "rad^2/s^2"), *((name, "") for name in model.tree.speeds)],
    )
    monkeypatch.setitem(RECORDS, "spin", record)
    monkeypatch.setitem(METHODS, "spin", None)
    for kind in (cd.System, cd.State, States):
        monkeypatch.setattr(kind, "spin", None, raising=False)

    def public(self, q, u, **options):
        """Half the sum of squares of the speeds, and their products with the coordinates."""
        return self._run("spin", (q, u), options)

    public.__name__ = "spin"
    publish(record, public)

    system = cd.System()
    for name in ("a", "b"):
        system.add_body(name, mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))
    q, u = np.array([0.2, 0.3]), np.array([3.0, 4.0])
    total, each = system.spin(q, u)
    assert total == 12.5
    np.testing.assert_array_equal(each, q * u)
    assert system.spin(np.stack([q, q]), u)[0].shape == (2,)
    state = system.state(q=q, u=u)
    assert state.spin()[0] == 12.5 and state.spin()[1] is state.spin()[1]
    table = cd.simulate(system, state, 0.1).spin()
    assert table.titles == ["total [rad^2/s^2]", "a", "b"]
    np.testing.assert_allclose(table.values[:, 0], 12.5, rtol=1e-12)  # nothing acts: speeds stay
    np.testing.assert_allclose(system.jacobian("spin", q, u, wrt="u"), [u, [0.2, 0], [0, 0.3]], rtol=1e-15)
    assert float(system.casadi("spin")(q=q, u=u)["total"]) == 12.5
    with pytest.raises(cd.errors.ShapeError, match=r"^spin: q: coordinate 'a' is nan"):
        system.spin([np.nan, 0], u)


@pytest.mark.parametrize(
    "name", [name for name in EXTRA if "body" in inspect.signature(METHODS[name]).parameters]
)
def test_errors_name_the_operator_that_was_asked(name):
    system, at = model()
    at = at | {"q": np.full(system.nq, np.nan)}
    with pytest.raises(cd.errors.ShapeError, match=f"^{name}: q: coordinate "):
        attrgetter(name)(system)(*asked(name, at), **options(at))
    with pytest.raises(cd.errors.UnknownNameError, match=f"option of {name}"):
        attrgetter(name)(system)(*asked(name, model()[1]), nonsense=1)


def leaves(result):
    if isinstance(result, cd.Transform):
        return [result.R, result.p]
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]


def asked(name, at):
    """Arguments of a System's operator; names of arrays among the extra ones stand for them."""
    return [at[a] for a in OPERATORS[name].arrays] + [
        at[x] if isinstance(x, str) and x in at else x for x in EXTRA[name]
    ]


def options(at, **more):
    return {**{name: at[name] for name in TAIL}, **more}


@pytest.mark.parametrize("name", EXTRA)
def test_one_state_a_batch_and_a_State(name):
    system, at = model()
    mask = np.zeros(system.nu)
    mask[[3, 9]] = 1
    more = {"locked": mask, "disabled": ["spring"]}
    one = leaves(attrgetter(name)(system)(*asked(name, at), **options(at, **more)))

    rng = np.random.default_rng(0)
    batch = {
        key: np.stack([at[key], at[key] + rng.uniform(-0.1, 0.1, np.shape(at[key]))])
        if key != "parameters"
        else at[key]
        for key in (
            "q",
            "u",
            "tau",
            "udot",
            "qdot",
            "qddot",
            "f",
            "t",
            "z",
            "inputs",
            "parameters",
        )
    }
    many = leaves(attrgetter(name)(system)(*asked(name, batch), **options(batch, **more)))
    for x, y in zip(many, one, strict=True):
        assert x.shape == (2, *y.shape)
        # The same expressions by the same evaluator; operators made of NumPy's products may associate
        # differently.
        np.testing.assert_allclose(x[0], y, rtol=0, atol=ROUNDING * max(1, np.abs(y).max()))
        assert np.abs(x[1] - x[0]).max() > 1e-6 or name in ("zdot",), "the second state should differ"

    locked = [speed for speed, m in zip(system.speeds, mask) if m]
    state = system.state(
        t=at["t"],
        q=at["q"],
        u=at["u"],
        z=at["z"],
        inputs=at["inputs"],
        parameters=at["parameters"],
        locked=locked,
        disabled=["spring"],
    )
    if name in ("qdot",):
        mine = leaves(state.qdot)
    else:
        # A State's accelerations are its own: those of its forces without tau.
        mine = leaves(
            attrgetter(name)(state)(*[at[x] if isinstance(x, str) and x in at else x for x in EXTRA[name]])
        )
        if "udot" in OPERATORS[name].arrays:
            one = leaves(
                attrgetter(name)(system)(*asked(name, at | {"udot": state.udot}), **options(at, **more))
            )
    for x, y in zip(mine, one, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=ROUNDING * max(1, np.abs(y).max()))


# ---- Kinematics, against differences along the motion ------------------------------------------------------


def along(at, f):
    """d/dt f(state) along the path with rates qdot, udot, and time; parameters, z and inputs stay."""
    system, _ = model()
    qdot = system.qdot(at["q"], at["u"], **options(at))
    moved = [at | {"q": at["q"] + s * qdot, "u": at["u"] + s * at["udot"], "t": at["t"] + s} for s in STEPS]
    return np.tensordot(WEIGHTS, np.stack([f(system, x) for x in moved]), axes=1)


def assert_rate(found, at, f):
    expected = along(at, f)
    np.testing.assert_allclose(found, expected, rtol=0, atol=DIFFERENCES * max(1, np.abs(expected).max()))
    assert np.abs(expected).max() > 1e-3


def test_velocities_are_rates_of_positions():
    system, at = model()
    q, u, o = at["q"], at["u"], options(at)
    position = lambda s, x: s.station_position(x["q"], "hand", STATION, **options(x))
    assert_rate(system.station_velocity(q, u, "hand", STATION, **o), at, position)
    assert_rate(system.kinematics.frame_velocity(q, u, "hand", STATION, **o)[3:], at, position)
    assert_rate(
        system.body_velocity(q, u, "hand", **o)[3:],
        at,
        lambda s, x: s.body_pose(x["q"], "hand", **options(x)).p,
    )
    R = system.body_pose(q, "hand", **o).R
    spin = along(at, lambda s, x: s.body_pose(x["q"], "hand", **options(x)).R) @ R.T
    w = [spin[2, 1], spin[0, 2], spin[1, 0]]
    np.testing.assert_allclose(
        system.kinematics.frame_velocity(q, u, "hand", STATION, **o)[:3],
        w,
        rtol=0,
        atol=DIFFERENCES,
    )
    every = system.body_poses(q, **o)
    for i, body in enumerate(system.bodies):
        one = system.body_pose(q, body, **o)
        np.testing.assert_array_equal(every.R[i], one.R)
        np.testing.assert_array_equal(every.p[i], one.p)
    X = system.kinematics.frame_pose(q, "hand", cd.Transform(p=STATION), **o)
    np.testing.assert_array_equal(X.R, R)
    np.testing.assert_allclose(X.p, position(system, at), rtol=0, atol=ROUNDING)
    assert_rate(system.mass_center_velocity(q, u, **o), at, lambda s, x: s.mass_center(x["q"], **options(x)))


def test_accelerations_are_rates_of_velocities():
    system, at = model()
    state, o = (at["q"], at["u"], at["udot"]), options(at)
    velocity = lambda s, x: s.kinematics.frame_velocity(x["q"], x["u"], "hand", STATION, **options(x))
    assert_rate(system.kinematics.frame_acceleration(*state, "hand", STATION, **o), at, velocity)
    assert_rate(
        system.station_acceleration(*state, "hand", STATION, **o), at, lambda s, x: velocity(s, x)[3:]
    )
    assert_rate(
        system.body_acceleration(*state, "foot", **o),
        at,
        lambda s, x: s.body_velocity(x["q"], x["u"], "foot", **options(x)),
    )
    assert_rate(
        system.mass_center_acceleration(*state, **o),
        at,
        lambda s, x: s.mass_center_velocity(x["q"], x["u"], **options(x)),
    )


@pytest.mark.parametrize(
    ("body", "who"),
    [("hand", "head"), ("foot", "base"), ("hand", "ground"), ("ground", "tail"), ("leg", "leg")],
)
def test_relative_motion(body, who):
    """Against transforms of poses in ground, and differences of these in the other body's axes."""
    system, at = model()
    state, o = (at["q"], at["u"], at["udot"]), options(at)
    X = system.body_pose(at["q"], body, relative_to=who, **o)
    X_A, X_B = (system.body_pose(at["q"], name, **o) for name in (who, body))
    np.testing.assert_allclose((X_A @ X).p, X_B.p, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose((X_A @ X).R, X_B.R, rtol=0, atol=ROUNDING)

    def turned(s, x):
        return s.body_pose(x["q"], body, who, **options(x)).R

    def velocity(s, x):
        return s.kinematics.frame_velocity(x["q"], x["u"], body, STATION, who, **options(x))

    V = velocity(system, at)
    spin = along(at, turned) @ X.R.T
    close = {"rtol": 0, "atol": 10 * DIFFERENCES}
    np.testing.assert_allclose(V[:3], [spin[2, 1], spin[0, 2], spin[1, 0]], **close)
    np.testing.assert_allclose(
        V[3:],
        along(at, lambda s, x: s.station_position(x["q"], body, STATION, relative_to=who, **options(x))),
        **close,
    )
    np.testing.assert_allclose(
        system.kinematics.frame_acceleration(*state, body, STATION, who, **o), along(at, velocity), **close
    )
    np.testing.assert_allclose(
        system.body_acceleration(*state, body, who, **o),
        along(at, lambda s, x: s.body_velocity(x["q"], x["u"], body, who, **options(x))),
        **close,
    )
    np.testing.assert_array_equal(system.station_velocity(*state[:2], body, STATION, who, **o), V[3:])
    X_S = system.kinematics.frame_pose(at["q"], body, cd.Transform(p=STATION), who, **o)
    np.testing.assert_allclose(
        X_S.p, system.station_position(at["q"], body, STATION, who, **o), rtol=0, atol=ROUNDING
    )
    if body == who:
        np.testing.assert_allclose(V, 0, rtol=0, atol=ROUNDING)


def test_relative_motion_of_many_and_in_tables():
    system, at = model()
    q, u = np.stack([at["q"]] * 2), np.stack([at["u"], 2 * at["u"]])
    one = system.kinematics.frame_velocity(at["q"], 2 * at["u"], "hand", STATION, "head", **options(at))
    many = system.kinematics.frame_velocity(q, u, "hand", STATION, "head", **options(at))
    np.testing.assert_allclose(many[1], one, rtol=0, atol=ROUNDING)
    gives = OPERATORS["body_velocity"].columns
    assert gives(system.compiled.model, {"body": "hand", "relative_to": "head"})[0] == (
        "hand_in_head_wx",
        "rad/s",
    )
    with pytest.raises(cd.errors.UnknownNameError, match=r"body 'haed'.*head"):
        system.body_pose(at["q"], "hand", relative_to="haed", **options(at))


def test_bias_is_the_rate_of_the_jacobian():
    """Jdot u, where nothing moves by itself: the foot. On the hand, which time moves too, J udot + bias is
    the acceleration."""
    system, at = model()
    o = options(at)
    Jdot = along(at, lambda s, x: s.kinematics.frame_jacobian(x["q"], "foot", STATION, **options(x)))
    bias = system.kinematics.frame_bias(at["q"], at["u"], "foot", STATION, **o)
    np.testing.assert_allclose(bias, Jdot @ at["u"], rtol=0, atol=DIFFERENCES * np.abs(bias).max())
    np.testing.assert_array_equal(
        system.kinematics.station_bias(at["q"], at["u"], "foot", STATION, **o), bias[3:]
    )
    J = system.kinematics.frame_jacobian(at["q"], "hand", STATION, **o)
    a = system.kinematics.frame_acceleration(at["q"], at["u"], at["udot"], "hand", STATION, **o)
    bias = system.kinematics.frame_bias(at["q"], at["u"], "hand", STATION, **o)
    np.testing.assert_allclose(J @ at["udot"] + bias, a, rtol=0, atol=ROUNDING * np.abs(a).max())


def test_jacobians_are_one():
    """The whole system's, a frame's and a station's."""
    system, at = model()
    o = options(at)
    J = system.kinematics.system_jacobian(at["q"], **o)
    for body in system.bodies:
        frame = system.kinematics.frame_jacobian(at["q"], body, (0, 0, 0), **o)
        np.testing.assert_allclose(J[body.index], frame, rtol=0, atol=ROUNDING)
        r = system.body_pose(at["q"], body, **o).R @ STATION
        moved = system.kinematics.frame_jacobian(at["q"], body, STATION, **o)
        np.testing.assert_allclose(moved[3:], frame[3:] + np.cross(frame[:3].T, r).T, rtol=0, atol=ROUNDING)
        np.testing.assert_array_equal(moved[3:], system.station_jacobian(at["q"], body, STATION, **o))


def test_stations_broadcast():
    """Stations (5, 1, 3) and two states: (5, 2, ...)."""
    system, at = model()
    stations = np.random.default_rng(0).uniform(-1, 1, (5, 1, 3))
    q, u = np.stack([at["q"], at["q"]]), np.stack([at["u"], 2 * at["u"]])
    o = options(at)
    for name, arrays, n in (
        ("station_position", (q,), (3,)),
        ("station_velocity", (q, u), (3,)),
        ("kinematics.frame_velocity", (q, u), (6,)),
        ("station_acceleration", (q, u, u), (3,)),
        ("kinematics.station_bias", (q, u), (3,)),
        ("station_jacobian", (q,), (3, system.nu)),
        ("kinematics.frame_jacobian", (q,), (6, system.nu)),
    ):
        found = attrgetter(name)(system)(*arrays, "hand", stations, **o)
        assert found.shape == (5, 2, *n), name
        one = attrgetter(name)(system)(*(a[1] for a in arrays), "hand", stations[3, 0], **o)
        np.testing.assert_allclose(
            found[3, 1], one, rtol=0, atol=ROUNDING * max(1, np.abs(one).max()), err_msg=name
        )


# ---- Mass --------------------------------------------------------------------------------------------------


def test_mass_matrix_and_its_products():
    system, at = model()
    o = options(at)
    M = system.mass_matrix(at["q"], **o)
    np.testing.assert_array_equal(M, M.T)
    # A solve loses cond(M) eps, some 1e3 eps here; 100 for the sums before it.
    solved = 100 * np.linalg.cond(M) * EPS
    for found, expected, relative in (
        (system.multiply_mass_matrix(at["q"], at["f"], **o), M @ at["f"], ROUNDING),
        (system.solve_mass_matrix(at["q"], at["f"], **o), np.linalg.solve(M, at["f"]), solved),
        (system.inverse_mass_matrix(at["q"], **o), np.linalg.inv(M), solved),
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=relative * np.abs(expected).max())


def test_composite_inertia_is_the_diagonal_of_the_mass_matrix():
    """M_kk = h' C h: what a speed moves as one rigid body is its body and all that this carries."""
    system, at = model()
    o = options(at)
    M = system.mass_matrix(at["q"], **o)
    for body in system.bodies:
        h = system.kinematics.frame_jacobian(at["q"], body, (0, 0, 0), **o)[:, body.u]
        C = system.composite_inertia(at["q"], body, **o)
        np.testing.assert_allclose(h.T @ C @ h, M[body.u, body.u], rtol=0, atol=ROUNDING * np.abs(M).max())


@pytest.mark.parametrize("locked", [(), ("grip", "foot_wy")])
def test_articulated_inertia_is_a_dense_elimination(locked):
    """P = C - F M^-1 F': C the composite inertia, M and F the mass matrix and the momenta about the body's
    origin of the speeds that it carries and that are free."""
    system, at = model()
    q, o = at["q"], options(at)
    M, still = system.mass_matrix(q, **o), system.momentum(q, np.zeros(system.nu), **o)
    carried = {b.name: {b.name} for b in system.bodies}
    for b in reversed(system.bodies):
        if not b.parent.is_ground:
            carried[b.parent.name] |= carried[b.name]
    for body in system.bodies:
        free = [
            k
            for b in system.bodies
            if b.name in carried[body.name] - {body.name}
            for k in range(b.u.start, b.u.stop)
            if system.speeds[k] not in locked
        ]
        p = system.body_pose(q, body, **o).p
        F = (
            np.stack([system.momentum(q, np.eye(system.nu)[k], **o) - still for k in free], -1)
            if free
            else np.zeros((6, 0))
        )
        F[:3] -= np.cross(p, F[3:].T).T
        C = system.composite_inertia(q, body, **o)
        P = C - F @ np.linalg.solve(M[np.ix_(free, free)], F.T)
        found = system.articulated_inertia(q, body, locked=locked, **o)
        np.testing.assert_allclose(found, P, rtol=0, atol=100 * ROUNDING * np.abs(C).max(), err_msg=body.name)
    np.testing.assert_array_equal(system.articulated_inertia(q, "ground", **o), 0)


def test_kinetic_energy_is_half_of_momentum_times_velocity():
    """2 KE = sum over bodies of h_B . V_B; about a moved point momentum changes by about x p."""
    system, at = model()
    o = options(at)
    h = system.momentum(at["q"], at["u"], **o)
    about = np.array([1.0, -2.0, 0.5])
    moved = system.momentum(at["q"], at["u"], about, **o)
    np.testing.assert_allclose(
        moved[:3], h[:3] - np.cross(about, h[3:]), rtol=0, atol=ROUNDING * np.abs(h).max()
    )
    np.testing.assert_array_equal(moved[3:], h[3:])
    total = sum(
        float(b.mass_properties_at(dict(zip(system.parameters, at["parameters"]))).mass)
        for b in system.bodies
    )
    v = system.mass_center_velocity(at["q"], at["u"], **o)
    np.testing.assert_allclose(h[3:], total * v, rtol=0, atol=ROUNDING * np.abs(h).max())
    # Momentum is the derivative of kinetic energy along a motion of the whole: the base's speeds are w, v of
    # all at its M.
    gradient = system.jacobian("energy", at["q"], at["u"], wrt="u", **o)[0]
    np.testing.assert_allclose(gradient[3:6], h[3:], rtol=0, atol=ROUNDING * np.abs(h).max())


# ---- Forces ------------------------------------------------------------------------------------------------


def test_forces_add_up():
    """M udot + coriolis = tau + gravity + applied, with every kind of force, and for each force alone."""
    system, at = model()
    o = options(at)
    q, u, udot = at["q"], at["u"], at["udot"]
    inertial = system.multiply_mass_matrix(q, udot, **o) + system.coriolis_forces(q, u, **o)
    tau = system.inverse_dynamics(q, u, udot, **o)
    acting = system.gravity_forces(q, **o) + system.applied_forces(q, u, **o)
    np.testing.assert_allclose(
        inertial, tau + acting, rtol=0, atol=ROUNDING * (np.abs(tau).max() + np.abs(acting).max())
    )
    each = [
        system.applied_forces(q, u, **options(at, disabled=[f for f in system.forces if f != name]))
        for name in system.forces[1:]
    ]
    np.testing.assert_allclose(
        sum(each), system.applied_forces(q, u, **o), rtol=0, atol=ROUNDING * np.abs(acting).max()
    )
    assert all(np.abs(f).max() > 1e-6 for f in each)


def test_gravity_forces_are_the_slope_of_its_energy():
    system, at = model()
    off = [f for f in system.forces if f != "gravity"]
    directions = system.qdot(at["q"], np.eye(system.nu), **options(at))
    moved = at["q"] + STEPS[:, None, None] * directions
    potential = system.energy(moved, at["u"], **options(at, disabled=off))[1]
    expected = -np.tensordot(WEIGHTS, potential, axes=1)
    found = system.gravity_forces(at["q"], **options(at))
    np.testing.assert_allclose(found, expected, rtol=0, atol=DIFFERENCES * np.abs(expected).max())


def test_coriolis_forces_are_quadratic_in_u_where_nothing_moves_by_itself():
    system = arm(**one_of_each())
    q, u = arm_state(system)
    f = system.coriolis_forces(q, np.stack([u, -2 * u, 0 * u]))
    np.testing.assert_allclose(f[1], 4 * f[0], rtol=0, atol=ROUNDING * np.abs(f).max())
    np.testing.assert_array_equal(f[2], 0)


@pytest.mark.parametrize("seed", range(3))
def test_power_of_all_forces(seed, evidence):
    """Power of each force [W]; together it is (gravity + applied) . u where no joint moves by itself."""
    system = arm(**one_of_each())
    q, u = arm_state(system, seed)
    o = {"t": 0.4, "z": np.full(len(system.state_variables), 0.3)}
    power = system.power(q, u, **o)
    assert power.shape == (len(system.forces),)
    generalized = system.gravity_forces(q, **o) + system.applied_forces(q, u, **o)
    evidence(
        "power of one force of each kind against generalized forces times speeds, relative",
        abs(power.sum() - generalized @ u) / np.abs(power).max(),
        ROUNDING,
    )
    quiet = system.power(q, u, disabled=["spring", "drag"], **o)
    off = [system.forces.index(name) for name in ("spring", "drag")]
    np.testing.assert_array_equal(quiet[off], 0)
    np.testing.assert_array_equal(np.delete(quiet, off), np.delete(power, off))


def test_energy_changes_by_power_of_what_is_not_potential():
    """dE/dt along the motion under all forces and tau, for a system in which time moves a joint's reactions
    too: no hand."""
    system = arm(**one_of_each())
    q, u = arm_state(system, 4)
    tau = np.linspace(-1, 1, system.nu)
    o = {"t": 0.4, "z": np.full(len(system.state_variables), 0.3)}
    udot = system.forward_dynamics(q, u, tau, **o)
    qdot = system.qdot(q, u)
    total = np.array([sum(system.energy(q + s * qdot, u + s * udot, t=0.4 + s, z=o["z"])) for s in STEPS])
    stored = ("gravity", *CONSERVATIVE)
    spent = [p for p, name in zip(system.power(q, u, **o), system.forces) if name not in stored]
    scale = np.abs(system.power(q, u, **o)).max()
    # The stop is a stiff spring (900 N/m) with a sudden start, far away here.
    assert WEIGHTS @ total == pytest.approx(sum(spent) + tau @ u, abs=1e-8 * scale)


def test_reactions_hold_tau_and_what_acts_on_the_joint():
    """H' F = tau + the generalized forces that act on the joint's own speeds (motor, spring, damper,
    thermostat)."""
    system, at = model()
    o = options(at)
    tau = system.inverse_dynamics(at["q"], at["u"], at["udot"], **o)
    everything = system.reactions(at["q"], at["u"], at["udot"], **o)
    assert everything.shape == (len(system.bodies), 6)
    on_bodies = ("gravity", "spring", "damper")
    on_speeds = system.applied_forces(at["q"], at["u"], **options(at, disabled=on_bodies))
    # Drag acts on a body and on a speed: take the speed's part from its definition (tests/zoo.py).
    drag_body = system.applied_forces(
        at["q"], at["u"], **options(at, disabled=[f for f in system.forces if f != "drag"])
    )
    motor = at["inputs"][0] * np.cos(at["q"][system.coordinates.index("wag")]) + 0.1 * np.sin(at["t"])
    wag = system.speeds.index("wag")
    drag_body[wag] -= motor
    on_speeds = on_speeds - drag_body
    for body in system.bodies:
        F = system.reactions(at["q"], at["u"], at["udot"], body, **o)
        np.testing.assert_array_equal(F, everything[body.index])
        H = system.kinematics.frame_jacobian(at["q"], body, origin_of_M(system, body, at), **o)[:, body.u]
        expected = tau[body.u] + on_speeds[body.u]
        np.testing.assert_allclose(H.T @ F, expected, rtol=0, atol=ROUNDING * max(1, np.abs(F).max()))


def origin_of_M(system, body, at):
    """M's origin on the body at the parameters' values."""
    if "p_BM" in body.symbolic:
        return body.symbolic["p_BM"].at(dict(zip(system.parameters, at["parameters"])))[:, 0]
    return body.X_BM.p


def test_motion_forces_hold():
    """Added to tau they do what the locks do; locked speeds may move, at constant speed."""
    system, at = model()
    mask = np.zeros(system.nu)
    mask[[0, 4, 7, 12]] = 1
    state, o = (at["q"], at["u"], at["tau"]), options(at, locked=mask)
    held = system.motion_forces(*state, **o)
    udot = system.forward_dynamics(*state, **o)
    free = system.forward_dynamics(at["q"], at["u"], at["tau"] + held, **options(at))
    np.testing.assert_array_equal(held[mask == 0], 0)
    # cond(M) is some 1e3.
    np.testing.assert_allclose(free, udot, rtol=0, atol=1e-10 * np.abs(udot).max())


def test_rates_of_the_thermostat_follow_its_definition():
    """eta' = zeta, whatever else happens."""
    system, at = model()
    z = dict(zip(system.state_variables, at["z"]))
    rates = dict(zip(system.state_variables, system.zdot(at["q"], at["u"], **options(at))))
    for k in range(3):
        assert rates[f"bath.eta{k}"] == z[f"bath.zeta{k}"]
    np.testing.assert_array_equal(system.zdot(at["q"], at["u"], **options(at, disabled=["bath"])), 0)


def test_mass_center_without_mass_is_nan():
    system = cd.System()
    system.add_body("frame", "ground", cd.Weld(), X_PF=(1.0, 2.0, 3.0))
    q, u = system.defaults()
    assert np.isnan(system.mass_center(q)).all()
    assert np.isnan(system.mass_center_velocity(q, u)).all()
    assert not system.momentum(q, u).any()


def test_jacobian_of_ground_broadcasts():
    system = cd.System()
    system.add_body("a", "ground", cd.Pin("y"), mass=1.0, com=(0.1, 0.0, 0.2), inertia=(1.0, 1.1, 1.2))
    for options, station in (({"t": np.zeros(4)}, (0, 0, 0)), ({}, np.zeros((4, 3)))):
        for body in ("a", "ground"):
            assert system.station_jacobian([0.1], body, station, **options).shape == (4, 3, 1)


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_ydot_is_all_rates_below_each_other(layout, monkeypatch):
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    system = arm(damper=one_of_each()["damper"], bath=one_of_each()["bath"])
    q, u = arm_state(system, 4)
    tau, z = np.linspace(-1, 1, system.nu), np.full(len(system.state_variables), 0.3)
    each = [system.qdot(q, u), system.forward_dynamics(q, u, tau, z=z), system.zdot(q, u, z=z)]
    # the same expressions, added in another order
    np.testing.assert_allclose(system.ydot(q, u, tau, z=z), np.concatenate(each), rtol=1e-12)
    np.testing.assert_allclose(system.state(q=q, u=u, z=z).ydot(tau), np.concatenate(each), rtol=1e-12)
