"""Goals that users write: the same as ours where both exist, least squares by SciPy where not."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import ArrayLike
from scipy.optimize import least_squares

import condyle as cd

SOLID = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
P = (0.1, -0.4, 0.05)


@pytest.fixture(scope="module")
def system():
    system = cd.System()
    system.add_body("hip", mobilizer=cd.Ball(), **SOLID)
    system.add_body(
        "shank",
        "hip",
        cd.Pin(),
        X_PF=(0, -0.4, 0),
        coordinates="knee",
        inertia=(1, 1, 1),
        mass=cd.Parameter("m", 1.0),
    )
    return system


def test_the_same_as_our_own(system):
    state, target = system.state(q={"knee": 0.3}), np.array([0.3, -0.6, 0.2])
    ours = cd.assemble(
        system, state, [cd.goals.Station("shank", P, target), cd.goals.Coordinate("knee", 0.5, weight=0.1)]
    )
    mine = cd.assemble(
        system,
        state,
        [
            cd.goals.Custom(lambda s: s.station_position("shank", P), target),
            cd.goals.Custom(lambda s: s.q("knee"), 0.5, weight=0.1),
        ],
    )
    assert_allclose(mine.q, ours.q, rtol=0, atol=1e-7)


def test_against_scipy(system):
    """Not linear, two results, one of them missed; SciPy searches along rotation vectors from the start."""
    state = system.state(q={"knee": 0.3})

    def wish(s):
        x, y, z = s.station_position("shank", P)
        return [x * y + 0.3 * np.sin(s.q("knee")), z - 2 * x + s.parameter("m")]

    def residuals(v):
        q = system.compiled.normalized(state.q + system.qdot(state.q, v))
        x, y, z = system.station_position(q, "shank", P)
        return [x * y + 0.3 * np.sin(q[4]), z - 2 * x + 1.0]

    goal = cd.goals.Custom(wish, name="wish")
    found = cd.assemble(system, state, goal)
    x, y, z = found.station_position("shank", P)
    cost = (x * y + 0.3 * np.sin(found["knee"])) ** 2 + (z - 2 * x + 1.0) ** 2
    assert cost <= 2 * least_squares(residuals, np.zeros(4), xtol=1e-12, ftol=1e-12).cost + 1e-12


def test_frames_residuals_and_pickles(system):
    t = np.linspace(0, 1, 7)
    twice = cd.goals.Custom(lambda s: s.q("knee") * 2, np.sin(t), name="twice")
    frames = cd.assemble_frames(system, system.state(), [twice], t=t)
    assert_allclose(frames.q[:, 4], np.sin(t) / 2, rtol=0, atol=1e-6)
    assert frames.names == ("twice",) and frames.residuals.max() < 1e-6
    torn = cd.goals.Custom(lambda s: [s.q("knee"), s.q("knee")], [0.0, 1.0])
    missed = cd.assemble_frames(system, system.state(), [torn], t=t[:2])
    assert_allclose(missed.residuals, np.sqrt(0.5), rtol=1e-6)
    again = pickle.loads(pickle.dumps(cd.goals.Custom(lambda s: s.q("knee"), 0.2)))
    assert_allclose(cd.assemble(system, system.state(), again)["knee"], 0.2, rtol=0, atol=1e-7)


def test_refusals(system):
    state = system.state()
    with pytest.raises(cd.errors.CondyleError, match="knee"):
        cd.assemble(system, state, cd.goals.Custom(lambda s: s.q("nkee")))
    with pytest.raises(
        cd.errors.DescriptionError,
        match=r"goals\.Custom\(lambda\): asks for s\.u\('knee'\), but goals are made of pos",
    ):
        cd.goals.Custom(lambda s: s.u("knee"))
    with pytest.raises(cd.errors.DescriptionError, match="parameter 'k', which the system does not have"):
        cd.assemble(system, state, cd.goals.Custom(lambda s: s.q("knee") - s.parameter("k", 2.0)))
    with pytest.raises(cd.errors.ShapeError, match=r"value has shape \(3,\)"):
        cd.goals.Custom(lambda s: [s.q("knee"), s.t], [1.0, 2.0, 3.0])
    with pytest.raises(
        cd.errors.DescriptionError, match=r"a function of your own becomes one by cd\.goals\.Custom"
    ):
        cd.assemble(system, state, lambda s: s.q("knee"))


@dataclass(frozen=True, eq=False, repr=False)
class Higher(cd.goals.Goal):
    """A goal of one's own, one class: a point shall be so much higher than another."""

    unit, about = "m", "by"
    body: str
    p: tuple[float, float, float]
    than: str
    by: ArrayLike = 0.0

    def residual(self, s):
        return s.station_position(self.body, self.p)[1] - s.station_position(self.than, (0, 0, 0))[1]


