"""Markers in exports of motion capture programs, by their documented layouts."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd

PLACES = 1e3 * np.random.default_rng(0).uniform(0, 2, (5, 2, 3)).round(4)  # [mm]
NAMES = ("RASI", "L.Heel")


def vicon(places: np.ndarray, lost: bool = False) -> str:
    lines = [
        "Devices",
        "1000",
        ",,Force.Fx",
        "Frame,Sub Frame,Fx",
        ",,N",
        "1,0,3.5",
        "",
        "Trajectories",
        "100",
    ]
    lines.append(f",,Anna:{NAMES[0]},,,Anna:{NAMES[1]},,")
    lines += ["Frame,Sub Frame,X,Y,Z,X,Y,Z", ",,mm,mm,mm,mm,mm,mm"]
    for k, row in enumerate(places):
        cells = [f"{x:.4f}" for x in row.ravel()]
        if lost and k == 2:
            cells[3:] = ["", "", ""]
        lines.append(f"{k + 11},0," + ",".join(cells))
    return "\n".join([*lines, "", "Model Outputs", "100"])


def qualisys(places: np.ndarray, titles: bool) -> str:
    head = [
        "NO_OF_FRAMES\t5", "NO_OF_CAMERAS\t8", "NO_OF_MARKERS\t2", "FREQUENCY\t100", "NO_OF_ANALOG\t0",
        "DESCRIPTION\t--", "DATA_INCLUDED\t3D", "MARKER_NAMES\t" + "\t".join(NAMES),
    ]  # fmt: skip
    if titles:
        head.append("Frame\tTime\t" + "\t".join(f"{n} {a}" for n in NAMES for a in "XYZ"))
    before = [f"{k + 1}\t{k / 100:.5f}\t" if titles else "" for k in range(5)]
    return "\n".join(
        [*head, *(b + "\t".join(f"{x:.4f}" for x in row.ravel()) for b, row in zip(before, places))]
    )


def optitrack(places: np.ndarray) -> str:
    head = "Format Version,1.23,Take Name,walk,Capture Frame Rate,100.000000,Export Frame Rate,100.000000,Length Units,Meters"
    types = ["", "Type", "Rigid Body", *["Marker"] * 6]
    names = ["", "Name", "Pelvis", *(f"Anna:{n}" for n in NAMES for _ in range(3))]
    ids = ["", "ID", "1", *["2"] * 6]
    kinds = ["", "", "Rotation", *["Position"] * 6]
    axes = ["Frame", "Time (Seconds)", "X", *"XYZXYZ"]
    rows = [
        f"{k},{k / 100},0.5," + ",".join(f"{x / 1e3:.7f}" for x in row.ravel())
        for k, row in enumerate(places)
    ]
    return "\n".join([head, "", *(",".join(x) for x in (types, names, ids, kinds, axes)), *rows])


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("vicon.csv", vicon(PLACES)),
        ("qualisys.tsv", qualisys(PLACES, False)),
        ("qualisys_titles.tsv", qualisys(PLACES, True)),
        ("optitrack.csv", optitrack(PLACES)),
    ],
)
def test_exports(tmp_path, file, text):
    (tmp_path / file).write_text(text)
    found = cd.read_markers(tmp_path / file)
    assert found.names == NAMES
    np.testing.assert_allclose(found.positions, PLACES / 1e3, atol=1e-9)
    np.testing.assert_allclose(np.diff(found.time), 0.01, atol=1e-12)


def test_lost_markers(tmp_path):
    (tmp_path / "a.csv").write_text(vicon(PLACES, lost=True))
    found = cd.read_markers(tmp_path / "a.csv")
    assert np.isnan(found["L.Heel"][2]).all()
    assert np.isfinite(found["RASI"]).all()
    gone = PLACES.copy()
    gone[1, 0] = 0.0
    (tmp_path / "b.tsv").write_text(qualisys(gone, False))
    assert np.isnan(cd.read_markers(tmp_path / "b.tsv")["RASI"][1]).all()


def test_columns_with_colons(tmp_path):
    rows = [
        "time,RASI:X,RASI:Y,RASI:Z",
        *(f"{k / 100},{x},{y},{z}" for k, (x, y, z) in enumerate(PLACES[:, 0])),
    ]
    (tmp_path / "c.csv").write_text("\n".join([*rows, ""]))
    found = cd.read_markers(tmp_path / "c.csv", units="mm")
    np.testing.assert_allclose(found["RASI"], PLACES[:, 0] / 1e3)


def test_what_cannot_be_read_is_named(tmp_path):
    broken = vicon(PLACES).replace("13,0,", "13,0,oops", 1)
    (tmp_path / "a.csv").write_text(broken)
    with pytest.raises(cd.errors.DescriptionError, match=r"a\.csv:15: expected a number, got 'oops"):
        cd.read_markers(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text(optitrack(PLACES).replace("Marker", "Bone"))
    with pytest.raises(cd.errors.DescriptionError, match="export markers too"):
        cd.read_markers(tmp_path / "b.csv")


def visual3d(places: np.ndarray, time: bool = True) -> str:
    signals = [("TIME", "FRAME_NUMBERS", "X")] * time + [(n, "TARGET", a) for n in NAMES for a in "XYZ"]
    head = [["", *["walk.c3d"] * len(signals)]]
    head += [["", *(s[k] for s in signals)] for k in (0, 1)]
    head += [["", *["ORIGINAL"] * len(signals)], ["ITEM", *(s[2] for s in signals)]]
    rows = [
        [str(k + 1), *[f"{k / 100:.4f}"] * time, *(f"{x / 1e3:.7f}" for x in row.ravel())]
        for k, row in enumerate(places)
    ]
    rows[2][-3:] = ["", "", ""]
    return "\n".join("\t".join(cells) for cells in [*head, *rows])


def test_visual3d(tmp_path):
    """How results of Theia are exported as text."""
    (tmp_path / "a.txt").write_text(visual3d(PLACES))
    found = cd.read_markers(tmp_path / "a.txt")
    assert found.names == NAMES and found.rate == pytest.approx(100)
    expected = PLACES / 1e3
    expected[2, 1] = np.nan
    np.testing.assert_allclose(found.positions, expected, atol=1e-9)
    (tmp_path / "b.tsv").write_text(visual3d(PLACES, time=False))
    with pytest.raises(cd.errors.DescriptionError, match="signal TIME"):
        cd.read_markers(tmp_path / "b.tsv")
