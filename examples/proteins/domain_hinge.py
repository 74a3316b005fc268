"""Two domains of a protein and the hinge between them, from two conformations (seth2010 section 5).

Units are those of molecular dynamics, which fit each other: nanometers, daltons, picoseconds; so energies are
in kJ/mol, forces in kJ/(mol nm). Where tables say m, kg, s, N, read nm, Da, ps, kJ/(mol nm).

With X the pose that takes the mobile domain from the open to the closed conformation, after the others are
laid on each other,

    X(q) = exp(z q),    z = log X:       X(0) = 1,  X(1) = X                                             (1)

one screw. Two coordinates part the turn about d, the line from one domain to the other, from the rest:

    X(q) = exp(z_1 q_1) exp(z_2 q_2),    z_1 = log(X exp(-z_2))                                          (2)

where exp(z_2) turns about d by 2 atan2(v . d, w), and (w, v) is the quaternion of X.
"""

from __future__ import annotations

import csv
import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from condyle.errors import DescriptionError
from condyle.mobilizers import Mobilizer, SplineCurve, Weld, compose
from condyle.shapes import Tube
from condyle.spatial import Transform, exp_se3, log_se3, quaternion_from_rotation
from condyle.system.system import System

NM = 0.1
"""Nanometers in an angstrom."""
STILL = 1e-6, 1e-7
"""A turn [rad] and a shift [nm] below which nothing moves: structure files have three decimals of an
angstrom."""
TUBE, APART = 0.12, 0.45
"""Radius of a backbone as it is drawn, and how far alpha carbons that follow each other may be apart [nm]."""

OF_PROTEINS = ("H", "D", "C", "N", "O", "S", "Se", "P")
"""Elements of residues."""

RESIDUES = """
    ALA 71.08  ARG 156.19 ASN 114.10 ASP 115.09 CYS 103.14 GLN 128.13 GLU 129.12 GLY 57.05  HIS 137.14 ILE 113.16
    LEU 113.16 LYS 128.17 MET 131.20 PHE 147.18 PRO 97.12  SER 87.08  THR 101.10 TRP 186.21 TYR 163.18 VAL 99.13
"""
"""Masses of amino acids in a chain [Da], hydrogens too: for tables of alpha carbons alone."""

Range = tuple[int, int]


@dataclass(frozen=True)
class _Carbon:
    """An alpha carbon of a table, with the mass of its residue [Da]."""

    pos: NDArray[np.float64]
    weight: float
    name: str = "CA"


class _Residue(list[_Carbon]):
    """A residue of a table."""

    name = ""


@dataclass(frozen=True, eq=False)
class DomainHinge:
    """Two domains of a protein, and the joint that takes one from its open to its closed place.

    Attributes:
        system: bodies "stationary" and "mobile"; lengths in nm, masses in Da, times in ps. Both body frames
            are the frame of the open structure's file.
        mobilizer: of the mobile domain: 0 is open, 1 is closed.
        X: pose of the closed mobile domain, from its open place.
        angle: of the whole turn [rad].
        shift: along the axis of the whole screw [nm].
        axis: its direction, shape (3,).
        point: the point of it that is nearest to the mobile domain's center of mass [nm], shape (3,).
        rms: what remains after laying the domains' alpha carbons on each other [nm]: stationary, mobile.
        atoms: of each body, positions in the open structure [nm], shape (n, 3).
        masses: of each body, of those atoms [Da], shape (n,). Hydrogens count where the file has them.
    """

    system: System
    mobilizer: Mobilizer
    X: Transform
    angle: float
    shift: float
    axis: NDArray[np.float64]
    point: NDArray[np.float64]
    rms: tuple[float, float]
    atoms: dict[str, NDArray[np.float64]]
    masses: dict[str, NDArray[np.float64]]

    def __repr__(self) -> str:
        return (
            f"DomainHinge(turn {np.degrees(self.angle):.1f} degrees, shift {self.shift:.3f} nm, "
            f"{len(self.masses['stationary'])} + {len(self.masses['mobile'])} atoms, domains fit within "
            f"{self.rms[0]:.3f} and {self.rms[1]:.3f} nm)"
        )


