"""Mistakes of those who let bodies touch for the first time: the answer names what is meant."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest

import condyle as cd
from tests.contact.meshes import icosphere

C = cd.contact
RUBBER, STONE = C.Material(1e6), C.Rigid(friction=0.5)
X = np.linspace(-1, 1, 5)


def ball() -> cd.System:
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    return system


def surfaces(material: C.Material | C.Rigid = RUBBER) -> tuple[C.HalfSpace, C.Sphere]:
    return C.HalfSpace("ground", (0, 1, 0), 0.0, material), C.Sphere("ball", (0, 0, 0), 0.1, material)


def heights(h: object, x: np.ndarray = X, y: np.ndarray = X) -> C.HeightField:
    return C.HeightField("ground", None, x, y, h, RUBBER)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: C.Material(stiffness=1e6), r"stiffness=; it is modulus= \[Pa\]"),
        (lambda: C.Material(young=1e6), r"young=; it is Material\.elastic\(young, poisson\), in Pa"),
        (lambda: C.Material(1e6, mu=0.5), "mu=; it is static_friction= and dynamic_friction=, equal"),
        (lambda: C.Material(1e6, restitution=0.5), r"cd\.contact\.Rigid\(restitution=\)"),
        (
            lambda: C.Material.elastic(E=1e6, nu=0.3),
            "Material.elastic: there is no argument E=; it is young=",
        ),
        (lambda: C.Rigid(mu=0.5), "mu=; it is friction="),
        (lambda: C.Rigid(stiffness=1e6), r"compliant surfaces have a cd\.contact\.Material"),
        (lambda: C.Sphere("ball", (0, 0, 0), diameter=0.2, material=RUBBER), "it is radius=, half of it"),
        (lambda: C.Box("ball", None, size=(1, 1, 1), material=RUBBER), "it is half_lengths=, half of each"),
        (lambda: ball().add_contact("c", *surfaces(), friction=0.5), "part of the surfaces' material"),
        (
            lambda: ball().add_contact("c", surfaces()[0], {"body": "ball", "radius": 0.1}),
            "add_contact 'c': b: .* got a dict of 'body', 'radius'; give the surfaces in a list",
        ),
        (
            lambda: ball().add_contact("c", surfaces()[0], cd.shapes.Sphere(0.1)),
            r"got cd\.shapes\.Sphere\(radius=0\.1\); shapes of cd\.shapes are only drawn",
        ),
        (
            lambda: ball().add_contact("c", surfaces()[0], surfaces(STONE)[1]),
            r"'c': HalfSpace on 'ground' is made of a cd\.contact\.Material and Sphere on 'ball' is made of a "
            r"cd\.contact\.Rigid; give both a Material for compliant contact, or both a Rigid",
        ),
        (
            lambda: ball().add_contact("c", surfaces()[1], surfaces()[1]),
            "add_contact 'c': HuntCrossley: both surfaces are on body 'ball'",
        ),
        (
            lambda: ball().add_force("c", surfaces()[0]),
            r"surfaces touch by system\.add_contact\(name, a, b\)",
        ),
        (lambda: ball().add_constraint("c", surfaces()[0]), r"touch by system\.add_contact\(name, a, b\)"),
        (
            lambda: C.Mesh(
                "ball", None, ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 0, 1), (1, 1, 2)]), 0.01, RUBBER
            ),
            r"no triangle has three corners at three places, in .* m: is it \(vertices, triangles\), in this order",
        ),
        (lambda: heights(lambda x, y: x * y), "got a function; give its values on the grid"),
        (lambda: heights(np.zeros((4, 5)), X, X[:4]), r"first index goes with x: give heights\.T"),
        (lambda: heights(np.where(np.eye(5) > 0, np.nan, 0)[::-1]), r"got nan at \[0, 4\], x = -1, y = 1 m"),
        (lambda: heights(np.zeros((5, 5)), np.meshgrid(X, X)[0]), r"11\), got shape \(5, 5\)"),
        (lambda: heights([[1, 2], [3]]), "heights: expected real numbers, got rows of different lengths"),
        (lambda: heights(np.zeros((1, 5)), X[:1]), r"x: expected at least 4 numbers .* got \[-1\.\]"),
        (lambda: C.vertices("ball", [(0, 0, 0), (1, 2)], STONE), "points: .* rows of different lengths"),
        (lambda: C.Material.elastic("1e6", 0.3), r"young: expected one finite number .* \[Pa\], above 0"),
        (lambda: C.Material.elastic(1e6, np.nan), "elastic: poisson: expected one finite number"),
        (lambda: ball().state(q={"ball_rx": 0.1}), "'ball' turns by a quaternion; with coordinates='euler'"),
        (lambda: ball().state(u={"ball_tx": 0.1}), r"unknown speed 'ball_tx'; did you mean 'ball_vx'\? "),
        (lambda: ball().state(u={"ball_rz": 0.1}), r"unknown speed 'ball_rz'; did you mean 'ball_wz'\? "),
    ],
)
def test_what_is_meant(call, says) -> None:
    with pytest.raises(cd.errors.CondyleError, match=says):
        call()


def test_angles_by_the_name_that_the_error_tells() -> None:
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(coordinates="euler"), mass=1.0, inertia=(0.004,) * 3)
    assert system.state(q={"ball_rx": 0.1})["ball_rx"] == 0.1


@pytest.mark.parametrize(
    ("where", "name", "says"),
    [
        (C, "Terrain", "it is HeightField"),
        (C, "Stop", r"it is cd\.constraints\.Stop"),
        (C, "Stairs", "a list of Box"),
        (cd.constraints, "Cable", "it is Rope"),
        (cd.constraints, "JointLimit", "it is Stop"),
        (cd.forces, "HuntCrossley", r"system\.add_contact"),
        (cd, "Sphere", r"cd\.contact\.Sphere or cd\.shapes\.Sphere or cd\.paths\.Sphere"),
        (cd, "Contact", r"system\.add_contact"),
        (cd, "HalfSpace", r"it is cd\.contact\.HalfSpace$"),
        (ball().state(), "grf", r"it is contacts.forces\(\)"),
        (ball().state(), "cop", "contacts.center_of_pressure"),
        (ball().state(), "penetration", r"contacts.depths\(\)"),
    ],
)
def test_names_elsewhere(where, name, says) -> None:
    with pytest.raises(AttributeError, match=says):
        attrgetter(name)(where)


@pytest.mark.parametrize("material", [RUBBER, STONE])
def test_surfaces_do_not_touch_twice(material) -> None:
    floor, sphere = surfaces(material)
    with pytest.raises(cd.errors.DescriptionError, match="b: surface 1 is surface 0 again and would"):
        ball().add_contact("c", floor, [sphere, sphere])
    system = ball()
    system.add_contact("c", floor, sphere)
    with pytest.raises(cd.errors.DescriptionError, match="'d': these two surfaces touch already, as 'c'"):
        system.add_contact("d", [sphere], floor)
    assert system.contacts == ("c",)
    system.add_contact("d", floor, C.Sphere("ball", (0, 0, 0), 0.1, material))  # another surface


@pytest.mark.parametrize("modulus", [200, 999.0, cd.Parameter("E", 10.0)])
def test_moduli_in_gigapascals_are_told(modulus) -> None:
    with pytest.warns(UserWarning, match=r"Pa is softer than any solid .* in Pa: 200 GPa is 200e9"):
        C.Material.elastic(modulus, 0.0)
    C.Material(1e3)  # brain; no warning


LAYERED = C.Mesh("ball", None, icosphere(1, 0.1), 0.02, RUBBER)


@pytest.mark.parametrize(
    ("surface", "most"),
    [
        (C.Sphere("ball", (0, 0, 0), 0.05, RUBBER), 0.005),
        (C.Sphere("ball", (0, 0, 0), cd.Parameter("r", 0.05), RUBBER), 0.005),
        (C.Ellipsoid("ball", None, (0.3, 0.1, 0.2), RUBBER), 0.01),
        (C.Torus("ball", None, 0.3, 0.02, RUBBER), 0.002),
        (C.Cylinder("ball", None, 0.3, 0.2, RUBBER), 0.01),
        (C.Box("ball", None, (0.3, 0.2, 0.1), RUBBER), 0.01),  # not of its corners
        (C.Implicit("ball", None, lambda x, y, z: x**2 + y**2 + z**2 - 0.01, 0.11, RUBBER), 0.011),
        (LAYERED, 0.1 * float(np.ptp(LAYERED.triangles.vertices, axis=0).min()) / 2),
    ],
)
def test_smooth_that_reaches_far_is_told(surface, most) -> None:
    floor = C.HalfSpace("ground", (0, 1, 0), 0.0, RUBBER)
    ball().add_contact("c", floor, surface, smooth=0.999 * most)  # no warning
    says = f"{type(surface).__name__} on 'ball', whose smallest .* Use at most {most:.2g} m; 1e-4 is usual"
    with pytest.warns(UserWarning, match=says):
        ball().add_contact("c", floor, surface, smooth=1.001 * most)


def test_smooth_pushes_from_afar_as_it_says() -> None:
    """1 m on balls of 5 cm, 5 cm apart: as the exact law 0.475625 m deep, by (18) of the theory."""
    a, b = (C.Sphere(body, (0, 0, 0), 0.05, RUBBER) for body in ("ground", "ball"))
    with pytest.warns(UserWarning, match=r"at a gap of 0\.05 m it would push as if 0\.48 m deep"):
        law = C.HuntCrossley(a, b, smooth=1.0)
    system = ball()
    system.add_force("c", law)
    f = system.contacts.forces(system.state(q={"ball_ty": 0.15}).q, np.zeros(6))[0, 1]
    x = (np.hypot(0.05, 1.0) - 0.05) / 2
    assert round(x, 2) == 0.48
    k = 4 / 3 * 1e6 / 2**1.5 * np.sqrt(0.025)  # E* of two equal moduli
    assert f == pytest.approx(k * x**1.5, rel=1e-12)  # rounding


@pytest.mark.parametrize("material", [RUBBER, STONE])
def test_boxes_do_not_touch_twice(material) -> None:
    """Their corners are made anew each time."""
    floor, box = surfaces(material)[0], C.Box("ball", None, (0.1, 0.1, 0.1), material)
    system = ball()
    system.add_contact("c", floor, box)
    with pytest.raises(
        cd.errors.DescriptionError, match=r"'d': these two surfaces touch already, as 'c\.corner0'"
    ):
        system.add_contact("d", floor, box)


def test_a_group_is_added_whole_or_not_at_all() -> None:
    """The last of three names no body: the first two, and their Parameters, would stay."""
    system, r = ball(), cd.Parameter("r", 0.1)
    soles = [C.Sphere(body, (0, 0, 0.1 * k), r, RUBBER) for k, body in enumerate(("ball", "ball", "bal"))]
    with pytest.raises(
        cd.errors.UnknownNameError, match=r"contact 'c\.2': unknown body 'bal'; did you mean 'ball'"
    ):
        system.add_contact("c", surfaces()[0], soles)
    assert system.contacts == () and not system.parameters
    assert system.add_contact("c", surfaces()[0], soles[:2]) == ("c.0", "c.1")


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1.0, 1e200])
def test_normals_of_any_length(size) -> None:
    assert C.HalfSpace("ground", (0, size, 0), 0.0, RUBBER).normal == (0, 1, 0)
    np.testing.assert_allclose(
        C.HalfSpace("ground", (1e200, 1e200, 0), 0.0, RUBBER).normal, (0.5**0.5, 0.5**0.5, 0), rtol=1e-15
    )


@pytest.mark.parametrize(
    ("points", "corners"),
    [
        ([(0, 0, 0)], 1),
        ([(0, 0, 0), (0, 0, 0)], 1),
        ([(0, 0, 0), (2, 0, 2), (1, 0, 1)], 2),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0.5, 0.5, 0)], 4),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 1e-14), (1, 1, 0), (0.5, 0.5, 0)], 4),
        ([*np.ndindex(3, 3, 3)], 8),
    ],
)
def test_corners_of_flat_bodies(points, corners) -> None:
    """Of a plate and a rod too; the others of them would be contacts that say nothing new."""
    turn = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
    assert len(C.vertices("ball", np.array(points) @ turn.T, STONE)) == corners


def test_pressures_of_states_and_runs() -> None:
    system = ball()
    mesh = C.Mesh("ball", None, icosphere(1, 0.1), 0.02, RUBBER)
    system.add_contact("c", C.HalfSpace("ground", (0, 1, 0), 0.0, RUBBER), mesh)
    run = cd.simulate(system, system.state(q={"ball_ty": 0.086}), 0.01)
    expected = system.contacts.pressures(run.q, run.u, "c")
    assert expected.shape == (len(run), len(mesh.triangles.faces)) and expected.max() > 0
    np.testing.assert_array_equal(run.contacts.pressures("c"), expected)
    np.testing.assert_array_equal(run[-1].contacts.pressures("c", "ball"), expected[-1])
    np.testing.assert_array_equal(run.contacts.pressures("c", t=[run.t[-1]]), expected[-1:])


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        (
            RUBBER,
            C.Material(1e6, 0, 0.5, 0.5),
            "Sphere on 'ball' has friction and HalfSpace on 'ground' has no",
        ),
        (C.Rigid(0.5, 0.3), C.Rigid(0.5), "HalfSpace on 'ground' has friction and Sphere on 'ball' has none"),
        (
            C.Rigid(),
            C.Rigid(restitution=cd.Parameter("e", 0.5)),
            "Sphere on 'ball' has restitution and HalfS",
        ),
    ],
)
def test_what_only_one_surface_has_no_pair_has(one, other, says) -> None:
    """A floor without friction: the ball slid freely, in silence."""
    with pytest.warns(UserWarning, match=f"add_contact 'c': {says}.*Give it to both, or to neither") as said:
        ball().add_contact("c", surfaces(one)[0], surfaces(other)[1])
    assert len(said) == 1 and said[0].filename == __file__


def test_names_and_arrays_in_each_others_place() -> None:
    system = ball()
    system.add_contact("sole", *surfaces())
    assert repr(system) == "System(1 body: ball; nq=7, nu=6, 1 contact)"
    q, u = system.defaults()[:2]
    for operator in (system.contacts.center_of_pressure, system.contacts.pressures):
        with pytest.raises(cd.errors.ArgumentError, match=r"expected a name, got .* in the order \(q, u, "):
            operator("sole", q, u)
    with pytest.raises(cd.errors.UnknownNameError, match=r"Tables of their own, such as contact_forces\(\)"):
        cd.simulate(system, system.state(q={"ball_ty": 0.5}), 0.1)["sole_fy"]


def test_a_stop_in_degrees_is_asked_about_once() -> None:
    system = cd.System()
    system.add_body("leg", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1), coordinates="knee")
    with pytest.warns(RuntimeWarning, match=r"in degrees, give np\.radians\(30\)"):
        system.add_constraint("stop", cd.constraints.Stop("knee", upper=30))
    assert system.state().q == 0.0  # a second warning would be an error here


def test_rims_of_cylinders_are_below_half_of_their_size() -> None:
    C.Cylinder("ball", None, 0.3, 0.2, RUBBER, rim=0.09)
    for radius, length, rim in ((0.3, 0.2, 0.1), (0.1, 0.5, 0.1)):
        with pytest.raises(cd.errors.DescriptionError, match=r"rim: must be below 0\.1 m"):
            C.Cylinder("ball", None, radius, length, RUBBER, rim=rim)
