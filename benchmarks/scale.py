"""cd.scale beside OpenSim's ScaleTool on gait2354's setup, in one run: `python -m benchmarks.scale FOLDER`.

FOLDER holds gait2354_simbody.osim and its pipeline. Both read the model, scale it and place its markers.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

from benchmarks.opensim_process import OpenSimProcess
from tests.opensim.live_scale import about_scaling

FILES = (
    "pipeline/subject01_Setup_Scale.xml",
    "gait2354_simbody.osim",
    "pipeline/gait2354_Scale_MarkerSet.xml",
)


def main(folder: Path, runs: int = 5) -> None:
    # not above: the other process, which runs this file's first lines, cannot load both
    import condyle as cd
    from tests.opensim.setups import arguments

    setup, model, markers = (folder / f for f in FILES)
    warnings.simplefilter("ignore", UserWarning)
    ours, theirs = [], []
    opensim = OpenSimProcess(None, about_scaling)
    for _ in range(runs):
        start = time.process_time()
        system = cd.read_osim(model, add=markers)
        cd.scale(system, **arguments(setup, system))
        ours.append(time.process_time() - start)
        theirs.append(opensim.ask("seconds", *(str(x) for x in (setup, model, markers))))
    print(
        f"gait2354 read, scaled, markers placed: Condyle {min(ours):.2f} s, OpenSim {min(theirs):.2f} s, "
        f"ratio {min(theirs) / min(ours):.2f} (CPU time, least of {runs})"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
