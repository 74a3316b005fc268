"""Stored reference accelerations against each peer engine, and Condyle against each peer.

The first half tests benchmarks/trees.py: the models it times must be the same mechanism for every engine. The
second half is evidence for Condyle that shares no code with it. An engine that is not installed is skipped
(extra `peers`).
"""

import functools
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks import trees
from benchmarks.opensim_process import OpenSimProcess

DATA = Path(__file__).parent.parent / "data" / "trees"
STORED = ("chain_7", "tree_30")

# Two stable solves differ by at most about n cond(M) eps; cond(M), measured, is 36 to 4600 for these trees, n
# <= 60.
TOLERANCE = 1e-10


def pinocchio_udot(tree):
    pin = pytest.importorskip("pinocchio", reason="pin is not installed (extra: peers)")
    model = trees.pinocchio_model(tree)
    data = model.createData()
    return np.array([pin.aba(model, data, *state).copy() for state in zip(tree.q, tree.u, tree.tau)])


def mujoco_udot(tree):
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (extra: peers)")
    model = trees.mujoco_model(tree)
    data = mujoco.MjData(model)
    udot = np.empty_like(tree.q)
    for i, (q, u, tau) in enumerate(zip(tree.q, tree.u, tree.tau)):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, u, tau
        mujoco.mj_forward(model, data)
        udot[i] = data.qacc
    return udot


def opensim_udot(tree):
    if find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")
    return OpenSimProcess(tree).ask("udot")


PEERS = {"pinocchio": pinocchio_udot, "mujoco": mujoco_udot, "opensim": opensim_udot}


def assert_same_acceleration(udot, expected):
    np.testing.assert_allclose(udot, expected, rtol=0, atol=TOLERANCE * np.abs(expected).max())


@pytest.mark.peers
@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("peer", PEERS)
def test_peer_gives_the_stored_acceleration(peer, name):
    tree = trees.load_tree(DATA / f"{name}.json")
    assert_same_acceleration(PEERS[peer](tree), tree.udot)


@functools.cache
def random_tree_and_our_udot(bodies, seed):
    """Compiled once for all peers."""
    tree = trees.random_tree(bodies, states=5, seed=seed)
    return tree, trees.condyle_system(tree).forward_dynamics(tree.q, tree.u, tree.tau)


@pytest.mark.peers
@pytest.mark.parametrize(("bodies", "seed"), [(7, 1), (30, 2), (60, 3)])
@pytest.mark.parametrize("peer", PEERS)
def test_condyle_gives_the_peers_acceleration(peer, bodies, seed):
    tree, udot = random_tree_and_our_udot(bodies, seed)
    assert_same_acceleration(udot, PEERS[peer](tree))


def test_a_tree_that_is_not_depth_first_is_refused():
    tree = trees.random_tree(3, states=1, branching=0.0)
    chain = tree.bodies
    # a second root is fine, numbered last
    sideways = [chain[0], chain[1], trees.random_tree(1).bodies[0]]
    trees.Tree("two roots", tuple(sideways))
    # body 3 hangs from 1, but 2 is a new root
    crossed = (chain[0], chain[1], sideways[2], chain[2])
    with pytest.raises(ValueError, match="body 3 hangs from 1"):
        trees.Tree("crossed", crossed)


@pytest.mark.parametrize("bodies", [7, 30])
def test_a_seed_gives_one_tree(bodies):
    a, b = trees.random_tree(bodies, seed=4), trees.random_tree(bodies, seed=4)
    other = trees.random_tree(bodies, seed=5)
    np.testing.assert_array_equal(a.q, b.q)
    assert [x.mass for x in a.bodies] == [x.mass for x in b.bodies]
    assert not np.array_equal(a.q, other.q)
