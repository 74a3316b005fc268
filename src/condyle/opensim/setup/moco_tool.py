"""Moco's setup files (.omoco): MocoStudy, MocoTrack and MocoInverse, as far as their goals have counterparts.

What has none is named in the report and left out. Results are written as Moco writes them, NAME_solution.sto.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from condyle.control.answer import Answer
from condyle.control.dynamics import Dynamics, control_names
from condyle.control.goals.base import Condition, MovementGoal
from condyle.control.goals.effort import Effort, Smoothness
from condyle.control.goals.follow import Follow, variable_name
from condyle.control.goals.one_line import Duration, Final, MeanSpeed
from condyle.control.problem import Problem
from condyle.control.solve import solve
from condyle.opensim.element import Element, is_absent
from condyle.opensim.setup.inputs import continued, motion_from_table
from condyle.opensim.setup.moco_model import ProcessedModel, joint_paths, processed_table
from condyle.opensim.setup.setup_file import Setup
from condyle.quality import Check, Quality
from condyle.records import dataclass
from condyle.system.system import System
from condyle.table import Table

SCHEMES = {
    "trapezoidal": "trapezoidal",
    "hermite-simpson": "hermite-simpson",
    "legendre-gauss-radau-2": "radau-2",
    "legendre-gauss-radau-3": "radau-3",
}
SPEEDS = 50.0
"""Moco's default bounds of speeds [rad/s, m/s]."""
ACCURATE = 1e-6
"""Largest tolerance: with exact derivatives it costs a few more iterations."""
SHORTEST = 0.01
"""Fraction of the longest duration, if a file allows movements of zero duration."""
TENDON_RATES = 0.01
"""Weight of squared rates of tendon forces, which MocoInverse adds."""


@dataclass(frozen=True, eq=False)
class Pairs(MovementGoal):
    """Variables at the end equal others at the start (MocoPeriodicityGoal), or variables at the start equal
    each other."""

    pairs: Sequence[tuple[str, str, bool]] = ()
    where: str = "end"

    def conditions(self, dynamics: Dynamics) -> Sequence[Condition]:
        return [
            Condition([("start", a, -1.0 if negated else 1.0), (self.where, b, -1.0)], name=f"{a} and {b}")
            for a, b, negated in self.pairs
        ]


