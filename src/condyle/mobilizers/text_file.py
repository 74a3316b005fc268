"""Mobilizers as text: a readable file that reads back as an equal mobilizer.

    {"condyle mobilizer": 1,
     "units": "m, rad; coordinates as stated",
     "coordinates": {"knee": "rad"},
     "mobilizer": {"class": "SplineCurve", "order": 4, ..., "frames": {"Transforms": [{"R": ..., "p": ...},
     ...]}}}

"class" names a mobilizer or a function of `cd.functions`; the rest are the arguments of its constructor. All
digits of a number are written. Python functions cannot be written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

import condyle.files as files
import condyle.functions as functions
from condyle.errors import CondyleError, DescriptionError, check_name
from condyle.functions import Function
from condyle.mobilizers.base import Mobilizer, Reversed
from condyle.mobilizers.combined import Composition, ScaledMobilizer
from condyle.spatial import Metric, Transform
from condyle.trace import Symbol, Traced
from condyle.trace.parameter import Parameter

KEY, VERSION = "condyle mobilizer", 1
UNITS = "m, rad; coordinates as stated"
WIDTH = 100
"""Maximum columns of a line, if it can be broken."""
REMEDY = (
    "use a function of Condyle (cd.Spline, cd.functions.Polynomial, ...), or keep the mobilizer in "
    "Python code or as a pickle"
)
LEFT_OUT = {"FunctionBased": ("laws",), "Coupled": ("laws",)}
"""Fields that follow from others."""


def classes() -> dict[str, type]:
    """Classes that a file may contain: built-in mobilizers that are data, and functions."""
    from condyle import mobilizers

    known: list[Any] = [getattr(mobilizers, name) for name in mobilizers.__all__]
    joints = [
        c
        for c in known
        if hasattr(c, "__dataclass_fields__") and c.__name__ != "Custom" and issubclass(c, Mobilizer)
    ]
    curves = [getattr(functions, name) for name in functions.__all__ if name != "Function"]
    return {c.__name__: c for c in (*joints, Reversed, ScaledMobilizer, Composition, *curves)}


def save(mobilizer: Mobilizer, path: str | Path) -> None:
    """See Mobilizer.save."""
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"save: expected the path of a file, such as 'knee.json', got {path!r}")
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise DescriptionError(f"save: {path.name!r}: the name must end in .json")
    files.check_target(path, "save")
    text = as_text(mobilizer)
    with files.atomic_write(path, "w", newline="\n", encoding="utf-8") as file:
        file.write(text)


def read_mobilizer(path: str | Path) -> Mobilizer:
    """Read a mobilizer from a file written by `mobilizer.save`; it is equal to the saved one.

    Args:
        path: the file.

    Raises:
        DescriptionError: a truncated or foreign file, or invalid numbers.
        FileNotFoundError: no such file.
    """
    if not isinstance(path, (str, Path)):
        raise DescriptionError(f"read_mobilizer: expected the path of a file, got {path!r}")
    path = Path(path)
    return of_text(path.read_text(encoding="utf-8-sig", errors="replace"), path.name)


def as_text(mobilizer: Mobilizer) -> str:
    """The text of a mobilizer.

    Raises:
        DescriptionError: it cannot be written; the message names the part and the remedy.
    """
    document = {
        KEY: VERSION,
        "units": UNITS,
        "coordinates": dict(zip(mobilizer.coordinate_names, mobilizer.units, strict=True)),
        "mobilizer": _written(mobilizer, type(mobilizer).__name__),
    }
    text = _formatted(document) + "\n"
    if of_text(text, "save") != mobilizer:
        raise DescriptionError(
            f"save: {mobilizer!r} would not read back to an equal mobilizer; pickle it instead"
        )
    return text


def of_text(text: str, name: str) -> Mobilizer:
    """The mobilizer of a text.

    Args:
        name: of the file, for messages.
    """

    def refuse(constant: str) -> Any:
        raise DescriptionError(f"{name}: it has the number {constant}; all numbers must be finite")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise DescriptionError(f"{name}: {twice[0]!r} occurs twice in one place")
        return dict(pairs)

    try:
        document = json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise DescriptionError(
            f"{name}: line {error.lineno}, column {error.colno}: {error.msg}: the file is "
            "cut off or damaged; mobilizer.save writes it again"
        ) from None
    if not isinstance(document, dict) or KEY not in document:
        raise DescriptionError(f"{name}: it has no entry {KEY!r}: mobilizer.save did not write it")
    if document[KEY] != VERSION:
        raise DescriptionError(
            f"{name}: it is of version {document[KEY]!r}, this Condyle reads version "
            f"{VERSION}; use the Condyle that wrote it, or a newer one"
        )
    if "mobilizer" not in document:
        raise DescriptionError(f"{name}: it has no entry 'mobilizer'; mobilizer.save writes it")
    found = _read(document["mobilizer"], f"{name}: mobilizer")
    if not isinstance(found, Mobilizer):
        raise DescriptionError(f"{name}: mobilizer: expected a joint such as SplineCurve, got {found!r}")
    return found


# ---- Writing -----------------------------------------------------------------------------------------------


def _written(value: Any, where: str) -> Any:
    """A value as JSON data."""
    match value:
        case None | bool() | str():
            return value
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            if math.isinf(value) and ".domain[" in where:
                # a domain may be infinite, and JSON has no infinity
                return str(value)
            if not math.isfinite(value):
                raise DescriptionError(f"save: {where} is {value}; all numbers of a mobilizer are finite")
            return float(value)
        case np.ndarray():
            return _written(value.tolist(), where)
        case tuple() | list():
            return [_written(x, f"{where}[{k}]") for k, x in enumerate(value)]
        case Transform():
            one = lambda R, p: {"R": _written(R, f"{where}.R"), "p": _written(p, f"{where}.p")}
            return (
                one(*value)
                if value.p.ndim == 1
                else {"Transforms": [one(*X) for X in zip(*value, strict=True)]}
            )
        case Metric():
            return {"Metric": _written(value.matrix, where)}
        case Parameter():
            return {"Parameter": value.name, "default": value.default}
        case Traced():
            raise DescriptionError(
                f"save: {where} is a Python function of {', '.join(value.names)}, which "
                f"cannot be written as text; {REMEDY}"
            )
        case Symbol():
            raise DescriptionError(
                f"save: {where} is computed from Parameters, {value!r}, and cannot be "
                "written; give a Parameter itself, or a number"
            )
        case Mobilizer() | Function():
            return {"class": type(value).__name__} | {
                name: _written(x, f"{where}.{name}") for name, x in _arguments(value, where).items()
            }
    what = (
        f"the Python function {getattr(value, '__qualname__', value)!r}" if callable(value) else repr(value)
    )
    raise DescriptionError(f"save: {where} is {what}, which cannot be written as text; {REMEDY}")


def _arguments(value: Any, where: str) -> dict[str, Any]:
    """Arguments that make an equal one."""
    kind: Any = type(value)
    name = kind.__name__
    if classes().get(name) is not kind:
        own = "has a pose that is a Python function" if name == "Custom" else "is a class of your own"
        raise DescriptionError(
            f"save: {where}: {name} {own} and cannot be written as text; keep it in "
            "Python code, or as a pickle"
        )
    if name in ("FunctionBased", "Coupled"):
        functions_ = value.functions if name == "Coupled" else (*value.angles, *value.translations)
        for k, (given, law) in enumerate(zip(functions_, value.laws, strict=True)):
            if given is None and law is not None:
                label = (
                    f"functions[{k}]"
                    if name == "Coupled"
                    else f"angles[{k}]"
                    if k < 3
                    else f"translations[{k - 3}]"
                )
                raise DescriptionError(
                    f"save: {where}.{label}: this joint was unpickled, and its functions "
                    "are known as traced code only; save it before it is pickled"
                )
    if name == "SplineSurface":
        names = value.coordinate_names if value.named_by_user else None
        modes = [(mode.values, mode.law or mode.amplitude) for mode in value.modes]
        return {
            key: getattr(value, key) for key in ("order", "axes", "X", "closed", "knots", "values", "units")
        } | {"modes": modes, "coordinates": names}
    left = LEFT_OUT.get(name, ())
    return {f.name: getattr(value, f.name) for f in fields(value) if f.init and f.name not in left}


def _formatted(value: Any, indent: int = 0) -> str:
    """JSON with short things on one line."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(line) + indent <= WIDTH or not isinstance(value, (dict, list)):
        return line
    pad = " " * (indent + 1)
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {_formatted(x, indent + 1)}" for key, x in value.items()
        ]
        return "{\n" + ",\n".join(pad + part for part in parts) + "}"
    if any(isinstance(x, (dict, list)) for x in value):
        return "[\n" + ",\n".join(pad + _formatted(x, indent + 1) for x in value) + "]"
    lines: list[str] = []
    now = ""
    for k, x in enumerate(value):
        item = json.dumps(x, ensure_ascii=False) + ("," if k + 1 < len(value) else "]")
        if now and len(pad) + len(now) + len(item) + 1 > WIDTH:
            lines, now = [*lines, now], item
        else:
            now = f"{now} {item}" if now else item
    return "[\n" + "\n".join(pad + text for text in (*lines, now))


