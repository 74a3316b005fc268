"""Phases, muscles, contact, given motions, measured loads, and goals, on small systems."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.collocation.intervals import CollocationMesh
from condyle.collocation.schemes import scheme
from condyle.control import Phases
from condyle.control.transcription import ControlProgram
from tests.control.test_closed_forms import slider


def moved(system: cd.System, duration: float | tuple[float, float] = 2.0, end: float = 1.0) -> cd.Problem:
    problem = cd.Problem(system, duration=duration)
    problem.add_torques("x", bounds=(-100, 100))
    problem.bound("x", (-5, 5), start=0, end=end)
    problem.bound("x_speed", (-50, 50), start=0, end=0)
    problem.minimize(cd.goals.Effort())
    return problem


@pytest.fixture(scope="module")
def mass() -> cd.System:
    return slider()


def weights(answer: cd.control.answer.Answer) -> np.ndarray:  # type: ignore[name-defined]
    mesh = answer.program.mesh
    return answer.duration * CollocationMesh.even(scheme(mesh.scheme.name), mesh.intervals).weights


# ---- phases ------------------------------------------------------------------------------------------------


def test_bounds_of_phases_are_kept(mass: cd.System) -> None:
    """Back by 1 m in 2 s at no more than 0.6 m/s: the same bound, in one problem and in two phases."""
    each = [cd.Problem(mass, duration=T) for T in (1.0, 1.0, 2.0)]
    for problem in each:
        problem.add_torques("x", bounds=(-100, 100))
        problem.bound("x_speed", (-0.6, 50))
        problem.bound("x", (-5, 5))
        problem.minimize(cd.goals.Effort())
    for start, end in ((each[0], each[1]), (each[2], each[2])):
        start.bound("x", (-5, 5), start=0.0)
        start.bound("x_speed", (-0.6, 50), start=0.0)
        end.bound("x", (-5, 5), end=-1.0)
        end.bound("x_speed", (-0.6, 50), end=0.0)
    phases = cd.solve(Phases(each[:2]), mesh=[12, 12], accuracy=1e-7)
    whole = cd.solve(each[2], mesh=24, accuracy=1e-7)
    # the bound begins and ends within an interval; without it the effort is 1.5
    assert phases.objective == pytest.approx(whole.objective, rel=1e-5) and whole.objective > 1.6


def test_two_phases_are_one_movement(mass: cd.System) -> None:
    """Least effort over 2 s, in phases of 0.5 and 1.5 s: the same cost, 12 m^2 d^2 / T^3, and it goes on
    smoothly."""
    first, second = cd.Problem(mass, duration=0.5), cd.Problem(mass, duration=1.5)
    for problem, when in ((first, "start"), (second, "end")):
        problem.add_torques("x", bounds=(-100, 100))
        problem.bound("x", (-5, 5), **{when: 0.0 if when == "start" else 1.0})
        problem.bound("x_speed", (-50, 50), **{when: 0.0})
        problem.minimize(cd.goals.Effort())
    answer = cd.solve(Phases([first, second]), mesh=[4, 8], accuracy=1e-9)
    assert answer.status == "solved"
    assert answer.objective == pytest.approx(6.0, rel=1e-7)
    assert answer.duration == 2.0
    one, two = answer.phases
    assert two.times[0] == one.times[-1]
    assert two.motion.values[0] == pytest.approx(one.motion.values[-1], abs=1e-9)
    again = cd.solve(Phases([first, second]), mesh=[4, 8], accuracy=1e-9, guess=answer)
    assert again.objective == pytest.approx(6.0, rel=1e-7)


def test_links_of_phases(mass: cd.System) -> None:
    """A link with a factor: the second phase starts at minus the first one's end; unknown names are named."""
    first, second = moved(mass), cd.Problem(mass, duration=1.0)
    second.add_torques("x", bounds=(-100, 100))
    second.bound("x", (-5, 5), end=-2.0)
    second.bound("x_speed", (-50, 50), start=0, end=0)
    second.minimize(cd.goals.Effort())
    answer = cd.solve(Phases([first, second], links={"x": ("x", -1.0)}), mesh=6, accuracy=1e-9)
    assert answer.phases[1].motion["x"][0] == pytest.approx(-1.0, abs=1e-8)
    assert answer.objective == pytest.approx(6.0 + 12 * 4.0, rel=1e-7)
    with pytest.raises(cd.errors.UnknownNameError, match="'y'"):
        cd.solve(Phases([first, second], links={"y": "x"}), mesh=6)
    with pytest.raises(cd.errors.DescriptionError, match="two or more"):
        Phases([first])
    with pytest.raises(cd.errors.DescriptionError, match="meet in 1 places"):
        Phases([first, second], links=[{}, {}])


