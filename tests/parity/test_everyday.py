"""What everyday programs do with PyTorch's objects, run in both libraries and compared: hooks, nodes, schedules, lazy layers."""

import warnings

import pytest
import torch

import badak

RUNS = {}


def run(function):
    RUNS[function.__name__] = function
    return function


@run
def attribute_on_a_gradient(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: setattr(g, "tag", g * 3))
    y.register_hook(lambda g: g.tag if hasattr(g, "tag") else g * 100)
    y.sum().backward()
    return x.grad


@run
def one_gradient_for_all_hooks(t):
    seen = []
    x = t.ones(2, requires_grad=True)
    y = x * 2
    for _ in range(3):
        y.register_hook(lambda g: seen.append(g))
    x.register_hook(lambda g: seen.append(g))
    x.register_hook(lambda g: seen.append(g))
    y.sum().backward()
    return [seen[0] is seen[i] for i in range(5)] + [seen[3] is seen[4]]


@run
def a_replaced_gradient_is_the_next_hooks(t):
    seen = []
    x = t.ones(2, requires_grad=True)
    given = t.full((2,), 5.0)
    x.register_hook(lambda g: given)
    x.register_hook(lambda g: seen.append(g is given))
    (x * 2).sum().backward()
    return seen, x.grad


@run
def in_place_and_data_in_a_hook(t):
    x = t.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: None if g.mul_(3) is None else None)
    first = y.sum()
    first.backward(retain_graph=True)
    before = x.grad.tolist()
    y.register_hook(lambda g: setattr(g, "data", t.full_like(g, 7.0)))
    first.backward()
    return before, x.grad


@run
def hooks_where_gradients_are_differentiated(t):
    x = t.ones(2, requires_grad=True)
    y = x**3
    y.register_hook(lambda g: setattr(g, "tag", 4.0))
    y.register_hook(lambda g: g * g.tag)
    (dx,) = t.autograd.grad(y.sum(), x, create_graph=True)
    dx.sum().backward()
    return dx, x.grad


@run
def removed_hooks(t):
    x = t.ones(2, requires_grad=True)
    y = x * 2
    handle = y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: g + 1)
    handle.remove()
    y.sum().backward()
    return x.grad


@run
def a_hook_of_another_size(t):
    x = t.ones(2, requires_grad=True)
    x.register_hook(lambda g: g[:1])
    (x * 2).sum().backward()


@run
def a_hook_that_gives_a_number(t):
    x = t.ones(2, requires_grad=True)
    x.register_hook(lambda g: 3)
    (x * 2).sum().backward()


@run
def names_of_nodes(t):
    x = t.ones(2, requires_grad=True)
    z = (x * 2).sum()
    leaf = z.grad_fn.next_functions[0][0].next_functions[0][0]
    return z.grad_fn.name(), type(z.grad_fn).__name__, leaf.name(), type(leaf).__name__, leaf.variable is x


@run
def a_node_is_itself(t):
    z = t.ones(2, requires_grad=True).exp().sum()
    node = z.grad_fn
    return node is z.grad_fn, node == z.grad_fn, len({node, z.grad_fn}), z.grad_fn.next_functions[0][1]


@run
def no_node(t):
    x = t.ones(2, requires_grad=True)
    return x.grad_fn, x.detach().grad_fn, (x.detach() * 2).grad_fn, (x * 2).grad_fn.next_functions[1:] in ((), ((None, 0),))


@run
def hooks_of_a_node(t):
    seen = []
    x = t.ones(2, requires_grad=True)
    y = x.exp()
    y.grad_fn.register_hook(lambda into, out: seen.append((into[0].tolist(), out[0].tolist())))
    y.grad_fn.register_prehook(lambda out: (out[0] * 3,))
    y.sum().backward()
    return seen, x.grad


class Kept:
    """Makes a Function of the library."""

    def __new__(cls, t, shape):
        class Mine(t.autograd.Function):
            @staticmethod
            def forward(ctx, x, s):
                ctx.note = "kept"
                ctx.save_for_backward(x, s)
                return x * s

            @staticmethod
            def backward(ctx, g):
                x, s = ctx.saved_tensors
                return g * s, (g * x).reshape(shape) if shape else g * x

        return Mine


@run
def a_function_is_its_context(t):
    y = Kept(t, None).apply(t.ones(2), t.ones(2, requires_grad=True))
    return y.grad_fn.note, len(y.grad_fn.saved_tensors), y.grad_fn.name(), type(y.grad_fn).__name__


def larger(size, shape=None):
    def summed(t):
        s = t.ones(size, requires_grad=True)
        Kept(t, shape).apply(t.arange(9.0).reshape(3, 3), s).sum().backward()
        return s.grad

    RUNS[f"larger_gradient_{size}_{shape}"] = summed


for size in ((1, 1), (3, 1), (1, 3), (3,), (1,), (), (3, 3)):
    larger(size)
larger((1, 1), (9,))
larger((3, 3), (9,))


@run
def larger_gradient_differentiated(t):
    s = t.ones(1, 1, requires_grad=True)
    x = t.arange(9.0).reshape(3, 3)
    (ds,) = t.autograd.grad((Kept(t, None).apply(x, s) ** 2).sum(), s, create_graph=True)
    ds.sum().backward()
    return ds, s.grad


