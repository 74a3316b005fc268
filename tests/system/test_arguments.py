"""What users give for vectors: one rule for labels, for numbers that are none, for time, wherever arrays go
in."""

from __future__ import annotations

import inspect
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import condyle as cd
from condyle.arrays import Entries, vector
from condyle.integrate.ensemble import Members
from condyle.model.operators import OPERATORS as RECORDS
from condyle.system.operators import METHODS
from condyle.tree.body import Body
from tests.contact.meshes import box

SOLID = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
OPERATORS = {name: record for name, record in RECORDS.items() if record.public}
P = (0.1, -0.2, 0.05)
N = 20


def leg(time: bool = False) -> cd.System:
    """A floating hip, a knee and a slider on it that a constraint couples: a quaternion, whose names are not
    those of u."""
    system = cd.System()
    system.add_body("hip", mobilizer=cd.Ball(), **SOLID)
    system.add_body(
        "shank",
        "hip",
        cd.Pin(),
        X_PF=(0, -0.4, 0),
        com=(0, -0.2, 0),
        coordinates="knee",
        **SOLID | {"mass": cd.Parameter("m", 1.0)},
    )
    system.add_body("bob", "shank", cd.Slider(), **SOLID)
    system.add_constraint("tie", cd.constraints.CoordinateCoupler(lambda a, b: a - 2 * b, ("knee", "bob")))
    system.add_force("push", cd.forces.MobilityForce("bob", cd.Input("f", 1.0)))
    skin = cd.contact.Material(1e5)
    system.add_contact(
        "floor",
        cd.contact.HalfSpace("ground", (0, 1, 0), -9.0, skin),
        cd.contact.Sphere("shank", (0, 0, 0), 0.1, skin),
    )
    system.add_contact(
        "sole",
        cd.contact.HalfSpace("ground", (0, 1, 0), -9.0, skin),
        cd.contact.Mesh("shank", None, box(0.1), 0.02, skin),
    )
    if time:
        system.add_force(
            "wind", cd.forces.ExternalWrench("bob", force=([0, 1, 2], np.arange(9.0).reshape(3, 3)))
        )
    return system


@pytest.fixture(scope="module")
def system() -> cd.System:
    # CasADi's evaluator: nothing to compile for forty operators
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONDYLE_EVALUATOR", "casadi")
        system = leg()
        for name in OPERATORS:
            ask(system, name)
        yield system


def arguments(system: cd.System, name: str) -> dict[str, object]:
    """Arguments of an operator for N states."""
    rng = np.random.default_rng(0)
    q, u, udot, f, tau = (rng.normal(size=(N, n)) for n in (system.nq, *[system.nu] * 4))
    qdot, qddot = rng.normal(size=(2, N, system.nq))
    known = {
        "q": q,
        "u": u,
        "udot": udot,
        "qdot": qdot,
        "qddot": qddot,
        "f": f,
        "tau": tau,
        "body": "shank",
        "station": P,
        "X_BS": P,
        "constraint": "tie",
        "group": "floor",
        "contact": "sole",
        "about": P,
        "lambda_": rng.normal(size=(N, 1)),
    }
    asked = inspect.signature(METHODS[name]).parameters
    return {p: known[p] for p in asked if p in known}


def ask(system: cd.System, name: str, **other: object) -> object:
    return attrgetter(name)(system)(**arguments(system, name) | other)


def parts(result: object) -> list[np.ndarray]:
    if isinstance(result, cd.Transform):
        return [result.R, result.p]
    return [
        np.asarray(x)
        for x in (
            result.values()
            if isinstance(result, dict)
            else result
            if isinstance(result, tuple)
            else (result,)
        )
    ]


# ---- Numbers that are none ---------------------------------------------------------------------------------

