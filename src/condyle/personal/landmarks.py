"""Kinds of markers, and matching of names between a model and a recording.

A marker on a palpated bone landmark is misplaced by millimeters, a marker of a cluster, placed anywhere on a
segment, by centimeters. The name says which, else the `fixed` flag of the model; otherwise `personalize`
asks.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from condyle.errors import DescriptionError, UnknownNameError, warn
from condyle.io.markers import Markers
from condyle.personal.anthropometry import role
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.system.system import System

ANATOMICAL, TRACKING, LOOSE = 0.007, 0.04, 0.03
"""Standard deviations of a marker's place on its body, along each axis [m]: palpation is repeatable to 6-21 mm
within and 12-25 mm between examiners, as a distance (Della Croce et al. 1999, Med Biol Eng Comput 37)."""

KINDS = {"anatomical": ANATOMICAL, "tracking": TRACKING, "loose": LOOSE, "unknown": LOOSE}

_LOOSE = {
    "trunk": r"head|^man$|hd$|temple|ear|nose|acr|sho|^[rl]?_?sh$|clav",
    "foot": r"mid|tip|mf[sl]$|navic|arch",
}
"""Landmarks that the model attaches to another body, by that body: head and shoulder girdle move relative to
the trunk, and markers on a shoe are not on bone.
"""

_COMPUTED = r"jc$|joint_?cent|_jc|^mid_|projection|^com$|centroid|virtual"
_TRACKING = (
    r"thigh|shank|cluster|bicep|tricep|forearm|upper_?arm|wand|"
    r"^[rl]?_?(th|sh|tb|ua|fa|sk|ti|ft)(\d|a|p|l|m|$)|^[rl]_?(thi|tib|upa|fra|arm|frm)|"
    r"(th|sh|tb|ua|fa)\d$|[rl]?(tha|thl|tia|til)[pd]?|plate(?!au)|^[rl]_?sh\d"
)
_ANATOMICAL = (
    r"asi|psi|sacr|iliac|crest|acr|should|^[rl]?sho|^[rl]?_?sh$|c7|t10|t7|t8|^l5|stern|clav|^man$|xiph|^strn|"
    r"knee|kne|condyl|epi|[lm]fc|[lm]ep|fibula|tubero|plateau|^[rl]?tt|"
    r"ankle|ank|mall?|heel|hee|cal|toe|meta|mt[1-5hp]|[1-5]mt|foot|hallux|"
    r"elbow|elb|[lm]el|wrist|wri|^[rl]?w[rjab]|radi|ulna|head|hd$|ear|nose|troch|gtr|hand|fin|knuckle|"
    r"^[rl]?[lm]?kn$|fm[1-5]$|[lm]fe$|vm5$|ftc$|^[rl]?gt$|^[rl]?fh$|ttc$"
)
FEW_OF_DATA, FEW_OF_MODEL = 0.5, 0.25
"""Matched share of markers, of the smaller set and of the model's, below which names may be wrong."""


def plain(name: str) -> str:
    """A name without its subject, dots, spaces and capitals."""
    return re.sub(r"[^a-z0-9]", "", name.rpartition(":")[2].lower())


def kind_by_name(name: str, segment: str = "") -> str:
    """ "anatomical", "tracking" or "computed" (a joint center from other markers); "" if unknown.

    Args:
        name: of the marker.
        segment: its segment; clusters are on limbs: RSH is a shoulder on a trunk, and may be a shank on a
            leg.
    """
    text = re.sub(r"[.\s-]+", "_", name.rpartition(":")[2].lower())
    text = re.sub(r"^(r|l|right|left)_+", r"\1_", text)
    bare = re.sub(r"^(right|left|r|l)_?", "", text)
    if re.search(_COMPUTED, text):
        return "computed"
    for words, kind in ((_TRACKING, "tracking"), (_ANATOMICAL, "anatomical")):
        if re.search(words, text) or re.search(words, bare):
            return "anatomical" if segment in ("trunk", "pelvis", "head", "foot") else kind
    return ""


def _is_loose(name: str, segment: str) -> bool:
    return bool(segment in _LOOSE and re.search(_LOOSE[segment], re.sub(r"[.\s-]+", "_", name.lower())))


@dataclass(frozen=True)
class MarkerKinds:
    """Kind of each marker and standard deviation of its position.

    Attributes:
        kinds: "anatomical", "tracking", "loose" (a landmark of a segment that the model has no body for),
            "doubtful" (a landmark by its name, but far from it), "unknown" or "given", by marker.
        sd: of its position along each axis of its body [m], by marker.
        left_out: markers that are not used, and why.
    """

    kinds: dict[str, str]
    sd: dict[str, float]
    left_out: dict[str, str]

    def doubting(self, names: Iterable[str]) -> MarkerKinds:
        """A copy in which some markers count as off their landmarks."""
        new = dict.fromkeys(names, "doubtful")
        return MarkerKinds(self.kinds | new, self.sd | dict.fromkeys(new, TRACKING), self.left_out)


