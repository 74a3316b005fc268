"""Person: a subject estimated from recordings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from condyle.arrays import Array, is_whole
from condyle.errors import DescriptionError
from condyle.io.markers import Markers
from condyle.opensim import write_osim
from condyle.personal.anthropometry import SizePrior
from condyle.personal.dynamics import CONTRARY, ROUGH, TURNS, Masses
from condyle.personal.estimates import Estimates
from condyle.personal.followed import Followed
from condyle.personal.landmarks import MarkerKinds, WhoIsWho
from condyle.personal.loaded_system import SHARE
from condyle.personal.marker_fit import Fit, MarkerFit
from condyle.personal.plates import LIKELY
from condyle.personal.recordings import SubjectRecording
from condyle.personal.sized_system import SizedSystem
from condyle.presentation import Block, Display, cut, page
from condyle.quality import Check, Judged, Verdict
from condyle.records import dataclass
from condyle.studies.scaling.scale import scale
from condyle.system.system import System
from condyle.table import Table
from condyle.viewer.bodies import painted
from condyle.viewer.marks import Arrows
from condyle.viewer.page import Page
from condyle.viewer.shown import show

SEEN = 0.2
"""Information of the recordings about a size relative to the prior's, below which it remains at the prior."""
FORCES = "are plates, times and masses right? Is a foot off the plates?"
RMS, MOVED, BEYOND = 0.01, 0.015, 3.0
"""Guidelines: marker errors [m], how far a marker on a bone moved [m], sizes in sd of the prior."""


