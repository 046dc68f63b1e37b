"""Products of vectors and matrices, and everything that einsum can say."""

from badak.errors import ArgumentError, DTypeError, ShapeError
from badak.ops import einsum as ops
from badak.ops._check import axis_of
from badak.ops.matmul import MatMul
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.arithmetic import add, mul, sub
from badak.tensor.convert import cast
from badak.tensor.promote import into, not_a_tensor, same
from badak.tensor.reduce import norm, sum
from badak.tensor.shape import diagonal, reshape, squeeze, unsqueeze
from badak.tensor.tensor import Tensor

_HALF = (dtypes.float16, dtypes.bfloat16)  # multiplied in float32 and rounded once


def matmul(input, other, *, out=None) -> Tensor:
    """Matrix product over the last two dims; leading dims broadcast, a vector on the left is a row, on the right a column.

    y[..., m, n] = sum_k a[..., m, k] b[..., k, n];   da = dy b^T, db = a^T dy.
    float16 and bfloat16 are multiplied in float32 and rounded once.
    """
    try:
        kind, size = input._array.dtype.kind, input._array.dtype.itemsize
    except AttributeError:
        raise not_a_tensor("matmul", input) from None
    if not isinstance(other, Tensor):
        raise not_a_tensor("matmul", other)
    if kind == "f" and size > 2:
        y = apply(MatMul, input, other)
    else:
        y = _by_numpy(input, other)
    return y if out is None else into(out, y)


def _by_numpy(a: Tensor, b: Tensor) -> Tensor:
    """Dtypes that the kernels do not know."""
    if a.dtype is not b.dtype:
        raise DTypeError(f"expected m1 and m2 to have the same dtype, but got: {a.dtype} != {b.dtype}", "b.to(a.dtype)")
    if a.is_floating_point():
        return cast(apply(MatMul, cast(a, dtypes.float32), cast(b, dtypes.float32)), a.dtype)
    if a.is_complex():
        real = apply(MatMul, a.real, b.real) - apply(MatMul, a.imag, b.imag)
        return real + (apply(MatMul, a.real, b.imag) + apply(MatMul, a.imag, b.real)) * 1j
    try:
        return Tensor._of(a._array @ b._array)
    except ValueError:
        raise ShapeError(
            f"mat1 and mat2 shapes cannot be multiplied: {a._array.shape} and {b._array.shape}",
            "the last size of a must be the second to last of b",
        ) from None


def _dims(name: str, x: Tensor, ndim: int, what: str) -> None:
    if x._array.ndim != ndim:
        kind = {1: "a vector", 2: "a matrix"}.get(ndim, f"{ndim}D")
        raise ShapeError(f"{name}: {what} must be {kind}; got shape {x._array.shape}", "badak.matmul takes any dims")


def mm(input, mat2, *, out=None) -> Tensor:
    """The product of two matrices, (M, K) and (K, N)."""
    _dims("mm", input, 2, "self")
    _dims("mm", mat2, 2, "mat2")
    return matmul(input, mat2, out=out)


def bmm(input, mat2, *, out=None) -> Tensor:
    """The products of two stacks of matrices, (B, M, K) and (B, K, N)."""
    _dims("bmm", input, 3, "batch1")
    _dims("bmm", mat2, 3, "batch2")
    a, b = input._array.shape, mat2._array.shape
    if a[0] != b[0] or a[2] != b[1]:
        raise ShapeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: [{b[0]}, {b[1]}].",
            f"the shapes are {a} and {b}; bmm takes (B, M, K) and (B, K, N)",
        )
    return matmul(input, mat2, out=out)


def mv(input, vec, *, out=None) -> Tensor:
    """A matrix (M, K) times a vector (K,)."""
    _dims("mv", input, 2, "self")
    _dims("mv", vec, 1, "vec")
    return matmul(input, vec, out=out)


def dot(input, tensor, *, out=None) -> Tensor:
    """The inner product of two vectors of one length."""
    a, b = input._array, tensor._array
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors", "(a * b).sum()")
    if a.dtype != b.dtype:
        raise DTypeError(
            f"dot : expected both vectors to have same dtype, but found {input.dtype} and {tensor.dtype}", None
        )
    if a.shape != b.shape:
        raise ShapeError(
            f"inconsistent tensor size, expected tensor {list(a.shape)} and src {list(b.shape)} to have the same number of "
            f"elements, but got {a.size} and {b.size} elements respectively",
            None,
        )
    return matmul(input, tensor, out=out)


