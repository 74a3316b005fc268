"""Contacts, constraints and implicit surfaces in scenes: where they are drawn is where they are."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import condyle as cd
from condyle.shapes.meshes import zero_surface
from condyle.viewer.drawing import figure_of
from condyle.viewer.page import ViewOptions, _head
from condyle.viewer.shown import scene_of
from condyle.viewer.stream import StateStream

C = cd.contact
SKIN = C.Material(4e5, dissipation=1.0, static_friction=0.9, dynamic_friction=0.7)


def on_a_plane(surface: Any, q: dict[str, float], normal: Any = (0, 1, 0)) -> cd.State:
    """A free body with a surface, above or in a plane of ground."""
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    system.add_contact("touch", C.HalfSpace("ground", normal, 0.02, SKIN), surface)
    return system.state(q=q)


def test_a_sphere_on_a_plane() -> None:
    state = on_a_plane(C.Sphere("ball", (0, 0, 0), 0.1, SKIN), {"ball_ty": 0.11})
    drawn = scene_of(state).layers[0]
    (patch,), (arrow,) = drawn.patches, drawn.arrows
    # Hertz: a^2 = R x
    assert np.linalg.norm(patch.axes[0], axis=1) == pytest.approx(np.full(2, np.sqrt(0.1 * 0.01)), rel=1e-9)
    assert patch.axes[0][:, 1] == pytest.approx([0, 0], abs=1e-12)
    assert patch.points[0] == pytest.approx(state.contacts.points()[0])
    assert arrow.kind == "pushes" and arrow.vectors[0] == pytest.approx(state.contacts.forces()[0])
    assert drawn.columns["touch.depth"][0] == pytest.approx(0.01)
    assert scene_of(state).floor == pytest.approx(0.02)  # the grid is the floor
    assert [p.name for p in drawn.parts if p.kind == "contacts"] == ["touch: ball"]


def test_cameras_see_the_tips_of_arrows() -> None:
    """Where the camera follows a motion that goes far, arrows are as long as what it sees is large, not as
    the way."""
    start = on_a_plane(C.Sphere("ball", (0, 0, 0), 0.1, SKIN), {"ball_ty": 0.1195})
    scene = scene_of(cd.simulate(start.system, start.replace(u={"ball_vx": 9.0}), 1.0))
    head, (arrow,) = _head(scene), scene.layers[0].arrows
    tips = arrow.points[:, 1] + scene.arrow_scale * arrow.vectors[:, 1]
    assert scene.outermost[:, 1].max() == pytest.approx(tips.max(), rel=0.05)  # of sampled frames
    assert tips.max() > 2 * scene.high[1]
    assert head["follow"] and head["near"] < 0.3 * scene.size
    assert head["arrow_scale"] == pytest.approx(scene.arrow_scale * head["near"] / scene.size)


def test_surfaces_that_only_the_method_of_a_run_knows() -> None:
    """They are drawn as those of a system are, the level one as the grid; a box as a box."""
    stone = C.Rigid(friction=0.5)
    system = cd.System()
    for name in ("ball", "box"):
        system.add_body(name, mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    floor, ramp = (C.HalfSpace("ground", normal, 0.02, stone) for normal in ((0, 1, 0), (1, 1, 0)))
    ball, box = C.Sphere("ball", (0, 0, 0), 0.1, stone), C.Box("box", None, (0.2, 0.05, 0.1), stone)
    start = system.state(q={"ball_tx": 0.5, "ball_ty": 0.3, "box_tx": 0.5, "box_ty": 0.1})
    method = cd.integrators.TimeStepping([floor, ramp, ball, box])
    scene = scene_of(cd.simulate(system, start, 5e-3, step=1e-3, integrator=method))
    drawn = {p.name: p for p in scene.layers[0].parts if p.kind == "contacts"}
    assert scene.floor == pytest.approx(0.02) and set(drawn) == {"ground", "ball", "box"}
    assert drawn["ground"].wide and drawn["ball"].shape == cd.shapes.Sphere(0.1)
    assert drawn["box"].shape == cd.shapes.Box((0.2, 0.05, 0.1))
    assert [drawn[name].body for name in ("ground", "ball", "box")] == [0, 1, 2]


@pytest.mark.parametrize("material", [SKIN, C.Rigid()])
def test_a_box_on_its_corners_is_a_box(material: Any) -> None:
    system = cd.System()
    system.add_body("box", mobilizer=cd.Planar(), mass=1.0, inertia=(0.004,) * 3)
    system.add_contact(
        "stand",
        C.HalfSpace("ground", (0, 1, 0), 0.0, material),
        C.Box("box", None, (0.2, 0.05, 0.1), material),
    )
    for one in (system, pickle.loads(pickle.dumps(system))):
        (part,) = (p for p in scene_of(one.state(q={"box_ty": 0.06})).layers[0].parts if p.kind == "contacts")
        assert part.shape == cd.shapes.Box((0.2, 0.05, 0.1)) and part.name == "stand: box"


def test_the_arrow_is_the_force_on_what_moves() -> None:
    """Ground as the second surface: the arrow is turned over."""
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    system.add_contact(
        "touch", C.Sphere("ball", (0, 0, 0), 0.1, SKIN), C.Sphere("ground", (0, 0, 0), 0.1, SKIN)
    )
    drawn = scene_of(system.state(q={"ball_ty": 0.19})).layers[0]
    assert drawn.arrows[0].vectors[0][1] > 0


def test_a_patch_is_long_where_the_gap_opens_least() -> None:
    """An ellipsoid that lies turned by 30 degrees: the patch turns with it, a/b as `contact_patches` says."""
    turn = np.pi / 6
    R = np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])
    state = on_a_plane(C.Ellipsoid("ball", cd.Transform(R), (0.2, 0.05, 0.1), SKIN), {"ball_ty": 0.065})
    patch = scene_of(state).layers[0].patches[0]
    major, minor = patch.axes[0]
    assert np.linalg.norm(major) > 1.5 * np.linalg.norm(minor)
    assert abs(major @ R[:, 0]) == pytest.approx(np.linalg.norm(major), rel=1e-9)
    assert np.linalg.norm(patch.axes[0], axis=1) == pytest.approx(state.contacts.patches()[0])


@pytest.mark.parametrize(
    "surface",
    [
        C.Ellipsoid("ball", None, (0.2, 0.05, 0.1), SKIN),
        C.Torus("ball", None, 0.1, 0.02, SKIN),
        C.Cylinder("ball", None, 0.1, 0.3, SKIN),
    ],
    ids=lambda s: type(s).__name__,
)
def test_curvatures_against_the_surface(surface: Any) -> None:
    """The normal turns by dn = K dp along the surface."""
    n = np.array([[0.6, 0.64, 0.48]])
    n /= np.linalg.norm(n)
    if isinstance(surface, C.Cylinder):
        n = np.array([[0.6, 0.8, 0.0]])
    point = {
        C.Ellipsoid: lambda n: (
            np.array([0.2, 0.05, 0.1]) ** 2
            * n
            / np.sqrt((np.array([0.2, 0.05, 0.1]) ** 2 * n**2).sum(1, keepdims=True))
        ),
        C.Torus: lambda n: 0.02 * n + 0.1 * n * [1, 1, 0] / np.linalg.norm(n[:, :2], axis=1)[:, None],
        C.Cylinder: lambda n: 0.1 * n,
    }[type(surface)]
    K = surface.curvature_at(n)
    assert K is not None
    for d in np.eye(3)[: 2 if isinstance(surface, C.Cylinder) else 3]:
        h = 1e-5
        n2, n1 = (v / np.linalg.norm(v) for v in (n + h * d, n - h * d))
        dn, dp = (n2 - n1)[0] / (2 * h), (point(n2) - point(n1))[0] / (2 * h)
        assert K[0] @ dp == pytest.approx(dn, abs=1e-8)  # 1e-8: differences of steps of 1e-5


def test_frames_of_a_run_and_of_a_live_page() -> None:
    state = on_a_plane(C.Sphere("ball", (0, 0, 0), 0.1, SKIN), {"ball_ty": 0.3})
    run = cd.simulate(state.system, state, 0.5)
    drawn = scene_of(run).layers[0]
    touches = drawn.columns["touch.force"] > 0
    assert touches.any() and not touches.all()
    assert (drawn.patches[0].axes[~touches] == 0).all() and (drawn.patches[0].axes[touches] != 0).any()
    stream = StateStream(state)
    empty = stream.drawn
    numbers = 1 + 7 * 2 + len(empty.columns.names) + 6 + 9  # t, poses, columns, an arrow, a patch
    assert len(stream.message(state)) == 4 * numbers


def test_implicit_surfaces_are_triangles() -> None:
    """A ball and an endless cylinder, cut at the reach; 2 %: flat triangles lie inside."""
    ball = zero_surface(lambda p: (p**2).sum(axis=1) - 0.05**2, 1.0)
    assert ball is not None
    vertices, triangles = ball.surface()
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    volume = np.einsum("ni,ni->", a, np.cross(b, c)) / 6
    assert volume == pytest.approx(4 / 3 * np.pi * 0.05**3, rel=0.02)
    tube = zero_surface(lambda p: p[:, 0] ** 2 + p[:, 1] ** 2 - 0.2**2, 1.0)
    assert tube is not None and np.ptp(tube.surface()[0][:, 2]) == pytest.approx(2.0)
    assert zero_surface(lambda p: np.ones(len(p)), 1.0) is None
    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    egg = cd.paths.Wrap(cd.paths.ImplicitSurface(lambda x, y, z: x**2 + y**2 + z**2 - 0.01), "a")
    path = cd.paths.Path([("ground", (-0.2, 0.09, 0)), ("a", (0.2, 0.09, 0.0))], wraps=[egg])
    system.add_force("band", cd.forces.PathSpring(path, 10.0, 0.3, 0.0))
    shown = [p for p in scene_of(system).layers[0].parts if p.kind == "surfaces"]
    assert len(shown) == 1 and len(shown[0].shape.surface()[1]) > 500


def test_constraints_have_shapes() -> None:
    K = cd.constraints
    system = cd.System()
    for name in "ab":
        system.add_body(name, mobilizer=cd.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    system.add_constraint("ball", K.Ball("a", (0, 0.2, 0), "b", (0.1, 0, 0)))
    system.add_constraint("plane", K.PointInPlane("ground", (0, 2, 0), 0.1, "b", (0, -0.3, 0)))
    system.add_constraint("line", K.PointOnLine("a", (0, 0, 0), (1, 1, 0), "b", (0, -0.3, 0)))
    system.add_constraint("weld", K.Weld("a", cd.Transform(p=(0.1, 0, 0)), "b", cd.Transform()))
    system.add_constraint("roll", K.SphereOnPlaneContact("ground", (0, 1, 0), 0, "b", (0, 0, 0), 0.1))
    system.add_constraint("angle", K.ConstantAngle("a", (1, 0, 0), "b", (0, 1, 0)))
    made: dict[str, list[str]] = {}
    for name in system.constraints:
        for drawing in system.constraint(name).drawn(1.0):
            made.setdefault(name, []).append(type(getattr(drawing, "shape", drawing)).__name__)
    assert made == {
        "ball": ["Sphere", "Sphere", "Link"],
        "plane": ["Sphere", "Box"],
        "line": ["Sphere", "Sphere", "Line", "Link"],
        "weld": ["Frame", "Sphere", "Frame", "Sphere"],
        "roll": ["Box", "Sphere"],
    }
    dot, plate = system.constraint("plane").drawn(1.0)
    assert plate.X.p == pytest.approx([0, 0.1, 0]) and plate.X.R[:, 2] == pytest.approx([0, 1, 0])
    assert (dot.body, plate.body) == ("b", "ground")


def brick() -> cd.State:
    """A brick of twelve triangles that stands in a soft floor."""
    x, y, z = (g.ravel() for g in np.meshgrid(*[(-1.0, 1.0)] * 3, indexing="ij"))
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
    system = cd.System()
    system.add_body("brick", mobilizer=cd.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    mesh = C.Mesh("brick", (0.0, 0.01, 0.0), (np.stack([x, y, z], axis=1) * 0.05, faces), 0.01, SKIN)
    system.add_contact("stand", C.HalfSpace("ground", (0, 1, 0), 0.0, SKIN), mesh)
    return system.state(q={"brick_ty": 0.038})  # 2 mm deep: -0.05 + 0.01 + 0.038


def test_pressure_on_a_mesh() -> None:
    """Of twelve triangles two touch, and pressure times area is the force."""
    state = brick()
    s = scene_of(state)
    (found,) = s.layers[0].pressures
    assert found.name == "stand: brick" and found.body == 1 and found.values.shape == (1, 2)
    own = found.corners  # on the body: the lower side of the mesh
    assert own[..., 1] == pytest.approx(np.full((2, 3), -0.04))
    areas = np.linalg.norm(np.cross(own[:, 1] - own[:, 0], own[:, 2] - own[:, 0]), axis=1) / 2
    assert found.values[0] @ areas == pytest.approx(state.contacts.forces()[0, 1], rel=1e-9)
    assert s.pressure == found.values.max() and not s.layers[0].patches
    assert s.layers[0].columns["stand: brick.pressure"][0] == pytest.approx(s.pressure)
    assert s.size > 0.05  # the mesh is within the picture
    StateStream(state).message(state)  # a live page has none


def test_arrows_of_rigid_contacts() -> None:
    """A ball that lies on a rigid floor: the arrow holds its weight."""
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=2.0, inertia=(0.01, 0.01, 0.01))
    hard = C.Rigid()
    system.add_contact(
        "lie", C.HalfSpace("ground", (0, 1, 0), 0.0, hard), C.Sphere("ball", (0, 0, 0), 0.1, hard)
    )
    run = cd.simulate(system, system.state(q={"ball_ty": 0.1}), 0.1)
    drawn = scene_of(run).layers[0]
    weight = 2.0 * 9.80665  # the default gravity
    assert drawn.arrows[0].vectors[-1] == pytest.approx([0, weight, 0], rel=1e-3, abs=1e-6)
    assert drawn.arrows[0].points[-1] == pytest.approx([0, 0, 0], abs=1e-6)


def test_a_bob_hangs_at_the_end_of_its_stick() -> None:
    """A point mass ends its stick, a uniform rod has its mass center amid it."""
    for inertia, length in (((1e-5,) * 3, 0.5), ((1 / 12, 1e-3, 1 / 12), 1.0)):
        system = cd.System()
        system.add_body("b", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), mass=1.0, inertia=inertia)
        stick = next(
            p
            for p in scene_of(system).layers[0].parts
            if p.kind == "bodies" and isinstance(p.shape, cd.shapes.Capsule)
        )
        assert 2 * stick.shape.half_length == pytest.approx(length)


def test_pictures_show_the_surfaces_of_ground() -> None:
    """Nothing else stands for a stair or a hill: a ball would rest on air."""
    wood = cd.contact.Material(1e6)
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    stair = cd.contact.Box("ground", (0.5, -0.2, 0), (0.2, 0.2, 0.2), wood)
    system.add_contact("stair", stair, cd.contact.Sphere("ball", (0, 0, 0), 0.1, wood))
    scene = scene_of(system.state(q={"ball_ty": 0.1}))
    with_it = len(figure_of(scene, look=ViewOptions("top")).axes[0].collections[1].get_paths())
    scene.layers[0].parts = [p for p in scene.layers[0].parts if "stair: ground" not in p.name]
    without = len(figure_of(scene, look=ViewOptions("top")).axes[0].collections[1].get_paths())
    assert with_it - without == 4  # two of the upper face, two of a side
