"""How a computation ended: kinds that can be matched on, with advice, and texts that say what happened.

if traj.status == cd.Status.SINGULAR: ...
print(traj.status)              # stopped at t = 0.512 s: ...
print(traj.status.advice)
"""

from __future__ import annotations

from enum import EnumMeta, StrEnum
from typing import Any


class _Kinds(EnumMeta):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"cd.Status has no {name!r}; known: {', '.join(cls.__members__)}")


class Status(StrEnum, metaclass=_Kinds):
    """How a run, a member of an ensemble, a frame or a search ended. `advice` says what to try.

    `traj.status`, `ens.status[i]`, `frames.status` and values of `frames.failures` are texts that are equal
    to one of these; errors that end a search carry one as `error.status`.
    """

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    EVENT = "ended by an event"
    ZENO = "an event repeats without end"
    WITNESS = "a witness is not a number"
    NOT_FINITE = "a result is not finite"
    PATH = "a path is not found over its surfaces"
    CONTACT = "a contact finds no closest points"
    PAINLEVE = "rigid contact and its friction contradict each other"
    SINGULAR = "a mobilizer loses a direction of motion"
    CONSTRAINTS = "the constraints cannot be satisfied"
    STEP_TOO_LONG = "the fixed step is too long"
    NO_STEP = "no step is small enough for the accuracy"
    TIME = "a step is below what t can resolve"
    REJECTED = "too many steps were rejected"
    STILL_IMPROVING = "goals were still improving"
    NO_SLOPE = "goals have no slope but are not at their least"
    UNMEASURED = "nothing was measured"
    UNDETERMINED = "what was measured does not determine all coordinates"
    STILL_FALLING = "the energy still falls"
    NO_DESCENT = "the energy does not fall along its slope"
    TOO_WEAK = "muscles and actuators are too weak for the motion"
    SOME_FAILED = "some did not finish"

    @property
    def advice(self) -> str:
        """What to try; empty if nothing is wrong."""
        return _ADVICE[self]

    def __eq__(self, other: object) -> bool:
        return other.kind is self if isinstance(other, Outcome) else str.__eq__(self, other) is True

    __hash__ = str.__hash__


class Outcome(str):
    """How one computation ended: a text that says what happened, where, and what to try. It is a text, and equal to
    its `kind` too.

    Attributes:
        kind: which Status it is.
    """

    kind: Status

    def __new__(cls, kind: Status, text: str = "") -> Outcome:
        out = super().__new__(cls, text or kind.value)
        out.kind = kind
        return out

    def __getnewargs__(self) -> tuple[Status, str]:  # type: ignore[override]
        return self.kind, str(self)

    @property
    def advice(self) -> str:
        """What to try."""
        return self.kind.advice

    def __eq__(self, other: object) -> bool:
        return self.kind is other if isinstance(other, Status) else str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__  # in sets and as keys it is its text


_ADVICE = {
    Status.FINISHED: "",
    Status.INTERRUPTED: "what was computed until then is there; go on from its last state",
    Status.EVENT: "a terminal event asked for it: see traj.events",
    Status.ZENO: "let its action bring the state to rest where it is slow, state.replace(u=..., "
    "locked=[...]) or an enabled constraint; or end the run there (terminal=True), or give a "
    "smaller window",
    Status.WITNESS: "guard its roots, quotients and logarithms with cd.where",
    Status.NOT_FINITE: "see system.explain(traj[-1])",
    Status.PATH: "does a surface reach into another, a path touch a torus twice, or a quadrant force the "
    "path to a side where it cannot stay taut? Change the surface, its `between` or its "
    "quadrant, put a point of the path in between, or stay away from that pose",
    Status.CONTACT: "do the surfaces overlap by more than half their size, is a body beyond its terrain, or "
    "does a ball sit in a hollow or a ring that is narrower than itself? Take a stiffer "
    "material, a wider or smoother terrain, or a mesh for the ball; or stay away from that "
    "pose",
    Status.PAINLEVE: "as of a rod that is pushed over a rough floor (Painleve): no force keeps it out of the "
    "floor, or several do. Take less friction, or surfaces that yield: cd.contact.Material",
    Status.SINGULAR: "use other coordinates (a quaternion instead of angles), or stay away from it",
    Status.CONSTRAINTS: "do they contradict each other, a lock or a motion, or ask for more than the bodies "
    "can reach? Disable one, start nearer, or end the run before",
    Status.STEP_TOO_LONG: "take a shorter step, or use error control",
    Status.NO_STEP: "is a force discontinuous there, or not finite just after? Try a looser accuracy, or "
    "smooth it",
    Status.TIME: "let time start nearer to zero, or take longer steps",
    Status.REJECTED: "loosen the accuracy",
    Status.STILL_IMPROVING: "start nearer, or loosen the accuracy",
    Status.NO_SLOPE: "start from another state",
    Status.UNMEASURED: "fill the gap in the data, or leave these frames out",
    Status.UNDETERMINED: "fill the gaps of the markers, give values by coordinates=, lock the coordinate, or "
    "leave these frames out",
    Status.STILL_FALLING: "is something free to fall? Constrain it, lock it, or hold it by a spring",
    Status.NO_DESCENT: "is a force discontinuous there?",
    Status.TOO_WEAK: "give reserves=... and look where they act, or check the motion, loads and strengths",
    Status.SOME_FAILED: "see the status of each member, or the failures by frame",
}
