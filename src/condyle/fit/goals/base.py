"""The base class of goals, and all that assembly requires of a goal.

describe    fields, name, unit, target, weight; `check` refuses what a system does not have
compute     `residual`, or for more speed `linearized` or `add`; `numbers` that the machine code reads;
            `code`, its text
report      `errors`: how far the target was missed in each frame
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX, Array, gaps, real
from condyle.constraints.user import Holonomic
from condyle.errors import DescriptionError, ShapeError
from condyle.fit.configurations import Configurations
from condyle.laws.ask import AskedState
from condyle.laws.described import _value, class_code, known_body
from condyle.presentation import brief
from condyle.records import dataclass
from condyle.tree.tree import Tree

if TYPE_CHECKING:
    from condyle.dynamics.view import TreeView
    from condyle.fit.cost import GoalCost
    from condyle.system.system import System


@dataclass(frozen=True, eq=False, repr=False)
class GoalResiduals(Holonomic):
    """The residual of a goal, as a law that is traced and differentiated like a constraint on positions."""

    too_fast: ClassVar[str] = "goals are made of positions, s.t and parameters only"

    label: str = ""

    @property
    def what(self) -> str:
        return self.label

    def description(self) -> str:
        """Text that determines the expressions; the label does not."""
        return f"Residuals({[ask.text for ask in self.asks]}, {self.law.text})"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Goal(ExplainsCalls):
    """Base class of goals. Users define goals as subclasses; one method is enough:

        @dataclass(frozen=True, eq=False, repr=False)
        class Level(cd.goals.Goal):
            unit, about = "m", "height"
            a: str
            b: str
            height: ArrayLike = 0.0

            def residual(self, s):
                return s.station_position(self.a, (0, 0, 0))[1] - s.station_position(self.b, (0, 0, 0))[1]

    Args:
        weight: zero or more, for all frames or one per frame, shape (T,).
        name: of the residual in results; by default from the goal's fields.

    Attributes:
        unit: of the error.
        about: the field that holds the target; if empty, the target is zero.
        pooled: goals with equal `code` are summed into one block of numbers.
        looped: "pose" if `add` uses only the pose of its field `body`, "coordinate" if only coordinates of
            one body: then it may run in loops over bodies (kernels.py).
        data: fields that machine code reads as numbers (`constants`); others may be compiled in.
        is_place: its error is a distance of a point in ground: `Frames.rms` counts it.
        weight_at: index of the weight in a block of numbers.
        law: the traced `residual`, if the goal has one.
    """

    unit: ClassVar[str] = ""
    shape: ClassVar[tuple[int, ...]] = ()
    about: ClassVar[str] = ""
    pooled: ClassVar[bool] = False
    data: ClassVar[tuple[str, ...]] = ()
    looped: ClassVar[str] = ""
    is_place: ClassVar[bool] = False
    weight_at: ClassVar[int] = -1
    weight: ArrayLike = 1.0
    name: str = ""
    law: GoalResiduals | None = field(init=False, default=None)

    # ---- describe ------------------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        if not self.name:
            self._set(name=type(self).__name__)
        cls = type(self)
        if cls.linearized is Goal.linearized and cls.add is Goal.add:
            self._trace()
        self._check_numbers()

    def _set(self, **values: Any) -> None:
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    def _written(self) -> tuple[Callable[[Any], Any], str]:
        """The function that defines the goal, and its name in errors."""
        return self.residual, f"goal {self.name!r}"

    def _trace(self) -> None:
        """Trace `residual` and store it; a single number as a target applies to all its values."""
        law = GoalResiduals(*self._written())
        self._set(law=law, shape=(law.size,))
        if self.about:
            value = numbers_of(getattr(self, self.about), f"goal {self.name!r}: {self.about}")
            if value.ndim < 2 and law.size == 1 and value.shape != (1,):
                value = value[..., None]
            elif not value.ndim:
                value = np.full(law.size, float(value))
            self._set(**{self.about: value})

    def _check_numbers(self) -> None:
        """Check the target and the weight."""
        what, shape, target = f"goal {self.name!r}", self.shape, self.about
        weight = numbers_of(self.weight, f"{what}: weight")
        if weight.ndim > 1 or not (np.isfinite(weight) & (weight >= 0)).all():
            raise ShapeError(
                f"{what}: weight must be zero or more, one number or one per frame, got {self.weight!r}"
            )
        weight.flags.writeable = False
        self._set(weight=weight)
        if not target:
            return
        value = numbers_of(getattr(self, target), f"{what}: {target}")
        if (shape and value.shape[-len(shape) :] != shape) or value.ndim - len(shape) not in (0, 1):
            numbers = ", ".join(map(str, shape))
            raise ShapeError(
                f"{what}: {target} has shape {value.shape}; expected ({numbers}) for one frame "
                f"or ({', '.join(['T', *map(str, shape)])}) for T frames"
            )
        if value.ndim > len(shape) and not len(value):
            raise ShapeError(f"{what}: {target} has no frames, shape {value.shape}")
        if np.isinf(value).any():
            raise ShapeError(f"{what}: {target} has infinite numbers; NaN marks what was not measured")
        value.flags.writeable = False
        self._set(**{target: value})

    def __repr__(self) -> str:
        """Short values, and the shape of targets in many frames."""
        names = [f.name for f in fields(self) if f.name not in ("weight", "name", "law")]
        names += ["name", *["weight"] * bool(np.any(np.asarray(self.weight) != 1))]
        texts = [f"{n}={brief(getattr(self, n))}" for n in names]
        room = "goals." if type(self).__module__.startswith("condyle.") else ""
        return f"{room}{type(self).__name__}({', '.join(texts)})"

    def check(self, tree: Tree) -> None:
        """Check against a system.

        Raises:
            CondyleError: an unknown name, or a goal that nothing can move to.
        """
        if self.law is None:
            return
        self.law.check(tree)
        for p in self.law.parameters():
            if p.name not in tree.parameters.names:
                raise DescriptionError(
                    f"goal {self.name!r}: asks for parameter {p.name!r}, which the system "
                    f"does not have; it has {list(tree.parameters.names)}"
                )

    def unit_in(self, system: System) -> str:
        """The unit of its error."""
        return self.unit

    @property
    def points(self) -> dict[str, Array]:
        """Points of bodies in its fields [m], by field: a warning names those far outside of the system."""
        return {}

    # ---- targets and weights of frames ---------------------------------------------------------------------

    @property
    def target(self) -> Array:
        """The target of one frame or of all."""
        return getattr(self, self.about) if self.about else np.zeros(self.shape)

    @property
    def frames(self) -> int | None:
        """T, or None for a goal that is the same in all frames."""
        counts = {
            len(x) for x, n in ((self.target, len(self.shape)), (np.asarray(self.weight), 0)) if x.ndim > n
        }
        if len(counts) > 1:
            raise ShapeError(
                f"goal {self.name!r}: target and weight have different numbers of frames: {sorted(counts)}"
            )
        return counts.pop() if counts else None

    def frame(self, i: int) -> Self:
        """The goal of one frame."""
        out, weight = object.__new__(type(self)), np.asarray(self.weight)
        vars(out).update(vars(self))
        if self.target.ndim > len(self.shape):
            out._set(**{self.about: self.target[i]})
        if weight.ndim:
            out._set(weight=weight[i])
        return out

    def weights(self, frames: int) -> Array:
        """Shape (frames,), zero where the target has a NaN."""
        absent = (
            np.isnan(self.target)
            .reshape(*self.target.shape[: self.target.ndim - len(self.shape)], -1)
            .any(axis=-1)
        )
        return np.broadcast_to(np.where(absent, 0.0, self.weight), (frames,))

    def targets(self, frames: int) -> Array:
        """Shape (frames, ...), zero where the target has a NaN."""
        return np.broadcast_to(np.nan_to_num(self.target), (frames, *self.shape))

    # ---- compute -------------------------------------------------------------------------------------------

    def residual(self, s: AskedState) -> object:
        """The quantity that should equal the target, in the same shape, from positions.

        Args:
            s: the configuration, with the accessors of force laws: s.q("knee"), s.station_position("foot",
                p), s.body_pose("foot"), s.rotation, s.t, s.parameter. Traced once, like laws; its Jacobian is
                exact.
        """
        raise TypeError(
            f"{type(self).__name__} does not say what should be near its target: it needs a "
            "method residual(s)"
        )

    @property
    def constants(self) -> Array:
        """Numbers for the machine code that are the same in all frames, shape (c,)."""
        return np.empty(0)

    def code(self, tree: Tree) -> str:
        """Text that determines its expressions: goals of equal text share machine code, whatever their
        numbers.
        """
        if self.law is not None:
            return f"{type(self).__name__} {self.law.description()}"
        left_out = (self.about, "weight", "name", "law", *self.data)
        values = [f"{f.name}={_value(getattr(self, f.name))}" for f in fields(self) if f.name not in left_out]
        return f"{type(self).__name__} {class_code(type(self))} {values}"

    @property
    def width(self) -> int:
        """Numbers of its block in a row of a frame: by default constants, target, weight."""
        return len(self.constants) + int(np.prod(self.shape, dtype=int)) + 1

    @classmethod
    def numbers(cls, goals: Sequence[Self], frames: int) -> tuple[Array, Array]:
        """The numbers of a block in all frames, and the order of magnitude of its cost: below 1e-14 of that
        it is rounding.

        Args:
            goals: those that share the block: one, unless goals are pooled.
            frames: their number T.

        Returns:
            Shapes (T, width) and (T,).
        """
        (goal,) = goals
        w, x, same = goal.weights(frames), goal.targets(frames).reshape(frames, -1), goal.constants
        return np.column_stack([np.broadcast_to(same, (frames, same.size)), x, w]), goal.size(w, x)

    @classmethod
    def all_numbers(
        cls, blocks: Sequence[Sequence[Self]], frames: int
    ) -> Iterator[tuple[slice, list[tuple[Array, Array]]]]:
        """`numbers` of several blocks, of some frames at a time."""
        yield slice(0, frames), [cls.numbers(goals, frames) for goals in blocks]

    def size(self, w: Array, x: Array) -> Array:
        """The order of magnitude of its cost, shape (T,), from weights (T,) and targets (T, k)."""
        return w * (1 + (x * x).sum(axis=1))

    def linearized(self, view: TreeView, numbers: SX) -> tuple[SX, SX]:
        """The error (k,) and its Jacobian along the manifold (k, nu), here from `residual`.

        Args:
            view: the configuration.
            numbers: constants, then the target.
        """

        from condyle.constraints.solve.equations import ConstraintEquations

        if self.law is None:
            raise TypeError(
                f"{type(self).__name__} has no method residual(s), and none that does without: "
                "linearized or add"
            )
        rows = ConstraintEquations({"goal": self.law}, view, ca.SX.ones(1))
        return rows.errors()[0] - numbers[len(self.constants) :], rows.jacobian()

    def add(self, cost: GoalCost, block: SX) -> None:
        """Add to the cost, its gradient and its Gauss-Newton matrix.

        Args:
            cost: see there.
            block: the numbers of its block, the weight last.
        """
        cost.add_rows(*self.linearized(cost.view, block[:-1]), block[-1])

    # ---- report --------------------------------------------------------------------------------------------

    def errors(self, at: Configurations, targets: Array) -> Array:
        """|error| in T configurations, shape (T,), in `unit`; anything where nothing was measured.

        Args:
            at: the configurations.
            targets: shape (T, ...), zero where nothing was measured.
        """
        T, tree = len(at), at.system.compiled.model.tree
        x = targets.reshape(T, -1)
        numbers = np.column_stack([np.broadcast_to(self.constants, (T, len(self.constants))), x])
        found = at.evaluate(
            self.code(tree), lambda s, x: self.linearized(s.view(s.kinematics()), x)[0], numbers, x.shape[1]
        )
        return np.linalg.norm(found, axis=-1)


def numbers_of(value: Any, what: str) -> Array:
    """Real numbers, NaN where there are gaps; ShapeError if they are not numbers."""
    try:
        return np.array(real(what, gaps(value)))
    except (TypeError, ValueError) as error:
        raise ShapeError(str(error)) from None


def point(value: Any, what: str) -> Array:
    """A point of a body [m], shape (3,)."""
    found = numbers_of(value, what)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise ShapeError(f"{what}: expected three finite numbers [m], got {value!r}")
    found.flags.writeable = False
    return found


def check_moves(tree: Tree, body: str, goal: str) -> None:
    """Refuse a body that is unknown, and ground."""
    if known_body(tree, body, f"goal {goal!r}").is_ground:
        raise DescriptionError(f"goal {goal!r}: its body is ground, which does not move")
