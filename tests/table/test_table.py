"""Tables: rows, columns, files, pandas; what is no table is refused."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

import condyle as cd
from condyle.table.filters import _continuous

TABLE = cd.Table([0, 1, 2], ["a", "b"], [[1, 2], [3, 4], [5, 6]], ["m", ""], status="x")


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda: cd.Table([0, 1], ["a"], [["x"], ["y"]]), "time and values must be numbers"),
        (lambda: cd.Table([[0, 1]], ["a"], [[1], [2]]), "time of shape (m,)"),
        (lambda: cd.Table([0, 1], ["a"], [[1], [2]], ["m", "s"]), "1 names ('a',) need as many units, got 2"),
        (lambda: cd.Table([0, 1], [7], [[1], [2]]), "names and units are text"),
        (lambda: cd.Table([0, 1], ["a"], [1, 2]), "values of shape (m, 1), got time (2,) and values (2,)"),
        (
            lambda: cd.Table([0], ["a", "b", "c"], [[1, 2, 3]], "deg"),
            "expected one per column, ['deg', 'deg']",
        ),
        (lambda: TABLE[0], "rows by a slice, table[2:10]"),
        (lambda: TABLE[["a", "total"]], "unknown column 'total'"),
    ],
)
def test_what_is_no_table_is_refused(mistake, words):
    with pytest.raises(cd.errors.CondyleError) as told:
        mistake()
    assert words in str(told.value)


def test_rows_of_a_table():
    part = TABLE[1:]
    assert isinstance(part, cd.Table) and part.titles == TABLE.titles and part.status == "x"
    np.testing.assert_array_equal(part.values, [[3, 4], [5, 6]])
    np.testing.assert_array_equal(part.time, [1, 2])
    assert part.t is part.time  # the name that a Trajectory has


def test_some_columns_are_a_table():
    some = TABLE[["b", "a"]]
    assert some.titles == ["b", "a [m]"]
    np.testing.assert_array_equal(some.values, np.column_stack([TABLE["b"], TABLE["a"]]))


def test_pandas_is_asked_for_by_name(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install pandas; without it table\.values"):
        TABLE.to_pandas()


@pytest.mark.parametrize(("name", "words"), [("run.xlsx", "to_excel"), ("run", r"save\('run\.csv'\)")])
def test_other_files_are_refused_with_the_remedy(tmp_path, name, words):
    with pytest.raises(cd.errors.DescriptionError, match=rf"must end in \.csv.*{words}"):
        TABLE.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_files_that_cannot_be_written(tmp_path):
    for path, words in (
        (tmp_path / "no" / "run.csv", "there is no folder"),
        (tmp_path, "is a folder"),
        (3, "got 3"),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=words):
            TABLE.save(path)


def test_degrees_that_a_csv_cannot_say_are_warned_of(tmp_path):
    angles = cd.Table([0, 1], ["knee"], [[1.0], [2.0]], degrees=True)
    with pytest.warns(UserWarning, match=r"'a\.csv': angles are in degrees.*degrees=True"):
        angles.save(tmp_path / "a.csv")
    cd.Table([0, 1], ["knee"], [[1.0], [2.0]], ["deg"], degrees=True).save(tmp_path / "b.csv")
    assert cd.read_table(tmp_path / "b.csv").units == ("deg",)
    angles.save(tmp_path / "c.npz")
    assert cd.read_table(tmp_path / "c.npz").degrees


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_rows_may_be_over_frames(tmp_path, ending):
    table = cd.Table([7, 3], ["angle"], [[1.0], [2.0]], ["deg"], over="frame")
    assert repr(table).splitlines()[1].split() == ["frame", "angle", "[deg]"]
    assert table[["angle"]].over == table[:1].over == "frame"
    table.save(tmp_path / f"worst.{ending}")
    again = cd.read_table(tmp_path / f"worst.{ending}")
    assert again.over == "frame" and list(again.time) == [7, 3]
    with pytest.raises(cd.errors.DescriptionError, match=r"are over 'frame': save as \.csv"):
        table.save(tmp_path / "worst.sto")
    with pytest.raises(cd.errors.ShapeError, match="over: expected one of"):
        cd.Table([0], ["a"], [[1]], over="distance")


LONG = cd.Table(np.cumsum([0.0] + [0.1] * 10), ["a"], np.arange(11.0)[:, None], ["m"], degrees=False)


@pytest.mark.parametrize(
    ("part", "rows"),
    [
        (slice(0.2, 0.5), [2, 3, 4, 5]),
        (slice(0.2, None), range(2, 11)),
        (slice(None, 0.3), [0, 1, 2, 3]),
        (slice(0, 0.2), [0, 1, 2]),
        (slice(0.3, 1), range(3, 11)),
        (slice(0.25, 0.45, 2), [3]),
        (slice(0.1, 0.5, 2), [1, 3, 5]),
        (slice(np.float64(0.8), 5.0), [8, 9, 10]),
        (slice(3.0, 4.0), []),
        (slice(0.5, 0.2), []),
        (slice(2, 4), [2, 3]),
        (slice(-2, None), [9, 10]),
    ],
)
def test_rows_by_time(part, rows):
    """Floats are times, with both ends in, though sums of 0.1 are not 0.3; whole numbers count rows."""
    found = LONG[part]
    np.testing.assert_array_equal(found["a"], list(rows))
    np.testing.assert_array_equal(found.time, LONG.time[list(rows)])
    assert found.units == ("m",) and found.degrees is False
    back = cd.Table(-LONG.time, ["a"], LONG.values, ["m"])  # a run backward in time
    ends = (None if x is None else -x for x in (part.start, part.stop))
    if any(isinstance(x, float) for x in (part.start, part.stop)):
        np.testing.assert_array_equal(back[slice(*ends, part.step)]["a"], list(rows))
    markers = cd.Markers(LONG.time, ["A"], LONG.values[:, :, None].repeat(3, 2))
    np.testing.assert_array_equal(markers[part]["A"][:, 0], list(rows))


@pytest.mark.parametrize(
    "part", [slice("a", "b"), slice(0.1, 0.2, 0.05), slice(np.nan, 1.0), slice(True, 0.5)]
)
def test_rows_by_nothing_else(part):
    with pytest.raises(cd.errors.ShapeError, match=r"or by times, table\[0\.2:0\.5\]|a step counts rows"):
        LONG[part]


def test_both_rows_of_an_event_are_in_a_slice():
    table = cd.Table([0, 0.5, 0.5, 1], ["u"], [[1], [2], [-2], [0]], ["m/s"])
    assert list(table[0.5:]["u"]) == [2, -2, 0] and list(table[:0.5]["u"]) == [1, 2, -2]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("kne", "unknown column 'kne'; did you mean 'knee_r' or 'knee_l'?"),
        ("time", "unknown column 'time'; known: 'knee_r', 'knee_l' (times are table.time)"),
        ("x", "unknown column 'x'; known: 'knee_r', 'knee_l'"),
    ],
)
def test_unknown_names_are_one_line(name, says):
    with pytest.raises(cd.errors.UnknownNameError) as told:
        cd.Table([0.0], ["knee_r", "knee_l"], [[1, 2]])[name]
    assert str(told.value) == says


def test_unknown_names_in_a_notebook():
    """One line for a mistake in a cell; the whole traceback for one in a function."""
    line = "UnknownNameError: line 2: unknown column 'c'; known: 'a', 'b'"
    for cell, says in (("t = TABLE\nt['c']", [line]), ("def f():\n    TABLE['c']\nf()", None)):
        with pytest.raises(cd.errors.UnknownNameError) as told:
            exec(compile(cell, "cell", "exec"), {"TABLE": TABLE, "__name__": "__main__"})
        if says:
            assert told.value._render_traceback_() == says
        else:
            with pytest.raises(NotImplementedError):
                told.value._render_traceback_()


@pytest.mark.parametrize("ending", ["csv", "sto", "mot", "npz"])
def test_times_that_no_reader_takes_are_not_written(tmp_path, ending):
    for time, words in (
        ([0, 1, 0.5], r"row 2: times must increase, 0\.5 follows 1"),
        ([0, np.nan, 1], "row 1: the time is missing"),
        ([0, 1, np.inf], "row 2: the time is infinite"),
        ([3, 2, 1, 2, 0], "row 3: times must decrease as the others do, 2 follows 1"),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=words):
            cd.Table(time, ["a"], np.ones((len(time), 1)), ["m"]).save(tmp_path / f"a.{ending}")
    for time in ([0, 1, 1, 2], [2, 1, 1, 0], [0, 0, 0], [5]):
        cd.Table(time, ["a"], np.arange(len(time))[:, None], ["m"]).save(tmp_path / f"a.{ending}")
        again = cd.read_table(tmp_path / f"a.{ending}")
        assert list(again.time) == time and list(again["a"]) == list(range(len(time)))


def test_the_smoothest_four_columns_are_the_quaternion():
    """A column beside a quaternion is taken for a part of it if it stays: the four that shrink most are it."""
    t = np.linspace(0, 1, 60)
    angle = 2.0 + 1.5 * t
    q = np.stack([np.cos(angle / 2), 0.6 * np.sin(angle / 2), 0 * t, 0.8 * np.sin(angle / 2)], axis=1)
    q[30:] *= -1  # the same orientations
    columns = [0.001 + 0 * t[:, None], q[:, [2]], q[:, [0, 1, 3]], 0.002 + 0 * t[:, None]]
    smooth = q.copy()
    smooth[30:] *= -1
    recorded = cd.Table(t, ["still", *"xwyz", "level"], np.column_stack(columns))
    found, notes = _continuous(recorded)
    np.testing.assert_array_equal(found[:, 1:5], smooth[:, [2, 0, 1, 3]])
    np.testing.assert_array_equal(found[:, [0, 5]], recorded.values[:, [0, 5]])
    assert notes == ["; quaternion x ..: 1 change of sign taken out"]
