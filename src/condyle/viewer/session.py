"""Session: the pose that one page of a live view controls, and the run that continues from it.

Messages of a page are a closed list; names are looked up and numbers must be finite and within bounds before
anything happens. Nothing that a page sends is executed, and no file is touched.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from condyle.arrays import is_number
from condyle.errors import CondyleError, DescriptionError, UnknownNameError
from condyle.integrate.integrators import METHODS
from condyle.system.state import State
from condyle.system.system import System
from condyle.tree import scales
from condyle.viewer import footing, hand
from condyle.viewer.real_time import RealTime
from condyle.viewer.stream import StateStream

SAMPLES = 61
"""Points of a curve over a coordinate."""
WIDE = 1e6
"""Largest number that a page may send, relative to its quantity."""


Order = Callable[[Mapping[str, Any]], dict[str, Any] | None]
"""Names X of requests of a page, which `Session._do_X` handles."""


class Session:
    """A pose that sliders change, and a run that starts from it.

    Args:
        system: the system to show.
        state: the first pose; `system.state()` by default, with tendons in equilibrium.
        rate: frames per second.
        delay: of the picture behind the run [s].
    """

    def __init__(
        self, system: System, state: State | None = None, *, rate: float = 50.0, delay: float = 0.12
    ) -> None:
        self.system, self.stiffness = hand.with_hand(system)
        given = system.state() if state is None else state
        self.state = self.first = _copied(self.system, given)
        self.rate, self.delay = rate, delay
        self.speed, self.accuracy, self.integrator = 1.0, 1e-3, "merson"
        self.stream = StateStream(self.state)
        self.run: RealTime | None = None
        self.saved: list[dict[str, float]] = []
        self.said = ""
        self.hidden = self.away = False
        self.loose = footing.loose(self.state)
        self._lock = threading.RLock()  # orders arrive in another thread than frames leave
        self.changed = threading.Event()
        self.changed.set()

    # ---- what there is to control ------------------------------------------------------------------------

    def controls(self) -> dict[str, Any]:
        """Sliders and choices, for the page."""
        s, units = self.system, scales.units(self.system.bodies)[0]
        coordinates = []
        for k, name in enumerate(s.coordinates):
            if units[k] != "1":  # components of quaternions are not readable for a person
                low, high = self._range(k)
                coordinates.append(
                    {
                        "name": name,
                        "unit": units[k],
                        "low": low,
                        "high": high,
                        "value": float(self.state.q[k]),
                        "held": self._is_locked(k),
                    }
                )
        own = self._inputs()
        return {
            "coordinates": coordinates,
            "names": list(s.coordinates),
            "parameters": [_slider(n, float(v)) for n, v in zip(s.parameters, self.state.parameters)],
            "inputs": [
                _slider(
                    n, float(self.state.inputs[s.inputs.index(n)]), (0.0, 1.0) if n in s.muscles else None
                )
                for n in own
            ],
            "integrators": [m.name for m in METHODS.values() if m.adaptive],
            "paths": list(s.paths),
            "moves": bool(s.nq),
            "constrained": bool(s.constraints),
            "loose": self.loose,
        }

    def _inputs(self) -> list[str]:
        """Inputs of the user's system: the hand has its own orders."""
        held = hand.inputs(self.system, None)
        return [name for name in self.system.inputs if name not in held]

    def _range(self, k: int) -> tuple[float, float]:
        """The range of a coordinate [rad, m]."""
        coordinate = [c for b in self.system.bodies for c in b.coordinates][k]
        unit = scales.units(self.system.bodies)[0][k]
        wide = np.pi if unit == "rad" else hand.size(self.system)
        low, high = coordinate.range or (-wide, wide)
        value = float(self.state.q[k])
        return (
            min(low, value) if np.isfinite(low) else value - wide,
            max(high, value) if np.isfinite(high) else value + wide,
        )

    # ---- orders -----------------------------------------------------------------------------------------

    def obey(self, message: Any) -> dict[str, Any] | None:
        """Handle a request of a page; returns the answer. Errors of users are answers too."""
        try:
            order = message.get("do") if isinstance(message, dict) else None
            act: Order | None = getattr(self, f"_do_{order}", None)
            if act is None:
                raise DescriptionError(f"the page sent something unknown: {str(message)[:80]!r}")
            with self._lock:
                answer = act(message)
        except (CondyleError, TypeError, ValueError, IndexError) as error:
            return {"error": str(error)}
        except KeyError as error:  # errors of names are CondyleErrors
            return {"error": f"the page sent an order without {error}"}
        self.changed.set()
        return answer

    def _do_pose(self, m: Mapping[str, Any]) -> None:
        k = _known("coordinate", m["name"], self.system.coordinates)
        low, high = self._range(k)
        value = _number(m["value"], low, high)
        self._stop()
        q, u = self.state.q.copy(), np.zeros(self.system.nu)
        q[k] = value
        if self.system.constraints:
            weights = scales.weights(self.system.bodies)[1].copy()
            weights[self._speed_of(k)] *= 1e3  # the others give way
            now = self.state.replace(q=q, u=u)
            mine = self.system.speeds[self._speed_of(k)]
            q, u = self.system.project(
                q,
                u,
                weights=weights,
                t=now.t,
                parameters=now.parameters,
                inputs=now.inputs,
                z=now.z,
                locked={name: level for name, level in now.locked.items() if name != mine},
            )
        self.state = _balanced(self.state.replace(q=q, u=u))

    def _do_poses(self, m: Mapping[str, Any]) -> None:
        """All coordinates at once: a page that reconnects still has its pose."""
        values = m["values"]
        if not isinstance(values, list) or len(values) != self.system.nq:
            raise DescriptionError(f"{self.system.nq} numbers are needed, the page sent {str(values)[:40]!r}")
        q = np.array([_number(x) for x in values])
        self._stop()
        self.state = _balanced(self.state.replace(q=q, u=np.zeros(self.system.nu)))

    # ---- what stays --------------------------------------------------------------------------------------

    def _is_locked(self, k: int) -> bool:
        return self.system.speeds[self._speed_of(k)] in self.state.locked

    def _do_lock(self, m: Mapping[str, Any]) -> None:
        k = _known("coordinate", m["name"], self.system.coordinates)
        self._set_locks([self.system.speeds[self._speed_of(k)]], m["on"])

    def _do_hold(self, m: Mapping[str, Any]) -> None:
        """All of the bodies that nothing holds."""
        names = {s for b in footing.bases(self.system) for s in self.system.speeds[b.u]}
        self._set_locks(sorted(names), m["on"])

    def _set_locks(self, speeds: list[str], on: Any) -> None:
        if not isinstance(on, bool):
            raise DescriptionError(f"on: true or false is needed, the page sent {str(on)[:40]!r}")
        locked = {name: level for name, level in self.state.locked.items() if name not in speeds}
        self._change(locked=locked | (dict.fromkeys(speeds, "position") if on else {}))
        self.loose = footing.loose(self.state)

    # ---- a hidden page costs nothing ----------------------------------------------------------------------

    def _do_hide(self, _: Mapping[str, Any]) -> None:
        if not self.hidden:
            self.hidden, self.away = True, self.run is not None
            self._stop()

    def _do_see(self, _: Mapping[str, Any]) -> None:
        if self.hidden:
            self.hidden = False
            if self.away:
                self._do_play({})

    def _speed_of(self, k: int) -> int:
        for b in self.system.bodies:
            if b.q.start <= k < b.q.stop:
                return min(b.u.start + k - b.q.start, b.u.stop - 1)
        raise IndexError(k)

    def _do_parameter(self, m: Mapping[str, Any]) -> None:
        _known("parameter", m["name"], self.system.parameters)
        self._change(parameters={m["name"]: _number(m["value"])})

    def _do_input(self, m: Mapping[str, Any]) -> None:
        _known("input", m["name"], self._inputs())
        self._change(inputs={m["name"]: _number(m["value"])})

    def _change(self, **given: Any) -> None:
        if self.run is not None:
            self.run.change(**given)
        self.state = self.state.replace(**given)

    def _do_play(self, _: Mapping[str, Any]) -> None:
        if self.run is None and self.system.nq:
            self.said = "The first run compiles ..."
            self.changed.set()
            self.run = RealTime(
                self.system,
                self.state,
                rate=self.rate,
                delay=self.delay,
                speed=self.speed,
                accuracy=self.accuracy,
                integrator=self.integrator,
            )
            self.said = ""
            self.loose = self.loose if self.loose and footing.falls(self.state) else []
            self.run.start()

    def _do_pause(self, _: Mapping[str, Any]) -> None:
        self._stop()

    def _do_reset(self, _: Mapping[str, Any]) -> None:
        self._stop()
        self.state, self.said = self.first, ""

    def _do_speed(self, m: Mapping[str, Any]) -> None:
        self.speed = _number(m["value"], 0.01, 10.0)
        self._again()

    def _do_accuracy(self, m: Mapping[str, Any]) -> None:
        self.accuracy = _number(m["value"], 1e-10, 0.1)
        self._again()

    def _do_integrator(self, m: Mapping[str, Any]) -> None:
        names = [x.name for x in METHODS.values() if x.adaptive]
        self.integrator = names[_known("integrator", m["value"], names)]
        self._again()

    def _do_grab(self, m: Mapping[str, Any]) -> None:
        """Pull at a body; has effect only during a run."""
        names = [b.name for b in self.system.bodies]
        name, far = names[_known("body", m["body"], names)], WIDE * hand.size(self.system)
        station, target = ([_number(x, -far, far) for x in list(m[key])[:3]] for key in ("station", "target"))
        if self.run is not None:
            self.run.change(inputs=hand.inputs(self.system, name, station, target, self.stiffness))

    def _do_release(self, _: Mapping[str, Any]) -> None:
        if self.run is not None:
            self.run.change(inputs=hand.inputs(self.system, None))

    def _do_curve(self, m: Mapping[str, Any]) -> dict[str, Any]:
        """Length and moment arm of a path over a coordinate, with the others fixed."""
        path, k = (
            _known("path", m["path"], self.system.paths),
            _known("coordinate", m["coordinate"], self.system.coordinates),
        )
        x = np.linspace(*self._range(k), SAMPLES)
        q = np.tile(self.state.q, (SAMPLES, 1))
        q[:, k] = x
        tail: dict[str, Any] = {"parameters": self.state.parameters, "t": self.state.t}
        length = self.system.path_lengths(q, **tail)[:, path]
        arm = self.system.moment_arms(q, **tail)[:, path, self._speed_of(k)]
        return {
            "curve": {
                "path": m["path"],
                "coordinate": m["coordinate"],
                "x": x.tolist(),
                "length": _plain(length),
                "arm": _plain(arm),
            }
        }

    def _do_save(self, _: Mapping[str, Any]) -> dict[str, Any]:
        pose = dict(zip(self.system.coordinates, self.shown.q.tolist()))
        self.saved.append(pose)
        return {"saved": pose}

    # ---- the run ----------------------------------------------------------------------------------------

    @property
    def shown(self) -> State:
        """The state in the picture."""
        return self.state if self.run is None else self.run.shown

    def _stop(self) -> None:
        if self.run is not None:
            self.run.stop()
            self.state = self.run.shown.replace(inputs=hand.inputs(self.system, None))
            self.run = None

    def _again(self) -> None:
        """Continue with other settings, if it runs."""
        if self.run is not None:
            self._stop()
            self._do_play({})

    def next(self, patience: float | None = None) -> tuple[bytes | None, dict[str, Any]]:
        """The next frame when it is due, and the status for the page; no frame if nothing changes for
        `patience` [s]. Without a run it waits until something changes."""
        run = self.run
        if run is None:
            if not self.changed.wait(patience):
                return None, self.status()
            self.changed.clear()
            return self.stream.message(self.state), self.status()
        try:
            state = run.wait()
        except CondyleError as error:
            with self._lock:
                if self.run is run:
                    self._stop()
                    self.said = str(error)
            self.changed.set()
            return None, self.status()
        return self.stream.message(state), self.status()

    def status(self) -> dict[str, Any]:
        """The status that a page shows beside the picture."""
        run, state = self.run, self.shown
        out: dict[str, Any] = {
            "t": state.t,
            "playing": run is not None,
            "said": self.said,
            "q": _plain(state.q),
            "locked": [name for k, name in enumerate(self.system.coordinates) if self._is_locked(k)],
            "loose": self.loose,
        }
        if run is not None:
            pace = run.pace
            slow = pace.speed < 0.999 * self.speed
            out |= {
                "missed": pace.missed,
                "lag": pace.lag,
                "factor": min(pace.factor, 1e6),
                "speed": pace.speed,
                "slow": slow,
            }
        return out

    def close(self) -> None:
        """End the run, if there is one."""
        with self._lock:
            self._stop()


