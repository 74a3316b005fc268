"""Everything that a system is made of, in blocks to read: `System.describe`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from condyle.presentation import Block, number, numbers
from condyle.spatial import Transform, log_so3
from condyle.tree import scales
from condyle.tree.body import Body

LAW, MOBILIZER = 100, 60
"""Letters of their reprs."""


def blocks(system: Any, forces: Mapping[str, Any], constraints: Mapping[str, Any]) -> list[Block]:
    """Bodies, frames, coordinates, speeds and what else there is; empty blocks are left out."""
    bodies = [b for b in system.bodies if b.parent is not None]
    q_units, u_units = scales.units(system.bodies)
    owner_q, owner_u = ([b.name for b in bodies for _ in range(n(b))] for n in (_nq, _nu))
    coordinates = [c for b in bodies for c in b.coordinates]
    driven = {j for b in bodies for j in b.prescribed_speeds}
    parameters, inputs, discrete, z = (
        [(name, number(x)) for name, x in zip(system.names(kind), system.default(kind), strict=True)]
        for kind in ("parameters", "inputs", "discrete", "z")
    )
    made = [
        Block(
            "bodies",
            ("body", "parent", "mobilizer", "mass [kg]", "coordinates"),
            [
                (
                    b.name,
                    b.parent.name,
                    _short(b.mobilizer, MOBILIZER),
                    number(b.mass) + _of(b, "mass"),
                    _coordinates(b),
                )
                for b in bodies
            ],
        ),
        Block(
            "mass centers and inertias",
            ("body", "com [m]", "inertia about it [kg m^2]: xx yy zz, xy xz yz"),
            [
                (
                    b.name,
                    f"({numbers(b.mass_properties.com)})" + _of(b, "com"),
                    _inertia(b) + _of(b, "inertia"),
                )
                for b in bodies
            ],
        ),
        Block(
            "frames",
            ("body", "X_PF: F on the parent", "X_BM: M on the body"),
            [
                (b.name, _place(b.X_PF) + _of(b, "R_PF", "p_PF"), _place(b.X_BM) + _of(b, "R_BM", "p_BM"))
                for b in bodies
            ],
        ),
        Block(
            "coordinates",
            ("coordinate", "body", "unit", "default", "range"),
            [
                (
                    c.name,
                    body,
                    unit,
                    number(x),
                    "-" if c.range is None else f"{number(c.range[0])} to {number(c.range[1])}",
                )
                for c, body, unit, x in zip(coordinates, owner_q, q_units, system.default("q"), strict=True)
            ],
        ),
        Block(
            "speeds",
            ("speed", "body", "unit", "moved by"),
            [
                (name, body, unit, "its motion" if j in driven else "forces")
                for j, (name, body, unit) in enumerate(zip(system.speeds, owner_u, u_units, strict=True))
            ],
        ),
        Block("parameters", ("parameter", "default"), parameters),
        Block("inputs", ("input", "default"), inputs),
        Block("discrete variables", ("variable", "default"), discrete),
        Block("auxiliary states z", ("state", "default"), z),
        Block("forces", (), [(f"force {name!r}: {_short(law)}",) for name, law in forces.items()]),
        Block(
            "constraints",
            (),
            [(f"constraint {name!r}: {_short(c)}, {_count(c)}",) for name, c in constraints.items()],
        ),
        Block(
            "measures",
            (),
            [(f"measure {name!r}: {_short(system.measure(name))}",) for name in system.measures],
        ),
        Block(
            "markers",
            ("marker", "body", "station [m]", "fixed"),
            [
                (m.name, m.body, f"({numbers(m.station)})", "yes" if m.fixed else "no")
                for m in map(system.marker, system.markers)
            ],
        ),
        Block(
            "geometry",
            ("geometry", "body", "shape"),
            [(g.name, g.body, _short(g.shape, MOBILIZER)) for g in system.geometry],
        ),
        Block(
            "motions",
            (),
            [(f"motion of {b.name!r}: {_short(b.motion)}",) for b in bodies if b.motion is not None],
        ),
    ]
    return [block for block in made if block.rows]


def _coordinates(b: Body) -> str:
    """Its coordinates, or those that it follows."""
    if b.follows is not None:
        return f"follows {b.follows.name}"
    return ", ".join(c.name for c in b.coordinates) or "-"


def _nq(b: Body) -> int:
    return len(b.coordinates)


def _nu(b: Body) -> int:
    return len(b.speeds)


def _short(law: Any, most: int = LAW) -> str:
    text = repr(law)
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def _of(body: Body, *parts: str) -> str:
    """The Parameters that a number depends on."""
    names = dict.fromkeys(
        p.name for part in parts if part in body.symbolic for p in body.symbolic[part].parameters
    )
    return f" by {', '.join(names)}" if names else ""


def _inertia(b: Body) -> str:
    I = np.asarray(b.mass_properties.inertia, dtype=float)
    products = [I[0, 1], I[0, 2], I[1, 2]]
    return numbers(np.diag(I)) + (f", {numbers(products)}" if any(products) else "")


def _place(X: Transform) -> str:
    """A transform by its translation and its turn."""
    R, p = (np.asarray(x, dtype=float) for x in X)
    parts = [f"p = ({numbers(p)})"] if p.any() else []
    turn = log_so3(R)
    angle = float(np.linalg.norm(turn))
    if angle > 0:
        parts.append(f"turned {number(angle)} rad about ({numbers(turn / angle)})")
    return ", ".join(parts) or "-"


def _count(constraint: Any) -> str:
    levels = "/".join(dict.fromkeys(part.level for part in constraint.parts))
    return f"{constraint.size} equation{'s' * (constraint.size != 1)} of {levels}"
