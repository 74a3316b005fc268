"""A study of subjects who do not exist, as files of a lab, for tests and benchmarks of `condyle batch`."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np

import condyle as cd


def make(folder: Path, subjects: int, trials: int, frames: int = 101) -> Path:
    """Write markers and ground reactions of trials, each with noise of its own, and study.csv; returns that."""
    rows = [["subject", "mass", "static", "trial", "loads", "model", "name"]]
    for k in range(subjects):
        subject = cd.models.synthetic_subject(seed=k, mass=60.0 + 2 * k, duration=(frames - 1) / 100)
        if not k:
            cd.write_osim(subject.generic, folder / "generic.osim")
        own, rng = folder / f"S{k:02d}", np.random.default_rng(k)
        for j in range(trials):
            place = own / f"T{j:03d}"
            place.mkdir(parents=True)
            walk, noise = subject.walk, rng.normal(scale=0.0005, size=subject.walk.positions.shape)
            moved = cd.Markers(walk.time, walk.names, walk.positions + noise, rate=walk.rate)
            replace(subject, walk=moved).save(place)
            head = [f"{60.0 + 2 * k}", f"{own.name}/T000/static.trc"] if not j else ["", ""]
            path = f"{own.name}/{place.name}"
            last = ["generic.osim" if not j else "", f"walk{j}"]
            rows.append([own.name, *head, f"{path}/walk.trc", f"{path}/ground_reactions.xml", *last])
    with open(folder / "study.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    return folder / "study.csv"
