"""What programs import from the insides of torch.nn: bases to ask isinstance of, helpers of attention and of sizes, handles."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.instancenorm import InstanceNorm2d, LazyInstanceNorm1d, _InstanceNorm
from torch.nn.modules.padding import _CircularPadNd, _ConstantPadNd, _ReflectionPadNd, _ReplicationPadNd
from torch.nn.modules.pooling import (
    MaxPool2d,
    _AdaptiveAvgPoolNd,
    _AdaptiveMaxPoolNd,
    _AvgPoolNd,
    _LPPoolNd,
    _MaxPoolNd,
    _MaxUnpoolNd,
)
from torch.nn.modules.transformer import (
    _detect_is_causal_mask,
    _generate_square_subsequent_mask,
    _get_activation_fn,
    _get_clones,
    _get_seq_len,
)
from torch.nn.modules.utils import _list_with_default, _reverse_repeat_tuple
from torch.nn.utils.rnn import invert_permutation
from torch.utils.hooks import RemovableHandle

layers = [
    nn.Conv1d(2, 2, 1), nn.ConvTranspose2d(2, 2, 1), nn.Dropout(), nn.Dropout2d(), nn.AlphaDropout(), nn.InstanceNorm3d(2),
    nn.MaxPool1d(2),
    nn.AvgPool1d(2), nn.AvgPool3d(2), nn.AdaptiveAvgPool2d(1), nn.AdaptiveMaxPool1d(1), nn.LPPool2d(2, 2), nn.MaxUnpool2d(2),
    nn.ConstantPad1d(1, 0.0), nn.ZeroPad2d(1), nn.ReflectionPad1d(1), nn.ReplicationPad2d(1), nn.CircularPad3d(1),
]  # fmt: skip
bases = (
    _ConvNd, _ConvTransposeNd, _DropoutNd, _InstanceNorm, _MaxPoolNd, _AvgPoolNd, _AdaptiveAvgPoolNd, _AdaptiveMaxPoolNd, _LPPoolNd,
    _MaxUnpoolNd, _ConstantPadNd, _ReflectionPadNd, _ReplicationPadNd, _CircularPadNd,
)  # fmt: skip
for layer in layers:
    print(layer, [base.__name__ for base in bases if isinstance(layer, base)])
print(InstanceNorm2d is nn.InstanceNorm2d, LazyInstanceNorm1d is nn.LazyInstanceNorm1d, MaxPool2d is nn.MaxPool2d)


def said(function, *args, **options):
    try:
        made = function(*args, **options)
        print([part.tolist() for part in made] if isinstance(made, tuple) and torch.is_tensor(made[0]) else made)
    except (AssertionError, ValueError, RuntimeError) as error:
        print(str(error).splitlines()[0])


mask, x, w = torch.tensor([[False, True]]), torch.arange(8.0).reshape(2, 1, 4), torch.arange(48.0).reshape(12, 4)
said(F._canonical_mask, mask, "mask", None, "", torch.float32)
said(F._canonical_mask, mask.float(), "mask", torch.float32, "other", torch.float32)
said(F._canonical_mask, mask.long(), "mask", None, "", torch.float32)
print(F._none_or_dtype(None), F._none_or_dtype(x))
for q, k, v in ((x, x, x), (x, x + 1, x + 1), (x, x + 1, x + 2)):
    k, v = (q, q) if torch.equal(q, k) else (k, k) if torch.equal(k, v) else (k, v)
    for b in (None, torch.arange(12.0)):
        print([[round(n, 3) for n in part.flatten().tolist()] for part in F._in_projection_packed(q, k, v, w, b)])
said(F._in_projection, x, x, x, w[:4], w[:4], w[:4])
said(F._in_projection, x, x, x, w[:4], w[:3], w[:4])
for q, k, pad, m in (
    (x, x, None, None), (x[0], x[0], None, None), (x, x[0], None, None), (x, x, mask[0], None), (x, x, None, mask[0]),
    (x[0], x[0], None, torch.zeros(3, 1, 1)), (x[0], x[0], None, torch.zeros(2, 1, 1)), (x[0, 0], x, None, None),
):  # fmt: skip
    said(F._mha_shape_check, q, k, k, pad, m, 2)
said(F._verify_batch_size, (1, 3))
said(F._verify_spatial_size, (2, 3, 1))
said(_list_with_default, [None, 3], [5, 6, 7])
said(_list_with_default, [None, 3], [5, 6])
print(
    _list_with_default(4, [1]),
    _reverse_repeat_tuple((1, 2), 2),
    invert_permutation(torch.tensor([2, 0, 1])),
    invert_permutation(None),
)
print(
    len(_get_clones(nn.Linear(1, 1), 3)), _get_activation_fn("gelu")(torch.ones(1)), _get_seq_len(x, True), _get_seq_len(x, False)
)
causal = _generate_square_subsequent_mask(3)
print(
    causal,
    _detect_is_causal_mask(causal),
    _detect_is_causal_mask(causal + 1),
    _detect_is_causal_mask(None),
    _detect_is_causal_mask(None, True),
)
said(_get_activation_fn, "tanh")

hooks, flags = {}, {}


class Hooks(dict):
    """PyTorch's handles hold dicts by weak references."""


hooks, flags = Hooks(), Hooks()
handle = RemovableHandle(hooks, extra_dict=flags)
hooks[handle.id], flags[handle.id] = print, True
handle.remove()
print(hooks, flags, handle.id < RemovableHandle(hooks, extra_dict=[flags]).id)
print(torch._segment_reduce(torch.arange(4.0), "sum", offsets=torch.tensor([0, 1, 4])))

inner, image = torch._C._nn, torch.arange(32.0).reshape(1, 2, 4, 4) / 8
for name in "elu gelu glu hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish relu6 silu softplus softshrink".split():
    print(name, round(getattr(inner, name)(image - 2).sum().item(), 3))
for name, more in (
    ("upsample_nearest2d", ()),
    ("_upsample_nearest_exact2d", ()),
    ("upsample_bilinear2d", (True,)),
    ("upsample_bicubic2d", (False,)),
):
    print(name, round(getattr(inner, name)(image, (3, 6), *more).square().sum().item(), 3))
print(round(inner._upsample_bilinear2d_aa(image, (2, 2), False).square().sum().item(), 3))
print(inner.upsample_nearest2d(image, None, (2.0, 1.5)).shape, inner.upsample_linear1d(image[0], [7], False).shape)
print(
    inner.linear(image, torch.ones(3, 4)).sum().item(),
    inner.adaptive_avg_pool2d(image, (1, 2)).tolist(),
    inner.avg_pool2d(image, 2).shape,
)
