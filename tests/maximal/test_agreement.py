"""The two formulations of the same systems agree: accelerations, driving forces, reactions. They share X_FM
and force laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import condyle as cd
from condyle import maximal
from condyle.mobilizers import Mobilizer
from tests.forces import rig
from tests.oracles import EVERY_KIND, random_plan, random_tree
from tests.oracles.trees import random_joint
from tests.zoo import model

# The bound that we promise. Rounding is about cond(M) eps, 1e-10 at worst in these trees; an error in an
# equation is of order 1.
AGREE = 1e-9
# An error in one term that is small beside the others would still show: typical differences are 1e-15.
TYPICAL = 1e-11


def apart(ours, theirs) -> float:
    """Largest difference over the largest entry."""
    return float(np.abs(ours - theirs).max(initial=0.0) / np.abs(theirs).max(initial=1e-12))


def differences(system, q, u, tau, **options) -> dict[str, float]:
    """Maximal against minimal; tau serves as udot too."""
    laws = {name: value for name, value in options.items() if name != "locked"}
    return {
        "accelerations": apart(
            maximal.forward_dynamics(system, q, u, tau, **options),
            system.forward_dynamics(q, u, tau, **options),
        ),
        "driving forces": apart(
            maximal.inverse_dynamics(system, q, u, tau, **laws), system.inverse_dynamics(q, u, tau, **laws)
        ),
        "reactions": apart(maximal.reactions(system, q, u, tau, **laws), system.reactions(q, u, tau, **laws)),
    }


@pytest.mark.parametrize("kind", [kind for kind in EVERY_KIND if kind != "weld"])
def test_each_mobilizer(kind):
    """Two of a kind on a pin, one forward and one reversed, at a time that matters to those that know
    time."""
    plan = random_plan(31, 3, [kind])
    rng = np.random.default_rng(31)
    joints = [
        random_joint(rng, "pin", "b0"),
        *(replace(random_joint(rng, kind, f"b{i}"), reversed=i == 2) for i in (1, 2)),
    ]
    plan = replace(plan, parts=tuple(replace(part, joint=joint) for part, joint in zip(plan.parts, joints)))
    system = plan.system()
    found = differences(system, *plan.states(), t=0.7)
    assert max(found.values()) <= TYPICAL, found


@pytest.mark.parametrize(("seed", "bodies"), [(1, 1), (2, 6), (3, 12), (4, 12), (5, 20)])
def test_random_trees(seed, bodies, evidence):
    """All mobilizers mixed, welded and massless bodies among them."""
    system, q, u, tau = random_tree(seed, bodies)
    for what, found in differences(system, q, u, tau, t=-0.4).items():
        evidence(
            f"{what} of random trees of every mobilizer: minimal against maximal coordinates, relative",
            found,
            AGREE,
        )


@pytest.mark.parametrize("seed", range(20, 26))
def test_random_systems(seed, evidence):
    """Trees of every mobilizer with forces between random bodies, and constraints of points, directions,
    coordinates, speeds."""
    plan = random_plan(seed, 7)
    system, rng = plan.system(), np.random.default_rng((seed, 1))
    point = lambda: tuple(rng.uniform(-0.3, 0.3, 3))
    two = lambda: (str(name) for name in rng.choice([body.name for body in system.bodies], 2, replace=False))
    for k, law in enumerate((cd.forces.TwoPointSpring, cd.forces.TwoPointDamper)):
        (a, b), more = two(), (20.0, 0.2) if k == 0 else (3.0,)
        system.add_force(f"law{k}", law(a, point(), b, point(), *more))
    a, b = two()
    system.add_force(
        "bushing",
        cd.forces.LinearBushing(a, point(), b, point(), rng.uniform(1, 5, 6), rng.uniform(0.1, 0.5, 6)),
    )
    system.add_force("resistance", cd.forces.GlobalDamper(0.2))
    a, b = two()
    system.add_constraint("rod", cd.constraints.Rod(a, point(), b, point(), 0.7))
    a, b = two()
    system.add_constraint("angle", cd.constraints.ConstantAngle(a, point(), b, point(), 1.1))
    some = lambda names: [str(name) for name in rng.choice(names, 2, replace=False)]
    system.add_constraint(
        "coupler", cd.constraints.CoordinateCoupler(lambda a, b: a - b**2, some(system.coordinates))
    )
    system.add_constraint(
        "speeds", cd.constraints.SpeedCoupler(lambda a, b: a - 0.3 * b, some(system.speeds))
    )
    for what, found in differences(system, *plan.states(), t=0.3).items():
        evidence(
            f"{what} of random trees with forces and constraints: minimal against maximal coordinates, "
            "relative",
            found,
            AGREE,
            headline="maximal",
        )


def test_nothing_is_left_out():
    """Every public mobilizer is among the kinds, every law among those compared one by one. (Coupled is for
    bodies that share speeds, which maximal coordinates refuse: tests/dynamics/test_sharing.py.)"""
    rng = np.random.default_rng(0)
    mobilizers = {type(random_joint(rng, kind, "b").mobilizer()) for kind in EVERY_KIND for _ in range(8)}
    public = {x for x in list(vars(cd).values()) if isinstance(x, type) and issubclass(x, Mobilizer)} - {
        Mobilizer,
        cd.Coupled,
    }
    assert public <= mobilizers
    assert len(public) == 23
    laws = {getattr(cd.forces, name) for name in cd.forces.__all__}
    laws = {x for x in laws if isinstance(x, type) and issubclass(x, cd.forces.Force)} - {
        cd.forces.Force,
        cd.forces.Gravity,
        cd.forces.JointFriction,  # it asks for reactions, which maximal coordinates refuse
    }
    assert laws == {type(law) for law in rig.one_of_each().values()}


def test_parameters_inputs_and_laws():
    """Every family of mobilizers with Parameters in frames, masses and joints, laws of many kinds, a
    thermostat's momenta."""
    system, values = model()
    options = {name: values[name] for name in ("t", "z", "inputs", "parameters")}
    found = differences(system, values["q"], values["u"], values["tau"], **options)
    assert max(found.values()) <= TYPICAL, found


