"""Each form of an operation does what the operation does: on the samples of the operation, to the bit."""

import numpy as np
import pytest

from badak.compat.torch.tracing import forms
from badak.compat.torch.tracing.module import Traced
from badak.compat.torch.tracing.program import graph_of, signature, trace
from badak.compat.torch.tracing.sizes import name_of
from badak.tensor import Tensor, apply
from tests.samples import rows

ROWS = [row for row in rows() if forms.form_of(row.op, name_of(row.op))]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")  # F.kl_div, as in PyTorch
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")  # the spread of one number, likewise
@pytest.mark.parametrize("row", ROWS, ids=lambda row: repr(row))
def test_the_graph_of_an_operation_gives_its_bits(row):

    for call in row.cases():
        arrays = call.arrays(np.float32)
        tensors = [Tensor._of(np.array(a, order="C")) for a in arrays if a is not None]
        attributes = call.attributes
        if row.op.__name__ in ("LogSumExp", "Prod") and attributes["axis"] is None:
            continue  # the public function takes a dim

        def program(*given, arrays=arrays, attributes=attributes):
            rest = iter(given)
            return apply(row.op, *(None if a is None else next(rest) for a in arrays), **attributes)

        expected = program(*tensors)
        made = trace("test", program, tuple(tensors))
        graph, held = graph_of("test", made)
        found = Traced(graph, held, signature(made))(*tensors)
        pairs = zip(*((y if isinstance(y, tuple) else (y,)) for y in (expected, found)))
        for a, b in pairs:
            assert a.dtype == b.dtype and a.shape == b.shape
            close = np.testing.assert_allclose if a.is_complex() else np.testing.assert_array_equal
            close(b._array, a._array, **({"rtol": 1e-6} if a.is_complex() else {}))
        for node in graph.nodes:
            assert node.op != "call_function" or forms.name_in_files(node.target), node.target
