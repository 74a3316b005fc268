"""fit_q and fit_u: a pose that a joint has is found again; one that it cannot have is come nearest to."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import condyle as cd
from condyle.mobilizers import motion_at
from condyle.spatial import rotation_x, rotation_z
from tests.mobilizers.every import EVERY
from tests.system.test_operators import options
from tests.zoo import model

FOUND = 1e-9
"""[rad, m] of a pose that can be reached: Newton's last step leaves some roundings, times the inverse of the
least slope."""


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("reverse", [False, True], ids=["", "reversed"])
def test_every_mobilizer_finds_its_pose_and_velocity(name, reverse):
    mobilizer = EVERY[name].reversed() if reverse else EVERY[name]
    rng = np.random.default_rng(list(EVERY).index(name))
    q, u, t = mobilizer.random_q(rng), rng.normal(size=mobilizer.nu), 0.3
    R, p, H_w, H_v, w_t, v_t, *_ = motion_at(mobilizer, t, q, u)
    found, left = mobilizer.fit_q(cd.Transform(R, np.ravel(p)), t=t)
    assert_allclose(left, 0, rtol=0, atol=FOUND)
    again = motion_at(mobilizer, t, found, u)
    assert_allclose(again[0], R, rtol=0, atol=FOUND)
    assert_allclose(np.ravel(again[1]), np.ravel(p), rtol=0, atol=FOUND)
    V = np.concatenate(
        [np.reshape(H, (3, mobilizer.nu)) @ u + np.ravel(v) for H, v in ((H_w, w_t), (H_v, v_t))]
    )
    speeds, left = mobilizer.fit_u(q, V, t=t)
    assert_allclose(left, 0, rtol=0, atol=FOUND)
    H = np.concatenate([np.reshape(H_w, (3, mobilizer.nu)), np.reshape(H_v, (3, mobilizer.nu))])
    assert_allclose(H @ speeds, H @ u, rtol=0, atol=FOUND)


def test_what_a_joint_cannot_do_is_left():
    """By hand: a pin takes the angle about its axis, a slider the distance along its own."""
    q, left = cd.Pin().fit_q(cd.Transform(rotation_z(2.5), (0.3, 0, 0.4)))
    assert_allclose(q, [2.5], rtol=0, atol=FOUND)
    assert_allclose(left, [0, 0.5], rtol=0, atol=FOUND)
    q, left = cd.Slider().fit_q(cd.Transform(rotation_x(0.2), (0.3, 0.1, 0)))
    assert_allclose(q, [0.3], rtol=0, atol=FOUND)
    assert_allclose(left, [0.2, 0.1], rtol=0, atol=FOUND)
    q, left = cd.Weld().fit_q((0, 1, 0))
    assert q.shape == (0,) and left.tolist() == [0.0, 1.0]
    u, left = cd.Pin().fit_u([0.1], [0.0, 3.0, 2.0, 0.0, 0.0, 1.0])
    assert_allclose(u, [2], rtol=0, atol=FOUND)
    assert_allclose(left, [3, 1], rtol=0, atol=FOUND)
    # Screw: e = (a - q, h (a - q) + d): the least of (a - q)^2 + (d - h q)^2 by calculus.
    q, _ = cd.Screw(0.5).fit_q(cd.Transform(rotation_z(0.4), (0, 0, 0.7)))
    assert_allclose(q, [(0.4 + 0.5 * 0.7) / 1.25], rtol=0, atol=FOUND)


def test_the_branch_near_the_start():
    """Angles beyond a turn stay there; the state's own are kept where they fit."""
    q, _ = cd.Pin().fit_q(cd.Transform(rotation_z(0.3)), q=[2 * np.pi])
    assert_allclose(q, [2 * np.pi + 0.3], rtol=0, atol=FOUND)


@pytest.mark.parametrize(
    "body", ["base", "head", "arm", "hand", "leg", "foot", "tail", "ear", "slide", "rib", "scapula", "clasp"]
)
def test_one_joint_of_a_state(body):
    """With Parameters, time and other joints as they are."""
    system, at = model()
    state = system.state(q=at["q"], u=at["u"], **options(at))
    index = system.body(body)
    q = at["q"].copy()
    q[index.q] = system.default("q")[index.q]
    other = state.replace(q=q, u=0 * at["u"])
    found, left = other.fit_q(body, state.body_pose(body))
    assert_allclose(left, 0, rtol=0, atol=FOUND)
    assert_allclose(found.body_pose(body).p, state.body_pose(body).p, rtol=0, atol=FOUND)
    outside = ~np.isin(np.arange(system.nq), np.r_[index.q])
    assert_allclose(found.q[outside], state.q[outside], rtol=0, atol=1e-15)  # quaternions are normalized
    u = state.u.copy()
    u[index.u] = 0.0
    who = None if index.parent.is_ground else index.parent.name
    for seen in (None, who):
        found, left = other.fit_q(body, state.body_pose(body, seen), relative_to=seen)
        assert_allclose(left, 0, rtol=0, atol=FOUND)
        assert_allclose(found.body_pose(body).R, state.body_pose(body).R, rtol=0, atol=FOUND)
        moving, left = state.replace(u=u).fit_u(body, state.body_velocity(body, seen), seen)
        assert_allclose(left, 0, rtol=0, atol=FOUND)
        assert_allclose(moving.u, state.u, rtol=0, atol=100 * FOUND)


def test_refusals():
    system = cd.System()
    system.add_body(
        "a", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1), motion=cd.Prescribed(position=lambda t: t)
    )
    state = system.state()
    with pytest.raises(cd.errors.DescriptionError, match=r"fit_q: ground has no joint"):
        state.fit_q("ground", (0, 0, 0))
    with pytest.raises(cd.errors.DescriptionError, match=r"fit_u: the motion of body 'a' is prescribed"):
        state.fit_u("a", np.zeros(6))
    free, _ = state.replace(disabled=["a"]).fit_q("a", cd.Transform(rotation_z(0.4)))
    assert_allclose(free.q, [0.4], rtol=0, atol=FOUND)
