"""System as its user meets it: names, defaults, freezing, copies, pickles, batches, output arrays, small and
odd systems."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import sys
from operator import attrgetter
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import condyle as cd
from tests.oracles import Mechanics, random_plan
from tests.process import LIMIT, output

EPS = np.finfo(float).eps


@pytest.fixture
def casadi(monkeypatch):
    """CasADi's evaluator instead of machine code: the same expressions, no compiling."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


def leg(**gravity):
    """Pelvis (free), thigh (pin), shank (a user's joint with two coordinates), foot (welded, massless)."""
    system = cd.System(**gravity)
    system.add_body("pelvis", mobilizer=cd.Free(), mass=10, inertia=(0.2, 0.1, 0.2))
    system.add_body(
        "thigh",
        "pelvis",
        cd.Pin(),
        X_PF=(0, -0.1, 0),
        X_BM=(0, 0.2, 0),
        mass=7,
        inertia=(0.1, 0.02, 0.1),
        coordinates="hip",
    )
    bend = 0.02
    knee = cd.FunctionBased(
        ("knee", "slide"),
        angles=(None, None, lambda q, s: q),
        translations=(lambda q, s: bend * np.sin(q), lambda q, s: s, None),
        units=("rad", "m"),
    )
    system.add_body(
        "shank", "thigh", knee, X_PF=(0, -0.2, 0), mass=3, com=(0, -0.2, 0), inertia=(0.05, 0.01, 0.05)
    )
    system.add_body("foot", "shank", cd.Weld(), X_PF=(0, -0.4, 0))
    return system


def states(system, n=None, seed=0):
    rng = np.random.default_rng(seed)
    batch = () if n is None else (n,)
    return rng.uniform(-1, 1, (*batch, system.nq)), *rng.uniform(-1, 1, (2, *batch, system.nu))


# ---- Names and defaults ------------------------------------------------------------------------------------


def test_names():
    system = leg()
    assert system.coordinates == (
        "pelvis_qw",
        "pelvis_qx",
        "pelvis_qy",
        "pelvis_qz",
        "pelvis_tx",
        "pelvis_ty",
        "pelvis_tz",
        "hip",
        "knee",
        "slide",
    )
    assert system.speeds == (
        "pelvis_wx",
        "pelvis_wy",
        "pelvis_wz",
        "pelvis_vx",
        "pelvis_vy",
        "pelvis_vz",
        "hip",
        "knee",
        "slide",
    )
    assert (system.nq, system.nu) == (10, 9)
    assert [body.name for body in system.bodies] == ["pelvis", "thigh", "shank", "foot"]
    assert system.forces == ("gravity",)
    assert system.ground.name == "ground"


def test_one_coordinate_is_named_as_its_body():
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin())
    system.add_body("shank", "thigh", cd.Slider().reversed())
    assert system.coordinates == system.speeds == ("thigh", "shank")


def test_names_of_a_user_joint_used_twice():
    """The joint's own names where they are free, the body's where they are taken."""
    knee = cd.FunctionBased("knee", (None, None, lambda q: q))
    system = cd.System()
    for side in ("right", "left"):
        system.add_body(side, mobilizer=knee, mass=1, inertia=(1, 1, 1))
    assert system.coordinates == ("knee", "left")


def test_given_names_and_defaults():
    system = cd.System()
    system.add_body(
        "thigh",
        mobilizer=cd.Pin(),
        mass=1,
        inertia=(1, 1, 1),
        coordinates=[cd.Coordinate("hip", default=0.3, range=(-1, 2))],
    )
    system.add_body("float", mobilizer=cd.Free(), mass=1, inertia=(1, 1, 1), coordinates=list("abcdefg"))
    q, u = system.defaults()
    assert_array_equal(q, [0.3, 1, 0, 0, 0, 0, 0, 0])
    assert_array_equal(u, np.zeros(7))
    assert system.coordinates == ("hip", *"abcdefg")
    assert system.body("thigh").coordinates[0].range == (-1, 2)


