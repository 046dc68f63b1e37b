"""The table of contents of Tensor: which function each method is. Here, too, they are bound."""

from badak.tensor import (
    arithmetic,
    compare,
    complex,
    convert,
    create,
    elementwise,
    getset,
    index,
    inplace_ops,
    operators,
    random,
    rearrange,
    reduce,
    shape,
    sort,
    triangles,
)
from badak.tensor.linalg import older, products
from badak.tensor.tensor import Tensor

_SAME_NAME = {
    arithmetic: "add subtract sub mul multiply div divide true_divide floor_divide remainder fmod pow float_power neg "
    "negative positive addcmul addcdiv lerp",
    elementwise: "exp exp2 expm1 log log1p log2 log10 sqrt rsqrt reciprocal square abs absolute sign sgn frac erf sin cos tan "
    "asin arcsin acos arccos atan arctan sinh cosh asinh arcsinh acosh arccosh atanh arctanh tanh sigmoid relu floor ceil "
    "round trunc fix softmax log_softmax atan2 logaddexp clamp clip clamp_min clamp_max maximum minimum masked_fill "
    "nan_to_num hypot",
    compare: "eq ne not_equal lt less le less_equal gt greater ge greater_equal isnan isinf isfinite isposinf isneginf "
    "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift "
    "bitwise_right_shift isclose allclose equal is_nonzero is_same_size",
    reduce: "sum mean prod var std amax amin max min aminmax logsumexp norm dist any all count_nonzero nansum nanmean "
    "cumsum cumprod diff",
    shape: "view reshape view_as reshape_as flatten ravel unflatten transpose swapaxes swapdims t permute movedim moveaxis "
    "unsqueeze squeeze expand expand_as broadcast_to split split_with_sizes chunk tensor_split unbind diagonal unfold T mT",
    rearrange: "flip fliplr flipud roll repeat tile repeat_interleave",
    triangles: "tril triu diag diag_embed diagflat",
    index: "gather take_along_dim scatter scatter_add index_select index_add index_copy index_fill index_put masked_select "
    "masked_scatter take nonzero argwhere select narrow",
    products: "matmul mm bmm mv dot vdot inner outer ger addmm addmv addbmm baddbmm addr trace kron",
    sort: "sort msort argsort topk argmax argmin kthvalue median quantile mode unique unique_consecutive bincount histc",
    older: "cholesky cross det inverse logdet matrix_power pinverse qr slogdet svd",
    create: "new_zeros new_ones new_empty new_full new_tensor new",
    complex: "conj conj_physical resolve_conj resolve_neg is_conj angle adjoint H",
}

METHODS = {name: getattr(family, name) for family, names in _SAME_NAME.items() for name in names.split()}
METHODS |= convert.METHODS | random.METHODS | inplace_ops.METHODS | operators.METHODS
METHODS |= {
    "where": elementwise.where_method,
    "real": complex.Real,
    "imag": complex.Imag,
    "__getitem__": getset.getitem,
    "__setitem__": getset.setitem,
    "__delitem__": getset.delitem,
}

for _name, _function in METHODS.items():
    setattr(Tensor, _name, _function)
