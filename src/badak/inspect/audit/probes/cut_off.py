"""Cut off: what layers made goes on to the answer without its history, though a gradient reaches these layers another way."""

from badak.core.errors import tr
from badak.inspect.audit.answer import sink_of
from badak.inspect.audit.graph import Graph, Ran, through
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import Subject
from badak.ops.arithmetic import Add, Sub
from badak.ops.select import Where

FIX = tr("use it as it is, without .detach(), .data or no_grad(): between two batches alone a state is detached")
COORDINATES = 4  # numbers of a box, or of a point, which are detached from step to step where they are refined


def cut_off(subject: Subject) -> list[Finding]:
    """The first that is no constant, such as the largest number that a softmax is shifted by, and no sum of steps that lets the
    gradient pass by them, x + (q - x).detach()."""
    graph = subject.training
    sink = sink_of(graph, subject.answer_in(graph))
    for run in sink.inside() if sink is not None and sink.graded else ():
        for i, source in enumerate(run.sources if run.graded else ()):
            if source is None or source.graded and i not in run.cut or passed_by(run, i) or factor(run, i):
                continue
            origin = last_with_history(source)
            if origin is None or not origin.live or not origin.reads or origin.output.shape[-1:] <= (COORDINATES,):
                continue
            cause = tr("what {} gave goes on to {} without its history: no gradient comes back that way",
                       origin.path or tr("the model"), run.path or tr("the model"))  # fmt: skip
            return [Finding("gradients", shared_call(graph, origin, run), cause, FIX)]
    return []


def last_with_history(run: Ran) -> Ran | None:
    """What had a gradient to come before it was lost; None where none did, and where nothing but choices and masks were made of
    it."""
    pending, seen = [run], {run.number}
    while pending:
        at = pending.pop()
        if at.output.dtype.kind != "f" or at.op.steps:
            continue
        if at.graded:
            return at
        pending += [each for each in at.sources if each is not None and each.number not in seen]
        seen |= {each.number for each in pending}
    return None


def factor(run: Ran, i: int) -> bool:
    """Whether it is one number for several, such as the largest one that is taken away, or a norm."""
    x = run.inputs[i]
    whole = any(y is not None and y.shape == run.output.shape for y in run.inputs)
    return x is not None and x.size < run.output.size and whole and not any(run.parameters)


def passed_by(run: Ran, i: int) -> bool:
    """Whether what is cut is added to what it was taken from, or stands in its place here and there, as where it is limited."""
    others = [x for k, x in enumerate(run.sources) if k != i] if run.op in (Add, Sub, Where) else []
    source = through(run.sources[i])
    return source is not None and any(each is other for other in others if other is not None for each in source.inside())


def shared_call(graph: Graph, one: Ran, other: Ran) -> str:
    """The innermost module whose one call ran both."""
    both = [index for index in one.calls if index in other.calls]
    return graph.calls[both[-1]].path if both else ""
