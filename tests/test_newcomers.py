"""Mistakes of the first day, and what they are told."""
from __future__ import annotations

import inspect
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.methods import METHODS
from condyle.studies.simulate import SCIPY

F, C = cd.forces, cd.constraints


def leg() -> cd.System:
    system = cd.System()
    for name, parent, joint in (("thigh", "ground", "hip"), ("shank", "thigh", "knee")):
        system.add_body(name, parent, cd.Pin(), X_BM=(0, 0.4, 0), mass=3.0, inertia=(0.05, 0.01, 0.05), coordinates=joint)
    return system


LEG = leg()
STATE = LEG.state(q=[1.0, 0.1])
TRAJ = cd.simulate(LEG, STATE, 0.1)
ENSEMBLE = cd.simulate(LEG, {"q": np.zeros((2, 2))}, 0.1)
FRAMES = cd.assemble_frames(LEG, STATE, cd.goals.Coordinate("knee", np.linspace(0, 1, 4)))
POINTS = ("thigh", (0, 0, 0), "shank", (0, 0, 0))


@pytest.mark.parametrize(("mistake", "words"), [
    (lambda: LEG.forward_dynamics(STATE), "got a State; ask the State itself: state.forward_dynamics()"),
    (lambda: LEG.forward_dynamics(STATE, [0, 0]), "state.forward_dynamics()"),
    (lambda: LEG.energy(STATE), "state.energy()"),
    (lambda: LEG.body_pose(STATE, "thigh"), "state.body_pose(body)"),
    (lambda: LEG.forward_dynamics([0, 0]), "missing a required argument: 'u'. It is forward_dynamics(q, u, tau=None"),
    (lambda: STATE.energy([0, 0], [0, 0]), "a State has q, u itself"),
    (lambda: LEG.forward_dynamics(np.zeros((5, 2)), np.zeros((5, 2)), t=np.arange(3.0)), "t, parameters and other options (3,)"),
    (lambda: LEG.explain([0, 0], [0, 0]), "expected a State: system.explain(system.state(q=..., u=...)"),
    (lambda: cd.simulate(LEG, np.zeros(2), 1.0), "an array is no state: start from system.state(q=..., u=...)"),
    (lambda: cd.simulate(LEG, [0.0, 0.0], 1.0), "an array is no state"),
    (lambda: cd.simulate(LEG, np.zeros((3, 4)), 1.0), "an array is no state"),
    (lambda: cd.simulate(LEG, (np.zeros(2), np.zeros(2)), 1.0), "an array is no state"),
    (lambda: cd.simulate(LEG, ([0, 0], [0, 0]), 1.0), "an array is no state"),
    (lambda: cd.simulate(LEG, STATE, 1.0, progress="yes"), "expected True for a bar, False, or a function"),
    (lambda: TRAJ.energy(0.1), "too many positional arguments. It is Trajectory.energy(t=None)"),
    (lambda: TRAJ.energy()[0], "rows by a slice, table[2:10]"),
    (lambda: TRAJ.energy()[["kinetic", "total"]], "unknown column 'total'"),
    (lambda: FRAMES.inverse_dynamics(), "these have none: give assemble_frames t=times"),
    (lambda: cd.System(g=9.81), "there is no argument g=; did you mean gravity=?"),
    (lambda: C.Holonomic(lambda s: s.u("hip")).check(LEG.compiled.model.tree), "asks for s.u('hip')"),
    (lambda: cd.simulate(LEG, {"q": np.zeros(2)}, 1.0), "got q of shape (2,); one state is system.state(q=...)"),
    (lambda: cd.simulate(LEG, STATE, 1.0, dt=0.01), "no argument dt=; a fixed step is step="),
    (lambda: cd.simulate(LEG, STATE, 1.0, method="RK45"), "no argument method=; it is integrator="),
    (lambda: cd.simulate(LEG, STATE, 1.0, rtol=1e-6), "accuracy= is one number"),
    (lambda: cd.simulate(LEG, STATE, 1.0, t_eval=[0.5]), "traj.at(times)"),
    (lambda: cd.simulate(STATE, 1.0), "missing a required argument: 't_final'. It is simulate(system, state, t_final, "),
    (lambda: cd.simulate(LEG, STATE, 1.0, integrator="BDF"), "where it is stiff use 'rodas'"),
    (lambda: leg().add_force("f", lambda s: {}), "becomes one by cd.forces.Custom(lambda s: ...)"),
    (lambda: leg().add_constraint("f", lambda s: 0), "becomes one by cd.constraints.Holonomic(lambda s: ...)"),
    (lambda: F.Custom(lambda s: {"hip": s.q["knee"]}), "asked by name in round brackets, such as s.q('knee')"),
    (lambda: F.Custom(lambda s: {"hip": -2 * s.q}), "asked by name in round brackets"),
    (lambda: C.Holonomic(lambda s: s.q["hip"] - s.q["knee"]), "asked by name in round brackets"),
    (lambda: F.TwoPointSpring(*POINTS, 10.0, rest=1.0), "no argument rest=; did you mean rest_length=? It is TwoPointSpring("),
    (lambda: F.MobilitySpring("hip", 1.0, rest_length=1.0), "did you mean rest=?"),
    (lambda: F.MobilityDamper("hip", dissipation=1.0), "did you mean damping=?"),
    (lambda: F.MobilityStop("hip", 0.0, 1.0, 10.0, damping=1.0), "did you mean dissipation=?"),
    (lambda: F.TwoPointSpring("thigh", "shank", 1.0, 1.0), "missing a required argument: 'stiffness'"),
    (lambda: C.Rod(*POINTS), "missing a required argument: 'length'. It is Rod(a, p_a, b, p_b, length)"),
    (lambda: cd.Slider(direction="x"), "did you mean axis=?"),
    (lambda: cd.Screw(), "It is Screw(pitch, axis='z')"),
    (lambda: cd.Custom("k", None), "transform: expected a function"),
    (lambda: cd.goals.Station("thigh", point=(0, 0, 0), position=(0, 0, 0)), "did you mean station=?"),
    (lambda: leg().add_body("foot", "shank", joint=cd.Pin()), "it is mobilizer=, such as cd.Pin()"),
    (lambda: LEG.state(qq=1.0), "did you mean q=?"),
    (lambda: cd.assemble_frames(LEG, STATE, [], times=[0.0]), "times are t="),
    (lambda: cd.Parameter(3.0), "It is Parameter(name, default)"),
    (lambda: cd.Parameter("mass", value=3.0), "did you mean default=?"),
    (lambda: cd.Spline(times=[0, 1, 2], values=[1, 2, 3]), "did you mean x=?"),
    (lambda: cd.Coordinate("knee", limits=(0, 1)), "did you mean range=?"),
    (lambda: cd.Prescribed(q=np.sin), "did you mean position=?"),
    (lambda: cd.Wrench(station=(0, 0, 0)), "did you mean at=?"),
    (lambda: cd.compose([cd.Pin(), cd.Slider()]), "one after the other"),
    (lambda: C.CoordinateCoupler(lambda a: a, ("hip", "knee")), "function takes (a), but is called with 2: hip, knee"),
    (lambda: leg().add_force("rod", C.Rod(*POINTS, 1.0)), "it goes to system.add_constraint"),
    (lambda: leg().add_force(F.MobilityForce("hip", 1.0), "push"), "the name comes first"),
    (lambda: leg().add_force("f", F.Custom(lambda s: {"shnk": 1.0})), "speed or body 'shnk'; did you mean 'shank'"),
    (lambda: LEG.jacobian("forward_dynamics", [0, 0], [0, 0]), "missing a required"),
    (lambda: cd.relax(LEG, STATE, tol=1e-3), "did you mean accuracy=?"),
    (lambda: cd.Table([0, 1], ["a"], [["x"], ["y"]]), "time and values must be numbers"),
    (lambda: cd.Table([[0, 1]], ["a"], [[1], [2]]), "time of shape (m,)"),
    (lambda: cd.Table([0, 1], ["a"], [[1], [2]], ["m", "s"]), "1 names ('a',) need as many units, got 2"),
    (lambda: cd.Table([0, 1], [7], [[1], [2]]), "names and units are text"),
    (lambda: cd.Table([0, 1], ["a"], [1, 2]), "values of shape (m, 1), got time (2,) and values (2,)"),
    (lambda: cd.simulate(LEG, STATE, 0.1)("knee"), "t: expected times [s]"),
    (lambda: cd.simulate(LEG, STATE, 0.1)["hipp"], "did you mean 'hip'"),
    (lambda: cd.simulate(LEG, STATE, 0.1, events="hip"), "such as cd.Event(lambda s: s.q('knee')), got 'hip'"),
    (lambda: leg().add_body("foot", "shank", cd.Pin(), mass="1"), "mass: expected numbers"),
    (lambda: cd.Parameter("mass", "3"), "its default is one finite number, got '3'"),
    (lambda: leg().add_body("foot", "shank", cd.Pin(), coordinates={"ankle": 0.3}), "cd.Coordinate(name, default)"),
])
def test_the_answer_says_what_to_do(mistake, words):
    with pytest.raises(cd.CondyleError) as told:
        mistake()
    assert words in str(told.value)