# ---- muscles, contact --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [cd.muscles.DeGroote2016, pytest.param(cd.muscles.Millard2012, marks=pytest.mark.slow)]
)
def test_elastic_tendons_replayed(kind: type[cd.muscles.Muscle]) -> None:
    """Two muscles move a mass by 2 cm. Their explicit laws, with kinks, play the excitations to the same place:
    smooth faces and implicit tendons are the same physics."""
    system = slider(5.0)
    for name, x in (("left", -0.35), ("right", 0.35)):
        path = cd.paths.Path([("ground", (x, 0, 0)), ("body", (0, 0, 0))])
        system.add_force(name, kind(path, 100.0, 0.1, 0.25, tendon="elastic"))
    problem = cd.Problem(system, duration=0.4)
    problem.bound("x", (-0.1, 0.1), start=0, end=0.02)
    problem.bound("x_speed", (-5, 5), start=0, end=0)
    problem.bound(system.muscles, (0.02, 1.0))
    problem.minimize(cd.goals.Effort())
    problem.minimize(cd.goals.Smoothness("tendons"), 1e-3)
    # at the start tendons are at rest
    problem.require(cd.goals.Initial(lambda s: [s.z("left.activation") - s.z("right.activation")], 0, 0))
    answer = cd.solve(problem, mesh=25, scheme="radau-3", accuracy=1e-7)
    assert answer.status == "solved"
    assert answer.activations.names == ("left", "right")
    assert answer.tendon_forces.values.min() > 0
    answer.replay(1e-7)
    assert answer.statistics["drift"]["x"] < 1e-3  # [m]; Moco's damping of 0.01 is not in explicit tendons


@pytest.fixture(scope="module")
def hopper() -> cd.System:
    """A ball that a force lifts off the floor."""
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body(
        "ball", mobilizer=cd.Slider("y"), mass=2.0, com=(0, 0, 0), inertia=(0, 0, 0), coordinates=("y",)
    )
    soft = cd.contact.Material(modulus=1e5, dissipation=0.5)
    floor = cd.contact.HalfSpace(system.ground, (0, 1, 0), 0.0, soft)
    system.add_contact("floor", floor, cd.contact.Sphere("ball", (0, 0, 0), 0.1, soft))
    return system


def test_contact_replayed_and_followed(hopper: cd.System) -> None:
    """A ball is dropped and caught at rest on a soft floor; its contact forces, measured, are followed."""
    problem = cd.Problem(hopper, duration=0.3)
    problem.add_torques("y", bounds=(-200, 200))
    problem.bound("y", (0.05, 0.5), start=0.15)
    problem.bound("y_speed", (-5, 5), start=0, end=0)
    problem.minimize(cd.goals.Effort(), 1e-3)
    answer = cd.solve(problem, mesh=60, scheme="radau-2", accuracy=1e-7)
    assert answer.status == "solved"
    run = answer.replay(1e-7)
    assert answer.statistics["drift"]["y"] < 1e-3
    assert run.drift == answer.statistics["drift"]
    t = np.linspace(0, 0.3, 31)
    zeros = np.zeros_like(t)
    push = cd.Table(t, ["fx", "fy", "fz"], np.column_stack([zeros, 40 * np.ones_like(t), zeros]))
    load = cd.ExternalLoad("ball", push, force=("fx", "fy", "fz"))
    problem.minimize(cd.goals.ContactForces(load, axes="y"), 2.0)
    second = cd.solve(problem, mesh=20, accuracy=1e-6, guess=answer)
    q, u = second.motion.values, second.speeds.values
    # what acts beside gravity, as a force on the coordinate; smooth faces differ by 0.1 N at most
    zero = np.zeros_like(u)
    force = -np.ravel(hopper.inverse_dynamics(q, u, zero, disabled=["gravity"]))
    term = 2.0 * weights(second) @ (force - 40.0) ** 2 / (2 * 9.81) ** 2
    assert second.terms["ContactForces"] == pytest.approx(term, rel=1e-2)


