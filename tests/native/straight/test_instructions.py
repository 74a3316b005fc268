"""Instructions read at once from CasADi's file of a function, as CasADi tells them one by one."""

from __future__ import annotations

import struct
from unittest import mock

import casadi as ca
import numpy as np
import pytest

from condyle.native.straight import instructions
from condyle.native.straight.instructions import listed
from tests.native.straight.graphs import EXACT, LOGIC, OTHER, random_graph


def rows(read) -> list[tuple]:
    """Instructions; constants by their bits."""
    return [
        (op, result, a, b, *((np.float64(x).tobytes(),) if op == ca.OP_CONST else ()))
        for op, result, a, b, x in zip(*read, strict=True)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_read_at_once_as_one_by_one(seed):
    rng = np.random.default_rng(seed)
    for size in (*range(3, 60), 1000):
        f = random_graph(rng, (EXACT, LOGIC, OTHER), size)
        n = f.n_instructions()
        at_once = instructions._as_serialized(f, n)
        assert at_once is not None  # else CasADi's files have changed: correct, and three times as slow
        assert rows(at_once) == rows(instructions._one_by_one(f, range(n)))


def test_a_file_that_is_right_at_both_ends_only_is_not_read():
    x = ca.SX.sym("x", 9)
    f = ca.Function("f", [x], [x[1:] * x[:-1]])
    n = f.n_instructions()
    op, result, a, b = (column[n // 2] for column in instructions._one_by_one(f, range(n))[:4])
    letters = lambda code: "".join(chr(97 + (x >> s & 15)) for x in struct.pack("<4i", *code) for s in (0, 4))
    here, other = letters((op, result, a, b)), letters((op, result + 1, a, b))
    assert f.serialize().count(here) == 1
    file = mock.Mock(wraps=f, serialize=lambda: f.serialize().replace(here, other))
    assert instructions._as_serialized(file, n) is None


def test_another_file_is_read_one_by_one(monkeypatch):
    x = ca.SX.sym("x", 3)
    f = ca.Function("f", [x], [ca.sumsqr(ca.sin(x)) + ca.cos(x) * x - 3.5 * x])
    monkeypatch.setattr(instructions, "_as_serialized", lambda f, n: None)
    assert rows(listed(f)) == rows(instructions._one_by_one(f, range(f.n_instructions())))
