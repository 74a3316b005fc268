"""Our own factorization against dense eigenvalues and solutions, and inside IPOPT against MUMPS."""

import threading

import numpy as np
import pytest
from scipy import sparse

import condyle as cd
from condyle.nlp import Bounds, front_tree, ipopt, kkt
from condyle.nlp.fronts import Factors

MUMPS = {"linear_solver": "mumps"}


def saddle(rng, n, m, density=0.1, weak=0.5):
    """[H J'; J 0] with some variables that have no diagonal, as accelerations have none: lower half."""
    H = sparse.random(n, n, density, random_state=rng).tolil()
    H = sparse.tril(H @ H.T).tolil()
    chosen = rng.random(n) < weak
    H[chosen, :] = 0
    H[:, chosen] = 0
    J = sparse.random(m, n, density, random_state=rng) + sparse.eye(
        m, n, m and int(rng.integers(0, n - m + 1))
    )
    return sparse.bmat([[H, None], [J, sparse.csr_matrix((m, m))]]).tocoo()


def factored(K, **options):
    found = Factors(front_tree.tree(K.shape[0], K.row.astype(np.int32), K.col.astype(np.int32)))
    assert found.factor(K.data, 1e-6, **options) or options
    return found


def full(K):
    dense = K.toarray()
    return dense + np.tril(dense, -1).T


@pytest.mark.parametrize("seed", range(20))
def test_inertia_and_solutions_are_those_of_dense_matrices(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 120))
    m = int(rng.integers(0, n))
    K = saddle(rng, n, m, weak=rng.choice([0.0, 0.3]))
    K.data += 1e-3 * rng.standard_normal(len(K.data)) * (K.data != 0)
    dense = full(K)
    values = np.linalg.eigvalsh(dense)
    if np.abs(values).min() < 1e-6:
        dense += np.diag(np.where(np.arange(n + m) < n, 0.1, -0.1))
        K = sparse.coo_matrix(np.tril(dense))
        values = np.linalg.eigvalsh(dense)
    found = factored(K)
    assert found.negative == (values < 0).sum()
    assert found.zero == 0
    b = rng.standard_normal(n + m)
    x = found.solve(b)
    x += found.solve(b - dense @ x)
    # pivots as small as 1e-6 of their columns: one step of refinement brings back what they lose
    assert np.abs(dense @ x - b).max() < 1e-9 * np.abs(values).max() * np.abs(x).max()


def test_rows_wait_for_pivots():
    """No diagonal at all: all pivots have two rows, and leaves of the tree have none."""
    n = 60
    rng = np.random.default_rng(3)
    K = sparse.tril(sparse.diags([rng.uniform(1, 2, n - 1)], [-1], (n, n))).tocoo()
    found = factored(K)
    assert found._kept["state"][2] > 0  # rows that waited
    values = np.linalg.eigvalsh(full(K))
    assert found.negative == (values < 0).sum() == n // 2
    b = rng.standard_normal(n)
    assert full(K) @ found.solve(b) == pytest.approx(b, abs=1e-10)


def test_singular_and_indefinite_matrices_are_said_to_be():
    one = np.ones(1)
    zero = sparse.coo_matrix(([1.0, 1.0, 1.0, 0.0], ([0, 1, 1, 2], [0, 0, 1, 2])), (3, 3))
    assert factored(zero).zero == 2  # [1 1; 1 1] and a row of zeros
    empty = factored(sparse.coo_matrix((0 * one, ([0], [0])), (1, 1)))
    assert (empty.zero, empty.negative) == (1, 0)
    less = sparse.diags([-np.ones(40)], [0]).tocoo()
    found = Factors(front_tree.tree(40, less.row, less.col))
    assert not found.factor(less.data, 1e-6, most=3)  # given up
    assert found.negative > 3
    assert found.factor(less.data, 1e-6)
    assert found.negative == 40


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_is_singular_without_a_front_of_all_its_rows(wrong):
    n = 3000
    K = sparse.diags([np.ones(n), np.ones(n - 1)], [0, -1]).tocoo()
    made = Factors(front_tree.tree(n, K.row, K.col))
    size = made._size
    made.factor(np.where(K.row == 7, wrong, K.data), 1e-6)
    assert (made.zero, made._size) == (n, size)  # not 72 MB
    made.factor(K.data + (K.row == K.col), 1e-6)
    assert (made.zero, made.negative) == (0, 0)


def test_places_that_come_twice_are_added():
    rows, columns = np.array([0, 0, 1, 1, 0]), np.array([0, 0, 0, 1, 1])  # (1, 0) and (0, 1) are one place
    found = Factors(front_tree.tree(2, rows, columns))
    found.factor(np.array([1.0, 2.0, 0.25, 5.0, 0.75]), 1e-6)
    assert np.array([[3.0, 1.0], [1.0, 5.0]]) @ found.solve(np.array([1.0, 2.0])) == pytest.approx([1.0, 2.0])


