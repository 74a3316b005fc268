"""Help, version, mistakes, and the cache commands."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.process import condyle, condyle_here
from tests.process import output


def test_help_names_every_command(tmp_path: Path) -> None:
    done = condyle_here("--help", cwd=tmp_path)
    assert done.returncode == 0
    for command in ("demo", "analyze", "simulate", "describe", "show", "live", "cache"):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("demo", ("--output", "--force")),
        ("analyze", ("--external-loads", "--lowpass", "--degrees", "isometric")),
        ("cache", ("info", "clear")),
    ],
)
def test_help_of_a_command(command: str, names: tuple[str, ...], tmp_path: Path) -> None:
    done = condyle_here(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert all(name in done.stdout for name in names)


def test_version(tmp_path: Path) -> None:
    assert condyle("--version", cwd=tmp_path).stdout == f"condyle {version('condyle')}\n"


def test_a_command_that_has_another_name_here(tmp_path: Path) -> None:
    done = condyle_here("view", "arm26", cwd=tmp_path)
    assert done.returncode == 2
    assert "It is: condyle show MODEL" in done.stderr and "condyle live" in done.stderr


@pytest.mark.parametrize("mistake", [("chache",), ("demo", "--uot", "x"), ("cache", "clean")])
def test_mistake_is_a_usage_error_without_traceback(mistake: tuple[str, ...], tmp_path: Path) -> None:
    done = condyle_here(*mistake, cwd=tmp_path)
    assert done.returncode == 2
    assert f"No such {'option' if '--uot' in mistake else 'command'}" in done.stderr
    assert "Traceback" not in done.stderr


def test_cache_is_filled_told_and_cleared(tmp_path: Path) -> None:
    """A cache that no run has used is empty; an operator adds to it; clear removes that and says so."""
    directory = tmp_path / "cache"
    assert condyle_here("cache", "info", cwd=tmp_path).stdout.startswith(f"{directory}: 0 entries")
    fill = (
        "import condyle as cd; system = cd.System(); system.add_body('rod', mobilizer=cd.Pin(), mass=1, "
        "inertia=(1, 1, 1)); system.forward_dynamics(*system.defaults())"
    )
    output("-c", fill, environment={"CONDYLE_CACHE_DIR": str(directory)})
    held = len(list(directory.iterdir()))
    assert held > 0
    assert condyle_here("cache", "info", cwd=tmp_path).stdout.startswith(f"{directory}: {held} entr")
    cleared = condyle_here("cache", "clear", cwd=tmp_path).stdout
    assert cleared == f"{directory}: {held} {'entry' if held == 1 else 'entries'} removed\n"
    assert list(directory.iterdir()) == []
    assert condyle_here("cache", "clear", cwd=tmp_path).stdout == f"{directory}: 0 entries removed\n"


def test_cache_that_is_off_says_so(tmp_path: Path) -> None:
    done = condyle_here("cache", "info", cwd=tmp_path, CONDYLE_CACHE="off")
    assert done.returncode == 0
    assert "not used: CONDYLE_CACHE=off" in done.stdout


def test_wrong_setting_of_the_cache_is_one_line(tmp_path: Path) -> None:
    done = condyle_here("cache", "info", cwd=tmp_path, CONDYLE_CACHE_MB="plenty")
    assert done.returncode == 1
    assert (
        done.stderr == "condyle: error: CONDYLE_CACHE_MB=plenty: expected a number of megabytes from 0 on\n"
    )
