"""Dataclasses made when they are first used are those of `dataclasses`."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import json
import pickle
import sys
import threading
from collections.abc import Hashable
from dataclasses import KW_ONLY, field, fields, is_dataclass, replace
from typing import Any, ClassVar

import pytest

from condyle.arguments import ExplainsCalls
from condyle.errors import ArgumentError
from condyle.records import _Later, dataclass
from tests.process import output

OPTIONS = [
    dict(zip(("repr", "eq", "frozen", "kw_only"), given, strict=True))
    for given in itertools.product((True, False), repeat=4)
]

# What can be seen of every dataclass of the package. Given "std", dataclasses' own decorator makes them.
EVERY = """
import dataclasses, importlib, inspect, json, pkgutil, re, sys
if "std" in sys.argv:
    import condyle.records
    condyle.records.dataclass = dataclasses.dataclass
import condyle
seen = {}
for info in pkgutil.walk_packages(condyle.__path__, "condyle."):
    if info.name in ("condyle.__main__", "condyle.jax", "condyle.torch"):  # the last two need their libraries
        continue
    module = importlib.import_module(info.name)
    for cls in vars(module).values():
        if isinstance(cls, type) and cls.__module__ == info.name and "__dataclass_fields__" in vars(cls):
            seen[f"{info.name}.{cls.__qualname__}"] = [
                str(inspect.signature(cls)), [repr(f) for f in dataclasses.fields(cls)],
                cls.__dataclass_params__.frozen, cls.__match_args__, cls.__hash__ is None,
                [getattr(cls, name) is getattr(object, name)
                 for name in ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__")]]
print(re.sub(r" at 0x\\w+", "", json.dumps(seen)))
"""


def test_every_class_of_the_package_is_what_dataclasses_makes():
    ours, theirs = (json.loads(output("-W", "ignore", "-c", EVERY, *given)) for given in ((), ("std",)))
    assert len(ours) > 400
    for name, seen in theirs.items():
        assert ours[name] == seen, name
    assert ours.keys() == theirs.keys()


def pair(**options: bool) -> tuple[Any, Any]:
    """The same class twice: made by us and by dataclasses."""

    def plain() -> type:
        class Thing:
            """Of every kind of field."""

            a: Any
            b: float = 2.0
            shared: ClassVar[int] = 7
            c: list[int] = field(default_factory=list, repr=False)
            d: int = field(default=4, compare=False)
            _: KW_ONLY
            e: str = "e"
            f: int = field(default=6, init=False)
            g: list[int] = field(default_factory=list, init=False, hash=False)

            def double(self) -> float:
                return 2 * self.b

        return Thing

    return dataclass(**options)(plain()), dataclasses.dataclass(**options)(plain())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_objects_are_those_of_dataclasses(options):
    ours, theirs = pair(**options)
    for mine, other in ((ours, theirs),):
        calls = [{"a": 1}, {"a": (1,), "b": 3.0, "c": [5], "d": 9, "e": "x"}]
        for given in calls:
            x, y = mine(**given), other(**given)
            assert vars(x) == vars(y)
            assert x.double() == y.double()
            assert x.c is not mine(**{**given, "c": [5]}).c
            if options["repr"]:
                assert repr(x) == repr(y)
            assert (x == mine(**given)) == (y == other(**given))
            assert (x == mine(**given | {"b": 8.0})) == (y == other(**given | {"b": 8.0})) is False
            assert (x != y) and (x != 3)
            assert isinstance(x, Hashable) == isinstance(y, Hashable)
            assert vars(replace(x, b=5.0)) == vars(replace(y, b=5.0))
            assert dataclasses.asdict(x) == dataclasses.asdict(y)
            for change in (
                lambda one: setattr(one, "b", 1.0),
                lambda one: delattr(one, "b"),
                lambda one: setattr(one, "new", 1.0),
            ):
                said = [type(_raised(change, one)) for one in (copy.copy(x), copy.copy(y))]
                assert said[0] is said[1]
    assert inspect.signature(ours) == inspect.signature(theirs).replace(
        parameters=[
            p.replace(default=inspect.signature(ours).parameters[n].default)
            if repr(p.default) == "<factory>"
            else p
            for n, p in inspect.signature(theirs).parameters.items()
        ]
    )
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    for wrong in ({}, {"a": 1, "f": 2}, {"a": 1, "z": 2}):
        assert str(_raised(lambda cls, wrong=wrong: cls(**wrong), ours)) == str(
            _raised(lambda cls, wrong=wrong: cls(**wrong), theirs)
        )
    assert ours.__match_args__ == theirs.__match_args__


def _raised(call: Any, one: Any) -> BaseException | None:
    try:
        call(one)
    except Exception as error:
        return error
    return None


def test_equal_hashes_of_equal_objects():
    @dataclass(frozen=True)
    class Key:
        one: tuple[int, ...]

    assert {Key((1, 2)): "x"}[Key((1, 2))] == "x"
    assert hash(Key((1,))) == hash(((1,),))  # as dataclasses computes it
    assert Key((1,)) != Key((2,))

    @dataclass
    class Open:
        one: int

    with pytest.raises(TypeError, match="unhashable type: 'Open'"):
        hash(Open(1))


def test_own_methods_stay():
    @dataclass(frozen=True)
    class Own:
        a: int

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (repr(Own(1)), Own(1) == 7, hash(Own(1))) == ("mine", True, 5)


@dataclass(frozen=True, eq=False)
class Base:
    a: int
    b: int = 2


@dataclass(frozen=True, eq=False)
class Derived(Base):
    c: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "b", -self.b)


@dataclass(frozen=True)
class Kept:
    """What is pickled."""

    a: int
    law: Any = field(init=False, default=None, repr=False, compare=False)
    late: list[int] = field(default_factory=list, repr=False, compare=False)


def test_subclasses():
    class Plain(Base):
        def __init__(self) -> None:
            super().__init__(5)

    assert vars(Plain()) == {"a": 5, "b": 2}  # the first use of Base

    @dataclasses.dataclass(frozen=True)
    class Users(Derived):
        d: int = 4

    assert [f.name for f in fields(Users)] == ["a", "b", "c", "d"]
    assert repr(Users(1)).endswith("Users(a=1, b=-2, c=3, d=4)")
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):
        dataclasses.dataclass(type("Thawed", (Derived,), {}))
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
        Derived(1).a = 3  # type: ignore[misc]


def test_an_object_of_a_class_that_was_not_called_here():
    """Objects from pickles have their defaults, compare and print before their class was ever called. A
    default was a Field: a run with an event that came from another process ended in a TypeError."""
    made = pickle.dumps(Kept(3))
    script = f"""
import pickle
one, two = pickle.loads({made!r}), pickle.loads({made!r})
print(one.law, hasattr(type(one), "late"))
print(type(vars(type(one))["__eq__"]).__name__, one == two, hash(one) == hash(two), one, {{one: 1}}[two])
"""
    assert output("-W", "ignore", "-c", script).split() == [
        "None",
        "False",
        "_Later",
        "True",
        "True",
        "Kept(a=3)",
        "1",
    ]
    assert pickle.loads(made) == copy.deepcopy(Kept(3)) == Kept(3)


def test_nothing_is_made_before_it_is_used():
    @dataclass(frozen=True)
    class Thing(ExplainsCalls):
        """One."""

        a: int

    assert isinstance(vars(Thing)["__init__"], _Later)
    assert is_dataclass(Thing)
    assert not any(isinstance(member, _Later) for member in vars(Thing).values())
    with pytest.raises(ArgumentError, match=r"there is no argument z=. It is Thing\(a\)"):
        Thing(z=1)


def test_a_class_that_holds_itself_prints():
    @dataclass
    class Ring:
        inner: Any = None

    ring = Ring()
    ring.inner = ring
    assert repr(ring).endswith("Ring(inner=...)")
    assert repr(Ring(3)).endswith("Ring(inner=3)")


def test_threads_that_use_a_class_first_at_once():
    """A class is never seen between two methods, whichever thread makes them."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):

            @dataclass(frozen=True)
            class Low:
                a: int
                b: list[int] = field(default_factory=list)

            @dataclass(frozen=True)
            class High(Low):
                c: int = 3

            start, answers = threading.Barrier(4), []

            def use(cls: Any, start: Any = start, answers: Any = answers) -> None:
                start.wait()
                answers.append((cls(1) == cls(1), repr(cls(1))[-6:], len(fields(cls))))

            threads = [threading.Thread(target=use, args=(cls,)) for cls in (Low, High, Low, High)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(answers) == [(True, " b=[])", 2)] * 2 + [(True, ", c=3)", 3)] * 2
    finally:
        sys.setswitchinterval(interval)
