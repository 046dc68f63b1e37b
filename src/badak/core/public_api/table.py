"""Which names PyTorch has, where they stand in badak if elsewhere, and what to use where they do not."""

import importlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

from badak.core.errors import tr


def _of(*parts: str) -> str:
    return ".".join(filter(None, ("badak", *parts)))


# What has the same name in both: badak's module, PyTorch's, the names.
_NAMES = (
    ("compat.torch.linear_cross_entropy_options", "nn", "LinearCrossEntropyOptions"),
    ("distributed.futures", "", "Future"),
    ("compat.torch.core", "", "SymBool SymFloat SymInt Tag"),
    ("compat.torch", "_functorch", "vmap"),
    ("compat.torch", "autograd", "profiler forward_ad"),
    ("compat.torch", "",
     "_jit_internal _utils amp backends compiler cuda export func functional fx hub jit masked multiprocessing onnx quasirandom "
     "overrides profiler testing types version"),
    ("compat.torch", "nn", "common_types parallel"),
    ("compat.torch", "distributed", "elastic"),
    ("compat.torch", "nn.attention", "flex_attention"),
    ("compat.torch", "testing._internal", "common_utils"),
    ("compat.torch", "utils", "benchmark weak deterministic checkpoint tensorboard"),
    ("compat.torch.library", "", "_library"),
    ("tensor.legacy", "storage", "_dtype_to_storage_type_map"),
    ("compat.torch._utils", "storage", "_load_from_bytes"),
    ("compat.torch.devices", "", "accelerator cpu mps xpu"),
    ("compat.torch.profiler", "autograd", "_profiler_enabled kineto_available"),
    ("distributed", "", "futures"),
    ("compat.torch.fake_quantize", "", "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine"),
    ("compat.torch.overrides", "nn.functional",
     "has_torch_function has_torch_function_unary has_torch_function_variadic handle_torch_function"),
    ("compat.torch.common_types", "nn.modules.conv", "_size_1_t _size_2_t _size_3_t"),
    ("compat.torch.common_types", "nn.modules.module", "T"),
    ("compat.torch.common_types", "nn.modules.rnn", "apply_permutation"),
    ("compat.torch.masked_tensor", "masked", "MaskedTensor as_masked_tensor masked_tensor"),
    ("distributed.launch.processes", "multiprocessing", "ProcessContext SpawnContext"),
    ("distributed.errors", "multiprocessing", "ProcessExitedException ProcessRaisedException"),
    ("tensor", "", "nested storage signal"),
    ("tensor", "signal", "windows"),
    ("tensor", "utils", "dlpack"),
    ("compat.torch.parallel", "nn", "DataParallel"),
    ("nn", "nn.functional", "grad"),
    ("nn", "nn.modules", "adaptive conv dropout lazy linear loss module padding pooling transformer"),
    ("autograd.hooks", "nn.modules.module", "RemovableHandle"),
    ("nn.state", "nn.modules.module", "_IncompatibleKeys"),
    ("data", "utils.data._utils", "collate"),
    ("data.loader", "utils.data.dataloader", "_BaseDataLoaderIter _MultiProcessingDataLoaderIter _SingleProcessDataLoaderIter"),
    ("autograd", "utils", "hooks"),
    ("compat.torch.control", "", "cond"),
    ("compat.torch.swapping", "utils", "swap_tensors"),
    ("compat.torch.func", "", "vmap"),
    ("nn.lazy", "nn.modules.batchnorm", "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d"),
    ("nn.lazy", "nn.modules.linear", "LazyLinear"),
    ("nn.lazy", "nn.modules.instancenorm", "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d"),
    ("nn.lazy", "nn.modules.conv", "LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d"),
    ("compat.torch.nn_parts", "nn.functional",
     "_canonical_mask _in_projection _in_projection_packed _mha_shape_check _none_or_dtype _verify_batch_size "
     "_verify_spatial_size"),
    ("compat.torch.nn_parts", "nn.modules.transformer",
     "_detect_is_causal_mask _generate_square_subsequent_mask _get_activation_fn _get_clones _get_seq_len"),
    ("compat.torch.nn_parts", "nn.modules.utils", "_list_with_default _reverse_repeat_tuple"),
    ("compat.torch.private", "",
     "_add_relu _addmm_activation _chunk_cat _masked_softmax _unsafe_index _unsafe_index_put _unsafe_masked_index "
     "_unsafe_masked_index_put_accumulate"),
)  # fmt: skip
# What has another name: badak's, and all of PyTorch's that it serves as.
_SERVES = {
    "compat.torch.core": "_C _C._functorch",
    "compat.torch.core_nn": "_C._nn",
    "compat.torch.jit.Error": "JITException",
    "compat.torch.compiler.disable": "_disable_dynamo",
    "io.options": "utils.serialization.config",
    "compat.torch._vf": "_VF",
    "compat.torch.library": "_custom_ops library",
    "compat.torch.dynamo": "_dynamo _functorch _inductor _logging",
    "compat.torch.func": "_functorch.eager_transforms _functorch.apis nn.utils.stateless",
    "compat.torch.dispatch": "_guards _subclasses _subclasses.fake_tensor _ops utils._python_dispatch",
    "compat.torch.vmap": "_vmap_internals",
    "distributed": "distributed distributed.distributed_c10d",
    "distributed.algorithms": "distributed.algorithms",
    "distributed.fsdp": "distributed.fsdp distributed.fsdp.api distributed.fsdp.fully_sharded_data_parallel",
    "distributions": (
        "distributions distributions.beta distributions.binomial distributions.cauchy distributions.chi2 "
        "distributions.dirichlet distributions.exponential distributions.continuous_bernoulli distributions.fishersnedecor "
        "distributions.generalized_pareto distributions.kumaraswamy distributions.lkj_cholesky distributions.logistic_normal "
        "distributions.von_mises distributions.wishart distributions.gamma distributions.geometric distributions.gumbel "
        "distributions.half_cauchy distributions.half_normal distributions.independent distributions.inverse_gamma "
        "distributions.laplace distributions.log_normal distributions.lowrank_multivariate_normal "
        "distributions.mixture_same_family distributions.multinomial distributions.multivariate_normal "
        "distributions.negative_binomial distributions.normal distributions.one_hot_categorical distributions.pareto "
        "distributions.poisson distributions.studentT distributions.transformed_distribution distributions.uniform "
        "distributions.weibull"
    ),
    "distributions.mixed": "distributions.relaxed_bernoulli distributions.relaxed_categorical",
    "tensor.scatter.segment_reduce": "_segment_reduce",
    "distributed.group.chosen": "distributed.distributed_c10d._get_default_group",
    "compat.torch.common_types": "nn._reduction nn.functional._Reduction",
    "tensor.tensor": "_tensor",
    "compat.torch.profiler_events": "autograd.profiler_util",
    "compat.torch.cuda.amp": "cuda.amp.grad_scaler",
    "compat.torch.jit": "jit._trace",
    "compat.torch.causal_bias": "nn.attention.bias",
    "nn.batch_norm": "nn.modules.batchnorm nn.modules.instancenorm",
    "nn.recurrent": "nn.modules.rnn",
    "nn.utils.tuples": "nn.modules.utils",
    "compat.torch.parallel": "nn.parallel.distributed",
    "compat.torch.per_sample": "nn.utils._per_sample_grad",
    "core.public_api.version": "torch_version",
    "autograd.grad_mode": "utils._contextlib",
    "compat.torch.foreach_utils": "utils._foreach_utils",
    "compat.torch.pytree": "utils._pytree",
    "compat.torch.data_utils": "utils.data._utils",
    "data.workers": "utils.data._utils.worker",
    "compat.torch.build_config": "__config__",
    "compat.torch.swapping": "__future__",
    "compat.torch.wrapper._DisableTorchDispatch": "utils._mode_utils.no_dispatch",
    "compat.torch.event_files": "utils.tensorboard.summary",
    "compat.torch.cuda": "cuda.graphs cuda.memory cuda.random cuda.streams",
    "data": "utils.data.dataloader utils.data.dataset utils.data.distributed utils.data.sampler",
    "nn": (
        "nn.modules.activation nn.modules.channelshuffle nn.modules.container nn.modules.distance nn.modules.flatten "
        "nn.modules.fold nn.modules.normalization nn.modules.pixelshuffle nn.modules.sparse nn.modules.upsampling"
    ),
}
PLACES = {  # PyTorch's place: badak's. A longer name below it goes along: badak.cuda.amp is badak.compat.torch.cuda.amp.
    **{_of(theirs, name): _of(ours, name) for ours, theirs, names in _NAMES for name in names.split()},
    **{f"badak.{name}": _of(ours) for ours, names in _SERVES.items() for name in names.split()},
    "badak.utils.data.dataloader.os": "os",  # programs patch what it says of the cores
}

