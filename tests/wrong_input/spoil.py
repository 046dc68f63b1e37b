"""Wrong values in the place of right ones, of every kind that people really pass."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import badak
from badak import Tensor

WORDS: tuple[Any, ...] = ("a", None, [], {}, object())


def spoiled(value: Any) -> Iterator[tuple[str, Any]]:
    """(what was done, the value that it gives) for each way to get this argument wrong."""
    if isinstance(value, Tensor):
        yield from _of_tensor(value)
    elif isinstance(value, bool):
        yield from [("text", "a"), ("None", None)]
    elif isinstance(value, int):
        yield from [
            ("negative", -100),
            ("zero", 0),
            ("large", 77),
            ("float", 1.5),
            ("text", "a"),
            ("None", None),
            ("list", [1]),
        ]
        yield "tensor of two", badak.ones(2)
    elif isinstance(value, float):
        yield from [("negative", -1.5), ("nan", float("nan")), ("text", "a"), ("None", None), ("list", [1.0])]
        yield "tensor of two", badak.ones(2)
    elif isinstance(value, str):
        yield from [("text", "nonsense"), ("number", 3), ("None", None)]
    elif isinstance(value, badak.dtype):
        yield from [("text", "float"), ("number", 3), ("Python's", list)]
    elif isinstance(value, list | tuple):
        yield from _of_sequence(value)


def _of_tensor(x: Tensor) -> Iterator[tuple[str, Any]]:
    flat = x.detach().to_dense() if x.is_sparse else x.detach()
    yield "a dim more", flat[None].contiguous()
    yield "three dims more", flat[None, None, None].contiguous()
    if x.ndim:
        yield "one row more", badak.zeros(*flat.shape[:-1], flat.shape[-1] + 1).to(x.dtype)
        yield "first dim doubled", badak.cat([flat, flat], 0)
        yield "empty", flat[:0].contiguous()
        yield "a dim less", flat[0].contiguous() if flat.shape[0] else badak.zeros(()).to(x.dtype)
    yield "one number", badak.ones(()).to(x.dtype)
    for dtype in (badak.float32, badak.int64, badak.bool, badak.complex64, badak.bfloat16, badak.uint8):
        if dtype != x.dtype:
            yield str(dtype), badak.ones(flat.shape).to(dtype)
    yield "numpy", np.asarray(flat.float().numpy() if x.dtype == badak.bfloat16 else flat.numpy())
    yield "list", flat.tolist() if x.dtype != badak.bfloat16 else flat.float().tolist()
    yield "number", 3
    for word in WORDS:
        yield type(word).__name__, word


def _of_sequence(value: list | tuple) -> Iterator[tuple[str, Any]]:
    kind = tuple if isinstance(value, tuple) else list
    if value and all(isinstance(part, Tensor) for part in value):
        yield "none of them", kind()
        for how, part in _of_tensor(value[-1]):
            yield f"last: {how}", kind([*value[:-1], part])
        yield "not in a list", value[0]
        return
    yield from [
        ("empty", kind()),
        ("one more", kind([*value, *value[-1:]])),
        ("number", 77),
        ("text", "a"),
        ("None", None),
    ]
    if value:
        for how, part in spoiled(value[-1]):
            yield f"last: {how}", kind([*value[:-1], part])
        yield "twice the first", kind([value[0], *value[:-1]]) if len(value) > 1 else kind([value[0]] * 2)
