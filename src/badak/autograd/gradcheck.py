"""gradcheck: the derived gradient against finite differences.

    numerical[i, j] = (f(x + eps e_i)[j] - f(x - eps e_i)[j]) / (2 eps)        error O(eps^2) + O(rounding / eps)

In float64 with eps = 1e-6 both errors are near 1e-10, so that a wrong factor, sign or transpose cannot hide.
"""

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from badak.autograd.differentiate import grad
from badak.autograd.grad_mode import no_grad
from badak.core.errors import ArgumentError, ArgumentTypeError, GraphError, tr
from badak.tensor import Tensor, view_as_complex, view_as_real
from badak.tensor.wrapped import is_wrapper

OTHERS = {"check_undefined_grad", "check_grad_dtypes", "check_batched_grad", "check_batched_forward_grad", "masked"}
FORWARD = tr("computed with forward mode ")


class GradcheckError(GraphError):
    """The derived gradient is not the slope."""


def gradcheck(
    func: Callable,
    inputs: Tensor | Sequence[Tensor],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    fast_mode: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    **accepted: Any,
) -> bool:
    """True where the gradients of func(*inputs) agree with finite differences, for every input that requires one.

    Of inputs that are not float64 or complex128 it warns: rounding hides what is looked for.

    A complex128 input or output counts as two float64 numbers for each of its own, its real and its imaginary part.
    `fast_mode` compares one random projection of the Jacobian instead of all of it. Raises GradcheckError naming output,
    input, element and both values (or returns False with raise_exception=False).

    Args:
        func: function of the inputs
        inputs: a tensor or a tuple
        eps: step of the differences
        atol, rtol: tolerances
        raise_exception: False gives False instead
        nondet_tol: how far two backwards may differ
        fast_mode: compare one random projection
        check_forward_ad: compare the slopes of forward mode (`autograd.forward_ad`) too, all of them
        check_backward_ad: False leaves the gradients out
        **accepted: PyTorch's other checks, which change nothing

    Returns: True

    Example:
        >>> x = badak.randn(3, dtype=badak.float64, requires_grad=True)
        >>> badak.autograd.gradcheck(badak.exp, x)
        True
    """
    if not set(accepted) <= OTHERS:
        name = min(set(accepted) - OTHERS)
        raise ArgumentTypeError(tr("gradcheck() got an unexpected keyword argument '{}'", name), tr("leave {} out", name))
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        cause = tr("gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.")
        raise ArgumentError(cause, "x = badak.randn(3, dtype=badak.float64, requires_grad=True)")
    for i in checked:
        if inputs[i]._array.dtype not in (np.float64, np.complex128):
            warnings.warn(
                tr("Input #{} requires gradient and is not a double precision floating point or complex. This check will likely "
                   "fail if all the inputs are not of double precision floating point or complex.", i),
                UserWarning,
                stacklevel=2,
            )  # fmt: skip
    pairs = [y.is_complex() for y in _outputs(func, inputs)]
    func, inputs = _over_reals(func, inputs)
    try:
        outputs = _outputs(func, inputs)
        if outputs and not any(y.requires_grad for y in outputs):
            _expect_constants(func, inputs, len(outputs), checked, eps)
        for o in range(len(outputs)):
            for i in checked:
                if check_backward_ad:
                    _compare(func, inputs, o, i, eps, atol, rtol, nondet_tol, fast_mode, pairs[o])
                if check_forward_ad:
                    numerical = _numerical(func, inputs, o, i, eps)
                    _agree(_forward(func, inputs, o, i), numerical, o, i, atol, rtol, pairs[o], FORWARD)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable,
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    *,
    gen_non_contig_grad_outputs: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    **options: Any,
) -> bool:
    """gradcheck of the gradient: second derivatives of func(*inputs), with respect to its inputs and to the gradients of its
    outputs, against finite differences of the first ones. `grad_outputs` are random where none are given."""
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    draw = np.random.default_rng(0)
    ys = [y for y in _outputs(func, inputs) if y.requires_grad]
    if grad_outputs is None:
        grad_outputs = [Tensor._of(_drawn(draw, y)).requires_grad_() for y in ys]
    given = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)
    count = len(inputs)

    def gradients(*both):
        outputs = [y for y in _outputs(func, both[:count]) if y.requires_grad]
        wanted = [x for x in both[:count] if isinstance(x, Tensor) and x.requires_grad]
        found = grad(outputs, wanted, both[count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    kinds = {"check_forward_ad": check_fwd_over_rev, "check_backward_ad": check_rev_over_rev}
    return gradcheck(gradients, (*inputs, *given), **kinds, **options)


def _outputs(func, inputs) -> list[Tensor]:
    made = func(*inputs)
    return [y for y in (made if isinstance(made, tuple | list) else (made,)) if isinstance(y, Tensor) and _counts(y)]


def _counts(y: Tensor) -> bool:
    """Whether gradients come from it: floats and complex numbers."""
    return y.is_floating_point() or y.is_complex()


def _numbers(x: Tensor) -> Any:
    """The numbers of a tensor, in an array: what is written there is written into the tensor, unless it is a wrapper."""
    if not is_wrapper(x):
        return x._array
    return np.array([each.item() for each in x.detach().reshape(-1).unbind()], x._array.dtype).reshape(x.shape)


def _put(x: Tensor, at: Any, numbers: Any) -> None:
    """Write numbers into a tensor, of which nobody is told."""
    array = _numbers(x)
    array[at] = numbers
    if is_wrapper(x):
        with no_grad():
            x.copy_(Tensor._of(array))


def _drawn(draw: np.random.Generator, y: Tensor) -> np.ndarray:
    """Random numbers of y's shape, complex where y is."""
    real = draw.standard_normal(y._array.shape)
    return real + 1j * draw.standard_normal(y._array.shape) if y.is_complex() else real


def _over_reals(func, inputs: tuple):
    """The same function of float64 inputs, with float64 outputs: complex numbers are pairs of real ones, along a last axis."""
    pairs = [isinstance(x, Tensor) and x.is_complex() for x in inputs]
    parts = [
        view_as_real(x.detach().resolve_conj()).clone().requires_grad_(x.requires_grad) if pair else x
        for x, pair in zip(inputs, pairs)
    ]

    def real(*xs):
        made = _outputs(func, [view_as_complex(x) if pair else x for x, pair in zip(xs, pairs)])
        return tuple(view_as_real(y.resolve_conj()) if y.is_complex() else y for y in made)

    return real, tuple(parts)


def _expect_constants(func, inputs, count: int, checked: list[int], eps) -> None:
    """Raise where outputs that lead to no input change with one."""
    for o in range(count):
        for i in checked:
            slopes = _numerical(func, inputs, o, i, eps)
            if not np.allclose(slopes, 0, atol=eps, rtol=0):
                raise GradcheckError(
                    tr("Numerical gradient for function expected to be zero: no output requires a gradient, but output {} changes "
                       "with input {}", o, i),
                    "a function that makes its outputs of its inputs, without detach(), item() or tensor()",
                )  # fmt: skip


def _compare(func, inputs, o, i, eps, atol, rtol, nondet_tol, fast_mode, pairs: bool) -> None:
    if not _outputs(func, inputs)[o].requires_grad:
        return
    if fast_mode:
        _compare_projection(func, inputs, o, i, eps, atol, rtol, nondet_tol)
        return
    derived = _twice(lambda: _derived(func, inputs, o, i), nondet_tol)
    _agree(derived, _numerical(func, inputs, o, i, eps), o, i, atol, rtol, pairs)


def _twice(derive: Callable[[], Any], nondet_tol: float) -> Any:
    """What a backward gives, the same twice."""
    derived, again = derive(), derive()
    if not np.allclose(derived, again, atol=nondet_tol, rtol=0, equal_nan=True):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
            "gives different values",
            "turn dropout off (model.eval()) or set nondet_tol",
        )
    return derived


def _agree(derived, numerical, o: int, i: int, atol, rtol, pairs: bool, how: str = "", part: str = "") -> None:
    """pairs: each complex element of the output is two numbers, which are looked at apart."""
    if pairs:
        imaginary, real = (tr("While considering the {} part of complex outputs only, ", each) for each in ("imaginary", "real"))
        _agree(derived[:, 1::2], numerical[:, 1::2], o, i, atol, rtol, False, how, imaginary)
        _agree(derived[:, ::2], numerical[:, ::2], o, i, atol, rtol, False, how, real)
        return
    wrong = ~np.isclose(derived, numerical, atol=atol, rtol=rtol)
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        cause = tr("{}Jacobian {}mismatch for output {} with respect to input {}: {} of {} elements, first at (input element {}, "
                   "output element {}): numerical {:.6g}, analytical {:.6g}", part, how, o, i, int(wrong.sum()),
                   wrong.size, at[0], at[1], numerical[at], derived[at])  # fmt: skip
        raise GradcheckError(cause, "check the jvp" if how else "check the backward: sign, transposes, a factor, broadcasting")


def _forward(func, inputs, o: int, i: int):
    """Jacobian (input elements, output elements) by one slope for each input element."""
    dual, rows = importlib.import_module("badak.compat.torch.forward_ad"), []
    along = {j: np.zeros(x._array.shape, x._array.dtype) for j, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad}
    for k in np.ndindex(along[i].shape):
        along[i][k] = 1
        with dual.dual_level():
            there = [dual.make_dual(x.detach(), Tensor._of(along[j].copy())) if j in along else x for j, x in enumerate(inputs)]
            y = _outputs(func, there)[o]
            slope = dual.unpack_dual(y).tangent
            rows.append(np.zeros(y._array.size) if slope is None else slope._array.ravel())
        along[i][k] = 0
    return np.stack(rows) if rows else np.zeros((0, _outputs(func, inputs)[o]._array.size))


def _derived(func, inputs, o: int, i: int):
    """Jacobian (input elements, output elements) from one backward for each output element."""
    y = _outputs(func, inputs)[o]
    columns = []
    for j in range(y._array.size):
        dy = np.zeros(y._array.size, y._array.dtype)
        dy[j] = 1
        dx = grad([y], [inputs[i]], [Tensor._of(dy.reshape(y._array.shape))], retain_graph=True, allow_unused=True)[0]
        columns.append(np.zeros(inputs[i]._array.size) if dx is None else _numbers(dx).ravel())
    return np.stack(columns, 1) if columns else np.zeros((inputs[i]._array.size, 0))


def _numerical(func, inputs, o: int, i: int, eps: float):
    rows = []
    for k in np.ndindex(tuple(inputs[i].shape)):
        rows.append(_slope(func, inputs, o, inputs[i], k, eps).ravel())
    return np.stack(rows) if rows else np.zeros((0, _outputs(func, inputs)[o]._array.size))


def _slope(func, inputs, o, x, at, eps, along=1.0):
    """Central difference `along` a direction; x is moved in place and put back, as func sees it."""
    there = _numbers(x)[at].copy()
    _put(x, at, there + eps * along)
    up = _numbers(_outputs(func, inputs)[o]).copy()
    _put(x, at, there - eps * along)
    down = _numbers(_outputs(func, inputs)[o]).copy()
    _put(x, at, there)
    _same_kind(up, down, "" if at is ... else tr(" on index {}", at))
    return (up - down) / (2 * eps)


def _same_kind(up: np.ndarray, down: np.ndarray, where: str = "") -> None:
    """Raise where the shape or the dtype of an output depends on the values of the inputs."""
    for what, before, after in (("shape", up.shape, down.shape), ("dtype", up.dtype, down.dtype)):
        if before != after:
            cause = tr("Expected `func` to return outputs with the same {} when inputs are perturbed{}, but got: {}s {} and {}.",
                       what, where, what, before, after)  # fmt: skip
            raise ArgumentError(cause, "a function whose branches do not depend on the values, or inputs away from where they do")


def _compare_projection(func, inputs, o, i, eps, atol, rtol, nondet_tol) -> None:
    """v . J . u from one backward and from two forwards along u."""
    draw = np.random.default_rng(0)
    y, x = _outputs(func, inputs)[o], inputs[i]
    v, u = draw.standard_normal(tuple(y.shape)), draw.standard_normal(tuple(x.shape))
    u /= np.linalg.norm(u) or 1

    def derive():
        dx = grad([_outputs(func, inputs)[o]], [inputs[i]], [Tensor._of(v.astype(y._array.dtype))], allow_unused=True)[0]
        return np.zeros(u.shape) if dx is None else _numbers(dx)

    derived = float((_twice(derive, nondet_tol) * u).sum())
    numerical = float((_slope(func, inputs, o, x, ..., eps, u) * v).sum())
    if not np.isclose(derived, numerical, atol=atol, rtol=rtol):
        cause = tr("Jacobian mismatch for output {} with respect to input {} along a random direction: numerical {:.6g}, "
                   "analytical {:.6g}", o, i, numerical, derived)  # fmt: skip
        raise GradcheckError(cause, "fast_mode=False names the element")
