"""PyTorch's legacy constructors of sparse tensors: torch.sparse.FloatTensor(indices, values, size) and its kin."""

from typing import Any

from badak.core.errors import ArgumentTypeError, tr
from badak.tensor import dtypes, layouts, legacy
from badak.tensor.sparse.create import sparse_coo_tensor
from badak.tensor.tensor import Tensor


class _Sparse(legacy._Legacy):
    """Calling one makes a tensor of layout sparse_coo, isinstance asks for layout and dtype."""

    def __call__(cls, *data: Any, device: Any = None) -> Tensor:
        indices: Any = None
        values: Any = None
        size: Any = data or (0,)
        if data and isinstance(data[0], Tensor):
            if len(data) not in (2, 3):
                cause = tr("sparse.{}: expected indices, values and a size; got {} arguments", cls.__name__, len(data))
                raise ArgumentTypeError(cause, "sparse_coo_tensor(indices, values, size)")
            indices, values, size = (*data, None)[:3]
        elif len(data) == 1 and not isinstance(data[0], int):
            size = data[0]
        return sparse_coo_tensor(indices, values, size, dtype=cls.kind, device=device)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.layout is layouts.sparse_coo and x.dtype is cls.kind


def _sparse(name: str, kind: dtypes.dtype) -> _Sparse:
    told = {"kind": kind, "__doc__": f"PyTorch's legacy constructor of sparse {kind.name} tensors.", "__module__": "badak.sparse"}
    return _Sparse(name, (), told)


TENSORS = {name: _sparse(name, dense.kind) for name, dense in legacy.TENSORS.items() if dense.kind is not dtypes.bool_}
