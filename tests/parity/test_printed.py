"""What programs print of optimizers, schedules, nodes and distributions: the same in both libraries."""

import pytest
import torch

import badak
from tests.parity.test_everyday import outcome

RUNS = {}
ALL = "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam ASGD Rprop LBFGS Adafactor".split()


def run(function):
    RUNS[function.__name__] = function
    return function


def of_every_optimizer(t):
    for name in ALL:
        p = t.nn.Parameter(t.tensor([[1.0, 2.0], [3.0, -4.0]]))
        optimizer = getattr(t.optim, name)([p], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (p**2).sum().backward()
            optimizer.step(lambda p=p: (p**2).sum())
        yield p, optimizer


@run
def order_of_settings(t):
    return [[*optimizer.param_groups[0], *optimizer.defaults] for _, optimizer in of_every_optimizer(t)]


@run
def order_of_what_is_remembered(t):
    return [list(optimizer.state[p]) for p, optimizer in of_every_optimizer(t)]


@run
def arguments_of_step_hooks(t):
    seen = []
    optimizer = t.optim.SGD([t.nn.Parameter(t.ones(1))], lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append((args == (o,), kwargs)))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append((args[0] is o, len(args), kwargs)))
    optimizer.step(lambda: 1.0)
    return seen


@run
def a_hook_that_changes_the_arguments(t):
    optimizer = t.optim.SGD([t.nn.Parameter(t.ones(1))], lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: 5.0), {}))
    return optimizer.step()


@run
def state_of_a_cyclic_schedule(t):
    class Half:
        def __init__(self):
            self.by = 2

        def __call__(self, x):
            return 1 / self.by

    found = []
    for scale in (None, Half(), lambda x: 0.5):
        optimizer = t.optim.SGD([t.nn.Parameter(t.ones(1))], lr=0.1, momentum=0.9)
        schedule = t.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 0.2, 2, scale_fn=scale)
        state = schedule.state_dict()
        found += [sorted(state), state["_scale_fn_custom"]]
        if isinstance(scale, Half):
            scale.by = 4
            schedule.load_state_dict(state)
            found += [scale.by, schedule.get_last_lr()]
    return found


@run
def ends_of_a_function(t):
    class Clamp(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, low, y, high=None):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g, None, None, None

    x = t.ones(2, requires_grad=True)
    ends = Clamp.apply(x, 0.0, t.ones(2), None).grad_fn.next_functions
    return [(None if end is None else end.name(), number) for end, number in ends]


@run
def node_of_a_backward_hook(t):
    layer = t.nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda *_: None)
    return type(layer(t.ones(1, 2)).grad_fn).__name__


@run
def nodes_of_losses(t):
    F, x, y = t.nn.functional, t.rand(2, 2, requires_grad=True), t.ones(2, 2)
    losses = F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy, F.soft_margin_loss, F.mse_loss
    return [type(loss(x, y, reduction=how).grad_fn).__name__ for loss in losses for how in ("mean", "sum", "none")]


@run
def names_of_attention_kernels(t):
    kernel = t.nn.attention.SDPBackend.MATH
    return str(kernel), repr(kernel), int(kernel), kernel == 0, f"{kernel}"


@run
def steps_of_a_line_in_float64(t):
    ends = (-2, 2), (0, 1), (0.0, 3.3), (-5, 7)
    return [t.linspace(a, b, n, dtype=t.float64).numpy().tobytes() for a, b in ends for n in (2, 7, 11, 100)]


@run
def constraints_and_texts(t):
    d = t.distributions
    kinds = [d.NegativeBinomial, d.Beta, d.Binomial]
    return [str({name: str(each) for name, each in kind.arg_constraints.items()}) for kind in kinds] + [repr(d.Beta(2.0, 3.0))]


@run
def parametrized_class(t):
    layer = t.nn.utils.parametrizations.orthogonal(t.nn.Linear(2, 2))
    return type(layer).__name__, type(layer).__module__.rpartition("torch.")[2].removeprefix("badak.")


@run
def a_remainder_of_nothing(t):
    none, zero = t.zeros(2, 0, dtype=t.int64), t.zeros(2, 1, dtype=t.int64)
    return [(none % zero).shape, (none // zero).shape, t.fmod(none, zero).shape]


@run
def numbers_outside_of_the_dtype(t):
    u, i = t.tensor([255, 1, 0, 200], dtype=t.uint8), t.tensor([-1, 44, 5, 127], dtype=t.int8)
    numbers = -1, -56, 200, 256, 300, -300, 2**40
    words = t.eq, t.ne, t.lt, t.le, t.gt, t.ge
    return [
        compare(x, n).int() for compare in words for x in (u, i, t.tensor([0, 5], dtype=t.int32), t.tensor([0])) for n in numbers
    ]


@run
def a_label_that_is_taken_out(t):
    labels = t.tensor([0, 3, 7], dtype=t.uint8)
    labels[labels == 3] = -1
    return (labels == -1).int()


@run
def what_stands_next_to_a_value_keeps_its_history(t):
    found, w = [], t.ones(2)
    for make in (t.func.jacrev, t.func.jacfwd, t.func.grad):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        _, aux = make(lambda w, x=x: ((w * x).sum(), (w * x**2).sum()), has_aux=True)(w)
        found.append((aux.requires_grad, t.autograd.grad(aux, x)[0]))
        _, aux = make(lambda w: ((w * 2).sum(), w * 3), has_aux=True)(w)
        found.append(aux.requires_grad)
    return found


def scaler(t):
    p = t.nn.Parameter(t.ones(2))
    return t.amp.GradScaler("cpu"), t.optim.SGD([p], lr=0.1), p


@run
def step_before_scale(t):
    made, optimizer, _ = scaler(t)
    return made.step(optimizer)


@run
def update_before_scale(t):
    return scaler(t)[0].update()


@run
def update_without_a_step(t):
    made, _, p = scaler(t)
    made.scale(p.sum()).backward()
    return made.update()


@run
def two_steps_of_a_scaler(t):
    made, optimizer, p = scaler(t)
    made.scale(p.sum()).backward()
    made.step(optimizer)
    return made.step(optimizer)


@run
def unscale_after_the_step(t):
    made, optimizer, p = scaler(t)
    made.scale(p.sum()).backward()
    made.step(optimizer)
    return made.unscale_(optimizer)


@run
def a_sound_scaler(t):
    made, optimizer, p = scaler(t)
    for _ in range(3):
        made.scale(p.sum()).backward()
        made.unscale_(optimizer)
        made.step(optimizer)
        made.update()
    return made.state_dict(), p


@pytest.mark.parametrize("name", RUNS)
def test_both_print_the_same(name):
    with badak.kernels.use("reference"):
        assert outcome(RUNS[name], badak) == outcome(RUNS[name], torch)


def test_a_vmap_over_nothing_says_so():
    with pytest.raises(ValueError, match="Expected at least one Tensor to vmap over"):
        badak.func.vmap(badak.add, in_dims=(None, None))(badak.ones(2), badak.ones(2))
