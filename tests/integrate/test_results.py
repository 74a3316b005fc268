"""Operators of a Trajectory, an Ensemble and Frames: what the States of the rows say, with everything that
the run had."""

from __future__ import annotations

import inspect
import pickle
from operator import attrgetter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import condyle as cd
from condyle.fit.frames import Frames
from condyle.integrate.ensemble import Ensemble
from condyle.integrate.trajectory import Trajectory
from condyle.model.operators import OPERATORS as RECORDS
from condyle.system.operators import OPTIONS
from condyle.system.states import Batch, States

OPERATORS = {name: record for name, record in RECORDS.items() if record.public}
P = (0.1, -0.2, 0.05)
SAME = {"rtol": 1e-14, "atol": 1e-14}
"""The same kernel on the same numbers; matrix products of NumPy may round otherwise for one row than for
many."""


def leg() -> cd.System:
    """A driven cart with a leg on a ball, a slider tied to it by a rod; forces that need time, an Input, a
    Parameter, z."""
    system = cd.System()
    add = system.add_body
    add(
        "cart",
        mobilizer=cd.Slider(),
        mass=2,
        inertia=(1, 1, 1),
        motion=cd.Prescribed(position=lambda t: 0.2 * np.sin(3 * t)),
    )
    add(
        "thigh",
        "cart",
        cd.Ball(),
        X_BM=(0, 0.2, 0),
        mass=cd.Parameter("thigh_mass", 7.0),
        inertia=(0.1, 0.02, 0.1),
    )
    add(
        "shank",
        "thigh",
        cd.Pin(),
        X_PF=(0, -0.2, 0),
        X_BM=(0, 0.2, 0),
        mass=3,
        inertia=(0.05, 0.01, 0.05),
        coordinates="knee",
    )
    add("bob", "ground", cd.Slider(), X_PF=(0, -1, 0), mass=1, inertia=(1, 1, 1))
    system.add_force("wind", cd.forces.Custom(lambda s: {"bob": 2.0 * np.cos(5 * s.t)}))
    skin = cd.contact.Material(1e5)
    system.add_contact(
        "floor",
        cd.contact.HalfSpace("ground", (0, 1, 0), -9.0, skin),
        cd.contact.Sphere("shank", (0, 0, 0), 0.1, skin),
    )
    system.add_force("motor", cd.forces.MobilityForce("knee", cd.Input("torque", 0.5)))
    system.add_force("bath", cd.forces.NoseHooverThermostat(300.0, 0.4, boltzmann=2e-3, chain=1))
    system.add_constraint("rod", cd.constraints.Rod("thigh", (0, -0.2, 0), "bob", (0, 0, 0), 0.7))
    system.add_constraint("tie", cd.constraints.ConstantSpeed("knee", 0.4))
    return system


@pytest.fixture(scope="module")
def traj() -> Trajectory:
    """A run whose events change parameters, inputs, locks, and what is disabled."""
    system = leg()
    start = system.state(
        q={"knee": 0.3, "bob": 0.3}, u={"knee": 0.4}, parameters={"thigh_mass": 9.0}, inputs={"torque": 2.0}
    )
    q, u = system.project(start.q, start.u, parameters=start.parameters)
    changes = [
        lambda s: s.replace(parameters={"thigh_mass": 5.0}, u=s.u),
        lambda s: s.replace(inputs={"torque": -3.0}),
        lambda s: s.replace(disabled=["tie", "gravity"]),
        lambda s: s.replace(locked={"knee": 0.1}),
    ]
    events = [
        cd.Event(at=[t], action=action) for t, action in zip((0.1, 0.2, 0.3, 0.4), changes, strict=True)
    ]
    traj = cd.simulate(system, start.replace(q=q, u=u), 0.5, accuracy=1e-5, events=events)
    assert traj.finished and len(traj.events) == len(traj.changes) == 4
    return traj


OTHERS = ("qdot", "path_points", "contacts.pressures")
"""Not a method, not a Table, and of meshes alone (tests/contact/test_foundation.py)."""