class Study:
    """The problem from one file.

    Attributes:
        problem: to solve.
        options: of `solve`.
    """

    def __init__(self, setup: Setup, model: ProcessedModel, problem: Problem) -> None:
        self.setup, self.model, self.problem = setup, model, problem
        if model.loads:
            a, b = problem.start_time, problem.start_time + problem.duration[1]
            problem.add_loads([continued(load, a, b) for load in model.loads])
        if problem.motion is None:
            problem.bound(problem.speeds, (-SPEEDS, SPEEDS))
        self.names = _moco_names(problem)
        self.options: dict[str, Any] = {}

    # ---- names -----------------------------------------------------------------------------------------------

    def variable(self, path: str, element: Element) -> str:
        """The variable that Moco calls by a path."""
        if path in self.names:
            return self.names[path]
        name = variable_name(path, set(self.names.values()))
        if name not in self.names.values():
            tail = path.rpartition("/")[2]
            if tail not in self.names.values():
                raise self.setup.error(f"the model has no state or control {path!r}", element)
            name = tail
        return name

    def matching(self, pattern: str) -> list[str]:
        """Variables whose paths match a regular expression."""
        return list(dict.fromkeys(name for path, name in self.names.items() if re.fullmatch(pattern, path)))

    def table(self, processor: Element | None, what: str) -> Table | None:
        """The table of a TableProcessor, in radians."""
        found = processed_table(self.setup, processor, what)
        if found is None or not found.degrees:
            return found
        motion = motion_from_table(self.setup, self.problem.system, found)
        return Table(motion.t, list(motion.system.coordinates), motion.q)

    # ---- bounds ----------------------------------------------------------------------------------------------

    def bounds(self, phase: Element) -> None:
        for tag, pattern in (
            ("state_infos_pattern", True), ("state_infos", False), ("control_infos_pattern", True),
            ("control_infos", False),
        ):  # fmt: skip
            infos = phase.child(tag)
            for info in infos.children if infos is not None else ():
                names = self.matching(info.name) if pattern else [self.variable(info.name, info)]
                given = {
                    key: self._pair(info, name)
                    for key, name in (
                        ("between", "bounds"),
                        ("start", "initial_bounds"),
                        ("end", "final_bounds"),
                    )
                }
                for name in names:
                    self.problem.bound(name, **given)

    def _pair(self, info: Element, name: str) -> tuple[float, float] | None:
        words = self.setup.words(name, info)
        if not words:
            return None
        numbers = [float(word) for word in words]
        return numbers[0], numbers[-1]

    # ---- goals -----------------------------------------------------------------------------------------------

    def goals(self, elements: Sequence[Element]) -> None:
        known: dict[str, Callable[[Element], tuple[MovementGoal, bool] | None]] = {
            "MocoControlGoal": self._effort,
            "MocoStateTrackingGoal": self._tracking,
            "MocoFinalTimeGoal": lambda e: (Duration(), False),
            "MocoAverageSpeedGoal": self._speed,
            "MocoPeriodicityGoal": self._periodic,
            "MocoInitialActivationGoal": lambda e: (self.initial_activation(), True),
            "MocoMarkerFinalGoal": self._marker,
        }
        for element in elements:
            if not self.setup.flag("enabled", True, element):
                continue
            made = known[element.tag](element) if element.tag in known else None
            if made is None:
                self.setup.check(f"{element.title}: this goal has no counterpart here, and is left out")
                continue
            goal, required = made
            mode = self.setup.text("mode", "endpoint_constraint" if required else "cost", element)
            if required != (mode == "endpoint_constraint"):
                self.setup.check(f"{element.title}: mode {mode!r} is not supported, and the goal is left out")
            elif required:
                self.problem.require(goal)
            elif weight := self.setup.number("weight", 1.0, element):
                self.problem.minimize(goal, weight)

    def _weights(self, element: Element, *sets: str) -> dict[str, float]:
        out: dict[str, float] = {}
        for tag in sets:
            for weight in element.descendants(tag):
                for each in weight.descendants("MocoWeight"):
                    names = self.matching(each.name) if "pattern" in weight.name + tag else []
                    for name in names or [self.variable(each.name, each)]:
                        out[name] = self.setup.number("weight", 1.0, each)
        return out

    def _effort(self, element: Element) -> tuple[MovementGoal, bool]:
        setup = self.setup
        weights = self._weights(element, "MocoWeightSet")
        per = ""
        if setup.flag("divide_by_displacement", False, element):
            per = self.moving(element)
        exponent = setup.count("exponent", 2, 100, element)
        return Effort(exponent, weights or None, per=per, name=element.name), False

    def moving(self, element: Element) -> str:
        """The coordinate along which the model moves."""
        name = MeanSpeed(0.0).moving(self.problem.dynamics)
        self.setup.note(f"{element.title}: displacement is that of {name}; Moco takes the mass center's")
        return name

    def _tracking(self, element: Element) -> tuple[MovementGoal, bool] | None:
        reference = element.child("TableProcessor")
        table = self.table(reference, "a table of states")
        if table is None:
            raise self.setup.error(
                f"{element.title}: its reference names no file: Moco does not write tables that were given in "
                "memory into .omoco files; write the table to a file, and its name into <filepath>", element
            )  # fmt: skip
        if self.setup.flag("scale_weights_with_range", False, element):
            self.setup.check(f"{element.title}: scale_weights_with_range is not supported")
        return Follow(table, self._weights(element, "MocoWeightSet") or None, name=element.name), False

    def _speed(self, element: Element) -> tuple[MovementGoal, bool]:
        speed = self.setup.number("desired_average_speed", 0.0, element)
        return MeanSpeed(speed, self.moving(element)), True

    def _periodic(self, element: Element) -> tuple[MovementGoal, bool]:
        pairs = []
        for pair in element.descendants("MocoPeriodicityGoalPair"):
            first = self.setup.text("initial_variable", "", pair)
            last = self.setup.text("final_variable", first, pair) or first
            negated = self.setup.flag("negate", False, pair)
            pairs.append((self.variable(first, pair), self.variable(last, pair), negated))
        return Pairs(pairs, name=element.name), True

    def initial_activation(self) -> MovementGoal:
        """Activations begin as the excitations do."""
        known = self.problem.dynamics.index
        pairs = [
            (f"{name}.activation", name, False) for name in self.problem.system.muscles
            if f"{name}.activation" in known and name in known
        ]  # fmt: skip
        return Pairs(pairs, "start", name="initial activation")

    def _marker(self, element: Element) -> tuple[MovementGoal, bool]:
        setup = self.setup
        name = setup.text("point_name", "", element).rpartition("/")[2]
        marker = self.problem.system.marker(name)
        target = setup.numbers("reference_location", (0.0, 0.0, 0.0), element)

        def distance(s: Any) -> Any:
            return sum((s.station_position(marker.body, marker.station) - np.array(target)) ** 2)

        return Final(distance, name=element.name), False

    # ---- solving ---------------------------------------------------------------------------------------------

    def solver(self, element: Element | None) -> None:
        """Options of a MocoCasADiSolver or MocoTropterSolver."""
        setup, e = self.setup, element or self.setup.tool
        name = setup.text("transcription_scheme", "hermite-simpson", e)
        if name not in SCHEMES:
            setup.check(f"transcription_scheme {name!r} is not supported; hermite-simpson replaces it")
        tolerance = min(
            setup.number(x, 1e-3, e) for x in ("optim_convergence_tolerance", "optim_constraint_tolerance")
        )
        free = not setup.flag("interpolate_control_mesh_interior_points", True, e)
        self.options = {
            "mesh": setup.count("num_mesh_intervals", 100, 10**6, e),
            "scheme": SCHEMES.get(name, "hermite-simpson"),
            "accuracy": float(np.clip(tolerance, 1e-10, ACCURATE)),
            "midpoint_controls": "free" if free else "interpolated",
            "iterations": setup.count("optim_max_iterations", 1000, 10**9, e),
        }
        guess = setup.file("guess_file", e)
        if guess is not None:
            self.options["guess"] = setup.table(guess)

    def solve(self) -> Answer:
        answer: Answer = self.setup.step("solve", lambda: solve(self.problem, **self.options))
        report, statistics = self.setup.report, answer.statistics
        report.results.append(
            f"{answer.message}: objective {answer.objective:.8g}, {statistics['iterations']} iterations, "
            f"{statistics['seconds']:.2f} s of processor time"
        )
        report.results += [f"{name}: {x:.8g}" for name, x in answer.terms.items()]
        if not answer.ok:
            self.setup.check(f"the solver did not succeed: {answer.message}")
        report.judge(Quality([Check("violation of requirements", statistics["violation"], "", 1e-3)], "moco"))
        self._write(answer)
        return answer

    def _write(self, answer: Answer) -> None:
        system = self.problem.system
        columns: dict[str, Any] = {}
        if self.problem.motion is None:
            for kind, table in (("value", answer.motion), ("speed", answer.speeds)):
                for path in joint_paths(system).items():
                    if path[0] in table.names:
                        columns[f"{path[1]}/{kind}"] = table[path[0]]
        states = [v.name for v in answer.program.dynamics.states]
        for i, name in enumerate(states):
            law, dot, own = name.rpartition(".")
            if dot:
                columns[f"/forceset/{law}/{own}"] = answer.variables[:, i]
        count = len(columns)
        for name in answer.controls.names:
            columns[f"/forceset/{name}"] = answer.controls[name]
        head = [
            f"num_controls={len(columns) - count}", f"num_states={count}", f"objective={answer.objective!r}",
            f"success={'true' if answer.ok else 'false'}", f"num_iterations={answer.statistics['iterations']}",
        ]  # fmt: skip
        name = self.setup.report.name or "Moco"
        self.setup.save(
            f"{name}_solution.sto", f"{name} solution", answer.times, list(columns),
            np.column_stack(list(columns.values())), words=head, precision=12,
        )  # fmt: skip


