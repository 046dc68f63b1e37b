"""What happens between the calls of a program, and with which arguments it calls."""

from tests.programs.drawing import Drawing
from tests.programs.source import Block
from tests.programs.steps import Steps

MODEL = [
    "{m}.eval()", "{m}.train()", "{m}.zero_grad()", "{m}.requires_grad_(False)", "{m}.requires_grad_(True)",
    "{m}.zero_grad(set_to_none=False)", "next({m}.parameters()).requires_grad_(False)",
    "list({m}.parameters())[-1].requires_grad_(False)", "{m}.scale = 2.0", "{m}.calls = 5", "{m}.on = False",
    "{m}.f0 = nn.Identity()", "{m}.f1 = nn.Tanh()", "{m}.double()", "{m}.float()",
    "{m}.load_state_dict({{k: v * 0.5 for k, v in {m}.state_dict().items()}})",
    "hook = {m}.register_forward_hook(lambda module, args, out: out * 2)", "hook.remove()", "{m}.f0.p = 0.9",
    "{m}.f0.eps = 0.1", "{m}.f0.momentum = 0.5",
    "hook = {m}.register_forward_pre_hook(lambda module, args: (args[0],))",
    "hook = next({m}.parameters()).register_hook(lambda dp: dp * 2)",
    "hook = {m}.f0.register_full_backward_hook(lambda module, dx, dy: None)", "next({m}.parameters()).data.mul_(0.5)",
    "next({m}.parameters()).data.fill_(0.1)", "next({m}.parameters()).grad = None",
    "for p in {m}.parameters():\n    p.grad = torch.ones_like(p)",
    "for p in {m}.parameters():\n    p.data = p.data.clone()", "nn.init.constant_(next({m}.parameters()), 0.1)",
    "with torch.no_grad():\n    next({m}.parameters()).add_(0.1)",
    "{m}.f0.weight = nn.Parameter({m}.f0.weight.detach() * 2)",
    "next({m}.parameters()).data = next({m}.parameters()).data.T.contiguous().T", "{m}.other = nn.Linear(2, 2)",
    "{m}.f0.bias = None", "{m}.apply(lambda module: None)", "{m}.f0.train(False)",
    "next({m}.parameters()).register_post_accumulate_grad_hook(lambda p: setattr(p, 'grad', None))",
    "{m}.forward = lambda x: x.float().mean()", "{m}.f1.inplace = True",
    "{m}.f0.register_buffer('extra', torch.ones(2))",
    "for p in {m}.parameters():\n    p.grad = None if p.grad is None else p.grad.clone()",
]  # fmt: skip
OPTIMIZER = [
    "{o}.param_groups[0]['lr'] = 0.5", "{o}.param_groups[0]['lr'] *= 0.1",
    "{o}.param_groups[0]['weight_decay'] = 0.1", "{o}.zero_grad()", "{o}.state.clear()",
    "{o}.load_state_dict(copy.deepcopy({o}.state_dict()))", "{o}.param_groups[0]['betas'] = (0.5, 0.5)",
    "{o}.param_groups[0]['momentum'] = 0.5", "{o}.step()", "{o}.param_groups[0]['maximize'] = True",
    "{o}.add_param_group({{'params': [draw(2).requires_grad_()]}})", "{o}.zero_grad(set_to_none=False)",
    "{o}.param_groups[0]['eps'] = 0.1", "{o}.register_step_pre_hook(lambda *args: None)",
    "{o}.register_step_post_hook(lambda o, *args: o.zero_grad())", "{o}.param_groups[0]['nesterov'] = True",
    "for state in {o}.state.values():\n    state['step'] = state['step'] * 0 + 1 if 'step' in state else None",
    "{o}.param_groups[0]['amsgrad'] = True",
]  # fmt: skip
KEPT = [
    "{k}.add_(1)", "{k}.zero_()", "{k}.data = {k} + 1", "{k}.requires_grad_(True)", "{k}.requires_grad_(False)",
    "{k}[0] = 3.0", "{k}.resize_(2, 2)", "{k}.copy_({k} * 2)", "{k}.t_() if {k}.dim() == 2 else None",
    "{k}.unsqueeze_(0)", "{k}.mul_(0.5)", "{k}.data = {k}.data.clone()", "{k}.view(-1).sub_(1)",
    "{k} = {k} * 2", "{k} = {k}.clone()", "{k} = {k}.double()", "{k} = {k}.transpose(0, -1)",
]  # fmt: skip
ANY = [
    "torch.manual_seed(9)", "torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)", "torch.rand(3)",
    "unrelated.seen = number", "unrelated = nn.Linear(2, 2)", "torch.set_rng_state(torch.get_rng_state())",
    "held.clear()", "for result in held:\n    result.add_(1)", "held[-1].mul_(0)",
    "torch.set_default_dtype(torch.float64)",
]  # fmt: skip
CACHE = [
    "{c}.rewind()", "{c}.rewind()", "{c}.rewind(1)", "{c} = nn.KeyValueCache(len({c}), {c}.max_length)",
    "{c}.rewind({c}.length // 2)",
]  # fmt: skip
WRONG = {
    "labels": ["{x} + 100", "{x}.float()", "{x}[:-1]", "{x} - 1", "{x}[None]", "None"],
    "ids": ["{x} + 100", "{x} - 5", "{x}[:0]", "{x}.float()", "{x}[None]"],
    "input": [
        "{x}[:-1]",
        "{x}[..., :-1]",
        "{x}[None]",
        "{x}.flatten()",
        "{x}.long()",
        "{x} * float('nan')",
        "{x}[:0]",
        "None",
    ],
    "target": ["{x}[:-1]", "{x}[..., :1]", "{x}.long()", "{x} * float('inf')", "{x}[None]"],
    "object": ["None", "[]"],
}
OTHER = {
    "labels": ["{x}.flip(0)", "torch.stack([{x}, {x}], -1)[..., 0]", "{x} * 0", "{x}[:1].expand(len({x}))"],
    "ids": ["{x}.to(torch.int32)", "{x}.flip(0)", "torch.stack([{x}, {x}], -1)[..., 0]", "{x}[:1].expand_as({x})", "torch.cat([{x}, {x}])", "{x}.t().contiguous().t()"],
    "input": [
        "{x}.transpose(0, -1).contiguous().transpose(0, -1)", "torch.stack([{x}, {x}], -1)[..., 0]", "{x}[:1].expand_as({x})", "{x}[..., :1].expand_as({x})",
        "{x}.clone().requires_grad_()", "torch.cat([{x}, {x}])", "{x}.double()", "{x}.float()", "{x} * 0", "{x} * 1e4", "nn.Parameter({x})", "held[-1] if held else {x}",
        "torch.cat([{x}, {x}])[::2]", "{x}.mT", "{x}.half()",
    ],
    "target": ["{x}.transpose(0, -1).contiguous().transpose(0, -1)", "{x}.double()", "{x}[:1].expand_as({x})", "{x}.clone().requires_grad_()", "{x} * 0"],
    "object": ["copy.copy({x})", "copy.deepcopy({x})", "{x}"],
}  # fmt: skip


