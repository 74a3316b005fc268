"""Public signatures say exact types: no `Any`, neither written nor behind an alias."""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any, get_args, get_origin

import numpy as np

import condyle as cd


class _Unknown:
    """Stands for a name that only type checkers load."""

    def __init__(self, *arguments: object, **named: object) -> None:
        pass

    def __class_getitem__(cls, item: object) -> type:
        return cls


class _Names(dict[str, object]):
    """What the names in an annotation mean in a module."""

    def __init__(self, module: str) -> None:
        super().__init__()
        self.module = vars(sys.modules[module])

    def __missing__(self, name: str) -> object:
        if name.startswith("__"):  # pytest looks for such names in a frame that failed
            raise KeyError(name)
        found = self.module.get(name, getattr(builtins, name, _Unknown))
        return _Unknown if isinstance(found, str) else found


def _has_any(annotation: object) -> bool:
    """Whether Any is in a type; NumPy's own aliases count as exact."""
    if annotation is Any:
        return True
    origin = get_origin(annotation) or annotation
    if origin in (np.ndarray, np.dtype) or getattr(origin, "__module__", "").startswith("numpy"):
        return False
    parts = [p for a in get_args(annotation) for p in (a if isinstance(a, list) else [a])]
    return any(map(_has_any, parts))


def _meant(annotation: object, module: str) -> object:
    return eval(annotation, {}, _Names(module)) if isinstance(annotation, str) else annotation


def _annotations(function: Callable[..., object]) -> Mapping[str, object]:
    """Of the arguments and of what it returns."""
    signature = inspect.signature(function)
    return {p.name: p.annotation for p in signature.parameters.values()} | {
        "return": signature.return_annotation
    }


def _methods(cls: type) -> Iterator[Callable[..., object]]:
    """Public methods and properties of a class, as functions, where Condyle defines them."""
    for name in dir(cls):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(cls, name)
        for attribute in ("fget", "func", "__func__"):
            member = getattr(member, attribute, None) or member
        if inspect.isfunction(member) and member.__module__.startswith("condyle"):
            yield member


def _home(field: str, cls: type) -> str:
    """The module of the class that annotates a field of a dataclass."""
    owners = [c for c in cls.__mro__ if field in vars(c).get("__annotations__", {})]
    return (owners or [cls])[0].__module__


def _callables() -> Iterator[tuple[str, type | None, Callable[..., object]]]:
    """Name, class of a constructor, and function: of each public function, class and method."""
    modules = {name: getattr(cd, name) for name in cd.__all__ if inspect.ismodule(getattr(cd, name))}
    found = {f"cd.{name}": getattr(cd, name) for name in cd.__all__ if name not in modules}
    found |= {name: getattr(import_module(f"condyle.{home}"), name) for name, home in cd._MOVED.items()}
    for room, module in modules.items():
        found |= {f"cd.{room}.{name}": getattr(module, name) for name in module.__all__}
    for name, thing in found.items():
        if not getattr(thing, "__module__", "").startswith("condyle"):
            continue
        if inspect.isclass(thing):
            if inspect.isfunction(thing.__init__):
                yield name, thing, thing.__init__
            for method in _methods(thing):
                yield method.__qualname__, None, method
        elif inspect.isfunction(thing):
            yield name, None, thing


_TWO_TYPES = {
    "cd.Coupled": ("functions",),
    "cd.Pin": ("axis",),
    "cd.Screw": ("axis",),
    "cd.Slider": ("axis",),
    "cd.SplineCurve": ("frames", "knots", "domain", "metric"),
    "cd.contact.HeightField": ("x", "y", "heights"),
    "cd.forces.Gravity": ("excluded",),
    "cd.paths.FunctionPath": ("function", "coordinates"),
    "cd.paths.MovingPoint": ("p", "coordinate", "range"),
    "cd.paths.Path": ("points",),
}
"""Fields still to be typed: they take more than they keep, and a field of a dataclass has one type for both.
So do those of type BodyName, which take a body or its name and keep the name. Nothing may be added here."""


def test_no_any_in_public_signatures() -> None:
    bad: dict[str, None] = {}
    left = {(name, field) for name, fields in _TWO_TYPES.items() for field in fields}
    found: set[tuple[str, str]] = set()
    for name, cls, function in _callables():
        made = cls is not None and is_dataclass(cls) and function.__annotations__.get("return", 0) is None
        for argument, annotation in _annotations(function).items():
            module = _home(argument, cls) if cls and made else function.__module__
            if annotation == "BodyName" or not _has_any(_meant(annotation, module)):
                continue
            found.add((name, argument))
            if (name, argument) not in left:
                bad[f"{name}: {argument}: {annotation}"] = None
    assert not bad, f"{len(bad)} with Any:\n" + "\n".join(bad)
    assert found == left, f"typed now, take it off the list: {left - found}"
