"""Recordings from .c3d files, which ezc3d writes here."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.io import Recording

ezc3d = pytest.importorskip("ezc3d", reason="ezc3d is not installed")
FRAMES, SAMPLES = 20, 10
CORNERS = np.array([[600.0, 400, 0], [0, 400, 0], [0, 0, 0], [600, 0, 0]])  # its z points up
ORIGIN = np.array([1.0, 2, -40])


def written(
    path: Path,
    *,
    units: str = "mm",
    reaction: bool = True,
    points: int = 3,
    force: float = 700.0,
    corners: np.ndarray = CORNERS,
) -> tuple[np.ndarray, np.ndarray]:
    """Write a file with markers, a plate of type 2 and a channel of EMG; return markers (T, n, 3) and
    channels (samples, 7)."""
    rng = np.random.default_rng(1)
    file = ezc3d.c3d()
    point, analog, plate = (file["parameters"][g] for g in ("POINT", "ANALOG", "FORCE_PLATFORM"))
    point["RATE"]["value"], analog["RATE"]["value"] = [100.0], [100.0 * SAMPLES]
    point["LABELS"]["value"] = ("RASI", "LASI", "Angle")[:points]
    point["UNITS"]["value"] = (units,)
    places = np.ones((4, points, FRAMES))
    places[:3] = rng.normal(size=(3, points, FRAMES)) * 100 + 500
    places[:3, 1:2, 4] = np.nan
    file["data"]["points"] = places
    file.add_parameter("POINT", "ANGLES", ["Angle"])
    analog["LABELS"]["value"] = ("Fx1", "Fy1", "Fz1", "Mx1", "My1", "Mz1", "EMG")
    analog["UNITS"]["value"] = ("N", "N", "N", "Nmm", "Nmm", "Nmm", "V")
    channels = rng.normal(size=(7, FRAMES * SAMPLES)) * 100
    channels[2] = (force if reaction else -force) + channels[2] / 5
    channels[3:6] *= 100
    channels[:, :5] /= 1e4  # hardly any force at first
    file["data"]["analogs"] = channels[None]
    plate["USED"]["value"], plate["TYPE"]["value"] = np.array([1]), np.array([2])
    plate["ZERO"]["value"], plate["CHANNEL"]["value"] = np.array([1, 0]), np.arange(1, 7)[:, None]
    plate["CORNERS"]["value"], plate["ORIGIN"]["value"] = corners.T[:, :, None], ORIGIN[:, None]
    file.write(str(path))
    return places[:3].transpose(2, 1, 0), channels.T


def test_markers(tmp_path):
    """Single precision is what the format has."""
    places, _ = written(tmp_path / "a.c3d")
    markers = cd.read_markers(tmp_path / "a.c3d")
    assert markers.names == ("RASI", "LASI")  # no angle among them
    assert (markers.units, markers.rate) == ("mm", 100)
    np.testing.assert_allclose(markers.positions, places[:, :2] / 1000, rtol=1e-6)
    assert markers.missing == {"LASI": 1}
    np.testing.assert_allclose(markers.time, np.arange(FRAMES) / 100)
    written(tmp_path / "b.c3d", units="m")
    assert cd.read_markers(tmp_path / "b.c3d").positions[0, 0, 0] == 1000 * markers.positions[0, 0, 0]


def test_force_plates_are_the_same_wrench_everywhere(tmp_path, evidence):
    """About any point the table's wrench is that of the channels: force F, and moment M + F x o about the
    center, o the true origin below it. Where there is force, the free torque is along the normal."""
    _, channels = written(tmp_path / "a.c3d")
    recording = cd.read_c3d(tmp_path / "a.c3d")
    table = recording.force_plates
    F, p, T = (table[[f"{x}1_{axis}" for axis in "xyz"]].values for x in "fpm")
    np.testing.assert_allclose(F, channels[:, :3], rtol=1e-6)
    center = CORNERS.mean(axis=0) / 1000
    M = (channels[:, 3:6] + np.cross(channels[:, :3], ORIGIN)) / 1000
    error = np.abs(T + np.cross(p - center, F) - M).max()
    evidence("wrenches of a force plate from a .c3d file against its channels [N m]", error, 1e-4)
    assert error < 1e-4  # single precision of moments of some 100 N m
    np.testing.assert_allclose(p[:5], np.broadcast_to(center, (5, 3)), atol=1e-12)
    np.testing.assert_allclose(T[5:, :2], 0, atol=1e-9)
    np.testing.assert_allclose(
        p[5:, :2],
        (center + np.stack([-M[:, 1], M[:, 0], 0 * M[:, 0]], axis=1) / channels[:, 2:3])[5:, :2],
        atol=1e-6,
    )
    assert table.units[:9] == ("N",) * 3 + ("m",) * 3 + ("N m",) * 3
    np.testing.assert_allclose(table.time, np.arange(FRAMES * SAMPLES) / 1000)

    analog = recording.analog
    assert analog.titles[-1] == "EMG [V]" and analog.units[3] == "Nmm"
    np.testing.assert_allclose(analog["EMG"], channels[:, 6], rtol=1e-6)


def channels_of(
    kind: int, F: np.ndarray, p: np.ndarray, T: np.ndarray, origin: np.ndarray, C: np.ndarray
) -> np.ndarray:
    """What the channels of a plate say of a force F at p on its surface and a free torque T, in its axes and
    in mm: the formulas of the C3D manual, backwards."""
    M = np.cross(p, F) + T
    if kind == 1:
        return np.column_stack([F, p[:, :2], T[:, 2]])
    if kind == 3:  # Kistler: fx12 fx34 fy14 fy23 fz1 fz2 fz3 fz4
        a, b, height = origin
        M = M - np.cross(F, (0, 0, height))
        turn = M[:, 2] / b / 2
        z12, z23 = (F[:, 2] + M[:, 0] / b) / 2, (F[:, 2] + M[:, 1] / a) / 2
        z1 = -150.0 + 0 * z12
        z2 = z12 - z1
        z3 = z23 - z2
        return np.column_stack(
            [
                F[:, 0] / 2 - turn,
                F[:, 0] / 2 + turn,
                F[:, 1] / 2,
                F[:, 1] / 2,
                z1,
                z2,
                z3,
                F[:, 2] - z1 - z2 - z3,
            ]
        )
    measured = np.column_stack([F, M - np.cross(F, origin)])
    return measured if kind == 2 else np.linalg.solve(C, measured.T).T


UNITS = {1: ("N", "N", "N", "mm", "mm", "Nmm"), 2: ("N",) * 3 + ("Nmm",) * 3, 3: ("N",) * 8, 4: ("V",) * 6}


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_types_of_plates(tmp_path, kind, evidence):
    """A known wrench, on a plate that lies upside down and turned, as plates do: force, place and free torque
    come back; written and read again they are the same."""
    rng, n = np.random.default_rng(kind), 40
    corners = np.array([[700.0, 100, 0], [100, 100, 0], [100, 500, 0], [700, 500, 0]])  # its z points down
    R = np.diag([1.0, -1.0, -1.0])
    F = rng.normal(size=(n, 3)) * 50 + (0, 0, -700)
    p = np.column_stack([rng.uniform(-150, 150, n), rng.uniform(-100, 100, n), np.zeros(n)])
    T = np.column_stack([np.zeros((n, 2)), rng.normal(size=n) * 5000])
    origin = np.array([120.0, 200, -50]) if kind == 3 else np.array([1.0, 2, -40])
    C = np.eye(6) * 3 + rng.normal(size=(6, 6)) * 0.2
    channels = channels_of(kind, F, p, T, origin, C)
    file = ezc3d.c3d()
    point, analog, plate = (file["parameters"][g] for g in ("POINT", "ANALOG", "FORCE_PLATFORM"))
    point["RATE"]["value"], analog["RATE"]["value"] = [100.0], [1000.0]
    point["LABELS"]["value"], point["UNITS"]["value"] = ("head",), ("mm",)
    places = np.ones((4, 1, n // 10))
    places[:3, 0] = np.array([[300], [300], [1700]])
    file["data"]["points"], file["data"]["analogs"] = places, channels.T[None]
    count = channels.shape[1]
    analog["LABELS"]["value"] = tuple(f"c{k}" for k in range(count))
    analog["UNITS"]["value"] = UNITS[kind]
    plate["USED"]["value"], plate["TYPE"]["value"] = np.array([1]), np.array([kind])
    plate["ZERO"]["value"], plate["CHANNEL"]["value"] = np.array([1, 0]), np.arange(1, count + 1)[:, None]
    plate["CORNERS"]["value"], plate["ORIGIN"]["value"] = corners.T[:, :, None], origin[:, None]
    if kind == 4:
        file.add_parameter("FORCE_PLATFORM", "CAL_MATRIX", C[:, :, None])
    file.write(str(tmp_path / "a.c3d"))
    recording = cd.read_c3d(tmp_path / "a.c3d")
    read = [recording.force_plates[[f"{x}1_{axis}" for axis in "xyz"]].values for x in "fpm"]
    true = [F @ R, (corners.mean(axis=0) + p @ R) / 1000, T @ R / 1000]
    # single precision: of 700 N, of 0.7 m, of moments of 100 N m; a calibration mixes them
    for mine, expected, tolerance in zip(read, true, (0.01, 1e-6, 1e-3), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=0, atol=tolerance)
    evidence(
        f"force plate of type {kind} from a .c3d file against a known wrench: center of pressure [m]",
        np.abs(read[1] - true[1]).max(),
        1e-6,
    )
    recording.save(tmp_path / "b.c3d")
    again = cd.read_c3d(tmp_path / "b.c3d")
    for name in ("force_plates", "analog"):
        mine, theirs = getattr(recording, name), getattr(again, name)
        assert mine.names == theirs.names and mine.units == theirs.units
        np.testing.assert_allclose(theirs.values, mine.values, rtol=1e-6, atol=1e-4)  # single precision
    np.testing.assert_allclose(again.markers.positions, recording.markers.positions, rtol=1e-7)


def test_written_and_read_again(tmp_path):
    """Markers with gaps, channels and plates; a recording of one's own too, turned, in meters."""
    written(tmp_path / "a.c3d")
    for more in ({}, {"vertical": "z"}):
        one = cd.read_c3d(tmp_path / "a.c3d", **more)
        one.save(tmp_path / "b.c3d")
        two = cd.read_c3d(tmp_path / "b.c3d")
        assert two.markers.names == one.markers.names and two.markers.missing == one.markers.missing
        np.testing.assert_array_equal(two.markers.positions, one.markers.positions)  # the same floats
        np.testing.assert_array_equal(two.markers.time, one.markers.time)
        np.testing.assert_array_equal(two.analog.values, one.analog.values)
        assert two.analog.titles == one.analog.titles
        np.testing.assert_allclose(two.force_plates.values, one.force_plates.values, atol=1e-5)
        np.testing.assert_allclose(two.corners, one.corners, atol=1e-7)
    markers = cd.Markers(one.markers.time, one.markers.names, one.markers.positions, units="m")
    emg = cd.Table(one.analog.time, ["EMG"], one.analog[["EMG"]].values, ["V"])
    plates = one.force_plates  # in kN, mm and N mm
    others = cd.Table(
        plates.time,
        plates.names,
        plates.values * [1e-3, 1e-3, 1e-3, *[1e3] * 6],
        [{"N": "kN", "m": "mm", "N m": "N mm"}[unit] for unit in plates.units],
    )
    own = Recording(markers, others, emg, one.corners)
    own.save(tmp_path / "c.c3d")
    two = cd.read_c3d(tmp_path / "c.c3d")
    assert two.analog.names == ("EMG", "Fx1", "Fy1", "Fz1", "Mx1", "My1", "Mz1")
    np.testing.assert_allclose(two.force_plates.values, one.force_plates.values, rtol=0, atol=2e-4)
    one.markers.save(tmp_path / "d.c3d")
    np.testing.assert_array_equal(cd.read_markers(tmp_path / "d.c3d").positions, one.markers.positions)
    Recording(None, one.force_plates, one.analog, one.corners, one.platform).save(tmp_path / "e.c3d")
    bare = cd.read_c3d(tmp_path / "e.c3d")
    assert bare.markers is None
    np.testing.assert_allclose(bare.force_plates.values, one.force_plates.values, rtol=0, atol=2e-4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.save("no/a.c3d"), "there is no folder 'no'"),
        (lambda m: cd.Markers(m.time**2, m.names, m.positions).save("a.c3d"), "times are uneven"),
        (lambda m: Recording(m, *EMPTY).save("a.trc"), "expected the path of a .c3d file"),
        (
            lambda m: Recording(
                m, EMPTY[0], cd.Table(np.arange(7) / 300, ["EMG"], np.ones((7, 1))), EMPTY[2]
            ).save("a.c3d"),
            "7 samples at 300 per second beside 20 frames at 100",
        ),
        (
            lambda m: cd.Markers(m.time, [f"m{k}" for k in range(300)], np.zeros((20, 300, 3))).save("a.c3d"),
            "300 markers; a .c3d file has at most 255",
        ),
    ],
)
def test_what_cannot_be_written(tmp_path, monkeypatch, change, said):
    monkeypatch.chdir(tmp_path)
    markers = cd.Markers(np.arange(20) / 100, ["a"], np.zeros((20, 1, 3)))
    with pytest.raises(cd.errors.DescriptionError, match=said):
        change(markers)
    assert list(tmp_path.iterdir()) == []


