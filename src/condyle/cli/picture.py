"""The picture of `condyle demo`, and the file that it goes into."""
from __future__ import annotations

import io
import itertools
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from condyle import files
from condyle.errors import CondyleError
from condyle.integrate.trajectory import Trajectory


def draw(motion: Trajectory, ankle: np.ndarray, knee: np.ndarray, path: np.ndarray,
         energy_error: np.ndarray) -> bytes:
    """A picture (PNG): the leg from the side and from the front, the knee's path, angles, energy error.

    Args:
        motion: q is thigh and knee [rad].
        ankle: where it is in ground [m], shape (n, 3).
        knee: where the shank's origin is in ground [m], shape (n, 3).
        path: flexion [rad] and the shank's origin on the thigh [m], shape (k, 4).
        energy_error: relative, shape (n,).
    """
    from matplotlib.figure import Figure

    ink, thigh_colour, knee_colour = "#20303c", "#c8553d", "#2a6f97"
    figure = Figure(figsize=(10, 6), layout="constrained", facecolor="white")
    rows = [["side", "front", "knee"], ["angles", "angles", "energy"]]
    axes: Any = figure.subplot_mosaic(rows, width_ratios=(1.35, 1, 1.1))

    shown = np.searchsorted(motion.t, np.arange(0, 0.5, 0.025))        # every 25 ms of the first half second
    for name, sideways, label in (("side", 0, "forward [m]"), ("front", 2, "to the right [m]")):
        ax = axes[name]
        ax.plot(ankle[:, sideways], ankle[:, 1], color=knee_colour, linewidth=0.8, alpha=0.6)
        for k, a, fade in zip(knee[shown], ankle[shown], np.linspace(0.15, 0.9, len(shown))):
            points = np.stack([np.zeros(3), k, a])
            ax.plot(points[:, sideways], points[:, 1], color=ink, linewidth=1.6, alpha=fade,
                    solid_capstyle="round")
        ax.set(aspect="equal", xlabel=label)
    axes["side"].set(ylabel="up [m]", title="a leg on a table edge")
    axes["front"].set(title="from the front")

    dots = axes["knee"].scatter(1000 * path[:, 1], 1000 * path[:, 2], c=-np.degrees(path[:, 0]), s=9,
                                cmap="viridis")
    axes["knee"].set(aspect="equal", xlabel="along the thigh [mm]", ylabel="across [mm]")
    axes["knee"].set_title("the knee rolls and slides")
    figure.colorbar(dots, ax=axes["knee"], label="flexion [degrees]", shrink=0.8)

    axes["angles"].plot(motion.t, np.degrees(motion.q[:, 1]), color=knee_colour, label="knee")
    axes["angles"].plot(motion.t, np.degrees(motion.q[:, 0]), color=thigh_colour, label="thigh")
    axes["angles"].set(xlabel="time [s]", ylabel="angle [degrees]", ylim=(-145, 65))
    axes["angles"].legend(frameon=False, loc="upper right", ncols=2)
    axes["energy"].plot(motion.t, energy_error, color=ink, linewidth=0.9)
    axes["energy"].set(xlabel="time [s]", ylabel="relative energy error")
    for ax in axes.values():
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(colors=ink)
        ax.grid(alpha=0.2)
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=150)
    return png.getvalue()


def refuse_unwritable(out: Path | None) -> None:
    """Say now, rather than after the work, that the picture cannot be written. Nothing is made yet."""
    folder = (out or Path()).absolute()
    try:
        tempfile.TemporaryFile(dir=next(place for place in (folder, *folder.parents)
                                        if place.exists())).close()
    except OSError as error:
        place = "the current folder" if out is None else f"--out {str(out)!r}"
        raise CondyleError(
            f"cannot write into {place}: {error.strerror}; choose a folder with --out DIR") from None


def write_new(out: Path | None, content: bytes) -> Path:
    """Write the first unused of swing.png, swing-2.png, ..: never half a file, never over another."""
    folder = _folder(out)
    names = itertools.chain(["swing.png"], (f"swing-{number}.png" for number in itertools.count(2)))
    path = next(folder / name for name in names if not (folder / name).exists())
    with files.whole(path) as file:
        file.write(content)
    return path


def _folder(out: Path | None) -> Path:
    """Make and return the folder `out`, or the first of condyle-demo, condyle-demo-2, ... that does not
    exist."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        return out
    for number in itertools.count(1):
        folder = Path("condyle-demo" if number == 1 else f"condyle-demo-{number}")
        with suppress(FileExistsError):
            folder.mkdir()
            break
    return folder
