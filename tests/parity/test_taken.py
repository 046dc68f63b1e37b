"""What a call gives and takes around its tensors: out=, integers of NumPy and of 0-d tensors, NaN next to other entries.

Each row is run in both libraries; both refuse, or give the same values, dtypes and sizes.
"""

import functools
import warnings

import numpy as np
import pytest
import torch

import badak


def at(t, name: str):
    return functools.reduce(getattr, name.split("."), t)


def told(x):
    if isinstance(x, torch.Tensor | badak.Tensor):
        values = x.detach().resolve_conj().numpy()
        return str(x.dtype).split(".")[1], tuple(x.shape), np.round(values.astype(complex), 4).tolist().__repr__()
    return [told(each) for each in x] if isinstance(x, list | tuple) else x


def both(run):
    """What the two libraries make of it; None where one refuses."""
    found = []
    for t in (torch, badak):
        with warnings.catch_warnings(), badak.kernels.use("reference"):
            warnings.simplefilter("ignore")
            try:
                found.append(told(run(t)))
            except Exception as error:
                assert t is torch or "\nfix: " in str(error), error
                found.append(None)
    return found


def square(t):
    return t.tensor([[4.0, 1.0], [1.0, 3.0]])


OUT = {
    "add": (1.0,),
    "matmul": (square,),
    "sort": (),
    "topk": (1,),
    "kthvalue": (1,),
    "mode": (0,),
    "median": (0,),
    "cummax": (0,),
    "aminmax": (),
    "geqrf": (),
    "frexp": (),
    "diag": (),
    "diff": (),
    "isin": (square,),
    "histc": (),
    "hypot": (square,),
    "inner": (square,),
    "kron": (square,),
    "clamp_min": (2.0,),
    "clamp_max": (2.0,),
    "conj_physical": (),
    "nan_to_num": (),
    "nanmean": (),
    "softmax": (0,),
    "log_softmax": (0,),
    "isposinf": (),
    "isneginf": (),
    "msort": (),
    "float_power": (2,),
    "searchsorted": (square,),
    "argsort": (),
    "clone": (),
    "std_mean": (),
    "linalg.qr": (),
    "linalg.svd": (),
    "linalg.slogdet": (),
    "linalg.lu": (),
    "linalg.lu_factor": (),
    "linalg.inv_ex": (),
    "linalg.eigh": (),
    "linalg.cholesky_ex": (),
    "linalg.inv": (),
}


def given(t, args):
    return [each(t) if callable(each) else each for each in args]


def holders(t, made, how: str):
    if how == "empty":
        found = [t.empty(0, dtype=each.dtype) for each in made]
    elif how == "view":  # every other place of a memory
        found = [t.zeros(*each.shape, 2, dtype=each.dtype)[..., 0] for each in made]
    elif how == "learned":
        found = [t.zeros_like(each).requires_grad_(each.is_floating_point()) for each in made]
    else:
        found = [t.zeros_like(each) for each in made]
    return found[:-1] if how == "one too few" else found


@pytest.mark.parametrize("how", ["empty", "right", "view", "learned", "one too few", "text"])
@pytest.mark.parametrize("name", OUT)
def test_out_holds_the_result(name, how):
    if (name, how) == ("histc", "learned"):
        pytest.skip("PyTorch has no derivative of it to ask for")

    def run(t):
        function, args = at(t, name), given(t, OUT[name])
        made = function(square(t), *args)
        parts = made if isinstance(made, tuple) else (made,)
        outs = tuple(holders(t, parts, how))
        result = function(square(t), *args, out="a" if how == "text" else outs if isinstance(made, tuple) or not outs else outs[0])
        same = [a is b for a, b in zip(result if isinstance(made, tuple) else (result,), outs)]
        return same, [part.abs() if name.startswith("linalg") else part for part in outs]

    theirs, ours = both(run)
    assert ours == theirs


