"""Views under names that promise a copy, and splits that promise nothing: PyTorch's words for the same shapes."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from badak.core.errors import ShapeError, tr
from badak.core.public_api.taken import named
from badak.tensor import shape
from badak.tensor.complex import view_as_complex, view_as_real
from badak.tensor.convert import clone
from badak.tensor.index import narrow, select
from badak.tensor.layouts import RANKS, contiguous_format, preserve_format
from badak.tensor.pad import pad as padded
from badak.tensor.scatter import as_strided
from badak.tensor.tensor import Tensor


def _copying(view: Callable, name: str) -> Callable:
    """The function whose result is the copy of a view, or of several."""

    def copied(input: Tensor, *args: Any, out: Any = None, **named: Any) -> Any:
        made = view(input, *args, **named)
        parts = made if isinstance(made, tuple | list) else (made,)
        copies = tuple(clone(part, memory_format=contiguous_format) for part in parts)
        return copies if made is parts else copies[0]

    doc = f"What `{name.removesuffix('_copy')}` shows, in memory of its own.   dx: dy where it was taken from."
    return named(copied, name, doc)


def _slice(input, dim: int = 0, start=None, end=None, step: int = 1) -> Tensor:
    return input[(slice(None),) * (dim % input.dim()) + (slice(start, end, step),)]


def _split(input, split_size, dim: int = 0):
    return shape.split(input, split_size, dim)


def _view(input, size=None, *, dtype=None) -> Tensor:
    return shape.view(input, dtype if size is None else size)


alias_copy = _copying(lambda input: input, "alias_copy")
as_strided_copy = _copying(as_strided, "as_strided_copy")
detach_copy = _copying(lambda input: input.detach(), "detach_copy")
diagonal_copy = _copying(shape.diagonal, "diagonal_copy")
expand_copy = _copying(lambda input, size, *, implicit=False: shape.expand(input, size), "expand_copy")
narrow_copy = _copying(narrow, "narrow_copy")
permute_copy = _copying(shape.permute, "permute_copy")
select_copy = _copying(select, "select_copy")
slice_copy = _copying(_slice, "slice_copy")
split_copy = _copying(_split, "split_copy")
split_with_sizes_copy = _copying(shape.split_with_sizes, "split_with_sizes_copy")
squeeze_copy = _copying(shape.squeeze, "squeeze_copy")
t_copy = _copying(shape.t, "t_copy")
transpose_copy = _copying(shape.transpose, "transpose_copy")
unbind_copy = _copying(shape.unbind, "unbind_copy")
unfold_copy = _copying(shape.unfold, "unfold_copy")
unsqueeze_copy = _copying(shape.unsqueeze, "unsqueeze_copy")
view_as_complex_copy = _copying(view_as_complex, "view_as_complex_copy")
view_as_real_copy = _copying(view_as_real, "view_as_real_copy")
view_copy = _copying(_view, "view_copy")


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple:
    """As chunk, and a piece may be changed in place where gradients are recorded."""
    return _slices(input, shape.chunk(input.detach(), chunks, dim), dim)


def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0) -> tuple:
    """As split, and a piece may be changed in place where gradients are recorded."""
    return _slices(tensor, shape.split(tensor.detach(), split_size, dim), dim)


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """As split_with_sizes, and a piece may be changed in place where gradients are recorded."""
    return _slices(input, shape.split_with_sizes(input.detach(), split_sizes, dim), dim)


def _slices(x: Tensor, pieces: tuple, dim: int) -> tuple:
    """The pieces as slices of x: tensor_split's."""
    return shape.tensor_split(x, tuple(accumulate(piece.shape[dim] for piece in pieces[:-1])), dim)


def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """The sum over the dims along which a tensor of this size would be stretched to input's shape.   dx = dy, stretched."""
    wanted = shape.sizes(size)
    extra = input.dim() - len(wanted)
    if extra < 0 or any(m not in (1, n) for m, n in zip(wanted, input.shape[extra:])):
        cause = tr("size {{{}}} is not expandable to size {{{}}}.", list(wanted), list(input.shape))
        raise ShapeError(cause, "sizes of 1, or input's")
    over = [*range(extra), *(extra + i for i, n in enumerate(wanted) if n == 1 != input.shape[extra + i])]
    return (input.sum(over, keepdim=True) if over else input).reshape(wanted)


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: complex = 0) -> Tensor:
    """As nn.functional.pad with mode "constant"."""
    return padded(input, pad, "constant", value)


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """resize_ to the shape of another tensor; preserve_format: channels last where that lies so, else in rows."""
    if memory_format is preserve_format:
        lies = [
            each for each, rank in RANKS.items() if rank == the_template.dim() and the_template.is_contiguous(memory_format=each)
        ]
        memory_format = lies[0] if lies and not the_template.is_contiguous() else contiguous_format
    return input.resize_(the_template.shape, memory_format=memory_format)


def fill(input: Tensor, value: Tensor | complex) -> Tensor:
    """A copy of input's shape and dtype, every entry `value`."""
    return clone(input).fill_(value)
