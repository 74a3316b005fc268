"""Numbers of a description that become Parameters on request, by names and patterns: "thigh.mass",
"*.tendon_slack_length".

    BODY.mass                       [kg]
    BODY.com_x, _y, _z              mass center [m]
    BODY.inertia_xx, ... _yz        about it [kg m^2]
    BODY.p_PF_x, _y, _z             position of its joint on the parent [m]
    BODY.p_BM_x, _y, _z             and on the body [m]
    ELEMENT.FIELD, .FIELD_x, ...    arguments of forces, muscles and constraints; _0, _1, ... where
                                    there are more than three numbers
    ELEMENT.point_0_x, ...          points of its path [m]
"""

from __future__ import annotations

import contextlib
import fnmatch
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from condyle.errors import DescriptionError, UnknownNameError
from condyle.laws.described import Described
from condyle.spatial import Transform
from condyle.trace.parameter import Expression, Parameter
from condyle.tree.body import Body

AXES = {1: ("",), 3: ("_x", "_y", "_z"), 6: tuple(f"_{a}" for a in ("xx", "yy", "zz", "xy", "xz", "yz"))}

Chosen = Callable[[str, float], Any]
"""A function that returns the Parameter of a name, or the number unchanged."""


def expose(
    bodies: Iterable[Body], laws: Mapping[str, Mapping[str, Any]], wanted: str | Iterable[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Arguments of `System.copy`: changed bodies, and changed laws by kind.

    Args:
        bodies: of the system.
        laws: forces and constraints by kind and name.
        wanted: names and patterns of numbers, or "all".

    Raises:
        UnknownNameError: a pattern that no number has.
    """
    given: Any = ["*"] if wanted == "all" else [wanted] if isinstance(wanted, str) else wanted
    try:
        patterns: list[str] = list(given)
        for p in patterns:
            fnmatch.translate(p)
    except (TypeError, AttributeError):
        raise DescriptionError(
            f"parameters: expected names and patterns such as '*.mass', or 'all', got {wanted!r}"
        ) from None
    seen: dict[str, bool] = {}

    def chosen(name: str, value: float) -> Any:
        fits = math.isfinite(value) and any(fnmatch.fnmatchcase(name, p) for p in patterns)
        seen[name] = fits
        return Parameter(name, value) if fits else value

    changed = {b.name: own for b in bodies if (own := _body(b, chosen))}
    others: dict[str, dict[str, Any]] = {kind: {} for kind in laws}
    for kind, room in laws.items():
        for name, law in room.items():
            if isinstance(law, Described) and (new := _law(name, law, chosen)) is not law:
                others[kind][name] = new
    for p in patterns:
        if p != "*" and not any(fnmatch.fnmatchcase(n, p) for n, fits in seen.items() if fits):
            raise UnknownNameError("number that can be a Parameter", p, tuple(seen))
    return changed, others


def _entries(name: str, values: Any, chosen: Chosen) -> list[Any] | None:
    """The numbers, some replaced by Parameters; None if none was replaced."""
    flat = [float(x) for x in np.ravel(values)]
    suffixes = AXES.get(len(flat)) or tuple(f"_{k}" for k in range(len(flat)))
    out = [chosen(name + s, x) for s, x in zip(suffixes, flat, strict=True)]
    return out if any(isinstance(x, Parameter) for x in out) else None


def _body(body: Body, chosen: Chosen) -> dict[str, Any]:
    m, out, fixed = body.mass_properties, dict[str, Any](), body.symbolic
    I = np.asarray(m.inertia)
    six = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    for key, values in (("mass", m.mass), ("com", m.com), ("inertia", six)):
        if key not in fixed and (found := _entries(f"{body.name}.{key}", values, chosen)):
            out[key] = found[0] if key == "mass" else found
    for key, X in (("X_PF", body.X_PF), ("X_BM", body.X_BM)):
        end = key[2:]
        if {f"p_{end}", f"R_{end}"} & set(fixed):
            continue
        if found := _entries(f"{body.name}.p_{end}", X.p, chosen):
            out[key] = Transform(X.R, found)
    return out


def _law(name: str, law: Any, chosen: Chosen) -> Any:
    new: Any = law
    path: Any = getattr(law, "path", None)
    if hasattr(path, "points"):
        points = [_point(f"{name}.point_{i}", p, chosen) for i, p in enumerate(path.points)]
        if any(a is not b for a, b in zip(points, path.points, strict=True)):
            new = replace(new, path=replace(path, points=points))
    for key, role in law.roles():
        value = getattr(law, key)
        if role.kind != "quantity" or role.plain or value is None or isinstance(value, Expression):
            continue
        if found := _entries(f"{name}.{key}", value, chosen):
            with contextlib.suppress(DescriptionError):  # this number of this law cannot be a Parameter
                new = replace(new, **{key: found if role.shape else found[0]})
    return new


def _point(name: str, point: Any, chosen: Chosen) -> Any:
    """A point of a path with its place `p` changed; its other fields are unchanged."""
    if not point.stays or isinstance(point.p, Expression):
        return point
    found = _entries(name, point.p, chosen)
    return replace(point, p=found) if found else point
