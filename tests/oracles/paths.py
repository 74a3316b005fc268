"""Numbers and poses along a path: a value with its first two derivatives by time, in plain NumPy.

(f g)' = f' g + f g',   (f g)'' = f'' g + 2 f' g' + f g''                                  (1)
f(x)' = f_x x',         f(x)'' = f_x x'' + f_xx x'^2                                        (2)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


class Jet:
    """A number along a path: x, x', x'', arrays of one shape. NumPy's functions act on it by (2)."""

    def __init__(self, x, d1=0.0, d2=0.0):
        self.x, self.d1, self.d2 = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (x, d1, d2)))

    def chain(self, f, f1, f2):
        """f(x) from its value and two derivatives."""
        return Jet(f, f1 * self.d1, f1 * self.d2 + f2 * self.d1**2)  # (2)

    def __array_ufunc__(self, ufunc, method, *inputs):
        a = [x if isinstance(x, Jet) else Jet(x) for x in inputs]
        x = a[0].x
        match ufunc.__name__:
            case "add":
                return Jet(x + a[1].x, a[0].d1 + a[1].d1, a[0].d2 + a[1].d2)
            case "multiply":
                b = a[1]
                return Jet(
                    x * b.x, a[0].d1 * b.x + x * b.d1, a[0].d2 * b.x + 2 * a[0].d1 * b.d1 + x * b.d2
                )  # (1)
            case "sin":
                return a[0].chain(np.sin(x), np.cos(x), -np.sin(x))
            case "cos":
                return a[0].chain(np.cos(x), -np.sin(x), -np.cos(x))
            case "exp":
                return a[0].chain(np.exp(x), np.exp(x), np.exp(x))
            case "tanh":
                y = np.tanh(x)
                return a[0].chain(y, 1 - y**2, -2 * y * (1 - y**2))
        return NotImplemented

    def __add__(self, other):
        return np.add(self, other)

    def __mul__(self, other):
        return np.multiply(self, other)

    def __sub__(self, other):
        return self + (other * -1)

    def __pow__(self, n):
        """x^n for a number n, x > 0."""
        return self.chain(self.x**n, n * self.x ** (n - 1), n * (n - 1) * self.x ** (n - 2))

    __radd__, __rmul__ = __add__, __mul__


def cross_matrix(a):
    """[a]x, shape (..., 3, 3)."""
    x, y, z = np.moveaxis(np.asarray(a, dtype=float), -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2)


def uncross(S):
    """a of [a]x."""
    return np.stack([S[..., 2, 1], S[..., 0, 2], S[..., 1, 0]], -1)


@dataclass(frozen=True)
class Path:
    """A pose along a path: 4 x 4 matrices X, X', X'', shape (..., 4, 4)."""

    X: np.ndarray
    d1: np.ndarray
    d2: np.ndarray

    @classmethod
    def of(cls, R, p, R1=0.0, p1=0.0, R2=0.0, p2=0.0):
        """From rotation and position and their derivatives; what is left out is zero."""
        batch = np.broadcast_shapes(
            *(np.shape(R)[:-2] for R in (R, R1, R2)), *(np.shape(p)[:-1] for p in (p, p1, p2))
        )
        made = []
        for k, (rotation, position) in enumerate(((R, p), (R1, p1), (R2, p2))):
            X = np.zeros((*batch, 4, 4))
            X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = rotation, position, k == 0
            made.append(X)
        return cls(*made)

    @classmethod
    def turn(cls, axis, R, angle):
        """Rotation about a fixed unit axis: R at this moment, the angle's derivatives from a Jet."""
        K = cross_matrix(axis)
        d1, d2 = (np.asarray(d)[..., None, None] for d in (angle.d1, angle.d2))
        return cls.of(R, np.zeros(3), d1 * K @ R, 0.0, (d2 * K + d1**2 * K @ K) @ R)

    def __matmul__(self, other):
        return Path(
            self.X @ other.X,
            self.d1 @ other.X + self.X @ other.d1,
            self.d2 @ other.X + 2 * self.d1 @ other.d1 + self.X @ other.d2,
        )  # (1)

    def inverse(self):
        """From X Y = 1: Y' = -Y X' Y, Y'' = -Y (X'' Y + 2 X' Y')."""
        R_T = np.swapaxes(self.X[..., :3, :3], -1, -2)
        Y = np.zeros_like(self.X)
        Y[..., :3, :3], Y[..., :3, 3], Y[..., 3, 3] = R_T, -(R_T @ self.X[..., :3, 3:])[..., 0], 1
        Y1 = -Y @ self.d1 @ Y
        return Path(Y, Y1, -Y @ (self.d2 @ Y + 2 * self.d1 @ Y1))

    @property
    def R(self):
        return self.X[..., :3, :3]

    @property
    def p(self):
        return self.X[..., :3, 3]

    def velocity(self):
        """(w, v) of the origin, shape (..., 6): [w]x = R' R^T."""
        return np.concatenate(
            [uncross(self.d1[..., :3, :3] @ np.swapaxes(self.R, -1, -2)), self.d1[..., :3, 3]], -1
        )

    def acceleration(self):
        """(alpha, a) of the origin, shape (..., 6): [alpha]x = R'' R^T + R' R'^T."""
        R, R1, R2 = (A[..., :3, :3] for A in (self.X, self.d1, self.d2))
        S = R2 @ np.swapaxes(R, -1, -2) + R1 @ np.swapaxes(R1, -1, -2)
        return np.concatenate([uncross(S), self.d2[..., :3, 3]], -1)