INSTEAD = {  # what PyTorch has and badak has not: what serves in its place
    "linalg.ldl_factor": "linalg.lu_factor, or linalg.eigh of a symmetric matrix",
    "linalg.ldl_factor_ex": "linalg.lu_factor_ex, or linalg.eigh of a symmetric matrix",
    "linalg.ldl_solve": "linalg.solve",
    "lobpcg": "linalg.eigh",
    "utils.model_zoo": "download the file yourself and read it with badak.load or safetensors",
    "quantization": "badak.quantize(model): int8 or bfloat16 weights, for inference",
    "ao": "badak.quantize(model): int8 or bfloat16 weights, for inference",
    "distributed.algorithms.ddp_comm_hooks": "default_hooks.bf16_compress_hook: half of the bytes, or a hook of one's own",
    "distributed.algorithms.join": "DistributedDataParallel.join()",
    "distributed.checkpoint": "save a state_dict on rank 0, load it on all; ZeroRedundancyOptimizer.consolidate_state_dict()",
    "distributed.device_mesh": "new_group(ranks), and DistributedDataParallel: ranks share a batch, not a model",
    "distributed.DeviceMesh": "new_group(ranks), and DistributedDataParallel: ranks share a batch, not a model",
    "distributed.init_device_mesh": "new_group(ranks), and DistributedDataParallel: ranks share a batch, not a model",
    "distributed.fsdp": "DistributedDataParallel with distributed.optim.ZeroRedundancyOptimizer: each rank has the whole model",
    "distributed.pipelining": "DistributedDataParallel: each rank has the whole model",
    "distributed.rpc": "distributed.send and recv, or the collectives on objects",
    "distributed.optim": "distributed.optim.ZeroRedundancyOptimizer",
    "distributed.tensor": "DistributedDataParallel: each rank has the whole model, and no tensor lies on several",
    "utils.tensorboard": "pip install tensorboard, or tensorboardX: with either the name is there",
    "utils.cpp_extension": "Python: badak loads no compiled extensions",
    "classes": "the Python class: compiled operators cannot be called",
    "Tensor.cuda": 'x.to("cpu")',
    "cuda.CUDAGraph": "call the function: there is no GPU whose launches could be recorded",
}
ASK = tr("see docs/reference/coming-from-pytorch.md, and ask for it in an issue that shows the line")


