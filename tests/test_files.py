"""Files that appear whole or not at all; what killed processes leave beside them goes."""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle import files
from condyle.cli.output import NewFolder
from condyle.table import Table
from tests.process import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are asked by signal 0")
HERE, GONE = files._machine(), 2**30  # no process has such a number


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def table(value=1.0):
    return Table(np.array([0.0, 1.0]), ["q"], np.full((2, 1), value))


@pytest.mark.parametrize(
    ("machine", "process", "age", "goes"),
    [
        ("here", "gone", 60, True),
        ("here", "gone", 0, False),
        ("here", "this", 60, False),
        ("here", "parent", 60, False),
        ("elsewhere", "gone", 60, False),
        ("elsewhere", "gone", 4000, True),
        ("here", "this", 4000, True),
        ("here", "huge", 60, True),
    ],
)
def test_which_are_orphans(tmp_path, machine, process, age, goes):
    machine = HERE if machine == "here" else machine
    process = {"gone": GONE, "this": os.getpid(), "parent": os.getppid(), "huge": 10**30}[process]
    left = tmp_path / f"a.csv.{machine}.{process}.x1y2.new"
    left.write_text("half of")
    os.utime(left, (time.time() - age,) * 2)
    assert list(files.orphans(tmp_path)) == ([str(left)] if goes else [])
    table().save(tmp_path / "b.csv")
    assert left.exists()  # of another table
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
        with files.atomic_write(tmp_path / "a.csv", "w") as file:
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
        with files.atomic_write(tmp_path / "b", private=True) as file:
            file.write(b"x")
    finally:
        os.umask(umask)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "read", [cd.read_table, cd.read_markers, cd.read_osim, cd.read_external_loads, cd.read_c3d]
)
@pytest.mark.parametrize("name", ["9" * 400, "a\0b"], ids=["long", "zero"])
def test_names_that_no_file_can_have(read, name):
    for ending in (".sto", ".trc", ".osim", ".c3d"):
        with pytest.raises(cd.errors.CondyleError):
            read(name + ending)


def written(path, text="new"):
    with files.atomic_write(path, "w") as file:
        file.write(text)


def test_a_folder_without_leave_to_write_is_named_with_the_users_file(tmp_path, monkeypatch):
    def refuse(path, flags, mode):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(PermissionError) as told:
        cd.Table([0.0], ["a"], [[1.0]], ["m"]).save(tmp_path / "run.csv")
    assert told.value.filename == str(tmp_path / "run.csv")


def test_files_keep_their_modes(tmp_path):
    for mode in (0o600, 0o640, 0o666, 0o755):
        path = tmp_path / f"{mode:o}"
        path.write_text("old")
        path.chmod(mode)
        written(path)
        assert path.read_text() == "new" and path.stat().st_mode & 0o777 == mode


def test_nobody_reads_what_replaces_a_private_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o600)
    with files.atomic_write(path, "w"):
        (unfinished,) = (p for p in tmp_path.iterdir() if p.name.endswith(".new"))
        assert unfinished.stat().st_mode & 0o077 == 0


def test_the_umask_of_the_process_is_never_set(tmp_path, monkeypatch):
    """Another thread that makes a file at that moment would make one for everybody to write."""
    monkeypatch.setattr("os.umask", lambda mask: pytest.fail("umask"))
    table().save(tmp_path / "a.csv")
    with NewFolder(tmp_path / "results", "x") as folder:
        written(folder.path / "b")
    assert (tmp_path / "results").stat().st_mode & 0o777 == 0o777 & ~_umask()
    assert (tmp_path / "results" / "b").stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    done = run("-c", "import os; print(os.umask(0))")
    return int(done.stdout)


