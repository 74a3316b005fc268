"""The cache of machine code: hits, damage, crowds, limits, and places where it cannot be."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import signal
import stat
import sys
import time
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from condyle import files
from condyle.errors import DescriptionError
from condyle.native.calls import native_function
from condyle.native.calls.native_function import NativeFunction
from condyle.native.machine import cache, jit
from condyle.native.programs.nodes import Scan, kernel
from condyle.native.programs.program import Program, cached_program
from tests.process import end, finish, output, run, start

FACTS = {"operations": 7, "layout": {"q": [1, 2]}}


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch) -> Path:
    """A cache of its own for each test, and sources that nobody edits meanwhile."""
    for name in ("CONDYLE_CACHE", "CONDYLE_CACHE_MB", "CONDYLE_EVALUATOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_surroundings", lambda: "these sources, this machine")
    monkeypatch.setattr(cache, "_count", {"hits": 0, "misses": 0})
    monkeypatch.setattr(cache, "_warned", set())
    return tmp_path / "cache"


def twice(
    built: list[int] | None = None,
    key: str = "twice",
    allowed: bool = True,
    name: str = "twice",
    contract: bool = True,
) -> NativeFunction:
    """2 x + 1, noting in `built` each time its expressions are made."""

    def build() -> ca.Function:
        if not allowed:
            pytest.fail("built although the cache knows it")
        if built is not None:
            built.append(1)
        x = ca.SX.sym("x", 3)
        return ca.Function("f", [x], [2 * x + 1])

    return NativeFunction(name, build, key=key, inputs=[("x", 3)], outputs=[("y", 3)], contract=contract)


def works(f: NativeFunction) -> bool:
    x = np.arange(60.0).reshape(20, 3)
    return np.array_equal(f.fast(x[0]), 2 * x[0] + 1) and np.array_equal(f.fast(x), 2 * x + 1)


def entries(directory: Path) -> list[Path]:
    return sorted(directory.glob("*")) if directory.is_dir() else []


# -- hits and keys


def test_round_trip(directory):
    assert cache.fetch("a") is None
    assert cache.store("a", b"code", FACTS)
    assert cache.fetch("a") == (b"code", FACTS)
    assert cache.fetch("b") is None
    assert cache.store("a", b"", {})
    assert cache.fetch("a") == (b"", {})
    (entry,) = entries(directory)
    if os.name == "posix":
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert stat.S_IMODE(entry.stat().st_mode) == 0o600


def test_a_hit_builds_nothing(directory, monkeypatch):
    first = twice()
    assert works(first)
    assert not first.report.cached
    assert first.report.from_cache == (False, False)
    assert len(entries(directory)) == 2  # one state, and lanes
    monkeypatch.setattr(jit, "compile_ir", lambda *a: pytest.fail("compiled"))
    monkeypatch.setattr(native_function, "Module", lambda *a: pytest.fail("emitted"))
    second = twice(allowed=False)
    assert works(second)
    assert second.report.cached
    assert second.report.operations == first.report.operations
    assert (second.report.build, second.report.emit, second.report.compile) == (0, 0, 0)
    assert (cache.info().hits, cache.info().misses) == (2, 2)


@pytest.mark.parametrize("change", [{"key": "other"}, {"name": "other"}, {"contract": False}])
def test_what_differs_is_kept_apart(change):
    built: list[int] = []
    assert works(twice(built))
    assert works(twice(built, **change))
    assert len(built) == 2


def test_surroundings_are_part_of_the_key(monkeypatch):
    cache.store("a", b"code", FACTS)
    monkeypatch.setattr(cache, "_surroundings", lambda: "other sources")
    assert cache.fetch("a") is None


def test_what_surroundings_say(tmp_path, monkeypatch):
    """Every source file, the versions, the processor; nothing when a file changed after the process read
    it."""
    monkeypatch.undo()
    package = tmp_path / "condyle"
    (package / "native").mkdir(parents=True)
    for name in ("a.py", "native/b.py", "native/cache.py"):
        (package / name).write_text(name, encoding="utf-8")
    monkeypatch.setattr(cache, "__file__", str(package / "native" / "cache.py"))
    monkeypatch.setattr(cache, "_started", time.time() + 1)
    now = cache._surroundings.__wrapped__
    first = now()
    assert jit.package("casadi") in first and "_casadi." in jit.package("casadi")
    assert jit.versions() in first
    assert now() == first
    (package / "native" / "b.py").write_text("changed", encoding="utf-8")
    second = now()
    assert second != first
    (package / "a.py").rename(package / "c.py")
    assert now() not in (first, second)
    monkeypatch.setattr(cache, "_started", time.time() - 1)
    assert now() is None
    long_ago, tomorrow = time.time() - 1e5, time.time() + 1e5
    for path in package.rglob("*.py"):  # a clock that runs ahead is no change
        os.utime(path, (tomorrow,) * 2 if path.name == "c.py" else (long_ago,) * 2)
    assert now() is not None


def test_changed_sources_switch_it_off(directory, monkeypatch):
    monkeypatch.setattr(cache, "_surroundings", lambda: None)
    assert works(twice())
    assert not entries(directory)
    assert "sources have changed" in cache.info().note


# -- damage


def _damage(kind: str, data: bytes) -> bytes:
    if kind.startswith("flip"):
        at = {
            "flip magic": 3,
            "flip length": 24,
            "flip header": 40,
            "flip code": len(data) // 2,
            "flip checksum": len(data) - 5,
        }[kind]
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    return {
        "empty": b"",
        "short": data[:20],
        "truncated": data[:-100],
        "longer": data + b"x",
        "text": b"x" * 5000,
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "flip magic",
        "flip length",
        "flip header",
        "flip code",
        "flip checksum",
        "empty",
        "short",
        "truncated",
        "longer",
        "text",
    ],
)
def test_damaged_entries_are_made_anew(directory, kind):
    assert works(twice())
    before = {path: path.read_bytes() for path in entries(directory)}
    for path, data in before.items():
        path.write_bytes(_damage(kind, data))
    built: list[int] = []
    assert works(twice(built))
    assert built
    assert works(twice(allowed=False))
    assert entries(directory) == sorted(before)


def test_damaged_entries_are_removed(directory):
    cache.store("a", b"code", FACTS)
    (path,) = entries(directory)
    path.write_bytes(path.read_bytes()[:-1])
    assert cache.fetch("a") is None
    assert not path.exists()


def test_an_entry_under_another_name_is_foreign(directory):
    cache.store("a", b"code a", FACTS)
    (a,) = entries(directory)
    cache.store("b", b"code b", FACTS)
    (b,) = set(entries(directory)) - {a}
    b.write_bytes(a.read_bytes())
    assert cache.fetch("b") is None
    assert cache.fetch("a") == (b"code a", FACTS)


@pytest.mark.parametrize("body", [b"null", b"[]", b'{"key": 1}', b'{"facts": {}}', b"{", b"\xff"])
def test_headers_of_another_kind(directory, body):
    """Whatever a file with a right checksum says, it is no error."""
    cache.store("a", b"code", FACTS)
    (path,) = entries(directory)
    data = cache._MAGIC + len(body).to_bytes(8, "little") + body
    path.write_bytes(data + hashlib.sha256(data).digest())
    assert cache.fetch("a") is None


# -- limits


def test_least_recently_used_goes_first(directory, monkeypatch):
    monkeypatch.setenv("CONDYLE_CACHE_MB", "0.045")
    code = bytes(10_000)
    for k, name in enumerate("abcd"):
        cache.store(name, code, {})
        newest = max(entries(directory), key=lambda p: p.stat().st_mtime)
        os.utime(newest, (1e9 + k,) * 2)
    assert cache.fetch("a")  # used: now the most recent
    cache.store("e", code, {})
    assert [name for name in "abcde" if cache.fetch(name)] == ["a", "c", "d", "e"]
    assert cache.info().bytes <= cache.info().limit == 45_000


def test_what_others_write_is_noticed_after_a_sixteenth_of_the_limit(directory, monkeypatch):
    """The directory is listed at the first entry and then seldom: 1.2 % of the limit per entry here."""
    monkeypatch.setenv("CONDYLE_CACHE_MB", "0.1")
    listed, look = [], cache._files
    monkeypatch.setattr(cache, "_files", lambda *args: [listed.append(args), *look(*args)][1:])
    cache.store("first", bytes(1000), {})
    assert len(listed) == 1
    for k in range(3):  # another process
        (directory / f"{k}.code").write_bytes(bytes(50_000))
        os.utime(directory / f"{k}.code", (1e9,) * 2)
    for k in range(5):
        cache.store(str(k), bytes(1000), {})
    assert len(listed) == 1
    cache.store("sixth", bytes(1000), {})
    assert len(listed) == 2
    assert cache.info().bytes <= cache.info().limit
    assert all(cache.fetch(name) for name in ("first", *"01234", "sixth"))


def test_orphans_of_ended_processes_go(directory):
    cache.store("a", b"code", FACTS)
    old, new = directory / "0123.new", directory / "4567.new"
    for path in (old, new):
        path.write_bytes(b"half of")
    os.utime(old, (1e9,) * 2)
    before = cache.info()
    assert (before.entries, before.unfinished) == (1, 2)
    # nothing that nobody counts
    assert before.bytes == sum(path.stat().st_size for path in directory.iterdir())
    assert "2 unfinished" in str(before)
    cache._known.clear()  # as in a process that has not written yet
    cache.store("b", b"code", FACTS)
    assert not old.exists()
    assert new.exists()  # another process may be writing it
    assert cache.info().unfinished == 1
    assert cache.clear() == 2
    assert not entries(directory)
    assert "unfinished" not in str(cache.info())


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals")
def test_a_kill_while_an_entry_is_written_leaves_nothing_for_long(directory):
    script = """
