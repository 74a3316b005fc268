"""Names of states in OpenSim's files: /jointset/knee_r/knee_angle_r/value, or as older ones have them."""
from __future__ import annotations

from condyle.table import Table


def short(name: str) -> str:
    """The name that older files have: knee, knee_u, soleus.activation."""
    if "/" not in name:
        return name
    owner, _, variable = name.rpartition("/")
    owner = owner.rpartition("/")[2]
    return {"value": owner, "speed": f"{owner}_u"}.get(variable, f"{owner}.{variable}")


def columns_of(table: Table) -> dict[str, int]:
    """Places of the columns, by their short names."""
    return {short(name): k for k, name in enumerate(table.names)}