def test_contact_forces_of_two_feet() -> None:
    """Each load is compared with the contacts of its own body, by its own weight."""
    system, soft = cd.System(gravity=(0, -9.81, 0)), cd.contact.Material(modulus=1e5, dissipation=0.5)
    floor = cd.contact.HalfSpace(system.ground, (0, 1, 0), 0.0, soft)
    for name in ("left", "right"):
        system.add_body(name, mobilizer=cd.Slider("y"), mass=2.0, inertia=(0, 0, 0), coordinates=(name[0],))
        system.add_contact(f"{name} floor", floor, cd.contact.Sphere(name, (0, 0, 0), 0.1, soft))
    t = np.linspace(0, 0.1, 11)
    loads = [
        cd.ExternalLoad(
            name, cd.Table(t, ["x", "y", "z"], np.outer(np.ones(11), [0, f, 0])), force=("x", "y", "z")
        )
        for name, f in (("left", 15.0), ("right", 30.0))
    ]
    problem = cd.Problem(system, duration=0.1)
    with pytest.raises(cd.errors.DescriptionError, match="several names are a list"):
        problem.add_torques("l", "r")
    problem.add_torques(["l", "r"], bounds=(-200, 200))
    for name in ("l", "r"):
        problem.bound(name, (0.07, 0.0999))  # it touches
        problem.bound(f"{name}_speed", (-5, 5))
    problem.minimize(cd.goals.Effort(), 1e-6)
    problem.minimize(cd.goals.ContactForces(loads, axes="y", weights={"right": 3.0}), 1.0)
    answer = cd.solve(problem, mesh=8)
    q, u = answer.motion.values, answer.speeds.values
    force = -system.inverse_dynamics(q, u, np.zeros_like(u), disabled=["gravity"])
    off = (force - [15.0, 30.0]) ** 2 @ [1.0, 3.0] / (4 * 9.81) ** 2
    assert answer.terms["ContactForces"] == pytest.approx(weights(answer) @ off, rel=1e-2, abs=1e-6)
    assert abs(force[4] - [15.0, 30.0]).max() < 3.0  # effort keeps them a little from it


def test_a_given_motion_and_loads(mass: cd.System) -> None:
    """Forces that explain a motion against a measured load: m a - f."""
    t = np.linspace(0, 1, 101)
    motion = cd.Table(t, ["x"], np.sin(3 * t)[:, None])
    push = cd.Table(t, ["fx", "fy", "fz"], np.column_stack([2 + t, 0 * t, 0 * t]))
    problem = cd.Problem(mass, times=(0.2, 0.8), motion=motion)
    problem.add_torques("x")
    problem.add_loads(cd.ExternalLoad("body", push, force=("fx", "fy", "fz")))
    problem.minimize(cd.goals.Effort())
    answer = cd.solve(problem, mesh=10, scheme="hermite-simpson", midpoint_controls="free")
    s = answer.times
    assert answer.controls["x_torque"] == pytest.approx(-18 * np.sin(3 * s) - (2 + s), abs=1e-4)
    with pytest.raises(cd.errors.DescriptionError, match="from 0 to 1 s"):
        cd.Problem(mass, times=(0.5, 1.5), motion=motion)
    late = cd.Problem(mass, times=(0.5, 1.5))
    with pytest.raises(cd.errors.DescriptionError, match="does not cover"):
        late.add_loads(cd.ExternalLoad("body", push, force=("fx", "fy", "fz")))