vdot = dot


def inner(input, other) -> Tensor:
    """Products summed over the last dim of both."""
    if not input._array.ndim or not other._array.ndim:
        return mul(input, other)
    return tensordot(input, other, dims=([-1], [-1]))


def outer(input, vec2, *, out=None) -> Tensor:
    """y[i, j] = a[i] b[j]."""
    if input._array.ndim != 1 or vec2._array.ndim != 1:
        raise ShapeError(
            f"outer: Expected 1-D arguments; got shapes {input._array.shape} and {vec2._array.shape}", "x.flatten()"
        )
    return mul(unsqueeze(input, 1), unsqueeze(vec2, 0), out=out)


ger = outer


def _plus(input, product: Tensor, beta, alpha, out) -> Tensor:
    product = product if alpha == 1 else mul(product, alpha)
    y = product if beta == 0 else add(input if beta == 1 else mul(input, beta), product)
    return y if out is None else into(out, y)


def addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None) -> Tensor:
    """beta input + alpha mat1 mat2."""
    return _plus(input, mm(mat1, mat2), beta, alpha, out)


def addmv(input, mat, vec, *, beta=1, alpha=1, out=None) -> Tensor:
    """beta input + alpha mat vec."""
    return _plus(input, mv(mat, vec), beta, alpha, out)


def addbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None) -> Tensor:
    """beta input + alpha sum_b batch1[b] batch2[b]."""
    return _plus(input, sum(bmm(batch1, batch2), 0), beta, alpha, out)


def baddbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None) -> Tensor:
    """beta input + alpha batch1[b] batch2[b] for each b."""
    return _plus(input, bmm(batch1, batch2), beta, alpha, out)


def addr(input, vec1, vec2, *, beta=1, alpha=1, out=None) -> Tensor:
    """beta input + alpha outer(vec1, vec2)."""
    return _plus(input, outer(vec1, vec2), beta, alpha, out)


def chain_matmul(*matrices) -> Tensor:
    """The product of several matrices, from left to right."""
    y = matrices[0]
    for m in matrices[1:]:
        y = matmul(y, m)
    return y


def trace(input) -> Tensor:
    """The sum of a matrix's diagonal."""
    _dims("trace", input, 2, "input")
    return sum(diagonal(input))


def kron(input, other) -> Tensor:
    """The Kronecker product: every entry of input times the whole of other."""
    a, b = input, other
    while a._array.ndim < b._array.ndim:
        a = unsqueeze(a, 0)
    while b._array.ndim < a._array.ndim:
        b = unsqueeze(b, 0)
    n = a._array.ndim
    for d in range(n):
        a, b = unsqueeze(a, 2 * d + 1), unsqueeze(b, 2 * d)
    y = mul(a, b)  # (a0, b0, a1, b1, ...)
    shape = y._array.shape
    return reshape(y, [shape[2 * d] * shape[2 * d + 1] for d in range(n)])


def tensordot(a, b, dims=2, out=None) -> Tensor:
    """Products summed over the last `dims` dims of a and the first of b, or over the pairs dims = (dims of a, of b)."""
    if a.dtype in _HALF:
        y = cast(tensordot(cast(a, dtypes.float32), cast(b, dtypes.float32), dims), a.dtype)
        return y if out is None else into(out, y)
    na, nb = a._array.ndim, b._array.ndim
    if isinstance(dims, int):
        over_a, over_b = list(range(na - dims, na)), list(range(dims))
    else:
        over_a, over_b = ([axis_of(int(d), n) for d in ds] for ds, n in zip(dims, (na, nb)))
    letters = [chr(0x100 + i) for i in range(na + nb)]
    ta, tb = letters[:na], letters[na:]
    for i, j in zip(over_a, over_b):
        if a._array.shape[i] != b._array.shape[j]:
            raise ShapeError(
                f"contracted dimensions need to match, but first has size {a._array.shape[i]} in dim {i} and second has size "
                f"{b._array.shape[j]} in dim {j}",
                None,
            )
        tb[j] = ta[i]
    ty = [c for i, c in enumerate(ta) if i not in over_a] + [c for j, c in enumerate(tb) if j not in over_b]
    y = apply(ops.Contract, *same(a, b), ta="".join(ta), tb="".join(tb), ty="".join(ty))
    return y if out is None else into(out, y)