@pytest.mark.parametrize(
    "name, args", [("arange", (4,)), ("linspace", (0, 1, 4)), ("logspace", (0, 1, 4)), ("zeros", (4,)), ("eye", (4,))]
)
def test_what_is_made_is_written_where_out_lies(name, args):
    def run(t):
        memory = t.ones(4, 4, 2)
        at(t, name)(*args, out=memory[..., 1] if name == "eye" else memory[0, :, 1])
        return memory

    theirs, ours = both(run)
    assert ours == theirs and theirs is not None


@pytest.mark.parametrize(
    "name, args",
    [("topk", (1,)), ("index_select", (0, [0])), ("sort", ()), ("cummax", (0,)), ("max", (0,)), ("kthvalue", (1,))],
)
def test_out_of_a_number(name, args):
    def run(t):
        values = [t.tensor(each) if isinstance(each, list) else each for each in args]
        outs = t.zeros(()), t.zeros((), dtype=t.int64)
        at(t, name)(t.tensor(5.0), *values, out=outs[0] if name == "index_select" else outs)
        return outs

    theirs, ours = both(run)
    assert ours == theirs and theirs is not None


@pytest.mark.parametrize("learned", ["input", "out", "neither", "no_grad"])
def test_out_where_a_gradient_is_wanted(learned):
    def run(t):
        x, out = t.ones(2, requires_grad=learned in ("input", "no_grad")), t.ones(2, requires_grad=learned == "out")
        with t.set_grad_enabled(learned != "no_grad"):
            return t.add(x, 1, out=out)

    theirs, ours = both(run)
    assert ours == theirs and (theirs is None) == (learned in ("input", "out"))


