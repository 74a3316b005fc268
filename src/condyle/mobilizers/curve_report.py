"""CurveReport: the pace and the curvature of a spline curve, to print and to plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.presentation import Block, Display, number, page
from condyle.records import dataclass
from condyle.spatial import Metric


def bends(s: Array, ds: Array, metric: Metric) -> Array:
    """|ds across s| in the metric, shape (...): what turns the path, without what only changes its pace
    (14)."""
    a, b = s @ metric.root.T, ds @ metric.root.T
    share = (a * b).sum(axis=-1, keepdims=True) / (a * a).sum(axis=-1, keepdims=True)
    return np.linalg.norm(b - share * a, axis=-1)


@dataclass(frozen=True, eq=False, repr=False)
class CurveReport(Display):
    """|s(q)| and curvature along a curve. Prints and plots itself.

    Attributes:
        title: what it is about.
        coordinate: its name, with its unit.
        q: places, several per knot interval, shape (m,).
        speed: |s| in the metric [m per unit of q], shape (m,).
        hessian: |ds| in the metric [m per unit^2], shape (m,).
        curvature: of the path in the metric, |ds across s| / |s|^2 [1/m], shape (m,).
        height: how far the path rises above its chord over the knot interval at q, |ds across s| h^2/8 [m],
            shape (m,).
    """

    title: str
    coordinate: str
    q: Array
    speed: Array
    hessian: Array
    curvature: Array
    height: Array

    @property
    def _block(self) -> Block:
        rows = []
        for name, unit, values in (
            ("|s|", "m per unit", self.speed),
            ("|ds|", "m per unit^2", self.hessian),
            ("curvature", "1/m", self.curvature),
            ("height over an interval", "m", self.height),
        ):
            least, most = int(values.argmin()), int(values.argmax())
            rows.append(
                (
                    f"{name} [{unit}]",
                    number(values.mean()),
                    number(values[least]),
                    number(self.q[least]),
                    number(values[most]),
                    number(self.q[most]),
                )
            )
        return Block(
            "", ("", "mean", "least", f"at {self.coordinate}", "largest", f"at {self.coordinate}"), rows
        )

    def __repr__(self) -> str:
        return f"{self.title}\n{self._block.text()}"

    def _repr_html_(self) -> str:
        return page(self.title, self._block)

    def plot(self, axes: Any = None) -> Any:
        """Draw |s| and |ds| over q.

        Args:
            axes: two of matplotlib's axes, one below the other; new ones by default.

        Returns:
            matplotlib's axes.
        """
        import matplotlib.pyplot as plt

        axes = plt.subplots(2, 1, sharex=True)[1] if axes is None else axes
        for ax, values, label in zip(
            axes, (self.speed, self.hessian), ("|s| [m per unit]", "|ds| [m per unit$^2$]"), strict=True
        ):
            ax.plot(self.q, values)
            ax.set_ylabel(label)
            ax.set_ylim(bottom=0)
        axes[-1].set_xlabel(self.coordinate)
        return axes
