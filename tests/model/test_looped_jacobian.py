"""The Jacobian of forward dynamics in loops: against automatic differentiation, and which systems have it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import condyle as cd
from condyle.model.looped.jacobian import build_looped_jacobian, has_looped_jacobian
from condyle.native.calls.native_function import NativeFunction
from tests.dynamics.test_gradient import ways
from tests.mobilizers.every import EVERY
from tests.mobilizers.every import one_of_each as one_of_each_mobilizer
from tests.model.test_looped import arguments_of, of_other_numbers, parametric, tree_of

WRT = ("q", "u", "tau")
# Two arrangements of the same sums, some hundred products each.
SAME = 1e-12


def compare(
    system: cd.System,
    given: dict[str, Any],
    how: str = "interpreted",
    same: float = SAME,
    wrt: tuple[str, ...] = WRT,
) -> None:
    model, nu = system.compiled.model, system.nu
    assert has_looped_jacobian(model, wrt)
    looped = NativeFunction(
        "looped",
        lambda: build_looped_jacobian(model, wrt),
        key=f"test of {wrt}\n{system.compiled.key}",
        inputs=[*((n, model.sizes()[n]) for n in ("q", "u", "tau")), ("tail", model.tail_size)],
        outputs=[*((name, nu * nu) for name in wrt), ("status", 1)],
    )
    looped._evaluator._casadi = how == "interpreted"
    arrays = [given[name] for name in ("q", "u", "tau", "tail")]
    if how == "scalar":
        arrays = [a if a.ndim == 1 else a[:2] for a in arrays]
    found = looped(*arrays)
    one = [a if a.ndim == 1 else a[:, None] for a in arrays]
    expected = ways(system, wrt=wrt)["ad"](*one[:3], np.eye(nu), one[3])
    for name, x, y in zip(wrt, found, expected, strict=False):
        np.testing.assert_allclose(
            x.reshape(y.shape), y, rtol=0, atol=same * np.abs(y).max(initial=1.0), err_msg=name
        )
    np.testing.assert_array_equal(found[-1], 0)


def test_trees_of_every_mobilizer():
    """Some reversed, some frames turned, time among the coordinates."""
    every, seed = one_of_each_mobilizer(), 3
    system = tree_of([every[i] for i in np.random.default_rng(seed).permutation(len(every))[:12]], seed)
    # Some bodies are slight: accelerations lose the digits of the condition number of M, about 1e4.
    compare(system, arguments_of(system, seed, n=2, t=0.4), same=1e-9)


def test_numbers_of_mobilizers_are_data():
    rng = np.random.default_rng(8)
    system = tree_of([of_other_numbers(rng)[i] for i in (0, 1, 3, 5, 9, 12) for _ in range(2)], 8)
    compare(system, arguments_of(system, 8, n=2), same=1e-9)  # as above


@pytest.mark.parametrize("how", ["scalar", "lanes"])
def test_machine_code(how):
    """Joints of one to six speeds and a weld, look-ups, forces on coordinates, of which one is disabled."""
    pick = [
        cd.Pin(),
        cd.Pin(),
        cd.Free(),
        cd.Weld(),
        cd.Universal().reversed(),
        EVERY["FunctionBased-time"],
        EVERY["FunctionBased-spline"],
    ]
    system = tree_of([*pick, cd.Ball().reversed()], seed=5)
    first, second, *_ = system.coordinates
    system.add_force("spring", cd.forces.MobilitySpring(first, 40.0, 0.3))
    system.add_force("damper", cd.forces.MobilityDamper(second, 0.4))
    system.add_force("cubic", cd.forces.Custom(lambda s: {second: -3 * s.q(second) ** 3 * s.u(second)}))
    # cond(M) is some hundreds
    compare(system, arguments_of(system, 5, t=0.4, disabled=("spring",)), how, 100 * SAME)


def test_parameters_and_locks():
    system = parametric()
    rng = np.random.default_rng(4)
    values = {
        p: x * rng.uniform(0.9, 1.3, 3)
        for p, x in {"mass": 1.5, "length": 0.4, "g": 9.81, "pitch": 0.1}.items()
    }
    for wrt in (WRT, ("u",), ("tau", "q")):
        compare(system, arguments_of(system, 4, n=3, parameters=values, locked=("b",)), wrt=wrt)


def test_gimbal_lock_is_refused(monkeypatch):
    monkeypatch.setenv("CONDYLE_LAYOUT", "looped")
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = tree_of([cd.Pin(), cd.Gimbal(), cd.Pin()], seed=1)
    q, u = system.defaults()[0] + 0.1, np.linspace(-1, 1, system.nu)
    q[system.body("b1").q.start + 1] = np.pi / 2
    with pytest.raises(cd.errors.SingularError, match=r"jacobian of forward_dynamics.*'b1'"):
        system.jacobian("forward_dynamics", q, u, u, wrt=WRT)


def pendulums(**more: Any) -> cd.System:
    system = cd.System(gravity=more.get("gravity", (0, -9.81, 0)))
    for name, parent in (("a", "ground"), ("b", "a")):
        system.add_body(
            name,
            parent,
            cd.Pin(),
            X_PF=(0, -0.5, 0),
            mass=1.0,
            com=(0, -0.3, 0.1),
            inertia=(0.1, 0.2, 0.1),
            motion=more.get("motion") if name == "b" else None,
        )
    return system


def test_a_law_whose_spans_cross_different_joints():
    """Tension that one span changes acts where the others are, too: that was left out once, 2 % of the entries."""
    system, names = pendulums(), ("ground", "a", "b")
    for k in range(8):
        x = 0.01 * k
        points = [(name, (0.05 + x, at, 0.02)) for name in names for at in (0.1, -0.1)]
        system.add_force(f"spring{k}", cd.forces.PathSpring(cd.paths.Path(points), 100.0 + k, 0.1))
    compare(system, arguments_of(system, 5, n=2), same=1e-11)


def test_who_has_it():
    """Forces that come from other bodies, or from where a body is, are left to the straight line."""

    def has(system: cd.System) -> bool:
        return has_looped_jacobian(system.compiled.model, WRT)

    def with_law(write) -> bool:
        system = pendulums()
        system.add_force("law", cd.forces.Custom(write))
        return has(system)

    assert has(pendulums())
    assert with_law(lambda s: {"b": -s.q("b") - 2 * s.u("b")})
    assert not with_law(lambda s: {"b": -s.q("a")})
    assert not with_law(lambda s: {"b": -s.u("a")})
    assert not with_law(lambda s: {"b": -s.station_position("b", (0, 0.1, 0))[1]})
    assert not has(pendulums(gravity=cd.forces.Gravity((0, -9.81, 0), excluded=("a",))))
    assert not has_looped_jacobian(pendulums().compiled.model, ("q", "parameters"))
    spring = pendulums()
    spring.add_force("spring", cd.forces.TwoPointSpring("ground", (1, 0, 0), "b", (0, 0, 0), 30.0, 0.1))
    assert not has(spring)
    driven = pendulums(motion=cd.Prescribed(acceleration=lambda t: 3 * t))
    compare(driven, arguments_of(driven, 1, n=2, t=0.3))