def test_a_goal_as_one_class(system):
    """Beside Custom with the same function: one configuration, frames with a gap, names, units, reports,
    refusals."""
    state, t, by = system.state(q={"knee": 0.3}), np.arange(4.0), np.array([-0.3, np.nan, -0.2, -0.1])
    same = cd.goals.Custom(
        lambda s: s.station_position("shank", P)[1] - s.station_position("hip", (0, 0, 0))[1], by
    )
    mine = Higher("shank", P, "hip", by, weight=2.0)
    assert_allclose(
        cd.assemble(system, state, mine.frame(0)).q,
        cd.assemble(system, state, same.frame(0)).q,
        rtol=0,
        atol=1e-7,
    )
    keep = cd.goals.Coordinate("knee", 0.3)
    found, expected = (cd.assemble_frames(system, state, [goal, keep], t=t) for goal in (mine, same))
    assert found.names == ("Higher", "knee") and found.units == ("m", "rad")
    # it can be met, to the accuracy
    assert_allclose(found.residuals[:, 0], [0, np.nan, 0, 0], rtol=0, atol=1e-6)
    # other weights, both met: paths differ
    assert_allclose(found.q, expected.q, rtol=0, atol=1e-5)
    assert repr(mine).startswith("Higher(body='shank', p=(0.1, -0.4, 0.05), than='hip', by=[[-0.3],")
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'shank'"):
        cd.assemble(system, state, Higher("shnk", P, "hip"))
    with pytest.raises(cd.errors.ShapeError, match=r"goal 'Higher': by has shape \(2, 2\)"):
        Higher("shank", P, "hip", np.zeros((2, 2)))
    with pytest.raises(TypeError, match=r"Nothing does not say .* residual\(s\)"):
        type("Nothing", (cd.goals.Goal,), {})()


@dataclass(frozen=True, eq=False, repr=False)
class Multiple(cd.goals.Goal):
    """A goal with a Jacobian of its own and a number that machine code reads: `factor` times the knee's
    angle."""

    unit, data = "rad", ("factor",)
    factor: float
    at: float = 0.5  # a part of the machine code

    @property
    def constants(self):
        return np.array([self.factor])

    @property
    def shape(self):
        return (1,)

    def linearized(self, view, numbers):
        J = ca.SX(1, view.tree.nu)
        J[0, view.tree.speed_index("knee")] = numbers[0]
        return numbers[0] * view.coordinate("knee") - self.at - numbers[1], J


def test_a_jacobian_of_its_own(system):
    for factor in (2.0, -1.0):  # numbers: the second compiles nothing
        made = len(system.compiled.programs)
        found = cd.assemble_frames(system, system.state(), Multiple(factor), t=[0.0])
        assert_allclose(found["knee"], 0.5 / factor, rtol=0, atol=1e-6)
        assert found.residuals[0, 0] < 1e-6
    assert len(system.compiled.programs) == made
    found = cd.assemble_frames(system, system.state(), Multiple(2.0, at=0.7), t=[0.0])
    assert_allclose(found["knee"], 0.35, rtol=0, atol=1e-6)
