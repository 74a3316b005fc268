"""DataFrames: units stay with the numbers that they are units of, and with no others."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import condyle as cd

pd = pytest.importorskip("pandas")
T = np.linspace(0, 1, 6)
TABLE = cd.Table(
    T,
    ["knee", "hip", "force", "still"],
    np.stack([60 * T + 1, -30 * T + 2, 5 * T + 3, 0 * T], axis=1),
    ["deg", "rad", "kN", "m"],
)


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f,
        lambda f: f.copy(),
        lambda f: f.loc[0.2:0.7],
        lambda f: f.iloc[::2],
        lambda f: f[f.index > 0.5],
        lambda f: f[["hip", "knee"]],
        lambda f: f.drop(columns="hip"),
        lambda f: f.sort_index(axis=1),
        lambda f: f.rename(columns={"knee": "Knee"}),
        lambda f: f.rename(columns=str.upper),
        lambda f: f.reset_index(),
        lambda f: f.reset_index().set_index("time"),
        lambda f: f.shift(1),
        lambda f: f.T.T,
        lambda f: pd.concat([f.iloc[:3], f.iloc[3:]]),
        lambda f: pd.concat([f[["hip"]], f[["knee"]]], axis=1),
        lambda f: pickle.loads(pickle.dumps(f)),
    ],
    ids=range(17),
)
def test_what_leaves_numbers_as_they_are_keeps_their_units(change):
    again = cd.Table.from_pandas(change(TABLE.to_pandas()))
    known = dict(zip(TABLE.names, TABLE.units, strict=True))
    assert again.units == tuple(known[name.lower()] for name in again.names)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda f: f * 2, "knee, hip, force"),
        (np.radians, "knee, hip, force"),
        (lambda f: f / 1000, "knee, "),
        (lambda f: f.assign(knee=np.radians(f["knee"])), "knee"),
        (lambda f: f.assign(hip=f["knee"]), "hip"),
        (lambda f: f.diff(), "knee"),
        (lambda f: f.cumsum(), "knee"),
        (lambda f: -f, "knee"),
        (lambda f: pd.concat([f, f + 1]), "knee"),
    ],
    ids=range(9),
)
def test_units_of_changed_numbers_are_asked_for(change, names):
    frame = change(TABLE.to_pandas())
    with pytest.raises(
        cd.errors.DescriptionError, match=f"the numbers of {names}.*from_pandas.frame, units="
    ):
        cd.Table.from_pandas(frame)
    said = cd.Table.from_pandas(frame, units={"knee": "rad", "hip": "rad", "force": "", "still": "m"})
    assert said.units == ("rad", "rad", "", "m")
    assert cd.Table.from_pandas(frame, units=TABLE.units).units == TABLE.units


@pytest.mark.parametrize("degrees", [True, False])
def test_degrees_of_a_file_stay_with_their_numbers(degrees):
    table = cd.Table(T, ["knee"], 60 * T[:, None] + 1, degrees=degrees)
    frame = table.to_pandas()
    assert cd.Table.from_pandas(frame).degrees is degrees
    with pytest.raises(cd.errors.DescriptionError, match=f"gave as degrees={degrees}"):
        cd.Table.from_pandas(np.radians(frame))
    assert cd.Table.from_pandas(np.radians(frame), degrees=False).degrees is False
    assert cd.Table.from_pandas(np.radians(frame), units=["rad"]).units == ("rad",)


def test_other_frames():
    frame = TABLE.to_pandas()
    assert json.loads(json.dumps(frame.attrs))["units"]["knee"] == "deg"  # as .parquet keeps it
    frame.attrs = json.loads(json.dumps(frame.attrs))
    with pytest.raises(cd.errors.DescriptionError, match="units in attrs are kept while numbers change"):
        cd.Table.from_pandas(frame)
    titled = pd.DataFrame({"time [ms]": [0, 500.0], "knee [deg]": [1.0, 2.0], "fy (kN)": [3.0, 4.0]})
    table = cd.Table.from_pandas(titled)
    assert table.titles == ["knee [deg]", "fy [kN]"] and list(table.time) == [0, 0.5]
    frames = cd.Table([3, 1], ["a"], [[1.0], [2.0]], ["m"], over="frame")
    assert cd.Table.from_pandas(frames.to_pandas()).over == "frame"
    with pytest.raises(cd.errors.ShapeError, match=r"times are in \[V\]"):
        cd.Table.from_pandas(pd.DataFrame({"time [V]": [0.0], "a": [1.0]}))
