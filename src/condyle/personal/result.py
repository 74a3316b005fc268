"""Person: what recordings tell of a subject."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from condyle.arrays import Array
from condyle.opensim import write_osim
from condyle.personal.anthropometry import SizePrior
from condyle.personal.estimates import Estimates
from condyle.personal.followed import Followed
from condyle.personal.landmarks import MarkerKinds, WhoIsWho
from condyle.personal.marker_fit import Fit, MarkerFit
from condyle.personal.recordings import Recording
from condyle.personal.sized_system import SizedSystem
from condyle.presentation import Block, Display, cut, page
from condyle.quality import Check, Judged, Verdict
from condyle.records import dataclass
from condyle.studies.scaling.scale import scale
from condyle.system.system import System
from condyle.table import Table

RMS, MOVED, BEYOND = 0.01, 0.015, 3.0
"""Guidelines: marker errors [m], how far a marker on a bone moved [m], sizes in sd of the prior."""


@dataclass(frozen=True, eq=False, repr=False)
class Person(Display, Judged):
    """A subject from recordings, from `cd.personalize`.

    Attributes:
        sized: the shared system, with sizes as Parameters.
        prior: of the sizes.
        kinds: of the markers.
        who: names of the data and what the model calls them.
        recordings: the static one first, if there is one, then the trials.
        fit: sizes, offsets and poses of some frames.
        followed: each trial with these sizes.
        mass: of the subject [kg].
        renamed: markers that a recording exchanged, {name in the data: name in the model}, by recording.
        lost: markers of a recording that the model cannot follow, which are left out, by recording.
    """

    sized: SizedSystem
    prior: SizePrior
    kinds: MarkerKinds
    who: WhoIsWho
    recordings: list[Recording]
    picks: list[Array]
    problem: MarkerFit
    fit: Fit
    followed: list[Followed]
    mass: float | None
    renamed: dict[str, dict[str, str]]
    lost: dict[str, list[str]]

    _study = "personalize"
    plumbing: ClassVar[frozenset[str]] = frozenset({"problem", "picks", "sized"})
    elsewhere: ClassVar[dict[str, str]] = {
        "model": "it is person.system",
        "markers": "places are person.offsets, errors person.errors",
        "motion": "it is person.motions, one per trial",
        "save": "it is person.write('subject.osim')",
    }

    @cached_property
    def factors(self) -> dict[str, Array]:
        """By how much each body is larger than the generic model's along x, y, z, shape (3,)."""
        return self.sized.factors(np.exp(self.fit.theta))

    @cached_property
    def sizes(self) -> Estimates:
        """Factors of segments along their axes, with standard deviations, beside the prior; `sizes["femur_r"]`
        are those of a body, shape (3,)."""
        n = len(self.prior.names)
        s, mean = np.exp(self.fit.theta), np.exp(self.prior.mean)
        sd = s * np.sqrt(np.diag(self.fit.covariance)[:n])
        return Estimates(
            "sizes",
            "",
            self.prior.names,
            s,
            {name: float(x) for name, x in zip(self.prior.names, sd, strict=True)},
            mean,
            mean * np.sqrt(np.diag(self.prior.covariance)),
            self.factors,
        )

    @cached_property
    def offsets(self) -> Estimates:
        """How far markers sit from where the scaled generic model has them, in the axes of their bodies [m]."""
        names, n = self.problem.markers, len(self.prior.names)
        sd = np.sqrt(np.diag(self.fit.covariance)[n:]).reshape(-1, 3)
        prior = np.array([[self.kinds.sd[m]] * 3 for m in names])
        return Estimates(
            "offsets",
            "m",
            tuple(names),
            self.fit.d,
            dict(zip(names, sd, strict=True)),
            np.zeros_like(sd),
            prior,
        )

    @cached_property
    def moved(self) -> dict[str, float]:
        """How far each marker sits from where the scaled generic model has it [m]."""
        return {n: float(np.linalg.norm(d)) for n, d in zip(self.problem.markers, self.fit.d, strict=True)}

    @cached_property
    def stations(self) -> dict[str, Array]:
        """Places of markers on the subject's bodies [m], shape (3,)."""
        s = np.exp(self.fit.theta)
        at = s[self.problem.size] * self.problem.r + self.fit.d
        return dict(zip(self.problem.markers, at, strict=True))

    @property
    def motions(self) -> tuple[Table, ...]:
        """Coordinates over time, one Table per trial."""
        return tuple(k.motion for k in self.followed)

    @property
    def errors(self) -> tuple[Table, ...]:
        """Distances of markers from the subject's model over time [m], one Table per trial."""
        return tuple(k.errors for k in self.followed)

    @property
    def rms(self) -> tuple[float, ...]:
        """Root of the mean square of all marker errors [m], one per trial."""
        return tuple(float(np.sqrt(np.nanmean(e.values**2))) for e in self.errors)

    @cached_property
    def system(self) -> System:
        """The subject: the model scaled, with its mass, markers where they sit; muscles and all."""
        generic = self.sized.generic
        made = scale(generic, factors=self.factors, mass=self.mass).system  # type: ignore[arg-type]
        return made.copy(markers=self.stations)

    def write(self, path: str | Path) -> Path:
        """Write the subject as a model of OpenSim.

        Args:
            path: "subject.osim".
        """
        write_osim(self.system, path)
        return Path(path)

    # ---- how good it is ------------------------------------------------------------------------------------

    def _checks(self) -> Iterator[Check]:
        names = [r.name for r in self.recordings if not r.static]
        for name, rms in zip(names, self.rms, strict=True):
            yield Check(f"marker error RMS, {name}", 1e3 * rms, "mm", 1e3 * RMS, 4e3 * RMS, "", "")
        bony = {n: self.moved[n] for n in self.moved if self.kinds.kinds[n] == "anatomical"}
        if bony:
            far = max(bony, key=lambda n: bony[n])
            yield Check(
                "anatomical marker moved most",
                1e3 * bony[far],
                "mm",
                1e3 * MOVED,
                3e3 * MOVED,
                far,
                "is it on this landmark, and is the model's marker? Is its name right?",
            )
        rest = {n: self.moved[n] for n in self.moved if n not in bony}
        if rest:
            far = max(rest, key=lambda n: rest[n])
            yield Check("other marker moved most", 1e3 * rest[far], "mm", None, None, far)
        z = self.sizes.z
        far = max(z, key=lambda n: z[n])
        yield Check(
            "size farthest from the prior",
            z[far],
            "sd",
            BEYOND,
            2 * BEYOND,
            f"{far} {self.sizes[far]:.3f}",
            "are markers of this segment where the model has them? height= and mass= narrow the prior",
        )
        yield Check("skin motion", 1e3 * self.fit.sd, "mm", None)

    def _blocks(self) -> list[Block]:
        blocks = [self.sizes.block]
        worst = sorted(self.moved, key=lambda n: -self.moved[n])[:8]
        blocks.append(
            Block(
                "Markers moved most",
                ("", "kind", "mm"),
                [(n, self.kinds.kinds[n], f"{1e3 * self.moved[n]:.1f}") for n in worst],
            )
        )
        said = [(x,) for x in self.notes]
        return [*blocks, *self.quality.blocks, *[Block("To look at", (), said)] * bool(said)]

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know: rows of `quality` above their guidelines, what recordings did not show, names."""
        out = [str(c) for c in self.quality if c.verdict in (Verdict.CHECK, Verdict.FAIL)]
        if self.sizes.unseen:
            out.append(f"sizes that no marker shows, which stay at the prior: {cut(self.sizes.unseen, 12)}")
        if self.who.spelled:
            out.append(
                f"markers matched by spelling: {cut(f'{a} is {b}' for a, b in self.who.spelled.items())}"
            )
        if self.who.strangers:
            out.append(
                "markers that the model does not have: "
                + cut((f"{a} (is it {b}?)" if b else a for a, b in self.who.strangers.items()), 12)
            )
        if self.kinds.left_out:
            out.append(
                f"markers left out: {cut((f'{a}, {b}' for a, b in self.kinds.left_out.items()), 12, '; ')}"
            )
        return tuple(out)

    def report(self) -> str:
        """Sizes beside the prior, markers that moved, quality, what to look at."""
        return "\n\n".join(block.text() for block in self._blocks())

    def __repr__(self) -> str:
        rms = ", ".join(f"{1e3 * x:.1f}" for x in self.rms)
        return (
            f"Person({len(self.sizes)} sizes, {len(self.moved)} markers, {len(self.followed)} trials, marker errors "
            f"{rms} mm rms{self.quality.summary})"
        )

    def _repr_html_(self) -> str:
        return page(repr(self), *self._blocks())
