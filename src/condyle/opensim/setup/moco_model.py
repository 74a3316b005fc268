"""Models and tables as Moco processes them: ModelProcessor and TableProcessor, with their operators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from condyle.forces.actuators import CoordinateActuator
from condyle.opensim.document import Document, list_notes, read_document
from condyle.opensim.element import Element, is_absent
from condyle.opensim.loads import labeled_loads
from condyle.opensim.model import system_of
from condyle.opensim.setup.setup_file import Setup
from condyle.studies.external_load import ExternalLoad
from condyle.system.system import System
from condyle.table import Table
from condyle.table.filters import low_pass

MUSCLES = (
    "Thelen2003Muscle", "Millard2012EquilibriumMuscle", "DeGrooteFregly2016Muscle", "RigidTendonMuscle",
    "Schutte1993Muscle_Deprecated", "Millard2012AccelerationMuscle",
)  # fmt: skip
DEGROOTE = "DeGrooteFregly2016Muscle"
SHARED = (
    "appliesForce", "min_control", "max_control", "GeometryPath", "path", "max_isometric_force",
    "optimal_fiber_length", "tendon_slack_length", "pennation_angle_at_optimal", "max_contraction_velocity",
    "ignore_tendon_compliance", "ignore_activation_dynamics", "activation_time_constant",
    "deactivation_time_constant", "default_activation",
)  # fmt: skip
"""Properties of a muscle that remain when DeGrooteFregly2016Muscle replaces it."""
HARMLESS = (
    "TabOpUseAbsoluteStateNames", "TabOpAppendCoupledCoordinateValues", "ModOpTendonComplianceDynamicsModeDGF",
    "ModOpUseImplicitTendonComplianceDynamicsDGF", "TabOpAppendCoordinateValueDerivativesAsSpeeds",
    "TabOpConvertDegreesToRadians", "TabOpAppendSpeedDerivatives",
)  # fmt: skip
"""Operators without an effect: names, units and rates are understood unchanged, and elastic tendons are
implicit."""


class ProcessedModel:
    """The result of a ModelProcessor.

    Attributes:
        system: the system.
        loads: external loads.
    """

    def __init__(self, setup: Setup, processor: Element) -> None:
        self.setup, self.loads = setup, list[ExternalLoad]()
        inner = processor.child("model")
        model = inner.child("Model") if inner is not None else None
        if model is not None:
            document = Document(setup.path, setup.document.version, model, setup.document.defaults)
        else:
            document = read_document(setup.required_file("filepath", "a model (.osim)", processor))
        self._model, self._reserves = document.object, list[tuple[float, float, bool]]()
        operators = processor.child("operators")
        for operator in operators.children if operators is not None else ():
            self._apply(operator)
        self.system = setup.step("model", lambda: self._system(document))
        setup.report.notes += list_notes(self.system.notes).splitlines()

    def _system(self, document: Document) -> System:
        system = system_of(document)
        for force, bound, skip in self._reserves:
            system = with_reserves(system, force, bound, skip)
        return system

    def _muscles(self) -> list[Element]:
        return self._model.descendants(*MUSCLES)

    def _apply(self, operator: Element) -> None:
        setup, tag = self.setup, operator.tag

        def number(name: str, default: float) -> float:
            return setup.number(name, default, operator)

        simple: dict[str, Callable[[Element], None]] = {
            "ModOpIgnoreTendonCompliance": lambda m: _set(m, "ignore_tendon_compliance", "true"),
            "ModOpIgnoreActivationDynamics": lambda m: _set(m, "ignore_activation_dynamics", "true"),
            "ModOpIgnorePassiveFiberForcesDGF": lambda m: _set(m, "ignore_passive_fiber_force", "true"),
            "ModOpReplaceMusclesWithDeGrooteFregly2016": _degroote,
            "ModOpScaleActiveFiberForceCurveWidthDGF": lambda m: _set(
                m, "active_force_width_scale", f"{number('scale_factor', 1.0)!r}"
            ),
            "ModOpFiberDampingDGF": lambda m: _set(m, "fiber_damping", f"{number('fiber_damping', 0.0)!r}"),
            "ModOpTendonStrainAtOneNormForceDGF": lambda m: _set(
                m, "tendon_strain_at_one_norm_force", f"{number('tendon_strain_at_one_norm_force', 0.049)!r}"
            ),
            "ModOpScaleMaxIsometricForce": lambda m: _scale(
                m, "max_isometric_force", number("scale_factor", 1.0)
            ),
            "ModOpRemoveMuscles": lambda m: m.remove(),
        }
        if tag in HARMLESS:
            return
        if tag in simple:
            for muscle in self._muscles():
                if not tag.endswith("DGF") or muscle.tag == DEGROOTE:
                    simple[tag](muscle)
        elif tag == "ModOpAddReserves":
            bound = number("bound", np.inf)
            skip = setup.flag("skip_coordinates_with_actuators", True, operator)
            self._reserves.append((number("optimal_force", 1.0), bound, skip))
        elif tag == "ModOpAddExternalLoads":
            path = setup.required_file("filepath", "external loads (.xml)", operator)
            self.loads += [load for _, load in setup.step("external loads", lambda: labeled_loads(path))]
        elif tag == "ModOpReplaceJointsWithWelds":
            self._weld([name.rpartition("/")[2] for name in setup.words("joint_paths", operator)])
        else:
            setup.check(f"{tag}: this operator on models is not supported, and is left out")

    def _weld(self, names: list[str]) -> None:
        joints = {e.name: e for e in self._model.descendants() if e.tag.endswith("Joint")}
        for name in names:
            if name not in joints:
                raise self.setup.error(f"ModOpReplaceJointsWithWelds: the model has no joint {name!r}")
            joint = joints[name]
            joint.tag = "WeldJoint"
            for child in list(joint.children):
                if child.tag in ("coordinates", "SpatialTransform"):
                    child.remove()


def _set(element: Element, name: str, text: str) -> None:
    child = element.child(name)
    if child is None:
        element.add(name, text)
    else:
        child.text = text


def _scale(element: Element, name: str, factor: float) -> None:
    child = element.child(name)
    if child is not None:
        child.text = repr(factor * float(child.text))


def _degroote(muscle: Element) -> None:
    if muscle.tag != DEGROOTE:
        muscle.tag = DEGROOTE
        for child in list(muscle.children):
            if child.tag not in SHARED:
                child.remove()
        least = muscle.child("min_control")
        if least is None or float(least.text) < 0.01:
            _set(muscle, "min_control", "0.01")


def joint_paths(system: System) -> dict[str, str]:
    """Moco's path of each coordinate: /jointset/knee_r/knee_angle_r."""
    return {
        c.name: f"/jointset/{body.joint or body.name}/{c.name}"
        for body in system.bodies
        for c in body.coordinates
    }


