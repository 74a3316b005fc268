"""Systems, operators and arguments that both libraries are tried with."""

from __future__ import annotations

from functools import cache

import numpy as np

import condyle as cd


@cache
def system() -> cd.System:
    """Quaternions, a Parameter, an Input, an auxiliary state, a constraint."""
    s = cd.System()
    s.add_body("trunk", mobilizer=cd.Ball(), mass=30.0, com=(0, 0.2, 0), inertia=(1.2, 0.3, 1.3))
    mass = cd.Parameter("arm_mass", 3.0)
    inertia = (0.1, 0.01, 0.1)
    s.add_body("arm", "trunk", cd.Pin(), (0, 0.5, 0), mass=mass, com=(0, -0.3, 0), inertia=inertia)
    s.add_body("rail", mobilizer=cd.Slider(), mass=1.0)
    s.add_force("motor", cd.forces.MobilityForce("arm", cd.Input("torque", 0.5)))
    s.add_constraint("tie", cd.constraints.CoordinateCoupler(lambda a, b: a - 0.3 * b**2, ("rail", "arm")))
    return s


def arguments(seed: int = 0, *lead: int) -> dict[str, np.ndarray]:
    s, rng = system(), np.random.default_rng(seed)
    q, u = rng.normal(size=(*lead, s.nq)), rng.normal(size=(*lead, s.nu))
    q[..., :4] /= np.linalg.norm(q[..., :4], axis=-1, keepdims=True)
    return {"q": q, "u": u, "parameters": np.array([3.3]), "inputs": np.array([0.7])}


CASES = {  # operator: arguments before the tail, body
    "forward_dynamics": (("q", "u"), None),
    "energy": (("q", "u"), None),
    "mass_matrix": (("q",), None),
    "body_pose": (("q",), "arm"),
    "body_velocity": (("q", "u"), "arm"),
}


def expected(name: str, given: dict[str, np.ndarray]) -> np.ndarray:
    """The same from the System itself, flat where it has parts."""
    own, body = CASES[name]
    options = {k: given[k] for k in ("parameters", "inputs")}
    result = getattr(system(), name)(*(given[k] for k in own), *([body] if body else []), **options)
    if isinstance(result, np.ndarray):
        return result
    lead = given["q"].shape[:-1]
    return np.concatenate([np.reshape(x, (*lead, -1)) for x in result], axis=-1)


@cache
def swinging() -> cd.System:
    """Quaternions, a Parameter and an Input, for runs."""
    s = cd.System()
    s.add_body("trunk", mobilizer=cd.Ball(), mass=30.0, com=(0, 0.2, 0), inertia=(1.2, 0.3, 1.3))
    mass, inertia = cd.Parameter("arm_mass", 3.0), (0.1, 0.01, 0.1)
    s.add_body("arm", "trunk", cd.Pin(), (0, 0.5, 0), mass=mass, com=(0, -0.3, 0), inertia=inertia)
    s.add_force("motor", cd.forces.MobilityForce("arm", cd.Input("torque", 0.5)))
    return s


def start(*lead: int) -> dict[str, np.ndarray]:
    """Arguments of a run: one start, or speeds of many."""
    s, rng = swinging(), np.random.default_rng(4)
    return {
        "q": np.array(s.state().q),
        "u": rng.normal(size=(*lead, s.nu)),
        "parameters": np.array([3.2]),
        "inputs": np.array([0.7]),
    }


RUN = {"t_final": 0.3, "accuracy": 1e-10}
"""Short, so that differences of a whole run have enough digits."""
