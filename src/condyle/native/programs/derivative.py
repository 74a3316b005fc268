"""Derivatives of programs, as programs. Each node has a rule here or refuses by NativeError.

    node      jvp (forward)                                  vjp (reverse)
    Kernel    CasADi's forward mode                          CasADi's reverse mode, inputs kept if overwritten later
    list      in order                                       in reverse order
    Ruled     its own rule, e.g. the implicit function       its own rule
              theorem for `solve.newton`
    Get       the row is held fixed and its table is         the same
              constant: the tangent of dst is zero
    If        the branch is held fixed                       refuses
    While     refuses: the derivative of an iteration is not the derivative of what it converges to; use a Ruled
    Scan, Put, Take, Call, and Kernels on streams or compiled elsewhere: refuse

The tangent of slice x is the slice "x.dot", the adjoint "x.bar".
"""
from __future__ import annotations

from collections.abc import Iterator

import casadi as ca

from condyle.errors import NativeError
from condyle.native.programs.nodes import Get, If, Kernel, Node, Ruled, describe, kernel


def dot(name: str) -> str:
    """Slice of the tangent of a slice."""
    return f"{name}.dot"


def bar(name: str) -> str:
    """Slice of the adjoint of a slice."""
    return f"{name}.bar"


def _refuse(node: Node, mode: str) -> NativeError:
    return NativeError(f"{describe(node)} has no derivative rule ({mode}): put it into a Ruled node that says how it "
                       "is differentiated, or differentiate by hand what surrounds it")


def _function(node: Kernel, sizes: dict[str, int], mode: str) -> ca.Function:
    if not isinstance(node.f, ca.Function) or any(n not in sizes for n in (*node.ins, *node.outs)):
        raise _refuse(node, mode)
    return node.f if node.f.is_a("SXFunction") else node.f.expand()


def _symbols(f: ca.Function, side: str, prefix: str) -> list[ca.SX]:
    count, sparsity = (f.n_in(), f.sparsity_in) if side == "in" else (f.n_out(), f.sparsity_out)
    return [ca.SX.sym(f"{prefix}{i}", sparsity(i)) for i in range(count)]


def _flat(x: ca.SX) -> ca.SX:
    return ca.densify(ca.vec(x))


def jvp(tree: Node, sizes: dict[str, int]) -> Node:
    """The tree, with tangents carried along. `sizes` gains "x.dot" for every slice x of the tree.

    Set the tangents of what varies, leave the others zero, run: values and tangents of all slices are those of the end.
    """
    match tree:
        case list() | tuple():
            return [jvp(n, sizes) for n in tree]
        case Kernel():
            return _kernel_jvp(tree, sizes)
        case If():
            return If(tree.flag, jvp(tree.body, sizes))
        case Get(dst=dst) if dst in sizes:
            sizes[dot(dst)] = sizes[dst]
            return [tree, _zero([dot(dst)], sizes)]
        case Ruled():
            for n in (*tree.reads, *tree.writes):
                sizes[dot(n)] = sizes[n]
            return [tree.body, tree.jvp(sizes)]
    raise _refuse(tree, "jvp")


def _kernel_jvp(node: Kernel, sizes: dict[str, int]) -> Kernel:
    f = _function(node, sizes, "jvp")
    x, xd = _symbols(f, "in", "x"), _symbols(f, "in", "d")
    y = f.call(x)
    yd = f.forward(1).call([*x, *y, *xd])
    for n in (*node.ins, *node.outs):
        sizes[dot(n)] = sizes[n]
    name = ca.Function.fix_name(f"{f.name()}_jvp")
    g = ca.Function(name, [*x, *xd], [_flat(v) for v in (*y, *yd)], {"cse": True})
    return Kernel(g, (*node.ins, *map(dot, node.ins)), (*node.outs, *map(dot, node.outs)))


def vjp(tree: Node, sizes: dict[str, int]) -> Node:
    """The tree, followed by its reverse. `sizes` gains "x.bar" for every slice x, and room for values that are lost.

    Set the adjoints of the results, leave the others zero, run: adjoints are those of the start, and add up over runs.
    """
    leaves = list(_leaves(tree))
    forward: list[Node] = []
    backward: list[Node] = []
    for i, node in enumerate(leaves):
        reads, writes = _reads(node), _writes(node)
        for n in (*reads, *writes):
            sizes[bar(n)] = sizes[n]
        # A kernel's rule needs its inputs as they were before it; a Ruled node's needs its slices as they are after it.
        kept = set(reads) if isinstance(node, Kernel) else {*reads, *writes}
        later = leaves[i:] if isinstance(node, Kernel) else leaves[i + 1:]
        lost = sorted(kept & {n for other in later for n in _writes(other)})
        value = {n: n for n in kept} | {n: f"{n}@{i}" for n in lost}
        sizes.update({value[n]: sizes[n] for n in lost})
        save = [kernel(lambda *x: x, lost, [value[n] for n in lost], sizes, "save")] if lost else []
        forward += [*save, node] if isinstance(node, Kernel) else [node, *save]
        if isinstance(node, Kernel):
            backward.insert(0, _kernel_vjp(node, value, sizes))
        elif isinstance(node, Ruled):
            backward.insert(0, node.vjp(value, sizes))
        else:
            backward.insert(0, _zero([bar(n) for n in writes], sizes))
    return [forward, backward]


def _leaves(tree: Node) -> Iterator[Kernel | Ruled | Get]:
    if isinstance(tree, (list, tuple)):
        for n in tree:
            yield from _leaves(n)
    elif isinstance(tree, (Kernel, Ruled, Get)):
        yield tree
    else:
        raise _refuse(tree, "vjp")


def _reads(node: Kernel | Ruled | Get) -> tuple[str, ...]:
    return node.ins if isinstance(node, Kernel) else node.reads if isinstance(node, Ruled) else ()


def _writes(node: Kernel | Ruled | Get) -> tuple[str, ...]:
    return node.outs if isinstance(node, Kernel) else node.writes if isinstance(node, Ruled) else (node.dst,)


def _kernel_vjp(node: Kernel, value: dict[str, str], sizes: dict[str, int]) -> Kernel:
    """x.bar += (dy/dx)' y.bar; a slice that was overwritten has no adjoint of its own from before."""
    f = _function(node, sizes, "vjp")
    x, yb = _symbols(f, "in", "x"), _symbols(f, "out", "b")
    xb = f.reverse(1).call([*x, *f.call(x), *yb])
    names = list(dict.fromkeys((*node.ins, *node.outs)))
    old = {n: ca.SX.sym("a", sizes[n]) for n in names if n not in node.outs}
    new = {n: old.get(n, ca.SX.zeros(sizes[n])) for n in names}
    for n, v in zip(node.ins, xb):
        new[n] = new[n] + _flat(v)
    name = ca.Function.fix_name(f"{f.name()}_vjp")
    g = ca.Function(name, [*x, *yb, *old.values()], [_flat(new[n]) for n in names], {"cse": True})
    ins = [*(value[n] for n in node.ins), *map(bar, node.outs), *map(bar, old)]
    return Kernel(g, tuple(ins), tuple(map(bar, names)))


def _zero(names: list[str], sizes: dict[str, int]) -> Kernel:
    return kernel(lambda: [ca.SX.zeros(sizes[n]) for n in names], [], names, sizes, "zero")
