"""Numbers that describe a mobilizer: plain, a Parameter, or computed from Parameters, whose values then come
with each state.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, vertcat
from condyle.errors import DescriptionError
from condyle.spatial import Transform, too_large
from condyle.trace import DEFAULTED, Symbol, Traced, defaulted_in
from condyle.trace.parameter import FINITE, POSITIVE, Quantity


def parameters_of(x: SX, what: str) -> tuple[Any, ...]:
    """The Parameters that an expression is computed from. Inputs and Discretes are refused: they vary in
    time."""
    known = [DEFAULTED.get(s.element_hash()) for s in ca.symvar(x)]
    for symbol, p in zip(ca.symvar(x), known, strict=True):
        if p is None:
            raise DescriptionError(f"{what}: contains the symbol {symbol}, which is no cd.Parameter")
        if getattr(p, "kind", "") != "parameter":
            raise DescriptionError(
                f"{what}: {p!r} would move the body without a speed; use a cd.Parameter, "
                "or a Custom joint with time=True"
            )
    return tuple(known)


def constant(value: Any, what: str, positive: bool = False) -> Any:
    """The number as a float, or what is computed from Parameters as it is; checked, Parameters at their
    defaults."""
    number = math.nan
    if isinstance(value, Symbol):
        parameters = parameters_of(value.sx, what)
        f = ca.Function("f", [p.sx for p in parameters], [value.sx])
        number = float(f.call([p.default for p in parameters])[0])
    else:
        # the last from CasADi's matrices
        with contextlib.suppress(TypeError, ValueError, OverflowError, RuntimeError):
            value = number = float(value)
    at = f" = {number:g} at the defaults" if isinstance(value, Symbol) else ""
    (POSITIVE if positive else FINITE).check(number, what, value, at)
    if words := too_large(np.array(number)):
        raise DescriptionError(f"{what} is of size {words}")
    return value


def constants(values: Any, n: int, what: str, positive: bool = False) -> tuple[Any, ...]:
    """n such numbers."""
    try:
        items = list(values)
    except TypeError:
        items = []
    if isinstance(values, (str, bytes)) or len(items) != n:
        raise DescriptionError(f"{what}: expected {Quantity(shape=(n,)).allowed}, got {values!r}")
    return tuple(constant(v, f"{what}[{i}]", positive) for i, v in enumerate(items))


def names_of(given: Any, what: str, expected: str = "one or more different names") -> tuple[str, ...]:
    """Different names, from one or several."""
    try:
        names = (given,) if isinstance(given, str) else tuple(given)
    except TypeError:
        names = ()
    if not names or not all(isinstance(n, str) and n for n in names) or len(set(names)) != len(names):
        raise DescriptionError(f"{what} must be {expected}, got {names or given!r}")
    return names


def sx(value: Any) -> SX:
    """A constant, or a column of them, as an expression."""
    if isinstance(value, tuple):
        return ca.vertcat(*map(sx, value))
    return value.sx if isinstance(value, Symbol) else ca.SX(value)


def depends(value: Any) -> bool:
    """Whether a constant, or one of a tuple, is computed from Parameters."""
    return isinstance(value, Symbol) or (isinstance(value, tuple) and any(depends(v) for v in value))


def valued(value: Any, values: Mapping[str, float]) -> Any:
    """The same constant, or tuple of them, with numbers in place of what is computed from Parameters."""
    if isinstance(value, tuple):
        return tuple(valued(v, values) for v in value)
    if not isinstance(value, Symbol):
        return value
    parameters = defaulted_in(value.sx)
    f = ca.Function("f", [p.sx for p in parameters], [value.sx])
    return float(f.call([values.get(p.name, p.default) for p in parameters])[0])  # type: ignore[attr-defined]


def conditions_on(value: Any, positive: bool = False) -> SX:
    """What `constant` asks of values computed from Parameters, a column: not zero where they are finite, and
    positive if said."""
    if isinstance(value, tuple):
        return vertcat(conditions_on(v, positive) for v in value)
    if not isinstance(value, Symbol):
        return ca.SX(0, 1)
    finite = ca.fabs(value.sx) < ca.inf
    return ca.logic_and(finite, value.sx > 0) if positive else finite


def text(value: Any) -> str:
    """Text that determines a constant or a traced law: all digits of numbers, names and defaults of
    Parameters, tables, a digest of all numbers of an array."""
    if isinstance(value, Symbol) and hasattr(value, "default"):
        return repr(value)
    if isinstance(value, Symbol):
        parameters = defaulted_in(value.sx)
        return f"{ca.Function('f', [p.sx for p in parameters], [value.sx]).serialize()} of {text(parameters)}"
    if isinstance(value, Traced):
        return f"Traced({value.text}, {text(value.outside)})"
    if isinstance(value, Transform):
        return f"Transform({text(value.R)}, {text(value.p)})"
    if isinstance(value, np.ndarray) and value.dtype != object:  # its repr leaves numbers out
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array({value.shape}, {value.dtype.str}, {digest})"
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str):
        return f"({', '.join(map(text, value))})"
    return repr(value)


# ---- units -----------------------------------------------------------------------------------------------
#
# Units of coordinates and speeds, read from the equations of a mobilizer.
#
#     V_FM = H_FM u,   qdot = N(q) u                                              base.py (2), (4)
#
# A speed whose angular column of H is zero everywhere, so that it only shifts, is in m/s, every other one in
# rad/s. A coordinate is in meters if such speeds alone change it. Zeros are structural: what looks like zero at
# some places only is an angle.


QUATERNION = ("qw", "qx", "qy", "qz")
"""Usual names of the coordinates of a unit quaternion (w, x, y, z). Which coordinates are one, mobilizers
state."""


LENGTHS = ("m", "cm", "mm")
"""Units of coordinates that grow with the bodies."""


def shifting(H_w: SX, H_v: SX) -> list[bool]:
    """Which speeds only shift, shape (nu,): no angular velocity, some linear one."""
    H_w, H_v = ca.sparsify(H_w), ca.sparsify(H_v)
    return [not H_w[:, j].nnz() and H_v[:, j].nnz() > 0 for j in range(H_w.shape[1])]


def coordinate_units(H_w: SX, H_v: SX, N: SX, quaternions: Sequence[slice]) -> tuple[str, ...]:
    """ "m", "rad", and "1" for quaternions, shape (nq,)."""
    only, N = shifting(H_w, H_v), ca.sparsify(N)
    turned = {i for part in quaternions for i in range(part.start, part.stop)}
    out = []
    for i in range(N.shape[0]):
        driving = [only[j] for j in range(N.shape[1]) if N[i, j].nnz()]
        out.append("1" if i in turned else "m" if driving and all(driving) else "rad")
    return tuple(out)


def speed_units(H_w: SX, H_v: SX, N: SX, units: Sequence[str]) -> tuple[str, ...]:
    """That of its coordinate per second where a speed is the rate of one, else "m/s" or "rad/s", shape
    (nu,)."""
    N = ca.sparsify(N)
    out = ["m/s" if shifts else "rad/s" for shifts in shifting(H_w, H_v)]
    for j in range(len(out)):
        rows = N[:, j].sparsity().row()
        if len(rows) == 1 and N[rows[0], :].nnz() == 1 and N[rows[0], j].is_one():
            out[j] = f"{units[rows[0]]}/s"
    return tuple(out)


def given_units(units: Any, names: Sequence[str], what: str) -> tuple[str, ...]:
    """The units that a user states, one for each coordinate; () if none."""
    stated = (units,) if isinstance(units, str) else tuple(units or ())
    if stated and (len(stated) != len(names) or not all(isinstance(unit, str) for unit in stated)):
        raise DescriptionError(
            f"{what}: units: expected {len(names)}, one for each coordinate, such as "
            f"'rad', 'deg', 'm' or 'mm', got {units!r}"
        )
    return stated