@cache
def _lists() -> dict[str, frozenset[str]]:
    text = (Path(__file__).parent / "pytorch.txt").read_text(encoding="utf-8")
    pairs = (line.split(": ", 1) for line in text.splitlines() if ": " in line)
    lists = {head: frozenset(names.split()) for head, names in pairs}
    for inner in ("torch.backends", "torch.utils", "torch.nn"):
        lists.setdefault(inner, frozenset())
    return lists


def is_module(dotted: str) -> bool:
    """Whether torch.<dotted> is one of PyTorch's modules; what lies deeper than two levels, or in a private one, counts too."""
    first, _, rest = dotted.partition(".")
    if rest.rpartition(".")[2].startswith("__"):  # __path__, for which Python's import asks
        return False
    second = rest.partition(".")[0]
    known = _lists()["modules"]
    return first in known and (not second or first.startswith("_") or second.startswith("_") or f"{first}.{second}" in known)


def is_pytorch(dotted: str) -> bool:
    """Whether PyTorch 2.13 has torch.<dotted>; in a module of it whose names are not listed, any name counts."""
    space, _, name = dotted.rpartition(".")
    if is_module(dotted):
        return True
    full = f"torch.{space}".rstrip(".")
    listed = _lists().get(tr("private {}", full) if name[:1] == "_" else full)
    return is_module(space) and not name.startswith("__") if listed is None else name in listed


def names_of(space: str, private: bool = False) -> frozenset[str]:
    """PyTorch's names in torch.<space>: the public ones, or those that begin with an underscore."""
    return _lists().get("private " * private + f"torch.{space}".rstrip("."), frozenset())


def listed_spaces() -> list[str]:
    """The namespaces of PyTorch whose names are listed: "", "Tensor", "nn", ..."""
    heads = [head for head in _lists() if head == "torch" or head.startswith("torch.") and " " not in head]
    return [head.partition(".")[2] for head in heads if _lists()[head]]


def defining_modules(space: str) -> dict[str, str]:
    """The module that defines a class of PyTorch's namespace, for those that say another one than the namespace itself."""
    heads = [head for head in _lists() if head.startswith(f"{space} < ")]
    return {name: head.partition(" < ")[2] for head in heads for name in _lists()[head]}


def instead(dotted: str) -> str | None:
    """What to use in place of torch.<dotted>, if there is something."""
    while dotted:
        if dotted in INSTEAD:
            return INSTEAD[dotted]
        dotted = dotted.rpartition(".")[0]
    return None


def place(name: str) -> str | None:
    """Where badak keeps what PyTorch has at badak.<...>, if not there."""
    return _moved(name, PLACES)


def pytorch_place(name: str) -> str:
    """The opposite: PyTorch's place of what stands at badak.<...>."""
    return _moved(name, {theirs: ours for ours, theirs in PLACES.items()}) or name


def _moved(name: str, places: dict[str, str]) -> str | None:
    head = name
    while head:
        if head in places:
            return places[head] + name[len(head) :]
        head = head.rpartition(".")[0]
    return None


def reach(name: str) -> Any:
    """The module of that name, or what badak keeps as an attribute of that name; None where there is neither."""
    if name in sys.modules:
        return sys.modules[name]
    parent, _, last = name.rpartition(".")
    kept = getattr(reach(parent), last, None) if parent else None
    if kept is not None and not getattr(type(kept), "is_placeholder", False):
        return kept
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        return None
