"""Every mobilizer as plain data, with its pose along a path in NumPy: products of turns and shifts, each with
two derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline, CubicSpline, NdBSpline
from scipy.spatial.transform import Rotation

import condyle as cd
from condyle.mobilizers import Mobilizer
from condyle.spatial import rotation_about
from tests.oracles.paths import Jet, Path, cross_matrix

KINDS = ("weld", "pin", "slider", "free", "euler", "function", "timed")
"""`euler` is Free with angles, `timed` a function of time as well."""

BUILT_IN = (
    "screw",
    "universal",
    "cylinder",
    "bend",
    "planar",
    "spherical",
    "line",
    "gimbal",
    "bushing",
    "ball",
    "ball_euler",
    "translation",
    "free_line",
    "ellipsoid",
    "normal_ellipsoid",
    "beam",
)
MIXED = (*KINDS, *BUILT_IN, "spline", "custom", "composed")
"""What random trees are made of by default."""
EVERY_KIND = (*MIXED, "curve", "surface", "elliptic", "composed_curve")
"""`spline` is a function with a spline that is looked up; `custom` has speeds that are multiples of qdot;
`composed_curve` is a curve with a pin, another curve or a surface, or two surfaces."""

COUNTS = {
    "weld": (0, 0),
    "pin": (1, 1),
    "slider": (1, 1),
    "free": (7, 6),
    "euler": (6, 6),
    "screw": (1, 1),
    "universal": (2, 2),
    "cylinder": (2, 2),
    "bend": (2, 2),
    "planar": (3, 3),
    "spherical": (3, 3),
    "line": (4, 2),
    "gimbal": (3, 3),
    "bushing": (6, 6),
    "ball": (4, 3),
    "ball_euler": (3, 3),
    "translation": (3, 3),
    "free_line": (7, 5),
    "ellipsoid": (4, 3),
    "normal_ellipsoid": (4, 3),
    "beam": (3, 3),
    "curve": (1, 1),
    "surface": (2, 2),
    "elliptic": (1, 1),
}
QUATERNIONS = ("free", "line", "ball", "free_line", "ellipsoid", "normal_ellipsoid")
LAWS = ("function", "timed", "spline", "custom")
UNIT = np.eye(3)
X, Y, Z = UNIT


@dataclass(frozen=True)
class Joint:
    """A mobilizer as data.

    axis: of pin, slider, screw.
    numbers: pitch, radii, length, offsets and signs, multiple of qdot; of a curve its order and whether it is
    closed; of a surface its order and its axes by number: turns about x, y, z, then shifts.
    frames: of a curve, R (n, 3, 3) and p (n, 3); of a surface its control values (6, n1, n2).
    parts: of `composed`.
    functions: six, angles then translations, of (t,) *q; `axes`: their six unit axes.
    """

    kind: str
    axis: np.ndarray = field(default_factory=lambda: UNIT[2])
    coordinates: tuple[str, ...] = ()
    functions: tuple = ()
    axes: np.ndarray | None = None
    reversed: bool = False
    numbers: tuple = ()
    parts: tuple[Joint, ...] = ()
    frames: tuple = ()

    @property
    def counts(self) -> tuple[int, int]:
        """nq, nu."""
        if self.parts:
            return tuple(sum(n) for n in zip(*(part.counts for part in self.parts)))
        return COUNTS.get(self.kind, (len(self.coordinates), len(self.coordinates)))

    @property
    def quaternions(self) -> list[int]:
        """Where a quaternion begins among the coordinates."""
        if self.parts:
            starts = np.cumsum([0, *(part.counts[0] for part in self.parts)])
            return [int(start) + k for start, part in zip(starts, self.parts) for k in part.quaternions]
        return [0] if self.kind in QUATERNIONS else []

    def mobilizer(self) -> Mobilizer:
        """The same as Condyle's object."""
        made = self._mobilizer()
        return made.reversed() if self.reversed else made

    def _mobilizer(self) -> Mobilizer:
        n = self.numbers
        match self.kind:
            case "pin":
                return cd.Pin(axis=tuple(2.5 * self.axis))  # any length will do
            case "slider":
                return cd.Slider(axis=tuple(0.3 * self.axis))
            case "screw":
                return cd.Screw(n[0], axis=tuple(self.axis))
            case "spherical":
                return cd.SphericalCoords(n[0], n[1] < 0, n[2], n[3] < 0, "zx"[n[5]], n[4] < 0)
            case "ellipsoid" | "normal_ellipsoid":
                return cd.Ellipsoid(n, normal=self.kind == "normal_ellipsoid")
            case "beam":
                return cd.CantileverFreeBeam(n[0])
            case "curve":
                return cd.SplineCurve(self.frames, *n, domain=(-1, 1))
            case "surface":
                axes = [f"{'rt'[i // 3]}{'xyz'[i % 3]}" for i in n[1:]]
                return cd.SplineSurface(self.frames[0], order=n[0], domain=(-1, 1), axes=axes)
            case "elliptic":
                return cd.EllipticSlider(*n)
            case "composed" | "composed_curve":
                return cd.compose(*(part.mobilizer() for part in self.parts))
            case "custom":
                k = n[0]
                rates = {} if k == 1 else {"N": lambda *q: k * np.eye(len(q))}
                return cd.Custom(self.coordinates, self._users_transform, **rates)
            case "function" | "timed" | "spline":
                axes = None if self.axes is None else [tuple(a) for a in self.axes]
                return cd.FunctionBased(
                    self.coordinates, self.functions[:3], self.functions[3:], axes, time=self.kind == "timed"
                )
        return {
            "weld": cd.Weld,
            "free": cd.Free,
            "euler": lambda: cd.Free(coordinates="euler"),
            "universal": cd.Universal,
            "cylinder": cd.Cylinder,
            "bend": cd.BendStretch,
            "planar": cd.Planar,
            "line": cd.LineOrientation,
            "gimbal": cd.Gimbal,
            "bushing": cd.Bushing,
            "ball": cd.Ball,
            "ball_euler": lambda: cd.Ball(coordinates="euler"),
            "translation": cd.Translation,
            "free_line": cd.FreeLine,
        }[self.kind]()

    def _users_transform(self, *q):
        """What a user would write for `custom`."""
        y = [f(*q) if callable(f) else f or 0.0 for f in self.functions]
        axes = np.concatenate([UNIT, UNIT]) if self.axes is None else self.axes
        R = UNIT
        for axis, angle in zip(axes[:3], y[:3]):
            R = R @ rotation_about(axis, angle)
        return R, sum(axis * shift for axis, shift in zip(axes[3:], y[3:]))

    def path(self, t, q, u, udot) -> Path:
        """X_FM with its derivatives by time. t (...); q (..., nq); u, udot (..., nu)."""
        made = self._forward(t, *(np.moveaxis(np.asarray(a, dtype=float), -1, 0) for a in (q, u, udot)))
        return made.inverse() if self.reversed else made

    def _forward(self, t, q, u, udot) -> Path:
        n = self.numbers
        if self.parts:
            made, i, j = Path.of(UNIT, np.zeros((*np.shape(t), 3))), 0, 0
            for part in self.parts:
                nq, nu = part.counts
                made = made @ part.path(
                    t, *(np.moveaxis(a, 0, -1) for a in (q[i : i + nq], u[j : j + nu], udot[j : j + nu]))
                )
                i, j = i + nq, j + nu
            return made
        if self.kind in ("free", "euler", "ball", "ball_euler"):
            made = _oriented(_rotation(self.kind, q), *(np.moveaxis(x[:3], 0, -1) for x in (u, udot)))
            return made if self.kind.startswith("ball") else _shift(UNIT, q[-3:], u[-3:], udot[-3:]) @ made
        if self.kind in ("line", "free_line"):
            R = _rotation(self.kind, q)
            # w = R w_M, and w x w = 0: alpha = R wdot_M.
            made = _oriented(
                R, *((R[..., :2] @ np.moveaxis(x[:2], 0, -1)[..., None])[..., 0] for x in (u, udot))
            )
            return made if self.kind == "line" else _shift(UNIT, q[-3:], u[-3:], udot[-3:]) @ made
        if self.kind in ("ellipsoid", "normal_ellipsoid"):
            made = _oriented(_rotation(self.kind, q), *(np.moveaxis(x, 0, -1) for x in (u, udot)))
            normal = [Jet(*(d[..., i, 2] for d in (made.X, made.d1, made.d2))) for i in range(3)]
            p = [a * e for a, e in zip(n, normal)]
            if self.kind == "normal_ellipsoid":
                length = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) ** 0.5
                p = [a * e * length**-1.0 for a, e in zip(n, p)]
            return _shift(UNIT, *([getattr(e, name) for e in p] for name in ("x", "d1", "d2"))) @ made
        k = n[0] if self.kind == "custom" else 1.0  # qdot = k u
        x = [Jet(a, k * b, k * c) for a, b, c in zip(q, u, udot)]
        if self.kind in LAWS:
            return self._of_laws([Jet(np.asarray(t, dtype=float), 1.0), *x] if self.kind == "timed" else x)
        match self.kind:
            case "weld":
                return Path.of(UNIT, np.zeros((*np.shape(t), 3)))
            case "pin":
                return _turn(self.axis, x[0])
            case "slider":
                return _along(self.axis, x[0])
            case "screw":
                return _along(self.axis, n[0] * x[0]) @ _turn(self.axis, x[0])
            case "universal":
                return _turn(X, x[0]) @ _turn(Y, x[1])
            case "cylinder":
                return _turn(Z, x[0]) @ _along(Z, x[1])
            case "bend":
                return _turn(Z, x[0]) @ _along(X, x[1])
            case "planar":
                return _along(X, x[1]) @ _along(Y, x[2]) @ _turn(Z, x[0])
            case "spherical":
                return (
                    _turn(Z, n[0] + n[1] * x[0])
                    @ _turn(Y, n[2] + n[3] * x[1])
                    @ _along((Z, X)[n[5]], n[4] * x[2])
                )
            case "gimbal":
                return _turn(X, x[0]) @ _turn(Y, x[1]) @ _turn(Z, x[2])
            case "bushing":
                return _shift(UNIT, q[3:], u[3:], udot[3:]) @ _turn(X, x[0]) @ _turn(Y, x[1]) @ _turn(Z, x[2])
            case "translation":
                return _shift(UNIT, q, u, udot)
            case "curve":
                return _curve(*self.frames, *n, x[0])
            case "surface":
                return _surface(*self.frames, *n, x=x)
            case "elliptic":
                return _elliptic(*n, x[0])
            case "beam":
                L = n[0]
                sink = L + -4 / 15 * L * (x[0] * x[0] + x[1] * x[1])
                bent = _along(X, 2 / 3 * L * x[1]) @ _along(Y, -2 / 3 * L * x[0]) @ _along(Z, sink)
                return bent @ _turn(X, x[0]) @ _turn(Y, x[1]) @ _turn(Z, x[2])
        raise ValueError(self.kind)

    def _of_laws(self, x: list[Jet]) -> Path:
        y = [
            f if isinstance(f, Jet) else Jet(f)
            for f in (g(*x) if callable(g) else g or 0.0 for g in self.functions)
        ]
        axes = np.concatenate([UNIT, UNIT]) if self.axes is None else self.axes
        turned = _turn(axes[0], y[0]) @ _turn(axes[1], y[1]) @ _turn(axes[2], y[2])
        return _along(axes[3], y[3]) @ _along(axes[4], y[4]) @ _along(axes[5], y[5]) @ turned


