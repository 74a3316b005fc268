"""Metamorphic cases: a correct recording is changed in a way whose effect on the answer is known. Either the
answer stays right, within a tolerance and without a warning, or a warning or an error names what is wrong."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import condyle as cd


class Given:
    """Correct recordings, and what studies say of them; each is made when it is first asked for."""

    folder: Path
    doubts: list[str]
    """What the quality of a result says."""

    # ---- an arm whose motion is known exactly
    @cached_property
    def arm(self) -> cd.System:
        return cd.models.arm26()

    @staticmethod
    def angles(t: Any, n: int = 0) -> np.ndarray:
        """Shoulder and elbow [rad], or their n-th derivatives, shape (m, 2)."""
        w = np.array([4.0, 5.0])
        wave = np.sin(w * np.asarray(t)[:, None] + n * np.pi / 2) * w**n * (0.2, 0.5)
        return wave + np.array([0.3, 1.0]) * (n == 0)

    def motion(self, t: Any = None, **options: Any) -> cd.Table:
        t = np.arange(101) / 100 if t is None else np.asarray(t)
        return cd.Table(t, self.arm.coordinates, self.angles(t), **({"units": ["rad", "rad"]} | options))

    def moments(self, motion: Any, true: Any = None, columns: Any = None, **options: Any) -> float:
        """Largest error of joint moments [N m] of up to 20; `true` are the times that rows really have."""
        found = cd.inverse_dynamics(self.arm, motion, **options)
        t = found.time if true is None else np.asarray(true)
        exact = self.arm.inverse_dynamics(
            self.angles(t), self.angles(t, 1), self.angles(t, 2), disabled=self.arm.muscles
        )
        return float(abs(found.values - exact).max())

    # ---- a stone that tumbles
    @cached_property
    def stone(self) -> cd.System:
        system = cd.System()
        system.add_body("stone", mobilizer=cd.Free(), mass=2.0, inertia=(0.02, 0.05, 0.03))
        return system

    @cached_property
    def tumble(self) -> cd.Table:
        s = self.stone
        run = cd.simulate(s, s.state(u=[3.0, 1.0, -2.0, 0.4, 4.0, 0.2]), 1.0, accuracy=1e-10)
        t = np.arange(101) / 100
        return cd.Table(t, s.coordinates, run(t).q, ["1"] * 4 + ["m"] * 3)

    def wrench(self, motion: Any, **options: Any) -> float:
        """A stone in free flight takes no forces: largest [N, N m], without the ends."""
        return float(abs(cd.inverse_dynamics(self.stone, motion, **options).values[5:-5]).max())

    # ---- a walk
    @cached_property
    def subject(self) -> cd.models.Subject:
        return cd.models.synthetic_subject(duration=0.6, noise=0.0, placement=0.0)

    def loads(self, table: cd.Table | None = None, sides: str = "rl", **options: Any) -> list:
        table = self.subject.ground_reactions if table is None else table
        return [
            cd.ExternalLoad(f"foot_{foot}", table, force=f"{s}_force_", point=f"{s}_point_", **options)
            for s, foot in zip("rl", sides, strict=True)
        ]

    @cached_property
    def walk_moments(self) -> cd.Table:
        return cd.inverse_dynamics(self.subject.system, self.subject.motion, self.loads())

    def walk(self, motion: Any = None, loads: Any = None, rows: Any = slice(None)) -> float:
        """Largest difference of joint moments [N m, N] from those of the walk."""
        motion = self.subject.motion if motion is None else motion
        found = cd.inverse_dynamics(self.subject.system, motion, self.loads() if loads is None else loads)
        if found.quality.verdict in ("check", "fail"):
            self.doubts.append(f"quality: {found.quality.worst}")
        return float(abs(found.values - self.walk_moments.values[rows]).max())

    @cached_property
    def forces(self) -> Any:
        return cd.static_optimization(self.subject.system, self.subject.motion, self.loads(), reserves=10.0)

    def ik(self, markers: Any, rows: Any = slice(None), **options: Any) -> float:
        """Largest error of coordinates [rad, m]."""
        found = cd.inverse_kinematics(self.subject.system, markers, **options).motion
        return float(abs(found.values - self.subject.motion.values[rows]).max())

    # ---- changes
    def saved(self, table: Any, name: str) -> Any:
        path = self.folder / name
        table.save(path)
        return cd.read_markers(path) if isinstance(table, cd.Markers) else cd.read_table(path)


def like(
    table: cd.Table,
    *,
    t: Any = None,
    names: Any = None,
    values: Any = None,
    units: Any = None,
    **options: Any,
) -> cd.Table:
    return cd.Table(
        table.time if t is None else t,
        table.names if names is None else names,
        table.values if values is None else values,
        table.units if units is None else units,
        **options,
    )


def columns(table: cd.Table, change: Callable[[str, np.ndarray], np.ndarray]) -> cd.Table:
    """Each column by a function of its name and values."""
    return like(table, values=np.stack([change(n, table[n]) for n in table.names], axis=1))


def wrapped(x: Any, turn: float = 2 * np.pi, low: float = -np.pi) -> np.ndarray:
    return (x - low) % turn + low


def placed(markers: cd.Markers, change: Callable[[np.ndarray], Any], units: str = "m") -> cd.Markers:
    x = markers.positions.copy()
    new = change(x)
    return cd.Markers(markers.time, markers.names, x if new is None else new, units=units)


def put(markers: cd.Markers, names: str | None, rows: slice, value: float = np.nan) -> cd.Markers:
    """Markers whose names match a pattern, missing in some rows."""
    which = [k for k, n in enumerate(markers.names) if names is None or re.search(names, n)]
    assert which, names
    x = markers.positions.copy()
    x[rows, which] = value
    return cd.Markers(markers.time, markers.names, x)


class Case(NamedTuple):
    name: str
    run: Callable[[Given], float]
    expected: float | str


T = np.arange(101) / 100
DEG = np.degrees

# ---- a motion as a Table: what it says of units, times and columns ----------------------------------------


def degrees(g: Given) -> cd.Table:
    return like(g.motion(), values=DEG(g.motion().values), units=["deg", "deg"])


def turning(g: Given, t: Any = T) -> tuple[cd.System, cd.Table, np.ndarray]:
    """A wheel that turns three times in a second, and the moment that it takes."""
    if "wheel" not in g.__dict__:
        g.wheel = cd.System()
        g.wheel.add_body("wheel", mobilizer=cd.Pin(), coordinates="angle", mass=1.0, inertia=(0.1, 0.1, 0.1))
    t = np.asarray(t)
    angle = 4 * np.pi * t + 0.5 * np.sin(6 * t)
    return g.wheel, cd.Table(t, ["angle"], angle[:, None], ["rad"]), -18 * np.sin(6 * t) * 0.1


def wheel(
    g: Given, change: Callable[[cd.Table], cd.Table], t: Any = T, ends: int = 0, **options: Any
) -> float:
    system, table, exact = turning(g, t)
    found = cd.inverse_dynamics(system, change(table), **options).values[:, 0]
    return float(abs(found - exact)[ends : len(t) - ends].max())


def resampled(g: Given, rate: float, digits: int | None = None) -> float:
    t = np.arange(round(rate) + 1) / rate
    return g.moments(g.motion(t) if digits is None else like(g.motion(t), t=t.round(digits)), t)


def event_table(g: Given, action: Any = lambda state: state) -> tuple[cd.System, Any]:
    """A pendulum and a run with an event, where its Table has two rows with one time."""
    s = cd.System()
    s.add_body(
        "bob", mobilizer=cd.Pin(), coordinates="angle", com=(0, -1, 0), mass=1.0, inertia=(1.1, 0.1, 1.1)
    )
    run = cd.simulate(s, s.state(q=[1.0]), 1.0, accuracy=1e-10, events=[cd.Event(at=[0.505], action=action)])
    return s, run


MOTIONS = [
    Case("as it is", lambda g: g.moments(g.motion()), 1e-4),
    Case("in degrees", lambda g: g.moments(degrees(g)), 1e-4),
    Case(
        "one column in degrees",
        lambda g: g.moments(
            like(g.motion(), values=g.motion().values * (180 / np.pi, 1), units=["deg", "rad"])
        ),
        1e-4,
    ),
    Case("degrees=True, no units", lambda g: g.moments(like(degrees(g), units=["", ""], degrees=True)), 1e-4),
    Case("no word on the unit", lambda g: g.moments(g.motion(units=None)), "in degrees"),
    Case("degrees that say radians", lambda g: g.moments(degrees(g).with_units(["rad", "rad"])), "degrees"),
    Case("radians that say degrees", lambda g: g.moments(g.motion(units=["deg", "deg"])), "radians"),
    Case("a length as an angle", lambda g: g.moments(g.motion(units=["m", "rad"])), "unit"),
    Case(
        "milliradians",
        lambda g: g.moments(like(g.motion(), values=1e3 * g.motion().values, units=["mrad", "mrad"])),
        1e-4,
    ),
    Case("times 5 s later", lambda g: g.moments(like(g.motion(), t=T + 5), T), 1e-4),
    Case("times begin at -3 s", lambda g: g.moments(like(g.motion(), t=T - 3), T), 1e-4),
    Case("times begin at 1e6 s", lambda g: g.moments(like(g.motion(), t=T + 1e6), T), 1e-4),
    Case("times of a clock, 1.7e9 s", lambda g: g.moments(like(g.motion(), t=T + 1.7e9), T), 1e-2),
    Case(
        "single precision",
        lambda g: g.moments(like(g.motion(), t=T.astype("f4"), values=g.motion().values.astype("f4")), T),
        5e-2,
    ),
    Case("times in ms", lambda g: g.moments(like(g.motion(), t=1e3 * T), T), "seconds"),
    Case(
        "times in ms at 2000 Hz",
        lambda g: g.moments(
            like(g.motion(np.arange(2001) / 2000), t=np.arange(2001) / 2.0), np.arange(2001) / 2000
        ),
        "seconds",
    ),
    Case(
        "time [min] in .csv",
        lambda g: g.moments(
            text(
                g,
                "min.csv",
                lambda s: re.sub(r"(?m)^[\d.]+", lambda t: repr(float(t[0]) / 60), s.replace("[s]", "[min]")),
            )
        ),
        1e-4,
    ),
    Case("numbers of frames", lambda g: g.moments(like(g.motion(), t=np.arange(101.0)), T), "seconds"),
    Case(
        "numbers of frames, 25 rows",
        lambda g: g.moments(like(g.motion(T[:25]), t=np.arange(25.0)), T[:25]),
        "seconds",
    ),
    Case("rows reversed", lambda g: g.moments(g.motion()._with(rows=slice(None, None, -1))), "increase"),
    Case(
        "two rows exchanged",
        lambda g: g.moments(g.motion()._with(rows=[*range(50), 51, 50, *range(52, 101)])),
        "increase",
    ),
    Case(
        "two rows exchanged, times not",
        lambda g: g.moments(
            like(g.motion(), values=g.motion().values[[*range(50), 80, *range(51, 80), 50, *range(81, 101)]])
        ),
        "jump|row",
    ),
    Case("a row twice", lambda g: g.moments(g.motion()._with(rows=[*range(51), *range(50, 101)])), "event"),
    Case(
        "every row twice", lambda g: g.moments(g.motion()._with(rows=np.repeat(np.arange(101), 2))), "twice"
    ),
    Case(
        "every row twice, odd times",
        lambda g: g.moments(like(g.motion(), t=T * np.pi)._with(rows=np.repeat(np.arange(101), 2))),
        "time of the next",
    ),
    Case(
        "every value twice, as of 50 Hz",
        lambda g: g.moments(like(g.motion(), values=np.repeat(g.motion(T[::2]).values, 2, axis=0)[:101])),
        "same|repeat|twice|alike",
    ),
    Case("a row nearly twice", lambda g: g.moments(g.motion(np.sort([*T, 0.5 + 1e-12]))), "apart"),
    Case("every second row", lambda g: g.moments(g.motion(T[::2])), 1e-2),
    Case("3 rows lost", lambda g: g.moments(g.motion(np.delete(T, slice(40, 43)))), 1e-2),
    Case("30 rows lost", lambda g: g.moments(g.motion(np.delete(T, slice(30, 60)))), "no rows"),
    Case(
        "30 rows lost, times closed up",
        lambda g: g.moments(
            like(g.motion(np.delete(T, slice(30, 60))), t=T[:71]), np.delete(T, slice(30, 60))
        ),
        "jump",
    ),
    Case(
        "rows drawn at random",
        lambda g: g.moments(
            g.motion(np.sort(np.random.default_rng(0).choice(np.arange(1001) / 1000, 200, replace=False)))
        ),
        0.1,
    ),
    Case("first rows only", lambda g: g.moments(g.motion()[:40]), 1e-4),
    Case("last rows only", lambda g: g.moments(g.motion()[60:]), 1e-4),
    Case("cut in two", lambda g: max(g.moments(g.motion()[a:b]) for a, b in ((0, 51), (50, 101))), 1e-4),
    Case("one row", lambda g: g.moments(g.motion()[:1]), "too few"),
    Case("two rows", lambda g: g.moments(g.motion()[:2]), "too few"),
    Case("no rows", lambda g: g.moments(g.motion()[:0]), "no frames"),
    Case("columns exchanged", lambda g: g.moments(g.motion()[list(g.arm.coordinates[::-1])]), 1e-4),
    Case(
        "other columns too",
        lambda g: g.moments(
            like(
                g.motion(),
                names=["EMG", *g.arm.coordinates, "note 2"],
                values=np.c_[T * np.nan, g.motion().values, T],
                units=["V", "rad", "rad", ""],
            )
        ),
        1e-4,
    ),
    Case(
        "names of OpenSim's states",
        lambda g: g.moments(
            like(g.motion(), names=[f"/jointset/joint/{n}/value" for n in g.arm.coordinates])
        ),
        1e-4,
    ),
    Case(
        "both names: its own counts",
        lambda g: g.moments(
            like(
                g.motion(),
                names=[*g.arm.coordinates, f"/jointset/r/{g.arm.coordinates[1]}/value"],
                values=np.c_[g.motion().values, T],
                units=["rad"] * 3,
            )
        ),
        1e-4,
    ),
    Case(
        "names in capitals",
        lambda g: g.moments(like(g.motion(), names=[n.upper() for n in g.arm.coordinates])),
        "no column",
    ),
    Case(
        "a name with a space",
        lambda g: g.moments(like(g.motion(), names=[f"{n} " for n in g.arm.coordinates])),
        "no column",
    ),
    Case("a column missing", lambda g: g.moments(g.motion()[["r_elbow_flex"]]), "no column"),
    Case(
        "unicode beside",
        lambda g: g.moments(
            like(
                g.motion(),
                names=[*g.arm.coordinates, "Wächter θ"],
                values=np.c_[g.motion().values, T],
                units=["rad"] * 3,
            )
        ),
        1e-4,
    ),
    Case(
        "NaN in one row",
        lambda g: g.moments(
            like(g.motion(), values=np.where(np.arange(101)[:, None] == 50, np.nan, g.motion().values))
        ),
        "fill the gap",
    ),
    Case(
        "NaN at both ends",
        lambda g: g.moments(
            like(
                g.motion(),
                values=np.where((T < 0.05)[:, None] | (T > 0.95)[:, None], np.nan, g.motion().values),
            )
        ),
        "fill the gap",
    ),
    Case(
        "zeros for a gap of 5 rows",
        lambda g: g.moments(
            like(g.motion(), values=np.where((np.arange(101) // 5 == 5)[:, None], 0.0, g.motion().values))
        ),
        "zero|0|jump",
    ),
    Case(
        "a column stays, as no sensor has it",
        lambda g: float(
            abs(
                cd.inverse_dynamics(g.arm, like(g.motion(), values=g.motion().values * 0 + 0.5)).values
                - g.arm.inverse_dynamics(
                    np.full((101, 2), 0.5), np.zeros((101, 2)), np.zeros((101, 2)), disabled=g.arm.muscles
                )
            ).max()
        ),
        1e-9,
    ),
    *[
        Case(f"at {rate} Hz", lambda g, rate=rate: resampled(g, rate), tolerance)
        for rate, tolerance in ((30, 2e-2), (60, 1e-3), (240, 1e-4), (1000, 1e-4), (2000, 1e-3))
    ],
    *[
        Case(
            f"{rate} Hz, times rounded to {digits} digits",
            lambda g, r=rate, d=digits: resampled(g, r, d),
            tolerance,
        )
        for rate, digits, tolerance in (
            (120, 2, "rounded"),
            (120, 3, 2e-3),
            (120, 4, 1e-3),
            (120, 6, 1e-3),
            (1000, 4, 1e-3),
            (2000, 3, "rounded"),
            (60, 2, 2e-2),
            (30, 2, 2e-2),
            (59.94, 3, 1e-2),
        )
    ],
    Case(
        "rounded and later",
        lambda g: g.moments(
            like(g.motion(np.arange(121) / 120), t=(np.arange(121) / 120 + 7.123).round(3)),
            np.arange(121) / 120,
        ),
        2e-3,
    ),
    Case(
        "a Trajectory with an event",
        lambda g: float(abs(cd.inverse_dynamics(*event_table(g)).values).max()),
        1e-6,
    ),
    Case(
        "the Table of a run with an event that changes nothing",
        lambda g: (lambda s, r: float(abs(cd.inverse_dynamics(s, r.table()).values).max()))(*event_table(g)),
        "event",
    ),
    Case(
        "the Table of a run that an event turns back",
        lambda g: (lambda s, r: float(abs(cd.inverse_dynamics(s, r.table()).values).max()))(
            *event_table(g, lambda s: s.replace(u=-s.u))
        ),
        "event",
    ),
    Case(
        "two trials one after the other",
        lambda g: g.moments(
            cd.Table(np.r_[T, T], g.arm.coordinates, np.r_[g.motion().values, g.motion().values], ["rad"] * 2)
        ),
        "increase",
    ),
    Case(
        "two trials, times going on",
        lambda g: g.moments(
            cd.Table(
                np.arange(202) / 100,
                g.arm.coordinates,
                np.r_[g.motion().values, g.motion().values],
                ["rad"] * 2,
            ),
            np.r_[T, T],
        ),
        "jump",
    ),
    Case(
        "mm as a pose: an arm times 1000",
        lambda g: g.wrench(
            like(g.tumble, values=g.tumble.values * (1, 1, 1, 1, 1e3, 1e3, 1e3), units=["1"] * 4 + ["mm"] * 3)
        ),
        1e-3,
    ),
    Case("a wheel", lambda g: wheel(g, lambda x: x), 1e-2),
    Case(
        "a wheel, wrapped at 180 degrees",
        lambda g: wheel(g, lambda x: like(x, values=wrapped(x.values))),
        1e-2,
    ),
    Case(
        "a wheel, wrapped at 360 degrees",
        lambda g: wheel(g, lambda x: like(x, values=wrapped(DEG(x.values), 360, 0), units=["deg"])),
        1e-2,
    ),
    Case(
        "a wheel, wrapped at half turns",
        lambda g: wheel(g, lambda x: like(x, values=wrapped(x.values, np.pi, 0))),
        "jump",
    ),
    Case("a wheel, five turns on", lambda g: wheel(g, lambda x: like(x, values=x.values + 10 * np.pi)), 1e-2),
    Case(
        "a wheel, wrapped, filtered by the study",
        lambda g: wheel(g, lambda x: like(x, values=wrapped(x.values)), ends=12, lowpass=20.0),
        2e-2,
    ),
    Case(
        "a wheel, wrapped, filtered before",
        lambda g: wheel(g, lambda x: cd.low_pass(like(x, values=wrapped(x.values)), 20.0), ends=12),
        2e-2,
    ),
    Case(
        "a wheel, wrapped, rounded times",
        lambda g: wheel(
            g, lambda x: like(x, t=x.time.round(3), values=wrapped(x.values)), np.arange(121) / 120
        ),
        3e-2,
    ),
    Case(
        "a wheel at 6 rows a turn",
        lambda g: wheel(g, lambda x: like(x, values=wrapped(x.values)), np.arange(13) / 12),
        0.3,
    ),
    Case(
        "a wheel, wrapped and resampled linearly",
        lambda g: wheel(
            g,
            lambda x: like(
                x,
                values=np.interp(
                    T, np.arange(65) / 64, wrapped(turning(g, np.arange(65) / 64)[1].values[:, 0])
                )[:, None],
            ),
        ),
        "jump",
    ),
]


# ---- quaternions -------------------------------------------------------------------------------------------


def flipped(table: cd.Table, seed: int = 0) -> cd.Table:
    sign = np.random.default_rng(seed).choice([-1.0, 1.0], len(table))[:, None]
    return like(table, values=np.c_[table.values[:, :4] * sign, table.values[:, 4:]])


def small_turn(g: Given, order: list[int]) -> float:
    """A stone that turns a little where it is, signs at random, columns in another order, filtered."""
    a = 0.05 * np.sin(3 * T)
    x = np.c_[np.cos(a), np.sin(a), 0 * a, 0 * a, 0 * a, 0 * a, 0 * a]
    table = cd.Table(T, g.stone.coordinates, x, ["1"] * 4 + ["m"] * 3)
    found = cd.low_pass(flipped(table)[[table.names[k] for k in order]], 20.0)[list(table.names)]
    return float(abs(abs(found.values) - abs(x)).max())


QUATERNIONS = [
    Case("a tumbling stone", lambda g: g.wrench(g.tumble), 1e-3),
    Case("signs at random", lambda g: g.wrench(flipped(g.tumble)), 1e-3),
    Case(
        "all signs changed",
        lambda g: g.wrench(like(g.tumble, values=g.tumble.values * (-1, -1, -1, -1, 1, 1, 1))),
        1e-3,
    ),
    Case("signs at random, lowpass=", lambda g: g.wrench(flipped(g.tumble), lowpass=30.0), 0.2),
    Case("signs at random, low_pass", lambda g: g.wrench(cd.low_pass(flipped(g.tumble), 30.0)), 0.2),
    Case(
        "signs at random, low_pass, places first",
        lambda g: g.wrench(cd.low_pass(flipped(g.tumble)[[*g.tumble.names[4:], *g.tumble.names[:4]]], 30.0)),
        0.2,
    ),
    Case("small turns, signs, low_pass", lambda g: small_turn(g, [0, 1, 2, 3, 4, 5, 6]), 1e-4),
    Case("small turns, signs, low_pass, places first", lambda g: small_turn(g, [4, 5, 6, 0, 1, 2, 3]), 1e-4),
    Case("small turns, signs, low_pass, w last", lambda g: small_turn(g, [4, 5, 6, 1, 2, 3, 0]), 1e-4),
    Case("small turns, signs, low_pass, columns mixed", lambda g: small_turn(g, [0, 4, 1, 5, 2, 6, 3]), 1e-4),
    Case(
        "signs at random, columns mixed, low_pass",
        lambda g: g.wrench(
            cd.low_pass(flipped(g.tumble)[[g.tumble.names[k] for k in (0, 4, 1, 5, 2, 6, 3)]], 30.0)
        ),
        "length",
    ),
    Case(
        "length 1.04",
        lambda g: g.wrench(like(g.tumble, values=g.tumble.values * (1.04, 1.04, 1.04, 1.04, 1, 1, 1))),
        1e-3,
    ),
    Case(
        "length 2",
        lambda g: g.wrench(like(g.tumble, values=g.tumble.values * (2, 2, 2, 2, 1, 1, 1))),
        "length",
    ),
    Case(
        "rounded to 4 digits",
        lambda g: g.wrench(
            like(g.tumble, values=np.c_[g.tumble.values[:, :4].round(4), g.tumble.values[:, 4:]])
        ),
        1.0,
    ),
    Case(
        "zero in a row",
        lambda g: g.wrench(
            like(
                g.tumble,
                values=np.where((np.arange(101) == 50)[:, None] & (np.arange(7) < 4), 0, g.tumble.values),
            )
        ),
        "length one",
    ),
    Case(
        "places in mm without a unit",
        lambda g: g.wrench(
            like(g.tumble, values=g.tumble.values * (1, 1, 1, 1, 1e3, 1e3, 1e3), units=["1"] * 4 + [""] * 3)
        ),
        "millimeters",
    ),
    Case(
        "a flip of x, y, z against w (conjugate) half way",
        lambda g: g.wrench(
            like(
                g.tumble,
                values=np.where((T > 0.5)[:, None] & (np.arange(7) > 0) & (np.arange(7) < 4), -1, 1)
                * g.tumble.values,
            )
        ),
        "jump",
    ),
    Case("saved as .sto", lambda g: g.wrench(g.saved(flipped(g.tumble), "tumble.sto")), 1e-3),
    Case("saved as .csv", lambda g: g.wrench(g.saved(flipped(g.tumble), "tumble.csv")), 1e-3),
]


# ---- markers -----------------------------------------------------------------------------------------------


def swap_rows(m: cd.Markers, a: str, b: str, rows: slice = slice(None)) -> cd.Markers:
    x = m.positions.copy()
    i, j = m.names.index(a), m.names.index(b)
    x[rows, i], x[rows, j] = m.positions[rows, j], m.positions[rows, i]
    return cd.Markers(m.time, m.names, x)


def mirrored(g: Given) -> float:
    """Left and right exchanged, and z: coordinates of the sides exchange."""

    def other(n: str) -> str:
        return {"R": "L", "L": "R"}.get(n[0], n[0]) + n[1:] if n[1] == "." else n

    m, s = g.subject.walk, g.subject
    found = cd.inverse_kinematics(
        s.system, cd.Markers(m.time, [other(n) for n in m.names], m.positions * (1, 1, -1))
    ).motion
    side = [n[:-1] + {"r": "l", "l": "r"}[n[-1]] if n[-2:] in ("_r", "_l") else n for n in found.names]
    return float(abs(s.motion[side].values - found.values).max())


MARKERS = [
    Case("as they are", lambda g: g.ik(g.subject.walk), 1e-6),
    *[
        Case(f"in {u}", lambda g, u=u, k=k: g.ik(placed(g.subject.walk, lambda x: k * x, u)), 1e-6)
        for u, k in (("m", 1), ("cm", 100), ("mm", 1000))
    ],
    Case("mm that say m", lambda g: g.ik(placed(g.subject.walk, lambda x: 1000 * x)), "millimeters"),
    Case("cm that say m", lambda g: g.ik(placed(g.subject.walk, lambda x: 100 * x)), "meters"),
    Case("m that say mm", lambda g: g.ik(placed(g.subject.walk, lambda x: x, "mm")), "meters"),
    Case("feet that say m", lambda g: g.ik(placed(g.subject.walk, lambda x: 3.28 * x)), "RMS|far"),
    Case("in another order", lambda g: g.ik(g.subject.walk[list(g.subject.walk.names[::-1])]), 1e-6),
    Case(
        "others too",
        lambda g: g.ik(
            cd.Markers(
                g.subject.walk.time,
                [*g.subject.walk.names, "wand tip 1", "Zeiger ü"],
                np.concatenate([g.subject.walk.positions, np.full((61, 2, 3), np.nan)], axis=1),
            )
        ),
        1e-6,
    ),
    Case(
        "half of them renamed",
        lambda g: g.ik(g.subject.walk.renamed(lambda n: n.replace(".", "_") if n[0] == "R" else n)),
        "otherwise",
    ),
    Case(
        "renamed, and names=",
        lambda g: g.ik(g.subject.walk.renamed({"R.ASIS": "rechts"}), names={"rechts": "R.ASIS"}),
        1e-6,
    ),
    Case(
        "times shifted",
        lambda g: g.ik(cd.Markers(g.subject.walk.time + 1e6, g.subject.walk.names, g.subject.walk.positions)),
        1e-6,
    ),
    Case("half of the frames", lambda g: g.ik(g.subject.walk[::2], slice(None, None, 2)), 1e-6),
    Case("the last frame", lambda g: g.ik(g.subject.walk[60:], slice(60, None)), 1e-6),
    Case(
        "cut in two",
        lambda g: max(g.ik(g.subject.walk[:30], slice(30)), g.ik(g.subject.walk[30:], slice(30, None))),
        1e-6,
    ),
    *[
        Case(
            f"{n} frames of {what} missing",
            lambda g, n=n, p=p: g.ik(put(g.subject.walk, p, slice(20 * (n < 61), 20 + n))),
            expected,
        )
        for n, what, p, expected in (
            (1, "a marker", "^R.Heel", 1e-6),
            (5, "a marker", "^R.Heel", 1e-6),
            (30, "a marker", "^R.Heel", 1e-6),
            (61, "a marker", "^R.Heel", 1e-6),
            (1, "a foot", "^R.(Heel|Mid|Toe|Ankle)", "determine"),
            (5, "a foot", "^R.(Heel|Mid|Toe|Ankle)", "determine"),
            (30, "a foot", "^R.(Heel|Mid|Toe|Ankle)", "determine"),
            (61, "a foot", "^R.(Heel|Mid|Toe|Ankle)", "any frame"),
            (1, "all", None, "nothing was measured"),
            (5, "all", None, "nothing was measured"),
            (30, "all", None, "nothing was"),
        )
    ],
    Case(
        "all missing for ever", lambda g: g.ik(put(g.subject.walk, None, slice(None))), "measured|missing|no "
    ),
    Case(
        "one missing at both ends",
        lambda g: g.ik(put(put(g.subject.walk, "^R.Toe", slice(5)), "^R.Toe", slice(55, None))),
        1e-6,
    ),
    Case(
        "a foot missing at the start",
        lambda g: g.ik(put(g.subject.walk, "^R.(Heel|Mid|Toe|Ankle)", slice(5))),
        "determine",
    ),
    Case("zeros for a gap", lambda g: g.ik(put(g.subject.walk, "^R.Toe", slice(20, 25), 0.0)), "0, 0"),
    Case("zeros for a gap of 1", lambda g: g.ik(put(g.subject.walk, "^R.Toe", slice(20, 21), 0.0)), "0, 0"),
    Case(
        "9999.999 for a gap", lambda g: g.ik(put(g.subject.walk, "^R.Toe", slice(20, 25), 9.999999)), "far|cm"
    ),
    Case(
        "the last value held over a gap",
        lambda g: g.ik(
            placed(
                g.subject.walk,
                lambda x: x.__setitem__(
                    (slice(20, 50), g.subject.walk.names.index("R.Toe")),
                    x[20, g.subject.walk.names.index("R.Toe")],
                ),
            )
        ),
        "R.Toe",
    ),
    Case("z up", lambda g: g.ik(g.subject.walk.turned([[1, 0, 0], [0, 0, -1], [0, 1, 0]])), "z"),
    Case("two exchanged", lambda g: g.ik(swap_rows(g.subject.walk, "R.Knee.Lat", "R.Ankle.Lat")), "exchange"),
    Case(
        "two exchanged for 10 frames",
        lambda g: g.ik(swap_rows(g.subject.walk, "R.Knee.Lat", "R.Ankle.Lat", slice(20, 30))),
        "exchange",
    ),
    Case(
        "two exchanged across the body",
        lambda g: g.ik(swap_rows(g.subject.walk, "R.Heel", "L.Heel")),
        "exchange",
    ),
    Case(
        "sides exchanged in all names",
        lambda g: g.ik(
            g.subject.walk.renamed(
                lambda n: {"R": "L", "L": "R"}.get(n[0], n[0]) + n[1:] if n[1] == "." else n
            )
        ),
        "side|left|exchange|RMS",
    ),
    Case("mirrored left-right", mirrored, 1e-6),
    Case(
        "a marker 20 cm off",
        lambda g: g.ik(placed(g.subject.walk, lambda x: x.__setitem__((slice(None), 10), x[:, 10] + 0.2))),
        "cm",
    ),
    Case("saved as .trc", lambda g: g.ik(g.saved(g.subject.walk, "walk.trc")), 1e-6),
    Case("saved as .c3d", lambda g: g.ik(g.saved(g.subject.walk, "walk.c3d")), 1e-5),
    Case("saved as .csv", lambda g: g.ik(g.saved(g.subject.walk, "walk.csv")), 1e-6),
    Case("saved as .sto", lambda g: g.ik(g.saved(g.subject.walk, "walk.sto")), "unit"),
    Case(
        "saved as .trc in cm",
        lambda g: g.ik(g.saved(placed(g.subject.walk, lambda x: 100 * x, "cm"), "cm.trc")),
        1e-6,
    ),
    Case(
        "saved as .trc with gaps",
        lambda g: g.ik(g.saved(put(g.subject.walk, "^R.Toe", slice(5, 9)), "gaps.trc")),
        1e-6,
    ),
    Case(
        "saved as .c3d with gaps",
        lambda g: g.ik(g.saved(put(g.subject.walk, "^R.Toe", slice(5, 9)), "gaps.c3d")),
        1e-5,
    ),
    Case(
        "saved as .c3d, times later",
        lambda g: float(
            abs(
                g.saved(
                    cd.Markers(g.subject.walk.time + 2, g.subject.walk.names, g.subject.walk.positions),
                    "later.c3d",
                ).time
                - g.subject.walk.time
                - 2
            ).max()
        ),
        "counts from 0",
    ),
    Case("by way of a Table", lambda g: g.ik(cd.Markers.from_table(g.subject.walk.table())), 1e-6),
    Case(
        "by way of pandas",
        lambda g: g.ik(cd.Markers.from_table(cd.Table.from_pandas(g.subject.walk.to_pandas()))),
        1e-6,
    ),
    Case(
        "by way of pandas, times 1000",
        lambda g: g.ik(cd.Markers.from_table(cd.Table.from_pandas(g.subject.walk.to_pandas() * 1000))),
        "numbers",
    ),
    Case(
        "filtered as a Table",
        lambda g: g.ik(cd.Markers.from_table(cd.low_pass(g.subject.walk.table(), 20.0))),
        0.01,
    ),
]


# ---- loads -------------------------------------------------------------------------------------------------


def plates(g: Given, change: Callable[[str, np.ndarray], np.ndarray]) -> list:
    return g.loads(columns(g.subject.ground_reactions, change))


def at_rate(table: cd.Table, rate: float) -> cd.Table:
    """Rows in between, by cubic splines."""
    from scipy.interpolate import CubicSpline

    t = np.arange(round(table.time[-1] * rate) + 1) / rate
    return like(table, t=t, values=CubicSpline(table.time, table.values)(t))


def grf(g: Given) -> cd.Table:
    return g.subject.ground_reactions


LOADS = [
    Case("as they are", lambda g: g.walk(), 1e-9),
    Case("sides in the other order", lambda g: g.walk(loads=g.loads()[::-1]), 1e-9),
    Case(
        "forces in kN that say so",
        lambda g: g.walk(
            loads=g.loads(
                like(
                    grf(g),
                    values=grf(g).values * [1e-3 if "force" in n else 1 for n in grf(g).names],
                    units=["kN" if "force" in n else "m" for n in grf(g).names],
                )
            )
        ),
        "kN",
    ),
    Case(
        "the same by to_si",
        lambda g: g.walk(
            loads=g.loads(
                like(
                    grf(g),
                    values=grf(g).values * [1e-3 if "force" in n else 1 for n in grf(g).names],
                    units=["kN" if "force" in n else "m" for n in grf(g).names],
                ).to_si()
            )
        ),
        1e-9,
    ),
    Case(
        "kN without a word",
        lambda g: g.walk(loads=plates(g, lambda n, x: x / 1000 if "force" in n else x)),
        "residual",
    ),
    Case(
        "body weights",
        lambda g: g.walk(loads=plates(g, lambda n, x: x / 667 if "force" in n else x)),
        "residual",
    ),
    Case(
        "forces with the other sign",
        lambda g: g.walk(loads=plates(g, lambda n, x: -x if "force" in n else x)),
        "residual",
    ),
    Case(
        "forces ten percent less",
        lambda g: g.walk(loads=plates(g, lambda n, x: 0.9 * x if "force" in n else x)),
        "residual",
    ),
    Case(
        "points in mm",
        lambda g: g.walk(loads=plates(g, lambda n, x: 1000 * x if "point" in n else x)),
        "residual|millim|meter|meter",
    ),
    Case(
        "points 30 cm ahead",
        lambda g: g.walk(loads=plates(g, lambda n, x: x + 0.3 if "point_x" in n else x)),
        "residual|distance",
    ),
    Case(
        "y and z exchanged",
        lambda g: g.walk(
            loads=g.loads(
                like(grf(g), names=[n[:-1] + {"x": "x", "y": "z", "z": "y"}[n[-1]] for n in grf(g).names])
            )
        ),
        "order|residual",
    ),
    Case("swapped feet", lambda g: g.walk(loads=g.loads(sides="lr")), "distance|farther|other"),
    Case("a foot's load forgotten", lambda g: g.walk(loads=g.loads()[:1]), "residual"),
    Case("one load twice", lambda g: g.walk(loads=[*g.loads(), g.loads()[0]]), "residual"),
    Case("no loads", lambda g: g.walk(loads=[]), "residual"),
    Case("at 1000 Hz", lambda g: g.walk(loads=g.loads(at_rate(grf(g), 1000))), 1e-6),
    Case("at 50 Hz", lambda g: g.walk(loads=g.loads(at_rate(grf(g), 50))), 2.0),
    Case(
        "at 1000 Hz, times rounded to 3 digits",
        lambda g: g.walk(loads=g.loads(like(at_rate(grf(g), 1000), t=at_rate(grf(g), 1000).time.round(3)))),
        1e-6,
    ),
    Case(
        "at 1200 Hz, times rounded to 3 digits",
        lambda g: g.walk(loads=g.loads(like(at_rate(grf(g), 1200), t=at_rate(grf(g), 1200).time.round(3)))),
        "increase|twice|time of the next",
    ),
    Case(
        "both 2 s later",
        lambda g: g.walk(
            like(g.subject.motion, t=g.subject.motion.time + 2), g.loads(like(grf(g), t=grf(g).time + 2))
        ),
        1e-6,
    ),
    Case("loads 2 s later", lambda g: g.walk(loads=g.loads(like(grf(g), t=grf(g).time + 2))), "known from"),
    Case(
        "loads 50 ms later",
        lambda g: g.walk(
            g.subject.motion[0.1:0.5], g.loads(like(grf(g), t=grf(g).time + 0.05)), slice(10, 51)
        ),
        "residual",
    ),
    Case("loads in ms", lambda g: g.walk(loads=g.loads(like(grf(g), t=grf(g).time * 1000))), "known|seconds"),
    Case(
        "loads in ms at 2000 Hz",
        lambda g: g.walk(loads=g.loads(like(at_rate(grf(g), 2000), t=at_rate(grf(g), 2000).time * 1000))),
        "known|seconds",
    ),
    Case("loads shorter than the motion", lambda g: g.walk(loads=g.loads(grf(g)[:40])), "known from"),
    Case("loads longer than the motion", lambda g: g.walk(g.subject.motion[:40], rows=slice(40)), 20.0),
    Case(
        "loads reversed",
        lambda g: g.walk(loads=g.loads(grf(g)._with(rows=slice(None, None, -1)))),
        "increase",
    ),
    Case(
        "NaN for no force",
        lambda g: g.walk(
            loads=plates(g, lambda n, x: np.where(np.arange(61) == 30, np.nan, x) if "force" in n else x)
        ),
        "write 0",
    ),
    Case(
        "NaN points without force",
        lambda g: g.walk(
            loads=g.loads(
                like(
                    grf(g),
                    values=np.where(
                        np.isclose(grf(g)["r_force_y"], 0)[:, None]
                        & np.array([n.startswith("r_point") for n in grf(g).names]),
                        np.nan,
                        grf(g).values,
                    ),
                )
            )
        ),
        1e-6,
    ),
    Case(
        "zeros for a gap of 5 rows",
        lambda g: g.walk(loads=plates(g, lambda n, x: np.where(np.arange(61) // 5 == 5, 0, x))),
        "residual",
    ),
    Case(
        "columns in another order",
        lambda g: g.walk(loads=g.loads(grf(g)[[*grf(g).names[6:], *grf(g).names[:6]]])),
        1e-9,
    ),
    Case("x, y, z in another order", lambda g: g.walk(loads=g.loads(grf(g)[[*grf(g).names[::-1]]])), "order"),
    *[
        Case(
            f"saved as {e}",
            lambda g, e=e: g.walk(
                g.saved(g.subject.motion, f"motion{e}"), g.loads(g.saved(grf(g), f"grf{e}"))
            ),
            1e-6,
        )
        for e in (".sto", ".mot", ".csv", ".npz")
    ],
    Case(
        "saved as .mot in kN and mm",
        lambda g: g.walk(
            loads=g.loads(
                g.saved(
                    like(
                        grf(g),
                        values=grf(g).values * [1e-3 if "force" in n else 1e3 for n in grf(g).names],
                        units=["kN" if "force" in n else "mm" for n in grf(g).names],
                    ),
                    "kn.mot",
                )
            )
        ),
        1e-6,
    ),
    Case(
        "saved as .mot in body weights",
        lambda g: g.walk(
            loads=g.loads(
                g.saved(
                    like(
                        grf(g),
                        values=grf(g).values * [1 / 667 if "force" in n else 1 for n in grf(g).names],
                        units=["BW" if "force" in n else "m" for n in grf(g).names],
                    ),
                    "bw.mot",
                )
            )
        ),
        "BW",
    ),
    Case("mirrored: sides of motion and loads", lambda g: mirrored_walk(g), 1e-6),
    Case(
        "motion at 1e6 s with loads there",
        lambda g: g.walk(
            like(g.subject.motion, t=g.subject.motion.time + 1e6), g.loads(like(grf(g), t=grf(g).time + 1e6))
        ),
        1e-3,
    ),
]


def mirrored_walk(g: Given) -> float:
    def other(n: str) -> str:
        if n[-2:] in ("_r", "_l"):
            return n[:-1] + {"r": "l", "l": "r"}[n[-1]]
        return {"r": "l", "l": "r"}[n[0]] + n[1:] if n[:2] in ("r_", "l_") else n

    motion, s = g.subject.motion, g.subject.system
    load = columns(grf(g), lambda n, x: -x if n[-1] == "z" else x)
    found = cd.inverse_dynamics(
        s,
        like(motion, names=[other(n) for n in motion.names]),
        g.loads(like(load, names=[other(n) for n in load.names])),
    )
    return float(abs(found[[other(n) for n in g.walk_moments.names]].values - g.walk_moments.values).max())


# ---- Tables: files, pandas, filters ------------------------------------------------------------------------


def frame(g: Given, change: Callable[[Any], Any] = lambda f: f, **options: Any) -> float:
    return g.moments(cd.Table.from_pandas(change(degrees(g).to_pandas()), **options))


def text(g: Given, name: str, change: Callable[[str], str]) -> cd.Table:
    path = g.folder / name
    degrees(g).save(path)
    path.write_text(change(path.read_text()))
    return cd.read_table(path)


def filtered(g: Given, table: cd.Table, cutoff: float = 10.0) -> float:
    """Largest difference [rad] of an arm's filtered angles from the same, filtered as they are."""
    found = cd.low_pass(table, cutoff)
    return float(abs(found.values - cd.low_pass(g.motion(), cutoff).values[: len(found)]).max())


