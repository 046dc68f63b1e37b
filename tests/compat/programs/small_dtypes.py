"""Floats of 8 bits and wide unsigned integers: stored, converted, moved about."""

import torch

values = torch.tensor(
    [1.0, 2.0, 300.0, 464.0, 465.0, 1e9, -1e9, -0.3, 0.0, -0.0, 1e-9, 2.0**-9, 1.5 * 2**-10, 61440.0, 57344.0]
)  # fmt: skip
special = torch.tensor([float("inf"), -float("inf"), float("nan")])
for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"):
    kind = getattr(torch, name)
    x = values.to(kind)
    print(kind, kind.itemsize, kind.is_floating_point, kind.is_signed)
    print(torch.finfo(kind) if "2fnuz" not in name else "")
    print(x.view(torch.uint8).tolist(), x.float().tolist(), special.to(kind).float().tolist())
    print(torch.arange(256).to(torch.uint8).view(kind).float().nan_to_num(nan=-1.0).abs().clamp(max=1e6).sum())
x = values.to(torch.float8_e4m3fn)
print(x[:3], torch.cat([x[:2], x[3:4]]), torch.stack([x[:2], x[:2]]).shape, x[torch.tensor([1, 0])], x.clone()[0].item())
print(torch.zeros(2).copy_(x[:2]), torch.zeros(2, dtype=torch.float8_e4m3fn).copy_(torch.tensor([500.0, 0.1])), x == x)
print(
    torch.full((2,), 3.0, dtype=torch.float8_e5m2),
    torch.ones(2, dtype=torch.float8_e5m2),
    x.to(torch.bfloat16)[:3],
    x.isnan().any(),
)


def said(f):
    try:
        print(f())
    except Exception:
        print("raises")


said(lambda: x + torch.ones(15))
said(lambda: torch.promote_types(torch.float8_e5m2, torch.int8))
for kind in (torch.uint16, torch.uint32, torch.uint64):
    u = torch.tensor([1, 2, 65535], dtype=kind)
    print(
        u,
        kind.itemsize,
        kind.is_signed,
        torch.iinfo(kind).max,
        u.long(),
        u.float(),
        u * 2,
        u.sum(),
        u == u,
        u + torch.ones(3),
    )
    print(u.numpy().dtype, torch.from_numpy(u.numpy()).dtype, torch.cat([u, u]), u[torch.tensor([0])], u & u, u / 2)
    said(lambda: u + torch.ones(3, dtype=torch.int64))
    said(lambda: torch.promote_types(kind, torch.uint8))
    said(lambda: torch.promote_types(kind, torch.float32))
    said(lambda: torch.ones(70000)[u])
