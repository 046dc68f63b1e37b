"""The types that badak's functions say for their arguments are as wide as those that PyTorch takes, by its operator schemas."""

import collections.abc as abc
import inspect
import re
import types
import typing

import numpy as np
import pytest
import torch

import badak
from badak.core.public_api.kinds import SPACES
from badak.core.public_api.taken import parameters_of

_WORDS = {"int": "int float complex", "SymInt": "int float complex", "float": "float complex", "Scalar": "float complex"}
_OF_SCRIPTS = r"Dimname|str\[|\bt\[?\]?\)? |::\w+\.(int|float|bool|complex|str)\("  # forms that Python has no call for
_BY_WORD = {"cdist": "compute_mode", "embedding_bag": "mode"}  # a text in PyTorch's Python, a number below it


@pytest.fixture(scope="module")
def schemas():
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        text = str(
            schema
        )  # aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
        if schema.name.startswith("aten::") and not re.search(
            r"Dimname|str\[|\bt\[?\]?\)? |::\w+\.(int|float|bool|complex|str)\(", text
        ):
            given = text[text.index("(") + 1 : text.rindex(") ->")].split(", ")
            arguments = dict(reversed(each.partition("=")[0].rsplit(" ", 1)) for each in given if " " in each)
            found.setdefault(schema.name.removeprefix("aten::"), []).append(arguments)
    return found


def takes(annotation, kind: str) -> bool:
    """Whether an annotation covers a type of a schema, such as `int[2]?`."""
    parts = typing.get_args(annotation) if typing.get_origin(annotation) in (typing.Union, types.UnionType) else (annotation,)
    names = {getattr(part, "__name__", str(part)) for part in parts} | {typing.get_origin(part) for part in parts}
    if names & {"Any", "_empty"} or isinstance(annotation, str):
        return True
    if kind.endswith("?"):
        return "NoneType" in names and takes(annotation, kind[:-1])
    if several := re.fullmatch(r"(\w+)\[(\d*)\]", kind):
        many = bool(names & {abc.Sequence, abc.Iterable, list, tuple, "Size", "tuple", "list"})
        return many and (not several[2] or takes(annotation, several[1]))  # int[2] takes one int for both
    return bool(names & set(_WORDS.get(kind, kind).split())) if kind in _WORDS or kind in ("Tensor", "bool", "str") else True


@pytest.mark.parametrize("space", sorted(SPACES))
def test_arguments_take_what_schemas_take(space, schemas):
    module = badak
    for word in space.split(".")[1:]:
        module = getattr(module, word)
    prefix = {"badak.linalg": "linalg_", "badak.fft": "fft_", "badak.special": "special_"}.get(space, "")
    narrow, asked = set(), 0
    for name in dir(module):
        function = getattr(module, name)
        if name[0] == "_" or not callable(function) or inspect.isclass(function):
            continue
        try:
            ours = {each[0]: each[3] for each in parameters_of(function)}
        except (TypeError, ValueError):
            continue
        for arguments in schemas.get(prefix + name) or schemas.get(name, []):
            for argument, kind in arguments.items():
                if argument in ours and argument not in ("self", "reduction", "out", _BY_WORD.get(name)):
                    asked += 1
                    if not takes(ours[argument], re.sub(r"\(.*?\)", "", kind)):
                        narrow.add(f"{name}({argument}: {kind}) is {ours[argument]}")
    assert asked > 20
    assert not narrow


def both(call):
    """What PyTorch and badak make of the same call."""
    return call(torch), call(badak)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.nn.functional.normalize(t.arange(24.0).reshape(2, 3, 4), dim=(1, 2)),
        lambda t: t.nn.functional.normalize(t.arange(6.0).reshape(2, 3), dim=None),
        lambda t: t.fft.ifftshift(t.arange(6.0).reshape(2, 3), dim=[0, 1]),
        lambda t: t.fft.fftn(t.tensor(2.0)),
        lambda t: t.fft.ifftn(t.arange(4.0), s=6),
        lambda t: t.nn.functional.max_pool2d(t.arange(16.0).reshape(1, 1, 4, 4), 2, stride=np.int64(1)),
        lambda t: t.nn.functional.avg_pool1d(t.arange(6.0).reshape(1, 6), 2, stride=np.int32(1)),
        lambda t: t.nn.functional.conv1d(t.ones(1, 2, 5), t.ones(2, 1, 2), groups=t.tensor(2)),
        lambda t: t.nn.functional.layer_norm(t.arange(6.0).reshape(2, 3), (3,), eps=t.tensor(0.5)),
        lambda t: t.nn.functional.group_norm(t.arange(8.0).reshape(2, 4), t.tensor(2)),
        lambda t: t.nn.functional.cross_entropy(t.arange(6.0).reshape(2, 3), t.tensor([0, 2]), ignore_index=t.tensor(2)),
        lambda t: t.nn.functional.multi_margin_loss(t.arange(6.0).reshape(2, 3), t.tensor([0, 1]), p=True),
        lambda t: t.nan_to_num(t.tensor([float("nan"), 1.0]), nan=None),
        lambda t: t.tensor(t.manual_seed(2**64 - 1).initial_seed() % 1000),
        lambda t: t.tensor(t.manual_seed(3.7).initial_seed()),
        lambda t: t.rand(2, generator=t.Generator().manual_seed(2**63 + 5)),
    ],
)
def test_numbers_of_other_kinds(call):
    theirs, ours = both(call)
    assert str(theirs.dtype).split(".")[1] == str(ours.dtype).split(".")[1]
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5)


def test_everything_is_printed_under_a_threshold_without_end():
    try:
        theirs, ours = both(lambda t: (t.set_printoptions(threshold=float("inf")), str(t.arange(2000)))[1])
    finally:
        both(lambda t: t.set_printoptions(profile="default"))
    assert ours == theirs


@pytest.mark.parametrize("name", ["hfftn", "ihfftn", "rfftn", "irfftn"])
def test_a_half_spectrum_has_an_axis(name):
    for t in (torch, badak):
        with pytest.raises(RuntimeError if t is torch else ValueError, match=f"^{name} must transform at least one axis"):
            getattr(t.fft, name)(t.tensor(1.0))
