"""A judge of formulas: what one gives, read as it is written, of the numbers that stand next to it. Axes have names: x[c], p[j]."""

import math
import re

import numpy as np

from badak.inspect.introspection.formula import tree

REST = "*"  # the axis that a formula does not name
FUNCTIONS = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "abs": np.abs, "sign": np.sign,
    "erf": np.vectorize(math.erf, otypes=[float]),
}  # fmt: skip


class Value:
    """Numbers whose axes have names."""

    def __init__(self, x, axes=()):
        self.x, self.axes = np.asarray(x, np.float64), tuple(axes)
        assert self.x.ndim == len(self.axes), (self.x.shape, self.axes)

    def along(self, axes):
        """The same with these axes, 1 where it has none."""
        order = [a for a in axes if a in self.axes]
        x = self.x.transpose([self.axes.index(a) for a in order])
        return x.reshape([x.shape[order.index(a)] if a in order else 1 for a in axes])


def both(f, a, b):
    axes = [*a.axes, *(axis for axis in b.axes if axis not in a.axes)]
    with np.errstate(all="ignore"):
        return Value(f(a.along(axes), b.along(axes)), axes)


def plain(x):
    """Numbers as they stand in the list of values: a row has the axis that nobody names."""
    x = np.asarray(x, np.float64)
    return Value(x.reshape(()) if x.size == 1 else x, () if x.size == 1 else (REST,))


class Judge:
    """rows: {name: numbers}, of the run and of the steps before; tables: matrices, by their names."""

    def __init__(self, rows, tables):
        self.rows, self.tables = rows, tables

    def evaluate(self, formula):
        kind, *parts = tree(formula)
        assert kind == "line" and len(parts) == 1 and parts[0][0] != "word", formula
        return self.value(parts[0])

    def value(self, made):
        kind, *parts = made
        return getattr(self, f"_{kind}")(*parts)

    def _number(self, text):
        return Value(float(text))

    def _name(self, name):
        return Value(math.pi) if name == "pi" else plain(self.rows[name])

    def _minus(self, part):
        x = self.value(part)
        return Value(-x.x, x.axes)

    def _group(self, part):
        return self.value(part)

    def _sum(self, first, *rest):
        total = self.value(first)
        for sign, part in zip(rest[::2], rest[1::2]):
            total = both({"+": np.add, "-": np.subtract, "*": np.multiply}[sign], total, self.value(part))
        return total

    def _product(self, *parts):
        total = None
        for part in parts:
            turned = part[0] == "power" and part[2] == ["name", "T"]
            name = part[1][1] if turned else part[1] if part[0] == "name" else None
            if name in self.tables and self.tables[name].ndim == 2:
                table = self.tables[name].T if turned else self.tables[name]
                assert total is not None and total.axes in ((REST,), ())
                total = plain(np.atleast_1d(total.x) @ table)
                continue
            x = self.value(part)
            total = x if total is None else both(np.multiply, total, x)
        return total

    def _dot(self, a, b):
        x = both(np.multiply, self.value(a), self.value(b))
        return Value(x.x.sum(x.axes.index(REST)), [axis for axis in x.axes if axis != REST])

    def _over(self, a, b):
        return both(np.divide, self.value(a), self.value(b))

    def _power(self, a, b):
        return both(np.power, self.value(a), self.value(b))

    def _truth(self, part):
        kind, left, sign, right = part
        assert kind == "relation"
        return both({">": np.greater, "=": np.equal}[sign], self.value(left), self.value(right))

    def _big(self, letter, part):
        key = f"sum({words(part[1])})" if part[0] == "group" else None
        if not letter and key in self.rows:
            return plain(self.rows[key])
        x = self.value(part)
        assert letter in x.axes, (letter, x.axes)
        return Value(x.x.sum(x.axes.index(letter)), [axis for axis in x.axes if axis != letter])

    def _index(self, name, *indexes):
        key = f"{name[1]}[{','.join(words(i) for i in indexes if i[0] != 'mark')}]"
        if key in self.rows:
            return plain(self.rows[key])
        table = self.tables.get(name[1])
        x = np.asarray(self.rows[name[1]]) if table is None else table
        letters = [i for i in indexes if i[0] != "mark"]
        chosen, axes = [], []
        for index in letters:
            number = self.value(index).x if index[0] in ("number", "index") else None
            chosen.append(slice(None) if number is None else int(number))
            axes += [] if number is not None else [index[1]]
        x = x[tuple(chosen)]
        return Value(x, [*axes, *[REST] * (x.ndim - len(axes))])

    def _call(self, name, *given):
        key = f"{name[1]}({words(given[0])})"
        if key in self.rows:
            return plain(self.rows[key])
        if name[1] == "max":
            parts = [self.value(part) for part in given if part[0] != "mark"]
            return Value(parts[0].x.max()) if len(parts) == 1 else both(np.maximum, *parts)
        return self._apply(name, given[0])

    def _apply(self, name, part):
        x, power = self.value(part), 1
        if name[0] == "power":
            name, power = name[1], int(name[2][1])
        with np.errstate(all="ignore"):
            return Value(FUNCTIONS[name[1]](x.x) ** power, x.axes)


def words(made):
    """The text of a small tree."""
    kind, *parts = made
    if kind in ("name", "number", "sign"):
        return parts[0]
    if kind == "index":
        return f"{words(parts[0])}[{','.join(words(part) for part in parts[1:] if part[0] != 'mark')}]"
    if kind == "power":
        return f"{words(parts[0])}^{words(parts[1])}"
    return re.sub(" +", " ", " ".join(words(part) for part in parts if not isinstance(part, str)))