# ---- goals -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm() -> cd.System:
    """Two links in a plane, with a marker."""
    system = cd.System(gravity=(0, -9.81, 0))
    for name, parent, q in (("upper", system.ground, "shoulder"), ("lower", "upper", "elbow")):
        system.add_body(
            name, parent, cd.Pin(), X_PF=(0, 0 if name == "upper" else -0.3, 0), mass=1.0, com=(0, -0.15, 0),
            inertia=(0.01, 0.01, 0.01), coordinates=(q,),
        )  # fmt: skip
    system.add_marker("hand", "lower", (0, -0.3, 0))
    return system


def test_markers_and_orientations_are_followed(arm: cd.System) -> None:
    """A motion from its marker and from the orientations of its bodies."""
    t = np.linspace(0, 0.5, 51)
    q = np.column_stack([0.3 * np.sin(4 * t), 0.5 + 0.4 * t])
    hand = np.array([arm.station_position(row, "lower", (0, -0.3, 0)) for row in q])
    angles = {"upper": q[:, 0], "lower": q.sum(axis=1)}
    turned = {
        name: cd.Table(t, ["w", "x", "y", "z"], np.column_stack([np.cos(a / 2), 0 * a, 0 * a, np.sin(a / 2)]))
        for name, a in angles.items()
    }
    seen = np.array(hand)
    seen[20:22] = np.nan
    for goal in (cd.goals.Follow(cd.Markers(t, ["hand"], seen[:, None])), cd.goals.Follow(turned)):
        problem = cd.Problem(arm, times=(0.0, 0.5))
        problem.add_torques(bounds=(-100, 100))
        problem.bound("elbow", (0.1, 2.5))
        problem.bound("shoulder", (-1, 1))
        problem.minimize(goal, 100.0)
        problem.minimize(cd.goals.Effort(), 1e-8)
        answer = cd.solve(problem, mesh=20, accuracy=1e-6)
        off = answer.motion.values - np.column_stack([np.interp(answer.times, t, c) for c in q.T])
        assert np.abs(off).max() < 5e-3  # [rad]


def test_reactions_and_smoothness_are_integrals(arm: cd.System) -> None:
    """Terms of the objective against the operators of the system at the points of the answer."""
    problem = cd.Problem(arm, duration=0.5)
    problem.add_torques(bounds=(-100, 100))
    problem.bound(["shoulder", "elbow"], (-2, 2), start=0, end=0.5)
    problem.bound(problem.speeds, (-20, 20), start=0, end=0)
    problem.minimize(cd.goals.Effort(), 1e-2)
    problem.minimize(cd.goals.Reactions(("lower",), moments=True), 0.1)
    problem.minimize(cd.goals.Smoothness(weights={"elbow": 3.0}), 1e-4)
    answer = cd.solve(problem, mesh=10, accuracy=1e-7)
    assert answer.status == "solved"
    udot = np.column_stack([
        answer.variables[:, problem.dynamics.index[f"{name}_speed rate"]] for name in ("shoulder", "elbow")
    ])  # fmt: skip
    w = weights(answer)
    assert answer.terms["Smoothness"] == pytest.approx(1e-4 * w @ (udot**2 @ [1.0, 3.0]), rel=1e-9)
    q, u, c = answer.motion.values, answer.speeds.values, answer.controls.values
    F = np.array([
        np.ravel(problem.system.reactions(q[k], u[k], udot[k], inputs=c[k]))[6:] for k in range(len(q))
    ])  # fmt: skip
    size = (2 * 9.81) ** 2
    assert answer.terms["Reactions"] == pytest.approx(0.1 * w @ (F**2).sum(axis=1) / size, rel=1e-6)


