"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict: the same story in both libraries."""

from collections import OrderedDict

import pytest
import torch

import badak

LIBRARIES = pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])


def twice(story):
    """The story told by both libraries, in badak's words for classes and dtypes."""
    ours, theirs = story(badak), story(torch)
    return ours, [text.replace("torch.", "badak.") if isinstance(text, str) else text for text in theirs]


def three(lib):
    return lib.nn.Sequential(lib.nn.ReLU(), lib.nn.Tanh(), lib.nn.Linear(1, 2))


SEQUENTIAL = {
    "slice": lambda nn, s: [s[1:], s[:0], s[-1], s[0], len(s)],
    "add": lambda nn, s: [s + nn.Sequential(nn.GELU()), s * 2, 2 * s],
    "iadd": lambda nn, s: [s.__iadd__(nn.Sequential(nn.GELU())), s.__imul__(2)],
    "append": lambda nn, s: [s.append(nn.GELU()), s.extend([nn.GELU(), nn.ReLU()])],
    "insert": lambda nn, s: [repr(s.insert(1, nn.GELU())), repr(s.insert(-1, nn.Mish())), repr(s.insert(5, nn.SiLU()))],
    "delete": lambda nn, s: [s.__delitem__(0), repr(s), s.__delitem__(slice(0, 1)), repr(s)],
    "pop": lambda nn, s: [s.pop(1), s],
    "set": lambda nn, s: [s.__setitem__(0, nn.GELU()), s.__setitem__(-1, nn.GELU()), s],
    "iterate": lambda nn, s: list(s),
    "named": lambda nn, s: [nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh())), nn.Sequential(OrderedDict(a=nn.ReLU())).a],
}


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_sequential_is_edited_as_in_pytorch(name):
    ours, theirs = twice(lambda lib: [repr(item) for item in SEQUENTIAL[name](lib.nn, three(lib))])
    assert ours == theirs


def test_sequential_applies_in_order():
    scale = badak.nn.Sequential(badak.nn.ReLU(), badak.nn.Threshold(2.0, -1.0))
    assert scale(badak.tensor([-1.0, 1.0, 3.0])).tolist() == [-1.0, -1.0, 3.0]
    assert badak.nn.Sequential()(3) == 3


@LIBRARIES
def test_what_sequential_refuses(lib):
    s = three(lib)
    for error, call in [
        (IndexError, lambda: s[5]),
        (IndexError, lambda: s.insert(9, lib.nn.ReLU())),
        (TypeError, lambda: lib.nn.Sequential(3)),
        (TypeError, lambda: s.append(3)),
        (TypeError, lambda: s.extend(3)),
        (ValueError, lambda: s + [1]),
        (ValueError, lambda: s * 0),
        (TypeError, lambda: s * "a"),
        ((AssertionError, TypeError), lambda: s.insert(0, 3)),
    ]:
        with pytest.raises(error):
            call()


def linears(lib):
    nn = lib.nn
    return nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU(), nn.ReLU(), nn.Tanh()])


MODULE_LIST = {
    "print": lambda nn, m: [m, nn.ModuleList(), nn.ModuleList([nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU())])],
    "index": lambda nn, m: [m[-1], m[1:3], m[0], len(m)],
    "add": lambda nn, m: [m + [nn.GELU()], m.__iadd__([nn.GELU()])],
    "insert": lambda nn, m: [m.insert(0, nn.Tanh()), repr(m), m.insert(3, nn.GELU()), m],
    "delete": lambda nn, m: [m.__delitem__(0), repr(m), m.__delitem__(slice(0, 2)), m],
    "pop": lambda nn, m: [m.pop(0), m.pop(-1), m],
    "set": lambda nn, m: [m.__setitem__(0, nn.GELU()), m],
    "append": lambda nn, m: [m.append(nn.GELU()), m.extend(iter([nn.GELU()]))],
    "keys": lambda nn, m: list(m.state_dict()),
}


@pytest.mark.parametrize("name", MODULE_LIST)
def test_module_list_is_edited_as_in_pytorch(name):
    ours, theirs = twice(lambda lib: [repr(item) for item in MODULE_LIST[name](lib.nn, linears(lib))])
    assert ours == theirs


@LIBRARIES
def test_what_module_list_refuses(lib):
    m = linears(lib)
    for error, call in [
        (IndexError, lambda: m[9]),
        (TypeError, lambda: m.append(3)),
        (TypeError, lambda: m.extend(3)),
        (TypeError, lambda: m.extend([3])),
        (NotImplementedError, lambda: m(1)),
    ]:
        with pytest.raises(error):
            call()


