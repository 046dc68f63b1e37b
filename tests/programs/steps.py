"""Steps: the functions that a program compiles, and what it calls them with."""

import math

from tests.programs.drawing import Drawing, Value, one_tuple
from tests.programs.layers import Net
from tests.programs.source import Block
from tests.programs.values import change, statements

OPTIMIZERS = [
    "SGD({p}, lr=0.1)", "SGD({p}, lr=0.1, momentum=0.9)",
    "SGD({p}, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01)",
    "SGD({p}, lr=0.1, momentum=0.5, dampening=0.1, maximize=True)", "Adam({p}, lr=0.01)",
    "Adam({p}, lr=0.01, amsgrad=True)", "Adam({p}, lr=0.02, betas=(0.5, 0.9), eps=1e-4, weight_decay=0.1)",
    "AdamW({p}, lr=0.01)", "AdamW({p}, lr=torch.tensor(0.01))",
    "AdamW({p}, lr=0.01, weight_decay=0.1, maximize=True)", "RMSprop({p}, lr=0.01)",
    "RMSprop({p}, lr=0.01, momentum=0.9, centered=True)", "RMSprop({p}, lr=0.01, alpha=0.5, weight_decay=0.1)",
    "Adagrad({p}, lr=0.05)", "Adagrad({p}, lr=0.05, lr_decay=0.1, weight_decay=0.1)",
    "Adagrad({p}, lr=0.05, initial_accumulator_value=0.1)", "AdamW({p}, lr=0.01, betas=(0.0, 0.99))",
    "Adadelta({p}, lr=0.5)", "Adamax({p}, lr=0.01, weight_decay=0.1)", "NAdam({p}, lr=0.01)", "RAdam({p}, lr=0.01)",
    "Rprop({p}, lr=0.01)", "ASGD({p}, lr=0.05, t0=2)", "NAdam({p}, lr=0.01, weight_decay=0.1, decoupled_weight_decay=True)",
]  # fmt: skip
SCHEDULES = [
    "StepLR({o}, 2, 0.5)", "MultiStepLR({o}, [2, 4], 0.3)", "ExponentialLR({o}, 0.8)", "CosineAnnealingLR({o}, 5)",
    "LambdaLR({o}, lambda t: 1 / (1 + t))", "OneCycleLR({o}, 0.1, total_steps=20)",
    "LinearLR({o}, 0.1, total_iters=4)", "ConstantLR({o}, 0.5, 3)", "CosineAnnealingWarmRestarts({o}, 3)",
    "PolynomialLR({o}, 6)", "CosineAnnealingLR({o}, 4, eta_min=0.001)", "MultiplicativeLR({o}, lambda t: 0.9)",
    "ChainedScheduler([optim.lr_scheduler.ConstantLR({o}, 0.5, 2), optim.lr_scheduler.ExponentialLR({o}, 0.9)])",
    "SequentialLR({o}, [optim.lr_scheduler.ConstantLR({o}, 0.1, 2), optim.lr_scheduler.ExponentialLR({o}, 0.9)], [2])",
]  # fmt: skip


INF = "float('inf')"


class Steps:
    """What can be called: the source of calls, and names of what events may touch."""

    def __init__(self):
        self.models: list[str] = []
        self.optimizers: list[str] = []
        self.kept: list[Value] = []  # tensors from outside that a step reads or changes
        self.caches: list[str] = []
        self.switches: list[str] = []  # True: a step stops midway
        self.calls: list[tuple[str, list[tuple[str, str]]]] = []  # (function, arguments as (kind, expression))
        self.pockets: list = []  # places of Python that steps read
        self.changes: list[str] = []  # statements that put something else into these
        self.labels = 0  # classes, where labels are among the arguments


