"""Right calls of every public name: PyTorch's own sample data, and a few by hand where it has none."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.common_modules import module_db

import badak
import badak.nn.functional as F
from badak import Tensor, nn
from badak.nn import init
from tests.torch_samples import lists

Call = tuple[Callable, list, dict]

X, I, B = (lambda: badak.randn(2, 3)), (lambda: badak.tensor([[0, 1], [1, 0]])), (lambda: badak.ones(2, 3) > 0)  # noqa: E741
UNARY_IN_PLACE = (
    "abs acos asin atan ceil cos cosh erf exp exp2 expm1 floor frac log log10 log1p log2 neg reciprocal relu round rsqrt "
    "sigmoid sin sinh sqrt square tan tanh trunc nan_to_num deg2rad rad2deg erfc logit sinc"
).split()
BY_HAND: dict[str, list] = {  # name: [args], or [args, kwargs]
    "sparse_coo_tensor": [[I(), badak.ones(2), (2, 2)]], "spmm": [[badak.eye(2).to_sparse(), X()]],
    "dsmm": [[badak.eye(2).to_sparse(), X()]],
    "sparse_csr_tensor": [[badak.tensor([0, 1, 2]), badak.tensor([0, 1]), badak.ones(2), (2, 2)]],
    "sparse_csc_tensor": [[badak.tensor([0, 1, 2]), badak.tensor([0, 1]), badak.ones(2), (2, 2)]],
    "as_tensor": [[[1.0, 2.0]]], "asarray": [[[1.0, 2.0]]], "tensor": [[[1.0, 2.0]]],
    "rand": [[2, 3]], "randperm": [[5]], "from_numpy": [[X().numpy()]],
    "clip": [[X(), -1.0, 1.0]], "clamp_": [[X(), -1.0, 1.0]], "clip_": [[X(), -1.0, 1.0]], "clamp_max_": [[X(), 1.0]],
    "clamp_min_": [[X(), 1.0]], "fill_": [[X(), 2.0]], "zero_": [[X()]], "detach": [[X()]], "detach_": [[X()]],
    "index_put_": [[X(), (badak.tensor([0]), badak.tensor([1])), badak.tensor([1.0])]],
    "concat": [[[X(), X()], 0]], "concatenate": [[[X(), X()], 0]], "row_stack": [[[X(), X()]]],
    "ger": [[badak.ones(2), badak.ones(3)]], "inverse": [[badak.eye(2)]], "det": [[badak.eye(2)]], "slogdet": [[badak.eye(2)]],
    "matrix_power": [[badak.eye(2), 2]], "chain_matmul": [[X(), X().T]], "adjoint": [[X()]],
    "moveaxis": [[X(), 0, 1]], "swapaxes": [[X(), 0, 1]], "swapdims": [[X(), 0, 1]],
    "is_same_size": [[X(), X()]],
    "dequantize": [[X()]], "fake_quantize_per_tensor_affine": [[X(), 0.1, 0, -8, 7]],
    "fake_quantize_per_channel_affine": [[X(), badak.ones(2), badak.zeros(2, dtype=badak.int32), 0, -8, 7]],
    "is_nonzero": [[badak.tensor(1.0)]], "numel": [[X()]], "result_type": [[X(), I()]],
    "can_cast": [[badak.float32, badak.int64]], "promote_types": [[badak.float32, badak.int64]],
    "is_complex": [[X()]], "is_floating_point": [[X()]], "is_signed": [[X()]], "is_conj": [[X()]], "is_inference": [[X()]],
    "is_neg": [[X()]],
    "fft.fftfreq": [[4]], "fft.rfftfreq": [[4]], "linalg.matmul": [[X(), X().T]],
    "get_device": [[X()]], "draw": [[X().requires_grad_() * 2]], "summary": [[nn.Linear(3, 2), X()]], "to": [[X(), badak.float64]],
    "gcd_": [[I(), I()]], "lcm_": [[I(), I()]], "ldexp_": [[X(), I()[:, :1]]], "xlogy_": [[X(), X()]],
    **{f"nn.functional.lp_pool{n}d": [[badak.rand(1, 2, *[4] * n), 2, 2]] for n in (1, 2, 3)},
    **{f"{name}_window": [[8]] for name in ("bartlett", "blackman", "hamming", "hann", "kaiser")},
    "nn.functional.triplet_margin_with_distance_loss": [[X(), X(), X()]],
    "binomial": [[badak.tensor([4.0]), badak.tensor([0.5])]], "poisson": [[X().abs()]],
    "convolution": [[badak.randn(1, 2, 4), badak.randn(3, 2, 2), None, [1], [0], [1], False, [0], 1]],
    "frobenius_norm": [[X(), 1]], "nuclear_norm": [[X()]], "norm_except_dim": [[X(), 2, 0]], "range": [[0, 4]],
    "segment_reduce": [[X(), "sum"], {"lengths": badak.tensor([1] * len(X()))}],
    "fix": [[X()]], "negative": [[X()]], "slice_copy": [[X(), 0, 0, 1]],
    "unsafe_split_with_sizes": [[X(), [1, 2], 1]], "max_pool1d_with_indices": [[badak.randn(1, 2, 6), 2]],
    **{f"{name}dropout_": [[X(), 0.5, True]] for name in ("", "alpha_")},
    "feature_alpha_dropout_": [[badak.randn(2, 3, 4), 0.5, True]],
    "grid_sampler": [[badak.randn(1, 1, 4, 4), badak.randn(1, 3, 3, 2), 0, 0, False]],
    "affine_grid_generator": [[badak.randn(1, 2, 3), (1, 1, 3, 3), False]],
    "nn.functional.affine_grid": [[badak.randn(1, 2, 3), (1, 1, 3, 3), False]],
    "nn.functional.fractional_max_pool2d_with_indices": [[badak.randn(1, 1, 6, 6), 2, 3]],
    "nn.functional.fractional_max_pool3d_with_indices": [[badak.randn(1, 1, 6, 6, 6), 2, 3]],
    **{f"nn.functional.max_pool{n}d_with_indices": [[badak.rand(1, 2, *[4] * n), 2]] for n in (1, 2, 3)},
    **{f"nn.functional.adaptive_max_pool{n}d_with_indices": [[badak.rand(1, 2, *[4] * n), 2]] for n in (1, 2, 3)},
    "nn.functional.native_channel_shuffle": [[badak.randn(1, 4, 2, 2), 2]],
    "nn.functional.conv_tbc": [[badak.randn(4, 1, 2), badak.randn(2, 2, 3), badak.randn(3)]],
    "conv_tbc": [[badak.randn(4, 1, 2), badak.randn(2, 2, 3), badak.randn(3)]],
    "nn.functional.fold": [[badak.randn(1, 4, 4), (3, 3), (2, 2)]],
    "nn.functional.gumbel_softmax": [[X()]], "nn.functional.dropout1d": [[badak.randn(2, 3, 4), 0.5]],
    "nn.functional.upsample": [[badak.randn(1, 1, 4), 8]],
    "nn.functional.softmax": [[X(), -1]], "nn.functional.log_softmax": [[X(), -1]], "nn.functional.sigmoid": [[X()]],
    "nn.functional.tanh": [[X()]],
    "nn.functional.multi_head_attention_forward": [[
        badak.randn(3, 2, 4), badak.randn(3, 2, 4), badak.randn(3, 2, 4), 4, 2, badak.randn(12, 4), badak.randn(12), None, None,
        False, 0.0, badak.randn(4, 4), badak.randn(4)]],
}  # fmt: skip
BY_HAND |= {f"{name}_": [[X().abs() + 0.1]] for name in UNARY_IN_PLACE}
BY_HAND |= {f"nn.functional.{name}_": [[X()]] for name in ("celu", "elu", "hardtanh", "leaky_relu", "relu", "selu")}
BY_HAND |= {"nn.functional.threshold_": [[X(), 0.0, 1.0]]}
INITIALISERS = {
    "uniform_": [], "normal_": [], "constant_": [1.0], "ones_": [], "zeros_": [], "eye_": [], "dirac_": [], "xavier_uniform_": [],
    "xavier_normal_": [], "kaiming_uniform_": [], "kaiming_normal_": [], "trunc_normal_": [], "orthogonal_": [], "sparse_": [0.5],
}  # fmt: skip
ALIASES = {  # names whose samples stand in PyTorch's data under another
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctanh": "atanh", "divide": "div", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le",
    "multiply": "mul", "not_equal": "ne", "subtract": "sub",
    "arctan2": "atan2", "linalg.matrix_exp": "matrix_exp", "orgqr": "linalg.householder_product", "vander": "linalg.vander",
}  # fmt: skip
ROW_CALLS = {"normal": "normal_"}  # a row of PyTorch's table: the function that its wrong calls are of


class NotHere(Exception):
    """A sample that badak has nothing for: another layout, a generator, a dtype of 4 bits."""


def as_badak(x: Any) -> Any:
    """A value of PyTorch's samples as badak's."""
    if isinstance(x, torch.Tensor):
        if x.layout != torch.strided or x.is_quantized or not hasattr(badak, str(x.dtype).split(".")[1]):
            raise NotHere
        made = badak.from_numpy(x.detach().resolve_conj().resolve_neg().contiguous().numpy().copy())
        return made.requires_grad_(True) if x.requires_grad else made
    if isinstance(x, torch.dtype):
        return getattr(badak, str(x).split(".")[1])
    if isinstance(x, torch.device):
        return "cpu"
    if isinstance(x, torch.memory_format | torch.layout | torch.Generator | torch.nn.Module):
        raise NotHere
    if isinstance(x, torch.Size):
        return tuple(x)
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)(as_badak(part) for part in x)
    if isinstance(x, dict):
        return {name: as_badak(part) for name, part in x.items()}
    return x


def find(name: str) -> Callable | None:
    """badak's function or method of that name."""
    try:
        found = functools.reduce(getattr, name.split("."), badak)
    except AttributeError:
        found = None
    found = found if callable(found) and not isinstance(found, badak.dtype) else getattr(Tensor, name, None)
    return found if callable(found) else None


