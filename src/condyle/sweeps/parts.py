"""Results of some members as numbers and arrays, which are sent and stored without pickles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from condyle.errors import DescriptionError
from condyle.integrate.trajectory import Trajectory
from condyle.records import dataclass
from condyle.sweeps.summary import Node, Numbers, packed, unpacked
from condyle.table import Table

Value = float | str | np.ndarray | Table
Result = Value | dict[str, Value]
VALUE = "value"
"""The name of a result that is not a dict."""
_TABLE = ("time", "names", "values", "units", "over", "status")


@dataclass
class Part:
    """Results of some members.

    Attributes:
        index: members that finished, shape (k,).
        numbers: their numbers, {name: (k,)}; NaN where a member lacks that name.
        arrays: all other results of each, in the order of `index`.
        failures: {member: reason} of the others.
        attempts: {member: number of attempts} of these.
        single: whether a result is one value, not a dict.
        nodes: summaries instead of results (see condyle.sweeps.summary).
    """

    index: np.ndarray
    numbers: dict[str, np.ndarray] = field(default_factory=dict)
    arrays: list[dict[str, np.ndarray]] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    single: bool = False
    nodes: dict[Node, dict[str, Numbers]] = field(default_factory=dict)

    def packed(self) -> dict[str, np.ndarray]:
        """The part as arrays for one .npz file; results with the same shape in all members form one array."""
        out = {"index": self.index, "single": np.array(self.single)}
        out |= {f"n/{name}": values for name, values in self.numbers.items()} | packed(self.nodes)
        for name in {name: None for each in self.arrays for name in each}:
            values = [each.get(name) for each in self.arrays]
            kinds = {(v.shape, v.dtype.str) if v is not None else None for v in values}
            if len(kinds) == 1:
                out[f"a/{name}"] = np.stack([v for v in values if v is not None])
            else:
                out |= {f"m/{k}/{name}": v for k, v in enumerate(values) if v is not None}
        if self.failures:
            out["failed"] = np.array(list(self.failures), dtype=np.int64)
            out["reasons"] = np.array(list(self.failures.values()), dtype=str)
            out["attempts"] = np.array([self.attempts.get(i, 1) for i in self.failures], dtype=np.int64)
        return out

    @staticmethod
    def unpacked(found: Mapping[str, np.ndarray], arrays: bool = True) -> Part:
        """The part from such arrays; optionally without its arrays, which may be large."""
        part = Part(found["index"], single=bool(found["single"]))
        part.arrays = [{} for _ in part.index]
        part.nodes = unpacked(found)
        for key in found:
            kind, _, name = key.partition("/")
            if kind == "n":
                part.numbers[name] = found[key]
            elif kind == "a" and arrays:
                for each, value in zip(part.arrays, found[key], strict=True):
                    each[name] = np.asarray(value)
            elif kind == "m" and arrays:
                k, _, name = name.partition("/")
                part.arrays[int(k)][name] = found[key]
        if "failed" in found:
            failed = found["failed"].tolist()
            part.failures = dict(zip(failed, found["reasons"].tolist(), strict=True))
            part.attempts = dict(zip(failed, found["attempts"].tolist(), strict=True))
        return part

    def result(self, k: int) -> Result:
        """Result of the member at index k."""
        out: dict[str, Any] = {
            name: float(values[k]) for name, values in self.numbers.items() if not np.isnan(values[k])
        }
        missing = [name for name, values in self.numbers.items() if np.isnan(values[k])]
        out |= dict.fromkeys(missing, float("nan"))
        tables: dict[str, dict[str, np.ndarray]] = {}
        for name, value in self.arrays[k].items():
            head, bar, tail = name.partition("|")
            if bar:
                tables.setdefault(head, {})[tail] = value
            else:
                out[name] = str(value) if value.dtype.kind == "U" and not value.ndim else value
        for name, t in tables.items():
            out[name] = Table(
                t["time"],
                t["names"].tolist(),
                t["values"],
                t["units"].tolist(),
                over=str(t["over"]),
                status=str(t["status"]),
            )
        return out[VALUE] if self.single else out


def joined(parts: Sequence[Part]) -> Part:
    """Several parts as one."""
    index = np.concatenate([part.index for part in parts])
    names = {name: None for part in parts for name in part.numbers}
    numbers = {
        name: np.concatenate([part.numbers.get(name, np.full(len(part.index), np.nan)) for part in parts])
        for name in names
    }
    out = Part(index, numbers, [each for part in parts for each in part.arrays])
    out.single = any(part.single for part in parts)
    for part in parts:
        out.failures |= part.failures
        out.attempts |= part.attempts
        out.nodes |= part.nodes
    return out


def of_results(index: Sequence[int], results: Sequence[Any]) -> Part:
    """The part from results of some members.

    Raises:
        DescriptionError: a result that is not a number, text, array, Table, Trajectory or a dict of these.
    """
    found = [encoded(result) for result in results]
    names = {name: None for numbers, _ in found for name in numbers}
    numbers = {name: np.array([each.get(name, np.nan) for each, _ in found]) for name in names}
    single = bool(results) and not isinstance(results[0], Mapping)
    return Part(np.array(index, dtype=np.int64), numbers, [arrays for _, arrays in found], single=single)


def encoded(result: Any) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Numbers and arrays of one result."""
    numbers: dict[str, float] = {}
    arrays: dict[str, np.ndarray] = {}
    for name, value in (result if isinstance(result, Mapping) else {VALUE: result}).items():
        if not isinstance(name, str) or not name or set("/|") & set(name):
            raise DescriptionError(f"sweep: a result's name is text without / and |, got {name!r}")
        if isinstance(value, Trajectory):
            value = value.table()
        if isinstance(value, Table):
            for key in _TABLE:
                arrays[f"{name}|{key}"] = np.array(getattr(value, key))
            continue
        array = np.asarray(value)
        if array.dtype.kind not in "biufcU":
            raise DescriptionError(
                f"sweep: the result {name!r} is of type {type(value).__name__}: expected a number, a text, an "
                "array, a Table, a Trajectory, or a dict of these by name"
            )
        if array.ndim or array.dtype.kind in "cU":
            arrays[name] = array
        else:
            numbers[name] = float(array)
    return numbers, arrays
