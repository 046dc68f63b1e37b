"""Tables with sparse=True: their gradients, and the optimizers that take them, as PyTorch's."""

import copy

import numpy as np
import pytest
import torch

import badak

pytestmark = pytest.mark.filterwarnings("ignore")
LIBRARIES = (badak, torch)
MADE = {
    "SGD": lambda lib, p: lib.optim.SGD(p, lr=0.1),
    "SGD maximize": lambda lib, p: lib.optim.SGD(p, lr=0.1, maximize=True),
    "momentum": lambda lib, p: lib.optim.SGD(p, lr=0.1, momentum=0.9),
    "dampening": lambda lib, p: lib.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.3),
    "Nesterov": lambda lib, p: lib.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adagrad": lambda lib, p: lib.optim.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.2),
    "SparseAdam": lambda lib, p: lib.optim.SparseAdam(p, lr=0.1),
    "SparseAdam betas": lambda lib, p: lib.optim.SparseAdam(p, lr=0.01, betas=(0.5, 0.8), eps=1e-3, maximize=True),
}


def table(lib, **options):
    values = np.random.default_rng(0).standard_normal((12, 3)).astype(np.float32)
    kind = lib.nn.EmbeddingBag if "mode" in options else lib.nn.Embedding
    return kind(12, 3, sparse=True, _weight=lib.tensor(values.tolist()), **options)


def trained(lib, make, **options):
    """The table after five steps on other rows each, and what its optimizer remembers."""
    model = table(lib, **options)
    optimizer = make(lib, list(model.parameters()))
    draw = np.random.default_rng(1)
    for _ in range(5):
        optimizer.zero_grad()
        ids = lib.tensor(draw.integers(0, 12, (2, 4)).tolist())
        ((model(ids) - 0.3) ** 2).sum().backward()
        optimizer.step()
    memory = {name: x.to_dense().tolist() for name, x in optimizer.state[model.weight].items() if isinstance(x, lib.Tensor)}
    memory.pop("step", None)
    return model.weight.detach().numpy(), memory


@pytest.mark.parametrize("options", ({}, {"padding_idx": 3}, {"mode": "sum"}, {"mode": "mean"}), ids=str)
@pytest.mark.parametrize("name", MADE)
def test_training_is_pytorchs(name, options):
    (ours, memory), (theirs, their_memory) = (trained(lib, MADE[name], **options) for lib in LIBRARIES)
    assert np.abs(ours - theirs).max() < 2e-6
    assert memory.keys() == their_memory.keys()
    for key in memory:
        np.testing.assert_allclose(memory[key], their_memory[key], rtol=2e-6, atol=2e-6)


def test_the_gradient_names_the_rows_that_were_used():
    found = []
    for lib in LIBRARIES:
        model = table(lib, padding_idx=5)
        model(lib.tensor([[1, 5], [7, 1]])).sum().backward()
        once = copy.deepcopy(model.weight.grad)
        model(lib.tensor([2])).sum().backward()
        found.append([repr(once), repr(model.weight.grad.coalesce()), str(model.weight.grad.is_sparse)])
    assert [each.replace("badak.", "torch.") for each in found[0]] == found[1]


def test_a_copy_of_a_leaf_has_its_gradient():
    w = badak.ones(4, 3, requires_grad=True)
    badak.nn.functional.embedding(badak.tensor([1, 1]), w, sparse=True).sum().backward()
    twin = copy.deepcopy(w)
    w.grad.zero_()
    assert twin.grad.is_sparse and twin.grad.to_dense().sum().item() == 6


def test_one_gradient_of_each_kind_adds_up():
    found = []
    for lib in LIBRARIES:
        for order in (0, 1):
            model = table(lib)
            losses = [model(lib.tensor([1, 1])).sum(), (model.weight * 2).sum()]
            losses[order].backward()
            losses[1 - order].backward()
            (model(lib.tensor([3])).sum() + (model.weight**2).sum()).backward()
            found.append([model.weight.grad.is_sparse, model.weight.grad.to_dense().tolist()])
    assert found[:2] == found[2:]