def loss_of(g: Drawing, shape) -> tuple[str, tuple[str, str] | None]:
    """(an expression for the loss of `out`, what it is held against)."""
    size, n = math.prod(shape), (shape or (1,))[-1]
    if len(shape) > 1 and n > 1 and g.chance(0.4):
        labels = ("labels", f"ints({n}, {size // n})")
        extra = g.one("", "", ", label_smoothing=0.1", ", ignore_index=0", ", reduction='sum'")
        out = "out" if len(shape) == 2 else "out.flatten(0, -2)"
        return g.one(f"F.cross_entropy({out}, target{extra})", f"F.nll_loss({out}.log_softmax(-1), target)"), labels
    if g.chance(0.6):
        losses = [
            "F.mse_loss(out, target)",
            "F.l1_loss(out, target)",
            "F.smooth_l1_loss(out, target)",
            "F.huber_loss(out, target)",
        ]
        losses += [
            "F.binary_cross_entropy_with_logits(out, target.sigmoid())",
            "F.mse_loss(out, target, reduction='sum')",
        ]
        losses += ["F.kl_div(out.log_softmax(-1), target.softmax(-1), reduction='batchmean')"] if shape else []
        return g.one(*losses), ("target", f"draw{one_tuple(shape)}")
    return g.one(
        "out.square().mean()", "out.sum()", "(out * out.detach().sign()).mean()", "out.mean() ** 2", "out.abs().sum()"
    ), None


def network(g: Drawing, steps: Steps) -> tuple[Net, str, list[tuple[str, str]]]:
    """A model, its name, and its input."""
    ids = g.number(3, 9) if g.chance(0.25) else 0
    shape = g.shape(g.one(1, 2, 2)) if ids else g.shape(g.one(2, 2, 3, 3, 4))
    if len(shape) == 4:
        shape = (g.number(1, 3), g.number(1, 3), g.number(2, 6), g.number(2, 6))
    name = g.name("model")
    net = Net(g, shape, ids, g.name("Net"))
    dtype = g.one("", "", "", "", ".eval()", ".double()", ".float()")
    g.program.add(f"{name} = {[*g.program.items][-1 - _after(g)].header.split()[1].partition('(')[0]}(){dtype}")
    steps.models.append(name)
    made = f"ints({ids}, {', '.join(map(str, shape))})" if ids else f"draw{one_tuple(shape)}"
    return net, name, [("ids" if ids else "input", made)]


def _after(g: Drawing) -> int:
    """How many statements follow the last class."""
    return next(i for i, item in enumerate(reversed(g.program.items)) if isinstance(item, Block))


def optimizer(g: Drawing, steps: Steps, model: str) -> tuple[str, str | None]:
    """(an optimizer, perhaps its schedule)."""
    name, schedule = g.name("optimizer"), None
    parameters = f"{model}.parameters()"
    if g.chance(0.15):
        parameters = f"[{{'params': [p for p in {model}.parameters() if p.dim() > 1], 'lr': 0.03}}, {{'params': [p for p in {model}.parameters() if p.dim() < 2]}}]"
    g.program.add(f"{name} = optim.{g.one(*OPTIMIZERS).format(p=parameters)}")
    if g.chance(0.3):
        schedule = g.name("schedule")
        g.program.add(f"{schedule} = optim.lr_scheduler.{g.one(*SCHEDULES).format(o=name)}")
    steps.optimizers.append(name)
    return name, schedule


