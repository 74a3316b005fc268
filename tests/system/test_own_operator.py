"""An operator is one record and its public line: a throw-away one is evaluated, differentiated and asked of a
State."""

from __future__ import annotations

import numpy as np

import condyle as cd
from condyle.dynamics import energy
from condyle.model.operators import OPERATORS
from condyle.model.operators.columns import fixed
from condyle.model.operators.record import Operator, Stage
from condyle.system.operators import METHODS
from condyle.system.operators.public import operator, state_method

RECORD = Operator(
    "height",
    Stage.POSITION,
    "q",
    results={"h": "1"},
    columns=fixed("height [m]"),
    expressions=lambda s: [energy.mass_center(s.kinematics(moving=False))[0][1]],
)


def test_one_record_and_its_public_line(monkeypatch):
    monkeypatch.setitem(OPERATORS, "height", RECORD)
    monkeypatch.setitem(METHODS, "height", None)  # so that it goes again

    @operator
    def height(self, q, **options):
        """Height of the mass center [m], shape (..., 1)."""
        return self._run("height", (q,), options)

    monkeypatch.setattr(cd.System, "height", height, raising=False)
    monkeypatch.setattr(cd.State, "height", state_method(RECORD), raising=False)
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=2.0, com=(0, -0.5, 0), inertia=(0.1, 0.1, 0.1))
    q = np.array([[0.0], [1.0]])
    np.testing.assert_allclose(system.height(q), -0.5 * np.cos(q), rtol=1e-15)
    np.testing.assert_allclose(system.state(q=[1.0]).height(), [-0.5 * np.cos(1.0)], rtol=1e-15)
    np.testing.assert_allclose(system.jacobian("height", [1.0], wrt="q"), [[0.5 * np.sin(1.0)]], rtol=1e-15)
    np.testing.assert_allclose(float(system.casadi("height")([1.0], 0.0)), -0.5 * np.cos(1.0), rtol=1e-15)
