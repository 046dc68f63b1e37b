"""The watch over a training: an observer of events that notes what happens, step by step. It changes no number.

A step ends with the step() of an optimizer.
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from badak.autograd.node import now
from badak.compat.torch.first_call import being_made
from badak.core.events import Effect
from badak.core.modes import modes
from badak.core.tracing import Recorder
from badak.data import DataLoader
from badak.inspect.doctor import around, collectors, composed, layout, losses, parts, rewards
from badak.inspect.doctor.by_hand import Steps
from badak.inspect.doctor.doors import DOORS, TOLD
from badak.inspect.doctor.facts import CUTS, HELD, Back, Call, Cut, Shaped, Size, Step, Window
from badak.inspect.doctor.given import Given
from badak.inspect.doctor.graph import memory
from badak.inspect.doctor.names import line
from badak.inspect.doctor.of_a_step import OfAStep
from badak.inspect.doctor.rewards import Heads
from badak.inspect.doctor.rows import Rows
from badak.inspect.doctor.tape import of_arrays, tensors
from badak.nn import Module
from badak.nn.parameter import is_lazy
from badak.ops.linear import Linear
from badak.optim import Optimizer
from badak.optim.optimizer import is_step
from badak.tensor import Tensor

_BREAKS = None, True
PULLED = "cross_entropy cross_entropy_soft nll bce_with_logits mse kl_div".split()  # losses whose gradients are looked at
LAYERS = "linear", "addmm"
SAMPLED = (1, 2, 3)  # steps in which what costs more is measured; and 10, 30, 50, ...


class Watch(OfAStep, Recorder):
    """`steps` has what was seen; `ended(step)` is called with each step that an optimizer has made."""

    scaled = 1.0  # by what the gradients are multiplied now
    rounds = 0  # steps for which something was computed
    ratios = False  # how often something is done now is divided by how often it was, and multiplied by data
    chosen = False  # a probability is taken of what was drawn: a policy, whose data hangs on what it does
    held = 0  # steps whose graphs were still there after some more
    _backward = False
    _walked = 0  # operations that this backward went through
    _stepping = False  # step() is under way
    _first = 0  # the order of the first node of this step

    def __init__(self, ended: Callable[[Step], None]):
        super().__init__()
        self.steps: list[Step] = []
        self.open = Step(1)
        self.looks_closely = True  # whether what costs more is measured in this step
        self.optimizers: dict[int, Optimizer] = {}
        self.called: dict[int, Module] = {}  # from outside of any other module
        self.inside: dict[int, tuple[Module, Module]] = {}  # a module: the one that called it
        self.reached: dict[int, Any] = {}  # parameters that got a gradient
        self.times_reached: dict[int, int] = {}  # how often
        self.first_reached: dict[int, int] = {}  # in which step first
        self.broken: tuple[str, str, str, int] | None = None  # (operation, place, what, step) that first made NaN or Inf
        self.blind: tuple[int, int, tuple[int, ...], str] | None = None  # see collectors.blind
        self.broken_step = 0  # where a loss or a gradient was not finite first
        self.turned: list[tuple[Module, str, int]] = []  # train() and eval(): module, place, step
        self.turned_early: WeakKeyDictionary[Module, str] = WeakKeyDictionary()  # before the first call: the last place
        self._ended = ended
        self._used: dict[int, bool] = {}  # parameters whose gradient a step has used and nobody has cleared
        self._waiting: dict[int, Any] = {}  # parameters with a gradient that no step has used yet
        self.given_now: list[np.ndarray] = []  # what the call that is under way was given
        self.wanted: dict[int, Any] = {}  # parameters of optimizers that wanted a gradient at a step
        self.frozen: Module | None = None  # the model whose call that is under way has gone through what is frozen
        self.column: tuple[tuple[int, ...], bool] | None = None  # see layout.stretched
        self.crossed: dict[int, Shaped] = {}  # by its rows: what layout.crossed kept of this step
        self._recorded = True  # whether the call that is under way began with a graph
        self.seeds: list[tuple[str, tuple, int]] = []  # where a seed was set, which, after how many steps
        self.picked: dict[int, int] = {}  # memory of rows that were picked: of how many
        self._caller: Module | None = None
        self._made: WeakKeyDictionary[Any, Module] = WeakKeyDictionary()  # a node that a model gave, and which
        self.random: dict[int, Module] = {}  # called, and dropout was at work in it
        self.schedules: dict[int, Any] = {}
        self.built: list[Optimizer] = []  # while it was watched
        self.by_hand = Steps()
        self.windows: list[Window] = []
        self.met: list[tuple[int, str, np.ndarray, np.ndarray]] = []  # of tests: model, line, its answers, what they should be
        self.rows = Rows()
        self.loaders: dict[int, DataLoader] = {}  # that gave batches; others may be left of what ran before
        self.collated: list[bool | None] = []  # of batches: whether labels lie in the order of their rows
        self.given, self.heads = Given(), Heads()
        self._before_that = True  # whether what costs more was measured in the round before
        self._made_by: dict[int, int] = {}  # steps of each optimizer
        self._sums: dict[int, int] = {}  # order of a number: how many sums of other steps it holds
        self._held: list[np.ndarray] = []
        self._number: tuple[Any, Any] = None, None  # the last node that made one number, and the number
        self._outer: dict[int, tuple[bool, bool]] = {}  # a module that was called: has it parameters, is it random
        self._senses: dict[Any, tuple[Callable | None, bool]] = {}  # an operation: who looks at it, may it break

    # on and off

    def __enter__(self) -> "Watch":
        self._ends = [each(self) for each in TOLD]
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self.by_hand.open:
            self._ended = lambda _: None  # nobody waits for it any more
            self.by_hand.ends(self)
        for end in self._ends:
            end()
        self._losses.clear()
        self._number = None, None
        self._made.clear()
        self._held.clear()

    def entered(self, module, args, kwargs) -> Module:
        args, kwargs = of_arrays(args, kwargs)
        if not self.stack:
            self._from_outside(module, args, kwargs)
        else:
            if id(module) not in self.inside:
                self.inside[id(module)] = module, self.stack[-1]
            if self.rounds < around.FIRST:
                around.entered(self, module, args)
            if modes.grad and len(self.stack) == 1 and module._parameters:
                self.rows.part_of(args, id(module))
            if self.looks_closely and len(self.stack) == 1 and modes.grad:
                collectors.part_given(self, module, args)
        return module

    def left(self, module, output, error) -> None:
        if self.around:
            around.left(self, module, output)
        if self.stack or error is not None:
            return
        self.came_out(output)
        if type(output) in (tuple, list, dict) and self._caller is not None:
            parts.gave_several(self, list(tensors(output))[:8])

    came_out = parts.came_out  # of an outermost call

    def on_optimizer(self, optimizer) -> None:
        if len(self.built) < 64:
            self.built.append(optimizer)

    def _from_outside(self, module: Module, args: tuple, kwargs: dict) -> None:
        if self.by_hand.open:
            self.by_hand.ends(self)
        known = self._outer.get(id(module))
        if known is None:
            if being_made():
                return
            known = self._outer[id(module)] = any(True for _ in module.parameters()), collectors.is_random(module)
        if not known[0]:
            return
        self.called[id(module)] = module
        self.frozen = None
        self.given_now = [x._array for x in args if isinstance(x, Tensor) and x._node is None]
        rewards.fed_by(self, module, args)
        self._caller = module
        self._recorded = modes.grad
        content, whole = (), 0
        own = any(isinstance(x, Tensor) and memory(x._array) in self.computed for x in args)
        if not modes.grad and args and isinstance(args[0], Tensor):
            self.rows.acted += args[0]._array.ndim < 2 or len(args[0]._array) == 1
        self.given.single(module, args, kwargs, modes.grad)
        if not own:  # what another model made is no data
            self.given.called(module, args, kwargs, modes.grad)
        if modes.grad:
            collectors.mixed_rows(self, args)
            self.open.tested = self.rows.taught(args, kwargs, self.open.tested)
            content = collectors.content(args, kwargs, self._held)
            whole = self.picked.get(content[0][0], 0) if content else 0
            self.rows.train(args, kwargs, id(module), line())
            data = self.rounds < around.FIRST and not own and args and isinstance(args[0], Tensor)
            if data and layout.interleaved(args[0]._array):
                c, h, w = args[0].shape[1:]
                layout.note(self, "view", (len(args[0]), h, w, c), args[0].shape)
        elif not own and len(self.open.tested) < 256 and (tested := self.rows.test(args, kwargs, line(), id(module))) is not None:
            self.open.tested.append(tested)
        self.open.calls.append(
            Call(module, line(), modes.grad, module.training, known[1], content, whole, len(list(tensors((args, kwargs)))) == 1)
        )

    # the forward

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        node = outputs[0]._node
        if self.by_hand.open and (node is not None or not self.by_hand.left):
            self.by_hand.ends(self)
        try:
            sense, may_break = self._senses[op]
        except KeyError:
            may_break = not op.view and not op.keeps_finite
            sense, may_break = self._senses[op] = collectors.SENSES.get(op.name), may_break
        if node is not None:
            if self.looks_closely and not op.view:
                node.line = line()
            if not outputs[0]._array.ndim:
                self._number = node, outputs[0]._array
                if op.name == "add":
                    losses.constant(self, op, None, inputs, None, None, outputs)
                    composed.added(self, node, inputs)
        elif not modes.grad and self.stack:
            parts.not_recorded(self, inputs)
        elif not modes.grad and self.answers:
            parts.met(self, op, arrays, outputs)
        elif self.loosened and modes.grad and len(self.loosened) < 256:
            if any(x is not None and memory(x._array) in self.loosened for x in inputs):
                self.loosened |= {memory(y._array): y._array for y in outputs}
        if sense is not None:
            sense(self, op, saved, inputs, arrays, attributes, outputs)
        if (may_break or op is Linear) and self.broken is None:
            for y in outputs:
                if not collectors.finite(y._array):
                    collectors.look_at(self, op, inputs, arrays, attributes, y._array)

    def on_alias(self, x, of) -> None:
        if of._node is not None and of._array.ndim > 1 and len(self.computed) < 256:
            self.computed[memory(x._array)] = x
        if of._node is not None and modes.grad and len(self.open.cuts) < 64:
            how = ".detach()" if x._version_counter is not None else ".data"
            self.loosened[memory(x._array)] = x._array
            self.open.cuts.append(Cut(how, line(), of._node, self.stack[-1] if self.stack else None))

    def on_redefine(self, thing, how: str) -> None:
        if isinstance(thing, Tensor) and self._waiting and self.by_hand.begins(self, thing):
            return
        if self.called and isinstance(thing, Tensor) and thing._node is None and thing._described is None:
            self.given.redefined(thing, bool(self.steps))

    def on_train_mode(self, module) -> None:
        if id(module) in self.called:
            if len(self.turned) < 4096:
                self.turned.append((module, line(), self.open.number))
        elif "training" in vars(module):  # it is not being made
            self.turned_early[module] = line()

    # the backward

    def on_backward_pass(self, outputs, gradients, options, proceed) -> None:
        if self._backward and self.open.backs:  # what went before was autograd.grad(): it accumulated nothing
            self.open.backs.pop()
        self._backward = False
        proceed()

    def on_backward(self, node, dys, dxs) -> None:
        if not self._backward or not self.open.backs:  # autograd.grad() accumulates nothing
            self._backward = True
            if self.open.backs:
                self.open.backs[-1].nodes = self._walked
            root, value, self._walked = *self._number, 0
            composed.root(self, node)
            self.open.root = ref(node)
            self.open.terms += composed.reached_by(node) if self.rounds < CUTS else []
            self.open.backs.append(Back(line(), value=float(value) if root is node else None, closure=self._stepping))
        self._walked += 1
        if not np.ndim(dys[0]):
            self._passed.add(id(node))
        if self.addends and id(node) in self._plain:
            composed.taken_apart(self, node)
        if self.parts and id(node) in self.parts:
            for i, dy in enumerate(dys):
                key = self.parts[id(node)][1], i, len(dys)
                self.open.unused[key] = dy is None and self.open.unused.get(key, True)
        if self.looks_closely and self.asked and id(node) in self.asked:
            losses.missing(self.asked[id(node)][1], np.asarray(dxs[0] if dxs[0] is not None else dys[0]))
        if self.looks_closely and self.open.padded is None and node.name in LAYERS and np.ndim(dys[0]) == 3:
            parts.padded(self, np.asarray(dys[0]))
        if self.gave and id(node) in self.gave:
            self._went.add(id(node))
        if self.likely and (at := self.likely.get(id(node))) is not None and len(at[3]) < 64:
            at[3].append((at[1], at[2] * float(np.sum(dys[0]))))
        if self.divergences and (known := self.divergences.get(id(node))) is not None:
            known.pull = (known.pull or 0.0) + float(np.sum(dys[0])) * known.total
        if self.weighed and (told := self.weighed.get(id(node))) is not None and len(self.open.weighed) < 256:
            self.open.weighed.append((told[1], told[2] * float(np.sum(dys[0]))))
        if not self._losses and not self.looks_closely:
            return
        if self.looks_closely and self.broken is None and self._senses.get(node.op, _BREAKS)[1]:
            for dx in dxs:
                if dx is not None and not collectors.finite(dx):
                    kind = collectors.broken_from(dys, {}, dx)
                    if kind:
                        self.broken = f"the backward of {node.name}", node.line, kind, self.open.number
        _, loss = self._losses.pop(id(node), (None, None))
        if loss is not None and loss.each is not None and dys[0] is not None:
            loss.scale = float(np.sum(dys[0])) * (loss.sign if loss.kind == "picked" else 1)
        elif loss is not None and dys[0] is not None and np.size(dys[0]) == 1:
            loss.scale = float(np.asarray(dys[0]).reshape(()))
            self.open.backs[-1].scales.append((loss.place, loss.scale, loss.mean))
            if loss.kind in PULLED and loss.scale and dxs[0] is not None:
                many = np.size(dxs[0]) if loss.kind == "mse" else loss.rows
                loss.pull = float(np.abs(dxs[0]).max(initial=0.0)) / abs(loss.scale) * (many if loss.mean else 1)

    def on_accumulate(self, leaf, dy, owned: bool, proceed) -> None:
        self._backward = False
        key = id(leaf)
        if key not in self.reached:
            self.first_reached[key] = self.open.number
        self.reached[key] = leaf
        self.times_reached[key] = self.times_reached.get(key, 0) + 1
        if self._used.get(key):
            held = leaf._grad
            self._used[key] = held is not None and bool(held._array.any())
        if key in self._waiting:
            if leaf._grad is None and self.open.backs:
                self.open.backs[-1].thrown_away += 1
        else:
            self._waiting[key] = leaf
        proceed(dy, owned)
        if self.looks_closely and not self.broken_step and not collectors.finite(dy):
            self.broken_step = self.open.number

    # the step

    def on_call(self, effect: Effect, args, kwargs, proceed):
        if effect.kind == "writes" and args and isinstance(args[0], Tensor) and args[0]._node is None:
            if self._waiting and self.by_hand.begins(self, args[0]):
                result = proceed(*args, **kwargs)
                if not self.by_hand.left:
                    self.by_hand.ends(self)
                return result
            if self.called:
                self.given.wrote(args[0]._array, bool(self.steps))
        if not is_step(effect, args):
            note = DOORS.get(effect.function.__name__)
            return note(self, effect, args, kwargs, proceed) if note is not None else proceed(*args, **kwargs)
        first = args[0]
        before = self._before(first)
        self.open.place = line()
        self._stepping = True
        result = proceed(*args, **kwargs)
        self._stepping = False
        with np.errstate(all="ignore"):
            self._after(first, before)
        return result

    def _before(self, optimizer: Optimizer) -> dict[int, np.ndarray]:
        close = self.looks_closely if self.open.fresh else self._before_that
        return {id(p): p._array.copy() for p in optimizer._parameters() if not is_lazy(p)} if close else {}

    def _after(self, optimizer: Optimizer, before: dict[int, np.ndarray], gradients: dict[int, Tensor] | None = None) -> None:
        self.by_hand.never |= gradients is None
        self._made_by[id(optimizer)] = made = self._made_by.get(id(optimizer), 0) + 1
        step, left, squares, waiting, used = self.open, 0, 0.0, self._waiting, self._used
        for p in optimizer._parameters():
            key = id(p)
            grad = p._grad if gradients is None else gradients.get(key)
            if made < 2 and p._requires_grad:
                self.wanted[key] = p
            waiting.pop(key, None)
            if grad is None:
                continue
            step.gradients += 1
            if used.get(key):
                left, squares = left + 1, squares + losses.square(grad.to_dense()._array)
            used[key] = True
            if key in before:
                old = before[key]
                old_size = losses.square(old) ** 0.5
                moved = losses.square(np.subtract(p._array, old, out=old)) ** 0.5
                dense = grad.to_dense()._array
                if gradients is not None:
                    step.climbed = (step.climbed or 0.0) + float(np.vdot(old, dense))
                step.sizes[key] = Size(
                    losses.square(dense) ** 0.5, old_size, moved, collectors.block_of_zeros(dense), collectors.blank_inputs(dense)
                )
        if step.backs:
            step.backs[-1].nodes = self._walked
        step.leftover = left, squares**0.5
        step.rates = tuple(float(group.get("lr", 0.0)) for group in optimizer.param_groups if gradients is None)
        step.optimizer = optimizer
        self.optimizers[id(optimizer)] = optimizer
        values = [loss.value for loss in step.trained] + [back.value for back in step.backs]
        if not self.broken_step and not all(value is None or np.isfinite(value) for value in values):
            self.broken_step = step.number
        step.unjoined = [(kind, place) for _, node, kind, place in self.around.values() if node is not None]
        step.lookups += collectors.token_by_token(step.lookups)
        if step.number > CUTS:  # they hold the graph
            step.cuts = []
        step.in_part = composed.in_part(self, self._passed)
        step.constants = [(place, number, node is True or id(node) in self._plain) for place, number, node in step.constants]
        step.idle = [(place, i) for key, (_, place, i) in self.gave.items() if key not in self._went] if self._went else []
        self.steps.append(step)
        self.open = Step(step.number + 1)
        if step.fresh:
            self.rounds += 1
            self._before_that = self.looks_closely
            self.looks_closely = self.rounds + 1 in SAMPLED or self.rounds % 20 == 9
            self.looks_closely |= made < 4 and 1 < len(self.optimizers) < 4  # another optimizer begins
        self.rows.asked = self.column = None
        self.crossed.clear()
        self._number = None, None
        for each in step.divergences:
            each.node = None
        self.forget()
        self._first = now()
        if self.rounds == HELD and step.fresh:
            self.held = collectors.still_there(self.steps[:-1])
        self._ended(step)