def _turn(axis, angle: Jet) -> Path:
    rotvec = np.asarray(angle.x)[..., None] * axis
    R = Rotation.from_rotvec(rotvec.reshape(-1, 3)).as_matrix().reshape(*rotvec.shape[:-1], 3, 3)
    return Path.turn(axis, R, angle)


def _along(axis, distance: Jet) -> Path:
    p, v, a = (np.asarray(d)[..., None] * axis for d in (distance.x, distance.d1, distance.d2))
    return Path.of(UNIT, p, 0.0, v, 0.0, a)


def _shift(R, *p) -> Path:
    """Translation, components first."""
    p, v, a = (np.stack(np.broadcast_arrays(*x), -1) for x in p)
    return Path.of(R, p, 0.0, v, 0.0, a)


def _oriented(R, w, alpha) -> Path:
    """Rotation R with angular velocity w and acceleration alpha in F."""
    w, alpha = cross_matrix(w), cross_matrix(alpha)
    return Path.of(R, np.zeros(3), w @ R, 0.0, (alpha + w @ w) @ R)


def _curve(R, p, order, closed, q: Jet) -> Path:
    """lee2008 (21) for q from -1 to 1, all exponentials, by SciPy's B-splines; each one a turn about its
    screw axis and a shift along it."""
    n, k = len(p), order
    if closed:  # frame j from knot j - k // 2 on, all repeated
        step, index = 2 / n, np.arange(-k, 2 * n)
        knots = -1 + step * np.arange(-k, 2 * n + k)
        R, p = R[(index + k // 2) % n], p[(index + k // 2) % n]
    else:
        knots = _clamped(n, k)
    made = Path.of(R[0], p[0])
    for j in range(1, len(p)):
        bt = BSpline(knots, (np.arange(len(p)) >= j).astype(float), k - 1)
        f = q.chain(*(bt(q.x, nu=d) for d in range(3)))
        w = Rotation.from_matrix(R[j - 1].T @ R[j]).as_rotvec()
        a, K = np.linalg.norm(w), cross_matrix(w)
        V = UNIT + (1 - np.cos(a)) / a**2 * K + (a - np.sin(a)) / a**3 * K @ K
        v = np.linalg.solve(V, R[j - 1].T @ (p[j] - p[j - 1]))
        axis, point = w / a, np.cross(w, v) / a**2
        made = (
            made
            @ Path.of(UNIT, point)
            @ _turn(axis, a * f)
            @ Path.of(UNIT, -point)
            @ _along(axis, axis @ v * f)
        )
    return made


def _clamped(n, order):
    """Knots from -1 to 1."""
    inner = np.linspace(-1, 1, n - order + 2)
    return np.concatenate([np.full(order - 1, -1.0), inner, np.full(order - 1, 1.0)])


def _surface(c, order, *axes, x) -> Path:
    """lee2008 (25) for two coordinates from -1 to 1, by SciPy's tensor products."""
    a, b = x
    spline = NdBSpline(tuple(_clamped(n, order) for n in c.shape[1:]), np.moveaxis(c, 0, -1), order - 1)
    at = np.stack([a.x, b.x], axis=-1)
    f, f_a, f_b, f_aa, f_ab, f_bb = (
        np.moveaxis(spline(at, nu=nu), -1, 0) for nu in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
    )
    d2 = f_a * a.d2 + f_b * b.d2 + f_aa * a.d1**2 + 2 * f_ab * a.d1 * b.d1 + f_bb * b.d1**2
    made = Path.of(UNIT, np.zeros(3))
    for i, *phi in zip(axes, f, f_a * a.d1 + f_b * b.d1, d2):
        made = made @ (_turn if i < 3 else _along)(UNIT[i % 3], Jet(*phi))
    return made


def _elliptic(a, b, q: Jet) -> Path:
    """M's x axis is the tangent (a cos q, b sin q), made one long."""
    x, y = a * np.cos(q), b * np.sin(q)
    length = (x * x + y * y) ** -0.5
    c, s, zero, one = x * length, y * length, Jet(0 * q.x), Jet(0 * q.x + 1)
    rows = [c, -1 * s, zero, s, c, zero, zero, zero, one]
    R = [
        np.stack([getattr(e, d) for e in rows], axis=-1).reshape(*np.shape(q.x), 3, 3)
        for d in ("x", "d1", "d2")
    ]
    p = [
        np.stack([getattr(e, d) for e in (a * np.sin(q), -b * np.cos(q), zero)], axis=-1)
        for d in ("x", "d1", "d2")
    ]
    return Path.of(*(part for pair in zip(R, p) for part in pair))


def _rotation(kind, q):
    if kind in QUATERNIONS:
        made, first = Rotation.from_quat, np.moveaxis(q[[1, 2, 3, 0]], 0, -1)
    else:
        made, first = lambda a: Rotation.from_euler("XYZ", a), np.moveaxis(q[:3], 0, -1)
    return made(first.reshape(-1, first.shape[-1])).as_matrix().reshape(*first.shape[:-1], 3, 3)


@dataclass(frozen=True)
class Curve:
    """A spline through points: cd.Spline for Condyle, scipy's for the oracle, straight beyond the ends."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    @cached_property
    def spline(self):
        return CubicSpline(self.x, self.y, bc_type="natural")

    def __call__(self, x):
        if not isinstance(x, Jet):
            return cd.Spline(self.x, self.y)(x)
        inside = np.clip(x.x, self.x[0], self.x[-1])
        f, f1, f2 = (self.spline(inside, k) for k in range(3))
        return x.chain(f + f1 * (x.x - inside), f1, np.where(inside == x.x, f2, 0.0))


def random_axis(rng) -> np.ndarray:
    """One in three is x, y or z exactly: these take other ways through the code."""
    a = UNIT[rng.integers(3)] if rng.random() < 0.35 else rng.normal(size=3)
    return a / np.linalg.norm(a)


def random_law(rng, slope: np.ndarray):
    """A smooth f(*x) with about this slope, bent by up to a third."""
    shift, phase, bend = rng.uniform(-0.2, 0.2), rng.uniform(-3, 3), rng.uniform(0.05, 0.15)
    wave = rng.uniform(-1, 1, len(slope))

    def law(*x):
        line, inner = (sum((k * v for k, v in zip(weights, x)), 0.0 * x[0]) for weights in (slope, wave))
        return shift + line + bend * np.sin(inner + phase) * np.exp(0.3 * x[-1])

    return law


def random_curve(rng) -> Curve:
    """Enough points to be looked up in a table; their range is a little less than that of random
    coordinates."""
    x = np.linspace(-0.9, 0.9, 16) + rng.uniform(-0.02, 0.02, 16)
    return Curve(tuple(x), tuple(np.sin(1.5 * x + rng.uniform(-0.3, 0.3)) / 1.5))


COMPOSED = (
    ("slider", "pin"),
    ("translation", "ball"),
    ("cylinder", "universal"),
    ("bend", "screw"),
    ("function", "slider"),
)
COMPOSED_CURVES = (("curve", "pin"), ("curve", "curve"), ("surface", "curve"), ("surface", "surface"))


def random_joint(rng, kind: str, name: str) -> Joint:
    turned = bool(rng.random() < 0.4)
    sign = lambda: int(rng.choice((-1, 1)))
    match kind:
        case "screw":
            return Joint(
                kind, axis=random_axis(rng), numbers=(sign() * rng.uniform(0.05, 0.4),), reversed=turned
            )
        case "spherical":
            numbers = (rng.uniform(-1, 1), sign(), rng.uniform(-1, 1), sign(), sign(), int(rng.integers(2)))
            return Joint(
                kind, numbers=numbers if turned else (0.0, 1, 0.0, 1, 1, 0), reversed=bool(rng.random() < 0.4)
            )
        case "ellipsoid" | "normal_ellipsoid":
            return Joint(kind, numbers=tuple(rng.uniform(0.2, 0.6, 3)), reversed=turned)
        case "curve":
            order, closed, n = int(rng.integers(4, 7)), bool(rng.random() < 0.3), int(rng.integers(7, 11))
            axis = 1.5 * random_axis(rng)
            a = 2 * np.pi * np.arange(n) / n if closed else np.linspace(-1, 1, n)
            turned_by, shifted = (np.sin(a), np.cos(a)) if closed else (a, a * a)
            R = Rotation.from_rotvec(turned_by[:, None] * axis + rng.uniform(-0.05, 0.05, (n, 3))).as_matrix()
            p = np.outer(shifted, rng.uniform(-0.3, 0.3, 3)) + rng.uniform(-0.02, 0.02, (n, 3))
            return Joint(kind, numbers=(order, closed), frames=(R, p), reversed=turned)
        case "surface":
            order, shape = int(rng.integers(4, 7)), rng.integers(6, 9, 2)
            c = rng.uniform(-0.05, 0.05, (6, *shape))
            # each coordinate drives one of the six functions most
            drives = rng.permutation(6)[:2]
            c[drives] += np.meshgrid(*(np.linspace(-1, 1, n) for n in shape), indexing="ij")
            return Joint(kind, numbers=(order, *map(int, rng.permutation(6))), frames=(c,), reversed=turned)
        case "elliptic":
            return Joint(kind, numbers=tuple(rng.uniform(0.2, 0.6, 2)), reversed=turned)
        case "beam":
            return Joint(kind, numbers=(rng.uniform(0.3, 0.9),), reversed=turned)
        case "composed" | "composed_curve":
            pairs = COMPOSED if kind == "composed" else COMPOSED_CURVES
            pair = pairs[rng.integers(len(pairs))]
            parts = tuple(random_joint(rng, k, f"{name}_{i}") for i, k in enumerate(pair))
            # at most the six freedoms of a body, none of them twice
            if pair[0] == "function":
                law = random_law(rng, np.array([1.0]))
                parts = (
                    Joint(
                        "function", coordinates=(f"{name}_a",), functions=(law, None, 0.3, None, law, None)
                    ),
                    parts[1],
                )
            return Joint(kind, parts=parts, reversed=turned)
    if kind not in LAWS:
        return Joint(kind, axis=random_axis(rng), reversed=turned)
    n = int(rng.integers(1, 4)) if kind != "spline" else 1
    # each coordinate drives one of the six functions most
    drives = rng.permutation(6)[:n]
    functions = []
    for i in range(6):
        slope = np.where(drives == i, 1.0, 0.0)
        if kind == "timed":
            slope = np.concatenate([rng.uniform(-0.5, 0.5, 1), slope])
        constant = not slope[-n:].any() and rng.random() < 0.4
        law = (None, float(rng.uniform(-0.5, 0.5)))[rng.integers(2)] if constant else random_law(rng, slope)
        functions.append(random_curve(rng) if kind == "spline" and slope.any() else law)
    axes = None
    if rng.random() < 0.5:
        tilted = UNIT + rng.uniform(-0.4, 0.4, (2, 3, 3))  # independent, not orthogonal
        axes = (tilted / np.linalg.norm(tilted, axis=-1, keepdims=True)).reshape(6, 3)
    numbers: Sequence[float] = (1.0 if turned else float(rng.uniform(0.5, 2.0)),) if kind == "custom" else ()
    return Joint(
        kind,
        coordinates=tuple(f"{name}_{c}" for c in "abc"[:n]),
        functions=tuple(functions),
        axes=axes,
        reversed=turned,
        numbers=numbers,
    )
