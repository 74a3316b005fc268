"""Files that appear whole or not at all; what killed processes leave beside them goes."""
from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np
import pytest

import condyle as cd
from condyle import files
from condyle.table import Table
from tests.process import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are asked by signal 0")
HERE, GONE = files._machine(), 2 ** 30                      # no process has such a number


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def table(value=1.0):
    return Table(np.array([0.0, 1.0]), ["q"], np.full((2, 1), value))


@pytest.mark.parametrize(("machine", "process", "age", "goes"), [
    ("here", "gone", 60, True), ("here", "gone", 0, False), ("here", "this", 60, False),
    ("here", "parent", 60, False),
    ("elsewhere", "gone", 60, False), ("elsewhere", "gone", 4000, True), ("here", "this", 4000, True),
    ("here", "huge", 60, True)])
def test_which_are_orphans(tmp_path, machine, process, age, goes):
    machine = HERE if machine == "here" else machine
    process = {"gone": GONE, "this": os.getpid(), "parent": os.getppid(), "huge": 10 ** 30}[process]
    left = tmp_path / f"a.csv.{machine}.{process}.x1y2.new"
    left.write_text("half of")
    os.utime(left, (time.time() - age,) * 2)
    assert list(files.orphans(tmp_path)) == ([str(left)] if goes else [])
    table().save(tmp_path / "b.csv")
    assert left.exists()                                    # of another table
    table().save(tmp_path / "a.csv")
    assert left.exists() is not goes


def test_names_with_dots_and_stars(tmp_path):
    for name in ("a.csv", "[a]*.csv", "a.b.csv"):
        table().save(tmp_path / name)
        (tmp_path / f"{name}.{HERE}.{GONE}.x.new").write_text("half of")
        os.utime(tmp_path / f"{name}.{HERE}.{GONE}.x.new", (1e9, 1e9))
    table(2.0).save(tmp_path / "[a]*.csv")
    left = [f"a.csv.{HERE}.{GONE}.x.new", f"a.b.csv.{HERE}.{GONE}.x.new"]
    assert names(tmp_path) == sorted(["a.csv", "[a]*.csv", "a.b.csv", *left])


def test_a_table_whose_process_is_killed(tmp_path):
    """The orphan names its table, and goes when that is saved again."""
    table(3.0).save(tmp_path / "motion.csv")
    script = """
import os, signal
import numpy as np
from condyle.table import Table
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
Table(np.array([0.0]), ["q"], np.ones((1, 1))).save("motion.csv")
"""
    assert run("-c", script, cwd=tmp_path).returncode == -signal.SIGKILL
    first, second = names(tmp_path)
    assert first == "motion.csv"
    assert second.startswith("motion.csv.")
    assert second.endswith(".new")
    assert "3.0" in (tmp_path / first).read_text()
    os.utime(tmp_path / second, (time.time() - 60,) * 2)
    table(4.0).save(tmp_path / "motion.csv")
    assert names(tmp_path) == ["motion.csv"]


def test_what_fails_leaves_nothing(tmp_path):
    table().save(tmp_path / "a.csv")
    before = (tmp_path / "a.csv").read_text()

    def fail(error):
        with files.whole(tmp_path / "a.csv", "w") as file:
            file.write("half of")
            raise error

    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            fail(error)
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == before


def test_who_may_read_it(tmp_path):
    umask = os.umask(0o027)
    try:
        table().save(tmp_path / "a.csv")
        with files.whole(tmp_path / "b", private=True) as file:
            file.write(b"x")
    finally:
        os.umask(umask)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("read", [cd.read_table, cd.read_markers, cd.read_osim, cd.read_external_loads,
                                  cd.read_c3d])
@pytest.mark.parametrize("name", ["9" * 400, "a\0b"], ids=["long", "zero"])
def test_names_that_no_file_can_have(read, name):
    for ending in (".sto", ".trc", ".osim", ".c3d"):
        with pytest.raises(cd.CondyleError):
            read(name + ending)


def test_a_folder_without_leave_to_write_is_named_with_the_users_file(tmp_path, monkeypatch):
    def refuse(suffix, prefix, folder):
        raise PermissionError(13, "Permission denied", f"{folder}/{prefix}x{suffix}")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(PermissionError) as told:
        cd.Table([0.0], ["a"], [[1.0]]).save(tmp_path / "run.csv")
    assert told.value.filename == str(tmp_path / "run.csv")


def test_names_too_long_to_write(tmp_path):
    with pytest.raises(cd.DescriptionError, match="a name of 254 letters is too long"):
        cd.Table([0.0], ["a"], [[1.0]]).save(tmp_path / ("9" * 250 + ".csv"))
