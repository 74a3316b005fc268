"""Controls over time that the controllers of a setup file and of its model give to muscles and actuators."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import condyle.files as files
from condyle.arrays import Array
from condyle.errors import DescriptionError, UnknownNameError
from condyle.forces.actuators import Actuator
from condyle.forces.external import TimeSeries
from condyle.functions import PiecewiseConstant
from condyle.muscles import Muscle
from condyle.opensim.controllers import prescribed_controller
from condyle.opensim.document import Document, read_document
from condyle.opensim.element import Element, read_elements
from condyle.opensim.reading import Reading
from condyle.opensim.setup.setup_file import Setup
from condyle.opensim.versions import OLDEST
from condyle.system.system import System

Control = Callable[[Any], Any]
"""A control over time: one of cd.functions, or a PiecewiseControl."""


class PiecewiseControl:
    """A control with straight lines between nodes; beyond them the first and last lines continue.

    Args:
        time: [s], shape (n,).
        values: shape (n,).
        lines: whether to extrapolate linearly; otherwise the end values are held.
    """

    def __init__(self, time: Array, values: Array, lines: bool = True) -> None:
        self.time, self.values, self.lines = np.asarray(time, float), np.asarray(values, float), lines

    def over(self, start: float, end: float) -> PiecewiseControl:
        """The control with nodes at least from start to end [s]."""
        t, x = self.time, self.values
        if len(t) == 1:
            return PiecewiseControl(np.array([start, max(end, start + 1.0)]), np.repeat(x, 2))
        slopes = (np.diff(x) / np.diff(t))[[0, -1]] * self.lines
        if start < t[0]:
            t, x = np.r_[start, t], np.r_[x[0] + slopes[0] * (start - t[0]), x]
        if end > t[-1]:
            t, x = np.r_[t, end], np.r_[x, x[-1] + slopes[1] * (end - t[-1])]
        return PiecewiseControl(t, x)

    def series(self) -> TimeSeries:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of kinks, which OpenSim's controls have
            return TimeSeries(tuple(self.time), tuple(self.values), "linear")

    def __call__(self, t: Array) -> Array:
        return np.interp(t, self.time, self.values)


def controls_of(setup: Setup, system: System, start: float, end: float) -> dict[str, Control]:
    """Controls by the name of the muscle or actuator, from start to end [s].

    Raises:
        DescriptionError: a controller that is not supported, or two that give the same control.
        UnknownNameError: a control of an actuator that the model does not have.
    """
    found: dict[str, Control] = {}
    known = [name for name in system.forces if isinstance(system.force(name), (Muscle, Actuator))]
    own = setup.model_reading
    given = [(own, e) for e in own.objects(setup.model.object, "ControllerSet")]
    for reading, element in [*given, *((setup.reading, e) for e in setup.objects("ControllerSet"))]:
        if not reading.boolean(element, "enabled", True):
            continue
        for name, control in _controls(setup, reading, element).items():
            if name not in known:
                raise UnknownNameError("actuator", name, known, f"{element.place}: {element.tag}")
            if name in found:
                raise reading.error(
                    element,
                    f"{name} has a control already, from another controller; "
                    "OpenSim adds them, which is not done here: leave one out",
                )
            found[name] = control.over(start, end) if isinstance(control, PiecewiseControl) else control
    return found


def with_controls(system: System, controls: dict[str, Control]) -> System:
    """The system with these controls instead of its Inputs."""
    forces = {}
    for name, control in controls.items():
        law: Any = system.force(name)
        value = control.series() if isinstance(control, PiecewiseControl) else control
        forces[name] = replace(law, **{"excitation" if isinstance(law, Muscle) else "control": value})
    return system.copy(forces=forces)


def control_inputs(system: System, controls: dict[str, Control], t: Array) -> Array:
    """The inputs of a system at times t (m,) with these controls, shape (m, inputs); others have their
    defaults."""
    places = {name: k for k, name in enumerate(system.inputs)}
    start = system.state()
    values = np.tile(start.tail[system.compiled.model.tail["inputs"]], (len(t), 1))
    for name, control in controls.items():
        if name in places:  # else its law has a function in its place
            values[:, places[name]] = np.broadcast_to(np.asarray(control(t), dtype=float), t.shape)
    return values


def _controls(setup: Setup, reading: Reading, element: Element) -> dict[str, Control]:
    """The controls of one controller."""
    if element.tag not in ("ControlSetController", "PrescribedController"):
        raise reading.error(
            element,
            "this controller is not supported; ControlSetController and "
            "PrescribedController are. Switch it off by <enabled>false</enabled>",
        )
    file = (
        setup.text("controls_file", "", element)
        if reading is setup.reading
        else reading.text(element, "controls_file", "").strip()
    )
    if file in ("", "Unassigned"):
        if element.tag == "ControlSetController":
            setup.check(f"{element.place}: its <controls_file> names no file: it controls nothing")
            return {}
        before, notes = reading.controls, len(reading.notes)
        reading.controls = {}
        prescribed_controller(reading, element)
        made, reading.controls = reading.controls, before
        setup.report.check += [str(note) for note in reading.notes[notes:]]
        return {name: function for name, (_, function) in made.items()}
    path = setup.find_file(file, "<controls_file>", element)
    controls = _control_set(path) if path.suffix.lower() == ".xml" else _columns(setup, path)
    names = {word.rpartition("/")[2] for word in reading.words(element, "socket_actuators")}
    if element.tag == "PrescribedController" and "ALL" not in names:
        return {name: c for name, c in controls.items() if name in names}
    return controls


def _columns(setup: Setup, path: Path) -> dict[str, Control]:
    """Controls in the columns of a table."""
    table = setup.table(path, degrees=False)
    return {_bare(name): PiecewiseControl(table.time, table[name]) for name in table.names}


def _control_set(path: Path) -> dict[str, Control]:
    """Controls in a ControlSet."""
    root = read_elements(path)
    bare = root.tag == "ControlSet"  # as OpenSim before 1.9 wrote it
    document = Document(path, OLDEST, root) if bare else read_document(path, "ControlSet")
    reading, inner = Reading(document, System()), document.object.child("objects")
    out: dict[str, Control] = {}
    for element in inner.children if inner is not None else []:
        if element.tag == "ControlConstant":
            out[_bare(element.name)] = PiecewiseControl(
                np.zeros(1), np.array([reading.number(element, "value")])
            )
            continue
        if element.tag != "ControlLinear":
            raise reading.error(element, "expected a ControlLinear or a ControlConstant")
        nodes = sorted(
            (reading.number(n, "t"), reading.number(n, "value"))
            for n in element.descendants("ControlLinearNode")
            if n.parent is not None and "x_nodes" in (n.parent.tag, getattr(n.parent.parent, "tag", ""))
        )
        if not nodes:
            raise reading.error(element, "it has no <x_nodes>")
        t, x = np.array(nodes).T
        if not (np.diff(t) > 0).all():
            raise reading.error(element, f"two of its nodes have the time {t[:-1][np.diff(t) <= 0][0]:g} s")
        if reading.boolean(element, "use_steps", False) and len(t) > 1:
            out[_bare(element.name)] = _steps(t, x)
            continue
        out[_bare(element.name)] = PiecewiseControl(t, x, reading.boolean(element, "extrapolate", True))
    if not out:
        raise DescriptionError(f"{path.name}: it contains no controls")
    return out


def _steps(t: Array, x: Array) -> PiecewiseConstant:
    """A control in steps: behind each node it has the value of the next one, as in OpenSim."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of jumps, which the file asks for
        return PiecewiseConstant((t[0] - 1.0, *np.nextafter(t[:-1], np.inf)), tuple(x))