def domain_hinge(
    open: str | os.PathLike[str],
    closed: str | os.PathLike[str],
    mobile: Sequence[Range],
    *,
    hinge: Sequence[Range] = (),
    chain: str | None = None,
    coordinates: int = 1,
    base: Mobilizer | None = None,
) -> DomainHinge:
    """A system of two rigid domains from two structures of one protein, in PDB or mmCIF files, which gemmi reads,
    or tables (.csv) of alpha carbons: residue, name, x, y, z [angstrom].

    The alpha carbons of the stationary domain are laid on each other, then those of the mobile one: what is
    left is the motion of the joint. Atoms of the chain's polymer make the bodies' masses; water and ligands
    do not count. Of alternative locations the first counts, of several models the first.

    Args:
        open: file of the open conformation; bodies have its atoms.
        closed: file of the closed one.
        mobile: residues of the mobile domain, first and last, such as [(92, 191)]; all others are stationary.
        hinge: residues that bend, such as [(90, 91), (192, 193)]: they belong to a body as said, but are not
            laid on each other.
        chain: name of the chain; may be omitted where both files have one.
        coordinates: 1: "closing" along one screw (1). 2: "closing", and "twist" about the line from one
            domain to the other (2).
        base: mobilizer of the stationary domain; fixed by default, `cd.Free()` lets the protein float.

    Raises:
        DescriptionError: files that cannot be read, unknown chains, residues that are missing or differ,
            domains with fewer than three alpha carbons, conformations that do not differ.
    """
    what = "domain_hinge"
    if coordinates not in (1, 2):
        raise DescriptionError(
            f"{what}: coordinates is 1 (closing) or 2 (closing, twist), got {coordinates!r}"
        )
    moves, bends = (
        _ranges(mobile, f"{what}: mobile"),
        _ranges(hinge or (), f"{what}: hinge"),
    )
    if not moves:
        raise DescriptionError(
            f"{what}: mobile names no residues; expected ranges such as [(92, 191)]"
        )
    one, other = (
        _residues(path, chain, f"{what}: {name}")
        for path, name in ((open, "open"), (closed, "closed"))
    )
    for first, last in (*moves, *bends):
        if not any(first <= number <= last for number, _ in one):
            numbers = [number for number, _ in one]
            raise DescriptionError(
                f"{what}: residues {first} to {last} are not in {Path(open).name}, whose "
                f"chain has {min(numbers)} to {max(numbers)}"
            )
    common = _common(one, other, what)
    laid = {
        body: [
            key
            for key in common
            if _within(key, moves) == (body == "mobile") and not _within(key, bends)
        ]
        for body in ("stationary", "mobile")
    }
    for body, keys in laid.items():
        if len(keys) < 3:
            raise DescriptionError(
                f"{what}: the {body} domain has {len(keys)} alpha carbons that both files "
                "have, at least 3 are needed"
            )
    places = {
        body: [
            np.array([_alpha(structure[key]) for key in keys])
            for structure in (one, other)
        ]
        for body, keys in laid.items()
    }
    Y, rms = _superposition(*places["stationary"])  # closed to open
    there = places["mobile"][1] @ Y.R.T + Y.p
    X, left = _superposition(
        there, places["mobile"][0]
    )  # open to closed, in the open file's frame
    z = np.asarray(log_se3(X))
    angle = float(np.linalg.norm(z[:3]))
    if angle < STILL[0] and np.linalg.norm(z[3:]) < STILL[1]:
        raise DescriptionError(
            f"{what}: the mobile domain is at the same place in both files; give an open "
            "and a closed conformation"
        )
    atoms, masses = _atoms(one, moves)
    center = {body: masses[body] @ atoms[body] / masses[body].sum() for body in atoms}
    n, h, c = _screw(z)
    mobilizer = _mobilizer(X, z, center, coordinates, what)
    system = System(gravity=(0.0, 0.0, 0.0))
    for body, parent, joint in (
        ("stationary", "ground", base or Weld()),
        ("mobile", "stationary", mobilizer),
    ):
        system.add_body(
            body,
            parent,
            joint,
            mass=float(masses[body].sum()),
            com=center[body],
            inertia=_inertia(atoms[body] - center[body], masses[body]),
        )
        for k, piece in enumerate(_backbone(one, moves, body == "mobile")):
            color = "#3b7dd8" if body == "mobile" else "#5a9e6f"
            system.add_geometry(
                body, Tube(piece, TUBE), name=f"{body} {k + 1}", color=color
            )
    point = c + n * (n @ (center["mobile"] - c))
    return DomainHinge(
        system, mobilizer, X, angle, h, n, point, (rms, left), atoms, masses
    )


