"""Ready systems from published numbers: `cd.models.arm26()`, `cd.models.leg6dof9musc()`; and
`cd.models.synthetic_subject()`, a subject who does not exist, with the recording of a walk."""

from condyle.arguments import missing
from condyle.models.arm26 import arm26
from condyle.models.leg6dof9musc import leg6dof9musc
from condyle.models.synthetic_subject import Subject, generic_subject, synthetic_subject

__all__ = [
    "Subject",
    "arm26",
    "generic_subject",
    "leg6dof9musc",
    "synthetic_subject",
]
READY = ("arm26", "leg6dof9musc")
"""Models that need nothing but their name."""


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(f"module 'condyle.models' has no attribute {name!r}")
    if name in _OTHERS:
        raise AttributeError(
            f"cd.models has no {name!r}; a model file of OpenSim is read by "
            f"cd.read_osim('{name}.osim'); ready models are "
            f"{', '.join(f'cd.models.{m}()' for m in READY)}"
        )
    raise missing("cd.models", name, __all__, _ELSEWHERE)


_ELSEWHERE = {
    "arm": "arm26",
    "leg": "leg6dof9musc",
    "domain_hinge": "part of an example: examples/proteins/domain_hinge.py",
}
_OTHERS = ("gait2392", "gait2354", "gait10dof18musc", "Rajagopal2016", "rajagopal2016")
"""Models of OpenSim's that users may look for."""
