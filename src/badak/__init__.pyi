# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from typing import Any

from badak import autograd as autograd
from badak import kernels as kernels
from badak import nn as nn
from badak import optim as optim
from badak.compat.torch import operators as _ops_
ops = _ops_
from badak.compat.torch import utils as utils
from badak.core import errors as errors
from badak.io import serialization as serialization
from badak.tensor import fft as fft
from badak.tensor import linalg as linalg
from badak.tensor import random as random
from badak.tensor import returns as _return_types_
return_types = _return_types_
from badak.tensor import sparse as sparse
from badak.tensor import special as special
from badak.distributed.futures import Future as Future
from badak.compat.torch.core import SymBool as SymBool
from badak.compat.torch.core import SymFloat as SymFloat
from badak.compat.torch.core import SymInt as SymInt
from badak.compat.torch.core import Tag as Tag
from badak.compat.torch import _jit_internal as _jit_internal
from badak.compat.torch import _utils as _utils
from badak.compat.torch import amp as amp
from badak.compat.torch import backends as backends
from badak.compat.torch import compiler as compiler
from badak.compat.torch import cuda as cuda
from badak.compat.torch import export as export
from badak.compat.torch import func as func
from badak.compat.torch import functional as functional
from badak.compat.torch import fx as fx
from badak.compat.torch import hub as hub
from badak.compat.torch import jit as jit
from badak.compat.torch import masked as masked
from badak.compat.torch import multiprocessing as multiprocessing
from badak.compat.torch import onnx as onnx
from badak.compat.torch import quasirandom as quasirandom
from badak.compat.torch import overrides as overrides
from badak.compat.torch import profiler as profiler
from badak.compat.torch import testing as testing
from badak.compat.torch import types as types
from badak.compat.torch import version as version
from badak.compat.torch.library import _library as _library
from badak.compat.torch.devices import accelerator as accelerator
from badak.compat.torch.devices import cpu as cpu
from badak.compat.torch.devices import mps as mps
from badak.compat.torch.devices import xpu as xpu
from badak.distributed import futures as futures
from badak.compat.torch.fake_quantize import fake_quantize_per_channel_affine as fake_quantize_per_channel_affine
from badak.compat.torch.fake_quantize import fake_quantize_per_tensor_affine as fake_quantize_per_tensor_affine
from badak.tensor import nested as nested
from badak.tensor import storage as storage
from badak.tensor import signal as signal
from badak.compat.torch.control import cond as cond
from badak.compat.torch.func import vmap as vmap
from badak.compat.torch.private import _add_relu as _add_relu
from badak.compat.torch.private import _addmm_activation as _addmm_activation
from badak.compat.torch.private import _chunk_cat as _chunk_cat
from badak.compat.torch.private import _masked_softmax as _masked_softmax
from badak.compat.torch.private import _unsafe_index as _unsafe_index
from badak.compat.torch.private import _unsafe_index_put as _unsafe_index_put
from badak.compat.torch.private import _unsafe_masked_index as _unsafe_masked_index
from badak.compat.torch.private import _unsafe_masked_index_put_accumulate as _unsafe_masked_index_put_accumulate
from badak.compat.torch import core as __C_
_C = __C_
from badak.compat.torch.jit import Error as _JITException_
JITException = _JITException_
from badak.compat.torch.compiler import disable as __disable_dynamo_
_disable_dynamo = __disable_dynamo_
from badak.compat.torch import _vf as __VF_
_VF = __VF_
from badak.compat.torch import library as __custom_ops_
_custom_ops = __custom_ops_
from badak.compat.torch import library as library
from badak.compat.torch import dynamo as __dynamo_
_dynamo = __dynamo_
from badak.compat.torch import dynamo as __functorch_
_functorch = __functorch_
from badak.compat.torch import dynamo as __inductor_
_inductor = __inductor_
from badak.compat.torch import dynamo as __logging_
_logging = __logging_
from badak.compat.torch import dispatch as __guards_
_guards = __guards_
from badak.compat.torch import dispatch as __subclasses_
_subclasses = __subclasses_
from badak.compat.torch import dispatch as __ops_
_ops = __ops_
from badak.compat.torch import vmap as __vmap_internals_
_vmap_internals = __vmap_internals_
from badak import distributed as distributed
from badak import distributions as distributions
from badak.tensor.scatter import segment_reduce as __segment_reduce_
_segment_reduce = __segment_reduce_
from badak.tensor import tensor as __tensor_
_tensor = __tensor_
from badak.core.public_api import version as _torch_version_
torch_version = _torch_version_
from badak.compat.torch import build_config as ___config___
__config__ = ___config___
from badak.compat.torch import swapping as ___future___
__future__ = ___future___
__version__: str
newaxis: None
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from badak.tensor.arithmetic import add as add
from badak.tensor.arithmetic import addcdiv as addcdiv
from badak.tensor.arithmetic import addcmul as addcmul
from badak.tensor.arithmetic import div as div
from badak.tensor.arithmetic import divide as divide
from badak.tensor.arithmetic import float_power as float_power
from badak.tensor.arithmetic import floor_divide as floor_divide
from badak.tensor.arithmetic import fmod as fmod
from badak.tensor.arithmetic import lerp as lerp
from badak.tensor.arithmetic import mul as mul
from badak.tensor.arithmetic import multiply as multiply
from badak.tensor.arithmetic import neg as neg
from badak.tensor.arithmetic import negative as negative
from badak.tensor.arithmetic import positive as positive
from badak.tensor.arithmetic import pow as pow
from badak.tensor.arithmetic import remainder as remainder
from badak.tensor.arithmetic import sub as sub
from badak.tensor.arithmetic import subtract as subtract
from badak.tensor.arithmetic import true_divide as true_divide
from badak.tensor.arithmetic import rsub as rsub
from badak.tensor.blocks import corrcoef as corrcoef
from badak.tensor.blocks import cov as cov
from badak.tensor.blocks import dsplit as dsplit
from badak.tensor.blocks import hsplit as hsplit
from badak.tensor.blocks import renorm as renorm
from badak.tensor.blocks import rot90 as rot90
from badak.tensor.blocks import vsplit as vsplit
from badak.tensor.blocks import block_diag as block_diag
from badak.tensor.blocks import unravel_index as unravel_index
from badak.tensor.compare import allclose as allclose
from badak.tensor.compare import bitwise_and as bitwise_and
from badak.tensor.compare import bitwise_left_shift as bitwise_left_shift
from badak.tensor.compare import bitwise_not as bitwise_not
from badak.tensor.compare import bitwise_or as bitwise_or
from badak.tensor.compare import bitwise_right_shift as bitwise_right_shift
from badak.tensor.compare import bitwise_xor as bitwise_xor
from badak.tensor.compare import eq as eq
from badak.tensor.compare import equal as equal
from badak.tensor.compare import ge as ge
from badak.tensor.compare import greater as greater
from badak.tensor.compare import greater_equal as greater_equal
from badak.tensor.compare import gt as gt
from badak.tensor.compare import is_nonzero as is_nonzero
from badak.tensor.compare import is_same_size as is_same_size
from badak.tensor.compare import isclose as isclose
from badak.tensor.compare import isfinite as isfinite
from badak.tensor.compare import isinf as isinf
from badak.tensor.compare import isnan as isnan
from badak.tensor.compare import isneginf as isneginf
from badak.tensor.compare import isposinf as isposinf
from badak.tensor.compare import le as le
from badak.tensor.compare import less as less
from badak.tensor.compare import less_equal as less_equal
from badak.tensor.compare import logical_and as logical_and
from badak.tensor.compare import logical_not as logical_not
from badak.tensor.compare import logical_or as logical_or
from badak.tensor.compare import logical_xor as logical_xor
from badak.tensor.compare import lt as lt
from badak.tensor.compare import ne as ne
from badak.tensor.compare import not_equal as not_equal
from badak.tensor.compare import isin as isin
from badak.tensor.complex import adjoint as adjoint
from badak.tensor.complex import conj as conj
from badak.tensor.complex import conj_physical as conj_physical
from badak.tensor.complex import resolve_conj as resolve_conj
from badak.tensor.complex import resolve_neg as resolve_neg
from badak.tensor.complex import is_conj as is_conj
from badak.tensor.complex import is_neg as is_neg
from badak.tensor.complex import _neg_view as _neg_view
from badak.tensor.complex import angle as angle
from badak.tensor.complex import complex as complex
from badak.tensor.complex import imag as imag
from badak.tensor.complex import polar as polar
from badak.tensor.complex import real as real
from badak.tensor.complex import view_as_complex as view_as_complex
from badak.tensor.complex import view_as_real as view_as_real
from badak.tensor.convert import clone as clone
from badak.tensor.convert import dequantize as dequantize
from badak.tensor.copies import narrow_copy as narrow_copy
from badak.tensor.copies import unsafe_chunk as unsafe_chunk
from badak.tensor.copies import unsafe_split as unsafe_split
from badak.tensor.copies import unsafe_split_with_sizes as unsafe_split_with_sizes
from badak.tensor.copies import alias_copy as alias_copy
from badak.tensor.copies import as_strided_copy as as_strided_copy
from badak.tensor.copies import constant_pad_nd as constant_pad_nd
from badak.tensor.copies import detach_copy as detach_copy
from badak.tensor.copies import diagonal_copy as diagonal_copy
from badak.tensor.copies import expand_copy as expand_copy
from badak.tensor.copies import fill as fill
from badak.tensor.copies import permute_copy as permute_copy
from badak.tensor.copies import resize_as_ as resize_as_
from badak.tensor.copies import select_copy as select_copy
from badak.tensor.copies import slice_copy as slice_copy
from badak.tensor.copies import split_copy as split_copy
from badak.tensor.copies import split_with_sizes_copy as split_with_sizes_copy
from badak.tensor.copies import squeeze_copy as squeeze_copy
from badak.tensor.copies import t_copy as t_copy
from badak.tensor.copies import transpose_copy as transpose_copy
from badak.tensor.copies import unbind_copy as unbind_copy
from badak.tensor.copies import unfold_copy as unfold_copy
from badak.tensor.copies import unsqueeze_copy as unsqueeze_copy
from badak.tensor.copies import view_as_complex_copy as view_as_complex_copy
from badak.tensor.copies import view_as_real_copy as view_as_real_copy
from badak.tensor.copies import view_copy as view_copy
from badak.tensor.create import as_tensor as as_tensor
from badak.tensor.create import asarray as asarray
from badak.tensor.create import empty as empty
from badak.tensor.create import empty_like as empty_like
from badak.tensor.create import empty_permuted as empty_permuted
from badak.tensor.create import empty_strided as empty_strided
from badak.tensor.create import eye as eye
from badak.tensor.create import from_file as from_file
from badak.tensor.create import from_numpy as from_numpy
from badak.tensor.create import frombuffer as frombuffer
from badak.tensor.create import full as full
from badak.tensor.create import full_like as full_like
from badak.tensor.create import is_tensor as is_tensor
from badak.tensor.create import ones as ones
from badak.tensor.create import ones_like as ones_like
from badak.tensor.create import scalar_tensor as scalar_tensor
from badak.tensor.create import tensor as tensor
from badak.tensor.create import tril_indices as tril_indices
from badak.tensor.create import triu_indices as triu_indices
from badak.tensor.create import zeros as zeros
from badak.tensor.create import zeros_like as zeros_like
from badak.tensor.dlpack import from_dlpack as from_dlpack
from badak.tensor.dtypes import bfloat16 as bfloat16
from badak.tensor.dtypes import bool_ as _bool_
bool = _bool_
from badak.tensor.dtypes import bool_ as bool_
from badak.tensor.dtypes import complex128 as _cdouble_
cdouble = _cdouble_
from badak.tensor.dtypes import complex64 as _cfloat_
cfloat = _cfloat_
from badak.tensor.dtypes import complex128 as complex128
from badak.tensor.dtypes import complex64 as complex64
from badak.tensor.dtypes import device as device
from badak.tensor.dtypes import float64 as _double_
double = _double_
from badak.tensor.dtypes import dtype as dtype
from badak.tensor.dtypes import finfo as finfo
from badak.tensor.dtypes import float32 as _float_
float = _float_
from badak.tensor.dtypes import float16 as float16
from badak.tensor.dtypes import float32 as float32
from badak.tensor.dtypes import float64 as float64
from badak.tensor.dtypes import get_default_dtype as get_default_dtype
from badak.tensor.dtypes import float16 as _half_
half = _half_
from badak.tensor.dtypes import float8_e4m3fn as float8_e4m3fn
from badak.tensor.dtypes import float8_e4m3fnuz as float8_e4m3fnuz
from badak.tensor.dtypes import float8_e5m2 as float8_e5m2
from badak.tensor.dtypes import float8_e5m2fnuz as float8_e5m2fnuz
from badak.tensor.dtypes import float8_e8m0fnu as float8_e8m0fnu
from badak.tensor.dtypes import iinfo as iinfo
from badak.tensor.dtypes import int32 as _int_
int = _int_
from badak.tensor.dtypes import int16 as int16
from badak.tensor.dtypes import int32 as int32
from badak.tensor.dtypes import int64 as int64
from badak.tensor.dtypes import int8 as int8
from badak.tensor.dtypes import int64 as _long_
long = _long_
from badak.tensor.dtypes import set_default_dtype as set_default_dtype
from badak.tensor.dtypes import int16 as _short_
short = _short_
from badak.tensor.dtypes import Size as Size
from badak.tensor.dtypes import uint16 as uint16
from badak.tensor.dtypes import uint32 as uint32
from badak.tensor.dtypes import uint64 as uint64
from badak.tensor.dtypes import uint8 as uint8
from badak.tensor.dtypes import bits16 as bits16
from badak.tensor.dtypes import bits1x8 as bits1x8
from badak.tensor.dtypes import bits2x4 as bits2x4
from badak.tensor.dtypes import bits4x2 as bits4x2
from badak.tensor.dtypes import bits8 as bits8
from badak.tensor.dtypes import complex32 as complex32
from badak.tensor.dtypes import complex32 as _chalf_
chalf = _chalf_
from badak.tensor.dtypes import float4_e2m1fn_x2 as float4_e2m1fn_x2
from badak.tensor.dtypes import int1 as int1
from badak.tensor.dtypes import int2 as int2
from badak.tensor.dtypes import int3 as int3
from badak.tensor.dtypes import int4 as int4
from badak.tensor.dtypes import int5 as int5
from badak.tensor.dtypes import int6 as int6
from badak.tensor.dtypes import int7 as int7
from badak.tensor.dtypes import qint32 as qint32
from badak.tensor.dtypes import qint8 as qint8
from badak.tensor.dtypes import quint2x4 as quint2x4
from badak.tensor.dtypes import quint4x2 as quint4x2
from badak.tensor.dtypes import quint8 as quint8
from badak.tensor.dtypes import uint1 as uint1
from badak.tensor.dtypes import uint2 as uint2
from badak.tensor.dtypes import uint3 as uint3
from badak.tensor.dtypes import uint4 as uint4
from badak.tensor.dtypes import uint5 as uint5
from badak.tensor.dtypes import uint6 as uint6
from badak.tensor.dtypes import uint7 as uint7
from badak.tensor.random_ops import multinomial as multinomial
from badak.tensor.random_ops import binomial as binomial
from badak.tensor.random_ops import poisson as poisson
from badak.tensor.random_ops import gamma as __standard_gamma_
_standard_gamma = __standard_gamma_
from badak.tensor.random_ops import gamma_grad as __standard_gamma_grad_
_standard_gamma_grad = __standard_gamma_grad_
from badak.tensor.random_ops import dirichlet as __sample_dirichlet_
_sample_dirichlet = __sample_dirichlet_
from badak.tensor.random_ops import dirichlet_grad as __dirichlet_grad_
_dirichlet_grad = __dirichlet_grad_
from badak.tensor.elementwise import clamp as clamp
from badak.tensor.elementwise import clamp_max as clamp_max
from badak.tensor.elementwise import clamp_min as clamp_min
from badak.tensor.elementwise import clip as clip
from badak.tensor.elementwise import hardshrink as hardshrink
from badak.tensor.elementwise import log_softmax as log_softmax
from badak.tensor.elementwise import logaddexp as logaddexp
from badak.tensor.elementwise import masked_fill as masked_fill
from badak.tensor.elementwise import maximum as maximum
from badak.tensor.elementwise import minimum as minimum
from badak.tensor.elementwise import nan_to_num as nan_to_num
from badak.tensor.elementwise import prelu as prelu
from badak.tensor.elementwise import relu as relu
from badak.tensor.elementwise import round as round
from badak.tensor.elementwise import sign as sign
from badak.tensor.elementwise import softmax as softmax
from badak.tensor.elementwise import where as where
from badak.tensor.grids import arange as arange
from badak.tensor.grids import inclusive_range as _range_
range = _range_
from badak.tensor.grids import cartesian_prod as cartesian_prod
from badak.tensor.grids import combinations as combinations
from badak.tensor.grids import linspace as linspace
from badak.tensor.grids import logspace as logspace
from badak.tensor.grids import meshgrid as meshgrid
from badak.tensor.histograms import bincount as bincount
from badak.tensor.histograms import histc as histc
from badak.tensor.histograms import histogram as histogram
from badak.tensor.histograms import histogramdd as histogramdd
from badak.tensor.index import argwhere as argwhere
from badak.tensor.index import gather as gather
from badak.tensor.index import index_add as index_add
from badak.tensor.index import index_copy as index_copy
from badak.tensor.index import index_fill as index_fill
from badak.tensor.index import index_put as index_put
from badak.tensor.index import index_select as index_select
from badak.tensor.index import masked_scatter as masked_scatter
from badak.tensor.index import masked_select as masked_select
from badak.tensor.index import narrow as narrow
from badak.tensor.index import nonzero as nonzero
from badak.tensor.index import nonzero_static as nonzero_static
from badak.tensor.index import scatter as scatter
from badak.tensor.index import scatter_add as scatter_add
from badak.tensor.index import select as select
from badak.tensor.index import take as take
from badak.tensor.index import take_along_dim as take_along_dim
from badak.tensor.inplace_ops import fill_ as fill_
from badak.tensor.inplace_ops import zero_ as zero_
from badak.tensor.concat import cat as cat
from badak.tensor.concat import column_stack as column_stack
from badak.tensor.concat import concat as concat
from badak.tensor.concat import concatenate as concatenate
from badak.tensor.concat import dstack as dstack
from badak.tensor.concat import hstack as hstack
from badak.tensor.concat import row_stack as row_stack
from badak.tensor.concat import stack as stack
from badak.tensor.concat import vstack as vstack
from badak.tensor.layouts import channels_last as channels_last
from badak.tensor.layouts import channels_last_3d as channels_last_3d
from badak.tensor.layouts import contiguous_format as contiguous_format
from badak.tensor.layouts import jagged as jagged
from badak.tensor.layouts import layout as layout
from badak.tensor.layouts import memory_format as memory_format
from badak.tensor.layouts import preserve_format as preserve_format
from badak.tensor.layouts import sparse_coo as sparse_coo
from badak.tensor.layouts import sparse_csc as sparse_csc
from badak.tensor.layouts import sparse_csr as sparse_csr
from badak.tensor.layouts import strided as strided
from badak.tensor.legacy import BFloat16Storage as BFloat16Storage
from badak.tensor.legacy import BFloat16Tensor as BFloat16Tensor
from badak.tensor.legacy import BoolStorage as BoolStorage
from badak.tensor.legacy import BoolTensor as BoolTensor
from badak.tensor.legacy import ByteStorage as ByteStorage
from badak.tensor.legacy import ByteTensor as ByteTensor
from badak.tensor.legacy import CharStorage as CharStorage
from badak.tensor.legacy import CharTensor as CharTensor
from badak.tensor.legacy import ComplexDoubleStorage as ComplexDoubleStorage
from badak.tensor.legacy import ComplexFloatStorage as ComplexFloatStorage
from badak.tensor.legacy import DoubleStorage as DoubleStorage
from badak.tensor.legacy import DoubleTensor as DoubleTensor
from badak.tensor.legacy import FloatStorage as FloatStorage
from badak.tensor.legacy import FloatTensor as FloatTensor
from badak.tensor.legacy import HalfStorage as HalfStorage
from badak.tensor.legacy import HalfTensor as HalfTensor
from badak.tensor.legacy import IntStorage as IntStorage
from badak.tensor.legacy import IntTensor as IntTensor
from badak.tensor.legacy import LongStorage as LongStorage
from badak.tensor.legacy import LongTensor as LongTensor
from badak.tensor.legacy import set_default_tensor_type as set_default_tensor_type
from badak.tensor.legacy import ShortStorage as ShortStorage
from badak.tensor.legacy import ShortTensor as ShortTensor
from badak.tensor.legacy import Storage as Storage
from badak.tensor.linalg.einsum import einsum as einsum
from badak.tensor.linalg.einsum import tensordot as tensordot
from badak.tensor.linalg.factors import cholesky_inverse as cholesky_inverse
from badak.tensor.linalg.factors import cholesky_solve as cholesky_solve
from badak.tensor.linalg.factors import older_lu_solve as _lu_solve_
lu_solve = _lu_solve_
from badak.tensor.linalg.factors import matrix_exp as matrix_exp
from badak.tensor.linalg.factors import triangular_solve as triangular_solve
from badak.tensor.linalg.factors import older_lu as _lu_
lu = _lu_
from badak.tensor.linalg.factors import lu_unpack as lu_unpack
from badak.tensor.linalg.reflections import geqrf as geqrf
from badak.tensor.linalg.reflections import ormqr as ormqr
from badak.tensor.linalg.reflections import orgqr as orgqr
from badak.tensor.linalg.shaped import pca_lowrank as pca_lowrank
from badak.tensor.linalg.shaped import svd_lowrank as svd_lowrank
from badak.tensor.linalg.shaped import older_vander as _vander_
vander = _vander_
from badak.tensor.linalg.norms import cdist as cdist
from badak.tensor.linalg.norms import frobenius_norm as frobenius_norm
from badak.tensor.linalg.norms import norm_except_dim as norm_except_dim
from badak.tensor.linalg.norms import nuclear_norm as nuclear_norm
from badak.tensor.linalg.older import cholesky as cholesky
from badak.tensor.linalg.older import cross as cross
from badak.tensor.linalg.older import det as det
from badak.tensor.linalg.older import inverse as inverse
from badak.tensor.linalg.older import logdet as logdet
from badak.tensor.linalg.older import matrix_power as matrix_power
from badak.tensor.linalg.older import pinverse as pinverse
from badak.tensor.linalg.older import qr as qr
from badak.tensor.linalg.older import slogdet as slogdet
from badak.tensor.linalg.older import svd as svd
from badak.tensor.linalg.products import addbmm as addbmm
from badak.tensor.linalg.products import addmm as addmm
from badak.tensor.linalg.products import addmv as addmv
from badak.tensor.linalg.products import addr as addr
from badak.tensor.linalg.products import baddbmm as baddbmm
from badak.tensor.linalg.products import bmm as bmm
from badak.tensor.linalg.products import dot as dot
from badak.tensor.linalg.products import ger as ger
from badak.tensor.linalg.products import inner as inner
from badak.tensor.linalg.products import kron as kron
from badak.tensor.linalg.products import matmul as matmul
from badak.tensor.linalg.products import mm as mm
from badak.tensor.linalg.products import mv as mv
from badak.tensor.linalg.products import outer as outer
from badak.tensor.linalg.products import trace as trace
from badak.tensor.linalg.products import vdot as vdot
from badak.tensor.linalg.products import chain_matmul as chain_matmul
from badak.tensor.linalg.products import _int_mm as _int_mm
from badak.tensor.numbers import copysign as copysign
from badak.tensor.numbers import deg2rad as deg2rad
from badak.tensor.numbers import fmax as fmax
from badak.tensor.numbers import fmin as fmin
from badak.tensor.numbers import frexp as frexp
from badak.tensor.numbers import gcd as gcd
from badak.tensor.numbers import heaviside as heaviside
from badak.tensor.numbers import isreal as isreal
from badak.tensor.numbers import lcm as lcm
from badak.tensor.numbers import ldexp as ldexp
from badak.tensor.numbers import logaddexp2 as logaddexp2
from badak.tensor.numbers import nextafter as nextafter
from badak.tensor.numbers import rad2deg as rad2deg
from badak.tensor.numbers import signbit as signbit
from badak.tensor.pad import pad as pad
from badak.tensor.printing import set_printoptions as set_printoptions
from badak.tensor.promote import can_cast as can_cast
from badak.tensor.promote import promote_types as promote_types
from badak.tensor.promote import result_type as result_type
from badak.tensor.random import bernoulli as bernoulli
from badak.tensor.random import default_generator as default_generator
from badak.tensor.random import fork_rng as fork_rng
from badak.tensor.random import Generator as Generator
from badak.tensor.random import get_rng_state as get_rng_state
from badak.tensor.random import initial_seed as initial_seed
from badak.tensor.random import manual_seed as manual_seed
from badak.tensor.random import normal as normal
from badak.tensor.random import rand as rand
from badak.tensor.random import rand_like as rand_like
from badak.tensor.random import randint as randint
from badak.tensor.random import randint_like as randint_like
from badak.tensor.random import randn as randn
from badak.tensor.random import randn_like as randn_like
from badak.tensor.random import randperm as randperm
from badak.tensor.random import seed as seed
from badak.tensor.random import set_rng_state as set_rng_state
from badak.tensor.rearrange import flip as flip
from badak.tensor.rearrange import fliplr as fliplr
from badak.tensor.rearrange import flipud as flipud
from badak.tensor.rearrange import repeat_interleave as repeat_interleave
from badak.tensor.rearrange import roll as roll
from badak.tensor.rearrange import tile as tile
from badak.tensor.reduce import all as all
from badak.tensor.reduce import aminmax as aminmax
from badak.tensor.reduce import any as any
from badak.tensor.reduce import count_nonzero as count_nonzero
from badak.tensor.reduce import cumprod as cumprod
from badak.tensor.reduce import cumsum as cumsum
from badak.tensor.reduce import diff as diff
from badak.tensor.reduce import dist as dist
from badak.tensor.reduce import hash_tensor as hash_tensor
from badak.tensor.reduce import logsumexp as logsumexp
from badak.tensor.reduce import max as max
from badak.tensor.reduce import min as min
from badak.tensor.reduce import nanmean as nanmean
from badak.tensor.reduce import nansum as nansum
from badak.tensor.reduce import norm as norm
from badak.tensor.reduce import std as std
from badak.tensor.reduce import var as var
from badak.tensor.reduce import std_mean as std_mean
from badak.tensor.reduce import var_mean as var_mean
from badak.tensor.running import cummax as cummax
from badak.tensor.running import cummin as cummin
from badak.tensor.running import logcumsumexp as logcumsumexp
from badak.tensor.running import cumulative_trapezoid as cumulative_trapezoid
from badak.tensor.running import gradient as gradient
from badak.tensor.running import trapezoid as trapezoid
from badak.tensor.running import trapz as trapz
from badak.tensor.sparse.create import sparse_coo_tensor as sparse_coo_tensor
from badak.tensor.sparse.create import sparse_csr_tensor as sparse_csr_tensor
from badak.tensor.sparse.create import sparse_csc_tensor as sparse_csc_tensor
from badak.tensor.sparse.create import _convert_indices_from_coo_to_csr as _convert_indices_from_coo_to_csr
from badak.tensor.sparse.create import _convert_indices_from_csr_to_coo as _convert_indices_from_csr_to_coo
from badak.tensor.sparse.products import mm as _dsmm_
dsmm = _dsmm_
from badak.tensor.sparse.products import mm as _spmm_
spmm = _spmm_
from badak.tensor.scatter import as_strided as as_strided
from badak.tensor.scatter import as_strided_scatter as as_strided_scatter
from badak.tensor.scatter import diagonal_scatter as diagonal_scatter
from badak.tensor.scatter import index_reduce as index_reduce
from badak.tensor.scatter import put as put
from badak.tensor.scatter import scatter_reduce as scatter_reduce
from badak.tensor.scatter import select_scatter as select_scatter
from badak.tensor.scatter import slice_scatter as slice_scatter
from badak.tensor.scatter import segment_reduce as segment_reduce
from badak.tensor.shape import broadcast_to as broadcast_to
from badak.tensor.shape import chunk as chunk
from badak.tensor.shape import diagonal as diagonal
from badak.tensor.shape import flatten as flatten
from badak.tensor.shape import moveaxis as moveaxis
from badak.tensor.shape import movedim as movedim
from badak.tensor.shape import permute as permute
from badak.tensor.shape import ravel as ravel
from badak.tensor.shape import reshape as reshape
from badak.tensor.shape import split as split
from badak.tensor.shape import split_with_sizes as split_with_sizes
from badak.tensor.shape import squeeze as squeeze
from badak.tensor.shape import swapaxes as swapaxes
from badak.tensor.shape import swapdims as swapdims
from badak.tensor.shape import t as t
from badak.tensor.shape import tensor_split as tensor_split
from badak.tensor.shape import transpose as transpose
from badak.tensor.shape import unbind as unbind
from badak.tensor.shape import unflatten as unflatten
from badak.tensor.shape import unsqueeze as unsqueeze
from badak.tensor.shape import atleast_1d as atleast_1d
from badak.tensor.shape import atleast_2d as atleast_2d
from badak.tensor.shape import atleast_3d as atleast_3d
from badak.tensor.shape import broadcast_shapes as broadcast_shapes
from badak.tensor.shape import broadcast_tensors as broadcast_tensors
from badak.tensor.sort import argmax as argmax
from badak.tensor.sort import argmin as argmin
from badak.tensor.sort import argsort as argsort
from badak.tensor.sort import kthvalue as kthvalue
from badak.tensor.sort import median as median
from badak.tensor.sort import mode as mode
from badak.tensor.sort import msort as msort
from badak.tensor.sort import nanmedian as nanmedian
from badak.tensor.sort import nanquantile as nanquantile
from badak.tensor.sort import quantile as quantile
from badak.tensor.sort import sort as sort
from badak.tensor.sort import topk as topk
from badak.tensor.sort import unique as unique
from badak.tensor.sort import unique_consecutive as unique_consecutive
from badak.tensor.sort import bucketize as bucketize
from badak.tensor.sort import searchsorted as searchsorted
from badak.tensor.storage import TypedStorage as TypedStorage
from badak.tensor.storage import UntypedStorage as UntypedStorage
from badak.tensor.signal import istft as istft
from badak.tensor.signal import stft as stft
from badak.tensor.signal import bartlett_window as bartlett_window
from badak.tensor.signal import blackman_window as blackman_window
from badak.tensor.signal import hamming_window as hamming_window
from badak.tensor.signal import hann_window as hann_window
from badak.tensor.signal import kaiser_window as kaiser_window
from badak.tensor.special import digamma as digamma
from badak.tensor.special import logit as logit
from badak.tensor.special import mvlgamma as mvlgamma
from badak.tensor.special import polygamma as polygamma
from badak.tensor.tensor import Tensor as Tensor
def detach(self) -> Tensor:
    """The same memory without the history; an in-place change of one is seen by, and counted for, both."""
