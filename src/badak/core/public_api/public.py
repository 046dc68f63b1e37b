"""The one table of public names: which file each name of `badak` and each method of `Tensor` comes from.

`badak/__init__.py`, `tensor/__init__.py` and `tensor/methods.py` bind what stands here; `tools/stubs.py` writes it into stubs,
where editors and type checkers find it; the documentation lists it (`tools/api.py`). A new name is one word, here.

    both            a function of badak that is a method too: badak.exp(x), x.exp()
    functions       of badak only
    methods         of Tensor only
    in_place        methods made of the function without the underscore (`tensor/inplace_ops.py`): x.tril_()
    in_place_both   the same, and functions of badak: x.exp_(), badak.exp_(x)
    foreach         that have a form for lists (`tensor/foreach.py`): badak._foreach_exp(xs), badak._foreach_exp_(xs)

The names of pointwise operations and reductions come with their rows (`ops/pointwise.py`, `ops/reduce.py`), by `declare`.
"name=other" gives the name to what the file calls `other`. A file is named as it is below `badak.`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from badak.core.public_api.table import reach


class Names(NamedTuple):
    """What one file gives to the public."""

    both: str = ""
    functions: str = ""
    methods: str = ""
    in_place: str = ""
    in_place_both: str = ""
    foreach: str = ""


TABLE = {
    "math": Names(functions="e inf nan pi"),
    "tensor.arithmetic": Names(
        both=(
            "add addcdiv addcmul div divide float_power floor_divide fmod lerp mul multiply neg negative positive "
            "pow remainder sub subtract true_divide"
        ),
        functions="rsub",
        in_place_both="neg_ negative_",
        foreach="add sub mul div pow neg",
        in_place=("mul_ multiply_ div_ divide_ true_divide_ subtract_ pow_ remainder_ fmod_ floor_divide_ lerp_"),
    ),
    "tensor.blocks": Names(
        both="corrcoef cov dsplit hsplit renorm rot90 vsplit", in_place="renorm_", functions="block_diag unravel_index"
    ),
    "tensor.compare": Names(
        both=(
            "allclose bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor eq "
            "equal ge greater greater_equal gt is_nonzero is_same_size isclose isfinite isinf isnan isneginf "
            "isposinf le less less_equal logical_and logical_not logical_or logical_xor lt ne not_equal"
        ),
        functions="isin",
        in_place=(
            "logical_and_ logical_or_ logical_xor_ logical_not_ bitwise_and_ bitwise_or_ bitwise_xor_ bitwise_not_ "
            "bitwise_left_shift_ bitwise_right_shift_ eq_ ne_ lt_ le_ gt_ ge_ greater_ greater_equal_ less_ less_equal_ not_equal_"
        ),
    ),
    "tensor.complex": Names(
        in_place_both="conj_physical_",
        both="adjoint conj conj_physical resolve_conj resolve_neg is_conj is_neg _neg_view angle",
        functions="complex imag polar real view_as_complex view_as_real",
        methods="H mH real=Real imag=Imag",
    ),
    "tensor.convert": Names(
        both="clone dequantize",
        methods=("to type type_as float double half bfloat16 cfloat cdouble long int short char byte bool cpu cuda contiguous"),
    ),
    "tensor.copies": Names(
        both="narrow_copy unsafe_chunk unsafe_split unsafe_split_with_sizes",
        functions=(
            "alias_copy as_strided_copy constant_pad_nd detach_copy diagonal_copy expand_copy fill permute_copy resize_as_ "
            "select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy "
            "unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy"
        ),
        methods="resize_as_ sum_to_size",
    ),
    "tensor.create": Names(
        functions=(
            "as_tensor asarray empty empty_like empty_permuted empty_strided eye "
            "from_file from_numpy frombuffer full full_like is_tensor ones ones_like scalar_tensor tensor tril_indices "
            "triu_indices zeros zeros_like"
        ),
        methods="new_zeros new_ones new_empty new_full new_tensor new",
    ),
    "tensor.dlpack": Names(functions="from_dlpack"),
    "tensor.dtypes": Names(
        functions=(
            "bfloat16 bool=bool_ bool_ cdouble=complex128 cfloat=complex64 complex128 complex64 device double=float64 dtype finfo "
            "float=float32 float16 float32 float64 get_default_dtype half=float16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 "
            "float8_e5m2fnuz float8_e8m0fnu iinfo int=int32 int16 int32 int64 int8 long=int64 set_default_dtype short=int16 Size "
            "uint16 uint32 uint64 uint8 bits16 bits1x8 bits2x4 bits4x2 bits8 complex32 chalf=complex32 float4_e2m1fn_x2 int1 int2 "
            "int3 int4 int5 int6 int7 qint32 qint8 quint2x4 quint4x2 quint8 uint1 uint2 uint3 uint4 uint5 uint6 uint7"
        )
    ),
    "tensor.random_ops": Names(
        both="multinomial",
        functions=(
            "binomial poisson _standard_gamma=gamma _standard_gamma_grad=gamma_grad "
            "_sample_dirichlet=dirichlet _dirichlet_grad=dirichlet_grad"
        ),
    ),
    "tensor.elementwise": Names(
        both=(
            "clamp clamp_max clamp_min clip hardshrink log_softmax logaddexp masked_fill maximum minimum nan_to_num prelu "
            "relu round sign softmax"
        ),
        functions="where",
        methods="where=where_method",
        in_place_both="clamp_ clamp_max_ clamp_min_ clip_ nan_to_num_ relu_ round_",
        in_place="masked_fill_ sign_",
        foreach="clamp_max clamp_min maximum minimum round sign",
    ),
    "tensor.getset": Names(methods="__getitem__=getitem __setitem__=setitem __delitem__=delitem"),
    "tensor.grids": Names(functions="arange range=inclusive_range cartesian_prod combinations linspace logspace meshgrid"),
    "tensor.histograms": Names(both="bincount histc histogram", functions="histogramdd"),
    "tensor.index": Names(
        both=(
            "argwhere gather index_add index_copy index_fill index_put index_select masked_scatter masked_select "
            "narrow nonzero nonzero_static scatter scatter_add select take take_along_dim"
        ),
        in_place_both="index_put_",
        in_place="scatter_ scatter_add_ index_fill_ index_add_ masked_scatter_",
    ),
    "tensor.inplace_ops": Names(
        both="fill_ zero_", methods="add_ sub_ addcmul_ addcdiv_ float_power_ fill_diagonal_ copy_ index_copy_ resize_"
    ),
    "tensor.concat": Names(functions="cat column_stack concat concatenate dstack hstack row_stack stack vstack"),
    "tensor.layouts": Names(
        functions=(
            "channels_last channels_last_3d contiguous_format jagged layout memory_format preserve_format "
            "sparse_coo sparse_csc sparse_csr strided"
        )
    ),
    "tensor.legacy": Names(
        functions=(
            "BFloat16Storage BFloat16Tensor BoolStorage BoolTensor ByteStorage ByteTensor CharStorage CharTensor "
            "ComplexDoubleStorage ComplexFloatStorage DoubleStorage DoubleTensor FloatStorage FloatTensor HalfStorage HalfTensor "
            "IntStorage IntTensor LongStorage LongTensor set_default_tensor_type ShortStorage ShortTensor Storage"
        ),
        methods="apply_ map_ map2_ storage_type",
    ),
    "tensor.linalg.einsum": Names(functions="einsum tensordot"),
    "tensor.linalg.factors": Names(
        both="cholesky_inverse cholesky_solve lu_solve=older_lu_solve matrix_exp triangular_solve",
        functions="lu=older_lu lu_unpack",
        methods="lu=older_lu",
    ),
    "tensor.linalg.reflections": Names(both="geqrf ormqr orgqr"),
    "tensor.linalg.shaped": Names(functions="pca_lowrank svd_lowrank vander=older_vander"),
    "tensor.linalg.norms": Names(functions="cdist frobenius_norm norm_except_dim nuclear_norm"),
    "tensor.linalg.older": Names(both="cholesky cross det inverse logdet matrix_power pinverse qr slogdet svd"),
    "tensor.linalg.products": Names(
        both=("addbmm addmm addmv addr baddbmm bmm dot ger inner kron matmul mm mv outer trace vdot"),
        functions="chain_matmul _int_mm",
        in_place="addmm_ addmv_ addbmm_ baddbmm_ addr_",
    ),
    "tensor.numbers": Names(
        both="copysign deg2rad fmax fmin frexp gcd heaviside isreal lcm ldexp logaddexp2 nextafter rad2deg signbit",
        in_place_both="deg2rad_ gcd_ lcm_ ldexp_ rad2deg_",
        in_place="copysign_ heaviside_ nextafter_",
    ),
    "tensor.pad": Names(functions="pad"),
    "tensor.printing": Names(functions="set_printoptions"),
    "tensor.promote": Names(functions="can_cast promote_types result_type"),
    "tensor.random": Names(
        both="bernoulli",
        functions=(
            "default_generator fork_rng Generator get_rng_state initial_seed manual_seed normal rand rand_like "
            "randint randint_like randn randn_like randperm seed set_rng_state"
        ),
        methods="uniform_ normal_ log_normal_ exponential_ cauchy_ geometric_ bernoulli_ random_",
    ),
    "tensor.rearrange": Names(both="flip fliplr flipud repeat_interleave roll tile", methods="repeat"),
    "tensor.reduce": Names(
        both=("all aminmax any count_nonzero cumprod cumsum diff dist hash_tensor logsumexp max min nanmean nansum norm std var"),
        functions="std_mean var_mean",
        in_place="cumsum_ cumprod_",
    ),
    "tensor.running": Names(both="cummax cummin logcumsumexp", functions="cumulative_trapezoid gradient trapezoid trapz"),
    "tensor.sparse.create": Names(
        functions=(
            "sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor _convert_indices_from_coo_to_csr "
            "_convert_indices_from_csr_to_coo"
        ),
        methods="coalesce sparse_mask to_dense to_sparse to_sparse_coo to_sparse_csr to_sparse_csc",
    ),
    "tensor.sparse.parts": Names(
        methods=(
            "indices values crow_indices col_indices ccol_indices row_indices is_coalesced sparse_dim dense_dim _nnz _indices "
            "_values _coalesced_"
        )
    ),
    "tensor.sparse.products": Names(functions="dsmm=mm spmm=mm"),
    "tensor.scatter": Names(
        both=("as_strided as_strided_scatter diagonal_scatter index_reduce put scatter_reduce select_scatter slice_scatter"),
        functions="segment_reduce",
        in_place="index_reduce_ put_ scatter_reduce_",
        in_place_both="as_strided_",
    ),
    "tensor.shape": Names(
        both=(
            "broadcast_to chunk diagonal flatten moveaxis movedim permute ravel reshape split split_with_sizes "
            "squeeze swapaxes swapdims t tensor_split transpose unbind unflatten unsqueeze"
        ),
        functions="atleast_1d atleast_2d atleast_3d broadcast_shapes broadcast_tensors",
        methods="view view_as reshape_as expand expand_as unfold T mT",
        in_place="unsqueeze_ squeeze_ transpose_ t_ swapaxes_ swapdims_",
    ),
    "tensor.sort": Names(
        both=(
            "argmax argmin argsort kthvalue median mode msort nanmedian nanquantile quantile sort topk unique unique_consecutive"
        ),
        functions="bucketize searchsorted",
    ),
    "tensor.storage": Names(functions="TypedStorage UntypedStorage", methods="set_ share_memory_ storage untyped_storage"),
    "tensor.signal": Names(both="istft stft", functions="bartlett_window blackman_window hamming_window hann_window kaiser_window"),
    "tensor.special": Names(
        both="digamma logit mvlgamma polygamma", in_place_both="logit_", in_place="digamma_ mvlgamma_ polygamma_"
    ),
    "tensor.tensor": Names(functions="Tensor"),
    "tensor.tensor.Tensor": Names(
        functions=("detach detach_ get_device is_complex is_floating_point is_inference is_signed numel")
    ),
    "tensor.triangular": Names(both="diag diag_embed diagflat tril triu", in_place="tril_ triu_"),
    "inspect.audit": Names(functions="audit"),
    "inspect.visualize": Names(functions="look"),
    "inspect.doctor": Names(functions="doctor"),
    "kernels": Names(functions="info"),
    "autograd.use": Names(functions="use"),
    "autograd": Names(functions=("enable_grad inference_mode is_grad_enabled is_inference_mode_enabled no_grad set_grad_enabled")),
    "io": Names(functions="load save"),
    "nn.quantization": Names(functions="quantize"),
    "nn.mask": Names(functions="Mask"),
    "nn.functional": Names(
        functions=(
            "adaptive_avg_pool1d avg_pool1d bilinear celu celu_ channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d "
            "conv_transpose2d conv_transpose3d cosine_similarity max_pool1d max_pool2d max_pool3d pairwise_distance pdist "
            "pixel_shuffle pixel_unshuffle rms_norm rrelu_ selu selu_ threshold threshold_"
        )
    ),
    "nn.functional.conv": Names(functions="convolution"),
    "nn.functional.grid_sample": Names(functions="affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d"),
    "nn.functional.native": Names(
        functions=(
            "adaptive_max_pool1d alpha_dropout alpha_dropout_ batch_norm binary_cross_entropy_with_logits "
            "cosine_embedding_loss ctc_loss dropout dropout_ embedding feature_alpha_dropout feature_alpha_dropout_ "
            "group_norm hinge_embedding_loss instance_norm kl_div layer_norm margin_ranking_loss "
            "max_pool1d_with_indices native_batch_norm poisson_nll_loss rrelu triplet_margin_loss"
        )
    ),
    "autograd.anomaly_mode": Names(functions="is_anomaly_enabled"),
    "inspect.introspection.draw": Names(functions="draw"),
    "inspect.introspection.sources": Names(functions="source"),
    "inspect.introspection.summary": Names(functions="summary"),
    "compat.torch.checks": Names(
        functions=(
            "_assert _assert_async _check _check_index _check_is_size _check_not_implemented _check_tensor_all "
            "_check_tensor_all_with _check_type _check_value _check_with is_storage sym_float sym_int sym_ite sym_max sym_min "
            "sym_not sym_sum typename"
        )
    ),
    "compat.torch.amp.grad_scaler": Names(functions="GradScaler"),
    "compat.torch.amp.autocast_mode": Names(
        functions=(
            "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype "
            "get_autocast_gpu_dtype is_autocast_cache_enabled is_autocast_cpu_enabled set_autocast_cache_enabled "
            "set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled"
        )
    ),
    "compat.torch": Names(
        functions=(
            "autocast get_autocast_dtype is_autocast_enabled compile OutOfMemoryError are_deterministic_algorithms_enabled "
            "get_default_device get_deterministic_debug_mode get_device_module get_float32_matmul_precision "
            "get_num_interop_threads get_num_threads is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled "
            "set_default_device set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal "
            "set_num_interop_threads set_num_threads set_warn_always use_deterministic_algorithms"
        )
    ),
}


def declare(file: str, **columns: str) -> None:
    """Names that a declaration brings along: those of rows."""
    names = TABLE.get(file, Names())
    TABLE[file] = names._replace(**{column: f"{getattr(names, column)} {more}".strip() for column, more in columns.items()})


def listed(*columns: str, room: str = "") -> Iterator[tuple[str, str, str]]:
    """(name, file, what the file calls it) for each name in these columns, from the files of one package or of all."""
    for file, names in TABLE.items():
        if file.startswith(room):
            for entry in " ".join(getattr(names, column) for column in columns).split():
                name, _, other = entry.partition("=")
                yield name, file, other or name


def functions(room: str = "") -> dict[str, Any]:
    """What `badak` offers, by name; with `room` only what comes from there."""
    made = {name: found(file, other) for name, file, other in listed("both", "functions", room=room)}
    tensor = found("tensor.tensor", "Tensor")
    return made | {name: getattr(tensor, name) for name, *_ in listed("in_place_both", room=room)}


def methods() -> dict[str, Any]:
    """The methods of Tensor, by name, but for those that are made of another."""
    return {name: found(file, other) for name, file, other in listed("both", "methods")}


def found(file: str, name: str) -> Any:
    """What a file of badak, or the module `math`, calls `name`."""
    return getattr(reach(file if file == "math" else f"badak.{file}"), name)