def test_defaults_belong_to_the_caller():
    system = leg()
    system.defaults()[0][:] = 7
    assert_array_equal(system.defaults()[0][:2], [1, 0])


def test_bodies_by_name_or_themselves():
    system = leg()
    thigh = system.body("thigh")
    assert system.body(thigh) is thigh
    assert thigh.parent is system.body("pelvis")
    assert system.body("ground") is system.ground
    assert thigh.mass == 7
    assert not thigh.is_ground
    assert system.ground.is_ground


def test_forces_and_constraints_by_name():
    system = leg()
    spring, rod = (
        cd.forces.MobilitySpring("hip", 10.0, 0.1),
        cd.constraints.Rod("ground", (0, 0, 0), "foot", (0, 0, 0), 0.8),
    )
    system.add_force("spring", spring)
    system.add_constraint("rod", rod)
    assert system.force("spring") is spring and system.constraint("rod") is rod
    assert isinstance(system.force("gravity"), cd.forces.Gravity)
    assert system.copy().force("spring") is spring
    system.add_body("hat", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))  # it is not frozen
    with pytest.raises(cd.errors.UnknownNameError, match=r"force 'sprung'.*spring"):
        system.force("sprung")
    with pytest.raises(cd.errors.UnknownNameError, match=r"constraint 'rods'.*rod"):
        system.constraint("rods")
    with pytest.raises(cd.errors.UnknownNameError, match="force"):
        system.force(0)


def test_reprs_are_short():
    system = leg()
    assert repr(system) == "System(4 bodies: pelvis, thigh, shank, foot; nq=10, nu=9)"
    assert repr(system.body("thigh")) == "Body('thigh', Pin() on 'pelvis', 7 kg, hip)"
    assert repr(system.ground) == "Body('ground')"


def test_describe_says_what_there_is():
    text = leg().describe()
    for line in (
        "thigh   pelvis  Pin()                       7          hip",
        "shank   thigh   FunctionBased(knee, slide)  3          knee, slide",
        "foot    shank   Weld()                      0          -",
    ):
        assert f"  {line}" in text.splitlines()
    assert "gravity" in text
    assert all(len(line) < 160 for line in text.splitlines())


# ---- Freezing ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("casadi")
@pytest.mark.parametrize(
    "use",
    [
        lambda s: s.forward_dynamics(*s.defaults()),
        lambda s: s.mass_matrix(s.defaults()[0]),
        lambda s: s.state(),
        lambda s: pickle.dumps(s),
        lambda s: s.body_pose(s.defaults()[0], "thigh"),
    ],
    ids=["forward_dynamics", "mass_matrix", "state", "pickle", "body_pose"],
)
def test_the_first_use_freezes(use):
    system = leg()
    use(system)
    with pytest.raises(
        cd.errors.FrozenError, match=r"'toe' cannot be added.*in use since.*test_system\.py:\d+.*copy\(\)"
    ):
        system.add_body("toe", "foot", cd.Pin(), mass=1, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.FrozenError, match="force 'again'"):
        system.add_force("again", cd.forces.Gravity((0, 0, 1)))
    assert repr(system) == "System(4 bodies: pelvis, thigh, shank, foot; nq=10, nu=9, frozen)"


def test_reading_does_not_freeze():
    system = leg()
    assert [
        system.nq,
        system.coordinates,
        system.describe(),
        repr(system),
        system.defaults(),
        system.bodies,
        system.forces,
    ]
    system.add_body("toe", "foot", cd.Pin(), mass=1, inertia=(1, 1, 1))
    assert system.coordinates[-1] == "toe"