TABLES = [
    *[
        Case(f"degrees saved as {e}", lambda g, e=e: g.moments(g.saved(degrees(g), f"deg{e}")), 1e-4)
        for e in (".sto", ".mot", ".csv", ".npz")
    ],
    *[
        Case(f"radians saved as {e}", lambda g, e=e: g.moments(g.saved(g.motion(), f"rad{e}")), 1e-4)
        for e in (".sto", ".mot", ".csv", ".npz")
    ],
    *[
        Case(
            f"degrees=True saved as {e}",
            lambda g, e=e: g.moments(g.saved(like(degrees(g), units=["", ""], degrees=True), f"unit{e}")),
            expected,
        )
        for e, expected in ((".sto", 1e-4), (".mot", 1e-4), (".csv", "degrees"), (".npz", 1e-4))
    ],
    *[
        Case(
            f"no unit saved as {e}",
            lambda g, e=e: g.moments(g.saved(g.motion(units=None), f"none{e}")),
            "degrees",
        )
        for e in (".sto", ".mot", ".csv", ".npz")
    ],
    Case(
        "one column in degrees saved as .mot",
        lambda g: g.moments(
            g.saved(
                like(g.motion(), values=g.motion().values * (180 / np.pi, 1), units=["deg", "rad"]),
                "mixed.mot",
            )
        ),
        1e-4,
    ),
    Case(
        "inDegrees exchanged",
        lambda g: g.moments(text(g, "no.mot", lambda s: s.replace("inDegrees=yes", "inDegrees=no"))),
        "degrees",
    ),
    Case(
        "inDegrees left out",
        lambda g: g.moments(text(g, "left.mot", lambda s: s.replace("inDegrees=yes\n", ""))),
        "degrees",
    ),
    Case(
        "nRows wrong",
        lambda g: g.moments(text(g, "n.mot", lambda s: s.replace("nRows=101", "nRows=90"))),
        "rows",
    ),
    Case("cut off in a row", lambda g: g.moments(text(g, "cut.mot", lambda s: s[:-30])), "row|columns|line"),
    Case("decimal commas", lambda g: g.moments(text(g, "comma.mot", lambda s: s.replace(".", ","))), ","),
    Case(
        "semicolons in .csv",
        lambda g: g.moments(text(g, "semi.csv", lambda s: s.replace(",", ";"))),
        "separates",
    ),
    Case(
        "Windows line ends", lambda g: g.moments(text(g, "crlf.mot", lambda s: s.replace("\n", "\r\n"))), 1e-4
    ),
    Case(
        "time [ms] in .csv",
        lambda g: g.moments(
            text(
                g,
                "ms.csv",
                lambda s: "\n".join(
                    [
                        s.splitlines()[0].replace("[s]", "[ms]"),
                        *(f"{1e3 * float(r.split(',')[0])},{r.split(',', 1)[1]}" for r in s.splitlines()[1:]),
                        "",
                    ]
                ),
            )
        ),
        1e-4,
    ),
    Case(
        "a header of one column twice",
        lambda g: g.moments(text(g, "two.mot", lambda s: s.replace("r_elbow_flex", "r_shoulder_elev"))),
        "more than once|twice",
    ),
    Case(
        "a word among numbers",
        lambda g: g.moments(text(g, "word.csv", lambda s: s.replace("\n0.5,", "\n0.5,x"))),
        "x",
    ),
    Case(
        "a name with a space saved as .mot",
        lambda g: g.moments(g.saved(like(g.motion(), names=["a b", "c"]), "space.mot")),
        "white space",
    ),
    Case(
        "a name with a space saved as .csv",
        lambda g: float(
            g.saved(like(g.motion(), names=["a b", "ü [x] θ"]), "space.csv").names != ("a b", "ü [x] θ")
        ),
        0.0,
    ),
    Case(
        "one row saved",
        lambda g: float(
            abs(g.saved(g.motion()[:1], "one.mot").values - DEG(0) - g.motion()[:1].values).max()
        ),
        1e-12,
    ),
    Case(
        "gaps saved as .sto",
        lambda g: float(
            np.isnan(
                g.saved(
                    like(g.motion(), values=np.where(T[:, None] < 0.1, np.nan, g.motion().values)), "nan.sto"
                ).values
            ).sum()
            != 20
        ),
        0.0,
    ),
    Case("by way of pandas", frame, 1e-4),
    Case("pandas, some rows", lambda g: frame(g, lambda f: f.iloc[20:60]), 1e-4),
    Case("pandas, np.radians", lambda g: frame(g, np.radians), "numbers"),
    Case("pandas, np.radians, units=", lambda g: frame(g, np.radians, units=["rad", "rad"]), 1e-4),
    Case(
        "pandas, rolling mean",
        lambda g: frame(g, lambda f: f.rolling(3, center=True).mean().dropna()),
        "in degrees",
    ),
    Case("pandas, columns exchanged", lambda g: frame(g, lambda f: f[f.columns[::-1]]), 1e-4),
    Case("pandas, sorted backward", lambda g: frame(g, lambda f: f.sort_index(ascending=False)), "increase"),
    Case(
        "pandas, concatenated", lambda g: frame(g, lambda f: __import__("pandas").concat([f, f])), "increase"
    ),
    Case("pandas, reset_index", lambda g: frame(g, lambda f: f.reset_index()), 1e-4),
    Case("pandas, index dropped", lambda g: frame(g, lambda f: f.reset_index(drop=True)), "time"),
    Case("pandas, a DataFrame given to the study", lambda g: g.moments(degrees(g).to_pandas()), 1e-4),
    Case(
        "pandas, written and read by it",
        lambda g: frame(
            g, lambda f: (f.to_csv(g.folder / "f.csv"), __import__("pandas").read_csv(g.folder / "f.csv"))[1]
        ),
        "degrees",
    ),
    Case("filtered", lambda g: filtered(g, g.motion()), 1e-12),
    Case("filtered, in degrees", lambda g: filtered(g, degrees(g).to_si()), 1e-9),
    Case("filtered later", lambda g: filtered(g, like(g.motion(), t=T + 1e6)), 1e-6),
    Case(
        "filtered with rounded times",
        lambda g: float(
            abs(
                cd.low_pass(
                    like(g.motion(np.arange(121) / 120), t=(np.arange(121) / 120).round(3)), 10.0
                ).values
                - cd.low_pass(g.motion(np.arange(121) / 120), 10.0).values
            ).max()
        ),
        1e-5,
    ),
    Case(
        "filtered with a gap in time", lambda g: filtered(g, g.motion(np.delete(T, slice(30, 60)))), "no rows"
    ),
    Case(
        "filtered with NaN",
        lambda g: filtered(g, like(g.motion(), values=np.where(T[:, None] < 0.1, np.nan, g.motion().values))),
        "fill the gap",
    ),
    Case(
        "filtered backward", lambda g: filtered(g, g.motion()._with(rows=slice(None, None, -1))), "increase"
    ),
    Case("filtered, one row", lambda g: filtered(g, g.motion()[:1]), "few|above 0"),
    Case("filtered above half of the rate", lambda g: filtered(g, g.motion(), 60.0), "below half"),
    Case("filtered in parts of the rate", lambda g: filtered(g, g.motion(), 0.12), "Hz"),
    Case(
        "filtered trigger of 5 V without a unit",
        lambda g: float(
            abs(cd.low_pass(cd.Table(T, ["trigger"], 5.0 * (T > 0.5)[:, None]), 20.0).values[-1, 0] - 5)
        ),
        0.05,
    ),
    Case(
        "filtered force that steps 350 N, degrees=True",
        lambda g: float(
            abs(
                cd.low_pass(cd.Table(T, ["fy"], 350.0 * (T > 0.5)[:, None], degrees=True), 20.0).values[-1, 0]
                - 350
            )
        ),
        1.0,
    ),
    Case(
        "filtered before, after cut",
        lambda g: float(
            abs(
                cd.low_pass(g.motion(), 10.0)[20:80].values - cd.low_pass(g.motion()[20:80], 10.0).values
            ).max()
        ),
        2e-3,
    ),
    Case(
        "lowpass= is low_pass",
        lambda g: float(
            abs(
                cd.inverse_dynamics(g.arm, g.motion(), lowpass=10.0).values
                - cd.inverse_dynamics(g.arm, cd.low_pass(g.motion(), 10.0)).values
            ).max()
        ),
        1e-9,
    ),
]