@dataclass(frozen=True, eq=False, repr=False)
class Person(Display, Judged):
    """A subject from recordings, from `cd.personalize`.

    Attributes:
        sized: the shared system, with sizes as Parameters.
        prior: of the sizes.
        kinds: of the markers.
        who: match of names between data and model.
        recordings: the static one first, if there is one, then the trials.
        fit: sizes, offsets and poses of some frames.
        followed: each trial with these sizes.
        mass: of the subject [kg].
        renamed: markers that a recording exchanged, {name in the data: name in the model}, by recording.
        lost: markers of a recording that the model cannot follow, which are left out, by recording.
        strange: trials that may be of another subject, and by how much it is larger.
        dynamics: masses and forces at the root; None without loads.
    """

    sized: SizedSystem
    prior: SizePrior
    kinds: MarkerKinds
    who: WhoIsWho
    recordings: list[SubjectRecording]
    picks: list[Array]
    problem: MarkerFit
    fit: Fit
    followed: list[Followed]
    mass: float | None
    renamed: dict[str, dict[str, str]]
    lost: dict[str, list[str]]
    strange: dict[str, float]
    dynamics: Masses | None

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
        """Size factors of each body relative to the generic model along x, y, z, shape (3,)."""
        return self.sized.factors(np.exp(self.fit.theta))

    @cached_property
    def sizes(self) -> Estimates:
        """Factors of segments along their axes, with standard deviations, beside the prior; `sizes["femur_r"]`
        are those of a body, shape (3,)."""
        n = len(self.prior.names)
        s, mean = np.exp(self.fit.theta), np.exp(self.prior.mean)
        sd = s * np.sqrt(np.diag(self.fit.covariance)[:n])
        known = np.diag(np.linalg.inv(self.prior.covariance))
        told = np.diag(np.linalg.inv(self.fit.covariance[:n, :n])) / known - 1  # given all other sizes
        return Estimates(
            "sizes",
            "",
            self.prior.names,
            s,
            {name: float(x) for name, x in zip(self.prior.names, sd, strict=True)},
            mean,
            mean * np.sqrt(np.diag(self.prior.covariance)),
            tuple(name for name, x in zip(self.prior.names, told, strict=True) if x < SEEN),
            self.factors,
        )

    @cached_property
    def offsets(self) -> Estimates:
        """Displacement of markers from their places in the scaled generic model, in the axes of their bodies
        [m].
        """
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
        """Distance of each marker from its place in the scaled generic model [m]."""
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
    def masses(self) -> Estimates:
        """Masses of bodies [kg] with standard deviations, beside the prior: shares of the model. Without
        loads they remain at the prior, and an unknown mass is the model's.
        """
        bodies = [b for b in self.sized.generic.bodies if b.mass > 0]
        m0 = np.array([float(b.mass) for b in bodies])
        total = m0.sum() if self.mass is None else self.mass
        prior = m0 / m0.sum() * total
        value, sd, prior_sd = prior, SHARE * prior, SHARE * prior
        if self.dynamics is not None:
            found, at = self.dynamics, [self.dynamics.loaded.mass_of[b.name] for b in bodies]
            value, prior = m0 * np.exp(found.pi[at]), m0 * np.exp(found.prior[at])
            sd, prior_sd = value * np.sqrt(np.diag(found.covariance))[at], SHARE * prior
        names = [b.name for b in bodies]
        return Estimates(
            "masses",
            "kg",
            tuple(names),
            value,
            dict(zip(names, map(float, sd), strict=True)),
            prior,
            prior_sd,
        )

    @property
    def residuals(self) -> tuple[Table | None, ...]:
        """Residual forces [N] and moments [N m] at the root over time, one Table per trial; None for trials
        without loads."""
        if self.dynamics is None:
            return (None,) * len(self.followed)
        return tuple(None if r is None else r.after for r in self.dynamics.trials)

    @cached_property
    def system(self) -> System:
        """The subject's model: scaled, with estimated masses and marker positions, including muscles."""
        generic, found = self.sized.generic, self.dynamics
        keep = found is not None or self.mass is not None
        made = scale(
            generic,
            factors=self.factors,  # type: ignore[arg-type]
            mass=self.mass if found is None else None,
            preserve_mass_distribution=keep,
        ).system.copy(markers=self.stations)
        if found is None:
            return made
        at = dict(zip(found.loaded.names, found.pi, strict=True))
        system, changed = found.loaded.system, {}
        given = self.sized.parameters(np.exp(self.fit.theta))
        given |= {n: float(np.exp(x)) if n.startswith("mass of") else float(x) for n, x in at.items()}
        for b in system.bodies:
            m = b.mass_properties_at(given)
            changed[b.name] = {"mass": float(m.mass), "com": np.array(m.com), "inertia": np.array(m.inertia)}
        return made.copy(bodies=changed)

    def write(self, path: str | Path) -> Path:
        """Write the subject as a model of OpenSim.

        Args:
            path: "subject.osim".
        """
        write_osim(self.system, path)
        return Path(path)

    def show(self, path: str | Path | None = None, trial: int = 0) -> Page:
        """The fit in the browser, as `cd.show`: the subject follows a trial's markers, arrows lead from the
        place of a marker in the scaled generic model to its estimated place, and bodies larger than the
        generic model's are red, smaller ones blue.

        Args:
            path: of the file, ending in .html.
            trial: which one.
        """
        count = len(self.followed)
        if not is_whole(trial, -count, count - 1):
            known = (
                f"0 to {count - 1}" if count else "none: a static trial alone has no motion; see .report()"
            )
            raise DescriptionError(f"Person.show: trial {trial!r}: there are {known}")
        followed = self.followed[trial]
        r = [r for r in self.recordings if not r.static][trial]
        system, time = self.system, followed.motion.time
        colors = {b: _color(float(np.mean(s))) for b, s in self.factors.items()}
        X, arrows = self.sized.system.body_poses(followed.q, parameters=self._parameters), []
        for k, n in enumerate(self.problem.markers):
            b = self.problem.body[k]
            at = X.p[:, b] + X.R[:, b] @ (self.stations[n] - self.fit.d[k])
            arrows.append(Arrows(f"{n} moved", time, at, X.R[:, b] @ self.fit.d[k], unit="m"))
        names = {
            n: self.who.called[n] for n in r.markers.names if self.who.called.get(n) in self.problem.markers
        }
        seen = r.markers[list(names)]
        table: Any = Markers(seen.time, list(names.values()), seen.positions)
        q = Table(time, followed.motion.names, followed.q, followed.motion.units)
        bare = painted(system, colors).copy(forces=dict.fromkeys(system.muscles))  # they would hide the bones
        return show(
            bare,
            path,
            motion=q,
            markers=table,
            arrows=arrows,
            plots=[followed.errors],
            title=f"The subject of {r.name}: red bodies are a tenth larger than the generic model's, blue ones smaller; "
            "arrows lead from where the model has a marker to where it sits",
        )

    @property
    def _parameters(self) -> dict[str, float]:
        return self.sized.parameters(np.exp(self.fit.theta))

    # ---- quality -------------------------------------------------------------------------------------------

    def _checks(self) -> Iterator[Check]:
        names = [r.name for r in self.recordings if not r.static]
        for name, rms in zip(names, self.rms, strict=True):
            yield Check(f"marker error RMS, {name}", 1e3 * rms, "mm", 1e3 * RMS, 4e3 * RMS, "", "")
        bony = {n: self.moved[n] for n in self.moved if self.kinds.kinds[n] in ("anatomical", "doubtful")}
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
        for name, r in zip(names, self.dynamics.trials if self.dynamics else (), strict=False):
            if r is None:
                continue
            force, moment = r.left
            yield Check(
                f"residual force RMS, {name}",
                100 * force / r.peak,
                "% of peak",
                100 * ROUGH[0],
                100 * CONTRARY,
                "",
                FORCES,
            )
            yield Check(f"residual moment RMS, {name}", moment, "N m", ROUGH[1], TURNS, "", FORCES)
            rms, most = np.degrees(r.changed)
            yield Check(f"angles changed for it RMS, {name}", float(rms), "deg", ROUGH[2], 2.0)
            yield Check(f"angles changed for it most, {name}", float(most), "deg", 4.0, 10.0)
        if self.dynamics is not None:
            total = sum(self.masses.values)
            off = 100 * abs(total / self.dynamics.total - 1)
            yield Check("total mass against the vertical force", off, "%", 1.0, 3.0, f"{total:.1f} kg")
            found = self.dynamics
            if self.mass is None:
                off = abs(float(np.log(found.total / found.likely))) / LIKELY
                yield Check(
                    "mass of the forces against sizes", off, "sd", 2.0, 4.0, f"{found.likely:.0f} kg", FORCES
                )
            else:
                off = 100 * abs(found.total / self.mass - 1)
                yield Check(
                    "mass of the forces against mass=", off, "%", 5.0, 15.0, f"{self.mass:.1f} kg", FORCES
                )
            away = np.abs(found.pi - found.prior) / found.loaded.prior_sd
            k = int(np.argmax(away))
            yield Check(
                "mass farthest from the prior",
                float(away[k]),
                "sd",
                BEYOND,
                2 * BEYOND,
                found.loaded.names[k],
                "errors of motion or plates may look like masses; leave loads= out to keep those of the model",
            )
        for name, x in self.strange.items():
            yield Check(
                f"larger than in the other trials, {name}",
                100 * abs(x),
                "%",
                2.0,
                4.0,
                "",
                "another subject?",
            )
        yield Check("skin motion", 1e3 * self.fit.sd, "mm", None)

    def _blocks(self) -> list[Block]:
        blocks = [self.sizes.block]
        if self.dynamics is not None:
            blocks.append(self.masses.block)
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
        """Notes: rows of `quality` above their guidelines, undetermined sizes and masses, names."""
        out = [str(c) for c in self.quality if c.verdict in (Verdict.CHECK, Verdict.FAIL)]
        if self.sizes.unseen:
            out.append(
                f"sizes that no marker shows, which follow other sizes or stay at the prior: {cut(self.sizes.unseen, 12)}"
            )
        if self.dynamics is not None and self.dynamics.weak:
            out.append(
                "masses and mass centers that the forces do not show, which stay at the prior: "
                + cut(self.dynamics.weak, 30)
            )
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
        """A report of sizes and priors, moved markers, quality, and what to inspect."""
        return "\n\n".join(block.text() for block in self._blocks())

    def __repr__(self) -> str:
        rms = ", ".join(f"{1e3 * x:.1f}" for x in self.rms)
        return (
            f"Person({len(self.sizes)} sizes, {len(self.moved)} markers, {len(self.followed)} trial"
            f"{'s' * (len(self.followed) != 1)}{f', marker errors {rms} mm rms' * bool(rms)}{self.quality.summary})"
        )

    def _repr_html_(self) -> str:
        return page(repr(self), *self._blocks())


def _color(size: float) -> str:
    """Red for bodies a tenth larger than the generic model's, blue for a tenth smaller, gray between."""
    x = float(np.clip((size - 1) / 0.1, -1, 1))
    pale = round(200 * (1 - abs(x)))
    return f"#{220 if x > 0 else pale:02x}{pale:02x}{220 if x < 0 else pale:02x}"
