"""What CONTRIBUTING.md says of "to add a thing": each thing is one file, its import line and its page (an operator: a
record and a method).

Each test writes that one file, imports it, and uses the thing as users do: in a System, scaled, drawn, written for
OpenSim and read back, and on the command line. `rows` counts the files of CONTRIBUTING's table.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import condyle as cd
from condyle.cli import commands  # noqa: F401 (they register themselves)
from condyle.cli.app import app
from condyle.model.operators import OPERATORS
from condyle.opensim import (
    model,  # noqa: F401 (its classes register themselves before the first test looks which there are)
    table,
)
from condyle.system.operators import METHODS
from condyle.system.operators.public import state_method
from condyle.viewer.shown import scene_of

SOLID = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
FILES = {
    "joint": '''
"""A joint along a ring: one coordinate, one length."""

import casadi as ca
import numpy as np

from condyle.mobilizers.base import Mobilizer, RelativeMotion, zeros
from condyle.mobilizers.constants import constant
from condyle.opensim.table import Class, Number
from condyle.records import dataclass
from condyle.shapes import Drawing, Line


@dataclass(frozen=True, eq=False, repr=False)
class Ring(Mobilizer):
    """M goes around a circle about F's z, its axes those of F."""

    other_names = ("Hoop",)
    coordinate_names = speed_names = ("angle",)

    radius: float

    def __post_init__(self):
        object.__setattr__(self, "radius", constant(self.radius, "Ring: radius", positive=True))

    def motion(self, t, q, u):
        r, s, c = self.radius, ca.sin(q), ca.cos(q)
        p, slope = ca.vertcat(r * c, r * s, 0), ca.vertcat(-r * s, r * c, 0)
        return RelativeMotion(R=ca.SX.eye(3), p=p, H_w=zeros(), H_v=slope, bias_v=-p * u * u)

    def _scaled(self, s):
        return Ring(self.radius * self._one_factor(s, "its radius"))

    def drawn(self, size):
        a = np.linspace(0, 2 * np.pi, 33)
        return [Drawing(Line(self.radius * np.stack([np.cos(a), np.sin(a), 0 * a], axis=1)))]


Class("RingJoint", Ring, (Number("radius", 1.0),))
''',
    "force": '''
"""A tether between two points: pulls, never pushes."""

from typing import Annotated, ClassVar

import casadi as ca

from condyle.forces.two_point import TwoPoint
from condyle.laws.described import quantity, sx
from condyle.opensim.forces import BodyField
from condyle.opensim.table import Class, Number, Vector
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Tether(TwoPoint):
    """f = k max(L - l0, 0) pulls the points together."""

    proportional = ("rest_length",)
    call_hints: ClassVar = {"length": "it is rest_length="}

    stiffness: Annotated[float, quantity("N/m", lowest=0.0)]
    rest_length: Annotated[float, quantity("m", lowest=0.0)]

    def apply(self, s, loads):
        r, L, per_L = self._line(s)
        self._push(loads, -sx(self.stiffness) * ca.fmax(L - sx(self.rest_length), 0) * per_L * r)


Class(
    "TetherForce",
    Tether,
    (
        BodyField("socket_body1", key="a"),
        BodyField("socket_body2", key="b"),
        Vector("point1", key="p_a"),
        Vector("point2", key="p_b"),
        Number("stiffness", 1.0),
        Number("rest_length", 0.0),
    ),
)
''',
    "constraint": '''
"""Two points keep the height above each other."""

from condyle.constraints.base import Constraint
from condyle.laws.described import BodyName, Station
from condyle.laws.leaves import StationPosition
from condyle.opensim.constraints import POINTS
from condyle.opensim.table import Class
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Level(Constraint):
    """p = y_b - y_a [m]."""

    measure = "m"

    a: BodyName
    p_a: Station
    b: BodyName
    p_b: Station

    @property
    def leaves(self):
        return StationPosition(self.a, self.p_a), StationPosition(self.b, self.p_b)

    def equations(self, x):
        return x[1][1] - x[0][1]


Class("LevelConstraint", Level, POINTS)
''',
    "muscle": '''
"""Thelen's muscle with a lazy activation."""

import condyle.opensim.muscles
from condyle.muscles.thelen2003 import Thelen2003
from condyle.opensim.table import CLASSES, Class
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Lazy2026(Thelen2003):
    """As Thelen2003."""

    other_names = ("Lazy",)


thelen = CLASSES["Thelen2003Muscle"]
Class("Lazy2026Muscle", Lazy2026, thelen.fields, skip=thelen.skip)
''',
    "goal": '''
"""Two bodies' origins as high above each other as it says."""

