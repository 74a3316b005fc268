"""The command `condyle`. Heavy parts are imported inside the commands that need them, after the first line is
out."""

from __future__ import annotations

import sys
import warnings
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from condyle.errors import CondyleError

app = typer.Typer(
    name="condyle",
    help="From a recorded motion to joint moments, muscle forces and joint loads; and the dynamics of any "
    "system of bodies, joints and muscles that a few lines of Python describe.",
    epilog="Begin with: `condyle demo`",
    rich_markup_mode="markdown",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cache_app = typer.Typer(help="The machine code kept on disk between runs.", no_args_is_help=True)
app.add_typer(cache_app, name="cache")


class Format(StrEnum):
    """Endings of tables."""

    csv = "csv"
    sto = "sto"
    npz = "npz"


class Configuration(StrEnum):
    """Assumptions of static optimization."""

    isometric = "isometric"
    active = "active"
    passive = "passive"


Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        show_default=False,
        help="Folder for report and tables; a new one if not given.",
    ),
]
Tables = Annotated[
    Format, typer.Option("--format", help="Of the tables: comma-separated with units, OpenSim's, or NumPy's.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"condyle {version('condyle')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options before a command."""


Open = Annotated[
    bool, typer.Option("--open/--no-open", help="Open the result in the browser, where there is a screen.")
]


@app.command()
def demo(output: Output = None, format: Tables = Format.csv, force: Force = False, open: Open = True) -> None:
    """Bend an elbow by 90 degrees in a second: joint moments, muscle forces, joint loads, beside OpenSim's.

    The study of Ruggiero and Sicilia (2020) on the arm with six muscles, arm26. Writes its tables and one
    report that any browser opens.
    """
    print(
        f"Condyle {version('condyle')}: an elbow bends, from motion to muscle forces and joint loads",
        flush=True,
    )
    from condyle.cli.demo import run

    if not run(output, format.value, force, open):
        raise typer.Exit(1)


@app.command()
def view(
    model: Annotated[
        str,
        typer.Argument(
            show_default=False,
            help="A ready model, such as arm26; OpenSim's FILE.osim; or a Python file that makes a System.",
        ),
    ],
    motion: Annotated[
        Path | None,
        typer.Argument(help="Coordinates over time: .mot, .sto, .csv or .npz.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.html",
            show_default=False,
            help="Where the page goes; a new file if not given.",
        ),
    ] = None,
    degrees: Annotated[
        bool | None,
        typer.Option(
            "--degrees/--radians",
            show_default=False,
            help="Of the motion's angles, where the file does not say.",
        ),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Serve a page with sliders, in which the model can be "
            "moved, run and pulled at, until Ctrl-C; in Python, cd.view.",
        ),
    ] = False,
    force: Force = False,
    open: Open = True,
) -> None:
    """Show a model, or a motion of it, in the browser: one page that needs no network; in Python, cd.show.

    `condyle show` prints it in words.

    For example: `condyle view arm26 elbow.mot`
    """
    from condyle.cli.view import run, run_live

    if live:
        run_live(model, motion, output, open)
    else:
        run(model, motion, output, degrees, force, open)


@app.command()
def analyze(
    model: Annotated[
        str,
        typer.Argument(
            show_default=False,
            help="A ready model, such as arm26; a model of OpenSim, .osim; or a Python file that makes a System, "
            "or FILE.py:NAME if it makes several.",
        ),
    ],
    motion: Annotated[
        Path, typer.Argument(help="Coordinates over time: .mot, .sto, .csv or .npz.", show_default=False)
    ],
    output: Output = None,
    external_loads: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.xml",
            show_default=False,
            help="Measured forces on bodies, such as ground reactions: OpenSim's ExternalLoads.",
        ),
    ] = None,
    configuration: Annotated[
        list[Configuration] | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="Of the muscles: isometric, active or passive, see above; may be repeated; all if not given.",
        ),
    ] = None,
    lowpass: Annotated[
        float | None,
        typer.Option(
            metavar="HZ",
            show_default=False,
            help="Filter the motion at this frequency; measured ones need it, 6 is usual for walking.",
        ),
    ] = None,
    degrees: Annotated[
        bool | None,
        typer.Option(
            "--degrees/--radians",
            show_default=False,
            help="Of the motion's angles, where the file does not say.",
        ),
    ] = None,
    format: Tables = Format.csv,
    force: Force = False,
) -> None:
    """From a motion to joint moments, muscle lengths, muscle forces and joint loads.

    Muscle forces are those of the least sum of squared activations, in three configurations:

    - isometric: a muscle's force is its activation times its greatest force;
    - active: its activation times what its fibers can do at their length and velocity;
    - passive: and stretched fibers pull by themselves.

    For example: `condyle analyze arm26 elbow.mot --output elbow`
    """
    print(f"Condyle {version('condyle')}: {model} moves as in {motion}", flush=True)
    from condyle.cli.analyze import run

    chosen = [c.value for c in configuration] if configuration else None
    if not run(model, motion, output, external_loads, chosen, lowpass, degrees, format.value, force):
        raise typer.Exit(1)


@app.command()
def simulate(
    file: Annotated[
        Path,
        typer.Argument(
            help="Python that makes a `system`, and a `state` to start from; or a model of OpenSim, .osim."
        ),
    ],
    t_final: Annotated[float, typer.Argument(help="Until when, in seconds.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.csv", help="Where the motion goes.")
    ] = Path("motion.csv"),
    force: Force = False,
    accuracy: Annotated[float, typer.Option(help="1e-3 is three digits.")] = 1e-3,
    integrator: Annotated[str, typer.Option(help="See the guide, Simulate.")] = "merson",
    rate: Annotated[
        float | None,
        typer.Option(help="Rows per second; if not given, a row for each step.", show_default=False),
    ] = None,
    contact_forces: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            show_default=False,
            help="Where forces of contacts go, if wanted: fx, fy, fz of each, in newtons.",
        ),
    ] = None,
) -> None:
    """Simulate a system of a Python file, or a model of OpenSim, and write its motion as a table.

    Ctrl-C, or a request to end, ends the run and writes the motion until then.
    """
    from condyle.cli.simulate import simulate_file

    status, written, code = simulate_file(
        file, t_final, output, accuracy, integrator, rate, force, contact_forces
    )
    print(f"{file}: {status}; {', '.join(map(str, written))}")
    if code:
        raise typer.Exit(code)


@app.command()
def run(
    setups: Annotated[
        list[Path],
        typer.Argument(
            metavar="SETUP.xml...",
            show_default=False,
            help="Setup files of OpenSim's tools, run as they are.",
        ),
    ],
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            show_default=False,
            help="How many files run at once; all cores if not given.",
        ),
    ] = None,
) -> None:
    """Run setup files of OpenSim, and write the files that OpenSim writes.

    Paths in a setup file are taken from its own folder. What to check is said: errors of markers, residuals
    and reserves beyond what OpenSim's guidelines name. A file that fails does not stop the others; the exit
    code is 1 then.

    For example: `condyle run */Setup_ID.xml`
    """
    print(f"Condyle {version('condyle')}: {len(setups)} setup file{'s' * (len(setups) > 1)}", flush=True)
    from condyle.cli.run import run as run_all

    if not run_all(setups, jobs):
        raise typer.Exit(1)


@app.command()
def convert(
    source: Annotated[
        Path,
        typer.Argument(
            show_default=False,
            help="A table: .mot, .sto, .csv, .tsv, .npz; markers: .trc, .c3d; or a model: .osim.",
        ),
    ],
    target: Annotated[Path, typer.Argument(show_default=False, help="Its ending says what it becomes.")],
    units: Annotated[
        str | None,
        typer.Option(
            metavar="m|cm|mm",
            show_default=False,
            help="Of the markers' positions in the file; what it says if not given.",
        ),
    ] = None,
    vertical: Annotated[
        str | None,
        typer.Option(
            metavar="x|y|z", show_default=False, help="The axis of markers that points up; it becomes y."
        ),
    ] = None,
    degrees: Annotated[
        bool | None,
        typer.Option(
            "--degrees/--radians",
            show_default=False,
            help="Of a table's angles in the file; what it says if not given.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Convert tables, markers and models between formats.

    For example: `condyle convert walk.c3d walk.trc --vertical z`
    """
    from condyle.cli.convert import convert as converted

    print(converted(source, target, units, vertical, degrees, force))


@app.command()
def show(
    model: Annotated[
        str,
        typer.Argument(
            show_default=False,
            help="A model of OpenSim, .osim; a ready model, such as arm26; or Python that makes a System.",
        ),
    ],
) -> None:
    """Print a model in words: bodies, coordinates with ranges, muscles, markers, notes of its reader.

    `condyle view` draws it in the browser, as cd.show does in Python; `condyle view --live`, as cd.view, lets
    you move it.
    """
    from condyle.cli.show import show as shown

    print(shown(model))


@cache_app.command("info")
def cache_info() -> None:
    """Say where the cache is, what it holds and how large it may grow."""
    from condyle.native.machine import cache

    print(cache.info())


@cache_app.command("clear")
def cache_clear() -> None:
    """Forget all machine code on disk. Nothing is lost but the time to compile it again."""
    from condyle.native.machine import cache

    removed, info = cache.clear(), cache.info()
    print(f"{info.directory or 'no directory'}: {removed} {'entry' if removed == 1 else 'entries'} removed")
    if info.note:
        print(f"not used: {info.note}")


def _say(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: object = None,
) -> None:
    """A warning in its own words, with its line where that is in a file of the user."""
    path = Path(filename)
    installed = "site-packages" in path.parts or "dist-packages" in path.parts or filename.startswith("<")
    print(
        f"condyle: warning: {'' if installed else f'{path.name}, line {lineno}: '}{message}", file=sys.stderr
    )


def main() -> None:
    """Entry point. An error of Condyle or of the operating system is one line and exit code 1, never a
    traceback; a warning is one line."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say  # type: ignore[assignment]
            app()
    except (CondyleError, OSError) as error:
        print(f"condyle: error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
