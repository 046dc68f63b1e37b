"""All parameters of a model as one vector, and back."""

from collections.abc import Iterable

from badak.core.errors import ArgumentTypeError, tr
from badak.nn.errors import kind
from badak.tensor import Tensor, cat


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The values of all parameters, one after the other, (N,)."""
    return cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give each parameter its part of the vector: what `parameters_to_vector` took apart. The memory is shared."""
    if not isinstance(vec, Tensor):
        raise ArgumentTypeError(tr("expected a tensor, but got: {}", kind(vec)))
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end