# ---- robustness --------------------------------------------------------------------------------------------


def test_statistics_and_refinement(arm: cd.System) -> None:
    """KKT and violations are small; intervals are divided until the dynamics are exact enough."""
    problem = cd.Problem(arm, duration=0.6)
    problem.add_torques(bounds=(-100, 100))
    problem.bound(["shoulder", "elbow"], (-2, 2.5), start=0, end=1.5)
    problem.bound(problem.speeds, (-20, 20), start=0, end=0)
    problem.minimize(cd.goals.Effort())
    coarse = cd.solve(problem, mesh=5, accuracy=1e-8)
    assert coarse.statistics["optimality"] < 1e-6
    assert coarse.statistics["violation"] < 1e-7
    fine = cd.solve(problem, mesh=5, accuracy=1e-8, mesh_error=1e-4)
    assert coarse.mesh_error > 1e-4 >= fine.mesh_error
    assert fine.program.mesh.intervals > 5
    fine.replay(1e-8)
    assert max(fine.statistics["drift"].values()) < 1e-3  # [rad]
    pytest.importorskip("matplotlib", reason="pictures")
    assert sum(len(axes.lines) for axes in fine.plot("elbow", "elbow_speed", "elbow_torque")) == 3
    warm = cd.solve(problem, mesh=fine.program.mesh.intervals, accuracy=1e-8, guess=fine)
    assert warm.statistics["iterations"] <= 4
    assert warm.objective == pytest.approx(fine.objective, rel=1e-8)


def test_small_objectives_are_exact(mass: cd.System) -> None:
    """A weight of 1e-6 does not make the answer worse."""
    problem = moved(mass)
    problem.minimized = [(goal, 1e-6) for goal, _ in problem.minimized]
    problem.bound("x_torque", (-2.5, 2.5))
    tiny = cd.solve(problem, mesh=20, accuracy=1e-6)
    problem.minimized = [(goal, 1.0) for goal, _ in problem.minimized]
    plain = cd.solve(problem, mesh=20, accuracy=1e-6)
    assert tiny.objective == pytest.approx(1e-6 * plain.objective, rel=1e-4)


def test_ctrl_c_gives_the_iterate(arm: cd.System) -> None:
    problem = cd.Problem(arm, duration=0.6)
    problem.add_torques(bounds=(-100, 100))
    problem.bound(["shoulder", "elbow"], (-2, 2.5), start=0, end=1.5)
    problem.minimize(cd.goals.Effort())

    def press(step: object) -> None:
        if step.number == 2:  # type: ignore[attr-defined]
            signal.raise_signal(signal.SIGINT)

    answer = cd.solve(problem, mesh=5, progress=press)
    assert answer.status == "stopped"
    assert "best iterate" in answer.message
    assert np.isfinite(answer.motion.values).all()


def test_a_run_resumes_from_its_checkpoint(arm: cd.System, tmp_path: Path) -> None:
    problem = cd.Problem(arm, duration=0.6)
    problem.add_torques(bounds=(-100, 100))
    problem.bound(["shoulder", "elbow"], (-2, 2.5), start=0, end=1.5)
    problem.bound(problem.speeds, (-20, 20), start=0, end=0)
    problem.minimize(cd.goals.Effort())
    whole = cd.solve(problem, mesh=10, accuracy=1e-8)
    file = tmp_path / "run.npz"
    part = cd.solve(problem, mesh=10, accuracy=1e-8, iterations=6, checkpoint=file)
    assert part.status == "iterations"
    rest = cd.solve(problem, mesh=10, accuracy=1e-8, checkpoint=file)
    assert rest.objective == pytest.approx(whole.objective, rel=1e-7)
    again = cd.solve(problem, mesh=10, accuracy=1e-8, checkpoint=file)
    assert again.statistics["iterations"] <= 4
    with pytest.raises(cd.errors.DescriptionError, match="another problem, mesh or scheme"):
        cd.solve(problem, mesh=11, checkpoint=file)


