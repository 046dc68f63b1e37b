"""torch.testing: what is close, what is said where it is not, and tensors to try things on."""

import warnings

import torch
from torch.testing import assert_allclose, assert_close, make_tensor


def said(*values, by=assert_close, **options):
    try:
        by(*values, **options)
        print("close")
    except (ValueError, TypeError):
        print("raises")
    except AssertionError as error:
        print(str(error))


x = torch.tensor([1.0, 2.0, 3.0])
for a, b in (
    (x, x), (x, x + 1e-7), (x, x + torch.tensor([0.0, 0.0, 1.0])), (x, x.double()), (x, x[:2]), (x, [1.0, 2.0]),
    (x.long(), x.long()), (x.long(), torch.tensor([1, 2, 4])), (torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 2], [5, 9]])),
    (1, 1), (1.0, 1.5), ([x, x], [x, x * 2]), ({"a": x}, {"a": x}), ({"a": x}, {"b": x}), ({"a": [x, 1]}, {"a": [x, 2]}),
    ([x], [x, x]), (None, None), (True, True), (True, False),
    (x.half(), x.half() + 0.001), (torch.tensor(1.0), torch.tensor(2.0)),
    (torch.tensor([float("nan")]), torch.tensor([float("nan")])),
    (torch.tensor([float("inf"), 1]), torch.tensor([float("inf"), 1])),
):  # fmt: skip
    said(a, b)
said(torch.tensor([float("nan")]), torch.tensor([float("nan")]), equal_nan=True)
said(x, x + 0.1, rtol=0, atol=0.2)
said(x, x + 0.1, rtol=0.1)
said(x, x.double(), check_dtype=False)
said(x, x + 1, msg="another text")
said(x, x + 1, msg=lambda text: "before: " + text.splitlines()[0])
with warnings.catch_warnings(category=FutureWarning, action="ignore"):
    nan = torch.tensor([float("nan"), 1])
    for a, b in ((nan, nan), (x, x + 5e-5), (x, x + 1e-2), (x, x.double()), (x.half(), x + 9e-4), ([1.0], x[:1]), (x, [1, 2, 3])):
        said(a, b, by=assert_allclose)
    said(x, x + 0.1, 0, 0.2, by=assert_allclose)
    said(nan, nan, equal_nan=False, by=assert_allclose)
for kind in (torch.float32, torch.float64, torch.int64, torch.int8, torch.uint8, torch.bool, torch.complex64, torch.bfloat16):
    torch.manual_seed(0)
    print(make_tensor((2, 2), dtype=kind, device="cpu"), make_tensor(3, dtype=kind, device="cpu", exclude_zero=True))
y = make_tensor(2, 3, dtype=torch.float32, device="cpu", low=0, high=1, requires_grad=True, noncontiguous=True)
print(y.requires_grad, y.is_contiguous(), y.shape)
