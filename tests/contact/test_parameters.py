"""Every number of surfaces, materials and laws may be a Parameter, with derivatives; what may not is refused
by a sentence that says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import condyle as cd
from tests.contact.meshes import box, icosphere
from tests.contact.rig import HILLS, X_GRID, Y_GRID, egg, touching, two

C = cd.contact
HARD = C.Material(2e6, 0.3, 0.8, 0.5, 0.05, 0.05)
Number = Callable[[str, float], Any]


def frame(of: Number) -> cd.Transform:
    """Turned about z, then about x, and moved: four numbers."""
    a, b = of("turn", 0.4), of("tilt", -0.3)
    R = np.array(
        [
            [np.cos(a), -np.sin(a) * np.cos(b), np.sin(a) * np.sin(b)],
            [np.sin(a), np.cos(a) * np.cos(b), -np.cos(a) * np.sin(b)],
            [0 * b, np.sin(b), np.cos(b)],
        ]
    )
    return cd.Transform(R, (of("px", 0.01), -0.02, of("pz", 0.03)))


def plane(of: Number, **options: Any) -> C.HalfSpace:
    return C.HalfSpace("a", (of("nx", 0.2), of("ny", 1.0), of("nz", -0.1)), of("height", 0.05), HARD)


def ball(radius: float = 0.2) -> C.Sphere:
    return C.Sphere("a", (0, 0.1, 0), radius, HARD)


def rubber(of: Number) -> C.Material:
    return C.Material.elastic(
        of("E", 5e5),
        of("nu", 0.4),
        of("c", 0.8),
        of("mu_s", 1.1),
        of("mu_d", 0.9),
        of("mu_v", 0.1),
        of("v_t", 0.3),
    )


EVERY: dict[str, Callable[[Number], tuple[Any, ...]]] = {
    "half-space, sphere, elastic, levers": lambda of: (
        plane(of),
        C.Sphere("b", (of("px", 0.01), of("py", -0.02), of("pz", 0.03)), of("r", 0.1), rubber(of)),
        {"rolling_resistance": of("d_r", 0.002), "spin_friction": of("d_s", 0.01)},
    ),
    "smooth": lambda of: (plane(of), C.Sphere("b", (0, 0, 0), of("r", 0.1), rubber(of)), {"smooth": 1e-3}),
    "OpenSim": lambda of: (
        plane(of),
        C.Sphere("b", (0, 0, 0), of("r", 0.1), rubber(of)),
        {"law": C.OpenSimHuntCrossley},
    ),
    "modulus": lambda of: (
        ball(),
        C.Sphere(
            "b",
            (0, 0, 0),
            0.1,
            C.Material(
                of("E", 5e5), of("c", 0.8), of("mu_s", 1.1), of("mu_d", 0.9), of("mu_v", 0.1), of("v_t", 0.3)
            ),
        ),
    ),
    "ellipsoid": lambda of: (
        ball(),
        C.Ellipsoid("b", frame(of), (of("rx", 0.15), of("ry", 0.1), of("rz", 0.08)), HARD),
    ),
    "cylinder": lambda of: (
        plane(of),
        C.Cylinder(
            "b", frame(of), of("r", 0.08), of("l", 0.3), HARD, rim=of("rim", 0.004), flat=of("flat", 0.002)
        ),
    ),
    "sphere, cylinder": lambda of: (
        ball(),
        C.Cylinder("b", frame(of), of("r", 0.08), of("l", 0.3), HARD, rim=of("rim", 0.004)),
    ),
    "torus": lambda of: (
        plane(of),
        C.Torus("b", frame(of), of("r", 0.1), of("tube", 0.02), HARD, flat=of("flat", 0.002)),
    ),
    "sphere, torus": lambda of: (ball(0.06), C.Torus("b", frame(of), of("r", 0.1), of("tube", 0.03), HARD)),
    "sphere, box": lambda of: (
        ball(),
        C.Box("b", frame(of), (of("lx", 0.1), of("ly", 0.08), of("lz", 0.06)), HARD, edge=of("edge", 0.01)),
    ),
    "height field": lambda of: (
        C.HeightField("a", frame(of), X_GRID, Y_GRID, HILLS, HARD),
        C.Sphere("b", (0, 0, 0), of("r", 0.1), HARD),
    ),
    "implicit": lambda of: (ball(), C.Implicit("b", frame(of), egg, of("size", 0.2), rubber(of))),
    "mesh": lambda of: (plane(of), C.Mesh("b", frame(of), icosphere(1, 0.1), of("h", 0.02), rubber(of))),
    "OpenSim's mesh": lambda of: (
        plane(of),
        C.Mesh("b", frame(of), icosphere(1, 0.1), of("h", 0.02), rubber(of)),
        {"law": C.OpenSimElasticFoundation},
    ),
}
"""Surfaces and options of a contact; of(name, value) is a number."""
IDLE = {
    "rim": "nothing touches an edge",
    "flat": "as rim",
    "edge": "inside of the box",
    "size": "a ball",
    **dict.fromkeys(("lx", "ly", "lz"), "other faces than the one that touches"),
}
"""Numbers that need not change the force here."""


@pytest.mark.parametrize("kind", EVERY)
def test_every_number_may_be_a_parameter(kind, monkeypatch):
    """With values given later the system equals one of these plain numbers (rounding of depths of 2e-3 m,
    which are differences of lengths), and derivatives by all of them are those of differences of order 4."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    values: dict[str, float] = {}

    def later(name: str, value: float) -> Any:
        values[name] = value
        return cd.Parameter(name, value * 0.99)

    a, b, *more = EVERY[kind](later)
    system = two(a, b, **(more[0] if more else {}))
    a, b, *more = EVERY[kind](lambda name, value: value)
    plain = two(a, b, **(more[0] if more else {}))
    assert set(system.parameters) == set(values) and not plain.parameters
    q, u = touching(plain, 12)
    expected = plain.contacts.wrenches(q, u)
    f = lambda changed: system.contacts.wrenches(q, u, parameters=values | changed)
    scale = abs(expected).max()
    assert scale > 1
    np.testing.assert_allclose(f({}), expected, rtol=1e-9, atol=1e-9 * scale)
    J = system.jacobian("contacts.wrenches", q, u, wrt="parameters", parameters=values)
    for k, name in enumerate(system.parameters):
        h = 1e-4 * abs(values[name])  # forces go with depth, 2e-3 m, to some power
        h *= (
            0.02
            if name
            in (
                "px",
                "py",
                "pz",
                "height",
                "r",
                "rx",
                "ry",
                "rz",
                "l",
                "lx",
                "ly",
                "lz",
                "turn",
                "tilt",
                "nx",
                "ny",
                "nz",
                "tube",
            )
            else 1.0
        )
        at = lambda n, name=name, h=h: f({name: values[name] + n * h}).ravel()
        slope = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
        # 1e-16 of the force over h, and h^4: both below 1e-6 of the slope's own scale, force over value
        np.testing.assert_allclose(
            J[..., k], slope, rtol=1e-6, atol=1e-6 * scale / abs(values[name]), err_msg=name
        )
        assert abs(J[..., k]).max() > 0 or name in IDLE, name


