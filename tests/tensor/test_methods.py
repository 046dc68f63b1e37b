"""Methods and free functions are the same objects, and nothing that Transformer code calls is absent."""

import re
import warnings
from inspect import unwrap
from pathlib import Path

import pytest
import torch

import badak as bk
from badak.tensor.methods import METHODS
from tests.tiers import looped

SPECIAL = {"where", "dist", "real", "imag", "T", "mT", "H"}


def test_a_method_is_the_function_of_its_name():
    for name, function in METHODS.items():
        free = getattr(bk, name, None)
        if (
            free is not None
            and name not in SPECIAL
            and not name.startswith("__")
            and callable(free)
            and not isinstance(free, bk.dtype)
        ):
            assert unwrap(free) is unwrap(function), name


def test_methods_are_pytorchs():
    strange = [n for n in METHODS if not hasattr(torch.Tensor, n)]
    assert not strange


CASTERS = "float double half bfloat16 cfloat cdouble long int short char byte bool".split()


@pytest.mark.parametrize("name", CASTERS)
@looped(kind=["float32", "float64", "float16", "bfloat16", "complex64", "complex128", "int64", "uint8", "bool"])
def test_a_caster_gives_the_numbers_and_gradients_of_torch(name, kind):
    found = {}
    for lib in (bk, torch):
        x = lib.tensor([0, 1, 2, 3, 100]).to(getattr(lib, kind))
        leaf = x.is_floating_point() or x.is_complex()
        x.requires_grad_(leaf)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that imaginary parts are dropped
            y = getattr(x, name)()
            back = leaf and y.requires_grad
            if back:
                (y * 2).abs().sum().backward()
        same = y is x
        found[lib] = str(y.dtype).split(".")[1], y.tolist(), same, y.requires_grad, x.grad.tolist() if back and not same else None
    assert found[bk] == found[torch]


def test_functions_have_docstrings():
    silent = [n for n, f in METHODS.items() if not n.startswith("__") and not f.__doc__]
    assert not silent


USED = (
    "abs add add_ addcdiv_ addcmul_ all amax any argmax argmin argsort backward bernoulli_ bfloat16 bool byte ceil chunk clamp "
    "clamp_ clamp_min clone contiguous copy_ cos cpu cuda cumsum data_ptr detach dim div div_ dot double element_size eq exp "
    "expand expand_as expm1_ exponential_ fill_ flatten flip float floor fmod gather ge get_device gt half index_copy index_copy_ "
    "index_fill_ index_select int is_contiguous item lerp lerp_ log log1p_ log_ log_softmax logsumexp long lt masked_fill "
    "masked_fill_ masked_select matmul max mean median min mul mul_ multinomial narrow ne neg nelement new new_empty new_full "
    "new_ones new_tensor new_zeros nonzero norm normal_ numel numpy permute pin_memory pow random_ reciprocal relu "
    "repeat repeat_interleave requires_grad_ reshape reshape_as resize_ rsqrt scatter scatter_ select sigmoid sign sin size "
    "softmax sort split sqrt square squeeze std sub sub_ sum t tanh to tolist topk transpose tril triu triu_ type type_as unbind "
    "uniform_ unique unsqueeze var view view_as where zero_ T mT real imag shape device dtype data grad is_cuda is_sparse ndim "
    "itemsize requires_grad __and__ __bool__ __deepcopy__ __eq__ __float__ __format__ __getitem__ __index__ __int__ __len__ "
    "__pow__ __rpow__ __rsub__ __rtruediv__ __setitem__"
).split()


def test_every_method_that_transformer_code_uses_is_there():
    assert not [name for name in USED if not hasattr(bk.Tensor, name)]


def test_a_tensor_has_no_state_that_its_class_does_not_name():
    x = bk.ones(3, 4, requires_grad=True)
    x.register_hook(lambda dy: None)
    x.register_post_accumulate_grad_hook(lambda leaf: None)
    view = (x * 2)[1:]
    view.retain_grad()
    view.mul_(3)
    (view.sum() + x.detach().add_(0).sum()).backward()
    with bk.inference_mode():
        inferred = x * 2
    parameter = bk.nn.Parameter(bk.ones(2))
    step = bk.compile(lambda y: (parameter * y).sum())
    for _ in range(3):
        step(bk.ones(2))
    declared = {name for name in bk.Tensor.__annotations__ if name.startswith("_")}
    for tensor in (x, view, view._base, inferred, parameter, x.grad):
        assert set(vars(tensor)) <= declared
    source = (Path(bk.__file__).parent / "tensor" / "tensor.py").read_text(encoding="utf-8")
    for name in declared:
        assert re.search(rf"^    {name}: .+  # \w+", source, re.MULTILINE), f"say what {name} means"


ATTRIBUTES = [name for name in dir(bk.Tensor) if not name.startswith("_") and isinstance(getattr(bk.Tensor, name), property)]


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's on .T and .H of what is no matrix
@looped(dtype=["float32", "int64", "bool", "complex64"])
@looped(shape=[(), (3,), (2, 3), (2, 3, 4), (0,), (0, 2)])
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_have_pytorchs_shape_or_an_error_with_a_fix(name, shape, dtype):
    found = []
    for lib in (torch, bk):
        try:
            value = getattr(lib.zeros(shape, dtype=getattr(lib, dtype)), name)
            found.append(tuple(value.shape) if isinstance(value, lib.Tensor) else None)
        except Exception as error:
            found.append("an error")
            assert lib is torch or "\nfix: " in str(error)
    assert found[0] == found[1]
