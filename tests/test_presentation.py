"""What a user sees at a prompt and in a notebook: reprs, HTML, describe, completion, help."""

from __future__ import annotations

import inspect
import pickle
from html.parser import HTMLParser
from operator import attrgetter

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.trajectory import Trajectory
from condyle.system.operators import METHODS, OPTIONS


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


def leg(thigh: str = "thigh") -> cd.System:
    system = cd.System()
    system.add_body(
        thigh,
        mobilizer=cd.Pin(),
        X_PF=cd.Transform([[0, -1, 0], [1, 0, 0], [0, 0, 1]], (0, 1, 0)),
        X_BM=(0, 0.2, 0),
        mass=cd.Parameter("thigh_mass", 7.0),
        com=(0.01, 0, 0),
        inertia=(0.1, 0.02, 0.1, 0.001, 0, 0),
        coordinates=cd.Coordinate("hip", 0.3, (-0.5, 2.0)),
    )
    system.add_body(
        "shank", thigh, cd.Pin(), X_PF=(0, -0.2, 0), mass=3, inertia=(0.05, 0.01, 0.05), coordinates="knee"
    )
    system.add_force("motor", cd.forces.MobilityForce("knee", cd.Input("torque", 0.5)))
    system.add_constraint("tie", cd.constraints.ConstantSpeed("knee", 0.4))
    return system


@pytest.fixture(scope="module")
def traj() -> Trajectory:
    system = leg()
    return cd.simulate(system, system.state(u={"knee": 0.4}), 0.2, events=[cd.Event(at=[0.1], name="tick")])


@pytest.fixture(scope="module")
def things(traj) -> dict[str, object]:
    """One of each thing that a prompt shows."""
    frames = cd.assemble_frames(
        traj.system, traj[0], cd.goals.Coordinate("hip", np.array([0.1, 0.2])), t=[0.0, 1.0]
    )
    ens = cd.simulate(traj.system, {"q": np.stack([traj[0].q] * 2), "u": np.stack([traj[0].u] * 2)}, 0.1)
    return {
        "system": traj.system,
        "state": traj[0],
        "traj": traj,
        "table": traj.energy(),
        "ens": ens,
        "frames": frames,
    }


def test_describe_has_all_that_a_system_is_made_of():
    text = leg().describe()
    for words in (
        "thigh  ground  Pin()      7 by thigh_mass  hip\n",
        "thigh  (0.01, 0, 0)  0.1, 0.02, 0.1, 0.001, 0, 0",
        "p = (0, 1, 0), turned 1.5708 rad about (0, 0, 1)  p = (0, 0.2, 0)",
        "hip         thigh  rad   0.3      -0.5 to 2",
        "knee   shank  rad/s  forces",
        "thigh_mass  7",
        "torque  0.5",
        "force 'gravity'",
        "force 'motor'",
        "constraint 'tie': ConstantSpeed(speed='knee', value=0.4), 1 equation of velocity",
    ):
        assert words in text, words
    titles = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert titles == [
        "System(2 bodies: thigh, shank; nq=2, nu=2)",
        "bodies",
        "mass centers and inertias",
        "frames",
        "coordinates",
        "speeds",
        "parameters",
        "inputs",
        "forces",
        "constraints",
    ]
    assert cd.System().describe().startswith("System(0 bodies, nq=0, nu=0)")


def test_reprs_have_names_and_values(traj):
    assert repr(traj[0]) == "State(t=0; hip=0.3, knee=0; speeds hip=0, knee=0.4)"
    start = traj.start.replace(parameters={"thigh_mass": 6}, inputs={"torque": 2})
    assert repr(start).endswith("; inputs torque=2; parameters thigh_mass=6)")
    assert repr(traj).startswith(f"Trajectory({len(traj)} rows from 0 to 0.2 s, finished; at the end hip=")
    lines = repr(traj.table()).splitlines()
    assert lines[0].startswith(
        f"Table({len(traj)} rows from 0 to 0.2 s: hip [rad], knee [rad], hip_speed [rad/s]"
    )
    assert lines[1].split("  ")[0] == "time [s]" and lines[2].split()[:3] == ["0", "0.3", "0"]
    assert repr(traj[3:3]).startswith("Trajectory(0 rows, finished")
    long = cd.Table(
        np.arange(1000.0), [f"c{i}" for i in range(40)], np.zeros((1000, 40)), status="interrupted"
    )
    assert (
        len(repr(long).splitlines()) == 13
        and "... 34 more; interrupted)" in repr(long)
        and "... 33 more" in repr(long)
    )
    assert repr(cd.Table([], ["a"], np.zeros((0, 1)))) == "Table(0 rows: a)"
    many = cd.System()
    for i in range(30):
        many.add_body(f"b{i}", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))
    assert repr(many) == "System(30 bodies: b0, b1, b2, b3, b4, b5, ... 24 more; nq=30, nu=30)"
    assert len(repr(many.state())) < 250


