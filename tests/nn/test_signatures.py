"""The methods of badak's modules take what PyTorch's take: names, order and defaults. Constructors: tests/parity."""

import inspect

import pytest
import torch

import badak

# method: the keyword that is badak's own, and why
OWN = {
    "Module.load_state_dict": {"strip_prefix": "the remedy that its own error message names"},
    **dict.fromkeys(
        ("MultiheadAttention.forward", "TransformerDecoderLayer.forward", "TransformerDecoder.forward"),
        {"cache": "keys and values of what was read before, by keyword only", "layer": "whose of them in the cache"},
    ),
}
# devices that badak has not, a helper of PyTorch's inference path, and those of its recurrent layers
ABSENT = {"ipu", "xpu", "mtia", "merge_masks", "check_forward_args", "check_hidden_size", "check_input", "permute_hidden"}
ABSENT |= {"get_expected_cell_size", "get_expected_hidden_size"}
SHARED = {"RNNBase.forward"}  # one for RNN, LSTM and GRU here, one in each of them there

CLASSES = [
    name
    for name, thing in vars(badak.nn).items()
    if inspect.isclass(thing) and issubclass(thing, badak.nn.Module) and inspect.isclass(getattr(torch.nn, name, None))
]


def shape(function):
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default if not callable(p.default) else "function") for p in parameters]


def public_methods(thing):
    return [n for n, f in inspect.getmembers(thing, callable) if not n.startswith("_") and inspect.isfunction(f) or n == "forward"]


@pytest.mark.parametrize("name", CLASSES)
def test_methods_take_what_pytorchs_take(name):
    ours, theirs = getattr(badak.nn, name), getattr(torch.nn, name)
    problems = []
    for method in set(public_methods(theirs)) - ABSENT:
        if method.isupper() or method == "T_destination" or f"{name}.{method}" in SHARED:
            continue
        if not getattr(theirs, method).__module__.startswith("torch"):  # transformers puts methods into PyTorch's classes
            continue
        if not hasattr(ours, method):
            problems.append(f"no {method}")
            continue
        found, expected = shape(getattr(ours, method)), shape(getattr(theirs, method))
        own = OWN.get(f"{name}.{method}") or OWN.get(f"Module.{method}") or {}
        found = [parameter for parameter in found if parameter[0] not in own]
        if found != expected:
            problems.append(f"{method}{found} is not {expected}")
    assert not problems


def test_private_methods_that_subclasses_override_keep_their_form():
    for owner, method in [
        ("Module", "_load_from_state_dict"),
        ("Module", "_save_to_state_dict"),
        ("Module", "_apply"),
        ("Module", "_named_members"),
        ("Module", "_register_load_state_dict_pre_hook"),
        ("Module", "_register_state_dict_hook"),
        ("TransformerEncoderLayer", "_sa_block"),
        ("TransformerEncoderLayer", "_ff_block"),
        ("TransformerDecoderLayer", "_sa_block"),
        ("TransformerDecoderLayer", "_mha_block"),
        ("TransformerDecoderLayer", "_ff_block"),
    ]:
        ours, theirs = (getattr(getattr(lib.nn, owner), method) for lib in (badak, torch))
        own = [parameter for parameter in shape(ours) if parameter[0] != "kept"]  # given where there is a cache, never else
        assert own == shape(theirs), f"{owner}.{method}"
