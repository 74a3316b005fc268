"""Entry point of the command line."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

from condyle.cli.terminal import complain
from condyle.errors import CondyleError


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
    complain("warning", f"{'' if installed else f'{path.name}, line {lineno}: '}{message}")


def _setups(words: list[str]) -> list[Path]:
    """Files of `condyle run FILES`, which needs no parser: Typer takes as long to load as some tools run."""
    plain = words[:1] == ["run"] and not any(word.startswith("-") for word in words)
    return [Path(word) for word in words[1:]] if plain else []


def _run(app: Callable[..., object]) -> object:
    """Run a command; arguments that it does not understand are an error, with the exit code 2."""
    try:
        return app(standalone_mode=False)
    except Exception as error:  # UsageError of click, or of Typer's own copy of it
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":  # its help has been printed
            return 2
        words = ["condyle", *(x for x in sys.argv[1:2] if not x.startswith("-"))]
        of = getattr(getattr(error, "ctx", None), "command_path", " ".join(words))
        said = error.format_message().rstrip(".")
        complain("error", f"{said}{'' if said.endswith('?') else '.'} For usage: {of} --help")
        return getattr(error, "exit_code", 2)


def main() -> None:
    """Entry point. An error of Condyle or of the operating system is one line and exit code 1, never a
    traceback; a warning is one line."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say  # type: ignore[assignment]
            files = _setups(sys.argv[1:])
            if files:
                from condyle.cli.run import begin

                begin(files, None)
                return
            from condyle.cli import commands  # noqa: F401 (they register themselves)
            from condyle.cli.app import app

            raise SystemExit(_run(app))
    except (CondyleError, OSError) as error:
        complain("error", str(error))
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def command() -> None:
    """Entry point as a process: it ends immediately. Shutting down the interpreter, and the search for
    garbage in the results of a run, took a quarter of the time of some tools."""
    gc.set_threshold(100_000, 50, 50)
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    alone = all(thread.daemon or thread is threading.main_thread() for thread in threading.enumerate())
    if not alone or sys.getprofile() or sys.gettrace() or not isinstance(code, int | None):
        raise SystemExit(code)
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # the reader has closed; Python reports it
        raise SystemExit(code) from None
    os._exit(code or 0)