# ---- other studies, and runs by samples --------------------------------------------------------------------


def study(g: Given, name: str, motion: Any = None, forces: Any = None) -> float:
    """Largest difference of a study's numbers from those of the walk."""
    s, exact = g.subject.system, motion is None
    motion = g.subject.motion if exact else motion
    if name == "static":
        return float(
            abs(
                cd.static_optimization(s, motion, g.loads(), reserves=10.0).forces.values
                - g.forces.forces.values
            ).max()
        )
    if name == "lengths":
        return float(
            abs(
                cd.muscle_analysis(s, motion).lengths.values
                - cd.muscle_analysis(s, g.subject.motion).lengths.values
            ).max()
        )
    reference = g.__dict__.setdefault(
        "reactions", cd.joint_reactions(s, g.subject.motion, g.forces.forces, g.loads()).values
    )
    return float(
        abs(
            cd.joint_reactions(s, motion, g.forces.forces if forces is None else forces, g.loads()).values
            - reference
        ).max()
    )


def between(table: cd.Table) -> cd.Table:
    """Rows, and one half way between each two."""
    t = np.linspace(table.time[0], table.time[-1], 2 * len(table) - 1)
    values = np.stack([np.interp(t, table.time, x) for x in table.values.T], axis=1)
    values[::2] = table.values
    t[::2] = table.time
    return like(table, t=t, values=values)


