"""`torch.func`: functions of functions. What they give can be differentiated again, by themselves or by `backward`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from badak.autograd import enable_grad
from badak.autograd import grad as gradients_of
from badak.autograd.node import Leaf
from badak.compat.torch.pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten
from badak.compat.torch.vmap import vmap
from badak.core.errors import ArgumentError, ArgumentTypeError, GraphError, IndexOutOfRangeError, expect_function, expect_kind, tr
from badak.core.modes import modes
from badak.core.public_api import door as _door
from badak.nn.batch_norm import _BatchNorm
from badak.nn.module import Module
from badak.tensor import Tensor, eye, ones_like, stack, zeros_like
from badak.tensor import vmap as batching

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "linearize", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


# ---------------------------------------------------------------------- gradients


def gradients(
    outputs: Tensor | Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor] | None = None,
    *,
    retain_graph: Any = None,
    create_graph: bool = False,
) -> tuple:
    """autograd.grad, zeros where nothing depends, where tensors may be those of all examples of a vmap."""
    outputs, inputs = _listed(outputs), _listed(inputs)
    options: dict[str, Any] = {"retain_graph": retain_graph, "create_graph": create_graph, "materialize_grads": True}
    if not modes.batching:
        return gradients_of(outputs, inputs, grad_outputs, **options)
    levels = batching.levels_of([*outputs, *inputs])
    if grad_outputs is None:
        if any(y.ndim for y in outputs):
            raise batching.complain_of_shapes(outputs[0])
        grad_outputs = [ones_like(y) for y in outputs]
    ys, xs, dys = ([_exposed(x, levels) for x in tensors] for tensors in (outputs, inputs, _listed(grad_outputs)))
    live = [(y, dy) for y, dy in zip(ys, dys) if y.requires_grad]
    if not live:
        return tuple(zeros_like(x) for x in inputs)
    ys, dys = [y for y, _ in live], [dy for _, dy in live]
    batched = any(batching.level_of(dy) is not None for dy in dys)  # by a vmap over gradients alone
    try:
        found = gradients_of(ys, xs, dys, **options | {"create_graph": create_graph or batched})
    except GraphError:
        if create_graph or not batched:
            raise
        found = _one_by_one(ys, xs, dys)  # an operation whose backward is no formula
    return tuple(_hidden(dx if create_graph or not batched else dx.detach(), levels) for dx in found)


def _one_by_one(ys: list, xs: list, dys: list) -> tuple:
    """Gradients for one dy of a vmap after the other."""
    level = max((at for at in map(batching.level_of, dys) if at is not None), key=lambda at: at.depth, default=None)
    if level is None:
        return gradients_of(ys, xs, dys, retain_graph=True, materialize_grads=True)
    rows = zip(*(batching.expose(dy, level).unbind(0) for dy in dys))
    return tuple(batching.wrap(stack(dxs), level) for dxs in zip(*(_one_by_one(ys, xs, list(row)) for row in rows)))


def _listed(xs) -> list:
    return [xs] if isinstance(xs, Tensor) else list(xs)


def _exposed(x: Tensor, levels: list) -> Tensor:
    for level in reversed(levels):
        x = batching.expose(x, level)
    return x


def _hidden(x: Tensor, levels: list) -> Tensor:
    for level in levels:
        x = batching.hide(x, level)
    return x


def grad(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """The function that gives d func / d args[argnums]: func gives one number, or (number, anything) with has_aux."""
    expect_function("grad", func)

    def differentiated(*args, **kwargs):
        slopes, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (slopes, value[1]) if has_aux else slopes

    return differentiated


def grad_and_value(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """As grad, the value next to it: (d func, func), or (d func, (func, anything))."""
    expect_function("grad_and_value", func)

    def differentiated(*args, **kwargs):
        _check_argnums(argnums, args)
        given = args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)
        (leaves, spec), recorded = _fresh(given), modes.grad
        chosen = tree_unflatten(leaves, spec)
        places = {argnums: chosen} if isinstance(argnums, int) else dict(zip(argnums, chosen))
        with enable_grad():
            made = func(*(places.get(i, a) for i, a in enumerate(args)), **kwargs)
            value = made[0] if has_aux else made
            if isinstance(value, Tensor) and value.ndim:
                cause = tr("grad: Expected f(*args) to return a scalar Tensor, got tensor with {} dims", value.ndim)
                raise GraphError(cause, "its sum, or func.vjp or func.jacrev")
            outer = recorded and _depends_on_others([value], leaves)
            slopes = gradients(value, leaves, create_graph=outer)
        return tree_unflatten(slopes, spec), made if outer else tree_map(_detached, made)

    return differentiated


def _check_argnums(argnums: Any, args: tuple) -> None:
    """Complain of a number that no argument has, and of an argument without a tensor."""
    for number in (argnums,) if isinstance(argnums, int) else argnums:
        if not -len(args) <= number < len(args):
            cause = tr("grad: expected argnums below {}, the positional arguments; got {}", len(args), number)
            raise IndexOutOfRangeError(cause, "argnums counts from 0")
        if not any(isinstance(x, Tensor) for x in tree_flatten(args[number])[0]):
            cause = tr("expected a tensor to differentiate by; got {}", type(args[number]).__name__)
            raise ArgumentError(cause, "badak.tensor(data)")


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """(func(*primals), pull): pull(dy) gives the gradient of each primal, as often as it is called."""
    expect_function("vjp", func)
    leaves, spec, made, outputs, outer, again = _ran("vjp", lambda xs: func(*xs), primals, has_aux)

    def pull(*dys):
        flat = tree_flatten(dys[0] if len(dys) == 1 else dys)[0]
        wanted = modes.grad and (again or any(dy.requires_grad for dy in flat))
        slopes = gradients(outputs, leaves, flat, retain_graph=True, create_graph=wanted)
        found = tree_unflatten(slopes, spec)
        return found if len(primals) > 1 else (found[0],)

    value = tree_unflatten(outputs if again else [y.detach() for y in outputs], outer)
    return (value, pull, _aux(made[1], again)) if has_aux else (value, pull)


def jvp(func: Callable, primals: tuple, tangents: tuple, *, strict: bool = False, has_aux: bool = False) -> tuple:
    """(func(*primals), J v): the slope of func along `tangents` v, one for each primal.

    J v = d/du (J^T u . v), so two walks backwards give it: J^T u is linear in u.
    """
    expect_function("jvp", func)
    leaves, _, made, outputs, outer, again = _ran("jvp", lambda xs: func(*xs), primals, has_aux)
    with enable_grad():
        slopes = _slopes(outputs, leaves, again)(tree_flatten(tangents)[0])
    value = tree_unflatten(outputs if again else [y.detach() for y in outputs], outer)
    found = (value, tree_unflatten(slopes, outer))
    return (*found, _aux(made[1], again)) if has_aux else found


def linearize(func: Callable, *primals: Any) -> tuple:
    """(func(*primals), push): push(*tangents) gives J v for as many v as it is called with, without func's running again."""
    expect_function("linearize", func)
    leaves, _, _, outputs, outer, again = _ran("linearize", lambda xs: func(*xs), primals, False)
    with enable_grad():
        along = _slopes(outputs, leaves, again)

    def push(*tangents):
        return tree_unflatten(along(tree_flatten(tangents)[0]), outer)

    return tree_unflatten(outputs if again else [y.detach() for y in outputs], outer), push


