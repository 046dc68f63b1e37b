"""What is measured of training by rewards: targets and advantages that have a graph, critics that an actor makes smaller."""

from typing import Any
from weakref import WeakKeyDictionary

from badak.core.modes import modes
from badak.inspect.doctor import mixtures
from badak.inspect.doctor.facts import Watch
from badak.inspect.doctor.graph import behind, below, chain, first_of, leaves_of, memory
from badak.inspect.doctor.names import line
from badak.tensor import Tensor

MOST = 16  # of a step
ROWS_STAY = "clone cast scale div_by stack cat index index_select neg shift select".split()
LOGARITHM = "gather log_softmax logsumexp log".split()  # of the probability of what was done
SIGNS = "neg scale shift sub_from relu clamp".split()


class Heads:
    """takers: the models (their id) that what a model gives goes into; plain: those that are given what no other one gave."""

    def __init__(self) -> None:
        self.takers: dict[int, set[int]] = {}
        self.plain: set[int] = set()
        self.made: dict[int, tuple[str, str]] = {}  # of a taker: the operation that made what it is given, and its line
        self.fake = False  # whether the call that is under way is given what another model made, without its graph
        self.led = False  # the same with its graph
        self.fakes: WeakKeyDictionary[Any, tuple[bool, bool]] = WeakKeyDictionary()  # a node that a model gave: both of its call


def with_data(node: Any, names: tuple[str, ...]) -> bool:
    """Whether something is, behind what moves and scales rows, a sum or a difference of data and of what has a graph."""
    several = (each for each in chain(node, (*ROWS_STAY, "sub", "div", "mul")) if each.name in names and len(each.edges) == 2)
    return any((each.edges[0] is None) != (each.edges[1] is None) for each in several)


def is_logarithm(node: Any) -> bool:
    """Whether something is the logarithm of the probability of what was done, or how often it is done now to what it was."""
    return any(each.name in LOGARITHM for each in chain(node, (*ROWS_STAY, "exp", "sub", "sum")))


def target(watch: Watch, answers: Any, labels: Any) -> None:
    """Note answers that are compared with a sum of data and of what has a graph, too."""
    if answers._node is not None and labels._node is not None and modes.grad and len(watch.open.moving) < MOST:
        if with_data(labels._node, ("add",)):
            watch.open.moving.append(("target", line(), frozenset(leaves_of(labels._node))))


def advantage(watch: Watch, inputs: Any) -> None:
    """Note the logarithm of a probability times data less what has a graph."""
    if not modes.grad or len(watch.open.moving) >= MOST:
        return
    a, b = (x._node for x in inputs)
    for one, other in ((a, b), (b, a)):
        if is_logarithm(one) and not is_logarithm(other) and with_data(other, ("sub", "sub_from")):
            watch.open.moving.append(("advantage", line(), frozenset(leaves_of(other))))
            return


def judged(watch: Watch, node: Any) -> tuple[Any, int, bool, bool]:
    """(the model that gave something, behind what turns its sign, 1 or -1, whether that call was given what another model made,
    without its graph, and with it); (None, 1, False, False) where none did."""
    sign = 1
    for each in chain(node, (*ROWS_STAY, *SIGNS, "add", "sub", "min", "minimum"), 8):
        if (found := watch._made.get(each)) is not None:
            return found, sign, *watch.heads.fakes.get(each, (False, False))
        sign = -sign if each.name in ("neg", "sub_from") else sign
    return None, 1, False, False