def in_degrees(table: cd.Table) -> cd.Table:
    return like(
        table,
        values=table.values * [180 / np.pi if u == "rad" else 1000 for u in table.units],
        units=["deg" if u == "rad" else "mm" for u in table.units],
    )


def arm_by_samples(g: Given, t: Any, values: Any, until: float = 1.0) -> float:
    """Where a rod on a prescribed cart swings to [rad], against samples of a fine grid."""

    def run(t: Any, x: Any, until: float) -> float:
        s = cd.System()
        s.add_body(
            "cart",
            mobilizer=cd.Slider(),
            coordinates="x",
            mass=1.0,
            inertia=(1, 1, 1),
            motion=cd.Prescribed(position=(t, x)),
        )
        s.add_body(
            "rod", "cart", cd.Pin(), coordinates="angle", com=(0, -1, 0), mass=1.0, inertia=(1.1, 0.1, 1.1)
        )
        return float(cd.simulate(s, s.state(t=float(np.min(t))), until - 0.0, accuracy=1e-8)["angle"][-1])

    fine = np.arange(201) / 200
    exact = g.__dict__.setdefault("rod", run(fine, 0.2 * np.sin(4 * fine) ** 2, 1.0))
    return abs(run(t, values, until) - exact)


def sway(t: Any) -> np.ndarray:
    return 0.2 * np.sin(4 * np.asarray(t)) ** 2


