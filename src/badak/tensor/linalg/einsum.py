"""Sums of products whose dims are named: einsum and tensordot."""

import re
from typing import Any

from badak.core.errors import ArgumentError, DTypeError, ShapeError, tr
from badak.core.modes import modes
from badak.ops import einsum as ops
from badak.ops._check import axis_of
from badak.tensor.apply import apply
from badak.tensor.promote import into, same
from badak.tensor.shape import diagonal, squeeze
from badak.tensor.tensor import Tensor
from badak.tensor.upcast import in_float32


def tensordot(a: Tensor, b: Tensor, dims: int | tuple = 2, out: Tensor | None = None) -> Tensor:
    """Products summed over the last `dims` dims of a and the first of b, or over the pairs dims = (dims of a, of b)."""
    na, nb = a._array.ndim, b._array.ndim
    if isinstance(dims, int):
        over_a, over_b = list(range(na - dims, na)), list(range(dims))
    else:
        over_a, over_b = ([axis_of(int(d), n) for d in ds] for ds, n in zip(dims, (na, nb)))
    letters = [chr(0x100 + i) for i in range(na + nb)]
    ta, tb = letters[:na], letters[na:]
    for i, j in zip(over_a, over_b):
        if a._array.shape[i] != b._array.shape[j]:
            if 1 in (a._array.shape[i], b._array.shape[j]):  # stretched: the sum of the other
                a, b = (a, b.sum(j, True)) if a._array.shape[i] == 1 else (a.sum(i, True), b)
                tb[j] = ta[i]
                continue
            cause = tr("contracted dimensions need to match, but first has size {} in dim {} and second has size {} in dim {}",
                       a._array.shape[i], i, b._array.shape[j], j)  # fmt: skip
            raise ShapeError(cause, None)
        tb[j] = ta[i]
    ty = [c for i, c in enumerate(ta) if i not in over_a] + [c for j, c in enumerate(tb) if j not in over_b]
    if a.dtype is not b.dtype:
        raise DTypeError(tr("both inputs should have same dtype; got {} and {}", a.dtype, b.dtype), "b.to(a.dtype)")
    return into(out, apply(ops.Contract, a, b, ta="".join(ta), tb="".join(tb), ty="".join(ty)), exact=True)


@in_float32
def einsum(equation: Tensor | str, *operands: Any) -> Tensor:
    """The sum of products that `equation` names: one letter for each dim, "bij,bjk->bik" is the batched matrix product.

    Letters that the right side lacks are summed over; "..." stands for any leading dims, which broadcast; a letter that
    occurs twice in one operand takes the diagonal. Without "->" the result has the letters that occur once, in
    alphabetical order. Operands are multiplied from left to right.

    Args:
        equation: such as "bij,bjk->bik"; or the operands with a list of numbers after each, for its letters, and one for the result
        *operands: a tensor for each part on the left

    Returns: tensor with the axes on the right

    Raises:
        ArgumentError: for an equation that does not fit the operands

    Example:
        >>> badak.einsum("i,i->", badak.ones(3), badak.ones(3)).item()
        3.0
    """
    if isinstance(equation, Tensor):
        equation, operands = _spelled((equation, *operands))
    if len(operands) == 1 and not isinstance(operands[0], Tensor):
        operands = tuple(operands[0])
    inputs, output = _subscripts(equation, operands)
    size: dict[str, int] = {}
    for letters, x in zip(inputs, operands):
        for c, n in zip(letters, x._array.shape):
            if size.get(c, 1) == 1:
                size[c] = n
            elif n not in (1, size[c]):
                cause = tr("einsum(): operands do not broadcast: subscript {} has size {} and {} in {!r} with shapes {}", _show(c),
                           size[c], n, equation, ", ".join(str(o._array.shape) for o in operands))  # fmt: skip
                raise ShapeError(cause, "one letter, one size")
    terms = [_plain(letters, x, size) for letters, x in zip(inputs, operands)]
    (letters, y), rest = terms[0], terms[1:]
    if not rest:
        return y if letters == output else apply(ops.SumTo, y, tx=letters, ty=output)
    for k, (next_letters, x) in enumerate(rest):
        needed = output + "".join(t for t, _ in rest[k + 1 :])
        made = output if k == len(rest) - 1 else "".join(dict.fromkeys(c for c in letters + next_letters if c in needed))
        if y.dtype is not x.dtype:
            y, x = _of_one_dtype(y, x, summed=not set(letters + next_letters) <= set(made))
        y, letters = apply(ops.Contract, y, x, ta=letters, tb=next_letters, ty=made), made
    return y


