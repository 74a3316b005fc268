"""Masses, lengths and strengths as data of machine code (model/stored.py): another subject of a model runs the code
of the first, with the answers of its own."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import numpy as np
import pytest

import condyle as cd
from benchmarks.trees import condyle_system, random_tree
from condyle.model import stored
from condyle.model.operators import OPERATORS
from condyle.native.calls.native_function import SIMD_FROM, compile_when_it_pays
from condyle.native.ir.module import Module
from condyle.native.machine import cache
from condyle.native.machine.data import DerivedData
from condyle.native.straight.kernel_writer import add_kernel
from condyle.native.tables.lookup import lookup_context
from tests.constraints.rig import rig
from tests.contact.rig import KINDS, two
from tests.oracles.trees import random_plan

SAME = 1e-12
"""Relative: the same operations, fused in other places, and inertias turned in another form."""


def leg(
    size=1.0,
    mass=3.0,
    force=900.0,
    radius=0.02,
    offset=0.01,
    muscles=("front", "back"),
    knee=1.0,
    angle=0.3,
    spin=0.01,
    thigh=2,
):
    """A hip and a knee that slides along splines, muscles over a surface, through points that move and that come
    and go."""
    s = cd.System()
    s.add_body(
        "thigh",
        mobilizer=cd.Gimbal(),
        X_PF=(offset, 0.9 * size, 0.1),
        mass=thigh * mass,
        com=(0.01 * size, -0.2 * size, 0),
        inertia=(0.1, spin, 0.11) if thigh else (0, 0, 0),
        coordinates=("flexion", "adduction", "rotation"),
    )
    x, y = (-2.0, -1.0, -0.4, 0.0, 0.5), (0.01, 0.004, 0.001, 0.0, 0.002)
    slide = cd.functions.Scaled(cd.functions.SimmSpline(x, y), knee)
    s.add_body(
        "shank",
        parent="thigh",
        mobilizer=cd.FunctionBased(
            ("knee",),
            angles=(lambda q: q, None, None),
            translations=(slide, -0.4 * size, None),
            axes=("z", "x", "y", "x", "y", "z"),
        ),
        X_BM=(0.0, 0.01 * size, 0.0),
        mass=mass,
        com=(0, -0.2 * size, 0.003),
        inertia=(0.04, 0.004, 0.042),
    )
    wrap = cd.paths.Wrap(cd.paths.Cylinder(radius), "thigh", (0, -0.38 * size, 0))
    moving = cd.paths.MovingPoint("shank", (slide, 0.05 * size, 0.01), "knee")
    sometimes = cd.paths.ConditionalPoint("thigh", (0.03, -0.3 * size, 0.0), "knee", (-2.0, -angle))
    paths = {
        "front": cd.paths.Path(
            [("thigh", (0.03, -0.1 * size, 0)), sometimes, ("shank", (0.03, -0.08 * size, 0))], wraps=[wrap]
        ),
        "back": cd.paths.Path([("ground", (-0.05, 0.95 * size, 0.1)), moving, ("shank", (-0.02, -0.1, 0))]),
    }
    for name in muscles:
        s.add_force(
            name,
            cd.muscles.Thelen2003(
                paths[name],
                max_isometric_force=force,
                optimal_fiber_length=0.1 * size,
                tendon_slack_length=0.22 * size,
                pennation_angle=0.1,
            ),
        )
    s.add_marker("ankle", "shank", (0, -0.4 * size, 0))
    s.add_marker("knee", "thigh", (0.01, -0.4 * size, 0.05))
    return s


FIRST = leg()
OTHERS = {
    "sizes, masses, strengths": {
        "size": 1.07,
        "mass": 3.3,
        "force": 1100.0,
        "radius": 0.023,
        "offset": 0.013,
        "knee": 1.1,
        "spin": 0.2,
    },
    "a length of zero": {"offset": 0.0},
    "a length of one": {"offset": 1.0},
    "no mass": {"thigh": 0},
    "a muscle less": {"muscles": ("back",)},
    "the range of a point": {"angle": 0.4},
    "a knee that does not slide": {"knee": 0.0},
}
KEPT = {"sizes, masses, strengths"}
"""Which have the machine code of the first: in the others numbers are other structure."""


def plainly(make, monkeypatch):
    """What a function gives where all numbers are part of the code."""
    with monkeypatch.context() as m:
        m.setattr(stored, "is_storable", lambda model: False)
        return make()


def answers(s):
    rng = np.random.default_rng(3)
    q, u, udot = (0.3 * rng.standard_normal((20, 4)) for _ in range(3))
    q[:, 3] -= 0.5  # the point that comes and goes does
    return s.inverse_dynamics(q, u, udot)


@pytest.mark.parametrize(
    ("which", "layout"), [*((which, "unrolled") for which in OTHERS), (next(iter(OTHERS)), "looped")]
)
def test_subjects(which, layout, monkeypatch):
    """Answers are those of code with all numbers in it, after another subject filled the cache."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    answers(leg())
    first, other = FIRST.compiled.model.code, leg(**OTHERS[which])
    code = other.compiled.model.code
    assert (code.description == first.description) == (which in KEPT)
    found = answers(other)
    wanted = plainly(lambda: answers(leg(**OTHERS[which])), monkeypatch)
    np.testing.assert_allclose(found, wanted, rtol=SAME, atol=SAME * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["forward_dynamics", "moment_arms"])
