"""User functions become expressions: what they may do, what they may not, and what the refusal says."""

import functools
import math
import pickle
import threading

import casadi as ca
import mpmath
import numpy as np
import pytest
import scipy.interpolate
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from condyle.errors import TraceError
from condyle.trace import Symbol, Traced, symbols, to_sx, trace, where
from condyle.trace.symbol import BINARY, UNARY
from tests.process import output

KNOTS, HEIGHTS = [-1.0, 0.0, 0.5, 1.0, 2.0], [0.0, 1.0, 0.5, 2.0, 1.0]


def traced(function, *names, **options):
    return trace(function, names or ("knee",), what="angle 1", **options)


def refusal(function, *names, **options):
    with pytest.raises(TraceError) as caught:
        traced(function, *names, **options)
    return str(caught.value)


# ---- what works: each equals the same function of floats ----


def rotation_about_z(q):
    R = np.zeros((3, 3), dtype=object)
    R[0, 0] = R[1, 1] = np.cos(q)
    R[1, 0] = np.sin(q)
    R[0, 1] = -R[1, 0]
    R[2, 2] = 1
    return R


def running_sum(q):
    total = np.zeros(2, dtype=object)
    total += q
    return total


FUNCTIONS = {
    "polynomial": lambda q: 1 + 2 * q - q**3 / 4,
    "reflected": lambda q: 2 - 3 / (2 + q) + 2**q + 7 % (2 + q) + 7 // (2 + q),
    "numpy scalars": lambda q: np.float64(2) * q + np.int64(3) - np.float32(0.5) / (q + 3),
    "builtins": lambda q: (
        abs(q) + pow(q, 2) + sum([q, q, 1]) + round(10 * q) + math.floor(3 * q) - math.ceil(q)
    ),
    "divmod": lambda q: divmod(q, 0.3) + divmod(2.5, q + 2),
    "np.divmod of an array": lambda q: np.divmod(np.array([1.0, -2.0]), q + 2),
    "logic": lambda q: 1.0 * (((q > 0) & (q < 0.5)) | ~(q >= -0.5) ^ (q != 0)),
    "where": lambda q: np.where(q > 0, q**2, -q),
    "where of arrays": lambda q: np.where(q > 0, np.array([q, 1.0, 2.0]), 0),
    "select": lambda q: np.select([q < -0.5, q < 0.5], [q, q * q], 3.0),
    "clip": lambda q: np.clip(q, -0.4, 0.4) + np.clip(q, None, 0.1) + np.clip(q, a_min=0.2, a_max=None),
    "sinc": lambda q: np.sinc(q),
    "polyval": lambda q: np.polyval([1.0, 2.0, 3.0], q),
    "times an array": lambda q: np.array([1.0, 2.0]) * q + q * np.ones(2),
    "ufunc of an array": lambda q: np.sin(np.array([q, 2 * q])) + np.sqrt(np.array([q + 2, q + 3])),
    "binary ufunc of arrays": lambda q: (
        np.arctan2(np.array([q, 1.0]), q + 2) + np.hypot(np.array([q, q]), 2.0)
    ),
    "dot, cross, @": lambda q: np.dot([q, 1], [q, 2]) + np.cross([q, 1, 2], [1, q, q]) @ np.array([1, 2, q]),
    "stack": lambda q: np.concatenate([np.stack([q, q * q]), [1.0, q]]),
    "norm": lambda q: np.linalg.norm(np.array([q, 1.0, 2.0])) + np.linalg.norm([[q, 1.0], [2.0, q]], axis=0),
    "sums": lambda q: np.sum([q, 1]) + np.mean([q, 2]) + np.prod([q, 2]) + np.cumsum([q, q]),
    "matrix": lambda q: (
        np.outer([q, 1], [q, 2]) + np.eye(2) * q + np.diag([q, q]) + np.einsum("i,j", [q, 1], [1, q])
    ),
    "object matrix": rotation_about_z,
    "in place": running_sum,
    "nested lists": lambda q: [[q, 1], (2, q)],
    "vectorize": lambda q: np.vectorize(lambda x: x * x + 1)(q),
    "frompyfunc": lambda q: np.frompyfunc(lambda x, y: x * y, 2, 1)(q, [1.0, 2.0]),
    "outer": lambda q: np.multiply.outer(q, [1.0, 2.0]),
    "scipy.special": lambda q: scipy.special.erf(q) + scipy.special.expit(q),
    "partial": functools.partial(lambda a, q: a * q, 3.0),
    "a ufunc itself": np.tanh,
    "constant": lambda q: 1.5,
    "constant array": lambda q: [1, np.float64(2), np.array(3.0), np.int64(4)],
    "empty": lambda q: [],
    "formatting": lambda q: float(len(f"{q:.3f} {q}")) * 0 + q,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_floats(name):
    f = FUNCTIONS[name]
    g = traced(f)
    for q in (-0.9371, -0.25, 0.125, 0.7312):
        expected = np.array(f(np.float64(q)), dtype=float)
        assert g.shape == expected.shape
        # Powers and square roots may round differently, by an ulp in each of a few operations.
        np.testing.assert_allclose(g(q), expected, rtol=1e-14, atol=1e-14)


POINTS = [-2.5, -1.7, -0.5, -0.3, 0.0, 0.2, 0.5, 0.9, 1.5, 2.5]
DOMAINS = {
    "log": (0, 9),
    "log2": (0, 9),
    "log10": (0, 9),
    "sqrt": (0, 9),
    "log1p": (-1, 9),
    "arcsin": (-1, 1),
    "arccos": (-1, 1),
    "arctanh": (-1, 1),
    "arccosh": (1, 9),
    "reciprocal": (0, 9),
}


@pytest.mark.parametrize("name", UNARY)
def test_each_unary_ufunc(name):
    ufunc = getattr(np, name, None) or getattr(scipy.special, name)
    low, high = DOMAINS.get(name, (-9, 9))
    kind = bool if name in ("logical_not", "invert") else float
    s = ca.SX.sym("s")
    g = ca.Function("g", [s], [ufunc(Symbol(s)).sx])
    in_array = ca.Function("g", [s], [ufunc(np.array([Symbol(s)]))[0].sx]) if name in OF_OBJECT_ARRAYS else g
    for x in (x for x in POINTS if low < x < high):
        # Both are within an ulp or two of the truth; log2, cbrt and expit are composed of two operations.
        np.testing.assert_allclose(float(g(kind(x))), float(ufunc(kind(x))), rtol=2e-15, atol=0)
        assert float(in_array(kind(x))) == float(g(kind(x)))


# NumPy asks entries of object arrays for a method of the ufunc's name. It does not for these, nor does
# scipy.special.
OF_OBJECT_ARRAYS = set(UNARY) - {"sign", "isnan", "isfinite", "isinf", "logical_not", "erf", "expit"}


@pytest.mark.parametrize("name", BINARY)
def test_each_binary_ufunc(name):
    ufunc = getattr(np, name)
    kind = bool if name.startswith("bitwise") else float
    s, t = ca.SX.sym("s"), ca.SX.sym("t")
    g = ca.Function("g", [s, t], [ufunc(Symbol(s), Symbol(t)).sx])
    for x in POINTS:
        for y in (-1.3, -0.1, 0.1, 0.5, 2.0):
            if "power" in name and x <= 0 and y != 2.0:
                continue
            # Both are within an ulp or two of the truth; what needs one number exactly, such as //, agrees
            # exactly.
            got, expected = float(g(kind(x), kind(y))), float(ufunc(kind(x), kind(y)))
            np.testing.assert_allclose(got, expected, rtol=2e-15, atol=1e-16)


def test_modulo_is_pythons():
    """fmod's sign follows x, Python's follows y; 1 // 0.1 is 9 since 0.1 is a little more than a tenth."""
    g = traced(lambda x, y: [x % y, x // y, np.fmod(x, y)], "x", "y", ranges=[(-9, 9), (1, 3)])
    for x, y in ((-0.5, 0.3), (0.5, -0.3), (1.0, 0.1), (-1.0, 0.1), (7.0, 7.0)):
        np.testing.assert_array_equal(g(x, y), [x % y, x // y, math.fmod(x, y)])


def test_where_for_numbers_and_arrays():
    assert where(True, 1.0, 2.0) == 1.0
    np.testing.assert_array_equal(where(np.array([1, -1]) > 0, [1.0, 2.0], 3.0), [1.0, 3.0])
    mixed = where(np.array([True, False]), symbols(ca.SX.sym("a", 2)), 0.0)
    assert ca.is_equal(to_sx(mixed), ca.vertcat(mixed[0].sx, 0))
    assert np.sqrt(mixed).shape == (2,)
    np.testing.assert_array_equal(where(np.array([True, False], dtype=object), 1.0, 2.0), [1.0, 2.0])


def test_several_arguments_in_order():
    g = traced(lambda a, b, c: [a - b, c], "a", "b", "c")
    assert g.names == ("a", "b", "c")
    np.testing.assert_array_equal(g(1.0, 2.0, 3.0), [-1.0, 3.0])


@pytest.mark.parametrize(
    ("constant", "value"), [(None, 0.0), (3, 3.0), (np.float64(0.5), 0.5), (np.array(2.0), 2.0)]
)
def test_constants(constant, value):
    g = traced(constant, outputs=())
    assert g.shape == ()
    assert g(0.3) == value
    assert trace(constant, (), what="a constant")() == value


def test_function_is_one_dense_column_in_row_major_order():
    f = traced(lambda q: [[q, 0, 1], [2 * q, 0, 3]]).function
    assert f.is_a("SXFunction")
    assert f.size_out(0) == (6, 1)
    assert f.sparsity_out(0).is_dense()
    np.testing.assert_array_equal(np.array(f(2.0)).ravel(), [2, 0, 1, 4, 0, 3])


def test_repeated_work_is_shared():
    twice = traced(lambda q: np.sin(q) * 2 + np.sin(q) * 3)
    sines = [
        k for k in range(twice.function.n_instructions()) if twice.function.instruction_id(k) == ca.OP_SIN
    ]
    assert len(sines) == 1


def test_flatten_and_source():
    def pose(q):
        return np.eye(3) * q, [q, 0, 0]

    g = traced(pose, flatten=lambda X: np.concatenate([np.ravel(X[0]), X[1]]), outputs=(12,))
    np.testing.assert_array_equal(g(2.0), [2, 0, 0, 0, 2, 0, 0, 0, 2, 2, 0, 0])
    assert "function test_flatten_and_source.pose" in refusal(lambda q: float(q), source=pose)


def test_results_may_hold_sx():
    """Our own functions of SX may be called inside: their results count too."""

    def f(q):
        return (ca.vertcat(q.sx, 2 * q.sx), [q.sx, 1.0]) if isinstance(q, Symbol) else ([q, 2 * q], [q, 1.0])

    np.testing.assert_array_equal(traced(f)(3.0), [[3, 6], [3, 1]])


def test_symbols_and_sx_round_trip():
    A = ca.SX.sym("a", 2, 3)
    assert symbols(A).shape == (2, 3)
    assert symbols(A[:, 0]).shape == (2,)
    assert ca.is_equal(to_sx(symbols(A)), A)
    assert to_sx(2.0).shape == (1, 1)
    assert to_sx([1.0, symbols(A)[0, 0]]).shape == (2, 1)


# ---- what does not: the message names the function, shows the line and gives the remedy ----


def uses_if(q):
    if q > 0:
        return q
    return -q


def uses_while(q):
    while q < 3:
        q = q + 1
    return q


def stores(q):
    R = np.zeros(3)
    R[0] = q
    return R


def adds_in_place(q):
    total = np.zeros(3)
    total += q
    return total


def indexes(q):
    return [1.0, 2.0][int(q)]


def over_two_lines(q):
    return 1 + math.sin(
        q  # on a line of its own
    )


spline = scipy.interpolate.CubicSpline(KNOTS, HEIGHTS)
b_spline = scipy.interpolate.make_interp_spline(KNOTS, HEIGHTS, k=3)
linear = scipy.interpolate.interp1d(KNOTS, HEIGHTS)
fitted = scipy.interpolate.UnivariateSpline(KNOTS, HEIGHTS)
monotone = scipy.interpolate.PchipInterpolator(KNOTS, HEIGHTS)
grid = scipy.interpolate.RegularGridInterpolator((KNOTS,), HEIGHTS)

REFUSALS = [
    (lambda q: math.sin(q), "`math.sin(q)`. Use np.sin instead of math.sin"),
    (lambda q: 1 + math.atan2(q, 1), "`math.atan2(q, 1)`. Use np.arctan2 instead of math.atan2"),
    (over_two_lines, "use np.sin, np.sqrt, ... instead of the math module"),
    (math.cos, "function cos makes a float of a symbol. Use np.cos instead of math.cos"),
    (uses_if, "`q > 0`. Use np.where(condition, a, b) or cd.where instead of if"),
    (uses_while, "`q < 3`. Use np.where(condition, a, b) or cd.where instead of if, while"),
    (lambda q: q > 0 and 1.0, "cd.where instead of if, while, and"),
    (lambda q: 1.0 if q == 0 else np.sin(q) / q, "`q == 0`. Use np.where"),
    (lambda q: max(q, 0.0), "`max(q, 0.0)`. Use np.maximum(a, b) instead of max(a, b)"),
    (lambda q: min(q, 0.0), "`min(q, 0.0)`. Use np.minimum(a, b) instead of min(a, b)"),
    (lambda q: q in (1.0, 2.0), "asks whether a symbol is true"),
    (lambda q: np.maximum(np.array([q, q]), 0), "compare entries, not whole arrays of symbols"),
    (lambda q: np.array([q, q]) > 0, "compare entries, not whole arrays of symbols"),
    (lambda q: float(q), "makes a float of a symbol at "),
    (lambda q: float(q), "`float(q)`. Leave out float()"),
    (lambda q: int(q), "`int(q)`. Leave out int(), or use np.floor"),
    (indexes, "a table indexed by a symbol becomes cd.Spline(x, y)"),
    (lambda q: complex(q), "makes a complex number of a symbol"),
    (lambda q: round(q, 2), "rounds a symbol to decimal digits"),
    (lambda q: np.asarray(q, dtype=float), "Leave out float() and dtype=float"),
    (lambda q: np.array([q, 1.0]).astype(float), "Leave out float() and dtype=float"),
    (stores, "`R[0]`. An array of floats cannot hold symbols: build it from its entries"),
    (adds_in_place, "`total += q`. An array of floats cannot hold symbols"),
    (lambda q: spline(q), "`spline(q)`. Use cd.Spline(x, y) instead of a SciPy spline"),
    (lambda q: 2 * spline(q, 1), "`spline(q, 1)`. Use cd.Spline(x, y) instead of a SciPy spline"),
    (lambda q: b_spline(q), "Use cd.Spline(x, y) instead of a SciPy spline"),
    (lambda q: linear(q), "Use cd.Spline(x, y) instead of a SciPy spline"),
    (lambda q: fitted(q), "Use cd.Spline(x, y) instead of a SciPy spline"),
    (lambda q: monotone(q), "Use cd.Spline(x, y) instead of a SciPy spline"),
    (lambda q: grid([q]), "Use cd.Spline(x, y) instead of a SciPy spline"),
    (spline, "function CubicSpline makes a float of a symbol. Use cd.Spline(x, y)"),
    (lambda q: np.interp(q, KNOTS, HEIGHTS), "gives a symbol to np.interp"),
    (lambda q: np.interp(q, KNOTS, HEIGHTS), "Use cd.Spline(x, y)"),
    (lambda q: np.sqrt(np.array([q, 1.0])), "Apply the function to the entries"),
    (lambda q: np.gcd(q, 1), "gives a symbol to gcd, which has no symbolic form"),
    (lambda q: scipy.special.jv(0, q), "gives a symbol to jv, which has no symbolic form"),
    (lambda q: scipy.linalg.expm(np.array([[q, 1], [1, q]])), "SciPy cannot calculate with symbols"),
    (lambda q: np.linalg.solve(np.array([[q, 1], [0, 1]]), [1, 2]), "gives symbols to numpy.linalg"),
]


@pytest.mark.filterwarnings("ignore:Calling expm:DeprecationWarning")  # of objects, from SciPy 1.18 on
@pytest.mark.parametrize(("function", "message"), REFUSALS, ids=range(len(REFUSALS)))
def test_refusal_gives_the_remedy(function, message):
    text = refusal(function)
    assert message in text
    assert text.startswith("angle 1: function ")


def test_refusal_shows_the_users_function_and_line():
    text = refusal(uses_if)
    line = uses_if.__code__.co_firstlineno
    assert f"function uses_if ({__file__}:{line})" in text
    assert f" at {__file__}:{line + 1}: `q > 0`" in text


def test_refusal_points_into_the_function_that_did_it():
    def outer(q):
        return 1 + uses_if(q)

    text = refusal(outer)
    assert f"outer ({__file__}:{outer.__code__.co_firstlineno})" in text
    assert f" at {__file__}:{uses_if.__code__.co_firstlineno + 1}: `q > 0`" in text


def test_refusal_without_source():
    names = {"math": math}
    exec("def f(q):\n    return math.sin(q)", names)
    text = refusal(names["f"])
    assert "function f (<string>:1)" in text
    assert "at <string>:2" in text
    assert "np.sin" in text


def test_refusal_is_not_lost_when_the_function_catches_it():
    def wrapped(q):
        try:
            return math.sin(q)
        except TypeError as error:
            raise ValueError("spline failed") from error

    def swallowed(q):
        try:
            return math.sin(q)
        except TypeError:
            return 0.0

    assert "Use np.sin instead of math.sin" in refusal(wrapped)
    assert "Use np.sin instead of math.sin" in refusal(swallowed)


def test_function_that_handles_the_refusal_well_is_accepted():
    def either(q):
        try:
            return math.sin(q)
        except TypeError:
            return np.sin(q)

    assert traced(either)(0.5) == math.sin(0.5)


def test_symbol_outside_a_trace():
    traced(np.sin)
    with pytest.raises(TraceError, match=r"^user code: it makes a float of a symbol at .*Leave out float"):
        float(Symbol(ca.SX.sym("s")))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: 1.0, "takes (), but is called with 1 value(s), (knee)"),
        (lambda a, b: a, "missing a required argument: 'b'"),
        (
            lambda q: None,
            "returned None (NoneType); expected a real number, or an array or nested list of them; is a ",
        ),
        (lambda q: "one", "returned 'one' (str)"),
        (lambda q: [q, 1j], "returned 1j (complex) at [1] of its result"),
        (lambda q: {"x": q}, "(dict)"),
        (lambda q: [1, [q, 2]], "(list) at [1] of its result"),
        (lambda q: [np.ones((2, 2)), np.ones((2, 3))], "returned rows of unequal shapes"),
    ],
)
def test_wrong_arguments_and_results(function, message):
    assert message in refusal(function)


def test_wrong_shape():
    assert "returned an array of shape (2,); expected one real number" in refusal(
        lambda q: [q, q], outputs=()
    )
    assert "returned an array of shape (); expected real numbers in an array of shape (3, 3)" in refusal(
        lambda q: q, outputs=(3, 3)
    )


def test_not_a_function():
    assert "expected a function of (knee), a number or None, got 'x'" in refusal("x")


def test_exceptions_of_the_function_pass_with_a_note():
    def fails(q):
        raise KeyError("thigh")

    with pytest.raises(KeyError, match="thigh") as caught:
        traced(fails)
    assert any("fails" in note and "angle 1" in note and "symbols" in note for note in caught.value.__notes__)

    with pytest.raises(TypeError, match="not subscriptable") as caught:
        traced(lambda q: q[0])
    assert any("one scalar for each argument" in note for note in caught.value.__notes__)


def test_exception_with_floats_only_says_where():
    with pytest.raises(AttributeError) as caught:
        traced(lambda q: q.square())
    assert any("with [0.162" in note for note in caught.value.__notes__)


# ---- comparison with floats ----


class Counter:
    def __init__(self):
        self.calls = 0
        self.seen = []

    def __call__(self, q):
        self.calls += 1
        return q + self.calls

    def remember(self, q):
        self.seen.append(q)
        return sum(self.seen)


def test_random_numbers_and_state_are_found():
    rng = np.random.default_rng(0)
    text = refusal(lambda q: q * rng.uniform())
    assert "it must not use random numbers" in text
    assert "knee = " in text
    assert "gives another value each time" in refusal(Counter())
    assert "function Counter (" in refusal(Counter())
    assert "it must not keep values between calls" in refusal(Counter().remember)


def test_symbol_of_an_earlier_trace_is_found():
    kept = []

    def first(q):
        kept.append(q)
        return q

    traced(first)
    assert "uses a symbol of an earlier call" in refusal(lambda q: q + kept[0])


def test_branch_on_type_is_found():
    text = refusal(lambda q: 2 * q if isinstance(q, float) else q)
    assert "with floats but" in text
    assert "branch on the type of its arguments" in text
    assert "returned shape () with symbols but (2,) with floats" in refusal(
        lambda q: [q, q] if isinstance(q, float) else q
    )


def test_values_in_the_mismatch():
    text = refusal(lambda q: 1.25 if isinstance(q, float) else 2.5)
    assert "gives 1.25 with floats but 2.5 with symbols" in text


def test_not_a_number():
    assert "contains a constant that is NaN" in refusal(lambda q: q + np.nan)
    assert "is NaN or infinite at all 4 points tried, such as knee = " in refusal(lambda q: np.log(q - 5))
    assert "in entry [1] of its result" in refusal(lambda q: [q, np.sqrt(q - 5)])
    assert "is NaN or infinite" in refusal(lambda q: q + np.inf)
    assert "contains a constant that is NaN" in refusal(float("nan"))


def test_ranges_say_where_to_compare():
    def f(length):
        return np.log(length - 5)

    assert traced(f, "length", ranges=[(6, 7)])(6.5) == np.log(1.5)
    traced(f, "length", ranges=[(6, np.inf)])
    traced(f, "length", ranges=[(-np.inf, np.inf)], points=0)
    assert "length = 3." in refusal(f, "length", ranges=[(3, 4)])


def test_nan_at_some_points_is_accepted():
    """A function may have a domain; at least one point must lie in it."""
    assert np.isnan(traced(lambda q: np.sqrt(q))(-1.0))


def test_unguarded_where_is_found():
    """The value is finite everywhere, but reverse derivatives multiply 0 by the NaN of the side not taken."""

    def unguarded(q):
        root = np.sqrt(q)
        return np.where(q > 0, root, 0.0) + np.where(q > 0.5, root, 0.0)

    def guarded(q):
        root = np.sqrt(np.where(q > 0, q, 1.0))
        return np.where(q > 0, root, 0.0) + np.where(q > 0.5, root, 0.0)

    assert "has a value but no derivative at knee = -" in refusal(unguarded)
    assert "Guard the side not taken" in refusal(unguarded)
    x = ca.SX.sym("x")
    slope = ca.Function("slope", [x], [ca.jtimes(traced(guarded).function(x), x, 1, True)])
    assert float(slope(-1.0)) == 0.0
    assert float(slope(0.25)) == 1.0


# ---- random functions ----

SMOOTH = {
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "arctan": np.arctan,
    "root": lambda a: np.sqrt(1 + a * a),
    "quotient": lambda a: a / (2 + a * a),
    "cube": lambda a: (a / 4) ** 3,
}
CORNERS = {
    "abs": np.abs,
    "positive": lambda a: np.maximum(a, 0),
    "where": lambda a: np.where(a > 0.1, a, 2 * a - 0.1),
}
PAIRS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b / 4}


def expressions(unary):
    leaves = st.sampled_from(["x", "y"]) | st.floats(-2, 2, allow_subnormal=False)
    return st.recursive(
        leaves,
        lambda e: (
            st.tuples(st.sampled_from(sorted(unary)), e) | st.tuples(st.sampled_from(sorted(PAIRS)), e, e)
        ),
        max_leaves=12,
    )


def value(expression, x, y):
    match expression:
        case "x":
            return x
        case "y":
            return y
        case (name, a):
            return (SMOOTH | CORNERS)[name](value(a, x, y))
        case (name, a, b):
            return PAIRS[name](value(a, x, y), value(b, x, y))
    return expression


coordinates = st.floats(-3, 3, allow_subnormal=False)


@settings(max_examples=150, deadline=None)
@given(expressions(SMOOTH | CORNERS), coordinates, coordinates)
def test_random_functions_equal_floats(expression, x, y):
    g = trace(lambda x, y: value(expression, x, y), ["x", "y"], what="random")
    # The same operations in the same order; each slope is at most about 2, so an ulp grows to 2^12 at worst.
    np.testing.assert_allclose(
        g(x, y), value(expression, np.float64(x), np.float64(y)), rtol=1e-12, atol=1e-12
    )


@settings(max_examples=100, deadline=None)
@given(expressions(SMOOTH), coordinates, coordinates)
def test_random_derivatives_equal_complex_step(expression, x, y):
    """Im f(x + ih) / h has no cancellation: it is the derivative to rounding."""
    g = trace(lambda x, y: value(expression, x, y), ["x", "y"], what="random").function
    s = ca.SX.sym("s", 2)
    gradient = np.array(ca.Function("gradient", [s], [ca.jacobian(g(s[0], s[1]), s)])([x, y])).ravel()
    h = 1e-30
    expected = [
        np.imag(value(expression, x + 1j * h, y + 0j)) / h,
        np.imag(value(expression, x + 0j, y + 1j * h)) / h,
    ]
    # As above: rounding of a short chain of operations with slopes of order one.
    np.testing.assert_allclose(gradient, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("q", [-0.83, 0.11, 0.9])
def test_second_derivative_equals_mpmath(q):
    g = traced(lambda q: np.exp(np.sin(3 * q)) * np.arctan2(q, 2.0) + np.hypot(q, 1.0) ** 1.5 + 2**q).function
    x = ca.SX.sym("x")
    second = float(ca.Function("second", [x], [ca.hessian(g(x), x)[0]])(q))
    with mpmath.workdps(40):
        expected = mpmath.diff(
            lambda t: (
                mpmath.exp(mpmath.sin(3 * t)) * mpmath.atan2(t, 2)
                + mpmath.sqrt(t * t + 1) ** 1.5
                + mpmath.mpf(2) ** t
            ),
            q,
            2,
        )
    # Some thirty operations on numbers up to 30: a hundred ulp.
    assert second == pytest.approx(float(expected), rel=1e-13)


# ---- identity, pickling, processes, threads ----

SCRIPT = """
import numpy as np
from condyle.functions import Spline
from condyle.trace import trace, where
spline = Spline([0, 1, 2, 4], [0, 1, 0, 3])
def law(knee, hip):
    bent = where(hip > 0, spline(knee), hip**3)
    return [np.sin(knee) * hip + np.sin(knee), bent, np.hypot(knee, hip) % 0.3]
print(trace(law, ["knee", "hip"], what="law").text)
"""


def test_text_is_the_same_in_every_process():
    texts = [output("-c", SCRIPT, environment={"PYTHONHASHSEED": seed}) for seed in ("1", "2")]
    assert texts[0] == texts[1]
    assert len(texts[0]) > 100


def test_text_is_of_what_is_computed():
    """Names of arguments and functions do not matter to it; operations and constants do."""

    def f(knee):
        return 2 * np.sin(knee)

    assert traced(f).text == trace(lambda hip: 2 * np.sin(hip), ["hip"], what="other").text
    assert traced(f).text != traced(lambda q: 2.0000001 * np.sin(q)).text
    assert traced(f).text != traced(lambda q: 2 * np.cos(q)).text
    assert traced(f) == trace(f, ["knee"], what="other")
    assert traced(f) != trace(f, ["hip"], what="angle 1")


def test_pickles_without_the_users_function():
    g = traced(lambda q: [[np.sin(q), 1], [q, 2]])
    g.function.name()
    copy = pickle.loads(pickle.dumps(g))
    assert isinstance(copy, Traced)
    assert copy == g
    assert copy.what == "angle 1"
    np.testing.assert_array_equal(copy(0.3), g(0.3))
    assert repr(copy) == "Traced('angle 1', (knee) -> (2, 2))"


def test_threads_do_not_mix_their_errors():
    texts = {}

    def work(name):
        for _ in range(20):
            try:
                trace(math.sin, ["q"], what=name)
            except TraceError as error:
                texts.setdefault(name, set()).add(str(error).split(":")[0])

    threads = [threading.Thread(target=work, args=(f"thread {i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {f"thread {i}": {f"thread {i}"} for i in range(4)}
