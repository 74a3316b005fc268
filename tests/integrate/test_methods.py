"""What single methods promise: reversibility and bounded energy of Verlet, stiff systems, locks and look-ups
in all of them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.equations import WHOLE
from condyle.integrate.integrators import METHODS
from condyle.integrate.integrators.base import Method, MethodStep
from condyle.integrate.integrators.rosenbrock import RODAS, RODAS5P
from condyle.native.programs.nodes import Call, Ints, kernel
from condyle.studies.simulate import SCIPY
from tests.integrate.test_ensemble import swinging


def double_pendulum() -> cd.System:
    system = cd.System(gravity=(0, -9.81, 0))
    for name, parent in (("upper", "ground"), ("lower", "upper")):
        at = (0, 0, 0) if parent == "ground" else (0, -0.5, 0)
        system.add_body(
            name,
            parent=parent,
            mobilizer=cd.Pin(),
            X_PF=at,
            X_BM=(0, 0.5, 0),
            mass=1.0,
            inertia=(0.1, 0.1, 0.1),
        )
    return system


def spinning_top() -> cd.System:
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body("top", mobilizer=cd.Ball(), X_BM=(0, -0.3, 0), mass=1.0, inertia=(0.02, 0.05, 0.03))
    return system


@pytest.mark.parametrize(
    ("make", "q", "u"),
    [(double_pendulum, [0.8, 0.5], [1.0, -2.0]), (spinning_top, [0.9, 0.1, 0.3, 0.2], [1.0, 9.0, 2.0])],
)
def test_verlet_runs_backwards_to_where_it_began(make, q, u):
    """Speeds turned round, the same steps lead back; for quaternions too (N != 1), by the midpoint rule in
    q."""
    system = make()
    q = np.array(q) / (np.linalg.norm(q) if system.nq == 4 else 1)
    there = cd.simulate(system, system.state(q=q, u=u), 1.0, integrator="verlet", step=0.005)[-1]
    back = cd.simulate(system, system.state(q=there.q, u=-there.u), 1.0, integrator="verlet", step=0.005)[-1]
    # 400 steps, each iterated to 1e-14, and errors of a nonlinear motion grow some hundred times.
    np.testing.assert_allclose(back.q, q, atol=1e-9, rtol=0)
    np.testing.assert_allclose(-back.u, u, atol=1e-9, rtol=0)
    merson = cd.simulate(system, system.state(q=there.q, u=-there.u), 1.0, integrator="merson", step=0.005)[
        -1
    ]
    assert np.abs(merson.q - q).max() > 1e-6  # the check can fail: other methods do not


def test_energy_of_verlet_stays_bounded_and_that_of_rk2_drifts():
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(1e-9,) * 3)

    def worst(method: str, t: float) -> float:
        traj = cd.simulate(system, system.state(q=[1.0]), t, integrator=method, step=0.02)
        energy = np.sum(system.energy(traj.q, traj.u), axis=0)
        return float(np.abs(energy - energy[0]).max())

    assert worst("verlet", 400.0) < 1.1 * worst("verlet", 4.0)  # two swings show all there is
    assert worst("rk2", 400.0) > 20 * worst("rk2", 4.0)
    assert worst("semi-explicit-euler", 400.0) < 1.1 * worst("semi-explicit-euler", 4.0)


@pytest.mark.parametrize("accuracy", [1e-2, 1e-4])
def test_verlet_with_error_control(accuracy):
    """Steps follow the error: within the accuracy, ten times as many for a hundredth of it; with a fixed step
    they do not."""
    system = double_pendulum()
    start = system.state(q=[0.8, 0.5], u=[1.0, -2.0])
    exact = cd.simulate(system, start, 2.0, accuracy=1e-12)
    traj = cd.simulate(system, start, 2.0, integrator="verlet", accuracy=accuracy)
    assert traj.finished
    assert np.abs(traj.q - exact.at(traj.t)[:, :2]).max() < accuracy
    assert np.diff(traj.t).max() > 2 * np.diff(traj.t)[1:-1].min()
    finer = cd.simulate(system, start, 2.0, integrator="verlet", accuracy=accuracy / 100)
    # h as the root of the accuracy
    assert finer.statistics.steps == pytest.approx(10 * traj.statistics.steps, rel=0.1)
    fixed = cd.simulate(system, start, 2.0, integrator="verlet", accuracy=accuracy, step=0.01)
    assert fixed.statistics.steps == 200


def stiff_foot(k: float = 1e6, c: float = 5e4) -> cd.System:
    """A pendulum over a floor, with a smooth one-sided spring and strong damping under its foot: contact as
    it is modeled."""
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body(
        "slide", mobilizer=cd.Slider(axis=(0, 1, 0)), mass=1.0, inertia=(1, 1, 1), coordinates="height"
    )
    system.add_body(
        "leg",
        parent="slide",
        mobilizer=cd.Pin(),
        X_BM=(0, 0.5, 0),
        mass=2.0,
        inertia=(0.1, 0.1, 0.1),
        coordinates="hip",
    )

    def floor(s):
        depth = -s.q("height")
        pressed = 0.5 * (depth + np.sqrt(depth**2 + 1e-10))
        return {"height": k * pressed - c * s.u("height") * pressed / (pressed + 1e-5)}

    system.add_force("floor", cd.forces.Custom(floor))
    return system


def test_rodas_takes_a_stiff_contact_in_a_twentieth_of_the_evaluations():
    """A body rests on a hard damped floor while its leg swings: the fastest time constant is about 80
    microseconds."""
    system = stiff_foot()
    start = system.state(q={"height": 0.0, "hip": 1.0})
    exact = cd.simulate(system, start, 3.0, accuracy=1e-9, integrator="rodas")
    assert exact.finished
    runs = {
        name: cd.simulate(system, start, 3.0, accuracy=1e-4, integrator=name) for name in ("merson", "rodas")
    }
    # a column is about one
    cost = {name: r.statistics.evaluations + 4 * r.statistics.jacobians for name, r in runs.items()}
    print(cost, {name: r.statistics for name, r in runs.items()})
    for traj in runs.values():
        assert traj.finished
        assert np.abs(traj[-1].q - exact[-1].q).max() < 1e-3  # ten times the accuracy
    assert cost["merson"] > 20 * cost["rodas"]


def test_rodas_with_time_locks_and_a_jacobian_by_columns(monkeypatch):
    """df/dt counts, locked speeds stay, and a Jacobian made column by column is the same."""

    def make() -> cd.System:
        system = double_pendulum()
        system.add_force("push", cd.forces.Custom(lambda s: {"upper": 3.0 * np.sin(5.0 * s.t)}))
        return system

    ends = []
    for whole in (WHOLE, 0):
        monkeypatch.setattr("condyle.integrate.equations.WHOLE", whole)
        monkeypatch.setenv("CONDYLE_CACHE", "off")
        system = make()
        traj = cd.simulate(system, system.state(q=[0.8, 0.5]), 2.0, integrator="rodas", accuracy=1e-7)
        ends.append(traj[-1])
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-12, rtol=0)  # the same numbers by another sum
    merson = cd.simulate(system, system.state(q=[0.8, 0.5]), 2.0, accuracy=1e-9)
    np.testing.assert_allclose(ends[0].q, merson[-1].q, atol=1e-6, rtol=0)  # ten times the accuracy
    locked = system.state(q=[0.8, 0.5], locked=["lower"])
    for name in ("rodas", "verlet", "merson"):
        traj = cd.simulate(system, locked, 1.0, integrator=name, step=1e-3)
        assert traj.finished, traj.status
        np.testing.assert_array_equal(traj.q[:, 1], 0.5)


@pytest.mark.parametrize("RODAS", [RODAS, RODAS5P], ids=lambda method: method.name)
def test_rodas_is_l_stable_by_its_coefficients(RODAS):
    """The stability function R(z) -> 0 as z -> -infinity, and |R| <= 1 on the imaginary axis."""

    def R(z: complex) -> complex:
        U: list[complex] = []
        for i in range(len(RODAS.A)):
            y = 1 + sum(a * x for a, x in zip(RODAS.A[i], U))
            U.append((z * y + sum(c * x for c, x in zip(RODAS.C[i], U))) / (1 / RODAS.gamma - z))
        return 1 + sum(b * x for b, x in zip(RODAS.b, U))

    assert abs(R(-1e9)) < 1e-7  # as 1/z
    assert max(abs(R(1j * w)) for w in np.geomspace(1e-3, 1e6, 200)) <= 1 + 1e-9


@pytest.mark.parametrize("name", METHODS)
def test_every_method_runs_a_system_with_tables_and_quaternions(name):
    x = np.linspace(-3, 3, 25)
    system = cd.System()
    system.add_body("base", mobilizer=cd.Free(), mass=2.0, inertia=(0.1, 0.2, 0.25))
    knee = cd.FunctionBased(
        "knee", angles=(None, None, lambda q: q), translations=(cd.Spline(x, 0.05 * np.sin(x)), None, None)
    )
    system.add_body(
        "shank", parent="base", mobilizer=knee, X_BM=(0, 0.4, 0), mass=3.0, inertia=(0.05, 0.01, 0.05)
    )
    start = system.state(u=np.linspace(-1, 1, system.nu))
    traj = cd.simulate(system, start, 0.2, integrator=name, step=1e-3)
    exact = cd.simulate(system, start, 0.2, accuracy=1e-9)
    assert traj.finished
    # 200 steps of 1 ms
    assert np.abs(traj[-1].q - exact[-1].q).max() < (2e-3 if METHODS[name].order == 1 else 1e-5)


@pytest.mark.parametrize("name", ["merson", "verlet"])
def test_loops_and_a_straight_line_give_the_same_motion(name, monkeypatch):
    """The right-hand side in both layouts: quaternions, splines, parameters, a force with states of its
    own."""
    ends = []
    for layout in ("unrolled", "looped"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        system = swinging()
        start = system.state(u=np.linspace(-1, 1, system.nu), parameters={"mass": 2.5})
        assert len(start.z)
        ends.append(cd.simulate(system, start, 0.3, integrator=name, step=1e-3).y[-1])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-11, rtol=0)  # 300 steps of rounding


@pytest.mark.parametrize("name", SCIPY)
def test_scipy_names_are_the_same_tableaux(name):
    """b and the rows of A are those of SciPy's own classes."""
    import scipy.integrate

    theirs, ours = getattr(scipy.integrate, name), METHODS[SCIPY[name]]
    n = theirs.n_stages
    # the last digits of decimals
    np.testing.assert_allclose(ours.b[:n], theirs.B, rtol=1e-14, atol=1e-16)
    for row, a in zip(ours.A[:n], theirs.A, strict=False):
        np.testing.assert_allclose(row, a[: len(row)], rtol=1e-14, atol=1e-16)


