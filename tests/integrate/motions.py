"""Motions with spans of some seconds: what the accuracy asked for is measured on. None is chaotic; in some,
errors grow."""

from collections.abc import Callable

import numpy as np

import condyle as cd
from condyle.mobilizers import Mobilizer

G = 9.81
Motions = dict[str, tuple[Callable[[], cd.State], float]]
MOTIONS: Motions = {}
"""The state at the start, and the span [s], by name."""
GROWING: Motions = {}
"""The same where small errors become large."""


def motion(
    span: float, where: Motions = MOTIONS
) -> Callable[[Callable[[], cd.State]], Callable[[], cd.State]]:
    def keep(make: Callable[[], cd.State]) -> Callable[[], cd.State]:
        where[make.__name__] = make, span
        return make

    return keep


def pendulum() -> cd.System:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(1e-12,) * 3)
    return system


def block() -> cd.System:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1), coordinates="x")
    return system


def chain(count: int, joint: type[Mobilizer], inertia: tuple[float, float, float]) -> cd.System:
    system, parent = cd.System(gravity=(0, -G, 0)), "ground"
    for i in range(count):
        system.add_body(
            f"b{i}", parent, joint(), X_PF=(0, -0.3 * bool(i), 0), X_BM=(0, 0.3, 0), mass=1.0, inertia=inertia
        )
        parent = f"b{i}"
    return system


@motion(10.0)
def small_swing() -> cd.State:
    return pendulum().state(q=[0.1])


@motion(10.0)
def large_swing() -> cd.State:
    return pendulum().state(q=[2.6])


@motion(10.0)
def turning_over() -> cd.State:
    return pendulum().state(u=[8.0])


@motion(3.0)
def oscillator() -> cd.State:
    system = block()
    system.add_force("spring", cd.forces.MobilitySpring("x", 100.0, 0.0))
    return system.state(q=[1.0])


@motion(6.0)
def damped_and_driven() -> cd.State:
    system = block()
    system.add_force(
        "law",
        cd.forces.Custom(lambda s: {"x": -100.0 * s.q("x") - 2.0 * s.u("x") + 30.0 * np.sin(3.0 * s.t)}),
    )
    return system.state(q=[1.0])


@motion(5.0)
def double_pendulum() -> cd.State:
    return chain(2, cd.Pin, (0.1, 0.1, 0.1)).state(q=[0.3, -0.2])


@motion(5.0)
def free_top() -> cd.State:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("top", mobilizer=cd.Ball(), mass=1.0, inertia=(0.02, 0.05, 0.03))
    return system.state(u=[0.3, 1.0, 5.0])


@motion(5.0)
def tumbling_box() -> cd.State:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("box", mobilizer=cd.Free(), mass=2.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.25))
    return system.state(u=[0.1, 3.0, 0.2, 0.5, 0, 0])


@motion(3.0)
def hanging_top() -> cd.State:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("top", mobilizer=cd.Ball(), X_BM=(0, 0.3, 0), mass=1.0, inertia=(0.02, 0.05, 0.03))
    return system.state(q=[np.cos(0.2), 0.0, 0.0, np.sin(0.2)], u=[0.0, 12.0, 0.0])


@motion(6.0)
def spherical_pendulum() -> cd.State:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("bob", mobilizer=cd.Universal(), X_BM=(0, 1, 0), mass=1.0, inertia=(1e-3,) * 3)
    return system.state(q=[0.6, 0.0], u=[0.0, 2.0])


@motion(5.0)
def orbit_on_a_spring() -> cd.State:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("mass", mobilizer=cd.Translation(), mass=1.0, inertia=(1, 1, 1))
    system.add_force("sun", cd.forces.TwoPointSpring("ground", (0, 0, 0), "mass", (0, 0, 0), 20.0, 0.5))
    return system.state(q=[1.0, 0, 0], u=[0, 3.0, 1.0])


@motion(4.0)
def network_of_springs() -> cd.State:
    system, corners = cd.System(gravity=(0, -G, 0)), ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1))
    for i in range(4):
        system.add_body(f"m{i}", mobilizer=cd.Translation(), mass=1.0 + 0.3 * i, inertia=(0.1,) * 3)
    for i, (x, _, z) in enumerate(corners):
        system.add_force(
            f"hang{i}", cd.forces.TwoPointSpring("ground", (x, 1, z), f"m{i}", (0, 0, 0), 150.0, 0.8)
        )
        system.add_force(
            f"side{i}", cd.forces.TwoPointSpring(f"m{i}", (0, 0, 0), f"m{(i + 1) % 4}", (0, 0, 0), 100.0, 1.0)
        )
    return system.state(
        q=np.array(corners, dtype=float).reshape(-1) + np.random.default_rng(1).normal(scale=0.05, size=12)
    )


