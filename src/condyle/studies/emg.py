"""`cd.emg`: envelopes of electromyograms, and how they compare with activations.

    raw  ->  band-pass (20 to 400 Hz)  ->  absolute value  ->  low-pass (6 Hz): the envelope  ->  over a maximum

A muscle is on while its envelope is above its value at rest by a number of standard deviations, for some time
(Hodges and Bui, Electroencephalography and Clinical Neurophysiology 101, 511-519, 1996).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arguments import ExplainsCalls, with_call_hints
from condyle.arrays import Array, number
from condyle.errors import DescriptionError, ShapeError, check_name
from condyle.io.c3d import Recording
from condyle.presentation import Display
from condyle.records import dataclass
from condyle.studies.gait.cycles import GaitCycles, gait_cycles
from condyle.studies.gait.foot_events import GaitEvents
from condyle.table import Table
from condyle.table.filters import filtered
from condyle.table.reshaped import unit_factor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST = 0.01
"""Of the maximum, the least standard deviation at rest."""


@dataclass(frozen=True, eq=False, repr=False)
class EMG(Display, ExplainsCalls):
    """Electromyograms of muscles.

    Attributes:
        envelopes: from 0 on, 1 at the maximum that `normalize` names.
        filtered: band-passed, in the units of the channels.
        maxima: what each channel was divided by.
    """

    envelopes: Table
    filtered: Table
    maxima: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"EMG({', '.join(self.envelopes.names)}; {len(self.envelopes)} samples)"

    def _repr_html_(self) -> str:
        return self.envelopes._repr_html_()

    def onsets(
        self, name: str, *, rest: tuple[float, float] | None = None, sd: float = 3.0, shortest: float = 0.05
    ) -> list[tuple[float, float]]:
        """When a muscle is on: (start, end) [s] of each burst.

        Args:
            name: of the channel.
            rest: times [s] between which the muscle rests; by default the quietest tenth of the recording in one piece.
            sd: standard deviations above the mean at rest, each at least a hundredth of the maximum: filters ring.
            shortest: bursts, and breaks between them, that are shorter [s] do not count.
        """
        x, t = self.envelopes[name], self.envelopes.time
        if rest is None:
            n, sums = max(len(x) // 10, 2), np.concatenate([[0.0], np.cumsum(x)])
            first = int(np.argmin(sums[n:] - sums[:-n])) if len(x) > n else 0
            quiet = x[first : first + n]
        else:
            quiet = self.envelopes[float(rest[0]) : float(rest[1])][name]
        if len(quiet) < 2:
            raise DescriptionError(f"EMG.onsets: rest = {rest!r} has fewer than two samples")
        on = x > quiet.mean() + number("EMG.onsets: sd", sd, "a number") * max(quiet.std(), LEAST * x.max())
        for wanted in (False, True):
            runs = np.split(np.arange(len(on)), np.flatnonzero(np.diff(on.astype(int))) + 1)
            for run in runs:
                inside = wanted or (run[0] > 0 and run[-1] < len(on) - 1)
                if inside and on[run[0]] == wanted and t[run[-1]] - t[run[0]] < shortest:
                    on[run] = not wanted
        runs = np.split(np.arange(len(on)), np.flatnonzero(np.diff(on.astype(int))) + 1)
        return [(float(t[run[0]]), float(t[run[-1]])) for run in runs if on[run[0]]]

    def compare(
        self, activations: Table, muscles: Mapping[str, str] | None = None, *, longest: float = 0.2
    ) -> Table:
        """Correlation of envelopes with activations, and by how much the activations are late.

        Args:
            activations: of `cd.static_optimization`, of the same clock.
            muscles: {channel: muscle}; channels with the name of a muscle by default.
            longest: largest lag [s] of the search.

        Returns:
            a Table with a row per channel (0, 1, ...): correlation without a lag, the best one, the lag of the
            activations behind the envelopes [s] at which it is, and the root mean square difference.
        """
        pairs = self._pairs(activations, muscles)
        t = activations.time
        own = self.envelopes.time
        inside = (t >= own[0]) & (t <= own[-1])
        if inside.sum() < 8:
            raise ShapeError(
                f"EMG.compare: activations from {t[0]:g} to {t[-1]:g} s and EMG from {own[0]:g} to {own[-1]:g} s have "
                "fewer than 8 common times: do they have the same clock?"
            )
        step = float(np.diff(t).mean())
        lags = step * np.arange(-round(longest / step), round(longest / step) + 1)
        rows = []
        for channel, muscle in pairs.items():
            a = activations[muscle][inside]
            found = [
                _correlation(a, np.interp(t[inside] - lag, own, self.envelopes[channel])) for lag in lags
            ]
            best = int(np.nanargmax(found)) if np.isfinite(found).any() else len(lags) // 2
            here = np.interp(t[inside], own, self.envelopes[channel])
            rows.append(
                [_correlation(a, here), found[best], lags[best], float(np.sqrt(np.mean((a - here) ** 2)))]
            )
        return Table(
            np.arange(len(rows)), ["correlation", "best", "lag", "rms"], rows, ["", "", "s", ""], over="trial",
            status=f"finished: {', '.join(pairs)}",
        )  # fmt: skip

    def _pairs(self, activations: Table, muscles: Mapping[str, str] | None) -> dict[str, str]:
        """Muscles by channel, all of which exist."""
        if not isinstance(activations, Table):
            raise DescriptionError(
                "EMG: activations: expected a cd.Table with a column per muscle, such as "
                f"cd.static_optimization(...).activations, got {type(activations).__name__}"
            )
        pairs = dict(muscles or {n: n for n in self.envelopes.names if n in activations.names})
        if not pairs:
            raise DescriptionError(
                "EMG: no channel has the name of a muscle: muscles={channel: muscle} says which; channels "
                f"{', '.join(self.envelopes.names[:8])}; muscles {', '.join(activations.names[:8])}"
            )
        for channel, muscle in pairs.items():
            self.envelopes[channel]
            check_name("muscle", muscle, activations.names)
        return pairs

    def beside(
        self,
        activations: Table,
        events: GaitEvents,
        muscles: Mapping[str, str] | None = None,
        side: str = "right",
        *,
        longest: float = 0.2,
    ) -> EMGBeside:
        """Envelopes beside activations over the gait cycle, with correlation and lag: `.plot()`, `.table`.

        Args:
            activations: of `cd.static_optimization`, of the same clock.
            events: `cd.gait_events(loads)` of the trial.
            muscles: {channel: muscle}; channels with the name of a muscle by default.
            side: whose strikes begin the cycles: that of the muscles.
            longest: largest lag [s] of the search, as for `compare`.

        Raises:
            DescriptionError: no whole stride in which both were recorded, or no channel is a muscle's.
        """
        pairs = self._pairs(activations, muscles)
        names = list(pairs.values())
        recorded = self.envelopes[list(pairs)].rename(pairs)
        low, high = max(recorded.time[0], activations.time[0]), min(recorded.time[-1], activations.time[-1])
        measured, computed = (
            gait_cycles(table[names].between(low, high), events, side) for table in (recorded, activations)
        )
        return EMGBeside(measured, computed, self.compare(activations, pairs, longest=longest))


@dataclass(frozen=True, eq=False, repr=False)
class EMGBeside(Display, ExplainsCalls):
    """Envelopes and activations over the gait cycle, from `EMG.beside`.

    Attributes:
        emg: strides of the envelopes, with the names of the muscles.
        activations: the same strides of the activations.
        table: a row per muscle: correlation, the best one, the lag of the activations at which it is [s], and the root
            mean square difference, as `EMG.compare` gives them, over all times.
    """

    emg: GaitCycles
    activations: GaitCycles
    table: Table

    def plot(self, *names: str, **options: Any) -> Figure:
        """A panel per muscle: EMG and activation, with correlation and lag above.

        Args:
            names: of muscles, all by default.
            options: of `GaitCycles.plot`: band, width, path.
        """
        chosen = list(names) or list(self.emg.names)
        path = options.pop("path", None)
        figure = self.emg.plot(*chosen, compare=self.activations, labels=("EMG", "activation"), **options)
        for axes, name in zip(figure.axes, chosen, strict=False):
            row = self.emg.names.index(name)
            r, best, lag = (self.table[column][row] for column in ("correlation", "best", "lag"))
            axes.set_title(
                f"{name}: r = {r:.2f}; {best:.2f} at {1000 * lag:.0f} ms", loc="left", fontsize="small"
            )
        if path is not None:
            figure.savefig(path)
        return figure

    def __repr__(self) -> str:
        mean = float(np.nanmean(self.table["correlation"]))
        return (
            f"EMGBeside({len(self.emg)} strides of {', '.join(self.emg.names)}; mean correlation {mean:.2f})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{self.table._repr_html_()}"


def _correlation(a: Array, b: Array) -> float:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


@with_call_hints(
    {"mvc": "it is normalize=", "lowpass": "it is envelope= [Hz]", "bandpass": "it is band= [Hz]"}
)
def emg(
    data: Table | Recording,
    channels: Sequence[str] | Mapping[str, str] | None = None,
    *,
    band: tuple[float, float] | None = (20.0, 400.0),
    envelope: float = 6.0,
    notch: float | None = None,
    normalize: str | Mapping[str, float] | Table | None = "maximum",
) -> EMG:
    """Envelopes of electromyograms.

    Args:
        data: a Table of channels (`cd.read_table`, .sto, .mot, .csv) or what `cd.read_c3d` returns,
            whose analog channels are used.
        channels: which, or {channel: name to give it}; all by default.
        band: pass band [Hz] for raw signals; the upper limit is kept below half of the rate. None for
            rectified data or envelopes.
        envelope: cut-off frequency [Hz] of the envelope.
        notch: of the mains, 50 or 60 [Hz].
        normalize: "maximum": each channel's own maximum is 1. {name: value}, or a Table of maximum voluntary
            contractions, which is processed alike and whose maxima are used. None: units are unchanged.

    Raises:
        DescriptionError: rates that are too low, channels that are silent.
        ShapeError: gaps, or times that are not even.
    """
    table = _chosen(data, channels)
    if len(table) < 2:
        raise DescriptionError(f"emg: expected samples over time, got {len(table)}")
    rate = (len(table) - 1) / (table.time[-1] - table.time[0])
    signal = table if notch is None else table.notch(notch)
    if band is not None:
        low, high = (number("emg: band", x, "a frequency [Hz]") for x in band)
        if rate < 2.5 * low:
            raise DescriptionError(
                f"emg: {rate:.4g} samples per second cannot show {low:g} Hz; for envelopes give band=None"
            )
        signal = signal.band_pass(low, min(high, 0.45 * rate))
    x = np.maximum(filtered(signal.time, np.abs(signal.values), envelope), 0.0)
    out = signal._with(values=x)
    if normalize is None:
        return EMG(out, signal, dict.fromkeys(out.names, 1.0))
    if isinstance(normalize, Table):
        most = emg(normalize, channels, band=band, envelope=envelope, notch=notch, normalize=None).envelopes
        maxima = {
            name: float(most[name].max())
            * unit_factor(most.units[most.names.index(name)], unit, "emg: normalize")
            for name, unit in zip(out.names, out.units, strict=True)
        }
    elif isinstance(normalize, Mapping):
        maxima = {
            name: number(f"emg: normalize[{name!r}]", normalize.get(name), "a number") for name in out.names
        }
    elif normalize == "maximum":
        maxima = {name: float(out[name].max()) for name in out.names}
    else:
        raise DescriptionError(
            f"emg: normalize: expected 'maximum', {{name: value}}, a Table or None, got {normalize!r}"
        )
    silent = [name for name, value in maxima.items() if not 0 < value < np.inf]
    if silent:
        raise DescriptionError(
            f"emg: the maximum of {silent[0]!r} is {maxima[silent[0]]:g}: the channel is silent"
        )
    values = out.values / np.array([maxima[name] for name in out.names])
    return EMG(out._with(values=values, units=[""] * len(out.names)), signal, maxima)


def _chosen(data: Table | Recording, channels: Sequence[str] | Mapping[str, str] | None) -> Table:
    table = data.analog if isinstance(data, Recording) else data
    if not isinstance(table, Table) or not table.names:
        raise DescriptionError(
            f"emg: expected a cd.Table of channels or a recording (cd.read_c3d) with some, got {type(data).__name__}"
        )
    if channels is not None:
        table = table[list(channels)]
    for name, unit in zip(table.names, table.units, strict=True):
        if unit and not unit.endswith("V"):
            raise DescriptionError(
                f"emg: channel {name!r} is in {unit}, not in volts; channels= names the electrodes"
            )
    return table.rename(channels) if isinstance(channels, Mapping) else table
