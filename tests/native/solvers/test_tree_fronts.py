"""Linear equations along a tree, against numpy.linalg."""

from __future__ import annotations

import numpy as np
import pytest

from condyle.native.programs.nodes import Kernel
from condyle.native.programs.program import Program
from condyle.native.solvers.tree_fronts import FORCES, FrontFactors, FrontPlan, FrontSolution

# parents of the nodes; which node owns each unknown; pairs of these that meet, in one branch, across two and across
# the ground; others meet those named first
BRANCHES = [0, 0, 1, 2, 2, 1, 5, 6, 0], [1, 1, 2, 3, 4, 4, 5, 7, 8, 8]
CHAIN = [0, *range(8)], [*range(1, 9)]
CASES = {
    "tree": (*BRANCHES, [], [], 18),
    "meetings": (*BRANCHES, [(0, 3), (3, 7), (5, 6), (2, 8)], [(4, 6), (1,), (6, 9), (3, 3)], 18),
    "chain": (*CHAIN, [(k, k + 1) for k in range(7)], [(1, 2), (2, 3), (6, 7)], 18),
    "narrow": (*BRANCHES, [(3, 5)], [(0, 2)], 6),
    "none": ([0], [], [], [(), ()], 18),
}


def problem(parents, owners, meetings, others, width, rng):
    """A plan, its numbers, the matrix, its right side, and the unknowns."""
    own, n, nodes = len(owners), len(owners) + len(others), len(parents)
    entries = {(i, j) for i in range(own) for j in range(own) if owners[i] == owners[j]}
    entries |= {pair for i, j in meetings for pair in ((i, j), (j, i))}
    for v, first in enumerate(others, start=own):
        entries |= {(v, v)} | {pair for i in first for pair in ((i, v), (v, i))}
    plan = FrontPlan.of(parents, owners, n, sorted(entries), width)
    K, T, C = (rng.normal(size=(*size, width)) for size in ((nodes, FORCES), (own,), (2, own)))
    S, R = rng.normal(size=(2, own, FORCES))
    A, p, r = (rng.normal(size=size) for size in (len(entries), (2, own), n))
    A[[i == j for i, j in plan.entries]] += 30.0
    free = np.ones(n)
    free[: own // 3] = 0
    paths = [{B} for B in range(nodes)]
    for B in range(1, nodes):
        paths[B] |= paths[parents[B]]
    reach = np.array([[owner in path for owner in owners] for path in paths], float).reshape(nodes, own)
    W = np.einsum("bj,jk->bkj", reach, T)  # w of each node = W x + c
    c = np.einsum("bj,ijk,ij->bk", reach, C, p)
    M, right = np.zeros((n, n)), r.copy()
    for e, B in enumerate(owners):
        beyond = [i for i in range(nodes) if B in paths[i]]
        M[e, :own] = sum(S[e] @ K[i] @ W[i] for i in beyond) + R[e] @ W[parents[B], :FORCES]
        right[e] -= sum(S[e] @ K[i] @ c[i] for i in beyond) + R[e] @ c[parents[B], :FORCES]
    for (i, j), value in zip(plan.entries, A, strict=True):
        M[i, j] += value
    for v in np.flatnonzero(free == 0):
        M[v], right[v] = np.eye(n)[v], r[v]
    pad = lambda x, size: np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, size - x.shape[-1])]).ravel()
    given = {
        "K": pad(K, plan.row),
        "T": pad(T, plan.vector),
        "C": pad(C, plan.vector),
        "S": pad(S, 8),
        "R": pad(R, 8),
        "A": A,
        "free": free,
        "p": p.ravel(),
        "r": r,
    }
    return plan, given, M, np.linalg.solve(M, right) if n else right


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_solutions(case):
    """By machine code for one state and for lanes, and by NumPy."""
    found = [problem(*case, np.random.default_rng(seed)) for seed in range(4)]
    plan = found[0][0]
    factors, solution = FrontFactors(plan, 2), FrontSolution(plan, 2)
    first, second = ["K", "T", "C", "S", "R", "A", "free"], ["factors", "T", "C", "S", "free", "p", "r"]
    columns = {name: np.stack([given[name] for _, given, *_ in found], axis=1) for name in found[0][1]}
    columns["factors"] = factors.evaluate([columns[name] for name in first])[0]
    results = [solution.evaluate([columns[name] for name in second])[0].T]
    sizes = {name: len(x) for name, x in columns.items()} | {"x": plan.n}
    nodes = [Kernel(factors, tuple(first), ("factors",)), Kernel(solution, tuple(second), ("x",))]
    for W in (1, 4):
        program, answers = Program(nodes, sizes, W=W), []
        for k in range(len(found) if W == 1 else 1):
            workspace = program.workspace()
            for name, x in columns.items():
                if name != "factors":
                    workspace[name] = x[:, k] if W == 1 else x
            program.run(workspace)
            answers.append(np.array(workspace["x"]))
        results.append(np.array(answers) if W == 1 else answers[0].T)
    for answers in results:
        for x, (_, _, M, expected) in zip(answers, found, strict=True):
            # pivots as they come may grow tenfold
            tolerance = 1e-14 * (np.linalg.cond(M) if len(M) else 1)
            np.testing.assert_allclose(x, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=1))


def test_fronts_stay_small_where_unknowns_meet_neighbors():
    """However long the chain, and what meets across branches stays open from there on alone."""
    for n in (10, 1000):
        entries = [(i, j) for i in range(n) for j in (i - 1, i, i + 1) if 0 <= j < n]
        plan = FrontPlan.of([0, *range(n)], [*range(1, n + 1)], n, entries, 18)
        assert plan.room == 2 and list(plan.homes) == list(plan.owners)
    parents, owners = CASES["tree"][:2]
    apart = FrontPlan.of(parents, owners, len(owners), [(3, 7), (7, 3)], 18)
    assert sorted({apart.homes[3], apart.homes[7]} - {owners[3], owners[7]}) == [
        1
    ]  # where their branches meet
