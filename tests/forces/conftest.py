"""These tests run on CasADi's evaluator, unless one says otherwise: nothing is compiled."""

import pytest


@pytest.fixture(autouse=True)
def casadi_evaluator(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
