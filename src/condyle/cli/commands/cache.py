"""`condyle cache info` and `condyle cache clear`."""

from __future__ import annotations

import typer

from condyle.cli.app import Commands, app

cache_app = typer.Typer(
    cls=Commands, help="The machine code kept on disk between runs.", no_args_is_help=True
)
app.add_typer(cache_app, name="cache")


@cache_app.command("info")
def cache_info() -> None:
    """Show where the cache is, its content and its largest size."""
    from condyle.native.machine import cache

    print(cache.info())


@cache_app.command("clear")
def cache_clear() -> None:
    """Delete all machine code on disk. It is compiled again when needed."""
    from condyle.native.machine import cache

    removed, info = cache.clear(), cache.info()
    print(f"{info.directory or 'no directory'}: {removed} {'entry' if removed == 1 else 'entries'} removed")
    if info.note:
        print(f"not used: {info.note}")
