"""The command `condyle`. Heavy parts are imported inside the commands that need them, after the first line is
out."""
from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from condyle.errors import CondyleError

app = typer.Typer(
    name="condyle",
    help="Dynamics of living things: joints and forces from a few lines of Python, run as machine code.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cache_app = typer.Typer(help="The machine code kept on disk between runs.", no_args_is_help=True)
app.add_typer(cache_app, name="cache")


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


@app.command()
def demo(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR",
                     help="Folder for the picture; if not given, a new condyle-demo."),
    ] = None,
) -> None:
    """Write a knee in a few lines of Python, run it as machine code, check it, time it and draw its
    motion."""
    print(f"Condyle {version('condyle')}: a knee in a few lines of Python", flush=True)
    from condyle.cli.demo import run

    if not run(out):
        raise typer.Exit(1)


@app.command()
def simulate(
    file: Annotated[Path, typer.Argument(help="Python that makes a `system`, and a `state` to start from.")],
    t_final: Annotated[float, typer.Argument(help="Until when, in seconds.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.csv",
                                      help="Where the motion goes.")] = Path("motion.csv"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    accuracy: Annotated[float, typer.Option(help="1e-3 is three digits.")] = 1e-3,
    integrator: Annotated[str, typer.Option(help="See the guide, Simulate.")] = "merson",
    rate: Annotated[float | None,
                    typer.Option(help="Rows per second; if not given, a row for each step.")] = None,
) -> None:
    """Simulate a system that a Python file describes, with a progress bar, and write its motion as a table.

    Ctrl-C, or a request to end, ends the run and writes the motion until then.
    """
    from condyle.cli.simulate import simulate_file

    status, where, code = simulate_file(file, t_final, out, accuracy, integrator, rate, force)
    print(f"{file}: {status}; {where}")
    if code:
        raise typer.Exit(code)


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


def main() -> None:
    """Entry point. An error of Condyle or of the operating system is one line and exit code 1, never a
    traceback."""
    try:
        app()
    except (CondyleError, OSError) as error:
        print(f"condyle: error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
