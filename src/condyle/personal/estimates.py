"""Estimates: named numbers with standard deviations, and those of the prior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import UnknownNameError
from condyle.files import atomic_write
from condyle.presentation import Block, Display, page
from condyle.records import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame  # type: ignore[import-untyped]


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Display):
    """Numbers by name with standard deviations: `sizes["thigh y"]`, `sizes.sd["thigh y"]`.

    Attributes:
        what: name of the quantity, such as "sizes". unit: of all, "" for factors.
        names: of the rows.
        values: shape (n,), or (n, 3) for positions.
        sd: standard deviations by name, of the same shapes.
        prior: values of the prior, shape as values.
        prior_sd: its standard deviations, shape as values.
        unseen: rows that the recordings do not determine: they remain at the prior.
        also: other names of some rows, such as bodies of sizes along x, y, z.
    """

    what: str
    unit: str
    names: tuple[str, ...]
    values: Array
    sd: dict[str, Any]
    prior: Array
    prior_sd: Array
    unseen: tuple[str, ...] = ()
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
        """Distance of each from the prior, in standard deviations of the prior; for positions the largest
        axis.
        """
        z = np.abs(self.values - self.prior) / self.prior_sd
        return {n: float(np.max(x)) for n, x in zip(self.names, z, strict=True)}

    def to_pandas(self) -> DataFrame:
        """A DataFrame with rows by name: value, sd, prior, prior_sd; for positions one of each along x, y, z."""
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

    def plot(
        self, axes: Axes | None = None, *, width: str | float = "page", path: str | Path | None = None
    ) -> Axes:
        """Draw estimates with two standard deviations to each side, over gray bars of the prior; for
        positions three axes. Arguments as of `Table.plot`.
        """
        from condyle.table.plots import on

        sd = np.array([self.sd[n] for n in self.names])
        y, columns = np.arange(len(self.names)), self.values.reshape(len(self), -1).T
        with on(axes, width, path, 0.8 + 0.2 * len(self)) as axes:
            for k, x in enumerate(columns):
                mean, wide = (v.reshape(len(self), -1)[:, k] for v in (self.prior, self.prior_sd))
                at = y + 0.25 * (k - (len(columns) - 1) / 2)
                gray: dict[str, Any] = {"color": "0.5", "alpha": 0.25, "label": None if k else "prior"}
                axes.barh(at, 4 * wide, 0.7 / len(columns), mean - 2 * wide, **gray)
                error = 2 * sd.reshape(len(self), -1)[:, k]
                label = "xyz"[k] if len(columns) > 1 else "estimate"
                axes.errorbar(x, at, xerr=error, fmt="o", markersize=3, elinewidth=1.2, label=label)
            axes.grid(visible=False, axis="y")
            axes.set_yticks(y, list(self.names))
            axes.set_ylim(len(self) - 0.5, -0.5)
            axes.set_xlabel(f"{self.what} [{self.unit}]" if self.unit else f"{self.what} (factors)")
            axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4)
        return axes

    def save(self, path: str | Path) -> None:
        """Write a .csv file: name, then the columns of `to_pandas`."""
        sd, axes = (
            np.array([self.sd[n] for n in self.names]),
            ("_x", "_y", "_z") if self.values.ndim > 1 else ("",),
        )
        kinds = (("value", self.values), ("sd", sd), ("prior", self.prior), ("prior_sd", self.prior_sd))
        lines = [",".join(["name", *(f"{k}{a}" for k, _ in kinds for a in axes)])]
        for i, n in enumerate(self.names):
            lines.append(",".join([n, *(f"{v:.9g}" for _, x in kinds for v in np.ravel(x[i]))]))
        with atomic_write(Path(path), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    @property
    def block(self) -> Block:
        """As a table of texts; positions in millimeters."""
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