STUDIES = [
    *[
        Case(f"{n}: degrees and mm", lambda g, n=n: study(g, n, in_degrees(g.subject.motion)), 1e-5)
        for n in ("static", "lengths", "reactions")
    ],
    *[
        Case(
            f"{n}: columns reversed",
            lambda g, n=n: study(g, n, g.subject.motion[list(g.subject.motion.names[::-1])]),
            1e-5,
        )
        for n in ("static", "lengths", "reactions")
    ],
    *[
        Case(
            f"{n}: degrees that say radians",
            lambda g, n=n: study(
                g,
                n,
                in_degrees(g.subject.motion).with_units(
                    ["rad" if u == "rad" else "mm" for u in g.subject.motion.units]
                ),
            ),
            "degrees",
        )
        for n in ("static", "lengths", "reactions")
    ],
    *[
        Case(
            f"{n}: a gap",
            lambda g, n=n: study(
                g,
                n,
                like(
                    g.subject.motion,
                    values=np.where((np.arange(61) == 7)[:, None], np.nan, g.subject.motion.values),
                ),
            ),
            "fill the gap",
        )
        for n in ("static", "lengths", "reactions")
    ],
    Case(
        "reactions: columns of forces reversed",
        lambda g: study(g, "reactions", forces=g.forces.forces[list(g.forces.forces.names[::-1])]),
        1e-6,
    ),
    Case(
        "reactions: forces in kN that say so",
        lambda g: study(
            g,
            "reactions",
            forces=like(
                g.forces.forces,
                values=g.forces.forces.values / 1e3,
                units=["kN"] * len(g.forces.forces.names),
            ),
        ),
        "kN",
    ),
    Case(
        "reactions: forces with the other sign",
        lambda g: study(g, "reactions", forces=like(g.forces.forces, values=-g.forces.forces.values)),
        "push",
    ),
    Case(
        "reactions: forces at other times",
        lambda g: study(g, "reactions", forces=like(g.forces.forces, t=g.forces.forces.time + 5)),
        "time|known",
    ),
    Case(
        "reactions: forces at twice the rate",
        lambda g: study(g, "reactions", forces=between(g.forces.forces)),
        1e-6,
    ),
    Case(
        "reactions: forces without a muscle",
        lambda g: study(g, "reactions", forces=g.forces.forces[list(g.forces.forces.names[1:])]),
        "iliopsoas_r",
    ),
    Case(
        "reactions: forces saved as .sto",
        lambda g: study(g, "reactions", forces=g.saved(g.forces.forces, "forces.sto")),
        1e-6,
    ),
    Case("samples at 40 Hz", lambda g: arm_by_samples(g, np.arange(41) / 40, sway(np.arange(41) / 40)), 2e-2),
    Case(
        "samples twice as long",
        lambda g: arm_by_samples(g, np.arange(81) / 40, sway(np.arange(81) / 40)),
        2e-2,
    ),
    Case(
        "samples that end early",
        lambda g: arm_by_samples(g, np.arange(31) / 40, sway(np.arange(31) / 40)),
        "samples from",
    ),
    Case(
        "samples reversed",
        lambda g: arm_by_samples(g, np.arange(41)[::-1] / 40, sway(np.arange(41)[::-1] / 40)),
        "increas",
    ),
    Case(
        "a sample twice",
        lambda g: arm_by_samples(
            g, np.sort([*np.arange(41) / 40, 0.5]), sway(np.sort([*np.arange(41) / 40, 0.5]))
        ),
        "increas|twice",
    ),
    Case(
        "samples with a gap",
        lambda g: arm_by_samples(
            g, np.arange(41) / 40, np.where(np.arange(41) == 20, np.nan, sway(np.arange(41) / 40))
        ),
        "finite|NaN|nan",
    ),
    Case(
        "samples in ms",
        lambda g: arm_by_samples(g, 25.0 * np.arange(41), sway(np.arange(41) / 40)),
        "time|second|sampl",
    ),
]


