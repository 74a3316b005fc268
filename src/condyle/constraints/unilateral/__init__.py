"""Unilateral constraints: rigid contacts with Coulomb friction, stops of coordinates, ropes.

The material of surfaces makes a contact rigid; `system.add_contact` adds it.

    rubber = cd.contact.Rigid(restitution=0.5, friction=0.8)                    # law="newton" or "poisson"
    floor = cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, rubber)
    system.add_contact("bounce", floor, cd.contact.Sphere("ball", (0, 0, 0), 0.1, rubber))
    system.add_contact("block", floor, cd.contact.vertices("block", corners, rubber))  # block.0 ..
    system.add_constraint("knee stop", cd.constraints.Stop("knee", upper=2.4, restitution=0.1))
    system.add_constraint("rope", cd.constraints.Rope("ground", (0, 0, 0), "bob", (0, 0, 0), 1.0))
    system.constraints.unilateral                                                           # their names, in order

For solvers (docs/theory/rigid_contact.md (2)-(7)), all native and batched over leading dimensions:

    rows = system.compiled.function("unilateral_rows")       # of all of `system.constraints.unilateral`, in order
    gap, rate, slip, G, bias, e, mu = rows(q, u, tail)       # flat; compiled.shaped() reshapes

    gap    (k,)        g >= 0 [m, rad]
    rate   (k,)        gdot = G[:, 0] u (+ what time does)
    slip   (k, 2)      along t_1, t_2: G[:, 1:] u; zero rows without friction
    G      (k, 3, nu)  rows of gdot and slip: a force lambda_n >= 0 pushes by + G[:, 0]' lambda_n
    bias   (k, 3)      gddot and the rates of slip at udot = 0
    e, mu  (k,)        restitution and friction, with the Parameters of the tail

`model.unilateral[name]` is the constraint: `.law`, `.has_friction`, `.flags(name)` and
`.directions(name)`, names of its discrete variables. As equations of the system (G of `constraints.jacobian`,
p = -gap) they hold where the discrete variables of a state say so (NAME.closed, NAME.stick, NAME.slide_x ..
_z); in default states all are open. Equality constraints and locks are in `system.constraints.impulses(q, u, f)` and
`solve_mass_matrix(q, f, locked=...)`.
"""

from condyle.constraints.unilateral.base import Unilateral
from condyle.constraints.unilateral.contact import RigidContact
from condyle.constraints.unilateral.limits import Rope, Stop

__all__ = ["RigidContact", "Rope", "Stop", "Unilateral"]
