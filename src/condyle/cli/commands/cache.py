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