# ---- Reading -----------------------------------------------------------------------------------------------


def _read(value: Any, where: str) -> Any:
    """What was written."""
    if isinstance(value, list):
        return tuple(_read(x, f"{where}[{k}]") for k, x in enumerate(value))
    if not isinstance(value, Mapping):
        return value
    if "class" in value:
        return _made(dict(value), where)
    keys = set(value)
    try:
        if keys == {"R", "p"}:
            return Transform(_numbers(value["R"]), _numbers(value["p"]), what=where)
        if keys == {"Transforms"}:
            R, p = (_numbers([X[key] for X in value["Transforms"]]) for key in ("R", "p"))
            return Transform(R, p, what=where)
        if keys == {"Metric"}:
            return Metric(_numbers(value["Metric"]), what=where)
        if keys == {"Parameter", "default"}:
            return Parameter(value["Parameter"], value["default"])
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, CondyleError):
            raise
        raise DescriptionError(f"{where}: its numbers are not as they were written: {error}") from None
    raise DescriptionError(
        f"{where}: expected a class, R and p, Transforms, a Metric or a Parameter, got "
        f"the entries {', '.join(map(repr, value))}"
    )


def _numbers(value: Any) -> np.ndarray:
    return np.array(value, dtype=float)


def _made(value: dict[str, Any], where: str) -> Any:
    name, known = value.pop("class"), classes()
    check_name("class", name, known, where)
    arguments = {key: _read(x, f"{where}.{key}") for key, x in value.items()}
    try:
        return known[name](**arguments)
    except CondyleError as error:
        raise DescriptionError(f"{where}: {error}") from None
    except TypeError as error:
        raise DescriptionError(f"{where}: {name}: {error}") from None