from numpy.typing import ArrayLike

from condyle.fit.goals.base import Goal
from condyle.records import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Above(Goal):
    """The height of one origin above another [m]."""

    unit, about = "m", "height"

    a: str
    b: str
    height: ArrayLike = 0.0

    def residual(self, s):
        return s.station_position(self.a, (0, 0, 0))[1] - s.station_position(self.b, (0, 0, 0))[1]
''',
    "operator": '''
"""The height of the mass center: a record, and its public line."""

from condyle.dynamics import energy
from condyle.model.operators import OPERATORS
from condyle.model.operators.columns import fixed
from condyle.model.operators.record import OperatorRecord, Stage
from condyle.system.operators.public import operator

RECORD = OPERATORS["height"] = OperatorRecord(
    "height",
    Stage.POSITION,
    "q",
    results={"h": "1"},
    columns=fixed("height [m]"),
    expressions=lambda s: [energy.mass_center(s.kinematics(moving=False))[0][1]],
)


@operator
def height(self, q, **options):
    """Height of the mass center [m], shape (..., 1)."""
    return self._run("height", (q,), options)
''',
    "study": '''
"""How much a system weighs."""

from condyle.arguments import with_call_hints


@with_call_hints({"g": "gravity is that of the system"})
def weight(system):
    """The sum of all masses [kg]."""
    return sum(b.mass for b in system.bodies)
''',
    "command": '''
"""`condyle weigh`."""

from condyle.cli.app import ModelName, app


@app.command()
def weigh(model: ModelName) -> None:
    """Print how much a model weighs."""
    from condyle.cli.systems import system_of

    print(sum(b.mass for b in system_of(model).bodies))