VECTORS = {
    **dict.fromkeys(("q", "qdot", "qddot"), "coordinate"),
    **dict.fromkeys(("u", "udot", "f", "tau"), "speed"),
    "lambda_": "equation",
}


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_refuses_what_is_not_finite(system, name):
    """Also where the result would not show it."""
    for vector_, noun in VECTORS.items():
        if vector_ not in arguments(system, name):
            continue
        for bad in (np.nan, -np.inf):
            x = arguments(system, name)[vector_].copy()
            x[3, -1] = x[7, 0] = bad
            with pytest.raises(
                cd.errors.ShapeError,
                match=rf"{vector_}: {noun} '\w+' is {bad}.*state \(3,\) of the "
                r"batch, 2 of 20",
            ):
                ask(system, name, **{vector_: x})
            one = {k: v[3] if k in VECTORS else v for k, v in arguments(system, name).items()}
            with pytest.raises(
                cd.errors.ShapeError, match=rf"{vector_}: {noun} '\w+' is {bad}; it must be a finite number$"
            ):
                ask(system, name, **one | {vector_: x[3]})


@pytest.mark.parametrize(
    "name", [name for name in OPERATORS if "q" in inspect.signature(METHODS[name]).parameters]
)
def test_every_operator_refuses_a_quaternion_of_zeros(system, name):
    q = arguments(system, name)["q"].copy()
    q[5, :4] = 0.0
    with pytest.raises(
        cd.errors.ShapeError,
        match=r"q: the quaternion of body 'hip' is zero.*state \(5,\) of the batch, 1 of 20",
    ):
        ask(system, name, q=q)


BAD = {
    "masked": (np.ma.masked_greater(np.full(6, 2.0), 1.0), r"entry \(0,\) is masked"),
    "complex": (np.ones(6) * (1 + 0j), "ndarray of complex128.*jvp"),
    "bool": (np.ones(6, dtype=bool), "ndarray of bool; truth values"),
    "text": (["1"] * 6, "expected real numbers"),
    "objects": (np.array([None] * 6), "expected real numbers"),
    "dates": (np.zeros(6, dtype="M8[s]"), "expected real numbers"),
    "a number": (3.0, r"expected \(\.\.\., 6\), got \(\)"),
}


@pytest.mark.parametrize(
    "name", [name for name in OPERATORS if "q" in inspect.signature(METHODS[name]).parameters]
)
@pytest.mark.parametrize("bad", ["masked", "complex"])
def test_every_operator_refuses_what_is_no_real_number(system, name, bad):
    with pytest.raises(cd.errors.ShapeError, match=f"q: .*{BAD[bad][1]}"):
        ask(system, name, q=BAD[bad][0])


@pytest.mark.parametrize("bad", BAD)
def test_everything_else_refuses_it_too(system, bad):
    q, words = BAD[bad]
    u = np.zeros(system.nu)
    match = words.replace(r"\(\.\.\., 6\)", r"(\(\.\.\., 6\)|shape \(6,\))")
    for call in (
        lambda: system.state(q=q),
        lambda: system.state().replace(q=q),
        lambda: system.project(q, u),
        lambda: system.prescribe(q, u),
        lambda: system.jvp("energy", q, u, tangents={"u": u}),
        lambda: system.vjp("energy", q, u, cotangent=[1.0, 0.0]),
        lambda: system.jacobian("energy", q, u, wrt="u"),
        lambda: cd.simulate(system, {"q": q, "t": np.zeros(3)}, 0.1),
    ):
        with pytest.raises(cd.errors.ShapeError, match=match):
            call()


@pytest.mark.parametrize(
    "station",
    [
        (0.0, np.nan, 0.0),
        np.ones(3) * 1j,
        np.ma.masked_equal([0.0, 1.0, 2.0], 1.0),
        np.zeros((3, 3)),
        {"x": 1.0},
        "heel",
    ],
)
def test_points(system, station):
    """Points whose shape does not broadcast with the states are refused, too."""
    for name in (
        "station_position",
        "station_velocity",
        "station_acceleration",
        "kinematics.frame_velocity",
        "kinematics.frame_acceleration",
        "station_jacobian",
        "kinematics.frame_jacobian",
        "kinematics.station_bias",
    ):
        for body in ("shank", "ground"):
            with pytest.raises(cd.errors.ShapeError, match="station"):
                ask(system, name, station=station, body=body)
    with pytest.raises(cd.errors.ShapeError, match="about"):
        ask(system, "momentum", about=station)


