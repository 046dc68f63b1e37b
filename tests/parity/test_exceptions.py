"""An exception of the program's own code comes out of badak as it does out of PyTorch: the same object, or as PyTorch's class.

`PLACES` is a table of the places where badak calls code of the program; each is run in both libraries with each kind of exception.
"""

import copy
import io
import warnings

import pytest
import torch

import badak
from tests.tiers import looped


class OwnError(Exception):
    """A class of the program's own."""

    def __init__(self, first, second):
        super().__init__(first, second)


KINDS = [
    lambda: IndexError("none left"), lambda: KeyError("word"), StopIteration, lambda: AttributeError("no such"),
    lambda: TypeError("odd"), lambda: ValueError("value"), lambda: RuntimeError("run"), NotImplementedError,
    lambda: ZeroDivisionError("zero"), lambda: AssertionError("not so"), lambda: OSError(2, "no file"),
    lambda: UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), lambda: OwnError(1, 2), KeyboardInterrupt, StopAsyncIteration,
    lambda: OverflowError("much"), lambda: MemoryError("full"), lambda: ImportError("no"), lambda: EOFError("end"),
]  # fmt: skip
NAMES = [type(kind()).__name__ for kind in KINDS]
PLACES = {}


def place(function):
    PLACES[function.__name__] = function
    return function


def raising(error):
    def raises(*args, **kwargs):
        raise error

    return raises


def dataset(t, error, **more):
    members = {"__len__": lambda self: 4, "__getitem__": raising(error), **more}
    return type("Own", (t.utils.data.Dataset,), members)()


def sequence(error):
    """One that is nobody's subclass."""
    return type("Plain", (), {"__len__": lambda self: 4, "__getitem__": raising(error)})()


