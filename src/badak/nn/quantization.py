"""Linear layers whose weights take fewer bits, for models that answer and are not trained any more.

A model that writes one token after the other reads all its weights for each of them: what they weigh is what it waits for.
"""

import difflib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from badak.core import events, memory
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, IndexOutOfRangeError, tr
from badak.kernels.block_formats import ALSO, FORMATS
from badak.nn.attention import MultiheadAttention
from badak.nn.embedding import Embedding
from badak.nn.errors import kind
from badak.nn.linear import Linear
from badak.nn.members import HOOKS, MEMBERS
from badak.nn.module import Module
from badak.nn.quantized import MOST_INPUTS, BlockEmbedding, BlockLinear, InBlocks, Int8Linear, LinearOf16Bits, Quantized
from badak.tensor import Tensor
from badak.tensor import int8 as int8_
from badak.tensor.dtypes import dtype as dtype_type


class QuantizedAttention(MultiheadAttention):
    """MultiheadAttention whose projections are layers with narrow weights: `in_proj`, or `q_proj`, `k_proj` and `v_proj`."""

    def __init__(self, source: MultiheadAttention, make: Callable[..., Quantized]) -> None:
        Module.__init__(self)
        for name, value in source.__dict__.items():
            if name not in (*MEMBERS, *HOOKS, "_non_persistent_buffers_set"):
                self.__dict__[name] = value
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, source._parameters[name])
        bias = _array(source.in_proj_bias)
        if source._qkv_same_embed_dim:
            self.in_proj = make(_array(source.in_proj_weight), bias)
        else:
            biases = (None,) * 3 if bias is None else np.split(bias, 3)
            for name, each in zip(("q_proj", "k_proj", "v_proj"), biases):
                setattr(self, name, make(_array(source._parameters[f"{name}_weight"]), each))
        self._modules["out_proj"] = make(_array(source.out_proj.weight), _array(source.out_proj.bias))

    def _project_some(self, inputs: tuple[Tensor, ...], which: tuple[int, ...]) -> list[Tensor]:
        if self._qkv_same_embed_dim:
            return [self.in_proj.part(x, number, 3) for x, number in zip(inputs, which)]
        layers = self.q_proj, self.k_proj, self.v_proj
        return [layers[number](x) for x, number in zip(inputs, which)]

    def _project(self, query: Tensor, key: Tensor, value: Tensor):
        if self._qkv_same_embed_dim and query is key and key is value:
            return self.in_proj(query).chunk(3, dim=-1)
        return self._project_some((query, key, value), (0, 1, 2))


