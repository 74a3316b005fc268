"""The public face: System, which describes and answers. What is compiled from it is an object of its own (compiled.py)."""
from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from casadi import Function

from condyle.arguments import answered
from condyle.arrays import Entries, check_finite, vector
from condyle.constraints.base import Constraint
from condyle.constraints.solve.equations import row_slices
from condyle.constraints.solve.projection import project
from condyle.errors import ArgumentError, DescriptionError, FrozenError, ShapeError, UnknownNameError
from condyle.forces.base import Force, check_states, state_variables
from condyle.forces.gravity import Gravity
from condyle.mobilizers import Mobilizer
from condyle.model.explain import Explanation, explain
from condyle.presentation import Shown, cut, page
from condyle.system.compiled import DIRECT, Compiled, equation_names
from condyle.system.derivatives import Differentiation
from condyle.system.description import blocks
from condyle.system.expressions import casadi_function
from condyle.system.locks import known
from condyle.system.operators import Operations, Options, Stage
from condyle.system.state import State
from condyle.system.tails import NAMES as TAIL
from condyle.system.unmet import refuse_undefined
from condyle.trace.parameter import Discrete
from condyle.tree import scales
from condyle.tree.body import Body, Coordinate
from condyle.tree.check import check_inertia
from condyle.tree.prescribed import Prescribed
from condyle.tree.tree import Tree

_OPTIONS = tuple(Options.__annotations__)
_ELSEWHERE = {
    "simulate": "cd.simulate(system, state, t_final)", "integrate": "cd.simulate(system, state, t_final)",
    "assemble": "cd.assemble(system, state, goals)", "relax": "cd.relax(system, state)",
    "add_joint": "an argument of add_body: mobilizer=cd.Pin()", "add": "add_body, add_force or add_constraint",
    "add_spring": "system.add_force(name, cd.forces.TwoPointSpring(...))", "joints": "in system.bodies: each has a mobilizer",
    "q": "in a state: system.state().q, or system.defaults()[0]", "u": "in a state: system.state().u, or system.defaults()[1]",
    "t": "in a state: system.state().t", "nx": "nq + nu", "M": "system.mass_matrix(q)", "fd": "system.forward_dynamics(q, u)",
    "id": "system.inverse_dynamics(q, u, udot)", "forward_kinematics": "system.body_pose(q, body)"}
"""Where what a System does not have is."""


