"""Pruning, orthogonal and spectrally normalised weights, stateless calls and cyclic learning rates, as PyTorch has them."""

import numpy as np
import pytest
import torch
import torch.nn.utils.prune
import torch.nn.utils.stateless

import badak

BOTH = (badak, torch)


def arrays(module):
    """What a module holds, by name."""
    return {name: np.array(value.detach().tolist()) for name, value in module.state_dict().items()}


def same(told, tolerance=2e-6):
    """Whether both packages told the same."""
    mine, theirs = told
    assert list(mine) == list(theirs)
    for name in mine:
        np.testing.assert_allclose(mine[name], theirs[name], atol=tolerance, rtol=tolerance, err_msg=name)


PRUNED = {
    "l1": lambda p, m: p.l1_unstructured(m, "weight", 0.4),
    "l1 count": lambda p, m: p.l1_unstructured(m, "bias", 2),
    "random": lambda p, m: p.random_unstructured(m, "weight", 0.3),
    "channels": lambda p, m: p.ln_structured(m, "weight", 0.5, n=2, dim=0),
    "channels of columns": lambda p, m: p.ln_structured(m, "weight", 2, n=float("inf"), dim=-1),
    "random channels": lambda p, m: p.random_structured(m, "weight", 2, dim=1),
    "identity": lambda p, m: p.identity(m, "weight"),
    "twice": lambda p, m: p.random_unstructured(p.l1_unstructured(m, "weight", 0.4), "weight", 3),
    "channels, then entries": lambda p, m: p.l1_unstructured(p.ln_structured(m, "weight", 0.4, 1, 0), "weight", 0.5),
    "channels twice": lambda p, m: p.ln_structured(p.ln_structured(m, "weight", 1, 2, 0), "weight", 1, 2, 0),
}


@pytest.mark.parametrize("name", PRUNED)
def test_pruning(name):
    told, rest = [], []
    for package in BOTH:
        prune = package.nn.utils.prune
        package.manual_seed(3)
        m = package.nn.Linear(6, 5)
        PRUNED[name](prune, m)
        x = package.ones(2, 6)
        (m(x) ** 2).sum().backward()
        with package.no_grad():
            for p in m.parameters():
                p -= 0.1 * p.grad
        told.append(arrays(m) | {"out": np.array(m(x).tolist())})
        assert prune.is_pruned(m)
        for parameter in {key.partition("_")[0] for key in m.state_dict() if key.endswith("_mask")}:
            prune.remove(m, parameter)
        assert not prune.is_pruned(m) and sorted(dict(m.named_parameters())) == ["bias", "weight"]
        rest.append(arrays(m) | {"out": np.array(m(x).tolist())})
    same(told)
    same(rest)


def test_pruning_of_a_whole_model_and_by_a_mask():
    told = []
    for package in BOTH:
        prune = package.nn.utils.prune
        package.manual_seed(1)
        m = package.nn.Sequential(package.nn.Linear(4, 5), package.nn.ReLU(), package.nn.Linear(5, 3))
        pairs = [(m[0], "weight"), (m[2], "weight"), (m[2], "bias")]
        prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=0.3)
        prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=4)
        prune.custom_from_mask(m[0], "bias", mask=package.tensor([1, 0, 1, 1, 0]))
        told.append(arrays(m) | {"pruned": np.array(prune.L1Unstructured(2).prune(package.tensor([3.0, -1.0, 2.0])).tolist())})
    same(told)