def test_wrong_calls_are_type_errors_too_and_signatures_stay():
    with pytest.raises(TypeError):
        cd.simulate(LEG, STATE, 1.0, dt=0.01)
    assert list(inspect.signature(F.MobilitySpring).parameters) == ["coordinate", "stiffness", "rest", "group"]
    assert "accuracy" in inspect.signature(cd.simulate).parameters
    assert list(inspect.signature(cd.System.forward_dynamics).parameters)[:5] == ["self", "q", "u", "tau", "t"]


def test_a_type_error_of_a_users_own_function_stays_itself():
    with pytest.raises(TypeError, match="can only concatenate str") as told:
        F.Custom(lambda s: {"hip": "a" + 1})
    assert not isinstance(told.value, cd.CondyleError)


@pytest.mark.parametrize("name", SCIPY)
def test_scipy_names_are_the_same_tableaux(name):
    """b and the rows of A are those of SciPy's own classes."""
    import scipy.integrate

    theirs, ours = getattr(scipy.integrate, name), METHODS[SCIPY[name]].tableau
    n = theirs.n_stages
    np.testing.assert_allclose(ours.b[:n], theirs.B, rtol=1e-14, atol=1e-16)           # the last digits of decimals
    for row, a in zip(ours.A[:n], theirs.A, strict=False):
        np.testing.assert_allclose(row, a[:len(row)], rtol=1e-14, atol=1e-16)


