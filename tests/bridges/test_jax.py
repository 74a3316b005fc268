"""condyle.jax: values are the System's own, derivatives pass JAX's own check, and vmap is one batch."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.bridges.every import CASES, RUN, arguments, expected, start, swinging, system

jax = pytest.importorskip("jax", reason="JAX is not installed")

EPS = 1e-5
"""Step of JAX's differences; their error is below its tolerance of 1e-6 in double precision."""


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def function(name):
    import condyle.jax

    own, body = CASES[name]
    f = condyle.jax.operator(system(), name, body=body)
    return lambda **g: f(*(g[k] for k in own), parameters=g["parameters"], inputs=g["inputs"])


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    from jax.test_util import check_grads

    f, given = function(name), arguments()
    assert np.array_equal(f(**given), expected(name, given))
    check_grads(lambda g: f(**g), (given,), 1, eps=EPS)
    check_grads(jax.jit(lambda g: f(**g)), (given,), 1, eps=EPS)
    forward, reverse = jax.jacfwd(lambda g: f(**g))(given), jax.jacrev(lambda g: f(**g))(given)
    for key in given:
        np.testing.assert_allclose(forward[key], reverse[key], atol=1e-11)  # rounding of two recursions


def test_map_is_one_native_batch(monkeypatch):
    from jax.test_util import check_grads

    from condyle.autodiff import OperatorMap

    calls = []
    value = OperatorMap.value
    monkeypatch.setattr(OperatorMap, "value", lambda self, g: calls.append(1) or value(self, g))
    f, given = function("forward_dynamics"), arguments(1, 7)
    axes = {"q": 0, "u": 0, "parameters": None, "inputs": None}
    mapped = jax.vmap(lambda g: f(**g), (axes,))
    assert np.array_equal(jax.jit(mapped)(given), expected("forward_dynamics", given))
    assert len(calls) == 1
    check_grads(mapped, (given,), 1, eps=EPS)
    check_grads(lambda g: f(**g), (given,), 1, eps=EPS)  # leading dimensions without vmap
    own = jax.vmap(jax.grad(lambda g: (f(**g) ** 2).sum()), (axes,))(given)
    assert own["parameters"].shape == (7, 1)
    whole = jax.grad(lambda g: (mapped(g) ** 2).sum())(given)
    np.testing.assert_allclose(own["parameters"].sum(0), whole["parameters"], rtol=1e-12)  # order of a sum


def test_runs():
    """At the end and at times, one and many, against JAX's differences and cd.simulate."""
    from jax.test_util import check_grads

    import condyle.jax

    state, loose = swinging().state(), {"eps": EPS, "atol": 1e-5, "rtol": 1e-5}  # differences of whole runs
    end, given = condyle.jax.simulate(swinging(), state, **RUN), start()
    own = cd.simulate(swinging(), state.replace(**given), **RUN)
    assert np.array_equal(end(**given), own.y[-1])
    check_grads(lambda g: end(**g), (given,), 1, **loose)
    rows, many = condyle.jax.simulate(swinging(), state, t=[0.1, 0.3], **RUN), start(3)
    mapped = jax.vmap(lambda u, g: rows(**(g | {"u": u})), (0, None))
    rest = {k: v for k, v in many.items() if k != "u"}
    assert mapped(many["u"], rest).shape == (3, 2, 9)
    one = rows(**(many | {"u": many["u"][1]}))
    np.testing.assert_allclose(mapped(many["u"], rest)[1], one, atol=1e-12)  # lanes against one
    check_grads(mapped, (many["u"], rest), 1, **loose)
    with pytest.raises(cd.errors.ArgumentError, match="got none"):
        end()
    with pytest.raises(cd.errors.UnknownNameError, match="mass"):
        end(mass=1.0)


def test_single_precision_is_that_of_jax():
    f, given = function("forward_dynamics"), arguments()
    with jax.enable_x64(False):
        result = f(**given)
        assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected("forward_dynamics", given), rtol=1e-4, atol=1e-4)


def test_bad_calls():
    import condyle.jax

    f = condyle.jax.operator(system(), "forward_dynamics")
    given = arguments()
    with pytest.raises(cd.errors.UnknownNameError, match="forward_dynamic"):
        condyle.jax.operator(system(), "forward_dynamic")
    with pytest.raises(cd.errors.ArgumentError, match="answers for one body"):
        condyle.jax.operator(system(), "body_pose")
    with pytest.raises(cd.errors.ShapeError, match=r"u: expected shape \(..., 5\), got \(4,\)"):
        f(given["q"], given["u"][:4])
    with pytest.raises(cd.errors.UnknownNameError, match="parameter"):
        f(given["q"], given["u"], parameter=given["parameters"])
    with pytest.raises(cd.errors.ArgumentError, match="expected q, u"):
        f(given["q"])
    with pytest.raises(NotImplementedError, match="derivatives of derivatives"):
        jax.hessian(lambda u: f(given["q"], u).sum())(given["u"])
    with pytest.raises(Exception, match="finite"):
        f(given["q"], given["u"] * np.nan).block_until_ready()
