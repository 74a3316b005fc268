"""Quality of results: `result.quality`, a small table of checks with value, guideline and verdict. Guidelines
are defined with the studies.

    moments = cd.inverse_dynamics(system, motion)
    moments.quality                 # the table, at a prompt and in a notebook
    moments.quality.worst           # the Check with the worst verdict
    moments.check()                 # raises cd.errors.QualityError if a verdict is "fail"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Self

from condyle.errors import QualityError, QualityWarning, UnknownNameError, warn
from condyle.presentation import Block, Display, escape, page
from condyle.records import dataclass

DIGITS = 3
"""Digits of values and guidelines; more where a value and its guideline would look the same."""


class Verdict(StrEnum):
    """Verdict of a Check: "ok", within the guideline; "check", above it; "fail", so far above it that an
    input is probably wrong; "note", where there is no guideline.
    """

    NOTE = "note"
    OK = "ok"
    CHECK = "check"
    FAIL = "fail"

    @property
    def rank(self) -> int:
        return list(Verdict).index(self)


@dataclass(frozen=True)
class Check:
    """One row of a quality table.

    Attributes:
        what: name of the check, such as "peak residual force on pelvis". value: in `unit`; larger is worse.
            NaN fails.
        unit: of value, guideline and limit; may be empty.
        guideline: the largest good value; None without one.
        limit: the value above which the result fails; `FAR` times the guideline, if None.
        where: location and time of the value, such as "pelvis_ty at t = 0.52 s".
        advice: likely cause and remedy.
    """

    FAR: ClassVar[float] = 2.0

    what: str
    value: float
    unit: str = ""
    guideline: float | None = None
    limit: float | None = None
    where: str = ""
    advice: str = ""

    @property
    def verdict(self) -> Verdict:
        """See Verdict."""
        if self.guideline is None:
            return Verdict.NOTE
        limit = self.FAR * self.guideline if self.limit is None else self.limit
        if not self.value <= max(limit, self.guideline):  # NaN too
            return Verdict.FAIL
        return Verdict.OK if self.value <= self.guideline else Verdict.CHECK

    @property
    def texts(self) -> tuple[str, str]:
        """Value and guideline with their unit; the guideline may be empty."""
        if self.guideline is None:
            return _with_unit(_number(self.value), self.unit), ""
        said, allowed = distinct_texts(self.value, self.guideline)
        return _with_unit(said, self.unit), _with_unit(allowed, self.unit)

    def __str__(self) -> str:
        value, guideline = self.texts
        text = f"{self.what}: {value}" + (f" ({self.where})" if self.where else "")
        if self.verdict is Verdict.NOTE:
            return text
        if self.verdict is Verdict.OK:
            return f"{text}, guideline {guideline}"
        return f"{text}, above the guideline of {guideline}" + (f": {self.advice}" if self.advice else "")


class Quality(Display):
    """The checks of a result: see `worst`, `verdict` and `check`.

    It is a sequence of `Check`; `quality["peak residual force"]` is the first whose name begins so.

    Args:
        checks: the rows, or a function that computes them on first use.
        who: the study, in warnings and errors.
    """

    __slots__ = ("_checks", "_made", "who")
    elsewhere: ClassVar[dict[str, str]] = {"rows": "quality.checks", "status": "quality.verdict"}

    def __init__(self, checks: Iterable[Check] | Callable[[], Iterable[Check]] = (), who: str = "") -> None:
        self._checks = checks
        self._made: tuple[Check, ...] | None = None
        self.who = who

    @property
    def checks(self) -> tuple[Check, ...]:
        """All rows, in the order of the study."""
        if self._made is None:
            self._made = tuple(self._checks() if callable(self._checks) else self._checks)
            self._checks = ()  # what they were made from may go
        return self._made

    def __getstate__(self) -> Any:  # functions do not go into pickles
        return self.checks, self.who

    def __setstate__(self, state: Any) -> None:
        self._made, self.who = state
        self._checks = ()

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def __getitem__(self, what: str | int) -> Check:
        if isinstance(what, int):
            return self.checks[what]
        for check in self.checks:
            if check.what.startswith(what):
                return check
        raise UnknownNameError("check", what, [check.what for check in self.checks])

    def __contains__(self, what: object) -> bool:
        return any(check is what or check.what.startswith(str(what)) for check in self.checks)

    def __add__(self, more: Iterable[Check]) -> Quality:
        """These and more."""
        return Quality(lambda: (*self.checks, *more), self.who)

    @property
    def worst(self) -> Check | None:
        """The row with the worst verdict, and of these the farthest above its guideline; None of none."""
        return max(self.checks, key=lambda c: (c.verdict.rank, _excess(c)), default=None)

    @property
    def verdict(self) -> Verdict:
        """The worst of all rows: equal to "ok", "check" or "fail"; "note" if nothing has a guideline."""
        worst = self.worst
        return worst.verdict if worst is not None else Verdict.NOTE

    def check(self) -> None:
        """Return if no row fails.

        Raises:
            QualityError: the worst row; carries this table as `quality`.
        """
        worst = self.worst
        if worst is not None and worst.verdict is Verdict.FAIL:
            raise QualityError(self._said(worst), self)

    def warn(self) -> None:
        """One warning, QualityWarning, that names the worst row, if it fails."""
        worst = self.worst
        if worst is not None and worst.verdict is Verdict.FAIL:
            said = self._said(worst)
            warn(f"{said}{'' if said.endswith('?') else '.'} See .quality", QualityWarning)

    def _said(self, worst: Check) -> str:
        more = sum(c.verdict is Verdict.FAIL for c in self.checks) - 1
        return (f"{self.who}: " if self.who else "") + str(worst) + (f" (and {more} more)" if more else "")

    @property
    def summary(self) -> str:
        """Suffix for a repr; empty if all checks pass."""
        worst = self.worst
        if worst is None or worst.verdict.rank <= Verdict.OK.rank:
            return ""
        value, guideline = worst.texts
        return f"; quality {worst.verdict}: {worst.what} {value}, guideline {guideline}"

    @property
    def blocks(self) -> list[Block]:
        """As a table of texts, for a notebook; none if nothing was checked."""
        return [self.block] if self.checks else []

    @property
    def block(self) -> Block:
        """As a table of texts."""
        rows = [(c.what, c.texts[0], c.texts[1], str(c.verdict), c.where) for c in self.checks]
        return Block("quality", ("what", "value", "guideline", "verdict", "where"), rows)

    def lines(self) -> list[str]:
        """The table as lines of text, then advice on rows above their guideline."""
        return [*self.block.lines(), *self._advice] if self.checks else []

    @property
    def _advice(self) -> list[str]:
        return [
            f"{c.verdict}: {c.what}: {c.advice}"
            for c in self.checks
            if c.verdict in (Verdict.CHECK, Verdict.FAIL) and c.advice
        ]

    def __repr__(self) -> str:
        lines = [f"  {line}" for line in self.lines()]
        return "\n".join([f"Quality({len(self.checks)} checks: {self.verdict})", *lines])

    def _repr_html_(self) -> str:
        return page(f"Quality: {self.verdict}", self.block) + "".join(
            f"<div>{escape(line)}</div>" for line in self._advice
        )

    def to_pandas(self) -> Any:
        """A pandas DataFrame with columns what, value, unit, guideline, limit, verdict, where, advice."""
        import pandas  # type: ignore[import-untyped]

        names = ("what", "value", "unit", "guideline", "limit", "verdict", "where", "advice")
        return pandas.DataFrame(
            [[getattr(c, n) if n != "verdict" else str(c.verdict) for n in names] for c in self.checks],
            columns=list(names),
        )


class Judged:
    """A base for results with a `quality` table: `_checks` makes its rows when it is first read, and
    `_study` is the name of the function that made it."""

    _study: ClassVar[str] = ""

    def _checks(self) -> Iterable[Check]:
        return ()

    @cached_property
    def quality(self) -> Quality:
        """Quality of the result: checks with value, guideline and verdict."""
        return Quality(self._checks, self._study)

    def check(self) -> Self:
        """Return the result if no row of its `quality` fails.

        Raises:
            QualityError: the worst row.
        """
        self.quality.check()
        return self


def distinct_texts(value: float, limit: float) -> tuple[str, str]:
    """Two numbers with enough digits to distinguish them."""
    for digits in range(DIGITS, 17):
        texts = _number(value, digits), _number(limit, digits)
        if texts[0] != texts[1] or value == limit:
            return texts
    return texts


def _number(x: float, digits: int = DIGITS) -> str:
    """A number without unexpected exponents."""
    text = f"{float(x) + 0.0:.{digits}g}"
    return f"{x:.0f}" if "e" in text and 1 <= abs(x) < 1e6 else text


def _with_unit(number: str, unit: str) -> str:
    return f"{number} {unit}" if unit else number


def _excess(check: Check) -> float:
    """Ratio of a value to its guideline; 0 without one."""
    if check.guideline is None:
        return 0.0
    if math.isnan(check.value):
        return math.inf
    return check.value / check.guideline if check.guideline else check.value
