"""Model files for tests: those of this project's reference folder, where it is, and small ones as text."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference"


def reference(name: str) -> Path:
    """A file of the reference folder; the test is skipped where that is not there."""
    folders = [REFERENCE, Path(__file__).resolve().parents[4] / "shared" / "reference"]
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"the reference folder with {name} is not here")


def copied(folder: Path, target: Path) -> Path:
    """A copy of a folder into which we may write, also where the folder is read-only."""
    shutil.copytree(folder, target, copy_function=shutil.copyfile)
    for path in [target, *target.rglob("*")]:
        path.chmod(0o755)
    return target


def model(inside: str, version: int = 40600) -> str:
    """Text of a file with one Model."""
    return (
        f'<?xml version="1.0" encoding="UTF-8" ?>\n<OpenSimDocument Version="{version}">\n'
        f'<Model name="small">\n{inside}\n</Model>\n</OpenSimDocument>\n'
    )


def pendulum(joint: str = "PinJoint", more: str = "", inside: str = "", body: str = "") -> str:
    """One body on ground: `inside` its joint, `body` in the body, `more` in the model."""
    return model(f"""
<BodySet name="bodyset"><objects>
  <Body name="rod"><mass>2</mass><mass_center>0 -0.5 0</mass_center><inertia>.1 .02 .1 0 0 0</inertia>{body}
  </Body>
</objects></BodySet>
<JointSet name="jointset"><objects>
  <{joint} name="hinge">
    <socket_parent_frame>ground_offset</socket_parent_frame>
    <socket_child_frame>rod_offset</socket_child_frame>
    <frames>
      <PhysicalOffsetFrame name="ground_offset"><socket_parent>/ground</socket_parent>
        <translation>0 1 0</translation><orientation>0 0 0.2</orientation></PhysicalOffsetFrame>
      <PhysicalOffsetFrame name="rod_offset"><socket_parent>/bodyset/rod</socket_parent>
        <translation>0 0.1 0</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame>
    </frames>{inside}
  </{joint}>
</objects></JointSet>{more}""")
