"A small use of pytorch-optimizer, printed: the same with PyTorch as with badak."

import pytorch_optimizer
import torch

torch.manual_seed(0)


def show(*values):
    for x in values:
        print([round(float(v), 4) + 0.0 for v in x.detach().double().flatten()[:8].tolist()] if isinstance(x, torch.Tensor) else x)


NAMES = """adabelief adan adamp ademamix came diffgrad fromage grokfastadamw lamb lion lookahead
    mars novograd prodigy qhadam ranger schedulefreeadamw shampoo stableadamw tiger""".split()
for name in NAMES:
    if name not in pytorch_optimizer.get_supported_optimizers() or name == "sophiah":
        continue
    torch.manual_seed(0)
    m = torch.nn.Linear(4, 3)
    optimizer = pytorch_optimizer.load_optimizer(name)(m.parameters(), lr=0.01)
    if hasattr(optimizer, "train"):
        optimizer.train()
    for _ in range(2):
        optimizer.zero_grad()
        (m(torch.ones(2, 4)) ** 2).mean().backward()
        optimizer.step()
    show(name, m.weight)