def quantize(model: Module, dtype: Any = int8_, skip_modules: Iterable[str] = ()) -> Module:
    """Give the Linear layers of `model`, and the projections of its attention, weights of fewer bits, in place.

        int8        W[n] = scale[n] times integers of -127 .. 127, one scale for each output; inputs are rounded likewise,
                    row by row, when they come. A quarter of the memory
        bfloat16    W rounded to 16 bits, and inputs where they are multiplied. Half of the memory
        q8_0, q4_0  blocks of 32 numbers of 8 or 4 bits with a scale each, ggml's bytes; inputs are rounded to 8 bits in
                    blocks, too. 8.5 and 4.5 bits of 32

    Embeddings, norms and biases stay as they are; a head that is tied to an embedding gets weights of its own. In q8_0 and q4_0
    the token embedding of `badak.models.GPT` and `Llama`, and of models of transformers with a Linear head, is in blocks, too; a
    head that is tied to it shares them. Also taken: Conv1D of transformers. Left as they are: layers of other kinds, those with a
    forward of their own, those that transformers keeps in float32, and those whose path, or the beginning of it, is in
    `skip_modules`. From then on the model answers only: it is in evaluation mode, nothing wants a gradient.

    Gives the model. Raises ArgumentTypeError, DTypeError, and ArgumentError where there is nothing to do, where it was done
    already, and
    for weights that are NaN or infinite; the model is as it was then.

    Files: `state_dict()` holds `weight`, `scale` and `bias` of such a layer. They are loaded into a model that was quantized, too.
    PyTorch: torch.ao.quantization.quantize_dynamic, which gives a copy.

    Args:
        model: an nn.Module; a Linear alone cannot be changed in place, so use what is returned
        dtype: badak.int8 or badak.bfloat16, or a name: "int8", "bfloat16", "q8_0" ("q8"), "q4_0" ("q4")
        skip_modules: paths of modules, or beginnings of them

    Returns: the model itself

    Raises:
        ArgumentError: where there is nothing to quantize

    Example:
        >>> model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
        >>> _ = badak.quantize(model, "int8")
        >>> model[0].weight.dtype
        badak.int8
    """
    make = _maker(model, dtype)
    skip_modules = _kept(model, skip_modules)
    made: dict[Module, Module] = {}
    in_blocks = isinstance(make, partial)
    if in_blocks:
        skip_modules += _kept_in_float32(model)
    tables: set[int] = _tables(model) if in_blocks else set()
    rows: dict[int, np.ndarray] = {}
    done = "."  # the path of the last module that gets another in its place: what is below goes with it
    for path, module in model.named_modules():
        if path.startswith(done) or any(path == name or path.startswith(f"{name}.") for name in skip_modules):
            continue
        narrow = _narrowed(module, path, make, tables, rows)
        if narrow is not None:
            made[module], done = narrow, f"{path}."
    if not made:
        raise ArgumentError(
            tr("quantize: {} holds no nn.Linear and no nn.MultiheadAttention", type(model).__name__)
            + (tr(" next to {}", ", ".join(skip_modules)) if skip_modules else ""),
            "a model with such layers; others stay in float32",
        )
    model = _exchanged(model, made)
    made.clear()
    memory.give_back()
    model.eval()
    model.requires_grad_(False)
    return model


def _kept(model: Module, skip_modules: Any) -> tuple[str, ...]:
    """The paths that are left as they are, each of them one of this model."""
    names = (skip_modules,) if isinstance(skip_modules, str) or not hasattr(skip_modules, "__iter__") else tuple(skip_modules)
    paths = [path for path, _ in model.named_modules()]
    for name in names:
        if not isinstance(name, str):
            cause = tr("quantize: expected skip_modules as paths of modules; got {}", kind(name))
            raise ArgumentTypeError(cause, 'skip_modules=("head",)')
        if name not in paths:
            near = difflib.get_close_matches(name, paths, n=1, cutoff=0.0)
            cause = tr("quantize: skip_modules names {!r}, and {} has no such module", name, kind(model))
            raise ArgumentError(cause, f"skip_modules=({near[0]!r},)")
    return names


KINDS: dict[str, Callable[..., Quantized]] = {
    "int8": Int8Linear,
    "bfloat16": LinearOf16Bits,
    **{name: partial(BlockLinear, form=name) for name, form in FORMATS.items() if form.written},
}


def _maker(model: Any, dtype: Any) -> Callable[..., Quantized]:
    """What makes a layer of this dtype."""
    if not isinstance(model, Module):
        raise ArgumentTypeError(tr("quantize: expected an nn.Module; got {}", kind(model)), "badak.quantize(model, badak.int8)")
    name = dtype.name if isinstance(dtype, dtype_type) else ALSO.get(dtype, dtype) if isinstance(dtype, str) else dtype
    if not isinstance(name, str) or name not in KINDS:
        *some, last = KINDS
        cause = tr("quantize: expected {} or {}; got {}", ", ".join(some), last, name if isinstance(name, str) else kind(dtype))
        raise DTypeError(cause, "badak.quantize(model, badak.int8)")
    for path, module in model.named_modules():
        if isinstance(module, Quantized):
            raise ArgumentError(
                tr("quantize: {} was quantized already ({} is {})", type(model).__name__, path or "itself", type(module).__name__),
                "quantize the float32 model, once",
            )
    return KINDS[name]


def _tables(model: Module) -> set[int]:
    """Weights of embeddings that a model reads row by row and by Linear heads, by id: badak's models name them in `lookups`.

    Those of transformers have methods for both. Where no Linear gives the logits, the table may be read in other ways, so it stays.
    """
    parts = [module.get_submodule(name) for module in model.modules() for name in getattr(module, "lookups", ())]
    head, table = (getattr(model, f"get_{name}_embeddings", lambda: None)() for name in ("output", "input"))
    if isinstance(head, Linear) and isinstance(table, Embedding) and head.out_features == table.num_embeddings:
        parts.append(table)
    return {id(part.weight) for part in parts if type(part) is Embedding and part.max_norm is None}