def test_points_by_name(system):
    point = {"z": P[2], "x": P[0], "y": P[1]}
    assert_array_equal(ask(system, "station_position", station=point), ask(system, "station_position"))


@pytest.mark.parametrize("states", [1, 5, 40])
def test_machine_code_sees_it(states, monkeypatch):
    """One state by the builtin, a few by the scalar loop, many in lanes and threads: each entry, and nothing
    else."""
    monkeypatch.delenv("CONDYLE_EVALUATOR", raising=False)
    system = machine_code()
    rng = np.random.default_rng(1)
    q, u, tau = (rng.normal(size=(states, n)) for n in (system.nq, system.nu, system.nu))
    shape = (lambda x: x[0]) if states == 1 else (lambda x: x)
    calls = {
        "forward_dynamics": lambda q, u, tau: system.forward_dynamics(shape(q), shape(u), shape(tau)),
        "vjp of forward_dynamics": lambda q, u, tau: system.vjp(
            "forward_dynamics", shape(q), shape(u), cotangent=shape(tau), wrt=("u",)
        )["u"],
        "mass_matrix": lambda q, u, tau: system.mass_matrix(shape(q)),
        "threads": lambda q, u, tau: system.forward_dynamics(shape(q), shape(u), shape(tau), threads=2),
    }
    for name, call in calls.items():
        good = [call(q, u, tau).copy() for _ in range(2)][1]  # the second by the builtin
        for k, x in enumerate((q, u, tau)[: 1 if name == "mass_matrix" else 3]):
            for i in range(x.shape[1]):
                state = rng.integers(states)
                given = [q, u, tau]
                given[k] = x.copy()
                given[k][state, i] = rng.choice([np.nan, np.inf, -np.inf])
                with pytest.raises(cd.errors.ShapeError, match="it must be a finite number") as error:
                    call(*given)
                if states > 1 and "vjp" not in name and name != "mass_matrix":
                    assert np.isnan(error.value.result[state]).all()
                    assert_array_equal(
                        np.delete(error.value.result, state, axis=0), np.delete(good, state, axis=0)
                    )
        still = q.copy()
        still[-1, 1:5] = 0.0
        with pytest.raises(cd.errors.ShapeError, match=r"quaternion of body 'head' is zero"):
            call(still, u, tau)
        huge = q.copy()
        # squares of the entries are finite, and so is all else
        huge[:, 1:5] *= 1e140
        assert np.isfinite(call(huge, u, tau)).all()
        assert_array_equal(call(q, u, tau), good)


@pytest.fixture(scope="module", autouse=True)
def _kept():
    yield
    _MADE.clear()


_MADE: dict[str, cd.System] = {}


def machine_code() -> cd.System:
    if not _MADE:
        system = cd.System()
        system.add_body("neck", mobilizer=cd.Pin(), **SOLID)
        system.add_body("head", "neck", cd.Ball(), X_PF=(0, 0.2, 0), **SOLID)
        _MADE["head"] = system
    return _MADE["head"]