# ---- crying wolf: ordinary recordings, which bring no warning ---------------------------------------------


def ordinary(g: Given, rate: float, noise: float, gaps: int, seed: int) -> float:
    """Largest error of coordinates [rad, m] of a recording with noise [m] and gaps of so many frames."""
    known, rng = g.__dict__.setdefault("recordings", {}), np.random.default_rng(seed)
    if rate not in known:
        known[rate] = cd.models.synthetic_subject(duration=0.6, rate=rate, noise=0.0, placement=0.003)
    s, made = g.subject.system, known[rate]
    walk = made.walk.positions + rng.normal(scale=noise, size=made.walk.positions.shape)
    for k in rng.choice(len(made.walk.names), 8, replace=False) if gaps else ():
        at = rng.integers(5, len(walk) - 10)
        walk[at : at + gaps, k] = np.nan
    markers = cd.Markers(made.walk.time.round(4), made.walk.names, 1000 * walk, units="mm")
    angles = cd.inverse_kinematics(s, markers).motion
    cd.inverse_dynamics(s, cd.low_pass(angles, 6.0), g.loads(made.ground_reactions))
    return float(abs(angles.values - made.motion.values).max())


ORDINARY = [
    Case(
        f"{rate} Hz, noise of {1000 * noise:g} mm, gaps of {gaps} frames",
        lambda g, a=(rate, noise, gaps, k): ordinary(g, *a),
        0.2,
    )
    for k, (rate, noise, gaps) in enumerate(
        (rate, noise, gaps)
        for rate in (60, 100, 120, 200, 240)
        for noise, gaps in ((0.0, 3), (0.0005, 0), (0.001, 0), (0.001, 3))
    )
]

