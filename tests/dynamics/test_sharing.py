"""Bodies that follow others: every operator against the same system with coordinates of its own for the
follower, and couplers as constraints."""

from __future__ import annotations

import pickle
from operator import attrgetter

import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError

CASES = ("beside", "beyond", "far", "elsewhere", "before")
# Sums of some hundred products; constraints lose what their multipliers do.
SAME = 1e-11


def angle(knee):
    return 0.3 + 0.5 * knee + 0.2 * np.sin(knee)


def shift(knee):
    return 0.05 * knee**2


def leg(joints: bool, case: str = "beside") -> cd.System:
    """A thigh that floats, a shank, a patella whose angle and shift follow the knee; on the thigh beside the
    shank, on the shank, on what carries both, on ground; or between thigh and shank."""
    rng = np.random.default_rng(3)
    system = cd.System(gravity=(0, -9.81, 0))

    def add(name, parent, mobilizer, **more):
        system.add_body(
            name,
            parent,
            mobilizer,
            X_PF=0.3 * rng.normal(size=3),
            X_BM=0.1 * rng.normal(size=3),
            mass=rng.uniform(0.5, 2),
            com=0.1 * rng.normal(size=3),
            inertia=rng.uniform(0.1, 0.12, 3),
            **more,
        )

    own = cd.FunctionBased(
        ("angle", "shift"),
        ((cd.functions.Linear(1), "angle"), None, None),
        (None, (cd.functions.Linear(1), "shift"), None),
    )
    knee = cd.FunctionBased(("knee",), (None, None, lambda q: q), (lambda q: 0.1 * np.cos(q), None, None))
    coupled = cd.Coupled(own, "knee", (angle, shift))
    add("pelvis", "ground", cd.Free(coordinates="euler"))
    add("thigh", "pelvis", cd.Gimbal())
    parent = {
        "beside": "thigh",
        "beyond": "shank",
        "far": "pelvis",
        "elsewhere": "ground",
        "before": "thigh",
    }[case]
    if case == "before":  # the patella has the coordinate
        if joints:
            add("patella", parent, coupled)
            add("shank", "patella", knee, follows="patella")
        else:
            add("patella", parent, own)
            add("shank", "patella", knee)
    else:
        add("shank", "thigh", knee)
        add("patella", parent, coupled if joints else own, **({"follows": "shank"} if joints else {}))
    if not joints:
        for name, f in (("angle", angle), ("shift", shift)):
            system.add_constraint(
                name, cd.constraints.CoordinateCoupler(lambda k, x, f=f: f(k) - x, ("knee", name))
            )
    add("foot", "patella" if case == "beyond" else "shank", cd.Pin())
    system.add_force(
        "cord", cd.forces.TwoPointSpring("patella", (0.1, 0, 0.2), "foot", (0.1, 0.1, 0), 300.0, 0.1)
    )
    system.add_force("spring", cd.forces.MobilitySpring("knee", 30.0, 0.1))
    return system


class Both:
    """The same leg twice, at the same random states: x = C u takes speeds of the first to the second."""

    def __init__(self, case: str, n: int = 3) -> None:
        self.s, self.c = leg(True, case), leg(False, case)
        rng, places = np.random.default_rng(7), list(self.c.coordinates)
        self.q, self.u, self.tau = (rng.uniform(-0.6, 0.6, (n, self.s.nu)) for _ in range(3))
        knee = self.q[:, list(self.s.coordinates).index("knee")]
        self.keep = [places.index(name) for name in self.s.coordinates]
        self.Q, self.C = np.zeros((n, self.c.nq)), np.zeros((n, self.c.nu, self.s.nu))
        self.Q[:, self.keep] = self.q
        self.C[:, self.keep, range(self.s.nu)] = 1
        k = list(self.s.coordinates).index("knee")
        for name, x, slope in (
            ("angle", angle(knee), 0.5 + 0.2 * np.cos(knee)),
            ("shift", shift(knee), 0.1 * knee),
        ):
            self.Q[:, places.index(name)], self.C[:, places.index(name), k] = x, slope
        self.U = (self.C @ self.u[..., None])[..., 0]
        self.T = np.zeros_like(self.U)
        self.T[:, self.keep] = self.tau

    def reduced(self, f):
        return (np.swapaxes(self.C, 1, 2) @ f[..., None])[..., 0]


@pytest.fixture(params=["unrolled", "looped"])
def layout(request, monkeypatch):
    monkeypatch.setenv("CONDYLE_LAYOUT", request.param)


