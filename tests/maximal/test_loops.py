"""Joints that close loops: the same physics as a joint of the tree, known mechanisms, redundant equations."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle import maximal
from condyle.spatial import quaternion_from_rotation
from tests.oracles.trees import random_rotation

SLENDER = {"mass": 1.0, "com": (0.0, 0.5, 0.0), "inertia": (1 / 12, 0.0, 1 / 12)}
PAIRS = [
    cd.Weld(),
    cd.Pin(axis=(1, 2, 3)),
    cd.Screw(0.3),
    cd.Slider(axis=(0, 1, 1)),
    cd.Cylinder(),
    cd.Planar(),
    cd.Translation(),
    cd.Ball(),
]


@pytest.mark.parametrize("pair", [*PAIRS, *(p.reversed() for p in PAIRS)], ids=repr)
def test_a_free_body_in_a_loop_is_a_body_on_that_joint(pair):
    """Body b on body a: by its mobilizer, or free and held to a by a loop of the same kind."""
    rng = np.random.default_rng(5)
    X_PF, X_BM = (cd.Transform(random_rotation(rng), rng.uniform(-0.3, 0.3, 3)) for _ in range(2))
    a = {"mass": 2.0, "com": (0.1, 0.0, 0.2), "inertia": (0.1, 0.2, 0.15), "X_BM": (0.0, 0.4, 0.0)}
    b = {"mass": 1.0, "com": (0.0, 0.2, 0.1), "inertia": (0.05, 0.04, 0.03)}
    tree, loop = cd.System(gravity=(1.0, -9.0, 3.0)), cd.System(gravity=(1.0, -9.0, 3.0))
    for system in (tree, loop):
        system.add_body("a", mobilizer=cd.Ball(), **a)
    tree.add_body("b", "a", pair, X_PF=X_PF, X_BM=X_BM, **b)
    loop.add_body("b", mobilizer=cd.Free(), **b)
    q = np.concatenate([body.mobilizer.random_q(rng) for body in tree.bodies])
    u = rng.uniform(-1, 1, tree.nu)
    R, p = tree.body_pose(q, "b")
    at = maximal.MaximalSystem(loop, [maximal.Loop("a", X_PF, "b", X_BM, pair)]).at(
        [*q[:4], *quaternion_from_rotation(R), *p], [*u[:3], *tree.body_velocity(q, u, "b")]
    )
    # Positions and velocities round at 1e-16 of numbers of order 1; accelerations are of order 10, solved
    # with condition 1e3.
    np.testing.assert_allclose(at.C[at.loops], 0, atol=1e-14)
    np.testing.assert_allclose(at.C_V[at.loops] @ at.V, 0, atol=1e-13)
    solution, udot = at.forward(np.zeros(9)), tree.forward_dynamics(q, u)
    expected = [*udot[:3], *tree.body_acceleration(q, u, udot, "b")]
    np.testing.assert_allclose(solution.udot, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(solution.reactions[0], tree.reactions(q, u, udot, "a"), rtol=0, atol=1e-10)
    assert solution.redundant == 0


@pytest.mark.parametrize("theta", [0.0, 0.4, -1.3, 1.5, 2.5])
def test_four_bars(theta):
    """N = 2 windows of slender links (benchmark library, A02) move as one; three equations a loop are
    redundant."""
    g, rate = 9.81, 1.7
    system = cd.System(gravity=(0, -g, 0))
    system.add_body("v0", mobilizer=cd.Pin(), **SLENDER)
    link = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": (0.0, 1 / 12, 1 / 12)}
    for k in (1, 2):
        system.add_body(f"h{k}", f"v{k - 1}", cd.Pin(), X_PF=(0, 1, 0), **link)
        system.add_body(f"v{k}", f"h{k}", cd.Pin(), X_PF=(1, 0, 0), X_BM=(0, 1, 0), **SLENDER)
    made = maximal.MaximalSystem(
        system, [maximal.Loop("ground", (k, 0, 0), f"v{k}", None, cd.Pin()) for k in (1, 2)]
    )
    signs = np.array([-1.0, 1, -1, 1, -1])  # uprights lean by theta, the others stay level
    at = made.at(signs * theta, signs * rate)
    np.testing.assert_allclose(at.C, 0, atol=1e-14)
    solution = at.forward(np.zeros(5))
    # Near 1.5 the links are 0.07 from flat, where the loops lose rank: the condition is about 1e3.
    np.testing.assert_allclose(solution.udot, signs * g * 3.5 / 3 * np.sin(theta), rtol=0, atol=1e-10)
    assert solution.redundant == 6


def test_doubled_loops_share_the_load():
    """Twice the same loop: half of the multipliers each, the same motion."""

    def hung(copies):
        system = cd.System()
        system.add_body("a", mobilizer=cd.Pin(), X_BM=(-0.5, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
        system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.1, 0.2, 0.1))
        loop = maximal.Loop("a", (0.5, 0, 0), "b", (0, 0.3, 0), cd.Ball())
        at = maximal.MaximalSystem(system, [loop] * copies).at([0.0, 1, 0, 0, 0, 1.0, -0.3, 0], np.zeros(7))
        return at, at.forward(np.zeros(7))

    (one, single), (two, double) = hung(1), hung(2)
    np.testing.assert_allclose(double.udot, single.udot, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        double.lambda_s[two.loops].reshape(2, 3), [single.lambda_s[one.loops] / 2] * 2, rtol=0, atol=1e-12
    )
    assert (single.redundant, double.redundant) == (0, 3)


def test_a_loop_needs_a_closed_form():
    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(
        cd.errors.DescriptionError, match=r"loop 0: Universal\(\) has no closed form here; cut the loop at"
    ):
        maximal.MaximalSystem(system, [maximal.Loop("ground", None, "a", None, cd.Universal())])
    with pytest.raises(cd.errors.UnknownNameError, match="unknown body 'b'"):
        maximal.MaximalSystem(system, [maximal.Loop("ground", None, "b", None, cd.Pin())])
