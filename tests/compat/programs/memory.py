"""The memory of tensors: storages, and who shares them."""

import tempfile

import numpy as np
import torch


def said(f):
    try:
        print(f())
    except Exception:
        print("raises")


x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
s = x.untyped_storage()
print(s.nbytes(), len(s), s.size(), s.device, s[0], s[4:12].nbytes(), list(s[4:8]), type(s).__name__)
for view in (x[1], x.t(), x[:, 1:], x.reshape(3, 2), x.view(-1)[2:4], x.detach()):
    print(view.untyped_storage().data_ptr() == s.data_ptr(), view.storage_offset(), view.untyped_storage().nbytes())
print(x.clone().untyped_storage().data_ptr() == s.data_ptr(), x[1].data_ptr() - s.data_ptr())
print(torch.empty(0).untyped_storage().data_ptr(), torch.empty(0).untyped_storage().nbytes())
y = torch.asarray(s, dtype=torch.uint8)
print(y.shape, y.dtype, y[:4], y.data_ptr() == s.data_ptr(), y[4:12].view(torch.float32))
y[4] = 0
s[8] = 7
print(x)
with tempfile.NamedTemporaryFile(delete=False) as file:
    file.write(np.arange(10, dtype=np.int16).tobytes())
f = torch.UntypedStorage.from_file(file.name, False, 20)
print(f.nbytes(), torch.asarray(f[4:12], dtype=torch.uint8).view(torch.int16), list(f[:4]))
t = x.storage()
print(type(t).__name__, t.dtype, t.size(), t.nbytes(), t.data_ptr() == s.data_ptr(), t[5], len(t), t.element_size())
z = torch.empty(0).set_(s, 1, (2, 2), (2, 1))
z[0, 0] = 50
print(z, x, z.untyped_storage().data_ptr() == s.data_ptr())
said(lambda: s[100])
b = torch.UntypedStorage(4)
b.fill_(3)
print(b.tolist(), b.clone().tolist(), b.is_shared(), list(b.copy_(torch.UntypedStorage([1, 2, 3, 4]))))
p = torch.nn.Linear(2, 2)
tied = torch.nn.Linear(2, 2)
tied.weight = p.weight
print(len({q.untyped_storage().data_ptr() for q in (p.weight, tied.weight, p.bias)}))
y = torch.arange(4)
y.expand(1, -1).copy_(torch.tensor([[5, 6, 7, 8]]))
torch.arange(4).broadcast_to((1, 4)).add_(1)
print(y, torch.ones(1, 3).expand(1, 3).mul_(2))
