"""What was seen while a program trained, step by step. Numbers and places only: what they mean is for the diagnoses to say."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from badak.nn import Module

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit
    from badak.inspect.doctor.watch import Watch
else:
    Visit = Watch = Any  # which import what looks at them

CUTS = 3  # steps in which it is noted what left the graph
HELD = 10  # steps, after which it is counted whose graphs are still there


@dataclass
class Loss:
    """One loss: by which operation, of what, where."""

    kind: str  # the operation: cross_entropy, nll, bce_with_logits, mse, ...
    place: str  # file:line
    value: float | None  # None where it was not reduced
    rows: int
    classes: int
    grad: bool  # a gradient is wanted
    mean: bool = True
    made_by: str = ""  # the operation that made its first input, through views
    made_at: str = ""
    nats: float | None = None  # cross entropy of the rows, measured again
    spread: float = 0.0  # of the logits of a row: the mean standard deviation
    low: float = 0.0  # its first input's smallest and largest value
    high: float = 0.0
    target: np.ndarray | None = None
    ignored: int | None = None
    mass: tuple[float, float] | None = None  # least and most that the probabilities of a row sum to, of logarithms
    simplex: bool = False  # its first input is above 0, and sums to 1 in each row: probabilities, whatever made them
    scale: float | None = None  # the gradient that came back to it
    below_by: str = ""  # the operation that made what log_softmax was given
    below_at: str = ""
    binary: np.ndarray | None = None  # labels of 0 and 1, one for each row
    labels_at: int = 0  # the memory of its labels
    shut: float = 0.0  # rows of logits, as a share, that hide the label's, and not all
    laid: tuple[int, ...] = ()  # what its labels were before they were laid flat
    axes: tuple[int, ...] = ()  # what its rows were before they were laid flat: (B, T), or (T, B)
    labels: np.ndarray | None = None  # what its answers are compared with, where that is data
    weights: np.ndarray | None = None  # of the classes, or of what is 1
    size: float = 0.0  # of the answers: the root of their mean square
    one_answer: bool = False  # all rows of the answers are equal
    one_target: bool = False  # all rows of what they are compared with are
    level: bool = False  # all numbers of each row of the answers are equal
    read: np.ndarray | None = None  # one id for each label: what was looked up last, where that is as many
    slice_of: tuple[int, int] = (0, 0)  # rows and memory of the data that its labels are a slice of, one after the other
    among: int = 0  # rows that its labels were picked from by a mask, or are
    pull: float | None = None  # the largest gradient that it gave its answers, times their number, by the one that it got
    label_mass: tuple[float, float] | None = None  # the same of labels that are probabilities
    blanks: int = 0  # labels that are the blank of ctc_loss
    maker: Any = None  # the model that gave its first input, behind what turns the sign, where there are several optimizers
    fake: bool = False  # it judged what another model made, without its graph
    sign: int = 1  # whether that turned it
    led: bool = False  # it judged what another model made, with its graph
    halves: bool = False  # its second half has the same answers as the first one, and zeros for labels where that has ones
    print: float = 0.0  # a number made of its first input: equal answers, equal numbers
    each: float | None = None  # the mean of what was not reduced
    missing: tuple[float, float, float] | None = None  # the number far from all other labels that many are; how many of them get a
    # gradient, how many of the others
    asked_one: float | None = None  # what all labels are that get a gradient, where others are all kinds of numbers
    cosines: bool = False  # its first input was made of products of rows of length 1


@dataclass
class Picked:
    """Rows of data picked in an order: which memory they lie in, of how many, and which."""

    memory: int
    of: int
    rows: np.ndarray
    source: int  # the memory that they were picked from
    made: Any = None  # of numbers, all rows in another order: what was made, and what of
    base: Any = None
    values: Any = None  # what was picked, where that is one number for each row
    ordered: bool = False  # by a sort of these very numbers

    @property
    def whole(self) -> bool:
        """Whether it is all rows, in another order."""
        return self.of == len(self.rows) and not np.array_equal(self.rows, np.arange(self.of))


class Mixed(NamedTuple):
    """A model is given data times one share and noise times another, row by row, and asked for the noise."""

    place: str
    keep: np.ndarray  # the share of the data
    share: np.ndarray  # that of the noise
    times: np.ndarray | None = None  # an integer for each row that the model is given next to it
    itself: bool = False  # it is asked for what it was given, noise and all


@dataclass
class Lookup:
    """A table of rows was asked."""

    ids: np.ndarray
    rows: int
    module: Module | None
    node: int = 0  # the id of its node
    moved: bool = False  # something was put before what was looked up, as a picture before its caption


@dataclass
class Attended:
    """Which keys an attention let its queries see, and how sharply they looked."""

    module: Module | None
    place: str
    keep: np.ndarray | None  # (..., T, S) broadcastable, True = seen; None: all
    sharp: float  # share of the rows with 3 visible keys or more that give one of them 99 %
    added: bool = False  # a mask of zeros and ones was added to the scores
    size: tuple[int, int] = (0, 0)  # queries, keys
    learnt: bool = True  # the weights hang on the model; a mean over what came before hangs on nothing


@dataclass
class Turned:
    """Weights that a softmax made over another axis than the one that the product with the values sums over."""

    place: str
    dim: int
    shape: tuple[int, ...]
    low: float  # sums of the rows
    high: float
    classes: bool = False  # it made probabilities of classes, which lie along the other axis


@dataclass
class Shaped:
    """Shapes that meet as they should not: kind says how."""

    kind: str  # "lone": a sum of all is added to each; "both": where() of the same twice; "view": turned by a view;
    # "stretched": (B, 1) with (B,); "varies": a table along axis `axis` of the other;
    # "first", "last": (T, B, D) as a recurrent layer reads it, whose batch_first is False, or True
    place: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    axis: int = 0


@dataclass
class Clip:
    """Gradients were clipped: their norm, or their largest value, before, and what is let through."""

    place: str
    before: float
    limit: float
    early: bool  # there was no gradient yet
    late: bool = False  # a step has used all that there are
    backs: int = 0  # calls of backward() before it, for this step
    scale: float = 1.0  # by which the gradients are still multiplied, as a GradScaler does


@dataclass
class Tested:
    """A model that learns was asked without gradients: how many rows, and how many of them it was trained on."""

    place: str
    rows: int
    known: int
    words: str  # what the lines of the program say that led there
    again: bool  # the rows are those of the call before
    module: int = 0  # the id of the model
    seen: int = 0  # rows that the model was trained on until then
    sure: bool = False  # rows of many numbers, which are never equal by chance


@dataclass
class Read:
    """What a model gave in a test was compared with a number, or its largest was looked for."""

    module: int
    place: str
    shape: tuple[int, ...]
    limit: float | None  # None: the largest
    axis: int = 0
    low: float = 0.0
    high: float = 0.0
    shares: bool = False  # it went through a sigmoid on the way


@dataclass
class Begun:
    """A recurrent layer read one place: its weights, and the memory of the state that it began with; 0 for zeros."""

    place: str
    layer: int
    state: int


class Window(NamedTuple):
    """Several places that a recurrent layer read: its weights, whether in training, whether it began with a state that is not 0."""

    place: str
    layer: int
    learns: bool
    began: bool
    places: int
    at: int = 0  # where what the model was given lies, of which shape and strides
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    def goes_on(self, before: "Window") -> bool:
        """Whether it begins where the one before ended, along an axis that has as many places."""
        if not self.at or self.strides != before.strides:
            return False
        return any(n == before.places and self.at == before.at + n * by for n, by in zip(before.shape, before.strides))


@dataclass
class Rectified:
    """Units of a ReLU: which of them were above zero in some row."""

    module: Module | None
    place: str
    alive: np.ndarray
    rows: int


@dataclass
class Fed:
    """Data that went into a first layer as it came."""

    module: Module | None
    place: str
    mean: float
    std: float
    low: float
    high: float


@dataclass
class Call:
    """The program called a module with parameters."""

    module: Module
    place: str
    grad: bool  # a graph was recorded
    training: bool
    random: bool  # something in it behaves otherwise in training: dropout, batch norm
    content: tuple = ()  # of its tensors: (where in memory, a number made of the values)
    whole: int = 0  # rows of the tensor that the first of them was picked from, 0 where it was not picked
    alone: bool = False  # one tensor is all that it was given


@dataclass
class Back:
    """One backward()."""

    place: str
    scales: list[tuple[str, float, bool]] = field(default_factory=list)  # of the losses: place, gradient, whether a mean
    value: float | None = None  # of what it was called of, one number
    nodes: int = 0  # operations that it went through
    thrown_away: int = 0  # gradients that were cleared before it, which no step had used
    closure: bool = False  # within step(), which asks for the loss itself, as often as it likes


@dataclass
class Cut:
    """Something left the graph: by detach(), .data, or because nothing was recorded."""

    how: str
    place: str
    node: Any  # where it hung in the graph
    module: Module | None = None
    whole: Module | None = None  # the model, where all of its call was made without a graph


@dataclass
class Divergence:
    """A sum of exp(l), l and squares: how far a normal distribution is from the standard one, but for a factor."""

    place: str
    node: Any  # which is kept, so that no other gets its id
    total: float
    shape: tuple[int, ...]  # of what it sums up
    pull: float | None = None  # the gradient that came back to it, times its value; None where none did
    drawn_at: str = ""  # where noise was multiplied by the variance that it speaks of


@dataclass
class Size:
    """Of one parameter in one step: norms of the gradient, the weights and the update."""

    gradient: float
    weight: float
    update: float | None
    idle: tuple[int, int] = (0, 0)  # a half, a third or a quarter of the rows, one after the other, whose gradient alone is 0
    blank: tuple[int, int] = (0, 0)  # the same of the columns: what is read there is always 0


@dataclass
class Step:
    """What happened up to a step of an optimizer, and in it."""

    number: int
    losses: list[Loss] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    attended: list[Attended] = field(default_factory=list)
    pointed: list[Attended] = field(default_factory=list)  # weights of one query for each row, with some keys hidden
    turned: list[Turned] = field(default_factory=list)
    # where the logarithm of a softmax is taken of a softmax, or the sigmoid of a sigmoid; its line; what that is
    twice: list[tuple[str, str, str]] = field(default_factory=list)
    carried: list[str] = field(default_factory=list)  # where a sum that hangs on steps before grew
    in_part: list[str] = field(default_factory=list)  # where losses are added up of which only some were differentiated
    scalars: list[Loss] = field(default_factory=list)  # means that may be losses which no operation is named for
    # numbers without a gradient, added to one with; the sum's node, or then whether a gradient went through it
    constants: list[tuple[str, float, Any]] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)  # where one number was made that has a graph
    picked: list[Picked] = field(default_factory=list)
    sliced: list[Picked] = field(default_factory=list)  # one number for each row, of rows one after the other
    shaped: list[Shaped] = field(default_factory=list)
    clips: list[Clip] = field(default_factory=list)
    tested: list[Tested] = field(default_factory=list)
    guessed: list[tuple[int, str, np.ndarray, np.ndarray]] = field(default_factory=list)  # of a test: model, line, classes, labels
    read: list[Read] = field(default_factory=list)
    unjoined: list[tuple[str, str]] = field(default_factory=list)  # blocks that nothing goes around: class, line
    # where each row of products is largest where it meets itself, and asked for another
    with_itself: list[str] = field(default_factory=list)
    farthest: list[str] = field(default_factory=list)  # where distances are the logits, and none is below 0
    in_turn: list[tuple[str, bool]] = field(default_factory=list)  # labels of equally many rows of each class: line, see losses.py
    of_others: list[str] = field(default_factory=list)  # where a contrast asks for another row than the other view of each
    # of what a model gave the largest, or the smallest, is looked for: the model, whether the smallest, of how many, the line
    extremes: list[tuple[Module, bool, int, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)  # where dropout was at work in eval mode, outside of a layer of its own
    scheduled: list[tuple[str, bool]] = field(default_factory=list)  # a schedule moved on: where, and between backward and step
    begun: list[Begun] = field(default_factory=list)
    written: list[Begun] = field(default_factory=list)  # the same without gradients
    equal: list[str] = field(default_factory=list)  # where numbers are subtracted that have two graphs and are all the same
    weighed: list[tuple[str, float]] = field(default_factory=list)  # logarithms of probabilities times data: line, gradient
    filled: list[tuple[str, float]] = field(default_factory=list)  # weights over a text with nothing hidden: line, share of padding
    chose: list[np.ndarray] = field(default_factory=list)  # which of what has a graph was picked
    unused: dict[tuple[str, int, int], bool] = field(default_factory=dict)  # a part that something was cut into: line, which, of
    # how many; whether no gradient came to it, and one to others
    zeroed: list[tuple[str, bool]] = field(default_factory=list)  # data, a number for each row, times what has a graph: line, all 0
    mixed: list[Mixed] = field(default_factory=list)
    mixes: list[Picked] = field(default_factory=list)  # rows in another order that are mixed with the rows themselves
    moving: list[tuple[str, str, frozenset[int]]] = field(default_factory=list)  # "target", "advantage": line, what it hangs on
    mirrored: list[tuple[str, str, tuple[int, ...]]] = field(default_factory=list)  # "data", "labels" or "graph": line, shape
    overlaps: list[tuple[str, float]] = field(default_factory=list)  # shares of what overlaps: line, gradient
    unbounded: list[str] = field(default_factory=list)  # where such a share is made of numbers below 0, or above 1
    uncertain: list[tuple[str, float]] = field(default_factory=list)  # entropies of distributions: line, gradient
    likely: list[tuple[str, float]] = field(default_factory=list)  # logarithms of how likely something is: line, gradient
    padded: float | None = None  # of the places of padding, how many a layer's answers, the nearest to the loss, get a gradient for
    idle: list[tuple[str, int]] = field(default_factory=list)  # numbers of rows that a model gave: where, which; without a gradient
    seeded: bool = False
    divergences: list[Divergence] = field(default_factory=list)
    noise: list[int] = field(default_factory=list)  # how many normal numbers were drawn at a time
    rectified: list[Rectified] = field(default_factory=list)
    fed: list[Fed] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    backs: list[Back] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    sizes: dict[int, Size] = field(default_factory=dict)  # by the id of the parameter
    terms: list[tuple[str, frozenset[int]]] = field(default_factory=list)  # of what backward() is called of: line, ids of leaves
    gradients: int = 0  # parameters of the optimizer that had one
    root: Any = None  # a weak reference to the number that backward() was called of
    leftover: tuple[int, float] = (0, 0.0)  # parameters whose gradient of the last step was still there, its norm
    rates: tuple[float, ...] = ()
    place: str = ""
    optimizer: Any = None
    climbed: float | None = None  # how far a program that writes its weights itself went along their gradient, times it

    @property
    def fresh(self) -> bool:
        """Whether something was computed for this step; else it uses gradients that another optimizer's step has used, too."""
        return bool(self.calls or self.losses or self.backs)

    @property
    def trained(self) -> list[Loss]:
        return [loss for loss in self.losses if loss.grad]

    @property
    def loss(self) -> float | None:
        """What was trained on: the mean of the losses of this step; of what backward() was called of, where no loss is known."""
        values = [loss.value * (-1 if (loss.scale or 0) < 0 else 1) for loss in self.trained if loss.value is not None]
        values = values or [back.value for back in self.backs if back.value is not None]
        return float(np.mean(values)) if values else None
