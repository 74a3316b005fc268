"""Elimination order of a symmetric sparse matrix, and the tree of fronts from its sparsity pattern.

A fill-reducing order comes from METIS (nested dissection), or from AMD (Amestoy, Davis and Duff 1996), both
inside CasADi's wheel. Columns of L with the same rows are eliminated together, in one front; a front is
merged with its parent if the extra zeros take less time than a separate block (`_time`).
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from condyle.native.machine import cache as disk_cache
from condyle.records import dataclass

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FrontTree:
    """Fronts from the leaves to the roots; those below one come just before it.

    Attributes:
        n: rows of the matrix.
        position: in the order of elimination, of each row, shape (n,).
        width: rows that each front eliminates, shape (fronts,).
        first: where the rows of each front begin in `rows`, shape (fronts + 1,).
        rows: of all fronts: first those eliminated, then those passed to the parent, by position.
        place: index of each of the latter among the rows of the parent.
        children: fronts below each.
        entry: where the entries of each front begin in `source`, `row` and `column`, shape (fronts + 1,).
        source: of each entry, its number in the values of the matrix.
        row: of each entry in its front.
        column: of each entry in its front.
        entries: of all fronts' L.
        stack: maximum size of all blocks waiting to be added to their parents.
    """

    n: int
    position: Whole
    width: Whole
    first: Whole
    rows: Whole
    place: Whole
    children: Whole
    entry: Whole
    source: Whole
    row: Whole
    column: Whole
    entries: int
    stack: int


def tree(n: int, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> FrontTree:
    """The tree of a matrix with entries at rows and columns, one of each symmetric pair; positions may be
    repeated. Trees are cached in memory and on disk.
    """
    digest = hashlib.sha256(rows.astype(np.int32).tobytes() + columns.astype(np.int32).tobytes()).hexdigest()
    if (digest, n) not in _known:
        while len(_known) >= _MOST:
            _known.pop(next(iter(_known)))
        _known[digest, n] = _found(f"tree {n} {digest}", n, rows.astype(np.int64), columns.astype(np.int64))
    return _known[digest, n]


_known: dict[tuple[str, int], FrontTree] = {}
_MOST = 16
_ARRAYS = "position", "width", "first", "rows", "place", "children", "entry", "source", "row", "column"


def _found(key: str, n: int, rows: Whole, columns: Whole) -> FrontTree:
    def load(code: bytes, facts: Any) -> FrontTree:
        parts = np.split(np.frombuffer(code, np.int64), np.cumsum(facts["sizes"])[:-1])
        return FrontTree(n, *_ten(parts), *facts["totals"])

    found = disk_cache.loaded(key, load)
    if found is None:
        found = _built(n, rows, columns)
        arrays = [getattr(found, name) for name in _ARRAYS]
        facts = {"sizes": [len(x) for x in arrays], "totals": [found.entries, found.stack]}
        disk_cache.store(key, b"".join(x.tobytes() for x in arrays), facts)
    return found


def _ten(
    arrays: Sequence[Any],
) -> tuple[Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole]:
    a, b, c, d, e, f, g, h, i, j = (np.array(x, np.int64) for x in arrays)
    return a, b, c, d, e, f, g, h, i, j


# ---- order -------------------------------------------------------------------------------------------------


@cache
def _metis() -> Any:
    """METIS 4's function, or None."""
    folder = Path(ca.__file__).parent
    name = "libcoinmetis.2.dylib" if sys.platform == "darwin" else "libcoinmetis.so.2"
    try:
        library = ctypes.CDLL(str(folder / name))
    except OSError:
        return None
    fourth = hasattr(library, "METIS_EdgeND") and not hasattr(library, "METIS_SetDefaultOptions")
    return library.METIS_NodeND if fourth else None


