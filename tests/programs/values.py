"""Operations on a value: each gives an expression and the shape that it has, or None where it does not fit."""

import math

from tests.programs.drawing import Drawing, Value
from tests.programs.source import Block

SAME = [
    "{x}.tanh()", "{x}.sigmoid()", "F.gelu({x})", "F.gelu({x}, approximate='tanh')", "F.silu({x})", "F.relu({x})",
    "{x}.sin()", "{x}.clamp(-2, 2).exp()", "({x}.abs() + 1).log()", "({x}.square() + 1).sqrt()", "{x}.square()",
    "{x}.abs()", "-{x}", "{x} * 0.5", "{x} + 1", "1 - {x}", "{x} / 2", "{x} ** 3", "{x}.clamp(-1, 1)",
    "{x}.clamp(min=0)", "F.softplus({x})", "F.leaky_relu({x}, 0.1)", "F.elu({x})", "F.hardtanh({x})", "{x}.erf()",
    "{x}.atan()", "{x}.sign() * {x}", "{x}.detach()", "{x}.clone()", "{x}.contiguous()", "{x}.round()",
    "{x}.nan_to_num()", "F.mish({x})", "F.selu({x})", "{x}.to(torch.float64)", "{x}.float()",
    "{x}.reciprocal().clamp(-3, 3)", "torch.where({x} > 0, {x}, {x} * 0.1)", "{x}.masked_fill({x} > 1, 0.5)",
    "torch.zeros_like({x}) + {x}", "{x} * ({x} > 0)", "torch.ones_like({x}) * {x}", "{x}.logical_not() * {x}",
    "{x} * {x}", "{x}.requires_grad * {x}", "F.dropout({x}, 0.3)", "F.dropout({x}, 0.5, training=False)",
    "{x} + torch.randn_like({x}) * 0.1", "{x} * torch.rand_like({x})",
    "{x} * torch.bernoulli({x}.sigmoid().detach())", "{x}.double().to({x}.dtype)", "{x}.type_as({x})",
    "torch.lerp({x}, {x} * 2, 0.3)", "{x}.half().to({x}.dtype)", "torch.full_like({x}, 0.5) * {x}",
    "{x}.mul({x}.size(0))", "torch.addcmul({x}, {x}, {x}, value=0.3)",
]  # fmt: skip
ALONG = [
    "{x}.softmax({d})", "{x}.log_softmax({d})", "{x}.cumsum({d})", "{x}.sort({d})[0]", "{x}.flip({d})",
    "{x}.roll(1, {d})", "F.normalize({x}, dim={d})", "{x}.sort({d}, descending=True).values",
    "{x} - {x}.mean({d}, keepdim=True)", "{x} / ({x}.norm(dim={d}, keepdim=True) + 1)",
    "{x} * {x}.amax({d}, keepdim=True)", "{x}.cumprod({d}).clamp(-2, 2)", "torch.cat({x}.chunk(2, {d}), {d})",
    "torch.stack({x}.unbind({d}), {d})", "{x}.gather({d}, {x}.argsort({d}))",
    "{x}.scatter({d}, {x}.argmax({d}, keepdim=True), 0.5)", "{x}.index_select({d}, torch.randperm({x}.size({d})))",
    "torch.cat([{x}.narrow({d}, 0, 1), {x}.narrow({d}, 1, {x}.size({d}) - 1)], {d})",
]  # fmt: skip
REDUCED = [
    "{x}.sum({d}, keepdim={k})", "{x}.mean({d}, keepdim={k})", "{x}.amax({d}, keepdim={k})",
    "{x}.max({d}, keepdim={k})[0]", "{x}.logsumexp({d}, keepdim={k})", "{x}.norm(dim={d}, keepdim={k})",
    "{x}.var({d}, keepdim={k}, unbiased=False)", "{x}.prod({d}, keepdim={k})", "{x}.median({d}, keepdim={k}).values",
    "{x}.min({d}, keepdim={k}).values", "({x}.std({d}, keepdim={k}, unbiased=False) + 1)",
    "{x}.argmax({d}, keepdim={k}).to({x}.dtype)",
]  # fmt: skip


def same(g: Drawing, x: Value):
    """An operation on each element."""
    return g.one(*SAME).format(x=x.name), x.shape


def along(g: Drawing, x: Value):
    """An operation along one axis."""
    if not x.shape or 0 in x.shape:
        return None
    return g.one(*ALONG).format(x=x.name, d=g.axis(x.shape)), x.shape


def reduced(g: Drawing, x: Value):
    """An axis less."""
    if not x.shape or 0 in x.shape:
        return None
    d, keep = g.number(0, len(x.shape) - 1), g.chance(0.5)
    if g.chance(0.2) and len(x.shape) > 1:
        return f"{x.name}.sum((0, 1), keepdim=True)", (1, 1, *x.shape[2:])
    shape = (*x.shape[:d], *((1,) if keep else ()), *x.shape[d + 1 :])
    return g.one(*REDUCED).format(x=x.name, d=g.one(d, d - len(x.shape)), k=keep), shape


