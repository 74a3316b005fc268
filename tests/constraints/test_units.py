"""Columns of what constraints tell have the units of their equations."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.model.operators import OPERATORS
from tests.constraints.rig import EVERY, rig

N, NM = "N", "N m"
UNITS = {
    "Rod": [N],
    "Ball": [N] * 3,
    "Weld": [NM] * 3 + [N] * 3,
    "PointInPlane": [N],
    "PointOnLine": [N] * 2,
    "ConstantAngle": ["J"],
    "ConstantOrientation": [NM] * 3,
    "ConstantCoordinate": [NM],
    "ConstantSpeed": [NM],
    "ConstantAcceleration": [NM],
    "PrescribedMotion": [NM],
    "NoSlip1D": [N],
    "PointOnPlaneContact": [N] * 3,
    "SphereOnPlaneContact": [N] * 3,
    "SphereOnSphereContact": [N] * 3,
    "LineOnLineContact": [N] * 3,
    **{
        name: [""]
        for name in ("CoordinateCoupler", "SpeedCoupler", "Holonomic", "Nonholonomic", "AccelerationOnly")
    },
}
"""Of multipliers; a user's function does not say its unit."""
RATES = {
    N: ("m", "m/s", "m/s^2", "N s"),
    NM: ("rad", "rad/s", "rad/s^2", "N m s"),
    "J": ("1", "1/s", "1/s^2", "J s"),
    "": ("", "", "", ""),
}


@pytest.mark.parametrize("name", EVERY)
def test_every_equation_has_its_unit(name):
    model = rig(name).compiled.model
    columns = lambda operator: OPERATORS[operator].columns(model, {})
    titled = [f"{name}[{k}]" for k in range(len(UNITS[name]))] if UNITS[name][1:] else [name]
    assert columns("multipliers") == list(zip(titled, UNITS[name], strict=True))
    at = [RATES[unit] for unit in UNITS[name]]
    assert [unit for _, unit in columns("constraints.bias")] == [rate[2] for rate in at]
    assert [unit for _, unit in columns("constraints.impulses")][model.tree.nu :] == [rate[3] for rate in at]
    levels = [level for _, level in model.equation_names()]
    assert [unit for _, unit in columns("constraints.errors")] == [
        *(rate[0] for rate, level in zip(at, levels, strict=True) if level == "position"),
        *(rate[1] for rate, level in zip(at, levels, strict=True) if level != "acceleration"),
    ]


def test_tables_of_one_way_constraints_say_newtons(monkeypatch):
    """A block that rubs on a floor, a stop along it, a rope, and a stop of an angle."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    stone = cd.contact.Rigid(friction=0.5)
    system = cd.System()
    system.add_body("block", mobilizer=cd.Planar(), mass=2.0, inertia=(0.02, 0.03, 0.02))
    system.add_contact(
        "floor",
        cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, stone),
        cd.contact.Point("block", (0, 0, 0), stone),
    )
    system.add_constraint("wall", cd.constraints.Stop("block_tx", upper=1.0))
    system.add_constraint("tilt", cd.constraints.Stop("block_rz", lower=-0.3))
    system.add_constraint("rope", cd.constraints.Rope("ground", (0, 1, 0), "block", (0, 0, 0), 1.0))
    q, u = np.zeros(3), np.zeros(3)
    run = cd.simulate(system, system.state(q=q, u=u), 1e-3)
    assert run.multipliers().titles == [
        "floor[0] [N]",
        "floor[1] [N]",
        "floor[2] [N]",
        "wall [N]",
        "tilt [N m]",
        "rope [N]",
    ]
