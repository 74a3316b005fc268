"""Units as tables and files name them, and what they are in SI: "N mm" is 1e-3 N m, "deg/s" pi/180 rad/s."""

from __future__ import annotations

import functools
import math
import re
from typing import Any

_PREFIXES = {
    "": 1.0,
    "n": 1e-9,
    "u": 1e-6,
    "µ": 1e-6,
    "μ": 1e-6,
    "m": 1e-3,
    "c": 1e-2,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
}
_SYMBOLS = ("m", "s", "N", "W", "J", "Pa", "V", "A", "Hz", "rad")
_WORDS = {
    "1": (1.0, "1"),
    "%": (1e-2, "1"),
    "percent": (1e-2, "1"),
    "kg": (1.0, "kg"),
    "min": (60.0, "s"),
    **dict.fromkeys(("deg", "degree", "degrees", "°"), (math.pi / 180, "rad")),
    "rpm": (math.pi / 30, "rad/s"),
    **dict.fromkeys(("radian", "radians"), (1.0, "rad")),
    **dict.fromkeys(("sec", "second", "seconds"), (1.0, "s")),
    "msec": (1e-3, "s"),
    **dict.fromkeys(("newton", "newtons"), (1.0, "N")),
    **dict.fromkeys(("volt", "volts"), (1.0, "V")),
    **dict.fromkeys(("inch", "inches"), (0.0254, "m")),
    **{
        f"{prefix}met{end}": (scale, "m")
        for end in ("er", "ers", "re", "res")
        for prefix, scale in (("", 1.0), ("centi", 1e-2), ("milli", 1e-3))
    },
}
"""Units other than a prefix and a symbol; in any case of letters. "g" is omitted: a gram, or 9.8 m/s^2."""
_JOINED = re.compile(r"([kmM]?N)((?:[mc]?m)?)(m?s)?")
DEGREE = math.pi / 180
LENGTHS = {"m": 1.0, "cm": 1e2, "mm": 1e3}
"""Units of positions, with their number per meter."""
ANGULAR = ("rad", "rad/s", "rad/s^2")
"""Quantities that OpenSim's files may have in degrees."""


@functools.lru_cache(maxsize=1024)
def si(unit: str) -> tuple[float, str] | None:
    """Factor to SI and the SI unit; None for an unknown unit.

    Products are written "N m", "Nm", "N*m", "N.m" or "N·m", powers "s^2", "s2" or "s²".
    """
    text = unit.strip().replace("**", "^").replace("²", "^2").replace("³", "^3")
    text = re.sub(r"[·⋅*×]|(?<=[A-Za-z])[.-](?=[A-Za-z])", " ", text)
    factor, powers = 1.0, dict[str, int]()
    for place, part in enumerate(text.split("/")):
        tokens = part.split()
        if not tokens:
            return None
        for token in tokens:
            match = re.fullmatch(r"(1|[^\d^]+)(?:\^?(-?\d))?", token)
            found = match and _symbols(match[1])
            if not match or not found:
                return None
            power = int(match[2] or 1) * (-1 if place else 1)
            for scale, name in found:
                factor *= scale**power
                for one, sign in zip(name.split("/"), (1, -1), strict=False):
                    powers[one] = powers.get(one, 0) + sign * power
    return factor, _text(powers)


def _symbols(word: str) -> list[tuple[float, str]]:
    """Factors and SI symbols of one word; two for Nmm; none if it is not known."""
    if word.lower() in _WORDS:
        return [_WORDS[word.lower()]]
    for prefix, scale in _PREFIXES.items():
        if word.startswith(prefix) and word[len(prefix) :] in _SYMBOLS:
            return [(scale, word[len(prefix) :])]
    joined = _JOINED.fullmatch(word)
    parts = [_symbols(part) for part in joined.groups() if part] if joined else []
    return [one for part in parts for one in part]


def _text(powers: dict[str, int]) -> str:
    def powered(name: str, power: int) -> str:
        return name if power == 1 else f"{name}^{power}"

    powers.pop("1", None)
    above = " ".join(powered(name, n) for name, n in powers.items() if n > 0)
    below = "".join(f"/{powered(name, -n)}" for name, n in powers.items() if n < 0)
    return (above or "1") + below


def scaled(x: Any, factor: float) -> Any:
    """x times a factor; divided where that is exact, so that 1.2 mm are 0.0012 m to the last digit."""
    whole = round(1 / factor) if 0 < factor < 1 else 0
    return x / whole if whole and 1 / whole == factor else x * factor
