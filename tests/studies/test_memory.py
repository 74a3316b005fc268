"""What results hold of memory: no data more than three times, those of the input counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import condyle as cd
from tests.studies.arm import arm, motion, table

MOST = 3


def arrays(thing: Any, seen: dict[int, Any]) -> Iterator[np.ndarray]:
    """All memory of arrays that something leads to, each once; not that of systems and their code."""
    if id(thing) in seen or isinstance(thing, (cd.System, type)):
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        if isinstance(thing.base, np.ndarray):
            yield from arrays(thing.base, seen)
        else:
            yield thing
        return
    inside = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else ()
    for part in (*inside, *getattr(thing, "__dict__", {}).values()):
        yield from arrays(part, seen)


def copies(*things: Any) -> Counter[bytes]:
    """How often each data is there, in any order of axes. Columns of times do not count: each table has its own."""
    seen: dict[int, Any] = {}
    found = [
        x for thing in things for x in arrays(thing, seen) if x.ndim > 1 and x.size > 100 and x.dtype == float
    ]
    return Counter(np.sort(x, axis=None).tobytes() for x in found if np.ptp(x) > 0)


def reached() -> cd.Markers:
    """Five markers of the hand in the motion of the arm."""
    q = motion().q
    places = [
        arm().station_position(q, "r_ulna_radius_hand", (0.01 * k, -0.2, 0.02 * k**2)) for k in range(5)
    ]
    return cd.Markers(motion().t, [f"m{k}" for k in range(5)], np.stack(places, axis=-2))


def kinematics() -> tuple[Any, ...]:
    system = arm().copy()
    for k in range(5):
        system.add_marker(f"m{k}", "r_ulna_radius_hand", (0.01 * k, -0.2, 0.02 * k**2))
    markers = reached()
    result = cd.inverse_kinematics(system, markers)
    result.motion, result.errors, result.report()  # made when they are asked for
    return markers, result


STUDIES = {
    "inverse kinematics": kinematics,
    "inverse dynamics": lambda: (table(), cd.inverse_dynamics(arm(), table())),
    "static optimization": lambda: (table(), cd.static_optimization(arm(), table(), reserves=1.0)),
    "joint reactions": lambda: (table(), cd.joint_reactions(arm(), table())),
    "muscle analysis": lambda: (table(), cd.muscle_analysis(arm(), table())),
}


@pytest.mark.parametrize("study", STUDIES)
def test_no_data_more_than_three_times(study):
    found = copies(*STUDIES[study]())
    assert found, "the result has no data"
    assert max(found.values()) <= MOST


def test_the_count_sees_copies():
    x = np.random.default_rng(1).uniform(size=(60, 3))
    held = {"a": x, "b": (x.T.copy(), {"c": x[::-1].copy()}), "d": x[:, :2]}
    assert sorted(copies(held, x.copy()).values()) == [4]  # d is part of a


def test_an_ensemble_holds_its_data_and_half_of_that():
    """Of 1,000 members at 20 times: q, u, and their times."""
    pendulum = cd.System()
    pendulum.add_body("b", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), mass=1, inertia=(0.1,) * 3)
    q = np.random.default_rng(0).uniform(-1, 1, (1000, 1))
    result = cd.simulate(pendulum, {"q": q}, 1.0, keep=np.linspace(0, 1, 20))
    held = sum(x.nbytes for x in arrays(result, {}))
    assert held <= 2 * 1000 * 20 * 3 * 8  # t, q, u; the rest is what members did
    assert max(copies(result, q).values()) <= MOST
