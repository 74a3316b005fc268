"""Bars: in a notebook without ipywidgets, and reports of runs whose native batches are short."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

import condyle as cd
from condyle.integrate import progress
from condyle.native.machine import notice


class ZMQInteractiveShell:
    """It has the name of that of ipykernel."""


class ColabShell(ZMQInteractiveShell):
    pass


class TerminalInteractiveShell:
    pass


@pytest.fixture
def notebook(monkeypatch):
    """Sets the shell that IPython has; returns what was displayed."""
    pictures: list[dict[str, str]] = []
    handle = SimpleNamespace(update=lambda data, raw: pictures.append(data))

    def display(data, raw, display_id):
        pictures.append(data)
        return handle

    def make(shell: object) -> list[dict[str, str]]:
        ipython, shows = ModuleType("IPython"), ModuleType("IPython.display")
        ipython.get_ipython, shows.display = (lambda: shell), display  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", shows)
        monkeypatch.setattr(progress, "EVERY", 0.0)
        return pictures

    return make


def pendulum() -> cd.System:
    system = cd.System()
    system.add_body("leg", mobilizer=cd.Pin(), X_BM=(0, 0.4, 0), mass=3.0, inertia=(0.05, 0.01, 0.05))
    return system


def test_a_bar_says_what_is_compiled(notebook, tmp_path, monkeypatch):
    """In the first run alone, and no longer when it has ended."""
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path))
    pictures, texts = notebook(ZMQInteractiveShell()), []
    system = pendulum()
    system.add_constraint("stop", cd.constraints.Stop("leg", upper=1.1, restitution=0.5))
    for _ in range(2):
        cd.simulate(system, system.state(q=[1.0], u=[2.0]), 0.5, progress=True)
        texts.append([p["text/plain"] for p in pictures])
        pictures.clear()
    assert "simulate: compiling the loop of steps 0 %" in texts[0]
    assert "simulate: compiling 0 %" in texts[0]  # at the first bounce: what has no name
    assert not any("compiling" in text for text in texts[1])
    assert system.copy().state().udot.size == 1 and not pictures


@pytest.mark.parametrize("terminal", [True, False])
def test_who_has_no_bar_is_told_that_it_compiles(terminal, tmp_path, monkeypatch, capsys):
    """Where it takes long, and nobody but who sits before a terminal."""
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(notice, "PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    system = pendulum()
    for _ in range(2):
        cd.simulate(system, system.state(q=[1.0]), 0.5)
        text = capsys.readouterr().err
        assert ("compiling the loop of steps, once for this model" in text) == terminal
        terminal = False  # the second run has nothing to compile


@pytest.mark.parametrize("shell", [ZMQInteractiveShell(), ColabShell()])
def test_a_bar_in_a_notebook(shell, notebook, monkeypatch):
    pictures = notebook(shell)
    monkeypatch.setitem(sys.modules, "rich.progress", None)  # importing it fails: it is not needed there
    system = pendulum()
    cd.simulate(system, system.state(q=[1.0]), 5.0, progress=True)
    assert pictures[0]["text/plain"] == "simulate 0 %"
    assert "<progress" in pictures[0]["text/html"]
    assert pictures[-2]["text/plain"] == "simulate 100 %"
    assert pictures[-1] == {"text/plain": "", "text/html": ""}


@pytest.mark.parametrize("shell", [None, TerminalInteractiveShell()])
def test_no_notebook(shell, notebook):
    notebook(shell)
    assert not progress.in_notebook()


def test_short_batches_are_reported_too():
    """Witnesses make batches short: the native loop never comes back by itself."""
    system, shares = pendulum(), []
    cd.simulate(
        system, system.state(q=[1.0]), 2.0, events=cd.Event(lambda s: s.q("leg")), progress=shares.append
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
