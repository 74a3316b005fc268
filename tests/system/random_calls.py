"""Random valid and invalid `add_body` calls: `python -m tests.system.random_calls CALLS SEED` counts what
they come to.

Every argument is drawn from good values most of the time and from junk otherwise. A call must return a body
or raise a CondyleError, leave the system as it was when it raises, and never end the interpreter. Now and
then the system is used.
"""

from __future__ import annotations

import collections
import sys
import traceback
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import casadi as ca
import numpy as np

import condyle as cd
from condyle.mobilizers import Mobilizer
from condyle.spatial import rotation_about


class Rude:
    """An object whose every protocol fails."""

    def __array__(self, *_, **__):
        raise RuntimeError("no array")

    def __float__(self):
        raise OverflowError("no float")

    def __iter__(self):
        raise KeyError("no items")

    def __len__(self):
        return -1

    def __repr__(self):
        return "Rude()"


class Subclass(Mobilizer):
    """Says that it moves but not how."""

    coordinate_names = speed_names = ("x",)
    units = ("rad",)


def numbers(rng):
    """Things that someone could take for a number."""
    return [
        0,
        1,
        -1,
        1e300,
        -1e-300,
        5e-324,
        np.nan,
        np.inf,
        -np.inf,
        True,
        None,
        "1",
        "x",
        "",
        b"1",
        1j,
        Decimal("1.5"),
        Fraction(1, 3),
        10**400,
        np.float32(2.5),
        np.int8(3),
        np.array(2.0),
        np.array([2.0]),
        np.array([[1.0]]),
        np.array([]),
        [],
        (),
        {},
        set(),
        [1, 2],
        object(),
        Rude(),
        float,
        lambda: 1,
        ca.SX(2),
        ca.SX.sym("s"),
        ca.MX.sym("m"),
        ca.DM(3),
        ca.SX(2, 2),
        cd.Parameter("mass", 1.5),
        cd.Parameter("p", 0.3),
        -cd.Parameter("p", 0.3),
        1 / cd.Parameter("zero", 0.0),
        cd.Input("f", 1.0),
        cd.Parameter("p", 0.3) * np.ones(3),
        np.datetime64("2020-01-01"),
        np.ma.masked,
        iter([1, 2, 3]),
        range(3),
        memoryview(b"abc"),
        cd,
        cd.Pin,
        cd.Pin(),
        Ellipsis,
        NotImplemented,
    ]


def triples(rng):
    one = numbers(rng)
    pick = lambda: one[rng.integers(len(one))]
    return [
        (pick(), pick(), pick()),
        [pick(), 0.0, 0.0],
        np.full(3, np.nan),
        np.zeros(4),
        np.zeros((3, 1)),
        np.zeros((3, 3)),
        np.zeros((2, 3)),
        np.full((3, 3), np.inf),
        -np.eye(3),
        2 * np.eye(3),
        rng.normal(size=(3, 3)),
        rng.normal(size=3) * 1e200,
        np.array(["a", "b", "c"]),
        np.array([1, 2, None], dtype=object),
        [[1, 2], [3]],
        "abc",
        cd.Transform(p=(0, 0, 1)),
        cd.Transform(np.eye(3)[None].repeat(2, 0), np.zeros((2, 3))),
        ca.SX.sym("v", 3),
        ca.SX(3, 1),
        ca.DM([1, 2, 3]),
        (cd.Parameter("x", 0.1), 0, 0),
        (cd.Input("w", 0.1), 0, 0),
        np.zeros((3, 0)),
        np.zeros((0, 3)),
        *one,
    ]


def mobilizers(rng):
    """Good ones, and ways of making bad ones."""
    f = float(rng.uniform(0.05, 1))
    return [
        cd.Pin,
        cd.Slider,
        cd.Weld,
        cd.Universal,
        cd.Cylinder,
        cd.BendStretch,
        cd.Planar,
        cd.SphericalCoords,
        cd.LineOrientation,
        cd.Gimbal,
        cd.Bushing,
        cd.Ball,
        cd.Translation,
        cd.Free,
        cd.FreeLine,
        lambda: cd.Screw(f),
        lambda: cd.Ellipsoid((f, 0.2, 0.3)),
        lambda: cd.CantileverFreeBeam(f),
        lambda: cd.Pin("x").reversed(),
        lambda: cd.Pin(rng.normal(size=3)),
        lambda: cd.Free(coordinates="euler").reversed(),
        lambda: cd.Screw(cd.Parameter("p", 0.3)),
        lambda: cd.FunctionBased(("a",), (lambda q: q, None, None)),
        lambda: cd.compose(cd.Pin(), cd.Slider()),
        lambda: cd.FunctionBased(("a", "b"), (lambda a, b: a, lambda a, b: b * f, 0.2)).reversed(),
        lambda: cd.Custom(("c",), lambda q: (np.eye(3), (q, 0.0, f * q * q))),
    ]


