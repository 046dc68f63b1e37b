"""Non-linearities and dropout as functions, against PyTorch."""

import warnings

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError, BadakError, BadakWarning, ShapeError
from badak.nn import functional as F
from tests.nn.twins import agree, normal

X = np.concatenate([3 * normal(0, 40), [0.0, 0.1, -0.1, 25.0, -25.0, 90.0, -90.0]]).astype(np.float32)

ONE_ARGUMENT = [
    "relu", "gelu", "silu", "tanh", "sigmoid", "logsigmoid", "softplus", "mish", "hardtanh", "relu6", "hardsigmoid",
    "hardswish", "leaky_relu", "elu", "celu", "selu", "softsign", "tanhshrink", "hardshrink", "softshrink",
]  # fmt: skip


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_activation_and_its_gradient(name):
    dtypes = ("float32",) if name == "hardsigmoid" else ("float32", "float64")  # PyTorch's 1/6 is a float32
    agree(lambda lib, x: getattr(lib.nn.functional, name)(x), X, dtypes=dtypes)


@pytest.mark.parametrize("name, options", [
    ("gelu", {"approximate": "tanh"}), ("softplus", {"beta": 2.0, "threshold": 5.0}),
    ("hardtanh", {"min_val": -2.0, "max_val": 0.5}),
    ("leaky_relu", {"negative_slope": 0.2}), ("elu", {"alpha": 0.5}), ("celu", {"alpha": 0.5}), ("hardshrink", {"lambd": 1.0}),
    ("softshrink", {"lambd": 1.0}), ("threshold", {"threshold": 0.5, "value": -3.0}),
])  # fmt: skip
def test_activation_with_its_settings(name, options):
    agree(lambda lib, x: getattr(lib.nn.functional, name)(x, **options), X)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name, options", [
    ("selu", {}), ("elu", {"alpha": 0.7}), ("celu", {"alpha": 0.7}), ("hardswish", {}), ("hardsigmoid", {}), ("glu", {}),
    ("softplus", {"beta": 0.7, "threshold": 3.0}), ("softsign", {}), ("leaky_relu", {"negative_slope": 0.3}), ("relu6", {}),
])  # fmt: skip
def test_activations_of_16_bits_are_rounded_once(name, options, dtype):
    x = torch.linspace(-6, 6, 2000).to(getattr(torch, dtype))
    expected = getattr(torch.nn.functional, name)(x.double(), **options).to(x.dtype).float()
    for inplace in (False, True) if name in ("selu", "elu", "celu", "hardswish", "hardsigmoid", "relu6") else (False,):
        given = badak.tensor(x.tolist(), dtype=getattr(badak, dtype))
        y = getattr(F, name)(given, **options, **({"inplace": True} if inplace else {})).float()
        assert np.count_nonzero(y.numpy() != expected.numpy()) <= 3  # of 2000: where float32 stands between two of 16 bits


NOT_FLOATS = {"bool": [False, True], "uint8": [0, 1, 200], "int64": [-3, 0, 2]}


@pytest.mark.parametrize("dtype", NOT_FLOATS)
@pytest.mark.parametrize("name", [
    *ONE_ARGUMENT, "rrelu", "glu", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "softmax", "normalize",
])  # fmt: skip
def test_integers_are_taken_where_pytorch_takes_them(name, dtype):
    found = []
    for lib in (badak, torch):
        x = lib.tensor([NOT_FLOATS[dtype] * 2], dtype=getattr(lib, dtype))
        others = (x,) if name.endswith("_loss") else (-1,) if name == "softmax" else ()
        try:
            y = getattr(lib.nn.functional, name)(x, *others)
        except RuntimeError as error:
            found.append(error)
        else:
            found.append((str(y.dtype)[6:], y.float().numpy()))
    if isinstance(found[1], RuntimeError):
        assert isinstance(found[0], BadakError), f"badak gives {found[0]}"
    else:
        assert found[0][0] == found[1][0]
        np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin", "glu"])
def test_function_along_a_dim(name, dim):
    agree(lambda lib, x: getattr(lib.nn.functional, name)(x, dim), normal(1, 4, 6))


def test_softmax_converts_to_the_dtype_asked_for():
    x = badak.tensor([1, 2, 3])
    assert F.softmax(x, dim=0, dtype=badak.float64).dtype is badak.float64
    assert F.log_softmax(badak.randn(3), dim=0, dtype=badak.float64).dtype is badak.float64


def test_softmax_of_a_single_number_is_one():
    assert F.softmax(badak.tensor(3.0), dim=0).item() == 1.0


def test_softmax_without_a_dim_takes_pytorchs_guess_and_says_so():
    x = normal(1, 2, 3)
    with pytest.warns(BadakWarning, match="implicit dimension choice") as caught:
        y = F.softmax(badak.from_numpy(x))
    assert str(caught[0].message).endswith("\nfix: softmax(x, dim=-1), or dim=1 if it was meant")
    np.testing.assert_array_equal(y.numpy(), F.softmax(badak.from_numpy(x), dim=1).numpy())


@pytest.mark.parametrize("weights", [1, 3])
def test_prelu(weights):
    agree(lambda lib, x, w: lib.nn.functional.prelu(x, w), normal(0, 2, 3, 4), normal(1, weights))


@pytest.mark.parametrize("name", ["relu", "silu", "mish", "hardtanh", "relu6", "hardsigmoid", "hardswish", "leaky_relu", "elu",
                                  "celu", "selu"])  # fmt: skip
