"""Derivatives by matrices, over blocks of steps, against those along directions, step after step."""

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.adjoint import blocks, program


def tree() -> cd.System:
    """Pins and a slider on branches, a spring and a damper on coordinates, Parameters: loops over bodies."""
    rng, system, names = np.random.default_rng(1), cd.System(), ["ground"]
    for i in range(9):
        mass = cd.Parameter(f"m{i}", 1.5) if i % 4 == 0 else 1.0
        joint = cd.Slider() if i == 4 else cd.Pin(axis=rng.normal(size=3))
        place = {
            "X_PF": rng.normal(size=3) * 0.3,
            "com": rng.normal(size=3) * 0.1,
            "inertia": (0.1, 0.12, 0.14),
        }
        system.add_body(f"b{i}", names[rng.integers(max(0, i - 2), i + 1)], joint, mass=mass, **place)
        names.append(f"b{i}")
    system.add_force("k", cd.forces.MobilitySpring("b2", cd.Parameter("k", 20.0), 0.1))
    system.add_force("c", cd.forces.MobilityDamper("b4", 3.0))
    return system


def driven() -> cd.System:
    """The tree, one of whose pins moves as it must: a run replaces its q and u."""
    system = tree()
    motion = cd.Prescribed(position=lambda t: 0.3 * np.sin(3 * t))
    system.add_body("driven", "b3", cd.Pin(), mass=1.0, inertia=(0.1, 0.12, 0.14), motion=motion)
    system.add_body("last", "driven", cd.Pin(), X_PF=(0.3, 0, 0), mass=1.0, inertia=(0.1, 0.12, 0.14))
    return system


def pair() -> cd.System:
    """A ball joint and a rod: a straight line, and projections."""
    system = cd.System(gravity=(3, -9.8, 2))
    system.add_body(
        "a", mobilizer=cd.Ball(), X_BM=(0, 0.3, 0), mass=cd.Parameter("m", 2.0), inertia=(0.1, 0.05, 0.1)
    )
    system.add_body(
        "b", "a", cd.Pin(), X_PF=(0, -0.3, 0), X_BM=(0, 0.2, 0), mass=1.0, inertia=(0.1, 0.1, 0.1)
    )
    length = float(np.linalg.norm([0.5, -0.8, 0.3]))
    system.add_constraint("rod", cd.constraints.Rod("ground", (0.5, 0, 0.3), "b", (0, 0, 0), length))
    return system


@pytest.mark.parametrize(("make", "layout"), [(tree, blocks.LOOPED), (driven, None), (pair, blocks.STRAIGHT)])
def test_two_ways(make, layout, monkeypatch: pytest.MonkeyPatch) -> None:
    system, rng = make(), np.random.default_rng(0)
    if layout is not None:
        assert blocks._layout(system, blocks.wanted(system.compiled.model), False) == layout
    u = rng.normal(size=system.nu)
    state = system.state(u=0 * u if make is pair else u, locked=None if make is pair else ["b3"])
    traj = cd.simulate(system, state, 0.2, accuracy=1e-9, integrator="dormand-prince")
    assert len(traj) > 9
    t = [0.05, float(traj.t[4]), 0.2]
    w = rng.normal(size=(3, traj.y.shape[1]))
    v = {"q": rng.normal(size=system.nu), "parameters": rng.normal(size=len(system.parameters))}
    monkeypatch.setattr(blocks, "KEPT", 1.0)  # blocks of as few steps as there are lanes
    found = traj.jacobian(t=t), traj.jvp(v, t=t), traj.vjp(w, t=t)
    monkeypatch.setattr(program, "block_programs", lambda *given: None)
    other = traj.jacobian(t=t), traj.jvp(v, t=t), traj.vjp(w, t=t)
    close = {"rtol": 1e-10, "atol": 1e-11}  # rounding, times what motions make of it
    np.testing.assert_allclose(found[1], other[1], **close)
    for k in (0, 2):
        assert found[k].keys() == other[k].keys()
        for name in other[k]:
            np.testing.assert_allclose(found[k][name], other[k][name], **close)
