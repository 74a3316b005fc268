"""Tables from files and back."""

from __future__ import annotations

import contextlib
import warnings
import zipfile

import numpy as np
import pytest

import condyle as cd
from condyle.io import tables

TABLE = cd.Table(
    [0.0, 0.1, 0.30000000000000004],
    ["knee", "hip"],
    [[1.0, -0.1], [2.0, 1 / 3], [1e-300, np.pi]],
    ["rad", "m"],
)


@pytest.mark.parametrize("ending", ["csv", "sto", "mot", "npz"])
def test_what_is_saved_is_read(tmp_path, ending):
    """To the last digit; .sto and .mot have no units."""
    path = tmp_path / f"run.{ending}"
    TABLE.save(path)
    table = cd.read_table(path)
    np.testing.assert_array_equal(table.time, TABLE.time)
    np.testing.assert_array_equal(table.values, TABLE.values)
    assert table.names == TABLE.names
    assert table.units == (TABLE.units if ending in ("csv", "npz") else ("", ""))


def test_missing_numbers_survive(tmp_path):
    values = TABLE.values.copy()
    values[1, 0] = np.nan
    for ending in ("csv", "sto", "npz"):
        path = tmp_path / f"gap.{ending}"
        cd.Table(TABLE.time, TABLE.names, values, degrees=ending != "csv").save(path)
        np.testing.assert_array_equal(cd.read_table(path).values, values)
    assert cd.read_table(tmp_path / "gap.sto").degrees is True


def test_degrees(tmp_path):
    """What the file says; one that does not say is taken as OpenSim takes it, with a warning."""
    old, new = tmp_path / "old.mot", tmp_path / "new.sto"
    old.write_text(
        "walk\r\ndatacolumns 2\r\ndatarows 2\r\nendheader\r\n\r\ntime  knee\r\n0 10\r\n0.5 20 \r\n"
    )
    new.write_text("walk\nversion=1\nnRows=2\nnColumns=2\nendheader\ntime\tknee\t\n0\t10\t\n0.5\t20\t\n")
    with pytest.warns(UserWarning, match=r"old\.mot has no line inDegrees.*degrees"):
        assert cd.read_table(old).degrees is True
    with pytest.warns(UserWarning, match="taken as radians"):
        assert cd.read_table(new).degrees is False
    assert cd.read_table(old, degrees=False).degrees is False
    np.testing.assert_array_equal(cd.read_table(new, degrees=True)["knee"], [10, 20])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("walk\nnRows=1\n", "no line 'endheader'"),
        ("inDegrees=no\nendheader\n", "no titles"),
        ("inDegrees=no\nendheader\nframe\tknee\n0\t1\n", "first column must be 'time'"),
        ("inDegrees=no\nendheader\ntime\tknee\n0\t1\t2\n", "line 4: 3 numbers, but 2 columns"),
        ("inDegrees=no\nendheader\ntime\tknee\n0\t1,5\n", "line 4, column 'knee'.*point"),
        ("inDegrees=no\nendheader\ntime\tknee\n0\tone\n", "'one' is no number"),
        ("inDegrees=no\nendheader\ntime\tknee\tknee\n0\t1\t2\n", "twice: knee"),
        ("inDegrees=no\nendheader\ntime\tknee\n0\t1\n1\t1\n0.5\t2\n", "line 6: times must increase, 0.5 fol"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path, text, words):
    path = tmp_path / "bad.sto"
    path.write_text(text)
    with pytest.raises(cd.errors.DescriptionError, match=words):
        cd.read_table(path)


def test_other_numbers_of_rows_are_said(tmp_path):
    path = tmp_path / "cut.sto"
    path.write_text("version=1\nnRows=9\nnColumns=2\ninDegrees=no\nendheader\ntime\tknee\n0\t1\n1\t2\n")
    with pytest.warns(UserWarning, match="says 9 rows, there are 2. It may be cut off"):
        assert len(cd.read_table(path)) == 2


def test_white_space_in_a_name_is_not_written(tmp_path):
    with pytest.raises(cd.errors.DescriptionError, match=r"white space.*'left knee'"):
        cd.Table([0.0], ["left knee"], [[1.0]]).save(tmp_path / "x.sto")
    assert not list(tmp_path.iterdir())


def test_other_files(tmp_path):
    (tmp_path / "broken.npz").write_bytes(b"PK")
    (tmp_path / "German.csv").write_text("time;knee\n0;1,5\n")
    for name, words in (
        ("walk.trc", "cd.read_markers"),
        ("walk.xlsx", "save the sheet as .csv"),
        ("broken.npz", "this is no .npz file"),
        ("German.csv", "separates columns by ';'"),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=words):
            cd.read_table(tmp_path / name)
    with pytest.raises(cd.errors.DescriptionError, match="expected the path of a file, got 3"):
        cd.read_table(3)


NAMED = cd.Table(
    np.arange(6) / 10,
    ["knee", "bar[0]", "bar[1]"],
    np.arange(18).reshape(6, 3) / 7,
    ["rad", "", "N"],
    degrees=False,
)