WHOLE = {  # a call with integers n(1), n(2): one for each place that takes one
    "chunk": lambda t, x, n: t.chunk(x, n(2)),
    "sum": lambda t, x, n: t.sum(x, n(1)),
    "mean": lambda t, x, n: x.mean(n(1)),
    "median": lambda t, x, n: t.median(x, n(1)),
    "quantile": lambda t, x, n: t.quantile(x, 0.5, n(1)),
    "amax": lambda t, x, n: x.amax(n(1)),
    "aminmax": lambda t, x, n: t.aminmax(x, dim=n(1)),
    "var_mean": lambda t, x, n: t.var_mean(x, n(1)),
    "any": lambda t, x, n: t.any(x > 1, n(1)),
    "kthvalue": lambda t, x, n: t.kthvalue(x, n(2)),
    "softmax": lambda t, x, n: x.softmax(n(1)),
    "cumsum": lambda t, x, n: x.cumsum(n(1)),
    "squeeze": lambda t, x, n: x.squeeze(n(1)),
    "unsqueeze": lambda t, x, n: x.unsqueeze(n(1)),
    "roll": lambda t, x, n: t.roll(x, n(1), n(1)),
    "logsumexp": lambda t, x, n: t.logsumexp(x, n(1)),
    "norm": lambda t, x, n: t.norm(x, 2, n(1)),
    "flip": lambda t, x, n: t.flip(x, (n(1),)),
    "cosine_similarity": lambda t, x, n: t.nn.functional.cosine_similarity(x, x, n(1)),
    "flatten": lambda t, x, n: t.flatten(x, n(1)),
    "normalize": lambda t, x, n: t.nn.functional.normalize(x, 2.0, n(1)),
    "tensor_split": lambda t, x, n: t.tensor_split(x, n(2)),
    "conv1d": lambda t, x, n: t.nn.functional.conv1d(x[None], t.ones(1, 3, 2), padding=n(1), stride=n(2)),
    "max_pool1d": lambda t, x, n: t.nn.functional.max_pool1d(x, n(2)),
    "narrow": lambda t, x, n: x.narrow(n(1), n(1), n(2)),
    "interpolate": lambda t, x, n: t.nn.functional.interpolate(x[None], size=n(2)),
    "pad": lambda t, x, n: t.nn.functional.pad(x, (n(1), n(2))),
    "reshape": lambda t, x, n: x.reshape(n(2), -1),
    "permute": lambda t, x, n: x.permute(n(1), 0),
    "diagonal": lambda t, x, n: x.diagonal(n(1)),
    "repeat": lambda t, x, n: x.repeat(n(2), n(1)),
    "eye": lambda t, x, n: t.eye(n(2)),
    "cat": lambda t, x, n: t.cat([x, x], n(1)),
    "adaptive_avg_pool1d": lambda t, x, n: t.nn.functional.adaptive_avg_pool1d(x, n(2)),
    "stack": lambda t, x, n: t.stack([x, x], n(1)),
}
KINDS = {
    "int64 of NumPy": lambda t, n: np.int64(n),
    "int8 of NumPy": lambda t, n: np.int8(n),
    "0-d tensor": lambda t, n: t.tensor(n),
    "float": lambda t, n: float(n),
    "half": lambda t, n: n + 0.5,
    "float32 of NumPy": lambda t, n: np.float32(n),
    "0-d tensor of a float": lambda t, n: t.tensor(float(n)),
    "text": lambda t, n: str(n),
}
TAKEN = {  # more than PyTorch takes, with the meaning that it must have
    ("pad", "0-d tensor"),
    ("flip", "0-d tensor"),
    ("max_pool1d", "0-d tensor"),
    ("interpolate", "0-d tensor"),
    ("adaptive_avg_pool1d", "0-d tensor"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_of_all_kinds(name, kind):
    theirs, ours = both(lambda t: WHOLE[name](t, t.arange(12.0).reshape(3, 4), functools.partial(KINDS[kind], t)))
    assert ours == theirs or (theirs is None and (name, kind) in TAKEN)


BAD = [float("nan"), float("inf"), 1.0, -2.0, 0.0]


@pytest.mark.parametrize(
    "name, args",
    [
        ("diag", ()),
        ("diag", (1,)),
        ("diag", (-2,)),
        ("diag_embed", (1,)),
        ("diagflat", (-1,)),
        ("nn.functional.softshrink", ()),
        ("nn.functional.hardshrink", ()),
        ("tril", ()),
        ("triu", ()),
    ],
)
def test_nan_and_infinity_stay_where_they_are(name, args):
    theirs, ours = both(lambda t: at(t, name)(t.tensor(BAD)[None] if name in ("tril", "triu") else t.tensor(BAD), *args))
    assert ours == theirs and theirs is not None


ORDERED = {
    **dict.fromkeys(
        ("max", "min", "amax", "amin", "argmax", "argmin", "aminmax", "sort", "argsort", "median", "nanmedian", "mode"),
        1,
    ),
    **dict.fromkeys(("msort", "sign", "unique", "round", "histc", "floor", "ceil", "trunc", "frac", "relu"), 1),
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin", "hypot", "searchsorted", "bucketize", "gt", "le", "nextafter"), 2),
}


@pytest.mark.parametrize("name", ORDERED)
def test_complex_numbers_have_no_order(name):
    theirs, ours = both(lambda t: at(t, name)(*[t.tensor([1 + 2j, 3 - 1j])] * ORDERED[name]))
    assert theirs is None and ours is None
    assert both(lambda t: t.sgn(t.tensor([1 + 2j, 0j])))[1] is not None


@pytest.mark.parametrize(
    "input, args, name",
    [
        ((3, 3), ((3, 3), (3, 1)), "addmm"),
        ((1,), ((3, 3), (3, 1)), "addmm"),
        ((2,), ((0, 3), (3, 2)), "addmm"),
        ((1, 2), ((2, 2), (2,)), "addmv"),
        ((), ((2, 2), (2,)), "addmv"),
        ((2, 2, 2), ((2,), (2,)), "addr"),
        ((2, 1), ((2,), (2,)), "addr"),
        ((5, 1, 1), ((2, 2, 2), (2, 2, 2)), "addbmm"),
        ((3, 2, 2), ((1, 2, 2), (1, 2, 2)), "baddbmm"),
        ((2, 1), ((1, 2, 2), (1, 2, 2)), "baddbmm"),
    ],
)
def test_what_is_added_to_a_product_stretches_to_it(input, args, name):
    theirs, ours = both(lambda t: at(t, name)(t.ones(input), *(t.ones(*each) for each in args)))
    assert ours == theirs


NUMBERS = [
    lambda t, c: t.addcmul(t.ones(2), t.ones(2), t.ones(2), value=c),
    lambda t, c: t.addcdiv(t.ones(2), t.ones(2), t.ones(2), value=c),
    lambda t, c: t.nn.functional.rms_norm(t.ones(2, 2), (2,), eps=c),
    lambda t, c: t.full((2,), c),
    lambda t, c: t.ones(2) ** c,
    lambda t, c: t.add(t.ones(2), t.ones(2), alpha=c),
    lambda t, c: t.lerp(t.ones(2), t.zeros(2), c),
    lambda t, c: t.ones(2) * c,
    lambda t, c: t.nn.functional.elu(t.ones(2), c),
    lambda t, c: t.clamp(t.ones(2), c),
    lambda t, c: t.nn.functional.layer_norm(t.ones(2), (2,), eps=c),
]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("call", NUMBERS)
def test_a_number_of_numpy_is_a_number(call, kind):
    theirs, ours = both(lambda t: call(t, kind(2)))
    assert ours == theirs and theirs is not None


@pytest.mark.parametrize(
    "how",
    [{"win_length": 2}, {"win_length": 3, "hop_length": 2}, {"win_length": 4}, {"win_length": 2, "center": False}],
)
def test_a_window_of_ones_is_as_long_as_it_is_said(how):
    theirs, ours = both(lambda t: t.stft(t.arange(20.0), 4, return_complex=True, **how))
    assert ours == theirs and theirs is not None


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("size", [None, 2, [2], (2, 3), (2, None), "2", 2.0, True, (2.5, 2), (1, 2, 3), (), 2**64, -1, {2}])
def test_sizes_of_adaptive_pools(axes, size):
    for name in (f"nn.functional.adaptive_avg_pool{axes}d", f"nn.functional.adaptive_max_pool{axes}d"):
        theirs, ours = both(lambda t, name=name: at(t, name)(t.arange(2.0 * 4**axes).reshape(1, 2, *[4] * axes), size))
        assert ours == theirs, name


PAIRS = {
    "max": (0,), "min": (0,), "sort": (0,), "topk": (1, 0), "kthvalue": (1, 0), "mode": (0,), "median": (0,), "nanmedian": (0,),
    "cummax": (0,), "cummin": (0,), "frexp": (), "histogram": (3,), "aminmax": (), "split_copy": (3,), "slogdet": (),
    "linalg.qr": (),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_out_of_several_results_is_as_many_tensors_of_their_dtypes(name):
    kinds = {"max": "int64", "frexp": "int32", "histogram": "float32", "aminmax": "float32", "split_copy": "float32",
             "slogdet": "float32", "linalg.qr": "float32"}  # fmt: skip
    right = kinds.get(name, "int64")
    for second in (right, "float64", "int16"):
        refused = []
        for lib in (torch, badak):
            x = lib.arange(9.0).reshape(3, 3) + lib.eye(3)
            function = functools.reduce(getattr, name.split("."), lib)
            expected = function(x, *PAIRS[name])
            out = tuple(lib.empty(0 if name != "split_copy" else (3, 3), dtype=getattr(lib, kind)) for kind in ("float32", second))
            out = out[: len(expected)]
            try:
                function(x, *PAIRS[name], out=out)
            except (RuntimeError, TypeError):
                refused.append(True)
            else:
                refused.append(False)
                for held, y in zip(out, expected, strict=True):
                    assert held.tolist() == y.tolist(), (lib.__name__, second)
        assert refused[1] or not refused[0], (second, refused)
        assert not (second == right and refused[1]), refused
    for wrong in (badak.empty(0), (badak.empty(0),) * 3, 3):
        with pytest.raises((TypeError, RuntimeError), match="argument 'out' must be"):
            functools.reduce(getattr, name.split("."), badak)(badak.eye(3), *PAIRS[name], out=wrong)
