"""Products with Jacobians and Hessians of a function of one tensor or of a tuple of them.

    J[y.., x..] = d func[y..] / d x[x..]        H[i.., j..] = d^2 func / d x[i..] d x[j..]

What they give has a history of its own only with `create_graph`. With `strict`, an output or a slope that does not depend on
an input raises instead of giving zeros.
"""

from collections.abc import Callable, Sequence
from typing import Any

from badak.autograd.differentiate import grad
from badak.autograd.grad_mode import enable_grad
from badak.core.errors import ArgumentError, ArgumentTypeError, GraphError, expect_function, tr
from badak.core.public_api import door as _door
from badak.tensor import Tensor, eye, ones_like, stack, zeros_like

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def vjp(
    func: Callable,
    inputs: Tensor | Sequence,
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple:
    """(func(inputs), v^T J): v has the shape of the output, and may be left out for a single number."""
    with enable_grad():
        leaves, outputs, several_out = _run("vjp", func, inputs, create_graph, strict)
        found = _slopes(outputs, leaves, _given("vjp", v, outputs, several_out), create_graph, strict and "output")
        _need_history(found, strict and create_graph, "jacobian")
    return _as_given(outputs, several_out, create_graph), _as_given(found, isinstance(inputs, tuple), create_graph)


def jvp(
    func: Callable,
    inputs: Tensor | Sequence,
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple:
    """(func(inputs), J v): v has the shape of the inputs, and may be left out for a single number.

    J v = d/du (J^T u . v), since J^T u is linear in u.
    """
    with enable_grad():
        leaves, outputs, several_out = _run("jvp", func, inputs, create_graph, strict)
        us = [zeros_like(y).requires_grad_() for y in outputs]
        pulled = _slopes(outputs, leaves, us, True, strict and "output")
        _need_graphs(pulled, strict and "gradient")
        found = _slopes(pulled, us, _given("jvp", v, leaves, isinstance(inputs, tuple)), create_graph, strict and "trick")
        _need_history(found, strict and create_graph, "jacobian")
    return _as_given(outputs, several_out, create_graph), _as_given(found, several_out, create_graph)


def vhp(
    func: Callable,
    inputs: Tensor | Sequence,
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple:
    """(func(inputs), v^T H) of a function that gives one number."""
    return _second("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Callable,
    inputs: Tensor | Sequence,
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple:
    """(func(inputs), H v). H is symmetric, so that it is what vhp gives."""
    return _second("hvp", func, inputs, v, create_graph, strict)


def _second(where: str, func, inputs, v, create_graph: bool, strict: bool):
    several = isinstance(inputs, tuple)
    with enable_grad():
        leaves, outputs, several_out = _run(where, func, inputs, True, strict)
        _one_number(where, outputs, several_out)
        slopes = _slopes(outputs, leaves, [None], True, strict and "output")
        _need_graphs(slopes, strict and "slope")
        vs = _given(where, v, leaves, several)
        found = _slopes(slopes, leaves, vs, create_graph, strict and ("jacobian" if where == "vhp" else "hessian"))
        _need_history(found, strict and create_graph, "hessian")
    return _as_given(outputs, False, create_graph), _as_given(found, several, create_graph)


def jacobian(
    func: str | Callable,
    inputs: Tensor | Sequence,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """J, one walk backwards for each element of the output: a tensor, or a tuple for each of several outputs, inputs.

    vectorize: one walk for all elements of an output, faster and with more memory. `strategy` chooses between ways to the same
    numbers; here there is one.
    """
    if vectorize and strict:
        raise ArgumentError("jacobian: strict=True and vectorize=True are not supported together", "strict=False")
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ArgumentError(tr("jacobian: expected strategy 'reverse-mode' or 'forward-mode'; got {!r}", strategy), "leave it out")
    with enable_grad():
        leaves, outputs, several_out = _run("jacobian", func, inputs, create_graph, strict)
        rows = [
            _rows_at_once(y, leaves, create_graph) if vectorize else _rows(y, i, leaves, create_graph, strict)
            for i, y in enumerate(outputs)
        ]
    made = tuple(_as_given(row, isinstance(inputs, tuple), create_graph) for row in rows)
    return made if several_out else made[0]


def hessian(
    func: Callable, inputs: Tensor | Sequence, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """H of a function that gives one number: the Jacobian of its gradient."""
    several = isinstance(inputs, tuple)
    _as_tuple("hessian", inputs, "inputs")

    def slope(*leaves):
        made = func(*leaves)
        outputs = _as_tuple("hessian", made, OUTPUTS)
        _one_number("hessian", outputs, isinstance(made, tuple))
        _need_graphs(outputs, strict and "outputs")
        found = _slopes(outputs, list(leaves), [None], True, False)
        _need_graphs(found, strict and "slope")
        return tuple(found) if several else found[0]

    return jacobian(slope, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


OUTPUTS = "outputs of the user-provided function"
_LOST = {  # words of strict: what does not depend on input i
    "outputs": lambda i: tr(
        "Output {} of the user-provided function does not require gradients. "
        "The outputs must be computed in a differentiable manner from the input when running in strict mode.", i,
    ),
    "gradient": lambda i: tr(
        "The gradient with respect to input {} is independent of the inputs of the user-provided function. "
        "This is not allowed in strict mode.", i,
    ),
    "slope": lambda i: tr(
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
        "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
        "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example).", i,
    ),
    "output": lambda i: tr(
        "The output of the user-provided function is independent of input {}. This is not allowed in strict mode.", i
    ),
    "trick": lambda i: tr(
        "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double backward "
        "trick to compute forward mode gradients. This is not allowed in strict mode.", i,
    ),
    "jacobian": lambda i: tr(
        "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode.", i
    ),
    "hessian": lambda i: tr(
        "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not allowed in strict "
        "mode as it prevents from using the double backward trick to replace forward mode AD.", i,
    ),
}  # fmt: skip
_LOOSE = "strict=False gives zeros"


def _run(where: str, func, inputs, create_graph: bool, strict: bool):
    """The tensors to differentiate by, the outputs, and whether these came as a tuple."""
    expect_function(where, func)
    given = _as_tuple(where, inputs, "inputs")
    leaves = [x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in given]
    made = func(*leaves)
    outputs = list(_as_tuple(where, made, OUTPUTS))
    _need_graphs(outputs, strict and "outputs")
    return leaves, outputs, isinstance(made, tuple)


def _as_tuple(where: str, tensors, name: str) -> tuple:
    several = isinstance(tensors, tuple)
    for i, x in enumerate(tensors if several else (tensors,)):
        if not isinstance(x, Tensor):
            given = tr("value at index {}", i) if several else tr("given {}", name)
            cause = tr(
                "The {} given to {} must be either a Tensor or a tuple of Tensors but the {} has type {}.",
                name,
                where,
                given,
                type(x),
            )
            raise ArgumentTypeError(cause, "badak.tensor(data)")
    return tensors if several else (tensors,)


def _given(where: str, v, like: list, several: bool) -> list:
    """v as one tensor for each of `like`; ones for a single number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            of = tr("the user-provided function returns") if where == "vjp" else tr("the input to the user-provided function is")
            cause = tr("The vector v can only be None if {} a single Tensor with a single element.", of)
            raise ArgumentError(cause, f"{where}(func, inputs, v)")
        return [ones_like(like[0])]
    vs = list(_as_tuple(where, v, "v"))
    if len(vs) != len(like):
        cause = tr("v is a tuple of invalid length: should be {} but got {}.", len(like), len(vs))
        raise ArgumentError(cause if several else tr("The given v should contain a single Tensor."), "one tensor of the same shape")
    for i, (x, y) in enumerate(zip(vs, like)):
        if x.shape != y.shape:
            entry = f"Entry {i} in " if several else ""
            cause = tr("{}v has invalid size: should be {} but got {}.", entry, y.shape, x.shape)
            raise ArgumentError(cause, "one tensor of the same shape for each")
    return vs


def _need_graphs(tensors, strict: str | bool) -> None:
    """With strict, complain of a tensor that depends on nothing. strict: what they are."""
    for i, x in enumerate(tensors if strict else ()):
        if not x.requires_grad:
            raise GraphError(_LOST[strict](i), _LOOSE)  # type: ignore[index]


def _need_history(found: list, needed: bool, what: str) -> None:
    """With strict and create_graph, complain of a result that has no graph."""
    for i, x in enumerate(found if needed else ()):
        if not x.requires_grad:
            cause = tr("The {} of the user-provided function is independent of input {}. "
                       "This is not allowed in strict mode when create_graph=True.", what, i)  # fmt: skip
            raise GraphError(cause, _LOOSE)


def _slopes(outputs: list, inputs: list, vs: list, create_graph: bool, strict: str | bool) -> list:
    """sum over outputs of v^T d output / d input for each input, zeros where nothing depends on it. strict: which they are."""
    live = [(y, v) for y, v in zip(outputs, vs) if y.requires_grad]
    found: tuple = (None,) * len(inputs)
    if live:
        ys, weights = zip(*live)
        found = grad(ys, inputs, weights, retain_graph=True, create_graph=create_graph, allow_unused=True)
    for i, dx in enumerate(found if strict else ()):
        if dx is None:
            raise GraphError(_LOST[strict](i), _LOOSE)  # type: ignore[index]
    return [zeros_like(x) if dx is None else dx for x, dx in zip(inputs, found)]


def _rows(y, number: int, leaves: list, create_graph: bool, strict: bool) -> list:
    """d y / d leaf for each leaf, of shape (*y.shape, *leaf.shape), of the output of this number."""
    rows = []
    for i in range(y.numel()):
        one = zeros_like(y).detach().reshape(-1)
        one[i] = 1
        found: tuple = (None,) * len(leaves)
        if y.requires_grad:
            found = grad([y], leaves, [one.reshape(y.shape)], retain_graph=True, create_graph=create_graph, allow_unused=True)
        for k, dx in enumerate(found if strict else ()):
            if dx is None:
                cause = tr("Output {} of the user-provided function is independent of input {}. "
                           "This is not allowed in strict mode.", number, k)  # fmt: skip
                raise GraphError(cause, _LOOSE)
            _need_history([dx], strict and create_graph, "jacobian")
        rows.append([zeros_like(x) if dx is None else dx for x, dx in zip(leaves, found)])
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


def _one_number(where: str, outputs, several: bool) -> None:
    if several or len(outputs) != 1:
        raise ArgumentError(tr("The function given to {} should return a single Tensor", where), "reduce it: .sum()")
    if outputs[0].numel() != 1:
        cause = tr("The Tensor returned by the function given to {} should contain a single element", where)
        raise ArgumentError(cause, "reduce it: .sum()")


def _as_given(found: list, several: bool, create_graph: bool):
    made = tuple(found if create_graph else [x.detach() for x in found])
    return made if several else made[0]


__getattr__, __dir__ = _door(__name__)
