"""Rows of constraints that act one way, and what operators make of the state that they are in."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import condyle as cd

RUBBER = cd.contact.Rigid(restitution=0.5, friction=0.3)
FLOOR = cd.contact.HalfSpace("ground", (0.1, 1.0, 0.2), 0.05, RUBBER)


def arm() -> cd.System:
    """A free body that swings another, with every kind of them."""
    system = cd.System()
    system.add_body("trunk", mobilizer=cd.Free(), mass=2.0, inertia=(0.02, 0.03, 0.01))
    system.add_body(
        "arm", "trunk", cd.Pin(), X_PF=(0.3, 0, 0), mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02)
    )
    field = cd.contact.HeightField(
        "ground",
        (0, 0, -1),
        np.linspace(-2, 2, 9),
        np.linspace(-2, 2, 9),
        0.1 * np.sin(np.add.outer(np.arange(9), np.arange(9))),
        RUBBER,
    )
    system.add_contact("ball", FLOOR, cd.contact.Sphere("trunk", (0, 0.1, 0), 0.1, RUBBER))
    system.add_contact("tip", cd.contact.Point("arm", (0.3, 0, 0.1), RUBBER), FLOOR)
    system.add_contact("hill", field, cd.contact.Sphere("arm", (0.2, 0, 0), 0.1, RUBBER))
    smooth = cd.contact.Rigid()
    system.add_contact(
        "both",
        cd.contact.Sphere("ground", (1, 0, 0), 0.2, smooth),
        cd.contact.Sphere("arm", (0.2, 0, 0), 0.1, smooth),
    )
    system.add_constraint("stop", cd.constraints.Stop("arm", upper=cd.Parameter("most", 1.2)))
    system.add_constraint("rope", cd.constraints.Rope("ground", (0, 2, 0), "arm", (0.1, 0.1, 0), 1.0))
    return system


def rows(system, q, u):
    state = system.state()
    tail = np.broadcast_to(state.tail, (*np.shape(q)[:-1], state.tail.size))
    return system.compiled.shaped("unilateral_rows", system.compiled.function("unilateral_rows")(q, u, tail))


def test_rows_are_the_rates_of_gaps() -> None:
    system, rng = arm(), np.random.default_rng(5)
    q0 = system.default("q") + 0.1 * rng.standard_normal(system.nq)
    q0[4:7] += 0.3
    q0 = system.compiled.normalized(np.concatenate([q0, np.zeros(system.nu)])[None])[0, : system.nq]
    u, udot, h = rng.standard_normal(system.nu), rng.standard_normal(system.nu), 1e-4
    gap, gdot, slip, G, bias, e, mu = rows(system, q0, u)
    assert gap.shape == (6,) and G.shape == (6, 3, system.nu)
    assert e.tolist() == [0.5] * 3 + [0.0] * 3 and mu.tolist() == [0.3] * 3 + [0.0] * 3

    # along a motion with constant udot: a parabola's values at both sides
    def at(t):
        steps, q = 40, q0
        for k in range(steps):
            f = lambda q, tau: system.compiled.function("qdot")(q, u + udot * tau, system.state().tail)
            s, d = t * k / steps, t / steps
            k1 = f(q, s)
            k2 = f(q + d / 2 * k1, s + d / 2)
            k3 = f(q + d / 2 * k2, s + d / 2)
            q = q + d / 6 * (k1 + 2 * k2 + 2 * k3 + f(q + d * k3, s + d))
        return rows(system, q, u + udot * t)

    plus, minus = at(h), at(-h)
    # differences of order 2 over h = 1e-4: their error is about 1e-8, rounding 1e-12 over h
    np.testing.assert_allclose((plus[0] - minus[0]) / (2 * h), gdot, atol=3e-7)
    np.testing.assert_allclose((plus[1] - minus[1]) / (2 * h), G[:, 0] @ udot + bias[:, 0], atol=1e-6)
    np.testing.assert_allclose(G[:, 0] @ u, gdot, atol=1e-12)
    np.testing.assert_allclose((plus[2] - minus[2]) / (2 * h), G[:, 1:] @ udot + bias[:, 1:], atol=1e-6)
    np.testing.assert_allclose(G[:, 1:] @ u, slip, atol=1e-12)
    many = rows(system, np.tile(q0, (5, 1)), np.tile(u, (5, 1)))
    np.testing.assert_allclose(many[3][4], G, atol=1e-13)


def block(friction: float = 0.3) -> cd.System:
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=2.0, inertia=(0.008,) * 3)
    rubber = cd.contact.Rigid(friction=friction)
    system.add_contact(
        "floor",
        cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, rubber),
        cd.contact.Sphere("ball", (0, 0, 0), 0.1, rubber),
    )
    return system


def test_a_state_says_what_holds() -> None:
    system = block()
    free = system.state(q={"ball_ty": 0.1}, u={"ball_vx": 1.0})
    assert free.udot[4] == -9.81  # open: it falls
    slides = free.replace(discrete={"floor.closed": 1, "floor.slide_x": 1.0})
    np.testing.assert_allclose(
        slides.udot, [0, 0, -0.3 * 2 * 9.81 * 0.1 / 0.008, -0.3 * 9.81, 0, 0], atol=1e-12
    )
    np.testing.assert_allclose(slides.multipliers(), [2 * 9.81, 0, 0], atol=1e-12)
    np.testing.assert_allclose(
        system.constraints.forces(slides.q, slides.u, discrete=slides.discrete),
        [0, 0, -0.3 * 2 * 9.81 * 0.1, -0.3 * 2 * 9.81, 2 * 9.81, 0],
        atol=1e-12,
    )
    # it rolls, pushed at its center: 5/7 of the acceleration, with 0.008 = 2/5 m r^2
    rolls = free.replace(u={"ball_wz": -10.0}, discrete={"floor.closed": 1, "floor.stick": 1})
    udot = system.forward_dynamics(rolls.q, rolls.u, [0, 0, 0, 2.0, 0, 0], discrete=rolls.discrete)
    np.testing.assert_allclose(udot, [0, 0, -10 * 5 / 7, 5 / 7, 0, 0], atol=1e-12)


def test_pickles_and_copies() -> None:
    system = arm()
    again = pickle.loads(pickle.dumps(system))
    assert (
        again.constraints.unilateral
        == system.constraints.unilateral
        == ("ball", "tip", "hill", "both", "stop", "rope")
    )
    other = system.copy(constraints={"stop": cd.constraints.Stop("arm", lower=-1.0)})
    assert "stop.closed" in other.discrete and other.constraint("stop").lower == -1.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cd.contact.Rigid(restitution=1.1), "restitution must be from 0 to 1, got 1.1"),
        (lambda: cd.contact.Rigid(restitution=-0.1), "at least 0"),
        (lambda: cd.contact.Rigid(friction=-0.1), "at least 0"),
        (lambda: cd.contact.Rigid(law="neuton"), "newton"),
        (lambda: cd.constraints.Stop("knee"), "one of lower= and upper="),
        (lambda: cd.constraints.Stop("knee", lower=0, upper=1), "two stops"),
        (lambda: cd.contact.Point("a", (0, 0, 0), cd.contact.Material(1e6)), "cd.contact.Rigid"),
        (lambda: cd.contact.vertices("a", [[0, 0]], cd.contact.Rigid()), "shape"),
        (
            lambda: cd.contact.HuntCrossley(FLOOR, cd.contact.Sphere("a", (0, 0, 0), 1.0, RUBBER)),
            "both a cd.contact.Rigid",
        ),
        (
            lambda: cd.constraints.RigidContact(
                FLOOR, cd.contact.Sphere("a", (0, 0, 0), 1.0, cd.contact.Rigid(law="poisson"))
            ),
            "same law",
        ),
    ],
)
def test_refusals(make, words) -> None:
    with pytest.raises(cd.errors.CondyleError, match=words):
        make()


def test_vertices_are_those_of_the_hull() -> None:
    cube = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
    points = cd.contact.vertices("a", np.vstack([cube, [[0.5, 0.5, 0.5]], cube]), RUBBER)
    assert len(points) == 8


def test_derivatives_while_it_slides() -> None:
    """Against differences of order 2, along the manifold."""
    system, nu = block(), 6
    modes = {"floor.closed": 1.0, "floor.slide_x": 0.6, "floor.slide_z": 0.8}
    q, u, w = system.default("q"), np.array([1.0, 2, -1, 0.5, 0, 0.7]), np.array([1.0, -1, 2, 0.3, 0.4, 0.5])
    h, many = 1e-5, lambda x: np.tile(x, (nu, 1))
    N = system.compiled.function("qdot")(many(q), np.eye(nu), many(system.state().tail))
    f = lambda q, u: system.forward_dynamics(q, u, discrete=modes)
    right = {
        "q": (f(q + h * N, many(u)) - f(q - h * N, many(u))).T / (2 * h),
        "u": (f(many(q), u + h * np.eye(nu)) - f(many(q), u - h * np.eye(nu))).T / (2 * h),
    }
    J = system.jacobian("forward_dynamics", q, u, np.zeros(nu), wrt=("q", "u"), discrete=modes)
    back = system.vjp("forward_dynamics", q, u, np.zeros(nu), cotangent=w, wrt=("q", "u"), discrete=modes)
    for wrt in ("q", "u"):
        np.testing.assert_allclose(J[wrt], right[wrt], atol=1e-7)  # h^2 and rounding over h
        np.testing.assert_allclose(back[wrt], w @ J[wrt], atol=1e-11)


def test_both_formulations_agree(evidence) -> None:
    """Closed ones without friction, in minimal and maximal coordinates."""
    smooth = cd.contact.Rigid()
    system = cd.System()
    system.add_body("trunk", mobilizer=cd.Free(), mass=2.0, inertia=(0.02, 0.03, 0.01))
    system.add_body(
        "arm", "trunk", cd.Pin(), X_PF=(0.3, 0, 0), mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02)
    )
    system.add_contact(
        "ball",
        cd.contact.HalfSpace("ground", (0.1, 1.0, 0.2), 0.05, smooth),
        cd.contact.Sphere("trunk", (0, 0.1, 0), 0.1, smooth),
    )
    system.add_constraint("stop", cd.constraints.Stop("arm", upper=0.3))
    system.add_constraint("rope", cd.constraints.Rope("ground", (0, 2, 0), "arm", (0.1, 0.1, 0), 1.8))
    modes = {f"{name}.closed": 1.0 for name in system.constraints.unilateral}
    rng = np.random.default_rng(6)
    q, u = system.project(system.default("q"), rng.standard_normal(system.nu), discrete=modes)
    udot = system.forward_dynamics(q, u, discrete=modes)
    solution = cd.maximal.MaximalSystem(system).at(q, u, discrete=modes).forward(np.zeros(system.nu))
    error = np.abs(solution.udot - udot).max() / np.abs(udot).max()
    assert error < 1e-9
    evidence(
        "accelerations with rigid contact, stop and rope closed: minimal against maximal, relative",
        error,
        1e-9,
    )
    with pytest.raises(cd.errors.DescriptionError, match="acts one way"):
        cd.relax(system, system.state())


def test_both_formulations_agree_on_friction(evidence) -> None:
    """Two contacts of an arm, in all modes of sticking and sliding: accelerations and multipliers; and W of
    impacts, what unit impulses of all rows do to all gaps and slips, from which both find the same ones."""
    rough, system = cd.contact.Rigid(0.3, 0.4), cd.System()
    system.add_body("trunk", mobilizer=cd.Free(), mass=2.0, inertia=(0.02, 0.03, 0.01))
    system.add_body(
        "arm", "trunk", cd.Pin(), X_PF=(0.3, 0, 0), mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02)
    )
    floor = cd.contact.HalfSpace("ground", (0.1, 1.0, 0.2), 0.05, rough)
    system.add_contact("a", floor, cd.contact.Sphere("trunk", (0, 0.1, 0), 0.1, rough))
    system.add_contact("b", floor, cd.contact.Point("arm", (0.2, 0, 0.05), rough))
    maximal, worst, rng = cd.maximal.MaximalSystem(system), 0.0, np.random.default_rng(3)
    for a, b in (("stick", "stick"), ("stick", "slide"), ("slide", "stick"), ("slide", "slide")):
        modes = {"a.closed": 1.0, "b.closed": 1.0}
        for name, mode in (("a", a), ("b", b)):
            modes |= (
                {f"{name}.stick": 1.0}
                if mode == "stick"
                else {f"{name}.slide_x": 1e-6, f"{name}.slide_z": 2e-6}
            )
        q, u = system.project(system.default("q"), rng.standard_normal(system.nu), discrete=modes)
        udot, lam = (f(q, u, discrete=modes) for f in (system.forward_dynamics, system.multipliers))
        at = maximal.at(q, u, discrete=modes)
        found = at.forward(np.zeros(system.nu))
        mine = np.concatenate([found.lambda_s[at.constraints[name]] for name in ("a", "b")])
        worst = max(
            worst,
            np.abs(found.udot - udot).max() / np.abs(udot).max(),
            np.abs(mine - lam).max() / np.abs(lam).max(),
        )
    assert worst < 1e-9
    evidence(
        "rigid contacts that stick and slide: accelerations and multipliers, minimal against maximal, "
        "relative",
        worst,
        1e-9,
    )
    modes = {f"{name}.{flag}": 1.0 for name in "ab" for flag in ("closed", "stick")}
    at, m = maximal.at(q, u, discrete=modes), maximal.m
    rows, joints = at.C_V[m:], at.C_V[:m]
    KKT = np.block([[at.M, joints.T], [joints, np.zeros((m, m))]])
    W = rows @ np.linalg.solve(KKT, np.vstack([rows.T, np.zeros((m, 6))]))[: len(at.V)]
    G = system.constraints.jacobian(q, u, discrete=modes)
    own = G @ np.linalg.solve(system.mass_matrix(q), G.T)
    assert np.abs(W - own).max() < 1e-10 * np.abs(own).max()


def test_points_and_questions_that_cannot_be():
    wood, system = cd.contact.Rigid(), cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1, inertia=(1, 1, 1))
    a, b = (cd.contact.Point(body, (0, 0, 0), wood) for body in ("ground", "ball"))
    with pytest.raises(cd.errors.DescriptionError, match="two points have no size and never meet"):
        system.add_contact("meet", a, b)
    with pytest.raises(cd.errors.DescriptionError, match=r"vertices: points\[1\] = .* is not finite"):
        cd.contact.vertices("ball", [(0, 0, 0), (0, float("nan"), 0)], wood)
    system.add_contact("floor", cd.contact.HalfSpace("ground", (0, 1, 0), 0, wood), b)
    with pytest.raises(cd.errors.UnknownNameError, match="group of contacts 'flor'"):
        system.state().contacts.center_of_pressure("flor")


def test_vertices_of_a_mesh(tmp_path) -> None:
    """Corners of a file, of a Mesh, and given: the same points; what is inside of them does not count."""
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    path = tmp_path / "cube.obj"
    faces = [
        (0, 1, 3),
        (0, 3, 2),
        (4, 6, 7),
        (4, 7, 5),
        (0, 4, 5),
        (0, 5, 1),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
        (1, 5, 7),
        (1, 7, 3),
    ]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    path.write_text("\n".join(lines))
    wood = cd.contact.Rigid()
    for given in (path, str(path), cd.shapes.Mesh(path), [*corners, (0.1, 0.2, 0.3)]):
        assert {p.station for p in cd.contact.vertices("b", given, wood)} == {
            tuple(map(float, c)) for c in corners
        }


def test_poses_and_motions_do_not_pass_them_in_silence() -> None:
    """assemble keeps stops and names violated contacts; inverse dynamics says that they count as open; stops
    in degrees are noticed."""
    wood, system = cd.contact.Rigid(), cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.add_constraint("stop", cd.constraints.Stop("arm", upper=0.5))
    system.add_contact(
        "floor",
        cd.contact.HalfSpace("ground", (0, 1, 0), -0.5, wood),
        cd.contact.Point("arm", (1, 0, 0), wood),
    )
    beyond = system.state(q=[1.0])
    assert cd.assemble(system, beyond).q == pytest.approx([0.5])
    assert cd.assemble(system, beyond, cd.goals.Coordinate("arm", 2.0)).q == pytest.approx([0.5])
    assert cd.assemble(system, beyond.replace(disabled=["stop"])).q == pytest.approx([1.0])
    with pytest.warns(RuntimeWarning, match=r"violates 'floor' by 0.34.*not kept here"):
        cd.assemble(system, system.state(q=[-1.0]))
    with pytest.warns(RuntimeWarning, match=r"assemble_frames: the pose violates 'floor' by 0.34"):
        cd.assemble_frames(system, system.state(), cd.goals.Coordinate("arm", [0.0, -1.0, -0.6, 0.2]))
    with pytest.raises(cd.errors.DescriptionError, match=r"at least 0\.7 and at most 0\.5"):
        cd.assemble(system, beyond, limits={"arm": (0.7, 1.0)})
    motion = cd.Table(np.linspace(0, 1, 9), ["arm"], np.zeros((9, 1)), ["rad"])
    with pytest.warns(RuntimeWarning, match=r"inverse_dynamics: 'stop', 'floor': .* external_loads="):
        cd.inverse_dynamics(system, motion)
    many = system.copy()
    for k in range(2):
        many.add_constraint(f"other{k}", cd.constraints.Stop("arm", lower=-2.0 - k))
    with pytest.warns(
        RuntimeWarning, match=r"inverse_dynamics: 'stop', '\w+', '\w+', \.\.\.: rigid contacts"
    ):
        cd.inverse_dynamics(many, motion)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cd.inverse_dynamics(system, motion, state=system.state(disabled=["stop", "floor"]))
    other = cd.System()
    other.add_body("arm", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))
    with pytest.warns(RuntimeWarning, match=r"upper = 120 rad .* np.radians\(120\)") as told:
        other.add_constraint("stop", cd.constraints.Stop("arm", upper=120))
    assert told[0].filename == __file__


def test_one_impact_follows_one_law() -> None:
    system, floor = cd.System(), lambda m: cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, m)
    for name, law in (("a", "newton"), ("b", "poisson")):
        system.add_body(name, mobilizer=cd.Slider(axis=(0, 1, 0)), mass=1)
        m = cd.contact.Rigid(0.5, law=law)
        system.add_contact(f"floor {name}", floor(m), cd.contact.Sphere(name, (0, 0, 0), 0.1, m))
    with pytest.raises(cd.errors.DescriptionError, match="'floor a' rebounds by law='newton' and 'floor b'"):
        cd.simulate(system, system.state(q=[1, 1]), 0.1)
