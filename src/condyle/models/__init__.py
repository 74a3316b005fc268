"""Ready systems from published numbers: `cd.models.arm26()`, `cd.models.leg6dof9musc()`."""
from condyle.arguments import missing
from condyle.models.arm26 import arm26
from condyle.models.leg6dof9musc import leg6dof9musc

__all__ = ["arm26", "leg6dof9musc"]


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(f"module 'condyle.models' has no attribute {name!r}")
    if name in _OTHERS:
        raise AttributeError(f"cd.models has no {name!r}, and readers of OpenSim's model files are not there "
                             f"yet; ready models are {', '.join(f'cd.models.{m}()' for m in __all__)}")
    raise missing("cd.models", name, __all__, {"arm": "arm26", "leg": "leg6dof9musc"})


_OTHERS = ("gait2392", "gait2354", "gait10dof18musc", "Rajagopal2016", "rajagopal2016")
"""Models of OpenSim's that users may look for."""
