"""Who is told that machine code is made, and when."""

from __future__ import annotations

import logging
import sys
import time

import pytest

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
