"""The coordinate of which each speed is the rate."""

from __future__ import annotations

from condyle.system.system import System


def coordinates_of_speeds(system: System) -> tuple[int, ...]:
    """The coordinate of which each speed is the rate for all q; -1 if there is none."""

    def find() -> tuple[int, ...]:
        out = [-1] * system.nu
        for b in system.bodies:
            for j, k in b.mobilizer.rates_of_coordinates().items():
                out[b.u.start + k] = b.q.start + j
        return tuple(out)

    compiled = system.compiled
    return compiled.remembered(
        "coordinates of speeds", lambda: tuple(compiled.model.code.notes.get("coordinates of speeds", find))
    )