def _moco_names(problem: Problem) -> dict[str, str]:
    """Variables by the paths that Moco has for them."""
    system, out = problem.system, {}
    for name, path in joint_paths(system).items():
        out[f"{path}/value"] = name
        speed = f"{name}_speed"
        out[f"{path}/speed"] = speed if speed in problem.speeds else name
    for name in (v.name for v in problem.dynamics.states if "." in v.name):
        law, _, own = name.rpartition(".")
        out[f"/forceset/{law}/{own}"] = out[f"/{law}/{own}"] = name
    for name, control in control_names(system).items():
        out[f"/forceset/{name}"] = out[f"/{name}"] = control
    return out


def _processor(setup: Setup, element: Element, tag: str, name: str) -> Element | None:
    found = [e for e in element.children if e.tag == tag and e.name in ("", name)] or [
        e for e in element.descendants(tag) if e.name == name
    ]
    return found[0] if found else None


def run_study(setup: Setup) -> None:
    """MocoStudy: one phase."""
    phases = setup.tool.descendants("MocoPhase")
    if len(phases) != 1:
        raise setup.error(
            f"expected one MocoPhase, got {len(phases)}: build several with condyle.control.Phases"
        )
    phase = phases[0]
    processor = _processor(setup, phase, "ModelProcessor", "model")
    if processor is None:
        raise setup.error("<MocoPhase> has no <ModelProcessor>", phase)
    model = ProcessedModel(setup, processor)
    times = [_times(setup, phase, tag) for tag in ("MocoInitialBounds", "MocoFinalBounds")]
    (a, a_high), (b, b_high) = times
    if a != a_high:
        setup.check(f"<time_initial_bounds> are {a:g} and {a_high:g}: the movement begins at {a:g} s")
    problem = (
        Problem(model.system, times=(a, b)) if b == b_high
        else Problem(model.system, duration=(max(b - a, SHORTEST * (b_high - a)), b_high - a))
    )  # fmt: skip
    study = Study(setup, model, problem)
    study.bounds(phase)
    _without(setup, phase, "parameters", "path_constraints")
    goals = phase.child("goals")
    study.goals(goals.children if goals is not None else ())
    solvers = setup.tool.descendants("MocoCasADiSolver", "MocoTropterSolver")
    study.solver(solvers[0] if solvers else None)
    if "guess" not in study.options:
        study.options["guess"] = "bounds"
    study.solve()


