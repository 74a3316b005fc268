"""Newton's equations of implicit steps along the tree: against derivatives of f, in runs, and which systems have
them."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.constraints.base import Constraint
from condyle.integrate.equations import RightHandSide, equations
from condyle.integrate.newton import newton
from condyle.mobilizers import Mobilizer
from condyle.model.layouts import newton_layout
from condyle.model.looped.implicit import STATE, build_looped_newton, has_looped_newton
from condyle.model.looped.implicit_matrix import has_newton_matrix
from condyle.native.calls.native_function import NativeFunction
from condyle.native.programs.nodes import Stream
from condyle.native.programs.program import Program
from condyle.native.tables.staged import Staged
from tests.mobilizers.every import one_of_each as one_of_each_mobilizer
from tests.model.test_looped import arguments_of, tree_of

SIGMA = 30.0  # [1/s]
C = cd.contact
RUBBER = C.Material(1e5, dissipation=1.0, static_friction=0.8, dynamic_friction=0.6)


def chain(n: int, joint: Mobilizer | None = None, contacts: bool = True) -> cd.System:
    """Bodies that lean on a floor, on springs and dampers; a law of a straight line, too."""
    system = cd.System(gravity=(0, 0, -9.81))
    for k in range(n):
        system.add_body(
            f"b{k}",
            f"b{k - 1}" if k else "ground",
            cd.Pin(axis=(0.1, 1, 0.2)) if k or joint is None else joint,
            X_PF=(0.05, 0.02, 0.01) if k else (0, 0, 0.05),
            X_BM=(-0.1, 0.03, 0),
            mass=1.0 + 0.1 * k,
            com=(0.01, 0.02, -0.03),
            inertia=(0.01, 0.02, 0.015),
        )
        if k:
            system.add_force(f"k{k}", cd.forces.MobilitySpring(f"b{k}", 100.0, 0.1))
            system.add_force(f"d{k}", cd.forces.MobilityDamper(f"b{k}", 3.0))
        if contacts:
            floor = C.HalfSpace("ground", (0, 0, 1), 0.0, RUBBER)
            system.add_contact(f"c{k}", floor, C.Sphere(f"b{k}", (0.02, 0, 0), 0.06, RUBBER))
    return system


def solved(system: cd.System, given: dict[str, np.ndarray], b: np.ndarray, how: str) -> np.ndarray:
    """x of sigma x - J x = b for states (m, ..)."""
    model, n = system.compiled.model, system.nq + system.nu
    factors, solution = build_looped_newton(model)
    sizes = model.sizes() | {"udot": system.nu, "tail": model.tail_size, "sigma": 1, "b": n, "x": n}
    sizes["factors"] = factors.outputs[0]
    names = ("factors", "q", "u", "tail", "sigma", "b")
    for sweep, ins, out in ((factors, STATE, "factors"), (solution, names, "x")):
        f = NativeFunction(
            out,
            lambda sweep=sweep: sweep,
            key=f"test of {out}\n{system.compiled.key}",
            inputs=[(name, sizes[name]) for name in ins],
            outputs=[(out, sizes[out])],
        )
        f._evaluator._casadi = how == "interpreted"
        given = given | {"b": b}
        given[out] = np.asarray(f(*(given[name] for name in ins)))
    return given["x"]


def check(system: cd.System, q: np.ndarray, u: np.ndarray, tail: np.ndarray, how: str, same: float) -> None:
    """States (m, ..): x satisfies the equations with the derivative of f along x by CasADi."""
    assert has_looped_newton(system.compiled.model)
    eq, m = equations(system, derivatives=True), len(q)
    f = eq.derived.main if isinstance(eq.derived, Staged) else eq.derived
    x = [ca.SX.sym("x", f.numel_in(k)) for k in range(f.n_in())]
    along = ca.SX.sym("along", eq.n)
    ydot = f.call(x, True, False)[0]
    both = ca.Function("both", [*x, along], [ydot, ca.jtimes(ydot, x[1], along)])
    p = tail[system.compiled.model.tail["inputs"].start :]
    given = [np.full((1, m), tail[0]), np.hstack([q, u]).T, np.tile(p[:, None], m)]
    staged = eq.derived if isinstance(eq.derived, Staged) else eq.f
    if isinstance(staged, Staged):
        given.append(staged.looked_up.evaluate(given)[0])
    udot = np.asarray(both.map(m)(*given, np.zeros((eq.n, m)))[0])[eq.nq :].T
    b = np.random.default_rng(1).normal(size=(m, eq.n))
    state = {"q": q, "u": u, "udot": udot, "tail": tail, "sigma": np.full((m, 1), SIGMA)}
    found = solved(system, state, b, how)
    J_x = np.asarray(both.map(m)(*given, found.T)[1]).T
    np.testing.assert_allclose(SIGMA * found - J_x, b, rtol=0, atol=same * max(1, np.abs(J_x).max()))


def test_trees_of_every_mobilizer():
    """Some reversed, some frames turned, time among the coordinates."""
    every, seed = [m for m in one_of_each_mobilizer() if m.nq <= m.nu + 1], 3
    system = tree_of([every[i] for i in np.random.default_rng(seed).permutation(len(every))[:12]], seed)
    given = arguments_of(system, seed, n=2, t=0.4)
    # slight bodies: accelerations lose the digits of the condition number of M, about 1e4
    check(system, given["q"], given["u"], given["tail"], "interpreted", 1e-9)


@pytest.mark.parametrize("how", ["interpreted", "lanes"])
@pytest.mark.parametrize("joint", [None, cd.Free()], ids=["pins", "free"])
def test_contacts_and_springs(joint, how):
    """Ten contacts are rows of a table; spheres in the floor, sliding and sticking."""
    system = chain(10, joint)
    rng = np.random.default_rng(2)
    q = np.stack([system.default("q") + 0.2 * rng.normal(size=system.nq) for _ in range(5)])
    if joint is not None:
        q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    u = rng.normal(size=(5, system.nu))
    # forces of 1e5 N/m, deep in the floor: D is indefinite, and pivots as they come lose up to seven digits
    check(system, q, u, system.compiled.tail(locked=("b3",)), how, 1e-8)


@pytest.mark.parametrize("method", ["bdf", "rodas"])
def test_runs_are_the_same_in_both_layouts(method, monkeypatch):
    """By factors along the tree and of a matrix."""
    ends = []
    for layout in ("unrolled", "looped"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        system = chain(3)
        traj = cd.simulate(system, system.state(q={"b0": 0.1}), 0.2, integrator=method, accuracy=1e-4)
        assert traj.finished
        ends.append(traj.q[-1])
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5)  # the same steps, but for rounding


def test_lanes_keep_their_factors(monkeypatch):
    """Members of an ensemble factor at steps of their own, and run as each does alone."""
    monkeypatch.setenv("CONDYLE_LAYOUT", "looped")
    system = chain(2)
    many = [system.state(q={"b0": 0.1 * k}) for k in range(6)]
    runs = cd.simulate(system, many, 0.1, integrator="bdf", accuracy=1e-5)
    for run, start in zip(runs, many, strict=True):
        alone = cd.simulate(system, start, 0.1, integrator="bdf", accuracy=1e-5)
        np.testing.assert_allclose(np.asarray(run.q)[-1], alone.q[-1], atol=1e-5)  # the accuracy


def test_who_has_them():
    """Forces between bodies or on other bodies' speeds, constraints, and coordinates that speeds do not reach
    have a matrix."""

    def has(*laws: cd.forces.Force) -> bool:
        system = chain(2, contacts=False)
        for k, law in enumerate(laws):
            system.add_force(f"law{k}", law)
        return has_looped_newton(system.compiled.model)

    assert has()
    assert has(cd.forces.Custom(lambda s: {"b1": -s.q("b1") - 2 * s.u("b1")}))
    assert has(cd.forces.TwoPointSpring("ground", (0, 0, 0), "b1", (0, 0.1, 0), 10.0, 0.1))
    assert not has(cd.forces.Custom(lambda s: {"b1": -s.q("b0")}))
    assert not has(cd.forces.Custom(lambda s: {"b1": -s.station_position("b0", (0, 0.1, 0))[1]}))
    assert not has(cd.forces.TwoPointSpring("b0", (0, 0, 0), "b1", (0, 0.1, 0), 10.0, 0.1))
    assert not has_looped_newton(chain(2, cd.LineOrientation(), False).compiled.model)
    loop = chain(2, contacts=False)
    loop.add_constraint("rod", cd.constraints.Rod("ground", (1, 0, 0), "b1", (0, 0, 0), 1.0))
    assert not has_looped_newton(loop.compiled.model)
    assert has_newton_matrix(loop.compiled.model)


# ---- over the speeds alone


def muscles(*constraints: Constraint) -> cd.System:
    """A chain of four on a floor with eight muscles, some over three bodies in two spans, one muscle alone of its kind,
    which no table holds, and a spring between bodies."""
    system = chain(4)
    for k in range(8):
        a, b, c = (f"b{i}" if i >= 0 else "ground" for i in (k % 4 - 2, k % 4 - 1, k % 4))
        points = [
            (a, (0.0, 0.03, 0)),
            (b, (0.01, 0.05, 0.01)),
            (b, (-0.02, 0.05, 0.01 * k)),
            (c, (-0.05, 0.04, 0.02)),
        ]
        path = cd.paths.Path(points if k % 2 else points[1:])
        system.add_force(f"m{k}", cd.muscles.Millard2012(path, 300.0, 0.06, 0.06))
    path = cd.paths.Path([("b0", (0, 0, 0.1)), ("b1", (0.02, 0, 0.12))])
    system.add_force("alone", cd.muscles.Thelen2003(path, 200.0, 0.05, 0.04))
    system.add_force("spring", cd.forces.TwoPointSpring("b0", (0, 0.1, 0), "b3", (0, 0.1, 0), 50.0, 0.1))
    for k, constraint in enumerate(constraints):
        system.add_constraint(f"held{k}", constraint)
    return system


def matrix_program(system: cd.System, layout: str, W: int = 1) -> tuple[Program, dict[str, np.ndarray], int]:
    """x <- (sigma 1 - J)^-1 x over the speeds, or W <- sigma 1 - J."""
    eq = equations(system, derivatives=not layout, newton=layout, W=W)
    sizes = dict.fromkeys(("t", "sigma", "h"), 1) | {"p": eq.parameters, "W": eq.n**2}
    sizes |= dict.fromkeys(("y", "k", "x", "f_t"), eq.n)
    streams, tables = dict[str, Stream](), dict[str, np.ndarray]()
    rhs = RightHandSide(eq, sizes, streams, tables)
    nodes = [rhs("t", "y", "k"), *rhs.keep()]
    if layout:
        by = newton(eq, rhs, sizes)
        nodes += [*by.linearize("t", "y", "k"), *by.factor("sigma"), *by.solve("x")]
    else:
        nodes += rhs.matrix("t", "y", "h", 1.0, "W", "f_t")
    return Program(nodes, sizes, streams=streams, W=W), tables, eq.n


def run_program(program: Program, tables: dict[str, np.ndarray], result: str, **given: object) -> np.ndarray:
    workspace = program.workspace()
    for name, x in given.items():
        workspace[name] = x
    program.run(workspace, tables)
    return np.array(workspace[result])


ROD = cd.constraints.Rod("ground", (1, 0, 0), "b3", (0, 0.1, 0), 1.0)
COUPLER = cd.constraints.CoordinateCoupler(lambda a, b: a - b**2, ("b1", "b2"))


def branches() -> cd.System:
    """Two chains on one body, an empty one among them, and a third on ground; muscles over two of them, within one and
    across, a coupler between two, and a joint of three speeds."""
    system = cd.System(gravity=(0, -9.81, 0))
    parents = {"a": "ground", "b": "a", "c": "b", "d": "a", "e": "d", "f": "ground", "g": "f"}
    for n, (name, parent) in enumerate(parents.items()):
        mobilizer = {"a": cd.Gimbal(), "d": cd.Weld()}.get(name, cd.Pin())
        system.add_body(name, parent, mobilizer, X_PF=(0.1, 0.02 * n, 0.03), X_BM=(-0.1, 0, 0.01 * n), mass=1 + n, com=(0.01, 0.02, 0), inertia=(0.02, 0.03, 0.04))  # fmt: skip
        for k in system.coordinates[-mobilizer.nu :] if mobilizer.nu else ():
            system.add_force(f"damper {k}", cd.forces.MobilityDamper(k, 2.0))
    at = (0.02, 0.05, 0.03)
    for n, over in enumerate(("bde", "cbae", "bc", "ge", "be", "cf")):
        points = [
            (over[0], at),
            *((x, (0, 0.06, -0.02)) for x in over[1:-1]),
            (over[-1], (0.01, -0.04, 0.02)),
        ]
        system.add_force(f"m{n}", cd.muscles.Millard2012(cd.paths.Path(points), 300.0, 0.04, 0.04))
    system.add_constraint("held", cd.constraints.CoordinateCoupler(lambda x, y: x - y**2, ("c", "e")))
    return system


def with_rod_and_coupler() -> cd.System:
    return muscles(ROD, COUPLER)


@pytest.mark.parametrize(
    ("describe", "locked"),
    [pytest.param(muscles, "b0", marks=pytest.mark.slow), (with_rod_and_coupler, "b0"), (branches, "b")],
    ids=["free", "rod and coupler", "branches"],
)
def test_solutions_over_the_speeds(describe, locked):
    """As a matrix and along the tree, against each other and the matrix of all states, by automatic differentiation; one
    speed is locked."""
    system = describe()
    model, rng = system.compiled.model, np.random.default_rng(4)
    assert has_newton_matrix(model)
    start = system.state(q=0.2 * rng.normal(size=system.nq), u=rng.normal(size=system.nu), locked=(locked,))
    start = system.equilibrate_muscles(start)
    y, b = np.concatenate([start.q, start.u, start.z]), rng.normal(size=system.nq + system.nu + len(start.z))
    p = np.asarray(start.tail)[model.tail["inputs"].start :]
    found = []
    for layout in ("matrix", "fronts"):
        program, tables, n = matrix_program(system, layout)
        found.append(run_program(program, tables, "x", y=y, p=p, x=b, sigma=SIGMA))
    scale = np.abs(found[0]).max()
    np.testing.assert_allclose(*found, rtol=0, atol=1e-9 * scale)  # pivots as they come
    program, tables, _ = matrix_program(system, "")
    W = run_program(program, tables, "W", y=y, p=p, h=1 / SIGMA).reshape(n, n).T
    # multipliers are regular by 1e-12; spheres of 1e5 N/m deep in the floor lose some digits
    np.testing.assert_allclose(found[1], np.linalg.solve(W, b), rtol=0, atol=1e-7 * scale)


@pytest.mark.parametrize("method", [pytest.param("bdf", marks=pytest.mark.slow), "rodas"])
def test_runs_with_muscles_and_a_constraint(method, monkeypatch):
    """Along the tree and by a matrix of all states; lanes, too."""
    runs = []
    for layout in ("unrolled", "looped"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        system = muscles(COUPLER)
        assert newton_layout(system.compiled.model) == ("fronts" if layout == "looped" else "")
        start = system.equilibrate_muscles(system.state())
        runs.append(cd.simulate(system, start, 0.02, integrator=method, accuracy=1e-4))
    np.testing.assert_allclose(runs[1].q[-1], runs[0].q[-1], atol=1e-5)  # a tenth of the accuracy
    if method == "bdf":
        many = cd.simulate(system, [start] * 3, 0.02, integrator=method, accuracy=1e-4)
        np.testing.assert_allclose(np.asarray(many[1].q)[-1], runs[1].q[-1], atol=1e-5)