def cdist(x1, x2, p: float = 2.0, compute_mode=None) -> Tensor:
    """y[..., i, j] = |x1[..., i, :] - x2[..., j, :]|_p."""
    if x1._array.shape[-1] != x2._array.shape[-1]:
        raise ShapeError(
            f"X1 and X2 must have the same number of columns. X1: {x1._array.shape[-1]} X2: {x2._array.shape[-1]}", None
        )
    return norm(sub(unsqueeze(x1, -2), unsqueeze(x2, -3)), p, dim=-1)


# ---------------------------------------------------------------------- einsum


def einsum(equation: str, *operands) -> Tensor:
    """The sum of products that `equation` names: one letter for each dim, "bij,bjk->bik" is the batched matrix product.

    Letters that the right side lacks are summed over; "..." stands for any leading dims, which broadcast; a letter that
    occurs twice in one operand takes the diagonal. Without "->" the result has the letters that occur once, in
    alphabetical order. Operands are multiplied from left to right.
    """
    if len(operands) == 1 and not isinstance(operands[0], Tensor):
        operands = tuple(operands[0])
    if operands[0].dtype in _HALF:
        return cast(einsum(equation, *[cast(x, dtypes.float32) for x in operands]), operands[0].dtype)
    inputs, output = _subscripts(equation, operands)
    size: dict[str, int] = {}
    for letters, x in zip(inputs, operands):
        for c, n in zip(letters, x._array.shape):
            if size.get(c, 1) == 1:
                size[c] = n
            elif n not in (1, size[c]):
                raise ShapeError(
                    f"einsum(): operands do not broadcast: subscript {_show(c)} has size {size[c]} and {n} in {equation!r} "
                    f"with shapes {', '.join(str(o._array.shape) for o in operands)}",
                    "one letter, one size",
                )
    terms = [_plain(letters, x, size) for letters, x in zip(inputs, operands)]
    (letters, y), rest = terms[0], terms[1:]
    if not rest:
        return y if letters == output else apply(ops.SumTo, y, tx=letters, ty=output)
    for k, (next_letters, x) in enumerate(rest):
        needed = output + "".join(t for t, _ in rest[k + 1 :])
        made = (
            output if k == len(rest) - 1 else "".join(dict.fromkeys(c for c in letters + next_letters if c in needed))
        )
        y, letters = apply(ops.Contract, y, x, ta=letters, tb=next_letters, ty=made), made
    return y


def _show(c: str) -> str:
    return c if c.isascii() else "..."


def _subscripts(equation: str, operands):
    """(letters of each operand, letters of the result), with "..." written out as letters of their own."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        raise ArgumentError(
            f"einsum(): {equation!r} names {len(parts)} operands, and {len(operands)} were given",
            "one term for each tensor",
        )
    inputs: list[tuple] = []
    widest = 0
    for part, x in zip(parts, operands):
        named, ndim = len(part.replace("...", "")), x._array.ndim
        if "..." not in part and named != ndim:
            raise ShapeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions "
                f"({ndim}) for the operand {len(inputs)} of {equation!r}, of shape {x._array.shape}",
                "one letter for each dim",
            )
        if named > ndim:
            raise ShapeError(f"einsum(): {part!r} names more dims than the operand of shape {x._array.shape} has", None)
        widest = max(widest, ndim - named)
        inputs.append((part, ndim - named))
    dots = "".join(chr(0x100 + i) for i in range(widest))
    terms = [part.replace("...", dots[widest - n :]) for part, n in inputs]
    if arrow:
        output = right.replace("...", dots)
    else:
        all_letters = "".join(terms)
        output = dots + "".join(sorted(c for c in set(all_letters) if all_letters.count(c) == 1 and c not in dots))
    for c in output:
        if output.count(c) > 1 or not any(c in t for t in terms):
            why = "more than once" if output.count(c) > 1 else "but no operand has it"
            raise ArgumentError(
                f"einsum(): output subscript {_show(c)} appears in the output {why}: {equation!r}", None
            )
    return terms, output


def _plain(letters: str, x: Tensor, size):
    """(letters, x) with every letter once and no dim that broadcasts."""
    for c in dict.fromkeys(letters):
        while letters.count(c) > 1:
            a = letters.index(c)
            b = letters.index(c, a + 1)
            x, letters = diagonal(x, 0, a, b), letters[:a] + letters[a + 1 : b] + letters[b + 1 :] + c
    for a in range(len(letters) - 1, -1, -1):
        if x._array.shape[a] == 1 != size[letters[a]]:
            x, letters = squeeze(x, a), letters[:a] + letters[a + 1 :]
    return letters, x
