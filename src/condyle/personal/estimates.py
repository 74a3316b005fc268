"""Estimates: named numbers with their standard deviations, beside those of the prior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import UnknownNameError
from condyle.presentation import Block, Display, page
from condyle.records import dataclass

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

SEEN = 0.9
"""A standard deviation above this part of the prior's says that the recordings showed nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Display):
    """Numbers by name with standard deviations: `sizes["thigh y"]`, `sizes.sd["thigh y"]`.

    Attributes:
        what: they are, as "sizes".
        unit: of all, "" for factors.
        names: of the rows.
        values: shape (n,), or (n, 3) for places.
        sd: standard deviations by name, of the same shapes.
        prior: values of the prior, shape as values.
        prior_sd: its standard deviations, shape as values.
        also: other names of some rows, as bodies of sizes along x, y, z.
    """

    what: str
    unit: str
    names: tuple[str, ...]
    values: Array
    sd: dict[str, Any]
    prior: Array
    prior_sd: Array
    also: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        if name in self.also:
            return self.also[name]
        if name not in self.names:
            raise UnknownNameError(self.what.removesuffix("s"), name, (*self.names, *self.also))
        x = self.values[self.names.index(name)]
        return float(x) if np.ndim(x) == 0 else x

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names or name in self.also

    @property
    def z(self) -> dict[str, float]:
        """How far each is from the prior, in standard deviations of the prior; of places the largest axis."""
        z = np.abs(self.values - self.prior) / self.prior_sd
        return {n: float(np.max(x)) for n, x in zip(self.names, z, strict=True)}

    @property
    def unseen(self) -> tuple[str, ...]:
        """Rows that the recordings say nothing of: they stay at the prior."""
        sd = np.array([np.min(self.sd[n]) for n in self.names])
        prior = np.min(np.reshape(self.prior_sd, (len(self.names), -1)), axis=1)
        return tuple(n for n, s, p in zip(self.names, sd, prior, strict=True) if s > SEEN * p)

    def to_pandas(self) -> DataFrame:
        """A DataFrame with rows by name: value, sd, prior, prior_sd; of places one of each along x, y, z."""
        import pandas

        sd = np.array([self.sd[n] for n in self.names])
        columns: dict[str, Any] = {}
        for label, x in (
            ("value", self.values),
            ("sd", sd),
            ("prior", self.prior),
            ("prior_sd", self.prior_sd),
        ):
            if x.ndim == 1:
                columns[label] = x
            else:
                columns |= {f"{label}_{a}": x[:, k] for k, a in enumerate("xyz")}
        return pandas.DataFrame(columns, index=list(self.names))

    @property
    def block(self) -> Block:
        """As a table of texts; places in millimeters."""
        k = 1e3 if self.unit == "m" else 1.0
        say = lambda x: " ".join(f"{k * v:.1f}" if k > 1 else f"{v:.3f}" for v in np.ravel(x))
        rows = [
            (n, say(self.values[i]), say(self.sd[n]), say(self.prior[i]), say(self.prior_sd[i]))
            for i, n in enumerate(self.names)
        ]
        unit = f" [{'mm' if k > 1 else self.unit}]" if self.unit else ""
        return Block(f"{self.what}{unit}", ("", "value", "sd", "prior", "prior sd"), rows)

    def __repr__(self) -> str:
        return f"Estimates({len(self)} {self.what})\n" + self.block.text()

    def _repr_html_(self) -> str:
        return page(f"{len(self)} {self.what}", self.block)
