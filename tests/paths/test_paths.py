"""Paths in systems: operators, forces, constraints, points that are active in a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle import paths
from condyle.constraints.base import Constraint
from condyle.forces.path import PathSpring
from condyle.laws.leaves import Leaf
from condyle.paths.wrap_surfaces import WIDTH

POINTS = [("ground", (0.02, 0.1, 0)), ("upper", (0.03, -0.1, 0.01)), ("lower", (0.02, -0.1, 0))]
OVER = paths.Wrap(paths.Cylinder(0.02, 0.2), "upper", (0.0, -0.3, 0.0))
BENT = paths.Path([("upper", (0.03, -0.2, 0.01)), ("lower", (0.03, -0.05, 0))], [OVER])
VIA = paths.Path([POINTS[0], paths.ConditionalPoint(*POINTS[1], "upper", (0.0, 1.0)), POINTS[2]])


def arm(*forces) -> cd.System:
    system = cd.System()
    system.add_body("upper", mobilizer=cd.Pin(), mass=1.5, com=(0, -0.15, 0), inertia=(0.02, 0.01, 0.02))
    system.add_body(
        "lower", "upper", cd.Pin(), X_PF=(0, -0.3, 0), mass=1.0, com=(0, -0.12, 0), inertia=(0.01, 0.01, 0.01)
    )
    for k, force in enumerate(forces):
        system.add_force(f"f{k}", force)
    return system


@pytest.fixture(scope="module")
def system():
    return arm(PathSpring(BENT, 500.0, 0.1), PathSpring(VIA, 200.0, 0.2))


Q = np.array([[0.2, -1.2], [0.4, -0.1], [-0.3, 0.9], [1.2, -2.0], [0.5, 1.5]])


def test_operators(system):
    """Moment arms are -dL/dq by differences, one state is as many, a State answers, speeds follow."""
    u, h = np.linspace(-1, 1, Q.size).reshape(Q.shape), 1e-6
    R, L = system.moment_arms(Q), system.path_lengths(Q)
    slope = [(system.path_lengths(Q + h * e) - system.path_lengths(Q - h * e)) / (2 * h) for e in np.eye(2)]
    # rounding of L over h
    np.testing.assert_allclose(R, -np.stack(slope, axis=-1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(system.path_speeds(Q, u), -np.einsum("nij,nj->ni", R, u), rtol=0, atol=1e-15)
    state = system.state(q=Q[0], u=u[0])
    np.testing.assert_allclose(state.path_lengths(), L[0], rtol=1e-15)
    np.testing.assert_allclose(state.moment_arms(), R[0], rtol=0, atol=1e-16)
    assert system.paths == ("f0", "f1") and system.muscles == ()


def test_a_conditional_point_counts_in_its_range(system):
    """In it the path has a corner; out of it, it is straight."""

    def length(q, names):
        X = [
            np.array(p) if b == "ground" else system.station_position(q, b, p)
            for b, p in (POINTS[i] for i in names)
        ]
        return sum(np.linalg.norm(b - a) for a, b in pairwise(X))

    for q in Q:
        inside = 0 <= q[0] <= 1
        assert system.path_lengths(q)[1] == pytest.approx(
            length(q, (0, 1, 2) if inside else (0, 2)), rel=1e-15
        )


SHAPES = [
    paths.Cylinder(cd.Parameter("r", 0.02), quadrant="x"),
    paths.Sphere(cd.Parameter("r", 0.02), quadrant="x"),
]


@pytest.mark.parametrize("surface", SHAPES, ids=lambda s: type(s).__name__)
def test_a_radius_may_be_a_parameter(surface):
    """Lengths and forces have derivatives by it, over a point that is not active too; it must be positive.

    Both ends are on the side that the path must not take. A point that is not active is no way around the
    surface."""
    ends = ("upper", (-0.03, -0.2, 0.01)), ("lower", (-0.03, -0.15, 0))
    idle = paths.ConditionalPoint("lower", (-0.05, -0.02, 0), "upper", (5, 6))
    over = [paths.Wrap(surface, "upper", (0, -0.3, 0))]
    system = arm(
        PathSpring(paths.Path([ends[0], idle, ends[1]], over), 500.0, 0.1),
        PathSpring(paths.Path(ends, over), 500.0, 0.1),
    )
    q, u, h = np.array([0.3, 0.4]), np.array([0.5, -1.0]), 1e-6
    a, b = system.path_lengths(q)
    assert a == pytest.approx(b, rel=1e-15)
    assert b > 0.25  # straight is 0.233
    for name, given in (("path_lengths", (q,)), ("forward_dynamics", (q, u))):
        up, down = (attrgetter(name)(system)(*given, parameters={"r": 0.02 + e}) for e in (h, -h))
        slope, J = (up - down) / (2 * h), system.jacobian(name, *given, wrt="parameters")[:, 0]
        np.testing.assert_allclose(J, slope, rtol=0, atol=1e-7 * np.abs(slope).max())
    with pytest.raises(cd.errors.CondyleError, match=r"radius: .*above 0, got .*-0.02"):
        system.path_lengths(q, parameters={"r": -0.02})


def test_jacobians_and_energy(system):
    """First derivatives of the accelerations need second ones of lengths; energy is kept where a path lifts
    off too."""
    u = np.array([0.5, -1.0])
    J, h = system.jacobian("forward_dynamics", Q[0], u, wrt="q"), 1e-6
    slope = [
        (system.forward_dynamics(Q[0] + h * e, u) - system.forward_dynamics(Q[0] - h * e, u)) / (2 * h)
        for e in np.eye(2)
    ]
    np.testing.assert_allclose(J, np.stack(slope, axis=-1), rtol=0, atol=1e-7 * np.abs(J).max())
    alone = arm(PathSpring(BENT, 500.0, 0.1))
    traj = cd.simulate(alone, alone.state(q=[0.3, -1.6]), 0.5, accuracy=1e-9)
    straight = np.linalg.norm(
        alone.station_position(traj.q, "lower", (0.03, -0.05, 0))
        - alone.station_position(traj.q, "upper", (0.03, -0.2, 0.01)),
        axis=1,
    )
    wrapped = alone.path_lengths(traj.q)[:, 0] > straight + 1e-12
    assert wrapped.any() and not wrapped.all()
    kinetic, potential = alone.energy(traj.q, traj.u)
    np.testing.assert_allclose(kinetic + potential, (kinetic + potential)[0], rtol=0, atol=1e-7)


class Unsolved(paths.Sphere):
    """A surface whose geodesics are never found."""

    def row(self, A, B):
        return ca.SX.nan(WIDTH, 1)


def test_an_unsolved_path_is_named():
    """From all operators that meet it, for one state and for many, from studies and in runs: the force, the
    surface and the pose."""
    path = paths.Path(
        [("upper", (0.03, -0.2, 0.01)), ("lower", (0.03, -0.05, 0))],
        [paths.Wrap(Unsolved(0.02), "upper", name="condyle")],
    )
    system = arm(PathSpring(path, 500.0, 0.1))
    calls = [
        ("path_lengths", 1),
        ("path_speeds", 2),
        ("moment_arms", 1),
        ("applied_forces", 2),
        ("energy", 2),
        ("forward_dynamics", 2),
        ("inverse_dynamics", 3),
    ]
    words = r"'f0' finds no way over 'condyle' at upper = 0.2, lower = -1.2"
    for name, n in calls:
        for _ in range(2):  # the second call goes the short way
            with pytest.raises(cd.errors.PathError, match=rf"{name}: the path of {words}"):
                attrgetter(name)(system)(*[Q[0], [0, 0], [0, 0]][:n])
    with pytest.raises(cd.errors.PathError, match=words) as caught:
        system.state(q=Q[0]).path_lengths()
    assert caught.value.path == "f0" and caught.value.surfaces == ("condyle",)
    assert caught.value.result.shape == (1,)
    for _ in range(2):  # derivatives; the second call goes the short way
        with pytest.raises(cd.errors.PathError, match=f"jacobian of forward_dynamics: the path of {words}"):
            system.jacobian("forward_dynamics", Q[0], [0, 0], wrt="q")
        with pytest.raises(cd.errors.PathError, match=f"vjp of path_lengths: the path of {words}"):
            system.vjp("path_lengths", Q[0], cotangent=[1.0], wrt="q")
        with pytest.raises(cd.errors.PathError, match=f"jvp of path_lengths: the path of {words}"):
            system.jvp("path_lengths", Q[0], tangents={"q": [1.0, 0.0]})
    traj = cd.simulate(system, system.state(q=Q[0]), 0.1)
    assert traj.status == cd.Status.PATH and words.replace("'", "") in str(traj.status).replace("'", "")


class Sphere(paths.Sphere):
    """One over which short paths are not found."""

    def row(self, A, B):
        return super().row(A, B) + ca.if_else(ca.dot(A - B, A - B) < 0.0209, ca.SX.nan(1, 1), 0)


@pytest.fixture(scope="module", params=[False, True], ids=["tree", "coupled"])
def partly(request):
    """A System whose path is not found in the first 4 of 12 frames, and the Motion; with a constraint too."""
    path = paths.Path(
        [("upper", (0.03, -0.2, 0.01)), ("lower", (0.03, -0.05, 0))],
        [paths.Wrap(Sphere(0.02), "upper", name="condyle")],
    )
    system = arm(PathSpring(path, 500.0, 0.1))
    if request.param:
        system.add_constraint(
            "c", cd.constraints.CoordinateCoupler(lambda a, b: a - 0.3 * b, ["upper", "lower"])
        )
    t = np.linspace(0, 1, 12)
    lower = np.linspace(-1.95, -1.6, 12)
    q = np.stack([0.3 * lower, lower], axis=1)
    u = np.stack([0.15 + 0 * t, 0.5 + 0 * t], axis=1)
    return system, cd.Motion(system, t, q, u, np.zeros((12, 2)))


@pytest.mark.parametrize(
    "name", ["path_lengths", "moment_arms", "energy", "forward_dynamics", "inverse_dynamics"]
)
def test_an_unsolved_pose_does_not_spoil_a_batch(partly, name):
    """NaN there and a warning that lists the states; elsewhere what each state alone gives."""
    system, m = partly
    given = {"path_lengths": 1, "moment_arms": 1, "inverse_dynamics": 3}.get(name, 2)
    arguments = (m.q, m.u, m.udot)[:given]
    with pytest.warns(RuntimeWarning, match=rf"{name}: 4 of 12 states \(0 to 3\) are NaN: in state 0"):
        many = attrgetter(name)(system)(*arguments)
    many = many[1] if name == "energy" else many
    assert np.isnan(many[:4].reshape(4, -1)).any(axis=1).all() and np.isfinite(many[4:]).all()
    one = attrgetter(name)(system)(*(x[7] for x in arguments))
    np.testing.assert_allclose(many[7], one[1] if name == "energy" else one, rtol=1e-12)  # rounding
    with pytest.raises(cd.errors.PathError, match="'f0' finds no way over 'condyle'"):
        attrgetter(name)(system)(*(x[3] for x in arguments))


def test_an_unsolved_pose_does_not_spoil_derivatives(partly):
    system, m = partly
    with pytest.warns(RuntimeWarning, match=r"jacobian of path_lengths: 4 of 12 states \(0 to 3\)"):
        J = system.jacobian("path_lengths", m.q, wrt="q")
    assert np.isnan(J[:4]).any() and np.isfinite(J[4:]).all()


@pytest.mark.parametrize(
    "study",
    [
        cd.muscle_analysis,
        cd.inverse_dynamics,
        cd.joint_reactions,
        cd.induced_accelerations,
        cd.static_optimization,
    ],
    ids=lambda study: study.__name__,
)
def test_an_unsolved_pose_does_not_spoil_a_study(partly, study):
    """Frames without it give what they give alone."""
    system, m = partly
    options = {"reserves": 10.0} if study is cd.static_optimization else {}
    part = {"muscle_analysis": "lengths", "induced_accelerations": "total", "static_optimization": "reserves"}
    table = lambda result: getattr(result, part[study.__name__]) if study.__name__ in part else result
    with pytest.warns(Warning, match=f"{study.__name__}: 4 of 12 frames.*'f0' finds no way over 'condyle'"):
        whole = study(system, m, **options)
    found, rest = table(whole), table(study(system, m[4:], **options))
    assert np.isnan(found.values[:4]).any(axis=1).all()
    np.testing.assert_allclose(found.values[4:], rest.values, rtol=1e-9, atol=1e-12)  # least effort's digits
    assert found.status == cd.Status.SOME_FAILED and "4 of 12 frames" in found.status
    assert rest.status == cd.Status.FINISHED
    if hasattr(whole, "failures"):
        assert list(whole.failures) == [0, 1, 2, 3] and whole.failures[0] == cd.Status.PATH


def test_given_tensions_along_a_path_that_is_not_found(partly):
    system, m = partly
    tensions = cd.Table(m.t, ["f0"], np.ones((12, 1)), ["N"])
    with pytest.warns(RuntimeWarning, match="induced_accelerations: 4 of 12 frames"):
        induced = cd.induced_accelerations(system, m, tensions)
    assert np.isnan(induced["f0"].values[:4]).all() and np.isfinite(induced["f0"].values[4:]).all()
    with pytest.warns(RuntimeWarning, match="joint_reactions: 4 of 12 frames"):
        F = cd.joint_reactions(system, m, tensions)
    assert np.isnan(F["lower_fx"][:4]).all() and np.isfinite(F.values[4:]).all()


def test_moment_arms_along_constraints():
    """Of coupled coordinates: -dL/dq by differences between poses that the coupler allows."""

    def follow(q):
        return 0.3 * q + 0.2 * q**2

    system = arm(PathSpring(BENT, 500.0, 0.1))
    system.add_constraint(
        "patella",
        cd.constraints.CoordinateCoupler(lambda upper, lower: lower - follow(upper), ("upper", "lower")),
    )
    q, h = np.array([-0.9, follow(-0.9)]), 1e-6

    def length(upper):
        return system.path_lengths([upper, follow(upper)])[0]

    slope = (length(q[0] + h) - length(q[0] - h)) / (2 * h)
    R = system.moment_arms(q)[0]
    # rounding of L over h
    assert R[0] == pytest.approx(-slope, abs=1e-9)
    assert R[1] == pytest.approx(-slope / (0.3 + 0.4 * q[0]), abs=1e-8)
    alone = system.moment_arms(q, coupled=False)[0]
    assert alone @ [1, 0.3 + 0.4 * q[0]] == pytest.approx(R[0], rel=1e-12)
    np.testing.assert_allclose(system.state(q=q).moment_arms()[0], R, rtol=1e-12)
    np.testing.assert_allclose(system.moment_arms(np.tile(q, (3, 1)))[2, 0], R, rtol=1e-12)


def test_points_for_drawing(system):
    """Polygons begin and end where the paths do, are as long as these but for the corners of arcs, and stay
    on surfaces; one state or many."""
    many = system.path_points(Q)
    assert set(many) == {"f0", "f1"} and many["f0"].shape == (5, 2 + 17, 3) and many["f1"].shape == (5, 3, 3)
    np.testing.assert_array_equal(system.path_points(Q[0])["f0"], many["f0"][0])
    lengths = np.linalg.norm(np.diff(many["f0"], axis=1), axis=2).sum(axis=1)
    # chords of at most an eighth of a radian each
    np.testing.assert_allclose(lengths, system.path_lengths(Q)[:, 0], rtol=1e-3)
    np.testing.assert_allclose(
        many["f0"][:, -1], system.station_position(Q, "lower", (0.03, -0.05, 0)), atol=1e-15
    )
    center = system.station_position(Q, "upper", (0, -0.3, 0))
    away = np.linalg.norm((many["f0"] - center[:, None])[..., :2], axis=-1)
    assert away[:, 1:-1].min() > 0.02 - 1e-12
    assert (np.isclose(away, 0.02, rtol=0, atol=1e-12).sum(axis=1) >= 17).any()
    np.testing.assert_array_equal(system.state(q=Q[0]).path_points()["f1"], many["f1"][0])


@dataclass(frozen=True, eq=False, repr=False)
class Cord(Constraint):
    """A path keeps its length."""

    path: paths.Path
    length: float

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return (self.path.length,)

    def equations(self, x: Sequence[ca.SX]) -> ca.SX:
        return x[0] - self.length


def test_a_constraint_may_keep_a_length():
    """A path is a leaf: accelerations keep its second rate at zero, over a surface too, and a run keeps the
    length."""
    system = arm()
    L = float(arm(PathSpring(BENT, 1.0, 0.1)).path_lengths([0.3, -1.2])[0])
    system.add_constraint("cord", Cord(BENT, L))
    q, u = system.project([0.3, -1.2], [1.0, -0.5])
    traj = cd.simulate(system, system.state(q=q, u=u), 0.3, accuracy=1e-8)
    measured = arm(PathSpring(BENT, 1.0, 0.1)).path_lengths(traj.q)
    np.testing.assert_allclose(measured[:, 0], L, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: paths.Path([POINTS[0]]), "two points or more"),
        (lambda: paths.Path([POINTS[0], 3]), r"point 1: expected \(body, p\)"),
        (lambda: paths.Path(POINTS, [paths.Cylinder(1.0)]), "expected cd.paths.Wrap"),
        (
            lambda: paths.Path(POINTS, [paths.Wrap(paths.Sphere(1.0), "upper", between=(1, 5))]),
            "points 0 to 2",
        ),
        (
            lambda: paths.Path([POINTS[0], paths.ConditionalPoint(*POINTS[1], "upper", (0, 1))]),
            "always active",
        ),
        (lambda: paths.ConditionalPoint(*POINTS[1], "upper", (1, 0)), "not above the second"),
        (lambda: paths.Cylinder(-1.0), "above 0"),
        (lambda: paths.Sphere(1.0, quadrant="w"), "quadrant must be one of"),
        (lambda: paths.Ellipsoid((cd.Parameter("a", 1.0), 1.0, 1.0)), r"got Parameters \(a\)"),
        (lambda: PathSpring("knee", 1.0, 1.0), "expected a cd.paths.Path"),
        (lambda: arm(PathSpring(paths.Path([POINTS[0], ("shin", (0, 0, 0))]), 1.0, 1.0)), "shin"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(cd.errors.CondyleError, match=words):
        make()


def test_a_moving_point():
    """Its own motion counts in lengths, speeds and moment arms, over a surface too; energy is kept."""
    spline = cd.functions.SimmSpline([-2.5, -1, 0, 1, 2.5], [0.03, 0.04, 0.035, 0.03, 0.04])
    moving = paths.MovingPoint(
        "lower", (spline, lambda q: -0.06 + 0.01 * np.sin(q), 0.0), "lower", (-2.4, 2.4)
    )
    system = arm(
        PathSpring(paths.Path([POINTS[0], moving, POINTS[2]]), 200.0, 0.2),
        PathSpring(paths.Path([("upper", (0.03, -0.2, 0.01)), moving], [OVER]), 500.0, 0.1),
    )
    q = Q[0]
    X = [
        np.array(POINTS[0][1]),
        system.station_position(q, "lower", (spline(q[1]), -0.06 + 0.01 * np.sin(q[1]), 0)),
        system.station_position(q, *POINTS[2]),
    ]
    assert system.path_lengths(q)[0] == pytest.approx(sum(np.linalg.norm(b - a) for a, b in pairwise(X)))
    u, h = np.linspace(-1, 1, Q.size).reshape(Q.shape), 1e-6
    R = system.moment_arms(Q)
    slope = [(system.path_lengths(Q + h * e) - system.path_lengths(Q - h * e)) / (2 * h) for e in np.eye(2)]
    # rounding of L over h
    np.testing.assert_allclose(R, -np.stack(slope, axis=-1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(system.path_speeds(Q, u), -np.einsum("nij,nj->ni", R, u), rtol=0, atol=1e-14)
    traj = cd.simulate(system, system.state(q=[0.3, -1.6]), 0.2, accuracy=1e-8)
    kinetic, potential = system.energy(traj.q, traj.u)
    np.testing.assert_allclose(kinetic + potential, (kinetic + potential)[0], rtol=0, atol=1e-6)
    with pytest.raises(cd.errors.CondyleError, match="expected p = three functions"):
        paths.MovingPoint("lower", (0, 1), "lower")
    with pytest.raises(cd.errors.CondyleError, match="lowr"):
        arm(PathSpring(paths.Path([POINTS[0], paths.MovingPoint("lower", (spline, 0, 0), "lowr")]), 1.0, 1.0))


@pytest.mark.parametrize(
    "surface",
    [paths.Cylinder, paths.Sphere, lambda r, **more: paths.Ellipsoid((r, r, r), **more)],
    ids=["cylinder", "sphere", "ellipsoid"],
)
def test_a_path_may_keep_its_side(surface):
    """A discrete variable says which; a direction is an axis where it is one."""
    ends = ("upper", (0.05, -0.2, 0.0)), ("lower", (0.05, -0.12, 0.0))
    where = "upper", (0.045, -0.3, 0)
    side = surface(0.02, quadrant=(cd.Discrete("side", 1.0), 0, 0))
    system = arm(
        *(
            PathSpring(paths.Path(ends, [paths.Wrap(s, *where)]), 500.0, 0.1)
            for s in (side, surface(0.02, quadrant="x"), surface(0.02, quadrant="-x"), surface(0.02))
        )
    )
    q = np.array([0.3, 0.05])
    kept, x, minus, shorter = system.path_lengths(q)
    other = system.path_lengths(q, discrete={"side": -1.0})[0]
    assert kept == pytest.approx(x, rel=1e-14) and other == pytest.approx(minus, rel=1e-14)
    assert min(x, minus) == pytest.approx(shorter, rel=1e-9) and abs(x - minus) > 1e-3
    with pytest.raises(cd.errors.CondyleError, match="quadrant"):
        surface(0.02, quadrant=(1, 0))
