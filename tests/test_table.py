"""Tables: rows, columns, files, pandas; what is no table is refused."""
from __future__ import annotations

import builtins

import numpy as np
import pytest

import condyle as cd

TABLE = cd.Table([0, 1, 2], ["a", "b"], [[1, 2], [3, 4], [5, 6]], ["m", ""], status="x")


@pytest.mark.parametrize(("mistake", "words"), [
    (lambda: cd.Table([0, 1], ["a"], [["x"], ["y"]]), "time and values must be numbers"),
    (lambda: cd.Table([[0, 1]], ["a"], [[1], [2]]), "time of shape (m,)"),
    (lambda: cd.Table([0, 1], ["a"], [[1], [2]], ["m", "s"]), "1 names ('a',) need as many units, got 2"),
    (lambda: cd.Table([0, 1], [7], [[1], [2]]), "names and units are text"),
    (lambda: cd.Table([0, 1], ["a"], [1, 2]), "values of shape (m, 1), got time (2,) and values (2,)"),
    (lambda: cd.Table([0], ["a", "b", "c"], [[1, 2, 3]], "deg"), "expected one per column, ['deg', 'deg']"),
    (lambda: TABLE[0], "rows by a slice, table[2:10]"),
    (lambda: TABLE[["a", "total"]], "unknown column 'total'"),
])
def test_what_is_no_table_is_refused(mistake, words):
    with pytest.raises(cd.CondyleError) as told:
        mistake()
    assert words in str(told.value)


def test_rows_of_a_table():
    part = TABLE[1:]
    assert isinstance(part, cd.Table) and part.titles == TABLE.titles and part.status == "x"
    np.testing.assert_array_equal(part.values, [[3, 4], [5, 6]])
    np.testing.assert_array_equal(part.time, [1, 2])
    assert part.t is part.time                              # the name that a Trajectory has


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


@pytest.mark.parametrize(("name", "words"), [
    ("run.xlsx", "to_excel"), ("run", r"save\('run\.csv'\)")])
def test_other_files_are_refused_with_the_remedy(tmp_path, name, words):
    with pytest.raises(cd.DescriptionError, match=rf"must end in \.csv.*{words}"):
        TABLE.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_files_that_cannot_be_written(tmp_path):
    for path, words in ((tmp_path / "no" / "run.csv", "there is no folder"), (tmp_path, "is a folder"),
                        (3, "got 3")):
        with pytest.raises(cd.DescriptionError, match=words):
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
    with pytest.raises(cd.DescriptionError, match=r"are over 'frame': save as \.csv"):
        table.save(tmp_path / "worst.sto")
    with pytest.raises(cd.ShapeError, match="over: expected one of"):
        cd.Table([0], ["a"], [[1]], over="distance")
