"""Updates of parameters: one pass over memory, one call for all. Rounded operation by operation, as PyTorch's are."""

import numpy as np

from badak.core.errors import tr
from badak.kernels import reference
from badak.kernels.half import value_dtype
from badak.kernels.numba._blocks import NOTHING
from badak.kernels.numba._tables import GRAD, PARAM, part, table_of
from badak.kernels.numba.codegen.compile import exact
from badak.kernels.numba.threadpool.parallel import parallel_exact
from badak.kernels.reference._arrays import quiet
from badak.kernels.update import Update, present

_kernels: dict = {}  # (update, its slots in use): kernel

_SOURCE = """
def {name}(task, factors, rows, owner, like):
    row = owner[task]
    if rows[row, GRAD] == 0:
        return
    {scalars} = {factors}
    g = part(task, rows, row, GRAD, like)
    {parts}
    for i in range(p.size):
        {results} = update({elements}, {scalars})
"""


def _kernel_of(update, used):
    """The kernel that does an update on blocks of any parameters, for the slots that are in use.

    rows, owner: a `Table` of (param, slots in use). factors (P, scalars): the scalars of each parameter at this step. like: an
    array of the parameters' dtype. What is bfloat16 is computed in float32 and rounded once, where it is written.
    """
    if (update, used) not in _kernels:
        names = [slot if there else None for slot, there in zip(update.slots, used)]
        columns = ["p", *filter(None, names)]
        parts = [f"{column} = part(task, rows, row, {PARAM + at}, like)" for at, column in enumerate(columns)]
        elements = [column and f"{column}[i]" for column in ("p", *names)]
        name = "_".join([update.name, *columns[1:]])
        source = _SOURCE.format(
            name=name,
            scalars=", ".join(update.scalars),
            factors=", ".join(f"factors[row, {at}]" for at in range(len(update.scalars))),
            parts="\n    ".join(parts),
            results=", ".join(element or "_" for element in elements),
            elements=", ".join([str(elements[0]), "g[i]", *map(str, elements[1:])]),
        )
        scope = {"GRAD": GRAD, "part": part, "update": exact(update.function), "__name__": update.function.__module__}
        exec(compile(source, update.function.__code__.co_filename, "exec"), scope)  # its file says how old a compiled one may be
        _kernels[update, used] = parallel_exact("Rf2 Ri2 Ri1 R1")(scope[name])
    return _kernels[update, used]


for _update in Update.all:  # so that `warmup` finds them
    for _used in _update.variants():
        _kernel_of(_update, _used)


def update_all(update, params, grads, slots, scalars, memo):
    """All parameters of one dtype in one call; see `reference.update_all`."""
    columns = [params, *(slot for slot in slots if slot is not None)]
    table = table_of(memo, columns)
    left = table.take(grads)
    factors = memo.get("factors")
    if factors is None or factors.shape != (len(params), len(update.scalars)) or memo["dtype"] != table.dtype:
        factors = memo["factors"] = np.empty((len(params), len(update.scalars)), value_dtype(table.dtype))
        memo["dtype"] = table.dtype
    _set(factors, scalars)
    memo["kept call fits"] = not left
    kernel = _kernel_of(update, present(slots))
    kernel(len(table.owner), table.size // 4 * max(1, len(columns) - 1), factors, table.rows, table.owner, NOTHING[table.dtype])
    table.release()
    for row in left:
        alone = reference.update_all if len(params) == 1 else update_all  # in a table of its own it may fit
        alone(update, [params[row]], [grads[row]], [slot and [slot[row]] for slot in slots], [scalars[row]], {})


@quiet  # a rate beyond the range of float32 is infinite
def _set(factors, scalars):
    """Fill factors (P, scalars); most often all parameters have made as many steps."""
    factors[:] = scalars[0] if scalars.count(scalars[0]) == len(scalars) else scalars


def update_kept(memo, grads):
    """A function that prepares the last call of `update_all` for being played again; see `reference.update_kept`."""
    if not memo.get(tr("kept call fits")):
        return None
    table, factors, grads = memo["table"], memo["factors"], tuple(grads)
    numbers = list(map(id, grads))

    def prepare(scalars):
        table.numbers.put(GRAD, grads, numbers)  # other calls on the same table have other gradients
        _set(factors, scalars)

    return prepare