def extras(g: Drawing, steps: Steps, body: Block, shape=None) -> None:
    """What a step does besides: it changes a tensor from outside, counts, reads."""
    name = g.name("kept")
    kind = g.one(*["changed", "changed", "queue", "random", "global"] + ["copied"] * (2 if shape else 0))
    if kind == "random":
        body.add(f"{name} = torch.rand(2)")
    elif kind == "global":
        g.program.add(f"{name} = torch.zeros(2)")
        body.items.insert(0, f"global {name}")
        body.add(f"{name} = {name} + 1")
    elif kind == "queue":
        g.program.add(f"{name} = torch.zeros(4)", f"{name}_at = torch.zeros((), dtype=torch.int64)")
        body.add(f"{name}[{name}_at % 4] = 1.5", f"{name}_at.add_(1)")
    elif kind == "changed":
        made = Value(name, g.shape())
        g.program.add(f"{name} = draw{one_tuple(made.shape)}")
        body.items.insert(0, f"global {name}")
        body.add("with torch.no_grad():\n    " + (change(g, made) or f"{name}.add_(1)"))
        steps.kept.append(made)
    else:
        g.program.add(
            f"{name} = torch.zeros({one_tuple(shape)[1:-1]}{',' if len(shape) == 1 else ''})"
            if shape
            else f"{name} = torch.zeros(())"
        )
        how = g.one(
            "{n}.copy_(out)",
            "{n}.copy_(out.detach())",
            "{n}.mul_(0.9).add_(out.detach())",
            "{n}.lerp_(out.detach(), 0.1)",
            "{n}.data = out.detach()",
        )
        body.add(how.format(n=name))
        if ".data" in how:  # of an argument: PyTorch's backward takes the new values, badak's those it was run on
            g.only_badak = True
        steps.kept.append(Value(name, shape))


def stops(g: Drawing, steps: Steps, body: Block) -> None:
    """The step can be stopped midway, by an error of its own: what was done until then stays done."""
    name = g.name("stop")
    g.program.add(f"{name} = False")
    stop = Block(f"if {name}:", [f"raise ValueError('{name}')"])
    body.items.insert(g.number(0, len(body.items)), stop)
    steps.switches.append(name)


def training(g: Drawing, steps: Steps) -> None:
    """A step with a backward, and perhaps the optimizer's part of it."""
    net, model, arguments = network(g, steps)
    opt, schedule = optimizer(g, steps, model)
    loss, target = loss_of(g, net.output)
    arguments = arguments + ([target] if target else [])
    if target and target[0] == "labels":
        steps.labels = 1
    forward_compiled = g.chance(0.08)
    if forward_compiled:
        g.program.add(f"{model} = compile({model})")
    name = g.name("step")
    body = g.program.block(f"def {name}({', '.join(['x'] + (['target'] if target else []))}):")
    clear = f"{opt}.zero_grad({g.one('', '', 'set_to_none=False', 'set_to_none=True')})"
    clear = clear if g.chance(0.85) else f"{model}.zero_grad()"
    whole, accumulate = g.chance(0.7), g.chance(0.25)
    first = g.chance(0.7)
    if whole and first and not accumulate:
        body.add(clear)
    if whole and first and g.chance(0.15) and not (target and "flatten" in loss) and net.output[:1] == net.input[:1]:
        _in_parts(g, body, model, loss, bool(target))
    else:
        body.add(f"out = {model}(x)")
        if g.chance(0.04):  # in 16 bits the two differ by more than roundings of what is compared
            g.only_badak = True
            body.items[-1] = f"with torch.autocast('cpu', dtype=torch.bfloat16):\n    {body.items[-1]}"
        if g.chance(0.2):
            extras(g, steps, body, net.output)
        body.add(f"loss = {loss}")
        _backward(g, body, model)
    if g.chance(0.2):
        extras(g, steps, body)
    update = Block()
    _update(g, update, model, opt, schedule)
    if not (first and whole and not accumulate):
        update.add(clear)
    if whole and not accumulate:
        body.add(*update.items)
    if g.chance(0.12):
        stops(g, steps, body)
    returned = [
        "loss",
        "loss.detach()",
        "loss, out",
        "{'loss': loss.detach(), 'out': out.detach()}",
        "out.detach()",
        "None",
    ]
    body.add(f"return {g.one(*returned)}")
    _compiled(g, name, 0.0 if forward_compiled else 0.95)
    steps.calls.append((name, arguments))
    if not whole or accumulate:
        after = g.name("update")
        block = g.program.block(f"def {after}():")
        block.add(*update.items)
        _compiled(g, after, 0.5)
        steps.calls.append((after, []))
    if g.chance(0.35):
        _evaluation(g, steps, model, arguments[:1])