class Missing(dict):
    """A lookup in C that ends in the program's exception."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def __missing__(self, key):
        raise self.error


@place
def subset(t, error):
    t.utils.data.Subset(dataset(t, error), [0, 1])[0]


@place
def subset_loop(t, error):
    for each in t.utils.data.Subset(dataset(t, error), [0, 1]):
        print(each)


@place
def subset_of_a_mapping(t, error):
    t.utils.data.Subset(Missing(error), [0, 1])[0]


@place
def subset_batch(t, error):
    t.utils.data.Subset(dataset(t, error), [0, 1]).__getitems__([0, 1])


@place
def split(t, error):
    return list(t.utils.data.random_split(dataset(t, error), [3, 1])[1])


@place
def split_length(t, error):
    t.utils.data.random_split(dataset(t, error, __len__=raising(error)), [3, 1])


@place
def concat(t, error):
    (dataset(t, error) + dataset(t, error))[5]


@place
def stack(t, error):
    t.utils.data.StackDataset(dataset(t, error), sequence(error))[0]


@place
def loader(t, error):
    return list(t.utils.data.DataLoader(dataset(t, error), 2))


@place
def loader_of_a_mapping(t, error):
    mapping = Missing(error)
    mapping.update({"a": 1, "b": 2})
    return list(t.utils.data.DataLoader(mapping, 2))


@place
def loader_alone(t, error):
    return list(t.utils.data.DataLoader(sequence(error), batch_size=None))


@place
def loader_length(t, error):
    return list(t.utils.data.DataLoader(dataset(t, error, __len__=raising(error)), 2))


@place
def collate(t, error):
    return list(t.utils.data.DataLoader([1, 2, 3], 2, collate_fn=raising(error)))


@place
def sampler_iter(t, error):
    own = type("Own", (t.utils.data.Sampler,), {"__init__": lambda self: None, "__iter__": raising(error)})()
    return list(t.utils.data.DataLoader([1, 2, 3], 2, sampler=own))


@place
def sampler_middle(t, error):
    def numbers(self):
        yield 0
        raise error

    own = type("Own", (t.utils.data.Sampler,), {"__init__": lambda self: None, "__iter__": numbers})()
    return list(t.utils.data.DataLoader([1, 2, 3], 1, sampler=own))


@place
def batch_sampler(t, error):
    own = type("Own", (), {"__len__": lambda self: 2, "__iter__": raising(error)})()
    return list(t.utils.data.DataLoader([1, 2, 3], batch_sampler=own))


@place
def iterable(t, error):
    own = type("Own", (t.utils.data.IterableDataset,), {"__iter__": raising(error)})()
    return list(t.utils.data.DataLoader(own, 2))


@place
def iterable_next(t, error):
    iterator = type("It", (), {"__iter__": lambda self: self, "__next__": raising(error)})()
    own = type("Own", (t.utils.data.IterableDataset,), {"__iter__": lambda self: iterator})()
    return list(t.utils.data.DataLoader(own, 2))


@place
def chain(t, error):
    own = type("Own", (t.utils.data.IterableDataset,), {"__iter__": raising(error)})()
    return list(own + own)


@place
def schedule(t, error):
    t.optim.lr_scheduler.LambdaLR(optimizer(t), raising(error))


@place
def schedule_later(t, error):
    schedule = t.optim.lr_scheduler.MultiplicativeLR(optimizer(t), raising(error))
    schedule.step()


@place
def schedule_own(t, error):
    type("Own", (t.optim.lr_scheduler.LRScheduler,), {"get_lr": raising(error)})(optimizer(t))


def optimizer(t, kind="SGD"):
    return getattr(t.optim, kind)([t.nn.Parameter(t.ones(2))], lr=0.1)


@place
def closure(t, error):
    optimizer(t).step(raising(error))


@place
def closure_lbfgs(t, error):
    optimizer(t, "LBFGS").step(raising(error))


@place
def parameters(t, error):
    def given():
        yield t.nn.Parameter(t.ones(2))
        raise error

    t.optim.Adam(given())


@place
def optimizer_hook(t, error):
    opt = optimizer(t)
    opt.register_step_pre_hook(raising(error))
    opt.step()


@place
def optimizer_own(t, error):
    opt = type("Own", (t.optim.Optimizer,), {"step": raising(error)})([t.nn.Parameter(t.ones(2))], {})
    opt.step()


@place
def forward(t, error):
    t.nn.Sequential(t.nn.Linear(2, 2), type("Own", (t.nn.Module,), {"forward": raising(error)})())(t.ones(2))


@place
def forward_hook(t, error):
    layer = t.nn.Linear(2, 2)
    layer.register_forward_hook(raising(error))
    layer(t.ones(2))


@place
def forward_pre_hook(t, error):
    layer = t.nn.Linear(2, 2)
    layer.register_forward_pre_hook(raising(error))
    layer(t.ones(2))


@place
def state_hook(t, error):
    layer = t.nn.Linear(2, 2)
    layer.register_state_dict_post_hook(raising(error))
    layer.state_dict()


@place
def load_hook(t, error):
    layer = t.nn.Linear(2, 2)
    layer.register_load_state_dict_pre_hook(raising(error))
    layer.load_state_dict(layer.state_dict())


@place
def apply_to_modules(t, error):
    t.nn.Linear(2, 2).apply(raising(error))


@place
def apply_to_tensors(t, error):
    t.nn.Linear(2, 2)._apply(raising(error))


@place
def module_attribute(t, error):
    getattr(type("Own", (t.nn.Module,), {"__getattr__": raising(error)})(), "absent")  # noqa: B009


@place
def layers_of_a_list(t, error):
    t.nn.ModuleList(sequence(error))


@place
def container_index(t, error):
    t.nn.ModuleList([t.nn.Linear(1, 1)])[type("Own", (), {"__index__": raising(error)})()]


@place
def parametrization(t, error):
    own = type("Own", (t.nn.Module,), {"forward": raising(error)})()
    t.nn.utils.parametrize.register_parametrization(t.nn.Linear(2, 2), "weight", own)


@place
def checkpoint(t, error):
    t.utils.checkpoint.checkpoint(raising(error), t.ones(2, requires_grad=True), use_reentrant=False)


@place
def function_forward(t, error):
    type("Own", (t.autograd.Function,), {"forward": staticmethod(raising(error))}).apply(t.ones(2, requires_grad=True))


@place
def tensor_hook(t, error):
    x = t.ones(2, requires_grad=True)
    x.register_hook(raising(error))
    (x * 2).sum().backward()


@place
def backward_hook(t, error):
    layer = t.nn.Linear(2, 2)
    layer.register_full_backward_hook(raising(error))
    layer(t.ones(2)).sum().backward()


@place
def function_backward(t, error):
    members = {"forward": staticmethod(lambda ctx, x: x * 2), "backward": staticmethod(raising(error))}
    type("Own", (t.autograd.Function,), members).apply(t.ones(2, requires_grad=True)).sum().backward()


@place
def jacobian(t, error):
    t.autograd.functional.jacobian(raising(error), t.ones(2))


@place
def func_grad(t, error):
    t.func.grad(raising(error))(t.ones(2))


@place
def func_vmap(t, error):
    t.func.vmap(raising(error))(t.ones(2))


@place
def gradcheck(t, error):
    t.autograd.gradcheck(raising(error), (t.ones(2, dtype=t.float64, requires_grad=True),))


@place
def index_of_a_tensor(t, error):
    t.ones(3)[type("Own", (), {"__index__": raising(error)})()]


@place
def distance(t, error):
    x = t.ones(2, 2)
    t.nn.functional.triplet_margin_with_distance_loss(x, x, x, distance_function=raising(error))


@place
def other_operand(t, error):
    t.ones(2) + type("Own", (), {"__radd__": raising(error)})()


@place
def saved_object(t, error):
    t.save(type("Own", (), {"__reduce__": raising(error)})(), io.BytesIO())


@place
def copied(t, error):
    copy.deepcopy(type("Own", (t.nn.Module,), {"__deepcopy__": raising(error)})())


@place
def norm_of_parameters(t, error):
    def given():
        yield t.nn.Parameter(t.ones(2))
        raise error

    t.nn.utils.clip_grad_norm_(given(), 1.0)


@place
def averaged(t, error):
    model = t.optim.swa_utils.AveragedModel(t.nn.Linear(1, 1), avg_fn=raising(error))
    model.update_parameters(t.nn.Linear(1, 1))
    model.update_parameters(t.nn.Linear(1, 1))


@place
def bucket_of_losses(t, error):
    t.nn.TripletMarginWithDistanceLoss(distance_function=raising(error))(t.ones(2, 2), t.ones(2, 2), t.ones(2, 2))


@place
def activation_of_a_layer(t, error):
    layer = t.nn.TransformerEncoderLayer(4, 2, 4, activation=raising(error), batch_first=True)
    layer(t.ones(1, 2, 4))


NAMED = {("saved_object", "TypeError")}  # badak says where in what is saved the value stands, in a class of its own


def outcome(library, run, kind):
    """(the program's exception, what came out of the call)."""
    error = kind()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return error, run(library, error)
    except BaseException as caught:
        return error, caught


def builtin(error) -> type:
    return next(each for each in type(error).__mro__ if each.__module__ == "builtins")


@looped(kind=KINDS)
@pytest.mark.parametrize("name", PLACES)
def test_an_exception_of_the_program_comes_out_as_in_pytorch(name, kind):
    raised, ours = outcome(badak, PLACES[name], kind)
    theirs_raised, theirs = outcome(torch, PLACES[name], kind)
    if isinstance(theirs, BaseException) and (theirs is not theirs_raised or (name, type(raised).__name__) in NAMED):
        assert ours is raised or isinstance(ours, builtin(theirs))
    elif isinstance(theirs, BaseException):
        assert ours is raised
    else:
        assert ours == theirs
