"""What PyTorch keeps in `torch.distributions.utils`: libraries that write distributions of their own import it."""

from badak.distributions.distribution import broadcast_all as broadcast_all
from badak.distributions.distribution import clamp_probs as clamp_probs
from badak.distributions.distribution import lazy_property as lazy_property
from badak.distributions.distribution import logits_to_probs as logits_to_probs
from badak.distributions.distribution import probs_to_logits as probs_to_logits
from badak.distributions.transformed import EULER as euler_constant  # noqa: F401  (PyTorch's name of it)
from badak.distributions.transforms import summed as _sum_rightmost
from badak.distributions.transforms import tril_matrix_to_vec as tril_matrix_to_vec
from badak.distributions.transforms import vec_to_tril_matrix as vec_to_tril_matrix
from badak.tensor import Tensor, dtype, randn
from badak.tensor import device as device_of

_sum_rightmost = _sum_rightmost  # PyTorch's name of it


def _standard_normal(shape, dtype: dtype, device: "device_of | str | None") -> Tensor:
    """Normal numbers of this shape."""
    return randn(*shape, dtype=dtype, device=device)
