"""A batch of subjects: files of a small lab, three subjects with two trials each, from a
static trial to joint loads by `condyle batch`; the page with the quality of every trial,
tables per subject, and means with bands over all.

The subjects are made up by `cd.models.synthetic_subject`, so the truth is known. In a
shell it is one line: condyle batch study.csv --output results
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import condyle as cd

with tempfile.TemporaryDirectory() as name:
    lab = Path(name)
    rows = [("subject", "mass", "static", "trial", "loads", "model", "name")]
    for k in range(3):
        subject = cd.models.synthetic_subject(seed=k, mass=62.0 + 4 * k, duration=1.1)
        folder = lab / f"S{k}"
        folder.mkdir()
        subject.save(folder)  # static.trc, walk.trc, ground_reactions.xml and .mot
        files = [f"S{k}/{file}" for file in ("static.trc", "walk.trc")]
        loads = f"S{k}/ground_reactions.xml"
        rows.append((f"S{k}", subject.mass, *files, loads, "generic.osim", "walk"))
        # the same trial without its force plates: the page will tell
        rows.append((f"S{k}", "", "", files[1], "", "", "no plates"))
    cd.write_osim(subject.generic, lab / "generic.osim")
    with open(lab / "study.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)

    command = ["batch", lab / "study.csv", "--output", lab / "results"]
    command += ["--executor", "here", "--reserves", "50"]
    done = subprocess.run(
        [sys.executable, "-m", "condyle", *command],
        capture_output=True,
        text=True,
        check=True,
    )
    print(done.stdout.splitlines()[-1].partition(" Open ")[0])

    results = lab / "results"
    with open(results / "quality.csv", newline="") as file:
        quality = list(csv.DictReader(file))
    for row in (quality[0], quality[-1]):  # worst first
        print(f"{row['subject']}, {row['trial']}: {row['worst'][:60]}...")
    with open(results / "group/moments.csv", newline="") as file:
        group = list(csv.DictReader(file))
    means = [row for row in group if row["trial"] == "mean"]
    knee = np.array([float(row["knee_angle_r [N m]"]) for row in means])
    page = (results / "summary.html").read_text(encoding="utf-8")

print(f"knee moment of the group from {knee.min():.0f} to {knee.max():.0f} N m")
assert len(quality) == 6 and len(means) == 101
assert {row["trial"] for row in quality[:3]} == {"no plates"}  # residuals of a weight
assert "Quality, worst first" in page