def marker_kinds(system: System, used: Sequence[str], given: Any = None) -> MarkerKinds:
    """Kinds of markers.

    Args:
        system: the model.
        used: markers that model and recordings have.
        given: by the user: names of anatomical markers, all others are tracking; or {name: kind or sd [m]}.
    """
    said = _given(system, given)
    flags = {n: system.marker(n).fixed for n in used}
    tell = any(flags.values()) and not all(flags.values())
    kinds, sd, out, asked = {}, {}, {}, []
    for n in used:
        kind = said.get(n)
        if isinstance(kind, float):
            kinds[n], sd[n] = "given", kind
            continue
        if kind is None:
            by_name = kind_by_name(n, role(system.marker(n).body))
            if by_name == "computed":
                out[n] = "a point computed from other markers"
                continue
            if by_name == "anatomical" and _is_loose(n, role(system.marker(n).body)):
                by_name = "loose"
            kind = by_name or ("anatomical" if flags[n] else "tracking" if tell else "unknown")
            if kind == "unknown":
                asked.append(n)
        if kind == "left out":
            out[n] = "as asked"
            continue
        kinds[n], sd[n] = kind, KINDS[kind]
    if asked:
        warn(
            f"personalize: are the markers {cut(asked)} on bone landmarks, or of clusters on a segment? Neither "
            f"their names nor `fixed` flags say it: {1e3 * LOOSE:g} mm are assumed. Give markers={{name: "
            '"anatomical" or "tracking"}',
            RuntimeWarning,
        )
    return MarkerKinds(kinds, sd, out)


def _given(system: System, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DescriptionError(
            f"personalize: markers: expected names of the anatomical ones, or {{name: kind}}, got {given!r}"
        )
    if not isinstance(given, Mapping):
        names = list(given)
        given = dict.fromkeys(names, "anatomical") | {n: "tracking" for n in system.markers if n not in names}
    out: dict[str, Any] = {}
    for name, kind in given.items():
        if name not in system.markers:
            raise UnknownNameError("marker of the model", name, system.markers, "markers=")
        if isinstance(kind, (int, float)) and not isinstance(kind, bool) and 0 < kind < 1:
            out[name] = float(kind)
        elif kind in ("anatomical", "tracking", "loose", "left out"):
            out[name] = kind
        else:
            raise DescriptionError(
                f"personalize: markers: {name!r}: expected 'anatomical', 'tracking', 'loose', 'left out' or a "
                f"standard deviation of its place [m], above 0 and below 1, got {kind!r}"
            )
    return out


@dataclass(frozen=True)
class WhoIsWho:
    """Match of names between recording and model.

    Attributes:
        called: {name in the data: name in the model}.
        spelled: names that differ in spelling only.
        strangers: names of the data without a counterpart, with the most similar free name of the model, or
            "".
        unseen: markers of the model without data.
    """

    called: dict[str, str]
    spelled: dict[str, str]
    strangers: dict[str, str]
    unseen: tuple[str, ...]

    def rows(self) -> list[tuple[str, str, str]]:
        """Rows of name in the data, name in the model, and kind of match."""
        return [
            *((a, b, "spelling" if a in self.spelled else "same") for a, b in self.called.items()),
            *((a, "", f"is it {b}?" if b else "not in the model") for a, b in self.strangers.items()),
            *(("", b, "not in the recordings") for b in self.unseen),
        ]


def who_is_who(system: System, recordings: Iterable[Markers], names: Mapping[str, str] | None) -> WhoIsWho:
    """Match names of recordings to those of the model: as given, identical, or identical except for dots,
    spaces, capitals and a subject's name before a colon.

    Raises:
        UnknownNameError: names= that do not exist, or fewer than three markers in common.
    """
    data = list(dict.fromkeys(n for m in recordings for n in m.names))
    called: dict[str, str] = {}
    if names is not None and not isinstance(names, Mapping):
        raise DescriptionError(
            f"personalize: names: expected {{name in the data: name in the model}}, got {names!r}"
        )
    for a, b in (names or {}).items():
        if a not in data:
            raise UnknownNameError(
                "marker of the data", a, data, "names={name in the data: name in the model}"
            )
        if b not in system.markers:
            raise UnknownNameError("marker of the model", b, system.markers, "names=")
        if (other := next((k for k, v in called.items() if v == b), None)) is not None:
            raise DescriptionError(f"personalize: names: {other!r} and {a!r} cannot both be {b!r}")
        called[a] = b
    called |= {n: n for n in data if n in system.markers and n not in called and n not in called.values()}
    free = {plain(n): n for n in system.markers if n not in called.values()}
    spelled = {n: free[plain(n)] for n in data if n not in called and plain(n) in free}
    spelled = {a: b for a, b in spelled.items() if list(spelled.values()).count(b) == 1}
    called |= spelled
    left = {plain(n): n for n in system.markers if n not in called.values()}
    strangers = {}
    for n in data:
        if n not in called:
            near = difflib.get_close_matches(plain(n), list(left), n=1, cutoff=0.6)
            strangers[n] = left[near[0]] if near else ""
    out = WhoIsWho(called, spelled, strangers, tuple(n for n in system.markers if n not in called.values()))
    if len(called) < 3:
        near_pairs = {a: b for a, b in strangers.items() if b}
        raise UnknownNameError(
            "markers",
            cut(strangers or data),
            system.markers,
            f"personalize: model and recordings have {len(called)} markers in common, and a fit needs more"
            + (f"; names={near_pairs!r} may match them" if near_pairs else "")
            + (
                ""
                if system.markers
                else ". The model has no markers: cd.read_osim(path, add='markers.xml') adds a set"
            ),
        )
    if len(called) < max(
        FEW_OF_DATA * min(len(data), len(system.markers)), FEW_OF_MODEL * len(system.markers)
    ):
        others = [f"{a} (is it {b}?)" if b else a for a, b in strangers.items()]
        warn(
            f"personalize: only {len(called)} of the model's {len(system.markers)} markers are in the recordings: sizes "
            "that they do not show stay at the prior. "
            + (
                f"The recordings also have {cut(others)}; names={{name in the data: name in the model}} matches them"
                if others
                else f"They lack {cut(out.unseen)}"
            ),
            RuntimeWarning,
        )
    return out
