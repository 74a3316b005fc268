"""What is read, written, read and written again is one file, byte for byte, and one system."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.opensim.writing import angles
from condyle.spatial import rotation_from_euler
from tests.opensim.files import model, reference
from tests.opensim.written import constrained, contacts, forces, joints, muscles

ROUNDING = 2e-15
"""Angles are written to 15 decimals; a rotation is a product of three."""


def read(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what is not read has no part in this
        return cd.read_osim(path)


def twice(system, folder):
    """Two files, each written of a system, the second of what the first is read as; and that system."""
    paths = [folder / name / "model.osim" for name in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of shapes that OpenSim does not draw
            cd.write_osim(system, path)
        system = read(path)
    return *(path.read_text() for path in paths), system


def numbers(system):
    """Frames, masses, coordinates, and all that forces and constraints hold."""
    out = {}
    for b in system.bodies:
        m = b.mass_properties
        out[b.name] = np.hstack(
            [
                m.mass,
                m.com,
                m.inertia.ravel(),
                *(x.ravel() for x in (*b.X_PF, *b.X_BM)),
                *(c.default or 0.0 for c in b.coordinates),
            ]
        )
    for name in system.muscles:
        law = system.force(name)
        points = [p.p for p in law.path.points if not isinstance(p, cd.paths.MovingPoint)]
        ranges = [p.range for p in law.path.points if isinstance(p, cd.paths.ConditionalPoint)]
        out[name] = np.hstack(
            [
                law.optimal_fiber_length,
                law.tendon_slack_length,
                *points,
                *ranges,
                *(x.ravel() for w in law.path.wraps for x in w.X_BS),
            ]
        )
    out |= {name: np.array(system.marker(name).station) for name in system.markers}
    return out


def check_again(system, folder):
    first, second, last = twice(system, folder)
    assert first == second
    assert last.coordinates == system.coordinates and last.forces == system.forces
    assert [b.name for b in last.bodies] == [b.name for b in system.bodies]
    before, after = numbers(system), numbers(last)
    assert before.keys() == after.keys()
    for name, x in before.items():
        np.testing.assert_allclose(after[name], x, rtol=ROUNDING, atol=ROUNDING, err_msg=name)


BODIES = ("far", "near", "middle")
"""In the order of the file, which is not that of the tree."""
SMALL = model(
    """
<Ground name="ground"><attached_geometry><Mesh name="rib"><mesh_file>ribs/rib.vtp</mesh_file></Mesh>
  <Mesh name="lost"><mesh_file>lost.vtp</mesh_file></Mesh></attached_geometry></Ground>
