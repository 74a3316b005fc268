"""Assembly by loops over bodies against the straight line: the same cost, gradient, matrix and constraints,
the same result."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.fit import kernels
from condyle.fit.kernels import straight_errors, straight_evaluate
from condyle.fit.layout import Layout
from tests.constraints.rig import rig, state

GOALS = [
    cd.goals.Station("tip", (0.1, 0.2, 0.3), (0.5, -0.3, 0.2), weight=2.0),
    cd.goals.Station("tip", (0, 0.1, 0), (0.1, 0, 0)),
    cd.goals.Station("float", (0.3, 0, 0.1), (0.2, -0.7, 0.1)),
    cd.goals.Orientation("upper", np.eye(3), weight=0.5),
    cd.goals.Orientation("float", np.eye(3)),
    cd.goals.Coordinate("elbow", 0.3),
    cd.goals.Coordinate("float_qy", 0.1),
]


def test_the_same_numbers():
    system = rig("Rod", "ConstantCoordinate", "PointInPlane", "SpeedCoupler")
    model, layout = system.compiled.model, Layout.from_goals(system.compiled.model.tree, GOALS)
    q, _ = state(system, 3)
    given = [x[:, None] for x in (q, system.state(q=q).tail, layout.rows(np.zeros(1))[0])]
    found = kernels.evaluate_in_loops(model, layout).evaluate(given)
    wanted = [np.array(x) for x in straight_evaluate(model, layout).call(given)]
    nu = system.nu
    for x in (found, wanted):
        # all that the loop looks at
        x[2] = np.tril(np.reshape(x[2], (nu, nu), order="F"))
    for name, x, y in zip(("cost", "g", "H", "p", "P"), found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-13 * max(1.0, np.abs(y).max()), err_msg=name)  # sums
    (p,) = kernels.errors_in_loops(model).evaluate(given[:2])
    np.testing.assert_allclose(
        p, np.array(straight_errors(model).call(given[:2])[0]), rtol=0, atol=1e-13
    )  # as above


def test_the_same_result(monkeypatch):
    found = []
    for layout in ("unrolled", "looped"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        system = rig("Rod")
        assert kernels.has_loops(
            system.compiled.model, Layout.from_goals(system.compiled.model.tree, GOALS)
        ) == (layout == "looped")
        found.append(cd.assemble(system, system.state(), GOALS).q)
    # where the default accuracy of 1e-6 ends is not the same to rounding
    np.testing.assert_allclose(*found, atol=1e-7)


@pytest.mark.parametrize(
    "goal",
    [
        cd.goals.Distance("tip", (0, 0, 0), "float", (0, 0, 0), 0.4),
        cd.goals.Custom(lambda s: s.q("elbow") - 0.1),
    ],
    ids=["Distance", "Custom"],
)
def test_goals_on_several_bodies_are_straight_lines(monkeypatch, goal):
    monkeypatch.setenv("CONDYLE_LAYOUT", "looped")
    model = rig().compiled.model
    assert not kernels.has_loops(model, Layout.from_goals(model.tree, [*GOALS, goal]))
