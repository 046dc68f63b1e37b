"""Steps whose Python reads and changes state: in containers, objects, callbacks, iterators, and by the randomness of Python."""

from tests.programs.drawing import Drawing, one_tuple
from tests.programs.effects import effect
from tests.programs.pockets import pocket, use
from tests.programs.source import Block, parsed
from tests.programs.steps import Steps, loss_of, network, optimizer, stops

PATCHES = [
    "{m}.forward = lambda h: type({m}).forward({m}, h) * 2", "{m}.f0.forward = functools.partial(type({m}.f0).forward, {m}.f0)",
    "type({m}).forward = (lambda old: lambda self, h: old(self, h) + 1)(type({m}).forward)", "del {m}.forward",
    "{m}.forward = types.MethodType(lambda self, h: type(self).forward(self, h).tanh(), {m})", "{m}.f0.forward = lambda h, *rest: h",
    "step_seen = {m}.__call__", "type({m}).extra = lambda self: 1", "{m}.__class__ = type('Other', (type({m}),), {{}})",
]  # fmt: skip


def stateful(g: Drawing, steps: Steps) -> None:
    """A training step, or a function of a model, that reads pockets and does something besides."""
    body, last = Block(), None
    net, model, arguments = network(g, steps)
    opt, schedule = optimizer(g, steps, model) if g.chance(0.85) else (None, None)
    size = net.output[-1] if net.output else None
    _in_forward(g, steps, net.forward, size)
    loss, target = loss_of(g, net.output)
    name = g.name("step")
    given = ["x"] + (["target"] if target and opt else [])
    body = g.program.add(Block(""))
    if opt:
        body.add(f"{opt}.zero_grad()")
    body.add(f"out = {model}(x)")
    _in_step(g, steps, body, "out", size)
    if opt:
        body.add(f"loss = {loss}")
        _in_step(g, steps, body, "loss", None)
        _early(g, steps, body)
        body.add("loss.backward()")
        if g.chance(0.2):
            _changes_inside(g, steps, body)
        last = f"{opt}.step()" + (f"\n{schedule}.step()" if schedule and g.chance(0.8) else "")
        body.add(*last.splitlines())
    boxes = [p for p in steps.pockets if p.read.startswith(p.name) and g.chance(0.12)]
    body.header = f"def {name}({', '.join(given + [p.name for p in boxes])}):"
    body.add(f"return {g.one('loss.detach()', 'loss', 'None', 'loss, out.detach()') if opt else g.one('out.detach()', 'out')}")
    _globals(body, {p.name for p in boxes})
    if g.chance(0.95):
        g.program.add(f"{name} = compile({name})")
    steps.calls.append((name, arguments + ([target] if target and opt else []) + [("object", p.name) for p in boxes]))
    steps.changes += [text.format(m=model) for text in g.random.sample(PATCHES, 2)] if g.chance(0.2) else []


def _in_forward(g: Drawing, steps: Steps, forward: Block, size: int | None) -> None:
    """Pockets and effects in the forward of a module."""
    at = len(forward.items) - 1  # before its return
    while g.chance(0.4):
        place = pocket(g, size)
        moved = g.chance(0.3) and place.read.startswith(place.name)
        if moved:  # an attribute of the model is another name for it
            model = steps.models[-1]
            g.program.add(f"{model}.held_{place.name} = {place.name}")
            if g.chance(0.5):
                place.writes = [f"{model}.held_{text}" if text.startswith(place.name) else text for text in place.writes]
            place.read = f"self.held_{place.read}"
            text = f"h = h * (2 if {place.read} else 1)" if place.kind in ("flag", "number", "word") else f"h = h + {place.read}(h)"
            text = f"h = h + {place.read}" if place.kind == "tensor" else text
            forward.items[at:at] = [text]
        else:
            use(g, forward, at, "h", place)
        steps.pockets.append(place)
        steps.changes += place.writes
    if g.chance(0.25):
        effect(g, forward, at, "h")


def _in_step(g: Drawing, steps: Steps, body: Block, h: str, size: int | None) -> None:
    while g.chance(0.45):
        place = pocket(g, size)
        g.program.items.remove(body)
        g.program.items.append(body)  # it comes after what it reads
        use(g, body, len(body.items), h, place)
        steps.pockets.append(place)
        steps.changes += place.writes
    if g.chance(0.2):
        effect(g, body, len(body.items), h)


