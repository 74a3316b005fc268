"""The looped layout against the unrolled one: the same numbers from kernels over tables, scalar, in lanes and
interpreted."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError, SingularError
from condyle.mobilizers import Mobilizer, NumberedMobilizer, motion_size
from condyle.model.layouts import build_looped, prefers_loops
from condyle.model.looped.tables import Looped
from condyle.model.operators import OPERATORS
from condyle.model.operators.costs import KnownLengthCost, MultiplierCost
from condyle.model.operators.record import ByColumns
from condyle.native.calls.native_function import NativeFunction
from tests.forces.rig import arm, one_of_each
from tests.mobilizers.every import EVERY
from tests.mobilizers.every import one_of_each as one_of_each_mobilizer
from tests.oracles.trees import random_inertia, random_rotation

EPS = np.finfo(float).eps
STATES = 19  # two blocks of eight lanes and some more
# Both layouts do the same operations; constants fold and sums associate differently, over trees some bodies
# deep.
SAME = 1e-12
MATRICES = tuple(name for name, record in OPERATORS.items() if isinstance(record.looped, ByColumns))
OF_CONSTRAINTS = {"reactions_with_constraints"} | {
    n for n, r in OPERATORS.items() if isinstance(r.cost, MultiplierCost)
}
CONSTRAINED = OF_CONSTRAINTS - {"forward_dynamics"}  # in test_looped_constrained.py
OF_MUSCLES = {
    n for n, r in OPERATORS.items() if isinstance(r.cost, KnownLengthCost)
}  # studies/test_layouts.py
OPERATORS_LOOPED = tuple(
    name
    for name, record in OPERATORS.items()
    if record.looped and name not in MATRICES and name not in CONSTRAINED and name not in OF_MUSCLES
)


def tree_of(mobilizers, seed: int, gravity=(0.3, -9.81, 0.7)) -> cd.System:
    """Bodies with these mobilizers, in random order, on random parents; some frames are not turned."""
    rng = np.random.default_rng(seed)
    system, names = cd.System(gravity=gravity), ["ground"]
    for i in rng.permutation(len(mobilizers)):
        turns = [np.eye(3) if rng.random() < 0.4 else random_rotation(rng) for _ in range(2)]
        frame = [cd.Transform(R, rng.uniform(-0.3, 0.3, 3)) for R in turns]
        parent = names[max(0, len(names) - 1 - int(rng.integers(4)))]
        system.add_body(
            f"b{i}",
            parent,
            mobilizers[i],
            *frame,
            mass=rng.uniform(0.5, 2),
            com=rng.uniform(-0.1, 0.1, 3),
            inertia=random_inertia(rng),
        )
        names.append(f"b{i}")
    return system


def arguments_of(system: cd.System, seed: int, n: int = STATES, **options) -> dict[str, np.ndarray]:
    rng = np.random.default_rng((seed, 1))
    q = np.stack([np.concatenate([b.mobilizer.random_q(rng) for b in system.bodies]) for _ in range(n)])
    arrays = {name: rng.uniform(-1, 1, (n, system.nu)) for name in ("u", "tau", "udot", "f")}
    system.defaults()
    return {"q": q, **arrays, "tail": system.compiled.tail(**options)}


def layouts(system: cd.System, name: str, how: str, **body: int) -> list[NativeFunction]:
    """The operator unrolled, by CasADi's evaluator, and looped."""
    model, operator = system.compiled.model, OPERATORS[name]
    sides = {"inputs": operator.inputs(model), "outputs": operator.outputs(model)}
    unrolled = NativeFunction(name, lambda: operator.build(model, name, **body), key="unrolled", **sides)
    key = f"looped {name} {body}\n{system.compiled.key}"
    loops = NativeFunction(name, lambda: build_looped(model, name, **body), key=key, **sides)
    unrolled._evaluator._casadi, loops._evaluator._casadi = True, how == "interpreted"
    return [unrolled, loops]


