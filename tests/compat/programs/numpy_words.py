"""NumPy's keywords, numbers for tensors, complex numbers in their place."""

import torch


def said(f):
    try:
        print(f())
    except Exception:
        print("raises")


z = torch.tensor([3.0, 1.0, 2.0])
for f in (
    lambda: torch.add(12, 4), lambda: torch.div(12, 4), lambda: torch.div(12, 5, rounding_mode="floor"),
    lambda: torch.floor_divide(12, 5), lambda: torch.mul(2.5, 2), lambda: torch.sub(3, 1), lambda: torch.add(12, 4, alpha=2),
    lambda: torch.true_divide(1, 2), lambda: torch.mul(True, False), lambda: torch.add(1, z), lambda: torch.fmod(7, 4),
    lambda: z.copy_(torch.ones(1, 3)), lambda: z.add_(torch.ones(1, 3)), lambda: z.__setitem__(slice(None), torch.ones(1, 3)),
    lambda: torch.sum(a=z), lambda: torch.sum(x=z), lambda: torch.add(x1=z, x2=z), lambda: torch.cat([z], axis=0),
    lambda: z.sum(axis=0, keepdims=True), lambda: torch.softmax(z, axis=0), lambda: torch.max(z, axis=0, keepdims=True)[0],
    lambda: z.argmax(axis=0, keepdims=True), lambda: torch.squeeze(z, axis=0), lambda: torch.stack([z], axis=0),
    lambda: torch.all(z > 0, axis=0, keepdims=True), lambda: torch.any(z > 0, axis=-1, keepdims=True),
    lambda: torch.std(z, axis=0), lambda: torch.exp(x=z * 0), lambda: torch.maximum(x1=z, x2=z), lambda: z.mean(axis=-1),
    lambda: torch.count_nonzero(z, axis=0), lambda: z.cumsum(axis=0), lambda: z.amax(axis=0, keepdims=True),
    lambda: torch.sort(z, axis=0)[0], lambda: z.unsqueeze(axis=0), lambda: torch.var(z, axis=0, keepdims=True),
    lambda: torch.logsumexp(z * 0, axis=0), lambda: torch.prod(z, axis=0), lambda: torch.median(z, axis=0)[0],
    lambda: torch.gather(z, axis=0, index=torch.tensor([1])), lambda: torch.sum(z, blah=3),
):  # fmt: skip
    said(f)
c = torch.zeros(2, dtype=torch.complex64)
c[0], c[1] = 1 + 2j, 3
print(c)
c[:] = torch.tensor([1j, 2j])
print(c)
c[torch.tensor([True, False])] = 5j
print(c)
said(lambda: z.__setitem__(0, 1j))
c.real[0] = 9
print(c, c.fill_(2j))
