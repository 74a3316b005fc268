"""Joints and force laws of a user's own class: changed code under an old name is never answered by old
machine code."""

import casadi as ca
import numpy as np

import condyle as cd
from condyle.forces import Force
from condyle.mobilizers import Mobilizer, RelativeMotion
from condyle.trace.parameter import Expression


def joint(pitch: float) -> Mobilizer:
    class Mine(Mobilizer):
        coordinate_names = speed_names = ("x",)
        units = ("m",)

        def motion(self, t, q, u):
            return RelativeMotion(
                R=ca.SX.eye(3), p=ca.vertcat(pitch * q, 0, 0), H_w=ca.SX(3, 1), H_v=ca.SX([pitch, 0, 0])
            )

    return Mine()


def law(value: float) -> Force:
    class Push(Force):
        def apply(self, s, loads):
            loads.add_mobility("body", ca.SX(value))

    return Push()


def test_a_joint_is_known_by_its_equations():
    for pitch in (1.0, 2.0):
        system = cd.System(gravity=(3, 0, 0))
        system.add_body("body", mobilizer=joint(pitch), mass=1.0, inertia=(1, 1, 1))
        np.testing.assert_allclose(system.forward_dynamics([0.0], [0.0]), 3 / pitch, rtol=1e-15)
    assert joint(1.0).description() == joint(1.0).description() != joint(2.0).description()


def test_a_law_is_known_by_its_code():
    for value in (1.0, 2.0):
        system = cd.System(gravity=(0, 0, 0))
        system.add_body("body", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1))
        system.add_force("push", law(value))
        # the two classes differ in what they close over only
        assert system.forward_dynamics([0.0], [0.0])[0] == value
    assert cd.forces.Gravity((0, -9.81, 0)).code() == ""


def test_a_law_is_known_by_its_attributes_and_properties():
    """Edited numbers of a class must not find old machine code: no number is in the code of its methods."""

    def push(value: float, double: bool) -> Force:
        class Push(Force):
            strength = value

            def apply(self, s, loads):
                loads.add_mobility("body", ca.SX(self.strength * self.factor))

            if double:

                @property
                def factor(self):
                    return 2.0
            else:

                @property
                def factor(self):
                    return 1.0

        return Push()

    codes = [push(value, double).code() for value in (1.0, 2.0) for double in (False, True)]
    assert len(set(codes)) == 4 and codes[0] == push(1.0, False).code()


def test_a_law_is_known_by_its_parameters():
    """Two laws that differ in which Parameter they hold had one text, and so one machine code."""

    class Push(Force):
        def __init__(self, strength):
            self.strength = Expression(strength.sx)

        def apply(self, s, loads):
            loads.add_mobility("body", self.strength.sx)

    a, b = cd.Parameter("a", 2.0), cd.Parameter("b", 5.0)
    for last, expected in ((a, 9.0), (b, 12.0)):
        system = cd.System(gravity=(0, 0, 0))
        system.add_body("body", mobilizer=cd.Slider(), mass=1.0, inertia=(1, 1, 1))
        for name, strength in (("first", a), ("second", b), ("third", last)):
            system.add_force(name, Push(strength))
        assert system.forward_dynamics([0.0], [0.0])[0] == expected