def _ran(where: str, func: Callable, tree: Any, has_aux: bool) -> tuple[list, TreeSpec, Any, list, TreeSpec, bool]:
    """Fresh tensors and their spec; what func gives of them; its tensors and their spec; whether they depend on others, too."""
    (leaves, spec), recorded = _fresh(tree), modes.grad
    with enable_grad():
        made = func(tree_unflatten(leaves, spec))
        outputs, outer = _tensors(where, made[0] if has_aux else made)
    return leaves, spec, made, outputs, outer, recorded and _depends_on_others(outputs, leaves)


def _tensors(where: str, made: Any) -> tuple[list, TreeSpec]:
    """What a function gave, flat."""
    outputs, spec = tree_flatten(made)
    for y in outputs:
        expect_kind(y, Tensor, "{}: expected a function that gives tensors; it gave {}", "badak.tensor(y)", where)
    return outputs, spec


def _slopes(outputs: list, leaves: list, again: bool) -> Callable[[list], list]:
    """The function v -> J v, for each output."""
    us = [zeros_like(y).requires_grad_() for y in outputs]
    live = [(y, u) for y, u in zip(outputs, us) if y.requires_grad]
    before, modes.slopes = modes.slopes, True
    try:
        pulled = gradients([y for y, _ in live], leaves, [u for _, u in live], create_graph=True) if live else ()
    finally:
        modes.slopes = before

    def along(tangents: list) -> list:
        pairs = [(g, v) for g, v in zip(pulled, tangents) if g.requires_grad]
        if not pairs:
            return [zeros_like(y) for y in outputs]
        return list(gradients([g for g, _ in pairs], us, [v for _, v in pairs], retain_graph=True, create_graph=again))

    return along