class Checked(HTMLParser):
    """Tags that are opened and closed in order, and nothing that is fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag in (
            "div",
            "strong",
            "table",
            "caption",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "details",
            "summary",
        )
        assert {name for name, _ in attributes} <= {"style", "colspan"}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_escaped_small_and_needs_nothing(traj, things):
    system = leg("<script>alert('thigh')</script>")
    state = system.state(u={"knee": 0.4}, locked={"hip": "position"}, disabled=["motor"])
    table = cd.Table(np.arange(1000.0), [f"<b>{i}" for i in range(40)], np.zeros((1000, 40)), ["<i>"] * 40)
    for thing in (*things.values(), system, state, table, traj[3:3], cd.System()):
        text = thing._repr_html_()
        Checked(text)
        assert "<script" not in text and "<b>" not in text and len(text) < 8000, type(thing)
    many = cd.System()
    for i in range(100):
        many.add_body(f"b{i}", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))
    assert "... 70 more" in many._repr_html_() and "b99" not in many._repr_html_()
    assert (
        "&lt;script&gt;" in system._repr_html_()
        and "disabled" in state._repr_html_()
        and "tick" in traj._repr_html_()
    )


def test_completion_shows_what_users_may_use(things):
    system, state, traj, table, ens, frames = things.values()
    for thing in things.values():
        assert not [name for name in dir(thing) if name.startswith("_")]
        assert all(hasattr(thing, name) for name in dir(thing))
    for thing, there, hidden in (
        (system, "add_body forward_dynamics describe", "compiled plumbing"),
        (state, "q u replace energy", "tail result of"),
        (traj, "q energy events", "rows manifold changes"),
        (ens, "energy status t_end", "ended f_end kept"),
        (frames, "rms inverse_dynamics", "info wanted"),
    ):
        assert set(there.split()) <= set(dir(thing)) and not set(hidden.split()) & set(dir(thing))
        assert all(hasattr(thing, name) for name in hidden.split())  # hidden, not gone
    for thing in (state, traj, table):
        assert repr(pickle.loads(pickle.dumps(thing))) == repr(thing)


@pytest.mark.parametrize("name", METHODS)
def test_help_names_every_option(name):
    method = METHODS[name]
    signature, text = inspect.signature(method), inspect.getdoc(method)
    assert [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY] == list(OPTIONS)
    assert all(f"{option}" in text.partition("Options, all by keyword:")[2] for option in OPTIONS)
    assert not [p for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]


def test_the_operator_of_a_state_has_no_options(traj):
    assert str(inspect.signature(cd.State.energy)).startswith("(self)")
    np.testing.assert_array_equal(traj[2].inverse_dynamics(), traj[2].inverse_dynamics(traj[2].udot))


def test_completion_of_the_package_shows_what_users_may_use():
    assert set(dir(cd)) == {*cd.__all__, "__version__"}


@pytest.mark.parametrize(
    ("place", "name", "words"),
    [
        (cd, "Hinge", "it is cd.Pin"),
        (cd, "TwoPointSpring", "it is cd.forces.TwoPointSpring"),
        (cd, "Gimball", "mean Gimbal"),
        (cd, "PinJoint", "it is cd.Pin"),
        (cd, "read_mot", "it is cd.read_table(path)"),
        (cd, "read_trc", "it is cd.read_markers(path)"),
        (cd.forces, "Spring", "it is MobilitySpring or PathSpring or TwoPointSpring"),
        (cd.forces, "TwoPointSprng", "did you mean TwoPointSpring"),
        (cd.constraints, "Distance", "it is Rod"),
        (cd.goals, "Marker", "it is Station"),
        ("system", "simulate", "it is cd.simulate(system, state, t_final)"),
        ("system", "forward_dynamic", "did you mean forward_dynamics"),
        ("system", "q", "it is in a state"),
        ("system", "knee", "a value of a State: system.state()['knee']"),
        ("state", "knee", "it is state['knee']"),
        ("state", "explain", "it is system.explain(state)"),
        ("traj", "knee_speed", "it is traj['knee_speed']"),
        ("traj", "to_csv", ".table().save('run.csv')"),
        ("ens", "q", "ens.at(times)"),
        ("ens", "hip", "it is ens['hip']"),
        ("table", "kinetic", "it is table['kinetic']"),
        ("table", "to_csv", "table.save"),
        ("frames", "knee", "frames['knee']"),
    ],
)
def test_names_that_are_not_there(things, place, name, words):
    place = things[place] if isinstance(place, str) else place
    with pytest.raises(AttributeError) as told:
        attrgetter(name)(place)
    assert words in str(told.value)
    assert not hasattr(place, name)


def test_texts_of_recordings_are_short(things):
    many = np.zeros((200, 3))
    assert repr(cd.goals.Station("shank", (0, 0, 1), many, name="toe")) == (
        "goals.Station(body='shank', station=[0.0, 0.0, 1.0], position=ndarray of shape (200, 3), name='toe')"
    )
    assert repr(cd.Prescribed(position=(many[:, 0], many[:, 0]))) == (
        "Prescribed(position=(ndarray of shape (200,), ndarray of shape (200,)))"
    )
    assert repr(things["ens"].members) == "Members(2 states; given: q, u)"
    assert repr(things["frames"][:1]).startswith("Frames(1 ")
