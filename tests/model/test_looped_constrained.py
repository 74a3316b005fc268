"""Constrained systems in the looped layout against the unrolled one: operators, and runs."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.constraints.solve.multipliers import LINES
from tests.constraints.rig import EVERY, rig, state
from tests.model.test_looped import OF_CONSTRAINTS, compare

GROUPS = {
    "positions": ("Rod", "ConstantCoordinate", "ConstantAngle", "CoordinateCoupler"),
    "levels": ("PointInPlane", "SpeedCoupler", "NoSlip1D", "AccelerationOnly"),
    "redundant": ("Weld",),
}
MORE = {
    "levels": {"once": EVERY["PrescribedMotion"]},
    "redundant": {"again": cd.constraints.Ball("tip", (0.1, 0.2, -0.1), "float", (0.1, 0.0, 0.2))},
}
# The mass matrix of the rig has a condition of some hundreds, and multipliers lose as much again. Redundant
# constraints are looked at where they do not contradict each other.
SAME = 1e-9


def given(system: cd.System, n: int = 3, **options) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    states = [
        (system.project if "Weld" in system.constraints else lambda *x: x)(*state(system, seed))
        for seed in range(n)
    ]
    return {
        "q": np.stack([q for q, _ in states]),
        "u": np.stack([u for _, u in states]),
        "tau": rng.uniform(-1, 1, (n, system.nu)),
        "f": rng.uniform(-1, 1, (n, system.nu)),
        "weights": rng.uniform(0.5, 2, (n, system.nu)),
        "udot": rng.uniform(-1, 1, (n, system.nu)),
        "lambda_": rng.uniform(-1, 1, (n, system.compiled.model.equations())),
        "tail": system.compiled.tail(**options),
    }


@pytest.fixture(scope="module", params=GROUPS)
def system(request):
    return rig(*GROUPS[request.param], **MORE.get(request.param, {}))


@pytest.mark.parametrize("name", sorted(OF_CONSTRAINTS))
def test_operators(system, name):
    compare(system, name, "interpreted", given(system, t=0.3), SAME)


@pytest.mark.parametrize("how", ["scalar", "lanes"])
def test_machine_code_with_locks_and_switches(how):
    system = rig("Rod", "ConstantAngle", "SpeedCoupler")
    compare(
        system,
        "forward_dynamics",
        how,
        given(system, 9, locked=["twist"], disabled=["ConstantAngle", "spring"]),
        SAME,
    )


def test_motions_and_numbers():
    """A body that is driven, others that close a loop with it, and two pins that differ in their axes."""

    def driven() -> cd.System:
        system = cd.System(gravity=(0, -9.81, 0))
        body = {"mass": 1.0, "com": (0, -0.2, 0), "inertia": (0.02, 0.01, 0.02)}
        system.add_body(
            "crank", mobilizer=cd.Pin(), motion=cd.Prescribed(lambda t: 0.3 * np.sin(3 * t)), **body
        )
        system.add_body("knee", "crank", cd.Pin(axis=(1, 0.2, 0.3)), X_PF=(0, -0.1, 0), **body)
        system.add_body("ankle", "knee", cd.Pin(axis=(0.1, -0.4, 1)), X_PF=(0, -0.1, 0), **body)
        system.add_body("rod", "ankle", cd.Ball(), X_PF=(0, -0.3, 0), **body)
        system.add_body("end", mobilizer=cd.Free(), X_PF=(0.1, -0.7, 0.1), **body)
        system.add_constraint("ball", cd.constraints.Ball("rod", (0, -0.4, 0), "end", (-0.1, 0, -0.1)))
        return system

    compare(driven(), "forward_dynamics", "lanes", given_of(driven()), SAME)


def given_of(system: cd.System) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    q = np.stack(
        [
            system.compiled.normalized(system.defaults()[0] + rng.uniform(-0.3, 0.3, system.nq))
            for _ in range(3)
        ]
    )
    more = {name: rng.uniform(-1, 1, (3, system.nu)) for name in ("u", "tau")}
    return {"q": q, **more, "tail": system.compiled.tail(t=0.2)}


@pytest.mark.parametrize("integrator", ["merson", "semi-explicit-euler"])
def test_runs(monkeypatch, integrator):
    """The same steps, with quaternions, a switch and errors that projection takes away."""
    ends = []
    for layout in ("unrolled", "looped"):
        monkeypatch.setenv("CONDYLE_LAYOUT", layout)
        system = rig("Rod", "SpeedCoupler")
        q, u = system.project(*state(system))
        run = cd.simulate(
            system,
            system.state(q=q, u=u),
            0.05,
            integrator=integrator,
            **({"accuracy": 1e-7} if integrator == "merson" else {"step": 1e-3}),
        )
        assert run.status == "finished"
        ends.append((run.statistics, run[-1].q, run[-1].u))
    assert ends[0][0] == ends[1][0]
    for x, y in zip(ends[0][1:], ends[1][1:], strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-10)  # roundings of some hundred evaluations


def braided(branches: int = 3, n: int = 6) -> cd.System:
    """Branches of all sorts of joints on a base that moves, with constraints within and between them: more
    equations than a straight line solves."""
    system, rng = cd.System(gravity=(0, -9.81, 0)), np.random.default_rng(4)
    body = {"mass": 1.0, "com": (0, -0.2, 0), "inertia": (0.02, 0.01, 0.02)}
    system.add_body("base", mobilizer=cd.Free(), **body)
    joints = cd.Pin, cd.Universal, cd.Weld, cd.Ball, cd.Pin, cd.Slider
    for k in range(n):  # in turns: the branches' numbers are mixed
        for b in range(branches):
            X_PF = cd.Transform(np.eye(3), tuple(rng.uniform(-0.3, 0.3, 3)))
            system.add_body(f"{b}_{k}", f"{b}_{k - 1}" if k else "base", joints[(k + b) % 6](), X_PF, **body)
    for b in range(branches):
        ends = f"{b}_{n - 1}", f"{(b + 1) % branches}_{n - 2}"
        system.add_constraint(
            f"ball{b}", cd.constraints.Ball(ends[0], (0.1, 0, 0), "base", (0.2 * b, -1.0, 0))
        )
        system.add_constraint(f"rod{b}", cd.constraints.Rod(ends[0], (0, 0, 0), ends[1], (0, 0, 0), 1.0))
    for name in ("0_2", "2_1", "1_1"):
        system.add_constraint(name, cd.constraints.PointInPlane("ground", (0, 1, 0), 0.1, name, (0, 0.1, 0)))
    return system


@pytest.mark.parametrize("how", ["interpreted", "scalar", "lanes"])
@pytest.mark.parametrize("name", ["constraint_matrix", "forward_dynamics", "position_change"])
def test_many_equations_are_one_product(name, how):
    system = braided()
    assert system.compiled.model.equations() > LINES
    compare(system, name, how, given_of(system) | {"weights": np.ones(system.nu)}, SAME)
