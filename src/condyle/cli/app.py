"""The command `condyle`, and the arguments that its commands share (condyle.cli.commands has the commands)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import condyle

ELSEWHERE = {
    "view": "condyle show MODEL [MOTION], or condyle live MODEL for a page with sliders",
    "info": "condyle describe MODEL",
    "print": "condyle describe MODEL",
    "plot": "condyle show MODEL MOTION",
    "scale": "condyle run SETUP.xml",
    "ik": "condyle run SETUP.xml",
    "id": "condyle analyze MODEL MOTION, or condyle run SETUP.xml",
}
"""Other names that users may try for commands."""


TYPES = {"bool": "", "int": "N", "int range": "N", "float": "NUMBER", "float range": "NUMBER", "str": "NAME"}
"""Text of help for the value of an option without a name: flags have none."""


def _named(param: Any) -> Any:
    """A parameter that help shows by names, not by types of Python; with an older Typer by its own rules."""
    if hasattr(param, "display_type_rich"):
        kind = "" if param.param_type_name == "argument" else getattr(param, "metavar", None)

        def shown(ctx: typer.Context) -> str:
            if kind is not None:
                return str(kind)
            text = str(type(param).display_type_rich(param, ctx) or "").strip("<>")
            return TYPES.get(text, text.upper() if text.islower() and "|" not in text else text)

        param.display_type_rich = shown
    return param


class Commands(TyperGroup):
    """Commands that also know other names."""

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        return [_named(param) for param in super().get_params(ctx)]  # type: ignore[arg-type]

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        command: Any = super().get_command(ctx, cmd_name)  # type: ignore[arg-type]
        if command is not None and not isinstance(command, Commands):
            of = type(command).get_params
            command.get_params = lambda ctx: [_named(param) for param in of(command, ctx)]
        return command

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> tuple[str | None, object, list[str]]:  # type: ignore[override]
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:  # UsageError of click, or of Typer's own copy of it
            if args and args[0] in ELSEWHERE and hasattr(error, "message"):
                error.message = f"No such command {args[0]!r}. It is: {ELSEWHERE[args[0]]}"
            raise


app = typer.Typer(
    name="condyle",
    cls=Commands,
    help="From a recorded motion to joint moments, muscle forces and joint loads; and the dynamics of any "
    "system of bodies, joints and muscles that a few lines of Python describe.",
    epilog="Begin with: `condyle demo`",
    rich_markup_mode="markdown",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Format(StrEnum):
    """Endings of tables."""

    csv = "csv"
    sto = "sto"
    npz = "npz"


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
Open = Annotated[
    bool, typer.Option("--open/--no-open", help="Open the result in the browser, where there is a screen.")
]
ModelName = Annotated[
    str,
    typer.Argument(
        show_default=False,
        help="A ready model, such as arm26; OpenSim's FILE.osim; or a Python file that makes a System, or "
        "FILE.py:NAME if it makes several.",
    ),
]
Geometry = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIR",
        show_default=False,
        help="Folder with meshes of bones (.vtp, .stl, .obj); may be repeated. CONDYLE_GEOMETRY names some for all.",
    ),
]
Degrees = Annotated[
    bool | None,
    typer.Option(
        "--degrees/--radians", show_default=False, help="Of the motion's angles, where the file does not say."
    ),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"condyle {condyle.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options before a command."""
