"""The public face: one table of names, stubs and docs that list exactly what is there."""

import importlib
import inspect
from inspect import unwrap
from pathlib import Path

import pytest

import badak
from badak.core.public_api import public
from tools import api, stubs

ROOT = Path(__file__).resolve().parent.parent


def test_every_name_of_the_table_is_there_once():
    names = [name for name, *_ in public.listed("both", "functions", "in_place_both")]
    assert len(names) == len(set(names)), "a name of badak stands in the table twice"
    methods = [name for name, *_ in public.listed("both", "methods", "in_place", "in_place_both")]
    assert len(methods) == len(set(methods)), "a method of Tensor stands in the table twice"
    assert not [name for name in names if not hasattr(badak, name)]
    assert not [name for name in methods if not hasattr(badak.Tensor, name)]


def test_what_is_both_is_one_thing():
    for name, *_ in public.listed("both"):
        assert unwrap(getattr(badak, name)) is unwrap(vars(badak.Tensor)[name]), name


def test_the_stubs_say_what_is_there():
    for path, text in stubs.stubs().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is out of date: run python tools/stubs.py"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError):
        badak.no_such_name  # noqa: B018


@pytest.mark.parametrize("dotted", api.NAMESPACES)
def test_public_names_have_a_docstring(dotted):
    module = api.namespace(dotted)
    things = [(name, getattr(module, name)) for name in api.public_names(module)]
    silent = [n for n, t in things if (inspect.isclass(t) or inspect.isfunction(t)) and not inspect.getdoc(t)]
    assert not silent


@pytest.mark.parametrize("dotted", api.OWN)
def test_badaks_own_names_have_a_docstring(dotted):
    module, names = importlib.import_module(f"badak.{dotted}"), api.names(dotted)
    assert names and not [name for name in names if not inspect.getdoc(getattr(module, name))]


def _untyped(thing) -> list[str]:
    """The arguments of a function, or of the methods that a class defines, that say no type."""
    if inspect.isclass(thing):
        functions = {
            name: getattr(each, "__func__", each) for name, each in vars(thing).items() if name[0] != "_" or name == "__init__"
        }
        own = [(name, each) for name, each in functions.items() if inspect.isfunction(each) and each.__module__.startswith("badak")]
        return [f"{name}({word})" for name, each in own for word in _untyped(each)]
    parameters = list(inspect.signature(thing).parameters.values()) if inspect.isfunction(thing) else []
    return [each.name for each in parameters if each.annotation is each.empty and each.name not in ("self", "cls")]


@pytest.mark.parametrize("dotted", [*api.NAMESPACES, *api.OWN])
def test_public_functions_say_the_types_of_their_arguments(dotted):
    module = api.namespace(dotted) if dotted in api.NAMESPACES else importlib.import_module(f"badak.{dotted}")
    assert {name: words for name in api.names(dotted) if (words := _untyped(getattr(module, name)))} == {}


@pytest.mark.parametrize("room", ["generation", "models", "data", "training"])
def test_every_public_name_of_the_rooms_for_language_is_on_the_page(room):
    module, listed = importlib.import_module(f"badak.{room}"), api.names(room) + (api.names("utils.data") if room == "data" else [])
    ours = {name for name, thing in vars(module).items() if getattr(thing, "__module__", "").startswith("badak")}
    public = sorted(name for name in ours if name[0] != "_")
    assert [name for name in public if name not in listed] == []
