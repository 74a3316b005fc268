"""Members: distributions, ranges, methods, correlations."""

import numpy as np
import pytest
import scipy.stats

import condyle as cd
from condyle.sweeps import members

WHAT = {"mass": scipy.stats.norm(70, 5), "slack": (0.1, 0.2)}


def draw(n=1024, **more):
    return cd.members(WHAT, n=n, seed=1, **more)


def test_a_table_with_one_row_per_member():
    table = draw(100, units={"mass": "kg"})
    assert isinstance(table, cd.Table) and len(table) == 100 and table.over == "member"
    assert table.names == ("mass", "slack") and table.units == ("kg", "")
    assert ((table["slack"] > 0.1) & (table["slack"] < 0.2)).all()


@pytest.mark.parametrize("method", ["sobol", "random", "latin", "halton"])
def test_distributions(method):
    table = draw(method=method)
    # Kolmogorov-Smirnov's distance of 1024 random points is below 0.06 with a chance of 0.999
    assert scipy.stats.kstest(table["mass"], WHAT["mass"].cdf).statistic < 0.06
    assert scipy.stats.kstest(table["slack"], scipy.stats.uniform(0.1, 0.1).cdf).statistic < 0.06
    np.testing.assert_array_equal(table.values, draw(method=method).values)
    assert (cd.members(WHAT, n=1024, method=method, seed=2).values != table.values).all()


@pytest.mark.parametrize("method", ["sobol", "random", "halton"])
def test_the_first_are_the_same_whatever_n_is(method):
    np.testing.assert_array_equal(draw(1024, method=method).values[:100], draw(100, method=method).values)


def test_sobol_is_even():
    def error(method):
        return abs(draw(4096, method=method)["slack"].mean() - 0.15)

    assert error("sobol") < 1e-5 < 1e-4 < error("random") < 2e-3  # 1/n against 0.03/sqrt(n)


def test_grid():
    table = cd.members({"a": (0, 1), "b": scipy.stats.uniform(0, 4)}, n={"a": 3, "b": 2}, method="grid")
    np.testing.assert_allclose(
        table.values, [[0, 1], [0, 3], [0.5, 1], [0.5, 3], [1, 1], [1, 3]], rtol=1e-15, atol=1e-15
    )
    assert len(cd.members(WHAT, n=25, method="grid")) == 25
    with pytest.raises(cd.errors.DescriptionError, match=r"no grid of 2 quantities: take 25 \(5 points"):
        cd.members(WHAT, n=26, method="grid")


def test_correlations():
    what = {name: scipy.stats.norm(0, 1) for name in "abc"}
    asked = {("a", "b"): 0.8, ("b", "c"): -0.5}
    table = cd.members(what, n=4096, correlations=asked, seed=3)
    found = np.corrcoef(table.values.T)
    # of 4096 even points: errors of some 1/n; random ones would have 0.015
    np.testing.assert_allclose(found, [[1, 0.8, 0], [0.8, 1, -0.5], [0, -0.5, 1]], atol=5e-3)
    np.testing.assert_allclose(table["a"], cd.members(what, n=4096, seed=3)["a"], rtol=1e-9, atol=1e-12)
    same = cd.members({"a": (0, 1), "b": (0, 2)}, n=64, correlations={("a", "b"): 1.0})
    np.testing.assert_allclose(same["b"], 2 * same["a"], rtol=1e-7)
    with pytest.raises(cd.errors.DescriptionError, match="contradict each other"):
        cd.members(what, n=8, correlations={("a", "b"): 0.9, ("b", "c"): 0.9, ("a", "c"): -0.9})


def test_saltelli_swaps_one_quantity_at_a_time():
    table = cd.members(WHAT, n=8, method="saltelli")
    a, b, *mixed = table.values.reshape(4, 8, 2)
    for k in range(2):
        np.testing.assert_array_equal(mixed[k][:, k], b[:, k])
        np.testing.assert_array_equal(mixed[k][:, 1 - k], a[:, 1 - k])
    with pytest.raises(cd.errors.DescriptionError, match="power of two, such as 8"):
        cd.members(WHAT, n=9, method="saltelli")


def test_discrete_distributions_and_members_in_files(tmp_path):
    table = cd.members({"sides": scipy.stats.randint(1, 7)}, n=600)
    assert set(table["sides"]) == set(range(1, 7))
    table.save(tmp_path / "members.csv")
    again = cd.read_table(tmp_path / "members.csv")
    assert again.over == "member"
    np.testing.assert_array_equal(again.values, table.values)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"quantities": {}}, "expected what varies by name"),
        ({"quantities": {"a": (2, 1)}}, "from low to high"),
        ({"quantities": {"a": 3}}, r"a range \(low, high\) or a distribution"),
        ({"quantities": {"a": scipy.stats.norm}}, "in brackets after it"),
        ({"quantities": {"a": scipy.stats.norm(0, -1)}}, "not finite"),
        ({"n": 0}, "whole number from 1 on"),
        ({"n": 2.5}, "whole number from 1 on"),
        ({"seed": -1}, "seed"),
        ({"method": "sobl"}, "did you mean 'sobol'"),
        ({"correlations": {("mass", "slak"): 0.5}}, "did you mean 'slack'"),
        ({"correlations": {("mass", "slack"): 1.5}}, "from -1 to 1"),
        ({"correlations": {("mass", "slack"): 0.5}, "method": "saltelli"}, "vary one by one"),
        ({"units": {"mas": "kg"}}, "did you mean 'mass'"),
    ],
)
def test_mistakes(arguments, words):
    given = {"quantities": WHAT, "n": 8} | arguments
    with pytest.raises(cd.errors.CondyleError, match=words):
        cd.members(given.pop("quantities"), **given)


@pytest.mark.parametrize("point", [0.0, 1.0])
def test_no_member_is_infinite(point, monkeypatch):
    """Probabilities of 0 and 1, which rounding may give, have infinite quantiles."""
    monkeypatch.setattr(members, "_points", lambda *given: np.full((4, 2), point))
    assert np.isfinite(draw(4).values).all()
