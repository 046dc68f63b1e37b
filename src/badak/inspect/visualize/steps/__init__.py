"""One row through one operation, step by step, forward and backward: the numbers of the run and those on the way between them.

What goes in, what comes out and the gradients are the run's own; what stands between them is computed here, in float64, by the
formulas of the kernels in `kernels/reference`. A formula that is written next to numbers gives those numbers: a test evaluates it.

row.py         the row, and a step of it
norms.py       layer norm, RMS norm          products.py   linear maps, matrix products, convolutions
weights.py     attention, softmax, losses    pointwise.py  GELU and others that act on each number alone
pairs.py       sums, products, gates         places.py     embeddings, means, parts put together
table.py       which operation is told by whom
"""

from badak.inspect.visualize.steps.pairs import PAIRS as PAIRS
from badak.inspect.visualize.steps.row import Row as Row
from badak.inspect.visualize.steps.table import backward_steps as backward_steps
from badak.inspect.visualize.steps.table import forward_steps as forward_steps
from badak.inspect.visualize.steps.table import names_of as names_of
