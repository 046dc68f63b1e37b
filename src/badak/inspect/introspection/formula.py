"""A formula as docstrings write it, `dx = rstd (g - mean(g) - h mean(g h))`, as a tree, and the tree as MathML.

    x[c], w[0,k]     an index                     a b, a . b     a product, an inner product
    a/b c            (a/b) c: written together    a b / c        (a b) / c: written apart
    x^2, w^T         a power, a transpose         sum_c x[c]     a sum over c, up to the next + or -
    exp(x), tanh u   a function                   [k = c]        1 where it is true, else 0

What is no part of a formula stays a word: `y = x Phi(x), Phi the normal distribution function`.
"""

import re
from typing import Any

Tree = list[Any]  # [kind, ...], its parts trees and texts

GREEK = {
    "Phi": "Φ", "phi": "φ", "pi": "π", "eps": "ε", "delta": "δ", "mu": "μ", "sigma": "σ", "inf": "∞", "theta": "θ", "beta": "β",
    "alpha": "α", "gamma": "γ",
}  # fmt: skip
FUNCTIONS = {
    "exp", "log", "sqrt", "tanh", "erf", "max", "min", "mean", "softmax", "logsumexp", "sin", "cos", "rowsum", "sigmoid", "sign",
    "abs", "logsigmoid", "silu", "sum",
}  # fmt: skip
NAMES = {
    "mean", "var", "rstd", "scale", "logits", "target", "loss", "lse", "out", "bias", "drop", "onehot", "weights", "ids", "keep",
    "slope", "logp", "cols", "fold", "ln", "lo", "hi", "cosh", "sinh", "softplus", "correction", "index", "mask", "weight", *GREEK,
}  # fmt: skip
NAME = re.compile(r"d?(?:[A-Za-z]|" + "|".join(sorted(NAMES, key=len, reverse=True)) + r")(?:_[a-z0-9])?'?")
PIECES = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?)|(?P<name>[A-Za-z가-힣]+(?:_[A-Za-z0-9]+)*'?)"
    r"|(?P<sign>->|=:|:=|<=|>=|!=|==|\.\.\.|[-+*/^()\[\]{}=<>,;:.|])|(?P<other>\S)"
)
RELATIONS = {"=", "=:", ":=", "<=", ">=", "!=", "==", "<", ">", "->"}
SIGNS = {
    "-": "−", "->": "→", "<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "...": "…", "=:": "=:", "*": "⊙", ".": "·",
}  # fmt: skip


class _Broken(Exception):
    """No formula."""


