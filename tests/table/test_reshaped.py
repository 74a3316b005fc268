"""Parts, sums, other times, rates and filters of Tables, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd

t = np.linspace(0, 1, 101)


@pytest.fixture
def table():
    return cd.Table(t, ["x", "f"], np.stack([np.sin(t), t**3], axis=1), ["m", "N"])


def test_parts_and_names(table):
    assert table.between(0.2, 0.5).time[[0, -1]] == pytest.approx([0.2, 0.5])
    assert table.rename({"x": "y"}).names == ("y", "f")
    assert table.rename(str.upper).names == ("X", "F")
    assert table.join(table.rename(str.upper)).units == ("m", "N", "m", "N")
    table["x"] = 2.0
    table["new"] = t
    assert table.names == ("x", "f", "new")
    assert table.units == ("m", "N", "")
    assert (table["x"] == 2).all()
    with pytest.raises(cd.errors.ShapeError, match="expected 101 numbers"):
        table["x"] = [1.0, 2.0]
    with pytest.raises(cd.errors.UnknownNameError):
        table.rename({"z": "y"})


def test_arithmetic_has_units(table):
    mm = cd.Table(t, ["x"], 1e3 * np.sin(t)[:, None], ["mm"])
    np.testing.assert_allclose((table[["x"]] - mm).values, 0, atol=1e-15)
    assert (table * table).units == ("m^2", "N^2")
    assert (table[["x"]] * mm).units == ("m^2",)
    np.testing.assert_allclose((table[["x"]] * mm)["x"], np.sin(t) ** 2)
    assert (table / table).units == ("", "")
    np.testing.assert_allclose((1 - 2 * table)["f"], 1 - 2 * t**3)
    np.testing.assert_allclose((t * table)["f"], t**4)
    assert abs(-table)["x"].min() == 0
    assert table.per(70, "kg").units == ("m/kg", "N/kg")
    assert table.per(700, "BW").units == ("BW", "BW")
    for wrong, words in (
        (lambda: table + table.with_units(["N", "m"]), r"\[N\] and \[m\] cannot be added"),
        (lambda: table + table[["x"]], "only one has f"),
        (lambda: table + table[2:], "resample"),
        (lambda: table + np.zeros(7), "do not fit"),
    ):
        with pytest.raises(cd.errors.ShapeError, match=words):
            wrong()


def test_other_times_and_rates(table):
    again = table.resample(37)
    assert np.diff(again.time) == pytest.approx(1 / 37)
    np.testing.assert_allclose(again["x"], np.sin(again.time), atol=1e-10)  # h^4 / 384
    np.testing.assert_allclose(table.resample(times=[0.5])["f"], 0.125, atol=1e-14)
    # a spline of degree 5 has polynomials of degree 3 exactly, one of degree 3 too
    np.testing.assert_allclose(table.differentiate()["f"], 3 * t**2, atol=1e-11)
    np.testing.assert_allclose(table.integrate()["f"], t**4 / 4, atol=1e-14)
    assert table.differentiate().units == ("m/s", "N/s")
    assert table.integrate().units == ("m s", "N s")
    assert cd.Table(t, ["a"], t[:, None], ["deg/s"]).integrate().units == ("deg",)
    wrapped = cd.Table(t, ["a"], (np.degrees(6 * t + 2) % 360)[:, None], ["deg"])
    np.testing.assert_allclose(np.diff(wrapped.resample(50)["a"]), np.degrees(6 / 50), rtol=1e-9)


def test_gaps(table):
    x = table.values.copy()
    x[10:13, 0] = np.nan
    x[40:80, 1] = np.nan
    x[:2, 1] = np.nan
    gappy = cd.Table(t, table.names, x, table.units)
    filled = gappy.fill_gaps(0.1)
    assert filled.filled.sum() == 3
    assert filled.filled[10:13, 0].all()
    np.testing.assert_allclose(filled["x"], np.sin(t), atol=1e-4)
    assert np.isnan(filled["f"]).sum() == 42
    assert "3 numbers filled, 2 gaps left" in filled.status
    at = gappy.resample(200)
    assert np.isnan(at["f"][(at.time > 0.39) & (at.time < 0.8)]).all()
    assert np.isfinite(at["f"][at.time > 0.81]).all()
    with pytest.raises(cd.errors.ShapeError, match="fill_gaps"):
        gappy.differentiate()


def test_trials_after_each_other(table):
    both = cd.Table.concatenate([table, table[["f", "x"]]], shift=True)
    assert len(both) == 202
    assert both.time[101] == pytest.approx(1.01)
    with pytest.raises(cd.errors.ShapeError, match="shift=True"):
        cd.Table.concatenate([table, table])
    with pytest.raises(cd.errors.ShapeError, match="other columns"):
        cd.Table.concatenate([table, table[["x"]]])


def test_filters():
    """Sines of 5 and 50 Hz on an offset: what is left in the middle, where no end is felt."""
    s = np.arange(2000) / 1000
    slow, fast = np.sin(2 * np.pi * 5 * s), np.sin(2 * np.pi * 50 * s)
    both = cd.Table(s, ["e"], (slow + fast + 0.3)[:, None], ["V"])
    middle = slice(400, -400)
    for found, wanted, within in (
        (both.low_pass(15), slow + 0.3, 0.03),  # 1 / (1 + (50/15)^6) of the fast one
        (both.high_pass(20), fast, 1e-3),
        (both.band_pass(20, 400), fast, 1e-3),
        (both.notch(50), slow + 0.3, 0.05),  # its ring dies away within 0.3 s
        (both.moving_mean(0.2), 0.3 + 0 * s, 0.01),  # a whole number of both periods, but for one row
    ):
        np.testing.assert_allclose(found["e"][middle], wanted[middle], atol=within)
        assert found.units == ("V",)
    with pytest.raises(cd.errors.DescriptionError, match="below half of the 1000 rows"):
        both.band_pass(20, 600)
    with pytest.raises(cd.errors.ShapeError, match="resample"):
        cd.Table([0, 1, 3, 4, 5], ["e"], np.zeros((5, 1))).high_pass(0.1)
    np.testing.assert_allclose(
        both.moving_mean(0.002)["e"][1:-1], np.convolve(both["e"], [1 / 3] * 3, "valid")
    )
    for window in (1e-4, 1e-3, -1.0):
        with pytest.raises(cd.errors.DescriptionError, match=r"at least 0\.002 s"):
            both.moving_mean(window)


@pytest.mark.parametrize(
    ("a", "b", "product", "quotient"),
    [
        ("m/s", "m/s", (1, "m^2/s^2"), (1, "")),
        ("m/s^2", "s", (1, "m/s"), (1, "m/s^3")),
        ("mm/s", "cm", (1e-5, "m^2/s"), (0.1, "1/s")),
        ("deg/s", "deg", (np.radians(1) ** 2, "rad^2/s"), (1, "1/s")),
        ("N m", "deg/s", (np.radians(1), "N m rad/s"), (1 / np.radians(1), "N m s/rad")),
        ("", "m", (1, "m"), (1, "1/m")),
        ("m", "", (1, "m"), (1, "m")),
    ],
)
def test_units_of_rates_multiply(a, b, product, quotient):
    x, y = (cd.Table([0.0, 1.0], ["x"], [[1.0], [1.0]], [unit]) for unit in (a, b))
    for made, (factor, unit) in ((x * y, product), (x / y, quotient)):
        assert made.units == (unit,)
        np.testing.assert_allclose(made["x"], factor, rtol=1e-14)


def test_wrapped_angles_beside_a_gap():
    """A gap in one column does not bring back the jumps of another, nor its own."""
    turned = np.degrees(8 * t)
    values = np.stack([turned, turned], axis=1)
    values = (values + 180) % 360 - 180
    values[40:45, 1] = np.nan
    table = cd.Table(t, ["a", "b"], values, ["deg", "deg"])
    times = np.linspace(0, 1, 334)
    found = table.resample(times=times)
    np.testing.assert_allclose(found["a"], np.degrees(8 * times), atol=1e-9)  # splines of a line
    known = np.isfinite(found["b"])
    assert 300 < known.sum() < 334
    np.testing.assert_allclose(found["b"][known], np.degrees(8 * times)[known], atol=1e-9)
    np.testing.assert_allclose(table[["a"]].differentiate()["a"], np.degrees(8), rtol=1e-9)


def test_means_of_wrapped_angles():
    turned = np.degrees(8 * t)
    table = cd.Table(t, ["a"], ((turned + 180) % 360 - 180)[:, None], ["deg"])
    inner = slice(5, -5)  # means at the ends are of fewer rows
    np.testing.assert_allclose(table.moving_mean(0.05)["a"][inner], turned[inner], atol=1e-9)
    smooth = cd.Table(t, ["a"], turned[:, None], ["deg"])
    np.testing.assert_allclose(table.high_pass(5.0).values, smooth.high_pass(5.0).values, atol=1e-9)


def test_parts_know_what_was_filled(table):
    table.values[10:12, 1] = np.nan
    whole = table.fill_gaps(0.1)
    assert whole.filled.sum() == 2
    assert whole[5:20].filled.sum() == 2 and whole[5:11].filled.sum() == 1
    assert whole[["f", "x"]].filled[10].tolist() == [True, False]
    assert (2 * whole).filled.sum() == 2
    assert whole.resample(50).filled is None  # other rows
    whole["new"] = 1.0
    assert whole[["new"]].filled is None
