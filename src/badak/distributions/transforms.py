"""Functions of random numbers that can be reversed, with the logarithm of how much they stretch.

y = transform(x)      x = transform.inv(y)      transform.log_abs_det_jacobian(x, y) = ln |dy/dx|

The base is in `transform.py`, the rest in `elementwise_`, `compose_` and `matrix_transforms.py`.
"""

from badak.distributions.compose_transforms import ComposeTransform as ComposeTransform
from badak.distributions.compose_transforms import IndependentTransform as IndependentTransform
from badak.distributions.compose_transforms import identity_transform as identity_transform
from badak.distributions.elementwise_transforms import AbsTransform as AbsTransform
from badak.distributions.elementwise_transforms import AffineTransform as AffineTransform
from badak.distributions.elementwise_transforms import ExpTransform as ExpTransform
from badak.distributions.elementwise_transforms import PowerTransform as PowerTransform
from badak.distributions.elementwise_transforms import SigmoidTransform as SigmoidTransform
from badak.distributions.elementwise_transforms import SoftplusTransform as SoftplusTransform
from badak.distributions.elementwise_transforms import TanhTransform as TanhTransform
from badak.distributions.elementwise_transforms import clipped_sigmoid as _clipped_sigmoid  # noqa: F401  (PyTorch's name)
from badak.distributions.matrix_transforms import CatTransform as CatTransform
from badak.distributions.matrix_transforms import CorrCholeskyTransform as CorrCholeskyTransform
from badak.distributions.matrix_transforms import CumulativeDistributionTransform as CumulativeDistributionTransform
from badak.distributions.matrix_transforms import LowerCholeskyTransform as LowerCholeskyTransform
from badak.distributions.matrix_transforms import PositiveDefiniteTransform as PositiveDefiniteTransform
from badak.distributions.matrix_transforms import ReshapeTransform as ReshapeTransform
from badak.distributions.matrix_transforms import SoftmaxTransform as SoftmaxTransform
from badak.distributions.matrix_transforms import StackTransform as StackTransform
from badak.distributions.matrix_transforms import StickBreakingTransform as StickBreakingTransform
from badak.distributions.transform import Transform as Transform
from badak.distributions.transform import _InverseTransform as _InverseTransform
from badak.distributions.transform import summed as summed
from badak.distributions.transform import tril_matrix_to_vec as tril_matrix_to_vec
from badak.distributions.transform import vec_to_tril_matrix as vec_to_tril_matrix
