"""What PyTorch's authors give their layers and optimizers to refuse is refused here, with the same kind of exception."""

import warnings

import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests.torch_samples.exchange import Exchange, NotOurs

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow


def layers():
    """(name, what to do, the error) for each wrong use of a layer."""
    from torch.testing._internal.common_modules import ModuleErrorEnum, module_db

    for info in module_db:
        if not info.module_error_inputs_func or not hasattr(badak.nn, info.module_cls.__name__):
            continue
        for training in (True, False):
            for error in info.module_error_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
            ):
                given = error.module_error_input

                def use(info=info, error=error, given=given):
                    named = {k: v for k, v in given.constructor_input.kwargs.items() if k != "device"}
                    layer = getattr(badak.nn, info.module_cls.__name__)
                    made = layer(*Exchange()(given.constructor_input.args), **Exchange()(named))
                    if error.error_on != ModuleErrorEnum.CONSTRUCTION_ERROR:
                        made(*Exchange()(given.forward_input.args), **Exchange()(given.forward_input.kwargs))

                yield f"{info.name} {given.desc}", use, error


def optimizers():
    """The same for optimizers; what is given is the same parameter wherever it is in PyTorch."""
    from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db

    for info in optim_db:
        if not info.optim_error_inputs_func or not hasattr(badak.optim, info.optim_cls.__name__):
            continue
        for error in info.optim_error_inputs_func("cpu", torch.float32):
            given = error.optimizer_error_input

            def use(info=info, error=error, given=given):
                params = _as_badak(given.params, {})
                made = getattr(badak.optim, info.optim_cls.__name__)(params, **Exchange()(given.kwargs))
                if error.error_on != OptimizerErrorEnum.CONSTRUCTION_ERROR:
                    made.step()

            yield f"{info.name} {given.desc}", use, error


def _as_badak(x, known: dict):
    if isinstance(x, torch.Tensor):
        if id(x) not in known:
            made = badak.from_numpy(x.detach().to_dense().numpy().copy())
            made = made.to_sparse() if x.is_sparse else made
            known[id(x)] = badak.nn.Parameter(made) if isinstance(x, torch.nn.Parameter) else made
            if x.grad is not None:
                known[id(x)].grad = badak.from_numpy(x.grad.numpy().copy())
        return known[id(x)]
    if isinstance(x, list | tuple):
        return type(x)(_as_badak(part, known) for part in x)
    return {k: _as_badak(v, known) for k, v in x.items()} if isinstance(x, dict) else x


@pytest.mark.parametrize("uses", [layers, optimizers])
def test_what_pytorch_refuses_is_refused_with_the_same_kind_of_exception(uses):
    wrong, refused = [], 0
    for name, use, error in uses():
        with warnings.catch_warnings():
            warnings.simplefilter("error" if issubclass(error.error_type, Warning) else "ignore")
            try:
                use()
                wrong.append(f"{name}: taken; PyTorch says {error.error_regex}")
            except NotOurs:
                continue
            except BadakError as problem:
                refused += 1
                if not isinstance(problem, error.error_type) or problem.fix is None and "\n" in str(problem):
                    wrong.append(f"{name}: {type(problem).__name__}, not {error.error_type.__name__}")
            except Exception as problem:
                if isinstance(problem, error.error_type) and isinstance(problem, Warning):
                    refused += 1
                else:
                    wrong.append(f"{name}: foreign {type(problem).__name__}: {problem}")
    assert not wrong, "\n".join(wrong)
    assert refused > 50