def _bare(name: str) -> str:
    """The name of the actuator of a control."""
    return name.rpartition("/")[2].removesuffix(".excitation")


# ---- controls over time as OpenSim's .xml files have them --------------------------------------------------


def write_controls(path: Path, time: Array, names: Sequence[str], values: Array) -> Path:
    """Write a ControlSet of linear controls.

    Args:
        path: where.
        time: [s], shape (m,).
        names: of the actuators.
        values: controls, shape (m, n).
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8" ?>',
        '<OpenSimDocument Version="40600">',
        '\t<ControlSet name="Control Set">',
        "\t\t<objects>",
    ]
    from xml.sax.saxutils import quoteattr  # which loads readers of mail

    for name, column in zip(names, values.T.tolist(), strict=True):
        lines += [
            f"\t\t\t<ControlLinear name={quoteattr(name)}>",
            "\t\t\t\t<is_model_control>true</is_model_control>",
            "\t\t\t\t<extrapolate>true</extrapolate>",
            "\t\t\t\t<filter_on>false</filter_on>",
            "\t\t\t\t<use_steps>false</use_steps>",
            "\t\t\t\t<x_nodes>",
        ]
        lines += [
            f"\t\t\t\t\t<ControlLinearNode><t>{t!r}</t><value>{x!r}</value></ControlLinearNode>"
            for t, x in zip(time.tolist(), column, strict=True)
        ]
        lines += ["\t\t\t\t</x_nodes>", "\t\t\t</ControlLinear>"]
    lines += ["\t\t</objects>", "\t</ControlSet>", "</OpenSimDocument>", ""]
    with files.atomic_write(path, "w", newline="", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return path
