"""Ready systems from published numbers: `cd.models.arm26()`, `cd.models.leg6dof9musc()`; and
`cd.models.domain_hinge(...)`, which makes one of two structures of a protein."""
from condyle.arguments import missing
from condyle.models.arm26 import arm26
from condyle.models.leg6dof9musc import leg6dof9musc
from condyle.models.protein import DomainHinge, domain_hinge

__all__ = ["DomainHinge", "arm26", "domain_hinge", "leg6dof9musc"]
READY = ("arm26", "leg6dof9musc")
"""Models that need nothing but their name."""


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(f"module 'condyle.models' has no attribute {name!r}")
    if name in _OTHERS:
        raise AttributeError(f"cd.models has no {name!r}, and readers of OpenSim's model files are not there "
                             f"yet; ready models are {', '.join(f'cd.models.{m}()' for m in READY)}")
    raise missing("cd.models", name, __all__, {"arm": "arm26", "leg": "leg6dof9musc",
                                              "protein": "domain_hinge"})


_OTHERS = ("gait2392", "gait2354", "gait10dof18musc", "Rajagopal2016", "rajagopal2016")
"""Models of OpenSim's that users may look for."""
