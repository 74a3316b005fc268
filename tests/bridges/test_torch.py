"""condyle.torch: values are the System's own, derivatives pass PyTorch's own check, and vmap is one batch."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.bridges.every import CASES, RUN, arguments, expected, start, swinging, system

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own, inside


def function(name):
    import condyle.torch

    own, body = CASES[name]
    f = condyle.torch.operator(system(), name, body=body)
    return lambda **g: f(*(g[k] for k in own), parameters=g["parameters"], inputs=g["inputs"])


def tensors(given, gradients=True):
    return {k: torch.tensor(v, requires_grad=gradients) for k, v in given.items()}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    f, given = function(name), arguments()
    assert np.array_equal(f(**tensors(given, False)).numpy(), expected(name, given))
    names = list(given)
    assert torch.autograd.gradcheck(
        lambda *x: f(**dict(zip(names, x, strict=True))),
        tuple(tensors(given).values()),
        check_forward_ad=True,
    )


def test_batches_and_map():
    f, given = function("forward_dynamics"), arguments(1, 7)
    names = list(given)
    assert torch.autograd.gradcheck(
        lambda *x: f(**dict(zip(names, x, strict=True))),
        tuple(tensors(given).values()),
        check_forward_ad=True,
    )
    plain = tensors(given, False)
    axes = {"q": 0, "u": 0, "parameters": None, "inputs": None}
    mapped = torch.func.vmap(lambda g: f(**g), (axes,))
    assert np.array_equal(mapped(plain).numpy(), expected("forward_dynamics", given))
    own = torch.func.vmap(torch.func.grad(lambda g: (f(**g) ** 2).sum()), (axes,))(plain)
    whole = torch.func.grad(lambda g: (mapped(g) ** 2).sum())(plain)
    assert own["parameters"].shape == (7, 1)
    torch.testing.assert_close(own["parameters"].sum(0), whole["parameters"])
    forward = torch.func.jacfwd(lambda u: f(**(plain | {"u": u})))(plain["u"])
    reverse = torch.func.jacrev(lambda u: f(**(plain | {"u": u})))(plain["u"])
    torch.testing.assert_close(forward, reverse)


@pytest.mark.parametrize("lead", [(), (3,)])
def test_runs(lead):
    import condyle.torch

    state, given = swinging().state(), start(*lead)
    rows = condyle.torch.simulate(swinging(), state, t=[0.1, 0.3], **RUN)
    names = list(given)
    f = lambda *x: rows(**dict(zip(names, x, strict=True)))
    assert f(*tensors(given, False).values()).shape == (*lead, 2, 9)
    given_tensors = tuple(tensors(given).values())
    assert torch.autograd.gradcheck(f, given_tensors, check_forward_ad=True, eps=1e-5, atol=1e-4)


def test_a_loss_goes_down():
    """A mass is learned from accelerations: 3.3 kg is what made them."""
    f, given = function("forward_dynamics"), arguments(2, 50)
    target = torch.tensor(expected("forward_dynamics", given))
    plain = tensors(given, False)
    mass = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([mass], max_iter=50, line_search_fn="strong_wolfe", tolerance_grad=1e-12)

    def closure():
        optimizer.zero_grad()
        loss = ((f(**(plain | {"parameters": mass})) - target) ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert abs(mass.item() - 3.3) < 1e-5  # where L-BFGS stops


def test_bad_calls():
    import condyle.torch

    f, given = condyle.torch.operator(system(), "forward_dynamics"), tensors(arguments())
    with pytest.raises(cd.errors.ShapeError, match=r"u: expected shape \(..., 5\), got \(4,\)"):
        f(given["q"], given["u"][:4])
    with pytest.raises(cd.errors.UnknownNameError, match="parameter"):
        f(given["q"], given["u"], parameter=given["parameters"])
    out = f(given["q"].float().detach(), given["u"].float().detach())
    assert out.dtype == torch.float32


@pytest.mark.parametrize("outer", ["grad", "jacfwd"])
@pytest.mark.parametrize("inner", ["grad", "jacfwd"])
def test_second_derivatives_are_refused(outer, inner):
    """In whatever order they are taken; and those of `backward`."""
    f, given = function("energy"), arguments()
    u = torch.tensor(given["u"], requires_grad=True)
    F = lambda u: f(**{**given, "u": u}).sum()
    D = {"grad": torch.func.grad, "jacfwd": torch.func.jacfwd}
    with pytest.raises(NotImplementedError, match=r"condyle\.torch: derivatives of derivatives"):
        D[outer](lambda u: D[inner](F)(u).sum())(u.detach())
    (g,) = torch.autograd.grad(F(u), u, create_graph=True)
    with pytest.raises(NotImplementedError, match="derivatives of derivatives"):
        g.sum().backward()
