"""Laws along paths as rows of tables: the same numbers as in a straight line, and code that does not grow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import condyle as cd
from condyle.forces.path import PathLaw
from condyle.laws.described import sx
from condyle.model.layouts import build_looped, prefers_looped_jacobian, prefers_loops
from condyle.model.looped.law_rows import FEWEST
from condyle.model.looped.path_kinds import path_kinds
from condyle.native.loops.sweep import StraightStep
from condyle.spatial import rotation_x, rotation_y

BODIES = 4
# Both layouts do the same operations; forces of a dozen muscles are summed in another order, and stations are
# given in frames M, which are turned.
SAME = 1e-12


def chain() -> cd.System:
    """Joints of several kinds; frames M are turned."""
    system, joints = cd.System(), (cd.Ball(), cd.Pin(), cd.Universal(), cd.Pin())
    for i, joint in enumerate(joints):
        system.add_body(
            f"b{i}",
            f"b{i - 1}" if i else "ground",
            joint,
            X_PF=(0, -0.3 * (i > 0), 0.02),
            X_BM=cd.Transform(rotation_x(0.3 * i), (0.01, 0, 0)),
            mass=1.0 + i,
            com=(0, -0.1, 0),
            inertia=(0.1, 0.2, 0.15),
        )
    return system


def path(rng: np.random.Generator, k: int) -> cd.paths.Path:
    """Straight, over one of three surfaces on either body, over one between two others, or with a point that
    comes and goes."""
    a, b = ("ground", *(f"b{i}" for i in range(BODIES)))[k % BODIES : k % BODIES + 2]
    angle, r = rng.uniform(0, 2 * np.pi), rng.uniform(0.04, 0.06)
    at = lambda y: (r * np.cos(angle), y, r * np.sin(angle))
    turned = cd.Transform(rotation_y(0.2), (0, -0.3, 0))
    points = [(a, at(-0.05)), (a, at(-0.2)), (b, at(-0.12))]
    surfaces = (
        None,
        cd.paths.Cylinder(0.02, 0.3),
        cd.paths.Sphere(0.03),
        cd.paths.Ellipsoid((0.03, 0.02, 0.025)),
        cd.paths.Cylinder(0.03, quadrant="x"),
        None,
    )
    if (surface := surfaces[k % 6]) is not None:
        on, frame = (a, turned) if k % 4 else (b, cd.Transform(rotation_x(0.1), (0, 0, 0)))
        return cd.paths.Path(points, [cd.paths.Wrap(surface, on, frame, between=(1, 2))])
    if k == 0:  # from a body over another one and back
        sphere = cd.paths.Wrap(cd.paths.Sphere(0.04), a, cd.Transform(None, (0, 0.09, 0.02)))
        return cd.paths.Path([(b, (0.06, 0.1, 0)), (b, (-0.06, 0.1, 0.01))], [sphere])
    if k == 6:  # over two surfaces
        cylinders = [cd.paths.Wrap(cd.paths.Cylinder(0.03), a, (0, y, 0)) for y in (-0.1, -0.2)]
        return cd.paths.Path([(a, (0.02, 0.05, 0)), (b, (0.02, -0.12, 0.01))], cylinders)
    if k % 6 == 5:
        points[1] = cd.paths.ConditionalPoint(a, at(-0.2), "b1", (-0.2, 0.3 + 0.01 * k))
    return cd.paths.Path(points)


def muscled(n: int = 2 * FEWEST) -> cd.System:
    """Every other tendon is rigid."""
    rng, system = np.random.default_rng(3), chain()
    for k in range(n):
        system.add_force(
            f"m{k}",
            cd.muscles.Thelen2003(
                path(rng, k),
                rng.uniform(300, 900),
                rng.uniform(0.1, 0.15),
                rng.uniform(0.25, 0.3),
                rng.uniform(0, 0.3),
                tendon=("rigid", "elastic")[k % 2],
                activation_dynamics=k % 2 == 1,
                default_activation=rng.uniform(0.1, 0.9),
            ),
        )
    return system


def states(system: cd.System, n: int = 7) -> tuple[np.ndarray, np.ndarray, dict[str, object]]:
    rng = np.random.default_rng(4)
    q = system.compiled.normalized(rng.uniform(-0.5, 0.5, (n, system.nq)))
    q[:, 0] += 1.0  # a quaternion, of a turn that is not too large
    excitations = {name: rng.uniform(0.1, 0.9) for name in system.inputs}
    return (
        system.compiled.normalized(q),
        rng.uniform(-2, 2, (n, system.nu)),
        {"inputs": excitations, "disabled": ["m3"]},
    )


def in_both(monkeypatch, make, call, same: float = SAME) -> None:
    """What `call` makes of a system is the same in both layouts."""
    results = {}
    # a straight line takes long to compile
    for layout, evaluator in (("looped", "native"), ("unrolled", "casadi")):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        monkeypatch.setenv("CONDYLE_EVALUATOR", evaluator)
        results[layout] = call(make())
    for name, expected in results["unrolled"].items():
        np.testing.assert_allclose(
            results["looped"][name], expected, rtol=0, atol=same * np.abs(expected).max(), err_msg=name
        )
        assert np.isfinite(expected).all()


def test_rows_equal_the_straight_line(monkeypatch):
    def call(system):
        assert [len(kind.members) for kind in path_kinds(system.compiled.model)] == [FEWEST, FEWEST]
        q, u, options = states(system)
        tau = system.inverse_dynamics(q, u, u, **options)
        return {
            "udot": system.forward_dynamics(q, u, **options),
            "tau": tau,
            "one": system.forward_dynamics(q[0], u[0], **options),
            "f": system.applied_forces(q, u, **options),
            "power": system.power(q, u, **options),
            "energy": np.stack(system.energy(q, u, **options)),
            "zdot": system.zdot(q, u, **options),
        }

    in_both(monkeypatch, muscled, call)


def test_lengths_speeds_and_moment_arms(monkeypatch):
    """A path with Parameters is no row; a moment arm is what a length changes by."""

    def make():
        system = muscled()
        place = (cd.Parameter("x", 0.1), 0, 0)
        loose = cd.paths.Path([("b0", place), ("b3", (0, 0.1, 0.1)), ("ground", (0.1, 0.1, 0))])
        system.add_force("loose", cd.forces.PathSpring(loose, 1.0, 0.1))
        return system

    def call(system):
        q, u, _ = states(system)
        return {
            "L": system.path_lengths(q),
            "Ldot": system.path_speeds(q, u),
            "R": system.moment_arms(q),
            "one": system.moment_arms(q[0]),
        }

    in_both(monkeypatch, make, call)


def test_runs_with_auxiliary_states(monkeypatch):
    """One sweep gives udot and zdot, for one state and in lanes; a law that is no row has a state of its
    own."""
    results = {}
    for layout in ("looped", "unrolled"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        system, rng = chain(), np.random.default_rng(9)
        for k in range(FEWEST):
            a, b = f"b{k % 3}", f"b{k % 3 + 1}"
            system.add_force(
                f"m{k}",
                cd.muscles.Thelen2003(
                    cd.paths.Path([(a, (0.05, rng.uniform(-0.1, 0), 0)), (b, (0.04, -0.1, 0))]),
                    200.0 + k,
                    0.1,
                    0.2,
                ),
            )
        alone = cd.paths.Path([("ground", (0.05, 0.1, 0)), ("b0", (0.04, -0.1, 0))])
        system.add_force("alone", cd.muscles.Thelen2003(alone, 2 * cd.Parameter("F", 50.0), 0.1, 0.2))
        fibers = {z: 0.099 for z in system.state_variables if z.endswith("fiber_length")}
        state = system.state(inputs=dict.fromkeys(system.inputs, 0.3), z=fibers)
        run = cd.simulate(system, state, 0.01, accuracy=1e-6)
        both = cd.simulate(system, [state, state], 0.01, accuracy=1e-6)
        results[layout] = np.stack(
            [np.concatenate([run.q[-1], run.z[-1]]), *(np.concatenate([r.q[-1], r.z[-1]]) for r in both)]
        )
    # Runs agree to some times the error that they allow.
    np.testing.assert_allclose(results["looped"], results["unrolled"], rtol=0, atol=1e-5)


def test_derivatives_equal_those_of_the_straight_line(monkeypatch):
    """The reverse of a pass is a pass, and so is what laws along paths add to the Jacobian; one is disabled,
    and a spring on a coordinate is no row."""

    def make():
        system = muscled()
        system.add_force("local", cd.forces.MobilitySpring("b1", 5.0, 0.1))
        return system

    def call(system):
        q, u, options = states(system)
        wrt = ("q", "u", "tau", "z")
        w = np.random.default_rng(5).normal(size=u.shape)
        back = system.vjp("forward_dynamics", q, u, u, cotangent=w, wrt=wrt, **options)
        J = system.jacobian("forward_dynamics", q, u, u, wrt=wrt, **options)
        along = {name: np.random.default_rng(6).normal(size=x.shape) for name, x in back.items()}
        forth = system.jvp("forward_dynamics", q, u, u, tangents=along, **options)
        expected = sum(np.einsum("sij,sj->si", J[name], x) for name, x in along.items())
        np.testing.assert_allclose(forth, expected, rtol=0, atol=1e-10 * np.abs(forth).max())
        one = system.jacobian("forward_dynamics", q[0], u[0], u[0], wrt=wrt[::-1], **options)
        for name, x in back.items():  # two ways to the same number
            np.testing.assert_allclose(
                x, np.einsum("si,sij->sj", w, J[name]), rtol=0, atol=1e-10 * np.abs(x).max()
            )
            np.testing.assert_allclose(one[name], J[name][0], rtol=0, atol=1e-11 * np.abs(one[name]).max())
        return {"jvp": forth, **{f"vjp {name}": x for name, x in back.items()}, **J}

    in_both(monkeypatch, make, call, 1e-11)


def test_functions_of_the_state_are_differentiated_in_a_straight_line(monkeypatch):
    """An excitation that depends on a coordinate: its derivative is not lost."""
    monkeypatch.setenv("CONDYLE_LAYOUT", "looped")
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = chain()
    for k in range(FEWEST):
        p = cd.paths.Path([("b0", (0.05, -0.1 - 0.01 * k, 0)), ("b1", (0.04, -0.1, 0.01 * k))])
        system.add_force(
            f"m{k}",
            cd.muscles.Thelen2003(
                p,
                100.0,
                0.1,
                0.15,
                excitation=lambda s: 0.5 + 0.3 * s.q("b2_rx"),
                tendon="rigid",
                activation_dynamics=False,
            ),
        )
    q, u, _ = states(system, 1)
    q, u, e = q[0], u[0], 1e-6 * np.eye(system.nq)[system.coordinates.index("b2_rx")]
    column = system.speeds.index("b2_rx")
    found = system.jacobian("forward_dynamics", q, u, wrt="q")[:, column]
    change = (system.forward_dynamics(q + e, u) - system.forward_dynamics(q - e, u)) / 2e-6
    # the error of central differences
    np.testing.assert_allclose(found, change, rtol=0, atol=1e-7 * np.abs(found).max())


def test_code_does_not_grow_with_muscles(monkeypatch):
    monkeypatch.setenv("CONDYLE_LAYOUT", "looped")
    sizes = []
    for n in (4 * FEWEST, 12 * FEWEST):
        sweep = build_looped(muscled(n).compiled.model, "forward_dynamics")
        calls = [call for k in range(len(sweep.steps)) for call in sweep.merged(k).values()]
        lines = [sweep.straight(k) for k, step in enumerate(sweep.steps) if isinstance(step, StraightStep)]
        sizes.append(sum(c.function.n_instructions() for c in [*calls, *lines]))
    assert sizes[0] == sizes[1]


def test_many_muscles_choose_loops():
    few, many = muscled(3).compiled.model, muscled(6 * FEWEST).compiled.model
    assert not path_kinds(few)
    assert not prefers_loops(few)
    assert prefers_loops(many)
    assert prefers_loops(many, lanes=True)
    assert not prefers_loops(many, "qdot")  # which has nothing to do with muscles
    assert prefers_looped_jacobian(many)


@dataclass(frozen=True, eq=False, repr=False)
class Asking(PathLaw):
    """It asks for more than its path: no table has that."""

    factor: float = 1.0

    def tension(self, s):
        return self.factor * s.coordinate("b1") ** 2


@dataclass(frozen=True, eq=False, repr=False)
class Pulling(PathLaw):
    """Any law of a user that asks for its path alone is a row too."""

    factor: float = 1.0

    def tension(self, s):
        return self.factor * self.path.length.at(s) * (1 + sx(0.1) * self.path.length.rate(s))


def test_which_laws_are_rows():
    rng = np.random.default_rng(5)
    laws = {
        "spring": lambda p, k: cd.forces.PathSpring(p, 100.0 + k, 0.1),
        "asking": lambda p, k: Asking(p),
        "pulling": lambda p, k: Pulling(p),
        "parameter": lambda p, k: cd.forces.PathSpring(p, cd.Parameter(f"k{k}", 5.0), 0.1),
        "expression": lambda p, k: cd.forces.PathSpring(p, 2 * cd.Parameter(f"k{k}", 5.0), 0.1),
    }
    found = {}
    for name, law in laws.items():
        system = chain()
        for k in range(FEWEST):
            system.add_force(f"p{k}", law(path(rng, k), k))
        found[name] = [len(kind.members) for kind in path_kinds(system.compiled.model)]
    assert found == {
        "spring": [FEWEST],
        "asking": [],
        "pulling": [FEWEST],
        "parameter": [FEWEST],
        "expression": [FEWEST],
    }


def test_parameters_and_signals_of_laws_are_read_by_row(monkeypatch):
    def make():
        rng, system = np.random.default_rng(6), chain()
        for k in range(FEWEST):
            p, stiffness = path(rng, k), cd.Parameter(f"k{k}", 5.0 + k)
            excitation = (
                (lambda s, k=k: 0.3 + 0.01 * k * s.q("b1") ** 2)
                if k % 2
                else ([0, 0.5, 1], [0, 0.1 * k, 0.3])
            )
            system.add_force(f"p{k}", cd.forces.PathSpring(p, stiffness, 0.1))
            system.add_force(f"e{k}", cd.forces.PathSpring(p, 2 * stiffness, 0.1))
            system.add_force(
                f"m{k}",
                cd.muscles.Thelen2003(
                    p, 100.0, 0.1, 0.2, excitation=excitation, tendon="rigid", activation_dynamics=False
                ),
            )
        return system

    def call(system):
        q, u, _ = states(system)
        assert [len(kind.members) for kind in path_kinds(system.compiled.model)] == [FEWEST] * 3
        return {
            "udot": system.forward_dynamics(q, u, parameters={"k2": 50.0}, t=0.7),
            "default": system.forward_dynamics(q, u, t=0.2),
        }

    in_both(monkeypatch, make, call)
