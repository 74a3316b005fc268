"""A tree of mobilized bodies: what exists, in which order, under which names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, UnknownNameError
from condyle.loading import if_loaded
from condyle.mobilizers import Mobilizer
from condyle.mobilizers.constants import QUATERNION
from condyle.trace.parameter import Discrete, Input, Parameter, Registry
from condyle.tree.body import Body, Coordinate
from condyle.tree.prescribed import Prescribed
from condyle.tree.properties import changed, mobilizer_parameters, resolved


class Tree:
    """Bodies in the order they were added, parents before children; `driven` are those whose motion is
    prescribed.

    A body that follows another has the q and u of that one, which comes before it, and no names. What belongs
    to coordinates and speeds is listed over `owners`, all other bodies.
    """

    def __init__(self) -> None:
        self.ground = Body("ground")
        self.bodies: list[Body] = []
        self.driven: list[Body] = []
        self.checked = 0  # bodies of which massless.py has nothing to say
        self.fitting: dict[int, Any] = {}  # laws that were checked against these bodies, by their ids
        self.nq = self.nu = 0
        self.parameters, self.inputs, self.discrete = (
            Registry(kind) for kind in ("parameter", "input", "discrete variable")
        )
        self._index: dict[str, int] = {"ground": -1}
        self._coordinate_index: dict[str, int] = {}
        self._speed_index: dict[str, int] = {}

    def copy(self) -> Tree:
        """The same bodies in a tree that can grow on its own."""
        other = Tree()
        other.ground, other.bodies, other._index = self.ground, list(self.bodies), dict(self._index)
        other.driven, other.checked, other.fitting = list(self.driven), self.checked, dict(self.fitting)
        other.nq, other.nu = self.nq, self.nu
        other._coordinate_index, other._speed_index = dict(self._coordinate_index), dict(self._speed_index)
        other.parameters, other.inputs, other.discrete = (
            self.parameters.copy(),
            self.inputs.copy(),
            self.discrete.copy(),
        )
        return other

    def check(self, law: Any) -> None:
        """Whether a law fits these bodies, once for each law: names stay when bodies are added."""
        if id(law) not in self.fitting:
            law.check(self)
            self.fitting[id(law)] = law

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "fitting": list(self.fitting.values())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.fitting = {id(law): law for law in state["fitting"]}

    def replaced(self, changes: Mapping[str, Mapping[str, Any]]) -> Tree:
        """The same tree in which some bodies have other mobilizers, frames or masses.

        Args:
            changes: by body, arguments of `add`: mobilizer, X_PF, X_BM, mass, com, inertia.
        """
        other = self.copy()
        other.bodies, other.driven, other.checked, other.fitting = [], [], 0, {}
        for name in changes:
            if self.body(name).is_ground:
                raise DescriptionError("ground has no mobilizer and no mass")
        for old in self.bodies:
            assert old.parent is not None
            parent = old.parent if old.parent.is_ground else other.bodies[old.parent.index]
            leader = None if old.follows is None else other.bodies[old.follows.index]
            body = replace(old, parent=parent, follows=leader, **changed(old, changes.get(old.name, {})))
            if body.mobilizer is not old.mobilizer:
                other.register(mobilizer_parameters(body.mobilizer, f"body {old.name!r}"))
            other.register(p for e in body.symbolic.values() for p in e.parameters)
            other.bodies.append(body)
            other.driven += [body] if body.motion else []
        return other

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(self._coordinate_index)

    @property
    def speeds(self) -> tuple[str, ...]:
        return tuple(self._speed_index)

    @property
    def owners(self) -> list[Body]:
        """Bodies with coordinates and speeds of their own, or none at all: those that follow no other."""
        return [b for b in self.bodies if b.follows is None]

    @property
    def shares(self) -> bool:
        """Whether some speed moves several bodies relative to their parents."""
        return any(b.follows is not None for b in self.bodies)

    @property
    def quaternions(self) -> list[slice]:
        """Where unit quaternions are in q."""
        return [
            slice(b.q.start + part.start, b.q.start + part.stop)
            for b in self.owners
            for part in b.mobilizer.quaternions
        ]

    @property
    def base_to_tip(self) -> Sequence[int]:
        return range(len(self.bodies))

    @property
    def tip_to_base(self) -> Sequence[int]:
        return range(len(self.bodies) - 1, -1, -1)

    def parent(self, B: int) -> int | None:
        """Index of the parent, None for ground."""
        body = self.bodies[B].parent
        return None if body is None or body.is_ground else body.index

    def speeds_of(self, B: int) -> range:
        u = self.bodies[B].u
        return range(u.start, u.stop)

    def path(self, B: int) -> list[int]:
        """B and its ancestors, base first."""
        path: list[int] = []
        body: Body | None = self.bodies[B]
        while body is not None and not body.is_ground:
            path.append(body.index)
            body = body.parent
        return path[::-1]

    def body(self, which: Body | str) -> Body:
        """A body from its name or itself."""
        if isinstance(which, Body):
            if which is self.ground or (
                0 <= which.index < len(self.bodies) and self.bodies[which.index] is which
            ):
                return which
            raise DescriptionError(
                f"{which!r} belongs to another system; use its name or the body of this system"
            )
        if not isinstance(which, str):
            raise DescriptionError(f"a body is given by itself or its name, got {which!r}")
        if which not in self._index:
            raise UnknownNameError("body", which, self._index)
        return self.ground if which == "ground" else self.bodies[self._index[which]]

    def coordinate_index(self, name: str) -> int:
        if name not in self._coordinate_index:
            raise UnknownNameError("coordinate", name, self.coordinates)
        return self._coordinate_index[name]

    def speed_index(self, name: str) -> int:
        if name not in self._speed_index:
            raise UnknownNameError("speed", name, self.speeds)
        return self._speed_index[name]

    def defaults(self) -> Array:
        """Default coordinates, shape (nq,)."""
        parts = [
            np.array(
                [
                    d if c.default is None else c.default
                    for c, d in zip(body.coordinates, body.mobilizer.default_q(), strict=True)
                ]
            )
            for body in self.owners
            if body.mobilizer
        ]
        return np.concatenate([np.zeros(0), *parts])

    def default_speeds(self) -> Array:
        """Default speeds, shape (nu,)."""
        values = np.zeros(self.nu)
        for body in self.owners:
            own = [c.speed for c in body.coordinates][: body.mobilizer.nu]
            values[body.u.start : body.u.start + len(own)] = own
        return values

    @property
    def locked(self) -> dict[str, str]:
        """Speeds that default states have locked, from their names to the level."""
        return {
            body.speeds[j]: "position"
            for body in self.owners
            for j in locked_speeds(body.mobilizer, body.coordinates, f"body {body.name!r}")
        }

    def add(
        self,
        name: str,
        parent: Body | str,
        mobilizer: Any,
        X_PF: object,
        X_BM: object,
        mass: object,
        com: object,
        inertia: object,
        coordinates: Iterable[str | Coordinate] | str | None,
        given: Prescribed | None = None,
        joint: str | None = None,
        any_inertia: bool = False,
        follows: Body | str | None = None,
    ) -> Body:
        """Check everything, then add the body: an error leaves the tree as it was."""
        if not isinstance(name, str) or not name.strip():
            raise DescriptionError(f"a body's name is a non-empty string, got {name!r}")
        if name in self._index:
            raise DescriptionError(f"body {name!r} exists already; names are unique ('ground' is taken too)")
        what = f"body {name!r}"
        if not isinstance(mobilizer, Mobilizer):
            hint = (
                f"; write {mobilizer.__name__}()"
                if isinstance(mobilizer, type)
                else "; write fit.mobilizer"
                if hasattr(mobilizer, "mobilizer")
                else ""
            )
            raise DescriptionError(
                f"{what}: mobilizer must be a mobilizer such as cd.Pin(), got {mobilizer!r}{hint}"
            )
        _check_stated(mobilizer, what)
        parent_body = self.body(parent)
        leader = None if follows is None else self._leader(what, mobilizer, follows, coordinates, given)
        names = () if leader else self._coordinates(name, mobilizer, coordinates)
        _check_joint(joint, what)
        locked_speeds(mobilizer, names, what)
        numbers, symbolic = resolved(what, X_PF, X_BM, mass, com, inertia, any_inertia)
        speeds = () if leader else _speed_names(name, mobilizer, names)
        for taken in set(speeds) & self._speed_index.keys():
            raise DescriptionError(
                f"{what}: a speed {taken!r} exists already; rename the body or its coordinates"
            )
        if given is not None and not isinstance(given, Prescribed):
            raise DescriptionError(
                f"{what}: motion must be cd.Prescribed(position=f), velocity= or acceleration=, got {given!r}"
            )
        motion = None if given is None else given.of(mobilizer, what, [c.name for c in names], speeds)
        self.register(
            [p for e in symbolic.values() for p in e.parameters]
            + mobilizer_parameters(mobilizer, what)
            + (motion.parameters() if motion else [])
        )
        body = Body(
            name=name,
            index=len(self.bodies),
            parent=parent_body,
            mobilizer=mobilizer,
            X_PF=numbers["X_PF"],
            X_BM=numbers["X_BM"],
            mass_properties=numbers["mass_properties"],
            symbolic=symbolic,
            q=leader.q if leader else slice(self.nq, self.nq + mobilizer.nq),
            u=leader.u if leader else slice(self.nu, self.nu + mobilizer.nu),
            follows=leader,
            coordinates=names,
            speeds=speeds,
            motion=motion,
            joint=joint or name,
            any_inertia=any_inertia,
        )
        self.bodies.append(body)
        self.driven += [body] if motion else []
        self._index[name] = body.index
        self._coordinate_index.update((c.name, self.nq + j) for j, c in enumerate(names))
        self._speed_index.update((speed, self.nu + j) for j, speed in enumerate(speeds))
        self.nq, self.nu = self.nq + len(names), self.nu + len(speeds)
        return body

    def _leader(
        self, what: str, mobilizer: Mobilizer, follows: Body | str, coordinates: object, given: object
    ) -> Body:
        """The body whose coordinates a new body takes, checked: it owns them."""
        leader = self.body(follows)
        if leader.is_ground or not leader.mobilizer.nu:
            raise DescriptionError(
                f"{what}: follows={leader.name!r}, which has no coordinates; name a body "
                "whose mobilizer moves"
            )
        leader = leader.follows or leader
        if coordinates is not None or given is not None:
            raise DescriptionError(
                f"{what}: it follows {leader.name!r} and has no coordinates of its own: "
                f"{'coordinates=' if coordinates is not None else 'motion='} belongs to "
                f"{leader.name!r}"
            )
        from condyle.mobilizers.combined import has_rates

        for each, whose in ((leader.mobilizer, leader.name), (mobilizer, "it")):
            if not has_rates(each):
                raise DescriptionError(
                    f"{what}: follows={leader.name!r}: speeds of {each!r} ({whose}) are "
                    "not the rates of its coordinates; bodies can share coordinates "
                    "whose rates are speeds, such as those of cd.Gimbal()"
                )
        if mobilizer.nq != leader.mobilizer.nq:
            names = ", ".join(c.name for c in leader.coordinates)
            raise DescriptionError(
                f"{what}: follows={leader.name!r}, which has {leader.mobilizer.nq} "
                f"coordinates ({names}), but {mobilizer!r} has {mobilizer.nq}; "
                "cd.Coupled makes one of these coordinates"
            )
        theirs = tuple(c.name for c in leader.coordinates)
        if (
            isinstance(mobilizer, if_loaded("condyle.mobilizers.combined", "Coupled"))
            and tuple(mobilizer.coordinates) != theirs
        ):
            raise DescriptionError(
                f"{what}: {mobilizer!r} names {', '.join(mobilizer.coordinates)}, but "
                f"follows={leader.name!r}, whose coordinates are {', '.join(theirs)}; "
                "name these, in this order, or another body"
            )
        return leader

    def register(self, used: Iterable[Parameter]) -> None:
        """Take in Parameters, Inputs and Discretes; all, or none if two defaults disagree."""
        used = list(used)
        if not used:
            return
        parameters, inputs, discrete = self.parameters.copy(), self.inputs.copy(), self.discrete.copy()
        for p in used:
            (inputs if isinstance(p, Input) else discrete if isinstance(p, Discrete) else parameters).add(p)
        self.parameters, self.inputs, self.discrete = parameters, inputs, discrete

    def _coordinates(
        self, name: str, mobilizer: Mobilizer, given: Iterable[str | Coordinate] | str | None
    ) -> tuple[Coordinate, ...]:
        taken = self._coordinate_index.keys()
        if given is None:
            self._check_owned(name, mobilizer)
            names = self._default_names(name, mobilizer, mobilizer.coordinate_names, taken)
            return self._unique(_ranged(map(Coordinate, names), mobilizer), taken, name)
        if isinstance(given, Mapping):
            raise DescriptionError(
                f"body {name!r}: coordinates must be names or cd.Coordinates, got "
                f"{given!r}; a default value is given by cd.Coordinate(name, default)"
            )
        try:
            given = [given] if isinstance(given, (str, Coordinate)) else list(given)
        except TypeError:
            raise DescriptionError(
                f"body {name!r}: coordinates must be names or cd.Coordinates, got {given!r}"
            ) from None
        items = [c if isinstance(c, Coordinate) else Coordinate(c) for c in given]
        if len(items) != mobilizer.nq:
            raise DescriptionError(
                f"body {name!r}: {type(mobilizer).__name__} has {mobilizer.nq} "
                f"coordinates {mobilizer.coordinate_names}, but {len(items)} names were "
                "given"
            )
        for c in items:
            if not isinstance(c.name, str) or not c.name:
                raise DescriptionError(
                    f"body {name!r}: a coordinate's name is a non-empty string, got {c.name!r}"
                )
            if not (_finite(c.speed) and isinstance(c.clamped, bool) and isinstance(c.locked, bool)):
                raise DescriptionError(
                    f"coordinate {c.name!r}: expected True or False for clamped and "
                    f"locked, and a finite speed, got {c!r}"
                )
            if c.default is not None and not _finite(c.default):
                raise DescriptionError(f"coordinate {c.name!r}: default {c.default!r} is not a finite number")
            if c.range is not None and not (np.shape(c.range) == (2,) and c.range[0] < c.range[1]):
                raise DescriptionError(
                    f"coordinate {c.name!r}: range {c.range!r} must be (low, high) with low < high"
                )
        return self._unique(_ranged(items, mobilizer), taken, name)

    def _check_owned(self, name: str, mobilizer: Mobilizer) -> None:
        """Refuse a body that is all functions of another's coordinate and does not say that it follows it."""
        if (
            not isinstance(mobilizer, if_loaded("condyle.mobilizers.combined", "Coupled"))
            or mobilizer.itself()
        ):
            return
        for taken in mobilizer.coordinates:
            if owner := next((b for b in self.owners if taken in [c.name for c in b.coordinates]), None):
                raise DescriptionError(
                    f"body {name!r}: {mobilizer!r}: {taken!r} is a coordinate of "
                    f"{owner.name!r}; follows={owner.name!r} lets the body follow it, "
                    "coordinates= names one of its own"
                )

    @staticmethod
    def _unique(items: tuple[Coordinate, ...], taken: Set[str], body: str) -> tuple[Coordinate, ...]:
        mine: set[str] = set()
        for c in items:
            if c.name in taken or c.name in mine:
                raise DescriptionError(
                    f"body {body!r}: a coordinate {c.name!r} exists already; give other "
                    "names with coordinates=(...)"
                )
            mine.add(c.name)
        return items

    @staticmethod
    def _default_names(name: str, mobilizer: Mobilizer, short: tuple[str, ...], taken: Set[str]) -> list[str]:
        if mobilizer.named_by_user and not taken & set(short):
            return list(short)
        return [name] if len(short) == 1 else [f"{name}_{s}" for s in short]


