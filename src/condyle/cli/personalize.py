"""`condyle personalize`: a subject from recordings, written into a folder."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from condyle.cli.output import NewFolder, refuse_unwritable
from condyle.cli.terminal import say
from condyle.errors import DescriptionError, QualityWarning
from condyle.native.machine.ctrl_c import patient
from condyle.opensim import read_osim
from condyle.personal.personalize import personalize
from condyle.quality import Verdict


def run(
    model: Path,
    trials: list[Path],
    static: Path | None,
    loads: list[Path] | None,
    markers: Path | None,
    given: dict[str, Any],
    output: Path | None,
    force: bool,
) -> bool:
    """Personalize a model and write it. Returns True if no check of its quality fails.

    Args:
        model: an .osim file.
        trials: recordings.
        static: of the subject standing.
        loads: of the trials, in their order; None without.
        markers: a MarkerSet to add.
        given: mass, height, sizes and symmetric of `cd.personalize`.
        output: folder; None is the first unused of MODEL-subject, MODEL-subject-2, ...
        force: overwrite what is there.
    """
    if forces_given := [x for x in trials if x.suffix == ".xml"]:
        raise DescriptionError(
            f"personalize: {forces_given[0]}: expected recorded markers (.trc, .c3d); loads are given one by one, --loads a.xml --loads b.xml"
        )
    with patient():
        refuse_unwritable(output, force)
        system = read_osim(model, add=markers) if markers is not None else read_osim(model)
        forces: Any = None if not loads else [*loads, *[None] * (len(trials) - len(loads))]
        with warnings.catch_warnings(record=True, action="always") as told:
            person = personalize(
                system,
                trials,
                static,
                forces,
                progress=lambda text: print(f"  {text} ...", flush=True),
                **given,
            )
        with NewFolder(output, f"{model.stem}-subject") as folder:
            person.write(folder.path / "subject.osim")
            names = [r.name for r in person.recordings if not r.static]
            for name, motion in zip(names, person.motions, strict=True):
                motion.save(folder.path / f"{name}.mot")
            for name, rows in (
                ("sizes", person.sizes),
                ("offsets", person.offsets),
                ("masses", person.masses),
            ):
                rows.save(folder.path / f"{name}.csv")
            (folder.path / "report.txt").write_text(person.report() + "\n", encoding="utf-8")
        for line in person.quality.lines():
            print(f"  {line}")
        for w in told:
            if w.category is not QualityWarning:  # the table has it
                say("CHECK", str(w.message))
        print(
            f"\nDone. {folder.path / 'subject.osim'} is the subject; report.txt and motions are beside it.",
            flush=True,
        )
        return person.quality.verdict is not Verdict.FAIL
