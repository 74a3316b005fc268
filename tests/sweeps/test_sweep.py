"""Sweeps: the same results wherever and however they run; nothing is lost."""

import importlib.util
import json
import os
import signal
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from tests import process
from tests.sweeps import works

MEMBERS = cd.members({"a": (0, 1), "b": (2, 3)}, n=40, seed=5)
needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="dask.distributed is not installed"
)


@pytest.fixture(scope="module")
def plain():
    return cd.sweep(works.square, MEMBERS)


def same(found, plain):
    assert found.status == cd.Status.FINISHED and not found.failures
    np.testing.assert_array_equal(found.table.values, plain.table.values)
    for i in (0, 17, 39):
        np.testing.assert_array_equal(found[i]["path"], plain[i]["path"])


def test_results(plain):
    assert plain.table.names == ("a", "b", "y") and plain.table.over == "member"
    noise = np.random.default_rng((5, 17)).normal()
    assert plain[17]["y"] == MEMBERS["a"][17] ** 2 + noise == plain.table["y"][17]
    np.testing.assert_array_equal(plain[17]["path"], MEMBERS.values[17])
    mean = plain.convergence("y")
    assert mean["mean"][-1] == pytest.approx(plain["y"].mean(), rel=1e-12)
    error = plain["y"].std(ddof=1) / np.sqrt(40)
    assert mean["standard error"][-1] == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_chunks_and_threads(plain, chunk):
    same(cd.sweep(works.square, MEMBERS, chunk=chunk), plain)
    with ThreadPoolExecutor(3) as pool:
        same(cd.sweep(works.square, MEMBERS, chunk=chunk, executor=pool), plain)


def test_processes_and_a_store(plain, tmp_path):
    same(cd.sweep(works.square, MEMBERS, executor="processes", store=tmp_path / "study"), plain)
    again = cd.sweep(works.square, MEMBERS, store=tmp_path / "study")  # runs nothing
    same(again, plain)
    assert "0 of 40 members to run" in (tmp_path / "study/log.txt").read_text()


def test_what_works_give(tmp_path):
    def run(work):
        return cd.sweep(work, MEMBERS[:3], store=tmp_path / str(len(list(tmp_path.iterdir()))))[1]

    assert run(lambda m: m["a"]) == MEMBERS["a"][1] and run(lambda m: "word") == "word"
    np.testing.assert_array_equal(run(lambda m: np.arange(m.index)), [0])  # another shape each
    table = run(lambda m: cd.Table([0, 1], ["x"], [[m.index], [2]], ["m"]))
    assert table.units == ("m",) and table["x"].tolist() == [1, 2]
    found = cd.sweep(lambda m: object(), MEMBERS[:2], retries=0)
    assert "of type object: expected a number" in found.failures[0].reason


def test_failures_are_rows(tmp_path):
    calls = []

    def work(member):
        calls.append(member.index)
        if member.index == 2 or (member.index == 4 and calls.count(4) < 3):
            raise ValueError(f"no {member['a']:.2f}")
        return member["a"]

    found = cd.sweep(work, MEMBERS[:6], retries=2, chunk=3, store=tmp_path / "s")
    assert [f.member for f in found.failures] == [2] and found.failures[0].attempts == 3
    assert found.failures[0].reason.startswith("ValueError: no ") and calls.count(4) == 3
    assert found.status == cd.Status.SOME_FAILED and np.isnan(found.table["value"][2])
    with pytest.raises(cd.errors.DescriptionError, match=r"sweep\[2\]: the member failed: ValueError"):
        found[2]


def test_batched_chunks_that_fail_are_split():
    def work(members):
        if (members.time == 11).any():
            raise ValueError("bad")
        return members["a"] * 2

    found = cd.sweep(work, MEMBERS, chunk=16, retries=0)
    assert [f.member for f in found.failures] == [11] and found.table["value"][12] == 2 * MEMBERS["a"][12]


