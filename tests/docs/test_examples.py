"""Docstrings of public names: examples run and print what they show, Args are arguments, derivations are there."""

import doctest
import importlib
import inspect
import io
import re
import warnings
from pathlib import Path

import pytest

import badak
from badak import nn, optim
from badak.nn import functional as F
from tools import api

ROOT = Path(__file__).resolve().parents[2]
NAMES = {"badak": badak, "nn": nn, "F": F, "optim": optim}  # what every example finds


def public() -> dict[str, object]:
    """Every public name that has sections in its docstring: one name for each docstring."""
    places = {f"badak.{dotted}".rstrip("."): dotted for dotted in (*api.NAMESPACES, *api.OWN)}
    found: dict[int, tuple[str, object]] = {}
    for place, dotted in places.items():
        module = importlib.import_module(place) if dotted in api.OWN else api.namespace(dotted)
        for name in api.names(dotted):
            found.setdefault(id(inspect.unwrap(getattr(module, name))), (f"{place}.{name}", getattr(module, name)))
    for name in dir(badak.Tensor):
        thing = getattr(badak.Tensor, name)
        if callable(thing) and not name.startswith("_"):
            found.setdefault(id(inspect.unwrap(thing)), (f"badak.Tensor.{name}", thing))
    return {name: thing for name, thing in found.values() if "\nExample:\n" in (inspect.getdoc(thing) or "")}


PUBLIC = public()


def test_the_names_that_are_used_most_have_an_example():
    assert len(PUBLIC) >= 150


@pytest.mark.slow  # some compile kernels
@pytest.mark.parametrize("start", range(8))
def test_examples_print_what_they_show(start):
    output = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for name in list(PUBLIC)[start::8]:
        example = inspect.getdoc(PUBLIC[name]).partition("\nExample:\n")[2]
        badak.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            runner.run(doctest.DocTestParser().get_doctest(example, dict(NAMES), name, None, None), out=output.write)
    assert not runner.failures, output.getvalue()


def test_args_are_arguments():
    wrong = []
    for name, thing in PUBLIC.items():
        parameters = inspect.signature(thing).parameters
        catches = any(p.kind == p.VAR_KEYWORD for p in parameters.values())
        text = re.search(r"\nArgs:\n(.*?)\n\n", inspect.getdoc(thing), re.DOTALL)
        rows = re.findall(r"^    (\*{0,2}\w+(?:, \*{0,2}\w+)*): ", text[1], re.MULTILINE) if text else []
        said = [each.strip().lstrip("*") for row in rows for each in row.split(",")]
        wrong += [f"{name}({each})" for each in said if each not in parameters and not catches]
        unsaid = {"self", "input", "tensor", "out", "implicit"} | set(said)
        if rows and not catches:
            wrong += [f"{name} does not say what {each} is" for each in parameters if each[0] != "_" and each not in unsaid]
    assert not wrong


def test_derivations_are_there():
    pages = [re.search(r"^Derivation: (\S+)$", inspect.getdoc(thing), re.MULTILINE) for thing in PUBLIC.values()]
    assert len([page for page in pages if page]) > 10
    assert not [page[1] for page in pages if page and not (ROOT / page[1]).is_file()]
