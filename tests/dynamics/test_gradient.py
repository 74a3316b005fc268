"""The gradient of w . udot by its recursion, unrolled and looped: against automatic differentiation,
Jacobians, differences."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import condyle as cd
from condyle.errors import SingularError
from condyle.model.differentiate import OperatorDerivative, has_gradient
from condyle.model.layouts import build_looped_gradient
from condyle.native.calls.native_function import NativeFunction
from tests.differences import STEPS, WEIGHTS
from tests.forces.rig import arm, one_of_each
from tests.mobilizers.every import EVERY, ONE_OF_EACH
from tests.mobilizers.every import one_of_each as one_of_each_mobilizer
from tests.model.test_looped import arguments_of, chain, of_other_numbers, parametric, tree_of
from tests.system.test_derivatives import (
    arguments,
    assert_same,
    differences,
    double_pendulum,
    exact_jacobian,
    options,
    small,
)
from tests.zoo import model

WRT = ("q", "u", "tau")
# Three arrangements of the same sums, some hundred products each, over trees some bodies deep.
SAME = 1e-12


def ways(
    system: cd.System, how: str = "interpreted", wrt: tuple[str, ...] = WRT
) -> dict[str, NativeFunction]:
    """By automatic differentiation, always CasADi's evaluator; by the recursion, unrolled and looped."""
    subject_, nu = system.compiled.model, system.nu
    sides = {
        "inputs": [
            *((n, subject_.sizes()[n]) for n in ("q", "u", "tau")),
            ("cotangent", nu),
            ("tail", subject_.tail_size),
        ],
        "outputs": [*((f"d_{name}", nu) for name in wrt), ("status", 1)],
    }
    builds = {
        "ad": lambda: OperatorDerivative(subject_, "forward_dynamics", wrt)._forward_vjp(),
        "unrolled": lambda: OperatorDerivative(subject_, "forward_dynamics", wrt).vjp(),
        "looped": lambda: build_looped_gradient(subject_, wrt),
    }
    out = {
        name: NativeFunction(name, build, key=f"test {name} {wrt}\n{system.compiled.key}", **sides)
        for name, build in builds.items()
    }
    for name, function in out.items():
        function._evaluator._casadi = how == "interpreted" or name == "ad"
    return out


def compare(
    system: cd.System, given: dict[str, np.ndarray], how: str = "interpreted", same: float = SAME
) -> None:
    assert has_gradient(system.compiled.model, "forward_dynamics", WRT)
    w = np.random.default_rng(7).uniform(-1, 1, given["u"].shape)
    arrays = [given["q"], given["u"], given["tau"], w, given["tail"]]
    if how == "scalar":
        arrays = [a if a.ndim == 1 else a[:3] for a in arrays]
    found = {name: f(*arrays) for name, f in ways(system, how).items()}
    for name in ("unrolled", "looped"):
        for what, x, y in zip((*WRT, "status"), found[name], found["ad"], strict=True):
            scale = np.abs(y).max(initial=1.0)
            np.testing.assert_allclose(x, y, rtol=0, atol=same * scale, err_msg=f"{name}, {what}")


@pytest.mark.parametrize("seed", [3, 8, 11])
def test_trees_of_every_mobilizer(seed):
    """Twelve bodies with mobilizers of all kinds, some reversed, some frames turned, time among the
    coordinates."""
    every = one_of_each_mobilizer()
    system = tree_of([every[i] for i in np.random.default_rng(seed).permutation(len(every))[:12]], seed)
    # Some bodies are slight: accelerations lose the digits of the condition number of M, about 1e4.
    compare(system, arguments_of(system, seed, n=3, t=0.4), same=1e-9)


def test_numbers_of_mobilizers_are_data():
    """Two bodies of each pattern that differ in numbers."""
    rng = np.random.default_rng(8)
    pick = [0, 1, 3, 5, 9, 12]
    system = tree_of([of_other_numbers(rng)[i] for i in pick for _ in range(2)], 8)
    compare(system, arguments_of(system, 8, n=3), same=1e-9)  # as above


@pytest.mark.parametrize(
    "names", [list(ONE_OF_EACH)[i : i + 3] for i in range(0, len(ONE_OF_EACH), 3)], ids=" ".join
)
def test_each_mobilizer_between_others(names):
    """Forward and reversed, among bodies that move."""
    some = [EVERY[name] for name in names]
    system = tree_of([cd.Pin(axis=(1, 2, 3)), cd.Ball(), *some, *(m.reversed() for m in some)], seed=1)
    # cond(M) is up to some hundreds
    compare(system, arguments_of(system, 1, n=2, t=0.4), same=100 * SAME)


