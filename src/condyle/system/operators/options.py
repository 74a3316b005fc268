"""The keyword options that every operator of a System takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from numpy.typing import ArrayLike

from condyle.arrays import Array, Vector


class Options(TypedDict, total=False):
    """The keyword options of every operator.

    - t: time [s], one number or one per state. One state without it is at t = 0; many states need it where a
      system depends on time.
    - z: auxiliary states, an array (..., nz), what has labels, or a mapping from names to values; the rest
      keep their defaults.
    - inputs: values of the Inputs, given in the same ways.
    - discrete: values of the discrete variables, given in the same ways.
    - parameters: values of the Parameters, given in the same ways.
    - locked: names of speeds that keep their value, or a 0/1 array (..., nu), or a mapping from names to
      levels: "position" (q is kept: States have u = 0 there), "velocity" (u is kept: as a name alone),
      "acceleration" or a number (udot is 0, or that). Left out: those of locked coordinates.
    - disabled: names of what does not act: forces, constraints, and bodies whose motion is prescribed. Left
      out: what was added with enabled=False.
    - out: where to write: an array, or a tuple of arrays.
    - threads: how many to use for a batch (default: environment variable CONDYLE_THREADS, or all).
    """

    t: ArrayLike | None
    z: Vector | None
    inputs: Vector | None
    discrete: Vector | None
    parameters: Vector | None
    locked: Iterable[str] | Mapping[str, str | float] | Vector | None
    disabled: Iterable[str] | None
    out: Array | tuple[Array, ...] | None
    threads: int | None


OPTIONS = tuple(Options.__annotations__)