def _early(g: Drawing, steps: Steps, body: Block) -> None:
    """The step ends before its backward where a flag says so."""
    flags = [place for place in steps.pockets if place.kind == "flag" and not place.read.startswith("self")]
    if flags and g.chance(0.35):
        body.add(f"if {'not ' * g.chance(0.5)}{g.one(*flags).read}:\n    return {g.one('None', 'loss.detach()')}")


def _changes_inside(g: Drawing, steps: Steps, body: Block) -> None:
    """The step itself changes a place: as a schedule that is kept inside of it."""
    texts = [text for text in steps.changes if "number" not in text and "lambda" not in text]
    if texts:
        body.add(*parsed(g.one(*texts)).items)


def _globals(body: Block, arguments: set[str]) -> None:
    """Names of the program that the body gives another value."""
    found = {line.strip().partition(" = ")[0] for line in body.lines() if " = " in line}
    named = sorted(
        {part for text in found for part in text.split(", ") if part.isidentifier() and part.startswith(("pocket", "log"))}
    )
    body.items[:0] = [f"global {name}" for name in named if name not in arguments]


def in_place(g: Drawing, steps: Steps) -> None:
    """A function that changes its arguments, as the compiled part of an optimizer does, with settings in a pocket."""
    name, shape = g.name("update"), g.shape()
    place = pocket(g, None)
    while place.kind != "number":
        place = pocket(g, None)
    body = g.program.block(f"def {name}(p, dp, m):")
    body.add(f"m.mul_(0.9).{g.one('add_(dp)', 'lerp_(dp, 0.1)', 'addcmul_(dp, dp)')}")
    body.add(
        f"rate = {place.read}",
        g.one("p.sub_(m * rate * 0.1)", "p.mul_(1 - rate * 0.01).add_(m, alpha=-0.1)", "p.copy_(p - m * rate)"),
    )
    if g.chance(0.3):
        effect(g, body, len(body.items), "m")
    if g.chance(0.25):
        stops(g, steps, body)
    body.add(f"return {g.one('None', 'm', 'p', 'rate', '(p, m)', '[m]', 'dict(m=m)')}")
    _globals(body, set())
    g.program.add(f"{name} = compile({name})")
    kept = [g.name("kept"), g.name("kept")]
    g.program.add(*(f"{one} = draw{one_tuple(shape)}" for one in kept))
    steps.changes += place.writes
    steps.pockets.append(place)
    steps.calls.append((name, [("object", kept[0]), ("input", f"draw{one_tuple(shape)}"), ("object", kept[1])]))


def fitting(g: Drawing, steps: Steps) -> None:
    """`badak.training.fit` with callbacks that change what the model and the loss read."""
    g.only_badak = True
    net, model, ((_, made),) = network(g, steps)
    size = net.output[-1] if net.output else None
    _in_forward(g, steps, net.forward, size)
    loss, target = loss_of(g, net.output)
    target = target[1] if target else "draw(len(x))"
    judged = g.program.block("def judged(out, target):")
    _in_step(g, steps, judged, "out", size)
    judged.add(f"loss = {loss}")
    _in_step(g, steps, judged, "loss", None)
    judged.add(*(["loss = loss.mean()", "return loss"]))
    _globals(judged, set())
    told = g.program.block("def told(progress):")
    told.add("number = progress.step")
    for _ in range(g.number(1, 3)):
        if steps.changes:
            told.block(f"if number {g.one('== 4', '== 5', '> 3', '% 2 == 0', '> 0')}:").add(*parsed(g.one(*steps.changes)).items)
    if g.chance(0.3):
        effect(g, told, len(told.items), "next(progress.model.parameters())")
    _globals(told, set())
    loader = g.program.block("def loader():")
    loop = loader.block("for _ in range(3):")
    loop.add(f"x = {made}", f"batches.append((x, {target}))")
    at = g.program.items.index(loader)
    g.program.items.insert(at, "batches = []")
    g.program.add("loader()", "number = 0")
    settings = g.one(
        "epochs=4", "epochs=3, lr=0.01", "epochs=4, max_grad_norm=1.0", "steps=10, lr=0.05", "epochs=4, grad_accum_steps=2"
    )
    start = g.program.block("def start():")
    start.add(
        f"return fit({model}, batches, judged, callbacks=[told], {settings}, optimizer={g.one(repr('adamw'), repr('sgd'), repr('adam'))})"
    )
    g.program.add("watch(start)")


def change(g: Drawing, steps: Steps) -> str:
    """A statement between two calls that puts another value into a place."""
    return g.one(*steps.changes)
