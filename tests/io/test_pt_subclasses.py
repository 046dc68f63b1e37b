"""Tensors of a program's own class, and attributes of tensors, in files: as PyTorch writes and reads them, not lost."""

import io
import sys

import pytest
import torch

import badak
from badak.core.errors import BadakError


def _classes(library):
    """Classes at the top of this module, where files find them by name."""

    class Plain(library.Tensor):
        pass

    class Slotted(library.Tensor):
        __slots__ = ("elem",)

    class Stateful(library.Tensor):
        def __getstate__(self):
            return "said", 7

        def __setstate__(self, state):
            self.told = state

    for kind in (Plain, Slotted, Stateful):
        kind.__module__, kind.__qualname__ = __name__, f"{kind.__name__}_{library.__name__}"
        setattr(sys.modules[__name__], kind.__qualname__, kind)
    return Plain, Slotted, Stateful


KINDS = {library: _classes(library) for library in (badak, torch)}


def _again(value, weights_only: bool, library=badak):
    file = io.BytesIO()
    library.save(value, file)
    file.seek(0)
    return library.load(file, weights_only=weights_only)


def test_attributes_of_a_tensor_and_of_a_parameter():
    for library in (badak, torch):
        for x in (library.ones(2), library.nn.Parameter(library.ones(2))):
            x.word = "said"
            made = _again([x, x], True, library)
            assert made[0] is made[1] and type(made[0]) is type(x) and made[0].word == "said"
    assert torch.equal(_written_by_badak(), torch.ones(2))


def _written_by_badak() -> torch.Tensor:
    x, file = badak.ones(2), io.BytesIO()
    x.word = 1
    badak.save(x, file)
    file.seek(0)
    made = torch.load(file)
    assert made.word == 1
    return made


@pytest.mark.parametrize("weights_only", [False, True])
def test_a_class_stays(weights_only):
    for library, (plain, slotted, _) in KINDS.items():
        x, y = (library.ones(2).as_subclass(kind) for kind in (plain, slotted))
        x.word, y.elem = "said", library.zeros(1)
        with library.serialization.safe_globals([plain, slotted]):
            first, second = _again([x, y], weights_only, library)
        assert type(first) is plain and first.word == "said" and first.tolist() == [1, 1]
        assert type(second) is slotted and second.elem.tolist() == [0]


def test_a_class_that_nobody_vouches_for_is_refused():
    plain, _, stateful = KINDS[badak]
    with pytest.raises(BadakError, match="Plain_badak"):
        _again(badak.ones(2).as_subclass(plain), True)
    x = badak.ones(2).as_subclass(stateful)
    with pytest.raises(BadakError, match="__setstate__ of its own"):
        _again(x, False)
    with badak.serialization.safe_globals([stateful]):
        assert _again(x, False).told == ("said", 7)


@pytest.mark.parametrize("grad", [True, False])
def test_a_parameter_of_a_class_stays_one(grad):
    for library, (plain, _, _) in KINDS.items():
        layer = library.nn.Linear(2, 2)
        layer.weight = library.nn.Parameter(library.ones(2, 2).as_subclass(plain), requires_grad=grad)
        with library.serialization.safe_globals([plain]):
            (alone,) = _again([layer.weight], True, library)
            whole = _again(layer, False, library)
        for made in (alone, whole.weight):
            assert type(made) is plain and isinstance(made, library.nn.Parameter)
            assert made.requires_grad is grad and (made.is_leaf or library is torch)  # PyTorch's is the view of another
        assert [name for name, _ in whole.named_parameters()] == ["weight", "bias"]