def test_corners_of_a_box(monkeypatch):
    """On a half-space its sizes, its frame and the radius of its edges are numbers of eight spheres."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    values: dict[str, float] = {}

    def later(name: str, value: float) -> Any:
        values[name] = value
        return cd.Parameter(name, 0.99 * value)

    def made(of: Number) -> cd.System:
        sizes = of("lx", 0.1), of("ly", 0.08), of("lz", 0.06)
        return two(plane(of), C.Box("b", frame(of), sizes, HARD, edge=of("edge", 0.01)))

    system, plain = made(later), made(lambda name, value: value)
    q, u = touching(two(plane(lambda name, value: value), C.Sphere("b", (0, 0, 0), 0.1, HARD)), 12, 0.1)
    expected = plain.contacts.wrenches(q, u)
    assert np.count_nonzero(abs(expected).max(axis=(1, 2))) > 1
    np.testing.assert_allclose(
        system.contacts.wrenches(q, u, parameters=values),
        expected,
        rtol=1e-9,
        atol=1e-9 * abs(expected).max(),
    )  # depths are differences


def test_opensims_smooth_law(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    numbers = {
        "height": 0.05,
        "radius": 0.1,
        "stiffness": 1e6,
        "dissipation": 0.5,
        "static_friction": 0.8,
        "dynamic_friction": 0.6,
        "viscous_friction": 0.1,
        "transition_velocity": 0.3,
        "constant_contact_force": 1e-5,
        "hertz_smoothing": 300.0,
        "hunt_crossley_smoothing": 50.0,
    }
    system, plain = two(), two()
    law = lambda given: C.SmoothSphereHalfSpace(
        a="a", normal=(0.2, 1, 0), b="b", center=(0.01, 0, 0), **given
    )
    system.add_force("touch", law({name: cd.Parameter(name, 0.99 * x) for name, x in numbers.items()}))
    plain.add_force("touch", law(numbers))
    q, u = touching(plain, 12)
    expected = plain.contacts.wrenches(q, u).ravel()
    f = lambda changed: system.contacts.wrenches(q, u, parameters=numbers | changed).ravel()
    np.testing.assert_allclose(f({}), expected, rtol=1e-9, atol=1e-9 * abs(expected).max())
    J = system.jacobian("contacts.wrenches", q, u, wrt="parameters", parameters=numbers)
    for k, name in enumerate(system.parameters):
        h = 1e-5 * numbers[name]
        slope = (f({name: numbers[name] + h}) - f({name: numbers[name] - h})) / (2 * h)
        # h^2, and depths of 2e-3 m that are differences of 0.1 m
        np.testing.assert_allclose(
            J[:, k], slope, rtol=1e-5, atol=1e-6 * abs(expected).max() / numbers[name], err_msg=name
        )


def test_rigid_surfaces(monkeypatch):
    """Friction -mu m g, with slope -m g; a drop from rest comes back with e of its speed."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    P = cd.Parameter
    stone = C.Rigid(restitution=P("e", 0.2), friction=P("mu", 0.3))
    system = cd.System()
    system.add_body("stone", mobilizer=cd.Translation(), mass=2.0)
    system.add_contact(
        "floor",
        C.HalfSpace("ground", (0, 1, 0), P("height", 0.0), stone),
        C.Sphere("stone", (0, P("above", 0.0), 0), P("r", 0.1), stone),
    )
    values = {"e": 0.0, "mu": 0.5, "height": 0.3, "above": 0.05, "r": 0.2}
    slides = system.state(q={"stone_ty": 0.45}, u={"stone_tx": 1.0}, parameters=values)
    end = cd.simulate(system, slides, 1e-3)[-1]
    np.testing.assert_allclose(end.contacts.forces()[0], [-0.5 * 2 * 9.81, 2 * 9.81, 0], rtol=1e-9, atol=1e-9)
    J = system.jacobian(
        "contacts.forces", end.q, end.u, wrt="parameters", parameters=values, discrete=end.discrete
    )
    np.testing.assert_allclose(
        J[:, list(system.parameters).index("mu")], [-2 * 9.81, 0, 0], rtol=1e-9, atol=1e-9
    )
    falls = slides.replace(q={"stone_ty": 0.5}, u={"stone_tx": 0.0}, parameters=values | {"e": 0.7})
    hit = np.sqrt(2 * 0.05 / 9.81)
    back = cd.simulate(system, falls, hit + 0.01, accuracy=1e-8)
    speed = 0.7 * 9.81 * hit - 9.81 * 0.01
    assert back.u[-1, 1] == pytest.approx(speed, rel=1e-6)  # the instant is found to the accuracy