def test_scipy_names_run():
    system = double_pendulum()
    runs = [
        cd.simulate(system, system.state(q=[1.0, 0.1]), 0.2, integrator=name)
        for name in ("RK45", "dormand-prince")
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)


MIDPOINT = cd.integrators.Explicit("midpoint", 2, 2, A=((), (1 / 2,)), b=(0, 1), e=(-1, 1))


@dataclass(frozen=True)
class ImplicitEuler(Method):
    """A family of one's own, one class: (I / h - J) U = f + h df/dt,   y+ = y + U."""

    stiff: ClassVar[bool] = True
    needs_jacobian: ClassVar[bool] = True

    name: str = "implicit-euler"
    order: int = 1

    def step(self, eq, rate, rhs, sizes):
        n = eq.n
        sizes |= {"W": n * n, "f_t": n, "U": n, "pivots": n, "info": 1, "jacobians": 1}
        return MethodStep(
            [
                *rhs.matrix("t", "y", "h_try", 1.0, "W", "f_t"),
                kernel(
                    lambda count, h, f, f_t: (count + 1, f + h * f_t),
                    "jacobians h_try k0 f_t",
                    "jacobians U",
                    sizes,
                ),
                Call("dgetrf", (n, n, "W", n, Ints("pivots"), Ints("info"))),
                Call("dgetrs", (b"N", n, 1, "W", n, Ints("pivots"), "U", n, Ints("info"))),
                kernel(lambda y, U: y + U, "y U", "y_next", sizes),
            ],
            0,
        )