def _in_parts(g: Drawing, body: Block, model: str, loss: str, held: bool) -> None:
    """The batch in two parts, whose gradients are added up."""
    loop = body.block(f"for x, target in zip({'x.chunk(2), target.chunk(2)' if held else 'x.chunk(2), x.chunk(2)'}):")
    loop.add(f"out = {model}(x)", f"loss = {loss} / {g.one(2, 2.0)}", "loss.backward()")


def _compiled(g: Drawing, name: str, p: float) -> None:
    if g.chance(p):
        g.program.add(f"{name} = compile({name})")


def _evaluation(g: Drawing, steps: Steps, model: str, arguments) -> None:
    """A second function of the same parameters."""
    name = g.name("evaluate")
    body = g.program.block(f"def {name}(x):")
    switch = g.chance(0.3)
    if switch:
        body.add(f"{model}.eval()")
    inside = body.block(g.one("with torch.no_grad():", "with torch.no_grad():", "with torch.inference_mode():"))
    inside.add(f"out = {model}(x)")
    if switch:
        body.add(f"{model}.train()")
    body.add(
        "return "
        + g.one("out", "out", "out.argmax(-1)", "out.float().mean(), out", "[out, out]", f"out, next({model}.parameters())")
    )
    _compiled(g, name, 0.9)
    steps.calls.append((name, arguments))


def _backward(g: Drawing, body: Block, model: str) -> None:
    body.add(
        g.one(
            *["loss.backward()"] * 8,
            "loss.sum().backward()",
            "(loss * 0.5).backward()",
            "loss.backward(retain_graph=True)\nloss.backward()",
            f"for p, dp in zip({model}.parameters(), torch.autograd.grad(loss, list({model}.parameters()), allow_unused=True)):\n    p.grad = dp",
            "loss.backward(torch.ones_like(loss))",
        )
    )


def _update(g: Drawing, body: Block, model: str, opt: str, schedule: str | None) -> None:
    if g.chance(0.35):
        body.add(
            g.one(
                f"norm = nn.utils.clip_grad_norm_({model}.parameters(), {g.one(0.1, 1.0, 100.0)})",
                f"nn.utils.clip_grad_norm_({model}.parameters(), 0.5, norm_type={g.one('1', '3', INF)})",
                f"nn.utils.clip_grad_value_({model}.parameters(), 0.1)",
                f"for p in {model}.parameters():\n    if p.grad is not None:\n        p.grad.mul_(0.5)",
                f"for p in {model}.parameters():\n    p.grad = None if p.grad is None else p.grad * 2",
                f"for p in {model}.parameters():\n    if p.grad is not None:\n        p.grad = p.grad.clamp(-0.1, 0.1)",
            )
        )
    if g.chance(0.1):
        rule = (
            "p.sub_(p.grad, alpha=0.1)",
            "p -= 0.1 * p.grad",
            "p.data.add_(p.grad, alpha=-0.1)",
            "p.copy_(p - p.grad * 0.1)",
        )
        body.add(
            f"with torch.no_grad():\n    for p in {model}.parameters():\n        if p.grad is not None:\n            {g.one(*rule)}"
        )
    else:
        body.add(f"{opt}.step()")
    if schedule and g.chance(0.8):
        body.add(f"{schedule}.step()")