def _times(setup: Setup, phase: Element, tag: str) -> tuple[float, float]:
    found = phase.descendants(tag)
    words = setup.words("bounds", found[0]) if found else []
    if not words:
        raise setup.error(f"<{tag}> has no bounds of time", phase)
    return float(words[0]), float(words[-1])


def _without(setup: Setup, element: Element, *tags: str) -> None:
    for tag in tags:
        found = element.child(tag)
        for child in found.children if found is not None else ():
            setup.check(f"{child.title}: <{tag}> of .omoco files are not supported, and it is left out")


def _interval(setup: Setup, table: Table, default: float = 0.02) -> tuple[tuple[float, float], int]:
    """Times and number of intervals of MocoTrack and MocoInverse."""
    clock = float(table.time[0]), float(table.time[-1])
    a, b = (
        clock[k] if is_absent(setup.text(name)) else setup.number(name)
        for k, name in enumerate(("initial_time", "final_time"))
    )
    return (a, b), max(int(np.ceil((b - a) / setup.number("mesh_interval", default))), 1)


def _tool(setup: Setup, kind: str, what: str) -> tuple[ProcessedModel, Table]:
    processor = _processor(setup, setup.tool, "ModelProcessor", "model")
    if processor is None:
        raise setup.error("there is no <ModelProcessor>")
    model = ProcessedModel(setup, processor)
    table = processed_table(setup, _processor(setup, setup.tool, "TableProcessor", kind), what)
    if table is None:
        raise setup.error(f"<TableProcessor name={kind!r}> names no file; it needs {what}")
    if table.degrees:
        motion = motion_from_table(setup, model.system, table)
        table = Table(motion.t, list(motion.system.coordinates), motion.q, [""] * motion.q.shape[1])
    return model, table


