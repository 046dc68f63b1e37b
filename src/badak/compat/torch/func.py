"""`torch.func`: functions of functions. What they give can be differentiated again, by themselves or by `backward`."""

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from badak.autograd import enable_grad
from badak.autograd import grad as gradients
from badak.autograd.node import Leaf
from badak.compat.torch.pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten
from badak.core.errors import ArgumentError, IndexOutOfRangeError
from badak.core.public_api import door as _door
from badak.nn.module import Module
from badak.tensor import Tensor, stack, zeros_like

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


# ---------------------------------------------------------------------- a batch


def vmap(func: Callable, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None):
    """func for tensors with a further dim: every tensor is taken apart at its dim, the results are stacked at out_dims.

        vmap(f)(x, y)[i] = f(x[i], y[i])

    in_dims: an int for all arguments or a tuple with an int or None (the same for every i) for each, where a tuple or dict
    may follow the argument's own; keyword arguments are the same for every i. Gradients flow through.
    Parity: PyTorch runs func once on the whole batch; here it runs once for each i, so a loop is what it costs. Random
    numbers differ from one i to the next, as with randomness="different"; `chunk_size` changes nothing.
    """

    def mapped(*args, **kwargs):
        dims = tuple(in_dims) if isinstance(in_dims, tuple | list) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ArgumentError(
                f"vmap: expected one entry of in_dims per argument; got {len(dims)} for {len(args)}",
                "in_dims=0 takes dim 0 of every argument",
            )
        leaves, spec = tree_flatten(args)
        places = [d for a, dim in zip(args, dims) for d in _spread(dim, a)]
        places = [d if isinstance(x, Tensor) else None for x, d in zip(leaves, places)]
        for x, d in zip(leaves, places):
            if d is not None and not -x.ndim <= d < x.ndim:
                raise IndexOutOfRangeError(
                    f"vmap: expected in_dims of dims that the tensors have; got {d} for shape {tuple(x.shape)}",
                    "in_dims=0 is the first dim, None leaves an argument as it is",
                )
        sizes = {x.shape[d] for x, d in zip(leaves, places) if d is not None}
        if len(sizes) != 1 or 0 in sizes:
            raise ArgumentError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, and not 0; got {sorted(sizes)}",
                "in_dims=None for an argument that stays as it is",
            )
        columns = [[x] * max(sizes) if d is None else x.unbind(d) for x, d in zip(leaves, places)]
        made = [tree_flatten(func(*tree_unflatten(row, spec), **kwargs)) for row in zip(*columns)]
        outer = made[0][1]
        at = _spread(out_dims, tree_unflatten([None] * outer.num_leaves, outer))
        return tree_unflatten([stack(ys, d) for d, ys in zip(at, zip(*(ys for ys, _ in made)))], outer)

    return mapped


def _spread(dim: Any, tree: Any) -> list:
    """`dim` for every leaf of the tree: one for all, or containers of them that follow the tree's own."""
    if dim is None or isinstance(dim, int):
        return [dim] * tree_flatten(tree)[1].num_leaves
    children = list(dim.values()) if isinstance(dim, dict) else list(dim)
    below = [tree[key] for key in dim] if isinstance(dim, dict) else list(tree)
    if len(children) != len(below):
        raise ArgumentError(
            f"vmap: expected dims that follow the argument; got {len(children)} for {len(below)} parts",
            "one dim for all of its parts, or a tuple or dict like the argument",
        )
    return [d for child, part in zip(children, below) for d in _spread(child, part)]


# ---------------------------------------------------------------------- gradients


