"""What cannot be is refused, in words that help."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.constraints.rig import EVERY, rig, state

C = cd.constraints
P = (0.0, 0.0, 0.0)


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: C.Rod("a", P, "b", P, 0.0),
            r"Rod: length: expected one finite number .* \[m\], above 0, got "
            r"0\.0",
        ),
        (lambda: C.Rod("a", P, "a", P, 1.0), r"Rod: a and b are both 'a'; name two different bodies"),
        (lambda: C.Rod("a", (0, 0), "b", P, 1.0), r"Rod: p_a: expected three finite numbers"),
        (lambda: C.Ball(3, P, "b", P), r"Ball: a: expected a body or its name, got 3"),
        (lambda: C.Weld("a", (1, 2), "b", None), r"Weld: X_a"),
        (
            lambda: C.PointInPlane("a", (0, 0, 0), 0.1, "b", P),
            r"PointInPlane: normal: expected a direction, got "
            r"the zero vector",
        ),
        (lambda: C.PointOnLine("a", P, (0, 0, 0), "b", P), r"PointOnLine: direction: expected a direction"),
        (
            lambda: C.ConstantAngle("a", (1, 0, 0), "b", (1, 0, 0), 0.0),
            r"ConstantAngle: angle: expected more "
            r"than 0 .*got 0",
        ),
        (lambda: C.ConstantOrientation("a", np.zeros((3, 3)), "b"), r"ConstantOrientation: R_a"),
        (lambda: C.ConstantCoordinate("", 1.0), r"ConstantCoordinate: coordinate: expected a name, got ''"),
        (lambda: C.ConstantSpeed("x", np.nan), r"ConstantSpeed: value: expected one finite number"),
        (
            lambda: C.CoordinateCoupler(("a", "b"), lambda a, b: a),
            r"CoordinateCoupler: function: expected a "
            r"function",
        ),
        (
            lambda: C.CoordinateCoupler(lambda: 0, ()),
            r"CoordinateCoupler: coordinates: expected one name or more",
        ),
        (lambda: C.CoordinateCoupler(lambda a, b: a, ("x", "x")), r"expected different names"),
        (lambda: C.SpeedCoupler(lambda: 0, ()), r"SpeedCoupler: speeds: expected one name or more"),
        (
            lambda: C.Holonomic(lambda s: s.u("elbow")),
            r"Holonomic\(lambda\): asks for s.u\('elbow'\), but "
            r".*Nonholonomic",
        ),
        (lambda: C.Holonomic(lambda s: s.t), r"asks nothing of the state that moves"),
        (
            lambda: C.Holonomic(lambda s: s.q("x") - s.input("i", 0.0)),
            r"nothing says how fast an input changes",
        ),
        (
            lambda: C.AccelerationOnly(lambda s: s.u("x")),
            r"asks for no acceleration; for velocities use "
            r"cd.constraints.Nonholonomic",
        ),
        (
            lambda: C.AccelerationOnly(lambda s: s.udot("x") ** 2),
            r"AccelerationOnly\(lambda\): is not linear in "
            r"accelerations",
        ),
        (
            lambda: C.Nonholonomic(lambda s: s.q("x")),
            r"asks for no velocity; for positions use "
            r"cd.constraints.Holonomic",
        ),
        (lambda: C.ConstantCoordinate("x", cd.Input("i", 0.0)), r"nothing says how fast an input changes"),
    ],
)
def test_numbers_and_functions(make, message):
    with pytest.raises(cd.errors.DescriptionError, match=message):
        make()


def test_accelerations_are_for_accelerations_only():
    with pytest.raises(cd.errors.UnknownNameError, match="unknown accessor of s 'udot'"):
        C.Nonholonomic(lambda s: s.udot("x"))
    with pytest.raises(
        cd.errors.UnknownNameError, match="unknown accessor of s 'station_acceleration'; did you mean"
    ):
        cd.forces.Custom(lambda s: {"tip": s.station_acceleration("tip")})


def test_functions_that_return_nothing():
    with pytest.raises(cd.errors.TraceError, match="is a return statement missing"):
        C.Holonomic(lambda s: None)
    with pytest.raises(cd.errors.TraceError, match="expected a function of one argument s"):
        C.Holonomic(3)
    with pytest.raises(cd.errors.TraceError, match="nothing that shall be zero"):
        C.Holonomic(lambda s: [])


def test_names():
    system = rig("Rod")
    with pytest.raises(cd.errors.DescriptionError, match="constraint 'Rod' exists already"):
        system.add_constraint("Rod", EVERY["Ball"])
    with pytest.raises(cd.errors.DescriptionError, match="force 'spring' exists already"):
        system.add_constraint("spring", EVERY["Ball"])
    with pytest.raises(cd.errors.DescriptionError, match="constraint 'Rod' exists already"):
        system.add_force("Rod", cd.forces.ConstantTorque("tip", (1, 0, 0)))
    with pytest.raises(cd.errors.DescriptionError, match="non-empty string"):
        system.add_constraint("", EVERY["Ball"])
    with pytest.raises(cd.errors.DescriptionError, match=r"expected a constraint such as .* write brackets"):
        system.add_constraint("x", C.Ball)
    with pytest.raises(cd.errors.DescriptionError, match="expected a force"):
        system.add_force("x", EVERY["Ball"])
    with pytest.raises(cd.errors.UnknownNameError, match="unknown body 'tipp'; did you mean 'tip'"):
        system.add_constraint("x", C.Ball("tipp", P, "float", P))
    with pytest.raises(cd.errors.UnknownNameError, match="unknown coordinate 'elbo'; did you mean 'elbow'"):
        system.add_constraint("x", C.ConstantCoordinate("elbo", 0.1))
    with pytest.raises(cd.errors.DescriptionError, match="is no speed"):
        system.add_constraint("x", C.ConstantSpeed("float_qw", 0.1))
    q, u = state(system)
    with pytest.raises(
        cd.errors.UnknownNameError, match="unknown force or constraint 'rod'; did you mean 'Rod'"
    ):
        system.forward_dynamics(q, u, disabled=["rod"])
    with pytest.raises(cd.errors.UnknownNameError, match="unknown constraint 'rod'"):
        system.constraints.reactions(q, u, "rod")
    with pytest.raises(cd.errors.FrozenError, match="constraint 'y' cannot be added"):
        system.add_constraint("y", EVERY["Ball"])


def test_projection_says_what_is_violated():
    system = rig("ConstantCoordinate", other=C.ConstantCoordinate("elbow", 0.6))
    q, u = state(system)
    with pytest.raises(cd.errors.ConstraintError, match=r"position level; violated: .*by -?0\.1") as error:
        system.project(q, u)
    assert set(error.value.violated) == {"ConstantCoordinate", "other"}
    far = rig(far=C.Rod("ground", P, "tip", P, 50.0))
    with pytest.raises(
        cd.errors.ConstraintError, match=r"state \(1,\) of the batch|state \(0,\) of the batch"
    ):
        far.project(np.stack([q, q]), u)
    held = rig("ConstantCoordinate")
    with pytest.raises(cd.errors.ConstraintError, match="free locked speeds"):
        held.project(q, u, locked=["elbow"])
    with pytest.raises(cd.errors.ShapeError, match=r"project: q: expected \(\.\.\., 10\)"):
        held.project(q[:3], u)
    with pytest.raises(cd.errors.ShapeError, match="weights: expected 9 numbers above zero"):
        held.project(q, u, weights=np.zeros(9))


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda: rig(law=C.Holonomic(lambda s: s.u("elbow"))).state(), "asks for s.u('elbow')"),
        (
            lambda: rig().add_constraint("f", lambda s: 0),
            "becomes one by cd.constraints.Holonomic(lambda s: ...)",
        ),
        (lambda: C.Holonomic(lambda s: s.q["hip"] - s.q["knee"]), "asked by name in round brackets"),
        (
            lambda: C.CoordinateCoupler(lambda a: a, ("hip", "knee")),
            "function takes (a), but is called with 2: hip, knee",
        ),
    ],
)
def test_the_answer_says_what_to_do(mistake, words):
    with pytest.raises(cd.errors.CondyleError) as told:
        mistake()
    assert words in str(told.value)
