"""Pruning: entries of a parameter set to 0 by a mask, which stays in force while `<name>_orig` is trained.

    module.<name> = module.<name>_orig * module.<name>_mask, again before each forward; the mask is a buffer

`amount`: a share of the entries (0.0 to 1.0), or how many. `importance_scores`: by which entries are chosen;
by default their values.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, expect_kind, tr
from badak.nn.module import Module
from badak.nn.utils.parametrize import weight_of
from badak.tensor import Tensor, concat, ones_like, rand, rand_like, zeros_like


class BasePruningMethod(ABC):
    """A way to choose entries: `compute_mask(t, default_mask)`. PRUNING_TYPE: "unstructured", "structured" or "global"."""

    _tensor_name: str
    PRUNING_TYPE = "unstructured"

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """default_mask with more zeros, chosen by the scores t."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter with its mask."""
        mask = getattr(module, self._tensor_name + "_mask")
        return mask.to(dtype=getattr(module, self._tensor_name + "_orig").dtype) * getattr(module, self._tensor_name + "_orig")

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any) -> Any:
        """Prune module.<name>; a second time on top of the first."""
        before = _method_of(module, name)
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        if before is not None:
            if isinstance(before, PruningContainer):
                before.add_pruning_method(method)
                method = before
            else:
                method = PruningContainer(before, method)
        orig = weight_of("prune", module, name)
        scores = orig if importance_scores is None else importance_scores
        if scores.shape != orig.shape:
            cause = tr("importance_scores should have the same shape as parameter {} of {}", name, module)
            raise ArgumentError(cause, tr("shape {}", tuple(orig.shape)))
        if before is None:
            module.register_parameter(name + "_orig", module._parameters.pop(name))
            default = ones_like(orig)
        else:
            default = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(scores, default)
        except Exception:
            if before is None:
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            raise
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        _drop_hook(module, name)
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """t with its mask, without any module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise ArgumentError("importance_scores should have the same shape as tensor t", tr("shape {}", tuple(t.shape)))
        return t * self.compute_mask(scores, ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Make module.<name> a parameter again, with its zeros."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if name in module.__dict__:
            delattr(module, name)
        orig = module._parameters.pop(name + "_orig")
        assert orig is not None
        orig.data = weight.data
        del module._buffers[name + "_mask"]
        module.register_parameter(name, orig)


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other, each on what those before have left."""

    def __init__(self, *args: Any) -> None:
        methods = tuple(args[0]) if len(args) == 1 and isinstance(args[0], Iterable) else args
        self._pruning_methods: tuple = ()
        if methods:
            self._tensor_name = methods[0]._tensor_name
        for method in methods:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """One more, for the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise ArgumentTypeError(tr("{} is not a BasePruningMethod subclass", type(method)), "L1Unstructured(amount=0.3)")
        if method is not None and method._tensor_name != self._tensor_name:
            cause = tr("Can only add pruning methods acting on the parameter named '{}' to PruningContainer {}. Found '{}'",
                       self._tensor_name, self, method._tensor_name)  # fmt: skip
            raise ArgumentError(cause, f"_tensor_name = '{self._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, at: Any) -> Any:
        return self._pruning_methods[at]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method, on the entries that are left."""
        method, mask = self._pruning_methods[-1], default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            at: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            n = t.dim()
            dim = method.dim + n if method.dim < 0 else method.dim
            kept = mask.sum([d for d in range(n) if d != dim]) != 0
            at = [slice(None)] * n
            at[dim] = kept
            at = tuple(at)
        elif method.PRUNING_TYPE == "global":
            at = (slice(None),) * t.dim()
        else:
            raise ArgumentError(tr("Unrecognized PRUNING_TYPE {}", method.PRUNING_TYPE), '"unstructured", "structured" or "global"')
        found = method.compute_mask(t[at], default_mask=mask[at])
        whole = mask.clone()
        whole[at] = found.to(dtype=mask.dtype)
        return whole


class Identity(BasePruningMethod):
    """Nothing is pruned; the mask of ones is there."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> "Identity":  # type: ignore[override]
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Entries drawn at random."""

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without(default_mask, self.amount, t.nelement(), lambda k: rand_like(t).view(-1).topk(k).indices)

    @classmethod
    def apply(cls, module: Module, name: str, amount: float) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """The entries of the smallest size."""

    def __init__(self, amount: float | str) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without(default_mask, self.amount, t.nelement(), lambda k: t.abs().view(-1).topk(k, largest=False).indices)

    @classmethod
    def apply(cls, module: Module, name: str, amount: float | str, importance_scores: Any = None) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _without(default_mask: Tensor, amount: Any, size: int, chosen: Callable) -> Tensor:
    count = _compute_nparams_toprune(amount, size)
    _validate_pruning_amount(count, size)
    mask = default_mask.clone()
    if count:
        mask.view(-1)[chosen(count)] = 0
    return mask


