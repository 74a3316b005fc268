"""Formulas as text: the grammar, every function, refusals with their columns, and texts that nobody wrote."""

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.functions import Formula
from condyle.functions.formula import ARGUMENTS, DEEPEST


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2*3 - 4/8", 6.5),
        ("2^3^2", 512.0),
        ("-q^2", -0.25),
        ("2^-1", 0.5),
        ("2*-q", -1.0),
        ("--q", 0.5),
        ("8/4/2", 1.0),
        ("1 - 2 - 3", -4.0),
        (".5e1 + 1.E0 + 2e-1", 6.2),
        ("(q)", 0.5),
        ("min(q, 1) + max(q, 1)", 1.5),
        ("a*b; a = 2*b; b = q + 1", 4.5),
        ("q;", 0.5),
        ("step(0) + step(-1) + delta(0) + delta(q)", 2.0),
        ("recip(4) + cube(2) + square(3)", 17.25),
        ("sec(q)*cos(q) + csc(q)*sin(q) + cot(q)*tan(q)", 3.0),
        ("erf(q) + erfc(q)", 1.0),
        ("abs(-3)", 3.0),
        ("exp(log(q))", 0.5),
        ("asin(sin(q)) + acos(cos(q))", 1.0),
    ],
)
def test_values(text, value):
    # a few roundings of numbers of size one
    assert Formula(text, ("q",))(0.5) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_function_by_three_ways(name):
    """NumPy, CasADi, and the rule of its derivative against a complex step."""
    f = Formula(f"{name}(0.3*x + 0.2{', sin(x)' * (ARGUMENTS[name] == 2)})")
    x = np.linspace(0.2, 2.1, 11)
    sx = ca.SX.sym("x")
    found = ca.Function("f", [sx], [f(sx)]).map(len(x))(x)
    np.testing.assert_allclose(np.array(found)[0], f(x), rtol=1e-14)  # two libraries' sines
    slope = f(x + 1e-30j).imag / 1e-30
    np.testing.assert_allclose(slope, f.derivative(x), rtol=1e-13, atol=1e-15)  # the same formula


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("1+", cd.errors.DescriptionError, "nothing in column 3"),
        ("2*(q", cd.errors.DescriptionError, r"expected '\)'.*column 5"),
        ("q^^2", cd.errors.DescriptionError, r"got '\^' in column 3"),
        ("min(q)", cd.errors.DescriptionError, "takes 2 arguments and has 1.*column 1"),
        ("q $ 3", cd.errors.DescriptionError, r"got '\$' in column 3"),
        ("q qdot", cd.errors.DescriptionError, "expected an operator, got 'qdot' in column 3"),
        ("1e999", cd.errors.DescriptionError, "finite number"),
        ("+q", cd.errors.DescriptionError, r"got '\+' in column 1"),
        ("q; 3 = 4", cd.errors.DescriptionError, "NAME = FORMULA"),
        ("(" * 60 + "q" + ")" * 60, cd.errors.DescriptionError, f"at most {DEEPEST} brackets"),
        ("-" * 5000 + "q", cd.errors.DescriptionError, f"at most {DEEPEST}"),
        ("q" * 20000, cd.errors.DescriptionError, "20000 characters"),
        ("a*x0; x0 = q", cd.errors.UnknownNameError, "'a'.*column 1"),
        (
            "x0;" + ";".join(f"x{k}=x{k + 1}+x{k + 1}" for k in range(40)) + ";x40=q",
            cd.errors.DescriptionError,
            "operations",
        ),
        ("sinn(q)", cd.errors.UnknownNameError, "did you mean 'sin'.*column 1"),
        ("q + knee", cd.errors.UnknownNameError, "'knee'.*column 5"),
        ("__import__(q)", cd.errors.UnknownNameError, "unknown function"),
        ("q.real", cd.errors.DescriptionError, "expected an operator"),
        (3.0, cd.errors.DescriptionError, "expected a string"),
    ],
)
def test_refusals(text, error, words):
    with pytest.raises(error, match=words):
        Formula(text, ("q", "qdot"))


def test_long_sums_need_no_stack():
    f = Formula("+".join(["x"] * 4000))
    assert (f(1.0), f.derivative(1.0)) == (4000.0, 4000.0)


def test_noise_is_read_or_refused():
    """Random texts of the grammar's own pieces: a value or an error of ours, never another."""
    rng = np.random.default_rng(5)
    pieces = [
        "q",
        "qdot",
        "2",
        ".5",
        "1e3",
        "+",
        "-",
        "*",
        "/",
        "^",
        "(",
        ")",
        ",",
        ";",
        "=",
        "sin(",
        "min(",
        "a",
        " ",
        "#",
        "\n",
    ]
    read = 0
    for _ in range(3000):
        text = "".join(rng.choice(pieces, rng.integers(1, 9)))
        try:
            f = Formula(text, ("q", "qdot"))
        except cd.errors.CondyleError:
            continue
        f(0.3, 0.4), f.derivative((0.3, 0.4), (1, 1))
        read += 1
    assert read > 50