@pytest.mark.parametrize("how", ["scalar", "lanes"])
def test_machine_code(how):
    pick = [
        cd.Pin(),
        cd.Pin(),
        cd.Free(),
        cd.Weld(),
        cd.Universal().reversed(),
        EVERY["FunctionBased-time"],
        EVERY["FunctionBased-spline"],
    ]
    system = tree_of([*pick, cd.Ball().reversed()], seed=5)
    system.add_force("spring", cd.forces.TwoPointSpring("ground", (0, 1, 0), "b1", (0.1, 0, 0), 40.0, 0.3))
    system.add_force("ether", cd.forces.GlobalDamper(0.4))
    # cond(M) is some hundreds
    compare(system, arguments_of(system, 5, t=0.4), how, 100 * SAME)


LAWS = list(one_of_each())


@pytest.mark.parametrize("some", [LAWS[i::6] for i in range(6)], ids=" ".join)
def test_every_force(some):
    """Some laws at a time."""
    laws = one_of_each()
    system = arm(**{law: laws[law] for law in some})
    z = np.random.default_rng(1).uniform(-0.5, 0.5, (4, len(system.state_variables)))
    compare(system, arguments_of(system, 2, n=4, t=0.3, z=z))


def test_all_forces():
    """With gravity that leaves a body alone and one force switched off."""
    system = arm(gravity=cd.forces.Gravity((0, -9.81, 0), excluded=("upper",)), **one_of_each())
    z = np.random.default_rng(1).uniform(-0.5, 0.5, (4, len(system.state_variables)))
    compare(system, arguments_of(system, 2, n=4, t=0.3, z=z, disabled=("damper",)))


@pytest.mark.parametrize("how", ["interpreted", "scalar", "lanes"])
def test_parameters_and_locks(how):
    system = parametric()
    rng = np.random.default_rng(4)
    values = {
        p: x * rng.uniform(0.9, 1.3, 19)
        for p, x in {"mass": 1.5, "length": 0.4, "g": 9.81, "pitch": 0.1}.items()
    }
    compare(system, arguments_of(system, 4, n=19, parameters=values, locked=("b",)), how)


def test_against_differences(monkeypatch):
    """Every family of mobilizers, springs, dampers, a user's law, a thermostat, locks: both layouts."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system, at = model()
    mask = np.zeros(system.nu)
    mask[[2, 7, 11]] = 1
    w = np.random.default_rng(0).uniform(-1, 1, system.nu)
    functions = ways(system)
    for locked in (np.zeros(system.nu), mask):
        expected = {
            name: w @ differences(system, "forward_dynamics", at, name, locked=locked) for name in WRT
        }
        J = system.jacobian(
            "forward_dynamics", *arguments("forward_dynamics", at), wrt=WRT, **options(at, locked=locked)
        )
        tail = system.compiled.tail(**options(at, locked=locked))
        for name, function in functions.items():
            *found, status = function(at["q"], at["u"], at["tau"], w, tail)
            assert not status.any()
            for what, x in zip(WRT, found, strict=True):
                assert_same(x, expected[what], f"{name} by {what}")
                # Two algorithms, whose roundings cond(M), some 1e3, enlarges.
                assert_same(x, w @ J[what], f"{name} by {what}", 1e-11)
        np.testing.assert_array_equal(found[2][locked == 1], 0)


def test_massless_bodies(monkeypatch):
    """A universal joint of two pins with nothing between equals cd.Universal."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    rest = {"mass": 1.3, "com": (0.1, -0.2, 0.3), "inertia": (0.1, 0.2, 0.15)}
    one, two = cd.System(), cd.System()
    one.add_body("a", mobilizer=cd.Universal(), **rest)
    two.add_body("cross", mobilizer=cd.Pin(axis="x"))
    two.add_body("a", "cross", cd.Pin(axis="y"), **rest)
    q, u, tau, w = np.random.default_rng(2).uniform(-1, 1, (4, 2))
    expected = one.vjp("forward_dynamics", q, u, tau, cotangent=w, wrt=WRT)
    for name, function in ways(two).items():
        for what, x in zip(WRT, function(q, u, tau, w, two.compiled.tail()), strict=False):
            assert_same(x, expected[what], f"{name} by {what}", SAME)


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_double_pendulum_in_60_digits(layout, evidence, monkeypatch):
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    q, u, p, w = [0.4, -1.1], [1.3, 0.6], [1.1, 0.7, 0.8], [0.7, -0.4]
    back = small().vjp("forward_dynamics", np.array(q), np.array(u), cotangent=np.array(w), wrt=("q", "u"))
    with mpmath.workdps(60):
        expected = np.array(w) @ exact_jacobian(lambda *x: double_pendulum(*x, *map(mpf, p)), [*q, *u], 2)
    # cond(M) is some tens: 1e-12 of the largest entry is some hundred roundings.
    evidence(
        "gradient of a double pendulum's accelerations against 60 digits, relative",
        np.abs(np.concatenate([back["q"], back["u"]]) - expected).max() / np.abs(expected).max(),
        1e-12,
    )