def _order(graph: sparse.csc_matrix) -> Whole:
    """Rows in a fill-reducing order."""
    n, dissect = graph.shape[0], _metis()
    if dissect is None or not graph.nnz:
        return np.array(_sparsity(graph).ldl(True)[1], np.int64)
    starts, others = graph.indptr.astype(np.int32), graph.indices.astype(np.int32)
    options, order, inverse = np.zeros(8, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    at = [ctypes.c_void_p(x.ctypes.data) for x in (starts, others, options, order, inverse)]
    size, zero = (ctypes.byref(ctypes.c_int(x)) for x in (n, 0))
    dissect(size, at[0], at[1], zero, *at[2:])
    return order.astype(np.int64)


def _sparsity(graph: sparse.csc_matrix) -> Any:
    """The pattern with its diagonal, as CasADi's Sparsity."""
    full = (graph + sparse.eye(graph.shape[0], format="csc")).tocsc()
    full.sort_indices()
    n = full.shape[0]
    return ca.Sparsity(n, n, full.indptr.tolist(), full.indices.tolist())


def _postorder(parent: Sequence[int]) -> list[int]:
    """Nodes in postorder."""
    below: list[list[int]] = [[] for _ in parent]
    todo: list[int] = []
    for j, p in enumerate(parent):
        (below[p] if p >= 0 else todo).append(j)
    out = []
    while todo:
        node = todo.pop()
        out.append(node)
        todo += below[node]
    return out[::-1]


# ---- fronts ------------------------------------------------------------------------------------------------


def _time(width: int, n: int) -> float:
    """Approximate time of a front with n rows, of which `width` are eliminated [us], from measurements."""
    rest = n - width
    return 0.4 + 1.2e-3 * n * width + 0.8e-3 * rest * rest + 0.4e-4 * (n**3 - rest**3)


def _built(n: int, rows: Whole, columns: Whole) -> FrontTree:
    pairs = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    graph = sparse.csc_matrix((np.ones(2 * len(rows)), pairs), (n, n))
    graph.setdiag(0)
    graph.eliminate_zeros()
    graph.sort_indices()
    order = _order(graph)
    order = order[_postorder(_sparsity(graph[order][:, order]).etree())]
    L = _sparsity(graph[order][:, order].tocsc()).ldl(False)[0].T
    starts, below = np.array(L.colind(), np.int64), np.array(L.row(), np.int64)
    count = np.diff(starts)
    parent = np.full(n, -1)
    parent[count > 0] = below[starts[:-1][count > 0]]
    # columns with the same rows
    follows = (parent[:-1] == np.arange(1, n)) & (count[:-1] == count[1:] + 1)
    last = np.flatnonzero(
        np.append(~follows, True)
    )  # of each front: its last column has the rows it hands on
    of = np.searchsorted(last, np.arange(n))
    width = np.diff(last, prepend=-1).tolist()
    size = [w + c for w, c in zip(width, count[last].tolist(), strict=True)]
    above = np.where(parent[last] >= 0, of[parent[last]], -1).tolist()
    kids: list[list[int]] = [[] for _ in last]
    joined = np.arange(len(last))
    for k in range(len(last)):
        for c in sorted(kids[k], key=lambda c: -size[c]):
            apart = _time(width[k], size[k]) + _time(width[c], size[c])
            if _time(width[k] + width[c], size[k] + width[c]) <= apart:
                width[k], size[k] = width[k] + width[c], size[k] + width[c]
                joined[c] = k
        if above[k] >= 0:
            kids[above[k]].append(k)
    # a front that joined one which joined another
    for k in reversed(range(len(last))):
        joined[k] = joined[joined[k]]
    left = np.flatnonzero(joined == np.arange(len(last)))
    number = np.full(len(last), -1)
    number[left] = np.arange(len(left))
    over = [-1 if above[k] < 0 else int(number[joined[above[k]]]) for k in left]
    post = np.array(_postorder(over), np.int64)
    rank = np.empty_like(post)
    rank[post] = np.arange(len(post))
    front = rank[number[joined[of]]]  # of each column
    by = np.argsort(front, kind="stable")
    place = np.empty(n, np.int64)
    place[by] = np.arange(n)
    position = np.empty(n, np.int64)
    position[order] = place
    # rows: of all fronts together, sorted by front and position
    fronts, top = len(post), last[left[post]]
    widths = np.bincount(front, minlength=fronts)
    begin = np.concatenate([[0], np.cumsum(widths)])
    handed = np.concatenate(
        [np.zeros(0, np.int64), *(below[starts[t] : starts[t + 1]] for t in top.tolist())]
    )
    owner = np.repeat(np.arange(fronts), count[top])
    key = np.sort(np.concatenate([front * n + place, owner * n + place[handed]]))
    sizes = widths + count[top]
    first = np.concatenate([[0], np.cumsum(sizes)])
    every, holder = key % n, key // n
    up = np.array([-1 if over[k] < 0 else rank[over[k]] for k in post], np.int64)
    passed = np.flatnonzero(np.arange(len(key)) - first[holder] >= widths[holder])
    relative = np.zeros(len(key), np.int64)
    relative[passed] = (
        np.searchsorted(key, up[holder[passed]] * n + every[passed]) - first[up[holder[passed]]]
    )
    # entries
    a, b = position[rows], position[columns]
    low, high = np.minimum(a, b), np.maximum(a, b)
    home = np.searchsorted(begin, low, side="right") - 1
    source = np.argsort(home, kind="stable")
    row = np.searchsorted(key, home * n + high) - first[home]
    room = int(_stack(up, sizes - widths))
    arrays = (
        position, widths, first, every, relative, np.bincount(up[up >= 0], minlength=fronts),
        np.concatenate([[0], np.cumsum(np.bincount(home, minlength=fronts))]), source, row[source], (low - begin[home])[source],
    )  # fmt: skip
    return FrontTree(n, *_ten(arrays), int((sizes * widths).sum()), room)


def _stack(up: Whole, rest: Whole) -> int:
    """Maximum number of entries in waiting blocks."""
    most = held = 0
    waiting = [0] * len(up)
    for k, (p, m) in enumerate(zip(up.tolist(), rest.tolist(), strict=True)):
        held += m * m - waiting[k]
        most = max(most, held + waiting[k])
        if p >= 0:
            waiting[p] += m * m
    return most