def _ranged(items: Iterable[Coordinate], mobilizer: Mobilizer) -> tuple[Coordinate, ...]:
    """Coordinates without a range of their own have the domain of the mobilizer as theirs, where it is
    finite."""
    return tuple(
        replace(c, range=domain) if c.range is None and np.isfinite(domain).all() else c
        for c, domain in zip(items, mobilizer.domains, strict=True)
    )


def locked_speeds(mobilizer: Mobilizer, coordinates: Sequence[Coordinate], what: str) -> list[int]:
    """Which speeds of a mobilizer must rest so that its locked coordinates do, and these alone."""
    locked = [i for i, c in enumerate(coordinates) if c.locked]
    if not locked:
        return []
    N = ca.sparsify(mobilizer.N(ca.SX.sym("q", mobilizer.nq)))
    rows, columns = N.sparsity().get_triplet()
    speeds = sorted({j for i, j in zip(rows, columns, strict=True) if i in locked})
    moved = sorted({i for i, j in zip(rows, columns, strict=True) if j in speeds} - set(locked))
    if moved:
        raise DescriptionError(
            f"{what}: {coordinates[locked[0]].name!r} cannot be locked alone: speeds of "
            f"{mobilizer!r} that change it change {coordinates[moved[0]].name!r} too; "
            "lock both, or add cd.constraints.ConstantCoordinate"
        )
    return speeds


