"""Many multipliers: loops.py beside the straight lines of lines.py, derivatives, and the size of programs."""

from __future__ import annotations

from functools import cache
from operator import attrgetter

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import condyle as cd
from condyle.constraints.solve import multipliers
from condyle.constraints.solve.looped_blocks import Inverse, Last, Least, Meet, SolverRows, filled, padded
from condyle.constraints.solve.straight_blocks import rules, solver
from condyle.model.layouts import build_looped
from condyle.model.operators import OPERATORS
from condyle.model.symbols import Symbols
from condyle.native.calls.native_function import NativeFunction
from condyle.native.ir.module import Module
from condyle.native.tables.lookup import look_up
from condyle.native.tables.staged import Staged, build_function

pytestmark = pytest.mark.filterwarnings("ignore::condyle.errors.PlausibilityWarning")  # numbers at the edge

C = cd.contact
ROUNDING = 1e-12
"""Of accelerations, as shares of what they are sums of: both ways refine them with the errors of G itself."""
SHARED = 1e-9
"""Of redundant multipliers: what (4) of multipliers.py leaves of rounding over 1e-12."""


@cache
def box(friction: float = 0.5, mass: float = 1.0, corners: int = 8) -> cd.System:
    """24 equations of eight corners on six speeds."""
    stone = C.Rigid(friction=friction)
    system = cd.System(gravity=(0, 0, -9.81))
    system.add_body("box", mobilizer=cd.Free(), mass=mass, inertia=(0.01 * mass, 0.02 * mass, 0.015 * mass))
    points = [(x, y, z) for z in (-0.1, 0.1) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    system.add_contact(
        "floor", C.HalfSpace("ground", (0, 0, 1), 0.0, stone), C.vertices("box", points[:corners], stone)
    )
    return system


@cache
def net(heavy: float = 1.0, bodies: int = 3, rods: int = 13) -> cd.System:
    """Bodies on gimbals and a free one beside them, which rods tie together."""
    rng, system = np.random.default_rng(3), cd.System()
    for i in range(bodies):
        system.add_body(
            f"b{i}",
            f"b{i - 1}" if i else "ground",
            cd.Gimbal(),
            X_BM=(0, 0.4, 0),
            mass=heavy if i == bodies - 1 else 1.0,
            inertia=(0.1, 0.2, 0.15),
        )
    system.add_body("free", mobilizer=cd.Free(), mass=2.0, inertia=(0.3, 0.2, 0.4))
    for i in range(rods):
        a = f"b{i % (1 + bodies) - 1}" if i % (1 + bodies) else "ground"
        rod = cd.constraints.Rod(a, rng.normal(size=3), "free", rng.normal(size=3), 1.0)
        system.add_constraint(f"rod{i}", rod)
    return system


def states(system: cd.System, n: int = 6) -> list[np.ndarray]:
    """q, u, tau and tails (n, ...): contacts open, stick and slide, all that hold of a box on the floor."""
    rng, model = np.random.default_rng(7), system.compiled.model
    q, u, tau = (rng.normal(size=(n, size)) for size in (system.nq, system.nu, system.nu))
    tail = np.tile(system.compiled.tails.make({}), (n, 1))
    if system.constraints.unilateral:
        turn, v = rng.normal(size=n), rng.normal(size=(n, 2))
        v[::2] = 0.0
        zero = np.zeros(n)
        q = np.stack([np.cos(turn), zero, zero, np.sin(turn), *rng.normal(size=(2, n)), zero + 0.1], axis=1)
        u = np.stack([zero, zero, zero, *v.T, zero], axis=1)
        d = np.zeros((n, len(system.discrete)))
        way = v / np.maximum(np.linalg.norm(v, axis=1), 1e-300)[:, None]
        for k, name in enumerate(system.discrete):
            holds = rng.random(n) < 0.7
            d[:, k] = (
                holds
                if name.endswith("closed")
                else d[:, k - 1] * (v[:, 0] == 0)
                if name.endswith("stick")
                else way[:, "xy".index(name[-1])]
                if name.endswith(("slide_x", "slide_y"))
                else 0.0
            )
        tail[:, model.tail["discrete"]] = d
    return [q, u, tau, tail]


def expressions(system: cd.System, name: str, straight: bool) -> ca.Function | Staged:
    s, operator = Symbols(system.compiled.model, plain=True, straight=straight), OPERATORS[name]
    return build_function(name.replace(".", "_"), [s[a] for a in operator.arguments], operator.expressions(s))


def evaluated(f: ca.Function | Staged, given: list[np.ndarray]) -> list[np.ndarray]:
    if isinstance(f, ca.Function):
        return [y.full().T for y in f.map(len(given[0])).call([x.T for x in given])]
    return [y.T for y in f.evaluate([x.T for x in given])]


def test_blocks_of_many_rows_are_loops():
    assert isinstance(expressions(box(), "held_accelerations", False), Staged)
    assert isinstance(expressions(box(), "held_accelerations", True), ca.Function)
    assert len(box().constraints.equations()) == 24 > multipliers.LINES
    assert isinstance(expressions(box(corners=4), "held_accelerations", False), ca.Function)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (box, "held_accelerations"),
        (box, "velocity_change"),
        (box, "constraints.impulses"),
        (net, "held_accelerations"),
        (lambda: box(0.5, 1e-6), "held_accelerations"),
        (lambda: net(1e5), "held_accelerations"),
    ],
)
def test_loops_equal_straight_lines(make, name, monkeypatch):
    """Redundant, sliding, light beside heavy: statuses are the same, and accelerations."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = make()
    given = states(system)
    if name == "velocity_change":
        given[1:3] = np.cos(np.arange(given[1].size)).reshape(given[1].shape), np.ones_like(given[2])
    found, expected = (evaluated(expressions(system, name, straight), given) for straight in (False, True))
    fine = np.ones(len(given[0]), dtype=bool)
    size = np.abs(expected[0]).max(axis=1)
    if name == "held_accelerations":
        assert (found[-1] == expected[-1]).all()
        fine = expected[-1][:, 0] == 0
        size += np.abs(system.forward_dynamics(*given[:3], disabled=system.constraints)).max(axis=1)
    if name == "constraints.impulses":
        size += np.abs(system.solve_mass_matrix(given[0], given[2])).max(axis=1)
    assert fine.sum() > 3
    conditions = [system.constraints.rank(q, u)[1] for q, u in zip(*given[:2], strict=True)]
    share = np.maximum(ROUNDING, 100 * np.finfo(float).eps * np.array(conditions))
    off = np.abs(found[0] - expected[0]).max(axis=1) / size
    assert (off <= share)[fine].all(), off / share
    if name != "velocity_change":
        off = np.abs(found[1] - expected[1]).max(axis=1) / np.abs(expected[1]).max(axis=1)
        assert (off <= np.maximum(share, SHARED))[fine].all(), off


@pytest.mark.parametrize("make", [box, net])
def test_machine_code_of_loops(make):
    """Of one state and in lanes, to the last bit; and beside NumPy."""
    system = make()
    given = [np.tile(x, (4, 1)) for x in states(system)]
    f, operator = expressions(system, "held_accelerations", False), OPERATORS["held_accelerations"]
    native = NativeFunction(
        "loops",
        lambda: f,
        key=f"test_loops {make.__name__}",
        inputs=operator.inputs(system.compiled.model),
        outputs=operator.outputs(system.compiled.model),
    )
    one, lanes, expected = native.one_by_one(*given), native(*given), evaluated(f, given)
    assert native.report.kernels[0] == 1 < native.report.kernels[1]
    for x, y, z in zip(one, lanes, expected, strict=True):
        assert (x == y).all()
        assert_allclose(x, z, rtol=0, atol=SHARED * max(1.0, np.abs(z).max()))


def test_looped_layout_solves_in_loops_too(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = net(1.5)
    q, u, _, _ = given = states(system)
    found = build_looped(system.compiled.model, "held_accelerations").evaluate([x.T for x in given])
    expected = evaluated(expressions(system, "held_accelerations", True), given)
    conditions = np.array([system.constraints.rank(*x)[1] for x in zip(q, u, strict=True)])
    for x, y in zip(found[:2], expected[:2], strict=True):
        off = np.abs(x.T - y).max(axis=1) / np.abs(y).max(axis=1)
        assert (off <= np.maximum(ROUNDING, 100 * np.finfo(float).eps * conditions)).all(), off
    assert (expected[2] == found[2].T).all()


def test_machine_code_of_the_looped_layout():
    """Its matrices are copied by tables (native/tables/staged.py)."""
    system, operator = net(1.5), OPERATORS["held_accelerations"]
    given, model = [np.tile(x, (4, 1)) for x in states(system)], system.compiled.model
    f = build_looped(model, "held_accelerations")
    native = NativeFunction(
        "looped",
        lambda: f,
        key="test_loops looped",
        inputs=operator.inputs(model),
        outputs=operator.outputs(model),
    )
    one, lanes = native.one_by_one(*given), native(*given)
    for x, y, z in zip(one, lanes, f.evaluate([x.T for x in given]), strict=True):
        assert (x == y).all()
        assert_allclose(x, z.T, rtol=0, atol=SHARED * max(1.0, np.abs(z).max()))


@pytest.mark.parametrize(("m", "columns"), [(1, 1), (5, 2), (13, 3), (24, 1)])
@pytest.mark.parametrize("symmetric", [True, False])
def test_origins(m, columns, symmetric):
    """Each beside the straight lines, for any size: where vectors fill up and where they do not."""
    rng, n = np.random.default_rng(m), 6
    G = rng.normal(size=(m, n))
    A = np.diag(1 + rng.random(n))
    Z = A @ (G if symmetric else G + 0.1 * rng.normal(size=G.shape)).T
    x, g = rng.normal(size=(n, columns)), np.zeros((m, columns))
    Y, lengths = G @ Z, (G**2).sum(axis=1)
    s, known = solver(m, symmetric), rules(m)
    factors, delicate = s.factor(Y, lengths)
    beside = lambda x: ca.repmat(ca.DM(x), 1, columns)
    least = s.least.map(columns)(beside(Y), beside(factors), G @ x).full()
    r = 0.1 * rng.normal(size=(m, columns)) if m <= n else G @ rng.normal(size=(n, columns))
    last = s.last.map(columns)(beside(factors), r).full()

    def row(origin: SolverRows, *parts: np.ndarray) -> np.ndarray:
        index = ca.DM(ca.vertcat(*(filled(ca.SX(ca.DM(p))) for p in parts))).full()
        p = ca.SX.sym("p", origin.needs)
        native = NativeFunction(
            "row",
            lambda: build_function("row", [p], [look_up(origin, p)]),
            key=f"row {origin.text}",
            inputs=[("p", origin.needs)],
            outputs=[("row", origin.width)],
        )
        found = native(index[:, 0])
        # of Last (4) takes away once alone
        once = 10 if isinstance(origin, Last) else 1
        assert_allclose(found, origin.evaluate(index)[:, 0], rtol=0, atol=once * SHARED * np.abs(found).max())
        return found

    def matrix(x: np.ndarray, n: int) -> np.ndarray:
        return x.reshape(-1, padded(n)).T[:n]

    close = lambda x, y: assert_allclose(x, y, rtol=0, atol=SHARED * max(1.0, np.abs(y).max()))
    found = row(Least(m, columns, known), Y, lengths, G @ x)
    close(matrix(found[:-1], m), least)
    assert found[-1] == float(delicate)
    found = row(Last(m, columns, known), Y, lengths, r).reshape(2, -1)
    close(matrix(found[0], m), last)
    close(matrix(found[1], m), r - Y @ last)
    found = row(Meet(m, columns, known, n), G, Z, lengths, x, g)
    close(matrix(found[: columns * padded(n)], n), x - Z @ least)
    inverse = row(Inverse(m, 1, known, n), G, Z, lengths)
    close(matrix(inverse, m) @ (G @ x), least)
    if symmetric and m > n:  # least norm by units of Y_ii
        scale = np.sqrt(np.diag(Y))
        expected = np.linalg.pinv(Y / scale / scale[:, None], rcond=1e-9) / scale / scale[:, None]
        close(matrix(inverse, m), expected)


def test_derivatives_of_what_loops_give(monkeypatch):
    """(9) of multipliers.py beside CasADi's derivatives of straight lines, and of accelerations beside those
    of differentiate.py (3). Four rows are many here."""
    monkeypatch.setattr(multipliers, "LINES", 3)
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = net(1.25, 1, 4)
    q, u, tau, _ = (x[0] for x in states(system))
    straight = {name: system.casadi(name) for name in ("multipliers", "ydot")}
    for name, f in straight.items():
        x = {a: ca.SX.sym(a, f.size1_in(a)) for a in f.name_in()}
        y = f(**x)[f.name_out(0)]
        for wrt in ("u", "tau"):
            J = ca.Function("J", list(x.values()), [ca.jacobian(y, x[wrt])])
            values = {"q": q, "u": u, "tau": tau}
            expected = np.array(J(*(values.get(a, 0.0) for a in x)))
            found = system.jacobian(name, q, u, tau, wrt=wrt)
            assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    dq = np.cos(np.arange(system.nu))
    by_ydot = system.jvp("ydot", q, u, tau, tangents={"q": dq})[system.nq :]
    assert_allclose(
        by_ydot,
        system.jvp("forward_dynamics", q, u, tau, tangents={"q": dq}),
        rtol=0,
        atol=1e-9 * np.abs(by_ydot).max(),
    )


def test_derivatives_of_redundant_contacts(monkeypatch):
    """A box that lies on four corners, 24 equations with those of the others: udot, beside differences."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = box(0.25)
    q, u, tau, tail = (x[2] for x in states(system))
    discrete = dict(zip(system.discrete, tail[system.compiled.model.tail["discrete"]], strict=True))
    for name in ("forward_dynamics", "ydot"):
        J = system.jacobian(name, q, u, tau, wrt="tau", discrete=discrete)[-system.nu :]
        e = 1e-3  # linear: only rounding is left
        f = attrgetter(name)(system)
        there = lambda tau, f=f: f(q, u, tau, discrete=discrete)[-system.nu :]
        expected = np.stack([there(tau + e * d) - there(tau - e * d) for d in np.eye(system.nu)], axis=1)
        expected /= 2 * e
        assert_allclose(J, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["held_accelerations", "velocity_change", "constraints.impulses"])
def test_programs_do_not_grow_as_the_cube_of_their_equations(name):
    """Lines of code of 16 and 32 equations of one body: twice, and not eight times as many."""

    def lines(m: int) -> int:
        rng, system = np.random.default_rng(0), cd.System()
        system.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(1, 2, 3))
        for i in range(m):
            rod = cd.constraints.Rod("ground", rng.normal(size=3), "b", rng.normal(size=3), 1.0)
            system.add_constraint(f"rod{i}", rod)
        module = Module()
        expressions(system, name, False).emit(module, "kernel")
        return module.text().count("\n")

    few, many = lines(16), lines(32)
    assert few < 10_000  # 40,000 as a straight line of 24
    assert many < 2.2 * few