@pytest.fixture
def interpreted(monkeypatch):
    """Nothing is compiled: the same expressions, by CasADi."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


def near(a, b, tolerance=SAME):
    assert np.abs(a - b).max() <= tolerance * max(1.0, np.abs(b).max())


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("case", "layout"), [*((case, "unrolled") for case in CASES), ("before", "looped")])
def test_dynamics_are_those_of_constraints(case, layout, evidence, monkeypatch):
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    both = Both(case)
    s, c, q, u, Q, U = both.s, both.c, both.q, both.u, both.Q, both.U
    assert s.nu == c.nu - 2 and "angle" not in s.coordinates and not s.constraints
    udot, other = s.forward_dynamics(q, u, both.tau), c.forward_dynamics(Q, U, both.T)
    evidence(
        "accelerations of a leg whose patella follows the knee: joints against constraints, relative",
        np.abs(udot - other[:, both.keep]).max() / np.abs(udot).max(),
        SAME,
    )
    near(udot, other[:, both.keep])
    M = s.mass_matrix(q)
    near(M, np.swapaxes(both.C, 1, 2) @ c.mass_matrix(Q) @ both.C)
    near(s.inverse_dynamics(q, u, udot), both.tau)
    near(both.reduced(c.inverse_dynamics(Q, U, other)), both.tau)
    near((M @ s.solve_mass_matrix(q, both.tau)[..., None])[..., 0], both.tau)
    near(s.multiply_mass_matrix(q, both.tau), (M @ both.tau[..., None])[..., 0])
    for name in ("gravity_forces", "applied_forces"):
        more = () if name == "gravity_forces" else (u,), () if name == "gravity_forces" else (U,)
        near(attrgetter(name)(s)(q, *more[0]), both.reduced(attrgetter(name)(c)(Q, *more[1])))
    for body in ("patella", "foot", "shank"):
        near(s.body_pose(q, body).p, c.body_pose(Q, body).p)
        near(s.body_velocity(q, u, body), c.body_velocity(Q, U, body))
        near(s.body_acceleration(q, u, udot, body), c.body_acceleration(Q, U, other, body))
        near(
            s.kinematics.frame_jacobian(q, body, (0.1, 0.2, 0.3)),
            c.kinematics.frame_jacobian(Q, body, (0.1, 0.2, 0.3)) @ both.C,
        )
    near(np.array(s.energy(q, u)), np.array(c.energy(Q, U)))
    near(s.momentum(q, u), c.momentum(Q, U))


@pytest.mark.usefixtures("layout")
def test_machine_code():
    both = Both("beside", 5)
    udot = both.s.forward_dynamics(both.q, both.u, both.tau)
    near(both.s.inverse_dynamics(both.q, both.u, udot), both.tau)
    near(both.s.forward_dynamics(both.q[0], both.u[0], both.tau[0]), udot[0])


def test_inverse_kinematics(layout):
    """A chain whose last body follows the first, over a joint between them; markers that fit nothing."""
    system, rng = cd.System(), np.random.default_rng(2)
    kw = {"X_PF": (0, -0.3, 0), "mass": 1, "inertia": (0.1, 0.1, 0.1)}
    system.add_body("a", "ground", cd.Pin(), **kw)
    system.add_body("b", "a", cd.Pin("x"), **kw)
    system.add_body("c", "b", cd.Coupled(cd.Pin("y"), "a", angle), follows="a", **kw)
    stations = rng.normal(size=(3, 3))
    for k, p in enumerate(stations):
        system.add_marker(f"m{k}", "c", p)
    q = np.array([[0.3, -0.2], [0.35, -0.25]])
    seen = np.stack([system.station_position(q, "c", p) for p in stations], axis=1) + 0.03 * rng.normal(
        size=(2, 3, 3)
    )
    found = cd.inverse_kinematics(system, cd.Markers([0.0, 0.1], system.markers, seen)).motion.values
    for x, places in zip(found, seen, strict=True):
        J = np.concatenate([system.station_jacobian(x, "c", p) for p in stations])
        e = np.concatenate([system.station_position(x, "c", p) for p in stations]) - places.ravel()
        assert np.abs(J.T @ e).max() <= 1e-7  # the gradient at the least sum of squares


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("case", ["beside", "before"])
def test_loads_of_joints(case):
    """What holds a body that follows is what holds one whose coordinates a constraint gives."""
    both = Both(case)
    s, c = both.s, both.c
    udot = s.forward_dynamics(both.q, both.u, both.tau)
    other = c.forward_dynamics(both.Q, both.U, both.T)
    for body in (b.name for b in s.bodies):
        near(s.reactions(both.q, both.u, udot, body), c.reactions(both.Q, both.U, other, body), 1e-9)


@pytest.mark.usefixtures("layout", "interpreted")
def test_locks():
    both = Both("beside")
    for locked in ({"knee": "position"}, {"thigh_ry": 2.0, "knee": -1.5}):
        own = both.s.forward_dynamics(both.q, both.u, both.tau, locked=locked)
        near(own, both.c.forward_dynamics(both.Q, both.U, both.T, locked=locked)[:, both.keep], 1e-9)


@pytest.mark.usefixtures("interpreted")
def test_a_follower_of_a_prescribed_motion():
    def driven(joints):
        system = cd.System(gravity=(0, -9.81, 0))
        kw = {"mass": 1.0, "com": (0, -0.2, 0.1), "inertia": (0.1, 0.11, 0.12), "X_PF": (0, -0.4, 0)}
        system.add_body("a", "ground", cd.Pin(), **kw)
        system.add_body("b", "a", cd.Pin("x"), coordinates="b", motion=cd.Prescribed(position=np.sin), **kw)
        if joints:
            system.add_body("c", "b", cd.Coupled(cd.Pin("y"), "b", angle), follows="b", **kw)
        else:
            system.add_body("c", "b", cd.Pin("y"), **kw)
            system.add_constraint(
                "c", cd.constraints.CoordinateCoupler(lambda b, c: angle(b) - c, ("b", "c"))
            )
        return system.state(
            t=0.4,
            q={"a": 0.3, **({} if joints else {"c": angle(np.sin(0.4))})},
            u={"a": 0.7, **({} if joints else {"c": slope * np.cos(0.4)})},
        )

    slope = 0.5 + 0.2 * np.cos(np.sin(0.4))
    near(driven(True).udot, driven(False).udot[:2], 1e-8)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("operator", ["forward_dynamics", "inverse_dynamics"])
def test_derivatives(operator):
    both = Both("beyond", 1)
    system, q, u, x = both.s, both.q[0], both.u[0], both.tau[0]
    w = np.random.default_rng(0).normal(size=system.nu)
    given = {"q": q, "u": u, "tau" if operator == "forward_dynamics" else "udot": x}
    for wrt in given:
        J = system.jacobian(operator, *given.values(), wrt=wrt)
        near(J, _differences(system, operator, given, wrt), 1e-8)  # of the differences
        back = system.vjp(operator, *given.values(), cotangent=w, wrt=wrt)
        near(back[wrt] if isinstance(back, dict) else back, w @ J)


def _differences(system, operator, given, wrt):
    """Central differences of order 4 along the manifold."""
    columns, h = [], 1e-3
    for e in np.eye(system.nu):

        def at(step, e=e):
            moved = system.qdot(given["q"], e) if wrt == "q" else e
            return attrgetter(operator)(system)(*(given | {wrt: given[wrt] + step * moved}).values())

        columns.append((8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h))
    return np.stack(columns, axis=1)


def test_energy_is_kept(evidence):
    both = Both("beside", 1)
    run = cd.simulate(both.s, both.s.state(q=both.q[0], u=both.u[0]), 1.0, accuracy=1e-9)
    twice = cd.simulate(both.c, both.c.state(q=both.Q[0], u=both.U[0]), 1.0, accuracy=1e-9)
    energies = np.array(both.s.energy(run.q, run.u)).sum(axis=0)
    drift = np.abs(energies - energies[0]).max() / np.abs(energies).max()
    evidence("energy of a leg whose patella follows the knee, 1 s at accuracy 1e-9, relative", drift, 1e-7)
    assert drift <= 1e-7  # a hundred times the accuracy
    near(run.q[-1], twice.q[-1][both.keep], 1e-6)  # both are right to their accuracy


@pytest.mark.usefixtures("interpreted")
def test_copies_and_pickles():
    system = leg(True)
    state = system.state(u={"knee": 1.0})
    for other in (system.copy(), pickle.loads(pickle.dumps(system))):
        assert other.body("patella").follows is other.body("shank")
        near(other.state(u={"knee": 1.0}).udot, state.udot, 0)
    heavier = system.copy(bodies={"shank": {"mass": 9.0}})
    assert heavier.body("patella").follows is heavier.body("shank")
    assert "follows 'shank'" in repr(system.body("patella"))


@pytest.mark.usefixtures("interpreted")
def test_explanations_and_inertia_of_others():
    system = leg(True)
    state = system.state()
    assert "inertia that speed 'knee' moves" in str(system.explain(state))
    with pytest.raises(DescriptionError, match="'patella' follows"):
        system.articulated_inertia(state.q, "shank")


@pytest.mark.usefixtures("interpreted")
def test_numbers_that_are_parameters(layout):
    ratio = cd.Parameter("ratio", 2.0)
    system = cd.System()
    system.add_body("a", "ground", cd.Pin(), mass=1, inertia=(1, 1, 1))
    system.add_body(
        "b",
        "ground",
        cd.Coupled(cd.Pin(), "a", cd.functions.Linear(ratio)),
        follows="a",
        mass=1,
        inertia=(1, 1, 1),
    )
    for value in (2.0, 3.0):  # 1 + ratio^2
        near(system.mass_matrix([0.3], parameters={"ratio": value}), np.array([[1 + value**2]]))
        near(
            system.forward_dynamics([0.3], [0.2], [1.0], parameters={"ratio": value}),
            np.array([1 / (1 + value**2)]),
        )


def test_what_a_follower_does_not_have():
    system = leg(True)
    with pytest.raises(DescriptionError, match=r"'patella' follows 'shank'.*; fit 'shank'"):
        system.state().fit_q("patella", cd.Transform())
    with pytest.raises(DescriptionError, match=r"'patella' follows 'shank'.*CoordinateCoupler"):
        cd.maximal.MaximalSystem(system)


def test_a_mobility_without_inertia_is_named():
    system = cd.System()
    system.add_body("a", "ground", cd.Pin())
    system.add_body("b", "ground", cd.Coupled(cd.Pin(), "a", cd.functions.Linear(2)), follows="a")
    with pytest.raises(DescriptionError, match=r"'a': its Pin.* moves no inertia"):
        system.state()
    system = cd.System()
    system.add_body("a", "ground", cd.Pin())
    system.add_body(
        "b",
        "ground",
        cd.Coupled(cd.Pin(), "a", cd.functions.Linear(2)),
        follows="a",
        mass=1,
        inertia=(1, 1, 1),
    )
    near(system.mass_matrix([0.3]), np.array([[4.0]]))  # the follower's is enough


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"follows": "ground"}, "has no coordinates"),
        ({"follows": "nobody"}, "nobody"),
        ({"follows": "two"}, "has 2 coordinates .two_rx, two_ry., but .* has 1; cd.Coupled"),
        ({"follows": "ball"}, "not the rates of its coordinates"),
        ({"follows": "one", "coordinates": "mine"}, "coordinates= belongs to 'one'"),
        ({"follows": "one", "motion": cd.Prescribed(position=np.sin)}, "motion= belongs to 'one'"),
    ],
)
def test_refusals(arguments, words):
    system = cd.System()
    for name, mobilizer in (("one", cd.Pin()), ("two", cd.Universal()), ("ball", cd.Ball())):
        system.add_body(name, "ground", mobilizer, mass=1, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.CondyleError, match=words):
        system.add_body("other", "ground", cd.Pin(), **arguments)
    assert len(system.bodies) == 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cd.Coupled("pin", "a", lambda a: a), "expected a mobilizer"),
        (lambda: cd.Coupled(cd.Pin(), "a", ("b",)), "'b'"),
        (lambda: cd.Coupled(cd.Universal(), "a", (lambda a: a,)), "functions must be 2"),
        (lambda: cd.Coupled(cd.Ball(), "a", (lambda a: a,) * 4), "not the rates"),
        (lambda: cd.Coupled(cd.Pin(), (), (lambda: 1,)), "one to six"),
        (lambda: cd.Coupled(cd.Pin(), "a", lambda a: a, own=("x", "y")), "own must be 1"),
    ],
)
def test_couplings_that_are_refused(make, words):
    with pytest.raises(cd.errors.CondyleError, match=words):
        make()


def test_names_of_what_is_followed():
    """A mobilizer that names other coordinates than those of the body it follows is refused; so is one that
    does not say whom it follows."""
    leg, kw = cd.System(), {"mass": 1, "inertia": (0.1,) * 3}
    leg.add_body("femur", mobilizer=cd.Pin(), coordinates="hip", **kw)
    leg.add_body("tibia", "femur", cd.Pin(), coordinates="knee", **kw)
    gliding = cd.Coupled(cd.Pin(), "knee", lambda knee: 0.6 * knee)
    with pytest.raises(
        cd.errors.DescriptionError, match=r"names knee, but follows='femur', whose .* are hip"
    ):
        leg.add_body("patella", "femur", gliding, follows="femur", **kw)
    with pytest.raises(
        cd.errors.DescriptionError, match="'knee' is a coordinate of 'tibia'; follows='tibia'"
    ):
        leg.add_body("patella", "femur", gliding, **kw)
    leg.add_body("patella", "femur", gliding, follows="tibia", **kw)
    assert leg.coordinates == ("hip", "knee")
