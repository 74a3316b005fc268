"""Pairs of surfaces: of one group with another, or within one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, product
from typing import Any

from condyle.contact.elastic_foundation import ElasticFoundation
from condyle.contact.hunt_crossley import ContactLaw, HuntCrossley
from condyle.contact.materials import Rigid
from condyle.contact.surfaces import ContactSurface
from condyle.errors import DescriptionError, warn
from condyle.presentation import cut
from condyle.shapes import Shape

ONE_SIDED = {"friction": ("static_friction", "dynamic_friction", "friction"), "restitution": ("restitution",)}
"""Numbers of materials that are zero for a pair if one surface has none, and their fields."""


def pairs(
    name: str,
    a: ContactSurface | Iterable[ContactSurface],
    b: ContactSurface | Iterable[ContactSurface] | None,
    law: type[ContactLaw],
    options: Mapping[str, Any],
    rigid: Callable[[ContactSurface, ContactSurface], Any],
) -> dict[str, Any]:
    """Laws by name: see `System.add_contact`. rigid: class of the contact of two rigid surfaces."""
    if not isinstance(name, str) or not name:
        raise DescriptionError(
            f"add_contact: a contact's name is a non-empty string, got {name!r}; the name comes first"
        )
    if not isinstance(law, type) or not issubclass(law, HuntCrossley | ElasticFoundation):
        raise DescriptionError(
            f"add_contact {name!r}: law: expected cd.contact.HuntCrossley or "
            "cd.contact.OpenSimHuntCrossley itself, of meshes "
            "cd.contact.ElasticFoundation or cd.contact.OpenSimElasticFoundation, got "
            f"{law!r}"
        )
    first = _named(name, "a", a).items()
    couples = combinations(first, 2) if b is None else product(first, _named(name, "b", b).items())
    alone = isinstance(a, ContactSurface) and isinstance(b, ContactSurface)
    out: dict[str, Any] = {}
    for (p, one), (r, other) in couples:
        if not alone and (one.body == other.body or set(one.cliques) & set(other.cliques)):
            continue
        short = (
            ""
            if alone
            else r
            if isinstance(a, ContactSurface)
            else p
            if isinstance(b, ContactSurface)
            else f"{p}.{r}"
        )
        for piece, x, y in _pieces(one, other):
            mine: Any = ElasticFoundation if law is HuntCrossley and (x.by_points or y.by_points) else law
            whole = ".".join(filter(None, (name, short, piece)))
            if whole in out:
                raise DescriptionError(
                    f"add_contact {name!r}: two pairs would be called {whole!r}; give "
                    "surfaces names without dots"
                )
            stiff = _rigid(x, y, name, law, options)
            try:
                out[whole] = rigid(x, y) if stiff else mine(x, y, **options)
            except DescriptionError as error:
                raise DescriptionError(f"add_contact {whole!r}: {error}") from None
    _warn_of_one_side(name, out.values())
    if not out and b is None and len(first) == 1:
        raise DescriptionError(
            f"add_contact {name!r}: one surface alone touches nothing: give two, "
            "add_contact(name, floor, ball), or a list"
        )
    if not out:
        raise DescriptionError(
            f"add_contact {name!r}: no pair remains: surfaces on one body and those that "
            "share a clique ignore each other"
        )
    return out


def _rigid(
    a: ContactSurface, b: ContactSurface, name: str, law: type[ContactLaw], options: Mapping[str, Any]
) -> bool:
    """Whether both are rigid."""
    count = sum(isinstance(s.made_of, Rigid) for s in (a, b))
    if count == 1:
        words = " and ".join(
            f"{type(s).__name__} on {s.body!r} is made of a cd.contact.{type(s.made_of).__name__}"
            for s in (a, b)
        )
        raise DescriptionError(
            f"add_contact {name!r}: {words}; give both a Material for compliant contact, or "
            "both a Rigid for rigid contact"
        )
    if count and (options or law is not HuntCrossley):
        given = ", ".join(options) or f"law={law.__name__}"
        raise DescriptionError(
            f"add_contact {name!r}: surfaces of cd.contact.Rigid have no law of force: omit {given}"
        )
    return count == 2


def _warn_of_one_side(name: str, made: Iterable[Any]) -> None:
    """Warn of numbers that only one surface of a pair has: for the pair they are zero."""
    for number, fields in ONE_SIDED.items():
        for a, b in (one.surfaces() for one in made):
            has = [any(getattr(s.made_of, f, 0.0) != 0 for f in fields) for s in (a, b)]
            if has[0] != has[1]:
                some, none = (f"{type(s).__name__} on {s.body!r}" for s in ((a, b) if has[0] else (b, a)))
                warn(
                    f"add_contact {name!r}: {some} has {number} and {none} has none, so that the pair has "
                    "none: two numbers make 2 x y / (x + y). Give it to both, or to neither"
                )
                break


def _pieces(a: ContactSurface, b: ContactSurface) -> Iterator[tuple[str, ContactSurface, ContactSurface]]:
    """Pairs of simple surfaces, each with a name; those of a box or a cylinder are its corners or rims."""
    mine, its = a.pieces(b), b.pieces(a)
    if not mine and not its:
        yield "", a, b
    for label, piece in mine.items():
        yield f"a_{label}" if its else label, piece.as_piece(a), b
    for label, piece in its.items():
        yield f"b_{label}" if mine else label, a, piece.as_piece(b)


def _named(
    name: str, which: str, given: ContactSurface | Iterable[ContactSurface]
) -> dict[str, ContactSurface]:
    """Surfaces by their names, or their places."""
    several = isinstance(given, Iterable) and not isinstance(given, (ContactSurface, str))
    if isinstance(given, Mapping):
        raise DescriptionError(
            f"add_contact {name!r}: {which}: expected a surface such as "
            "cd.contact.Sphere(body, center, radius, material), or a list of them, got "
            f"a dict of {cut(map(repr, given))}; give the surfaces in a list, each "
            "with its name="
        )
    surfaces: list[Any] = list(given) if several else [given]  # type: ignore[arg-type]
    out: dict[str, ContactSurface] = {}
    if not surfaces:
        raise DescriptionError(f"add_contact {name!r}: {which}: it contains no surface")
    for k, surface in enumerate(surfaces):
        if not isinstance(surface, ContactSurface):
            drawn = isinstance(surface, Shape)
            hint = "; shapes of cd.shapes are only drawn" if drawn else ""
            raise DescriptionError(
                f"add_contact {name!r}: {which}: expected surfaces such as "
                "cd.contact.Sphere(body, center, radius, material), got "
                f"{'cd.' * drawn}{surface!r}{hint}"
            )
        if (first := next(i for i, s in enumerate(surfaces) if s is surface)) < k:
            raise DescriptionError(
                f"add_contact {name!r}: {which}: surface {k} is surface {first} again "
                "and would push twice; remove one"
            )
        label = surface.name or str(k)
        if label in out:
            raise DescriptionError(
                f"add_contact {name!r}: {which}: two surfaces are called {label!r}; give them different names"
            )
        out[label] = surface
    return out