MISTAKES = {
    "too much": (ValueError, lambda p, m: p.l1_unstructured(m, "weight", 1.5)),
    "no number": (TypeError, lambda p, m: p.l1_unstructured(m, "weight", "a")),
    "more than there is": (ValueError, lambda p, m: p.l1_unstructured(m, "weight", 100)),
    "no channels": (ValueError, lambda p, m: p.ln_structured(m, "bias", 1, 2, 0)),
    "not pruned": (ValueError, lambda p, m: p.remove(m, "weight")),
    "not of all": (TypeError, lambda p, m: p.global_unstructured([(m, "weight")], p.LnStructured, amount=1, n=2)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_cannot_be_pruned(name):
    kind, call = MISTAKES[name]
    for package in BOTH:
        m = package.nn.Linear(3, 2)
        with pytest.raises(kind):
            call(package.nn.utils.prune, m)
        assert sorted(dict(m.named_parameters())) == ["bias", "weight"]


@pytest.mark.parametrize("orthogonal_map", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
def test_orthogonal_weights(shape, orthogonal_map):
    told = []
    for package in BOTH:
        package.manual_seed(2)
        m = package.nn.utils.parametrizations.orthogonal(package.nn.Linear(*shape), orthogonal_map=orthogonal_map)
        m.weight.sum().backward() if shape == (4, 4) else (m.weight**3).sum().backward()
        start = np.array(m.weight.tolist())
        with package.no_grad():
            for p in m.parameters():
                p -= 0.1 * (p.grad if p.grad is not None else 0)
        w = np.array(m.weight.tolist())
        tall = w if w.shape[0] >= w.shape[1] else w.T
        np.testing.assert_allclose(tall.T @ tall, np.eye(tall.shape[1]), atol=1e-5)
        told.append(arrays(m) | {"start": start, "weight": w})
    if shape[0] == shape[1]:
        same(told, 2e-5)  # the extra columns of others are drawn
    else:
        np.testing.assert_allclose(told[0]["start"], told[1]["start"], atol=1e-5)


def test_orthogonal_weights_without_a_base():
    told = []
    for package in BOTH:
        package.manual_seed(2)
        orthogonal = package.nn.utils.parametrizations.orthogonal
        m = orthogonal(package.nn.Linear(3, 5), orthogonal_map="householder", use_trivialization=False)
        told.append(arrays(m) | {"weight": np.array(m.weight.tolist())})
        fixed = orthogonal(package.nn.Linear(3, 3), orthogonal_map="cayley", use_trivialization=False)
        with pytest.raises(NotImplementedError):
            fixed.weight = package.eye(3)
        with pytest.raises(ValueError):
            orthogonal(package.nn.Linear(3, 3), orthogonal_map="other")
    same(told, 2e-5)


@pytest.mark.parametrize("name, sizes", [("Linear", (4, 3)), ("Conv2d", (2, 3, 3)), ("ConvTranspose2d", (2, 3, 3))])
def test_the_older_spectral_norm(name, sizes):
    told = []
    for package in BOTH:
        package.manual_seed(5)
        m = package.nn.utils.spectral_norm(getattr(package.nn, name)(*sizes))
        x = package.ones(2, 4) if hasattr(m, "in_features") else package.ones(2, 2, 5, 5)
        facts = {}
        for step in range(3):
            y = m(x)
            (y**2).sum().backward()
            facts |= {f"out{step}": np.array(y.tolist()), f"grad{step}": np.array(m.weight_orig.grad.tolist())}
        m.eval()
        facts["eval"] = np.array(m(x).tolist())
        told.append(arrays(m) | facts)
        package.nn.utils.remove_spectral_norm(m)
        assert isinstance(m.weight, package.nn.Parameter) and sorted(m.state_dict()) == ["bias", "weight"]
    same([{name: told[i][name] for name in sorted(told[i])} for i in (0, 1)], 1e-4)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_stateless_call():
    for package in BOTH:
        m = package.nn.Linear(2, 2)
        found = package.nn.utils.stateless.functional_call(
            m, {"weight": package.eye(2), "bias": package.ones(2)}, (package.ones(1, 2),)
        )
        assert found.tolist() == [[2.0, 2.0]]


CYCLES = [
    dict(base_lr=0.1, max_lr=1.0, step_size_up=3),
    dict(base_lr=0.1, max_lr=1.0, step_size_up=2, step_size_down=5, mode="triangular2"),
    dict(base_lr=[0.1, 0.2], max_lr=[1.0, 3.0], step_size_up=4, mode="exp_range", gamma=0.9),
    dict(base_lr=0.1, max_lr=1.0, step_size_up=3, scale_fn=lambda x: 1 / (x + 1), scale_mode="iterations", base_momentum=0.7),
    dict(base_lr=0.1, max_lr=1.0, step_size_up=3, cycle_momentum=False),
]


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("options", CYCLES)
def test_cyclic_rates(options, kind):
    told = []
    for package in BOTH:
        groups = [{"params": [package.nn.Parameter(package.ones(1))]} for _ in range(2)]
        for group in groups:
            group["params"][0].grad = package.zeros(1)
        optimizer = getattr(package.optim, kind)(groups, lr=0.5, **({"momentum": 0.9} if kind == "SGD" else {}))
        schedule = package.optim.lr_scheduler.CyclicLR(optimizer, **options)
        rows = []
        for step in range(20):
            rows.append([(g["lr"], g.get("momentum", g.get("betas"))) for g in optimizer.param_groups])
            optimizer.step()
            schedule.step()
            if step == 7:
                state = schedule.state_dict()
                schedule = package.optim.lr_scheduler.CyclicLR(optimizer, **options)
                schedule.load_state_dict(state)
        told.append(str(np.round([np.hstack([np.hstack(part) for part in row]) for row in rows], 10).tolist()))
    assert told[0] == told[1]
    for package in BOTH:
        plain = package.optim.SGD([package.nn.Parameter(package.ones(1))], lr=0.1)
        with pytest.raises(ValueError):
            package.optim.lr_scheduler.CyclicLR(plain, 0.1, 1.0, mode="other")
