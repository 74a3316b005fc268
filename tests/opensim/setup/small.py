"""A small model with its setup files, written as text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import condyle as cd
from tests.opensim.files import pendulum

PIN = """<coordinates><Coordinate name="angle"><default_value>0.1</default_value><range>-3 3</range>
</Coordinate></coordinates>"""
LOADS = """<OpenSimDocument Version="40600"><ExternalLoads name="loads"><objects>
<ExternalForce name="push"><applied_to_body>rod</applied_to_body>
<force_expressed_in_body>ground</force_expressed_in_body>
<point_expressed_in_body>ground</point_expressed_in_body><force_identifier>force_v</force_identifier>
<point_identifier>force_p</point_identifier><torque_identifier>torque_</torque_identifier></ExternalForce>
</objects><datafile>loads.mot</datafile></ExternalLoads></OpenSimDocument>"""


def document(tool: str, inside: str, name: str = "small", version: int = 40600) -> str:
    """Text of a setup file."""
    return (
        f'<OpenSimDocument Version="{version}"><{tool} name="{name}">\n'
        f"<model_file>model.osim</model_file>\n{inside}\n</{tool}></OpenSimDocument>"
    )


def written(folder: Path, more: str = "") -> cd.Table:
    """Write model.osim, motion.mot, loads.xml and loads.mot; returns the motion, in degrees."""
    (folder / "model.osim").write_text(pendulum(inside=PIN, more=more))
    t = np.arange(41) / 40
    motion = cd.Table(t, ["angle"], np.degrees(0.6 * np.sin(3 * t))[:, None], degrees=True)
    motion.save(folder / "motion.mot")
    (folder / "loads.xml").write_text(LOADS)
    columns = [f"{what}{axis}" for what in ("force_v", "force_p", "torque_") for axis in "xyz"]
    values = np.tile([3.0, 5, 0, 0.1, 0.2, 0, 0, 0, 0.3], (41, 1)) * (1 + t[:, None])
    cd.Table(t, columns, values, degrees=False).save(folder / "loads.mot")
    return motion