def detach_(self) -> Any:
    """Forget the history, in place."""
def get_device(self) -> _int:
    """The number of the GPU it is on: -1, it is on the CPU."""
def is_complex(self) -> _bool:
    """Whether the dtype is complex."""
def is_floating_point(self) -> _bool:
    """Whether the dtype is a float of any size."""
def is_inference(self) -> _bool:
    """Whether it was made under inference_mode()."""
def is_signed(self) -> _bool:
    """Whether the dtype has negative numbers."""
def numel(self) -> _int:
    """How many values there are."""
from badak.tensor.triangular import diag as diag
from badak.tensor.triangular import diag_embed as diag_embed
from badak.tensor.triangular import diagflat as diagflat
from badak.tensor.triangular import tril as tril
from badak.tensor.triangular import triu as triu
from badak.inspect.audit import audit as audit
from badak.inspect.visualize import look as look
from badak.inspect.doctor import doctor as doctor
from badak.kernels import info as info
from badak.autograd.use import use as use
from badak.autograd import enable_grad as enable_grad
from badak.autograd import inference_mode as inference_mode
from badak.autograd import is_grad_enabled as is_grad_enabled
from badak.autograd import is_inference_mode_enabled as is_inference_mode_enabled
from badak.autograd import no_grad as no_grad
from badak.autograd import set_grad_enabled as set_grad_enabled
from badak.io import load as load
from badak.io import save as save
from badak.nn.quantization import quantize as quantize
from badak.nn.mask import Mask as Mask
from badak.nn.functional import adaptive_avg_pool1d as adaptive_avg_pool1d
from badak.nn.functional import avg_pool1d as avg_pool1d
from badak.nn.functional import bilinear as bilinear
from badak.nn.functional import celu as celu
from badak.nn.functional import celu_ as celu_
from badak.nn.functional import channel_shuffle as channel_shuffle
from badak.nn.functional import conv1d as conv1d
from badak.nn.functional import conv2d as conv2d
from badak.nn.functional import conv3d as conv3d
from badak.nn.functional import conv_tbc as conv_tbc
from badak.nn.functional import conv_transpose1d as conv_transpose1d
from badak.nn.functional import conv_transpose2d as conv_transpose2d
from badak.nn.functional import conv_transpose3d as conv_transpose3d
from badak.nn.functional import cosine_similarity as cosine_similarity
from badak.nn.functional import max_pool1d as max_pool1d
from badak.nn.functional import max_pool2d as max_pool2d
from badak.nn.functional import max_pool3d as max_pool3d
from badak.nn.functional import pairwise_distance as pairwise_distance
from badak.nn.functional import pdist as pdist
from badak.nn.functional import pixel_shuffle as pixel_shuffle
from badak.nn.functional import pixel_unshuffle as pixel_unshuffle
from badak.nn.functional import rms_norm as rms_norm
from badak.nn.functional import rrelu_ as rrelu_
from badak.nn.functional import selu as selu
from badak.nn.functional import selu_ as selu_
from badak.nn.functional import threshold as threshold
from badak.nn.functional import threshold_ as threshold_
from badak.nn.functional.conv import convolution as convolution
from badak.nn.functional.grid_sample import affine_grid_generator as affine_grid_generator
from badak.nn.functional.grid_sample import grid_sampler as grid_sampler
from badak.nn.functional.grid_sample import grid_sampler_2d as grid_sampler_2d
from badak.nn.functional.grid_sample import grid_sampler_3d as grid_sampler_3d
from badak.nn.functional.native import adaptive_max_pool1d as adaptive_max_pool1d
from badak.nn.functional.native import alpha_dropout as alpha_dropout
from badak.nn.functional.native import alpha_dropout_ as alpha_dropout_
from badak.nn.functional.native import batch_norm as batch_norm
from badak.nn.functional.native import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from badak.nn.functional.native import cosine_embedding_loss as cosine_embedding_loss
from badak.nn.functional.native import ctc_loss as ctc_loss
from badak.nn.functional.native import dropout as dropout
from badak.nn.functional.native import dropout_ as dropout_
from badak.nn.functional.native import embedding as embedding
from badak.nn.functional.native import feature_alpha_dropout as feature_alpha_dropout
from badak.nn.functional.native import feature_alpha_dropout_ as feature_alpha_dropout_
from badak.nn.functional.native import group_norm as group_norm
from badak.nn.functional.native import hinge_embedding_loss as hinge_embedding_loss
from badak.nn.functional.native import instance_norm as instance_norm
from badak.nn.functional.native import kl_div as kl_div
from badak.nn.functional.native import layer_norm as layer_norm
from badak.nn.functional.native import margin_ranking_loss as margin_ranking_loss
from badak.nn.functional.native import max_pool1d_with_indices as max_pool1d_with_indices
from badak.nn.functional.native import native_batch_norm as native_batch_norm
from badak.nn.functional.native import poisson_nll_loss as poisson_nll_loss
from badak.nn.functional.native import rrelu as rrelu
from badak.nn.functional.native import triplet_margin_loss as triplet_margin_loss
from badak.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from badak.inspect.introspection.draw import draw as draw
from badak.inspect.introspection.sources import source as source
from badak.inspect.introspection.summary import summary as summary
from badak.compat.torch.checks import _assert as _assert
from badak.compat.torch.checks import _assert_async as _assert_async
from badak.compat.torch.checks import _check as _check
from badak.compat.torch.checks import _check_index as _check_index
from badak.compat.torch.checks import _check_is_size as _check_is_size
from badak.compat.torch.checks import _check_not_implemented as _check_not_implemented
from badak.compat.torch.checks import _check_tensor_all as _check_tensor_all
from badak.compat.torch.checks import _check_tensor_all_with as _check_tensor_all_with
from badak.compat.torch.checks import _check_type as _check_type
from badak.compat.torch.checks import _check_value as _check_value
from badak.compat.torch.checks import _check_with as _check_with
from badak.compat.torch.checks import is_storage as is_storage
from badak.compat.torch.checks import sym_float as sym_float
from badak.compat.torch.checks import sym_int as sym_int
from badak.compat.torch.checks import sym_ite as sym_ite
from badak.compat.torch.checks import sym_max as sym_max
from badak.compat.torch.checks import sym_min as sym_min
from badak.compat.torch.checks import sym_not as sym_not
from badak.compat.torch.checks import sym_sum as sym_sum
from badak.compat.torch.checks import typename as typename
from badak.compat.torch.amp.grad_scaler import GradScaler as GradScaler
from badak.compat.torch.amp.autocast_mode import autocast_decrement_nesting as autocast_decrement_nesting
from badak.compat.torch.amp.autocast_mode import autocast_increment_nesting as autocast_increment_nesting
from badak.compat.torch.amp.autocast_mode import clear_autocast_cache as clear_autocast_cache
from badak.compat.torch.amp.autocast_mode import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from badak.compat.torch.amp.autocast_mode import get_autocast_gpu_dtype as get_autocast_gpu_dtype
from badak.compat.torch.amp.autocast_mode import is_autocast_cache_enabled as is_autocast_cache_enabled
from badak.compat.torch.amp.autocast_mode import is_autocast_cpu_enabled as is_autocast_cpu_enabled
from badak.compat.torch.amp.autocast_mode import set_autocast_cache_enabled as set_autocast_cache_enabled
from badak.compat.torch.amp.autocast_mode import set_autocast_cpu_dtype as set_autocast_cpu_dtype
from badak.compat.torch.amp.autocast_mode import set_autocast_cpu_enabled as set_autocast_cpu_enabled
from badak.compat.torch.amp.autocast_mode import set_autocast_dtype as set_autocast_dtype
from badak.compat.torch.amp.autocast_mode import set_autocast_enabled as set_autocast_enabled
from badak.compat.torch import autocast as autocast
from badak.compat.torch import get_autocast_dtype as get_autocast_dtype
from badak.compat.torch import is_autocast_enabled as is_autocast_enabled
from badak.compat.torch import compile as compile
from badak.compat.torch import OutOfMemoryError as OutOfMemoryError
from badak.compat.torch import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from badak.compat.torch import get_default_device as get_default_device
from badak.compat.torch import get_deterministic_debug_mode as get_deterministic_debug_mode
from badak.compat.torch import get_device_module as get_device_module
from badak.compat.torch import get_float32_matmul_precision as get_float32_matmul_precision
from badak.compat.torch import get_num_interop_threads as get_num_interop_threads
from badak.compat.torch import get_num_threads as get_num_threads
from badak.compat.torch import is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled
from badak.compat.torch import is_warn_always_enabled as is_warn_always_enabled
from badak.compat.torch import set_default_device as set_default_device
from badak.compat.torch import set_deterministic_debug_mode as set_deterministic_debug_mode
from badak.compat.torch import set_float32_matmul_precision as set_float32_matmul_precision
from badak.compat.torch import set_flush_denormal as set_flush_denormal
from badak.compat.torch import set_num_interop_threads as set_num_interop_threads
from badak.compat.torch import set_num_threads as set_num_threads
from badak.compat.torch import set_warn_always as set_warn_always
from badak.compat.torch import use_deterministic_algorithms as use_deterministic_algorithms
from badak.tensor.pointwise import tanh as tanh
from badak.tensor.pointwise import sigmoid as sigmoid
from badak.tensor.pointwise import exp as exp
from badak.tensor.pointwise import exp2 as exp2
from badak.tensor.pointwise import expm1 as expm1
from badak.tensor.pointwise import log as log
from badak.tensor.pointwise import log1p as log1p
from badak.tensor.pointwise import log2 as log2
from badak.tensor.pointwise import log10 as log10
from badak.tensor.pointwise import sqrt as sqrt
from badak.tensor.pointwise import rsqrt as rsqrt
from badak.tensor.pointwise import square as square
from badak.tensor.pointwise import reciprocal as reciprocal
from badak.tensor.pointwise import erf as erf
from badak.tensor.pointwise import abs as abs
from badak.tensor.pointwise import absolute as absolute
from badak.tensor.pointwise import sgn as sgn
from badak.tensor.pointwise import floor as floor
from badak.tensor.pointwise import ceil as ceil
from badak.tensor.pointwise import trunc as trunc
from badak.tensor.pointwise import fix as fix
from badak.tensor.pointwise import frac as frac
from badak.tensor.pointwise import erfc as erfc
from badak.tensor.pointwise import erfinv as erfinv
from badak.tensor.pointwise import lgamma as lgamma
from badak.tensor.pointwise import xlogy as xlogy
from badak.tensor.pointwise import sinc as sinc
from badak.tensor.pointwise import i0 as i0
from badak.tensor.pointwise import igamma as igamma
from badak.tensor.pointwise import igammac as igammac
from badak.tensor.pointwise import sin as sin
from badak.tensor.pointwise import cos as cos
from badak.tensor.pointwise import tan as tan
from badak.tensor.pointwise import asin as asin
from badak.tensor.pointwise import arcsin as arcsin
from badak.tensor.pointwise import acos as acos
from badak.tensor.pointwise import arccos as arccos
from badak.tensor.pointwise import atan as atan
from badak.tensor.pointwise import arctan as arctan
from badak.tensor.pointwise import sinh as sinh
from badak.tensor.pointwise import cosh as cosh
from badak.tensor.pointwise import asinh as asinh
from badak.tensor.pointwise import arcsinh as arcsinh
from badak.tensor.pointwise import acosh as acosh
from badak.tensor.pointwise import arccosh as arccosh
from badak.tensor.pointwise import atanh as atanh
from badak.tensor.pointwise import arctanh as arctanh
from badak.tensor.pointwise import atan2 as atan2
from badak.tensor.pointwise import arctan2 as arctan2
from badak.tensor.pointwise import hypot as hypot
from badak.tensor.reductions import sum as sum
from badak.tensor.reductions import mean as mean
from badak.tensor.reductions import prod as prod
from badak.tensor.reductions import amax as amax
from badak.tensor.reductions import amin as amin
def neg_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """neg, in place."""
def negative_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """negative, in place."""
def conj_physical_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """conj_physical, in place."""
def clamp_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """clamp, in place."""
def clamp_max_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """clamp_max, in place."""
def clamp_min_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """clamp_min, in place."""
def clip_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """clip, in place."""
def nan_to_num_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """nan_to_num, in place."""
def relu_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """relu, in place."""
def round_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """round, in place."""
def index_put_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """index_put, in place."""
def deg2rad_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """deg2rad, in place."""
def gcd_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """gcd, in place."""
def lcm_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """lcm, in place."""
def ldexp_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """ldexp, in place."""
def rad2deg_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """rad2deg, in place."""
def as_strided_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """as_strided, in place."""
def logit_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """logit, in place."""
def tanh_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """tanh, in place."""
def sigmoid_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """sigmoid, in place."""
def exp_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """exp, in place."""
def exp2_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """exp2, in place."""
def expm1_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """expm1, in place."""
def log_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """log, in place."""
def log1p_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """log1p, in place."""
def log2_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """log2, in place."""
def log10_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """log10, in place."""
def sqrt_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """sqrt, in place."""
def rsqrt_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """rsqrt, in place."""
def square_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """square, in place."""
def reciprocal_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """reciprocal, in place."""
def erf_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """erf, in place."""
def abs_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """abs, in place."""
def floor_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """floor, in place."""
def ceil_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """ceil, in place."""
def trunc_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """trunc, in place."""
def fix_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """fix, in place."""
def frac_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """frac, in place."""
def erfc_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """erfc, in place."""
def xlogy_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """xlogy, in place."""
def sinc_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """sinc, in place."""
def i0_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """i0, in place."""
def sin_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """sin, in place."""
def cos_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """cos, in place."""
def tan_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """tan, in place."""
def asin_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """asin, in place."""
def arcsin_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """arcsin, in place."""
def acos_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """acos, in place."""
def arccos_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """arccos, in place."""
def atan_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """atan, in place."""
def arctan_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """arctan, in place."""
def sinh_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """sinh, in place."""
def cosh_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """cosh, in place."""
def asinh_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """asinh, in place."""
def arcsinh_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """arcsinh, in place."""
def acosh_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """acosh, in place."""
def arccosh_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """arccosh, in place."""
def atanh_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """atanh, in place."""
def arctanh_(input: Tensor, *args: Any, **options: Any) -> Tensor:
    """arctanh, in place."""
