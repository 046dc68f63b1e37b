"""A small use of libraries of layers, metrics and losses, printed: the same with PyTorch as with badak."""

import einops
import entmax
import ignite.metrics as im
import local_attention as la
import pytorch_metric_learning.losses as pl
import torch
import torchdiffeq
import torchmetrics
import vector_quantize_pytorch as v
import x_transformers as xt
from ignite.engine import Engine
from torchmetrics.image import StructuralSimilarityIndexMeasure as S

torch.manual_seed(0)


def show(*values):
    for x in values:
        print([round(float(v), 4) + 0.0 for v in x.detach().double().flatten()[:8].tolist()] if isinstance(x, torch.Tensor) else x)


a = torchmetrics.Accuracy(task="multiclass", num_classes=3)
show(a(torch.randn(10, 3), torch.randint(3, (10,))))
show(torchmetrics.AUROC(task="binary")(torch.rand(20), torch.randint(2, (20,))))
show(torchmetrics.MeanSquaredError()(torch.rand(5), torch.rand(5)))
show(S(data_range=1.0)(torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16)))
show(torchdiffeq.odeint(lambda t, y: -y, torch.tensor([1.0, 2.0]), torch.linspace(0, 1, 3)))
e = Engine(lambda en, b: b * 2)
e.run([1, 2, 3], max_epochs=2)
show(e.state.output)
mm = im.Accuracy()
mm.update((torch.rand(5, 3), torch.randint(3, (5,))))
show(mm.compute())
show(einops.rearrange(torch.arange(6.0), "(a b) -> b a", a=2))
q = v.FSQ(levels=[8, 5, 5])
show(q(torch.randn(1, 4, 3))[0])
torch.manual_seed(0)
tr = xt.TransformerWrapper(num_tokens=11, max_seq_len=8, attn_layers=xt.Decoder(dim=16, depth=1, heads=2))
show(tr(torch.randint(11, (1, 8))))
show(la.LocalAttention(dim=8, window_size=4, causal=True)(*[torch.randn(1, 2, 8, 8) for _ in range(3)]))
show(entmax.sparsemax(torch.randn(2, 4), dim=-1), entmax.entmax15(torch.randn(2, 4), dim=-1))
show(pl.TripletMarginLoss()(torch.randn(8, 4), torch.arange(8) % 2))
