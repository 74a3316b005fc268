"""cd.show: what it takes, what it refuses by name, and what is in the file."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.trajectory import Trajectory
from condyle.viewer import Arrows, page, shown
from condyle.viewer.bodies import parts
from condyle.viewer.layer import layers


def test_the_bundle_is_that_of_its_sources() -> None:
    """After a change of the client: sh src/condyle/viewer/client/build.sh."""
    first = (page.CLIENT / "bundle.js").read_text(encoding="utf-8").partition("\n")[0]
    assert first == f"/* condyle client {page.digest()} */"
    assert "MIT" in (page.CLIENT / "LICENSE.three").read_text(encoding="utf-8")
    assert "SPDX-License-Identifier: MIT" in (page.CLIENT / "bundle.js").read_text(encoding="utf-8")


def test_everything_can_be_shown(arm: cd.System, bending: cd.Table, swing: Trajectory) -> None:
    motion = cd.Motion.of(arm, bending)
    for what in (arm, arm.state(), motion, swing, swing[3:9], swing[0]):
        text = cd.show(what, open=False).html
        assert text.startswith("<!doctype html>") and "default-src 'none'" in text
    assert "51 frames" in repr(cd.show(arm, motion=bending, open=False))
    system = swing.system
    members = [system.state(q={"upper": x}) for x in np.linspace(0, 1, 15)]
    ens = cd.simulate(system, members, t_final=0.3, keep="steps")
    shown_ = cd.show(ens, open=False)
    assert len(shown_.scene.layers) == 12 and "12 of 15 members" in shown_.scene.layers[0].notes[0]


def test_a_file_appears(tmp_path: Path, swing: Trajectory) -> None:
    path = tmp_path / "swing.html"
    result = cd.show(swing, path, title="<a swing>")
    assert result.path == path and path.read_text(encoding="utf-8") == result.html
    assert "<title>&lt;a swing&gt;</title>" in result.html
    assert [p.name for p in tmp_path.iterdir()] == ["swing.html"]


def test_no_browser_is_opened_by_tests(monkeypatch: pytest.MonkeyPatch, swing: Trajectory) -> None:
    asked: list[str] = []
    monkeypatch.setattr(shown.webbrowser, "open", asked.append)
    monkeypatch.setenv("DISPLAY", ":0")
    assert cd.show(swing).path is None and not asked
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    assert shown.has_screen()
    written = cd.show(swing).path
    assert written is not None and asked == [written.as_uri()]
    written.unlink()
    written.parent.rmdir()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda s, t: cd.show(t), cd.errors.DescriptionError, r"cd.show\(system, motion=table\)"),
        (lambda s, t: cd.show("walk.mot"), cd.errors.DescriptionError, "read the file first"),
        (lambda s, t: cd.show(3), cd.errors.DescriptionError, "got int"),
        (lambda s, t: cd.show(s, "a.png", motion=t), cd.errors.DescriptionError, "ends in .html"),
        (lambda s, t: cd.show(s.state(), motion=t), cd.errors.DescriptionError, "goes with a System"),
        (
            lambda s, t: cd.show(s, motion=t, color="redness"),
            cd.errors.UnknownNameError,
            "color muscles by 'redness'",
        ),
        (
            lambda s, t: cd.show(s, motion=t, color=t),
            cd.errors.DescriptionError,
            "no column .* name of a muscle",
        ),
        (lambda s, t: cd.show(s, motion=t, markers=t), cd.errors.DescriptionError, "cd.read_markers"),
        (
            lambda s, t: cd.show(s, motion=t, arrows=[3]),
            cd.errors.DescriptionError,
            "Arrows of condyle.viewer or a cd.ExternalLoad",
        ),
        (lambda s, t: cd.show(s, motion=t, plots=[3]), cd.errors.DescriptionError, "expected Tables"),
        (
            lambda s, t: cd.show(s, motion=t, plot=["knee"], open=False).html,
            cd.errors.UnknownNameError,
            "'knee'",
        ),
        (lambda s, t: cd.show(s, motion=t, frames=0), cd.errors.DescriptionError, "whole number above zero"),
        (lambda s, t: cd.show(s, motion=t, muscles=None), cd.errors.ArgumentError, "it is color="),
        (lambda s, t: cd.show(s, motion=t, compare=t, offset=(1, 2)), cd.errors.ShapeError, "three numbers"),
        (lambda s, t: Arrows("push", [0, 1], [(0, 0, 0)], [(0, 0, 0)]), cd.errors.ShapeError, "push"),
    ],
)
def test_mistakes_are_told(
    call: Any, error: type[Exception], words: str, arm: cd.System, bending: cd.Table
) -> None:
    with pytest.raises(error, match=words):
        call(arm, bending)


def test_what_is_of_another_time_is_warned_of(arm: cd.System, bending: cd.Table) -> None:
    t = bending.time + 50
    other = cd.Table(t, arm.muscles, np.zeros((len(t), len(arm.muscles))))
    push = Arrows("push", t, np.zeros((len(t), 3)), np.ones((len(t), 3)))
    for name, beside in (("color", other), ("plots", other), ("arrows", push)):
        with pytest.warns(UserWarning, match=f"show: {name}: .* from 50 to .*: none is shown"):
            cd.show(arm, motion=bending, open=False, **{name: beside})  # type: ignore[arg-type]


def test_colors_and_plots_from_pandas(arm: cd.System, bending: cd.Table) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"time": bending.time, "BIClong": bending.time / 2})
    scene = cd.show(arm, motion=bending, color=frame, plots=frame, open=False).scene
    assert scene.paint[0] == "activation" and "BIClong" in scene.layers[0].columns.names


def test_bad_frames_are_said(arm: cd.System, bending: cd.Table) -> None:
    values = bending.values.copy()
    values[20:23, 0] = np.nan
    table = cd.Table(bending.time, bending.names, values, bending.units)
    notes = cd.show(arm, motion=table, open=False).scene.layers[0].notes
    assert any("3 of 51 frames cannot be drawn, the first at t = 0.4 s" in note for note in notes)
    values[:] = np.nan
    with pytest.raises(cd.errors.DescriptionError, match="no frame can be drawn"):
        cd.show(arm, motion=cd.Table(bending.time, bending.names, values, bending.units))


def test_few_frames_and_missing_coordinates(arm: cd.System, bending: cd.Table) -> None:
    (layer,) = layers(arm, bending[["r_elbow_flex"]][:2])
    assert len(layer.t) == 2 and any("r_shoulder_elev" in note for note in layer.notes)


def test_long_motions_are_thinned(arm: cd.System, bending: cd.Table, swing: Trajectory) -> None:
    (layer,) = layers(arm, bending, most=10)
    assert len(layer.t) <= 10 and "9 of 51 frames are shown" in layer.notes[0]
    (layer,) = layers(swing, most=50)
    assert len(layer.t) == 50 and "50 frames are shown" in layer.notes[0]


def test_a_notebook_gets_a_small_page(
    monkeypatch: pytest.MonkeyPatch, arm: cd.System, bending: cd.Table
) -> None:
    result = cd.show(arm, motion=bending, open=False)
    small = result.inline(most=len(result.html) - 500)
    assert "so that the page stays small" in small and 'sandbox="allow-scripts allow-downloads"' in small
    assert len(result._repr_html_()) < 2.5e6 and result._repr_html_().count("<") == 2
    monkeypatch.setattr(shown, "in_notebook", lambda: True)
    assert cd.show(arm, motion=bending).path is None


def test_runs_backward_in_time_are_shown_forward(swing: Trajectory) -> None:
    back = cd.simulate(swing.system, swing[-1], t_final=1.0)
    (layer,) = layers(back)
    assert (np.diff(layer.t) > 0).all() and "backward" in layer.notes[0]
    assert np.allclose(layer.batch.array("q")[-1], swing[-1].q)


def test_paths_are_in_frames_of_bodies(arm: cd.System, bending: cd.Table) -> None:
    """Back in ground they are what the operator says, at the ends and where they touch surfaces."""
    scene = cd.show(arm, motion=bending, open=False).scene
    d = scene.layers[0]
    expected = arm.path_points(bending.values)
    for line in d.lines:
        for frame in (0, 25, 50):
            got, all_points = d.points(line, frame), expected[line.name][frame]
            assert np.allclose(got[[0, -1]], all_points[[0, -1]], atol=1e-12)
            away = np.linalg.norm(got[:, None] - all_points[None], axis=2).min(axis=1)
            assert away.max() < 1e-12  # 9 of the 17 points of an arc are among them
    fixed = [n.points[:, k] for n in d.lines for k in range(len(n.bodies))]
    assert sum(np.ptp(x, axis=0).max() < 1e-12 for x in fixed) >= 12  # both ends of six muscles


def test_colors_come_from_a_table_or_the_state(arm: cd.System, bending: cd.Table, activity: cd.Table) -> None:
    d = cd.show(arm, motion=bending, color=activity, open=False).scene.layers[0]
    assert np.allclose(d.paint, activity.values)
    assert f"{arm.muscles[0]}.activation" in d.columns.names
    assert cd.show(arm, motion=bending, open=False).scene.layers[0].paint is None  # no activations known
    state = arm.state(z={name: 0.25 for name in arm.state_variables if name.endswith("activation")})
    d = cd.show(arm.equilibrate_muscles(state), open=False).scene.layers[0]
    assert np.allclose(d.paint, 0.25)
    forces = cd.show(arm.equilibrate_muscles(state), color="force", open=False).scene
    assert forces.paint[0] == "force" and forces.layers[0].paint.max() == pytest.approx(1.0)


def test_default_shapes() -> None:
    """A rod about one end: its stick goes from the joint through the mass center as far again; the ellipsoid
    has its inertia."""
    system = cd.System()
    system.add_body(
        "rod",
        mobilizer=cd.Pin(),
        X_BM=(0, 0.5, 0),
        mass=2.0,
        inertia=(2 / 5 * (0.04 + 0.09), 2 / 5 * (0.01 + 0.09), 2 / 5 * (0.01 + 0.04)),
    )
    shapes = {p.kind: p for p in parts(system)[0]}
    stick = shapes["bodies"]
    ends = [stick.X_BS @ (0, 0, z * stick.shape.half_length) for z in (-1, 1)]
    assert np.allclose(sorted(map(tuple, ends)), [(0, -0.5, 0), (0, 0.5, 0)])
    assert sorted(shapes["inertias"].shape.radii) == pytest.approx([0.1, 0.2, 0.3])
    system.add_geometry("rod", cd.shapes.Sphere(0.1))
    assert [type(p.shape).__name__ for p in parts(system)[0]] == ["Sphere", "Cylinder"]  # the joint's axis


def test_a_missing_mesh_is_a_note_and_a_box(swing: Trajectory) -> None:
    system = swing.system.copy()
    system.add_geometry("upper", cd.shapes.Mesh("no_such_bone.vtp"))
    text = cd.show(system, open=False).html
    assert "no_such_bone.vtp" in text and "sticks between their joints" in text


def test_large_meshes_are_made_coarser() -> None:
    vertices, triangles = cd.shapes.Sphere(0.1).surface()
    few, corners = page.coarser(vertices, triangles, 200)
    assert 20 < len(corners) <= 200 and np.linalg.norm(few, axis=1).max() <= 0.1 + 1e-12


def test_markers_and_arrows_at_the_times_of_the_motion(swing: Trajectory) -> None:
    t = np.linspace(0, 1, 21)
    tip = swing.station_position("lower", (0, -0.3, 0), t=t).values
    seen = SimpleNamespace(time=t, names=["tip", "hand"], positions=np.stack([tip, tip + 1], axis=1))
    push = Arrows("push", t, tip, np.tile([10.0, 0, 0], (21, 1)))
    d = cd.show(swing, markers=seen, arrows=push, open=False).scene.layers[0]
    i = int(np.argmin(np.abs(d.t - 0.5)))
    assert np.allclose(d.measured.positions[i, 0], tip[10], atol=0.06)  # the nearest frame, at 3 m/s
    assert np.isnan(d.measured.positions[d.t > 1.1]).all()  # nothing is seen after 1 s
    assert [link.name for link in d.links if link.kind == "springs"] == ["tie"]


def test_external_loads_are_arrows(arm: cd.System, bending: cd.Table) -> None:
    names = [f"{what}{axis}" for what in ("f", "p") for axis in "xyz"]
    values = np.tile([0, -5.0, 0, 0.1, 0.2, 0.3], (51, 1))
    load = cd.ExternalLoad("r_ulna_radius_hand", cd.Table(bending.time, names, values), force="f", point="p")
    (arrows,) = cd.show(arm, motion=bending, arrows=load, open=False).scene.layers[0].arrows
    assert np.allclose(arrows.at(bending.time), np.tile([0.1, 0.2, 0.3, 0, -5, 0], (51, 1)))


def test_up_is_against_gravity() -> None:
    system = cd.System(gravity=(0, 0, -9.81))
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(1, 1, 1))
    assert cd.show(system, open=False).scene.up.tolist() == [0, 0, 1]


def test_names_in_the_page_are_only_text(tmp_path: Path) -> None:
    system = cd.System()
    system.add_body("</script><img src=x>", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))
    text = cd.show(system, title="%SCRIPT% </title>", open=False).html
    assert "<img" not in text and len(re.findall("</title>", text)) == 1 and "%SCRIPT%" in text


def test_the_camera_follows_what_walks_away(swing: Trajectory) -> None:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    run = cd.simulate(system, system.state(u={"ball_vx": 5.0}), t_final=2.0)
    assert page._head(cd.show(run, open=False).scene)["follow"]
    assert not page._head(cd.show(swing, open=False).scene)["follow"]


def test_joints_with_a_shape_of_their_own() -> None:
    """Where a body may move is drawn on its parent: the body's origin lies on it."""
    phi = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    ring = np.stack([np.cos(phi), np.sin(phi), 0 * phi], axis=1)
    x = np.stack([-np.sin(phi), np.cos(phi), 0 * phi], axis=1)
    z = np.broadcast_to([0.0, 0, 1], x.shape)
    wire = cd.SplineCurve((np.stack([x, np.cross(z, x), z], axis=2), ring), closed=True)
    system = cd.System()
    system.add_body("bead", mobilizer=wire, X_PF=(0, 2, 0), mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
    system.add_body("egg", mobilizer=cd.Ellipsoid((0.1, 0.2, 0.3)), mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
    curve, egg = (p for p in shown.scene_of(system).layers[0].parts if p.name.endswith("'s way"))
    place = system.body_pose(system.defaults()[0], "bead").p
    points = np.asarray(curve.shape.points) + curve.X_BS.p
    assert np.linalg.norm(points - place, axis=1).min() < 0.02  # 240 points along 6.3 m
    assert type(egg.shape).__name__ == "Ellipsoid" and egg.opacity < 1


def test_columns_are_as_people_read_them(arm: cd.System, bending: cd.Table, activity: cd.Table) -> None:
    """Degrees; joints first; forces, loads and marker errors; names of the model and of motions."""
    scene = cd.show(arm, motion=bending, open=False).scene
    d = scene.layers[0]
    assert d.columns.units[: arm.nq] == ("deg", "deg")
    np.testing.assert_allclose(d.columns["r_elbow_flex"], np.degrees(bending["r_elbow_flex"]), rtol=1e-12)
    found = SimpleNamespace(activations=activity, forces=activity * 100.0)
    arm = arm.copy()
    arm.add_marker("wrist", "r_ulna_radius_hand", (0, -0.2, 0))
    place = arm.station_position(bending.values, "r_ulna_radius_hand", (0, -0.2, 0))
    gap = place + [0.003, 0.004, 0]
    gap[7] = np.nan
    seen = SimpleNamespace(time=bending.time, names=["wrist", "none"], positions=np.stack([gap, gap], 1))
    push = Arrows("push", bending.time, place, np.tile([3.0, 4.0, 0.0], (len(place), 1)))
    page = cd.show(
        arm,
        motion=bending,
        color=found,
        markers=seen,
        arrows=push,
        plots=cd.Table(bending.time, ["moment"], np.ones((51, 1)), ["N m"]),
        compare=[bending, bending],
        names=["before", "after", "later"],
        open=False,
    )
    d = page.scene.layers[0]
    assert [layer.name for layer in page.scene.layers] == ["before", "after", "later"]
    groups = dict.fromkeys(d.arranged.groups)
    assert list(groups) == ["Joints", "Given", "Muscles", "Forces", "Marker errors", "Speeds"]
    np.testing.assert_allclose(d.columns["BIClong.force"], 100 * activity["BIClong"])
    np.testing.assert_allclose(d.columns["push.y"], 4.0)
    error = d.columns["wrist.error"]
    assert error[7] != error[7] and d.columns.units[d.columns.names.index("markers.rms_error")] == "mm"
    np.testing.assert_allclose(np.delete(error, 7), 5.0, atol=1e-6)  # a place of the kernel, to rounding
    np.testing.assert_allclose(np.delete(d.columns["markers.rms_error"], 7), 5.0, atol=1e-6)
    with pytest.raises(cd.errors.DescriptionError, match="one text for each of 2 motions"):
        cd.show(arm, motion=bending, compare=bending, names=["one"], open=False)


def test_joints_come_before_the_base() -> None:
    """A leg on a pelvis that is free: first one leg whole, then the other, then the pelvis."""
    system = cd.System()
    planar = cd.Planar()
    system.add_body("pelvis", mobilizer=planar, mass=1, inertia=(1, 1, 1), coordinates=("tilt", "tx", "ty"))
    for side in "rl":
        system.add_body(f"thigh_{side}", "pelvis", cd.Pin(), mass=1, inertia=(1, 1, 1))
    for side in "rl":
        system.add_body(f"shank_{side}", f"thigh_{side}", cd.Pin(), mass=1, inertia=(1, 1, 1))
    system.about = {"name": "a walker"}
    t = np.linspace(0, 1, 5)
    values = np.outer(t, [0.1, 1.0, 0.02, 0.3, 0.4, 0.5, 0.6])
    units = ["rad", "m", "m", "rad", "rad", "rad", "rad"]
    scene = cd.show(system, motion=cd.Table(t, system.coordinates, values, units), open=False).scene
    names = scene.layers[0].columns.names
    assert list(names[:7]) == ["thigh_r", "shank_r", "thigh_l", "shank_l", "tilt", "tx", "ty"]
    assert scene.title == "a walker"
    assert page._plotted(scene.layers[0]) == ["thigh_r", "shank_r", "thigh_l"]


def test_joints_are_drawn_as_what_they_are() -> None:
    """By what they let a body do, whatever their class."""
    from condyle.viewer.joints import glyphs

    def looks(mobilizer: cd.Pin) -> list[str]:
        return [type(d.shape).__name__ for d in glyphs(mobilizer, mobilizer.default_q(), 0.0, 0.1)]

    for mobilizer, shapes in [
        (cd.Pin(), ["Cylinder"]),
        (cd.Slider(), ["Box", "Box"]),
        (cd.Ball(), ["Sphere"]),
        (cd.Gimbal(), ["Sphere"]),
        (cd.Universal(), ["Cylinder", "Cylinder"]),
        (cd.Screw(0.2), ["Cylinder", "Line"]),
        (cd.Cylinder(), ["Cylinder"]),
        (cd.Planar(), ["Cylinder", "Box"]),
        (cd.Translation(), ["Cylinder"] * 3),
        (cd.Weld(), []),
        (cd.Free(), []),
        (cd.FunctionBased(("knee",), angles=(None, None, lambda q: q)), ["Cylinder"]),
    ]:
        assert looks(mobilizer) == shapes, mobilizer
    pin = glyphs(cd.Pin(axis=(1, 1, 0)), np.zeros(1), 0.0, 0.1)[0]
    np.testing.assert_allclose(np.abs(pin.X.R[:, 2]), [0.5**0.5, 0.5**0.5, 0], atol=1e-12)
    # a turn about a point away from F's origin has its axis there
    off = cd.FunctionBased(
        ("knee",),
        angles=(None, None, lambda q: q),
        translations=(lambda q: 0.3 - 0.3 * np.cos(q), lambda q: -0.3 * np.sin(q), None),
    )
    np.testing.assert_allclose(glyphs(off, np.array([0.4]), 0.0, 0.1)[0].X.p, [0.3, 0, 0], atol=1e-9)


def test_arrows_are_as_long_as_95_of_100() -> None:
    """One blow of a hundred frames does not make the others small."""
    system = cd.System()
    system.add_body("a", mobilizer=cd.Slider(), mass=1, inertia=(1, 1, 1))
    t = np.linspace(0, 1, 101)
    motion = cd.Table(t, ["a"], t[:, None], ["m"])
    force = np.zeros((101, 3))
    force[:, 1] = 10.0
    scales = []
    for blow in (10.0, 1e4):
        force[50, 1] = blow
        scene = shown.scene_of(system, motion=motion, arrows=Arrows("push", t, 0 * force, force))
        scales.append(scene.arrow_scale)
        assert scene.arrow_scale * 10.0 == pytest.approx(0.6 * scene.size)
    assert scales[0] == scales[1]
