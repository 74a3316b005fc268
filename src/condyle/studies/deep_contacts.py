"""Contacts that yield and begin so deep that they throw their bodies: which, how deep, and what to do.

A contact stores V = 2/5 f x, all of which becomes motion. All bodies that hang together with the lighter one
would rise by h = V / (m g). At rest on a floor h is 2/5 of the depth; after a fall it is at most the height
of that. A start with h above MOST times the size of the system, and V above MOST times what moves, is a
mistake as a rule: a floor at a wrong height, metres for millimetres.
"""
from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from condyle.contact.law import ContactLaw
from condyle.errors import warn
from condyle.integrate.members import Members
from condyle.model.symbols import Symbols
from condyle.native.sweeps.lookup import Staged, assembled
from condyle.system.system import System
from condyle.tree import scales

MOST, GRAVITY, STATES = 5.0, 9.81, 64
"""Heights in sizes of the system; [m/s^2], a scale, also where there is none; how many states are looked
at."""


def warn_of_deep_contacts(system: System, start: Members) -> None:
    """Warn of the contact that stores most, where those of its bodies store more than can be meant."""
    programs = system.compiled.programs
    if "deep_contacts" not in programs:
        programs["deep_contacts"] = _made(system)
    made, laws, things, weights = programs["deep_contacts"]
    if made is None:
        return
    tail = np.broadcast_to(start.tail, (len(start), start.tail.shape[-1]))[:STATES]
    x, V, n = _evaluated(made, start.y[:STATES, :system.nq], tail)
    if not (x > 0).any():
        return
    V = np.where(x > 0, V, 0.0)                              # NaN: not solved, which is said elsewhere
    stored = things @ V                                      # by each contact and all others of its bodies
    share = stored / weights[:, None]
    if not (share > MOST).any():
        return
    i = int(np.argmax(share.max(axis=0)))
    k = int(np.argmax(np.where(share[:, i] > MOST, V[:, i], 0.0)))
    if not stored[k, i] > MOST * (start[i].energy()[0] + weights[k]):
        return
    name, law = laws[k]
    a, b = (f"{type(s).__name__} on {s.body!r}" for s in law.surfaces())
    one, other = (s.body for s in law.surfaces())
    moved, sign = (one, -1.0) if other == "ground" else (other, 1.0)      # n goes from one to the other
    way = ", ".join(f"{y:.3g}" for y in np.round(sign * n[3 * k:3 * k + 3, i], 9) + 0.0)
    total = f" ({stored[k, i]:.3g} J with others of these bodies)" if stored[k, i] > 1.01 * V[k, i] else ""
    warn(f"simulate: contact {name!r} of {a} and {b} starts {x[k, i]:.3g} m deep and stores {V[k, i]:.3g} J"
         f"{total}, which throws them apart: move {moved!r} by {x[k, i]:.3g} m along "
         f"({way}), or start from cd.relax(system, state), where they rest")


def _evaluated(made: ca.Function | Staged, q: np.ndarray, tail: np.ndarray) -> list[np.ndarray]:
    """Depths, stored energies and normals (size, states) at q (states, nq), tail (states, k)."""
    if isinstance(made, Staged):
        return made.evaluate([np.ascontiguousarray(a.T) for a in (q, tail)])
    given = [np.ascontiguousarray(a, dtype=float) for a in (q, tail)]
    out = [np.zeros((len(q), made.numel_out(i))) for i in range(made.n_out())]
    buffer: Any                                              # CasADi's stubs do not know memoryviews
    buffer, call = made.buffer()                             # a tenth of the time that CasADi's DM take
    for row in range(len(q)):
        for i, a in enumerate(given):
            buffer.set_arg(i, memoryview(a[row]))
        for i, y in enumerate(out):
            buffer.set_res(i, memoryview(y[row]))
        call()
    return [y.T for y in out]


def _made(system: System) -> tuple[Any, list[Any], np.ndarray, np.ndarray]:
    """q, tail -> depths, stored energies, normals; the contacts; which throw the same bodies; m g of these
    times the system's size [J]."""
    model = system.compiled.model
    wanted = {name: law for name, law in model.forces.items()
              if isinstance(law, ContactLaw) and not any(x.by_points for x in law.surfaces())}
    none: tuple[Any, list[Any], np.ndarray, np.ndarray] = None, [], np.zeros((0, 0)), np.zeros(0)
    if not wanted:
        return none
    roots: dict[str, str] = {}
    mass: dict[str, float] = {}
    for body in model.tree.bodies:                           # base to tip
        assert body.parent is not None
        root = roots[body.name] = roots.get(body.parent.name, body.name)
        mass[root] = mass.get(root, 0.0) + body.mass
    s, laws, of, out = Symbols(model), [], [], []
    view = s.view(s.kinematics(moving=False))
    for on, law in s.laws(view):
        if view.law in wanted:
            touching = wanted[view.law]
            V, where = touching.potential(view), touching.touch(view)
            held = [r for x in touching.surfaces() if (r := roots.get(x.body, "")) and mass[r] > 0]
            if V is not None and held:
                laws.append((view.law, law))
                of.append(min(held, key=mass.__getitem__))
                out.append((where.x, ca.if_else(on, V, 0), where.n))
    if not laws:
        return none
    made = assembled("deep_contacts", [s["q"], s["tail"]], [ca.vertcat(*y) for y in zip(*out, strict=True)])
    size = scales.reach(model.tree.bodies) or 1.0            # [m]; of points nobody says how large they are
    things = np.array([[one == other for other in of] for one in of], float)
    return made, laws, things, GRAVITY * size * np.array([mass[x] for x in of])
