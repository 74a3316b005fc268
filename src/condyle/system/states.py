"""Many states of one system: every operator for all of them at once, with names and units."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

import numpy as np

from condyle.arguments import check_call
from condyle.arrays import Array
from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.model.operators import OPERATORS
from condyle.model.operators.record import OperatorRecord, Stage
from condyle.native.calls.native_function import NativeFunction
from condyle.presentation import Block, Display, page
from condyle.records import dataclass
from condyle.spatial import Transform
from condyle.system.checked_arguments import nth
from condyle.system.operators import METHODS
from condyle.system.operators.contacts import TOUCHES
from condyle.system.operators.groups import attach, in_group
from condyle.system.operators.public import asked, operator, state_method
from condyle.system.state import State
from condyle.system.system import System
from condyle.system.variables import recorded, unique
from condyle.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

    from condyle.system.answers import OfStates
else:
    OfStates = object

Item = TypeVar("Item")


@dataclass(eq=False)
class Batch:
    """Several states, for one call of an operator.

    Attributes:
        system: the system of all states.
        t: [s], shape (m,).
        tail: tail of each state, shape (m, k): time, z, inputs, parameters, locks and disabled elements.
        arrays: {"q", "u", "udot": array}, each created on demand; udot is that of the system unless given.
        status: status of their run.
        member: index of the member of each state, shape (m,), if there are several.
        there: whether the state exists, shape (m,); results are NaN otherwise.
        unknown: reason for unknown accelerations of these states.
    """

    system: System
    t: np.ndarray
    tail: np.ndarray
    arrays: dict[str, Callable[[], np.ndarray]]
    status: str
    member: np.ndarray | None = None
    there: np.ndarray | None = None
    unknown: str = ""

    @staticmethod
    def tails(system: System, tail: np.ndarray, t: np.ndarray, z: np.ndarray | None = None) -> np.ndarray:
        """Tails (m, k) with the times t (m,) and auxiliary states z (m, nz); everything else comes from
        `tail`, (k,) or (m, k)."""
        where = system.compiled.model.tail
        out = np.empty((len(t), tail.shape[-1]))
        out[...] = tail
        out[:, where["t"]] = t[:, None]
        if z is not None:
            out[:, where["z"]] = z
        return out

    def result(
        self, record: OperatorRecord, function: NativeFunction, arguments: tuple[Any, ...], which: str | None
    ) -> Any:
        """The result of a kernel, as for a State, but for all rows in one call."""
        if self.unknown and record.stage == Stage.ACCELERATION:
            asked = "udot" if record.name == "forward_dynamics" else record.name
            raise DescriptionError(f"{asked}: {self.unknown}")
        return function.fast(*arguments, self.tail)

    def array(self, name: str) -> np.ndarray:
        """q, u or udot, shape (m, n)."""
        if name == "udot" and name not in self.arrays:
            return self.ask("forward_dynamics", (), {})
        return self.arrays[name]()

    def kernel(self, name: str, *arguments: Any) -> Any:
        """Results of an operator's kernel, rows first: NaN where paths or contacts were not found, without a
        warning.
        """
        compiled = self.system.compiled
        return compiled.shaped(
            name,
            compiled.function(name).fast(*map(self.array, OPERATORS[name].arrays), *arguments, self.tail),
        )

    def ask(self, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Results of an operator of the System, rows first."""
        return attrgetter(name)(self.system)(
            *map(self.array, OPERATORS[name].arrays), *arguments, **named, state=self
        )

    def shown(self, name: str, result: Any, given: Mapping[str, Any]) -> Any:
        """A Table if the operator has columns, else its result with NaN for missing states."""
        names = OPERATORS[name].columns
        if names is None:
            return self._blank(result)
        parts = (
            result.values()
            if isinstance(result, dict)
            else result
            if isinstance(result, tuple)
            else (result,)
        )
        m, columns = len(self.t), names(self.system.compiled.model, given)
        flat = [np.reshape(p, (len(p), int(np.prod(np.shape(p)[1:])))) for p in parts]
        if any(len(p) != m for p in flat) or sum(p.shape[1] for p in flat) != len(columns):
            raise ShapeError(
                f"{name}: give arguments for one state, or one per row with {m} of them first; "
                f"the result has the shape {', '.join(str(np.shape(p)) for p in parts)}"
            )
        return self.table(columns, self._blank(np.concatenate([np.empty((m, 0)), *flat], axis=1)))

    def table(self, columns: Any, values: np.ndarray) -> Table:
        """A Table of values (m, columns), after a column `member` if there are several."""
        if self.member is not None:
            columns, values = [("member", ""), *columns], np.column_stack([self.member, values])
        names, units = unique(columns)
        return Table(self.t, names, values, units, status=self.status)

    def _blank(self, result: Any) -> Any:
        if self.there is None or self.there.all():
            return result
        if isinstance(result, Transform):
            return Transform.unchecked(self._blank(result.R), self._blank(result.p))
        out = np.array(result, dtype=float)
        out[~self.there] = np.nan
        return out