def compare(
    system: cd.System, name: str, how: str, given: dict[str, np.ndarray], same: float = SAME, **body: int
) -> None:
    unrolled, loops = layouts(system, name, how, **body)
    arrays = [given[argument] for argument, _ in unrolled.inputs]
    expected = unrolled(*arrays)
    if how == "scalar":
        rows = [[a if a.ndim == 1 else a[k] for a in arrays] for k in range(3)]
        each = [loops.fast(*row) for row in rows]
        found = tuple(np.stack(x) for x in zip(*each)) if isinstance(each[0], tuple) else np.stack(each)
    else:
        found = loops(*arrays)
    for x, y in zip(
        found if isinstance(found, tuple) else (found,),
        expected if isinstance(expected, tuple) else (expected,),
    ):
        y = y[: len(x)]
        assert x.shape == y.shape
        np.testing.assert_allclose(
            x, y, rtol=0, atol=same * max(1.0, np.abs(y).max(initial=0.0)), err_msg=name
        )


@pytest.fixture(scope="module")
def whole():
    system = tree_of(one_of_each_mobilizer(), seed=3)
    return system, arguments_of(system, 3, n=4, t=0.4)


@pytest.mark.parametrize("name", OPERATORS_LOOPED)
def test_every_mobilizer_forward_and_reversed(whole, name):
    system, given = whole
    # Fifty bodies, of which some are slight: accelerations lose the digits of the condition number of M,
    # about 1e4.
    compare(
        system,
        name,
        "interpreted",
        given,
        1e-9 if name in ("forward_dynamics", "solve_mass_matrix") else SAME,
    )


@pytest.fixture(scope="module")
def some():
    pick = [
        cd.Pin(),
        cd.Pin(),
        cd.Free(),
        cd.Weld(),
        cd.Slider().reversed(),
        cd.Universal(),
        EVERY["FunctionBased-time"],
        EVERY["FunctionBased-spline"],
    ]
    system = tree_of([*pick, cd.Ball().reversed(), cd.Pin()], seed=5)
    return system, arguments_of(system, 5, t=0.4)


# Those left out for lanes have the same passes as others.
IN_LANES = [
    name
    for name in OPERATORS_LOOPED
    if name not in ("zdot", "applied_forces", "power", "body_velocity", "coriolis_forces")
]


@pytest.mark.parametrize(
    ("name", "how"), [(n, "scalar") for n in OPERATORS_LOOPED] + [(n, "lanes") for n in IN_LANES]
)
def test_machine_code(some, name, how):
    compare(some[0], name, how, some[1], 100 * SAME)  # cond(M) of this tree is some hundreds


@pytest.mark.parametrize("how", ["interpreted", "scalar", "lanes"])
@pytest.mark.parametrize("name", MATRICES)
def test_matrices(some, name, how):
    """One column at a time; the tree has a joint that moves with time by itself, which is no part of a
    Jacobian."""
    system, given = some
    body = (
        {"body": len(system.bodies) - 2} if name in ("kinematics.frame_jacobian", "station_jacobian") else {}
    )
    given = given | {"station": np.array([0.1, -0.2, 0.3])}
    compare(system, name, how, given, **body)
    if name == "mass_matrix":
        M = layouts(system, name, how)[1](given["q"], given["tail"]).reshape(-1, system.nu, system.nu)
        np.testing.assert_array_equal(M, np.swapaxes(M, -1, -2))


@pytest.mark.parametrize(
    "name",
    [
        "forward_dynamics",
        "inverse_dynamics",
        "reactions",
        "energy",
        "power",
        "zdot",
        "applied_forces",
        "gravity_forces",
    ],
)
def test_every_force(name):
    system = arm(gravity=cd.forces.Gravity((0, -9.81, 0), excluded=("upper",)), **one_of_each())
    given = arguments_of(system, 2, n=5, t=0.3, disabled=("damper",))
    compare(system, name, "interpreted", given)
    if name == "forward_dynamics":
        compare(system, name, "scalar", given)


