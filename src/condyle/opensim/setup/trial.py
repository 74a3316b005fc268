"""AnalysisTrial: what the analyses of a setup file share: a motion, states of its muscles, loads on its bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.forces.base import GROUPS
from condyle.opensim.element import Element
from condyle.opensim.setup.setup_file import Setup
from condyle.records import dataclass
from condyle.studies.external_load import ExternalLoad, loads_on, stacked
from condyle.studies.motion.motion import Motion, with_states
from condyle.studies.study_system import forces_of_groups, study_system
from condyle.system.states import Batch
from condyle.system.system import System


@dataclass
class AnalysisTrial:
    """What analyses share.

    Attributes:
        setup: the file.
        system: the model.
        motion: the frames that are analyzed, with the accelerations of the motion.
        smooth: the same with the accelerations of a spline through the speeds, for StaticOptimization; None
            of too few frames.
        labeled: external loads, each with what OpenSim's reports call it.
        states: makes auxiliary states (m, nz) and inputs (m, k) of the frames, when they are first needed.
        precision: digits after the point in files.
        loads_in_system: whether the loads are forces of the system already.
        unknown: what to check where muscles matter, if nothing was known of their states.
        first: row of the first frame in the whole table.
    """

    setup: Setup
    system: System
    motion: Motion
    smooth: Motion | None
    labeled: list[tuple[str, ExternalLoad]]
    states: Callable[[bool], tuple[Array, Array]]
    precision: int = 8
    loads_in_system: bool = False
    unknown: str = ""
    first: int = 0

    @property
    def loads(self) -> list[ExternalLoad]:
        """Those that are no forces of the system."""
        return [] if self.loads_in_system else [load for _, load in self.labeled]

    @cached_property
    def with_muscle_states(self) -> Motion:
        """The frames with the states of muscles, and the accelerations of the motion."""
        return with_states(self.motion, *self.states(True))

    @cached_property
    def run(self) -> Motion:
        """The same with the accelerations that all forces give."""
        return self.with_muscle_states if self.loads_in_system else self.accelerated_by({})

    def _before(self, tensions: dict[str, Array]) -> Motion:
        """The frames, without the equilibrium of muscles if all their forces are given."""
        if all(name in tensions for name in self.system.muscles):
            return with_states(self.motion, *self.states(False))
        return self.with_muscle_states

    def batch_under(self, tensions: dict[str, Array]) -> Batch:
        """The frames under given forces of muscles and actuators, {name: (m,)}, and all others."""
        system, motion = self.system, self._before(tensions)
        loads = loads_on(motion, self.loads)
        kept = [name for name in forces_of_groups(system, GROUPS) if name not in tensions]
        part = study_system(system, kept, tuple(tensions), tuple(loads))
        return part.batch(motion, stacked(tensions), stacked(loads))

    def accelerated_by(self, tensions: dict[str, Array]) -> Motion:
        """The frames with the accelerations that these forces give."""
        batch, motion = self.batch_under(tensions), self._before(tensions)
        udot = self.setup.step("accelerations", lambda: batch.ask("forward_dynamics", (), {}))
        z = motion.tail[:, self.system.compiled.model.tail["z"]]
        return with_states(motion, z, None, udot)

    def report_unknown_states(self) -> None:
        """Say, once, what is to be checked where muscles matter and nothing was known of them."""
        if self.unknown and self.system.muscles and self.unknown not in self.setup.report.check:
            self.setup.check(self.unknown)

    def recorded_rows(self, element: Element) -> NDArray[np.intp]:
        """Frames that an analysis records: those whose row in the whole table is a multiple of
        <step_interval>, and always the first and last. OpenSim ignores start_time and end_time."""
        every = max(self.setup.count("step_interval", 1, 10**9, element), 1)
        k, last = np.arange(len(self.motion)), len(self.motion) - 1
        return np.flatnonzero(((k + self.first) % every == 0) | (k == 0) | (k == last))

    def name(self, element: Element, quantity: str) -> str:
        """Of a file of results."""
        return f"{self.setup.tool.name}_{element.name}_{quantity}.sto"

    def save(
        self,
        element: Element,
        quantity: str,
        title: str,
        names: Sequence[str],
        values: Array,
        words: Sequence[str] = (),
        degrees: bool = False,
    ) -> None:
        """Write a file of results of an analysis.

        Args:
            element: the analysis.
            quantity: the end of the file's name.
            title: its first line.
            names: of the columns.
            values: shape (m, columns), of all frames, or of those that the analysis records.
            words: lines of the header.
            degrees: what the header says of angles.
        """
        keep = self.recorded_rows(element)
        if names and len(values) != len(keep):
            values = values[keep]
        self.setup.save(
            self.name(element, quantity),
            title,
            self.motion.t[keep],
            names,
            values,
            degrees=degrees,
            precision=self.precision,
            words=words,
        )

    def chosen(self, element: Element, name: str, known: Sequence[str]) -> list[str]:
        """Names in a list, in its order; all of them for "all" or an empty list. Unknown names are noted."""
        asked = self.setup.words(name, element) or ["all"]
        if asked[0].lower() == "all":
            return list(known)
        asked = [word.rpartition("/")[2] for word in asked]
        if lacking := [word for word in asked if word not in known]:
            self.setup.check(f"{element.title}: <{name}>: there is no {', '.join(lacking)} in the model")
        return [n for n in dict.fromkeys(asked) if n in known]