GROUND = "the grid is a constant table; position and slope of the ground may be Parameters of the frame X"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: C.HeightField("a", None, X_GRID, Y_GRID, p * HILLS, HARD), f"heights: .* {GROUND}"),
        (lambda p: C.HeightField("a", None, p * X_GRID, Y_GRID, HILLS, HARD), f"HeightField: x: .* {GROUND}"),
        (
            lambda p: C.Mesh("a", None, (p * box(0.1)[0], box(0.1)[1]), 0.02, HARD),
            "vertices: .* a constant table; the frame X, the thickness and the material may be Parameters",
        ),
        (
            lambda p: C.vertices("a", p * box(0.1)[0], C.Rigid()),
            r"depends on their values; give each as cd\.contact\.Point\(body, station, material\)",
        ),
        (lambda p: two(ball(), C.Sphere("b", (0, 0, 0), 0.1, HARD), smooth=p), "cannot change from state"),
        (
            lambda p: C.Implicit("a", None, lambda x, y, z: x**2 + y**2 + z**2 - p, 2.0, HARD),
            "the function uses Parameters",
        ),
        (lambda p: C.Rigid(law=p), "unknown law of Rigid"),
        (lambda p: C.Sphere(p, (0, 0, 0), 0.1, HARD), "body"),
        (lambda p: C.Ellipsoid("a", None, p, HARD), "expected three finite numbers or cd.Parameters"),
        (lambda p: C.Material.elastic(-p, 0.3), r"young: expected one finite number or cd\.Parameter \[Pa\]"),
    ],
)
def test_what_may_not_be_one_says_why(make, says):
    with pytest.raises(
        (cd.errors.DescriptionError, cd.errors.UnknownNameError, cd.errors.TraceError), match=says
    ):
        make(cd.Parameter("p", 1.0))