def _check_joint(joint: object, what: str) -> None:
    if joint is not None and (not isinstance(joint, str) or not joint.strip()):
        raise DescriptionError(f"{what}: joint: expected a name, a string, got {joint!r}")


def _check_stated(mobilizer: Mobilizer, what: str) -> None:
    """Whether the class of a mobilizer says what its coordinates are."""
    own = type(mobilizer).__mro__[: type(mobilizer).__mro__.index(Mobilizer)]
    silent = not any("quaternions" in vars(x) for x in (mobilizer, *own))
    if silent and mobilizer.coordinate_names[:4] == QUATERNION:
        raise DescriptionError(
            f"{what}: {type(mobilizer).__name__} has coordinates {QUATERNION}: if they "
            "are a unit quaternion its class must state quaternions = (slice(0, 4),), if "
            "they are not quaternions = ()"
        )
    for names, units in (("coordinate_names", "units"), ("speed_names", "speed_units")):
        if len(getattr(mobilizer, names)) != len(getattr(mobilizer, units)):
            raise DescriptionError(
                f"{what}: {type(mobilizer).__name__}: {units} must be one for each of "
                f"{names} {getattr(mobilizer, names)}, got {getattr(mobilizer, units)}"
            )


def _finite(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and bool(np.isfinite(value))


def _speed_names(name: str, mobilizer: Mobilizer, coordinates: tuple[Coordinate, ...]) -> tuple[str, ...]:
    """Where u = qdot, a speed is named as its coordinate."""
    if mobilizer.speed_names == mobilizer.coordinate_names:
        return tuple(c.name for c in coordinates)
    return tuple(f"{name}_{s}" for s in mobilizer.speed_names)