def test_a_prescribed_base_and_a_lock(arm: cd.System) -> None:
    """A pendulum on a base that a motion drives, with a locked joint between: its equation holds, and the replay
    follows."""
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body(
        "base", mobilizer=cd.Slider(), mass=1.0, com=(0, 0, 0), inertia=(0, 0, 0), coordinates=("x",),
        motion=cd.Prescribed(lambda t: 0.1 * np.sin(5 * t)),
    )  # fmt: skip
    system.add_body(
        "bob", "base", cd.Pin(), X_BM=(0, 0.5, 0), mass=1.0, com=(0, 0, 0), inertia=(0.01, 0.01, 0.01),
        coordinates=("angle",),
    )  # fmt: skip
    problem = cd.Problem(system, duration=0.8)
    problem.add_torques("angle", bounds=(-50, 50))
    problem.bound("angle", (-2, 2), start=0, end=1.0)
    problem.bound("angle_speed", (-20, 20), start=0, end=0)
    problem.minimize(cd.goals.Effort())
    answer = cd.solve(problem, mesh=15, scheme="radau-3", accuracy=1e-8)
    assert answer.status == "solved"
    assert answer.motion["x"] == pytest.approx(0.1 * np.sin(5 * answer.times), abs=1e-12)
    assert answer.replay(1e-8).drift["angle"] < 1e-4
    problem.bound("x", (0, 1))
    with pytest.raises(cd.errors.DescriptionError, match="'x' is locked or prescribed"):
        cd.solve(problem, mesh=4)


def test_metabolic_energy_against_the_study() -> None:
    """The term of the objective against cd.metabolic_power of the answer's motion."""
    system = slider(5.0)
    for name, x in (("left", -0.35), ("right", 0.35)):
        path = cd.paths.Path([("ground", (x, 0, 0)), ("body", (0, 0, 0))])
        system.add_force(name, cd.muscles.DeGroote2016(path, 100.0, 0.1, 0.25, tendon="rigid"))
    problem = cd.Problem(system, duration=0.4)
    problem.bound("x", (-0.1, 0.1), start=0, end=0.02)
    problem.bound("x_speed", (-5, 5), start=0, end=0)
    problem.bound(system.muscles, (0.02, 1.0))
    model = cd.muscles.Bhargava2004(forbid_negative_total_power=False)
    problem.minimize(cd.goals.Metabolic(model), 0.1)
    problem.minimize(cd.goals.Effort())
    answer = cd.solve(problem, mesh=10, accuracy=1e-7)
    assert answer.status == "solved"
    motion = cd.Motion(system, answer.times[1:], answer.motion.values[1:], answer.speeds.values[1:])
    inside = cd.Table(answer.times[1:], answer.activations.names, answer.activations.values[1:])
    excited = cd.Table(answer.times[1:], answer.controls.names, answer.controls.values[1:])
    power = cd.metabolic_power(
        system, cd.muscle_analysis(system, motion, activations=inside), model,
        excitations=excited,
    )  # fmt: skip
    energy = weights(answer)[1:] @ (power["total"] - power["basal"])
    # smooth faces are off by half of their widths where there were kinks
    assert answer.terms["Metabolic"] == pytest.approx(0.1 * energy, rel=1e-2)


