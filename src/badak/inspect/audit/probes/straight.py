"""Straight: two maps in a row with nothing between them that is not straight are one map, and a narrower one."""

from collections.abc import Iterator

from badak.core.errors import tr
from badak.inspect.audit.graph import PRODUCTS, Ran, summands_of, through
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import Subject
from badak.ops.arithmetic import Add, DivBy, Scale
from badak.ops.conv import Conv
from badak.ops.linear import AddMM, Linear
from badak.ops.select import Dropout

MAPS = (Linear, AddMM)
FIX = tr("put a nonlinearity between them: fc2(F.gelu(fc1(x)))")


def ask(subject: Subject) -> list[Finding]:
    """Look for a map that reads nothing but what another one gave, and that one gives more numbers than it takes, and than come
    of it: a hidden layer, which is one for the nonlinearity behind it. Within a list of layers, that it gives no fewer than one
    of both is enough: two maps save something only where they are narrower between them."""
    return list({each.module: each for each in in_a_row(subject)}.values())


def in_a_row(subject: Subject) -> Iterator[Finding]:
    graph = subject.reference
    consumers = graph.consumers()
    for run in graph.runs:
        several = before(run) if maps(run) else []
        if not several or any(readers(each, consumers) != 1 for each in several):
            continue
        first = several[0]
        axis = 1 if run.op is Conv else -1
        given, hidden, made = (x.shape[axis] for x in (first.inputs[x_of(first)], first.output, run.output))  # type: ignore[union-attr]
        wide = hidden > max(given, made) or hidden == max(given, made) and beside(first.path, run.path)
        if wide or hidden >= min(given, made) and in_one_list(first.path, run.path):
            cause = tr("{} numbers become {} and these {}, by two maps in a row: together they are one, of rank {}", given, hidden,
                       made, min(given, made))  # fmt: skip
            yield Finding("straight", run.path, cause, FIX, {"hidden": hidden})


def maps(run: Ran) -> bool:
    """Whether it is a product with a matrix that is a parameter."""
    matrix = next((x for x, name in zip(run.inputs, run.parameters) if name and x is not None), None)
    if run.op is Conv:  # of each place alone
        return matrix is not None and matrix.ndim > 2 and set(matrix.shape[2:]) == {1} and matrix.shape[1] > 1
    return run.op in MAPS and matrix is not None or run.op in PRODUCTS and matrix is not None and matrix.ndim == 2


def beside(one: str, other: str) -> bool:
    """Whether two maps are held by one module, or are next to each other in its list."""
    return one.rpartition(".")[0] == other.rpartition(".")[0] != ""


def in_one_list(one: str, other: str) -> bool:
    """Whether two maps stand in one list of layers, which are called one after the other."""
    return beside(one, other) and all(path.rpartition(".")[2].isdigit() for path in (one, other))


def x_of(run: Ran) -> int:
    """Which input of a map is no weight; the first, where all are weights."""
    return next((i for i, (x, name) in enumerate(zip(run.inputs, run.parameters)) if x is not None and not name), 0)


def before(run: Ran) -> list[Ran]:
    """The map that made what this one reads, or the two whose sum it is, both of one thing; none where something else did."""
    made = run.sources[x_of(run)]
    while made is not None and (made.moves or made.op in (Dropout, Scale, DivBy) or made.op is Add and any(made.parameters)):
        same = made.inputs[0] is not None and made.inputs[0].shape[-1] == made.output.shape[-1]
        made = through(made.sources[0]) if same else None
    if run.op is Conv or made is not None and made.op is Conv:
        return [made] if made is not None and made is run.sources[x_of(run)] and run.op is made.op and maps(made) else []
    several = [made] if made is not None else []
    if made is not None and len(two := summands_of(made)) == 2 and two[0].sources[x_of(two[0])] is two[1].sources[x_of(two[1])]:
        several = two
    return several if all(maps(each) for each in several) else []


def readers(run: Ran, consumers: dict[int, list[Ran]]) -> int:
    """How many operations read what one made, or a part of it."""
    return len(consumers.get(run.number, []))
