"""A product, a layer or attention of several dtypes is refused in PyTorch's words, by which programs look for the error."""

import pytest
import torch

import badak
from badak.core.errors import DTypeError

H, F, D, L = "float16", "float32", "float64", "int64"
PRODUCTS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((5, 2, 3), (3, 2)), ((5, 2, 3), (5, 3, 2))]
LINEAR = [(H, F, None), (D, F, None), (H, F, F), (H, F, H), (F, F, H), (H, F, D), (L, F, F)]
CONV = [(H, F, None), (H, F, H), (F, F, H), (H, F, F), (H, F, D), (D, F, F)]


@pytest.fixture(autouse=True)
def native():
    """PyTorch without oneDNN, which has words of its own, on the CPUs alone whose 16-bit instructions it knows."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    yield
    torch._C._set_mkldnn_enabled(before)


def same_words(call):
    """The first line of badak's error begins with PyTorch's."""
    with pytest.raises(RuntimeError) as theirs:
        call(torch)
    with pytest.raises(DTypeError) as ours:
        call(badak)
    assert str(ours.value).startswith(str(theirs.value).rstrip(".")) and "\nfix: " in str(ours.value)


def ones(lib, shape, kind):
    return None if kind is None else lib.ones(shape, dtype=getattr(lib, kind))


@pytest.mark.parametrize("a, b", PRODUCTS)
@pytest.mark.parametrize("kinds", [(H, F), (F, D), (D, "bfloat16"), (L, F), ("complex64", F), ("uint8", "int32")])
def test_products(a, b, kinds):
    same_words(lambda lib: ones(lib, a, kinds[0]) @ ones(lib, b, kinds[1]))


@pytest.mark.parametrize("kinds", LINEAR)
@pytest.mark.parametrize("shape", [(3,), (2, 3), (5, 2, 3)])
def test_linear(shape, kinds):
    same_words(lambda lib: lib.nn.functional.linear(*map(lambda s, k: ones(lib, s, k), (shape, (4, 3), (4,)), kinds)))


@pytest.mark.parametrize("kinds", CONV)
def test_convolution(kinds):
    same_words(lambda lib: lib.nn.functional.conv1d(*map(lambda s, k: ones(lib, s, k), ((1, 3, 5), (2, 3, 1), (2,)), kinds)))


def test_transposed_convolution_attention_and_weights_of_classes():
    same_words(lambda lib: lib.nn.functional.conv_transpose1d(ones(lib, (1, 3, 5), H), ones(lib, (3, 2, 1), F), ones(lib, (2,), F)))
    same_words(lambda lib: lib.nn.functional.scaled_dot_product_attention(*(ones(lib, (1, 1, 3, 4), k) for k in (H, F, F))))
    same_words(lambda lib: lib.nn.functional.cross_entropy(ones(lib, (2, 3), F), lib.tensor([0, 1]), weight=ones(lib, (3,), D)))
