"""`cd.metabolic_power`: the energy consumption of the muscles of a motion."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from condyle.arrays import Array, vertcat
from condyle.errors import DescriptionError, check_names
from condyle.muscles.metabolics import Metabolics, Umberger2010, Working
from condyle.muscles.muscle import Muscle
from condyle.native.tables.lookup import lookup_context
from condyle.native.tables.staged import Staged
from condyle.studies.muscle_analysis import MuscleAnalysis
from condyle.studies.prescribed_forces import at_times
from condyle.system.checked_arguments import check_system
from condyle.system.system import System
from condyle.table import Table
from condyle.trace.parameter import as_sx

TAKEN = (
    "excitation",
    "activation",
    "normalized_fiber_length",
    "fiber_velocity",
    "active_fiber_force",
    "passive_fiber_force",
)


def metabolic_power(
    system: System,
    analysis: MuscleAnalysis,
    model: Metabolics | None = None,
    *,
    excitations: Table | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Table:
    """Metabolic power of each muscle and of the whole body.

        traj = cd.simulate(leg, state, t_final=1.0)
        power = cd.metabolic_power(leg, cd.muscle_analysis(leg, traj), cd.muscles.Bhargava2004())
        energy = np.trapezoid(power["total"], power.time)  # [J]

    Args:
        system: the system with the muscles.
        analysis: result of `cd.muscle_analysis` for a Trajectory, or for a motion with activations.
        model: `cd.muscles.Umberger2010()`, by default, or `cd.muscles.Bhargava2004()`.
        excitations: a column per muscle, from 0 to 1. By default those of the Trajectory, or the
            activations of a motion.
        parameters: values of Parameters in masses and muscles; their defaults if not given.

    Returns:
        a Table [W] with a column per muscle, "basal" and "total".

    Raises:
        CondyleError: invalid arguments.
    """
    check_system("metabolic_power", system, "analysis")
    model = Umberger2010() if model is None else model
    if not isinstance(analysis, MuscleAnalysis) or not analysis.tables:
        raise DescriptionError(
            "metabolic_power: expected what cd.muscle_analysis gives for a Trajectory or for a motion with "
            f"activations=, got {analysis!r}"
        )
    names = analysis["activation"].names
    if tuple(names) != tuple(system.muscles):
        raise DescriptionError("metabolic_power: the analysis has the muscles of another system")
    given = {name: analysis[name].values for name in TAKEN}
    if excitations is not None:
        check_names("column", names, excitations.names, "excitations: every muscle needs one")
        given["excitation"] = at_times("excitations", excitations[list(names)], analysis.lengths.time)
    values = {p.name: p.default for k in names for p in system.force(k).parameters()} | dict(parameters or {})
    out = np.empty((len(analysis.lengths.time), len(names) + 2))
    for k, name in enumerate(names):
        law = system.force(name)
        assert isinstance(law, Muscle)
        out[:, k] = _power(model, name, law, np.stack([x[:, k] for x in given.values()]), values)
    out[:, -2] = model.basal(sum(float(b.mass_properties_at(values).mass) for b in system.bodies))
    out[:, -1] = out[:, :-1].sum(axis=1)
    table = analysis.lengths
    return Table(table.time, [*names, "basal", "total"], out, ["W"] * (len(names) + 2), degrees=False)


@lookup_context()
def _power(model: Metabolics, name: str, law: Muscle, given: Array, values: Mapping[str, float]) -> Array:
    """Power of one muscle from rows of the quantities TAKEN, shape (6, m)."""
    x, own = ca.SX.sym("x", len(TAKEN)), law.parameters()
    e, a, l_n, v_M, active, passive = ca.vertsplit(x)
    done = Working(e, a, l_n, v_M, law.active_force_length.value(l_n), active, passive)
    p = vertcat(as_sx(q) for q in own)
    numbers = np.repeat([[values[q.name]] for q in own], given.shape[1], axis=1).reshape(len(own), -1)
    [power] = Staged("metabolic_power", [x, p], [model.power(name, law, done)]).evaluate([given, numbers])
    return np.asarray(power)[0]