@pytest.mark.parametrize("wrt", [("q",), ("u",), ("tau",), ("tau", "q"), ("u", "tau")])
def test_some_of_the_variables(wrt):
    """In any order, and without what is not asked for."""
    system = arm(
        **{name: law for name, law in one_of_each().items() if name in ("damper", "torsion", "friction")}
    )
    given = arguments_of(system, 6, n=3)
    arrays = [given["q"], given["u"], given["tau"], given["udot"], given["tail"]]
    everything = dict(zip(WRT, ways(system)["unrolled"](*arrays), strict=False))
    for name, function in ways(system, wrt=wrt).items():
        *found, _ = function(*arrays)
        for what, x in zip(wrt, found, strict=True):
            assert_same(x, everything[what], f"{name} by {what}", SAME)


# ---- as users call it --------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_one_state_and_many(layout, monkeypatch):
    """The first call, later ones that go straight to the kernel, lists, a batch, other options: all the
    same."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    system = chain(4, cd.Pin())
    q, u, tau, w = np.random.default_rng(1).uniform(-1, 1, (4, 19, 4))
    batch = system.vjp("forward_dynamics", q, u, tau, cotangent=w, wrt=WRT)
    J = system.jacobian("forward_dynamics", q[2], u[2], tau[2], wrt=WRT)
    for given in (
        (q[2], u[2], tau[2], w[2]),
        (q[2], u[2], tau[2], w[2]),
        (list(q[2]), u[2], tau[2], w[2]),
        (np.repeat(q[2], 2)[::2], u[2], tau[2], w[2]),
    ):
        for wanted in (WRT, list(WRT)):
            one = system.vjp("forward_dynamics", *given[:3], cotangent=given[3], wrt=wanted)
            assert tuple(one) == WRT
            for name, x in one.items():
                # cond(M) of a chain, some hundreds
                assert_same(x, w[2] @ J[name], name, 100 * SAME)
                np.testing.assert_allclose(x, batch[name][2], rtol=0, atol=100 * SAME * np.abs(x).max())
    without = system.vjp("forward_dynamics", q[2], u[2], cotangent=w[2], wrt="q")["q"]
    np.testing.assert_array_equal(
        without, system.vjp("forward_dynamics", q[2], u[2], 0 * u[2], cotangent=w[2], wrt=("q",))["q"]
    )
    off = system.vjp("forward_dynamics", q[2], u[2], tau[2], cotangent=w[2], wrt=WRT, disabled=("gravity",))
    assert np.abs(off["q"] - one["q"]).max() > 1e-3
    np.testing.assert_allclose(off["tau"], one["tau"], rtol=0, atol=SAME * np.abs(one["tau"]).max())
    again = system.vjp("forward_dynamics", q, u, tau, cotangent=w[2], wrt=WRT)
    assert {name: x.shape for name, x in again.items()} == dict.fromkeys(WRT, (19, 4))


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
def test_wrong_calls_after_right_ones(layout, monkeypatch):
    """The short way to the kernel leaves what it does not understand to the long one."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    system = tree_of([cd.Pin(), cd.Gimbal(), cd.Pin()], seed=1)
    q, u = system.defaults()[0] + 0.1, np.linspace(-1, 1, system.nu)
    ask = lambda *arrays, **more: system.vjp(
        "forward_dynamics", *arrays, **{"cotangent": u, "wrt": WRT, **more}
    )
    for _ in range(2):
        ask(q, u, u)
    with pytest.raises(cd.errors.ShapeError, match=r"cotangent: expected \(\.\.\., 5\)"):
        ask(q, u, u, cotangent=u[:3])
    with pytest.raises(cd.errors.ShapeError, match="q: expected"):
        ask(q[:2], u, u)
    with pytest.raises(cd.errors.DescriptionError, match=r"expected the arguments"):
        ask(q)
    with pytest.raises(cd.errors.UnknownNameError, match="variable of forward_dynamics"):
        ask(q, u, u, wrt=("q", "v"))
    q[system.body("b1").q.start + 1] = np.pi / 2
    with pytest.raises(SingularError, match=r"vjp of forward_dynamics.*'b1'"):
        ask(q, u, u)
    with pytest.raises(SingularError, match=r"state \(1,\) of the batch"):
        ask(np.stack([system.defaults()[0] + 0.1, q]), u, u)


def test_a_long_chain():
    """120 bodies, in loops: the gradient of w . udot against differences of order 8 along a direction."""
    system = chain(120, cd.Pin())
    q, u, tau, w, dq, du = np.random.default_rng(0).uniform(-0.3, 0.3, (6, system.nu))
    back = system.vjp("forward_dynamics", q, u, tau, cotangent=w, wrt=WRT)
    h = 0.1 * STEPS[:, None]
    slope = WEIGHTS @ (system.forward_dynamics(q + h * dq, u + h * du, tau) @ w) / 0.1
    # The condition number of M, about (bodies)^4 for a chain, times rounding.
    np.testing.assert_allclose(back["q"] @ dq + back["u"] @ du, slope, rtol=1e-5)
    np.testing.assert_allclose(
        back["tau"], system.solve_mass_matrix(q, w), rtol=0, atol=1e-6 * np.abs(back["tau"]).max()
    )
