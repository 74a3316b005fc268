"""Runs that start deep in a surface, and friction that cannot be meant, are told of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import condyle as cd
from condyle import contact
from tests.contact.meshes import box


def ball(depth: float, speed: float = 0.0, gravity: float = 9.81, modulus: float = 1e6) -> cd.State:
    rubber = contact.Material(modulus)
    system = cd.System(gravity=(0, -gravity, 0))
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    system.add_contact(
        "touch",
        contact.HalfSpace("ground", (0, 1, 0), 0.0, rubber),
        contact.Sphere("ball", (0, 0, 0), 0.1, rubber),
    )
    q, u = system.defaults()
    q[5], u[4] = 0.1 - depth, speed
    return system.state(q=q, u=u)


def told(state: cd.State) -> list[str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cd.simulate(state.system, state, 0.01)
    return [str(w.message) for w in said]


def test_deep_starts_are_told(monkeypatch):
    """Half of its radius deep, 33 J: 3.4 m high."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    for gravity in (9.81, 0.0):
        (words,) = told(ball(0.05, gravity=gravity))
        assert "contact 'touch' of HalfSpace on 'ground' and Sphere on 'ball' starts 0.05 m deep" in words
        assert "stores 33.3 J" in words and "move 'ball' by 0.05 m along (0, 1, 0)" in words
    state = ball(0.05)
    assert told(state.system.state(q=cd.relax(state.system, state).q)) == []


@pytest.mark.parametrize(("depth", "speed"), [(-0.1, 0.0), (1e-3, 0.0), (0.01, -1.0), (0.05, -20.0)])
def test_others_are_not(depth, speed, monkeypatch):
    """Apart, at rest on the floor, and in the middle of impacts."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    assert told(ball(depth, speed)) == []


def test_many_contacts_count_together(monkeypatch):
    """Eight corners store less each than would be told of."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    rubber = contact.Material(1e7)
    system = cd.System()
    system.add_body("box", mobilizer=cd.Free(), mass=1.0, inertia=(0.01,) * 3)
    system.add_contact(
        "corners",
        contact.HalfSpace("ground", (0, 1, 0), 0.0, rubber),
        contact.Box("box", None, (0.1, 0.1, 0.1), rubber, edge=0.01),
    )
    q, _ = system.defaults()
    q[5] = 0.1 - 0.015
    (words,) = told(system.state(q=q))
    assert "contact 'corners.corner" in words and "with others of these bodies" in words
    disabled = system.state(q=q, disabled=system.contacts)
    assert told(disabled) == []


def test_meshes_count_too():
    """A cube with springs of K = E / (2 h) at the base, of 0.04 m^2, 2 cm deep: K A x^2 / 2 = 20 J, which is
    1 m high. On another cube the springs of both act, each with half their area: as much."""
    foam = contact.Material(1e5)
    for other in (
        contact.HalfSpace("ground", (0, 1, 0), 0.0, foam),
        contact.Mesh("ground", (0, -0.1, 0), box(0.1), 0.02, foam),
    ):
        system = cd.System()
        system.add_body("cube", mobilizer=cd.Translation(), mass=2.0, inertia=(0.01,) * 3)
        system.add_contact("stand", other, contact.Mesh("cube", None, box(0.1), 0.02, foam))
        (words,) = told(system.state(q={"cube_ty": 0.08}))
        assert f"'stand' of {type(other).__name__} on 'ground' and Mesh on 'cube' starts 0.02 m deep" in words
        assert "stores 20 J, which" in words and "move 'cube' by 0.02 m along (0, 1, 0)" in words
        assert told(system.state(q={"cube_ty": 0.0999})) == []
    start = system.state(q={"cube_ty": 0.0999})
    with pytest.warns(UserWarning, match="starts 0.02 m deep"):  # one of many
        cd.simulate(system, [*[start] * 40, start.replace(q={"cube_ty": 0.08}), start], 1e-4)


def test_balls_at_one_place(monkeypatch):
    """They have no normal, and do not push until they part."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    rubber = contact.Material(1e6)
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    system.add_contact("touch", *(contact.Sphere(b, (0, 0, 0), 0.1, rubber) for b in ("ground", "ball")))
    (words,) = told(system.state())
    assert "move 'ball' by 0.2 m in any direction, since their centers coincide, or start from" in words


def test_opensims_smooth_law_counts_too(monkeypatch):
    """It has no potential, and cd.relax refuses it; 2/5 f x of it, 34 J, is near that of the exact law."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    system.add_force(
        "touch", contact.SmoothSphereHalfSpace("ground", (0, 1, 0), 0.0, "ball", (0, 0, 0), 0.1, 1e6)
    )
    (words,) = told(system.state(q={"ball_ty": 0.05}))
    assert "starts 0.05 m deep and stores 33." in words and words.endswith("by 0.05 m along (0, 1, 0)")
    assert told(system.state(q={"ball_ty": 0.0995})) == []


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"static_friction": -0.1}, "static_friction: expected one finite number"),
        ({"static_friction": np.nan}, "static_friction: expected one finite number"),
        ({"static_friction": np.inf, "dynamic_friction": 1.0}, "static_friction: expected one finite number"),
        ({"dynamic_friction": 0.5}, "static_friction must be at least dynamic_friction"),
        ({"viscous_friction": -1.0}, "viscous_friction: expected one finite number"),
        ({"transition_speed": 0.0}, "transition_speed: .* at least 1e-12"),
        ({"transition_speed": 1e-300}, "transition_speed: .* at least 1e-12"),
        ({"transition_speed": np.nan}, "transition_speed: .* at least 1e-12"),
    ],
)
def test_friction_that_cannot_be(numbers, words):
    with pytest.raises(cd.errors.DescriptionError, match=words):
        contact.Material(1e6, **numbers)


def test_static_friction_alone_is_told():
    """Whatever slips would slide freely."""
    for static in (0.8, cd.Parameter("mu", 0.8)):
        with pytest.warns(UserWarning, match=r"static_friction = 0\.8 without dynamic_friction"):
            contact.Material(1e6, static_friction=static)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for numbers in ({}, {"viscous_friction": 0.2}, {"static_friction": 0.8, "dynamic_friction": 0.8}):
            contact.Material(1e6, **numbers)


@pytest.mark.parametrize("speed", [1e-12, 1e300])
def test_extreme_transition_speeds_are_finite(speed, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    rough = contact.Material(1e6, 0.0, 0.8, 0.5, 0.0, speed)
    for law in (contact.HuntCrossley, contact.OpenSimHuntCrossley):
        system = cd.System()
        system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
        system.add_contact(
            "touch",
            contact.HalfSpace("ground", (0, 1, 0), 0.0, rough),
            contact.Sphere("ball", (0, 0, 0), 0.1, rough),
            law=law,
        )
        q, u = system.defaults()
        q[5] = 0.099
        for v in (0.0, 1e-13, 1.0):
            u[3] = v
            f = system.contacts.forces(q, u)[0]
            assert np.isfinite(f).all() and abs(f[0]) <= 0.8 * f[1]
            if v == 1.0 and speed < 1:
                assert f[0] == pytest.approx(-0.5 * f[1])