@functools.cache
def sampled() -> dict[str, list]:
    """name: the rows of PyTorch's table."""
    found: dict[str, list] = {}
    for op in lists().op_db:
        if find(op.name) is not None and not op.name.startswith(("_", "sparse.")):  # tests/tensor/test_sparse.py asks these
            found.setdefault(op.name, []).append(op)
    return found


def calls(name: str) -> Iterator[Call]:
    """Up to three right calls of a function."""
    if name in BY_HAND:
        yield find(name), *_parts(BY_HAND[name])
    rows = sampled().get(ALIASES.get(name, name)) or sampled().get(f"nn.functional.{name}", [])
    for op in rows[:2]:
        yield from _of(op, find(name))
    if not rows and name not in BY_HAND and plain(name) != name:
        for _, args, kwargs in calls(plain(name)):
            yield find(name), [each.detach() if isinstance(each, Tensor) else each for each in args], kwargs


def plain(name: str) -> str:
    """The name of the function with the same arguments that neither writes in place nor copies: add for add_."""
    return name.removesuffix("_").removesuffix("_copy")


def _parts(row: list) -> tuple[list, dict]:
    return row[0], row[1] if len(row) > 1 else {}


def _of(op, function) -> Iterator[Call]:
    dtypes = op.supported_dtypes("cpu")
    dtype = next((each for each in (torch.float32, torch.int64, torch.bool) if each in dtypes), torch.complex64)
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=dtype.is_floating_point))
    for sample in samples[:2] + samples[2:][-1:]:
        try:
            yield function, as_badak([sample.input, *sample.args]), as_badak(sample.kwargs)
        except (NotHere, TypeError, ValueError):  # NumPy has no such dtype, or not so many dims
            continue


