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
        (TypeError, lambda: p.extend(lib.ones(3))),
        (RuntimeError, lambda: p.append(lib.tensor([1, 2]))),
        (RuntimeError, lambda: d(1)),
        (TypeError, lambda: d.__setitem__(3, 1)),
        (TypeError, lambda: d.update(3)),
        (ValueError, lambda: d.update([("t",)])),
        (KeyError, lambda: d.__delitem__("zz")),
    ]:
        with pytest.raises(error):
            call()


OVERRIDDEN = (  # what a subclass may define in its own way, and counts on being called for
    "append extend insert pop popitem update setdefault clear copy get keys items values fromkeys add_module "
    "__setitem__ __delitem__ __getitem__ __iter__ __contains__ __iadd__ __ior__ __or__"
).split()


def recording(base, log):
    """A subclass that notes each call of a method that it overrides."""

    def noted(name, method):
        def call(self, *args, **kwargs):
            log.append(name)
            return method(self, *args, **kwargs)

        return call

    return type("Own", (base,), {name: noted(name, getattr(base, name)) for name in OVERRIDDEN if hasattr(base, name)})


def layers(lib):
    return [lib.nn.ReLU(), lib.nn.Tanh(), lib.nn.GELU()]


def weights(lib):
    return [lib.nn.Parameter(lib.ones(2)) for _ in range(3)]


LIST_CALLS = {
    "none": lambda own, c, new, lib: own(),
    "append": lambda own, c, new, lib: c.append(new[0]),
    "extend": lambda own, c, new, lib: c.extend(new),
    "slice": lambda own, c, new, lib: c[1:],
    "set": lambda own, c, new, lib: c.__setitem__(-1, new[0]),
    "iterate": lambda own, c, new, lib: list(c),
}
MODULE_CALLS = LIST_CALLS | {
    "iadd": lambda own, c, new, lib: c.__iadd__(lib.nn.Sequential(*new)),
    "add": lambda own, c, new, lib: c + lib.nn.Sequential(*new),
    "insert": lambda own, c, new, lib: c.insert(1, new[0]),
    "pop": lambda own, c, new, lib: c.pop(1),
    "delete": lambda own, c, new, lib: c.__delitem__(slice(0, 2)),
}
DICT_CALLS = {
    "none": lambda own, c, new, lib: own(),
    "empty": lambda own, c, new, lib: own({}),
    "update": lambda own, c, new, lib: c.update({"z": new[0], "d": new[1]}),
    "update with pairs": lambda own, c, new, lib: c.update([("z", new[0]), ("d", new[1])]),
    "update in order": lambda own, c, new, lib: c.update(OrderedDict(z=new[0], d=new[1])),
    "update with another": lambda own, c, new, lib: c.update(own([("z", new[0]), ("d", new[1])])),
    "set": lambda own, c, new, lib: c.__setitem__("n", new[0]),
    "pop": lambda own, c, new, lib: c.pop("a"),
    "delete": lambda own, c, new, lib: c.__delitem__("a"),
    "clear": lambda own, c, new, lib: c.clear(),
    "read": lambda own, c, new, lib: [list(c), list(c.keys()), list(c.items()), list(c.values()), "a" in c],
}
CONTAINERS = {
    "Sequential": (layers, lambda own, new: own(*new), MODULE_CALLS | {"imul": lambda own, c, new, lib: c.__imul__(2)}),
    "ModuleList": (layers, lambda own, new: own(new), MODULE_CALLS),
    "ModuleDict": (layers, lambda own, new: own({"b": new[0], "a": new[1]}), DICT_CALLS),
    "ParameterList": (weights, lambda own, new: own(new), LIST_CALLS | {"iadd": lambda own, c, new, lib: c.__iadd__(new)}),
    "ParameterDict": (
        weights,
        lambda own, new: own({"b": new[0], "a": new[1]}),
        DICT_CALLS
        | {
            "popitem": lambda own, c, new, lib: c.popitem(),
            "setdefault": lambda own, c, new, lib: c.setdefault("q", new[0]),
            "get": lambda own, c, new, lib: [c.get("a"), c.get("q")],
            "combine": lambda own, c, new, lib: c | own({"z": new[0], "c": new[1]}),
            "combine in place": lambda own, c, new, lib: c.__ior__(own({"z": new[0], "c": new[1]})),
            "copy": lambda own, c, new, lib: [c.copy(), c.fromkeys(["z", "c"], new[0])],
        },
    ),
}


@pytest.mark.parametrize(("name", "call"), [(name, call) for name, row in CONTAINERS.items() for call in row[2]])
def test_a_container_calls_the_methods_of_its_subclass_as_in_pytorch(name, call):
    """Its constructor, too: a subclass's own `extend`, `update` or `append` sees all that goes in."""

    def story(lib):
        contents, build, calls = CONTAINERS[name]
        log = []
        own = recording(getattr(lib.nn, name), log)
        container = build(own, contents(lib))
        built = sorted(log)
        log.clear()
        result = calls[call](own, container, contents(lib), lib)
        return [built, sorted(log), list(container.state_dict()), repr(container), repr(result)]

    ours, theirs = twice(story)
    assert ours == theirs


@LIBRARIES
def test_a_subclass_is_built_before_it_has_what_its_own_methods_need(lib):
    """Nothing goes in, so nothing is called; what is set after `super().__init__()` is there in time."""

    def own(base, method):
        def init(self):
            base.__init__(self)
            self.seen = []

        def noted(self, values):
            self.seen.append(len(values))
            return getattr(base, method)(self, values)

        return type("Own", (base,), {"__init__": init, method: noted})

    for base, method, values in [
        (lib.nn.ModuleList, "extend", layers(lib)),
        (lib.nn.ModuleDict, "update", {"a": lib.nn.ReLU()}),
        (lib.nn.ParameterList, "extend", weights(lib)),
        (lib.nn.ParameterDict, "update", {"a": lib.ones(2)}),
    ]:
        container = own(base, method)()
        getattr(container, method)(values)
        assert container.seen == [len(values)] and len(container) == len(values)
