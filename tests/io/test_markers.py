"""Markers from files and back."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.studies.joints import marker_positions
from condyle.table import LENGTHS

HEAD = (
    "PathFileType\t4\t(X/Y/Z)\twalk.trc\n"
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
    "60.00\t60.00\t2\t2\tmm\t60.00\t1\t2\n"
)
NAMES = "Frame#\tTime\tRASI\t\t\tLASI\t\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\t\n\n"
ROWS = "1\t0.0\t608.66431\t1072.71313\t157.44215\t1\t2\t3\n2\t0.016667\t0.1\t0.2\t0.3\t4\t5\t6\t\n"
REFERENCE = Path(__file__).parents[3] / "shared" / "reference"


def some(seed: int = 0, frames: int = 7, lost: bool = True, units: str = "mm") -> cd.Markers:
    rng = np.random.default_rng(seed)
    p = rng.normal(size=(frames, 4, 3)) * LENGTHS[units]
    if lost:
        p[2, 1] = p[3:, 3] = np.nan
    return cd.Markers(np.arange(frames) / 60, ["RASI", "LASI", "left knee", "SACR"], p, units=units)


def read(tmp_path: Path, text: str, **options: object) -> cd.Markers:
    path = tmp_path / "walk.trc"
    path.write_text(text)
    return cd.read_markers(path, **options)


def test_a_file(tmp_path):
    markers = read(tmp_path, HEAD + NAMES + ROWS)
    assert (markers.names, markers.units, markers.rate) == (("RASI", "LASI"), "mm", 60)
    np.testing.assert_array_equal(markers.time, [0, 0.016667])
    np.testing.assert_array_equal(
        markers["RASI"], np.array([[608.66431, 1072.71313, 157.44215], [0.1, 0.2, 0.3]]) / 1000
    )
    assert not markers.missing


@pytest.mark.parametrize(
    ("changed", "unit", "scale"),
    [("mm", "mm", 1e3), ("m", "m", 1), ("cm", "cm", 1e2), ("meters", "m", 1), ("MM", "mm", 1e3)],
)
def test_units(tmp_path, changed, unit, scale):
    markers = read(tmp_path, HEAD.replace("\tmm\t", f"\t{changed}\t") + NAMES + ROWS)
    assert markers.units == unit
    np.testing.assert_array_equal(markers["LASI"][0], np.array([1, 2, 3]) / scale)


def test_units_are_asked_for(tmp_path):
    bare = HEAD.replace("Units\t", "").replace("\tmm\t", "\t")
    with pytest.raises(cd.errors.DescriptionError, match="does not say its Units; say units="):
        read(tmp_path, bare + NAMES + ROWS)
    assert read(tmp_path, bare + NAMES + ROWS, units="cm")["LASI"][0, 0] == 0.01
    with pytest.raises(cd.errors.DescriptionError, match="Units 'inch': expected m, cm or mm"):
        read(tmp_path, HEAD.replace("\tmm\t", "\tinch\t") + NAMES + ROWS)


@pytest.mark.parametrize(
    ("rows", "note", "lost"),
    [
        ("1\t0\t1\t2\t3\t\t\t\n2\t.1\t4\t5\t6\t7\t8\t9\n", "", (0, 1)),
        ("1\t0\t1\t2\t3\tNaN\tnan\tNAN\n2\t.1\t4\t5\t6\t7\t8\t9\n", "", (0, 1)),
        ("1\t0\t1\t2\t3\n2\t.1\t4\t5\t6\t7\t8\t9\n", "1 rows end early, first in line 7", (0, 1)),
        ("1\t0\t\t\t\t1\t2\t3\n\n2\t.1\t4\t5\t6\t7\t8\t9\n", "", (0, 0)),
        ("1\t0\t1\t2\t\t1\t2\t3\n2\t.1\t4\t5\t6\t7\t8\t9\n", "one or two coordinates are missing", (0, 0)),
        ("1\t0,0\t1,5\t2\t3\t\t\t\n2\t0,1\t4\t5\t6\t7\t8\t9\n", "decimals have commas", (0, 1)),
    ],
)
def test_what_is_missing_is_nan(tmp_path, rows, note, lost):
    with pytest.warns(UserWarning, match=note) if note else contextlib.nullcontext():
        markers = read(tmp_path, HEAD + NAMES + rows)
    gone = np.isnan(markers.positions)
    assert gone.sum() == 3 and gone[lost].all()
    assert markers.missing == {markers.names[lost[1]]: 1}
    assert len(markers) == 2 and markers.time[1] == 0.1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no line 'Frame# Time"),
        (HEAD, "no line 'Frame# Time"),
        (HEAD + "Frame#\tTime\n", "no names of markers"),
        (
            HEAD + NAMES.replace("\tX2\tY2\tZ2", "") + ROWS,
            "2 names of markers, but the line below has axes of 1",
        ),
        (HEAD + NAMES.replace("\tZ2", "") + ROWS, "5 titles of axes"),
        (HEAD + NAMES + "1\t0\t1\t2\t3\t4\t5\t6\t7\n", "line 7: 9 cells, but 2 markers have 8"),
        (HEAD + NAMES + "1\t0\t1\t2\tx\t4\t5\t6\n", "line 7, marker 'RASI': 'x' is no number"),
        (HEAD + NAMES + "1\t0\t1\t2\t1e999\t4\t5\t6\n", "larger than any number"),
        (HEAD + NAMES + "1\t\t1\t2\t3\t4\t5\t6\n", "line 7: the time is missing"),
        (HEAD + NAMES + "1\t1\t1\t2\t3\t4\t5\t6\n2\t1\t1\t2\t3\t4\t5\t6\n", "line 8: times must increase"),
        (HEAD + NAMES + "1\t0.5\t1,5\t2\t3\t4\t5\t6\n", "commas and points are both"),
        (HEAD + NAMES.replace("\t", " ") + "1 0 1 2 3 4\n", "no tabs that would say which"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path, text, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(cd.errors.DescriptionError, match=words):
            read(tmp_path, text)


def test_what_is_odd_is_said(tmp_path):
    with pytest.warns(UserWarning, match="says 2 frames, there are 1. It may be cut off"):
        read(tmp_path, HEAD + NAMES + ROWS[: ROWS.index("2\t0.0166")])
    with pytest.warns(UserWarning, match="has no line end"):
        read(tmp_path, HEAD + NAMES + ROWS[:-1])
    with pytest.warns(UserWarning, match="1 of 2 markers have no name; called unnamed2"):
        assert read(tmp_path, HEAD + NAMES.replace("LASI", "") + ROWS).names == ("RASI", "unnamed2")
    with pytest.warns(UserWarning, match="RASI occur more than once"):
        assert read(tmp_path, HEAD + NAMES.replace("LASI", "RASI") + ROWS).names == ("RASI", "RASI 2")


def test_names_with_one_tab_and_windows_line_ends(tmp_path):
    text = HEAD + NAMES.replace("\t\t\tLASI\t\t\t", "\tLASI") + ROWS
    np.testing.assert_array_equal(
        read(tmp_path, text).positions, read(tmp_path, HEAD + NAMES + ROWS).positions
    )
    (tmp_path / "walk.trc").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert cd.read_markers(tmp_path / "walk.trc").names == ("RASI", "LASI")


def test_markers_at_zero_are_asked_about(tmp_path):
    text = HEAD + NAMES + "1\t0\t1\t2\t3\t0\t0\t0\n2\t.1\t1\t2\t3\t4\t5\t6\n"
    with pytest.warns(UserWarning, match=r"LASI is at exactly \(0, 0, 0\) in 1 frames"):
        assert not read(tmp_path, text).missing
    assert not read(tmp_path, text, zeros="keep").missing
    assert read(tmp_path, text, zeros="missing").missing == {"LASI": 1}


@pytest.mark.parametrize("units", ["m", "cm", "mm"])
def test_a_file_is_written_back_exactly(tmp_path, units):
    """What came from a file is written with the same numbers: division by 1000 is undone exactly."""
    rng = np.random.default_rng(5)
    numbers = np.round(rng.normal(size=(200, 2, 3)) * 10.0 ** rng.integers(-3, 4, size=(200, 2, 3)), 6)
    rows = "".join(
        f"{k + 1}\t{k / 60!r}\t" + "\t".join(map(repr, p.ravel().tolist())) + "\n"
        for k, p in enumerate(numbers)
    )
    head = HEAD.replace("\t2\t2\tmm", f"\t200\t2\t{units}")
    markers = read(tmp_path, head + NAMES + rows)
    markers.save(tmp_path / "again.trc")
    written = [line.split("\t") for line in (tmp_path / "again.trc").read_text().splitlines()[6:]]
    assert [row[0] for row in written] == [str(k + 1) for k in range(200)]  # frames count from 1
    found = np.array([row[2:8] for row in written], dtype=float).reshape(200, 2, 3)
    np.testing.assert_array_equal(found, numbers)
    again = cd.read_markers(tmp_path / "again.trc")
    np.testing.assert_array_equal(again.positions, markers.positions)
    assert (again.names, again.units, again.rate) == (markers.names, units, 60)


@pytest.mark.parametrize("ending", ["trc", "csv", "npz", "sto"])
def test_what_is_saved_is_read(tmp_path, ending):
    markers = some(units="m").renamed({"left knee": "LKNE"})
    markers.save(tmp_path / f"a.{ending}")
    again = (
        cd.Markers.from_table(cd.read_table(tmp_path / "a.sto", degrees=False), units="m")
        if ending == "sto"
        else cd.read_markers(tmp_path / f"a.{ending}")
    )
    assert again.names == markers.names
    np.testing.assert_array_equal(again.time, markers.time)
    np.testing.assert_array_equal(again.positions, markers.positions)
    assert [p.name for p in tmp_path.iterdir()] == [f"a.{ending}"]


def test_a_table_of_forces_is_named(tmp_path):
    """The file, and that it may not be one of markers."""
    cd.Table([0.0, 1.0], ["f_x", "f_y", "f_z"], np.zeros((2, 3)), degrees=False).save(tmp_path / "forces.sto")
    with pytest.raises(
        cd.errors.DescriptionError, match=r"forces.sto: .*'f_x' has no unit; if it is the pos"
    ):
        cd.read_markers(tmp_path / "forces.sto")


def test_vectors_of_opensim(tmp_path):
    path = tmp_path / "a.sto"
    path.write_text(
        "DataType=Vec3\nversion=3\nUnits=mm\nendheader\ntime\tRASI\tLASI\n0\t1,2,3\t4,5,6\n"
        "1\tnan,nan,nan\t7,8,9\n"
    )
    markers = cd.read_markers(path)
    np.testing.assert_array_equal(markers["LASI"], [[0.004, 0.005, 0.006], [0.007, 0.008, 0.009]])
    assert markers.missing == {"RASI": 1}


def test_parts():
    markers = some()
    np.testing.assert_array_equal(markers["LASI"], markers.positions[:, 1])
    assert markers[["SACR", "RASI"]].names == ("SACR", "RASI")
    np.testing.assert_array_equal(markers[2:4].time, markers.time[2:4])
    np.testing.assert_array_equal(markers.between(1 / 60, 3 / 60).time, markers.time[1:4])
    assert markers.renamed(str.lower).names[0] == "rasi"
    assert markers.table().names[:3] == ("RASI_x", "RASI_y", "RASI_z")
    assert markers.missing == {"LASI": 1, "SACR": 4}
    assert "SACR (4)" in repr(markers) and "left knee" in markers._repr_html_()
    assert "RASI" in markers and next(iter(markers)) == "RASI" and len(markers) == 7
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'RASI'"):
        markers["RASY"]
    with pytest.raises(cd.errors.UnknownNameError, match="unknown marker 'hip'"):
        markers.renamed({"hip": "knee"})


def test_axes_are_turned_when_asked(tmp_path):
    markers = some(units="m", lost=False)
    markers.save(tmp_path / "a.trc")
    up = cd.read_markers(tmp_path / "a.trc", vertical="z")
    np.testing.assert_array_equal(up["RASI"], markers["RASI"] @ [[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    np.testing.assert_array_equal(up["RASI"][:, 1], markers["RASI"][:, 2])
    for axis, column, sign in (("x", 0, 1), ("y", 1, 1), ("-z", 2, -1), ("-x", 0, -1), ("-y", 1, -1)):
        turned = cd.read_markers(tmp_path / "a.trc", vertical=axis)
        np.testing.assert_array_equal(turned["SACR"][:, 1], sign * markers["SACR"][:, column])
        np.testing.assert_allclose(
            np.linalg.det(turned.positions[0, :3]),  # no mirror
            np.linalg.det(markers.positions[0, :3]),
        )
    with pytest.raises(cd.errors.ArgumentError, match="it is vertical="):
        cd.read_markers(tmp_path / "a.trc", up="y")
    with pytest.raises(cd.errors.DescriptionError, match="rotation matrix"):
        cd.read_markers(tmp_path / "a.trc", rotate=np.diag([1, 1, -1]))
    with pytest.raises(cd.errors.DescriptionError, match="expected the file's axis"):
        cd.read_markers(tmp_path / "a.trc", vertical="up")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cd.Markers([0, 1], ["a"], np.zeros((2, 3))), r"shape \(T, 1, 3\)"),
        (lambda: cd.Markers([0, 0], ["a"], np.zeros((2, 1, 3))), "increase"),
        (lambda: cd.Markers([0], ["a", "a"], np.zeros((1, 2, 3))), "more than once"),
        (lambda: cd.Markers([0], ["a"], [[[np.inf, 0, 0]]]), "finite, or NaN"),
        (lambda: cd.Markers([0], ["a"], np.zeros((1, 1, 3)), units="km"), "'m', 'cm' or 'mm'"),
        (lambda: cd.read_markers(3), "path of a file"),
        (lambda: cd.read_markers("walk.bvh"), "ends in .trc or .c3d"),
        (lambda: cd.read_markers("walk.trc", units="inch"), "'m', 'cm' or 'mm'"),
        (lambda: cd.read_markers("walk.trc", zeros="drop"), "'warn', 'keep' or 'missing'"),
        (lambda: some().save("there/is/none.trc"), "there is no folder"),
        (lambda: cd.Markers.from_table(cd.Table([0.0], ["knee"], [[1.0]])), "no columns NAME_x"),
    ],
)
def test_mistakes(call, words):
    with pytest.raises(cd.errors.CondyleError, match=words):
        call()


def test_frames_of_bones_from_markers():
    """Studies of joints take Markers as they take arrays."""
    rng = np.random.default_rng(3)
    shape = rng.normal(size=(4, 3)) * 0.1
    t = np.linspace(0, 1, 9)
    turn = np.stack([[[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]] for a in t])
    still = cd.Markers(t, ["A", "B", "C", "D"], np.broadcast_to(shape, (9, 4, 3)))
    moving = cd.Markers(t, ["E", "F", "G", "H"], np.einsum("tij,mj->tmi", turn, shape))
    frames = cd.relative_frames(still, moving)
    plain = cd.relative_frames(still.positions, moving.positions, time=t)
    np.testing.assert_array_equal(frames.p, plain.p)
    np.testing.assert_array_equal(frames.time, t)
    np.testing.assert_array_equal(marker_positions(moving, ("G", "E")), moving.positions[:, [2, 0]])
    with pytest.raises(cd.errors.ShapeError, match="not of the same times"):
        cd.relative_frames(still[1:], moving[:-1])


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference data are not beside the project")
def test_recorded_files():
    """Every recording that comes with OpenSim's models is read and written back as it was."""
    for path in sorted(REFERENCE.rglob("*.trc")):
        markers = cd.read_markers(path)
        assert markers.units == "mm" and markers.rate == 60
        assert np.nanmax(np.abs(markers.positions)) < 10