''',
}
"""The one file of each thing."""


@pytest.fixture
def add(tmp_path, monkeypatch):
    """Writes the one file of a thing and imports it; what registered itself is forgotten afterward."""
    monkeypatch.syspath_prepend(tmp_path)
    registries = (table.READERS, table.WRITERS, table.CLASSES, OPERATORS, METHODS)
    before = [dict(known) for known in registries]
    commands_before = list(app.registered_commands)
    made = []

    def write(kind):
        made.append(f"added_{kind}")
        (tmp_path / f"{made[-1]}.py").write_text(FILES[kind].lstrip())
        return importlib.import_module(made[-1])

    yield write
    for known, old in zip(registries, before, strict=True):
        known.clear()
        known.update(old)
    app.registered_commands[:] = commands_before
    for name in made:
        sys.modules.pop(name, None)


def leg():
    """Two bodies, whose default pose hangs down."""
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin(), com=(0, -0.2, 0), **SOLID)
    system.add_body("shank", "thigh", cd.Pin(), X_PF=(0, -0.4, 0), com=(0, -0.2, 0), **SOLID)
    return system


def through_files(system, tmp_path):
    """Written for OpenSim, read back strictly, and described by the command line."""
    path = tmp_path / "model.osim"
    cd.write_osim(system, path)
    done = CliRunner().invoke(app, ["describe", str(path)])
    assert done.exit_code == 0, done.output
    return cd.read_osim(path, strict=True)


def test_a_joint(add, tmp_path):
    Ring = add("joint").Ring
    with pytest.raises(
        cd.errors.ArgumentError, match=r"no argument radus=; did you mean radius=\? It is Ring"
    ):
        Ring(radus=0.3)
    system = cd.System()
    system.add_body("wheel", mobilizer=cd.Pin(), **SOLID)
    system.add_body("bead", "wheel", Ring(0.3), **SOLID)
    assert system.state(q={"bead": 1.0}).body_pose("bead").p == pytest.approx(
        0.3 * np.array([np.cos(1), np.sin(1), 0])
    )
    bigger = cd.scale(system, factors={"wheel": 2.0}).system
    assert bigger.body("bead").mobilizer.radius == pytest.approx(0.6)
    assert [p.name for p in scene_of(system).layers[0].parts if "bead's" in p.name]
    again = through_files(system, tmp_path)
    assert isinstance(again.body("bead").mobilizer, Ring) and again.body("bead").mobilizer == Ring(0.3)


def test_a_force(add, tmp_path):
    Tether = add("force").Tether
    with pytest.raises(cd.errors.ArgumentError, match="no argument length=; it is rest_length="):
        Tether("ground", (0, 0, 0), "shank", (0, 0, 0), 10.0, length=0.1)
    system = leg()
    system.add_force("tether", Tether("ground", (0, 0, 0), "shank", (0, -0.2, 0), 100.0, 0.5))
    same = leg()
    same.add_force("tether", cd.forces.TwoPointSpring("ground", (0, 0, 0), "shank", (0, -0.2, 0), 100.0, 0.5))
    assert system.forward_dynamics([0.3, 0.1], [0, 0]) == pytest.approx(
        same.forward_dynamics([0.3, 0.1], [0, 0])
    )
    bigger = cd.scale(system, factors={"thigh": 2.0, "shank": 2.0}).system.force("tether")
    assert bigger.p_b == pytest.approx((0, -0.4, 0)) and bigger.rest_length == pytest.approx(1.0)
    assert [link.name for link in scene_of(system).layers[0].links if link.kind == "springs"] == ["tether"]
    assert through_files(system, tmp_path).force("tether") == system.force("tether")


def test_a_constraint(add, tmp_path):
    Level = add("constraint").Level
    system = leg()
    system.add_constraint("level", Level("ground", (0.1, -0.6, 0), "shank", (0, -0.2, 0)))
    state = cd.assemble(system, system.state(q=[0.3, 0.2]))
    assert state.station_position("shank", (0, -0.2, 0))[1] == pytest.approx(-0.6)
    bigger = cd.scale(system, factors={"shank": (1, 1.5, 1)}).system.constraint("level")
    assert bigger.p_b == pytest.approx((0, -0.3, 0))
    assert sum(p.kind == "constraints" for p in scene_of(system).layers[0].parts) == 2
    assert through_files(system, tmp_path).constraint("level") == system.constraint("level")


def test_a_muscle(add, tmp_path):
    Lazy = add("muscle").Lazy2026
    system = leg()
    path = cd.paths.Path([("ground", (0.05, 0, 0)), ("shank", (0.05, -0.1, 0))])
    system.add_force("lazy", Lazy(path, 1000.0, 0.2, 0.25))
    assert system.muscles == ("lazy",)
    bigger = cd.scale(system, factors={"thigh": 2.0, "shank": 2.0}).system.force("lazy")
    assert type(bigger) is Lazy and bigger.optimal_fiber_length > 0.3
    assert [line.name for line in scene_of(system).layers[0].lines if line.muscle] == ["lazy"]
    assert type(through_files(system, tmp_path).force("lazy")) is Lazy


def test_a_goal(add):
    Above = add("goal").Above
    system = leg()
    state = cd.assemble(system, system.state(q=[0.3, 0.2]), [Above("thigh", "shank", 0.3)])
    assert -state.body_pose("shank").p[1] == pytest.approx(0.3)


def test_an_operator(add, monkeypatch):
    """Its record and its public line: System, State, derivatives and casadi.Functions know it."""
    made = add("operator")
    monkeypatch.setattr(cd.System, "height", made.height, raising=False)
    monkeypatch.setattr(cd.State, "height", state_method(made.RECORD), raising=False)
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), com=(0, -0.5, 0), **SOLID)
    q = np.array([[0.0], [1.0]])
    np.testing.assert_allclose(system.height(q), -0.5 * np.cos(q), rtol=1e-15)
    np.testing.assert_allclose(system.state(q=[1.0]).height(), [-0.5 * np.cos(1.0)], rtol=1e-15)
    np.testing.assert_allclose(system.jacobian("height", [1.0], wrt="q"), [[0.5 * np.sin(1.0)]], rtol=1e-15)
    np.testing.assert_allclose(float(system.casadi("height")([1.0], 0.0)), -0.5 * np.cos(1.0), rtol=1e-15)


def test_a_study(add, monkeypatch):
    """Its line in `__init__.pyi` says where it is: `from added_study import weight as weight`."""
    add("study")
    monkeypatch.setitem(cd._HOMES, "weight", ("added_study", "weight"))
    assert cd.weight(leg()) == 2.0
    with pytest.raises(cd.errors.ArgumentError, match="gravity is that of the system"):
        cd.weight(leg(), g=9.81)
    monkeypatch.delattr(cd, "weight")


def test_a_command(add, tmp_path):
    """A module of condyle.cli.commands is a command: nothing lists them."""
    add("command")
    done = CliRunner().invoke(app, ["weigh", "arm26"])
    assert done.exit_code == 0 and float(done.stdout) == pytest.approx(
        sum(b.mass for b in cd.models.arm26().bodies)
    )
    assert "weigh" in CliRunner().invoke(app, ["--help"]).stdout


def test_the_table_of_contributing():
    """A row of CONTRIBUTING's table for each thing here, each with one file; an operator has a
    record and a public method, in two rooms of which one may not see the other."""
    rows = re.findall(r"^\| an? ([\w ]+) \| one (?:file|record|row)", CONTRIBUTING.read_text(), re.M)
    assert {*rows} == {*FILES, "OpenSim class"}