class Reader:
    """One line, piece by piece: (kind, text, whether a blank stands before it)."""

    def __init__(self, text: str):
        self.pieces: list[tuple[str, str, bool]] = []
        blank = False
        for found in PIECES.finditer(text):
            kind = str(found.lastgroup)
            if kind == "space":
                blank = True
                continue
            self.pieces.append((kind, found.group(), blank))
            blank = False
        self.at = 0

    def peek(self, ahead: int = 0) -> tuple[str, str, bool]:
        return self.pieces[self.at + ahead] if self.at + ahead < len(self.pieces) else ("end", "", True)

    def take(self, text: str | None = None) -> str:
        kind, found, _ = self.peek()
        if kind == "end" or (text is not None and found != text):
            raise _Broken
        self.at += 1
        return found

    def sees(self, *texts: str) -> bool:
        return self.peek()[1] in texts and self.peek()[0] == "sign"

    # ---------------------------------------------------------------- from the loosest to the tightest

    def line(self) -> Tree:
        """Formulas, words and commas, one after the other."""
        parts: Tree = ["line"]
        while self.peek()[0] != "end":
            if self._is_word() or self.peek()[0] == "other":
                parts.append(["word", self.take()])
            elif self.sees(",", ";", ":", ".", ")", "]", "}", "{", "|"):
                parts.append(["mark", self.take()])
            else:
                parts.append(self.relation())
        return parts

    def relation(self) -> Tree:
        parts: list[Any] = [] if self.sees(*RELATIONS) else [self.sum()]
        while self.sees(*RELATIONS):
            parts.append(self.take())
            if self._is_word() or self.peek()[0] in ("end", "other"):
                break  # y = the largest of the row
            parts.append(self.sum())
        return parts[0] if len(parts) == 1 and not isinstance(parts[0], str) else ["relation", *parts]

    def sum(self) -> Tree:
        minus = self.sees("-") and self.take()
        parts: list[Any] = [["minus", self.fraction()] if minus else self.fraction()]
        while self.sees("+", "-", "*") and not self._is_star():
            parts += [self.take(), self.fraction()]
        return parts[0] if len(parts) == 1 else ["sum", *parts]

    def fraction(self) -> Tree:
        """a b / c: both sides are products, since blanks stand around the stroke."""
        top = self.product()
        while self.sees("/") and self.peek()[2]:
            self.take()
            top = ["over", top, self.product()]
        return top

    def product(self) -> Tree:
        parts = [self.tight()]
        while self._begins():
            if self.sees("."):
                self.take()
                parts[-1] = ["dot", parts[-1], self.tight()]
            else:
                parts.append(self.tight())
        return parts[0] if len(parts) == 1 else ["product", *parts]

    def tight(self) -> Tree:
        """a/b, d y / d x, and what stands alone."""
        if self.peek()[1] == "d" and self.peek(1)[0] == "name":
            return self._derivative()
        top = self.power()
        if self.sees("/") and not self.peek()[2]:
            self.take()
            top = ["over", top, self.power()]
        return top

    def _derivative(self) -> Tree:
        self.take()
        top: Tree = ["product", ["name", "d"], self.power()]
        if self.sees("/") and self.peek(1)[1] == "d" and self.peek(2)[0] == "name":
            self.take("/")
            self.take("d")
            return ["over", top, ["product", ["name", "d"], self.power()]]
        return top

    def power(self) -> Tree:
        made = self.single()
        while self.sees("^") or self._is_star():
            if self.take() == "*":
                made = ["power", made, ["sign", "∗"]]
            elif self.sees("-"):
                self.take()
                made = ["power", made, ["minus", self.single()]]
            else:
                made = ["power", made, self.single()]
        return made

    def single(self) -> Tree:
        kind, text, _ = self.peek()
        if kind == "number":
            return ["number", self.take()]
        if kind == "name":
            return self._named()
        if text == "(":
            self.take()
            inner = self._list(")")
            return ["group", *inner]
        if text == "[":
            self.take()
            return ["truth", *self._list("]")]
        if text == "|":
            self.take()
            inner = self.sum()
            self.take("|")
            return ["bars", inner]
        if text in ("...", ":"):
            return ["sign", self.take()]
        if text == "-":
            self.take()
            return ["minus", self.power()]
        raise _Broken

    def _named(self) -> Tree:
        if self._is_word():
            raise _Broken
        text = self.take()
        if text.startswith("sum_") or text == "sum":
            return ["big", text[4:], self.product()]  # what a sum takes: the product after it
        made: Tree = ["name", text]
        while self.sees("[") and not self.peek()[2]:
            self.take()
            made = ["index", made, *self._list("]")]
        if self.sees("(") and not self.peek()[2]:
            self.take()
            return ["call", made, *self._list(")")]
        if text in FUNCTIONS and text not in NAMES and self._begins() and not self.sees("."):
            if self.sees("^"):
                self.take()
                made = ["power", made, self.single()]
            return ["apply", made, self.power()]
        return made

    def _list(self, end: str) -> list[Tree]:
        """Parts between commas, up to a bracket."""
        parts: list[Tree] = []
        while not self.sees(end):
            if self._is_word():
                parts.append(["word", self.take()])
            elif self.sees(","):
                parts.append(["mark", self.take()])
            elif self.sees(":"):
                parts.append(["sign", self.take()])
            else:
                parts.append(self.relation())
        self.take(end)
        return parts

    def _is_word(self) -> bool:
        kind, text, _ = self.peek()
        if kind != "name":
            return False
        return not (NAME.fullmatch(text) or text in FUNCTIONS or text.startswith("sum_") or text == "a" != self.peek(1)[1])

    def _is_star(self) -> bool:
        """b*: the conjugate, not a product."""
        return self.sees("*") and not self.peek()[2]

    def _begins(self) -> bool:
        """Whether a factor comes."""
        kind, text, blank = self.peek()
        if kind == "number":
            return True
        if kind == "name":
            return not self._is_word()
        if text == "." and kind == "sign":
            return blank and self.peek(1)[2] and self.peek(1)[0] in ("name", "number")
        return kind == "sign" and (text in ("(", "^") or (text in ("[", "|") and blank and self.peek(1)[0] == "name"))


def tree(text: str) -> Tree:
    """The tree of a line; what is no formula is a line of words."""
    reader = Reader(text.replace("`", ""))
    try:
        return reader.line()
    except (_Broken, RecursionError):
        return ["line", ["word", text]]


# ---------------------------------------------------------------- MathML

THIN: Tree = ["mspace.thin"]  # between factors
WIDE: Tree = ["mspace.wide"]  # between formulas


