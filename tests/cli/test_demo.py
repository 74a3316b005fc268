"""`condyle demo` as a user runs it: a process of its own, a fresh folder, a fresh cache."""
from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.process import condyle, condyle_here
from tests.process import run

PNG = b"\x89PNG\r\n\x1a\n"
PNG_END = b"IEND\xaeB`\x82"


def whole_picture(path: Path) -> bool:
    content = path.read_bytes()
    return content.startswith(PNG) and content.endswith(PNG_END)


def test_demo_twice_says_what_it_does_and_overwrites_nothing(tmp_path: Path) -> None:
    from condyle.cli.demo import LEG

    first = condyle("demo", cwd=tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    assert first.stdout.startswith("Condyle ")
    for line in LEG.splitlines():
        assert line in first.stdout
    assert "machine code" in first.stdout
    assert "compiled" in first.stdout
    assert first.stdout.count("pass") == 3
    for words in ("energy drift", "inverse dynamics undoes", "central differences", "10,000 states",
                  "Try next"):
        assert words in first.stdout
    picture = tmp_path / "condyle-demo" / "swing.png"
    assert whole_picture(picture)
    before = picture.read_bytes()

    second = condyle("demo", cwd=tmp_path)
    assert second.returncode == 0, second.stdout + second.stderr
    assert "from the cache" in second.stdout
    assert whole_picture(tmp_path / "condyle-demo-2" / "swing.png")
    assert picture.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "cache") == ["condyle-demo",
                                                                               "condyle-demo-2"]


def test_out_twice_into_the_same_folder(tmp_path: Path) -> None:
    for _ in range(2):
        done = condyle_here("demo", "--out", "a/b", cwd=tmp_path,
                            CONDYLE_CACHE_DIR=os.environ["CONDYLE_CACHE_DIR"])
        assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(p.name for p in (tmp_path / "a" / "b").iterdir()) == ["swing-2.png", "swing.png"]
    assert not (tmp_path / "condyle-demo").exists()


def test_out_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    done = condyle_here("demo", "--out", "taken", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "condyle: error: cannot write into --out 'taken': Not a directory; choose a folder with --out DIR"]
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_out_that_is_read_only(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    done = condyle("demo", "--out", "closed", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("condyle: error: cannot write into --out 'closed': ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("moment", ["draw", "write_new"])
def test_ctrl_c_leaves_no_file(moment: str, tmp_path: Path) -> None:
    """SIGINT while the picture is drawn, and before it is written."""
    script = (
        "import os, signal, condyle.cli.main, condyle.cli.demo as d\n"
        f"d.{moment} = lambda *arguments: os.kill(os.getpid(), signal.SIGINT)\n"
        "condyle.cli.main.app(['demo'])\n"
    )
    done = run("-c", script, cwd=tmp_path)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_failing_check_is_exit_code_1(tmp_path: Path) -> None:
    """A tolerance of minus one cannot be met; everything else is as in the real demo."""
    script = (
        "import condyle.cli.main, condyle.cli.demo as d; check = d.Check\n"
        "d.Check = lambda claim, measured, allowed: check(claim, measured, -1.0)\n"
        "condyle.cli.main.app(['demo'])\n"
    )
    done = run("-c", script, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("FAIL") == 4          # three rows and the sentence that explains them
    assert "not to be trusted" in done.stdout
