"""`cd.compare`: the same task with several models or methods, as one Table, so that a choice is a
measurement."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from condyle.arguments import with_call_hints
from condyle.errors import CondyleError, DescriptionError, UnknownNameError, check_name
from condyle.integrate.ensemble import Ensemble
from condyle.integrate.trajectory import Trajectory
from condyle.presentation import Block, number
from condyle.status import Status
from condyle.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

T = TypeVar("T")

Measured = float | Mapping[str, float] | Trajectory | tuple[Trajectory, float | Mapping[str, float]]
"""Results of a measure: a number, numbers by name, a run, or a run and numbers."""


@with_call_hints()
def compare(
    alternatives: Mapping[str, T],
    measure: Callable[[T], Measured],
    *,
    reference: str | None = None,
    repeat: int = 3,
) -> Comparison:
    """The same task with several models, integrators, accuracies, contact laws or tendon models: the results
    of each, whether it finished, and its time.

        runs = {a: {"accuracy": a} for a in (1e-3, 1e-6, 1e-9)}
        cd.compare(runs, lambda options: cd.simulate(system, state, 2.0, **options))

    Args:
        alternatives: names, and arguments of the measure: a System, options of a study, anything.
        measure: does the task with one of them, and returns a number, numbers by name, a run
            (`cd.simulate`), or a run and numbers for the comparison; for a run alone, the variables at its
            end.
        reference: the alternative that counts as true; by default the last one.
        repeat: number of calls of each, after a first one that compiles; the shortest counts.

    Returns:
        A Table with a row for each alternative, see `Comparison`. Its columns: what was measured; NAME error,
        the difference from the reference; and of runs steps, rejections, evaluations and the largest change
        of total energy (J), which shows the stability of a run without dissipation; finished, 1 if it
        came to its end; first, and again, processor time of the first call, which compiles, and of later ones
        (s).
    """
    if not isinstance(alternatives, Mapping) or not alternatives:
        raise DescriptionError(
            "compare: alternatives: expected a mapping from names to arguments of the measure, got "
            f"{alternatives!r}"
        )
    if not callable(measure):
        raise DescriptionError(f"compare: measure: expected a function of an alternative, got {measure!r}")
    if not isinstance(repeat, int) or repeat < 0:
        raise DescriptionError(f"compare: repeat: expected a whole number, got {repeat!r}")
    names = [str(name) for name in alternatives]
    if reference is not None and str(reference) not in names:
        raise UnknownNameError("alternative", str(reference), names)
    rows, failures = [], {}
    for name, alternative in zip(names, alternatives.values(), strict=True):
        try:
            rows.append(_row(measure, alternative, repeat))
        except CondyleError as error:
            rows.append(({}, {"finished": 0.0}))
            failures[name] = str(error)
        except Exception as error:
            error.add_note(f"compare called the measure with the alternative {name!r}.")
            raise
    if len(failures) == len(names):
        raise DescriptionError(f"compare: every alternative fails; {names[0]!r}: {failures[names[0]]}")
    true = rows[names.index(str(reference)) if reference is not None else -1][0]
    found: dict[str, list[float]] = {}
    values = list(dict.fromkeys(k for own, _ in rows for k in own))
    for key in values:
        found[key] = [own.get(key, np.nan) for own, _ in rows]
        found[f"{key} error"] = [own.get(key, np.nan) - true.get(key, np.nan) for own, _ in rows]
    for key in dict.fromkeys(k for _, own in rows for k in own):
        if key in found:
            raise DescriptionError(
                f"compare: the measure gives a number {key!r}, which is the name of a column on the cost of runs; choose another name"
            )
        found[key] = [own.get(key, np.nan) for _, own in rows]
    units = [{"first": "s", "again": "s", "energy change": "J"}.get(key, "") for key in found]
    table = np.array(list(found.values())).T
    return Comparison(names, failures, np.arange(len(names)), list(found), table, units, over="member")


def _row(measure: Callable[[T], Measured], alternative: T, repeat: int) -> tuple[dict[str, float], Any]:
    """The measured numbers, and their cost."""
    times = []
    for _ in range(1 + repeat):
        start = time.process_time()
        result = measure(alternative)
        times.append(time.process_time() - start)
    run, numbers = result if isinstance(result, tuple) else (result, None)
    if isinstance(run, Ensemble):
        raise DescriptionError("compare: the measure gives an Ensemble; return numbers of it by name")
    took: dict[str, float] = {"finished": 1.0}
    if isinstance(run, Trajectory):
        kinetic, potential = run.energy().values.T
        E, s = kinetic + potential, run.statistics
        took = {"finished": float(run.status in (Status.FINISHED, Status.EVENT))}
        took |= {"steps": s.steps, "rejections": s.rejections, "evaluations": s.evaluations}
        took["energy change"] = float(np.abs(E - E[0]).max())
        if numbers is None:
            numbers = dict(zip(run.table().names, run.table().values[-1], strict=True))
    elif numbers is None:
        numbers = run  # type: ignore[assignment]
    try:
        given: Any = numbers if isinstance(numbers, Mapping) else {"value": numbers}
        own = {str(k): float(v) for k, v in given.items()}
    except (TypeError, ValueError):
        raise DescriptionError(
            "compare: the measure gives a number, numbers by name, a run, or a run and numbers; got "
            f"{result!r}"
        ) from None
    return own, took | {"first": times[0], "again": min(times[1:], default=np.nan)}


class Comparison(Table):
    """Results and cost of alternatives, a row for each.

    Attributes:
        alternatives: their names, in the order of the rows.
        failures: those that raised an error, with its text; their rows are NaN.
    """

    def __init__(
        self, alternatives: list[str], failures: dict[str, str], *arguments: Any, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.alternatives, self.failures = tuple(alternatives), failures

    @property
    def _rows(self) -> Block:
        rows = [[name, *map(number, own)] for name, own in zip(self.alternatives, self.values, strict=True)]
        return Block("", ["alternative", *self.titles], rows)

    def to_pandas(self) -> DataFrame:
        """A pandas DataFrame with a row for each alternative, by name."""
        frame = super().to_pandas()
        frame.index = frame.index.__class__(self.alternatives, dtype=object, name="alternative")
        return frame

    def row(self, alternative: str) -> dict[str, float]:
        """The numbers of one alternative, by column."""
        check_name("alternative", alternative, self.alternatives)
        return dict(zip(self.names, self.values[self.alternatives.index(alternative)].tolist(), strict=True))
