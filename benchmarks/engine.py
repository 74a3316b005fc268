"""The whole engine beside its peers and beside itself: `python -m benchmarks.engine --help`. Targets of issue
3.

A human-like tree; an ellipsoid beside a ball; spline knees beside pins; derivatives beside forward dynamics
and Pinocchio's; Parameters beside constants; what it takes to make the machine code of each. Ends with exit
code 0 whether or not targets are met; the last table says which are.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import count, cycle
from typing import Any

import numpy as np

from benchmarks import human, trees
from benchmarks.report import Claim, Report, Time, machine
from benchmarks.speed import available, record
from benchmarks.timing import Case
from benchmarks.trees import Array

BATCH = 10_000
PEER_BATCH = 1_000  # states of a peer's run: of similar length
# 2700 numbers each at 30 dof: results that stay in the cache
JACOBIANS = 300
WRT = ("q", "u", "tau")
Call = Callable[..., Any]


def singly(call: Call, arrays: Sequence[Array], calls: int = 20) -> Case:
    """One state a call, a new one each time: `calls` of them a run, the next ones at the next."""
    states = [tuple(row.copy() for row in rows) for rows in zip(*(a[:100] for a in arrays), strict=True)]
    parts = cycle([states[i : i + calls] for i in range(0, len(states) - calls + 1, calls)])

    def run() -> None:
        for state in next(parts):
            call(*state)

    return Case(run, calls)


def together(call: Call, arrays: Sequence[Array]) -> Case:
    """All states at once, on one thread."""
    return Case(lambda: call(*arrays, threads=1), len(arrays[0]))


def first(report: Report, what: str, bodies: int, call: Callable[[], Any]) -> None:
    """The first call: expressions, machine code, one result. Once, so other work may be in it."""
    begun, processor = time.perf_counter(), time.process_time()
    call()
    report.times.append(Time("first result", bodies, what, time.perf_counter() - begun))
    report.times.append(
        Time("first result", bodies, f"{what}, of it on the processor", time.process_time() - processor)
    )


def claim(report: Report, what: str, bodies: int, value: float, relation: str, target: float) -> None:
    report.claims.append(Claim(12, what, bodies, value, relation, target))


def beside(
    report: Report,
    what: str,
    bodies: int,
    systems: dict[str, Any],
    arrays: dict[str, Sequence[Array]],
    rounds: int,
    targets: dict[str, float],
) -> None:
    """Forward dynamics of Condyle systems beside the first of them, one state a call and in a batch."""
    for name, system in systems.items():
        first(
            report,
            f"{name}: one state",
            bodies,
            lambda s=system, n=name: s.forward_dynamics(*(a[0] for a in arrays[n])),
        )
        first(
            report,
            f"{name}: batch",
            bodies,
            lambda s=system, n=name: s.forward_dynamics(*(a[:100] for a in arrays[n])),
        )
    base = next(iter(systems))
    for group, cases in (
        (
            "one state",
            {n: singly(lambda *a, s=s: s.forward_dynamics(*a), arrays[n], 50) for n, s in systems.items()},
        ),
        ("batch", {n: together(s.forward_dynamics, arrays[n]) for n, s in systems.items()}),
    ):
        times = record(
            report, f"{group}, {what}", bodies, cases, rounds if group == "one state" else rounds // 4
        )
        for name, target in targets.items():
            claim(report, f"{group}, {name} / {base}", bodies, times[name] / times[base], "<=", target)


def human_like(report: Report, installed: list[str], rounds: int) -> None:
    """30 dof: Free, Balls, pins, spline knees. Peers have pins for knees, which is less work."""
    bodies, states = 13, human.states(BATCH)
    system, pins = human.condyle_system(), human.condyle_system(pins=True)
    ours = states.q, states.u, states.tau
    first(report, "human: one state", bodies, lambda: system.forward_dynamics(*(a[0] for a in ours)))
    first(report, "human: batch", bodies, lambda: system.forward_dynamics(*(a[:100] for a in ours)))
    expected = pins.forward_dynamics(*(a[:10] for a in ours))
    one = {
        "condyle: forward_dynamics": singly(lambda *a: system.forward_dynamics(*a), ours),
        "condyle: knees as pins": singly(lambda *a: pins.forward_dynamics(*a), ours),
    }
    many = {
        "condyle: forward_dynamics": together(system.forward_dynamics, ours),
        "condyle: knees as pins": together(pins.forward_dynamics, ours),
    }

    def agree(peer: str, vdot: list[Array]) -> None:
        difference = np.abs(
            human.from_peer(_head(states, 10), np.array(vdot), peer == "pinocchio") - expected
        ).max()
        if not difference < 1e-9 * np.abs(expected).max():
            report.notes.append(
                f"{peer} and condyle with pins differ by {difference:.1e}: not the same model"
            )

    if "pinocchio" in installed:
        import pinocchio as pin

        model = human.pinocchio_model()
        data, theirs = model.createData(), human.for_peer(states, pinocchio=True)
        agree(
            "pinocchio",
            [pin.aba(model, data, *state).copy() for state in zip(*(a[:10] for a in theirs), strict=True)],
        )
        for name, more in (("", ()), (", world convention", (pin.Convention.WORLD,))):
            one[f"pinocchio: aba{name}"] = singly(lambda *a, m=more: pin.aba(model, data, *a, *m), theirs)
            many[f"pinocchio: aba in a loop{name}"] = _loop(
                lambda *a, m=more: pin.aba(model, data, *a, *m), theirs
            )
    if "mujoco" in installed:
        import mujoco

        model_m, theirs_m = human.mujoco_model(), human.for_peer(states, pinocchio=False)
        data_m = [mujoco.MjData(model_m) for _ in range(100)]
        for d, q, u, tau in zip(data_m, *theirs_m):
            d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q, u, tau
            mujoco.mj_forward(model_m, d)
        agree("mujoco", [d.qacc.copy() for d in data_m[:10]])
        parts = cycle([data_m[i : i + 20] for i in range(0, 100, 20)])

        def written_before() -> None:
            for d in next(parts):
                mujoco.mj_forward(model_m, d)

        one["mujoco: mj_forward, state written before"] = Case(written_before, 20)
    for group, cases, least in (("one state", one, 2.0), ("batch", many, 10.0)):
        times = record(
            report, f"{group}, human", bodies, cases, rounds if group == "one state" else rounds // 6
        )
        for peer in {case.partition(":")[0] for case in cases} - {"condyle"}:
            theirs_best = min(t for case, t in times.items() if case.startswith(peer))
            claim(
                report,
                f"{group}, human of 30 dof, {peer} / condyle",
                bodies,
                theirs_best / times["condyle: forward_dynamics"],
                ">=",
                least,
            )
    report.notes.append(
        "human: peers have pins for knees; with pins Condyle's accelerations are theirs. OpenSim is left out"
    )
    jacobians(
        report,
        installed,
        "human",
        bodies,
        system,
        ours,
        (human.pinocchio_model(), human.for_peer(states, pinocchio=True))
        if "pinocchio" in installed
        else None,
        rounds,
    )


def _head(states: human.Human, count: int) -> human.Human:
    return human.Human(states.q[:count], states.u[:count], states.tau[:count])


def _loop(call: Call, arrays: Sequence[Array]) -> Case:
    return singly_all(call, [a[:PEER_BATCH] for a in arrays])


def singly_all(call: Call, arrays: Sequence[Array]) -> Case:
    """One state a call, all of them in a run."""
    states = [tuple(row.copy() for row in rows) for rows in zip(*arrays, strict=True)]

    def run() -> None:
        for state in states:
            call(*state)

    return Case(run, len(states))


def ellipsoid(report: Report, rounds: int) -> None:
    """One body; seth2010, table 1, has 0.98."""
    import condyle as cd

    systems = {}
    for name, mobilizer in (
        ("Ball", cd.Ball()),
        ("Ellipsoid", cd.Ellipsoid((0.3, 0.2, 0.1))),
        ("Ellipsoid, normal", cd.Ellipsoid((0.3, 0.2, 0.1), normal=True)),
    ):
        systems[name] = cd.System()
        systems[name].add_body(
            "body",
            mobilizer=mobilizer,
            X_BM=(0, 0.2, 0),
            mass=2.0,
            com=(0.01, -0.1, 0),
            inertia=(0.02, 0.01, 0.02),
        )
    rng = np.random.default_rng(12)
    q = rng.normal(size=(BATCH, 4))
    arrays = q / np.linalg.norm(q, axis=1, keepdims=True), *rng.uniform(-1, 1, (2, BATCH, 3))
    beside(report, "one body", 1, systems, dict.fromkeys(systems, arrays), rounds, {"Ellipsoid": 1.6})


def spline_knees(report: Report, rounds: int) -> None:
    """A chain of 7: pins; knees of seth2010, two splines each, of 10 and 30 knots; knees of four splines of
    10 knots."""
    import condyle as cd

    tree = trees.random_tree(7, states=BATCH, branching=0)
    joints = {
        "pins": cd.Pin(),
        "knees of 10 knots": human.knee(10, 2),
        "knees of 30 knots": human.knee(30, 2),
        "knees of four splines": human.knee(10, 4),
    }
    systems = {name: trees.condyle_system(tree, joint) for name, joint in joints.items()}
    arrays = np.random.default_rng(7).uniform(-1.8, 0.1, tree.q.shape), tree.u, tree.tau
    beside(
        report,
        "seven joints",
        7,
        systems,
        dict.fromkeys(systems, arrays),
        rounds,
        {"knees of 10 knots": 2.0, "knees of 30 knots": 2.0, "knees of four splines": 2.0},
    )


def gradients(report: Report, installed: list[str], rounds: int) -> None:
    """vjp of forward dynamics beside forward dynamics, as a user calls them and, for one state, as bare
    kernels."""
    tree = trees.random_tree(30, states=BATCH)
    system, arrays = trees.condyle_system(tree), (tree.q, tree.u, tree.tau)
    w = np.random.default_rng(3).uniform(-1, 1, 30)

    def vjp(*a: Array, **options: Any) -> Any:
        return system.vjp("forward_dynamics", *a, cotangent=w, wrt=WRT, **options)

    first(report, "vjp: one state", 30, lambda: vjp(*(a[0] for a in arrays)))
    first(report, "vjp: batch", 30, lambda: vjp(*(a[:100] for a in arrays)))
    primal, gradient, tail = (
        system.compiled.function("forward_dynamics"),
        _compiled(system, "vjp"),
        system.compiled.tails.default,
    )
    system.forward_dynamics(*(a[0] for a in arrays))
    cases = {
        "forward_dynamics": singly(lambda *a: system.forward_dynamics(*a), arrays),
        "vjp": singly(vjp, arrays),
        "kernel of forward_dynamics": singly(lambda *a: primal.fast(*a, tail), arrays),
        "kernel of vjp": singly(lambda *a: gradient.fast(*a, w, tail), arrays),
    }
    times = record(report, "one state, gradient", 30, cases, rounds)
    claim(
        report,
        "one state, vjp / forward_dynamics, called from Python",
        30,
        times["vjp"] / times["forward_dynamics"],
        "<=",
        3,
    )
    claim(
        report,
        "one state, vjp / forward_dynamics, kernels",
        30,
        times["kernel of vjp"] / times["kernel of forward_dynamics"],
        "<=",
        3,
    )
    batch = [a[:2000] for a in arrays]
    times = record(
        report,
        "batch, gradient",
        30,
        {"forward_dynamics": together(system.forward_dynamics, batch), "vjp": together(vjp, batch)},
        rounds // 4,
    )
    claim(report, "batch, vjp / forward_dynamics", 30, times["vjp"] / times["forward_dynamics"], "<=", 3)
    for bodies in (7, 30):
        tree = trees.random_tree(bodies, states=BATCH)
        arrays = tree.q, tree.u, tree.tau
        jacobians(
            report,
            installed,
            "pins",
            bodies,
            trees.condyle_system(tree),
            arrays,
            (trees.pinocchio_model(tree), arrays) if "pinocchio" in installed else None,
            rounds,
        )


def _compiled(system: Any, kind: str) -> Any:
    """The NativeFunction of a derivative that has been called."""
    return next(f for key, f in system.compiled.functions.items() if key[0] == kind)


def jacobians(
    report: Report,
    installed: list[str],
    what: str,
    bodies: int,
    system: Any,
    arrays: Sequence[Array],
    peer: Any,
    rounds: int,
) -> None:
    """All of d udot/d (q, u, tau) beside pin.computeABADerivatives, which gives the same three matrices."""

    def jacobian(*a: Array, **options: Any) -> Any:
        return system.jacobian("forward_dynamics", *a, wrt=WRT, **options)

    first(report, f"jacobian, {what}: one state", bodies, lambda: jacobian(*(a[0] for a in arrays)))
    first(report, f"jacobian, {what}: batch", bodies, lambda: jacobian(*(a[:100] for a in arrays)))
    one = {"condyle: jacobian": singly(jacobian, arrays, 10)}
    many = {"condyle: jacobian": together(jacobian, [a[:JACOBIANS] for a in arrays])}
    if "pinocchio" in installed:
        import pinocchio as pin

        model, theirs = peer
        data = model.createData()
        one["pinocchio: computeABADerivatives"] = singly(
            lambda *a: pin.computeABADerivatives(model, data, *a), theirs, 10
        )
        many["pinocchio: computeABADerivatives in a loop"] = singly_all(
            lambda *a: pin.computeABADerivatives(model, data, *a), [a[:JACOBIANS] for a in theirs]
        )
    for group, cases in (("one state", one), ("batch", many)):
        ours, *others = record(
            report, f"{group}, Jacobians, {what}", bodies, cases, rounds // (1 if group == "one state" else 4)
        ).values()
        if others and group == "one state":
            claim(
                report,
                f"one state, Jacobians of {what}, pinocchio / condyle",
                bodies,
                others[0] / ours,
                ">=",
                1.3,
            )
        elif others:
            claim(
                report, f"batch, Jacobians of {what}, pinocchio / condyle", bodies, others[0] / ours, ">=", 2
            )


def parameters(report: Report, rounds: int) -> None:
    """30 bodies: every mass, com, inertia and frame on the parent made of numbers, or of Parameters.

    For one state the tail is made once, as a State keeps it, and, without a target, with a new p at each
    call. In a batch three
    ways: the tail made once; parameters=p with the same p at each call; and with a new p at each call, as a
    fit has it.
    """
    tree = trees.random_tree(30, states=BATCH)
    arrays = tree.q, tree.u, tree.tau
    plain, free = trees.condyle_system(tree), parametric(tree)
    p = free.default("parameters")
    new = (p * (1 + 1e-9 * k) for k in count(1))  # never the same twice
    difference = np.abs(
        plain.forward_dynamics(*(a[0] for a in arrays)) - free.forward_dynamics(*(a[0] for a in arrays))
    ).max()
    if not difference < 1e-9:
        report.notes.append(f"with Parameters udot differs by {difference:.1e}")
    first(
        report,
        f"{len(p)} Parameters: batch",
        30,
        lambda: free.forward_dynamics(*(a[:100] for a in arrays), parameters=p),
    )
    tails = {"constants": plain.compiled.tail(), "Parameters": free.compiled.tail(parameters=p)}
    systems = {"constants": plain, "Parameters": free}
    kernels = {name: system.compiled.function("forward_dynamics") for name, system in systems.items()}
    cases = {n: singly(lambda *a, f=f, t=tails[n]: f.fast(*a, t), arrays, 50) for n, f in kernels.items()}
    cases["new p"] = singly(lambda *a: free.forward_dynamics(*a, parameters=next(new)), arrays, 50)
    times = record(report, "one state, parameters", 30, cases, rounds)
    claim(
        report,
        f"one state, {len(p)} Parameters / constants, kernels",
        30,
        times["Parameters"] / times["constants"],
        "<=",
        1.3,
    )
    cases = {
        "constants": together(plain.forward_dynamics, arrays),
        "same p": together(lambda *a, **o: free.forward_dynamics(*a, parameters=p, **o), arrays),
        "new p": together(lambda *a, **o: free.forward_dynamics(*a, parameters=next(new), **o), arrays),
        "Parameters": together(lambda *a, **o: kernels["Parameters"](*a, tails["Parameters"], **o), arrays),
    }
    times = record(report, "batch, parameters", 30, cases, rounds // 6)
    for way, case in (
        ("tail made once", "Parameters"),
        ("same p at each call", "same p"),
        ("new p at each call", "new p"),
    ):
        claim(
            report,
            f"batch, {len(p)} Parameters / constants, {way}",
            30,
            times[case] / times["constants"],
            "<=",
            1.3,
        )
    record(
        report,
        "tail(parameters=p)",
        30,
        {
            "same p": Case(lambda: free.compiled.tail(parameters=p), 1),
            "new p": Case(lambda: free.compiled.tail(parameters=next(new)), 1),
        },
        rounds // 10,
    )


def parametric(tree: trees.Tree) -> Any:
    """trees.condyle_system with a Parameter for each number of a body: 22 per body."""
    import condyle as cd

    system = cd.System(gravity=tree.gravity)
    made: list[Any] = []

    def named(name: str, values: Any) -> tuple[Any, ...]:
        return tuple(cd.Parameter(f"{name}_{k}", float(v)) for k, v in enumerate(values))

    for i, b in enumerate(tree.bodies):
        I = b.inertia_com
        R = np.array(named(f"R{i}", b.R_PF.ravel()), dtype=object).reshape(3, 3)
        six = I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]
        parent = system.ground if b.parent < 0 else made[b.parent]
        made.append(
            system.add_body(
                f"b{i}",
                parent=parent,
                mobilizer=cd.Pin(),
                X_PF=cd.Transform(R, named(f"p{i}", b.p_PF)),
                mass=cd.Parameter(f"m{i}", b.mass),
                com=named(f"c{i}", b.com),
                inertia=named(f"I{i}", six),
            )
        )
    return system


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.engine", description="Every part of the engine, timed."
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a measurement")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers here")
    options = parser.parse_args()
    rounds = 60 if options.quick else 300
    report = Report(machine(), {"rounds": rounds, "batch": BATCH})
    installed = [name for name in available(report) if name != "opensim"]
    with tempfile.TemporaryDirectory() as empty:
        os.environ["CONDYLE_CACHE_DIR"] = empty  # so that first results are compiled
        human_like(report, installed, rounds)
        ellipsoid(report, rounds)
        spline_knees(report, rounds)
        gradients(report, installed, rounds)
        parameters(report, rounds)
    report.print()
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
