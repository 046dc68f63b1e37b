"A small use of Lightning, printed: the same with PyTorch as with badak."

import logging

import lightning as L
import torch

torch.manual_seed(0)


def show(*values):
    for x in values:
        print([round(float(v), 4) + 0.0 for v in x.detach().double().flatten()[:8].tolist()] if isinstance(x, torch.Tensor) else x)


logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class M(L.LightningModule):
    def __init__(s):
        super().__init__()
        s.l = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
        s.losses = []

    def training_step(s, b, i):
        x, y = b
        loss = torch.nn.functional.mse_loss(s.l(x), y)
        s.log("loss", loss)
        s.losses.append(float(loss.detach()))
        return loss

    def validation_step(s, b, i):
        x, y = b
        s.log("val", torch.nn.functional.mse_loss(s.l(x), y))

    def configure_optimizers(s):
        o = torch.optim.AdamW(s.parameters(), 0.01)
        return ([o], [torch.optim.lr_scheduler.StepLR(o, 1)])


x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
dl = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), 8)
L.seed_everything(1, verbose=False)
m = M()
t = L.Trainer(
    max_epochs=2,
    accelerator="cpu",
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    enable_checkpointing=False,
    gradient_clip_val=1.0,
)
t.fit(m, dl, dl)
show([round(v, 4) for v in m.losses], float(t.callback_metrics["val"]).__round__(4))
f = L.Fabric(accelerator="cpu", devices=1)
f.launch()
n = torch.nn.Linear(4, 1)
o = torch.optim.SGD(n.parameters(), 0.1)
n, o = f.setup(n, o)
l = n(x).pow(2).mean()
f.backward(l)
o.step()
show(l)