def event(g: Drawing, steps: Steps) -> str:
    """Something that a program does between two calls."""
    kinds: list[tuple[list[str], str, list[str]]] = [(ANY, "a", ["_"])]
    kinds += [(MODEL, "m", steps.models)] * 4 if steps.models else []
    kinds += [(OPTIMIZER, "o", steps.optimizers)] * 2 if steps.optimizers else []
    kinds += [(KEPT, "k", [v.name for v in steps.kept])] * 2 if steps.kept else []
    kinds += [(["{s} = True", "{s} = not {s}"], "s", steps.switches)] * 8 if steps.switches else []
    kinds += [(CACHE, "c", steps.caches)] * 6 if steps.caches else []
    texts, letter, names = g.one(*kinds)
    text = g.one(*texts).format(**{letter: g.one(*names)})
    if "add_param_group" in text and any(word in str(g.program) for word in ("lr_scheduler", "Adagrad")):
        # a schedule's step is then an error in both, but PyTorch has set some of the rates; its Adagrad has no state for them
        g.only_badak = True
    return text


def guarded(g: Drawing, block: Block, text: str) -> None:
    """An event whose error, if it has one, is caught and written down."""
    inside = block.block("try:")
    inside.add(text)
    block.block("except Exception as error:").add("note(error)")


def arguments(g: Drawing, steps: Steps, kinds: list[tuple[str, str]], names: list[str], block: Block) -> list[str]:
    """The arguments of one call, some of them unusual."""
    found = list(names)
    if found and g.chance(0.5):
        at = g.number(0, len(found) - 1)
        table = OTHER if g.chance(0.7) else WRONG
        found[at] = g.one(*table[kinds[at][0]]).format(x=found[at])
    elif found and g.chance(0.25) and steps.models:
        found[0] = g.one(f"next({steps.models[0]}.parameters()).detach()", f"next({steps.models[0]}.parameters()).data[:]")
    elif found and g.chance(0.5) and steps.kept:
        kept = g.one(*steps.kept).name
        found[g.number(0, len(found) - 1)] = g.one(kept, f"{kept}[:]", f"{kept}.expand_as({kept})", f"{kept}.T")
    elif len(found) > 1 and g.chance(0.6):
        found[1] = g.one(found[0], f"{found[0]}[:]")
    return found
