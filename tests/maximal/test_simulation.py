"""Motion in maximal coordinates against cd.simulate, closed forms and its own accuracy; constraints, locks,
states of forces."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle import maximal
from tests.constraints.rig import on_constraints, rig
from tests.forces import rig as arms
from tests.oracles import random_plan
from tests.verification import mechanisms as built

ACCURACY = 1e-9
# A hundred times the accuracy: some tens of steps of either formulation, in motions that part from their
# neighbors quickly.
WITHIN = 1e-7


def both(system, q, u, t_final, **options):
    """Largest difference of q and u at the end, relative, and the two trajectories."""
    first = cd.simulate(system, system.state(q=q, u=u, **options), t_final, accuracy=ACCURACY)
    second = maximal.formulation(system).simulate(q, u, t_final, accuracy=ACCURACY, **options)
    assert first.finished and second.finished, (first.status, second.status)
    off = max(
        np.abs(a[-1] - b[-1]).max() / max(1.0, np.abs(a).max())
        for a, b in ((first.q, second.q), (first.u, second.u))
    )
    return off, first, second


@pytest.mark.parametrize(
    ("seed", "kinds"),
    [
        (11, ["pin", "screw", "slider", "cylinder", "planar", "translation", "ball", "free"]),
        (12, ["universal", "gimbal", "bushing", "line", "free_line", "ellipsoid", "beam"]),
        (13, ["function", "timed", "spline", "custom", "composed", "bend", "spherical"]),
    ],
    ids=["pairs", "angles", "functions"],
)
def test_random_trees_move_alike(seed, kinds, evidence):
    plan = random_plan(seed, 4, kinds)
    q, u, _ = plan.states()
    off, *_ = both(plan.system(), q, u, 0.2)
    evidence("random trees in motion for 0.2 s: minimal against maximal coordinates, relative", off, WITHIN)


@pytest.mark.parametrize(
    "names",
    [
        ("Weld",),
        ("Rod", "CoordinateCoupler"),
        ("SphereOnPlaneContact",),
        ("Holonomic",),
        ("PrescribedMotion", "NoSlip1D"),
        ("Nonholonomic", "ConstantAngle"),
        ("ConstantSpeed", "PointOnLine"),
        ("ConstantAcceleration", "Rod"),
    ],
    ids=" ".join,
)
def test_constraints_move_alike(names, evidence):
    """Equations on positions, velocities and accelerations, time in them; the state stays on them to
    rounding."""
    system = rig(*names)
    q, u = system.project(*on_constraints(system), tolerance=1e-13)
    off, _, second = both(system, q, u, 0.3)
    evidence(
        "constraints of all levels in motion for 0.3 s: minimal against maximal coordinates, relative",
        off,
        WITHIN,
    )
    made, last = maximal.formulation(system), slice(-1, None)
    for t, x, V, q in zip(second.t[last], second.x[last], second.V[last], second.q[last], strict=True):
        at = made.equations(x, V, q, t=t)
        assert np.abs(at.C).max() < 1e-14  # Newton ends where rounding begins
        assert np.abs(at.Cdot).max() < 1e-12  # velocities of order 10, projected once
        np.testing.assert_allclose(
            np.linalg.norm(x[7 * np.arange(3)[:, None] + np.arange(4)], axis=1), 1, rtol=0, atol=1e-15
        )


def test_laws_with_states_inputs_and_locks():
    """A thermostat's states and momenta, an input, a parameter, a locked speed that does not rest."""
    laws = arms.one_of_each()
    system = arms.arm(**{name: laws[name] for name in ("bath", "piston", "torsion", "drag")})
    q, u = arms.state(system, 4)
    options = {
        "z": np.linspace(0.2, -0.3, len(system.state_variables)),
        "inputs": {"pressure": 3.0},
        "parameters": {"torsion": 20.0},
        "locked": ["reach"],
        "disabled": ["drag"],
        "t": 0.4,
    }
    off, first, second = both(system, q, u, 0.7, **options)
    assert off < WITHIN
    np.testing.assert_allclose(second.z[-1], first.z[-1], rtol=WITHIN, atol=WITHIN)
    assert np.ptp(second.z[:, 0]) > 0.1
    np.testing.assert_allclose(
        second.u[:, system.speeds.index("reach")], u[system.speeds.index("reach")], rtol=0, atol=1e-14
    )
    np.testing.assert_allclose(second.q[-1, -1], q[-1] + 0.3 * u[-1], rtol=0, atol=1e-9)