@pytest.mark.parametrize("links", [["link"], ["first", "link"]], ids=["one", "two"])
@pytest.mark.parametrize("there", [True, False], ids=["a file", "dangling"])
def test_links_stay(tmp_path, links, there):
    """The file behind them is replaced, or made, with nothing left beside either."""
    (tmp_path / "deeper").mkdir()
    target = tmp_path / "deeper" / "target.csv"
    if there:
        target.write_text("old")
        target.chmod(0o604)
    to = Path("deeper") / "target.csv"  # relative
    for name in reversed(links):
        (tmp_path / name).symlink_to(to)
        to = Path(name)
    written(tmp_path / links[0])
    assert (tmp_path / links[0]).is_symlink() and target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == (0o604 if there else 0o666 & ~_umask())
    assert names(tmp_path) == sorted(["deeper", *links]) and names(tmp_path / "deeper") == ["target.csv"]


def test_links_to_no_place(tmp_path):
    (tmp_path / "a").symlink_to("no/folder/a")
    with pytest.raises(FileNotFoundError, match="'a' cannot be written: there is no folder"):
        written(tmp_path / "a")
    (tmp_path / "b").symlink_to("b")
    with pytest.raises(OSError, match="symbolic links"):
        written(tmp_path / "b")
    (tmp_path / "c").symlink_to(tmp_path)
    with pytest.raises(cd.errors.DescriptionError, match="it is a folder"):
        written(tmp_path / "c")
    assert names(tmp_path) == ["a", "b", "c"] and (tmp_path / "b").is_symlink()


def test_devices_are_written_and_stay(tmp_path):
    """As root, a link to /dev/null must not replace it by a file."""
    (tmp_path / "out.csv").symlink_to(os.devnull)
    table().save(tmp_path / "out.csv")
    assert not os.path.isfile(os.devnull) and names(tmp_path) == ["out.csv"]


def test_files_that_are_read_only_stay(tmp_path, monkeypatch):
    """As `open` refuses them; the superuser may write everything."""
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o444)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="the file is read-only") as told:
        written(path)
    assert told.value.filename == str(path) and path.read_text() == "old" and names(tmp_path) == ["a"]


@pytest.mark.parametrize(
    ("owner", "group", "mode"), [(True, True, 0o674), (False, True, 0o674), (False, False, 0o644)]
)
def test_files_of_others(tmp_path, monkeypatch, owner, group, mode):
    """Owner and group stay where they may be set; a group that has changed may do what all others may."""
    path, given = tmp_path / "a", []
    path.write_text("old")
    path.chmod(0o674)
    real = os.stat

    def stat(path, **options):
        found = list(real(path, **options))
        if str(path).endswith("/a"):
            found[4:6] = 4711, 4712
        return os.stat_result(found)

    def chown(path, uid, gid):
        if not (owner if uid != -1 else group):
            raise PermissionError
        given.append((uid, gid))

    monkeypatch.setattr("os.stat", stat)
    monkeypatch.setattr("os.chown", chown)
    written(path)
    assert given == ([(4711, 4712)] if owner else [(-1, 4712)] if group else [])
    assert path.read_text() == "new" and real(path).st_mode & 0o777 == mode


def test_many_threads_write_one_file(tmp_path):
    """Whole each time, and nothing is left."""

    def write(k):
        for _ in range(20):
            written(tmp_path / "a", str(k) * 5000)
            text = (tmp_path / "a").read_text()
            assert len(text) == 5000 and len(set(text)) == 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert names(tmp_path) == ["a"]


def test_results_keep_links_and_modes_in_a_folder_that_exists(tmp_path):
    folder, kept = tmp_path / "results", tmp_path / "kept"
    folder.mkdir()
    kept.write_text("old")
    kept.chmod(0o600)
    (folder / "a").symlink_to(kept)
    with NewFolder(folder, "x") as made:
        written(made.path / "a")
    assert (folder / "a").is_symlink() and kept.read_text() == "new" and kept.stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["kept", "results"]


def test_names_too_long_to_write(tmp_path):
    with pytest.raises(cd.errors.DescriptionError, match="a name of 254 letters is too long"):
        cd.Table([0.0], ["a"], [[1.0]]).save(tmp_path / ("9" * 250 + ".csv"))
