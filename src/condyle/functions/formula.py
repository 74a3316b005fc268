"""Formula: a function given as text, read by a parser and never by Python's eval:
docs/theory/functions.md (17).

The grammar is that of Lepton, which OpenSim's expression-based forces are written in:

    text   = sum { ";" name "=" sum }          what comes after a ";" names a part of what comes before
    sum    = product { ("+" | "-") product }
    product = signed { ("*" | "/") signed }
    signed = "-" signed | power
    power  = value [ "^" signed ]              from the right; -x^2 is -(x^2)
    value  = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError, UnknownNameError
from condyle.functions.base import Function
from condyle.records import assign, dataclass
from condyle.trace.symbol import Outcome

LONGEST, DEEPEST, LARGEST = 10_000, 50, 20_000
"""Limits: characters of a text; nesting of brackets, signs and powers; operations after substituting named
parts.
"""
TOKEN = re.compile(
    r"\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|([-+*/^(),;=])|(\S))", re.ASCII
)

Program = list[tuple[str, Any]]
"""A stack program: ("number", value) and ("variable", index) push a number; (operation, n) pops n numbers and
pushes the result.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Formula(Function):
    """A function given as text (17).

        cd.functions.Formula("-20*q^3 - 0.5*qdot", ("q", "qdot"))

    Operators are + - * / ^, the last from the right; functions sqrt exp log sin cos tan sec csc cot asin acos
    atan sinh cosh tanh erf erfc abs square cube recip min max, step (0 below zero, else 1) and delta (1 at
    zero, else 0). Parts may have names, which follow: "k*s; k = 3*q; s = q^2". Derivatives of abs, min, max,
    step and delta are those of the active side.

    Args:
        text: the formula; at most 10,000 characters and 50 nested brackets.
        names: its variables, in the order of the function's arguments.
    """

    text: str
    names: Sequence[str] = ("x",)

    def __post_init__(self) -> None:
        names = (self.names,) if isinstance(self.names, str) else tuple(self.names)
        for name in names:
            if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)):
                raise DescriptionError(
                    f"Formula: names: expected names of letters, digits and _, got {self.names!r}"
                )
        if not names or len(set(names)) < len(names):
            raise DescriptionError(f"Formula: names: expected one or several different ones, got {names!r}")
        assign(self, names=names)
        if not isinstance(self.text, str):
            raise DescriptionError(f"Formula: text: expected a string, got {self.text!r}")
        assign(self, _program=Parser(self.text, names).program())

    @property
    def variables(self) -> int:  # type: ignore[override]
        return len(self.names)

    @cached_property
    def _program(self) -> Program:
        return Parser(self.text, self.names).program()

    @cached_property
    def _derivatives(self) -> dict[tuple[int, ...], Program]:
        return {(0,) * len(self.names): self._program}

    def _derived(self, order: tuple[int, ...]) -> Program:
        if order not in self._derivatives:
            k = next(i for i, n in enumerate(order) if n)
            lower = self._derived(tuple(n - (i == k) for i, n in enumerate(order)))
            self._derivatives[order] = derivative(lower, k)
        return self._derivatives[order]

    def formula(self, x: Sequence[Outcome], order: Sequence[int], look_up: bool) -> Outcome:
        operations = ON_SX if any(isinstance(v, ca.SX) for v in x) else ON_NUMBERS
        with np.errstate(all="ignore"):
            return evaluate(self._derived(tuple(order)), x, operations)

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else f"{self.text[:57]}..."
        return f"Formula({text!r}, {', '.join(self.names)})"


