"""Which coordinate each speed is the rate of."""

from __future__ import annotations

import casadi as ca

from condyle.system.system import System


def coordinates_of_speeds(system: System) -> tuple[int, ...]:
    """The coordinate that each speed is the rate of, whatever q is; -1 where there is none."""

    def find() -> tuple[int, ...]:
        out = [-1] * system.nu
        for b in system.bodies:
            N = ca.sparsify(b.mobilizer.N(ca.SX.sym("q", b.mobilizer.nq)))
            for j in range(b.mobilizer.nq):
                row = ca.sparsify(N[j, :])
                if row.nnz() == 1 and row.is_constant() and float(row.nz[0]) == 1.0:
                    out[b.u.start + row.sparsity().get_triplet()[1][0]] = b.q.start + j
        return tuple(out)

    compiled = system.compiled
    return compiled.remembered(
        "coordinates of speeds", lambda: tuple(compiled.model.notes.get("coordinates of speeds", find))
    )