def torch_refuses(name: str) -> Iterator[tuple[Call, type[Exception], str]]:
    """(a call, what PyTorch raises, what it says) for each wrong call in PyTorch's own table."""
    for op in sampled().get(name, ()):
        if op.error_inputs_func is None:
            continue
        for wrong in op.error_inputs("cpu"):
            sample = wrong.sample_input
            try:
                call = find(ROW_CALLS.get(name, name)), as_badak([sample.input, *sample.args]), as_badak(sample.kwargs)
                yield call, wrong.error_type, wrong.error_regex
            except (NotHere, TypeError, ValueError):
                continue


def layers() -> dict[str, Any]:
    """name: the row of PyTorch's table of modules, for each that badak has."""
    return {row.name: row for row in module_db if hasattr(nn, row.name.split(".")[-1])}


def layer_calls(row) -> Iterator[tuple[type, list, dict, list, dict]]:
    """(class, arguments of the constructor, arguments of the forward) of up to three layers."""
    kind = getattr(nn, row.name.split(".")[-1])
    made = row.module_inputs_func(row, device="cpu", dtype=torch.float32, requires_grad=False, training=True)
    for each in made[:2] + made[2:][-1:]:
        built, used = each.constructor_input, each.forward_input
        if used is None:
            continue
        try:
            yield (
                kind,
                as_badak(list(built.args)),
                as_badak(built.kwargs),
                as_badak(list(used.args)),
                as_badak(used.kwargs),
            )
        except (NotHere, TypeError):
            continue


def initialisers() -> Iterator[Call]:
    for name, more in INITIALISERS.items():
        yield getattr(init, name), [badak.empty(3, 4) if name != "dirac_" else badak.empty(3, 4, 2), *more], {}


def public() -> dict[str, Callable]:
    """Every public function of badak, badak.nn.functional, badak.linalg and badak.fft."""
    spaces = {"": badak, "nn.functional.": F, "linalg.": badak.linalg, "fft.": badak.fft}
    found = {}
    for prefix, space in spaces.items():
        for name in dir(space):
            value = getattr(space, name)
            if not name.startswith("_") and hasattr(value, "__explained__"):
                found[prefix + name] = value
    return found