@pytest.mark.usefixtures("casadi")
def test_a_refused_use_does_not_freeze():
    system = cd.System()
    system.add_body("tip", mobilizer=cd.Pin())
    with pytest.raises(cd.errors.DescriptionError, match="no inertia"):
        system.state()
    system.add_body("ball", "tip", cd.Weld(), mass=1, inertia=(1, 1, 1))  # now there is
    assert system.forward_dynamics([0.0], [0.0]) == 0


@pytest.mark.usefixtures("casadi")
def test_copies_grow_alone():
    system = leg()
    udot = system.forward_dynamics(*system.defaults())
    other = system.copy()
    other.add_body("toe", "foot", cd.Pin(), mass=1, inertia=(1, 1, 1))
    assert (system.nu, other.nu) == (9, 10)
    assert len(other.forward_dynamics(*other.defaults())) == 10
    assert_array_equal(system.forward_dynamics(*system.defaults()), udot)
    # the copy shares what it was made of
    assert other.body(system.body("thigh")).name == "thigh"
    with pytest.raises(cd.errors.UnknownNameError):
        system.body("toe")


@pytest.mark.usefixtures("casadi")
def test_a_copy_keeps_gravity():
    moon = leg(gravity=(0, 0, -1.62))
    q, u = moon.defaults()
    for again in (moon.copy(), copy.deepcopy(moon), pickle.loads(pickle.dumps(moon))):
        assert_allclose(again.forward_dynamics(q, u), moon.forward_dynamics(q, u), rtol=0, atol=1e-12)
        # it falls, cond(M) is 1e3
        assert_allclose(again.forward_dynamics(q, u)[3:6], [0, 0, -1.62], rtol=0, atol=1e-12)


# ---- Pickles -----------------------------------------------------------------------------------------------


def _answer(system, q, u, tau, queue):
    queue.put((system.forward_dynamics(q, u, tau), system.coordinates, repr(system)))


@pytest.mark.usefixtures("casadi")
def test_a_system_travels_to_a_fresh_process():
    """Spawned, so that it knows nothing: the user's lambdas and closures arrive as the expressions they
    became."""
    system = leg()
    q, u, tau = states(system)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_answer, args=(system, q, u, tau, queue))
    process.start()
    udot, names, shown = queue.get(timeout=LIMIT)
    process.join(LIMIT)
    assert_array_equal(udot, system.forward_dynamics(q, u, tau))
    assert names == system.coordinates
    assert shown == repr(system)


def test_a_pickle_needs_no_source_of_the_joint(tmp_path):
    """A joint defined in a script that is gone can be loaded elsewhere."""
    made = tmp_path / "made.pickle"
    script = f"""
import pickle, condyle as cd, numpy as np
s = cd.System()
joint = cd.FunctionBased("k", (None, None, lambda q: q + 0.1 * np.sin(q)))
s.add_body("b", mobilizer=joint, mass=1, inertia=(1, 1, 1))
open({str(made)!r}, "wb").write(pickle.dumps(s))
"""
    output("-c", script)
    system = pickle.loads(made.read_bytes())
    R, _ = system.body_pose(np.array([0.4]), "b")
    assert_allclose(np.arctan2(R[1, 0], R[0, 0]), 0.4 + 0.1 * np.sin(0.4), rtol=0, atol=4 * EPS)


@pytest.mark.usefixtures("casadi")
def test_a_pickle_holds_the_description_only():
    system = leg()
    bare = len(pickle.dumps(system))
    system.forward_dynamics(*states(system, 100))
    assert len(pickle.dumps(system)) == bare
    assert pickle.loads(pickle.dumps(system)).compiled.evaluations.total() == 0


# ---- Batches -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def native():
    """One random tree in machine code, with the oracle."""
    plan = random_plan(4, 6)
    return plan, plan.system(), Mechanics(plan)


