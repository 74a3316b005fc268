"""The prior of segment sizes, from a published survey.

Sizes are factors s of the generic model along the axes of bodies, and theta = log s has the prior

    theta ~ N(mu, C),     mu = A (log H/H0, log M/M0),                                                    (1)
    C = L C_given L' + diag(own^2 + model^2) + segment^2 B B' + whole^2 1 1'

L picks the measure of ANSUR II that stands for each axis, C_given is the covariance of their logarithms given
stature H and mass M (or what is known of them), A the regression on these, H0 and M0 those of the generic
model; B is 1 where a size is of a segment. Conditioning distinguishes thigh and trunk: at given stature, long
thighs imply a short trunk.

Sources. ANSUR II: Gordon et al. (2014), 2012 Anthropometric Survey of U.S. Army Personnel, Natick/TR-15/007,
4082 men and 1986 women, public raw data; means and covariances of logarithms below are computed from it, with
both sexes at equal weight. Lengths of segments are differences of heights (trochanterion, lateral femoral
epicondyle, lateral malleolus; cervicale, iliocristale). For axes without a measure (thickness of thigh, shank
and arm, height and depth of the pelvis) a measure of another bone is used, with an assumed independent
deviation `own`. H0 is the length of the model's legs over 0.491 (Drillis and Contini 1966).
"""

from __future__ import annotations

import re
from itertools import permutations
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.records import dataclass
from condyle.system.system import System
from condyle.trace.parameter import numbers_at

_ANSUR = """
stature 1.6898 5.44
mass 75.12 20.00 70
pelvis_breadth 0.2736 7.33 36 58
trunk_height 0.4262 8.57 80 64 31
trunk_breadth 0.3892 8.07 79 72 27 75
trunk_depth 0.2492 10.78 25 74 58 24 28
head_height 0.1286 5.29 38 36 21 38 36 16
head_breadth 0.1509 4.15 43 51 21 47 53 25 43
head_length 0.1945 4.49 60 58 18 52 60 25 41 43
thigh 0.3932 7.65 77 49 20 49 58 16 24 29 45
shank 0.4101 6.45 74 47 27 41 48 20 23 21 40 59
ankle_breadth 0.0707 7.64 76 70 29 70 75 29 38 51 57 52 48
foot_length 0.2581 6.90 86 70 28 68 78 28 35 47 62 67 67 80
foot_height 0.0674 10.98 71 59 25 64 66 21 31 39 51 50 34 63 65
foot_breadth 0.0970 6.97 70 72 30 65 73 34 35 50 58 49 45 78 77 61
upper_arm 0.3225 6.54 87 64 34 63 69 28 31 36 52 72 77 64 77 58 60
forearm 0.2538 7.98 84 62 21 60 74 22 29 39 57 73 72 67 82 60 66 81
hand_length 0.1868 6.26 77 62 25 55 68 26 29 37 54 63 70 65 85 53 67 74 78
hand_breadth 0.0830 7.83 75 72 26 72 79 32 32 51 59 55 46 78 79 65 80 65 70 71
"""
"""Measure, its geometric mean [m, kg], standard deviation of its logarithm [%], correlations with those before
[%]."""

_STANDS_FOR = {
    "pelvis": {"up": ("stature", 0.05), "side": ("pelvis_breadth", 0.0), "ahead": ("stature", 0.06)},
    "thigh": {"up": ("thigh", 0.0), "side": ("ankle_breadth", 0.04), "ahead": ("ankle_breadth", 0.04)},
    "shank": {"up": ("shank", 0.0), "side": ("ankle_breadth", 0.03), "ahead": ("ankle_breadth", 0.03)},
    "foot": {"up": ("foot_height", 0.0), "side": ("foot_breadth", 0.0), "ahead": ("foot_length", 0.0)},
    "trunk": {"up": ("trunk_height", 0.0), "side": ("trunk_breadth", 0.0), "ahead": ("trunk_depth", 0.0)},
    "head": {"up": ("head_height", 0.0), "side": ("head_breadth", 0.0), "ahead": ("head_length", 0.0)},
    "upper arm": {"up": ("upper_arm", 0.0), "side": ("hand_breadth", 0.04), "ahead": ("hand_breadth", 0.04)},
    "forearm": {"up": ("forearm", 0.0), "side": ("hand_breadth", 0.03), "ahead": ("hand_breadth", 0.03)},
    "hand": {"up": ("hand_length", 0.0), "side": ("hand_breadth", 0.02), "ahead": ("hand_breadth", 0.03)},
}
"""For each segment along up, side and ahead: its measure and its own deviation."""