def jacrev(
    func: Callable, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None, _preallocate_and_copy: bool = False
) -> Callable:
    """The function that gives J[y..., x...] = d func[y] / d args[argnums][x], a walk backwards for all elements y at once.

    chunk_size: so many elements y at once, for less memory. Where func or args[argnums] are containers, J is a container of
    them, func's outside.
    """
    expect_function("jacrev", func)

    def jacobian(*args, **kwargs):
        chosen, of_chosen = _chosen(func, args, kwargs, argnums)
        made = vjp(of_chosen, chosen, has_aux=has_aux)
        ys, outer = tree_flatten(made[0])
        leaves, spec = tree_flatten(chosen)
        rows = []
        for k, y in enumerate(ys):

            def pull(dy, k=k):
                dys = [dy if i == k else zeros_like(other) for i, other in enumerate(ys)]
                return tuple(tree_flatten(made[1](tree_unflatten(dys, outer))[0])[0])

            basis = eye(y.numel(), dtype=y.dtype).reshape(y.numel(), *y.shape)
            found = vmap(pull, chunk_size=chunk_size)(basis)
            rows.append(tree_unflatten([j.reshape((*y.shape, *x.shape)) for j, x in zip(found, leaves)], spec))
        return (tree_unflatten(rows, outer), made[2]) if has_aux else tree_unflatten(rows, outer)

    return jacobian


def _chosen(func: Callable, args: tuple, kwargs: dict, argnums: Any) -> tuple[Any, Callable]:
    """(args[argnums], the function of these alone)."""
    _check_argnums(argnums, args)
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    numbers = tuple(number % len(args) for number in numbers)

    def of_chosen(chosen):
        places = dict(zip(numbers, (chosen,) if isinstance(argnums, int) else chosen))
        return func(*(places.get(i, a) for i, a in enumerate(args)), **kwargs)

    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in numbers), of_chosen


def jacfwd(func: Callable, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Callable:
    """As jacrev, the slopes along all elements x at once: less work where x is smaller than y."""

    def jacobian(*args, **kwargs):
        chosen, of_chosen = _chosen(func, args, kwargs, argnums)
        leaves, spec, made, ys, outer, again = _ran("jacfwd", of_chosen, chosen, has_aux)
        with enable_grad():
            along = _slopes(ys, leaves, again)
            columns = []
            for k, x in enumerate(leaves):

                def push(v, k=k):
                    return tuple(along([v if i == k else zeros_like(other) for i, other in enumerate(leaves)]))

                basis = eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape)
                found = vmap(push, out_dims=-1, randomness=randomness)(basis)
                columns.append([j.reshape((*y.shape, *x.shape)) for j, y in zip(found, ys)])
        found = tree_unflatten([tree_unflatten([c[i] for c in columns], spec) for i in range(len(ys))], outer)
        return (found, _aux(made[1], again)) if has_aux else found

    return jacobian


def hessian(func: Callable, argnums: Any = 0) -> Callable:
    """The function that gives H[y..., i..., j...] = d^2 func[y] / d x[i] d x[j], x = args[argnums]."""
    return jacfwd(jacrev(func, argnums), argnums)


def _aux(made: Any, again: bool) -> Any:
    """What a function gives next to its value: with its history where the value has one further out."""
    return made if again else tree_map(_detached, made)


