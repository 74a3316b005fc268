"""CasADi's evaluator is enough here: what is compared is two formulations, not two compilers."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