def parametric() -> cd.System:
    m, d = cd.Parameter("mass", 1.5), cd.Parameter("length", 0.4)
    system = cd.System(gravity=(0, -cd.Parameter("g", 9.81), 0))
    system.add_body(
        "a",
        mobilizer=cd.Pin(),
        X_PF=(d, 0.0, 0.1),
        mass=m,
        com=(0, -0.5 * d, 0),
        inertia=(0.1, 0.1 * m * d, 0.1),
    )
    system.add_body(
        "b", "a", cd.Pin(), X_PF=(0, -d, 0), X_BM=(0.01, 0.2, 0), mass=2.0, inertia=(0.1, 0.2, 0.2)
    )
    system.add_body(
        "c", "b", cd.Pin(), X_PF=(0, -0.3, 0), mass=0.5 * m, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1)
    )
    system.add_body(
        "d", "a", cd.Screw(cd.Parameter("pitch", 0.1)), X_BM=(0, d, 0), mass=1.0, inertia=(0.1, 0.1, 0.1)
    )
    return system


@pytest.mark.parametrize("how", ["interpreted", "scalar", "lanes"])
@pytest.mark.parametrize("name", ["forward_dynamics", "body_pose", "energy"])
def test_parameters_locks_and_disabled_gravity(name, how):
    system = parametric()
    defaults = {"mass": 1.5, "length": 0.4, "g": 9.81, "pitch": 0.1}
    rng = np.random.default_rng(4)
    values = {parameter: x * rng.uniform(0.9, 1.3, STATES) for parameter, x in defaults.items()}
    given = arguments_of(system, 4, parameters=values, locked=("b",))
    compare(system, name, how, given)
    if name == "forward_dynamics":
        given["tail"] = system.compiled.tail(parameters=values, disabled=("gravity",))
        compare(system, name, how, given)


def test_a_locked_speed_has_no_acceleration(monkeypatch):
    monkeypatch.setenv("CONDYLE_LAYOUT", "looped")
    system = parametric()
    q, u = system.defaults()
    udot = system.forward_dynamics(q, u + 0.3, locked=("b", "d"))
    assert udot[1] == udot[3] == 0.0
    assert np.abs(udot[[0, 2]]).min() > 0