def test_a_long_vector_is_read_to_its_end(monkeypatch):
    """Beyond 512 numbers machine code reads in a loop: each place is seen."""
    import casadi as ca

    from condyle.native.calls.native_function import NativeFunction

    monkeypatch.delenv("CONDYLE_EVALUATOR", raising=False)
    n = 531
    x = ca.SX.sym("x", n)
    f = NativeFunction(
        "sum",
        lambda: ca.Function("sum", [x], [ca.sum1(x)]),
        key=f"sum {n}",
        inputs=[("x", n)],
        outputs=[("y", 1)],
        entries={"x": Entries("entry", ())},
    )
    rng = np.random.default_rng(0)
    for states in (1, 17):
        good = rng.normal(size=(states, n))
        f.fast(*good[:1]) if states == 1 else f(good)
        for i in [*range(0, n, 53), *range(n - 17, n)]:
            bad = good.copy()
            bad[-1, i] = np.nan
            with pytest.raises(cd.errors.ShapeError, match=rf"sum: x: entry {i} is nan"):
                f.fast(bad[0]) if states == 1 else f(bad)


def test_parameters_inputs_and_times_that_are_none(system):
    q, u = arguments(system, "energy").values()
    for options in (
        {"parameters": {"m": "heavy"}},
        {"parameters": [1j]},
        {"inputs": {"f": np.nan}},
        {"inputs": ["x"]},
        {"t": np.nan},
        {"t": 1j},
        {"t": True},
        {"parameters": {"m": np.ones(3)}, "inputs": {"f": np.ones(4)}},
        {"parameters": np.ma.masked_equal([1.0], 1.0)},
    ):
        with pytest.raises(cd.errors.CondyleError, match=next(iter(options))):
            system.energy(q, u, **options)


# ---- Labels ------------------------------------------------------------------------------------------------


def labeled(names: list[str], values: np.ndarray) -> dict[str, object]:
    """The same numbers (m, n) in everything that has labels."""
    out = {
        "dict": {name: values[:, i] for i, name in enumerate(names)},
        "Table": cd.Table(np.arange(len(values)), names, values),
        "structured array": np.array([tuple(row) for row in values], dtype=[(name, float) for name in names]),
    }
    try:
        import pandas
    except ImportError:
        return out
    return out | {"DataFrame": pandas.DataFrame(values, columns=names, index=np.linspace(0, 1, len(values)))}


KINDS = ("dict", "Table", "structured array", "DataFrame")


@pytest.mark.parametrize("kind", KINDS)
def test_labels_go_by_name_in_any_order(system, kind):
    rng = np.random.default_rng(2)
    names = {"q": list(system.coordinates), **{key: list(system.speeds) for key in ("u", "udot", "tau", "f")}}
    for name in OPERATORS:
        plain = {k: v for k, v in arguments(system, name).items() if k in names}
        mixed = {}
        for k, x in plain.items():
            order = rng.permutation(x.shape[1])
            made = labeled([names[k][i] for i in order], x[:, order])
            if kind not in made:
                pytest.skip("pandas is not installed")
            mixed[k] = made[kind]
        for a, b in zip(parts(ask(system, name, **mixed)), parts(ask(system, name)), strict=True):
            assert_array_equal(a, b)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_disagree_are_refused(system, kind):
    x = np.random.default_rng(3).normal(size=(N, system.nq))
    names = list(system.coordinates)
    made = lambda names, x: (
        labeled(names, x).get(kind) if kind in labeled(names, x) else pytest.skip("pandas is not installed")
    )
    with pytest.raises(cd.errors.UnknownNameError, match="unknown coordinate 'kneee'; did you mean 'knee'"):
        system.mass_matrix(made([name.replace("knee", "kneee") for name in names], x))
    with pytest.raises(cd.errors.UnknownNameError, match=r"unknown coordinate 'more'"):
        system.mass_matrix(made([*names, "more"], np.column_stack([x, x[:, 0]])))
    if kind != "dict":
        with pytest.raises(cd.errors.ShapeError, match="there is no coordinate 'bob': give all"):
            system.mass_matrix(made(names[:-1], x[:, :-1]))