@pytest.mark.parametrize("name", rig.one_of_each())
def test_each_law(name):
    system = rig.arm(**{name: rig.one_of_each()[name]})
    q, u = rig.state(system, 3)
    z = np.linspace(0.3, -0.4, len(system.state_variables))
    found = differences(system, q, u, np.linspace(-1, 1, system.nu), t=0.6, z=z)
    assert max(found.values()) <= TYPICAL, found
    without = maximal.forward_dynamics(system, q, u, t=0.6, z=z, disabled=(name,))
    np.testing.assert_allclose(
        without, system.forward_dynamics(q, u, t=0.6, z=z, disabled=(name,)), rtol=TYPICAL, atol=TYPICAL
    )
    # the law does something here
    assert apart(without, maximal.forward_dynamics(system, q, u, t=0.6, z=z)) > 1e-6


def test_gravity_leaves_out_a_body():
    system = cd.System(gravity=cd.forces.Gravity((1.0, -9.0, 2.0), excluded=("b",)))
    system.add_body("a", mobilizer=cd.Pin(), X_BM=(0, 0.4, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_body(
        "b", "a", cd.Ball(), X_PF=(0, -0.4, 0), mass=2.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.2)
    )
    q, _ = system.defaults()
    found = differences(system, q, np.array([0.3, 1.0, -2.0, 0.5]), np.ones(4))
    assert max(found.values()) <= TYPICAL, found


@pytest.mark.parametrize("kinds", [None, ["ball", "cylinder", "slider"]], ids=["every kind", "closed forms"])
def test_locked_speeds_keep_their_value(kinds):
    system, q, u, tau = random_tree(7, 6, kinds)
    # what closed forms need to hold a speed, beyond S A = 0
    sigma = maximal.formulation(system).at(q, u).sigma
    assert kinds is None or np.abs(sigma).max() > 0.1
    locked = [system.speeds[0], system.speeds[np.abs(sigma).argmax()], system.speeds[-1]]
    found = differences(system, q, u, tau, locked=locked)
    assert max(found.values()) <= TYPICAL, found
    solution = maximal.formulation(system).at(q, u, locked=locked).forward(tau)
    np.testing.assert_allclose(
        solution.tau - tau, system.motion_forces(q, u, tau, locked=locked), rtol=1e-9, atol=1e-9
    )


def test_many_states():
    plan = random_plan(9, 4)
    system, (q, u, tau), t = plan.system(), plan.states(6), np.linspace(0, 1, 6)
    found = differences(system, q, u, tau, t=t)
    assert max(found.values()) <= AGREE, found
    q, u, tau, t = q.reshape(2, 3, -1), u.reshape(2, 3, -1), tau[0], t.reshape(2, 3)
    every = maximal.reactions(system, q, u, tau, t=t)
    assert every.shape == (2, 3, 4, 6)
    np.testing.assert_array_equal(maximal.reactions(system, q, u, tau, "b2", t=t), every[..., 2, :])