import os, signal
from condyle.native.machine import cache
cache._surroundings = lambda: "these sources, this machine"
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
cache.store("a", bytes(1000), {})
"""
    assert run("-c", script).returncode == -signal.SIGKILL
    (orphan,) = entries(directory)
    assert cache.info().unfinished == 1
    assert cache.info().bytes == orphan.stat().st_size > 1000
    cache.store("b", b"code", FACTS)
    # written a moment ago, perhaps from a container that we cannot see
    assert orphan.exists()
    os.utime(orphan, (time.time() - 60,) * 2)
    cache._known.clear()  # the next process
    cache.store("c", b"code", FACTS)
    assert not orphan.exists()


def test_info_and_clear(directory):
    info = cache.info()
    assert (info.directory, info.entries, info.bytes, info.limit, info.note) == (
        directory,
        0,
        0,
        512_000_000,
        "",
    )
    assert cache.clear() == 0
    for key in "abc":
        cache.store(key, b"code", FACTS)
    (directory / "somebody's file").write_text("stays", encoding="utf-8")
    info = cache.info()
    assert info.entries == 3
    assert info.bytes == sum(p.stat().st_size for p in directory.glob("*.code"))
    assert str(directory) in str(info)
    assert "3 entries" in str(info)
    assert cache.clear() == 3
    assert cache.info().entries == 0
    assert [p.name for p in entries(directory)] == ["somebody's file"]


# -- where it cannot be


def test_switched_off(directory, monkeypatch):
    assert works(twice())
    before = entries(directory)
    monkeypatch.setenv("CONDYLE_CACHE", "off")
    built: list[int] = []
    assert works(twice(built))
    assert built
    assert works(twice(key="new"))
    assert entries(directory) == before
    assert cache.info().note == "CONDYLE_CACHE=off"
    assert cache.info().entries == 2


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("CONDYLE_CACHE", "no", "CONDYLE_CACHE=no: expected on or off"),
        ("CONDYLE_CACHE_MB", "lots", "CONDYLE_CACHE_MB=lots: expected a number of megabytes"),
        ("CONDYLE_CACHE_MB", "-1", "CONDYLE_CACHE_MB=-1: expected a number of megabytes"),
        ("CONDYLE_CACHE_MB", "nan", "CONDYLE_CACHE_MB=nan: expected a number of megabytes"),
    ],
)
def test_bad_variables(monkeypatch, name, value, message):
    monkeypatch.setenv(name, value)
    with pytest.raises(DescriptionError, match=message):
        cache.info()


def test_a_file_in_place_of_the_directory(directory):
    directory.write_text("not a directory", encoding="utf-8")
    with pytest.warns(RuntimeWarning, match="it is not a directory"):
        assert works(twice())
    assert cache.info().note
    assert cache.clear() == 0
    assert directory.read_text(encoding="utf-8") == "not a directory"


def test_below_a_file(directory, monkeypatch):
    directory.write_text("not a directory", encoding="utf-8")
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(directory / "deeper" / "still"))
    with pytest.warns(RuntimeWarning, match="is not used: Not a directory"):
        assert works(twice())
    assert not cache.store("a", b"code", {})
    assert cache.info().note


@pytest.mark.parametrize("step", ["mkdir", "create", "write", "replace"])
@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_disks_that_refuse(directory, monkeypatch, capfd, step, number):
    """Read-only, full or forbidden at any step: everything works, nothing is left behind, one line says so."""

    def refuse(*a, **k):
        raise OSError(number, os.strerror(number))

    if step == "mkdir":
        monkeypatch.setattr(Path, "mkdir", refuse)
    elif step == "create":
        monkeypatch.setattr(files, "_created", refuse)
    elif step == "replace":
        monkeypatch.setattr(files.os, "replace", refuse)
    else:
        real = os.fdopen  # store is the first to call it

        def full(*a, **k):
            file = real(*a, **k)

            class Full:
                __enter__, write = lambda self: self, refuse

                def __exit__(self, *a):
                    file.close()

            return Full()

        monkeypatch.setattr(cache.os, "fdopen", full)
    with pytest.warns(RuntimeWarning, match=re.escape(os.strerror(number))) as said:
        assert not cache.store("a", b"code", {})
    assert len(said) == 1 and "made anew in every process" in str(said[0].message)
    assert works(twice())  # a second warning would be an error
    assert not entries(directory)
    assert capfd.readouterr() == ("", "")


def test_entries_that_cannot_be_read(directory, monkeypatch):
    cache.store("a", b"code", {})
    (path,) = entries(directory)
    path.unlink()
    path.mkdir()  # reading a directory is refused, even to root
    assert cache.fetch("a") is None
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        assert not cache.store("a", b"code", {})
    assert cache.info().entries == 0


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX owners")
def test_somebody_elses_directory_is_not_used(directory, monkeypatch):
    cache.store("a", b"code", {})
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(directory).st_uid + 1)
    with pytest.warns(RuntimeWarning, match="it belongs to user"):
        assert cache.fetch("a") is None
    assert not cache.store("b", b"code", {})
    assert "belongs to user" in cache.info().note
    assert cache.clear() == 0
    monkeypatch.undo()
    assert len(entries(directory)) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
@pytest.mark.parametrize(("mode", "who"), [(0o777, "everybody"), (0o702, "everybody"), (0o770, "its group")])
def test_a_directory_that_others_may_write_is_not_used(directory, mode, who):
    """Which is said once, with the remedy; everything works without it."""
    cache.store("a", b"code", {})
    directory.chmod(mode)
    with pytest.warns(RuntimeWarning, match=f"{who} may write into it, .*chmod 700") as said:
        assert cache.fetch("a") is None
    assert len(said) == 1
    assert works(twice())  # a second warning would be an error
    assert not cache.store("b", b"code", {})
    assert f"{who} may write" in cache.info().note
    assert cache.clear() == 0
    directory.chmod(0o755)  # others may read it
    assert cache.fetch("a")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX files")
@pytest.mark.parametrize("kind", ["pipe", "link", "dangling link", "link to a pipe", "group", "everybody"])
def test_entries_that_are_not_plain_files_of_ours_are_not_opened_and_made_anew(directory, tmp_path, kind):
    """A pipe would hang whoever opens it, a link is somebody's wish; writable ones may hold any code."""
    cache.store("a", b"code", FACTS)
    (path,) = entries(directory)
    target = tmp_path / "elsewhere"
    if kind in ("group", "everybody"):
        path.chmod(0o660 if kind == "group" else 0o602)
    elif kind == "pipe":
        path.unlink()
        os.mkfifo(path)
    else:
        if kind == "link":
            target.write_bytes(path.read_bytes())
        elif kind == "link to a pipe":
            os.mkfifo(target)
        path.unlink()
        path.symlink_to(target)
    assert cache.fetch("a") is None
    assert cache.store("a", b"code again", FACTS)
    assert cache.fetch("a") == (b"code again", FACTS)
    assert entries(directory) == [path]
    assert stat.S_ISREG(path.lstat().st_mode)
    assert not kind.startswith("link") or target.exists()