def _backbone(
    structure: dict[tuple[int, str], Any], moves: Sequence[Range], mobile: bool
) -> list[NDArray[np.float64]]:
    """Alpha carbons of a domain [nm], one array (n, 3) for each stretch of neighbors along the chain."""
    pieces: list[list[NDArray[np.float64]]] = []
    before = False
    for key, residue in structure.items():
        place = _alpha(residue) if _within(key, moves) == mobile else None
        near = (
            place is not None
            and before
            and np.linalg.norm(place - pieces[-1][-1]) < APART
        )
        if place is not None:
            pieces[-1].append(place) if near else pieces.append([place])
        before = place is not None
    return [np.array(piece) for piece in pieces if len(piece) > 1]


# ---- structures


def _residues(
    path: str | os.PathLike[str], chain: str | None, what: str
) -> dict[tuple[int, str], Any]:
    """Residues of the polymer of one chain by number and insertion code, in the order of the file."""
    if Path(path).suffix == ".csv":
        return _table(Path(path), what)
    try:
        gemmi: Any = importlib.import_module("gemmi")
    except ImportError:
        raise DescriptionError(
            f'{what}: reading structures needs gemmi: python -m pip install "condyle[protein]"'
        ) from None
    if not Path(path).is_file():
        raise DescriptionError(f"{what}: there is no file {os.fspath(path)!r}")
    try:
        structure = gemmi.read_structure(os.fspath(path))
    except (RuntimeError, ValueError) as error:
        raise DescriptionError(
            f"{what}: {Path(path).name} is no structure that can be read: {error}"
        ) from None
    structure.setup_entities()
    structure.remove_alternative_conformations()
    if not len(structure) or not sum(len(part.get_polymer()) for part in structure[0]):
        raise DescriptionError(f"{what}: {Path(path).name} has no residues of a protein")
    chains = {part.name: part for part in structure[0] if len(part.get_polymer())}
    if chain is None and len(chains) > 1:
        raise DescriptionError(
            f"{what}: {Path(path).name} has the chains {', '.join(chains)}; say which, "
            f"chain={next(iter(chains))!r}"
        )
    name = chain if chain is not None else next(iter(chains))
    if name not in chains:
        raise DescriptionError(
            f"{what}: {Path(path).name} has no chain {name!r}; it has {', '.join(chains)}"
        )
    return {
        (residue.seqid.num, residue.seqid.icode): residue
        for residue in chains[name].get_polymer()
    }


def _table(path: Path, what: str) -> dict[tuple[int, str], Any]:
    """Residues of a table of alpha carbons."""
    if not path.is_file():
        raise DescriptionError(f"{what}: there is no file {os.fspath(path)!r}")
    words = RESIDUES.split()
    masses = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    out: dict[tuple[int, str], Any] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for line, row in enumerate(csv.DictReader(file), 2):
            try:
                place = np.array([float(row[c]) for c in "xyz"])
                residue = _Residue([_Carbon(place, masses[row["name"]])])
                residue.name = row["name"]
                out[int(row["residue"]), " "] = residue
            except (KeyError, TypeError, ValueError) as error:
                raise DescriptionError(
                    f"{what}: {path.name}, line {line}: expected residue,name,x,y,z with an amino acid such as "
                    f"ALA, got {row} ({error!r})"
                ) from None
    if not out:
        raise DescriptionError(f"{what}: {path.name} has no residues of a protein")
    return out


def _common(
    one: dict[tuple[int, str], Any], other: dict[tuple[int, str], Any], what: str
) -> list[tuple[int, str]]:
    """Residues with an alpha carbon in both structures; they must be the same amino acids."""
    keys = [
        key
        for key in one
        if key in other
        and _alpha(one[key]) is not None
        and _alpha(other[key]) is not None
    ]
    differ = [key for key in keys if one[key].name != other[key].name]
    if differ:
        said = ", ".join(
            f"{number}{code.strip()} {one[number, code].name}/{other[number, code].name}"
            for number, code in differ[:5]
        )
        raise DescriptionError(
            f"{what}: {len(differ)} of {len(keys)} residues differ between the files "
            f"({said}{', ...' if len(differ) > 5 else ''}); are they numbered alike, and "
            "one protein?"
        )
    return keys


def _alpha(residue: Any) -> NDArray[np.float64] | None:
    """Where the alpha carbon is [nm]."""
    for atom in residue:
        if atom.name == "CA":  # calcium is in no polymer
            return NM * np.array(atom.pos.tolist())
    return None


