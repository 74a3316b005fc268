"""Summaries that are made on workers: the same as of all results, to the last bit, however they are merged."""

import itertools

import numpy as np
import pytest

import condyle as cd
from condyle.sweeps.summary import BLOCK, Nodes, Summary, aligned, node_of
from tests.sweeps import works

MEMBERS = cd.members({"a": (-1, 1), "b": (0, 1)}, n=1000, seed=3)


@pytest.fixture(scope="module")
def plain():
    return cd.sweep(works.odd, MEMBERS, retries=0)


@pytest.mark.parametrize(
    "options", [{}, {"chunk": 64}, {"chunk": 300}, {"executor": "processes", "chunk": 256}]
)
def test_reduced(plain, options):
    found = cd.sweep(works.odd, MEMBERS, retries=1, reduce=True, **options)
    assert [f.member for f in found.failures] == [f.member for f in plain.failures]
    assert found.failures[0].attempts == 2 and found.status == cd.Status.SOME_FAILED
    for name in ("y", "z"):
        assert found.summary[name] == plain.summary[name]
    assert found.table.names == ("a", "b")
    with pytest.raises(cd.errors.DescriptionError, match=r"stayed on the workers \(reduce=True\)"):
        found[0]
    with pytest.raises(cd.errors.DescriptionError, match="stayed on the workers"):
        found.sensitivity("y")


def test_numbers_are_right(plain):
    for name in ("y", "z"):
        y, got = plain[name][np.isfinite(plain[name])], plain.summary[name]
        assert got["count"] == len(y) and got["least"] == y.min() and got["greatest"] == y.max()
        np.testing.assert_allclose(got["mean"], y.mean(), rtol=1e-12)
        np.testing.assert_allclose(got["standard deviation"], y.std(ddof=1), rtol=1e-12)
        q = np.linspace(0, 1, 41)
        wanted = np.quantile(y, q, method="inverted_cdf")
        np.testing.assert_allclose(plain.summary.quantile(name, q), wanted, rtol=2.0**-11)  # half a bin
    counts, edges = plain.summary.histogram("z", [0, 100, 1000])
    assert counts.tolist() == [86, 771] and edges.tolist() == [0, 100, 1000]
    assert "count" in repr(plain.summary) and plain.summary.to_pandas().loc["z", "greatest"] == 999
    with pytest.raises(cd.errors.UnknownNameError, match="unknown result 'x'"):
        plain.summary["x"]
    with pytest.raises(cd.errors.DescriptionError, match="shares from 0 to 1"):
        plain.summary.quantile("y", 2)


def test_a_summary_goes_on_from_a_store(plain, tmp_path):
    calls = itertools.count(1)

    def work(member):
        if next(calls) == 500:
            raise KeyboardInterrupt
        return works.odd(member)

    found = cd.sweep(work, MEMBERS, retries=0, reduce=True, chunk=BLOCK, store=tmp_path / "s")
    assert found.status == cd.Status.INTERRUPTED and 0 < found._done.sum() < 500
    again = cd.sweep(work, MEMBERS, retries=0, reduce=True, store=tmp_path / "s")
    assert again.summary["y"] == plain.summary["y"] and again.summary["z"] == plain.summary["z"]
    assert next(calls) < 1000 + 2 * BLOCK  # the block that was interrupted ran again, no other
    with pytest.raises(cd.errors.DescriptionError, match="different reduce"):
        cd.sweep(work, MEMBERS, store=tmp_path / "s")


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000, 1500])
def test_any_order_gives_the_same_bits(count):
    rng = np.random.default_rng(count)
    y, blocks = rng.normal(size=count) * 1e3 + 7, -(-count // BLOCK)
    whole = Summary(node_of(np.arange(count), {"y": y}, 0, blocks))["y"]
    for _ in range(5):
        first, chunks = 0, []
        while first < blocks:
            size = aligned(first, blocks - first, int(rng.integers(1, blocks + 1)), blocks)
            chunks.append((first, size))
            first += size
        nodes = Nodes(count)
        for first, size in rng.permutation(chunks).tolist():
            index = np.arange(first * BLOCK, min((first + size) * BLOCK, count))
            level = (size - 1).bit_length()
            nodes.add((level, first >> level), node_of(index, {"y": y[index]}, first, size))
        assert len(nodes.at) == 1 and Summary(nodes.root)["y"] == whole