def test_hooks_and_grad_see_a_sparse_gradient():
    found = []
    for lib in LIBRARIES:
        model, seen = table(lib), []
        model.weight.register_hook(lambda g, seen=seen: seen.append(g.is_sparse) or g * 2)
        model.weight.register_post_accumulate_grad_hook(lambda p, seen=seen: seen.append(p.grad.is_sparse))
        model(lib.tensor([1, 4])).sum().backward()
        (dw,) = lib.autograd.grad((model(lib.tensor([1])) ** 2).sum(), model.weight)
        found.append([*seen, model.weight.grad.is_sparse, model.weight.grad.to_dense().tolist(), dw.is_sparse])
    assert found[0] == found[1]


def test_a_table_that_is_no_leaf_gets_a_dense_gradient():
    w = badak.ones(4, 2, requires_grad=True)
    badak.nn.functional.embedding(badak.tensor([1, 1]), w * 3, sparse=True).sum().backward()
    assert not w.grad.is_sparse and w.grad.tolist() == [[0, 0], [6, 6], [0, 0], [0, 0]]


@pytest.mark.parametrize("kernels", ("reference", "numba"))
def test_a_compiled_step_trains_the_same_table(kernels):
    found = []
    with badak.kernels.use(kernels):
        for compiled in (False, True):
            model = table(badak)
            optimizer = badak.optim.SGD(model.parameters(), lr=0.1)

            def step(ids, model=model, optimizer=optimizer):
                optimizer.zero_grad()
                (model(ids) ** 2).sum().backward()
                optimizer.step()

            run = badak.compile(step) if compiled else step
            for first in range(6):
                run(badak.tensor([first, first, 3]))
            found.append(model.weight.tolist())
    assert found[0] == found[1]


def test_what_takes_no_sparse_gradient_says_so():
    for name in ("Adam", "AdamW", "RMSprop", "Adadelta", "NAdam", "LBFGS"):
        model = table(badak)
        model(badak.tensor([1])).sum().backward()
        optimizer = getattr(badak.optim, name)(model.parameters(), lr=0.1)
        with pytest.raises(badak.core.errors.NotSupportedError, match="sparse.*\nfix: "):
            optimizer.step(*[lambda model=model: model.weight.sum()] * (name == "LBFGS"))
    dense = badak.nn.Linear(2, 2)
    dense(badak.ones(2)).sum().backward()
    for wrong in (
        lambda: badak.optim.SparseAdam(dense.parameters()).step(),
        lambda: badak.optim.SparseAdam(dense.parameters(), lr=0),
        lambda: badak.optim.SparseAdam(dense.parameters(), betas=(1, 0.5)),
        lambda: badak.optim.SparseAdam(dense.parameters(), eps="x"),
        lambda: badak.optim.SparseAdam([badak.eye(2).to_sparse()]),
        lambda: badak.optim.SGD(model.parameters(), weight_decay=0.1).step(),
        lambda: badak.optim.Adagrad(model.parameters(), weight_decay=0.1).step(),
        lambda: badak.nn.EmbeddingBag(3, 2, mode="max", sparse=True)(badak.tensor([[1]])),
        lambda: badak.nn.Embedding(3, 2, sparse=True, scale_grad_by_freq=True)(badak.tensor([1])).sum().backward(),
        lambda: badak.nn.utils.clip_grad_norm_(model.parameters(), 1.0),
    ):
        with pytest.raises(badak.core.errors.BadakError, match="\nfix: "):
            wrong()


def test_states_travel():
    model = table(torch)
    optimizer = torch.optim.SparseAdam(list(model.parameters()))
    model(torch.tensor([1, 2])).sum().backward()
    optimizer.step()
    ours = table(badak)
    mine = badak.optim.SparseAdam(list(ours.parameters()))
    state = optimizer.state_dict()
    state["state"] = {
        k: {n: badak.tensor(x.tolist()) if hasattr(x, "tolist") else x for n, x in v.items()} for k, v in state["state"].items()
    }
    mine.load_state_dict(state)
    for lib, m, o in ((badak, ours, mine), (torch, model, optimizer)):
        o.zero_grad()
        m(lib.tensor([2, 3])).sum().backward()
        o.step()
    at = [2, 3]
    ours_moved, theirs_moved = ours.weight.detach().numpy()[at], model.weight.detach().numpy()[at]
    assert np.abs(ours_moved[1] - theirs_moved[1]).max() < 1e-6 and mine.state[ours.weight]["step"] == 2
