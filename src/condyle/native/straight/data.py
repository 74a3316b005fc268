"""Data in expressions: symbols for numbers that machine code reads from outside (machine/data.py), one for
each place. They are free symbols of Functions, and stay free where these are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import NativeError
from condyle.native.machine.data import NONE, looked_up

_PLACES: dict[int, int] = {}


@cache
def datum(place: int) -> SX:
    """The symbol of the number at a place, the same for all models."""
    x = ca.SX.sym(f"datum{place}")
    _PLACES[x.element_hash()] = place
    return x


def function(name: str, inputs: Sequence[SX], outputs: Sequence[SX], **options: Any) -> ca.Function:
    """A Function whose expressions may hold data.

    Raises:
        RuntimeError: other symbols are free, as CasADi raises it.
    """
    f = ca.Function(name, list(inputs), list(outputs), {**options, "allow_free": True})
    if unknown := strangers(f):
        raise RuntimeError(f"function {name!r} has free symbols {unknown}; make them inputs")
    return f


def strangers(f: ca.Function) -> list[str]:
    """Free symbols of a function that are not data."""
    return [x.name() for x in _free(f) if x.element_hash() not in _PLACES]


def _free(f: ca.Function) -> list[ca.SX]:
    return [x for column in f.free_sx() for x in ca.vertsplit(ca.vec(column))] if f.has_free() else []


def places_of(f: ca.Function) -> list[int]:
    """Places of the data that a function reads, in the order of its instructions."""
    if unknown := strangers(f):
        raise NativeError(f"function {f.name()!r} has free symbols {unknown}; make them inputs")
    return [_PLACES[x.element_hash()] for x in _free(f)]


_numbers: ContextVar[np.ndarray] = ContextVar("numbers", default=NONE)


@contextmanager
def evaluated_at(numbers: np.ndarray) -> Iterator[None]:
    """Context in which CasADi's evaluator uses these numbers as data."""
    before = _numbers.set(numbers)
    try:
        yield
    finally:
        _numbers.reset(before)


def numbers_at(places: Sequence[int]) -> np.ndarray:
    """Numbers at some places, from the context."""
    return _numbers.get()[list(places)]


def known_numbers(rows: np.ndarray) -> np.ndarray:
    """Rows of a table, with data filled in from the context."""
    return looked_up(_numbers.get(), rows)


def closed(f: ca.Function) -> tuple[ca.Function, list[int]]:
    """The function with the data that it reads as its last argument, and their places: CasADi can evaluate
    and store it. A function without data is returned unchanged."""
    known: tuple[ca.Function, list[int]] | None = f.__dict__.get("_condyle_closed")
    if known is None:
        known, places = (f, []), places_of(f)
        if places:
            x = [ca.SX.sym(f"x{k}", f.sparsity_in(k)) for k in range(f.n_in())]
            data = ca.vertcat(*map(datum, places))
            known = ca.Function(f.name(), [*x, data], f.call(x, True, False)), places
        f.__dict__["_condyle_closed"] = known  # a function never changes
    return known