def given(name: str, system: cd.System) -> dict[str, object]:
    """Arguments for each operator, from its signature."""
    f = np.linspace(1, 2, system.nu)
    rate = np.linspace(1, 2, system.nq)
    known = {
        "body": "shank",
        "station": P,
        "X_BS": P,
        "constraint": "rod",
        "f": f,
        "tau": f,
        "qdot": rate,
        "qddot": rate,
        "group": "floor",
    }
    return {p: known[p] for p in inspect.signature(attrgetter(name)(States)).parameters if p in known}


def row(name: str, result: object) -> np.ndarray:
    """What one State says, flat, as it is in a row of the Table or of the array."""
    if isinstance(result, cd.Transform):
        return np.concatenate([result.R.ravel(), result.p.ravel()])
    parts = (
        result.values() if isinstance(result, dict) else result if isinstance(result, tuple) else (result,)
    )
    return np.concatenate([np.ravel(p) for p in parts])


def rows(result: object) -> np.ndarray:
    if isinstance(result, cd.Table):
        return result.values
    if isinstance(result, cd.Transform):
        return np.concatenate([x.reshape(len(x), -1) for x in (result.R, result.p)], axis=1)
    return result.reshape(len(result), -1)


@pytest.mark.parametrize("name", [name for name in OPERATORS if name not in OTHERS])
def test_every_operator_is_that_of_the_states(traj, name, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    asked = given(name, traj.system)
    result = attrgetter(name)(traj)(**asked)
    assert isinstance(result, cd.Table) == (OPERATORS[name].columns is not None)
    if isinstance(result, cd.Table):
        assert_array_equal(result.time, traj.t)
        assert len(set(result.names)) == len(result.names) and result.status == traj.status
    got = rows(result)
    here = range(0, len(traj), max(1, len(traj) // 12))
    changed = {i + d for i, _ in traj.changes for d in (-1, 0)}
    for i in sorted({*here, *changed}):
        assert_allclose(
            got[i], row(name, attrgetter(name)(traj[i])(**asked)), **SAME, err_msg=f"{name} at row {i}"
        )


def test_qdot_and_udot_are_attributes_as_in_a_state(traj):
    # lanes and one state: other rounding
    assert_allclose(traj.udot, [s.udot for s in traj], rtol=1e-12, atol=1e-12)
    assert_allclose(traj.qdot, [s.qdot for s in traj], **SAME)
    assert not traj.udot.flags.writeable


def test_what_a_run_had_matters(traj):
    """With the defaults instead, as by the operators of the System, other numbers come out."""
    system = traj.system
    assert np.abs(traj.forward_dynamics().values - system.forward_dynamics(traj.q, traj.u, t=0.0)).max() > 1
    kinetic = system.energy(traj.q, traj.u, t=traj.t)[0]
    assert np.abs(traj.energy()["kinetic"] - kinetic).max() > 1e-2


def test_one_call_of_machine_code(traj, monkeypatch):
    calls = []
    result = Batch.result
    monkeypatch.setattr(
        Batch, "result", lambda self, f, *rest: calls.append((f.name, len(self.t))) or result(self, f, *rest)
    )
    traj.energy()
    traj.reactions()
    assert calls[0] == ("energy", len(traj)) and calls[-1] == ("reactions", len(traj))
    assert len(calls) <= 3  # udot once, unless a test before has asked for it
    before = len(calls)
    traj.body_acceleration("shank")
    assert len(calls) == before + 1


def test_names_and_units(traj):
    titles = {
        name: attrgetter(name)(traj)(**given(name, traj.system)).titles
        for name in OPERATORS
        if name != "qdot" and OPERATORS[name].columns is not None
    }
    assert titles["energy"] == ["kinetic [J]", "potential [J]"]
    assert titles["reactions"] == [
        f"shank_{c}" for c in ("mx [N m]", "my [N m]", "mz [N m]", "fx [N]", "fy [N]", "fz [N]")
    ]
    speeds = ["cart", "thigh_wx", "thigh_wy", "thigh_wz", "knee", "bob"]
    kinds = ["m/s", "rad/s", "rad/s", "rad/s", "rad/s", "m/s"]
    for name, unit in (
        ("forward_dynamics", {"m/s": "m/s^2", "rad/s": "rad/s^2"}),
        ("inverse_dynamics", {"m/s": "N", "rad/s": "N m"}),
        ("motion_power", {"m/s": "W", "rad/s": "W"}),
    ):
        assert titles[name] == [f"{s} [{unit[k]}]" for s, k in zip(speeds, kinds, strict=True)]
    assert titles["power"] == ["gravity [W]", "wind [W]", "floor [W]", "motor [W]", "bath [W]"]
    assert titles["station_position"] == ["shank_x [m]", "shank_y [m]", "shank_z [m]"]
    assert titles["station_velocity"] == ["shank_vx [m/s]", "shank_vy [m/s]", "shank_vz [m/s]"]
    assert titles["body_acceleration"][::3] == ["shank_alphax [rad/s^2]", "shank_ax [m/s^2]"]
    assert (
        titles["mass_center_velocity"][0] == "mass_center_vx [m/s]"
        and titles["momentum"][0] == "angular_x [kg m^2/s]"
    )
    assert titles["multipliers"] == ["rod [N]", "tie [N m]"]
    assert titles["constraints.errors"] == ["rod [m]", "rod_rate [m/s]", "tie [rad/s]"]
    assert (
        titles["constraints.reactions"][0] == "thigh_mx [N m]" and len(titles["constraints.reactions"]) == 12
    )
    assert titles["zdot"] == ["bath.zeta0", "bath.eta0"]
    assert traj.reactions().names[::6] == ("cart_mx", "thigh_mx", "shank_mx", "bob_mx")


def test_units_of_forces_are_those_of_power(traj):
    """Force times speed, column by column, is the power of the motions."""
    assert_allclose(traj.motion_forces().values * traj.u, traj.motion_power().values, **SAME)


def test_at_other_times(traj):
    # two of them at events: the later state counts, as in traj(t)
    times = np.array([0.05, 0.1, 0.25, 0.4, 0.45])
    table = traj.energy(t=times)
    assert_array_equal(table.time, times)
    assert traj.time is traj.t  # the name that a Table has
    assert_allclose(table.values, [traj(t).energy() for t in times], **SAME)
    assert_allclose(traj(times).energy().values, table.values, rtol=0, atol=0)
    assert traj.energy(t=0.25).values.shape == (1, 2)
    with pytest.raises(cd.errors.ShapeError, match=r"goes from 0 to 0\.5 s"):
        traj.energy(t=[0.1, 0.7])
    with pytest.raises(cd.errors.ShapeError, match="in order"):
        traj([0.3, 0.1])


def test_by_name(traj):
    assert_array_equal(traj["knee"], traj.q[:, traj.system.coordinates.index("knee")])
    assert_array_equal(traj["knee_speed"], traj.u[:, 4])
    assert_array_equal(traj["bath.zeta0"], traj.z[:, 0])
    state = traj[5]
    for name in traj.table():
        assert state[name] == traj[name][5]
    for thing in (traj, state):
        with pytest.raises(
            cd.errors.UnknownNameError, match=r"unknown coordinate, speed or state variable 'kne'.*'knee'"
        ):
            thing["kne"]
    with pytest.raises(TypeError, match="not iterable"):
        list(state)


def test_slices_are_trajectories(traj):
    part = traj[5:35]
    assert isinstance(part, Trajectory) and len(part) == 30
    for i in (0, 7, 29, -1):
        assert_array_equal(part[i].q, traj[5:35].q[i])
        assert part[i].parameters[0] == traj[range(5, 35)[i]].parameters[0]
    assert_allclose(part.energy().values, traj.energy().values[5:35], **SAME)
    t = 0.3 * part.t[0] + 0.7 * part.t[-1]
    assert_array_equal(part.at(t), traj.at(t))  # between the rows too
    assert all(part.t[0] <= e.t <= part.t[-1] for e in part.events)
    few = traj[::5]
    assert_array_equal(few.t, traj.t[::5])
    assert_allclose(
        few.reactions("shank").values, traj.reactions("shank").values[::5], rtol=1e-12, atol=1e-12
    )
    with pytest.raises(cd.errors.ShapeError, match="not among"):
        few(0.5 * (few.t[0] + few.t[1]))
    with pytest.raises(cd.errors.ShapeError, match="goes forward in time"):
        traj[::-1]
    with pytest.raises(cd.errors.ShapeError, match=r"step 1\.5: expected a whole number, a slice"):
        traj[1.5]
    assert len(traj[5:5]) == 0 and len(traj[5:5].energy()) == 0
    after = traj[traj.changes[-1][0] :]  # after all events: the start has what they left
    assert after.start.locked == {"knee": 0.1} and not after.changes
    assert_array_equal(after.udot[:, 4], 0.1)


def test_a_pickle_has_it_all(traj):
    again = pickle.loads(pickle.dumps(traj[::9]))
    assert_allclose(again.energy().values, traj[::9].energy().values, **SAME)


def test_arguments_that_do_not_exist(traj):
    with pytest.raises(
        cd.errors.UnknownNameError, match=r"argument of Trajectory\.energy\(\) 'parameters'.*those of the run"
    ):
        traj.energy(parameters={"thigh_mass": 1.0})
    with pytest.raises(TypeError, match="body"):
        traj.body_velocity()
    with pytest.raises(cd.errors.ShapeError, match="one per row"):
        traj.station_position("shank", np.zeros((2, 1, 3)))
    moving = np.linspace(0, 1, 3 * len(traj)).reshape(-1, 3)
    assert_allclose(
        traj.station_position("shank", moving).values[7], traj[7].station_position("shank", moving[7]), **SAME
    )


def test_help_and_dir_show_the_operators(traj):
    for kind in (Trajectory, Ensemble, Frames):
        assert {name.partition(".")[0] for name in OPERATORS if name != "qdot"} <= set(dir(kind))
    assert str(inspect.signature(Trajectory.energy)) == "(self, *, t=None) -> 'Table'"
    assert [*inspect.signature(Trajectory.inverse_dynamics).parameters] == ["self", "udot", "t"]
    assert "Not a Table" in inspect.getdoc(Trajectory.mass_matrix)
    assert [*inspect.signature(cd.System.energy).parameters] == ["self", "q", "u", *OPTIONS]
    for option in OPTIONS:
        assert option in inspect.getdoc(cd.System.reactions)


# ---- Ensembles ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair() -> cd.System:
    system = cd.System()
    system.add_body(
        "thigh",
        mobilizer=cd.Pin(),
        X_BM=(0, 0.2, 0),
        mass=cd.Parameter("mass", 7.0),
        inertia=(0.1, 0.02, 0.1),
        coordinates="hip",
    )
    system.add_body(
        "shank",
        "thigh",
        cd.Pin(),
        X_PF=(0, -0.2, 0),
        X_BM=(0, 0.2, 0),
        mass=3,
        inertia=(0.05, 0.01, 0.05),
        coordinates="knee",
    )
    system.add_force("wind", cd.forces.Custom(lambda s: {"hip": np.cos(5 * s.t)}))
    return system


@pytest.mark.parametrize("keep", ["ends", "steps", "times"])
def test_an_ensemble_says_what_its_members_say(pair, keep):
    rng = np.random.default_rng(1)
    times = np.linspace(0, 0.4, 5)
    given = {
        "q": rng.normal(size=(6, 2)),
        "parameters": {"mass": np.linspace(4, 9, 6)},
        "t": np.linspace(0, 0.1, 6),
    }
    ens = cd.simulate(pair, given, 0.4, accuracy=1e-4, keep=times if keep == "times" else keep)
    table = ens.reactions("shank")
    assert table.names[0] == "member" and len(table) == len(ens.table()) == len(ens["hip"])
    assert_array_equal(table["member"], ens.table()["member"])
    assert_array_equal(ens["hip"], ens.table()["hip"])
    expected = np.concatenate([one.reactions("shank").values for one in ens])
    # lanes and one state: other rounding
    assert_allclose(table.values[:, 1:], expected, rtol=1e-12, atol=1e-12)
    some = ens[1:5:2]
    assert len(some) == 2 and some.status == (ens.status[1], ens.status[3])
    assert_array_equal(some[1].q, ens[3].q)
    assert_allclose(
        some.energy().values[:, 1:], np.concatenate([ens[i].energy().values for i in (1, 3)]), rtol=1e-13
    )
    if keep != "ends":
        at = ens.energy(t=times)
        values = at.values.reshape(6, 5, 3)
        assert_array_equal(at.time.reshape(6, 5), np.tile(times, (6, 1)))
        for i, one in enumerate(ens):
            inside = times >= one.t[0]
            assert_allclose(values[i, inside, 1:], one.energy(t=times[inside]).values, rtol=1e-12)
            assert np.isnan(values[i, ~inside, 1:]).all() and (values[i, :, 0] == i).all()
        assert np.isnan(ens.body_pose("shank", t=times).p.reshape(6, 5, 3)[5, 0]).all()


# ---- Frames ------------------------------------------------------------------------------------------------


def test_frames_have_the_speeds_and_accelerations_of_the_motion(pair):
    """Markers of a known motion: inverse dynamics of the frames gives the torques that made it."""
    t = np.linspace(0, 1, 101)
    phase = np.array([0.0, 1.0])
    q, u, udot = (a * f(3 * t[:, None] + phase) for a, f in ((0.5, np.sin), (1.5, np.cos), (-4.5, np.sin)))
    goals = [
        cd.goals.Station(b, p, pair.station_position(q, b, p, t=t))
        for b in ("thigh", "shank")
        for p in ((0, 0, 0), (0.1, 0.1, 0))
    ]
    start = pair.state(q=q[0], parameters={"mass": 5.0})
    frames = cd.assemble_frames(pair, start, goals, t=t, accuracy=1e-9)
    assert_allclose(frames.u, u, rtol=0, atol=1e-5)  # splines: h^5 u^(5), worse at the ends
    assert_allclose(frames.udot, udot, rtol=0, atol=1e-2)
    assert_allclose(frames.udot[10:-10], udot[10:-10], rtol=0, atol=1e-6)
    tau = frames.inverse_dynamics()
    assert tau.titles == ["hip [N m]", "knee [N m]"]
    expected = pair.inverse_dynamics(q, u, udot, t=t, parameters={"mass": 5.0})
    assert_allclose(tau.values[10:-10], expected[10:-10], rtol=0, atol=1e-5)
    assert_allclose(frames.energy().values, [s.energy() for s in frames], rtol=1e-13)
    assert_array_equal(frames["knee"], frames.q[:, 1])
    assert_array_equal(frames["knee_speed"], frames.u[:, 1])
    few = frames[10:60:5]
    assert isinstance(few, Frames) and len(few) == 10 and few.status == "finished"
    assert_array_equal(few.u, frames.u[10:60:5])  # the motion is the whole one's
    assert_array_equal(few.residuals, frames.residuals[10:60:5])
    assert_allclose(few.inverse_dynamics().values, tau.values[10:60:5], **SAME)
    assert_allclose(frames.mass_center(t=t[3:5]).values, frames.mass_center().values[3:5], **SAME)
    with pytest.raises(cd.errors.ShapeError, match="own times only"):
        frames.energy(t=[0.123])


def test_accelerations_of_frames_satisfy_the_constraints():
    system = leg()
    t = np.linspace(0, 0.3, 31)
    start = system.state(q={"bob": 0.3})
    frames = cd.assemble_frames(system, start, cd.goals.Coordinate("knee", 0.3 + 0.4 * t), t=t)
    tails = frames._batch()
    G, b = tails.ask("constraints.jacobian", (), {}), tails.ask("constraints.bias", (), {})
    assert_allclose((G @ frames.udot[..., None])[..., 0] + b, 0, atol=1e-10)


def test_frames_without_time_have_no_speeds(pair):
    frames = cd.assemble_frames(
        pair, pair.state(u=[1.0, 2.0]), cd.goals.Coordinate("hip", np.array([0.1, 0.2])), t=[0.0, 0.0]
    )
    assert_array_equal(frames[1].u, [1.0, 2.0])
    assert len(frames.mass_center()) == 2  # needs none
    with pytest.raises(cd.errors.ShapeError, match="two frames or more whose times increase"):
        frames.energy()