def view(g: Drawing, x: Value):
    """Another look at the same memory."""
    shape, rank, n = x.shape, len(x.shape), x.name
    options = [(f"{n}.unsqueeze(0)", (1, *shape)), (f"{n}.unsqueeze(-1)", (*shape, 1)), (f"{n}[None]", (1, *shape))]
    if rank:
        d, size = (at := g.number(0, rank - 1)), shape[at]
        options += [(f"{n}.flatten()", (math.prod(shape),)), (f"{n}.reshape(-1)", (math.prod(shape),))]
        options += [(f"{n}[1:]", (max(size0 - 1, 0), *shape[1:])) for size0 in shape[:1] if size0 > 1]
        options += [
            (f"{n}[..., ::2]", (*shape[:-1], (shape[-1] + 1) // 2)),
            (f"{n}.select({d}, -1)", shape[:d] + shape[d + 1 :]),
        ]
        options += [(f"{n}.narrow({d}, 0, {size - size // 2})", (*shape[:d], size - size // 2, *shape[d + 1 :]))]
        options += [(f"{n}.chunk({size}, {d})[-1]", (*shape[:d], 1, *shape[d + 1 :]))]
    if rank > 1:
        other = g.one(*(i for i in range(rank) if i != d))
        swapped = list(shape)
        swapped[d], swapped[other] = swapped[other], swapped[d]
        order = g.random.sample(range(rank), rank)
        options += [(f"{n}.transpose({d}, {other})", tuple(swapped))] * 3
        options += [(f"{n}.permute({', '.join(map(str, order))})", tuple(shape[i] for i in order))] * 2
        options += [
            (f"{n}.flatten(0, 1)", (shape[0] * shape[1], *shape[2:])),
            (f"{n}.mT", (*shape[:-2], shape[-1], shape[-2])),
        ]
        options += [(f"{n}.diagonal()", (*shape[2:], min(shape[:2]))), (f"{n}[:, 0]", (shape[0], *shape[2:]))]
        options += [(f"{n}.view({n}.size(0), -1)", (shape[0], math.prod(shape[1:])))]
    if rank < 3:
        options += [(f"{n}.expand(2, {', '.join(['-1'] * rank)})".replace(", )", ")"), (2, *shape))]
    return g.one(*options)


def rearranged(g: Drawing, x: Value):
    """Elements picked, repeated or padded."""
    shape, n = x.shape, x.name
    if not shape or 0 in shape:
        return None
    rows = g.number(1, 4)
    options = [
        (f"{n}.repeat({', '.join(['2'] + ['1'] * (len(shape) - 1))})", (2 * shape[0], *shape[1:])),
        (f"{n}.repeat_interleave(2, 0)", (2 * shape[0], *shape[1:])),
        (f"F.pad({n}, (1, 1))", (*shape[:-1], shape[-1] + 2)),
        (f"{n}[{g.ids(shape[0], (rows,))}]", (rows, *shape[1:])),
        (f"{n}.index_select(-1, {g.ids(shape[-1], (rows,))})", (*shape[:-1], rows)),
        (f"{n}[..., [0, -1]]", (*shape[:-1], 2)),
        (f"{n}.topk(1, -1)[0]", (*shape[:-1], 1)),
    ]
    if len(shape) > 1:
        options += [
            (f"{n}.tril()", shape),
            (f"{n}.triu(1)", shape),
            (f"torch.einsum('...ij->...ji', {n})", (*shape[:-2], *shape[:-3:-1])),
        ]
        options += [(f"{n}[torch.arange({min(shape[:2])}), {g.ids(shape[1], (min(shape[:2]),))}]", (min(shape[:2]), *shape[2:]))]
    if len(shape) < 3 and math.prod(shape) < 5000:
        options += [(f"{n}.expand(3, {', '.join(map(str, shape))}).contiguous()", (3, *shape))]
    return g.one(*options)


def with_another(g: Drawing, x: Value, pool: list[Value]):
    """Two values, or a value and a constant, that broadcast."""
    sign = g.one("+", "-", "*", "*", "+")
    alike = [y for y in pool if y.shape == x.shape and y.name != x.name]
    if alike and g.chance(0.6):
        y = g.one(*alike).name
        options = [
            f"{x.name} {sign} {y}",
            f"torch.maximum({x.name}, {y})",
            f"torch.where({x.name} > {y}, {x.name}, {y} * 2)",
        ]
        options += [f"{x.name} / ({y}.abs() + 1)", f"torch.lerp({x.name}, {y}, 0.25)", f"{x.name}.mul({y})"]
        if x.shape:
            d = g.number(0, len(x.shape) - 1)
            if g.chance(0.4):
                return f"torch.cat([{x.name}, {y}], {d})", (*x.shape[:d], 2 * x.shape[d], *x.shape[d + 1 :])
            if len(x.shape) < 3 and g.chance(0.3):
                return f"torch.stack(({x.name}, {y}), {d})", (*x.shape[:d], 2, *x.shape[d:])
        return g.one(*options), x.shape
    shape = tuple(1 if g.chance(0.3) else n for n in x.shape[g.number(0, max(len(x.shape) - 1, 0)) :])
    return f"{x.name} {sign} {g.constant(shape)}", x.shape


def product(g: Drawing, x: Value, pool: list[Value]):
    """A matrix product."""
    shape, n = x.shape, x.name
    if not shape or 0 in shape:
        return None
    m = g.size()
    options = [(f"{n} @ {g.constant((shape[-1], m))}", (*shape[:-1], m))]
    if len(shape) > 1:
        bias = g.constant((m,))
        options += [(f"F.linear({n}, {g.constant((m, shape[-1]))}, {bias})", (*shape[:-1], m))]
        options += [(f"{n} @ {n}.mT * 0.1", (*shape[:-1], shape[-2])), (f"F.layer_norm({n}, ({shape[-1]},))", shape)]
    if len(shape) == 2:
        options += [(f"torch.addmm({bias}, {n}, {g.constant((shape[1], m))})", (shape[0], m))]
        options += [
            (f"torch.einsum('ij,kj->ik', {n}, {n})", (shape[0], shape[0])),
            (f"torch.outer({n}[0], {n}[-1])", (shape[1],) * 2),
        ]
    if len(shape) == 3:
        options += [(f"torch.bmm({n}, {n}.transpose(1, 2)).softmax(-1)", (*shape[:2], shape[1]))]
        options += [(f"F.scaled_dot_product_attention({n}, {n}, {n}, is_causal={g.chance(0.5)})", shape)] * 2
    return g.one(*options)


IN_PLACE = [
    "{x}.add_(0.5)", "{x}.mul_(2)", "{x}.clamp_(-1, 1)", "{x}.zero_()", "{x}.fill_(0.25)", "{x}.tanh_()", "{x} += 1",
    "{x} *= 0.5", "{x}.masked_fill_({x} > 0.5, -1.0)", "{x}.copy_({x}.detach() * 2)", "{x}[0] = 1.5",
    "{x}[..., 0] = {x}[..., -1]", "{x}[..., ::2] = 0.0", "{x}[0].mul_(3)", "{x}[1:] = {x}[:-1] * 0.5",
    "{x}.view(-1)[0] = 2.0", "{x}.relu_()", "{x}[{x} > 1] = 0.0", "{x}.normal_()", "{x}.uniform_(-1, 1)",
    "{x}.bernoulli_(0.5)", "{x}.index_fill_(0, torch.tensor([0]), 0.5)", "{x}.sub_({x})",
    "{x}.transpose(0, -1).add_(1)", "{x}.unsqueeze_(0).squeeze_(0)", "{x}.detach().add_(1)",
    "{x}.index_add_(0, torch.tensor([0, 0]), {x}[:1].repeat({two}))", "F.relu({x}, inplace=True)",
    "F.dropout({x}, 0.4, inplace=True)", "{x}.select(0, 0).copy_({x}.select(0, -1))", "{x}.exponential_()",
    "{x}.addcmul_({x}, {x}, value=0.1)", "{x}.lerp_({x} * 2, 0.5)", "{x}[[0]] = {x}[[-1]]", "{x}.div_(2).add_(1)",
    "{x}.T.mul_(2)",
]  # fmt: skip


def change(g: Drawing, x: Value) -> str | None:
    """A statement that changes the value in place."""
    if not x.shape or 0 in x.shape or not x.own:
        return None
    return g.one(*IN_PLACE).format(x=x.name, two=", ".join(["2"] + ["1"] * (len(x.shape) - 1)))


def statements(g: Drawing, body: Block, pool: list[Value], count: int) -> None:
    """Add `count` statements to a body; pool holds what they may use, and gets what they make."""
    for _ in range(count):
        x = pool[-1] if g.chance(0.6) else g.one(*pool)
        if math.prod(x.shape) > (300_000 if g.large else 2_000):
            continue
        if g.chance(0.13):
            if statement := change(g, x):
                body.add(statement)
            continue
        kind = g.one(same, same, along, view, view, reduced, rearranged, with_another, with_another, product)
        found = kind(g, x, pool) if kind in (with_another, product) else kind(g, x)
        if found is None or len(found[1]) > 4:
            continue
        name = x.name if g.chance(0.15) and x.own else g.name("y")
        body.add(f"{name} = {found[0]}")
        if name == x.name:
            pool.remove(x)
        pool.append(Value(name, found[1]))
