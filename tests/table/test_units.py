"""Units: what they are in SI, and that no file format changes what a number means in silence."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import condyle as cd
from condyle.table.units import scaled, si

DEG = math.pi / 180
KNOWN = {
    "m": (1, "m"),
    "mm": (1e-3, "m"),
    "cm": (1e-2, "m"),
    "Meters": (1, "m"),
    "kN": (1e3, "N"),
    "N mm": (1e-3, "N m"),
    "Nmm": (1e-3, "N m"),
    "N.mm": (1e-3, "N m"),
    "N·m": (1, "N m"),
    "Ncm": (1e-2, "N m"),
    "Newton-meters": (1, "N m"),
    "kNm": (1e3, "N m"),
    "deg": (DEG, "rad"),
    "°": (DEG, "rad"),
    "degrees": (DEG, "rad"),
    "deg/s": (DEG, "rad/s"),
    "deg/s/s": (DEG, "rad/s^2"),
    "deg/s²": (DEG, "rad/s^2"),
    "rad/s^2": (1, "rad/s^2"),
    "N m/deg": (1 / DEG, "N m/rad"),
    "m/s2": (1, "m/s^2"),
    "mm/s": (1e-3, "m/s"),
    "%": (1e-2, "1"),
    "1": (1, "1"),
    "ms": (1e-3, "s"),
    "µV": (1e-6, "V"),
    "mV": (1e-3, "V"),
    "W": (1, "W"),
    "N/kg": (1, "N/kg"),
    "Nmm/kg": (1e-3, "N m/kg"),
    "rpm": (math.pi / 30, "rad/s"),
    "kg m^2": (1, "kg m^2"),
    "1/s": (1, "1/s"),
    "s^-1": (1, "1/s"),
    "N s": (1, "N s"),
    "inch": (0.0254, "m"),
}
UNKNOWN = ("", "BW", "%BW", "a.u.", "g", "mmHg", "/s", "N m s q", "bits", "[m]", "m^")


@pytest.mark.parametrize("unit", KNOWN)
def test_units_in_si(unit):
    factor, name = si(unit)
    assert name == KNOWN[unit][1]
    assert factor == pytest.approx(KNOWN[unit][0], rel=1e-15)  # products of powers of ten
    assert si(name) == (1.0, name)


@pytest.mark.parametrize("unit", UNKNOWN)
def test_others_are_not_known(unit):
    assert si(unit) is None


def test_decimals_stay_decimals():
    """1.2 mm are 0.0012 m, not 0.0012000000000000001; as positions of markers are read."""
    x = np.round(np.random.default_rng(1).uniform(0, 1000, 1000), 4)
    np.testing.assert_array_equal(scaled(x, si("mm")[0]), x / 1000)
    np.testing.assert_array_equal(scaled(x, si("kN")[0]), x * 1000)
    assert (x * 1e-3 != x / 1000).any() and scaled(1.1, 1e-3) == 0.0011


T = np.array([0.0, 0.1, 0.30000000000000004])
VALUES = np.array([1.5, -700.25, 1e-300])
UNITS = (*KNOWN, "BW", "%BW", "a.u.", "g", "")


def meaning(table: cd.Table, turns: bool) -> np.ndarray:
    """The first column in SI, as a study takes it: without a unit, angles are as `degrees` says."""
    unit = table.units[0]
    factor = si(unit)[0] if si(unit) else DEG if turns and not unit and table.degrees else 1.0
    return table.values[:, 0] * factor


@pytest.mark.parametrize(
    ("ending", "beside"),
    [
        ("npz", "rad"),
        *(
            (ending, other)
            for ending in ("csv", "sto", "mot")
            for other in (None, "rad", "deg", "deg/s", "N", "")
        ),
    ],
)
@pytest.mark.parametrize("degrees", [None, False, True])
def test_what_is_written_means_the_same_when_it_is_read(tmp_path, ending, degrees, beside):
    """For every unit, beside a column of another: the same in SI, or an error or a warning."""
    path, silent = tmp_path / f"a.{ending}", 0
    for unit in UNITS:
        units = [unit] if beside is None else [unit, beside]
        table = cd.Table(
            T,
            ["knee", "hip"][: len(units)],
            np.stack([VALUES, VALUES[::-1]][: len(units)], 1),
            units,
            degrees=degrees,
        )
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                table.save(path)
                again = cd.read_table(path)
            except cd.errors.DescriptionError:
                turning = [u for u in units if si(u) and si(u)[1].startswith("rad") and si(u)[0] != DEG]
                assert degrees and turning  # rad in a table of degrees
                continue
        known = si(unit)
        turns = unit == "" or (known is not None and known[1].startswith("rad"))
        same = np.allclose(meaning(again, turns), meaning(table, turns), rtol=4e-16, atol=0)  # one rounding
        kept = (
            ending in ("csv", "npz")
            or (known is not None and "/kg" not in known[1])
            or (unit == "" and again.degrees == table.degrees)
        )
        assert told or (same and kept) or (unit == "" and beside and same), (unit, beside)
        assert same or told
        if ending in ("csv", "npz"):
            assert again.units == table.units
            np.testing.assert_array_equal(again.values, table.values)
        silent += not told
    assert silent > len(UNITS) / 2 or (degrees and (beside == "rad" or ending == "csv")) or beside == ""


@pytest.mark.parametrize("units", ["m", "cm", "mm"])
@pytest.mark.parametrize("ending", ["trc", "csv", "npz", "sto", "mot"])
def test_markers_mean_the_same(tmp_path, units, ending):
    p = np.random.default_rng(2).uniform(-900, 900, size=(3, 4, 3)) / (100 if units == "m" else 1)
    markers = cd.Markers(T, list("ABCD"), p, units=units)
    np.testing.assert_array_equal(markers.positions, p / {"m": 1, "cm": 100, "mm": 1000}[units])
    markers.save(tmp_path / f"a.{ending}")
    again = cd.read_markers(tmp_path / f"a.{ending}", units="m" if ending in ("sto", "mot") else None)
    np.testing.assert_array_equal(again.positions, markers.positions)
    part = markers[["A", "B"]].renamed(str.lower)[1:].turned(np.eye(3))
    np.testing.assert_array_equal(part.positions, markers.positions[1:, :2])
    assert part.units == units


def test_the_unit_of_markers_is_that_of_the_numbers_given(tmp_path):
    """In meters, but called millimeters: 1000 times too small, and asked about. In a file too."""
    with pytest.warns(UserWarning, match=r"within 1\.9 mm of the origin; are these meters\?"):
        markers = cd.Markers([0.0], list("ABC"), [[[0.1, 1.9, 0.2], [0, 1, 0], [0.3, 0.2, 0.1]]], units="mm")
    assert markers.positions.max() == 0.0019
    table = cd.Table([0.0], ["A_x", "A_y", "A_z"], [[1.0, 2.0, 3.0]], ["mm"] * 3)
    assert cd.Markers.from_table(table).positions[0, 0, 2] == 0.003
    assert cd.Markers.from_table(table, units="m").positions[0, 0, 2] == 3.0


def test_a_storage_is_in_si(tmp_path):
    """mm, kN, N mm are converted; degrees stay degrees, and are radians beside radians."""
    path = tmp_path / "a.mot"
    table = cd.Table(
        T,
        ["p", "f", "m", "knee", "speed"],
        np.outer(T + 1, [1.5, 2, 3, 30, 60]),
        ["mm", "kN", "N mm", "deg", "deg/s"],
    )
    table.save(path)
    again = cd.read_table(path)
    assert again.degrees is True
    np.testing.assert_array_equal(again.values[0], [0.0015, 2000, 0.003, 30, 60])
    table.with_units({"speed": "rad/s"}).save(path)
    again = cd.read_table(path)
    assert again.degrees is False
    np.testing.assert_allclose(again.values[0], [0.0015, 2000, 0.003, math.pi / 6, 60], rtol=1e-15)


@pytest.mark.parametrize(
    ("units", "words"),
    [
        (["%BW", "N/kg"], r"no \[%BW\]: a, b are written without a unit"),
        (["", ""], r"nothing says whether a, b are in degrees.*no line inDegrees.*--degrees or --radians"),
    ],
)
def test_what_a_storage_cannot_say_is_warned_of(tmp_path, units, words):
    with pytest.warns(UserWarning, match=words):
        cd.Table(T, ["a", "b"], np.ones((3, 2)), units).save(tmp_path / "a.sto")


def test_degrees_that_are_not_known_stay_unknown(tmp_path):
    with pytest.warns(UserWarning, match="nothing says whether"):
        cd.Table(T, ["knee"], [[1], [2], [3]]).save(tmp_path / "a.sto")
    assert "inDegrees" not in (tmp_path / "a.sto").read_text()
    with pytest.warns(UserWarning, match="has no line inDegrees"):
        cd.read_table(tmp_path / "a.sto")
    run = cd.Table(T, ["knee", "soleus"], [[1, 0.1], [2, 0.2], [3, 0.3]], ["rad", ""])  # as of a simulation
    run.save(tmp_path / "b.sto")
    assert cd.read_table(tmp_path / "b.sto").degrees is False
    large = cd.Table(T, ["knee", "force"], [[60, 1], [50, 2], [40, 3]], ["", "N"])
    with pytest.warns(UserWarning, match="nothing says whether knee"):
        large.save(tmp_path / "c.sto")


def test_in_si_and_under_other_units():
    table = cd.Table([0.0], ["knee", "f", "w"], [[90.0, 2.0, 7.0]], ["deg", "kN", "%BW"], degrees=True)
    assert table.to_si().units == ("rad", "N", "%BW") and table.to_si().degrees is False
    np.testing.assert_array_equal(table.to_si().values, [[math.pi / 2, 2000, 7]])
    said = table.with_units({"w": "N"})
    assert said.units == ("deg", "kN", "N") and said.values[0, 2] == 7
    assert table.with_units(degrees=False).degrees is False
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'knee'"):
        table.with_units({"kne": "rad"})
    with pytest.raises(
        cd.errors.DescriptionError, match=r"whether 'a' is one: table\.with_units\(\{'a': 'deg'\}\)"
    ):
        cd.Table([0.0], ["a"], [[1.0]], degrees=True).to_si()


@pytest.mark.parametrize(
    ("head", "row", "unit", "value"),
    [
        ("time,f (kN)", "1,2", "kN", 2),
        ("time,f [kN]", "1,2", "kN", 2),
        ("Time (s),f (left)", "1,2", "", 2),
        ("time [ms],f", "1000,2", "", 2),
        ("t (min),f (1)", "0.016666666666666666,2", "", 2),
    ],
)
def test_units_in_titles(tmp_path, head, row, unit, value):
    (tmp_path / "a.csv").write_text(f"{head}\n{row}\n")
    table = cd.read_table(tmp_path / "a.csv")
    assert table.units == (unit,) and table.values[0, 0] == value
    assert table.time[0] == pytest.approx(1, abs=1e-15)
    assert table.names[0].startswith("f")


def test_units_in_labels_and_headers_of_opensim(tmp_path):
    head = "version=1\ninDegrees=no\nendheader\n"
    (tmp_path / "a.sto").write_text(f"{head}time\tf[kN]\tbar[0]\tx[left]\n0\t1\t2\t3\n")
    table = cd.read_table(tmp_path / "a.sto")
    assert table.titles == ["f [kN]", "bar[0]", "x[left]"]
    with pytest.raises(cd.errors.DescriptionError, match=r"no units in labels; this one is 'f\[kN\]'"):
        cd.Table([0.0], ["f[kN]"], [[1.0]], ["N"]).save(tmp_path / "b.sto")
    (tmp_path / "c.sto").write_text(f"Units=mm\n{head}time\tA_1\tA_2\tA_3\n0\t1\t2\t3\n")  # of a Vec3
    assert cd.read_markers(tmp_path / "c.sto").positions[0, 0, 2] == 0.003
    (tmp_path / "d.sto").write_text(f"Units=mm\n{head}time\tf\n0\t1\n")
    with pytest.warns(UserWarning, match="says Units=mm, but not of which columns"):
        cd.read_table(tmp_path / "d.sto")
    (tmp_path / "e.csv").write_text("time [kg],f\n0,1\n")
    with pytest.raises(cd.errors.ShapeError, match=r"times are in \[kg\]; expected s, ms or min"):
        cd.read_table(tmp_path / "e.csv")


@pytest.mark.parametrize("name", ["", " knee", "knee ", "a\nb", "a\rb"])
def test_names_that_a_csv_does_not_keep_are_refused(tmp_path, name):
    table = cd.Table([0.0], [name, "b"], [[1.0, 2.0]], ["m", "m"])
    with pytest.raises(cd.errors.DescriptionError, match="not read again from a title"):
        table.save(tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["csv", "npz", "sto"])
def test_names_and_numbers_survive(tmp_path, ending):
    names = ["Knie_Übung", "膝", 'a"b', "a,b", "#x", "-1", "a;b"]
    names += [] if ending == "sto" else ["a\tb", "a b"]
    x = np.array(
        [
            0.0,
            -0.0,
            5e-324,
            -2.2250738585072014e-308,
            1.7976931348623157e308,
            1 / 3,
            1e22,
            9007199254740993,
            np.nan,
        ]
    )
    table = cd.Table(np.arange(len(x)) / 3, names, np.tile(x[:, None], len(names)), ["m"] * len(names))
    table.save(tmp_path / f"a.{ending}")
    again = cd.read_table(tmp_path / f"a.{ending}")
    assert again.names == table.names
    assert again.values.tobytes() == table.values.tobytes() and again.time.tobytes() == table.time.tobytes()


@pytest.mark.parametrize("stem", ["inDegrees=yes", "endheader", "nRows 7", "a b"])
def test_a_files_name_is_no_key_of_its_header(tmp_path, stem):
    table = cd.Table(T, ["a"], np.full((3, 1), np.nan), ["m"])
    table.save(tmp_path / f"{stem}.sto")
    assert cd.read_table(tmp_path / f"{stem}.sto").degrees is False


@pytest.mark.parametrize("ending", ["csv", "npz", "sto"])
def test_empty_tables(tmp_path, ending):
    for table in (cd.Table([], ["a"], np.empty((0, 1)), ["m"]), cd.Table([0.0, 1.0], [], np.empty((2, 0)))):
        table.save(tmp_path / f"a.{ending}")
        again = cd.read_table(tmp_path / f"a.{ending}")
        assert again.names == table.names and again.values.shape == table.values.shape


def test_what_a_user_says_of_degrees_counts_for_every_format(tmp_path):
    for ending in ("npz", "sto"):
        cd.Table(T, ["a"], np.ones((3, 1)), degrees=True).save(tmp_path / f"a.{ending}")
        assert cd.read_table(tmp_path / f"a.{ending}").degrees is True
        assert cd.read_table(tmp_path / f"a.{ending}", degrees=False).degrees is False
