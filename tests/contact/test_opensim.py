"""OpenSim's contact forces and runs, as stored in tests/data/contact."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from tests.contact.meshes import icosphere, read_obj

DATA = Path(__file__).parents[1] / "data" / "contact"
CASES = json.loads((DATA / "cases.json").read_text())
RADIUS, MODEL = 0.1, {"hc": ("ground", "ball"), "ef": ("ground", "ball"), "smooth": ("HalfSpace", "Sphere")}


def columns(name: str) -> dict[str, np.ndarray]:
    with open(DATA / f"{name}.csv") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def ball(case: dict) -> cd.System:
    """The case's ball, with its x-y-z angles as coordinates."""
    system = cd.System(gravity=(0, -9.80665, 0))
    joint = cd.Free(coordinates="euler") if case["force"] == "ef" else cd.Bushing()
    system.add_body("ball", mobilizer=joint, mass=1.0, inertia=(0.004,) * 3)
    if case["force"] == "smooth":
        law = cd.contact.SmoothSphereHalfSpace(
            "ground", (0, 1, 0), 0.0, "ball", (0, 0, 0), RADIUS, **case["smooth"]
        )
        system.add_force("contact", law)
        return system
    made = {
        name: cd.contact.Material(
            p["stiffness"],
            p["dissipation"],
            p["static_friction"],
            p["dynamic_friction"],
            p["viscous_friction"],
            case.get("vt", 0.1),
        )
        for names, p in case["sets"]
        for name in names
    }
    floor = cd.contact.HalfSpace("ground", (0, 3, 0), 0.0, made["floor"])
    if case.get("other") == "sphere":
        R = case.get("R2", 0.05)
        floor = cd.contact.Sphere("ground", (0, -R, 0), R, made["floor"])
    if case["force"] == "ef":
        mesh = icosphere(3, 0.1) if "icosphere3" in case["mesh"] else read_obj(DATA / case["mesh"])
        system.add_contact(
            "contact",
            floor,
            cd.contact.Mesh("ball", None, mesh, 1.0, made["ball_geom"]),
            law=cd.contact.OpenSimElasticFoundation,
        )
        return system
    system.add_contact(
        "contact",
        floor,
        cd.contact.Sphere("ball", (0, 0, 0), RADIUS, made["ball_geom"]),
        law=cd.contact.OpenSimHuntCrossley,
    )
    return system


@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith("bounce")])
def test_wrenches(name, evidence):
    """Force and torque on both bodies. All rows of the reference files were compared once: 4e-11
    N, of meshes 1e-11 N."""
    d, system = columns(name), ball(CASES[name])
    zero = np.zeros_like(d["rx"])
    q = np.column_stack([d["rx"], d["ry"], d["rz"], zero, RADIUS - d["penetration"], zero])
    u = np.column_stack([d["wx"], d["wy"], d["wz"], d["vt_x"], -d["approach_speed"], d["vt_z"]])
    keys = [
        f"contact.{body}.{what}.{axis}"
        for body in MODEL[CASES[name]["force"]]
        for what in ("torque", "force")
        for axis in "XYZ"
    ]
    expected = np.column_stack([d[key] for key in keys]).reshape(-1, 2, 6)
    error = np.abs(system.contacts.wrenches(q, u)[:, 0] - expected).max()
    # files of 17 digits of forces up to 1.6e4 N
    if CASES[name]["force"] == "ef":
        evidence(
            "contact wrenches of meshes against OpenSim: 12 to 1280 faces, on two surfaces [N, N m]",
            error,
            1e-9,
        )
    else:
        evidence(
            "contact wrenches of a ball against OpenSim, four Hunt-Crossley and three smooth cases [N, N m]",
            error,
            1e-9,
        )
    assert np.abs(expected).max() > 1e-4
    assert error < 1e-9


@pytest.mark.parametrize("name", [n for n in CASES if n.startswith("bounce")])
def test_bounce(name, evidence):
    d, system = columns(name), ball(CASES[name])
    start = system.state(q={system.coordinates[4]: 0.6}, u=(2, 0, -5, 1, 0, 0.3))
    run = cd.simulate(system, start, d["time"][-1], accuracy=1e-10)
    q = np.array([run(t).q for t in d["time"]])
    error = np.abs(q[:, 3:] - np.column_stack([d[f"free_coord_{k}"] for k in (3, 4, 5)])).max()
    allowed = CASES[name]["max_diff_1e8_1e10"]["p"]  # the error of OpenSim's file, at 1e-8
    evidence(
        "bouncing balls against OpenSim's runs: positions, in the differences of its own runs",
        error / allowed,
        1.0,
    )
    assert error < allowed


def test_pushes_before_contact_as_documented():
    """OpenSim's smooth force acts where nothing touches."""
    system = ball(CASES["smooth_sphere_halfspace_params1"])
    force = system.contacts.forces((0, 0, 0, 0, RADIUS + 1e-3, 0), np.zeros(6))[0, 1]
    assert force > 10.0
    assert system.energy((0, 0, 0, 0, RADIUS - 1e-3, 0), np.zeros(6), disabled=("gravity",))[1] == 0.0