def test_no_number_is_left_in_the_code(name, monkeypatch):
    """Both subjects write the same code: nothing in it depends on numbers that the key leaves out."""

    def written(s):
        texts = []
        for layout in ("unrolled", "looped"):
            monkeypatch.setenv("CONDYLE_LAYOUT", layout)
            function = s.copy().compiled.function(name)
            module = Module(4, lines=False)
            module.derived = DerivedData()
            with lookup_context():
                built = function._evaluator._expressions(function._evaluator.build)
            add_kernel(module, built, "kernel")
            texts.append((module.text(), module.needs, len(module.objects())))
        return texts

    assert name in OPERATORS
    one, two = (written(s) for s in (leg(), leg(**OTHERS["sizes, masses, strengths"])))
    assert one == two
    assert any(needs for _, needs, _ in one)


def test_studies_of_a_second_subject_compile_nothing(monkeypatch):
    made = []
    store = cache.store
    monkeypatch.setattr(
        cache, "store", lambda key, code, facts: (code and made.append(key[:60])) or store(key, code, facts)
    )

    def studies(s):
        t = np.linspace(0, 1, 21)
        q = np.stack([0.2 * np.sin(3 * t), 0 * t, 0.1 * t, -0.5 - 0.3 * t], axis=1)
        motion = cd.Table(t, s.coordinates, q, ["rad"] * 4)
        places = np.stack(
            [s.station_position(q, m.body, m.station) for m in map(s.marker, s.markers)], axis=1
        )
        reserved = s.copy()
        for name in s.coordinates:
            reserved.add_force(f"reserve {name}", cd.forces.CoordinateActuator(name, 100.0))
        effort = cd.static_optimization(reserved, motion)
        run = cd.simulate(s, s.equilibrate_muscles(s.state(q=q[0])), t_final=1e-4, accuracy=1e-4)
        return [
            cd.inverse_kinematics(s, cd.Markers(t, s.markers, places)).motion.values,
            cd.inverse_dynamics(s, motion).values,
            effort.activations.values,
            cd.joint_reactions(reserved, motion, forces=effort.forces).values,
            cd.muscle_analysis(s, motion).lengths.values,
            run.q[-1],
        ]

    few = {"muscles": ("back",)}
    studies(leg(**few))
    assert made
    made.clear()
    other = OTHERS["sizes, masses, strengths"] | few
    found = studies(leg(**other))
    assert not made
    wanted = plainly(lambda: studies(leg(**other)), monkeypatch)
    for x, y in zip(found, wanted, strict=True):
        # fits and steps of runs end within their tolerances, 1e-10 at most, on the same way
        np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-8 * np.abs(y).max())