@pytest.mark.parametrize("ending", ["csv", "sto", "npz"])
def test_what_is_cut_off_is_never_read_in_silence(tmp_path, ending):
    """At every byte of text: refused, or read with a warning, or what is left is as it was. Nothing
    shows that whole lines of a .csv are missing."""
    whole, cut = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    NAMED.save(whole)
    data = whole.read_bytes()
    assert cd.read_table(whole).names == NAMED.names
    for n in range(0, len(data), 9 if ending == "npz" else 1):
        cut.write_bytes(data[:n])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                table = cd.read_table(cut)
            except cd.errors.CondyleError:
                continue
        rows = len(table)
        same = table.names == NAMED.names and np.array_equal(table.values, NAMED.values[:rows])
        assert said or same, n
        assert said or rows == len(NAMED) or ending == "csv", n


@pytest.mark.parametrize("ending", ["csv", "sto", "npz"])
def test_damaged_files_are_refused_in_words(tmp_path, ending):
    """Whatever bytes change, only errors of our own come."""
    whole, hurt, rng = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}", np.random.default_rng(1)
    NAMED.save(whole)
    data = whole.read_bytes()
    for _ in range(200):
        changed = bytearray(data)
        changed[rng.integers(len(data))] = rng.integers(256)
        hurt.write_bytes(changed)
        with warnings.catch_warnings(), contextlib.suppress(cd.errors.CondyleError):
            warnings.simplefilter("ignore")
            cd.read_table(hurt)


def test_names_with_brackets_survive(tmp_path):
    """Those of equations, bar[0], and what looks like a unit but is none."""
    names = ["bar[0]", "bar[1]", "speed [hip]", "x [rad]"]
    table = cd.Table([0.0, 1.0], names, np.eye(2, 4), ["", "N", "m/s", ""])
    table.save(tmp_path / "a.csv")
    again = cd.read_table(tmp_path / "a.csv")
    assert (again.names, again.units) == (table.names, table.units)


def test_vectors_in_cells(tmp_path):
    path = tmp_path / "a.sto"
    path.write_text("DataType=Vec3\nversion=3\ninDegrees=no\nendheader\ntime\thand\n0\t1,2,3\n1\t4,5,6\n")
    table = cd.read_table(path)
    assert table.names == ("hand_1", "hand_2", "hand_3")
    np.testing.assert_array_equal(table.values, [[1, 2, 3], [4, 5, 6]])
    path.write_text("DataType=Vec3\nversion=3\ninDegrees=no\nendheader\ntime\thand\n0\t1,2,3\n1\t4,5\n")
    with pytest.raises(cd.errors.DescriptionError, match=r"line 7: column 'hand': '4,5' has 2 numbers"):
        cd.read_table(path)


def test_angles_of_a_storage_have_one_unit(tmp_path):
    path = tmp_path / "a.mot"
    cd.Table([0.0], ["hip"], [[90.0]], ["deg"]).save(path)
    assert cd.read_table(path).degrees is True
    cd.Table([0.0], ["hip", "knee"], [[90.0, 1.0]], ["deg", "rad"]).save(path)
    again = cd.read_table(path)
    assert again.degrees is False and again["hip"] == [np.pi / 2] and again["knee"] == [1.0]
    with pytest.raises(cd.errors.DescriptionError, match="'hip' is in rad, but the table says degrees=True"):
        cd.Table([0.0], ["hip"], [[1.0]], ["rad"], degrees=True).save(path)
    path.write_text("version=1\ninDegrees=perhaps\nendheader\ntime\thip\n0\t1\n")
    with pytest.warns(UserWarning, match="inDegrees=perhaps, which is neither yes nor no; taken as radians"):
        assert cd.read_table(path).degrees is False


HEAD = "inDegrees=no\nendheader\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ((HEAD + "time\tknee\thip\n0\t1\t\n").encode(), np.nan),
        ((HEAD + "time\tknee\thip\n0\t1\t-1.#IND\n").encode(), np.nan),
        ((HEAD + "time\tknee\thip\n0\t1\t1.#QNAN0\n").encode(), np.nan),
        ((HEAD + "time\tknee\thip\n0\t1\t2.5\n").encode("utf-16"), 2.5),
    ],
    ids=["an empty cell at the end", "a number of Windows", "another", "UTF-16"],
)
def test_cells_and_letters_of_other_programs(tmp_path, text, value):
    (tmp_path / "odd.sto").write_bytes(text)
    np.testing.assert_array_equal(cd.read_table(tmp_path / "odd.sto")["hip"], [value])


def test_archives_that_may_harm(tmp_path, monkeypatch):
    """Sizes that are lies, a few kilobytes that unpack to gigabytes, numbers that are none."""

    def entry(shape, kind="<f8"):
        head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        head += b" " * (53 - len(head) % 64 + 64 * (len(head) % 64 > 53)) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head

    path = tmp_path / "bad.npz"
    for values, words in (
        (entry("(1000000000000, 2)"), "damaged"),
        (entry("(99999999999999999999999,)"), "damaged"),
        (entry("(3, 2)", "<c16") + b"1" * 96, "expected numbers, got complex128"),
    ):
        TABLE.save(path)
        with zipfile.ZipFile(path) as good:
            parts = {name: good.read(name) for name in good.namelist()}
        with zipfile.ZipFile(path, "w") as bad:
            for name, data in (parts | {"values.npy": values}).items():
                bad.writestr(name, data)
        with pytest.raises(cd.errors.DescriptionError, match=words):
            cd.read_table(path)
    monkeypatch.setattr(tables, "LARGE", 1e6)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("values.npy", entry("(2000000, 1)") + bytes(16_000_000))
    with pytest.raises(
        cd.errors.DescriptionError, match=r"MB that unpack to 0\.016 GB; no table is like that"
    ):
        cd.read_table(path)