class Parser:
    """Reads a formula (see the module's text).

    Args:
        text: what is read.
        names: of the variables.
    """

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text, self.names = text, tuple(names)
        if len(text) > LONGEST:
            raise DescriptionError(f"Formula: {len(text)} characters, at most {LONGEST} are read")
        self.tokens = [
            (m.group(m.lastindex or 0), m.lastindex, m.start(m.lastindex or 0)) for m in TOKEN.finditer(text)
        ]
        self.parts: dict[str, Program] = {}
        self.at = self.depth = self.end = 0

    def program(self) -> Program:
        """The whole text."""
        cuts = [k for k, (token, _, _) in enumerate(self.tokens) if token == ";"]
        bounds = [-1, *cuts, len(self.tokens)]
        pieces = [(a + 1, b) for a, b in itertools.pairwise(bounds)]
        for start, end in reversed(pieces[1:]):  # a part may use those that follow it
            if start < end:
                self._named(start, end)
        return self._piece(*pieces[0])

    def _named(self, start: int, end: int) -> None:
        self.at, self.end = start, end
        name, kind, _ = self.tokens[start]
        if kind != 2 or end - start < 2 or self.tokens[start + 1][0] != "=":
            raise self._refused("expected NAME = FORMULA behind a ';'")
        self.parts[name] = self._piece(start + 2, end)

    def _piece(self, start: int, end: int) -> Program:
        self.at, self.end = start, end
        program = self._sum()
        if self.at < self.end:
            raise self._refused("expected an operator")
        return program

    @property
    def _token(self) -> str:
        return self.tokens[self.at][0] if self.at < self.end else ""

    @property
    def _column(self) -> int:
        return self.tokens[self.at][2] + 1 if self.at < self.end else len(self.text) + 1

    def _refused(self, what: str) -> DescriptionError:
        got = f"got {self._token!r}" if self.at < self.end else "but there is nothing"
        return DescriptionError(f"Formula: {what}, {got} in column {self._column} of {self._shown()!r}")

    def _unknown(self, kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
        return UnknownNameError(kind, name, known, f"column {self._column} of the formula {self._shown()!r}")

    def _shown(self) -> str:
        low = max(0, self._column - 30)
        return self.text if len(self.text) <= 80 else f"{'...' * (low > 0)}{self.text[low : low + 70]}..."

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._refused(f"at most {DEEPEST} brackets, signs and powers within each other are read")

    def _grown(self, program: Program, more: Program, operation: str) -> Program:
        """Two programs and what is done with their results."""
        program.extend(more)
        program.append((operation, 2))
        if len(program) > LARGEST:
            raise self._refused(f"at most {LARGEST} operations are read")
        return program

    def _sum(self) -> Program:
        program = self._product()
        while (operation := self._token) in ("+", "-"):
            self.at += 1
            program = self._grown(program, self._product(), operation)
        return program

    def _product(self) -> Program:
        program = self._signed()
        while (operation := self._token) in ("*", "/"):
            self.at += 1
            program = self._grown(program, self._signed(), operation)
        return program

    def _signed(self) -> Program:
        if self._token != "-":
            return self._power()
        self._deeper()
        self.at += 1
        program = self._signed()
        self.depth -= 1
        return [*program, ("neg", 1)]

    def _power(self) -> Program:
        program = self._value()
        if self._token != "^":
            return program
        self._deeper()
        self.at += 1
        program = self._grown(program, self._signed(), "^")
        self.depth -= 1
        return program

    def _value(self) -> Program:
        token, kind, _ = self.tokens[self.at] if self.at < self.end else ("", 0, 0)
        if kind == 1:
            if not np.isfinite(float(token)):
                raise self._refused("expected a finite number")
            self.at += 1
            return [("number", float(token))]
        if token == "(":
            return self._bracket()[0]
        if kind != 2:
            raise self._refused("expected a number, a name or '('")
        if self.at + 1 < self.end and self.tokens[self.at + 1][0] == "(":
            return self._function(token)
        if token not in self.parts and token not in self.names:
            raise self._unknown("name", token, [*self.names, *self.parts])
        self.at += 1
        return list(self.parts[token]) if token in self.parts else [("variable", self.names.index(token))]

    def _function(self, name: str) -> Program:
        if name not in ARGUMENTS:
            raise self._unknown("function", name, ARGUMENTS)
        start, count = self.at, ARGUMENTS[name]
        self.at += 1
        arguments = self._bracket(several=True)
        if len(arguments) != count:
            self.at = start
            raise self._refused(f"{name} takes {count} argument{'s' * (count > 1)} and has {len(arguments)}")
        if count == 2:
            return self._grown(arguments[0], arguments[1], name)
        return [*arguments[0], (name, 1)]

    def _bracket(self, several: bool = False) -> list[Program]:
        """What is between brackets, apart by commas."""
        self._deeper()
        self.at += 1
        programs = [self._sum()]
        while several and self._token == ",":
            self.at += 1
            programs.append(self._sum())
        if self._token != ")":
            raise self._refused("expected ')'")
        self.at += 1
        self.depth -= 1
        return programs


# ---- Functions and their derivatives ----

BELL = f"{2 / math.sqrt(math.pi)!r}*exp(-x^2)"
RULES = {
    "neg": "-1",
    "sqrt": "0.5/sqrt(x)",
    "exp": "exp(x)",
    "log": "1/x",
    "sin": "cos(x)",
    "cos": "-sin(x)",
    "tan": "1/cos(x)^2",
    "sec": "sec(x)*tan(x)",
    "csc": "-csc(x)*cot(x)",
    "cot": "-csc(x)^2",
    "asin": "1/sqrt(1 - x^2)",
    "acos": "-1/sqrt(1 - x^2)",
    "atan": "1/(1 + x^2)",
    "sinh": "cosh(x)",
    "cosh": "sinh(x)",
    "tanh": "1 - tanh(x)^2",
    "erf": BELL,
    "erfc": f"-{BELL}",
    "abs": "2*step(x) - 1",
    "square": "2*x",
    "cube": "3*x^2",
    "recip": "-1/x^2",
    "step": "0",
    "delta": "0",
}
"""Derivatives of what is done with one number, as formulas."""
ARGUMENTS = {**{name: 1 for name in RULES if name != "neg"}, "min": 2, "max": 2}
ZERO: Program = [("number", 0.0)]
ONE: Program = [("number", 1.0)]


@cache
def _rule(name: str) -> tuple[tuple[str, Any], ...]:
    return tuple(Parser(RULES[name], ("x",)).program())


def derivative(program: Program, k: int) -> Program:
    """By the variable at place k."""
    stack: list[tuple[Program, Program]] = []  # programs of values and of their derivatives
    for operation, which in program:
        if operation in ("number", "variable"):
            stack.append(([(operation, which)], ONE if operation == "variable" and which == k else ZERO))
            continue
        taken = stack[-which:]
        del stack[-which:]
        value = [item for p, _ in taken for item in p] + [(operation, which)]
        stack.append((value, _chain(operation, value, *(x for pair in taken for x in pair))))
    return stack[0][1]


def _chain(
    operation: str, value: Program, a: Program, da: Program, b: Program = ZERO, db: Program = ZERO
) -> Program:
    """The derivative of what is done with a and b, whose derivatives are da and db."""
    if da == ZERO and db == ZERO:
        return ZERO
    if operation in ("+", "-"):
        return _plus(da, db) if operation == "+" else _minus(da, db)
    if operation == "*":
        return _plus(_times(da, b), _times(a, db))
    if operation == "/":
        return _minus(_over(da, b), _over(_times(a, db), [*b, ("number", 2.0), ("^", 2)]))
    if operation in ("min", "max"):
        first = [*(_minus(a, b) if operation == "max" else _minus(b, a)), ("step", 1)]
        return _plus(_times(first, da), _times(_minus(ONE, first), db))
    if operation == "^":
        if db != ZERO:
            return _times(value, _plus(_times(db, [*a, ("log", 1)]), _over(_times(b, da), a)))
        less: Program = [("number", b[0][1] - 1)] if b[0][0] == "number" and len(b) == 1 else _minus(b, ONE)
        return _times(_times(b, [*a, *less, ("^", 2)]), da)
    slope = [item for step in _rule(operation) for item in (a if step[0] == "variable" else [step])]
    return _times(slope, da)


def _plus(a: Program, b: Program) -> Program:
    return b if a == ZERO else a if b == ZERO else [*a, *b, ("+", 2)]


def _minus(a: Program, b: Program) -> Program:
    return a if b == ZERO else [*b, ("neg", 1)] if a == ZERO else [*a, *b, ("-", 2)]


def _times(a: Program, b: Program) -> Program:
    return ZERO if ZERO in (a, b) else b if a == ONE else a if b == ONE else [*a, *b, ("*", 2)]


def _over(a: Program, b: Program) -> Program:
    return ZERO if a == ZERO else [*a, *b, ("/", 2)]


# ---- What they are worth ----


def evaluate(program: Program, x: Sequence[Any], operations: dict[str, Callable[..., Any]]) -> Any:
    """The value where the variables are x."""
    stack: list[Any] = []
    for operation, which in program:
        if operation == "number":
            stack.append(which)
        elif operation == "variable":
            stack.append(x[which])
        else:
            taken = stack[-which:]
            del stack[-which:]
            stack.append(operations[operation](*taken))
    return stack[0]


def _erf(x: Any) -> Any:
    from scipy.special import erf

    return erf(x)


def _power(a: Any, b: Any) -> Any:
    """Of real numbers, NaN where there is none; small whole powers are products."""
    if isinstance(b, float) and b.is_integer() and 0 <= b <= 8:
        out = 1.0
        for _ in range(int(b)):
            out = out * a
        return out
    return np.power(a, b) if np.iscomplexobj(a) or np.iscomplexobj(b) else np.float_power(a, b)


def _power_sx(a: Any, b: Any) -> Any:
    if isinstance(b, float) and b.is_integer() and 0 <= b <= 8:
        return _power(a, b)
    return ca.SX(a) ** b


_SHARED: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "neg": lambda a: -a,
    "square": lambda a: a * a,
    "cube": lambda a: a * a * a,
}
ON_NUMBERS: dict[str, Callable[..., Any]] = _SHARED | {
    "/": np.true_divide,
    "^": _power,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sec": lambda a: 1 / np.cos(a),
    "csc": lambda a: np.true_divide(1, np.sin(a)),
    "cot": lambda a: np.true_divide(1, np.tan(a)),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": _erf,
    "erfc": lambda a: 1 - _erf(a),
    "recip": lambda a: np.true_divide(1, a),
    "abs": lambda a: np.where(np.real(a) < 0, np.negative(a), a),
    "step": lambda a: np.where(np.isnan(a), a, np.where(np.real(a) >= 0, 1.0, 0.0)),
    "delta": lambda a: np.where(np.isnan(a), a, np.where(np.real(a) == 0, 1.0, 0.0)),
    "min": lambda a, b: np.where(np.real(b) >= np.real(a), a, b),
    "max": lambda a, b: np.where(np.real(a) >= np.real(b), a, b),
}
ON_SX: dict[str, Callable[..., Any]] = _SHARED | {
    "/": lambda a, b: ca.SX(a) / b,
    "^": _power_sx,
    "sec": lambda a: 1 / ca.cos(a),
    "csc": lambda a: 1 / ca.sin(a),
    "cot": lambda a: 1 / ca.tan(a),
    "erfc": lambda a: 1 - ca.erf(a),
    "recip": lambda a: 1 / ca.SX(a),
    "abs": ca.fabs,
    "step": lambda a: ca.if_else(ca.SX(a) == a, ca.SX(a) >= 0, a),
    "delta": lambda a: ca.if_else(ca.SX(a) == a, ca.SX(a) == 0, a),
    "min": lambda a, b: ca.if_else(ca.SX(b) >= a, a, b),
    "max": lambda a, b: ca.if_else(ca.SX(a) >= b, a, b),
    **{
        name: getattr(ca, name)
        for name in (
            "sqrt",
            "exp",
            "log",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "erf",
        )
    },
}
