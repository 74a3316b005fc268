"""Attachments: what is fixed to bodies and changes no dynamics, markers and shapes to draw."""

from __future__ import annotations

from typing import Any

from condyle.arguments import with_call_hints
from condyle.arrays import Vector
from condyle.errors import DescriptionError, UnknownNameError, warn
from condyle.shapes import Shape
from condyle.spatial import Transform
from condyle.system.parts import Parts
from condyle.trace import Numbers
from condyle.tree import attached
from condyle.tree.attached import Geometry, Marker
from condyle.tree.body import Body

FAR = 30.0
"""[m] No marker is so far from its body: such stations are in millimeters."""


class Attachments(Parts):
    """Markers and geometry of a System."""

    @with_call_hints({"location": "it is station=", "parent": "it is body="}, skip=1)
    def add_marker(self, name: str, body: Body | str, station: Vector, fixed: bool = False) -> Marker:
        """Add a named point of a body, which cameras see. It changes no dynamics: a system in use takes it
        too.

        Args:
            name: unique among markers.
            body: a body of this system, or its name; ground too.
            station: its place in the body's frame [m], shape (3,).
            fixed: its place on the body is known well: what fits models to markers leaves it.
        """
        if not isinstance(name, str) or not name.strip():
            raise DescriptionError(f"a marker's name is a non-empty string, got {name!r}")
        if name in self._markers:
            raise DescriptionError(f"marker {name!r} exists already; names are unique")
        made = self._markers[name] = attached.marker(name, self._on(f"marker {name!r}", body), station, fixed)
        if made.body != "ground" and (far := max(map(abs, made.station))) > FAR:
            warn(
                f"marker {name!r} is {far:g} m away from {made.body!r}; is its station in meters? "
                "50 mm are 0.05"
            )
        return self._markers[name]

    @with_call_hints(
        {"color": "it is color=", "X_FS": "it is X_BS=", "transparency": "it is opacity="}, skip=1
    )
    def add_geometry(
        self,
        body: Body | str,
        shape: Shape,
        X_BS: Transform | Numbers | None = None,
        color: Any = None,
        opacity: float = 1.0,
        name: str | None = None,
    ) -> Geometry:
        """Draw a shape on a body. It changes no dynamics: a system in use takes it too.

        Args:
            body: a body of this system, or its name; ground too.
            shape: such as `cd.shapes.Sphere(0.02)`.
            X_BS: frame S of the shape on the body: a Transform, a 3-vector (translation) or None.
            color: a name as "teal", text as "#00897b" or three numbers from 0 to 1; by default the body's.
            opacity: from 0, invisible, to 1.
            name: unique among geometry; by default the body's name, with a number where there are several.
        """
        on = self._on("geometry", body)
        if name is None:
            count = 1
            while (name := on if count == 1 else f"{on} {count}") in self._geometry:
                count += 1
        if not isinstance(name, str) or not name.strip():
            raise DescriptionError(f"a geometry's name is a non-empty string, got {name!r}")
        if name in self._geometry:
            raise DescriptionError(f"geometry {name!r} exists already; names are unique")
        self._geometry[name] = attached.geometry(name, on, shape, X_BS, color, opacity)
        return self._geometry[name]

    def _on(self, what: str, body: Body | str) -> str:
        try:
            return self._tree.body(body).name
        except UnknownNameError as error:
            error.within(what)
            raise

    @property
    def markers(self) -> tuple[str, ...]:
        """Names of the markers."""
        return tuple(self._markers)

    @property
    def geometry(self) -> tuple[Geometry, ...]:
        """What is drawn on bodies: name, body, shape, X_BS, color, opacity."""
        return tuple(self._geometry.values())

    def marker(self, name: str) -> Marker:
        """The marker of that name: its body, its station [m] and whether it is fixed."""
        found = self._markers.get(name) if isinstance(name, str) else None
        if found is None:
            raise UnknownNameError("marker", name, self.markers)
        return found