def test_a_dict_leaves_defaults(system):
    q, u = system.defaults()
    q[list(system.coordinates).index("knee")] = 0.3
    assert_array_equal(
        system.inverse_dynamics({"knee": 0.3}, {}, {"bob": 1.0}),
        system.inverse_dynamics(q, u, [0, 0, 0, 0, 1.0]),
    )
    assert_array_equal(
        system.forward_dynamics(q, u, {"knee": 2.0}), system.forward_dynamics(q, u, [0, 0, 0, 2.0, 0])
    )
    assert_array_equal(system.state(q={"knee": 0.3}).udot, system.forward_dynamics({"knee": 0.3}, {}))
    two = {"knee": [0.3, 0.3]}
    assert_array_equal(system.mass_matrix(two)[1], system.mass_matrix(q))
    for call in (system.project, system.prescribe):
        for a, b in zip(call({"knee": 0.3}, {}), call(q, u), strict=True):
            assert_array_equal(a, b)


def test_labels_everywhere_else(system):
    """States, runs, derivatives, parameters, inputs: by name, in any order."""
    pandas = pytest.importorskip("pandas")
    names, speeds = list(system.coordinates), list(system.speeds)
    q, u = np.random.default_rng(4).normal(size=(2, 6))
    u = u[:5]
    q[4:] = 0.2, 0.1  # on the constraint
    row, rates = pandas.Series(q, names)[::-1], pandas.Series(u, speeds)[::-1]
    assert_array_equal(system.state(q=row, u=rates).q, q)
    assert_array_equal(system.state().replace(u=rates).u, u)
    assert_array_equal(system.state().forward_dynamics(rates), system.forward_dynamics(*system.defaults(), u))
    assert_array_equal(
        system.energy(q, u, parameters=pandas.Series({"m": 2.0}), inputs=pandas.Series({"f": 3.0})),
        system.energy(q, u, parameters=[2.0], inputs=[3.0]),
    )
    assert_array_equal(
        system.jacobian("energy", row, rates, wrt="q"), system.jacobian("energy", q, u, wrt="q")
    )
    assert_array_equal(
        system.jvp("energy", q, u, tangents={"q": rates}), system.jvp("energy", q, u, tangents={"q": u})
    )
    assert_array_equal(
        system.vjp("forward_dynamics", q, u, cotangent=rates)["q"],
        system.vjp("forward_dynamics", q, u, cotangent=u)["q"],
    )
    assert_array_equal(
        system.project(q, u, weights=pandas.Series(np.arange(1.0, 6), speeds)[::-1])[0],
        system.project(q, u, weights=np.arange(1.0, 6))[0],
    )
    frame = pandas.DataFrame([q, q], columns=names)[names[::-1]]
    members = Members.from_states(
        system, {"q": frame, "u": pandas.DataFrame([u, u], columns=speeds)[speeds[::-1]]}
    )
    assert_array_equal(members.y, np.tile(np.concatenate([q, u]), (2, 1)))
    with pytest.raises(cd.errors.ShapeError, match="its rows have the names"):
        system.mass_matrix(pandas.DataFrame(np.zeros((6, 6)), index=names))
    by_position = pandas.DataFrame([q, q])
    assert_array_equal(system.mass_matrix(by_position)[0], system.mass_matrix(q))
    assert_array_equal(system.mass_matrix(pandas.Series(q)), system.mass_matrix(q))


def test_gaps_of_pandas_are_not_finite(system):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.ones((3, 6)), columns=list(system.coordinates))
    frame.loc[1, "knee"] = np.nan
    with pytest.raises(cd.errors.ShapeError, match=r"'knee' is nan.*state \(1,\)"):
        system.mass_matrix(frame)
    frame["knee"] = pandas.array([1.0, None, 1.0], dtype="Float64")
    with pytest.raises(cd.errors.ShapeError, match="'knee'"):
        system.mass_matrix(frame)


def test_labels_twice():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.zeros((2, 2)), columns=["a", "a"])
    with pytest.raises(cd.errors.ShapeError, match="'a' is there more than once"):
        vector("q", frame, 2, Entries("coordinate", ("a", "b")))
    with pytest.raises(cd.errors.ShapeError, match="here entries have no names"):
        vector("y", frame, 2, Entries("entry", ()))