def test_activation_in_place_writes_into_its_input_and_keeps_the_gradient(name):
    def both(lib, x):
        z = x * 1.5
        y = getattr(lib.nn.functional, name)(z, inplace=True)
        assert y is z
        return z * 1.0

    agree(both, X, dtypes=("float32",))


def test_underscored_functions_write_into_their_input():
    for name, arguments in {"relu_": (), "leaky_relu_": (0.1,), "elu_": (), "celu_": (), "selu_": (), "hardtanh_": (),
                            "threshold_": (0.0, 1.0)}.items():  # fmt: skip
        x, twin = badak.from_numpy(X.copy()), torch.from_numpy(X.copy())
        assert getattr(F, name)(x, *arguments) is x
        getattr(torch.nn.functional, name)(twin, *arguments)
        np.testing.assert_allclose(x.numpy(), twin.numpy(), rtol=1e-6)


def test_glu_of_an_odd_size_is_refused():
    with pytest.raises(ShapeError, match="Halving dimension must be even, but dimension -1 is size 3"):
        F.glu(badak.zeros(2, 3))


@pytest.mark.parametrize("hard", [False, True])
def test_gumbel_softmax_draws_pytorchs_sample(hard):
    x = normal(0, 4, 5)
    badak.manual_seed(3)
    torch.manual_seed(3)
    ours = F.gumbel_softmax(badak.from_numpy(x), tau=0.7, hard=hard)
    theirs = torch.nn.functional.gumbel_softmax(torch.from_numpy(x), tau=0.7, hard=hard)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-6)


# ------------------------------------------------------------------ dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("shape", [(33, 7), (3,), (2, 3, 4)])
def test_dropout_keeps_what_pytorch_keeps(p, shape):
    def both(lib, x):
        lib.manual_seed(5)
        return lib.nn.functional.dropout(x, p)

    agree(both, normal(0, *shape), units=0)


@pytest.mark.parametrize("name, shape", [
    ("dropout1d", (4, 5, 3)), ("dropout1d", (5, 3)), ("dropout2d", (4, 5, 3, 2)), ("dropout3d", (4, 5, 3, 2, 2)),
    ("alpha_dropout", (6, 7)),
])  # fmt: skip
def test_other_dropouts_keep_what_pytorch_keeps(name, shape):
    def both(lib, x):
        lib.manual_seed(5)
        return getattr(lib.nn.functional, name)(x, 0.4, True)

    agree(both, normal(0, *shape), units=4)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("dims", range(1, 7))
def test_dropout_of_channels_warns_of_dims_as_pytorch_does(axes, dims):
    found = []
    for lib in (badak, torch):
        lib.manual_seed(5)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                y = getattr(lib.nn.functional, f"dropout{axes}d")(lib.ones((3,) * dims), 0.4)
            except RuntimeError:
                y = None
        said = [str(each.message).partition(":")[2][:30] for each in said]
        found.append((said, None if y is None else y.numpy()))
    assert found[0][0] == found[1][0]
    if found[1][1] is None:
        assert found[0][1] is None
    else:
        np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)


def test_dropout_does_nothing_outside_of_training():
    x = badak.ones(3)
    assert F.dropout(x, 0.5, training=False) is x
    assert F.dropout(x, 0.0) is x
    badak.manual_seed(1)
    before = badak.rand(1).item()
    badak.manual_seed(1)
    F.dropout(x, 0.5, training=False)
    assert badak.rand(1).item() == before


def test_dropout_in_place():
    x = badak.ones(50)
    assert F.dropout(x, 0.5, inplace=True) is x
    assert set(x.tolist()) == {0.0, 2.0}


def test_a_probability_outside_zero_to_one_is_refused():
    with pytest.raises(ArgumentError, match="dropout probability has to be between 0 and 1, but got 1.5"):
        F.dropout(badak.ones(3), 1.5)


@pytest.mark.parametrize("name", ["relu", "relu6", "elu", "selu", "celu", "hardtanh", "logsigmoid", "hardshrink", "softshrink",
                                  "tanhshrink", "softsign", "leaky_relu", "threshold", "threshold_", "softplus", "gelu", "silu",
                                  "mish", "hardswish", "hardsigmoid"])  # fmt: skip
def test_no_activation_hides_a_nan(name):
    given = (3.0, 2.0) if name.startswith("threshold") else ()
    mine, expected = (
        getattr(lib.nn.functional, name)(lib.tensor([float("nan"), 1.0, 4.0]), *given).tolist() for lib in (badak, torch)
    )
    assert np.isnan(mine[0]) and np.isnan(expected[0])
    np.testing.assert_allclose(mine[1:], expected[1:], rtol=1e-6)


@pytest.mark.parametrize("name", ["elu", "celu"])
def test_an_alpha_that_is_no_number_is_named(name):
    function = getattr(badak.nn.functional, name)
    for wrong in ("1.5", None, 1j):
        with pytest.raises(TypeError, match=f"{name}..: argument 'alpha' must be float"):
            function(badak.ones(2), wrong)


def test_celu_has_no_alpha_of_0():
    for lib in (torch, badak):
        with pytest.raises((RuntimeError, ValueError, ZeroDivisionError), match="alpha cannot be 0 for CELU"):
            lib.nn.functional.celu(lib.ones(2), 0.0)
