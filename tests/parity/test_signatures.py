"""Public signatures of nn, nn.functional and optim against PyTorch's; every difference has its reason here."""

import inspect
import operator

import pytest
import torch

import badak

SPACES = {
    "nn": (badak.nn, torch.nn),
    "nn.functional": (badak.nn.functional, torch.nn.functional),
    "nn.init": (badak.nn.init, torch.nn.init),
    "nn.utils": (badak.nn.utils, torch.nn.utils),
    "optim": (badak.optim, torch.optim),
    "optim.lr_scheduler": (badak.optim.lr_scheduler, torch.optim.lr_scheduler),
    "utils.data": (badak.utils.data, torch.utils.data),
}
PLAIN = (int, float, str, tuple, type(None))  # defaults compared by value; generators, functions by kind
# name: why badak's signature is not PyTorch's to the letter
EXCEPTIONS: dict[str, str] = {}


def shared():
    for space, (ours, theirs) in SPACES.items():
        for name in sorted(vars(ours)):
            twin = getattr(theirs, name, None)
            if not name.startswith("_") and callable(twin) and not inspect.ismodule(twin):
                yield f"{space}.{name}", getattr(ours, name), twin


def parameters(thing):
    try:
        signature = inspect.signature(thing.__init__ if inspect.isclass(thing) else thing)
    except ValueError:  # written in C: PyTorch's own does not tell
        return None
    return [p for p in signature.parameters.values() if p.name not in ("self", "args", "kwargs")]


def differences(ours, theirs) -> list[str]:
    """Each parameter of PyTorch's that is absent, in another place, or has another default; more keywords are allowed."""
    found, expected = parameters(ours), parameters(theirs)
    if found is None or expected is None:
        return []
    named = {p.name: (place, p) for place, p in enumerate(found)}
    problems = []
    for place, p in enumerate(expected):
        if p.name.startswith("_"):
            continue
        if p.name not in named:
            problems.append(f"no {p.name}")
            continue
        at, mine = named[p.name]
        if p.kind is p.POSITIONAL_OR_KEYWORD and at != place:
            problems.append(f"{p.name} is parameter {at}, not {place}")
        same_kind = type(mine.default).__name__ == type(p.default).__name__
        if repr(mine.default) != repr(p.default) and not (same_kind and not isinstance(p.default, PLAIN)):
            problems.append(f"{p.name}={mine.default!r}, not {p.default!r}")
    return problems


ROWS = list(shared())


@pytest.mark.parametrize("name, ours, theirs", ROWS, ids=[row[0] for row in ROWS])
def test_signature_is_that_of_pytorch(name, ours, theirs):
    problems = differences(ours, theirs)
    if name in EXCEPTIONS:
        assert problems, f"{name} agrees now: take it out of EXCEPTIONS"
    else:
        assert not problems


CLASSES = "nn.Linear nn.Conv2d optim.Adam optim.SGD optim.lr_scheduler.OneCycleLR utils.data.DataLoader distributions.Normal"


@pytest.mark.parametrize("name", CLASSES.split())
def test_getfullargspec_names_what_a_constructor_takes(name):
    ours, theirs = (operator.attrgetter(name)(lib) for lib in (badak, torch))
    assert inspect.getfullargspec(ours.__init__).args == inspect.getfullargspec(theirs.__init__).args
    assert inspect.getfullargspec(ours).args == inspect.getfullargspec(theirs).args