# ---- Time, and other systems -------------------------------------------------------------------------------


def test_many_states_of_what_depends_on_time_need_t(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = leg(time=True)
    a = arguments(system, "inverse_dynamics")
    q, u, udot = a["q"], a["u"], a["udot"]
    needs = {
        "inverse_dynamics": lambda **o: system.inverse_dynamics(q, u, udot, **o),
        "forward_dynamics": lambda **o: system.forward_dynamics(q[0], u, **o),
        "applied_forces": lambda **o: system.applied_forces({"knee": q[:, 4]}, u[0], **o),
        "reactions": lambda **o: system.reactions(q, u, udot, **o),
        "motion_forces": lambda **o: system.motion_forces(q, u, **o),
        "jvp of inverse_dynamics": lambda **o: system.jvp(
            "inverse_dynamics", q, u, udot, tangents={"u": u}, **o
        ),
    }
    for call in needs.values():
        with pytest.raises(
            cd.errors.DescriptionError,
            match=r"force 'wind' depends on time, and there are many states.*give t=",
        ):
            call()
        with pytest.raises(cd.errors.DescriptionError, match="give t="):
            call(t=None)
        call(t=0.5)
        call(t=np.linspace(0, 1, N))
        call(disabled=["wind"])
    system.mass_matrix(q)  # this does not depend on time
    system.body_velocity(q, u, "bob")
    assert_array_equal(
        system.inverse_dynamics(q[0], u[0], udot[0]), system.inverse_dynamics(q[0], u[0], udot[0], t=0.0)
    )


def test_what_depends_on_time(monkeypatch):
    """Each kind of thing makes those operators depend on time that feel it."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")

    class Own(cd.forces.Force):
        def apply(self, s, loads):
            loads.add_mobility("a", s.t * s.coordinate("a"))

    def pin(**options):
        system = cd.System()
        system.add_body("a", **{"mobilizer": cd.Pin(), **SOLID, **options})
        return system

    joint = pin(mobilizer=cd.FunctionBased(("a",), angles=(None, None, lambda t, q: q + t), time=True))
    motion = pin(motion=cd.Prescribed(position=lambda t: t**2))
    own, custom, drive = pin(), pin(), pin()
    own.add_force("own", Own())
    custom.add_force("wind", cd.forces.Custom(lambda s: {"a": np.sin(s.t)}))
    drive.add_constraint("drive", cd.constraints.PrescribedMotion(lambda t: t**2, "a"))
    everything = set(joint.compiled.timed.operators)
    assert "mass_matrix" in everything and "body_pose" in everything
    reports = {
        "contacts.forces",
        "contacts.losses",
        "contacts.wrenches",
        "contact_centers",
    }  # of rigid contacts
    assert motion.compiled.timed.operators == {
        "forward_dynamics",
        "ydot",
        "multipliers",
        "prescribed",
        "position_change",
        "held_accelerations",
        *reports,
    }
    assert own.compiled.timed.operators == custom.compiled.timed.operators
    assert {"inverse_dynamics", "power", "forward_dynamics"} < own.compiled.timed.operators
    assert not {"mass_matrix", "qdot", "gravity_forces", "constraints.errors"} & own.compiled.timed.operators
    assert {"forward_dynamics", "constraints.errors", "position_change"} < drive.compiled.timed.operators
    assert "inverse_dynamics" not in drive.compiled.timed.operators
    assert not pin().compiled.timed.operators
    for system, words in (
        (motion, "the motion of body 'a'"),
        (drive, "constraint 'drive'"),
        (joint, "the mobilizer of body 'a'"),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=f"project: {words} depends on time"):
            system.project(np.zeros((3, 1)), np.zeros(1))


def test_a_state_of_another_system_is_refused(system):
    other = leg()
    state = other.state()
    for call in (
        lambda: system.explain(state),
        lambda: cd.simulate(system, state, 0.1),
        lambda: cd.simulate(system, [state], 0.1),
        lambda: cd.assemble(system, state),
        lambda: cd.relax(system, state),
        lambda: system.forward_dynamics(state.q, state.u, state=state),
        lambda: cd.assemble_frames(system, state, [cd.goals.Coordinate("knee", np.zeros(3))]),
    ):
        with pytest.raises(cd.errors.DescriptionError, match="the state belongs to another system"):
            call()


# ---- Found by some ten thousand random calls: each was an error of NumPy's or CasADi's ---------------------


@pytest.mark.parametrize(
    "odd",
    [np.zeros(3), np.zeros((2, 2)), np.array(3), None, 10**400, [10**400] * 6, object(), {1, 2}],
    ids=lambda odd: type(odd).__name__,
)
def test_odd_things_in_odd_places(system, odd):
    q, u = system.defaults()
    for call in (
        lambda: system.energy(q, u, disabled=[odd]),
        lambda: system.state(locked=[odd]),
        lambda: system.constraints.reactions(q, u, odd),
        lambda: system.jacobian("energy", q, u, wrt=odd),
        lambda: system.energy(odd, u),
        lambda: system.state(t=[odd]),
        lambda: system.energy(q, u, threads=[odd]),
        lambda: system.project(q, u, tolerance=odd),
        lambda: system.project(q, u, weights=odd if odd is not None else "all"),
    ):
        with pytest.raises(cd.errors.CondyleError):
            call()


@pytest.mark.parametrize("root", [np.sqrt, lambda q: abs(q) ** 0.5])
def test_a_joint_that_is_a_root_of_zero(root, monkeypatch):
    """Its slope is infinite at the default: said when asked there, fine elsewhere."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = cd.System()
    system.add_body("a", mobilizer=cd.FunctionBased(("k",), angles=(root, None, None)), **SOLID)
    with pytest.raises(cd.errors.SingularError, match=r"body 'a'.*not a number or infinite at k = 0"):
        system.forward_dynamics([0.0], [0.0])
    assert np.isfinite(system.forward_dynamics([0.3], [0.1])).all()


# ---- Recordings and descriptions ---------------------------------------------------------------------------


def test_masks_are_gaps_in_recordings_and_refused_in_descriptions():
    target = np.ma.masked_equal([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], 4.0)
    goal = cd.goals.Station("a", P, target)
    assert goal.weights(2).tolist() == [1.0, 0.0]  # as NaN: not measured
    assert np.isnan(cd.Table([0, 1], ["x", "y", "z"], target)["y"][1])
    for make in (
        lambda: cd.Transform(p=np.ma.masked_equal([0.0, 1.0, 2.0], 1.0)),
        lambda: cd.Transform(p=np.ones(3) * 1j),
        lambda: cd.forces.TimeSeries([0, 1, 2], np.ma.masked_equal([0.0, 1.0, 2.0], 1.0)),
        lambda: cd.forces.TimeSeries([0, 1, 2], np.ones(3) * 1j),
        lambda: cd.goals.Station("a", P, np.ones(3) * 1j),
    ):
        with pytest.raises(cd.errors.CondyleError):
            make()


def test_weights_of_a_run_by_name(monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), **SOLID)
    for weights in (pandas.Series({"a": 1.0, "b": 2.0}), {"a": 1.0}, [True, True]):
        with pytest.raises(cd.errors.CondyleError, match="weights"):
            cd.simulate(system, system.state(), 0.1, weights=weights)


