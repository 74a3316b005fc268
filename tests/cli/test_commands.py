"""Help, version, mistakes, and the cache commands."""
from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.process import condyle


def test_help_names_every_command(tmp_path: Path) -> None:
    done = condyle("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "cache" in done.stdout


@pytest.mark.parametrize(("command", "names"), [("demo", ("--out",)), ("cache", ("info", "clear"))])
def test_help_of_a_command(command: str, names: tuple[str, ...], tmp_path: Path) -> None:
    done = condyle(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert all(name in done.stdout for name in names)


def test_version(tmp_path: Path) -> None:
    assert condyle("--version", cwd=tmp_path).stdout == f"condyle {version('condyle')}\n"


@pytest.mark.parametrize("mistake", [("chache",), ("demo", "--uot", "x"), ("cache", "clean")])
def test_mistake_is_a_usage_error_without_traceback(mistake: tuple[str, ...], tmp_path: Path) -> None:
    done = condyle(*mistake, cwd=tmp_path)
    assert done.returncode == 2
    assert f"No such {'option' if '--uot' in mistake else 'command'}" in done.stderr
    assert "Traceback" not in done.stderr
