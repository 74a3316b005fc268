"""Compliant contacts that start so deep that they throw their bodies apart: which, how deep, and what to do.

A contact stores V = 2/5 f x, each spring of a mesh f x / 2, all of which becomes motion. All bodies that hang
together with the lighter one would rise by h = V / (m g). At rest on a floor h is 2/5 of the depth; after a
fall it is at most the height of that. A start with h above MOST times the size of the system, and V above
MOST times what moves, is a mistake as a rule: a floor at a wrong height, meters for millimeters.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from condyle.contact.hunt_crossley import ContactLaw
from condyle.errors import warn
from condyle.integrate.ensemble import Members
from condyle.integrate.rigid.held_accelerations import in_few
from condyle.model.symbols import Symbols
from condyle.native.calls.native_function import NativeFunction
from condyle.native.straight.kernel_function import evaluate_columns
from condyle.native.tables.lookup import lookup_context
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass
from condyle.system.system import System
from condyle.tree import scales

MOST, GRAVITY, STATES = 5.0, 9.81, 64
"""Heights in sizes of the system; [m/s^2], a scale, also without gravity; how many states are checked."""


@dataclass(frozen=True, eq=False)
class ContactProbe:
    """How the contacts of a system are checked.

    Attributes:
        function: q, tail -> depths and stored energies of those without a mesh; None without such.
        meshes: q, tail -> stored energies of those with one, native; None without such.
        laws: names and contacts, those with a mesh last.
        things: 1 where two contacts throw the same bodies, shape (n, n).
        weights: m g of these bodies times the system's size [J], shape (n,).
    """

    function: ca.Function | Staged | None
    meshes: NativeFunction | None
    laws: list[tuple[str, ContactLaw]]
    things: np.ndarray
    weights: np.ndarray


def warn_of_deep_contacts(system: System, start: Members) -> None:
    """Warn about the contact that stores the most energy, if the contacts of its bodies store implausibly
    much."""
    programs = system.compiled.programs
    if "deep_contacts" not in programs:
        programs["deep_contacts"] = _probe(system)
    look: ContactProbe = programs["deep_contacts"]
    if not look.laws:
        return
    q = start.y[:STATES, : system.nq]
    tail = np.broadcast_to(start.tail, (len(start), start.tail.shape[-1]))[:STATES]
    V = _stored(look, q, tail)
    if not V.any():
        return
    stored = look.things @ V  # by each contact and all others of its bodies
    share = stored / look.weights[:, None]
    if not (share > MOST).any():
        return
    i = int(np.argmax(share.max(axis=0)))
    k = int(np.argmax(np.where(share[:, i] > MOST, V[:, i], 0.0)))
    state = start[i]
    if not stored[k, i] > MOST * (state.energy()[0] + look.weights[k]):
        return
    name, law = look.laws[k]
    at = system.contacts.index(name)
    x, n = state.contacts.depths()[at], state.contacts.normals()[at]
    a, b = (f"{type(s).__name__} on {s.body!r}" for s in law.surfaces())
    one, other = (s.body for s in law.surfaces())
    moved, sign = (one, -1.0) if other == "ground" else (other, 1.0)  # n goes from one to the other
    along = ", ".join(f"{y:g}" for y in (sign * n).round(3) + 0.0)
    way = f"along ({along})" if n.any() else "in any direction, since their centers coincide"
    total = f" ({stored[k, i]:.3g} J with others of these bodies)" if stored[k, i] > 1.01 * V[k, i] else ""
    known = type(law).potential is not ContactLaw.potential  # cd.relax refuses laws without one
    rest = ", or start from cd.relax(system, state), where they rest" if known else ""
    warn(
        f"simulate: contact {name!r} of {a} and {b} starts {x:.3g} m deep and stores {V[k, i]:.3g} J"
        f"{total}, which throws them apart: move {moved!r} by {x:.3g} m {way}{rest}"
    )


def _stored(look: ContactProbe, q: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """Energies of all contacts [J], (n, states), at q (states, nq), tail (states, k)."""
    out = []
    if look.function is not None:
        x, V = _evaluated(look.function, q, tail)
        out.append(np.where(x > 0, V, 0.0))  # NaN: not solved, which is reported elsewhere
    if look.meshes is not None:
        V = in_few(look.meshes, q, tail)[0].T
        out.append(np.where(V > 0, V, 0.0))
    return np.vstack(out)


def _evaluated(function: ca.Function | Staged, q: np.ndarray, tail: np.ndarray) -> list[np.ndarray]:
    """Depths and stored energies (size, states) at q (states, nq), tail (states, k)."""
    given = [np.ascontiguousarray(a.T, dtype=float) for a in (q, tail)]
    return (
        function.evaluate(given)
        if isinstance(function, Staged)
        else evaluate_columns(function, given, len(q))
    )


@lookup_context()
def _probe(system: System) -> ContactProbe:
    model = system.compiled.model
    roots: dict[str, str] = {}
    mass: dict[str, float] = {}
    for body in model.tree.bodies:  # base to tip
        assert body.parent is not None
        root = roots[body.name] = roots.get(body.parent.name, body.name)
        mass[root] = mass.get(root, 0.0) + body.mass
    thrown = {
        name: min(held, key=mass.__getitem__)
        for name, law in model.contacts.items()
        if (held := [r for x in law.surfaces() if (r := roots.get(x.body, "")) and mass[r] > 0])
    }
    s, out = Symbols(model), {}
    view = s.view(s.kinematics(moving=False))
    for on, _ in s.laws(view):
        if view.law in thrown and view.law not in model.foundations:
            touching = model.contacts[view.law]
            V, where = touching.stored(view), touching.touch(view)
            if V is not None:
                out[view.law] = where.x, ca.if_else(on, V, 0)
    names = [*out, *model.foundations]
    function = (
        build_function(
            "deep_contacts", [s["q"], s["tail"]], [ca.vertcat(*y) for y in zip(*out.values(), strict=True)]
        )
        if out
        else None
    )
    size = scales.reach(model.tree.bodies) or 1.0  # [m]; points have no size
    things = np.array(
        [[one in thrown and thrown[one] == thrown.get(other) for other in names] for one in names], float
    )
    weights = GRAVITY * size * np.array([mass[thrown[name]] if name in thrown else np.inf for name in names])
    return ContactProbe(
        function,
        system.compiled.function("foundation_energies") if model.foundations else None,
        [(name, model.contacts[name]) for name in names],
        things,
        weights,
    )
