"""Where sweeps run: pools, processes that are killed, machine code that travels, disks that are full."""

import importlib.util
import json
import multiprocessing
import os
import pickle
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest

import condyle as cd
from condyle.native.machine import cache
from condyle.sweeps import jobs
from condyle.sweeps import store as store_module
from condyle.sweeps.parts import Part
from tests import process
from tests.sweeps import works
from tests.sweeps.test_sweep import MEMBERS, PATHS, needs_dask, same, started, went_on


@pytest.fixture(scope="module")
def plain():
    return cd.sweep(works.square, MEMBERS)


def test_pools(plain):
    with ThreadPool(2) as pool:
        same(cd.sweep(works.square, MEMBERS, executor=pool), plain)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        same(cd.sweep(works.square, MEMBERS, executor=pool, chunk=7), plain)


def test_joblib(plain):
    pytest.importorskip("joblib", reason="joblib is not installed")
    from joblib.externals.loky import get_reusable_executor

    same(cd.sweep(works.square, MEMBERS, executor=get_reusable_executor(2), chunk=7), plain)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_client_with_processes_is_killed(tmp_path, plain, number):
    child, store, marks = started(tmp_path, "processes")
    (os.killpg if number == signal.SIGINT else os.kill)(child.pid, number)  # Ctrl-C comes to all
    process.finish(child, 60)
    assert child.returncode == (-9 if number == signal.SIGKILL else 0)
    went_on(store, marks, plain, executor="processes", flying=8)


def test_a_disk_that_is_full(tmp_path, plain):
    """The system refuses to write more than some bytes into a file."""
    program = """
import resource, signal
import condyle as cd
from tests.sweeps import works
from tests.sweeps.test_sweep import MEMBERS
cd.sweep(works.square, MEMBERS, store="other")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))
cd.sweep(works.square, MEMBERS, store="study", chunk=40)
"""
    store = tmp_path / "study"
    cd.sweep(works.square, MEMBERS, store=store, chunk=10)
    for path in (*store.glob("parts/*"), *store.glob("numbers/*")):
        path.unlink()
    # no compiled modules: those would be cut too
    found = process.run("-B", "-c", program, environment=PATHS, cwd=tmp_path)
    assert found.returncode == 1 and "File too large" in found.stderr
    assert not [*store.glob("parts/*"), *store.glob("numbers/*")]
    same(cd.sweep(works.square, MEMBERS, store=store), plain)


def test_a_part_in_two_files_counts_with_the_second(tmp_path, plain):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pandas

    store = tmp_path / "study"
    cd.sweep(works.square, MEMBERS, store=store, chunk=10)
    frame = pandas.read_parquet(store / "numbers").sort_values("member")
    np.testing.assert_array_equal(frame["y"], plain["y"])
    lost = next((store / "numbers").iterdir())  # killed between the two
    count = len(pandas.read_parquet(lost))  # of one task or, when writing waits, of several
    lost.unlink()
    same(cd.sweep(works.square, MEMBERS, store=store), plain)
    assert f"began: {count} of 40 members" in (store / "log.txt").read_text().splitlines()[-2]


