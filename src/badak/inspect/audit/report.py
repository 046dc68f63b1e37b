"""What an audit has found: an object, a text, a page."""

from dataclasses import dataclass, field
from html import escape
from typing import Any

from badak.core.errors import name_of
from badak.core.i18n import language, say


@dataclass(frozen=True)
class Finding:
    """One bug: which probe found it, in which module it begins ("" is the model itself), what was measured, what helps."""

    probe: str
    module: str
    cause: str
    fix: str
    numbers: dict[str, Any] = field(default_factory=dict)
    between: str = ""  # what is still right just before it

    @property
    def code(self) -> str:
        """What `badak explain` is asked for."""
        return name_of(CODES[self.probe])

    @property
    def measured(self) -> str:
        return f"{say(self.cause)}\n{say(self.between)}".strip()

    def __str__(self) -> str:
        lines = [f"{self.code} {title(self.probe)}: {self.module or say('the model itself')}", f"  {say(self.cause)}"]
        if self.between:
            lines.append(f"  {say(self.between)}")
        return "\n".join([*lines, f"  {say('fix:')} {say(self.fix)}"])


TITLES = {
    "numbers": "not a number",
    "future": "future leak",
    "padding": "padding leak",
    "batch": "batch leak",
    "modes": "train, eval, no_grad",
    "compiled": "compiled",
    "cache": "cache",
    "blind": "rows that see nothing",
    "gradients": "no gradient",
    "optimizers": "optimizer",
    "ties": "tied weights",
    "copies": "copies",
    "order": "order",
    "positions": "positions that do not matter",
    "tokens": "tokens alike",
    "shared": "one layer twice",
    "residual": "no way around",
    "rotary": "rotary positions",
    "heads": "heads",
    "axis": "softmax over the wrong axis",
    "scale": "scale of scores",
    "straight": "two maps in a row",
    "loss": "what its loss is given",
}


CODES = {  # given once and for ever
    "future": 301, "padding": 302, "batch": 303, "modes": 304, "compiled": 305, "cache": 306, "blind": 307,
    "gradients": 308, "positions": 309, "tokens": 310, "order": 311, "optimizers": 312, "ties": 313, "copies": 314,
    "numbers": 315, "shared": 316, "residual": 317, "rotary": 318, "heads": 319, "axis": 320,
    "scale": 321, "straight": 322, "loss": 323,
}  # fmt: skip
MEANINGS = {
    "future": "In a causal model, and in a decoder, another token at position t must change nothing before t, not by a bit. "
    "Where it does, the model reads the answer: a wonderful loss, and rubbish when it writes. Hide what follows: is_causal=True, "
    "or keep = tril(ones(T, T)).",
    "padding": "What stands in the places of padding, and how many there are, must change nothing elsewhere. Where it does, an "
    "answer depends on the neighbours in the batch. Hide padding in each attention, and leave it out of means and sums.",
    "batch": "Other texts in all other rows must not change a row by a bit. Look for a reshape or a mean that mixes the first axis "
    "with another one, and for batch_first.",
    "modes": "With every dropout at 0, a forward in train mode with a graph and one in eval mode without must give the same. Where "
    "they differ, what is tested is not what was trained.",
    "compiled": "The model replayed by badak.compile must give the same bits as the model itself.",
    "cache": "The last token with what was remembered of those before must give the same as the whole text at once. Look at the "
    "positions of new tokens, and at which keys they see.",
    "blind": "Each query that is no padding must see a key. A row of scores that is hidden throughout gives zeros at best and NaN "
    "by hand.",
    "gradients": "One backward must reach every trainable parameter. What it does not reach never learns: a layer that is not "
    "used, one in a plain list, a detach().",
    "positions": "The gradient at what the token embedding gave must be zero at padding only. A place that nothing depends on was "
    "cut off by a slice, a mask or a product.",
    "tokens": "No two tokens may have one vector, and a text with all tokens replaced must give something else.",
    "order": "The tokens in another order must give other outputs, not only the same ones in that order. Where they do not, the "
    "model knows no positions: add them to the table's rows.",
    "optimizers": "Each trainable parameter must be in the optimizer once, and nothing else. Build it after the model is complete.",
    "ties": "A token embedding and the output matrix are one tensor, or two that have nothing to do with each other. Two that are "
    "nearly the same were tied once: set head.weight = table.weight before the optimizer is built.",
    "copies": "No two layers may start with the same numbers: copy.deepcopy copies the draw, too. Draw each again.",
    "numbers": "Outputs that are NaN say nothing, and one of them in a loss spoils every weight. The place is the first module "
    "that is given numbers and gives NaN. Look for the logarithm or the root of what is not positive, for 0 / 0, and for a "
    "softmax over a row that is hidden throughout.",
    "shared": "A stack of layers must be made of layers: [layer] * n is one layer n times, with the weights of one. Where that is "
    "meant, as in ALBERT, call one module n times and say so in its name or its docstring (shared_layer).",
    "residual": "In x + f(norm(x)) the sum leads around f. Where one layer of a stack lacks it, all that is known of a token has "
    "to pass through its attention, or its map, and what layers below have found is lost.",
    "rotary": "A rotation of queries and keys must be one: numbers turn in pairs, by an angle that grows with the position, the "
    "same for queries and keys, in all of the head unless the model says how much of it. Look at whether sin and cos are laid out "
    "for the same pairs that are turned: halves (i, i + D/2) or neighbours (2i, 2i + 1).",
    "heads": "With fewer heads of keys than of queries, query head h reads key head h // (H / G): repeat_interleave, not repeat. "
    "Keys and values must be laid out alike. A view alone, without transpose(1, 2), takes places for heads.",
    "axis": "The weights of an attention must sum to 1 over the keys, along the axis that the product with the values sums over. A "
    "softmax over queries, heads or rows compares what belongs to different answers.",
    "scale": "The scores of queries and keys grow with the width D of a head: they are divided by its root, once. Undivided, the "
    "softmax sees one key alone and hardly learns; divided twice, all keys are nearly alike. A bias that is learned, as in T5, or "
    "vectors of length 1 may ask for another scale.",
    "straight": "Two maps with nothing but a dropout between them are one map. A hidden layer that is wider than what it takes and "
    "gives is there for the nonlinearity behind it: fc2(F.gelu(fc1(x))).",
    "loss": "A loss must be given what it takes: logits where it makes the softmax, or the sigmoid, itself. It counts no padding, "
    "takes its softmax over the classes, and what one row brings to it does not depend on the others.",
}