def test_more_room_is_found_where_many_rows_wait():
    """A front that is larger than the pattern says: the memory of the first guess does not do."""
    rng = np.random.default_rng(1)
    K = saddle(rng, 300, 200, 0.02, 0.9)
    dense = full(K) + np.diag(np.where(np.arange(500) < 300, 1e-9, -1e-2))
    K = sparse.coo_matrix(np.tril(dense))
    made = Factors(front_tree.tree(500, K.row, K.col))
    made._room(0.05, 4)
    made.factor(K.data, 0.1)
    assert made.negative == (np.linalg.eigvalsh(dense) < 0).sum()
    assert made._more > 0.05


def test_without_metis_the_order_is_amd(monkeypatch):
    K = saddle(np.random.default_rng(5), 80, 30, 0.1, 0.0)
    rows, columns = K.row.astype(np.int64), K.col.astype(np.int64)
    monkeypatch.setattr(front_tree, "_metis", lambda: None)
    found = Factors(front_tree._built(110, rows, columns))
    found.factor(K.data, 1e-6)
    assert found.negative + found.zero >= 30


@pytest.fixture(scope="module")
def problem():
    system = cd.System()
    system.add_body(
        "bob", mobilizer=cd.Pin(), mass=1.0, com=(0, -1, 0), inertia=(0, 0, 0), coordinates="angle"
    )
    made = cd.Problem(system, duration=(0.5, 3.0))
    made.add_torques("angle", bounds=(-12, 12))
    made.bound("angle", (-1, 4), start=0, end=np.pi)
    made.bound("angle_speed", (-20, 20), start=0, end=0)
    made.minimize(cd.goals.Effort())
    made.minimize(cd.goals.Duration(), 0.1)
    return made


def test_ipopt_finds_the_same_with_mumps(problem):
    own, other = (cd.solve(problem, mesh=15, accuracy=1e-8, options=x) for x in ({}, MUMPS))
    assert own.ok and other.ok
    assert own.objective == pytest.approx(other.objective, rel=1e-9)  # both to 1e-8
    assert own.motion["angle"] == pytest.approx(other.motion["angle"], abs=1e-6)


def test_a_run_that_fails_is_made_again_with_mumps(problem, monkeypatch):
    wrong = Factors.solve
    monkeypatch.setattr(Factors, "solve", lambda self, b: wrong(self, b) * np.linspace(-3, 3, len(b)))
    answer = cd.solve(problem, mesh=15, accuracy=1e-8)
    assert answer.ok
    assert answer.objective == pytest.approx(
        cd.solve(problem, mesh=15, accuracy=1e-8, options=MUMPS).objective
    )


def test_what_is_raised_inside_is_raised(problem, monkeypatch):
    def fail(self, b):
        raise MemoryError("no room")

    monkeypatch.setattr(Factors, "solve", fail)
    with pytest.raises(MemoryError, match="no room"):
        cd.solve(problem, mesh=15)


def test_runs_in_threads_keep_their_own_systems(problem):
    expected = [cd.solve(problem, mesh=n).objective for n in (6, 9, 12)]
    problems = [problem] * 3
    found = [None] * 3

    def run(k):
        found[k] = cd.solve(problems[k], mesh=(6, 9, 12)[k]).objective

    threads = [threading.Thread(target=run, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected
    assert kkt._users == [0]


def test_an_ipopt_without_the_function_uses_mumps(problem, monkeypatch):
    monkeypatch.setattr(kkt, "_SET", "not_there")
    assert cd.solve(problem, mesh=15).ok
    assert not kkt.available(ipopt.library())


class Bowl:
    """Least sum (x - 1)^4 with sum x = 2."""

    n, m = 4, 1
    jacobian_rows, jacobian_columns = np.zeros(4, int), np.arange(4)
    hessian_rows = hessian_columns = np.arange(4)

    def objective(self, x):
        return float(((x - 1) ** 4).sum())

    def gradient(self, x):
        return 4 * (x - 1) ** 3

    def constraints(self, x):
        return np.array([x.sum()])

    def jacobian(self, x):
        return np.ones(4)

    def hessian(self, x, sigma, lambda_):
        return 12 * sigma * (x - 1) ** 2


def test_a_run_may_start_another():
    """At each iteration, in the same thread: the outer one goes on with its own matrices."""
    wide = np.full(4, 10.0)
    bounds = Bounds(-wide, wide, np.array([2.0]), np.array([2.0]))
    inner = []

    def watch(iteration, iterate):
        inner.append(ipopt.solve(Bowl(), bounds, np.arange(4.0)))
        return True

    found = ipopt.solve(Bowl(), bounds, np.array([4.0, -3, 2, 1]), watch=watch)
    alone = ipopt.solve(Bowl(), bounds, np.array([4.0, -3, 2, 1]))
    assert found.status == alone.status == "solved"
    assert found.iterations == alone.iterations
    np.testing.assert_array_equal(found.x, alone.x)
    assert all(x.status == "solved" for x in inner)
