"""The layers of a model: the parts that hold one self-attention each, by their places in it."""

from dataclasses import dataclass

from badak.inspect.audit.watch import within
from badak.inspect.visualize.attention import Attended
from badak.inspect.visualize.stream import Stream
from badak.inspect.visualize.trace import Ran, Trace


@dataclass(frozen=True)
class Layer:
    """A part of the model, and which of its calls: a layer may be used several times."""

    prefix: str
    call: int  # number of the call, -1 for a part that is a list and is never called


class Layers:
    """`list` in the order in which they run; `of(run)` says in which of them an operation ran."""

    def __init__(self, trace: Trace, attended: list[Attended]):
        self._trace = trace
        own = [each.path for each in attended if each.kind == "self"] or [each.path for each in attended]
        self.prefixes = list(dict.fromkeys(_prefix(each.path, own) for each in attended))
        self._sums: dict[int, int | None] = {}
        found = [self._layer(each.run) for each in attended]
        self.list = list(dict.fromkeys(layer for layer in found if layer is not None))

    def settle(self, streams: list[Stream]) -> None:
        """A residual sum, which may stand outside of the layer, belongs to the layer of what it adds."""
        for state in (state for stream in streams for state in stream.states[1:]):
            known = [n for n in (self.of(self._trace.runs[number]) for number in sorted(state.cone)) if n is not None]
            for run in (state.sum, state.made):
                if run is not None:
                    self._sums[run.number] = known[0] if known else None

    def of(self, run: Ran) -> int | None:
        """The number of the layer, None outside of them."""
        if self._sums.get(run.number) is not None:
            return self._sums[run.number]
        layer = self._layer(run)
        return self.list.index(layer) if layer in self.list else None

    def of_path(self, path: str) -> int | None:
        """The first layer that holds a module, or a parameter, of this name."""
        return next((i for i, layer in enumerate(self.list) if within(path, layer.prefix)), None)

    def _layer(self, run: Ran) -> Layer | None:
        prefix = next((each for each in self.prefixes if each and within(run.path, each)), None)
        if prefix is None:
            return None
        calls = [index for index in run.calls if self._trace.calls[index].path == prefix]
        return Layer(prefix, calls[0] if calls else -1)


def _prefix(path: str, own: list[str]) -> str:
    """The shortest part of a path that ends with a number and holds one self-attention; else what holds the attention."""
    words = path.split(".")
    numbered = [".".join(words[: i + 1]) for i, word in enumerate(words) if word.isdigit()]
    for each in numbered:
        if len({other for other in own if within(other, each)}) <= 1:
            return each
    return numbered[-1] if numbered else path.rpartition(".")[0] or path