@pytest.mark.parametrize("method", [MIDPOINT, ImplicitEuler()], ids=lambda m: m.name)
def test_a_method_as_one_object_has_its_order(method):
    """A tableau and a family that the loop has never heard of: the measured order is the declared one;
    ensembles agree."""
    system = double_pendulum()
    start, ends = system.state(q=[0.8, 0.5], u=[1.0, -2.0]), []
    exact = cd.simulate(system, start, 0.5, accuracy=1e-11)[-1]
    for n in (100, 200):
        traj = cd.simulate(system, start, 0.5, integrator=method, step=0.5 / n)
        assert (
            traj.finished
            and traj.statistics.steps == n
            and traj.statistics.jacobians == n * method.needs_jacobian
        )
        ends.append(np.abs(traj[-1].q - exact.q).max())
    # the next term is h smaller
    assert np.log2(ends[0] / ends[1]) == pytest.approx(method.order, abs=0.1)
    many = cd.simulate(system, [start, start], 0.5, integrator=method, step=0.5 / n, keep="steps")
    # rounding of lanes
    np.testing.assert_allclose(many[1].at([0.1234, 0.5]), traj.at([0.1234, 0.5]), rtol=0, atol=1e-12)


def test_error_control_and_refusals_of_a_tableau_of_ones_own():
    system = double_pendulum()
    start = system.state(q=[0.8, 0.5], u=[1.0, -2.0])
    exact = cd.simulate(system, start, 0.5, accuracy=1e-9)
    coarse, fine = (cd.simulate(system, start, 0.5, integrator=MIDPOINT, accuracy=a) for a in (1e-3, 1e-5))
    assert np.abs(fine[-1].q - exact[-1].q).max() < 1e-5
    # h as the root of the accuracy
    assert fine.statistics.steps == pytest.approx(10 * coarse.statistics.steps, rel=0.1)
    with pytest.raises(cd.errors.DescriptionError, match="implicit-euler has no error estimate"):
        cd.simulate(system, start, 0.5, integrator=ImplicitEuler())
    for wrong, words in (
        ({"A": ((), (1 / 2,)), "b": (0, 0.9)}, "add up to 1"),
        ({"A": ((),), "b": (0, 1)}, "2 rows"),
        ({"A": ((),), "b": (1,), "e": (1,)}, "add up to 0"),
        ({"A": ((), (float("nan"),)), "b": (0, 1)}, "A: expected finite numbers"),
        ({"A": ((0, 0), (1, 0)), "b": (0, 1)}, "only the part below the diagonal"),
        ({"A": ((),), "b": "x"}, "b: expected finite numbers, got 'x'"),
        ({"A": 1, "b": (1,)}, "expected rows"),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=words):
            cd.integrators.Explicit("wrong", 1, **wrong)
    with pytest.raises(cd.errors.DescriptionError, match="order: expected a whole number from 1 on, got '1'"):
        cd.integrators.Explicit("wrong", "1", A=((),), b=(1,))
    with pytest.raises(cd.errors.ArgumentError, match="missing a required argument: 'order'"):
        cd.integrators.Explicit("wrong", A=((),), b=(1,))


def test_rkc_is_stable_far_along_the_negative_axis():
    """|R| <= 1 of the test equation y' = lambda y, R = 1 + z b (I - z A)^-1 1; Merson's method is not."""

    def amplification(name: str, z: float) -> float:
        method = METHODS[name]
        A = np.array([(*row, *[0.0] * (len(method.b) - len(row))) for row in method.A])
        return abs(1 + z * np.array(method.b) @ np.linalg.solve(np.eye(len(A)) - z * A, np.ones(len(A))))

    far = -0.65 * (len(METHODS["rkc"].b) ** 2 - 1)  # of the paper, damped
    # rounding of polynomials of degree 5 whose terms are up to 1e4
    assert max(amplification("rkc", z) for z in np.linspace(far, 0, 500)) <= 1 + 1e-11
    assert amplification("merson", far) > 100
