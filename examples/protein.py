"""Two domains of a protein and the hinge between them, from an open and a closed structure.

Section 5 of seth2010, with adenylate kinase (4AKE open, 1AKE closed) in place of LAO: the lid
closes over the core. Structures are tables of alpha carbons, or PDB and mmCIF files: of LAO
(2lao, 1lst) mobile=[(92, 191)], hinge=[(90, 91), (192, 193)], chain="A". Units: nm, Da, ps,
kJ/mol, kJ/(mol nm).
"""

import sys
from pathlib import Path

import numpy as np
from scipy.integrate import cumulative_trapezoid

sys.path.append(str(Path(__file__).parent))
from proteins.domain_hinge import domain_hinge

data = Path(__file__).parent / "proteins" / "data"
files = [data / f"adenylate_kinase_{state}.csv" for state in ("open", "closed")]
lid, others = [(122, 159)], [(30, 59)]  # others: the third domain, which moves by itself
found = domain_hinge(*files, mobile=lid, hinge=others)
two = domain_hinge(*files, mobile=lid, hinge=others, coordinates=2)
print(found)
assert 50 < np.degrees(found.angle) < 57  # 54 degrees in the literature
assert found.rms[1] < 0.06  # the lid is rigid [nm]
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
    f"motive force up to {motive.max():.3f} kJ/mol, hinge force up to "
    f"{np.linalg.norm(load, axis=1).max():.3f} kJ/(mol nm)"
)
ke = found.system.energy(q, u)[0]
work = cumulative_trapezoid(motive[:, 0], q[:, 0], initial=0.0)
np.testing.assert_allclose(work, ke, atol=1e-4 * ke.max())  # of the trapezoidal rule
