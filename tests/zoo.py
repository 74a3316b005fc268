"""A leg of two pins; one system with every family of mobilizers, Parameters, an Input and forces of several
kinds, and a state of it."""

from __future__ import annotations

import functools

import numpy as np

import condyle as cd
from condyle.spatial import rotation_z
from tests.mobilizers.every import LOOP, RIPPLE, SURFACE, frames


def two_pins() -> cd.System:
    """Thigh and shank, coordinates hip and knee."""
    system = cd.System()
    for name, parent, joint in (("thigh", "ground", "hip"), ("shank", "thigh", "knee")):
        system.add_body(
            name, parent, cd.Pin(), X_BM=(0, 0.4, 0), mass=3.0, inertia=(0.05, 0.01, 0.05), coordinates=joint
        )
    return system


def zoo(tables: bool = True) -> cd.System:
    """Every family of mobilizers, Parameters everywhere, an Input, springs, dampers, a user's law and a
    thermostat. tables: with spline joints, whose numbers are looked up."""
    P = cd.Parameter
    size = P("size", 0.3)
    system = cd.System(gravity=(0.5, -P("g", 9.81), 0.2))
    add = functools.partial(
        system.add_body, com=(0.03, -0.02, 0.01), inertia=(0.02, 0.03, 0.025, 0.001, 0.002, -0.001)
    )
    add("base", mobilizer=cd.Free(), X_BM=(0.1, 0, size), mass=2.0)
    add("head", "base", cd.Ball().reversed(), X_PF=(0, size, 0.1), mass=P("head_mass", 1.2))
    add("arm", "base", cd.Gimbal(), X_PF=(0.2, 0.1, 0), X_BM=(0, 0.1, 0), mass=0.8)
    add(
        "hand",
        "arm",
        cd.FunctionBased(
            ("grip",),
            (lambda t, q: 0.3 * np.sin(q + t), None, lambda t, q: q),
            (lambda t, q: 0.1 * q * q, lambda t, q: P("reach", 0.2) * t, None),
            time=True,
        ),
        mass=0.5,
    )
    add("leg", "base", cd.Screw(P("pitch", 0.15)), X_PF=(0, -2 * size, 0), mass=0.9 * size)
    add("foot", "leg", cd.Ellipsoid((0.2, P("radius", 0.3), 0.25)), X_PF=(0, -0.3, 0), mass=0.6)
    add(
        "tail",
        "base",
        cd.Custom(("wag",), lambda q: (rotation_z(q), (0.1 * np.cos(q), 0.2 * q, 0.0))).reversed(),
        mass=0.3,
    )
    system.add_body("ear", "head", cd.LineOrientation(), X_PF=(0.1, 0, 0), mass=0.2, com=(0, 0, 0.1))
    add("slide", "leg", cd.EllipticSlider(P("axis", 1.2), 0.9), mass=0.4)
    if tables:
        _add_splines(add)
    system.add_force(
        "spring",
        cd.forces.TwoPointSpring("ground", (0, 1, 0), "head", (0.1, 0, 0), P("stiffness", 40.0), 0.3),
    )
    system.add_force("damper", cd.forces.TwoPointDamper("base", (0, 0, 0.2), "foot", (0, 0.1, 0), 3.0))
    system.add_force("joint", cd.forces.MobilitySpring("grip", 2.0, 0.1))
    system.add_force("drag", cd.forces.Custom(drag))
    system.add_force("bath", cd.forces.NoseHooverThermostat(300.0, 0.4, boltzmann=2e-3))
    return system


def _add_splines(add) -> None:
    """Curves, one of them closed, a surface that deforms, and such ones composed and reversed."""
    # wide domains: differences of tests step by 0.04 and must not meet a knot
    curve = cd.SplineCurve(frames(7), domain=(-2, 2))
    ring = cd.SplineCurve(frames(9, LOOP), 5, True, domain=(0, 9))
    values = SURFACE.astype(object)
    values[2, 2, 3] = cd.Parameter("bump", 0.12)
    add("rib", "head", curve, X_PF=(0, 0.1, 0.2), mass=0.3)
    add(
        "scapula",
        "base",
        cd.SplineSurface(
            values, domain=(-3, 3), coordinates=("glide", "climb"), modes=[(RIPPLE, lambda t: np.sin(2 * t))]
        ),
        mass=0.7,
    )
    add("clasp", "base", cd.compose(curve, ring.reversed()), mass=0.3)


def drag(s):
    """Air resistance of the hand, and a motor that an Input drives."""
    v = s.station_velocity("hand", (0.1, 0, 0))
    return {
        "hand": cd.forces.Wrench(force=-0.5 * np.sqrt(v @ v + 0.1) * v, at=(0.1, 0, 0)),
        "wag": s.input("motor", 0.4) * np.cos(s.q("wag")) + 0.1 * np.sin(s.t),
    }


@functools.cache
def model(tables: bool = True):
    """A system and a state: arguments by name, z, inputs, parameters and t among them."""
    system = zoo(tables)
    rng = np.random.default_rng(3)
    q = np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies])
    values = {name: rng.uniform(-1, 1, system.nu) for name in ("u", "tau", "udot", "f")}
    tail = {
        "t": 0.3,
        "z": rng.uniform(-0.5, 0.5, 6),
        "inputs": np.array([0.7]),
        "parameters": system.default("parameters") * rng.uniform(0.9, 1.1, len(system.parameters)),
    }
    rates = {name: rng.uniform(-1, 1, system.nq) for name in ("qdot", "qddot")}
    return system, {"q": q, "station": np.array([0.1, -0.2, 0.3]), **values, **rates, **tail}
