"""Who is told that machine code is made, and when."""

from __future__ import annotations

import contextlib
import logging
import sys
import time

import pytest

import condyle as cd
from condyle.native.machine import notice


@pytest.fixture
def said(monkeypatch, capsys, caplog):
    """Makes things that take some seconds; what stderr got then, and the log."""

    def make(*seconds: float, terminal: bool = True) -> tuple[str, list[str]]:
        monkeypatch.setattr(notice, "PATIENCE", 0.05)
        monkeypatch.setattr(notice, "_waited", 0.0)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
        caplog.set_level(logging.INFO, "condyle")
        for k, time_taken in enumerate(seconds):
            with notice.compiling(f"part {k}"):
                time.sleep(time_taken)
        return capsys.readouterr().err, [record.name for record in caplog.records]

    return make


def test_what_takes_long_is_told_once(said):
    text, log = said(0.3)
    assert text.splitlines() == ["condyle: compiling part 0, once for this model: the code is kept"]
    assert log == ["condyle"]


def test_short_work_is_silent(said):
    assert said(0.0) == ("", [])


def test_many_short_pieces_are_told(said):
    text, log = said(*[0.03] * 8)
    assert text.startswith("condyle: compiling part ")
    assert log


def test_a_file_gets_the_log_only(said):
    assert said(0.3, terminal=False) == ("", ["condyle"])


def test_a_bar_is_not_disturbed(said):
    heard: list[str] = []
    stop = notice.listen(heard.append)
    text, _ = said(0.3)
    stop()
    assert heard == ["part 0", ""]
    assert text == ""


class Clock:
    """Timers that go off when a test says so."""

    def __init__(self, seconds, call):
        self.seconds, self.call, self.ended = seconds, call, False
        timers.append(self)

    def start(self):
        self.started = True

    def cancel(self):
        self.ended = True

    def join(self):
        assert self.ended

    def goes_off(self):
        if not self.ended:
            self.ended = True
            self.call()


timers: list[Clock] = []


@pytest.fixture
def clock(monkeypatch, caplog):
    timers.clear()
    monkeypatch.setattr(notice.threading, "Timer", Clock)
    monkeypatch.setattr(notice, "_waited", 0.0)
    monkeypatch.setattr(notice, "looked_at", lambda: True)
    caplog.set_level(logging.INFO, "condyle")
    return timers


def test_long_work_is_told_again_and_again(clock, capsys, caplog):
    with notice.working("reading gait.osim"):
        for _ in range(4):
            clock[-1].goes_off()
    assert [t.seconds for t in clock] == [1, 10, 20, 40, 80]
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"condyle: reading gait.osim{after}"
        for after in ("", " (10 s until now)", " (20 s until now)", " (40 s until now)")
    ]
    assert [f"condyle: {record.getMessage()}" for record in caplog.records] == lines
    assert clock[-1].ended  # nobody waits for the next


def test_work_that_ends_says_nothing_more(clock, capsys):
    with notice.working("reading gait.osim"):
        pass
    late = clock[0]
    late.ended = False
    late.goes_off()  # as it ended
    assert len(clock) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_models_are_read_under_a_notice(monkeypatch, tmp_path):
    said = []
    working = notice.working
    monkeypatch.setattr(notice, "working", lambda what: said.append(what) or working(what))
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path / "cache"))
    system = cd.System()
    system.add_body("rod", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))
    cd.write_osim(system, tmp_path / "rod.osim")
    for _ in range(2):  # the second time it is known
        cd.read_osim(tmp_path / "rod.osim")
    assert said == ["reading rod.osim"]


def test_a_study_says_its_name_once(monkeypatch, capsys, caplog):
    """In a terminal and in the log; a study inside another one is part of it."""
    monkeypatch.setattr(notice, "PATIENCE", 0.02)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    caplog.set_level(logging.INFO, "condyle")

    @notice.announced
    def inner_work() -> int:
        time.sleep(0.1)
        return 3

    @notice.announced
    def outer_work() -> int:
        return inner_work()

    assert outer_work() == 3
    assert capsys.readouterr().err == "condyle: outer work is at work\n"
    assert inner_work() == 3
    assert capsys.readouterr().err == "condyle: inner work is at work\n"
    assert [record.getMessage() for record in caplog.records] == [
        "outer work is at work",
        "inner work is at work",
    ]


def test_long_studies_are_announced(monkeypatch):
    """Each that has no bar: what takes a second has a name."""
    names = [
        *(
            "inverse_dynamics",
            "static_optimization",
            "joint_reactions",
            "muscle_analysis",
            "scale",
            "show",
            "track",
        ),
        *("predict", "personalize", "analyze", "relax", "limit_cycle", "sample", "fit_parameters"),
    ]
    began: list[str] = []
    monkeypatch.setattr(notice, "working", lambda text: began.append(text) or contextlib.nullcontext())
    for name in names:
        with pytest.raises((AttributeError, TypeError, cd.errors.CondyleError)):
            getattr(cd, name)(None, None)  # it begins, and fails
    assert began == [f"{name.replace('_', ' ')} is at work" for name in names]


def test_a_run_without_a_bar_says_how_much_is_done(monkeypatch, capsys):
    monkeypatch.setattr(notice, "PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    system = cd.System()
    system.add_body("b", system.ground, cd.Pin(), mass=1.0, com=(0, 1, 0), inertia=(1, 1, 1))
    cd.simulate(system, system.state(), 1.0)
    assert "condyle: simulate: 100% done" in capsys.readouterr().err