_ROLES = (
    ("head", "head|skull|neck|jaw"),
    ("pelvis", "pelvis|sacrum|ilium|hip_?bone"),
    ("thigh", "femur|thigh|upper_?leg|patella"),
    ("shank", "tibia|shank|fibula|lower_?leg|shin"),
    ("foot", "talus|calcn|calcan|toe|foot|metatars"),
    ("upper arm", "humer|upper_?arm"),
    ("forearm", "ulna|radius|fore_?arm|lower_?arm"),
    ("hand", "hand|carpal|finger|thumb|phalan"),
    ("trunk", "torso|trunk|thorax|lumbar|abdomen|spine|rib|chest|^l[1-5]$|^t1?[0-9]$"),
)

LEG = 0.491
"""Hip to knee to ankle, of stature (Drillis and Contini 1966: 0.245 and 0.246)."""
WHOLE, WHOLE_WITH_HEIGHT = 0.25, 0.05
"""Standard deviation of the factor of the entire body, for adults and children; and that of H0."""
STRANGE, STRANGE_AXIS = 0.07, 0.05
"""Of a body without a segment of the survey, and of its axes beside it."""
MODEL = 0.03
"""Of each size of the generic model itself, which is one person or few, not a mean; assumed."""
SEGMENT = 0.03
"""Common to the sizes of a segment of the model: two published models (Delp et al. 1990, Rajagopal et al. 2016) differ
by 4 % in seven lengths over stature, so by 3 % each."""
SIDES = 0.03
"""Between left and right, where they may differ: limbs of healthy adults differ by 1 to 3 %."""
SURVEYED = 0.12
"""Distance of log stature from the mean beyond which sizes are proportional: about 1.50 to 1.91 m."""


def side(name: str) -> tuple[str, str]:
    """A body's name without its side, and the side: "r", "l" or ""."""
    for pattern in (r"^(.*)_(r|l)$", r"^(.*)_(right|left)$", r"^(r|l)_(.*)$", r"^(right|left)_?(.*)$"):
        if found := re.match(pattern, name, re.IGNORECASE):
            a, b = found.groups()
            stem, which = (a, b) if pattern.startswith("^(.*)") else (b, a)
            if stem:
                return stem, which[0].lower()
    return name, ""


def role(name: str) -> str:
    """The segment of a body by its name, such as "thigh"; "" if unknown."""
    stem = side(name)[0].lower()
    return next((segment for segment, words in _ROLES if re.search(words, stem)), "")


def groups(system: System, symmetric: bool) -> dict[str, str]:
    """The group of each body: bodies of a group share factors. Bodies of one segment do, left and right too
    unless they may differ.
    """
    out = {}
    for b in system.bodies:
        stem, which = side(b.name)
        name = role(b.name) or stem
        out[b.name] = f"{name} {which}" if which and not symmetric else name
    return out


def directions(system: System) -> dict[str, tuple[str, str, str]]:
    """Direction of x, y and z of each body in the default standing pose: up, side or ahead."""
    law: Any = system.force("gravity")
    gravity = np.ravel(np.asarray(numbers_at(law.acceleration), dtype=float))
    up = -gravity / np.linalg.norm(gravity) if gravity.any() else np.array([0.0, 1.0, 0.0])
    X = system.body_poses(system.defaults()[0])
    at = {b.name: X.p[i] for i, b in enumerate(system.bodies)}
    across = np.zeros(3)
    for name, p in at.items():
        stem, which = side(name)
        for other, r in at.items() if which == "r" else ():
            if side(other) == (stem, "l"):
                across += p - r
    across -= up * (up @ across)
    if np.linalg.norm(across) < 1e-3:
        across = np.array([0.0, 0.0, 1.0]) if abs(up[2]) < 0.5 else np.array([0.0, 1.0, 0.0])
    across /= np.linalg.norm(across)
    axes = {"up": up, "side": across, "ahead": np.cross(up, across)}
    out = {}
    for i, b in enumerate(system.bodies):
        along = {name: np.abs(a @ X.R[i]) for name, a in axes.items()}
        out[b.name] = max(permutations(axes), key=lambda way: sum(along[d][k] for k, d in enumerate(way)))
    return out  # type: ignore[return-value]


def generic_stature(system: System, parameters: Any = None) -> float | None:
    """Stature of the person that a model stands for, from the length of its legs [m]; None without legs."""
    X = system.body_poses(system.defaults()[0], parameters=parameters)
    lengths = []
    for stem in ("thigh", "shank"):
        found = [
            np.linalg.norm(X.p[b.index] - X.p[c.index])
            for b in system.bodies
            if role(b.name) == stem and not re.search("patella|fibula", b.name, re.IGNORECASE)
            for c in system.bodies
            if c.parent is b and role(c.name) == ("shank" if stem == "thigh" else "foot")
        ]
        if not found:
            return None
        lengths.append(float(np.mean(found)))
    return sum(lengths) / LEG