def test_without_pyarrow(tmp_path, plain, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    store = tmp_path / "study"
    same(cd.sweep(works.square, MEMBERS, store=store, chunk=10), plain)
    assert {path.suffix for path in (store / "parts").iterdir()} == {".npz"}
    monkeypatch.undo()
    same(cd.sweep(works.square, MEMBERS, store=store), plain)


@pytest.fixture
def other_cache(tmp_path, monkeypatch):
    """Two folders for machine code, as of two machines."""
    folders = [tmp_path / name for name in ("here", "there")]
    for folder in folders:
        folder.mkdir(mode=0o700)

    def use(k):
        monkeypatch.setenv("CONDYLE_CACHE_DIR", str(folders[k]))
        return folders[k]

    use(0)
    return use


def test_machine_code_travels(other_cache, monkeypatch):
    """A worker says what it compiled; another of the same kind gets that and compiles nothing."""
    job, some = jobs.OneByOne(works.compiled), MEMBERS._with(rows=np.arange(2))
    monkeypatch.setattr(jobs, "_loaded", {})
    first = jobs.run("n", jobs.Payload(jobs.dumped(job)), some, 0)
    assert first.kind and len(first.code) >= 1 and first.part.numbers["misses"][0] > 0
    there = other_cache(1)
    jobs._loaded.clear()
    assert jobs.run("n", None, some, 0).part is None  # it asks
    before = cache.info().misses
    second = jobs.run("n", jobs.Payload(jobs.dumped(job), first.kind, first.code), some, 0)
    assert second.code == {} and list(there.glob("*.code"))
    # notes of the two members' models are not sent: at most two looks for each
    assert second.part.numbers["misses"][-1] - before <= 4
    np.testing.assert_array_equal(second.part.numbers["value"], first.part.numbers["value"])
    jobs._loaded.clear()
    third = jobs.run("n", jobs.Payload(jobs.dumped(job), "another processor", {"x": b"y"}), some, 0)
    assert third.part is not None and not (there / "x.code").exists()


def test_entries_that_are_damaged_are_not_taken(other_cache):
    cache.store("key", b"code", {})
    (digest,) = [path.stem for path in cache.info().directory.glob("*.code")]
    entries = cache.exported_entries([digest])
    other_cache(1)
    assert cache.take({digest: entries[digest][:-1], "other": entries[digest]}) == 0
    assert cache.take(entries) == 1 == cache.info().entries and cache.take(entries) == 0


def test_one_process_compiles_first(other_cache):
    """Of threads, as of processes, one is inside until the first has come to the end."""
    inside, most = [], []

    def work(_):
        with cache.first("job"):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.05)
            inside.pop()

    with ThreadPoolExecutor(1) as pool:
        list(pool.map(work, range(1)))
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    assert most[0] == 1 and max(most) > 1  # afterward nobody waits


@needs_dask
def test_workers_that_come_later_and_a_local_cluster(plain):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, protocol="inproc://"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        same(cd.sweep(works.square, MEMBERS, executor=client, chunk=3), plain)


def test_a_log_and_progress(tmp_path, monkeypatch):
    import condyle.sweeps.dispatch as module

    monkeypatch.setattr(module, "OFTEN", 0.0)
    shares = []
    cd.sweep(works.odd, MEMBERS, store=tmp_path / "s", chunk=4, retries=0, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0
    log = (tmp_path / "s/log.txt").read_text()
    assert "members, " in log and "/s, " in log and " left, " in log and " failed" in log


def test_messages_have_no_pickles_in_stores(tmp_path):
    store = tmp_path / "study"
    cd.sweep(works.square, MEMBERS, store=store)
    for path in store.rglob("*"):
        if path.is_file():
            with pytest.raises(Exception):  # noqa: B017 (whatever pickle says)
                pickle.loads(path.read_bytes())
    json.loads((store / "manifest.json").read_text())
    assert importlib.util.find_spec("condyle.sweeps.store") is not None


def test_parts_with_large_arrays_stay_apart(tmp_path, monkeypatch):
    """Only small parts become one when a study goes on: arrays of both files count."""
    monkeypatch.setattr(store_module, "MANY", 2)
    monkeypatch.setattr(store_module, "SMALL", 20_000)
    store = store_module.Store(tmp_path / "study", {"count": 6}, MEMBERS)
    for k in range(6):
        size = 10_000 if k < 3 else 1
        part = Part(np.array([k]), {"y": np.array([1.0 * k])}, [{"x": np.full(size, 1.0 * k)}])
        store.write(part)
    kept = [part.index.tolist() for _, part in store.stored()]
    assert sorted(kept) == [[0], [1], [2], [3, 4, 5]]
    store.close()
