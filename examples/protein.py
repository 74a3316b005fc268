"""Two domains of a protein and the hinge between them, from an open and a closed file.

Section 5 of seth2010. Real files serve as well: of LAO (2lao open, 1lst closed) give
mobile=[(92, 191)], hinge=[(90, 91), (192, 193)], chain="A". Here two small structures are
made; proteins/domain_hinge.py reads them. Units: nm, Da, ps, kJ/mol, kJ/(mol nm).
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.integrate import cumulative_trapezoid

import condyle as cd

sys.path.append(str(Path(__file__).parent))
from proteins.domain_hinge import domain_hinge

k = np.arange(24)
spine = np.stack([2.3 * np.cos(1.75 * k), 2.3 * np.sin(1.75 * k), 1.5 * k], 1)
atoms = {"N": (-1.2, 0.7, 0.3), "CA": (0, 0, 0), "C": (0.9, 1.1, 0.5)}  # [angstrom]
turn = cd.spatial.rotation_about((0.6, 0.8, 0), np.radians(40))
pivot, shift = spine[12], (0.5, -0.3, 0.4)


def structure(moved):
    lines = []
    for i, place in enumerate(spine):
        for name, r in atoms.items():
            p = place + r
            x, y, z = turn @ (p - pivot) + pivot + shift if moved and i >= 12 else p
            lines.append(
                f"ATOM  {len(lines) + 1:5d}  {name:<3} ALA A{i + 1:4d}    "
                f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           {name[0]}"
            )
    return "\n".join([*lines, "END", ""])


with tempfile.TemporaryDirectory() as folder:
    files = Path(folder, "open.pdb"), Path(folder, "closed.pdb")
    for path, moved in zip(files, (False, True)):
        path.write_text(structure(moved))
    found = domain_hinge(*files, mobile=[(13, 24)], hinge=[(12, 13)])
    two = domain_hinge(*files, mobile=[(13, 24)], coordinates=2)
print(found)
np.testing.assert_allclose(np.degrees(found.angle), 40, atol=0.1)  # of rounded positions
for hinge, closed in ((found, [1.0]), (two, [1.0, 1.0])):
    R, p = hinge.system.body_pose(closed, "mobile")
    np.testing.assert_allclose(np.c_[R, p], np.c_[hinge.X.R, hinge.X.p], atol=1e-12)

# Closing in 100 ps: the motive force, its work, and what the hinge bears meanwhile.
s = np.linspace(0, 1, 201)
closing = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])
q, u, udot = (closing.deriv(k)(s)[:, None] / 100**k for k in range(3))
motive = found.system.inverse_dynamics(q, u, udot)  # [kJ/mol]
load = found.system.reactions(q, u, udot, "mobile")[:, 3:]  # [kJ/(mol nm)]
print(
    f"motive force up to {motive.max():.4f} kJ/mol, hinge force up to "
    f"{np.linalg.norm(load, axis=1).max():.4f} kJ/(mol nm)"
)
ke = found.system.energy(q, u)[0]
work = cumulative_trapezoid(motive[:, 0], q[:, 0], initial=0.0)
np.testing.assert_allclose(work, ke, atol=1e-4 * ke.max())  # of the trapezoidal rule