class States(Generic[Item], Display, OfStates):
    """Many states of one system. It has every operator of the System, without q, u and udot:

        traj.energy(), traj.reactions("shank"), traj.station_position("foot", p)

    for all rows in one native call, with the time, auxiliary states, inputs, parameters, locks and disabled
    forces of each row. Most return a Table with names and units (`.values` is the array); matrices, Jacobians
    and poses are arrays and Transforms with the rows first. `t=` evaluates at other times, shape (m,).

    `states[i]` is one State, `states[2:10]` several, `states["knee"]` a variable in all rows by its name in
    tables.
    """

    called: ClassVar[str] = "states"  # in messages
    _item: ClassVar[str] = "state"  # name of one in messages
    elsewhere: ClassVar[dict[str, str]] = {
        "save": "a method of Tables: .table().save('run.csv')",
        "to_csv": "a method of Tables: .table().save('run.csv')",
        "time": "t, times [s]",
        **dict.fromkeys(("com", "center_of_mass"), ".mass_center()"),
        "names": "in the Table: .table().names",
        **TOUCHES,
    }

    if TYPE_CHECKING:

        @property
        def system(self) -> System: ...
        def table(self) -> Table: ...

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Item]:
        return (self._one(i) for i in range(len(self)))

    @overload
    def __getitem__(self, i: int) -> Item: ...
    @overload
    def __getitem__(self, i: str) -> Array: ...
    @overload
    def __getitem__(self, i: slice) -> Self: ...

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, str):
            return self._column(i)
        if isinstance(i, slice):
            return self._slice(i)
        return self._one(nth(self._item, i, len(self)))

    def _one(self, i: int) -> Item:
        """State at row i."""
        raise NotImplementedError

    def _slice(self, i: slice) -> Self:
        return self._some(np.arange(len(self))[i])

    def _some(self, i: np.ndarray) -> Self:
        """The states at rows i (m,)."""
        raise NotImplementedError

    def _column(self, name: str) -> Array:
        """A variable in all rows, shape (m,)."""
        raise NotImplementedError

    def _batch(self, t: Any = None) -> Batch:
        """The states at the rows, or at times t."""
        raise NotImplementedError

    def _blocks(self) -> list[Block]:
        """Blocks for a notebook: the table, then other blocks that are not empty."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        table, *others = self._blocks()
        return page(repr(self), table, *(block for block in others if block.rows))

    def movie(self, path: str | Path, **options: object) -> Path:
        """Write a movie, .mp4, .gif or numbered .png, without a screen: see `cd.movie`."""
        # the viewer imports this file
        return importlib.import_module("condyle.viewer").movie(self, path, **options)  # type: ignore[no-any-return]

    def to_pandas(self) -> DataFrame:
        """The table as a pandas DataFrame over time."""
        return self.table().to_pandas()

    def _named(self, name: str) -> str:
        if name in recorded(self.system)[0]:
            return f"{self.called}[{name!r}]"
        path = in_group(name)
        return f"{self.called}.{path}" if path else ""


def states_method(record: OperatorRecord) -> Callable[..., Any]:
    """The operator as a method of States."""
    name, method = record.name, METHODS[record.name]
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    times = inspect.Parameter("t", inspect.Parameter.KEYWORD_ONLY, default=None)
    signature = inspect.signature(method).replace(parameters=[this, *asked(record), times])
    if record.columns is not None:
        signature = signature.replace(return_annotation="Table")
    known = [*signature.parameters][1:]

    def call(self: States, *arguments: Any, t: Any = None, **named: Any) -> Any:
        for argument in named:
            if argument not in known:
                raise UnknownNameError(
                    f"argument of {type(self).__name__}.{name}()",
                    argument,
                    known,
                    "parameters, inputs and the like are those of the run",
                )
        check_call(f"{type(self).__name__}.{name}", signature, (self, *arguments), named, None, skip=1)
        batch = self._batch(t)
        given = signature.bind(self, *arguments, **named).arguments
        if "udot" in known and given.get("udot") is None:
            named, arguments = named | {"udot": batch.array("udot")}, ()
        return batch.shown(name, batch.ask(name, arguments, named), given)

    gives = "A Table over the rows" if record.columns is not None else "Not a Table: the rows come first"
    call.__name__, call.__qualname__ = name.rpartition(".")[2], f"States.{name}"
    call.__doc__ = (
        f"{vars(method)['summary']}\n\n{gives}, or over the times t [s], shape (m,), if they are given."
    )
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def publish(record: OperatorRecord, method: Callable[..., Any]) -> None:
    """Publish an operator from its record and its public method: a method of System, State and States."""
    OPERATORS[record.name] = record
    setattr(System, record.name, operator(method))
    attach(State, record, state_method(record))
    attach(States, record, states_method(record))


for _record in OPERATORS.values():
    if _record.public and _record.name != "qdot":  # as in State, qdot is an attribute
        attach(States, _record, states_method(_record))