def mathml(made: Tree) -> Tree:
    """A tree as [element, *children], where a text is a leaf's; "mi.d" is an <mi class="d">."""
    kind, *parts = made
    return _SHAPES[kind](parts)


def _row(parts: list[Tree]) -> Tree:
    return parts[0] if len(parts) == 1 else ["mrow", *parts]


def _between(parts: list[Tree], space: Tree) -> list[Tree]:
    return [each for part in parts for each in (space, part)][1:]


def _line(parts: list[Tree]) -> Tree:
    """Words keep together, formulas keep apart."""
    found: list[Tree] = []
    for (kind, *rest), after in zip(parts, [*parts[1:], ["end"]]):
        if kind == "word" and found and found[-1][0] == "mtext":
            found[-1] = ["mtext", f"{found[-1][1]}{rest[0]}\u00a0"]
        elif kind == "word":
            found.append(["mtext", f"\u00a0{rest[0]}\u00a0"])
        elif kind == "mark" and rest[0] in ",;":
            found += [["mo", rest[0]]] if after[0] == "word" else [["mo", rest[0]], WIDE]
        else:
            found.append(mathml([kind, *rest]))
    return _row(found[:-1] if found and found[-1] is WIDE else found)


def _signs(parts: list[Any]) -> Tree:
    """Trees with signs between them."""
    return _row([["mo", SIGNS.get(part, part)] if isinstance(part, str) else mathml(part) for part in parts])


def _name(parts: list[str]) -> Tree:
    head, _, below = parts[0].partition("_")
    prime = head.endswith("'")
    head = head.rstrip("'")
    gradient = head[0] == "d" and len(head) > 1 and (len(head) == 2 or head[1:] in NAMES) and head != "delta"
    rest = GREEK.get(head[1:], head[1:]) if gradient else ""
    leaf: Tree = ["mi.d", f"d{rest}"] if gradient else ["mi", GREEK.get(head, head)]
    leaf = ["msup", leaf, ["mo", "′"]] if prime else leaf
    return ["msub", leaf, ["mi", below]] if below else leaf


def _fenced(left: str, parts: list[Tree], right: str) -> Tree:
    return ["mrow", ["mo", left], *[mathml(part) for part in parts], ["mo", right]]


def _call(parts: list[Tree]) -> Tree:
    function, *given = parts
    if function == ["name", "sqrt"] and len(given) == 1:
        return ["msqrt", mathml(given[0])]
    return ["mrow", mathml(function), _fenced("(", given, ")")]


def _apply(parts: list[Tree]) -> Tree:
    if parts[0] == ["name", "sqrt"]:
        return ["msqrt", mathml(parts[1])]
    return ["mrow", mathml(parts[0]), THIN, mathml(parts[1])]


def _over(parts: list[Tree]) -> Tree:
    """A fraction; its brackets are its line."""
    top, below = (["product", *part[1:]] if part[0] == "group" and len(part) == 2 else part for part in parts)
    return ["mfrac", mathml(top), mathml(below)]


def _power(parts: list[Tree]) -> Tree:
    base, up = parts
    return ["msup", mathml(base), ["mi.up", "T"] if up == ["name", "T"] else mathml(up)]


def _big(parts: list[Any]) -> Tree:
    over, what = parts
    sign = ["munder", ["mo", "∑"], ["mi", over]] if over else ["mo", "∑"]
    return ["mrow", sign, mathml(what)]


_SHAPES = {
    "line": _line,
    "word": lambda parts: ["mtext", f"\u00a0{parts[0]}\u00a0"],
    "mark": lambda parts: ["mo", parts[0]],
    "sign": lambda parts: ["mo", SIGNS.get(parts[0], parts[0])],
    "number": lambda parts: ["mn", parts[0]],
    "name": _name,
    "relation": _signs,
    "sum": _signs,
    "minus": lambda parts: ["mrow", ["mo", "−"], mathml(parts[0])],
    "product": lambda parts: _row(_between([mathml(part) for part in parts], THIN)),
    "dot": lambda parts: ["mrow", mathml(parts[0]), ["mo", "·"], mathml(parts[1])],
    "over": _over,
    "power": _power,
    "group": lambda parts: _fenced("(", parts, ")"),
    "bars": lambda parts: _fenced("|", parts, "|"),
    "truth": lambda parts: _fenced("[", parts, "]"),
    "index": lambda parts: ["msub", mathml(parts[0]), _row([mathml(part) for part in parts[1:]])],
    "call": _call,
    "apply": _apply,
    "big": _big,
}