def test_leading_dimensions_broadcast(native):
    """q (4, 1, nq) with u (5, nu) are (4, 5) states; tau one for all."""
    plan, system, oracle = native
    q, u, tau = plan.states(5)
    grid = system.forward_dynamics(q[:4, None], u, tau[0])
    assert grid.shape == (4, 5, system.nu)
    for i, j in ((0, 0), (3, 4), (2, 1)):
        expected = oracle.forward_dynamics(q[i], u[j], tau[0])
        bound = 10 * system.nu * EPS * np.linalg.cond(oracle.mass_matrix(q[i]))  # as in test_identities
        assert_allclose(grid[i, j], expected, rtol=0, atol=bound * np.abs(expected).max())


@pytest.mark.usefixtures("casadi")
def test_every_shape_follows_the_batch():
    system = leg()
    q, u, udot = states(system, 3)
    q, u = q[:, None], u[:2]
    batch = (3, 2)
    assert system.qdot(q, u).shape == (*batch, 10)
    assert system.inverse_dynamics(q, u, udot[0]).shape == (*batch, 9)
    assert system.mass_matrix(q).shape == (3, 1, 9, 9)
    assert system.solve_mass_matrix(q, u).shape == (*batch, 9)
    for body in ("thigh", "ground"):
        X = system.body_pose(q, body)
        assert (X.R.shape, X.p.shape) == ((3, 1, 3, 3), (3, 1, 3))
        assert system.body_velocity(q, u, body).shape == (*batch, 6)
        assert system.reactions(q, u, udot[0], body).shape == (*batch, 6)
        assert system.station_jacobian(q, body, (0, 0, 1)).shape == (3, 1, 3, 9)
    assert [e.shape for e in system.energy(q, u)] == [batch, batch]
    assert [np.shape(e) for e in system.energy(q[0, 0], u[0])] == [(), ()]
    one, stations = (q[0, 0], u[0]), np.ones((4, 3))  # many stations of one state
    assert system.station_jacobian(one[0], "shank", stations).shape == (4, 3, 9)
    assert system.station_position(one[0], "shank", stations).shape == (4, 3)
    assert system.station_velocity(*one, "shank", stations).shape == (4, 3)
    assert system.station_acceleration(*one, udot[0], "shank", stations).shape == (4, 3)
    assert system.momentum(*one, stations).shape == (4, 6)


def test_time_for_each_state():
    """t (n,) with q (n, nq); one t for all; and q one for many t."""
    system = cd.System()
    drift = cd.FunctionBased("x", translations=(lambda t, x: x + t**3, None, None), time=True)
    system.add_body("cart", mobilizer=drift, mass=2, inertia=(1, 1, 1))
    t = np.linspace(0, 2, 20)
    udot = system.forward_dynamics(np.zeros((20, 1)), np.zeros((20, 1)), t=t)
    assert_allclose(udot[:, 0], -6 * t, rtol=0, atol=1e-13)  # m (x'' + 6 t) = 0; some eps of 12
    assert_allclose(system.forward_dynamics([0.0], [0.0], t=t)[:, 0], -6 * t, rtol=0, atol=1e-13)
    assert_allclose(system.body_velocity([0.0], [0.0], "cart", t=2.0)[3], 12, rtol=0, atol=1e-14)
    assert_allclose(system.forward_dynamics([0.0], [0.0], t=1), [-6], rtol=0, atol=1e-14)


def test_locks_for_each_state():
    system = leg()
    q, u, tau = states(system, 3)
    locked = np.zeros((3, 9), dtype=bool)
    locked[1, 7] = locked[2, :] = True
    udot = system.forward_dynamics(q, u, tau, locked=locked)
    assert_array_equal(udot[2], 0)
    assert udot[1, 7] == 0
    assert_array_equal(udot[1], system.forward_dynamics(q[1], u[1], tau[1], locked=["knee"]))
    assert_array_equal(udot[0], system.forward_dynamics(q[0], u[0], tau[0], locked=()))


