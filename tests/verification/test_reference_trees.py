"""Stored trees of pins whose accelerations an independent mass-matrix program computed:
tests/data/trees/README.md."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import condyle as cd

FILES = sorted((Path(__file__).parents[1] / "data" / "trees").glob("*.json"))
# Two stable solves differ by at most about n cond(M) eps; cond(M), measured, is below 5000 and n <= 30:
# 3e-11.
TOLERANCE = 1e-10


def load(path, reverse=False, numbering=None):
    """The system of a file. `reverse`: by reversed pins about -z, the same motion. `numbering`: order of
    adding bodies."""
    data = json.loads(path.read_text(encoding="utf-8"))
    system = cd.System(gravity=data["gravity"])
    pin = cd.Pin(axis=(0, 0, -1)).reversed() if reverse else cd.Pin()
    for i in range(len(data["bodies"])) if numbering is None else numbering:
        b = data["bodies"][i]
        system.add_body(
            f"b{i}",
            "ground" if b["parent"] < 0 else f"b{b['parent']}",
            pin,
            X_PF=cd.Transform(b["R_PF"], b["p_PF"]),
            mass=b["mass"],
            com=b["com"],
            inertia=b["inertia_com"],
        )
    return system, *(np.array(data[name]) for name in ("q", "u", "tau", "udot"))


def relative(measured, expected):
    return np.abs(measured - expected).max() / np.abs(expected).max()


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def path(request):
    return request.param


def test_there_are_reference_trees():
    assert [path.stem for path in FILES] == ["chain_7", "tree_30"]


def test_one_state_a_call(path, evidence):
    system, q, u, tau, expected = load(path)
    udot = np.array([system.forward_dynamics(*state) for state in zip(q, u, tau)])
    evidence(
        "stored accelerations of trees with 7 and 30 bodies, one state per call, relative",
        relative(udot, expected),
        TOLERANCE,
    )


def test_batch(path, evidence):
    system, q, u, tau, expected = load(path)
    evidence(
        "stored accelerations of trees with 7 and 30 bodies, all states in one call, relative",
        relative(system.forward_dynamics(q, u, tau), expected),
        TOLERANCE,
    )


def test_state(path):
    system, q, u, tau, expected = load(path)
    state = system.state(q=q[3], u=u[3])
    assert relative(state.forward_dynamics(tau[3]), expected[3]) < TOLERANCE


def test_inverse_dynamics(path, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system, q, u, tau, udot = load(path)
    h = system.inverse_dynamics(q, u, 0 * udot)
    # No solve here: rounding of the forces that cancel.
    assert np.abs(system.inverse_dynamics(q, u, udot) - tau).max() < 1e-12 * np.abs(h).max()


def test_reversed_pins(path, monkeypatch):
    """A pin about -z seen from its other side is a pin about z."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system, q, u, tau, expected = load(path, reverse=True)
    assert relative(system.forward_dynamics(q, u, tau), expected) < TOLERANCE


def test_another_numbering(monkeypatch):
    """Bodies added level by level instead of limb by limb: the same accelerations, in the new order."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    path = FILES[1]
    parents = [b["parent"] for b in json.loads(path.read_text(encoding="utf-8"))["bodies"]]
    depth = []
    for p in parents:
        depth.append(0 if p < 0 else depth[p] + 1)
    order = sorted(range(len(parents)), key=lambda i: (depth[i], -i))
    assert order != list(range(len(parents)))
    system, q, u, tau, expected = load(path, numbering=order)
    udot = system.forward_dynamics(q[:, order], u[:, order], tau[:, order])
    assert relative(udot, expected[:, order]) < TOLERANCE