# ---- vectors in space --------------------------------------------------------------------------------------

XYZ = pd.Series({"z": 3.0, "x": 1.0, "y": 2.0})
ROWS = pd.DataFrame({"z": [3.0, 6.0, 9.0], "x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]}, index=[0.0, 0.5, 1.0])


def body_with(**more) -> Body:
    return cd.System().add_body("b", mobilizer=cd.Pin(), mass=1.0, inertia=(0.1, 0.1, 0.1), **more)


@pytest.mark.parametrize(
    "vector_of",
    [
        lambda: cd.goals.Station("b", XYZ, (0, 0, 0)).station,
        lambda: cd.goals.Station("b", (0, 0, 0), XYZ).position,
        lambda: cd.goals.Station("b", (0, 0, 0), ROWS).position[0],
        lambda: cd.Transform(p=XYZ).p,
        lambda: cd.forces.TimeSeries(ROWS.index, ROWS).values[0],
        lambda: body_with(X_PF=XYZ).X_PF.p,
        lambda: body_with(com=XYZ).mass_properties.com,
        lambda: cd.forces.ConstantForce("b", XYZ, (0, 0, 0)).station,
        lambda: cd.constraints.Rod("b", XYZ, "ground", (0, 0, 0), 1.0).p_a,
        lambda: cd.forces.Gravity(XYZ).acceleration,
        lambda: np.sqrt(14.0) * np.array(cd.Pin(axis=XYZ).axis),
        lambda: cd.Wrench(force=XYZ).entries("w")[:3],
    ],
)
def test_vectors_in_space_go_by_their_labels(vector_of):
    assert_allclose(vector_of(), (1.0, 2.0, 3.0), rtol=1e-15)  # a unit axis is divided by its length


def test_motions_go_by_their_labels():
    system = cd.System()
    table = ROWS.set_axis(["b_ty", "b_rz", "b_tx"], axis=1)
    system.add_body("b", mobilizer=cd.Planar(), mass=1.0, motion=cd.Prescribed(position=(table.index, table)))
    assert_allclose(system.state(t=0.5).q, (2.0, 4.0, 6.0), rtol=1e-15)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: cd.goals.Station("b", (0, 0, 0), ROWS.rename(columns={"x": "toe_x"})),
        lambda: cd.forces.TimeSeries(ROWS.index, ROWS.rename(columns={"x": "vx"})),
        lambda: body_with(motion=cd.Prescribed(position=(ROWS.index, ROWS))),
    ],
)
def test_columns_that_are_no_components_are_refused(wrong):
    with pytest.raises(cd.errors.CondyleError):
        wrong()