def _with_code(path: Path, code: bytes, facts: dict | None = None) -> None:
    """Write an entry that checks, with other code or facts."""
    data = path.read_bytes()
    digest = path.name.removesuffix(".code")
    header = json.dumps(
        {"key": digest, "facts": cache._open(data, digest)[1] if facts is None else facts}
    ).encode()
    body = cache._MAGIC + len(header).to_bytes(8, "little") + header + code
    path.write_bytes(body + hashlib.sha256(body).digest())


@pytest.mark.parametrize(
    ("code", "facts"), [(b"no object file", None), (b"", None), (None, {}), (None, {"operations": "many"})]
)
def test_entries_that_cannot_be_loaded_are_made_anew(directory, code, facts):
    """The checksum is right; what it covers is of no use. Once it was an error at every start."""
    assert works(twice())
    for path in entries(directory):
        good = cache._open(path.read_bytes(), path.name.removesuffix(".code"))[0]
        _with_code(path, good if code is None else code, facts)
    built: list[int] = []
    again = twice(built)
    assert works(again)
    assert built
    assert again.report.from_cache == (False, False)
    assert works(twice(allowed=False))
    assert (cache.info().hits, cache.info().misses) == (2, 4)


@pytest.mark.parametrize(
    "harm",
    [
        {"code": b"no object file"},
        {"code": b""},
        {"facts": {}},
        {"facts": {"layout": {}, "tables": {}}},
        {"facts": {"layout": 3, "tables": []}},
        {"tables": {"x": [[1], [2, 3]]}},
        {"facts": "right", "code": b"wrong object"},
    ],
)
def test_programs_that_cannot_be_loaded_are_made_anew(directory, harm):
    made = []

    def make():
        made.append(1)
        sizes = {"x": 1}
        return Program(Scan("n", kernel(lambda x: x + 1, "x", "x", sizes)), sizes, counts=["n"]), {
            "x": np.ones((2, 1))
        }

    def runs():
        program, tables = cached_program("counting", make)
        workspace = program.workspace()
        program.run(workspace, counts={"n": 3})
        return workspace["x"][0] == 3 and tables["x"].tolist() == [[1.0], [1.0]]

    assert runs()
    assert runs()
    assert len(made) == 1
    (path,) = entries(directory)
    code, facts = cache._open(path.read_bytes(), path.name.removesuffix(".code"))
    if harm.get("facts") == "right":  # lengths agree, nothing else does
        facts["layout"]["objects"] = [len(harm["code"])]
    elif "tables" in harm:
        facts["tables"] = harm["tables"]
    else:
        facts = harm.get("facts", facts)
    _with_code(path, harm.get("code", code), facts)
    assert runs()
    assert len(made) == 2
    assert runs()
    assert len(made) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX owners")