class _Channels(BasePruningMethod):
    """Whole channels, those along `dim`."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    @abstractmethod
    def _kept(self, t: Tensor, count: int, pruned: int) -> Tensor:
        """Which channels stay."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() <= 1:
            cause = tr("Structured pruning can only be applied to a multidimensional tensor. Found tensor of shape {} with {} dims",
                       tuple(t.shape), t.dim())  # fmt: skip
            raise ArgumentError(cause, "l1_unstructured")
        if not -t.dim() <= self.dim < t.dim():
            raise ArgumentError(tr("Invalid index {} for tensor of size {}", self.dim, tuple(t.shape)), "dim=0")
        count = t.shape[self.dim]
        pruned = _compute_nparams_toprune(self.amount, count)
        _validate_pruning_amount(pruned, count)
        if pruned == 0:
            return default_mask
        mask = zeros_like(t)
        at: list = [slice(None)] * t.dim()
        at[self.dim] = self._kept(t, count, pruned)
        mask[tuple(at)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Channels):
    """Channels drawn at random."""

    def _kept(self, t, count, pruned):
        drawn = rand(count)
        return drawn > drawn.kthvalue(pruned).values

    @classmethod
    def apply(cls, module: Module, name: str, amount: int, dim: int = -1) -> "RandomStructured":  # type: ignore[override]
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Channels):
    """The channels of the smallest n-norm."""

    def __init__(self, amount: float, n: float, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t, count, pruned):
        return _compute_norm(t, self.n, self.dim).topk(count - pruned, largest=True).indices

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, n: float, dim: int, importance_scores: Any = None) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """The entries where a mask is 0."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Any:  # type: ignore[override]
        return super().apply(module, name, mask=mask)


def identity(module: Module, name: str) -> Module:
    """A mask of ones on module.<name>."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune entries at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float | str, importance_scores: Tensor | None = None) -> Module:
    """Prune the smallest entries."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: int, dim: int) -> Module:
    """Prune channels at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: float, dim: int, importance_scores: Tensor | None = None) -> Module:
    """Prune the channels of the smallest n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune where a mask is 0."""
    expect_kind(mask, Tensor, "custom_from_mask: expected a tensor as the mask; got {}", "badak.tensor(mask)")
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: list, pruning_method: type[BasePruningMethod], importance_scores: dict | None = None, **kwargs: Any
) -> None:
    """Prune several parameters, (module, name) each, as if they were one vector."""
    if not isinstance(parameters, Iterable):
        raise ArgumentTypeError("global_unstructured(): parameters is not an Iterable", "a list of (module, name)")
    pairs, scores = list(parameters), importance_scores or {}
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], Module)):
            cause = tr("global_unstructured: expected (module, name) pairs; got {}", type(pair).__name__)
            raise ArgumentTypeError(cause, "[(layer, 'weight')]")
    relevant = [scores.get((module, name), weight_of("prune", module, name)) for module, name in pairs]
    found = [getattr(module, name + "_mask", None) for module, name in pairs]
    masks = [ones_like(getattr(module, name)) if mask is None else mask for (module, name), mask in zip(pairs, found)]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        cause = tr('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {} of type {}',
                   pruning_method, method.PRUNING_TYPE)  # fmt: skip
        raise ArgumentTypeError(cause, "L1Unstructured")
    whole = container.compute_mask(concat([x.reshape(-1) for x in relevant]), concat([mask.reshape(-1) for mask in masks]))
    sizes = [getattr(module, name).numel() for module, name in pairs]
    for (module, name), part in zip(pairs, whole.split(sizes)):
        custom_from_mask(module, name, mask=part.view_as(getattr(module, name)))


def remove(module: Module, name: str) -> Module:
    """Make module.<name> a parameter again, with its zeros; ArgumentError where it was not pruned."""
    method = _method_of(module, name)
    if method is None:
        cause = tr("Parameter '{}' of module {} has to be pruned before pruning can be removed", name, module)
        raise ArgumentError(cause, "l1_unstructured")
    method.remove(module)
    _drop_hook(module, name)
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of it, or of a module in it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for each in module.modules() for hook in each._forward_pre_hooks.values())


def _method_of(module: Module, name: str) -> BasePruningMethod | None:
    hooks = module._forward_pre_hooks.values()
    return next((hook for hook in hooks if isinstance(hook, BasePruningMethod) and hook._tensor_name == name), None)


def _drop_hook(module: Module, name: str) -> None:
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            del module._forward_pre_hooks[key]


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise ArgumentTypeError(tr("Invalid type for amount: {}. Must be int or float.", amount), "amount=0.3")
    whole = isinstance(amount, numbers.Integral)
    if (whole and amount < 0) or (not whole and not 0.0 <= float(amount) <= 1.0):
        cause = tr("amount={} should either be a float in the range [0.0, 1.0] or a non-negative integer", amount)
        raise ArgumentError(cause, "amount=0.3")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        cause = tr("amount={} should be smaller than the number of parameters to prune={}", amount, tensor_size)
        raise ArgumentError(cause, tr("at most {}", tensor_size))


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    dims = [d for d in range(t.dim()) if d != (dim + t.dim() if dim < 0 else dim)]
    return t.norm(p=n, dim=dims)
