"""The system at one point: variables, and equations of motion as residuals: control/__init__.py (1), (2).

With m equations of constraints p(q) = 0 and G = dp/dq N,

    e = ID(q, u, udot) + G' lambda = 0,      p = 0,      G u = 0,      G udot + b = 0                      (1)

Where each equation has its own dependent speed, and G_D is diagonal at all configurations, as for couplers,
these coordinates are not states, and lambda = -e_D / G_D and udot_D = -(G_I udot_I + b) / G_D leave (1) with
the independent rows and no multipliers. Otherwise all coordinates are states, and corrections g and d, which
vanish as intervals get shorter, keep p and G u zero; one g keeps the length of a quaternion,

    qdot = N (u + G' g),     du/dt = udot + G' d;     qdot = N u + g q,     |q|^2 = 1                      (2)

Speeds that are locked or prescribed are numbers of each point, with their coordinates; so are measured loads.

Muscles are replaced by those of condyle.muscles.smooth: the force of an elastic tendon is a state, its rate
an algebraic variable, and the equilibrium of fiber and tendon a residual. Other laws have no kinks either
(`view.smooth`; docs/theory/control.md has the error of each).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array, vertcat
from condyle.control.near import NearViews
from condyle.control.point import MovementPoint
from condyle.dynamics.view import TreeLoads
from condyle.errors import DescriptionError
from condyle.forces.base import state_variables
from condyle.laws.described import sx
from condyle.model.operators.rates import qdot
from condyle.model.operators.rooms import rnea
from condyle.model.symbols import Symbols
from condyle.muscles import smooth
from condyle.muscles.activation import excitation_at
from condyle.muscles.metabolics import Working
from condyle.muscles.muscle import Muscle
from condyle.records import dataclass
from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion.motion import Motion
from condyle.studies.motion.spline_rates import spline
from condyle.system.system import System
from condyle.system.variables import variables
from condyle.trace.parameter import Expression
from condyle.tree import scales

ACCELERATION = 20.0
"""Scale of an acceleration relative to that of its coordinate [1/s^2]."""
SPEED = 5.0
"""Scale of a speed relative to that of its coordinate [1/s]."""
TENDON, TENDON_MOST = 0.2, 5.0
"""Default normalized force of a tendon, and its maximum."""
TENDON_RATE = 10.0
"""Scale of the rate of that force [1/s]."""
STEADY = 0.05
"""Allowed change of a constraint's derivative by its dependent coordinate over configurations."""
SAMPLES, WIDE = 24, 2.0
"""Number of configurations at which dependent coordinates are chosen, and their distance from the default
[rad, m]: a slope that is steady near the default may vanish elsewhere, like a cosine.
"""


@dataclass(frozen=True, eq=False)
class Variable:
    """An unknown at each point.

    Attributes:
        name: in the public interface.
        kind: "coordinate", "speed", "state", "tendon", "control", "acceleration", "rate" (of a tendon's force),
            "multiplier" or "correction".
        unit: its unit.
        scale: its approximate size.
        low: its lower bound; minus infinity if there is none.
        high: its upper bound.
        guess: its default initial value.
    """

    name: str
    kind: str
    unit: str
    scale: float
    low: float = -np.inf
    high: float = np.inf
    guess: float = 0.0


@dataclass(eq=False)
class Acting:
    """Forces at a point.

    Attributes:
        loads: loads on bodies and speeds of all forces except muscles.
        complete: the same with muscles.
        pulls: contribution of each muscle to ID (1), tension times moment arms, shape (nu,).
        z: auxiliary states; for elastic tendons their normalized forces.
        rates: of z.
        residuals: equilibria of muscles with elastic tendons, by muscle.
        tendon_rates: rates of the forces of tendons, which are variables.
        measured: force, torque and point of measured loads, as numbers.
        working: forces and states of muscles.
        fiber_lengths: fiber lengths [m], by muscle.
    """

    loads: TreeLoads
    complete: Callable[[], TreeLoads]
    pulls: dict[str, SX]
    z: SX
    rates: list[SX]
    residuals: dict[str, SX]
    tendon_rates: list[SX]
    measured: list[SX]
    working: dict[str, Working]
    fiber_lengths: dict[str, SX] = field(default_factory=dict)