def grad(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """The function that gives d func / d args[argnums]: func gives one number, or (number, anything) with has_aux."""

    def differentiated(*args, **kwargs):
        slopes, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (slopes, value[1]) if has_aux else slopes

    return differentiated


def grad_and_value(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """As grad, the value beside it: (d func, func), or (d func, (func, anything))."""

    def differentiated(*args, **kwargs):
        _check_argnums(argnums, args)
        given = args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)
        leaves, spec = _fresh(given)
        chosen = tree_unflatten(leaves, spec)
        places = {argnums: chosen} if isinstance(argnums, int) else dict(zip(argnums, chosen))
        with enable_grad():
            made = func(*(places.get(i, a) for i, a in enumerate(args)), **kwargs)
            value = made[0] if has_aux else made
            outer = _depends_on_others([value], leaves)
            slopes = gradients(value, leaves, create_graph=outer, materialize_grads=True)
        return tree_unflatten(slopes, spec), made if outer else tree_map(_detached, made)

    return differentiated


def _check_argnums(argnums: Any, args: tuple) -> None:
    """Complain of a number that no argument has, and of an argument without a tensor."""
    for number in (argnums,) if isinstance(argnums, int) else argnums:
        if not -len(args) <= number < len(args):
            raise IndexOutOfRangeError(
                f"grad: expected argnums below {len(args)}, the positional arguments; got {number}",
                "argnums counts from 0",
            )
        if not any(isinstance(x, Tensor) for x in tree_flatten(args[number])[0]):
            raise ArgumentError(f"expected a tensor to differentiate by; got {type(args[number]).__name__}", "badak.tensor(data)")


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """(func(*primals), pull): pull(dy) gives the gradient of each primal, as often as it is called."""
    leaves, spec = _fresh(primals)
    with enable_grad():
        made = func(*tree_unflatten(leaves, spec))
        outputs, outer = tree_flatten(made[0] if has_aux else made)
    again = _depends_on_others(outputs, leaves)

    def pull(*dys):
        flat = tree_flatten(dys[0] if len(dys) == 1 else dys)[0]
        recorded = again or any(dy.requires_grad for dy in flat)
        slopes = gradients(outputs, leaves, flat, retain_graph=True, create_graph=recorded, materialize_grads=True)
        found = tree_unflatten(slopes, spec)
        return found if len(primals) > 1 else (found[0],)

    value = tree_unflatten(outputs if again else [y.detach() for y in outputs], outer)
    return (value, pull, tree_map(_detached, made[1])) if has_aux else (value, pull)


def jvp(func: Callable, primals: tuple, tangents: tuple, *, strict: bool = False, has_aux: bool = False) -> tuple:
    """(func(*primals), J v): the slope of func along `tangents` v, one for each primal.

    J v = d/du (J^T u . v), so two walks backwards give it: J^T u is linear in u.
    """
    leaves, spec = _fresh(primals)
    with enable_grad():
        made = func(*tree_unflatten(leaves, spec))
        outputs, outer = tree_flatten(made[0] if has_aux else made)
        if not all(isinstance(y, Tensor) for y in outputs):
            raise ArgumentError("jvp: expected a function that gives tensors", "badak.tensor(data)")
        again = _depends_on_others(outputs, leaves)
        slopes = _along(outputs, leaves, tree_flatten(tangents)[0], again)
    value = tree_unflatten(outputs if again else [y.detach() for y in outputs], outer)
    found = (value, tree_unflatten(slopes, outer))
    return (*found, tree_map(_detached, made[1])) if has_aux else found


def _along(outputs: list, leaves: list, tangents: list, again: bool) -> list:
    """J v for each output."""
    us = [zeros_like(y).requires_grad_() for y in outputs]
    live = [(y, u) for y, u in zip(outputs, us) if y.requires_grad]
    if not live:
        return [zeros_like(y) for y in outputs]
    pulled = gradients([y for y, _ in live], leaves, [u for _, u in live], create_graph=True, materialize_grads=True)
    pairs = [(g, v) for g, v in zip(pulled, tangents) if g.requires_grad]
    if not pairs:
        return [zeros_like(y) for y in outputs]
    found = gradients([g for g, _ in pairs], us, [v for _, v in pairs], create_graph=again, materialize_grads=True)
    return list(found)


def jacrev(func: Callable, argnums: int = 0) -> Callable:
    """The function that gives J[y..., x...] = d func[y] / d args[argnums][x], one walk backwards for each element y."""

    def jacobian(*args, **kwargs):
        _check_argnums(argnums, args)
        (leaf,), _ = _fresh(args[argnums])
        with enable_grad():
            y = func(*(leaf if i == argnums else a for i, a in enumerate(args)), **kwargs)
            again, rows = _depends_on_others([y], [leaf]), []
            for i in range(y.numel()):
                one = zeros_like(y).reshape(-1)
                one[i] = 1
                row = gradients(y, leaf, one.reshape(y.shape), retain_graph=True, create_graph=again, materialize_grads=True)
                rows.append(row[0])
        return stack(rows).reshape(*y.shape, *leaf.shape)

    return jacobian


def jacfwd(func: Callable, argnums: int = 0) -> Callable:
    """As jacrev, one slope along each element x: less work where x is smaller than y."""

    def jacobian(*args, **kwargs):
        _check_argnums(argnums, args)
        x = args[argnums]

        def of_one(leaf):
            return func(*(leaf if i == argnums else a for i, a in enumerate(args)), **kwargs)

        columns = []
        for i in range(x.numel()):
            one = zeros_like(x).detach().reshape(-1)
            one[i] = 1
            columns.append(jvp(of_one, (x,), (one.reshape(x.shape),))[1])
        return stack(columns, -1).reshape(*columns[0].shape, *x.shape)

    return jacobian


def hessian(func: Callable, argnums: int = 0) -> Callable:
    """The function that gives H[y..., i..., j...] = d^2 func[y] / d x[i] d x[j], x = args[argnums]."""
    return jacfwd(jacrev(func, argnums), argnums)


def _detached(x: Any) -> Any:
    return x.detach() if isinstance(x, Tensor) else x


def _fresh(tree: Any) -> tuple[list, TreeSpec]:
    """Tensors to differentiate by: leaves, or views of those whose gradient is wanted further out."""
    leaves, spec = tree_flatten(tree)
    return [_leaf(x) if isinstance(x, Tensor) else x for x in leaves], spec


def _leaf(x: Tensor) -> Tensor:
    return x.view_as(x) if x.requires_grad else x.detach().requires_grad_()


def _depends_on_others(outputs: list, leaves: list) -> bool:
    """Whether the outputs have gradients with respect to more than these leaves: then their slopes have them, too."""
    own = {x._edge()[0] for x in leaves if isinstance(x, Tensor) and x.is_leaf}
    pending = [y._edge()[0] for y in outputs if isinstance(y, Tensor) and y.requires_grad]
    seen = set(pending)
    while pending:
        node = pending.pop()
        if isinstance(node, Leaf) and node not in own:
            return True
        ahead = {edge[0] for edge in node.edges if edge is not None} - seen
        seen |= ahead
        pending += ahead
    return False


# ---------------------------------------------------------------------- modules


def functional_call(
    module: Module, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """module(*args, **kwargs) with the tensors of the dicts in place of its parameters and buffers of these names."""
    dicts = parameter_and_buffer_dicts if isinstance(parameter_and_buffer_dicts, tuple | list) else (parameter_and_buffer_dicts,)
    given = {name: tensor for part in dicts for name, tensor in part.items()}
    own = {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }
    if strict and given.keys() != own.keys():
        raise ArgumentError(f"functional_call: Missing or unexpected key(s): {sorted(given.keys() ^ own.keys())}")
    if unknown := sorted(given.keys() - own.keys()):
        raise ArgumentError(f"functional_call: {type(module).__name__} has no parameter or buffer {unknown[0]!r}")
    if tie_weights:
        by_tensor = {id(own[name]): tensor for name, tensor in given.items()}
        given = {name: given.get(name, by_tensor.get(id(x))) for name, x in own.items()}
        given = {name: x for name, x in given.items() if x is not None}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given):
        return module(*args, **(kwargs or {}))


@contextmanager
def _replaced(module: Module, given: dict):
    places = []
    for name, tensor in given.items():
        path, _, last = name.rpartition(".")
        owner = module.get_submodule(path)
        held = owner._parameters if last in owner._parameters else owner._buffers
        places.append((held, last, held[last]))
        held[last] = tensor
    try:
        yield
    finally:
        for held, last, before in places:
            held[last] = before


def stack_module_state(models: list) -> tuple[dict, dict]:
    """(parameters, buffers) of several modules of one shape, each stacked along a new first dim, for vmap."""
    first = models[0]
    parts = []
    for names, of in (
        ([n for n, _ in first.named_parameters()], lambda m: dict(m.named_parameters())),
        ([n for n, _ in first.named_buffers()], lambda m: dict(m.named_buffers())),
    ):
        rows = [of(model) for model in models]
        parts.append({n: stack([row[n] for row in rows]).detach().requires_grad_(rows[0][n].requires_grad) for n in names})
    return parts[0], parts[1]


__getattr__ = _door(__name__)