class Loses(Executor):
    """An executor that loses the first tasks."""

    def __init__(self, lost):
        self.lost, self.sent = lost, 0

    def submit(self, fn, /, *args, **options):
        future = Future()
        self.sent += 1
        if self.sent <= self.lost:
            future.set_exception(OSError("no route to host"))
        else:
            future.set_result(fn(*args, **options))
        return future


@pytest.mark.parametrize(("lost", "failed"), [(2, 0), (3, 0), (99, 4)])
def test_tasks_that_are_lost_are_sent_again(lost, failed):
    """Twice as they are; after that in halves, until each member is alone."""
    found = cd.sweep(works.square, MEMBERS[:4], executor=Loses(lost), chunk=4, retries=1)
    assert [f.attempts for f in found.failures] == [2] * failed
    assert all("no route to host" in f.reason for f in found.failures) and found._done.sum() == 4 - failed


def test_processes_that_die(tmp_path):
    found = cd.sweep(
        partial(works.deadly, folder=str(tmp_path)), MEMBERS[:8], executor="processes", chunk=2, retries=1
    )
    assert [(f.member, f.reason) for f in found.failures] == [(3, "its process died")]
    assert found._done.sum() == 7


def test_a_store_of_another_study_is_refused(tmp_path):
    store = tmp_path / "study"
    cd.sweep(works.square, MEMBERS, store=store)
    with pytest.raises(
        cd.errors.DescriptionError, match=r"holds another study, 'square': different.*members"
    ):
        cd.sweep(works.square, MEMBERS[:9], store=store)
    with pytest.raises(cd.errors.DescriptionError, match="different name, work"):
        cd.sweep(lambda member: 1.0, MEMBERS, store=store)
    with pytest.raises(cd.errors.DescriptionError, match="different seed"):
        cd.sweep(works.square, MEMBERS, store=store, seed=9)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").touch()
    with pytest.raises(cd.errors.DescriptionError, match="holds no study"):
        cd.sweep(works.square, MEMBERS, store=tmp_path / "other")


def test_no_pickles_are_read(tmp_path):
    store = tmp_path / "study"
    cd.sweep(works.square, MEMBERS, store=store)
    part = min((store / "parts").iterdir())
    np.savez(part, index=np.array([Path("x")], dtype=object), single=np.array(True))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        cd.sweep(works.square, MEMBERS, store=store)


def test_a_full_disk(tmp_path, monkeypatch, plain):
    store, writes = tmp_path / "study", []
    savez = np.savez

    def full(file, **arrays):
        writes.append(1)
        if len(writes) > 1:
            file.write(b"half")
            raise OSError(28, "No space left on device")
        savez(file, **arrays)

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        cd.sweep(works.square, MEMBERS, store=store, chunk=10)
    monkeypatch.undo()
    assert len(list((store / "parts").iterdir())) == 1  # whole ones only
    same(cd.sweep(works.square, MEMBERS, store=store), plain)


PATHS = {"PYTHONPATH": os.pathsep.join([str(process.ROOT), os.environ.get("PYTHONPATH", "")])}
PROGRAM = """
import sys
from functools import partial
import condyle as cd
from tests.sweeps import works
if __name__ == "__main__":
    executor, store, marks = sys.argv[1:]
    members = cd.members({"a": (0, 1), "b": (2, 3)}, n=40, seed=5)
    cd.sweep(partial(works.ran, folder=marks), members, store=store, chunk=1,
             executor=None if executor == "None" else executor)
"""


def started(tmp_path, executor):
    """A sweep in a process of its own, when some of its members are stored."""
    (tmp_path / "program.py").write_text(PROGRAM)
    store, marks = tmp_path / "study", tmp_path / "marks"
    marks.mkdir(exist_ok=True)
    child = process.start(sys.executable, tmp_path / "program.py", executor, store, marks, environment=PATHS)
    end = time.monotonic() + 60
    while not (any(store.glob("parts/*.npz")) and len(list(marks.iterdir())) >= 5):
        assert time.monotonic() < end and child.poll() is None
        time.sleep(0.01)
    return child, store, marks