class System(Shown, Operations, Differentiation):
    """Bodies joined by mobilizers under gravity. Describe it with `add_body`, then ask.

    The first state, operator call or pickle freezes it; `copy()` gives one that can be changed.

    Args:
        gravity: acceleration of free fall in ground [m/s^2], shape (3,).
    """

    elsewhere = _ELSEWHERE

    def __init__(self, gravity: Any = (0.0, -9.81, 0.0)) -> None:
        self._tree = Tree()
        self._forces: dict[str, Force] = {}
        self._constraints: dict[str, Constraint] = {}
        self._thaw()
        law = gravity if isinstance(gravity, Gravity) else Gravity(gravity)
        self._tree.register(law.parameters())
        self._forces["gravity"] = law                       # bodies it excludes are looked up when the system freezes

    def _thaw(self) -> None:
        self._frozen: str | None = None
        self._compiled: Compiled | None = None

    def _named(self, name: str) -> str:
        known = {*self.coordinates, *self.speeds} if "_tree" in vars(self) else ()
        return f"a value of a State: system.state()[{name!r}]" if name in known else ""

    # ---- describing -------------------------------------------------------------------------------------------------

    @answered({"joint": "it is mobilizer=, such as cd.Pin()", "X_FM": "frames are X_PF= on the parent and X_BM= on the body",
               "I": "it is inertia=", "density": "give mass= and inertia="}, skip=1)
    def add_body(self, name: str, parent: Body | str = "ground", mobilizer: Mobilizer | None = None, X_PF: Any = None,
                 X_BM: Any = None, mass: float = 0.0, com: Any = (0.0, 0.0, 0.0), inertia: Any = (0.0, 0.0, 0.0),
                 coordinates: Iterable[str | Coordinate] | str | None = None, motion: Prescribed | None = None) -> Body:
        """Add a body and the mobilizer that joins it to its parent.

        Args:
            name: unique among bodies.
            parent: a body of this system, or its name.
            mobilizer: what the body may do, such as `cd.Pin()`.
            X_PF: frame F on the parent; X_BM: frame M on the body. A Transform, a 3-vector (translation) or None.
            mass: [kg].   com: mass centre in the body's frame [m], shape (3,).
            inertia: about com, in the body's axes [kg m^2]: 3, 6 (xx yy zz xy xz yz) or 3 x 3.
            coordinates: names or `cd.Coordinate`s, one per coordinate. By default the body's name, with a suffix where there
                are several; names given with the mobilizer are kept where they are free.
            motion: how the mobilizer moves, if that is known beforehand: `cd.Prescribed(position=f)`.
        """
        if self._frozen:
            raise FrozenError(f"body {name!r} cannot be added: the system is in use since {self._frozen}; "
                              "add bodies before, or to system.copy()")
        if mobilizer is None:
            wrong = f"{parent!r} stands where the parent belongs. " if isinstance(parent, Mobilizer) else ""
            raise DescriptionError(f"body {name!r}: which mobilizer? {wrong}For example mobilizer=cd.Pin(), or cd.Weld() "
                                   "for none")
        if motion is not None and (name in self._forces or name in self._constraints):
            raise DescriptionError(f"body {name!r}: a motion is switched by the name of its body, but this one is a "
                                   f"{self._kind(name)}'s; rename one")
        return self._tree.add(name, parent, mobilizer, X_PF, X_BM, mass, com, inertia, coordinates, motion)

    @answered(skip=1)
    def add_force(self, name: str, force: Force) -> None:
        """Add a force law under a name, such as cd.forces.TwoPointSpring(...)."""
        if isinstance(force, Force) and isinstance(name, str):
            force = force.named(name)
        self._admit("force", name, force, Force, "cd.forces.Gravity(...)")
        self._forces[name] = force

    @answered(skip=1)
    def add_constraint(self, name: str, constraint: Constraint) -> None:
        """Add a constraint under a name, such as cd.constraints.Rod(...). Names of forces and constraints are unique."""
        self._admit("constraint", name, constraint, Constraint, "cd.constraints.Rod(...)")
        self._constraints[name] = constraint

    @answered(skip=1)
    def add_discrete(self, name: str, default: float) -> None:
        """Add a discrete variable that no law needs, for witnesses and actions: a counter, what an event remembers.

        Laws bring theirs along: `s.discrete(name, default)` in a function, or `cd.Discrete(name, default)` for a number.
        """
        if self._frozen:
            raise FrozenError(f"discrete variable {name!r} cannot be added: the system is in use since {self._frozen}; "
                              "add it before, or to system.copy()")
        self._tree.register([Discrete(name, default)])

    def _admit(self, kind: str, name: str, law: Any, wanted: type[Any], example: str) -> None:
        """Check a force or constraint that is to be added, and take in its Parameters."""
        if self._frozen:
            raise FrozenError(f"{kind} {name!r} cannot be added: the system is in use since {self._frozen}; "
                              f"add {kind}s before, or to system.copy()")
        if not isinstance(name, str) or not name:
            hint = "; the name comes first" if isinstance(name, (Force, Constraint)) else ""
            raise DescriptionError(f"a {kind}'s name is a non-empty string, got {name!r}{hint}")
        if name in self._forces or name in self._constraints or name in self.motions:
            raise DescriptionError(f"{self._kind(name)} {name!r} exists already; names are unique")
        if not isinstance(law, wanted):
            hint = "; write brackets and its numbers behind it" if isinstance(law, type) else ""
            if isinstance(law, (Force, Constraint)):
                hint = f"; it goes to system.add_{'constraint' if kind == 'force' else 'force'}"
            if callable(law) and not hint:
                written = f"cd.forces.Custom({law.__name__})" if kind == "force" else f"cd.constraints.Holonomic({law.__name__})"
                hint = f"; a function of your own becomes one by {written.replace('<lambda>', 'lambda s: ...')}"
            raise DescriptionError(f"{kind} {name!r}: expected a {kind} such as {example}, got {law!r}{hint}")
        law.check(self._tree)
        self._tree.register(law.parameters())

    def _kind(self, name: str) -> str:
        return "force" if name in self._forces else "constraint" if name in self._constraints else "prescribed motion of body"

    def _laws(self) -> list[Force | Constraint]:
        return [*self._forces.values(), *self._constraints.values()]

    @property
    def ground(self) -> Body:
        return self._tree.ground

    @property
    def bodies(self) -> tuple[Body, ...]:
        return tuple(self._tree.bodies)

    @property
    def nq(self) -> int:
        return self._tree.nq

    @property
    def nu(self) -> int:
        return self._tree.nu

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self._tree.coordinates

    @property
    def speeds(self) -> tuple[str, ...]:
        return self._tree.speeds

    @property
    def forces(self) -> tuple[str, ...]:
        return tuple(self._forces)

    @property
    def constraints(self) -> tuple[str, ...]:
        return tuple(self._constraints)

    @property
    def motions(self) -> tuple[str, ...]:
        """Names of the bodies whose motion is prescribed."""
        return tuple(b.name for b in self._tree.driven)

    @property
    def equations(self) -> int:
        """Number of constraint equations m, which is the number of multipliers."""
        return sum(c.size for c in self._constraints.values())

    @property
    def parameters(self) -> tuple[str, ...]:
        return self._tree.parameters.names

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._tree.inputs.names

    @property
    def discrete(self) -> tuple[str, ...]:
        """Names of the discrete variables."""
        return self._tree.discrete.names

    @property
    def state_variables(self) -> tuple[str, ...]:
        """Names of the auxiliary states z that forces bring, as "muscle.activation"."""
        return tuple(name for name, _ in state_variables(self._forces))

    def body(self, which: Body | str) -> Body:
        """The body of that name."""
        return self._tree.body(which)

    def force(self, name: str) -> Force:
        """The force of that name, as it was added: `system.force("spring").stiffness`."""
        known("force", (name,), self.forces)
        return self._forces[name]

    def constraint(self, name: str) -> Constraint:
        """The constraint of that name, as it was added."""
        known("constraint", (name,), self.constraints)
        return self._constraints[name]

    def default(self, variable: str) -> np.ndarray:
        """Default values of q, u, z, inputs, discrete or parameters, in the order of their names."""
        if variable == "q":
            return self._tree.defaults()
        if variable == "u":
            return np.zeros(self.nu)
        if variable == "z":
            return np.array([value for _, value in state_variables(self._forces)], dtype=float)
        return {"inputs": self._tree.inputs, "discrete": self._tree.discrete,
                "parameters": self._tree.parameters}[variable].defaults

    def names(self, variable: str) -> tuple[str, ...]:
        """Names of the entries of q, u, z, inputs, discrete or parameters."""
        return {"q": self.coordinates, "u": self.speeds, "z": self.state_variables, "inputs": self.inputs,
                "discrete": self.discrete, "parameters": self.parameters}[variable]

    def defaults(self) -> tuple[np.ndarray, np.ndarray]:
        """Default q (nq,) and u (nu,)."""
        return self._tree.defaults(), np.zeros(self.nu)

    def describe(self) -> str:
        """Everything that it is made of, for reading: bodies with masses, frames, coordinates with defaults and ranges,
        speeds, parameters, inputs, discrete variables, auxiliary states, forces, constraints, motions."""
        return "\n\n".join([repr(self), *(block.text() for block in blocks(self, self._forces, self._constraints))])

    def __repr__(self) -> str:
        names = f": {cut(b.name for b in self.bodies)};" if self.bodies else ","
        bodies = "1 body" if len(self.bodies) == 1 else f"{len(self.bodies)} bodies"
        return f"System({bodies}{names} nq={self.nq}, nu={self.nu}{', frozen' if self._frozen else ''})"

    def _repr_html_(self) -> str:
        return page(repr(self), *blocks(self, self._forces, self._constraints))

    def copy(self) -> System:
        """The same description, free to change."""
        other = System()
        other._tree, other._forces, other._constraints = self._tree.copy(), dict(self._forces), dict(self._constraints)
        return other

    def __getstate__(self) -> dict[str, Any]:
        self._freeze("pickling")
        return {"tree": self._tree, "forces": self._forces, "constraints": self._constraints}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._tree, self._forces, self._constraints = state["tree"], state["forces"], state["constraints"]
        self._thaw()
        self._freeze("unpickling")

    def _freeze(self, why: str) -> Compiled:
        """From here on nothing changes: check what only the whole can show, and give it what is compiled from it."""
        if self._compiled is None:
            for law in self._laws():
                law.check(self._tree)
            check_states(self._forces)
            check_inertia(self._tree)
            self._compiled = Compiled(self._tree, self._forces, self._constraints)
            self._frozen = f"{why} at {_user_line()}"
        return self._compiled

    @property
    def compiled(self) -> Compiled:
        """What is compiled from it: model, kernels, programs; freezes it."""
        return self._compiled or self._freeze("compiling")

    # ---- states -----------------------------------------------------------------------------------------------------

    @answered(skip=1)
    def state(self, t: float = 0.0, q: Any = None, u: Any = None, *, z: Any = None, inputs: Any = None, discrete: Any = None,
              parameters: Any = None, locked: Iterable[str] | Mapping[str, Any] = (), disabled: Iterable[str] = ()) -> State:
        """A State: t [s]; q, u, z, inputs, discrete and parameters as arrays, or as mappings from names to values (the rest keep
        their defaults); names of locked speeds, or a mapping from them to levels (see `Options`); names of disabled forces,
        constraints and bodies whose motion does not act. What motions prescribe at t stands in q and u."""
        self._freeze("state()")
        return State.of(self, t=t, q=q, u=u, z=z, inputs=inputs, discrete=discrete, parameters=parameters, locked=locked,
                        disabled=disabled)

    @answered(skip=1)
    def casadi(self, operator: str, body: Body | str | None = None, *, locked: Any = None, disabled: Any = None) -> Function:
        """An operator as a casadi.Function of expressions, for optimisers and derivatives of your own.

        Args:
            operator: its name, such as "forward_dynamics".
            body: whose, for operators of one body: "body_pose" (R row by row, then p), "frame_jacobian", and the like.
            locked: as for operators; it is built in.
            disabled: as for operators; it is built in.

        Returns:
            inputs by name: the operator's arrays, then t, z, inputs, discrete and parameters where the system has some: columns
            in the order of their names. tau and t are zero where they are left out; what else is left out is NaN, or its default
            if that is one number. Outputs by name too, matrices as such. Where the operator would raise SingularError, numbers
            mean nothing.

        Raises:
            DescriptionError: the system looks something up in a table, as long splines and series do.
        """
        which = None if body is None or self.body(body).is_ground else self.body(body).index
        given = {name: value for name, value in (("locked", locked), ("disabled", disabled)) if value is not None}
        return casadi_function(self._freeze("casadi()"), operator, which, given)

    def explain(self, state: State, tau: Any = None) -> Explanation:
        """Every intermediate of the state's accelerations by name, without native code; print it to read it.

        Use it when a result is NaN or a surprise: it says which body, mobilizer or force is the first not to be finite.
        """
        if not isinstance(state, State):
            raise ArgumentError(f"explain: expected a State: system.explain(system.state(q=..., u=...), tau=None), got {state!r}")
        if state.system is not self:
            raise DescriptionError("explain: the state belongs to another system; make it with system.state()")
        given = self.compiled.no_tau if tau is None else vector("explain: tau", tau, self.nu, self.compiled.entries["tau"])
        if given.ndim > 1:
            raise ShapeError(f"explain: tau: expected ({self.nu},), got {given.shape}; a State is one state")
        return explain(self.compiled.model, state.q, state.u, given, state.tail)

    # ---- prescribed motion ------------------------------------------------------------------------------------------

    def prescribe(self, q: Any, u: Any, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        """q (..., nq) and u (..., nu) with what the enabled motions prescribe at t in place of what was there, and u = 0 where
        `locked` says position. The other entries stay. States are made so; operators take q and u as they are given."""
        return self._prescribed("prescribe", "prescribed", q, u, options)[:2]

    def _prescribed(self, what: str, kernel: str, q: Any, u: Any, options: Mapping[str, Any]
                    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, u and the tail of some states that a user gave, what motions prescribe in place; they broadcast."""
        for option in options:
            if option not in TAIL:
                raise UnknownNameError(f"option of {what}()", option, TAIL)
        compiled = self._compiled or self._freeze(f"{what}()")
        self._check_time(what, kernel, (q, u), options)
        q = vector(f"{what}: q", q, self.nq, compiled.entries["q"])
        u = vector(f"{what}: u", u, self.nu, compiled.entries["u"])
        tail = compiled.tails.make(options)
        try:
            np.broadcast_shapes(q.shape[:-1], u.shape[:-1], tail.shape[:-1])
        except ValueError:
            raise ShapeError(f"{what}: shapes do not broadcast before their last dimension: q {q.shape}, u {u.shape}, options "
                             f"{tail.shape[:-1]}; give as many rows of each, or one") from None
        q, u = compiled.prescribed(q, u, tail, options.get("locked"))
        for name, x in (("q", q), ("u", u)):                # only now: what was given in place of a motion does not count
            check_finite(f"{what}: {name}", x, compiled.entries[name])
        return q, u, tail

    # ---- constraints ------------------------------------------------------------------------------------------------

    def project(self, q: Any, u: Any, *, weights: Any = None, tolerance: float = 1e-10, **options: Any
                ) -> tuple[np.ndarray, np.ndarray]:
        """A near q (..., nq) and u (..., nu) that satisfy all enabled constraints, quaternions normalised: Newton steps, each the
        shortest, so that close to the constraints it is the nearest. From far away `cd.assemble` finds the nearest.

        Args:
            weights: W, shape (nu,): what a change of each speed's coordinate costs; by default that of `simulate`'s errors, so
                that 1 rad costs as much as one length of the system. Speeds change as by an impulse of the constraints, by
                the least kinetic energy. Locked and prescribed ones do not change, but for what motions prescribe at t.
            tolerance: largest error of an equation, in its own unit; for velocities in the unit times the largest speed or 1.
            options: those of the operators.

        Raises ConstraintError if Newton's method finds no such state.
        """
        q, u, tail = self._prescribed("project", "project", q, u, options)
        W = scales.weights(self.bodies)[1] if weights is None else self._weights(weights)
        if not isinstance(tolerance, (int, float, np.number)) or not 0 < tolerance <= sys.float_info.max:
            raise DescriptionError(f"project: tolerance: expected a number above zero, got {tolerance!r}")
        batch = np.broadcast_shapes(q.shape[:-1], u.shape[:-1], tail.shape[:-1])
        q, u = np.broadcast_to(q, batch + (self.nq,)).copy(), np.broadcast_to(u, batch + (self.nu,)).copy()
        return project(self.compiled.projection(tail, W), q, u, tolerance)

    def _weights(self, given: Any) -> np.ndarray:
        """One for each speed, above zero."""
        W = vector("project: weights", given, self.nu, Entries("speed", self.speeds))
        if W.shape != (self.nu,) or not (np.isfinite(W) & (W > 0)).all():
            raise ShapeError(f"project: weights: expected {self.nu} numbers above zero, got {given!r}")
        return W

    def equation_names(self) -> list[tuple[str, str]]:
        """Name and level of each constraint equation, in their order: the constraint's name, with [k] if it has several."""
        return equation_names(self._constraints)

    def _check_equations(self, name: str, values: np.ndarray, *levels: str) -> None:
        """Refuse values (..., m) of the equations of some levels, all by default, that are not finite."""
        if not np.isfinite(values).all():
            refuse_undefined(self.compiled.model, name, values, levels)

    def _reaction_places(self, constraint: str) -> dict[str, slice]:
        """Where the wrenches of a constraint stand in the result of constraint_reactions."""
        known("constraint", (constraint,), self.constraints)
        before = list(self._constraints.values())[:self.constraints.index(constraint)]
        start = 6 * sum(len(c.bodies) for c in before)
        names = self._constraints[constraint].bodies
        return {body: slice(start + 6 * i, start + 6 * i + 6) for i, body in enumerate(names)}

    def multiplier_rows(self, constraint: str) -> slice:
        """Where a constraint's equations stand among all m, and its multipliers in `multipliers`."""
        known("constraint", (constraint,), self.constraints)
        return row_slices(self._constraints)[constraint]

    # ---- operators --------------------------------------------------------------------------------------------------

    def _run(self, name: str, stage: Stage, arguments: tuple[Any, ...], options: Mapping[str, Any],
             which: str | None = None) -> Any:
        """One kernel on its arguments and the tail; None among the arguments is no tau."""
        compiled = self._compiled or self._freeze(f"{name}()")
        try:
            function = compiled.functions[name, which]
        except KeyError:
            function = compiled.function(name, which)
        if arguments[-1] is None:
            arguments = (*arguments[:-1], compiled.no_tau)
        if "state" in options:
            if options["state"].system is not self:
                raise DescriptionError(f"{name}: the state belongs to another system; make it with system.state()")
            return options["state"].result(function, stage, arguments, which)
        self._check_time(name, name, arguments, options)
        if not options:
            result = function.fast(*arguments, compiled.tails.default)
            if name in DIRECT and name not in self.__dict__ and getattr(type(self), name) is getattr(Operations, name):
                direct = compiled.shortcut(name, getattr(self, name))
                if direct is not None:                      # from here on plain vectors go straight to the kernel
                    self.__dict__[name] = direct
            return result
        for option in options:
            if option not in _OPTIONS:
                raise UnknownNameError(f"option of {name}()", option, _OPTIONS)
        out, threads, tail = options.get("out"), options.get("threads"), compiled.tails.make(options)
        if out is None and threads is None:
            return function.fast(*arguments, tail)
        return function(*arguments, tail, out=out, threads=threads)

    def _check_time(self, what: str, kernel: str, arrays: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        """Refuse many states without t where something depends on it."""
        timed = self.compiled.timed
        if kernel in timed.operators and options.get("t") is None:
            timed.check(what, kernel, arrays, options.get("disabled"))

    def _held(self, options: Any) -> np.ndarray:
        tails = self.compiled.tails
        return tails.held(options["state"].tail if "state" in options else tails.make(options))


def _user_line() -> str:
    """File and line of the nearest caller outside this package."""
    here = str(next(p for p in Path(__file__).parents if p.name == "condyle"))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(here):
        frame = frame.f_back
    if frame is None:
        return "an unknown line"
    file = frame.f_code.co_filename
    cell = _cells().get(file)
    return f"{Path(file).name}:{frame.f_lineno}" if cell is None else f"In [{cell}], line {frame.f_lineno}"


def _cells() -> Mapping[str, int]:
    """Numbers of the cells of IPython or a notebook, by the file names that their code goes by."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return getattr(getattr(shell, "compile", None), "_filename_map", {})