def test_completion_shows_what_users_may_use():
    assert set(dir(cd)) == {*cd.__all__, "__version__"}


def test_some_columns_are_a_table():
    some = TRAJ.table()[["knee_speed", "hip"]]
    assert some.titles == ["knee_speed [rad/s]", "hip [rad]"]
    np.testing.assert_array_equal(some.values, np.column_stack([TRAJ["knee_speed"], TRAJ["hip"]]))


def test_texts_of_recordings_are_short():
    many = np.zeros((200, 3))
    assert repr(cd.goals.Station("shank", (0, 0, 1), many, name="toe")) == (
        "Station(body='shank', station=[0.0, 0.0, 1.0], position=ndarray of shape (200, 3), name='toe')")
    assert repr(cd.Prescribed(position=(many[:, 0], many[:, 0]))) == (
        "Prescribed(position=(ndarray of shape (200,), ndarray of shape (200,)))")
    assert repr(ENSEMBLE.members) == "Members(2 states; given: q)"
    assert repr(FRAMES[1:3]).startswith("Frames(2 without times, 1 goals")


def test_frames_without_times_of_what_depends_on_time():
    system = leg()
    system.add_body("table", mobilizer=cd.Slider(), mass=1.0, motion=cd.Prescribed(position=lambda t: 0.1 * t))
    with pytest.raises(cd.DescriptionError, match="motion of body 'table' depends on time, and there are many states"):
        cd.assemble_frames(system, system.state(), cd.goals.Coordinate("knee", np.zeros(4)))


def test_scipy_names_run():
    traj = cd.simulate(LEG, STATE, 0.2, integrator="RK45")
    np.testing.assert_array_equal(traj.q, cd.simulate(LEG, STATE, 0.2, integrator="dormand-prince").q)


def test_a_system_that_froze_in_a_cell_says_which(monkeypatch):
    """As IPython keeps it: names of files that cells' code goes by, to their numbers."""
    ipython = ModuleType("IPython")
    shell = SimpleNamespace(compile=SimpleNamespace(_filename_map={"/tmp/ipykernel_7/123.py": 4}))
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    system = leg()
    exec(compile("\n\nstate = system.state()", "/tmp/ipykernel_7/123.py", "exec"), {"system": system})
    with pytest.raises(cd.FrozenError, match=r"in use since state\(\) at In \[4\], line 3"):
        system.add_body("foot", "shank", cd.Pin(), mass=1.0, inertia=(1, 1, 1))


@pytest.mark.parametrize(("place", "name", "words"), [
    (cd, "Hinge", "it is cd.Pin"), (cd, "TwoPointSpring", "it is cd.forces.TwoPointSpring"), (cd, "Gimball", "mean Gimbal"),
    (F, "Spring", "it is TwoPointSpring, or MobilitySpring"), (F, "TwoPointSprng", "did you mean TwoPointSpring"),
    (C, "Distance", "it is Rod"), (cd.goals, "Marker", "it is Station"),
    (LEG, "simulate", "it is cd.simulate(system, state, t_final)"),
    (LEG, "forward_dynamic", "did you mean forward_dynamics"), (LEG, "q", "it is in a state"),
    (LEG, "knee", "a value of a State: system.state()['knee']"), (STATE, "knee", "it is state['knee']"),
    (STATE, "explain", "it is system.explain(state)"), (TRAJ, "knee_speed", "it is traj['knee_speed']"),
    (TRAJ, "to_csv", ".table().save('run.csv')"), (ENSEMBLE, "q", "ens.at(times)"), (ENSEMBLE, "hip", "it is ens['hip']"),
    (TRAJ.energy(), "kinetic", "it is table['kinetic']"), (TRAJ.energy(), "to_csv", "table.save"),
    (FRAMES, "knee", "frames['knee']")])
def test_names_that_are_not_there(place, name, words):
    with pytest.raises(AttributeError) as told:
        getattr(place, name)
    assert words in str(told.value)
    assert not hasattr(place, name)