def _atoms(
    residues: dict[tuple[int, str], Any], moves: Sequence[Range]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Positions [nm] and masses [Da] of the atoms of each body."""
    places: dict[str, list[Any]] = {"stationary": [], "mobile": []}
    masses: dict[str, list[float]] = {"stationary": [], "mobile": []}
    for key, residue in residues.items():
        body = "mobile" if _within(key, moves) else "stationary"
        for atom in residue:
            places[body].append(atom.pos.tolist())
            masses[body].append(_weight(atom, key, residue))
    return {b: NM * np.array(x) for b, x in places.items()}, {
        b: np.array(m) for b, m in masses.items()
    }


def _weight(atom: Any, key: tuple[int, str], residue: Any) -> float:
    """Mass [Da]. Where a file does not name elements, the first letter of an atom's name does: an atom HG1 of
    an amino acid is no mercury."""
    if isinstance(atom, _Carbon):
        return atom.weight
    gemmi: Any = importlib.import_module("gemmi")
    name = atom.element.name
    if name not in OF_PROTEINS:
        name = (
            "Se"
            if residue.name == "MSE" and atom.name == "SE"
            else atom.name.lstrip("0123456789'\"*")[:1]
        )
    if name not in OF_PROTEINS:
        raise DescriptionError(
            f"domain_hinge: atom {atom.name!r} of residue {residue.name} {key[0]} is of "
            f"no element that proteins have ({', '.join(OF_PROTEINS)})"
        )
    return float(gemmi.Element(name).weight)


def _ranges(given: Any, what: str) -> list[Range]:
    """Ranges of residues; one pair counts as a list of one."""
    given = (
        [given]
        if len(given) == 2 and all(isinstance(x, (int, np.integer)) for x in given)
        else given
    )
    out = []
    for pair in given:
        try:
            first, last = (int(x) for x in pair)
        except (TypeError, ValueError):
            raise DescriptionError(
                f"{what}: expected first and last residue, such as [(92, 191)], got {pair!r}"
            ) from None
        if first > last:
            raise DescriptionError(f"{what}: the range {first} to {last} runs backwards")
        out.append((first, last))
    return out


def _within(key: tuple[int, str], ranges: Sequence[Range]) -> bool:
    return any(first <= key[0] <= last for first, last in ranges)


# ---- motion


def _superposition(
    fixed: NDArray[np.float64], moving: NDArray[np.float64]
) -> tuple[Transform, float]:
    """The pose that lays points (n, 3) on others, least squares, and the root mean square left [nm]."""
    turn, _ = Rotation.align_vectors(fixed - fixed.mean(0), moving - moving.mean(0))
    R = turn.as_matrix()
    p = fixed.mean(0) - R @ moving.mean(0)
    return Transform(R, p), float(
        np.sqrt(np.square(moving @ R.T + p - fixed).sum(1).mean())
    )


def _screw(
    z: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float, NDArray[np.float64]]:
    """Axis, shift along it and a point of it, of a twist. Without a turn: along the shift, through the
    origin."""
    theta = float(np.linalg.norm(z[:3]))
    if theta < STILL[0]:
        shift = float(np.linalg.norm(z[3:]))
        return z[3:] / shift, shift, np.zeros(3)
    n = z[:3] / theta
    return n, float(n @ z[3:]), np.cross(n, z[3:]) / theta


def _mobilizer(
    X: Transform,
    z: NDArray[np.float64],
    center: dict[str, NDArray[np.float64]],
    coordinates: int,
    what: str,
) -> Mobilizer:
    if coordinates == 1:
        return _along(z, "closing")
    between = center["mobile"] - center["stationary"]
    d = between / np.linalg.norm(between)
    w, *v = quaternion_from_rotation(X.R)
    turn = 2 * np.arctan2(np.dot(v, d), w)
    z_2 = np.concatenate([turn * d, turn * np.cross(center["mobile"], d)])
    z_1 = np.asarray(log_se3(X @ exp_se3(-z_2)))
    if min(np.linalg.norm(z_1), np.linalg.norm(z_2)) < STILL[0]:
        raise DescriptionError(
            f"{what}: the domains only {'close' if abs(turn) < STILL[0] else 'twist'}; "
            "one coordinate is all there is, coordinates=1"
        )
    return compose(_along(z_1, "closing"), _along(z_2, "twist"))


def _along(z: NDArray[np.float64], coordinate: str) -> SplineCurve:
    """exp(z q): control frames on one screw, at even steps, have it for their curve, and it goes on beyond 0
    and 1."""
    return SplineCurve(
        exp_se3(np.linspace(0.0, 1.0, 4)[:, None] * z), coordinate=coordinate
    )


def _inertia(r: NDArray[np.float64], masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """About the center of mass [Da nm^2], shape (3, 3)."""
    return np.einsum("n,nk,nk,ij->ij", masses, r, r, np.eye(3)) - np.einsum(
        "n,ni,nj->ij", masses, r, r
    )
