"""`cd.joint_powers`: products of moments and speeds."""

from __future__ import annotations

from condyle.errors import DescriptionError, ShapeError
from condyle.studies.motion.motion import Motion
from condyle.system.checked_arguments import check_system
from condyle.system.system import System
from condyle.table import Table
from condyle.tree import scales


def joint_powers(
    system: System, motion: Table | Motion, moments: Table, *, lowpass: float | None = None
) -> Table:
    """Power at each speed [W]: generalized force times speed. Positive power adds energy to the body. Work is
    `powers.integrate()`; for generated work, integrate `powers.values.clip(0)`.

    Args:
        system: of the motion.
        motion: a Table of coordinates or a `cd.Motion`, as for `cd.inverse_dynamics`.
        moments: result of `cd.inverse_dynamics` for it: columns by speed [N m, N], at the same times.
        lowpass: cut-off frequency [Hz] for the coordinates, the same as for the moments.

    Raises:
        ShapeError: moments at other times.
        DescriptionError: columns that are not speeds of the system.
    """
    check_system("joint_powers", system, "motion")
    moved = Motion.of(system, motion, lowpass=lowpass)
    if len(moved.t) != len(moments) or abs(moved.t - moments.time).max() > 1e-6:
        raise ShapeError(
            f"joint_powers: the motion has {len(moved.t)} frames and the moments {len(moments)} rows at other times; "
            "moments.resample(times=motion.time) brings them together"
        )
    names = [name for name in moments.names if name in system.speeds]
    if not names:
        raise DescriptionError(
            f"joint_powers: no column of the moments is a speed of the system, {', '.join(system.speeds[:8])}"
        )
    at = [system.speeds.index(name) for name in names]
    units = scales.units(system.bodies)[1]
    values = moments[names].values * moved.u[:, at]
    return Table(
        moved.t, names, values, ["W" if units[k] in ("rad/s", "m/s") else "" for k in at], degrees=False
    )