# ---- every operator of several models, of another subject and of structures beside it -----------------------

MODELS = {
    "leg": leg,
    "arm26": cd.models.arm26,
    "pins": lambda: condyle_system(random_tree(30)),
    "joints of all kinds": lambda: random_plan(3, 8).system(),
    "constraints": lambda: rig("Rod", "CoordinateCoupler"),
    "contact": lambda: two(*next(iter(KINDS.values()))).copy(bodies={"a": {"mass": 1.3}, "b": {"mass": 0.7}}),
}
ASKED = [
    "ydot",
    "forward_dynamics",
    "inverse_dynamics",
    "mass_matrix",
    "energy",
    "reactions",
    "multipliers",
    "body_poses",
    "body_acceleration",
    "station_jacobian",
    "kinematics.system_jacobian",
    "articulated_inertia",
    "momentum",
    "path_lengths",
    "moment_arms",
    "tensions",
    "unit_loads",
    "force_wrenches",
    "contacts.forces",
]


@pytest.fixture
def entries(monkeypatch):
    """A cache of this test alone: facts and a digest of the code by key, of what is compiled."""
    held, facts_of = {}, {}

    def store(key, code, facts):
        held[key] = code, facts
        if code:
            digest = hashlib.sha256(code).hexdigest()
            facts_of.setdefault(key, set()).add((digest, json.dumps(facts, sort_keys=True)))
        return True

    monkeypatch.setattr(cache, "fetch", held.get)
    monkeypatch.setattr(cache, "store", store)
    facts_of["held"] = held
    return facts_of


def other_subject(system, rng):
    """Other masses, inertias and places of joints; of muscles other points and strengths. Nothing becomes zero or
    one."""

    def scaled(x):
        return tuple((np.ravel(x) * rng.uniform(0.9, 1.1, np.size(x))).tolist())

    bodies = {}
    for b in system.bodies:
        m, (R, p) = b.mass_properties, b.X_PF
        bodies[b.name] = {
            "mass": m.mass * rng.uniform(0.8, 1.2),
            "com": scaled(m.com),
            "inertia": m.inertia * rng.uniform(0.8, 1.2),
            "X_PF": cd.Transform(R, scaled(p)),
        }
    strong = {
        name: dataclasses.replace(m, max_isometric_force=m.max_isometric_force * rng.uniform(0.8, 1.2))
        for name in system.muscles
        for m in [system.force(name)]
    }
    return system.copy(bodies=bodies, forces=strong)


EDGES = 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -0.3, 1e-3, 3.0, np.nan


def on_the_edge(system, rng):
    """Some numbers of bodies become one of EDGES, where a description allows that."""

    def moved(x):
        x = np.ravel(x).astype(float)
        at = rng.random(x.size) < 0.3
        x[at] = rng.choice(EDGES, at.sum())
        return tuple(x.tolist())

    for b in system.bodies:
        m, (R, p) = b.mass_properties, b.X_PF
        R = np.eye(3) if rng.random() < 0.2 else R
        numbers = {"X_PF": p, "X_BM": b.X_BM.p, "mass": m.mass, "com": m.com, "inertia": np.diag(m.inertia)}
        for name, x in numbers.items():
            y = moved(x)
            try:
                value = cd.Transform(R, y) if name == "X_PF" else y[0] if name == "mass" else y
                system = system.copy(bodies={b.name: {name: value}})
            except cd.errors.CondyleError:
                continue
    return system