def test_lost_rank_is_reported_alike(monkeypatch):
    """Gimbal lock of two joints: both layouts name the same."""
    messages = []
    for layout in ("unrolled", "looped"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        system = tree_of([cd.Pin(), cd.Gimbal(), cd.Gimbal(), cd.Pin()], seed=1)
        q = system.defaults()[0]
        for name in ("b1", "b2"):
            q[system.body(name).q.start + 1] = np.pi / 2
        with pytest.raises(SingularError) as error:
            system.forward_dynamics(q, np.zeros(system.nu))
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def chain(n: int, mobilizer: Mobilizer) -> cd.System:
    system, parent = cd.System(), "ground"
    for i in range(n):
        parent = system.add_body(
            f"b{i}",
            parent,
            mobilizer,
            X_PF=(0.1, -0.2, 0.05 * (i % 3)),
            mass=1.0 + 0.1 * (i % 5),
            com=(0, -0.1, 0.02),
            inertia=(0.02, 0.01, 0.02),
        )
    return system


def test_equal_joints_compile_once():
    """The machine code of 20 and of 200 bodies has the same kernels; only tables grow."""
    knee = cd.FunctionBased(
        ("knee",), (lambda q: 0.2 * q * q, None, lambda q: q), (lambda q: 0.01 * np.cos(q), None, None)
    )
    made = []
    for n in (20, 200):
        system = chain(n, knee)
        rows = build_looped(system.compiled.model, "forward_dynamics")
        made.append(sum(len(rows.merged(k)) for k in range(len(rows.steps))))
        assert rows.n_instructions() > 300 * n
    # sines; ground, and knees entered, left, both at the tip; ground and knees out
    assert made[0] == made[1] <= 7


def of_other_numbers(rng: np.random.Generator) -> list[Mobilizer]:
    """Mobilizers of patterns that have numbers, with random ones. (A reversed screw about a general axis has
    several patterns: terms that should cancel do so but for rounding, or altogether.)"""
    a, b, c = rng.uniform(0.2, 0.9, 3)
    forward = [
        cd.Pin(axis=(a, b, c)),
        cd.Slider(axis=(a, -b, c)),
        cd.Screw(b),
        cd.Ellipsoid((a, b, c)),
        cd.Ellipsoid((a, c, b), normal=True),
        cd.CantileverFreeBeam(a),
        cd.SphericalCoords(azimuth_offset=a, zenith_offset=b),
        cd.compose(cd.Slider(axis=(a, b, c)), cd.Ball()),
        cd.FunctionBased(
            ("a",), (lambda q: a * np.sin(b * q), None, lambda q: q), (lambda q: c * q * q, 0.2, None)
        ),
    ]
    return [cd.Screw(a, axis=(b, c, a)), *forward, *(m.reversed() for m in forward)]


@pytest.fixture(scope="module")
def numbered():
    rng = np.random.default_rng(8)
    once = of_other_numbers(rng)
    system = tree_of([*once, *of_other_numbers(rng), *of_other_numbers(rng)], seed=8)
    return system, arguments_of(system, 8, n=4), len(once)


@pytest.mark.parametrize("name", ["qdot", "forward_dynamics", "inverse_dynamics", "body_pose"])
def test_numbers_of_mobilizers_are_data(numbered, name):
    """Three bodies of each pattern, no two of the same numbers: one type for each pattern, and the same
    results."""
    system, given, patterns = numbered
    assert len(Looped(system.compiled.model, [], []).kinds) == 1 + patterns
    # Sixty bodies: as in test_every_mobilizer_forward_and_reversed.
    compare(system, name, "interpreted", given, 1e-9 if name == "forward_dynamics" else SAME)


@pytest.mark.parametrize("how", ["scalar", "lanes"])
def test_numbers_of_mobilizers_in_machine_code(how):
    rng = np.random.default_rng(9)
    system = tree_of([m for _ in range(3) for m in (cd.Pin(axis=rng.normal(size=3)), cd.Pin())], seed=9)
    compare(system, "forward_dynamics", how, arguments_of(system, 9), 100 * SAME)


def test_numbers_beside_parameters():
    """Equal numbers stay in the equations; Parameters keep their place among those that differ."""
    radius = cd.Parameter("radius", 0.5)
    system = tree_of([cd.Ellipsoid((radius, 0.3, x)) for x in (0.4, 0.7, 0.6)], seed=6)
    given = arguments_of(system, 6, n=4, parameters={"radius": np.linspace(0.4, 0.6, 4)})
    (kind,) = Looped(system.compiled.model, [], []).kinds[1:]
    assert isinstance(kind.mobilizer, NumberedMobilizer)
    assert kind.mobilizer.table.tolist() == [[-x, x] for x in (b.mobilizer.radii[2] for b in system.bodies)]
    compare(system, "forward_dynamics", "interpreted", given)


def test_letters_stay_types_of_their_own():
    """Zeros and ones of an axis fold: pins about x, y, z are three types, each with fewer operations than one
    about (1, 2, 3)."""
    system = tree_of([cd.Pin(axis) for axis in ("x", "y", "z", (1, 2, 3), (3, 2, 1), (0, 0, 1))], seed=1)
    kinds = Looped(system.compiled.model, [], []).kinds[1:]
    assert len(kinds) == 4
    sizes = sorted(
        (motion_size(kind.mobilizer), isinstance(kind.mobilizer, NumberedMobilizer)) for kind in kinds
    )
    assert [isnumbered for _, isnumbered in sizes] == [False, False, False, True]


def test_three_hundred_axes_are_one_kernel():
    """Their types are counted, not their descriptions: such a system is looped, and its code does not grow
    with them."""
    rng = np.random.default_rng(2)
    made = []
    for n in (100, 300):
        system = cd.System()
        for i in range(n):
            system.add_body(
                f"b{i}",
                f"b{i - 1}" if i % 7 else "ground",
                cd.Pin(axis=rng.normal(size=3)),
                X_PF=(0.1, -0.2, 0.05),
                mass=1.0,
                inertia=(0.02, 0.01, 0.02),
            )
        rows = build_looped(system.compiled.model, "forward_dynamics")
        made.append(sum(len(rows.merged(k)) for k in range(len(rows.steps))))
    assert prefers_loops(system.compiled.model)
    assert made[0] == made[1] <= 7


def test_the_layout_is_chosen_by_size(monkeypatch):
    monkeypatch.delenv("CONDYLE_LAYOUT", raising=False)
    small, large = chain(5, cd.Pin()), chain(120, cd.Pin())
    # as many types as bodies: loops would gain nothing
    mixed = tree_of(one_of_each_mobilizer(), seed=2)
    for system, expected in ((small, False), (large, True), (mixed, False)):
        assert prefers_loops(system.compiled.model) is expected
    monkeypatch.setenv("CONDYLE_LAYOUT", "unrolled")
    assert not prefers_loops(large.compiled.model)
    monkeypatch.setenv("CONDYLE_LAYOUT", "rolled")
    with pytest.raises(DescriptionError, match=r"CONDYLE_LAYOUT=rolled.*looped or unrolled"):
        prefers_loops(large.compiled.model)


def test_a_long_chain_as_users_see_it():
    """120 bodies: inverse dynamics of forward dynamics, M times its inverse, energy, poses, one state and
    many."""
    system = chain(120, cd.Pin())
    rng = np.random.default_rng(0)
    q, u, tau = rng.uniform(-0.3, 0.3, (3, 17, system.nu))
    udot = system.forward_dynamics(q, u, tau)
    forces = system.inverse_dynamics(q, u, udot)
    # The condition number of M, about (bodies)^4 for a chain, times rounding.
    np.testing.assert_allclose(forces, tau, rtol=0, atol=1e-5 * np.abs(forces).max())
    np.testing.assert_allclose(
        system.solve_mass_matrix(q, system.multiply_mass_matrix(q, u)), u, rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(
        system.forward_dynamics(q[3], u[3], tau[3]), udot[3], rtol=1e-7, atol=1e-7 * np.abs(udot[3]).max()
    )
    R, _ = system.body_pose(q, "b119")
    # A product of 240 rotations.
    np.testing.assert_allclose(
        R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), rtol=0, atol=1000 * EPS
    )
    assert prefers_loops(system.compiled.model) and prefers_loops(system.compiled.model, "mass_matrix")
    np.testing.assert_allclose(
        system.mass_matrix(q[0]) @ u[0], system.multiply_mass_matrix(q[0], u[0]), rtol=1e-11
    )
    J = system.station_jacobian(q[0], "b119", (0.1, 0.2, 0.3))
    np.testing.assert_allclose(
        J @ u[0], system.station_velocity(q[0], u[0], "b119", (0.1, 0.2, 0.3)), rtol=1e-10
    )
    kinetic = system.energy(q, u)[0]
    np.testing.assert_allclose(2 * kinetic, (u * system.multiply_mass_matrix(q, u)).sum(-1), rtol=1e-11)


def test_disabled_force_in_the_looped_layout():
    """A disabled law neither moves its states nor stores energy, be that NaN."""
    system = cd.System()
    system.add_body("a", "ground", cd.Pin("y"), mass=1.0, com=(0.1, 0.0, 0.2), inertia=(1.0, 1.1, 1.2))
    system.add_force("heat", cd.forces.NoseHooverThermostat(300.0, 1.0, boltzmann=1e-2))
    system.add_force("root", cd.forces.Potential(lambda s: np.sqrt(s.q("a"))))
    q, u = np.array([-0.3]), np.array([0.7])
    tail = system.compiled.tail(disabled=("heat", "root"), z=np.arange(1.0, 7.0))
    for name, expected in (
        ("zdot", system.zdot(q, u, disabled="heat")),
        ("energy", system.energy(q, u, disabled="root")),
    ):
        operator = OPERATORS[name]
        looped = NativeFunction(
            name,
            lambda name=name: build_looped(system.compiled.model, name),
            key=f"disabled looped {name}",
            inputs=operator.inputs(system.compiled.model),
            outputs=operator.outputs(system.compiled.model),
        )
        np.testing.assert_allclose(np.ravel(looped(q, u, tail)), np.ravel(expected), atol=1e-12)
    assert not system.zdot(q, u, disabled="heat", z=np.arange(1.0, 7.0)).any()
