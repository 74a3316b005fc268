"""Controls over time as OpenSim's .xml files have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import condyle.files as files
from condyle.arrays import Array


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
    with files.whole(path, "w", newline="", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return path