ALL = {
    f"{room}: {case.name}": case
    for room, cases in (
        ("motion", MOTIONS),
        ("quaternion", QUATERNIONS),
        ("markers", MARKERS),
        ("loads", LOADS),
        ("table", TABLES),
        ("study", STUDIES),
        ("ordinary", ORDINARY),
    )
    for case in cases
}


def outcome(case: Case, given: Given) -> tuple[float | None, str]:
    """The difference, if there is an answer, and what a warning, an error or its quality said."""
    given.doubts = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            off = case.run(given)
        except cd.errors.CondyleError as error:
            return None, f"{type(error).__name__}: {error}"
    return off, "; ".join([*(f"{w.category.__name__}: {w.message}" for w in caught), *given.doubts])


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    out = Given()
    out.folder = tmp_path_factory.mktemp("metamorphic")
    return out


SLOW = (
    "markers: cm that say m",
    "markers: feet that say m",
    "markers: m that say mm",
    "markers: z up",
    "markers: sides exchanged in all names",
)
"""Kinematics that search long for what is not there."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in ALL]
)
def test_right_or_told(name: str, given: Given) -> None:
    case = ALL[name]
    off, said = outcome(case, given)
    if isinstance(case.expected, str):
        assert said, f"silent: off by {off}"
        assert re.search(case.expected, said), said
    else:
        assert not said
        assert off is not None and off <= case.expected