OUTPUTS = {
    "qdot": (10,),
    "forward_dynamics": (9,),
    "inverse_dynamics": (9,),
    "mass_matrix": (9, 9),
    "solve_mass_matrix": (9,),
    "body_velocity": (6,),
    "reactions": (6,),
    "station_jacobian": (3, 9),
}


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("operator", OUTPUTS)
@pytest.mark.usefixtures("casadi")
def test_out(operator, contiguous):
    """The answer is written into the given array, whatever its strides, and returned."""
    system = leg()
    q, u, udot = states(system, 4)
    arguments = {
        "qdot": (q, u),
        "mass_matrix": (q,),
        "solve_mass_matrix": (q, u),
        "body_velocity": (q, u, "shank"),
        "reactions": (q, u, udot, "shank"),
        "station_jacobian": (q, "shank", (0, 1, 0)),
    }.get(operator, (q, u, udot))
    shape = (4, *OUTPUTS[operator])
    out = np.full(shape, np.nan) if contiguous else np.full((*shape[:-1], 20), np.nan)[..., : shape[-1]]
    assert out.flags.c_contiguous == contiguous
    assert attrgetter(operator)(system)(*arguments, out=out) is out
    assert_array_equal(out, attrgetter(operator)(system)(*arguments))
    with pytest.raises(cd.errors.ShapeError, match="out"):
        attrgetter(operator)(system)(*arguments, out=np.zeros((5, *shape[1:])))


def test_threads_do_not_matter(native):
    plan, system, _ = native
    q, u, tau = plan.states(1000)
    one = system.forward_dynamics(q, u, tau, threads=1)
    assert_array_equal(system.forward_dynamics(q, u, tau, threads=3), one)


def test_integers_and_lists_are_numbers():
    system = cd.System()
    system.add_body("b", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))
    assert_array_equal(
        system.forward_dynamics([1], [2], [3]), system.forward_dynamics(*np.array([[1.0], [2.0], [3.0]]))
    )


# ---- Small and odd systems ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bodies", [0, 2])
def test_nothing_moves(bodies):
    """No bodies, or welds only: every operator answers, with nothing."""
    system, none = cd.System(), np.zeros(0)
    for i in range(bodies):
        system.add_body(
            f"b{i}", "ground" if i == 0 else f"b{i - 1}", cd.Weld(), X_PF=(1, 0, 0), mass=2, inertia=(1, 1, 1)
        )
    for operator in (system.qdot, system.forward_dynamics, system.solve_mass_matrix):
        assert operator(none, none).shape == (0,)
    assert system.inverse_dynamics(none, none, none).shape == (0,)
    assert system.mass_matrix(none).shape == (0, 0)
    assert system.forward_dynamics(np.zeros((20, 0)), none).shape == (20, 0)
    assert_allclose(system.energy(none, none), (0, 0), rtol=0, atol=0)
    state = system.state()
    assert state.udot.shape == (0,)
    assert "System" in system.describe()
    if bodies:
        assert_array_equal(system.body_pose(none, "b1").p, [2, 0, 0])
        assert_array_equal(state.reactions("b0"), [0, 0, 2 * 9.81 * 1, 0, 4 * 9.81, 0])
        assert system.station_jacobian(none, "b1", (0, 0, 0)).shape == (3, 0)
    assert_array_equal(system.body_pose(none, "ground").R, np.eye(3))


@pytest.mark.usefixtures("casadi")
def test_ground_stands_still():
    system = leg()
    q, u, _ = states(system)
    assert_array_equal(system.body_velocity(q, u, "ground"), np.zeros(6))
    assert_array_equal(system.body_velocity(q, u, system.ground), np.zeros(6))
    assert_array_equal(system.station_jacobian(q, "ground", (1, 2, 3)), np.zeros((3, 9)))


