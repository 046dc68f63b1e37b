"""`.. public-names:: nn`: every public name of badak.nn: a table of first lines, then signature and docstring of each."""

import importlib
import inspect
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import badak
from badak.core.public_api import public
from docstrings import as_rst
from tools import api


def tensor_methods() -> list[str]:
    """The methods of Tensor, without those in place of another one and without operators."""
    names = {name for name, *_ in public.listed("both", "methods")} | {
        n for n in vars(badak.Tensor) if callable(vars(badak.Tensor)[n])
    }
    return sorted((n for n in names if n[0] != "_" and not n.endswith("_")), key=str.lower)


class PublicNames(SphinxDirective):
    """What `tools/api.py` lists of a place; of "Tensor" the methods."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        place = self.arguments[0]
        if place == "badak.Tensor":
            things = [(name, vars(badak.Tensor).get(name, getattr(badak.Tensor, name))) for name in tensor_methods()]
        else:
            dotted = place.removeprefix("badak").lstrip(".")
            module = importlib.import_module(place) if dotted in api.OWN else api.namespace(dotted)
            things = [(name, getattr(module, name)) for name in api.names(dotted)]
        lines = StringList(written(place, things), source=place)
        return self.parse_text_to_nodes(lines, allow_section_headings=False)  # type: ignore[arg-type]


def written(place: str, things: list[tuple[str, Any]]) -> list[str]:
    """The table, and an entry for each."""
    table, entries, values = [], [], []
    for name, thing in things:
        kind, full = kind_of(thing), f"{place}.{name}"
        kind = "method" if kind == "function" and place == "badak.Tensor" else kind
        if kind == "data":
            values.append(f"``{name}``")
            continue
        role = {"class": "class", "exception": "exc", "function": "func", "method": "meth", "property": "attr"}[kind]
        table += [f"   * - :{role}:`{name} <{full}>`", f"     - {first_line(thing)}"]
        first = PLACES.get(id(thing), full) if kind in ("class", "exception") else full
        if first != full:
            entries += [f".. py:{kind}:: {full}", "", f"   The same as :{role}:`{first}`.", ""]
        else:
            entries += [f".. auto{kind}:: {full}", *(["   :members:"] if kind == "class" and full != "badak.Tensor" else []), ""]
    head = [".. list-table::", "   :class: public-names", "   :widths: 1 3", "", *table, ""] if table else []
    return [*head, *(["Values: " + ", ".join(values), ""] if values else []), *entries]


def first_line(thing: Any) -> str:
    """Of its docstring."""
    lines = as_rst((inspect.getdoc(thing) or "").strip().split("\n\n")[0].split("\n")[:1])
    return " ".join(lines).strip() or "\\"


def places() -> dict[int, str]:
    """id of a class: where it is listed first."""
    found: dict[int, str] = {}
    for dotted in (*api.NAMESPACES, *api.OWN):
        module = importlib.import_module(f"badak.{dotted}") if dotted in api.OWN else api.namespace(dotted)
        for name in api.names(dotted):
            found.setdefault(id(getattr(module, name)), f"badak.{dotted}".rstrip(".") + f".{name}")
    return found


PLACES = places()


def kind_of(thing: Any) -> str:
    """The directive of autodoc for it."""
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, BaseException) else "class"
    if isinstance(thing, property):
        return "property"
    return "function" if inspect.isroutine(thing) or (callable(thing) and hasattr(thing, "__wrapped__")) else "data"


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls it."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
