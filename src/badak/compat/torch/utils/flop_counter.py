"""`torch.utils.flop_counter`: what a program multiplies and adds, by module and by operation."""

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from badak.core.errors import ArgumentTypeError, NotSupportedError, tr
from badak.core.events import Observer
from badak.core.public_api import guard_types as _guard_types
from badak.nn.module import Module
from badak.tensor.tensor import Tensor

__all__ = ["FlopCounterMode"]

GLOBAL = "Global"
SUFFIXES = ("", "K", "M", "B", "T")
_BACKWARD: WeakKeyDictionary = WeakKeyDictionary()  # node: (FLOPs of the gradient of each input, modules in which it was made)


class FlopCounterMode(Observer):
    """Counts the FLOPs of what runs within `with FlopCounterMode() as counter:`, of the backward, too.

    Two for each product and sum of matrix products, convolutions and attention, none for the rest, as in PyTorch. Compiled steps
    run as they are written meanwhile.

    Args:
        mods: not needed
        depth: how many levels of modules `get_table` shows
        display: print the table at the end
        custom_mapping: refused: an operation says its FLOPs in its class

    Parity: counts are keyed by badak's names of operations ("linear"), PyTorch's by objects ("aten.addmm"). A backward counts
    where its forward ran within a counter.

    Example:
        >>> from badak.utils.flop_counter import FlopCounterMode
        >>> with FlopCounterMode(display=False) as counter:
        ...     y = nn.Linear(4, 3)(badak.ones(2, 4))
        >>> counter.get_total_flops()
        48
    """

    eager = True

    def __init__(self, mods: Any = None, depth: int | None = 2, display: bool = True, custom_mapping: dict | None = None) -> None:
        if custom_mapping:
            cause = tr("FlopCounterMode: custom_mapping is not supported")
            raise NotSupportedError(cause, "a class derived from badak.ops.Op with flops")
        if depth is not None and type(depth) is not int:
            raise ArgumentTypeError(tr("FlopCounterMode: expected depth, how many levels; got {}", type(depth).__name__), "depth=2")
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._names: WeakKeyDictionary = WeakKeyDictionary()
        self._parents: list[str] = []
        self._as_operations = False  # whether the backward that runs is made of operations, which count themselves

    def __enter__(self) -> "FlopCounterMode":
        self.flop_counts.clear()
        self._parents = [GLOBAL]
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self.display and error[0] is None:
            sys.stdout.write(f"{self.get_table()}\n")

    def get_total_flops(self) -> int:
        """All that was counted."""
        return sum(self.flop_counts[GLOBAL].values())

    def get_flop_counts(self) -> dict[str, dict[str, int]]:
        """FLOPs by name of the module ("Global" is all), then of the operation."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as text."""
        depth = self.depth if depth is None else depth
        whole = self.get_total_flops()
        level = max(0, min(len(SUFFIXES) - 1, (len(str(whole)) - 2) // 3))

        def row(text: str, flops: int) -> tuple[str, str, str]:
            share = f"{flops / whole:.2%}" if whole else "0%"
            return text, f"{flops / 1000**level:.3f}{SUFFIXES[level]}" if level else str(flops), share

        names = [name for name in sorted(self.flop_counts) if name != GLOBAL]
        covered = any(sum(self.flop_counts[name].values()) >= whole for name in names)
        shown = [name for name in names if depth is None or name.count(".") < depth]
        rows = []
        for name in ([GLOBAL] if GLOBAL in self.flop_counts and not covered else []) + shown:
            indent = " " * (name.count(".") + (name != GLOBAL and not covered))
            rows.append(row(indent + name, sum(self.flop_counts[name].values())))
            rows += [row(f"{indent} - {op}", flops) for op, flops in self.flop_counts[name].items()]
        rows = [("Module", "FLOP", "% Total"), *(rows or [(GLOBAL, "0", "0%")])]
        widths = [max(len(each[i]) for each in rows) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in rows]
        return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])

    def _count(self, op: str, flops: int, parents: tuple[str, ...]) -> None:
        for name in dict.fromkeys(parents):
            self.flop_counts[name][op] += flops

    def on_module_enter(self, module: Module, args: tuple, kwargs: dict) -> None:
        name = self._names.setdefault(module, type(module).__name__)
        for child, each in module.named_children():
            self._names.setdefault(each, f"{name}.{child}")
        self._parents.append(name)

    def on_module_exit(self, module: Module, output: Any, error: BaseException | None = None) -> None:
        self._parents.pop()

    def on_op(
        self, op: Any, saved: Any, inputs: Sequence, arrays: list | tuple, attributes: dict, outputs: Sequence[Tensor]
    ) -> None:
        if op.flops is None:
            return
        self._as_operations = True
        forward, of_inputs = op.flops(arrays, [y._array for y in outputs], attributes)
        self._count(op.name, forward, tuple(self._parents))
        node = outputs[0]._node
        if node is not None:
            _BACKWARD[node] = of_inputs, tuple(self._parents)

    def on_backward_enter(self, node: Any, backward: Callable) -> Callable:
        self._as_operations = False
        return backward

    def on_backward(self, node: Any, dys: list, dxs: tuple) -> None:
        if getattr(node.op, "flops", None) is None or self._as_operations:
            return
        if node not in _BACKWARD:
            cause = tr("FlopCounterMode: the forward of {} ran outside of a counter, so its backward cannot be counted", node.name)
            raise NotSupportedError(cause, "the forward within `with FlopCounterMode()`, too")
        of_inputs, parents = _BACKWARD[node]
        self._count(node.name, sum(flops for i, flops in of_inputs.items() if dxs[i] is not None), parents)


_guard_types(globals(), "utils.flop_counter")