@pytest.mark.usefixtures("casadi")
def test_a_deep_chain():
    """150 pins in a row, hanging at rest: no recursion limit, no loss of digits."""
    system = cd.System(gravity=(0, -9.81, 0))
    for i in range(150):
        system.add_body(
            f"b{i}",
            "ground" if i == 0 else f"b{i - 1}",
            cd.Pin(),
            X_PF=(0, 0 if i == 0 else -0.1, 0),
            mass=0.1,
            com=(0, -0.05, 0),
            inertia=(1e-4, 1e-4, 1e-4),
        )
    assert_allclose(system.body_pose(np.zeros(150), "b149").p, [0, -14.9, 0], rtol=0, atol=1e-13)
    assert_allclose(system.forward_dynamics(np.zeros(150), np.zeros(150)), 0, atol=1e-12)
    top = system.reactions(np.zeros(150), np.zeros(150), np.zeros(150), "b0")
    assert_allclose(top, [0, 0, 0, 0, 15 * 9.81, 0], rtol=0, atol=1e-12)  # it carries them all


@pytest.mark.usefixtures("casadi")
def test_several_roots_do_not_feel_each_other():
    system = cd.System()
    for name in ("left", "right"):
        system.add_body(name, mobilizer=cd.Pin(), mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1))
    M = system.mass_matrix([0.3, 0.4])
    assert M[0, 1] == 0
    both, one = (
        system.forward_dynamics([0.3, 0.4], [1, 2], [5, 0]),
        system.forward_dynamics([0.3, 0.4], [1, 2]),
    )
    assert both[1] == one[1]
    assert both[0] != one[0]


@pytest.mark.usefixtures("casadi")
def test_a_massless_frame_may_carry_a_body():
    """A welded frame without mass in between changes nothing."""
    plain, framed = cd.System(), cd.System()
    plain.add_body("b", mobilizer=cd.Pin(), X_PF=(0.3, 0.2, 0), mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1))
    framed.add_body("frame", mobilizer=cd.Weld(), X_PF=(0.3, 0, 0))
    framed.add_body("b", "frame", cd.Pin(), X_PF=(0, 0.2, 0), mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1))
    assert_array_equal(*(s.forward_dynamics([0.3], [0.1], [2.0]) for s in (plain, framed)))


@pytest.mark.usefixtures("casadi")
def test_a_point_mass_may_slide_and_hang():
    """Where a mobility moves mass, zero inertia is legal: a pendulum of a point mass, a bead on a wire."""
    system = cd.System()
    system.add_body("bob", mobilizer=cd.Pin(), X_BM=(0, 2, 0), mass=1.5)
    system.add_body("bead", mobilizer=cd.Slider("y"), mass=0.5)
    udot = system.forward_dynamics([0.4, 0], [0, 0])
    assert_allclose(udot, [-9.81 / 2 * np.sin(0.4), -9.81], rtol=4 * EPS)


def test_particle_welded_to_a_massless_rod():
    """All inertia comes from the distance of what is carried: a simple pendulum, not a mobilizer without
    inertia."""
    system = cd.System()
    system.add_body("rod", "ground", cd.Pin())
    system.add_body("bob", "rod", cd.Weld(), X_PF=(0, -2, 0), mass=1.5)
    assert system.forward_dynamics([0.3], [0.0])[0] == pytest.approx(-9.81 / 2 * np.sin(0.3), abs=1e-12)


def test_a_system_that_froze_in_a_cell_says_which(monkeypatch):
    """As IPython keeps it: names of files that cells' code goes by, to their numbers."""
    ipython = ModuleType("IPython")
    shell = SimpleNamespace(compile=SimpleNamespace(_filename_map={"/tmp/ipykernel_7/123.py": 4}))
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    system = leg()
    exec(compile("\n\nstate = system.state()", "/tmp/ipykernel_7/123.py", "exec"), {"system": system})
    with pytest.raises(cd.errors.FrozenError, match=r"in use since state\(\) at In \[4\], line 3"):
        system.add_body("foot", "shank", cd.Pin(), mass=1.0, inertia=(1, 1, 1))