def _spelled(parts: tuple) -> tuple[str, tuple]:
    """The equation and the operands of einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    terms = []
    for dims in (*parts[1::2], *(parts[-1:] if len(parts) % 2 else ())):
        found = dims.tolist() if isinstance(dims, Tensor) else [d if d is Ellipsis else int(d) for d in dims]
        if any(d is not Ellipsis and not 0 <= d < 52 for d in found):
            cause = tr("einsum(): subscript in {} is not within the valid range [0, 52)", found)
            raise ArgumentError(cause, "numbers from 0 to 51")
        terms.append("".join("..." if d is Ellipsis else chr(d + (65 if d < 26 else 71)) for d in found))
    arrow = "->" + terms.pop() if len(parts) % 2 else ""
    return ",".join(terms) + arrow, parts[: len(parts) // 2 * 2 : 2]


einsum.spreads = True  # type: ignore[attr-defined]  # a list of operands reaches __torch_function__ one by one


def _of_one_dtype(a: Tensor, b: Tensor, summed: bool):
    """Both in their common dtype; where products are summed they must have one, as those of matrices must."""
    if modes.casting is not None:
        return a, b
    if summed:
        raise DTypeError(tr("expected scalar type {} but found {}", a.dtype.word, b.dtype.word), "operands of one dtype")
    return same(a, b)


def _show(c: str) -> str:
    return c if c.isascii() else "..."


def _subscripts(equation: str, operands):
    """(letters of each operand, letters of the result), with "..." written out as letters of their own."""
    if wrong := re.search("[^a-zA-Z., ]", equation.replace("->", "  ", 1)):
        cause = tr(
            "einsum(): invalid subscript given at index {} in the equation string, subscripts must be in [a-zA-Z]", wrong.start()
        )
        raise ArgumentError(cause, "a letter for each dim, or a list of numbers for each operand")
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    for at, part in enumerate([*parts, right]):
        if "." in part.replace("...", "", 1):
            cause = tr("einsum(): found '.' for operand {} that is not part of any ellipsis", at)
            raise ArgumentError(cause, "'...' once for each term")
    if len(parts) != len(operands):
        cause = tr("einsum(): {!r} names {} operands, and {} were given", equation, len(parts), len(operands))
        raise ArgumentError(cause, "one term for each tensor")
    inputs: list[tuple] = []
    widest = 0
    for part, x in zip(parts, operands):
        named, ndim = len(part.replace("...", "")), x._array.ndim
        if "..." not in part and named != ndim:
            raise ShapeError(
                tr("einsum(): the number of subscripts in the equation ({}) does not match the number of dimensions "
                   "({}) for the operand {} of {!r}, of shape {}", named, ndim, len(inputs), equation, x._array.shape),
                "one letter for each dim",
            )  # fmt: skip
        if named > ndim:
            raise ShapeError(tr("einsum(): {!r} names more dims than the operand of shape {} has", part, x._array.shape), None)
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
            why = tr("more than once") if output.count(c) > 1 else tr("but no operand has it")
            raise ArgumentError(tr("einsum(): output subscript {} appears in the output {}: {!r}", _show(c), why, equation), None)
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
