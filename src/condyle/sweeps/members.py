"""Members of a study: values of uncertain or varied quantities, one row each.

A member is a point of the unit cube, whose coordinate i becomes the value at which the distribution of
quantity i has that probability. With correlations, the point is first replaced by one with normal scores z
= L w, where w are the normal scores of the point and L L' is the matrix of correlations (a Gaussian
copula).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array, is_whole
from condyle.errors import DescriptionError, UnknownNameError, check_name, check_names
from condyle.sweeps.member_table import Sample

METHODS = ("sobol", "random", "latin", "halton", "grid", "saltelli")
LEAST = 2.0**-53
"""Smallest distance of probabilities from 0 and 1, which avoids infinite values."""


@runtime_checkable
class Distribution(Protocol):
    """A frozen distribution of scipy.stats, or an object with this method."""

    def ppf(self, q: ArrayLike) -> Array:
        """The values at probabilities q."""
        ...


Range = tuple[float, float]
Correlations = Mapping[tuple[str, str], float]


def members(
    quantities: Mapping[str, Distribution | Range | Sequence[float]],
    n: int | Mapping[str, int],
    *,
    method: str = "sobol",
    seed: int = 0,
    correlations: Correlations | None = None,
    units: Mapping[str, str] | None = None,
) -> Sample:
    """Draw the members of a study. The same arguments give the same members on any machine; for "sobol",
    "random" and "halton" the first ones do not depend on n.

    Args:
        quantities: varied quantities by name: a pair (low, high) is a uniform range, else a frozen
            distribution of scipy.stats, such as `scipy.stats.norm(70, 5)`.
        n: number of members. For "grid" a power of an integer, or {name: points}, and ranges include both
            ends; for "saltelli" a power of two, which gives n (2 + quantities) members.
        method: "sobol" (scrambled, most even; best with a power of two), "halton", "latin" (a hypercube),
            "random", "grid", or "saltelli", whose members give Sobol indices with the fewest runs.
        seed: seed of the random numbers.
        correlations: {(a, b): correlation}, of the normal scores, from -1 to 1; none by default.
        units: units of the quantities, by name.

    Returns:
        A Table over members, with one column per quantity.

    Raises:
        DescriptionError: an invalid method, number, distribution or correlation.
    """
    known = _distributions(quantities)
    names, d = tuple(known), len(known)
    check_name("method", method, METHODS)
    if not is_whole(seed, 0):
        raise DescriptionError(f"members: seed: expected a whole number from 0 on, got {seed!r}")
    factor = _factor(names, correlations)
    if factor is not None and method in ("grid", "saltelli"):
        raise DescriptionError(
            f"members: correlations are not for method={method!r}, whose quantities vary one by one; use 'sobol'"
        )
    if method == "grid":
        values = _grid(known, n)
    else:
        points = _points(method, d, _count(n, method), int(seed))
        if factor is not None:
            points = _correlated(points, factor)
        points = np.clip(points, LEAST, 1 - LEAST)
        values = np.column_stack(
            [_values(name, x, points[:, k]) for k, (name, x) in enumerate(known.items())]
        )
    for name in units or {}:
        if name not in known:
            raise UnknownNameError("quantity", name, names)
    return Sample(
        names,
        values,
        [(units or {}).get(name, "") for name in names],
        method=method,
        seed=int(seed),
        correlated=factor is not None,
    )


def _distributions(quantities: Any) -> dict[str, Any]:
    """Checked quantities: distributions, and ranges as pairs of floats."""
    if not isinstance(quantities, Mapping) or not quantities:
        raise DescriptionError(
            "members: expected what varies by name, such as {'mass': scipy.stats.norm(70, 5), 'slack': "
            f"(0.1, 0.2)}}, got {quantities!r}"
        )
    found: dict[str, Any] = {}
    for name, given in quantities.items():
        if not isinstance(name, str) or not name:
            raise DescriptionError(f"members: a name is text, got {name!r}")
        if isinstance(given, Distribution) and not isinstance(given, type):
            if not hasattr(given, "args") and hasattr(given, "freeze"):
                raise DescriptionError(
                    f"members: {name!r}: the distribution {getattr(given, 'name', given)!r} has no numbers: "
                    "write them in brackets after it, such as scipy.stats.norm(70, 5)"
                )
            found[name] = given
            continue
        try:
            low, high = (float(x) for x in given)  # type: ignore[union-attr]
        except (TypeError, ValueError):
            raise DescriptionError(
                f"members: {name!r}: expected a range (low, high) or a distribution such as "
                f"scipy.stats.norm(70, 5), got {given!r}"
            ) from None
        if not (np.isfinite([low, high]).all() and low < high):
            raise DescriptionError(
                f"members: {name!r}: a range goes from low to high, both finite, got ({low:g}, {high:g})"
            )
        found[name] = (low, high)
    return found


def _count(n: Any, method: str) -> int:
    if not is_whole(n, 1):
        raise DescriptionError(f"members: n: expected a whole number from 1 on, got {n!r}")
    if method == "saltelli" and (n < 2 or n & (n - 1)):
        raise DescriptionError(
            f"members: n = {n}: method='saltelli' needs a power of two, such as {2 ** round(np.log2(max(n, 2)))}"
        )
    return int(n)


def _points(method: str, d: int, n: int, seed: int) -> Array:
    """Points (m, d) of the unit cube."""
    from scipy.stats import qmc

    rng = np.random.default_rng(seed)
    if method == "random":
        return rng.random((n, d))
    if method == "latin":
        return qmc.LatinHypercube(d, seed=rng).random(n)
    if method == "halton":
        return qmc.Halton(d, seed=rng).random(n)
    engine = qmc.Sobol(2 * d if method == "saltelli" else d, seed=rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # n need not be a power of two
        points = engine.random(n)
    if method == "sobol":
        return points
    a, b = points[:, :d], points[:, d:]
    mixed = [np.where(np.arange(d) == k, b, a) for k in range(d)]
    return np.concatenate([a, b, *mixed])


def _grid(known: Mapping[str, Any], n: Any) -> Array:
    """All combinations: ranges with their ends, distributions at the middles of equal probabilities."""
    d = len(known)
    if isinstance(n, Mapping):
        if set(n) != set(known):
            raise DescriptionError(f"members: n of a grid: expected points for {tuple(known)}, got {dict(n)}")
        counts = [_count(n[name], "grid") for name in known]
    else:
        each = round(_count(n, "grid") ** (1 / d))
        if each**d != n:
            raise DescriptionError(
                f"members: n = {n} is no grid of {d} quantities: take {each**d} ({each} points each), or say "
                f"how many of each: n={dict.fromkeys(known, each)}"
            )
        counts = [each] * d
    axes = []
    for (name, x), k in zip(known.items(), counts, strict=True):
        if isinstance(x, tuple) and k == 1:
            axes.append(np.array([0.5 * (x[0] + x[1])]))
        else:
            axes.append(
                np.linspace(x[0], x[1], k)
                if isinstance(x, tuple)
                else _values(name, x, (np.arange(k) + 0.5) / k)
            )
    return np.stack([g.reshape(-1) for g in np.meshgrid(*axes, indexing="ij")], axis=1)


def _values(name: str, x: Any, p: Array) -> Array:
    if isinstance(x, tuple):
        return np.asarray(x[0] + (x[1] - x[0]) * p)
    values = np.asarray(x.ppf(p), dtype=float)
    if values.shape != p.shape or not np.isfinite(values).all():
        raise DescriptionError(
            f"members: {name!r}: its distribution gives {'values that are not finite' if values.shape == p.shape else f'shape {values.shape}'}"
            "; it needs finite numbers for its shape, loc and scale, one of each"
        )
    return values


def _factor(names: Sequence[str], correlations: Correlations | None) -> Array | None:
    """L, where L L' is the matrix of correlations; None without correlations."""
    if not correlations:
        return None
    C = np.eye(len(names))
    for pair, value in correlations.items():
        if not isinstance(pair, Iterable) or isinstance(pair, str) or len(tuple(pair)) != 2:
            raise DescriptionError(
                f"members: correlations: expected {{(a, b): number}}, got {pair!r}: {value!r}"
            )
        check_names("quantity", pair, names)
        i, j = (names.index(name) for name in pair)
        if i == j or not -1 <= value <= 1:
            raise DescriptionError(
                f"members: the correlation of {pair[0]!r} and {pair[1]!r} is {value!r}; expected two "
                "quantities, and a number from -1 to 1"
            )
        C[i, j] = C[j, i] = value
    size, axes = np.linalg.eigh(C)
    if size[0] < -1e-12 * len(names):
        raise DescriptionError(
            f"members: these correlations contradict each other: their matrix has the eigenvalue {size[0]:.3g}, "
            "and none may be negative; take smaller ones"
        )
    # lower triangular, even if the matrix is singular
    root = (axes * np.sqrt(np.maximum(size, 0.0))).T
    return np.asarray(np.linalg.qr(root)[1].T)


def _correlated(points: Array, factor: Array) -> Array:
    from scipy.special import ndtr, ndtri

    return np.asarray(ndtr(ndtri(np.clip(points, LEAST, 1 - LEAST)) @ (factor * _signs(factor)).T))


def _signs(factor: Array) -> Array:
    """Signs that make the diagonal positive, so that the first quantity keeps its points."""
    return np.where(np.diag(factor) < 0, -1.0, 1.0)
