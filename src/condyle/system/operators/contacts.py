"""Contacts: positions and forces."""

from __future__ import annotations

from functools import partial
from typing import Unpack

import numpy as np

from condyle.arrays import Array, Vector
from condyle.errors import ArgumentError, UnknownNameError
from condyle.laws.described import body_name
from condyle.native.calls.native_function import NativeFunction
from condyle.presentation import brief
from condyle.system.operators.groups import NamedGroup
from condyle.system.operators.public import Options, operator
from condyle.tree.body import Body

TOUCHES = {
    **dict.fromkeys(
        ("grf", "ground_reaction", "ground_reaction_force", "ground_reaction_forces", "ground_reactions"),
        "contacts.forces(), one per contact: their sum is the ground reaction; "
        "contacts.center_of_pressure(group) is where it acts",
    ),
    **dict.fromkeys(
        ("friction", "friction_forces", "normal_forces"),
        "contacts.forces(), of which contacts.normals() gives the normal part",
    ),
    **dict.fromkeys(("contact_moments", "contact_torques"), "contacts.wrenches()"),
    **dict.fromkeys(("gaps", "overlap", "penetration", "penetrations"), "contacts.depths()"),
    "cop": "contacts.center_of_pressure(group)",
    "pressures": "contacts.pressures(contact, body)",
}
"""Other names of these, for states and runs."""

_operator = partial(operator, group="contacts")


class Contacts(NamedGroup):
    """Names of the contacts, compliant ones first, then rigid ones, and their operators, in this order.
    Normals point from the first surface, a, to the second, b; forces are those on b, those on a are opposite.
    Rigid contacts push with their multipliers (without tau) if they are closed in the state, and exert no
    force otherwise."""

    @_operator
    def depths(self, q: Vector, **options: Unpack[Options]) -> Array:
        """Depth of overlap of each contact [m], shape (..., n); negative for a gap."""
        return self._system._run("contacts.depths", (q,), options)

    @_operator
    def points(self, q: Vector, **options: Unpack[Options]) -> Array:
        """Point of application of each contact's force, in ground [m], shape (..., n, 3); for a gap, a point
        between the surfaces.
        """
        return self._system._run("contacts.points", (q,), options)

    @_operator
    def normals(self, q: Vector, **options: Unpack[Options]) -> Array:
        """Unit normals of the contacts, from a to b, in ground, shape (..., n, 3)."""
        return self._system._run("contacts.normals", (q,), options)

    @_operator
    def patches(self, q: Vector, **options: Unpack[Options]) -> Array:
        """Semi-axes of the contacts' ellipses after Hertz [m], shape (..., n, 2), the larger one first; zero
        for gaps and rigid contacts.
        """
        return self._system._run("contacts.patches", (q,), options)

    @_operator
    def slips(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Tangential velocities of b relative to a at the contact points, in ground [m/s], shape (..., n, 3)."""
        return self._system._run("contacts.slips", (q, u), options)

    @_operator
    def forces(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Forces of the contacts on b, normal and friction, in ground [N], shape (..., n, 3)."""
        return self._system._run("contacts.forces", (q, u), options)

    @_operator
    def losses(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Power lost in each contact by dissipation and friction [W], shape (..., n), at least 0. Stored
        energy is in `system.energy`.
        """
        return self._system._run("contacts.losses", (q, u), options)

    @_operator
    def wrenches(self, q: Vector, u: Vector, **options: Unpack[Options]) -> Array:
        """Wrenches of the contacts on the bodies of a, then of b: moment about the body's origin [N m] and
        force [N], in ground, shape (..., n, 2, 6)."""
        return self._system._run("contacts.wrenches", (q, u), options)

    @_operator
    def pressures(
        self, q: Vector, u: Vector, contact: str, body: Body | str | None = None, **options: Unpack[Options]
    ) -> Array:
        """Pressure on each triangle of a mesh [Pa], shape (..., triangles), in the order of
        `surface.triangles.faces`; zero without contact.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu).
            contact: name of a contact with a mesh.
            body: the body of the mesh, or its name; of two meshes the first one's by default.
        """
        _check_name("contacts.pressures: contact", contact, "(q, u, contact, body)")
        start, found = 0, []
        for name, law in self._system.compiled.model.contacts.items():
            for side in getattr(law, "sides", ()):
                if name == contact:
                    found.append((side, slice(start, start + side.size)))
                start += side.size
        if not found:
            known = [
                name for name, law in self._system.compiled.model.contacts.items() if hasattr(law, "sides")
            ]
            raise UnknownNameError(
                "contact of a mesh", contact, known, "pressures are those of a cd.contact.Mesh"
            )
        bodies = [side.mesh.body for side, _ in found]
        wanted = bodies[0] if body is None else body_name(body, "contacts.pressures: body")
        if wanted not in bodies:
            raise UnknownNameError("body of a mesh", wanted, bodies, f"contact {contact!r}")
        from condyle.native.searches.search_tree import kernel as tree_kernel

        side, part = found[bodies.index(wanted)]
        given = self._system._run("contact_springs", (q, u), options)[..., part]
        mesh, springs = side.mesh.triangles, side.springs
        kind = springs.where.key, springs.smooth
        kernel = self._system.compiled.functions.setdefault(
            ("pressure", kind),
            NativeFunction(
                "contacts.pressures",
                lambda: tree_kernel("pressure", side.size, 4, springs.pressure),
                key=f"contacts.pressures {kind}",
                inputs=[("p", side.size), ("face", 4)],
                outputs=[("pressure", 1)],
            ),
        )
        out: Array = kernel(given[..., None, :], np.column_stack([mesh.centroids, mesh.areas]))[..., 0]
        return out

    @_operator
    def center_of_pressure(self, q: Vector, u: Vector, group: str, **options: Unpack[Options]) -> Array:
        """The mean of a group's contact points (for meshes, of all triangles), weighted by normal force, in
        ground [m], shape (..., 3); NaN without contact.

        Args:
            q: coordinates, shape (..., nq).
            u: speeds, shape (..., nu).
            group: the name given to `system.add_contact`, or that of one contact.
        """
        _check_name("contacts.center_of_pressure: group", group, "(q, u, group)")
        rows = [k for k, name in enumerate(self) if name == group or name.startswith(f"{group}.")]
        if not rows:
            known = dict.fromkeys([*(name.partition(".")[0] for name in self), *self])
            raise UnknownNameError("group of contacts", group, known)
        found = self._system._run("contact_centers", (q, u), options)[..., rows, :].sum(axis=-2)
        total = found[..., 3:]
        with np.errstate(all="ignore"):
            center: Array = found[..., :3] / np.where(total > 0, total, np.nan)
        return center


def _check_name(what: str, given: object, order: str) -> None:
    """Raise an error if it is not a name, such as an array."""
    if not isinstance(given, str):
        raise ArgumentError(f"{what}: expected a name, got {brief(given)}; arguments go in the order {order}")
