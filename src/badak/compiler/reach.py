"""Everything outside of a step that its code can read: the places to compare before a replay.

The walk begins at the globals, closures, arguments and received objects of every function of the program that ran, and follows
the names that its code asks for (`code.py`), and all that containers hold. Where it can not follow, the step is not replayed.
"""

import builtins
import functools
import gc
import operator
import sys
import threading
import types
import weakref
from collections import defaultdict, deque
from typing import Any

import numpy as np

from badak.compiler import contents, places, process
from badak.compiler.answers import Question
from badak.compiler.code import FORMATS, Chain, Facts, named_in_format
from badak.compiler.frames import BY_NAME, Executed, is_of_python, is_program
from badak.compiler.pure import defined_in_c, impure, written_in_python
from badak.compiler.snapshot import MOST, uncollected
from badak.core import events
from badak.core.errors import tr
from badak.core.memory import holder_of
from badak.core.public_api.homes import home
from badak.tensor import Tensor
from badak.tensor.attributes import held_by, is_a
from badak.tensor.tensor import STATE


class Pool:
    """What one function of the program can reach while it runs, by id."""

    def __init__(self, executed: Executed | None):
        self.executed: Any = executed
        self.facts = executed.asks_for() if executed else Facts(frozenset(), frozenset(), False, frozenset(), False)
        self.found: dict[int, Any] = {}
        self.handed: set[int] = set()  # of these, what was only handed to it: nothing that the program keeps leads there
        self.names = set(self.facts.free)  # attributes that it may ask of anything
        self.names |= {word for word in executed.words if word.isidentifier()} if executed and self.facts.by_words else set()
        self.everything = self.facts.everything or bool(executed and executed.everything)


