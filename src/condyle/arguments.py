"""Errors of wrong calls: which argument is unknown or missing, its name here, and the known ones."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from condyle.errors import ArgumentError
from condyle.loading import collector_paused, import_lines

F = TypeVar("F", bound=Callable[..., Any])

SAME: tuple[frozenset[str], ...] = tuple(
    map(
        frozenset,
        (
            ("rest", "rest_length"),
            ("damping", "dissipation", "viscosity", "c"),
            ("stiffness", "k"),
            ("coordinate", "speed", "name"),
            ("a", "body", "body_a", "body1"),
            ("b", "body_b", "body2"),
            ("station", "point", "location"),
            ("p_a", "point_a", "station_a"),
            ("p_b", "point_b", "station_b"),
            ("axis", "direction"),
            ("mobilizer", "joint"),
            ("com", "mass_center", "center_of_mass"),
            ("coordinates", "names"),
            ("value", "default"),
            ("position", "target", "q"),
            ("velocity", "u"),
            ("acceleration", "udot", "g", "gravity"),
            ("x", "times"),
            ("y", "values"),
            ("degree", "order"),
            ("closed", "periodic", "loop"),
            ("time", "t"),
            ("range", "limits", "bounds"),
            ("at", "station"),
            ("R", "rotation"),
            ("p", "translation"),
            ("accuracy", "tol", "tolerance"),
            ("max_isometric_force", "fmax", "f_max", "F_max", "F_0", "F0"),
            ("optimal_fiber_length", "l_0", "l0", "lopt"),
            ("tendon_slack_length", "l_S", "lts", "slack_length"),
            ("pennation_angle", "pennation_angle_at_optimal", "pennation", "alpha_0"),
            ("tendon", "rigid_tendon", "ignore_tendon_compliance"),
            ("fiber_damping", "beta", "damping"),
            ("max_contraction_velocity", "v_max", "vmax"),
            ("activation_dynamics", "ignore_activation_dynamics"),
        ),
    )
)
"""Synonyms of argument names: the valid one is suggested."""


def with_call_hints(
    hints: Mapping[str, str] | None = None, skip: int = 0, name: str = ""
) -> Callable[[F], F]:
    """A function whose wrong calls raise ArgumentError.

    Args:
        hints: messages for arguments that it does not have. skip: number of leading arguments not given by
            the user: 1 for a method.
        name: in messages; the function's own by default.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            try:
                return function(*arguments, **named)
            except TypeError:
                check_call(
                    name or function.__name__, inspect.signature(function), arguments, named, hints, skip
                )
                raise

        return call  # type: ignore[return-value]

    return decorate


class ExplainsCalls:
    """Base of classes whose wrong calls raise ArgumentError, with no more than the class itself.

    Attributes:
        call_hints: messages for arguments that the class does not have, by name. other_names: its names in
            other programs, for suggestions in errors.
    """

    __slots__ = ()

    call_hints: ClassVar[Mapping[str, str]] = {}
    other_names: ClassVar[tuple[str, ...]] = ()

    if not TYPE_CHECKING:

        def __new__(cls, *arguments: Any, **named: Any) -> Any:
            # The first object of a class wraps its __init__: decorators such as dataclass have made it by then.
            if "_explains_calls" not in cls.__dict__:
                cls.__init__ = with_call_hints(cls.call_hints, skip=1, name=cls.__name__)(cls.__init__)
                cls._explains_calls = True
            return super().__new__(cls)


