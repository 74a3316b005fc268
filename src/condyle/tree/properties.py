"""Frames and mass properties of a body: checked numbers, and expressions of what depends on Parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError, UnknownNameError
from condyle.mobilizers import Mobilizer, motion_symbols
from condyle.spatial import MassProperties, Transform, too_large
from condyle.trace.parameter import Discrete, Expression, Input, Parameter, as_sx, parameters_in
from condyle.tree.body import Body

REPLACED = ("mobilizer", "X_PF", "X_BM", "mass", "com", "inertia")
"""What of a body may be another in a copy."""


def changed(old: Body, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a body that follow from other arguments."""
    what = f"body {old.name!r}"
    for key in changes:
        if key not in REPLACED:
            raise UnknownNameError("argument of a body that may change", key, REPLACED, what)
    out: dict[str, Any] = {}
    mobilizer = changes.get("mobilizer", old.mobilizer)
    if mobilizer is not old.mobilizer:
        if not isinstance(mobilizer, Mobilizer) or (mobilizer.nq, mobilizer.nu, mobilizer.quaternions) != (
            old.mobilizer.nq,
            old.mobilizer.nu,
            old.mobilizer.quaternions,
        ):
            raise DescriptionError(
                f"{what}: its mobilizer must have the coordinates of {old.mobilizer!r}, got {mobilizer!r}"
            )
        out = {
            "mobilizer": mobilizer,
            "motion": None if old.motion is None else replace(old.motion, mobilizer=mobilizer),
        }
    given = {key: value for key, value in changes.items() if key != "mobilizer"}
    if not given:
        return out
    m = old.mass_properties
    usual = {"X_PF": old.X_PF, "X_BM": old.X_BM, "mass": m.mass, "com": m.com, "inertia": m.inertia}
    values: dict[str, Any] = usual | given
    numbers, symbolic = resolved(what, **values, any_inertia=old.any_inertia)
    parts = {key: (f"R_{key[2:]}", f"p_{key[2:]}") if key.startswith("X") else (key,) for key in usual}
    kept = {part for key in usual if key not in given for part in parts[key]}
    return out | numbers | {"symbolic": {k: e for k, e in old.symbolic.items() if k in kept} | symbolic}


def resolved(
    what: str,
    X_PF: object,
    X_BM: object,
    mass: object,
    com: object,
    inertia: object,
    any_inertia: bool = False,
) -> tuple[dict[str, Any], dict[str, Expression]]:
    """Checked numbers, Parameters at their defaults, and the expressions of what depends on Parameters."""
    symbolic: dict[str, Expression] = {}
    given: dict[str, Any] = {
        name: _expression(value, f"{what}: {name}")
        for name, value in (("mass", mass), ("com", com), ("inertia", inertia))
    }
    for frame, value in (("PF", X_PF), ("BM", X_BM)):
        X = Transform.of(_expression(value, f"{what}: X_{frame}"), f"{what}: X_{frame}")
        if isinstance(X.p, np.ndarray) and X.p.ndim > 1:
            raise DescriptionError(f"{what}: X_{frame} is one Transform, got {X!r}")
        given[f"R_{frame}"], given[f"p_{frame}"] = X.R, X.p
    if isinstance(given["inertia"], ca.SX):
        given["inertia"] = _inertia_matrix(given["inertia"], what)
    for name, value in given.items():
        if isinstance(value, ca.SX):
            expression = Expression(value, f"{what}: {name}")
            number = expression.at()
            flat = number[:, 0] if number.shape == (3, 1) else number[0, 0]
            given[name] = number if number.shape == (3, 3) else flat
            for p in expression.parameters:
                if isinstance(p, (Input, Discrete)):
                    raise DescriptionError(
                        f"{what}: {name} contains {p!r}, but {p.kind}s act on forces; "
                        "what describes a body, and may change from call to call, is a "
                        "cd.Parameter"
                    )
            if expression.parameters:
                symbolic[name] = expression
    for name in ("p_PF", "p_BM"):
        if words := too_large(given[name]):
            raise DescriptionError(f"{what}: X_{name[2:]} has a translation of size {words}")
    numbers = {
        "X_PF": Transform(given["R_PF"], given["p_PF"], what=f"{what}: X_PF"),
        "X_BM": Transform(given["R_BM"], given["p_BM"], what=f"{what}: X_BM"),
        "mass_properties": MassProperties.of(
            given["mass"], given["com"], given["inertia"], what=what, possible=not any_inertia
        ),
    }
    return numbers, symbolic


def _expression(value: Any, what: str) -> Any:
    """SX where a Parameter is inside, everything else as it is."""
    try:
        return as_sx(value)
    except (TypeError, OverflowError, RuntimeError) as error:  # the last from CasADi's matrices
        raise DescriptionError(f"{what}: {error}") from None


def _inertia_matrix(I: SX, what: str) -> SX:
    if I.shape == (3, 3):
        return I
    if I.shape == (3, 1):
        return ca.diag(I)
    if I.shape == (6, 1):
        xx, yy, zz, xy, xz, yz = ca.vertsplit(I)
        return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    raise DescriptionError(f"{what}: inertia is 3 numbers, 6 or 3 x 3, got shape {I.shape}")


def mobilizer_parameters(mobilizer: Mobilizer, what: str) -> list[Parameter]:
    """Parameters in the equations of a mobilizer."""
    symbols = motion_symbols(mobilizer)
    return parameters_in(symbols, f"{what}: {mobilizer!r}") if symbols.numel() else []