class Reached:
    """The places that the executed functions can read.

    roots: (where, thing), the step and the objects that it is handed; modules, tensors: those that it has met.
    """

    def __init__(self, executed: dict[types.CodeType, Executed], roots, modules=(), tensors=()):
        self.places: dict[tuple, places.Place] = {}
        self.trouble = ""
        self._pools = {code: Pool(each) for code, each in executed.items()}
        self._waiting: deque = deque()
        self._linked: dict[int, types.FunctionType] = {}
        self._classes: set[type] = set()
        self._weak: list[tuple[Pool, str, Any]] = []  # what weak references refer to
        self._lookups: dict = {}
        self._root = Pool(None)
        with uncollected():
            for where, thing in roots:
                self._add(self._root, thing, where)
            for module in modules:
                self._add(self._root, module, type(module).__name__)
            for x in tensors:
                self._tensor(x, type(x).__name__)
            for own, name in events.of_all:
                self._put(places.place_of(self._entry(own, name, name), name))
            for pool in self._pools.values():
                self._begin(pool)
            self._class(Tensor)
            self._walk()
            self._link_lost()
            self._walk()
            self._follow_weak()
        asked = [pool.names.union(*(chain.names + (chain.root,) for chain in pool.facts.chains)) for pool in self._pools.values()]
        self._put(*process.asked_by(frozenset().union(*asked)))

    def owners(self) -> dict[int, Any]:
        """id: owner of all memory of tensors and arrays that was found."""
        found = [thing for pool in (self._root, *self._pools.values()) for thing in pool.found.values()]
        found += [x for place in self.places.values() if type(place) is places.Mapping for x in place.now()]
        arrays = [held_by(x).get("_array") if is_a(x, Tensor) else x for x in found if is_a(x, Tensor | np.ndarray)]
        return {id(owner): owner for owner in map(holder_of, arrays)}

    # ------------------------------------------------------------------ where it begins

    def _begin(self, pool: Pool) -> None:
        each: Any = pool.executed
        for name, found in each.arguments.items():
            for thing in found.values():
                self._add(pool, thing, name.lstrip("."), handed=True)
        for question in each.answers.values():
            self._answer(question)
        for thing in each.given.values():
            self._add(pool, thing, tr("what {} was given", each.code.co_name), handed=True)
        for thing, name in each.asked.values():
            self._along(pool, [thing], type(thing).__name__, (name,), handed=True)
        for name in pool.facts.imports:
            self._entry(sys.modules, name, name)
            self._add(pool, sys.modules.get(name), name)
        for chain in pool.facts.chains:
            self._follow(pool, chain)

    def _answer(self, question: Question) -> None:
        """A function of badak has told the program a number or a text."""
        thing = question.thing
        if is_a(thing, Tensor):
            for name in ("_array", "_requires_grad"):
                self._entry(held_by(thing), name, type(thing).__name__)
        announced = contents.is_module(thing) or (is_a(thing, Tensor) and question.code.co_name != "_version")
        if announced or (question.asked is not None and thing is None):
            return
        if (ask := question.again(contents.functions_of)) is not None:
            self._put(places.Answer(thing, f"what {question.code.co_name} answers", question.key, ask))

    def _follow(self, pool: Pool, chain: Chain) -> None:
        """Go along a chain. Those of closures begin at the function's cells as well, where it outlives the call (`_link`)."""
        if chain.kind == "global":
            self._along(pool, [self._global(pool, chain.root)], chain.root, chain.names)
        else:  # the variables of a function that is made again in each call are known by what they held
            self._along(pool, list(pool.executed.arguments.get(chain.root, {}).values()), chain.root, chain.names, handed=True)

    def _global(self, pool: Pool, name: str) -> Any:
        if name == "RecursionError":
            self.trouble = self.trouble or tr("it asks for RecursionError: how deep calls may go depends on who calls it")
        found = self._entry(pool.executed.globals, name, name)
        if found is places.MISSING:
            found = self._entry(pool.executed.builtins, name, name)
            return places.MISSING if name in BY_NAME else found  # what these are given is known
        return found

    def _along(self, pool: Pool, things: list, where: str, names: tuple[str, ...], handed: bool = False) -> None:
        for thing in things:
            self._add(pool, thing, where, handed)
        for name in names:
            things = [value for thing in things for value in self._attribute(thing, name, where)]
            where = f"{where}.{name}"
            for thing in things:
                self._add(pool, thing, where, handed)

    # ------------------------------------------------------------------ the walk

    def _walk(self) -> None:
        while self._waiting and not self.trouble:
            pool, thing, where = self._waiting.popleft()
            if len(self.places) > MOST:
                self.trouble = tr("it can reach more than {:,} Python objects, which would all have to be compared", MOST)
                return
            self._open(pool, thing, where)

    def _add(self, pool: Pool, thing: Any, where: str, handed: bool = False) -> None:
        if id(thing) in pool.found:
            if not handed:
                pool.handed.discard(id(thing))
        elif not contents.is_end[type(thing)] and thing is not places.MISSING and thing is not vars(builtins):
            pool.found[id(thing)] = thing
            if handed:
                pool.handed.add(id(thing))
            self._waiting.append((pool, thing, where))
        elif is_a(thing, np.generic):
            self._put(*process.behind(thing))

    def _follow_weak(self) -> None:
        """Go on from what weak references refer to. What they alone lead to is not replayed: places would keep it alive."""
        while self._weak and not self.trouble:
            pool, where, thing = self._weak.pop()
            kept = any(id(thing) in each.found and id(thing) not in each.handed for each in (self._root, *self._pools.values()))
            if (
                not kept
                and not contents.is_end[type(thing)]
                and not is_a(thing, (types.FunctionType, type, types.ModuleType, Tensor))
            ):
                self.trouble = f"it can reach {where}, to which a weak reference alone leads: it may be gone before the next call"
            self._add(pool, thing, where)
            self._walk()

    def _open(self, pool: Pool, thing: Any, where: str) -> None:
        kind = type(thing)
        if is_a(thing, Tensor):
            self._tensor(thing, where)
            self._attributes(pool, thing, where)
            return
        place = places.place_of(thing, where)
        if place is not None:
            self._put(place)
        self._put(*process.behind(thing))
        if is_a(thing, types.FunctionType):
            self._function(pool, thing, where)
        elif is_a(thing, types.BuiltinFunctionType):
            self._function_in_c(pool, thing, where)
        elif is_a(thing, type):
            for each in (*thing.__mro__, *kind.__mro__):
                self._class(each)
            self._attributes(pool, thing, where)
        elif is_a(thing, types.ModuleType):
            self._put(places.TypeOf(thing, where))
            self._attributes(pool, thing, where)
        elif is_a(thing, weakref.ref):
            self._weak += [(pool, where, target)] if (target := thing()) is not None else []
        else:
            for part_where, part in contents.parts_of(thing, where, place):
                self._add(pool, part, part_where)
            if is_a(thing, defaultdict):
                self._put(places.Slot(thing, f"{where}.default_factory", vars(defaultdict)["default_factory"]))
                self._add(pool, thing.default_factory, f"{where}.default_factory")
            if is_a(thing, operator.attrgetter | operator.methodcaller):
                self._ask(pool, {part for each in thing.__reduce__()[1] if is_a(each, str) for part in each.split(".")})
            elif pool.facts.by_words and is_a(thing, list | tuple | dict | set | frozenset):
                self._ask(pool, {word for word in (thing.values() if type(thing) is dict else thing) if type(word) is str})
            if kind not in contents.NOTHING_ELSE and not (places.is_consumed(kind) and not places.dict_of(thing)):
                self._object(pool, thing, where)

    def _function_in_c(self, pool: Pool, f: Any, where: str) -> None:
        """Python does not tell of it where another function in C calls it."""
        bound = f is sys.getrecursionlimit and pool.executed and is_of_python(pool.executed.globals.get("__name__", ""))
        if (why := impure(f)) and not bound:
            self.trouble = f"it can reach {where}, which is {why}: it may answer or do something else in each call"
        if f.__name__ in BY_NAME and f.__self__ is builtins:
            self._ask(pool, None)
        if f.__name__ in FORMATS and is_a(f.__self__, str):
            self._ask(pool, {*named_in_format(f.__self__)})
        if not is_a(f.__self__, types.ModuleType):
            self._add(pool, f.__self__, where)

    def _object(self, pool: Pool, thing: Any, where: str) -> None:
        kind = type(thing)
        base = defined_in_c(kind)
        if base not in contents.PLAIN_IN_C and not is_a(thing, (*contents.HOLDERS, types.SimpleNamespace, threading.local)):
            if not contents.is_immutable(base) and places.place_of(thing, where) is None:
                self._put(places.Opaque(thing, where))
        if contents.is_module(thing):
            self._module(thing)
        if "param_groups" in (own := places.dict_of(thing)):
            self._optimizer(own, where)
        for each in kind.__mro__:
            self._class(each)
        if pool.names & contents.OF_CLASSES:
            self._add(pool, kind, f"type({where})")
        self._put(places.TypeOf(thing, where))
        self._attributes(pool, thing, where)

    def _attributes(self, pool: Pool, thing: Any, where: str) -> None:
        """What the code of this pool asks of things by name."""
        names = pool.names
        if is_a(thing, types.FunctionType) and not thing.__dict__:
            names = names & contents.OF_FUNCTIONS
        if is_a(thing, types.ModuleType):
            self._entry(thing.__dict__, "__getattr__", f"{where}.__getattr__")
        if is_a(thing, types.ModuleType) and ("__getattr__" in thing.__dict__ or not is_program(thing.__name__)):
            names = names & thing.__dict__.keys()
        elif pool.everything or contents.is_read_unseen[type(thing)]:
            names = names.union(contents.names_in(thing))
        for name in names:
            for value in self._attribute(thing, name, where):
                if name in pool.names or not (is_a(thing, types.ModuleType) and is_a(value, types.BuiltinFunctionType)):
                    self._add(pool, value, f"{where}.{name}")

    def _ask(self, pool: Pool, words: set[str] | None) -> None:
        """More names, which are asked of all that the pool has. None: by any name."""
        if pool.everything if words is None else words <= pool.names:
            return
        pool.everything = pool.everything or words is None
        pool.names |= words or set()
        self._waiting.extend((pool, thing, type(thing).__name__) for thing in list(pool.found.values()))

    def _tensor(self, x: Tensor, where: str) -> None:
        self._put(places.Kind(x, where))
        self._put(places.Added(own := held_by(x), f"an attribute of {where}"))
        for name in own.keys() - STATE:
            self._entry(own, name, f"{where}.{name}")

    def _attribute(self, thing: Any, name: str, where: str) -> list:
        """All that may be meant by thing.name, whose places are noted."""
        if is_a(thing, types.MethodType):
            return self._attribute(thing.__func__, name, where)
        if contents.is_end[type(thing)]:
            return []
        if is_a(thing, Tensor):  # what a program has set on it, and what it is; values are announced
            own, kept = held_by(thing), contents.TOLD.get(name)
            if kept:
                self._entry(own, kept, f"{where}.{name}")
            return [self._entry(own, name, f"{where}.{name}")] if name in own and name not in STATE else []
        own = places.dict_of(thing) if not is_a(thing, type) else {}
        found: list = [own] if name == "__dict__" and own else [type(thing)] if name == "__class__" else []
        if is_a(thing, types.ModuleType):
            value = self._entry(own, name, f"{where}.{name}")
            return [getattr(thing, name, None) if value is places.MISSING and "__getattr__" in own else value]
        if contents.is_module(thing):
            found = [own[part][name] for part in contents.MODULE_PARTS if name in own[part]]
        if own or own is not places.dict_of(0):
            found.append(self._entry(own, name, f"{where}.{name}"))
        for value in self._said(thing if is_a(thing, type) else None, type(thing), name):
            found += self._of_class(thing, value, f"{where}.{name}")
        return [value for value in found if value is not places.MISSING]

    def _said(self, own: type | None, kind: type, name: str) -> list:
        """What classes say of a name, without functions of badak, which lead nowhere."""
        found = self._lookups.get((own, kind, name))
        if found is None:
            order = (*(own.__mro__ if own else ()), *kind.__mro__)
            kept = contents.KEPT_AS.get(name, name)
            found = [vars(each)[one] for each in order for one in dict.fromkeys((name, kept)) if one in vars(each)]
            found = [value for value in found if not (is_a(value, types.FunctionType) and contents.leads_nowhere(value))]
            self._lookups[own, kind, name] = found
        return found

    def _of_class(self, thing: Any, value: Any, where: str) -> list:
        made_anew = contents.MADE_ANEW if is_a(thing, type) else contents.MADE_ANEW - contents.KEPT_AS.keys()
        known = is_a(value, types.GetSetDescriptorType) and is_a(thing, contents.SAYS) and value.__name__ not in made_anew
        if known or is_a(value, types.MemberDescriptorType):
            if is_a(thing, type) and not issubclass(value.__objclass__, type):
                return []
            place = places.Slot(thing, where, value)
            self._put(place)
            return place.now()
        return contents.functions_of(value) or [value]

    # ------------------------------------------------------------------ what is noted

    def _put(self, *found: places.Place | None) -> None:
        for place in found:
            if place is not None:
                self.places.setdefault(place.key, place)

    def _entry(self, own: dict, name: str, where: str) -> Any:
        self._put(places.Entry(own, where, name))
        return own.get(name, places.MISSING)

    def _class(self, kind: type) -> None:
        """A class of the program, with all that it says."""
        if kind in self._classes or not written_in_python(kind):
            return
        self._classes.add(kind)
        self._put(places.Class(kind, kind.__name__))
        if not is_program(home(kind)):
            return
        self._put(places.Order(kind, f"{kind.__name__}.__bases__"))
        for name, value in vars(kind).items():
            for f in contents.functions_of(value):
                self._function(self._root, f, f"{kind.__name__}.{name}")
            value = value.__func__ if is_a(value, staticmethod | classmethod) else value
            if is_a(value, types.BuiltinFunctionType | functools.partial):
                self._add(self._root, value, f"{kind.__name__}.{name}")

    def _module(self, module: Any) -> None:
        """A module with all that it holds: its layers read it without telling."""
        own, name = places.dict_of(module), type(module).__name__
        self._put(places.TypeOf(module, name))
        self._put(places.Size(own, f"an attribute of {name}"))
        for attribute, part in own.items():
            if attribute in type(module)._bookkeeping:
                if attribute in contents.MODULE_PARTS or attribute == "training":
                    self._entry(own, attribute, f"{name}.{attribute}")
                if attribute in contents.MODULE_TABLES:
                    self._put(places.place_of(part, f"{name}.{attribute}"))
            else:
                self._entry(own, attribute, f"{name}.{attribute}")
                if is_a(part, dict | list | set | deque):
                    self._put(places.place_of(part, f"{name}.{attribute}"))
                elif is_a(part, types.FunctionType | types.MethodType | functools.partial):
                    self._add(self._root, part, f"{name}.{attribute}")
        for kind in type(module).__mro__:
            self._class(kind)
            for named, asked in contents.asked_late[kind]:
                self._entry(named, asked, asked)
            forward: Any = vars(kind).get("forward")
            if is_a(forward, types.FunctionType):
                self._put(places.ClassEntry(kind, f"{kind.__name__}.forward", "forward"))
                self._function(self._root, forward, f"{kind.__name__}.forward")
                break

    def _optimizer(self, own: dict, where: str) -> None:
        """Which parameters an optimizer has, in which groups: whose settings may change, every step reads them again."""
        where = f"{where}.param_groups"
        groups = self._entry(own, "param_groups", where)
        self._put(places.place_of(groups, where))
        for group in groups if is_a(groups, list) else ():
            if is_a(group, dict):
                self._put(places.place_of(self._entry(group, "params", f'{where}["params"]'), f'{where}["params"]'))

    def _function(self, pool: Pool, f: types.FunctionType, where: str) -> None:
        if id(f) not in self._linked:
            own = self._pools.get(f.__code__)
            if own is not None:
                self._link(own, f)
            elif f.__closure__ and "<locals>" in f.__qualname__ and not is_program(f.__module__ or ""):
                self._linked[id(f)] = f
                for name, cell in zip(f.__code__.co_freevars, f.__closure__):  # a function of ours around one of the program
                    place = places.Cell(cell, name)
                    self._put(place)
                    for value in filter(callable, place.now()):
                        self._add(self._root, value, name)
        if pool is not self._root:
            self._attributes(pool, f, where)
        if "__wrapped__" in f.__dict__:
            self._add(self._root, f.__dict__["__wrapped__"], where)

    def _link(self, pool: Pool, f: types.FunctionType) -> None:
        """A function whose code ran: the variables of its closure are those of the code."""
        self._linked[id(f)] = f
        self._put(places.Code(f, f.__qualname__))
        for value in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            self._add(pool, value, tr("a default of {}", f.__name__))
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            place = places.Cell(cell, name)
            self._put(place)
            chains = [chain.names for chain in pool.facts.chains if chain.kind == "cell" and chain.root == name]
            for names in chains or [()]:
                self._along(pool, place.now(), name, names)

    def _link_lost(self) -> None:
        """Functions with a closure or defaults that ran, and that nothing led to, are looked for among all objects."""
        found = {f.__code__ for f in self._linked.values()}
        inner = {each for code in self._pools for each in code.co_consts if is_a(each, types.CodeType)}
        lost = [code for code in self._pools if code not in found and code not in inner and code.co_name != "<module>"]
        lost = [code for code in lost if code.co_freevars or code.co_argcount or code.co_kwonlyargcount]
        for f in gc.get_referrers(*lost) if lost else ():
            if is_a(f, types.FunctionType) and f.__code__ in self._pools:
                self._link(self._pools[f.__code__], f)