EMPTY = (cd.Table([], [], np.empty((0, 0))), cd.Table([], [], np.empty((0, 0))), np.empty((0, 4, 3)))


def test_everything_turns_together(tmp_path):
    written(tmp_path / "a.c3d")
    plain, turned = (cd.read_c3d(tmp_path / "a.c3d", vertical=v) for v in (None, "z"))
    assert turned.force_plates["f1_y"].mean() > 600
    for letter in "fpm":
        old, new = (t.force_plates[[f"{letter}1_{axis}" for axis in "xyz"]].values for t in (plain, turned))
        np.testing.assert_array_equal(new, np.stack([old[:, 0], old[:, 2], -old[:, 1]], axis=1))
    np.testing.assert_array_equal(turned.corners[0, :, 2], -plain.corners[0, :, 1])
    assert "1 force plates, 7 analog channels" in repr(plain)


def test_a_force_on_the_plate_is_told_from_a_reaction(tmp_path):
    """The markers are above it."""
    written(tmp_path / "a.c3d", reaction=False)
    with pytest.warns(UserWarning, match=r"plate 1: its force points away.*opposite=\[1\]"):
        cd.read_c3d(tmp_path / "a.c3d", vertical="z")
    table = cd.read_c3d(tmp_path / "a.c3d", opposite=[1]).force_plates
    assert table["f1_z"].mean() > 600
    load = cd.ExternalLoad("foot", table, force="f1_", point="p1_", torque="m1_")  # as studies take it
    assert load.force == ("f1_x", "f1_y", "f1_z")
    with pytest.raises(cd.errors.DescriptionError, match=r"no plate 2 in a\.c3d; it has 1"):
        cd.read_c3d(tmp_path / "a.c3d", opposite=[2])


