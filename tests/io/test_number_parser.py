"""Numbers in text by machine code: as Python's float, or not at all."""

import random

import numpy as np
import pytest

import condyle as cd
from condyle.io import number_parser
from condyle.io.number_parser import plain_numbers


@pytest.fixture(autouse=True)
def _of_any_length(monkeypatch):
    """These texts are short: machine code would not be made for them."""
    monkeypatch.setattr(number_parser, "SHORT", 0)


def written(rng: random.Random) -> str:
    """A number as programs write them, or one that lies between two doubles."""
    match rng.randrange(6):
        case 0:
            return repr(rng.uniform(-1, 1) * 10 ** rng.randint(-30, 30))
        case 1:
            return f"{rng.uniform(-1000, 1000):.{rng.randint(0, 15)}f}"
        case 2:
            return f"{rng.uniform(-1, 1) * 10 ** rng.randint(-60, 60):.{rng.randint(0, 18)}e}"
        case 3:
            return str(rng.randint(1 - 10**19, 10**19 - 1))
        case 4:
            return str((2 * rng.randint(2**52, 2**53 - 1) + 1) * 2 ** rng.randint(0, 8))
    return f"{rng.randint(0, 99)}.{rng.randint(0, 9):0{rng.randint(1, 17)}d}e{rng.randint(-9, 9):+03d}"


def test_exact(evidence):
    rng, cells = random.Random(0), 0
    for separator in (" ", "\t", ","):
        rows = [[written(rng) for _ in range(7)] for _ in range(3000)]
        text = "\n".join(separator.join(row) for row in rows).encode()
        found = plain_numbers(text, 0, 7, separator.strip(" "))
        expected = np.array([[float(cell) for cell in row] for row in rows])
        np.testing.assert_array_equal(found.view(np.int64), expected.view(np.int64))  # zeros have signs
        cells += found.size
    # 400,000 of them agreed once; float(text) is the nearest double
    evidence(f"numbers of text by machine code that differ from Python's, of {cells}", 0, 0)


@pytest.mark.parametrize(
    "line",
    [
        "1 2",
        "1 2 3 4",
        "1 2 x",
        "1 2 nan",
        "1 2 inf",
        "1 2 .",
        "1 2 1e",
        "1 2 3e+",
        "1 2 1e400",
        "1 2 1e-400",
        "1 2 123456789012345678901",
        "1\0 2 3",
        "1 2 3\0",
        "1 2 --3",
        "1_0 2 3",
        "1 2 0x3",
        "1 2 1e99999999999999",
        "1 2 1,5",
        "1  2 3",
        " 1 2 3 ",
        '"1" 2 3',
    ],
)
def test_odd_lines_are_left(line):
    tabs = line.replace(" ", "\t").encode()
    assert plain_numbers(tabs, 0, 3, "\t") is None
    assert plain_numbers(b"1\t2\t3\n" + tabs + b"\n", 0, 3, "\t") is None
    if line.split() != ["1", "2", "3"]:
        assert plain_numbers(line.encode(), 0, 3) is None


def test_blank_lines_and_line_ends():
    text = b"1 2\r\n\r\n  \t\n 3\t4  \n5 6"
    np.testing.assert_array_equal(plain_numbers(text, 0, 2), [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(plain_numbers(b"1, -2\r\n+.5 ,6.\n", 0, 2, ","), [[1, -2], [0.5, 6]])
    assert plain_numbers(b"", 0, 2) is None or not len(plain_numbers(b"", 0, 2))


def test_both_ways_read_the_same(tmp_path, monkeypatch):
    table = cd.Table(
        np.arange(50) / 7, ["a", "b"], np.random.default_rng(0).normal(size=(50, 2)), degrees=False
    )
    for ending in ("sto", "mot", "csv"):
        path = tmp_path / f"t.{ending}"
        table.save(path)
        quick = cd.read_table(path)
        with monkeypatch.context() as without:
            without.setattr("condyle.io.number_parser.plain_numbers", lambda *_: None)
            slow = cd.read_table(path)
        assert quick.names == slow.names and quick.units == slow.units and quick.degrees == slow.degrees
        np.testing.assert_array_equal(quick.values, slow.values)
        np.testing.assert_array_equal(quick.time, table.time)


def test_gaps_are_nan_where_they_are_allowed():
    text = b"1\t\t3\t\r\n\t5\t\n\n7\t8\t9\t\t\n"
    found = plain_numbers(text, 0, 3, "\t", gaps=True)
    np.testing.assert_array_equal(found, [[1, np.nan, 3], [np.nan, 5, np.nan], [7, 8, 9]])
    assert plain_numbers(text, 0, 3, "\t") is None
    assert plain_numbers(b"1\t2\n", 0, 3, "\t", gaps=True) is None, "a row that ends early"
    assert plain_numbers(b"1\t2\t3\t4\n", 0, 3, "\t", gaps=True) is None
    assert plain_numbers(b"1\t-\t3\n", 0, 3, "\t", gaps=True) is None


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_markers_are_read_the_same_at_once_and_line_by_line(tmp_path, monkeypatch, end):
    places = np.random.default_rng(1).normal(size=(40, 3, 3))
    places[5:9, 1] = places[-1, 2] = np.nan
    path = tmp_path / "walk.trc"
    cd.Markers(np.arange(40) / 60, ("a", "b", "c"), places).save(path)
    path.write_bytes(path.read_bytes().replace(b"\n", end.encode()))
    quick = cd.read_markers(path)
    asked = list[tuple[object, ...]]()
    with monkeypatch.context() as without:
        without.setattr("condyle.io.trc.plain_numbers", lambda *given, gaps: asked.append(given))
        slow = cd.read_markers(path)
    assert asked and quick.names == slow.names and quick.rate == slow.rate and quick.units == slow.units
    np.testing.assert_array_equal(quick.time, slow.time)
    np.testing.assert_array_equal(quick.positions, slow.positions)
    np.testing.assert_allclose(quick.positions, places, rtol=1e-15)  # written to the last digit


def test_short_texts_need_no_machine_code(monkeypatch, tmp_path):
    """Nothing is compiled for a short file, and its numbers are those that the other parser reads."""
    monkeypatch.setattr(number_parser, "SHORT", 100_000)
    monkeypatch.setattr(number_parser, "_made", [])
    monkeypatch.setattr(number_parser.disk_cache, "loaded", lambda key, load: None)  # an empty cache
    monkeypatch.setattr(number_parser, "_write", lambda b: pytest.fail("it was compiled"))
    path = tmp_path / "short.csv"
    path.write_text("time,x\n0,1.5\n0.1,-2e-3\n")
    np.testing.assert_array_equal(cd.read_table(path).values, [[1.5], [-2e-3]])
    assert plain_numbers(b"1 2\n3 4\n", 0, 2) is None
