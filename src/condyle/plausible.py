"""Implausible numbers: one PlausibilityWarning each, with the value and the likely cause. All limits, with
their reasons, are here.

They are generous. Those of muscles hold for animals from insects to whales. Those of bodies compare numbers
of the same body, so that planets, vehicles and proteins pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from condyle.arrays import Array, median
from condyle.errors import PlausibilityWarning, warn


class Limit(NamedTuple):
    """The largest plausible number, its unit, and the likely cause beyond it."""

    most: float
    unit: str
    cause: str


MUSCLE = {
    "max_isometric_force": Limit(1e6, "N", "forces are in N; an elephant's largest muscles exert 1e5 N"),
    "optimal_fiber_length": Limit(3.0, "m", "lengths are in meters: divide millimeters by 1000"),
    "tendon_slack_length": Limit(10.0, "m", "lengths are in meters: divide millimeters by 1000"),
    "max_contraction_velocity": Limit(200.0, "1/s", "it is in optimal fiber lengths per second, 10 for most"),
    "activation_time_constant": Limit(1.0, "s", "time constants are in seconds: 0.015, not 15 ms"),
    "deactivation_time_constant": Limit(2.0, "s", "time constants are in seconds: 0.05, not 50 ms"),
}
"""By the argument of a muscle."""
FRICTION = 10.0
"""Coefficients: rubber on asphalt has 1, soft tires of dragsters 4."""
UP = (1.0, 30.0)
"""[m/s^2] Gravity of planets: such an acceleration along +y or +z points up in a laboratory."""
STRONG = 300.0
"""[m/s^2] Beyond any planet or ride: cm/s^2 or mm/s^2."""
FAR, SMALL = 50.0, 5.0
"""[m] A frame as far from a body that is as small as this was likely given in millimeters."""
WIDE, WIDER = 3.0, 20.0
"""[m], and in distances of its frames: a radius of gyration beyond both has another unit of inertia."""
HEAVY, DENSE = 500.0, 3e4
"""[kg] and [kg/m^3]: heavier than this, and denser than osmium (2.26e4) even if it were a ball."""
SLOW = 0.2
"""[Hz] No body segment moves slower than a filter of this frequency lets pass."""
ACROSS = 0.5
"""Of gravity along a floor's normal: steeper than 60 degrees it is a wall."""
APART = 0.5
"""[s] between rows of recordings, which have 30 rows per second or more: that of 2000 per second in ms."""


def ask(text: str) -> None:
    """One warning."""
    warn(text, PlausibilityWarning)


def of_muscle(fields: dict[str, float]) -> Iterator[str]:
    """Warnings about numbers of a muscle, by argument."""
    for name, limit in MUSCLE.items():
        if (value := fields.get(name, 0.0)) > limit.most:
            yield f"{name} = {value:g} {limit.unit} is implausible: {limit.cause}"


def of_excitation(values: Array) -> Iterator[str]:
    """Warnings about excitations over time."""
    low, high = float(np.min(values, initial=0.0)), float(np.max(values, initial=0.0))
    if low < -1e-6 or high > 1 + 1e-6:
        cause = "divide percents by 100" if high > 1.5 else "they count as 0 below 0, and as 1 above 1"
        yield f"excitations from {low:g} to {high:g} leave 0 to 1: {cause}"


def of_gravity(g: Array) -> Iterator[str]:
    """Warnings about gravity [m/s^2], shape (3,)."""
    size = float(np.linalg.norm(g))
    if size > STRONG:
        yield f"gravity of {size:g} m/s^2 is implausible: it is in m/s^2, 9.81 on Earth"
    elif UP[0] <= size <= UP[1] and np.count_nonzero(g) == 1 and max(g[1], g[2]) > 0:  # others are meant
        axis = "y" if g[1] > g[2] else "z"
        yield (
            f"gravity of {size:g} m/s^2 acts along +{axis}, which usually points up: did you mean "
            f"-{size:g}? If that axis points down, all is well"
        )


def of_body(mass: float, inertia: Array, lengths: dict[str, float]) -> Iterator[str]:
    """Warnings about a body: mass [kg], inertia about its mass center [kg m^2], shape (3, 3), and
    distances of its frames and mass center [m], by name."""
    trace = float(np.trace(inertia))
    if not (mass > 0 and trace > 0):
        return
    k = math.sqrt(trace / (2 * mass))
    name = max(lengths, key=lambda n: lengths[n])
    far = lengths[name]
    if far > FAR and k < SMALL:
        yield (
            f"{name} is {far:g} m away, but its inertia is that of something of {k:.2g} m: lengths are in "
            "meters, divide millimeters by 1000"
        )
    elif k > WIDE and 0 < WIDER * far < k:
        yield (
            f"inertia {' '.join(f'{x:g}' for x in np.diag(inertia))} is that of something of {k:.3g} m, "
            f"but its frames are {far:.2g} m away: inertia is in kg m^2; kg cm^2 are divided by 1e4, g "
            "cm^2 by 1e7"
        )
    if mass > HEAVY and mass / (9 * k**3) > DENSE:  # a ball of this k has a volume of 9 k^3
        yield (
            f"mass of {mass:g} kg in something of {k:.2g} m is denser than any metal: mass is in kg, "
            "inertia in kg m^2; divide grams by 1000"
        )


def of_cutoff(cutoff: float, t: Array) -> Iterator[str]:
    """Warnings about the frequency [Hz] of a low-pass filter for rows at times t [s]."""
    lasts = float(t[-1] - t[0]) if len(t) > 1 else 0.0
    if 0 < cutoff < SLOW or 0 < cutoff * lasts < 1:
        yield (
            f"a low-pass filter of {cutoff:g} Hz takes away nearly all of a motion of {lasts:.3g} s: 6 Hz "
            "is usual for walking; give Hz, not a fraction of the sampling rate"
        )


def of_times(t: Array) -> Iterator[str]:
    """Warnings about times of recorded loads or coordinates [s]."""
    if len(t) >= 20 and (step := median(np.diff(t))) >= APART:
        yield (
            f"its rows are {step:g} s apart: are times in seconds? Divide milliseconds by 1000, numbers "
            "of frames by the frames per second"
        )


def of_tensions(name: str, least: float, most: float) -> Iterator[str]:
    """Warnings about the smallest and largest tension of a muscle [N]."""
    if least < -1e-3 * max(most, 1.0):
        yield f"{name!r} pushes with {-least:.3g} N, but muscles only pull: is the sign of its column right?"