def title(probe: str) -> str:
    """What a probe is called in a report."""
    return say(TITLES.get(probe, probe))


def explained(code: str) -> str:
    """What a code of a finding means: BADAK-301, or 301; "" where it is none."""
    for probe, number in CODES.items():
        if code in (str(number), name_of(number)):
            return f"{name_of(number)}  {title(probe)}\n\n{say(MEANINGS[probe])}"
    return ""


HEADS = ("probe", "module", "what was measured")


@dataclass
class Audit:
    """The result of `badak.audit`.

    findings     what is wrong, in the order of the probes; `ok` is True where there is nothing, and nothing is open
    sound        probes that found nothing
    unasked      probe: why it was not asked
    open         those of them without which nothing can be said: batch, future, gradients, padding that is there
    notes        what is right by design, and worth knowing
    kind, why    what kind of model it is, and how that was found
    forwards, backwards, seconds     what it cost
    """

    model: str
    kind: str
    why: str
    sizes: str
    findings: list[Finding] = field(default_factory=list)
    sound: list[str] = field(default_factory=list)
    unasked: dict[str, str] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    forwards: int = 0
    backwards: int = 0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.findings and not self.open

    @property
    def code(self) -> int:
        """Of `badak audit`: 1 where something was found, 3 where nothing was and something is open, else 0."""
        return 1 if self.findings else 3 if self.open else 0

    def verdict(self) -> str:
        """One line where nothing was found."""
        if not self.open:
            return say("nothing found")
        return say("nothing can be said yet: not asked are {}", ", ".join(title(probe) for probe in self.open))

    def head(self) -> list[str]:
        """What was audited, and what it cost."""
        cost = say("{} forwards, {} backward, {:.2f} s", self.forwards, self.backwards, self.seconds)
        if not self.forwards:  # what was found at once made all else pointless
            return [say("audit of {}", self.model), cost]
        return [say("audit of {}: {} ({})", self.model, self.kind, self.why), f"{say(self.sizes)}; {cost}"]

    def tail(self) -> list[str]:
        """What is sound, what was not asked, and notes."""
        lines = [f"{say('sound:')} {', '.join(map(title, self.sound))}"] if self.sound else []
        lines += [f"{say('not asked:')} {title(probe)}: {say(why)}" for probe, why in self.unasked.items()]
        return lines + [f"{say('note:')} {say(note)}" for note in self.notes]

    def __str__(self) -> str:
        parts = ["\n".join(self.head())]
        parts += [str(finding) for finding in self.findings] or [self.verdict()]
        return "\n\n".join([*parts, "\n".join(self.tail())]).rstrip()

    def __repr__(self) -> str:
        return f"Audit({self.model}: {len(self.findings)} findings)"

    def to_html(self) -> str:
        """The same as one HTML page that needs nothing else."""
        return as_page(say("audit of {}", self.model), self._repr_html_())

    def _repr_html_(self) -> str:
        head = "".join(f"<p>{escape(line)}</p>" for line in self.head())
        word = say("{} found", len(self.findings)) if self.findings else self.verdict()
        rows = as_rows(
            HEADS,
            [
                (f"{f.code} {title(f.probe)}", f.module or say("the model itself"), f.measured, f.numbers, f.fix)
                for f in self.findings
            ],
        )
        return f"<section><h2>{word}</h2>{head}{rows}<ul>{''.join(f'<li>{escape(t)}</li>' for t in self.tail())}</ul></section>"


def as_page(title: str, body: str) -> str:
    """One HTML page that needs nothing else."""
    return PAGE.format(language=language(), title=escape(title), style=STYLE, body=body)


def as_rows(head: tuple[str, str, str], findings: list[tuple[str, str, str, dict[str, Any], str]]) -> str:
    """A table of findings: (what, where, cause, numbers, fix); "" where there are none."""
    if not findings:
        return ""
    titles = "".join(f"<th>{escape(say(title))}</th>" for title in head)
    return f"<table><tr>{titles}</tr>{''.join(_row(*finding) for finding in findings)}</table>"


def _row(what: str, where: str, cause: str, numbers: dict[str, Any], fix: str) -> str:
    inner = "".join(f"<tr><td>{escape(k)}</td><td>{escape(_number(v))}</td></tr>" for k, v in numbers.items())
    text = escape(say(cause)).replace("\n", "<br>")
    return (
        f"<tr><td>{escape(what)}</td><td><code>{escape(where)}</code></td>"
        f"<td>{text}<table class=numbers>{inner}</table><b>{say('fix:')}</b> {escape(say(fix))}</td></tr>"
    )


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{style}</style></head><body><h1>{title}</h1>{body}</body></html>
"""
STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{border:1px solid #8888;padding:.4rem .6rem;text-align:left;vertical-align:top}"
    "table.numbers{width:auto;margin:.4rem 0;font-size:.9em}"
)