def every_answer(system):
    """Results of every operator at one state and at as many as lanes take, or the kind of its error."""
    found = {}
    for name in ASKED:
        operator, compiled = OPERATORS[name], system.compiled
        rng = np.random.default_rng(5)
        q, _ = system.defaults()
        sizes = dict(operator.inputs(compiled.model)[:-1])
        given = {x: rng.uniform(-0.3, 0.3, (SIMD_FROM + 1, n)) for x, n in sizes.items()}
        if "q" in given:
            given["q"] = compiled.normalized(q + given["q"])
        body = system.bodies[-1].name if operator.per_body == "kernel" else None
        try:
            function = compiled.function(name, body)
            each = [
                function(*given.values(), compiled.tails.default),
                function(*(x[0] for x in given.values()), compiled.tails.default),
            ]
        except (cd.errors.CondyleError, RuntimeError) as error:
            found[name] = type(error).__name__
            continue
        found[name] = [x for one in each for x in (one if isinstance(one, tuple) else (one,))]
    return found


SOLVED = "ydot", "forward_dynamics", "reactions", "multipliers", "articulated_inertia"
"""Operators that solve equations with the mass matrix: what differs by rounding grows by its condition."""


def check(found, wanted):
    M = np.asarray(wanted["mass_matrix"][0])
    M = M.reshape(len(M), *[round(M[0].size ** 0.5)] * 2)
    condition = np.linalg.cond(M).max() if np.isfinite(M).all() else np.inf
    for name, ours in found.items():
        if isinstance(ours, str) or isinstance(wanted[name], str):
            assert ours == wanted[name], name
            continue
        same = SAME * max(1.0, condition / 100) if name in SOLVED else SAME
        for x, y in zip(ours, wanted[name], strict=True):
            largest = np.abs(y[np.isfinite(y)]).max(initial=1e-9)  # what is zero but for rounding
            np.testing.assert_allclose(x, y, rtol=same, atol=same * largest, err_msg=name)


@pytest.mark.parametrize("model", MODELS)
def test_every_operator_of_another_subject(model, monkeypatch, entries):
    """The second subject compiles nothing and has its own answers, by machine code and by CasADi's evaluator."""
    first = MODELS[model]()
    every_answer(first)
    made = set(entries)
    assert len(made) > len(ASKED) / 2
    second = other_subject(first, np.random.default_rng(1))
    found = every_answer(second)
    assert set(entries) == made
    wanted = plainly(lambda: every_answer(second.copy()), monkeypatch)
    check(found, wanted)
    if model == "arm26":  # CasADi takes half a minute for its ellipsoids
        return
    monkeypatch.setattr(cache, "fetch", lambda key: None)
    with compile_when_it_pays():
        found = every_answer(second.copy())
        check(found, plainly(lambda: every_answer(second.copy()), monkeypatch))


@pytest.mark.parametrize("layout", ["unrolled", "looped"])
@pytest.mark.parametrize("model", ["leg", pytest.param("pins", marks=pytest.mark.slow), "constraints"])
def test_equal_keys_are_equal_code(model, layout, monkeypatch, entries):
    """What two subjects compile, each by itself, is the same to the last bit under each key: a number that has become
    part of the code by another way than the description would show."""
    monkeypatch.setenv("CONDYLE_LAYOUT", layout)
    first = MODELS[model]()
    every_answer(first)
    entries["held"].clear()
    every_answer(other_subject(first, np.random.default_rng(1)))
    assert len(entries) > len(ASKED) / 2
    assert {key[:200] for key, made in entries.items() if key != "held" and len(made) > 1} == set()


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
@pytest.mark.parametrize("model", ["leg", "joints of all kinds", "constraints", "contact"])
def test_numbers_on_the_edge_of_other_structures(model, seed, monkeypatch, entries):
    """Zeros, ones, minus ones, tiny and huge numbers, where a subject filled the cache before: right answers, by the
    same code or by other."""
    first = MODELS[model]() if model != "joints of all kinds" else random_plan(seed, 5).system()
    every_answer(first)
    for k in range(2):
        other = on_the_edge(first, np.random.default_rng([seed, k]))
        found = every_answer(other)
        with monkeypatch.context() as m:
            m.setattr(stored, "is_storable", lambda model: False)
            check(found, every_answer(other.copy()))
