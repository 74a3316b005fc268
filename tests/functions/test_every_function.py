"""What holds for every function: numbers, arrays, symbols and machine code agree; derivatives; being a
value."""

import ast
import dataclasses
import os
import pickle
import sys

import casadi as ca
import numpy as np
import pytest

from condyle.errors import DescriptionError
from condyle.functions import Constant, Function, PiecewiseConstant
from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.staged import build_function
from condyle.trace import Symbol, symbols, trace
from tests.functions.every import ONE, SEVERAL
from tests.process import output

EPS = np.finfo(float).eps
AT = np.concatenate([np.random.default_rng(0).uniform(-4, 14, 60), [-2.0, -1.1, 0.0, 0.9, 1.0, 7.0]])


def points_of(f):
    x = np.array(getattr(f, "x", getattr(f, "knots", (0.0,))))
    return np.concatenate([AT, x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf)])


@pytest.mark.parametrize("f", ONE.values(), ids=ONE)
def test_derivatives_are_those_of_the_value(f):
    """Complex step: f^(k+1)(x) = Im f^(k)(x + i h) / h, exact to rounding for polynomials and sines of a
    complex number."""
    for order in range(3):
        step = f.derivative(AT + 1e-30j, order).imag / 1e-30
        expected = f.derivative(AT, order + 1)
        # The same terms in another order: as many roundings as there are terms, at most 8, each of the
        # largest term.
        np.testing.assert_allclose(step, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("f", ONE.values(), ids=ONE)
def test_symbols_have_the_same_values_and_derivatives(f):
    """On SX, and differentiated by CasADi; at points, beside them and beyond."""
    x = ca.SX.sym("x")
    y = [f(x)]
    for _ in range(3):
        y.append(ca.jacobian(y[-1], x))
    found = np.array(ca.Function("f", [x], [ca.vertcat(*y)]).map(len(points_of(f)))(points_of(f)))
    for order in range(4):
        expected = f.derivative(points_of(f), order)
        # CasADi differentiates Horner's rule by Leibniz' rule: a few terms more than the derivative's own
        # Horner.
        np.testing.assert_allclose(
            found[order], expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max())
        )
        given = ca.Function("f", [x], [f.derivative(x, order)]).map(len(AT))(AT)
        # The same operations; only a number that all pieces share is folded into its neighbors.
        np.testing.assert_allclose(
            np.array(given)[0], f.derivative(AT, order), rtol=0, atol=8 * EPS * np.abs(expected).max()
        )


@pytest.mark.parametrize("f", ONE.values(), ids=ONE)
def test_traced_on_symbols_equals_numbers(f):
    """By look-ups where there are many points. NaN stays NaN; a constant does not look at its argument,
    steps are the last one."""
    traced = trace(f, ["q"], what="law", outputs=())
    values = np.array([traced(x) for x in points_of(f)])
    np.testing.assert_allclose(
        values, f(points_of(f)), rtol=0, atol=8 * EPS * np.abs(values).max()
    )  # as above
    assert (
        np.isnan(traced(np.nan)) == np.isnan(f(np.nan)) == (not isinstance(f, (Constant, PiecewiseConstant)))
    )


def test_machine_code_equals_numbers():
    """All functions in one kernel, one state and many: rounding of fused products only."""
    x = ca.SX.sym("x")
    y = ca.vertcat(*(f(Symbol(x)).sx for f in ONE.values()))
    native = NativeFunction(
        "every",
        lambda: build_function("every", [x], [y]),
        key="every function",
        inputs=[("x", 1)],
        outputs=[("y", len(ONE))],
    )
    at = np.concatenate([points_of(f) for f in ONE.values()] + [[np.nan]])
    batch, single = native(at[:, None]), np.array([native(np.array([v])) for v in at])
    np.testing.assert_array_equal(batch, single)
    for k, f in enumerate(ONE.values()):
        expected = f(at)
        assert np.isnan(batch[-1, k]) == np.isnan(expected[-1])
        # Horner with fused products: each of at most 8 steps rounds differently, relative to the largest
        # value.
        np.testing.assert_allclose(
            batch[:-1, k], expected[:-1], rtol=0, atol=16 * EPS * np.abs(expected[:-1]).max()
        )


@pytest.mark.parametrize("f", ONE.values(), ids=ONE)
def test_kinds_of_argument(f):
    assert isinstance(f(0.3), float)
    assert isinstance(f(1), float)
    assert isinstance(f.derivative(1, 2), float)
    assert f([0.1, 0.2]).shape == (2,)
    assert f(np.zeros((2, 3), dtype=int)).shape == f.derivative(np.zeros((2, 3))).shape == (2, 3)
    assert f(np.float32(0.25)) == f(0.25)
    x = ca.SX.sym("x", 2, 3)
    assert isinstance(f(Symbol(x[0, 0])), Symbol)
    assert isinstance(f.derivative(Symbol(x[0, 0])), Symbol)
    assert f(symbols(x)).shape == f(x).shape == (2, 3)
    assert isinstance(symbols(f(x))[1, 2], Symbol)
    assert f(np.array([1.0, 2.0], dtype=object)).tolist() == [f(1.0), f(2.0)]