def weighed(watch: Watch, inputs: Any, arrays: Any, node: Any) -> None:
    """Note the logarithm of a probability times data: by which sign it is differentiated tells whether it is made likelier."""
    if not modes.grad or len(watch.weighed) >= 256:
        return
    for x, other in ((0, 1), (1, 0)):
        plain = inputs[other] is None or inputs[other]._node is None and not inputs[other]._requires_grad
        if plain and inputs[x]._node is not None and arrays[x].size == arrays[other].size:
            way = [*chain(inputs[x]._node, (*ROWS_STAY, "exp", "sub", "sum"))]
            if is_logarithm(inputs[x]._node) or any(id(each) in watch.likely for each in way):
                watch.weighed[id(node)] = node, line(), turns(inputs[x]._node, watch.likely)
                watch.ratios |= any(each.name == "exp" for each in way)
        if plain and inputs[x]._node is not None and (sign := likelihood(inputs[x]._node)) and arrays[other].size > 1:
            if arrays[other].min() >= 0 and arrays[other].any() and sign > 0:
                watch.likely[id(node)] = node, line(), 1, watch.open.likely
                return


def likelihood(node: Any) -> int:
    """1 where something is picked of the logarithms of a softmax, -1 where their sign was turned; 0 where it is nothing of both."""
    sign = 1
    for each in chain(node, (*ROWS_STAY, "gather", "sum")):
        if each.name == "log_softmax" or normalised(each):
            return sign
        sign = -sign if each.name == "neg" else sign
    return 0


def normalised(node: Any) -> bool:
    """Whether something is x - logsumexp(x), by whatever it is made."""
    sides = below(node)
    second = sides[1] if node.name == "sub" and len(sides) == 2 else None
    while second is not None and second.op.view:
        second = first_of(second)
    return second is not None and second.name in ("logsumexp", "logcumsumexp", "log")


def scaled(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """One logarithm times a number, of one thing that was done; or noise times one."""
    mixtures.times(watch, arrays, outputs, attributes["c"])
    stays(watch, op, saved, inputs, arrays, attributes, outputs)
    if outputs[0]._node is not None and outputs[0]._array.size == 1 and modes.grad and len(watch.weighed) < 256:
        if is_logarithm(inputs[0]._node):
            watch.weighed[id(outputs[0]._node)] = outputs[0]._node, line(), turns(inputs[0]._node)


def stays(watch: Watch, op, saved, inputs, arrays, attributes, outputs) -> None:
    """Numbers times one, without a graph: an average keeps so much of what it was."""
    if outputs[0]._node is None and len(watch.given.factors) < 4096:
        watch.given.factors[memory(arrays[0])] = 1 - attributes["c"] if op.name == "lerp_by" else attributes["c"]


def turns(node: Any, logarithms: Any = ()) -> int:
    """-1 where the sign of a logarithm, one of these nodes (their id) perhaps, was turned on the way, else 1."""
    sign = 1
    for _ in range(10):
        if node is None or node.name in LOGARITHM or id(node) in logarithms:
            break
        second = node.name == "sub" and len(node.edges) == 2 and node.edges[0] is None
        sign = -sign if second or node.name in ("neg", "sub_from") else sign
        node = first_of(node)
    return sign


def is_hinge(node: Any) -> bool:
    """Whether something is a ReLU of a sum or a difference, as of a margin and a score: it is no layer's."""
    made = first_of(node) if node.name in ("relu", "clamp") else None
    return made is not None and made.name in ("shift", "sub_from", "sub", "add")


def fed_by(watch: Watch, module: Any, args: tuple) -> None:
    """Note the model whose output, as it is, goes into another one, and who is given what no model gave."""
    own = False
    for x in args:
        maker = watch._made.get(x._node) if isinstance(x, Tensor) and x._node is not None else None
        if maker is not None and maker is not module:
            watch.heads.takers.setdefault(id(maker), set()).add(id(module))
            if id(module) not in watch.heads.made and (node := behind(x, ())) is not None:
                watch.heads.made[id(module)] = node.name, node.line
            own = True
    places = [memory(x._array) for x in args if isinstance(x, Tensor) and x._node is None]
    watch.heads.fake = any(place in watch.computed or place in watch.loosened for place in places)
    watch.heads.led = own
    if not own:
        watch.heads.plain.add(id(module))