def with_reserves(system: System, force: float, bound: float, skip: bool) -> System:
    """A system with Moco's reserve on each coordinate that is not locked or coupled."""
    own = {
        law.coordinate for name in system.forces if isinstance(law := system.force(name), CoordinateActuator)
    }
    held = set(system.compiled.model.tree.locked)
    driven = {name for b in system.bodies if b.motion is not None for name in b.speeds}
    other = system.copy()
    for name, path in joint_paths(system).items():
        if name in held or name in driven or (skip and name in own):
            continue
        low, high = (-bound, bound) if np.isfinite(bound) else (-np.inf, np.inf)
        law = CoordinateActuator(name, force, min_control=low, max_control=high)
        other.add_force(f"reserve{path.replace('/', '_')}", law)
    return other


def processed_table(setup: Setup, processor: Element | None, what: str) -> Table | None:
    """The table of a TableProcessor, or None if it names none."""
    if processor is None or is_absent(setup.text("filepath", "", processor)):
        return None
    path: Path = setup.required_file("filepath", what, processor)
    table = setup.table(path)
    operators = processor.child("operators")
    for operator in operators.children if operators is not None else ():
        if operator.tag == "TabOpLowPassFilter":
            cutoff = setup.number("cutoff_frequency", -1.0, operator)
            if cutoff > 0:
                table = low_pass(table, cutoff, as_opensim=True)
        elif operator.tag not in HARMLESS:
            setup.check(f"{operator.tag}: this operator on tables is not supported, and is left out")
    return table