def one_label(loss, logits, label):
    def run(t):
        function = getattr(t.nn.functional, loss)
        x = t.arange(6.0)[: int(logits[0]) if len(logits) == 1 else 6].reshape(logits)
        return [function(x, t.tensor(label), reduction=how) for how in ("mean", "sum", "none")]

    RUNS[f"{loss}_{logits}_{label}"] = run


for loss in ("cross_entropy", "nll_loss"):
    for logits, label in (((3,), [1]), ((3,), 1), ((3,), [1, 2]), ((2, 3), [1]), ((2, 3), [1, 2]), ((2, 3), 1), ((2, 3), [[1, 2]])):
        one_label(loss, logits, label)


def rates(t, made, steps=6):
    found = []
    for _ in range(steps):
        made.optimizer.step()
        made.step()
        found.append(round(float(made.optimizer.param_groups[0]["lr"]), 9))
    return found


def optimizer(t):
    return t.optim.SGD([t.nn.Parameter(t.ones(2))], lr=0.1, momentum=0.9)


for name, given in {
    "StepLR": (1.0,), "CosineAnnealingLR": (4.0,), "ConstantLR": (0.5, 3.0), "LinearLR": (0.5, 1.0, 3.0), "PolynomialLR": (4.0,),
    "MultiStepLR": ([1.0, 3.0],), "ExponentialLR": (0.5,), "CosineAnnealingWarmRestarts": (3,), "OneCycleLR": (0.1, 9),
}.items():  # fmt: skip
    RUNS[f"{name}_{given}"] = lambda t, name=name, given=given: rates(t, getattr(t.optim.lr_scheduler, name)(optimizer(t), *given))


@run
def own_reduction_of_a_plateau(t):
    class Own(t.optim.lr_scheduler.ReduceLROnPlateau):
        def _reduce_lr(self, epoch):
            super()._reduce_lr(epoch)
            seen.append(epoch)

        def _is_better(self, a, best):
            return super()._is_better(a, best) and a > 0

    seen = []
    made = Own(optimizer(t), patience=1)
    for loss in (3.0, 2.0, 2.5, 2.5, 2.5, 1.0, -1.0, -2.0, 1.5):
        made.step(loss)
    return seen, round(made.optimizer.param_groups[0]["lr"], 9), made.best


@run
def own_annealing(t):
    class Own(t.optim.lr_scheduler.OneCycleLR):
        def _anneal_func(self, start, end, pct):
            return start if pct < 0.5 else end

    return rates(t, Own(optimizer(t), 0.1, 8))


@run
def annealing_as_functions(t):
    cycle = t.optim.lr_scheduler.OneCycleLR
    return cycle._annealing_cos(1.0, 0.0, 0.25), cycle._annealing_linear(1.0, 0.0, 0.25)


def own_convolution(axes):
    def run(t):
        class Own(getattr(t.nn, f"Conv{axes}d")):
            def forward(self, x):
                return self._conv_forward(x, self.weight * 2, None)

        made = Own(1, 1, 2, padding=1, padding_mode="reflect")
        with t.no_grad():
            made.weight.fill_(0.5)
        return made(t.arange(4.0**axes).reshape(1, 1, *[4] * axes))

    RUNS[f"own_convolution_{axes}"] = run


for axes in (1, 2, 3):
    own_convolution(axes)


@run
def own_check_of_a_batch_norm(t):
    class Own(t.nn.BatchNorm1d):
        def _check_input_dim(self, input):
            seen.append(input.dim())

    seen = []
    Own(3)(t.ones(2, 3, 4, 5))
    return seen


@run
def lazy_data(t):
    layer = t.nn.LazyLinear(1)
    layer.weight.data.normal_(0, 0.01)
    layer.bias.data.fill_(0)
    return layer.weight.data.shape, layer(t.ones(2, 3)).shape, layer.weight.shape


@run
def lazy_of_another_dtype(t):
    layer = t.nn.LazyConv2d(2, 1).double()
    layer.weight.data.zero_()
    return str(layer(t.ones(1, 3, 2, 2).double()).dtype).split(".")[1]


def plain(value):
    """A result as plain values of Python."""
    if hasattr(value, "detach"):
        return [round(float(each), 5) for each in value.detach().reshape(-1).tolist()], tuple(value.shape)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def outcome(function, library):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(function(library))
    except (RuntimeError, ValueError, TypeError, AssertionError) as error:
        return "refused" if str(error) else "said nothing"


@pytest.mark.parametrize("name", RUNS)
def test_everyday_code_does_as_in_pytorch(name):
    with badak.kernels.use("reference"):
        assert outcome(RUNS[name], badak) == outcome(RUNS[name], torch)


@pytest.mark.parametrize("loss", ["cross_entropy", "nll_loss"])
@pytest.mark.parametrize("labels, why", [([], "it is empty"), ([-100, -100], "all == ignore_index=-100")])
def test_a_batch_without_labels_has_no_loss_and_says_so(loss, labels, why):
    badak.core.errors.forget_warnings()
    logits = badak.randn(len(labels), 3, requires_grad=True)
    said = f"{loss}: no label to learn from in this batch \\({why}\\); the loss is 0\nfix: "
    with pytest.warns(badak.core.errors.BadakWarning, match=said):
        found = getattr(badak.nn.functional, loss)(logits, badak.tensor(labels, dtype=badak.int64))
    found.backward()
    assert found.item() == 0 and not logits.grad.any()