@pytest.mark.parametrize(
    "taker",
    [
        lambda v: cd.Spline((0.0, 1.0, 2.0), v),
        lambda v: cd.forces.ConstantForce("b", v, (0, 0, 0)),
        lambda v: cd.Pin(axis=v),
        lambda v: cd.System(gravity=v),
        lambda v: cd.Transform(p=v),
        lambda v: cd.goals.Station("b", v, (0, 0, 0)),
    ],
)
def test_masked_numbers_of_descriptions_are_refused(taker):
    taker(np.ma.array([1.0, 2.0, 3.0]))
    with pytest.raises(cd.errors.CondyleError):
        taker(np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]))


FOREIGN = pd.Series([0.1, 0.2, 0.3], index=["width", "height", "depth"])


@pytest.mark.parametrize(
    "describe",
    [
        lambda: cd.System(gravity=FOREIGN),
        lambda: cd.Pin(axis=FOREIGN),
        lambda: cd.Transform(p=FOREIGN),
        lambda: cd.System().add_body("a", mobilizer=cd.Pin(), com=FOREIGN),
        lambda: cd.System().add_body("a", mobilizer=cd.Pin(), X_PF=FOREIGN),
        lambda: cd.forces.TwoPointSpring("a", FOREIGN, "b", (0, 0, 0), 1.0, 1.0),
    ],
)
def test_labels_of_a_vector_in_space_are_x_y_z(describe):
    with pytest.raises(ValueError, match=r"labels \['width', 'height', 'depth'\].*x, y, z only"):
        describe()