@motion(4.0)
def damped_chain() -> cd.State:
    system = chain(5, cd.Pin, (0.02, 0.005, 0.02))
    for name in system.coordinates:
        system.add_force(f"damp {name}", cd.forces.MobilityDamper(name, 0.6))
    return system.state(q=[0.8, 0.3, -0.2, 0.2, 0.1])


@motion(4.0)
def chain_of_balls() -> cd.State:
    system = chain(2, cd.Ball, (0.03, 0.01, 0.02))
    system.add_force("damper", cd.forces.GlobalDamper(0.3))
    return system.state(
        q=[np.cos(0.2), 0, 0, np.sin(0.2), np.cos(0.1), np.sin(0.1), 0, 0], u=[0, 2.0, 0, 1.0, 0, 0]
    )


@motion(5.0)
def cart_and_pendulum() -> cd.State:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("cart", mobilizer=cd.Slider(), mass=2.0, inertia=(1, 1, 1), coordinates="x")
    system.add_body("bob", "cart", cd.Pin(), X_BM=(0, 0.5, 0), mass=0.5, inertia=(0.01,) * 3)
    system.add_force("spring", cd.forces.MobilitySpring("x", 60.0, 0.0))
    return system.state(q=[0.3, 0.2])


@motion(5.0)
def sprung_gimbal() -> cd.State:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("head", mobilizer=cd.Gimbal(), X_BM=(0, 0.4, 0), mass=1.0, inertia=(0.05, 0.02, 0.05))
    for name in system.coordinates:
        system.add_force(f"spring {name}", cd.forces.MobilitySpring(name, 5.0, 0.0))
    return system.state(q=[0.4, -0.3, 0.5], u=[0.0, 1.0, 0.0])


@motion(5.0)
def four_bar() -> cd.State:
    system, rod = (
        cd.System(gravity=(0, -G, 0)),
        {"mass": 1.0, "com": (0, 0.5, 0), "inertia": (1 / 12, 1e-6, 1 / 12)},
    )
    system.add_body("left", mobilizer=cd.Pin(), **rod)
    system.add_body(
        "coupler", "left", cd.Pin(), X_PF=(0, 1, 0), mass=1.0, com=(0.5, 0, 0), inertia=(1e-6, 1 / 12, 1 / 12)
    )
    system.add_body("right", mobilizer=cd.Pin(), X_PF=(1, 0, 0), **rod)
    system.add_constraint("close", cd.constraints.Ball("coupler", (1, 0, 0), "right", (0, 1, 0)))
    return system.state(q=[-2.4, 2.4, -2.4])


@motion(4.0)
def slider_crank() -> cd.State:
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("crank", mobilizer=cd.Pin(), mass=1.0, com=(0.1, 0, 0), inertia=(0.005,) * 3)
    system.add_body(
        "rod", "crank", cd.Pin(), X_PF=(0.2, 0, 0), mass=0.5, com=(0.3, 0, 0), inertia=(0.01,) * 3
    )
    system.add_constraint("rail", cd.constraints.PointInPlane("ground", (0, 1, 0), 0.0, "rod", (0.6, 0, 0)))
    q, u = system.project([0.5, -0.5], [6.0, 0.0], tolerance=1e-14)
    return system.state(q=q, u=u)


def heavy_top(spin: float) -> cd.State:
    """Spinning about its axis, which leans by half a radian, on a fixed point below its mass center."""
    system = cd.System(gravity=(0, 0, -G))
    system.add_body("top", mobilizer=cd.Ball(), X_BM=(0, 0, -0.1), mass=1.0, inertia=(2e-3, 2e-3, 1e-3))
    return system.state(
        q=[np.cos(0.25), np.sin(0.25), 0, 0], u=spin * np.array([0, -np.sin(0.5), np.cos(0.5)])
    )


@motion(3.0, GROWING)
def falling_top() -> cd.State:
    return heavy_top(50.0)


@motion(3.0, GROWING)
def fast_top() -> cd.State:
    return heavy_top(200.0)


@motion(5.0, GROWING)
def block_between_stops() -> cd.State:
    system = block()
    system.add_force("stops", cd.forces.MobilityStop("x", -0.3, 0.3, 1000.0))
    return system.state(u=[1.0])


@motion(5.0, GROWING)
def pendulum_between_stops() -> cd.State:
    system = pendulum()
    system.add_force("stops", cd.forces.MobilityStop("bob", -0.3, 0.3, 1000.0))
    return system.state(u=[2.0])


@motion(10.0, GROWING)
def intermediate_axis() -> cd.State:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("box", mobilizer=cd.Ball(), mass=1.0, inertia=(0.02, 0.05, 0.03))
    return system.state(u=[1e-3, 1e-3, 5.0])
