"""Products with Jacobians and Hessians of a function of one tensor or of a tuple of them.

    J[y.., x..] = d func[y..] / d x[x..]        H[i.., j..] = d^2 func / d x[i..] d x[j..]

What they give has a history of its own only with `create_graph`. With `strict`, an output or a slope that does not depend on
an input raises instead of giving zeros.
"""

from badak.autograd.differentiate import grad
from badak.autograd.grad_mode import enable_grad
from badak.core.errors import ArgumentError, GraphError, expect_function, tr
from badak.core.public_api import door as _door
from badak.tensor import Tensor, eye, ones_like, stack, zeros_like

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def vjp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(func(inputs), v^T J): v has the shape of the output, and may be left out for a single number."""
    with enable_grad():
        leaves, outputs, several_out = _run("vjp", func, inputs, create_graph)
        found = _slopes(outputs, leaves, _given("vjp", v, outputs), create_graph, strict)
    return _as_given(outputs, several_out, create_graph), _as_given(found, isinstance(inputs, tuple), create_graph)


def jvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(func(inputs), J v): v has the shape of the inputs, and may be left out for a single number.

    J v = d/du (J^T u . v), since J^T u is linear in u.
    """
    with enable_grad():
        leaves, outputs, several_out = _run("jvp", func, inputs, create_graph)
        us = [zeros_like(y).requires_grad_() for y in outputs]
        pulled = _slopes(outputs, leaves, us, True, strict)
        found = _slopes(pulled, us, _given("jvp", v, leaves), create_graph, strict)
    return _as_given(outputs, several_out, create_graph), _as_given(found, several_out, create_graph)


def vhp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(func(inputs), v^T H) of a function that gives one number."""
    with enable_grad():
        leaves, outputs, _ = _run("vhp", func, inputs, True)
        _one_number("vhp", outputs)
        slopes = _slopes(outputs, leaves, [None], True, strict)
        found = _slopes(slopes, leaves, _given("vhp", v, leaves), create_graph, strict)
    return _as_given(outputs, False, create_graph), _as_given(found, isinstance(inputs, tuple), create_graph)


def hvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """(func(inputs), H v). H is symmetric, so that it is what vhp gives."""
    return vhp(func, inputs, v, create_graph, strict)


def jacobian(
    func,
    inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
):
    """J, one walk backwards for each element of the output: a tensor, or a tuple for each of several outputs, inputs.

    vectorize: one walk for all elements of an output, faster and with more memory. `strategy` chooses between ways to the same
    numbers; here there is one.
    """
    if vectorize and strict:
        raise ArgumentError("jacobian: strict=True and vectorize=True are not supported together", "strict=False")
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ArgumentError(tr("jacobian: expected strategy 'reverse-mode' or 'forward-mode'; got {!r}", strategy), "leave it out")
    with enable_grad():
        leaves, outputs, several_out = _run("jacobian", func, inputs, create_graph)
        rows = [_rows_at_once(y, leaves, create_graph) if vectorize else _rows(y, leaves, create_graph, strict) for y in outputs]
    made = tuple(_as_given(row, isinstance(inputs, tuple), create_graph) for row in rows)
    return made if several_out else made[0]


def hessian(
    func, inputs, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
):  # fmt: skip
    """H of a function that gives one number: the Jacobian of its gradient."""
    several = isinstance(inputs, tuple)

    def slope(*leaves):
        outputs = _as_tuple("hessian", func(*leaves))
        _one_number("hessian", outputs)
        found = _slopes(outputs, list(leaves), [None], True, strict)
        return tuple(found) if several else found[0]

    return jacobian(slope, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def _run(where: str, func, inputs, create_graph: bool):
    """The tensors to differentiate by, the outputs, and whether these came as a tuple."""
    expect_function(where, func)
    given = _as_tuple(where, inputs)
    leaves = [x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in given]
    made = func(*leaves)
    return leaves, list(_as_tuple(where, made)), isinstance(made, tuple)


def _as_tuple(where: str, tensors) -> tuple:
    made = tensors if isinstance(tensors, tuple) else (tensors,)
    for x in made:
        if not isinstance(x, Tensor):
            raise ArgumentError(
                tr("{}: expected a Tensor or a tuple of Tensors; got {}", where, type(x).__name__), "badak.tensor(data)"
            )
    return made


def _given(where: str, v, like: list) -> list:
    """v as one tensor for each of `like`; ones for a single number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise ArgumentError(tr("{}: v may be left out for a single number only", where), f"{where}(func, inputs, v)")
        return [ones_like(like[0])]
    vs = list(_as_tuple(where, v))
    if [tuple(x.shape) for x in vs] != [tuple(y.shape) for y in like]:
        raise ArgumentError(
            tr("{}: expected v of shapes {}; got {}", where, [tuple(y.shape) for y in like], [tuple(x.shape) for x in vs]),
            "one tensor of the same shape for each",
        )
    return vs


def _slopes(outputs: list, inputs: list, vs: list, create_graph: bool, strict: bool) -> list:
    """sum over outputs of v^T d output / d input for each input, zeros where nothing depends on it."""
    live = [(y, v) for y, v in zip(outputs, vs) if y.requires_grad]
    found: tuple = (None,) * len(inputs)
    if live:
        ys, weights = zip(*live)
        found = grad(ys, inputs, weights, retain_graph=True, create_graph=create_graph, allow_unused=True)
    for i, dx in enumerate(found):
        if dx is None and strict:
            raise GraphError(tr("strict: no output depends on input {}", i), "strict=False gives zeros")
    return [zeros_like(x) if dx is None else dx for x, dx in zip(inputs, found)]


def _rows(y, leaves: list, create_graph: bool, strict: bool) -> list:
    """d y / d leaf for each leaf, of shape (*y.shape, *leaf.shape)."""
    rows = []
    for i in range(y.numel()):
        one = zeros_like(y).detach().reshape(-1)
        one[i] = 1
        rows.append(_slopes([y], leaves, [one.reshape(y.shape)], create_graph, strict))
    return [
        stack([row[k] for row in rows]).reshape((*y.shape, *x.shape)) if rows else zeros_like(x).new_zeros((*y.shape, *x.shape))
        for k, x in enumerate(leaves)
    ]


def _rows_at_once(y, leaves: list, create_graph: bool) -> list:
    """The same by one walk."""
    basis = eye(y.numel(), dtype=y.dtype).reshape(y.numel(), *y.shape)
    if not y.requires_grad or not y.numel():
        return [x.new_zeros((*y.shape, *x.shape)) for x in leaves]
    found = grad(y, leaves, basis, retain_graph=True, create_graph=create_graph, allow_unused=True, is_grads_batched=True)
    return [x.new_zeros((*y.shape, *x.shape)) if dx is None else dx.reshape((*y.shape, *x.shape)) for x, dx in zip(leaves, found)]


def _one_number(where: str, outputs) -> None:
    if len(outputs) != 1 or outputs[0].numel() != 1:
        raise ArgumentError(tr("{}: expected a function that gives one number", where), "reduce it: .sum()")


def _as_given(found: list, several: bool, create_graph: bool):
    made = tuple(found if create_graph else [x.detach() for x in found])
    return made if several else made[0]


__getattr__ = _door(__name__)