def _detached(x: Any) -> Any:
    return x.detach() if isinstance(x, Tensor) else x


def _fresh(tree: Any) -> tuple[list, TreeSpec]:
    """Tensors to differentiate by: leaves, or views of those whose gradient is wanted further out.

    A derivative is taken under no_grad() too; there it has no history.
    """
    leaves, spec = tree_flatten(tree)
    return [_wrap_tensor_for_grad(x, None) for x in leaves], spec


def _wrap_tensor_for_grad(x: Any, level: Any) -> Any:
    """By PyTorch's name: libraries put a function of theirs around it, so that their tensors stay theirs. level: of no use here."""
    if not isinstance(x, Tensor):
        return x
    for outer in modes.batching:  # each example has a gradient of its own
        if not batching.on_level(x, outer):
            x = batching.hide(batching.expose(x, outer), outer)
    return x.view_as(x) if x.requires_grad and modes.grad else x.detach().requires_grad_()


def _depends_on_others(outputs: list, leaves: list) -> bool:
    """Whether the outputs have gradients with respect to more than these leaves: then their slopes have them, too."""
    outputs, leaves = ([batching.real_of(x) for x in xs if isinstance(x, Tensor)] for xs in (outputs, leaves))
    own = {x._edge()[0] for x in leaves if x.is_leaf and x.requires_grad}
    pending = [y._edge()[0] for y in outputs if y.requires_grad]
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


def functionalize(func: Callable, *, remove: str = "mutations") -> Callable:
    """The function itself: what it gives is the same, and badak has no tracer for which writes would have to go."""
    expect_function("functionalize", func)
    if remove not in ("mutations", "mutations_and_views"):
        cause = tr("functionalize: expected remove='mutations' or 'mutations_and_views'; got {!r}", remove)
        raise ArgumentError(cause, "remove='mutations'")
    return func


def functional_call(
    module: Module, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """module(*args, **kwargs) with the tensors of the dicts in place of its parameters and buffers of these names.

    Where the module puts another tensor in the place of one, it stands in the dict afterwards, where there is but one.
    """
    given = parameter_and_buffer_dicts
    if isinstance(given, tuple | list):
        given = {name: tensor for part in given for name, tensor in part.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, given, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


NAMES = tr("dict(module.named_parameters()) has the names and tensors")


@contextmanager
def _reparametrize_module(
    module: Module, parameters_and_buffers: dict, *, tie_weights: bool = False, strict: bool = False, stack_weights: bool = False
) -> Iterator[None]:
    """A block in which the module has these tensors in place of its parameters and buffers of these names."""
    if not isinstance(module, Module) or not isinstance(parameters_and_buffers, dict):
        cause = tr("functional_call: expected a module and a dict; got {} and {}", type(module).__name__,
                   type(parameters_and_buffers).__name__)  # fmt: skip
        raise ArgumentTypeError(cause, NAMES)
    given = dict(parameters_and_buffers)
    own = {**dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers(remove_duplicate=False))}
    if strict and given.keys() != own.keys():
        raise ArgumentError(tr("functional_call: Missing or unexpected key(s): {}", sorted(given.keys() ^ own.keys())), NAMES)
    if unknown := sorted(given.keys() - own.keys()):
        raise ArgumentError(tr("functional_call: {} has no parameter or buffer {!r}", type(module).__name__, unknown[0]), NAMES)
    if tie_weights:
        by_tensor = {id(own[name]): tensor for name, tensor in given.items()}
        given = {name: given.get(name, by_tensor.get(id(x))) for name, x in own.items()}
        given = {name: x for name, x in given.items() if x is not None}
    places = []
    for name, tensor in given.items():
        path, _, last = name.rpartition(".")
        owner = module.get_submodule(path)
        held = owner._parameters if last in owner._parameters else owner._buffers
        places.append((held, last, held[last], name))
        held[last] = tensor
    try:
        yield
    finally:
        for held, last, before, name in places:
            if name in parameters_and_buffers and last in held:
                parameters_and_buffers[name] = held[last]
            held[last] = before


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Let all batch normalisation in a module, in place, take the statistics of the batch and keep none, as vmap wants it."""
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


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


__getattr__, __dir__ = _door("badak.func")