def check_call(
    name: str,
    signature: inspect.Signature,
    arguments: tuple[Any, ...],
    named: Mapping[str, Any],
    hints: Mapping[str, str] | None,
    skip: int = 0,
) -> None:
    """Raise ArgumentError if the arguments do not fit the signature, without its first `skip`."""
    try:
        signature.bind(*arguments, **named)
        return
    except TypeError as error:
        reason = str(error)
    own = list(signature.parameters.values())[skip:]
    call = f"{name}({', '.join(_text(p) for p in own)})"
    known = [p.name for p in own if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    for key in named:
        if key not in known:
            hint = (hints or {}).get(american(key)) or (hints or {}).get(key) or _near(key, known)
            end = f"; {hint}" if hint.endswith("?") else f"; {hint}." if hint else "."
            raise ArgumentError(f"{name}: there is no argument {key}={end} It is {call}") from None
    by_name = [f"{p.name}=" for p in own if p.kind is p.KEYWORD_ONLY]
    if by_name and reason == "too many positional arguments":
        reason += f"; {', '.join(by_name)} must be given by name"
    raise ArgumentError(f"{name}: {reason}. It is {call}") from None


def other_names(module: Mapping[str, Any]) -> dict[str, str]:
    """Names of a module's classes in other programs, from its globals."""
    out: dict[str, str] = {}
    for name, value in module.items():
        for other in vars(value).get("other_names", ()) if isinstance(value, type) else ():
            out[other] = f"{out[other]} or {name}" if other in out else name
    return out


def family(
    package: str, elsewhere: Mapping[str, str] | None = None
) -> tuple[list[str], Callable[[str], object]]:
    """The public names of a package, and its `__getattr__`, which loads modules on first use (PEP 562). Names
    are the package's lines `from module import Name as Name`, which editors and type checkers read;
    `dir(package)` lists them too, for notebooks.

    Args:
        package: its `__name__`.
        elsewhere: hints for names that it does not have.
    """
    homes = import_lines(package, "__init__.py")
    names = sorted(homes)

    def __getattr__(name: str) -> object:
        if name in homes:
            module, attribute = homes[name]
            with collector_paused():
                found = getattr(import_module(module), attribute)
            setattr(sys.modules[package], name, found)
            return found
        if name.startswith("_"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if find_spec(f"{package}.{name}"):
            return import_module(f"{package}.{name}")
        others = other_names({known: __getattr__(known) for known in names})
        raise missing(package.replace("condyle", "cd"), name, names, {**others, **(elsewhere or {})})

    vars(sys.modules[package])["__dir__"] = lambda: names
    return names, __getattr__


def missing(module: str, name: str, known: Iterable[str], elsewhere: Mapping[str, str]) -> AttributeError:
    """The error for a missing name of a module.

    Args:
        module: its public name.
        known: its public names.
        elsewhere: hints for names that it does not have.
    """
    known, spelled = list(known), american(name)
    if name in elsewhere:
        hint = f"; it is {elsewhere[name]}"
    elif spelled in elsewhere or (spelled != name and spelled in known):
        hint = f"; it is {elsewhere.get(spelled, spelled)}"
    else:
        near = difflib.get_close_matches(spelled, known, n=3, cutoff=0.6)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return AttributeError(f"{module} has no {name!r}{hint}")


def american(name: str) -> str:
    """The American spelling of a name."""
    name = re.sub(r"(?i)(cent|fib)re(?=s?(_|$))", r"\1er", name)
    name = re.sub(r"(?i)(col|behavi)our", r"\1or", name)
    name = re.sub(r"(?i)(?<=gr)ey(?=_|$)", "ay", name)
    return re.sub(r"(?i)(?<=[iy])s(?=(e|es|ed|ing|ation|ations)(_|$))", "z", name)


def _near(key: str, known: list[str]) -> str:
    key = american(key)
    same = [n for n in known if any(key in group and n in group for group in SAME)]
    near = same or difflib.get_close_matches(key, known, n=2, cutoff=0.6)
    return f"did you mean {' or '.join(f'{n}=' for n in near)}?" if near else ""


def _text(p: inspect.Parameter) -> str:
    stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
    return f"{stars}{p.name}" if p.default is p.empty else f"{p.name}={_short(p.default)}"


def _short(value: Any) -> str:
    text = repr(value)
    return "..." if len(text) > 40 or "<" in text else text