def _copied(system: System, state: State) -> State:
    """The state of a system as a state of its copy with a hand."""
    out = system.state(
        t=state.t,
        q=state.q,
        u=state.u,
        z=state.z,
        discrete=state.discrete,
        parameters=dict(zip(state.system.parameters, state.parameters)),
        inputs=dict(zip(state.system.inputs, state.inputs)),
        locked=dict(state.locked),
        disabled=state.disabled,
    )
    return _balanced(out)


def _balanced(state: State) -> State:
    """The state with tendons in equilibrium, if that exists."""
    if not state.system.muscles:
        return state
    try:
        return state.system.equilibrate_muscles(state)
    except CondyleError:
        return state


def _slider(name: str, value: float, between: tuple[float, float] | None = None) -> dict[str, Any]:
    """A number without a range: from zero to twice its value."""
    low, high = between or (min(0.0, 2 * value), max(0.0, 2 * value))
    if low == high:
        low, high = -1.0, 1.0
    return {"name": name, "low": low, "high": high, "value": value}


def _known(what: str, name: Any, names: Any) -> int:
    if not isinstance(name, str) or name not in names:
        raise UnknownNameError(what, str(name)[:80], names)
    return list(names).index(name)


def _number(value: Any, low: float = -1e9, high: float = 1e9) -> float:
    if not is_number(value, low, high):
        raise DescriptionError(
            f"a number between {low:g} and {high:g} is needed, the page sent {str(value)[:40]!r}"
        )
    return float(value)


def _plain(x: Any) -> list[float | None]:
    """A list for JSON: null for NaN."""
    return [float(v) if np.isfinite(v) else None for v in np.ravel(x)]
