"""Run a setup file of OpenSim, whatever its tool."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path

from condyle.errors import DescriptionError
from condyle.opensim.document import meant_for
from condyle.opensim.setup.file import Report, Setup

TOOLS = {
    "InverseKinematicsTool": "inverse_kinematics",
    "InverseDynamicsTool": "inverse_dynamics",
    "AnalyzeTool": "analyze",
    "ScaleTool": "scale",
    "ForwardTool": "forward",
    "IMUInverseKinematicsTool": "imu_inverse_kinematics",
}
"""The module of each tool."""
MISSING = {
    "RRATool": "residual reduction (RRA) is not there; adjust mass and motion otherwise, or give reserves "
    "to a StaticOptimization",
    "CMCTool": "computed muscle control (CMC) is not there; StaticOptimization in an AnalyzeTool gives "
    "muscle forces of a recorded motion",
}
"""Tools of OpenSim that are not here, and what to do."""


def run_setup(path: str | Path, tell: Callable[[str], None] = lambda step: None) -> Report:
    """Run a setup file as OpenSim would: files are read and written from its own folder.

    Args:
        path: an .xml file of an OpenSim tool: scale, inverse kinematics of markers or sensors, inverse
            dynamics, analyze, forward.
        tell: is called with the name of each step when it begins.

    Returns:
        what was written, and what to check.

    Raises:
        DescriptionError: a file that cannot be read, or a tool that is not there.
        CondyleError: what the study refuses. Its `report` has what was noticed before.
        FileNotFoundError: no such file.
    """
    start = time.perf_counter()
    setup = Setup(Path(path), tell)
    tool = setup.tool.tag
    if tool not in TOOLS:
        why = MISSING.get(tool) or f"is no tool that runs here; these do: {', '.join(TOOLS)}{meant_for(tool)}"
        raise DescriptionError(f"{setup.path.name}: {tool}: {why}")
    try:
        importlib.import_module(f"condyle.opensim.setup.{TOOLS[tool]}").run(setup)
    except Exception as error:
        vars(error)["report"] = setup.report  # what was noticed before it failed
        raise
    setup.report.results.append(f"{time.perf_counter() - start:.2f} s")
    return setup.report
