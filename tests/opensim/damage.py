"""Model files that are damaged in many ways. Each ends in a System or in a CondyleError, never otherwise:

    python -m tests.opensim.damage 10000 [SEED] [models | loads | setups]

tries as many, of every .osim in the reference folder and a small one, and prints what came of them; or of its
files of ExternalLoads, or of its setup files of a walk, which run as far as they can.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.opensim.files import REFERENCE, pendulum

WORDS = (
    "nan",
    "inf",
    "-1e308",
    "1e999",
    "0",
    "-1",
    "",
    "abc",
    "1 2",
    "../../etc/passwd",
    "/bodyset/nobody",
    "true",
    "\x00",
    "9" * 400,
    "é",
    "/ground",
    "..",
    "<b/>",
    "&amp;",
    "ground",
)


def cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def flipped(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 30))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def binary(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.randbytes(rng.choice((1, 10, 1000))) + data[at:]


def another_text(data: bytes, rng: random.Random) -> bytes:
    """Another text in some element."""
    places = list(re.finditer(rb">([^<>\s][^<>]*)<", data))
    if not places:
        return data
    chosen = rng.sample(places, min(len(places), rng.choice((1, 1, 2))))
    for place in sorted(chosen, key=lambda p: -p.start()):
        data = data[: place.start(1)] + rng.choice(WORDS).encode() + data[place.end(1) :]
    return data


def without_an_element(data: bytes, rng: random.Random) -> bytes:
    places = list(re.finditer(rb"<(\w+)[^<>/]*>[^<>]*</\1>", data))
    place = rng.choice(places) if places else None
    return data if place is None else data[: place.start()] + data[place.end() :]


def twice(data: bytes, rng: random.Random) -> bytes:
    places = list(re.finditer(rb"<(\w+)[^<>/]*>[^<>]*</\1>", data))
    place = rng.choice(places) if places else None
    return data if place is None else data[: place.end()] + place[0] + data[place.end() :]


def another_name(data: bytes, rng: random.Random) -> bytes:
    """Another name, or another tag, of some element."""
    places = list(re.finditer(rb'name="([^"]*)"|</?(\w+)>', data))
    place = rng.choice(places)
    group = 1 if place[1] is not None else 2
    other = rng.choice(places)
    return data[: place.start(group)] + (other[1] or other[2] or b"x") + data[place.end(group) :]


def bomb(data: bytes, rng: random.Random) -> bytes:
    kinds = [
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
        + b"".join(
            b'<!ENTITY a%d "%s">' % (k, b"&a%d;" % (k - 1) * 10 if k else b"&a;" * 10) for k in range(9)
        )
        + b"]>",
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        b'<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
        b"<!--" * 1000,
        b"<a>" * 5000,
    ]
    at = data.find(b"<OpenSimDocument")
    return data[: max(at, 0)] + rng.choice(kinds) + data[max(at, 0) :].replace(b"<mass>", b"<mass>&a8;", 1)


def another_version(data: bytes, rng: random.Random) -> bytes:
    version = rng.choice((10901, 20001, 20302, 30000, 30501, 30507, 30512, 40000, 40600, 99999, -1, 0))
    return re.sub(rb'Version="\d+"', b'Version="%d"' % version, data, count=1)


WAYS = (
    cut,
    flipped,
    binary,
    another_text,
    another_text,
    another_text,
    without_an_element,
    twice,
    another_name,
    bomb,
    another_version,
)


def originals() -> list[bytes]:
    """Files to damage: a small one, and those of the reference folder that are not large."""
    small = pendulum(inside="<coordinates><Coordinate name='angle'/></coordinates>").encode()
    return [small] + [p.read_bytes() for p in sorted(REFERENCE.rglob("*.osim")) if p.stat().st_size < 300_000]


@dataclass
class Kind:
    """Files of one kind: what to damage, where (the others stay beside them), and what reads one."""

    files: list[tuple[str, bytes]]
    beside: Path | None
    read: Callable[[Path], Any]


def models(files: list[bytes]) -> Kind:
    import condyle as cd

    return Kind([("damaged.osim", data) for data in files], None, cd.read_osim)


def _inside(folder: Path, words: bytes) -> list[tuple[str, bytes]]:
    found = [(p.relative_to(folder).as_posix(), p.read_bytes()) for p in sorted(folder.rglob("*.xml"))]
    return [(name, data) for name, data in found if words in data]


def loads() -> Kind:
    import condyle as cd

    folder = REFERENCE / "gait10dof18musc_pipeline"
    return Kind(_inside(folder, b"<ExternalLoads"), folder, cd.read_external_loads)


def setups() -> Kind:
    from condyle.opensim.setup.run import run_setup

    folder = REFERENCE / "gait10dof18musc_pipeline"
    return Kind(
        [*_inside(folder, b"<InverseDynamicsTool"), *_inside(folder, b"<AnalyzeTool")[:1]], folder, run_setup
    )


def tried(count: int, seed: int, kind: Kind) -> Iterator[tuple[str, int, str]]:
    """(way, number, outcome) of damaged files; the outcome is "read", "refused" or what else happened."""
    import condyle as cd

    with tempfile.TemporaryDirectory() as folder:
        deep = Path(folder) / "a" / "b" / "c" / "d" / "e"  # ../../.. stays inside
        if kind.beside is None:
            deep.mkdir(parents=True)
        else:
            shutil.copytree(kind.beside, deep, ignore=shutil.ignore_patterns("Output*", "so_phys*"))
        for path in deep.rglob("*"):
            path.chmod(0o755)
        for k in range(count):
            rng = random.Random(f"{seed} {k}")
            way = rng.choice(WAYS)
            name, data = rng.choice(kind.files)
            (deep / name).write_bytes(way(data, rng))
            start = time.process_time()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    kind.read(deep / name)
                outcome = "read"
            except (cd.errors.CondyleError, FileNotFoundError) as error:
                outcome = "refused" if str(error) else "refused without a word"
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                outcome = f"{type(error).__name__}: {error} at {last.filename}:{last.lineno}"
            if (seconds := time.process_time() - start) > 30:
                outcome = f"took {seconds:.0f} s"
            yield way.__name__, k, outcome


if __name__ == "__main__":
    outcomes: Counter[tuple[str, str]] = Counter()
    what = {"models": lambda: models(originals()), "loads": loads, "setups": setups}
    chosen = what[(sys.argv[3:] or ["models"])[0]]()
    for way, number, outcome in tried(int(sys.argv[1]), int((sys.argv[2:] or "0")[0]), chosen):
        outcomes[way, outcome] += 1
        if outcome not in ("read", "refused"):
            print(number, way, outcome, flush=True)
    for key, times in sorted(outcomes.items()):
        print(times, *key)