def survey() -> tuple[list[str], Array, Array]:
    """Names of the measures, mean (n,) and covariance (n, n) of their logarithms."""
    rows = [line.split() for line in _ANSUR.strip().splitlines()]
    R = np.eye(len(rows))
    for i, row in enumerate(rows):
        R[i, :i] = R[:i, i] = np.array(row[3:], dtype=float) / 100
    sd = np.array([float(row[2]) for row in rows]) / 100
    return [row[0] for row in rows], np.log([float(row[1]) for row in rows]), R * np.outer(sd, sd)


@dataclass(frozen=True, eq=False)
class SizePrior:
    """Prior (1) of the logarithms of sizes.

    Attributes:
        names: of the sizes, as "thigh y", or "thigh" where a segment has one factor.
        mean: of log s, shape (n,).
        covariance: of log s, shape (n, n).
        which: the sizes of each body along x, y, z, shape (3,), by body.
        sources: source of each size, by name.
    """

    names: tuple[str, ...]
    mean: Array
    covariance: Array
    which: dict[str, Array]
    sources: dict[str, str]


def size_prior(
    system: System,
    height: float | None = None,
    mass: float | None = None,
    sizes: str = "axes",
    symmetric: bool = True,
    even: frozenset[str] = frozenset(),
) -> SizePrior:
    """The prior of the sizes of a model.

    Args:
        system: the generic model.
        height: stature of the subject [m]; None if unknown.
        mass: of the subject [kg]; None if unknown.
        sizes: "axes": three factors per segment; "bodies": one; "whole": one for all.
        symmetric: left and right share their factors.
        even: bodies with one factor for all axes, because a joint on them cannot be scaled by three.
    """
    names, mean, C = survey()
    given, value = [], []
    H0, M0 = generic_stature(system), sum(float(b.mass) for b in system.bodies)
    if height is not None and H0 is not None:
        given.append(names.index("stature"))
        value.append(np.log(height / H0))
    if mass is not None and M0 > 1:
        given.append(names.index("mass"))
        value.append(np.log(mass / M0))
    A = C[:, given] @ np.linalg.inv(C[np.ix_(given, given)])
    C_given = C - A @ C[given]
    shift = A @ np.array(value)
    beyond = 0.0
    if height is not None and H0 is not None and abs(np.log(height) - mean[0]) > SURVEYED:
        # beyond the survey: shapes are not extrapolated, sizes are proportional
        beyond = abs(np.log(height) - mean[0]) - SURVEYED
        shift = np.full(len(names), np.log(height / H0))
    group, ways = groups(system, symmetric), directions(system)
    uneven = {g: {b for b in group if group[b] == g} for g in dict.fromkeys(group.values())}
    rows: dict[str, tuple[str, str, float, float, str]] = {}
    which: dict[str, list[str]] = {}
    for body, g in group.items():
        segment, first = role(body), next(b for b in group if group[b] == g)
        one = sizes == "bodies" or bool(uneven[g] & even)
        for k in range(3):
            way = "up" if one and segment != "foot" else "ahead" if one else ways[body][k]
            name = "whole" if sizes == "whole" else g if one else f"{g} {'xyz'[ways[first].index(way)]}"
            which.setdefault(body, []).append(name)
            if sizes == "whole":
                rows.setdefault(name, (name, "stature", 0.0, 0.0, ""))
            elif segment:
                measure, own = _STANDS_FOR[segment][way]
                rows.setdefault(name, (g, measure, 0.0, own, side(body)[1]))
            else:
                rows.setdefault(name, (g, "stature", STRANGE, 0.0 if one else STRANGE_AXIS, side(body)[1]))
    at = [names.index(measure) for _, measure, *_ in rows.values()]
    g_of = [g for g, *_ in rows.values()]
    cov = C_given[np.ix_(at, at)] * (1 + beyond / SURVEYED) ** 2
    cov += (WHOLE if height is None or H0 is None else WHOLE_WITH_HEIGHT) ** 2
    cov += np.diag([own**2 + MODEL**2 for *_, own, _ in rows.values()])
    cov += SEGMENT**2 * np.array([[a[0] == b[0] for b in rows.values()] for a in rows.values()])
    cov += np.array([[b[2] ** 2 if a[0] == b[0] else 0.0 for b in rows.values()] for a in rows.values()])
    if not symmetric:
        cov += SIDES**2 * np.array([[a == b and a[-2:] in (" r", " l") for b in g_of] for a in g_of])
    index = list(rows)
    return SizePrior(
        tuple(index),
        shift[at],
        cov,
        {b: np.array([index.index(n) for n in own]) for b, own in which.items()},
        {n: f"ANSUR II {r[1]}" + (f" and {100 * r[3]:g} %" if r[3] else "") for n, r in rows.items()},
    )