def tendon(muscle: str) -> str:
    """Name of the normalized force of an elastic tendon."""
    return f"{muscle}.normalized_tendon_force"


def control_names(system: System) -> dict[str, str]:
    """Name of the control of each input: NAME_control if a coordinate is named NAME."""
    taken = {*system.coordinates, *system.speeds, *(f"{name}_speed" for name in system.speeds)}
    return {name: f"{name}_control" if name in taken else name for name in system.inputs}


def _body(frame: Any) -> str:
    return frame if isinstance(frame, str) else str(frame.name)


class Dynamics:
    """A system at one point.

    Attributes:
        states: variables with rates, in the order of xdot.
        controls: variables that are free.
        algebraic: variables that the residuals determine.
        residuals: name and unit of each residual, and its size.
        held: numbers of each point: names of coordinates, speeds and accelerations that are given.
    """

    def __init__(
        self,
        system: System,
        unknown: Sequence[str] = (),
        loads: Sequence[ExternalLoad] = (),
        motion: Motion | None = None,
    ) -> None:
        self.system, self.compiled, self.unknown = system, system.compiled, tuple(unknown)
        self.loads, self.motion = tuple(loads), motion
        model = self.model = self.compiled.model
        self.tree = model.tree
        self.tail = self.compiled.tails.default
        self._refuse()
        self.held_speeds = [int(k) for k in np.flatnonzero(self.compiled.tails.held(self.tail))]
        self.driven = list(self.held_speeds)
        if motion is not None:  # all coordinates are numbers, and their equations of motion remain
            self.held_speeds = list(range(self.tree.nu))
        self.coordinate_of = self._coordinates()
        self.held_coordinates = [self._own_coordinate(k) for k in self.held_speeds]
        self.muscles = {
            name: law
            for name, law in model.forces.items()
            if isinstance(law, smooth.KINDS) and name not in self.off
        }
        self.elastic = [name for name, law in self.muscles.items() if law.tendon == "elastic"]
        self.dependent, self.diagonal = self._dependent()
        self._variables()

    def _refuse(self) -> None:
        model = self.model
        off = {name for name, x in zip(model.switches, self.tail[model.tail["enabled"]]) if not x}
        self.off = off
        if asking := [name for name in model.reaction_laws if name not in off]:
            raise DescriptionError(
                f"cd.Problem: force {asking[0]!r} asks for reactions of joints, which optimal control does not "
                "solve for; leave it out: system.copy(forces={name: None})"
            )
        if one_way := [name for name in model.unilateral if name not in off]:
            raise DescriptionError(
                f"cd.Problem: {one_way[0]!r} acts one way: it opens and closes at events, which optimal control "
                "does not know; use a compliant contact, or system.copy(constraints={name: None})"
            )
        for name, c in model.constraints.items():
            if name not in off and any(part.level != "position" for part in c.parts):
                raise DescriptionError(
                    f"cd.Problem: constraint {name!r} is not on positions; bound speeds or require "
                    "cd.goals.Path instead"
                )
        self.constrained = [name for name in model.constraints if name not in off]

    def _coordinates(self) -> dict[int, int]:
        """The index of the coordinate whose rate is each speed."""
        return {
            b.u.start + j: b.q.start + j
            for b in self.tree.owners
            if not b.mobilizer.quaternions and b.mobilizer.nq == b.mobilizer.nu
            for j in range(b.mobilizer.nu)
        }

    def _own_coordinate(self, k: int) -> int:
        if k not in self.coordinate_of:
            raise DescriptionError(
                f"cd.Problem: speed {self.tree.speeds[k]!r} is locked or prescribed, and is no rate of one "
                "coordinate: use a mobilizer with angles there"
            )
        return self.coordinate_of[k]

    def _dependent(self) -> tuple[list[int], bool]:
        """Dependent speeds in the order of the equations, and whether each equation has its own."""
        if not self.constrained:
            return [], True
        m, q, _ = self.model.equations("position"), *self.system.defaults()
        rng, free = np.random.default_rng(0), [k for k in self.coordinate_of if k not in self.driven]
        spread = np.array([0.0 if i in self.held_coordinates else WIDE for i in range(len(q))])
        places = q + spread * rng.uniform(-1, 1, (SAMPLES, len(q)))
        G = np.asarray(
            self.system.constraints.jacobian(
                self.compiled.normalized(places), np.zeros((SAMPLES, self.tree.nu))
            )
        )
        least = np.abs(G).min(axis=0)
        alone, taken = [], set[int]()
        for row in range(m):  # the column that changes least among those without other equations
            own = [
                k for k in free if k not in taken and least[row, k] > 1e-6
                and not np.delete(np.abs(G[:, :, k]), row, axis=1).max(initial=0.0) > 0
            ]  # fmt: skip
            if not own:
                break
            best = min(own, key=lambda k: (np.ptp(G[:, row, k]) / least[row, k], -k))
            if np.ptp(G[:, row, best]) > STEADY * least[row, best]:
                break
            alone.append(best)
            taken.add(best)
        if len(alone) == m:
            return alone, True
        size = max(
            (np.linalg.svd(x, compute_uv=False) for x in G[:, :, free]), key=lambda x: x[-1] / (x[0] or 1.0)
        )
        if len(size) < m or size[m - 1] < 1e-8 * size[0]:
            raise DescriptionError(
                f"cd.Problem: the {m} equations of the constraints {', '.join(map(repr, self.constrained))} "
                f"are not independent: their rank is {int((size > 1e-8 * size[0]).sum())}; leave the ones out "
                "that follow from others: system.copy(constraints={name: None})"
            )
        return [], False

    def _variables(self) -> None:
        tree, model, system = self.tree, self.model, self.system
        names, units = variables(system)
        nq, nu = tree.nq, tree.nu
        q0 = tree.defaults()
        length = self.compiled.length
        q_units, _ = scales.units(tree.bodies)
        q_size = [max(length, 0.3) if unit == "m" else 1.0 for unit in q_units]
        ranges = {
            b.q.start + j: c.range
            for b in tree.owners
            for j, c in enumerate(b.coordinates)
            if c.range is not None
        }
        u_size = [q_size[self.coordinate_of.get(k, 0)] if k in self.coordinate_of else 1.0 for k in range(nu)]
        dependent_q = [self.coordinate_of[k] for k in self.dependent]

        def coordinate(i: int) -> Variable:
            low, high = ranges.get(i, (-np.inf, np.inf))
            return Variable(names[i], "coordinate", units[i], q_size[i], low, high, float(q0[i]))

        def speed(k: int) -> Variable:
            return Variable(names[nq + k], "speed", units[nq + k], SPEED * u_size[k])

        self.q_states = [i for i in range(nq) if i not in (*self.held_coordinates, *dependent_q)]
        self.u_states = [k for k in range(nu) if k not in (*self.held_speeds, *self.dependent)]
        moving = self.motion is None
        self.q_dependent = dependent_q = dependent_q if moving else []
        self.u_dependent = self.dependent if moving else []
        self.free = [k for k in range(nu) if k not in self.held_speeds]
        balanced = [k for k in range(nu) if k not in self.driven]
        self.balanced = [k for k in balanced if not self.diagonal or k not in self.dependent]
        a_own = self.u_states if self.diagonal else self.free
        self.a_own = a_own
        z_names = names[nq + nu :]
        z_default = self.compiled.entries["z"].default
        assert z_default is not None
        self.states = [
            *map(coordinate, self.q_states),
            *map(speed, self.u_states),
            *(self._state(name, float(x)) for name, x in zip(z_names, z_default, strict=True)),
        ]
        self.quaternions = list(tree.quaternions)
        equations = [name for name, _ in model.equation_names()]
        self.corrected = bool(self.constrained) and not self.diagonal and moving
        names_of_controls = control_names(system)
        self.controls = [replace(self._control(x), name=names_of_controls[x]) for x in system.inputs] + [
            Variable(f"{tree.coordinates[part.start]} correction", "correction", "1/s", 1.0)
            for part in self.quaternions
        ]
        if self.corrected:
            self.controls += [
                Variable(f"correction of {level}{name}", "correction", "", size)
                for level, size in (("", 1.0), ("the rate of ", SPEED))
                for name in equations
            ]
        rate = [unit + "^2" if unit.endswith("/s") else unit for unit in units[nq : nq + nu]]
        self.algebraic = [
            *(
                Variable(f"{names[nq + k]} rate", "acceleration", rate[k], ACCELERATION * u_size[k])
                for k in a_own
            ),
            *map(coordinate, dependent_q),
            *map(speed, self.u_dependent),
            *(Variable(f"{tendon(name)} rate", "rate", "1/s", TENDON_RATE) for name in self.elastic),
        ]
        equation_units = model.equation_units()
        if not self.diagonal:
            self.algebraic += [
                Variable(f"multiplier of {name}", "multiplier", "", 100.0) for name in equations
            ]
        M = np.abs(np.diagonal(self.system.mass_matrix(q0), axis1=-2, axis2=-1))
        force = {k: max(float(M[k]) * ACCELERATION * u_size[k], 1e-3) for k in range(nu)}
        on = self.compiled.generalized_forces
        self.residuals: list[tuple[str, str, float]] = [
            (f"equation of motion of {tree.speeds[k]}", on.get(tree.speeds[k], ""), force[k])
            for k in self.balanced
        ]
        for level, size in (("", 1.0), ("rate of ", SPEED)):
            self.residuals += [
                (f"{level}constraint {name}", unit + "/s" * bool(level), size)
                for name, unit in zip(equations, equation_units, strict=True)
                if self.constrained and moving
            ]
        if not self.diagonal and moving:
            self.residuals += [(f"acceleration of constraint {name}", "", ACCELERATION) for name in equations]
        self.residuals += [(f"equilibrium of {name}", "F_0", 1.0) for name in self.elastic]
        self.residuals += [
            (f"length of the quaternion {tree.coordinates[part.start]}", "1", 1.0)
            for part in self.quaternions
        ]
        m = len(equations) if self.corrected else 0
        first = len(self.balanced)
        self.determining = [
            i for i in range(len(self.residuals) - len(self.quaternions)) if not first <= i < first + 2 * m
        ]
        self.variables = [*self.states, *self.controls, *self.algebraic]
        self.index = {v.name: i for i, v in enumerate(self.variables)}

    def _state(self, name: str, default: float) -> Variable:
        law, _, own = name.rpartition(".")
        if law in self.elastic and own == self.muscles[law].TENDON_STATE:
            return Variable(tendon(law), "tendon", "", 1.0, smooth.LEAST, TENDON_MOST, TENDON)
        if own == "activation":
            force: Any = self.model.forces.get(law)
            if hasattr(force, "minimum_activation"):
                least = force.minimum_activation
                low = float(least) if isinstance(least, (int, float)) else 0.01
                return Variable(name, "state", "", 1.0, max(low, 0.0), 1.0, max(default, low))
        return Variable(name, "state", "", max(abs(default), 0.1), guess=default)

    def _control(self, name: str) -> Variable:
        """Bounds of the actuator of an input."""
        low, high = -np.inf, np.inf
        for force in self.model.forces.values():
            law: Any = force
            if name not in driven_by(law).values():
                continue
            least = getattr(law, "min_control", None)
            if least is None:
                least = getattr(law, "minimum_activation", -np.inf)
            low = max(low, float(least) if isinstance(least, (int, float)) else -np.inf)
            high = min(high, float(getattr(law, "max_control", np.inf)))
        size = max(abs(x) for x in (low, high)) if np.isfinite([low, high]).all() else 1.0
        middle = (low + high) / 2 if np.isfinite([low, high]).all() else 0.0
        # scaled only if it is very large, since the scale affects which local optimum is found from a guess
        return Variable(name, "control", "", size if size > 1e3 else 1.0, low, high, middle)

    # ---- expressions ---------------------------------------------------------------------------------------

    @property
    def held(self) -> int:
        """Numbers of held coordinates, speeds and accelerations at each point."""
        return 3 * len(self.held_speeds)

    @property
    def _constants(self) -> list[int]:
        """Indices of the tail's numbers that are given at each point: neither variables nor unknowns."""
        unknown = {
            self.model.tail["parameters"].start + self.tree.parameters.names.index(p) for p in self.unknown
        }
        parts = [self.model.tail[name] for name in ("discrete", "enabled", "lock", "held", "parameters")]
        return [i for part in parts for i in range(part.start, part.stop) if i not in unknown]

    @property
    def _fixed(self) -> list[int]:
        """Switches and locks among these, on which machine code depends."""
        return [
            i for name in ("enabled", "lock", "held") for i in range(*self.model.tail[name].indices(10**9))
        ]

    def text(self) -> str:
        """Text that determines the expressions, apart from the model."""
        fixed = [self.tail[self.model.tail[name]].tolist() for name in ("enabled", "lock", "held")]
        loads = [(x._name, x.point is None, str(x.frame), str(x.point_frame)) for x in self.loads]
        given = self.motion is not None
        return f"{fixed} {self.held_speeds} {self.dependent} {self.diagonal} {given} {loads}"

    def point(self, T: SX) -> tuple[MovementPoint, SX, SX, SX, SX, list[tuple[SX, list[int], bool]]]:
        """The point, v, the numbers (held, t, constants), xdot, residuals, and contributions of muscles to
        residuals: expressions with the indices of the residuals, and whether they have second derivatives
        (condyle.collocation.terms)."""
        model, tree = self.model, self.tree
        s = Symbols(model, direct=True, straight=True)
        q, u, a = s["q"], s["u"], s["udot"]
        nu = tree.nu
        kin = s.kinematics()
        given = [
            self._pick(x, i)
            for x, i in ((q, self.held_coordinates), (u, self.held_speeds), (a, self.held_speeds))
        ]
        corrections = ca.SX.sym("g", len(self.controls) - len(self.system.inputs))
        lam = ca.SX(0, 1)
        accelerations = a
        equations = ca.SX(0, 1)
        if self.constrained:
            rows = s.rows(kin)
            G, bias = rows.jacobian(), rows.bias()
            p, v = rows.errors()
            if self.diagonal and self.motion is None:
                parts = list(ca.vertsplit(a))
                for row, k in enumerate(self.dependent):
                    rest = sum((G[row, j] * a[j] for j in range(nu) if j != k), ca.SX(0)) + bias[row]
                    parts[k] = -rest / G[row, k]
                accelerations = ca.vertcat(*parts)
                equations = ca.vertcat(p, v)
            elif not self.diagonal:
                lam = ca.SX.sym("lambda_", G.shape[0])
                equations = ca.vertcat(p, v, G @ a + bias) if self.motion is None else equations
        acting = self._acting(s)
        loads, z = acting.loads, acting.z
        e = rnea.inverse_dynamics(tree, kin, a, s.gravity, loads)
        own = self.balanced

        def reduced(e: SX) -> SX:
            """Rows of e that remain when multipliers are eliminated."""
            for row, k in enumerate(self.dependent if self.diagonal else ()):
                if e[k].nnz():
                    e = e - G[row, :].T * (e[k] / G[row, k])
            return e[own]

        e = ca.substitute(e, a, accelerations) if accelerations is not a else e
        e = ca.densify(reduced(e)) + (
            0 if self.diagonal or not self.constrained else self._pick(G.T @ lam, own)
        )
        rates = qdot(s)[0]
        if self.quaternions:
            parts = list(ca.vertsplit(rates))
            for k, part in enumerate(self.quaternions):
                for i in range(part.start, part.stop):
                    parts[i] = parts[i] + corrections[k] * q[i]
            rates = ca.vertcat(*parts)
        changes = accelerations
        if self.corrected:
            g, d = ca.vertsplit(corrections[len(self.quaternions) :], G.shape[0])
            rates = rates + ca.jtimes(qdot(s)[0], u, G.T @ g)
            changes = accelerations + G.T @ d
        xdot = ca.vertcat(
            self._pick(rates, self.q_states),
            self._pick(changes, self.u_states),
            vertcat(acting.rates),
        )
        lengths = [ca.sumsqr(q[part]) - 1 for part in self.quaternions]
        r = ca.vertcat(e, equations, ca.SX(len(acting.residuals), 1), *lengths)
        pulls: list[tuple[SX, list[int], bool]] = []
        for name, pull in acting.pulls.items():
            found = ca.sparsify(reduced(pull))
            where, values = list(found.sparsity().row()), [found.nz[:]]
            if name in acting.residuals:
                where.append(len(own) + equations.numel() + list(acting.residuals).index(name))
                values.append(acting.residuals[name])
            pulls.append((ca.vertcat(*values), where, self.muscles[name].path.knows_every_order))
        inputs = tree.inputs.symbols
        v = ca.vertcat(
            self._pick(q, self.q_states), self._pick(u, self.u_states), z, inputs, corrections,
            self._pick(a, self.a_own), self._pick(q, self.q_dependent), self._pick(u, self.u_dependent),
            *acting.tendon_rates, lam,
        )  # fmt: skip
        numbers = ca.vertcat(*given, s.t, self._pick(s["tail"], self._constants), *acting.measured)
        by_name = {x.name: v[i] for i, x in enumerate(self.variables)}
        for i, symbol in zip(
            self.held_coordinates, ca.vertsplit(given[0]) if given[0].numel() else [], strict=True
        ):
            by_name[tree.coordinates[i]] = symbol
        point = MovementPoint(
            s, by_name, inputs, self.system.inputs, accelerations, T, acting.complete, acting.working, self
        )
        point.multipliers = lam
        return point, v, numbers, xdot, r, pulls

    def _acting(self, s: Symbols) -> Acting:
        """All forces, in their smooth forms."""
        view = s.view(s.kinematics())
        view.smooth = True
        loads = TreeLoads(view)
        z = list(ca.vertsplit(s.z)) if s.z.numel() else []
        near, stretched = NearViews(s), dict[str, SX]()

        def complete() -> TreeLoads:
            whole = loads.copy()
            for name, tension in stretched.items():
                self.muscles[name].path.length.load(view, -tension, whole)
            return whole

        out = Acting(loads, complete, {}, ca.SX(0, 1), [], {}, [], [], {})
        for place, (name, _) in enumerate(state_variables(self.model.forces)):
            law, _, own = name.rpartition(".")
            if law in self.elastic and own == self.muscles[law].TENDON_STATE:
                z[place] = ca.SX.sym("tendon")
        start = 0
        for enabled, force in s.laws(view):
            loads.enabled, name = enabled, view.law
            own_z = z[start : start + len(force.states)]
            start += len(force.states)
            if name not in self.muscles:
                if (path := getattr(force, "path", None)) is not None and path.wraps:
                    force = replace(force, path=path.every_order)  # type: ignore[type-var]
                force.apply(view, loads)
                out.rates += [ca.if_else(enabled, x, 0) for x in force.rates(view)]
                continue
            muscle = self.muscles[name]
            along = muscle.path.every_order.length
            close = near.of(along.bodies)
            l, v = along.at(close), along.rate(close)
            e = excitation_at(muscle.excitation, view)
            a = own_z[0] if muscle.activation_dynamics else e
            if muscle.activation_dynamics:
                out.rates.append(smooth.activation_rate(muscle, a, e))
            if name in self.elastic:
                rate = ca.SX.sym("rate")
                found = smooth.elastic_equilibrium(muscle, l, v, a, own_z[-1], rate, self._damping(muscle))
                out.rates.append(rate)
                out.tendon_rates.append(rate)
                out.residuals[name] = found.residual
            else:
                found = smooth.rigid(muscle, l, v, a)
            stretched[name] = found.tension
            out.pulls[name] = found.tension * ca.sparsify(ca.gradient(v, s["u"]))
            F_0, fiber = sx(muscle.max_isometric_force), found.fiber
            out.working[name] = Working(
                e, a, fiber.l_n, fiber.v_M, fiber.f_L, F_0 * fiber.active, F_0 * fiber.passive
            )
            out.fiber_lengths[name] = fiber.l_n * sx(muscle.optimal_fiber_length)
        out.z = vertcat(z)
        loads.enabled = ca.SX(1)
        for load in self.loads:
            given = ca.SX.sym("load", 9)
            out.measured.append(given)
            R = view.rotation(_body(load.frame))
            f, moment = R @ given[:3], R @ given[3:6]
            if load.point is not None:
                at = view.station_position(_body(load.point_frame), given[6:9])
                moment += ca.cross(at - view.station_position(load._name, ca.SX(3, 1)), f)
            loads.add_force(load._name, ca.SX(3, 1), f)
            loads.add_torque(load._name, moment)
        for (name, _), x in zip(state_variables(self.model.forces), z, strict=True):
            law, _, own = name.rpartition(".")
            of_tendon = law in self.elastic and own == self.muscles[law].TENDON_STATE
            view.states[tendon(law) if of_tendon else name] = x
            if of_tendon and own == "fiber_length":
                view.states[name] = out.fiber_lengths[law]
        return out

    @staticmethod
    def _damping(muscle: Muscle) -> float | None:
        """Damping of a muscle, as in Moco: Thelen2003 and DeGroote2016 have none with elastic tendons."""
        return 0.01 if isinstance(muscle.fiber_damping, float) and muscle.fiber_damping == 0 else None

    def with_numbers(self, s: Symbols, expressions: Sequence[SX]) -> list[SX]:
        """Expressions with numbers for switches and locks."""
        if not self._fixed:
            return list(expressions)
        old = self._pick(s["tail"], self._fixed)
        return ca.substitute(list(expressions), [old], [ca.SX(ca.DM(self.tail[self._fixed]))])  # type: ignore[no-any-return]

    @staticmethod
    def _pick(x: SX, which: Sequence[int]) -> SX:
        return ca.densify(x[list(which)]) if which else ca.SX(0, 1)

    # ---- numbers -------------------------------------------------------------------------------------------

    def numbers(self, t: Array, parameters: Mapping[str, float]) -> Array:
        """held, t and constants at times t (P,), shape (P, k)."""
        tree, model, P = self.tree, self.model, len(t)
        tail = np.array(self.compiled.tail(parameters=dict(parameters)) if parameters else self.tail)
        q, u = (np.tile(x, (P, 1)) for x in self.system.defaults())
        udot = np.zeros((P, tree.nu))
        if self.motion is not None:
            curve = spline(self.motion.t, np.asarray(self.motion.q), 5)
            q, u, udot = curve(t), np.zeros((P, tree.nu)), np.zeros((P, tree.nu))
            of = [self.coordinate_of[k] for k in range(tree.nu)]
            u[:], udot[:] = curve(t, 1)[:, of], curve(t, 2)[:, of]
        elif self.held_speeds:
            tails = np.tile(tail, (P, 1))
            tails[:, model.tail["t"]] = t[:, None]
            q, u = self.compiled.prescribed(q, u, tails)
            if tree.driven:
                udot = self.compiled.function("forward_dynamics")(q, u, self.compiled.no_tau, tails)
        held = [q[:, self.held_coordinates], u[:, self.held_speeds], udot[:, self.held_speeds]]
        measured = [spline(x.table.time, x._checked(), 3)(t) for x in self.loads]
        return np.concatenate([*held, t[:, None], np.tile(tail[self._constants], (P, 1)), *measured], axis=1)

    def unpack(self, V: Array, held: Array) -> tuple[Array, Array, Array]:
        """q (P, nq), u (P, nu) and z (P, nz) from variables (P, n) and held numbers (P, 3 k)."""
        tree, P, k = self.tree, len(V), len(self.held_speeds)
        q, u = np.zeros((P, tree.nq)), np.zeros((P, tree.nu))
        at = len(self.q_states), len(self.q_states) + len(self.u_states)
        q[:, self.q_states], u[:, self.u_states] = V[:, : at[0]], V[:, at[0] : at[1]]
        z = V[:, at[1] : len(self.states)]
        if k:
            q[:, self.held_coordinates], u[:, self.held_speeds] = held[:, :k], held[:, k : 2 * k]
        if m := len(self.u_dependent):
            start = len(self.states) + len(self.controls) + len(self.a_own)
            q[:, self.q_dependent], u[:, self.u_dependent] = (
                V[:, start : start + m],
                V[:, start + m : start + 2 * m],
            )
        return q, u, z


def driven_by(law: Any) -> dict[str, str]:
    """Fields of a law that are plain inputs, and their names."""
    out = {}
    for own in ("control", "excitation"):
        kept = getattr(law, own, None)
        if isinstance(kept, Expression) and not kept.text:
            out[own] = kept.parameters[0].name
    return out
