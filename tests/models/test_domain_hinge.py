"""Domains of proteins from structure files: known motions come back, and bad files are refused by name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.spatial import exp_se3, rotation_about

sys.path.append(str(Path(__file__).parents[2] / "examples"))
from proteins.domain_hinge import domain_hinge

gemmi = pytest.importorskip("gemmi")

K = np.arange(30)
SPINE = np.stack([2.3 * np.cos(1.75 * K), 2.3 * np.sin(1.75 * K), 1.5 * K], 1)
ATOMS = {"N": (-1.2, 0.7, 0.3), "CA": (0, 0, 0), "C": (0.9, 1.1, 0.5)}
MOBILE = [(13, 24)]


def pdb(R=None, p=(0, 0, 0), whole=None, names=("ALA",) * 30, chain="A", start=1):
    """Residues 13 to 24 moved by R, p [angstrom]; then everything by `whole`."""
    lines = []
    for i, place in enumerate(SPINE):
        for name, r in ATOMS.items():
            x = (np.eye(3) if R is None else R) @ (place + r) + p if 13 <= i + 1 <= 24 else place + r
            x = x if whole is None else whole.R @ x + whole.p
            lines.append(
                f"ATOM  {len(lines) + 1:5d}  {name:<3} {names[i]} {chain}{i + start:4d}    "
                f"{x[0]:8.3f}{x[1]:8.3f}{x[2]:8.3f}  1.00  0.00           {name[0]}"
            )
    return "\n".join([*lines, "TER", "END", ""])


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture
def files(tmp_path):
    moved = pdb(rotation_about((0.6, 0.8, 0), 0.7), (5, -3, 4), exp_se3(np.array([1, 2, 0.5, 9, 9, 9.0])))
    return write(tmp_path, "open.pdb", pdb()), write(tmp_path, "closed.pdb", moved)


def test_a_known_motion_comes_back(files):
    """However the second file is placed. Positions have three decimals of an angstrom: 5e-5 nm each."""
    found = domain_hinge(*files, mobile=MOBILE)
    np.testing.assert_allclose(found.angle, 0.7, atol=2e-4)
    np.testing.assert_allclose(found.X.R, rotation_about((0.6, 0.8, 0), 0.7), atol=2e-4)
    np.testing.assert_allclose(found.X.p, (0.5, -0.3, 0.4), atol=3e-4)
    assert max(found.rms) < 1e-4
    np.testing.assert_allclose(found.shift, found.axis @ found.X.p, atol=1e-12)
    # the axis' own points are moved along it alone
    np.testing.assert_allclose(
        found.X.R @ found.point + found.X.p, found.point + found.shift * found.axis, atol=1e-12
    )


@pytest.mark.parametrize("coordinates", [1, 2])
def test_open_and_closed(files, coordinates):
    found = domain_hinge(*files, mobile=MOBILE, coordinates=coordinates)
    assert found.system.coordinates == ("closing", "twist")[:coordinates]
    for q, X in ((0, cd.Transform()), (1, found.X)):
        placed = found.system.body_pose(np.full(coordinates, float(q)), "mobile")
        np.testing.assert_allclose(placed.R, X.R, atol=1e-13)
        np.testing.assert_allclose(placed.p, X.p, atol=1e-13)


def test_twist_is_about_the_line_between_the_domains(files):
    found = domain_hinge(*files, mobile=MOBILE, coordinates=2)
    center = [
        m @ x / m.sum() for m, x in ((found.masses[b], found.atoms[b]) for b in ("stationary", "mobile"))
    ]
    R, p = found.system.body_pose([0.0, 0.8], "mobile")
    np.testing.assert_allclose(R @ center[1] + p, center[1], atol=1e-13)
    np.testing.assert_allclose(R @ (center[1] - center[0]), center[1] - center[0], atol=1e-13)


def test_masses_come_from_atoms(files):
    found = domain_hinge(*files, mobile=MOBILE)
    np.testing.assert_allclose(found.masses["mobile"].sum(), 12 * (14.007 + 2 * 12.011), rtol=1e-4)
    # kinetic energy of the body is that of its atoms
    q, u = np.array([0.4]), np.array([0.3])
    ke, _ = found.system.energy(q, u)
    V = found.system.body_velocity(q, u, "mobile")
    R, _ = found.system.body_pose(q, "mobile")
    v = V[3:] + np.cross(V[:3], found.atoms["mobile"] @ R.T)
    np.testing.assert_allclose(ke, found.masses["mobile"] @ np.square(v).sum(1) / 2, rtol=1e-12)


def test_files_without_elements(files, tmp_path):
    """As programs of molecular dynamics write them, names one column to the left: CA is no calcium, HG1 no
    mercury."""
    bare = []
    for path in files:
        lines = [
            line[:12] + line[13:16] + " " + line[16:66] if line.startswith("ATOM") else line
            for line in path.read_text().splitlines()
        ]
        bare.append(write(tmp_path, f"bare_{path.name}", "\n".join(lines) + "\n"))
    a, b = (domain_hinge(*each, mobile=MOBILE) for each in (files, bare))
    np.testing.assert_allclose(a.masses["mobile"], b.masses["mobile"], rtol=1e-12)
    np.testing.assert_allclose(a.X.p, b.X.p, atol=1e-12)
    strange = write(tmp_path, "strange.pdb", bare[0].read_text().replace(" N  ", " Q  "))
    with pytest.raises(cd.errors.DescriptionError, match="atom 'Q' of residue ALA 1 is of no element"):
        domain_hinge(strange, files[1], mobile=MOBILE)


def test_mmcif_is_read_too(files, tmp_path):
    structure = gemmi.read_structure(str(files[1]))
    structure.setup_entities()
    cif = write(tmp_path, "closed.cif", structure.make_mmcif_document().as_string())
    a, b = (domain_hinge(files[0], path, mobile=MOBILE) for path in (files[1], cif))
    np.testing.assert_allclose(a.X.R, b.X.R, atol=1e-12)


def test_a_pure_shift_and_a_floating_protein(tmp_path):
    files = write(tmp_path, "a.pdb", pdb()), write(tmp_path, "b.pdb", pdb(p=(0, 0, 3)))
    found = domain_hinge(*files, mobile=MOBILE, base=cd.Free())
    np.testing.assert_allclose(found.shift, 0.3, atol=1e-9)
    assert found.system.nu == 7
    R, p = found.system.body_pose([1, 0, 0, 0, 0, 0, 0, 0.5], "mobile")
    np.testing.assert_allclose(R, np.eye(3), atol=1e-13)
    np.testing.assert_allclose(p, (0, 0, 0.15), atol=1e-9)


def test_mistakes_are_named(files, tmp_path):
    one, other = files
    make = domain_hinge
    cases = [
        (
            lambda: make(one, tmp_path / "nowhere.pdb", mobile=MOBILE),
            "closed: there is no file .*nowhere.pdb",
        ),
        (lambda: make(one, one, mobile=MOBILE), "at the same place in both files"),
        (lambda: make(one, other, mobile=[(92, 191)]), "residues 92 to 191 are not in open.pdb, .* 1 to 30"),
        (lambda: make(one, other, mobile=[(24, 13)]), "runs backwards"),
        (lambda: make(one, other, mobile=[]), "mobile names no residues"),
        (lambda: make(one, other, mobile=[13]), "expected first and last residue"),
        (lambda: make(one, other, mobile=[(13, 14)]), "the mobile domain has 2 alpha carbons"),
        (lambda: make(one, other, mobile=MOBILE, chain="B"), "has no chain 'B'; it has A"),
        (lambda: make(one, other, mobile=MOBILE, coordinates=3), "coordinates is 1 .* or 2"),
        (lambda: make(one, write(tmp_path, "x.pdb", "nonsense\n"), mobile=MOBILE), "x.pdb has no residues"),
        (
            lambda: make(one, write(tmp_path, "x.cif", "data_x\nloop_\n_a"), mobile=MOBILE),
            "x.cif is no structure",
        ),
        (
            lambda: make(one, write(tmp_path, "x.pdb", pdb(names=("GLY",) * 30)), mobile=MOBILE),
            "30 of 30 residues differ .*1 ALA/GLY",
        ),
        (lambda: make(one, write(tmp_path, "x.pdb", pdb(start=101)), mobile=MOBILE), "0 alpha carbons"),
        (
            lambda: make(
                one, write(tmp_path, "x.pdb", pdb().replace("END\n", "") + pdb(chain="B")), mobile=MOBILE
            ),
            "has the chains A, B; say which",
        ),
    ]
    for call, says in cases:
        with pytest.raises(cd.errors.DescriptionError, match=says):
            call()


@pytest.mark.skipif(
    "CONDYLE_LAO" not in os.environ, reason="set CONDYLE_LAO to files of LAO, open:closed (2lao, 1lst)"
)
def test_a_real_protein():
    """LAO: the domains are rigid within 0.1 nm, and close by some 50 degrees."""
    found = domain_hinge(
        *os.environ["CONDYLE_LAO"].split(":"), mobile=[(92, 191)], hinge=[(90, 91), (192, 193)], chain="A"
    )
    assert max(found.rms) < 0.1
    assert 40 < np.degrees(found.angle) < 65
    assert 24_000 < sum(m.sum() for m in found.masses.values()) < 28_000
