"""Methods that PyTorch also has as functions: badak.numel(x) is x.numel()."""

from badak.tensor import methods as methods  # binds them
from badak.tensor.tensor import Tensor

abs_ = Tensor.abs_
acos_ = Tensor.acos_
asin_ = Tensor.asin_
atan_ = Tensor.atan_
ceil_ = Tensor.ceil_
clamp_ = Tensor.clamp_
clamp_max_ = Tensor.clamp_max_
clamp_min_ = Tensor.clamp_min_
clip_ = Tensor.clip_
cos_ = Tensor.cos_
cosh_ = Tensor.cosh_
detach = Tensor.detach
detach_ = Tensor.detach_
erf_ = Tensor.erf_
exp2_ = Tensor.exp2_
exp_ = Tensor.exp_
expm1_ = Tensor.expm1_
fill_ = Tensor.fill_
floor_ = Tensor.floor_
frac_ = Tensor.frac_
get_device = Tensor.get_device
index_put_ = Tensor.index_put_
is_complex = Tensor.is_complex
is_floating_point = Tensor.is_floating_point
is_inference = Tensor.is_inference
is_signed = Tensor.is_signed
log10_ = Tensor.log10_
log1p_ = Tensor.log1p_
log2_ = Tensor.log2_
log_ = Tensor.log_
nan_to_num_ = Tensor.nan_to_num_
neg_ = Tensor.neg_
numel = Tensor.numel
reciprocal_ = Tensor.reciprocal_
relu_ = Tensor.relu_
round_ = Tensor.round_
rsqrt_ = Tensor.rsqrt_
sigmoid_ = Tensor.sigmoid_
sin_ = Tensor.sin_
sinh_ = Tensor.sinh_
sqrt_ = Tensor.sqrt_
square_ = Tensor.square_
tan_ = Tensor.tan_
tanh_ = Tensor.tanh_
trunc_ = Tensor.trunc_
zero_ = Tensor.zero_
