"""NumPy's functions on tensors: what PyTorch's tensors give."""

import numpy as np
import pytest
import torch

import badak

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch has the old form
A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=np.float32)
CALLS = {
    "sin": lambda t: np.sin(t),
    "add": lambda t: np.add(t, A),
    "add to": lambda t: np.add(A, t),
    "maximum": lambda t: np.maximum(t, 0),
    "multiply": lambda t: np.multiply(t, 2),
    "greater": lambda t: np.greater(t, 0),
    "isnan": lambda t: np.isnan(t),
    "matmul": lambda t: np.matmul(t, A.T),
    "abs": lambda t: np.abs(t),
    "power": lambda t: np.power(t, 2),
    "modf": lambda t: np.modf(t)[1],
    "reduce": lambda t: np.add.reduce(t),
    "transpose": lambda t: np.transpose(t),
    "dot": lambda t: np.dot(t, A.T),
    "concatenate": lambda t: np.concatenate([t, t]),
    "where": lambda t: np.where(t > 0, t, 0),
    "clip": lambda t: np.clip(t, 0, 2),
    "array": lambda t: np.array(t),
    "norm": lambda t: np.linalg.norm(t),
    "float32 times": lambda t: np.float32(2) * t,
    "times float64": lambda t: t * np.float64(2),
    "out": lambda t: np.sin(t, out=A.copy()),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_of_numpy(name):
    ours, theirs = (CALLS[name](lib.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])) for lib in (badak, torch))
    assert isinstance(ours, badak.Tensor) == isinstance(theirs, torch.Tensor)
    assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6)


def test_a_tensor_that_wants_a_gradient_is_refused():
    for lib in (badak, torch):
        with pytest.raises(RuntimeError, match="numpy"):
            np.sin(lib.ones(2, requires_grad=True))
