"""Paths in systems: operators, forces, constraints, points that are active in a range."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle import paths
from condyle.constraints.base import Constraint
from condyle.forces.path import PathSpring
from condyle.laws.leaf import Leaf
from condyle.paths.surfaces import WIDTH

POINTS = [("ground", (0.02, 0.1, 0)), ("upper", (0.03, -0.1, 0.01)), ("lower", (0.02, -0.1, 0))]
OVER = paths.Wrap(paths.Cylinder(0.02, 0.2), "upper", (0.0, -0.3, 0.0))
BENT = paths.Path([("upper", (0.03, -0.2, 0.01)), ("lower", (0.03, -0.05, 0))], [OVER])
VIA = paths.Path([POINTS[0], paths.ConditionalPoint(*POINTS[1], "upper", (0.0, 1.0)), POINTS[2]])


def arm(*forces) -> cd.System:
    system = cd.System()
    system.add_body("upper", mobilizer=cd.Pin(), mass=1.5, com=(0, -0.15, 0), inertia=(0.02, 0.01, 0.02))
    system.add_body("lower", "upper", cd.Pin(), X_PF=(0, -0.3, 0), mass=1.0, com=(0, -0.12, 0),
                    inertia=(0.01, 0.01, 0.01))
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
        X = [np.array(p) if b == "ground" else system.station_position(q, b, p) for b,
             p in (POINTS[i] for i in names)]
        return sum(np.linalg.norm(b - a) for a, b in pairwise(X))

    for q in Q:
        inside = 0 <= q[0] <= 1
        assert system.path_lengths(q)[1] == pytest.approx(length(q, (0, 1, 2) if inside else (0, 2)),
                                                          rel=1e-15)


SHAPES = [paths.Cylinder(cd.Parameter("r", 0.02), quadrant="x"), paths.Sphere(cd.Parameter("r", 0.02),
                                                                              quadrant="x")]


@pytest.mark.parametrize("surface", SHAPES, ids=lambda s: type(s).__name__)
def test_a_radius_may_be_a_parameter(surface):
    """Lengths and forces have derivatives by it, over a point that is not active too; it must be positive.

    Both ends are on the side that the path must not take. A point that is not active is no way around the
    surface."""
    ends = ("upper", (-0.03, -0.2, 0.01)), ("lower", (-0.03, -0.15, 0))
    idle = paths.ConditionalPoint("lower", (-0.05, -0.02, 0), "upper", (5, 6))
    over = [paths.Wrap(surface, "upper", (0, -0.3, 0))]
    system = arm(PathSpring(paths.Path([ends[0], idle, ends[1]], over), 500.0, 0.1),
                 PathSpring(paths.Path(ends, over), 500.0, 0.1))
    q, u, h = np.array([0.3, 0.4]), np.array([0.5, -1.0]), 1e-6
    a, b = system.path_lengths(q)
    assert a == pytest.approx(b, rel=1e-15)
    assert b > 0.25                                          # straight is 0.233
    for name, given in (("path_lengths", (q,)), ("forward_dynamics", (q, u))):
        up, down = (getattr(system, name)(*given, parameters={"r": 0.02 + e}) for e in (h, -h))
        slope, J = (up - down) / (2 * h), system.jacobian(name, *given, wrt="parameters")[:, 0]
        np.testing.assert_allclose(J, slope, rtol=0, atol=1e-7 * np.abs(slope).max())
    with pytest.raises(cd.CondyleError, match=r"radius: .*above 0, got .*-0.02"):
        system.path_lengths(q, parameters={"r": -0.02})


def test_jacobians_and_energy(system):
    """First derivatives of the accelerations need second ones of lengths; energy is kept where a path lifts
    off too."""
    u = np.array([0.5, -1.0])
    J, h = system.jacobian("forward_dynamics", Q[0], u, wrt="q"), 1e-6
    slope = [(system.forward_dynamics(Q[0] + h * e, u) - system.forward_dynamics(Q[0] - h * e, u)) / (2 * h)
             for e in np.eye(2)]
    np.testing.assert_allclose(J, np.stack(slope, axis=-1), rtol=0, atol=1e-7 * np.abs(J).max())
    alone = arm(PathSpring(BENT, 500.0, 0.1))
    traj = cd.simulate(alone, alone.state(q=[0.3, -1.6]), 0.5, accuracy=1e-9)
    straight = np.linalg.norm(alone.station_position(traj.q, "lower", (0.03, -0.05, 0))
                              - alone.station_position(traj.q, "upper", (0.03, -0.2, 0.01)), axis=1)
    wrapped = alone.path_lengths(traj.q)[:, 0] > straight + 1e-12
    assert wrapped.any() and not wrapped.all()
    kinetic, potential = alone.energy(traj.q, traj.u)
    np.testing.assert_allclose(kinetic + potential, (kinetic + potential)[0], rtol=0, atol=1e-7)


class Unsolved(paths.Sphere):
    """A surface whose geodesics are never found."""

    def row(self, A, B):
        return ca.SX.nan(WIDTH, 1)


def test_no_path_is_no_silent_zero():
    """Where no geodesic is found, forces and energies are NaN, not those of a path without tension."""
    path = paths.Path([("upper", (0.03, -0.2, 0.01)), ("lower", (0.03, -0.05, 0))],
                      [paths.Wrap(Unsolved(0.02), "upper")])
    system = arm(PathSpring(path, 500.0, 0.1))
    for found in (system.path_lengths(Q[0]), system.applied_forces(Q[0], [0, 0]),
                  system.energy(Q[0], [0, 0])[1]):
        assert np.isnan(found).all()


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


@pytest.mark.parametrize(("make", "words"), [
    (lambda: paths.Path([POINTS[0]]), "two points or more"),
    (lambda: paths.Path([POINTS[0], 3]), r"point 1: expected \(body, p\)"),
    (lambda: paths.Path(POINTS, [paths.Cylinder(1.0)]), "expected cd.paths.Wrap"),
    (lambda: paths.Path(POINTS, [paths.Wrap(paths.Sphere(1.0), "upper", between=(1, 5))]), "points 0 to 2"),
    (lambda: paths.Path([POINTS[0], paths.ConditionalPoint(*POINTS[1], "upper", (0, 1))]), "always active"),
    (lambda: paths.ConditionalPoint(*POINTS[1], "upper", (1, 0)), "not above the second"),
    (lambda: paths.Cylinder(-1.0), "above 0"),
    (lambda: paths.Sphere(1.0, quadrant="w"), "quadrant must be one of"),
    (lambda: paths.Ellipsoid((cd.Parameter("a", 1.0), 1.0, 1.0)), r"got Parameters \(a\)"),
    (lambda: PathSpring("knee", 1.0, 1.0), "expected a cd.paths.Path"),
    (lambda: arm(PathSpring(paths.Path([POINTS[0], ("shin", (0, 0, 0))]), 1.0, 1.0)), "shin"),
])
def test_refusals(make, words):
    with pytest.raises(cd.CondyleError, match=words):
        make()
