"""What commands say: one style, whole words, colors where a person looks on."""

from __future__ import annotations

import io
import re
import sys

import pytest

from condyle.cli.main import main
from condyle.cli.terminal import Bar, complain, say, say_table
from condyle.presentation import Block

TEXT = "peak residual force on pelvis: 129 N (t = 0 s), above the guideline of 40.5 N: motion, loads and masses differ"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def looked_at(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """A terminal of 60 columns in place of both streams; in the test itself, since pytest sets them before it."""
    made = Screen()
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, made)
    return made


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[\dK;]*m?", "", text)


def test_lines_break_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = looked_at(monkeypatch)
    say("note", TEXT)
    lines = plain(screen.getvalue()).splitlines()
    assert max(map(len, lines)) <= 60 and len(lines) > 1
    assert " ".join(" ".join(lines).split()) == f"note {TEXT}"
    assert [line[:10].strip() for line in lines] == ["note", *[""] * (len(lines) - 1)]
    assert screen.getvalue().startswith("  \x1b[36mnote\x1b[0m    peak")
    path = "a" * 80
    say("wrote", path)
    assert path in screen.getvalue()  # nothing is cut


def test_errors_have_one_style(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a study and those of words that a command does not know."""
    screen = looked_at(monkeypatch)
    complain("error", TEXT)
    assert screen.getvalue().startswith("\x1b[1;31mcondyle: error: \x1b[0mpeak")
    monkeypatch.setenv("NO_COLOR", "1")
    for words, said in (
        (["shwo"], "condyle: error: No such command 'shwo'"),
        (["analyze"], "condyle: error: Missing argument 'model'. For usage:"),
        (
            ["personalize", "a.osim", "a.trc", "--loads"],
            "requires an argument. For usage: condyle personalize --",
        ),
        (["analyze", "arm26", "x.mot", "--lowpas", "6"], "condyle: error: No such option"),
        (["describe", "nothing.osim"], "condyle: error: nothing.osim: no such file"),
    ):
        monkeypatch.setattr(sys, "argv", ["condyle", *words])
        screen.truncate(0)
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == (1 if words[0] == "describe" else 2)
        assert said in " ".join(screen.getvalue().replace("\x00", "").split())


def test_tables_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = looked_at(monkeypatch)
    rows = [
        ("largest root mean square of marker errors in a frame", "0.2 cm", "ok", "t = 0.84 s"),
        ("b", "", "fail", ""),
    ]
    block = Block("", ("what", "value", "verdict", "where"), rows)
    say_table(block, "quality")
    lines = plain(screen.getvalue()).splitlines()
    assert max(map(len, lines)) <= 60 and len(lines) > 3
    assert "\x1b[32mok\x1b[0m" in screen.getvalue() and "\x1b[1;31mfail\x1b[0m" in screen.getvalue()
    assert block.lines(200) == block.lines()
    narrow = block.lines(10)  # words stay whole, so that it is as narrow as they let it
    assert {"largest", "errors", "0.84"} <= {word for line in narrow for word in line.split()}


def test_bars_are_for_people(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = looked_at(monkeypatch)
    with Bar(4) as bar:
        bar.done = 2
        bar.show("inverse kinematics" * 9)
    assert screen.getvalue().count("━") == 12
    assert screen.getvalue().endswith("\r\x1b[2K")  # it leaves nothing behind
    assert len(screen.getvalue().split("\x1b[2K")[1].rstrip("\r")) < 60
    monkeypatch.setattr(sys, "stderr", other := io.StringIO())
    with Bar(4) as bar:
        bar.show("x")
    assert not other.getvalue()


@pytest.mark.parametrize(
    "command", ["", "analyze", "personalize", "run", "show", "batch", "simulate", "cache info"]
)
def test_help_has_no_types_of_python(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["condyle", *command.split(), "--help"])
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr().out
    assert "--help" in said and not re.search(r"<[a-z\[]|list\[|\bPath\b", said)
