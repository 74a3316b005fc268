"""Impacts: velocities jump, by impulses that satisfy a law of restitution. docs/theory/rigid_contact.md.

    v+ = v- + W Lambda                                                        rows of gaps and slips      (17)
    newton    v_n+ + e v_n- >= 0  complementary to Lambda_n >= 0,  slips v_t+ in the cone (12)            (18)
    poisson   compression: (11), (12) with v_c, Lambda_c; expansion from there with e Lambda_c at least   (19)
    energy    dT = Lambda . (v+ + v-) / 2 <= 0                                                            (20)

Newton's law with friction can create energy (Kane's pendulum): then Poisson's law replaces it, and if that
does too, one without rebound. An impact records the law that it followed.
"""

from __future__ import annotations

import numpy as np

from condyle.constraints.solve.complementarity import ComplementarityAnswer, ContactProblem
from condyle.records import dataclass

MADE = 1e-9
"""Fraction of the summed absolute work of impulses that counts as rounding in (20)."""


@dataclass(frozen=True)
class Impact:
    """An impact in a run.

    Attributes:
        t: when [s].
        impulses: by the names of the constraints that pushed: normal, and along the two tangents [N s],
            shape (3,).
        energy: change of the kinetic energy less the work of prescribed motions [J]; at most 0.
        law: the law that it followed, "newton", "poisson" or "plastic" (no rebound).
    """

    t: float
    impulses: dict[str, np.ndarray]
    energy: float
    law: str


@dataclass(frozen=True)
class Blow:
    """The effect of an impact: impulses (k, 3), velocities after it (k, 3), energy (20) and the law."""

    lambda_: np.ndarray
    v: np.ndarray
    energy: float
    law: str


def blow(W: np.ndarray, v: np.ndarray, e: np.ndarray, mu: np.ndarray, law: str) -> Blow | None:
    """An impact of k contacts; None if none is found.

    Args:
        W: shape (3 k, 3 k).
        v: velocities before, shape (k, 3).
        e: restitution, shape (k,).
        mu: friction, shape (k,).
        law: "newton" or "poisson".
    """
    order = {"newton": ("newton", "poisson", "plastic"), "poisson": ("poisson", "plastic")}[law]
    for one in order if e.any() else ("plastic",):
        made = {"newton": _newton, "poisson": _poisson, "plastic": _plastic}[one](W, v, e, mu)
        if made is None:
            continue
        after = v + (W @ made.ravel()).reshape(-1, 3)  # (17)
        energy = float((made * (after + v)).sum()) / 2  # (20)
        if energy <= MADE * float((np.abs(made) * (np.abs(after) + np.abs(v))).sum()):
            return Blow(made, after, min(energy, 0.0), one if e.any() else law)
    return None


def _solved(
    W: np.ndarray, b: np.ndarray, mu: np.ndarray, c: np.ndarray | None = None
) -> ComplementarityAnswer | None:
    k = len(mu)
    return ContactProblem(W, b.ravel(), mu, [None] * k, np.zeros(k) if c is None else c).solve()


def _newton(W: np.ndarray, v: np.ndarray, e: np.ndarray, mu: np.ndarray) -> np.ndarray | None:
    b = v.copy()
    b[:, 0] += e * np.minimum(v[:, 0], 0.0)  # (18)
    found = _solved(W, b, mu)
    return None if found is None else found.lambda_


def _poisson(W: np.ndarray, v: np.ndarray, e: np.ndarray, mu: np.ndarray) -> np.ndarray | None:
    first = _solved(W, v, mu)
    if first is None:
        return None
    c = e * first.lambda_[:, 0]
    back = np.zeros_like(v)
    back[:, 0] = c
    b = first.v + (W @ back.ravel()).reshape(-1, 3)  # (19)
    second = _solved(W, b, mu, c)
    return None if second is None else first.lambda_ + back + second.lambda_


def _plastic(W: np.ndarray, v: np.ndarray, e: np.ndarray, mu: np.ndarray) -> np.ndarray | None:
    found = _solved(W, v, mu)
    return None if found is None else found.lambda_
