"""Muscle forces and reactions in maximal coordinates, ruggiero2020 (27)-(33): the same as in minimal ones."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle import maximal
from condyle.maximal.static_optimization import _muscles
from condyle.studies.study_system import study_system
from tests.studies.arm import arm, motion

EVERY = slice(0, None, 10)


def demo() -> cd.Motion:
    """The paper's motion, every tenth frame."""
    return motion()[EVERY]


def shoulder() -> cd.Motion:
    """The shoulder moves too, through poses in which TRIlong and BIClong touch the humeral head or not."""
    t = np.linspace(0.0, 1.0, 11)
    q = np.column_stack([0.9 * np.sin(2 * t) - 0.3, 0.2 + 1.2 * t**2])
    u = np.column_stack([1.8 * np.cos(2 * t), 2.4 * t])
    udot = np.column_stack([-3.6 * np.sin(2 * t), 2.4 + 0 * t])
    return cd.Motion(arm(), t, q, u, udot)


@pytest.mark.filterwarnings("ignore:static_optimization. The path of BIClong jumps")  # the shoulder moves
@pytest.mark.filterwarnings("ignore::condyle.errors.QualityWarning")  # by its reserve
@pytest.mark.parametrize("passive", [False, True])
@pytest.mark.parametrize("moving", [demo, shoulder])
def test_two_formulations(moving, passive, evidence):
    moved = moving()
    options = {"physiology": True, "passive": passive, "reserves": 1.0, "a_min": 0.01}
    here = cd.static_optimization(arm(), moved, **options)
    there = maximal.static_optimization(arm(), moved.q, moved.u, moved.udot, **options)
    # Two programs on equal numbers; conditions are below 1e6.
    a = np.abs(here.activations.values - there.activations).max()
    np.testing.assert_allclose(here.forces.values, there.forces, rtol=0, atol=1e-7)
    np.testing.assert_allclose(here.reserves.values, there.reserves, rtol=0, atol=1e-8)
    np.testing.assert_allclose(arm().path_lengths(moved.q), there.lengths, rtol=0, atol=1e-13)
    np.testing.assert_allclose(arm().path_speeds(moved.q, moved.u), there.speeds, rtol=0, atol=1e-12)
    part = study_system(arm(), ["gravity"], pulled=arm().muscles)
    F = part.batch(moved, pulls=here.forces.values).ask("reactions", (), {})
    reaction = (np.abs(F - there.reactions) / np.abs(F).max(axis=(0, 1))).max()
    evidence(
        "static optimization of arm26 in minimal and maximal coordinates: activations",
        a,
        1e-8,
        headline="formulations",
    )
    evidence("joint reactions with these forces in minimal and maximal coordinates, relative", reaction, 1e-8)
    assert a < 1e-8
    assert reaction < 1e-8


@pytest.mark.parametrize("frame", [2, 7])
def test_muscle_jacobian(frame, evidence):
    """(27) and (30) as corrected: Phi against differences of the lengths while each body moves on its own,
    apart from the joints, also the one with surfaces; and Ldot = -Phi V."""
    moved, second = shoulder(), maximal.formulation(arm())
    at = second.at(moved.q[frame], moved.u[frame], disabled=arm().muscles)
    given = {
        "x": at.x,
        "V": at.V,
        "q": at.q,
        "u": at.u,
        "momentum": np.zeros(2),
        **second._tail({}).vectors(),
    }
    muscles = _muscles(arm())
    found, h = muscles(given), 1e-5
    for B in range(2):
        for k in range(6):
            sides = []
            for step in (h, -h):
                x = at.x.copy()
                if k < 3:  # a turn about the body's origin, in ground
                    half = np.eye(4)[0] * np.cos(step / 2) + np.eye(4)[k + 1] * np.sin(step / 2)
                    x[7 * B : 7 * B + 4] = product(half, x[7 * B : 7 * B + 4])
                else:
                    x[7 * B + 1 + k] += step
                sides.append(muscles({**given, "x": x})["L"])
            slope = (sides[0] - sides[1]) / (2 * h)
            # h^2 times third derivatives of about 1e2 / m^2 and rounding of lengths over h
            np.testing.assert_allclose(slope, -found["Phi"][:, 6 * B + k], rtol=0, atol=1e-7)
    off = np.abs(found["Ldot"] + found["Phi"] @ at.V).max()
    evidence("rates of muscle lengths against -Phi V in maximal coordinates [m/s]", off, 1e-13)
    assert off < 1e-13


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of two quaternions."""
    return np.r_[a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])]


def test_a_frame_that_cannot_be_explained():
    moved = demo()
    udot = moved.udot + [[0.0, 3000.0]]
    with pytest.raises(cd.errors.ConvergenceError, match="frame 0: no activations explain"):
        maximal.static_optimization(arm(), moved.q, moved.u, udot)