def _kept_in_float32(model: Module) -> tuple[str, ...]:
    """Paths of Linear layers whose inputs a model of transformers casts to the dtype of their weights, which blocks have not."""
    names = getattr(model, "_keep_in_fp32_modules", None) or ()
    return tuple(
        path
        for path, part in model.named_modules()
        for name in names
        if isinstance(part, Linear) and f".{path}".endswith(f".{name}")
    )


def _narrowed(
    module: Module, path: str, make: Callable[..., Quantized], tables: set[int], rows: dict[int, np.ndarray]
) -> Module | None:
    """The module in the place of this one, None where it stays.

    tables: weights of embeddings that go into blocks; rows: their blocks, for all that share them.
    """
    forward = getattr(type(module), "forward", None)
    shared = id(module._parameters.get("weight"))
    if shared in tables and type(module) is Embedding:
        return _like(module, _in_blocks(BlockEmbedding, module, path, make, rows))
    if isinstance(module, Linear) and forward is Linear.forward and _has_weight(module):
        if shared in tables:
            return _like(module, _in_blocks(BlockLinear, module, path, make, rows))
        weight, bias = module.weight, module.bias
    elif type(module).__name__ == "Conv1D" and type(module).__module__ == "transformers.pytorch_utils":
        weight, bias = module.weight.t(), module.bias
    elif isinstance(module, MultiheadAttention) and forward is MultiheadAttention.forward:
        for name, weight in module.named_parameters():
            _check(weight, f"{path}.{name}" if path else name, make)
        return _like(module, QuantizedAttention(module, make))
    else:
        return None
    _check(weight, f"{path}.weight" if path else "weight", make)
    return _like(module, make(_array(weight), _array(bias)))


def _in_blocks(kind: type[InBlocks], module: Module, path: str, make: Any, rows: dict[int, np.ndarray]) -> InBlocks:
    """A layer of a table that others may share: all have one storage."""
    weight, form = module.weight, make.keywords["form"]
    if id(weight) not in rows:
        _check(weight, f"{path}.weight", make)
        rows[id(weight)] = BlockEmbedding(_array(weight), None, form)._buffers["weight"]._array
    return kind.of_blocks(rows[id(weight)], _array(getattr(module, "bias", None)), form, weight.shape[1])


def _has_weight(module: Module) -> bool:
    """Whether its weight is a parameter, or computed from some (not by a hook, as the old weight_norm does)."""
    return module._parameters.get("weight") is not None or hasattr(module, "parametrizations")


def _check(weight: Tensor, name: str, make: Callable[..., Quantized]) -> None:
    array = _array(weight)
    wild = np.argwhere(~np.isfinite(array.astype(np.float32)))
    if len(wild):
        place = wild[0].tolist()
        cause = tr("quantize: {}{} is {}", name, place, array[tuple(place)])
        raise ArgumentError(cause, "weights of a model whose training has not diverged")
    if array.ndim == 2 and array.shape[1] > MOST_INPUTS and make is Int8Linear:
        cause = tr("quantize: {} {} has more than {} inputs", name, array.shape, MOST_INPUTS)
        raise IndexOutOfRangeError(cause, f'skip_modules=("{name.rpartition(".")[0]}",)')


def _like(old: Module, new: Module) -> Module:
    """The new module, with the hooks of the old one."""
    for name in HOOKS:
        new.__dict__[name] = old.__dict__[name]
    return new


def _array(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.detach()._array


def _exchanged(model: Module, made: dict[Module, Module]) -> Module:
    """The model with each key of `made` replaced by its value, wherever it stands."""
    for module in list(model.modules()):
        for name, child in list(module._modules.items()):
            if child in made:
                events.redefine(module, tr("{}.{} was quantized", type(module).__name__, name))
                module._modules[name] = made[child]
    return made.get(model, model)