@pytest.mark.parametrize("f", [*ONE.values(), *SEVERAL.values()])
def test_is_a_value(f):
    copy = pickle.loads(pickle.dumps(f))
    assert copy == f and hash(copy) == hash(f) and copy is not f
    n = f.variables or 1
    assert copy(*[0.7] * n) == f(*[0.7] * n)
    others = [g for g in [*ONE.values(), *SEVERAL.values()] if g is not f and g == f]
    assert all(isinstance(g, Constant) for g in others)  # the one constant is in both lists
    assert len(repr(f)) < 120 and repr(f).startswith(type(f).__name__)
    for field in dataclasses.fields(f):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(f, field.name, 1.0)
    size = len(pickle.dumps(f))
    f(0.3, 0.4) if f.variables == 2 else f(0.3)
    # what was computed on the way is not carried along
    assert len(pickle.dumps(f)) == size


@pytest.mark.parametrize("f", SEVERAL.values(), ids=SEVERAL)
def test_several_variables(f):
    """Values, mixed derivatives by complex step, symbols, broadcasting."""
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-2, 2, (2, 20))
    h = 1e-30
    for i in range(3):
        for j in range(3):
            at_x = f.derivative((x + 1j * h, y), (i, j)).imag / h
            at_y = f.derivative((x, y + 1j * h), (i, j)).imag / h
            # Few terms of size 10 or less.
            np.testing.assert_allclose(at_x, f.derivative((x, y), (i + 1, j)), rtol=0, atol=1e-13)
            np.testing.assert_allclose(at_y, f.derivative((x, y), (i, j + 1)), rtol=0, atol=1e-13)
    traced = trace(f, ["a", "b"], what="law", outputs=())
    np.testing.assert_allclose([traced(a, b) for a, b in zip(x, y, strict=True)], f(x, y), rtol=1e-14, atol=0)
    assert f(x[:, None], y).shape == (20, 20)
    assert isinstance(f(1.0, 2.0), float)
    a = ca.SX.sym("a", 2)
    assert f(a, 1.0).shape == f(a, Symbol(a[0])).shape == (2, 1)
    assert f(Symbol(a[0]), x).shape == (20,)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: ONE["cubic"](1.0, 2.0), "function of 1 variable(s), got 2"),
        (lambda: SEVERAL["Polynomial"](1.0), "function of 2 variable(s), got 1"),
        (
            lambda: ONE["Sine"].derivative(1.0, -1),
            "order must be 0, 1, 2, ..., or one of these for each variable, got -1",
        ),
        (lambda: ONE["Sine"].derivative(1.0, 0.5), "got 0.5"),
        (lambda: SEVERAL["Linear"].derivative((1.0, 1.0), (1,)), "function of 2 variable(s), got 1"),
    ],
)
def test_bad_arguments(act, words):
    with pytest.raises(DescriptionError) as caught:
        act()
    assert words in str(caught.value)


PROGRAM = """
import hashlib, pickle, sys, warnings
warnings.simplefilter("ignore")
from condyle.trace import trace
from tests.functions.every import ONE
given = pickle.load(open(sys.argv[1], "rb"))
print([given[name] == f for name, f in ONE.items()].count(True))
print([f(0.3).hex() for f in given.values()])
print([hashlib.sha256(trace(f, ["q"], what="law").text.encode()).hexdigest() for f in given.values()])
"""


def test_other_processes_see_the_same(tmp_path):
    """Pickled functions arrive equal; what they trace to, with their tables, is the same text: it keys the
    cache."""
    (tmp_path / "functions").write_bytes(pickle.dumps(ONE))
    path = os.pathsep.join(sys.path)
    runs = [
        output(
            "-c", PROGRAM, tmp_path / "functions", environment={"PYTHONHASHSEED": seed, "PYTHONPATH": path}
        )
        for seed in ("1", "2")
    ]
    count, values, texts = runs[0].splitlines()
    assert int(count) == len(ONE)
    assert values == str([f(0.3).hex() for f in ONE.values()])
    assert runs[0] == runs[1]
    assert len(set(ast.literal_eval(texts))) == len(ONE)


def test_a_function_of_ones_own_says_what_is_missing():
    with pytest.raises(TypeError, match="formula"):
        dataclasses.make_dataclass("Mine", [], bases=(Function,), frozen=True, eq=False, repr=False)()(1.0)