def test_mistakes(tmp_path):
    (tmp_path / "a.c3d").write_bytes(b"no")
    with pytest.raises(cd.errors.DescriptionError, match=r"this is no \.c3d file"):
        cd.read_c3d(tmp_path / "a.c3d")
    with pytest.raises(FileNotFoundError):
        cd.read_c3d(tmp_path / "none.c3d")
    with pytest.raises(cd.errors.DescriptionError, match="a folder"):
        cd.read_c3d(tmp_path)
    written(tmp_path / "b.c3d", units="furlong")
    with pytest.raises(cd.errors.DescriptionError, match="expected m, cm or mm"):
        cd.read_c3d(tmp_path / "b.c3d")
    written(tmp_path / "c.c3d", corners=np.zeros((4, 3)))
    with pytest.raises(cd.errors.DescriptionError, match="corners"):
        cd.read_c3d(tmp_path / "c.c3d")


def test_damaged_files_end_nobody(tmp_path):
    """ezc3d crashes or never returns on some; here they are refused in words, or what is left is read."""
    written(tmp_path / "a.c3d")
    data = (tmp_path / "a.c3d").read_bytes()
    (tmp_path / "b.c3d").write_bytes(data[:-3000])
    with pytest.warns(UserWarning, match=r"says 20 frames, there are \d+\. It may be cut off"):
        assert len(cd.read_c3d(tmp_path / "b.c3d").markers) < 20
    for seed in range(3):
        rng, hurt = np.random.default_rng(seed), bytearray(data)
        if seed % 2:
            del hurt[rng.integers(512, len(data)) :]
        for _ in range(rng.integers(1, 9)):
            hurt[rng.integers(2, 2500)] = rng.integers(256)
        (tmp_path / "b.c3d").write_bytes(hurt)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(cd.errors.CondyleError):
                assert cd.read_c3d(tmp_path / "b.c3d").markers is not None


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    """Long names would make a file that nobody reads, huge numbers would be infinite."""
    time, places = np.linspace(0, 1, 11), np.ones((11, 1, 3))
    cd.Markers(time, ["a" * 127], places).save(tmp_path / "a.c3d")
    assert cd.read_markers(tmp_path / "a.c3d").names == ("a" * 127,)
    with pytest.raises(
        cd.errors.DescriptionError, match=r"has 128 bytes; names in .c3d files have at most 127"
    ):
        cd.Markers(time, ["a" * 128], places).save(tmp_path / "a.c3d")
    with pytest.raises(cd.errors.DescriptionError, match=r"a value of 1e\+40, which the single precision"):
        cd.Markers(time, ["a"], places * 1e40).save(tmp_path / "a.c3d")
    with pytest.raises(cd.errors.DescriptionError, match=r"'a.c4d': the name must end in .trc, .c3d"):
        cd.Markers(time, ["a"], places).save(tmp_path / "a.c4d")
    with pytest.raises(cd.errors.ArgumentError, match="Recording: missing"):
        Recording()