def test_somebody_elses_file_is_not_used(directory, monkeypatch):
    cache.store("a", b"code", {})
    real = os.fstat
    monkeypatch.setattr(
        cache.os, "fstat", lambda fd: os.stat_result([*real(fd)[:4], real(fd).st_uid + 1, *real(fd)[5:]])
    )
    assert cache.fetch("a") is None
    assert len(entries(directory)) == 1


def test_default_directory(tmp_path, monkeypatch):
    if sys.platform in ("win32", "darwin"):
        pytest.skip("XDG directories")
    monkeypatch.delenv("CONDYLE_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.info().directory == tmp_path / "xdg" / "condyle"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the standard
    assert cache.info().directory == tmp_path / ".cache" / "condyle"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert works(twice())
    assert len(entries(tmp_path / ".cache" / "condyle")) == 2


def test_no_home(monkeypatch):
    for name in ("CONDYLE_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert works(twice())
    assert not cache.store("a", b"code", {})
    info = cache.info()
    assert info.directory is None
    assert "CONDYLE_CACHE_DIR" in info.note
    assert "no directory" in str(info)
    assert cache.clear() == 0


# -- many processes

CROWD = """
import sys, time
import numpy as np
from condyle.native.machine import cache
from tests.native.machine.test_cache import twice, works
cache._surroundings = lambda: "these sources, this machine"
print("ready", flush=True)
sys.stdin.readline()
for k in range(6):
    f = twice(key=f"crowd {k}")
    assert works(f)
    if k == 3 and sys.argv[1] == "0":
        cache.clear()
print(cache.info().hits, cache.info().misses, cache.info().note)
"""


def test_many_processes_at_once(directory):
    """Three on one empty cache, all at the same keys, while one clears it: every answer right, every entry
    whole."""
    crowd = [start("-c", CROWD, str(k)) for k in range(3)]
    try:
        for process in crowd:
            assert process.stdout.readline() == "ready\n", finish(process).stderr
        for process in crowd:
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in crowd:
            done = finish(process)
            assert done.returncode == 0, done.stderr
            assert (
                sum(map(int, done.stdout.split())) == 14
            )  # hits and misses of six functions and of the loop over states, for one state and lanes; no note
    finally:
        for process in crowd:
            if process.poll() is None:
                end(process)
    assert not list(directory.glob("*.new"))
    for k in range(4, 6):
        assert works(twice(key=f"crowd {k}", allowed=False))


def test_a_new_process_builds_nothing(directory):
    assert works(twice(key="shared"))
    program = """
from condyle.native.machine import cache
from tests.native.machine.test_cache import twice, works
cache._surroundings = lambda: "these sources, this machine"
assert works(twice(key="shared", allowed=False))
"""
    output("-c", program)