def went_on(store, marks, plain, executor=None, flying=8):
    before = {path.name: path.read_text() for path in marks.iterdir()}
    assert 5 <= len(before) < 40
    same(cd.sweep(partial(works.ran, folder=str(marks)), MEMBERS, store=store, executor=executor), plain)
    twice = [path.name for path in marks.iterdir() if len(path.read_text()) > 1]
    assert len(twice) <= flying  # those that were not stored: where the disk is slow some wait for each other


@pytest.mark.parametrize(("executor", "number"), [("None", signal.SIGKILL), ("None", signal.SIGINT)])
def test_a_killed_client_goes_on(tmp_path, plain, executor, number):
    child, store, marks = started(tmp_path, executor)
    child.send_signal(number)
    process.finish(child, 60)
    assert child.returncode == (-9 if number == signal.SIGKILL else 0)
    went_on(store, marks, plain)
    assert json.loads((store / "manifest.json").read_text())["seed"] == 5


def test_two_clients_do_not_share_a_store(tmp_path):
    child, store, marks = started(tmp_path, "None")
    with pytest.raises(cd.errors.DescriptionError, match="another process runs this study"):
        cd.sweep(partial(works.ran, folder=str(marks)), MEMBERS, store=store)
    process.end(child)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"members": 5}, "expected a Table"),
        ({"work": 5}, "expected a function of a member"),
        ({"executor": "tread"}, "an executor of concurrent.futures"),
        ({"chunk": 0}, "chunk: expected a whole number from 1 on"),
        ({"retries": -1}, "retries"),
        ({"measures": {}}, "are for a cd.Simulation"),
    ],
)
def test_mistakes(change, words):
    given = {"work": works.square, "members": MEMBERS} | change
    with pytest.raises(cd.errors.DescriptionError, match=words):
        cd.sweep(given.pop("work"), given.pop("members"), **given)


def test_sobol_indices():
    """The function of Ishigami, whose indices are known."""
    what = dict.fromkeys("abc", (-np.pi, np.pi))
    first, total = [0.3139, 0.4424, 0.0], [0.5576, 0.4424, 0.2437]
    found = cd.sweep(works.ishigami, cd.members(what, n=4096, method="saltelli")).sensitivity("y")
    np.testing.assert_allclose([found.first, found.total], [first, total], atol=0.01)  # some 1/sqrt(n) / 2
    for k in range(3):
        assert found.total_interval[k, 0] < total[k] < found.total_interval[k, 1]
    for method in ("sobol", "random", "latin"):
        fitted = cd.sweep(works.ishigami, cd.members(what, n=4096, method=method)).sensitivity("y")
        assert fitted.estimator == "polynomial"
        np.testing.assert_allclose([fitted.first, fitted.total], [first, total], atol=0.01)  # 1/sqrt(n) / 2
    with pytest.raises(cd.errors.UnknownNameError, match="unknown result 'z'"):
        cd.sweep(works.ishigami, cd.members(what, n=4)).sensitivity("z")


def test_sobol_indices_without_a_polynomial():
    """y jumps with a, and with the product of b and c: no polynomial explains it."""
    what = dict.fromkeys("abc", (-1, 1))

    def work(members):
        return np.sign(np.sin(6 * members["a"])) + np.sign(members["b"] * members["c"])

    random = cd.sweep(work, cd.members(what, n=4096, method="random")).sensitivity("value")
    assert random.estimator == "neighbors"
    np.testing.assert_allclose(random.first, [0.5, 0, 0], atol=0.06)  # bins see a's waves to some part only
    np.testing.assert_allclose(random.total, [0.5, 0.5, 0.5], atol=0.06)
    even = cd.sweep(work, cd.members(what, n=4096)).sensitivity("value")
    assert even.estimator == "neighbors" and np.isnan(even.total).all()