def function(g: Drawing, steps: Steps) -> None:
    """A function of tensors, with what is in place, without a model."""
    name, count = g.name("function"), g.number(1, 3)
    shapes = [g.shape() for _ in range(count)]
    before = Block()
    body = Block(f"def {name}({', '.join(f'x{i}' for i in range(count))}):")
    pool = [Value(f"x{i}", shape, g.chance(0.03)) for i, shape in enumerate(shapes)]
    leaf = None
    if g.chance(0.35):
        leaf = g.name("weight")
        g.program.add(f"{leaf} = draw{one_tuple(shapes[0])}.requires_grad_()")
        pool.append(Value(leaf, shapes[0], False))
    if g.chance(0.35):
        kept = Value(g.name("kept"), g.shape(), g.chance(0.5))
        g.program.add(f"{kept.name} = draw{one_tuple(kept.shape)}")
        pool.append(kept)
        steps.kept.append(kept)
    g.setup = before
    statements(g, body, pool, g.number(2, 9))
    g.setup = g.program
    # clones: what compile returns is a copy, so a view of what was there before would differ when that changes
    results = [f"{v.name}.clone()" for v in g.random.sample(pool, min(len(pool), g.number(1, 3)))]
    if g.chance(0.15):
        body.add(f"out = {pool[-1].name}")
        extras(g, steps, body, pool[-1].shape)
    if g.chance(0.06):
        body.items.insert(
            g.number(0, len(body.items)),
            g.one("if x0.sum() > 0:\n    x0 = x0 * 2", "x0 = x0 * x0.sum().item()", "print(x0.sum().item() * 0)"),
        )
    if leaf:
        total = " + ".join(f"{v.name}.{g.one('sum()', 'square().mean()', 'mean()')}" for v in pool[-2:])
        body.add(f"total = {total}\nif total.requires_grad:\n    total.backward()")
        results = [f"{r}.detach()" for r in results] if g.chance(0.8) else results
    body.add(f"return {', '.join(results)}")
    body.items[:0] = [f"global {v.name}" for v in steps.kept if any(str(item).startswith(f"{v.name} ") for item in body.items)]
    g.program.add(*before.items, body)
    _compiled(g, name, 1.0)
    steps.calls.append((name, [("input", f"draw{one_tuple(shape)}") for shape in shapes]))


def generation(g: Drawing, steps: Steps) -> None:
    """A decoder that reads a text in parts, with a cache of keys and values."""
    g.only_badak = True
    C, heads, layers, max_length = 4, g.one(1, 2), g.number(1, 2), 12
    model, cache, name = g.name("model"), g.name("cache"), g.name("read")
    block = g.program.block("class Decoder(nn.Module):")
    init, forward = block.block("def __init__(self):"), block.block("def forward(self, ids, cache):")
    init.add("super().__init__()", f"self.embed = nn.Embedding(9, {C})", f"self.place = nn.Embedding({max_length}, {C})")
    init.add(f"self.project = nn.ModuleList([nn.Linear({C}, {3 * C}) for _ in range({layers})])")
    where = g.one("cache.length", "cache.length", "0")
    forward.add(f"h = self.embed(ids) + self.place(torch.arange({where}, {where} + ids.size(1)))")
    loop = forward.block("for layer, project in enumerate(self.project):")
    loop.add(f"q, k, v = [part.unflatten(-1, ({heads}, -1)).transpose(1, 2) for part in project(h).chunk(3, -1)]")
    loop.add("h = h + cache.attend(layer, q, k, v).transpose(1, 2).flatten(2)")
    forward.add("cache.advance(ids.size(1))", "return h @ self.embed.weight.T")
    g.program.add(f"{model} = Decoder()", f"{cache} = nn.KeyValueCache({layers}, {max_length})")
    body = g.program.block(f"def {name}(ids):")
    if g.chance(0.4):
        body.add(f"{cache}.rewind()")
    inside = body.block(g.one("with torch.no_grad():", "with torch.inference_mode():"))
    inside.add(f"logits = {model}(ids, {cache})")
    body.add(g.one("return logits", "return logits[:, -1].argmax(-1)", "return logits[:, -1]"))
    _compiled(g, name, 1.0)
    steps.models.append(model)
    steps.caches.append(cache)
    steps.calls.append((name, [("ids", f"ints(9, 2, {g.one(1, 1, 2, 3)})")]))
