"""Which names PyTorch has, where they stand in badak if elsewhere, and what to use where they do not."""

import importlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

from badak.core.errors import tr

# PyTorch's place: badak's. A longer name below it goes along: badak.cuda.amp is badak.compat.torch.cuda.amp.
PLACES = {
    "badak._C": "badak.compat.torch.core",
    "badak._C._functorch": "badak.compat.torch.core",
    "badak._C._nn": "badak.compat.torch.core_nn",
    "badak.nn.LinearCrossEntropyOptions": "badak.compat.torch.linear_cross_entropy_options.LinearCrossEntropyOptions",
    "badak.JITException": "badak.compat.torch.jit.Error",
    "badak.Future": "badak.distributed.futures.Future",
    "badak.SymBool": "badak.compat.torch.core.SymBool",
    "badak.SymFloat": "badak.compat.torch.core.SymFloat",
    "badak.SymInt": "badak.compat.torch.core.SymInt",
    "badak.Tag": "badak.compat.torch.core.Tag",
    "badak._VF": "badak.compat.torch._vf",
    "badak._custom_ops": "badak.compat.torch.library",
    "badak._dynamo": "badak.compat.torch.dynamo",
    "badak._functorch": "badak.compat.torch.dynamo",
    "badak._functorch.eager_transforms": "badak.compat.torch.func",
    "badak._functorch.vmap": "badak.compat.torch.vmap",
    "badak._guards": "badak.compat.torch.dispatch",
    "badak._inductor": "badak.compat.torch.dynamo",
    "badak._jit_internal": "badak.compat.torch._jit_internal",
    "badak._library": "badak.compat.torch.library._library",
    "badak._logging": "badak.compat.torch.dynamo",
    "badak._vmap_internals": "badak.compat.torch.vmap",
    "badak._utils": "badak.compat.torch._utils",
    "badak.storage._dtype_to_storage_type_map": "badak.tensor.legacy._dtype_to_storage_type_map",
    "badak.storage._load_from_bytes": "badak.compat.torch._utils._load_from_bytes",
    "badak.accelerator": "badak.compat.torch.devices.accelerator",
    "badak.amp": "badak.compat.torch.amp",
    "badak.autograd._profiler_enabled": "badak.compat.torch.profiler._profiler_enabled",
    "badak.autograd.kineto_available": "badak.compat.torch.profiler.kineto_available",
    "badak.autograd.profiler": "badak.compat.torch.profiler",
    "badak.backends": "badak.compat.torch.backends",
    "badak.compiler": "badak.compat.torch.compiler",
    "badak.cpu": "badak.compat.torch.devices.cpu",
    "badak.cuda": "badak.compat.torch.cuda",
    "badak.distributed": "badak.distributed",  # packages that are loaded when they are first asked for
    "badak.distributed.algorithms": "badak.distributed.algorithms",
    "badak.distributed.fsdp": "badak.distributed.fsdp",
    "badak.distributed.fsdp.api": "badak.distributed.fsdp",
    "badak.distributed.fsdp.fully_sharded_data_parallel": "badak.distributed.fsdp",
    "badak.distributions": "badak.distributions",
    "badak.distributions.relaxed_bernoulli": "badak.distributions.mixed",
    "badak.distributions.relaxed_categorical": "badak.distributions.mixed",
    "badak._segment_reduce": "badak.tensor.scatter.segment_reduce",
    "badak._subclasses": "badak.compat.torch.dispatch",
    "badak._subclasses.fake_tensor": "badak.compat.torch.dispatch",
    "badak._ops": "badak.compat.torch.dispatch",
    "badak.autograd.forward_ad": "badak.compat.torch.forward_ad",
    "badak.export": "badak.compat.torch.export",
    "badak.func": "badak.compat.torch.func",
    "badak.functional": "badak.tensor",
    "badak.distributed.distributed_c10d": "badak.distributed",
    "badak.distributed.distributed_c10d._get_default_group": "badak.distributed.group.chosen",
    "badak.futures": "badak.distributed.futures",
    "badak.fake_quantize_per_channel_affine": "badak.compat.torch.fake_quantize.fake_quantize_per_channel_affine",
    "badak.fake_quantize_per_tensor_affine": "badak.compat.torch.fake_quantize.fake_quantize_per_tensor_affine",
    "badak.fx": "badak.compat.torch.fx",
    "badak.hub": "badak.compat.torch.hub",
    "badak.nn.common_types": "badak.compat.torch.common_types",
    "badak.nn._reduction": "badak.compat.torch.common_types",
    "badak.nn.functional._Reduction": "badak.compat.torch.common_types",
    "badak.nn.functional.has_torch_function": "badak.compat.torch.overrides.has_torch_function",
    "badak.nn.functional.has_torch_function_unary": "badak.compat.torch.overrides.has_torch_function_unary",
    "badak.nn.functional.has_torch_function_variadic": "badak.compat.torch.overrides.has_torch_function_variadic",
    "badak.nn.functional.handle_torch_function": "badak.compat.torch.overrides.handle_torch_function",
    "badak.nn.modules.conv._size_1_t": "badak.compat.torch.common_types._size_1_t",
    "badak.nn.modules.conv._size_2_t": "badak.compat.torch.common_types._size_2_t",
    "badak.nn.modules.conv._size_3_t": "badak.compat.torch.common_types._size_3_t",
    "badak.nn.modules.module.T": "badak.compat.torch.common_types.T",
    "badak.nn.modules.rnn.apply_permutation": "badak.compat.torch.common_types.apply_permutation",
    "badak.distributed.elastic": "badak.compat.torch.elastic",
    "badak._tensor": "badak.tensor.tensor",
    "badak.autograd.profiler_util": "badak.compat.torch.profiler_events",
    "badak.cuda.amp.grad_scaler": "badak.compat.torch.cuda.amp",
    "badak._functorch.apis": "badak.compat.torch.func",
    "badak.jit": "badak.compat.torch.jit",
    "badak.jit._trace": "badak.compat.torch.jit",
    "badak.library": "badak.compat.torch.library",
    "badak.masked": "badak.compat.torch.masked",
    **{f"badak.masked.{a}": f"badak.compat.torch.masked_tensor.{a}" for a in "MaskedTensor as_masked_tensor masked_tensor".split()},
    "badak.mps": "badak.compat.torch.devices.mps",
    "badak.multiprocessing": "badak.compat.torch.multiprocessing",
    "badak.multiprocessing.ProcessContext": "badak.distributed.launch.processes.ProcessContext",
    "badak.multiprocessing.ProcessExitedException": "badak.distributed.errors.ProcessExitedException",
    "badak.multiprocessing.ProcessRaisedException": "badak.distributed.errors.ProcessRaisedException",
    "badak.multiprocessing.SpawnContext": "badak.distributed.launch.processes.SpawnContext",
    "badak.nested": "badak.tensor.nested",
    "badak.nn.DataParallel": "badak.compat.torch.parallel.DataParallel",
    "badak.nn.attention.bias": "badak.compat.torch.causal_bias",
    "badak.nn.attention.flex_attention": "badak.compat.torch.flex_attention",
    "badak.nn.functional.grad": "badak.nn.grad",
    "badak.nn.modules.adaptive": "badak.nn.adaptive",
    "badak.nn.modules.batchnorm": "badak.nn.batch_norm",
    "badak.nn.modules.conv": "badak.nn.conv",
    "badak.nn.modules.dropout": "badak.nn.dropout",
    "badak.nn.modules.instancenorm": "badak.nn.batch_norm",
    "badak.nn.modules.lazy": "badak.nn.lazy",
    "badak.nn.modules.linear": "badak.nn.linear",
    "badak.nn.modules.loss": "badak.nn.loss",
    "badak.nn.modules.module": "badak.nn.module",
    "badak.nn.modules.module.RemovableHandle": "badak.autograd.hooks.RemovableHandle",
    "badak.nn.modules.module._IncompatibleKeys": "badak.nn.state._IncompatibleKeys",
    "badak.nn.modules.padding": "badak.nn.padding",
    "badak.nn.modules.pooling": "badak.nn.pooling",
    "badak.nn.modules.rnn": "badak.nn.recurrent",
    "badak.nn.modules.transformer": "badak.nn.transformer",
    "badak.nn.modules.utils": "badak.nn.utils.tuples",
    "badak.nn.parallel": "badak.compat.torch.parallel",
    "badak.nn.parallel.distributed": "badak.compat.torch.parallel",
    "badak.nn.utils._per_sample_grad": "badak.compat.torch.per_sample",
    "badak.nn.utils.stateless": "badak.compat.torch.func",
    "badak.onnx": "badak.compat.torch.onnx",
    "badak.quasirandom": "badak.compat.torch.quasirandom",
    "badak.overrides": "badak.compat.torch.overrides",
    "badak.profiler": "badak.compat.torch.profiler",
    "badak.storage": "badak.tensor.storage",
    "badak.testing": "badak.compat.torch.testing",
    "badak.testing._internal.common_utils": "badak.compat.torch.common_utils",
    "badak.torch_version": "badak.core.public_api.version",
    "badak.types": "badak.compat.torch.types",
    "badak.utils._contextlib": "badak.autograd.grad_mode",
    "badak.utils._foreach_utils": "badak.compat.torch.foreach_utils",
    "badak.utils._python_dispatch": "badak.compat.torch.dispatch",
    "badak.utils._pytree": "badak.compat.torch.pytree",
    "badak.signal": "badak.tensor.signal",
    "badak.signal.windows": "badak.tensor.windows",
    "badak.utils.data._utils": "badak.compat.torch.data_utils",
    "badak.utils.data._utils.collate": "badak.data.collate",
    "badak.utils.data._utils.worker": "badak.data.workers",
    "badak.utils.data.dataloader._BaseDataLoaderIter": "badak.data.loader._BaseDataLoaderIter",
    "badak.utils.data.dataloader._MultiProcessingDataLoaderIter": "badak.data.loader._MultiProcessingDataLoaderIter",
    "badak.utils.data.dataloader._SingleProcessDataLoaderIter": "badak.data.loader._SingleProcessDataLoaderIter",
    "badak.utils.data.dataloader.os": "os",  # programs patch what it says of the cores
    "badak.utils.hooks": "badak.autograd.hooks",
    "badak.cond": "badak.compat.torch.control.cond",
    "badak.utils.benchmark": "badak.compat.torch.benchmark",
    "badak.__config__": "badak.compat.torch.build_config",
    "badak.__future__": "badak.compat.torch.swapping",
    "badak.utils.swap_tensors": "badak.compat.torch.swapping.swap_tensors",
    "badak.utils.weak": "badak.compat.torch.weak",
    "badak.utils._mode_utils.no_dispatch": "badak.compat.torch.wrapper._DisableTorchDispatch",
    "badak.utils.deterministic": "badak.compat.torch.deterministic",
    "badak.utils.dlpack": "badak.compat.torch.dlpack",
    "badak.utils.checkpoint": "badak.compat.torch.checkpoint",
    "badak.utils.tensorboard": "badak.compat.torch.tensorboard",
    "badak.utils.tensorboard.summary": "badak.compat.torch.event_files",
    "badak.version": "badak.compat.torch.version",
    "badak.vmap": "badak.compat.torch.func.vmap",
    "badak.xpu": "badak.compat.torch.devices.xpu",
}
_WHOLE = {  # badak's modules that serve as several of PyTorch's: the place of these, and their names
    "badak.compat.torch.cuda": ("cuda", "graphs memory random streams"),
    "badak.data": ("utils.data", "dataloader dataset distributed sampler"),
    "badak.distributions": (
        "distributions",
        "beta binomial cauchy chi2 dirichlet exponential continuous_bernoulli fishersnedecor generalized_pareto "
        "kumaraswamy lkj_cholesky logistic_normal von_mises wishart gamma geometric gumbel half_cauchy half_normal "
        "independent inverse_gamma laplace log_normal lowrank_multivariate_normal mixture_same_family multinomial "
        "multivariate_normal negative_binomial normal one_hot_categorical pareto poisson studentT "
        "transformed_distribution uniform weibull",
    ),
    "badak.nn": (
        "nn.modules",
        "activation channelshuffle container distance flatten fold normalization pixelshuffle sparse upsampling",
    ),
}
PLACES |= {f"badak.{room}.{a}": ours for ours, (room, names) in _WHOLE.items() for a in names.split()}
_LAZY = {"batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d", "linear": "Linear"}
_LAZY["instancenorm"] = "InstanceNorm1d InstanceNorm2d InstanceNorm3d"
_LAZY["conv"] = "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d"
PLACES |= {f"badak.nn.modules.{a}.Lazy{b}": f"badak.nn.lazy.Lazy{b}" for a, names in _LAZY.items() for b in names.split()}

_PARTS = {  # helpers of PyTorch's own layers, which copies of these import
    "nn.functional": "_canonical_mask _in_projection _in_projection_packed _mha_shape_check _none_or_dtype _verify_batch_size "
    "_verify_spatial_size",
    "nn.modules.transformer": "_detect_is_causal_mask _generate_square_subsequent_mask _get_activation_fn _get_clones _get_seq_len",
    "nn.modules.utils": "_list_with_default _reverse_repeat_tuple",
}
PLACES |= {
    f"badak.{room}.{name}": f"badak.compat.torch.nn_parts.{name}" for room, names in _PARTS.items() for name in names.split()
}

_PRIVATE = (
    "_add_relu _addmm_activation _chunk_cat _masked_softmax _unsafe_index _unsafe_index_put _unsafe_masked_index "
    "_unsafe_masked_index_put_accumulate"
)
PLACES |= {f"badak.{name}": f"badak.compat.torch.private.{name}" for name in _PRIVATE.split()}

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
