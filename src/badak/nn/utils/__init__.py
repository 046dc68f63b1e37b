"""Helpers around the training of modules."""

from badak.core.public_api import door as _door
from badak.nn.utils import clip_grad as clip_grad
from badak.nn.utils import convert_parameters as convert_parameters
from badak.nn.utils import parametrizations as parametrizations
from badak.nn.utils import parametrize as parametrize
from badak.nn.utils import prune as prune
from badak.nn.utils import rnn as rnn
from badak.nn.utils.clip_grad import clip_grad_norm as clip_grad_norm
from badak.nn.utils.clip_grad import clip_grad_norm_ as clip_grad_norm_
from badak.nn.utils.clip_grad import clip_grad_value_ as clip_grad_value_
from badak.nn.utils.clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_
from badak.nn.utils.clip_grad import get_total_norm as get_total_norm
from badak.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
from badak.nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters
from badak.nn.utils.fusion import convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format
from badak.nn.utils.fusion import convert_conv3d_weight_memory_format as convert_conv3d_weight_memory_format
from badak.nn.utils.fusion import fuse_conv_bn_eval as fuse_conv_bn_eval
from badak.nn.utils.fusion import fuse_conv_bn_weights as fuse_conv_bn_weights
from badak.nn.utils.fusion import fuse_linear_bn_eval as fuse_linear_bn_eval
from badak.nn.utils.fusion import fuse_linear_bn_weights as fuse_linear_bn_weights
from badak.nn.utils.fusion import skip_init as skip_init
from badak.nn.utils.spectral_norm import remove_spectral_norm as remove_spectral_norm
from badak.nn.utils.spectral_norm import spectral_norm as spectral_norm
from badak.nn.utils.weight_norm import remove_weight_norm as remove_weight_norm
from badak.nn.utils.weight_norm import weight_norm as weight_norm

__getattr__, __dir__ = _door(__name__)
