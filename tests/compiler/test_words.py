"""What Python objects hold, as words of memory: every change is seen, and nothing else."""

import sys
from types import FunctionType, SimpleNamespace

import pytest

from badak import kernels
from badak.compiler import words
from badak.compiler.guards import Guards
from badak.compiler.places import Cell, Class, ClassEntry, Code, Entry, Items, Mapping, TypeOf, dict_of

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 14), reason="dicts have no versions from Python 3.14 on")


class Layer:
    width = 3

    def __init__(self):
        self.rate, self.seen = 0.5, 0


class Other(Layer):
    pass


def make():
    """Places of all kinds that are words, and what they are in."""
    rate = 2.0

    def scaled(x, by=3.0):
        return x * by * rate

    layer = Layer()
    scope = {"a": object(), "b": object()}
    own = SimpleNamespace(layer=layer, scope=scope, items=[object() for _ in range(5)], f=scaled)
    places = [
        Entry(scope, "a", "a"), Mapping(own.scope, "scope"), Items(own.items, "items"), Cell(scaled.__closure__[0], "rate"),
        Code(scaled, "scaled"), TypeOf(layer, "layer"), Entry(dict_of(layer), "rate", "rate"), Class(Layer, "Layer"),
        ClassEntry(Layer, "width", "width"),
    ]  # fmt: skip
    return own, places


def set_cell(own):
    own.f.__closure__[0].cell_contents = 4.0


def set_code(own):
    own.f.__code__ = make()[0].f.__code__.replace(co_name="other")


def set_class(own):
    Layer.width = 4


CHANGES = {
    "entry": lambda own: own.scope.update(a=object()),
    "entry removed": lambda own: own.scope.pop("a"),
    "entry added": lambda own: own.scope.update(c=1),
    "entries in another order": lambda own: own.scope.update(a=own.scope.pop("a")),
    "item": lambda own: own.items.__setitem__(4, object()),
    "items in another order": lambda own: own.items.reverse(),
    "item added": lambda own: own.items.append(1),
    "item removed": lambda own: own.items.pop(),
    "no items": lambda own: own.items.clear(),
    "variable": set_cell,
    "code": set_code,
    "defaults": lambda own: setattr(own.f, "__defaults__", (9.0,)),
    "keywords": lambda own: setattr(own.f, "__kwdefaults__", {"by": 9.0}),
    "class": lambda own: setattr(own.layer, "__class__", Other),
    "dict": lambda own: setattr(own.layer, "__dict__", dict(own.layer.__dict__, rate=0.7)),
    "attribute": lambda own: setattr(own.layer, "rate", 0.7),
    "attribute removed": lambda own: delattr(own.layer, "rate"),
    "attribute of the class": set_class,
    "attribute added to the class": lambda own: setattr(Layer, "height", 4),
}


@pytest.fixture(autouse=True)
def as_it_was():
    yield
    Layer.width = 3
    if "height" in vars(Layer):
        del Layer.height


@pytest.fixture
def fast():
    if not hasattr(kernels.active(), "WordList"):
        pytest.skip("only compiled kernels compare words")


def test_all_kinds_are_words(fast):
    own, places = make()
    guards = Guards([(place, place.now()) for place in places])
    others = {type(place) for place, _ in guards._words.others}
    assert others == ({Entry, Mapping, ClassEntry} if words._layout().version is None else set())  # Python 3.13 keeps no versions
    assert all(guards.hold() for _ in range(3))
    assert isinstance(own.f, FunctionType) and own.f(1) == 6 and own.layer.rate == 0.5 and guards.hold()


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_seen(name):
    own, places = make()
    guards = Guards([(place, place.now()) for place in places])
    assert guards.hold()
    CHANGES[name](own)
    assert not guards.hold() and guards.failed
    assert not guards.hold()


def test_what_nobody_read_may_change(fast):
    own, places = make()
    places = [place for place in places if type(place) in (Entry, TypeOf, Items)]
    guards = Guards([(place, place.now()) for place in places])
    for turn in range(6):
        own.layer.seen += 1
        own.scope["b"] = object()
        assert guards.hold(), turn
    assert {place.name for place, _ in guards._words.others} == {"a", "rate"}  # of dicts that change in every turn
    own.items[2] = object()
    assert not guards.hold()


def test_equal_numbers_are_no_change(fast):
    own, places = make()
    guards = Guards([(place, place.now()) for place in places])
    for _ in range(4):
        own.layer.rate = float("0.5")
        own.f.__closure__[0].cell_contents = float("2")
        assert guards.hold()
    own.layer.rate = float("0.6")
    assert not guards.hold() and guards.failed == "rate"


def test_without_compiled_kernels_objects_are_compared(monkeypatch):
    with kernels.use("reference"):
        for name in CHANGES:
            own, places = make()
            guards = Guards([(place, place.now()) for place in places])
            assert len(guards._words.others) == len(places) and guards.hold()
            CHANGES[name](own)
            assert not guards.hold(), name


def test_a_python_that_keeps_its_words_elsewhere_has_none(monkeypatch, fast):
    layout = words._Layout()
    layout.version = layout.items = layout.attributes = None
    monkeypatch.setattr(words, "_layout", lambda: layout)
    own, places = make()
    guards = Guards([(place, place.now()) for place in places])
    assert {type(place) for place, _ in guards._words.others} == {Entry, Mapping, Class, ClassEntry, Items, TypeOf}
    assert guards.hold()
    own.layer.rate = 0.9
    assert not guards.hold()
