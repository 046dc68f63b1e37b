"""Wrong calls of everyday functions: what PyTorch refuses is refused here, in two lines, and what it takes is taken."""

import warnings

import pytest
import torch

import badak

CALLS = {
    "randint": [
        (0, 2**70, (2,)),
        (0, 2**63, (2,)),
        (0, 2**63 - 1, (2,)),
        (-(2**63), 0, (2,)),
        (2.5, (2,)),
        (0, 2.0, (2,)),
        (3, 2, (2,)),
        (True, (2,)),
        ("a", (2,)),
        (0, 300, (2,), {"dtype": "int8"}),
        (-5, 5, (2,), {"dtype": "uint8"}),
        (0, 2, (2,), {"dtype": "bool"}),
        (0, 3, (2,), {"dtype": "bool"}),
        (0, 70000, (2,), {"dtype": "float16"}),
        (0, 60000, (2,), {"dtype": "float16"}),
        (0, 2, (2,), {"dtype": "complex64"}),
        (0, 5, (-1,)),
        (0, 5, (2.5,)),
        (0, 5, 3),
        (0, 5, "a"),
    ],
    "randperm": [
        (2.5,),
        (-1,),
        (0,),
        (3.0,),
        (True,),
        (None,),
        ("a",),
        (2**70,),
        (300, {"dtype": "int8"}),
        (100, {"dtype": "int8"}),
        (3, {"dtype": "bool"}),
        (3, {"dtype": "complex64"}),
        (3, {"dtype": "float32"}),
    ],
    "tensor": [
        ([1, 2**63],),
        ([1.5, 2**63],),
        ([2**64],),
        ([-(2**63) - 1],),
        ([True, 2**63],),
        (2**63,),
        ([[1], [2**63]],),
        ((1, 2**63),),
        ([2**63 - 1],),
        ([1, 2**63], {"dtype": "float64"}),
        ([2**70], {"dtype": "float32"}),
        ([1, None],),
        (["a"],),
        ([[1], [1, 2]],),
    ],
    "split": [
        ("x", [5, -1]),
        ("x", [2, 2]),
        ("x", [1, 3]),
        ("x", -1),
        ("x", 0),
        ("x", 2.5),
        ("x", [1.5, 2.5]),
        ("x", []),
        ("x", [4, 0]),
    ],
    "meshgrid": [("x", "x"), ("m", "x"), ("x", "m"), ("s", "x"), ("m",), (), ("x", "i")],
    "cartesian_prod": [("x", "x"), ("m", "x"), ("x", "m"), ("m",), ("s", "x"), ("s",), ("x",)],
    "stft": [
        ("long", 8, {"hop_length": 0, "return_complex": True}),
        ("long", 8, {"hop_length": -1, "return_complex": True}),
        ("long", 8, {"hop_length": 2, "return_complex": True}),
        ("long", 8, {"win_length": 0, "return_complex": True}),
        ("long", 8, {"win_length": 9, "return_complex": True}),
        ("long", 0, {"return_complex": True}),
    ],
    "cdist": [
        ("m", "m", {"p": -1}),
        ("m", "m", {"p": 0.0}),
        ("m", "m", {"p": 1.5}),
        ("m", "m", {"p": float("inf")}),
        ("m", "m", {"p": float("nan")}),
        ("m", "m", {"p": "a"}),
    ],
    "isin": [("x", "text"), ("x", 1.0), (1.0, "x"), (1, 2), ("x", None), ("x", "x")],
    "set_grad_enabled": [("text",), (1,), (0,), (None,), (True,), ([],)],
    "inference_mode": [(True,), (False,)],
    "autocast": [("nonsense",), ("cpu",), ("cuda",), ("xla",), (1,), (None,), ("cuda:0",), ("CPU",)],
    "compile": [
        ("f", {"mode": "nonsense"}),
        ("f", {"mode": "reduce-overhead"}),
        ("f", {"mode": "default"}),
        ("f", {"backend": "nonsense"}),
        ("f", {"backend": "aot_eager"}),
        ("f", {"backend": "f"}),
        ("f", {"mode": 3}),
        ("f", {"dynamic": "text"}),
        ("f", {"dynamic": True}),
        ("f", {"mode": "default", "options": {"max_autotune": True}}),
        (3,),
        ("x",),
    ],
    "autograd.grad": [
        ("loss", []),
        ("loss", ["leaf"]),
        ("loss", "leaf"),
        ("loss", ["x"]),
        ("loss", ()),
        ([], ["leaf"]),
    ],
    "autograd.backward": [("loss", {"inputs": []}), ("loss", {"inputs": ["leaf"]}), ("loss",)],
    "nn.functional.binary_cross_entropy": [
        ("half", "two"),
        ("half", "half"),
        ("two", "half"),
        ("half", "minus"),
        ("half", "nan"),
        ("nan", "half"),
        ("minus", "half"),
    ],
    "tril_indices": [(2, 2, {"dtype": "float32"}), (2, 2, {"dtype": "int32"}), (2, 2, {"dtype": "bool"}), (2, 2)],
    "Tensor.to": [("x", {"dtpye": "float64"}), ("x", {"dtype": "float64"}), ("x", {"copy": True}), ("x", "text")],
    "Tensor.sum": [("m", {"dtype": "bool"}), ("m", {"dtype": "int64"}), ("m", 5), ("m", "text"), ("m", 1.0)],
    "device": [("nonsense",), ("cpu",), ("hpu",), ("mps",), (2.5,), (None,)],
}
ROWS = [(name, i) for name, rows in CALLS.items() for i in range(len(rows))]


def values(t) -> dict:
    leaf = t.ones(2, requires_grad=True)
    return {
        "x": t.arange(4.0), "m": t.ones(2, 2), "s": t.tensor(1.0), "i": t.arange(3), "long": t.arange(32.0),
        "half": t.full((2,), 0.5), "two": t.full((2,), 2.0), "minus": t.full((2,), -1.0),
        "nan": t.full((2,), float("nan")), "leaf": leaf,
        "loss": (leaf * 2).sum(), "f": lambda x: x, "text": "a",
    }  # fmt: skip


def given(value, t, known):
    if isinstance(value, list | tuple):
        return type(value)(given(each, t, known) for each in value)
    if isinstance(value, dict):
        return {name: getattr(t, each) if name == "dtype" else given(each, t, known) for name, each in value.items()}
    return known.get(value, value) if isinstance(value, str) else value


def called(t, name: str, row: tuple):
    function = t
    for part in name.split("."):
        function = getattr(function, part)
    *args, last = given(row, t, values(t)) or (None,)
    named = {}
    if isinstance(last, dict):
        named = last
    elif row:
        args.append(last)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **named)


def refused(t, name: str, row: tuple):
    """The exception, None where the call was taken."""
    try:
        called(t, name, row)
    except Exception as error:
        return error
    finally:
        t.set_grad_enabled(True)
    return None


@pytest.mark.parametrize("name, i", ROWS, ids=[f"{name}-{CALLS[name][i]}" for name, i in ROWS])
def test_what_pytorch_refuses_is_refused(name, i):
    row = CALLS[name][i]
    with badak.kernels.use("reference"):
        theirs, ours = refused(torch, name, row), refused(badak, name, row)
    assert (ours is None) == (theirs is None), (ours, theirs)
    if ours is not None:
        assert isinstance(ours, badak.core.errors.BadakError) and "\nfix: " in str(ours), ours