def bad_mobilizers(rng):
    junk = numbers(rng)
    pick = lambda: junk[rng.integers(len(junk))]
    return [
        lambda: cd.Pin(pick()),
        lambda: cd.Slider((pick(), 0, 0)),
        lambda: cd.Screw(pick()),
        lambda: cd.Ellipsoid(pick()),
        lambda: cd.Ellipsoid((0.1, pick(), 0.1), normal=pick()),
        lambda: cd.CantileverFreeBeam(pick()),
        lambda: cd.Ball(coordinates=pick()),
        lambda: cd.SphericalCoords(pick(), pick(), radial_axis=pick()),
        lambda: cd.FunctionBased(pick(), pick()),
        lambda: cd.FunctionBased(("a",), (pick(), pick(), pick())),
        lambda: cd.FunctionBased(("a",), (lambda q: pick(), None, None)),
        lambda: cd.Custom(("a",), lambda q: pick()),
        lambda: cd.FunctionBased(("a",), (lambda q: 1 if q > 0 else 2, None, None)),
        lambda: cd.Custom(("a",), lambda q: (2 * np.eye(3), (q, 0, 0))),
        lambda: cd.Custom(("a",), pick()),
        lambda: cd.compose(cd.Free(), cd.Pin()),
        lambda: cd.compose(cd.Pin(), pick()),
        Subclass,
        pick,
        lambda: Mobilizer(),
        lambda: cd.FunctionBased(tuple("abcdefg"), (lambda *q: q[0], None, None)),
        lambda: cd.FunctionBased(("a",), (lambda: 1, None, None)),
        lambda: cd.FunctionBased(("a",), (lambda q: q / 0, None, None)),
    ]


class Caller:
    """One system at a time, and what the calls came to."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.counts: Counter[str] = collections.Counter()
        self.strange: dict[str, str] = {}
        self.system = cd.System()

    def one_of(self, items):
        return items[self.rng.integers(len(items))]

    def often(self, good, bad, chance=0.9):
        """A good value nine times out of ten."""
        return good() if self.rng.random() < chance else self.one_of(bad())

    def arguments(self):
        rng, known = self.rng, [b.name for b in self.system.bodies]
        name = self.often(
            lambda: f"b{rng.integers(10**9)}",
            lambda: [*numbers(rng), "ground", *known[-1:], " ", "\0", "x" * 1000, "b\nb"],
        )
        parent = self.often(
            lambda: self.one_of(["ground", self.system.ground, *known, *self.system.bodies]),
            lambda: [*numbers(rng), "grund", cd.System().ground, name],
        )
        tilted = cd.Transform(rotation_about(np.array([0, 0.6, 0.8]), 0.3), (1, 2, 3))
        good = {
            "X_PF": lambda: self.one_of([None, (0.1, 0.2, 0), np.zeros(3), tilted]),
            "mass": lambda: float(rng.uniform(0.1, 3)),
            "com": lambda: tuple(rng.uniform(-0.2, 0.2, 3)),
            "inertia": lambda: self.one_of(
                [(0.1, 0.1, 0.1), (0.1, 0.12, 0.15, 0.01, 0.0, 0.0), 0.1 * np.eye(3), [0.1, 0.1, 0.1]]
            ),
        }
        good["X_BM"] = good["X_PF"]
        given = {"parent": parent}
        for argument, draw in good.items():
            junk = numbers if argument == "mass" else triples
            given[argument] = self.often(draw, lambda junk=junk: junk(rng), 0.95)
        if rng.random() < 0.1:
            given["coordinates"] = self.one_of(
                [
                    ("u",),
                    "v",
                    ("a", "b"),
                    (),
                    [cd.Coordinate("w", 0.1, (-1, 1))],
                    [cd.Coordinate("w", np.nan)],
                    [cd.Coordinate("w", 0.1, (1, -1))],
                    [cd.Coordinate(3)],
                    *numbers(rng),
                ]
            )
        for argument in [a for a in given if rng.random() < 0.03]:
            del given[argument]
        return name, given

    def call(self) -> None:
        rng = self.rng
        make = self.one_of(mobilizers(rng) if rng.random() < 0.9 else bad_mobilizers(rng))
        name, given = self.arguments()
        before = self.fingerprint()
        try:
            body = self.system.add_body(name, mobilizer=make(), **given)
        except cd.errors.CondyleError:
            self.counts["refused"] += 1
            if self.fingerprint() != before:
                self.report("a refused call changed the system")
        except Exception as error:
            self.counts["other error"] += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            self.report(
                f"{type(error).__name__}: {str(error)[:120]} at "
                f"{where.filename.rsplit('/', 1)[-1]}:{where.lineno}"
            )
        else:
            self.counts["added"] += 1
            if self.system.body(name) is not body:
                self.report("a body that the system does not know")
        if len(self.system.bodies) >= 12 or rng.random() < 0.01:
            self.use()

    def use(self) -> None:
        """Accelerations by CasADi's evaluator, and a fresh system."""
        system, self.system = self.system, cd.System()
        try:
            q = np.concatenate([np.zeros(0), *(b.mobilizer.random_q(self.rng) for b in system.bodies)])
            udot = system.forward_dynamics(q, np.full(system.nu, 0.1))
            self.counts["used" if np.isfinite(udot).all() else "used, not finite"] += 1
        except cd.errors.CondyleError:
            self.counts["use refused"] += 1
        except Exception as error:
            self.report(f"in use: {type(error).__name__}: {str(error)[:120]}")

    def fingerprint(self):
        s = self.system
        return len(s.bodies), s.nq, s.nu, s.coordinates, s.speeds, s.parameters, s.inputs

    def report(self, what: str) -> None:
        self.strange[what] = self.strange.get(what, "") + "."


def run(calls: int, seed: int) -> Caller:
    caller = Caller(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(calls):
            caller.call()
    return caller


if __name__ == "__main__":
    done = run(int(sys.argv[1]), int(sys.argv[2]))
    print(f"{sys.argv[1]} calls, seed {sys.argv[2]}: {dict(done.counts)}")
    for what, times in sorted(done.strange.items(), key=lambda item: -len(item[1])):
        print(f"{len(times):6d}  {what}")