def test_smooth_faces_are_as_near_as_said() -> None:
    """Equations of motion of a point against inverse dynamics with the laws as they are: condyle.laws.smooth (3)."""
    system = slider(1.0)
    across = cd.paths.Path([("ground", (-0.3, 0, 0)), ("body", (0, 0, 0))])
    system.add_force("stop", cd.forces.MobilityStop("x", -0.2, 0.2, 100.0, 0.5))
    system.add_force("string", cd.forces.PathSpring(across, 1000.0, 0.3, 0.1))
    system.add_force("ligament", cd.forces.Blankevoort1991Ligament(across, 500.0, 0.35))
    soft = cd.contact.Material(modulus=1e5, dissipation=0.5)
    wall = cd.contact.HalfSpace(system.ground, (1, 0, 0), -0.1, soft)
    system.add_contact("wall", wall, cd.contact.Sphere("body", (0, 0, 0), 0.05, soft))
    problem = cd.Problem(system, duration=1.0)
    problem.add_torques("x")
    problem.minimize(cd.goals.Effort())
    program = ControlProgram(problem, CollocationMesh.even(scheme("radau-2"), 30), False)
    rng = np.random.default_rng(1)
    V = np.column_stack(
        [rng.uniform(-0.25, 0.25, program.P), rng.uniform(-1, 1, program.P), *np.zeros((2, program.P))]
    )
    V[:20, 0] = np.repeat([-0.2, 0.2, 0.0, -0.05], 5) + rng.uniform(-2e-4, 2e-4, 20)
    F = program.function.values(V, program.numbers())
    sharp = np.ravel(system.inverse_dynamics(V[:, :1], V[:, 1:2], V[:, 3:]))
    # of (3), with factors of damping of at most 1.5: 5e-4 100 + 5e-5 1000 + 5e-5 500, and 0.05 N of the wall
    assert np.abs(F[:, 2] - sharp).max() < 1.5 * (0.05 + 0.05 + 0.025 + 0.05)
    far = np.abs(V[:, [0]] - [[-0.2, 0.2, 0.0, -0.05, 0.05, 0.071]]).min(axis=1) > 0.01
    assert np.abs(F[far, 2] - sharp[far]).max() < 0.02


def test_a_slope_that_vanishes_elsewhere_is_not_divided_by() -> None:
    """The end of a bar follows a slider along x: its slope over the angle is a cosine, steady at the default, zero when
    the bar is upright. The bar turns through there."""
    system = cd.System()
    bar = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    system.add_body("bar", mobilizer=cd.Pin(), coordinates=cd.Coordinate("angle", -np.pi / 2), **bar)
    height = cd.constraints.Holonomic(
        lambda s: s.q("shift") ** 3 + s.q("shift") - np.sqrt(2) * s.station_position("bar", (1, 0, 0))[0]
    )
    slider = {"mass": 1.0, "com": (0, 0, 0), "inertia": (0, 0, 0)}
    system.add_body("block", mobilizer=cd.Slider(), coordinates="shift", **slider)
    system.add_constraint("follows", height)
    problem = cd.Problem(system, duration=1.0)
    assert not problem.dynamics.diagonal


def test_an_actuator_may_be_called_as_its_coordinate() -> None:
    """As in Rajagopal's model: the coordinate is followed and bounded, not the control."""
    system = cd.System(gravity=(0, 0, 0))
    own = {"mass": 1.0, "com": (0, 0, 0), "inertia": (1, 1, 1)}
    system.add_body("forearm", mobilizer=cd.Pin(), coordinates="elbow", **own)
    system.add_force("elbow", cd.forces.CoordinateActuator("elbow", 10.0))
    t = np.linspace(0, 1, 21)
    motion = cd.Table(t, ["elbow"], (0.5 * t**2)[:, None], degrees=False)
    problem = cd.Problem(system, times=(0.0, 1.0))
    problem.bound("elbow", (-1, 1))
    problem.bound("elbow_control", (-0.3, 0.3))
    problem.require(cd.goals.Periodic(states=False, controls=["elbow"]))
    problem.minimize(cd.goals.Follow(motion))
    problem.minimize(cd.goals.Effort(), 1e-9)
    answer = cd.solve(problem, mesh=5, scheme="hermite-simpson")
    assert answer.ok
    assert answer.motion["elbow"] == pytest.approx(0.5 * answer.times**2, abs=1e-3)  # accuracy 1e-6, squared
    assert answer.controls["elbow"] == pytest.approx(0.1, abs=2e-3)  # I qddot = 1 N m of 10
    assert answer.controls["elbow"][0] == pytest.approx(answer.controls["elbow"][-1], abs=1e-6)