<BodySet name="bodyset"><objects>"""
    + "".join(f'<Body name="{b}"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body>' for b in BODIES)
    + "</objects></BodySet><JointSet name='jointset'><objects>"
    + "".join(
        f"""<CustomJoint name="to_{child}">
  <socket_parent_frame>a</socket_parent_frame><socket_child_frame>b</socket_child_frame>
  <coordinates><Coordinate name="q_{child}"/></coordinates>
  <frames><PhysicalOffsetFrame name="a"><socket_parent>/{parent}</socket_parent>
    <translation>0 .1 0</translation><orientation>{turn}</orientation></PhysicalOffsetFrame>
    <PhysicalOffsetFrame name="b"><socket_parent>/bodyset/{child}</socket_parent></PhysicalOffsetFrame>
  </frames>
  <SpatialTransform><TransformAxis name="rotation1"><coordinates>q_{child}</coordinates>
    <axis>-0.05889802 0.0023 0.99826136</axis><LinearFunction name="function"><coefficients>1 0</coefficients>
    </LinearFunction></TransformAxis></SpatialTransform></CustomJoint>"""
        for child, parent, turn in (
            ("middle", "bodyset/near", "2.96723 0.0279725 -1.47812"),
            ("far", "bodyset/middle", "0.175895 -0.105208 0.0186622"),
            ("near", "ground", "0.3 1.5707963267948966 0.2"),
        )
    )
    + """</objects></JointSet><ForceSet name="forceset"><objects><Thelen2003Muscle name="m">
  <optimal_fiber_length>0.12</optimal_fiber_length><default_fiber_length>0.12</default_fiber_length>
  <GeometryPath name="path"><PathPointSet><objects>
  <PathPoint name="p"><socket_parent_frame>/ground</socket_parent_frame><location>.1 0 0</location>
  </PathPoint>
  <ConditionalPathPoint name="c"><socket_parent_frame>/bodyset/near</socket_parent_frame>
    <location>.1 .2 0</location><socket_coordinate>/jointset/to_near/q_near</socket_coordinate>
    <range>-0.78539816 0.3</range></ConditionalPathPoint>
  <PathPoint name="e"><socket_parent_frame>/bodyset/far</socket_parent_frame><location>.1 0 0</location>
  </PathPoint>
  </objects></PathPointSet></GeometryPath></Thelen2003Muscle></objects></ForceSet>"""
)


@pytest.fixture
def small(tmp_path):
    folder = tmp_path / "original"
    (folder / "Geometry" / "ribs").mkdir(parents=True)
    (folder / "Geometry" / "ribs" / "rib.vtp").write_text("")
    (folder / "small.osim").write_text(SMALL)
    return folder / "small.osim"


def test_a_small_model(small, tmp_path):
    """Frames in any orientation, an axis, a conditional point, meshes; sets in the order of the file."""
    system = read(small)
    check_again(system, tmp_path)
    text = (tmp_path / "two" / "model.osim").read_text()
    assert tuple(re.findall('<Body name="(.*?)"', text)) == BODIES
    assert re.findall('Joint name="(.*?)"', text) == ["to_middle", "to_far", "to_near"]
    assert [b.name for b in system.bodies] == ["near", "middle", "far"]
    ranges = [s.force("m").path.points[1].range for s in (system, read(tmp_path / "two" / "model.osim"))]
    assert ranges[0] == ranges[1] and "<range>-0.78539816 0.3</range>" in text
    assert "<orientation>2.96723 0.0279725 -1.47812</orientation>" in text


def test_meshes_are_found_again(small, tmp_path):
    """Beneath the model by their names, elsewhere by the way there, and by name where there is no file."""
    (tmp_path / "one").mkdir()
    cd.write_osim(read(small), tmp_path / "one" / "m.osim")
    cd.write_osim(read(small), small.parent / "m.osim")
    for path, names in (
        (tmp_path / "one" / "m.osim", ["../original/Geometry/ribs/rib.vtp", "lost.vtp"]),
        (small.parent / "m.osim", ["ribs/rib.vtp", "lost.vtp"]),
    ):
        assert re.findall("<mesh_file>(.*?)</mesh_file>", path.read_text()) == names
        shapes = [g.shape.path for g in read(path).geometry]
        assert Path(shapes[0]).samefile(small.parent / "Geometry" / "ribs" / "rib.vtp")
    (tmp_path / "abs.osim").write_text(SMALL.replace("lost.vtp", "/elsewhere/lost.vtp"))
    note = next(n for n in read(tmp_path / "abs.osim").notes if "lost" in str(n))
    assert "outside of the model's folder" in str(note)


def test_scaled_models_keep_the_order_and_where_fibers_begin(small, tmp_path):
    """OpenSim scales optimal_fiber_length and leaves default_fiber_length: Muscle::extendPostScale, and
    test_scale.py against OpenSim."""
    scaled = cd.scale(read(small), factors=dict.fromkeys(BODIES, 1.2)).system
    muscle = scaled.force("m")
    assert muscle.optimal_fiber_length > 0.12 and muscle.default_fiber_length == 0.12
    check_again(scaled, tmp_path)
    text = (tmp_path / "one" / "model.osim").read_text()
    assert tuple(re.findall('<Body name="(.*?)"', text)) == BODIES


@pytest.mark.filterwarnings("ignore:TimeSeries")
@pytest.mark.parametrize("make", [joints, forces, contacts, muscles, constrained])
def test_models_made_in_python(make, tmp_path):
    first, second, _ = twice(make(), tmp_path)
    assert first == second


@pytest.mark.parametrize("name", ["arm26", "leg6dof9musc"])
def test_ready_models(name, tmp_path):
    first, second, _ = twice(getattr(cd.models, name)(), tmp_path)
    assert first == second


def test_gait2354(tmp_path):
    check_again(read(reference("opensim/Gait2354_Simbody/gait2354_simbody.osim")), tmp_path)


@pytest.mark.slow
def test_all_reference_models(tmp_path):
    paths = sorted(reference("opensim/Arm26/arm26.osim").parents[2].rglob("*.osim"))
    assert len(paths) >= 36
    for k, path in enumerate(paths):
        (tmp_path / str(k)).mkdir()
        check_again(read(path), tmp_path / str(k))


def test_angles_settle():
    """Angles of a rotation, of what they are read as, and so on are the same, near gimbal lock too."""
    rng = np.random.default_rng(0)
    for lock in (1.0, 1e-3, 1e-6, 1e-9, 0.0):
        for _ in range(20):
            a = rng.uniform(-3, 3, 3)
            a[1] = np.sign(a[1]) * (np.pi / 2 - lock)
            R = rotation_from_euler(a)
            written = angles(R)
            assert np.abs(rotation_from_euler(written) - R).max() < ROUNDING
            assert np.array_equal(angles(rotation_from_euler(written)), written)