def test_plots(plain):
    from matplotlib import pyplot as plt

    found = cd.sweep(works.ishigami, cd.members(dict.fromkeys("abc", (-np.pi, np.pi)), n=128))
    for kind, label in (
        ("scatter", "a"),
        ("tornado", "share of the variance of y"),
        ("convergence", "members"),
    ):
        axes = found.plot("y", kind)
        assert axes.get_xlabel() == label
        plt.close(axes.figure)
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'tornado'"):
        found.plot("y", "tornade")


@pytest.fixture(scope="module")
def pendulum():
    system = cd.System()
    for name, parent in (("a", "ground"), ("b", "a")):
        system.add_body(
            name, parent, cd.Pin(), X_PF=(0, -0.5, 0), X_BM=(0, 0.5, 0),
            mass=cd.Parameter("mass", 1.0) if name == "a" else 1.0, inertia=(0.1, 0.1, 0.1),
        )  # fmt: skip
    return system


def test_simulations_are_ensembles(pendulum, tmp_path):
    what = {"mass": (0.5, 2), "a": (-1, 1), "u.b": (-1, 1)}
    members = cd.members(what, n=50)
    work = cd.Simulation(pendulum, pendulum.state(q={"b": 0.3}), 0.5, accuracy=1e-6)
    measures = {"angle": "b", "energy": energy, "steps": steps}
    found = cd.sweep(work, members, measures=measures, chunk=7)
    assert found.status == "finished"
    q = np.column_stack([members["a"], np.full(50, 0.3)])
    start = {"q": q, "u": {"b": members["u.b"]}, "parameters": {"mass": members["mass"]}}
    ens = cd.simulate(pendulum, start, 0.5, accuracy=1e-6)
    np.testing.assert_array_equal(found["angle"], ens.y_end[:, 1])
    np.testing.assert_array_equal(found["energy"], energy(ens))
    other = cd.sweep(work, members, measures=measures, executor="processes", store=tmp_path / "s")
    assert not other.failures
    np.testing.assert_array_equal(other.table.values, found.table.values)
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'accuracy'"):
        cd.Simulation(pendulum, pendulum.state(), 1.0, acuracy=1e-3)
    wrong = cd.sweep(work, cd.members({"mas": (0, 1)}, n=2), retries=0)
    assert "unknown quantity 'mas'; did you mean 'mass'" in wrong.failures[0].reason


def energy(ens):
    table = ens.energy()  # at both ends
    return sum(table[name].reshape(len(ens), 2)[:, 1] for name in table if name != "member")


def steps(traj):
    return len(traj.t)


@needs_dask
@pytest.mark.parametrize("victim", ["worker", "scheduler"])
def test_dask_processes_that_are_killed(tmp_path, plain, victim):
    """A scheduler and two workers on loopback; one of them is killed in the middle."""
    begun = []

    def begin(kind, *words):
        module = f"distributed.cli.dask_{kind}"
        begun.append(process.start("-m", module, *words, environment=PATHS, cwd=tmp_path))
        return begun[-1]

    file = tmp_path / "scheduler.json"
    try:
        scheduler = begin(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
        )
        workers = [
            begin(
                "worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard", "--host",
                "127.0.0.1", "--no-nanny",
            )
            for _ in range(2)
        ]  # fmt: skip
        end = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        child, store, marks = started(tmp_path, address)
        (scheduler if victim == "scheduler" else workers[0]).kill()
        process.finish(child, 90)
        if victim == "worker":
            assert child.returncode == 0
            same(cd.sweep(partial(works.ran, folder=str(marks)), MEMBERS, store=store), plain)
        else:
            assert child.returncode != 0
            went_on(store, marks, plain)
    finally:
        for one in begun:
            process.end(one)


def test_linear_algebra_of_processes_takes_one_thread(monkeypatch):
    """Unless the user says otherwise; the environment of this process stays."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    before = dict(os.environ)
    found = cd.sweep(works.blas_threads, MEMBERS[:2], executor="processes")
    assert found["n"].tolist() == [1.0, 1.0] and found["m"].tolist() == [3.0, 3.0]
    assert dict(os.environ) == before
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert np.isnan(cd.sweep(works.blas_threads, MEMBERS[:1], executor="processes")["n"]).all()