def test_error_follows_the_accuracy():
    """A pendulum of two swings, against its motion at 1e-11."""
    made = maximal.formulation(built.pendulum())
    times = np.linspace(0, 2.5, 6)
    run = lambda accuracy: made.simulate([-1, 0, 0], np.zeros(3), 2.5, accuracy=accuracy, times=times)
    exact = run(1e-11)
    errors = [np.abs(run(accuracy).q - exact.q).max() for accuracy in (1e-4, 1e-6, 1e-8)]
    np.testing.assert_array_equal(exact.t, times)
    # Errors of some tens of steps add up; the knob should move them by what it is moved, within one digit.
    for error, accuracy in zip(errors, (1e-4, 1e-6, 1e-8), strict=True):
        assert 0.01 * accuracy < error < 10 * accuracy, errors


def test_many_turns_are_counted():
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("wheel", mobilizer=cd.Pin(axis="y"), mass=1.0, inertia=(1, 1, 1))
    system.add_body("disc", "wheel", cd.Screw(0.1), X_PF=(0.1, 0, 0), mass=1e-6, inertia=(1e-6,) * 3)
    traj = maximal.formulation(system).simulate([0.3, 0.0], [40.0, 0.0], 2.0)
    np.testing.assert_allclose(traj.q[-1, 0], 80.3, rtol=1e-6)
    assert (np.diff(traj.q[:, 0]) > 0).all()


@pytest.mark.parametrize("short", [0.0, 1e-9, 1e-6, 1e-3])
def test_four_bars_that_begin_flat(short):
    """Where the loops have lost rank, or nearly: the motion goes on as one, to what the first steps leave
    open."""
    N, g = 2, 9.81
    made = maximal.MaximalSystem(built.four_bars(N, closed=False), built.four_bars_joints(N))
    traj = made.simulate(*built.four_bars_state(N, np.pi / 2 - short, 6.0), 0.5, accuracy=1e-8)
    assert traj.finished
    theta, rate = -traj.q[-1, 0], -traj.u[-1, 0]
    np.testing.assert_allclose(
        traj.q[-1], built.four_bars_state(N, theta, rate)[0], rtol=0, atol=1e-10
    )  # nothing folded
    energy = rate**2 / 2 + g * 3.5 / 3 * np.cos(theta)
    # At flat the acceleration along the fold is the forces' choice for a step that error control has made
    # short: 1e-5.
    np.testing.assert_allclose(energy, 18 + g * 3.5 / 3 * np.sin(short), rtol=1e-4 if short < 1e-7 else 1e-6)


def test_a_stop_is_explained():
    system = cd.System()
    system.add_body("b", mobilizer=cd.Slider(), mass=1.0)
    system.add_force("root", cd.forces.Custom(lambda s: {"b": 1.0 + 1e-9 * np.sqrt(1.0 - s.q("b"))}))
    traj = maximal.formulation(system).simulate([0.0], [0.0], 3.0)
    assert not traj.finished
    assert traj.t[-1] == pytest.approx(np.sqrt(2.0), abs=1e-6)  # b = t^2 / 2 reaches 1
    assert traj.status.startswith("stopped at t = 1.4142")
    assert "force that is not smooth or not finite" in traj.status


def test_what_is_refused():
    made = maximal.formulation(built.pendulum())
    rest = np.zeros(3)
    with pytest.raises(
        cd.errors.DescriptionError, match=r"violates loops or constraints by 1, more than the accuracy 1e-06"
    ):
        made.simulate([-2, 0, 0], rest, 1.0)
    with pytest.raises(
        cd.errors.DescriptionError, match=r"t_final = -1\.0 s must be finite and not before t = 0 s"
    ):
        made.simulate([-1, 0, 0], rest, -1.0)
    with pytest.raises(cd.errors.DescriptionError, match="accuracy = 2 must be between"):
        made.simulate([-1, 0, 0], rest, 1.0, accuracy=2)
    with pytest.raises(cd.errors.DescriptionError, match="times must rise from 0 to 1 s at most"):
        made.simulate([-1, 0, 0], rest, 1.0, times=[0.5, 2.0])
    with pytest.raises(cd.errors.ShapeError, match="u: expected 3 finite numbers"):
        made.simulate([-1, 0, 0], np.zeros(2), 1.0)
    with pytest.raises(
        cd.errors.ArgumentError,
        match=r"missing a required argument: 't_final'\. It is simulate\(q, u, t_final,",
    ):
        made.simulate([-1, 0, 0], rest)
    assert made.simulate([-1, 0, 0], rest, 0.0).t.tolist() == [0.0]


def test_what_is_no_system_or_no_numbers():
    system = cd.System()
    system.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    with pytest.raises(cd.errors.DescriptionError, match=r"a cd\.System, got State"):
        maximal.formulation(system.state())
    with pytest.raises(cd.errors.ShapeError, match=r"q: expected 1 finite numbers, got .'bob'"):
        maximal.formulation(system).simulate({"bob": 1}, [0.0], 1.0)