def test_poses_of_segments(tmp_path):
    """As Theia writes them: ROTATION:LABELS NAME_4X4, matrices 4 x 4 in the units of the points; a frame in which a
    segment was not seen has zeros. Here z points up, and becomes y."""
    ezc3d = pytest.importorskip("ezc3d", reason="ezc3d is not installed")
    rng = np.random.default_rng(2)
    angles = rng.uniform(-1, 1, (7, 2))
    poses = np.zeros((4, 4, 2, 7))
    for k in range(7):
        for j in range(2):
            c, s = np.cos(angles[k, j]), np.sin(angles[k, j])
            poses[:3, :3, j, k] = [[c, -s, 0], [s, c, 0], [0, 0, 1]]
            poses[:3, 3, j, k] = 100 * k, 50 * j, 900
            poses[3, 3, j, k] = 1
    poses[:, :, 1, 3] = 0
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["parameters"]["POINT"]["RATE"]["value"] = [60.0]
    file["parameters"]["POINT"]["LABELS"]["value"] = ["worldbody"]
    file["data"]["points"] = np.ones((4, 1, 7))
    file.add_parameter("ROTATION", "RATE", [60.0])
    file.add_parameter("ROTATION", "LABELS", ["pelvis_4X4", "r_thigh_4X4"])
    file["data"]["rotations"] = poses
    file.write(str(tmp_path / "pose_filt_0.c3d"))
    found = cd.read_c3d(tmp_path / "pose_filt_0.c3d", vertical="z")
    assert list(found.segments) == ["pelvis", "r_thigh"] and "2 segments" in repr(found)
    np.testing.assert_allclose(found.segment_time, np.arange(7) / 60, atol=1e-12)
    X = found.segments["pelvis"]
    np.testing.assert_allclose(X[:, 1, 3], 0.9, atol=1e-6)  # up, in meters; single precision
    np.testing.assert_allclose(X[:, 1, 2], 1.0, atol=1e-6)  # the segment's z is vertical
    assert (
        np.isnan(found.segments["r_thigh"][3]).all() and np.isfinite(found.segments["r_thigh"][[2, 4]]).all()
    )
    points = found.segment_markers(0.2)
    assert points.names[:4] == ("pelvis_o", "pelvis_x", "pelvis_y", "pelvis_z")
    np.testing.assert_allclose(points["pelvis_z"] - points["pelvis_o"], [[0, 0.2, 0]] * 7, atol=1e-6)
    across = (points["pelvis_x"] - points["pelvis_o"]) / 0.2
    np.testing.assert_allclose(across, X[:, :3, 0], atol=1e-6)


def test_a_start_that_is_not_zero_is_told(tmp_path):
    """A .c3d file has no clock of its own: half a second is lost, half a percent of a step is rounding."""
    positions = np.zeros((5, 1, 3))
    for start, lost in ((0.5, True), (5e-6, False)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            cd.Markers(start + np.arange(5) / 1000, ["a"], positions).save(tmp_path / "a.c3d")
        assert [f"their times begin at {start:g} s" in str(w.message) for w in said] == [True] * lost