MODULE_DICT = {
    "print": lambda nn, d: [d, d["a"], "a" in d, "z" in d, len(d), list(d)],
    "update": lambda nn, d: [d.update({"c": nn.Tanh()}), d.update([("d", nn.GELU())]), d, list(d.values()), list(d.keys())],
    "pop": lambda nn, d: [d.pop("a"), d, d.clear(), d],
    "attribute": lambda nn, d: [d.a, nn.ModuleDict([("x", nn.ReLU())])],
}


@pytest.mark.parametrize("name", MODULE_DICT)
def test_module_dict_is_edited_as_in_pytorch(name):
    def story(lib):
        return [repr(item) for item in MODULE_DICT[name](lib.nn, lib.nn.ModuleDict({"a": lib.nn.ReLU(), "b": lib.nn.Linear(1, 1)}))]

    assert story(badak) == story(torch)


@LIBRARIES
def test_what_module_dict_refuses(lib):
    d = lib.nn.ModuleDict({"a": lib.nn.ReLU()})
    for error, call in [
        (KeyError, lambda: d["b"]),
        (TypeError, lambda: d.update(3)),
        (TypeError, lambda: d.update([3])),
        (ValueError, lambda: d.update([("a", 4, 5)])),
        (KeyError, lambda: d.update({"keys": lib.nn.ReLU()})),
        (TypeError, lambda: d.update({"b": 3})),
    ]:
        with pytest.raises(error):
            call()


def parameters(lib):
    return lib.nn.ParameterList([lib.nn.Parameter(lib.ones(2)), lib.zeros(2, 3), 3, "x", None])


PARAMETER_LIST = {
    "print": lambda lib, p: [p, p[2:], lib.nn.ParameterList(), len(p)],
    "append": lambda lib, p: [p.append(None), p.append(lib.ones(4)), p.extend([1, lib.ones(1)])],
    "keys": lambda lib, p: [list(p.state_dict()), [name for name, _ in p.named_parameters()]],
    "set": lambda lib, p: [p.__setitem__(0, lib.zeros(2)), p[0].tolist(), type(p[0]).__name__, p[-1], p],
    "module": lambda lib, p: [p.append(lib.nn.ReLU())],
}


@pytest.mark.parametrize("name", PARAMETER_LIST)
def test_parameter_list_is_edited_as_in_pytorch(name):
    ours, theirs = twice(lambda lib: [repr(item) for item in PARAMETER_LIST[name](lib, parameters(lib))])
    assert ours == theirs


PARAMETER_DICT = {
    "print": lambda lib, p: [p, lib.nn.ParameterDict(), len(p), list(p), list(reversed(p)), "a" in p],
    "read": lambda lib, p: [p["c"], p.get("z", 3), p.a.tolist(), list(p.keys()), len(list(p.items())), len(list(p.values()))],
    "change": lambda lib, p: [p.pop("c"), p.popitem()[0], p.setdefault("q", lib.ones(1)).tolist(), p, p.clear(), p],
    "combine": lambda lib, p: [p | lib.nn.ParameterDict({"z": 1}), p.copy(), p.fromkeys("ab", 3), p.update({"t": 1}), p],
    "keys": lambda lib, p: [list(p.state_dict())],
}


@pytest.mark.parametrize("name", PARAMETER_DICT)
def test_parameter_dict_is_edited_as_in_pytorch(name):
    def story(lib):
        p = lib.nn.ParameterDict({"a": lib.nn.Parameter(lib.ones(2)), "b": lib.ones(2, 3), "c": 3, "d": None})
        return [repr(item) for item in PARAMETER_DICT[name](lib, p)]

    ours, theirs = twice(story)
    assert ours == theirs


@LIBRARIES
def test_what_parameter_containers_refuse(lib):
    p, d = parameters(lib), lib.nn.ParameterDict({"a": 1})
    for error, call in [
        (IndexError, lambda: p[9]),
        (RuntimeError, lambda: p(1)),
        (TypeError, lambda: p.extend(3)),
        (RuntimeError, lambda: p.append(lib.tensor([1, 2]))),
        (RuntimeError, lambda: d(1)),
        (TypeError, lambda: d.__setitem__(3, 1)),
        (TypeError, lambda: d.update(3)),
        (ValueError, lambda: d.update([("t",)])),
        (KeyError, lambda: d.__delitem__("zz")),
    ]:
        with pytest.raises(error):
            call()