def run_track(setup: Setup) -> None:
    """MocoTrack: states."""
    for name in ("markers_reference",):
        found = _processor(setup, setup.tool, "TableProcessor", name)
        if found is not None and not is_absent(setup.text("filepath", "", found)):
            setup.check(f"<{name}>: markers are not tracked by .omoco files; cd.goals.Follow takes them")
    model, table = _tool(setup, "states_reference", "a table of states or coordinates")
    times, mesh = _interval(setup, table)
    study = Study(setup, model, Problem(model.system, times=times))
    weights = {}
    for each in setup.tool.descendants("MocoWeight"):
        weights[study.variable(each.name, each)] = setup.number("weight", 1.0, each)
    speeds = 1.0 if setup.flag("track_reference_position_derivatives", False) else 0.0
    goal = Follow(table, weights or None, speeds=speeds, name="state_tracking")
    study.problem.minimize(goal, setup.number("states_global_tracking_weight", 1.0))
    if setup.flag("minimize_control_effort", True):
        effort = setup.number("control_effort_weight", 0.001)
        study.problem.minimize(Effort(name="control_effort"), effort)
    study.solver(None)
    study.options |= {"mesh": mesh, "accuracy": ACCURATE}
    guess = setup.file("guess_file")
    if guess is not None:
        study.options["guess"] = setup.table(guess)
    study.solve()


def run_inverse(setup: Setup) -> None:
    """MocoInverse: the motion is given."""
    model, table = _tool(setup, "kinematics", "a table of coordinates")
    times, mesh = _interval(setup, table)
    motion = motion_from_table(setup, model.system, _coordinates(model.system, table))
    study = Study(setup, model, Problem(model.system, times=times, motion=motion))
    study.problem.minimize(Effort(name="excitation_effort"), 1.0)
    if setup.flag("minimize_sum_squared_activations", False):
        setup.check(
            "minimize_sum_squared_activations: squared excitations are minimized, not activations too"
        )
    study.problem.require(study.initial_activation())
    if study.problem.dynamics.elastic:
        study.problem.minimize(Smoothness("tendons", name="auxiliary_derivatives"), TENDON_RATES)
    study.solver(None)
    tolerance = min(setup.number(x, 1e-3) for x in ("convergence_tolerance", "constraint_tolerance"))
    study.options |= {
        "mesh": mesh, "accuracy": min(tolerance, ACCURATE), "midpoint_controls": "free",
        "iterations": setup.count("max_iterations", 1000, 10**9),
    }  # fmt: skip
    study.solve()


def _coordinates(system: System, table: Table) -> Table:
    """Columns of coordinates, by their names."""
    known = set(system.coordinates)
    pairs = {variable_name(name, known): name for name in table.names if not name.endswith("/speed")}
    keep = {name: column for name, column in pairs.items() if name in known}
    return Table(
        table.time,
        list(keep),
        np.column_stack([table[c] for c in keep.values()]),
        degrees=table.degrees or False,
    )
